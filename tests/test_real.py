"""Networks that others trained, read where they lie; several independent tools agree on their counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import oracle
import pytest

import regioncount as rc
from regioncount.cli import main

REAL = Path(__file__).resolve().parents[2] / "shared" / "real"
COUNTS = json.loads((REAL / "counts.json").read_text()) if (REAL / "counts.json").exists() else {}
KNOWN = {name: entry["activation"] for name, entry in COUNTS.items() if entry["activation"] is not None}
LARGE = [name for name, number in KNOWN.items() if number > 3000]

pytestmark = pytest.mark.skipif(not COUNTS, reason=f"no folder of real networks beside the checkout ({REAL.name})")


def load(name):
    return rc.load(REAL / f"{name}.json")


@pytest.mark.parametrize("name", KNOWN or ["none"])
def test_counts(name):
    network = load(name)
    result = rc.count(network)
    assert result.counts == {"activation": KNOWN[name]} and result.certified
    if name not in LARGE:
        partition = rc.subdivide(network)
        partition.check_invariants()
        exact = rc.count(network, definitions=rc.DEFINITIONS, exact=True)
        assert partition.counts() == exact.counts and exact.decisions["float"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE or ["none"])
def test_partitions_of_large_ones(name):
    partition = rc.subdivide(load(name))
    partition.check_invariants()
    assert partition.n_pieces == KNOWN[name]


def test_a_controller_from_the_command_line(capsys):
    assert main(["count", str(REAL / "acas_xu_4_6__syrenn_0_150_150.json"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["counts"]["activation"] == 24_815 and report["certified"] and report["undecided"] == 0


QUADRATIC = {"tracr_hist": (11, 11, 9, 9, 7), "tracr_sort": (33, 33, 17, 17, 17)}
"""Compiled programs with quadratic scores, most of them tied: our own counts, in the order of ``DEFINITIONS``; the
first agrees with the number of patterns that exact sampling finds."""


@pytest.mark.parametrize("name", QUADRATIC)
def test_quadratic_attention_in_the_plane(name):
    network = load(name)
    with pytest.raises(rc.NeedsConicEngine, match=r"layers\[\d\] \(attention\)"):
        rc.count(network, method="polygon")
    partition = rc.subdivide(network)
    assert tuple(partition.counts().values()) == QUADRATIC[name] and partition.certified
    partition.check_invariants()
    assert rc.count(network).counts == {"activation": QUADRATIC[name][0]}
    every = {row.tobytes() for row in partition.patterns}
    points = np.random.default_rng(0).uniform(-1, 2, (3000, 2))
    assert {row.tobytes() for row in network.activation_pattern(points)} == every
    x = np.linspace(-1, 2, 151)[:-1]
    grid = np.stack(np.meshgrid(x + 1 / 997, x + 1 / 499), axis=2).reshape(-1, 2)  # no sample with x = y
    assert {row.tobytes() for row in network.activation_pattern(grid)} <= every


@pytest.mark.slow
@pytest.mark.parametrize("name", QUADRATIC)
def test_quadratic_attention_in_other_ways(name):
    network = load(name)
    for method, exact in (("conic", False), ("auto", True)):
        partition = rc.subdivide(network, method=method, exact=exact)
        assert tuple(partition.counts().values()) == QUADRATIC[name] and partition.certified


def test_reverse_has_one_pattern():
    """All its scores differ by constants on the domain, once exact ties are decided exactly: sampling in floats finds
    dozens of patterns there, which are roundings of ties; exact sampling finds one, and so does the oracle.
    """
    network = load("tracr_reverse")
    partition = rc.subdivide(network)
    assert partition.counts() == dict.fromkeys(rc.DEFINITIONS, 1) and partition.certified
    assert rc.count(network, method="grid", grid=40).estimate["activation"] == 1
    points = np.random.default_rng(0).uniform(-1, 2, (200, 2))
    assert len(np.unique(network.activation_pattern(points, exact=False), axis=0)) > 10
    (piece,) = oracle.enumerate_2d(json.loads((REAL / "tracr_reverse.json").read_text()), oracle.box([[-1, 2]] * 2))
    assert piece.pattern == tuple(partition.patterns[0].tolist())
