"""What every engine of affine scores does with blocks and units, in any dimension n, beside the geometry of its pieces.

A *frame* of an engine's stack is a piece; ``info`` (F, 4 + U) holds its size, block, state and open units (its conflict
list), ``map`` (F, n + 1, N) the map that the decided units have built so far for the next block (slopes, then the
constant), ``pattern`` (F, n_columns) its choices.  A frame is a ROOT when a block has just been decided and the next is
to be entered, OPEN while units of its block are open, DEAD when its children have replaced it.

A sign that floats cannot tell and that the table of verdicts does not know is written to ``request``; the caller
settles it exactly, stores the verdict and calls again.  Keys of verdicts are made from the identities of the lines or
hyperplanes that meet there, so they are the same after re-entry.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from regioncount.kernels import contracted, inlined, njit, spliced
from regioncount.kernels.predicates import (
    AFFINE_UNIT,
    B_AT,
    CAND_LO,
    COL_HI,
    COL_LO,
    COLS,
    COLUMN,
    FIRST,
    FIRST_COLUMN,
    FIRST_VALUE,
    GAIN,
    KEY,
    KIND,
    N_CANDIDATES,
    N_CHOOSE,
    N_PRE,
    N_SETS,
    N_VALUES,
    ORDER_AT,
    OUT,
    PASS,
    QUERY,
    REPEAT,
    ROUNDING,
    ROWS,
    SET,
    UNDECIDED,
    UNIT_HI,
    UNIT_LO,
    VALUE,
    W_AT,
    WIDTH,
    lookup,
    mix,
    norm_above,
    product_error,
    row_error,
    stage_errors,
)  # fmt: skip

ROOT, OPEN, DEAD = range(3)
# columns of Stack.info, of Run.state
CORNERS, BLOCK, N_OPEN, STATE, N_INFO = range(5)
(
    TOP,
    NEXT_BORDER,
    NEXT_ROOT,
    N_REQUESTS,
    N_PIECES,
    N_CORNERS,
    FIRST_BLOCK,
    LAST_BLOCK,
    EMIT,
    MAX_PIECES,
    N_VERDICTS,
    NO_FLOATS,
    N_FLOATS,
    FINGERPRINTS,
    N_PRINTS,
) = range(15)
# kinds of request: sign of a line at a corner, whether two candidates are one map, whether score differences are affine
AT_CORNER, SAME_MAP, AFFINE = range(3)
ERROR, NORMS, STATE_ERROR, STATE_NORM = range(4)  # rows of Roots.norm
SIGN, ALIVE, MADE, DECIDED = range(4)  # rows of Run.scratch


class Roots(NamedTuple):
    """For each block the root being subdivided: map (B, n + 2, N) and scores (B, n + 2, C), the last row the error of a
    value anywhere on the domain; norm (B, 4, n + 1): error, norm, error and norm of the state before; uid (B,).
    """

    map: np.ndarray
    score: np.ndarray
    norm: np.ndarray
    uid: np.ndarray


class Run(NamedTuple):
    """Counters, the table of verdicts, requests, scratch space; fingerprints (P, 3): block and 126 bits of the visible
    pattern up to it; which columns are ``visible`` (n_columns,).
    """

    state: np.ndarray
    counts: np.ndarray
    table: np.ndarray
    request: np.ndarray
    range: np.ndarray
    scratch: np.ndarray
    line: np.ndarray
    cut_tag: np.ndarray
    at: np.ndarray
    factor: np.ndarray
    prints: np.ndarray = np.zeros((0, 3), dtype=np.int64)
    visible: np.ndarray = np.zeros(0, dtype=np.uint8)


@inlined
def line_key(root, unit, i, j):
    """Identity of the line on which candidates i and j (or a BIT unit, i = j = 0) tie in the block root ``root``."""
    if i > j:
        i, j = j, i
    return mix(mix(root, unit), mix(i, j))


@njit
def put_request(run, f, what, b, unit, i, j, key_a, key_b):
    """Record a question about two candidates of a unit on frame f; −1 where it no longer fits: it is asked again on
    re-entry.
    """
    n = run.state[N_REQUESTS]
    if n >= run.request.shape[0]:
        return -1
    run.request[n, 0] = f
    run.request[n, 1] = what
    run.request[n, 2] = b
    run.request[n, 3] = unit
    run.request[n, 4] = i
    run.request[n, 5] = j
    run.request[n, 14] = key_a
    run.request[n, 15] = key_b
    run.state[N_REQUESTS] = n + 1
    return n


@inlined
def add_value(prog, run, stack, roots, f, b, coordinate, value, factor):
    """Add factor * pre[value] of block b, as a coordinate of the next state, to the next map of frame f."""
    rows = prog.blocks[b + 1, ROWS]
    cols = prog.blocks[b + 1, COLS]
    at = prog.blocks[b + 1, W_AT] + (coordinate % cols) * rows
    to = (coordinate // cols) * rows
    h = run.factor[4]
    for k in range(h.shape[0]):
        h[k] = roots.map[b, k, value] * factor
    add_one(stack.map[f], to, h, prog.weight, at, rows)


@contracted
def add_one(m, to, h, weight, at, rows):
    """Add h[k] times a column of W to each row k of a map."""
    w = weight[at : at + rows]
    for k in range(m.shape[0]):
        target = m[k, to : to + rows]
        factor = h[k]
        for r in range(rows):
            target[r] += factor * w[r]


@contracted
def add_four(m, to, h, weight, at, rows):
    """:func:`add_one` for four columns of W at ``at`` (4,) with factors h (4, n + 1): one pass over the map instead of
    four.
    """
    wa = weight[at[0] : at[0] + rows]
    wb = weight[at[1] : at[1] + rows]
    wc = weight[at[2] : at[2] + rows]
    wd = weight[at[3] : at[3] + rows]
    for k in range(m.shape[0]):
        target = m[k, to : to + rows]
        ha, hb, hc, hd = h[0, k], h[1, k], h[2, k], h[3, k]
        for r in range(rows):
            target[r] += (ha * wa[r] + hb * wb[r]) + (hc * wc[r] + hd * wd[r])


@inlined
def set_bit(prog, run, stack, roots, f, unit, on):
    """Fix a BIT unit of frame f."""
    b = stack.info[f, BLOCK]
    stack.pattern[f, prog.units[unit, FIRST_COLUMN]] = on
    if b < run.state[LAST_BLOCK]:
        factor = 1.0 if on else prog.slope[unit]
        if factor != 0.0:
            add_value(prog, run, stack, roots, f, b, prog.units[unit, OUT], prog.units[unit, FIRST_VALUE], factor)


@inlined
def add_bits(prog, run, stack, roots, f, b, n):
    """Add the values of the first n BIT units of run.scratch[DECIDED] to the next map of frame f, four at a time
    where they can.
    """
    rows = prog.blocks[b + 1, ROWS]
    cols = prog.blocks[b + 1, COLS]
    base = prog.blocks[b + 1, W_AT]
    m = roots.map[b]
    units = run.scratch[DECIDED]
    i = 0
    while i < n:
        token = prog.units[units[i], OUT] // cols
        k = 0
        while k < 4 and i + k < n and prog.units[units[i + k], OUT] // cols == token:
            unit = units[i + k]
            value = prog.units[unit, FIRST_VALUE]
            factor = 1.0 if stack.pattern[f, prog.units[unit, FIRST_COLUMN]] else prog.slope[unit]
            run.at[k] = base + (prog.units[unit, OUT] - token * cols) * rows
            for d in range(stack.map.shape[1]):
                run.factor[k, d] = factor * m[d, value]
            k += 1
        if k == 4:
            add_four(stack.map[f], token * rows, run.factor, prog.weight, run.at, rows)
        else:
            for q in range(k):
                add_one(stack.map[f], token * rows, run.factor[q], prog.weight, run.at[q], rows)
        i += k


@njit
def set_winner(prog, run, stack, roots, f, unit, winner):
    """Fix a SET unit of frame f: ``winner`` and every candidate known to be the same map."""
    b = stack.info[f, BLOCK]
    first = prog.units[unit, FIRST]
    tied = 0
    for i in range(prog.units[unit, N_CANDIDATES]):
        won = i == winner or same_map(run, roots, b, unit, winner, i) == 1
        stack.pattern[f, prog.candidates[first + i, COLUMN]] = won
        tied += won
    if b < run.state[LAST_BLOCK]:
        for i in range(prog.units[unit, N_CANDIDATES]):
            if stack.pattern[f, prog.candidates[first + i, COLUMN]]:
                for k in range(prog.units[unit, N_VALUES]):
                    add_value(
                        prog,
                        run,
                        stack,
                        roots,
                        f,
                        b,
                        prog.units[unit, OUT] + k,
                        prog.candidates[first + i, VALUE] + k,
                        1.0 / tied,
                    )


@njit
def same_map(run, roots, b, unit, i, j):
    """Verdict on whether candidates i and j of a unit have the same score map in the current root of block b."""
    return lookup(run.table, SAME_MAP, line_key(roots.uid[b], unit, i, j))


@njit
def product_score(prog, roots, b, c):
    """The affine part and the error of the score of candidate c, a product, in the root of block b."""
    q = prog.candidates[c, QUERY]
    k = prog.candidates[c, KEY]
    at = c - prog.blocks[b, CAND_LO]
    m = roots.map[b]
    last = roots.norm.shape[2] - 1
    score = roots.score[b]
    for d in range(last + 1):
        score[d, at] = 0.0
    for t in range(prog.candidates[c, WIDTH]):
        for d in range(last):
            score[d, at] += m[d, q + t] * m[last, k + t] + m[last, q + t] * m[d, k + t]
        score[last, at] += m[last, q + t] * m[last, k + t]
    e = norm_q = norm_k = 0.0
    for d in range(last + 1):
        e += roots.norm[b, ERROR, d]
        square_q = square_k = 0.0
        for t in range(prog.candidates[c, WIDTH]):
            square_q += m[d, q + t] * m[d, q + t]
            square_k += m[d, k + t] * m[d, k + t]
        norm_q += np.sqrt(square_q)
        norm_k += np.sqrt(square_k)
    score[last + 1, at] = product_error(e, norm_q, norm_k, prog.candidates[c, WIDTH])


@njit
def enter_scores(prog, run, stack, roots, f, b):
    """Scores of the SET units of block b in its root; False if one is quadratic, or that had to be asked."""
    known = True
    for unit in range(prog.blocks[b, UNIT_LO], prog.blocks[b, UNIT_HI]):
        if prog.units[unit, KIND] != SET:
            continue
        first = prog.units[unit, FIRST]
        at = first - prog.blocks[b, CAND_LO]
        for i in range(prog.units[unit, N_CANDIDATES]):
            if prog.candidates[first + i, WIDTH] > 0:
                product_score(prog, roots, b, first + i)
            else:
                k = prog.candidates[first + i, KEY]
                for d in range(roots.score.shape[1]):
                    roots.score[b, d, at + i] = roots.map[b, d, k]
        if prog.candidates[first, WIDTH] > 0 and not prog.units[unit, AFFINE_UNIT]:
            key = line_key(roots.uid[b], unit, 0, 0)
            verdict = lookup(run.table, AFFINE, key)
            if verdict != 1:
                known = False
                if verdict == UNDECIDED:
                    put_request(run, f, AFFINE, b, unit, 0, 0, AFFINE, key)
    return known


@inlined
def enter_map(prog, run, stack, roots, f):
    """Copy the map of frame f, a ROOT, to the root of its block, once, and bound its errors."""
    b = stack.info[f, BLOCK]
    row = prog.blocks[b]
    n = row[N_PRE]
    m = roots.map[b]
    if roots.uid[b] == 0:
        roots.uid[b] = run.state[NEXT_ROOT]
        run.state[NEXT_ROOT] += 1
        last = stack.map.shape[1]
        for k in range(last):
            for i in range(n):
                m[k, i] = stack.map[f, k, i]
        state_error = roots.norm[b, STATE_ERROR]
        state_norm = roots.norm[b, STATE_NORM]
        if b > run.state[FIRST_BLOCK]:
            bound = prog.bound[b - 1]
            for k in range(last):
                state_error[k] = bound[GAIN] * (
                    roots.norm[b - 1, ERROR, k] + bound[ROUNDING] * roots.norm[b - 1, NORMS, k]
                )
                state_norm[k] = bound[GAIN] * roots.norm[b - 1, NORMS, k]
            tau = stage_errors(prog.bound[b], row[COLS], state_error, state_norm, roots.norm[b, ERROR])
            if run.state[NO_FLOATS]:
                tau = np.inf  # nothing is known of any value, so exact arithmetic decides everything
                roots.norm[b, ERROR, 0] = np.inf
            error = m[last]
            for t in range(row[REPEAT]):
                part = error[t * row[ROWS] : (t + 1) * row[ROWS]]
                norm = prog.norm[row[B_AT] : row[B_AT] + row[ROWS]]
                bias = prog.bias[row[B_AT] : row[B_AT] + row[ROWS]]
                for r in range(row[ROWS]):
                    part[r] = row_error(norm[r], tau, bias[r])
        if b < run.state[LAST_BLOCK] or run.state[EMIT]:
            for k in range(last):
                roots.norm[b, NORMS, k] = norm_above(m[k], n)


@inlined
def start_next(prog, run, stack, roots, f):
    """Begin the next map of frame f: the bias, and what passes on without a choice."""
    b = stack.info[f, BLOCK]
    row = prog.blocks[b]
    if b < run.state[LAST_BLOCK]:
        rows = prog.blocks[b + 1, ROWS]
        at = prog.blocks[b + 1, B_AT]
        constant = stack.map.shape[1] - 1
        for t in range(prog.blocks[b + 1, REPEAT]):
            for r in range(rows):
                for k in range(constant):
                    stack.map[f, k, t * rows + r] = 0.0
                stack.map[f, constant, t * rows + r] = prog.bias[at + r]
        if row[N_CHOOSE] < row[UNIT_HI] - row[UNIT_LO]:
            for unit in range(row[UNIT_LO], row[UNIT_HI]):
                if prog.units[unit, KIND] == PASS:
                    add_value(prog, run, stack, roots, f, b, prog.units[unit, OUT], prog.units[unit, FIRST_VALUE], 1.0)


@spliced
def enter_block(prog, run, stack, roots, f):
    """Make frame f, a ROOT, the root of its block and open the block's units; False if something had to be asked."""
    b = stack.info[f, BLOCK]
    enter_map(prog, run, stack, roots, f)
    if prog.blocks[b, N_SETS] > 0 and not enter_scores(prog, run, stack, roots, f, b):
        return False
    start_next(prog, run, stack, roots, f)
    return True


