"""Outputs and patterns at points: against the rational oracle, on borders above all; bounds; bad points."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regioncount import evaluation
from regioncount.errors import InputError
from regioncount.evaluation import activation_pattern, evaluate, patterns_and_borders
from regioncount.files import load, network_from_dict
from regioncount.lowering import Composer
from regioncount.network import (
    Affine,
    Attention,
    Embed,
    Feedforward,
    Head,
    LeakyReLU,
    Maxout,
    Network,
    Readout,
    ReLU,
    from_layers,
)

F = Fraction
NETWORKS = {
    entry["name"]: entry["network"]
    for entry in json.loads((Path(__file__).parent / "data" / "networks.json").read_text())
}
REAL = Path(__file__).parents[2] / "shared" / "real"
KINDS = ("relu", "maxout", "transformer")
# thirds and tenths: sums that floats get wrong
ROUNDED = (F(1, 3), F(-1, 3), F(2, 3), F(0.1), F(-0.1), F(0.3), F(1, 7), 1, -1, 0, F(-2, 3))


def random_network(rng: random.Random, kind: str, n: int, values=oracle.VALUES) -> dict:
    if kind == "relu":
        return oracle.random_relu(rng, (n, 4, 3, 2), values, activation="mixed", slope="1/3")
    if kind == "maxout":
        return oracle.random_maxout(rng, (n, 3, 2, 2), values=values, ragged=True)
    scores = rng.choice(("quadratic", "fixed_query", "fixed_keys", "mixed"))
    return oracle.random_transformer(
        rng,
        tokens=rng.choice((2, 3, 4)),
        layers=rng.choice((1, 2, 3)),
        heads=rng.choice((1, 2)),
        hidden=rng.choice((0, 2)),
        input_dim=n,
        values=values,
        scores=scores,
        mask=rng.choice(("none", "causal", "random")),
        residual=scores in ("fixed_keys", "mixed") or rng.random() < 0.5,
        readout=rng.choice((True, False, "mean", "all")),
    )


def assert_patterns(description: dict, points) -> None:
    patterns = activation_pattern(network_from_dict(description), points)
    for point, pattern in zip(points, patterns, strict=True):
        assert tuple(pattern) == oracle.pattern_at(description, [F(x) for x in point]), list(point)


def assert_values(description: dict, points) -> None:
    values = evaluate(network_from_dict(description), points)
    for point, value in zip(points, values, strict=True):
        expected = [float(y) for y in oracle.evaluate(description, [F(x) for x in point])]
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------- against the oracle


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.integers(1, 4))
def test_outputs_and_patterns_on_a_coarse_lattice(seed, kind, n):
    rng = random.Random(seed)
    description = random_network(rng, kind, n)
    points = [[rng.randint(-8, 8) / 4 for _ in range(n)] for _ in range(rng.choice((1, 5, 12)))]
    assert_patterns(description, points)
    assert_values(description, points)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.integers(1, 4), st.booleans())
def test_thirds_and_tenths(seed, kind, n, rounded):
    rng = random.Random(seed)
    description = random_network(rng, kind, n, ROUNDED)
    points = [[rng.choice((F(rng.randint(-3, 3), 3), F(rng.randint(-3, 3) * 0.1))) for _ in range(n)] for _ in range(6)]
    if rounded:  # floats next to borders instead of rationals on them
        points = [[float(x) for x in point] for point in points]
    assert_patterns(description, points)
    assert_values(description, points)


@pytest.mark.parametrize("exponent", [30, 100, 150, 160, 300])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("error")
def test_what_overflows_or_underflows_is_decided_exactly(kind, exponent):
    values = (1, -1, 0, F(1, 3), F(10) ** exponent, -(F(10) ** -exponent), F(10) ** -exponent)
    for seed in range(6):
        rng = random.Random(seed)
        n = rng.choice((1, 2, 3))
        points = [[rng.choice((0, 0.5, -1, 10.0**-exponent)) for _ in range(n)] for _ in range(4)]
        assert_patterns(random_network(rng, kind, n, values), points)


def test_an_overflowing_partial_sum_rules_nothing_out():
    # in units of 2^1024, which overflows: scores -1.2 + 0.9 and -0.5
    big = 2.0**512
    nothing = Affine([[0, 0], [0, 0]])
    head = Head(Affine(nothing.weight, [big, big]), Affine([[1, 0], [0, 1]]), Affine([[1, 0]]), Affine([[0], [0]]))
    tokens = Embed(np.zeros((2, 2, 1)), [[-1.2 * big, 0.9 * big], [-0.5 * big, 0]])
    assert Network(1, [tokens, Attention([head])]).activation_pattern([0.0]).tolist() == [1, 0, 1, 0]


def test_underflow_is_not_zero():
    layers: list = [([[1e-200]],), "relu"]
    for _ in range(4):
        layers += [([[1e-200]],), LeakyReLU(1e-200)]
    network = from_layers([*layers, ([[1], [-1]],), "relu"])
    assert network.activation_pattern([[1], [-1]]).tolist() == [[1] * 6 + [0], [0] * 7]


def test_an_overflowing_sum_has_no_sign():
    # 1.7 + 0.3 - 1.7 - 1.7 in units of 1e308: floats may stop at infinity
    network = from_layers([([[1.7e308, 3e307, -1.7e308, -1.7e308], [-1.7e308, -3e307, 1.7e308, 1.7e308]],), "relu"])
    points = np.repeat([[1, 1, 1, 1], [1, 1, 1, 0]], 20, axis=0)
    assert network.activation_pattern(points).tolist() == [[0, 1]] * 20 + [[1, 0]] * 20


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_reference_networks_at_dyadic_points(name):
    description = NETWORKS[name]
    rng = random.Random(name)
    n = description["input_dim"]
    points = [[0.0] * n, [1.0] * n, [0.5] * n] + [[rng.randint(-16, 16) / 16 for _ in range(n)] for _ in range(9)]
    assert_patterns(description, points)
    assert_values(description, points)


def test_the_sign_of_a_sum_that_floats_round_to_zero():
    network = from_layers([([[0.1, 0.2]], [-0.3]), "relu"])
    assert network.activation_pattern([1, 1]).tolist() == [int(F(0.1) + F(0.2) > F(0.3))] == [1]
    thirds = from_layers([([["1/3", "1/3"]], ["-2/3"]), "relu"])
    assert thirds.activation_pattern([1, 1]).tolist() == [0]
    assert thirds.activation_pattern([1, np.nextafter(1, 2)]).tolist() == [1]
    assert thirds.activation_pattern([["1/3", F(5, 3)], [F(1, 3), "1.67"]]).tolist() == [[0], [1]]


# ---------------------------------------------------------------- ties


def two_tokens(scale=None, values=(1.0, 3.0)) -> list:
    """Tokens (x, value): the greater of x and -x wins, the head returns its value; one output."""
    head = Head(query=Affine([[0, 0]], [1]), key=Affine([[1, 0]]), value=Affine([[0, 1]]), output=Affine([[1]]))
    activation = "hardmax" if scale is None else "softmax"
    return [
        Embed([[[1], [0]], [[-1], [0]]], [[0, values[0]], [0, values[1]]]),
        Attention([head], residual=False, activation=activation, scale=scale),
        Readout(0),
    ]


def test_a_tie_at_a_point_is_averaged_and_passed_on():
    network = Network(1, [*two_tokens(), Affine([[1]], [-2]), ReLU()])
    points = [[-1], [0], [1], [5e-324], [-5e-324]]
    assert network.activation_pattern(points).tolist() == [
        [0, 1, 0, 1, 1], [1, 1, 1, 1, 0], [1, 0, 1, 0, 0], [1, 0, 1, 0, 0], [0, 1, 0, 1, 1],
    ]  # fmt: skip
    assert network.evaluate(points).ravel().tolist() == [1, 0, 0, 0, 1]


def test_ties_everywhere_are_no_border_and_ties_at_a_point_are():
    same = Network(2, [Maxout([[[1, 2], [1, 2], [0, 0]]])])
    patterns, border = patterns_and_borders(same, [[1, 1], [2, -1], [-2, 1], [-3, 1], [0, 0]])
    assert patterns.tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 0, 1], [1, 1, 1]]
    assert border.tolist() == [False, True, True, False, True]
    _, border = patterns_and_borders(from_layers([([[1, -1], [0, 0]],), "relu"]), [[3, 3], [3, 2], [0, 0]])
    assert border.tolist() == [True, False, True]
    _, border = patterns_and_borders(Network(1, two_tokens()), [[0], [1]])
    assert border.tolist() == [True, False]


def test_masked_tokens_have_zeros():
    layers = two_tokens()
    attention = Attention(layers[1].heads, residual=False, mask=[[False, True], [True, True]])
    network = Network(1, [layers[0], attention])
    assert network.activation_pattern([[1], [0], [-1]]).tolist() == [[0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 0, 1]]
    assert network.evaluate([[1], [0], [-1]]).tolist() == [[3, 1], [3, 2], [3, 3]]


def test_exact_decisions_are_skipped_where_not_asked_for_and_where_not_needed(monkeypatch):
    def refuse(self, block, pattern):
        raise AssertionError("exact arithmetic")

    monkeypatch.setattr(Composer, "pre", refuse)
    relu = network_from_dict(random_network(random.Random(1), "relu", 2))
    transformer = network_from_dict(NETWORKS["conic_hyperbola"])
    generic = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    for network in (relu, transformer):
        network.activation_pattern(generic)
        network.activation_pattern([[0, 0]], exact=False)
        network.evaluate([[0, 0], [0.5, 0.5]], exact=False)
    relu.evaluate([[0, 0]])  # continuous
    with pytest.raises(AssertionError, match="exact arithmetic"):
        transformer.evaluate([[0.5, 0.5]])
    with pytest.raises(AssertionError, match="exact arithmetic"):
        relu.activation_pattern([[0, 0]])


def test_inexact_results_agree_where_nothing_ties():
    rng = np.random.default_rng(5)
    for kind in KINDS:
        network = network_from_dict(random_network(random.Random(8), kind, 2, (0.3, -0.7, 1.1, -1.3, 0.9)))
        points = rng.normal(size=(300, 2))
        assert (network.activation_pattern(points) == network.activation_pattern(points, exact=False)).all()
        np.testing.assert_array_equal(network.evaluate(points), network.evaluate(points, exact=False))


@pytest.mark.parametrize("n", [2, 3, 5])
def test_chunks_and_neighbours_change_no_decision(n, monkeypatch):
    rng = np.random.default_rng(n)
    for kind in KINDS:
        network = network_from_dict(random_network(random.Random(n), kind, n, ROUNDED))
        points = rng.integers(-3, 4, (60, n)) / 2
        patterns, values = network.activation_pattern(points), network.evaluate(points)
        single = [network.activation_pattern(point) for point in points]  # by constants, where n > 2
        np.testing.assert_array_equal(patterns, single)
        monkeypatch.setattr(evaluation, "CHUNK_POINTS", 16)
        np.testing.assert_array_equal(patterns, network.activation_pattern(points))
        np.testing.assert_allclose(values, network.evaluate(points), rtol=1e-12, atol=1e-12)
        monkeypatch.undo()


# ---------------------------------------------------------------- bounds


def errors_of(network: Network, point: np.ndarray, monkeypatch) -> list[tuple[list, list, list]]:
    """For each block at a point: the floats of pre and of the scores, their exact values, and their bounds."""
    found = []
    norms = []
    settle, affine_error = evaluation._Settler.settle, evaluation._Stage.affine_error

    def record_settle(self, b, stage, pre, on, scores):
        found.append((stage, pre, scores))
        return settle(self, b, stage, pre, on, scores)

    def record_norm(self, state, e, pre):
        error, norm = affine_error(self, state, e, pre)
        norms.append(F(float(norm[0])))
        return error, norm

    monkeypatch.setattr(evaluation._Settler, "settle", record_settle)
    monkeypatch.setattr(evaluation._Stage, "affine_error", record_norm)
    pattern = network.activation_pattern(point)
    monkeypatch.undo()
    lowered = evaluation._plan(network).lowered
    composer = Composer(lowered, [F(0)] * len(point), [F(1)] * len(point)).at([F(x) for x in point.tolist()])
    out = []
    for b, ((stage, pre, scores), norm) in enumerate(zip(found, norms, strict=True)):
        numerators, denominator = composer.pre(b, pattern)
        floats, bounds = pre.z[:, 0].tolist(), pre.error[:, 0].tolist()
        true = [F(int(z), denominator) for z in numerators[0]]
        assert sum((F(z) - t) ** 2 for z, t in zip(floats, true, strict=True)) <= norm**2
        for sets, score in zip(stage.sets, scores, strict=True):
            unit = 2 * denominator**2 if isinstance(sets, evaluation._Heads) else denominator
            for u, k in np.argwhere(sets.allowed).tolist():
                floats.append(float(score.z[u, k, 0]))
                bounds.append(float(score.error[u, k, 0]))
                true.append(F(int(sets.forms(numerators, u)[k][0]), unit))
        out.append((floats, true, bounds))
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_every_float_is_within_its_bound(kind, monkeypatch):
    rng = random.Random(3)
    for values in (oracle.VALUES, ROUNDED, (0.123, -0.77, 1.9, -3.3, 0.01)):
        for _ in range(6):
            network = network_from_dict(random_network(rng, kind, 2, values))
            point = np.array([rng.uniform(-3, 3), rng.uniform(-3, 3)])
            for floats, true, bounds in errors_of(network, point, monkeypatch):
                for z, t, bound in zip(floats, true, bounds, strict=True):
                    assert abs(F(z) - t) <= F(bound)


def test_bounds_stay_small_in_a_deep_network(monkeypatch):
    rng = np.random.default_rng(0)
    layers: list = []
    for n_in in [2] + [48] * 14:
        layers += [(rng.normal(size=(48, n_in)) * np.sqrt(2 / n_in), rng.normal(size=48) * 0.1), "relu"]
    blocks = errors_of(from_layers(layers), np.array([0.4, -0.7]), monkeypatch)
    for floats, true, bounds in blocks:
        assert max(abs(F(z) - t) for z, t in zip(floats, true, strict=True)) <= max(bounds)
    assert max(blocks[-1][2]) < 1e-7  # |W| alone would give 1e-4


def test_what_feeds_on_dead_units_alone_is_known_to_be_zero(monkeypatch):
    network = from_layers([([[1], [2]], [-9, -9]), "relu", ([[0.3, -0.7]],), "relu"])
    _, _, bounds = errors_of(network, np.array([0.5]), monkeypatch)[1]
    assert bounds == [0]


# ---------------------------------------------------------------- softmax


def softmax_by_hand(network: Network, x: np.ndarray) -> np.ndarray:
    """One vector through a chain of embed, attention, feedforward and readout layers, straight from the definitions."""
    state = x
    for layer in network.layers:
        if isinstance(layer, Embed):
            state = layer.weight.view @ state + layer.bias.view
        elif isinstance(layer, Attention):
            result = state.copy() if layer.residual else 0.0
            for head in layer.heads:
                q, k, v = (state @ p.weight.view.T + p.bias.view for p in (head.query, head.key, head.value))
                scores = np.where(layer.allowed(len(state)), q @ k.T, -np.inf)
                if layer.activation == "softmax":
                    weights = np.exp(float(layer.scale) * (scores - scores.max(axis=1, keepdims=True)))
                else:
                    weights = (scores == scores.max(axis=1, keepdims=True)).astype(float)
                weights /= weights.sum(axis=1, keepdims=True)
                result = result + weights @ v @ head.output.weight.view.T + head.output.bias.view
            state = result
        elif isinstance(layer, Feedforward):
            hidden = np.maximum(state @ layer.hidden.weight.view.T + layer.hidden.bias.view, 0)
            state = layer.residual * state + hidden @ layer.output.weight.view.T + layer.output.bias.view
        else:
            assert isinstance(layer, Readout)
            state = state[layer.token]
    return state.ravel()


@pytest.mark.parametrize("seed", range(6))
def test_softmax_layers_between_hardmax_layers(seed):
    rng = random.Random(seed)
    description = oracle.random_transformer(
        rng, tokens=3, dim=3, layers=3, heads=2, input_dim=2, mask=rng.choice(("none", "causal"))
    )
    layers = description["layers"]
    attentions = [i for i, layer in enumerate(layers) if layer["type"] == "attention"]
    soft = attentions[seed % 3]
    layers[soft] |= {"activation": "softmax", "scale": "3/2"}
    network = network_from_dict(description)
    points = np.random.default_rng(seed).uniform(-1, 1, (40, 2))
    np.testing.assert_allclose(
        network.evaluate(points), [softmax_by_hand(network, x) for x in points], rtol=1e-9, atol=1e-9
    )
    # up to and with the softmax layer the pattern is that of the hardmax network, ties included
    hard = json.loads(json.dumps(description))
    for key in ("activation", "scale"):
        del hard["layers"][soft][key]
    lattice = np.random.default_rng(seed).integers(-2, 3, (30, 2)) / 2
    start = {**hard, "layers": hard["layers"][: soft + 1]}
    expected = np.array([oracle.pattern_at(start, point.tolist()) for point in lattice])
    found = network.activation_pattern(lattice)
    np.testing.assert_array_equal(found[:, : expected.shape[1]], expected)
    assert found.shape[1] == len(oracle.pattern_at(hard, [0, 0]))


def test_softmax_tends_to_hardmax():
    points = np.linspace(-2, 2, 41)[:, None]
    hard = Network(1, two_tokens()).evaluate(points)
    gaps = [np.abs(Network(1, two_tokens(scale)).evaluate(points) - hard).max() for scale in (1, 10, 1000)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-9
    assert Network(1, two_tokens(5)).evaluate([0]).tolist() == [2]


# ---------------------------------------------------------------- arguments


def test_one_point_or_many():
    network = from_layers([([[1, 1], [1, -1], [2, 0]],), "relu"])
    assert network.evaluate([1, 2]).shape == network.activation_pattern([1, 2]).shape == (3,)
    assert network.evaluate([[1, 2]]).shape == network.activation_pattern([[1, 2]]).shape == (1, 3)
    assert network.evaluate(np.zeros((0, 2))).shape == network.activation_pattern(np.zeros((0, 2))).shape == (0, 3)
    assert network.evaluate(np.array([1, 2], dtype=np.float32)).tolist() == [3, 0, 2]
    assert network.activation_pattern([1, 2]).dtype == np.uint8
    identity = Network(2, [])
    assert identity.evaluate([3, 4]).tolist() == [3, 4]
    assert identity.activation_pattern([[3, 4]]).shape == (1, 0)


def test_leaky_slopes():
    network = from_layers([([[1], [-1]],), LeakyReLU("1/4")])
    assert network.evaluate([[4], [0]]).tolist() == [[4, -1], [0, 0]]
    assert from_layers([([[1]],), LeakyReLU(-3)]).evaluate([-2]).tolist() == [6]


@pytest.mark.parametrize(
    "points",
    [
        3.0, "text", None, [], [1], [1, 2, 3], [[1], [2]], [[1, 2, 3]], [[[1, 2]]], [[1, 2], [3]], [[1, np.nan]],
        [[np.inf, 0]], [[True, False]], [[1, "x"]], [[1, 2j]], np.zeros((3, 3)), np.array([[1, np.nan]]),
    ],
)  # fmt: skip
def test_bad_points(points):
    network = from_layers([([[1, 1]],), "relu"])
    for method in (network.evaluate, network.activation_pattern):
        with pytest.raises(InputError, match=r"^points") as caught:
            method(points)
        assert "\n" not in str(caught.value)


def test_bad_exact():
    with pytest.raises(InputError, match="exact: expected True or False"):
        Network(1, []).evaluate([0], exact="yes")


# ---------------------------------------------------------------- compiled programs


@pytest.mark.parametrize("name", ["tracr_hist", "tracr_reverse", "tracr_sort"])
def test_compiled_transformers(name):
    path = REAL / f"{name}.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not part of the project")
    network, description = load(path), json.loads(path.read_text())
    points = np.random.default_rng(0).uniform(-1, 2, (2000, 2))
    points[:4] = [[0, 0], [1, 1], [0.5, 0.5], [0.25, 0.75]]
    patterns, floats = network.activation_pattern(points), network.activation_pattern(points, exact=False)
    wrong = np.flatnonzero((patterns != floats).any(axis=1))
    for i in [0, 1, 2, 3, 4, *wrong[:2]]:
        assert tuple(patterns[i]) == oracle.pattern_at(description, [F(x) for x in points[i].tolist()])
    expected = [float(y) for y in oracle.evaluate(description, [F(1, 4), F(3, 4)])]
    np.testing.assert_allclose(network.evaluate(points)[3], expected, rtol=1e-9, atol=1e-9)
