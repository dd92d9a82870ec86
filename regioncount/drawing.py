"""What figures show, before any plotting library: words, colours, pixels, series; for ``figures`` and ``paper``.

Colours of regions: eight of equally spaced lightness (L* = 44, 51, …, 93), so that they differ in grey, with hues
found by a search for the greatest least distance (ΔE = 24) between any two, as seen normally and with protanopia,
deuteranopia or tritanopia (matrices of Machado, Oliveira, Fernandes 2009).  Neighbours through a facet get different
colours: greedily, smallest degree last, which needs at most six where regions are connected, the graph being planar.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from regioncount.definitions import COUNTABLE, DEFINITIONS, MEANINGS
from regioncount.errors import InputError, shown

if TYPE_CHECKING:
    from regioncount.boundary import DecisionBoundary
    from regioncount.geometry import Outlines
    from regioncount.network import Network
    from regioncount.partition import Partition

REGION_COLOURS = ("#1B7561", "#807C2C", "#BA74AD", "#87A67B", "#85B2FC", "#D5C471", "#6AEBE6", "#CEF6BC")
LINE_COLOURS = REGION_COLOURS[:4]  # dark enough for a line on white
# values: matplotlib's cividis without its darkest part, on which black lines would be lost
VALUE_COLOURS = ("#4A536C", "#5F636F", "#737475", "#888578", "#9E9676", "#B6A96F", "#CEBC63", "#E7D150", "#FEE838")
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
NAMES = {
    "activation": ("activation region", "activation regions"),
    "cells": ("cell", "cells"),
    "linear": ("linear region", "linear regions"),
    "linear_closed": ("closed linear region", "closed linear regions"),
    "affine_maps": ("affine region", "affine regions"),
}

AXIS_NAMES = {
    "activation": "activation regions (R2)",
    "cells": "cells",
    "linear": "linear regions (R4)",
    "linear_closed": "closed linear regions (R5)",
    "affine_maps": "affine regions (R6)",
    "R1": "activation regions (R1)",
}

Window = tuple[float, ...]  # x from, x to, y from, y to; on the line at least the first two
ROOM = 1.0  # how far beyond a window polygons and borders are kept, in parts of its width and height
_COLOURS: WeakKeyDictionary[Partition, dict[str, np.ndarray]] = WeakKeyDictionary()
_OUTLINES: WeakKeyDictionary[Partition, tuple[Window, Outlines]] = WeakKeyDictionary()


# ------------------------------------------------------------------------------------------------ partitions


class Shade(NamedTuple):
    """What colours mean: regions of ``definition``; where ``output`` is not None, the value of that output."""

    definition: str
    output: int | None


def shade(network: Network, color_by: str) -> Shade:
    """Read ``color_by``: a definition, "value" or "value:k".

    Raises
    ------
    InputError
        If it is none of these, or the network has no output k.
    """
    if isinstance(color_by, str):
        if color_by in DEFINITIONS:
            return Shade(color_by, None)
        kind, _, number = color_by.partition(":")
        if kind == "value" and (color_by == "value" or number.isascii() and number.isdigit()):
            if len(number) < 10 and int(number or 0) < network.output_dim:
                return Shade("linear", int(number or 0))
            raise InputError(f"color_by: expected an output of 0 … {network.output_dim - 1}, got {shown(color_by)}")
    raise InputError(f"color_by: expected one of {', '.join(DEFINITIONS)}, value, value:k, got {shown(color_by)}")


def headline(partition: Partition, definition: str) -> tuple[str, str]:
    """How many regions and of which kind, and what that means: "60 linear regions (R4)", "maximal open …"."""
    count = partition.count(definition)
    name, meaning = NAMES[definition][count != 1], MEANINGS[definition]
    label, _, rest = meaning.partition(": ")
    return (f"{count:,} {name} ({label})", rest) if rest else (f"{count:,} {name}", meaning)


def footing(partition: Partition) -> str:
    """The domain, the number of pieces, and whether the counts are certified."""
    pieces = f"{partition.n_pieces:,} piece{'s' * (partition.n_pieces != 1)}"
    where = str(partition.slice or partition.domain)
    if not partition.domain.bounded:
        pieces += f", {int(partition.bounded.sum()):,} of them bounded,"
        where = where if partition.slice else f"the whole {'line' if partition.dim == 1 else 'plane'}"
    return f"{pieces} on {where}, {'certified' if partition.certified else 'not certified'}"


def axis_names(partition: Partition) -> tuple[str, ...]:
    """The letters of the coordinates: x on the line, x1 and x2 in the plane; of a slice t, or s and t."""
    if partition.slice is None:
        return ("x",) if partition.dim == 1 else ("x1", "x2")
    return ("t",) if partition.dim == 1 else ("s", "t")


def boundary_words(count: int, jumps: int, dim: int) -> tuple[str, str]:
    """Legend entries of the decision boundary and of its jumps."""
    part = "point" if dim == 1 else "segment"
    return f"decision boundary: {count:,} {part}{'s' * (count != 1)}", f"jumps of the greatest output: {jumps:,}"


def boundary_segments(
    partition: Partition, boundary: DecisionBoundary, window: Window
) -> tuple[np.ndarray, np.ndarray]:
    """The decision boundary and its jumps as segments (n, 2, 2); on the line vertical ones over the graph's height."""
    if partition.dim == 2:
        jumps = _vertices(partition, window)[partition.facet_vertices[boundary.jumps]]
        if partition.domain.bounded:
            return boundary.segments, jumps
        box = _wider(window)
        return _shortened(_longer(boundary, window), box), _shortened(jumps, box)
    values = graph(partition, 0, window)[:, :, 1]
    heights = np.array([values.min(), values.max()]) if values.size else np.zeros(2)
    jumps = partition.breakpoints[boundary.jumps]
    low, high = (
        np.stack([np.repeat(x[:, None], 2, axis=1), np.broadcast_to(heights, (len(x), 2))], axis=2)
        for x in (boundary.segments[:, 0], jumps)
    )
    return low, high


