"""Partitions as shapely geometries: pieces, regions, areas, GeoJSON.  The only module that imports shapely.

A piece is given every vertex on its boundary: where neighbours end on one of its edges (T-junctions), the vertex there
is one of its corners too, so that edges of neighbours match number by number and the pieces are a *coverage* in the
sense of GEOS: no gap, no overlap, unions by dropping the edges that occur twice.  Where borders are arcs of conics, a
polyline takes the place of each arc, for the pieces on both sides; as long as every piece then is a simple polygon,
they are a coverage again, since the boundaries of all pieces sum to that of the domain.  On the line, pieces are
segments of the x-axis.  Coordinates are floats; what is counted is counted on exact numbers elsewhere.

Pieces that are not bounded are cut off by a box, :func:`extent`, that has all finite vertices in it; what is bounded is
left as it is.  Their areas are infinite.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely

from regioncount import arcs
from regioncount.arcs import Parts, cross
from regioncount.errors import InputError, shown

if TYPE_CHECKING:
    from regioncount.partition import Partition

FLAT = 1e-4  # how far an arc may be from its polyline, in parts of the domain's width and height
DEPTH = 12  # an arc has at most 2 ** 12 parts, before those that would cross others are halved
ROUNDS = 60  # of halving such parts
CENTRAL = 0.9  # the part of the vertices that a view of an unbounded partition shows if it is FAR times smaller
FAR = 2.0
MARGIN = 0.25  # of a view around vertices, in parts of their extent
SAME_PATTERN = ("activation", "cells")  # definitions whose regions have one activation pattern


def walks(partition: Partition) -> tuple[np.ndarray, np.ndarray]:
    """The closed walks around the pieces of the plane, through every vertex on the boundary, counter-clockwise.

    Parameters
    ----------
    partition : Partition
        Of dimension 2.

    Returns
    -------
    offsets : ndarray of int (n_pieces + 1,)
    vertices : ndarray of int
        Piece p passes ``partition.vertices[vertices[offsets[p]:offsets[p + 1]]]``.

    Raises
    ------
    InputError
        If the partition is none of the plane.
    """
    offsets, facet, forward = _walked(partition)
    return offsets, partition.facet_vertices[facet, np.where(forward, 0, 1)]


def _walked(partition: Partition) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The walks as facets: offsets (n_pieces + 1,), the facets, and whether each is passed from its first end."""
    _plane(partition)
    facets, ends = partition.facets, partition.facet_vertices
    inner = facets[:, 1] >= 0
    piece = np.concatenate([facets[:, 0], facets[inner, 1]])
    start = np.concatenate([ends[:, 0], ends[inner, 1]])
    end = np.concatenate([ends[:, 1], ends[inner, 0]])
    size = np.int64(len(partition.vertices))
    order = np.argsort(piece * size + start, kind="stable")
    piece, start, end = piece[order], start[order], end[order]
    following = np.searchsorted(piece * size + start, piece * size + end)
    offsets = np.searchsorted(piece, np.arange(partition.n_pieces + 1))
    # one step along all walks at a time: as many steps as the longest walk has, over the pieces that still go on
    side = np.empty(len(start), dtype=np.int64)
    going, at, step = np.arange(partition.n_pieces), offsets[:-1].copy(), 0
    while len(going):
        side[offsets[going] + step] = at
        step += 1
        more = offsets[going] + step < offsets[going + 1]
        going, at = going[more], following[at[more]]
    side = order[side]
    return offsets, np.concatenate([np.arange(len(facets)), np.flatnonzero(inner)])[side], side < len(facets)


def extent(partition: Partition, central: bool = False) -> tuple[float, ...]:
    """A box around all finite vertices, with a margin of a quarter; on the line an interval around the breakpoints.

    Borders without a vertex, whole lines, count with their points nearest to the origin.  Where there is nothing the
    box is [−1, 1]², where there is one point it is of half its distance from the origin, or of size 1.  A box that is
    longer than four times its width stays so, others become squares.

    Parameters
    ----------
    partition : Partition
    central : bool
        Around the central 90 % of the vertices along each axis, if that is less than half of all in size.

    Returns
    -------
    tuple of float
        (x from, x to) on the line, (x from, x to, y from, y to) in the plane.
    """
    points = _places(partition)
    if not len(points):
        return (-1.0, 1.0) * partition.dim
    low, high = points.min(axis=0), points.max(axis=0)
    if central:
        inner = np.quantile(points, [(1 - CENTRAL) / 2, (1 + CENTRAL) / 2], axis=0)
        if (high - low).max() > FAR * (inner[1] - inner[0]).max() > 0:
            low, high = inner
    middle, half = low / 2 + high / 2, (high / 2 - low / 2) * (1 + MARGIN)
    if not half.max():
        half[:] = np.abs(middle).max() / 2 or 1.0
    half = np.where((half < half.max() / 4) & (half > 0), half, half.max())
    return tuple(np.stack([middle - half, middle + half], axis=1).ravel().tolist())


