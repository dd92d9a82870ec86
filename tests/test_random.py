"""Random small networks, mostly degenerate, against the rational oracle: sets of patterns, all counts, certified.

``long_run.py`` runs the same by the thousand.
"""

from __future__ import annotations

import long_run
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import regioncount as rc
from regioncount.files import network_from_dict


@pytest.mark.parametrize("seed", range(150))
def test_agrees_with_the_oracle(seed):
    network, domain = long_run.random_network(seed)
    assert long_run.disagreement(network, domain) is None


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_agrees_with_the_oracle_uncompiled(seed):
    network, domain = long_run.random_network(seed)
    assert long_run.disagreement(network, domain) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(10_000, 10**9))
def test_agrees_with_the_oracle_anywhere(seed):
    network, domain = long_run.random_network(seed)
    assert long_run.disagreement(network, domain) is None


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9))
def test_exact_mode_agrees_and_invariants_hold(seed):
    data, domain = long_run.random_network(seed)
    network = network_from_dict(data)
    partition = rc.subdivide(network, domain)
    partition.check_invariants()
    exact = rc.subdivide(network, domain, exact=True)
    assert exact.counts() == partition.counts()
    assert {row.tobytes() for row in exact.patterns} == {row.tobytes() for row in partition.patterns}


GENERIC = {
    "relu": lambda seed: (rc.constructions.random_relu(widths=[2, 9, 8, 7, 2], seed=seed), "-1:1,-1:1"),
    "deep relu": lambda seed: (rc.constructions.random_relu(widths=[2, *[6] * 8, 1], seed=seed), "-1:1,-1:1"),
    "maxout": lambda seed: (rc.constructions.random_maxout(widths=[2, 4, 4, 1], rank=4, seed=seed), "-1:1,-1:1"),
    "line": lambda seed: (rc.constructions.random_relu(widths=[1, *[25] * 9, 1], seed=seed), "-1:1"),
    "attention": lambda seed: (
        rc.constructions.random_transformer(
            tokens=5, layers=1, heads=2, dim=4, hidden=3, input_dim=2, queries="fixed", seed=seed
        ),
        "-1:1,-1:1",
    ),
    "attention on the line": lambda seed: (
        rc.constructions.random_transformer(tokens=5, layers=3, heads=2, dim=4, hidden=3, input_dim=1, seed=seed),
        "-1:1",
    ),
}


@pytest.mark.parametrize("kind", GENERIC)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_on_generic_networks(kind, seed):
    """What floats decide with their bounds is what rational arithmetic decides."""
    network, domain = GENERIC[kind](seed)
    quick, exact = rc.subdivide(network, domain), rc.subdivide(network, domain, exact=True)
    assert quick.counts() == exact.counts()
    assert {row.tobytes() for row in quick.patterns} == {row.tobytes() for row in exact.patterns}
    assert exact.decisions["float"] == 0
    if kind != "attention":  # fixed queries: all query tokens have the same scores, so lines coincide
        assert quick.decisions["float"] > 50 * quick.decisions["exact"]


def test_every_sampled_pattern_is_among_ours():
    rng = np.random.default_rng(0)
    for seed in range(6):
        for kind in GENERIC:
            network, domain = GENERIC[kind](seed + 50)
            partition = rc.subdivide(network, domain)
            ours = {row.tobytes() for row in partition.patterns}
            points = rng.uniform(-1, 1, (400, network.input_dim))
            assert {row.tobytes() for row in network.activation_pattern(points)} <= ours


def test_many_tokens():
    """The bias of a token-wise layer counts once a token in the error bounds."""
    import random

    data = oracle.random_transformer(
        random.Random(3), tokens=5, dim=3, layers=1, heads=1, input_dim=2, scores="fixed_query"
    )
    partition = rc.subdivide(network_from_dict(data), "-1:1,-1:1")
    pieces = oracle.enumerate_2d(data, oracle.box([[-1, 1], [-1, 1]]))
    assert {tuple(map(int, row)) for row in partition.patterns} == oracle.patterns(pieces)
    wide = rc.constructions.random_transformer(tokens=24, layers=1, dim=3, hidden=2, input_dim=1, seed=0)
    assert rc.subdivide(wide, "-1:1").counts() == rc.subdivide(wide, "-1:1", exact=True).counts()
