"""``regioncount bench``: what a count costs, as ratios measured side by side in one run.

Machines are shared and noisy, so no time stands alone.  The yardstick of a network is one numpy float64 forward pass
of its hidden layers at one random point a region (one BLAS thread, rows in chunks of 1024, ``h @ W.T``, then bias and
ReLU in place).  Count and yardstick are run in turn, and the least of each is taken; a ratio below 1 means that
counting costs less than evaluating the network once in each region.  Memory is that of a child process above one that
has counted a small network.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RATIOS = {"relu_2_64x4": 2.0, "relu_2_128x4": 2.0, "lines_500": None}  # network: the ratio to stay below
MEMORY = {"relu_2_64x4": 200, "relu_2_128x4": 200, "lines_500": 200}  # network: MB to stay below
CERTAINTY = {"relu_2_64x4": 1.3, "relu_2_128x4": 1.3, "maxout5_2_32x4": 1.3}  # network: the ratio to stay below
CONIC = (6, 4)  # seeds of a large and a small hardmax Transformer with 2 layers, T = 4, d = 4, 4 hidden units
CONIC_SECONDS = 1.0  # the small one, about 800 cells, counted
CONIC_PIECES = 6.0  # trapezoids a cell
CONIC_GROWTH = 2.0  # time a trapezoid in the large one, to that in the small one
DEPTH_SECONDS = 10.0  # three_step with 4 tokens at depth 30: 59,049 linear regions
HELP_SECONDS = 0.15
ARRANGEMENTS = ("hyperplanes_4d_20", "hyperplanes_6d_20")  # regions of the whole space, beside affinitree
AGAINST_PEER = 0.1  # the ratio of its time to stay below
PEER = "REGIONCOUNT_AFFINITREE"  # the environment variable that names a Python with affinitree
PLANE_SECONDS = 2.0  # 2000 lines on the whole plane: 2,001,001 regions
FLATS_SECONDS = 1.0  # n_regions() of 20 hyperplanes in R^6 with small integer coefficients


def main(argv: list[str] | None = None) -> int:
    """Run all benchmarks and print their table; exit code 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="regioncount bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=7, help="alternated runs of which the least counts (default 7)")
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.child:
        return _child(arguments.child)
    runs = arguments.runs
    rows = [*_speed(runs), *_certainty(runs), *_conic(runs), *_depth()]
    rows += [*_space(runs), *_plane(runs), *_flats(runs), *_memory(), _help()]
    if arguments.json:
        print(json.dumps(rows))
    else:
        _print(rows)
    return 1 if any(_missed(row) for row in rows) else 0


def _missed(row: dict) -> bool:
    return row["value"] is not None and row["target"] is not None and row["value"] > row["target"]


def _print(rows: list[dict]) -> None:
    print(f"{'benchmark':<44} {'value':>9} {'target':>9}  unit, detail")
    for row in rows:
        target = "" if row["target"] is None else f"{row['target']:.3g}"
        value = "skipped" if row["value"] is None else f"{row['value']:.3g}"
        print(f"{row['name']:<44} {value:>9} {target:>9}  {row['unit']}{'  MISSED' if _missed(row) else ''}")


def _peers():
    """The networks to measure, which are those of the tests."""
    sys.path.insert(0, str(ROOT / "tests"))
    return import_module("peers")


