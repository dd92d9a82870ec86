"""Drives the kernels: stacks that grow, questions settled exactly, finished pieces collected.

An engine works in coordinates ξ with |ξ| ≤ 1, x = centre + scale·ξ, where the scale is a power of two for each
coordinate: :class:`Window`.  A kernel that meets a decision that floats cannot take returns; the *judge* here takes
it in rational arithmetic on the exact lines of that piece (``lowering.Composer``), stores the verdict and lets the
kernel go on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cmp_to_key
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from regioncount.domain import Box, Interval, Plane, Polygon
from regioncount.errors import NeedsConicEngine, TooManyPieces
from regioncount.exact import (
    FarLine,
    Line,
    Real,
    Surd,
    between,
    compare,
    crossing,
    far_crossing,
    nearest_float,
    real_roots,
    sign_at,
    sign_far,
    sign_of_polynomial,
)
from regioncount.lowering import BIT, SET, Composer, Integers, Lowered, Program, Unit, flatten, reduced, score_form

if TYPE_CHECKING:
    from collections.abc import Sequence

U = 2.0**-53


@dataclass(frozen=True)
class Window:
    """The engine's coordinates of a domain: x = centre + scale·ξ, |ξ| ≤ 1, scales powers of two.

    In the plane with a ``shear`` σ: x₀ = centre₀ + scale₀·(ξ₀ + σ ξ₁).
    """

    centre: tuple[Fraction, ...]
    scale: tuple[Fraction, ...]
    shear: Fraction = Fraction(0)

    @classmethod
    def around(cls, points: Sequence[Sequence[Fraction]], shear: Fraction = Fraction(0)) -> Window:
        """The window of a bounded set with these extreme points."""
        centre, scale = [], []
        for coordinates in zip(*points, strict=True):
            low, high = min(coordinates), max(coordinates)
            middle = Fraction(float((low + high) / 2))
            reach = max(high - middle, middle - low)
            power = reach.numerator.bit_length() - reach.denominator.bit_length() - 1
            while Fraction(2) ** power < reach:
                power += 1
            centre.append(middle)
            scale.append(Fraction(2) ** (power + (shear != 0)))
        return cls(tuple(centre), tuple(scale), shear)

    @classmethod
    def of_space(cls, lowered: Lowered, dim: int = 2) -> Window:
        """A window of the whole plane or space: about the origin, of the size of most distances of the first block's
        lines or hyperplanes.

        Any would do; in this one most corners of lines through the window have coordinates of about 1.
        """
        unit = cls((Fraction(0),) * dim, (Fraction(1),) * dim)
        first = as_floats(*Composer(lowered, unit.centre, unit.scale).pre(0, np.zeros(0, dtype=np.uint8)))
        with np.errstate(all="ignore"):
            distance = np.abs(first[-1]) / np.hypot.reduce(first[:-1], axis=0)
        distance = distance[np.isfinite(distance) & (distance > 0)]
        power = math.frexp(float(np.median(distance)))[1] + 1 if len(distance) else 0
        return cls(unit.centre, (Fraction(2) ** min(max(power, -900), 900),) * dim)

    def inward(self, point: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """A point in engine coordinates."""
        first, *rest = ((x - c) / s for x, c, s in zip(point, self.centre, self.scale, strict=True))
        return (first - self.shear * rest[0], *rest) if self.shear else (first, *rest)

    def outward(self, points: np.ndarray) -> np.ndarray:
        """Points (n, dim) of the engine in the user's coordinates, in float64."""
        if self.shear:
            points = np.stack([points[:, 0] + float(self.shear) * points[:, 1], points[:, 1]], axis=1)
        return np.array([float(c) for c in self.centre]) + points * np.array([float(s) for s in self.scale])

    def outward_homogeneous(self, points: np.ndarray) -> np.ndarray:
        """Points (n, 3) of the plane in homogeneous coordinates (wx, wy, w), in the user's coordinates."""
        weight = points[:, 2:]
        centre, scale = (np.array([float(c) for c in pair]) for pair in (self.centre, self.scale))
        flat = points[:, :2] + float(self.shear) * np.stack([points[:, 1], np.zeros(len(points))], axis=1)
        return np.concatenate([weight * centre + flat * scale, weight], axis=1)

    def outward_maps(self, maps: np.ndarray) -> np.ndarray:
        """Maps (n, out, dim + 1) of ξ as maps of x, in float64."""
        out = maps.copy()
        if self.shear:
            out[:, :, 1] -= float(self.shear) * out[:, :, 0]
        slopes = out[:, :, :-1] / np.array([float(s) for s in self.scale])
        out[:, :, :-1] = slopes
        out[:, :, -1] -= slopes @ np.array([float(c) for c in self.centre])
        return out


@dataclass
class Decisions:
    """How many decisions each stage took, and how many nothing settled.

    ``floats`` counts (unit, piece) pairs looked at by the float filter, ``exact`` what went to rational arithmetic:
    signs of lines at corners in the plane, whole pieces on the line.
    """

    floats: int = 0
    exact: int = 0
    undecided: int = 0


def as_floats(numerators: np.ndarray, denominator: int) -> np.ndarray:
    """Exact rationals to the nearest floats; beyond their range, infinity."""
    out = np.empty(numerators.shape)
    flat = out.ravel()
    for i, n in enumerate(numerators.ravel()):
        try:
            flat[i] = n / denominator
        except OverflowError:
            flat[i] = np.inf if n > 0 else -np.inf
    return out


class Split(NamedTuple):
    """Where the choices of a block change inside a piece.

    ``points`` increase; ``tags`` name for each a unit and the two candidates that tie there; ``choice`` (n_points +
    1, n_columns) holds the block's pattern columns between them; ``changing`` the units that change.
    """

    points: list[Real]
    tags: list[tuple[int, int, int]]
    choice: np.ndarray
    changing: set[int]


SIDES: list[Line] = [(0, 1, 0), (-1, 0, 0), (0, -1, 0), (1, 0, 0)]  # of a square: lower, right, upper, left


