"""Evaluation at points: outputs and activation patterns, vectorised, with every tie decided exactly.

The network runs block by block (`lowering`) over a chunk of points in float64; arrays have the points last.
Each float z has a bound E on its error, the rounding of the weights included (u = 2^-53, gamma = 1.01(n + 5)u;
Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.5).  An affine stage takes the smaller of

    |W| (E + gamma|h|) + 4u|b|              exact zeros stay exact
    ||W_i|| (e + gamma||h||) + 4u|b_i|      tight in deep networks; e >= ||E|| grows by spectral norms

and a choice is certain where its gap exceeds the bounds.  The other points are grouped by their pattern so far: it
fixes the exact affine map in front of the block (`Composer`), hence the scores as exact polynomials.  Candidates
of one polynomial tie all over the group, so ties that hold everywhere cost nothing a point; other polynomials
are evaluated at the point, in integers.  At a point on a border the pattern holds the winners *at that point* and
the map averages them: that is the value there.  Where a group has no more points than the network has inputs,
the same is done point by point, with constants in the place of maps.

A softmax layer is lowered as the hardmax layer of its scores: its pattern is the largest weights, and only its
values differ.  Behind it nothing is rational, and floats decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regioncount.errors import InputError
from regioncount.exact import ExactArray
from regioncount.lowering import BIT, PASS, SET, Block, Composer, Lowered, Unit, flatten, lower
from regioncount.network import Attention, Network

U = 2.0**-53
FLOOR = 1e-150  # least size given to what is not exactly zero, where bounds are multiplied
TINY = 1e-300
HUGE = 1e300  # beyond it nothing is decided in floats
LEAST = 5e-324  # the least float
CHUNK_BYTES, CHUNK_POINTS = 2**23, 8192
REMEMBERED = 20_000  # patterns so far whose exact scores are kept

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Index: TypeAlias = "slice | NDArray[np.int64]"


def evaluate(network: Network, points: ArrayLike, exact: bool = True) -> Floats:
    """Return the outputs of a network at points, in float64; hardmax ties are averaged.

    Parameters
    ----------
    network : Network
    points : array-like (n_points, input_dim), or (input_dim,) for one point
        Finite numbers, as `ExactArray` takes them.
    exact : bool
        Whether the winners of hardmax heads are decided for the exact weights and points, or by floats alone.
        Behind a softmax layer floats decide in either case.  (Relu-like and maxout units are continuous: their
        choices matter to a pattern, not to a value.)

    Returns
    -------
    ndarray (n_points, output_dim), or (output_dim,) for one point

    Raises
    ------
    InputError
        If `points` are not as said.

    Examples
    --------
    >>> from regioncount.network import from_layers
    >>> network = from_layers([([[1], [-1]],), "relu", ([[1, 1]],)])
    >>> evaluate(network, [[-2], [0.5]]).tolist(), evaluate(network, [-2]).tolist()
    ([[2.0], [0.5]], [2.0])
    """
    run = _Run(network, points, exact, for_values=True)
    out = np.empty((run.n_points, network.output_dim))
    for part, _, output, _ in run.chunks():
        out[part] = output
    return out[0] if run.single else out


def activation_pattern(network: Network, points: ArrayLike, exact: bool = True) -> NDArray[np.uint8]:
    """Return the activation pattern of a network at points.

    Columns are in layer order: relu, leaky_relu, abs and feedforward units have one (token, unit), 1 where z > 0;
    maxout units one a candidate; attention one for each head, query token and key token, masked ones 0.  The
    winners of a maximum are all those that tie for it; those of a softmax head are its largest weights.

    Parameters
    ----------
    network : Network
    points : array-like (n_points, input_dim), or (input_dim,) for one point
        Finite numbers, as `ExactArray` takes them.
    exact : bool
        Whether the choices are those of the exact weights and points, or of floats alone.  Behind a softmax
        layer floats decide in either case.

    Returns
    -------
    ndarray of uint8 (n_points, n_columns), or (n_columns,) for one point

    Raises
    ------
    InputError
        If `points` are not as said.

    Examples
    --------
    >>> from regioncount.network import from_layers
    >>> network = from_layers([("maxout", [[["1/3"], ["-1/3"]]])])
    >>> activation_pattern(network, [[-1], [0], [1]]).tolist()
    [[0, 1], [1, 1], [1, 0]]
    """
    run = _Run(network, points, exact, for_values=False)
    patterns, _ = run.patterns()
    return patterns[0] if run.single else patterns


def patterns_and_borders(network: Network, points: ArrayLike) -> tuple[NDArray[np.uint8], Bools]:
    """Return the patterns (n_points, n_columns), decided exactly, and which points lie on a border, (n_points,).

    A point is on a border where a choice ties there but not on a piece around it; such points are a null set.  They are
    found for inputs of one or two dimensions, as far as decisions are exact.
    """
    return _Run(network, points, True, for_values=False).patterns()


# -------------------------------------------------------------------------------- the network as arrays


class _Values(NamedTuple):
    """Floats (n, m) at m points and a bound on the error of each, None where nobody asks for it."""

    z: Floats
    error: Floats | None


@dataclass(frozen=True)
class _Bits:
    """The BIT units of a block: places in pre and in the next state, slopes, pattern columns."""

    value: Index
    out: Index
    columns: Index
    slopes: Floats  # (n, 1); empty where all are 0

    def select(self, pre: _Values, on: Bools) -> _Values:
        z = pre.z[self.value]
        if not self.slopes.size:
            error = None if pre.error is None else np.where(on, pre.error[self.value], 0.0)
            return _Values(np.where(on, z, 0.0), error)
        low = np.where(self.slopes == 0, 0.0, self.slopes * z)
        if pre.error is None:
            return _Values(np.where(on, z, low), None)
        error, size = pre.error[self.value], np.abs(self.slopes)
        low_error = np.where(size == 0, 0.0, 1.01 * size * error)
        rounded = (size != 0) & (size != 1)
        low_error += rounded * (2.1 * U * np.abs(low) + TINY * ((z != 0) | (error != 0)))
        return _Values(np.where(on, z, low), np.where(on, error, low_error))


@dataclass(frozen=True)
class _Maxima:
    """The maxout units of a block: candidates (U, K), short rows filled up with some that are not `allowed`."""

    candidates: NDArray[np.int64]
    allowed: Bools
    columns: NDArray[np.int64]
    out: Index
    scale: None = None

    @property
    def footprint(self) -> int:
        return 4 * self.candidates.size

    def scores(self, pre: _Values) -> _Values:
        z = np.where(self.allowed[:, :, None], pre.z[self.candidates], -np.inf)
        return _Values(z, None if pre.error is None else pre.error[self.candidates])

    def select(self, pre: _Values, weights: Any) -> _Values:
        """The value of a winner: it is its score, so all winners have one value."""
        at = np.take_along_axis(self.candidates, np.argmax(weights, axis=1), axis=1)
        z = np.take_along_axis(pre.z, at, axis=0)
        return _Values(z, None if pre.error is None else np.take_along_axis(pre.error, at, axis=0))

    def forms(self, pre: Any, unit: int) -> list[tuple[int, ...]]:
        """The scores as affine forms."""
        return [tuple(pre[:, k]) for k in self.candidates[unit]]


@dataclass(frozen=True)
class _Heads:
    """The query tokens of a head: rows of queries (U, r), and keys (K, r) and values (K, n_values) of the tokens.

    `scale` is that of a softmax head, None for a hardmax one.
    """

    query: NDArray[np.int64]
    key: NDArray[np.int64]
    value: NDArray[np.int64]
    allowed: Bools
    columns: NDArray[np.int64]
    out: Index
    scale: float | None = None

    @property
    def footprint(self) -> int:
        return 4 * (self.query.size + self.key.size + self.value.size + self.allowed.size)

    def scores(self, pre: _Values) -> _Values:
        query, key = pre.z[self.query], pre.z[self.key]
        z = np.where(self.allowed[:, :, None], np.einsum("urm,krm->ukm", query, key), -np.inf)
        if pre.error is None:
            return _Values(z, None)
        gamma = 1.01 * (self.query.shape[1] + 5) * U
        query_error, key_error = pre.error[self.query], pre.error[self.key]
        np.abs(query, out=query)
        np.abs(key, out=key)
        query += query_error
        error = np.einsum("urm,krm->ukm", query, key_error + gamma * key)
        error += np.einsum("urm,krm->ukm", query_error, key)
        return _Values(z, 1.01 * error + TINY)

    def select(self, pre: _Values, weights: Any) -> _Values:
        """The mean of the winners' values, or the softmax mean of all."""
        share = weights.astype(np.float64)
        total = share.sum(axis=1)[:, None]
        value = pre.z[self.value]
        z = np.einsum("ukm,kvm->uvm", share, value) / total
        error = None
        if pre.error is not None:
            gamma = 1.01 * (self.value.shape[0] + 5) * U
            error = 1.01 * np.einsum("ukm,kvm->uvm", share, pre.error[self.value]) / total
            if (total != 1).any():
                rounding = 1.01 * gamma * np.einsum("ukm,kvm->uvm", share, np.abs(value)) / total + TINY
                error += (total != 1) * rounding
            error = error.reshape(-1, error.shape[2])
        return _Values(z.reshape(-1, z.shape[2]), error)

    def forms(self, pre: Any, unit: int) -> list[tuple[int, ...]]:
        """Twice the scores as symmetric matrices of quadratic forms in (x, 1), row by row."""
        query = pre[:, self.query[unit]]
        products = [query @ pre[:, row].T for row in self.key]
        return [tuple((p + p.T).ravel()) for p in products]


