"""Named families of hyperplane arrangements, under the names that SageMath's `hyperplane_arrangements` has.

Each docstring gives the known numbers and where they are from.  [S] is R. P. Stanley, An Introduction to Hyperplane
Arrangements (2007).  Families of differences x_i - x_j live in R^n, as in SageMath, where they are not essential:
all their regions contain the direction (1, ..., 1), and bounded means relatively bounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np

from regioncount.arrangement import HyperplaneArrangement
from regioncount.errors import InputError, shown

_MOST_ENTRIES = 10_000_000


def _integer(value: object, name: str, low: int) -> int:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < low:  # type: ignore[operator]
        raise InputError(f"{name}: expected an integer of at least {low}, got {shown(value)}")
    return int(value)  # type: ignore[call-overload]


def _arrangement(dim: int, hyperplanes: Iterable[tuple[dict[int, int], int]]) -> HyperplaneArrangement:
    """The hyperplanes sum of coefficient·x_i = offset, given as ({i: coefficient}, offset)."""
    given = list(hyperplanes)
    if len(given) * dim > _MOST_ENTRIES:
        raise InputError(f"n: expected an arrangement of at most {_MOST_ENTRIES:,} numbers, got {len(given) * dim:,}")
    if not given:
        return HyperplaneArrangement([], [], dim=dim)
    normals = np.zeros((len(given), dim), dtype=np.int64)
    for row, (coefficients, _) in zip(normals, given, strict=True):
        for i, coefficient in coefficients.items():
            row[i] = coefficient
    return HyperplaneArrangement(normals, np.array([offset for _, offset in given], dtype=np.int64))


def _differences(n: int, offsets: Iterable[int]) -> HyperplaneArrangement:
    shifts = tuple(offsets)
    return _arrangement(n, (({i: 1, j: -1}, c) for i, j in combinations(range(n), 2) for c in shifts))


def braid(n: int) -> HyperplaneArrangement:
    """x_i = x_j for i < j, in R^n: n! regions, chi = t (t - 1) ... (t - n + 1).  [S, Lecture 1]

    >>> braid(4).n_regions()
    24
    """
    return _differences(_integer(n, "n", 1), (0,))


def boolean(n: int) -> HyperplaneArrangement:
    """The coordinate hyperplanes x_i = 0: 2^n regions, chi = (t - 1)^n.  SageMath's `coordinate`.  [S, Lecture 1]

    >>> boolean(10).n_regions()
    1024
    """
    n = _integer(n, "n", 1)
    return _arrangement(n, (({i: 1}, 0) for i in range(n)))


def coordinate(n: int) -> HyperplaneArrangement:
    """Another name of `boolean`, SageMath's."""
    return boolean(n)


def shi(n: int) -> HyperplaneArrangement:
    """x_i - x_j = 0, 1 for i < j, in R^n: (n+1)^(n-1) regions, (n-1)^(n-1) relatively bounded.

    chi = t (t - n)^(n-1)  (Shi; [S, Lecture 5]).

    >>> shi(3).n_regions(), shi(3).n_bounded_regions()
    (16, 4)
    """
    return _differences(_integer(n, "n", 1), (0, 1))


def catalan(n: int) -> HyperplaneArrangement:
    """x_i - x_j = -1, 0, 1 for i < j, in R^n: n! C_n regions, n! C_(n-1) relatively bounded, C_n the Catalan numbers.

    [S, Lecture 5]

    >>> catalan(3).n_regions(), catalan(3).n_bounded_regions()
    (30, 12)
    """
    return _differences(_integer(n, "n", 1), (-1, 0, 1))


def linial(n: int) -> HyperplaneArrangement:
    """x_i - x_j = 1 for i < j, in R^n: 1, 2, 7, 36, 246, ... regions (OEIS A007889, alternating trees).

    The number is 2^-n times the sum over k of C(n, k) (k + 1)^(n-1)  (Postnikov; [S, Lecture 5]).

    >>> [linial(n).n_regions() for n in range(1, 6)]
    [1, 2, 7, 36, 246]
    """
    return _differences(_integer(n, "n", 1), (1,))


def semiorder(n: int) -> HyperplaneArrangement:
    """x_i - x_j = -1, 1 for i < j, in R^n: 1, 3, 19, 183, 2371, ... regions, labelled semiorders (OEIS A006531).

    [S, Lecture 5]

    >>> [semiorder(n).n_regions() for n in range(1, 5)]
    [1, 3, 19, 183]
    """
    return _differences(_integer(n, "n", 1), (-1, 1))


def ish(n: int) -> HyperplaneArrangement:
    """x_i = x_j, and x_1 - x_j = i for i < j, in R^n: chi and so the counts of `shi`.

    Armstrong and Rhoades, The Shi arrangement and the Ish arrangement, Trans. AMS 364 (2012).

    >>> ish(3).n_regions()
    16
    """
    n = _integer(n, "n", 1)
    pairs = list(combinations(range(n), 2))
    return _arrangement(n, [({i: 1, j: -1}, 0) for i, j in pairs] + [({0: 1, j: -1}, i + 1) for i, j in pairs])


