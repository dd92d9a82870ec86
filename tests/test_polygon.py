"""The polygon engine against the oracle: patterns, maps, corners and facets; degenerate families; growth."""

from fractions import Fraction
from itertools import combinations
from random import Random

import compare
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import regioncount as rc
from regioncount.files import network_from_dict

F = Fraction
SQUARE = [[-1, 1], [-1, 1]]


def net(*layers):
    return {"format": "regioncount-network", "version": 1, "input_dim": 2, "layers": list(layers)}


def affine(weight, bias=None):
    rows = [[str(F(w)) for w in row] for row in weight]
    return {"type": "affine", "weight": rows, "bias": [str(F(b)) for b in (bias or [0] * len(rows))]}


def lines(*abc, sums=True):
    """Lines a x + b y = c as ReLU units; with the sum of all as output, so that neighbours have different maps."""
    layers = [affine([line[:2] for line in abc], [-F(line[2]) for line in abc]), {"type": "relu"}]
    return net(*layers, *([affine([[1 + k for k in range(len(abc))]])] if sums else []))


def assert_geometry(network, domain):
    """Like compare.assert_same, and the polygon, the map, the facets of every piece, and the number of vertices."""
    partition = compare.assert_same(network, domain)
    pieces = {piece.pattern: piece for piece in oracle.enumerate_2d(network, oracle.box(domain))}
    order = [pieces[tuple(row)] for row in partition.patterns.tolist()]
    assert len({v for piece in order for v in piece.vertices}) == len(partition.vertices)
    for k, piece in enumerate(order):
        mine = partition.vertices[partition.piece_vertices[partition.offsets[k] : partition.offsets[k + 1]]]
        theirs = np.array([[float(x) for x in v] for v in piece.vertices])
        assert len(mine) == len(theirs)
        start = int(np.abs(theirs - mine[0]).sum(axis=1).argmin())
        assert np.roll(theirs, -start, axis=0) == pytest.approx(mine, rel=1e-9, abs=1e-9)
        assert partition.maps[k].ravel() == pytest.approx(
            [float(c) for row in piece.map for c in row], rel=1e-9, abs=1e-9
        )
    expected = {
        (i, j) for (i, p), (j, q) in combinations(enumerate(order), 2) if oracle.share_facet(p.vertices, q.vertices)
    }
    assert {tuple(sorted(pair)) for pair in partition.facets.tolist() if -1 not in pair} == expected
    return partition


# ------------------------------------------------------------------------------------------------ random networks


@pytest.mark.parametrize("block", range(6))
def test_random_continuous_networks(block):
    for seed in range(40 * block, 40 * block + 40):
        assert_geometry(compare.continuous(seed, 2), compare.domain_for(Random(seed), 2))


def fits_the_plane(network, domain):
    """Whether the oracle finds affine scores only; if not, that the package says so."""
    try:
        pieces = oracle.enumerate_2d(network, oracle.box(domain))
    except oracle.NotAffine:
        with pytest.raises(rc.NeedsConicEngine):
            rc.subdivide(network_from_dict(network), domain, method="polygon")
        return False
    return len(pieces) <= 60


@pytest.mark.parametrize("block", range(8))
def test_random_transformers(block):
    for seed in range(15 * block, 15 * block + 15):
        network, domain = compare.transformer(seed, 2), compare.domain_for(Random(seed), 2)
        if fits_the_plane(network, domain):
            assert_geometry(network, domain)
        else:
            compare.assert_same(network, domain)


@pytest.mark.nojit
def test_a_few_random_networks():
    for seed in range(3000, 3012):
        compare.assert_same(compare.continuous(seed, 2), compare.domain_for(Random(seed), 2))
    for seed in range(3000, 3006):
        compare.assert_same(compare.transformer(seed, 2), compare.domain_for(Random(seed), 2))


@pytest.mark.parametrize("seed", range(12))
def test_quadratic_scores_are_affine_or_refused(seed):
    """General attention in the plane: mostly conics; where all differences happen to be affine, counts agree."""
    network = oracle.random_transformer(
        Random(seed), tokens=2, dim=2, head_dim=2, input_dim=2, values=compare.SMALL, hidden=1
    )
    if fits_the_plane(network, SQUARE):
        compare.assert_same(network, SQUARE)


