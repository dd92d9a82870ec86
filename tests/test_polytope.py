"""The polytope engine: against the other engines, itself in exact arithmetic and characteristic polynomials; what must
not change a count; pools that grow; the float bounds; partitions of Rⁿ and broken ones.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb
from random import Random

import compare
import numpy as np
import oracle
import pytest

import regioncount as rc
from regioncount import polytopes
from regioncount.errors import InputError, NeedsConicEngine, TooManyPieces
from regioncount.files import network_from_dict
from regioncount.hyperplane_arrangements import braid, catalan, coordinate, graphical, linial, resonance, shi, threshold
from regioncount.kernels import predicates
from regioncount.lowering import flatten, lower
from regioncount.polytopes import polytope_run, regions

F = Fraction
U = 2.0**-53


def subdivided(network, domain, exact=False):
    """The pieces that the polytope engine makes, in one and two dimensions too, with their visible patterns."""
    lowered = lower(network, domain.dim > 1)
    outcome = polytope_run(lowered, domain, True, None, exact)
    return outcome, np.ascontiguousarray(outcome.pieces.patterns[:, lowered.visible])


def words(patterns):
    return {bytes(row) for row in np.ascontiguousarray(patterns)}


def active(network, domain, **options):
    return rc.count(network, domain, **options).counts["activation"]


def random_arrangement(rng, dim, most, size=1):
    rows = []
    while len(rows) < most:
        row = [rng.randint(-size, size) for _ in range(dim)]
        if any(row):
            rows.append(row)
    return rc.HyperplaneArrangement(rows, [rng.choice((0, 0, 1, -1, size)) for _ in rows])


# ---------------------------------------------------------------------------------------- against the other engines


def nearly_degenerate(rng, dim):
    """Lines through one point up to one rounding, nearly parallel, of all scales, far from the origin."""
    far = rng.choice((0.0, 0.0, 1e4, 1e8))
    point = [rng.uniform(-1, 1) + far for _ in range(dim)]
    scale = 2.0 ** rng.choice((0, 0, 60, -60, 30))
    rows, biases = [], []
    for _ in range(rng.randint(2, 8)):
        row = [rng.gauss(0, 1) * rng.choice((1, 1, 2.0**-20, 2.0**20)) for _ in range(dim)]
        if rows and rng.random() < 0.4:
            factor = rng.choice((1.0, -1.0, 3.0, 0.1))
            row = [factor * x / scale * (1 + rng.choice((0, 1, -1, 2)) * 2.0**-52) for x in rng.choice(rows)]
        bias = -sum(a * x for a, x in zip(row, point, strict=True)) * (1 + rng.choice((0, 0, 1, -1, 2**10)) * 2.0**-52)
        rows.append([x * scale for x in row])
        biases.append(bias * scale)
    layers = [(rows, biases), rng.choice(("relu", "abs"))]
    if rng.random() < 0.4:
        k = rng.randint(1, 3)
        weight = [[rng.gauss(0, 1) / scale for _ in rows] for _ in range(k)]
        layers += [(weight, [rng.gauss(0, 1) for _ in range(k)]), "relu"]
    return rc.from_layers(layers), far


def drawn(rng, dim):
    """A small network, and how far from the origin it is interesting."""
    kind = rng.choice(("continuous", "transformer", "deep", "near"))
    if kind == "near":
        return nearly_degenerate(rng, dim)
    if kind == "deep":
        values = rng.choice((compare.SMALL, compare.MIXED, compare.THIRDS))
        widths = [dim, *(rng.randint(2, 4) for _ in range(rng.randint(2, 4))), 1]
        made = oracle.random_relu(rng, widths, values, rng.choice(("relu", "mixed")), rng.choice(("1/4", 2, "-1/3")))
        return network_from_dict(made), 0.0
    return network_from_dict((compare.continuous if kind == "continuous" else compare.transformer)(rng, dim)), 0.0


def assert_same_as_the_other_engine(seed):
    """Patterns, the five counts and points inside, on a box or everywhere, where there is another engine."""
    rng = Random(seed)
    dim = rng.choice((1, 2, 2))
    network, far = drawn(rng, dim)
    if rng.random() < 0.5:
        where = domain = rc.Line() if dim == 1 else rc.Plane()
    else:
        sides = [[far - 2, far + 2]] * dim if far else compare.domain_for(rng, dim)
        low, high = [F(a) for a, _ in sides], [F(b) for _, b in sides]
        domain = rc.Box(low, high)
        where = rc.Interval(low[0], high[0]) if dim == 1 else domain
    exact = rng.random() < 0.25
    try:
        outcome, patterns = subdivided(network, domain, exact)
    except NeedsConicEngine:
        with pytest.raises(NeedsConicEngine, match="quadratic"):
            polytope_run(lower(network, dim > 1), domain, False, None)
        return None
    known = rc.subdivide(network, where)
    assert words(patterns) == words(known.patterns)
    pieces, lowered = outcome.pieces, lower(network, dim > 1)
    assert len(words(pieces.patterns)) == len(pieces.patterns)
    streamed = polytope_run(lowered, domain, False, None, exact)
    found = int(streamed.patterns[lowered.last_choice]) if lowered.last_choice >= 0 else 1
    assert found == known.count("activation")
    if len(known.patterns) == len(patterns):
        flags = dict(zip(map(bytes, patterns), pieces.bounded.tolist(), strict=True))
        assert flags == dict(zip(map(bytes, known.patterns), known.bounded.tolist(), strict=True))
    contacts = polytopes.Contacts(pieces, outcome.judge)
    order = {word: label for word, label in zip(map(bytes, known.patterns), known.labels("affine_maps"), strict=True)}
    maps = np.array([order[bytes(row)] for row in patterns])
    if len(words(patterns)) == known.n_pieces:  # else one pattern may have several maps in the order of the pieces
        linear = contacts.joined(maps)
        assert int(linear.max()) + 1 == known.count("linear")
        if dim == 2:
            assert int(contacts.touching(maps, linear).max()) + 1 == known.count("linear_closed")
    points, exactly = polytopes.interior_points(pieces, outcome.judge)
    for p, floats in enumerate(points.tolist()):
        point = outcome.window.inward(exactly.get(p) or tuple(map(F, floats)))
        for *row, constant, reach in polytopes.piece_planes(pieces, outcome.judge, p):
            assert reach or sum(a * x for a, x in zip(row, point, strict=True)) + constant > 0
    return outcome


@pytest.mark.parametrize("seed", range(60))
def test_same_as_the_other_engines(seed):
    assert_same_as_the_other_engine(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_same_as_the_other_engines_often(block):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        assert_same_as_the_other_engine(seed)


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(100, 106))
def test_same_as_the_other_engines_uncompiled(seed):
    assert_same_as_the_other_engine(seed)


# ------------------------------------------------------------------------------------------- itself, exactly; Zaslavsky


@pytest.mark.parametrize("seed", range(20))
def test_floats_agree_with_exact_arithmetic(seed):
    rng = Random(seed)
    dim = rng.choice((3, 3, 4, 5))
    values = rng.choice((compare.SMALL, compare.MIXED, compare.THIRDS))
    if rng.random() < 0.4:
        dictionary = oracle.random_maxout(rng, [dim, 2, 1, 1], rank=3, values=values, ragged=rng.random() < 0.5)
    else:
        dictionary = oracle.random_relu(rng, [dim, *[rng.randint(2, 5)] * 2, 1], values, "mixed", "-1/3")
    network = network_from_dict(dictionary)
    domain = rng.choice(("all", ",".join(["-1:1"] * dim)))
    usual, exact = (rc.subdivide(network, domain, exact=exact) for exact in (False, True))
    assert words(usual.patterns) == words(exact.patterns)
    assert usual.counts() == exact.counts()
    assert sorted(usual.bounded) == sorted(exact.bounded)
    assert exact.decisions["float"] == 0
    assert active(network, domain) == active(network, domain, exact=True) == usual.count("activation")
    usual.check_invariants()


def assert_zaslavsky(arrangement):
    """As many regions, and bounded ones, as the characteristic polynomial says; sign vectors of the points."""
    partition = rc.subdivide(arrangement.network(), "all")
    assert partition.n_pieces == partition.count("activation") == arrangement.n_regions()
    if arrangement.is_essential:
        assert int(partition.bounded.sum()) == arrangement.n_bounded_regions()
    else:
        assert not partition.bounded.any()
    found = list(arrangement.regions())
    assert len({bytes(signs) for signs, _ in found}) == len(found) == arrangement.n_regions()
    for signs, point in found:
        assert np.array_equal(arrangement.sign_vector(point), signs)
    return partition


@pytest.mark.parametrize("seed", range(30))
def test_random_degenerate_arrangements(seed):
    rng = Random(seed)
    dim = 3 + seed % 4
    assert_zaslavsky(random_arrangement(rng, dim, {3: 12, 4: 9, 5: 8, 6: 7}[dim], rng.choice((1, 1, 2))))


FAMILIES = {
    "braid": braid(4), "braid 5": braid(5), "shi": shi(4), "catalan": catalan(4), "linial": linial(4),
    "resonance": resonance(4), "threshold": threshold(4), "coordinate": coordinate(5),
    "cycle": graphical([(0, 1), (1, 2), (2, 3), (3, 0)], 4),
    "few": rc.HyperplaneArrangement([[1, 2, 3, 4], [0, 1, 0, 1]], [1, 0]),
    "none": rc.HyperplaneArrangement([], [], 3),
    "parallel": rc.HyperplaneArrangement([[1, 1, 1]] * 5, [0, 1, 2, 3, 3]),
    "grid": rc.HyperplaneArrangement(np.repeat(np.eye(3, dtype=int), 3, axis=0), [0, 1, 2] * 3),
    "prism": rc.HyperplaneArrangement([[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, -1, 0]], [0, 0, 0, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES)
def test_known_families(name):
    arrangement = FAMILIES[name]
    if not arrangement.n_hyperplanes:
        assert [point for _, point in arrangement.regions()] == [(0, 0, 0)]
        assert arrangement.n_regions() == 1
        return
    assert_zaslavsky(arrangement).check_invariants()


@pytest.mark.nojit
@pytest.mark.parametrize(("dim", "number"), [(3, 6), (4, 6), (3, 8)])
def test_general_position(dim, number):
    rng = np.random.default_rng(dim)
    arrangement = rc.HyperplaneArrangement(rng.normal(size=(number, dim)), rng.normal(size=number))
    partition = rc.subdivide(arrangement.network(), "all")
    assert partition.n_pieces == sum(comb(number, k) for k in range(dim + 1))
    assert int(partition.bounded.sum()) == comb(number - 1, dim)


def test_constant_units_make_no_cut():
    network = rc.from_layers([([[0, 0, 0], [1, 0, 0], [0, 0, 0]], [1, 0, 0]), "relu", ([[1, 1, 1]], [0]), "abs"])
    partition = rc.subdivide(network, "all")
    assert {tuple(row) for row in partition.patterns.tolist()} == {(1, 1, 0, 1), (1, 0, 0, 1)}


# ------------------------------------------------------------------------------------------------ what changes nothing


@pytest.mark.parametrize("seed", range(8))
def test_metamorphic(seed):
    rng = Random(seed)
    dim = 3 + seed % 2
    values = rng.choice((compare.SMALL, compare.MIXED))
    weight = [[F(rng.choice(values)) for _ in range(dim)] for _ in range(7)]
    bias = [F(rng.choice(values)) for _ in range(7)]
    second = ([[F(rng.choice(values)) for _ in range(7)] for _ in range(2)], [F(1), F(-1, 2)])

    def counts(weight, bias):
        network = rc.from_layers([(weight, bias), "relu", second, "relu"])
        partition = rc.subdivide(network, "all")
        return partition.count("activation"), int(partition.bounded.sum())

    expected = counts(weight, bias)
    order = rng.sample(range(dim), dim)
    assert counts([[row[k] for k in order] for row in weight], bias) == expected
    shift = [F(rng.randint(-(10**9), 10**9), 7) for _ in range(dim)]
    moved = [b + sum(a * x for a, x in zip(row, shift, strict=True)) for row, b in zip(weight, bias, strict=True)]
    assert counts(weight, moved) == expected
    scale = F(2) ** rng.choice((-70, 70))
    assert counts([[scale * a for a in row] for row in weight], bias) == expected
    sheared = [[row[0] + 3 * row[1], *row[1:-1], row[-1] - 2 * row[0]] for row in weight]
    assert counts(sheared, bias) == expected


@pytest.mark.parametrize("seed", range(6))
def test_one_more_coordinate_and_one_more_layer(seed):
    rng = Random(seed)
    network, _ = drawn(rng, 2)
    try:
        flat = rc.subdivide(network, "all")
    except NeedsConicEngine:
        return
    project = ([[1, 0, 0], [0, 1, 0]], [0, 0])
    solid = rc.subdivide(rc.Network(3, [rc.from_layers([project]).layers[0], *network.layers]), "all")
    assert words(solid.patterns) == words(flat.patterns)
    assert solid.counts() == flat.counts()
    assert not solid.bounded.any()
    profile = [entry["activation"] for entry in solid.depth_profile]
    assert profile == sorted(profile)


def test_parts_of_a_box_have_at_least_as_many_regions_together():
    arrangement = random_arrangement(Random(5), 3, 8, 2)
    network = arrangement.network()
    whole = active(network, "-1:1,-1:1,-1:1")
    parts = [active(network, ",".join(sides)) for sides in product(("-1:0", "0:1"), repeat=3)]
    assert max(parts) <= whole <= sum(parts)


# ------------------------------------------------------------------------------------------------------------- growth


def sphere(number):
    """Rational unit vectors."""
    rows = []
    for k in range(number):
        s, t = F(k % 20 - 10, 6), F(k // 20 - 5, 5) + F(k % 7, 50)
        d = s * s + t * t + 1
        rows.append([2 * s / d, 2 * t / d, (s * s + t * t - 1) / d])
    return rows


@pytest.mark.slow
def test_a_piece_with_many_facets():
    rows = sphere(200)
    assert len({tuple(row) for row in rows}) == 200
    rows += [[0, 0, 1], [0, 0, -1], [1, 0, 0], [-1, 0, 0]]
    weight = [[[0, 0, 0], *rows]]
    network = rc.Network(3, [rc.Maxout(weight, [[F(1), *[F(0)] * len(rows)]])])
    partition = rc.subdivide(network, "all")
    assert partition.n_pieces == active(network, "all") == len(rows) + 1
    first = int(np.flatnonzero(partition.patterns[:, 0])[0])
    offsets = partition.halfspaces[1]
    assert offsets[first + 1] - offsets[first] == len(rows)
    assert partition.bounded.tolist() == [p == first for p in range(partition.n_pieces)]
    partition.check_invariants()


def test_a_maxout_unit_of_high_rank():
    rows = sphere(60)  # all hyperplanes through one point: every sign there is asked
    network = rc.Network(3, [rc.Maxout([rows], [[F(0)] * 60])])
    assert active(network, "all") == rc.subdivide(network, "all").n_pieces


@pytest.mark.parametrize("exact", [False, True])
def test_names_of_vertices_when_facets_are_dropped(exact):
    # a pencil of planes cut one after the other: all have facet numbers until these run out.  The vertices on the axis
    # got their names from planes that are then forgotten
    k = 68
    rows = [[0, 0, 1], *([k + 40 - i, i + 3, 0] for i in range(k)), [1, 2, 1], [2, -1, 1], [1, 1, -1]]
    offsets = [0] * (k + 1) + [1, -1, 2]
    order = flatten(lower(rc.HyperplaneArrangement(rows, offsets).network(), True)).order[: len(rows)]
    placed = sorted(zip(order.tolist(), rows, offsets, strict=True))
    arrangement = rc.HyperplaneArrangement([row for _, row, _ in placed], [c for _, _, c in placed])
    assert active(arrangement.network(), "all", exact=exact) == arrangement.n_regions()


def test_pools_frames_leaves_and_tables_grow(monkeypatch):
    arrangement = random_arrangement(Random(1), 4, 10)
    network, expected = arrangement.network(), arrangement.n_regions()
    for name, value in (("VERTICES", 8), ("FACETS", 6), ("LEAVES", 3), ("FRAMES", 8), ("TABLE", 16), ("REQUESTS", 4)):
        assert hasattr(polytopes.PolytopeRun, name)
        monkeypatch.setattr(polytopes.PolytopeRun, name, value)
    for exact in (False, True):
        assert active(network, "all", exact=exact) == expected
        assert rc.subdivide(network, "all", exact=exact).n_pieces == expected
    assert len(list(regions(network, "all"))) == expected


@pytest.mark.nojit
def test_pools_grow_uncompiled(monkeypatch):
    for name, value in (("VERTICES", 8), ("FACETS", 6), ("LEAVES", 3), ("FRAMES", 8), ("TABLE", 16), ("REQUESTS", 4)):
        monkeypatch.setattr(polytopes.PolytopeRun, name, value)
    network = rc.Network(3, [rc.Maxout([sphere(9), sphere(4)], [[F(0)] * 9, [F(1), 0, 0, 0]])])
    usual, exact = (rc.subdivide(network, "all", exact=exact) for exact in (False, True))
    assert words(usual.patterns) == words(exact.patterns)
    assert active(network, "all") == usual.n_pieces


def test_limits():
    network = random_arrangement(Random(2), 3, 8).network()
    with pytest.raises(TooManyPieces, match=r"max_pieces: .* more than 5 pieces"):
        rc.subdivide(network, "all", max_pieces=5)
    assert rc.subdivide(network, "all", max_pieces=rc.subdivide(network, "all").n_pieces).n_pieces > 5
    wide = rc.from_layers([([[1] * 17], [0]), "relu"])
    with pytest.raises(InputError, match="domain: expected a box of dimension 16 or less, got dimension 17"):
        rc.count(wide, ",".join(["-1:1"] * 17))
    assert active(wide, "all") == 2


def test_boxes_of_many_dimensions():
    rng = Random(3)
    rows = [[rng.choice((-1, 1)) for _ in range(10)] for _ in range(3)]
    assert active(rc.HyperplaneArrangement(rows, [0, 0, 0]).network(), ",".join(["-1:1"] * 10)) == 8
    corner = rc.HyperplaneArrangement([[1] * 10], [F(19, 2)]).network()
    assert active(corner, ",".join(["0:1"] * 10)) == 1 + 1
    assert active(rc.from_layers([([[1] + [0] * 15], [0]), "relu"]), ",".join(["-1:1"] * 16)) == 2


# ------------------------------------------------------------------------------------------------------------- floats


def length(vector):
    """An upper bound of the 2-norm of an exact vector, and close to it."""
    return F(float(sum(x * x for x in vector)) ** 0.5) * (1 + F(1, 2**40))


@pytest.mark.parametrize("seed", range(300))
def test_radius_of_a_mixture(seed):
    """A vertex between two others is within its radius of the true crossing, whatever the errors of the ends are."""
    rng = Random(seed)
    n = rng.randint(1, 5)
    plane = [F(rng.uniform(-1, 1)) for _ in range(n)]
    size = 2.0 ** -rng.randint(4, 50)
    true = [[F(rng.uniform(-0.9, 0.9)) for _ in range(n)] for _ in range(2)]
    near = [[float(x + F(rng.uniform(-size, size))) for x in v] for v in true]
    radii = [float(length([F(a) - b for a, b in zip(v, t, strict=True)])) for v, t in zip(near, true, strict=True)]
    at = [sum(a * x for a, x in zip(plane, v, strict=True)) for v in true]
    if at[0] * at[1] >= 0:
        plane = [x - y for x, y in zip(*true, strict=True)]
        at = [sum(a * x for a, x in zip(plane, v, strict=True)) for v in true]
        if at[0] * at[1] >= 0:
            return
    values = [abs(sum(float(a) * x for a, x in zip(plane, v, strict=True))) for v in near]
    bounds = [
        float(abs(abs(F(value)) - abs(exact))) * (1 + 2**-40) for value, exact in zip(values, at, strict=True)
    ]
    part = values[0] / (values[0] + values[1])
    vertex = [a + part * (b - a) for a, b in zip(*near, strict=True)]
    gap = sum((a - b) ** 2 for a, b in zip(*near, strict=True)) ** 0.5
    radius = predicates.mixture_radius(*radii, part, sum(values), *bounds, gap, n)
    share = abs(at[0]) / (abs(at[0]) + abs(at[1]))
    crossing = [a + share * (b - a) for a, b in zip(*true, strict=True)]
    assert length([F(x) - y for x, y in zip(vertex, crossing, strict=True)]) <= F(radius) if radius < 1 else True


def test_radius_of_a_solution_counts_the_errors_of_its_rows():
    # x + y = 1 and x + (1 − d) y = 1 with an error of d in the last slope may be parallel
    for d in (1e-3, 1e-7):
        off = 2.0 / d * d  # |C| times the errors of the rows
        assert predicates.solution_radius(off, 0.0, 1.0, 3) == np.inf
    assert predicates.solution_radius(1e-8, 1e-10, 1.0, 3) < 1.05e-8
    assert predicates.solution_radius(np.nan, 0.0, 1.0, 3) == np.inf
    assert predicates.solution_radius(0.0, np.nan, 1.0, 3) == np.inf
    assert predicates.solution_radius(np.inf, 0.0, 1.0, 3) == np.inf


def test_bounds_do_not_trust_what_is_no_number():
    assert predicates.mixture_radius(np.inf, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 3) == np.inf
    assert predicates.mixture_radius(0.0, 0.0, np.nan, np.nan, 0.0, 0.0, 1.0, 3) == np.inf
    assert predicates.scaled_radius(1e-17, 0.0, 3) == np.inf
    assert predicates.hyperplane_error(0.0, 0.0, 3) == np.inf
    assert predicates.hyperplane_error(0.0, np.inf, 3) == np.inf
    assert predicates.quotient_range(1.0, 1e-17, 1e-16) == (-np.inf, np.inf)
    assert predicates.norm_bound(0.0) > 2.0**-537  # the square of which is lost
    assert predicates.decide(1.0, np.nan) == predicates.UNDECIDED


@pytest.mark.parametrize("power", [-620, -560, -400, 400, 560])
def test_tiny_and_huge_weights(power):
    """Squares of weights underflow or overflow; planes through one point up to rounding."""
    rng = Random(power)
    rows = [[F(rng.randint(-9, 9), 7) for _ in range(3)] for _ in range(6)] + [[F(1, 3), F(1, 7), F(2, 7)]]
    arrangement = rc.HyperplaneArrangement(rows, [sum(row) / 3 for row in rows])
    scaled = [[float(x) * 2.0**power for x in row] for row in rows]
    offsets = [float(c) * 2.0**power for c in arrangement.offsets]
    network = rc.HyperplaneArrangement(scaled, offsets).network()
    expected = rc.HyperplaneArrangement(np.array(rows, dtype=float), np.array(arrangement.offsets, dtype=float))
    for domain in ("all", "-1:1,-1:1,-1:1"):
        assert active(network, domain) == active(network, domain, exact=True)
    assert active(network, "all") == expected.n_regions()


def test_beyond_the_range_of_floats():
    far = rc.from_layers([([[1, 0, 0], [0, 1, 0]], [-1.7e308, 1.7e308]), "relu"])
    partition = rc.subdivide(far, "all")
    assert partition.n_pieces == 4
    assert np.isfinite(partition.interior_points).all()
    assert len(list(regions(far, "all"))) == 4
    flat = rc.from_layers([([["1/1" + "0" * 200, 0, 0], [0, 1, 0]], ["1" + "0" * 200, 1]), "relu"])
    partition = rc.subdivide(flat, "all")
    assert partition.n_pieces == 4
    assert np.isinf(partition.halfspaces[0]).any()
    small = rc.Box([F(10) ** 300] * 3, [F(10) ** 300 + F(1, 10**300)] * 3)
    assert rc.subdivide(far, small).interior_points.shape == (1, 3)


# --------------------------------------------------------------------------------------------------------- partitions

RELU_3D = {
    "format": "regioncount-network", "version": 1, "input_dim": 3, "layers": [
        {"type": "affine", "weight": [[1, 1, 0], [1, 0, -1], [0, 1, 2], [1, -1, 1]], "bias": [0, "1/2", 0, 0]},
        {"type": "relu"},
        {"type": "affine", "weight": [[1, -1, 1, 0], [0, 1, 1, -2]], "bias": [0, -1]}, {"type": "relu"},
        {"type": "affine", "weight": [[1, -1], [2, 1]], "bias": [0, 3]},
    ],
}  # fmt: skip


def exact_row(row):
    scale = max(map(abs, row[:-1]))
    return tuple(F(x) / scale for x in row)


@pytest.mark.nojit
def test_orthants_of_a_cube_have_six_facets():
    partition = rc.subdivide(rc.from_layers([(np.eye(3).tolist(), [0, 0, 0]), "abs"]), "-1:1,-1:1,-1:1")
    rows, offsets = partition.halfspaces
    assert np.diff(offsets).tolist() == [6] * 8
    for piece, point in enumerate(partition.interior_points):
        mine = rows[offsets[piece] : offsets[piece + 1]]
        assert (mine[:, :-1] @ point + mine[:, -1] > 0).all()
    corner = {tuple(row) for row in rows[: offsets[1]].tolist()}
    signs = 2 * partition.patterns[0].astype(int) - 1
    expected = set()
    for i in range(3):
        expected |= {(*(float(signs[i] * (i == j)) for j in range(3)), 0.0)}
        expected |= {(*(float(-signs[i] * (i == j)) for j in range(3)), 1.0)}
    assert {tuple(x + 0.0 for x in row) for row in corner} == {tuple(x + 0.0 for x in row) for row in expected}


@pytest.mark.parametrize("domain", [[[-1, 1]] * 3, None])
def test_halfspaces_are_the_facets(domain):
    """Exactly those forms of the oracle's cells that are not implied by the others."""
    import lp_oracle

    text = "all" if domain is None else "-1:1,-1:1,-1:1"
    network = network_from_dict(RELU_3D)
    partition = rc.subdivide(network, text)
    rows, offsets = partition.halfspaces
    cells = {bytes(cell.pattern): cell for cell in lp_oracle.enumerate_cells(RELU_3D, domain)}
    assert len(cells) == partition.n_pieces
    for piece, pattern in enumerate(partition.patterns):
        forms = list(dict.fromkeys(cells[bytes(pattern)].forms))
        facets = {
            tuple(map(float, exact_row(form)))
            for form in forms
            if lp_oracle._on_hyperplane(form, [other for other in forms if other != form])
        }
        found = [tuple(row) for row in rows[offsets[piece] : offsets[piece + 1]].tolist()]
        assert set(found) == facets
        assert len(found) == len(facets)
    values = network.evaluate(partition.interior_points)
    slopes, constants = partition.maps[:, :, :-1], partition.maps[:, :, -1]
    assert np.allclose(values, (slopes @ partition.interior_points[:, :, None])[:, :, 0] + constants)
    assert np.array_equal(network.activation_pattern(partition.interior_points), partition.patterns)


