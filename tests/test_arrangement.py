"""Hyperplane arrangements: exact counts in any position against independent slow ones, identities, files, bad input."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from fractions import Fraction
from itertools import combinations, product
from math import comb
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import regioncount as rc
from regioncount import bounds, flats
from regioncount.arrangement import IntegerPolynomial

DATA = Path(__file__).parent / "data"
KNOWN = json.loads((DATA / "arrangements.json").read_text())["arrangements"]
PEERS = json.loads((DATA / "peers" / "counts.json").read_text())
KEYS = [
    "arrangement", "domain", "dim", "hyperplanes", "regions", "bounded_regions", "general_position", "central",
    "essential", "characteristic_polynomial", "method", "certified", "seconds", "note",
]  # fmt: skip


# -------------------------------------------------------------------------------- independent and slow


def rank(rows) -> int:
    rows = [list(map(Fraction, row)) for row in rows]
    found = 0
    for c in range(len(rows[0]) if rows else 0):
        at = next((i for i in range(found, len(rows)) if rows[i][c]), None)
        if at is None:
            continue
        rows[found], rows[at] = rows[at], rows[found]
        for i in range(found + 1, len(rows)):
            factor = rows[i][c] / rows[found][c]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


def whitney(normals, offsets, n) -> list[int]:
    """Whitney's theorem: sum over the subsets with a common point of (-1)^size t^(n - rank)."""
    coefficients = [0] * (n + 1)
    rows = [(*a, c) for a, c in zip(normals, offsets, strict=True)]
    for size in range(len(rows) + 1):
        for subset in combinations(rows, size):
            r = rank([row[:-1] for row in subset])
            if rank(subset) == r:
                coefficients[n - r] += (-1) ** size
    return coefficients


def flats_of(normals, offsets, n) -> dict[frozenset[int], int]:
    """All flats, as sets of hyperplanes, with their dimensions: closures of subsets with a common point."""
    rows = [(*a, c) for a, c in zip(normals, offsets, strict=True)]
    found = {}
    for size in range(min(n, len(rows)) + 1):
        for subset in combinations(range(len(rows)), size):
            chosen = [rows[i] for i in subset]
            r = rank([row[:-1] for row in chosen])
            if rank(chosen) == r:
                closure = frozenset(i for i in range(len(rows)) if rank([*chosen, rows[i]]) == r)
                found[closure] = n - r
    return found


def slow_faces(normals, offsets, n) -> list[int]:
    """f_k = sum over flats X of dimension k, and flats Y inside it, of |mu(X, Y)|."""
    lattice = flats_of(normals, offsets, n)
    order = sorted(lattice, key=len)
    counts = [0] * (n + 1)
    for x in order:
        mu = {x: 1}
        for y in order:
            if x < y:
                mu[y] = -sum(value for z, value in mu.items() if z < y)
        counts[lattice[x]] += sum(map(abs, mu.values()))
    return counts


@st.composite
def degenerate(draw, most=8, dims=(1, 5), size=2):
    """Small integers, so that parallel, concurrent and repeated hyperplanes are common."""
    n = draw(st.integers(*dims))
    m = draw(st.integers(0, most))
    entry = st.integers(-size, size)
    normals = draw(st.lists(st.lists(entry, min_size=n, max_size=n).filter(any), min_size=m, max_size=m))
    offsets = draw(st.lists(entry, min_size=m, max_size=m))
    return rc.HyperplaneArrangement(normals, offsets, dim=n)


def numbers(arrangement):
    return arrangement.normals.tolist(), arrangement.offsets.tolist(), arrangement.dim


def same(first, second) -> None:
    assert first.characteristic_polynomial() == second.characteristic_polynomial()
    assert first.face_vector() == second.face_vector()


# -------------------------------------------------------------------------------- known values


@pytest.mark.parametrize("row", KNOWN, ids=range(len(KNOWN)))
def test_known(row) -> None:
    arrangement = rc.HyperplaneArrangement([h[:-1] for h in row["H"]], [h[-1] for h in row["H"]])
    assert arrangement.dim == row["n"]
    assert arrangement.n_regions() == row["regions"]
    assert arrangement.n_bounded_regions() == row["bounded"]


