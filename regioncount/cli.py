"""Command line: `regioncount build | count | depth | figure | arrangement | app | bench`.

What a command needs is imported inside that command: `--help` loads neither numpy nor numba. Commands return
their exit code; `main` turns bad input (InputError) and unusable paths (OSError) into one line on stderr and
exit code 2, and Ctrl-C into 130. Results go to stdout, progress and notes to stderr. Files appear at once and
whole, so a failed command leaves none; `depth` keeps the records finished before it was interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from regioncount import __version__
from regioncount.definitions import COUNTABLE, DEFINITIONS, MEANINGS
from regioncount.errors import InputError, TooManyPieces, located

if TYPE_CHECKING:
    from regioncount.arrangement import HyperplaneArrangement
    from regioncount.domain import Domain
    from regioncount.network import Network
    from regioncount.partition import CountResult

CONSTRUCTIONS = "three-step, one-step, two-heads, tent, zigzag, random-relu, random-maxout or random-transformer"
BUILD_PARAMETERS = {
    "tokens": (int, "T", "tokens of a Transformer"),
    "depth": (int, "D", "depth: blocks of a Transformer, compositions of tent and zigzag"),
    "pieces": (int, "P", "pieces of a zigzag"),
    "widths": (str, "N,N,…", "widths of a ReLU or maxout network, input first, output last"),
    "rank": (int, "K", "candidates of a maxout unit"),
    "layers": (int, "L", "attention and feedforward pairs of a random Transformer"),
    "heads": (int, "H", "heads of an attention layer"),
    "dim": (int, "d", "dimension of a token"),
    "hidden": (int, "m", "hidden units of a feedforward layer"),
    "input-dim": (int, "n", "dimension of the input"),
    "queries": (str, "KIND", "free, or fixed: queries that do not depend on the input"),
    "seed": (int, "S", "seed of a random network"),
    "init": (str, "KIND", "distribution of random weights: he or uniform"),
}

SWEEP_SIZES = {
    "units": "units of a hidden layer of ReLU and maxout networks, default 16",
    "rank": "candidates of a maxout unit, default 3",
    "heads": "heads of an attention layer, default 1",
    "dim": "dimension of a token, default 4",
    "hidden": "hidden units of a feedforward layer, default 8",
}

METHODS = ("auto", "interval", "polygon", "conic", "polytope", "grid", "montecarlo")
SCREEN, PRINT = (".html", ".json"), (".pdf", ".png", ".svg")
DRAWINGS = ".html or .json for the screen; .pdf, .png or .svg for print"
CHECKED_REGIONS = 30_000_000  # on a domain, general position is checked where the whole space can have so many
WIDTH_HELP = "of a print: single (3.25 inches, default), text (5.5), double (6.75), or inches"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of the process by default.

    Returns
    -------
    int
        0; 2 after bad input; 130 after Ctrl-C; 141 when the reader of stdout has gone.
    """
    words = _attach_domain(list(sys.argv[1:] if argv is None else argv))
    try:
        parser = _parser()
        arguments, rest = parser.parse_known_args(words)
        if arguments.command == "bench":
            arguments.rest = rest
        elif rest:
            parser.error(f"unrecognized arguments: {' '.join(rest)}")
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("regioncount: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        with contextlib.suppress(OSError, ValueError):  # what is still buffered must not fail again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except InputError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _fail(message: str) -> int:
    print(f"regioncount: error: {' '.join(message.split())}", file=sys.stderr)
    return 2


def _attach_domain(words: list[str]) -> list[str]:
    """Turn `--domain -1:1` into `--domain=-1:1`, and so `--window`; argparse takes the value for an option."""
    for i in range(len(words) - 1):
        if words[i] in ("--domain", "--window") and words[i + 1][:1] == "-" and words[i + 1][1:2] in set(".0123456789"):
            words[i : i + 2] = [f"{words[i]}={words[i + 1]}"]
            return _attach_domain(words)
    return words


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="regioncount",
        description="Count the linear regions of piecewise-linear networks.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"regioncount {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    names = ", ".join(DEFINITIONS)
    counted = f"default: all of {names}; R1, in 1-D and 2-D, on request"
    most_pieces = "most pieces to keep in memory, default 2,000,000"

    build = commands.add_parser("build", help="write a named network to a file", allow_abbrev=False)
    build.set_defaults(run=_build)
    build.add_argument("construction", metavar="NAME", help=CONSTRUCTIONS)
    for name, (kind, metavar, text) in BUILD_PARAMETERS.items():
        build.add_argument(f"--{name}", type=kind, metavar=metavar, help=text)
    build.add_argument("--round", action="store_true", help="let .safetensors round weights to float64")
    build.add_argument("-o", "--output", required=True, metavar="FILE", help="net.json or net.safetensors")

    count = commands.add_parser("count", help="count the regions of a network", allow_abbrev=False)
    count.set_defaults(run=_count)
    count.add_argument("network", help="network file, .json or .safetensors")
    count.add_argument(
        "--domain",
        help="-1:1, or -1:1,-1:1,… (a box), 'poly:x,y;x,y;…' (a convex polygon), all (the whole line, plane or space), "
        "or slice:FILE (a 1-D or 2-D cut through more inputs: JSON with origin, directions, domain); default: the "
        "file's own",
    )
    count.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        metavar="M",
        help=f"{', '.join(METHODS)}: auto takes the exact engine that fits (1-D interval, 2-D polygon and conic, from "
        "3-D on polytope); grid and montecarlo only estimate",
    )
    count.add_argument("--grid", type=_positive, metavar="N", help="points per axis, with --method grid")
    count.add_argument("--samples", type=int, metavar="N", help="descents, with --method montecarlo, default 200")
    count.add_argument("--seed", type=int, metavar="S", help="with --method montecarlo, default 0")
    count.add_argument("--definitions", type=_definitions, metavar="A,B", help=counted)
    count.add_argument("--max-pieces", type=_positive, metavar="N", help=most_pieces)
    count.add_argument("--exact", action="store_true", help="decide everything in rational arithmetic (slow)")
    count.add_argument(
        "--save", type=Path, metavar="FILE", help="keep the partition, all definitions counted, in FILE (.npz)"
    )
    count.add_argument("--json", action="store_true", help="print one JSON object")

    verify = commands.add_parser("verify", help="re-check a saved partition from scratch", allow_abbrev=False)
    verify.set_defaults(run=_verify)
    verify.add_argument("partition", help="partition file (.npz) that count --save wrote")
    verify.add_argument(
        "network", nargs="?", help="network file that it must be a partition of; default: the one in it"
    )
    verify.add_argument("--json", action="store_true", help="print one JSON object")

    depth = commands.add_parser("depth", help="counts against depth beside a bound", allow_abbrev=False)
    depth.set_defaults(run=_depth)
    depth.add_argument(
        "--construction",
        type=lambda text: tuple(dict.fromkeys(text.split(","))),
        default=("three-step",),
        metavar="A,B",
        help="three-step (default), one-step, two-heads, random-relu, random-maxout, random-transformer",
    )
    depth.add_argument("--tokens", type=_integers, metavar="T,T,…", help="numbers of tokens of Transformers")
    depth.add_argument(
        "--max-depth", type=_positive, required=True, metavar="D", help="depths 1…D: blocks, or hidden layers"
    )
    random = depth.add_argument_group("random-relu, random-maxout, random-transformer, with one input in [-1, 1]")
    random.add_argument("--seeds", type=_positive, metavar="N", help="networks at each depth, default 10: seeds 0…N-1")
    for name, text in SWEEP_SIZES.items():
        random.add_argument(f"--{name}", type=_positive, metavar="N", help=text)
    depth.add_argument("--definitions", type=_definitions, metavar="A,B", help=counted)
    depth.add_argument("--max-pieces", type=_positive, metavar="N", help=most_pieces)
    depth.add_argument("-o", "--output", type=Path, metavar="FILE", help="records, one JSON object a line")
    depth.add_argument(
        "--figure", type=Path, action="append", metavar="FILE", help=f"drawing: {DRAWINGS}; may be repeated"
    )
    depth.add_argument("--width", metavar="W", help=WIDTH_HELP)

    figure = commands.add_parser("figure", help="draw the regions of a network", allow_abbrev=False)
    figure.set_defaults(run=_figure)
    figure.add_argument("network", help="network file, .json or .safetensors")
    figure.add_argument("--domain", help="as for count; default: the file's own")
    figure.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=DRAWINGS)
    figure.add_argument(
        "--color-by", default="linear", metavar="WHAT", help=f"{names}, or value, value:k (output k); default: linear"
    )
    figure.add_argument(
        "--window", metavar="A:B,C:D", help="the part to draw, of a graph also A:B; default: all that can be seen"
    )
    figure.add_argument("--boundary", action="store_true", help="also draw the decision boundary")
    figure.add_argument("--width", metavar="W", help=WIDTH_HELP)
    figure.add_argument("--max-pieces", type=_positive, metavar="N", help=most_pieces)

    arrangement = commands.add_parser(
        "arrangement", help="count the regions of a hyperplane arrangement", allow_abbrev=False
    )
    arrangement.set_defaults(run=_arrangement)
    arrangement.add_argument(
        "arrangement", help="arrangement file: .json (normals·x = offsets) or .npz (weight_0·x + bias_0 = 0)"
    )
    arrangement.add_argument("--domain", default="all", help="as for count; default: all, the whole space")
    arrangement.add_argument("--json", action="store_true", help="print one JSON object")
    arrangement.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help=f"also draw the regions of lines in the plane: {DRAWINGS}"
    )
    arrangement.add_argument("--window", metavar="A:B,C:D", help="the part to draw; default: all that can be seen")
    arrangement.add_argument("--width", metavar="W", help=WIDTH_HELP)

    app = commands.add_parser("app", help="open the dashboard on this machine", allow_abbrev=False)
    app.set_defaults(run=_app)
    app.add_argument("--port", type=_port, default=8050, metavar="N", help="default: 8050")

    bench = commands.add_parser("bench", help="run the benchmarks of a checkout", add_help=False)
    bench.set_defaults(run=_bench)
    return parser