@pytest.mark.parametrize("dim", [3, 4])
def test_points_of_regions_are_inside_the_box(dim):
    network = random_arrangement(Random(dim), dim, 7, 2).network()
    found = list(regions(network, ",".join(["-1/3:5/7"] * dim)))
    assert len(found) == active(network, ",".join(["-1/3:5/7"] * dim))
    for pattern, point in found:
        assert all(F(-1, 3) < x < F(5, 7) for x in point)
        values = [sum(w * x for w, x in zip(row, point, strict=True)) + b for row, b in zip(
            network.layers[0].weight.fractions(), network.layers[0].bias.fractions(), strict=True)]  # fmt: skip
        assert all(value != 0 and (value > 0) == bool(bit) for value, bit in zip(values, pattern, strict=True))


def test_definitions_differ_where_pieces_touch_in_a_line():
    network = rc.from_layers([([[1, 1, 0], [1, 0, 0], [0, 1, 0]], [0, 0, 0]), "relu", ([[1, -1, -1]], [0])])
    for domain in ("all", "-1:1,-1:1,-1:1"):
        partition = rc.subdivide(network, domain)
        expected = {"activation": 6, "cells": 6, "linear": 6, "linear_closed": 5, "affine_maps": 5}
        assert partition.counts() == expected
        assert rc.count(network, domain, definitions=rc.DEFINITIONS).counts == expected
        partition.check_invariants()


