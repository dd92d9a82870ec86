"""Re-checking a saved partition from scratch, without the engine that made it.

What the file says is compared with the network alone: geometry, facets, patterns and maps at interior points
(``invariants``), then the exact map of every pattern, composed anew, with the map that the file gives; the
patterns, which must differ where the engine makes no superfluous cuts; the pattern just inside each corner; of the
whole plane, that nothing changes outside the square that the partition is drawn on; and every count, made again from
the exact maps, the facets and the vertices.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from regioncount.arcs import around
from regioncount.definitions import DEFINITIONS
from regioncount.domain import Plane
from regioncount.errors import InputError
from regioncount.exact import FarLine, FarPoint, Line, far_crossing, sign_far
from regioncount.invariants import check
from regioncount.lowering import BIT, PASS, SET, Composer, Lowered, lower
from regioncount.network import Network
from regioncount.partition import Partition, cut_layer

STEP = 1e-5  # how far inside a corner patterns are looked at, in parts of the way to the middle
FLOATS = 1e-12  # nearer to a corner than this part of the domain floats may be on the other side
TOLERANCE = 1e-6  # of a coefficient, relative to the largest of its piece's map in the domain's own coordinates


def verify(partition: Partition, network: Network | None = None) -> dict[str, Any]:
    """Check a partition against its network; what does not hold raises.

    Parameters
    ----------
    partition : Partition
        As ``load`` reads it from a file.
    network : Network, optional
        The network that it must be a partition of; by default the one that the file holds.

    Returns
    -------
    dict
        ``pieces``, ``facets``, and ``counts`` by every definition, made from scratch.

    Raises
    ------
    InputError
        With one sentence that says what does not hold, and where.
    """
    own = partition.network.layers
    if partition.slice is not None:
        if own[0] != cut_layer(partition.slice):
            raise InputError("the partition does not hold: slice: its network does not begin with the slice's own map")
        own = own[1:]
    if network is not None and network.layers != own:
        raise InputError("network: the partition is of another network")
    fresh = _without_memory(partition)
    try:
        check(fresh)
    except AssertionError as error:
        raise InputError(f"the partition does not hold: {error}") from None
    except (IndexError, ValueError, TypeError) as error:
        raise InputError(f"the partition does not hold: its arrays do not fit together ({error})") from None
    _near_corners(fresh)
    if isinstance(fresh.domain, Plane):
        _beyond(fresh)
    _exact_maps(fresh)
    counts = fresh.counts()
    superfluous = len(fresh.facet_arc) > 0 or lower(fresh.network, planar=True).has_hidden  # cuts inside a cell
    if fresh.dim == 2 and not superfluous and counts["activation"] != fresh.n_pieces:
        raise InputError("the partition does not hold: two pieces in the plane have one activation pattern")
    for name in DEFINITIONS:
        recorded = (partition.recorded or counts).get(name)
        if recorded != counts[name]:
            raise InputError(f"the partition does not hold: counts: {name}: expected {counts[name]}, got {recorded}")
    if fresh.depth_profile and fresh.depth_profile[-1].get("activation") != counts["activation"]:
        raise InputError("the partition does not hold: depth_profile: its last entry is not the count of activation")
    return {"pieces": fresh.n_pieces, "facets": len(fresh.facets), "counts": counts}


def _without_memory(partition: Partition) -> Partition:
    """The partition without what the engine remembers of it."""
    from dataclasses import replace

    return replace(partition, _source=None)


def _near_corners(partition: Partition) -> None:
    """The pattern just inside each corner of each piece, decided exactly, must be the piece's own."""
    if partition.dim == 1:
        ends = partition.finite_breakpoints[:, None]
        corners = np.repeat(ends, 2, axis=0)[1:-1]
        piece = np.repeat(np.arange(partition.n_pieces), 2)
    else:
        corners = partition.vertices[partition.piece_vertices]
        piece = np.repeat(np.arange(partition.n_pieces), np.diff(partition.offsets))
    if len(partition.facet_arc):
        middle = partition.interior_points[piece]
    else:
        size = np.bincount(piece)
        middle = np.stack([np.bincount(piece, corners[:, k]) / size for k in range(partition.dim)], axis=1)[piece]
    points = corners + STEP * (middle - corners)
    low, high = (np.array(side) for side in partition.frame.bounds)
    clear = (np.abs(points - corners) / (high - low)).max(axis=1) > FLOATS
    if len(partition.facet_arc):  # pieces need not be convex
        clear &= _inside(partition, piece, points)
    patterns = partition.network.activation_pattern(points[clear])
    wrong = np.flatnonzero((patterns != partition.patterns[piece[clear]]).any(axis=1))
    if len(wrong):
        at, where = piece[clear][wrong[0]], points[clear][wrong[0]].tolist()
        raise InputError(
            f"the partition does not hold: piece {at}: near its corner, at {where}, the pattern is another"
        )


