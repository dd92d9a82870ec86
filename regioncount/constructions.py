"""Named networks: depth constructions with exact rational weights, and random networks from a seed.

Notation: T tokens numbered t = 1..T (a file counts them from 0); depth D, blocks of attention and
feedforward; p workers among the tokens.

The Transformer constructions share one trick. With the position tau = t in one coordinate and y in [0, 1] in
another, z = y + 2t puts token t into its own interval [2t, 2t + 1], so a single continuous piecewise-linear
phi(z) with knots at 2t and 2t + 1, which a token-wise feedforward layer can compute, acts as T different
affine maps of y. A coordinate is overwritten through the residual by the pair ReLU(s), ReLU(-s) with output
weights -1, +1. The five coordinates of a token are (1, tau, u, s, v): constant, position, current value,
score, value to pass on.

Weights are integers and Fractions. They must stay so: the same weights rounded to float64 define another
function, with jumps and a different number of regions.

Reference for the lower bound (T-1)^floor(D/3): Gu, Yang, Zhou, arXiv 2603.03084 (2026).
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from regioncount.errors import InputError, shown
from regioncount.network import Affine, Attention, Embed, Feedforward, Head, Maxout, Network, Readout, ReLU

MAX_WEIGHTS = (
    20_000_000  # numbers in one network: 160 MB of float64, well before memory becomes the error message
)

ONE, POSITION, VALUE, SCORE, CARRY = range(5)  # the coordinates (1, tau, u, s, v)
_ENDS = tuple[Fraction, Fraction]  # values of phi at the two knots of one token


# --- arguments


def _integer(value: object, name: str, low: int, high: int) -> int:
    """Return `value` as an int in [low, high], or raise InputError naming the argument."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name}: expected an integer, got {shown(value)}") from None
    if not low <= number <= high:
        raise InputError(f"{name}: expected an integer from {low} to {high}, got {shown(number)}")
    return number


def _choice(value: object, name: str, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name}: expected {' or '.join(map(repr, allowed))}, got {shown(value)}")
    return value


def _widths(value: object) -> tuple[int, ...]:
    """Layer widths, input first and output last, from integers or from the text "2,16,16,1"."""
    items: Sequence[object]
    if isinstance(value, str):
        items = [int(part) if part.strip().isdecimal() else part for part in value.split(",")]
    elif isinstance(value, Sequence):
        items = value
    else:
        raise InputError(f"widths: expected integers such as 2,16,16,1, got {shown(value)}")
    if len(items) < 2:
        raise InputError(f"widths: expected at least an input and an output width, got {shown(value)}")
    return tuple(_integer(item, f"widths[{i}]", 1, 1_000_000) for i, item in enumerate(items))


def _refuse_huge(weights: int, name: str) -> None:
    if weights > MAX_WEIGHTS:
        raise InputError(
            f"{name}: this network would have {weights:,} weights; at most {MAX_WEIGHTS:,} are built"
        )


def _metadata(family: str, seed: int | None = None, **parameters: object) -> dict[str, object]:
    metadata: dict[str, object] = {"family": family, "parameters": parameters}
    if seed is not None:
        metadata["seed"] = seed
    return metadata


# --- parts of the Transformer constructions


def _unit(coordinate: int, factor: int = 1) -> list[int]:
    row = [0] * 5
    row[coordinate] = factor
    return row


def _head(key: int, value: int, factor: int = 1) -> Head:
    """Query 1; the winner's `value` times `factor` is added, the coordinate u to s and any other to u."""
    target = SCORE if value == VALUE else VALUE
    output = [[factor if row == target else 0] for row in range(5)]
    return Head(Affine([_unit(ONE)]), Affine([_unit(key)]), Affine([_unit(value)]), Affine(output))


def _no_attention() -> Attention:
    zero = Affine([[0] * 5])
    return Attention((Head(zero, zero, zero, Affine([[0]] * 5)),))


