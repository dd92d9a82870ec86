"""Polygon engine: depth-first subdivision of a convex polygon by affine scores, one piece at a time.

A *frame* of the stack is a piece: its corners with radii, the line of each edge (edge i joins corners i and i+1), the
units still open in it, the map that the decided units have built so far for the next block, and its pattern
(``blocks``). Only the path from the root to one leaf is in memory.

Every sign comes from ``predicates``.  A sign that floats cannot tell and that the table of verdicts does not know is
written to ``request`` and the kernel returns REQUEST without having changed the frame; the caller settles it exactly,
stores the verdict and calls again.  Keys of verdicts are made from the *lines* that meet in a corner and the line
that is asked about, so they are the same after re-entry.  The kernel can be started on any stack: a whole domain, or
one frame of another run.

The whole plane is a square whose four sides are the line at infinity (engines.WholePlaneJudge); corners have weights.
A pattern is one piece, unless it has hidden columns (lowering): then visible patterns are told apart by fingerprints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regioncount.kernels import inlined, njit, spliced
from regioncount.kernels.blocks import (  # noqa: F401 - the drivers of the engine read all of these here
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
    FIRST_BLOCK,
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
    enter_map,
    fingerprint,
    line_key,
    open_bits,
    put_request,
    same_map,
    set_bit,
    set_winner,
    start_next,
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
    ORDER_AT,
    PLAIN,
    UNDECIDED,
    ZERO,
    crossing_radius,
    decide,
    determinant_bound,
    homogeneous_crossing,
    line_error,
    lookup,
    mix,
    store,
    value_bound,
)  # fmt: skip

# CONIC: a score of the top frame is quadratic
OK, REQUEST, GROW_FRAMES, GROW_CORNERS, FULL, LIMIT, FULL_PRINTS, CONIC = range(8)
A, WEIGHT = 3, 7  # columns of Stack.edges: the first coefficient of the line, the weight of the corner
T_BLOCK, T_UNIT, T_I, T_J, T_BORDER, T_KEY = range(6)  # columns of Stack.tags; border: 2 * split + side


class Stack(NamedTuple):
    """Frames: edges (F, V, 8) x, y, radius of corner v, then a, b, c, k of the edge that leaves it, then the weight w
    of the corner (x/w, y/w), 1 on bounded domains, 0 at infinity; tags (F, V, 6) of the edge; info (F, 4 + U) with the
    open units; map (F, 3, N) for the next block; pattern (F, n_columns).
    """

    edges: np.ndarray
    tags: np.ndarray
    info: np.ndarray
    map: np.ndarray
    pattern: np.ndarray


class Leaves(NamedTuple):
    """Finished pieces: corners (x, y, radius, weight) and tags one after the other, sizes, patterns, output maps and
    their errors.
    """

    corners: np.ndarray
    tags: np.ndarray
    size: np.ndarray
    pattern: np.ndarray
    map: np.ndarray


@inlined
def corner_key(tags, f, v, n):
    """Identity of corner v: the two lines that meet in it."""
    a = tags[f, v - 1 if v > 0 else n - 1, T_KEY]
    b = tags[f, v, T_KEY]
    return mix(min(a, b), max(a, b))


@njit
def ask(run, stack, f, v, what, unit, i, j, key_a, key_b):
    """Record a question about frame f, or its corner v."""
    n = put_request(run, f, what, stack.info[f, BLOCK], unit, i, j, key_a, key_b)
    if n >= 0 and what == AT_CORNER:
        before = v - 1 if v > 0 else stack.info[f, CORNERS] - 1
        for k in range(4):
            run.request[n, 6 + k] = stack.tags[f, before, k]
            run.request[n, 10 + k] = stack.tags[f, v, k]


@inlined
def float_signs(run, stack, f, a, b, c, error):
    """Signs of the line (a, b, c), known up to ``error``, at the corners of frame f (into run.scratch); False if some
    are open.
    """
    known = True
    for v in range(stack.info[f, CORNERS]):
        x, y, r, w = stack.edges[f, v, 0], stack.edges[f, v, 1], stack.edges[f, v, 2], stack.edges[f, v, WEIGHT]
        s = decide(a * x + b * y + c * w, value_bound(a, b, c, error, r))
        run.scratch[SIGN, v] = s
        known = known and s != UNDECIDED
    return known


@njit
def corner_signs(run, stack, f, a, b, c, error, unit, i, j, key):
    """Signs of the line (a, b, c), known up to ``error``, at all corners of frame f; False if some had to be asked.

    The line is that of candidates i and j of ``unit``, its identity ``key``.
    Overwrites run.sign.
    """
    n = stack.info[f, CORNERS]
    known = True
    for v in range(n):
        x, y, r, w = stack.edges[f, v, 0], stack.edges[f, v, 1], stack.edges[f, v, 2], stack.edges[f, v, WEIGHT]
        s = decide(a * x + b * y + c * w, value_bound(a, b, c, error, r))
        if s == UNDECIDED:
            where = corner_key(stack.tags, f, v, n)
            s = lookup(run.table, where, key)
            if s == UNDECIDED:
                known = False
                ask(run, stack, f, v, AT_CORNER, unit, i, j, where, key)
        run.scratch[SIGN, v] = s
    return known


@inlined
def outcome(run, n):
    """1 if the line is nowhere negative and somewhere positive at the n corners, −1 the reverse, 2 both, 0 neither."""
    up = False
    down = False
    for v in range(n):
        if run.scratch[SIGN, v] == 1:
            up = True
        elif run.scratch[SIGN, v] == -1:
            down = True
    if up and down:
        return 2
    return (1 if up else 0) - (1 if down else 0)


@inlined
def outcomes(prog, run, stack, roots, f, b, widest):
    """For every coordinate of the root map of block b, how its sign lies on frame f, into run.range[2].

    1 positive at all corners, −1 negative at all, 2 both for certain, 3 open; all coordinates at once, in vector
    registers.
    """
    n = prog.blocks[b, N_PRE]
    m0 = roots.map[b, 0]
    m1 = roots.map[b, 1]
    m2 = roots.map[b, 2]
    m3 = roots.map[b, 3]
    low = run.range[0]
    high = run.range[1]
    for v in range(stack.info[f, CORNERS]):
        x = stack.edges[f, v, 0]
        y = stack.edges[f, v, 1]
        w = stack.edges[f, v, WEIGHT]
        if v == 0:
            for i in range(n):
                z = m0[i] * x + m1[i] * y + m2[i] * w
                low[i] = z
                high[i] = z
        else:
            for i in range(n):
                z = m0[i] * x + m1[i] * y + m2[i] * w
                low[i] = z if z < low[i] else low[i]
                high[i] = z if z > high[i] else high[i]
    code = run.range[2]
    for i in range(n):
        bound = value_bound(m0[i], m1[i], m2[i], m3[i], widest)
        finite = (low[i] > -HUGE) & (high[i] < HUGE)
        up = (low[i] > bound) & finite
        down = (high[i] < -bound) & finite
        both = (low[i] < -bound) & (high[i] > bound) & finite
        code[i] = 1.0 if up else (-1.0 if down else (2.0 if both else 3.0))


@inlined
def bit_outcome(stack, m, f, col, widest):
    """What :func:`outcomes` says, for coordinate ``col`` of the map m alone."""
    a, b, c = m[0, col], m[1, col], m[2, col]
    low = a * stack.edges[f, 0, 0] + b * stack.edges[f, 0, 1] + c * stack.edges[f, 0, WEIGHT]
    high = low
    for v in range(1, stack.info[f, CORNERS]):
        z = a * stack.edges[f, v, 0] + b * stack.edges[f, v, 1] + c * stack.edges[f, v, WEIGHT]
        low = z if z < low else low
        high = z if z > high else high
    bound = value_bound(a, b, c, m[3, col], widest)
    p = decide(low, bound)
    q = decide(high, bound)
    if p == 1:
        return 1
    if q == -1:
        return -1
    return 2 if p == -1 and q == 1 else 3


@njit
def settle_bit(prog, run, stack, roots, f, unit):
    """How a BIT unit lies on frame f: 1 on, −1 off (or zero everywhere), 2 both, UNDECIDED + 1 if asked."""
    b = stack.info[f, BLOCK]
    col = prog.units[unit, FIRST_VALUE]
    m = roots.map[b]
    asked = run.state[N_REQUESTS]
    key = line_key(roots.uid[b], unit, ZERO, ZERO)
    known = corner_signs(run, stack, f, m[0, col], m[1, col], m[2, col], m[3, col], unit, ZERO, ZERO, key)
    s = outcome(run, stack.info[f, CORNERS])
    if s == 2:
        run.state[N_REQUESTS] = asked  # both sides are there whatever the other corners say
        return 2
    if not known:
        return 3
    return -1 if s == 0 else s


@njit
def pair_signs(prog, run, stack, roots, f, unit, i, j):
    """Signs of score i − score j of a SET unit at the corners of frame f (into run.sign); False if asked."""
    b = stack.info[f, BLOCK]
    at = prog.units[unit, FIRST] - prog.blocks[b, CAND_LO]
    flip = i > j
    if flip:
        i, j = j, i
    s = roots.score[b]
    error = roots.score[b, 3, at + i] + roots.score[b, 3, at + j]
    a = s[0, at + i] - s[0, at + j]
    e = s[1, at + i] - s[1, at + j]
    c = s[2, at + i] - s[2, at + j]
    known = corner_signs(run, stack, f, a, e, c, error, unit, i, j, line_key(roots.uid[b], unit, i, j))
    if flip:
        for v in range(stack.info[f, CORNERS]):
            if run.scratch[SIGN, v] != UNDECIDED:
                run.scratch[SIGN, v] = -run.scratch[SIGN, v]
    return known


@njit
def reduce_set(prog, run, stack, roots, f, unit):
    """Candidates of a SET unit that no other one dominates on frame f, into run.alive; their number, or −1 if asked.

    Of candidates that are one map the first stays.
    """
    b = stack.info[f, BLOCK]
    n = stack.info[f, CORNERS]
    count = prog.units[unit, N_CANDIDATES]
    at = prog.units[unit, FIRST] - prog.blocks[b, CAND_LO]
    s = roots.score[b]
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
                a = s[0, at + i] - s[0, at + j]
                e = s[1, at + i] - s[1, at + j]
                c = s[2, at + i] - s[2, at + j]
                bound = value_bound(a, e, c, roots.score[b, 3, at + i] + roots.score[b, 3, at + j], widest)
                low = np.inf
                high = -np.inf
                for v in range(n):
                    z = a * stack.edges[f, v, 0] + e * stack.edges[f, v, 1] + c * stack.edges[f, v, WEIGHT]
                    low = min(low, z)
                    high = max(high, z)
                p = decide(low, bound)
                q = decide(high, bound)
                if p == 1:
                    alive[j] = 0
                elif q == -1:
                    alive[i] = 0
                elif certain == 1 and not (p == -1 and q == 1):
                    asked = settle_pair(prog, run, stack, roots, f, unit, i, j) or asked
    if asked:
        return -1
    total = 0
    for i in range(count):
        total += alive[i]
    return total


@njit
def settle_pair(prog, run, stack, roots, f, unit, i, j):
    """Decide exactly whether candidate i or j dominates the other on frame f (updates run.alive); True if it had to
    ask.
    """
    b = stack.info[f, BLOCK]
    same = same_map(run, roots, b, unit, i, j)
    if same == UNDECIDED:
        ask(run, stack, f, 0, SAME_MAP, unit, i, j, SAME_MAP, line_key(roots.uid[b], unit, i, j))
        return True
    if same == 1:
        run.scratch[ALIVE, j] = 0
        return False
    asked = run.state[N_REQUESTS]
    known = pair_signs(prog, run, stack, roots, f, unit, i, j)
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


@inlined
def widest_radius(stack, f):
    """The largest radius of a corner of frame f."""
    widest = 0.0
    for v in range(stack.info[f, CORNERS]):
        widest = max(widest, stack.edges[f, v, 2])
    return widest


@spliced
def filter_open(prog, run, stack, roots, f, fresh):
    """Decide what can be decided of the open units of frame f, and drop it from the list; ``fresh`` where it enters
    its block.
    """
    b = stack.info[f, BLOCK]
    m = roots.map[b]
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
            col = prog.units[unit, FIRST_VALUE]
            s = np.int64(run.range[2, col]) if fresh else bit_outcome(stack, m, f, col, widest)
            if s == 3:
                s = settle_bit(prog, run, stack, roots, f, unit)
            if s == 1 or s == -1:
                stack.pattern[f, prog.units[unit, FIRST_COLUMN]] = s == 1
                if s == 1 or prog.slope[unit] != 0.0:
                    run.scratch[DECIDED, decided] = unit
                    decided += 1
                continue
        elif reduce_set(prog, run, stack, roots, f, unit) == 1:
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
def copy_corner(stack, f, v, to, w):
    """Copy corner v of frame f, with the edge that leaves it, to corner w of frame ``to``."""
    for k in range(8):
        stack.edges[to, w, k] = stack.edges[f, v, k]
    for k in range(6):
        stack.tags[to, w, k] = stack.tags[f, v, k]


@inlined
def put_edge(run, stack, f, v, border, key):
    """Let the edge that leaves corner v of frame f lie on run.line, on one side of a border."""
    for k in range(4):
        stack.edges[f, v, A + k] = run.line[k]
    for k in range(4):
        stack.tags[f, v, k] = run.cut_tag[k]
    stack.tags[f, v, T_BORDER] = border
    stack.tags[f, v, T_KEY] = key


@inlined
def cut(run, stack, f, up, down, key):
    """Cut polygon f by run.line, with its signs at the corners in run.scratch: the parts go to frames ``up`` and
    ``down``.

    Both signs occur.  A corner on the line belongs to both parts; others are made where an edge crosses it.  Nothing
    is written for a part whose frame is −1.  The cut of the part below gets the tag run.cut_tag with its side
    changed.
    """
    n = stack.info[f, CORNERS]
    line = run.line
    border = run.cut_tag[T_BORDER]
    p = 0
    q = 0
    for v in range(n):
        after = v + 1 if v + 1 < n else 0
        s = run.scratch[SIGN, v]
        t = run.scratch[SIGN, after]
        if s >= 0 and up >= 0:
            copy_corner(stack, f, v, up, p)
            if s == 0 and t < 0:
                put_edge(run, stack, up, p, border, key)
            p += 1
        if s <= 0 and down >= 0:
            copy_corner(stack, f, v, down, q)
            if s == 0 and t > 0:
                put_edge(run, stack, down, q, border ^ 1, key)
            q += 1
        if s * t < 0:
            x, y, w, r = cross_edge(stack, line, f, v, after)
            if up >= 0:
                if s > 0:
                    put_edge(run, stack, up, p, border, key)
                else:
                    copy_corner(stack, f, v, up, p)
                put_corner(stack, up, p, x, y, w, r)
                p += 1
            if down >= 0:
                if s < 0:
                    put_edge(run, stack, down, q, border ^ 1, key)
                else:
                    copy_corner(stack, f, v, down, q)
                put_corner(stack, down, q, x, y, w, r)
                q += 1
    if up >= 0:
        stack.info[up, CORNERS] = p
    if down >= 0:
        stack.info[down, CORNERS] = q


@inlined
def cross_edge(stack, line, f, v, after):
    """Where a line crosses the edge from corner v of frame f to corner ``after``: x, y, weight, radius."""
    if stack.edges[f, v, WEIGHT] != 1.0 or stack.edges[f, after, WEIGHT] != 1.0:
        p = (stack.edges[f, v, 0], stack.edges[f, v, 1], stack.edges[f, v, WEIGHT])
        q = (stack.edges[f, after, 0], stack.edges[f, after, 1], stack.edges[f, after, WEIGHT])
        return homogeneous_crossing(p, q, stack.edges[f, v, A:], line)
    x0, y0 = stack.edges[f, v, 0], stack.edges[f, v, 1]
    x1, y1 = stack.edges[f, after, 0], stack.edges[f, after, 1]
    z0 = line[0] * x0 + line[1] * y0 + line[2]
    z1 = line[0] * x1 + line[1] * y1 + line[2]
    part = 0.0 if abs(z0) <= abs(z1) else 1.0  # where floats see no change of sign, the nearer end
    if z0 * z1 < 0.0:
        part = z0 / (z0 - z1)
    x = x0 + part * (x1 - x0)
    y = y0 + part * (y1 - y0)
    return x, y, 1.0, crossing_radius(stack.edges[f, v, A:], line, x, y)


@inlined
def put_corner(stack, f, v, x, y, w, r):
    """Place corner v of frame f."""
    stack.edges[f, v, WEIGHT] = w
    stack.edges[f, v, 0] = x
    stack.edges[f, v, 1] = y
    stack.edges[f, v, 2] = r


@inlined
def set_tag(run, b, unit, i, j, border):
    """Write the identity of a cut to run.tag."""
    run.cut_tag[T_BLOCK] = b
    run.cut_tag[T_UNIT] = unit
    run.cut_tag[T_I] = i
    run.cut_tag[T_J] = j
    run.cut_tag[T_BORDER] = border


@inlined
def unit_line(line, a, b, c, error):
    """Write (a, b, c, k): the line scaled to a unit normal, and the error of its value anywhere on the domain."""
    size = np.sqrt(a * a + b * b)
    line[0] = a / size
    line[1] = b / size
    line[2] = c / size
    line[3] = line_error(a, b, c, error, size)


@inlined
def pair_line(prog, run, roots, b, unit, i, j):
    """Write to run.line the line on which a BIT unit vanishes, or on which candidates i < j of a SET unit tie
    (positive where i is ahead).
    """
    if prog.units[unit, KIND] == BIT:
        col = prog.units[unit, FIRST_VALUE]
        m = roots.map[b]
        unit_line(run.line, m[0, col], m[1, col], m[2, col], roots.map[b, 3, col])
        return
    at = prog.units[unit, FIRST] - prog.blocks[b, CAND_LO]
    s = roots.score[b]
    error = roots.score[b, 3, at + i] + roots.score[b, 3, at + j]
    unit_line(run.line, s[0, at + i] - s[0, at + j], s[1, at + i] - s[1, at + j], s[2, at + i] - s[2, at + j], error)


@inlined
def split_two(prog, run, stack, roots, f, at, i, j):
    """Split frame f by a BIT unit, or by a SET unit with two candidates left; the children replace it."""
    b = stack.info[f, BLOCK]
    unit = stack.info[f, N_INFO + at]
    is_bit = prog.units[unit, KIND] == BIT
    if is_bit:
        col = prog.units[unit, FIRST_VALUE]
        m = roots.map[b]
        key = line_key(roots.uid[b], unit, ZERO, ZERO)
        error = roots.map[b, 3, col]
        known = float_signs(run, stack, f, m[0, col], m[1, col], m[2, col], error) or corner_signs(
            run, stack, f, m[0, col], m[1, col], m[2, col], error, unit, ZERO, ZERO, key
        )
    else:
        known = pair_signs(prog, run, stack, roots, f, unit, i, j)
    if not known:
        return REQUEST
    pair_line(prog, run, roots, b, unit, i, j)
    set_tag(run, b, unit, i, j, 2 * run.state[NEXT_BORDER])
    key = line_key(roots.uid[b], unit, i, j)
    run.state[NEXT_BORDER] += 1
    for k in range(at, stack.info[f, N_OPEN] - 1):
        stack.info[f, N_INFO + k] = stack.info[f, N_INFO + k + 1]
    stack.info[f, N_OPEN] -= 1
    spare = stack.info.shape[0] - 1
    copy_polygon(stack, f, spare)
    copy_frame(prog, stack, f, f + 1, run.state[LAST_BLOCK])
    cut(run, stack, spare, f, f + 1, key)
    for child in range(2):
        if is_bit:
            set_bit(prog, run, stack, roots, f + child, unit, child == 0)
        else:
            set_winner(prog, run, stack, roots, f + child, unit, i if child == 0 else j)
    run.state[TOP] = f + 1
    return OK


@inlined
def copy_polygon(stack, f, to):
    """Copy the corners of frame f."""
    stack.info[to, CORNERS] = stack.info[f, CORNERS]
    for v in range(stack.info[f, CORNERS]):
        copy_corner(stack, f, v, to, v)


@njit
def clip_to_winner(prog, run, stack, roots, f, to, unit, k, border):
    """Write to frame ``to`` the part of f where candidate k wins; 1 if not empty, 0 if empty, −1 if asked.

    Uses frame ``to + 1`` as scratch.
    """
    b = stack.info[f, BLOCK]
    copy_polygon(stack, f, to)
    for d in range(N_INFO):
        stack.info[to, d] = stack.info[f, d]
    count = prog.units[unit, N_CANDIDATES]
    for j in range(count):
        if j == k or not run.scratch[ALIVE, j]:
            continue
        if not pair_signs(prog, run, stack, roots, to, unit, k, j):
            # the questions are about a polygon that will be made again with the same keys
            for q in range(run.state[N_REQUESTS]):
                run.request[q, 0] = f
            return -1
        s = outcome(run, stack.info[to, CORNERS])
        if s == 2:
            low, high = min(j, k), max(j, k)
            pair_line(prog, run, roots, b, unit, low, high)
            set_tag(run, b, unit, low, high, 2 * (border + low * count + high) + (k == high))
            if k > j:
                for d in range(3):
                    run.line[d] = -run.line[d]
            copy_polygon(stack, to, to + 1)
            cut(run, stack, to + 1, to, NONE, line_key(roots.uid[b], unit, low, high))
        elif s <= 0:
            return 0
    return 1


@njit
def split_set(prog, run, stack, roots, f, at):
    """Split frame f by a SET unit: one child for each candidate that wins somewhere."""
    unit = stack.info[f, N_INFO + at]
    total = reduce_set(prog, run, stack, roots, f, unit)
    if total < 0:
        return REQUEST
    count = prog.units[unit, N_CANDIDATES]
    if total == 2:
        i = NONE
        j = NONE
        for k in range(count):
            if run.scratch[ALIVE, k]:
                i, j = (k, j) if i < 0 else (i, k)
        return split_two(prog, run, stack, roots, f, at, i, j)
    if f + total + 3 >= stack.info.shape[0]:
        return GROW_FRAMES
    if stack.info[f, CORNERS] + total + 1 >= stack.edges.shape[1]:
        return GROW_CORNERS
    border = run.state[NEXT_BORDER]
    to = f + 1
    made = run.scratch[MADE]
    for k in range(count):
        if run.scratch[ALIVE, k]:
            s = clip_to_winner(prog, run, stack, roots, f, to, unit, k, border)
            if s < 0:
                return REQUEST
            if s > 0:
                made[to - f - 1] = k
                to += 1
    run.state[NEXT_BORDER] += count * count
    for k in range(at, stack.info[f, N_OPEN] - 1):
        stack.info[f, N_INFO + k] = stack.info[f, N_INFO + k + 1]
    stack.info[f, N_OPEN] -= 1
    for child in range(f + 1, to):
        n = stack.info[child, CORNERS]
        copy_frame(prog, stack, f, child, run.state[LAST_BLOCK])
        stack.info[child, CORNERS] = n
        set_winner(prog, run, stack, roots, child, unit, made[child - f - 1])
    stack.info[f, STATE] = DEAD
    run.state[TOP] = to - 1
    return OK


@njit
def emit(run, stack, roots, leaves, f):
    """Append frame f to the finished pieces; False if they are full."""
    at = run.state[N_PIECES]
    start = run.state[N_CORNERS]
    n = stack.info[f, CORNERS]
    if at >= leaves.size.shape[0] or start + n > leaves.corners.shape[0]:
        return False
    for v in range(n):
        for k in range(3):
            leaves.corners[start + v, k] = stack.edges[f, v, k]
        leaves.corners[start + v, 3] = stack.edges[f, v, WEIGHT]
        for k in range(5):
            leaves.tags[start + v, k] = stack.tags[f, v, k]
    leaves.size[at] = n
    for i in range(stack.pattern.shape[1]):
        leaves.pattern[at, i] = stack.pattern[f, i]
    b = stack.info[f, BLOCK]
    for k in range(3):
        for i in range(leaves.map.shape[2] - 1):
            leaves.map[at, k, i] = roots.map[b, k, i]
        leaves.map[at, k, leaves.map.shape[2] - 1] = roots.norm[b, ERROR, k]
    run.state[N_PIECES] = at + 1
    run.state[N_CORNERS] = start + n
    return True


@inlined
def count_two(prog, run, stack, roots, f):
    """Number of parts into which the lines of two BIT units, the only open ones, cut frame f; 0 if floats cannot tell.

    Both lines cut the piece, so it is 4 if they cross inside and 3 if not.  The parts are the pairs of signs that
    occur on the boundary: at corners, and along an edge on which both signs change, between the two changes.
    """
    m = roots.map[stack.info[f, BLOCK]]
    p = prog.units[stack.info[f, N_INFO], FIRST_VALUE]
    q = prog.units[stack.info[f, N_INFO + 1], FIRST_VALUE]
    n = stack.info[f, CORNERS]
    seen = 0
    last = stack.edges[f, n - 1]
    z0 = m[0, p] * last[0] + m[1, p] * last[1] + m[2, p] * last[WEIGHT]
    w0 = m[0, q] * last[0] + m[1, q] * last[1] + m[2, q] * last[WEIGHT]
    e0 = value_bound(m[0, p], m[1, p], m[2, p], m[3, p], last[2])
    d0 = value_bound(m[0, q], m[1, q], m[2, q], m[3, q], last[2])
    for v in range(n):
        corner = stack.edges[f, v]
        z1 = m[0, p] * corner[0] + m[1, p] * corner[1] + m[2, p] * corner[WEIGHT]
        w1 = m[0, q] * corner[0] + m[1, q] * corner[1] + m[2, q] * corner[WEIGHT]
        e1 = value_bound(m[0, p], m[1, p], m[2, p], m[3, p], corner[2])
        d1 = value_bound(m[0, q], m[1, q], m[2, q], m[3, q], corner[2])
        s = decide(z1, e1)
        t = decide(w1, d1)
        if s == UNDECIDED or t == UNDECIDED:
            return 0
        seen |= 1 << ((s > 0) + 2 * (t > 0))
        if (z0 > 0.0) != (s > 0) and (w0 > 0.0) != (t > 0):
            # the sign of z where w changes is that of (z0 w1 - z1 w0) / (w1 - w0); there w takes either sign
            first = decide(z0 * w1 - z1 * w0, determinant_bound(z0, w0, z1, w1, e0, d0, e1, d1))
            if first == UNDECIDED:
                return 0
            up = (first > 0) == (w1 > w0)
            seen |= (1 << up) | (1 << (2 + up))
        z0, w0, e0, d0 = z1, w1, e1, d1
    return (seen & 1) + (seen >> 1 & 1) + (seen >> 2 & 1) + (seen >> 3 & 1)


@inlined
def count_leaves(prog, run, stack, roots, f):
    """How many leaves frame f of the last block has, where that needs no subdivision; 0 otherwise.

    One open line has corners on both sides.
    """
    n = stack.info[f, N_OPEN]
    for i in range(n):
        if prog.units[stack.info[f, N_INFO + i], KIND] != BIT:
            return 0
    return 2 if n == 1 else count_two(prog, run, stack, roots, f)


@spliced
def step(prog, run, stack, roots, leaves):
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
        filter_open(prog, run, stack, roots, f, fresh)
        if run.state[N_REQUESTS] > 0:
            return REQUEST
    if stack.info[f, N_OPEN] == 0:
        if run.state[FINGERPRINTS] and not fingerprint(prog, run, stack, f, b):
            return FULL_PRINTS  # a frame that comes here again appends its print again: it is one of a set
        if b == last:
            if run.counts[last] >= run.state[MAX_PIECES]:
                return LIMIT
            if run.state[EMIT] and not emit(run, stack, roots, leaves, f):
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
    if stack.info[f, CORNERS] + 3 >= stack.edges.shape[1]:
        return GROW_CORNERS
    if b == last and stack.info[f, N_OPEN] <= 2 and not run.state[EMIT] and not run.state[FINGERPRINTS]:
        parts = count_leaves(prog, run, stack, roots, f)
        if parts > 0:
            if run.counts[b] + parts > run.state[MAX_PIECES]:
                return LIMIT
            run.counts[b] += parts
            run.state[TOP] = f - 1
            return OK
    if prog.units[stack.info[f, N_INFO], KIND] == BIT:
        return split_two(prog, run, stack, roots, f, ZERO, ZERO, ZERO)
    return split_set(prog, run, stack, roots, f, ZERO)


@njit
def subdivide(prog, run, stack, roots, leaves):
    """Run until the stack is empty (OK) or something is needed (any other status)."""
    run.state[N_REQUESTS] = 0
    while run.state[TOP] >= 0:
        status = step(prog, run, stack, roots, leaves)
        if status != OK:
            return status
    return OK


@njit
def answer(run, verdicts, count):
    """Store ``count`` verdicts on the requests; the caller sees to it that the table is at most half full."""
    for q in range(count):
        run.state[N_VERDICTS] += store(run.table, run.request[q, 14], run.request[q, 15], verdicts[q])
