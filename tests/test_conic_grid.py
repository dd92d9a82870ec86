"""Partitions with curved borders against samples: every point of a grid, evaluated apart, and flood fills of it.

What a grid can show, and what is asserted of every network here:

* each sample lies in exactly one piece (winding numbers), the pattern there is the piece's, the output that of its map;
* the interior point of each piece has its pattern and its output;
* neighbouring samples with one pattern lie in one cell, or else an exact count along the segment between them finds
  another pattern there; so a component of a flood fill meets several cells only where they are nearer than the grid;
* where pieces of one cell meet, the middle of the border between them has the cell's pattern, or the points beside it:
  so several large components of a flood fill that belong to one cell are joined by parts thinner than the grid.
"""

from __future__ import annotations

import copy
from fractions import Fraction as F
from random import Random
from typing import Any

import numpy as np
import oracle
import pytest
from scipy import ndimage

import regioncount as rc
from regioncount import arcs, geometry
from regioncount.files import network_from_dict, network_to_dict

LARGE = 25  # pixels


class Located:
    """The boundaries of the pieces of a partition, to find the piece of a point."""

    def __init__(self, partition: rc.Partition) -> None:
        self.partition = partition
        facets, ends = partition.facets, partition.facet_vertices
        inner = np.flatnonzero(facets[:, 1] >= 0)
        facet = np.concatenate([np.arange(len(facets)), inner])
        number = partition.facet_arc[facet] if len(partition.facet_arc) else np.full(len(facet), -1)
        self.piece = np.concatenate([facets[:, 0], facets[inner, 1]])
        self.start, self.end = partition.vertices[np.concatenate([ends, ends[inner, ::-1]])].transpose(1, 0, 2)
        self.bent = number >= 0
        self.middle = np.zeros((len(facet), 3))
        self.middle[self.bent] = partition.arcs[number[self.bent]]

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """The piece of each point; −1 where there is none, −2 where there are several."""
        found = np.full(len(points), -1)
        low, high = geometry.boxes(self.partition)
        for piece in range(self.partition.n_pieces):
            near = np.flatnonzero(((points >= low[piece]) & (points <= high[piece])).all(axis=1))
            own = self.piece == piece
            around = arcs.around(
                points[near], np.zeros(len(near), dtype=int), np.zeros(int(own.sum()), dtype=int),
                self.start[own], self.middle[own], self.end[own], self.bent[own],
            )  # fmt: skip
            assert set(around.tolist()) <= {0, 1}, f"piece {piece}: its boundary is one walk, counter-clockwise"
            near = near[around == 1]
            found[near] = np.where(found[near] == -1, piece, -2)
        return found


def samples(partition: rc.Partition, n: int) -> np.ndarray:
    """A grid (n, n, 2) over the domain's box, off its centre: no sample is on a border with short numbers."""
    corners = np.array([[float(c) for c in corner] for corner in partition.domain.vertices])
    low, high = corners.min(axis=0), corners.max(axis=0)
    x, y = (a + (b - a) * (np.arange(n) + s) / n for a, b, s in zip(low, high, (1 / np.pi, 1 / np.e), strict=True))
    return np.stack(np.meshgrid(x, y, indexing="ij"), axis=2)


def outputs(partition: rc.Partition, pieces: np.ndarray, points: np.ndarray) -> np.ndarray:
    maps = partition.maps[pieces]
    return (maps[:, :, :2] @ points[:, :, None])[:, :, 0] + maps[:, :, 2]


def between(network: dict, p: np.ndarray, q: np.ndarray) -> int:
    """How many patterns there are on the segment between two points."""
    line = oracle.restrict(network, *([F(float(c)) for c in point] for point in (p, q)))
    line.pop("domain", None)
    line["layers"][0] = {
        "type": "affine",
        "weight": [[str(w) for w in row] for row in line["layers"][0]["weight"]],
        "bias": [str(b) for b in line["layers"][0]["bias"]],
    }
    return rc.count(network_from_dict(line), "0:1").counts["activation"]


