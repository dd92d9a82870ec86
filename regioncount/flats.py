"""Counting the flats of a hyperplane arrangement: Whitney numbers and face numbers, exactly, in any position.

Rows are hyperplanes a·x + c = 0 as (a, c) in integers, no two proportional.  Deletion and restriction, unrolled over
any order of the hyperplanes, give

    chi(A) = t^d - sum over i of chi(those before H_i, restricted to H_i, each kept once),

so that |coefficient of t^(d-k)| = w_k is the number of hyperplanes in all the (k-1)-fold restrictions.  They are
made level by level on whole arrays; the cost is that of sum w_k = the number of regions rows, and never more.

Numerical argument.  Arithmetic is modulo K primes below 2^31 (products fit int64).  Every quantity tested for zero is a
minor of the integer rows times a unit modulo every prime, since divisors are units or the prime is exchanged.  A
minor is at most the product of its rows' lengths (Hadamard); where the primes' product exceeds that of the greatest
lengths, a minor is zero exactly when all its residues are.  Before that two primes are tried: a residue that is not
zero proves a minor not zero, so an arrangement that never shows a zero is in general position.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from math import comb, gcd, prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from regioncount.errors import InputError

Rows: TypeAlias = list[tuple[int, ...]]
Ints: TypeAlias = NDArray[np.int64]

_BATCH = 1 << 17  # pairs of hyperplanes restricted at once, 10 MB an array
_MERSENNE = (31, 61, 127, 521, 1279, 2281, 4423, 9941, 21701, 44497, 86243, 216091)  # 2^e - 1 is prime


# -------------------------------------------------------------------------------- structure


def pivot_columns(rows: Rows) -> list[int]:
    """Return the columns of a basis of the column space, the earliest ones.

    >>> pivot_columns([(0, 2, 4), (0, 1, 3)])
    [1, 2]
    """
    return [column for column, _ in _echelon(rows)]


def _echelon(rows: Rows) -> list[tuple[int, list[int]]]:
    """The reduced echelon form modulo a prime above every minor, so that zeros are those of the rationals."""
    if not rows:
        return []
    bits = (_hadamard_squared(rows, min(len(rows), len(rows[0]))).bit_length() + 1) // 2
    exponent = next((e for e in _MERSENNE if e > bits), None)
    if exponent is None:
        raise InputError("normals: expected numbers of fewer digits, their determinants have over 60,000")
    prime = 2**exponent - 1
    left = [[x % prime for x in row] for row in rows]
    done: list[tuple[int, list[int]]] = []
    for column in range(len(rows[0])):
        at = next((i for i, row in enumerate(left) if row[column]), None)
        if at is None:
            continue
        pivot = left.pop(at)
        inverse = pow(pivot[column], -1, prime)
        pivot = [x * inverse % prime for x in pivot]
        done = [(c, _reduced(row, pivot, column, prime)) for c, row in done]
        left = [_reduced(row, pivot, column, prime) for row in left]
        done.append((column, pivot))
    return done


def _reduced(row: list[int], pivot: list[int], column: int, prime: int) -> list[int]:
    factor = row[column]
    return [(x - factor * y) % prime for x, y in zip(row, pivot, strict=True)] if factor else row


def _hadamard_squared(rows: Rows, size: int) -> int:
    """The square of a bound of the minors of at most `size` rows."""
    lengths = sorted((sum(x * x for x in row) for row in rows), reverse=True)
    return prod(lengths[:size])


def _components(rows: Rows) -> list[list[int]]:
    """The connected components of the matroid of the rows: no circuit meets two of them."""
    parent = list(range(len(rows)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for basis, entries in _echelon(list(zip(*rows, strict=True))):
        for element, entry in enumerate(entries):
            if entry:
                parent[root(element)] = root(basis)
    members: dict[int, list[int]] = {}
    for i in range(len(rows)):
        members.setdefault(root(i), []).append(i)
    return list(members.values())


def _compressed(rows: Rows) -> Rows:
    """The rows in a basis of the columns, each column divided by its common factor; the matroid is the same."""
    columns = [[row[c] for row in rows] for c in pivot_columns(rows)]
    divided = [[x // factor for x in column] for column in columns for factor in (reduce(gcd, column),)]
    return list(zip(*divided, strict=True))


# -------------------------------------------------------------------------------- results


def characteristic(rows: Rows, dim: int) -> list[int]:
    """Return the coefficients of the characteristic polynomial, the constant one first.

    Parameters
    ----------
    rows : list of (dim + 1) ints
        Hyperplanes (a, c), a·x + c = 0 with a not zero, no two proportional.
    dim : int

    Notes
    -----
    The cone over A with its hyperplane at infinity has chi(cA) = (t - 1) chi(A) (Stanley, Lecture 2), and that of a
    direct sum is a product.  So each connected component of the cone is counted in the chart where one of its
    elements is at infinity.

    Examples
    --------
    >>> characteristic([(1, 0, 0), (0, 1, 0), (1, 1, 0)], 2)
    [2, -3, 1]
    """
    cone = [*rows, (0,) * dim + (1,)]
    total, rank = [1], 0
    for component in _components(cone):
        members = _compressed([cone[i] for i in reversed(component)])  # infinity first where it is there
        size = len(members[0])
        rank += size
        factor = [(-1) ** k * w for k, w in enumerate(_whitney(members))][::-1]
        if len(cone) - 1 not in component:
            factor = _times(factor, [-1, 1])
        total = _times(total, factor)
    return [0] * (dim + 1 - rank) + total


def _times(p: list[int], q: list[int]) -> list[int]:
    result = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] += a * b
    return result


def _whitney(members: Rows) -> list[int]:
    """w_0, ..., w_d of the arrangement that is `members` in the chart with the first of them at infinity."""
    size, m = len(members[0]), len(members) - 1
    bound = _hadamard_squared(members, size)
    generic = [comb(m, k) for k in range(size)]
    primes = _primes(bound)
    if len(primes) > 2 and _try_generic(members, generic):
        return generic
    while True:
        try:
            residues = _Residues(primes)
            return _counted(residues, members)
        except _BadPrime as bad:
            primes = _exchanged(primes, bad.index, bound)


def _try_generic(members: Rows, generic: list[int]) -> bool:
    """Whether two primes prove general position."""
    try:
        return _counted(_Residues(_primes(2**64), strict=True), members) == generic
    except (_BadPrime, _Degenerate):
        return False


def _counted(residues: _Residues, members: Rows) -> list[int]:
    size = len(members[0])
    counts = [1] + [0] * (size - 1)
    if len(members) > 1 and size > 1:
        batch = residues.at_infinity(members)
        residues.count(batch, size - 1, counts, 1)
    return counts


def faces(rows: Rows, dim: int) -> list[int]:
    """Return the numbers of faces f_0, ..., f_dim of an arrangement; arguments as for `characteristic`.

    A face of dimension k is a region of the restriction to a flat of dimension k.  Each flat is met once, in the
    restriction to the first hyperplane through it.

    >>> faces([(1, 0, 0), (0, 1, 0), (1, 1, -1)], 2)
    [3, 9, 7]
    """
    normals: Rows = [row[:-1] for row in rows]
    columns = pivot_columns(normals)
    rank = len(columns)
    if rank == 0:
        return [0] * dim + [1]
    members: Rows = [(0,) * rank + (1,), *(tuple(row[c] for c in (*columns, dim)) for row in rows)]
    bound = _hadamard_squared(members, rank + 1)
    primes = _primes(bound)
    while True:
        try:
            residues = _Residues(primes)
            counts = [0] * (rank + 1)
            batch = residues.at_infinity(members)
            early = np.zeros(len(batch.lead), dtype=bool)
            residues.faces(batch, early, 1, rank, counts)
            return [0] * (dim - rank) + counts
        except _BadPrime as bad:
            primes = _exchanged(primes, bad.index, bound)


# -------------------------------------------------------------------------------- arithmetic modulo primes


class _BadPrime(Exception):
    """A divisor that is not zero is zero modulo this prime."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


