"""What must hold of every partition; :func:`check` raises AssertionError with one sentence that says what fails, and
where.

Notation: n pieces, V vertices.  Geometry is tested in the domain's own coordinates ξ = (x − centre) / half, |ξ| ≤ 1,
so that one tolerance serves boxes of any shape and place: 1e-9, plus what rounding to floats costs far from the
origin.  A *side* is a facet as one of its pieces has it: (piece, start, end), counter-clockwise.

The topology is tested exactly, on numbers of vertices: the sides of a piece are one closed walk through all its
corners, and in the plane V − facets + n = 1 (facets end at every T-junction, so they are the edges of a subdivision
of a disc).  Where borders are arcs of conics, pieces need not be convex: areas inside the walks, arcs included, must be
positive and sum to the domain's, the walk around a piece must go once around its interior point, walks around other
pieces must not, and just beside facets, on both sides, the network must choose as the pieces there do.

From three dimensions on pieces are half-spaces with a point inside; random points must lie in exactly one piece.

Choices and maps are compared with ``Network``, which shares no geometry with the engines; the borders of convex pieces
with exact score differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from regioncount import arcs
from regioncount.domain import Box, Interval
from regioncount.lowering import BIT, Composer, lower
from regioncount.network import Attention

if TYPE_CHECKING:
    from regioncount.partition import Partition

TOLERANCE = 1e-9
SAMPLE = 2000  # pieces compared with the network
EXACT_SAMPLE = 100  # pieces whose borders are composed exactly: a few milliseconds each in deep networks
U = 2.0**-53


def check(partition: Partition) -> None:
    """Check a partition: shapes, geometry, facets, patterns, maps and regions.

    Pieces thinner than a few times the tolerance are left out where an interior point is needed: floats near their
    corners need not lie inside them.  Where the domain is so small and so far from the origin that floats do not
    resolve it (tolerance beyond 1e-3), only shapes, topology and regions are checked.

    Raises
    ------
    AssertionError
        With one sentence saying what does not hold and where.
    """
    if partition.dim > 2:
        _check_space(partition)
        return
    frame = _Frame.of(partition.frame)
    _shapes(partition)
    if partition.dim == 1:
        _line(partition)
        points, thick = _inside_intervals(partition, frame)
    elif _curved(partition):
        points, thick = _Curves.of(partition, frame).check(partition, frame)
    else:
        polygons = _Polygons.of(partition, frame)
        if frame.resolved:
            _polygons(polygons, frame)
        sides = _facets(partition)
        if frame.resolved:
            _lengths(partition, polygons, *sides, frame)
        points, thick = polygons.centroids(), polygons.area > 4 * frame.tolerance * polygons.perimeter
    _patterns(partition)
    maps = _Maps.of(partition, frame)
    if frame.resolved:
        if not any(isinstance(layer, Attention) for layer in partition.network.layers):
            _continuity(partition, maps, frame)
        _network(partition, points, thick, maps, frame)
        if not _curved(partition):
            _borders(partition, frame)
    _regions(partition, maps)


def _curved(p: Partition) -> bool:
    """Whether pieces come from an engine that makes arcs; they need not be convex then."""
    return len(p.facet_arc) > 0


def _expect(ok: Any, what: str, where: str = "piece") -> None:
    """Raise where some entry of ``ok`` is False, naming the first."""
    bad = np.flatnonzero(~np.atleast_1d(np.asarray(ok, dtype=bool)))
    if len(bad):
        more = f", and {len(bad) - 1} more like it" if len(bad) > 1 else ""
        raise AssertionError(f"{where} {bad[0]}: {what}{more}")


def _same(found: Any, wanted: Any, what: str) -> None:
    if found != wanted:
        raise AssertionError(f"{what}: expected {wanted}, got {found}")


@dataclass(frozen=True)
class _Frame:
    """The domain's own coordinates: exact ``centre`` and ``half`` sizes, and the tolerance of floats in them."""

    centre: tuple[Fraction, ...]
    half: tuple[Fraction, ...]
    corners: np.ndarray  # (k, dim), of the domain, in its own coordinates
    tolerance: float

    @classmethod
    def of(cls, domain: Any) -> _Frame:
        points = [(domain.low,), (domain.high,)] if isinstance(domain, Interval) else list(domain.vertices)
        low = [min(x) for x in zip(*points, strict=True)]
        high = [max(x) for x in zip(*points, strict=True)]
        centre = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
        half = tuple((b - a) / 2 for a, b in zip(low, high, strict=True))
        inside = [[float((x - c) / h) for x, c, h in zip(p, centre, half, strict=True)] for p in points]
        step = max(
            float(np.spacing(max(abs(float(a)), abs(float(b)))) / float(h))
            for a, b, h in zip(low, high, half, strict=True)
        )
        return cls(centre, half, np.array(inside), TOLERANCE + 8 * step)

    @property
    def resolved(self) -> bool:
        """Whether floats tell points of the domain apart."""
        return self.tolerance < 1e-3

    def inward(self, points: np.ndarray) -> np.ndarray:
        return (points - np.array([float(c) for c in self.centre])) / np.array([float(h) for h in self.half])

    def outward(self, points: np.ndarray) -> np.ndarray:
        return np.array([float(c) for c in self.centre]) + points * np.array([float(h) for h in self.half])