class Judge:
    """Exact score differences on the cells of activation patterns."""

    def __init__(self, lowered: Lowered, window: Window) -> None:
        self.lowered = lowered
        self.window = window
        self.composer = Composer(lowered, window.centre, window.scale, window.shear)
        self.first_unit = [0]
        for block in lowered.blocks:
            self.first_unit.append(self.first_unit[-1] + len(block.units))

    def difference(self, block: int, unit: int, i: int, j: int, pattern: np.ndarray) -> list[int]:
        """Score i − score j (or the score of a BIT unit), up to a positive factor.

        Coefficients of [1, x, x²] on the line, of [1, x, y, xx, xy, yy] in the plane, and so on.
        """
        this = self.lowered.blocks[block].units[unit - self.first_unit[block]]
        p, _ = self.composer.score(block, this, i, pattern)
        if this.kind == BIT:
            return p
        q, _ = self.composer.score(block, this, j, pattern)
        return [a - b for a, b in zip(p, q, strict=True)]

    def same_map(self, tag: Sequence[int], pattern: np.ndarray) -> int:
        """1 if two candidates have one score map on the cell, else 0."""
        block, unit, i, j = (int(x) for x in tag[:4])
        return int(not any(self.difference(block, unit, i, j, pattern)))

    def affine(self, tag: Sequence[int], pattern: np.ndarray) -> int:
        """1 if all scores of a unit differ by affine functions on the cell; otherwise the conic engine is needed."""
        block, unit = int(tag[0]), int(tag[1])
        count = len(self.lowered.blocks[block].units[unit - self.first_unit[block]].values)
        for j in range(1, count):
            if any(self.difference(block, unit, 0, j, pattern)[len(self.window.centre) + 1 :]):
                raise self.conic(block)
        return 1

    def conic(self, block: int) -> NeedsConicEngine:
        """The error for a score that is quadratic where that is not provided for."""
        raise NotImplementedError

    def split(self, block: int, pre: Integers, low: Real, high: Real) -> Split:
        """Where the choices of a block change between ``low`` and ``high``, on a line with the map ``pre`` of the
        block.
        """
        this = self.lowered.blocks[block]
        start = np.zeros(this.last_column - this.first_column, dtype=np.uint8)
        events: list[tuple[Real, tuple[int, int, int], list[int], list[int]]] = []
        for index, unit in enumerate(this.units, self.first_unit[block]):
            columns = [c - this.first_column for c in unit.columns]
            if unit.kind == BIT:
                c0, c1, _ = score_form(pre, unit, 0)
                if not c1:
                    start[columns[0]] = c0 > 0
                    continue
                left, right = sign_of_polynomial(c0, c1, 0, low), sign_of_polynomial(c0, c1, 0, high)
                start[columns[0]] = (left or right) > 0
                if left * right < 0:
                    on, off = ([columns[0]], []) if right > 0 else ([], [columns[0]])
                    events.append((Fraction(-c0, c1), (index, 0, 0), off, on))
            elif unit.kind == SET:
                winners, changes = self._envelope(unit, pre, low, high)
                start[[columns[i] for i in winners]] = 1
                for at, before, after in changes:
                    tag = (index, before[0], after[0])
                    events.append((at, tag, [columns[i] for i in before], [columns[i] for i in after]))
        place = cmp_to_key(compare)
        events.sort(key=lambda event: place(event[0]))
        points: list[Real] = []
        tags: list[tuple[int, int, int]] = []
        rows = [start]
        for at, tag, before, after in events:
            if not points or compare(points[-1], at) != 0:
                points.append(at)
                tags.append(tag)
                rows.append(rows[-1].copy())
            rows[-1][before] = 0
            rows[-1][after] = 1
        return Split(points, tags, np.array(rows), {tag[0] for _, tag, _, _ in events})

    @staticmethod
    def _envelope(
        unit: Unit, pre: Integers, low: Real, high: Real
    ) -> tuple[list[int], list[tuple[Real, list[int], list[int]]]]:
        """Winners right of ``low``, and the changes (where, winners before, winners after) up to ``high``."""
        ties: dict[tuple[int, ...], list[int]] = {}
        for i in range(len(unit.values)):
            ties.setdefault(tuple(score_form(pre, unit, i)), []).append(i)
        maps = list(ties)
        first, changes = envelope(maps, low, high)
        return ties[first], [(x, ties[before], ties[after]) for x, before, after in changes]


Quadratic = tuple[int, ...]  # coefficients of 1, x, xx


def envelope(
    maps: Sequence[Quadratic], low: Real, high: Real
) -> tuple[Quadratic, list[tuple[Real, Quadratic, Quadratic]]]:
    """Which of some distinct polynomials is greatest right of ``low``, and the changes (where, before, after) up to
    ``high``.
    """
    if len(maps) == 1:
        return maps[0], []
    crossings: list[Real] = []
    for p, q in combinations(maps, 2):
        c0, c1, c2 = (a - b for a, b in zip(p, q, strict=True))
        if not c2 and sign_of_polynomial(c0, c1, 0, low) * sign_of_polynomial(c0, c1, 0, high) >= 0:
            continue
        roots = real_roots(c0, c1, c2)
        crossings += [x for x in roots if compare(x, low) > 0 and compare(x, high) < 0]
    crossings.sort(key=cmp_to_key(compare))
    points: list[Real] = [low]
    for x in crossings:
        if compare(x, points[-1]) > 0:
            points.append(x)
    changes: list[tuple[Real, Quadratic, Quadratic]] = []
    first = won = None
    for x, after in pairwise([*points, high]):
        n, d = between(x, after).as_integer_ratio()
        best = max(maps, key=lambda c: (c[0] * d + c[1] * n) * d + c[2] * n * n)  # noqa: B023 - used at once
        if won is None:
            first = best
        elif best is not won:
            changes.append((x, won, best))
        won = best
    assert first is not None
    return first, changes


