"""Networks to measure, from ``tests/data/peers``: float64 arrays ``weight_i``, ``bias_i``; the last pair is the
output layer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import regioncount

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "data" / "peers"


def _pairs(name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    with np.load(FOLDER / f"{name}.npz") as arrays:
        count = sum(key.startswith("weight_") for key in arrays)
        return [(arrays[f"weight_{i}"], arrays[f"bias_{i}"]) for i in range(count)]


def kind_of(name: str) -> str:
    """ "relu", "maxout" or "arrangement"."""
    return str(json.loads((FOLDER / "counts.json").read_text())[name]["kind"])


def hidden_layers(name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and biases of the layers that choose."""
    pairs = _pairs(name)
    return pairs if kind_of(name) == "arrangement" else pairs[:-1]


def load_peer(name: str, package: Any = regioncount) -> Any:
    """The network of a file, made by ``package``."""
    pairs, kind = _pairs(name), kind_of(name)
    layers: list = []
    for i, (weight, bias) in enumerate(pairs):
        if kind == "maxout" and i < len(pairs) - 1:
            layers.append(("maxout", weight, bias))
            continue
        layers.append((weight, bias))
        if kind == "arrangement" or i < len(pairs) - 1:
            layers.append("relu")
    return package.from_layers(layers)
