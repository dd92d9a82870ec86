"""Networks: layers as frozen dataclasses, and `Network`, a chain of them checked once.

Notation.  Before `Embed`, and in networks without it, the state is one vector; after it T tokens of dimension
d, the rows X_t of a (T, d) matrix; `Readout` makes a vector again.  Affine, ReLU, LeakyReLU, Abs and Maxout
act on the vector, or on each token alike.  An attention layer maps

    X_t  to  X_t + sum_h output_h( mean of value_h(X_s) over the s of greatest <query_h(X_t), key_h(X_s)> )

the first X_t only with a residual; `Feedforward` maps X_t to X_t + output(relu(hidden(X_t))).

Weights are exact (`ExactArray`): a float is the rational it is.  A layer checks what it can see of itself, a
Network the chain; errors name layer and field as the network file does.  All of it compares by exact value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regioncount.errors import InputError, located, shown
from regioncount.exact import ExactArray, as_fraction, as_list

Shape: TypeAlias = tuple["int | None", int]  # (tokens, dimension) of a state; tokens is None for a vector


# -------------------------------------------------------------------------------- checks


def _set(target: object, **fields: object) -> None:
    for name, value in fields.items():
        object.__setattr__(target, name, value)


def _text(shape: Sequence[object]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _array(values: Any, name: str, expected: tuple[str | int, ...]) -> ExactArray:
    """Return `values` as an ExactArray of the `expected` shape; a word stands for any length of 1 or more."""
    array = ExactArray(values, name)
    fits = array.ndim == len(expected) and all(
        length >= 1 if isinstance(want, str) else length == want
        for length, want in zip(array.shape, expected, strict=True)
    )
    if not fits:
        raise InputError(f"{name}: expected {_text(expected)}, got {_text(array.shape)}")
    return array


def _bias(values: Any, name: str, shape: tuple[int, ...]) -> ExactArray:
    return ExactArray(np.zeros(shape)) if values is None else _array(values, name, shape)


def _integer(value: object, name: str, low: int, high: int | None = None) -> int:
    """Return an int of at least `low` and, where given, below `high`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value >= high):  # type: ignore[operator]
        wanted = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high - 1}"
        raise InputError(f"{name}: expected {wanted}, got {shown(value)}")
    return int(value)  # type: ignore[call-overload]


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}: expected true or false, got {shown(value)}")
    return bool(value)


def _expect_columns(array: ExactArray, dim: int, name: str, rows: str | int) -> None:
    if array.shape[-1] != dim:
        wanted = (*((rows,) if array.ndim == 2 else ("T", "d")), dim)
        raise InputError(f"{name}: expected {_text(wanted)}, got {_text(array.shape)}")


def _expect_tokens(shape: Shape) -> tuple[int, int]:
    tokens, dim = shape
    if tokens is None:
        raise InputError("expected tokens, which an embed layer makes, got a vector")
    return tokens, dim


# -------------------------------------------------------------------------------- layers


@dataclass(frozen=True, init=False)
class Affine:
    """``x -> weight @ x + bias``.

    Parameters
    ----------
    weight : array-like (out, in)
    bias : array-like (out,), default zero

    Examples
    --------
    >>> Affine([[1, "1/3"]]).bias
    ExactArray([0])
    """

    type: ClassVar[str] = "affine"
    weight: ExactArray
    bias: ExactArray

    def __init__(self, weight: Any, bias: Any = None) -> None:
        weight = _array(weight, "weight", ("out", "in"))
        _set(self, weight=weight, bias=_bias(bias, "bias", weight.shape[:1]))

    def _shape_after(self, shape: Shape) -> Shape:
        tokens, dim = shape
        _expect_columns(self.weight, dim, "weight", "out")
        return tokens, self.weight.shape[0]


class _Elementwise:
    def _shape_after(self, shape: Shape) -> Shape:
        return shape


