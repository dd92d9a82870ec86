"""The conic oracle against the reference values, hand-made curves, the polygon oracle, and lines through the domain."""

import json
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from random import Random

import conic_oracle
import oracle
import pytest
from conic_oracle import Root, _compare, _divide, _gcd, _intern, _mul, _primitive, _roots, _sample, _sign_at

ENTRIES = {entry["name"]: entry for entry in json.loads((Path(__file__).parent / "data" / "networks.json").read_text())}
KEYS = ("activation", "cells", "linear", "linear_closed", "affine_maps")

F = Fraction


def five(network, vertices, **options):
    counts = conic_oracle.counts(conic_oracle.enumerate_conic(network, vertices, **options))
    return tuple(counts[key] for key in KEYS)


@pytest.mark.parametrize(
    "name",
    [
        "conic_hyperbola",
        "conic_ellipse",
        "conic_cross",
        "random_hardmax_2d_11",
        "random_hardmax_2d_14",
        pytest.param("random_hardmax_2d_17", marks=pytest.mark.slow),
    ],
)
def test_reference_values(name):
    entry = ENTRIES[name]
    expected = {key: value for key, value in entry["counts"].items() if key != "R1"}
    counts = conic_oracle.counts(conic_oracle.enumerate_conic(entry["network"], oracle.box(entry["domain"])))
    assert {key: counts[key] for key in expected} == expected


# ------------------------------------------------------------------------------------------- curves made by hand


def conics(*quadratics):
    """The sum of the indicators of q > 0, each q = (xx, xy, yy, x, y, 1) the score difference of a head of its own."""
    heads = []
    for xx, xy, yy, x, y, constant in quadratics:
        rows = [[xx, xy, x, 0], [0, yy, y, 0], [0, 0, constant, 0]]  # <X_1, rows X_1> = q, and 0 for X_2
        eye = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
        query = {"weight": eye}
        heads.append(
            {
                "query": query,
                "key": {"weight": rows},
                "value": {"weight": [[0, 0, 1, 0]]},
                "output": {"weight": [[0], [0], [0], [1]]},
            }
        )
    embed = {
        "type": "embed",
        "weight": [[[1, 0], [0, 1], [0, 0], [0, 0]], [[0, 0]] * 4],
        "bias": [[0, 0, 1, 0], [0, 0, 0, 0]],
    }
    layers = [embed, {"type": "attention", "heads": heads}, {"type": "readout", "token": 0, "coordinates": [3]}]
    return oracle._network(2, layers)


def disc(x, y, square=1):
    """square - (distance from (x, y))^2."""
    return (-1, 0, -1, 2 * x, 2 * y, square - x * x - y * y)


def box(half):
    return oracle.box([[-half, half]] * 2)