@pytest.mark.parametrize("name", ["lines_50", "lines_500", "lines_2000", "hyperplanes_4d_20", "hyperplanes_6d_20"])
def test_peers(name: str) -> None:
    arrangement = rc.load_arrangement(DATA / "peers" / f"{name}.npz")
    m, n = arrangement.n_hyperplanes, arrangement.dim
    assert arrangement.n_regions() == PEERS[name]["activation"].get("all", bounds.zaslavsky(m, n))
    assert arrangement.n_bounded_regions() == bounds.zaslavsky_bounded(m, n)
    assert arrangement.is_general_position and arrangement.is_simple and arrangement.is_essential
    assert not arrangement.is_central


@pytest.mark.parametrize("n", range(1, 9))
def test_zaslavsky_in_general_position(n: int) -> None:
    for m in (0, 1, n, n + 1, n + 3):
        arrangement = rc.hyperplane_arrangements.generic(m, n, seed=m)
        assert arrangement.n_regions() == bounds.zaslavsky(m, n)
        assert arrangement.is_general_position
        if m >= n:  # essential
            assert arrangement.n_bounded_regions() == bounds.zaslavsky_bounded(m, n)


def test_twenty_degenerate_hyperplanes_of_six_dimensions() -> None:
    random = Random(1)
    rows = [[random.randint(-5, 5) for _ in range(7)] for _ in range(20)]
    arrangement = rc.HyperplaneArrangement([row[:-1] for row in rows], [row[-1] for row in rows])
    first = arrangement.n_regions()
    assert first < bounds.zaslavsky(20, 6) or arrangement.is_general_position
    assert first == arrangement.deletion(7).n_regions() + arrangement.restriction(7).n_regions()


def test_a_grid_of_lines_and_a_pencil() -> None:
    grid = rc.HyperplaneArrangement([[1, 0]] * 40 + [[0, 1]] * 30, [*range(40), *range(30)])
    assert (grid.n_regions(), grid.n_bounded_regions()) == (41 * 31, 39 * 29)
    assert grid.face_vector() == (1200, 40 * 31 + 30 * 41, 41 * 31)
    pencil = rc.HyperplaneArrangement([[k, 1] for k in range(500)], [3 * k + 7 for k in range(500)])
    assert (pencil.n_regions(), pencil.n_bounded_regions(), pencil.is_central) == (1000, 0, True)
    assert pencil.face_vector() == (1, 1000, 1000)


def test_floats_that_nearly_meet_are_told_from_those_that_do() -> None:
    meet = [[0.1, 0.3], [0.7, -0.2], [0.1 + 0.7, 0.3 - 0.2]]
    exact = [[Fraction(x) for x in row] for row in meet[:2]]
    exact.append([a + b for a, b in zip(*exact, strict=True)])
    concurrent = rc.HyperplaneArrangement(exact, [0, 0, 0])
    assert concurrent.n_regions() == 6
    tiny = Fraction(1, 2**200)
    assert rc.HyperplaneArrangement(exact, [0, 0, tiny]).n_regions() == 7
    assert rc.HyperplaneArrangement([[1, 1e-300], [1, 0], [1, -1e-300]], [0, 0, 1e-310]).n_regions() == 7
    assert rc.HyperplaneArrangement([[1, 1e-300], [1, 0], [1, -1e-300]], [0, 0, 0]).n_regions() == 6
    scale = 2**31 - 1  # zero modulo the first prime
    assert rc.HyperplaneArrangement([[1, 0], [0, 1], [1, 1]], [0, 0, scale]).n_regions() == 7
    assert rc.HyperplaneArrangement([[scale, 1], [scale, -1], [1, 0]], [0, 0, 1]).n_regions() == 7
    assert rc.HyperplaneArrangement([[scale, 1], [2 * scale, 1]], [0, 0]).n_regions() == 4


def test_many_digits_are_refused() -> None:
    huge = Fraction(10**250) + Fraction(1, 10**4000)
    arrangement = rc.HyperplaneArrangement([[huge] * 40 for _ in range(41)], list(range(41)))
    with pytest.raises(rc.InputError, match="normals: expected numbers of fewer digits"):
        arrangement.n_regions()