@dataclass(frozen=True)
class ReLU(_Elementwise):
    """``z -> max(z, 0)`` on every coordinate; active where z > 0."""

    type: ClassVar[str] = "relu"


@dataclass(frozen=True, init=False)
class LeakyReLU(_Elementwise):
    """``z -> z if z > 0 else slope * z`` on every coordinate; `slope` is any number."""

    type: ClassVar[str] = "leaky_relu"
    slope: Fraction

    def __init__(self, slope: Any) -> None:
        _set(self, slope=as_fraction(slope, "slope"))


@dataclass(frozen=True)
class Abs(_Elementwise):
    """``z -> |z|`` on every coordinate: the leaky ReLU of slope -1."""

    type: ClassVar[str] = "abs"


@dataclass(frozen=True, init=False)
class Maxout:
    """Unit u outputs the greatest entry of ``weights[u] @ x + biases[u]``.

    In messages ``weight[u]`` and ``bias[u]``, as in the network file, are those of unit u.

    Parameters
    ----------
    weights : sequence of array-likes (rank_u, in), or one array (units, rank, in)
    biases : sequence of array-likes (rank_u,), or one array (units, rank), default zero
    """

    type: ClassVar[str] = "maxout"
    weights: tuple[ExactArray, ...]
    biases: tuple[ExactArray, ...]

    def __init__(self, weights: Any, biases: Any = None) -> None:
        units = [
            _array(values, f"weight[{u}]", ("rank", "in"))
            for u, values in enumerate(as_list(_plain(weights), "weight", "units"))
        ]
        for u, unit in enumerate(units):
            _expect_columns(unit, units[0].shape[1], f"weight[{u}]", "rank")
        rows = [None] * len(units) if biases is None else as_list(_plain(biases), "bias", "units")
        if len(rows) != len(units):
            raise InputError(f"bias: expected {len(units)} units like weight, got {len(rows)}")
        offsets = [_bias(row, f"bias[{u}]", units[u].shape[:1]) for u, row in enumerate(rows)]
        _set(self, weights=tuple(units), biases=tuple(offsets))

    def _shape_after(self, shape: Shape) -> Shape:
        tokens, dim = shape
        _expect_columns(self.weights[0], dim, "weight[0]", "rank")
        return tokens, len(self.weights)


def _plain(values: Any) -> Any:
    """Return an ExactArray as an ndarray that can be cut into units; leave everything else."""
    if not isinstance(values, ExactArray):
        return values
    return values.view if values.is_float else values.fractions()


@dataclass(frozen=True, init=False)
class Embed:
    """Vector x to T tokens: ``X_t = weight[t] @ x + bias[t]``; bias holds the positional embedding.

    Parameters
    ----------
    weight : array-like (T, d, in)
    bias : array-like (T, d), default zero
    """

    type: ClassVar[str] = "embed"
    weight: ExactArray
    bias: ExactArray

    def __init__(self, weight: Any, bias: Any = None) -> None:
        weight = _array(weight, "weight", ("T", "d", "in"))
        _set(self, weight=weight, bias=_bias(bias, "bias", weight.shape[:2]))

    def _shape_after(self, shape: Shape) -> Shape:
        tokens, dim = shape
        if tokens is not None:
            raise InputError("expected a vector to embed, got tokens")
        _expect_columns(self.weight, dim, "weight", "T")
        return self.weight.shape[0], self.weight.shape[1]