HAND_MADE = {
    # activation, cells, linear, linear_closed, affine_maps
    "disc": ([disc(0, 0)], 2, (2, 2, 2, 2, 2)),
    "disc touching the four sides": ([disc(0, 0)], 1, (2, 5, 5, 2, 2)),
    "disc through the corners": ([disc(0, 0, 2)], 1, (1, 1, 1, 1, 1)),
    "disc that leaves four corners": ([disc(0, 0, F(3, 2))], 1, (2, 5, 5, 5, 2)),
    "discs touching at an outer point": ([disc(1, 0), disc(-1, 0)], 3, (3, 3, 3, 2, 2)),
    "discs touching from inside": ([disc(0, 0, 4), disc(1, 0)], 3, (3, 3, 3, 3, 3)),
    "discs crossing": ([disc(0, 0), disc(1, 0)], 3, (4, 4, 4, 3, 3)),  # the two moons have one map and touch
    "discs apart": ([disc(2, 0), disc(-2, 0)], 4, (3, 3, 3, 3, 2)),
    "ring, the same map outside and within": ([(1, 0, 1, 0, 0, -1), disc(0, 0, 4)], 3, (3, 3, 3, 3, 2)),
    "parabola": ([(-1, 0, 0, 0, 1, 0)], 2, (2, 2, 2, 2, 2)),
    "hyperbola": ([(0, 1, 0, 0, 0, F(-1, 4))], 1, (2, 3, 3, 3, 2)),
    "two lines": ([(0, 1, 0, 0, 0, 0)], 1, (2, 4, 4, 2, 2)),
    "two irrational lines": ([(1, 0, -2, 0, 0, 0)], 1, (2, 4, 4, 2, 2)),
    "two irrational parallels": ([(1, 0, 0, 0, 0, -2)], 2, (2, 3, 3, 3, 2)),
    # Value 1 outside to the left and right touches value 1 inside above and below, where the lines cross the circle;
    # value 0 above and below do not touch.
    "irrational lines and a disc at their crossing": ([(1, 0, -2, 0, 0, 0), disc(0, 0)], 2, (4, 8, 8, 4, 3)),
    "irrational lines that touch a disc": ([(1, 0, 0, 0, 0, -2), disc(0, 0, 2)], 2, (3, 5, 5, 2, 2)),
    "two hyperbolas with one asymptote": (
        [(0, 1, 0, 0, 0, -1), (0, 1, 0, 0, 0, -2)],
        4,
        (3, 5, 5, 5, 3),
    ),
    "isolated point": ([(-1, 0, -1, 0, 0, 0)], 1, (1, 1, 1, 1, 1)),
    "isolated point, irrational": ([(-1, 0, -2, 2, 4, -3)], 2, (1, 1, 1, 1, 1)),
    "punctured from above": ([(1, 0, 1, 0, 0, 0)], 1, (1, 1, 1, 1, 1)),
    "double line": ([(-1, 2, -1, 0, 0, 0)], 1, (1, 1, 1, 1, 1)),
    "double vertical line": ([(1, 0, 0, 0, 0, 0)], 1, (1, 1, 1, 1, 1)),
    "empty": ([(-1, 0, -1, 0, 0, -1)], 1, (1, 1, 1, 1, 1)),
    "one conic twice": ([disc(0, 0), tuple(3 * c for c in disc(0, 0))], 2, (2, 2, 2, 2, 2)),
    "a conic and its negative": ([disc(0, 0), tuple(-c for c in disc(0, 0))], 2, (2, 2, 1, 1, 1)),
    # y = x^2 and y = x^2/(1-x) meet three times at 0, where they cross: two slivers between them
    "osculating and crossing": ([(-1, 0, 0, 0, 1, 0), (-1, -1, 0, 0, 1, 0)], F(1, 2), (4, 4, 4, 3, 3)),
}


@pytest.mark.parametrize("name", HAND_MADE)
def test_hand_made(name):
    quadratics, half, expected = HAND_MADE[name]
    assert five(json.loads(json.dumps(conics(*quadratics), default=str)), box(half)) == expected


def test_one_score_of_rank_one_many_keys():
    """Head dimension 1: all differences of scores share the line where the query is 0."""
    embed = {"type": "embed", "weight": [[[1, 0], [0, 1]]] * 3, "bias": [[0, 0], [0, 1], [1, 0]]}
    head = {
        "query": {"weight": [[1, -2]], "bias": [F(1, 3)]},
        "key": {"weight": [[1, 1]]},
        "value": {"weight": [[2, 1]]},
        "output": {"weight": [[1], [0]]},
    }
    network = oracle._network(2, [embed, {"type": "attention", "heads": [head]}, {"type": "readout", "token": 0}])
    # Keys x + y, x + y + 1 twice. Token queries x - 2y + c, c = 1/3, -5/3, 4/3: three parallels, one bit on each.
    assert five(network, box(2)) == (4, 4, 2, 2, 2)


# ------------------------------------------------------------------------------------------ against other oracles


def random_network(seed, **options):
    rng = Random(seed)
    chosen = {
        "tokens": rng.choice((2, 3)),
        "dim": 2,
        "layers": rng.choice((1, 1, 2)),
        "head_dim": rng.choice((1, 2)),
        "hidden": rng.choice((0, 1)),
        "input_dim": 2,
        "mask": rng.choice(("none", "causal", "random")),
    }
    return oracle.random_transformer(rng, **(chosen | options))


POLYGON = ((F(-1), F(-1)), (F(3, 2), F(-1)), (F(2), F(0)), (F(1, 3), F(5, 3)), (F(-1), F(1)))