_Sets: TypeAlias = "_Maxima | _Heads"


@dataclass(frozen=True)
class _Stage:
    """A block as arrays: W and b, upper bounds on |W|, on the norms of its rows and on |b|, and the units."""

    weight: Floats
    bias: Floats
    weight_size: Floats
    row_norm: Floats
    bias_size: Floats
    bound: Floats  # of lowering.Program
    passed: tuple[Index, Index] | None
    bits: _Bits | None
    sets: tuple[_Sets, ...]
    n_out: int
    first_column: int

    def affine(self, h: Floats) -> Floats:
        """W h + b for each token."""
        rows, cols = self.weight.shape
        pre = self.weight @ h.reshape(-1, cols, h.shape[1])
        pre += self.bias[:, None]
        return pre.reshape(-1, h.shape[1])

    def affine_error(self, state: _Values, e: Floats, pre: Floats) -> tuple[Floats, Floats]:
        """The errors E of pre, and a bound e on their 2-norm; the given `e` is that of the state."""
        assert state.error is not None
        cols, m = self.weight.shape[1], pre.shape[1]
        gamma = 1.01 * (cols + 5) * U
        spectral, frobenius, _, _, _ = self.bound
        rounded = gamma * _norm(state.z)
        size = np.abs(state.z)
        size *= gamma
        size += state.error
        size += FLOOR * ((size != 0) | (state.z != 0))
        error = (1.01 * self.weight_size) @ size.reshape(-1, cols, m)
        two = self.row_norm[:, None] * (1.01 * (e + rounded)) + TINY
        np.fmin(error, two, out=error)
        bias = 4.1 * U * self.bias_size
        error += bias[:, None]
        all_bias = np.sqrt(len(error)) * _norm(bias[:, None])
        with_norm = 1.01 * (spectral * e + frobenius * rounded + all_bias)
        error = error.reshape(-1, m)
        error[~(np.abs(pre) < HUGE)] = np.inf
        return error, np.fmin(_norm(error), with_norm)