# ------------------------------------------------------------------------------------------------ shapes


def _shapes(p: Partition) -> None:
    n, kinds = len(p.patterns), {"f": "floats", "i": "integers", "u": "uint8", "b": "bools"}
    _expect(n > 0, "a partition has at least one piece")
    wanted: dict[str, tuple[str, tuple[int | None, ...]]] = {
        "patterns": ("u", (n, _columns(p))),
        "maps": ("f", (n, p.network.output_dim, p.dim + 1)),
        "facets": ("i", (None, 2)),
        "facet_border": ("i", (len(p.facets),)),
    }
    if p.dim == 1:
        wanted["breakpoints"] = ("f", (n + 1,))
    elif p.dim > 2:
        wanted |= {"facets": ("i", (0, 2)), "interior_points": ("f", (n, p.dim)), "bounded": ("b", (n,))}
    else:
        wanted |= {
            "facet_vertices": ("i", (len(p.facets), 2)),
            "vertices": ("f", (None, 2)),
            "offsets": ("i", (n + 1,)),
            "piece_vertices": ("i", (None,)),
            "arcs": ("f", (None if _curved(p) else 0, 3)),
            "facet_arc": ("i", (len(p.facets) if _curved(p) else 0,)),
            "interior_points": ("f", (n if _curved(p) else 0, 2)),
        }
    for name, (kind, shape) in wanted.items():
        array = getattr(p, name)
        fits = array.ndim == len(shape) and all(k in (None, m) for k, m in zip(shape, array.shape, strict=True))
        if array.dtype.kind != kind or not fits:
            raise AssertionError(
                f"{name}: expected {kinds[kind]} of shape {shape}, got {array.dtype} of shape {array.shape}"
            )
        if kind == "f" and name != "maps":
            if name == "breakpoints" and not p.domain.bounded:
                array = array[1:-1]
            _expect(np.isfinite(array).all(axis=tuple(range(1, array.ndim))), f"{name} are finite", "row")
    _expect((p.patterns <= 1).all(axis=1), "its pattern holds only 0 and 1")
    _expect((p.facets[:, 0] >= 0) & (p.facets[:, 0] < n), "its first side is a piece", "facet")
    _expect((p.facets[:, 1] >= -1) & (p.facets[:, 1] < n), "its second side is a piece or -1", "facet")
    _expect(p.facets[:, 0] != p.facets[:, 1], "its two sides are different pieces", "facet")
    _expect(
        (p.facets[:, 1] < 0) == (p.facet_border < 0),
        "it lies on the domain's boundary on both accounts or on none",
        "facet",
    )
    if _curved(p):
        _expect((p.facet_arc >= -1) & (p.facet_arc < len(p.arcs)), "its arc is a row of arcs or -1", "facet")
        _expect(p.arcs[:, 2] >= 0, "its weight is not negative", "arc")
        _expect((p.facets[:, 1] >= 0) | (p.facet_arc < 0), "on the domain's boundary it is straight", "facet")


def _columns(p: Partition) -> int:
    return lower(p.network).columns


# ------------------------------------------------------------------------------------------------ the line


def _line(p: Partition) -> None:
    (low,), (high,) = p.domain.bounds
    n = p.n_pieces
    _same((float(p.breakpoints[0]), float(p.breakpoints[-1])), (low, high), "breakpoints: ends of the domain")
    increasing = "the next breakpoint is not less (equal where two round to one float)"
    _expect(np.diff(p.breakpoints) >= 0, increasing, "breakpoint")
    if p.reach is not None:
        inside = (np.abs(p.breakpoints[1:-1]) <= p.reach).all()
        _expect(inside, "breakpoints: those of the whole line are within reach", "partition")
    inner = np.sort(p.facets[p.facets[:, 1] >= 0], axis=1)
    inner = inner[np.argsort(inner[:, 0], kind="stable")]
    _same(len(inner), n - 1, "facets: number between pieces")
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    _expect((inner == chain).all(axis=1), "one facet joins it to the next")
    outer = sorted(p.facets[p.facets[:, 1] < 0, 0].tolist())
    _same(outer, [0, n - 1], "facets: pieces at the ends of the domain")


def _inside_intervals(p: Partition, frame: _Frame) -> tuple[np.ndarray, np.ndarray]:
    """A point inside each piece, not its middle: an isolated tie may sit there."""
    ends = frame.inward(p.finite_breakpoints[:, None])
    return ends[:-1] + 0.381966 * np.diff(ends, axis=0), np.diff(ends[:, 0]) > 8 * frame.tolerance


# ------------------------------------------------------------------------------------------------ the plane