def check_against_grid(network: dict, domain: Any, n: int, **options: Any) -> rc.Partition:
    """Assert what the header says; returns the partition."""
    made = network_from_dict(network)
    partition = rc.subdivide(made, domain, **options)
    assert partition.certified
    partition.check_invariants()
    located, cells = Located(partition), partition.labels("cells")

    inside = geometry.inside(partition, np.arange(partition.n_pieces))
    assert (made.activation_pattern(inside) == partition.patterns).all()
    close(partition, outputs(partition, np.arange(partition.n_pieces), inside), made.evaluate(inside))

    grid = samples(partition, n)
    points = grid.reshape(-1, 2)
    patterns = made.activation_pattern(points)
    ours = {row.tobytes() for row in partition.patterns}
    piece = located(points)
    within = contains(partition.domain, points)
    assert (piece[~within] == -1).all()
    assert {row.tobytes() for row in patterns[within]} <= ours
    assert (piece[within] >= 0).all(), points[within & (piece < 0)][:3]
    same = (patterns == partition.patterns[piece]).all(axis=1) | ~within
    assert same.all(), points[~same][:3]
    close(partition, outputs(partition, piece[within], points[within]), made.evaluate(points[within]))

    number = np.where(within, partition.labels("activation")[piece], -1).reshape(n, n)
    cell = np.where(within, cells[piece], -1).reshape(n, n)
    thin = []  # neighbours with one pattern in two cells
    for a, b in ((np.s_[1:, :], np.s_[:-1, :]), (np.s_[:, 1:], np.s_[:, :-1])):
        apart = (number[a] == number[b]) & (cell[a] != cell[b])
        thin += list(zip(grid[a][apart], grid[b][apart], strict=True))
    assert len(thin) <= n
    for p, q in thin:
        assert between(network, p, q) > 1, (p, q)
    large: dict[int, int] = {}  # large components of each cell
    for k in np.unique(number[number >= 0]):
        labels, found = ndimage.label(number == k)
        for component in range(1, found + 1):
            here = labels == component
            if here.sum() >= LARGE:
                found_in = np.unique(cell[here])
                assert len(found_in) == 1 or thin
                large[int(found_in[0])] = large.get(int(found_in[0]), 0) + 1
    check_joins(partition, cells)
    return partition


def close(partition: rc.Partition, found: np.ndarray, wanted: np.ndarray) -> None:
    room = 1e-9 * (1 + np.abs(partition.maps).max())
    assert found == pytest.approx(wanted, rel=1e-9, abs=room)


def contains(domain: Any, points: np.ndarray) -> np.ndarray:
    inside = np.ones(len(points), dtype=bool)
    corners = np.array([[float(c) for c in corner] for corner in domain.vertices])
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        step, to = end - start, points - start
        inside &= step[0] * to[:, 1] - step[1] * to[:, 0] > 0
    return inside


def check_joins(partition: rc.Partition, cells: np.ndarray) -> None:
    """Where two pieces of one cell meet, the pattern is the cell's: else they would not be one cell."""
    a, b = partition.facets.T
    inner = np.flatnonzero((b >= 0) & (cells[a] == cells[b]))
    start, end = partition.vertices[partition.facet_vertices[inner]].transpose(1, 0, 2)
    far = np.hypot(*(end - start).T)
    inner, start, end, far = (v[far > 1e-6] for v in (inner, start, end, far))
    rows = np.zeros((len(inner), 3))
    rows[:, :2], rows[:, 2] = (start + end) / 2, 1
    if len(partition.arcs):
        bent = partition.facet_arc[inner] >= 0
        rows[bent] = partition.arcs[partition.facet_arc[inner][bent]]
    middle = arcs.points(start, rows, end, 0.5)
    normal = np.stack([start[:, 1] - end[:, 1], end[:, 0] - start[:, 0]], axis=1) / np.maximum(far, 1e-300)[:, None]
    wanted = partition.patterns[a[inner]]
    ok = np.zeros(len(inner), dtype=bool)
    for step in (0.0, 1e-12, 1e-10, 1e-8):  # a tie of other candidates on the border itself has a pattern of its own
        sides = [
            (partition.network.activation_pattern(middle + s * step * normal) == wanted).all(axis=1) for s in (1, -1)
        ]
        ok |= sides[0] & sides[1]
    assert ok.all(), middle[~ok][:3]


