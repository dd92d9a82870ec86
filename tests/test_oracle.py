"""The oracle against the reference values, against itself by other ways, and against values found by hand."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

import oracle
import pytest

ENTRIES = {
    entry["name"]: entry
    for entry in json.loads((Path(__file__).parent / "data" / "networks.json").read_text())
}
QUADRATIC_2D = [name for name in ENTRIES if name.startswith(("conic_", "random_hardmax_2d_"))]
OTHERS = [name for name in ENTRIES if name not in QUADRATIC_2D]

# Where the file is wrong by the definitions of theory.md; see test_all_distinct_0_has_14_closed_regions.
CORRECTED = {"all_distinct_0": {"linear_closed": 14}}

F = Fraction


def pieces_of(network, domain):
    if len(domain) == 1:
        return oracle.enumerate_1d(network, *domain[0])
    return oracle.enumerate_2d(network, oracle.box(domain))


def r1_of(network, domain):
    return (
        oracle.r1_1d(network, *domain[0]) if len(domain) == 1 else oracle.r1_2d(network, oracle.box(domain))
    )


def value(affine_map, point):
    return tuple(sum(a * x for a, x in zip(row, (*point, 1), strict=True)) for row in affine_map)


def check_pieces(network, domain, pieces, rng):
    """Pieces tile the domain, and agree with pointwise evaluation at interior points."""
    if len(domain) == 1:
        low, high = map(F, domain[0])
        assert (pieces[0].left, pieces[-1].right) == (low, high)
        assert all(piece.left < piece.right for piece in pieces)
        assert all(p.right == q.left and p.pattern != q.pattern for p, q in pairwise(pieces))
        assert abs(sum(float(piece.right) - float(piece.left) for piece in pieces) - float(high - low)) < 1e-9
    else:
        assert sum(oracle.area(piece.vertices) for piece in pieces) == oracle.area(oracle.box(domain))
        assert len(oracle.patterns(pieces)) == len(pieces)
        for piece in pieces:  # convex, counter-clockwise, no vertex twice
            around = (*piece.vertices, *piece.vertices[:2])
            assert all(oracle._cross(*around[i : i + 3]) >= 0 for i in range(len(piece.vertices)))
            assert len(set(piece.vertices)) == len(piece.vertices)
    for piece in pieces:
        if len(domain) == 1:
            middle = oracle.rational_between(piece.left, piece.right)
            low, high = (
                oracle.rational_between(piece.left, middle),
                oracle.rational_between(middle, piece.right),
            )
            # not at the middle: an isolated tie may sit there (attn_tangent), which cuts nothing
            points = [(low + (high - low) * F(k, 101),) for k in (23, 71)]
        else:
            weights = [rng.randint(1, 9) for _ in piece.vertices]
            point = [
                sum(w * v[i] for w, v in zip(weights, piece.vertices, strict=True)) / sum(weights)
                for i in (0, 1)
            ]
            points = [oracle.centroid(piece.vertices), tuple(point)]
        for point in points:
            assert oracle.pattern_at(network, point) == piece.pattern
            assert oracle.evaluate(network, point) == value(piece.map, point)


# ------------------------------------------------------------------------------------------- reference values


@pytest.mark.parametrize("name", OTHERS)
def test_reference_counts(name):
    entry = ENTRIES[name]
    network, domain = entry["network"], entry["domain"]
    pieces = pieces_of(network, domain)
    found = oracle.counts(pieces)
    expected = {**entry["counts"], **CORRECTED.get(name, {})}
    if "R1" in expected:
        found["R1"] = r1_of(network, domain)
    assert {key: found[key] for key in expected} == expected
    check_pieces(network, domain, pieces, Random(1))


@pytest.mark.parametrize("name", QUADRATIC_2D)
def test_quadratic_scores_are_refused_and_slices_agree(name):
    network, expected = ENTRIES[name]["network"], ENTRIES[name]["counts"]
    with pytest.raises(oracle.NotAffine):
        oracle.enumerate_2d(network, oracle.box(ENTRIES[name]["domain"]))
    seen = set()
    for k in range(12):  # generic lines see no pattern that is not counted
        c = F(2 * k, 12) - F(87, 91)
        for start, end in (((-1, c), (1, c)), ((c, -1), (c, 1))):
            seen |= oracle.patterns(oracle.enumerate_1d(oracle.restrict(network, start, end), 0, 1))
    assert 0.75 * expected["activation"] <= len(seen) <= expected["activation"]


def test_all_distinct_0_has_14_closed_regions():
    """networks.json says linear_closed 13; by theory.md (unions of the closed pieces of a map) it is 14.

    Of the 16 pieces 7 are alone with their map, two of x+y+1 share a facet (1 component), and the three other
    maps have two components each, which lie on two sides of a strip of positive width: 7 + 1 + 3*2 = 14. (13
    comes out if *every* point with f(x) = g(x) is taken, low-dimensional ones included: f = 0 also on the
    segment from (0,-1) to (-1,-2), inside a piece with map x-y-1, which joins the two components of map 0.)
    """
    network, domain = ENTRIES["all_distinct_0"]["network"], ENTRIES["all_distinct_0"]["domain"]
    by_map = {}
    for piece in pieces_of(network, domain):
        by_map.setdefault(piece.map, []).append(piece.vertices)
    separated = {((0, 0, 0),): (1, -2, -1), ((0, 0, -1),): (0, -1, 2), ((0, -1, -2),): (0, -1, 2)}
    for affine_map, (axis, low, high) in separated.items():
        polygons = by_map.pop(affine_map)
        # +1 below the strip, -1 above it
        sides = [all(v[axis] <= low for v in p) - all(v[axis] >= high for v in p) for p in polygons]
        assert 0 not in sides
        below, above = ([p for p, side in zip(polygons, sides, strict=True) if side == s] for s in (1, -1))
        assert len(below) == 1
        assert len(above) == 1 or (len(above) == 2 and oracle.share_facet(*above))
    same, other = by_map.pop(((1, 1, 1),))
    assert oracle.share_facet(same, other)
    assert [len(polygons) for polygons in by_map.values()] == [1] * 7
    for k in range(11):
        assert oracle.evaluate(network, (F(-k, 10), -1 - F(k, 10))) == (0,)


# -------------------------------------------------------------------------------------------- random networks


def random_1d():
    for seed in range(4):
        rng = Random(seed)
        yield oracle.random_relu(rng, [1, 4, 3, 1], activation="mixed")
        yield oracle.random_maxout(rng, [1, 3, 2, 1], rank=4, ragged=True)
        for mask in ("none", "causal", "random"):
            yield oracle.random_transformer(
                rng, tokens=3, layers=2, heads=2, hidden=2, mask=mask, readout="mean"
            )
        yield oracle.random_transformer(rng, tokens=4, dim=3, head_dim=1, layers=2, residual=False)
        yield oracle.random_transformer(
            rng, tokens=3, dim=3, layers=2, scores="mixed", hidden=0, readout=False
        )


def random_2d_continuous():
    for seed in range(5):
        rng = Random(seed)
        yield oracle.random_relu(rng, [2, 4, 3, 2])
        yield oracle.random_relu(rng, [2, 3, 3, 1], activation="mixed")
        yield oracle.random_maxout(rng, [2, 2, 2, 1], rank=3)
        yield oracle.random_maxout(rng, [2, 3, 1, 1], rank=4, ragged=True)


def random_2d_attention():
    for seed in range(5):
        rng = Random(seed)
        for scores, mask in (("fixed_query", "none"), ("fixed_keys", "causal"), ("mixed", "random")):
            yield oracle.random_transformer(
                rng, 3, 3, 2, 1, 2, 1, input_dim=2, scores=scores, mask=mask, readout="all"
            )


@pytest.mark.parametrize("network", [*random_1d()])
def test_random_1d(network):
    pieces = oracle.enumerate_1d(network, -3, "7/2")
    check_pieces(network, [[-3, "7/2"]], pieces, Random(2))
    found = oracle.counts(pieces)
    assert found["affine_maps"] <= found["linear_closed"] == found["linear"] <= found["cells"] == len(pieces)
    assert found["activation"] <= oracle.r1_1d(network, -3, "7/2")
    by_grid = {oracle.pattern_at(network, F(k, 8) - 3) for k in range(53)}  # ties included
    assert by_grid <= oracle.patterns_1d_closed(network, -3, "7/2")


@pytest.mark.parametrize("network", [*random_2d_continuous(), *random_2d_attention()])
def test_random_2d(network):
    rng, domain = Random(3), [[-2, 3], ["-5/2", 2]]
    box = oracle.box(domain)
    pieces = oracle.enumerate_2d(network, box)
    check_pieces(network, domain, pieces, rng)
    found = oracle.counts(pieces)
    assert found["affine_maps"] <= found["linear_closed"] <= found["linear"] <= found["cells"] == len(pieces)
    # Every generic line meets the pieces, in order, that the 1-D enumeration finds on it.
    for _ in range(3):
        start, end = ((x, F(rng.randint(-250, 200), 101)) for x in (-2, 3))
        on_line = oracle.enumerate_1d(oracle.restrict(network, start, end), 0, 1)
        for part in on_line:
            t = oracle.rational_between(part.left, part.right)
            point = [p + t * (q - p) for p, q in zip(start, end, strict=True)]
            (piece,) = [piece for piece in pieces if piece.pattern == part.pattern]
            assert all(oracle._cross(p, q, point) > 0 for p, q in oracle._edges(piece.vertices))
        assert len(oracle.patterns(on_line)) == len(on_line)


@pytest.mark.parametrize("network", [*random_2d_continuous()])
def test_r1_2d_two_ways(network):
    """Midpoints and vertices, against the 1-D enumeration along every edge; continuity at vertices."""
    box = oracle.box([[-2, 3], [-2, 2]])
    pieces = oracle.enumerate_2d(network, box)
    along = oracle.patterns(pieces)
    for piece in pieces:
        for p, q in oracle._edges(piece.vertices):
            along |= oracle.patterns_1d_closed(oracle.restrict(network, p, q), 0, 1)
            assert oracle.evaluate(network, p) == value(piece.map, p)
    assert along == oracle.patterns_2d_closed(network, box)
    assert oracle.r1_2d(network, box) == len(along)


@pytest.mark.parametrize("network", [*random_2d_attention()][:4])
def test_r1_2d_with_attention_sees_every_grid_point(network):
    closed = oracle.patterns_2d_closed(network, oracle.box([[-1, 1], [-1, 1]]))
    quarters = [F(i, 4) for i in range(-4, 5)]
    assert {oracle.pattern_at(network, (x, y)) for x in quarters for y in quarters} <= closed


def test_generators_give_plain_json_and_repeat():
    for make in (random_1d, random_2d_continuous, random_2d_attention):
        for first, second in zip(make(), make(), strict=True):
            assert json.loads(json.dumps(first)) == first == second


# ---------------------------------------------------------------------------------------------------- by hand


def net(n, *layers):
    return {"format": "regioncount-network", "version": 1, "input_dim": n, "layers": list(layers)}


def attention(query, key, value, output, **more):
    blocks = {"query": query, "key": key, "value": value, "output": output}
    return {"type": "attention", "heads": [{what: {"weight": rows} for what, rows in blocks.items()}], **more}


def test_columns_of_ragged_maxout_and_leaky_relu_and_abs():
    network = net(
        1,
        # |x|, with x twice, and 2x + 1/2
        {"type": "maxout", "weight": [[[1], [-1], [1]], [[2]]], "bias": [[0, 0, 0], ["1/2"]]},
        {"type": "leaky_relu", "slope": "1/4"},
        {"type": "abs"},
        {"type": "affine", "weight": [[1, 0], [0, 1]]},
    )
    pieces = oracle.enumerate_1d(network, -1, 1)
    assert [tuple(piece) for piece in pieces] == [
        (-1, F(-1, 4), (0, 1, 0, 1, 1, 0, 1, 0), ((-1, 0), (F(-1, 2), F(-1, 8)))),
        (F(-1, 4), 0, (0, 1, 0, 1, 1, 1, 1, 1), ((-1, 0), (2, F(1, 2)))),
        (0, 1, (1, 0, 1, 1, 1, 1, 1, 1), ((1, 0), (2, F(1, 2)))),
    ]
    assert oracle.pattern_at(network, 0) == (1, 1, 1, 1, 0, 1, 0, 1)
    # at -1/4 the second unit is 0: pattern of the left; at 0 the first is 0 and tied
    assert oracle.r1_1d(network, -1, 1) == 4


def test_masks_heads_and_readouts():
    embed = {
        "type": "embed",
        "weight": [[[1]], [[-1]]],
        "bias": [[0], [1]],
    }  # tokens x and 1 - x; score = key
    layer = attention([[0]], [[1]], [[1]], [[1]], residual=False)
    layer["heads"][0]["query"]["bias"] = [1]
    readout = {"type": "readout", "token": "all"}
    assert oracle.evaluate(net(1, embed, layer, readout), 3) == (3, 3)
    assert oracle.pattern_at(net(1, embed, layer), F(1, 2)) == (1, 1, 1, 1)
    causal = {**layer, "mask": "causal"}
    assert oracle.evaluate(net(1, embed, causal), -3) == (-3, 4)
    assert oracle.pattern_at(net(1, embed, causal), -3) == (1, 0, 0, 1)
    swapped = {**layer, "mask": [[False, True], [True, False]], "residual": True}
    assert oracle.evaluate(net(1, embed, swapped), F(1, 3)) == (1, 1)
    assert oracle.counts(oracle.enumerate_1d(net(1, embed, swapped), -5, 5))["activation"] == 1
    two = {
        **layer,
        "heads": [*layer["heads"], {**layer["heads"][0], "output": {"weight": [[10]], "bias": [100]}}],
    }
    mean = {"type": "readout", "token": "mean", "coordinates": [0]}
    assert oracle.evaluate(net(1, embed, two, mean), 2) == (122,)
    (left, right) = oracle.enumerate_1d(net(1, embed, two, mean), 0, 1)
    assert (left.right, left.map, right.map) == (F(1, 2), ((-11, 111),), ((11, 100),))
    assert left.pattern == (0, 1) * 4
    assert right.pattern == (1, 0) * 4


def test_candidates_tied_on_a_piece_are_averaged_and_cut_nothing():
    # keys 0, 0, x; values x, 3x, 5x
    embed = {"type": "embed", "weight": [[[0], [1]], [[0], [3]], [[1], [5]]]}
    layer = attention([[0, 0]], [[1, 0]], [[0, 1]], [[1]], residual=False)
    layer["heads"][0]["query"]["bias"] = [1]
    network = net(1, embed, layer, {"type": "readout", "token": 0})
    assert [tuple(piece) for piece in oracle.enumerate_1d(network, -1, 1)] == [
        (-1, 0, (1, 1, 0) * 3, ((2, 0),)),
        (0, 1, (0, 0, 1) * 3, ((5, 0),)),
    ]
    assert oracle.evaluate(network, 1) == (5,)
    assert oracle.evaluate(network, 0) == (0,)
    assert oracle.r1_1d(network, -1, 1) == 3


def test_irrational_breakpoints_and_values_at_them():
    """Scores x^2 and 2: breakpoints +-sqrt(2); the ReLU after them sees the average of x and 0, minus 3/5."""
    embed = {"type": "embed", "weight": [[[1], [0]], [[0], [0]]], "bias": [[0, 0], [0, 1]]}
    layer = attention([[1, 0], [0, 0]], [[1, 0], [0, 2]], [[1, 0]], [[1]], residual=False)
    layer["heads"][0]["query"]["bias"] = [0, 1]
    network = net(
        1,
        embed,
        layer,
        {"type": "readout", "token": 0},
        {"type": "affine", "weight": [[1]], "bias": ["-3/5"]},
    )
    network["layers"].append({"type": "relu"})
    pieces = oracle.enumerate_1d(network, -2, 2)
    assert [piece.pattern[:2] + piece.pattern[4:] for piece in pieces] == [(1, 0, 0), (0, 1, 0), (1, 0, 1)]
    root = pieces[1].right
    assert root * root == 2
    assert root == -pieces[1].left
    assert oracle.counts(pieces) == {
        "activation": 3,
        "cells": 3,
        "linear": 2,
        "linear_closed": 2,
        "affine_maps": 2,
    }
    assert oracle.evaluate(network, [root]) == (root / 2 - F(3, 5),)  # 0.707 - 0.6
    assert oracle.pattern_at(network, [root])[4] == 1
    assert oracle.pattern_at(network, [-root])[4] == 0
    assert oracle.r1_1d(network, -2, 2) == 5


def test_surds_against_decimals():
    rng = Random(5)
    numbers = []
    for _ in range(60):
        a, b, d = (
            F(rng.randint(-9, 9), rng.randint(1, 5)),
            F(rng.randint(-5, 5), rng.randint(1, 3)),
            rng.randint(0, 12),
        )
        numbers.append((oracle.surd(a, b, d), a, b, d))
    with localcontext() as context:
        context.prec = 60

        def decimal(q):
            return Decimal(q.numerator) / Decimal(q.denominator)

        close = [decimal(a) + decimal(b) * Decimal(d).sqrt() for _, a, b, d in numbers]
        for (x, *_), dx in zip(numbers, close, strict=True):
            assert abs(Decimal(float(x)) - dx) < Decimal("1e-12")
            for (y, *_), dy in zip(numbers, close, strict=True):
                equal = abs(dx - dy) < Decimal("1e-50")
                assert (x == y) == equal
                assert (x < y) == (dx < dy and not equal)
                if x < y:
                    assert x < oracle.rational_between(x, y) < y
    assert oracle.surd(0, 1, 8) == oracle.surd(0, 2, 2)  # two fields by name, one number
    with pytest.raises(ValueError, match="arithmetic"):
        oracle.surd(0, 1, 2) + oracle.surd(0, 1, 3)


def test_roots():
    for a, b, c in ((1, -3, 1), (-2, 1, 5), ("1/3", 2, "-1/7"), (0, 2, -3), (4, -4, 1), (1, 0, 1), (0, 0, 5)):
        a, b, c = F(a), F(b), F(c)
        found = oracle.roots(a, b, c)
        assert all(a * x * x + b * x + c == 0 for x in found)
        assert len(found) == (0 if a == b == 0 else 1 if a == 0 else 1 + oracle._sign(b * b - 4 * a * c))


def test_contact_of_polygons():
    square = oracle.box([[0, 1], [0, 1]])
    for other, facet, point in (
        ([[1, 2], [1, 2]], False, True),
        ([[1, 2], ["1/2", 2]], True, True),
        ([[1, 2], ["1/3", "2/3"]], True, True),
        ([["5/4", 2], [0, 1]], False, False),
        ([["1/4", "3/4"], [1, 2]], True, True),
    ):
        for one, two in ((square, oracle.box(other)), (oracle.box(other), square)):
            assert oracle.share_facet(one, two) == facet
            assert oracle.share_point(one, two) == point
    triangle = ((F(1), F(1, 2)), (F(2), F(0)), (F(2), F(1)))  # its tip inside an edge of the square
    assert oracle.share_point(square, triangle)
    assert not oracle.share_facet(square, triangle)


def test_refusals():
    embed = {"type": "embed", "weight": [[[1]], [[2]]]}
    softmax = attention([[1]], [[1]], [[1]], [[1]], activation="softmax", scale=3)
    with pytest.raises(ValueError, match="hardmax"):
        oracle.enumerate_1d(net(1, embed, softmax), 0, 1)
    with pytest.raises(ValueError, match="unknown layer"):
        oracle.enumerate_1d(net(1, {"type": "sigmoid"}), 0, 1)
    with pytest.raises(ValueError, match="low < high"):
        oracle.enumerate_1d(net(1, {"type": "relu"}), 1, 1)
    with pytest.raises(ValueError, match="positive area"):
        oracle.enumerate_2d(net(2, {"type": "relu"}), [(0, 0), (1, 1), (2, 2)])
