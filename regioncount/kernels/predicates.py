"""Every sign decision and every tolerance of the compiled engines.

A decision answers −1, 0, 1 or UNDECIDED.  Floats only answer −1 or 1, and only where a bound on their own error says
so; zeros, and what floats cannot tell, come from exact arithmetic through a table of verdicts (``lookup``,
``store``).

Bounds (u = 2^−53; γ_n = nu/(1−nu); engine coordinates, |ξ| ≤ 1).  For row k (slopes, constant) of a block's map write
e_k for a bound on the 2-norm of its error over all coordinates.  Selection lengthens e_k at most by the block's
``gain``; an affine stage gives, for its row i, |error| ≤ ‖W_i‖ (e_k + γ ‖h_k‖) with γ = γ_{cols+5} (Higham, Accuracy
and Stability of Numerical Algorithms, 2nd ed., §3.5: any order of summation; two more roundings for weights that are
rounded rationals), and as a whole σ(W) e_k + γ ‖W‖_F ‖h_k‖.  A vertex carries a radius: the crossing of lines L1, L2
(unit normals, value errors k1, k2) lies within (|L1(v)| + k1 + |L2(v)| + k2) / |sin of their angle| of the computed v
(Cramer's rule).  On the whole plane vertices are homogeneous, (x, y, w) of max-norm 1, w = 0 at infinity, and lines
are vectors of R³ (docs/numerics.md §4): the same bound, with their angle in R³, is that of v from a positive multiple
of the true crossing.  Bounds hold since |x|, |y|, |w| ≤ 1; at infinity a float tells the leading coefficient's sign.
"""

from __future__ import annotations

import numpy as np

from regioncount.kernels import contracted, inlined, njit

UNDECIDED = 2
# arguments: numba compiles a function anew for every literal integer that it is called with, but not for these
ZERO, ONE, NONE = np.int64(0), np.int64(1), np.int64(-1)
U = 2.0**-53
TINY = 1e-300  # absorbs what underflow loses
HUGE = 1e300  # beyond it nothing is decided in floats

# columns of Program.blocks
(
    REPEAT,
    ROWS,
    COLS,
    W_AT,
    B_AT,
    N_PRE,
    N_OUT,
    UNIT_LO,
    UNIT_HI,
    COL_LO,
    COL_HI,
    ORDER_AT,
    N_CHOOSE,
    CAND_LO,
    CAND_HI,
    N_SETS,
    PLAIN,
) = range(17)
# columns of Program.bound
SPECTRAL, FROBENIUS, BIAS_NORM, GAIN, ROUNDING = range(5)
# columns of Program.units, Program.candidates
KIND, OUT, N_VALUES, FIRST, N_CANDIDATES, AFFINE_UNIT, FIRST_VALUE, FIRST_COLUMN = range(
    8
)  # the last two: of candidate 0
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


@inlined
def norm_above(values, n):
    """An upper bound of the 2-norm of the first n values."""
    return np.sqrt(sum_of_squares(values, n)) * (1.0 + (n + 3) * U)


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
def row_error(norm, tau, bias):
    """Bound on the error of a row of an affine stage anywhere on the domain, τ from :func:`stage_errors`."""
    return norm * tau + 4.0 * U * abs(bias)


@inlined
def product_error(e, norm_q, norm_k, width):
    """Bound on the error of the product of two vectors of ``width`` coordinates, known up to e, anywhere on the
    domain.
    """
    return 1.1 * (e * (norm_q + norm_k + e) + (width + 8) * U * norm_q * norm_k) + TINY


@inlined
def value_bound(a, b, c, error, radius):
    """Bound on the error of ax + by + cw, whose coefficients are known up to ``error``, at a point (x, y, w) known up
    to ``radius`` in each coordinate (w is 1 on bounded domains).
    """
    return 2.0 * error + (abs(a) + abs(b) + abs(c)) * (4.0 * U + radius) + TINY


@inlined
def line_error(a, b, c, error, size):
    """The k of a line that is scaled by 1/size to a unit normal: bound on the error of its value anywhere on the
    domain.
    """
    if not (size > 1e-140 and size < 1e140):
        return np.inf
    return 1.01 * (2.0 * error + 8.0 * U * (abs(a) + abs(b) + abs(c))) / size + TINY