def _corners(p: Partition, least: int, word: str) -> None:
    _expect(p.offsets[0] == 0 and p.offsets[-1] == len(p.piece_vertices), "offsets span piece_vertices", "row")
    _expect(np.diff(p.offsets) >= least, f"it has at least {word} corners")
    _expect((p.piece_vertices >= 0) & (p.piece_vertices < len(p.vertices)), "it is a vertex", "corner")


@dataclass(frozen=True)
class _Polygons:
    """Polygons flat: edge e of ``piece[e]`` leads from ``start[e]`` by ``step[e]``; ``xy`` (V, 2) the vertices."""

    xy: np.ndarray
    offsets: np.ndarray
    piece: np.ndarray
    next: np.ndarray
    start: np.ndarray
    step: np.ndarray
    length: np.ndarray
    area: np.ndarray
    perimeter: np.ndarray

    @classmethod
    def of(cls, p: Partition, frame: _Frame) -> _Polygons:
        sizes = np.diff(p.offsets)
        _corners(p, 3, "three")
        xy = frame.inward(p.vertices)
        piece = np.repeat(np.arange(p.n_pieces), sizes)
        after = np.arange(1, len(piece) + 1)
        after[p.offsets[1:] - 1] = p.offsets[:-1]
        start = xy[p.piece_vertices]
        step = start[after] - start
        base = start[p.offsets[:-1]][piece]
        area = np.add.reduceat(_cross(start - base, start[after] - base), p.offsets[:-1]) / 2
        length = np.hypot(*step.T)
        return cls(xy, p.offsets, piece, after, start, step, length, area, np.add.reduceat(length, p.offsets[:-1]))

    def centroids(self) -> np.ndarray:
        """Centres of mass (n, 2): at least a third of the width away from every edge."""
        base = self.start[self.offsets[:-1]][self.piece]
        a, b = self.start - base, self.start[self.next] - base
        with np.errstate(all="ignore"):
            moment = np.add.reduceat((a + b) * _cross(a, b)[:, None], self.offsets[:-1]) / (6 * self.area[:, None])
        return base[self.offsets[:-1]] + moment


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _polygons(polygons: _Polygons, frame: _Frame) -> None:
    turn = _cross(polygons.step, polygons.step[polygons.next])
    room = frame.tolerance * (polygons.length + polygons.length[polygons.next])
    convex = np.logical_and.reduceat(turn >= -room, polygons.offsets[:-1])
    _expect(convex, "it is convex and counter-clockwise")
    # a piece smaller than floats resolve may have no area, or seem turned by rounding
    _expect(polygons.area >= -frame.tolerance * polygons.perimeter, "its area is positive")
    _whole(polygons.area.sum(), frame)


def _whole(total: float, frame: _Frame) -> None:
    corners = frame.corners
    whole = _cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum() / 2
    if abs(total - whole) > whole * frame.tolerance:
        raise AssertionError(
            f"the areas of the pieces sum to {total / whole:.17g} times the domain's area, not to 1 time"
        )


