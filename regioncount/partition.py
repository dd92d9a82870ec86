"""Partitions: the pieces on which a network is affine, and every definition of "region" as a grouping of them.

``subdivide`` runs an engine and keeps its pieces; ``count`` streams where only ``activation`` is asked for.  The five
definitions of ``DEFINITIONS`` (``definitions.MEANINGS``) come from one subdivision: pieces are joined where they have
one pattern or one map, and are neighbours.

A slice is resolved at the door: what is subdivided is the network after one more affine layer, the slice's, on the
domain of its parameters.  On the whole line the engine subdivides [−S, S], beyond which nothing changes (``germs``).
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from regioncount import adjacency, conics, contacts, engines, plane, polytopes
from regioncount.definitions import COUNTABLE, DEFINITIONS
from regioncount.domain import Box, Domain, Interval, Line, Plane, Polygon, Slice, Space, as_domain
from regioncount.equality import map_classes
from regioncount.errors import InputError, NeedsConicEngine, shown
from regioncount.exact import independent_columns, nearest_float
from regioncount.germs import line_reach
from regioncount.lowering import Composer, Lowered, integers, lower
from regioncount.network import Affine, Network

if TYPE_CHECKING:
    from regioncount.boundary import DecisionBoundary

MAX_PIECES = 2_000_000
METHODS = ("auto", "interval", "polygon", "conic", "polytope", "grid", "montecarlo")
ESTIMATES = ("grid", "montecarlo")  # sample, and count nothing


@dataclass(frozen=True)
class CountResult:
    """What was counted, how, and how sure it is; the keys of ``regioncount count --json``.

    Attributes
    ----------
    domain : str
    method : str
        The engine: "interval", "polygon", "conic", "polytope", "grid" or "montecarlo".
    counts : dict of str to int
        By definition; empty for the grid and Monte Carlo, which only estimate.
    depth_profile : list of dict
        ``layer``, ``type``, ``activation``: activation regions (R2) of the network cut after each layer that chooses.
    pieces : int or None
        Pieces of the subdivision.
    certified : bool
        Whether every decision was settled.
    undecided : int
        Decisions that no arithmetic settled.
    estimate : dict or None
        Grid: ``activation`` (distinct patterns sampled), ``components`` and ``points`` per axis.  Monte Carlo:
        ``activation`` (a mean, not an integer), ``low``, ``high``, ``confidence``, ``standard_error``, ``samples``,
        ``distinct`` and ``seed``.
    seconds : float
    note : str
    decisions : dict of str to int
        How many decisions each stage took: ``float`` (units looked at by the float filter), ``exact`` (rational
        arithmetic).
    """

    domain: str
    method: str
    counts: dict[str, int]
    depth_profile: list[dict[str, Any]]
    pieces: int | None
    certified: bool
    undecided: int
    estimate: dict[str, Any] | None = None
    seconds: float = 0.0
    note: str = ""
    decisions: dict[str, int] = field(default_factory=dict)


def count(
    network: Network,
    domain: Any = None,
    definitions: Sequence[str] = ("activation",),
    method: str = "auto",
    max_pieces: int = MAX_PIECES,
    grid: int | None = None,
    exact: bool = False,
    samples: int | None = None,
    seed: int | None = None,
) -> CountResult:
    """Count the linear regions of a network on a domain.

    Parameters
    ----------
    network : Network
    domain : Interval, Box, Polygon, Line, Plane, Space, Slice, str or nested list, optional
        By default the network's own.  "all" is the whole line, plane or space; "slice:FILE" reads a slice from a file.
        Boxes have at most 16 dimensions; spaces may have more.
    definitions : sequence of str
        What to count: some of ``DEFINITIONS`` and, in one and two dimensions, "R1"; ``activation`` alone needs no
        memory for pieces.
    method : {"auto", "interval", "polygon", "conic", "polytope", "grid", "montecarlo"}
        In the plane "auto" takes polygons where scores are affine and conics where they are quadratic; "polygon"
        refuses quadratic scores, "conic" uses its pieces everywhere.  From three dimensions on it is "polytope", for
        affine scores.
    max_pieces : int
        The most pieces to keep for the other definitions.
    grid : int, optional
        With ``method="grid"``: points per axis (default 1,000 in the plane, 100,000 on the line).
    exact : bool
        Decide everything in rational arithmetic: slow, an oracle for the usual way.
    samples, seed : int, optional
        With ``method="montecarlo"``: descents (default 200) and the seed of their random numbers (default 0); see
        :func:`regioncount.montecarlo.estimate`.

    Raises
    ------
    InputError
        If an argument is not as said, or the network is not piecewise affine (softmax) and not sampled.
    NeedsConicEngine
        If a score is quadratic on a piece, with ``method="polygon"``, on the whole plane, and in three or more
        dimensions.
    TooManyPieces
        If a definition other than ``activation`` needs more than ``max_pieces`` pieces.

    Examples
    --------
    >>> import regioncount as rc
    >>> network = rc.from_layers([([[1], [-1]], [0, 0]), "relu", ([[1, -1]], [0])])
    >>> rc.count(network, "-1:1", definitions=rc.DEFINITIONS).counts
    {'activation': 2, 'cells': 2, 'linear': 1, 'linear_closed': 1, 'affine_maps': 1}
    """
    started = time.perf_counter()
    posed = _posed(network, domain)
    network, where = posed.network, posed.domain
    if isinstance(definitions, str) or not isinstance(definitions, Iterable):
        definitions = (definitions,)
    for name in definitions:
        _definition(name)
    engine = _engine(where, method)
    if grid is not None and engine != "grid":
        raise InputError(f"grid: expected with method 'grid' only, got {shown(grid)} with method {method!r}")
    if engine == "grid":
        from regioncount.grid import grid_estimate

        estimate = grid_estimate(network, where, grid)
        return CountResult(
            posed.name, engine, {}, [], None, False, 0, estimate, time.perf_counter() - started,
            "sampled patterns: an estimate, not a count",
        )  # fmt: skip
    for name, value in (("samples", samples), ("seed", seed)):
        if value is not None and engine != "montecarlo":
            raise InputError(
                f"{name}: expected with method 'montecarlo' only, got {shown(value)} with method {method!r}"
            )
    if engine == "montecarlo":
        return _montecarlo(posed, samples, seed, started)
    _max_pieces(max_pieces)
    if "R1" in definitions and where.dim > 2:
        raise InputError(f"definitions: R1 is counted in one and two dimensions, got {where.dim}")
    if not set(definitions) <= {"activation"}:
        return _subdivide(posed, engine, max_pieces, exact).result(definitions, started)
    posed = _essential(posed)
    lowered = lower(posed.network, posed.domain.dim > 1)
    outcome = _run(lowered, posed.domain, engine, False, None, exact)
    undecided = outcome.decisions.undecided
    return CountResult(
        posed.name, outcome.method, {"activation": _total(lowered, outcome)} if definitions else {},
        _profile(lowered, outcome, posed), outcome.n_pieces, undecided == 0, undecided, None,
        time.perf_counter() - started, decisions=_decisions(outcome),
    )  # fmt: skip


def _montecarlo(posed: _Posed, samples: int | None, seed: int | None, started: float) -> CountResult:
    from regioncount.montecarlo import DEFAULT_SAMPLES, estimate

    seed = 0 if seed is None else seed
    found = estimate(posed.network, posed.domain, DEFAULT_SAMPLES if samples is None else samples, seed)
    report = {
        "activation": found.regions, "low": found.low, "high": found.high, "confidence": found.confidence,
        "standard_error": found.standard_error, "samples": found.samples, "distinct": found.distinct, "seed": seed,
    }  # fmt: skip
    return CountResult(
        posed.name, "montecarlo", {}, [], None, False, 0, report, time.perf_counter() - started,
        "Monte-Carlo estimate, not a count",
    )  # fmt: skip


def subdivide(
    network: Network, domain: Any = None, method: str = "auto", max_pieces: int = MAX_PIECES, exact: bool = False
) -> Partition:
    """Subdivide a domain into the pieces on which the network is affine.

    Parameters and errors are those of :func:`count`; the grid makes no partition.

    Examples
    --------
    >>> import regioncount as rc
    >>> network = rc.from_layers([([[1, 0], [0, 1]], [0, 0]), "relu", ([[1, 1]], [0])])
    >>> partition = rc.subdivide(network, "-1:1,-1:1")
    >>> partition.n_pieces, partition.count("linear"), partition.certified
    (4, 4, True)
    """
    posed = _posed(network, domain)
    _max_pieces(max_pieces)
    if _engine(posed.domain, method) in ESTIMATES:
        which = "the grid" if method == "grid" else "Monte Carlo"
        raise InputError(
            f"method: {which} samples points and makes no partition; expected one of 'auto', "
            "'interval', 'polygon', 'conic', 'polytope'"
        )
    return _subdivide(posed, method, max_pieces, exact)


def _subdivide(posed: _Posed, method: str, max_pieces: int, exact: bool) -> Partition:
    lowered = lower(posed.network, posed.domain.dim > 1)
    outcome = _run(lowered, posed.domain, method, True, max_pieces, exact)
    make = {1: _line_partition, 2: _plane_partition}.get(posed.domain.dim, _space_partition)
    return make(posed, lowered, outcome)


class _Posed(NamedTuple):
    """What is subdivided; of a slice the network after the slice's affine map, on the domain of its parameters."""

    network: Network
    domain: Domain
    slice: Slice | None
    shift: int = 0  # layers before those of the network that was given

    @property
    def name(self) -> str:
        """The domain as it was given."""
        return str(self.slice or self.domain)