def test_definitions_differ_where_pieces_touch_in_a_point():
    # the least coordinate where all are positive, the greatest where all are negative, else 0: pieces of the map x meet
    # in the origin alone
    network = rc.from_layers(
        [
            ([[1, -1, 0], [-1, 1, 0], [1, 0, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1]], [0] * 6), "relu",
            (
                [[-1, 0, 1, -1, -1, 1], [0, -1, -1, 1, 1, -1], [-1, 0, 1, -1, 0, 0], [1, 0, -1, 1, 0, 0],
                 [0, 1, 1, -1, 0, 0], [0, -1, -1, 1, 0, 0]], [0] * 6,
            ), "relu",
            ([[-1, 0, 1, -1, 0, 0], [0, -1, 0, 0, -1, 1]], [0, 0]), "relu", ([[1, -1]], [0]),
        ]
    )  # fmt: skip
    for domain in ("all", "-1:1,-1:1,-1:1"):
        partition = rc.subdivide(network, domain)
        assert [partition.count(name) for name in ("linear", "linear_closed", "affine_maps")] == [7, 4, 4]
        partition.check_invariants()


def test_what_is_refused():
    partition = rc.subdivide(network_from_dict(RELU_3D), "all")
    with pytest.raises(InputError, match="definitions: R1 is counted in one and two dimensions, got 3"):
        partition.count("R1")
    with pytest.raises(InputError, match="decision boundary is drawn in one and two dimensions, got 3"):
        partition.decision_boundary()
    with pytest.raises(InputError, match="halfspaces: expected a partition of dimension 3 or more, got dimension 2"):
        _ = rc.subdivide(rc.from_layers([([[1, 0]], [0]), "relu"]), "all").halfspaces
    with pytest.raises(InputError, match="'polygon' does not take a domain of dimension 3"):
        rc.count(network_from_dict(RELU_3D), "all", method="polygon")
    head = {key: {"weight": [[1, 0, 0], [0, 1, 0]], "bias": [0, 0]} for key in ("query", "key", "value")}
    head["output"] = {"weight": [[1, 0], [0, 1], [0, 0]], "bias": [0, 0, 0]}
    quadratic = {
        "format": "regioncount-network", "version": 1, "input_dim": 3, "layers": [
            {"type": "embed", "weight": [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]]],
             "bias": [[0, 0, 0], [1, 0, 0]]},
            {"type": "attention", "residual": True, "heads": [head]}, {"type": "readout", "token": 0},
        ],
    }  # fmt: skip
    with pytest.raises(NeedsConicEngine, match=r"layers\[1\] \(attention\): a score is quadratic") as caught:
        rc.count(network_from_dict(quadratic), "all")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("domain", ["all", "-1:1,-2:2,0:3"])
