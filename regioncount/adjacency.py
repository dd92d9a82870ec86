"""How the pieces of the plane touch: facets, and the vertices in which they end.

Facets are overlaps of edges, not shared edges: after attention the two sides of a border are subdivided
independently.  They come from ``kernels.facets``; borders on which floats leave an order open, and edges whose border
has only one side (candidates of one unit that tie on one line), are matched here by exact arithmetic: edges on one
line, traversed in opposite senses, overlap or do not.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from regioncount.exact import Line, crossing

if TYPE_CHECKING:
    from regioncount.engines import PlaneJudge, PlanePieces
    from regioncount.lowering import Lowered

ROUGH = 1e-7  # corners that may be farther off than this, of almost parallel lines, are put at their exact place


class Facets(NamedTuple):
    """``pieces`` (n, 2), −1 for the domain's boundary; ``border`` (n,): number of the split, or −1 − edge of the
    domain; ``ends`` (n, 2) vertices, in the sense in which the first piece is traversed counter-clockwise;
    ``corner_vertex`` (M,) the vertex of each corner, ``vertices`` (V, 2) in engine coordinates; ``exact`` how many
    borders needed exact arithmetic."""

    pieces: np.ndarray
    border: np.ndarray
    ends: np.ndarray
    corner_vertex: np.ndarray
    vertices: np.ndarray
    exact: int


class Outline:
    """Corners and edges of pieces, flat; edge e leaves corner e."""

    def __init__(self, pieces: PlanePieces, judge: PlaneJudge) -> None:
        self.pieces, self.judge = pieces, judge
        self.offsets = offsets = pieces.offsets
        n = len(pieces.corners)
        self.piece = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        self.next = np.arange(1, n + 1)
        self.next[offsets[1:] - 1] = offsets[:-1]
        self.previous = np.empty(n, dtype=np.int64)
        self.previous[self.next] = np.arange(n)
        self._corners: dict[int, Line] = {}

    def line(self, edge: int) -> Line:
        """The exact line of an edge, inside positive or negative."""
        return self.judge.line(self.pieces.tags[edge], self.pieces.patterns[self.piece[edge]])

    def corner(self, at: int) -> Line:
        """A corner exactly, in homogeneous coordinates."""
        found = self._corners.get(at)
        if found is None:
            found = self._corners[at] = crossing(self.line(int(self.previous[at])), self.line(at))
        return found


def find_facets(outline: Outline) -> Facets:
    """All facets, the domain's boundary included."""
    pieces = outline.pieces
    tags = pieces.tags
    facets, equal, borders, exact = _facets_inside(outline)
    outer = np.flatnonzero(tags[:, 4] < 0)
    boundary = np.stack(
        [outline.piece[outer], np.full(len(outer), -1), tags[outer, 4], outer, outline.next[outer], outer], axis=1
    )
    inner = facets.copy()
    inner[:, 2] = borders[facets[:, 2]] if len(facets) else facets[:, 2]
    together = np.concatenate([inner, boundary])
    corner_vertex, vertices = merged(outline, pieces.corners[:, :2], pieces.corners[:, 2], equal)
    return Facets(together[:, :2], together[:, 2], corner_vertex[together[:, 3:5]], corner_vertex, vertices, exact)


def _facets_inside(outline: Outline) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    from regioncount.kernels import facets as kernel

    pieces, tags, corners = outline.pieces, outline.pieces.tags, outline.pieces.corners
    inner = np.flatnonzero(tags[:, 4] >= 0)
    if not len(inner):
        none = np.zeros((0, 6), dtype=np.int64)
        return none, none[:, :2], np.zeros(0, dtype=np.int64), 0
    numbers, border = np.unique(tags[inner, 4] >> 1, return_inverse=True)
    side = tags[inner, 4] & 1
    along = np.where(side == 0, 1.0, -1.0)[:, None] * (corners[outline.next[inner], :2] - corners[inner, :2])
    direction = np.zeros((len(numbers), 2))
    longest = np.argsort(np.abs(along).max(axis=1), kind="stable")
    direction[border[longest]] = along[longest]
    direction /= np.maximum(np.hypot(*direction.T), 1e-300)[:, None]
    # for each edge, along its border: its two ends, the corners there, and the edges that meet it there
    first, second = inner, outline.next[inner]
    forward = side == 0
    ends = np.stack([np.where(forward, first, second), np.where(forward, second, first)], axis=1)
    others = np.stack(
        [np.where(forward, outline.previous[inner], second), np.where(forward, second, outline.previous[inner])], axis=1
    )
    at = np.einsum("eik,ek->ei", corners[ends, :2], direction[border])
    order = np.lexsort((at.sum(axis=1), side, border))
    starts = np.searchsorted(border[order] * 2 + side[order], np.arange(2 * len(numbers) + 1))
    borders = np.stack([starts[:-1:2], starts[1::2], starts[2::2]], axis=1)
    first_column, low, high, continuous = units_of(outline.judge.lowered)
    facets = np.zeros((len(inner) + 1, 6), dtype=np.int64)
    equal = np.zeros((len(inner) + len(numbers) + 1, 2), dtype=np.int64)
    flagged, done = np.zeros(len(numbers), dtype=np.uint8), np.zeros(2, dtype=np.int64)
    kernel.match(
        borders, order, at, corners[ends, 2], ends, others, outline.piece[inner], inner, tags, pieces.patterns,
        first_column, low, high, continuous, np.zeros((0, 2), dtype=np.int64), facets, equal, flagged, done,
    )  # fmt: skip
    facets, equal = facets[: done[0]], equal[: done[1]]
    open_edges = inner[flagged[border] == 1]
    if len(open_edges):
        more, pairs = _match_exactly(outline, open_edges, np.searchsorted(numbers, tags[open_edges, 4] >> 1))
        facets, equal = np.concatenate([facets, more]), np.concatenate([equal, pairs])
    return facets, equal, numbers, int(flagged.sum())