def _posed(network: Network, domain: Any) -> _Posed:
    if not isinstance(network, Network):
        raise InputError(f"network: expected a Network, got {shown(network)}")
    if domain is None:
        domain = network.domain
        if domain is None:
            raise InputError("domain: expected one, since the network has none of its own, got None")
    if isinstance(domain, str):
        from regioncount.files import read_domain

        where = read_domain(domain, network.input_dim)
    else:
        where = as_domain(domain, network.input_dim)
    if where.dim != network.input_dim:
        raise InputError(
            f"domain: expected dimension {network.input_dim} (input_dim), got {where} of dimension {where.dim}"
        )
    if not isinstance(where, Slice):
        return _Posed(network, where, None)
    return _Posed(Network(where.parameters, [cut_layer(where), *network.layers]), where.domain, where, 1)


def _essential(posed: _Posed) -> _Posed:
    """The same regions in as few dimensions as there are: a network on all of Rⁿ that depends on r < n linear functions
    of its input is cut along r coordinates, on which these are independent; every region is a product with the rest.
    """
    n = posed.domain.dim
    if not isinstance(posed.domain, Space):
        return posed
    rows = integers(lower(posed.network, True).blocks[0].weight)[0]
    kept = independent_columns(rows.tolist(), n) or [0]
    if len(kept) == n:
        return posed
    cut = Affine([[int(i == k) for k in kept] for i in range(n)], [0] * n)
    inner = Network(len(kept), [cut, *posed.network.layers])
    return posed._replace(network=inner, domain=as_domain("all", len(kept)), shift=posed.shift + 1)


