"""Partitions as shapely geometries: pieces, regions, areas, GeoJSON.  The only module that imports shapely.

A piece is given every vertex on its boundary: where neighbours end on one of its edges (T-junctions), the vertex there
is one of its corners too, so that edges of neighbours match number by number and the pieces are a *coverage* in the
sense of GEOS: no gap, no overlap, unions by dropping the edges that occur twice.  On the line, pieces are segments of
the x-axis.  Coordinates are floats; what is counted is counted on exact numbers elsewhere.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from regioncount.errors import InputError, shown

if TYPE_CHECKING:
    from regioncount.partition import Partition

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
    vertices = np.empty(len(start), dtype=np.int64)
    going, at, step = np.arange(partition.n_pieces), offsets[:-1].copy(), 0
    while len(going):
        vertices[offsets[going] + step] = start[at]
        step += 1
        more = offsets[going] + step < offsets[going + 1]
        going, at = going[more], following[at[more]]
    return offsets, vertices


def polygons(partition: Partition) -> np.ndarray:
    """The pieces as shapely geometries: polygons, a coverage of the domain; on the line segments of the x-axis.

    Parameters
    ----------
    partition : Partition

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
    if partition.dim == 1:
        return _segments(partition.breakpoints[:-1], partition.breakpoints[1:])
    offsets, vertices = walks(partition)
    # rings close: each walk once more through its first vertex
    lengths = np.diff(offsets) + 1
    rings = np.concatenate([[0], np.cumsum(lengths)])
    row = np.repeat(np.arange(len(lengths)), lengths)
    within = np.arange(rings[-1]) - rings[row]
    within[rings[1:] - 1] = 0
    corners = partition.vertices[vertices[offsets[row] + within]]
    return shapely.from_ragged_array(shapely.GeometryType.POLYGON, corners, (rings, np.arange(len(rings))))


def _segments(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    ends = np.stack([low, high], axis=1)
    return shapely.linestrings(np.stack([ends, np.zeros_like(ends)], axis=2))


def areas(partition: Partition) -> np.ndarray:
    """The areas of the pieces, on the line their lengths, (n_pieces,), in the user's units.

    Examples
    --------
    >>> import regioncount as rc
    >>> network = rc.from_layers([([[1], [1]], [0, -1]), "relu", ([[1, 1]], [0])])
    >>> areas(rc.subdivide(network, "-1:4")).tolist()
    [1.0, 1.0, 3.0]
    """
    if partition.dim == 1:
        return np.diff(partition.breakpoints)
    return shapely.area(polygons(partition))


def regions(partition: Partition, definition: str = "linear") -> np.ndarray:
    """The regions of a definition, one geometry each, holes kept; several parts where a region is not connected.

    Parameters
    ----------
    partition : Partition
    definition : str
        One of ``regioncount.DEFINITIONS``.

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
    labels = partition.labels(definition)
    n = int(labels.max()) + 1
    if partition.dim == 1:
        return _joined_segments(partition.breakpoints, labels, n)
    pieces = polygons(partition)
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
    return out


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


def geojson(partition: Partition, definition: str = "linear") -> dict[str, Any]:
    """The regions of a definition as a GeoJSON FeatureCollection (RFC 7946, coordinates those of the domain).

    Every feature has the properties ``region`` (number from 0), ``definition``, ``pieces`` (how many), ``area`` (length
    on the line), ``slopes`` (out, dim) and ``constants`` (out,) of the affine map that its pieces share, and for
    ``activation`` and ``cells`` their ``pattern``, a text of 0 and 1.

    Parameters
    ----------
    partition : Partition
    definition : str
        One of ``regioncount.DEFINITIONS``.

    Returns
    -------
    dict
        Ready for ``json.dump``.

    Raises
    ------
    InputError
        If the definition is unknown, or a map has no finite floats.
    """
    labels = partition.labels(definition)
    shapes = regions(partition, definition)
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
            "area": float(size[region]),
            "slopes": maps[region, :, :-1].tolist(),
            "constants": maps[region, :, -1].tolist(),
        }
        if definition in SAME_PATTERN:
            properties["pattern"] = "".join(map(str, partition.patterns[first[region]]))
        features.append({"type": "Feature", "geometry": json.loads(text), "properties": properties})
    return {"type": "FeatureCollection", "features": features}


def _plane(partition: Partition) -> None:
    if partition.dim != 2:
        raise InputError(f"partition: expected one of the plane, got one of dimension {partition.dim}")
