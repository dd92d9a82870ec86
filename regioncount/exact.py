"""Exact arithmetic: the numbers behind every float of the package.

An `ExactArray` holds rationals and, beside them, the nearest float64 of each.  A float is the rational it is,
so an array of floats is exact without a single `Fraction`: only entries that their float misses are kept.

Numerical argument: Python converts a rational to the nearest float (ties to even), so an entry x and its view
v have |x - v| <= 2^-53 |x| where v is normal and |x - v| <= 2^-1075 where it is subnormal or zero.  An entry
of at most 2^-1075 in size has the view 0.0.  Zero is always +0.0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import chain
from operator import mul
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from regioncount.errors import InputError, located, shown

_NUMERAL = re.compile(r"[+-]?(?:\d+(?:/\d+|\.\d+)?|\.\d+)", re.ASCII)
_INTEGERS_EXACT_TO = 2**53  # every integer up to here is a float64
_CACHED_SIZE = 65_536  # arrays up to this size keep their Fractions once made: 10 MB at most
_MAX_DEPTH = 32
_A_NUMBER = "a finite number or a fraction such as '1/3'"


# -------------------------------------------------------------------------------- one number


def _split(x: object) -> tuple[float, Fraction | None]:
    """Return the float64 nearest to `x`, and `x` itself where that float is not exactly `x`."""
    if isinstance(x, (bool, np.bool_)):
        raise InputError(f"expected {_A_NUMBER}, got {shown(x)}")
    if isinstance(x, (float, np.floating)):
        if not np.isfinite(x):
            raise InputError(f"expected {_A_NUMBER}, got {shown(x)}")
        numerator, denominator = x.as_integer_ratio()
    elif isinstance(x, (int, np.integer)):
        numerator, denominator = int(x), 1
    elif isinstance(x, Fraction):
        numerator, denominator = x.numerator, x.denominator
    elif isinstance(x, str):
        numerator, denominator = _read_numeral(x)
    else:
        raise InputError(f"expected {_A_NUMBER}, got {shown(x)}")
    try:
        value = numerator / denominator
    except OverflowError:
        raise InputError(f"expected a number within the range of float64, got {shown(x)}") from None
    if value.as_integer_ratio() == (numerator, denominator):
        return value, None
    return value, Fraction(numerator, denominator)


def _read_numeral(text: str) -> tuple[int, int]:
    if _NUMERAL.fullmatch(text) is None:
        raise InputError(f"expected {_A_NUMBER}, got {shown(text)}")
    try:
        return Fraction(text).as_integer_ratio()
    except ZeroDivisionError:
        raise InputError(f"expected {_A_NUMBER}, got {shown(text)} with a zero denominator") from None
    except ValueError:  # Python refuses to convert more than 4300 digits
        raise InputError(f"expected {_A_NUMBER}, got {shown(text)} of too many digits") from None


def as_fraction(x: object, name: str = "number") -> Fraction:
    """Return one number as a Fraction.

    Parameters
    ----------
    x : int, float, numpy number, Fraction or str
        A float is the rational it is; a string is ``"3"``, ``"-2/7"`` or a decimal, taken exactly: ``"0.1"``
        is 1/10.
    name : str
        What to call it in an error.

    Raises
    ------
    InputError
        If `x` is not such a number, not finite or beyond the range of float64.

    Examples
    --------
    >>> as_fraction("0.1"), as_fraction(0.25)
    (Fraction(1, 10), Fraction(1, 4))
    """
    with located(f"{name}: "):
        value, exact = _split(x)
    return Fraction(value) if exact is None else exact


def as_list(values: object, name: str, what: str) -> list[Any]:
    """Return a list, tuple or array of one item or more as a list; `what` words the items in an error.

    >>> as_list((1, 2), "low", "numbers")
    [1, 2]
    """
    if not isinstance(values, (list, tuple, np.ndarray)) or (
        isinstance(values, np.ndarray) and not values.ndim
    ):
        raise InputError(f"{name}: expected a list of {what}, got {shown(values)}")
    if not len(values):
        raise InputError(f"{name}: expected a list of one or more {what}, got an empty one")
    return list(values)


def json_number(x: Fraction) -> int | float | str:
    """Return `x` as JSON holds it exactly: an int where integral, a float where exact, else ``"p/q"``.

    >>> json_number(Fraction(3)), json_number(Fraction(1, 4)), json_number(Fraction(1, 3))
    (3, 0.25, '1/3')
    """
    value, exact = _split(x)
    if exact is None:
        return int(value) if value.is_integer() and abs(value) <= _INTEGERS_EXACT_TO else value
    if exact.denominator == 1:
        return exact.numerator
    try:
        return str(exact)
    except ValueError:  # Python refuses to print more than 4300 digits
        raise InputError("expected a fraction of at most 4300 digits, got one of more") from None


# -------------------------------------------------------------------------------- arrays


class ExactArray:
    """An immutable array of rationals with a float64 view.

    Parameters
    ----------
    values : nested sequence or ndarray
        Entries as `as_fraction` takes them, in a rectangular array of one dimension or more.
    name : str
        What to call it in an error.

    Raises
    ------
    InputError
        If `values` is ragged, no sequence, or has an entry that `as_fraction` refuses; it names the entry.

    Examples
    --------
    >>> a = ExactArray([[1, 0.5], ["1/3", "0.1"]])
    >>> a.shape, a.is_float, a.fractions()[1, 1]
    ((2, 2), False, Fraction(1, 10))
    >>> a.tolist()
    [[1, 0.5], ['1/3', '1/10']]
    """

    __slots__ = ("_exact", "_fractions", "_view")

    _view: NDArray[np.float64]
    _exact: dict[int, Fraction]  # flat index -> entry, for the entries that the view misses
    _fractions: NDArray[np.object_] | None

    def __init__(self, values: Any, name: str = "array") -> None:
        exact: dict[int, Fraction] = {}
        if isinstance(values, ExactArray):
            view, exact = values._view, values._exact
        else:
            fast = _from_ndarray(values) if isinstance(values, np.ndarray) else None
            view, exact = (fast, exact) if fast is not None else _from_nested(values, name)
            finite = np.isfinite(view)
            if not finite.all():
                at = int(np.argmin(finite.ravel()))
                got = shown(float(view.ravel()[at]))
                raise InputError(f"{name}{_index(at, view.shape)}: expected {_A_NUMBER}, got {got}")
            view += 0.0  # -0.0 becomes 0.0: equal values have equal bytes
            view.setflags(write=False)
        object.__setattr__(self, "_view", view)
        object.__setattr__(self, "_exact", exact)
        object.__setattr__(self, "_fractions", None)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"ExactArray is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"ExactArray is immutable: cannot delete {name!r}")

    @property
    def view(self) -> NDArray[np.float64]:
        """The nearest float64 of each entry, read-only."""
        return self._view

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self._view.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._view.ndim

    @property
    def size(self) -> int:
        """Number of entries."""
        return self._view.size

    @property
    def is_float(self) -> bool:
        """Whether every entry equals its float64 exactly."""
        return not self._exact

    def nonzero(self) -> NDArray[np.bool_]:
        """Return where entries are not zero, those included that float64 takes for zero."""
        mask = np.asarray(self._view != 0)
        if self._exact:
            mask.ravel()[list(self._exact)] = True
        return mask

    def fractions(self) -> NDArray[np.object_]:
        """Return the entries as a read-only array of Fraction (about 1 µs an entry; small arrays keep it)."""
        if self._fractions is not None:
            return self._fractions
        flat = np.fromiter(map(Fraction, self._view.ravel().tolist()), dtype=object, count=self.size)
        for at, entry in self._exact.items():
            flat[at] = entry
        fractions = flat.reshape(self.shape)
        fractions.setflags(write=False)
        if self.size <= _CACHED_SIZE:
            object.__setattr__(self, "_fractions", fractions)
        return fractions

    def tolist(self) -> list[Any]:
        """Return nested lists that JSON holds exactly: each entry as `json_number` gives it."""
        flat = self._view.ravel()
        whole = (flat == np.floor(flat)) & (np.abs(flat) <= _INTEGERS_EXACT_TO)
        if self.is_float and not whole.any():
            nested: list[Any] = self._view.tolist()
            return nested
        entries = flat.astype(object)
        entries[whole] = flat[whole].astype(np.int64)
        for at, entry in self._exact.items():
            entries[at] = json_number(entry)
        nested = entries.reshape(self.shape).tolist()
        return nested

    def first_inexact(self) -> tuple[tuple[int, ...], Fraction] | None:
        """Return the index and value of the first entry that its float64 misses, if there is one."""
        if self.is_float:
            return None
        at = min(self._exact)
        return tuple(int(i) for i in np.unravel_index(at, self.shape)), self._exact[at]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactArray):
            return NotImplemented
        return np.array_equal(self._view, other._view) and self._exact == other._exact

    def __hash__(self) -> int:
        return hash((self.shape, self._view.tobytes()))

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        if self.size > 24:
            return f"ExactArray(shape={self.shape}, is_float={self.is_float})"
        return f"ExactArray({self.tolist()!r})"

    def __reduce__(self) -> tuple[Callable[..., ExactArray], tuple[Any, ...]]:
        return _rebuild, (self._view, self._exact)


def _rebuild(view: NDArray[np.float64], exact: dict[int, Fraction]) -> ExactArray:
    """Undo `ExactArray.__reduce__`."""
    array = ExactArray(view)
    object.__setattr__(array, "_exact", dict(exact))
    return array


def _from_ndarray(values: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a fresh float64 copy of an array that float64 surely holds exactly; None: look at each entry."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if values.ndim == 0 or kind not in "fiu" or (kind == "f" and size > 8):
        return None
    if kind != "f" and size > 4 and values.size:
        low, high = int(values.min()), int(values.max())
        if low < -_INTEGERS_EXACT_TO or high > _INTEGERS_EXACT_TO:
            return None
    return np.array(values, dtype=np.float64, order="C")


def _from_nested(values: object, name: str) -> tuple[NDArray[np.float64], dict[int, Fraction]]:
    flat, shape = _flatten(values, name)
    kinds = set(map(type, flat))
    exact: dict[int, Fraction] = {}
    if kinds == {float} or not flat or (kinds <= {int, float} and _small_integers(flat)):
        view = np.array(flat, dtype=np.float64)
    else:
        view = np.empty(len(flat))
        for at, entry in enumerate(flat):
            try:
                view[at], rational = _split(entry)
            except InputError as error:
                raise InputError(f"{name}{_index(at, shape)}: {error}") from None
            if rational is not None:
                exact[at] = rational
    return view.reshape(shape), exact


def _small_integers(flat: list[Any]) -> bool:
    integers = [x for x in flat if type(x) is int]
    return min(integers) >= -_INTEGERS_EXACT_TO and max(integers) <= _INTEGERS_EXACT_TO


def _flatten(values: object, name: str) -> tuple[list[Any], tuple[int, ...]]:
    """Return the entries of a nested sequence, in C order, and its shape.

    Works level by level on whole lists, so a long list of numbers costs no Python step an entry.
    """
    level: list[Any] = [values]
    shape: tuple[int, ...] = ()
    while True:
        kinds = set(map(type, level))
        if any(issubclass(kind, (np.ndarray, ExactArray)) for kind in kinds):
            level = [_unwrapped(item) for item in level]
            kinds = set(map(type, level))
        nested = {kind for kind in kinds if issubclass(kind, (list, tuple))}
        if not nested:
            break
        if len(shape) == _MAX_DEPTH:
            raise InputError(f"{name}: expected at most {_MAX_DEPTH} nested lists, got more")
        lengths = set(map(len, level)) if nested == kinds else set()
        if len(lengths) != 1:
            _refuse_ragged(level, shape, name)
        shape += (lengths.pop(),)
        level = list(chain.from_iterable(level))
    if not shape:
        raise InputError(f"{name}: expected an array or nested lists of numbers, got {shown(values)}")
    return level, shape


def _unwrapped(item: object) -> object:
    if isinstance(item, ExactArray):
        return item.view.tolist() if item.is_float else item.fractions().tolist()
    return item.tolist() if isinstance(item, np.ndarray) else item


def _refuse_ragged(level: list[Any], shape: tuple[int, ...], name: str) -> NoReturn:
    sequence = (list, tuple)
    first = len(level[0]) if isinstance(level[0], sequence) else None
    for at, item in enumerate(level):
        length = len(item) if isinstance(item, sequence) else None
        if length != first:
            where = name + _index(at, shape)
            if first is None:
                raise InputError(f"{where}: expected a number like the entries before it, got {shown(item)}")
            got = shown(item) if length is None else f"{length}"
            raise InputError(f"{where}: expected {first} entries like the rows before it, got {got}")
    raise AssertionError("a rectangular level was taken for a ragged one")


def _index(at: int, shape: tuple[int, ...]) -> str:
    """Return flat index `at` as the text ``[i][j]``."""
    return "".join(f"[{int(i)}]" for i in np.unravel_index(at, shape)) if shape else ""


# ------------------------------------------------------------------------------------------------ signs in the plane


def sign(x: int | Fraction) -> int:
    """Return −1, 0 or 1."""
    return (x > 0) - (x < 0)


Line: TypeAlias = tuple[int, int, int]


def crossing(first: Line, second: Line) -> Line:
    """Return the common point of two lines (a, b, c), ax + by + c = 0, in homogeneous coordinates (x, y, w), w >= 0.

    w = 0 where the lines are parallel.
    """
    a, b, c = first
    d, e, f = second
    w = a * e - b * d
    x, y = b * f - c * e, c * d - a * f
    return (x, y, w) if w >= 0 else (-x, -y, -w)


def sign_at(line: Line, point: Line) -> int:
    """Return the sign of ax + by + c at a point in homogeneous coordinates with w > 0.

    >>> sign_at((1, 1, -2), crossing((1, 0, -1), (0, 1, -1)))
    0
    """
    return sign(line[0] * point[0] + line[1] * point[1] + line[2] * point[2])


FarLine: TypeAlias = tuple[int, int, int, int]
FarPoint: TypeAlias = tuple[int, int, int, int, int]


def far_crossing(first: FarLine, second: FarLine) -> FarPoint:
    """Return the common point of two lines (a, b, c, r), ax + by + c + rR = 0, where R is larger than any number.

    (X, Y, x, y, w) stands for ((XR + x) / w, (YR + y) / w), w >= 0; w = 0 where the lines are parallel.

    >>> far_crossing((1, 0, 0, -1), (1, -2, 3, 0))  # x = R and x + 3 = 2y
    (2, 1, 0, 3, 2)
    """
    a, b, c, r = first
    d, e, f, s = second
    w = a * e - b * d
    if w < 0:
        a, b, c, r, d, e, f, s, w = d, e, f, s, a, b, c, r, -w
    return b * s - e * r, r * d - s * a, b * f - c * e, c * d - a * f, w


def sign_far(line: Line, point: FarPoint) -> int:
    """Return the sign of ax + by + c at a point of `far_crossing` with w > 0: of the part with R, or else without.

    >>> sign_far((1, -2, 4), (2, 1, 0, 3, 2)), sign_far((1, -1, 0), (2, 1, 0, 3, 2))
    (1, 1)
    """
    a, b, c = line
    return sign(a * point[0] + b * point[1]) or sign(a * point[2] + b * point[3] + c * point[4])


# ------------------------------------------------------------------------------------------------------- signs in Rⁿ

Hyperplane: TypeAlias = tuple[int, ...]  # (a_1 … a_n, c, r): a·x + c + rR, R larger than any number


class SpacePoint(NamedTuple):
    """The point (far·R + near) / weight of Rⁿ, weight > 0."""

    far: tuple[int, ...]
    near: tuple[int, ...]
    weight: int


def common_point(planes: Sequence[Hyperplane]) -> SpacePoint:
    """Return the one point that hyperplanes have in common; some n of them are independent.

    Fraction-free Gauss-Jordan elimination (Bareiss 1968): all divisions are exact.

    >>> common_point([(1, 0, -1, 0), (1, 2, -2, 0)])
    SpacePoint(far=(0, 0), near=(2, 1), weight=2)
    """
    rows = [list(row) for row in planes]
    n = len(rows[0]) - 2
    last = 1
    for column in range(n):
        at = next(k for k in range(column, len(rows)) if rows[k][column])
        rows[column], rows[at] = rows[at], rows[column]
        pivot = rows[column]
        p = pivot[column]
        for k, row in enumerate(rows):
            if k != column:
                q = row[column]
                rows[k] = [(p * x - q * y) // last for x, y in zip(row, pivot, strict=True)]
        last = p
    common = math.gcd(last, *(x for row in rows[:n] for x in row[n:])) * (1 if last > 0 else -1)
    return SpacePoint(
        tuple(-row[n + 1] // common for row in rows[:n]), tuple(-row[n] // common for row in rows[:n]), last // common
    )


def independent_columns(rows: Iterable[Sequence[int]], n: int) -> list[int]:
    """Return columns of a matrix of n columns that are independent and as many as its rank, in increasing order.

    Rows are read only until the rank is n.

    >>> independent_columns([(1, 1, 0), (2, 2, 0), (0, 0, 3)], 3)
    [0, 2]
    """
    pivots: dict[int, list[int]] = {}
    for given in rows:
        row = list(given)
        for column in range(n):
            if row[column] and column in pivots:
                pivot = pivots[column]
                p, q = pivot[column], row[column]
                row = [p * x - q * y for x, y in zip(row, pivot, strict=True)]
            elif row[column]:
                common = math.gcd(*row)
                pivots[column] = [x // common for x in row]
                break
        if len(pivots) == n:
            break
    return sorted(pivots)


def sign_at_point(plane: Hyperplane, point: SpacePoint) -> int:
    """Return the sign of a hyperplane without R at a point: far out its slopes decide, then its value nearby.

    >>> sign_at_point((1, -1, -1, 0), SpacePoint((1, 1), (0, 0), 1))
    -1
    """
    lead = sum(map(mul, plane, point.far))
    return sign(lead or sum(map(mul, plane, point.near)) + plane[-2] * point.weight)


# ------------------------------------------------------------------------------------------------ numbers on the line


class Surd:
    """The real number p + q·√d with rational p and q ≠ 0 and an integer d > 0 that is no square.

    Only what the interval engine needs: order, floors of scaled values, and signs of polynomials.
    """

    __slots__ = ("_float", "d", "p", "q")

    def __init__(self, p: Fraction, q: Fraction, d: int) -> None:
        self.p, self.q, self.d = p, q, d
        self._float: float | None = None

    def __float__(self) -> float:
        """A float within 2^−81 + 2^−53 |x| of x."""
        if self._float is None:
            self._float = (2 * self.floor(80) + 1) / 2**81
        return self._float

    def __repr__(self) -> str:
        return f"Surd({self.p} + {self.q}*sqrt({self.d}))"

    def integers(self) -> tuple[int, int, int]:
        """Return c > 0, a and b with x = (a + b·√d) / c."""
        common = math.lcm(self.p.denominator, self.q.denominator)
        p, q = self.p, self.q
        return common, p.numerator * (common // p.denominator), q.numerator * (common // q.denominator)

    def floor(self, bits: int) -> int:
        """Return ⌊x · 2^bits⌋."""
        common, a, b = self.integers()
        a, b = a << bits, b << bits
        root = math.isqrt(b * b * self.d)  # b√d lies strictly between two integers
        return (a + (root if b > 0 else -root - 1)) // common


Real: TypeAlias = "Fraction | Surd"


def sign_surd(a: int | Fraction, b: int | Fraction, d: int) -> int:
    """Return the sign of a + b·√d, d >= 0."""
    if sign(a) == sign(b) or not b or not d:
        return sign(a)
    if not a:
        return sign(b)
    return sign(a) * sign(a * a - b * b * d)


def compare(x: Real, y: Real) -> int:
    """Return the sign of x − y.

    Floats a, b of x, y decide where they differ by more than 2^−50 (|a| + |b|) + 2^−70, which is more than their errors
    (see ``Surd.__float__``) and the rounding of the test.

    >>> compare(Surd(Fraction(0), Fraction(1), 2), Fraction(3, 2))
    -1
    """
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return sign(x.numerator * y.denominator - y.numerator * x.denominator)
    try:
        a, b = float(x), float(y)
        if abs(a - b) > 2.0**-50 * (abs(a) + abs(b)) + 2.0**-70:
            return 1 if a > b else -1
    except OverflowError:
        pass  # beyond the range of floats: decided exactly, below
    if isinstance(x, Fraction):
        return -compare(y, x)
    if isinstance(y, Fraction):
        return sign_surd(x.p - y, x.q, x.d)
    p = x.p - y.p
    if x.d == y.d:
        return sign_surd(p, x.q - y.q, x.d)
    # p + (x.q √x.d − y.q √y.d): the sign s of the bracket, then its square against p²
    first, second = x.q * x.q * x.d, y.q * y.q * y.d
    s = sign(x.q) if sign(x.q) != sign(y.q) else sign(x.q) * sign(first - second)
    if sign(p) * s >= 0:
        return sign(p) or s
    return s * sign_surd(first + second - p * p, -2 * x.q * y.q, x.d * y.d)


def real_roots(c0: int, c1: int, c2: int) -> list[Real]:
    """Return the real roots of c0 + c1 x + c2 x², increasing, a double one once; none for the zero polynomial.

    >>> real_roots(-1, 0, 4), real_roots(1, -2, 1), len(real_roots(-2, 0, 1))
    ([Fraction(-1, 2), Fraction(1, 2)], [Fraction(1, 1)], 2)
    """
    if not c2:
        return [Fraction(-c0, c1)] if c1 else []
    if c2 < 0:
        c0, c1, c2 = -c0, -c1, -c2
    square = c1 * c1 - 4 * c2 * c0
    if square < 0:
        return []
    root = math.isqrt(square)
    if root * root == square:
        low, high = Fraction(-c1 - root, 2 * c2), Fraction(-c1 + root, 2 * c2)
        return [low] if low == high else [low, high]
    p, q = Fraction(-c1, 2 * c2), Fraction(1, 2 * c2)
    return [Surd(p, -q, square), Surd(p, q, square)]


def sign_of_polynomial(c0: int, c1: int, c2: int, x: Real) -> int:
    """Return the sign of c0 + c1 x + c2 x².

    >>> root = real_roots(-2, 0, 1)[1]
    >>> sign_of_polynomial(-2, 0, 1, root), sign_of_polynomial(-3, 2, 0, root)
    (0, -1)
    """
    if isinstance(x, Fraction):
        n, m = x.as_integer_ratio()
        return sign((c0 * m + c1 * n) * m + c2 * n * n)
    m, p, q = x.integers()
    return sign_surd((c0 * m + c1 * p) * m + c2 * (p * p + q * q * x.d), (c1 * m + 2 * c2 * p) * q, x.d)


def nearest_float(x: Real) -> float:
    """Return a float within 2^−52 of x where |x| <= 1."""
    return float(x)


def between(x: Real, y: Real) -> Fraction:
    """Return a rational strictly between x < y."""
    bits = 16
    while True:
        low = (x.floor(bits) if isinstance(x, Surd) else math.floor(x * 2**bits)) + 1
        high = y.floor(bits) if isinstance(y, Surd) else math.ceil(y * 2**bits) - 1
        if low <= high:
            found = Fraction((low + high) // 2, 2**bits)
            if compare(found, x) > 0 and compare(found, y) < 0:
                return found
        bits *= 2
