"""R1: the activation patterns of the pointwise function on the closed domain, those on points and segments included.

At a point ties are averaged and later layers see the average, so a pattern on a border is no limit from one side.  All
here is exact: the domain is cut, block by block, into open *segments* and *points* on which the choices so far are
fixed; each holds the exact map of ``pre`` of its block on it (lowering), so its choice and the next block's map follow.

1-D.  A segment is cut where a choice changes, and at isolated ties, where the difference of a winner and another
candidate has a double root: a rational point.  Between cuts choices are constant; cuts are points.  What follows
depends on the map alone, so segments that agree on it, each in its own coordinate from 0 to 1, and points of equal
values are one *node* of a graph; a pattern is a path, and sets of their ends are built from the last block back.
A point p + q√d is kept by its values A + B√d.

2-D, affine scores.  Inside a piece the pattern of a point is that of the piece: there f_w − f_j is affine and either 0
or > 0, so it is 0 nowhere.  The rest of the domain is facets and vertices.
- Without attention the network is continuous: the map of a closed piece holds on its facets, and f_w − f_j >= 0 is 0
  all along a facet or nowhere between its ends.  So the pattern is constant between them: a candidate wins if it wins
  at both ends; a unit with z >= 0 on the piece is on if it is at an end, one with z <= 0 is off everywhere.
- With attention the network on a facet is one of one variable, cut as above; scores may be quadratic there.  Up to the
  first block where its two pieces differ they share one map, and a choice of both is the choice between them: an affine
  function that is > 0 on both sides has no zero in between.  So cutting starts at that block.
On the whole plane pieces are cut off by a square, whose sides add none; facets that end there are cut to infinity.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from regioncount.domain import Plane
from regioncount.engines import restricted
from regioncount.exact import Line, Real, Surd, compare, sign_surd
from regioncount.germs import last_change
from regioncount.lowering import BIT, SET, Composer, Integers, Lowered, Unit, reduced, score_form

if TYPE_CHECKING:
    from regioncount.engines import Judge
    from regioncount.partition import Partition


def closed_patterns(partition: Partition) -> set[bytes]:
    """The activation patterns on the closed domain of a partition, one byte a column.

    Examples
    --------
    >>> import regioncount as rc
    >>> network = rc.from_layers([([[1], [-1]], [0, 0]), "relu"])
    >>> sorted(pattern.hex() for pattern in closed_patterns(rc.subdivide(network, "-1:1")))
    ['0000', '0001', '0100']
    """
    found = {row.tobytes() for row in partition._source.pieces.patterns}
    judge = partition._source.judge
    cuts = _Cuts(judge)
    if partition.dim == 1:
        pre, denominator = judge.composer.pre(0, ())
        cuts.segment(0, b"", pre, denominator, *judge.ends)
        for end in judge.ends:
            cuts.point(0, *_values(pre, denominator, end))
        return found.union(*cuts.patterns())
    corners = _vertices(partition)
    pre, denominator = judge.composer.pre(0, ())
    for x, y, w in corners:
        cuts.point(0, *reduced((x * pre[0] + y * pre[1] + w * pre[2])[None], denominator * w), 0)
    if judge.lowered.has_products:
        _add_facets(partition, cuts, corners)
        return _visible(judge.lowered, found.union(*cuts.patterns()))
    at_vertices = [pattern for (pattern,) in cuts.patterns()]
    return found.union(at_vertices, _between(partition, at_vertices))


def _visible(lowered: Lowered, patterns: set[bytes]) -> set[bytes]:
    """Patterns without their hidden columns: with them or without, the pointwise function is the same."""
    if not lowered.has_hidden:
        return patterns
    shown = lowered.visible
    return {np.frombuffer(pattern, dtype=np.uint8)[shown].tobytes() for pattern in patterns}


def _vertices(partition: Partition) -> list[Line]:
    """The vertices, exact and homogeneous, in the coordinates of the engine."""
    first = np.unique(partition.piece_vertices, return_index=True)[1]
    return [partition._source.outline.corner(int(corner)) for corner in first]


def _between(partition: Partition, at_vertices: list[bytes]) -> set[bytes]:
    """The patterns between the ends of facets of a continuous network, from those at the ends."""
    lowered = partition._source.lowered
    rows = np.frombuffer(b"".join(at_vertices), dtype=np.uint8).reshape(len(at_vertices), lowered.columns)
    bit = np.zeros(lowered.columns, dtype=bool)
    for block in lowered.blocks:
        bit[[unit.columns[0] for unit in block.units if unit.kind == BIT]] = True
    one, other = (rows[partition.facet_vertices[:, k]] for k in (0, 1))
    return {row.tobytes() for row in np.where(bit, one | other, one & other)}


def _add_facets(partition: Partition, cuts: _Cuts, corners: list[Line]) -> None:
    """All facets, from the first block on in which the patterns of their two pieces differ."""
    blocks = partition._source.lowered.blocks
    composer = partition._source.judge.composer
    whole = isinstance(partition.domain, Plane)
    last_columns = np.array([block.last_column for block in blocks])
    patterns = partition._source.pieces.patterns
    for (p, q), ends in zip(partition.facets, partition.facet_vertices, strict=True):
        if whole and q < 0:
            continue  # no border of the plane
        pattern = patterns[p]
        start = 0
        if q >= 0:
            start = int(np.searchsorted(last_columns, np.argmax(pattern != patterns[q]), side="right"))
        pre, denominator = composer.pre(start, pattern)
        (x0, y0, w0), (x1, y1, w1) = corners[ends[0]], corners[ends[1]]
        slope = (x1 * w0 - x0 * w1) * pre[0] + (y1 * w0 - y0 * w1) * pre[1]
        constant = w1 * (x0 * pre[0] + y0 * pre[1] + w0 * pre[2])
        along = reduced(np.stack([slope, constant]), denominator * w0 * w1)
        prefix = pattern[: blocks[start].first_column].tobytes()
        low, high = Fraction(0), Fraction(1)
        if whole and max(abs(x1), abs(y1)) == w1:
            high = _beyond(composer, start, *along)
        if whole and max(abs(x0), abs(y0)) == w0:
            back = np.stack([-along[0][0], along[0][0] + along[0][1]])  # from the other end
            low = 1 - _beyond(composer, start, back, along[1])
        cuts.segment(start, prefix, *along, low, high)


def _beyond(composer: Composer, start: int, pre: Integers, denominator: int) -> Fraction:
    """How far along a ray all changes are: a number beyond the last one, at least 1."""
    last = last_change(composer, start, pre, denominator)
    far = Fraction(2)
    while compare(far, last) <= 0:
        far *= 2
    return far


def _values(pre: Integers, denominator: int, x: Real) -> tuple[Integers, int, int]:
    """The values A + B·√d of a map of the line at a point: rows B, A (A alone, d = 0 if rational), denominator, d."""
    if isinstance(x, Surd):
        common, p, q = x.integers()
        return *reduced(np.stack([q * pre[0], common * pre[1] + p * pre[0]]), denominator * common), x.d
    n, d = x.as_integer_ratio()
    return *reduced((n * pre[0] + d * pre[1])[None], denominator * d), 0


class _Segment(NamedTuple):
    """An open segment from low to high: a representative of its node, ``pre`` as a map of some line."""

    node: int
    pre: Integers
    denominator: int
    low: Real
    high: Real


class _Point(NamedTuple):
    node: int
    values: Integers
    denominator: int
    d: int


class _Level:
    """The nodes of one block.  ``edges`` of a node: its choice, and a node of the next block."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self.edges: list[list[tuple[bytes, int]]] = []
        self.segments: list[_Segment] = []
        self.points: list[_Point] = []

    def node(self, key: Hashable) -> tuple[int, bool]:
        """The number of a node, and whether it is new."""
        number = self.numbers.setdefault(key, len(self.edges))
        new = number == len(self.edges)
        if new:
            self.edges.append([])
        return number, new


