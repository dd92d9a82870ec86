"""What the dashboard shows, as plain data: the depth curve of a construction, the counts of a random network.

Every function here is pure; what took time is remembered. Sizes are limited so that each answer comes while somebody
waits for it: the command line has no such limits.
"""

from __future__ import annotations

import functools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from regioncount import bounds, constructions, sweep
from regioncount.domain import Domain, parse_domain
from regioncount.errors import InputError, TooManyPieces, shown
from regioncount.network import Affine, Attention, Embed, Head, Network, Readout

if TYPE_CHECKING:
    from regioncount.partition import Partition

CONSTRUCTIONS = ("three-step", "one-step", "two-heads")
TOKENS = (3, 4, 5, 6)
MAX_DEPTH = 15
MAX_PIECES_LINE = 10_000  # of one network in a depth curve: about a second
MAX_PIECES_PLANE = 20_000

DOMAIN = "-1:1,-1:1"
MAX_TEXT = 1000  # characters of a domain
FAMILIES = {  # the parameters that the page asks for
    "random-relu": ("widths", "seed"),
    "random-maxout": ("widths", "rank", "seed"),
    "random-transformer": ("tokens", "layers", "heads", "hidden", "seed"),
    "conic-transformer": ("tokens", "layers", "heads", "hidden", "seed"),
    "conic-example": ("example",),
}
FIXED = {  # with fixed queries scores are affine, otherwise quadratic, and borders conics
    "random-transformer": {"input_dim": 2, "queries": "fixed"},
    "conic-transformer": {"input_dim": 2, "queries": "free"},
}
MADE_BY = {"conic-transformer": "random-transformer"}  # constructions that have another name
EXAMPLES: dict[str, list[tuple[Any, ...]]] = {  # for each head where it is on: (xx, xy, yy, x, y, 1) is positive
    "ellipse": [(-1, 0, -4, 0, 0, "1/2")],
    "hyperbola": [(0, 1, 0, 0, 0, "-1/4")],
    "parabola": [(-2, 0, 0, 0, 1, "1/2")],
    "two circles": [(-1, 0, -1, "-1/2", 0, "1/4"), (-1, 0, -1, "1/2", 0, "1/4")],
    "ellipse and hyperbola": [(-1, 0, -2, 0, 0, "5/8"), (0, 1, 0, 0, 0, "-1/10")],
}
LIMITS = {  # least and greatest value of a number on the page
    "rank": (1, 16),
    "tokens": (1, 8),
    "layers": (1, 4),
    "heads": (1, 4),
    "hidden": (1, 32),
    "seed": (0, 2**53 - 1),  # what a browser holds exactly
}
MAX_WIDTH, MAX_LAYERS = 256, 8

T = TypeVar("T")


