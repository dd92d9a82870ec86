"""Exact linear programming: whether half-spaces of Rⁿ have a point in common, and one inside all of them.

A half-space is (a_1 … a_n, c), integers, meaning a·x + c ≥ 0.  One program answers every question: the greatest t ≤ 1
with a·x + c ≥ t for all of them, by the simplex method on a dictionary of integers over one denominator (fraction-free
pivots: Edmonds 1967, as in Avis's lrs), with Bland's rule, so it ends.  Its optimum is positive where the half-spaces
have an interior in common, 0 where they only touch, and the method stops as soon as the sign is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

HalfSpace: TypeAlias = tuple[int, ...]


def interior_point(halfspaces: Sequence[HalfSpace], dim: int | None = None) -> tuple[Fraction, ...] | None:
    """Return a rational point inside all half-spaces, None where there is none; of no half-spaces at all the origin of
    ``dim`` coordinates.

    >>> interior_point([(1, 0, 0), (0, 1, 0), (-1, -1, 1)]) is not None, interior_point([(1, 0), (-1, 0)])
    (True, None)
    """
    if not halfspaces:
        return (Fraction(0),) * (dim or 0)
    program = _Program(halfspaces)
    return program.point() if program.reaches(strictly=True) else None


def meet(halfspaces: Sequence[HalfSpace]) -> bool:
    """Return whether half-spaces, closed as they are, have a common point.

    >>> meet([(1, 0), (-1, 0)]), meet([(1, -1), (-1, 0)])
    (True, False)
    """
    return _Program(halfspaces).reaches(strictly=False)


def within(plane: HalfSpace, halfspaces: Sequence[HalfSpace]) -> list[HalfSpace]:
    """Return half-spaces restricted to the hyperplane a·x + c = 0, in the coordinates without the first one that a has.

    One that holds a multiple of the hyperplane becomes a constant.
    """
    k = next(i for i, x in enumerate(plane) if x)
    p = plane[k]
    out = []
    for h in halfspaces:
        q = h[k]
        row = [(p * x - q * y) * (1 if p > 0 else -1) for x, y in zip(h, plane, strict=True)]
        del row[k]
        out.append(tuple(row))
    return out


class _Program:
    """A dictionary d·B_i = b_i + Σ_j a_ij N_j of the program: rows of t, of x where basic, of slacks.

    Columns: the constant, then x and t at first.  Variables: 0 … n − 1 are x, n is t, from n + 1 on slacks; x and t are
    free.
    """

    def __init__(self, halfspaces: Sequence[HalfSpace]) -> None:
        self.n = n = len(halfspaces[0]) - 1 if halfspaces else 0
        rows = [[h[n], *h[:n], -1] for h in halfspaces]
        rows.append([1, *[0] * n, -1])
        self.table = rows
        self.basic = [n + 1 + i for i in range(len(rows))]
        self.other = list(range(n + 1))
        self.d = 1
        least = min(range(len(rows)), key=lambda i: rows[i][0])
        self._pivot(least, n + 1)

    def _pivot(self, r: int, s: int) -> None:
        """Exchange the basic variable of row r with the other one of column s."""
        table, d = self.table, self.d
        row = table[r]
        p = row[s]
        for i, other in enumerate(table):
            if i != r:
                q = other[s]
                if q:
                    new = [(p * x - q * y) // d for x, y in zip(other, row, strict=True)]
                    new[s] = q
                    table[i] = new
                else:
                    table[i] = [p * x // d for x in other]
        new = [-x for x in row]
        new[s] = d
        table[r] = new
        self.basic[r], self.other[s - 1] = self.other[s - 1], self.basic[r]
        self.d = p
        if p < 0:
            self.d = -p
            self.table = [[-x for x in other] for other in table]

    def reaches(self, strictly: bool) -> bool:
        """Whether t can be positive, or at least 0."""
        n = self.n
        while True:
            objective = self.table[self.basic.index(n)]
            if objective[0] > 0 or (objective[0] == 0 and not strictly):
                return True
            best = -1
            for s, variable in enumerate(self.other, 1):
                useful = objective[s] != 0 if variable < n else objective[s] > 0
                if useful and (best < 0 or variable < self.other[best - 1]):
                    best = s
            if best < 0:
                return False
            direction = 1 if objective[best] > 0 else -1
            leave = -1
            for i, variable in enumerate(self.basic):
                if variable <= n or self.table[i][best] * direction >= 0:
                    continue
                if leave >= 0:
                    # ratios −b / a, compared without division
                    a, b = self.table[i][best] * direction, self.table[i][0]
                    c, e = self.table[leave][best] * direction, self.table[leave][0]
                    difference = b * c - e * a
                    if difference < 0 or (difference == 0 and variable > self.basic[leave]):
                        continue
                leave = i
            assert leave >= 0, "t is bounded"
            self._pivot(leave, best)

    def point(self) -> tuple[Fraction, ...]:
        """The point x of the dictionary."""
        x = [Fraction(0)] * self.n
        for row, variable in zip(self.table, self.basic, strict=True):
            if variable < self.n:
                x[variable] = Fraction(row[0], self.d)
        return tuple(x)
