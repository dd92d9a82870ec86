"""Monte-Carlo estimates of the number of activation regions (R2), where there are too many to enumerate.

Choices unit by unit make a tree whose leaves are the regions: a node is a cell, and a unit that several candidates win
on it branches.  A random descent that goes to a child of probability p > 0 has the weight ∏ 1/p at its leaf, an
unbiased estimate of the number of leaves, whatever the probabilities (D. E. Knuth, Estimating the efficiency of
backtrack programs, Math. Comp. 29 (1975) 121-136).  So units may be taken in any order, and probabilities may depend on
random points: here they follow the square root of a guess of the leaves below a child, Zaslavsky's Σ_{j≤n} C(k, j) for
the k units that points of the child see on both sides, mixed with equal ones.  (All descents of six trees of about 500
leaves: weights have a relative deviation of 0.6 to 2.0; 0.8 to 1.8 without the root, 0.8 to 3.1 with equal ones.)

Weights are skewed: a random region of 60 hyperplanes in R^8 is met by a descent of some 30 times the mean weight.  So
descents go down in populations, resampled where their weights become unequal, which leaves expectations as they are.

A cell is its inequalities, with points that walk through it (hit and run).  A candidate that wins at a point, strictly,
wins on a part of the cell; whether one without points does is a linear program (greatest slack, HiGHS).  In float64:
cells thinner than about 1e-10 of the domain may be missed, and no result is certified.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from regioncount.domain import Box, Domain, Interval, Line, Plane, Space, as_domain
from regioncount.errors import InputError, shown
from regioncount.lowering import BIT, PASS, Block, Lowered, Unit, flatten, lower
from regioncount.network import Network

Floats: TypeAlias = NDArray[np.float64]
Pick: TypeAlias = Callable[[Floats], int]

POINTS = 48  # that walk through a cell
STEPS = 2  # of the walk after each choice
END = 1e-3  # how near to its ends a chord is looked at
EQUAL = 0.1  # share of equal probabilities in the mixture: it bounds the weight of a child that the points hardly see
POPULATIONS = 10  # at least: their estimates are independent, and the interval is made from them
MOST = 50  # descents of a population
RESAMPLE = 0.2  # of a population: where Σw² is so unequal that this share of it, of one weight, would do as well
SLACK = 1e-10  # least distance of a point to a border, in parts of the domain
ROUNDING = 1e-12  # slopes below this part of what was added up are zero
DEFAULT_SAMPLES = 200


@dataclass(frozen=True)
class Estimate:
    """A Monte-Carlo estimate of a number of regions, which is no count.

    Attributes
    ----------
    regions : float
        The mean weight of the descents; its expectation is the number of regions.  Descents go down together in
        populations (:meth:`Tree.population`), which are independent of each other.
    low, high : float
        Interval of the given confidence, from the sample and corrected for its skewness (:func:`interval`); at least
        the distinct regions seen.  It holds the truth less often than it says where few descents carry the mean: see
        the table in docs/numerics.md.
    confidence : float
    standard_error : float
        Of ``regions``, from the sample.
    samples : int
        Descents made.
    distinct : int
        Different regions among their leaves.
    seconds : float
    definition : str
        Always "activation".
    """

    regions: float
    low: float
    high: float
    confidence: float
    standard_error: float
    samples: int
    distinct: int
    seconds: float
    definition: str = "activation"


def estimate(
    network: Network,
    domain: Any = None,
    samples: int = DEFAULT_SAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
    seconds: float | None = None,
) -> Estimate:
    """Estimate the number of activation regions of a network, with a confidence interval.

    Parameters
    ----------
    network : Network
        With scores that are affine on cells: ReLU, leaky ReLU, abs, maxout, attention whose queries or whose keys do
        not depend on the input.
    domain : Interval, Box, whole space, str or nested list, optional
        By default the network's own.
    samples : int
        Random descents, at least 2; in ten populations, or more of 50.
    seed : int
        Equal seeds give equal estimates (with equal numbers of descents).
    confidence : float
        Between 0 and 1.
    seconds : float, optional
        Stop after so much time, with at least two populations; the estimate then depends on the machine.

    Raises
    ------
    InputError
        If an argument is not as said, or a score is quadratic.

    Examples
    --------
    >>> import regioncount as rc
    >>> network = rc.from_layers([([[1, 0, 0], [0, 1, 0], [0, 0, 1]],), "relu"])
    >>> found = estimate(network, "-1:1,-1:1,-1:1", samples=10)
    >>> found.regions, found.definition
    (8.0, 'activation')
    """
    started = time.perf_counter()
    if not isinstance(network, Network):
        raise InputError(f"network: expected a Network, got {shown(network)}")
    domain = network.domain if domain is None else domain
    if domain is None:
        raise InputError("domain: expected one, since the network has none of its own, got None")
    where = as_domain(domain, network.input_dim)
    if where.dim != network.input_dim:
        raise InputError(f"domain: expected dimension {network.input_dim} like the network, got {where.dim}")
    _check(samples, seed, confidence, seconds)
    tree = Tree(network, where)
    logs: list[float] = []
    leaves: set[bytes] = set()
    size, made = min(MOST, max(1, samples // POPULATIONS)), 0
    while made < samples:
        some = min(size, samples - made)
        log, patterns = tree.population(np.random.default_rng([seed, len(logs)]), some)
        logs.append(log)
        leaves |= patterns
        made += some
        if seconds is not None and len(logs) >= 2 and time.perf_counter() - started > seconds:
            break
    top = max(logs)
    if top > 700:
        raise InputError("network: the number of regions is beyond float64 (1e304)")
    weights, unit = np.exp(np.array(logs) - top), math.exp(top)
    low, high = interval(weights, confidence)
    distinct = len(leaves)
    return Estimate(
        float(weights.mean()) * unit, max(low * unit, float(distinct)), max(high * unit, float(distinct)), confidence,
        float(weights.std(ddof=1)) / math.sqrt(len(logs)) * unit, made, distinct, time.perf_counter() - started,
    )  # fmt: skip


def _check(samples: Any, seed: Any, confidence: Any, seconds: Any) -> None:
    for name, value, least in (("samples", samples, 2), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(f"{name}: expected an integer of at least {least}, got {shown(value)}")
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise InputError(f"confidence: expected a number between 0 and 1, got {shown(confidence)}")
    if seconds is not None and (
        isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0
    ):
        raise InputError(f"seconds: expected a positive number or None, got {shown(seconds)}")


def interval(weights: Floats, confidence: float) -> tuple[float, float]:
    """Interval of the mean of the distribution of positive, skewed weights.

    Student's t after the transformation that removes the skewness of the mean's own distribution (P. Hall, On the
    removal of skewness by transformation, J. R. Stat. Soc. B 54 (1992) 221-228): with T = (mean - μ)/s and a the
    sample's skewness over √N, T + a T²/3 + a² T³/27 + a/6 is closer to normal than T is.
    """
    from scipy.special import stdtrit

    n, mean, deviation = len(weights), float(weights.mean()), float(weights.std())
    if deviation <= 1e-12 * mean:
        return mean, mean
    a = float(((weights - mean) ** 3).mean()) / deviation**3 / math.sqrt(n)
    t = float(stdtrit(n - 1, (1 + confidence) / 2))
    error = deviation / math.sqrt(n - 1)
    most, least = (t, -t) if abs(a) < 1e-9 else (3 / a * (np.cbrt(1 + a * (x - a / 6)) - 1) for x in (t, -t))
    return float(mean - error * most), float(mean - error * least)


class Tree:
    """The choices of a network on a domain, unit by unit; see the module header.

    Coordinates are ξ with x = centre + scale·ξ: the box is [−1, 1]^n, and on the whole space the hyperplanes of the
    first units are at a distance of about 1.
    """

    def __init__(self, network: Network, domain: Domain) -> None:
        self.lowered = lower(network)
        if not flatten(self.lowered).units[:, 5].all():
            raise InputError(
                "network: expected scores that are affine on cells (queries or keys that do not depend on the input), "
                "got attention with quadratic scores"
            )
        self.n = network.input_dim
        if not isinstance(domain, (Interval, Box, Line, Plane, Space)):
            raise InputError(f"domain: expected an interval, a box or the whole space for an estimate, got {domain}")
        self.bounded = domain.bounded
        centre, scale = np.zeros(self.n), np.ones(self.n)
        if self.bounded:
            low, high = map(np.array, _sides(domain))
            centre, scale = (low + high) / 2, (high - low) / 2
        self.start = np.vstack([np.diag(scale), centre])
        if not self.bounded:
            self.start[:-1] *= _distance(self.lowered, self.start)
        self.last = self.lowered.last_choice

    def descend(self, rng: np.random.Generator, pick: Pick | None = None) -> tuple[float, bytes]:
        """Go down to a leaf: log of its weight, and its pattern.

        ``pick`` chooses a child from the probabilities of all; by default ``rng`` draws it.
        """
        descent = Descent(self, rng, pick)
        while descent.step():
            pass
        return descent.log, descent.pattern.tobytes()

    def population(self, rng: np.random.Generator, size: int) -> tuple[float, set[bytes]]:
        """Log of the mean weight of ``size`` descents that go down together, and the patterns of their leaves.

        Where few of them carry the sum of the weights they are resampled: of a descent of weight w a number of copies
        goes on whose expectation is w over the mean weight, each with the mean weight.  That changes no expectation
        (P. Del Moral, Feynman-Kac Formulae, Springer 2004; "go with the winners").
        """
        descents = [Descent(self, rng) for _ in range(size)]
        while any([descent.step() for descent in descents]):
            logs = np.array([descent.log for descent in descents])
            weights = np.exp(logs - logs.max())
            if weights.sum() ** 2 < RESAMPLE * size * (weights**2).sum():
                places = (np.arange(size) + rng.random()) / size
                chosen = np.minimum(np.searchsorted(np.cumsum(weights / weights.sum()), places), size - 1)
                mean = float(logs.max()) + math.log(weights.mean())
                first = np.r_[True, chosen[1:] != chosen[:-1]]
                descents = [
                    descents[i] if new else descents[i].copy() for i, new in zip(chosen, first, strict=True)
                ]
                for descent in descents:
                    descent.log = mean
        logs = np.array([descent.log for descent in descents])
        leaves = {descent.pattern.tobytes() for descent in descents}
        return float(logs.max()) + math.log(np.exp(logs - logs.max()).mean()), leaves


class Descent:
    """A way down a tree, which halts after each draw."""

    def __init__(self, tree: Tree, rng: np.random.Generator, pick: Pick | None = None) -> None:
        self.tree, self.rng, self.pick = tree, rng, pick
        self.log = 0.0
        self.cell = _Cell(tree.n, tree.bounded, rng)
        self.pattern = np.zeros(tree.lowered.columns, dtype=np.uint8)
        self.block = -1
        self.map, self.size = tree.start, np.abs(tree.start)
        self.choice: _Choice | None = None

    def copy(self) -> Descent:
        """One that goes on by itself."""
        other = copy(self)
        other.pattern, other.cell = self.pattern.copy(), copy(self.cell)
        other.choice = None if self.choice is None else self.choice.copy(other.cell)
        return other

    def step(self) -> bool:
        """Go down to the next child that is drawn; False at a leaf."""
        while True:
            if self.choice is not None:
                probabilities = self.choice.next()
                if probabilities is not None:
                    child = self._draw(probabilities)
                    self.log -= math.log(probabilities[child])
                    self.choice.take(child)
                    return True
                self._close()
            if self.block == self.tree.last:
                return False
            self._enter()

    def _draw(self, probabilities: Floats) -> int:
        if self.pick is not None:
            return self.pick(probabilities)
        place = int(np.searchsorted(np.cumsum(probabilities), self.rng.random(), "right"))
        return min(place, len(probabilities) - 1)

    def _enter(self) -> None:
        """Begin the next block."""
        self.block += 1
        block = self.tree.lowered.blocks[self.block]
        self.map, self.size = _affine(block, self.map, self.size)
        units = [_scores(unit, self.map, self.size) for unit in block.units if unit.kind != PASS]
        self.choice = _Choice(self.cell, units)

    def _close(self) -> None:
        """All units of the block are decided: note the pattern, and go on to its state."""
        assert self.choice is not None
        block = self.tree.lowered.blocks[self.block]
        choosing = [unit for unit in block.units if unit.kind != PASS]
        for unit, won in zip(choosing, self.choice.winners, strict=True):
            if unit.kind == BIT:
                self.pattern[unit.columns[0]] = won[0]
            else:
                self.pattern[[unit.columns[c] for c in won]] = 1
        self.choice = None
        if self.block < self.tree.last:
            self.map, self.size = _select(block, self.map, self.size, self.pattern)


def _sides(domain: Domain) -> tuple[tuple[float, ...], tuple[float, ...]]:
    low, high = domain.bounds
    if not all(a < b for a, b in zip(low, high, strict=True)):
        raise InputError(f"domain: expected sides that float64 can tell apart, got {domain}")
    return low, high


def _distance(lowered: Lowered, start: Floats) -> float:
    """A typical distance from the origin of where the first units change, 1 where there is none."""
    pre, _ = _affine(lowered.blocks[0], start, np.abs(start))
    norms, offsets = np.linalg.norm(pre[:-1], axis=0), np.abs(pre[-1])
    distances = offsets[(norms > 0) & (offsets > 0)] / norms[(norms > 0) & (offsets > 0)]
    return float(np.median(distances)) if len(distances) else 1.0


def _affine(block: Block, state: Floats, size: Floats) -> tuple[Floats, Floats]:
    """The map of ``pre``, (n + 1, n_pre), and sums of absolute values that its rounding is a small part of."""
    weight, bias = block.weight.view, block.bias.view
    parts = [part @ weight.T for part in np.split(state, block.repeat, axis=1)]
    sizes = [part @ np.abs(weight).T for part in np.split(size, block.repeat, axis=1)]
    for part, bound in zip(parts, sizes, strict=True):
        part[-1] += bias
        bound[-1] += np.abs(bias)
    return np.concatenate(parts, axis=1), np.concatenate(sizes, axis=1)


def _scores(unit: Unit, pre: Floats, size: Floats) -> tuple[Floats, Floats]:
    """The scores of a unit's candidates, (K, n + 1), with the sizes that bound their rounding; a bit has off and on."""
    if unit.kind == BIT:
        v = unit.values[0]
        return np.stack([np.zeros(len(pre)), pre[:, v]]), np.stack([np.zeros(len(pre)), size[:, v]])
    forms, sizes = [], []
    for q, k, r in unit.scores:
        if r == 0:
            forms.append(pre[:, k])
            sizes.append(size[:, k])
            continue
        query, key = slice(q, q + r), slice(k, k + r)
        if pre[:-1, query].any():  # then the keys are constant
            query, key = key, query
        forms.append(pre[:, key] @ pre[-1, query])
        sizes.append(size[:, key] @ size[-1, query])
    return np.array(forms), np.array(sizes)