def _facets(p: Partition) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Check the topology; returns the sides: pieces, first and last vertices."""
    ends = p.facet_vertices
    _expect(((ends >= 0) & (ends < len(p.vertices))).all(axis=1), "its ends are vertices", "facet")
    _expect(ends[:, 0] != ends[:, 1], "its ends are two vertices", "facet")
    used = np.unique(ends)
    _same(len(used), len(p.vertices), "vertices: number that end a facet, of all")
    _same(len(p.vertices) - len(p.facets) + p.n_pieces, 1, "Euler characteristic: vertices - facets + pieces")
    inner = p.facets[:, 1] >= 0
    piece = np.concatenate([p.facets[:, 0], p.facets[inner, 1]])
    start = np.concatenate([ends[:, 0], ends[inner, 1]])
    end = np.concatenate([ends[:, 1], ends[inner, 0]])
    _sides(p, piece, start, end)
    return piece, start, end


def _lengths(
    p: Partition, polygons: _Polygons, piece: np.ndarray, start: np.ndarray, end: np.ndarray, frame: _Frame
) -> None:
    """Facets cover the boundaries of convex pieces and of the domain."""
    length = np.hypot(*(polygons.xy[end] - polygons.xy[start]).T)
    covered = np.bincount(piece, length, minlength=p.n_pieces)
    slack = frame.tolerance * (1 + np.bincount(piece, minlength=p.n_pieces))
    _expect(np.abs(covered - polygons.perimeter) <= slack, "its facets are as long as its boundary")
    _on_boundary(polygons, piece, polygons.xy[start], frame)
    _outer(p, polygons.xy, frame)


def _sides(p: Partition, piece: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
    """The sides of each piece form one closed walk through all its corners."""
    size = np.int64(len(p.vertices))
    leaving, arriving = piece * size + start, piece * size + end
    order = np.argsort(leaving, kind="stable")
    twice = leaving[order][1:] == leaving[order][:-1]
    many = np.bincount(piece[order][1:][twice], minlength=p.n_pieces)
    _expect(many == 0, "each part of its boundary is in one facet")
    once = np.isin(leaving, arriving) & np.isin(arriving, leaving)
    _expect(np.bincount(piece[~once], minlength=p.n_pieces) == 0, "its facets follow one another all around it")
    owner = np.repeat(np.arange(p.n_pieces), np.diff(p.offsets))
    at_corner = np.isin(owner * size + p.piece_vertices, leaving)
    _expect(np.bincount(owner[~at_corner], minlength=p.n_pieces) == 0, "facets end at each of its corners")


def _on_boundary(polygons: _Polygons, piece: np.ndarray, point: np.ndarray, frame: _Frame) -> None:
    """Points lie on the boundaries of the pieces beside them: the least distance to an edge."""
    size = np.diff(polygons.offsets)[piece]
    near = np.empty(len(piece))
    for low in range(0, len(piece), 65536):
        part = slice(low, low + 65536)
        many = size[part]
        first = np.cumsum(many) - many
        edge = np.repeat(polygons.offsets[:-1][piece[part]] - first, many) + np.arange(many.sum())
        away = np.repeat(point[part], many, axis=0) - polygons.start[edge]
        step = polygons.step[edge]
        along = np.einsum("ij,ij->i", away, step) / np.maximum(polygons.length[edge] ** 2, 1e-300)
        distance = np.hypot(*(away - np.clip(along, 0, 1)[:, None] * step).T)
        near[part] = np.minimum.reduceat(distance, first)
    off = np.bincount(piece[near > 2 * frame.tolerance], minlength=len(polygons.area))
    _expect(off == 0, "its facets end on its boundary")


def _outer(p: Partition, xy: np.ndarray, frame: _Frame) -> None:
    """Facets on the domain's boundary lie on the edge that they name, and cover all edges."""
    outer = np.flatnonzero(p.facets[:, 1] < 0)
    edge = -1 - p.facet_border[outer]
    _expect(edge < len(frame.corners), "it names an edge of the domain", "boundary facet")
    step = np.roll(frame.corners, -1, axis=0) - frame.corners
    length = np.hypot(*step.T)
    for k in range(2):
        away = xy[p.facet_vertices[outer, k]] - frame.corners[edge]
        on = np.abs(_cross(step[edge], away)) <= frame.tolerance * length[edge]
        _expect(on, "it lies on the edge of the domain that it names", "boundary facet")
    ends = xy[p.facet_vertices[outer]]
    found = np.bincount(edge, np.hypot(*(ends[:, 1] - ends[:, 0]).T), minlength=len(length))
    slack = frame.tolerance * (1 + np.bincount(edge, minlength=len(length)))
    _expect(np.abs(found - length) <= slack, "boundary facets cover it once", "edge of the domain")


# ------------------------------------------------------------------------------------------------ the plane, with arcs


