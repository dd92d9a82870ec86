"""How pieces bounded by arcs touch: ``adjacency`` for the convex polygons and trapezoids of the conic engine.

No curve is vertical in the engine's coordinates, so along a curve the ends of edges are ordered by x, along a wall by
y.  Both sides of a border tile the same arc or stretch of wall, and the merge for polygons gives the overlaps.  Two
ends are equal for certain where their *identity* agrees: on an arc the event (two curves, and the direction in which
their polynomial changes sign there: roots of one polynomial alternate, so overlapping intervals with one direction hold
one root), on a wall the curve and branch, with the pattern before the blocks of these curves; choices of the border's
own unit may differ where that passes on its score and the event lies on the border.  What is open is matched exactly.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cmp_to_key
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from regioncount.adjacency import Facets, merged, units_of
from regioncount.algebraic import Root, between
from regioncount.conics import ConicPieces, MixedPieces, as_curve, branch_on, canonical, compare_at, enclosed
from regioncount.exact import Line, crossing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from regioncount.conics import ConicJudge
    from regioncount.engines import Window

LOWER, RIGHT, UPPER, LEFT = range(4)  # edges of a trapezoid, counter-clockwise; POLYGON: an edge of a polygon
POLYGON = 4
NO_EDGE = -(2**60)
UNSURE = 1e-11  # curves that may be farther off than this are made exact before they are drawn
SHARPEST = 1e30  # square of the greatest weight of an arc
GOLDEN = 0.6180339887498949  # of interior points: isolated ties lie where things are symmetric


class MixedOutline:
    """Corners and edges of polygons, then of trapezoids, flat; edge e leaves corner e.

    ``kind`` and ``border`` of an edge; ``corners`` (n, 4) x, y and their radii.
    """

    def __init__(self, pieces: MixedPieces, judge: ConicJudge) -> None:
        from regioncount.kernels import conic

        self.pieces, self.judge = pieces, judge
        polygons, trapezoids = pieces.polygons, pieces.trapezoids
        n = len(trapezoids.patterns)
        for t, side in np.argwhere(trapezoids.curves[:, :, 6] > UNSURE).tolist():
            curve = judge.curve(trapezoids.tags[t, side], trapezoids.patterns[t])
            trapezoids.curves[t, side] = as_curve(curve)
        # all four corners and edges of each trapezoid, lower left first; walls that are points drop out
        x = trapezoids.walls[:, [0, 1, 1, 0]]
        sides = np.array([0, 0, 1, 1])
        curves = np.ascontiguousarray(trapezoids.curves[:, sides].reshape(-1, 8))
        branches = np.ascontiguousarray(trapezoids.tags[:, sides, 4].reshape(-1))
        own = trapezoids.tags[:, sides, :4]
        wall_tags = trapezoids.wall_tags[:, [0, 1, 1, 0]]
        tip = ((wall_tags[:, :, :4] == own) & (wall_tags[:, :, 4:8] == own)).all(axis=2)
        y = np.zeros((4 * n, 2))
        conic.corners(curves, branches, np.ascontiguousarray(x.reshape(-1, 2)), np.ascontiguousarray(tip.ravel()), y)
        corners = np.stack([x[:, :, 0].ravel(), y[:, 0], x[:, :, 1].ravel(), y[:, 1]], axis=1)
        lost = ~np.isfinite(corners).all(axis=1)
        corners[lost, 1], corners[lost, 3] = 0.0, np.inf
        border = np.empty((n, 4), dtype=np.int64)
        border[:, [LOWER, UPPER]] = trapezoids.tags[:, :, 5]
        border[:, [LEFT, RIGHT]] = trapezoids.wall_tags[:, :, 10]
        keep = (border != NO_EDGE).ravel()  # corner k starts edge k, so where a wall is a point its first corner goes
        kind = np.tile([LOWER, RIGHT, UPPER, LEFT], n)[keep]
        first = len(polygons.corners)
        self.corners = np.concatenate([polygons.corners[:, [0, 1, 2, 2]], corners[keep]])
        self.kind = np.concatenate([np.full(first, POLYGON), kind])
        self.border = np.concatenate([polygons.tags[:, 4], border.ravel()[keep]])
        sizes = np.concatenate([np.diff(polygons.offsets), keep.reshape(-1, 4).sum(axis=1)])
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.piece = np.repeat(np.arange(len(sizes)), sizes)
        self.n_polygons = len(polygons.offsets) - 1
        total = len(self.corners)
        self.next = np.arange(1, total + 1)
        self.next[self.offsets[1:] - 1] = self.offsets[:-1]
        self.previous = np.empty(total, dtype=np.int64)
        self.previous[self.next] = np.arange(total)
        self._exact: dict[int, Root] = {}

    def trapezoid(self, edge: int) -> int:
        """The number of an edge's piece among the trapezoids."""
        return int(self.piece[edge]) - self.n_polygons

    def tag(self, edge: int) -> np.ndarray:
        """Block, unit, i, j of the curve of an edge that is no wall."""
        if self.kind[edge] == POLYGON:
            return self.pieces.polygons.tags[edge, :4]
        return self.pieces.trapezoids.tags[self.trapezoid(edge), int(self.kind[edge] == UPPER), :4]

    def events(self, edges: np.ndarray, last: bool) -> np.ndarray:
        """The event (two curves in a fixed order, direction) at the first or last corner of edges on curves, (n, 9)."""
        out = np.zeros((len(edges), 9), dtype=np.int64)
        polygon = self.kind[edges] == POLYGON
        tags = self.pieces.polygons.tags
        e = edges[polygon]
        out[polygon, :4] = tags[e, :4]
        out[polygon, 4:8] = tags[self.next[e] if last else self.previous[e], :4]
        e = edges[~polygon]
        right = (self.kind[e] == LOWER) == last
        out[~polygon] = self.pieces.trapezoids.wall_tags[self.piece[e] - self.n_polygons, right.astype(int), :9]
        swap = np.zeros(len(edges), dtype=bool)
        same = np.ones(len(edges), dtype=bool)
        for k in range(4):
            swap |= same & (out[:, k] > out[:, 4 + k])
            same &= out[:, k] == out[:, 4 + k]
        out[swap] = out[swap][:, [4, 5, 6, 7, 0, 1, 2, 3, 8]]
        return out

    def wall_ends(self, edges: np.ndarray, last: bool) -> np.ndarray:
        """The curve and branch at the first or last corner of walls, as :meth:`events` gives those of curves."""
        out = np.full((len(edges), 9), -9, dtype=np.int64)
        upper = (self.kind[edges] == RIGHT) == last
        tags = self.pieces.trapezoids.tags[self.piece[edges] - self.n_polygons, upper.astype(int)]
        out[:, :4], out[:, 8] = tags[:, :4], tags[:, 4]
        return out

    def x_of(self, edge: int, last: bool) -> Root:
        """The exact x of the first or last corner of an edge."""
        corner = int(self.next[edge]) if last else edge
        found = self._exact.get(corner)
        if found is None:
            pattern = self.pieces.patterns[self.piece[edge]]
            if self.kind[edge] == POLYGON:
                tags = self.pieces.polygons.tags
                event = (*tags[self.previous[corner], :4], *tags[corner, :4], 0, -1)
                found = self.judge.root(event, (0.0, 0.0), pattern)
            else:
                kind = int(self.kind[corner])  # the corner before a wall lies on it, as do both ends of one
                right = kind in (RIGHT, UPPER)
                t = self.trapezoid(edge)
                trapezoids = self.pieces.trapezoids
                found = self.judge.root(trapezoids.wall_tags[t, int(right)], trapezoids.walls[t, int(right)], pattern)
            self._exact[corner] = found
        return found

    def branch_of(self, edge: int, upper: bool) -> Any:
        """The exact branch that is a side of an edge's trapezoid."""
        tag = self.pieces.trapezoids.tags[self.trapezoid(edge), int(upper)]
        return canonical(self.judge.curve(tag, self.pieces.patterns[self.piece[edge]]), int(tag[4]))

    def edge_branch(self, edge: int) -> Any:
        """The exact branch of an edge that is no wall."""
        if self.kind[edge] != POLYGON:
            return self.branch_of(edge, bool(self.kind[edge] == UPPER))
        g = self.judge.curve(self.tag(edge), self.pieces.patterns[self.piece[edge]])
        return canonical(g, 1 if g[2] > 0 else -1)

    # what ``adjacency.merged`` needs of an outline

    def corner(self, at: int) -> Line:
        """A corner, within 2^−100 of it, in homogeneous coordinates."""
        pattern = self.pieces.patterns[self.piece[at]]
        if self.kind[at] == POLYGON:
            tags = self.pieces.polygons.tags
            return crossing(self.judge.line(tags[self.previous[at]], pattern), self.judge.line(tags[at], pattern))
        x, (g, branch) = self.x_of(at, False), self.branch_of(at, bool(self.kind[at] in (UPPER, LEFT)))
        bits = 128
        while True:
            place = x.interval(bits)
            low, high = enclosed(g, branch, place)
            if high - low <= 1 << (place[2] - 100):
                return place[0] + place[1], low + high, 2 << place[2]
            bits *= 2


