"""Depth and seed sweeps: one record for each network, and files of records.

A construction of T tokens has one network at each depth D, a random family one for each D and seed: there the input is
one number in [-1, 1], D counts hidden layers (ReLU, maxout) or blocks (Transformer), and `SIZES` has the other sizes.

A record is a plain dict with the keys of `RECORD_KEYS`; those of random networks also say `seed` and `sizes`, and
`tokens` and `bound` are None where there are none. A file of records is JSON Lines, one object a line.
Records reach their file one by one, in a temporary file beside it that takes its name at the end, also after
an interruption: what is under the final name is never half a line, and finished records are not lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from regioncount import bounds, constructions
from regioncount.definitions import DEFINITIONS
from regioncount.errors import InputError, shown

if TYPE_CHECKING:
    from regioncount.network import Network

Record = dict[str, Any]
RECORD_KEYS = ("construction", "tokens", "depth", "counts", "bound", "method", "certified", "seconds")
SIZES: dict[str, dict[str, int]] = {  # of random families, with their defaults
    "random-relu": {"units": 16},
    "random-maxout": {"units": 16, "rank": 3},
    "random-transformer": {"heads": 1, "dim": 4, "hidden": 8},
}
SEEDS = 10
MAX_JOBS = 1_000_000


class Job(NamedTuple):
    """One network of a sweep: `tokens` is None where it has none, `seed` where it is not random."""

    construction: str
    tokens: int | None
    depth: int
    seed: int | None
    sizes: dict[str, int]


def has_tokens(construction: str) -> bool:
    """Whether a construction has a number of tokens.

    Raises
    ------
    InputError
        If there is no construction of that name.
    """
    return "tokens" in constructions.parameters(construction)


def plan(
    construction: str, tokens: int | Sequence[int] | None, max_depth: int, seeds: int | None = None, **sizes: int
) -> list[Job]:
    """The networks of `depth_sweep`, which says what the arguments are and what is raised, in its order.

    Examples
    --------
    >>> len(plan("three-step", [3, 4], max_depth=6)), len(plan("random-relu", None, max_depth=6, seeds=10))
    (12, 60)
    """
    if not _has_depth(construction):
        names = ", ".join(filter(_has_depth, constructions.NAMES))
        raise InputError(
            f"construction: expected one with a depth and tokens or seeds ({names}), got {shown(construction)}"
        )
    _positive(max_depth, "max_depth")
    known = SIZES.get(construction, {})
    for name, value in sizes.items():
        if name not in known:
            raise InputError(f"{name}: {construction} has no such size, expected {' or '.join(known) or 'none'}")
        _positive(value, name)
    numbers: Sequence[int | None] = [None]
    if known:
        numbers = range(_positive(SEEDS if seeds is None else seeds, "seeds"))
    elif seeds is not None:
        raise InputError(f"seeds: {construction} is not random, it has none")
    chosen = _tokens(construction, tokens)
    if len(chosen) * max_depth * len(numbers) > MAX_JOBS:
        raise InputError(f"max_depth: this sweep would have more than {MAX_JOBS:,} networks")
    for size in chosen:
        _network(Job(construction, size, max_depth, numbers[0], known | sizes))
    return [
        Job(construction, size, depth, seed, known | sizes)
        for size in chosen
        for depth in range(1, max_depth + 1)
        for seed in numbers
    ]


def _has_depth(construction: str) -> bool:
    return construction in SIZES or {"tokens", "depth"} <= set(constructions.parameters(construction))


def _positive(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name}: expected an integer of at least 1, got {shown(value)}")
    return value


def _tokens(construction: str, tokens: int | Sequence[int] | None) -> list[int | None]:
    if not has_tokens(construction):
        if tokens is not None:
            raise InputError(f"tokens: {construction} has none, got {shown(tokens)}")
        return [None]
    if tokens is None:
        raise InputError(f"tokens: {construction} needs a number of tokens, got none")
    sizes: list[int | None] = list(tokens) if isinstance(tokens, Sequence) and not isinstance(tokens, str) else [tokens]
    if not sizes:
        raise InputError("tokens: expected at least one number of tokens, got none")
    return sizes


def _network(job: Job) -> Network:
    name, tokens, depth, seed, sizes = job
    if name == "random-transformer":
        return constructions.build(name, tokens=tokens, layers=depth, input_dim=1, seed=seed, **sizes)
    if name in SIZES:
        rest = {key: value for key, value in sizes.items() if key != "units"}
        return constructions.build(name, widths=[1, *[sizes["units"]] * depth, 1], seed=seed, **rest)
    return constructions.build(name, tokens=tokens, depth=depth)


def depth_sweep(
    construction: str,
    tokens: int | Sequence[int] | None,
    max_depth: int,
    definitions: Sequence[str] = DEFINITIONS,
    on_record: Callable[[Record], None] | None = None,
    max_pieces: int | None = None,
    seeds: int | None = None,
    **sizes: int,
) -> list[Record]:
    """Count the regions of a construction at every depth D = 1..max_depth, for each number of tokens T and each seed.

    Parameters
    ----------
    construction : str
        A name from `regioncount.constructions.NAMES` that has parameters `tokens` and `depth`, or a random family.
    tokens : int or sequence of int or None
        T, in the order of the sweep; None for networks without tokens.
    max_depth : int
        Greatest depth, >= 1.
    definitions : sequence of str
        What to count; all five by default.
    on_record : callable, optional
        Called with each record as soon as it is finished, for instance a `RecordWriter`.
    max_pieces : int, optional
        Limit for one network, as in `regioncount.count`.
    seeds : int, optional
        Of a random family: seeds 0..seeds-1 at each depth, `SEEDS` by default.
    **sizes : int
        Of a random family: those of `SIZES` to change.

    Returns
    -------
    list of dict
        One record a network: construction, tokens, depth, counts, bound ((T-1)^floor(D/3), what the best network of
        T tokens and depth D has at least), method, certified, seconds; of a random network also seed and sizes.
        Seeds vary fastest, then the depth.

    Raises
    ------
    InputError
        For a construction without depth, or arguments that it or `count` refuses. The deepest network of each T is
        built before the first count, so bad sizes cost no work.
    TooManyPieces
        If a network has more than `max_pieces` pieces; records before it have been passed on.
    """
    records = []
    for job in plan(construction, tokens, max_depth, seeds, **sizes):
        record = _counted(job, definitions, max_pieces)
        records.append(record)
        if on_record is not None:
            on_record(record)
    return records


def depth_record(
    construction: str,
    tokens: int,
    depth: int,
    definitions: Sequence[str] = DEFINITIONS,
    max_pieces: int | None = None,
) -> Record:
    """Count the regions of a construction at one depth: one record of `depth_sweep`, which says what is raised.

    Examples
    --------
    >>> record = depth_record("three-step", tokens=4, depth=3)
    >>> record["counts"]["linear"], record["bound"]
    (3, 3)
    """
    return _counted(Job(construction, tokens, depth, None, {}), definitions, max_pieces)


def _counted(job: Job, definitions: Sequence[str], max_pieces: int | None) -> Record:
    from regioncount.partition import count

    limit: dict[str, Any] = {} if max_pieces is None else {"max_pieces": max_pieces}
    result = count(_network(job), definitions=tuple(definitions), **limit)
    record = {
        "construction": job.construction,
        "tokens": job.tokens,
        "depth": job.depth,
        "counts": dict(result.counts),
        "bound": None if job.tokens in (None, 1) else bounds.transformer_lower(job.tokens, job.depth),
        "method": result.method,
        "certified": result.certified,
        "seconds": result.seconds,
    }
    return record if job.seed is None else {**record, "seed": job.seed, "sizes": dict(job.sizes)}


class RecordWriter:
    """Write records to a JSON Lines file one by one: ``with RecordWriter(path) as write: ... write(record)``.

    Lines go to ``<name>.<pid>.part`` in the same folder, flushed one by one. On leaving the block, by an
    exception or Ctrl-C too, that file is renamed to `path`; only a block that ends in an exception before its
    first record leaves an existing file as it was.

    Raises
    ------
    InputError
        On entering, if the file cannot be created.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        self.written = 0

    def __enter__(self) -> RecordWriter:
        if self.path.is_dir():
            raise InputError(f"records: {self.path} is a directory")
        try:
            self._file = open(self.part, "w", encoding="utf-8", newline="\n")  # noqa: SIM115
        except OSError as error:
            raise InputError(f"records: cannot write {self.path}: {error.strerror}") from None
        return self

    def __call__(self, record: Record) -> None:
        """Append one record and flush it."""
        self._file.write(json.dumps(record, allow_nan=False) + "\n")
        self._file.flush()
        self.written += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if self.written or kind is None:
            os.replace(self.part, self.path)
        else:
            self.part.unlink(missing_ok=True)


