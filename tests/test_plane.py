"""The whole plane: known counts, an exact oracle on a box that holds every vertex, symmetries, boundaries, files.

The oracle's box has the half-side B = 10^60, which is large enough.  Weights here are at most 10 in size (the almost
diagonal lines apart), with denominators that divide 2310; so the lines of a network of at most four affine layers of
width four have, without denominators, coefficients of at most 20 digits.  Corners of such lines lie within 10^41, and
so do the places from which on a line meets the same side of every square.
"""

import json
from fractions import Fraction
from itertools import pairwise
from math import comb
from pathlib import Path
from random import Random

import compare
import numpy as np
import oracle
import peers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import regioncount as rc
from regioncount.closed import closed_patterns
from regioncount.domain import Plane
from regioncount.errors import InputError, NeedsConicEngine, TooManyPieces
from regioncount.exact import crossing, far_crossing, sign_at, sign_far
from regioncount.files import network_from_dict
from regioncount.verify import verify

B = 10**60
DATA = Path(__file__).parent / "data"
ALL = Plane()


def affine(weight, bias):
    return {"type": "affine", "weight": weight, "bias": bias}


def lines(rows, *more):
    """A network whose first layer is ReLUs of the lines (a, b, c)."""
    first = affine([[a, b] for a, b, _ in rows], [c for *_, c in rows])
    return {"format": "regioncount-network", "version": 1, "input_dim": 2, "layers": [first, {"type": "relu"}, *more]}


def in_box(network):
    """The oracle's pieces on the box, and how many of them are bounded in the plane."""
    pieces = oracle.enumerate_2d(network, oracle.box([[-B, B]] * 2))
    return pieces, sum(all(abs(x) < B for vertex in piece.vertices for x in vertex) for piece in pieces)


def assert_same(network, exact=False):
    """All counts, patterns and bounded pieces as the oracle has them."""
    made = network_from_dict(network)
    pieces, bounded = in_box(network)
    partition = rc.subdivide(made, ALL, exact=exact)
    assert compare.pattern_set(partition) == oracle.patterns(pieces)
    assert partition.counts() == oracle.counts(pieces)
    assert int(partition.bounded.sum()) == bounded
    assert partition.certified
    streamed = rc.count(made, ALL, exact=exact)
    assert streamed.counts == {"activation": len(oracle.patterns(pieces))} and streamed.domain == "all"
    if exact:
        assert streamed.decisions["float"] == 0
    else:
        partition.check_invariants()
    return partition


# ------------------------------------------------------------------------------------------------ arrangements


ARRANGEMENTS = {  # lines (a, b, c): pieces, bounded ones
    "half_planes": ([(1, 0, 0)], 2, 0),
    "half_planes_apart": ([(3, -2, 7)], 2, 0),
    "diagonal": ([(1, -1, 0)], 2, 0),
    "beside_the_diagonal": ([(1, -1, 1)], 2, 0),
    "both_diagonals": ([(1, -1, 0), (1, 1, 0)], 4, 0),
    "beside_both_diagonals": ([(1, -1, 3), (2, 2, -1)], 4, 0),
    "strip": ([(1, 0, 0), (1, 0, 1)], 3, 0),
    "diagonal_strip": ([(1, 1, -1), (-1, -1, -1)], 3, 0),
    "parallel": ([(1, 2, k * k) for k in range(7)], 8, 0),
    "parallel_diagonals": ([(1, 1, k) for k in range(-3, 4)], 8, 0),
    "wedges": ([(1, 0, 0), (1, 3, 0)], 4, 0),
    "concurrent": ([(1, k, -1 - 2 * k) for k in range(-3, 4)], 14, 0),
    "concurrent_at_zero": ([(k, 2 - k, 0) for k in range(5)], 10, 0),
    "triangle": ([(1, 0, 0), (0, 1, 0), (1, 1, -1)], 7, 1),
    "grid": ([(1, 0, k) for k in range(3)] + [(0, 1, k) for k in range(4)], 20, 6),
    "diagonal_grid": ([(1, 1, k) for k in range(3)] + [(1, -1, k) for k in range(4)], 20, 6),
    "duplicates": ([(1, 1, 1), (2, 2, 2), (-1, -1, -1), (0, 1, 0)], 4, 0),
    "nothing": ([(0, 0, 0)], 1, 0),
    "constants": ([(0, 0, 1), (0, 0, -1), (1, 0, 0)], 2, 0),
    "almost_diagonal": ([(10**6, 10**6 + 1, 1), (1, 1, 0), (1, -1, 0)], 7, 1),
}


