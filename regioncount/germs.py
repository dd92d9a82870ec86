"""The whole line: how a network chooses for all large |x|, and how far out that begins.

Notation: one side of the line is x = ±t, t → ∞.  A *germ* is what holds for all large t.  A polynomial's sign there is
that of its leading coefficient, so of some polynomials of degree at most 2 the greatest is that of the greatest
(c₂, c₁, c₀), in this order; polynomials that are equal tie for ever.

Claim: with S beyond every root t > 0 of (winner − other candidate), for the germ's winner of every unit on both sides
(of z itself for a ReLU-like unit), the activation pattern is constant for x ≥ S and for x ≤ −S, in the whole network.
By induction on blocks: where the choices of all earlier blocks are those of the germ, the scores are the polynomials
of which the germ was found, the winner is ahead at infinity, and the difference has no zero from S on; so it is ahead
there, the same candidates tie with it, and the block's choices are those of the germ.

The differences do not vanish at ±S either, so the same choices hold a little inside of ±S.  Hence the pieces of the
line are those of [−S, S], the outer two (or the only one) extended to infinity; patterns, maps, and what joins pieces
are the same, for the network cut after any layer too; and no pattern of R1 is lost or added, since at ±S the pattern
is that of the piece around it.  The outputs count as candidates of one more unit: the greatest output is constant
beyond S, and a decision boundary has no point there.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from regioncount.errors import InputError
from regioncount.exact import Real, Surd, compare, real_roots
from regioncount.lowering import BIT, SET, Composer, score_form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from regioncount.lowering import Integers, Lowered

MOST, LEAST = 1000, -900  # of the exponent of S


def line_reach(lowered: Lowered) -> Fraction:
    """The least power of two S beyond which nothing changes on the line, see the module header; 1 if nothing does.

    Cached on the network.

    Raises
    ------
    InputError
        If that is beyond 2^1000: floats could not hold the pieces.

    Examples
    --------
    >>> from regioncount.lowering import lower
    >>> from regioncount.network import from_layers
    >>> line_reach(lower(from_layers([([[1], [2]], [-3, 1]), "relu"])))
    Fraction(4, 1)
    """
    known = lowered.network._cache.get("line reach")
    if known is None:
        known = lowered.network._cache["line reach"] = _line_reach(lowered)
    return known


def _line_reach(lowered: Lowered) -> Fraction:
    composer = Composer(lowered, [Fraction(0)], [Fraction(1)])
    last: Real = Fraction(0)
    for side in (1, -1):
        pattern = np.zeros(lowered.columns, dtype=np.uint8)
        for index, block in enumerate(lowered.blocks):
            pre, _ = composer.pre(index, pattern)
            along = np.stack([pre[0] * side, pre[1]])  # as a function of t
            for unit in block.units:
                if unit.kind == BIT:
                    form = score_form(along, unit, 0)
                    pattern[unit.columns[0]] = tuple(reversed(form)) > (0, 0, 0)
                    last = _later(last, [form])
                elif unit.kind == SET:
                    won, differences = germ([score_form(along, unit, i) for i in range(len(unit.values))])
                    pattern[[unit.columns[i] for i in won]] = 1
                    last = _later(last, differences)
            if index + 1 == len(lowered.blocks):
                last = _later(last, germ([[c, m, 0] for m, c in along.T.tolist()])[1])
    if not last:
        return Fraction(1)
    power = _exponent(last)
    if power > MOST:
        raise InputError(f"domain: expected all breakpoints within 2^{MOST} of 0 on the whole line, got one beyond")
    return Fraction(2) ** max(power, LEAST)


def germ(forms: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """The candidates that win for all large t, and the winner's distinct differences from the others.

    Polynomials are [c0, c1, c2].

    >>> germ([[0, 1, 0], [5, 0, 0], [0, 1, 0]])
    ([0, 2], [[-5, 1, 0]])
    """
    keys = [(c2, c1, c0) for c0, c1, c2 in forms]
    best = max(keys)
    won = [i for i, key in enumerate(keys) if key == best]
    others = dict.fromkeys(key for key in keys if key != best)
    return won, [[a - b for a, b in zip(reversed(best), reversed(key), strict=True)] for key in others]


def _later(last: Real, forms: Sequence[Sequence[int]]) -> Real:
    """The greatest root of some polynomials, if it is greater than ``last``."""
    for c0, c1, c2 in forms:
        if c2 or (c1 and (c0 < 0) != (c1 < 0)):
            for root in real_roots(c0, c1, c2):
                if compare(root, last) > 0:
                    last = root
    return last


def _exponent(x: Real) -> int:
    """The least k with x < 2^k, for x > 0."""
    bits = 0
    while True:
        scaled = x.floor(bits) if isinstance(x, Surd) else math.floor(x * 2**bits)
        if scaled:  # scaled <= x 2^bits < scaled + 1 <= 2^k
            return scaled.bit_length() - bits
        bits = 2 * bits + 64


def last_change(composer: Composer, start: int, pre: Integers, denominator: int) -> Real:
    """The last t > 0 at which a choice can change along a ray, 0 if none does; by the claim of the module header.

    Parameters
    ----------
    composer : Composer
    start : int
        The first block whose choices may change.
    pre : ndarray of int (2, n)
        The map of its ``pre`` along the ray, slopes and constants in t, over ``denominator``.
    """
    last: Real = Fraction(0)
    for index, block in enumerate(composer.lowered.blocks[start:], start):
        choice = np.zeros(block.last_column - block.first_column, dtype=np.uint8)
        for unit in block.units:
            columns = [column - block.first_column for column in unit.columns]
            if unit.kind == BIT:
                form = score_form(pre, unit, 0)
                choice[columns[0]] = tuple(reversed(form)) > (0, 0, 0)
                last = _later(last, [form])
            elif unit.kind == SET:
                won, differences = germ([score_form(pre, unit, i) for i in range(len(unit.values))])
                choice[[columns[i] for i in won]] = 1
                last = _later(last, differences)
        if index + 1 < len(composer.lowered.blocks):
            pre, denominator = composer.advance(index, pre, denominator, choice)
    return last