@pytest.mark.parametrize("kind", ["relu", "maxout", "fixed_query"])
def test_invariants_hold(kind, domain):
    import space

    for seed in range(3):
        rc.subdivide(network_from_dict(space.draw(kind, 3, Random(seed))), domain).check_invariants()


def broken(partition, what):
    """A partition with one thing wrong, and what should be said of it."""
    n = partition.n_pieces
    patterns, maps, points = partition.patterns.copy(), partition.maps.copy(), partition.interior_points.copy()
    rows, offsets = (array.copy() for array in partition.halfspaces)
    if what == "pattern":
        patterns[2, 0] ^= 1
        return replace(partition, patterns=patterns), "piece 2: its pattern"
    if what == "map":
        maps[1, 0, 3] += 0.01
        return replace(partition, maps=maps), "piece 1: its map"
    if what == "maps of all pieces":
        return replace(partition, maps=maps + np.array([0, 0, 0, 1.0])), "its map gives the network's output"
    if what == "points":
        points[[0, 3]] = points[[3, 0]]
        return replace(partition, interior_points=points), "piece 0: its interior point lies inside its half-spaces"
    if what == "no number":
        points[4, 1] = np.nan
        return replace(partition, interior_points=points), "row 4: interior_points are finite"
    if what == "shape":
        return replace(partition, interior_points=points[:, :2]), "interior_points: expected floats of shape"
    if what == "profile":
        profile = [*partition.depth_profile[:-1], partition.depth_profile[-1] | {"activation": n + 1}]
        return replace(partition, depth_profile=profile), "depth_profile|activation regions"
    wrong = replace(partition)
    if what == "hole":  # a facet is moved into the piece
        rows[offsets[1] : offsets[2], -1] -= 0.05
        wrong.__dict__["halfspaces"] = rows, offsets
        return wrong, "lies in no piece|piece 1"
    if what == "overlap":
        rows[offsets[1] : offsets[2], -1] += 3.0
        wrong.__dict__["halfspaces"] = rows, offsets
        return wrong, "lies in several pieces"
    if what == "offsets":
        wrong.__dict__["halfspaces"] = rows, offsets[:-1]
        return wrong, "halfspaces: shape of the offsets"
    if what == "scale":
        rows[0] *= 2
        wrong.__dict__["halfspaces"] = rows, offsets
        return wrong, "half-space 0: its greatest coefficient is 1"
    wrong.__dict__["bounded"] = ~partition.bounded
    return wrong, "piece 0: it is bounded"


@pytest.mark.parametrize(
    "what",
    ["pattern", "map", "maps of all pieces", "points", "no number", "shape", "profile", "hole", "overlap", "offsets",
     "scale", "bounded"],
)  # fmt: skip
def test_broken_partitions_are_refused(what):
    partition = rc.subdivide(network_from_dict(RELU_3D), "-1:1,-1:1,-1:1")
    partition.check_invariants()
    wrong, message = broken(partition, what)
    with pytest.raises(AssertionError, match=message):
        wrong.check_invariants()


def test_a_jump_between_maps_of_a_continuous_network_is_refused():
    """A map that is off by more than the network can be, where the network itself is not asked."""
    from regioncount import invariants

    partition = rc.subdivide(network_from_dict(RELU_3D), "-1:1,-1:1,-1:1")
    maps = partition.maps.copy()
    maps[1, 0, 3] += 0.01
    wrong = replace(partition, maps=maps)
    frame = invariants._space_frame(wrong)
    with pytest.raises(AssertionError, match="since the network is continuous"):
        invariants._space_continuity(
            wrong, invariants._HalfSpaces.of(wrong, frame), invariants._Maps.of(wrong, frame), frame
        )
