"""Partitions of the whole plane, drawn on a square that cuts off nothing but ends of rays.

The engine subdivides the square [−R, R]² with R larger than any number; its corners at infinity have no coordinates.
Here R becomes a number S, a power of two, so large that the pieces of the square [−S, S]² are those of the plane: it is
enough that

- all finite corners of pieces lie inside the square, and
- each line with a ray in a border meets the side that its ray ends on strictly between the side's ends, or at its end
  if it does so for every R.

For then each piece has the same chain of corners and rays, which leaves the square through the same sides, and the
corners of the square in the piece are those between the two exits; the rays of one piece do not meet.  So from here on
a partition of the plane is one of a box, with the same pieces, facets and vertices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from regioncount.adjacency import Outline
from regioncount.engines import PlaneJudge, Window
from regioncount.errors import InputError
from regioncount.exact import FarLine, Line, crossing, far_crossing

if TYPE_CHECKING:
    from regioncount.engines import PlanePieces
    from regioncount.partition import Partition

U = 2.0**-53
MOST = 1000  # of the exponent of S
SQUARE: list[Line] = [(0, 1, 1), (-1, 0, 1), (0, -1, 1), (1, 0, 1)]  # sides of [-1, 1]²: lower, right, upper, left
END = {0: (1, -1), 1: (0, 1), 2: (1, 1), 3: (0, -1)}  # of each side: the coordinate that is constant, and its sign


def realised(
    pieces: PlanePieces, judge: PlaneJudge, window: Window, least: Fraction = Fraction(0)
) -> tuple[PlanePieces, PlaneJudge, Window]:
    """Pieces of the plane as pieces of a square, with a judge and a window of it.

    Parameters
    ----------
    pieces : PlanePieces
        As the engine emitted them, or as this function returned them.
    judge, window
        Theirs.
    least : Fraction
        The square shall be larger than [−least, least]², in coordinates of ``window``.

    Raises
    ------
    InputError
        If the square is beyond 2^1000: floats could not hold it.
    """
    far = Far(pieces, judge)
    size = Fraction(1)
    need = max(least, far.need())
    while size <= 2 * need:
        size *= 2
    if size * window.scale[0] > 2**MOST:
        raise InputError(f"domain: expected all corners within 2^{MOST} of 0 on the whole plane, got one beyond")
    corners = far.placed(size)
    factor = np.array([float(size), float(size), 1.0])
    wider = Window(window.centre, tuple(s * size for s in window.scale))
    placed = replace(pieces, corners=corners, maps=pieces.maps * factor, errors=pieces.errors * factor)
    return placed, PlaneJudge(judge.lowered, wider, SQUARE), wider


class Far:
    """Corners of pieces of the plane, those at infinity known by a line and the side that it meets."""

    def __init__(self, pieces: PlanePieces, judge: PlaneJudge) -> None:
        self.pieces, self.judge = pieces, judge
        n, offsets = len(pieces.corners), pieces.offsets
        self.piece = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        self.previous = np.arange(-1, n - 1)
        self.previous[offsets[:-1]] = offsets[1:] - 1
        self.x, self.y, self.radius = pieces.corners[:, :3].T
        self.weight = pieces.corners[:, 3] if pieces.corners.shape[1] > 3 else np.ones(n)
        side = pieces.tags[:, 0] < 0
        self.own = side & side[self.previous]  # a corner of the square
        self.far = side | side[self.previous]
        self.slack = np.where(self.weight == 1.0, 0.0, self.radius)  # of the weight
        self.rough = ~self.far & ~((self.radius < 0.25) & (self.slack < 0.25 * self.weight))
        self.exact = {int(v): self._corner(int(v)) for v in np.flatnonzero(self.rough)}
        self.ends = {int(v): self._end(int(v)) for v in np.flatnonzero(self.far & ~self.own)}

    def _line(self, edge: int) -> Line:
        return self.judge.line(self.pieces.tags[edge], self.pieces.patterns[self.piece[edge]])

    def _corner(self, v: int) -> tuple[Fraction, Fraction]:
        x, y, w = crossing(self._line(int(self.previous[v])), self._line(v))
        return Fraction(x, w), Fraction(y, w)

    def _end(self, v: int) -> tuple[int, Fraction, Fraction]:
        """(side, m, q) of a corner at infinity: on that side of [−S, S]² its other coordinate is mS + q."""
        edges = (int(self.previous[v]), v)
        at = int(self.pieces.tags[edges[0], 0] >= 0)
        side = int(self.pieces.tags[edges[at], 1])
        line = self._line(edges[1 - at])
        along, sign = END[side]
        fixed, moving = line[along], line[1 - along]
        return side, Fraction(-sign * fixed, moving), Fraction(-line[2], moving)

    def need(self) -> Fraction:
        """A size that is too small by less than any positive number: every larger square will do."""
        finite = ~self.far & ~self.rough
        size = np.maximum(np.abs(self.x[finite]), np.abs(self.y[finite])) + self.radius[finite]
        need = Fraction(1.01 * float((size / (self.weight - self.slack)[finite]).max(initial=0.0)))
        for point in self.exact.values():
            need = max(need, *map(abs, point))
        for _, m, q in self.ends.values():
            need = max(need, abs(q) / 2 if abs(m) == 1 else abs(q) / (1 - abs(m)))
        return need

    def placed(self, size: Fraction) -> np.ndarray:
        """Corners (n, 3) x, y, radius in a window in which the square of that size is [−1, 1]²."""
        with np.errstate(all="ignore"):
            x, y = self.x / self.weight, self.y / self.weight
            reach = np.maximum(np.abs(x), np.abs(y))
            radius = (self.radius + self.slack * reach) / (self.weight - self.slack)
            radius = 1.01 * radius + np.where(self.weight == 1.0, 0.0, 2 * U * reach)
        out = np.stack([x, y, radius], axis=1) / float(size)
        out[self.own] = np.stack([self.x, self.y, np.zeros(len(x))], axis=1)[self.own]
        for v, point in self.exact.items():
            out[v] = [*(float(c / size) for c in point), 2 * U]
        for v, (side, m, q) in self.ends.items():
            along, sign = END[side]
            out[v, along], out[v, 1 - along], out[v, 2] = sign, float(m + q / size), 2 * U
        return out

    def outputs(self, piece: int) -> Fraction:
        """:meth:`need` of the ties between outputs that can be greatest on an unbounded piece."""
        edges = range(int(self.pieces.offsets[piece]), int(self.pieces.offsets[piece + 1]))
        lines: list[FarLine] = []
        for edge in edges:
            a, b, c = self._line(edge)
            side = self.pieces.tags[edge, 0] < 0
            lines.append((a, b, 0, 1) if side else (a, b, c, 0))
        corners = [far_crossing(lines[i - 1], line) for i, line in enumerate(lines)]
        numerators = self.judge.composer.output(self.pieces.patterns[piece])[0]
        forms: list[Line] = sorted({(int(a), int(b), int(c)) for a, b, c in numerators.T})
        values = [[(a * X + b * Y, a * x + b * y + c * w) for X, Y, x, y, w in corners] for a, b, c in forms]
        best = [max(range(len(forms)), key=lambda k, i=i: values[k][i]) for i in range(len(corners))]  # type: ignore[misc]
        left = [
            form
            for form, own in zip(forms, values, strict=True)
            if not any(all(v < u for v, u in zip(own, values[k], strict=True)) for k in set(best))
        ]
        need = Fraction(0)
        borders = [line[:3] for line in lines if not line[3]]
        for i, (a, b, c) in enumerate(left):
            ties = [(a - d, b - e, c - f) for d, e, f in left[i + 1 :]]
            ties = [tie for tie in ties if tie[0] or tie[1]]
            for found in (map(_ends, ties), _crossings(ties, borders), _crossings(ties, ties)):
                need = max(need, max(found, default=need))
        return need


def widened(partition: Partition, window: Window) -> tuple[Any, Window]:
    """The source of a partition of the plane on a square so large that also ties between outputs only go on outside of
    it, and its window; ``window`` is that of the partition.
    """
    source = partition._source
    far = Far(source.pieces, source.judge)
    need = max(map(far.outputs, np.flatnonzero(~partition.bounded).tolist()))
    pieces, judge, window = realised(source.pieces, source.judge, window, need)
    return replace(source, pieces=pieces, judge=judge, outline=Outline(pieces, judge)), window


def _ends(line: Line) -> Fraction:
    """A square larger than [−s, s]² has the ends of a line on the sides, or at the corners, where they are for ever."""
    a, b, c = line
    if abs(a) == abs(b):
        return Fraction(abs(c), 2 * abs(a))
    return Fraction(abs(c), abs(abs(a) - abs(b)))


def _crossings(lines: list[Line], others: list[Line]) -> Iterator[Fraction]:
    """Half the side of the square through each crossing of lines with others."""
    for line in lines:
        for other in others:
            x, y, w = crossing(line, other)
            if w:
                yield Fraction(max(abs(x), abs(y)), w)
