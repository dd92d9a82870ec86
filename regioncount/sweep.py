"""Depth sweeps: one record for each construction, number of tokens T and depth D, and their files.

A record is a plain dict with the keys of `RECORD_KEYS`; a file of records is JSON Lines, one object a line.
Records reach their file one by one, in a temporary file beside it that takes its name at the end, also after
an interruption: what is under the final name is never half a line, and finished records are not lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from regioncount import bounds, constructions
from regioncount.definitions import DEFINITIONS
from regioncount.errors import InputError, shown

Record = dict[str, Any]
RECORD_KEYS = ("construction", "tokens", "depth", "counts", "bound", "method", "certified", "seconds")


def depth_sweep(
    construction: str,
    tokens: int | Sequence[int],
    max_depth: int,
    definitions: Sequence[str] = DEFINITIONS,
    on_record: Callable[[Record], None] | None = None,
    max_pieces: int | None = None,
) -> list[Record]:
    """Count the regions of a construction at every depth D = 1..max_depth, for each number of tokens T.

    Parameters
    ----------
    construction : str
        A name from `regioncount.constructions.NAMES` that has parameters `tokens` and `depth`.
    tokens : int or sequence of int
        T, in the order of the sweep.
    max_depth : int
        Greatest depth, >= 1.
    definitions : sequence of str
        What to count; all five by default.
    on_record : callable, optional
        Called with each record as soon as it is finished, for instance a `RecordWriter`.
    max_pieces : int, optional
        Limit for one network, as in `regioncount.count`.

    Returns
    -------
    list of dict
        One record a network: construction, tokens, depth, counts, bound ((T-1)^floor(D/3)), method,
        certified, seconds.

    Raises
    ------
    InputError
        For a construction without depth and tokens, or arguments that it or `count` refuses. The deepest
        network of each T is built before the first count, so bad sizes cost no work.
    TooManyPieces
        If a network has more than `max_pieces` pieces; records before it have been passed on.
    """
    if not _has_depth(construction):
        names = ", ".join(filter(_has_depth, constructions.NAMES))
        raise InputError(
            f"construction: expected one with tokens and depth ({names}), got {shown(construction)}"
        )
    sizes = list(tokens) if isinstance(tokens, Sequence) and not isinstance(tokens, str) else [tokens]
    if not sizes:
        raise InputError("tokens: expected at least one number of tokens, got none")
    if isinstance(max_depth, bool) or not isinstance(max_depth, int) or max_depth < 1:
        raise InputError(f"max_depth: expected an integer of at least 1, got {shown(max_depth)}")
    for size in sizes:
        constructions.build(construction, tokens=size, depth=max_depth)

    records = []
    for size in sizes:
        for depth in range(1, max_depth + 1):
            record = depth_record(construction, size, depth, definitions, max_pieces)
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
    from regioncount.partition import count

    network = constructions.build(construction, tokens=tokens, depth=depth)
    limit: dict[str, Any] = {} if max_pieces is None else {"max_pieces": max_pieces}
    result = count(network, definitions=tuple(definitions), **limit)
    return {
        "construction": construction,
        "tokens": tokens,
        "depth": depth,
        "counts": dict(result.counts),
        "bound": bounds.transformer_lower(tokens, depth),
        "method": result.method,
        "certified": result.certified,
        "seconds": result.seconds,
    }


def _has_depth(construction: str) -> bool:
    return {"tokens", "depth"} <= set(constructions.parameters(construction))


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
        Records with at least the keys of `RECORD_KEYS`.

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
    for key in ("tokens", "depth", "bound"):
        if type(record[key]) is not int or record[key] < 0:
            raise InputError(f"{where}: {key}: expected a non-negative integer, got {shown(record[key])}")
    counts = record["counts"]
    if not isinstance(counts, dict) or not all(type(n) is int and n >= 0 for n in counts.values()):
        raise InputError(f"{where}: counts: expected an object of non-negative integers, got {shown(counts)}")
    return record