def _speed(runs: int) -> list[dict]:
    """Ratio of a count of ``activation`` to the yardstick, single thread."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # before numpy is loaded
    import numpy as np

    import regioncount as rc

    peers = _peers()

    rows = []
    for name, target in RATIOS.items():
        network = peers.load(name)
        n = rc.count(network, "-1:1,-1:1").counts["activation"]
        layers = peers.hidden(name)
        points = np.random.default_rng(0).uniform(-1, 1, (n, 2))
        best_count = best_pass = float("inf")
        for _ in range(runs):
            best_pass = min(best_pass, _forward(np, points, layers))
            started = time.perf_counter()
            rc.count(network, "-1:1,-1:1")
            best_count = min(best_count, time.perf_counter() - started)
        detail = f"{n:,} regions, {best_count / n * 1e6:.2f} us a region, forward pass {best_pass / n * 1e6:.2f} us"
        rows.append(
            {"name": f"count activation / forward pass, {name}", "value": best_count / best_pass, "target": target,
             "unit": f"ratio; {detail}"}
        )  # fmt: skip
    return rows


def _forward(np, points, layers) -> float:
    """Seconds of one forward pass of the hidden layers."""
    started = time.perf_counter()
    for start in range(0, len(points), 1024):
        h = points[start : start + 1024]
        for weight, bias in layers:
            h = h @ weight.T
            h += bias
            np.maximum(h, 0, out=h)
    return time.perf_counter() - started


def _certainty(runs: int) -> list[dict]:
    """Ratio of a count to the same count by a copy of the package that believes its floats."""
    import regioncount as rc

    peers = _peers()

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        believer = _believer(Path(folder))
        for name, target in CERTAINTY.items():
            networks = [peers.load(name), peers.load(name, believer)]
            best = [float("inf"), float("inf")]
            for run in range(runs + 1):
                for which, module in enumerate((rc, believer)):
                    started = time.perf_counter()
                    module.count(networks[which], "-1:1,-1:1")
                    if run:  # the first run compiles
                        best[which] = min(best[which], time.perf_counter() - started)
            row = {"name": f"certified / uncertified count, {name}", "value": best[0] / best[1], "target": target}
            rows.append(row | {"unit": "ratio"})
    return rows


def _believer(folder: Path):
    """A copy of the package under another name whose bounds are all zero: every float sign is believed."""
    shutil.copytree(ROOT / "regioncount", folder / "uncertified", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder / "uncertified").rglob("*.py"):
        text = (
            path.read_text()
            .replace("from regioncount", "from uncertified")
            .replace("import regioncount", "import uncertified")
        )
        if path.name == "predicates.py":
            for name in ("row_error", "product_error", "value_bound", "determinant_bound", "crossing_radius"):
                text, n = re.subn(rf"(def {name}\(.*?\):\n)(.*?)(?=\n\n\n)", r"\1    return 0.0", text, flags=re.DOTALL)
                assert n == 1, name
        path.write_text(text)
    sys.path.insert(0, str(folder))
    return import_module("uncertified")


def _conic(runs: int) -> list[dict]:
    """Seconds and trapezoids of attention with quadratic scores in the plane; time a trapezoid, large to small."""
    import regioncount as rc

    best, pieces, cells = [float("inf")] * 2, [0, 0], [0, 0]
    networks = [
        rc.constructions.random_transformer(tokens=4, layers=2, heads=1, dim=4, hidden=4, seed=seed) for seed in CONIC
    ]
    for which, network in enumerate(networks):  # compiles
        cells[which] = rc.count(network, "-1:1,-1:1", definitions=["cells"]).counts["cells"]
    for _ in range(runs):
        for which, network in enumerate(networks):
            started = time.perf_counter()
            pieces[which] = rc.count(network, "-1:1,-1:1").pieces or 0
            best[which] = min(best[which], time.perf_counter() - started)
    each = [seconds / n for seconds, n in zip(best, pieces, strict=True)]
    rates = ", ".join(f"{1 / t:,.0f} trapezoids a second ({n:,})" for t, n in zip(each, pieces, strict=True))
    return [
        {"name": f"conic Transformer of {cells[1]:,} cells", "value": best[1], "target": CONIC_SECONDS, "unit": "s"},
        {"name": "trapezoids a cell", "value": pieces[1] / cells[1], "target": CONIC_PIECES, "unit": "ratio"},
        {"name": "time a trapezoid, large / small", "value": each[0] / each[1], "target": CONIC_GROWTH,
         "unit": f"ratio; {rates}"},
    ]  # fmt: skip


def _depth() -> list[dict]:
    """Seconds to count all definitions of three_step at depth 30, certified."""
    import regioncount as rc

    network = rc.constructions.three_step(tokens=4, depth=30)
    rc.count(rc.constructions.three_step(tokens=4, depth=6), definitions=rc.DEFINITIONS)  # compiles
    started = time.perf_counter()
    result = rc.count(network, definitions=rc.DEFINITIONS)
    seconds = time.perf_counter() - started
    assert result.certified and result.counts["linear"] == 3**10, result
    return [{"name": "three_step T = 4, D = 30, all counts", "value": seconds, "target": DEPTH_SECONDS, "unit": "s"}]


def _space(runs: int) -> list[dict]:
    """Time to find all regions of hyperplanes in R^n, as a ratio to affinitree's, in turn in one run.

    affinitree (a tree of decisions pruned by linear programs, in float64, single thread) keeps what it finds; a count
    does not, but proves it.  It is no dependency: it may live in another environment, whose Python ``PEER`` names.
    """
    import regioncount as rc

    peers = _peers()
    reason = _why_no_peer()
    rows = []
    for name in ARRANGEMENTS:
        network, number = peers.load(name), peers.COUNTS[name]["activation"]["all"]
        assert rc.count(network, "all").counts["activation"] == number, name  # compiles
        ours = theirs = float("inf")
        for _ in range(min(runs, 3)):
            started = time.perf_counter()
            rc.count(network, "all")
            ours = min(ours, time.perf_counter() - started)
            if reason is None:
                found, seconds = _peer(peers.FOLDER / f"{name}.npz")
                assert found == number, (name, found)
                theirs = min(theirs, seconds)
        each = f"{number:,} regions in {ours:.3g} s, {ours / number * 1e6:.2f} us a region"
        row = {"name": f"count activation / affinitree, {name}", "value": None, "target": AGAINST_PEER}
        if reason is None:
            row |= {"value": ours / theirs, "unit": f"ratio; {each}; affinitree {theirs:.3g} s"}
        else:
            row |= {"unit": f"{reason}; {each}"}
        rows.append(row)
    return rows


PEER_PROGRAM = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from affinitree import AffFunc, Architecture, builder
arrays = np.load(sys.argv[1])
weight, bias = arrays["weight_0"], arrays["bias_0"]
started = time.perf_counter()
layers = Architecture(weight.shape[1])
layers.linear(AffFunc.from_mats(weight, bias))
layers.relu()
found = builder.from_layers(layers).num_terminals()
print("result", found, time.perf_counter() - started)
"""


