"""The decision boundary of a network with several outputs: where the greatest output changes.

On a piece every output is affine, so two outputs tie on a line (in 1-D in a point).  A *segment* is the part of it, of
positive length, where both are greatest among all outputs: one for each piece and pair.  A tie along a facet is no part
of one piece: it counts once, with the facet, if the two outputs are tied for greatest on both of its sides and equal on
at most one whole side; on the domain's own boundary it separates nothing and is left out.  A *jump* is a facet across
which the greatest output changes without such a tie: only attention makes them.  (Pieces are those of the partition:
where a hidden choice, see lowering, cuts a piece of one pattern, it may cut a segment as well.)

Floats decide what their error bounds allow: an output that is smaller than another at all corners of a piece is out;
two that are left, with certain signs of both kinds at the corners, make one segment.  Everything else is decided on the
exact maps, lines and corners (``lowering.Composer``, ``adjacency.Outline``), so counts are exact.

Along the line ax + by + c = 0 a point is named by t = bx − ay; there a form dx + ey + f is, times a² + b²,
(db − ea) t + f (a² + b²) − c (da + eb).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from regioncount import plane
from regioncount.domain import Interval, Plane
from regioncount.engines import Window
from regioncount.errors import InputError
from regioncount.exact import Line, Real, compare, nearest_float, sign, sign_at
from regioncount.lowering import SET

if TYPE_CHECKING:
    from regioncount.partition import Partition

U = 2.0**-53
CHUNK = 1 << 22  # values of outputs at corners that are looked at together


@dataclass(frozen=True, eq=False)
class DecisionBoundary:
    """Where the greatest output changes; see the module's header for what counts.

    Attributes
    ----------
    segments : ndarray (n, 2, 2); in 1-D points (n, 1)
        Ends of the segments; nearest floats.
    pieces : ndarray of int (n,)
        The piece of each segment; of a tie along a facet, its first piece.
    pairs : ndarray of int (n, 2)
        The two outputs that tie, the smaller number first.
    facets : ndarray of int (n,)
        The facet that the segment lies on, −1 inside a piece.
    jumps : ndarray of int (n_jumps,)
        Facets across which the greatest output changes without a tie.
    rays : ndarray of bool (n, 2); in 1-D (n, 1)
        On the whole plane, which ends of ``segments`` are at infinity.  They are given on the sides of a square, that
        of the partition or a larger one, outside of which rays only go on.
    """

    segments: np.ndarray
    pieces: np.ndarray
    pairs: np.ndarray
    facets: np.ndarray
    jumps: np.ndarray
    rays: np.ndarray

    @property
    def count(self) -> int:
        """Number of segments; jumps are not among them."""
        return len(self.pairs)


class _Segment(NamedTuple):
    ends: Any
    piece: int
    pair: tuple[int, int]
    facet: int = -1


def decision_boundary(partition: Partition) -> DecisionBoundary:
    """What ``Partition.decision_boundary`` returns.

    Raises
    ------
    InputError
        If the network has a single output, or cells are bounded by conics.
    """
    if partition.network.output_dim < 2:
        raise InputError("decision_boundary: expected a network with at least 2 outputs, got 1")
    if len(partition.facet_arc):
        raise InputError("decision_boundary: expected straight borders, got a partition with conics as borders")
    search: _Search = _OnLine(partition) if partition.dim == 1 else _InPlane(partition)
    return search.run()


class _Search:
    """What both dimensions share: the filter, exact differences, and which facets can be jumps."""

    dim: int

    def __init__(self, partition: Partition) -> None:
        self.partition, self.source = partition, partition._source
        domain = partition.frame
        points: Any = [(domain.low,), (domain.high,)] if isinstance(domain, Interval) else domain.vertices  # type: ignore[union-attr]
        self.window = Window.around(points)
        if isinstance(partition.domain, Plane):
            self.source, self.window = plane.widened(partition, self.window)
        self.single, self.several, self.certain = self._filter()
        self.candidates = self.several | {int(p): [int(i), int(j)] for p, i, j in self.certain}
        self._maps: dict[int, np.ndarray] = {}

    def run(self) -> DecisionBoundary:
        simple, piece, pair = self._simple()
        found: list[_Segment] = []
        on_facets: set[tuple[int, int, int]] = set()
        for p, candidates in self.several.items():
            for i, j in combinations(candidates, 2):
                found += self._inside(p, candidates, i, j, on_facets)
        for facet, i, j in sorted(on_facets):
            found += self._along(facet, i, j)
        shape = (-1, 1) if self.dim == 1 else (-1, 2, 2)
        ends = np.array([[float(x) for x in np.ravel(s.ends)] for s in found]).reshape(shape)
        ends = np.concatenate([simple, ends])
        # finite ends lie in the inner half of the square
        rays = (np.abs(ends).max(axis=-1) > 0.75) & isinstance(self.partition.domain, Plane)
        ends = self.window.outward(ends.reshape(-1, self.dim)).reshape(shape)
        pieces = np.concatenate([piece, np.array([s.piece for s in found], dtype=np.int64)])
        pairs = np.concatenate([pair, np.array([s.pair for s in found], dtype=np.int64).reshape(-1, 2)])
        facets = np.concatenate([np.full(len(piece), -1), np.array([s.facet for s in found], dtype=np.int64)])
        order = np.lexsort((pairs[:, 1], pairs[:, 0], facets, pieces))
        jumps = np.array(list(self._jumps()), dtype=np.int64)
        return DecisionBoundary(ends[order], pieces[order], pairs[order], facets[order], jumps, rays[order])

    # ------------------------------------------------------------------------------------------------ floats

    def _corners(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Corners (m, dim) of the pieces in engine coordinates, their radii (m,) and offsets (n_pieces + 1,)."""
        raise NotImplementedError

    def _filter(self) -> tuple[np.ndarray, dict[int, list[int]], np.ndarray]:
        """The greatest output of each piece or −1; the candidates of the others; pieces where floats decide all.

        The latter (m, 3): piece and its two candidates, the lesser number first; each is greatest at some corners for
        certain.
        """
        at, radius, offsets = self._corners()
        maps, errors = self.source.pieces.maps, self.source.pieces.errors
        n, n_out = maps.shape[:2]
        single = np.empty(n, dtype=np.int64)
        several: dict[int, list[int]] = {}
        certain: list[tuple[int, int, int]] = []
        start = 0
        while start < n:
            stop = int(np.searchsorted(offsets, offsets[start] + max(CHUNK // n_out, 1), side="right")) - 1
            stop = min(max(stop, start + 1), n)
            rows = slice(offsets[start], offsets[stop])
            low = offsets[start:stop] - offsets[start]
            piece = np.repeat(np.arange(stop - start), np.diff(offsets[start : stop + 1]))
            sign_, winner = _signs(at[rows], radius[rows], piece, low, maps[start:stop], errors[start:stop])
            open_ = ~np.logical_and.reduceat(sign_ == 1, low)  # not smaller than the winner at all corners
            number = open_.sum(axis=1)
            single[start:stop] = np.where(number == 1, winner, -1)
            settled = np.logical_and.reduceat(sign_ != 0, low) & np.logical_or.reduceat(sign_ == 1, low)
            for p in np.flatnonzero(number > 1):
                candidates = np.flatnonzero(open_[p]).tolist()
                other = [k for k in candidates if k != winner[p]]
                if len(other) == 1 and settled[p, other[0]]:
                    certain.append((start + int(p), candidates[0], candidates[1]))
                else:
                    several[start + int(p)] = candidates
            start = stop
        return single, several, np.array(certain, dtype=np.int64).reshape(-1, 3)

    def _simple(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The segments that floats decided: ends, pieces, pairs."""
        at, _, offsets = self._corners()
        p, i, j = self.certain.T
        size = np.diff(offsets)[p]
        first = np.cumsum(size) - size
        row = np.repeat(np.arange(len(p)), size)
        corner = np.repeat(offsets[p] - first, size) + np.arange(size.sum())
        after = corner + 1
        after[first + size - 1] = offsets[p]
        maps = self.source.pieces.maps[p]
        slope = maps[np.arange(len(p)), i] - maps[np.arange(len(p)), j]
        value = (at[corner] * slope[row, :-1]).sum(axis=1) + slope[row, -1]
        following = (at[after] * slope[row, :-1]).sum(axis=1) + slope[row, -1]
        change = (value > 0) != (following > 0)
        if self.dim == 1:  # both "edges" of an interval are the interval
            change &= np.arange(len(change)) == first[row]
        share = value[change] / (value[change] - following[change])
        ends = at[corner[change]] + share[:, None] * (at[after[change]] - at[corner[change]])
        return ends.reshape((-1, 1) if self.dim == 1 else (-1, 2, 2)), p, np.stack([i, j], axis=1)

    # ------------------------------------------------------------------------------------------------ exact

    def _candidates(self, p: int) -> list[int]:
        """The outputs that can be greatest somewhere on a closed piece; all others are smaller there."""
        return [int(self.single[p])] if self.single[p] >= 0 else self.candidates[p]

    def _difference(self, p: int, i: int, j: int) -> Any:
        """Output i − output j on a piece up to a positive factor: slopes, then the constant; ints."""
        found = self._maps.get(p)
        if found is None:
            found = self._maps[p] = self.source.judge.composer.output(self.source.pieces.patterns[p])[0]
        return tuple(found[:, i] - found[:, j])

    def _inside(
        self, p: int, candidates: list[int], i: int, j: int, on_facets: set[tuple[int, int, int]]
    ) -> Iterator[_Segment]:
        """The segment of a piece and a pair; a tie along an edge goes to ``on_facets`` (facet, i, j) instead."""
        raise NotImplementedError

    def _along(self, facet: int, i: int, j: int) -> Iterator[_Segment]:
        """The tie of a pair along a facet, if it counts."""
        raise NotImplementedError

    def _jumps(self) -> Iterator[int]:
        """Facets across which the greatest output changes without a tie, increasing."""
        columns = [
            list(unit.columns)
            for block in self.source.lowered.blocks
            for unit in block.units
            if unit.kind == SET and unit.scores[0][2] > 0
        ]
        if not columns:
            return  # every choice passes on its score: the network is continuous
        chosen = self.source.pieces.patterns[:, sum(columns, [])]
        facets = self.partition.facets
        for facet in np.flatnonzero(facets[:, 1] >= 0):
            p, q = (int(x) for x in facets[facet])
            # equal choices of attention: both sides belong to one continuous function
            if self.single[p] == self.single[q] >= 0 or np.array_equal(chosen[p], chosen[q]):
                continue
            if not set(self._candidates(p)) & set(self._candidates(q)) or self._jumps_at(int(facet)):
                yield int(facet)

    def _jumps_at(self, facet: int) -> bool:
        raise NotImplementedError


def _signs(
    at: np.ndarray, radius: np.ndarray, piece: np.ndarray, low: np.ndarray, maps: np.ndarray, errors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Signs of (winner − output) at each corner, 0 where unsure, and the winner of each piece in its middle.

    A value at a corner is off by at most the map's error (|ξ| ≤ 1, so the sum of its columns), the rounding of dim + 1
    products, and radius · slope.
    """
    with np.errstate(all="ignore"):
        value = np.einsum("mk,mok->mo", at, maps[piece, :, :-1]) + maps[piece, :, -1]
        winner = np.add.reduceat(value, low).argmax(axis=1)
        error = 1.01 * errors.sum(axis=1) + 8 * U * np.abs(maps).sum(axis=2).max(axis=1)
        slope = np.sqrt((maps[:, :, :-1] ** 2).sum(axis=2)).max(axis=1)
        bound = 2.02 * (error[piece] + radius * (slope + errors.sum(axis=1))[piece]) + 1e-300
        gap = value[np.arange(len(at)), winner[piece]][:, None] - value
        sure = (np.abs(gap) > bound[:, None]) & np.isfinite(gap)
    return np.where(sure, np.sign(gap), 0).astype(np.int8), winner


# ------------------------------------------------------------------------------------------------ the plane


class _InPlane(_Search):
    dim = 2

    def __init__(self, partition: Partition) -> None:
        super().__init__(partition)
        self.outline = self.source.outline
        self._facets: dict[int, list[int]] | None = None

    def _corners(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        pieces = self.source.pieces
        return pieces.corners[:, :2], pieces.corners[:, 2], pieces.offsets

    def _edges(self, p: int) -> range:
        offsets = self.source.pieces.offsets
        return range(int(offsets[p]), int(offsets[p + 1]))

    def _edge_line(self, edge: int) -> Line:
        """The exact line of an edge, positive inside."""
        line = self.outline.line(edge)
        at = int(self.outline.next[edge])
        while True:
            at = int(self.outline.next[at])
            side = sign_at(line, self.outline.corner(at))
            if side:
                return line if side > 0 else (-line[0], -line[1], -line[2])

    def _inside(
        self, p: int, candidates: list[int], i: int, j: int, on_facets: set[tuple[int, int, int]]
    ) -> Iterator[_Segment]:
        line = self._difference(p, i, j)
        if not (line[0] or line[1]):
            return
        edges = list(self._edges(p))
        others = [self._difference(p, i, k) for k in candidates if k not in (i, j)]
        lines = [self._edge_line(e) for e in edges]
        part = _clip(line, [*lines, *others])
        if part is None:
            return
        for edge, other in zip(edges, lines, strict=True):
            if _same(line, other):  # the tie lies on this edge
                on_facets.update((f, i, j) for f in self._on_edge(p, edge))
                return
        yield _Segment([_point(line, t) for t in part], p, (i, j))

    def _on_edge(self, p: int, edge: int) -> Iterator[int]:
        """The inner facets of a piece on one of its edges."""
        if self._facets is None:
            self._facets = {}
            for f in np.flatnonzero(self.partition.facets[:, 1] >= 0).tolist():
                for side in self.partition.facets[f].tolist():
                    self._facets.setdefault(side, []).append(f)
        for f in self._facets.get(p, []):
            if self._shared(f)[0][self.partition.facets[f].tolist().index(p)] == edge:
                yield f

    def _shared(self, facet: int) -> tuple[tuple[int, int], Line, Fraction, Fraction]:
        """The two edges that overlap in a facet, their line, and the range of t that they share."""
        p, q = self.partition.facets[facet].tolist()
        lines = {e: self.outline.line(e) for e in self._edges(q)}
        for e in self._edges(p):
            line = self.outline.line(e)
            for other, its in lines.items():
                if _same(line, its):
                    low, high = self._range(line, e)
                    low2, high2 = self._range(line, other)
                    low, high = max(low, low2), min(high, high2)
                    if low < high:
                        return (e, other), line, low, high
        raise AssertionError(f"facet {facet}: its two pieces share no edge")

    def _range(self, line: Line, edge: int) -> tuple[Fraction, Fraction]:
        a, b, _ = line
        ends = [self.outline.corner(v) for v in (edge, int(self.outline.next[edge]))]
        s, t = (Fraction(b * x - a * y, w) for x, y, w in ends)
        return min(s, t), max(s, t)

    def _along(self, facet: int, i: int, j: int) -> Iterator[_Segment]:
        _, line, low, high = self._shared(facet)
        p, q = self.partition.facets[facet].tolist()
        whole = 0
        for piece in (p, q):
            candidates = self._candidates(piece)
            if i not in candidates or j not in candidates:
                return
            tie = self._difference(piece, i, j)
            whole += not any(tie)
            if any(tie) and not _same(line, tie):
                return
            part = _clip(line, [self._difference(piece, i, k) for k in candidates if k not in (i, j)], low, high)
            if part is None:
                return
            low, high = part
        if whole < 2:
            yield _Segment([_point(line, t) for t in (low, high)], p, (i, j), facet)

    def _jumps_at(self, facet: int) -> bool:
        edges, line, low, high = self._shared(facet)
        sides = self.partition.facets[facet].tolist()
        stops = {low, high}
        for p in sides:
            for i, j in combinations(self._candidates(p), 2):
                slope, constant = _on_line(line, self._difference(p, i, j))
                if slope and low < -constant / slope < high:
                    stops.add(-constant / slope)
        for s, t in pairwise(sorted(stops)):
            middle = (s + t) / 2
            tied = [self._greatest(p, line, middle) for p in sides]
            near = [self._nearby(p, e, best) for p, e, best in zip(sides, edges, tied, strict=True)]
            if not near[0] & near[1] and len(tied[0] & tied[1]) < 2:
                return True
        return False

    def _greatest(self, p: int, line: Line, t: Fraction) -> set[int]:
        candidates = self._candidates(p)
        best = [candidates[0]]
        for k in candidates[1:]:
            s = _at(line, self._difference(p, k, best[0]), t)
            best = [k] if s > 0 else [*best, k] if s == 0 else best
        return set(best)

    def _nearby(self, p: int, edge: int, tied: set[int]) -> set[int]:
        """Of outputs tied along an edge, those that are greatest beside it, inside the piece."""
        line = self.outline.line(edge)
        corner = next(c for c in map(self.outline.corner, self._edges(p)) if sign_at(line, c))
        best: list[int] = []
        for k in tied:
            s = sign_at(self._difference(p, k, best[0]), corner) if best else 1
            best = [k] if s > 0 else [*best, k] if s == 0 else best
        return set(best)


def _same(line: Line, other: Line) -> bool:
    """Whether two forms vanish on one line."""
    return all(line[k] * other[m] == line[m] * other[k] for k, m in ((0, 1), (0, 2), (1, 2)))


def _on_line(line: Line, form: Line) -> tuple[Fraction, Fraction]:
    """(slope, constant) in t of an affine form along a line, up to a positive factor; see the module's header."""
    a, b, c = line
    d, e, f = form
    return Fraction(d * b - e * a), Fraction(f * (a * a + b * b) - c * (d * a + e * b))


def _at(line: Line, form: Line, t: Fraction) -> int:
    slope, constant = _on_line(line, form)
    return sign(slope * t + constant)


def _point(line: Line, t: Fraction) -> tuple[Fraction, Fraction]:
    a, b, c = line
    n = a * a + b * b
    return (b * t - a * c) / n, (-a * t - b * c) / n


def _clip(
    line: Line, forms: Iterable[Line], low: Fraction | None = None, high: Fraction | None = None
) -> tuple[Fraction, Fraction] | None:
    """The range of t, of positive length, on which all forms are at least 0; the forms must bound it."""
    for form in forms:
        slope, constant = _on_line(line, form)
        if not slope:
            if constant < 0:
                return None
            continue
        t = -constant / slope
        if slope > 0:
            low = t if low is None else max(low, t)
        else:
            high = t if high is None else min(high, t)
    assert low is not None and high is not None
    return (low, high) if low < high else None


# ------------------------------------------------------------------------------------------------ the line


class _OnLine(_Search):
    dim = 1

    def _corners(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        ends = self.source.pieces.ends
        return ends[:, :, 0].reshape(-1, 1), ends[:, :, 1].ravel(), np.arange(0, 2 * len(ends) + 1, 2)

    def _end(self, p: int, side: int) -> Real:
        return self.source.judge.end(self.source.pieces.tags[p, side], self.source.pieces.patterns[p])

    def _inside(
        self, p: int, candidates: list[int], i: int, j: int, on_facets: set[tuple[int, int, int]]
    ) -> Iterator[_Segment]:
        slope, constant = self._difference(p, i, j)
        if not slope:
            return
        x = Fraction(-constant, slope)
        low, high = compare(x, self._end(p, 0)), compare(x, self._end(p, 1))
        if low < 0 or high > 0:
            return
        for k in candidates:
            d, c = self._difference(p, k, i)
            if d * x + c > 0:
                return
        if low == 0 or high == 0:
            at = p if low == 0 else p + 1  # facet b joins pieces b − 1 and b
            if 0 < at < self.partition.n_pieces:
                on_facets.add((at, i, j))
            return
        yield _Segment([x], p, (i, j))

    def _along(self, facet: int, i: int, j: int) -> Iterator[_Segment]:
        p, q = self.partition.facets[facet].tolist()
        x = self._end(p, 1)
        if not all({i, j} <= self._greatest(piece, x) for piece in (p, q)):
            return
        if any(any(self._difference(piece, i, j)) for piece in (p, q)):
            yield _Segment([nearest_float(x)], p, (i, j), facet)

    def _greatest(self, p: int, x: Real) -> set[int]:
        candidates = self._candidates(p)
        best = [candidates[0]]
        for k in candidates[1:]:
            s = self._sign(p, k, best[0], x)
            best = [k] if s > 0 else [*best, k] if s == 0 else best
        return set(best)

    def _sign(self, p: int, i: int, j: int, x: Real) -> int:
        """Sign of output i − output j of a piece at x."""
        slope, constant = self._difference(p, i, j)
        return sign(slope) * compare(x, Fraction(-constant, slope)) if slope else sign(constant)

    def _jumps_at(self, facet: int) -> bool:
        p, q = self.partition.facets[facet].tolist()
        x = self._end(p, 1)
        left, right = self._greatest(p, x), self._greatest(q, x)
        # beside x: of those tied there, the least slope is greatest on its left, the greatest slope on its right
        before, after = self._steepest(p, left, -1), self._steepest(q, right, 1)
        return not before & after and len(left & right) < 2

    def _steepest(self, p: int, tied: set[int], way: int) -> set[int]:
        best: list[int] = []
        for k in tied:
            s = sign(self._difference(p, k, best[0])[0]) * way if best else 1
            best = [k] if s > 0 else [*best, k] if s == 0 else best
        return set(best)
