"""The grid engine: known counts, components against scipy's flood fill, fingerprints, borders, bad arguments."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from regioncount.domain import Interval, Polygon
from regioncount.errors import InputError
from regioncount.evaluation import activation_pattern
from regioncount.files import load, network_from_dict
from regioncount.grid import _Distinct, grid_estimate
from regioncount.kernels import grid as kernel
from regioncount.network import Affine, Attention, Embed, Head, Network, Readout, from_layers

ENTRIES = json.loads((Path(__file__).parent / "data" / "networks.json").read_text())
NETWORKS = {entry["name"]: entry for entry in ENTRIES}
REAL = Path(__file__).parents[2] / "shared" / "real"
HALF_PLANES = from_layers([([[1, "1/7"], ["1/9", 1]],), "relu"])


def found(network, domain, n=None):
    estimate = grid_estimate(network, domain, n)
    return estimate["activation"], estimate["components"]


def components_by_flood_fill(labels: np.ndarray, inside: np.ndarray) -> int:
    return sum(ndimage.label((labels == label) & inside)[1] for label in np.unique(labels[inside]))


def components_by_sweep(labels: np.ndarray, inside: np.ndarray, cuts: list[int]) -> int:
    """The kernel's, with rows given in bands."""
    n = labels.shape[1]
    prints = np.stack([labels, labels * 3 + 1], axis=-1).astype(np.uint64)
    prints = np.concatenate([np.zeros((1, n, 2), np.uint64), prints])
    flags = np.concatenate([np.zeros((1, n), np.uint8), inside.astype(np.uint8)])
    parent, total = np.arange(2 * n), 0
    for start, stop in zip([0, *cuts], [*cuts, len(labels)], strict=True):
        total += kernel.sweep(prints[start : stop + 1], flags[start : stop + 1], parent)
    return total


# ---------------------------------------------------------------- known counts


@pytest.mark.nojit
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashes wrap around
def test_two_lines_make_four_regions():
    assert grid_estimate(HALF_PLANES, "-1:1,-1:1", 20) == {"activation": 4, "components": 4, "points": [20, 20]}


@pytest.mark.parametrize("n", [64, 101, 300])
def test_a_pattern_in_two_components(n):
    entry = NETWORKS["conic_hyperbola"]
    assert found(network_from_dict(entry["network"]), entry["domain"], n) == (2, 3)


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_never_more_patterns_than_there_are_nor_fewer_components(name):
    entry = NETWORKS[name]
    network = network_from_dict(entry["network"])
    for n in (60, 61) if network.input_dim == 2 else (1000, 1001):
        patterns, components = found(network, entry["domain"], n)
        assert 1 <= patterns <= entry["counts"]["activation"]
        assert patterns <= components


@pytest.mark.parametrize("name", [e["name"] for e in ENTRIES if len(e["domain"]) == 1 and "rounded" not in e["name"]])
def test_on_the_line_a_fine_grid_finds_every_cell(name):
    counts = NETWORKS[name]["counts"]
    network = network_from_dict(NETWORKS[name]["network"])
    assert found(network, NETWORKS[name]["domain"], 3001) == (counts["activation"], counts["cells"])


@pytest.mark.parametrize("seed", range(5))
def test_components_are_those_of_the_patterns_at_the_cell_centres(seed):
    rng = np.random.default_rng(seed)
    layers: list = []
    for n_in in (2, 5, 4):
        layers += [(rng.normal(size=(5 if n_in == 2 else 4, n_in)), rng.normal(size=4 + (n_in == 2))), "relu"]
    network, n = from_layers(layers), 70
    centres = -2 + (np.arange(n) + 0.5) * (3.5 / n)
    points = np.stack(np.meshgrid(centres, 1 + centres / 2), axis=-1).reshape(-1, 2)
    _, labels = np.unique(activation_pattern(network, points), axis=0, return_inverse=True)
    labels = labels.reshape(n, n)
    expected = labels.max() + 1, components_by_flood_fill(labels, np.ones((n, n), bool))
    assert found(network, [["-2", "1.5"], ["0", "1.75"]], n) == expected


def test_only_what_lies_in_a_polygon_counts():
    triangle = Polygon([(-1, -1), (1, -1), (-1, 1)])
    corner = from_layers([([[1, 1]], ["-1/100"]), "relu"])
    assert found(corner, "-1:1,-1:1", 50) == (2, 2)
    assert found(corner, triangle, 50) == (1, 1)
    # a strip through the triangle: two parts of one pattern are joined outside of it only
    cross = from_layers([([[1, 0]], ["1/3"]), "abs", ([[-1]], ["1/5"]), "relu"])
    assert found(cross, triangle, 50)[0] == 4
    assert grid_estimate(corner, triangle, 50)["points"] == [50, 50]


def test_softmax_layers_are_sampled_by_their_largest_weights():
    head = Head(query=Affine([[0, 0]], [1]), key=Affine([[1, 0]]), value=Affine([[0, 1]]), output=Affine([[1]]))
    tokens = Embed([[[1], [0]], [[-1], [0]]], [["1/7", 1], [0, 3]])
    layers = [tokens, Attention([head], residual=False, activation="softmax", scale=4), Readout(0)]
    assert found(Network(1, layers), "-1:1") == (2, 2)


def test_defaults():
    assert grid_estimate(Network(1, []), Interval(0, 1)) == {"activation": 1, "components": 1, "points": [100_000]}
    assert grid_estimate(HALF_PLANES, "-1:1,-1:1")["points"] == [1000, 1000]