@inlined
def determinant_bound(z0, w0, z1, w1, e0, d0, e1, d1):
    """Bound on the error of z0 w1 - z1 w0, each z known up to its e, each w up to its d."""
    bound = abs(z0) * d1 + abs(w1) * e0 + e0 * d1 + abs(z1) * d0 + abs(w0) * e1 + e1 * d0
    return 1.01 * bound + 4.0 * U * (abs(z0 * w1) + abs(z1 * w0)) + TINY


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


@njit
def homogeneous_radius(l1, l2, x, y, w):
    """Distance bound from (x, y, w), of max-norm 1, to a positive multiple of the true crossing of two lines: see the
    module header.
    """
    s1 = np.sqrt(l1[0] * l1[0] + l1[1] * l1[1] + l1[2] * l1[2])
    s2 = np.sqrt(l2[0] * l2[0] + l2[1] * l2[1] + l2[2] * l2[2])
    k1 = l1[3] / s1
    k2 = l2[3] / s2
    nx = l1[1] * l2[2] - l1[2] * l2[1]
    ny = l1[2] * l2[0] - l1[0] * l2[2]
    nw = l1[0] * l2[1] - l1[1] * l2[0]
    sine = np.sqrt(nx * nx + ny * ny + nw * nw) / (s1 * s2) - 2.0 * (k1 + k2) - 16.0 * U
    if not (sine > 0.0 and k1 < 0.004 and k2 < 0.004):
        return np.inf
    r1 = abs(l1[0] * x + l1[1] * y + l1[2] * w) / s1 + k1
    r2 = abs(l2[0] * x + l2[1] * y + l2[2] * w) / s2 + k2
    r = 1.02 * (r1 + r2 + 32.0 * U) / sine
    if r < 1.0:
        return r
    return np.inf


@njit
def homogeneous_crossing(p, q, l1, l2):
    """Where the line l2 crosses the edge on l1 from p to q, corners (x, y, w): (x, y, w, radius), of max-norm 1.

    A point between p and q, or, where that would lose digits or is not known, the cross product of the lines.  On a
    side at infinity, l1 = (0, 0, 1), w is 0; elsewhere w > 0 for certain or the radius infinite.
    """
    far = l1[0] == 0.0 and l1[1] == 0.0
    z0 = l2[0] * p[0] + l2[1] * p[1] + l2[2] * p[2]
    z1 = l2[0] * q[0] + l2[1] * q[1] + l2[2] * q[2]
    size = 0.0
    x = y = w = 0.0
    if far or (z0 * z1 < 0.0 and (p[2] > 0.0 or q[2] > 0.0)):
        part = 0.0 if abs(z0) <= abs(z1) else 1.0
        if z0 * z1 < 0.0:
            part = z0 / (z0 - z1)
        x = p[0] + part * (q[0] - p[0])
        y = p[1] + part * (q[1] - p[1])
        w = 0.0 if far else p[2] + part * (q[2] - p[2])
        size = max(abs(x), abs(y), w)
    if not far and not size > 0.25:
        x = l1[1] * l2[2] - l1[2] * l2[1]
        y = l1[2] * l2[0] - l1[0] * l2[2]
        w = l1[0] * l2[1] - l1[1] * l2[0]
        if w < 0.0:
            x, y, w = -x, -y, -w
        size = max(abs(x), abs(y), w)
    if not (size > 1e-140 and size < 1e140):
        return p[0], p[1], (0.0 if far else 1.0), np.inf
    x, y, w = x / size, y / size, w / size
    if w == 1.0:
        return x, y, w, crossing_radius(l1, l2, x, y)
    r = homogeneous_radius(l1, l2, x, y, w)
    if far:
        return x, y, 0.0, r
    if not w > 1.01 * r:
        return x, y, max(w, TINY), np.inf
    return x, y, w, r


# --------------------------------------------------------------------------------- polytopes of Rⁿ (kernels.polytope)
# A vertex is a homogeneous vector (x, w), no coordinate greater than 1; its radius bounds the 2-norm of its difference
# from a positive multiple of the true one.  So a hyperplane's value there is known up to its noise, below, plus its
# norm times the radius.  docs/numerics.md §9 has the proofs.


@inlined
def norm_bound(squares):
    """An upper bound of the 2-norm of coefficients from the sum of their squares, lost to underflow or not."""
    return 1.001 * np.sqrt(squares) + 1e-150


