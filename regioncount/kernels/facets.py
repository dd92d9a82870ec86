"""Facets in the plane: overlaps of the edges on the two sides of each border, found by merging two sorted lists.

Along a border (the cut of one split) the edges of each side tile the same segment, so a merge of their end points
gives all overlaps; only the order of two end points has to be decided.  Floats decide where radii keep them apart.
Two end points are equal for certain where the same unit's line makes both and the patterns differ before it in
nothing but the border's own unit, if that passes on its score (ReLU, maxout: the two sides' maps then differ by a
multiple of a function that vanishes on the border), or in nothing at all.  A border with an order that is still open
is flagged, for exact arithmetic.
"""

from __future__ import annotations

import numpy as np

from regioncount.kernels import njit
from regioncount.kernels.predicates import apart, mix

LESS, EQUAL, GREATER = -1, 0, 1


@njit
def same_line(tags, patterns, first_column, unit_low, unit_high, continuous, border_edge, x, p, y, q):
    """Whether edges x of piece p and y of piece q lie on lines that cross the border in one point, by structure."""
    for k in range(4):
        if tags[x, k] != tags[y, k]:
            return False
    block = tags[x, 0]
    if block < 0:
        return True
    unit = tags[border_edge, 1]
    for c in range(first_column[block]):
        if patterns[p, c] != patterns[q, c] and not (continuous[unit] and unit_low[unit] <= c < unit_high[unit]):
            return False
    return True


@njit
def end_keys(events, patterns, piece, n_columns, low, high, keys):
    """A hash of the identity of each end: its event (two curves and a direction, ``events`` (n, 9)) and the pattern of
    its piece before the blocks of these curves, without the columns ``low`` to ``high``.
    """
    for e in range(events.shape[0]):
        x = np.int64(0x1234567)
        for k in range(9):
            x = mix(x, events[e, k] + 16)
        for c in range(n_columns[e]):
            if not low[e] <= c < high[e]:
                x = mix(x, np.int64(patterns[piece[e], c]))
        keys[e] = x


@njit
def in_order(first, last, order, at, radius):
    """Whether the edges order[first:last] are certainly longer than their ends' radii, and follow one another."""
    for i in range(first, last):
        e = order[i]
        if not at[e, 1] - at[e, 0] > apart(radius[e, 0], radius[e, 1]):
            return False
    return True


@njit
def match(
    borders, order, at, radius, corner, other, piece, edge, tags, patterns, first_column, unit_low, unit_high,
    continuous, keys, facets, equal, flagged, done,
):  # fmt: skip
    """Merge the two sides of every border.

    ``borders`` (n, 3): first edge, first edge of side 1, end, in ``order``.  For edge e (number edge[e] in ``tags``),
    along the border: ``at`` and ``radius`` (E, 2) of its two ends, ``corner`` (E, 2) and ``other`` (E, 2) the corners
    there and the edge that meets it there; ``keys`` (E, 2) the identities of its ends, or empty: then they are judged
    by the edges that meet there.  Writes ``facets`` (piece of side 0, piece of side 1, border, corner at start, at end,
    edge of side 0), ``equal`` pairs of corners, ``flagged`` borders; done[0], done[1]: how many facets and pairs.
    """
    n = 0
    m = 0
    for b in range(borders.shape[0]):
        i, middle, end = borders[b]
        j = middle
        n0 = n
        m0 = m
        flagged[b] = 0
        if (
            i == middle
            or j == end
            or not in_order(i, middle, order, at, radius)
            or not in_order(j, end, order, at, radius)
        ):
            flagged[b] = 1
            continue
        start = corner[order[i], 0]
        equal[m, 0] = start
        equal[m, 1] = corner[order[j], 0]
        m += 1
        while i < middle and j < end:
            e, f = order[i], order[j]
            gap = at[e, 1] - at[f, 1]
            room = apart(radius[e, 1], radius[f, 1])
            if i == middle - 1 and j == end - 1:
                s = EQUAL
            elif i == middle - 1:
                s = GREATER
            elif j == end - 1:
                s = LESS
            elif gap > room:
                s = GREATER
            elif gap < -room:
                s = LESS
            elif (keys.shape[0] > 0 and keys[e, 1] == keys[f, 1]) or (
                keys.shape[0] == 0
                and same_line(
                    tags, patterns, first_column, unit_low, unit_high, continuous, edge[e], other[e, 1], piece[e],
                    other[f, 1], piece[f],
                )
            ):  # fmt: skip
                s = EQUAL
            else:
                flagged[b] = 1
                break
            facets[n, 0] = piece[e]
            facets[n, 1] = piece[f]
            facets[n, 2] = b
            facets[n, 3] = start
            start = corner[f, 1] if s == GREATER else corner[e, 1]
            facets[n, 4] = start
            facets[n, 5] = edge[e]
            n += 1
            if s == EQUAL:
                equal[m, 0] = corner[e, 1]
                equal[m, 1] = corner[f, 1]
                m += 1
            if keys.shape[0] > 0:  # edges of one side follow one another, also where no facet parts their pieces
                if s != GREATER and i + 1 < middle:
                    equal[m, 0] = corner[e, 1]
                    equal[m, 1] = corner[order[i + 1], 0]
                    m += 1
                if s != LESS and j + 1 < end:
                    equal[m, 0] = corner[f, 1]
                    equal[m, 1] = corner[order[j + 1], 0]
                    m += 1
            i += s != GREATER
            j += s != LESS
        if flagged[b]:
            n = n0
            m = m0
    done[0] = n
    done[1] = m