@pytest.mark.nojit
@pytest.mark.parametrize("name", ARRANGEMENTS)
def test_lines(name):
    rows, pieces, bounded = ARRANGEMENTS[name]
    partition = assert_same(lines(rows))
    assert (partition.n_pieces, int(partition.bounded.sum())) == (pieces, bounded)
    assert_same(lines(rows), exact=True)
    reach = partition.reach
    assert reach == 2.0 ** np.log2(reach) and str(partition.domain) == "all"
    assert partition.frame == rc.Box([-reach, -reach], [reach, reach])
    inner = partition.vertices[(np.abs(partition.vertices) < reach).all(axis=1)]
    corners = {crossing(p, q) for p in rows for q in rows if crossing(p, q)[2]}
    assert len(inner) == len({(Fraction(x, w), Fraction(y, w)) for x, y, w in corners})


DEEPER = {
    "relu": [affine([[1, -1], [1, 2], [-1, -1]], [0, -1, 2]), {"type": "relu"}, affine([[1, 1, -1]], [0])],
    "abs": [affine([[1, -1], [1, 1]], [0, -3]), {"type": "abs"}, affine([[1, -1]], [1]), {"type": "relu"}],
    "maxout": [
        {"type": "maxout", "weight": [[[1, 0], [0, 1], [1, 1]], [[1, -1], [2, 0]]], "bias": [[0, 0, -1], [0, 0]]}
    ],
    "leaky": [affine([[1, -1], [0, 1]], [-2, 1]), {"type": "leaky_relu", "slope": "1/4"}, affine([[2, 1]], [-5])],
}


@pytest.mark.nojit
@pytest.mark.parametrize("deeper", DEEPER)
@pytest.mark.parametrize("name", [name for name in ARRANGEMENTS if name != "almost_diagonal"])
def test_deeper_layers(name, deeper):
    rows = ARRANGEMENTS[name][0]
    rows = (rows * 4)[:4]
    mix = affine([[1, -1, 2, 1], [-1, 1, 1, -2]], [1, -2])
    assert_same(lines(rows, mix, *DEEPER[deeper]))


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["half_planes", "diagonal", "strip", "wedges", "concurrent", "triangle", "constants"])
def test_attention_with_fixed_queries(name):
    rows = ARRANGEMENTS[name][0]
    for seed in range(3):
        transformer = oracle.random_transformer(Random(seed), tokens=3, scores="fixed_query", input_dim=len(rows))
        first = affine([[a, b] for a, b, _ in rows], [c for *_, c in rows])
        assert_same({**transformer, "input_dim": 2, "layers": [first, *transformer["layers"]]})


@pytest.mark.nojit
@pytest.mark.parametrize("m", [1, 2, 3, 6, 12])
def test_lines_in_general_position(m):
    """Tangents of a parabola: no two are parallel and no three meet (Zaslavsky 1975)."""
    partition = rc.subdivide(network_from_dict(lines([(2 * t, -1, -t * t) for t in range(m)])), ALL)
    assert partition.n_pieces == 1 + m + comb(m, 2)
    assert partition.bounded.sum() == comb(m - 1, 2)
    assert not partition.bounded.flags.writeable


@pytest.mark.nojit
def test_no_choice_at_all():
    network = rc.from_layers([([[1, 2], [3, 4]], [5, 6])])
    assert rc.count(network, ALL).counts == {"activation": 1}
    partition = rc.subdivide(network, ALL)
    assert partition.n_pieces == 1 and not partition.bounded.any()
    partition.check_invariants()