# -------------------------------------------------------------------------------- independent counts


@settings(deadline=None, max_examples=120)
@given(degenerate())
def test_whitneys_theorem(arrangement) -> None:
    distinct = arrangement.distinct()
    slow = whitney(*numbers(distinct))
    chi = arrangement.characteristic_polynomial()
    assert list(chi) == slow
    assert distinct.characteristic_polynomial() == chi and distinct.n_hyperplanes == arrangement.n_distinct
    n = arrangement.dim
    assert arrangement.n_regions() == (-1) ** n * chi(-1)
    assert arrangement.n_bounded_regions() == (-1) ** arrangement.rank * chi(1)
    assert arrangement.poincare_polynomial()(1) == arrangement.n_regions()
    assert arrangement.poincare_polynomial() == tuple(abs(c) for c in slow[::-1])
    rows = [(*a, c) for a, c in zip(*numbers(arrangement)[:2], strict=True)]
    assert arrangement.rank == rank([row[:-1] for row in rows])
    assert arrangement.is_essential == (arrangement.rank == n)
    assert arrangement.is_central == (rank(rows) == arrangement.rank)


@settings(deadline=None, max_examples=60)
@given(degenerate(most=7, dims=(1, 4)))
def test_faces_against_the_lattice(arrangement) -> None:
    faces = arrangement.face_vector()
    assert list(faces) == slow_faces(*numbers(arrangement.distinct()))
    assert sum((-1) ** k * f for k, f in enumerate(faces)) == (-1) ** arrangement.dim


@settings(deadline=None, max_examples=60)
@given(degenerate(most=7, dims=(1, 4)))
def test_general_position_by_its_definition(arrangement) -> None:
    normals, offsets, n = numbers(arrangement.distinct())
    rows = [(*a, c) for a, c in zip(normals, offsets, strict=True)]
    slow = all(
        rank([row[:-1] for row in subset]) == size
        for size in range(1, n + 1)
        for subset in combinations(rows, size)
    ) and all(rank(subset) == n + 1 for subset in combinations(rows, n + 1))
    assert arrangement.is_general_position == slow


@settings(deadline=None, max_examples=60)
@given(degenerate(most=10, size=1), st.randoms(use_true_random=False))
def test_deletion_and_restriction(arrangement, random) -> None:
    whole = arrangement.distinct()
    n, m = whole.dim, len(whole)
    if n == 1 or not m:
        return
    i = random.randrange(m)
    less, on = whole.deletion(i), whole.restriction(i)
    assert (len(less), on.dim) == (m - 1, n - 1)
    chi, padded = less.characteristic_polynomial(), (*on.characteristic_polynomial(), 0)
    assert whole.characteristic_polynomial() == tuple(a - b for a, b in zip(chi, padded, strict=True))
    assert whole.face_vector()[n - 1] == sum(whole.restriction(k).n_regions() for k in range(m))
    # coordinates: a point of the hyperplane lies on those whose restriction its other coordinates lie on
    normal = whole.normals[i].tolist()
    c = next(k for k, x in enumerate(normal) if x)
    y = [Fraction(random.randint(-1, 1)) for _ in range(n - 1)]
    point = [*y[:c], Fraction(0), *y[c:]]
    point[c] = (whole.offsets[i] - sum(a * b for a, b in zip(normal, point, strict=True))) / normal[c]
    signs = whole.sign_vector(point)
    assert signs[i] == 0
    assert bool((np.delete(signs, i) == 0).any()) == bool((on.sign_vector(y) == 0).any())


@settings(deadline=None, max_examples=40)
@given(degenerate(most=9), st.randoms(use_true_random=False))
def test_invariance(arrangement, random) -> None:
    normals, offsets, n = numbers(arrangement)
    shear = [[int(i == j) for j in range(n)] for i in range(n)]
    for _ in range(4):  # a unimodular matrix
        i, j = random.randrange(n), random.randrange(n)
        if i != j:
            factor = random.randint(-3, 3)
            shear[i] = [a + factor * b for a, b in zip(shear[i], shear[j], strict=True)]
    shift = [random.randint(-5, 5) for _ in range(n)]
    rows = []
    for normal, offset in zip(normals, offsets, strict=True):
        turned = [sum(x * shear[k][c] for k, x in enumerate(normal)) for c in range(n)]
        factor = Fraction(random.choice((-3, -1, 2, 7)), random.randint(1, 4))
        rows.append([x * factor for x in (*turned, offset + sum(map(Fraction.__mul__, normal, map(Fraction, shift))))])
    random.shuffle(rows)
    # y -> shear y + shift turns normals into normals·shear and moves offsets by normals·shift
    moved = rc.HyperplaneArrangement([row[:-1] for row in rows], [row[-1] for row in rows], dim=n)
    same(arrangement, moved)