def _inside(partition: Partition, piece: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Whether points are inside their pieces, some of whose borders are arcs."""
    facets, ends = partition.facets, partition.vertices[partition.facet_vertices]
    inner = facets[:, 1] >= 0
    owner = np.concatenate([facets[:, 0], facets[inner, 1]])
    start, end = np.concatenate([ends, ends[inner, ::-1]]).transpose(1, 0, 2)
    row = np.concatenate([partition.facet_arc, partition.facet_arc[inner]])
    middle = np.zeros((len(row), 3))
    middle[row >= 0] = partition.arcs[row[row >= 0]]
    return around(points, piece, owner, start, middle, end, row >= 0) == 1


def _beyond(partition: Partition) -> None:
    """Nothing changes outside the frame of a partition of the plane, exactly.

    The pattern of each piece that reaches the frame holds on a polygon of the square [−R, R]², R larger than any
    number.  Its finite corners must lie inside the frame and its rays leave the frame where they leave every larger
    square; then what is beyond a border there is beyond the same border in the frame, so the pieces fill the plane.
    Hidden choices are not in the file: networks that have them are only compared inside the frame.
    """
    if lower(partition.network, planar=True).has_hidden:
        return
    reach = Fraction(partition.frame.bounds[1][0])
    lowered = lower(partition.network)
    composer = Composer(lowered, [Fraction(0)] * 2, [Fraction(1)] * 2)
    for piece in np.flatnonzero(~partition.bounded).tolist():
        lines, corners = _cell(lowered, composer, partition.patterns[piece])
        for v, (X, Y, x, y, w) in enumerate(corners):
            if lines[v - 1][3] and lines[v][3]:
                continue
            inside = max(abs(x), abs(y)) < reach * w
            if X or Y:  # on one side its coordinates are ±S, on the other a number that must stay between ±S
                places = [(Fraction(X, w), Fraction(x, w)), (Fraction(Y, w), Fraction(y, w))]
                side = lines[v - 1] if lines[v - 1][3] else lines[v]
                m, q = places[0] if side[1] else places[1]
                inside = abs(q) < (2 * reach if abs(m) == 1 else reach * (1 - abs(m)))
            if not inside:
                raise InputError(f"the partition does not hold: piece {piece}: its borders change outside of {reach}")


def _cell(lowered: Lowered, composer: Composer, pattern: np.ndarray) -> tuple[list[FarLine], list[FarPoint]]:
    """The set of a pattern in the plane, a convex polygon of [−R, R]²: its lines, and the corner before each."""
    lines: list[FarLine] = [(0, 1, 0, 1), (-1, 0, 0, 1), (0, -1, 0, 1), (1, 0, 0, 1)]
    corners = [far_crossing(lines[i - 1], line) for i, line in enumerate(lines)]
    for a, b, c in _constraints(lowered, composer, pattern):
        signs = [sign_far((a, b, c), corner) for corner in corners]
        if min(signs) >= 0:
            continue
        if max(signs) <= 0:
            raise InputError("the partition does not hold: a pattern that reaches the frame is that of no open set")
        kept: list[FarLine] = []
        for line, here, after in zip(lines, signs, [*signs[1:], signs[0]], strict=True):
            if here > 0 or after > 0:
                kept.append(line)
            if here > 0 >= after:
                kept.append((a, b, c, 0))
        lines = kept
        corners = [far_crossing(lines[i - 1], line) for i, line in enumerate(lines)]
    return lines, corners


def _constraints(lowered: Lowered, composer: Composer, pattern: np.ndarray) -> Iterator[Line]:
    """What is at least 0 on the set of a pattern: score differences, affine ones."""
    for index, block in enumerate(lowered.blocks):
        for unit in block.units:
            if unit.kind == PASS:
                continue
            chosen = [k for k, column in enumerate(unit.columns) if pattern[column]]
            first = chosen[0] if unit.kind == SET else 0
            form, _ = composer.score(index, unit, first, pattern)
            if unit.kind == BIT:
                forms = [form if chosen else [-x for x in form]]
            else:
                scores = [composer.score(index, unit, k, pattern)[0] for k in range(len(unit.columns)) if k != first]
                forms = [[x - y for x, y in zip(form, score, strict=True)] for score in scores]
            yield from {(a, b, c) for c, a, b, *_ in forms}


def _exact_maps(partition: Partition) -> None:
    """Compare every map with the exact one of its pattern."""
    n = partition.dim
    composer = Composer(lower(partition.network), [Fraction(0)] * n, [Fraction(1)] * n)
    low, high = (np.array(side) for side in partition.frame.bounds)
    reach = np.append(np.maximum(np.abs(low), np.abs(high)), 1.0)
    for piece, pattern in enumerate(partition.patterns):
        numerators, denominator = composer.output(pattern)
        exact = np.array([[int(x) / denominator for x in row] for row in numerators]).T
        size = np.abs(exact * reach).max(axis=1, keepdims=True) + 1e-300
        if not (np.abs(partition.maps[piece] - exact) * reach <= TOLERANCE * size).all():
            raise InputError(f"the partition does not hold: piece {piece}: its map is not that of its pattern")