def test_reference_arrangements():
    """Counts made with other programs (oracles/arrangements.json, peers)."""
    for rows, regions, bounded in (
        ([(1, 0, 0), (0, 1, 0), (1, 1, 0)], 6, 0),
        ([(1, 0, 0), (1, 0, -1), (0, 1, 0)], 6, 0),
        ([(1, 0, 0), (0, 1, 0), (1, 1, -1)], 7, 1),
    ):
        partition = rc.subdivide(network_from_dict(lines(rows)), ALL)
        assert (partition.n_pieces, partition.bounded.sum()) == (regions, bounded)
    network = peers.load("lines_50")
    assert rc.count(network, ALL).counts["activation"] == peers.COUNTS["lines_50"]["activation"]["all"] == 1276
    partition = rc.subdivide(network, "all")
    assert (partition.n_pieces, partition.bounded.sum()) == (1276, comb(49, 2))
    partition.check_invariants()


def test_many_lines():
    network = peers.load("lines_500")
    assert rc.count(network, ALL).counts["activation"] == 1 + 500 + comb(500, 2)
    with pytest.raises(TooManyPieces, match="max_pieces"):
        rc.subdivide(network, ALL, max_pieces=1000)


# ------------------------------------------------------------------------------------------------ random networks


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(12))
def test_random_networks(seed):
    network = compare.continuous(seed, 2)
    assert_same(network)
    assert_same(network, exact=True)


@pytest.mark.parametrize("seed", range(12, 120))
def test_more_random_networks(seed):
    assert_same(compare.continuous(seed, 2))


@pytest.mark.parametrize("seed", range(24))
def test_random_attention(seed):
    rng = Random(seed)
    assert_same(
        oracle.random_transformer(
            rng, tokens=3, layers=rng.randint(1, 2), input_dim=2, values=rng.choice((oracle.VALUES, compare.SMALL)),
            scores=rng.choice(("fixed_query", "fixed_keys")),
        )
    )  # fmt: skip


@given(st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=1, max_size=7))
@settings(max_examples=60)
def test_small_integer_lines(rows):
    assert_same(lines(rows))


# ------------------------------------------------------------------------------------------------ symmetries


def moved(network, matrix, shift):
    """The network on matrix·x + shift: the same counts."""
    return {**network, "layers": [affine(matrix, shift), *network["layers"]]}


@pytest.mark.parametrize("seed", range(8))
def test_affine_maps_of_the_plane(seed):
    network = compare.continuous(seed, 2)
    partition = rc.subdivide(network_from_dict(network), ALL)
    expected = (partition.counts(), int(partition.bounded.sum()))
    for matrix, shift in (
        ([[1, 0], [0, 1]], [10**6, -(10**6) - 1]),
        ([[1, 0], [0, 1]], [10**17, 3]),
        ([[1 << 40, 0], [0, 1 << 40]], [0, 0]),
        ([[f"1/{1 << 40}", 0], [0, f"1/{1 << 40}"]], [0, 0]),
        ([[1 << 30, 0], [0, f"1/{1 << 30}"]], [1, 1]),
        ([[0, -1], [1, 0]], [0, 0]),
        ([[-1, 0], [0, 1]], [0, 0]),
        ([[1, 3], [0, 1]], ["1/3", 0]),
        ([[2, 1], [5, 3]], [-7, 4]),
        ([["1/3", "2/7"], [10**9, 1]], [1, "1/7"]),
    ):
        other = rc.subdivide(network_from_dict(moved(network, matrix, shift)), ALL)
        assert (other.counts(), int(other.bounded.sum())) == expected
        assert other.certified


