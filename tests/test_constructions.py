"""Named networks: against reference weights and counts, the recipe of the random ones, and bad arguments."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracle
import pytest

from regioncount import constructions
from regioncount.errors import InputError
from regioncount.files import network_from_dict, network_to_dict

DATA = Path(__file__).parent / "data"
NETWORKS = {entry["name"]: entry["network"] for entry in json.loads((DATA / "networks.json").read_text())}
COUNTS = json.loads((DATA / "constructions.json").read_text())["constructions"]
SMALL = [(family, key) for family, table in COUNTS.items() for key in table if table[key]["activation"] <= 40]
LARGE = [(family, key) for family, table in COUNTS.items() for key in table if table[key]["activation"] > 40]
REFERENCES = {
    "three_step_T3_L1": ("three-step", {"tokens": 3, "depth": 3}),
    "three_step_T3_L2": ("three-step", {"tokens": 3, "depth": 6}),
    "three_step_T4_L1": ("three-step", {"tokens": 4, "depth": 3}),
    "one_step_T3_L1": ("one-step", {"tokens": 3, "depth": 2}),
    "one_step_T4_L1": ("one-step", {"tokens": 4, "depth": 2}),
    "two_heads_T3_L1": ("two-heads", {"tokens": 3, "depth": 3}),
    "two_heads_T3_L2": ("two-heads", {"tokens": 3, "depth": 6}),
    "two_heads_T4_L1": ("two-heads", {"tokens": 4, "depth": 3}),
    "tent_L1": ("tent", {"depth": 1}),
    "tent_L2": ("tent", {"depth": 2}),
    "tent_L3": ("tent", {"depth": 3}),
    "relu_zig3_L1": ("zigzag", {"pieces": 4, "depth": 1}),
    "relu_zig3_L3": ("zigzag", {"pieces": 4, "depth": 3}),
}
RANDOM = {
    "random-relu": {"widths": "2,6,5,1"},
    "random-maxout": {"widths": [2, 4, 3, 2], "rank": 3},
    "random-transformer": {"tokens": 3, "layers": 2, "heads": 2, "dim": 5, "hidden": 4, "input_dim": 2},
}
F = Fraction


def pieces_of(network):
    return oracle.enumerate_1d(network_to_dict(network), F(0), F(1))


def check_counts(family: str, key: str, with_r1: bool) -> None:
    tokens, depth = map(int, key.split(","))
    network = getattr(constructions, family)(tokens, depth)
    expected = dict(COUNTS[family][key])
    r1 = expected.pop("R1")
    assert oracle.counts(pieces_of(network)) == expected
    if with_r1:
        assert oracle.r1_1d(network_to_dict(network), F(0), F(1)) == r1


@pytest.mark.parametrize("name", REFERENCES)
def test_weights_are_those_of_the_reference_networks(name: str) -> None:
    family, arguments = REFERENCES[name]
    assert constructions.build(family, **arguments).layers == network_from_dict(NETWORKS[name]).layers


@pytest.mark.parametrize(("family", "key"), SMALL)
def test_counts_of_small_constructions(family: str, key: str) -> None:
    check_counts(family, key, with_r1=COUNTS[family][key]["activation"] <= 12)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "key"), LARGE)
def test_counts_of_large_constructions(family: str, key: str) -> None:
    check_counts(family, key, with_r1=False)


@pytest.mark.parametrize("depth", [1, 2, 4, 5, 7])
def test_three_step_is_constant_between_multiples_of_three(depth: int) -> None:
    below = constructions.three_step(3, depth // 3 * 3) if depth >= 3 else None
    pieces = pieces_of(constructions.three_step(3, depth))
    assert oracle.counts(pieces)["linear"] == 2 ** (depth // 3)
    if below:
        assert [(p.left, p.right, p.map) for p in pieces] == [
            (p.left, p.right, p.map) for p in pieces_of(below)
        ]


@pytest.mark.parametrize("name", ["three-step", "one-step", "two-heads"])
def test_transformers_of_depth_one_are_the_identity(name: str) -> None:
    pieces = pieces_of(constructions.build(name, tokens=4, depth=1))
    assert {piece.map for piece in pieces} == {((F(1), F(0)),)}


@pytest.mark.parametrize("depth", [3, 6])
@pytest.mark.parametrize("tokens", [3, 4, 5])
def test_three_step_is_a_zigzag_onto_the_unit_interval(tokens: int, depth: int) -> None:
    network = network_to_dict(constructions.three_step(tokens, depth))
    pieces = (tokens - 1) ** (depth // 3)
    corners = [oracle.evaluate(network, (F(i, pieces),))[0] for i in range(pieces + 1)]
    assert corners == [i % 2 for i in range(pieces + 1)]
    assert oracle.evaluate(network, (F(1, 3 * pieces),))[0] == F(1, 3)


@pytest.mark.parametrize("pieces", range(2, 9))
@pytest.mark.parametrize("depth", [1, 2])
def test_zigzag_has_pieces_to_the_depth(pieces: int, depth: int) -> None:
    network = constructions.zigzag(pieces, depth)
    units = network.layers[0].weight.shape[0]
    assert units == (pieces if pieces <= 3 else pieces - 1)
    found = pieces_of(network)
    assert set(oracle.counts(found).values()) == {pieces**depth}
    for piece in found:
        slope, constant = piece.map[0]
        assert {slope * piece.left + constant, slope * piece.right + constant} == {0, 1}


def test_tent_is_the_zigzag_of_two_pieces() -> None:
    assert constructions.tent(3).layers == constructions.zigzag(2, 3).layers


def test_constructions_have_exact_weights_domain_and_metadata() -> None:
    network = constructions.three_step(tokens=4, depth=6)
    assert network.domain == "0:1"
    assert network.metadata == {"family": "three-step", "parameters": {"tokens": 4, "depth": 6}}
    output = network.layers[2].output
    assert output.bias.fractions()[3] == F(-1, 36)
    assert not output.bias.is_float


# --- random networks


def flat_weights(network) -> np.ndarray:
    """All numbers of a network in file order, weight before bias."""
    found: list[float] = []

    def walk(value) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                if key in ("weight", "bias"):
                    found.extend(np.asarray(item, dtype=float).ravel())
                elif key != "metadata":
                    walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(network_to_dict(network)["layers"])
    return np.array(found)


def fan_in_and_gains(name: str) -> list[tuple[tuple[int, ...], int]]:
    """Shapes of the weights in file order, the last axis the fan-in, and the gains of `he`."""
    if name == "random-relu":
        return [((6, 2), 2), ((5, 6), 2), ((1, 5), 2)]
    if name == "random-maxout":
        return [((4, 3, 2), 1), ((3, 3, 4), 1), ((2, 3), 2)]
    head = [((2, 5), 1)] * 3 + [((5, 2), 1)]
    return [((3, 5, 2), 2)] + ([*head, *head, ((4, 5), 2), ((5, 4), 2)]) * 2


@pytest.mark.parametrize("init", ["he", "uniform"])
@pytest.mark.parametrize("name", RANDOM)
def test_random_networks_follow_the_recipe(name: str, init: str) -> None:
    rng = np.random.default_rng(7)
    expected = []
    for shape, gain in fan_in_and_gains(name):
        limit = 1 / np.sqrt(shape[-1])
        if init == "he":
            parts = [rng.normal(0, np.sqrt(gain / shape[-1]), shape), rng.normal(0, 0.1, shape[:-1])]
        else:
            parts = [rng.uniform(-limit, limit, shape), rng.uniform(-limit, limit, shape[:-1])]
        expected += [part.ravel() for part in parts]
    network = constructions.build(name, **RANDOM[name], seed=7, init=init)
    np.testing.assert_array_equal(flat_weights(network), np.concatenate(expected))
    assert network.domain == "-1:1,-1:1"
    assert network.metadata["family"] == name
    assert network.metadata["seed"] == 7
    assert network.metadata["parameters"]["init"] == init


@pytest.mark.parametrize("name", RANDOM)
def test_seeds_fix_random_networks(name: str) -> None:
    first, same, other = (constructions.build(name, **RANDOM[name], seed=seed) for seed in (1, 1, 2))
    assert first == same
    assert first != other


def test_metadata_rebuilds_the_network() -> None:
    for name, arguments in RANDOM.items():
        network = constructions.build(name, **arguments, seed=3)
        parameters = network.metadata["parameters"]
        assert constructions.build(name, **parameters, seed=network.metadata["seed"]) == network
        json.dumps(network.metadata)


def test_fixed_queries_change_only_the_query_weights() -> None:
    free, fixed = (constructions.random_transformer(heads=2, queries=kind) for kind in ("free", "fixed"))
    for layer, other in zip(free.layers, fixed.layers, strict=True):
        if layer.type != "attention":
            assert layer == other
            continue
        for head, constant in zip(layer.heads, other.heads, strict=True):
            assert not constant.query.weight.view.any()
            assert constant.query.bias == head.query.bias
            assert (head.key, head.value, head.output) == (constant.key, constant.value, constant.output)


def test_head_dimension_is_at_least_one() -> None:
    network = constructions.random_transformer(heads=3, dim=2)
    assert network.layers[1].heads[0].query.weight.shape == (1, 2)
    assert network.output_dim == 2


# --- bad arguments


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("four-step", {}, "construction: expected one of three-step"),
        (3, {}, "construction: expected one of"),
        ("tent", {"tokens": 3}, "tent: unknown parameter 'tokens'"),
        ("random-relu", {}, "random-relu: parameter 'widths' is missing"),
        ("tent", {"depth": 0}, "depth: expected an integer from 1"),
        ("tent", {"depth": True}, "depth: expected an integer, got True"),
        ("tent", {"depth": 2.0}, "depth: expected an integer, got 2.0"),
        ("tent", {"depth": "2"}, "depth: expected an integer, got '2'"),
        ("three-step", {"tokens": 1}, "tokens: expected an integer from 2"),
        ("one-step", {"tokens": 1}, "tokens: expected an integer from 2"),
        ("two-heads", {"tokens": 2}, "tokens: expected an integer from 3"),
        ("three-step", {"tokens": 10_000, "depth": 10_000}, "at most 20,000,000"),
        ("zigzag", {"pieces": 1}, "pieces: expected an integer from 2"),
        ("zigzag", {"pieces": 100_000, "depth": 100_000}, "at most 20,000,000"),
        ("random-relu", {"widths": "2,x,1"}, r"widths\[1\]: expected an integer, got 'x'"),
        ("random-relu", {"widths": "2,0,1"}, r"widths\[1\]: expected an integer from 1"),
        ("random-relu", {"widths": [2]}, "widths: expected at least an input and an output"),
        ("random-relu", {"widths": 2}, "widths: expected integers such as"),
        ("random-relu", {"widths": [2, 100_000, 100_000, 1]}, "at most 20,000,000"),
        ("random-relu", {"widths": [2, 1], "seed": -1}, "seed: expected an integer from 0"),
        ("random-relu", {"widths": [2, 1], "init": "xavier"}, "init: expected 'he' or 'uniform'"),
        ("random-maxout", {"widths": [2, 3, 1], "rank": 0}, "rank: expected an integer from 1"),
        ("random-transformer", {"queries": "none"}, "queries: expected 'free' or 'fixed'"),
        ("random-transformer", {"heads": 0}, "heads: expected an integer from 1"),
        ("random-transformer", {"dim": 100_000}, "at most 20,000,000"),
    ],
)
def test_bad_arguments_are_named(name, arguments, message) -> None:
    with pytest.raises(InputError, match=message) as caught:
        constructions.build(name, **arguments)
    assert "\n" not in str(caught.value)
