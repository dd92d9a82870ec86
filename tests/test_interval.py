"""The interval engine against the oracle, piece by piece, and where floats cannot decide."""

from fractions import Fraction
from itertools import pairwise
from random import Random

import compare
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import regioncount as rc
from regioncount.engines import interval_run
from regioncount.files import network_from_dict
from regioncount.lowering import lower

F = Fraction


def net(*layers):
    return {"format": "regioncount-network", "version": 1, "input_dim": 1, "layers": list(layers)}


def bends(*places, slopes=None, scale=1):
    """A sum of ReLUs that bends at these places."""
    slopes = slopes or [1] * len(places)
    weight = [[str(F(scale))] for _ in places]
    hidden = {"type": "affine", "weight": weight, "bias": [str(-F(x) * scale) for x in places]}
    return net(hidden, {"type": "relu"}, {"type": "affine", "weight": [[str(F(s)) for s in slopes]]})


def attention(keys, values, query=(1, 0), **more):
    """One head, read at token 0: token t has score query·(x, 1) times keys[t]·(x, 1), value values[t]·(x, 1)."""
    embed = {
        "type": "embed",
        "weight": [[[1], [0], [k[0]], [v[0]]] for k, v in zip(keys, values, strict=True)],
        "bias": [[0, 1, k[1], v[1]] for k, v in zip(keys, values, strict=True)],
    }
    head = {
        "query": {"weight": [[query[0], query[1], 0, 0]]},
        "key": {"weight": [[0, 0, 1, 0]]},
        "value": {"weight": [[0, 0, 0, 1]]},
        "output": {"weight": [[1]]},
    }
    layer = {"type": "attention", "heads": [head], "residual": False, **more}
    return net(embed, layer, {"type": "readout", "token": 0})


def assert_pieces(network, domain):
    """Like compare.assert_same, and the break points and maps of every piece."""
    partition = compare.assert_same(network, domain)
    pieces = oracle.enumerate_1d(network, *domain[0])
    width = float(F(domain[0][1]) - F(domain[0][0]))
    for k, piece in enumerate(pieces):
        assert tuple(partition.patterns[k].tolist()) == piece.pattern
        ends = float(piece.left), float(piece.right)
        assert partition.breakpoints[k : k + 2] == pytest.approx(ends, rel=1e-12, abs=1e-12 * width)
        assert partition.maps[k].ravel() == pytest.approx(
            [float(c) for row in piece.map for c in row], rel=1e-9, abs=1e-9
        )
    maps, labels = [piece.map for piece in pieces], partition.labels("affine_maps")
    assert labels.tolist() == [list(dict.fromkeys(maps)).index(m) for m in maps]
    return partition


# ------------------------------------------------------------------------------------------------ random networks


@pytest.mark.nojit
@pytest.mark.parametrize("block", range(6))
def test_random_continuous_networks(block):
    for seed in range(25 * block, 25 * block + 25):
        assert_pieces(compare.continuous(seed, 1), compare.domain_for(Random(seed), 1))


@pytest.mark.parametrize("block", range(10))
def test_random_transformers(block):
    for seed in range(15 * block, 15 * block + 15):
        assert_pieces(compare.transformer(seed, 1), compare.domain_for(Random(seed), 1))


@pytest.mark.nojit
def test_a_few_random_transformers():
    for seed in range(2000, 2006):
        assert_pieces(compare.transformer(seed, 1), compare.domain_for(Random(seed), 1))


@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_any_continuous_network(rng):
    compare.assert_same(compare.continuous(rng, 1), compare.domain_for(rng, 1))


@settings(max_examples=40)
@given(st.randoms(use_true_random=False))
def test_any_transformer(rng):
    compare.assert_same(compare.transformer(rng, 1), compare.domain_for(rng, 1))


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=6),
    st.data(),
)
def test_any_parabolas(keys, data):
    """Scores x·(a x + b): the upper envelope of parabolas through the origin, with all their ties."""
    values = data.draw(
        st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=len(keys), max_size=len(keys))
    )
    assert_pieces(attention(keys, values), [[-2, 2]])
    assert_pieces(attention(keys, values, query=(1, 1)), [[-2, 2]])


# ------------------------------------------------------------------------------------------------ exact arithmetic


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(12))
def test_exact_arithmetic_alone_agrees_with_floats(seed):
    make = compare.transformer if seed % 3 else compare.continuous
    network = network_from_dict(make(500 + seed, 1))
    domain = rc.Interval("-7/3", 2)
    fast, slow = (interval_run(lower(network), domain, True, None, exact) for exact in (False, True))
    assert slow.pieces.patterns.tolist() == fast.pieces.patterns.tolist()
    assert slow.patterns.tolist() == fast.patterns.tolist()
    assert (slow.n_pieces, slow.decisions.undecided) == (fast.n_pieces, 0)
    assert slow.decisions.exact >= fast.decisions.exact
    assert np.abs(slow.pieces.ends[:, :, 0] - fast.pieces.ends[:, :, 0]).max() < 1e-9
    counts = [rc.subdivide(network, domain, exact=exact).counts() for exact in (False, True)]
    assert counts[0] == counts[1]
    assert [rc.count(network, domain, exact=exact).counts for exact in (False, True)] == 2 * [
        {"activation": counts[0]["activation"]}
    ]


