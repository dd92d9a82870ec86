"""Polytope engine: depth-first subdivision of a convex polytope of Rⁿ by affine scores, one piece at a time.

A *frame* (``blocks``) is a piece: its vertices, in homogeneous coordinates (x, w) of greatest coordinate 1, each with a
radius, the set of facets it is *tight* on as bits, and a key; and its facets, a hyperplane a·x + c ≥ 0 each, a list of
its own.  Vertices and facets of all frames lie in two pools, one frame after the other, so that only the path from the
root to one leaf is in memory.  A cut joins the vertices on its two sides that are adjacent: two vertices are, exactly
if no third one is tight on all facets that both are tight on (the double description method: Motzkin, Raiffa, Thompson,
Thrall 1953; Fukuda and Prodon 1996), which is a matter of bits.  The only decision is the sign of a hyperplane at a
vertex.

All of Rⁿ is a simplex {s_i·x + 1000 R ≥ 0} with R a symbolic infinitely large number: every piece then has vertices.
Those on its sides are at infinity: w = 0, x the direction, which is what floats know of them; floats decide the sign of
a hyperplane there where its leading coefficient a·x is certainly not 0, and exact arithmetic the rest.

A new vertex is interpolated between its neighbours, and its radius grows with the angle of the edge and the cut; one
that has become too wide is solved anew from its hyperplanes, with a bound from an approximate inverse (``refine``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regioncount.kernels import inlined, njit, spliced
from regioncount.kernels.blocks import (  # noqa: F401 - the driver of the engine reads all of these here
    AFFINE,
    ALIVE,
    AT_CORNER,
    BLOCK,
    CORNERS,
    DEAD,
    DECIDED,
    EMIT,
    ERROR,
    FINGERPRINTS,
    LAST_BLOCK,
    MADE,
    MAX_PIECES,
    N_CORNERS,
    N_FLOATS,
    N_INFO,
    N_OPEN,
    N_PIECES,
    N_PRINTS,
    N_REQUESTS,
    N_VERDICTS,
    NEXT_BORDER,
    NEXT_ROOT,
    NO_FLOATS,
    OPEN,
    ROOT,
    SAME_MAP,
    SIGN,
    STATE,
    TOP,
    Roots,
    Run,
    add_bits,
    copy_frame,
    enter_block,
    fingerprint,
    line_key,
    open_bits,
    put_request,
    same_map,
    set_bit,
    set_winner,
)
from regioncount.kernels.polygon import (  # noqa: F401
    CONIC,
    FULL,
    FULL_PRINTS,
    GROW_CORNERS,
    GROW_FRAMES,
    LIMIT,
    OK,
    REQUEST,
    T_BLOCK,
    T_BORDER,
    T_I,
    T_J,
    T_KEY,
    T_UNIT,
    answer,
    outcome,
    set_tag,
)
from regioncount.kernels.predicates import (
    BIT,
    CAND_LO,
    FIRST,
    FIRST_COLUMN,
    FIRST_VALUE,
    HUGE,
    KIND,
    N_CANDIDATES,
    N_CHOOSE,
    N_PRE,
    NONE,
    ONE,
    ORDER_AT,
    PLAIN,
    UNDECIDED,
    ZERO,
    U,
    decide,
    hyperplane_error,
    lookup,
    mean_radius,
    mixture_radius,
    norm_bound,
    quotient_range,
    scaled_radius,
    solution_radius,
    space_noise,
)  # fmt: skip

VERTEX_AT, FACET_AT, N_FACETS = range(3)  # columns of Stack.place
INFINITE = 1  # T_I of a side of the domain (T_BLOCK −1) that is at infinity
TOO_WIDE = 1e-6  # a vertex with a larger radius is solved anew at once
NAME = np.int64(0x7FFFFFFFFFFFFFFF)  # the bits of a sum of keys that name a vertex


class Stack(NamedTuple):
    """Frames: info (F, 4 + U), map (F, n + 1, N), pattern (F, n_columns) as in ``blocks``; place (F, 3) first vertex,
    first facet, number of facets.  Pools: vertices (P, n + 3) x, w, radius, 1 if solved anew; tight (P, W) bits over
    the frame's facets; keys (P,); facets (Q, n + 2) a, c, error, with greatest |coefficient| 1; tags (Q, 6).
    """

    info: np.ndarray
    map: np.ndarray
    pattern: np.ndarray
    place: np.ndarray
    vertices: np.ndarray
    tight: np.ndarray
    keys: np.ndarray
    facets: np.ndarray
    tags: np.ndarray


class Leaves(NamedTuple):
    """Finished pieces: pattern, output map and its error, number of facets, a point inside and how far it is inside all
    facets at least (x, w, clearance), the box around them (L, 2, n), infinite where they are unbounded; of each facet
    tags (G, 5) and a point inside, witness (G, n + 2) with its radius.
    """

    pattern: np.ndarray
    map: np.ndarray
    size: np.ndarray
    point: np.ndarray
    box: np.ndarray
    tags: np.ndarray
    witness: np.ndarray


class Work(NamedTuple):
    """Scratch: plane (n + 2,) the hyperplane asked about, a, c, error; value and bound (P,) at each vertex; common (W,)
    bits; of facets the number of their vertices, corners_of, and the new name (64 W,); of vertices simple and below
    (P,).  For ``refine``: rows (R, n + 2) and the same being eliminated, chosen (R,) rows and column (n + 1,) order,
    inverse (n, 2n), solution and residual (n,).
    """

    plane: np.ndarray
    value: np.ndarray
    bound: np.ndarray
    common: np.ndarray
    corners_of: np.ndarray
    name: np.ndarray
    simple: np.ndarray
    below: np.ndarray
    rows: np.ndarray
    eliminated: np.ndarray
    chosen: np.ndarray
    column: np.ndarray
    inverse: np.ndarray
    solution: np.ndarray
    residual: np.ndarray


@inlined
def ones(x):
    """Number of bits set in a 64-bit word."""
    z = np.uint64(x)
    z = z - ((z >> np.uint64(1)) & np.uint64(0x5555555555555555))
    z = (z & np.uint64(0x3333333333333333)) + ((z >> np.uint64(2)) & np.uint64(0x3333333333333333))
    z = (z + (z >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((z * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inlined
def has(mask, k):
    """Whether bit k of a set is on."""
    return (mask[k >> 6] >> np.int64(k & 63)) & 1


@inlined
def lowest(word):
    """Number of the lowest bit set in a 64-bit word that is not 0."""
    return ones((word & -word) - 1)


@inlined
def put(mask, k):
    """Switch bit k of a set on."""
    mask[k >> 6] |= np.int64(1) << np.int64(k & 63)


# ------------------------------------------------------------------------------------------- hyperplanes and vertices


@inlined
def unit_plane(prog, work, roots, b, unit, i, j):
    """Write to work.plane the hyperplane on which a BIT unit vanishes, or on which candidates i < j of a SET unit tie
    (positive where i is ahead).
    """
    plane = work.plane
    last = plane.shape[0] - 1
    if prog.units[unit, KIND] == BIT:
        col = prog.units[unit, FIRST_VALUE]
        for d in range(last + 1):
            plane[d] = roots.map[b, d, col]
        return
    at = prog.units[unit, FIRST] - prog.blocks[b, CAND_LO]
    for d in range(last):
        plane[d] = roots.score[b, d, at + i] - roots.score[b, d, at + j]
    plane[last] = roots.score[b, last, at + i] + roots.score[b, last, at + j]


@inlined
def plane_norm(plane):
    """Upper bound of the 2-norm of the coefficients."""
    total = 0.0
    for d in range(plane.shape[0] - 1):
        total += plane[d] * plane[d]
    return norm_bound(total)


@inlined
def value_at(plane, vertex):
    """Value of a hyperplane at a vertex."""
    z = 0.0
    for d in range(plane.shape[0] - 1):
        z += plane[d] * vertex[d]
    return z


@njit
def plane_signs(run, work, stack, f, unit, i, j, key):
    """Signs of work.plane at the vertices of frame f (into run.scratch); False if some had to be asked.

    The hyperplane is that of candidates i and j of ``unit``, its identity ``key``.  Writes work.value and work.bound.
    """
    plane = work.plane
    last = plane.shape[0] - 1
    norm = plane_norm(plane)
    noise = space_noise(norm, plane[last], last)
    start = stack.place[f, VERTEX_AT]
    known = True
    for v in range(stack.info[f, CORNERS]):
        vertex = stack.vertices[start + v]
        z = value_at(plane, vertex)
        bound = noise + norm * vertex[last]
        s = decide(z, bound)
        if s == UNDECIDED:
            s = lookup(run.table, stack.keys[start + v] & NAME, key)
        if s == UNDECIDED and vertex[last + 1] == 0.0 and plane[last] < HUGE:
            refine(work, stack, f, start + v)
            z = value_at(plane, vertex)
            bound = noise + norm * vertex[last]
            s = decide(z, bound)
        if s == UNDECIDED:
            known = False
            name = stack.keys[start + v] & NAME
            n = put_request(run, f, AT_CORNER, stack.info[f, BLOCK], unit, i, j, name, key)
            if n >= 0:
                run.request[n, 6] = start + v
                run.request[n, 7] = stack.place[f, FACET_AT]
        run.scratch[SIGN, v] = s
        work.value[v] = z
        work.bound[v] = bound
    return known


@njit
def gather(work, stack, f, at, mask):
    """Copy the hyperplanes of the facets in ``mask`` to work.rows, as equations of vertex ``at`` of the pool; their
    number.

    At infinity the last coordinate stands for R: a side has it, any other hyperplane does not.
    """
    n = stack.vertices.shape[1] - 3
    infinite = stack.vertices[at, n] == 0.0
    facet_at = stack.place[f, FACET_AT]
    m = 0
    for w in range(mask.shape[0]):
        rest = mask[w]
        while rest != 0:
            facet = facet_at + 64 * w + lowest(rest)
            for d in range(n + 2):
                work.rows[m, d] = stack.facets[facet, d]
            if infinite and not is_infinite(stack, facet):
                work.rows[m, n] = 0.0
            m += 1
            rest &= rest - 1
    return m


@inlined
def is_infinite(stack, facet):
    """Whether a facet of the pool is a side of the domain at infinity."""
    return stack.tags[facet, T_BLOCK] < 0 and stack.tags[facet, T_I] == INFINITE


@njit
def independent(work, m):
    """Choose n of the first m of work.rows (the first n of work.chosen) by complete pivoting, and the column that stays
    free (the last of work.column); False where floats find no n of them.
    """
    a = work.eliminated
    n = work.column.shape[0] - 1
    for r in range(m):
        work.chosen[r] = r
        for d in range(n + 1):
            a[r, d] = work.rows[r, d]
    for d in range(n + 1):
        work.column[d] = d
    for step in range(n):
        best = 1e-12
        p = -1
        q = -1
        for r in range(step, m):
            for d in range(step, n + 1):
                if abs(a[r, d]) > best:
                    best = abs(a[r, d])
                    p = r
                    q = d
        if p < 0:
            return False
        work.chosen[step], work.chosen[p] = work.chosen[p], work.chosen[step]
        work.column[step], work.column[q] = work.column[q], work.column[step]
        for d in range(n + 1):
            a[step, d], a[p, d] = a[p, d], a[step, d]
        for r in range(m):
            a[r, step], a[r, q] = a[r, q], a[r, step]
        for r in range(step + 1, m):
            factor = a[r, step] / a[step, step]
            for d in range(step, n + 1):
                a[r, d] -= factor * a[step, d]
    return True


@inlined
def choose_all(work, vertex):
    """:func:`independent` of n rows: all of them; the vertex's greatest coordinate, as far as it is known, is free."""
    n = work.solution.shape[0]
    best = n
    for d in range(n + 1):
        work.column[d] = d
        if abs(vertex[d]) > abs(vertex[best]):
            best = d
    work.column[best], work.column[n] = n, best
    for r in range(n):
        work.chosen[r] = r
    return True