def find_facets(outline: MixedOutline) -> tuple[Facets, np.ndarray]:
    """All facets, walls and the domain's boundary included; and for each its edge of the first piece."""
    from regioncount.kernels import facets as kernel

    inner = np.flatnonzero(outline.border >= 0)
    numbers, border = np.unique(outline.border[inner] >> 1, return_inverse=True)
    side = outline.border[inner] & 1
    first, second = inner, outline.next[inner]
    forward = side == 0
    ends = np.stack([np.where(forward, first, second), np.where(forward, second, first)], axis=1)
    wall = np.isin(outline.kind[inner], (LEFT, RIGHT))
    at = outline.corners[ends, 0]
    at[wall] = -outline.corners[ends[wall], 1]
    # along a curve, the sense in which side 0 goes: that of its longest edge
    along = np.where(wall, 1.0, at[:, 1] - at[:, 0])
    longest = np.argsort(np.abs(along), kind="stable")
    sense = np.ones(len(numbers))
    sense[border[longest]] = np.where(along[longest] < 0, -1.0, 1.0)
    at *= sense[border][:, None]
    radius = outline.corners[ends, 2]
    radius[wall] = outline.corners[ends[wall], 3]
    order = np.lexsort((at.sum(axis=1), side, border))
    starts = np.searchsorted(border[order] * 2 + side[order], np.arange(2 * len(numbers) + 1))
    borders = np.stack([starts[:-1:2], starts[1::2], starts[2::2]], axis=1)
    keys = _keys(outline, inner, wall, forward)
    facets = np.zeros((len(inner) + 1, 6), dtype=np.int64)
    equal = np.zeros((2 * len(inner) + len(numbers) + 1, 2), dtype=np.int64)
    flagged, done = np.zeros(len(numbers), dtype=np.uint8), np.zeros(2, dtype=np.int64)
    none, no_flags = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    kernel.match(
        borders, order, at, radius, ends, ends, outline.piece[inner], inner, np.zeros((0, 5), dtype=np.int64),
        outline.pieces.patterns, none, none, none, no_flags, keys, facets, equal, flagged, done,
    )  # fmt: skip
    facets, equal = facets[: done[0]], equal[: done[1]]
    open_edges = np.flatnonzero(flagged[border] == 1)
    if len(open_edges):
        more, pairs = _match_exactly(outline, inner[open_edges], border[open_edges], wall[open_edges])
        facets, equal = np.concatenate([facets, more]), np.concatenate([equal, pairs])
    inside = facets.copy()
    inside[:, 2] = numbers[facets[:, 2]] if len(facets) else facets[:, 2]
    outer = np.flatnonzero((outline.border < 0) & (outline.border != NO_EDGE))
    boundary = np.stack(
        [outline.piece[outer], np.full(len(outer), -1), outline.border[outer], outer, outline.next[outer], outer],
        axis=1,
    )
    together = np.concatenate([inside, boundary])
    corner_vertex, vertices = merged(outline, outline.corners[:, :2], outline.corners[:, 2:].max(axis=1), equal)
    found = Facets(
        together[:, :2], together[:, 2], corner_vertex[together[:, 3:5]], corner_vertex, vertices, int(flagged.sum())
    )
    return found, together[:, 5]