def _select(block: Block, pre: Floats, size: Floats, pattern: NDArray[np.uint8]) -> tuple[Floats, Floats]:
    """The next state, from the choices in the pattern."""
    state, bound = np.zeros((len(pre), block.n_out)), np.zeros((len(pre), block.n_out))
    for unit in block.units:
        out = slice(unit.out, unit.out + unit.n_values)
        if unit.kind == PASS:
            shares = [(unit.values[0], 1.0)]
        elif unit.kind == BIT:
            shares = [(unit.values[0], 1.0 if pattern[unit.columns[0]] else float(unit.slope))]
        else:
            won = [v for v, column in zip(unit.values, unit.columns, strict=True) if pattern[column]]
            shares = [(v, 1 / len(won)) for v in won]
        for v, share in shares:
            state[:, out] += share * pre[:, v : v + unit.n_values]
            bound[:, out] += abs(share) * size[:, v : v + unit.n_values]
    return state, bound


class _Cell:
    """An open convex set with points in it; rows (a, c) with |a| = 1 mean a·ξ + c > 0."""

    def __init__(self, n: int, bounded: bool, rng: np.random.Generator) -> None:
        self.rng, self.n = rng, n
        sides = np.vstack([np.eye(n), -np.eye(n)]) if bounded else np.zeros((0, n))
        self.rows = np.hstack([sides, np.ones((len(sides), 1))])
        self.ends = np.zeros((0, n))  # more points, near the ends of chords: these see more units on both sides
        # on the whole space points are spread like Cauchy variables, so that far cells are seen
        self.points = rng.uniform(-1, 1, (POINTS, n)) if bounded else rng.standard_cauchy((POINTS, n))

    def cut(self, rows: Floats, inside: NDArray[np.bool_]) -> None:
        """Keep the part where the rows are positive too, with the points inside it, and walk on."""
        self.rows = np.vstack([self.rows, rows])
        points = np.vstack([self.points, self.ends])[inside]
        self.points = points[self.rng.integers(len(points), size=POINTS)] if len(points) < POINTS else points[:POINTS]
        for _ in range(STEPS):
            self.walk()

    def places(self) -> tuple[Floats, Floats]:
        """All points with a 1 behind, and for each the least value of a unit row that counts as positive."""
        points = np.vstack([self.points, self.ends])
        return np.hstack([points, np.ones((len(points), 1))]), SLACK * (1 + np.abs(points).max(axis=1))

    def walk(self) -> None:
        """One step of hit and run from each point: to a random place on the chord in a random direction."""
        a, c = self.rows[:, :-1], self.rows[:, -1]
        direction = self.rng.standard_normal(self.points.shape)
        direction /= np.linalg.norm(direction, axis=1)[:, None]
        toward = direction @ a.T
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = -(self.points @ a.T + c) / toward
        low = np.where(toward > 0, ends, -np.inf).max(axis=1, initial=-np.inf)
        high = np.where(toward < 0, ends, np.inf).min(axis=1, initial=np.inf)
        # Cauchy along the chord: uniform in the angle, which also does for chords without ends
        spread = np.minimum(high - low, 1 + np.linalg.norm(self.points, axis=1))
        first, last = np.arctan(low / spread), np.arctan(high / spread)
        near = np.full(len(first), END)
        parts = np.stack([0.02 + 0.96 * self.rng.random(len(first)), near, 1 - near])
        moved = self.points + (spread * np.tan(first + (last - first) * parts))[..., None] * direction
        good = np.isfinite(moved).all(axis=2)
        least = SLACK * (1 + np.abs(moved[good]).max(axis=1, initial=0.0))
        good[good] = (moved[good] @ a.T + c > least[:, None]).all(axis=1)
        self.ends = moved[1:][good[1:]]
        self.points[good[0]] = moved[0, good[0]]

    def find(self, rows: Floats) -> Floats | None:
        """A point of the cell where the rows (of unit norm) are positive too, or None: a linear program."""
        from scipy.optimize import linprog

        n = self.n
        together = np.vstack([self.rows, rows])
        table = np.hstack([-together[:, :-1], np.ones((len(together), 1))])
        objective = np.zeros(n + 1)
        objective[-1] = -1.0
        bounds = [(None, None)] * n + [(None, 1.0)]
        answer = linprog(objective, A_ub=table, b_ub=together[:, -1], bounds=bounds, method="highs")
        if answer.x is None:
            return None
        point = answer.x[:-1]
        slack = (together[:, :-1] @ point + together[:, -1]).min()
        return point if slack > SLACK * (1 + np.abs(point).max()) else None