@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_any_continuous_network(rng):
    compare.assert_same(compare.continuous(rng, 2), compare.domain_for(rng, 2))


@settings(max_examples=30)
@given(st.randoms(use_true_random=False))
def test_any_transformer(rng):
    compare.assert_same(compare.transformer(rng, 2), compare.domain_for(rng, 2))


SMALL_LINE = st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(-3, 3))


@settings(max_examples=80)
@given(st.lists(SMALL_LINE, min_size=1, max_size=7))
def test_any_lines_with_small_coefficients(abc):
    assert_geometry(lines(*abc), [[-2, 2], [-2, 1]])


@settings(max_examples=60)
@given(st.lists(st.lists(SMALL_LINE, min_size=1, max_size=5), min_size=1, max_size=3))
def test_any_maxout_with_small_coefficients(units):
    layer = {
        "type": "maxout",
        "weight": [[[a, b] for a, b, _ in unit] for unit in units],
        "bias": [[c for *_, c in unit] for unit in units],
    }
    assert_geometry(net(layer, affine([[1 + k for k in range(len(units))]])), [[-2, 2], [-2, 1]])


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(6))
def test_exact_arithmetic_alone_agrees_with_floats(seed):
    make = compare.transformer if seed % 2 else compare.continuous
    network = network_from_dict(make(700 + seed, 2))
    fast, slow = (rc.subdivide(network, "-2:1,-1:2", exact=exact) for exact in (False, True))
    assert slow.counts() == fast.counts()
    assert compare.pattern_set(slow) == compare.pattern_set(fast)
    assert slow.decisions["float"] == 0
    slow.check_invariants()


# ------------------------------------------------------------------------------------------------ polygons as domains

POLYGONS = {
    "triangle": [(-1, -1), (2, 0), (0, "3/2")],
    "sliver": [(-1, -1), (1, 1), ("1/1000", "-1/1000")],
    "kite": [(0, -1), (1, 0), (0, 3), (-1, 0)],
    "pentagon": [(0, 0), (2, "-1/3"), (3, 1), ("3/2", 2), ("-1/2", 1)],
}


@pytest.mark.nojit
@pytest.mark.parametrize("name", [*POLYGONS])
def test_polygons_as_domains(name):
    polygon = rc.Polygon(POLYGONS[name])
    for seed in range(8):
        network = compare.continuous(seed, 2)
        pieces = oracle.enumerate_2d(network, polygon.vertices)
        partition = rc.subdivide(network_from_dict(network), polygon)
        assert compare.pattern_set(partition) == oracle.patterns(pieces)
        assert partition.counts() == oracle.counts(pieces)
        partition.check_invariants()