def write_records(records: Iterable[Record], path: str | os.PathLike[str]) -> None:
    """Write records to a JSON Lines file that appears at once and whole.

    Parameters
    ----------
    records : iterable of dict
        As from `depth_sweep`.
    path : path-like
        File to write or to replace.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    with RecordWriter(path) as write:
        for record in records:
            write(record)


def read_records(path: str | os.PathLike[str]) -> list[Record]:
    """Read the records of a depth sweep.

    Parameters
    ----------
    path : path-like
        A JSON Lines file; empty lines are skipped.

    Returns
    -------
    list of dict
        Records with at least the keys of `RECORD_KEYS`; tokens and bound may be None.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is not a record; the message names the file, the line and the
        key.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot read it: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: expected JSON Lines in UTF-8") from None
    return [_record(line, f"{path}, line {i}") for i, line in enumerate(text.split("\n"), 1) if line.strip()]


def _record(line: str, where: str) -> Record:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{where}: expected a JSON object, got {shown(line)}") from None
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected a JSON object, got {shown(line)}")
    for key in RECORD_KEYS:
        if key not in record:
            raise InputError(f"{where}: the key {key!r} is missing")
    for key in ("tokens", "depth", "bound", "seed"):
        value = record.get(key)
        if value is None and key != "depth":
            continue
        if type(value) is not int or value < 0:
            raise InputError(f"{where}: {key}: expected a non-negative integer, got {shown(value)}")
    counts = record["counts"]
    if not isinstance(counts, dict) or not all(type(n) is int and n >= 0 for n in counts.values()):
        raise InputError(f"{where}: counts: expected an object of non-negative integers, got {shown(counts)}")
    return record
