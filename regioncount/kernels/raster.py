"""Kernels behind drawings: which polygon holds each pixel, and colours that tell neighbours apart.

Nothing is counted here.  Both sides of an edge compute its crossing with a row from the same end points in the same
order, so polygons whose edges match leave no pixel between them open and paint none twice.
"""

from __future__ import annotations

import math

from regioncount.kernels import njit


@njit
def paint(x, y, offsets, image):
    """Write the number of the polygon that holds the centre (j + 1/2, i + 1/2) into ``image[i, j]``.

    Polygon p has the corners ``offsets[p] … offsets[p + 1] − 1``; it is convex but for rounding.  Pixels outside all
    polygons keep what they hold.
    """
    height, width = image.shape
    for p in range(offsets.shape[0] - 1):
        first, last = offsets[p], offsets[p + 1]
        low, high = y[first], y[first]
        for k in range(first, last):
            low, high = min(low, y[k]), max(high, y[k])
        i0 = int(math.ceil(min(max(low - 0.5, 0.0), height)))
        i1 = int(math.ceil(min(max(high - 0.5, 0.0), height)))
        for i in range(i0, i1):
            row = i + 0.5
            left, right = math.inf, -math.inf
            a = last - 1
            for b in range(first, last):
                lower, upper = (a, b) if y[a] < y[b] else (b, a)
                if y[lower] <= row < y[upper]:
                    at = x[lower] + (row - y[lower]) / (y[upper] - y[lower]) * (x[upper] - x[lower])
                    left, right = min(left, at), max(right, at)
                a = b
            j0 = int(math.ceil(min(max(left - 0.5, 0.0), width)))
            j1 = int(math.ceil(min(max(right - 0.5, 0.0), width)))
            for j in range(j0, j1):
                image[i, j] = p


@njit
def smallest_last(offsets, neighbours, degree, start, place, order):
    """``order`` in which each vertex has fewest neighbours among those after it (Matula, Beck 1983).

    Vertex v has the neighbours ``offsets[v] … offsets[v + 1] − 1``; overwrites ``degree``, ``start`` (greatest degree
    + 2, zeros) and ``place``.
    """
    n = degree.shape[0]
    for v in range(n):
        start[degree[v] + 1] += 1
    for d in range(start.shape[0] - 1):
        start[d + 1] += start[d]
    for v in range(n):
        place[v] = start[degree[v]]
        order[place[v]] = v
        start[degree[v]] += 1
    for d in range(start.shape[0] - 1, 0, -1):
        start[d] = start[d - 1]
    start[0] = 0
    for i in range(n):
        v = order[i]
        for k in range(offsets[v], offsets[v + 1]):
            u = neighbours[k]
            if degree[u] > degree[v]:  # move u to the front of its degree, and that front one on
                front = start[degree[u]]
                w = order[front]
                order[place[u]], order[front] = w, u
                place[w], place[u] = place[u], front
                start[degree[u]] += 1
                degree[u] -= 1


@njit
def colour(offsets, neighbours, order, used, colours):
    """Colours given from the end of ``order``: of those that no neighbour has, the one used least.

    Overwrites ``used`` (n_colours,), zeros, and ``colours``, −1.
    """
    for i in range(order.shape[0] - 1, -1, -1):
        v = order[i]
        taken = 0
        for k in range(offsets[v], offsets[v + 1]):
            c = colours[neighbours[k]]
            if c >= 0:
                taken |= 1 << c
        best = -1
        for c in range(used.shape[0]):
            if not taken >> c & 1 and (best < 0 or used[c] < used[best]):
                best = c
        if best < 0:  # more than used.shape[0] − 1 neighbours, all colours among them
            best = 0
            for c in range(used.shape[0]):
                if used[c] < used[best]:
                    best = c
        colours[v] = best
        used[best] += 1