def _longer(boundary: DecisionBoundary, window: Window) -> np.ndarray:
    """The segments of the whole plane, with ends at infinity outside of the wider window."""
    out = boundary.segments.copy()
    step = out[:, 1] - out[:, 0]
    with np.errstate(invalid="ignore"):
        step *= 4 * max(map(abs, _wider(window))) / np.hypot(*step.T)[:, None]
    for end, way in ((0, -1), (1, 1)):
        rays = boundary.rays[:, end]
        out[rays, end] += way * step[rays]
    return out


def region_colours(partition: Partition, definition: str) -> np.ndarray:
    """A colour's number for each piece, (n_pieces,): different for regions that share a facet.

    An index into ``REGION_COLOURS``, on the line into ``LINE_COLOURS``.
    """
    known = _COLOURS.setdefault(partition, {})
    if definition not in known:
        labels = partition.labels(definition)
        inner = partition.facets[partition.facets[:, 1] >= 0]
        number = len(LINE_COLOURS if partition.dim == 1 else REGION_COLOURS)
        known[definition] = _coloured(int(labels.max()) + 1, labels[inner], number)[labels]
    return known[definition]


def _coloured(n: int, pairs: np.ndarray, number: int) -> np.ndarray:
    """Colours of n vertices such that pairs differ, where that many colours do it."""
    from regioncount.kernels import raster

    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    keys = np.sort(np.concatenate([pairs[:, 0] * n + pairs[:, 1], pairs[:, 1] * n + pairs[:, 0]]))
    keys = keys[np.diff(keys, prepend=-1) > 0]  # np.unique takes 4 s for a million vertices, this 0.2
    offsets = np.searchsorted(keys, np.arange(n + 1) * n)
    degree = np.diff(offsets)
    order, place = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    start = np.zeros(int(degree.max(initial=0)) + 2, dtype=np.int64)
    raster.smallest_last(offsets, keys % n, degree.copy(), start, place, order)
    colours = np.full(n, -1, dtype=np.int64)
    raster.colour(offsets, keys % n, order, np.zeros(number, dtype=np.int64), colours)
    return colours


def bounds(partition: Partition) -> Window:
    """The window that holds the whole domain; of the whole line or plane a view of its breakpoints or vertices.

    That is ``geometry.extent`` around all of them, or the central 90 % where a few are far away.
    """
    if not partition.domain.bounded:
        from regioncount.geometry import extent

        return extent(partition, central=True)
    low, high = partition.domain.bounds
    return tuple(x for pair in zip(low, high, strict=True) for x in pair)