class PlaneJudge(Judge):
    """Exact answers about lines of a piece in the plane; ``edges`` are the domain's exact lines, positive inside."""

    def __init__(self, lowered: Lowered, window: Window, edges: list[Line]) -> None:
        super().__init__(lowered, window)
        self.edges = edges
        self._lines: dict[tuple[int, int, int, int, bytes], Line] = {}

    def line(self, tag: Sequence[int], pattern: np.ndarray) -> Line:
        """The line on which candidates i and j of a unit tie, positive where i is ahead, on a pattern's cell."""
        block, unit, i, j = (int(x) for x in tag[:4])
        if block < 0:
            return self.edges[unit]
        key = (block, unit, i, j, pattern[: self.lowered.blocks[block].first_column].tobytes())
        found = self._lines.get(key)
        if found is None:
            if len(self._lines) > 100_000:
                self._lines.clear()
            found = self._lines[key] = self._line(block, unit, i, j, pattern)
        return found

    def _line(self, block: int, unit: int, i: int, j: int, pattern: np.ndarray) -> Line:
        c, a, b, *quadratic = self.difference(block, unit, i, j, pattern)
        if any(quadratic):
            raise self.conic(block)
        return a, b, c

    def conic(self, block: int) -> NeedsConicEngine:
        layer = self.lowered.blocks[block].layer
        return NeedsConicEngine(
            f"layers[{layer}] (attention): a score is quadratic on a piece of this domain: its cells are no polygons; "
            "expected method 'auto' or 'conic'"
        )

    def at_corner(self, tag: Sequence[int], before: Sequence[int], after: Sequence[int], pattern: np.ndarray) -> int:
        """Sign of a line at the corner where two edges meet."""
        corner = crossing(self.line(before, pattern), self.line(after, pattern))
        return sign_at(self.line(tag, pattern), corner)


class WholePlaneJudge(PlaneJudge):
    """:class:`PlaneJudge` of the whole plane: the square [−R, R]², R larger than any number, ``edges`` its sides.

    Side k is ``edges[k]`` + R: its lines in ``edges`` lack that part.
    """

    def __init__(self, lowered: Lowered, window: Window) -> None:
        super().__init__(lowered, window, SIDES)

    def far_line(self, tag: Sequence[int], pattern: np.ndarray) -> FarLine:
        """:meth:`line` with its part of R."""
        return *self.line(tag, pattern), int(tag[0] < 0)

    def conic(self, block: int) -> NeedsConicEngine:
        layer = self.lowered.blocks[block].layer
        return NeedsConicEngine(
            f"layers[{layer}] (attention): a score is quadratic on a piece: the whole plane needs affine scores; "
            "expected a bounded domain"
        )

    def at_corner(self, tag: Sequence[int], before: Sequence[int], after: Sequence[int], pattern: np.ndarray) -> int:
        corner = far_crossing(self.far_line(before, pattern), self.far_line(after, pattern))
        return sign_far(self.line(tag, pattern), corner)


class LineJudge(Judge):
    """Exact subdivision of pieces of the line; ``ends`` are the domain's two ends.

    A *state* is a block and the exact map of its ``pre`` on a piece, in the piece's own coordinate s from 0 to 1: all
    that a split depends on.  States are numbered, so that pieces of one state share one split.
    """

    def __init__(self, lowered: Lowered, window: Window, ends: tuple[Fraction, Fraction]) -> None:
        super().__init__(lowered, window)
        self.ends = ends
        self.log = np.zeros((0, 3), dtype=np.int64)  # Run.log of the kernel, once a run has ended
        self.places: list[Real] = []  # exact places of the events of Memo
        self.states: list[tuple[int, Integers, int]] = []
        self._numbers: dict[tuple, int] = {}
        self._roots: dict[tuple[int, int, int, int, bytes], Real] = {}
        self._positions: dict[int, tuple[int, int] | None] = {
            -1 - side: x.as_integer_ratio() for side, x in enumerate(ends)
        }

    def end(self, tag: Sequence[int], pattern: np.ndarray) -> Real:
        """The exact end of a piece with this pattern."""
        block, unit, i, j = (int(x) for x in tag)
        if block < 0:
            return self.ends[unit]
        key = (block, unit, i, j, pattern[: self.lowered.blocks[block].first_column].tobytes())
        found = self._roots.get(key)
        if found is None:
            if len(self._roots) > 100_000:
                self._roots.clear()
            polynomial = self.difference(block, unit, i, j, pattern)
            roots = real_roots(*polynomial)  # score i falls behind score j here
            found = self._roots[key] = roots[-1] if polynomial[2] < 0 else roots[0]
        return found

    def position(self, mark: int) -> tuple[int, int] | None:
        """The exact place of a cut whose making is logged, (numerator, denominator > 0); None if irrational or found
        by floats.
        """
        if mark not in self._positions:
            left, right, part = (int(x) for x in self.log[mark])
            low, high = (self.position(left), self.position(right)) if part >= 0 else (None, None)
            self._positions[mark] = None
            place = self.places[part] if part >= 0 else None
            if low is not None and high is not None and isinstance(place, Fraction):
                (a, b), (c, d) = low, high
                p, q = place.as_integer_ratio()
                x, y = a * d * (q - p) + c * b * p, b * d * q
                common = math.gcd(x, y)
                self._positions[mark] = x // common, y // common
        return self._positions[mark]

    def number(self, block: int, pre: Integers, denominator: int) -> int:
        """The number of a state."""
        pre, denominator = reduced(pre, denominator)
        key = (block, denominator, *pre.ravel())
        if key not in self._numbers:
            self._numbers[key] = len(self.states)
            self.states.append((block, pre, denominator))
        return self._numbers[key]

    def state(self, block: int, tags: np.ndarray, pattern: np.ndarray) -> int:
        """The number of the state of a piece, −1 if an end is irrational."""
        low, high = (self.end(tag, pattern) for tag in tags)
        if isinstance(low, Surd) or isinstance(high, Surd):
            return -1
        return self.number(block, *restricted(*self.composer.pre(block, pattern), low, high))

    def split_state(self, state: int) -> tuple[Split, list[int]]:
        """The split of all pieces of a state, in the coordinate s; and the states of the parts, −1 where an end is
        irrational.
        """
        block, pre, denominator = self.states[state]
        split = self.split(block, pre, Fraction(0), Fraction(1))
        children = []
        for row, (low, high) in enumerate(pairwise([Fraction(0), *split.points, Fraction(1)])):
            if isinstance(low, Surd) or isinstance(high, Surd) or block + 1 == len(self.lowered.blocks):
                children.append(-1)
                continue
            part = restricted(pre, denominator, low, high)
            children.append(self.number(block + 1, *self.composer.advance(block, *part, split.choice[row])))
        return split, children

    def split_piece(self, block: int, tags: np.ndarray, pattern: np.ndarray) -> Split:
        """The split of a piece that has no state."""
        low, high = (self.end(tag, pattern) for tag in tags)
        return self.split(block, self.composer.pre(block, pattern)[0], low, high)

    def output_map(self, state: int, marks: Sequence[int]) -> tuple[int, ...] | None:
        """The output map on a piece from its state and the cuts at its ends; None where they are not logged.

        In lowest terms: the denominator, then the numerators of slopes and constants.
        """
        low, high = (self.position(int(mark)) for mark in marks)
        if state < 0 or low is None or high is None:
            return None
        _, pre, denominator = self.states[state]
        (a, b), (c, d) = low, high
        length, scale = c * b - a * d, b * d  # the piece is length / scale long and starts at a / b
        slopes = [x * scale * b for x in pre[0]]
        constants = [y * length * b - x * scale * a for x, y in zip(pre[0], pre[1], strict=True)]
        bottom = denominator * length * b
        common = math.gcd(bottom, *slopes, *constants)
        return bottom // common, *(x // common for x in slopes), *(x // common for x in constants)