@njit
def invert(work):
    """Invert the chosen rows without the free column: work.inverse[:, n:], by Gauss-Jordan elimination."""
    n = work.solution.shape[0]
    a = work.inverse
    for r in range(n):
        for d in range(n):
            a[r, d] = work.rows[work.chosen[r], work.column[d]]
            a[r, n + d] = 1.0 if r == d else 0.0
    for step in range(n):
        p = step
        for r in range(step + 1, n):
            if abs(a[r, step]) > abs(a[p, step]):
                p = r
        if not abs(a[p, step]) > 0.0:
            return False
        for d in range(2 * n):
            a[step, d], a[p, d] = a[p, d], a[step, d]
        scale = 1.0 / a[step, step]
        for d in range(2 * n):
            a[step, d] *= scale
        for r in range(n):
            if r != step and a[r, step] != 0.0:
                factor = a[r, step]
                for d in range(2 * n):
                    a[r, d] -= factor * a[step, d]
    return True


@njit
def solve(work, stack, at, m):
    """Put vertex ``at`` of the pool on the hyperplanes work.rows[:m], with a proven radius; False, and nothing changed,
    where there is none, or none smaller than it has.

    With C an approximate inverse of the chosen rows M and y an approximate solution, the true one is within
    |C| |residual| / (1 − ‖I − C M‖) of it (Rump, Verification methods, Acta Numerica 19, 2010, §10).
    """
    n = work.solution.shape[0]
    if m < n or not (choose_all(work, stack.vertices[at]) if m == n else independent(work, m)) or not invert(work):
        return False
    free = work.column[n]
    y = work.solution
    for d in range(n):
        y[d] = 0.0
        for r in range(n):
            y[d] -= work.inverse[d, n + r] * work.rows[work.chosen[r], free]
    reach = 1.0
    for d in range(n):
        reach = max(reach, abs(y[d]))
    for r in range(n):
        rest = work.rows[work.chosen[r], free]
        size = abs(rest)
        for e in range(n):
            term = work.rows[work.chosen[r], work.column[e]] * y[e]
            rest += term
            size += abs(term)
        work.residual[r] = abs(rest) + (n + 3) * U * size + work.rows[work.chosen[r], n + 1] * reach
    defect = 0.0
    off = 0.0
    for d in range(n):
        moved = 0.0
        for e in range(n):
            entry = 0.0
            size = 0.0
            for r in range(n):
                term = work.inverse[d, n + r] * work.rows[work.chosen[r], work.column[e]]
                entry += term
                size += abs(term)
            entry = abs(entry - (1.0 if d == e else 0.0)) + (n + 2) * U * size
            defect += entry * entry
        for r in range(n):
            moved += abs(work.inverse[d, n + r]) * work.residual[r]
        off += moved * moved
    radius = solution_radius(np.sqrt(off), np.sqrt(defect), reach, n)
    vertex = stack.vertices[at]
    infinite = vertex[n] == 0.0  # then the last coordinate is R, and the direction is what counts
    weight = 1.0
    largest = 0.0 if free == n else 1.0
    for d in range(n):
        if work.column[d] == n:
            weight = y[d]
        else:
            largest = max(largest, abs(y[d]))
    if not radius < abs(weight) / reach:
        return False
    if infinite:
        radius = scaled_radius(radius, largest / reach, n)
        reach = largest
    if not radius < vertex[n + 1]:
        return False
    scale = 1.0 / reach if weight > 0.0 else -1.0 / reach
    for d in range(n):
        vertex[work.column[d]] = y[d] * scale
    vertex[free] = scale
    if infinite:
        vertex[n] = 0.0
    vertex[n + 1] = radius
    return True