@dataclass(frozen=True)
class _Curves:
    """Sides of pieces as curves: side s leads around ``piece[s]`` from ``start[s]`` to ``end[s]``, an arc with
    ``middle[s]`` where ``bent[s]``, all in the domain's own coordinates.
    """

    xy: np.ndarray
    facet: np.ndarray
    piece: np.ndarray
    start: np.ndarray
    middle: np.ndarray
    end: np.ndarray
    bent: np.ndarray
    points: np.ndarray  # (n, 2), one inside each piece

    @classmethod
    def of(cls, p: Partition, frame: _Frame) -> _Curves:
        _corners(p, 2, "two")
        piece, start, end = _facets(p)
        _one_walk(p, piece, start, end)
        facet = np.concatenate([np.arange(len(p.facets)), np.flatnonzero(p.facets[:, 1] >= 0)])
        centre, half = (np.array([float(x) for x in part]) for part in (frame.centre, frame.half))
        rows = np.zeros((len(p.facets), 3))
        rows[p.facet_arc >= 0] = p.arcs[p.facet_arc[p.facet_arc >= 0]]
        rows[:, :2] = (rows[:, :2] - rows[:, 2:] * centre) / half
        xy = frame.inward(p.vertices)
        bent = p.facet_arc[facet] >= 0
        return cls(xy, facet, piece, xy[start], rows[facet], xy[end], bent, frame.inward(p.interior_points))

    def check(self, p: Partition, frame: _Frame) -> tuple[np.ndarray, np.ndarray]:
        """Check areas, interior points and facets; returns the points, and which pieces are thick."""
        area, length = self._sizes(p.n_pieces)
        thick = area > 4 * frame.tolerance * length
        if frame.resolved:
            _expect(area >= -frame.tolerance * length, "its area is positive")
            _whole(area.sum(), frame)
            _outer(p, self.xy, frame)
            own = self._around(self.points, np.arange(p.n_pieces))
            _expect((own == 1) | ~thick, "its boundary goes once around its interior point")
            self._apart(p, thick)
            self._beside(p, frame)
        return self.points, thick

    def _sizes(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Areas, arcs included, and no less than the lengths of the boundaries."""
        base = np.zeros((n, 2))
        base[self.piece] = self.start
        a, b = self.start - base[self.piece], self.end - base[self.piece]
        area = _cross(a, b) / 2
        area[self.bent] += arcs.areas(self.start[self.bent], self.middle[self.bent], self.end[self.bent])
        low, high = arcs.boxes(self.start, self.middle, self.end)
        length = np.where(self.bent, 2 * (high - low).sum(axis=1), np.hypot(*(self.end - self.start).T))
        return np.bincount(self.piece, area, minlength=n), np.bincount(self.piece, length, minlength=n)

    def _around(self, points: np.ndarray, pieces: np.ndarray) -> np.ndarray:
        """How often the boundaries of pieces go around points."""
        return arcs.around(points, pieces, self.piece, self.start, self.middle, self.end, self.bent)

    def _apart(self, p: Partition, thick: np.ndarray) -> None:
        """No other piece goes around the interior points of a sample."""
        chosen = np.random.default_rng(0).permutation(np.flatnonzero(thick))[:EXACT_SAMPLE]
        for piece in np.sort(chosen):
            around = self._around(np.tile(self.points[piece], (p.n_pieces, 1)), np.arange(p.n_pieces))
            around[piece] -= 1
            _expect(around == 0, f"its boundary does not go around the interior point of piece {piece}")

    def _beside(self, p: Partition, frame: _Frame) -> None:
        """Just inside the middle of each side of a sample the pattern is that of its piece."""
        chosen = np.arange(len(self.piece))
        if len(chosen) > SAMPLE:
            chosen = np.sort(np.random.default_rng(0).choice(chosen, SAMPLE, replace=False))
        step = self.end[chosen] - self.start[chosen]
        far = np.hypot(*step.T)
        inward = np.stack([-step[:, 1], step[:, 0]], axis=1) / np.maximum(far, 1e-300)[:, None]
        on = arcs.points(self.start[chosen], self.middle[chosen], self.end[chosen], 0.5)  # (P + R) / 2 where straight
        points = on + 100 * frame.tolerance * inward
        # where the piece is thinner than this, the point is in none of it
        seen = np.flatnonzero(self._around(points, self.piece[chosen]) == 1)
        x = frame.outward(points[seen])
        wrong = (p.network.activation_pattern(x) != p.patterns[self.piece[chosen[seen]]]).any(axis=1)
        ok = np.ones(len(p.facets), dtype=bool)
        ok[self.facet[chosen[seen[wrong]]]] = False
        _expect(ok, "close to it the pattern is the network's on both sides", "facet")


def _one_walk(p: Partition, piece: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
    """The sides of each piece, which follow one another, are one closed walk and not several."""
    size = np.int64(len(p.vertices))
    order = np.argsort(piece * size + start, kind="stable")
    following = np.searchsorted((piece * size + start)[order], (piece * size + end)[order])
    first = np.searchsorted(piece[order], np.arange(p.n_pieces))
    many = np.bincount(piece, minlength=p.n_pieces)
    at, steps, going = first.copy(), np.zeros(p.n_pieces, dtype=np.int64), np.flatnonzero(many)
    while len(going):
        at[going] = following[at[going]]
        steps[going] += 1
        going = going[at[going] != first[going]]
    _expect((steps == many) & (many > 0), "its facets are one closed walk around it")


# ------------------------------------------------------------------------------------------------ Rⁿ, n ≥ 3


@dataclass(frozen=True)
class _HalfSpaces:
    """All facets, ``planes`` (k, dim + 1) in the domain's own coordinates with normals of length 1: those of piece p
    from ``offsets[p]`` on.
    """

    planes: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, p: Partition, frame: _Frame) -> _HalfSpaces:
        rows, offsets = p.halfspaces
        _same(rows.shape[1:], (p.dim + 1,), "halfspaces: shape of a row")
        _same(offsets.shape, (p.n_pieces + 1,), "halfspaces: shape of the offsets")
        _same((int(offsets[0]), int(offsets[-1])), (0, len(rows)), "halfspaces: what the offsets span")
        sizes = np.diff(offsets)
        _expect(sizes >= np.where(p.bounded, p.dim + 1, 0), "it has no fewer half-spaces than it needs")
        _expect(np.abs(rows[:, :-1]).max(axis=1, initial=0.0) == 1.0, "its greatest coefficient is 1", "half-space")
        centre, half = (np.array([float(x) for x in part]) for part in (frame.centre, frame.half))
        with np.errstate(all="ignore"):
            planes = np.concatenate([rows[:, :-1] * half, rows[:, -1:] + rows[:, :-1] @ centre[:, None]], axis=1)
            return cls(planes / np.linalg.norm(planes[:, :-1], axis=1)[:, None], offsets)

    def least(self, values: np.ndarray) -> np.ndarray:
        """The least of some values (k,), one a facet, for each piece."""
        sizes = np.diff(self.offsets)
        out = np.full(len(sizes), np.inf)
        if len(values):
            out[sizes > 0] = np.minimum.reduceat(values, self.offsets[:-1][sizes > 0])
        return out

    def depth(self, points: np.ndarray) -> np.ndarray:
        """How far inside piece p the point p of (n, dim) lies; negative outside."""
        owner = np.repeat(np.arange(len(points)), np.diff(self.offsets))
        return self.least((self.planes[:, :-1] * points[owner]).sum(axis=1) + self.planes[:, -1])

    def depths(self, point: np.ndarray) -> np.ndarray:
        """How far inside each piece a point (dim,) lies."""
        return self.least(self.planes[:, :-1] @ point + self.planes[:, -1])


def _check_space(p: Partition) -> None:
    _shapes(p)
    frame = _space_frame(p)
    halfspaces = _HalfSpaces.of(p, frame)
    points = frame.inward(p.interior_points)
    maps = _Maps.of(p, frame)
    _expect(p.bounded | (not p.domain.bounded), "it is bounded, since the domain is")
    _space_patterns(p)
    if frame.resolved:
        depth = halfspaces.depth(points)
        _expect(depth >= -2 * frame.tolerance, "its interior point lies inside its half-spaces")
        if p.domain.bounded:
            inside = (np.abs(points) <= 1 + frame.tolerance).all(axis=1)
            _expect(inside, "its interior point lies in the domain")
        thick = depth > 4 * frame.tolerance
        _tiled(p, halfspaces, points, frame)
        _network(p, points, thick, maps, frame)
        if not any(isinstance(layer, Attention) for layer in p.network.layers):
            _space_continuity(p, halfspaces, maps, frame)
    _regions(p, maps)


def _space_frame(p: Partition) -> _Frame:
    """The box; for the whole space a cube about the origin with all interior points."""
    if isinstance(p.domain, Box):
        low, high = p.domain.low, p.domain.high
    else:
        reach = Fraction(float(np.abs(p.interior_points).max(initial=1.0)))
        low, high = (-reach,) * p.dim, (reach,) * p.dim
    centre = tuple((a + b) / 2 for a, b in zip(low, high, strict=True))
    half = tuple((b - a) / 2 for a, b in zip(low, high, strict=True))
    step = max(
        float(np.spacing(max(abs(float(a)), abs(float(b)))) / float(h))
        for a, b, h in zip(low, high, half, strict=True)
    )
    return _Frame(centre, half, np.zeros((0, p.dim)), TOLERANCE + 8 * step)


def _space_patterns(p: Partition) -> None:
    lowered, patterns = p._source.lowered, p._source.pieces.patterns
    _expect((patterns[:, lowered.visible] == p.patterns).all(axis=1), "its pattern is the visible part")
    _same(len(_classes(patterns)[1]), p.n_pieces, "patterns: number of different ones, hidden choices included")


def _tiled(p: Partition, halfspaces: _HalfSpaces, points: np.ndarray, frame: _Frame) -> None:
    """Random points lie in one piece: some of the domain's, and some between interior points."""
    rng = np.random.default_rng(0)
    some = points[rng.integers(0, p.n_pieces, (2, EXACT_SAMPLE))]
    sample = some[0] + 0.381966 * (some[1] - some[0])
    if p.domain.bounded:
        sample = np.concatenate([sample, rng.uniform(-1, 1, sample.shape)])
    for point in sample:
        depth = halfspaces.depths(point)
        where = tuple(frame.outward(point[None])[0].tolist())
        if not (depth >= -2 * frame.tolerance).any():
            raise AssertionError(f"the point {where} lies in no piece")
        inside = np.flatnonzero(depth > 2 * frame.tolerance)
        if len(inside) > 1:
            raise AssertionError(f"the point {where} lies in several pieces, {inside[0]} and {inside[1]}")


def _space_continuity(p: Partition, halfspaces: _HalfSpaces, maps: _Maps, frame: _Frame) -> None:
    """Maps agree on the facets that a sample of pieces shares with others, at a point inside each."""
    pieces, rows = p._source.pieces, p.halfspaces[0] + 0.0
    owner = np.repeat(np.arange(p.n_pieces), np.diff(halfspaces.offsets))
    across: dict[bytes, list[int]] = {}
    for facet, row in enumerate(rows):
        across.setdefault(row.tobytes(), []).append(facet)
    finite = ~((pieces.tags[:, 0] < 0) & (pieces.tags[:, 2] == 1))
    n = p.dim
    witness = pieces.witness[finite]
    for piece in np.sort(np.random.default_rng(0).permutation(p.n_pieces)[:EXACT_SAMPLE]):
        for facet in range(halfspaces.offsets[piece], halfspaces.offsets[piece + 1]):
            point, radius = witness[facet], witness[facet, n + 1]
            if not point[n] > 1e9 * radius:
                continue
            at = frame.inward(p._source.judge.window.outward(point[None, :n] / point[n]))[0]
            for other in across.get((0.0 - rows[facet]).tobytes(), ()):
                q = owner[other]
                mine = np.arange(halfspaces.offsets[q], halfspaces.offsets[q + 1])
                plane = halfspaces.planes[mine[mine != other]]
                if (plane[:, :-1] @ at + plane[:, -1] > 4 * frame.tolerance).all():
                    here, there = (maps.at(np.array([k]), at[None]) for k in (piece, q))
                    room = 4 * (1 + np.abs(at).max()) * (maps.room[[piece]] + maps.room[[q]])
                    if _apart(here, there, room).any():
                        raise AssertionError(
                            f"piece {piece}: its map agrees with that of piece {q} on the facet between them, since "
                            "the network is continuous"
                        )


# ------------------------------------------------------------------------------------------------ patterns and maps


def _patterns(p: Partition) -> None:
    inner = p.facets[:, 1] >= 0
    if _curved(p):  # facets may cut a cell, and a pattern may have several cells
        return
    a, b = p.facets[inner].T
    patterns = p.patterns
    if p.dim == 2 and lower(p.network, planar=True).has_hidden:
        # a piece's pattern is its own only together with the hidden choices, which no file holds
        if p._source is None:
            return
        lowered, patterns = p._source.lowered, p._source.pieces.patterns
        _expect((patterns[:, lowered.visible] == p.patterns).all(axis=1), "its pattern is the visible part")
    differ = (patterns[a] != patterns[b]).any(axis=1)
    which = np.flatnonzero(inner)[~differ]
    ok = np.ones(len(p.facets), dtype=bool)
    ok[which] = False
    _expect(ok, "the patterns on its two sides differ", "facet")
    if p.dim == 2:  # affine scores: the set of a pattern is convex, so one piece
        _same(len(_classes(patterns)[1]), p.n_pieces, "patterns: number of different ones, one a piece in the plane")


def _classes(patterns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The class of each row, and the first row of each class."""
    rows = np.concatenate([patterns, np.zeros((len(patterns), 1), dtype=np.uint8)], axis=1)  # never empty
    keys = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return inverse.ravel(), first


@dataclass(frozen=True)
class _Maps:
    """Maps of ξ, (n, out, dim + 1), and how far their values on the domain may be off, (n,): floats and the engine's
    bound.
    """

    maps: np.ndarray
    room: np.ndarray

    @classmethod
    def of(cls, p: Partition, frame: _Frame) -> _Maps:
        centre, half = (np.array([float(x) for x in part]) for part in (frame.centre, frame.half))
        with np.errstate(all="ignore"):
            slopes, constant = p.maps[:, :, :-1], p.maps[:, :, -1]
            shifted = np.concatenate([slopes * half, (constant + slopes @ centre)[:, :, None]], axis=2)
            size = np.abs(shifted).sum(axis=2) + np.abs(slopes) @ np.abs(centre) * (64 * U / TOLERANCE)
            room = frame.tolerance * size.max(axis=1)
            errors = getattr(getattr(p._source, "pieces", None), "errors", None)
            if errors is not None and len(errors) == p.n_pieces:
                room = room + errors.sum(axis=1)
        return cls(shifted, np.where(np.isnan(room), np.inf, room))

    def at(self, piece: np.ndarray, points: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.einsum("iok,ik->io", self.maps[piece][:, :, :-1], points) + self.maps[piece][:, :, -1]


def _apart(a: np.ndarray, b: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Rows in which two arrays (m, out) of values differ by more than they may."""
    with np.errstate(all="ignore"):
        return np.isfinite(room) & ~(np.abs(a - b).max(axis=1, initial=0.0) <= room)


def _continuity(p: Partition, maps: _Maps, frame: _Frame) -> None:
    inner = np.flatnonzero(p.facets[:, 1] >= 0)
    a, b = p.facets[inner].T
    ok = np.ones(len(p.facets), dtype=bool)
    if p.dim == 1:
        ends = [frame.inward(p.breakpoints[np.maximum(a, b)][:, None])]
    else:
        xy = frame.inward(p.vertices)
        ends = [xy[p.facet_vertices[inner, k]] for k in range(2)]
    for points in ends:
        ok[inner[_apart(maps.at(a, points), maps.at(b, points), 4 * (maps.room[a] + maps.room[b]))]] = False
    _expect(ok, "the maps on its two sides agree at its ends, since the network is continuous", "facet")


def _network(p: Partition, points: np.ndarray, thick: np.ndarray, maps: _Maps, frame: _Frame) -> None:
    """Pattern and map of pieces agree with the network at a point inside."""
    chosen = np.flatnonzero(thick)
    if len(chosen) > SAMPLE:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, SAMPLE, replace=False))
    if not len(chosen):
        return
    x = frame.outward(points[chosen])
    for what, bad in (
        (
            "its pattern is the network's at the point {} inside",
            (p.network.activation_pattern(x) != p.patterns[chosen]).any(axis=1),
        ),
        (
            "its map gives the network's output at the point {} inside",
            _apart(p.network.evaluate(x), maps.at(chosen, frame.inward(x)), 4 * maps.room[chosen]),
        ),
    ):
        if bad.any():
            ok = np.ones(p.n_pieces, dtype=bool)
            ok[chosen[bad]] = False
            _expect(ok, what.format(tuple(x[np.argmax(bad)].tolist())))