@settings(deadline=None, max_examples=40)
@given(degenerate(most=7))
def test_essentialization_and_products(arrangement) -> None:
    if not len(arrangement):
        with pytest.raises(rc.InputError, match="essentialization: expected hyperplanes"):
            arrangement.essentialization()
        return
    essential = arrangement.essentialization()
    lineality = arrangement.dim - arrangement.rank
    assert essential.is_essential and essential.dim == arrangement.rank
    assert arrangement.characteristic_polynomial() == (0,) * lineality + essential.characteristic_polynomial()
    assert arrangement.face_vector() == (0,) * lineality + essential.face_vector()
    assert arrangement.n_bounded_regions() == essential.n_bounded_regions()
    normals, offsets, n = numbers(arrangement)
    both = rc.HyperplaneArrangement(
        [[*a, 0, 0] for a in normals] + [[0] * n + [1, 0], [0] * n + [1, 1]], [*offsets, 1, 1]
    )
    assert both.n_regions() == 4 * arrangement.n_regions()
    faces, chi = np.convolve(arrangement.face_vector(), (1, 4, 4)), arrangement.characteristic_polynomial()
    assert both.face_vector() == tuple(faces)
    assert both.characteristic_polynomial() == tuple(np.convolve(chi, (1, -2, 1)))


@settings(deadline=None, max_examples=30)
@given(degenerate(most=6, dims=(1, 3), size=1))
def test_sign_vectors_of_a_grid_are_regions(arrangement) -> None:
    ticks = [Fraction(k, 8) for k in range(-25, 26, 5 if arrangement.dim == 3 else 1)]
    points = list(product(ticks, repeat=arrangement.dim))
    signs = arrangement.sign_vector(points)
    assert signs.shape == (len(points), arrangement.n_hyperplanes) and signs.dtype == np.int8
    assert len({tuple(row) for row in signs.tolist() if all(row)}) <= arrangement.n_regions()
    if len(arrangement):
        patterns = arrangement.network().activation_pattern(np.array(points, dtype=float))
        assert ((signs > 0) == patterns).all()


def test_floats_are_the_rationals_they_are() -> None:
    random = np.random.default_rng(0)
    normals, offsets = random.normal(size=(9, 3)), random.normal(size=9)
    fractions = [[Fraction(x) for x in row] for row in normals.tolist()]
    floats = rc.HyperplaneArrangement(normals, offsets)
    exact = rc.HyperplaneArrangement(fractions, [Fraction(x) for x in offsets.tolist()])
    assert floats == exact and hash(floats) == hash(exact)
    same(floats, exact)
    assert floats.n_regions() == bounds.zaslavsky(9, 3)


def test_primes_that_divide_a_minor_are_exchanged(monkeypatch) -> None:
    exchanged, seen = flats._exchanged, []
    monkeypatch.setattr(flats, "_exchanged", lambda *given: seen.append(given[1]) or exchanged(*given))
    random = Random(3)
    first, second = 2**31 - 1, 2**31 - 19
    entries = (0, 1, -1, first, second, first * second, -2 * first, 3 * second)
    for _ in range(20):
        rows = [[random.choice(entries) for _ in range(4)] for _ in range(6)]
        rows = [row for row in rows if any(row[:-1])]
        arrangement = rc.HyperplaneArrangement([row[:-1] for row in rows], [row[-1] for row in rows], dim=3)
        distinct = numbers(arrangement.distinct())
        assert list(arrangement.characteristic_polynomial()) == whitney(*distinct)
        assert list(arrangement.face_vector()) == slow_faces(*distinct)
    assert {0, 1} <= set(seen)