def _feedforward(
    tokens: int, source: int, maps: dict[int, list[_ENDS]], overwritten: tuple[int, ...]
) -> Feedforward:
    """Feedforward layer that sets the coordinates in `maps` to affine functions of `source`, T of them each.

    Hidden units: ReLU(source + 2 tau - k) for the 2T knots k = 2t, 2t + 1, then ReLU(s), ReLU(-s) for each
    overwritten coordinate s. ``maps[c][t - 1]`` holds the values at source = 0 and 1 in token t; phi is
    constant outside the knots.
    """
    knots = range(2, 2 * tokens + 2)
    hidden = [[0, 2, 0, 0, 0] for _ in knots]
    for row in hidden:
        row[source] = 1
    bias = [-knot for knot in knots]
    output: list[list[int | Fraction]] = [[0] * (len(knots) + 2 * len(overwritten)) for _ in range(5)]
    constant: list[int | Fraction] = [0] * 5
    for coordinate, ends in maps.items():
        values = [value for pair in ends for value in pair]
        slopes = [Fraction(0), *(b - a for a, b in zip(values, values[1:], strict=False)), Fraction(0)]
        output[coordinate][: len(knots)] = [b - a for a, b in zip(slopes, slopes[1:], strict=False)]
        constant[coordinate] = values[0]
    for i, coordinate in enumerate(overwritten):
        column = len(knots) + 2 * i
        hidden += [_unit(coordinate), _unit(coordinate, -1)]
        bias += [0, 0]
        output[coordinate][column : column + 2] = [-1, 1]
    return Feedforward(Affine(hidden, bias), Affine(output, constant))


def _identity(bias: int) -> Feedforward:
    """Residual feedforward layer that adds 0: one unit of zero weights that is never active."""
    return Feedforward(Affine([[0] * 5], [bias]), Affine([[0]] * 5, [0] * 5))


def _embed(tokens: int, starting: Sequence[int]) -> Embed:
    """Tokens (1, t, u, 0, 0) with u = x for the tokens in `starting` and 0 for the others."""
    weight = [[[1 if c == VALUE and t in starting else 0] for c in range(5)] for t in range(1, tokens + 1)]
    return Embed(weight, [[1, t, 0, 0, 0] for t in range(1, tokens + 1)])


def _tangents(workers: int) -> tuple[list[_ENDS], list[_ENDS]]:
    """Scores 2 c_t y - c_t^2, greatest for the nearest c_t, and the p branches of a zigzag onto [0, 1]."""
    scores, branches = [], []
    for t in range(1, workers + 1):
        centre = Fraction(2 * t - 1, 2 * workers)
        scores.append((-(centre**2), 2 * centre - centre**2))
        start, slope = (1 - t, workers) if t % 2 else (t, -workers)
        branches.append((Fraction(start), Fraction(start + slope)))
    return scores, branches


def _convex_parts(workers: int) -> tuple[list[_ENDS], list[_ENDS]]:
    """Affine pieces of convex g and h with g - h the zigzag of N = 2p - 1 pieces onto [0, 1], kinks at j/N.

    g starts with slope N and bends at even j, h starts at 0 and bends at odd j, each time by 2N.
    """
    pieces = 2 * workers - 1
    g, h = [(Fraction(0), Fraction(pieces))], [(Fraction(0), Fraction(0))]
    for t in range(1, workers):
        g.append((g[-1][0] - 4 * t, g[-1][1] + 2 * pieces - 4 * t))
        h.append((h[-1][0] - 2 * (2 * t - 1), h[-1][1] + 2 * pieces - 2 * (2 * t - 1)))
    return g, h