def _norm(x: Floats) -> Floats:
    """Upper bounds on the 2-norms of columns, squares that underflow included."""
    return 1.01 * np.sqrt(np.einsum("ij,ij->j", x, x)) + FLOOR


def _upper(array: ExactArray) -> Floats:
    """Upper bounds on absolute values, so large that u times one covers the rounding of its entry; 0 only for 0."""
    size = np.abs(array.view)
    if array.is_float:
        return np.where(size > 0, np.maximum(size, FLOOR), 0.0)
    return np.where(array.fractions() != 0, np.maximum(np.nextafter(size, np.inf), FLOOR), 0.0)


def _index(places: list[int]) -> Index:
    """A slice where it says the same: it copies nothing."""
    if places == list(range(places[0], places[0] + len(places))):
        return slice(places[0], places[0] + len(places))
    return np.array(places)


@dataclass(frozen=True)
class _Plan:
    """A network as stages; decisions are exact up to block `last_exact`; `last_head` is the last with hardmax heads."""

    lowered: Lowered
    stages: tuple[_Stage, ...]
    last_exact: int
    last_head: int
    footprint: int


def _plan(network: Network) -> _Plan:
    """The plan of a network, cached on it."""
    found = network._cache.get("evaluation")
    if found is None:
        with np.errstate(all="ignore"):  # bounds of huge weights may overflow: then nothing is certain
            found = network._cache["evaluation"] = _make_plan(network)
    return found


