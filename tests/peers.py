"""The larger reference networks of ``data/peers``: float64 arrays ``weight_i``, ``bias_i``, and their activation counts."""

import json
from pathlib import Path

import numpy as np

import regioncount as rc

FOLDER = Path(__file__).parent / "data" / "peers"
COUNTS = json.loads((FOLDER / "counts.json").read_text())


def load(name):
    """A network: hidden layers of its kind and an affine output, or one affine and one relu layer for lines."""
    arrays = np.load(FOLDER / f"{name}.npz")
    pairs = [(arrays[f"weight_{i}"], arrays[f"bias_{i}"]) for i in range(len(arrays.files) // 2)]
    kind = COUNTS[name]["kind"]
    if kind == "arrangement":
        (pair,) = pairs
        return rc.from_layers([pair, "relu"])
    layers = []
    for weight, bias in pairs[:-1]:
        layers += [(weight, bias), "relu"] if kind == "relu" else [("maxout", weight, bias)]
    return rc.from_layers([*layers, pairs[-1]])


def cases():
    """(name, domain, activation regions) on the boxes of the networks that are here, in one and two dimensions."""
    return [
        (name, domain, number)
        for name, entry in COUNTS.items()
        if (FOLDER / f"{name}.npz").exists()
        for domain, number in entry["activation"].items()
        if domain != "all"
    ]