def test_floats_alone_suffice_in_general_position():
    rng = np.random.default_rng(3)
    network = rc.from_layers([(rng.normal(size=(50, 1)), rng.normal(size=50)), "relu", (rng.normal(size=(1, 50)), [0])])
    result = rc.count(network, "-1:1")
    assert result.decisions["exact"] == 0
    inside = np.abs(network.layers[0].bias.view / network.layers[0].weight.view[:, 0]) < 1
    assert result.counts["activation"] == 1 + inside.sum()


# ------------------------------------------------------------------------------------------------ degenerate and close


@pytest.mark.nojit
@pytest.mark.parametrize("gap", ["1/1000000000", F(1, 10**15), F(1, 10**17), F(1, 10**40), F(1, 10**200)])
def test_breakpoints_that_almost_coincide(gap):
    gap = F(gap)
    for places in (
        (F(1, 3), F(1, 3) + gap),
        (F(1, 3) - gap, F(1, 3), F(1, 3) + gap),
        (gap, 0, -gap),
        (1 - gap, -1 + gap),
    ):
        partition = compare.assert_same(bends(*places), [[-1, 1]])
        assert partition.n_pieces == len(places) + 1
        assert (np.diff(partition.breakpoints) >= 0).all()
        second = bends(*places, slopes=[1, -1, 2][: len(places)], scale=3)
        compare.assert_same(second, [[-1, 1]])


@pytest.mark.nojit
def test_breakpoints_that_coincide():
    for places in ((0, 0, 0), (F(1, 3), F(1, 3)), (F(1, 7), F(1, 7), F(1, 2)), (-1, 1), (1, F(1, 2), 1)):
        compare.assert_same(bends(*places, slopes=list(range(1, len(places) + 1))), [[-1, 1]])
        compare.assert_same(bends(*places, slopes=[1, -1, 0][: len(places)]), [[-1, 1]])


@pytest.mark.nojit
def test_close_breakpoints_of_different_layers_stay_in_order():
    """The second layer bends at 1/3 ± 1e-20, on both sides of a bend of the first."""
    g = F(1, 10**20)
    first = {"type": "affine", "weight": [[3], [1]], "bias": [-1, 5]}
    second = {
        "type": "affine",
        "weight": [[0, 1], [0, 1], [1, 1]],
        "bias": [str(-F(16, 3) - g), str(-F(16, 3) + g), -9],
    }
    network = net(first, {"type": "relu"}, second, {"type": "relu"}, {"type": "affine", "weight": [[1, 2, 3]]})
    partition = compare.assert_same(network, [[-1, 2]])
    assert partition.n_pieces == 5
    assert partition.breakpoints[1:4] == pytest.approx([1 / 3] * 3, abs=1e-16)
    assert (np.diff(partition.breakpoints) >= 0).all()


@pytest.mark.nojit
@pytest.mark.parametrize("near", [2, 2 + F(1, 10**12), 2 + F(1, 10**30), 2 - F(1, 10**30)])
def test_irrational_breakpoints(near):
    """Scores x² against ``near``, then a ReLU that bends at a rational beside √2 on the side of value x."""
    embed = {"type": "embed", "weight": [[[1], [0]], [[0], [0]]], "bias": [[0, 0], [0, 1]]}
    head = {
        "query": {"weight": [[1, 0], [0, 0]], "bias": [0, 1]},
        "key": {"weight": [[1, 0], [0, str(near)]]},
        "value": {"weight": [[1, 0]]},
        "output": {"weight": [[1]]},
    }
    attend = {"type": "attention", "heads": [head], "residual": False}
    for root in (F(14142135623730950488, 10**19), F(14142135623730950489, 10**19), F(7, 5), F(3, 2)):
        after = [{"type": "affine", "weight": [[1], [1]], "bias": [str(-root), "-7/5"]}, {"type": "relu"}]
        compare.assert_same(net(embed, attend, {"type": "readout", "token": 0}, *after), [[-3, 3]])
    # x², 2x and near·x: they meet at 0, 2 and near
    assert_pieces(attention([(1, 0), (0, 2), (0, str(near))], [(1, 0), (0, 1), (0, 2)]), [[-3, 3]])


@pytest.mark.nojit
def test_isolated_ties_separate_nothing():
    for keys in ([(1, 0), (-1, 0)], [(1, 0), (0, 0)], [(2, -1), (1, 0), (0, 0)]):
        assert_pieces(attention(keys, [(1, 0), (0, 1), (2, 3)][: len(keys)]), [[-1, 1]])
    # scores 0 and -x²
    partition = assert_pieces(attention([(0, 0), (-1, 0)], [(1, 0), (0, 1)]), [[-1, 1]])
    assert partition.n_pieces == 1