def circle(n):
    """A convex polygon with n corners on the unit circle, rational: t ↦ ((1 − t²)/(1 + t²), 2t/(1 + t²))."""
    ts = [F(str(round(float(np.tan(np.pi * (k + 0.25) / n - np.pi / 2)), 6))) for k in range(n)]
    return [((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) for t in ts]


@pytest.mark.nojit
@pytest.mark.parametrize("n", [17, 60])
def test_domains_of_many_corners(n):
    polygon = rc.Polygon(circle(n))
    assert len(polygon.vertices) == n
    network = lines((1, 0, "1/3"), (0, 1, "1/5"), (1, 1, 0), (3, -1, "1/2"))
    pieces = oracle.enumerate_2d(network, polygon.vertices)
    partition = rc.subdivide(network_from_dict(network), polygon)
    assert partition.counts() == oracle.counts(pieces)
    partition.check_invariants()


@pytest.mark.parametrize("emit", [False, True])
def test_pieces_of_many_corners(emit):
    """A maxout unit of tangents to a paraboloid: one cell with as many corners as tangents around it."""
    n = 60
    around = circle(n)
    weight = [[[str(x), str(y)] for x, y in around] + [[0, 0]]]
    bias = [["-1/2"] * n + [0]]
    network = network_from_dict(net({"type": "maxout", "weight": weight, "bias": bias}))
    if emit:
        partition = rc.subdivide(network, "-1:1,-1:1")
        partition.check_invariants()
        assert np.diff(partition.offsets).max() == n
        assert set(partition.counts().values()) == {n + 1}
    assert rc.count(network, "-1:1,-1:1").counts == {"activation": n + 1}


# ------------------------------------------------------------------------------------------------ degenerate families


@pytest.mark.nojit
@pytest.mark.parametrize("m", [1, 2, 5, 12])
@pytest.mark.parametrize("at", [(0, 0), ("1/3", "1/5"), (1, 1), (1, 0), ("1/10000000", "-2/3")])
def test_lines_through_one_point(m, at):
    x, y = map(F, at)
    directions = [(1, 0), (0, 1), (1, 1), (1, -1), (1, 2), (2, 1), (1, -2), (2, -1), (3, 1), (1, 3), (3, -1), (1, -3)][
        :m
    ]
    network = lines(*((a, b, a * x + b * y) for a, b in directions))
    partition = compare.assert_same(network, SQUARE)
    if abs(x) < 1 and abs(y) < 1:
        assert set(partition.counts().values()) == {2 * m}


@pytest.mark.parametrize("m", [60, 400])
def test_pencils_of_many_lines(m):
    rng = np.random.default_rng(m)
    slopes = rng.choice(np.arange(1, 5 * m), m, replace=False)
    weight = np.stack([np.full(m, 7), slopes], axis=1).astype(float)
    network = rc.from_layers([(weight, -weight @ [0.25, -0.5]), "relu"])
    result = rc.count(network, "-1:1,-1:1")
    assert result.counts == {"activation": 2 * m}
    assert result.certified
    if m < 100:
        partition = rc.subdivide(network, "-1:1,-1:1")
        partition.check_invariants()
        assert len(partition.vertices) == 4 + 2 * m + 1


@pytest.mark.nojit
def test_a_grid_of_lines():
    columns, rows = [F(k, 5) for k in range(-4, 5)], [F(k, 7) for k in range(-6, 7)]
    network = lines(*((1, 0, c) for c in columns), *((0, 1, c) for c in rows))
    partition = rc.subdivide(network_from_dict(network), "-1:1,-1:1")
    partition.check_invariants()
    assert partition.n_pieces == 10 * 14
    assert len(partition.vertices) == 11 * 15
    diagonal = lines(
        *((1, 0, F(k, 2)) for k in (-1, 0, 1)), *((0, 1, F(k, 2)) for k in (-1, 0, 1)), (1, 1, 0), (1, -1, 0)
    )
    assert assert_geometry(diagonal, SQUARE).n_pieces == 16 + 8


@pytest.mark.nojit
@pytest.mark.parametrize("gap", [F(1, 10**9), F(1, 10**15), F(1, 10**17), F(1, 10**60), F(1, 10**250)])
def test_lines_that_almost_coincide(gap):
    """Parallel pairs, almost parallel lines, and three lines that almost meet in a point."""
    c = F(3, 2)
    compare.assert_same(lines((3, 1, c), (3, 1, c + gap), (1, 0, 0), (0, 1, F(1, 3))), SQUARE)
    compare.assert_same(lines((2, 0, 1), (2, 0, 1 + gap), (0, 1, F(1, 3))), SQUARE)
    compare.assert_same(
        lines((1, 0, F(1, 3)), (0, 1, F(1, 7)), (1, 1, F(10, 21) + gap), (1, -1, F(4, 21) - gap)), SQUARE
    )
    compare.assert_same(lines((1, 0, F(1, 3)), (1, gap, F(1, 3)), (1, -gap, F(1, 3) + gap / 2), (0, 1, 0)), SQUARE)
    compare.assert_same(lines((1, 1, 0), (1, 1 + gap, 0), (1, 1, 2 - gap), (1, 1, -2 + gap)), SQUARE)


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(8))
def test_networks_without_biases(seed):
    rng = Random(seed)
    network = oracle.random_relu(rng, [2, 4, 3, 2], values=(-2, -1, F(1, 3), 1, 2))
    for layer in network["layers"]:
        layer.pop("bias", None)
    compare.assert_same(network, SQUARE)
    compare.assert_same(network, [[0, 1], [-1, 1]])


@pytest.mark.nojit
def test_repeated_and_negated_neurons():
    weight = [[1, 2], [1, 2], [-1, -2], [2, 4], [0, 1], [0, -3]]
    for kind in (
        {"type": "relu"},
        {"type": "abs"},
        {"type": "leaky_relu", "slope": "-1/3"},
        {"type": "leaky_relu", "slope": 1},
    ):
        for out in ([[1, -1, 0, 0, 0, 0]], [[1, 0, -1, 0, 1, 0]], [[1, 1, 1, 1, 1, 1]], [[0, 0, 0, 0, 0, 0]]):
            partition = assert_geometry(net(affine(weight, [0, 0, 0, "1/2", 1, 0]), kind, affine(out)), SQUARE)
            assert partition.n_pieces <= 6