def test_equal_fingerprints_are_compared(monkeypatch) -> None:
    """With the offset alone as fingerprint many rows look alike; the residues tell them apart."""
    made = flats._Residues.__init__

    def without_mix(self, *given, **named) -> None:
        made(self, *given, **named)
        self.mix[:] = 0

    names = ("generic", "shi", "resonance", "catalan")
    several = [lambda: rc.hyperplane_arrangements.generic(9, 4, seed=2)]
    several += [lambda name=name: getattr(rc.hyperplane_arrangements, name)(4) for name in names[1:]]
    expected = [(make().characteristic_polynomial(), make().face_vector()) for make in several]
    monkeypatch.setattr(flats._Residues, "__init__", without_mix)
    assert [(make().characteristic_polynomial(), make().face_vector()) for make in several] == expected


def test_small_batches_give_the_same(monkeypatch) -> None:
    catalan, resonance = rc.hyperplane_arrangements.catalan(4), rc.hyperplane_arrangements.resonance(4)
    expected = [(a.characteristic_polynomial(), a.face_vector()) for a in (catalan, resonance)]
    monkeypatch.setattr(flats, "_BATCH", 3)
    catalan, resonance = rc.hyperplane_arrangements.catalan(4), rc.hyperplane_arrangements.resonance(4)
    assert [(a.characteristic_polynomial(), a.face_vector()) for a in (catalan, resonance)] == expected


# -------------------------------------------------------------------------------- the class


def test_repeated_hyperplanes_count_once() -> None:
    twice = rc.HyperplaneArrangement([[1, 0], [-2, 0], [0, 1], ["1/3", 0]], [1, -2, 0, "1/3"])
    assert (len(twice), twice.n_distinct, twice.n_regions()) == (4, 2, 4)
    assert twice.sign_vector([2, -1]).tolist() == [1, -1, -1, 1]
    assert twice.distinct() == rc.HyperplaneArrangement([[1, 0], [0, 1]], [1, 0])
    assert twice.deletion(0).n_regions() == 4
    assert twice.restriction(0) == rc.HyperplaneArrangement([[1]], [0])
    assert twice.is_general_position


def test_no_hyperplanes() -> None:
    empty = rc.HyperplaneArrangement([], [], dim=3)
    assert (empty.n_regions(), empty.n_bounded_regions(), empty.face_vector()) == (1, 1, (0, 0, 0, 1))
    assert (empty.characteristic_polynomial(), empty.rank, len(empty)) == ((0, 0, 0, 1), 0, 0)
    assert empty.is_central and not empty.is_essential and empty.is_general_position
    assert empty.sign_vector([[1, 2, 3]]).shape == (1, 0)
    assert [point for _, point in empty.regions()] == [(0, 0, 0)]
    ((signs, point),) = empty.regions("1:2,1:2,1:2")
    assert signs.shape == (0,) and all(1 < x < 2 for x in point)
    assert empty == rc.HyperplaneArrangement(np.zeros((0, 3)), [], dim=3) == pickle.loads(pickle.dumps(empty))
    with pytest.raises(rc.InputError, match="network: expected hyperplanes"):
        empty.network()


def test_immutable_equal_hashable_and_short() -> None:
    lines = rc.HyperplaneArrangement([[1, 0], [0.5, 1]], [0, "1/3"])
    again = rc.HyperplaneArrangement([["1", 0], [Fraction(1, 2), 1]], [0, Fraction(1, 3)])
    assert lines == again and len({lines, again}) == 1 and lines != rc.HyperplaneArrangement([[1, 0]], [0])
    assert lines != "lines" and pickle.loads(pickle.dumps(lines)) == lines
    assert repr(lines) == "<HyperplaneArrangement of 2 hyperplanes in R^2>"
    for attempt in (lambda: setattr(lines, "dim", 3), lambda: delattr(lines, "_normals")):
        with pytest.raises(AttributeError, match="immutable"):
            attempt()


def test_polynomials() -> None:
    p = IntegerPolynomial((0, -1, 0, 2))
    assert (str(p), p(Fraction(1, 2)), p == (0, -1, 0, 2)) == ("2*t^3 - t", Fraction(-1, 4), True)
    known = {(): "0", (0,): "0", (-1,): "-1", (1, 1): "t + 1", (-3, -1): "-t - 3"}
    assert {c: str(IntegerPolynomial(c)) for c in known} == known