def restricted(pre: Integers, denominator: int, low: Fraction, high: Fraction) -> tuple[Integers, int]:
    """A map of the line on the part from low to high, in a coordinate that is 0 and 1 at its ends."""
    common = math.lcm(low.denominator, high.denominator)
    start, length = int(low * common), int((high - low) * common)
    return np.stack([pre[0] * length, pre[1] * common + pre[0] * start]), denominator * common


@dataclass
class PlanePieces:
    """What the polygon kernel emitted, in engine coordinates; see ``kernels.polygon.Leaves``.

    ``corners`` (n, 3) are x, y, radius; of the whole plane (n, 4), homogeneous, the weight last, until
    ``plane.realised`` has placed those at infinity.
    """

    corners: np.ndarray
    tags: np.ndarray
    offsets: np.ndarray
    patterns: np.ndarray
    maps: np.ndarray
    errors: np.ndarray


@dataclass
class LinePieces:
    """What the interval kernel emitted, in engine coordinates; see ``kernels.interval.Leaves``."""

    ends: np.ndarray
    tags: np.ndarray
    patterns: np.ndarray
    maps: np.ndarray
    errors: np.ndarray
    states: np.ndarray
    marks: np.ndarray


@dataclass
class Outcome:
    """Result of a run.

    ``patterns[b]`` is the number of activation patterns of the network cut after block b, ``n_pieces`` that of pieces;
    ``pieces`` holds them if they were asked for, with hidden columns in their patterns.
    """

    patterns: np.ndarray
    n_pieces: int
    pieces: Any
    judge: Any
    window: Window
    decisions: Decisions = field(default_factory=Decisions)
    method: str = "polygon"


def polygon_run(
    lowered: Lowered, domain: Box | Polygon | Plane, emit: bool, max_pieces: int | None, exact: bool = False
) -> Outcome:
    """Subdivide a convex polygon or the plane; ``emit`` keeps the pieces, otherwise they are only counted; ``exact``
    trusts no floats.

    Raises
    ------
    NeedsConicEngine
        If a score is quadratic on a piece.
    TooManyPieces
        If there are more than ``max_pieces``.
    """
    return PolygonRun(lowered, domain, emit, max_pieces, exact).run()