@njit
def refine(work, stack, f, at):
    """Solve vertex ``at`` of the pool anew from the hyperplanes of frame f that it is tight on, once."""
    stack.vertices[at, stack.vertices.shape[1] - 1] = 1.0
    before = stack.vertices[at, stack.vertices.shape[1] - 2]
    m = gather(work, stack, f, at, stack.tight[at])
    if before > 64.0 * U:
        solve(work, stack, at, m)


@inlined
def cross(work, stack, f, u, v, at, key):
    """Make vertex ``at`` of the pool: where work.plane, named ``key``, crosses the edge between vertices u and v of
    frame f, which it parts; work.common holds the facets of the edge.
    """
    n = work.solution.shape[0]
    start = stack.place[f, VERTEX_AT]
    a = stack.vertices[start + u]
    b = stack.vertices[start + v]
    stack.keys[at] = edge_key(work, stack, f, u) + key
    for w in range(stack.tight.shape[1]):
        stack.tight[at, w] = work.common[w]
    vertex = stack.vertices[at]
    vertex[n + 2] = 0.0
    zu, zv = abs(work.value[u]), abs(work.value[v])
    part = zu / (zu + zv) if zu + zv > 0.0 else 0.5
    gap = 0.0
    size = 0.0
    for d in range(n + 1):
        step = b[d] - a[d]
        vertex[d] = a[d] + part * step
        gap += step * step
        size = max(size, abs(vertex[d]))
    radius = mixture_radius(a[n + 1], b[n + 1], part, zu + zv, work.bound[u], work.bound[v], np.sqrt(gap), n + 1)
    if size < 0.25:
        radius = scaled_radius(radius, size, n + 1)
        for d in range(n + 1):
            vertex[d] /= size
    vertex[n + 1] = radius
    between = a[n] == 0.0 and b[n] == 0.0 and not at_infinity(work, stack, f)
    if between or not radius < TOO_WIDE:
        solve_crossing(work, stack, f, at, between)


@inlined
def edge_key(work, stack, f, u):
    """Sum of the keys of the facets in work.common, all of which vertex u of frame f is tight on."""
    at = stack.place[f, VERTEX_AT] + u
    facet_at = stack.place[f, FACET_AT]
    total = np.int64(0)
    if work.simple[u]:
        total = stack.keys[at]
    for w in range(stack.tight.shape[1]):
        rest = (stack.tight[at, w] & ~work.common[w]) if work.simple[u] else work.common[w]
        while rest != 0:
            own = stack.tags[facet_at + 64 * w + lowest(rest), T_KEY]
            total = total - own if work.simple[u] else total + own
            rest &= rest - 1
    return total


@inlined
def at_infinity(work, stack, f):
    """Whether a facet in work.common is at infinity."""
    for w in range(stack.tight.shape[1]):
        rest = work.common[w]
        while rest != 0:
            if is_infinite(stack, stack.place[f, FACET_AT] + 64 * w + lowest(rest)):
                return True
            rest &= rest - 1
    return False