def _in_threes(
    tokens: int, depth: int, scores: list[_ENDS], carried: list[_ENDS], far: int, last: int, select: Attention
) -> list[object]:
    """All layers; a block of three is a broadcast, `select` and the shift, identities make up the depth."""
    collector = [(Fraction(far), Fraction(far))], [(Fraction(last), Fraction(last))]
    maps = {SCORE: scores + collector[0], CARRY: carried + collector[1]}
    keep = [(Fraction(0), Fraction(0))] * (tokens - 1) + [(Fraction(0), Fraction(1))]
    block = [
        Attention((_head(POSITION, VALUE),)),
        _feedforward(tokens, SCORE, maps, (VALUE, SCORE, CARRY)),
        select,
        _feedforward(tokens, VALUE, {}, (SCORE, CARRY)),
        _no_attention(),
        _feedforward(tokens, VALUE, {VALUE: keep}, (VALUE,)),
    ]
    identities = [_identity(-1)] * (depth % 3)
    return [_embed(tokens, [tokens]), *block * (depth // 3), *identities, Readout(tokens - 1, (VALUE,))]


def _check_transformer(tokens: object, depth: object) -> tuple[int, int]:
    tokens, depth = _integer(tokens, "tokens", 2, 100_000), _integer(depth, "depth", 1, 100_000)
    _refuse_huge(depth * (2 * tokens + 6) * 10 + 10 * tokens, "tokens and depth")
    return tokens, depth


# --- constructions


def three_step(tokens: int = 4, depth: int = 3) -> Network:
    """Transformer with (T-1)^floor(D/3) linear regions on [0, 1], one head, continuous.

    Token T, the collector, alone starts with u = x; the p = T - 1 others work. Three layers make one block:
    the collector broadcasts u and worker t prepares the score 2 c_t y - c_t^2, c_t = (2t-1)/(2p), and a
    branch of a zigzag; attention selects the branch of the nearest c_t; the token-wise shift keeps u in the
    collector. So the network composes floor(D/3) zigzags of p pieces onto [0, 1]. The D mod 3 layers that
    remain change nothing: a residual feedforward layer of one unit that is never active, so the count is a
    step function of D.

    Parameters
    ----------
    tokens : int
        T >= 2. With T = 2 the function is the identity: one region at every depth.
    depth : int
        D >= 1.

    Returns
    -------
    Network
        Exact weights, domain "0:1"; output: coordinate u of token T.

    Raises
    ------
    InputError
        If an argument is no integer, out of range, or the network would be too large.

    References
    ----------
    The order (T-1)^floor(D/3) is that of Gu, Yang, Zhou, arXiv 2603.03084 (2026).

    Examples
    --------
    >>> network = three_step(tokens=4, depth=6)
    >>> [layer.type for layer in network.layers].count("attention")
    6
    """
    tokens, depth = _check_transformer(tokens, depth)
    scores, branches = _tangents(tokens - 1)
    layers = _in_threes(tokens, depth, scores, branches, -10, 0, Attention((_head(SCORE, CARRY),)))
    return Network(1, tuple(layers), "0:1", _metadata("three-step", tokens=tokens, depth=depth))


def one_step(tokens: int = 3, depth: int = 3) -> Network:
    """Transformer with T^(D-1) linear regions on [0, 1], one head, continuous.

    All T tokens start with u = x and work. The first layer prepares in every token the score and the zigzag
    branch of `three_step`, with p = T; each later layer selects the branch and prepares the next, the last
    one only selects.

    Parameters
    ----------
    tokens : int
        T >= 2.
    depth : int
        D >= 1; with D = 1 the function is the identity.

    Returns
    -------
    Network
        Exact weights, domain "0:1"; output: coordinate u of token 1.

    Raises
    ------
    InputError
        If an argument is no integer, out of range, or the network would be too large.

    Examples
    --------
    >>> one_step(tokens=3, depth=4).metadata["family"]
    'one-step'
    """
    tokens, depth = _check_transformer(tokens, depth)
    scores, branches = _tangents(tokens)
    prepare = _feedforward(tokens, VALUE, {SCORE: scores, CARRY: branches}, (VALUE, SCORE, CARRY))
    select = Attention((_head(SCORE, CARRY),))
    body = [_no_attention(), *[prepare, select] * (depth - 1), _identity(0)]
    layers = (_embed(tokens, range(1, tokens + 1)), *body, Readout(0, (VALUE,)))
    return Network(1, layers, "0:1", _metadata("one-step", tokens=tokens, depth=depth))


def two_heads(tokens: int = 4, depth: int = 3) -> Network:
    """Transformer with (2T-3)^floor(D/3) linear regions on [0, 1], two heads, continuous.

    Blocks of three layers as in `three_step`, but the two heads pass on their scores themselves: the first
    adds the greatest s_g, the second subtracts the greatest s_h, and the difference of the two convex
    functions of T - 1 pieces is a zigzag of 2(T-1) - 1 pieces.

    Parameters
    ----------
    tokens : int
        T >= 3.
    depth : int
        D >= 1; D mod 3 identity layers end the network.

    Returns
    -------
    Network
        Exact weights, domain "0:1"; output: coordinate u of token T.

    Raises
    ------
    InputError
        If an argument is no integer, out of range, or the network would be too large.

    Examples
    --------
    >>> len(two_heads(tokens=3, depth=3).layers[3].heads)
    2
    """
    tokens, depth = _check_transformer(_integer(tokens, "tokens", 3, 100_000), depth)
    g, h = _convex_parts(tokens - 1)
    far = -1_000_000  # below every max, which is at least 0
    select = Attention((_head(SCORE, SCORE), _head(CARRY, CARRY, -1)))
    layers = _in_threes(tokens, depth, g, h, far, far, select)
    return Network(1, tuple(layers), "0:1", _metadata("two-heads", tokens=tokens, depth=depth))


def tent(depth: int = 3) -> Network:
    """ReLU network on [0, 1] that composes the tent map L times: 2^L linear regions with two units a layer.

    Parameters
    ----------
    depth : int
        L >= 1, the number of hidden layers.

    Returns
    -------
    Network
        Exact weights, domain "0:1".

    Raises
    ------
    InputError
        If `depth` is no integer or out of range.

    References
    ----------
    Telgarsky, Representation benefits of deep feedforward networks, arXiv 1509.08101 (2015).

    Examples
    --------
    >>> [layer.type for layer in tent(1).layers]
    ['affine', 'relu', 'affine']
    """
    depth = _integer(depth, "depth", 1, 100_000)
    return Network(1, _zigzag_layers(2) * depth, "0:1", _metadata("tent", depth=depth))


def zigzag(pieces: int = 4, depth: int = 3) -> Network:
    """ReLU network on [0, 1] that composes a zigzag of p pieces onto [0, 1] L times: p^L linear regions.

    With p = 2 and 3 each layer has p units at j/p. With p >= 4 it has p - 1 units, one of them reversed,
    which attains the maximum (n+1)^L of ReLU networks of width n >= 3 on a 1-D input; the two pieces beside
    the reversed unit have half the slope of the others, so with a = p + 2 the pieces have lengths 1/a, 1/a,
    2/a, 2/a, 1/a, 1/a, ...

    Parameters
    ----------
    pieces : int
        p >= 2, pieces a layer.
    depth : int
        L >= 1, the number of hidden layers.

    Returns
    -------
    Network
        Exact weights, domain "0:1".

    Raises
    ------
    InputError
        If an argument is no integer, out of range, or the network would be too large.

    References
    ----------
    Serra, Tjandraatmadja, Ramalingam, Bounding and counting linear regions of deep neural networks, ICML
    2018, Theorem 5 (the maximum in one dimension).

    Examples
    --------
    >>> [layer.weight.shape for layer in zigzag(pieces=4, depth=1).layers if layer.type == "affine"]
    [(3, 1), (1, 3)]
    """
    pieces, depth = _integer(pieces, "pieces", 2, 100_000), _integer(depth, "depth", 1, 100_000)
    _refuse_huge(3 * pieces * depth, "pieces and depth")
    return Network(1, _zigzag_layers(pieces) * depth, "0:1", _metadata("zigzag", pieces=pieces, depth=depth))


def _zigzag_layers(pieces: int) -> tuple[object, ...]:
    if pieces <= 3:
        weight: list[int] = [1] * pieces
        bias = [Fraction(-j, pieces) for j in range(pieces)]
        output: list[int | Fraction] = [pieces, *(-2 * pieces * (-1) ** j for j in range(pieces - 1))]
        constant = Fraction(0)
    else:
        slope = pieces + 2
        slopes = [Fraction(slope * (-1) ** j, 2 if j in (2, 3) else 1) for j in range(pieces)]
        breaks, at = [], Fraction(0)
        for s in slopes[:-1]:
            at += 1 / abs(s)
            breaks.append(at)
        weight = [-1 if j == 2 else 1 for j in range(pieces - 1)]
        bias = [-w * b for w, b in zip(weight, breaks, strict=True)]
        output = [-slope if j == 2 else slopes[j + 1] - slopes[j] for j in range(pieces - 1)]
        constant = slope * breaks[2]
    return Affine([[w] for w in weight], bias), ReLU(), Affine([output], [constant])


# --- random networks


class _Draw:
    """Random weights in file order, weight before bias.

    `he`: weights N(0, gain/fan_in), biases N(0, 0.01), second arguments being variances; `uniform`: both
    U(-1/sqrt(fan_in), 1/sqrt(fan_in)).
    """

    def __init__(self, seed: int, init: str):
        self.rng, self.init = np.random.default_rng(seed), init

    def arrays(self, weight: tuple[int, ...], gain: int) -> tuple[np.ndarray, np.ndarray]:
        """Weight of the given shape, its last axis the input, and bias of the shape without that axis."""
        if self.init == "uniform":
            limit = 1 / math.sqrt(weight[-1])
            return self.rng.uniform(-limit, limit, weight), self.rng.uniform(-limit, limit, weight[:-1])
        deviation = math.sqrt(gain / weight[-1])
        return self.rng.normal(0.0, deviation, weight), self.rng.normal(0.0, 0.1, weight[:-1])

    def affine(self, rows: int, columns: int, gain: int = 2) -> Affine:
        return Affine(*self.arrays((rows, columns), gain))


def _check_random(seed: object, init: object) -> tuple[int, str]:
    return _integer(seed, "seed", 0, 2**63 - 1), _choice(init, "init", ("he", "uniform"))


def _cube(dim: int) -> str:
    return ",".join(["-1:1"] * dim)


def random_relu(widths: Sequence[int] | str, seed: int = 0, init: str = "he") -> Network:
    """Random fully connected ReLU network: affine, relu, ..., affine.

    Parameters
    ----------
    widths : sequence of int, or text such as "2,16,16,1"
        Input width, hidden widths, output width.
    seed : int
        Seed of ``numpy.random.default_rng``; layers are drawn in file order, weight before bias.
    init : "he" or "uniform"
        he: weights N(0, 2/fan_in), biases N(0, 0.01), the second argument being the *variance* in both.
        uniform: weights and biases U(-1/sqrt(fan_in), 1/sqrt(fan_in)).

    Returns
    -------
    Network
        Float64 weights, domain [-1, 1]^n.

    Raises
    ------
    InputError
        If an argument is malformed, out of range, or the network would be too large.

    References
    ----------
    He et al., Delving deep into rectifiers, ICCV 2015 (the variance 2/fan_in).

    Examples
    --------
    >>> random_relu("2,16,16,1", seed=1).output_dim
    1
    """
    sizes = _widths(widths)
    seed, init = _check_random(seed, init)
    _refuse_huge(sum((a + 1) * b for a, b in zip(sizes, sizes[1:], strict=False)), "widths")
    draw = _Draw(seed, init)
    layers: list[object] = []
    for columns, rows in zip(sizes, sizes[1:], strict=False):
        layers += [draw.affine(rows, columns), ReLU()]
    metadata = _metadata("random-relu", seed, widths=list(sizes), init=init)
    return Network(sizes[0], tuple(layers[:-1]), _cube(sizes[0]), metadata)


def random_maxout(widths: Sequence[int] | str, rank: int = 3, seed: int = 0, init: str = "he") -> Network:
    """Random fully connected maxout network: a maxout layer for every hidden width, then an affine layer.

    Parameters
    ----------
    widths : sequence of int, or text such as "2,8,8,1"
        Input width, hidden widths, output width.
    rank : int
        K >= 1 candidates a unit.
    seed : int
        Seed of ``numpy.random.default_rng``; layers are drawn in file order, weight (units, rank, in) before
        bias.
    init : "he" or "uniform"
        he: maxout weights N(0, 1/fan_in), those of the last affine layer N(0, 2/fan_in), biases N(0, 0.01),
        the second argument being the *variance*. uniform: all U(-1/sqrt(fan_in), 1/sqrt(fan_in)).

    Returns
    -------
    Network
        Float64 weights, domain [-1, 1]^n.

    Raises
    ------
    InputError
        If an argument is malformed, out of range, or the network would be too large.

    References
    ----------
    Tseran, Montufar, On the expected complexity of maxout networks, NeurIPS 2021.

    Examples
    --------
    >>> [layer.type for layer in random_maxout("2,8,8,1", rank=3).layers]
    ['maxout', 'maxout', 'affine']
    """
    sizes = _widths(widths)
    rank = _integer(rank, "rank", 1, 10_000)
    seed, init = _check_random(seed, init)
    _refuse_huge(rank * sum((a + 1) * b for a, b in zip(sizes, sizes[1:], strict=False)), "widths and rank")
    draw = _Draw(seed, init)
    layers: list[object] = []
    for columns, rows in zip(sizes[:-2], sizes[1:-1], strict=True):
        weight, bias = draw.arrays((rows, rank, columns), 1)
        layers.append(Maxout(tuple(weight), tuple(bias)))
    layers.append(draw.affine(sizes[-1], sizes[-2]))
    metadata = _metadata("random-maxout", seed, widths=list(sizes), rank=rank, init=init)
    return Network(sizes[0], tuple(layers), _cube(sizes[0]), metadata)


def random_transformer(
    tokens: int = 3,
    layers: int = 2,
    heads: int = 1,
    dim: int = 4,
    hidden: int = 8,
    input_dim: int = 2,
    queries: str = "free",
    seed: int = 0,
    init: str = "he",
) -> Network:
    """Random hardmax Transformer: embed, then `layers` times attention and feedforward, then token 0 is read.

    A head has max(1, dim // heads) rows in query, key and value. Both kinds of layer have a residual, no
    mask.

    Parameters
    ----------
    tokens, layers, heads, dim, hidden, input_dim : int
        T, number of blocks, heads a layer, dimension of a token, feedforward units, dimension of the input;
        all >= 1.
    queries : "free" or "fixed"
        fixed: the query weights are zero, the query is its bias, so scores are affine in every piece and
        cells are polygons. The weights are drawn and dropped: all other weights are those of "free" with the
        same seed.
    seed : int
        Seed of ``numpy.random.default_rng``; layers are drawn in file order, heads in order, query, key,
        value, output, weight before bias.
    init : "he" or "uniform"
        he: weights of attention N(0, 1/fan_in), of embed and feedforward N(0, 2/fan_in), biases N(0, 0.01),
        the second argument being the *variance*. uniform: all U(-1/sqrt(fan_in), 1/sqrt(fan_in)).

    Returns
    -------
    Network
        Float64 weights, domain [-1, 1]^n; output: all `dim` coordinates of token 0.

    Raises
    ------
    InputError
        If an argument is malformed, out of range, or the network would be too large.

    Examples
    --------
    >>> random_transformer(layers=1, queries="fixed").layers[1].heads[0].query.weight.tolist()[0]
    [0, 0, 0, 0]
    """
    limit = 100_000
    tokens, layers = _integer(tokens, "tokens", 1, limit), _integer(layers, "layers", 1, limit)
    heads, dim = _integer(heads, "heads", 1, limit), _integer(dim, "dim", 1, limit)
    hidden, input_dim = _integer(hidden, "hidden", 1, limit), _integer(input_dim, "input_dim", 1, limit)
    queries = _choice(queries, "queries", ("free", "fixed"))
    seed, init = _check_random(seed, init)
    rows = max(1, dim // heads)
    block = heads * (3 * rows * (dim + 1) + dim * (rows + 1)) + hidden * (dim + 1) + dim * (hidden + 1)
    _refuse_huge(tokens * dim * (input_dim + 1) + layers * block, "tokens, layers, heads, dim and hidden")

    draw = _Draw(seed, init)
    stack: list[object] = [Embed(*draw.arrays((tokens, dim, input_dim), 2))]
    for _ in range(layers):
        parts = []
        for _ in range(heads):
            weight, bias = draw.arrays((rows, dim), 1)
            query = Affine(np.zeros_like(weight) if queries == "fixed" else weight, bias)
            key, value = draw.affine(rows, dim, 1), draw.affine(rows, dim, 1)
            parts.append(Head(query, key, value, draw.affine(dim, rows, 1)))
        stack += [Attention(tuple(parts)), Feedforward(draw.affine(hidden, dim), draw.affine(dim, hidden))]
    stack.append(Readout(0))
    metadata = _metadata(
        "random-transformer",
        seed,
        tokens=tokens,
        layers=layers,
        heads=heads,
        dim=dim,
        hidden=hidden,
        input_dim=input_dim,
        queries=queries,
        init=init,
    )
    return Network(input_dim, tuple(stack), _cube(input_dim), metadata)


# --- registry

NAMES: dict[str, Callable[..., Network]] = {
    "three-step": three_step,
    "one-step": one_step,
    "two-heads": two_heads,
    "tent": tent,
    "zigzag": zigzag,
    "random-relu": random_relu,
    "random-maxout": random_maxout,
    "random-transformer": random_transformer,
}


def parameters(name: str) -> dict[str, Any]:
    """Parameters of a construction and their defaults; ``inspect.Parameter.empty`` where a value is required.

    Parameters
    ----------
    name : str
        A key of `NAMES`.

    Raises
    ------
    InputError
        If there is no construction of that name.

    Examples
    --------
    >>> parameters("three-step")
    {'tokens': 4, 'depth': 3}
    """
    if not isinstance(name, str) or name not in NAMES:
        raise InputError(f"construction: expected one of {', '.join(NAMES)}, got {shown(name)}")
    return {key: value.default for key, value in inspect.signature(NAMES[name]).parameters.items()}


def build(name: str, **arguments: Any) -> Network:
    """Build a named construction.

    Parameters
    ----------
    name : str
        A key of `NAMES`, such as "three-step".
    **arguments
        The parameters of that construction; those left out have their defaults.

    Returns
    -------
    Network
        With its domain, and with family, parameters and seed in its metadata.

    Raises
    ------
    InputError
        For an unknown name, an unknown or missing parameter, or a value out of range.

    Examples
    --------
    >>> build("tent", depth=2).metadata
    {'family': 'tent', 'parameters': {'depth': 2}}
    """
    known = parameters(name)
    for key in arguments:
        if key not in known:
            raise InputError(f"{name}: unknown parameter {key!r}, expected {', '.join(known)}")
    for key, default in known.items():
        if default is inspect.Parameter.empty and key not in arguments:
            raise InputError(f"{name}: parameter {key!r} is missing")
    return NAMES[name](**arguments)