@pytest.mark.parametrize("seed", range(4))
def test_a_box_that_holds_all_vertices(seed):
    network = network_from_dict(compare.continuous(seed, 2))
    partition = rc.subdivide(network, ALL)
    boxed = rc.subdivide(network, partition.frame)
    assert boxed.counts() == partition.counts() and boxed.bounded.all() and boxed.reach is None
    assert len(boxed.vertices) == len(partition.vertices) and len(boxed.facets) == len(partition.facets)


# ------------------------------------------------------------------------------------------------ what partitions do


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(6))
def test_closed_patterns(seed):
    """R1: the sides of the square are no part of the plane, and add nothing."""
    network = compare.continuous(seed, 2)
    partition = rc.subdivide(network_from_dict(network), ALL)
    found = {tuple(pattern) for pattern in closed_patterns(partition)}
    assert found == oracle.patterns_2d_closed(network, oracle.box([[-B, B]] * 2))
    assert partition.count("R1") == len(found)


@pytest.mark.parametrize("seed", range(16))
def test_closed_patterns_with_attention(seed):
    """On a ray between two pieces later layers see averages, so more may change on it, beyond all corners of pieces."""
    rng = Random(seed)
    network = oracle.random_transformer(
        rng, tokens=rng.randint(2, 3), layers=2, input_dim=2, values=rng.choice((oracle.VALUES, compare.SMALL)),
        scores=rng.choice(("fixed_query", "fixed_keys")),
    )  # fmt: skip
    partition = rc.subdivide(network_from_dict(network), ALL)
    if partition.n_pieces <= 60:
        expected = oracle.patterns_2d_closed(network, oracle.box([[-B, B]] * 2))
        assert {tuple(pattern) for pattern in closed_patterns(partition)} == expected


def test_tie_that_lies_far_outside():
    """Outputs that tie beyond all corners of the partition."""
    network = rc.from_layers([([[1, 0], [0, 1]], [0, 0]), "relu", ([[1, 0], [0, 1], [0, 0]], [0, -5000, -(10**9)])])
    partition = rc.subdivide(network, ALL)
    assert partition.reach < 100
    boundary = partition.decision_boundary()
    # 0, x, 0, x against -5000, -5000, y-5000, y-5000: the ray x = y - 5000 and the ray y = 5000, x < 0
    assert boundary.count == 2 and boundary.rays.sum() == 2
    ends = boundary.segments[~boundary.rays]
    np.testing.assert_array_equal(ends, [[0, 5000], [0, 5000]])
    linear = rc.from_layers([([[1, 0], [0, 1], [0, 0]], [0, 0, 7])])
    boundary = rc.subdivide(linear, ALL).decision_boundary()
    assert boundary.count == 3 and boundary.rays.sum(axis=1).tolist() == [1, 1, 1]
    np.testing.assert_array_equal(boundary.segments[~boundary.rays], [[7, 7]] * 3)
    line = rc.subdivide(rc.from_layers([([[1, 0], [0, 0]], [0, 12345])]), ALL).decision_boundary()
    assert line.count == 1 and line.rays.tolist() == [[True, True]]
    assert (line.segments[0, :, 0] == 12345).all()


@pytest.mark.parametrize("seed", range(10))
def test_decision_boundary_is_that_of_a_larger_box(seed):
    rng = Random(seed)
    network = oracle.random_relu(rng, [2, 4, 3, 4], values=compare.MIXED)
    made = network_from_dict(network)
    plane = rc.subdivide(made, ALL).decision_boundary()
    boxed = rc.subdivide(made, [[-(2**70), 2**70]] * 2).decision_boundary()
    assert plane.count == boxed.count and len(plane.jumps) == len(boxed.jumps)
    assert plane.rays.sum() == (np.abs(boxed.segments).max(axis=2) == 2.0**70).sum()
    bounded = rc.subdivide(made, [[-1, 1]] * 2).decision_boundary()
    assert not bounded.rays.any() and bounded.rays.shape == (bounded.count, 2)