@njit
def solve_crossing(work, stack, f, at, between):
    """Put vertex ``at`` of the pool, made by a crossing, on work.plane and the facets in work.common; ``between`` where
    the edge leads from infinity to infinity without being there: then the vertex is finite.
    """
    n = work.solution.shape[0]
    vertex = stack.vertices[at]
    if between:
        vertex[n] = 1.0
        vertex[n + 1] = np.inf
    m = gather(work, stack, f, at, work.common)
    if m < work.rows.shape[0]:
        scale = 0.0
        for d in range(n + 1):
            scale = max(scale, abs(work.plane[d]))
        for d in range(n + 1):
            work.rows[m, d] = work.plane[d] / scale
        work.rows[m, n + 1] = hyperplane_error(work.plane[n + 1], scale, n + 1)
        if vertex[n] == 0.0:
            work.rows[m, n] = 0.0
        m += 1
    if not solve(work, stack, at, m) and between:
        for d in range(n):
            vertex[d] = 0.0
        vertex[n] = 1.0
        vertex[n + 1] = np.inf
    vertex[n + 2] = 1.0


# ------------------------------------------------------------------------------------------------------------- cuts


@inlined
def pool_top(stack, f):
    """First free place in the pool of vertices above frame f."""
    return stack.place[f, VERTEX_AT] + stack.info[f, CORNERS]


@inlined
def share_an_edge(work, stack, f, u, v):
    """Whether no third vertex of frame f is tight on all facets in work.common, which vertices u and v are tight on."""
    start = stack.place[f, VERTEX_AT]
    for t in range(stack.info[f, CORNERS]):
        if t in (u, v):
            continue
        inside = True
        for w in range(stack.tight.shape[1]):
            inside = inside and (work.common[w] & ~stack.tight[start + t, w]) == 0
        if inside:
            return False
    return True


@inlined
def mark_simple(work, stack, f):
    """Write to work.simple which vertices of frame f are tight on n facets only: any n − 1 of these meet in an edge."""
    n = work.solution.shape[0]
    start = stack.place[f, VERTEX_AT]
    for v in range(stack.info[f, CORNERS]):
        own = 0
        for w in range(stack.tight.shape[1]):
            own += ones(stack.tight[start + v, w])
        work.simple[v] = own == n


@njit
def crossings(run, work, stack, f, key):
    """Make the vertices in which work.plane cuts the edges of frame f, above all else in the pool, tight on the facets
    of their edges; their number, −1 if there is no room.
    """
    n = work.solution.shape[0]
    start = stack.place[f, VERTEX_AT]
    count = stack.info[f, CORNERS]
    signs = run.scratch[SIGN]
    tight = stack.tight
    at = start + count
    below = 0
    for v in range(count):
        if signs[v] < 0:
            work.below[below] = v
            below += 1
    mark_simple(work, stack, f)
    for u in range(count):
        if signs[u] <= 0:
            continue
        first = tight[start + u, 0]
        for index in range(below):
            v = work.below[index]
            shared = ones(first & tight[start + v, 0])
            for w in range(1, tight.shape[1]):
                shared += ones(tight[start + u, w] & tight[start + v, w])
            if shared < n - 1:
                continue
            for w in range(tight.shape[1]):
                work.common[w] = tight[start + u, w] & tight[start + v, w]
            if not (shared == n - 1 and (work.simple[u] or work.simple[v])) and not share_an_edge(work, stack, f, u, v):
                continue
            if at >= tight.shape[0]:
                return -1
            cross(work, stack, f, u, v, at, key)
            at += 1
    return at - start - count


@njit
def take_part(run, work, stack, f, new, side, to, key):
    """Write to frame ``to``, whose place is free or that of f, the part of frame f on one side of work.plane; False if
    there is no room.

    ``new`` vertices of the cut lie above frame f in the pool (``crossings``).  All facets stay, with their numbers.
    """
    start = stack.place[f, VERTEX_AT]
    count = stack.info[f, CORNERS]
    total = stack.place[f, N_FACETS]
    signs = run.scratch[SIGN]
    at = stack.place[to, VERTEX_AT]
    facet_at = stack.place[to, FACET_AT]
    if (
        at + count + new > stack.tight.shape[0]
        or facet_at + total + 1 > stack.facets.shape[0]
        or total >= 64 * stack.tight.shape[1]
    ):
        return False
    if facet_at != stack.place[f, FACET_AT]:
        copy_facets(stack, stack.place[f, FACET_AT], facet_at, total)
    put_facet(run, work, stack, facet_at + total, side, key)
    stack.place[to, N_FACETS] = total + 1
    kept = at
    for v in range(count + new):
        if v < count and signs[v] * side < 0:
            continue
        copy_vertex(stack, start + v, kept)
        if v >= count or signs[v] == 0:
            put(stack.tight[kept], total)
        kept += 1
    stack.info[to, CORNERS] = kept - at
    return True


@inlined
def copy_vertex(stack, at, to):
    """Copy a vertex of the pool."""
    for d in range(stack.vertices.shape[1]):
        stack.vertices[to, d] = stack.vertices[at, d]
    for w in range(stack.tight.shape[1]):
        stack.tight[to, w] = stack.tight[at, w]
    stack.keys[to] = stack.keys[at]


@inlined
def copy_facets(stack, at, to, count):
    """Copy facets of the pool, to a lower place or clear of them."""
    for k in range(count):
        for d in range(stack.facets.shape[1]):
            stack.facets[to + k, d] = stack.facets[at + k, d]
        for d in range(6):
            stack.tags[to + k, d] = stack.tags[at + k, d]


@inlined
def put_facet(run, work, stack, at, side, key):
    """Write work.plane, positive inside, and run.cut_tag to a facet of the pool."""
    n = work.solution.shape[0]
    scale = 0.0
    for d in range(n + 1):
        scale = max(scale, abs(work.plane[d]))
    for d in range(n + 1):
        stack.facets[at, d] = side * work.plane[d] / scale
    stack.facets[at, n + 1] = hyperplane_error(work.plane[n + 1], scale, n + 1)
    for d in range(4):
        stack.tags[at, d] = run.cut_tag[d]
    stack.tags[at, T_BORDER] = run.cut_tag[T_BORDER] ^ (side < 0)
    stack.tags[at, T_KEY] = key