def test_network_has_the_same_regions() -> None:
    lines = rc.HyperplaneArrangement([[1, 0], [0, 1], [1, 1]], [0, 0, "1/3"])
    network = lines.network()
    assert network.activation_pattern([[1, 1], [-1, -1]]).tolist() == [[1, 1, 1], [0, 0, 0]]
    assert rc.count(network, "-1:1,-1:1").counts["activation"] == 7


@settings(deadline=None, max_examples=40)
@given(degenerate(most=9, dims=(1, 2)))
def test_the_engine_of_the_whole_plane_agrees(arrangement) -> None:
    if len(arrangement):
        result = rc.count(arrangement.network(), "all")
        assert result.certified and result.counts["activation"] == arrangement.n_regions()


def check_regions(arrangement, domain=None) -> int:
    """Enumerate the regions: each once, each with a point that has its signs."""
    seen = set()
    for signs, point in arrangement.regions(domain):
        assert signs.dtype == np.int8 and all(isinstance(x, Fraction) for x in point)
        assert arrangement.sign_vector(point).tolist() == signs.tolist()
        seen.add(tuple(signs.tolist()))
        assert 0 not in signs
    return len(seen)


@settings(deadline=None, max_examples=40)
@given(degenerate(most=8, dims=(1, 4)))
def test_regions_are_as_many_as_counted(arrangement) -> None:
    assert check_regions(arrangement) == arrangement.n_regions()
    assert sum(1 for _ in arrangement.regions()) == arrangement.n_regions()


@pytest.mark.slow
def test_regions_of_the_peers_and_of_families() -> None:
    peer = rc.load_arrangement(DATA / "peers" / "hyperplanes_4d_20.npz")
    assert check_regions(peer) == 6196
    assert check_regions(peer, "-1:1,-1:1,-1:1,-1:1") == PEERS["hyperplanes_4d_20"]["activation"]["-1:1"]
    assert check_regions(rc.hyperplane_arrangements.braid(4)) == 24
    assert check_regions(rc.hyperplane_arrangements.shi(4)) == 125
    assert check_regions(rc.hyperplane_arrangements.resonance(4)) == 370


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 0], [0, 0]], [0, 0]), r"normals\[1\]: expected a normal that is not zero, got zeros"),
        (([[1, 0]], [0, 0]), r"offsets: expected \(1,\) like normals, got \(2,\)"),
        (([[1, 0]], [[0]]), r"offsets: expected \(1,\) like normals, got \(1, 1\)"),
        (([1, 0], [0, 0]), r"normals: expected \(m, n\)"),
        (([[1, 0], [1]], [0, 0]), r"normals"),
        (([[1, float("nan")]], [0]), r"normals\[0\]\[1\]: expected a finite number"),
        (([[1, 0]], ["1/0"]), r"offsets\[0\]: .* zero denominator"),
        (([], []), "dim: expected the dimension of an arrangement without hyperplanes"),
        (([], [1], 2), r"offsets: expected \(0,\)"),
        (([], [], 0), "dim: expected an integer of at least 1, got 0"),
        (([[1, 0]], [0], 3), "dim: expected 2 like normals, got 3"),
        (("lines", []), "normals: expected a list of rows, got 'lines'"),
        (([[1]], None), "offsets: expected a list of numbers, got None"),
        (([[]], [0]), "normals"),
    ],
)
def test_bad_input(arguments, message: str) -> None:
    with pytest.raises(rc.InputError, match=message):
        rc.HyperplaneArrangement(*arguments)


def test_bad_arguments_of_methods() -> None:
    lines = rc.HyperplaneArrangement([[1, 0], [0, 1]], [0, 0])
    for method, value, message in [
        (lines.deletion, 2, "i: expected a hyperplane, 0 to 1, got 2"),
        (lines.restriction, -1, "i: expected a hyperplane, 0 to 1, got -1"),
        (lines.deletion, True, "i: expected a hyperplane"),
        (lines.sign_vector, [1], r"x: expected \(2,\) or \(k, 2\), got \(1,\)"),
        (lines.sign_vector, [["a", 1]], "x"),
        (rc.HyperplaneArrangement([[1]], [0]).restriction, 0, "restriction: expected dimension 2 or more"),
    ]:
        with pytest.raises(rc.InputError, match=message):
            method(value)


