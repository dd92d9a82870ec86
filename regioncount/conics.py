"""Exact answers about conics, and the run of the conic engine.

A curve is g = c0 + c1 x + c2 y + c3 xx + c4 xy + c5 yy = 0 with integer coefficients; its *branch* 1 (−1) is the root
in y at which g rises (falls).  The exact plan of a frame (``kernels.conic``) needs three things: the real algebraic x
at which curves meet or turn (roots of discriminants and resultants, ``algebraic``), the winners on a vertical line at a
rational x between two of them (``engines.envelope``), and which branches meet at an algebraic x.

The last is decided so: two branches whose resultant does not vanish at x differ, and intervals of growing precision
tell how; where it vanishes, some pair of branches of the two curves meets there, and once intervals have parted all
pairs but one, that one meets.  The plane is sheared, so that no curve is vertical and no branch has a vertical
asymptote; where a network has such a curve all the same, :class:`Reshear` asks for another shear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import chain, count, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from regioncount.algebraic import Polynomial, Root, between, isolated, minus, polynomial, times
from regioncount.engines import (
    Outcome,
    PlaneJudge,
    PlanePieces,
    PolygonRun,
    U,
    as_floats,
    envelope,
    too_many,
)
from regioncount.exact import Real, real_roots
from regioncount.lowering import BIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from regioncount.domain import Box, Polygon
    from regioncount.lowering import Lowered

Form = tuple[int, ...]  # the six coefficients of a curve
Branch = tuple[Form, int]  # of a form in lowest terms, its first coefficient that is not zero positive
SHEARS = tuple(Fraction(n, 4096) for n in (1607, 977, 1289, 683, 1993, 1459, 821, 1733))
_ROOM = 54  # bits of the window in which events are sought


class Reshear(Exception):
    """A curve is vertical, or a branch has a vertical asymptote, in the sheared coordinates."""


def discriminant(g: Form) -> list[int]:
    """B² − 4AC of g = A yy + B y + C, a polynomial in x.

    >>> discriminant((-1, 0, 0, 1, 0, 1))  # the unit circle
    [4, 0, -4]
    """
    a = g[5]
    b, c = (g[2], g[4]), (g[0], g[1], g[3])
    return minus(times(b, b), [4 * a * k for k in c])


def resultant(g: Form, h: Form) -> list[int]:
    """A polynomial in x that vanishes where the two curves meet; where they share a line, where their other lines meet.

    >>> resultant((-1, 0, 0, 1, 0, 1), (0, 0, 1, 0, 0, 0))  # the unit circle and y = 0
    [-1, 0, 1]
    """
    if not h[5] and g[5]:
        g, h = h, g
    if not g[5]:
        line, beta = (g[0], g[1]), g[2]
        if not h[5]:
            return minus([beta * c for c in h[:2]], [h[2] * c for c in line])
        square = [h[5] * c for c in times(line, line)]
        mixed = [beta * c for c in times(line, (h[2], h[4]))]
        return minus(minus(square, mixed), [-beta * beta * c for c in (h[0], h[1], h[3])])
    (a, b, c), (d, e, f) = ((k[5], (k[2], k[4]), (k[0], k[1], k[3])) for k in (g, h))
    p = minus([a * k for k in f], [d * k for k in c])
    q = minus([a * k for k in e], [d * k for k in b])
    r = minus(times(b, f), times(e, c))
    out = minus(times(p, p), times(q, r))
    return out if any(out) else q


def on_vertical(g: Form, x: Fraction) -> list[int]:
    """A positive multiple of g on a vertical line, as coefficients of 1, y, yy."""
    n, d = x.as_integer_ratio()
    return [g[0] * d * d + g[1] * n * d + g[3] * n * n, g[2] * d * d + g[4] * n * d, g[5] * d * d]


def canonical(g: Form, branch: int) -> Branch:
    """A branch under a name that is the same for all multiples of g."""
    common = math.gcd(*g)
    first = next((c for c in g if c), 1)
    if first < 0:
        common, branch = -common, -branch
    return tuple(c // common for c in g) if common else g, branch


def branch_on(g: Form, branch: int, x: Fraction) -> Real:
    """y of a branch at a rational x."""
    c = on_vertical(g, x)
    roots = real_roots(*c)
    if not c[2]:
        return roots[0]
    return roots[-1] if (c[2] > 0) == (branch > 0) else roots[0]


def enclosed(g: Form, branch: int, place: tuple[int, int, int]) -> tuple[int, int]:
    """An interval around y of a branch at an x in the interval (low, high, bits), times 2^bits."""
    low, high, w = place
    if not g[5]:
        ends = [Fraction(-((g[0] << w) + g[1] * k), g[2]) for k in (low, high)]
        return math.floor(min(ends)), math.ceil(max(ends))
    bottom, top = _range(discriminant(g), place)
    root = math.isqrt(max(bottom, 0)), math.isqrt(max(top, 0)) + 1
    first = sorted((g[4] * low, g[4] * high))
    b0, b1 = (g[2] << w) + first[0], (g[2] << w) + first[1]
    start, end = (root[0] - b1, root[1] - b0) if branch > 0 else (-root[1] - b1, -root[0] - b0)
    a = 2 * g[5]
    return (start // a, -(-end // a)) if a > 0 else (end // a, -(-start // a))


def compare_at(x: Root, p: Branch, q: Branch) -> int:
    """The sign of y of branch p minus y of branch q at an algebraic x where both are real."""
    (g, s), (h, t) = p, q
    if g == h:
        return 0 if s == t else _above(x, p, q)
    bits, known = 64, False
    while True:
        place = x.interval(bits)
        a, b = enclosed(g, s, place), enclosed(h, t, place)
        if a[1] < b[0]:
            return -1
        if b[1] < a[0]:
            return 1
        if not known:
            first, second, shared = _elimination(g, h)
            if (g[5] or h[5]) and not x.sign(polynomial(first)) and not x.sign(polynomial(second)):
                return _above(x, p, q)  # at x both curves have the same roots
            meet = not shared and x.sign(polynomial(resultant(g, h))) == 0
            if shared and _is_line(x, p, (first, second)) and _is_line(x, q, (first, second)):
                return 0
            known = True
        if meet and _only_pair(x, place, p, q):
            return 0
        bits *= 2


def _above(x: Root, p: Branch, q: Branch) -> int:
    """:func:`compare_at` for branches of curves with the same roots at x."""
    (g, s), (h, t) = p, q
    upper, other = (s > 0) == (g[5] > 0), (t > 0) == (h[5] > 0)
    if upper == other or x.sign(polynomial(discriminant(g))) == 0:
        return 0
    return 1 if upper else -1


def _elimination(g: Form, h: Form) -> tuple[list[int], list[int], bool]:
    """P and Q of P + Qy, a combination of two curves without yy, and whether they share a line, which is −P/Q then."""
    (a, b, c), (d, e, f) = ((k[5], (k[2], k[4]), (k[0], k[1], k[3])) for k in (g, h))
    p, q = minus([a * k for k in f], [d * k for k in c]), minus([a * k for k in e], [d * k for k in b])
    r = minus(times(b, f), times(e, c))
    return p, q, bool(a or d) and not any(minus(times(p, p), times(q, r)))


def _is_line(x: Root, branch: Branch, line: tuple[list[int], list[int]]) -> bool:
    """Whether at x a branch of a curve with a line is that line, and not the other line of the curve."""
    (g, s), (p, q) = branch, line
    if not g[5]:
        return True
    if x.sign(polynomial(discriminant(g))) == 0:
        return True  # both lines meet here
    bits = 64
    while True:
        place = x.interval(bits)
        at = _quotient(p, q, place)
        mine, other = enclosed(g, s, place), enclosed(g, -s, place)
        if at is not None:
            if at[1] < mine[0] or mine[1] < at[0]:
                return False
            if at[1] < other[0] or other[1] < at[0]:
                return True
        bits *= 2


def _quotient(p: list[int], q: list[int], place: tuple[int, int, int]) -> tuple[int, int] | None:
    """An interval around −P/Q at an x in an interval, times 2^bits; None while Q may vanish there."""
    (a, b), (c, d) = (_range(k, place) for k in (p, q))
    w = place[2]
    if c <= 0 <= d:
        return None
    ends = [Fraction(-u << w, v) for u in (a, b) for v in (c, d)]
    return math.floor(min(ends)), math.ceil(max(ends))


def _range(p: list[int], place: tuple[int, int, int]) -> tuple[int, int]:
    """An interval around a polynomial of degree at most 2 on an interval, times 2^(2 bits)."""
    low, high, w = place
    p0, p1, p2 = (*p, 0, 0)[:3]
    squares = sorted((low * low, high * high))
    square = (0 if low <= 0 <= high else squares[0], squares[1])
    linear = sorted((p1 * low, p1 * high))
    return (
        (p0 << 2 * w) + (linear[0] << w) + p2 * square[p2 < 0],
        (p0 << 2 * w) + (linear[1] << w) + p2 * square[p2 > 0],
    )


def _only_pair(x: Root, place: tuple[int, int, int], p: Branch, q: Branch) -> bool:
    """Whether intervals part all pairs of branches of the two curves but this one."""
    (g, s), (h, t) = p, q
    first = (s,) if not g[5] or x.sign(polynomial(discriminant(g))) == 0 else (s, -s)
    second = (t,) if not h[5] or x.sign(polynomial(discriminant(h))) == 0 else (t, -t)
    together = 0
    for k in first:
        a = enclosed(g, k, place)
        for m in second:
            b = enclosed(h, m, place)
            together += not (a[1] < b[0] or b[1] < a[0])
    return together == 1


@dataclass
class Wall:
    """An event: its place, and the tags of its two curves with the direction in which their polynomial changes sign."""

    x: Root
    tag: tuple[int, ...]


@dataclass
class Plan:
    """An exact plan; see ``kernels.conic``.

    Slabs are boundaries (i, j, branch) and winners; ``levels`` holds for every wall the ranks of the boundaries seen
    from its left and from its right.
    """

    walls: list[Wall]
    slabs: list[tuple[list[tuple[int, int, int]], list[int]]]
    levels: list[tuple[list[int], list[int]]]


class ConicJudge(PlaneJudge):
    """Exact answers about curves of a piece in the plane; ``places`` are the walls that were found exactly."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.places: list[Root] = []
        self._curves: dict[tuple[int, int, int, int, bytes], Form] = {}
        self._events: dict[tuple, Root] = {}

    def affine(self, tag: Sequence[int], pattern: np.ndarray) -> int:
        """1 if all scores of a unit differ by affine functions on the cell, else 0: a case for conics."""
        block, unit = int(tag[0]), int(tag[1])
        n = len(self.lowered.blocks[block].units[unit - self.first_unit[block]].values)
        return int(not any(any(self.difference(block, unit, 0, j, pattern)[3:]) for j in range(1, n)))

    def degree(self, tag: Sequence[int], pattern: np.ndarray) -> int:
        """0 if two candidates have one score map on the cell, 1 if the maps differ by an affine function, else 3."""
        g = self.curve(tag, pattern)
        return 0 if not any(g) else 1 if not any(g[3:]) else 3

    def curve(self, tag: Sequence[int] | np.ndarray, pattern: np.ndarray) -> Form:
        """The curve on which candidates i and j of a unit tie, positive where i is ahead; a domain's edge, inside."""
        block, unit, i, j = (int(x) for x in tag[:4])
        if block < 0:
            a, b, c = self.edges[unit]
            return _upright((c, a, b, 0, 0, 0))
        key = (block, unit, i, j, pattern[: self.lowered.blocks[block].first_column].tobytes())
        found = self._curves.get(key)
        if found is None:
            if len(self._curves) > 100_000:
                self._curves.clear()
            found = self._curves[key] = _upright(tuple(self.difference(block, unit, i, j, pattern)))
        return found

    def event_polynomial(self, tag: Sequence[int], pattern: np.ndarray) -> Polynomial:
        """The polynomial of which the event with this tag (two curves) is a root."""
        g = self.curve(tag[:4], pattern)
        if tuple(tag[:4]) == tuple(tag[4:8]):
            return polynomial(discriminant(g))
        return polynomial(resultant(g, self.curve(tag[4:8], pattern)))

    def root(self, tag: Sequence[int] | np.ndarray, near: Sequence[float] | np.ndarray, pattern: np.ndarray) -> Root:
        """The exact place of a wall that floats found ``near`` (x, radius)."""
        x, radius = (float(k) for k in near)
        mark = int(tag[9])
        if mark >= 0:
            return self.places[mark]
        last = max(int(tag[0]), int(tag[4]))
        columns = self.lowered.blocks[last].first_column if last >= 0 else 0
        key = (*(int(k) for k in tag[:9]), x, pattern[:columns].tobytes())
        found = self._events.get(key)
        if found is None:
            if len(self._events) > 100_000:
                self._events.clear()
            p = self.event_polynomial([int(k) for k in tag[:8]], pattern)
            found = Root.rational(Fraction(-p[0], p[1])) if len(p) == 2 else Root.near(p, x, radius)
            self._events[key] = found
        return found

    def plan(
        self,
        block: int,
        unit: int,
        alive: Sequence[int],
        pattern: np.ndarray,
        sides: Sequence[Sequence[int]],
        walls: tuple[Wall, Wall],
    ) -> Plan:
        """The exact plan of a frame with two sides (tags, the fifth entry the branch) and two walls, for a unit."""
        this = self.lowered.blocks[block].units[unit - self.first_unit[block]]
        if this.kind == BIT:
            pairs = {(0, 0): self.curve((block, unit, 0, 0), pattern)}
            maps = {1: pairs[0, 0], 0: (0,) * 6}
        else:
            maps = {i: tuple(self.composer.score(block, this, i, pattern)[0]) for i in alive}
            first: dict[tuple[int, ...], int] = {}
            maps = {i: m for i, m in maps.items() if first.setdefault(m, i) == i}
            pairs = {(i, j): self.curve((block, unit, i, j), pattern) for i in maps for j in maps if i < j}
        frame = [canonical(self.curve(side, pattern), int(side[4])) for side in sides]
        found = self._events_of(block, unit, pairs, sides, frame, walls)
        events = [walls[0], *found, walls[1]]
        slabs = [
            _sections(maps, pairs, frame, between(events[s].x, events[s + 1].x)) for s in range(len(events) - 1)
        ]
        names = {(-1, 0, 0): frame[0], (-2, 0, 0): frame[1]}
        for (i, j), g in pairs.items():
            for branch in (-1, 1):
                names[i, j, branch] = canonical(g, branch)
        levels = []
        for w, event in enumerate(events):
            left = [names[key] for key in slabs[w - 1][0]] if w > 0 else []
            right = [names[key] for key in slabs[w][0]] if w < len(slabs) else []
            levels.append(_levels(event.x, left, right))
        return Plan(events, slabs, levels)

    def _events_of(
        self,
        block: int,
        unit: int,
        pairs: dict[tuple[int, int], Form],
        sides: Sequence[Sequence[int]],
        frame: list[Branch],
        walls: tuple[Wall, Wall],
    ) -> list[Wall]:
        """Where, between the walls, the order of the winners on vertical lines may change."""
        candidates: list[tuple[list[int], tuple[int, ...]]] = []
        done: list[tuple[tuple[int, int], Form]] = []
        for (i, j), g in pairs.items():
            tag = (block, unit, i, j)
            if g[5]:
                candidates.append((discriminant(g), (*tag, *tag)))
            name = canonical(g, 1)[0]
            for k, side in enumerate(sides):
                if name != frame[k][0] and not (k and frame[0][0] == frame[1][0]):
                    candidates.append((resultant(g, frame[k][0]), (*tag, *(int(c) for c in side[:4]))))
            for (m, n), h in done:
                if m == i and canonical(h, 1)[0] != name:
                    candidates.append((resultant(h, g), (block, unit, m, n, *tag)))
            done.append(((i, j), g))
        found: list[Wall] = []
        low, high = (wall.x for wall in walls)
        window = (int(float(low) * 2**_ROOM) - 2, int(float(high) * 2**_ROOM) + 2, _ROOM)
        for p, tag8 in candidates:
            poly = polynomial(p)
            if len(poly) < 2:
                continue
            roots = isolated(poly, *window)
            simple = bool(roots) and len(roots[0].polynomial) == len(poly)  # a multiple root may have no direction
            for x in roots:
                if x.compare(walls[0].x) > 0 and x.compare(walls[1].x) < 0:
                    direction = x.direction if simple and len(poly) > 2 else 0
                    found.append(Wall(x, (*tag8, direction)))
        found.sort(key=cmp_to_key(lambda a, b: a.x.compare(b.x)))
        distinct: list[Wall] = []
        for wall in found:
            if not distinct or wall.x.compare(distinct[-1].x) > 0:
                distinct.append(wall)
        return distinct


