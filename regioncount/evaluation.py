"""Evaluation at points: outputs and activation patterns, vectorised over points, with every tie decided exactly.

The network runs block by block (``lowering``) over a chunk of points in float64.  Each float z carries a bound E on its
own error, the rounding of the weights included (u = 2^−53, γ = 1.01 (n + 5) u; Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed., §3.5).  An affine stage takes the smaller of two bounds,

    |W| (E + γ|h|) + 4u|b|     (keeps exact zeros exact)     and     ‖W_i‖ (e + γ‖h‖) + 4u|b_i|     (stays small in
    deep networks)

with e ≥ ‖E‖ carried by spectral norms.  ``FLOOR`` keeps what underflows from counting as zero.  A choice is certain
where its gap exceeds the bounds.  The other points are grouped by the pattern so far: it fixes the exact affine map
before the block (``lowering.Composer``), hence exact score polynomials.  Candidates of equal polynomials tie at every
point of the group, so ties that hold everywhere cost nothing a point; otherwise the polynomials are evaluated at the
point, in integers.  At a point on a border the pattern holds the winners *at that point* and the map averages them:
at that point, this is the value.  Where there are more inputs than points to settle, the same is done with constants,
the exact values at one point, instead of maps.

A softmax layer is lowered as the hardmax layer with its scores; its pattern is the set of the largest weights, and
only the values differ.  Behind it nothing is rational, and floats decide.
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
CHUNK_BYTES, CHUNK_POINTS = 2**23, 8192

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
    """Floats (m, n) and a bound on the error of each, None where nobody asks for it."""

    z: Floats
    error: Floats | None


@dataclass(frozen=True)
class _Bits:
    """The BIT units of a block: places in pre and in the next state, slopes, pattern columns."""

    value: Index
    out: Index
    columns: Index
    slopes: Floats  # empty where all are 0

    def select(self, pre: _Values, on: Bools) -> _Values:
        z = pre.z[:, self.value]
        low: Any = 0.0
        if self.slopes.size:
            low = np.where(self.slopes == 0, 0.0, self.slopes * z)
        error = None
        if pre.error is not None:
            error, low_error = pre.error[:, self.value], np.zeros(1)
            if self.slopes.size:
                size = np.abs(self.slopes)
                low_error = np.where(size == 0, 0.0, 1.01 * size * error)
                rounded = (size != 0) & (size != 1)
                low_error += rounded * (2.1 * U * np.abs(low) + TINY * ((z != 0) | (error != 0)))
            error = np.where(on, error, low_error)
        return _Values(np.where(on, z, low), error)


@dataclass(frozen=True)
class _Maxima:
    """The maxout units of a block: candidates (U, K), short rows filled up with ones that are not ``allowed``."""

    candidates: NDArray[np.int64]
    allowed: Bools
    columns: NDArray[np.int64]
    out: Index
    scale: None = None

    @property
    def footprint(self) -> int:
        return 3 * self.candidates.size

    def scores(self, pre: _Values) -> _Values:
        z = np.where(self.allowed, pre.z[:, self.candidates], -np.inf)
        return _Values(z, None if pre.error is None else pre.error[:, self.candidates])

    def select(self, pre: _Values, weights: Any) -> _Values:
        """The value of a winner: it is its score, so all winners have one value."""
        first = np.argmax(weights, axis=2)
        at = np.take_along_axis(self.candidates, first.T, axis=1).T
        z = np.take_along_axis(pre.z, at, axis=1)
        return _Values(z, None if pre.error is None else np.take_along_axis(pre.error, at, axis=1))

    def forms(self, pre: Any, unit: int) -> list[tuple[int, ...]]:
        return [tuple(pre[:, k]) for k in self.candidates[unit]]


@dataclass(frozen=True)
class _Heads:
    """The query tokens of a head: rows of queries (U, r), keys (K, r) and values (K, n_values) of the tokens.

    ``scale`` is that of a softmax head, None for a hardmax one.
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
        query, key = pre.z[:, self.query], pre.z[:, self.key]
        z = np.where(self.allowed, query @ key.transpose(0, 2, 1), -np.inf)
        if pre.error is None:
            return _Values(z, None)
        gamma = 1.01 * (self.query.shape[1] + 5) * U
        size, query_error = np.abs(key), pre.error[:, self.query]
        left = np.concatenate([np.abs(query) + query_error, query_error], axis=2)
        right = np.concatenate([pre.error[:, self.key] + gamma * size, size], axis=2)
        return _Values(z, 1.01 * (left @ right.transpose(0, 2, 1)) + TINY)

    def select(self, pre: _Values, weights: Any) -> _Values:
        """The mean of the winners' values, or the softmax mean of all."""
        value = pre.z[:, self.value]
        total = weights.sum(axis=2, keepdims=True, dtype=np.float64)
        share = weights.astype(np.float64)
        z = (share @ value) / total
        error = None
        if pre.error is not None:
            gamma = 1.01 * (self.value.shape[0] + 5) * U
            error = (share @ pre.error[:, self.value]) / total
            error += (total > 1) * (1.01 * gamma * (share @ np.abs(value)) / total + 0.01 * error + TINY)
            error = error.reshape(len(z), -1)
        return _Values(z.reshape(len(z), -1), error)

    def forms(self, pre: Any, unit: int) -> list[tuple[int, ...]]:
        """Twice the scores as symmetric matrices of quadratic forms in (x, 1), row by row."""
        query = pre[:, self.query[unit]]
        products = [query @ pre[:, row].T for row in self.key]
        return [tuple((p + p.T).ravel()) for p in products]