@inlined
def space_noise(norm, error, terms):
    """Bound on the error of a·x + cw, a sum of ``terms`` products, at a vertex without a radius: ``norm`` is that of
    the coefficients, ``error`` bounds the sum of their errors.
    """
    return 2.02 * error + 1.01 * (terms + 4) * np.sqrt(terms) * U * norm + TINY


@inlined
def hyperplane_error(error, scale, terms):
    """Bound on the sum of the errors of the ``terms`` coefficients of a hyperplane, each a difference of two, that is
    divided by ``scale``, the greatest |coefficient|.
    """
    if not (scale > 1e-140 and scale < 1e140):
        return np.inf
    return 1.01 * error / scale + 4.0 * terms * U


@inlined
def mixture_radius(ra, rb, part, reach, bound_a, bound_b, gap, terms):
    """Radius of the vertex a + part·(b − a), of ``terms`` coordinates, where a hyperplane crosses an edge ``gap`` long.

    |values| of the hyperplane at a and b, known up to ``bound_a`` and ``bound_b``, add up to ``reach``; ``part`` is the
    first one's.  The true part differs by at most ((1 − part) bound_a + part bound_b) / (reach − bound_a − bound_b),
    and moves the vertex along the edge.  (The factor 1.001 pays for the rounding of that difference.)
    """
    rest = reach - 1.001 * (bound_a + bound_b)
    if not rest > 0.0:
        return np.inf
    shift = ((1.0 - part) * bound_a + part * bound_b) / rest + 4.0 * U
    r = 1.01 * ((1.0 - part) * ra + part * rb + shift * (gap + ra + rb)) + 6.0 * np.sqrt(terms) * U
    if r < 0.1:
        return r
    return np.inf


@inlined
def scaled_radius(radius, size, terms):
    """Radius of a vertex of ``terms`` coordinates that is divided by ``size``, the greatest of them."""
    r = 1.01 * radius / size + 2.0 * np.sqrt(terms) * U
    if r < 0.5:
        return r
    return np.inf


@inlined
def solution_radius(off, defect, reach, terms):
    """Radius of the solution of a linear system, greatest coordinate ``reach``, once divided by it, with residuals
    ``off`` through the approximate inverse C and ‖I − C M‖ ≤ ``defect`` for the matrix M as floats have it; infinity if
    unproven.

    Residuals contain ``reach`` times the error of each row, so off / reach bounds what these errors add to the defect.
    """
    shift = 1.01 * off / reach
    if not defect + shift < 0.5:
        return np.inf
    return 1.01 * shift / (1.0 - 1.01 * (defect + shift)) + 4.0 * terms * U


@inlined
def mean_radius(total, count, terms):
    """Radius of the mean of ``count`` vertices of ``terms`` coordinates whose radii add up to ``total``."""
    return 1.01 * (total / count + (count + 2) * np.sqrt(terms) * U)


@inlined
def quotient_range(x, w, radius):
    """An interval around x / w where both are known up to ``radius``; infinite where w may be 0."""
    if not w > 2.0 * radius:
        return -np.inf, np.inf
    r = 1.01 * radius * (1.0 + abs(x / w)) / (w - radius) + 4.0 * U * abs(x / w)
    return x / w - r, x / w + r


@inlined
def apart(r0, r1):
    """How far apart two corners with these radii must be along a border so that their order is certain."""
    return r0 + r1 + 64.0 * U


@inlined
def place_radius(r0, r1):
    """Radius of a point that divides the segment between two points with these radii in a known ratio."""
    return max(r0, r1) + 8.0 * U


@inlined
def use_error(p):
    """Rounding of differences and values of a polynomial (d0, d1, d2, …) at |x| ≤ 1."""
    return 8.0 * U * (abs(p[0]) + abs(p[1]) + abs(p[2])) + TINY


@inlined
def sign_between(p, x, r):
    """Sign of the polynomial (d0, d1, d2, error) everywhere within r of x, |x| ≤ 1, or UNDECIDED."""
    slope = abs(p[1]) + 2.0 * abs(p[2])
    value = p[0] + x * (p[1] + x * p[2])
    return decide(value, 1.01 * (p[3] + 4.0 * U * (abs(p[0]) + slope) + slope * r * (1.0 + r)))