class _Cuts:
    """The graph of segments and points; see the module header."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.blocks = judge.lowered.blocks[: judge.lowered.last_choice + 1]
        self.levels = [_Level() for _ in self.blocks]
        self.roots: list[tuple[int, bytes, int]] = []

    def segment(self, block: int, prefix: bytes, pre: Integers, denominator: int, low: Real, high: Real) -> None:
        """Ask for the patterns on an open segment on which the choices before ``block`` are ``prefix``."""
        self.roots.append((block, prefix, self._segment(block, pre, denominator, low, high)))

    def point(self, block: int, values: Integers, denominator: int, d: int) -> None:
        """Ask for the pattern at a point."""
        self.roots.append((block, b"", self._point(block, values, denominator, d)))

    def patterns(self) -> list[set[bytes]]:
        """The patterns on each segment and at each point asked for, in that order."""
        for block, level in enumerate(self.levels):
            through = [(segment.node, self._cut(block, segment)) for segment in level.segments]
            for point in level.points:
                self._step(block, point)
            for node, points in through:
                for number in points:
                    level.edges[node] += level.edges[number]
            level.numbers, level.segments, level.points = {}, [], []  # the next level needs the memory
        found: list[set[bytes]] = [set() for _ in self.roots]
        for block, ends in self._ends():
            for i, (start, prefix, node) in enumerate(self.roots):
                if start == block:
                    found[i] = {prefix + end for end in ends[node]}
        return found

    def _ends(self) -> Iterator[tuple[int, list[set[bytes]]]]:
        """For the blocks from the last back to the first, the rest of the pattern on every node."""
        ends = [{b""}]
        yield len(self.levels), ends
        for block in reversed(range(len(self.levels))):
            ends = [{choice + end for choice, k in edges for end in ends[k]} for edges in self.levels[block].edges]
            yield block, ends

    def _segment(self, block: int, pre: Integers, denominator: int, low: Real, high: Real) -> int:
        if block == len(self.levels):
            return 0
        key: Hashable = object()  # with an irrational end: a node of its own
        if isinstance(low, Fraction) and isinstance(high, Fraction):
            own, own_denominator = reduced(*restricted(pre, denominator, low, high))
            key = (own_denominator, *own.ravel())
        number, new = self.levels[block].node(key)
        if new:
            self.levels[block].segments.append(_Segment(number, pre, denominator, low, high))
        return number

    def _point(self, block: int, values: Integers, denominator: int, d: int) -> int:
        if block == len(self.levels):
            return 0
        number, new = self.levels[block].node((block, d, denominator, *values.ravel()))
        if new:
            self.levels[block].points.append(_Point(number, values, denominator, d))
        return number

    def _cut(self, block: int, segment: _Segment) -> list[int]:
        """Cut a segment into parts, nodes of the next level, and points, whose numbers on this level are returned."""
        node, pre, denominator, low, high = segment
        split = self.judge.split(block, pre, low, high)
        products = [
            (unit, [score_form(pre, unit, i) for i in range(len(unit.values))])
            for unit in self.blocks[block].units
            if unit.kind == SET and _is_quadratic(unit, pre)
        ]
        cuts, edges = list(split.points), self.levels[block].edges[node]
        for choice, (start, stop) in zip(split.choice, pairwise([low, *split.points, high]), strict=True):
            ties = self._ties(block, products, choice, start, stop)
            cuts += ties
            after = self._advance(block, pre, denominator, choice)
            parts = [self._segment(block + 1, *after, u, v) for u, v in pairwise([start, *ties, stop])]
            edges += [(choice.tobytes(), part) for part in parts]
        return [self._point(block, *_values(pre, denominator, x)) for x in cuts]

    def _ties(
        self, block: int, products: list[tuple[Unit, list[list[int]]]], choice: Any, low: Real, high: Real
    ) -> list[Fraction]:
        """Where another candidate touches a winner between low and high."""
        first = self.blocks[block].first_column
        found = set()
        for unit, forms in products:
            best = next(form for form, c in zip(forms, unit.columns, strict=True) if choice[c - first])
            for form in forms:
                c0, c1, c2 = (a - b for a, b in zip(best, form, strict=True))
                if c2 and c1 * c1 == 4 * c0 * c2:
                    found.add(Fraction(-c1, 2 * c2))
        return sorted(x for x in found if compare(low, x) < 0 < compare(high, x))

    def _step(self, block: int, point: _Point) -> None:
        """The edge of a point: its choice, and its values at the next block."""
        node, values, denominator, d = point
        this = self.blocks[block]
        choice = np.zeros(this.last_column - this.first_column, dtype=np.uint8)
        for unit in this.units:
            if unit.kind == BIT:
                a, b = values[-1, unit.values[0]], values[0, unit.values[0]] if d else 0
                choice[unit.columns[0] - this.first_column] = sign_surd(a, b, d) > 0
            elif unit.kind == SET:
                choice[[unit.columns[i] - this.first_column for i in _winners(unit, values, d)]] = 1
        after = self._advance(block, values, denominator, choice)
        self.levels[block].edges[node].append((choice.tobytes(), self._point(block + 1, *after, d)))

    def _advance(self, block: int, pre: Integers, denominator: int, choice: Any) -> tuple[Integers, int]:
        if block + 1 == len(self.levels):
            return pre, denominator  # nobody looks at it
        return self.judge.composer.advance(block, pre, denominator, choice)


def _is_quadratic(unit: Unit, pre: Integers) -> bool:
    """Whether a score may be quadratic on the line: a query and a key vary."""
    r = unit.scores[0][2]
    return any(pre[0, q : q + r].any() and pre[0, k : k + r].any() for q, k, _ in unit.scores)


def _winners(unit: Unit, values: Integers, d: int) -> list[int]:
    """The candidates of greatest score at a point."""
    scores = []
    for q, k, r in unit.scores:
        if not r:
            scores.append((values[-1, k], values[0, k] if d else 0))
        elif not d:
            scores.append((values[0, q : q + r] @ values[0, k : k + r], 0))
        else:  # (A + B√d)(A' + B'√d)
            (b, a), (b2, a2) = values[:, q : q + r], values[:, k : k + r]
            scores.append((a @ a2 + d * (b @ b2), a @ b2 + b @ a2))
    if not d:
        top = max(scores)
        return [i for i, score in enumerate(scores) if score == top]
    won = [0]
    for i in range(1, len(scores)):
        order = sign_surd(scores[i][0] - scores[won[0]][0], scores[i][1] - scores[won[0]][1], d)
        if order > 0:
            won = [i]
        elif order == 0:
            won.append(i)
    return won