# ---------------------------------------------------------------- borders


def test_centres_on_a_border_move_off_it():
    diagonal = from_layers([("maxout", [[[1, 0], [0, 1]]])])  # candidates tie on x = y, through 50 centres
    assert found(diagonal, "-1:1,-1:1", 50) == (2, 2)
    axes = from_layers([([[1, 0], [0, 1]],), "abs"])
    assert found(axes, "-1:1,-1:1", 51) == (4, 4)
    assert found(axes, Polygon([(-1, 0), (0, -1), (1, 0), (0, 1)]), 51) == (4, 4)
    # all of one column lies on a border that separates nothing: 0 beats -x^2 except at 0
    entry = NETWORKS["attn_tangent"]
    assert found(network_from_dict(entry["network"]), entry["domain"], 101) == (1, 1)


# ---------------------------------------------------------------- kernels


@pytest.mark.nojit
@settings(max_examples=60)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 3), st.integers(0, 2**32))
def test_components_agree_with_flood_fill(rows, columns, n_labels, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_labels, (rows, columns))
    inside = rng.random((rows, columns)) < rng.choice([0.6, 1.0])
    cuts = sorted(rng.choice(rows + 1, size=rng.integers(0, rows + 1), replace=False).tolist())
    assert components_by_sweep(labels, inside, cuts) == components_by_flood_fill(labels, inside)


def test_components_of_a_large_image_and_of_a_spiral():
    rng = np.random.default_rng(1)
    labels, inside = rng.integers(0, 2, (300, 200)), rng.random((300, 200)) < 0.9
    expected = components_by_flood_fill(labels, inside)
    assert components_by_sweep(labels, inside, [100, 101, 250]) == expected
    spiral = np.zeros((41, 41), dtype=int)
    for i in range(0, 20, 4):
        spiral[i : 41 - i, i] = spiral[i, i : 41 - i] = spiral[i : 41 - i, 40 - i] = spiral[40 - i, i : 39 - i] = 1
    assert components_by_sweep(spiral, np.ones((41, 41), bool), [7, 20]) == components_by_flood_fill(
        spiral, np.ones((41, 41), bool)
    )


@pytest.mark.nojit
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("columns", [1, 63, 64, 65, 200])
def test_fingerprints_depend_on_every_column(columns):
    base = np.random.default_rng(columns).integers(0, 2, columns).astype(np.uint8)
    patterns = np.stack([base, base] + [base ^ (np.arange(columns) == c) for c in range(columns)]).astype(np.uint8)
    inside = np.ones(len(patterns) + 3, np.uint8)
    inside[[0, 2, -1]] = 0
    prints = np.zeros((len(inside), 2), np.uint64)
    kernel.fingerprint(patterns, inside, prints)
    assert not prints[inside == 0].any()
    used = prints[inside == 1]
    assert (used[0] == used[1]).all()
    assert [len(np.unique(chain)) for chain in used.T] == [columns + 1] * 2  # each chain alone tells them apart


def test_a_set_of_fingerprints_grows():
    rng = np.random.default_rng(0)
    prints = rng.integers(0, 2**63, (5000, 2)).astype(np.uint64)
    prints[:100, 0] = prints[0, 0]  # one half alone tells nothing
    prints[0] = 0
    distinct = _Distinct(kernel)
    inside = np.ones(len(prints), np.uint8)
    inside[:50:2] = 0
    for _ in range(2):
        distinct.add(prints, inside)
        assert distinct.number == 5000 - 25
    distinct.add(np.repeat(prints, 3, axis=0), np.ones(15000, np.uint8))
    assert distinct.number == 5000


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize("n", [0, -3, 2.5, True, "10"])
def test_bad_number_of_points(n):
    with pytest.raises(InputError, match="grid: expected an integer of at least 1"):
        grid_estimate(HALF_PLANES, "-1:1,-1:1", n)


def test_too_many_points():
    with pytest.raises(InputError, match="grid: expected at most 10000 points per axis, got 10001"):
        grid_estimate(HALF_PLANES, "-1:1,-1:1", 10_001)
    with pytest.raises(InputError, match="grid: expected at most 100000000 points per axis"):
        grid_estimate(Network(1, []), "-1:1", 10**9)


def test_bad_dimensions():
    with pytest.raises(InputError, match="domain: expected dimension 2 like the network, got 1"):
        grid_estimate(HALF_PLANES, "-1:1")
    with pytest.raises(InputError, match="domain: expected dimension 1 or 2 for a grid, got 3"):
        grid_estimate(Network(3, []), "0:1,0:1,0:1")


def test_a_tiny_domain_far_away_stays_inside():
    low = 2**40
    domain = [[low, low + Fraction(1, 2**11)], [0, 1]]
    step = from_layers([([[1, 0]], [-(low + Fraction(1, 2**12))]), "relu"])
    assert found(step, domain, 40) == (2, 2)


# ---------------------------------------------------------------- compiled programs


# floats alone see dozens of patterns in tracr_reverse: its ties hold exactly, everywhere
@pytest.mark.parametrize(("name", "at_least"), [("tracr_hist", 11), ("tracr_reverse", 1), ("tracr_sort", 33)])
def test_compiled_transformers(name, at_least):
    path = REAL / f"{name}.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not part of the project")
    network = load(path)
    patterns, components = found(network, network.domain, 100)
    assert at_least <= patterns <= components
