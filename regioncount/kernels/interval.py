"""Interval engine: depth-first subdivision of an interval by affine and quadratic scores.

A frame of the stack is a piece on which all blocks before its own are decided.  One step finds, for every unit of the
frame's block, where its winner changes inside the piece (*events*: roots of affine functions, crossings of an upper
envelope of parabolas), sorts them, and replaces the frame by the pieces between them, the leftmost on top, so that
leaves come out from left to right.

Floats decide only with proven bounds (``predicates``): a root x of D carries a radius r verified by D(x − r) > 0 >
D(x + r).  Wherever a sign, a count of roots or an order of events is not certain, the step changes nothing and
returns EXACT; the caller finds the events of that frame in exact arithmetic, writes them to ``events`` and calls
``spread``.

An exact split depends on the *state* of a piece alone: its block and the exact values of the block's map at its two
ends.  Pieces of deep constructions share few states, so splits are kept by state (``Memo``) and pieces of a known
state need no decision at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regioncount.kernels import inlined, njit
from regioncount.kernels.predicates import (
    B_AT,
    BIT,
    CAND_LO,
    COL_HI,
    COL_LO,
    COLS,
    COLUMN,
    FIRST,
    GAIN,
    KEY,
    KIND,
    N_CANDIDATES,
    N_CHOOSE,
    N_PRE,
    N_VALUES,
    ORDER_AT,
    OUT,
    PASS,
    QUERY,
    REPEAT,
    ROUNDING,
    ROWS,
    UNDECIDED,
    UNIT_HI,
    UNIT_LO,
    VALUE,
    W_AT,
    WIDTH,
    falling_root,
    falls,
    mix,
    norm_above,
    place_radius,
    product_error,
    row_error,
    sign_between,
    stage_errors,
    use_error,
)  # fmt: skip

OK, EXACT, GROW_FRAMES, GROW_EVENTS, GROW_LOG, FULL, LIMIT = range(7)
# columns of Run.state
(
    TOP,
    N_EVENTS,
    N_PIECES,
    FIRST_BLOCK,
    LAST_BLOCK,
    EMIT,
    MAX_PIECES,
    NO_FLOATS,
    FINGERPRINTS,
    N_PRINTS,
    N_LOG,
    N_FLOATS,
) = range(12)
LEFT, RIGHT = range(2)
ERROR, NORMS, STATE_ERROR, STATE_NORM = range(4)  # rows of Roots.norm


class Stack(NamedTuple):
    """Frames: ends (F, 2, 2) x and radius; tags (F, 2, 4) block, unit, i, j; block (F,); map (F, 2, N); pattern (F,
    n_columns); state (F,) the exact state of the piece, −1 if not known; marks (F, 2) the cuts at its ends, numbers
    in ``Run.log``.
    """

    ends: np.ndarray
    tags: np.ndarray
    block: np.ndarray
    map: np.ndarray
    pattern: np.ndarray
    state: np.ndarray
    marks: np.ndarray


class Roots(NamedTuple):
    """For each block the frame being subdivided: map (B, 3, N), row 2 the error of a value anywhere on the domain;
    norm (B, 4, 2).
    """

    map: np.ndarray
    norm: np.ndarray


class Events(NamedTuple):
    """Where units change: x and radius (E, 2), tags (E, 3) unit, i, j in the order found; order (E,); score (C, 4)
    polynomials with error; choice (E + 1, columns of the block); varies (U,) whether a unit has an event.
    """

    at: np.ndarray
    tags: np.ndarray
    order: np.ndarray
    score: np.ndarray
    choice: np.ndarray
    varies: np.ndarray
    child: np.ndarray
    part: np.ndarray


class Memo(NamedTuple):
    """Exact splits already made.  ``split`` (S, 3) for each state: first event, number of events (−1 where the split
    is not known), number of the split.  For every event its place in the piece as a float in (0, 1) and its tag
    (unit, i, j).  ``child`` states and rows of ``choice`` are one more a split than events, so they start at first
    event + number of the split; ``varies`` a row a split.
    """

    split: np.ndarray
    place: np.ndarray
    tags: np.ndarray
    child: np.ndarray
    choice: np.ndarray
    varies: np.ndarray


class Run(NamedTuple):
    """Counters; fingerprints (P, 3): block and 126 bits of the pattern up to it; ``log`` (L, 3) how each cut was
    made: the marks of the ends of the piece that it cuts, and its number in ``Memo`` (−1: found by floats).
    """

    state: np.ndarray
    counts: np.ndarray
    prints: np.ndarray
    log: np.ndarray


class Leaves(NamedTuple):
    """Finished pieces: ends (n, 2, 2), tags (n, 2, 4), patterns, output maps and last their errors (n, 2, out + 1)."""

    ends: np.ndarray
    tags: np.ndarray
    pattern: np.ndarray
    map: np.ndarray
    state: np.ndarray
    marks: np.ndarray


@inlined
def enter_block(prog, run, stack, roots, f):
    """Copy the map of frame f to the root of its block and bound its errors."""
    b = stack.block[f]
    row = prog.blocks[b]
    m = roots.map[b]
    n = row[N_PRE]
    for i in range(n):
        m[0, i] = stack.map[f, 0, i]
        m[1, i] = stack.map[f, 1, i]
    if b > run.state[FIRST_BLOCK]:
        bound = prog.bound[b - 1]
        for k in range(2):
            norm = roots.norm[b - 1, NORMS, k]
            roots.norm[b, STATE_ERROR, k] = bound[GAIN] * (roots.norm[b - 1, ERROR, k] + bound[ROUNDING] * norm)
            roots.norm[b, STATE_NORM, k] = bound[GAIN] * norm
        tau = stage_errors(
            prog.bound[b], row[COLS], roots.norm[b, STATE_ERROR], roots.norm[b, STATE_NORM], roots.norm[b, ERROR]
        )
        error = m[2]
        for t in range(row[REPEAT]):
            for r in range(row[ROWS]):
                at = row[B_AT] + r
                error[t * row[ROWS] + r] = row_error(prog.norm[at], tau, prog.bias[at])
    for k in range(2):
        roots.norm[b, NORMS, k] = norm_above(m[k], n)


@njit
def enter_scores(prog, stack, roots, events, f):
    """Polynomials of the scores of all candidates of the block of frame f."""
    b = stack.block[f]
    row = prog.blocks[b]
    for unit in range(row[UNIT_LO], row[UNIT_HI]):
        first = prog.units[unit, FIRST]
        if prog.units[unit, KIND] != PASS:
            for c in range(first, first + prog.units[unit, N_CANDIDATES]):
                score_polynomial(prog, roots, b, c, events.score, c - row[CAND_LO])


@njit
def score_polynomial(prog, roots, b, c, score, at):
    """Write the score of candidate c: coefficients of 1, x, x² and a bound of their summed errors, rounding of use
    included.
    """
    m = roots.map[b]
    width = prog.candidates[c, WIDTH]
    k = prog.candidates[c, KEY]
    if width == 0:
        score[at, 0] = m[1, k]
        score[at, 1] = m[0, k]
        score[at, 2] = 0.0
        score[at, 3] = 2.0 * m[2, k]
    else:
        q = prog.candidates[c, QUERY]
        s0 = s1 = s2 = q0 = q1 = k0 = k1 = 0.0
        for t in range(width):
            s0 += m[1, q + t] * m[1, k + t]
            s1 += m[0, q + t] * m[1, k + t] + m[1, q + t] * m[0, k + t]
            s2 += m[0, q + t] * m[0, k + t]
            q0 += m[0, q + t] ** 2
            q1 += m[1, q + t] ** 2
            k0 += m[0, k + t] ** 2
            k1 += m[1, k + t] ** 2
        size_q = np.sqrt(q0) + np.sqrt(q1)
        size_k = np.sqrt(k0) + np.sqrt(k1)
        e = roots.norm[b, ERROR, 0] + roots.norm[b, ERROR, 1]
        score[at, 0] = s0
        score[at, 1] = s1
        score[at, 2] = s2
        score[at, 3] = product_error(e, size_q, size_k, width)
    score[at, 3] += use_error(score[at])


@inlined
def put_event(events, n, x, r, unit, i, j):
    """Write event n."""
    events.at[n, 0] = x
    events.at[n, 1] = r
    events.tags[n, 0] = unit
    events.tags[n, 1] = i
    events.tags[n, 2] = j


@inlined
def difference(score, i, j, p):
    """Write score i − score j to p."""
    for d in range(3):
        p[d] = score[i, d] - score[j, d]
    p[3] = score[i, 3] + score[j, 3]


@njit
def find_events(prog, run, stack, roots, events, f, p, best):
    """All events of the units of frame f, and the winners right of its left end; p and best (4,) are scratch."""
    b = stack.block[f]
    row = prog.blocks[b]
    n = 0
    x0, r0 = stack.ends[f, LEFT, 0], stack.ends[f, LEFT, 1]
    x1, r1 = stack.ends[f, RIGHT, 0], stack.ends[f, RIGHT, 1]
    if row[COL_HI] > row[COL_LO]:
        for c in range(row[COL_HI] - row[COL_LO]):
            events.choice[0, c] = 0
    for at in range(row[N_CHOOSE]):
        unit = prog.order[row[ORDER_AT] + at]
        first = prog.units[unit, FIRST]
        count = prog.units[unit, N_CANDIDATES]
        events.varies[unit - row[UNIT_LO]] = 0
        if n + count * count + 2 >= events.at.shape[0]:
            return GROW_EVENTS
        if prog.units[unit, KIND] == BIT:
            for d in range(4):
                p[d] = events.score[first - row[CAND_LO], d]
            s = sign_between(p, x0, r0)
            t = sign_between(p, x1, r1)
            if s == UNDECIDED or t == UNDECIDED:
                return EXACT
            events.choice[0, prog.candidates[first, COLUMN] - row[COL_LO]] = s == 1
            if s != t:
                if s == -1:
                    for d in range(3):
                        p[d] = -p[d]
                x, r = falling_root(p, x0, x1)
                if not r < np.inf:
                    return EXACT
                put_event(events, n, x, r, unit, 0, 0)
                events.varies[unit - row[UNIT_LO]] = 1
                n += 1
            continue
        base = first - row[CAND_LO]
        current = leader(events.score, base, count, x0, r0, p)
        if current < 0:
            return EXACT
        events.choice[0, prog.candidates[first + current, COLUMN] - row[COL_LO]] = 1
        n, known = walk(events, n, unit, base, count, current, x0, r0, x1, r1, p, best)
        if not known:
            return EXACT
        events.varies[unit - row[UNIT_LO]] = n > 0 and events.tags[n - 1, 0] == unit
    run.state[N_EVENTS] = n
    return OK


@njit
def leader(score, base, count, x, r, p):
    """The candidate that certainly leads everywhere within r of x, or −1."""
    top = 0
    for i in range(1, count):
        difference(score, base + i, base + top, p)
        if p[0] + x * (p[1] + x * p[2]) > 0.0:
            top = i
    for i in range(count):
        if i != top:
            difference(score, base + top, base + i, p)
            if sign_between(p, x, r) != 1:
                return -1
    return top


@njit
def walk(events, n, unit, base, count, current, x0, r0, x1, r1, p, best):
    """Follow the upper envelope of a unit's scores from x0 to x1: appends its events; (their number, whether all is
    certain).
    """
    previous = -1
    at, radius = x0, r0
    for _ in range(count * count + 1):
        best[0] = np.inf
        found = -1
        for j in range(count):
            if j == current:
                continue
            difference(events.score, base + current, base + j, p)
            s, low, high = falls(p, at, radius, x1, r1, j == previous)
            if s == UNDECIDED:
                return n, False
            if s == 1:
                x, r = falling_root(p, low, high)
                if not r < np.inf:
                    return n, False
                if found >= 0 and abs(x - best[0]) <= r + best[1]:
                    return n, False
                if x < best[0]:
                    best[0] = x
                    best[1] = r
                    found = j
        if found < 0:
            return n, True
        put_event(events, n, best[0], best[1], unit, current, found)
        n += 1
        previous, current = current, found
        at, radius = best[0], best[1]
    return n, False


@njit
def sort_events(prog, run, stack, events, f):
    """Order the events, check that they are apart from each other and from the ends, and write the choices between
    them.
    """
    n = run.state[N_EVENTS]
    b = stack.block[f]
    low = prog.blocks[b, COL_LO]
    width = prog.blocks[b, COL_HI] - low
    order = events.order
    for i in range(n):
        order[i] = i
    sort_by(events.at, order, n)
    edge = stack.ends[f, LEFT, 0] + stack.ends[f, LEFT, 1]
    for q in range(n):
        e = order[q]
        if not events.at[e, 0] - events.at[e, 1] > edge:
            return False
        edge = events.at[e, 0] + events.at[e, 1]
    if n > 0 and not stack.ends[f, RIGHT, 0] - stack.ends[f, RIGHT, 1] > edge:
        return False
    for q in range(n):
        for c in range(width):
            events.choice[q + 1, c] = events.choice[q, c]
        e = order[q]
        unit = events.tags[e, 0]
        first = prog.units[unit, FIRST]
        if prog.units[unit, KIND] == BIT:
            c = prog.candidates[first, COLUMN] - low
            events.choice[q + 1, c] = 1 - events.choice[q + 1, c]
        else:
            events.choice[q + 1, prog.candidates[first + events.tags[e, 1], COLUMN] - low] = 0
            events.choice[q + 1, prog.candidates[first + events.tags[e, 2], COLUMN] - low] = 1
    return True


@njit
def sort_by(at, order, n):
    """Heapsort of ``order`` by at[order, 0]."""
    for start in range(n // 2 - 1, -1, -1):
        sift(at, order, start, n)
    for end in range(n - 1, 0, -1):
        order[0], order[end] = order[end], order[0]
        sift(at, order, 0, end)


@inlined
def sift(at, order, start, n):
    """Restore the heap below ``start``."""
    i = start
    while True:
        child = 2 * i + 1
        if child >= n:
            return
        if child + 1 < n and at[order[child], 0] < at[order[child + 1], 0]:
            child += 1
        if not at[order[i], 0] < at[order[child], 0]:
            return
        order[i], order[child] = order[child], order[i]
        i = child


@inlined
def add_unit(prog, stack, roots, to, b, unit, choice, low):
    """Add the chosen value of a unit to the next map of frame ``to``; ``choice`` holds the columns of the block from
    ``low`` on.
    """
    first = prog.units[unit, FIRST]
    kind = prog.units[unit, KIND]
    count = prog.units[unit, N_CANDIDATES]
    if kind == PASS:
        add_value(prog, stack, roots, to, b, prog.units[unit, OUT], prog.candidates[first, VALUE], 1.0)
        return
    if kind == BIT:
        on = choice[prog.candidates[first, COLUMN] - low]
        factor = 1.0 if on else prog.slope[unit]
        if factor != 0.0:
            add_value(prog, stack, roots, to, b, prog.units[unit, OUT], prog.candidates[first, VALUE], factor)
        return
    tied = 0
    for i in range(count):
        tied += choice[prog.candidates[first + i, COLUMN] - low]
    for i in range(count):
        if choice[prog.candidates[first + i, COLUMN] - low]:
            for k in range(prog.units[unit, N_VALUES]):
                value = prog.candidates[first + i, VALUE] + k
                add_value(prog, stack, roots, to, b, prog.units[unit, OUT] + k, value, 1.0 / tied)


@inlined
def add_value(prog, stack, roots, to, b, coordinate, value, factor):
    """Add factor * pre[value] of block b, as coordinate ``coordinate`` of the next state, to the next map of frame
    ``to``.
    """
    rows = prog.blocks[b + 1, ROWS]
    cols = prog.blocks[b + 1, COLS]
    at = prog.blocks[b + 1, W_AT] + (coordinate % cols) * rows
    start = (coordinate // cols) * rows
    h0 = roots.map[b, 0, value] * factor
    h1 = roots.map[b, 1, value] * factor
    if h0 == 0.0 and h1 == 0.0:
        return
    w = prog.weight[at : at + rows]
    m0 = stack.map[to, 0, start : start + rows]
    m1 = stack.map[to, 1, start : start + rows]
    for r in range(rows):
        m0[r] += h0 * w[r]
        m1[r] += h1 * w[r]


@njit
def spread(prog, run, stack, roots, events, f):
    """Replace frame f by the pieces between its events (in ``events.order``, with ``choice``), the leftmost on top."""
    b = stack.block[f]
    row = prog.blocks[b]
    n = run.state[N_EVENTS]
    last = run.state[LAST_BLOCK]
    if f + n + 1 >= stack.block.shape[0]:
        return GROW_FRAMES
    if run.state[N_LOG] + n > run.log.shape[0]:
        return GROW_LOG
    if run.state[FINGERPRINTS] and row[N_CHOOSE] > 0 and run.state[N_PRINTS] + n + 1 > run.prints.shape[0]:
        return FULL
    if b == last and run.counts[b] + n + 1 > run.state[MAX_PIECES]:
        return LIMIT
    run.counts[b] += n + 1
    if b == last and not run.state[FINGERPRINTS]:
        run.state[TOP] = f - 1
        return OK
    if b < last:
        start_map(prog, stack, roots, events, f, b)
    mark = run.state[N_LOG]
    if run.state[EMIT]:
        for q in range(n):
            run.log[mark + q, LEFT] = stack.marks[f, LEFT]
            run.log[mark + q, RIGHT] = stack.marks[f, RIGHT]
            run.log[mark + q, 2] = events.part[q]
        run.state[N_LOG] += n
    for q in range(n + 1):
        to = f + n - q
        make_piece(prog, run, stack, roots, events, f, to, q)
    run.state[TOP] = f + n if b < last else f - 1
    return OK


@inlined
def start_map(prog, stack, roots, events, f, b):
    """The next map of frame f from the bias and the units that are the same in all its pieces."""
    rows = prog.blocks[b + 1, ROWS]
    for t in range(prog.blocks[b + 1, REPEAT]):
        for r in range(rows):
            stack.map[f, 0, t * rows + r] = 0.0
            stack.map[f, 1, t * rows + r] = prog.bias[prog.blocks[b + 1, B_AT] + r]
    for unit in range(prog.blocks[b, UNIT_LO], prog.blocks[b, UNIT_HI]):
        if prog.units[unit, KIND] == PASS or not events.varies[unit - prog.blocks[b, UNIT_LO]]:
            add_unit(prog, stack, roots, f, b, unit, events.choice[0], prog.blocks[b, COL_LO])


@inlined
def make_piece(prog, run, stack, roots, events, f, to, q):
    """Write piece q of frame f to frame ``to`` (f itself for the last one), with the map of the next block."""
    b = stack.block[f]
    row = prog.blocks[b]
    low = row[COL_LO]
    n = run.state[N_EVENTS]
    last = run.state[LAST_BLOCK]
    if to != f:
        for side in range(2):
            copy_end(stack, f, side, to, side)
        for c in range(stack.pattern.shape[1]):
            stack.pattern[to, c] = stack.pattern[f, c]
        if b < last:
            for k in range(2):
                for i in range(prog.blocks[b + 1, N_PRE]):
                    stack.map[to, k, i] = stack.map[f, k, i]
    stack.state[to] = events.child[q]
    mark = run.state[N_LOG] - n
    if q > 0:
        event_end(stack, events, to, LEFT, events.order[q - 1], b, mark + q - 1)
    if q < n:
        event_end(stack, events, to, RIGHT, events.order[q], b, mark + q)
    for c in range(low, row[COL_HI]):
        stack.pattern[to, c] = events.choice[q, c - low]
    if run.state[FINGERPRINTS] and row[N_CHOOSE] > 0:
        fingerprint(run, stack, to, b, row[COL_HI])
    if b < last:
        for unit in range(row[UNIT_LO], row[UNIT_HI]):
            if prog.units[unit, KIND] != PASS and events.varies[unit - row[UNIT_LO]]:
                add_unit(prog, stack, roots, to, b, unit, events.choice[q], low)
        stack.block[to] = b + 1


@inlined
def copy_end(stack, f, side, to, other):
    """Copy an end of frame f."""
    stack.ends[to, other, 0] = stack.ends[f, side, 0]
    stack.ends[to, other, 1] = stack.ends[f, side, 1]
    stack.marks[to, other] = stack.marks[f, side]
    for k in range(4):
        stack.tags[to, other, k] = stack.tags[f, side, k]


@inlined
def event_end(stack, events, to, side, e, b, mark):
    """Put an end of frame ``to`` at event e of block b."""
    stack.marks[to, side] = mark
    stack.ends[to, side, 0] = events.at[e, 0]
    stack.ends[to, side, 1] = events.at[e, 1]
    stack.tags[to, side, 0] = b
    for k in range(3):
        stack.tags[to, side, 1 + k] = events.tags[e, k]


@njit
def fingerprint(run, stack, f, b, columns):
    """Append two 63-bit hashes of the pattern of frame f up to block b."""
    x = np.int64(0x1234567)
    y = np.int64(0x89ABCDE)
    word = np.int64(0)
    for c in range(columns):
        word = (word << 1) | np.int64(stack.pattern[f, c])
        if c % 48 == 47 or c == columns - 1:
            x = mix(x, word)
            y = mix(y, word ^ 0x5A5A5A5A5A5A)
            word = np.int64(0)
    n = run.state[N_PRINTS]
    run.prints[n, 0] = b
    run.prints[n, 1] = x
    run.prints[n, 2] = y
    run.state[N_PRINTS] = n + 1


@njit
def emit(run, stack, leaves, f):
    """Append frame f, whose map is that of the output, to the finished pieces; False if they are full."""
    at = run.state[N_PIECES]
    if at >= leaves.ends.shape[0]:
        return False
    n = leaves.map.shape[2] - 1
    for side in range(2):
        leaves.ends[at, side, 0] = stack.ends[f, side, 0]
        leaves.ends[at, side, 1] = stack.ends[f, side, 1]
        leaves.marks[at, side] = stack.marks[f, side]
        for k in range(4):
            leaves.tags[at, side, k] = stack.tags[f, side, k]
    for c in range(stack.pattern.shape[1]):
        leaves.pattern[at, c] = stack.pattern[f, c]
    for k in range(2):
        for i in range(n):
            leaves.map[at, k, i] = stack.map[f, k, i]
    leaves.state[at] = stack.state[f]
    run.state[N_PIECES] = at + 1
    return True


@njit
def recall(prog, stack, events, memo, f):
    """Load the events of frame f from the exact split of its state; their number, or −1 if that is not known."""
    s = stack.state[f]
    if s < 0 or memo.split[s, 1] < 0:
        return -1
    first = memo.split[s, 0]
    n = memo.split[s, 1]
    number = memo.split[s, 2]
    b = stack.block[f]
    left, right = stack.ends[f, LEFT, 0], stack.ends[f, RIGHT, 0]
    for q in range(n):
        place = memo.place[first + q]
        events.at[q, 0] = left + place * (right - left)
        events.at[q, 1] = place_radius(stack.ends[f, LEFT, 1], stack.ends[f, RIGHT, 1])
        for k in range(3):
            events.tags[q, k] = memo.tags[first + q, k]
        events.order[q] = q
        events.part[q] = first + q
    width = prog.blocks[b, COL_HI] - prog.blocks[b, COL_LO]
    for q in range(n + 1):
        events.child[q] = memo.child[first + number + q]
        for c in range(width):
            events.choice[q, c] = memo.choice[first + number + q, c]
    for u in range(prog.blocks[b, UNIT_HI] - prog.blocks[b, UNIT_LO]):
        events.varies[u] = memo.varies[number, u]
    return n


@njit
def step(prog, run, stack, roots, events, memo, leaves, p, best):
    """Subdivide the top frame once."""
    f = run.state[TOP]
    b = stack.block[f]
    if run.state[EMIT] and b == run.state[LAST_BLOCK]:
        if run.counts[b] >= run.state[MAX_PIECES]:
            return LIMIT
        if not emit(run, stack, leaves, f):
            return FULL
        enter_block(prog, run, stack, roots, f)
        at = run.state[N_PIECES] - 1
        for k in range(2):
            leaves.map[at, k, leaves.map.shape[2] - 1] = np.inf if run.state[NO_FLOATS] else roots.norm[b, ERROR, k]
        run.counts[b] += 1
        run.state[TOP] = f - 1
        return OK
    enter_block(prog, run, stack, roots, f)
    if run.state[NO_FLOATS] or stack.state[f] >= 0:
        n = recall(prog, stack, events, memo, f)
        if n < 0:
            return EXACT
        run.state[N_EVENTS] = n
        return spread(prog, run, stack, roots, events, f)
    enter_scores(prog, stack, roots, events, f)
    status = find_events(prog, run, stack, roots, events, f, p, best)
    if status != OK:
        return status
    if not sort_events(prog, run, stack, events, f):
        return EXACT
    run.state[N_FLOATS] += prog.blocks[b, N_CHOOSE]
    for q in range(run.state[N_EVENTS] + 1):
        events.child[q] = -1
        events.part[q] = -1
    return spread(prog, run, stack, roots, events, f)


@njit
def subdivide(prog, run, stack, roots, events, memo, leaves, p, best):
    """Run until the stack is empty (OK) or something is needed (any other status)."""
    while run.state[TOP] >= 0:
        status = step(prog, run, stack, roots, events, memo, leaves, p, best)
        if status != OK:
            return status
    return OK
