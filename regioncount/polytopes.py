"""The polytope engine: boxes of Rⁿ and all of Rⁿ, subdivided by affine scores (``kernels.polytope``).

All of Rⁿ is a simplex {s_k·x + 1000 R ≥ 0, k = 0 … n} whose sides lie at infinity, R larger than any number: points are
far·R + near (``exact.SpacePoint``), and a sign is that of the far part, where it is not 0.  The normals s_k are in no
special position, so that sides seldom meet where hyperplanes with small integers do: floats then decide.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np

from regioncount.domain import Box, Interval, Line, Plane, Space, as_domain
from regioncount.engines import Decisions, Judge, Outcome, PolygonRun, U, Window
from regioncount.errors import InputError, NeedsConicEngine, shown
from regioncount.exact import Hyperplane, SpacePoint, common_point, sign_at_point
from regioncount.lowering import Lowered, flatten, lower
from regioncount.network import Network
from regioncount.polyhedra import interior_point, meet, within

MOST_CORNERS = 1 << 16  # of a box: those of 16 dimensions
WORD = 64
FARTHEST = float(np.finfo(np.float64).max)


class SpaceJudge(Judge):
    """Exact answers about hyperplanes of a piece; ``sides`` are those of the domain, positive inside."""

    def __init__(self, lowered: Lowered, window: Window, sides: list[Hyperplane]) -> None:
        super().__init__(lowered, window)
        self.sides = sides
        self._planes: dict[tuple[int, int, int, int, bytes], Hyperplane] = {}
        self._points: dict[int, SpacePoint] = {}

    def plane(self, tag: np.ndarray, pattern: np.ndarray) -> Hyperplane:
        """The hyperplane on which candidates i and j of a unit tie, positive where i is ahead, on a pattern's cell."""
        block, unit, i, j = tag[:4].tolist()
        if block < 0:
            return self.sides[unit]
        key = (block, unit, i, j, pattern[: self.lowered.blocks[block].first_column].tobytes())
        found = self._planes.get(key)
        if found is None:
            if len(self._planes) > 100_000:
                self._planes.clear()
            c, *rest = self.difference(block, unit, i, j, pattern)
            n = len(self.window.centre)
            if any(rest[n:]):
                raise self.conic(block)
            found = self._planes[key] = (*rest[:n], c, 0)
        return found

    def at_vertex(
        self, tag: np.ndarray, key: int, facets: Callable[[], Iterable[np.ndarray]], pattern: np.ndarray
    ) -> int:
        """Sign of a hyperplane at the vertex, named ``key``, in which ``facets()`` meet."""
        point = self._points.get(key)
        if point is None:
            if len(self._points) > 100_000:
                self._points.clear()
            point = self._points[key] = common_point([self.plane(facet, pattern) for facet in facets()])
        return sign_at_point(self.plane(tag, pattern), point)

    def conic(self, block: int) -> NeedsConicEngine:
        layer = self.lowered.blocks[block].layer
        return NeedsConicEngine(
            f"layers[{layer}] (attention): a score is quadratic on a piece: in three or more dimensions scores must be "
            "affine; expected queries or keys that do not depend on the input, or a slice"
        )


@dataclass
class SpacePieces:
    """What the polytope kernel emitted, in engine coordinates; see ``kernels.polytope.Leaves``.

    Facets ``offsets[p]`` to ``offsets[p + 1]`` are those of piece p; ``tags`` and ``witness`` belong to facets.
    """

    patterns: np.ndarray
    maps: np.ndarray
    errors: np.ndarray
    offsets: np.ndarray
    points: np.ndarray
    boxes: np.ndarray
    tags: np.ndarray
    witness: np.ndarray

    @cached_property
    def bounded(self) -> np.ndarray:
        """Which pieces have no facet at infinity."""
        far = (self.tags[:, 0] < 0) & (self.tags[:, 2] == 1)
        reaches = np.zeros(len(self.patterns), dtype=bool)
        reaches[np.repeat(np.arange(len(self.patterns)), np.diff(self.offsets))[far]] = True
        return ~reaches


