"""Re-checking a saved partition from scratch, without the engine that made it.

What the file says is compared with the network alone: geometry, facets, patterns and maps at interior points
(``invariants``), then the exact map of every pattern, composed anew, with the map that the file gives; the
patterns, which must differ where the engine makes no superfluous cuts; the pattern just inside each corner; and every
count, made again from the exact maps, the facets and the vertices.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from regioncount.arcs import around
from regioncount.definitions import DEFINITIONS
from regioncount.errors import InputError
from regioncount.invariants import check
from regioncount.lowering import Composer, lower
from regioncount.network import Network
from regioncount.partition import Partition

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
    own = partition.network.layers[partition.slice is not None :]  # without the affine layer of a slice
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