class _Degenerate(Exception):
    """Two hyperplanes of a restriction look equal or parallel."""


def _prime_below(n: int) -> int:
    """The greatest prime below `n` <= 2^31; the bases 2, 3, 5 and 7 decide it there (Jaeschke 1993)."""
    return next(p for p in range(n - 1, 10, -1) if p % 2 and all(_passes(p, base) for base in (2, 3, 5, 7)))


def _passes(p: int, base: int) -> bool:
    """Whether `p` passes the test of Miller and Rabin."""
    odd, twos = p - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    x = pow(base, odd, p)
    return x in (1, p - 1) or any((x := x * x % p) == p - 1 for _ in range(twos - 1))


def _primes(bound_squared: int) -> list[int]:
    """Primes whose product exceeds the root of `bound_squared`."""
    return _enough([2**31 - 1], bound_squared)


def _enough(primes: list[int], bound_squared: int) -> list[int]:
    product = prod(primes)
    while product * product <= bound_squared:
        primes = [*primes, _prime_below(min(primes))]
        product *= primes[-1]
    return primes


def _exchanged(primes: list[int], index: int, bound_squared: int) -> list[int]:
    """Other primes in place of the one at `index`, as great a product as is needed."""
    left = [p for i, p in enumerate(primes) if i != index]
    return _enough([*left, _prime_below(min(primes))], bound_squared)