# --- argument types


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, got {text!r}")
    return value


def _port(text: str) -> int:
    port = _positive(text)
    if port > 65_535:
        raise argparse.ArgumentTypeError(f"expected a port from 1 to 65535, got {text!r}")
    return port


def _integers(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(word) for word in text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected integers such as 3,4,5, got {text!r}") from None


def _definitions(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in COUNTABLE:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(COUNTABLE)}, got {name!r}")
    return names


# --- build


def _build(arguments: argparse.Namespace) -> int:
    from regioncount import constructions, files

    names = [name.replace("-", "_") for name in BUILD_PARAMETERS]
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    network = constructions.build(arguments.construction, **given)
    files.save(network, arguments.output, round=arguments.round)
    print(f"{arguments.output}: {len(network.layers)} layers, domain {network.domain}")
    return 0


# --- count


def _count(arguments: argparse.Namespace) -> int:
    if arguments.method in ("grid", "montecarlo") and arguments.definitions:
        raise InputError(f"argument --definitions: --method {arguments.method} only samples, it gives no counts")
    if arguments.method != "grid" and arguments.grid is not None:
        raise InputError("argument --grid: needs --method grid")
    for name in ("samples", "seed"):
        if arguments.method != "montecarlo" and getattr(arguments, name) is not None:
            raise InputError(f"argument --{name}: needs --method montecarlo")

    network, domain = _load(arguments)
    if "R1" in (arguments.definitions or ()) and _inner_dim(domain) > 2:
        raise InputError(f"argument --definitions: R1 is counted in one and two dimensions, got {domain.dim}")
    if arguments.save is not None and _inner_dim(domain) > 2:
        raise InputError(f"argument --save: partitions are kept in one and two dimensions, got {domain.dim}")
    options = {"domain": domain, "method": arguments.method, "exact": arguments.exact}
    if arguments.max_pieces is not None:
        options["max_pieces"] = arguments.max_pieces
    if arguments.save is None:
        options |= {"grid": arguments.grid, "samples": arguments.samples, "seed": arguments.seed}
        result, note = _count_within_memory(network, arguments.definitions, **options)
    else:
        result, note = _count_and_save(network, arguments, options), ""
    report = _report(arguments.network, result, note)
    text = str(network.domain if arguments.domain is None else arguments.domain).strip()
    if text.startswith("slice:"):
        report["domain"] = text  # its numbers are in the file
    if arguments.json:
        import json

        print(json.dumps(report))
    else:
        _print_count(report)
    return 0


def _count_and_save(network: Network, arguments: argparse.Namespace, options: dict[str, Any]) -> CountResult:
    """Count the pieces of a partition that is kept in a file."""
    import time

    from regioncount import files
    from regioncount.partition import subdivide

    _check_place("--save", arguments.save)
    if arguments.save.suffix.lower() != ".npz":
        raise InputError(f"argument --save: expected a name in .npz, got {arguments.save.name}")
    started = time.perf_counter()
    partition = subdivide(network, **options)
    result = partition.result(arguments.definitions or DEFINITIONS, started)
    files.save(partition, arguments.save)
    return result


def _load(arguments: argparse.Namespace) -> tuple[Network, Domain]:
    """The network and the domain that was given, or else its own."""
    from regioncount import files
    from regioncount.network import Network

    network = files.load(arguments.network)
    if not isinstance(network, Network):
        raise InputError(f"{arguments.network}: expected a network file, got a partition")
    text = network.domain if arguments.domain is None else arguments.domain
    if text is None:
        raise InputError(f"argument --domain: {arguments.network} has no domain of its own, give one")
    return network, files.read_domain(text, network.input_dim)


def _inner_dim(domain: Domain) -> int:
    """The dimension of what is subdivided: of a slice that of its parameters."""
    from regioncount.domain import Slice

    return domain.parameters if isinstance(domain, Slice) else domain.dim


def _count_within_memory(network: Any, definitions: tuple[str, ...] | None, **options: Any) -> tuple[CountResult, str]:
    """Count what was named, or everything; beyond `max_pieces`, if nothing was named, `activation` alone."""
    from regioncount.partition import count

    if options["method"] in ("grid", "montecarlo"):
        return count(network, **options), ""
    try:
        return count(network, definitions=definitions or DEFINITIONS, **options), ""
    except TooManyPieces as error:
        if definitions is not None:
            raise
        note = f"{error}; only activation was counted"
        print(f"regioncount: note: {note}", file=sys.stderr)
        return count(network, definitions=("activation",), **options), note


def _report(path: str, result: CountResult, note: str) -> dict[str, Any]:
    """The object of `count --json`."""
    report = {
        "network": path,
        "domain": str(result.domain),
        "method": result.method,
        "counts": result.counts,
        "depth_profile": result.depth_profile,
        "pieces": result.pieces,
        "certified": result.certified,
        "undecided": result.undecided,
        "decisions": result.decisions,
        "estimate": result.estimate,
        "seconds": result.seconds,
        "note": "; ".join(filter(None, (result.note, note))),
    }
    if result.estimate is None:
        del report["estimate"]
    return report


def _print_count(report: dict[str, Any]) -> None:
    for key in ("network", "domain", "method"):
        print(f"{key:<9} {report[key]}")
    print()
    estimate = report.get("estimate")
    if estimate and report["method"] == "montecarlo":
        _print_montecarlo(estimate)
    elif estimate:
        points = " x ".join(f"{n:,}" for n in estimate["points"])
        print(f"an estimate from {points} sampled points, not a count:")
        print(f"{estimate['activation']:>15,}  distinct activation patterns")
        print(f"{estimate['components']:>15,}  connected components of equal pattern")
    else:
        print(f"{'definition':<14} {'count':>15}  meaning")
        for name, value in report["counts"].items():
            print(f"{name:<14} {value:>15,}  {MEANINGS.get(name, '')}")
        if report["certified"]:
            decided = report["decisions"]
            verdict = (
                f"certified: every decision was proved ({decided['float']:,} by floats with error bounds, "
                f"{decided['exact']:,} in rational arithmetic)"
            )
        else:
            verdict = f"not certified: {report['undecided']:,} undecided decisions followed their float value"
        print(f"\n{verdict}")
    if report["depth_profile"]:
        print("\nafter layer            activation")
        for entry in report["depth_profile"]:
            print(f"{entry['layer']:>4}  {entry['type']:<12} {entry['activation']:>14,}")
    pieces = f"{report['pieces']:,} pieces, " if report["pieces"] else ""
    print(f"\n{pieces}{report['seconds']:.3g} s")
    if report["note"]:
        print(f"note: {report['note']}")


def _print_montecarlo(estimate: dict[str, Any]) -> None:
    percent = f"{100 * estimate['confidence']:g} %"
    print(f"a Monte-Carlo estimate from {estimate['samples']:,} random descents, not a count:")
    print(f"{estimate['activation']:>15,.4g}  activation regions, standard error {estimate['standard_error']:,.2g}")
    print(f"{estimate['low']:>15,.4g}  to {estimate['high']:,.4g}: interval of nominal confidence {percent}")
    print(f"{estimate['distinct']:>15,}  distinct regions seen")


# --- verify


def _verify(arguments: argparse.Namespace) -> int:
    from regioncount import files
    from regioncount.network import Network
    from regioncount.partition import Partition
    from regioncount.verify import verify

    partition = files.load(arguments.partition)
    if not isinstance(partition, Partition):
        raise InputError(f"{arguments.partition}: expected a partition file (.npz), got a network")
    network = None if arguments.network is None else files.load(arguments.network)
    if network is not None and not isinstance(network, Network):
        raise InputError(f"{arguments.network}: expected a network file, got a partition")
    try:
        found = verify(partition, network)
    except InputError as error:
        raise InputError(f"{arguments.partition}: {error}") from None
    if arguments.json:
        import json

        print(json.dumps({"partition": arguments.partition, "verified": True, **found}))
        return 0
    print(f"{arguments.partition}: verified from scratch, {found['pieces']:,} pieces, {found['facets']:,} facets")
    for name, value in found["counts"].items():
        print(f"{name:<14} {value:>15,}  {MEANINGS[name]}")
    return 0


# --- depth


def _depth(arguments: argparse.Namespace) -> int:
    from regioncount import sweep

    if arguments.output is not None:
        _check_place("-o", arguments.output)
    drawings = arguments.figure or []
    printed = any(path.suffix.lower() in PRINT for path in drawings)
    for path in drawings:
        _check_drawing("--figure", path, None if printed and path.suffix.lower() in SCREEN else arguments.width)
    if arguments.width is not None and not drawings:
        raise InputError("argument --width: needs --figure")
    options, networks = _sweeps(arguments)
    records: list[dict[str, Any]] = []
    output = contextlib.nullcontext() if arguments.output is None else sweep.RecordWriter(arguments.output)
    with output as write, _Progress(networks) as progress:
        for given in options:
            table = _DepthTable(given, title=len(options) > 1)

            def finished(record: dict[str, Any], table: _DepthTable = table) -> None:
                records.append(record)
                if write is not None:
                    write(record)
                progress.clear()
                table.add(record)
                progress.show(len(records))

            sweep.depth_sweep(
                **given,
                definitions=arguments.definitions or DEFINITIONS,
                on_record=finished,
                max_pieces=arguments.max_pieces,
            )
    counted = records[0]["counts"]
    definition = "linear" if "linear" in counted else next(iter(counted))
    for path in drawings:
        if path.suffix.lower() in SCREEN:
            from regioncount import figures

            figures.write_figure(figures.depth_figure(records, definition), path)
        else:
            from regioncount import paper

            paper.write_figure(paper.depth_figure(records, definition, arguments.width or "single"), path)
    return 0


def _sweeps(arguments: argparse.Namespace) -> tuple[list[dict[str, Any]], int]:
    """The arguments of the sweep of each construction, and the number of networks, all checked before the first.

    An argument that no construction takes is refused.
    """
    from regioncount import sweep

    names, options, used = arguments.construction, list[dict[str, Any]](), set[str]()
    networks = 0
    for name in names:
        given: dict[str, Any] = {"construction": name, "tokens": None, "max_depth": arguments.max_depth}
        if sweep.has_tokens(name):
            if arguments.tokens is None:
                raise InputError(f"argument --tokens: {name} needs numbers of tokens, such as 3,4,5")
            given["tokens"] = arguments.tokens
            used.add("tokens")
        for key in ("seeds", *sweep.SIZES[name]) if name in sweep.SIZES else ():
            if getattr(arguments, key) is not None:
                given[key] = getattr(arguments, key)
                used.add(key)
        options.append(given)
        networks += len(sweep.plan(**given))
    for key in ("tokens", "seeds", *SWEEP_SIZES):
        if getattr(arguments, key) is not None and key not in used:
            raise InputError(f"argument --{key}: {' and '.join(names)} {'has' if len(names) == 1 else 'have'} none")
    return options, networks


def _check_place(option: str, path: Path) -> None:
    """Refuse before the work what could only fail after it."""
    if path.is_dir():
        raise InputError(f"argument {option}: {path} is a directory")
    if not path.parent.is_dir():
        raise InputError(f"argument {option}: {path}: there is no folder {path.parent}")


def _check_drawing(option: str, path: Path, width: str | None) -> None:
    """Refuse a name that no drawing can have, a width that none can have, and prints without matplotlib."""
    _check_place(option, path)
    ending = path.suffix.lower()
    if ending not in SCREEN + PRINT:
        raise InputError(f"argument {option}: expected a name in {', '.join(SCREEN + PRINT)}, got {path.name}")
    if ending in PRINT:
        from regioncount import paper

        paper.check_installed()
        with located("argument --"):
            paper.check_width("single" if width is None else width)
    elif width is not None:
        raise InputError(f"argument --width: {', '.join(PRINT)} have one, {ending} has none")


class _DepthTable:
    """The table of one construction: a line a network, or the medians over the seeds of a depth once all are there."""

    def __init__(self, given: dict[str, Any], title: bool) -> None:
        from regioncount.sweep import SEEDS, SIZES

        name = given["construction"]
        self.seeds = 1
        self.title = f"{name}:" if title else ""
        self.header = True
        self.waiting: list[dict[str, Any]] = []
        if name in SIZES:
            self.seeds = given.get("seeds", SEEDS)
            sizes = ", ".join(f"{key} {given.get(key, size)}" for key, size in SIZES[name].items())
            self.title = f"{name} ({sizes}), medians of {self.seeds} seed{'s' * (self.seeds != 1)}:"

    def add(self, record: dict[str, Any]) -> None:
        from statistics import median

        self.waiting.append(record)
        if len(self.waiting) < self.seeds:
            return
        rows, self.waiting = self.waiting, []
        widths = {name: max(len(name), 12) for name in record["counts"]}
        if self.title:
            print(self.title)
        if self.header:
            names = "".join(f"  {name:>{width}}" for name, width in widths.items())
            print(f"{'T':>3} {'D':>4}{names}  {'lower bound':>12}  certified")
        self.title, self.header = "", False
        middle = {name: median(row["counts"][name] for row in rows) for name in widths}
        counts = "".join(f"  {_number(middle[name]):>{width}}" for name, width in widths.items())
        tokens = "" if record["tokens"] is None else record["tokens"]
        bound = "" if record["bound"] is None else f"{record['bound']:,}"
        certified = "yes" if all(row["certified"] for row in rows) else "no"
        print(f"{tokens:>3} {record['depth']:>4}{counts}  {bound:>12}  {certified}", flush=True)


def _number(value: float) -> str:
    """A count, or a median of counts, which may lie half-way between two."""
    return f"{int(value):,}" if value == int(value) else f"{value:,.1f}"


class _Progress:
    """One line on stderr, `[####    ] 3/12`, where stderr is a terminal; nothing elsewhere."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.visible = sys.stderr.isatty()

    def __enter__(self) -> _Progress:
        self.show(0)
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()

    def show(self, done: int) -> None:
        if self.visible:
            bar = "#" * (30 * done // self.total)
            print(f"\r[{bar:<30}] {done}/{self.total}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.visible:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


# --- figure


def _figure(arguments: argparse.Namespace) -> int:
    _check_drawing("-o", arguments.output, arguments.width)
    network, domain = _load(arguments)
    if _inner_dim(domain) > 2:
        raise InputError(
            f"argument --domain: figures show one or two dimensions, got {domain} of {domain.dim}; expected "
            "slice:FILE, a cut through them"
        )
    if arguments.boundary and network.output_dim < 2:
        raise InputError(f"argument --boundary: {arguments.network} has a single output, a boundary needs 2")

    from regioncount import drawing
    from regioncount.partition import subdivide

    with located("argument --color-by: "):
        shade = drawing.shade(network, arguments.color_by)
    window = None if arguments.window is None else _window(arguments.window, domain)
    limit = {} if arguments.max_pieces is None else {"max_pieces": arguments.max_pieces}
    partition = subdivide(network, domain, **limit)
    if arguments.output.suffix.lower() in SCREEN:
        from regioncount import figures

        figures.write_figure(
            figures.partition_figure(partition, arguments.color_by, arguments.boundary, window), arguments.output
        )
    else:
        from regioncount import paper

        width = arguments.width or "single"
        paper.write_figure(
            paper.partition_figure(partition, arguments.color_by, arguments.boundary, width, window), arguments.output
        )
    print(f"{arguments.output}: {drawing.headline(partition, shade.definition)[0]}; {drawing.footing(partition)}")
    if arguments.boundary:
        boundary = partition.decision_boundary()
        print(", ".join(drawing.boundary_words(boundary.count, len(boundary.jumps), partition.dim)))
    return 0


def _window(text: str, domain: Domain) -> tuple[float, ...]:
    """The part to draw: low:high of x and y, on the line perhaps of x alone."""
    from regioncount.domain import Box, Interval, parse_domain

    dim = _inner_dim(domain)
    with located("argument --window: "):
        box = parse_domain(text, 2)
        if not (isinstance(box, Box) and box.dim == 2 or isinstance(box, Interval) and dim == 1):
            raise InputError(f"expected a:b,c:d{', or a:b of a graph' if dim == 1 else ''}, got {text!r}")
    return tuple(x for pair in zip(*box.bounds, strict=True) for x in pair)


# --- arrangement


def _arrangement(arguments: argparse.Namespace) -> int:
    import time

    from regioncount import files

    if arguments.output is not None:
        _check_drawing("-o", arguments.output, arguments.width)
    for option in ("width", "window"):
        if arguments.output is None and getattr(arguments, option) is not None:
            raise InputError(f"argument --{option}: needs -o")
    arrangement = files.load_arrangement(arguments.arrangement)
    if arguments.output is not None and (arrangement.dim != 2 or not len(arrangement)):
        what = f"{len(arrangement)} hyperplanes in R^{arrangement.dim}"
        raise InputError(f"argument -o: expected lines in the plane to draw, got {what}")
    started = time.perf_counter()
    report = {
        "arrangement": arguments.arrangement,
        "domain": arguments.domain.strip(),
        "dim": arrangement.dim,
        "hyperplanes": arrangement.n_hyperplanes,
        **(_everywhere(arrangement) if arguments.domain.strip() == "all" else _within(arrangement, arguments.domain)),
    }
    report["seconds"] = time.perf_counter() - started
    distinct = arrangement.n_distinct
    if distinct < arrangement.n_hyperplanes:
        report["note"] = "; ".join(filter(None, (f"{distinct} of the hyperplanes are distinct", report["note"])))
    report["note"] = report.pop("note")  # last, as in count
    drawn = "" if arguments.output is None else _draw_arrangement(arrangement, arguments)
    if arguments.json:
        import json

        print(json.dumps(report))
    else:
        _print_arrangement(report)
    if drawn:
        print(drawn, file=sys.stderr if arguments.json else sys.stdout)
    return 0


def _everywhere(arrangement: HyperplaneArrangement) -> dict[str, Any]:
    """Counts on the whole space, from the characteristic polynomial."""
    coefficients = list(arrangement.characteristic_polynomial())
    return {
        "regions": arrangement.n_regions(),
        "bounded_regions": arrangement.n_bounded_regions(),
        "general_position": arrangement.is_general_position,
        "central": arrangement.is_central,
        "essential": arrangement.is_essential,
        "characteristic_polynomial": coefficients,
        "method": "characteristic_polynomial",
        "certified": True,
        "note": "" if arrangement.is_essential else "not essential: bounded_regions are the relatively bounded ones",
    }


def _within(arrangement: HyperplaneArrangement, domain: str) -> dict[str, Any]:
    """Counts on a domain, from the engine of networks; nothing is said of bounded regions there."""
    from regioncount.bounds import zaslavsky
    from regioncount.domain import as_domain
    from regioncount.partition import count

    note = "regions are those that meet the interior of the domain; bounded ones are counted on all only"
    few = zaslavsky(arrangement.n_distinct, arrangement.dim) <= CHECKED_REGIONS
    if not few:
        note += "; general position was not checked, there are too many hyperplanes"
    if len(arrangement):
        result = count(arrangement.network(), domain)
        regions, method, certified = result.counts["activation"], result.method, result.certified
        note = "; ".join(filter(None, (note, result.note)))
    else:
        where = as_domain(domain)
        if where.dim != arrangement.dim:
            raise InputError(f"domain: expected dimension {arrangement.dim}, got {where.dim}")
        regions, method, certified = 1, "characteristic_polynomial", True
    return {
        "regions": regions,
        "bounded_regions": None,
        "general_position": arrangement.is_general_position if few else None,
        "central": arrangement.is_central,
        "essential": arrangement.is_essential,
        "method": method,
        "certified": certified,
        "note": note,
    }


def _print_arrangement(report: dict[str, Any]) -> None:
    from regioncount.arrangement import IntegerPolynomial

    known = {"general_position": "in general position", "central": "central", "essential": "essential"}
    words = [name if report[key] else f"not {name}" for key, name in known.items() if report[key] is not None]
    print(f"{report['arrangement']}: {report['hyperplanes']:,} hyperplanes in R^{report['dim']}, {', '.join(words)}")
    print(f"domain {report['domain']}, method {report['method']}\n")
    print(f"{'quantity':<18} {'count':>18}  meaning")
    everywhere = report["domain"] == "all"
    meaning = "connected components of the complement of the hyperplanes"
    print(f"{'regions':<18} {report['regions']:>18,}  {meaning if everywhere else meaning + ', in the domain'}")
    if everywhere:
        span = "bounded" if report["essential"] else "bounded in the span of the normals"
        print(f"{'bounded regions':<18} {report['bounded_regions']:>18,}  {span}")
        print(f"\ncharacteristic polynomial: {IntegerPolynomial(report['characteristic_polynomial'])}")
    verdict = "certified: every decision was proved" if report["certified"] else "not certified: some were not proved"
    print(f"\n{verdict}; {report['seconds']:.3g} s")
    if report["note"]:
        print(f"note: {report['note']}")


def _draw_arrangement(arrangement: HyperplaneArrangement, arguments: argparse.Namespace) -> str:
    """Draw the regions of lines in the plane, coloured one by one, and return a line about it."""
    from regioncount import drawing
    from regioncount.domain import as_domain
    from regioncount.network import Affine, Network
    from regioncount.partition import subdivide

    layers = arrangement.network().layers
    plain = Network(2, (*layers, Affine([[0.0] * len(arrangement)])))  # maps of one row: memory for many lines
    window = None if arguments.window is None else _window(arguments.window, as_domain(arguments.domain, 2))
    partition = subdivide(plain, arguments.domain)
    n = arrangement.n_distinct
    title = f"{partition.n_pieces:,} regions of {n:,} line{'s' * (n != 1)}"
    if arguments.output.suffix.lower() in SCREEN:
        from regioncount import figures

        screen = figures.partition_figure(partition, "activation", window=window)
        figures.write_figure(screen.update_layout(title_text=title), arguments.output)
    else:
        from regioncount import paper

        width = arguments.width or "single"
        printed = paper.partition_figure(partition, "activation", width=width, window=window)
        printed.axes[0].set_title(title)
        paper.write_figure(printed, arguments.output)
    return f"{arguments.output}: {title}; {drawing.footing(partition)}"


# --- app


def _app(arguments: argparse.Namespace) -> int:
    from regioncount_app import server

    server.run(arguments.port)
    return 0


# --- bench


def _bench(arguments: argparse.Namespace) -> int:
    from importlib import import_module

    checkout = Path(__file__).resolve().parent.parent
    if not (checkout / "benchmarks" / "cases.py").is_file():
        raise InputError("bench needs a checkout: no benchmarks/cases.py beside the package")
    sys.path.insert(0, str(checkout))
    code: int = import_module("benchmarks.cases").main(arguments.rest)
    return code
