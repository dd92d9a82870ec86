"""Every sign decision and every tolerance of the compiled engines.

A decision answers −1, 0, 1 or UNDECIDED.  Floats only answer −1 or 1, and only where a bound on their own error says so;
zeros, and what floats cannot tell, come from exact arithmetic through a table of verdicts (``lookup``, ``store``).

Bounds (u = 2^−53; γ_n = nu/(1−nu); engine coordinates, |ξ| ≤ 1).  For row k (slopes, constant) of a block's map write e_k for a
bound on the 2-norm of its error over all coordinates.  Selection lengthens e_k at most by the block's ``gain``; an affine
stage gives, for its row i, |error| ≤ ‖W_i‖ (e_k + γ ‖h_k‖) with γ = γ_{cols+5} (Higham, Accuracy and Stability of Numerical
Algorithms, 2nd ed., §3.5: any order of summation; two more roundings for weights that are rounded rationals), and as a whole
σ(W) e_k + γ ‖W‖_F ‖h_k‖.  A vertex carries a radius: the crossing of lines L1, L2 (unit normals, value errors k1, k2) lies within
(|L1(v)| + k1 + |L2(v)| + k2) / |sin of their angle| of the computed v (Cramer's rule).
"""

from __future__ import annotations

import numpy as np

from regioncount.kernels import contracted, inlined, njit

UNDECIDED = 2
U = 2.0**-53
TINY = 1e-300  # absorbs what underflow loses
HUGE = 1e300  # beyond it nothing is decided in floats

# columns of Program.blocks
REPEAT, ROWS, COLS, W_AT, B_AT, N_PRE, N_OUT, UNIT_LO, UNIT_HI, COL_LO, COL_HI, ORDER_AT, N_CHOOSE, CAND_LO, CAND_HI, N_SETS, PLAIN = range(
    17
)
# columns of Program.bound
SPECTRAL, FROBENIUS, BIAS_NORM, GAIN, ROUNDING = range(5)
# columns of Program.units, Program.candidates
KIND, OUT, N_VALUES, FIRST, N_CANDIDATES, AFFINE_UNIT, FIRST_VALUE, FIRST_COLUMN = range(8)  # the last two: of candidate 0
VALUE, QUERY, KEY, WIDTH, COLUMN = range(5)
PASS, BIT, SET = 0, 1, 2


@inlined
def decide(value, bound):
    """Sign of a number known up to ``bound``; NaN and infinity stay undecided."""
    if value > bound and value < HUGE:
        return 1
    if value < -bound and value > -HUGE:
        return -1
    return UNDECIDED


@inlined
def mix(a, b):
    """A 63-bit hash of two non-negative integers, not symmetric (splitmix64's finaliser)."""
    z = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(b) + np.uint64(0x7F4A7C15F39CC060)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(1))


@njit
def lookup(table, a, b):
    """The stored verdict of the question (a, b), or UNDECIDED; rows of ``table``: a, b, verdict."""
    mask = table.shape[0] - 1
    at = mix(a, b) & mask
    while table[at, 2] != UNDECIDED:
        if table[at, 0] == a and table[at, 1] == b:
            return table[at, 2]
        at = (at + 1) & mask
    return np.int64(UNDECIDED)


@njit
def store(table, a, b, verdict):
    """Remember a verdict; returns 1 if it is new.  The caller keeps the table at most half full."""
    mask = table.shape[0] - 1
    at = mix(a, b) & mask
    while table[at, 2] != UNDECIDED:
        if table[at, 0] == a and table[at, 1] == b:
            table[at, 2] = verdict
            return 0
        at = (at + 1) & mask
    table[at, 0] = a
    table[at, 1] = b
    table[at, 2] = verdict
    return 1


@contracted
def sum_of_squares(values, n):
    """Σ v² over the first n values, in any order."""
    total = 0.0
    for i in range(n):
        total += values[i] * values[i]
    return total


@njit
def stage_errors(bound, cols, state_error, state_norm, stage_error):
    """Errors of an affine stage from those of its input: fills ``stage_error`` per row k, returns τ of its units.

    |error of unit i anywhere on the domain| ≤ ‖W_i‖ τ + 4u|b_i|.
    """
    gamma = 1.01 * (cols + 5) * U
    tau = 0.0
    last = state_error.shape[0] - 1
    for k in range(last + 1):
        tau += state_error[k] + gamma * state_norm[k]
        stage_error[k] = 1.01 * (bound[SPECTRAL] * state_error[k] + gamma * bound[FROBENIUS] * state_norm[k]) + TINY
    stage_error[last] += 4.0 * U * bound[BIAS_NORM]
    return 1.01 * tau + TINY


@inlined
def crossing_radius(l1, l2, x, y):
    """Distance bound from (x, y) to the true crossing of two lines given as (a, b, c, k): see the module header."""
    sine = abs(l1[0] * l2[1] - l1[1] * l2[0]) - 2.0 * (l1[3] + l2[3]) - 8.0 * U
    if not sine > 0.0:
        return np.inf
    r1 = abs(l1[0] * x + l1[1] * y + l1[2]) + l1[3]
    r2 = abs(l2[0] * x + l2[1] * y + l2[2]) + l2[3]
    r = 1.02 * (r1 + r2 + 16.0 * U) / sine
    if r < 1.0:
        return r
    return np.inf
