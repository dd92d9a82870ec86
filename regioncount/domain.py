"""Domains: the sets of inputs that are subdivided, with exact rational corners.

An interval, a box of any dimension, a convex polygon, each the closure of its interior; the whole line, plane or
space; or a slice, a 1-D or 2-D affine cut through R^n.  The text forms are those of the command line: ``-1:1``,
``-1:1,-1:1``, ``poly:x,y;x,y;x,y`` and ``all``; a number in them is an integer, a decimal taken exactly (``0.1`` is
1/10) or a fraction (``1/3``).  A float given from Python is the rational it is.  Slices come from files
(``slice:FILE``, read by ``files.read_domain``) or from Python.

A polygon is checked by exact signs: all its turns have one sense, and its edges turn once around, which they
do exactly when their lexicographic sign changes twice on the way (a star polygon has more changes).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regioncount.errors import InputError, located, shown
from regioncount.exact import as_fraction, as_list

Point: TypeAlias = tuple[Fraction, Fraction]
Bounds: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]

_LONGEST = 120  # the longest text of a slice that has all its numbers
_DECIMALS = 6  # text with at most so many decimals is written as a decimal, other rationals as p/q


@dataclass(frozen=True, init=False, repr=False)
class Interval:
    """The interval from `low` to `high`.

    Raises
    ------
    InputError
        Unless low < high, both finite numbers.

    Examples
    --------
    >>> interval = Interval("1/3", 2)
    >>> str(interval), interval.contains([0, 1, 2]).tolist()
    ('1/3:2', [False, True, True])
    """

    low: Fraction
    high: Fraction

    def __init__(self, low: Any, high: Any) -> None:
        low, high = as_fraction(low, "low"), as_fraction(high, "high")
        if low >= high:
            raise InputError(f"low: expected less than high, {_number(high)}, got {_number(low)}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return 1

    @property
    def bounded(self) -> bool:
        """Whether it is bounded: always."""
        return True

    @property
    def bounds(self) -> Bounds:
        """Least and greatest coordinates, in float64."""
        return (float(self.low),), (float(self.high),)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each point lies in the closed interval, in float64.

        Parameters
        ----------
        points : array-like (n,) or (n, 1)

        Returns
        -------
        ndarray of bool (n,)
        """
        x = _floats(points)
        if x.ndim >= 2:
            x = _points(x, 1)[..., 0]
        return np.asarray((x >= float(self.low)) & (x <= float(self.high)))

    def __str__(self) -> str:
        return f"{_number(self.low)}:{_number(self.high)}"

    def __repr__(self) -> str:
        return f"Interval({_literal(self.low)}, {_literal(self.high)})"