# -------------------------------------------------------------------------------- files


@settings(deadline=None, max_examples=30)
@given(arrangement=degenerate(most=4))
def test_round_trip(tmp_path_factory, arrangement) -> None:
    folder = tmp_path_factory.mktemp("arrangements")
    normals, offsets, n = numbers(arrangement)
    thirds = rc.HyperplaneArrangement(normals, [c / 3 for c in offsets], dim=n)
    rc.save_arrangement(thirds, folder / "a.json")
    assert rc.load_arrangement(folder / "a.json") == thirds
    if len(arrangement):
        rc.save_arrangement(arrangement, folder / "a.npz")
        assert rc.load_arrangement(folder / "a.npz") == arrangement


def test_the_two_forms_mean_the_same(tmp_path: Path) -> None:
    content = {"format": "regioncount-arrangement", "version": 1, "normals": [[1, "1/2"]], "offsets": [0.25]}
    (tmp_path / "a.json").write_text(json.dumps(content))
    np.savez(tmp_path / "a.npz", weight_0=np.array([[1, 0.5]]), bias_0=np.array([-0.25]))
    assert rc.load_arrangement(tmp_path / "a.json") == rc.load_arrangement(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", weight_0=np.array([[1, 2]], np.uint8), bias_0=np.array([-(2**63)]))
    assert rc.load_arrangement(tmp_path / "b.npz") == rc.HyperplaneArrangement([[1, 2]], [2**63])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "regioncount-network"}, "format: expected 'regioncount-arrangement'"),
        ({"version": 2}, "version: expected 1, got 2"),
        ({"version": True}, "version: expected 1, got True"),
        ({"normal": [[1]]}, "unknown key 'normal'"),
        ({"normals": None}, "normals: expected a value, got null"),
        ({"normals": [[0, 0]]}, r"normals\[0\]: expected a normal that is not zero"),
        ({"normals": 3}, "normals: expected a list of rows, got 3"),
        ({"offsets": [float("nan")]}, "expected finite numbers, got NaN"),
        ({"offsets": [1, 2]}, r"offsets: expected \(1,\) like normals"),
        ({"offsets": {"a": 1}}, "offsets: expected a list of numbers"),
        ({"dim": 3}, "dim: expected 2 like normals, got 3"),
    ],
)
def test_bad_json(tmp_path: Path, change, message: str) -> None:
    content = {"format": "regioncount-arrangement", "version": 1, "normals": [[1, 2]], "offsets": [3], **change}
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(content))
    with pytest.raises(rc.InputError, match=message) as caught:
        rc.load_arrangement(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_bad_files(tmp_path: Path) -> None:
    one = np.ones((1, 2))
    for name, arrays, message in [
        ("a.npz", {"weight_0": one}, "expected the arrays weight_0 and bias_0 and no others"),
        ("b.npz", {"weight_0": one, "bias_0": [1.0], "weight_1": one}, "and no others"),
        ("c.npz", {"weight_0": one, "bias_0": one}, r"bias_0: expected numbers \(m,\)"),
        ("d.npz", {"weight_0": one.astype(complex), "bias_0": [1.0]}, r"weight_0: expected numbers \(m, n\)"),
        ("e.npz", {"weight_0": one * np.nan, "bias_0": [1.0]}, r"weight_0\[0\]\[0\]: expected a finite number"),
        ("f.npz", {"weight_0": one * 0, "bias_0": [1.0]}, "weight_0, bias_0: normals.0.: expected a normal"),
        ("g.npz", {"weight_0": one, "bias_0": [1.0, 2.0]}, "weight_0, bias_0: offsets"),
    ]:
        np.savez(tmp_path / name, **arrays)
        with pytest.raises(rc.InputError, match=message):
            rc.load_arrangement(tmp_path / name)
    np.save(tmp_path / "h.npy", one)
    (tmp_path / "h.npy").rename(tmp_path / "h.npz")
    (tmp_path / "i.npz").write_bytes(b"PK\x03\x04 no")
    for name, message in [
        ("h.npz", "not an npz file"),
        ("i.npz", "not an npz file"),
        ("none.json", "cannot read it"),
        ("lines.txt", r"ends in .json or .npz"),
    ]:
        with pytest.raises(rc.InputError, match=message):
            rc.load_arrangement(tmp_path / name)
    third = rc.HyperplaneArrangement([[1, "1/3"]], [0])
    with pytest.raises(rc.InputError, match=r"normals\[0\]\[1\]: expected a float64, got '1/3'"):
        rc.save_arrangement(third, tmp_path / "third.npz")
    with pytest.raises(rc.InputError, match="expected .json for an arrangement without"):
        rc.save_arrangement(rc.HyperplaneArrangement([], [], 2), tmp_path / "none.npz")
    with pytest.raises(rc.InputError, match="arrangement: expected a HyperplaneArrangement"):
        rc.save_arrangement("lines", tmp_path / "lines.json")
    assert not list(tmp_path.glob("third*")) and not list(tmp_path.glob("lines*"))


# -------------------------------------------------------------------------------- the command line


def run(*words) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "regioncount", "arrangement", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.json"
    rc.save_arrangement(rc.HyperplaneArrangement([[1, 0], [0, 1], [1, 1], [2, 2]], [0, 0, "1/2", 1]), path)
    return path


def test_command(lines: Path) -> None:
    done = run(lines, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0 and list(report) == KEYS
    del report["seconds"]
    assert report == {
        "arrangement": str(lines), "domain": "all", "dim": 2, "hyperplanes": 4, "regions": 7, "bounded_regions": 1,
        "general_position": True, "central": False, "essential": True, "characteristic_polynomial": [3, -3, 1],
        "method": "characteristic_polynomial", "certified": True, "note": "3 of the hyperplanes are distinct",
    }  # fmt: skip
    text = run(lines).stdout
    assert "bounded regions                     1" in text and "t^2 - 3*t + 3" in text


def test_command_on_a_domain(lines: Path, tmp_path: Path) -> None:
    done = run(lines, "--domain", "-1:1,-1:1", "--json", "-o", tmp_path / "lines.html")
    report = json.loads(done.stdout)
    assert list(report) == [key for key in KEYS if key != "characteristic_polynomial"]
    assert (report["regions"], report["bounded_regions"], report["certified"]) == (7, None, True)
    assert (tmp_path / "lines.html").stat().st_size > 1000
    assert "in the domain" in run(lines, "--domain=0:1,0:1").stdout


def test_command_in_space(tmp_path: Path) -> None:
    rc.save_arrangement(rc.hyperplane_arrangements.resonance(3), tmp_path / "resonance.json")
    report = json.loads(run(tmp_path / "resonance.json", "--domain=-1:1,-1:1,-1:1", "--json").stdout)
    assert (report["regions"], report["method"], report["certified"]) == (32, "polytope", True)


def test_command_draws_the_whole_plane(lines: Path, tmp_path: Path) -> None:
    done = run(lines, "-o", tmp_path / "lines.html")
    assert "7 regions of 3 lines" in done.stdout and (tmp_path / "lines.html").exists()


def test_command_refuses(lines: Path, tmp_path: Path) -> None:
    rc.save_arrangement(rc.hyperplane_arrangements.shi(3), tmp_path / "shi.json")
    for words, message in [
        ((tmp_path / "shi.json", "-o", tmp_path / "a.html"), "argument -o: expected lines in the plane to draw"),
        ((lines, "--domain=0:1"), "domain"),
        ((lines, "--width", "single"), "argument --width: needs -o"),
        ((tmp_path / "none.json",), "none.json: cannot read it"),
    ]:
        done = run(*words)
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_sum_of_binomials_is_the_face_vector_in_general_position() -> None:
    arrangement = rc.hyperplane_arrangements.generic(8, 3, seed=0)
    rows = list(arrangement._rows)
    assert list(arrangement.face_vector()) == flats.faces(rows, 3)
    assert arrangement.face_vector()[0] == comb(8, 3)