def window_of(partition: Partition, window: Any) -> Window:
    """A checked window; None is the whole domain.

    Raises
    ------
    InputError
        Unless it is four finite numbers with x from < x to and y from < y to, or on the line just the first two; and
        for a partition of three or more dimensions.
    """
    if partition.dim > 2:
        raise InputError(f"partition: figures show one or two dimensions, got {partition.dim}; expected a slice")
    if window is None:
        return bounds(partition)
    try:
        numbers = tuple(float(x) for x in window)
    except (TypeError, ValueError):
        numbers = ()
    fits = len(numbers) == 4 or len(numbers) == 2 == 2 * partition.dim
    if not (fits and np.isfinite(numbers).all() and (np.diff(np.reshape(numbers, (-1, 2)))[:, 0] > 0).all()):
        line = "(x from, x to) or " if partition.dim == 1 else ""
        raise InputError(f"window: expected {line}(x from, x to, y from, y to), got {shown(window)}")
    return numbers


def _wider(window: Window) -> Window:
    """A window with ``ROOM`` around it."""
    x0, x1, y0, y1 = window
    dx, dy = ROOM * (x1 - x0), ROOM * (y1 - y0)
    return x0 - dx, x1 + dx, y0 - dy, y1 + dy


def _vertices(partition: Partition, window: Window) -> np.ndarray:
    """The vertices; of the whole plane with those at infinity outside of the wider window."""
    if partition.domain.bounded:
        return partition.vertices
    from regioncount.geometry import stretched

    return stretched(partition, 2 * max(map(abs, _wider(window))))


def visible(partition: Partition, window: Window) -> np.ndarray:
    """Pieces that meet a window; of curved pieces the bounding boxes do."""
    if partition.dim == 1:
        x0, x1 = window[:2]
        return np.flatnonzero((partition.breakpoints[:-1] < x1) & (partition.breakpoints[1:] > x0))
    if _curved(partition):
        from regioncount.geometry import boxes

        low, high = boxes(partition)
    else:
        corners = _vertices(partition, window)[partition.piece_vertices]
        low = np.minimum.reduceat(corners, partition.offsets[:-1])
        high = np.maximum.reduceat(corners, partition.offsets[:-1])
    x0, x1, y0, y1 = window
    found = np.flatnonzero((low[:, 0] <= x1) & (high[:, 0] >= x0) & (low[:, 1] <= y1) & (high[:, 1] >= y0))
    if _curved(partition):
        return found
    from regioncount.geometry import clipped

    doubtful = ((low[found] < [x0, y0]) | (high[found] > [x1, y1])).any(axis=1)
    row, offsets = _rows(partition.offsets, found[doubtful])
    meets = np.ones(len(found), dtype=bool)
    meets[doubtful] = np.diff(clipped(corners[row], offsets, window)[1]) > 0
    return found[meets]


def _curved(partition: Partition) -> bool:
    """Whether some border is an arc, or pieces come from an engine that makes arcs and need not be convex."""
    return len(partition.facet_arc) > 0


def _outlines(partition: Partition, window: Window) -> Outlines:
    """Pieces as polygons, arcs fine enough for a window; the last ones are kept."""
    from regioncount.geometry import outlines

    known = _OUTLINES.get(partition)
    if known is None or known[0] != window:
        known = _OUTLINES[partition] = (window, outlines(partition, window=window))
    return known[1]


def pixels(partition: Partition, window: Window, shape: tuple[int, int]) -> np.ndarray:
    """The piece under each pixel's centre, (rows, columns) int32 from the bottom up; −1 outside the domain."""
    from regioncount.geometry import walks
    from regioncount.kernels import raster

    x0, x1, y0, y1 = window
    rows, columns = shape
    image = np.full(shape, -1, dtype=np.int32)
    scale = np.array([columns / (x1 - x0), rows / (y1 - y0)])
    if _curved(partition):
        made = _outlines(partition, window)
        at = (made.points - [x0, y0]) * scale
        _paint(at[made.around], made.offsets, image)
        return image
    offsets, vertices = walks(partition)
    at = (_vertices(partition, window) - [x0, y0]) / [x1 - x0, y1 - y0] * [columns, rows]
    raster.paint(at[vertices, 0], at[vertices, 1], offsets, image)
    return image