def cut_layer(cut: Slice) -> Affine:
    """The map of a slice from its parameters to R^n, as a layer."""
    return Affine([list(row) for row in zip(*cut.directions, strict=True)], list(cut.origin))


def _definition(name: Any) -> str:
    if name not in COUNTABLE:
        raise InputError(f"definitions: expected one of {', '.join(COUNTABLE)}, got {shown(name)}")
    return str(name)


def _max_pieces(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"max_pieces: expected a positive integer, got {shown(value)}")


def _engine(domain: Domain, method: str) -> str:
    """The engine for a domain."""
    if method not in METHODS:
        raise InputError(f"method: expected one of {', '.join(METHODS)}, got {shown(method)}")
    if method in ESTIMATES:
        return method
    fitting = ("auto", *{1: ("interval",), 2: ("polygon", "conic")}.get(domain.dim, ("polytope",)))
    if method not in fitting:
        raise InputError(
            f"method: {method!r} does not take a domain of dimension {domain.dim}; expected one of "
            f"{', '.join(map(repr, fitting))}"
        )
    return method


def _run(
    lowered: Lowered, domain: Domain, method: str, emit: bool, max_pieces: int | None, exact: bool
) -> engines.Outcome:
    """Run the engine; in the plane "auto" means polygons as far as scores are affine, and conics from there on."""
    if isinstance(domain, Line):
        reach = line_reach(lowered)
        domain = Interval(-reach, reach)
    if isinstance(domain, Interval):
        return engines.interval_run(lowered, domain, emit, max_pieces, exact)
    if domain.dim > 2:
        assert isinstance(domain, (Box, Space))
        return polytopes.polytope_run(lowered, domain, emit, max_pieces, exact)
    assert isinstance(domain, (Box, Polygon, Plane))
    if isinstance(domain, Plane) and method == "conic":
        raise InputError("method: 'conic' takes bounded domains; expected 'auto' or 'polygon' for the whole plane")
    if method != "conic":
        try:
            return engines.polygon_run(lowered, domain, emit, max_pieces, exact)
        except NeedsConicEngine:
            if method == "polygon" or isinstance(domain, Plane):
                raise
    assert not isinstance(domain, Plane)
    return conics.conic_run(lowered, domain, emit, max_pieces, exact, everywhere=method == "conic")