_Sets: TypeAlias = "_Maxima | _Heads"


@dataclass(frozen=True)
class _Stage:
    """A block as arrays: W and b with upper bounds on |W|, its rows' 2-norms and |b|; PASS, BIT and SET units."""

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
        pre = h.reshape(-1, self.weight.shape[1]) @ self.weight.T
        pre += self.bias
        return pre.reshape(len(h), -1)

    def affine_error(self, state: _Values, e: Floats, pre: Floats) -> tuple[Floats, Floats]:
        """The errors E of pre, and a bound e on their 2-norm; ``e`` bounds that of the state."""
        assert state.error is not None
        cols = self.weight.shape[1]
        gamma = 1.01 * (cols + 5) * U
        size = np.abs(state.z)
        size *= gamma
        size += state.error
        size += FLOOR * (size != 0)
        size += FLOOR * ((state.z != 0) & (size == 0))
        error = size.reshape(-1, cols) @ self.weight_size.T
        error *= 1.01
        repeat = state.z.shape[1] // cols
        spectral, frobenius, _, _, _ = self.bound
        rounded = gamma * _norm(state.z)
        two = self.row_norm * (1.01 * (e + rounded))[:, None] + TINY
        error = np.fmin(error.reshape(len(pre), -1), np.tile(two, repeat))
        bias = 4.1 * U * self.bias_size
        error += np.tile(bias, repeat)
        with_norm = 1.01 * (spectral * e + frobenius * rounded) + 1.01 * np.sqrt(repeat) * _norm(bias[None])
        error[~(np.abs(pre) < HUGE)] = np.inf
        return error, np.fmin(_norm(error), with_norm)


def _norm(x: Floats) -> Floats:
    """Upper bounds on the 2-norms of rows, squares that underflow included."""
    return 1.01 * np.sqrt(np.einsum("ij,ij->i", x, x)) + FLOOR


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
    """A network as stages.  Exact decisions reach up to block ``last_exact``; ``last_head`` is the last block of
    hardmax heads.
    """

    lowered: Lowered
    stages: tuple[_Stage, ...]
    last_exact: int
    last_head: int
    footprint: int