@inlined
def move(stack, f, vertex_at, facet_at):
    """Move the vertices and facets of frame f down in the pools, or copy them to free room."""
    a = stack.place[f, VERTEX_AT]
    for v in range(stack.info[f, CORNERS]):
        copy_vertex(stack, a + v, vertex_at + v)
    copy_facets(stack, stack.place[f, FACET_AT], facet_at, stack.place[f, N_FACETS])
    stack.place[f, VERTEX_AT] = vertex_at
    stack.place[f, FACET_AT] = facet_at


@njit
def drop_facets(work, stack, f):
    """Forget the facets of frame f with fewer than n vertices, which touch it in less than a facet; the others change
    their numbers.  For when the numbers run out.

    Vertices get the names of what is left: ``edge_key`` relies on a simple vertex being named by what it is tight on.
    """
    n = work.solution.shape[0]
    words = stack.tight.shape[1]
    start, facet_at = stack.place[f, VERTEX_AT], stack.place[f, FACET_AT]
    total = stack.place[f, N_FACETS]
    for k in range(total):
        work.corners_of[k] = 0
        for v in range(stack.info[f, CORNERS]):
            work.corners_of[k] += has(stack.tight[start + v], k)
    left = 0
    for k in range(total):
        work.name[k] = -1
        if work.corners_of[k] >= n:
            copy_facets(stack, facet_at + k, facet_at + left, 1)
            work.name[k] = left
            left += 1
    for v in range(stack.info[f, CORNERS]):
        for w in range(words):
            work.common[w] = stack.tight[start + v, w]
            stack.tight[start + v, w] = 0
        stack.keys[start + v] = 0
        for k in range(total):
            if work.name[k] >= 0 and has(work.common, k):
                put(stack.tight[start + v], work.name[k])
                stack.keys[start + v] += stack.tags[facet_at + work.name[k], T_KEY]
    stack.place[f, N_FACETS] = left


# ------------------------------------------------------------------------------------------------------------ choices


@inlined
def outcomes(prog, run, stack, roots, f, b, widest):
    """For every coordinate of the root map of block b, how its sign lies on frame f, into run.range[2]: 1 positive at
    all vertices, −1 negative at all, 2 both for certain, 3 open; all coordinates at once, in vector registers.
    """
    n = prog.blocks[b, N_PRE]
    dims = stack.vertices.shape[1] - 3
    start = stack.place[f, VERTEX_AT]
    m = roots.map[b]
    low = run.range[0]
    high = run.range[1]
    code = run.range[2]
    z = run.range[3]
    for v in range(stack.info[f, CORNERS]):
        vertex = stack.vertices[start + v]
        for i in range(n):
            z[i] = 0.0
        for d in range(dims + 1):
            x = vertex[d]
            row = m[d]
            for i in range(n):
                z[i] += row[i] * x
        if v == 0:
            for i in range(n):
                low[i] = z[i]
                high[i] = z[i]
        else:
            for i in range(n):
                low[i] = z[i] if z[i] < low[i] else low[i]
                high[i] = z[i] if z[i] > high[i] else high[i]
    for i in range(n):
        z[i] = 0.0
    for d in range(dims + 1):
        row = m[d]
        for i in range(n):
            z[i] += row[i] * row[i]
    for i in range(n):
        norm = norm_bound(z[i])
        bound = space_noise(norm, m[dims + 1, i], dims + 1) + norm * widest
        finite = (low[i] > -HUGE) & (high[i] < HUGE)
        up = (low[i] > bound) & finite
        down = (high[i] < -bound) & finite
        both = (low[i] < -bound) & (high[i] > bound) & finite
        code[i] = 1.0 if up else (-1.0 if down else (2.0 if both else 3.0))


@inlined
def widest_radius(stack, f):
    """The largest radius of a vertex of frame f."""
    at = stack.place[f, VERTEX_AT]
    column = stack.vertices.shape[1] - 2
    widest = 0.0
    for v in range(stack.info[f, CORNERS]):
        widest = max(widest, stack.vertices[at + v, column])
    return widest


@inlined
def plane_range(work, stack, f, widest):
    """What :func:`outcomes` says, of work.plane."""
    plane = work.plane
    last = plane.shape[0] - 1
    start = stack.place[f, VERTEX_AT]
    low = np.inf
    high = -np.inf
    for v in range(stack.info[f, CORNERS]):
        z = value_at(plane, stack.vertices[start + v])
        low = z if z < low else low
        high = z if z > high else high
    norm = plane_norm(plane)
    bound = space_noise(norm, plane[last], last) + norm * widest
    p = decide(low, bound)
    q = decide(high, bound)
    if p == 1:
        return 1
    if q == -1:
        return -1
    return 2 if p == -1 and q == 1 else 3


@njit
def settle_bit(prog, run, work, stack, roots, f, unit):
    """How a BIT unit lies on frame f: 1 on, −1 off (or zero everywhere), 2 both, 3 if asked."""
    b = stack.info[f, BLOCK]
    asked = run.state[N_REQUESTS]
    unit_plane(prog, work, roots, b, unit, ZERO, ZERO)
    known = plane_signs(run, work, stack, f, unit, ZERO, ZERO, line_key(roots.uid[b], unit, 0, 0))
    s = outcome(run, stack.info[f, CORNERS])
    if s == 2:
        run.state[N_REQUESTS] = asked  # both sides are there whatever the other vertices say
        return 2
    if not known:
        return 3
    return -1 if s == 0 else s


@njit
def pair_signs(prog, run, work, stack, roots, f, unit, i, j):
    """Signs of score i − score j of a SET unit at the vertices of frame f (into run.scratch); False if asked.

    work.plane is left with the hyperplane of the lower candidate's lead.
    """
    b = stack.info[f, BLOCK]
    low, high = min(i, j), max(i, j)
    unit_plane(prog, work, roots, b, unit, low, high)
    known = plane_signs(run, work, stack, f, unit, low, high, line_key(roots.uid[b], unit, low, high))
    if i > j:
        for v in range(stack.info[f, CORNERS]):
            if run.scratch[SIGN, v] != UNDECIDED:
                run.scratch[SIGN, v] = -run.scratch[SIGN, v]
    return known