def _make_plan(network: Network) -> _Plan:
    scales: dict[int, float] = {}
    layers = list(network.layers)
    for i, layer in enumerate(layers):
        if isinstance(layer, Attention) and layer.activation == "softmax":
            assert layer.scale is not None
            scales[i] = float(layer.scale)
            layers[i] = Attention(layer.heads, layer.residual, layer.mask)
    lowered = lower(Network(network.input_dim, layers) if scales else network)
    bounds = flatten(lowered).bound
    stages = tuple(
        _stage(block, bound, scales.get(block.layer)) for block, bound in zip(lowered.blocks, bounds, strict=True)
    )
    soft = [b for b, block in enumerate(lowered.blocks) if block.layer in scales]
    last_exact = min(soft, default=lowered.last_choice)
    heads = [b for b, stage in enumerate(stages) if any(isinstance(s, _Heads) and s.scale is None for s in stage.sets)]
    footprint = max(
        3 * block.n_pre + 3 * block.n_out + sum(s.footprint for s in stage.sets)
        for block, stage in zip(lowered.blocks, stages, strict=True)
    )
    return _Plan(lowered, stages, last_exact, max(heads, default=-1), footprint + lowered.columns // 8)


def _stage(block: Block, bound: Floats, scale: float | None) -> _Stage:
    passed = [unit for unit in block.units if unit.kind == PASS]
    bits = [unit for unit in block.units if unit.kind == BIT]
    chosen = [unit for unit in block.units if unit.kind == SET]
    weight_size = _upper(block.weight)
    slopes = np.array([float(unit.slope) for unit in bits])
    return _Stage(
        block.weight.view,
        block.bias.view,
        weight_size,
        _norm(weight_size.T) * (1 + 1e-12 * block.weight.shape[1]),
        _upper(block.bias),
        bound,
        (_index([unit.out for unit in passed]), _index([unit.values[0] for unit in passed])) if passed else None,
        _Bits(
            _index([unit.values[0] for unit in bits]),
            _index([unit.out for unit in bits]),
            _index([unit.columns[0] for unit in bits]),
            slopes[:, None] if slopes.any() else np.empty(0),
        )
        if bits
        else None,
        tuple(_sets(block, chosen, scale)),
        block.n_out,
        block.first_column,
    )


def _sets(block: Block, units: list[Unit], scale: float | None) -> Iterator[_Sets]:
    """The SET units: all maxout units together, and the query tokens of each head."""
    rows = block.weight.shape[0]
    heads: dict[tuple[int, int, int], list[Unit]] = {}
    maxima: list[Unit] = []
    for unit in units:
        _, key, r = unit.scores[0]
        if r:
            heads.setdefault((key % rows, unit.values[0] % rows, r), []).append(unit)
        else:
            maxima.append(unit)
    if maxima:
        rank = max(len(unit.values) for unit in maxima)
        filled = [list(unit.values) + [unit.values[0]] * (rank - len(unit.values)) for unit in maxima]
        allowed = np.array([[i < len(unit.values) for i in range(rank)] for unit in maxima])
        columns = np.array([list(unit.columns) + [-1] * (rank - len(unit.columns)) for unit in maxima])
        yield _Maxima(np.array(filled), allowed, columns, _index([unit.out for unit in maxima]))
    for (_, _, r), queries in heads.items():
        tokens = sorted({(key, value) for u in queries for (_, key, _), value in zip(u.scores, u.values, strict=True)})
        place = {key: i for i, (key, _) in enumerate(tokens)}
        columns = np.full((len(queries), len(tokens)), -1)
        for i, unit in enumerate(queries):
            for (_, key, _), column in zip(unit.scores, unit.columns, strict=True):
                columns[i, place[key]] = column
        n_values = queries[0].n_values
        yield _Heads(
            np.array([unit.scores[0][0] for unit in queries])[:, None] + np.arange(r),
            np.array([key for key, _ in tokens])[:, None] + np.arange(r),
            np.array([value for _, value in tokens])[:, None] + np.arange(n_values),
            columns >= 0,
            columns,
            _index([unit.out + i for unit in queries for i in range(n_values)]),
            scale,
        )


# -------------------------------------------------------------------------------- the run


class _Run:
    """One call: points, plan, and how far exact decisions are wanted."""

    def __init__(self, network: Network, points: ArrayLike, exact: bool, for_values: bool) -> None:
        if not isinstance(exact, (bool, np.bool_)):
            raise InputError(f"exact: expected True or False, got {exact!r}")
        array = ExactArray(points, "points")
        n = network.input_dim
        self.single = array.ndim == 1
        if array.ndim not in (1, 2) or array.shape[-1] != n:
            raise InputError(f"points: expected shape (n_points, {n}) or ({n},), got {array.shape}")
        self.points = array.view.reshape(-1, n)
        self.rationals = None if array.is_float else array.fractions().reshape(-1, n)
        self.n_points = len(self.points)
        self.plan = _plan(network)
        self.for_values = for_values
        wanted = min(self.plan.last_exact, self.plan.last_head) if for_values else self.plan.last_exact
        self.last_exact = wanted if exact else -1
        self.chunk = max(16, min(CHUNK_POINTS, CHUNK_BYTES // (8 * self.plan.footprint)))
        self.forms = _Forms(self.plan, n) if self.last_exact >= 0 else None

    def patterns(self) -> tuple[NDArray[np.uint8], Bools]:
        """The patterns of all points, and which are on a border."""
        patterns = np.zeros((self.n_points, self.plan.lowered.columns), dtype=np.uint8)
        borders = np.zeros(self.n_points, dtype=bool)
        for part, pattern, _, border in self.chunks():
            patterns[part], borders[part] = pattern, border
        return patterns, borders

    def chunks(self) -> Iterator[tuple[slice, NDArray[np.uint8], Floats, Bools]]:
        """Slices of the points with their patterns, outputs (empty unless wanted) and borders."""
        for start in range(0, self.n_points, self.chunk):
            part = slice(start, min(start + self.chunk, self.n_points))
            with np.errstate(all="ignore"):  # what overflows is undecided, and decided exactly
                found = self._forward(part)
            yield part, *found

    def _forward(self, part: slice) -> tuple[NDArray[np.uint8], Floats, Bools]:
        points = _Points(self.points[part], None if self.rationals is None else self.rationals[part])
        x = np.ascontiguousarray(points.floats.T)
        pattern = np.zeros((self.plan.lowered.columns, x.shape[1]), dtype=np.uint8)
        border = np.zeros(x.shape[1], dtype=bool)
        last = len(self.plan.stages) - 1 if self.for_values else self.plan.lowered.last_choice
        # the least float as error of an exact input: it marks what varies, so that not even 0 is a constant
        error = np.full(x.shape, LEAST)
        if self.rationals is not None:
            error += 1.01 * U * np.abs(x)
        state, e = _Values(x, error), _norm(error)
        settler = None if self.forms is None else _Settler(self.forms, points, pattern, border)
        pre = x
        for b, stage in enumerate(self.plan.stages[: last + 1]):
            pre = stage.affine(state.z)
            if b == len(self.plan.stages) - 1:
                break
            exact, errors = b <= self.last_exact, None
            if exact:
                errors, e = stage.affine_error(state, e, pre)
            state = _select(b, stage, _Values(pre, errors), pattern, settler if exact else None)
            if state.error is not None:
                _, _, _, gain, rounding = stage.bound
                e = np.fmin(_norm(state.error), 1.01 * gain * (e + rounding * _norm(pre)) + FLOOR)
        return pattern.T, pre.T if self.for_values else np.empty((x.shape[1], 0)), border


def _select(b: int, stage: _Stage, pre: _Values, pattern: NDArray[np.uint8], settler: _Settler | None) -> _Values:
    """The state after the choices of a block; writes its pattern rows."""
    h = np.zeros((stage.n_out, pre.z.shape[1]))
    error = None if settler is None else np.zeros(h.shape)

    def put(at: Index, values: _Values) -> None:
        h[at] = values.z
        if error is not None:
            error[at] = values.error

    if stage.passed is not None:
        at, source = stage.passed
        put(at, _Values(pre.z[source], None if pre.error is None else pre.error[source]))
    on = np.empty((0, 0), dtype=bool) if stage.bits is None else pre.z[stage.bits.value] > 0
    scores = [sets.scores(pre) for sets in stage.sets]
    if settler is None:
        won = [score.z == score.z.max(axis=1, keepdims=True) for score in scores]
    else:
        won = settler.settle(b, stage, pre, on, scores)
    if stage.bits is not None:
        pattern[stage.bits.columns] = on
        put(stage.bits.out, stage.bits.select(pre, on))
    for sets, score, winners in zip(stage.sets, scores, won, strict=True):
        pattern[sets.columns[sets.allowed]] = winners[sets.allowed]
        weights: Any = winners
        if sets.scale is not None:
            weights = np.exp(sets.scale * (score.z - score.z.max(axis=1, keepdims=True)))
        put(sets.out, sets.select(pre, weights))
    return _Values(h, error)


# -------------------------------------------------------------------------------- exact decisions


@dataclass(frozen=True)
class _Points:
    """Points of a chunk (m, n), as floats, and as Fractions where floats miss some."""

    floats: Floats
    rationals: Any

    def at(self, point: int) -> list[Any]:
        return self.floats[point].tolist() if self.rationals is None else list(self.rationals[point])


@dataclass
class _Scores:
    """Polynomials of units under one pattern so far: number (U, K) of each candidate's, and the distinct ones."""

    ids: NDArray[np.int64]
    forms: dict[int, list[tuple[int, ...]]]

    @classmethod
    def none(cls, sets: _Sets) -> _Scores:
        return cls(np.zeros(sets.allowed.shape, dtype=np.int64), {})

    def fill(self, sets: _Sets, exact: Any, units: list[int]) -> None:
        for unit in units:
            if unit not in self.forms:
                numbers: dict[tuple[int, ...], int] = {}
                forms = sets.forms(exact, unit)
                for k in np.flatnonzero(sets.allowed[unit]).tolist():
                    self.ids[unit, k] = numbers.setdefault(forms[k], len(numbers))
                self.forms[unit] = list(numbers)


class _Forms:
    """What a call remembers of exact scores, from chunk to chunk."""

    def __init__(self, plan: _Plan, n_dim: int) -> None:
        self.n_dim = n_dim
        self.maps = Composer(plan.lowered, [Fraction(0)] * n_dim, [Fraction(1)] * n_dim)
        self._scores: dict[tuple[int, int, bytes], _Scores] = {}

    def scores(self, key: tuple[int, int, bytes], sets: _Sets) -> _Scores:
        """What is known of the scores of a block's sets under a pattern so far."""
        found = self._scores.get(key)
        if found is None:
            if len(self._scores) > REMEMBERED:
                self._scores.clear()
            found = self._scores[key] = _Scores.none(sets)
        return found


class _Settler:
    """Decides the choices of one chunk that floats cannot; marks the points on borders."""

    def __init__(self, forms: _Forms, points: _Points, pattern: NDArray[np.uint8], border: Bools) -> None:
        self.forms, self.points, self.pattern, self.border = forms, points, pattern, border
        self._vector_at: dict[int, list[int]] = {}
        self._composer_at: dict[int, Composer] = {}

    def settle(self, b: int, stage: _Stage, pre: _Values, on: Bools, scores: list[_Values]) -> list[Bools]:
        """The winners (U, K, m) of each set; corrects `on`, the signs of the floats, in place."""
        assert pre.error is not None
        undecided = np.zeros(pre.z.shape[1], dtype=bool)
        open_bits = np.empty((0, 0), dtype=bool)
        if stage.bits is not None:
            z, error = pre.z[stage.bits.value], pre.error[stage.bits.value]
            open_bits = ~((np.abs(z) > error) | ((z == 0) & (error == 0)))
            undecided |= open_bits.any(axis=0)
        won = [_contenders(sets, score) for sets, score in zip(stage.sets, scores, strict=True)]
        open_sets = [w.sum(axis=1) > 1 for w in won]
        for opened in open_sets:
            undecided |= opened.any(axis=0)
        for at, composer, symbolic in self._groups(stage, np.flatnonzero(undecided)):
            prefix = self.pattern[: stage.first_column, at[0]]
            exact, _ = composer.pre(b, prefix)
            if stage.bits is not None:
                self._bits(exact[:, stage.bits.value], at, symbolic, on, open_bits)
            for i, sets in enumerate(stage.sets):
                units = np.flatnonzero(open_sets[i][:, at].any(axis=1)).tolist()
                if units:
                    known = self.forms.scores((b, i, prefix.tobytes()), sets) if symbolic else _Scores.none(sets)
                    known.fill(sets, exact, units)
                    self._winners(sets, known, units, at, symbolic, won[i])
        return won

    def _groups(self, stage: _Stage, points: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Composer, bool]]:
        """Points of one pattern so far and the composer of their maps, or one point and that of its constants."""
        n = self.forms.n_dim
        for at in _alike(self.pattern[: stage.first_column, points], points):
            if n <= 2 or len(at) > n:
                yield at, self.forms.maps, True
                continue
            for i, point in enumerate(at.tolist()):
                composer = self._composer_at.get(point)
                if composer is None:
                    composer = self.forms.maps.at([Fraction(x) for x in self.points.at(point)])
                    self._composer_at[point] = composer
                yield at[i : i + 1], composer, False

    def _vectors(self, at: NDArray[np.int64], symbolic: bool) -> Any:
        """What exact forms take: integers (m, n + 1) proportional to (x, 1) at the points; for constants, ones."""
        if not symbolic:
            return np.ones((len(at), 1), dtype=object)
        out = np.empty((len(at), self.forms.n_dim + 1), dtype=object)
        for i, point in enumerate(at.tolist()):
            vector = self._vector_at.get(point)
            if vector is None:
                vector = self._vector_at[point] = _homogeneous(self.points.at(point))
            out[i] = vector
        return out

    def _bits(self, exact: Any, at: NDArray[np.int64], symbolic: bool, on: Bools, opened: Bools) -> None:
        here = opened[:, at]
        varies = (exact != 0).any(axis=0)
        on[:, at] &= ~(here & ~varies[:, None])
        for unit in np.flatnonzero(here.any(axis=1) & varies).tolist():
            asked = at[here[unit]]
            values = self._vectors(asked, symbolic) @ exact[:, unit]
            on[unit, asked] = values > 0
            self.border[asked] |= values == 0

    def _winners(
        self, sets: _Sets, known: _Scores, units: list[int], at: NDArray[np.int64], symbolic: bool, won: Bools
    ) -> None:
        ids = known.ids[units]
        contend = won[units][:, :, at]
        least = np.where(contend, ids[:, :, None], ids.shape[1]).min(axis=1)
        most = np.where(contend, ids[:, :, None], -1).max(axis=1)
        several = least != most  # contenders of one polynomial all win
        for i, unit in enumerate(units):
            asked = at[several[i]]
            if len(asked):
                values = _evaluate(known.forms[unit], self._vectors(asked, symbolic))
                top = values == values.max(axis=1, keepdims=True)
                self.border[asked] |= top.sum(axis=1) > 1
                won[unit][:, asked] = (top[:, ids[i]] & sets.allowed[unit]).T


def _alike(patterns: NDArray[np.uint8], points: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The points, in groups of equal columns of `patterns`."""
    if not len(patterns) or not len(points):
        return [points] if len(points) else []
    packed = np.ascontiguousarray(np.packbits(patterns, axis=0).T)
    keys = packed.view(f"V{packed.shape[1]}").ravel()
    _, group, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    return np.split(points[np.argsort(group, kind="stable")], np.cumsum(sizes)[:-1])


def _contenders(sets: _Sets, score: _Values) -> Bools:
    """The candidates (U, K, m) that floats cannot rule out: all winners are among them."""
    assert score.error is not None
    allowed = sets.allowed[:, :, None]
    error = 1.01 * score.error + 2.1 * U * np.abs(score.z)
    sound = allowed & (np.abs(score.z) < HUGE) & (error < HUGE)  # else a partial sum may have overflowed
    low = np.where(sound, score.z - error, -np.inf)
    return ~(sound & (score.z + error < low.max(axis=1, keepdims=True))) & allowed


def _homogeneous(point: list[Any]) -> list[int]:
    """Integers proportional to (x, 1), the last one positive."""
    ratios = [x.as_integer_ratio() for x in point]
    common = math.lcm(*(denominator for _, denominator in ratios))
    return [n * (common // d) for n, d in ratios] + [common]


def _evaluate(forms: list[tuple[int, ...]], vectors: Any) -> Any:
    """Values (m, n_forms), up to a positive factor a point: of affine forms, or of quadratic ones row by row."""
    n = vectors.shape[1]
    out = np.empty((len(vectors), len(forms)), dtype=object)
    for i, form in enumerate(forms):
        array = np.array(form, dtype=object)
        if len(form) == n:
            out[:, i] = vectors @ array
        else:
            out[:, i] = ((vectors @ array.reshape(n, n)) * vectors).sum(axis=1)
    return out