def _plan(network: Network) -> _Plan:
    """The plan of a network, cached on it."""
    found = network._cache.get("evaluation")
    if found is None:
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
        _norm(weight_size) * (1 + 1e-12 * block.weight.shape[1]),
        _upper(block.bias),
        bound,
        (_index([unit.out for unit in passed]), _index([unit.values[0] for unit in passed])) if passed else None,
        _Bits(
            _index([unit.values[0] for unit in bits]),
            _index([unit.out for unit in bits]),
            _index([unit.columns[0] for unit in bits]),
            slopes if slopes.any() else np.empty(0),
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
        self.chunk = max(1, min(CHUNK_POINTS, CHUNK_BYTES // (8 * self.plan.footprint)))
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
                yield part, *self._forward(part)

    def _forward(self, part: slice) -> tuple[NDArray[np.uint8], Floats, Bools]:
        x = self.points[part]
        rationals = None if self.rationals is None else self.rationals[part]
        pattern = np.zeros((len(x), self.plan.lowered.columns), dtype=np.uint8)
        border = np.zeros(len(x), dtype=bool)
        last = len(self.plan.stages) - 1 if self.for_values else self.plan.lowered.last_choice
        # the least float as error of an exact input: it marks what varies, so that not even 0 is a constant
        error = np.full(x.shape, 5e-324) if rationals is None else 1.01 * U * np.abs(x) + 5e-324
        state, e = _Values(x, error), _norm(error)
        settler = None if self.forms is None else _Settler(self.forms, x, rationals, pattern, border)
        pre = state.z
        for b, stage in enumerate(self.plan.stages[: last + 1]):
            pre = stage.affine(state.z)
            if b == len(self.plan.stages) - 1:
                break
            errors = None
            if b <= self.last_exact:
                errors, e = stage.affine_error(state, e, pre)
            values = _Values(pre, errors)
            state = self._select(b, stage, values, pattern, settler if b <= self.last_exact else None)
            if errors is not None:
                assert state.error is not None
                _, _, _, gain, rounding = stage.bound
                e = np.fmin(_norm(state.error), 1.01 * gain * (e + rounding * _norm(pre)) + FLOOR)
        return pattern, pre if self.for_values else np.empty((len(x), 0)), border

    @staticmethod
    def _select(
        b: int, stage: _Stage, pre: _Values, pattern: NDArray[np.uint8], settler: _Settler | None
    ) -> _Values:
        """The state after the choices of a block; writes its pattern columns."""
        h = np.zeros((len(pre.z), stage.n_out))
        error = None if settler is None else np.zeros(h.shape)
        on = None if stage.bits is None else pre.z[:, stage.bits.value] > 0
        scores = [sets.scores(pre) for sets in stage.sets]
        if settler is None:
            won = [score.z == score.z.max(axis=2, keepdims=True) for score in scores]
        else:
            won = settler.settle(b, stage, pre, on, scores)

        def put(at: Index, values: _Values) -> None:
            h[:, at] = values.z
            if error is not None and values.error is not None:
                error[:, at] = values.error

        if stage.passed is not None:
            at, source = stage.passed
            put(at, _Values(pre.z[:, source], None if pre.error is None else pre.error[:, source]))
        if stage.bits is not None:
            pattern[:, stage.bits.columns] = on
            put(stage.bits.out, stage.bits.select(pre, on))
        for sets, score, winners in zip(stage.sets, scores, won, strict=True):
            pattern[:, sets.columns[sets.allowed]] = winners[:, sets.allowed]
            weights: Any = winners
            if sets.scale is not None:
                weights = np.exp(sets.scale * (score.z - score.z.max(axis=2, keepdims=True)))
            put(sets.out, sets.select(pre, weights))
        return _Values(h, error)


# -------------------------------------------------------------------------------- exact decisions


class _Forms:
    """Exact scores of a call: a composer, and for (block, sets, pattern so far) which candidates have one
    polynomial.
    """

    def __init__(self, plan: _Plan, n_dim: int) -> None:
        self.plan = plan
        self.n_dim = n_dim
        zero, one = [Fraction(0)] * n_dim, [Fraction(1)] * n_dim
        self.maps = Composer(plan.lowered, zero, one)
        self.classes: dict[tuple[int, int, bytes], tuple[NDArray[np.int64], list[list[tuple[int, ...]] | None]]] = {}


class _Settler:
    """Decides the choices of one chunk that floats cannot; marks points on borders."""

    def __init__(
        self, forms: _Forms, points: Floats, rationals: Any, pattern: NDArray[np.uint8], border: Bools
    ) -> None:
        self.forms, self.points, self.rationals = forms, points, rationals
        self.pattern, self.border = pattern, border
        self._homogeneous: dict[int, list[int]] = {}
        self._constants: dict[int, Composer] = {}

    def settle(
        self, b: int, stage: _Stage, pre: _Values, on: Bools | None, scores: list[_Values]
    ) -> list[Bools]:
        """The winners (m, U, K) of each set; corrects ``on``, the signs of the floats, in place."""
        assert pre.error is not None
        open_rows = np.zeros(len(pre.z), dtype=bool)
        open_bits = None
        if stage.bits is not None:
            z, error = pre.z[:, stage.bits.value], pre.error[:, stage.bits.value]
            open_bits = ~((np.abs(z) > error) | ((z == 0) & (error == 0)))
            open_rows |= open_bits.any(axis=1)
        won = [_contenders(sets, score) for sets, score in zip(stage.sets, scores, strict=True)]
        open_sets = [w.sum(axis=2) > 1 for w in won]
        for opened in open_sets:
            open_rows |= opened.any(axis=1)
        for rows, composer, symbolic in self._groups(stage, np.flatnonzero(open_rows)):
            prefix = self.pattern[rows[0]]
            exact, _ = composer.pre(b, prefix)
            if stage.bits is not None:
                assert on is not None and open_bits is not None
                self._bits(exact[:, stage.bits.value], rows, symbolic, on, open_bits)
            for i, sets in enumerate(stage.sets):
                key = (b, i, prefix[: stage.first_column].tobytes()) if symbolic else None
                self._winners(key, sets, exact, rows, won[i], open_sets[i])
        return won

    def _groups(
        self, stage: _Stage, rows: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], Composer, bool]]:
        """The rows with one pattern so far and the composer of their maps, or row by row, that of their constants."""
        if not len(rows):
            return
        parts = [rows]
        if stage.first_column:
            bits = np.packbits(self.pattern[rows, : stage.first_column], axis=1)
            keys = np.ascontiguousarray(bits).view(f"V{bits.shape[1]}").ravel()
            _, which, sizes = np.unique(keys, return_inverse=True, return_counts=True)
            order = np.argsort(which.ravel(), kind="stable")
            parts = np.split(rows[order], np.cumsum(sizes)[:-1])
        n = self.forms.n_dim
        for part in parts:
            if n <= 2 or len(part) > n:
                yield part, self.forms.maps, True
                continue
            for row in part:
                composer = self._constants.get(int(row))
                if composer is None:
                    point = self.points[row].tolist() if self.rationals is None else self.rationals[row]
                    composer = self._constants[int(row)] = self.forms.maps.at([Fraction(x) for x in point])
                yield np.array([row]), composer, False

    def _vectors(self, rows: NDArray[np.int64], symbolic: bool) -> Any:
        """Integers (m, n + 1) proportional to (x, 1) at the points, or (m, 1) ones."""
        if not symbolic:
            return np.ones((len(rows), 1), dtype=object)
        out = np.empty((len(rows), self.forms.n_dim + 1), dtype=object)
        for i, row in enumerate(rows.tolist()):
            vector = self._homogeneous.get(row)
            if vector is None:
                point = self.points[row].tolist() if self.rationals is None else self.rationals[row]
                vector = self._homogeneous[row] = _homogeneous(point)
            out[i] = vector
        return out

    def _bits(self, exact: Any, rows: NDArray[np.int64], symbolic: bool, on: Bools, opened: Bools) -> None:
        here = opened[rows]
        varies = (exact != 0).any(axis=0)
        for unit in np.flatnonzero(here.any(axis=0)).tolist():
            asked = rows[here[:, unit]]
            if not varies[unit]:
                on[asked, unit] = False
                continue
            values = self._vectors(asked, symbolic) @ exact[:, unit]
            on[asked, unit] = values > 0
            self.border[asked] |= values == 0

    def _winners(
        self, key: tuple[int, int, bytes] | None, sets: _Sets, exact: Any, rows: NDArray[np.int64], won: Bools, opened: Bools
    ) -> None:
        asked = opened[rows]
        units = np.flatnonzero(asked.any(axis=0))
        if not len(units):
            return
        ids, forms = self._classes(key, sets, exact, units)
        contend = won[rows]
        least = np.where(contend, ids, len(ids[0])).min(axis=2)
        most = np.where(contend, ids, -1).max(axis=2)
        asked &= least != most  # contenders of one polynomial all win
        for unit in np.flatnonzero(asked.any(axis=0)).tolist():
            some = rows[asked[:, unit]]
            polynomials = forms[unit]
            assert polynomials is not None
            values = _evaluate(polynomials, self._vectors(some, key is not None))
            best = values.max(axis=1, keepdims=True)
            top = values == best
            self.border[some] |= top.sum(axis=1) > 1
            won[some, unit] = top[:, ids[unit]] & sets.allowed[unit]

    def _classes(
        self, key: tuple[int, int, bytes] | None, sets: _Sets, exact: Any, units: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], list[list[tuple[int, ...]] | None]]:
        """Numbers (U, K) of the distinct polynomials of each unit, and these; of ``units`` at least."""
        known = self.forms.classes
        found = None if key is None else known.get(key)
        if found is None:
            found = np.zeros(sets.allowed.shape, dtype=np.int64), [None] * len(sets.allowed)
            if key is not None:
                if len(known) > 20_000:
                    known.clear()
                known[key] = found
        ids, forms = found
        for unit in units.tolist():
            if forms[unit] is None:
                distinct: dict[tuple[int, ...], int] = {}
                of_unit = sets.forms(exact, unit)
                for k in np.flatnonzero(sets.allowed[unit]).tolist():
                    ids[unit, k] = distinct.setdefault(of_unit[k], len(distinct))
                forms[unit] = list(distinct)
        return found


