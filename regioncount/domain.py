"""Domains: the bounded sets of inputs that are subdivided, with exact rational corners.

An interval, a box of any dimension, or a convex polygon, each the closure of its interior.  The text forms
are those of the command line: ``-1:1``, ``-1:1,-1:1`` and ``poly:x,y;x,y;x,y``; a number in them is an
integer, a decimal taken exactly (``0.1`` is 1/10) or a fraction (``1/3``).  A float given from Python is the
rational it is.

A polygon is checked by exact signs: all its turns have one sense, and its edges turn once around, which they
do exactly when their lexicographic sign changes twice on the way (a star polygon has more changes).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regioncount.errors import InputError, located, shown
from regioncount.exact import as_fraction, as_list

Point: TypeAlias = tuple[Fraction, Fraction]
Bounds: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]

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


Domain: TypeAlias = Interval | Box | Polygon


def parse_domain(text: str) -> Domain:
    """Return the domain that `text` describes.

    Parameters
    ----------
    text : str
        ``low:high`` for an interval, several of them separated by commas for a box, or ``poly:x,y;x,y;x,y``.

    Raises
    ------
    InputError
        If the text has none of these forms or the domain has no interior.

    Examples
    --------
    >>> parse_domain("-1:1"), parse_domain("0:1/3,0:0.5")
    (Interval(-1, 1), Box([0, 0], ['1/3', '0.5']))
    """
    if not isinstance(text, str):
        raise InputError(f"domain: expected text such as '-1:1,-1:1', got {shown(text)}")
    stripped = text.strip()
    if stripped == "all" or stripped.startswith("slice:"):
        form = "all" if stripped == "all" else "slice:"
        raise InputError(f"domain: {form!r} is not available yet; expected low:high,… or poly:x,y;x,y;…")
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


def as_domain(x: Any) -> Domain:
    """Return a domain from a domain, its text, or nested pairs ``[[low, high], …]``, one a coordinate.

    A box of dimension 1 becomes the interval it is.

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
        return parse_domain(x)
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
    if isinstance(x, (Interval, Box, Polygon)):
        return x
    wanted = "an Interval, a Box, a Polygon, text such as '-1:1,-1:1' or pairs [[low, high], …]"
    raise InputError(f"domain: expected {wanted}, got {shown(x)}")


# -------------------------------------------------------------------------------- helpers


def _numbers(value: Any, name: str) -> tuple[Fraction, ...]:
    return tuple(as_fraction(x, f"{name}[{i}]") for i, x in enumerate(as_list(value, name, "numbers")))


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
