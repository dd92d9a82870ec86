"""Conic engine: depth-first subdivision of the plane by quadratic scores, in trapezoids between two conic arcs.

A frame is {xl <= x <= xr, lower(x) <= y <= upper(x)}; each side is one *branch* of a curve g = 0 of degree at most 2:
the root in y at which g rises (branch 1) or falls (branch −1).  One step takes one open unit of a frame.  The winners
along a vertical line change their order only at *events*: where a pair curve (two scores tie) has a vertical tangent,
meets a side of the frame, or three scores tie: roots of discriminants and resultants, of degree at most 4 in x.
Between neighbouring events the winners are found on the vertical line half way.  That is a *plan*: slabs, in each a
list of sections (boundary below, winner); ``spread`` makes frames of it.  A section goes on through an event that does
not touch it; elsewhere a wall cuts it, superfluous for every definition of a region: pieces are glued afterwards.

Floats decide only with proven bounds (``predicates``).  Roots are isolated by Bernstein coefficients; every other
polynomial is certainly not zero at an event, so that only the curves of that event meet there.  Where anything is open
the kernel returns EXACT and the caller writes the plan, in exact arithmetic, and calls ``spread``.  Coordinates are
sheared, so that no curve is vertical and no branch has a vertical asymptote.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regioncount.kernels import inlined, njit, spliced
from regioncount.kernels.blocks import (
    ALIVE,
    BLOCK,
    DEAD,
    EMIT,
    ERROR,
    LAST_BLOCK,
    MAX_PIECES,
    N_FLOATS,
    N_INFO,
    N_OPEN,
    N_REQUESTS,
    N_VERDICTS,
    NEXT_BORDER,
    NO_FLOATS,
    OPEN,
    ROOT,
    SAME_MAP,
    STATE,
    copy_frame,
    enter_map,
    fingerprint,
    line_key,
    put_request,
    set_bit,
    set_winner,
    start_next,
)
from regioncount.kernels.interval import leader, walk
from regioncount.kernels.polygon import unit_line
from regioncount.kernels.predicates import (
    BIT,
    CAND_LO,
    FIRST,
    FIRST_VALUE,
    HUGE,
    KEY,
    KIND,
    N_CANDIDATES,
    N_CHOOSE,
    ORDER_AT,
    QUERY,
    SET,
    TINY,
    UNDECIDED,
    UNIT_HI,
    UNIT_LO,
    WIDTH,
    U,
    branch_radius,
    corner_radius,
    crossing_radius,
    decide,
    disc_error,
    line_resultant_error,
    lookup,
    product_error,
    resultant_error,
    root_radius,
    store,
    strip_bound,
    use_error,
)

OK, EXACT, REQUEST, GROW_FRAMES, GROW_WORK, FULL, LIMIT = range(7)
DEGREE = 3  # kind of request, beside those of the polygon engine: degree of the difference of two scores
# its verdicts: 0 one map, 1 affine, 3 quadratic (2 is UNDECIDED)
# columns of Work.state
TOP, N_SLABS, N_PIECES, N_BRANCHES = range(4)
LOWER, UPPER = range(2)
LEFT, RIGHT = range(2)
ERR, LINE = 6, 7  # columns of a curve after its six coefficients 1, x, y, xx, xy, yy
C_BRANCH, C_BORDER = 4, 5  # columns of Stack.ctag after block, unit, i, j
W_DIR, W_MARK, W_BORDER = 8, 9, 10  # columns of Stack.wtag after the tags of two curves
FRAME_LOWER, FRAME_UPPER = -1, -2  # boundaries that are sides of the frame
E_KIND = 10  # column of Work.etag and Work.xtag after those of a wall
TIP, SIDE, TRIPLE, POINT = range(4)  # kinds of event; POINT: all scores of a unit vanish in one point
NO_EDGE = -(2**60)  # border of a wall that is a point


class Stack(NamedTuple):
    """Frames.  curve (F, 2, 8) of the lower and upper side: coefficients of 1, x, y, xx, xy, yy, bound on the sum of
    their errors, 1 for a line; ctag (F, 2, 6) its block, unit, i, j, branch, border; wall (F, 2, 2) x and radius; wtag
    (F, 2, 11) the two curves that meet there, direction, mark, border; info, map, pattern as in the polygon engine.
    """

    info: np.ndarray
    curve: np.ndarray
    ctag: np.ndarray
    wall: np.ndarray
    wtag: np.ndarray
    map: np.ndarray
    pattern: np.ndarray


class Work(NamedTuple):
    """Scratch.  score (B, 7, C) of the candidates in each root, error (B,) of its map, uid (B,) which root it is; pair
    (P, 8) curves, pair_of (P, 2); event (E, 3), etag (E, 11), order (E,); poly (6,), span (256, 2), coef (6,); strip
    (5,), point (3,), alive (K,).

    The plan: x (S + 1, 2), xtag (S + 1, 11); size (S,), winner (S, K), bound (S, K + 1, 3): i, j, branch of the
    boundary below section k; level (S + 1, 2, K + 1): rank of each boundary at a wall, seen from its two sides;
    owner (S, K), border (S, K + 1), wall_border (S + 1, 2, K).  The unit's candidates on a vertical line: line_score,
    line_at, line_tags, quadratic (4,), best (4,); two tags: first (4,), second (4,).
    """

    state: np.ndarray
    score: np.ndarray
    error: np.ndarray
    uid: np.ndarray
    pair: np.ndarray
    pair_of: np.ndarray
    event: np.ndarray
    etag: np.ndarray
    order: np.ndarray
    poly: np.ndarray
    span: np.ndarray
    coef: np.ndarray
    strip: np.ndarray
    point: np.ndarray
    alive: np.ndarray
    x: np.ndarray
    xtag: np.ndarray
    size: np.ndarray
    winner: np.ndarray
    bound: np.ndarray
    level: np.ndarray
    owner: np.ndarray
    border: np.ndarray
    wall_border: np.ndarray
    line_score: np.ndarray
    line_at: np.ndarray
    line_tags: np.ndarray
    quadratic: np.ndarray
    best: np.ndarray
    first: np.ndarray
    second: np.ndarray


class VerticalLine(NamedTuple):
    """The candidates of a unit on a vertical line, as the interval engine takes them."""

    score: np.ndarray
    at: np.ndarray
    tags: np.ndarray


class Leaves(NamedTuple):
    """Finished pieces: what a frame holds."""

    curve: np.ndarray
    ctag: np.ndarray
    wall: np.ndarray
    wtag: np.ndarray
    pattern: np.ndarray
    map: np.ndarray


@njit
def enter_scores(prog, roots, work, b):
    """Coefficients of the scores of all SET candidates of block b in its root, as of a curve, and their errors."""
    m = roots.map[b]
    for unit in range(prog.blocks[b, UNIT_LO], prog.blocks[b, UNIT_HI]):
        if prog.units[unit, KIND] != SET:
            continue
        first = prog.units[unit, FIRST]
        for c in range(first, first + prog.units[unit, N_CANDIDATES]):
            s = work.score[b, :, c - prog.blocks[b, CAND_LO]]
            k = prog.candidates[c, KEY]
            for d in range(7):
                s[d] = 0.0
            if prog.candidates[c, WIDTH] == 0:
                s[0], s[1], s[2] = m[2, k], m[0, k], m[1, k]
                s[6] = 3.0 * m[3, k]
                continue
            q = prog.candidates[c, QUERY]
            nq0 = nq1 = nq2 = nk0 = nk1 = nk2 = 0.0
            for t in range(prog.candidates[c, WIDTH]):
                q0, q1, q2 = m[0, q + t], m[1, q + t], m[2, q + t]
                k0, k1, k2 = m[0, k + t], m[1, k + t], m[2, k + t]
                s[0] += q2 * k2
                s[1] += q0 * k2 + q2 * k0
                s[2] += q1 * k2 + q2 * k1
                s[3] += q0 * k0
                s[4] += q0 * k1 + q1 * k0
                s[5] += q1 * k1
                nq0 += q0 * q0
                nq1 += q1 * q1
                nq2 += q2 * q2
                nk0 += k0 * k0
                nk1 += k1 * k1
                nk2 += k2 * k2
            size_q = np.sqrt(nq0) + np.sqrt(nq1) + np.sqrt(nq2)
            size_k = np.sqrt(nk0) + np.sqrt(nk1) + np.sqrt(nk2)
            s[6] = product_error(work.error[b], size_q, size_k, prog.candidates[c, WIDTH])


@njit
def pair_curve(prog, run, stack, roots, work, f, unit, i, j, g):
    """Write to g the curve on which candidates i < j of a SET unit tie, positive where i is ahead; or a BIT unit is 0.

    Returns its degree (0: the two are one map), or −1 if that had to be asked.
    """
    b = stack.info[f, BLOCK]
    if prog.units[unit, KIND] == BIT:
        col = prog.units[unit, FIRST_VALUE]
        m = roots.map[b]
        g[0], g[1], g[2] = m[2, col], m[0, col], m[1, col]
        g[3] = g[4] = g[5] = 0.0
        g[ERR] = 3.0 * m[3, col] + 4.0 * U * (abs(g[0]) + abs(g[1]) + abs(g[2]))
        g[LINE] = 1.0
        scale_curve(g)
        return 1
    first = prog.units[unit, FIRST]
    at = first - prog.blocks[b, CAND_LO]
    s = work.score[b]
    size = 0.0
    for d in range(6):
        g[d] = s[d, at + i] - s[d, at + j]
        size += abs(s[d, at + i]) + abs(s[d, at + j])
    g[ERR] = 1.01 * (s[6, at + i] + s[6, at + j] + 2.0 * U * size)
    product = prog.candidates[first, WIDTH] > 0
    g[LINE] = 0.0 if product else 1.0
    open_ = not abs(g[5]) > g[ERR] if product else not abs(g[0]) + abs(g[1]) + abs(g[2]) > 2.0 * g[ERR]
    degree = 2 if product else 1
    if open_:
        key = line_key(roots.uid[b], unit, i, j)
        degree = lookup(run.table, DEGREE, key)
        if degree == UNDECIDED:
            put_request(run, f, DEGREE, b, unit, i, j, DEGREE, key)
            return -1
        if degree == 0:
            run.state[N_VERDICTS] += store(run.table, SAME_MAP, key, 1)
        if degree < 2:
            g[3] = g[4] = g[5] = 0.0
            g[LINE] = 1.0
    scale_curve(g)
    return degree


@inlined
def scale_curve(g):
    """Scale by a power of two so that the largest coefficient is near 1."""
    largest = 0.0
    for d in range(6):
        largest = max(largest, abs(g[d]))
    if largest > 1e-290 and largest < HUGE:
        factor = 2.0 ** -np.floor(np.log2(largest))
        for d in range(7):
            g[d] *= factor


@inlined
def on_vertical(g, x, p):
    """Write to p the polynomial d0 + d1 y + d2 y² of g at x, and the bound on the sum of its errors."""
    p[0] = g[0] + x * (g[1] + x * g[3])
    p[1] = g[2] + x * g[4]
    p[2] = g[5]
    size = abs(g[0]) + abs(g[1]) + abs(g[2]) + abs(g[3]) + abs(g[4]) + abs(g[5])
    p[3] = g[ERR] + 6.0 * U * size
    p[3] += use_error(p)


@njit
def branch_at(g, branch, x, p):
    """y and its radius where branch 1 (rising) or −1 (falling) of curve g is at x; the radius is inf where unproven."""
    on_vertical(g, x, p)
    a, b, c = p[2], p[1], p[0]
    if branch < 0:
        a, b, c = -a, -b, -c
    if g[LINE] == 1.0:
        y = -c / b
    else:
        disc = b * b - 4.0 * a * c
        if not disc > 0.0:
            return 0.0, np.inf
        root = np.sqrt(disc)
        y = (root - b) / (2.0 * a) if b <= 0.0 else -2.0 * c / (b + root)
    if not abs(y) <= 1.0:
        return 0.0, np.inf
    return y, branch_radius(p, y, branch)


@njit
def corner(g, branch, x, r, tip):
    """y of a branch of curve g at a place within r of x, and its radius; ``tip``: there its two branches meet."""
    a, b = g[5], g[2] + x * g[4]
    c = g[0] + x * (g[1] + x * g[3])
    if branch < 0:
        a, b, c = -a, -b, -c
    root = 0.0 if tip else np.sqrt(max(b * b - 4.0 * a * c, 0.0))
    if g[LINE] == 1.0:
        y = -c / b
    elif b <= 0.0:
        y = (root - b) / (2.0 * a)
    else:
        y = -2.0 * c / (b + root)
    return y, corner_radius(g, x, r, y)


@njit
def corners(curves, branches, x, tip, out):
    """:func:`corner` of many, x (n, 2) places and radii, into out (n, 2)."""
    for n in range(curves.shape[0]):
        out[n, 0], out[n, 1] = corner(curves[n], branches[n], x[n, 0], x[n, 1], tip[n])


@inlined
def discriminant(g, p):
    """Write to p (p0 … p4, error) the discriminant of g in y; its degree."""
    a, b0, b1 = g[5], g[2], g[4]
    p[0] = b0 * b0 - 4.0 * a * g[0]
    p[1] = 2.0 * b0 * b1 - 4.0 * a * g[1]
    p[2] = b1 * b1 - 4.0 * a * g[3]
    p[3] = p[4] = 0.0
    p[5] = disc_error(g)
    return 2


@njit
def resultant(g, h, p):
    """Write to p (p0 … p4, error) the resultant in y of two curves; its degree."""
    if h[LINE] == 1.0 and g[LINE] == 0.0:
        g, h = h, g
    if g[LINE] == 1.0:
        c0, c1, beta = g[0], g[1], g[2]
        if h[LINE] == 1.0:
            p[0] = beta * h[0] - h[2] * c0
            p[1] = beta * h[1] - h[2] * c1
            p[2] = p[3] = p[4] = 0.0
            size_g = abs(c0) + abs(c1) + abs(beta)
            size_h = abs(h[0]) + abs(h[1]) + abs(h[2])
            p[5] = 1.1 * (size_g * h[ERR] + size_h * g[ERR] + g[ERR] * h[ERR] + 8.0 * U * size_g * size_h) + TINY
            return 1
        # beta² h(x, −(c0 + c1 x)/beta)
        a, b0, b1 = h[5], h[2], h[4]
        p[0] = a * c0 * c0 - beta * c0 * b0 + beta * beta * h[0]
        p[1] = 2.0 * a * c0 * c1 - beta * (c0 * b1 + c1 * b0) + beta * beta * h[1]
        p[2] = a * c1 * c1 - beta * c1 * b1 + beta * beta * h[3]
        p[3] = p[4] = 0.0
        p[5] = line_resultant_error(g, h)
        return 2
    a, b0, b1, c0, c1, c2 = g[5], g[2], g[4], g[0], g[1], g[3]
    d, e0, e1, f0, f1, f2 = h[5], h[2], h[4], h[0], h[1], h[3]
    p0, p1, p2 = a * f0 - d * c0, a * f1 - d * c1, a * f2 - d * c2
    q0, q1 = a * e0 - d * b0, a * e1 - d * b1
    r0 = b0 * f0 - e0 * c0
    r1 = b0 * f1 + b1 * f0 - e0 * c1 - e1 * c0
    r2 = b0 * f2 + b1 * f1 - e0 * c2 - e1 * c1
    r3 = b1 * f2 - e1 * c2
    p[0] = p0 * p0 - q0 * r0
    p[1] = 2.0 * p0 * p1 - (q0 * r1 + q1 * r0)
    p[2] = 2.0 * p0 * p2 + p1 * p1 - (q0 * r2 + q1 * r1)
    p[3] = 2.0 * p1 * p2 - (q0 * r3 + q1 * r2)
    p[4] = p2 * p2 - q1 * r3
    p[5] = resultant_error(g, h)
    return 4


@inlined
def bernstein(p, degree, low, high, c):
    """Write to c the Bernstein coefficients of the polynomial p of this degree on [low, high]."""
    for k in range(degree + 1):
        c[k] = p[k]
    for k in range(degree):
        for i in range(degree - 1, k - 1, -1):
            c[i] += low * c[i + 1]
    h = high - low
    power = 1.0
    for k in range(1, degree + 1):
        power *= h
        c[k] *= power
    if degree == 1:
        c[1] += c[0]
    elif degree == 2:
        b1 = c[0] + 0.5 * c[1]
        c[2] = c[0] + c[1] + c[2]
        c[1] = b1
    elif degree == 4:
        b1 = c[0] + 0.25 * c[1]
        b2 = c[0] + 0.5 * c[1] + c[2] / 6.0
        b3 = c[0] + 0.75 * c[1] + 0.5 * c[2] + 0.25 * c[3]
        c[4] = c[0] + c[1] + c[2] + c[3] + c[4]
        c[1], c[2], c[3] = b1, b2, b3


@njit
def isolate(work, n, p, degree, low, high):
    """Append the roots of p in [low, high], with radii and the direction of p's change of sign, to the events from n.

    Returns their new number, or −1 where a root, or its absence, is not certain.
    """
    size = abs(p[0]) + abs(p[1]) + abs(p[2]) + abs(p[3]) + abs(p[4])
    error = p[5] + 64.0 * U * size
    if not error < HUGE:
        return -1
    c = work.coef
    span = work.span
    top = 0
    span[0, 0], span[0, 1] = low, high
    while top >= 0:
        a, b = span[top, 0], span[top, 1]
        top -= 1
        bernstein(p, degree, a, b, c)
        up = True
        down = True
        rising = True
        falling = True
        for k in range(degree + 1):
            up = up and c[k] > error
            down = down and c[k] < -error
            if k > 0:
                rising = rising and c[k] - c[k - 1] > 2.0 * error
                falling = falling and c[k] - c[k - 1] < -2.0 * error
        if up or down:
            continue
        if rising or falling:
            s = decide(c[0], error)
            t = decide(c[degree], error)
            if s == UNDECIDED or t == UNDECIDED:
                return -1
            if s == t:
                continue
            slope = np.inf
            for k in range(degree):
                slope = min(slope, abs(c[k + 1] - c[k]) - 2.0 * error)
            x = monotone_root(p, degree, a, b, t)
            r = root_radius(p, degree, x, degree * slope / (b - a), error)
            if not (x - r > a and x + r < b) or n + 1 >= work.event.shape[0]:
                return -1
            work.event[n, 0] = x
            work.event[n, 1] = r
            work.event[n, 2] = min(x - a, b - x)  # no other root of p is nearer
            work.etag[n, W_DIR] = t
            n += 1
            continue
        if b - a < 1e-9 or top + 2 >= span.shape[0]:
            return -1
        middle = a + 0.4871 * (b - a)
        span[top + 1, 0], span[top + 1, 1] = middle, b
        span[top + 2, 0], span[top + 2, 1] = a, middle
        top += 2
    return n


@njit
def monotone_root(p, degree, a, b, direction):
    """The root of p in [a, b], where it is monotone; ``direction`` is its sign at b."""
    x = 0.5 * (a + b)
    for _ in range(100):
        value = p[degree]
        slope = 0.0
        for k in range(degree - 1, -1, -1):
            slope = slope * x + value
            value = value * x + p[k]
        if value * direction > 0.0:
            b = x
        else:
            a = x
        step = value / slope
        following = x - step
        if not (a < following < b):
            following = 0.5 * (a + b)
        if abs(following - x) <= 2.0 * U * abs(x) + 1e-300 or not (a < following < b):
            return following
        x = following
    return x


@inlined
def add_events(work, n, p, degree, low, high, first, second, kind):
    """Append the roots of p, tagged with two curves (block, unit, i, j each), to the events; −1 where uncertain."""
    m = isolate(work, n, p, degree, low, high)
    for e in range(n, m):
        for k in range(4):
            work.etag[e, k] = first[k]
            work.etag[e, 4 + k] = second[k]
        if degree == 1:
            work.etag[e, W_DIR] = 0  # the only root: its sign depends on the order of the two lines
        work.etag[e, W_MARK] = -1
        work.etag[e, E_KIND] = kind
    return m


@njit
def find_strip(stack, work, f):
    """Two parallel lines y = p + slope x that certainly enclose frame f, into work.strip: p low, p high, slope, x
    low, x high; the loosest where nothing is proven.
    """
    strip = work.strip
    x0, x1 = stack.wall[f, LEFT, 0] - stack.wall[f, LEFT, 1], stack.wall[f, RIGHT, 0] + stack.wall[f, RIGHT, 1]
    strip[3], strip[4] = x0, x1
    strip[0], strip[1], strip[2] = -1.0, 1.0, 0.0
    if not (x1 - x0 > 1e-12):
        return
    p = work.poly
    inset = 0.02 * (x1 - x0)
    middle = 0.5 * (x0 + x1)
    low0, r0 = branch_at(stack.curve[f, LOWER], stack.ctag[f, LOWER, C_BRANCH], x0 + inset, p)
    low1, r1 = branch_at(stack.curve[f, LOWER], stack.ctag[f, LOWER, C_BRANCH], x1 - inset, p)
    lowm, r4 = branch_at(stack.curve[f, LOWER], stack.ctag[f, LOWER, C_BRANCH], middle, p)
    high0, r2 = branch_at(stack.curve[f, UPPER], stack.ctag[f, UPPER, C_BRANCH], x0 + inset, p)
    high1, r3 = branch_at(stack.curve[f, UPPER], stack.ctag[f, UPPER, C_BRANCH], x1 - inset, p)
    highm, r5 = branch_at(stack.curve[f, UPPER], stack.ctag[f, UPPER, C_BRANCH], middle, p)
    if not r0 + r1 + r2 + r3 + r4 + r5 < 1e-3:
        return
    slope = 0.5 * ((low1 - low0) + (high1 - high0)) / (x1 - x0 - 2.0 * inset)
    bend = max(abs(0.5 * (low0 + low1) - lowm), abs(0.5 * (high0 + high1) - highm))
    width = max(max(high0 - low0, high1 - low1), highm - lowm)
    a = min(min(low0 - slope * (x0 + inset), low1 - slope * (x1 - inset)), lowm - slope * middle)
    b = max(max(high0 - slope * (x0 + inset), high1 - slope * (x1 - inset)), highm - slope * middle)
    room = 0.02 * width + 0.3 * bend + 1e-13
    for _ in range(3):
        if beyond(stack, work, f, LOWER, a - room, slope, x0, x1, middle, lowm - r4) and beyond(
            stack, work, f, UPPER, b + room, slope, x0, x1, middle, highm + r5
        ):
            strip[0], strip[1], strip[2] = a - room, b + room, slope
            return
        room = 4.0 * room + 0.2 * width


@njit
def beyond(stack, work, f, side, p, slope, x0, x1, middle, y):
    """Whether y = p + slope x is certainly beyond a side of frame f all along [x0, x1]; y: that side at middle."""
    g = stack.curve[f, side]
    at = p + slope * middle
    if not (at < y if side == LOWER else at > y):
        return False
    c = work.coef
    q = work.poly
    q[0] = g[0] + p * (g[2] + p * g[5])
    q[1] = g[1] + slope * g[2] + p * (g[4] + 2.0 * slope * g[5])
    q[2] = g[3] + slope * (g[4] + slope * g[5])
    bernstein(q, 2, x0, x1, c)
    bound = strip_bound(g, p, slope)
    s = decide(c[0], bound)
    return s != UNDECIDED and decide(c[1], bound) == s and decide(c[2], bound) == s


@njit
def sign_in_strip(g, strip):
    """Sign of curve g on the whole strip, or UNDECIDED."""
    p0, p1, slope, x0, x1 = strip[0], strip[1], strip[2], strip[3], strip[4]
    xm, hx = 0.5 * (x0 + x1), 0.5 * (x1 - x0)
    ym, hy = 0.5 * (p0 + p1), 0.5 * (p1 - p0)
    # g(x, y + slope x) around (xm, ym)
    y = ym + slope * xm
    gx = g[1] + 2.0 * g[3] * xm + g[4] * y
    gy = g[2] + g[4] * xm + 2.0 * g[5] * y
    value = g[0] + xm * (g[1] + g[3] * xm + g[4] * y) + y * (g[2] + g[5] * y)
    xx = abs(g[3] + slope * (g[4] + slope * g[5]))
    xy = abs(g[4] + 2.0 * slope * g[5])
    spread_ = abs(gx + slope * gy) * hx + abs(gy) * hy + xx * hx * hx + xy * hx * hy + abs(g[5]) * hy * hy
    return decide(value, 1.001 * spread_ + strip_bound(g, max(abs(p0), abs(p1)), slope))


@njit
def reduce_candidates(prog, run, stack, roots, work, f, unit):
    """Candidates of a SET unit that none certainly dominates on frame f, into run.scratch[ALIVE]; their number, or −1.

    Of candidates that are one map the first stays.
    """
    count = prog.units[unit, N_CANDIDATES]
    alive = run.scratch[ALIVE]
    for i in range(count):
        alive[i] = 1
    g = work.pair[0]
    asked = False
    for i in range(count):
        for j in range(i + 1, count):
            if not (alive[i] and alive[j]):
                continue
            degree = pair_curve(prog, run, stack, roots, work, f, unit, i, j, g)
            if degree < 0:
                asked = True
            elif degree == 0:
                alive[j] = 0
            elif not run.state[NO_FLOATS]:
                s = sign_in_strip(g, work.strip)
                if s == 1:
                    alive[j] = 0
                elif s == -1:
                    alive[i] = 0
    if asked:
        return -1
    total = 0
    for i in range(count):
        total += alive[i]
    return total


@spliced
def filter_open(prog, run, stack, roots, work, f):
    """Decide what a look at the strip around frame f decides; False if something had to be asked."""
    find_strip(stack, work, f)
    g = work.pair[0]
    kept = 0
    known = True
    run.state[N_FLOATS] += stack.info[f, N_OPEN]
    for at in range(stack.info[f, N_OPEN]):
        unit = stack.info[f, N_INFO + at]
        if prog.units[unit, KIND] == BIT:
            pair_curve(prog, run, stack, roots, work, f, unit, 0, 0, g)
            s = UNDECIDED if run.state[NO_FLOATS] else sign_in_strip(g, work.strip)
            if s != UNDECIDED:
                set_bit(prog, run, stack, roots, f, unit, s == 1)
                continue
        else:
            total = reduce_candidates(prog, run, stack, roots, work, f, unit)
            known = known and total >= 0
            if total == 1:
                for i in range(prog.units[unit, N_CANDIDATES]):
                    if run.scratch[ALIVE, i]:
                        set_winner(prog, run, stack, roots, f, unit, i)
                continue
        stack.info[f, N_INFO + kept] = unit
        kept += 1
    stack.info[f, N_OPEN] = kept
    return known


@spliced
def make_pairs(prog, run, stack, roots, work, f, unit):
    """The curves of all pairs of candidates still alive (work.alive), into work.pair; their number, −1 if asked."""
    n = 0
    if prog.units[unit, KIND] == BIT:
        pair_curve(prog, run, stack, roots, work, f, unit, 0, 0, work.pair[0])
        work.pair_of[0, 0] = work.pair_of[0, 1] = 0
        work.alive[0], work.alive[1] = 1, 0
        work.state[N_BRANCHES] = 2
        work.point[2] = np.inf
        return 1
    total = reduce_candidates(prog, run, stack, roots, work, f, unit)
    if total < 0:
        return -1
    m = 0
    for i in range(prog.units[unit, N_CANDIDATES]):
        if run.scratch[ALIVE, i]:
            work.alive[m] = i
            m += 1
    work.state[N_BRANCHES] = m
    find_point(prog, run, stack, roots, work, f, unit)
    for a in range(m):
        for c in range(a + 1, m):
            if pair_curve(prog, run, stack, roots, work, f, unit, work.alive[a], work.alive[c], work.pair[n]) < 0:
                return -1
            work.pair_of[n, 0], work.pair_of[n, 1] = work.alive[a], work.alive[c]
            n += 1
    return n


@inlined
def curve_tag(work, b, unit, k, tag):
    """Write the identity of pair curve k."""
    tag[0], tag[1], tag[2], tag[3] = b, unit, work.pair_of[k, 0], work.pair_of[k, 1]


@njit
def find_point(prog, run, stack, roots, work, f, unit):
    """The point in which the query of a head vanishes, if it has two rows, into work.point: x, y, radius.

    There all scores are 0, so that all pair curves pass through it.  The radius is infinite where there is none between
    the walls of frame f.
    """
    point = work.point
    point[2] = np.inf
    first = prog.units[unit, FIRST]
    if prog.units[unit, KIND] != SET or prog.candidates[first, WIDTH] != 2 or work.state[N_BRANCHES] < 3:
        return
    b = stack.info[f, BLOCK]
    m = roots.map[b]
    q = prog.candidates[first, QUERY]
    g, h = work.pair[0], work.pair[1]  # scratch: the curves are made afterwards
    unit_line(g, m[0, q], m[1, q], m[2, q], m[3, q])
    unit_line(h, m[0, q + 1], m[1, q + 1], m[2, q + 1], m[3, q + 1])
    sine = g[0] * h[1] - g[1] * h[0]
    x = (g[1] * h[2] - g[2] * h[1]) / sine
    y = (g[2] * h[0] - g[0] * h[2]) / sine
    r = crossing_radius(g, h, x, y)
    if r < 1e-6 and stack.wall[f, LEFT, 0] < x - r and x + r < stack.wall[f, RIGHT, 0] and abs(y) <= 1.0:
        point[0], point[1], point[2] = x, y, r


@njit
def same_curve(tag, other):
    """Whether two curves have one identity."""
    return tag[0] == other[0] and tag[1] == other[1] and tag[2] == other[2] and tag[3] == other[3]


@spliced
def find_events(stack, work, f, b, unit, n_pairs):
    """All events of the pair curves on frame f, in work.event; −1 where uncertain."""
    p, first, second = work.poly, work.first, work.second
    low = stack.wall[f, LEFT, 0] - 2.0 * stack.wall[f, LEFT, 1]
    high = stack.wall[f, RIGHT, 0] + 2.0 * stack.wall[f, RIGHT, 1]
    n = 0
    one_side = same_curve(stack.ctag[f, LOWER], stack.ctag[f, UPPER])
    for k in range(n_pairs):
        g = work.pair[k]
        curve_tag(work, b, unit, k, first)
        if g[LINE] == 0.0:
            degree = discriminant(g, p)
            n = add_events(work, n, p, degree, low, high, first, first, TIP)
            if n < 0:
                return -1
        for side in range(1 if one_side else 2):
            degree = resultant(g, stack.curve[f, side], p)
            n = add_events(work, n, p, degree, low, high, first, stack.ctag[f, side], SIDE)
            if n < 0:
                return -1
        for m in range(k):
            # of the three pairs among three candidates, the two with the lowest candidate in common
            if work.pair_of[k, 0] == work.pair_of[m, 0]:
                degree = resultant(g, work.pair[m], p)
                curve_tag(work, b, unit, m, second)
                n = add_events(work, n, p, degree, low, high, second, first, TRIPLE)
                if n < 0:
                    return -1
    return n


@spliced
def sort_events(stack, work, f, n):
    """Sort the events and check that they are apart, inside the frame; triple points in work.point become one event.

    Their number, or −1.
    """
    point = work.point
    found = False
    left = stack.wall[f, LEFT, 0] + stack.wall[f, LEFT, 1]
    right = stack.wall[f, RIGHT, 0] - stack.wall[f, RIGHT, 1]
    order = work.order
    kept = 0
    for e in range(n):
        if work.etag[e, E_KIND] == TRIPLE and abs(work.event[e, 0] - point[0]) + point[2] < work.event[e, 2]:
            if found:
                continue
            found = True
            work.event[e, 0], work.event[e, 1] = point[0], point[2]
            work.etag[e, E_KIND] = POINT
        x, r = work.event[e, 0], work.event[e, 1]
        if not (x - r > left and x + r < right):
            return -1
        at = kept
        while at > 0 and work.event[order[at - 1], 0] > x:
            order[at] = order[at - 1]
            at -= 1
        order[at] = e
        kept += 1
    edge = left
    for q in range(kept):
        e = order[q]
        if not work.event[e, 0] - work.event[e, 1] > edge:
            return -1
        edge = work.event[e, 0] + work.event[e, 1]
    return kept if right > edge else -1


@njit
def winners_at(prog, stack, work, f, unit, x, slab):
    """The sections on the vertical line at x, as slab ``slab`` of the plan; False where uncertain."""
    b = stack.info[f, BLOCK]
    m = work.state[N_BRANCHES]
    line, p = VerticalLine(work.line_score, work.line_at, work.line_tags), work.quadratic
    y0, r0 = branch_at(stack.curve[f, LOWER], stack.ctag[f, LOWER, C_BRANCH], x, p)
    y1, r1 = branch_at(stack.curve[f, UPPER], stack.ctag[f, UPPER, C_BRANCH], x, p)
    if not y0 + r0 < y1 - r1:
        return False
    if prog.units[unit, KIND] == BIT:
        on_vertical(work.pair[0], x, line.score[0])
        for d in range(4):
            line.score[1, d] = 0.0
    else:
        at = prog.units[unit, FIRST] - prog.blocks[b, CAND_LO]
        for k in range(m):
            s = work.score[b, :, at + work.alive[k]]
            q = line.score[k]
            q[0] = s[0] + x * (s[1] + x * s[3])
            q[1] = s[2] + x * s[4]
            q[2] = s[5]
            size = abs(s[0]) + abs(s[1]) + abs(s[2]) + abs(s[3]) + abs(s[4]) + abs(s[5])
            q[3] = s[6] + 6.0 * U * size
            q[3] += use_error(q)
    current = leader(line.score, 0, m, y0, r0, p)
    if current < 0:
        return False
    n, known = walk(line, 0, unit, 0, m, current, y0, r0, y1, r1, p, work.best)
    if not known or n + 2 >= work.winner.shape[1]:
        return False
    work.size[slab] = n + 1
    put_bound(work, slab, 0, FRAME_LOWER, 0, 0)
    work.winner[slab, 0] = work.alive[current]
    edge = y0 + r0
    for k in range(n):
        if not line.at[k, 0] - line.at[k, 1] > edge:
            return False
        edge = line.at[k, 0] + line.at[k, 1]
        i, j = work.alive[line.tags[k, 1]], work.alive[line.tags[k, 2]]
        if prog.units[unit, KIND] == BIT:
            put_bound(work, slab, k + 1, 0, 0, 1 if j == 1 else -1)
        else:
            put_bound(work, slab, k + 1, min(i, j), max(i, j), 1 if j < i else -1)
        work.winner[slab, k + 1] = j
    put_bound(work, slab, n + 1, FRAME_UPPER, 0, 0)
    return y1 - r1 > edge


@inlined
def put_bound(work, slab, k, i, j, branch):
    """Write boundary k of a slab."""
    work.bound[slab, k, 0] = i
    work.bound[slab, k, 1] = j
    work.bound[slab, k, 2] = branch


@njit
def same_element(work, s, e, t, d):
    """Whether element e of slab s (boundaries and winners in turn) is element d of slab t."""
    if e & 1 != d & 1:
        return False
    if e & 1:
        return work.winner[s, e >> 1] == work.winner[t, d >> 1]
    p, q = work.bound[s, e >> 1], work.bound[t, d >> 1]
    return p[0] == q[0] and p[1] == q[1] and p[2] == q[2]


@njit
def set_levels(work, w):
    """Which boundaries of the slabs beside wall w meet there, from what changes; False if it fits no single event.

    The lists of boundaries and winners agree at their beginnings and ends.  What differs meets in one point: two
    branches of one curve (a tip), three pair curves (a triple point), or a pair curve and a side of the frame.
    """
    s, t = w - 1, w
    n, m = 2 * work.size[s] + 1, 2 * work.size[t] + 1
    p = 0
    while p < n and p < m and same_element(work, s, p, t, p):
        p += 1
    q = 0
    while p + q < n and p + q < m and same_element(work, s, n - 1 - q, t, m - 1 - q):
        q += 1
    a, c = n - p - q, m - p - q
    first = (p + 1) // 2  # boundaries before what differs
    point = first
    shift = 1
    if a == 0 and c == 0:
        shift = 0
    elif a * c == 0 and a + c == 4 and p % 2 == 0:
        u = s if a == 4 else t
        k = p // 2
        tip = (
            work.bound[u, k, 0] == work.bound[u, k + 1, 0]
            and work.bound[u, k, 1] == work.bound[u, k + 1, 1]
            and work.bound[u, k, 2] == -work.bound[u, k + 1, 2]
        )
        for k in range(4):
            tip = tip and work.xtag[w, k] == work.xtag[w, 4 + k]
        if not tip:
            return False
    elif a * c == 0 and a + c == 2:
        for k in range(4):
            if work.xtag[w, k] != work.xtag[w, 4 + k]:
                break
        else:
            return False
        if p % 2 == 1:
            point = first - 1
        shift = 0
    elif not (p % 2 == 0 and ((a == 3 and c == 1) or (a == 1 and c == 3))):
        return False
    for side in range(2):
        size = n if side == 0 else m
        for e in range(0, size, 2):
            k = e // 2
            if e < p:
                level = k
            elif e < size - q:
                level = point
            else:
                level = first + shift + k - (size - q + 1) // 2
            work.level[w, side, k] = level
    return True


@njit
def side_of_point(stack, work, f, slab, k):
    """Whether boundary k of a slab passes below (−1), through (0) or above (1) work.point; UNDECIDED where unknown."""
    x, y, r = work.point[0], work.point[1], work.point[2]
    i, j, branch = work.bound[slab, k, 0], work.bound[slab, k, 1], work.bound[slab, k, 2]
    if i < 0:
        side = LOWER if i == FRAME_LOWER else UPPER
        at, radius = corner(stack.curve[f, side], stack.ctag[f, side, C_BRANCH], x, r, False)
        return decide(at - y, radius + r)
    n = 0
    while work.pair_of[n, 0] != i or work.pair_of[n, 1] != j:
        n += 1
    g = work.pair[n]
    at, radius = corner(g, branch, x, r, False)
    s = decide(at - y, radius + r)
    if s != UNDECIDED:
        return s
    if g[LINE] == 0.0:  # one of its two branches passes through the point
        at, radius = corner(g, -branch, x, r, False)
        if decide(at - y, radius + r) == UNDECIDED:
            return UNDECIDED
    return 0


@njit
def set_point_levels(stack, work, f, w):
    """:func:`set_levels` of an event of kind POINT: what passes through the point meets there."""
    below = above = -1
    through = 0
    for side in range(2):
        slab = w - 1 + side
        count = work.size[slab] + 1
        low = high = 0
        for k in range(count):
            s = side_of_point(stack, work, f, slab, k)
            if s == UNDECIDED or (s < 0 and k > low) or (s == 0 and high > 0):
                return False
            low += s < 0
            high += s > 0
        if side == 1 and (low != below or high != above):
            return False
        below, above = low, high
        through += count - low - high
    n, m = work.size[w - 1], work.size[w]
    for e in range(2 * below - 1):
        if not same_element(work, w - 1, e, w, e):
            return False
    for e in range(2 * above - 1):
        if not same_element(work, w - 1, 2 * n - e, w, 2 * m - e):
            return False
    for side in range(2):
        count = work.size[w - 1 + side] + 1
        for k in range(count):
            if k < below:
                level = k
            elif k < count - above:
                level = below
            else:
                level = below + (through > 0) + k - (count - above)
            work.level[w, side, k] = level
    return True


@spliced
def plan(prog, run, stack, roots, work, f, unit):
    """The plan of frame f and a unit, from floats."""
    b = stack.info[f, BLOCK]
    pairs = make_pairs(prog, run, stack, roots, work, f, unit)
    if pairs < 0:
        return REQUEST
    if run.state[NO_FLOATS]:
        return EXACT
    n = find_events(stack, work, f, b, unit, pairs)
    if n < 0:
        return EXACT
    n = sort_events(stack, work, f, n)
    if n < 0:
        return EXACT
    if n + 2 >= work.x.shape[0]:
        return GROW_WORK
    copy_wall(stack, f, LEFT, work, 0)
    slabs = 0
    for q in range(n + 1):
        if q < n:
            e = work.order[q]
            work.x[slabs + 1, 0], work.x[slabs + 1, 1] = work.event[e, 0], work.event[e, 1]
            for k in range(E_KIND + 1):
                work.xtag[slabs + 1, k] = work.etag[e, k]
        else:
            copy_wall(stack, f, RIGHT, work, slabs + 1)
        left = work.x[slabs, 0] + work.x[slabs, 1]
        if q > 0:
            e = work.order[q - 1]
            left = work.event[e, 0] + work.event[e, 1]
        middle = 0.5 * (left + work.x[slabs + 1, 0] - work.x[slabs + 1, 1])
        if not winners_at(prog, stack, work, f, unit, middle, slabs):
            return EXACT
        if slabs > 0:
            if work.xtag[slabs, E_KIND] == POINT:
                if not set_point_levels(stack, work, f, slabs):
                    return EXACT
            elif not set_levels(work, slabs):
                return EXACT
            if unchanged(work, slabs):  # the event is of no consequence: one slab
                for k in range(2):
                    work.x[slabs, k] = work.x[slabs + 1, k]
                for k in range(E_KIND + 1):
                    work.xtag[slabs, k] = work.xtag[slabs + 1, k]
                continue
        slabs += 1
    work.state[N_SLABS] = slabs
    for side in range(2):
        degenerate = stack.wtag[f, side, W_BORDER] == NO_EDGE
        s = 0 if side == LEFT else slabs - 1
        for k in range(work.size[s] + 1):
            work.level[0 if side == LEFT else slabs, 1 - side, k] = 0 if degenerate else k
    return OK


@njit
def unchanged(work, w):
    """Whether the slabs left and right of wall w are alike."""
    if work.size[w - 1] != work.size[w]:
        return False
    e = 0
    while e < 2 * work.size[w] + 1 and same_element(work, w - 1, e, w, e):
        e += 1
    return e == 2 * work.size[w] + 1


@inlined
def copy_wall(stack, f, side, work, w):
    """Write a wall of frame f as wall w of the plan."""
    work.x[w, 0], work.x[w, 1] = stack.wall[f, side, 0], stack.wall[f, side, 1]
    for k in range(10):
        work.xtag[w, k] = stack.wtag[f, side, k]
    work.xtag[w, E_KIND] = SIDE


@inlined
def goes_on(work, w, left, right):
    """Whether section ``left`` of the slab before wall w is section ``right`` of the slab after it, uncut."""
    s, t = w - 1, w
    if work.winner[s, left] != work.winner[t, right]:
        return False
    for d in range(2):
        if work.level[w, 0, left + d] != work.level[w, 1, right + d]:
            return False
        for k in range(3):
            if work.bound[s, left + d, k] != work.bound[t, right + d, k]:
                return False
    return work.level[w, 0, left] != work.level[w, 0, left + 1]


@spliced
def assign(run, work, f):
    """Give every section of the plan a frame from f + 1 on (work.owner), and every arc and stretch of wall a border."""
    slabs = work.state[N_SLABS]
    frames = 0
    for s in range(slabs):
        for k in range(work.size[s]):
            owner = -1
            if s > 0:
                for left in range(work.size[s - 1]):
                    if goes_on(work, s, left, k):
                        owner = work.owner[s - 1, left]
            if owner < 0:
                frames += 1
                owner = f + frames
            work.owner[s, k] = owner
        for k in range(1, work.size[s]):
            border = -1
            if s > 0:
                for left in range(1, work.size[s - 1]):
                    if same_element(work, s - 1, 2 * left, s, 2 * k) and work.level[s, 0, left] == work.level[s, 1, k]:
                        border = work.border[s - 1, left]
            if border < 0:
                border = run.state[NEXT_BORDER]
                run.state[NEXT_BORDER] += 1
            work.border[s, k] = border
    for w in range(1, slabs):
        assign_wall(run, work, w)
    return frames


@njit
def assign_wall(run, work, w):
    """Borders of the stretches of wall w: one for each run of neighbouring cut sections."""
    left = 0
    right = 0
    border = -1
    reached = 0
    while left < work.size[w - 1] and right < work.size[w]:
        a = work.level[w, 0, left + 1]
        c = work.level[w, 1, right + 1]
        cut = work.owner[w - 1, left] != work.owner[w, right]
        if min(a, c) > reached:
            if not cut:
                border = -1
            elif border < 0:
                border = run.state[NEXT_BORDER]
                run.state[NEXT_BORDER] += 1
            reached = min(a, c)
        if work.level[w, 0, left] < a and cut and min(a, c) == reached and border >= 0:
            work.wall_border[w, 0, left] = border
        if work.level[w, 1, right] < c and cut and min(a, c) == reached and border >= 0:
            work.wall_border[w, 1, right] = border
        if a <= c:
            left += 1
        if c <= a:
            right += 1


@njit
def spread(prog, run, stack, roots, work, f, at):
    """Replace frame f by the sections of the plan for its open unit number ``at``, the leftmost lowest on top."""
    slabs = work.state[N_SLABS]
    total = 0
    for s in range(slabs):
        total += work.size[s]
    if f + total + 2 >= stack.info.shape[0]:
        return GROW_FRAMES
    b = stack.info[f, BLOCK]
    unit = stack.info[f, N_INFO + at]
    for w in range(slabs + 1):
        for side in range(2):
            for k in range(work.wall_border.shape[2]):
                work.wall_border[w, side, k] = -1
    frames = assign(run, work, f)
    for k in range(at, stack.info[f, N_OPEN] - 1):
        stack.info[f, N_INFO + k] = stack.info[f, N_INFO + k + 1]
    stack.info[f, N_OPEN] -= 1
    done = f
    for s in range(slabs):
        for k in range(work.size[s]):
            child = work.owner[s, k]
            if child > done:
                done = child
                copy_frame(prog, stack, f, child, run.state[LAST_BLOCK])
                for side in range(2):
                    put_side(prog, run, stack, roots, work, f, child, b, unit, s, k + side, side)
                put_wall(stack, work, f, child, LEFT, s, k)
                winner = work.winner[s, k]
                if prog.units[unit, KIND] == BIT:
                    set_bit(prog, run, stack, roots, child, unit, winner == 1)
                else:
                    set_winner(prog, run, stack, roots, child, unit, winner)
            put_wall(stack, work, f, child, RIGHT, s, k)
    stack.info[f, STATE] = DEAD
    work.state[TOP] = f + frames
    return OK


@njit
def put_side(prog, run, stack, roots, work, f, child, b, unit, s, k, side):
    """Let boundary k of slab s be a side of frame ``child``."""
    i = work.bound[s, k, 0]
    if i < 0:
        old = LOWER if i == FRAME_LOWER else UPPER
        for d in range(8):
            stack.curve[child, side, d] = stack.curve[f, old, d]
        for d in range(6):
            stack.ctag[child, side, d] = stack.ctag[f, old, d]
        return
    j = work.bound[s, k, 1]
    pair_curve(prog, run, stack, roots, work, f, unit, i, j, stack.curve[child, side])
    tag = stack.ctag[child, side]
    tag[0], tag[1], tag[2], tag[3] = b, unit, i, j
    tag[C_BRANCH] = work.bound[s, k, 2]
    tag[C_BORDER] = 2 * work.border[s, k] + side


@njit
def put_wall(stack, work, f, child, side, s, k):
    """Let the wall left or right of slab s be a wall of frame ``child``, which is its section k."""
    w = s + side
    stack.wall[child, side, 0], stack.wall[child, side, 1] = work.x[w, 0], work.x[w, 1]
    tag = stack.wtag[child, side]
    for d in range(10):
        tag[d] = work.xtag[w, d]
    inner = 1 - side  # a left wall is seen from its right
    if work.level[w, inner, k] == work.level[w, inner, k + 1]:
        tag[W_BORDER] = NO_EDGE
    elif w == 0 or w == work.state[N_SLABS]:
        tag[W_BORDER] = stack.wtag[f, side, W_BORDER]
    elif work.wall_border[w, inner, k] >= 0:
        tag[W_BORDER] = 2 * work.wall_border[w, inner, k] + side
    else:
        tag[W_BORDER] = NO_EDGE  # a section that goes on: its wall is set by the slab where it ends


@spliced
def emit(stack, roots, work, leaves, f):
    """Append frame f to the finished pieces; False if they are full."""
    at = work.state[N_PIECES]
    if at >= leaves.pattern.shape[0]:
        return False
    for side in range(2):
        for k in range(8):
            leaves.curve[at, side, k] = stack.curve[f, side, k]
        for k in range(6):
            leaves.ctag[at, side, k] = stack.ctag[f, side, k]
        for k in range(2):
            leaves.wall[at, side, k] = stack.wall[f, side, k]
        for k in range(11):
            leaves.wtag[at, side, k] = stack.wtag[f, side, k]
    for c in range(stack.pattern.shape[1]):
        leaves.pattern[at, c] = stack.pattern[f, c]
    b = stack.info[f, BLOCK]
    n = leaves.map.shape[2] - 1
    for k in range(3):
        for i in range(n):
            leaves.map[at, k, i] = roots.map[b, k, i]
        leaves.map[at, k, n] = roots.norm[b, ERROR, k]
    work.state[N_PIECES] = at + 1
    return True


@spliced
def step(prog, run, stack, roots, work, leaves):
    """Work on the top frame once."""
    f = work.state[TOP]
    b = stack.info[f, BLOCK]
    last = run.state[LAST_BLOCK]
    if stack.info[f, STATE] == DEAD:
        work.state[TOP] = f - 1
        return OK
    if stack.info[f, STATE] == ROOT:
        enter_map(prog, run, stack, roots, f)
        if work.uid[b] != roots.uid[b]:
            work.uid[b] = roots.uid[b]
            work.error[b] = roots.norm[b, ERROR, 0] + roots.norm[b, ERROR, 1] + roots.norm[b, ERROR, 2]
            enter_scores(prog, roots, work, b)
        start_next(prog, run, stack, roots, f)
        stack.info[f, N_OPEN] = prog.blocks[b, N_CHOOSE]
        for i in range(prog.blocks[b, N_CHOOSE]):
            stack.info[f, N_INFO + i] = prog.order[prog.blocks[b, ORDER_AT] + i]
        stack.info[f, STATE] = OPEN
    if stack.info[f, N_OPEN] > 0 and not filter_open(prog, run, stack, roots, work, f):
        return REQUEST
    if stack.info[f, N_OPEN] == 0:
        if b == last and run.counts[b] >= run.state[MAX_PIECES]:
            return LIMIT
        if not fingerprint(prog, run, stack, f, b):
            return FULL  # a frame that comes here again appends its print again: it is one of a set
        if b == last and run.state[EMIT] and not emit(stack, roots, work, leaves, f):
            return FULL
        run.counts[b] += 1
        if b == last:
            work.state[TOP] = f - 1
            return OK
        stack.info[f, BLOCK] = b + 1
        stack.info[f, STATE] = ROOT
        roots.uid[b + 1] = 0
        return OK
    status = plan(prog, run, stack, roots, work, f, stack.info[f, N_INFO])
    if status != OK:
        return status
    return spread(prog, run, stack, roots, work, f, 0)


@njit
def subdivide(prog, run, stack, roots, work, leaves):
    """Run until the stack is empty (OK) or something is needed (any other status)."""
    run.state[N_REQUESTS] = 0
    while work.state[TOP] >= 0:
        status = step(prog, run, stack, roots, work, leaves)
        if status != OK:
            return status
    return OK