def _places(partition: Partition) -> np.ndarray:
    """The finite vertices, and of whole lines the point nearest to the origin, (n, dim)."""
    if partition.dim == 1:
        inside = partition.breakpoints[1:-1] if not partition.domain.bounded else partition.breakpoints
        return inside[:, None]
    if partition.domain.bounded:
        return partition.vertices
    finite = ~_on_frame(partition)
    ends = partition.facet_vertices
    lines = ends[(partition.facets[:, 1] >= 0) & ~finite[ends].any(axis=1)]
    start, step = partition.vertices[lines[:, 0]], np.diff(partition.vertices[lines], axis=1)[:, 0]
    share = -(start * step).sum(axis=1) / (step * step).sum(axis=1)
    return np.concatenate([partition.vertices[finite], start + share[:, None] * step])


def _on_frame(partition: Partition) -> np.ndarray:
    """Which vertices of the whole plane are on its frame, bool (n_vertices,)."""
    found = np.zeros(len(partition.vertices), dtype=bool)
    found[partition.facet_vertices[partition.facets[:, 1] < 0]] = True
    return found


def stretched(partition: Partition, reach: float) -> np.ndarray:
    """The vertices of a partition of the whole plane with its frame at ``reach``, if that is farther out.

    Each border that goes on to infinity is drawn on to the same side of the larger square (``plane``: it meets no other
    border, and no other side, on its way).
    """
    now = partition.reach
    if now is None or reach <= now:
        return partition.vertices
    out = partition.vertices.copy()
    frame = _on_frame(partition)
    out[frame] *= reach / now  # right for corners of the square
    for end in (0, 1):
        rays = partition.facet_vertices[(partition.facets[:, 1] >= 0) & frame[partition.facet_vertices[:, end]]]
        far, near = rays[:, end], rays[:, 1 - end]
        at, step = partition.vertices[far], partition.vertices[far] - partition.vertices[near]
        side = np.abs(at).argmax(axis=1)
        row = np.arange(len(far))
        share = (np.sign(at[row, side]) * reach - at[row, side]) / step[row, side]
        out[far] = at + share[:, None] * step
        out[far, side] = np.sign(at[row, side]) * reach
    return out


