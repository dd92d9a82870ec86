"""Arcs of conics as rational quadratic Bezier curves: areas, polylines, boxes, which side of them a point is on.

An arc leads from P to R with the middle (X, Y, w), w >= 0:

    p(t) = ((1−t)² P + 2t(1−t) (X, Y) + t² R) / ((1−t)² + 2t(1−t) w + t²),   0 <= t <= 1,

an ellipse for w < 1, a parabola for w = 1, a hyperbola for w > 1; (X, Y) = w·C with the control point C, where the
tangents at P and R meet; for w = 0, half an ellipse, they are parallel.  Backwards it is the same arc with P and R
swapped, and everything here gives the same floats either way, areas with the other sign.

Let S = p(1/2) and M = (P + R) / 2.  As p(t) is a point of the chord plus (2t(1−t) / denominator) · ((X, Y) − wM), no
point of the arc is farther from the chord than S − M.  Halves of an arc, from P to S and on to R, are arcs again, with
weight √((1+w)/2), which tends to 1: so S − M falls by about 4 with each halving.

Reference: Lee, The rational Bezier representation for conics, in: Geometric Modeling (SIAM, 1987).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NEAR = 1 / 8  # |w − 1| below which areas come from a series
TERMS = 24


def areas(start: np.ndarray, middle: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Signed areas between chords and arcs, (n,): positive where the arc lies to the right of its chord.

    So an arc that its piece passes counter-clockwise adds this to the area inside the chords.

    Parameters
    ----------
    start, end : ndarray (n, 2)
    middle : ndarray (n, 3)
        Rows (X, Y, w).

    Notes
    -----
    With a = (X, Y) − wP and b = R − P it is a × b times ∫₀¹ t² / ((1−t)² + 2t(1−t) w + t²)² dt, which is
    (J − w) / (2 − 2w²) with J = arccos(w) / √(1−w²), or arcosh(w) / √(w²−1).  In x = (1−w)/2, J is the hypergeometric
    series F(1, 1; 3/2; x), from which 1 − w² cancels.

    Examples
    --------
    >>> half_disc = areas(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0, 0.0]]), np.array([[-1.0, 0.0]]))
    >>> bool(abs(half_disc[0] - np.pi / 2) < 1e-15)
    True
    """
    weight = middle[:, 2]
    centre = (start + end) / 2  # instead of P, which adds a multiple of b to a: backwards it is then the same number
    return cross(middle[:, :2] - weight[:, None] * centre, end - start) * _integral(weight)


def _integral(w: np.ndarray) -> np.ndarray:
    out = np.empty(len(w))
    near = np.abs(w - 1) < NEAR
    x = (1 - w[near]) / 2
    series, term = np.full(len(x), 2.0), np.full(len(x), 2 / 3)
    for n in range(1, TERMS):
        series += term
        term = term * x * ((n + 1) / (n + 1.5))
    out[near] = series / (8 * (1 - x))
    low, high = w[~near & (w < 1)], w[~near & (w > 1)]
    out[~near & (w < 1)] = (np.arccos(low) / np.sqrt(1 - low**2) - low) / (2 * (1 - low**2))
    root = np.sqrt(high - 1) * np.sqrt(high + 1)  # the square of a large weight may overflow
    out[~near & (w > 1)] = (high - np.arccosh(high) / root) / root / root / 2
    return out


def points(start: np.ndarray, middle: np.ndarray, end: np.ndarray, t: np.ndarray | float) -> np.ndarray:
    """Points (n, 2) of arcs at t, a number or (n,)."""
    s = np.broadcast_to(np.asarray(t, dtype=float), (len(start),))[:, None]
    a, b, c = (1 - s) ** 2, 2 * s * (1 - s), s**2
    return (a * start + b * middle[:, :2] + c * end) / (a + b * middle[:, 2:] + c)