def _decisions(outcome: engines.Outcome) -> dict[str, int]:
    return {"float": outcome.decisions.floats, "exact": outcome.decisions.exact}


def _total(lowered: Lowered, outcome: engines.Outcome) -> int:
    last = lowered.last_choice
    return 1 if last < 0 else int(outcome.patterns[last])


def _profile(lowered: Lowered, outcome: engines.Outcome, posed: _Posed) -> list[dict[str, Any]]:
    """Layers are numbered as in the network that was given, without the affine layer of a cut before it."""
    return [
        {
            "layer": block.layer - posed.shift,
            "type": lowered.network.layers[block.layer].type,
            "activation": int(outcome.patterns[index]),
        }
        for index, block in enumerate(lowered.blocks)
        if block.selects and not block.hidden
    ]


@dataclass(frozen=True, eq=False)
class Partition:
    """The pieces of a domain on which a network is affine, and how they touch.

    Attributes
    ----------
    network, domain
        What was subdivided; of a slice the network after the slice's affine map, and the domain of its parameters.
    slice : Slice, optional
        The slice, where it is one of R^n.
    dim : int
        Dimension of the domain.  From 3 on pieces are given by ``halfspaces``, and ``facets`` are not listed: those
        that ``cells`` and ``linear`` need are looked for when these are counted.
    patterns : ndarray of uint8 (n_pieces, n_columns)
        Activation patterns, columns as in ``Network.activation_pattern``.
    maps : ndarray (n_pieces, out, dim + 1)
        The affine map of each piece: slopes, then the constant; nearest floats.
    facets : ndarray of int (n_facets, 2)
        Pairs of pieces that share a border of positive length (in 1-D a breakpoint); −1 for the domain's boundary.
    facet_border : ndarray of int (n_facets,)
        Number of the split that made the border; −1 − k for edge k of the domain.
    facet_vertices : ndarray of int (n_facets, 2)
        In 2-D the vertices at its ends, as the first piece passes them counter-clockwise.
    vertices : ndarray (n_vertices, 2), offsets : ndarray of int (n_pieces + 1,), piece_vertices : ndarray of int
        In 2-D: piece p has the corners ``vertices[piece_vertices[offsets[p]:offsets[p + 1]]]``, counter-clockwise.  On
        the whole plane pieces that are not ``bounded`` are cut off by a square, ``frame``.
    breakpoints : ndarray (n_pieces + 1,)
        In 1-D: piece p is the interval from breakpoint p to breakpoint p + 1; on the whole line the outer ends are
        infinite.
    arcs : ndarray (n_arcs, 3), facet_arc : ndarray of int (n_facets,)
        Where cells of the plane are bounded by conics: facet f is straight where ``facet_arc[f]`` is −1, otherwise it
        leads from P to R, the vertices at its ends, as the rational quadratic Bezier curve with the row (X, Y, w) of
        ``arcs``, w ≥ 0, in the middle: p(t) = ((1−t)² P + 2t(1−t) (X, Y) + t² R) / ((1−t)² + 2t(1−t) w + t²).  Pieces
        may then have two corners, need not be convex, and some facets only cut a cell: the patterns on their two sides
        are equal.  Without conics both are empty.
    interior_points : ndarray (n_pieces, dim)
        Where cells are bounded by conics, and from 3 dimensions on, a point inside each piece; otherwise empty.
    depth_profile : list of dict
        As in :class:`CountResult`.
    undecided : int
        Decisions that no arithmetic settled; ``certified`` where there are none.
    decisions : dict of str to int
        As in :class:`CountResult`.
    recorded : dict of str to int, optional
        The counts that its file records, where it was read from one.
    """

    network: Network
    domain: Domain
    dim: int
    patterns: np.ndarray
    maps: np.ndarray
    facets: np.ndarray
    facet_border: np.ndarray
    depth_profile: list[dict[str, Any]]
    undecided: int
    facet_vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    offsets: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    piece_vertices: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    breakpoints: np.ndarray = field(default_factory=lambda: np.zeros(0))
    arcs: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    facet_arc: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    interior_points: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    decisions: dict[str, int] = field(default_factory=dict)
    recorded: dict[str, int] | None = None
    slice: Slice | None = None
    _source: Any = None

    @property
    def n_pieces(self) -> int:
        """Number of pieces."""
        return len(self.patterns)

    @cached_property
    def bounded(self) -> np.ndarray:
        """Which pieces are bounded, (n_pieces,) of bool: on a bounded domain all."""
        if self.dim > 2:
            return self._space.pieces.bounded
        bounded = np.ones(self.n_pieces, dtype=bool)
        if not self.domain.bounded:  # the pieces that reach the frame
            bounded[self.facets[self.facets[:, 1] < 0, 0]] = False
        bounded.setflags(write=False)
        return bounded

    @property
    def reach(self) -> float | None:
        """For the whole plane half the side of the square about the origin that ``vertices`` at infinity lie on; for
        the whole line the power of two S of an interval [−S, S] that has all breakpoints; otherwise None.
        """
        if isinstance(self.domain, Plane):
            return float(np.abs(self.vertices).max())
        return float(line_reach(lower(self.network))) if isinstance(self.domain, Line) else None

    @property
    def frame(self) -> Domain:
        """The bounded set that ``vertices`` fill: the domain; for the whole plane the square of half-side ``reach``,
        outside of which nothing changes: borders go on as rays; for the whole line the interval of this half-length.
        """
        reach = self.reach
        if reach is None:
            return self.domain
        return Interval(-reach, reach) if self.dim == 1 else Box([-reach, -reach], [reach, reach])

    @property
    def finite_breakpoints(self) -> np.ndarray:
        """In 1-D: the breakpoints, with −``reach`` and ``reach`` in place of infinite ones."""
        (low,), (high,) = self.frame.bounds
        return np.clip(self.breakpoints, low, high)

    @property
    def method(self) -> str:
        """The engine that makes such pieces: "interval", "polygon", "conic" or "polytope"."""
        if self.dim > 2:
            return "polytope"
        return "interval" if self.dim == 1 else "conic" if len(self.interior_points) else "polygon"

    @property
    def _space(self) -> _Source:
        """What is known of pieces in three or more dimensions."""
        if self._source is None:
            raise InputError("partition: one of three or more dimensions is not read from a file")
        return self._source

    @cached_property
    def halfspaces(self) -> tuple[np.ndarray, np.ndarray]:
        """From 3 dimensions on: half-spaces (n_halfspaces, dim + 1), a then c for a·x + c ≥ 0 with greatest |a_i| 1,
        and offsets (n_pieces + 1,): piece p is where those from offsets[p] to offsets[p + 1] hold, one for each facet.

        Raises
        ------
        InputError
            In fewer dimensions.
        """
        if self.dim < 3:
            raise InputError(f"halfspaces: expected a partition of dimension 3 or more, got dimension {self.dim}")
        return polytopes.halfspaces(self._space.pieces, self._space.judge)

    @property
    def certified(self) -> bool:
        """Whether every decision behind the pieces was settled."""
        return self.undecided == 0

    def count(self, definition: str = "linear") -> int:
        """The number of regions by a definition of ``DEFINITIONS``, or by "R1": activation patterns on the closed
        domain, those on points and segments included.
        """
        if _definition(definition) == "R1":
            return self._closed
        labels = self.labels(definition)
        return int(labels.max()) + 1 if len(labels) else 0

    def counts(self) -> dict[str, int]:
        """The number of regions by every definition of ``DEFINITIONS``."""
        return {name: self.count(name) for name in DEFINITIONS}

    def result(self, definitions: Sequence[str] = DEFINITIONS, started: float | None = None) -> CountResult:
        """What :func:`count` returns for these pieces; ``started`` is a reading of ``time.perf_counter``."""
        counts = {name: self.count(name) for name in definitions}
        seconds = 0.0 if started is None else time.perf_counter() - started
        return CountResult(
            str(self.slice or self.domain), self.method, counts, self.depth_profile, self.n_pieces, self.certified,
            self.undecided, None, seconds, decisions=self.decisions,
        )  # fmt: skip

    def labels(self, definition: str) -> np.ndarray:
        """The region of each piece by a definition, (n_pieces,), numbered from 0 in the order of first appearance.

        Raises
        ------
        InputError
            If the definition is unknown, or R1, which counts patterns and is no grouping of pieces.
        """
        if _definition(definition) == "R1":
            raise InputError("definition: R1 counts patterns, also those of points and segments: it labels no pieces")
        return self._labels[definition]

    @cached_property
    def _closed(self) -> int:
        if self.dim > 2:
            raise InputError(f"definitions: R1 is counted in one and two dimensions, got {self.dim}")
        if self.method == "conic":
            raise InputError("definitions: R1 is counted where borders are straight, got conics as borders")
        from regioncount.closed import closed_patterns

        return len(closed_patterns(self))

    @cached_property
    def _labels(self) -> _Labels:
        return _Labels(self)

    def decision_boundary(self) -> DecisionBoundary:
        """Where the greatest output changes: one segment for each piece and pair of outputs tied for greatest there.

        Jumps across borders of attention are listed apart; :mod:`regioncount.boundary` says what counts.  The number of
        segments, ``decision_boundary().count``, is exact.

        Raises
        ------
        InputError
            If the network has a single output.

        Examples
        --------
        >>> import regioncount as rc
        >>> network = rc.from_layers([([[1, 0], [0, 1]], [0, 0]), "abs"])
        >>> rc.subdivide(network, "-1:1,-1:1").decision_boundary().count
        4
        """
        return self._decision_boundary

    @cached_property
    def _decision_boundary(self) -> DecisionBoundary:
        if self.dim > 2:
            raise InputError(f"partition: the decision boundary is drawn in one and two dimensions, got {self.dim}")
        from regioncount.boundary import decision_boundary

        return decision_boundary(self)

    def check_invariants(self) -> None:
        """Check what must hold of every partition; a violation raises AssertionError that says what and where.

        Patterns and maps are compared with ``Network`` at an interior point of each piece; pieces must fill the
        domain, facets must cover each piece's boundary once, and in the plane vertices − facets + pieces must be 1.
        """
        from regioncount.invariants import check

        check(self)