def _contenders(sets: _Sets, score: _Values) -> Bools:
    """The candidates (m, U, K) that floats cannot rule out: all winners are among them."""
    assert score.error is not None
    error = 1.01 * score.error + 2.1 * U * np.abs(score.z)
    low = np.where(sets.allowed & np.isfinite(score.z) & np.isfinite(error), score.z - error, -np.inf)
    ruled_out = score.z + error < low.max(axis=2, keepdims=True)
    return ~ruled_out & sets.allowed


def _homogeneous(point: Any) -> list[int]:
    """Integers proportional to (x, 1), the last one positive."""
    ratios = [x.as_integer_ratio() for x in point]
    common = math.lcm(*(denominator for _, denominator in ratios))
    return [n * (common // d) for n, d in ratios] + [common]


def _evaluate(forms: list[tuple[int, ...]], vectors: Any) -> Any:
    """Values (m, n_forms), up to a positive factor a row: linear forms, or quadratic ones row by row."""
    n = vectors.shape[1]
    out = np.empty((len(vectors), len(forms)), dtype=object)
    for i, form in enumerate(forms):
        matrix = np.empty(len(form), dtype=object)
        matrix[:] = form
        if len(form) == n:
            out[:, i] = vectors @ matrix
        else:
            out[:, i] = ((vectors @ matrix.reshape(n, n)) * vectors).sum(axis=1)
    return out