@pytest.mark.nojit
def test_repeated_candidates():
    """Ties on whole pieces: of maxout candidates, of heads, of tokens."""
    weight = [[[1, 0], [0, 1], [1, 0], [0, 0], [1, 0]], [[0, 1], [0, 1]], [[1, 1]]]
    layer = {"type": "maxout", "weight": weight, "bias": [[0] * 5, ["1/3", "1/3"], [0]]}
    assert assert_geometry(net(layer, affine([[1, 1, 1]])), SQUARE).counts()["linear"] == 3
    for seed in range(4):
        network = oracle.random_transformer(Random(seed), 3, 2, 1, 1, 1, 1, 2, scores="fixed_query", readout="mean")
        attention = network["layers"][1]
        attention["heads"] *= 2
        compare.assert_same(network, SQUARE)
        embed = network["layers"][0]
        for part in ("weight", "bias"):
            embed[part][2] = embed[part][0]
        compare.assert_same(network, SQUARE)


@pytest.mark.nojit
def test_a_unit_that_is_zero_everywhere():
    first = affine([[1, 0], [1, 0], [0, 1]])
    assert_geometry(
        net(first, {"type": "relu"}, affine([[1, -1, 0], [0, 0, 1]]), {"type": "relu"}, affine([[1, 1]])), SQUARE
    )
    assert_geometry(net(affine([[0, 0], [0, 0]], [0, 1]), {"type": "relu"}, affine([[1, 1]])), SQUARE)


# ------------------------------------------------------------------------------------------------ facets as overlaps


