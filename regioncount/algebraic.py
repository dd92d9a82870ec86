"""Real algebraic numbers of small degree: roots of integer polynomials, compared and substituted exactly.

A polynomial is a tuple of ints, constant first, without leading zeros.  A :class:`Root` is a square-free polynomial
and an interval [low, high] / 2^bits that holds exactly one of its roots: an open interval with opposite signs at its
ends, or a point.  Roots are isolated by Descartes' rule of signs on dyadic intervals (Collins & Akritas, SYMSAC 1976);
equality is decided by greatest common divisors, order by refining until the intervals part.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Polynomial: TypeAlias = "tuple[int, ...]"

_PRIME = 2**61 - 1  # two polynomials without a common factor modulo a prime have none
_SHORT = 192  # bits of the coefficients that a first look takes
_FIRST = 50  # bits to which floats place a root


def polynomial(coefficients: Sequence[int]) -> Polynomial:
    """Without leading zeros; the zero polynomial is empty."""
    n = len(coefficients)
    while n and not coefficients[n - 1]:
        n -= 1
    return tuple(coefficients[:n])


def primitive(coefficients: Sequence[int]) -> Polynomial:
    """Without leading zeros and common integer factors."""
    p = polynomial(coefficients)
    common = math.gcd(*p)
    return tuple(c // common for c in p) if common > 1 else p


def times(p: Sequence[int], q: Sequence[int]) -> list[int]:
    """The product of two polynomials."""
    out = [0] * max(len(p) + len(q) - 1, 0)
    for i, a in enumerate(p):
        if a:
            for j, b in enumerate(q):
                out[i + j] += a * b
    return out


def minus(p: Sequence[int], q: Sequence[int]) -> list[int]:
    """The difference of two polynomials."""
    n = max(len(p), len(q))
    return [(p[i] if i < len(p) else 0) - (q[i] if i < len(q) else 0) for i in range(n)]


def sign_at_dyadic(p: Sequence[int], numerator: int, bits: int) -> int:
    """Sign of p at numerator / 2^bits."""
    total = _value(p, numerator, bits)
    return (total > 0) - (total < 0)


def _value(p: Sequence[int], numerator: int, bits: int) -> int:
    """p at numerator / 2^bits, times 2^(bits · degree)."""
    total, shift = 0, 0
    for c in reversed(p):
        total = total * numerator + (c << shift)
        shift += bits
    return total


def common_factor(p: Polynomial, q: Polynomial) -> Polynomial:
    """The greatest common divisor, up to a constant; of degree 0 where there is none."""
    if len(p) < len(q):
        p, q = q, p
    if q and _coprime_modulo(p, q):
        return (1,)
    p, q = primitive(p), primitive(q)
    while q:
        p, q = q, primitive(_remainder(p, q))
    return p


def _remainder(p: Sequence[int], q: Sequence[int]) -> list[int]:
    """A non-zero multiple of p modulo q."""
    r = list(p)
    while len(r) >= len(q):
        if r[-1]:
            common = math.gcd(r[-1], q[-1])
            up, down = q[-1] // common, r[-1] // common
            at = len(r) - len(q)
            r = [up * c for c in r]
            for i, c in enumerate(q):
                r[at + i] -= down * c
        r.pop()
    return r


def _coprime_modulo(p: Sequence[int], q: Sequence[int]) -> bool:
    a, b = [c % _PRIME for c in p], [c % _PRIME for c in q]
    if not a[-1] or not b[-1]:
        return False
    while len(b) > 1:
        inverse = pow(b[-1], -1, _PRIME)
        while len(a) >= len(b):
            factor, at = a[-1] * inverse % _PRIME, len(a) - len(b)
            for i, c in enumerate(b):
                a[at + i] = (a[at + i] - factor * c) % _PRIME
            a.pop()
        while a and not a[-1]:
            a.pop()
        a, b = b, a
    return len(b) == 1


def _quotient(p: Polynomial, q: Polynomial) -> Polynomial:
    """p / q up to a constant factor, where q divides p."""
    r, out = [Fraction(c) for c in p], []
    while len(r) >= len(q):
        factor = r[-1] / q[-1]
        out.append(factor)
        at = len(r) - len(q)
        for i, c in enumerate(q):
            r[at + i] -= factor * c
        r.pop()
    common = math.lcm(*(f.denominator for f in out))
    return primitive([int(f * common) for f in reversed(out)])


def square_free(p: Polynomial) -> Polynomial:
    """The polynomial with the same roots, each once."""
    if len(p) <= 2:
        return p
    common = common_factor(p, polynomial([i * c for i, c in enumerate(p)][1:]))
    return p if len(common) == 1 else _quotient(p, common)


def _shifted(p: list[int]) -> list[int]:
    """p(t + 1)."""
    out = list(p)
    for i in range(len(out) - 1):
        for j in range(len(out) - 2, i - 1, -1):
            out[j] += out[j + 1]
    return out


def _variations(p: list[int]) -> int:
    """An upper bound, of the right parity, on the number of roots of p in (0, 1)."""
    signs = [c > 0 for c in _shifted(p[::-1]) if c]
    return sum(a != b for a, b in zip(signs, signs[1:], strict=False))


class _Signs:
    """Signs of a polynomial at dyadic numbers in [−2, 2]: by the leading bits of its coefficients where they tell."""

    __slots__ = ("polynomial", "short", "slack")

    def __init__(self, p: Polynomial) -> None:
        self.polynomial = p
        cut = max(abs(c) for c in p).bit_length() - _SHORT
        self.short = [c >> cut for c in p] if cut > 0 else None
        self.slack = 2 ** len(p)  # dropping bits changes the value by less than the sum of the powers, 1 + 2 + 4 + …

    def at(self, numerator: int, bits: int) -> int:
        """Sign at numerator / 2^bits."""
        if self.short is None:
            return sign_at_dyadic(self.polynomial, numerator, bits)
        total, shift = 0, 0
        for c in reversed(self.short):
            total = total * numerator + (c << shift)
            shift += bits
        slack = self.slack << (shift - bits)
        if total > slack:
            return 1
        if total < -slack:
            return -1
        return sign_at_dyadic(self.polynomial, numerator, bits)

    def floats(self) -> list[float]:
        """The polynomial up to a positive factor, in floats."""
        p = self.short or self.polynomial
        largest = max(abs(c) for c in p)
        return [c / largest for c in p]


class Root:
    """A real root of a square-free polynomial; see the module header.

    >>> a, b = isolated((-2, 0, 4))
    >>> a.compare(b), b.sign((-1, 0, 2)), b.sign((-1, 1)), round(float(b), 6)
    (-1, 0, -1, 0.707107)
    """

    __slots__ = ("_below", "_signs", "bits", "high", "low", "polynomial")

    def __init__(self, p: Polynomial, low: int, high: int, bits: int) -> None:
        self.polynomial, self.low, self.high, self.bits = p, low, high, bits
        self._signs = _Signs(p)
        self._below = self._signs.at(low, bits)  # 0 for a point
        if not self._below and low != high:
            self.high = low

    @classmethod
    def rational(cls, x: Fraction) -> Root:
        """A rational number."""
        n, d = x.as_integer_ratio()
        if d & (d - 1) == 0:
            return cls((-n, d), n, n, d.bit_length() - 1)
        low = (n << 64) // d
        return cls((-n, d), low, low + 1, 64)

    @classmethod
    def near(cls, p: Polynomial, x: float, radius: float) -> Root:
        """The one root of p within ``radius`` of x."""
        bits = 96
        while True:
            low = math.floor(Fraction(x - radius) * 2**bits) - 1
            high = math.ceil(Fraction(x + radius) * 2**bits) + 1
            factor = square_free(p)
            if sign_at_dyadic(factor, low, bits) * sign_at_dyadic(factor, high, bits) < 0:
                return cls(factor, low, high, bits)
            bits *= 2
            if bits > 1000:
                raise AssertionError(f"no single root of {p} within {radius} of {x}")

    @property
    def direction(self) -> int:
        """The sign of the polynomial right of this root of it."""
        if self.low != self.high:
            return -self._below
        return sign_at_dyadic([k * c for k, c in enumerate(self.polynomial)][1:], self.low, self.bits)

    def refine(self, bits: int) -> None:
        """Make the interval at most 2^−bits wide."""
        rest = 0  # bisections before the next attempt at more than one bit
        while self.low != self.high and self._width_bits() < bits:
            if rest == 0:
                have = self._width_bits()
                if have < _FIRST - 14:
                    at, resolution = self._guess(), _FIRST
                    if any(self._narrow(at - room, at + room + 1, resolution) for room in (1, 1 << 8)):
                        continue
                elif self._narrow(*self._secant(min(2 * have - 6, bits + 2))):
                    continue
                rest = 6
            rest -= 1
            self.low, self.high, self.bits = 2 * self.low, 2 * self.high, self.bits + 1
            middle = (self.low + self.high) >> 1
            s = self._signs.at(middle, self.bits)
            if not s:
                self.low = self.high = middle
                self._below = 0
            elif s == self._below:
                self.low = middle
            else:
                self.high = middle

    def _guess(self) -> int:
        """Where floats place the root, times 2^_FIRST."""
        p = self._signs.floats()
        a, b = self.low / (1 << self.bits), self.high / (1 << self.bits)
        for _ in range(64):
            x = 0.5 * (a + b)
            value = 0.0
            for c in reversed(p):
                value = value * x + c
            if (value > 0) == (self._below > 0):
                a = x
            else:
                b = x
        return math.floor(a * (1 << _FIRST))

    def _secant(self, bits: int) -> tuple[int, int, int]:
        """Where the straight line through the values at the ends places the root: an interval to try."""
        p, shift = self.polynomial, max(bits - self.bits, 0)
        f, g = (abs(_value(p, k, self.bits)) for k in (self.low, self.high))
        at = ((self.low * g + self.high * f) << shift) // (f + g)
        return at - 1, at + 2, self.bits + shift

    def _narrow(self, low: int, high: int, bits: int) -> bool:
        """Take the part of an interval that lies in this one, if the root lies in it and it is at most half as wide."""
        shift = bits - self.bits
        if shift < 0:
            return False
        start, end = self.low << shift, self.high << shift
        low, high = max(low, start), min(high, end)
        if not 0 < 2 * (high - low) <= end - start or (low > start and self._signs.at(low, bits) != self._below):
            return False
        if high < end and self._signs.at(high, bits) != -self._below:
            return False
        self.low, self.high, self.bits = low, high, bits
        return True

    def interval(self, bits: int) -> tuple[int, int, int]:
        """An interval of width at most 2^−bits around this number: (low, high, b), with ends low / 2^b, high / 2^b."""
        self.refine(bits)
        shift = max(bits - self.bits, 0)
        return self.low << shift, self.high << shift, self.bits + shift

    def __float__(self) -> float:
        """A float within 2^−56 + 2^−53 |x| of x."""
        self.refine(56)
        return (self.low + self.high) / (1 << (self.bits + 1))

    def sign(self, p: Polynomial) -> int:
        """The sign of a polynomial at this number."""
        if not p:
            return 0
        if self.low == self.high:
            return sign_at_dyadic(p, self.low, self.bits)
        common = common_factor(self.polynomial, p)
        if len(common) > 1 and sign_at_dyadic(common, self.low, self.bits) != sign_at_dyadic(
            common, self.high, self.bits
        ):
            self._divide(common)
            return 0
        while True:
            if self.low == self.high:
                return sign_at_dyadic(p, self.low, self.bits)
            if not _variations(_onto(p, self.low, self.high, self.bits)):
                middle = self.low + self.high
                return sign_at_dyadic(p, middle, self.bits + 1)
            self.refine(self._width_bits() + 4)

    def _divide(self, factor: Polynomial) -> None:
        """Go on as a root of a factor of the polynomial, which has this root."""
        if len(factor) < len(self.polynomial):
            self.polynomial, self._signs = factor, _Signs(factor)
            self._below = self._signs.at(self.low, self.bits)

    def _width_bits(self) -> int:
        return self.bits - (self.high - self.low).bit_length() + 1

    def compare(self, other: Root) -> int:
        """The sign of this number minus the other."""
        if self is other:
            return 0
        apart = self._apart(other)
        if not apart:
            self.refine(_FIRST - 6)
            other.refine(_FIRST - 6)
            apart = self._apart(other)
        if apart:
            return apart
        common = common_factor(self.polynomial, other.polynomial)
        if len(common) > 1:
            low = max(Fraction(self.low, 1 << self.bits), Fraction(other.low, 1 << other.bits))
            high = min(Fraction(self.high, 1 << self.bits), Fraction(other.high, 1 << other.bits))
            bits = max(self.bits, other.bits)
            s = sign_at_dyadic(common, int(low * 2**bits), bits)
            t = sign_at_dyadic(common, int(high * 2**bits), bits)
            if s * t < 0 or (low == high and not s):
                self._divide(common)
                other._divide(common)
                return 0
            # the ends of an open interval are no roots, a point is one
            if not s and (self.low == self.high or other.low == other.high):
                return 0 if self.sign(other.polynomial) == 0 and other.sign(self.polynomial) == 0 else self._part(other)
        return self._part(other)

    def _part(self, other: Root) -> int:
        while True:
            apart = self._apart(other)
            if apart:
                return apart
            wider = min((x for x in (self, other) if x.low != x.high), key=Root._width_bits)
            wider.refine(2 * wider._width_bits() + 8)

    def _apart(self, other: Root) -> int:
        """−1 or 1 where the intervals certainly part, else 0."""
        shift = self.bits - other.bits
        a, b, c, d = self.low, self.high, other.low, other.high
        if shift >= 0:
            c, d = c << shift, d << shift
        else:
            a, b = a << -shift, b << -shift
        if b <= c and (b < c or self.low != self.high or other.low != other.high):
            return -1
        if d <= a and (d < a or self.low != self.high or other.low != other.high):
            return 1
        return 0


def _onto(p: Sequence[int], low: int, high: int, bits: int) -> list[int]:
    """A positive multiple of p(low + (high − low) t) on dyadic ends."""
    n, width = len(p) - 1, high - low
    out = [0]
    for i in range(n, -1, -1):
        # out = out * (low + width t) + p_i 2^(bits (n - i))
        longer = [0] * (len(out) + 1)
        for k, c in enumerate(out):
            longer[k] += c * low
            longer[k + 1] += c * width
        longer[0] += p[i] << (bits * (n - i))
        out = longer
    return out[: n + 1]


def isolated(p: Polynomial, low: int = -5, high: int = 5, bits: int = 2) -> list[Root]:
    """The real roots of a non-zero polynomial in [low, high] / 2^bits, part of [−2, 2], increasing, each once.

    >>> [round(float(x), 6) for x in isolated((0, -1, 0, 4))]
    [-0.5, 0.0, 0.5]
    """
    if len(p) <= 1:
        return []
    here = _onto(p, low, high, bits)
    if here[0] and sum(here) and not _variations(here):
        return []
    factor = square_free(p)
    found: list[Root] = []
    if sign_at_dyadic(factor, low, bits) == 0:
        found.append(Root(factor, low, low, bits))
    _isolate(factor, _onto(factor, low, high, bits), low, high, bits, found)
    if sign_at_dyadic(factor, high, bits) == 0:
        found.append(Root(factor, high, high, bits))
    return found


def _isolate(p: Polynomial, here: list[int], low: int, high: int, bits: int, found: list[Root]) -> None:
    """Append the roots strictly between low and high; ``here`` is p on that interval, in t from 0 to 1."""
    v = _variations(here)
    if v == 0:
        return
    if v == 1 and here[0] and sum(here):
        found.append(Root(p, low, high, bits))
        return
    n = len(here) - 1
    left = [c << (n - i) for i, c in enumerate(here)]
    right = _shifted(left)
    low, high, middle, bits = 2 * low, 2 * high, low + high, bits + 1
    _isolate(p, left, low, middle, bits, found)
    if not right[0]:
        found.append(Root(p, middle, middle, bits))
    _isolate(p, right, middle, high, bits, found)


def between(a: Root, b: Root) -> Fraction:
    """A rational with a small denominator strictly between a < b."""
    a._part(b)
    while True:
        low, high = Fraction(a.high, 1 << a.bits), Fraction(b.low, 1 << b.bits)
        if low < high:
            break
        if low == high and a.low < a.high and b.low < b.high:
            return low  # the common end of two open intervals
        wider = min((x for x in (a, b) if x.low != x.high), key=Root._width_bits)
        wider.refine(2 * wider._width_bits() + 8)
    middle, room = (low + high) / 2, (high - low) / 4
    bits = 1
    while Fraction(1, 1 << bits) > room:
        bits += 1
    return Fraction(round(middle * (1 << bits)), 1 << bits)