def _peer_python() -> str:
    return os.environ.get(PEER, sys.executable)


def _why_no_peer() -> str | None:
    """Why affinitree cannot be measured, or None where it can."""
    try:
        done = subprocess.run([_peer_python(), "-W", "ignore", "-c", "import affinitree"], capture_output=True)
    except OSError as error:
        return f"{PEER}: {error.strerror}"
    return f"no affinitree (install it, or name a Python that has it by {PEER})" if done.returncode else None


def _peer(path: Path) -> tuple[int, float]:
    """The regions that affinitree finds, and its seconds without starting up."""
    command = [_peer_python(), "-W", "ignore", "-c", PEER_PROGRAM, str(path)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    words = out.split()[-3:]
    assert words[0] == "result", out
    return int(words[1]), float(words[2])


def _plane(runs: int) -> list[dict]:
    """Seconds to count the regions of 2000 lines on the whole plane."""
    import regioncount as rc

    peers = _peers()

    rc.count(peers.load("lines_50"), "all")  # compiles
    network, number, least = peers.load("lines_2000"), peers.COUNTS["lines_2000"]["activation"]["all"], float("inf")
    for _ in range(min(runs, 3)):
        started = time.perf_counter()
        assert rc.count(network, "all").counts["activation"] == number
        least = min(least, time.perf_counter() - started)
    unit = f"s; {number:,} regions"
    return [{"name": "lines_2000, whole plane", "value": least, "target": PLANE_SECONDS, "unit": unit}]


def _flats(runs: int) -> list[dict]:
    """Seconds of ``n_regions()`` of hyperplanes with small integers, so with many degeneracies."""
    import numpy as np

    import regioncount as rc

    rng, least = np.random.default_rng(0), float("inf")
    normals, offsets = rng.integers(-2, 3, (20, 6)), rng.integers(-2, 3, 20)
    for _ in range(min(runs, 3)):
        arrangement = rc.HyperplaneArrangement(normals.tolist(), offsets.tolist())
        started = time.perf_counter()
        number = arrangement.n_regions()
        least = min(least, time.perf_counter() - started)
    name = "n_regions, 20 small-integer hyperplanes in R^6"
    return [{"name": name, "value": least, "target": FLATS_SECONDS, "unit": f"s; {number:,} regions"}]


def _memory() -> list[dict]:
    """Peak memory of counting a network above that of counting a small one, in MB."""
    base = _peak("relu_2_16x2")
    return [
        {"name": f"peak memory above relu_2_16x2, {name}", "value": _peak(name) - base, "target": target, "unit": "MB"}
        for name, target in MEMORY.items()
    ]


def _peak(name: str) -> float:
    command = [sys.executable, "-c", f"from benchmarks.cases import main; main(['--child', {name!r}])"]
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return float(out.split()[-1])


def _child(name: str) -> int:
    """Count the small network, then ``name``, and print the peak memory of this process in MB."""
    import regioncount as rc

    peers = _peers()

    rc.count(peers.load("relu_2_16x2"), "-1:1,-1:1")
    rc.count(peers.load(name), "-1:1,-1:1")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return 0


def _help() -> dict:
    """CPU seconds of ``regioncount --help``, least of 5."""
    least = float("inf")
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "regioncount", "--help"], cwd=ROOT, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"name": "regioncount --help", "value": least, "target": HELP_SECONDS, "unit": "CPU s"}


if __name__ == "__main__":
    sys.exit(main())