def boxes(start: np.ndarray, middle: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest coordinates, two (n, 2), of boxes around arcs: those of the control points of both halves."""
    scale = 1 + middle[:, 2:]
    around = np.stack([start, end, (start + middle[:, :2]) / scale, (middle[:, :2] + end) / scale])
    return around.min(axis=0), around.max(axis=0)


def winding(point: np.ndarray, start: np.ndarray, middle: np.ndarray, end: np.ndarray, bent: np.ndarray) -> np.ndarray:
    """What each curve adds to the number of times that a closed walk goes around a point, (n,).

    Parameters
    ----------
    point, start, end : ndarray (n, 2)
        One point a curve; sums over a closed walk with one point are its winding number.
    middle : ndarray (n, 3)
    bent : ndarray of bool (n,)
        Which curves are arcs; the others are straight, whatever their middle.

    Notes
    -----
    An arc adds what its chord adds, and the closed walk along it and back along its chord: (x, y, 1) = α (P, 1) +
    β (X, Y, w) + γ (R, 1) lies between chord and arc where β, α, γ > 0 and β² < 4αγ.  Both ask on which side of the
    chord the point is, and must hear the same: on the chord, it is to the left of its upward sense.
    """
    up = (end[:, 1] > start[:, 1]) | ((end[:, 1] == start[:, 1]) & (end[:, 0] > start[:, 0]))
    below, above = np.where(up[:, None], start, end), np.where(up[:, None], end, start)
    side = cross(above - below, point - below)  # the same number for a curve and for its reverse
    left_of_up = side >= 0
    rises = (start[:, 1] <= point[:, 1]) & (end[:, 1] > point[:, 1]) & left_of_up
    falls = (start[:, 1] > point[:, 1]) & (end[:, 1] <= point[:, 1]) & left_of_up
    out = rises.astype(np.int64) - falls
    p, q, r = (np.concatenate([v[bent], np.ones((int(bent.sum()), 1))], axis=1) for v in (start, point, end))
    m = middle[bent]
    sign = np.sign(_determinant(p, m, r))
    alpha, gamma = _determinant(q, m, r), _determinant(p, m, q)
    right = left_of_up[bent] != up[bent]  # β is positive on the right of the chord
    inside = (sign == np.where(right, 1, -1)) & (sign * alpha > 0) & (sign * gamma > 0)
    inside &= side[bent] ** 2 < 4 * alpha * gamma
    out[bent] += np.where(inside, sign, 0.0).astype(np.int64)
    return out


def around(
    point: np.ndarray,
    walk: np.ndarray,
    owner: np.ndarray,
    start: np.ndarray,
    middle: np.ndarray,
    end: np.ndarray,
    bent: np.ndarray,
) -> np.ndarray:
    """How often closed walks go around points: walk ``walk[k]`` around ``point[k]``, (len(point),).

    Walk w consists of the curves of :func:`winding` with ``owner`` w, in any order.
    """  # fmt: skip
    order = np.argsort(owner, kind="stable")
    offsets = np.searchsorted(owner[order], np.arange(int(max(owner.max(initial=-1), walk.max(initial=-1))) + 2))
    size = np.diff(offsets)[walk]
    number = np.repeat(np.arange(len(point)), size)
    curve = order[np.repeat(offsets[walk] - (np.cumsum(size) - size), size) + np.arange(size.sum())]
    found = np.zeros(len(point), dtype=np.int64)
    np.add.at(found, number, winding(point[number], start[curve], middle[curve], end[curve], bent[curve]))
    return found


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products of rows, (n,)."""
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _determinant(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Determinants of the rows (x, y, weight), from differences to the first, whose weight is 1, where it can."""
    if not (a[:, 2] == 1).all():
        raise ValueError("the first rows are points")
    u, v = b[:, :2] - b[:, 2:] * a[:, :2], c[:, :2] - c[:, 2:] * a[:, :2]
    return cross(u, v)


@dataclass(frozen=True)
class Parts:
    """Arcs cut into parts, one after the other: part k leads from ``start[k]`` to ``end[k]`` along ``curve[k]``."""

    curve: np.ndarray  # (m,), never falling
    start: np.ndarray
    middle: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, start: np.ndarray, middle: np.ndarray, end: np.ndarray) -> Parts:
        """Each arc in one part."""
        return cls(np.arange(len(start)), start, middle, end)

    def bow(self) -> np.ndarray:
        """S − M of each part, (m, 2): its arc is no farther from its chord."""
        weight = self.middle[:, 2:]
        return (self.middle[:, :2] - weight * ((self.start + self.end) / 2)) / (1 + weight)

    def halved(self, chosen: np.ndarray) -> Parts:
        """The same arcs, the chosen parts (m,) bool in halves."""
        number = 1 + chosen.astype(np.int64)
        start, middle, end = (np.repeat(v, number, axis=0) for v in (self.start, self.middle, self.end))
        at = np.cumsum(number)[chosen] - 2
        p, q, r = self.start[chosen], self.middle[chosen], self.end[chosen]
        weight = q[:, 2:]
        half = np.sqrt((1 + weight) / 2)
        shoulder = ((p + r) + 2 * q[:, :2]) / (2 * (1 + weight))
        end[at] = start[at + 1] = shoulder
        middle[at] = np.concatenate([half * ((p + q[:, :2]) / (1 + weight)), half], axis=1)
        middle[at + 1] = np.concatenate([half * ((q[:, :2] + r) / (1 + weight)), half], axis=1)
        return Parts(np.repeat(self.curve, number), start, middle, end)

    def flat(self, tolerance: np.ndarray, depth: int, window: np.ndarray | None = None) -> Parts:
        """The same arcs in parts whose chords are near enough to them: |bow / tolerance| <= 1.

        Parameters
        ----------
        tolerance : ndarray (2,)
            Along x and y.
        depth : int
            The most halvings of one arc, so that it has at most ``2 ** depth`` parts.
        window : ndarray (2, 2), optional
            Parts outside of it, low and high corner, stay as they are.
        """
        parts = self
        for _ in range(depth):
            far = np.hypot(*(parts.bow() / tolerance).T) > 1
            if window is not None:
                low, high = boxes(parts.start, parts.middle, parts.end)
                far &= ((low <= window[1]) & (high >= window[0])).all(axis=1)
            if not far.any():
                break
            parts = parts.halved(far)
        return parts