def test_files_and_verify(tmp_path):
    for seed in range(4):
        partition = rc.subdivide(network_from_dict(compare.continuous(seed, 2)), ALL)
        rc.save(partition, tmp_path / "plane.npz")
        read = rc.load(tmp_path / "plane.npz")
        assert read.domain == ALL and read.reach == partition.reach
        np.testing.assert_array_equal(read.bounded, partition.bounded)
        assert verify(read)["counts"] == partition.counts()


def test_verify_sees_what_lies_outside(tmp_path):
    """A partition of a box, said to be one of the plane."""
    network = rc.from_layers([([[1, 0], [0, 1], [1, 1]], [0, 0, -6]), "relu"])
    for reach in (1, 4):
        partition = rc.subdivide(network, [[-reach, reach]] * 2)
        object.__setattr__(partition, "domain", ALL)
        with pytest.raises(InputError, match=r"outside of \d"):
            verify(partition)
    right = rc.subdivide(network, ALL)
    assert right.count("activation") == 7 and verify(right)["pieces"] == 7


def test_places_beyond_floats():
    """Counts need no coordinates; partitions do."""
    rows = [(1, 0, 0), (1, f"1/{1 << 700}", 0), (1, 2, f"{1 << 1010}"), (0, f"1/{1 << 900}", -1)]
    network = network_from_dict(lines(rows))
    assert rc.count(network, ALL).counts == {"activation": 11} == rc.count(network, ALL, exact=True).counts
    with pytest.raises(InputError, match=r"domain: expected all corners within 2\^1000 of 0 on the whole plane"):
        rc.subdivide(network, ALL)
    for power in (900, -900):
        scale = Fraction(2) ** power
        rows = [(1, 0, 0), (0, 1, 0), (1, 1, str(-scale))]
        partition = rc.subdivide(network_from_dict(lines(rows)), ALL)
        assert partition.count("activation") == 7 and partition.bounded.sum() == 1
        partition.check_invariants()


def test_hidden_choices():
    """Scores that are products of two numbers are made affine: their cells are polygons."""
    rng = Random(5)
    for _ in range(4):
        made = network_from_dict(
            oracle.random_transformer(rng, tokens=2, dim=2, head_dim=1, hidden=1, input_dim=2, values=compare.SMALL)
        )
        partition = rc.subdivide(made, ALL)
        boxed = rc.subdivide(made, [[-(2**60), 2**60]] * 2, method="polygon")
        assert partition.counts() == boxed.counts()
        assert rc.count(made, ALL).counts["activation"] == partition.count("activation")
        partition.check_invariants()


def test_quadratic_scores_need_a_bounded_domain():
    entries = json.loads((DATA / "networks.json").read_text())
    entry = next(entry for entry in entries if entry["name"].startswith("random_hardmax_2d_"))
    network = network_from_dict(entry["network"])
    what = r"layers\[\d\] \(attention\).*: the whole plane needs affine scores; expected a bounded domain"
    for method in ("auto", "polygon"):
        with pytest.raises(NeedsConicEngine, match=what) as e:
            rc.count(network, ALL, method=method)
        assert "\n" not in str(e.value)
    with pytest.raises(InputError, match="method: 'conic' takes bounded domains"):
        rc.subdivide(network, ALL, method="conic")


# ------------------------------------------------------------------------------------------------ exact arithmetic


@pytest.mark.nojit
def test_corners_at_infinity_are_those_of_every_large_square():
    rng = Random(0)
    forms = [tuple(rng.randint(-4, 4) for _ in range(3)) for _ in range(40)]
    sides = [(0, 1, 0, 1), (-1, 0, 0, 1), (0, -1, 0, 1), (1, 0, 0, 1)]
    far = [(*form, 0) for form in forms if form[0] or form[1]] + sides
    for p, q in pairwise(rng.sample(far, len(far)) * 5):
        point = far_crossing(p, q)
        large = crossing(*((a, b, c + r * B) for a, b, c, r in (p, q)))
        assert (point[4] > 0) == (large[2] > 0)
        if point[4]:
            assert [sign_far(form, point) for form in forms] == [sign_at(form, large) for form in forms]
