"""The grid engine: activation patterns at the cell centres of a regular grid, an estimate and never a count.

A component is a set of samples of one pattern, joined through the four neighbours of a cell.  Samples miss small
regions, and a grid breaks thin ones into components and joins others, at every resolution.

A centre that lies on a border, where a choice ties as it does on no piece, has a pattern that belongs to no region;
networks with symmetries put whole diagonals of centres there.  It moves to another place in its cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regioncount.domain import Box, Interval, Polygon, as_domain
from regioncount.errors import InputError, shown
from regioncount.evaluation import patterns_and_borders
from regioncount.network import Network

DEFAULT_POINTS = {1: 100_000, 2: 1_000}  # per axis
_Domain = Interval | Box | Polygon
MOST_POINTS = 100_000_000
BAND_BYTES = 2**24
# where to look for a place off the borders, in parts of a cell: of no common direction
MOVES = ((0.1371, 0.2213), (-0.2897, 0.0731), (0.0517, -0.3319), (-0.1933, -0.1117))


def grid_estimate(network: Network, domain: Any, points_per_axis: int | None = None) -> dict[str, Any]:
    """Sample the activation patterns of a network on a regular grid.

    Parameters
    ----------
    network : Network
        Of one or two inputs; softmax layers are sampled by their largest weights.
    domain : Interval, Box, Polygon, str or nested list
        The grid is that of its bounding box; of a polygon only the samples inside count.
    points_per_axis : int, optional
        By default 100,000 on the line and 1,000 in the plane; at most 10^8 samples in all.

    Returns
    -------
    dict
        ``activation``: the number of distinct patterns found; ``components``: of samples of one pattern joined
        through neighbours; ``points``: the points on each axis.

    Raises
    ------
    InputError
        If an argument is not as said.

    Examples
    --------
    >>> from regioncount.network import from_layers
    >>> network = from_layers([([[1, 0], [0, 1]],), "abs"])
    >>> grid_estimate(network, "-1:1,-1:1", 10)
    {'activation': 4, 'components': 4, 'points': [10, 10]}
    """
    where = as_domain(domain, network.input_dim)
    if not isinstance(where, (Interval, Box, Polygon)):
        raise InputError(f"domain: expected a bounded interval, box or polygon for a grid, got {where}")
    if where.dim != network.input_dim:
        raise InputError(f"domain: expected dimension {network.input_dim} like the network, got {where.dim}")
    n = _points_per_axis(where, points_per_axis)
    from regioncount.kernels import grid as kernel

    width = n if where.dim == 2 else 1
    patterns = _Distinct(kernel)
    parent, components = np.arange(2 * width), 0
    last_prints, last_inside = np.zeros((1, width, 2), np.uint64), np.zeros((1, width), np.uint8)
    empty, _ = patterns_and_borders(network, np.zeros((0, where.dim)))
    for points, inside in _bands(where, n, empty.shape[1]):
        prints = np.zeros((len(inside), 2), np.uint64)
        if len(points):
            kernel.fingerprint(_sample(network, where, points, n), inside, prints)
        patterns.add(prints, inside)
        prints = np.concatenate([last_prints, prints.reshape(-1, width, 2)])
        inside = np.concatenate([last_inside, inside.reshape(-1, width)])
        components += kernel.sweep(prints, inside, parent)
        last_prints, last_inside = prints[-1:], inside[-1:]
    return {"activation": patterns.number, "components": int(components), "points": [n] * where.dim}


def _points_per_axis(where: _Domain, given: Any) -> int:
    if where.dim not in DEFAULT_POINTS:
        raise InputError(f"domain: expected dimension 1 or 2 for a grid, got {where.dim}")
    if given is None:
        return DEFAULT_POINTS[where.dim]
    if not isinstance(given, (int, np.integer)) or isinstance(given, bool) or given < 1:
        raise InputError(f"grid: expected an integer of at least 1, got {shown(given)}")
    if int(given) ** where.dim > MOST_POINTS:
        most = int(round(MOST_POINTS ** (1 / where.dim)))
        raise InputError(f"grid: expected at most {most} points per axis, got {shown(given)}")
    return int(given)


def _bands(where: _Domain, n: int, n_columns: int) -> Iterator[tuple[NDArray[np.float64], NDArray[np.uint8]]]:
    """Bands of rows of the grid: the samples inside the domain, and for all of the band whether they are."""
    low, high = where.bounds
    axes = [np.clip(a + (np.arange(n) + 0.5) * ((b - a) / n), a, b) for a, b in zip(low, high, strict=True)]
    width = n if len(axes) == 2 else 1
    rows = max(1, BAND_BYTES // (width * (n_columns + 64)))
    for start in range(0, n, rows):
        part = axes[-1][start : start + rows]
        points = part[:, None]
        if len(axes) == 2:
            points = np.stack(np.broadcast_arrays(axes[0][None], part[:, None]), axis=-1).reshape(-1, 2)
        inside = np.ones(len(points), dtype=bool)
        if isinstance(where, Polygon):
            inside = where.contains(points)
        yield points[inside], inside.astype(np.uint8)


def _sample(network: Network, where: _Domain, points: NDArray[np.float64], n: int) -> NDArray[np.uint8]:
    """Patterns at points, or near those on borders, in their cells and in the domain."""
    patterns, on_border = patterns_and_borders(network, points)
    stuck = np.flatnonzero(on_border)
    low, high = (np.array(bound) for bound in where.bounds)
    for move in MOVES:
        if not len(stuck):
            break
        moved = points[stuck] + np.array(move[: where.dim]) * ((high - low) / n)
        inside = where.contains(moved)
        found, on_border = patterns_and_borders(network, moved[inside])
        patterns[stuck[inside][~on_border]] = found[~on_border]
        inside[inside] = ~on_border  # these are settled
        stuck = stuck[~inside]
    return patterns


class _Distinct:
    """A set of fingerprints that grows."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.number = 0
        self._table, self._filled = np.zeros((1024, 2), np.uint64), np.zeros(1024, np.uint8)

    def add(self, prints: NDArray[np.uint64], inside: NDArray[np.uint8]) -> None:
        at = 0
        while True:
            at, self.number = self._collect(prints, inside, at)
            if at == len(prints):
                return
            old, used = self._table, self._filled
            self._table, self._filled = np.zeros((4 * len(old), 2), np.uint64), np.zeros(4 * len(old), np.uint8)
            self.number = 0
            _, self.number = self._collect(old, used, 0)

    def _collect(self, prints: NDArray[np.uint64], used: NDArray[np.uint8], start: int) -> tuple[int, int]:
        return self._kernel.collect(prints, used, start, self._table, self._filled, self.number)