def random_network(seed: int, large: bool = False) -> dict:
    """Hardmax Transformers of 2 to 5 tokens, up to 3 layers: half in general position, half with few weights."""
    rng = Random(seed)
    if seed % 2:
        network = rc.constructions.random_transformer(
            tokens=rng.randint(2, 5 if large else 3), layers=rng.randint(1, 3 if large else 2),
            heads=rng.randint(1, 2), dim=rng.randint(2, 4), hidden=rng.randint(1, 4 if large else 2), seed=seed,
        )  # fmt: skip
        return network_to_dict(network)
    return oracle.random_transformer(
        rng, tokens=rng.randint(2, 4 if large else 3), dim=rng.randint(2, 4), layers=rng.randint(1, 2),
        heads=rng.randint(1, 2), head_dim=rng.randint(1, 3), hidden=rng.randint(0, 2), input_dim=2,
        residual=rng.random() < 0.8, mask=rng.choice(("none", "none", "causal", "random")),
        readout=rng.choice((True, "all")),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_random_networks(seed):
    check_against_grid(random_network(seed), "-1:1,-1:1", 100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 36))
def test_more_random_networks(seed):
    check_against_grid(random_network(seed, large=True), "-1:1,-1:1", 300, method="auto" if seed % 4 else "conic")


TRIANGLE = [("-1", "-1"), ("1", "-1/2"), ("1/3", "1")]
HEXAGON = [("-1", "0"), ("-1/2", "-1"), ("1/2", "-1"), ("1", "0"), ("1/2", "1"), ("-1/2", "1")]
SLANTED = [("-3/2", "-1"), ("1/2", "-1"), ("3/2", "1"), ("-1/2", "1")]


@pytest.mark.parametrize("polygon", [TRIANGLE, HEXAGON, SLANTED])
@pytest.mark.parametrize("seed", [100, 101, 102])
def test_polygons_as_domains(seed, polygon):
    check_against_grid(random_network(seed), rc.Polygon(polygon), 60)


# ------------------------------------------------------------------------------------------------ other coordinates


def moved(network: dict, matrix: list[list]) -> dict:
    """The network after the linear map of its input: x -> network(matrix x)."""
    out = copy.deepcopy(network)
    embed = out["layers"][0]
    embed["weight"] = [
        [[str(sum(F(row[k]) * F(matrix[k][j]) for k in range(2))) for j in range(2)] for row in token]
        for token in embed["weight"]
    ]
    out.pop("domain", None)
    return out


def permuted(network: dict, order: list[int]) -> dict:
    """The network with its tokens in another order: new token k is old token order[k]."""
    out = copy.deepcopy(network)
    for layer in out["layers"]:
        if layer["type"] == "embed":
            layer["weight"], layer["bias"] = ([layer[key][t] for t in order] for key in ("weight", "bias"))
        elif layer["type"] == "attention":
            mask = layer.get("mask", "none")
            if mask == "causal":
                mask = [[s <= t for s in range(len(order))] for t in range(len(order))]
            if mask != "none":
                layer["mask"] = [[mask[t][s] for s in order] for t in order]
        elif layer["type"] == "readout" and isinstance(layer["token"], int):
            layer["token"] = order.index(layer["token"])
    return out


def with_heads_reversed(network: dict) -> dict:
    out = copy.deepcopy(network)
    for layer in out["layers"]:
        if layer["type"] == "attention":
            layer["heads"] = layer["heads"][::-1]
    return out


def counts(network: dict, domain: Any, **options: Any) -> dict[str, int]:
    partition = rc.subdivide(network_from_dict(network), domain, **options)
    assert partition.certified
    return partition.counts()


@pytest.mark.parametrize(
    "seed", [*range(200, 208), *(pytest.param(s, marks=pytest.mark.slow) for s in range(208, 240))]
)
def test_counts_do_not_depend_on_coordinates(seed):
    network = random_network(seed)
    rng = Random(seed)
    expected = counts(network, "-1:1,-1:1")
    assert counts(moved(network, [[0, -1], [1, 0]]), "-1:1,-1:1") == expected
    assert counts(moved(network, [[0, 1], [1, 0]]), "-1:1,-1:1", method="conic") == expected
    # x -> (x + y/3, y) sends the parallelogram to the square
    slanted = [(F(x) - F(y) / 3, F(y)) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    assert counts(moved(network, [[1, F(1, 3)], [0, 1]]), rc.Polygon(slanted)) == expected
    assert counts(moved(network, [[F(1, 1024), 0], [0, 3]]), f"-1024:1024,{F(-1, 3)}:{F(1, 3)}") == expected
    tokens = list(range(len(network["layers"][0]["bias"])))
    rng.shuffle(tokens)
    if network["layers"][-1].get("token") != "all":  # tokens in another order are outputs in another order
        assert counts(permuted(network, tokens), "-1:1,-1:1") == expected
    assert counts(with_heads_reversed(network), "-1:1,-1:1") == expected
