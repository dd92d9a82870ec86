"""The oracle in R^n against the oracle in the plane, and against known arrangements."""

import itertools
import json
from fractions import Fraction
from math import comb, factorial
from pathlib import Path
from random import Random

import compare
import lp_oracle
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ENTRIES = json.loads((Path(__file__).parent / "data" / "networks.json").read_text())
CORRECTED = {"all_distinct_0": {"linear_closed": 14}}  # see test_oracle.py
LARGE = ("three_step_", "two_heads_")


@pytest.mark.parametrize("entry", [e for e in ENTRIES if not e["name"].startswith(LARGE)], ids=lambda e: e["name"])
def test_reference_networks(entry):
    try:
        counts = lp_oracle.counts(lp_oracle.enumerate_cells(entry["network"], entry["domain"]))
    except oracle.NotAffine:
        assert any(layer["type"] == "attention" for layer in entry["network"]["layers"])
        return
    expected = {**entry["counts"], **CORRECTED.get(entry["name"], {})}
    assert counts == {name: expected.get(name, number) for name, number in counts.items()}


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 80))])
@pytest.mark.parametrize("make", [compare.continuous, compare.transformer])
def test_same_as_the_plane(make, seed):
    rng = Random(seed)
    network, domain = make(rng, 2), compare.domain_for(rng, 2)
    pieces = oracle.enumerate_2d(network, oracle.box(domain))
    cells = lp_oracle.enumerate_cells(network, domain)
    assert {cell.pattern: cell.map for cell in cells} == {piece.pattern: piece.map for piece in pieces}
    assert lp_oracle.counts(cells) == oracle.counts(pieces)
    assert all(map(lp_oracle.is_bounded, cells))


@pytest.mark.parametrize("dim", [3, 4])
def test_points_agree_with_pointwise_evaluation(dim):
    rng = Random(dim)
    network = oracle.random_relu(rng, [dim, 4, 3, 2], activation="mixed")
    for cell in lp_oracle.enumerate_cells(network):
        assert all(lp_oracle.value(form, cell.point) > 0 for form in cell.forms)
        assert oracle.pattern_at(network, cell.point) == cell.pattern
        assert oracle.evaluate(network, cell.point) == tuple(lp_oracle.value(row, cell.point) for row in cell.map)


# ------------------------------------------------------------------------------------------------- linear programs

FORMS = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.tuples(*[st.integers(-3, 3)] * (n + 1)), min_size=1, max_size=8)
)


@settings(deadline=None, max_examples=150)
@given(FORMS)
def test_two_ways_to_the_sign_of_a_slack(forms):
    found = lp_oracle.slack(forms)
    varying = [form for form in forms if any(form[:-1])]
    exact = lp_oracle.exact_slack(varying).sign if varying else 1
    constants = [(form[-1] > 0) - (form[-1] < 0) for form in forms if not any(form[:-1])]
    assert found.sign == min([exact, *constants])
    if found.sign >= 0:
        values = [lp_oracle.value(form, found.point) for form in forms]
        assert min(values) >= 0
        assert found.sign == 0 or min(values) > 0


@pytest.mark.parametrize(
    ("forms", "sign"),
    [
        ([(1, 0), (-1, 0)], 0),  # one point of the line
        ([(1, 0), (-1, -1)], -1),
        ([(1, 0, 0), (-1, 0, 0), (0, 1, 5)], 0),  # a ray
        ([(1, 0, 0), (0, 1, 0)], 1),
        ([(1, 1, -1), (-1, 0, 0), (0, -1, 0)], -1),
        ([(10**9, 0), (-(10**9), 1)], 1),  # an interval of length 1e-9
        ([(10**40, 0), (-(10**40), 1)], 1),
        ([(10**40, 0), (-(10**40), 0)], 0),
        ([(0, 0, 1)], 1),
        ([(0, 0, 0), (1, 0, 0)], 0),
        ([(0, 0, -1), (1, 0, 0)], -1),
    ],
)
def test_slack_of_known_sets(forms, sign):
    assert lp_oracle.slack(forms).sign == sign


# --------------------------------------------------------------------------------------------- known arrangements


def regions(normals, offsets):
    cells = lp_oracle.enumerate_cells(lp_oracle.arrangement(normals, offsets))
    return len(cells), sum(map(lp_oracle.is_bounded, cells))


def differences(n, offsets):
    """The hyperplanes x_i - x_j = c for i < j and c of the offsets."""
    rows = []
    for i, j in itertools.combinations(range(n), 2):
        rows += [([int(k == i) - int(k == j) for k in range(n)], c) for c in offsets]
    return [row for row, _ in rows], [c for _, c in rows]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_zaslavsky(n):
    rng = Random(n)
    m = 6
    normals = [[rng.randint(-50, 50) for _ in range(n)] for _ in range(m)]
    offsets = [rng.randint(-50, 50) for _ in range(m)]
    assert regions(normals, offsets) == (sum(comb(m, j) for j in range(n + 1)), comb(m - 1, n))


def test_named_arrangements():
    assert regions(*differences(3, (0,))) == (factorial(3), 0)  # braid
    assert regions(*differences(4, (0,))) == (factorial(4), 0)
    assert regions(*differences(3, (0, 1))) == (4**2, 0)  # Shi: (n + 1)^(n - 1); along (1, 1, 1) nothing is bounded
    assert regions(*differences(3, (-1, 0, 1))) == (factorial(3) * 5, 0)  # Catalan: n! C_n
    assert regions(*differences(3, (1,))) == (7, 0)  # Linial
    assert regions([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]) == (8, 0)  # Boolean
    assert regions([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], [0, 0, 0, 1]) == (15, 1)
    assert regions([[1, 0, 0], [2, 0, 0], [-1, 0, 0]], [0, 0, 3]) == (3, 0)  # repeated and parallel


def test_contact_in_an_edge_is_no_facet():
    # relu(x + y) - relu(x) - relu(y) in R^3: six wedges, of which two opposite ones have the map 0
    network = lp_oracle.arrangement([[1, 1, 0], [1, 0, 0], [0, 1, 0]], [0, 0, 0])
    network["layers"].append({"type": "affine", "weight": [[1, -1, -1]], "bias": [0]})
    cells = lp_oracle.enumerate_cells(network)
    assert lp_oracle.counts(cells) == {
        "activation": 6, "cells": 6, "linear": 6, "linear_closed": 5, "affine_maps": 5
    }  # fmt: skip
    assert not any(map(lp_oracle.is_bounded, cells))


def test_half_spaces_as_the_domain():
    network = lp_oracle.arrangement([[1, 0], [0, 1]], [0, 0])
    assert len(lp_oracle.enumerate_cells(network, within=[(1, 1, Fraction(-1, 3))])) == 3
    with pytest.raises(ValueError, match="interior"):
        lp_oracle.enumerate_cells(network, within=[(1, 0, 0), (-1, 0, 0)])


def test_quadratic_scores_are_refused():
    network = oracle.random_transformer(Random(3), input_dim=3, tokens=2)
    with pytest.raises(oracle.NotAffine):
        lp_oracle.enumerate_cells(network, [[-1, 1]] * 3)