@njit
def reduce_set(prog, run, work, stack, roots, f, unit):
    """Candidates of a SET unit that no other one dominates on frame f, into run.scratch[ALIVE]; their number, or −1 if
    asked.  Of candidates that are one map the first stays.
    """
    b = stack.info[f, BLOCK]
    count = prog.units[unit, N_CANDIDATES]
    alive = run.scratch[ALIVE]
    for i in range(count):
        alive[i] = 1
    widest = widest_radius(stack, f)
    asked = False
    for certain in range(2):  # first what floats can tell, so that fewer questions are asked
        for i in range(count):
            for j in range(i + 1, count):
                if not (alive[i] and alive[j]):
                    continue
                unit_plane(prog, work, roots, b, unit, i, j)
                s = plane_range(work, stack, f, widest)
                if s == 1:
                    alive[j] = 0
                elif s == -1:
                    alive[i] = 0
                elif s == 3 and certain == 1:
                    asked = settle_pair(prog, run, work, stack, roots, f, unit, i, j) or asked
    if asked:
        return -1
    total = 0
    for i in range(count):
        total += alive[i]
    return total


@njit
def settle_pair(prog, run, work, stack, roots, f, unit, i, j):
    """Decide exactly whether candidate i or j dominates the other on frame f (updates run.scratch[ALIVE]); True if it
    had to ask.
    """
    b = stack.info[f, BLOCK]
    same = same_map(run, roots, b, unit, i, j)
    if same == UNDECIDED:
        put_request(run, f, SAME_MAP, b, unit, i, j, SAME_MAP, line_key(roots.uid[b], unit, i, j))
        return True
    if same == 1:
        run.scratch[ALIVE, j] = 0
        return False
    asked = run.state[N_REQUESTS]
    known = pair_signs(prog, run, work, stack, roots, f, unit, i, j)
    s = outcome(run, stack.info[f, CORNERS])
    if s == 2:
        run.state[N_REQUESTS] = asked
        return False
    if not known:
        return True
    if s >= 0:
        run.scratch[ALIVE, j] = 0
    elif s == -1:
        run.scratch[ALIVE, i] = 0
    return False


@spliced
def filter_open(prog, run, work, stack, roots, f, fresh):
    """Decide what can be decided of the open units of frame f, and drop it from the list; ``fresh`` where it enters its
    block.
    """
    b = stack.info[f, BLOCK]
    widest = widest_radius(stack, f)
    decided = 0
    run.state[N_FLOATS] += prog.blocks[b, N_CHOOSE] if fresh else stack.info[f, N_OPEN]
    if fresh:
        outcomes(prog, run, stack, roots, f, b, widest)
        if prog.blocks[b, PLAIN]:
            decided = open_bits(prog, run, stack, f, b)
        else:
            stack.info[f, N_OPEN] = prog.blocks[b, N_CHOOSE]
            for i in range(prog.blocks[b, N_CHOOSE]):
                stack.info[f, N_INFO + i] = prog.order[prog.blocks[b, ORDER_AT] + i]
    kept = 0
    for at in range(stack.info[f, N_OPEN]):
        unit = stack.info[f, N_INFO + at]
        if prog.units[unit, KIND] == BIT:
            s = np.int64(run.range[2, prog.units[unit, FIRST_VALUE]]) if fresh else 3
            if not fresh:
                unit_plane(prog, work, roots, b, unit, ZERO, ZERO)
                s = plane_range(work, stack, f, widest)
            if s == 3:
                s = settle_bit(prog, run, work, stack, roots, f, unit)
            if s == 1 or s == -1:
                stack.pattern[f, prog.units[unit, FIRST_COLUMN]] = s == 1
                if s == 1 or prog.slope[unit] != 0.0:
                    run.scratch[DECIDED, decided] = unit
                    decided += 1
                continue
        elif reduce_set(prog, run, work, stack, roots, f, unit) == 1:
            for i in range(prog.units[unit, N_CANDIDATES]):
                if run.scratch[ALIVE, i]:
                    set_winner(prog, run, stack, roots, f, unit, i)
            continue
        stack.info[f, N_INFO + kept] = unit
        kept += 1
    stack.info[f, N_OPEN] = kept
    if decided > 0 and b < run.state[LAST_BLOCK]:
        add_bits(prog, run, stack, roots, f, b, decided)


@inlined
def close_unit(stack, f, at):
    """Take the open unit at a place of the list of frame f out of it."""
    for k in range(at, stack.info[f, N_OPEN] - 1):
        stack.info[f, N_INFO + k] = stack.info[f, N_INFO + k + 1]
    stack.info[f, N_OPEN] -= 1


@inlined
def place_above(stack, f, to, new):
    """Give frame ``to`` the free room in the pools above frame f and ``new`` vertices on top of it."""
    stack.place[to, VERTEX_AT] = stack.place[f, VERTEX_AT] + stack.info[f, CORNERS] + new
    stack.place[to, FACET_AT] = stack.place[f, FACET_AT] + stack.place[f, N_FACETS]


@inlined
def copy_place(stack, f, to):
    """Let frame ``to`` have the vertices and facets of frame f."""
    for d in range(3):
        stack.place[to, d] = stack.place[f, d]
    stack.info[to, CORNERS] = stack.info[f, CORNERS]


@njit
def split_two(prog, run, work, stack, roots, f, at, i, j):
    """Split frame f by a BIT unit, or by a SET unit with two candidates left; the children replace it."""
    b = stack.info[f, BLOCK]
    unit = stack.info[f, N_INFO + at]
    is_bit = prog.units[unit, KIND] == BIT
    key = line_key(roots.uid[b], unit, i, j)
    unit_plane(prog, work, roots, b, unit, i, j)
    if not plane_signs(run, work, stack, f, unit, i, j, key):
        return REQUEST
    new = crossings(run, work, stack, f, key)
    if new < 0:
        return GROW_CORNERS
    set_tag(run, b, unit, i, j, 2 * run.state[NEXT_BORDER])
    place_above(stack, f, f + 1, new)
    stack.place[f + 1, FACET_AT] += 1  # the part above the cut stays in place, with one more facet
    if not take_part(run, work, stack, f, new, NONE, f + 1, key):
        return GROW_CORNERS
    run.state[NEXT_BORDER] += 1
    close_unit(stack, f, at)
    count = stack.info[f + 1, CORNERS]
    take_part(run, work, stack, f, new, ONE, f, key)
    copy_frame(prog, stack, f, f + 1, run.state[LAST_BLOCK])
    stack.info[f + 1, CORNERS] = count
    move(stack, f + 1, pool_top(stack, f), stack.place[f, FACET_AT] + stack.place[f, N_FACETS])
    for child in range(2):
        if is_bit:
            set_bit(prog, run, stack, roots, f + child, unit, child == 0)
        else:
            set_winner(prog, run, stack, roots, f + child, unit, i if child == 0 else j)
    run.state[TOP] = f + 1
    return OK


