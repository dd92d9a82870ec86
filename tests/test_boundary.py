"""Decision boundaries: known counts, degenerate ties, and independent counts in floats on random networks."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import regioncount as rc
from regioncount.boundary import decision_boundary
from regioncount.errors import InputError

REAL = Path(__file__).parents[2] / "shared" / "real"
SQUARE = "-1:1,-1:1"


def boundary(layers, domain=SQUARE):
    return rc.subdivide(rc.from_layers(layers), domain).decision_boundary()


def lines(*rows):
    """Outputs a x + b y + c."""
    return [([row[:-1] for row in rows], [row[-1] for row in rows])]


def test_the_published_maxout_network_has_thirty() -> None:
    path = REAL / "maxout_complexity_seed123.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not here: networks of others are not part of the project")
    partition = rc.subdivide(rc.load(path))
    found = partition.decision_boundary()
    assert (found.count, len(found.jumps)) == (30, 0)
    assert partition.decision_boundary() is found
    values = partition.network.evaluate(found.segments.reshape(-1, 2))
    assert np.abs(np.diff(values, axis=1)).max() < 1e-9


def test_a_single_output_has_none() -> None:
    with pytest.raises(InputError, match="at least 2 outputs, got 1"):
        boundary([([[1, 0]], [0]), "relu"])


# --- the plane


def test_one_line_and_its_ends() -> None:
    found = boundary(lines((1, 0, 0), (0, 0, "1/2")))
    assert found.count == 1 and found.pairs.tolist() == [[0, 1]] and found.pieces.tolist() == [0]
    assert sorted(map(tuple, found.segments[0].tolist())) == [(0.5, -1.0), (0.5, 1.0)]


def test_three_outputs_meet_in_a_point() -> None:
    found = boundary(lines((1, 0, 0), (0, 1, 0), (0, 0, 0)))
    assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    ends = {tuple(sorted(map(tuple, segment.tolist()))) for segment in found.segments}
    assert ends == {((0, 0), (1, 1)), ((0, -1), (0, 0)), ((-1, 0), (0, 0))}


@pytest.mark.parametrize(
    ("outputs", "count"),
    [
        (((1, 0, 0), (-1, 0, 0), (0, 0, 0)), 3),  # three outputs on one line: every pair
        (((1, 0, 0), (1, 0, 0), (-1, 0, 0)), 2),  # equal outputs: each with the third, not with each other
        (((1, 1, 0), (1, 1, 0)), 0),
        (((1, 1, -2), (0, 0, 0)), 0),  # a corner alone
        (((1, 1, "-1999999999999999/1000000000000000"), (0, 0, 0)), 1),
        (((1, 0, 1), (0, 0, 0)), 0),  # the domain's own edge separates nothing
        (((1, 0, 0), (0, 0, 0), (0, 0, 1)), 0),  # beneath a third
        (((1, 0, 0), (0, 0, 0), (0, 1, 0)), 3),
    ],
)
def test_ties_of_affine_outputs(outputs, count: int) -> None:
    assert boundary(lines(*outputs)).count == count


def test_a_tie_along_a_facet_counts_once() -> None:
    split = [([[1, 0], [-1, 0]], [0, 0]), "relu"]
    found = boundary(split)
    assert found.count == 1 and found.facets[0] >= 0
    partition = rc.subdivide(rc.from_layers(split), SQUARE)
    assert found.pieces[0] == partition.facets[found.facets[0], 0]
    ends = partition.vertices[partition.facet_vertices[found.facets[0]]]
    assert sorted(map(tuple, ends.tolist())) == sorted(map(tuple, found.segments[0].tolist()))

    crossed = [([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), "relu", ([[1, 0, 0], [0, 1, 0]], [0, 0])]
    assert boundary(crossed).count == 2  # two facets


def test_where_a_tie_of_two_dimensions_ends() -> None:
    # (relu x, 0): tied on the whole left half; its border is one segment
    found = boundary([([[1, 0], [0, 0]], [0, 0]), "relu"])
    assert found.count == 1 and found.facets[0] >= 0
    # the same output twice: no border
    assert boundary([([[1, 0], [1, 0]], [0, 0]), "relu"]).count == 0


def test_touching_from_one_side() -> None:
    assert boundary([([[1, 0], [0, 0]], [0, 0]), "abs"]).count == 1  # |x| >= 0, equal on one facet


def in_floats(partition) -> int:
    """Segments inside pieces, by clipping in floats: right where nothing is degenerate."""
    count = 0
    for p in range(partition.n_pieces):
        ring = partition.vertices[partition.piece_vertices[partition.offsets[p] : partition.offsets[p + 1]]]
        step = np.roll(ring, -1, axis=0) - ring
        edges = np.stack([-step[:, 1], step[:, 0], step[:, 1] * ring[:, 0] - step[:, 0] * ring[:, 1]], axis=1)
        maps = partition.maps[p]
        for i, j in combinations(range(len(maps)), 2):
            a, b, c = maps[i] - maps[j]
            n = a * a + b * b
            if n < 1e-20:  # constant here: all units before are off
                continue
            forms = [*edges, *(maps[i] - maps[k] for k in range(len(maps)) if k not in (i, j))]
            low, high = -np.inf, np.inf
            for d, e, f in forms:
                slope, constant = (d * b - e * a), f * n - c * (d * a + e * b)
                if slope == 0:
                    low = low if constant > 0 else np.inf
                elif slope > 0:
                    low = max(low, -constant / slope)
                else:
                    high = min(high, -constant / slope)
            count += high > low
    return count


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("outputs", [2, 4])
def test_random_relu_networks(seed: int, outputs: int) -> None:
    partition = rc.subdivide(rc.constructions.random_relu((2, 8, 8, outputs), seed=seed))
    found = decision_boundary(partition)
    assert found.count == in_floats(partition)
    assert (found.facets == -1).all() and len(found.jumps) == 0
    values = partition.network.evaluate(found.segments.reshape(-1, 2)).reshape(found.count, 2, outputs)
    best = values.max(axis=2)
    for k in range(2):
        tied = np.take_along_axis(values, found.pairs[:, [k]][:, None], axis=2)[:, :, 0]
        np.testing.assert_allclose(tied, best, atol=1e-9)


def test_floats_and_exact_arithmetic_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    from regioncount import boundary as module

    partition = rc.subdivide(rc.constructions.random_maxout((2, 6, 6, 3), seed=1))
    quick = decision_boundary(partition)
    monkeypatch.setattr(module, "U", 1.0)  # error bounds so wide that floats decide nothing
    slow = decision_boundary(partition)
    assert quick.pairs.tolist() == slow.pairs.tolist() and quick.pieces.tolist() == slow.pieces.tolist()
    ends = [np.sort(found.segments, axis=1) for found in (quick, slow)]
    np.testing.assert_allclose(*ends, atol=1e-9)


# --- attention


def chooser(dim: int, outputs):
    """Token 0 is (x, …, 0), token 1 is (0, …, 1); the first coordinates are compared, the last one is passed on."""
    weight = np.zeros((2, dim + 1, dim))
    weight[0, :dim] = np.eye(dim)
    bias = np.zeros((2, dim + 1))
    bias[1, dim] = 1
    first, last = np.eye(dim + 1)[:1], np.eye(dim + 1)[-1:]
    head = rc.Head(
        query=rc.Affine(np.zeros((1, dim + 1)), [1]), key=rc.Affine(first), value=rc.Affine(last),
        output=rc.Affine(last.T),
    )  # fmt: skip
    layers = (rc.Embed(weight, bias), rc.Attention((head,)), rc.Readout(0), rc.Affine(*outputs))
    return rc.Network(dim, layers)


def test_a_jump_is_no_segment() -> None:
    # the last coordinate is 0 where x > 0, else 1; the outputs are it and 1/2
    partition = rc.subdivide(chooser(1, ([[0, 1], [0, 0]], [0, "1/2"])), "-1:1")
    found = partition.decision_boundary()
    assert found.count == 0 and partition.breakpoints[found.jumps].tolist() == [0]
    partition = rc.subdivide(chooser(2, ([[0, 0, 1], [0, 0, 0]], [0, "1/2"])), SQUARE)
    found = partition.decision_boundary()
    assert found.count == 0 and partition.facets[found.jumps].tolist() in ([[0, 1]], [[1, 0]])


def test_a_jump_along_a_part_of_a_facet() -> None:
    # y against 1 − the last coordinate: on the left y against 0, on the right y against 1
    partition = rc.subdivide(chooser(2, ([[0, 1, 0], [0, 0, -1]], [0, 1])), "-1:1,-1:2")
    found = partition.decision_boundary()
    assert found.count == 2 and len(found.jumps) == 1
    # no jump where the greatest output stays the same on both sides
    partition = rc.subdivide(chooser(2, ([[0, 0, 1], [0, 0, 0]], [0, 2])), SQUARE)
    assert (partition.decision_boundary().count, len(partition.decision_boundary().jumps)) == (0, 0)


def test_a_tie_on_one_side_of_a_jump_is_the_jump() -> None:
    # x + 5 [x <= 0] against 0 on the interval: greatest on both sides, tied from the right: nothing changes
    partition = rc.subdivide(chooser(1, ([[1, 5], [0, 0]], [0, 0])), "-1:1")
    assert (partition.decision_boundary().count, len(partition.decision_boundary().jumps)) == (0, 0)
    # x − 5 [x <= 0] against 0: less on the left, tied from the right, greater on the right
    partition = rc.subdivide(chooser(1, ([[1, -5], [0, 0]], [0, 0])), "-1:1")
    assert (partition.decision_boundary().count, len(partition.decision_boundary().jumps)) == (0, 1)
    partition = rc.subdivide(chooser(2, ([[1, 0, -5], [0, 0, 0]], [0, 0])), SQUARE)
    assert (partition.decision_boundary().count, len(partition.decision_boundary().jumps)) == (0, 1)


@pytest.mark.parametrize("seed", range(3))
def test_jumps_of_random_transformers(seed: int) -> None:
    network = rc.constructions.random_transformer(
        input_dim=2, tokens=3, layers=2, heads=1, dim=3, hidden=3, queries="fixed", seed=seed
    )
    partition = rc.subdivide(network)
    found = partition.decision_boundary()
    maps = partition.maps
    seen = set()
    for f in np.flatnonzero(partition.facets[:, 1] >= 0):
        p, q = partition.facets[f]
        a, b = partition.vertices[partition.facet_vertices[f]]
        points = np.column_stack([a + (b - a) * np.linspace(0.01, 0.99, 99)[:, None], np.ones(99)])
        left, right = points @ maps[p].T, points @ maps[q].T
        i, j = left.argmax(axis=1), right.argmax(axis=1)
        rows = np.arange(99)
        margin = np.minimum(left[rows, i] - left[rows, j], right[rows, j] - right[rows, i])
        if (margin > 1e-9).any():
            seen.add(int(f))
    assert seen <= set(found.jumps.tolist())
    assert len(found.jumps) - len(seen) <= 2  # a change on less than a hundredth of a facet


# --- the line


def test_points_on_the_line() -> None:
    found = boundary([([[1], [-1], [0]], ["-1/2", "-1/2", 0])], "-1:1")
    assert found.segments.tolist() == [[0.5], [-0.5]] and found.pairs.tolist() == [[0, 2], [1, 2]]
    found = boundary([([[1], [-1]], [0, 0]), "relu"], "-1:1")
    assert found.segments.tolist() == [[0]] and found.facets.tolist() == [1]
    assert boundary([([[1], [0]], [1, 0])], "-1:1").count == 0


@pytest.mark.parametrize("seed", range(4))
def test_random_networks_on_the_line(seed: int) -> None:
    network = rc.constructions.random_transformer(
        input_dim=1, tokens=3, layers=2, heads=1, dim=3, hidden=3, queries="free", seed=seed
    )
    partition = rc.subdivide(network)
    found = partition.decision_boundary()
    ends = np.stack([partition.breakpoints[:-1], partition.breakpoints[1:]], axis=1)
    width = np.diff(ends, axis=1)
    near = ends + np.concatenate([width, -width], axis=1) * 1e-9
    classes = (partition.maps[:, None, :, 0] * near[:, :, None] + partition.maps[:, None, :, 1]).argmax(axis=2)
    inside = sum(
        len({row.argmax() for row in np.linspace(a, b, 2001)[:, None] * m[:, 0] + m[:, 1]}) - 1
        for (a, b), m in zip(near, partition.maps, strict=True)
    )
    between = np.flatnonzero(classes[:-1, 1] != classes[1:, 0]) + 1
    assert (found.facets == -1).sum() == inside
    assert sorted({*found.jumps.tolist(), *found.facets[found.facets >= 0].tolist()}) == between.tolist()