def polytope_run(
    lowered: Lowered, domain: Box | Line | Plane | Space, emit: bool, max_pieces: int | None, exact: bool = False
) -> Outcome:
    """Subdivide a box of Rⁿ or all of it; ``emit`` keeps the pieces, otherwise they are only counted; ``exact`` trusts
    no floats.

    Raises
    ------
    InputError
        If the box has more than 2^16 corners.
    NeedsConicEngine
        If a score is quadratic on a piece.
    TooManyPieces
        If there are more than ``max_pieces``.
    """
    return PolytopeRun(lowered, domain, emit, max_pieces, exact).run()


class PolytopeRun(PolygonRun):
    """One run of the polytope kernel."""

    method = "polytope"
    VERTICES, FACETS = 1024, 512

    def __init__(
        self, lowered: Lowered, domain: Box | Line | Plane | Space, emit: bool, max_pieces: int | None,
        exact: bool = False,
    ) -> None:  # fmt: skip
        from regioncount.kernels import polytope

        self.kernel = polytope
        self.lowered = lowered
        self.program = flatten(lowered)
        self.dim = n = domain.dim
        if isinstance(domain, Box):
            if 1 << n > MOST_CORNERS:
                raise InputError(f"domain: expected a box of dimension 16 or less, got dimension {n} (2^{n} corners)")
            self.window = Window.around([domain.low, domain.high])
            sides = _box_sides(*(self.window.inward(x) for x in (domain.low, domain.high)))
            corners = [[2 * i + s for i, s in enumerate(choice)] for choice in product((0, 1), repeat=n)]
        else:
            self.window = Window.of_space(lowered, n)
            sides = _simplex_sides(n)
            corners = [[k for k in range(n + 1) if k != without] for without in range(n + 1)]
        self.judge = SpaceJudge(lowered, self.window, sides)
        self.max_pieces = max_pieces
        self.decisions = Decisions()
        self.place: tuple[int, ...] = ()
        self._allocate(len(corners), emit)
        self._first_frame(corners)
        self._first_map(exact)

    def _allocate(self, n_corners: int, emit: bool) -> None:
        k, n = self.kernel, self.dim
        info, maps, pattern = self._allocate_blocks(n, emit)
        words = -(-(len(self.judge.sides) + 16) // WORD)
        self.stack = k.Stack(
            info, maps, pattern, np.zeros((len(info), 3), dtype=np.int64),
            np.zeros((max(self.VERTICES, 4 * n_corners), n + 3)), np.zeros((0, words), dtype=np.int64),
            np.zeros(0, dtype=np.int64), np.zeros((self.FACETS, n + 2)), np.zeros((self.FACETS, 6), dtype=np.int64),
        )  # fmt: skip
        self._size_pools(self.stack.vertices, self.stack.facets, self.stack.tags, words)
        leaves = self.LEAVES if emit else 0
        facets = 4 * n * leaves + self.FACETS
        self.leaves = k.Leaves(
            np.zeros((leaves, self.lowered.columns), dtype=np.uint8), np.zeros((leaves, n + 1, self.n_out + 1)),
            np.zeros(leaves, dtype=np.int64), np.zeros((leaves, n + 2)), np.zeros((leaves, 2, n)),
            np.zeros((facets, 5), dtype=np.int64), np.zeros((facets, n + 2)),
        )  # fmt: skip

    def _size_pools(self, vertices: np.ndarray, facets: np.ndarray, tags: np.ndarray, words: int) -> None:
        """Let the pools be as long as these arrays, and sets of facets ``words`` long."""
        n, size = self.dim, len(vertices)
        tight, keys = np.zeros((size, words), dtype=np.int64), np.zeros(size, dtype=np.int64)
        old = self.stack
        tight[: len(old.tight), : old.tight.shape[1]] = old.tight
        keys[: len(old.keys)] = old.keys
        self.stack = old._replace(vertices=vertices, tight=tight, keys=keys, facets=facets, tags=tags)
        rows = WORD * words + 1
        ints = np.int64
        self.work = self.kernel.Work(
            np.zeros(n + 2), np.zeros(size), np.zeros(size), np.zeros(words, ints), np.zeros(WORD * words, ints),
            np.zeros(WORD * words, ints), np.zeros(size, np.uint8), np.zeros(size, ints), np.zeros((rows, n + 2)),
            np.zeros((rows, n + 1)), np.zeros(rows, ints), np.zeros(n + 1, ints), np.zeros((n, 2 * n)), np.zeros(n),
            np.zeros(n),
        )  # fmt: skip
        self.run_ = self.run_._replace(scratch=np.zeros((4, max(size, self.most)), dtype=np.int64))

    def _grow_corners(self) -> None:
        old = self.stack
        words = old.tight.shape[1]
        if old.place[:, self.kernel.N_FACETS].max() + 2 >= WORD * words:
            words *= 2
        vertices, facets, tags = (np.concatenate([a, np.zeros_like(a)]) for a in (old.vertices, old.facets, old.tags))
        self._size_pools(vertices, facets, tags, words)

    def _first_frame(self, corners: list[Any]) -> None:
        """The whole domain; ``corners`` lists the sides that meet in each."""
        from regioncount.kernels.predicates import mix

        k, stack, n, judge = self.kernel, self.stack, self.dim, self.judge
        for side, plane in enumerate(judge.sides):
            *slopes, constant, far = plane
            infinite = far != 0
            row = np.array([float(Fraction(x, max(map(abs, plane)))) for x in (*slopes, far or constant)])
            largest = np.abs(row).max()
            stack.facets[side, : n + 1] = row / largest
            stack.facets[side, n + 1] = 4 * (n + 1) * U
            stack.tags[side] = [-1, side, int(infinite), 0, -1 - side, mix(2**40, side)]
        infinite = judge.sides[0][-1] != 0
        if not infinite:  # a side of a box alone gives a coordinate: there may be 2^16 corners
            exactly = [Fraction(-plane[-2], sum(plane[:-2])) for plane in judge.sides]
            coordinates = np.array([float(x) for x in exactly])
            off = np.array([Fraction(float(x)) != x for x in exactly])
        for v, sides in enumerate(corners):
            if infinite:
                point = common_point([judge.sides[side] for side in sides])
                largest = max(map(abs, point.far))
                directions = [Fraction(x, largest) for x in point.far]
                stack.vertices[v, :n] = x = [float(y) for y in directions]
                rounded = any(Fraction(a) != b for a, b in zip(x, directions, strict=True))
            else:
                stack.vertices[v, :n] = coordinates[sides]
                rounded = bool(off[sides].any())
            stack.vertices[v, n] = 0.0 if infinite else 1.0
            stack.vertices[v, n + 1] = 2 * n * U if rounded else 0.0
            stack.vertices[v, n + 2] = 1.0
            for side in sides:
                k.put(stack.tight[v], side)
            stack.keys[v] = sum(int(stack.tags[side, k.T_KEY]) for side in sides) & int(k.NAME)
        stack.info[0, :4] = [len(corners), 0, 0, k.ROOT]
        stack.place[0] = [0, 0, len(judge.sides)]

    def _advance(self) -> int:
        return int(self.kernel.subdivide(self.program, self.run_, self.work, self.stack, self.roots, self.leaves))

    def _at_corner(self, request: np.ndarray, pattern: np.ndarray) -> int:
        vertex, first = int(request[6]), int(request[7])

        def facets() -> Iterator[np.ndarray]:
            for word, bits in enumerate(self.stack.tight[vertex].tolist()):
                rest = bits & 2**WORD - 1
                while rest:
                    yield self.stack.tags[first + WORD * word + (rest & -rest).bit_length() - 1]
                    rest &= rest - 1

        return self.judge.at_vertex(request[2:6], int(request[14]), facets, pattern)

    def _drain(self) -> None:
        k, state, leaves = self.kernel, self.run_.state, self.leaves
        n, m = int(state[k.N_PIECES]), int(state[k.N_CORNERS])
        if n == 0 and self.chunks:  # one piece alone is larger than the buffers
            leaves = self.leaves = k.Leaves(*(np.concatenate([a, np.zeros_like(a)]) for a in leaves))
        self.chunks.append(tuple(a[: m if a is leaves.tags or a is leaves.witness else n].copy() for a in leaves))
        state[k.N_PIECES] = state[k.N_CORNERS] = 0

    def _collect(self) -> SpacePieces:
        patterns, maps, sizes, points, boxes, tags, witness = (
            np.concatenate(parts) for parts in zip(*self.chunks, strict=True)
        )
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return SpacePieces(
            patterns, maps[:, :, :-1].transpose(0, 2, 1), maps[:, :, -1], offsets, points, boxes, tags, witness
        )

    def stream(self) -> Iterator[SpacePieces]:
        """The pieces, some at a time: memory does not grow with their number."""
        k = self.kernel
        while True:
            status = self._advance()
            if status == k.OK:
                break
            self._provide(status)
            if status == k.FULL and len(self.chunks[-1][0]):
                yield self._collect()
                self.chunks.clear()
        self._drain()
        yield self._collect()
        self.chunks.clear()


def _box_sides(low: Sequence[Fraction], high: Sequence[Fraction]) -> list[Hyperplane]:
    """Sides x_i ≥ low_i and x_i ≤ high_i, in this order for each i."""
    sides = []
    n = len(low)
    for i in range(n):
        for bound, direction in ((low[i], 1), (high[i], -1)):
            slopes = [0] * n
            slopes[i] = direction * bound.denominator
            sides.append((*slopes, -direction * bound.numerator, 0))
    return sides


def _simplex_sides(n: int) -> list[Hyperplane]:
    """Sides of a simplex at infinity: normals near the axes (a matrix of dominant diagonal), and minus their sum."""
    reach = 900 // n
    normals = np.random.default_rng(0).integers(-reach, reach + 1, (n, n))
    normals[np.diag_indices(n)] = 1000
    return [(*map(int, row), 0, 1000) for row in (*normals, -normals.sum(axis=0))]


def regions(network: Network, domain: Any = None) -> Iterator[tuple[np.ndarray, tuple[Fraction, ...]]]:
    """Every activation region of a network with affine scores, with a rational point inside: a pattern as in
    ``Network.activation_pattern``, uint8 (n_columns,), and the point.

    Memory does not grow with their number.  Patterns whose set is not convex (attention heads of one row) come once for
    each of its pieces.

    Parameters
    ----------
    network : Network
    domain : Interval, Box, Line, Plane, Space or their text, optional
        By default the network's own.

    Raises
    ------
    InputError
        If the domain is none of these, or of another dimension; if a score is quadratic.

    Examples
    --------
    >>> import regioncount as rc
    >>> network = rc.from_layers([([[1, 0, 0], [0, 1, 1]], [0, 0]), "relu"])
    >>> sorted(pattern.tolist() for pattern, _ in regions(network, "all"))
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    if not isinstance(network, Network):
        raise InputError(f"network: expected a Network, got {shown(network)}")
    where = as_domain(network.domain if domain is None else domain, network.input_dim)
    if isinstance(where, Interval):
        where = Box([where.low], [where.high])
    if not isinstance(where, (Box, Line, Plane, Space)):
        raise InputError(f"domain: expected an interval, a box or all, got {shown(where)}")
    if where.dim != network.input_dim:
        raise InputError(f"domain: expected dimension {network.input_dim} (input_dim), got {where}")
    lowered = lower(network, where.dim > 1)
    run = PolytopeRun(lowered, where, True, None)
    for pieces in run.stream():
        points, exact = interior_points(pieces, run.judge)
        for p, pattern in enumerate(pieces.patterns[:, lowered.visible]):
            yield pattern, exact.get(p) or tuple(map(Fraction, points[p].tolist()))


def interior_points(pieces: SpacePieces, judge: SpaceJudge) -> tuple[np.ndarray, dict[int, tuple[Fraction, ...]]]:
    """A point inside each piece, in the user's coordinates: floats (n_pieces, n), and exact ones by piece where floats
    are not known to be inside.

    The kernel's point is the mean of the vertices; its clearance from all facets must exceed the rounding on its way.
    """
    window = judge.window
    n = len(window.centre)
    weight = pieces.points[:, n]
    with np.errstate(all="ignore"):
        inner = pieces.points[:, :n] / weight[:, None]
        points = window.outward(inner)
        far = np.array([_as_float(abs(c / s)) for c, s in zip(window.centre, window.scale, strict=True)])
        rounding = 16 * U * np.sqrt(n) * (1.0 + (np.abs(inner) + far).max(axis=1, initial=0.0)) * weight
        unclear = ~((pieces.points[:, n + 1] > rounding) & np.isfinite(points).all(axis=1))
    exact = {}
    for p in np.flatnonzero(unclear).tolist():
        point = interior_point([plane[:-1] for plane in piece_planes(pieces, judge, p) if plane[-1] == 0], n)
        assert point is not None, "pieces have an interior"
        exact[p] = tuple(c + s * x for c, s, x in zip(window.centre, window.scale, point, strict=True))
        points[p] = [_as_float(x, FARTHEST) for x in exact[p]]
    return points, exact


def piece_planes(pieces: SpacePieces, judge: SpaceJudge, piece: int) -> list[Hyperplane]:
    """The exact facets of a piece, positive inside, in engine coordinates; those at infinity have R."""
    planes = []
    for f in range(int(pieces.offsets[piece]), int(pieces.offsets[piece + 1])):
        tag = pieces.tags[f]
        plane = judge.plane(tag, pieces.patterns[piece])
        planes.append(plane if tag[0] < 0 or tag[4] & 1 == 0 else tuple(-x for x in plane))
    return planes


def _as_float(x: Fraction, beyond: float = math.inf) -> float:
    """The nearest float, or ±``beyond`` past the range of floats."""
    try:
        return float(x)
    except OverflowError:
        return beyond if x > 0 else -beyond


def halfspaces(pieces: SpacePieces, judge: SpaceJudge) -> tuple[np.ndarray, np.ndarray]:
    """All facets in the user's coordinates, (n_halfspaces, n + 1), and where those of each piece begin; see
    ``Partition.halfspaces``.
    """
    window = judge.window
    rows: list[list[float]] = []
    counts: list[int] = []
    for p in range(len(pieces.patterns)):
        before = len(rows)
        for *slopes, constant, far in piece_planes(pieces, judge, p):
            if far == 0:
                outward = [a / s for a, s in zip(slopes, window.scale, strict=True)]
                shift = constant - sum(a * c for a, c in zip(outward, window.centre, strict=True))
                largest = max(map(abs, outward))
                rows.append([_as_float(x / largest) for x in (*outward, shift)])
        counts.append(len(rows) - before)
    return np.array(rows).reshape(-1, len(window.centre) + 1), np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


class Contacts:
    """Which pieces of one group (of equal map, or of equal pattern) share a facet, or a point of their closures.

    Pieces share a facet exactly if a hyperplane is a facet of both, from its two sides, and both facets have a point
    inside in common.  A point inside one, known up to its radius, that is strictly inside the other piece's other
    half-spaces proves it in floats; what is left is a linear program, exact.  Facets at infinity are none.
    """

    def __init__(self, pieces: SpacePieces, judge: SpaceJudge) -> None:
        self.pieces, self.judge = pieces, judge
        self.n = len(judge.window.centre)
        self._planes: dict[int, list[Hyperplane]] = {}

    def planes(self, piece: int) -> list[Hyperplane]:
        """:func:`piece_planes`, without those at infinity and in lowest terms."""
        found = self._planes.get(piece)
        if found is None:
            found = []
            for plane in piece_planes(self.pieces, self.judge, piece):
                common = math.gcd(*plane)
                found.append(tuple(x // common for x in plane))
            self._planes[piece] = found
        return found

    def joined(self, labels: np.ndarray) -> np.ndarray:
        """Groups ``labels`` (n_pieces,) parted into components joined through facets, in the order of appearance."""
        union = _Union(len(labels))
        for members in _groups(labels):
            sides: dict[Hyperplane, tuple[list, list]] = defaultdict(lambda: ([], []))
            for p in members:
                for at, plane in enumerate(self.planes(p)):
                    if plane[-1] == 0:
                        up = next(x for x in plane if x) > 0
                        sides[plane if up else tuple(-x for x in plane)][0 if up else 1].append((p, at))
            left = []
            for plane, (above, below) in sides.items():
                for (p, at), (q, other) in product(above, below):
                    if union.find(p) != union.find(q) and self._boxes_meet(p, q):
                        if self._seen_inside(p, at, q, other) or self._seen_inside(q, other, p, at):
                            union.join(p, q)
                        else:
                            left.append((plane, p, q))
            for plane, p, q in left:
                if union.find(p) != union.find(q) and self._share(plane, p, q):
                    union.join(p, q)
            self._planes.clear()
        return union.labels()

    def touching(self, labels: np.ndarray, components: np.ndarray) -> np.ndarray:
        """Components of the groups ``labels``, joined where closures of their pieces have a common point."""
        union = _Union(len(labels))
        for members in _groups(components):
            for p in members[1:]:
                union.join(members[0], p)
        for members in _groups(labels):
            for p, q in combinations(members, 2):
                if union.find(p) != union.find(q) and self._boxes_meet(p, q):
                    both = [*self.planes(p), *self.planes(q)]
                    if meet([plane[:-1] for plane in both if plane[-1] == 0]):
                        union.join(p, q)
            self._planes.clear()
        return union.labels()

    def _boxes_meet(self, p: int, q: int) -> bool:
        a, b = self.pieces.boxes[p], self.pieces.boxes[q]
        return bool((a[0] <= b[1]).all() and (b[0] <= a[1]).all())

    def _seen_inside(self, p: int, at: int, q: int, other: int) -> bool:
        """Whether floats prove that the point inside facet ``at`` of piece p is inside that of piece q, ``other``."""
        witness = self.pieces.witness[self.pieces.offsets[p] + at]
        point, radius = witness[: self.n + 1], witness[self.n + 1]
        if not point[self.n] > 0.0:
            return False
        for k, plane in enumerate(self.planes(q)):
            if k == other or plane[-1] != 0:
                continue
            largest = max(map(abs, plane))
            row = np.array([float(Fraction(x, largest)) for x in plane[:-1]])
            noise = (4 * self.n + 16) * U * float(np.abs(row) @ np.abs(point))
            if not float(row @ point) > noise + 1.01 * radius * float(np.linalg.norm(row)):
                return False
        return True

    def _share(self, plane: Hyperplane, p: int, q: int) -> bool:
        """Whether pieces on the two sides of a hyperplane, a facet of both, share it, by exact arithmetic."""
        opposite = tuple(-x for x in plane)
        rest = [h[:-1] for h in (*self.planes(p), *self.planes(q)) if h[-1] == 0 and h not in (plane, opposite)]
        return interior_point(within(plane[:-1], rest)) is not None if rest else True


class _Union:
    """Disjoint sets of pieces."""

    def __init__(self, n: int) -> None:
        self.parent = list(range(n))

    def find(self, p: int) -> int:
        while self.parent[p] != p:
            self.parent[p] = self.parent[self.parent[p]]
            p = self.parent[p]
        return p

    def join(self, p: int, q: int) -> None:
        p, q = self.find(p), self.find(q)
        self.parent[max(p, q)] = min(p, q)

    def labels(self) -> np.ndarray:
        """The set of each piece, numbered in the order of appearance."""
        return np.unique([self.find(p) for p in range(len(self.parent))], return_inverse=True)[1]


def _groups(labels: np.ndarray) -> list[list[int]]:
    """The pieces of each label that has several."""
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    return [part.tolist() for part in parts if len(part) > 1]