def clipped(corners: np.ndarray, offsets: np.ndarray, window: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Convex polygons in a box; those outside become empty.  Neighbours get the same crossings of their common edge.

    Parameters
    ----------
    corners : ndarray (m, 2)
        Of the polygons, one after the other.
    offsets : ndarray of int (n + 1,)
    window : tuple of float
        (x from, x to, y from, y to)

    Returns
    -------
    corners, offsets
    """
    for axis, bound, way in ((0, window[0], 1), (0, window[1], -1), (1, window[2], 1), (1, window[3], -1)):
        after = np.arange(1, len(corners) + 1)
        size = np.diff(offsets)
        after[offsets[1:][size > 0] - 1] = offsets[:-1][size > 0]
        within = way * (corners[:, axis] - bound) >= 0
        cross_ = within != within[after]
        number = within.astype(np.int64) + cross_
        ends = np.cumsum(number)
        place = ends - number
        new = np.empty((int(number.sum()), 2))
        new[place[within]] = corners[within]
        new[(place + within)[cross_]] = _crossed(corners[cross_], corners[after[cross_]], axis, bound)
        corners, offsets = new, np.concatenate([[0], ends])[offsets]
    return corners, offsets


def _crossed(a: np.ndarray, b: np.ndarray, axis: int, bound: float) -> np.ndarray:
    """Where segments cross a line, the same from both sides."""
    turned = (a[:, axis] > b[:, axis])[:, None]
    low, high = np.where(turned, b, a), np.where(turned, a, b)
    share = (bound - low[:, axis]) / (high[:, axis] - low[:, axis])
    out = low + share[:, None] * (high - low)
    out[:, axis] = bound
    return out


class Outlines(NamedTuple):
    """Boundaries of pieces as polygons, arcs as polylines; what neighbours share has the same numbers.

    Piece p passes ``points[around[offsets[p]:offsets[p + 1]]]`` counter-clockwise.  Facet f passes the points
    ``along[spans[f]:spans[f + 1]]``, from its first end to its second.
    """

    points: np.ndarray
    offsets: np.ndarray
    around: np.ndarray
    spans: np.ndarray
    along: np.ndarray


def outlines(
    partition: Partition, tolerance: float | None = None, window: tuple[float, ...] | None = None
) -> Outlines:
    """The boundaries of the pieces of the plane as polygons, through every vertex on them.

    Every arc becomes a polyline through points of its own, at most ``2 ** DEPTH`` parts long, once for the pieces on
    both sides.  Where polylines cross though the arcs do not, the parts that do are halved until none is left.

    Parameters
    ----------
    partition : Partition
        Of dimension 2.
    tolerance : float, optional
        The farthest that an arc may be from its polyline, in the user's units; by default ``FLAT`` times width and
        height of the domain, along x and along y, or of the window.
    window : tuple of float, optional
        (x from, x to, y from, y to): arcs outside of it may be coarser.

    Raises
    ------
    InputError
        If the partition is none of the plane, or the tolerance is not positive.
    """
    offsets, facet, forward = _walked(partition)
    allowed = _tolerance(partition, tolerance, window)
    ends = partition.facet_vertices
    curved = np.flatnonzero(partition.facet_arc >= 0)
    start, end = partition.vertices[ends[curved]].transpose(1, 0, 2)
    parts = Parts.of(start, partition.arcs[partition.facet_arc[curved]], end)
    box = None if window is None else np.array(window, dtype=float).reshape(2, 2).T
    parts = parts.flat(allowed, DEPTH if box is None else 2 * DEPTH, box)
    touched = np.zeros(len(ends), dtype=bool)
    touched[curved] = True
    for _ in range(ROUNDS):
        made, part = _rings(partition, offsets, facet, forward, curved, parts)
        beside = partition.facets[touched]
        pieces = np.unique(beside[beside >= 0])
        if box is not None:
            pieces = pieces[_meets(made, pieces, box)]
        crossing = _crossing(made, part, pieces, parts)
        if not crossing.any():
            break
        touched[:] = False
        touched[curved[parts.curve[crossing]]] = True
        parts = parts.halved(crossing)
    return made


def _tolerance(partition: Partition, tolerance: float | None, window: Any) -> np.ndarray:
    if tolerance is None:
        if window is not None:
            x0, x1, y0, y1 = window
            return FLAT * np.array([x1 - x0, y1 - y0])
        low, high = (np.array(side, dtype=float) for side in partition.frame.bounds)
        return FLAT * (high - low)
    try:
        number = float(tolerance)
    except (TypeError, ValueError):
        number = 0.0
    if isinstance(tolerance, bool) or not 0 < number < np.inf:
        raise InputError(f"tolerance: expected a positive number, got {shown(tolerance)}")
    return np.array([number, number])


def _rings(
    partition: Partition, offsets: np.ndarray, facet: np.ndarray, forward: np.ndarray, curved: np.ndarray, parts: Parts
) -> tuple[Outlines, np.ndarray]:
    """The outlines with arcs cut as given, and the part that leads from each point of ``around`` to the next, or −1."""
    ends, n = partition.facet_vertices, len(partition.facets)
    number, first = np.ones(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    number[curved] = np.bincount(parts.curve, minlength=len(curved))
    first[curved] = np.searchsorted(parts.curve, np.arange(len(curved)))
    points = np.concatenate([partition.vertices, parts.end])
    inside = len(partition.vertices)  # the end of part k is point inside + k; that of an arc's last part is a vertex
    # the facets themselves: one point more than parts
    spans = np.concatenate([[0], np.cumsum(number + 1)])
    row = np.repeat(np.arange(n), number + 1)
    along = inside + first[row] + np.arange(spans[-1]) - spans[row] - 1
    along[spans[:-1]], along[spans[1:] - 1] = ends[:, 0], ends[:, 1]
    # along the walks each facet but for its last point, the first of the next one
    many = number[facet]
    begins = np.concatenate([[0], np.cumsum(many)])
    side = np.repeat(np.arange(len(facet)), many)
    within = np.arange(begins[-1]) - begins[side]
    f = facet[side]
    index = along[np.where(forward[side], spans[f] + within, spans[f + 1] - 1 - within)]
    part = np.where(first[f] < 0, -1, first[f] + np.where(forward[side], within, number[f] - 1 - within))
    return Outlines(points, begins[offsets], index, spans, along), part


def _meets(made: Outlines, pieces: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Whether the bounding boxes of some pieces meet a box."""
    if not len(pieces):
        return np.zeros(0, dtype=bool)
    at = made.points[made.around]
    low, high = np.minimum.reduceat(at, made.offsets[:-1]), np.maximum.reduceat(at, made.offsets[:-1])
    return np.asarray(((low[pieces] <= box[1]) & (high[pieces] >= box[0])).all(axis=1))


def _crossing(made: Outlines, part: np.ndarray, pieces: np.ndarray, parts: Parts) -> np.ndarray:
    """The parts, (m,) bool, to halve, of polygons that are not simple or clockwise.

    Only the chord of an arc that bulges out of its piece cuts into the piece, so of two edges that cross it is such a
    one, the longer of two.  Halving the other too would bring it nearer, and never end where both touch at a corner.
    """
    chosen = np.zeros(len(parts.curve), dtype=bool)
    size = np.diff(made.offsets)[pieces]
    bad = size < 3
    if (~bad).any():
        whole = _polygons(made, pieces[~bad])
        bad[~bad] = ~(shapely.is_valid(whole) & shapely.is_ccw(shapely.get_exterior_ring(whole)))
    bow, step = parts.bow(), parts.end - parts.start
    length, right = np.hypot(*step.T), cross(bow, step) > 0
    for piece in pieces[bad]:
        ring = slice(made.offsets[piece], made.offsets[piece + 1])
        own, index = part[ring], made.around[ring]
        curved = own >= 0
        # how far an edge is to blame: longer is worse, and bulging out of the piece worse than any length
        forward = (made.points[np.roll(index, -1)] == parts.end[own]).all(axis=1)
        blame = np.where(curved, np.where(right[own] == forward, 2.0, 1.0), 0.0)
        blame += np.where(curved, length[own] / (1 + length[own].max(initial=0.0)), 0.0)
        found = np.zeros(0, dtype=np.int64)
        if len(own) > 3:
            a, b = _crossings(made.points[index])
            found = np.where(blame[a] >= blame[b], a, b)
        if not curved[found].any():
            found = np.flatnonzero(blame == blame.max())
        chosen[own[found[curved[found]]]] = True
    return chosen


def _crossings(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of edges of a polygon that have a common point though they are no neighbours."""
    n = len(points)
    edges = shapely.linestrings(np.stack([points, np.roll(points, -1, axis=0)], axis=1))
    a, b = shapely.STRtree(edges).query(edges, predicate="intersects")
    far = (b - a > 1) & (b - a < n - 1)
    return a[far], b[far]


def _polygons(made: Outlines, pieces: np.ndarray | None = None) -> np.ndarray:
    """Outlines as shapely polygons; those of some pieces."""
    first, size = made.offsets[:-1], np.diff(made.offsets)
    if pieces is not None:
        first, size = first[pieces], size[pieces]
    # rings close: each walk once more through its first point
    rings = np.concatenate([[0], np.cumsum(size + 1)])
    row = np.repeat(np.arange(len(size)), size + 1)
    within = np.arange(rings[-1]) - rings[row]
    within[rings[1:] - 1] = 0
    corners = made.points[made.around[first[row] + within]]
    return shapely.from_ragged_array(shapely.GeometryType.POLYGON, corners, (rings, np.arange(len(rings))))


def polygons(partition: Partition, tolerance: float | None = None) -> np.ndarray:
    """The pieces as shapely geometries: polygons, a coverage of the domain; on the line segments of the x-axis.

    On the whole line or plane a coverage of the box :func:`extent`, by which the pieces that are not bounded are cut
    off.

    Parameters
    ----------
    partition : Partition
    tolerance : float, optional
        How far arcs may be from the polylines drawn for them, see :func:`outlines`.

    Returns
    -------
    ndarray of shapely.Polygon or shapely.LineString (n_pieces,)

    Examples
    --------
    >>> import regioncount as rc
    >>> network = rc.from_layers([([[1, 0], [0, 1]], [0, 0]), "relu", ([[1, 1]], [0])])
    >>> pieces = polygons(rc.subdivide(network, "-1:1,-1:1"))
    >>> len(pieces), bool(shapely.coverage_is_valid(pieces, gap_width=1e-6))
    (4, True)
    """
    _drawn(partition)
    if partition.dim == 1:
        ends = _cut_off(partition)
        return _segments(ends[:-1], ends[1:])
    pieces = _polygons(outlines(partition, tolerance))
    return pieces if partition.domain.bounded else _in_box(pieces, extent(partition))


def _cut_off(partition: Partition) -> np.ndarray:
    """The breakpoints with ends of a piece of the line in place of infinite ones."""
    if partition.domain.bounded:
        return partition.breakpoints
    low, high = extent(partition)
    return np.clip(partition.breakpoints, low, high)


def _in_box(shapes: np.ndarray, box: tuple[float, ...]) -> np.ndarray:
    return np.asarray(shapely.clip_by_rect(shapes, box[0], box[2], box[1], box[3]))


def boxes(partition: Partition) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest coordinates of boxes around the pieces of the plane, two (n_pieces, 2)."""
    offsets, facet, _ = _walked(partition)
    ends = partition.vertices[partition.facet_vertices]
    low, high = ends.min(axis=1), ends.max(axis=1)
    curved = np.flatnonzero(partition.facet_arc >= 0)
    if len(curved):
        middle = partition.arcs[partition.facet_arc[curved]]
        low[curved], high[curved] = arcs.boxes(ends[curved, 0], middle, ends[curved, 1])
    return np.minimum.reduceat(low[facet], offsets[:-1]), np.maximum.reduceat(high[facet], offsets[:-1])


def inside(partition: Partition, pieces: np.ndarray) -> np.ndarray:
    """A point inside each of some pieces of the plane, (len(pieces), 2)."""
    if len(partition.interior_points):
        return partition.interior_points[pieces]
    if not len(pieces):
        return np.zeros((0, 2))
    return shapely.get_coordinates(shapely.point_on_surface(_polygons(outlines(partition), pieces)))


def _segments(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    ends = np.stack([low, high], axis=1)
    return shapely.linestrings(np.stack([ends, np.zeros_like(ends)], axis=2))


def areas(partition: Partition) -> np.ndarray:
    """The areas of the pieces, on the line their lengths, (n_pieces,), in the user's units; infinite if not bounded.

    Of pieces with arcs as borders too: what lies between an arc and its chord has a closed form.

    Examples
    --------
    >>> import regioncount as rc
    >>> network = rc.from_layers([([[1], [1]], [0, -1]), "relu", ([[1, 1]], [0])])
    >>> areas(rc.subdivide(network, "-1:4")).tolist()
    [1.0, 1.0, 3.0]
    """
    _drawn(partition)
    if partition.dim == 1:
        return np.diff(partition.breakpoints)
    offsets, facet, forward = _walked(partition)
    piece = np.repeat(np.arange(partition.n_pieces), np.diff(offsets))
    ends = partition.vertices[partition.facet_vertices[facet]]
    ends[~forward] = ends[~forward, ::-1]
    base = ends[offsets[:-1], 0][piece]  # areas of triangles from a corner: no digits are lost far from the origin
    out = np.bincount(piece, cross(ends[:, 0] - base, ends[:, 1] - base), minlength=partition.n_pieces) / 2
    curved = np.flatnonzero(partition.facet_arc >= 0)
    if len(curved):
        start, end = partition.vertices[partition.facet_vertices[curved]].transpose(1, 0, 2)
        extra = np.zeros(len(partition.facets))
        extra[curved] = arcs.areas(start, partition.arcs[partition.facet_arc[curved]], end)
        out += np.bincount(piece, np.where(forward, 1, -1) * extra[facet], minlength=partition.n_pieces)
    out[~partition.bounded] = np.inf
    return out


def regions(partition: Partition, definition: str = "linear", tolerance: float | None = None) -> np.ndarray:
    """The regions of a definition, one geometry each, holes kept; several parts where a region is not connected.

    Regions that are not bounded are cut off by the box :func:`extent`.

    Parameters
    ----------
    partition : Partition
    definition : str
        One of ``regioncount.DEFINITIONS``.
    tolerance : float, optional
        How far arcs may be from the polylines drawn for them, see :func:`outlines`.

    Returns
    -------
    ndarray of shapely geometries (n_regions,)
        In the order of ``partition.labels(definition)``.

    Raises
    ------
    InputError
        If the definition is unknown.

    Examples
    --------
    >>> import regioncount as rc
    >>> network = rc.from_layers([([[1, 0], [-1, 0]], [0, 0]), "relu", ([[1, -1]], [0])])
    >>> [region.area for region in regions(rc.subdivide(network, "-2:2,0:1"))]  # of two pieces
    [4.0]
    """
    _drawn(partition)
    labels = partition.labels(definition)
    n = int(labels.max()) + 1
    if partition.dim == 1:
        return _joined_segments(_cut_off(partition), labels, n)
    pieces = _polygons(outlines(partition, tolerance))
    order = np.argsort(labels, kind="stable")
    number = np.bincount(labels, minlength=n)
    out = np.empty(n, dtype=object)
    alone = number[labels] == 1
    out[labels[alone]] = pieces[alone]
    merged = order[~alone[order]]
    if len(merged):
        names, index = np.unique(labels[merged], return_inverse=True)
        groups = shapely.geometrycollections(pieces[merged], indices=index)
        out[names] = [shapely.coverage_union_all(shapely.get_parts(group)) for group in groups]
    return out if partition.domain.bounded else _in_box(out, extent(partition))


def _joined_segments(breakpoints: np.ndarray, labels: np.ndarray, n: int) -> np.ndarray:
    """Neighbouring pieces of one region as one segment."""
    first = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1]]))
    last = np.concatenate([first[1:], [len(labels)]])
    runs = _segments(breakpoints[first], breakpoints[last])
    order = np.argsort(labels[first], kind="stable")
    several = shapely.multilinestrings(runs[order], indices=labels[first][order])
    alone = shapely.get_num_geometries(several) == 1
    out = np.asarray(several, dtype=object)
    out[alone] = shapely.get_geometry(several[alone], 0)
    assert len(out) == n
    return out