@pytest.mark.nojit
def test_candidates_tied_everywhere_are_averaged():
    keys = [(1, 0), (1, 0), (0, 1), (1, 0)]
    partition = assert_pieces(attention(keys, [(1, 0), (3, 1), (0, 5), (2, 2)]), [[-1, 1]])
    assert {tuple(row) for row in partition.patterns[:, :4].tolist()} == {(1, 1, 0, 1), (0, 0, 1, 0)}
    both = attention(keys, [(1, 0)] * 4)
    both["layers"][1]["heads"] *= 2
    compare.assert_same(both, [[-1, 1]])


@pytest.mark.nojit
@pytest.mark.parametrize("mask", ["none", "causal", [[False, True, True], [True, False, True], [True, True, False]]])
def test_masks(mask):
    assert_pieces(attention([(1, 0), (0, 1), (-1, 1)], [(1, 0), (0, 1), (2, 3)], query=(1, 1), mask=mask), [[-2, 2]])


@pytest.mark.nojit
def test_repeated_and_negated_neurons():
    first = {"type": "affine", "weight": [[1], [-1], [1], [2], [-2]], "bias": [0, 0, 0, 0, 1]}
    for kind in ({"type": "relu"}, {"type": "abs"}, {"type": "leaky_relu", "slope": "1/3"}):
        for out in ([[1, -1, 0, 0, 0]], [[1, 1, 1, 1, 1]], [[2, 0, 0, -1, 1], [1, -1, 1, -1, 0]]):
            compare.assert_same(net(first, kind, {"type": "affine", "weight": out}), [[-1, 1]])


@pytest.mark.nojit
def test_maxout_with_repeated_candidates_and_ranks_of_one():
    layer = {
        "type": "maxout",
        "weight": [[[1], [-1], [1], [-1]], [[2]], [[0], [0], [0]]],
        "bias": [[0] * 4, [1], [0, 0, 1]],
    }
    last = {"type": "affine", "weight": [[1, 1, 1]]}
    assert compare.assert_same(net(layer, last), [[-1, 1]]).counts()["linear"] == 2
    compare.assert_same(
        net(layer, layer | {"weight": [[[1, 0, 0], [0, 1, 0], [1, 0, 0]]], "bias": [[0, -1, 0]]}), [[-1, 1]]
    )


@pytest.mark.nojit
def test_maps_that_differ_by_little_differ():
    for gap in (F(1, 10**13), F(1, 10**40)):
        assert compare.assert_same(bends(0, slopes=[gap]), [[-1, 1]]).counts()["linear"] == 2
        twice = net(
            {"type": "affine", "weight": [[1], [1], [1]], "bias": [0, 0, "-1/2"]},
            {"type": "relu"},
            {"type": "affine", "weight": [[str(1 + gap), -1, 1]]},
        )
        assert compare.assert_same(twice, [[-1, 1]]).counts()["linear"] == 3
    assert compare.assert_same(bends(0, 0, slopes=["1/3", "-1/3"]), [[-1, 1]]).counts()["linear"] == 1


# ------------------------------------------------------------------------------------------------ large


@pytest.mark.nojit
def test_many_breakpoints_in_one_layer():
    n = 700
    network = rc.from_layers([(np.ones((n, 1)), -np.arange(n) / n), "relu", (np.ones((1, n)), [0])])
    partition = rc.subdivide(network, "-1:2")
    assert set(partition.counts().values()) == {n + 1}
    assert partition.breakpoints[1:-1] == pytest.approx(np.arange(n) / n, abs=1e-15)
    assert partition.decisions["exact"] <= 1


@pytest.mark.parametrize("tokens", [5, 40])
def test_tangents_of_a_parabola(tokens):
    """T tangents, each the greatest once; and the same from parabolas, two of each, which adds no region."""
    places = [F(2 * t + 1, 2 * tokens) for t in range(tokens)]
    weight = [[[str(2 * c)] for c in places]]
    maxout = {"type": "maxout", "weight": weight, "bias": [[str(-c * c) for c in places]]}
    network = network_from_dict(net(maxout))
    assert rc.subdivide(network, "0:1").counts()["linear"] == tokens
    assert rc.count(network, "0:1").counts["activation"] == tokens


def test_tents_compose():
    """Telgarsky: L tents give 2^L pieces."""
    tent = [([[1], [1]], [0, "-1/2"]), "relu", ([[2, -4]], [0])]
    network = rc.from_layers(tent * 10)
    partition = rc.subdivide(network, "0:1")
    assert partition.counts()["linear"] == 1024
    assert partition.breakpoints.tolist() == [k / 1024 for k in range(1025)]
    assert [entry["activation"] for entry in partition.depth_profile] == [2**k for k in range(1, 11)]


def test_pieces_come_from_left_to_right():
    for seed in range(20):
        partition = rc.subdivide(network_from_dict(compare.transformer(seed, 1)), "-1:1")
        assert all((a != b).any() for a, b in pairwise(partition.patterns))
        assert partition.facets[1:-1].tolist() == [[k, k + 1] for k in range(partition.n_pieces - 1)]