def remembered(size: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Remember the last `size` results of a function, bad input included.

    Threads that ask for the same one at the same time wait for one computation. Errors that are no InputError are
    raised and forgotten.
    """

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        futures: OrderedDict[tuple[Any, ...], Future[T]] = OrderedDict()
        lock = threading.Lock()

        @functools.wraps(function)
        def call(*arguments: Any) -> T:
            with lock:
                future = futures.get(arguments)
                mine = future is None
                if future is None:
                    future = futures[arguments] = Future()
                    if len(futures) > size:
                        futures.popitem(last=False)
                futures.move_to_end(arguments)
            if mine:
                try:
                    future.set_result(function(*arguments))
                except BaseException as error:
                    if not isinstance(error, InputError):
                        with lock:
                            futures.pop(arguments, None)
                    future.set_exception(error)
            return future.result()

        return call

    return decorate


def _whole(name: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        came = "nothing" if value is None or value == "" else shown(value)
        raise InputError(f"{name}: expected a whole number from {low:,} to {high:,}, got {came}")
    return value


@remembered(1)
def compiled() -> None:
    """Compile the kernels, once a process, with tiny networks; what is counted later then does not show that time."""
    from regioncount.partition import subdivide

    small = {"tokens": 2, "layers": 1, "hidden": 1}
    for network in (
        constructions.build("three-step", tokens=3, depth=3),
        constructions.build("random-relu", widths="2,4,4,1"),
        constructions.build("random-maxout", widths="2,4,1"),
        constructions.build("random-transformer", **small, **FIXED["random-transformer"]),
    ):
        subdivide(network).counts()


@remembered(1)
def compiled_conics() -> None:
    """The same for the conic engine, which takes longer and is asked for later."""
    from regioncount.partition import subdivide

    subdivide(built("conic-example", example=next(iter(EXAMPLES))), DOMAIN).counts()


# --- the depth curve


@dataclass(frozen=True)
class DepthCurve:
    """Counts and bound against depth.

    Attributes
    ----------
    records : list of dict
        As from `regioncount.sweep.depth_sweep`, sorted by tokens and depth; a T stops where its networks get too large.
    bounds : dict of int to list of int
        By T: (T−1)^⌊D/3⌋ at D = 1..max_depth.
    stopped : dict of int to int
        The last depth that was counted, for each T whose deeper networks have more than `MAX_PIECES_LINE` pieces.
    """

    records: list[dict[str, Any]]
    bounds: dict[int, list[int]]
    stopped: dict[int, int]


def depth_curve(construction: str, tokens: Sequence[int], max_depth: int) -> DepthCurve:
    """Count the regions of a construction at D = 1..max_depth for every T in `tokens`.

    Raises
    ------
    InputError
        For a construction, T or depth that the page does not offer.

    Examples
    --------
    >>> curve = depth_curve("three-step", [4], 3)
    >>> [record["counts"]["linear"] for record in curve.records], curve.bounds, curve.stopped
    ([1, 1, 3], {4: [1, 1, 3]}, {})
    """
    if construction not in CONSTRUCTIONS:
        raise InputError(f"construction: expected one of {', '.join(CONSTRUCTIONS)}, got {shown(construction)}")
    sizes = sorted({_whole("tokens", size, TOKENS[0], TOKENS[-1]) for size in tokens or ()})
    if not sizes:
        raise InputError("tokens: choose at least one number of tokens")
    deepest = _whole("largest depth", max_depth, 1, MAX_DEPTH)
    compiled()
    records, stopped = [], {}
    for size in sizes:
        for depth in range(1, deepest + 1):
            try:
                records.append(_record(construction, size, depth))
            except TooManyPieces:
                stopped[size] = depth - 1
                break
    depths = range(1, deepest + 1)
    curves = {size: [bounds.transformer_lower(size, depth) for depth in depths] for size in sizes}
    return DepthCurve(records, curves, stopped)


@remembered(1024)
def _record(construction: str, tokens: int, depth: int) -> dict[str, Any]:
    return sweep.depth_record(construction, tokens, depth, max_pieces=MAX_PIECES_LINE)


# --- a network in the plane


@dataclass(frozen=True)
class Counted:
    """A partition of the plane with its counts by every definition; `seconds` is what both took."""

    partition: Partition
    counts: dict[str, int]
    seconds: float


def counted(family: str, domain: str | None = DOMAIN, **parameters: Any) -> Counted:
    """Subdivide a part of the plane for a network and count its regions by every definition.

    Parameters
    ----------
    family : str
        A key of `FAMILIES`.
    domain : str
        The text of a box or polygon, or "all" for the whole plane.
    **parameters
        The parameters of that family; others are ignored.

    Raises
    ------
    InputError
        For parameters that are missing, malformed or beyond the limits of the page, with what to choose instead.

    Examples
    --------
    >>> counted("random-relu", widths="2,1,1", seed=0).counts["activation"]
    2
    """
    if family not in FAMILIES:
        raise InputError(f"family: expected one of {', '.join(FAMILIES)}, got {shown(family)}")
    values = []
    for name in FAMILIES[family]:
        value = parameters.get(name)
        check = {"widths": _widths, "example": _example}.get(name) or functools.partial(_number, name)
        values.append((name, check(value)))
    compiled()
    if family.startswith("conic"):
        compiled_conics()
    try:
        return _counted(family, tuple(values), _domain(domain))
    except TooManyPieces:
        raise TooManyPieces(
            f"This network has more than {MAX_PIECES_PLANE:,} pieces, too many to draw here: choose a smaller one, "
            "or use the command line."
        ) from None


def _number(name: str, value: object) -> int:
    return _whole(name, value, *LIMITS[name])


def _domain(value: object) -> Domain:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_TEXT:
        came = "nothing" if not value else shown(value)
        raise InputError(f"domain: expected text such as -1:1,-1:1, poly:0,0;1,0;0,1 or all, got {came}")
    where = parse_domain(value, 2)
    if where.dim != 2:
        raise InputError(f"domain: expected one of the plane, such as -1:1,-1:1 or all, got {where}")
    return where


def _example(value: object) -> str:
    if not isinstance(value, str) or value not in EXAMPLES:
        raise InputError(f"example: expected one of {', '.join(EXAMPLES)}, got {shown(value)}")
    return value


def _widths(value: object) -> tuple[int, ...]:
    expected = 'widths: expected whole numbers such as "2,16,16,1", inputs first and outputs last'
    words = value.split(",") if isinstance(value, str) else []
    if len(words) < 2 or not all(word.strip().isdecimal() and len(word) < 100 for word in words):
        raise InputError(f"{expected}, got {shown(value) if value else 'nothing'}")
    sizes = tuple(int(word) for word in words)
    if sizes[0] != 2:
        raise InputError(f"{expected}; the first must be 2, the dimension of the plane, got {sizes[0]:,}")
    if len(sizes) - 2 > MAX_LAYERS:
        raise InputError(f"widths: expected at most {MAX_LAYERS} hidden layers, got {len(sizes) - 2:,}")
    return tuple(_whole("widths", size, 1, MAX_WIDTH) for size in sizes)


def built(family: str, **parameters: Any) -> Network:
    """The network of a family.

    Examples
    --------
    >>> built("conic-example", example="ellipse").evaluate([[0.5, 0.125], [0.5, 0.5]]).tolist()
    [[0.625], [0.0]]
    """
    if family == "conic-example":
        return _choosing(EXAMPLES[parameters["example"]])
    return constructions.build(MADE_BY.get(family, family), **parameters, **FIXED.get(family, {}))


def _choosing(scores: Sequence[Sequence[Any]]) -> Network:
    """One attention layer whose head k gives (k + 1) (x + y) where score k is positive, and 0 elsewhere."""
    heads = []
    for k, (xx, xy, yy, x, y, one) in enumerate(scores):
        # of the tokens (x, y, 1, 0) and (0, 0, 1, 1) the first is the query; the score of the second is 0
        key = [[xx, xy, 0, 0], [0, yy, 0, 0], [x, y, one, str(-Fraction(one))]]
        query = Affine([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
        heads.append(Head(query, Affine(key), Affine([[k + 1, k + 1, 0, 0]]), Affine([[1]])))
    embed = Embed([[[1, 0], [0, 1], [0, 0], [0, 0]], [[0, 0]] * 4], [[0, 0, 1, 0], [0, 0, 1, 1]])
    mask = [[True, True], [False, True]]  # nothing depends on what the second token would choose
    return Network(2, [embed, Attention(heads, residual=False, mask=mask), Readout(0, [0])])


@remembered(32)
def _counted(family: str, parameters: tuple[tuple[str, Any], ...], domain: Domain) -> Counted:
    from regioncount.partition import subdivide

    network = built(family, **dict(parameters))
    started = time.perf_counter()
    partition = subdivide(network, domain, max_pieces=MAX_PIECES_PLANE)
    counts = partition.counts()
    return Counted(partition, counts, time.perf_counter() - started)
