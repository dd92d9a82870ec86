"""Closed-form bounds against the table of values, and bad arguments."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import compare
import oracle
import pytest

import regioncount as rc
from regioncount import bounds
from regioncount.errors import InputError
from regioncount.files import network_from_dict

TABLE = json.loads((Path(__file__).parent / "data" / "bounds.json").read_text())["bounds"]


@pytest.mark.parametrize("row", TABLE["zaslavsky"], ids=lambda row: f"m{row['m']}-n{row['n']}")
def test_zaslavsky(row) -> None:
    assert bounds.zaslavsky(row["m"], row["n"]) == row["regions"]
    assert bounds.zaslavsky_bounded(row["m"], row["n"]) == row["bounded"]


@pytest.mark.parametrize("row", TABLE["transformer_lower"], ids=lambda row: f"T{row['T']}-D{row['D']}")
def test_transformer_lower(row) -> None:
    assert bounds.transformer_lower(row["T"], row["D"]) == row["gu"]


def test_transformer_lower_is_a_staircase() -> None:
    assert [bounds.transformer_lower(4, depth) for depth in range(8)] == [1, 1, 1, 3, 3, 3, 9, 9]
    assert [bounds.transformer_lower(1, depth) for depth in (2, 3)] == [1, 0]


def test_dimension_zero_is_one_bounded_region() -> None:
    assert [bounds.zaslavsky(m, 0) for m in (0, 3)] == [1, 1]
    assert [bounds.zaslavsky_bounded(m, 0) for m in (0, 3)] == [1, 1]


def test_values_are_exact_integers_of_any_size() -> None:
    assert bounds.transformer_lower(11, 300) == 10**100
    assert bounds.zaslavsky(200, 200) == 2**200


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (bounds.transformer_lower, (0, 3), "tokens: expected an integer of at least 1, got 0"),
        (bounds.transformer_lower, (3, -1), "depth: expected an integer of at least 0, got -1"),
        (bounds.transformer_lower, (3.0, 3), "tokens: expected an integer, got 3.0"),
        (bounds.zaslavsky, (-1, 2), "m: expected"),
        (bounds.zaslavsky, (1, True), "n: expected an integer, got True"),
        (bounds.zaslavsky_bounded, ("3", 2), "m: expected an integer, got '3'"),
        (bounds.zaslavsky_bounded, (3, -2), "n: expected"),
        (bounds.transformer_upper_1d, (0, [1], [1]), "tokens: expected an integer of at least 1, got 0"),
        (bounds.transformer_upper_1d, (2, [1, -1], [1, 1]), r"heads\[1\]: expected an integer of at least 0, got -1"),
        (bounds.transformer_upper_2d, (2, [1], [1, 1]), "units: expected as many as heads, one a layer, got 2 for 1"),
        (bounds.transformer_upper_2d, (2, 1, [1]), "heads: expected a sequence of integers, got 1"),
        (bounds.transformer_upper_2d, (2, [1], "3"), "units: expected a sequence of integers, got '3'"),
        (bounds.transformer_upper_cells_2d, (2, [1], [1], False, 2), "sides: expected an integer of at least 3, got 2"),
    ],
)
def test_bad_arguments_are_named(function, arguments, message) -> None:
    with pytest.raises(InputError, match=message):
        function(*arguments)


# ------------------------------------------------------------------------------------- upper bounds of Transformers


def test_upper_bounds_by_hand() -> None:
    assert bounds.transformer_upper_1d(3, [2], [5]) == (1 + 3 * 2 * 4) * (1 + 3 * 5)
    assert bounds.transformer_upper_1d(3, [2, 1], [5, 0], affine=True) == (1 + 3 * 2 * 2) * (1 + 3 * 5) * (1 + 3 * 2)
    conics = 3 * 2 * 3  # T H C(T, 2)
    assert bounds.transformer_upper_2d(3, [2], [1]) == (2 * conics**2 + conics + 1) * (1 + 3 + 3)
    assert bounds.transformer_upper_2d(3, [2], [0], affine=True) == 1 + 6 * 2 + 15 * 4
    # 1 layer without units: conics alone; E N + 1 + 2 N (N - 1)
    assert [bounds.transformer_upper_cells_2d(2, [1], [0], sides=e) for e in (3, 4)] == [11, 13]
    # one token makes no choice, so only the units' lines are left
    assert bounds.transformer_upper_cells_2d(1, [1], [3]) == bounds.transformer_upper_2d(1, [1], [3]) == 7
    for bound in (bounds.transformer_upper_1d, bounds.transformer_upper_2d, bounds.transformer_upper_cells_2d):
        assert bound(5, [], []) == bound(5, [0], [0]) == 1
        assert bound(4, [2, 3], [5, 6]) > bound(4, [2, 2], [5, 6]) > bound(4, [2, 0], [5, 6]) > bound(4, [2], [5])


def test_upper_bounds_are_exact_integers_of_any_size() -> None:
    assert bounds.transformer_upper_1d(2, [1] * 200, [0] * 200) == 5**200
    assert bounds.transformer_upper_2d(1, [0] * 200, [2] * 200) == 4**200


def shape(network):
    """(T, heads of each layer, units of each layer): each attention starts a layer."""
    heads: list[int] = []
    units: list[int] = []
    for layer in network.layers:
        if isinstance(layer, rc.Attention):
            heads.append(len(layer.heads))
            units.append(0)
        elif isinstance(layer, rc.Feedforward):
            units[-1] = layer.hidden.weight.shape[0]
    return network.shapes[1][0], heads, units


def assert_below(network, domain, upper, affine, counted):
    """Every entry of the depth profile, and the last count, respect the bound ``upper`` of what was computed so far."""
    tokens, heads, units = shape(network)
    layer = 0
    for entry in counted.depth_profile:
        layer += entry["type"] == "attention"
        so_far = units[: layer - 1] + [units[layer - 1] if entry["type"] == "feedforward" else 0]
        assert entry["activation"] <= upper(tokens, heads[:layer], so_far, affine), (network, domain)


def degenerate(scores, dim, head_dim=None):
    """Random small networks of few weights; ``scores`` and ``head_dim`` as ``oracle.random_transformer`` takes them."""

    def make(seed):
        rng = Random(seed)
        network = oracle.random_transformer(
            rng, tokens=rng.randint(2, 3 if dim == 2 else 4), dim=rng.randint(1, 3), layers=rng.randint(1, 2),
            heads=rng.randint(1, 2), head_dim=head_dim or rng.randint(1, 2), hidden=rng.randint(0, 2), input_dim=dim,
            values=rng.choice((oracle.VALUES, compare.MIXED)), scores=scores, readout=False,
            mask=rng.choice(("none", "none", "causal")),
        )  # fmt: skip
        return network_from_dict(network), [[-2, 2]] * dim

    return make


def generic(queries, input_dim, dim):
    """Random networks in general position."""

    def make(seed):
        rng = Random(seed)
        network = rc.constructions.random_transformer(
            tokens=rng.randint(2, 4), layers=rng.randint(1, 2), heads=rng.randint(1, 2), dim=dim,
            hidden=rng.randint(1, 3), input_dim=input_dim, queries=queries, seed=seed,
        )  # fmt: skip
        return network, [[-1, 1]] * input_dim

    return make


LINE = {  # generator, whether scores are affine
    "quadratic": (degenerate("quadratic", 1), False),
    "generic quadratic": (generic("free", 1, 4), False),
    "fixed queries": (degenerate("fixed_query", 1), True),
    "generic fixed queries": (generic("fixed", 1, 4), True),
}


@pytest.mark.parametrize("family", LINE)
@pytest.mark.parametrize("block", range(5))
def test_random_networks_on_the_line(family, block) -> None:
    make, affine = LINE[family]
    for seed in range(30 * block, 30 * block + 30):
        network, domain = make(seed)
        counted = rc.count(network, domain)
        assert_below(network, domain, bounds.transformer_upper_1d, affine, counted)
        assert counted.pieces <= bounds.transformer_upper_1d(*shape(network), affine)


PLANE = {  # generator, whether scores are affine; a further kind of head is a further line
    "fixed queries": (degenerate("fixed_query", 2), True),
    "generic fixed queries": (generic("fixed", 2, 4), True),
    "heads of one row": (degenerate("quadratic", 2, head_dim=1), False),
    "generic heads of one row": (generic("free", 2, 1), False),
    **{f"heads of {rows} rows": (degenerate("quadratic", 2, head_dim=rows), False) for rows in (2, 3)},
    **{f"generic tokens of dimension {dim}": (generic("free", 2, dim), False) for dim in (2, 3)},
}


@pytest.mark.parametrize("family", PLANE)
@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 4))])
def test_random_networks_in_the_plane(family, block) -> None:
    make, affine = PLANE[family]
    for seed in range(10 * block, 10 * block + 10):
        network, domain = make(seed)
        counted = rc.subdivide(network, domain)
        assert_below(network, domain, bounds.transformer_upper_2d, affine, counted)
        assert counted.count("activation") <= bounds.transformer_upper_2d(*shape(network), affine)
        assert counted.count("linear") <= counted.count("cells")
        assert counted.count("cells") <= bounds.transformer_upper_cells_2d(*shape(network), affine)


def attention(query, key, tokens, mask="none"):
    """One head without a residual on tokens of affine coordinates, rows (slopes…, constant); ``query`` and ``key`` are
    lists of coordinates."""
    width = len(tokens[0])

    def pick(rows):
        return {"weight": [[int(i == row) for i in range(width)] for row in rows]}

    embed = {
        "type": "embed",
        "weight": [[row[:-1] for row in token] for token in tokens],
        "bias": [[row[-1] for row in token] for token in tokens],
    }
    head = {"query": pick(query), "key": pick(key), "value": pick([0]), "output": {"weight": [[1]]}}
    layer = {"type": "attention", "residual": False, "mask": mask, "heads": [head]}
    dim = len(tokens[0][0]) - 1
    return network_from_dict(
        {"format": "regioncount-network", "version": 1, "input_dim": dim, "layers": [embed, layer]}
    )


def test_the_bound_on_the_line_is_attained() -> None:
    """Three parabolas, 0 and -(x ± 1/2)^2 + 1/16 + c, have an envelope of 5 parts; c differs from query to query."""
    queries = [[[1, 0], [0, 1], [0, c]] for c in (0, "1/64", "1/32")]
    keys = [[[0, 0]] * 3, [[-1, -1], [0, "-3/16"], [0, 1]], [[-1, 1], [0, "-3/16"], [0, 1]]]
    network = attention([0, 1, 2], [3, 4, 5], [q + k for q, k in zip(queries, keys, strict=True)])
    assert rc.count(network, "-1:1").pieces == bounds.transformer_upper_1d(3, [1], [0]) == 13


def test_the_affine_bound_in_the_plane_is_attained() -> None:
    """Two tokens: each query has one line, and they cross."""
    tokens = [[[0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]]
    network = attention([0, 1], [2, 3], tokens)
    counts = rc.subdivide(network, "-1:1,-1:1").counts()
    assert counts["activation"] == counts["cells"] == bounds.transformer_upper_2d(2, [1], [0], affine=True) == 4


def test_products_of_two_numbers_near_the_bound_on_cells() -> None:
    """Queries x and y + x/2 - 1/4, keys that differ by y - x/2: three lines in general position, 7 cells of 13."""
    tokens = [[[1, 0, 0], [0, 0, 0]], [["1/2", 1, "-1/4"], ["-1/2", 1, "1/8"]]]
    network = attention([0], [1], tokens)
    partition = rc.subdivide(network, "-1:1,-1:1")
    assert (partition.count("activation"), partition.count("cells")) == (4, 7)
    assert 7 <= bounds.transformer_upper_cells_2d(2, [1], [0]) == 13


def test_the_bound_on_cells_of_a_square_is_attained() -> None:
    """Two ellipses that leave the square through all of its sides and cross in four points inside it: 13 cells.

    In the whole plane two conics have at most 11.
    """
    tokens = [
        [["-2/3", 0, 0], [0, "-5/6", 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
        [["-5/6", 0, 0], [0, "-2/3", 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    ]
    network = attention([0, 1, 2], [3, 4, 5], tokens)
    partition = rc.subdivide(network, "-1:1,-1:1")
    assert partition.count("activation") == 4
    assert partition.count("cells") == bounds.transformer_upper_cells_2d(2, [1], [0]) == 13