def _borders(p: Partition, frame: _Frame) -> None:
    """The choice that is said to change at a border ties there, by exact score differences of a sample of pieces."""
    pieces = getattr(p._source, "pieces", None)
    if pieces is None:
        return
    lowered = p._source.lowered
    composer = Composer(lowered, frame.centre, frame.half)
    first_unit = np.concatenate([[0], np.cumsum([len(block.units) for block in lowered.blocks])])
    rng = np.random.default_rng(0)
    for piece in np.sort(rng.permutation(p.n_pieces)[:EXACT_SAMPLE]):
        if p.dim == 1:
            tags, ends = pieces.tags[piece], p.finite_breakpoints[[[piece], [piece + 1]]][:, :, None]
        else:
            edges = np.arange(p.offsets[piece], p.offsets[piece + 1])
            tags = pieces.tags[edges]
            around = p.vertices[p.piece_vertices[edges]]
            ends = np.stack([around, np.roll(around, -1, axis=0)], axis=1)
        for (block, unit, i, j), two in zip(tags[:, :4].tolist(), ends, strict=True):
            if block < 0:
                continue
            this = lowered.blocks[block].units[unit - first_unit[block]]
            form, _ = composer.score(block, this, i, pieces.patterns[piece])
            if this.kind != BIT:
                other, _ = composer.score(block, this, j, pieces.patterns[piece])
                form = [a - b for a, b in zip(form, other, strict=True)]
            _expect(
                _zero(form, frame.inward(two), frame.tolerance),
                f"the choice of unit {unit} ties on the border it made",
                f"piece {piece}, end",
            )