@pytest.mark.parametrize("seed", range(8))
def test_affine_scores_agree_with_polygons(seed):
    rng = Random(seed)
    networks = [
        random_network(seed, scores="mixed", heads=2),
        oracle.random_relu(rng, (2, 3, 2, 1), values=(-1, 0, 1)),
        oracle.random_maxout(rng, (2, 2, 1, 1), values=(-1, 0, 1, 2)),
    ]
    for network in networks:
        expected = oracle.enumerate_2d(network, POLYGON)
        found = conic_oracle.enumerate_conic(network, POLYGON)
        assert {(piece.pattern, piece.map) for piece in found} == {(piece.pattern, piece.map) for piece in expected}
        assert conic_oracle.counts(found) == oracle.counts(expected)


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 16))])
def test_lines_through_the_domain_and_another_shear(seed):
    network, rng = random_network(seed), Random(seed)
    pieces = conic_oracle.enumerate_conic(network, POLYGON)
    known = {piece.pattern: piece.map for piece in pieces}
    for piece in pieces:
        assert conic_oracle.contains(piece, piece.point)
        check_point(network, piece, piece.point)
    for _ in range(4):
        start, end = (interior_point(rng) for _ in range(2))
        for part in oracle.enumerate_1d(oracle.restrict(network, start, end), 0, 1):
            t = oracle.rational_between(part.left, part.right)
            point = tuple(a + t * (b - a) for a, b in zip(start, end, strict=True))
            inside = [piece for piece in pieces if conic_oracle.contains(piece, point)]
            assert len(inside) <= 1  # none: a wall
            assert part.pattern in known
            if inside and oracle.pattern_at(network, point) == part.pattern:
                assert inside[0].pattern == part.pattern
                check_point(network, inside[0], point)
    other = conic_oracle.enumerate_conic(network, POLYGON, shears=conic_oracle.SHEARS[::-1])
    assert {(piece.pattern, piece.map) for piece in other} == set(known.items())
    assert conic_oracle.counts(other) == conic_oracle.counts(pieces)


def interior_point(rng):
    weights = [F(rng.randint(1, 99)) for _ in POLYGON]
    return tuple(sum(w * v[i] for w, v in zip(weights, POLYGON, strict=True)) / sum(weights) for i in (0, 1))


def check_point(network, piece, point):
    expected = tuple(sum(a * x for a, x in zip(row, (*point, 1), strict=True)) for row in piece.map)
    assert oracle.evaluate(network, point) == expected


def test_counts_are_ordered():
    for seed in range(100, 110):
        activation, cells, linear, closed, maps = five(random_network(seed, layers=1), box(1))
        assert maps <= closed <= linear <= cells >= activation >= 1


# ------------------------------------------------------------------------------------------------------- numbers


def polynomial(*roots):
    p = (1,)
    for root in roots:
        p = _mul(p, (-F(root), F(1)))
    return _primitive(p)


def in_order(roots):
    return all(_compare(x, y) == -1 == -_compare(y, x) for x, y in combinations(roots, 2))


def test_rational_roots():
    values = [F(-7, 3), F(0), F(3, 8), F(5)]
    found = sorted(_roots(polynomial(*values, values[1], values[2])), key=float)
    assert len(found) == 4 and in_order(found)
    for root, value in zip(found, values, strict=True):
        assert _compare(root, Root(value)) == 0 and _sign_at(polynomial(value), root) == 0
        assert [_sign_at(polynomial(value + step), root) for step in (F(1, 10**40), -F(1, 10**40))] == [-1, 1]


def test_a_dyadic_value_met_by_bisection_is_exact():
    root = Root(None, polynomial(F(3, 8), -5), 0, 0)
    for _ in range(5):
        root.halve()
    assert root.value == F(3, 8)
    root = Root(None, polynomial(F(1, 3), -5), 0, 0)
    for _ in range(50):
        root.halve()
    low, high = root.ends()
    assert root.value is None and low < F(1, 3) < high and high - low == F(1, 2**50)


def test_equal_numbers_of_different_polynomials_are_one_object():
    two, three = (-2, 0, 1), (-3, 0, 1)  # the roots of 2 and 3
    first, second = _roots(_mul(two, three)), _roots(_mul(two, (7, 5, 1)))
    assert len(first) == 4 and len(second) == 2 and set(second) < set(first)
    far = Root(None, two, 1, 0)  # (1, 2), not interned
    assert sum(_compare(far, root) == 0 for root in first) == 1 and _intern(far) in first
    # 2^(1/2) + 2^(1/3) against itself plus 10^-30
    near = [Root(None, p, 1, 0) for p in ((-2, 0, 1), _primitive((-2 - F(1, 10**30), 0, 1)))]
    assert _compare(*near) == -1 and near[0].ends()[1] <= _sample(*near) <= near[1].ends()[0]