def geojson(partition: Partition, definition: str = "linear", tolerance: float | None = None) -> dict[str, Any]:
    """The regions of a definition as a GeoJSON FeatureCollection (RFC 7946, coordinates those of the domain).

    Every feature has the properties ``region`` (number from 0), ``definition``, ``pieces`` (how many), ``bounded``,
    ``area`` (length on the line; null if not bounded: then the box :func:`extent` cuts the geometry off), ``slopes``
    (out, dim) and ``constants`` (out,) of the affine map that its pieces share, and for ``activation`` and ``cells``
    their ``pattern``, a text of 0 and 1.

    Parameters
    ----------
    partition : Partition
    definition : str
        One of ``regioncount.DEFINITIONS``.
    tolerance : float, optional
        How far arcs may be from the polylines drawn for them, see :func:`outlines`.

    Returns
    -------
    dict
        Ready for ``json.dump``.

    Raises
    ------
    InputError
        If the definition is unknown, or a map has no finite floats.
    """
    _drawn(partition)
    labels = partition.labels(definition)
    shapes = regions(partition, definition, tolerance)
    if partition.dim == 2:
        shapes = shapely.orient_polygons(shapes)
    _, first, number = np.unique(labels, return_index=True, return_counts=True)
    size = np.bincount(labels, areas(partition))
    maps = partition.maps[first]
    if not np.isfinite(maps).all():
        region = int(np.flatnonzero(~np.isfinite(maps).all(axis=(1, 2)))[0])
        raise InputError(f"geojson: expected maps within the range of float64, got {shown(maps[region].tolist())}")
    features = []
    for region, text in enumerate(shapely.to_geojson(shapes)):
        properties: dict[str, Any] = {
            "region": region,
            "definition": definition,
            "pieces": int(number[region]),
            "bounded": bool(np.isfinite(size[region])),
            "area": float(size[region]) if np.isfinite(size[region]) else None,
            "slopes": maps[region, :, :-1].tolist(),
            "constants": maps[region, :, -1].tolist(),
        }
        if definition in SAME_PATTERN:
            properties["pattern"] = "".join(map(str, partition.patterns[first[region]]))
        features.append({"type": "Feature", "geometry": json.loads(text), "properties": properties})
    return {"type": "FeatureCollection", "features": features}


def _drawn(partition: Partition) -> None:
    if partition.dim > 2:
        raise InputError(f"partition: expected one of the line or the plane, got one of dimension {partition.dim}")


def _plane(partition: Partition) -> None:
    if partition.dim != 2:
        raise InputError(f"partition: expected one of the plane, got one of dimension {partition.dim}")