@dataclass(frozen=True)
class Head:
    """One attention head: four affine maps of a token, the last one of a value.

    `query` and `key` have equally many rows, any number; the rows of `value` are the columns of `output`.
    """

    query: Affine
    key: Affine
    value: Affine
    output: Affine

    def __post_init__(self) -> None:
        for name in ("query", "key", "value", "output"):
            if not isinstance(getattr(self, name), Affine):
                raise InputError(f"{name}: expected an Affine, got {shown(getattr(self, name))}")
        rank, dim = self.query.weight.shape
        for name, part, rows in (("key", self.key, rank), ("value", self.value, None)):
            if part.weight.shape != (rows or part.weight.shape[0], dim):
                wanted, got = _text((rows or "rows", dim)), _text(part.weight.shape)
                raise InputError(f"{name}.weight: expected {wanted} like query, got {got}")
        values = self.value.weight.shape[0]
        if self.output.weight.shape[1] != values:
            wanted, got = _text(("out", values)), _text(self.output.weight.shape)
            raise InputError(f"output.weight: expected {wanted} for value, got {got}")


@dataclass(frozen=True, init=False)
class Attention:
    """Attention over the tokens; ties of a hardmax head are averaged.

    Parameters
    ----------
    heads : sequence of Head
        Their outputs are added, with an output bias once a head.
    residual : bool
        Whether X_t is added.
    mask : "none", "causal" or array-like (T, T) of bool
        Row t says which tokens query t may select; "causal": those up to t.  Every row allows something.
    activation : "hardmax" or "softmax"
        Softmax layers are evaluated and sampled, never enumerated.
    scale : number, optional
        With softmax only: lambda > 0 in softmax(lambda * scores), 1 unless given.
    """

    type: ClassVar[str] = "attention"
    heads: tuple[Head, ...]
    residual: bool
    mask: str | tuple[tuple[bool, ...], ...]
    activation: str
    scale: Fraction | None

    def __init__(
        self,
        heads: Any,
        residual: bool = True,
        mask: Any = "none",
        activation: str = "hardmax",
        scale: Any = None,
    ) -> None:
        heads = tuple(as_list(heads, "heads", "heads"))
        for h, head in enumerate(heads):
            if not isinstance(head, Head):
                raise InputError(f"heads[{h}]: expected a Head, got {shown(head)}")
        _set(self, heads=heads, residual=_flag(residual, "residual"), mask=_read_mask(mask))
        _set(self, activation=activation, scale=_read_scale(scale, activation))
        rows, dim = heads[0].output.weight.shape[0], heads[0].query.weight.shape[1]
        if self.residual:
            rows = dim
        for h, head in enumerate(heads):
            if head.output.weight.shape[0] != rows:
                why = "for the residual" if self.residual else "like heads[0]"
                wanted, got = _text((rows, head.output.weight.shape[1])), _text(head.output.weight.shape)
                raise InputError(f"heads[{h}].output.weight: expected {wanted} {why}, got {got}")

    def allowed(self, tokens: int) -> NDArray[np.bool_]:
        """Return the mask as an array (T, T): entry [t, s] says whether query token t may select key token s.

        Raises
        ------
        InputError
            If the mask is an array for another number of tokens.
        """
        if self.mask == "none":
            return np.ones((tokens, tokens), dtype=bool)
        if self.mask == "causal":
            return np.tri(tokens, dtype=bool)
        if len(self.mask) != tokens:
            size = len(self.mask)
            raise InputError(f"mask: expected {_text((tokens, tokens))}, got {_text((size, size))}")
        return np.array(self.mask, dtype=bool)

    def _shape_after(self, shape: Shape) -> Shape:
        tokens, dim = _expect_tokens(shape)
        for h, head in enumerate(self.heads):
            for name, part in (("query", head.query), ("key", head.key), ("value", head.value)):
                rows = "rows" if name == "value" else "r"
                _expect_columns(part.weight, dim, f"heads[{h}].{name}.weight", rows)
        self.allowed(tokens)
        return tokens, self.heads[0].output.weight.shape[0]