class _Labels(dict):
    """Labels by definition, made on demand."""

    def __init__(self, partition: Partition) -> None:
        super().__init__()
        self.partition = partition

    def __missing__(self, name: str) -> np.ndarray:
        labels = self[name] = getattr(self, f"_{name}")()
        labels.setflags(write=False)
        return labels

    def _activation(self) -> np.ndarray:
        patterns, profile = self.partition.patterns, self.partition.depth_profile
        if self.partition._source is not None and profile and profile[-1]["activation"] == len(patterns):
            return np.arange(len(patterns))  # the engine found as many patterns as pieces
        rows = np.concatenate([patterns, np.zeros((len(patterns), 1), dtype=np.uint8)], axis=1)  # never empty
        keys = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
        return _first_seen(np.unique(keys, return_inverse=True)[1].ravel())

    def _cells(self) -> np.ndarray:
        n, facets = self.partition.n_pieces, self.partition.facets
        if self.partition.dim == 1:  # neighbours always differ in their pattern
            return np.arange(n)
        patterns = self["activation"]
        if int(patterns.max(initial=-1)) + 1 == n:
            return np.arange(n)
        if self.partition.dim > 2:
            return self._contacts.joined(patterns)
        inner = facets[facets[:, 1] >= 0]
        return _joined(n, inner[patterns[inner[:, 0]] == patterns[inner[:, 1]]])

    def _affine_maps(self) -> np.ndarray:
        partition, source = self.partition, self.partition._source
        if source is None:  # read from a file: nothing but the patterns is believed
            composer = Composer(lower(partition.network), [Fraction(0)] * partition.dim, [Fraction(1)] * partition.dim)
            seen: dict[Any, int] = {}
            return np.array([seen.setdefault(_exact_output(composer, row), len(seen)) for row in partition.patterns])
        pieces = source.pieces
        cheap = pieces.states >= 0 if partition.dim == 1 else np.zeros(len(pieces.patterns), dtype=bool)
        labels, _ = map_classes(source.lowered, source.exact_map, pieces.patterns, pieces.maps, pieces.errors, cheap)
        return labels

    @property
    def _contacts(self) -> polytopes.Contacts:
        return polytopes.Contacts(self.partition._space.pieces, self.partition._space.judge)

    def _linear(self) -> np.ndarray:
        maps, facets = self["affine_maps"], self.partition.facets
        if self.partition.dim > 2:
            return self._contacts.joined(maps)
        inner = facets[facets[:, 1] >= 0]
        return _joined(self.partition.n_pieces, inner[maps[inner[:, 0]] == maps[inner[:, 1]]])

    def _linear_closed(self) -> np.ndarray:
        linear, maps = self["linear"], self["affine_maps"]
        if self.partition.dim == 1:
            return linear
        if self.partition.dim > 2:
            return self._contacts.touching(maps, linear)
        # closed pieces meet in a point exactly if it is an end of a facet of both: facets end at corners and at
        # T-junctions,
        # and vertices that are equal are one vertex
        partition = self.partition
        piece = partition.facets[:, [0, 0, 1, 1]].ravel()
        vertex = partition.facet_vertices[:, [0, 1, 0, 1]].ravel()
        piece, vertex = piece[piece >= 0], vertex[piece >= 0]
        key = maps[piece] * len(partition.vertices) + vertex
        order = np.argsort(key, kind="stable")
        together = np.flatnonzero(np.diff(key[order]) == 0)
        pairs = np.stack([linear[piece[order][together]], linear[piece[order][together + 1]]], axis=1)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        return _first_seen(_joined(int(linear.max()) + 1, pairs)[linear])