@inlined
def open_bits(prog, run, stack, f, b):
    """The first look at a frame that enters a block of BIT units alone, unit i on coordinate i: decides by
    run.range[2].

    Lists the units that stay open; returns how many decided ones pass something on (in run.scratch[DECIDED]).
    """
    row = prog.blocks[b]
    n = row[N_CHOOSE]
    code = run.range[2]
    pattern = stack.pattern[f, row[COL_LO] : row[COL_LO] + n]
    for i in range(n):
        pattern[i] = code[i] == 1.0
    order = prog.order[row[ORDER_AT] : row[ORDER_AT] + n]
    first = row[UNIT_LO]
    decided = run.scratch[DECIDED]
    listed = stack.info[f]
    kept = 0
    passed = 0
    for at in range(n):
        unit = order[at]
        c = code[unit - first]
        if c > 1.0:
            listed[N_INFO + kept] = unit
            kept += 1
        elif c == 1.0 or prog.slope[unit] != 0.0:
            decided[passed] = unit
            passed += 1
    stack.info[f, N_OPEN] = kept
    return passed


@njit
def fingerprint(prog, run, stack, f, b):
    """Append two 63-bit hashes of the visible pattern of frame f up to block b; False if they are full."""
    low = prog.blocks[b, COL_LO]
    high = prog.blocks[b, COL_HI]
    if low == high or not run.visible[low]:
        return True  # no choice, or a hidden one
    n = run.state[N_PRINTS]
    if n >= run.prints.shape[0]:
        return False
    x = np.int64(0x1234567)
    y = np.int64(0x89ABCDE)
    word = np.int64(0)
    bits = 0
    for c in range(high):
        if run.visible[c]:
            word = (word << 1) | np.int64(stack.pattern[f, c])
            bits += 1
            if bits == 48:
                x = mix(x, word)
                y = mix(y, word ^ 0x5A5A5A5A5A5A)
                word = np.int64(0)
                bits = 0
    run.prints[n, 0] = b
    run.prints[n, 1] = mix(x, word)
    run.prints[n, 2] = mix(y, word ^ 0x5A5A5A5A5A5A)
    run.state[N_PRINTS] = n + 1
    return True


@inlined
def copy_frame(prog, stack, f, to, last):
    """Copy frame f without its corners."""
    for d in range(N_INFO):
        stack.info[to, d] = stack.info[f, d]
    for i in range(stack.info[f, N_OPEN]):
        stack.info[to, N_INFO + i] = stack.info[f, N_INFO + i]
    for i in range(stack.pattern.shape[1]):
        stack.pattern[to, i] = stack.pattern[f, i]
    b = stack.info[f, BLOCK]
    if b < last:
        for k in range(stack.map.shape[1]):
            for i in range(prog.blocks[b + 1, N_PRE]):
                stack.map[to, k, i] = stack.map[f, k, i]