def resonance(n: int) -> HyperplaneArrangement:
    """The sums of coordinates over nonempty subsets are zero: 2, 6, 32, 370, 11292, 1066044, ... regions.

    Kamiya, Takemura and Terao, Ranking patterns of unfolding models of codimension one, Adv. Appl. Math. 47 (2011),
    where it is the all-subset arrangement; OEIS A034997.

    >>> [resonance(n).n_regions() for n in range(1, 5)]
    [2, 6, 32, 370]
    """
    n = _integer(n, "n", 1)
    if n > 16:
        raise InputError(f"n: expected at most 16, which is 65,535 hyperplanes, got {n}")
    subsets = (subset for subset in product((0, 1), repeat=n) if any(subset))
    return _arrangement(n, (({i: 1 for i, x in enumerate(subset) if x}, 0) for subset in subsets))


def threshold(n: int) -> HyperplaneArrangement:
    """x_i + x_j = 0 for i < j: 1, 2, 8, 46, 332, 2874, ... regions, labelled threshold graphs (OEIS A005840).

    Essential for n >= 3.  [S, Lecture 5, exercises]

    >>> [threshold(n).n_regions() for n in range(1, 6)]
    [1, 2, 8, 46, 332]
    """
    n = _integer(n, "n", 1)
    return _arrangement(n, (({i: 1, j: 1}, 0) for i, j in combinations(range(n), 2)))


def graphical(graph: Any, n: int | None = None) -> HyperplaneArrangement:
    """x_i = x_j for the edges ij of a graph on n vertices, in R^n: chi is the chromatic polynomial.

    Regions are the acyclic orientations.  [S, Lecture 2]

    Parameters
    ----------
    graph : list of pairs, or ndarray (n, n)
        Edges between vertices 0 to n - 1, or a symmetric adjacency matrix of zeros and ones; an ndarray is a matrix.
    n : int, optional
        Number of vertices; by default one more than the greatest in an edge.

    Raises
    ------
    InputError
        If an edge is a loop or no pair of vertices, or the matrix is not as said.

    Examples
    --------
    >>> cycle = graphical([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> cycle.n_regions(), cycle.characteristic_polynomial()(3)
    (14, 18)
    """
    if isinstance(graph, np.ndarray):
        if graph.ndim != 2 or graph.shape[0] != graph.shape[1] or not len(graph):
            raise InputError(f"graph: expected an adjacency matrix (n, n), or a list of edges, got shape {graph.shape}")
        if not (np.isin(graph, (0, 1)).all() and (graph == graph.T).all() and not np.diagonal(graph).any()):
            raise InputError("graph: expected a symmetric matrix of zeros and ones, zero on the diagonal, got another")
        if n is not None and n != len(graph):
            raise InputError(f"n: expected {len(graph)} like the matrix, got {shown(n)}")
        n, graph = len(graph), np.argwhere(np.triu(graph))
    if not isinstance(graph, (list, tuple, set, frozenset, np.ndarray)):
        raise InputError(f"graph: expected a list of edges or an adjacency matrix, got {shown(graph)}")
    edges = set()
    for k, edge in enumerate(graph):
        if not isinstance(edge, (list, tuple, set, frozenset, np.ndarray)) or len(edge) != 2:
            raise InputError(f"graph[{k}]: expected a pair of different vertices, got {shown(edge)}")
        i, j = sorted(_integer(vertex, f"graph[{k}]", 0) for vertex in edge)
        if i == j:
            raise InputError(f"graph[{k}]: expected a pair of different vertices, got {shown(edge)}")
        edges.add((i, j))
    least = 1 + max((j for _, j in edges), default=0)
    n = least if n is None else _integer(n, "n", least)
    return _arrangement(n, (({i: 1, j: -1}, 0) for i, j in sorted(edges)))


def generic(m: int, n: int, seed: int | None = None) -> HyperplaneArrangement:
    """m hyperplanes in R^n in certified general position: sum of C(m, k), k <= n, regions.  [S, Lecture 2]

    Parameters
    ----------
    m, n : int
    seed : int, optional
        Without one, the hyperplanes are x_1 + s x_2 + ... + s^(n-1) x_n = s^n for m integers s around 0: any n of
        the normals, and any n + 1 of the rows with offsets, are independent (Vandermonde).  With one, s^k is taken
        modulo a prime p of at least 10 m for random different s, and rows, coordinates and signs are mixed: a
        Vandermonde determinant is not zero modulo p, nor therefore itself.  Entries stay below p / 2 in size.

    Raises
    ------
    InputError
        If m < 0, n < 1 or the seed is no integer of at least 0.

    Examples
    --------
    >>> generic(20, 4).n_regions(), generic(20, 4, seed=1).is_general_position
    (6196, True)
    """
    m, n = _integer(m, "m", 0), _integer(n, "n", 1)
    if m * n > _MOST_ENTRIES:
        raise InputError(f"m: expected an arrangement of at most {_MOST_ENTRIES:,} numbers, got {m * n:,}")
    if m == 0:
        return HyperplaneArrangement([], [], dim=n)
    if seed is None:
        rows = [[s**k for k in range(n + 1)] for s in (k // 2 + 1 if k % 2 else -(k // 2) for k in range(m))]
        return HyperplaneArrangement([row[:-1] for row in rows], [row[-1] for row in rows])
    random = Random(_integer(seed, "seed", 0))
    p = next(q for q in range(max(10 * m, 11), 40 * m + 40) if all(q % d for d in range(2, int(q**0.5) + 1)))
    order = random.sample(range(n), n)
    normals, offsets = [], []
    for s in random.sample(range(p), m):
        row = [(pow(s, k, p) + p // 2) % p - p // 2 for k in range(n + 1)]
        sign = random.choice((-1, 1))
        normals.append([sign * row[k] for k in order])
        offsets.append(sign * row[n])
    return HyperplaneArrangement(normals, offsets)
