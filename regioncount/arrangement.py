"""Hyperplane arrangements in any dimension, exactly: counts, characteristic polynomial, faces, regions.

The hyperplanes are normals[i]·x = offsets[i], numbers the rationals that they are.  Names are SageMath's; formulas are
those of R. P. Stanley, An Introduction to Hyperplane Arrangements (2007), cited by lecture.  Positions may be as
special as they like: parallel, concurrent, repeated, in a space of more dimensions than they need.

A hyperplane given twice, up to a factor, keeps its two places in sign vectors and patterns and counts once in all
that is combinatorial, as in a set of hyperplanes.  `flats` does the counting.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import comb, gcd, lcm
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from regioncount import flats
from regioncount.errors import InputError, shown
from regioncount.exact import ExactArray

if TYPE_CHECKING:
    from regioncount.network import Network


class IntegerPolynomial(tuple[int, ...]):
    """A polynomial with integer coefficients: the tuple of them, the constant one first, as numpy.polynomial has it.

    Examples
    --------
    >>> p = IntegerPolynomial((2, -3, 1))
    >>> p(-1), p[1], str(p)
    (6, -3, 't^2 - 3*t + 2')
    """

    __slots__ = ()

    def __call__(self, t: Any) -> Any:
        """Return the value at `t`."""
        value: Any = 0
        for coefficient in reversed(self):
            value = value * t + coefficient
        return value

    def __str__(self) -> str:
        terms = []
        for k, c in reversed(list(enumerate(self))):
            if c:
                power = "" if k == 0 else "t" if k == 1 else f"t^{k}"
                size = str(abs(c)) if abs(c) != 1 or not k else ""
                terms.append(("- " if c < 0 else "+ ") + size + ("*" if size and power else "") + power)
        text = " ".join(terms) or "+ 0"
        return text[2:] if text[0] == "+" else "-" + text[2:]


class HyperplaneArrangement:
    """The hyperplanes ``normals[i] · x = offsets[i]`` in R^n.

    Parameters
    ----------
    normals : array-like (m, n)
        Numbers as everywhere: integers, floats, Fractions, strings such as ``"1/3"``.  No row is zero.
    offsets : array-like (m,)
    dim : int, optional
        n; needed without hyperplanes only.

    Raises
    ------
    InputError
        If a normal is zero, shapes do not fit or a number is none.

    Notes
    -----
    Immutable; two are equal when they have the same numbers in the same order.

    Examples
    --------
    >>> lines = HyperplaneArrangement([[1, 0], [0, 1], [1, 1]], [0, 0, "1/2"])
    >>> lines.n_regions(), lines.n_bounded_regions(), str(lines.characteristic_polynomial())
    (7, 1, 't^2 - 3*t + 3')
    """

    _normals: ExactArray | None
    _offsets: ExactArray | None
    _dim: int

    def __init__(self, normals: Any, offsets: Any, dim: int | None = None) -> None:
        normals, offsets = _checked(normals, offsets, dim)
        self.__dict__.update(_normals=normals, _offsets=offsets)
        self.__dict__["_dim"] = int(dim) if normals is None else normals.shape[1]  # type: ignore[arg-type]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"HyperplaneArrangement is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"HyperplaneArrangement is immutable: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HyperplaneArrangement):
            return NotImplemented
        return (self._dim, self._normals, self._offsets) == (other._dim, other._normals, other._offsets)

    def __hash__(self) -> int:
        return hash((self._dim, self._normals, self._offsets))

    def __len__(self) -> int:
        return self.n_hyperplanes

    def __repr__(self) -> str:
        s = "" if self.n_hyperplanes == 1 else "s"
        return f"<HyperplaneArrangement of {self.n_hyperplanes} hyperplane{s} in R^{self.dim}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._normals is None:
            return HyperplaneArrangement, ([], [], self._dim)
        return HyperplaneArrangement, (self._normals, self._offsets)

    # ---------------------------------------------------------------- what it is

    @property
    def normals(self) -> NDArray[np.object_]:
        """The normals as Fractions, (m, n), read-only."""
        return np.empty((0, self._dim), dtype=object) if self._normals is None else self._normals.fractions()

    @property
    def offsets(self) -> NDArray[np.object_]:
        """The offsets as Fractions, (m,), read-only."""
        return np.empty(0, dtype=object) if self._offsets is None else self._offsets.fractions()

    @property
    def dim(self) -> int:
        """Dimension n of the space."""
        return self._dim

    @property
    def n_hyperplanes(self) -> int:
        """Number of hyperplanes as given, repeated ones included."""
        return 0 if self._normals is None else self._normals.shape[0]

    @property
    def n_distinct(self) -> int:
        """Number of different hyperplanes."""
        return len(self._rows)

    @cached_property
    def rank(self) -> int:
        """Dimension of the span of the normals."""
        return len(flats.pivot_columns([row[:-1] for row in self._rows]))

    @cached_property
    def is_central(self) -> bool:
        """Whether some point lies on all hyperplanes."""
        return len(flats.pivot_columns(list(self._rows))) == self.rank

    @cached_property
    def is_essential(self) -> bool:
        """Whether the normals span the space, so that some hyperplanes meet in a single point."""
        return self.rank == self.dim

    @cached_property
    def is_general_position(self) -> bool:
        """Whether any j <= n of the distinct hyperplanes meet in dimension n - j, and no n + 1 of them meet.

        Equivalent to characteristic coefficients of absolute values C(m, k): a circuit with a common point, of at
        most n + 1 hyperplanes, takes its broken circuit from them (Whitney; Stanley, Lecture 4).
        """
        m, n = len(self._rows), self.dim
        return all(abs(c) == comb(m, n - k) for k, c in enumerate(self.characteristic_polynomial()))

    @property
    def is_simple(self) -> bool:
        """Another name of `is_general_position`, that of oriented matroids."""
        return self.is_general_position

    @cached_property
    def _rows(self) -> tuple[tuple[int, ...], ...]:
        """(a, c) of a·x + c = 0, integers without common factor, the first of a positive; each hyperplane once."""
        rows = zip(self.normals.tolist(), self.offsets.tolist(), strict=True)
        return tuple(dict.fromkeys(_primitive([*normal, -offset]) for normal, offset in rows))

    # ---------------------------------------------------------------- counts

    def characteristic_polynomial(self) -> IntegerPolynomial:
        """Return chi(t) = sum over flats X of mu(X) t^dim X, coefficients exact, the constant one first.

        Raises
        ------
        InputError
            If the numbers have so many digits that their determinants exceed 60,000.

        Notes
        -----
        The cost is that of a few numbers a region, a tenth of a microsecond each, in a memory of some 100 MB whatever
        the number of regions; independent parts of an arrangement are counted apart.  Two thousand lines or twenty
        hyperplanes in R^6 take a second or less, 500 planes (20 million regions) about ten.

        Examples
        --------
        >>> HyperplaneArrangement([[1, 0], [0, 1], [1, 1]], [0, 0, 0]).characteristic_polynomial()
        (2, -3, 1)
        """
        return self._characteristic

    @cached_property
    def _characteristic(self) -> IntegerPolynomial:
        return IntegerPolynomial(flats.characteristic(list(self._rows), self.dim))

    def poincare_polynomial(self) -> IntegerPolynomial:
        """Return pi(t) = (-t)^n chi(-1/t): the coefficient of t^k is \\|the coefficient of t^(n-k) in chi\\|."""
        return IntegerPolynomial(abs(c) for c in reversed(self.characteristic_polynomial()))

    def n_regions(self) -> int:
        """Return the number of regions, (-1)^n chi(-1) (Zaslavsky; Stanley, Lecture 2).

        >>> HyperplaneArrangement([], [], dim=3).n_regions()
        1
        """
        return sum(abs(c) for c in self.characteristic_polynomial())

    def n_bounded_regions(self) -> int:
        """Return the number of *relatively* bounded regions, (-1)^rank chi(1) (Zaslavsky; Stanley, Lecture 2).

        They are the bounded ones in the span of the normals.  Of an essential arrangement these are the bounded
        regions; of any other no region is bounded in the plain sense, since each contains lines.

        >>> HyperplaneArrangement([[1, 0], [1, 0]], [0, 1]).n_bounded_regions()
        1
        """
        return abs(sum(self.characteristic_polynomial()))

    def face_vector(self) -> tuple[int, ...]:
        """Return (f_0, ..., f_n), the numbers of faces of each dimension; f_n is the number of regions.

        A face is relatively open, so that the faces partition the space: sum (-1)^k f_k = (-1)^n.

        Examples
        --------
        >>> HyperplaneArrangement([[1, 0], [0, 1], [1, 1]], [0, 0, 1]).face_vector()
        (3, 9, 7)
        """
        return self._faces

    @cached_property
    def _faces(self) -> tuple[int, ...]:
        if len(self._rows) > self.dim and self.is_general_position:  # f_k = C(m, n-k) regions of m-n+k in R^k
            m, n = len(self._rows), self.dim
            return tuple(comb(m, n - k) * sum(comb(m - n + k, i) for i in range(k + 1)) for k in range(n + 1))
        return tuple(flats.faces(list(self._rows), self.dim))

    # ---------------------------------------------------------------- other arrangements

    def distinct(self) -> HyperplaneArrangement:
        """Return the arrangement with each hyperplane once: where it came first, with the numbers it had there."""
        seen: dict[tuple[int, ...], int] = {}
        for i, (normal, offset) in enumerate(zip(self.normals.tolist(), self.offsets.tolist(), strict=True)):
            seen.setdefault(_primitive([*normal, -offset]), i)
        return self._take(list(seen.values()))

    def deletion(self, i: int) -> HyperplaneArrangement:
        """Return the arrangement without hyperplane `i`, the number as given; another copy of it stays.

        >>> HyperplaneArrangement([[1, 0], [0, 1]], [0, 1]).deletion(0).normals.tolist()
        [[Fraction(0, 1), Fraction(1, 1)]]
        """
        i = self._index(i)
        return self._take([k for k in range(self.n_hyperplanes) if k != i])

    def restriction(self, i: int) -> HyperplaneArrangement:
        """Return the arrangement that the others cut out on hyperplane `i`, in R^(n-1), each once.

        With c the first coordinate whose entry of the normal is not zero, the coordinates on the hyperplane are
        those of R^n without x_c, in order.  Hyperplanes parallel or equal to it leave nothing; those that cut out
        the same are kept once, as integers without common factor whose first one is positive.

        Raises
        ------
        InputError
            If n = 1: a point has no arrangement.

        Examples
        --------
        >>> HyperplaneArrangement([[2, 1], [0, 1], [2, 1]], [2, 0, 5]).restriction(0).normals.tolist()
        [[Fraction(1, 1)]]
        """
        i = self._index(i)
        if self.dim == 1:
            raise InputError("restriction: expected dimension 2 or more, got 1")
        pivot = [*self.normals[i].tolist(), -self.offsets[i]]
        c = next(k for k, x in enumerate(pivot) if x)
        rows: dict[tuple[int, ...], None] = {}
        for row in self._rows:
            factor = row[c] / pivot[c]
            rest = [x - factor * y for k, (x, y) in enumerate(zip(row, pivot, strict=True)) if k != c]
            if any(rest[:-1]):
                rows[_primitive(rest)] = None
        return _from_rows(list(rows), self.dim - 1)

    def essentialization(self) -> HyperplaneArrangement:
        """Return the essential arrangement in R^rank with the same regions and faces (Stanley, Lecture 1).

        Its coordinates are the earliest of R^n on which the normals keep their rank; the other coordinates are set
        to zero, so rows keep their order and sign vectors.  Essential arrangements are returned as they are.

        Raises
        ------
        InputError
            Without hyperplanes: the rank is zero.

        Examples
        --------
        >>> HyperplaneArrangement([[0, 1, -1]], [3]).essentialization().normals.tolist()
        [[Fraction(1, 1)]]
        """
        if self.is_essential:
            return self
        columns = flats.pivot_columns([row[:-1] for row in self._rows])
        if not columns:
            raise InputError("essentialization: expected hyperplanes, got an arrangement without any")
        return HyperplaneArrangement(self.normals[:, columns], self.offsets)

    def network(self) -> Network:
        """Return the network x -> relu(normals x - offsets): unit i is active where normals[i]·x > offsets[i].

        Its activation regions are the regions of the arrangement.

        Raises
        ------
        InputError
            Without hyperplanes: a layer has units.
        """
        from regioncount.network import Affine, Network, ReLU

        if self._normals is None or self._offsets is None:
            raise InputError("network: expected hyperplanes, got an arrangement without any")
        negative = -self._offsets.view if self._offsets.is_float else -self._offsets.fractions()
        return Network(self.dim, (Affine(self._normals, negative), ReLU()))

    # ---------------------------------------------------------------- points and regions

    def sign_vector(self, x: Any) -> NDArray[np.int8]:
        """Return the sign of normals[i]·x - offsets[i] for each i: -1, 0 on the hyperplane, or 1, exactly.

        Parameters
        ----------
        x : array-like (n,) or (k, n)
            One point, or k of them.

        Returns
        -------
        ndarray of int8 (m,) or (k, m)

        Raises
        ------
        InputError
            If `x` has another shape or an entry is no number.

        Examples
        --------
        >>> HyperplaneArrangement([[1, 0], [0, 3]], [0, 1]).sign_vector([1, "1/3"]).tolist()
        [1, 0]
        """
        points = ExactArray(x, "x")
        if points.ndim not in (1, 2) or points.shape[-1] != self.dim:
            raise InputError(f"x: expected ({self.dim},) or (k, {self.dim}), got {points.shape}")
        if not self.n_hyperplanes:
            return np.zeros((*points.shape[:-1], 0), dtype=np.int8)
        values = points.fractions() @ self.normals.T - self.offsets
        return np.asarray((values > 0).astype(np.int8) - (values < 0).astype(np.int8))

    def regions(self, domain: Any = None) -> Iterator[tuple[NDArray[np.int8], tuple[Fraction, ...]]]:
        """Iterate over the regions: sign vector and a rational point inside, in memory that does not grow.

        Parameters
        ----------
        domain : Interval, Box, Line, Plane, Space or str, optional
            Only the regions that meet the interior of it, with a point there; by default the whole space.

        Yields
        ------
        signs : ndarray of int8 (m,)
            1 where normals[i]·x > offsets[i], -1 where it is less.
        point : tuple of Fraction (n,)

        Raises
        ------
        InputError
            If the domain is none, or of another dimension.

        Examples
        --------
        >>> next(HyperplaneArrangement([], [], dim=2).regions())
        (array([], dtype=int8), (Fraction(0, 1), Fraction(0, 1)))
        """
        where = "all" if domain is None else domain
        if not self.n_hyperplanes and isinstance(where, str) and where.strip() == "all":
            yield np.zeros(0, dtype=np.int8), (Fraction(0),) * self.dim
            return
        from regioncount.network import Affine, Network, ReLU
        from regioncount.polytopes import regions

        constant = Network(self.dim, (Affine([[0] * self.dim]), ReLU()))  # where there are none: one region
        network = self.network() if self.n_hyperplanes else constant
        for pattern, point in regions(network, where):
            yield 2 * np.asarray(pattern).astype(np.int8)[: self.n_hyperplanes] - 1, point

    # ---------------------------------------------------------------- helpers

    def _index(self, i: object) -> int:
        whole = isinstance(i, (int, np.integer)) and not isinstance(i, bool)
        if not whole or not 0 <= i < self.n_hyperplanes:  # type: ignore[operator]
            raise InputError(f"i: expected a hyperplane, 0 to {self.n_hyperplanes - 1}, got {shown(i)}")
        return int(i)  # type: ignore[call-overload]

    def _take(self, rows: list[int]) -> HyperplaneArrangement:
        if not rows:
            return HyperplaneArrangement([], [], dim=self.dim)
        return HyperplaneArrangement(self.normals[rows], self.offsets[rows])


def _checked(normals: Any, offsets: Any, dim: Any) -> tuple[ExactArray | None, ExactArray | None]:
    for name, values in (("normals", normals), ("offsets", offsets)):
        if not isinstance(values, (list, tuple, np.ndarray, ExactArray)):
            what = "rows" if name == "normals" else "numbers"
            raise InputError(f"{name}: expected a list of {what}, got {shown(values)}")
    whole = isinstance(dim, (int, np.integer)) and not isinstance(dim, bool)
    if dim is not None and not (whole and dim >= 1):
        raise InputError(f"dim: expected an integer of at least 1, got {shown(dim)}")
    if not len(normals):
        if len(offsets):
            raise InputError(f"offsets: expected (0,) like normals, got ({len(offsets)},)")
        if dim is None:
            raise InputError("dim: expected the dimension of an arrangement without hyperplanes, got none")
        return None, None
    a = ExactArray(normals, "normals")
    if a.ndim != 2 or not a.shape[1]:
        raise InputError(f"normals: expected (m, n) with n at least 1, got {a.shape}")
    c = ExactArray(offsets, "offsets")
    if c.shape != a.shape[:1]:
        raise InputError(f"offsets: expected ({a.shape[0]},) like normals, got {c.shape}")
    if dim is not None and dim != a.shape[1]:
        raise InputError(f"dim: expected {a.shape[1]} like normals, got {dim}")
    zero = ~a.nonzero().any(axis=1)
    if zero.any():
        raise InputError(f"normals[{int(np.argmax(zero))}]: expected a normal that is not zero, got zeros")
    return a, c


def _primitive(row: list[Any]) -> tuple[int, ...]:
    """The integers without common factor that are proportional to `row`, the first one not zero positive."""
    scale = lcm(*(x.denominator for x in row))
    integers = [x.numerator * (scale // x.denominator) for x in row]
    factor = gcd(*integers)
    if next(x for x in integers if x) < 0:
        factor = -factor
    return tuple(x // factor for x in integers)


def _from_rows(rows: list[tuple[int, ...]], dim: int) -> HyperplaneArrangement:
    if not rows:
        return HyperplaneArrangement([], [], dim=dim)
    return HyperplaneArrangement([row[:-1] for row in rows], [-row[-1] for row in rows])