@njit
def falling_root(p, low, high):
    """The root in (low, high) of p, positive at low and negative at high with one sign change: (x, r); r = inf if
    unproven.
    """
    d0, d1, d2 = p[0], p[1], p[2]
    x = 2.0
    if abs(d2) > 0.0:
        disc = d1 * d1 - 4.0 * d2 * d0
        if disc > 0.0:
            q = -0.5 * (d1 + np.copysign(np.sqrt(disc), d1))
            x = q / d2
            if not (low <= x <= high) and q != 0.0:
                x = d0 / q
    elif d1 != 0.0:
        x = -d0 / d1
    if not (low <= x <= high):
        a, b = low, high
        for _ in range(80):
            x = 0.5 * (a + b)
            if d0 + x * (d1 + x * d2) > 0.0:
                a = x
            else:
                b = x
    slope = abs(d1 + 2.0 * d2 * x)
    value = abs(d0 + x * (d1 + x * d2))
    r = 2.0 * (value + 1.1 * p[3] + 8.0 * U * (abs(d0) + abs(d1) + abs(d2))) / slope + 4.0 * U
    if r < 1e-3 and sign_between(p, x - r, 0.0) == 1 and sign_between(p, x + r, 0.0) == -1:
        return x, r
    return x, np.inf


@njit
def falls(p, x0, r0, x1, r1, from_root):
    """Whether p, positive just right of x0, becomes negative before x1: 0 no, 1 yes, UNDECIDED.

    ``from_root``: x0 is a root of p itself, where it rises.  Returns also a bracket of the sign change.
    """
    d1, d2 = p[1], p[2]
    error = 1.1 * p[3] + 4.0 * U * (abs(d1) + 2.0 * abs(d2))
    low = d1 + 2.0 * d2 * x0
    high = d1 + 2.0 * d2 * x1
    slack = 2.0 * error + 2.0 * (abs(d2) + error) * max(r0, r1)
    monotone = min(abs(low), abs(high)) > slack and (low > 0.0) == (high > 0.0)
    if from_root:
        if monotone:
            return 0, x0, x1
        if d2 < -2.0 * error:  # rises, turns, and may come down again
            s = sign_between(p, x1, r1)
            peak = -d1 / (2.0 * d2)
            if s == 1:
                return 0, x0, x1
            if s == -1 and x0 < peak < x1 and sign_between(p, peak, 0.0) == 1:
                return 1, peak, x1
        return UNDECIDED, x0, x1
    if sign_between(p, x0, r0) != 1:
        return UNDECIDED, x0, x1
    s = sign_between(p, x1, r1)
    if monotone or d2 < -2.0 * error:
        if s == UNDECIDED:
            return UNDECIDED, x0, x1
        return (1 if s == -1 else 0), x0, x1
    if d2 > 2.0 * error:
        if s == -1:
            return 1, x0, x1
        bottom = -d1 / (2.0 * d2)
        t = sign_between(p, min(max(bottom, x0), x1), 0.0)
        if t == -1:
            return 1, x0, min(max(bottom, x0), x1)
        depth = p[0] - d1 * d1 / (
            4.0 * d2
        )  # the least value; its derivatives by the coefficients are 1, d1/2d2, (d1/2d2)²
        if decide(depth, 4.0 * p[3] * (1.0 + abs(d1 / d2)) ** 2 + 16.0 * U * (abs(p[0]) + d1 * d1 / abs(d2))) == 1:
            return 0, x0, x1
    return UNDECIDED, x0, x1


# ------------------------------------------------------------------------------- curves of degree 2 (kernels.conic)
# A curve is c0 + c1 x + c2 y + c3 xx + c4 xy + c5 yy; its entry 6 bounds the *sum* of the errors of its coefficients,
# and so the error of its value where |x|, |y| <= 1.  A polynomial in x carries such a bound in its entry 5.


@inlined
def branch_radius(p, y, direction):
    """Radius of a root y of p (d0, d1, d2, error), |y| <= 1, where p changes sign in a direction; inf if unproven."""
    slope = abs(p[1] + 2.0 * p[2] * y)
    value = abs(p[0] + y * (p[1] + y * p[2]))
    r = 2.0 * (value + 1.1 * p[3] + 8.0 * U * (abs(p[0]) + abs(p[1]) + abs(p[2]))) / slope + 4.0 * U
    if r < 1e-2 and sign_between(p, y - r, 0.0) == -direction and sign_between(p, y + r, 0.0) == direction:
        return r
    return np.inf