@dataclass(frozen=True, init=False, repr=False)
class Box:
    """The product of the intervals from ``low[i]`` to ``high[i]``.

    Parameters
    ----------
    low, high : sequence of n >= 1 numbers

    Raises
    ------
    InputError
        Unless both have equally many numbers and low < high in each coordinate.

    Examples
    --------
    >>> box = Box([-1, -1], [1, 1])
    >>> str(box), box.contains([[0, 0], [0, 2]]).tolist()
    ('-1:1,-1:1', [True, False])
    """

    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]

    def __init__(self, low: Any, high: Any) -> None:
        low, high = _numbers(low, "low"), _numbers(high, "high")
        if len(low) != len(high):
            raise InputError(f"high: expected {len(low)} numbers like low, got {len(high)}")
        for i, (a, b) in enumerate(zip(low, high, strict=True)):
            if a >= b:
                raise InputError(f"low[{i}]: expected less than high[{i}], {_number(b)}, got {_number(a)}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return len(self.low)

    @property
    def bounded(self) -> bool:
        """Whether it is bounded: always."""
        return True

    @property
    def bounds(self) -> Bounds:
        """Least and greatest coordinates, in float64."""
        return tuple(map(float, self.low)), tuple(map(float, self.high))

    @property
    def vertices(self) -> tuple[Point, ...]:
        """The four corners of a two-dimensional box, counter-clockwise from the lower left.

        Raises
        ------
        InputError
            If the box has another dimension.
        """
        if self.dim != 2:
            raise InputError(f"vertices: expected a box of dimension 2, got one of dimension {self.dim}")
        (left, bottom), (right, top) = self.low, self.high
        return (left, bottom), (right, bottom), (right, top), (left, top)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each point lies in the closed box, in float64.

        Parameters
        ----------
        points : array-like (..., dim)

        Returns
        -------
        ndarray of bool (...)
        """
        low, high = self.bounds
        x = _points(points, self.dim)
        return np.asarray(np.all((x >= low) & (x <= high), axis=-1))

    def __str__(self) -> str:
        return ",".join(f"{_number(a)}:{_number(b)}" for a, b in zip(self.low, self.high, strict=True))

    def __repr__(self) -> str:
        return f"Box([{_literals(self.low)}], [{_literals(self.high)}])"


@dataclass(frozen=True, init=False, repr=False)
class Polygon:
    """A convex polygon.

    Parameters
    ----------
    vertices : sequence of three or more pairs
        In order along the boundary, in either sense.  They are kept counter-clockwise from the least one (x,
        then y); repeated ones and those inside an edge are dropped, so equal sets are equal polygons.

    Raises
    ------
    InputError
        If the polygon has no interior or is not convex.

    Examples
    --------
    >>> triangle = Polygon([(0, 1), (1, 0), ("1/2", 0), (0, 0)])
    >>> str(triangle)
    'poly:0,0;1,0;0,1'
    """

    vertices: tuple[Point, ...]

    def __init__(self, vertices: Any) -> None:
        given = as_list(vertices, "vertices", "pairs of numbers")
        points = []
        for i, pair in enumerate(given):
            numbers = _numbers(pair, f"vertices[{i}]")
            if len(numbers) != 2:
                raise InputError(f"vertices[{i}]: expected a pair of numbers, got {len(numbers)}")
            points.append((numbers[0], numbers[1]))
        object.__setattr__(self, "vertices", _convex(points))

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return 2

    @property
    def bounded(self) -> bool:
        """Whether it is bounded: always."""
        return True

    @property
    def bounds(self) -> Bounds:
        """Least and greatest coordinates, in float64."""
        x, y = zip(*self.vertices, strict=True)
        return (float(min(x)), float(min(y))), (float(max(x)), float(max(y)))

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each point lies in the closed polygon, in float64.

        The sides are tested by rounded cross products: a point within rounding of a side may go either way.

        Parameters
        ----------
        points : array-like (..., 2)

        Returns
        -------
        ndarray of bool (...)
        """
        x = _points(points, 2)
        corners = np.array(self.vertices, dtype=np.float64)
        inside = np.ones(x.shape[:-1], dtype=bool)
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            edge, to_point = b - a, x - a
            inside &= edge[0] * to_point[..., 1] >= edge[1] * to_point[..., 0]
        return inside

    def __str__(self) -> str:
        return "poly:" + ";".join(f"{_number(x)},{_number(y)}" for x, y in self.vertices)

    def __repr__(self) -> str:
        return f"Polygon([{', '.join(f'({_literals(vertex)})' for vertex in self.vertices)}])"


@dataclass(frozen=True, repr=False)
class Line:
    """The whole line.

    Examples
    --------
    >>> str(Line()), Line().bounded, Line().contains([0.5, 1e300]).tolist()
    ('all', False, [True, True])
    """

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return 1

    @property
    def bounded(self) -> bool:
        """Whether it is bounded: never."""
        return False

    @property
    def bounds(self) -> Bounds:
        """Least and greatest coordinates: infinite."""
        return _everywhere(1)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each point is a number: (n,) or (n, 1) to (n,)."""
        x = _floats(points)
        return np.asarray(np.isfinite(_points(x, 1)[..., 0] if x.ndim >= 2 else x))

    def __str__(self) -> str:
        return "all"

    def __repr__(self) -> str:
        return "Line()"


@dataclass(frozen=True, repr=False)
class Plane:
    """The whole plane.

    Examples
    --------
    >>> str(Plane()), Plane().bounds
    ('all', ((-inf, -inf), (inf, inf)))
    """

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return 2

    @property
    def bounded(self) -> bool:
        """Whether it is bounded: never."""
        return False

    @property
    def bounds(self) -> Bounds:
        """Least and greatest coordinates: infinite."""
        return _everywhere(2)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each point has finite coordinates: (..., 2) to (...)."""
        return np.asarray(np.isfinite(_points(points, 2)).all(axis=-1))

    def __str__(self) -> str:
        return "all"

    def __repr__(self) -> str:
        return "Plane()"


@dataclass(frozen=True, init=False, repr=False)
class Space:
    """The whole of R^n; :func:`as_domain` makes a line of R^1 and a plane of R^2.

    Parameters
    ----------
    dim : int
        n >= 1.

    Raises
    ------
    InputError
        Unless `dim` is a positive integer.

    Examples
    --------
    >>> Space(3), str(Space(3)), as_domain(Space(2))
    (Space(3), 'all', Plane())
    """

    dim: int

    def __init__(self, dim: int) -> None:
        if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)) or dim < 1:
            raise InputError(f"dim: expected a positive integer, got {shown(dim)}")
        object.__setattr__(self, "dim", int(dim))

    @property
    def bounded(self) -> bool:
        """Whether it is bounded: never."""
        return False

    @property
    def bounds(self) -> Bounds:
        """Least and greatest coordinates: infinite."""
        return _everywhere(self.dim)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each point has finite coordinates: (..., dim) to (...)."""
        return np.asarray(np.isfinite(_points(points, self.dim)).all(axis=-1))

    def __str__(self) -> str:
        return "all"

    def __repr__(self) -> str:
        return f"Space({self.dim})"


@dataclass(frozen=True, init=False, repr=False)
class Slice:
    """The cut x = origin + Σ t_i directions[i] through R^n, for parameters t in a domain of the line or the plane.

    Parameters
    ----------
    origin : sequence of n >= 1 numbers
    directions : sequence of one or two sequences of n numbers
        Linearly independent, by exact arithmetic.
    domain : domain, str or pairs
        Of t: an Interval or Line for one direction, a Box, Polygon or Plane for two, or what :func:`as_domain` takes.

    Raises
    ------
    InputError
        If an argument is not as said.

    Examples
    --------
    >>> cut = Slice([0, 0, 1], [[1, 0, 0], [0, 1, 0]], "-1:1,-1:1")
    >>> cut.dim, cut.parameters, cut.outward([[0.5, -1]]).tolist()
    (3, 2, [[0.5, -1.0, 1.0]])
    >>> str(cut)
    'slice 0,0,1 + s(1,0,0) + t(0,1,0) on -1:1,-1:1'
    """

    origin: tuple[Fraction, ...]
    directions: tuple[tuple[Fraction, ...], ...]
    domain: Interval | Box | Polygon | Line | Plane

    def __init__(self, origin: Any, directions: Any, domain: Any) -> None:
        start = _numbers(origin, "origin")
        rows = tuple(
            _numbers(row, f"directions[{i}]") for i, row in enumerate(as_list(directions, "directions", "directions"))
        )
        if len(rows) > 2:
            raise InputError(f"directions: expected one or two, got {len(rows)}")
        for i, row in enumerate(rows):
            if len(row) != len(start):
                raise InputError(f"directions[{i}]: expected {len(start)} numbers like origin, got {len(row)}")
        if not any(rows[0]):
            raise InputError("directions[0]: expected a direction, got zeros")
        if len(rows) == 2 and _parallel(*rows):
            raise InputError("directions: expected two that are linearly independent, got parallel ones")
        inner = as_domain(domain, len(rows))
        if not isinstance(inner, (Interval, Box, Polygon, Line, Plane)) or inner.dim != len(rows):
            raise InputError(
                f"domain: expected dimension {len(rows)} like the number of directions, got {inner} of dimension "
                f"{inner.dim}"
            )
        object.__setattr__(self, "origin", start)
        object.__setattr__(self, "directions", rows)
        object.__setattr__(self, "domain", inner)

    @classmethod
    def through(cls, points: Any, domain: Any = None, margin: Any = "1/2") -> Slice:
        """Return the slice through two or three points of R^n.

        Two points are at t = 0 and 1; three at (0, 0), (1, 0) and (0, 1): x = p0 + s (p1 − p0) + t (p2 − p0).

        Parameters
        ----------
        points : sequence of two or three sequences of n numbers
        domain : optional
            Of the parameters; by default they reach from −margin to 1 + margin.
        margin : number
            How far the default domain goes beyond the points, in parts of their distances; not negative.

        Raises
        ------
        InputError
            If the points are not two distinct or three not collinear ones, or an argument is not as said.

        Examples
        --------
        >>> cut = Slice.through([[0, 0, 0], [1, 2, 3]])
        >>> str(cut.domain), cut.outward([1]).tolist()
        ('-0.5:1.5', [[1.0, 2.0, 3.0]])
        """
        places = [_numbers(p, f"points[{i}]") for i, p in enumerate(as_list(points, "points", "points"))]
        if len(places) not in (2, 3):
            raise InputError(f"points: expected two or three, got {len(places)}")
        first, *others = places
        for i, other in enumerate(others, 1):
            if len(other) != len(first):
                raise InputError(f"points[{i}]: expected {len(first)} numbers like points[0], got {len(other)}")
        rows = [tuple(b - a for a, b in zip(first, other, strict=True)) for other in others]
        if not all(map(any, rows)) or len(set(places)) < len(places):
            raise InputError("points: expected distinct ones, got two that coincide")
        if len(rows) == 2 and _parallel(*rows):
            raise InputError("points: expected three that are not collinear, got points on one line")
        beyond = as_fraction(margin, "margin")
        if beyond < 0:
            raise InputError(f"margin: expected a number that is not negative, got {shown(margin)}")
        if domain is None:
            domain = [[-beyond, 1 + beyond]] * len(rows)
        return cls(first, rows, domain)

    @property
    def dim(self) -> int:
        """Number of coordinates of the space that is cut, n."""
        return len(self.origin)

    @property
    def parameters(self) -> int:
        """Number of directions, 1 or 2."""
        return len(self.directions)

    @property
    def bounded(self) -> bool:
        """Whether it is bounded."""
        return self.domain.bounded

    @property
    def bounds(self) -> Bounds:
        """Least and greatest coordinates in R^n of a box around it, in float64."""
        low, high = self.domain.bounds
        start, rows = self._floats
        with np.errstate(invalid="ignore"):  # 0 · inf is 0 here
            ends = [np.where(rows == 0, 0.0, rows * np.array(side)[:, None]) for side in (low, high)]
        least, greatest = start + np.minimum(*ends).sum(axis=0), start + np.maximum(*ends).sum(axis=0)
        return tuple(least.tolist()), tuple(greatest.tolist())

    def outward(self, t: ArrayLike) -> NDArray[np.float64]:
        """Return the points of R^n at some parameters, in float64.

        Parameters
        ----------
        t : array-like (..., parameters); with one parameter also (n_points,)

        Returns
        -------
        ndarray (..., n)

        Raises
        ------
        InputError
            If `t` is no such array.
        """
        x = _floats(t)
        if self.parameters == 1 and x.ndim <= 1:
            x = x[..., None]
        if x.ndim == 0 or x.shape[-1] != self.parameters:
            raise InputError(f"t: expected (n_points, {self.parameters}), got {x.shape}")
        start, rows = self._floats
        return np.asarray(start + x @ rows)

    @property
    def _floats(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.array(self.origin, dtype=np.float64), np.array(self.directions, dtype=np.float64)

    def __str__(self) -> str:
        names = ("t",) if self.parameters == 1 else ("s", "t")
        terms = [f"{name}({_coordinates(row)})" for name, row in zip(names, self.directions, strict=True)]
        text = " + ".join([f"slice {_coordinates(self.origin)}", *terms])
        if len(text) > _LONGEST:
            text = f"slice of R^{self.dim} (sha256 {sha256(text.encode()).hexdigest()[:16]})"
        return f"{text} on {self.domain}"

    def __repr__(self) -> str:
        rows = ", ".join(f"[{_literals(row)}]" for row in self.directions)
        return f"Slice([{_literals(self.origin)}], [{rows}], {self.domain!r})"


Domain: TypeAlias = Interval | Box | Polygon | Line | Plane | Space | Slice


def parse_domain(text: str, dim: int | None = None) -> Domain:
    """Return the domain that `text` describes.

    Parameters
    ----------
    text : str
        ``low:high`` for an interval, several of them separated by commas for a box, ``poly:x,y;x,y;x,y``, or ``all``.
    dim : int, optional
        The number of coordinates, which ``all`` needs; of other texts it is not checked.

    Raises
    ------
    InputError
        If the text has none of these forms, the domain has no interior, or it is ``all`` and `dim` is not given.

    Examples
    --------
    >>> parse_domain("-1:1"), parse_domain("0:1/3,0:0.5"), parse_domain("all", 2)
    (Interval(-1, 1), Box([0, 0], ['1/3', '0.5']), Plane())
    """
    if not isinstance(text, str):
        raise InputError(f"domain: expected text such as '-1:1,-1:1', got {shown(text)}")
    stripped = text.strip()
    if stripped == "all":
        if dim is None:
            raise InputError("domain: 'all' needs a known number of inputs; expected low:high,… or poly:x,y;x,y;…")
        with located("domain: "):
            return _whole(Space(dim))
    if stripped.startswith("slice:"):
        raise InputError("domain: expected a domain without a file here, got one of the form slice:FILE")
    with located("domain: "):
        if stripped.startswith("poly:"):
            corners = [corner.split(",") for corner in stripped.removeprefix("poly:").split(";")]
            if not all(len(corner) == 2 for corner in corners):
                raise InputError(f"expected poly:x,y;x,y;x,y, got {shown(text)}")
            return Polygon([[number.strip() for number in corner] for corner in corners])
        sides = [side.split(":") for side in stripped.split(",")]
        if not all(len(side) == 2 for side in sides):
            raise InputError(f"expected low:high for each coordinate, got {shown(text)}")
        low, high = zip(*([number.strip() for number in side] for side in sides), strict=True)
        return Interval(low[0], high[0]) if len(sides) == 1 else Box(low, high)


def as_domain(x: Any, dim: int | None = None) -> Domain:
    """Return a domain from a domain, its text, or nested pairs ``[[low, high], …]``, one a coordinate.

    A box of dimension 1 becomes the interval it is, a space of dimension 1 or 2 the line or the plane.  As for
    :func:`parse_domain`, the text ``all`` needs `dim`.

    Raises
    ------
    InputError
        If `x` is none of these.

    Examples
    --------
    >>> as_domain([[-1, 1]]), as_domain([[-1, 1], [0, "1/2"]])
    (Interval(-1, 1), Box([-1, 0], [1, '0.5']))
    """
    if isinstance(x, str):
        return parse_domain(x, dim)
    if isinstance(x, (list, tuple, np.ndarray)):
        pairs = []
        for i, pair in enumerate(as_list(x, "domain", "pairs [low, high]")):
            numbers = _numbers(pair, f"domain[{i}]")
            if len(numbers) != 2:
                raise InputError(f"domain[{i}]: expected a pair [low, high], got {len(numbers)} numbers")
            pairs.append(numbers)
        low, high = zip(*pairs, strict=True)
        with located("domain: "):
            x = Box(low, high)
    if isinstance(x, Box) and x.dim == 1:
        return Interval(x.low[0], x.high[0])
    if isinstance(x, Space):
        return _whole(x)
    if isinstance(x, (Interval, Box, Polygon, Line, Plane, Slice)):
        return x
    wanted = "a domain such as an Interval, a Box or a Polygon, text such as '-1:1,-1:1' or pairs [[low, high], …]"
    raise InputError(f"domain: expected {wanted}, got {shown(x)}")


# -------------------------------------------------------------------------------- helpers


def _numbers(value: Any, name: str) -> tuple[Fraction, ...]:
    return tuple(as_fraction(x, f"{name}[{i}]") for i, x in enumerate(as_list(value, name, "numbers")))


def _whole(space: Space) -> Line | Plane | Space:
    return Line() if space.dim == 1 else Plane() if space.dim == 2 else space


def _everywhere(dim: int) -> Bounds:
    return (-math.inf,) * dim, (math.inf,) * dim


def _parallel(first: Sequence[Fraction], second: Sequence[Fraction]) -> bool:
    """Whether a direction and a second one are linearly dependent; the first is not zero."""
    pivot = next(i for i, x in enumerate(first) if x)
    ratio = second[pivot] / first[pivot]
    return all(b == ratio * a for a, b in zip(first, second, strict=True))


def _floats(points: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"points: expected an array of numbers, got {shown(points)}") from None


def _points(points: ArrayLike, dim: int) -> NDArray[np.float64]:
    x = _floats(points)
    if x.ndim == 0 or x.shape[-1] != dim:
        raise InputError(f"points: expected (n_points, {dim}), got {x.shape}")
    return x


def _turn(a: Point, b: Point, c: Point) -> Fraction:
    """Return twice the signed area of the triangle abc: positive where it turns left."""
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])


def _corners(points: Sequence[Point]) -> Iterable[tuple[Point, Point, Point]]:
    """Yield each vertex between its neighbours."""
    n = len(points)
    return ((points[i - 1], points[i], points[(i + 1) % n]) for i in range(n))


def _convex(points: list[Point]) -> tuple[Point, ...]:
    """Return the corners of a convex polygon, counter-clockwise from the least, by exact arithmetic."""
    points = [p for i, p in enumerate(points) if p != points[i - 1]]
    turns = [_turn(a, b, c) for a, b, c in _corners(points)]
    if not any(turns):
        raise InputError("vertices: expected a polygon with an interior, got points on one line")
    for a, b, c in (corner for corner, turn in zip(_corners(points), turns, strict=True) if not turn):
        if (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]) < 0:
            raise InputError(f"vertices: expected a convex polygon, got one that turns back at {_place(b)}")
    left = sum(turn > 0 for turn in turns) >= sum(turn < 0 for turn in turns)
    for b, turn in zip(points, turns, strict=True):
        if turn and (turn > 0) != left:
            raise InputError(f"vertices: expected a convex polygon, got a reflex corner at {_place(b)}")
    points = [p for p, turn in zip(points, turns, strict=True) if turn]
    if sum((a < b) != (b < c) for a, b, c in _corners(points)) != 2:
        raise InputError("vertices: expected a convex polygon, got a boundary that crosses itself")
    if not left:
        points.reverse()
    least = points.index(min(points))
    return tuple(points[least:] + points[:least])


def _place(point: Point) -> str:
    return f"({_number(point[0])}, {_number(point[1])})"


def _coordinates(point: Iterable[Fraction]) -> str:
    return ",".join(map(_number, point))


def _number(x: Fraction) -> str:
    """Return the shorter text that `as_fraction` reads back: a decimal of a few digits, or p/q."""
    scaled = x * 10**_DECIMALS
    if x.denominator == 1 or scaled.denominator != 1:
        return str(x)
    sign, digits = "-" if x < 0 else "", f"{abs(scaled.numerator):0{_DECIMALS + 1}d}"
    return f"{sign}{digits[:-_DECIMALS]}.{digits[-_DECIMALS:].rstrip('0')}"


def _literal(x: Fraction) -> str:
    return str(x) if x.denominator == 1 else repr(_number(x))


def _literals(numbers: Iterable[Fraction]) -> str:
    return ", ".join(map(_literal, numbers))
