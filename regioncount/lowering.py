"""Lowering: a network becomes blocks of one affine stage and one selection stage; engines know only these.

Notation. The state h is a flat vector, token by token where there are tokens.  A block first forms
``pre = W h + b``; with ``repeat = T`` the same W acts on each of T consecutive parts of h.  Its *units* then each
pick, among their candidates, the one of greatest score, and pass on that candidate's value (design, "selection"):

========  ============================  =====================================================================
kind      candidates                    value
========  ============================  =====================================================================
PASS      one                           ``pre[v]``: residual streams and plain affine layers
BIT       off, on (score 0, pre[v])     ``slope * pre[v]``, ``pre[v]``: ReLU, leaky ReLU, absolute value
SET       K; score ``pre[s]`` or        ``n_values`` coordinates from ``pre[v]`` on; candidates tied on a whole
          ``<pre[q:q+r], pre[k:k+r]>``  piece are averaged: maxout units and hardmax heads
========  ============================  =====================================================================

The last block has no units: its pre is the output.  A block's *pattern columns* are those of
``Network.activation_pattern``: one a BIT unit (1 = on), one for each candidate of a SET unit, masked tokens included.
For the plane a score q·k of two numbers is made affine: the sign of q is a choice of its own, in a *hidden* block
before that of the head (:meth:`_Builder.signs`), whose columns are no columns of ``activation_pattern``.
:class:`Composer` gives the exact affine map of ``pre`` on the cell of an activation pattern; every exact decision of
every engine starts from it.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from regioncount.errors import InputError
from regioncount.exact import ExactArray
from regioncount.network import (
    Abs,
    Affine,
    Attention,
    Embed,
    Feedforward,
    LeakyReLU,
    Maxout,
    Network,
    Readout,
    ReLU,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

PASS, BIT, SET = 0, 1, 2
_TWO_NORMS: dict[tuple[tuple[int, ...], bytes], float] = {}
Integers = np.ndarray  # object array of Python ints


@dataclass(frozen=True)
class Unit:
    """One choice of a block.

    ``out`` is the first of the ``n_values`` coordinates of the next state that the unit writes; candidate c takes its
    values from ``pre[values[c]], pre[values[c] + 1], …`` and its score from ``scores[c] = (q, k, r)``: the product of
    ``pre[q:q+r]`` and ``pre[k:k+r]``, or plainly ``pre[k]`` where r = 0.  ``columns[c]`` is its pattern column.
    """

    kind: int
    out: int
    n_values: int
    values: tuple[int, ...]
    scores: tuple[tuple[int, int, int], ...] = ()
    columns: tuple[int, ...] = ()
    slope: Fraction = Fraction(0)

    @property
    def continuous(self) -> bool:
        """Whether it passes on its score (up to a slope), so that nothing jumps where its choice changes."""
        return self.kind != SET or (
            self.n_values == 1 and all(r == 0 and k == v for (_, k, r), v in zip(self.scores, self.values, strict=True))
        )


@dataclass(frozen=True)
class Block:
    """An affine stage ``pre = W h + b`` and the units that select from ``pre``; see the module header.

    ``weight`` is (rows, cols), ``bias`` (rows,); with ``repeat`` tokens pre has ``repeat * rows`` coordinates.
    ``n_out`` is the size of the state after selection; ``layer`` the index in ``Network.layers`` of the layer whose
    choices these are (−1 where there are none); columns ``first_column … last_column − 1`` are its pattern columns,
    all of them hidden or none.
    """

    weight: ExactArray
    bias: ExactArray
    repeat: int
    units: tuple[Unit, ...]
    n_out: int
    layer: int
    first_column: int
    last_column: int
    hidden: bool = False

    @property
    def n_pre(self) -> int:
        return self.repeat * self.weight.shape[0]

    @property
    def selects(self) -> bool:
        """Whether the block makes choices (has BIT or SET units)."""
        return self.layer >= 0


@dataclass(frozen=True)
class Lowered:
    """A network as blocks; ``columns`` is the length of a pattern, hidden columns included."""

    network: Network
    blocks: tuple[Block, ...]
    columns: int

    @property
    def last_choice(self) -> int:
        """Index of the last block that makes choices, −1 where none does."""
        return max((i for i, block in enumerate(self.blocks) if block.selects), default=-1)

    @property
    def has_products(self) -> bool:
        """Whether some score is a product of two coordinates (attention)."""
        return any(r > 0 for block in self.blocks for unit in block.units for _, _, r in unit.scores)

    @property
    def has_hidden(self) -> bool:
        """Whether some columns are hidden."""
        return any(block.hidden for block in self.blocks)

    @property
    def visible(self) -> np.ndarray:
        """Which columns are those of ``Network.activation_pattern``: bool (columns,)."""
        shown = np.ones(self.columns, dtype=bool)
        for block in self.blocks:
            if block.hidden:
                shown[block.first_column : block.last_column] = False
        return shown


def lower(network: Network, planar: bool = False) -> Lowered:
    """Lower a network; the result is cached on it.

    Parameters
    ----------
    network : Network
    planar : bool
        Whether scores that are a product of two numbers are made affine, by hidden choices.  The pointwise function,
        ties included, is the same.

    Raises
    ------
    InputError
        If a layer is a softmax attention: it is not piecewise affine.
    """
    name = "planar" if planar else "lowered"
    found = network._cache.get(name)
    if found is None:
        if planar:
            plain = lower(network)
            signs = _varying_products(plain)
            found = _Builder(network, signs).run() if signs else plain
        else:
            found = _Builder(network).run()
        network._cache[name] = found
    return found


def _varying_products(lowered: Lowered) -> frozenset[tuple[int, int, int]]:
    """(layer, head, query token) where the zeros of the weights let a score be the product of two varying numbers."""
    found = set()
    affine = iter(_affine_units(lowered))
    for block in lowered.blocks:
        place = 0  # heads in order, their query tokens in order
        for unit in block.units:
            is_affine = next(affine)
            if unit.kind == SET and unit.scores[0][2] > 0:
                if not is_affine and unit.scores[0][2] == 1 and len(unit.values) > 1:
                    found.add((block.layer, *divmod(place, block.repeat)))
                place += 1
    return frozenset(found)


def _stack(*parts: ExactArray, axis: int = 0) -> ExactArray:
    """Concatenate, exactly, without leaving floats where all parts are floats."""
    if all(part.is_float for part in parts):
        return ExactArray(np.concatenate([part.view for part in parts], axis=axis))
    return ExactArray(np.concatenate([part.fractions() for part in parts], axis=axis))


class _Builder:
    """Collects blocks; ``pending`` is an affine stage that still waits for its selection.

    ``products`` holds (layer, head, query token) of the scores to make affine by a hidden choice.
    """

    def __init__(self, network: Network, products: frozenset[tuple[int, int, int]] = frozenset()) -> None:
        self.network = network
        self.products = products
        self.blocks: list[Block] = []
        self.column = 0
        self.pending: tuple[ExactArray, ExactArray, int] | None = None

    def run(self) -> Lowered:
        size = self.network.input_dim
        for index, layer in enumerate(self.network.layers):
            tokens, dim = self.network.shapes[index]
            size, repeat = dim, tokens or 1
            if isinstance(layer, Affine):
                self.affine(layer.weight, layer.bias, repeat)
            elif isinstance(layer, (ReLU, LeakyReLU, Abs)):
                slope = {"relu": Fraction(0), "abs": Fraction(-1)}.get(layer.type)
                self.bits(index, repeat, size, layer.slope if slope is None else slope)  # type: ignore[union-attr]
            elif isinstance(layer, Maxout):
                self.maxout(index, layer, repeat)
            elif isinstance(layer, Embed):
                t, d, n = layer.weight.shape
                self.affine(_reshape(layer.weight, (t * d, n)), _reshape(layer.bias, (t * d,)), 1)
            elif isinstance(layer, Attention):
                self.attention(index, layer, repeat, dim)
            elif isinstance(layer, Feedforward):
                self.feedforward(index, layer, repeat, dim)
            elif isinstance(layer, Readout):
                self.readout(layer, repeat, dim)
            else:  # pragma: no cover - the network validates its layers
                raise InputError(f"layers[{index}]: no lowering for {type(layer).__name__}")
        tokens, dim = self.network.shapes[-1]
        weight, bias, repeat = self.take(tokens or 1, dim)
        self.emit(weight, bias, repeat, (), weight.shape[0] * repeat, -1, self.column)
        return Lowered(self.network, tuple(self.blocks), self.column)

    def emit(
        self,
        weight: ExactArray,
        bias: ExactArray,
        repeat: int,
        units: Sequence[Unit],
        n_out: int,
        layer: int,
        column: int,
        hidden: bool = False,
    ) -> None:
        self.blocks.append(Block(weight, bias, repeat, tuple(units), n_out, layer, self.column, column, hidden))
        self.column = column

    def affine(self, weight: ExactArray, bias: ExactArray, repeat: int) -> None:
        """Make (weight, bias) the pending stage; one that was pending becomes a block without choices."""
        if self.pending is not None:
            w, b, r = self.pending
            n = w.shape[0] * r
            self.emit(w, b, r, [Unit(PASS, i, 1, (i,)) for i in range(n)], n, -1, self.column)
        self.pending = (weight, bias, repeat)

    def take(self, repeat: int, dim: int) -> tuple[ExactArray, ExactArray, int]:
        """The pending stage, seen with ``repeat`` tokens of size ``dim``; the identity if there is none."""
        pending = self.pending
        self.pending = None
        if pending is None:
            return ExactArray(np.eye(dim)), ExactArray(np.zeros(dim)), repeat
        return pending

    def bits(self, index: int, repeat: int, dim: int, slope: Fraction) -> None:
        weight, bias, r = self.take(repeat, dim)
        n = weight.shape[0] * r
        units = [Unit(BIT, i, 1, (i,), (), (self.column + i,), slope) for i in range(n)]
        self.emit(weight, bias, r, units, n, index, self.column + n)

    def maxout(self, index: int, layer: Maxout, repeat: int) -> None:
        self.affine(_stack(*layer.weights), _stack(*layer.biases), repeat)
        ranks = [weight.shape[0] for weight in layer.weights]
        units: list[Unit] = []
        row, column = 0, self.column
        for _ in range(repeat):
            for rank in ranks:
                rows = tuple(range(row, row + rank))
                scores = tuple((-1, i, 0) for i in rows)
                units.append(Unit(SET, len(units), 1, rows, scores, tuple(range(column, column + rank))))
                row, column = row + rank, column + rank
        weight, bias, r = self.take(repeat, 0)
        self.emit(weight, bias, r, units, len(units), index, column)

    def attention(self, index: int, layer: Attention, tokens: int, dim: int) -> None:
        if layer.activation != "hardmax":
            raise InputError(
                f"layers[{index}] (attention): activation {layer.activation!r} is not piecewise affine: its regions "
                "cannot be enumerated; expected 'hardmax' (evaluate it, or sample it on a grid)"
            )
        weight, bias, parts, out_weight, out_bias = attention_stage(layer, dim)
        weight, bias, signs = self.signs(index, weight, bias, parts, tokens, dim)
        self.affine(weight, bias, tokens)
        rows, width = weight.shape[0], out_weight.shape[1]
        allowed, column = layer.allowed(tokens), self.column
        base = dim if layer.residual else 0
        units = [Unit(PASS, t * width + i, 1, (t * rows + i,)) for t in range(tokens) for i in range(base)]
        for head, (q, k, r, v, n_values, out) in enumerate(parts):
            for t in range(tokens):
                keys = [s for s in range(tokens) if allowed[t, s]]
                query = t * rows + signs.get((head, t), q)
                scores = tuple((query, s * rows + k, r) for s in keys)
                values = tuple(s * rows + v for s in keys)
                columns = tuple(column + s for s in keys)
                units.append(Unit(SET, t * width + out, n_values, values, scores, columns))
                column += tokens
        self.pending = None
        self.emit(weight, bias, tokens, units, tokens * width, index, column)
        self.affine(out_weight, out_bias, tokens)

    def signs(
        self,
        index: int,
        weight: ExactArray,
        bias: ExactArray,
        parts: list[tuple[int, int, int, int, int, int]],
        tokens: int,
        dim: int,
    ) -> tuple[ExactArray, ExactArray, dict[tuple[int, int], int]]:
        """Emit a hidden block that chooses the signs of queries of one row, where scores are to be made affine.

        The greatest q·k_s are those of the greatest sign(q)·k_s, and all tie where q = 0.  So each such query is a
        hidden unit of scores q and −q and values 1 and −1, whose mean 0 is right for a query that is 0 on a whole
        piece, and the head's scores are k_s times a number that is constant on pieces.  Returns the stage before the
        head's choice, which now reads the chosen signs behind each token, and for (head, query token) their row.
        """
        heads = sorted({head for layer, head, _ in self.products if layer == index})
        if not heads:
            return weight, bias, {}
        rows, places = dim + 4 * len(heads), {head: i for i, head in enumerate(heads)}
        stage, offset = [ExactArray(np.eye(dim))], [ExactArray(np.zeros(dim))]
        for head in heads:
            row = slice(parts[head][0], parts[head][0] + 1)
            for array, out, values in ((weight, stage, np.zeros((2, dim))), (bias, offset, np.array([1.0, -1.0]))):
                query = array.view[row] if array.is_float else array.fractions()[row]
                out += [ExactArray(query), ExactArray(-query), ExactArray(values)]
        self.affine(_stack(*stage), _stack(*offset), tokens)
        full, shift, repeat = self.take(tokens, dim)
        width, column = dim + len(heads), self.column
        units = [Unit(PASS, t * width + i, 1, (t * rows + i,)) for t in range(tokens) for i in range(dim)]
        for layer, head, t in sorted(self.products):
            if layer == index:
                at = t * rows + dim + 4 * places[head]
                scores = ((-1, at, 0), (-1, at + 1, 0))
                to = t * width + dim + places[head]
                units.append(Unit(SET, to, 1, (at + 2, at + 3), scores, (column, column + 1)))
                column += 2
        self.emit(full, shift, repeat, units, tokens * width, index, column, hidden=True)
        reads = np.eye(len(heads), width, dim)
        beside = _stack(weight, ExactArray(np.zeros((weight.shape[0], len(heads)))), axis=1)
        found = {(head, t): weight.shape[0] + places[head] for layer, head, t in self.products if layer == index}
        return _stack(beside, ExactArray(reads)), _stack(bias, ExactArray(np.zeros(len(heads)))), found

    def feedforward(self, index: int, layer: Feedforward, tokens: int, dim: int) -> None:
        weight, bias = layer.hidden.weight, layer.hidden.bias
        hidden, out_weight = weight.shape[0], layer.output.weight
        if layer.residual:
            weight = _stack(weight, ExactArray(np.eye(dim)))
            bias = _stack(bias, ExactArray(np.zeros(dim)))
            out_weight = _stack(out_weight, ExactArray(np.eye(dim)), axis=1)
        self.affine(weight, bias, tokens)
        self.pending = None
        rows = weight.shape[0]
        units: list[Unit] = []
        for t in range(tokens):
            for i in range(t * rows, t * rows + hidden):
                column = self.column + t * hidden + i - t * rows
                units.append(Unit(BIT, i, 1, (i,), (), (column,)))
            units += [Unit(PASS, i, 1, (i,)) for i in range(t * rows + hidden, (t + 1) * rows)]
        self.emit(weight, bias, tokens, units, tokens * rows, index, self.column + tokens * hidden)
        self.affine(out_weight, layer.output.bias, tokens)

    def readout(self, layer: Readout, tokens: int, dim: int) -> None:
        chosen = list(range(dim)) if layer.coordinates is None else list(layer.coordinates)
        pick = np.zeros((len(chosen), dim))
        pick[np.arange(len(chosen)), chosen] = 1.0
        if layer.token == "all":
            self.affine(ExactArray(pick), ExactArray(np.zeros(len(chosen))), tokens)
            return
        if layer.token == "mean":
            share = Fraction(1, tokens)
            rows = [[share if x else 0 for x in row] * tokens for row in pick.tolist()]
            weight = ExactArray(rows)
        else:
            full = np.zeros((len(chosen), tokens * dim))
            full[:, layer.token * dim : (layer.token + 1) * dim] = pick  # type: ignore[operator]
            weight = ExactArray(full)
        self.affine(weight, ExactArray(np.zeros(len(chosen))), 1)


def attention_stage(
    layer: Attention, dim: int
) -> tuple[ExactArray, ExactArray, list[tuple[int, int, int, int, int, int]], ExactArray, ExactArray]:
    """The affine stages around an attention layer, for one token.

    Returns the stage before the choice (queries, keys and values of all heads below the residual stream), for each
    head (query row, key row, their number, value row, number of values, place of the chosen value in the next state),
    and the stage after it (the residual stream plus the output maps).
    """
    weights, biases, parts, row, out = [], [], [], 0, 0
    out_weights, out_bias = [], None
    if layer.residual:
        weights.append(ExactArray(np.eye(dim)))
        biases.append(ExactArray(np.zeros(dim)))
        out_weights.append(ExactArray(np.eye(dim)))
        row = out = dim
    for head in layer.heads:
        r, n_values = head.query.weight.shape[0], head.value.weight.shape[0]
        parts.append((row, row + r, r, row + 2 * r, n_values, out))
        for part in (head.query, head.key, head.value):
            weights.append(part.weight)
            biases.append(part.bias)
        out_weights.append(head.output.weight)
        bias = head.output.bias
        if out_bias is None or out_bias.is_float and bias.is_float and not (out_bias.view.any() or bias.view.any()):
            out_bias = bias
        else:
            out_bias = ExactArray(out_bias.fractions() + bias.fractions())
        row, out = row + 2 * r + n_values, out + n_values
    assert out_bias is not None
    return _stack(*weights), _stack(*biases), parts, _stack(*out_weights, axis=1), out_bias


def _reshape(array: ExactArray, shape: tuple[int, ...]) -> ExactArray:
    return ExactArray((array.view if array.is_float else array.fractions()).reshape(shape))


def integers(array: ExactArray) -> tuple[Integers, int]:
    """An exact array as (object array of ints, positive common denominator)."""
    if array.is_float:
        return _float_integers(array.view)
    values = array.fractions()
    flat = values.ravel()
    denominator = math.lcm(*(int(x.denominator) for x in flat)) if flat.size else 1
    out = np.empty(flat.size, dtype=object)
    for i, x in enumerate(flat):
        out[i] = int(x.numerator) * (denominator // int(x.denominator))
    return out.reshape(values.shape), denominator


def _float_integers(view: np.ndarray) -> tuple[Integers, int]:
    """:func:`integers` of floats: mantissas shifted to one exponent, without a Fraction an entry."""
    mantissa, exponent = np.frexp(view)
    whole = (mantissa * 2.0**53).astype(np.int64)
    low = np.where(whole == 0, 1, whole & -whole)  # lowest set bit: the mantissa's trailing zeros
    zeros = np.log2(low.astype(np.float64)).astype(np.int64)
    whole, power = whole >> zeros, exponent + zeros - 53
    least = int(power[whole != 0].min()) if whole.any() else 0
    least = min(least, 0)
    shift = np.where(whole == 0, 0, power - least)
    out = np.empty(view.shape, dtype=object)
    out[...] = whole.astype(object) << shift.astype(object)
    return out, 1 << -least


class Composer:
    """Exact affine maps of a lowered network on the cells of activation patterns.

    The input is x = centre + scale·ξ, coordinate by coordinate (with a ``shear`` σ, ξ₀ + σ ξ₁ takes the place of ξ₀),
    with ξ the engine's own coordinates, so that windows far from the origin, or tiny, cost the filter nothing.  A map
    is an object array of ints ``(n_dim + 1, n)`` (slopes, then the constant) over one positive denominator.  Maps are
    remembered for the last patterns asked for, block by block, so that patterns that share a beginning share the work.
    """

    def __init__(
        self,
        lowered: Lowered,
        centre: Sequence[Fraction],
        scale: Sequence[Fraction],
        shear: Fraction = Fraction(0),
        remember: int = 4096,
    ) -> None:
        self.lowered = lowered
        n = len(centre)
        values = [[s if i == k else 0 for i in range(n)] for k, s in enumerate(scale)] + [list(centre)]
        if shear:
            values[1][0] = scale[0] * shear
        self._start = integers(ExactArray(values))
        self._memory: OrderedDict[tuple[int, bytes], tuple[Integers, int]] = OrderedDict()
        self._remember = remember
        self._weights: dict[int, tuple[Integers, int, Integers, int]] = {}

    def at(self, point: Sequence[Fraction]) -> Composer:
        """A composer of constants: maps without slopes, the exact values at one point."""
        other = Composer(self.lowered, point, ())
        other._weights = self._weights
        return other

    def pre(self, block: int, pattern: Any) -> tuple[Integers, int]:
        """The exact map of ``pre`` of a block on the cell of ``pattern``, uint8 (n_columns,) or a beginning."""
        first = self.lowered.blocks[block].first_column
        key = (block, np.ascontiguousarray(pattern[:first], dtype=np.uint8).tobytes())
        found = self._memory.get(key)
        if found is not None:
            self._memory.move_to_end(key)
            return found
        if block == 0:
            result = self._affine(0, *self._start)
        else:
            last = self.lowered.blocks[block - 1]
            choice = pattern[last.first_column : last.last_column]
            result = self.advance(block - 1, *self.pre(block - 1, pattern), choice)
        self._memory[key] = result
        if len(self._memory) > self._remember:
            self._memory.popitem(last=False)
        return result

    def advance(self, block: int, pre: Integers, denominator: int, choice: Any) -> tuple[Integers, int]:
        """The exact map of the next block's ``pre`` from that of this one and the block's pattern columns."""
        state, denominator = self._select(self.lowered.blocks[block], pre, denominator, choice)
        return self._affine(block + 1, state, denominator)

    def output(self, pattern: Any) -> tuple[Integers, int]:
        """The exact map of the output, in lowest terms: equal maps give equal results."""
        numerators, denominator = self.pre(len(self.lowered.blocks) - 1, pattern)
        return reduced(numerators, denominator)

    def _affine(self, block: int, state: Integers, denominator: int) -> tuple[Integers, int]:
        stage = self._weights.get(block)
        if stage is None:
            this = self.lowered.blocks[block]
            stage = self._weights[block] = (*integers(this.weight), *integers(this.bias))
        weight, dw, bias, db = stage
        this = self.lowered.blocks[block]
        rows, parts = this.weight.shape[0], []
        common = math.lcm(dw * denominator, db)
        up, lift = common // (dw * denominator), common // db
        for part in np.split(state, this.repeat, axis=1):
            used = [i for i in range(part.shape[1]) if any(part[:, i])]
            pre = part[:, used] @ weight[:, used].T if used else np.zeros((len(part), rows), dtype=object)
            pre = pre * up
            pre[-1] = pre[-1] + bias * lift
            parts.append(pre)
        return reduced(np.concatenate(parts, axis=1), common)

    @staticmethod
    def _select(block: Block, pre: Integers, denominator: int, choice: Any) -> tuple[Integers, int]:
        first = block.first_column
        state = np.zeros((len(pre), block.n_out), dtype=object)
        shares: list[tuple[Unit, list[int]]] = []
        common = 1
        for unit in block.units:
            if unit.kind == PASS:
                state[:, unit.out] = pre[:, unit.values[0]]
            elif unit.kind == BIT:
                if choice[unit.columns[0] - first]:
                    state[:, unit.out] = pre[:, unit.values[0]]
                elif unit.slope:
                    shares.append((unit, []))
                    common = math.lcm(common, unit.slope.denominator)
            else:
                won = [v for v, c in zip(unit.values, unit.columns, strict=True) if choice[c - first]]
                shares.append((unit, won))
                common = math.lcm(common, len(won))
        if common > 1:
            state = state * common
        for unit, won in shares:
            if unit.kind == BIT:
                state[:, unit.out] = pre[:, unit.values[0]] * int(unit.slope * common)
                continue
            for v in won:
                part = slice(unit.out, unit.out + unit.n_values)
                state[:, part] += pre[:, v : v + unit.n_values] * (common // len(won))
        return state, denominator * common

    def score(self, block: int, unit: Unit, candidate: int, pattern: Any) -> tuple[list[int], int]:
        """A candidate's score as an exact polynomial in ξ: numerators, in the order of :func:`linear_form`."""
        pre, denominator = self.pre(block, pattern)
        squared = unit.kind == SET and unit.scores[candidate][2] > 0
        return score_form(pre, unit, candidate), denominator**2 if squared else denominator


