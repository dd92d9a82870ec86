"""The larger reference networks of ``data/peers``, for tests and benchmarks.

Float64 arrays ``weight_i``, ``bias_i`` and their activation counts.
"""

import json
from pathlib import Path

import numpy as np

import regioncount

FOLDER = Path(__file__).parent / "data" / "peers"
COUNTS = json.loads((FOLDER / "counts.json").read_text())


def pairs(name):
    """(weight, bias) of each layer."""
    arrays = np.load(FOLDER / f"{name}.npz")
    return [(arrays[f"weight_{i}"], arrays[f"bias_{i}"]) for i in range(len(arrays.files) // 2)]


def hidden(name):
    """(weight, bias) of the layers that choose: all but the output, and all of an arrangement."""
    return pairs(name) if COUNTS[name]["kind"] == "arrangement" else pairs(name)[:-1]


def load(name, package=regioncount):
    """A network: hidden layers of its kind and an affine output, or one affine and one relu layer for lines."""
    layers = []
    for weight, bias in hidden(name):
        layers += [("maxout", weight, bias)] if COUNTS[name]["kind"] == "maxout" else [(weight, bias), "relu"]
    output = [] if COUNTS[name]["kind"] == "arrangement" else pairs(name)[-1:]
    return package.from_layers([*layers, *output])


def cases():
    """(name, domain, activation regions) on the boxes of the networks that are here, in one and two dimensions."""
    return [(name, domain, number) for name, domain, number, dim in _cases() if domain != "all" and dim < 3]


def cases_all():
    """The same on the whole line, plane and space, and on boxes of more dimensions."""
    return [(name, domain, number) for name, domain, number, dim in _cases() if domain == "all" or dim > 2]


def _cases():
    return [
        (name, domain, number, pairs(name)[0][0].shape[-1])
        for name, entry in COUNTS.items()
        if (FOLDER / f"{name}.npz").exists()
        for domain, number in entry["activation"].items()
    ]
