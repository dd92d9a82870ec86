"""Layers and networks: defaults, shapes along the chain, refusals that name layer and field."""

import copy
import dataclasses
import pickle
from fractions import Fraction

import numpy as np
import pytest

from regioncount.errors import InputError
from regioncount.exact import ExactArray
from regioncount.network import (
    Abs,
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


def affine(rows, columns):
    return Affine(np.arange(rows * columns).reshape(rows, columns))


def head(dim=5, rank=2, values=3, out=5):
    return Head(affine(rank, dim), affine(rank, dim), affine(values, dim), affine(out, values))


def embed(tokens=3, dim=5, inputs=2):
    return Embed(np.ones((tokens, dim, inputs)))


def feedforward(dim=5, width=4, out=5, residual=True):
    return Feedforward(affine(width, dim), affine(out, width), residual=residual)


# ---------------------------------------------------------------- layers


def test_defaults():
    assert affine(2, 3).bias == ExactArray([0, 0])
    assert embed().bias == ExactArray(np.zeros((3, 5)))
    assert Maxout([[[1], [2]], [[3]]]).biases == (ExactArray([0, 0]), ExactArray([0]))
    attention = Attention([head()])
    assert (attention.residual, attention.mask, attention.activation, attention.scale) == (
        True,
        "none",
        "hardmax",
        None,
    )
    assert Attention([head()], activation="softmax").scale == 1
    assert (feedforward().residual, feedforward().activation) == (True, "relu")
    assert Readout("mean").coordinates is None


def test_types():
    layers = [affine(1, 1), ReLU(), LeakyReLU(0.1), Abs(), Maxout([[[1]]]), embed(), Attention([head()])]
    layers += [feedforward(), Readout("all")]
    assert [layer.type for layer in layers] == [
        "affine", "relu", "leaky_relu", "abs", "maxout", "embed", "attention", "feedforward", "readout",
    ]  # fmt: skip


def test_conversion():
    layer = Affine([["1/3", 2]], (0.5,))
    assert isinstance(layer.weight, ExactArray)
    assert layer.weight.fractions().tolist() == [[Fraction(1, 3), 2]]
    assert LeakyReLU("1/10").slope == Fraction(1, 10)
    assert LeakyReLU(0.1).slope == Fraction(0.1)
    assert Attention([head()], activation="softmax", scale="3/2").scale == Fraction(3, 2)
    assert Attention((head(),)).heads == (head(),)
    assert Readout(np.int64(2), np.array([1, 0])) == Readout(2, (1, 0))
    assert type(Readout(np.int64(2)).token) is int
    assert Attention([head()], mask=np.eye(3, dtype=bool)).mask[0] == (True, False, False)
    assert Attention([head()], residual=np.True_).residual is True


def test_maxout_takes_one_array_or_units():
    weight = np.arange(12.0).reshape(2, 3, 2)
    bias = np.arange(6.0).reshape(2, 3)
    expected = Maxout(weight, bias)
    assert [w.shape for w in expected.weights] == [(3, 2), (3, 2)]
    assert Maxout(weight.tolist(), bias.tolist()) == expected
    assert Maxout(ExactArray(weight), ExactArray(bias)) == expected
    assert Maxout(list(weight), list(bias)) == expected
    assert Maxout(expected.weights, expected.biases) == expected
    thirds = Maxout(ExactArray([[["1/3"]]]), ExactArray([["2/3"]]))
    assert thirds.weights[0].fractions()[0, 0] == Fraction(1, 3)


def test_layers_compare_by_exact_value():
    assert Affine([[1, 2]]) == Affine(np.array([[1.0, 2.0]]), [0])
    assert Affine([[0.1]]) != Affine([["0.1"]])
    assert ReLU() == ReLU() != Abs()
    assert len({Attention([head()]), Attention([head()]), Attention([head()], mask="causal")}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        affine(1, 1).weight = 3


def test_replace():
    layer = dataclasses.replace(Attention([head()], activation="softmax", scale=2), mask="causal")
    assert (layer.mask, layer.scale) == ("causal", 2)
    network = Network(2, [affine(3, 2)], metadata={"seed": 1})
    assert dataclasses.replace(network, domain="0:1,0:1").domain == "0:1,0:1"
    assert dataclasses.replace(network, layers=[affine(4, 2)]).output_dim == 4


def test_allowed():
    assert Attention([head()]).allowed(3).all()
    assert Attention([head()], mask="causal").allowed(3).tolist() == np.tri(3, dtype=bool).tolist()
    mask = [[True, False], [True, True]]
    assert Attention([head()], mask=mask).allowed(2).tolist() == mask
    with pytest.raises(InputError, match=r"mask: expected \(3, 3\), got \(2, 2\)"):
        Attention([head()], mask=mask).allowed(3)


LAYER_REFUSALS = [
    (lambda: Affine([1, 2]), "weight: expected (out, in), got (2,)"),
    (lambda: Affine([[[1]]]), "weight: expected (out, in), got (1, 1, 1)"),
    (lambda: Affine([]), "weight: expected (out, in), got (0,)"),
    (lambda: Affine([[]]), "weight: expected (out, in), got (1, 0)"),
    (lambda: Affine(np.zeros((0, 2))), "weight: expected (out, in), got (0, 2)"),
    (lambda: Affine([[1, float("nan")]]), "weight[0][1]: expected a finite number"),
    (lambda: Affine([[1, 2]], [1, 2]), "bias: expected (1,), got (2,)"),
    (lambda: Affine([[1, 2]], 0), "bias: expected an array"),
    (lambda: Affine([[1], [2]], [[1], [2]]), "bias: expected (2,), got (2, 1)"),
    (lambda: LeakyReLU(True), "slope: expected a finite number"),
    (lambda: LeakyReLU(None), "slope: expected a finite number"),
    (lambda: Maxout([]), "weight: expected a list of one or more units"),
    (lambda: Maxout(3), "weight: expected a list of units, got 3"),
    (lambda: Maxout([[1, 2]]), "weight[0]: expected (rank, in), got (2,)"),
    (lambda: Maxout([[[1, 2]], [[1]]]), "weight[1]: expected (rank, 2), got (1, 1)"),
    (lambda: Maxout([[[1, 2]], []]), "weight[1]: expected (rank, in), got (0,)"),
    (lambda: Maxout([[[1, 2]]], [[0, 0]]), "bias[0]: expected (1,), got (2,)"),
    (lambda: Maxout([[[1, 2]]], [[0], [0]]), "bias: expected 1 units like weight, got 2"),
    (lambda: Maxout([[[1]], [[1], ["x"]]]), "weight[1][1][0]: expected a finite number"),
    (lambda: Embed([[1]]), "weight: expected (T, d, in), got (1, 1)"),
    (lambda: Embed(np.zeros((0, 1, 1))), "weight: expected (T, d, in), got (0, 1, 1)"),
    (lambda: Embed(np.zeros((2, 3, 1)), np.zeros((3, 2))), "bias: expected (2, 3), got (3, 2)"),
    (lambda: Head([[1]], affine(1, 1), affine(1, 1), affine(1, 1)), "query: expected an Affine, got [[1]]"),
    (lambda: Head(affine(2, 3), affine(1, 3), affine(1, 3), affine(1, 1)),
     "key.weight: expected (2, 3) like query, got (1, 3)"),
    (lambda: Head(affine(2, 3), affine(2, 4), affine(1, 3), affine(1, 1)),
     "key.weight: expected (2, 3) like query, got (2, 4)"),
    (lambda: Head(affine(2, 3), affine(2, 3), affine(1, 4), affine(1, 1)),
     "value.weight: expected (rows, 3) like query, got (1, 4)"),
    (lambda: Head(affine(2, 3), affine(2, 3), affine(1, 3), affine(1, 2)),
     "output.weight: expected (out, 1) for value, got (1, 2)"),
    (lambda: Attention([]), "heads: expected a list of one or more heads"),
    (lambda: Attention(head()), "heads: expected a list of heads, got Head("),
    (lambda: Attention([head(), 3]), "heads[1]: expected a Head, got 3"),
    (lambda: Attention([head(), head(out=4)]),
     "heads[1].output.weight: expected (5, 3) for the residual, got (4, 3)"),
    (lambda: Attention([head(out=4), head(out=3, values=2)], residual=False),
     "heads[1].output.weight: expected (4, 2) like heads[0], got (3, 2)"),
    (lambda: Attention([head()], residual=1), "residual: expected true or false, got 1"),
    (lambda: Attention([head()], mask="full"), "mask: expected 'none', 'causal' or (T, T) bools, got 'full'"),
    (lambda: Attention([head()], mask=None), "mask: expected a list of rows, got None"),
    (lambda: Attention([head()], mask=[[True, False]]), "mask[0]: expected 1 bools"),
    (lambda: Attention([head()], mask=[[True, False], [True]]), "mask[1]: expected 2 bools"),
    (lambda: Attention([head()], mask=[[True, False], [False, False]]),
     "mask[1]: expected at least one token"),
    (lambda: Attention([head()], mask=[[1, 0], [0, 1]]), "mask[0][0]: expected true or false, got 1"),
    (lambda: Attention([head()], activation="relu"),
     "activation: expected 'hardmax' or 'softmax', got 'relu'"),
    (lambda: Attention([head()], scale=1), "scale: expected none with hardmax"),
    (lambda: Attention([head()], activation="softmax", scale=0), "scale: expected a positive number, got 0"),
    (lambda: Attention([head()], activation="softmax", scale="x"), "scale: expected a finite number"),
    (lambda: Feedforward(affine(4, 5), 3), "output: expected an Affine, got 3"),
    (lambda: feedforward(out=4), "output.weight: expected (5, 4) for hidden and the residual, got (4, 4)"),
    (lambda: Feedforward(affine(4, 5), affine(5, 3)), "output.weight: expected (5, 4)"),
    (lambda: Feedforward(affine(4, 5), affine(2, 3), residual=False),
     "output.weight: expected (out, 4) for hidden"),
    (lambda: Feedforward(affine(4, 5), affine(5, 4), activation="gelu"),
     "activation: expected 'relu', got 'gelu'"),
    (lambda: Readout(-1), "token: expected an integer of at least 0, got -1"),
    (lambda: Readout("first"), "token: expected a token, 'mean' or 'all', got 'first'"),
    (lambda: Readout(True), "token: expected an integer of at least 0, got True"),
    (lambda: Readout(1.0), "token: expected an integer of at least 0, got 1.0"),
    (lambda: Readout(0, []), "coordinates: expected a list of one or more coordinates"),
    (lambda: Readout(0, 1), "coordinates: expected a list of coordinates, got 1"),
    (lambda: Readout(0, [0, -1]), "coordinates[1]: expected an integer of at least 0, got -1"),
    (lambda: Readout(0, [False]), "coordinates[0]: expected an integer of at least 0, got False"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), LAYER_REFUSALS, ids=range(len(LAYER_REFUSALS)))
def test_refused_layers(make, message):
    with pytest.raises(InputError) as info:
        make()
    assert str(info.value).startswith(message)
    assert "\n" not in str(info.value)


# ---------------------------------------------------------------- networks


def test_shapes_of_a_transformer():
    network = Network(
        2,
        [
            affine(2, 2),
            ReLU(),
            embed(tokens=3, dim=5),
            Attention([head(), head()], mask="causal"),
            feedforward(),
            LeakyReLU(0.5),
            Attention([head(out=4)], residual=False),
            Feedforward(affine(3, 4), affine(2, 3), residual=False),
            Abs(),
            Maxout(np.ones((6, 2, 2))),
            affine(4, 6),
            Readout("all", [3, 0]),
            affine(7, 6),
            Maxout(np.ones((2, 3, 7))),
        ],
    )
    vector, tokens = [(None, 2)] * 3, [(3, 5)] * 4
    assert list(network.shapes) == vector + tokens + [
        (3, 4), (3, 2), (3, 2), (3, 6), (3, 4), (None, 6), (None, 7), (None, 2),
    ]  # fmt: skip
    assert network.output_dim == 2
    assert len(network.shapes) == len(network.layers) + 1


def test_output_without_a_readout_is_every_token():
    assert Network(2, [embed(tokens=3, dim=5)]).output_dim == 15
    assert Network(2, [embed(), Readout("mean")]).output_dim == 5
    assert Network(2, [embed(), Readout(2, [4])]).output_dim == 1
    assert Network(2, [embed(), Readout("all")]).output_dim == 15


def test_no_layers_is_the_identity():
    network = Network(3, [])
    assert (network.layers, network.output_dim, network.shapes) == ((), 3, ((None, 3),))


def test_networks_compare_by_value_and_forget_their_cache():
    network = Network(2, [affine(3, 2)], domain="0:1,0:1", metadata={"a": [1, {"b": None}]})
    network._cache["lowered"] = object()
    for other in (
        copy.copy(network),
        copy.deepcopy(network),
        pickle.loads(pickle.dumps(network)),
        Network(2, (affine(3, 2),), "0:1,0:1", {"a": (1, {"b": None})}),
    ):
        assert other == network
        assert hash(other) == hash(network)
        assert other._cache == {}
        assert other.shapes == network.shapes
    assert network != Network(2, [affine(3, 2)])
    assert "_cache" not in repr(network)
    with pytest.raises(dataclasses.FrozenInstanceError):
        network.domain = "0:2,0:2"


def test_metadata_is_copied():
    given = {"family": "x", "parameters": {"tokens": np.int64(3), "scales": [0.5]}}
    network = Network(1, [], metadata=given)
    given["parameters"]["scales"].append(1)
    assert network.metadata == {"family": "x", "parameters": {"tokens": 3, "scales": [0.5]}}
    assert type(network.metadata["parameters"]["tokens"]) is int
    assert Network(1, [], metadata={}).metadata == {}
    assert Network(1, []).metadata is None


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


NETWORK_REFUSALS = [
    (lambda: Network(0, []), "input_dim: expected an integer of at least 1, got 0"),
    (lambda: Network(True, []), "input_dim: expected an integer of at least 1, got True"),
    (lambda: Network(2.0, []), "input_dim: expected an integer of at least 1, got 2.0"),
    (lambda: Network("2", []), "input_dim: expected an integer of at least 1, got '2'"),
    (lambda: Network(2, affine(1, 2)), "layers: expected a list of layers, got Affine("),
    (lambda: Network(2, ["relu"]), "layers[0]: expected a layer such as Affine or ReLU, got 'relu'"),
    (lambda: Network(2, [ReLU]), "layers[0]: expected a layer such as Affine or ReLU, got "),
    (lambda: Network(2, [], domain=3), "domain: expected text such as '-1:1', or str(domain), got 3"),
    (lambda: Network(2, [], metadata=[]), "metadata: expected an object, got []"),
    (lambda: Network(2, [], metadata={"a": {"b": [0, float("inf")]}}), "metadata.a.b[1]: expected what JSON"),
    (lambda: Network(2, [], metadata={"a": Fraction(1, 3)}), "metadata.a: expected what JSON can hold"),
    (lambda: Network(2, [], metadata={1: 2}), "metadata: expected keys that are strings, got 1"),
    (lambda: Network(2, [], metadata={"a": deep(10_000)}), "metadata: nested too deeply"),
    (lambda: Network(2, [affine(3, 2), affine(1, 4)]),
     "layers[1] (affine): weight: expected (out, 3), got (1, 4)"),
    (lambda: Network(2, [Maxout([[[1]]])]), "layers[0] (maxout): weight[0]: expected (rank, 2), got (1, 1)"),
    (lambda: Network(1, [embed()]), "layers[0] (embed): weight: expected (T, d, 1), got (3, 5, 2)"),
    (lambda: Network(2, [embed(), embed(inputs=5)]),
     "layers[1] (embed): expected at most one embed layer, got a second"),
    (lambda: Network(2, [embed(), Readout(0), embed(inputs=5)]),
     "layers[2] (embed): expected at most one embed layer, got a second"),
    (lambda: Network(5, [Attention([head()])]),
     "layers[0] (attention): expected tokens, which an embed layer makes, got a vector"),
    (lambda: Network(5, [feedforward()]), "layers[0] (feedforward): expected tokens"),
    (lambda: Network(5, [Readout(0)]), "layers[0] (readout): expected tokens"),
    (lambda: Network(2, [embed(), Readout(0), Readout(0)]), "layers[2] (readout): expected tokens"),
    (lambda: Network(2, [embed(), Readout(0), feedforward()]), "layers[2] (feedforward): expected tokens"),
    (lambda: Network(2, [embed(), ReLU(), Attention([head(), head(dim=4)], residual=False)]),
     "layers[2] (attention): heads[1].query.weight: expected (r, 5), got (2, 4)"),
    (lambda: Network(2, [embed(), Attention([head()], mask=[[True]])]),
     "layers[1] (attention): mask: expected (3, 3), got (1, 1)"),
    (lambda: Network(2, [embed(), feedforward(dim=4, out=4)]),
     "layers[1] (feedforward): hidden.weight: expected (hidden, 5), got (4, 4)"),
    (lambda: Network(2, [embed(), affine(1, 15)]),
     "layers[1] (affine): weight: expected (out, 5), got (1, 15)"),
    (lambda: Network(2, [embed(), Readout(3)]),
     "layers[1] (readout): token: expected an integer from 0 to 2, got 3"),
    (lambda: Network(2, [embed(), Readout("all", [0, 5])]),
     "layers[1] (readout): coordinates[1]: expected an integer from 0 to 4, got 5"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), NETWORK_REFUSALS, ids=range(len(NETWORK_REFUSALS)))
def test_refused_networks(make, message):
    with pytest.raises(InputError) as info:
        make()
    assert str(info.value).startswith(message)
    assert "\n" not in str(info.value)


# ---------------------------------------------------------------- from_layers


def test_from_layers():
    weight, bias = np.ones((3, 2)), np.zeros(3)
    network = from_layers(
        [
            (weight, bias),
            "relu",
            [np.ones((2, 3)).tolist(), [0, "1/3"]],
            "abs",
            ("leaky_relu", "1/10"),
            ("maxout", np.ones((4, 2, 2)), np.zeros((4, 2))),
            ("maxout", [[[1, 2, 3, 4]]]),
            (np.ones((5, 1)),),
            Affine(np.ones((1, 5))),
        ],
        domain="-1:1,-1:1",
    )
    assert network == Network(
        2,
        [
            Affine(weight, bias),
            ReLU(),
            Affine(np.ones((2, 3)), [0, Fraction(1, 3)]),
            Abs(),
            LeakyReLU(Fraction(1, 10)),
            Maxout(np.ones((4, 2, 2))),
            Maxout([[[1, 2, 3, 4]]]),
            Affine(np.ones((5, 1))),
            Affine(np.ones((1, 5))),
        ],
        domain="-1:1,-1:1",
    )


def test_from_layers_reads_the_input_dimension():
    assert from_layers(["abs", (np.ones((1, 4)), None)]).input_dim == 4
    assert from_layers(["relu", ("maxout", np.ones((1, 2, 3)))]).input_dim == 3
    assert from_layers([embed(inputs=7), "relu", Readout(0)]).input_dim == 7


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([], "layers: expected one with a weight"),
        (["relu"], "layers: expected one with a weight"),
        ("relu", "layers: expected a list of layers, got 'relu'"),
        (["gelu"], "layers[0]: expected (W, b), 'relu', 'abs', ('leaky_relu', slope)"),
        ([3], "layers[0]: expected (W, b)"),
        ([()], "layers[0]: expected (W, b)"),
        ([np.ones((2, 2))], "layers[0]: expected (W, b)"),
        (["leaky_relu"], "layers[0]: expected (W, b)"),
        ([("relu", 1)], "layers[0]: expected (W, b)"),
        ([(1, 2, 3)], "layers[0]: expected (W, b)"),
        (
            [(np.ones((1, 1)), [0]), ("leaky_relu", "x")],
            "layers[1] (leaky_relu): slope: expected a finite number",
        ),
        ([(np.ones((1, 1)), [0, 1])], "layers[0] (affine): bias: expected (1,), got (2,)"),
        ([([1], [0])], "layers[0] (affine): weight: expected (out, in), got (1,)"),
        ([(np.ones((1, 1)), [0]), (np.ones((1, 2)), [0])], "layers[1] (affine): weight: expected (out, 1)"),
    ],
)
def test_from_layers_refuses(layers, message):
    with pytest.raises(InputError) as info:
        from_layers(layers)
    assert str(info.value).startswith(message)
