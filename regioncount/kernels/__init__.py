"""Compiled kernels, one file an engine; ``njit`` here keys numba's on-disk cache on the kernels' sources.

Kernels allocate nothing: all arrays, scratch included, are passed in.  So they are compiled without numba's reference
counting, whose atomic increments cost a call that passes forty arrays 860 ns instead of 2.5 ns (measured).

numba reuses a cached function even when only a callee in another file has changed, so the cache folder carries a hash
of all sources of this package.  Where no folder can be written, nothing is cached and each process compiles anew.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config


def _cache_folder() -> str | None:
    """A writable folder for compiled code of exactly these sources, or None."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    base = config.CACHE_DIR or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "regioncount"
    )
    folder = os.path.join(base, digest.hexdigest()[:16])
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


_FOLDER = _cache_folder()


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    before, config.CACHE_DIR = config.CACHE_DIR, _FOLDER or ""
    try:
        decorate = numba.njit(cache=_FOLDER is not None, nogil=True, error_model="numpy", _nrt=False, **options)
        return decorate(function)
    finally:
        config.CACHE_DIR = before


def njit(function: Callable[..., Any]) -> Any:
    """``numba.njit`` without fast-math and allocation, releasing the GIL, cached in the folder of these sources."""
    return _compiled(function)


def inlined(function: Callable[..., Any]) -> Any:
    """:func:`njit`, inlined into its callers: for what runs at every node, where passing the arrays costs more than
    the work.
    """
    return _compiled(function, forceinline=True)


def contracted(function: Callable[..., Any]) -> Any:
    """:func:`inlined`, with fused multiply-add and sums in any order allowed: for building maps, never for a decision.

    The error bounds of ``predicates`` count one rounding an operation, in any order, so they hold as they are.
    """
    return _compiled(function, forceinline=True, fastmath={"contract", "reassoc"})


def spliced(function: Callable[..., Any]) -> Any:
    """:func:`njit`, spliced into its caller before that is compiled.

    For the upper levels of an engine: what they call is otherwise optimised again at each level (the conic engine
    compiles in a third of the time).
    """
    return _compiled(function, inline="always")