def _read_mask(mask: Any) -> str | tuple[tuple[bool, ...], ...]:
    if isinstance(mask, str):
        if mask not in ("none", "causal"):
            raise InputError(f"mask: expected 'none', 'causal' or (T, T) bools, got {shown(mask)}")
        return mask
    rows = []
    size = len(given := as_list(mask, "mask", "rows"))
    for t, row in enumerate(given):
        entries = as_list(row, f"mask[{t}]", "bools")
        if len(entries) != size:
            raise InputError(f"mask[{t}]: expected {size} bools, as many as the rows, got {len(entries)}")
        rows.append(tuple(_flag(entry, f"mask[{t}][{s}]") for s, entry in enumerate(entries)))
        if not any(rows[-1]):
            raise InputError(f"mask[{t}]: expected at least one token allowed, got none")
    return tuple(rows)


def _read_scale(scale: Any, activation: object) -> Fraction | None:
    if activation not in ("hardmax", "softmax"):
        raise InputError(f"activation: expected 'hardmax' or 'softmax', got {shown(activation)}")
    if activation == "hardmax":
        if scale is not None:
            raise InputError(f"scale: expected none with hardmax (it belongs to softmax), got {shown(scale)}")
        return None
    value = Fraction(1) if scale is None else as_fraction(scale, "scale")
    if value <= 0:
        raise InputError(f"scale: expected a positive number, got {shown(scale)}")
    return value


@dataclass(frozen=True, init=False)
class Feedforward:
    """``X_t -> X_t + output(relu(hidden(X_t)))`` for every token; the first X_t only with `residual`."""

    type: ClassVar[str] = "feedforward"
    hidden: Affine
    output: Affine
    residual: bool
    activation: str

    def __init__(
        self, hidden: Affine, output: Affine, residual: bool = True, activation: str = "relu"
    ) -> None:
        for name, part in (("hidden", hidden), ("output", output)):
            if not isinstance(part, Affine):
                raise InputError(f"{name}: expected an Affine, got {shown(part)}")
        if activation != "relu":
            raise InputError(f"activation: expected 'relu', got {shown(activation)}")
        _set(self, hidden=hidden, output=output, residual=_flag(residual, "residual"), activation=activation)
        width, dim = hidden.weight.shape
        rows = dim if self.residual else output.weight.shape[0]
        if output.weight.shape != (rows, width):
            wanted = _text((dim if self.residual else "out", width))
            why = "for hidden and the residual" if self.residual else "for hidden"
            raise InputError(f"output.weight: expected {wanted} {why}, got {_text(output.weight.shape)}")

    def _shape_after(self, shape: Shape) -> Shape:
        tokens, dim = _expect_tokens(shape)
        _expect_columns(self.hidden.weight, dim, "hidden.weight", "hidden")
        return tokens, self.output.weight.shape[0]


@dataclass(frozen=True, init=False)
class Readout:
    """Tokens to one vector: some coordinates of one token, of the mean, or of all tokens one after the other.

    Parameters
    ----------
    token : int, "mean" or "all"
        Tokens count from 0.
    coordinates : sequence of int, optional
        In this order; all of them unless given.
    """

    type: ClassVar[str] = "readout"
    token: int | str
    coordinates: tuple[int, ...] | None

    def __init__(self, token: int | str, coordinates: Any = None) -> None:
        if isinstance(token, str):
            if token not in ("mean", "all"):
                raise InputError(f"token: expected a token, 'mean' or 'all', got {shown(token)}")
        else:
            token = _integer(token, "token", 0)
        if coordinates is not None:
            given = as_list(coordinates, "coordinates", "coordinates")
            coordinates = tuple(_integer(c, f"coordinates[{i}]", 0) for i, c in enumerate(given))
        _set(self, token=token, coordinates=coordinates)

    def _shape_after(self, shape: Shape) -> Shape:
        tokens, dim = _expect_tokens(shape)
        if not isinstance(self.token, str):
            _integer(self.token, "token", 0, tokens)
        for i, coordinate in enumerate(self.coordinates or ()):
            _integer(coordinate, f"coordinates[{i}]", 0, dim)
        size = dim if self.coordinates is None else len(self.coordinates)
        return None, size * tokens if self.token == "all" else size