class PolygonRun:
    """One run of the polygon kernel; the conic engine builds on it."""

    judge_type: type[PlaneJudge] = PlaneJudge
    everywhere = False
    method = "polygon"
    convex = True  # whether the set of a full pattern is
    kernel: Any
    run_: Any
    n_out: int
    FRAMES, CORNERS, REQUESTS, TABLE, LEAVES, PRINTS = 64, 16, 4096, 1 << 16, 2048, 1 << 16

    def __init__(
        self, lowered: Lowered, domain: Box | Polygon | Plane, emit: bool, max_pieces: int | None, exact: bool = False,
        shear: Fraction = Fraction(0),
    ) -> None:  # fmt: skip
        from regioncount.kernels import polygon

        self.kernel = polygon
        self.lowered = lowered
        self.program: Program = flatten(lowered)
        self.whole = isinstance(domain, Plane)
        self.judge: Any
        if isinstance(domain, Plane):
            self.window = Window.of_space(lowered)
            corners: list[tuple[Fraction, ...]] = list(CORNERS_OF_SQUARE)  # directions: they are at infinity
            self.judge = WholePlaneJudge(lowered, self.window)
        else:
            self.window = Window.around(domain.vertices, shear)
            corners = [self.window.inward(v) for v in domain.vertices]
            self.judge = self.judge_type(lowered, self.window, [_edge(corners, i) for i in range(len(corners))])
        self.max_pieces = max_pieces
        self.decisions = Decisions()
        self.place: tuple[int, ...] = ()  # where the run was when it last forgot its verdicts
        self._allocate(len(corners), emit)
        self._first_frame(corners)
        self._first_map(exact)

    def _allocate(self, n_corners: int, emit: bool) -> None:
        k = self.kernel
        frames, corners = self.FRAMES, max(self.CORNERS, n_corners + 8)
        info, maps, pattern = self._allocate_blocks(2, emit)
        self.stack = k.Stack(
            np.zeros((frames, corners, 8)), np.zeros((frames, corners, 6), dtype=np.int64), info, maps, pattern
        )
        self.run_ = self.run_._replace(scratch=np.zeros((4, max(corners, self.most)), dtype=np.int64))
        leaves = self.LEAVES if emit else 0
        self.leaves = k.Leaves(
            np.zeros((8 * leaves + corners, 4)), np.zeros((8 * leaves + corners, 5), dtype=np.int64),
            np.zeros(leaves, dtype=np.int64), np.zeros((leaves, self.lowered.columns), dtype=np.uint8),
            np.zeros((leaves, 3, self.n_out + 1)),
        )  # fmt: skip

    def _allocate_blocks(self, dim: int, emit: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What does not depend on the geometry of pieces; returns ``info``, ``map`` and ``pattern`` of the stack."""
        k, blocks = self.kernel, self.program.blocks
        n_blocks = len(blocks)
        widest = int(max(blocks[:, 5].max(), 1))
        choices = int(max(blocks[:, 12].max(), 1))
        candidates = int(max((blocks[:, 14] - blocks[:, 13]).max(), 1))
        self.roots = k.Roots(
            np.zeros((n_blocks, dim + 2, widest)), np.zeros((n_blocks, dim + 2, candidates)),
            np.zeros((n_blocks, 4, dim + 1)), np.zeros(n_blocks, dtype=np.int64),
        )  # fmt: skip
        state = np.zeros(15, dtype=np.int64)
        state[k.NEXT_ROOT] = 1
        state[k.LAST_BLOCK] = n_blocks - 1 if emit else self.lowered.last_choice
        state[k.EMIT] = emit
        state[k.MAX_PIECES] = np.iinfo(np.int64).max if self.max_pieces is None else self.max_pieces
        # sets of a full pattern are convex, so they are pieces; those of a visible one need not be
        state[k.FINGERPRINTS] = self.lowered.has_hidden or not self.convex
        prints = self.PRINTS if state[k.FINGERPRINTS] else 0
        self.most = max(int(self.program.units[:, 4].max(initial=1)), choices)  # candidates of a unit, units of a block
        table = np.zeros((self.TABLE, 3), dtype=np.int64)
        table[:, 2] = 2
        self.run_ = k.Run(
            state, np.zeros(n_blocks, dtype=np.int64), table, np.zeros((self.REQUESTS, 16), dtype=np.int64),
            np.zeros((4, widest)), np.zeros((4, self.most), dtype=np.int64), np.zeros(4),
            np.zeros(5, dtype=np.int64), np.zeros(4, dtype=np.int64), np.zeros((5, dim + 1)),
            np.zeros((prints, 3), dtype=np.int64), self.lowered.visible.astype(np.uint8),
        )  # fmt: skip
        self.seen = np.zeros((0, 3), dtype=np.int64)
        self.n_out = int(blocks[-1, 5]) if emit else 0
        self.chunks: list[tuple[np.ndarray, ...]] = []
        frames = self.FRAMES
        return (
            np.zeros((frames, k.N_INFO + choices), dtype=np.int64), np.zeros((frames, dim + 1, widest)),
            np.zeros((frames, self.lowered.columns), dtype=np.uint8),
        )  # fmt: skip

    def _first_frame(self, corners: list[Any]) -> None:
        k, stack = self.kernel, self.stack
        for v, point in enumerate(corners):
            xy = [float(x) for x in point]
            exact = all(Fraction(f) == x for f, x in zip(xy, point, strict=True))
            stack.edges[0, v, :3] = [*xy, 0.0 if exact else 2 * U]
            a, b, c = self.judge.edges[v]
            size = max(abs(a), abs(b), abs(c))
            line = np.array([a / size, b / size, c / size])
            length = float(np.hypot(line[0], line[1]))
            stack.edges[0, v, 3:] = [*(line / length), 16 * U / length, 1.0]
            if self.whole:  # a corner at infinity, on the line at infinity
                stack.edges[0, v, 3:] = [0.0, 0.0, 1.0, 0.0, 0.0]
            stack.tags[0, v] = [-1, v, 0, 0, -1 - v, k.mix(2**40, v)]
        stack.info[0, :4] = [len(corners), 0, 0, k.ROOT]

    def _first_map(self, exact: bool) -> None:
        """The map of the first block, and its errors; infinite where ``exact`` trusts no floats."""
        k = self.kernel
        first = as_floats(*self.judge.composer.pre(0, np.zeros(0, dtype=np.uint8)))
        n = first.shape[1]
        self.stack.map[0, :, :n] = first
        self.roots.map[0, -1, :n] = U * np.abs(first).sum(axis=0)
        with np.errstate(over="ignore"):
            self.roots.norm[0, k.ERROR] = 1.01 * U * np.sqrt((first * first).sum(axis=1)) + 1e-300
        if exact:
            self.run_.state[k.NO_FLOATS] = 1
            self.roots.map[0, -1] = np.inf
            self.roots.norm[0, k.ERROR] = np.inf

    def run(self) -> Outcome:
        k = self.kernel
        if self.run_.state[k.LAST_BLOCK] < 0:  # no choices at all and nothing to emit
            return Outcome(self.run_.counts, 1, None, self.judge, self.window, self.decisions, self.method)
        if self.everywhere:
            self._hand_over()
        while True:
            status = self._advance()
            if status == k.OK:
                break
            self._provide(status)
        pieces = None
        if self.run_.state[k.EMIT]:
            self._drain()
            pieces = self._collect()
        self.decisions.floats = 0 if self.run_.state[k.NO_FLOATS] else int(self.run_.state[k.N_FLOATS])
        counts = patterns = self.run_.counts
        if self.run_.state[k.FINGERPRINTS]:
            self._collect_prints()
            patterns = np.bincount(self.seen[:, 0], minlength=len(counts))
        last = int(counts[self.run_.state[k.LAST_BLOCK]])
        return Outcome(patterns, last, pieces, self.judge, self.window, self.decisions, self.method)

    def _advance(self) -> int:
        """Run the kernel until it has ended or needs something."""
        return int(self.kernel.subdivide(self.program, self.run_, self.stack, self.roots, self.leaves))

    def _provide(self, status: int) -> None:
        """Give the kernel what it needs."""
        k = self.kernel
        if status == k.REQUEST:
            self._settle()
        elif status == k.CONIC:
            self._hand_over()
        elif status == k.GROW_FRAMES:
            self.stack = k.Stack(*(np.concatenate([a, np.zeros_like(a)]) for a in self.stack))
        elif status == k.GROW_CORNERS:
            self._grow_corners()
        elif status == k.FULL:
            self._drain()
        elif status == k.FULL_PRINTS:
            self._collect_prints()
        else:
            raise too_many(self.max_pieces)

    def _hand_over(self) -> None:
        raise AssertionError("the judge refuses quadratic scores")

    def _collect_prints(self) -> None:
        """Keep the new fingerprints; the buffer grows with their number, so that few are sorted often."""
        k, state = self.kernel, self.run_.state
        self.seen = np.unique(np.concatenate([self.seen, self.run_.prints[: state[k.N_PRINTS]]]), axis=0)
        state[k.N_PRINTS] = 0
        if len(self.seen) > len(self.run_.prints):
            self.run_ = self.run_._replace(prints=np.zeros((2 * len(self.seen), 3), dtype=np.int64))

    def _settle(self, patterns: np.ndarray | None = None) -> None:
        """Answer the kernel's questions about frames with these patterns."""
        k, run = self.kernel, self.run_
        patterns = self.stack.pattern if patterns is None else patterns
        count = int(run.state[k.N_REQUESTS])
        verdicts = np.empty(count, dtype=np.int64)
        for q in range(count):
            request = run.request[q]
            pattern = patterns[request[0]]
            tag = request[2:6]
            if request[1] == k.AT_CORNER:
                verdicts[q] = self._at_corner(request, pattern)
            elif request[1] == k.SAME_MAP:
                verdicts[q] = self.judge.same_map(tag, pattern)
            elif request[1] == k.AFFINE:
                verdicts[q] = self.judge.affine(tag, pattern)
            else:
                verdicts[q] = self.judge.degree(tag, pattern)
        self.decisions.exact += count
        if 2 * (int(run.state[k.N_VERDICTS]) + count) > len(run.table):
            self._forget()
        k.answer(self.run_, verdicts, count)

    def _at_corner(self, request: np.ndarray, pattern: np.ndarray) -> int:
        """Sign of the line of a request at its corner."""
        return self.judge.at_corner(request[2:6], request[6:10], request[10:14], pattern)

    def _forget(self) -> None:
        """Empty the table of verdicts; double it if nothing has moved since last time: one step needs more of them."""
        k, state = self.kernel, self.run_.state
        top = int(state[k.TOP])
        moved = (*state[[k.NEXT_BORDER, k.NEXT_ROOT]].tolist(), int(self.run_.counts.sum()))
        place = (top, *moved, *self.stack.info[top].tolist())
        size = len(self.run_.table) * (2 if place == self.place else 1)
        while size < 2 * int(state[k.N_REQUESTS]):
            size *= 2
        table = np.zeros((size, 3), dtype=np.int64)
        table[:, 2] = 2
        state[k.N_VERDICTS] = 0
        self.run_, self.place = self.run_._replace(table=table), place

    def _grow_corners(self) -> None:
        edges, tags, *rest = self.stack
        wider = [np.concatenate([a, np.zeros_like(a)], axis=1) for a in (edges, tags)]
        self.stack = self.kernel.Stack(*wider, *rest)
        scratch = np.zeros((4, max(wider[0].shape[1], self.most)), dtype=np.int64)
        self.run_ = self.run_._replace(scratch=scratch)

    def _drain(self) -> None:
        k, state, leaves = self.kernel, self.run_.state, self.leaves
        n, m = int(state[k.N_PIECES]), int(state[k.N_CORNERS])
        if n == 0 and self.chunks:  # one piece alone is larger than the buffers
            leaves = self.leaves = k.Leaves(*(np.concatenate([a, np.zeros_like(a)]) for a in leaves))
        self.chunks.append(
            (leaves.corners[:m].copy(), leaves.tags[:m].copy(), leaves.size[:n].copy(), leaves.pattern[:n].copy(),
             leaves.map[:n].copy())
        )  # fmt: skip
        state[k.N_PIECES] = state[k.N_CORNERS] = 0

    def _collect(self) -> Any:
        corners, tags, sizes, patterns, maps = (np.concatenate(parts) for parts in zip(*self.chunks, strict=True))
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        if not self.whole:
            corners = corners[:, :3]
        return PlanePieces(corners, tags, offsets, patterns, maps[:, :, :-1].transpose(0, 2, 1), maps[:, :, -1])


def too_many(max_pieces: int | None) -> TooManyPieces:
    """The error for a partition larger than allowed."""
    return TooManyPieces(
        f"max_pieces: the partition has more than {max_pieces} pieces; raise max_pieces (--max-pieces), or count "
        "activation regions alone, which needs no memory"
    )


def interval_run(
    lowered: Lowered, domain: Interval, emit: bool, max_pieces: int | None, exact: bool = False
) -> Outcome:
    """Subdivide an interval; ``emit`` keeps the pieces, otherwise they are only counted; ``exact`` uses no floats.

    Raises
    ------
    TooManyPieces
        If there are more than ``max_pieces``.
    """
    return _IntervalRun(lowered, domain, emit, max_pieces, exact).run()


class _IntervalRun:
    FRAMES, EVENTS, LEAVES, PRINTS = 256, 256, 4096, 1 << 16

    def __init__(self, lowered: Lowered, domain: Interval, emit: bool, max_pieces: int | None, exact: bool) -> None:
        from regioncount.kernels import interval

        self.kernel = interval
        self.lowered = lowered
        self.program = flatten(lowered)
        self.window = Window.around([(domain.low,), (domain.high,)])
        ends = (self.window.inward((domain.low,))[0], self.window.inward((domain.high,))[0])
        self.judge = LineJudge(lowered, self.window, ends)
        self.max_pieces = max_pieces
        self.decisions = Decisions()
        self._allocate(emit, exact)
        self._first_frame(ends)

    def _allocate(self, emit: bool, exact: bool) -> None:
        k, blocks = self.kernel, self.program.blocks
        n_blocks, columns = len(blocks), self.lowered.columns
        widest = int(max(blocks[:, 5].max(), 1))
        most = int(self.program.units[:, 4].max(initial=1))
        events = self.EVENTS + int(blocks[:, 12].max(initial=1)) + 2 * most * most
        self.width = int(max((blocks[:, 10] - blocks[:, 9]).max(), 1))
        self.units = int(max((blocks[:, 8] - blocks[:, 7]).max(), 1))
        candidates = int(max((blocks[:, 14] - blocks[:, 13]).max(), 1))
        frames = self.FRAMES
        self.stack = k.Stack(
            np.zeros((frames, 2, 2)), np.zeros((frames, 2, 4), dtype=np.int64), np.zeros(frames, dtype=np.int64),
            np.zeros((frames, 2, widest)), np.zeros((frames, columns), dtype=np.uint8),
            np.full(frames, -1, dtype=np.int64), np.zeros((frames, 2), dtype=np.int64),
        )  # fmt: skip
        self.roots = k.Roots(np.zeros((n_blocks, 3, widest)), np.zeros((n_blocks, 4, 2)))
        self.events = k.Events(
            np.zeros((events, 2)), np.zeros((events, 3), dtype=np.int64), np.zeros(events, dtype=np.int64),
            np.zeros((candidates, 4)), np.zeros((events + 1, self.width), dtype=np.uint8),
            np.zeros(self.units, dtype=np.uint8), np.full(events + 1, -1, dtype=np.int64),
            np.full(events + 1, -1, dtype=np.int64),
        )  # fmt: skip
        self.memo = k.Memo(
            np.full((16, 3), -1, dtype=np.int64), np.zeros(16), np.zeros((16, 3), dtype=np.int64),
            np.zeros(16, dtype=np.int64), np.zeros((16, self.width), dtype=np.uint8),
            np.zeros((16, self.units), dtype=np.uint8),
        )  # fmt: skip
        self.n_splits = 0
        state = np.zeros(12, dtype=np.int64)
        state[k.LAST_BLOCK] = n_blocks - 1 if emit else self.lowered.last_choice
        state[k.EMIT] = emit
        state[k.MAX_PIECES] = np.iinfo(np.int64).max if self.max_pieces is None else self.max_pieces
        state[k.NO_FLOATS] = exact
        # a pattern may have several pieces only where some score is quadratic
        units = self.program.units
        products = self.program.candidates[units[:, 3], 3] > 0 if len(units) else np.zeros(0, dtype=bool)
        self.quadratic = bool((products & (units[:, 5] == 0)).any())
        state[k.FINGERPRINTS] = self.quadratic
        prints, log = self.PRINTS if self.quadratic else 0, self.PRINTS if emit else 0
        self.run_ = k.Run(
            state,
            np.zeros(n_blocks, dtype=np.int64),
            np.zeros((prints, 3), dtype=np.int64),
            np.zeros((log, 3), dtype=np.int64),
        )
        leaves = self.LEAVES if emit else 0
        n_out = int(blocks[-1, 5]) if emit else 0
        self.leaves = k.Leaves(
            np.zeros((leaves, 2, 2)), np.zeros((leaves, 2, 4), dtype=np.int64),
            np.zeros((leaves, columns), dtype=np.uint8), np.zeros((leaves, 2, n_out + 1)),
            np.zeros(leaves, dtype=np.int64), np.zeros((leaves, 2), dtype=np.int64),
        )  # fmt: skip
        self.chunks: list[tuple[np.ndarray, ...]] = []
        self.seen = np.zeros((0, 3), dtype=np.int64)

    def _first_frame(self, ends: tuple[Fraction, Fraction]) -> None:
        stack = self.stack
        for side, x in enumerate(ends):
            at = float(x)
            stack.ends[0, side] = [at, 0.0 if Fraction(at) == x else 2 * U]
            stack.tags[0, side] = [-1, side, 0, 0]
            stack.marks[0, side] = -1 - side
        first = as_floats(*self.judge.composer.pre(0, np.zeros(0, dtype=np.uint8)))
        n = first.shape[1]
        stack.map[0, :, :n] = first
        self.roots.map[0, 2, :n] = U * np.abs(first).sum(axis=0)
        with np.errstate(over="ignore"):
            self.roots.norm[0, self.kernel.ERROR] = 1.01 * U * np.sqrt((first * first).sum(axis=1)) + 1e-300

    def run(self) -> Outcome:
        k, state = self.kernel, self.run_.state
        if state[k.LAST_BLOCK] < 0:
            return Outcome(self.run_.counts, 1, None, self.judge, self.window, self.decisions, "interval")
        p, best = np.zeros(4), np.zeros(4)
        while True:
            arrays = (self.program, self.run_, self.stack, self.roots, self.events, self.memo, self.leaves)
            status = k.subdivide(*arrays, p, best)
            if status == k.EXACT:
                self._settle()
                continue
            if status == k.OK and state[k.TOP] < 0:
                break
            self._serve(status)
        self._collect_prints()
        self.decisions.floats = 0 if state[k.NO_FLOATS] else int(state[k.N_FLOATS])
        pieces = None
        if state[k.EMIT]:
            self._drain()
            pieces = self._collect()
        counts = self.run_.counts
        patterns = counts
        if self.quadratic:
            patterns = np.bincount(self.seen[:, 0], minlength=len(counts))
        last = int(counts[state[k.LAST_BLOCK]])
        return Outcome(patterns, last, pieces, self.judge, self.window, self.decisions, "interval")

    def _serve(self, status: int) -> None:
        k = self.kernel
        if status == k.GROW_FRAMES:
            self.stack = k.Stack(*(np.concatenate([a, np.zeros_like(a)]) for a in self.stack))
        elif status == k.GROW_EVENTS:
            self._grow_events()
        elif status == k.GROW_LOG:
            log = self.run_.log
            self.run_ = self.run_._replace(log=np.concatenate([log, np.zeros((len(log) + 1024, 3), dtype=np.int64)]))
        elif status == k.FULL:
            self._drain()
            self._collect_prints()
            need = int(self.run_.state[k.N_EVENTS]) + 1
            if self.quadratic and need > len(self.run_.prints):
                self.run_ = self.run_._replace(prints=np.zeros((2 * need, 3), dtype=np.int64))
        elif status == k.LIMIT:
            raise too_many(self.max_pieces)

    def _grow_events(self) -> None:
        n = 2 * len(self.events.at)
        self.events = self.events._replace(
            at=np.zeros((n, 2)), tags=np.zeros((n, 3), dtype=np.int64), order=np.zeros(n, dtype=np.int64),
            choice=np.zeros((n + 1, self.width), dtype=np.uint8), child=np.full(n + 1, -1, dtype=np.int64),
            part=np.full(n + 1, -1, dtype=np.int64),
        )  # fmt: skip

    def _settle(self) -> None:
        """Split the top frame exactly: by its state, so that the kernel recalls it, or, where it has none, as a piece
        of its own.
        """
        k, state, stack = self.kernel, self.run_.state, self.stack
        f = int(state[k.TOP])
        block = int(stack.block[f])
        if stack.state[f] < 0:
            stack.state[f] = self.judge.state(block, stack.tags[f], stack.pattern[f])
        self.decisions.exact += 1
        if stack.state[f] < 0:
            self._split_alone(f, block)
            return
        number = int(stack.state[f])
        if number < len(self.memo.split) and self.memo.split[number, 1] >= 0:
            return
        split, children = self.judge.split_state(number)
        first, n = len(self.judge.places), len(split.points)
        self._grow_memo(first + n, self.n_splits + 1)
        memo = self.memo
        memo.split[number] = first, n, self.n_splits
        rows = slice(first + self.n_splits, first + self.n_splits + n + 1)
        memo.place[first : first + n] = [nearest_float(x) for x in split.points]
        memo.tags[first : first + n] = np.array(split.tags, dtype=np.int64).reshape(-1, 3)
        memo.child[rows] = children
        memo.choice[rows, : split.choice.shape[1]] = split.choice
        for unit in split.changing:
            memo.varies[self.n_splits, unit - self.judge.first_unit[block]] = 1
        self.judge.places += split.points
        self.n_splits += 1
        while n + 1 > len(self.events.at):
            self._grow_events()

    def _grow_memo(self, events: int, splits: int) -> None:
        """Room for so many events and splits, and for all states."""
        needs = (len(self.judge.states), events, events, events + splits, events + splits, splits)
        grown = []
        for array, need, fill in zip(self.memo, needs, (-1, 0, 0, 0, 0, 0), strict=True):
            if need > len(array):
                more = np.full((need + len(array), *array.shape[1:]), fill, dtype=array.dtype)
                array = np.concatenate([array, more])
            grown.append(array)
        self.memo = self.kernel.Memo(*grown)

    def _split_alone(self, f: int, block: int) -> None:
        """Split a frame with an irrational end, and spread it."""
        k = self.kernel
        split = self.judge.split_piece(block, self.stack.tags[f], self.stack.pattern[f])
        n = len(split.points)
        while n + 1 > len(self.events.at):
            self._grow_events()
        events = self.events
        for e, (x, tag) in enumerate(zip(split.points, split.tags, strict=True)):
            events.at[e] = [nearest_float(x), 4 * U]
            events.tags[e] = tag
            events.order[e] = e
        events.choice[: n + 1, : split.choice.shape[1]] = split.choice
        events.varies[:] = 0
        events.child[: n + 1] = events.part[: n + 1] = -1
        for unit in split.changing:
            events.varies[unit - self.judge.first_unit[block]] = 1
        self.run_.state[k.N_EVENTS] = n
        while True:
            status = k.spread(self.program, self.run_, self.stack, self.roots, self.events, f)
            if status == k.OK:
                return
            self._serve(status)

    def _drain(self) -> None:
        k, state, leaves = self.kernel, self.run_.state, self.leaves
        n = int(state[k.N_PIECES])
        self.chunks.append(tuple(a[:n].copy() for a in leaves))
        state[k.N_PIECES] = 0

    def _collect_prints(self) -> None:
        k, state = self.kernel, self.run_.state
        n = int(state[k.N_PRINTS])
        if n:
            self.seen = np.unique(np.concatenate([self.seen, self.run_.prints[:n]]), axis=0)
            state[k.N_PRINTS] = 0

    def _collect(self) -> LinePieces:
        ends, tags, patterns, maps, states, marks = (np.concatenate(parts) for parts in zip(*self.chunks, strict=True))
        self.judge.log = self.run_.log[: int(self.run_.state[self.kernel.N_LOG])]
        return LinePieces(ends, tags, patterns, maps[:, :, :-1].transpose(0, 2, 1), maps[:, :, -1], states, marks)


CORNERS_OF_SQUARE = [(Fraction(x), Fraction(y)) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def _edge(corners: list[tuple[Fraction, ...]], i: int) -> Line:
    """The exact line of edge i of a counter-clockwise polygon, positive inside."""
    (x0, y0), (x1, y1) = corners[i], corners[(i + 1) % len(corners)]
    a, b = y0 - y1, x1 - x0
    c = -(a * x0 + b * y0)
    common = np.lcm.reduce([a.denominator, b.denominator, c.denominator], dtype=object)
    return int(a * common), int(b * common), int(c * common)
