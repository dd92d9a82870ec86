"""Named families of arrangements against their formulas."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import comb, factorial

import numpy as np
import pytest

import regioncount as rc
from regioncount import bounds
from regioncount import hyperplane_arrangements as families


def catalan_number(n: int) -> int:
    return comb(2 * n, n) // (n + 1)


@pytest.mark.parametrize("n", range(1, 8))
def test_braid(n: int) -> None:
    braid = families.braid(n)
    assert braid.n_regions() == factorial(n)
    assert [braid.characteristic_polynomial()(t) for t in range(n + 2)] == [0] * n + [factorial(n), factorial(n + 1)]
    assert braid.n_bounded_regions() == (n == 1)
    assert (braid.rank, braid.is_central, braid.is_essential) == (n - 1, True, False)


@pytest.mark.parametrize("n", range(1, 6))
def test_faces_of_the_braid_arrangement_are_ordered_partitions(n: int) -> None:
    surjections = [sum((-1) ** j * comb(k, j) * (k - j) ** n for j in range(k + 1)) for k in range(1, n + 1)]
    assert families.braid(n).face_vector() == (0, *surjections)


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_boolean(n: int) -> None:
    boolean = families.boolean(n)
    assert boolean.characteristic_polynomial() == tuple((-1) ** (n - k) * comb(n, k) for k in range(n + 1))
    assert boolean == families.coordinate(n) and boolean.is_essential and boolean.is_central
    if n < 9:
        assert boolean.face_vector() == tuple(comb(n, k) * 2**k for k in range(n + 1))


@pytest.mark.parametrize("n", range(1, 8))
def test_shi_and_ish(n: int) -> None:
    chi = [0] + [comb(n - 1, k) * (-n) ** (n - 1 - k) for k in range(n)]
    for arrangement in (families.shi(n), families.ish(n)):
        assert arrangement.characteristic_polynomial() == tuple(chi)
        assert arrangement.n_regions() == (n + 1) ** (n - 1)
        assert arrangement.n_bounded_regions() == (n - 1) ** (n - 1)


@pytest.mark.parametrize("n", range(1, 7))
def test_catalan(n: int) -> None:
    catalan = families.catalan(n)
    assert catalan.n_regions() == factorial(n) * catalan_number(n)
    assert catalan.n_bounded_regions() == factorial(n) * catalan_number(n - 1)


@pytest.mark.parametrize("n", range(1, 8))
def test_linial(n: int) -> None:
    assert families.linial(n).n_regions() * 2**n == sum(comb(n, k) * (k + 1) ** (n - 1) for k in range(n + 1))


def test_sequences() -> None:
    for family, known in [
        (families.resonance, [2, 6, 32, 370, 11292]),
        (families.threshold, [1, 2, 8, 46, 332, 2874]),
        (families.semiorder, [1, 3, 19, 183, 2371]),
        (families.linial, [1, 2, 7, 36, 246, 2104]),
    ]:
        assert [family(n).n_regions() for n in range(1, len(known) + 1)] == known


@pytest.mark.slow
def test_resonance_in_six_dimensions() -> None:
    assert families.resonance(6).n_regions() == 1_066_044


def test_resonance_is_all_subsets() -> None:
    assert families.resonance(4).n_hyperplanes == 15
    subsets = set(product((0, 1), repeat=3)) - {(0,) * 3}
    assert {tuple(map(int, row)) for row in families.resonance(3).normals} == subsets


# -------------------------------------------------------------------------------- graphs

PETERSEN = [edge for i in range(5) for edge in ((i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5))]


def colourings(edges, n: int, colours: int) -> int:
    return sum(all(c[i] != c[j] for i, j in edges) for c in product(range(colours), repeat=n))


def acyclic_orientations(edges, n: int) -> int:
    found = {tuple(order[i] < order[j] for i, j in edges) for order in permutations(range(n))}
    return len(found)


def test_petersen() -> None:
    chi = families.graphical(PETERSEN).characteristic_polynomial()
    assert [chi(t) for t in range(5)] == [0, 0, 0, 120, 12960]
    assert chi[9] == -15 and chi(-1) == families.graphical(PETERSEN).n_regions() == 16680


@pytest.mark.parametrize("seed", range(8))
def test_graphical(seed: int) -> None:
    n = 5
    rng = np.random.default_rng(seed)
    edges = [edge for edge in combinations(range(n), 2) if rng.random() < 0.55]
    matrix = np.zeros((n, n), dtype=int)
    for i, j in edges:
        matrix[i, j] = matrix[j, i] = 1
    arrangement = families.graphical(edges, n)
    assert arrangement == families.graphical(matrix) == families.graphical([(j, i) for i, j in edges] * 2, n)
    chi = arrangement.characteristic_polynomial()
    assert [chi(t) for t in range(5)] == [colourings(edges, n, t) for t in range(5)]
    assert arrangement.n_regions() == acyclic_orientations(edges, n)


def test_graphs_without_edges_and_complete_ones() -> None:
    assert families.graphical([], 3).characteristic_polynomial() == (0, 0, 0, 1)
    assert families.graphical(np.zeros((2, 2))).dim == 2
    assert families.graphical(list(combinations(range(5), 2))) == families.braid(5)
    assert families.graphical([(0, 1), (1, 2)]).n_regions() == 4


# -------------------------------------------------------------------------------- general position


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
@pytest.mark.parametrize(("m", "n"), [(0, 2), (1, 1), (7, 1), (2, 5), (12, 2), (9, 3), (11, 6)])
def test_generic(m: int, n: int, seed: int | None) -> None:
    arrangement = families.generic(m, n, seed=seed)
    assert arrangement.is_general_position and len(arrangement) == m and arrangement.dim == n
    assert arrangement.n_regions() == bounds.zaslavsky(m, n)
    assert arrangement == families.generic(m, n, seed=seed)
    if seed is not None and m:
        assert max(abs(x) for x in arrangement.normals.ravel()) <= 20 * m + 20
        assert m < 5 or arrangement != families.generic(m, n, seed=seed + 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: families.braid(0), "n: expected an integer of at least 1, got 0"),
        (lambda: families.shi(2.0), "n: expected an integer of at least 1, got 2.0"),
        (lambda: families.boolean(True), "n: expected an integer"),
        (lambda: families.boolean(10**5), "n: expected an arrangement of at most"),
        (lambda: families.resonance(17), "n: expected at most 16"),
        (lambda: families.generic(-1, 2), "m: expected an integer of at least 0, got -1"),
        (lambda: families.generic(3, 2, seed="a"), "seed: expected an integer"),
        (lambda: families.generic(10**6, 100), "m: expected an arrangement of at most"),
        (lambda: families.graphical([(0, 0)]), r"graph\[0\]: expected a pair of different vertices"),
        (lambda: families.graphical([(0, 1, 2)]), r"graph\[0\]: expected a pair"),
        (lambda: families.graphical([(0, -1)]), r"graph\[0\]: expected an integer of at least 0, got -1"),
        (lambda: families.graphical([(0, 4)], 3), "n: expected an integer of at least 5, got 3"),
        (lambda: families.graphical("01"), "graph: expected a list of edges"),
        (lambda: families.graphical(np.ones((3, 3))), "graph: expected a symmetric matrix"),
        (lambda: families.graphical(np.zeros((3, 4))), "graph: expected an adjacency matrix"),
        (lambda: families.graphical(np.zeros((3, 3)), 4), "n: expected 3 like the matrix, got 4"),
    ],
)
def test_bad_input(make, message: str) -> None:
    with pytest.raises(rc.InputError, match=message):
        make()