Layer: TypeAlias = Affine | ReLU | LeakyReLU | Abs | Maxout | Embed | Attention | Feedforward | Readout
_LAYERS = (Affine, ReLU, LeakyReLU, Abs, Maxout, Embed, Attention, Feedforward, Readout)


# -------------------------------------------------------------------------------- networks


@dataclass(frozen=True, init=False)
class Network:
    """A chain of layers from an input of `input_dim` coordinates.

    Parameters
    ----------
    input_dim : int
    layers : sequence of layers
        None at all is the identity.
    domain : str, optional
        The domain to use where none is named, as the command line writes it (``"-1:1,-1:1"``).
    metadata : dict, optional
        What JSON can hold (family, parameters, seed), kept as it is.

    Attributes
    ----------
    shapes : tuple of (tokens, dimension), one more than layers
        The state before each layer and after the last; tokens is None for a vector.

    Raises
    ------
    InputError
        Where the layers do not fit together; the message names the layer and the field.

    Examples
    --------
    >>> network = Network(2, [Affine([[1, -1]]), ReLU()], domain="-1:1,-1:1")
    >>> network.output_dim, network.shapes
    (1, ((None, 2), (None, 1), (None, 1)))
    """

    input_dim: int
    layers: tuple[Layer, ...]
    domain: str | None
    metadata: dict[str, Any] | None = field(hash=False)
    shapes: tuple[Shape, ...] = field(init=False, repr=False, compare=False)
    _cache: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __init__(self, input_dim: int, layers: Any, domain: str | None = None, metadata: Any = None) -> None:
        input_dim = _integer(input_dim, "input_dim", 1)
        if not isinstance(layers, (list, tuple)):
            raise InputError(f"layers: expected a list of layers, got {shown(layers)}")
        if domain is not None and not isinstance(domain, str):
            raise InputError(f"domain: expected text such as '-1:1', or str(domain), got {shown(domain)}")
        layers = tuple(layers)
        _set(self, input_dim=input_dim, layers=layers, domain=domain, metadata=_read_metadata(metadata))
        _set(self, shapes=_chain(input_dim, layers), _cache={})

    @property
    def output_dim(self) -> int:
        """Number of output coordinates; without a readout all T * d of the tokens, token by token."""
        tokens, dim = self.shapes[-1]
        return dim if tokens is None else tokens * dim

    def evaluate(self, points: ArrayLike, exact: bool = True) -> NDArray[np.float64]:
        """Return the outputs at `points`, in float64.

        Parameters
        ----------
        points : array-like (n_points, input_dim)
        exact : bool
            Whether ties are decided for the exact weights and the given points, or by floats alone.

        Returns
        -------
        ndarray (n_points, output_dim)
        """
        from regioncount import evaluation

        return evaluation.evaluate(self, points, exact)

    def activation_pattern(self, points: ArrayLike, exact: bool = True) -> NDArray[np.uint8]:
        """Return the activation pattern at `points`, the columns in layer order.

        Relu, leaky_relu, abs and feedforward units have one column (1 where z > 0), maxout units one a
        candidate and each (head, query token) one a key token (1 for the winners, masked tokens 0).

        Parameters
        ----------
        points : array-like (n_points, input_dim)
        exact : bool
            Whether ties are decided for the exact weights and the given points, or by floats alone.

        Returns
        -------
        ndarray of uint8 (n_points, n_columns)
        """
        from regioncount import evaluation

        return evaluation.activation_pattern(self, points, exact)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": {}}