@njit
def copy_polytope(stack, f, to):
    """Copy the vertices and facets of frame f to the place of frame ``to``; False if there is no room."""
    vertex_at, facet_at = stack.place[to, VERTEX_AT], stack.place[to, FACET_AT]
    if (
        vertex_at + stack.info[f, CORNERS] > stack.vertices.shape[0]
        or facet_at + stack.place[f, N_FACETS] > stack.facets.shape[0]
    ):
        return False
    copy_place(stack, f, to)
    move(stack, to, vertex_at, facet_at)
    return True


@njit
def clip_to_winner(prog, run, work, stack, roots, f, to, unit, k, border):
    """Write to frame ``to``, whose place is free, the part of f where candidate k wins; 1 if not empty, 0 if empty, −1
    if something is missing: an answer, or room.

    Uses the next frame as scratch.
    """
    b = stack.info[f, BLOCK]
    for d in range(N_INFO):
        stack.info[to, d] = stack.info[f, d]
    if not copy_polytope(stack, f, to):
        return -1
    count = prog.units[unit, N_CANDIDATES]
    for j in range(count):
        if j == k or not run.scratch[ALIVE, j]:
            continue
        if not pair_signs(prog, run, work, stack, roots, to, unit, k, j):
            # the questions are about a polytope that will be made again with the same keys
            for q in range(run.state[N_REQUESTS]):
                run.request[q, 0] = f
            return -1
        s = outcome(run, stack.info[to, CORNERS])
        if s == 2:
            low, high = min(j, k), max(j, k)
            key = line_key(roots.uid[b], unit, low, high)
            set_tag(run, b, unit, low, high, 2 * (border + low * count + high))
            side = ONE if k == low else NONE  # work.plane is the lead of the lower candidate, the signs are that of k
            for v in range(stack.info[to, CORNERS]):
                run.scratch[SIGN, v] = side * run.scratch[SIGN, v]
            new = crossings(run, work, stack, to, key)
            if new < 0:
                return -1
            if not take_part(run, work, stack, to, new, side, to, key):
                return -1
        elif s <= 0:
            return 0
    return 1


@njit
def split_set(prog, run, work, stack, roots, f, at):
    """Split frame f by a SET unit: one child for each candidate that wins somewhere."""
    unit = stack.info[f, N_INFO + at]
    total = reduce_set(prog, run, work, stack, roots, f, unit)
    if total < 0:
        return REQUEST
    count = prog.units[unit, N_CANDIDATES]
    if total == 2:
        i = NONE
        j = NONE
        for k in range(count):
            if run.scratch[ALIVE, k]:
                i, j = (k, j) if i < 0 else (i, k)
        return split_two(prog, run, work, stack, roots, f, at, i, j)
    if f + total + 3 >= stack.info.shape[0]:
        return GROW_FRAMES
    border = run.state[NEXT_BORDER]
    to = f + 1
    made = run.scratch[MADE]
    place_above(stack, f, to, 0)
    for k in range(count):
        if run.scratch[ALIVE, k]:
            asked = run.state[N_REQUESTS]
            s = clip_to_winner(prog, run, work, stack, roots, f, to, unit, k, border)
            if s < 0 and run.state[N_REQUESTS] == asked:
                return REQUEST if asked > 0 else GROW_CORNERS
            if s != 0:  # also where something was asked, for all children at once: the questions point into its place
                made[to - f - 1] = k
                place_above(stack, to, to + 1, 0)
                to += 1
    if run.state[N_REQUESTS] > 0:
        return REQUEST
    run.state[NEXT_BORDER] += count * count
    close_unit(stack, f, at)
    for child in range(f + 1, to):
        n = stack.info[child, CORNERS]
        copy_frame(prog, stack, f, child, run.state[LAST_BLOCK])
        stack.info[child, CORNERS] = n
        set_winner(prog, run, stack, roots, child, unit, made[child - f - 1])
    stack.info[f, STATE] = DEAD
    run.state[TOP] = to - 1
    return OK


# ----------------------------------------------------------------------------------------------------- finished pieces


@njit
def emit_facets(run, work, stack, leaves, f, at):
    """Append the facets of frame f to the finished ones, each with a point inside, from place ``at`` on; their number.

    A hyperplane whose vertices are all tight on another one too touches the piece in less than a facet.
    """
    n = work.solution.shape[0]
    start = stack.place[f, VERTEX_AT]
    words = stack.tight.shape[1]
    first = at
    for k in range(stack.place[f, N_FACETS]):
        for w in range(words):
            work.common[w] = -1
        witness = leaves.witness[at]
        for d in range(n + 2):
            witness[d] = 0.0
        count = 0
        for v in range(stack.info[f, CORNERS]):
            if has(stack.tight[start + v], k):
                count += 1
                for d in range(n + 2):
                    witness[d] += stack.vertices[start + v, d]
                for w in range(words):
                    work.common[w] &= stack.tight[start + v, w]
        shared = 0
        for w in range(words):
            shared += ones(work.common[w])
        if shared == 1:
            for d in range(n + 1):
                witness[d] /= count
            witness[n + 1] = mean_radius(witness[n + 1], count, n + 1)
            for d in range(5):
                leaves.tags[at, d] = stack.tags[stack.place[f, FACET_AT] + k, d]
            at += 1
    return at - first


@inlined
def clearance(stack, f, point):
    """A lower bound of the distance, in homogeneous coordinates, of a point from the finite facets of frame f, which is
    negative where it may lie outside.
    """
    n = stack.vertices.shape[1] - 3
    least = point[n]
    for k in range(stack.place[f, N_FACETS]):
        facet = stack.place[f, FACET_AT] + k
        if not is_infinite(stack, facet):
            plane = stack.facets[facet]
            norm = plane_norm(plane)
            inside = (value_at(plane, point) - space_noise(norm, plane[n + 1], n + 1)) / norm
            if not inside > -1.0:  # not a number, too
                return -1.0
            least = min(least, inside)
    return least


