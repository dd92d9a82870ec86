"""Closed-form bounds and exact values for numbers of regions, as Python ints of any size.

One function a bound, each with its source. Notation: T tokens and depth D (blocks of attention and
feedforward) of a hardmax Transformer; m hyperplanes in R^n; C(a, b) the binomial coefficient.
"""

from __future__ import annotations

import operator
from math import comb

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