def attention_over(scores, values):
    """A fixed query: token t has score scores[t]·(x, y, 1) and value values[t]·(x, y, 1); outputs x, y, value."""
    embed = {
        "type": "embed",
        "weight": [[[1, 0], [0, 1], [s[0], s[1]], [v[0], v[1]]] for s, v in zip(scores, values, strict=True)],
        "bias": [[0, 0, s[2], v[2]] for s, v in zip(scores, values, strict=True)],
    }
    head = {
        "query": {"weight": [[0, 0, 0, 0]], "bias": [1]},
        "key": {"weight": [[0, 0, 1, 0]]},
        "value": {"weight": [[0, 0, 0, 1]]},
        "output": {"weight": [[0], [0], [0], [1]]},
    }
    clear = affine([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    first = {"type": "affine", "weight": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}
    tokens = [embed, first, {"type": "attention", "heads": [head]}, {"type": "readout", "token": 0}]
    return [*tokens, clear]


@pytest.mark.nojit
@pytest.mark.parametrize("factors", [(0, 1, -1), (1, 0, -1), (1, -1, 0), (-1, 2, "1/2"), (2, -1, 2), (1, 2, 3, -1, 0)])
def test_candidates_that_all_tie_on_one_line(factors):
    """Scores that are multiples of x + y/3 − 1/7: two win, all tie on the line, and its sides are cut differently."""
    scores = [[str(F(f) * c) for c in (1, F(1, 3), -F(1, 7))] for f in factors]
    values = [[str(k), str(1 - k), str(F(k, 3))] for k in range(len(factors))]
    after = [affine([[1, 0, 1], [0, 1, -1], [1, 1, 2]], [0, "1/5", "-1/3"]), {"type": "relu"}, affine([[1, 2, 3]])]
    assert_geometry(net(*attention_over(scores, values), *after), SQUARE)
    maxout = {"type": "maxout", "weight": [[s[:2] for s in scores]], "bias": [[s[2] for s in scores]]}
    assert_geometry(net(maxout), SQUARE)


@pytest.mark.nojit
def test_overlaps_of_differently_cut_sides():
    """Behind a jump at x = 0 the two sides are cut at different y: facets are overlaps."""
    scores = [[1, 0, 0], [-1, 0, 0]]
    for left, right in (
        ([0, 1, 0], [0, 1, "1/3"]),
        ([0, 1, 0], [0, 1, 0]),
        ([0, 1, 0], [1, 1, 0]),
        ([0, 3, 0], [2, 1, "1/2"]),
    ):
        after = [affine([[0, 0, 1]] * 3, ["1/2", "-1/2", 0]), {"type": "relu"}, affine([[1, 3, 9]])]
        assert_geometry(net(*attention_over(scores, [right, left]), *after), SQUARE)


@pytest.mark.nojit
@pytest.mark.parametrize("gap", [F(1, 10**16), F(1, 10**30)])
def test_overlaps_that_floats_cannot_see(gap):
    """The two sides are cut at places that differ by less than floats do: a facet of that length."""
    values = [[0, 1, 0], [0, 1, str(gap)]]
    after = [affine([[0, 0, 1]], ["-1/3"]), {"type": "relu"}]
    network = net(*attention_over([[1, 0, 0], [-1, 0, 0]], values), *after)
    partition = compare.assert_same(network, SQUARE)
    assert partition.n_pieces == 4
    assert (partition.facets[:, 1] >= 0).sum() == 5


@pytest.mark.nojit
def test_closed_regions_touch_at_points():
    """f = ρ(x+y) − ρ(x) − ρ(y), and the same with the point of contact moved and the map zero split off."""
    out = affine([[1, -1, -1]])
    for x, y in ((0, 0), ("1/3", "-1/7"), (F(1, 3) + F(1, 10**30), 0)):
        x, y = F(x), F(y)
        network = net(affine([[1, 1], [1, 0], [0, 1]], [-x - y, -x, -y]), {"type": "relu"}, out)
        assert assert_geometry(network, SQUARE).counts() == {
            "activation": 6, "cells": 6, "linear": 6, "linear_closed": 5, "affine_maps": 5,
        }  # fmt: skip
    apart = net(affine([[1, 1], [1, 0], [0, 1]], [str(F(1, 10**40)), 0, 0]), {"type": "relu"}, out)
    assert compare.assert_same(apart, SQUARE).certified


@pytest.mark.nojit
def test_closed_regions_touch_inside_an_edge():
    """A corner of one piece inside an edge of another with the same map, behind a jump."""
    scores = [[1, 0, 0], [-1, 0, 0]]
    for right, left in (
        ([1, 1, 0], [0, 0, "-1/2"]),
        ([1, 1, 0], [0, 0, 0]),
        ([1, 1, 0], [-1, 1, "1/3"]),
        ([1, 1, 0], [-1, -1, 0]),
    ):
        after = [affine([[0, 0, 1], [0, 0, -1]]), {"type": "relu"}, affine([[1, 1]])]
        assert_geometry(net(*attention_over(scores, [right, left]), *after), SQUARE)


# ------------------------------------------------------------------------------------------------ large


def test_many_units_in_one_layer():
    """300 random lines: Zaslavsky's count of those that cross in the square, by the crossings themselves."""
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=(300, 2)), rng.normal(size=300) / 2
    network = rc.from_layers([(weight, bias), "relu", (np.ones((1, 300)), [0])])
    meets = np.abs(bias) < np.abs(weight).sum(axis=1)
    w, b = weight[meets], bias[meets]
    i, j = np.triu_indices(len(b), 1)
    det = w[i, 0] * w[j, 1] - w[i, 1] * w[j, 0]
    x = (w[i, 1] * b[j] - w[j, 1] * b[i]) / det
    y = (w[j, 0] * b[i] - w[i, 0] * b[j]) / det
    expected = 1 + meets.sum() + ((np.abs(x) < 1) & (np.abs(y) < 1)).sum()
    partition = rc.subdivide(network, "-1:1,-1:1")
    assert partition.n_pieces == expected
    assert rc.count(network, "-1:1,-1:1").counts == {"activation": expected}
    partition.check_invariants()


def test_a_deep_path():
    """40 layers of 3 units: the stack holds one path from the root."""
    rng = np.random.default_rng(5)
    layers = [(rng.normal(size=(3, 2)), rng.normal(size=3) / 2), "abs"]
    for _ in range(12):
        layers += [(rng.normal(size=(3, 3)), rng.normal(size=3) / 2), "abs"]
    network = rc.from_layers([*layers, (rng.normal(size=(1, 3)), [0])])
    partition = rc.subdivide(network, "-1:1,-1:1")
    partition.check_invariants()
    assert rc.count(network, "-1:1,-1:1").depth_profile == partition.depth_profile