def _keys(outline: MixedOutline, edges: np.ndarray, wall: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """The identity of both ends of each edge along its border, as numbers (E, 2); only the end is compared."""
    from regioncount.kernels import facets as kernel

    judge = outline.judge
    first_column, low, high, continuous = units_of(judge.lowered)
    keys = np.zeros((len(edges), 2), dtype=np.int64)
    for end in range(2):
        events = np.empty((len(edges), 9), dtype=np.int64)
        for last in (False, True):
            mine = (forward == bool(end)) == last
            curve, across = mine & ~wall, mine & wall
            events[curve] = outline.events(edges[curve], last)
            events[across] = outline.wall_ends(edges[across], last)
        block = np.maximum(events[:, 0], events[:, 4])
        columns = np.where(block >= 0, first_column[np.maximum(block, 0)], 0)
        # choices of the border's own unit may differ if it passes on its score and the event lies on the border
        own = np.zeros((len(edges), 4), dtype=np.int64)
        polygon = outline.kind[edges] == POLYGON
        own[polygon] = outline.pieces.polygons.tags[edges[polygon], :4]
        rest = ~polygon & ~wall
        upper = (outline.kind[edges[rest]] == UPPER).astype(int)
        own[rest] = outline.pieces.trapezoids.tags[outline.piece[edges[rest]] - outline.n_polygons, upper, :4]
        on_border = (events[:, :4] == own).all(axis=1) ^ (events[:, 4:8] == own).all(axis=1)
        unit = own[:, 1]
        free = on_border & ~wall & (own[:, 0] >= 0) & (continuous[unit] > 0)
        at = np.zeros(len(edges), dtype=np.int64)
        kernel.end_keys(
            events, outline.pieces.patterns, outline.piece[edges], columns, np.where(free, low[unit], 0),
            np.where(free, high[unit], 0), at,
        )  # fmt: skip
        keys[:, end] = at
    return keys


def _match_exactly(
    outline: MixedOutline, edges: np.ndarray, borders: np.ndarray, wall: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Facets among these edges, by exact arithmetic; and pairs of equal corners."""
    key: Any
    groups: dict[Any, tuple[list, list]] = defaultdict(lambda: ([], []))
    for edge, border, is_wall in zip(edges.tolist(), borders.tolist(), wall.tolist(), strict=True):
        corners = (edge, int(outline.next[edge]))
        if is_wall:
            upper = outline.kind[edge] == RIGHT  # whether it is passed upwards
            ends = [outline.branch_of(edge, not upper), outline.branch_of(edge, bool(upper))]
            key, backward = ("wall", border), bool(upper)
        else:
            ends = [outline.x_of(edge, False), outline.x_of(edge, True)]
            key, backward = outline.edge_branch(edge), ends[0].compare(ends[1]) > 0
        if backward:
            ends, corners = ends[::-1], corners[::-1]
        groups[key][backward].append((*ends, *corners, edge, border))
    facets: list[tuple[int, ...]] = []
    equal: list[tuple[int, int]] = []
    for name, (forward, back) in groups.items():
        if name[0] == "wall":
            x = outline.x_of((forward or back)[0][4], False)

            def order(p: Any, q: Any, x: Root = x) -> int:
                return -compare_at(x, p, q)  # downwards
        else:

            def order(p: Any, q: Any) -> int:  # type: ignore[misc]
                return p.compare(q)

        _overlaps(outline, forward, back, order, facets, equal)
    return np.array(facets, dtype=np.int64).reshape(-1, 6), np.array(equal, dtype=np.int64).reshape(-1, 2)


def _overlaps(
    outline: MixedOutline, forward: list, back: list, order: Callable[[Any, Any], int], facets: list, equal: list
) -> None:
    """Append the overlaps of two lists of stretches (low, high, corners there, edge, border) of one curve."""
    place = cmp_to_key(order)
    back.sort(key=lambda stretch: place(stretch[0]))
    forward.sort(key=lambda stretch: place(stretch[0]))
    at = 0
    for stretches in (forward, back):
        equal += [(p[3], q[2]) for p, q in pairwise(stretches) if order(p[1], q[0]) == 0]
    for low, high, low_corner, high_corner, edge, border in forward:
        while at < len(back) and order(back[at][1], low) <= 0:
            at += 1
        k = at
        while k < len(back) and order(back[k][0], high) < 0:
            low2, high2, low_corner2, high_corner2, edge2, _ = back[k]
            first, last = order(low, low2), order(high, high2)
            equal += [(low_corner, low_corner2)] if first == 0 else []
            equal += [(high_corner, high_corner2)] if last == 0 else []
            start = low_corner if first >= 0 else low_corner2
            end = high_corner if last <= 0 else high_corner2
            facets.append((int(outline.piece[edge]), int(outline.piece[edge2]), border, start, end, edge))
            k += 1


def arcs_of(
    outline: MixedOutline, window: Window, edges: Iterable[int], start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The arcs of facets on these edges between points (n, 2) in engine coordinates, as Béziers.

    Returns the rows of ``Partition.arcs``, in the user's coordinates, and for each facet its row or −1.
    """
    edges = np.asarray(edges)
    number = np.full(len(edges), -1)
    kind = outline.kind[edges]
    candidates = np.flatnonzero((kind == LOWER) | (kind == UPPER))
    t = outline.piece[edges[candidates]] - outline.n_polygons
    side = (kind[candidates] == UPPER).astype(int)
    trapezoids = outline.pieces.trapezoids
    curved = trapezoids.curves[t, side, 7] == 0.0
    candidates, t, side = candidates[curved], t[curved], side[curved]
    g, branch = trapezoids.curves[t, side, :6], trapezoids.tags[t, side, 4]
    bezier, bent = _beziers(g, branch, start[candidates], end[candidates])
    number[candidates[bent]] = np.arange(int(bent.sum()))
    return window.outward_homogeneous(bezier[bent]), number


def _beziers(g: np.ndarray, branch: np.ndarray, p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Control points (X, Y, w) of rational Béziers on curves g (n, 6) from p to q (n, 2), and which are not straight.

    With the conic's matrix Q and homogeneous p, q: c = (Qp) × (Qq) is where the tangents meet, and the curve
    (1−t)² p + 2 t (1−t) μ c + t² q lies on the conic for μ² = −pQq / (2 cQc); the sign of μ is that of the arc between.
    """
    wide = np.longdouble
    middle, half = (p + q).astype(wide) / 2, (q - p).astype(wide) / 2
    h = np.maximum(np.hypot(half[:, 0], half[:, 1]), wide(1e-300))
    x, y = middle.T
    g = g.astype(wide)
    local = np.stack(
        [
            g[:, 0] + x * (g[:, 1] + x * g[:, 3] + y * g[:, 4]) + y * (g[:, 2] + y * g[:, 5]),
            h * (g[:, 1] + 2 * x * g[:, 3] + y * g[:, 4]),
            h * (g[:, 2] + x * g[:, 4] + 2 * y * g[:, 5]),
            h * h * g[:, 3],
            h * h * g[:, 4],
            h * h * g[:, 5],
        ],
        axis=1,
    )
    local /= np.maximum(np.abs(local).max(axis=1), wide(1e-4900))[:, None]
    bend = np.abs(local[:, 3:]).max(axis=1)
    bent = (bend > 1e-9) & (bend > 1e-12 / h)
    c0, c1, c2, c3, c4, c5 = local.T
    matrix = np.array([[c3, c4 / 2, c1 / 2], [c4 / 2, c5, c2 / 2], [c1 / 2, c2 / 2, c0]]).transpose(2, 0, 1)
    unit = half / h[:, None]
    one = np.ones((len(p), 1), dtype=wide)
    a, b = np.concatenate([-unit, one], axis=1), np.concatenate([unit, one], axis=1)
    qa, qb = (matrix * a[:, None, :]).sum(axis=2), (matrix * b[:, None, :]).sum(axis=2)
    pole = np.cross(qa, qb)
    inner = (a * qb).sum(axis=1)
    with np.errstate(all="ignore"):  # what is straight, or no arc, comes out as no number and is left out
        pole /= np.maximum(np.abs(pole).max(axis=1), wide(1e-4900))[:, None]
        outer = (pole * (matrix * pole[:, None, :]).sum(axis=2)).sum(axis=1)
        square = -inner / (2 * outer)
        lines = (np.abs(outer) < 1e-17) & ~((square > 0) & (square < SHARPEST))  # as far as floats can tell
        square[lines] = SHARPEST
        control = pole * np.sqrt(np.maximum(square, 0))[:, None]
        best = np.full(len(p), np.inf)
        chosen = control.copy()
        for sign in (1, -1):
            trial = sign * control
            shoulder = middle + h[:, None] * trial[:, :2] / (1 + trial[:, 2:])
            off = np.abs(shoulder[:, 1] - _branch_y(g, branch, shoulder[:, 0])).astype(float)
            off[~np.isfinite(off) | (trial[:, 2] < -1e-6)] = np.inf
            better = off < best
            best[better], chosen[better] = off[better], trial[better]
    bent &= np.isfinite(best)
    chosen[~bent] = 0
    weight = np.maximum(chosen[:, 2:], 0)
    out = np.concatenate([weight * middle + h[:, None] * chosen[:, :2], weight], axis=1)
    return out.astype(float), bent


def _branch_y(g: np.ndarray, branch: np.ndarray, x: np.ndarray) -> np.ndarray:
    sign = np.where(branch > 0, 1, -1)
    a, b, c = sign * g[:, 5], sign * (g[:, 2] + x * g[:, 4]), sign * (g[:, 0] + x * (g[:, 1] + x * g[:, 3]))
    root = np.sqrt(np.maximum(b * b - 4 * a * c, 0))
    return np.where(b <= 0, (root - b) / (2 * a), -2 * c / (b + root))


def _widest(trapezoids: ConicPieces) -> np.ndarray:
    """A point between the sides of each trapezoid where they are far apart; NaN where floats see no room."""
    from regioncount.kernels import conic

    parts, n = (GOLDEN * np.arange(1, 9)) % 1, len(trapezoids.patterns)
    x = trapezoids.walls[:, :1, 0] + parts * (trapezoids.walls[:, 1:, 0] - trapezoids.walls[:, :1, 0])
    at = np.stack([x.ravel(), np.zeros(x.size)], axis=1)
    ys = np.zeros((2, n, len(parts), 2))
    for side in range(2):
        curves = np.repeat(trapezoids.curves[:, side], len(parts), axis=0)
        branches = np.repeat(trapezoids.tags[:, side, 4], len(parts))
        conic.corners(curves, branches, at, np.zeros(x.size, dtype=np.bool_), ys[side].reshape(-1, 2))
    with np.errstate(invalid="ignore"):
        room = (ys[1, :, :, 0] - ys[1, :, :, 1]) - (ys[0, :, :, 0] + ys[0, :, :, 1])
    room[~np.isfinite(room)] = -np.inf
    best = np.arange(n), room.argmax(axis=1) if n else np.zeros(0, dtype=np.int64)
    y = (1 - GOLDEN) * ys[0, best[0], best[1], 0] + GOLDEN * ys[1, best[0], best[1], 0]
    points = np.stack([x[best], y], axis=1)
    points[~(room[best] > 0)] = np.nan
    return points


def interior(outline: MixedOutline, window: Window) -> np.ndarray:
    """A point inside each piece, (n_pieces, 2), in the user's coordinates, not on its lines of symmetry."""
    polygons, trapezoids = outline.pieces.polygons, outline.pieces.trapezoids
    sizes = np.diff(polygons.offsets)
    inside, total = np.zeros((len(sizes), 2)), np.zeros(len(sizes))
    weight = 1 + (GOLDEN * np.arange(len(polygons.corners))) % 1
    piece = outline.piece[: len(polygons.corners)]
    np.add.at(inside, piece, weight[:, None] * polygons.corners[:, :2])
    np.add.at(total, piece, weight)
    inside /= total[:, None]
    points = _widest(trapezoids)
    for t in np.flatnonzero(~np.isfinite(points).all(axis=1)).tolist():
        pattern = trapezoids.patterns[t]
        ends = [outline.judge.root(trapezoids.wall_tags[t, s], trapezoids.walls[t, s], pattern) for s in range(2)]
        x = between(*ends)
        tags = trapezoids.tags[t]
        ys = [float(branch_on(outline.judge.curve(tag, pattern), int(tag[4]), x)) for tag in tags]
        points[t] = float(x), (1 - GOLDEN) * ys[0] + GOLDEN * ys[1]
    return window.outward(np.concatenate([inside, points]))