def _paint(at: np.ndarray, offsets: np.ndarray, image: np.ndarray) -> None:
    """As ``raster.paint``, of polygons that need not be convex: between the 1st and the 2nd crossing of a row with a
    polygon, the 3rd and the 4th, and so on.
    """
    rows, columns = image.shape
    number = len(at)
    after = np.arange(1, number + 1)
    after[offsets[1:] - 1] = offsets[:-1]
    up = at[:, 1] < at[after, 1]  # both sides of an edge start from its lower end, so that they get the same crossing
    lower, upper = np.where(up[:, None], at, at[after]), np.where(up[:, None], at[after], at)
    first, last = (np.ceil(np.clip(v[:, 1] - 0.5, 0, rows)).astype(np.int64) for v in (lower, upper))
    many = last - first
    edge = np.repeat(np.arange(number), many)
    row = first[edge] + np.arange(len(edge)) - np.repeat(np.cumsum(many) - many, many)
    part = (row + 0.5 - lower[edge, 1]) / (upper[edge, 1] - lower[edge, 1])
    x = lower[edge, 0] + part * (upper[edge, 0] - lower[edge, 0])
    piece = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[edge]
    order = np.lexsort((x, row, piece))
    column = np.ceil(np.clip(x[order] - 0.5, 0, columns)).astype(np.int64)
    start, width = column[0::2], column[1::2] - column[0::2]
    begin = (row[order] * columns)[0::2] + start
    pixel = np.repeat(begin - (np.cumsum(width) - width), width) + np.arange(width.sum())
    image.reshape(-1)[pixel] = np.repeat(piece[order][0::2], width)