def units_of(lowered: Lowered) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """First pattern column of each block; range of pattern columns of each unit, and whether it passes on its score:
    neither heads do nor the hidden choices before them.
    """
    blocks = lowered.blocks
    low, high, continuous = [], [], []
    for block in blocks:
        for unit in block.units:
            low.append(min(unit.columns, default=0))
            high.append(max(unit.columns, default=-1) + 1)
            continuous.append(unit.continuous)
    first = np.array([block.first_column for block in blocks], dtype=np.int64)
    return first, np.array(low, dtype=np.int64), np.array(high, dtype=np.int64), np.array(continuous, dtype=np.uint8)


def _match_exactly(outline: Outline, edges: np.ndarray, borders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Facets among these edges, by exact arithmetic; and pairs of equal corners."""
    lines: dict[Line, tuple[list, list]] = defaultdict(lambda: ([], []))
    for edge, border in zip(edges.tolist(), borders.tolist(), strict=True):
        a, b, c = outline.line(edge)
        common = math.gcd(a, b, c) * (1 if (a or b) > 0 else -1)
        a, b, c = a // common, b // common, c // common
        start, end = (_along(outline.corner(v), a, b) for v in (edge, int(outline.next[edge])))
        corners = (edge, int(outline.next[edge]))
        if start < end:
            lines[a, b, c][0].append((start, end, *corners, edge, border))
        else:
            lines[a, b, c][1].append((end, start, *corners[::-1], edge, border))
    facets: list[tuple[int, int, int, int, int, int]] = []
    equal: list[tuple[int, int]] = []
    for forward, backward in lines.values():
        forward.sort()
        backward.sort()
        at = 0
        for low, high, low_corner, high_corner, edge, border in forward:
            while at < len(backward) and backward[at][1] <= low:
                at += 1
            k = at
            while k < len(backward) and backward[k][0] < high:
                low2, high2, low_corner2, high_corner2, edge2, _ = backward[k]
                equal += [(low_corner, low_corner2)] if low == low2 else []
                equal += [(high_corner, high_corner2)] if high == high2 else []
                start = low_corner if low >= low2 else low_corner2
                end = high_corner if high <= high2 else high_corner2
                facets.append((int(outline.piece[edge]), int(outline.piece[edge2]), border, start, end, edge))
                k += 1
    return np.array(facets, dtype=np.int64).reshape(-1, 6), np.array(equal, dtype=np.int64).reshape(-1, 2)


def _along(point: Line, a: int, b: int) -> Fraction:
    """Where a point lies along the direction (b, −a)."""
    return Fraction(b * point[0] - a * point[1], point[2])


def merged(outline: Any, corners: np.ndarray, radius: np.ndarray, equal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices from corners that are proven equal: those around a point are, by the facets that end there.

    Equal floats prove nothing: lines may lie closer than floats tell.  Each vertex is at its most accurate corner, an
    ill-conditioned one at its exact place.
    """
    n = len(corners)
    graph = coo_array((np.ones(len(equal), dtype=np.int8), (equal[:, 0], equal[:, 1])), shape=(n, n))
    count, corner_vertex = connected_components(graph, directed=False)
    worst_first = np.argsort(-radius, kind="stable")
    best = np.empty(count, dtype=np.int64)
    best[corner_vertex[worst_first]] = worst_first
    vertices = corners[best]
    for v in np.flatnonzero(~(radius[best] <= ROUGH)):
        x, y, w = outline.corner(int(best[v]))
        vertices[v] = x / w, y / w
    return corner_vertex, vertices