def _joined(n: int, pairs: np.ndarray) -> np.ndarray:
    """Connected components, numbered in the order of first appearance."""
    if not len(pairs):
        return np.arange(n)
    graph = coo_array((np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return _first_seen(connected_components(graph, directed=False)[1])


def _first_seen(labels: np.ndarray) -> np.ndarray:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse.ravel()]


@dataclass
class _Source:
    """What exact questions about a partition need; the patterns of ``pieces`` have hidden columns where ``lowered``
    has.
    """

    lowered: Lowered
    judge: Any
    pieces: Any
    outline: Any = None

    def exact_map(self, piece: int) -> Hashable:
        """The exact output map of a piece; equal where maps are equal."""
        if isinstance(self.judge, engines.LineJudge):
            found = self.judge.output_map(int(self.pieces.states[piece]), self.pieces.marks[piece])
            if found is not None:
                return found
        return _exact_output(self.judge.composer, self.pieces.patterns[piece])


def _exact_output(composer: Composer, pattern: np.ndarray) -> Hashable:
    """The exact output map on the cell of a pattern; equal where maps are equal."""
    numerators, denominator = composer.output(pattern)
    return denominator, *numerators.ravel().tolist()


def _line_partition(posed: _Posed, lowered: Lowered, outcome: engines.Outcome) -> Partition:
    pieces: engines.LinePieces = outcome.pieces
    (low,), (high,) = posed.domain.bounds
    inside = np.clip(outcome.window.outward(_in_order(pieces, outcome.judge)[:, None])[:, 0], low, high)
    breakpoints = np.concatenate([[low], inside, [high]])
    n = len(pieces.patterns)
    facets = np.stack([np.arange(n + 1) - 1, np.arange(n + 1)], axis=1)
    facets[0] = [0, -1]
    facets[n] = [n - 1, -1]
    border = np.arange(n + 1)
    border[[0, n]] = [-1, -2]
    return Partition(
        posed.network, posed.domain, 1, pieces.patterns, outcome.window.outward_maps(pieces.maps), facets, border,
        _profile(lowered, outcome, posed), outcome.decisions.undecided, breakpoints=breakpoints,
        decisions=_decisions(outcome), slice=posed.slice, _source=_Source(lowered, outcome.judge, pieces),
    )  # fmt: skip


def _in_order(pieces: engines.LinePieces, judge: engines.LineJudge) -> np.ndarray:
    """The left ends of all pieces but the first, never falling: where floats leave their order open, from exact
    ones.
    """
    at, radius = pieces.ends[:, 0].T
    close = np.diff(at) <= radius[1:] + radius[:-1]
    rough = radius > adjacency.ROUGH
    rough[1:] |= close
    rough[:-1] |= close
    at = at.copy()
    for piece in np.flatnonzero(rough):
        at[piece] = nearest_float(judge.end(pieces.tags[piece, 0], pieces.patterns[piece]))
    return np.maximum.accumulate(at)[1:]


def _plane_partition(posed: _Posed, lowered: Lowered, outcome: engines.Outcome) -> Partition:
    pieces, judge, window = outcome.pieces, outcome.judge, outcome.window
    if isinstance(posed.domain, Plane):
        pieces, judge, window = plane.realised(pieces, judge, window)
    patterns = np.ascontiguousarray(pieces.patterns[:, lowered.visible]) if lowered.has_hidden else pieces.patterns
    outline: Any
    curved: dict[str, Any] = {}
    if outcome.method == "conic":
        outline = contacts.MixedOutline(pieces, judge)
        facets, edges = contacts.find_facets(outline)
        ends = facets.vertices[facets.ends]
        arcs, facet_arc = contacts.arcs_of(outline, window, edges, ends[:, 0], ends[:, 1])
        curved = {"arcs": arcs, "facet_arc": facet_arc, "interior_points": contacts.interior(outline, window)}
    else:
        outline = adjacency.Outline(pieces, judge)
        facets = adjacency.find_facets(outline)
    return Partition(
        posed.network, posed.domain, 2, patterns, window.outward_maps(pieces.maps), facets.pieces, facets.border,
        _profile(lowered, outcome, posed), outcome.decisions.undecided, facets.ends, window.outward(facets.vertices),
        outline.offsets, facets.corner_vertex, decisions=_decisions(outcome), slice=posed.slice,
        _source=_Source(lowered, judge, pieces, outline), **curved,
    )  # fmt: skip


def _space_partition(posed: _Posed, lowered: Lowered, outcome: engines.Outcome) -> Partition:
    pieces: polytopes.SpacePieces = outcome.pieces
    points, _ = polytopes.interior_points(pieces, outcome.judge)
    none = np.zeros((0, 2), dtype=np.int64)
    return Partition(
        posed.network, posed.domain, posed.domain.dim, np.ascontiguousarray(pieces.patterns[:, lowered.visible]),
        outcome.window.outward_maps(pieces.maps), none, none[:, 0], _profile(lowered, outcome, posed),
        outcome.decisions.undecided, interior_points=points, decisions=_decisions(outcome),
        _source=_Source(lowered, outcome.judge, pieces),
    )  # fmt: skip