def score_form(pre: Integers, unit: Unit, candidate: int) -> list[int]:
    """A candidate's score as a polynomial of the coordinates of the map ``pre``, up to its denominator; see
    ``Composer.score``.
    """
    if unit.kind == BIT:
        return linear_form(pre[:, unit.values[0]])
    q, k, r = unit.scores[candidate]
    if r == 0:
        return linear_form(pre[:, k])
    total = [0] * (len(pre) * (len(pre) + 1) // 2)
    for i in range(r):
        product = multiply_forms(pre[:, q + i], pre[:, k + i])
        total = [a + b for a, b in zip(total, product, strict=True)]
    return total


def reduced(numerators: Integers, denominator: int) -> tuple[Integers, int]:
    """A fraction array in lowest terms."""
    common = math.gcd(denominator, *numerators.ravel())
    return (numerators // common, denominator // common) if common > 1 else (numerators, denominator)


def linear_form(column: Any) -> list[int]:
    """Slopes, then constant, as a polynomial [1, x_1 … x_n, x_1 x_1, x_1 x_2, … x_n x_n]."""
    n = len(column) - 1
    return [column[n], *column[:n]] + [0] * (n * (n + 1) // 2)


def multiply_forms(p: Any, q: Any) -> list[int]:
    """The product of two affine forms (slopes, then constant), in the order of :func:`linear_form`."""
    n = len(p) - 1
    linear = [p[i] * q[n] + p[n] * q[i] for i in range(n)]
    squares = [p[i] * q[j] + (p[j] * q[i] if i < j else 0) for i in range(n) for j in range(i, n)]
    return [p[n] * q[n], *linear, *squares]


class Program(NamedTuple):
    """A lowered network as flat arrays, for the kernels; columns are named in ``kernels.predicates``.

    ``blocks`` one row a block; ``bound`` per block upper bounds of the spectral norm of W, its Frobenius norm, the
    2-norm of the bias, the gain of the selection (how much it can lengthen an error) and its relative rounding;
    ``weight`` every W transposed ``(cols, rows)``; ``bias`` and ``norm`` (2-norm) of each row of W; ``units`` and
    ``candidates`` one row each; ``slope`` of BIT units; ``order`` the choosing units of each block in a fixed random
    order: incremental subdivision by n lines costs O(n²) in random order, and a fixed one makes runs repeatable.
    """

    blocks: np.ndarray
    bound: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    norm: np.ndarray
    units: np.ndarray
    candidates: np.ndarray
    slope: np.ndarray
    order: np.ndarray


def flatten(lowered: Lowered) -> Program:
    """The arrays of a lowered network, cached on the network."""
    name = "planar program" if lowered.has_hidden else "program"
    found = lowered.network._cache.get(name)
    if found is None:
        found = lowered.network._cache[name] = _flatten(lowered)
    return found


def _flatten(lowered: Lowered) -> Program:
    blocks, bounds, weights, biases, norms, order = [], [], [], [], [], []
    units: list[list[int]] = []
    candidates: list[list[int]] = []
    slopes: list[float] = []
    w_at = b_at = o_at = 0
    rng = np.random.default_rng(0)
    affine = iter(_affine_units(lowered))
    for block in lowered.blocks:
        w, b = block.weight.view, block.bias.view
        unit_low, candidate_low = len(units), len(candidates)
        for unit in block.units:
            columns = unit.columns or (-1,)
            units.append(
                [
                    unit.kind,
                    unit.out,
                    unit.n_values,
                    len(candidates),
                    len(unit.values),
                    next(affine),
                    unit.values[0],
                    columns[0],
                ]
            )
            slopes.append(float(unit.slope))
            scores = unit.scores or [(-1, unit.values[0], 0)]
            for value, score, column in zip(unit.values, scores, columns, strict=True):
                candidates.append([value, *score, column])
        choosing = unit_low + np.flatnonzero(np.array([u.kind != PASS for u in block.units], dtype=bool))
        order.append(rng.permutation(choosing))
        blocks.append(
            [block.repeat, *w.shape, w_at, b_at, block.n_pre, block.n_out, unit_low, len(units), block.first_column,
             block.last_column, o_at, len(choosing), candidate_low, len(candidates),
             sum(u.kind == SET for u in block.units), _is_plain(block)]
        )  # fmt: skip
        bounds.append(_bounds(block))
        weights.append(np.ascontiguousarray(w.T).ravel())
        biases.append(b)
        norms.append(_norm(w, 1) * (1 + 1e-12 * w.shape[1]))
        w_at, b_at, o_at = w_at + w.size, b_at + b.size, o_at + len(choosing)
    ints = np.int64
    return Program(
        np.array(blocks, dtype=ints), np.array(bounds),
        np.concatenate(weights), np.concatenate(biases), np.concatenate(norms),
        np.array(units, dtype=ints).reshape(-1, 8), np.array(candidates, dtype=ints).reshape(-1, 5),
        np.array(slopes, dtype=np.float64), np.concatenate(order).astype(ints),
    )  # fmt: skip


def _is_plain(block: Block) -> bool:
    """Whether the block's units are BIT units alone, unit i on coordinate i and pattern column i."""
    return bool(block.units) and all(
        unit.kind == BIT and unit.values[0] == i and unit.columns[0] == block.first_column + i
        for i, unit in enumerate(block.units)
    )


def _bounds(block: Block) -> list[float]:
    """The row of ``Program.bound`` of a block; every entry is an upper bound, the rounding of its own included."""
    w, b = block.weight.view, block.bias.view
    frobenius = _norm(w, None) * (1 + 1e-12 * w.size)
    with np.errstate(all="ignore"):
        ones = float(np.sqrt(np.abs(w).sum(axis=0).max()) * np.sqrt(np.abs(w).sum(axis=1).max())) * (
            1 + 1e-12 * sum(w.shape)
        )
        spectral = ones
        if np.isfinite(frobenius) and min(w.shape) <= 1024:
            # LAPACK's singular values are exact for a matrix within a modest multiple of u of this one
            spectral = _two_norm(w) + 64 * sum(w.shape) * 2.0**-53 * frobenius
    spectral = min(frobenius, ones, spectral)
    gain, rounding = 1.0, 0.0
    for unit in block.units:
        if unit.kind == BIT:
            gain = max(gain, abs(float(unit.slope)))
            if unit.slope not in (0, 1, -1):
                rounding = max(rounding, 2.0)
        elif unit.kind == SET:
            # a mean of K adds K terms a coordinate to the sums of the next stage
            rounding = max(rounding, len(unit.values) * (block.n_out // block.repeat + 1.0) + 2.0)
    if any(unit.kind == SET and unit.scores[0][2] > 0 for unit in block.units):
        gain *= float(np.sqrt(block.repeat)) * (1 + 1e-15)  # all query tokens may choose the same value
    bias = _norm(b, None) * float(np.sqrt(block.repeat)) * (1 + 1e-12 * b.size)
    return [spectral, frobenius, bias, gain, rounding * 2.0**-53]


def _two_norm(w: np.ndarray) -> float:
    """The largest singular value by LAPACK; of large matrices remembered: many slices go through one network."""
    if w.size < 10_000:
        return float(np.linalg.norm(w, 2))
    key = w.shape, sha256(w.tobytes()).digest()
    found = _TWO_NORMS.get(key)
    if found is None:
        found = float(np.linalg.norm(w, 2))
        if len(_TWO_NORMS) >= 256:
            _TWO_NORMS.clear()
        _TWO_NORMS[key] = found
    return found


def _norm(values: np.ndarray, axis: int | None) -> Any:
    """2-norms, safe from overflow."""
    largest = np.abs(values).max(axis=axis, keepdims=True)
    scale = np.where(largest > 0, largest, 1.0)
    with np.errstate(over="ignore"):  # weights near the largest float: an infinite bound leaves all to exact arithmetic
        norms = np.sqrt(((values / scale) ** 2).sum(axis=axis, keepdims=True)) * scale
    return float(norms.item()) if axis is None else np.squeeze(norms, axis=axis)


def _affine_units(lowered: Lowered) -> list[bool]:
    """For every unit whether its scores are affine on every piece *by the zeros of the weights alone*.

    A coordinate is constant on pieces if only constant ones feed it; a product of a constant and an affine coordinate
    is affine.  Products that are affine for another reason are recognised piece by piece, exactly.
    """
    varies = np.ones(lowered.network.input_dim, dtype=bool)
    flags = []
    for block in lowered.blocks:
        weight = block.weight.nonzero()
        pre = np.concatenate([(weight @ part).astype(bool) for part in np.split(varies, block.repeat)])
        varies = np.zeros(block.n_out, dtype=bool)
        for unit in block.units:
            for v in unit.values:
                varies[unit.out : unit.out + unit.n_values] |= pre[v : v + unit.n_values]
            flags.append(
                all(not pre[q : q + r].any() for q, _, r in unit.scores if r > 0)
                or all(not pre[k : k + r].any() for _, k, r in unit.scores if r > 0)
            )
    return flags
