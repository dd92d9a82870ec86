"""Linear regions of piecewise-linear networks: counted, enumerated, drawn.

Public names load on first use (PEP 562): `import regioncount` and `regioncount --help` import not even numpy.
`_MODULES` says where each name lives, the TYPE_CHECKING block says the same to type checkers, and
tests/test_package.py holds the two together.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regioncount import bounds, constructions, hyperplane_arrangements
    from regioncount.arrangement import HyperplaneArrangement
    from regioncount.definitions import DEFINITIONS
    from regioncount.domain import Box, Interval, Line, Plane, Polygon, Slice, Space
    from regioncount.errors import InputError, NeedsConicEngine, TooManyPieces
    from regioncount.files import load, load_arrangement, save, save_arrangement
    from regioncount.network import (
        Abs,
        Affine,
        Attention,
        Embed,
        Feedforward,
        Head,
        LeakyReLU,
        Maxout,
        Network,
        Readout,
        ReLU,
        from_layers,
    )
    from regioncount.partition import CountResult, Partition, count, subdivide

__version__ = "0.1.0"

__all__ = [
    "DEFINITIONS",
    "Abs",
    "Affine",
    "Attention",
    "Box",
    "CountResult",
    "Embed",
    "Feedforward",
    "Head",
    "HyperplaneArrangement",
    "InputError",
    "Interval",
    "LeakyReLU",
    "Line",
    "Maxout",
    "NeedsConicEngine",
    "Network",
    "Partition",
    "Plane",
    "Polygon",
    "ReLU",
    "Readout",
    "Slice",
    "Space",
    "TooManyPieces",
    "bounds",
    "constructions",
    "count",
    "from_layers",
    "hyperplane_arrangements",
    "load",
    "load_arrangement",
    "save",
    "save_arrangement",
    "subdivide",
]

_LAYERS = "Abs Affine Attention Embed Feedforward Head LeakyReLU Maxout ReLU Readout"
_MODULES = {
    "arrangement": "HyperplaneArrangement",
    "bounds": "",
    "constructions": "",
    "definitions": "DEFINITIONS",
    "domain": "Box Interval Line Plane Polygon Slice Space",
    "errors": "InputError NeedsConicEngine TooManyPieces",
    "files": "load load_arrangement save save_arrangement",
    "hyperplane_arrangements": "",
    "network": f"{_LAYERS} Network from_layers",
    "partition": "CountResult Partition count subdivide",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name in _HOME:
        value: object = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