class _Batch:
    """Arrangements side by side: rows in all residues, normalised to a leading 1, and where each arrangement starts."""

    def __init__(self, rows: Ints, lead: Ints, starts: Ints) -> None:
        self.rows = rows  # (primes, rows, dim + 1)
        self.lead = lead  # column of the leading 1 of each row
        self.starts = starts  # (rows,) the first row of its arrangement


class _Residues:
    def __init__(self, primes: list[int], strict: bool = False) -> None:
        self.primes = primes
        self.p = np.array(primes, dtype=np.int64)
        self.strict = strict  # give up at the first coincidence
        self.mix = np.random.default_rng(5).integers(1, 2**30, size=256)

    def at_infinity(self, members: Rows) -> _Batch:
        """The members but the first, in coordinates of the plane where the first is the unit offset."""
        columns = len(members[0])
        v = np.array([[[x % p for x in row] for row in members] for p in self.primes], dtype=np.int64)
        p = self.p[:, None, None]
        c = next(c for c in range(columns) if members[0][c])
        inverse = self._inverses(v[:, :1, c])[:, :, None]  # (primes, 1, 1)
        last = v[:, 1:, c : c + 1] * inverse % p
        others = [k for k in range(columns) if k != c]
        body = (v[:, 1:, others] - last * v[:, :1, others]) % p
        rows, lead, kept = self._normalised(np.concatenate([body, last], axis=2))
        if kept is not None:  # two primes alone may take a normal for zero
            raise _Degenerate
        return _Batch(rows, lead, np.zeros(len(lead), dtype=np.int64))

    def _inverses(self, x: Ints) -> Ints:
        """Inverses of (primes, n) residues, all units: three products each and one power a prime."""
        n = x.shape[1]
        p = self.p[:, None]
        if n == 1:
            return np.array([[pow(int(a[0]), -1, q)] for a, q in zip(x, self.primes, strict=True)], dtype=np.int64)
        half = n // 2
        a, b = x[:, :half], x[:, half : 2 * half]
        product = a * b % p
        if n % 2:
            product = np.concatenate([product, x[:, -1:]], axis=1)
        inverse = self._inverses(product)
        both = inverse[:, :half]
        parts = [both * b % p, both * a % p]
        if n % 2:
            parts.append(inverse[:, half:])
        return np.concatenate(parts, axis=1)

    def _normalised(self, rows: Ints) -> tuple[Ints, Ints, NDArray[np.bool_] | None]:
        """Rows divided by their first normal entry that is not zero; those without one are left out.

        Returns the rows, the columns of their leading 1 and which were kept, None for all.
        """
        normal = (rows[:, :, :-1] != 0).any(axis=0)
        kept = None
        if not normal.all(axis=None):
            found = normal.any(axis=1)
            if not found.all():
                kept = found
                rows, normal = rows[:, found], normal[found]
        lead = normal.argmax(axis=1)
        if not len(lead):
            return rows, lead, kept
        pivots = np.take_along_axis(rows, lead[None, :, None], axis=2)[:, :, 0]
        if not pivots.all():
            raise _BadPrime(int(np.argmin(pivots.all(axis=1))))
        rows = rows * self._inverses(pivots)[:, :, None] % self.p[:, None, None]
        return rows, lead, kept

    def restrict(self, batch: _Batch, on: Ints, of: Ints) -> tuple[Ints, Ints, NDArray[np.bool_] | None]:
        """The rows `of` on the hyperplanes `on` of their arrangement, normalised, those parallel left out."""
        width = batch.rows.shape[2]
        p = self.p[:, None, None]
        lead = batch.lead[on]
        if not lead.any():
            factor = batch.rows[:, of, :1]
            rows = (batch.rows[:, of, 1:] - factor * batch.rows[:, on, 1:]) % p
        else:
            table = np.array([[k for k in range(width) if k != c] for c in range(width - 1)])
            columns = table[lead]
            factor = batch.rows[:, of, lead][:, :, None]
            rows = (batch.rows[:, of[:, None], columns] - factor * batch.rows[:, on[:, None], columns]) % p
        rows, lead, kept = self._normalised(rows)
        if kept is not None and self.strict:
            raise _Degenerate
        return rows, lead, kept

    def classes(self, rows: Ints, group: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Sort equal rows of a group side by side: an order, and where in it a new hyperplane begins.

        A fingerprint modulo the first prime tells most apart; where it does not, all residues are compared.
        """
        first = rows[0]
        mark = first[:, -1].copy()
        for c in range(first.shape[1] - 1):
            if first.shape[1] > 2:
                mark += first[:, c] * self.mix[c % 256] % self.primes[0]
        mark %= self.primes[0]
        key = (group << 31) | mark
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        new = np.ones(len(key), dtype=bool)
        new[1:] = ordered[1:] != ordered[:-1]
        at = np.flatnonzero(~new)
        if len(at):
            if (rows[:, order[at]] != rows[:, order[at - 1]]).any():
                columns = [residue for part in rows for residue in part.T]
                order = np.lexsort((*columns, group))
                new[1:] = group[order[1:]] != group[order[:-1]]
                new[1:] |= (rows[:, order[1:]] != rows[:, order[:-1]]).any(axis=(0, 2))
                if self.strict and not new.all():
                    raise _Degenerate
            elif self.strict:
                raise _Degenerate
        return order, new

    # ---------------------------------------------------------------- the two recursions

    def count(self, batch: _Batch, dim: int, counts: list[int], level: int) -> None:
        """Add the Whitney numbers of all arrangements of the batch, of dimension `dim`, to counts[level:]."""
        counts[level] += len(batch.lead)
        if dim == 1:
            return
        before = np.arange(len(batch.lead)) - batch.starts
        for on, of in _pairs(before, batch.starts, None):
            rows, lead, kept = self.restrict(batch, on, of)
            group = on if kept is None else on[kept]
            if not len(group):
                continue
            order, new = self.classes(rows, group - group[0])
            if dim == 2:
                counts[level + 1] += int(np.count_nonzero(new))
                continue
            chosen = order[new]
            self.count(_Batch(rows[:, chosen], lead[chosen], _starts(group[chosen])), dim - 1, counts, level + 1)

    def faces(self, batch: _Batch, early: NDArray[np.bool_], flats: int, dim: int, counts: list[int]) -> None:
        """Add the faces in `flats` flats of dimension `dim` and below; rows that are `early` were met before."""
        regions = [flats] + [0] * dim
        if len(batch.lead):
            self.count(batch, dim, regions, 1)
        counts[dim] += sum(regions)
        wanted = np.flatnonzero(~early)
        if not len(wanted):
            return
        if dim == 1:
            counts[0] += len(wanted)
            return
        n = len(batch.lead)
        first = np.flatnonzero(np.r_[True, batch.starts[1:] != batch.starts[:-1]])
        sizes = np.diff(np.r_[first, n])
        others = np.repeat(sizes, sizes) - 1
        others[early] = 0
        lonely = int(np.count_nonzero(others[wanted] == 0))
        if lonely:
            self.faces(_empty(len(self.primes), dim), np.zeros(0, dtype=bool), lonely, dim - 1, counts)
        for on, of in _pairs(others, batch.starts, np.arange(n)):
            children = len(np.unique(on))
            rows, lead, kept = self.restrict(batch, on, of)
            before = early[of] | (of < on)
            group = on
            if kept is not None:
                group, before = on[kept], before[kept]
            if not len(group):
                self.faces(_empty(len(self.primes), dim), np.zeros(0, dtype=bool), children, dim - 1, counts)
                continue
            order, new = self.classes(rows, group - group[0])
            at = np.flatnonzero(new)
            chosen = order[at]
            met = np.logical_or.reduceat(before[order], at)
            child = _Batch(rows[:, chosen], lead[chosen], _starts(group[chosen]))
            self.faces(child, met, children, dim - 1, counts)


def _empty(primes: int, dim: int) -> _Batch:
    nothing = np.zeros(0, dtype=np.int64)
    return _Batch(np.zeros((primes, 0, dim), dtype=np.int64), nothing, nothing)


def _starts(group: Ints) -> Ints:
    """The first row of each row's group; equal groups are adjacent."""
    first = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    return np.repeat(first, np.diff(np.r_[first, len(group)]))


def _pairs(partners: Ints, starts: Ints, skip: Ints | None) -> Iterator[tuple[Ints, Ints]]:
    """Pairs (row, partner) in batches: `partners` rows of its arrangement from its start on, less itself."""
    ends = np.cumsum(partners)
    low = 0
    while low < len(partners):
        done = int(ends[low - 1]) if low else 0
        high = max(int(np.searchsorted(ends, done + _BATCH, side="right")), low + 1)
        number = partners[low:high]
        on = np.repeat(np.arange(low, high), number)
        if len(on):
            of = starts[on] + np.arange(len(on)) - np.repeat(ends[low:high] - number - done, number)
            if skip is not None:
                of += of >= on
            yield on, of
        low = high
