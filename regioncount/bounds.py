"""Closed-form bounds and exact values for numbers of regions, as Python ints of any size.

One function a bound, each with its source. Notation: T tokens and depth D (blocks of attention and
feedforward) of a hardmax Transformer, H_l heads and m_l feedforward units in its layer l; m hyperplanes
in R^n; C(a, b) the binomial coefficient.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from math import comb, prod

from regioncount.errors import InputError, shown


def _integer(value: object, name: str, low: int) -> int:
    """Return `value` as an int >= low, or raise InputError naming the argument."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name}: expected an integer, got {shown(value)}") from None
    if number < low:
        raise InputError(f"{name}: expected an integer of at least {low}, got {shown(number)}")
    return number


def transformer_lower(tokens: int, depth: int) -> int:
    """Lower bound (T-1)^floor(D/3) on the linear regions of hardmax Transformers of T tokens and depth D.

    It says that some network of this size has so many regions, not that each has. The construction
    `regioncount.constructions.three_step` attains it.

    Parameters
    ----------
    tokens : int
        T >= 1.
    depth : int
        D >= 0, blocks of attention and feedforward.

    Returns
    -------
    int
        The bound; with T = 1 it is 0 for D >= 3 and says nothing.

    Raises
    ------
    InputError
        If an argument is no integer or too small.

    References
    ----------
    Gu, Yang, Zhou, arXiv 2603.03084 (2026), for the order of growth.

    Examples
    --------
    >>> transformer_lower(tokens=4, depth=12)
    81
    >>> transformer_lower(4, 5)
    3
    """
    return (_integer(tokens, "tokens", 1) - 1) ** (_integer(depth, "depth", 0) // 3)


def transformer_upper_1d(tokens: int, heads: Sequence[int], units: Sequence[int], affine: bool = False) -> int:
    """Upper bound on the pieces of a hardmax Transformer with one input, so on its regions, R1 excepted.

    The product over the layers l of (1 + T H_l (2T - 2)) (1 + T m_l). Where all earlier choices are fixed, each of
    the T H_l choices of attention is the upper envelope of at most T parabolas, which has at most 2T - 1 parts
    (two parabolas cross twice at most), and each of the T m_l units changes once at most; so a piece is cut into so
    many, at most. For affine scores an envelope has at most T parts: T - 1 takes the place of 2T - 2. Derived here.

    Parameters
    ----------
    tokens : int
        T >= 1.
    heads, units : sequence of int
        H_l and m_l for each layer: its heads, and the units of the feedforward layer behind them; 0 where there are
        none.
    affine : bool
        Whether scores are affine on every piece, as with queries that do not depend on the input.

    Returns
    -------
    int
        The bound.

    Raises
    ------
    InputError
        If an argument is no integer or too small, or the two sequences differ in length.

    Examples
    --------
    >>> transformer_upper_1d(tokens=3, heads=[1], units=[0])
    13
    >>> transformer_upper_1d(3, [1, 2], [4, 4], affine=True)
    15379
    """
    tokens, layers = _layers(tokens, heads, units)
    parts = tokens - 1 if affine else 2 * tokens - 2
    return prod((1 + tokens * h * parts) * (1 + tokens * m) for h, m in layers)


def transformer_upper_2d(tokens: int, heads: Sequence[int], units: Sequence[int], affine: bool = False) -> int:
    """Upper bound on the activation regions (R2) of a hardmax Transformer with two inputs.

    The product over the layers l of A_l Z(T m_l), Z(M) = 1 + M + C(M, 2). Where all earlier choices are fixed, the
    scores of attention are quadratic on the whole plane, and where no two of them are equal the choices are known
    from the signs of the N_l = T H_l C(T, 2) differences. N conics leave at most A_l = 2N^2 + N + 1 = Z(2N) open cells:
    pairs of lines in general position have the most. For affine scores A_l = 1 + M (T - 1) + C(M, 2) (T - 1)^2 with
    M = T H_l, as for M maxout units of rank T, and every pattern is one cell. Derived here.

    Parameters
    ----------
    tokens, heads, units, affine
        As in `transformer_upper_1d`.

    Returns
    -------
    int
        The bound. Without ``affine`` a pattern may have several cells: see `transformer_upper_cells_2d`.

    Raises
    ------
    InputError
        As in `transformer_upper_1d`.

    References
    ----------
    Montufar, Ren, Zhang, Sharp bounds for the number of regions of maxout networks, SIAM J. Appl. Algebra
    Geometry 6 (2022), for one layer of maxout units.

    Examples
    --------
    >>> transformer_upper_2d(tokens=2, heads=[1], units=[0])
    11
    >>> transformer_upper_2d(2, [1], [0], affine=True)
    4
    """
    tokens, layers = _layers(tokens, heads, units)
    return prod(_attention_2d(tokens, h, affine) * zaslavsky(tokens * m, 2) for h, m in layers)


def transformer_upper_cells_2d(
    tokens: int, heads: Sequence[int], units: Sequence[int], affine: bool = False, sides: int = 4
) -> int:
    """Upper bound on the cells of a hardmax Transformer on a convex polygon, hence on its linear regions (R4).

    All borders lie on the conics and lines of all patterns that occur. Let r_l be `transformer_upper_2d` of the first l
    layers, r_0 = 1, and N_l, A_l as there. Then there are at most N = sum of r_(l-1) N_l conics and
    K = sum of r_(l-1) A_l T m_l lines. Two conics cross in 4 points at most, a conic and a line in 2, two lines in 1,
    and a polygon of E sides has at most E arcs of a conic in it, since the conic crosses its boundary in 2E points at
    most, and one segment of a line. A curve adds as many cells as it has arcs and crossings, so there are at most

        1 + E N + K + 4 C(N, 2) + 2 N K + C(K, 2).

    (In the whole plane a conic has at most 2 arcs; a polygon cuts it into more: an ellipse that leaves a square through
    all of its sides makes 5 cells.) For affine scores patterns are convex, and the bound is `transformer_upper_2d`.
    Derived here.

    Parameters
    ----------
    tokens, heads, units, affine
        As in `transformer_upper_1d`.
    sides : int
        E >= 3, the number of sides of the domain.

    Returns
    -------
    int
        The bound.

    Raises
    ------
    InputError
        As in `transformer_upper_1d`.

    Examples
    --------
    >>> transformer_upper_cells_2d(tokens=2, heads=[1], units=[0])
    13
    """
    sides = _integer(sides, "sides", 3)
    if affine:
        return transformer_upper_2d(tokens, heads, units, affine=True)
    tokens, layers = _layers(tokens, heads, units)
    before, conics, lines = 1, 0, 0
    for h, m in layers:
        conics += before * tokens * h * comb(tokens, 2)
        before *= _attention_2d(tokens, h, False)
        lines += before * tokens * m
        before *= zaslavsky(tokens * m, 2)
    return 1 + sides * conics + lines + 4 * comb(conics, 2) + 2 * conics * lines + comb(lines, 2)


def _attention_2d(tokens: int, heads: int, affine: bool) -> int:
    """The most patterns of one attention layer in the plane."""
    choices = tokens * heads
    if affine:
        return 1 + choices * (tokens - 1) + comb(choices, 2) * (tokens - 1) ** 2
    return zaslavsky(2 * choices * comb(tokens, 2), 2)


def _layers(tokens: object, heads: object, units: object) -> tuple[int, list[tuple[int, int]]]:
    """T, and (H_l, m_l) for each layer."""
    numbers = []
    for name, values in (("heads", heads), ("units", units)):
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InputError(f"{name}: expected a sequence of integers, got {shown(values)}")
        numbers.append([_integer(value, f"{name}[{i}]", 0) for i, value in enumerate(values)])
    if len(numbers[0]) != len(numbers[1]):
        raise InputError(
            f"units: expected as many as heads, one a layer, got {len(numbers[1])} for {len(numbers[0])} layers"
        )
    return _integer(tokens, "tokens", 1), list(zip(*numbers, strict=True))


def zaslavsky(m: int, n: int) -> int:
    """Regions of m hyperplanes in general position in R^n: sum of C(m, j) for j = 0..n.

    It is the greatest number for any m hyperplanes in R^n.

    Parameters
    ----------
    m : int
        Number of hyperplanes, >= 0.
    n : int
        Dimension of the space, >= 0.

    Returns
    -------
    int
        Number of regions.

    Raises
    ------
    InputError
        If an argument is no integer or negative.

    References
    ----------
    Zaslavsky, Facing up to arrangements, Memoirs of the AMS 154 (1975).

    Examples
    --------
    >>> zaslavsky(m=3, n=2)
    7
    """
    m, n = _integer(m, "m", 0), _integer(n, "n", 0)
    return sum(comb(m, j) for j in range(min(m, n) + 1))


def zaslavsky_bounded(m: int, n: int) -> int:
    """Bounded regions of m hyperplanes in general position in R^n: C(m - 1, n), and 0 for m = 0, n >= 1.

    Parameters
    ----------
    m : int
        Number of hyperplanes, >= 0.
    n : int
        Dimension of the space, >= 0. In R^0, a point, the one region is bounded.

    Returns
    -------
    int
        Number of bounded regions.

    Raises
    ------
    InputError
        If an argument is no integer or negative.

    References
    ----------
    Zaslavsky, Facing up to arrangements, Memoirs of the AMS 154 (1975).

    Examples
    --------
    >>> zaslavsky_bounded(m=3, n=2)
    1
    """
    m, n = _integer(m, "m", 0), _integer(n, "n", 0)
    if m == 0 or n == 0:
        return int(n == 0)
    return comb(m - 1, n)