def _chain(input_dim: int, layers: tuple[Layer, ...]) -> tuple[Shape, ...]:
    shapes: list[Shape] = [(None, input_dim)]
    embedded = False
    for i, layer in enumerate(layers):
        if not isinstance(layer, _LAYERS):
            raise InputError(f"layers[{i}]: expected a layer such as Affine or ReLU, got {shown(layer)}")
        with located(f"layers[{i}] ({layer.type}): "):
            if isinstance(layer, Embed) and embedded:
                raise InputError("expected at most one embed layer, got a second")
            embedded = embedded or isinstance(layer, Embed)
            shapes.append(layer._shape_after(shapes[-1]))
    return tuple(shapes)


def _read_metadata(metadata: Any) -> dict[str, Any] | None:
    if metadata is None:
        return None
    if not isinstance(metadata, dict):
        raise InputError(f"metadata: expected an object, got {shown(metadata)}")
    try:
        return {key: _json_copy(value, f"metadata.{key}") for key, value in _named(metadata, "metadata")}
    except RecursionError:
        raise InputError("metadata: nested too deeply") from None


def _named(given: dict[Any, Any], name: str) -> list[tuple[str, Any]]:
    for key in given:
        if not isinstance(key, str):
            raise InputError(f"{name}: expected keys that are strings, got {shown(key)}")
    return list(given.items())


def _json_copy(value: Any, name: str) -> Any:
    """Return a deep copy of what JSON can hold; tuples become lists, numpy scalars Python's."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, (list, tuple)):
        return [_json_copy(item, f"{name}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _json_copy(item, f"{name}.{key}") for key, item in _named(value, name)}
    raise InputError(f"{name}: expected what JSON can hold, got {shown(value)}")


def from_layers(layers: Sequence[Any], domain: str | None = None) -> Network:
    """Make a network from arrays and short names.

    Parameters
    ----------
    layers : sequence
        Each ``(W, b)`` for an affine layer, ``"relu"``, ``"abs"``, ``("leaky_relu", slope)``,
        ``("maxout", W, b)`` with W (units, rank, in), or a layer object.  A missing or None b is zero.
    domain : str, optional
        As in `Network`.

    Returns
    -------
    Network
        Its `input_dim` is read from the first layer that has a weight.

    Raises
    ------
    InputError
        If an item is none of these, no layer has a weight, or the layers do not fit together.

    Examples
    --------
    >>> from_layers([([[1], [-1]], [0, 0]), "relu", ([[1, 1]],)]).input_dim
    1
    """
    if not isinstance(layers, (list, tuple)):
        raise InputError(f"layers: expected a list of layers, got {shown(layers)}")
    made = tuple(_from_short(item, i) for i, item in enumerate(layers))
    for layer in made:
        if isinstance(layer, (Affine, Embed)):
            return Network(layer.weight.shape[-1], made, domain)
        if isinstance(layer, Maxout):
            return Network(layer.weights[0].shape[1], made, domain)
    raise InputError("layers: expected one with a weight, which tells the input dimension, got none")


# name in from_layers -> (layer, least and greatest number of arguments)
_SHORT: dict[str, tuple[Callable[..., Layer], int, int]] = {
    "affine": (Affine, 1, 2),
    "relu": (ReLU, 0, 0),
    "abs": (Abs, 0, 0),
    "leaky_relu": (LeakyReLU, 1, 1),
    "maxout": (Maxout, 1, 2),
}


def _from_short(item: Any, i: int) -> Layer:
    if isinstance(item, _LAYERS):
        return item
    name, arguments = item, []
    if isinstance(item, (list, tuple)) and item:
        named = isinstance(item[0], str)
        name, arguments = (item[0], list(item[1:])) if named else ("affine", list(item))
    kind, least, most = _SHORT.get(name, (None, 0, 0)) if isinstance(name, str) else (None, 0, 0)
    if kind is None or not least <= len(arguments) <= most:
        wanted = "(W, b), 'relu', 'abs', ('leaky_relu', slope), ('maxout', W, b) or a layer"
        raise InputError(f"layers[{i}]: expected {wanted}, got {shown(item)}")
    with located(f"layers[{i}] ({name}): "):
        return kind(*arguments)