@njit
def emit(run, work, stack, roots, leaves, f):
    """Append frame f to the finished pieces; False if they are full."""
    n = work.solution.shape[0]
    at = run.state[N_PIECES]
    start = run.state[N_CORNERS]
    if at >= leaves.size.shape[0] or start + stack.place[f, N_FACETS] > leaves.tags.shape[0]:
        return False
    leaves.size[at] = emit_facets(run, work, stack, leaves, f, start)
    point = leaves.point[at]
    for d in range(n + 2):
        point[d] = 0.0
    share = 1.0 / stack.info[f, CORNERS]
    for d in range(n):
        leaves.box[at, 0, d] = np.inf
        leaves.box[at, 1, d] = -np.inf
    for v in range(stack.info[f, CORNERS]):
        vertex = stack.vertices[stack.place[f, VERTEX_AT] + v]
        for d in range(n + 1):
            point[d] += share * vertex[d]
        for d in range(n):
            low, high = quotient_range(vertex[d], vertex[n], vertex[n + 1])
            leaves.box[at, 0, d] = min(leaves.box[at, 0, d], low)
            leaves.box[at, 1, d] = max(leaves.box[at, 1, d], high)
    point[n + 1] = clearance(stack, f, point)
    for i in range(stack.pattern.shape[1]):
        leaves.pattern[at, i] = stack.pattern[f, i]
    b = stack.info[f, BLOCK]
    last = leaves.map.shape[2] - 1
    for k in range(n + 1):
        for i in range(last):
            leaves.map[at, k, i] = roots.map[b, k, i]
        leaves.map[at, k, last] = roots.norm[b, ERROR, k]
    run.state[N_PIECES] = at + 1
    run.state[N_CORNERS] = start + leaves.size[at]
    return True


@inlined
def count_leaves(prog, stack, roots, f):
    """How many leaves frame f of the last block has, with one or two open units, where that needs no cut; 0 otherwise.

    One open hyperplane has vertices on both sides; of the four pairs of signs of two all that vertices have occur.
    """
    if prog.units[stack.info[f, N_INFO], KIND] != BIT:
        return 0
    if stack.info[f, N_OPEN] == 1:
        return 2
    if prog.units[stack.info[f, N_INFO + 1], KIND] != BIT:
        return 0
    m = roots.map[stack.info[f, BLOCK]]
    last = m.shape[0] - 1
    p = prog.units[stack.info[f, N_INFO], FIRST_VALUE]
    q = prog.units[stack.info[f, N_INFO + 1], FIRST_VALUE]
    norm_p = norm_q = 0.0
    for d in range(last):
        norm_p += m[d, p] * m[d, p]
        norm_q += m[d, q] * m[d, q]
    norm_p, norm_q = norm_bound(norm_p), norm_bound(norm_q)
    noise_p, noise_q = space_noise(norm_p, m[last, p], last), space_noise(norm_q, m[last, q], last)
    seen = 0
    for v in range(stack.info[f, CORNERS]):
        vertex = stack.vertices[stack.place[f, VERTEX_AT] + v]
        y = z = 0.0
        for d in range(last):
            y += m[d, p] * vertex[d]
            z += m[d, q] * vertex[d]
        s = decide(y, noise_p + norm_p * vertex[last])
        t = decide(z, noise_q + norm_q * vertex[last])
        if s != UNDECIDED and t != UNDECIDED:
            seen |= 1 << ((s > 0) + 2 * (t > 0))
            if seen == 15:
                return 4
    return 0


@spliced
def step(prog, run, work, stack, roots, leaves):
    """Work on the top frame once."""
    f = run.state[TOP]
    b = stack.info[f, BLOCK]
    last = run.state[LAST_BLOCK]
    fresh = False
    if stack.info[f, STATE] == DEAD:
        run.state[TOP] = f - 1
        return OK
    if stack.info[f, STATE] == ROOT:
        if not enter_block(prog, run, stack, roots, f):
            return REQUEST if run.state[N_REQUESTS] > 0 else CONIC
        stack.info[f, STATE] = OPEN
        fresh = True
    if fresh or stack.info[f, N_OPEN] > 0:
        filter_open(prog, run, work, stack, roots, f, fresh)
        if run.state[N_REQUESTS] > 0:
            return REQUEST
    if stack.info[f, N_OPEN] == 0:
        if run.state[FINGERPRINTS] and not fingerprint(prog, run, stack, f, b):
            return FULL_PRINTS  # a frame that comes here again appends its print again: it is one of a set
        if b == last:
            if run.counts[last] >= run.state[MAX_PIECES]:
                return LIMIT
            if run.state[EMIT] and not emit(run, work, stack, roots, leaves, f):
                return FULL
            run.counts[b] += 1
            run.state[TOP] = f - 1
            return OK
        run.counts[b] += 1
        stack.info[f, BLOCK] = b + 1
        stack.info[f, STATE] = ROOT
        roots.uid[b + 1] = 0
        return OK
    if f + 4 >= stack.info.shape[0]:
        return GROW_FRAMES
    if stack.place[f, N_FACETS] + 1 >= 64 * stack.tight.shape[1]:
        drop_facets(work, stack, f)
    if prog.units[stack.info[f, N_INFO], KIND] != BIT:
        return split_set(prog, run, work, stack, roots, f, ZERO)
    if b == last and stack.info[f, N_OPEN] <= 2 and not run.state[EMIT] and not run.state[FINGERPRINTS]:
        parts = count_leaves(prog, stack, roots, f)
        if parts > 0:
            if run.counts[b] + parts > run.state[MAX_PIECES]:
                return LIMIT
            run.counts[b] += parts
            run.state[TOP] = f - 1
            return OK
    return split_two(prog, run, work, stack, roots, f, ZERO, ZERO, ZERO)


@njit
def subdivide(prog, run, work, stack, roots, leaves):
    """Run until the stack is empty (OK) or something is needed (any other status)."""
    run.state[N_REQUESTS] = 0
    while run.state[TOP] >= 0:
        status = step(prog, run, work, stack, roots, leaves)
        if status != OK:
            return status
    return OK