def test_signs_at_irrational_numbers():
    root = next(root for root in _roots((-2, 0, 0, 0, 1)) if float(root) > 0)  # 2^(1/4)
    assert _sign_at(_mul((-2, 0, 0, 0, 1), (1, 1)), root) == 0
    assert _sign_at((-2, 0, 0, 0, 1), root) == 0 and _sign_at((-2, 0, 1), root) == -1 and _sign_at((1, 1), root) == 1
    tiny = _primitive((-2 - F(1, 10**60), 0, 0, 0, 1))
    assert _sign_at(tiny, root) == -1


def test_division():
    p, q = polynomial(1, 2, 3), polynomial(2, 5)
    assert _primitive(_gcd(p, q)) in (polynomial(2), tuple(-x for x in polynomial(2)))
    quotient, rest = _divide(p, polynomial(2))
    assert rest == () and _primitive(quotient) == polynomial(1, 3)


def test_order_of_branches_is_that_of_decimals():
    rng, seen = Random(1), set()
    curves = []
    while len(curves) < 12:
        g = {key: F(rng.randint(-3, 3)) for key in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))}
        if g[1, 1]:
            curves += conic_oracle._curves(g)
    for first, second in combinations(curves, 2):
        for u in conic_oracle._meetings(first, second):
            branches = [b for c in (first, second) for b in conic_oracle._branches(c)]
            real = [b for b in branches if _sign_at(conic_oracle._integral(b[0][1]), u) >= 0]
            for p, q in combinations(real, 2):
                order = conic_oracle._order(u, p, q)
                assert order == -conic_oracle._order(u, q, p)
                difference = height(p, float(u)) - height(q, float(u))
                seen.add(order)
                assert abs(difference) < 1e-6 if order == 0 else difference * order > 1e-9
    assert seen == {-1, 0, 1}


def height(branch, u):
    a, d = (sum(float(c) * u**i for i, c in enumerate(p)) for p in branch[0])
    return a + branch[1] * max(0, d) ** 0.5


def test_domain_of_any_orientation_and_bad_domains():
    network = conics(disc(0, 0, 1))
    assert five(network, POLYGON) == five(network, POLYGON[::-1])
    with pytest.raises(ValueError, match="positive area"):
        conic_oracle.enumerate_conic(network, ((0, 0), (1, 1), (2, 2)))
    with pytest.raises(conic_oracle.NotGeneric):
        conic_oracle.enumerate_conic(network, box(1), shears=(F(0),))  # vertical sides


def test_a_shear_along_an_asymptote_is_refused():
    network = conics((0, 1, 0, 0, 0, F(-1, 4)))
    triangle = ((F(-2), F(0)), (F(0), F(-1)), (F(1), F(2)))
    with pytest.raises(conic_oracle.NotGeneric):
        conic_oracle.enumerate_conic(network, triangle, shears=(F(0),))
    assert five(network, triangle, shears=(F(0), F(1, 7))) == five(network, triangle)


def test_pieces_of_one_cell_are_joined_through_walls_and_arcs():
    pieces = conic_oracle.enumerate_conic(conics(disc(0, 0)), box(2))
    borders = conic_oracle.facets(pieces)
    labels = conic_oracle.components(pieces, lambda piece: piece.pattern)
    assert len(set(labels)) == 2 and len(pieces) > 2
    assert all(i < j and conic_oracle._touch(pieces[i], pieces[j]) for i, j in borders)
    for piece in pieces:  # every side of a trapezoid that is no side of the square leads to a neighbour
        assert any(pieces.index(piece) in border for border in borders)
    assert all(_compare(piece.left, piece.right) < 0 for piece in pieces)
    assert all(isinstance(x, F) for piece in pieces for x in piece.point)


def test_neighbours_along_a_column_have_different_columns():
    network = conics(disc(0, 0), disc(1, 0))
    pieces = conic_oracle.enumerate_conic(network, box(3))
    u = F(1, 9)
    here = [p for p in pieces if _compare(p.left, Root(u)) < 0 < _compare(p.right, Root(u))]
    here.sort(key=lambda p: float(conic_oracle._height(p.low, u)))
    assert all(p.high == q.low and p.pattern != q.pattern for p, q in pairwise(here))