def pixel_centres(window: Window, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of the columns and rows of ``pixels``."""
    x0, x1, y0, y1 = window
    rows, columns = shape
    return x0 + (np.arange(columns) + 0.5) * (x1 - x0) / columns, y0 + (np.arange(rows) + 0.5) * (y1 - y0) / rows


def pixel_values(partition: Partition, image: np.ndarray, window: Window, output: int) -> np.ndarray:
    """The value of an output at each pixel's centre, NaN outside the domain."""
    x, y = pixel_centres(window, image.shape)  # type: ignore[arg-type]
    maps = partition.maps[:, output]
    values = maps[image, 0] * x + maps[image, 1] * y[:, None] + maps[image, 2]
    return np.where(image >= 0, values, np.nan)


def borders(
    partition: Partition, labels: np.ndarray, window: Window, pieces: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Facets of the plane between different regions, and on the domain's boundary, as polylines.

    Returns
    -------
    points : ndarray (m, 2)
        Of all polylines, one after the other.
    offsets : ndarray of int (n + 1,)
    """
    facets = partition.facets
    outer = facets[:, 1] < 0
    chosen = (labels[facets[:, 0]] != labels[facets[:, 1]]) & ~outer
    if partition.domain.bounded:
        chosen |= outer
    if pieces is not None:
        shown_ = np.zeros(partition.n_pieces + 1, dtype=bool)  # the last entry is that of −1
        shown_[pieces] = True
        chosen &= shown_[facets].any(axis=1)
    if _curved(partition):
        made = _outlines(partition, window)
        row, offsets = _rows(made.spans, np.flatnonzero(chosen))
        return made.points[made.along[row]], offsets
    segments = _shortened(_vertices(partition, window)[partition.facet_vertices[chosen]], _wider(window))
    return segments.reshape(-1, 2), np.arange(0, 2 * len(segments) + 1, 2)


def _shortened(segments: np.ndarray, window: Window) -> np.ndarray:
    """What of segments (n, 2, 2) is in a window; those outside are dropped (Liang, Barsky 1984)."""
    start, step = segments[:, 0], segments[:, 1] - segments[:, 0]
    low, high = np.array([window[0], window[2]]), np.array([window[1], window[3]])
    outside = ((segments < low) | (segments > high)).any(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        first, last = (low - start) / step, (high - start) / step
    enter, leave = np.minimum(first, last), np.maximum(first, last)
    parallel = step == 0
    within = (start >= low) & (start <= high)
    enter = np.where(parallel, np.where(within, 0.0, 2.0), np.maximum(enter, 0.0)).max(axis=1)
    leave = np.where(parallel, 1.0, np.minimum(leave, 1.0)).min(axis=1)
    out = segments.copy()
    out[outside, 0] = (start + enter[:, None] * step)[outside]
    out[outside, 1] = (start + leave[:, None] * step)[outside]
    return out[~outside | (enter <= leave)]


def piece_polygons(partition: Partition, pieces: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Corners (m, 2) of some pieces, one after the other, and their offsets (len(pieces) + 1,).

    What is far outside of the window is cut off; pieces of ``visible`` keep a part.
    """
    if _curved(partition):
        made = _outlines(partition, window)
        row, offsets = _rows(made.offsets, pieces)
        return made.points[made.around[row]], offsets
    row, offsets = _rows(partition.offsets, pieces)
    corners = _vertices(partition, window)[partition.piece_vertices[row]]
    x0, x1, y0, y1 = box = _wider(window)
    if len(corners) and ((corners < [x0, y0]) | (corners > [x1, y1])).any():
        from regioncount.geometry import clipped

        corners, offsets = clipped(corners, offsets, box)
    return corners, offsets


def _rows(offsets: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of some parts of a ragged array, and their offsets among these rows."""
    size = np.diff(offsets)[chosen]
    new = np.concatenate([[0], np.cumsum(size)])
    return np.repeat(offsets[:-1][chosen] - new[:-1], size) + np.arange(new[-1]), new


def middles(partition: Partition, pieces: np.ndarray, window: Window) -> np.ndarray:
    """A point inside each of some pieces of the plane, (len(pieces), 2)."""
    if _curved(partition):
        from regioncount.geometry import inside

        return inside(partition, pieces)
    corners, offsets = piece_polygons(partition, pieces, window)
    return np.asarray(np.add.reduceat(corners, offsets[:-1]) / np.diff(offsets)[:, None])


def graph(partition: Partition, output: int, window: Window) -> np.ndarray:
    """The graph of an output on the line: the two ends of the pieces in a window, (len(visible), 2, 2)."""
    pieces = visible(partition, window)
    ends = np.stack([partition.breakpoints[pieces], partition.breakpoints[pieces + 1]], axis=1)
    x = np.clip(ends, window[0], window[1])
    maps = partition.maps[pieces, output]
    return np.stack([x, maps[:, :1] * x + maps[:, 1:]], axis=2)


def thinned(points: np.ndarray, columns: int) -> np.ndarray:
    """A graph (n, 2, 2) of many pieces as a polyline (m, 2): first, least, greatest and last point of each column."""
    flat = points.reshape(-1, 2)
    column = np.searchsorted(np.linspace(flat[0, 0], flat[-1, 0], columns + 1)[1:-1], flat[:, 0], side="right")
    starts = np.flatnonzero(np.concatenate([[True], column[1:] != column[:-1]]))
    ends = np.concatenate([starts[1:], [len(flat)]]) - 1
    by_height = np.lexsort((flat[:, 1], column))
    keep = np.unique(np.concatenate([starts, ends, by_height[starts], by_height[ends]]))
    return flat[keep]


# ------------------------------------------------------------------------------------------------ depth sweeps


@dataclass(frozen=True)
class Counted:
    """Records of one construction and T, by depth."""

    construction: str
    tokens: int | None
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Band:
    """Random networks of one family and T: at each depth the median and the quartiles over seeds."""

    construction: str
    tokens: int | None
    depths: tuple[int, ...]
    low: tuple[float, ...]
    median: tuple[float, ...]
    high: tuple[float, ...]
    seeds: tuple[int, ...]  # how many, by depth
    certified: bool


@dataclass(frozen=True)
class Depth:
    """A depth figure's contents: T in increasing order (None: no tokens) with its bound by depth, and the series."""

    sizes: tuple[int | None, ...]
    bounds: dict[int | None, dict[int, int]]
    counted: tuple[Counted, ...]
    bands: tuple[Band, ...]
    names: tuple[str, ...]
    certified: bool
    deepest: int
    highest: float


def height(count: int) -> float:
    """A count as a float.

    Raises
    ------
    InputError
        If it is beyond float64.
    """
    try:
        return float(count)
    except OverflowError:
        raise InputError(f"records: a count of {len(str(count))} digits is too large to draw") from None


def depth_contents(records: Iterable[Mapping[str, Any]], definition: str) -> Depth:
    """Sort the records of sweeps into series; records with a ``seed`` are random networks.

    Raises
    ------
    InputError
        If there are no records, the definition is unknown or was not counted, or a count is beyond float64.
    """
    rows = list(records)
    if definition not in COUNTABLE:
        raise InputError(f"definition: expected one of {', '.join(COUNTABLE)}, got {shown(definition)}")
    if not rows:
        raise InputError("records: expected at least one record, got none")
    for row in rows:
        if definition not in row["counts"]:
            tokens = "" if row.get("tokens") is None else f" T = {row['tokens']},"
            raise InputError(
                f"definition: {definition!r} was not counted for {row['construction']},{tokens} D = {row['depth']}"
            )
    names = tuple(dict.fromkeys(row["construction"] for row in rows))
    rows.sort(key=lambda row: row["depth"])
    given = {row.get("tokens") for row in rows}
    sizes: tuple[int | None, ...] = (*sorted(t for t in given if t is not None), *([None] if None in given else []))
    counted, bands, bounds_ = [], [], {}
    for size in sizes:
        own = [row for row in rows if row.get("tokens") == size]
        bounds_[size] = {row["depth"]: row["bound"] for row in own if row.get("bound") is not None}
        for name in names:
            series = [row for row in own if row["construction"] == name]
            fixed = tuple(row for row in series if row.get("seed") is None)
            drawn = [row for row in series if row.get("seed") is not None]
            if fixed:
                counted.append(Counted(name, size, fixed))
            if drawn:
                bands.append(_band(name, size, drawn, definition))
    values = [height(row["counts"][definition]) for row in rows]
    values += [height(value) for by_depth in bounds_.values() for value in by_depth.values()]
    return Depth(
        sizes, bounds_, tuple(counted), tuple(bands), names, all(row["certified"] for row in rows),
        max(row["depth"] for row in rows), max(values),
    )  # fmt: skip


def _band(name: str, size: int | None, rows: list[Mapping[str, Any]], definition: str) -> Band:
    by_depth: dict[int, list[float]] = {}
    for row in rows:
        by_depth.setdefault(row["depth"], []).append(height(row["counts"][definition]))
    quartiles = np.array([np.quantile(values, [0.25, 0.5, 0.75]) for values in by_depth.values()])
    low, median, high = (tuple(column.tolist()) for column in quartiles.T)
    return Band(
        name, size, tuple(by_depth), low, median, high, tuple(map(len, by_depth.values())),
        all(row["certified"] for row in rows),
    )  # fmt: skip


def size_colour(contents: Depth, size: int | None) -> str:
    """The colour of one T."""
    return OKABE_ITO[contents.sizes.index(size) % len(OKABE_ITO)]


def band_colours(contents: Depth) -> list[str]:
    """The colours of the bands: that of their T; families without tokens have one each."""
    free = iter(OKABE_ITO[(len(contents.sizes) - 1 + k) % len(OKABE_ITO)] for k in range(len(contents.bands)))
    return [next(free) if band.tokens is None else size_colour(contents, band.tokens) for band in contents.bands]


def symbol_number(contents: Depth, series: Counted) -> int:
    """Which marker a series has: another for each construction and T."""
    counted = {other.construction for other in contents.counted}
    fixed = [name for name in contents.names if name in counted]
    return contents.sizes.index(series.tokens) + fixed.index(series.construction) * len(contents.sizes)


def place(name: str, size: int | None) -> str:
    """A construction and its T."""
    return name if size is None else f"{name}, T = {size}"


def seeds(band: Band) -> str:
    """How many seeds a band has."""
    least, most = min(band.seeds), max(band.seeds)
    return f"{most} seed{'s' * (most != 1)}" if least == most else f"{least} to {most} seeds"


# ------------------------------------------------------------------------------------------------ files


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears at once and whole.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    if path.is_dir():
        raise InputError(f"figure: {path} is a directory")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"figure: cannot write {path}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)