@inlined
def corner_radius(g, x, r, y):
    """How far a root in y of the curve g at a place within r of x may be from y, a computed root, |x|, |y| <= 1.

    There g(x, y + d) = g(x, y) + g_y d + g_yy d²/2 is at most ``off``; where g_y is small the two roots are close.
    """
    size = abs(g[0]) + abs(g[1]) + abs(g[2]) + abs(g[3]) + abs(g[4]) + abs(g[5])
    value = g[0] + x * (g[1] + x * g[3] + y * g[4]) + y * (g[2] + y * g[5])
    gy = abs(g[2] + x * g[4] + 2.0 * y * g[5])
    off = abs(value) + 1.1 * g[6] + 16.0 * U * size + 4.0 * size * r
    if 8.0 * abs(g[5]) * off < gy * gy:
        return 4.0 * off / gy + 4.0 * U
    return 4.0 * np.sqrt(off / abs(g[5])) + 4.0 * gy / abs(g[5]) + 4.0 * U


@inlined
def root_radius(p, degree, x, slope, error):
    """Radius of a root x of p where its derivative is at least ``slope``; ``error`` bounds that of p's value, rounding
    included.

    Near x the derivative differs from its value there by at most the radius times a bound on the second one.
    """
    value = 0.0
    first = 0.0
    second = 0.0
    for k in range(degree, -1, -1):
        value = value * x + p[k]
        if k > 0:
            first = first * x + k * p[k]
        if k > 1:
            second += k * (k - 1) * abs(p[k])
    off = 1.01 * (abs(value) + error)
    if not slope > 0.0:
        return np.inf
    r = off / slope + 2.0 * U
    nearer = abs(first) - r * second - 4.0 * error
    if nearer > slope:
        r = off / nearer + 2.0 * U
    return r


@inlined
def disc_error(g):
    """Bound on the sum of the errors of the coefficients of B² − 4AC, the discriminant of a curve A yy + B y + C."""
    e = g[6]
    a, b, c = abs(g[5]), abs(g[2]) + abs(g[4]), abs(g[0]) + abs(g[1]) + abs(g[3])
    return 1.1 * (2.0 * b * e + 4.0 * (a + c) * e + 6.0 * e * e) + 16.0 * U * (b * b + 4.0 * a * c) + TINY


@inlined
def line_resultant_error(g, h):
    """The same for β² h(x, −(c0 + c1 x)/β), g the line c0 + c1 x + βy."""
    m, beta = abs(g[0]) + abs(g[1]), abs(g[2])
    a, b, c = abs(h[5]), abs(h[2]) + abs(h[4]), abs(h[0]) + abs(h[1]) + abs(h[3])
    d, e = g[6], h[6]
    change = e * (m * m + beta * m + beta * beta) + d * (2.0 * a * m + beta * b + m * b + 2.0 * beta * c)
    second = d * d * (a + b + c) + e * d * (4.0 * m + 4.0 * beta + 3.0 * d)
    return 1.1 * (change + second) + 24.0 * U * (a * m * m + beta * b * m + beta * beta * c) + TINY


@inlined
def resultant_error(g, h):
    """The same for (A C' − A' C)² − (A B' − A' B)(B C' − B' C), the resultant of two curves."""
    d, e = g[6], h[6]
    a, b, c = abs(g[5]), abs(g[2]) + abs(g[4]), abs(g[0]) + abs(g[1]) + abs(g[3])
    k, m, n = abs(h[5]), abs(h[2]) + abs(h[4]), abs(h[0]) + abs(h[1]) + abs(h[3])
    p, q, r = a * n + k * c, a * m + k * b, b * n + m * c
    dp = (a + c) * e + (k + n) * d + 2.0 * d * e + 4.0 * U * p
    dq = (a + b) * e + (k + m) * d + 2.0 * d * e + 4.0 * U * q
    dr = (b + c) * e + (m + n) * d + 2.0 * d * e + 8.0 * U * r
    return 1.1 * (2.0 * p * dp + dp * dp + q * dr + r * dq + dq * dr) + 16.0 * U * (p * p + q * r) + TINY


@inlined
def strip_bound(g, p, slope):
    """Error of the value of a curve at y = p + slope x, |x| <= 1, rounding included."""
    size = abs(g[0]) + abs(g[1]) + abs(g[2]) + abs(g[3]) + abs(g[4]) + abs(g[5])
    reach = 1.0 + abs(p) + abs(slope)
    return 1.1 * (g[6] + 48.0 * U * size) * reach * reach + TINY