def _zero(form: list[int], points: np.ndarray, tolerance: float) -> np.ndarray:
    """Whether an exact polynomial, [1, x, x²] or [1, x, y, …], vanishes near points, by its value over its slope."""
    size = max(abs(c) for c in form) or 1
    c = [x / size for x in form]
    x = points[:, 0]
    if len(c) == 3:
        value, slope = c[0] + x * (c[1] + x * c[2]), np.abs(c[1] + 2 * x * c[2])
        return np.asarray(np.abs(value) <= tolerance * (slope + tolerance) + 16 * U)
    value, slope = c[0] + c[1] * x + c[2] * points[:, 1], np.hypot(c[1], c[2])
    return np.asarray((np.abs(value) <= tolerance * slope + 16 * U) & (slope > 0) & (not any(c[3:])))


# ------------------------------------------------------------------------------------------------ regions


def _regions(p: Partition, maps: _Maps) -> None:
    names = ("cells", "activation", "linear", "linear_closed", "affine_maps")
    labels = {name: p.labels(name) for name in names}
    for name, label in labels.items():
        _same(label.shape, (p.n_pieces,), f"labels of {name}: shape")
        farthest = np.maximum.accumulate(np.concatenate([[-1], label[:-1]]))
        _expect(
            (label >= 0) & (label <= farthest + 1), f"labels of {name} are numbered in the order of first appearance"
        )
    for fine, coarse in (
        ("cells", "activation"),
        ("cells", "linear"),
        ("activation", "affine_maps"),
        ("linear", "linear_closed"),
        ("linear_closed", "affine_maps"),
    ):
        first = np.unique(labels[fine], return_index=True)[1]
        same = labels[coarse] == labels[coarse][first][labels[fine]]
        _expect(same, f"pieces of one region of {fine} lie in one of {coarse}")
    patterns, _ = _classes(p.patterns)
    _same(
        len(set(zip(patterns.tolist(), labels["activation"].tolist(), strict=True))),
        p.count("activation"),
        "activation regions: patterns",
    )
    _same(int(patterns.max()) + 1, p.count("activation"), "activation regions: number of patterns")
    inner = p.facets[p.facets[:, 1] >= 0]
    for name, key in (("cells", patterns), ("linear", labels["affine_maps"])) if p.dim < 3 else ():
        joined = inner[key[inner[:, 0]] == key[inner[:, 1]]]
        _same(_components(p.n_pieces, joined), p.count(name), f"regions of {name}: parts joined through facets")
        _expect(
            labels[name][joined[:, 0]] == labels[name][joined[:, 1]],
            f"it joins two pieces of one region of {name}",
            "joining facet",
        )
    first = np.unique(labels["affine_maps"], return_index=True)[1][labels["affine_maps"]]
    n = p.n_pieces
    with np.errstate(all="ignore"):
        far = _apart(maps.maps.reshape(n, -1), maps.maps[first].reshape(n, -1), 4 * (maps.room + maps.room[first]))
    _expect(~far, "its map is that of the other pieces of its affine_maps region")
    profile = [entry["activation"] for entry in p.depth_profile]
    _expect(np.diff([1, *profile]) >= 0, "depth_profile does not fall", "layer")
    _same(p.count("activation"), profile[-1] if profile else 1, "activation regions: last entry of depth_profile")


def _components(n: int, pairs: np.ndarray) -> int:
    """The number of connected components of n nodes joined by pairs."""
    parent = list(range(n))
    for a, b in pairs.tolist():
        for node in (a, b):
            while parent[node] != parent[parent[node]]:
                parent[node] = parent[parent[node]]
        a, b = (node if parent[node] == node else parent[node] for node in (a, b))
        parent[a] = b
    return sum(parent[node] == node for node in range(n))