class _Choice:
    """The choices of one block on a cell, which shrinks with them; units as ``_scores`` gives them."""

    def __init__(self, cell: _Cell, units: list[tuple[Floats, Floats]]) -> None:
        self.cell = cell
        self.groups: list[list[list[int]]] = []  # of each unit: candidates that are one function
        self.over: list[Floats] = []  # of each unit (G, G, n + 1): a unit row positive where group i is over group j
        for forms, sizes in units:
            groups = _groups(forms, sizes)
            first = [group[0] for group in groups]
            self.groups.append(groups)
            self.over.append(_differences(forms[first], sizes[first]))
        self.won = [0] * len(units)
        self.open = [u for u, groups in enumerate(self.groups) if len(groups) > 1]
        # groups that may win somewhere: not below another by a constant all over
        self.alive = [[i for i, rows in enumerate(over) if not _hopeless(rows)] for over in self.over]

        self.drawn: tuple[int, list[int], list[Floats], list[NDArray[np.bool_]]] | None = None

    def copy(self, cell: _Cell) -> _Choice:
        """The same choice on a copy of its cell."""
        other = copy(self)
        other.cell, other.won, other.open = cell, list(self.won), list(self.open)
        other.alive = [list(groups) for groups in self.alive]
        return other

    @property
    def winners(self) -> list[list[int]]:
        """The winning candidates of each decided unit; of a bit [0] or [1], or both where z is 0 all over."""
        return [groups[won] for groups, won in zip(self.groups, self.won, strict=True)]

    def next(self) -> Floats | None:
        """The probabilities of the children at the next unit that branches; None where no unit is left."""
        found = self._next() if self.open else None
        return None if found is None else self._children(*found)

    def take(self, child: int) -> None:
        """Go to a child."""
        assert self.drawn is not None
        unit, winners, regions, inside = self.drawn
        self.won[unit] = winners[child]
        self.cell.cut(regions[child], inside[child])

    def _tops(self) -> NDArray[np.int64]:
        """The group that is greatest at each point, (open units, points); −1 where none is by the least slack."""
        points, least = self.cell.places()
        tops = np.full((len(self.open), len(points)), -1, dtype=np.int64)
        bits = [place for place, u in enumerate(self.open) if len(self.groups[u]) == 2]
        if bits:
            z = np.array([self.over[self.open[place]][1, 0] for place in bits]) @ points.T
            tops[bits] = np.where(np.abs(z) > least, z > 0, -1)
        for place, u in enumerate(self.open):
            if len(self.groups[u]) > 2:
                for group in self.alive[u]:
                    tops[place, (self._rows(u, group) @ points.T > least).all(axis=0)] = group
        return tops

    def _rows(self, unit: int, group: int) -> Floats:
        """Unit rows that are positive where a group wins."""
        rows: Floats = self.over[unit][group, [g for g in self.alive[unit] if g != group]]
        return rows[rows[:, :-1].any(axis=1)]

    def _next(self) -> tuple[int, list[int]] | None:
        """A unit that several groups win, and these; units that are found decided are closed on the way.

        First those that the points see on both sides, most evenly: this costs no linear program.
        """
        tops = self._tops()
        counts = np.array([(tops == group).sum(axis=1) for group in range(max(len(self.groups[u]) for u in self.open))])
        uneven = counts.max(axis=0) - counts.sum(axis=0)
        units = list(self.open)
        for place in np.argsort(uneven, kind="stable"):
            unit = units[place]
            winners = self._winners(unit, tops[place])
            if len(winners) > 1:
                self.open.remove(unit)
                return unit, winners
            self.won[unit] = winners[0] if winners else self.alive[unit][0]
            self.open.remove(unit)
        return None

    def _winners(self, unit: int, top: NDArray[np.int64]) -> list[int]:
        """The groups that win somewhere in the cell: those seen at points, and those a linear program finds."""
        seen = set(top[top >= 0].tolist())
        for group in list(self.alive[unit]):
            if group in seen:
                continue
            point = self.cell.find(self._rows(unit, group)) if len(self.alive[unit]) > 1 else self.cell.points[0]
            if point is None:
                self.alive[unit].remove(group)
            else:
                seen.add(group)
                self.cell.ends = np.vstack([self.cell.ends, point])
        return sorted(seen)

    def _children(self, unit: int, winners: list[int]) -> Floats:
        points, least = self.cell.places()
        regions = [self._rows(unit, group) for group in winners]
        inside: list[NDArray[np.bool_]] = [np.all(rows @ points.T > least, axis=0) for rows in regions]
        tops = self._tops()
        weights = np.sqrt([self._guess(tops[:, mask]) for mask in inside])
        self.drawn = unit, winners, regions, inside
        probabilities: Floats = EQUAL / len(winners) + (1 - EQUAL) * weights / weights.sum()
        return probabilities

    def _guess(self, tops: NDArray[np.int64]) -> float:
        """A guess of the number of leaves below a child, from what wins at its points."""
        if not len(tops):
            return 1.0
        k = int((tops.min(axis=1) != tops.max(axis=1)).sum())
        return float(sum(math.comb(k, j) for j in range(min(self.cell.n, k) + 1)))


def _groups(forms: Floats, sizes: Floats) -> list[list[int]]:
    """Candidates that are one function up to rounding."""
    groups: list[list[int]] = []
    for c in range(len(forms)):
        for group in groups:
            if (np.abs(forms[c] - forms[group[0]]) <= ROUNDING * (sizes[c] + sizes[group[0]])).all():
                group.append(c)
                break
        else:
            groups.append([c])
    return groups


def _differences(forms: Floats, sizes: Floats) -> Floats:
    """Differences of forms, (G, G, n + 1), of unit slope, or constants 1 and −1 where only rounding has slopes."""
    rows = forms[:, None] - forms[None]
    slopes = rows[..., :-1]
    slopes[np.abs(slopes) <= ROUNDING * (sizes[:, None] + sizes[None])[..., :-1]] = 0.0
    norms = np.linalg.norm(slopes, axis=-1)
    rows[norms == 0, -1] = np.sign(rows[norms == 0, -1])
    result: Floats = rows / np.where(norms > 0, norms, 1.0)[..., None]
    return result


def _hopeless(rows: Floats) -> bool:
    """Whether a group is below another one by a constant."""
    return bool((~rows[:, :-1].any(axis=1) & (rows[:, -1] < 0)).any())