def _upright(g: Form) -> Form:
    """The curve itself, if it suits the sheared coordinates."""
    if not g[5] and (g[3] or g[4] or (g[1] and not g[2])):
        raise Reshear
    return g


def _sections(
    maps: dict[int, Form], pairs: dict[tuple[int, int], Form], frame: list[Branch], x: Fraction
) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Boundaries (the frame's sides included) and winners on the vertical line at x, upwards."""
    low, high = (branch_on(g, branch, x) for g, branch in frame)
    line = {tuple(on_vertical(m, x)): i for i, m in maps.items()}
    first, changes = envelope(list(line), low, high)
    bounds, winners = [(-1, 0, 0)], [line[first]]
    for _, before, after in changes:
        i, j = line[before], line[after]
        if (0, 0) in pairs:
            bounds.append((0, 0, 1 if j == 1 else -1))
        else:
            bounds.append((min(i, j), max(i, j), 1 if j < i else -1))
        winners.append(j)
    return [*bounds, (-2, 0, 0)], winners


def _levels(x: Root, left: list[Branch], right: list[Branch]) -> tuple[list[int], list[int]]:
    """Ranks of the values at x of two weakly increasing lists of branches."""
    rough = _rough(list(dict.fromkeys((*left, *right))), float(x))

    def order(p: Branch, q: Branch) -> int:
        if p == q:
            return 0
        (y, r), (z, s) = rough[p], rough[q]
        if abs(y - z) > r + s:
            return 1 if y > z else -1
        return compare_at(x, p, q)

    out: tuple[list[int], list[int]] = ([], [])
    at, rank, last = [0, 0], -1, None
    lists = (left, right)
    while at[0] < len(left) or at[1] < len(right):
        if at[1] >= len(right):
            side = 0
        elif at[0] >= len(left):
            side = 1
        else:
            side = 0 if order(left[at[0]], right[at[1]]) <= 0 else 1
        value = lists[side][at[side]]
        if last is None or order(last, value) != 0:
            rank += 1
        last = value
        out[side].append(rank)
        at[side] += 1
    return out


def _rough(branches: list[Branch], x: float) -> dict[Branch, tuple[float, float]]:
    """y of branches at a place within 2^−52 of x, and its radius."""
    from regioncount.kernels.conic import corners

    out, n = np.zeros((len(branches), 2)), len(branches)
    place = np.full((n, 2), 2 * U)
    place[:, 0] = x
    curves = np.array([as_curve(g) for g, _ in branches])
    with np.errstate(all="ignore"):
        corners(curves, np.array([branch for _, branch in branches]), place, np.zeros(n, dtype=np.bool_), out)
    out[~np.isfinite(out[:, 1]), 1] = math.inf
    return {branch: (y, r) for branch, (y, r) in zip(branches, out.tolist(), strict=True)}


@dataclass
class ConicPieces:
    """What the conic kernel emitted, in engine coordinates; see ``kernels.conic.Leaves``."""

    curves: np.ndarray
    tags: np.ndarray
    walls: np.ndarray
    wall_tags: np.ndarray
    patterns: np.ndarray
    maps: np.ndarray
    errors: np.ndarray


@dataclass
class MixedPieces:
    """Convex polygons, then trapezoids between arcs; patterns, maps and errors of all."""

    polygons: PlanePieces
    trapezoids: ConicPieces
    patterns: np.ndarray
    maps: np.ndarray
    errors: np.ndarray


def conic_run(
    lowered: Lowered,
    domain: Box | Polygon,
    emit: bool,
    max_pieces: int | None,
    exact: bool = False,
    everywhere: bool = False,
) -> Outcome:
    """Subdivide a convex polygon by scores of degree at most 2; ``everywhere``: into trapezoids alone.

    Raises
    ------
    TooManyPieces
        If there are more than ``max_pieces``.
    """
    for shear in chain(SHEARS, (Fraction(n, 8192) for n in count(1, 2))):  # finitely many have a vertical curve
        try:
            return _ConicRun(lowered, domain, emit, max_pieces, exact, shear, everywhere).run()
        except Reshear:
            continue
    raise AssertionError("there are more shears")


class _ConicRun(PolygonRun):
    """The polygon engine, handing pieces on which a score is quadratic to the conic kernel."""

    judge_type = ConicJudge
    method = "conic"
    convex = False
    SLABS = 48

    def __init__(
        self, lowered: Lowered, domain: Box | Polygon, emit: bool, max_pieces: int | None, exact: bool,
        shear: Fraction, everywhere: bool,
    ) -> None:  # fmt: skip
        from regioncount.kernels import conic

        self.conic = conic
        self.everywhere = everywhere
        super().__init__(lowered, domain, emit, max_pieces, exact, shear)
        self._allocate_conic(emit)

    def _allocate_conic(self, emit: bool) -> None:
        c, blocks = self.conic, self.program.blocks
        self.frames = c.Stack(
            np.zeros((self.FRAMES, self.stack.info.shape[1]), dtype=np.int64), np.zeros((self.FRAMES, 2, 8)),
            np.zeros((self.FRAMES, 2, 6), dtype=np.int64), np.zeros((self.FRAMES, 2, 2)),
            np.zeros((self.FRAMES, 2, 11), dtype=np.int64), np.zeros((self.FRAMES, *self.stack.map.shape[1:])),
            np.zeros((self.FRAMES, self.lowered.columns), dtype=np.uint8),
        )  # fmt: skip
        most = int(self.program.units[:, 4].max(initial=1))
        pairs = max(most * (most - 1) // 2, 2)
        triples = most * (most - 1) * (most - 2) // 6
        events = 4 * (3 * pairs + triples) + 8
        candidates = int(max((blocks[:, 14] - blocks[:, 13]).max(), 1))
        k = 2 * most + 6
        self.work = c.Work(
            np.zeros(4, dtype=np.int64), np.zeros((len(blocks), 7, candidates)), np.zeros(len(blocks)),
            np.zeros(len(blocks), dtype=np.int64), np.zeros((pairs, 8)),
            np.zeros((pairs, 2), dtype=np.int64), np.zeros((events, 3)), np.zeros((events, 11), dtype=np.int64),
            np.zeros(events, dtype=np.int64), np.zeros(6), np.zeros((256, 2)), np.zeros(6), np.zeros(5), np.zeros(3),
            np.zeros(most + 2, dtype=np.int64), *self._plan_arrays(self.SLABS, k), np.zeros((most + 2, 4)),
            np.zeros((most * most + 8, 2)), np.zeros((most * most + 8, 3), dtype=np.int64), np.zeros(4), np.zeros(4),
            np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64),
        )  # fmt: skip
        leaves = self.LEAVES if emit else 0
        self.trapezoids = c.Leaves(
            np.zeros((leaves, 2, 8)), np.zeros((leaves, 2, 6), dtype=np.int64), np.zeros((leaves, 2, 2)),
            np.zeros((leaves, 2, 11), dtype=np.int64), np.zeros((leaves, self.lowered.columns), dtype=np.uint8),
            np.zeros((leaves, 3, self.n_out + 1)),
        )  # fmt: skip
        self.parts: list[tuple[np.ndarray, ...]] = []
        self.fresh = np.zeros(len(blocks), dtype=np.int64)  # roots whose map has been made exact

    @staticmethod
    def _plan_arrays(slabs: int, k: int) -> tuple[np.ndarray, ...]:
        ints = np.int64
        return (
            np.zeros((slabs + 1, 2)), np.zeros((slabs + 1, 11), dtype=ints), np.zeros(slabs, dtype=ints),
            np.zeros((slabs, k), dtype=ints), np.zeros((slabs, k + 1, 3), dtype=ints),
            np.zeros((slabs + 1, 2, k + 1), dtype=ints), np.zeros((slabs, k), dtype=ints),
            np.zeros((slabs, k + 1), dtype=ints), np.zeros((slabs + 1, 2, k), dtype=ints),
        )  # fmt: skip

    def _hand_over(self) -> None:
        """Subdivide the top polygon by conics."""
        k, c, f = self.kernel, self.conic, int(self.run_.state[self.kernel.TOP])
        self._cut_polygon(f)
        self.run_.state[k.TOP] = f - 1
        while True:
            status = c.subdivide(self.program, self.run_, self.frames, self.roots, self.work, self.trapezoids)
            if status == c.OK:
                return
            if status == c.REQUEST:
                self._settle(self.frames.pattern)
            elif status == c.EXACT:
                if self.run_.state[k.NO_FLOATS] or not self._refresh():
                    self._plan_exactly()
            else:
                self._serve(status)

    def _serve(self, status: int) -> None:
        c = self.conic
        if status == c.GROW_FRAMES:
            self.frames = c.Stack(*(np.concatenate([a, np.zeros_like(a)]) for a in self.frames))
        elif status == c.GROW_WORK:
            self._grow_plan(2 * len(self.work.size), self.work.winner.shape[1])
        elif status == c.FULL:
            self._drain_conic()
        else:
            raise too_many(self.max_pieces)

    def _grow_plan(self, slabs: int, k: int) -> None:
        names = ("x", "xtag", "size", "winner", "bound", "level", "owner", "border", "wall_border")
        self.work = self.work._replace(**dict(zip(names, self._plan_arrays(slabs, k), strict=True)))

    def _cut_polygon(self, f: int) -> None:
        """Cut polygon frame f at its corners into trapezoids, as the first frames of the conic kernel."""
        k, c, stack = self.kernel, self.conic, self.stack
        n, pattern = int(stack.info[f, k.CORNERS]), stack.pattern[f]
        tags = stack.tags[f, :n]
        forms = [self.judge.curve(tags[v], pattern) for v in range(n)]
        xtags = [(*tags[v - 1, :4], *tags[v, :4], 0, -1) for v in range(n)]
        roots = [self.judge.root(xtags[v], (0.0, 0.0), pattern) for v in range(n)]
        groups = _by_place(roots)
        while len(groups) + 2 >= len(self.frames.info):
            self._serve(c.GROW_FRAMES)
        border = int(self.run_.state[k.NEXT_BORDER])
        for s, (left, right) in enumerate(pairwise(groups)):
            x = Root.rational(between(roots[left[0]], roots[right[0]]))
            before = [root.compare(x) < 0 for root in roots]
            across = [v for v in range(n) if before[v] != before[(v + 1) % n]]
            across.sort(key=before.__getitem__, reverse=True)  # the lower edge is passed rightwards
            for side, v in enumerate(across):
                self.frames.curve[s, side] = as_curve(forms[v])
                self.frames.ctag[s, side] = [*tags[v, :4], 1 if forms[v][2] > 0 else -1, tags[v, 4]]
            for side, (v, *_) in enumerate((left, right)):
                self.frames.wall[s, side] = [float(roots[v]), 2 * U]
                self.frames.wtag[s, side, :10] = xtags[v]
                inner = 0 < s + side < len(groups) - 1
                self.frames.wtag[s, side, 10] = 2 * (border + s + side) + side if inner else c.NO_EDGE
            self.frames.info[s, : k.N_INFO] = [0, stack.info[f, k.BLOCK], 0, k.ROOT]
            self.frames.map[s] = stack.map[f]
            self.frames.pattern[s] = pattern
        self.run_.state[k.NEXT_BORDER] += len(groups)
        self.work.state[c.TOP] = len(groups) - 2

    def _refresh(self) -> bool:
        """Give the top frame's sides and the map of its root their exact values, rounded once; False if they have them.

        Bounds on errors grow from block to block, much faster than errors.  What is passed on to the next block keeps
        the old bound, which holds for old and new values alike.
        """
        k, c, frames = self.kernel, self.conic, self.frames
        f = int(self.work.state[c.TOP])
        b, pattern, changed = int(frames.info[f, k.BLOCK]), frames.pattern[f], False
        if self.fresh[b] != self.roots.uid[b]:
            self.fresh[b] = self.roots.uid[b]
            values = as_floats(*self.judge.composer.pre(b, pattern))
            n = values.shape[1]
            if np.isfinite(values).all():
                self.roots.map[b, :3, :n] = values
                self.roots.map[b, 3, :n] = U * np.abs(values).sum(axis=0)
                with np.errstate(over="ignore"):
                    self.work.error[b] = 1.01 * U * np.sqrt((values * values).sum(axis=1)).sum() + 1e-300
                c.enter_scores(self.program, self.roots, self.work, b)
                changed = True
        for side in range(2):
            if frames.curve[f, side, c.ERR] > 8 * U:
                frames.curve[f, side] = as_curve(self.judge.curve(frames.ctag[f, side], pattern))
                changed = True
        return changed

    def _plan_exactly(self) -> None:
        """Write the exact plan of the top frame and its first open unit, and spread it."""
        k, c, frames = self.kernel, self.conic, self.frames
        f = int(self.work.state[c.TOP])
        block, unit, pattern = int(frames.info[f, k.BLOCK]), int(frames.info[f, k.N_INFO]), frames.pattern[f]
        alive = [int(i) for i in self.work.alive[: int(self.work.state[c.N_BRANCHES])]]
        tags = frames.wtag[f]
        walls = tuple(
            Wall(self.judge.root(tags[side], frames.wall[f, side], pattern), tuple(int(t) for t in tags[side, :9]))
            for side in range(2)
        )
        plan = self.judge.plan(block, unit, alive, pattern, frames.ctag[f], walls)  # type: ignore[arg-type]
        self.decisions.exact += 1
        slabs, widest = len(plan.slabs), max(len(winners) for _, winners in plan.slabs)
        if slabs > len(self.work.size) or widest + 2 > self.work.winner.shape[1]:
            self._grow_plan(max(slabs, len(self.work.size)), max(widest + 2, self.work.winner.shape[1]))
        work = self.work
        work.state[c.N_SLABS] = slabs
        for w, (wall, (left, right)) in enumerate(zip(plan.walls, plan.levels, strict=True)):
            if 0 < w < slabs:
                work.x[w] = [float(wall.x), 2 * U]
                work.xtag[w, :10] = [*wall.tag, len(self.judge.places)]
                self.judge.places.append(wall.x)
            else:
                side = int(w > 0)
                work.x[w] = frames.wall[f, side]
                work.xtag[w, :10] = tags[side, :10]
            work.level[w, 0, : len(left)] = left
            work.level[w, 1, : len(right)] = right
        for s, (bounds, winners) in enumerate(plan.slabs):
            work.size[s] = len(winners)
            work.winner[s, : len(winners)] = winners
            work.bound[s, : len(bounds)] = bounds
        while True:
            status = c.spread(self.program, self.run_, self.frames, self.roots, self.work, f, 0)
            if status == c.OK:
                return
            self._serve(status)

    def _drain_conic(self) -> None:
        c = self.conic
        n = int(self.work.state[c.N_PIECES])
        if n:
            self.parts.append(tuple(a[:n].copy() for a in self.trapezoids))
            self.work.state[c.N_PIECES] = 0
        self._collect_prints()

    def _collect(self) -> Any:
        polygons = super()._collect()
        self._drain_conic()
        self.parts.append(tuple(a[:0] for a in self.trapezoids))
        curves, tags, walls, wall_tags, patterns, maps = (
            np.concatenate(part) for part in zip(*self.parts, strict=True)
        )
        trapezoids = ConicPieces(
            curves, tags, walls, wall_tags, patterns, maps[:, :, :-1].transpose(0, 2, 1), maps[:, :, -1]
        )
        together = (
            np.concatenate([getattr(part, name) for part in (polygons, trapezoids)])
            for name in ("patterns", "maps", "errors")
        )
        return MixedPieces(polygons, trapezoids, *together)


def _by_place(roots: list[Root]) -> list[list[int]]:
    """Numbers of roots, grouped where they are equal, in increasing order."""
    groups: list[list[int]] = []
    place = cmp_to_key(Root.compare)
    for v in sorted(range(len(roots)), key=lambda v: place(roots[v])):
        if groups and roots[groups[-1][0]].compare(roots[v]) == 0:
            groups[-1].append(v)
        else:
            groups.append([v])
    return groups


def as_curve(g: Form) -> np.ndarray:
    """A curve as the kernel holds it: floats near 1, the bound on their errors, whether it is a line."""
    size = max(abs(c) for c in g)
    coefficients = [c / size for c in g]
    return np.array([*coefficients, 8 * U, float(not any(g[3:]))])
