"""Network files: what is written reads back exactly, and everything else is refused in one line."""

import json
import os
import stat
import struct
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as serialize

from regioncount.domain import as_domain
from regioncount.errors import InputError
from regioncount.exact import ExactArray
from regioncount.files import load, network_from_dict, network_to_dict, save
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
)

ORACLES = Path(__file__).parent / "data" / "networks.json"
REAL = Path(__file__).resolve().parents[2] / "shared" / "real"
SUFFIXES = [".json", ".safetensors"]

SMALL = {
    "format": "regioncount-network",
    "version": 1,
    "input_dim": 1,
    "domain": "0:1",
    "layers": [{"type": "affine", "weight": [[1], ["1/3"]], "bias": [0.5, -2]}, {"type": "relu"}],
}


# ---------------------------------------------------------------- random networks

numbers = (
    st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.fractions(max_denominator=99)
)
sizes = st.integers(1, 3)


@st.composite
def arrays(draw, *shape):
    entries = draw(st.lists(numbers, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    return ExactArray(np.array([*entries, None], dtype=object)[:-1].reshape(shape))


def affines(rows, columns):
    return st.builds(Affine, arrays(rows, columns), st.none() | arrays(rows))


@st.composite
def token_layers(draw, tokens, dim):
    """An attention or feedforward layer for the state, and the dimension after it."""
    residual = draw(st.booleans())
    out = dim if residual else draw(sizes)
    if draw(st.booleans()):
        width = draw(sizes)
        return Feedforward(draw(affines(width, dim)), draw(affines(out, width)), residual), out
    heads = []
    for _ in range(draw(st.integers(1, 2))):
        rank, values = draw(sizes), draw(sizes)
        parts = [(rank, dim), (rank, dim), (values, dim), (out, values)]
        heads.append(Head(*(draw(affines(*part)) for part in parts)))
    rows = st.lists(st.booleans(), min_size=tokens, max_size=tokens).filter(any)
    mask = draw(st.sampled_from(["none", "causal"]) | st.lists(rows, min_size=tokens, max_size=tokens))
    softmax = draw(st.booleans())
    scale = draw(st.fractions(min_value="1/9", max_value=9, max_denominator=9)) if softmax else None
    return Attention(heads, residual, mask, "softmax" if softmax else "hardmax", scale), out


@st.composite
def common_layers(draw, dim):
    """A layer for vectors and tokens alike, and the dimension after it."""
    kind = draw(st.sampled_from(["affine", "maxout", "relu", "abs", "leaky_relu"]))
    if kind == "affine":
        layer = draw(affines(draw(sizes), dim))
        return layer, layer.weight.shape[0]
    if kind == "maxout":
        ranks = draw(st.lists(sizes, min_size=1, max_size=3))
        weights = [draw(arrays(rank, dim)) for rank in ranks]
        return Maxout(weights, [draw(arrays(rank)) for rank in ranks]), len(ranks)
    return {"relu": ReLU(), "abs": Abs(), "leaky_relu": LeakyReLU(draw(numbers))}[kind], dim


@st.composite
def networks(draw):
    input_dim = dim = draw(sizes)
    layers = []

    def some(make):
        nonlocal dim
        for _ in range(draw(st.integers(0, 2))):
            layer, dim = draw(make(dim))
            layers.append(layer)

    some(common_layers)
    if draw(st.booleans()):
        tokens, d = draw(sizes), draw(sizes)
        layers.append(Embed(draw(arrays(tokens, d, dim)), draw(st.none() | arrays(tokens, d))))
        dim = d
        some(lambda dim: common_layers(dim) | token_layers(tokens, dim))
        if draw(st.booleans()):
            token = draw(st.sampled_from(["mean", "all", tokens - 1]))
            chosen = draw(st.none() | st.lists(st.integers(0, dim - 1), min_size=1, max_size=3))
            layers.append(Readout(token, chosen))
            dim = Network(input_dim, layers).output_dim
            some(common_layers)
    domain = draw(st.sampled_from([None, "all", ",".join(["-1:1/3"] * input_dim)]))
    leaves = st.none() | st.booleans() | numbers.filter(lambda x: not isinstance(x, Fraction)) | st.text()
    values = st.recursive(
        leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5
    )
    metadata = draw(st.none() | st.dictionaries(st.text(), values, max_size=2))
    return Network(input_dim, layers, domain, metadata)


def all_arrays(network):
    """Every array of a network, in a fixed order."""
    pending, found = [*network.layers], []
    while pending:
        item = pending.pop()
        if isinstance(item, ExactArray):
            found.append(item)
        elif isinstance(item, (tuple, list)):
            pending += item
        elif hasattr(item, "__dict__"):
            pending += vars(item).values()
    return found


# ---------------------------------------------------------------- what is written reads back

files = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=60
)


@files
@given(networks())
def test_json_keeps_everything(tmp_path, network):
    save(network, tmp_path / "net.json")
    assert load(tmp_path / "net.json") == network
    assert network_from_dict(network_to_dict(network)) == network
    content = (tmp_path / "net.json").read_bytes()
    save(load(tmp_path / "net.json"), tmp_path / "net.json")
    assert (tmp_path / "net.json").read_bytes() == content


@files
@given(networks())
def test_safetensors_keeps_what_float64_holds(tmp_path, network):
    path = tmp_path / "net.safetensors"
    path.unlink(missing_ok=True)
    if all(array.is_float for array in all_arrays(network)):
        save(network, path)
        assert load(path) == network
        return
    with pytest.raises(InputError, match="round=True"):
        save(network, path)
    assert not path.exists()
    save(network, path, round=True)
    rounded = load(path)
    for array, original in zip(all_arrays(rounded), all_arrays(network), strict=True):
        assert array.is_float
        np.testing.assert_array_equal(array.view, original.view)
    save(rounded, path)
    assert load(path) == rounded
    assert network_to_dict(rounded)["layers"] != network_to_dict(network)["layers"]


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".JSON"])
def test_one_of_each(tmp_path, suffix):
    part = Affine([[1, 0.5]], [-1])
    head = Head(part, part, part, Affine([[1], [2]]))
    network = Network(
        1,
        [
            LeakyReLU("1/3"),
            Embed([[[1], [2]], [[3], [4]]]),
            Attention([head, head], mask=[[True, False], [True, True]]),
            Attention([head], residual=False, mask="causal", activation="softmax", scale="7/3"),
            Feedforward(part, Affine([[1], [2]])),
            Maxout([[[1, 2]], [[3, 4], [5, 6]]]),
            Maxout([[[1, 2]], [[3, 4]]]),
            Abs(),
            ReLU(),
            Readout(1, [1, 0]),
            Affine([[1, 2]]),
        ],
        domain="0:1/3",
        metadata={"seed": 1, "name": "é", "none": None},
    )
    path = tmp_path / f"net{suffix}"
    save(network, str(path))
    assert load(path) == load(str(path)) == network
    assert os.listdir(tmp_path) == [path.name]


def test_form_of_the_json():
    part = {"weight": [[1, 0.5]], "bias": [0]}
    out = {"weight": [["1/3"], [2]], "bias": [0, 0]}
    data = {
        "format": "regioncount-network",
        "version": 1,
        "input_dim": 1,
        "domain": "0:1",
        "layers": [
            {"type": "leaky_relu", "slope": "1/3"},
            {"type": "maxout", "weight": [[[1], [2]]], "bias": [[0, 1]]},
            {"type": "maxout", "weight": [[[1], [2]], [[3]]], "bias": [[0, 1], [2]]},
            {"type": "affine", "weight": [[1, 1]], "bias": [9007199254740993]},
            {"type": "embed", "weight": [[[1], [2]], [[3], [4]]], "bias": [[0, 0], [0, 1]]},
            {
                "type": "attention",
                "residual": False,
                "heads": [{"query": part, "key": part, "value": part, "output": out}],
                "mask": [[True, False], [True, True]],
                "activation": "softmax",
                "scale": 2,
            },
            {"type": "feedforward", "residual": True, "hidden": part, "output": out, "activation": "relu"},
            {"type": "readout", "token": "mean", "coordinates": [1]},
        ],
        "metadata": {"seed": 3},
    }
    assert network_to_dict(network_from_dict(data)) == data
    assert list(network_to_dict(network_from_dict(data))) == list(data)


def test_defaults_of_the_json():
    part = {"weight": [[1]]}
    data = {
        "format": "regioncount-network",
        "version": 1,
        "input_dim": 1,
        "layers": [
            {"type": "affine", "weight": [[1]]},
            {"type": "maxout", "weight": [[[1], [2]], [[3]]]},
            {"type": "embed", "weight": [[[1, 2]], [[3, 4]]]},
            {"type": "attention", "heads": [{"query": part, "key": part, "value": part, "output": part}]},
            {"type": "feedforward", "hidden": part, "output": part},
            {"type": "readout", "token": 1},
        ],
    }
    affine, maxout, embed, attention, feedforward, readout = network_from_dict(data).layers
    assert affine == Affine([[1]], [0])
    assert maxout == Maxout([[[1], [2]], [[3]]], [[0, 0], [0]])
    assert embed.bias == ExactArray([[0], [0]])
    assert (attention.residual, attention.mask, attention.activation, attention.scale) == (
        True, "none", "hardmax", None,
    )  # fmt: skip
    assert (feedforward.residual, feedforward.activation) == (True, "relu")
    assert readout == Readout(1)


def test_numbers_of_the_json(tmp_path):
    path = tmp_path / "net.json"
    text = (
        '{"format": "regioncount-network", "version": 1, "input_dim": 7, "layers": [{"type": "affine", '
        '"weight": [[9007199254740993, 0.1, "0.1", "1/3", 1e3, -0.0, 1e-999]]}]}'
    )
    path.write_text(text)
    weight = load(path).layers[0].weight.fractions()[0].tolist()
    assert weight == [2**53 + 1, Fraction(0.1), Fraction(1, 10), Fraction(1, 3), 1000, 0, 0]
    path.write_text("\ufeff" + text, encoding="utf-8")
    assert load(path).input_dim == 7


def test_form_of_the_safetensors(tmp_path):
    from safetensors import safe_open

    head = Head(*[Affine([[1]])] * 4)
    units = [Maxout([[[1]], [[2], [3]]]), Maxout([[[1, 2]], [[3, 4]]])]
    network = Network(1, [*units, Embed([[[1, 2]]]), Attention([head])])
    save(network, tmp_path / "net.safetensors")
    with safe_open(tmp_path / "net.safetensors", framework="numpy") as file:
        data = json.loads(file.metadata()["regioncount"])
        names = set(file.keys())
        assert all(file.get_tensor(name).dtype == np.float64 for name in names)
        assert file.get_tensor("layers.1.weight").tolist() == [[[1, 2]], [[3, 4]]]
    assert data["layers"][0]["weight"] == [{"tensor": "layers.0.weight.0"}, {"tensor": "layers.0.weight.1"}]
    assert data["layers"][1]["bias"] == {"tensor": "layers.1.bias"}
    assert data["layers"][3]["heads"][0]["key"]["weight"] == {"tensor": "layers.3.heads.0.key.weight"}
    assert len(names) == 4 + 2 + 2 + 8


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_same_network_same_bytes(tmp_path, suffix):
    network = network_from_dict(SMALL | {"metadata": {"b": 1, "a": 2}})
    first, second = tmp_path / f"1{suffix}", tmp_path / f"2{suffix}"
    save(network, first, round=True)
    save(network, second, round=True)
    assert first.read_bytes() == second.read_bytes()


def test_oracle_networks():
    for entry in json.loads(ORACLES.read_text()):
        network = network_from_dict(entry["network"])
        assert network.input_dim == as_domain(entry["domain"]).dim
        assert network_from_dict(network_to_dict(network)) == network


@pytest.mark.skipif(
    not REAL.is_dir(), reason="the real networks are not here; they are not part of the project"
)
def test_real_networks(tmp_path):
    for path in sorted(REAL.glob("*.json")):
        if path.name == "counts.json":
            continue
        start = time.perf_counter()
        network = load(path)
        assert time.perf_counter() - start < 0.5, path.name
        for suffix in SUFFIXES:
            save(network, tmp_path / f"net{suffix}")
            assert load(tmp_path / f"net{suffix}") == network


# ---------------------------------------------------------------- the file system


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_save_replaces_and_leaves_nothing_behind(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"net{suffix}"
    first, second = Network(1, []), Network(2, [])
    save(first, path)
    save(second, path)
    assert load(path) == second

    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match="cannot write it: disk full"):
        save(first, path)
    assert load(path) == second
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_save_respects_umask_and_links(tmp_path):
    before = os.umask(0o027)
    try:
        save(Network(1, []), tmp_path / "net.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "net.json").stat().st_mode) == 0o640
    (tmp_path / "link.json").symlink_to(tmp_path / "net.json")
    save(Network(2, []), tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert load(tmp_path / "net.json").input_dim == 2


def refusal(action, *arguments, **options):
    with pytest.raises(InputError) as info:
        action(*arguments, **options)
    message = str(info.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_file_system_refusals(tmp_path, suffix):
    network = Network(1, [])
    missing = tmp_path / f"missing{suffix}"
    assert refusal(load, missing) == f"{missing}: cannot read it: No such file or directory"
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    assert refusal(load, folder).startswith(f"{folder}: cannot read it: ")
    assert refusal(save, network, folder).startswith(f"{folder}: cannot write it: ")
    assert os.listdir(tmp_path) == [folder.name]
    nowhere = tmp_path / "nowhere" / f"net{suffix}"
    assert refusal(save, network, nowhere).startswith(f"{nowhere}: cannot write it: ")
    assert "null" in refusal(load, f"a\0b{suffix}")
    assert "'new\\nline" in refusal(load, f"new\nline{suffix}")


@pytest.mark.parametrize("name", ["net", "net.txt", ".json", "net.json.gz", ""])
def test_other_suffixes_are_refused(tmp_path, name):
    assert "ends in .json, .safetensors or" in refusal(load, tmp_path / name)
    assert "ends in .json, .safetensors or" in refusal(save, Network(1, []), tmp_path / name)


def test_suffixes_of_the_other_kind_are_refused(tmp_path):
    assert "for a partition" in refusal(save, Network(1, []), tmp_path / "net.npz")
    (tmp_path / "net.npz").write_bytes(b"no partition")
    assert "not a partition file" in refusal(load, tmp_path / "net.npz")


def test_wrong_arguments(tmp_path):
    assert refusal(load, 3) == "path: expected a file name, got 3"
    assert refusal(save, Network(1, []), None) == "path: expected a file name, got None"
    assert refusal(save, SMALL, tmp_path / "net.json").startswith("network: expected a Network or a Partition, got {")


# ---------------------------------------------------------------- refused JSON


def with_layer(**layer):
    return SMALL | {"layers": [layer]}


PART = {"weight": [[1, 1]]}
HEAD = {"query": PART, "key": PART, "value": PART, "output": {"weight": [[1], [1]]}}


def with_tokens(**layer):
    return SMALL | {"layers": [{"type": "embed", "weight": [[[1], [1]]] * 3}, layer]}


def with_head(**parts):
    return with_tokens(type="attention", heads=[HEAD, HEAD | parts])


def without(data, key):
    return {name: value for name, value in data.items() if name != key}


REFUSED = [
    ([], "expected an object with the key 'format', got []"),
    (3, "expected an object"),
    (None, "expected an object"),
    ([SMALL], "expected an object with the key 'format', got [{"),
    ({}, "format: missing"),
    (without(SMALL, "format"), "format: missing"),
    (SMALL | {"format": "regioncount-arrangement"},
     "format: expected 'regioncount-network', got 'regioncount-arrangement'"),
    (without(SMALL, "version"), "version: missing"),
    (SMALL | {"version": 2}, "version: expected 1, got 2"),
    (SMALL | {"version": 1.0}, "version: expected 1, got 1.0"),
    (SMALL | {"version": True}, "version: expected 1, got True"),
    (SMALL | {"version": "1"}, "version: expected 1, got '1'"),
    (without(SMALL, "input_dim"), "input_dim: missing"),
    (SMALL | {"input_dim": 0}, "input_dim: expected an integer of at least 1, got 0"),
    (SMALL | {"input_dim": 1.5}, "input_dim: expected an integer"),
    (SMALL | {"input_dim": True}, "input_dim: expected an integer"),
    (SMALL | {"name": "x"},
     "unknown key 'name'; expected format, version, input_dim, layers, domain, metadata"),
    (SMALL | {"domain": None}, "domain: expected a value, got null"),
    (SMALL | {"domain": [[0, 1]]}, "domain: expected text"),
    (SMALL | {"domain": ""}, "domain: expected low:high for each coordinate, got ''"),
    (SMALL | {"domain": "1:0"}, "domain: low: expected less than high"),
    (SMALL | {"domain": "0:1,0:1"}, "domain: expected dimension 1, got '0:1,0:1' of dimension 2"),
    (SMALL | {"metadata": []}, "metadata: expected an object, got []"),
    (SMALL | {"metadata": None}, "metadata: expected a value, got null"),
    (SMALL | {"metadata": {"a": float("inf")}}, "metadata.a: expected what JSON can hold, got inf"),
    (without(SMALL, "layers"), "layers: missing"),
    (SMALL | {"layers": {}}, "layers: expected a list of layers, got {}"),
    (SMALL | {"layers": ["relu"]}, "layers[0]: expected an object with the key 'type', got 'relu'"),
    (SMALL | {"layers": [{}]}, "layers[0]: type: missing"),
    (with_layer(type=3), "layers[0]: type: expected one of affine, relu, leaky_relu"),
    (with_layer(type=["relu"]), "layers[0]: type: expected one of affine"),
    (with_layer(type="softplus"), "layers[0]: type: expected one of affine"),
    (with_layer(type="layernorm"), "layers[0]: type: expected one of affine"),
    (with_layer(type="relu", slope=1), "layers[0] (relu): unknown key 'slope'; expected type"),
    (with_layer(type="affine"), "layers[0] (affine): weight: missing"),
    (with_layer(type="affine", weight=[[1]], bais=[1]), "layers[0] (affine): unknown key 'bais'"),
    (with_layer(type="affine", weight=None), "layers[0] (affine): weight: expected a value, got null"),
    (with_layer(type="affine", weight=[[1]], bias=None),
     "layers[0] (affine): bias: expected a value, got null"),
    (with_layer(type="affine", weight=[[1, 2]]), "layers[0] (affine): weight: expected (out, 1), got (1, 2)"),
    (with_layer(type="affine", weight=[[1], [1, 2]]), "layers[0] (affine): weight[1]: expected 1 entries"),
    (with_layer(type="affine", weight=[[True]]),
     "layers[0] (affine): weight[0][0]: expected a finite number"),
    (with_layer(type="affine", weight=[[float("nan")]]),
     "layers[0] (affine): weight[0][0]: expected a finite"),
    (with_layer(type="affine", weight=[["1/0"]]),
     "layers[0] (affine): weight[0][0]: expected a finite number"),
    (with_layer(type="affine", weight={"tensor": "a"}), "layers[0] (affine): weight: expected an array"),
    (with_layer(type="affine", weight=[]), "layers[0] (affine): weight: expected (out, in), got (0,)"),
    (with_layer(type="affine", weight=[[]]), "layers[0] (affine): weight: expected (out, in), got (1, 0)"),
    (with_layer(type="affine", weight=[[10**309]]),
     "layers[0] (affine): weight[0][0]: expected a number within"),
    (with_layer(type="leaky_relu"), "layers[0] (leaky_relu): slope: missing"),
    (with_layer(type="leaky_relu", slope=[1]), "layers[0] (leaky_relu): slope: expected a finite number"),
    (with_layer(type="maxout", weight=[{"tensor": "a"}]), "layers[0] (maxout): weight[0]: expected an array"),
    (with_layer(type="maxout", weight=[[[1]]], bias=[0]), "layers[0] (maxout): bias[0]: expected an array"),
    (with_layer(type="readout", token=0), "layers[0] (readout): expected tokens"),
    (with_tokens(type="readout"), "layers[1] (readout): token: missing"),
    (with_tokens(type="readout", token=3), "layers[1] (readout): token: expected an integer from 0 to 2"),
    (with_tokens(type="readout", token=0, coordinates=None),
     "layers[1] (readout): coordinates: expected a value, got null"),
    (with_tokens(type="embed", weight=[[[1]]]), "layers[1] (embed): expected at most one embed layer"),
    (with_tokens(type="attention"), "layers[1] (attention): heads: missing"),
    (with_tokens(type="attention", heads=HEAD), "layers[1] (attention): heads: expected a list of heads"),
    (with_tokens(type="attention", heads=[]), "layers[1] (attention): heads: expected a list of one or more"),
    (with_tokens(type="attention", heads=[HEAD, 3]),
     "layers[1] (attention): heads[1]: expected an object, got 3"),
    (with_tokens(type="attention", heads=[without(HEAD, "key")]),
     "layers[1] (attention): heads[0]: key: missing"),
    (with_head(bias=[1]), "layers[1] (attention): heads[1]: unknown key 'bias'"),
    (with_head(key={"bias": [1]}), "layers[1] (attention): heads[1].key: weight: missing"),
    (with_head(key=[[1, 1]]), "layers[1] (attention): heads[1].key: expected an object, got [[1, 1]]"),
    (with_head(key={"weight": [[1, "x"]]}),
     "layers[1] (attention): heads[1].key.weight[0][1]: expected a finite"),
    (with_head(key={"weight": [[1, 1, 1]]}), "layers[1] (attention): heads[1].key.weight: expected (1, 2)"),
    (with_tokens(type="attention", heads=[{name: {"weight": [[1]]} for name in HEAD}]),
     "layers[1] (attention): heads[0].query.weight: expected (r, 2), got (1, 1)"),
    (with_tokens(type="attention", heads=[HEAD], mask=[[1] * 3] * 3),
     "layers[1] (attention): mask[0][0]: expected true or false, got 1"),
    (with_tokens(type="attention", heads=[HEAD], mask=[[True] * 2] * 2),
     "layers[1] (attention): mask: expected (3, 3), got (2, 2)"),
    (with_tokens(type="attention", heads=[HEAD], residual="yes"),
     "layers[1] (attention): residual: expected true or false, got 'yes'"),
    (with_tokens(type="attention", heads=[HEAD], scale=2),
     "layers[1] (attention): scale: expected none with hardmax"),
    (with_tokens(type="feedforward", hidden=PART), "layers[1] (feedforward): output: missing"),
    (with_tokens(type="feedforward", hidden=PART, output=PART, activation="gelu"),
     "layers[1] (feedforward): activation: expected 'relu', got 'gelu'"),
    (with_tokens(type="feedforward", hidden=PART, output={"weight": [[1]]}),
     "layers[1] (feedforward): output.weight: expected (2, 1)"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused_objects(tmp_path, data, message):
    assert refusal(network_from_dict, data).startswith(message)
    path = tmp_path / "net.json"
    path.write_text(json.dumps(data))
    through_file = refusal(load, path)
    assert through_file.startswith(f"{path}: ")
    if "NaN" not in path.read_text() and "Infinity" not in path.read_text():
        assert through_file.startswith(f"{path}: {message}")


def test_layernorm_is_explained():
    assert "not piecewise affine" in refusal(network_from_dict, with_layer(type="LayerNorm"))


def with_weight(literal):
    return json.dumps(with_layer(type="affine", weight=[["HERE"]])).replace('"HERE"', literal).encode()


REFUSED_TEXTS = [
    (b"", "expected JSON"),
    (b" \n", "expected JSON"),
    (b"{", "expected JSON"),
    (json.dumps(SMALL).encode()[:-1], "expected JSON"),
    (json.dumps(SMALL).encode() + b"}", "Extra data"),
    (b"\xff\xfe{}", "expected JSON in UTF-8, got other bytes at offset 0"),
    (json.dumps(SMALL).encode("utf-16"), "expected JSON in UTF-8"),
    (with_weight("NaN"), "expected finite numbers, got NaN"),
    (with_weight("Infinity"), "expected finite numbers, got Infinity"),
    (with_weight("-Infinity"), "expected finite numbers, got -Infinity"),
    (with_weight("1e999"), "layers[0] (affine): weight[0][0]: expected a finite number"),
    (with_weight("-1e999"), "layers[0] (affine): weight[0][0]: expected a finite number"),
    (with_weight("1" + "0" * 309), "layers[0] (affine): weight[0][0]: expected a number within the range"),
    (with_weight("1" * 5000), "too many digits"),
    (with_weight('"' + "1" * 5000 + '"'), "layers[0] (affine): weight[0][0]: expected a finite number"),
    (with_weight("'1'"), "expected JSON"),
    (with_weight("01"), "expected JSON"),
    (with_weight("[" * 100 + "1" + "]" * 100),
     "layers[0] (affine): weight: expected at most 32 nested lists"),
    (with_weight("[" * 100_000), "nested too deeply"),
    (b'{"format": "regioncount-network", "format": "x"}',
     "expected each key of an object once, got 'format' twice"),
    (b'{"layers": [{"type": "relu", "type": "relu"}]}',
     "expected each key of an object once, got 'type' twice"),
    (b'{"metadata": {"a": {"b": 1, "c": 2, "b": 1}}}', "expected each key of an object once, got 'b' twice"),
    (json.dumps(SMALL | {"metadata": {"a": [None]}}).replace("null", "1e999").encode(),
     "metadata.a[0]: expected"),
    (json.dumps(SMALL | {"metadata": {"a": []}}).replace("[]", "[" * 700 + "]" * 700).encode(),
     "nested too deeply"),
    (b"PK\x03\x04", "expected JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), REFUSED_TEXTS, ids=range(len(REFUSED_TEXTS)))
def test_refused_texts(tmp_path, content, message):
    path = tmp_path / "net.json"
    path.write_bytes(content)
    text = refusal(load, path)
    assert text.startswith(f"{path}: ")
    assert message in text


def test_every_truncation_is_refused(tmp_path):
    path = tmp_path / "net.json"
    content = json.dumps(SMALL).encode()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        assert "expected JSON" in refusal(load, path)


def test_unsaved_metadata(tmp_path):
    for suffix in SUFFIXES:
        network = Network(1, [], metadata={"seed": 10**5000})
        assert "metadata: expected integers of at most 4300 digits" in refusal(
            save, network, tmp_path / f"a{suffix}"
        )
        network = Network(1, [], domain="0:1,0:1")
        assert "domain: expected dimension 1" in refusal(save, network, tmp_path / f"a{suffix}")
    network = Network(1, [Affine([[Fraction(1, 10**5000)]])])
    assert "4300 digits" in refusal(save, network, tmp_path / "a.json")
    assert os.listdir(tmp_path) == []


# ---------------------------------------------------------------- refused safetensors

WEIGHT = np.array([[1.0], [2.0]])


def tensor_file(layer, tensors, **metadata):
    text = json.dumps(with_layer(**layer))
    return serialize(tensors, metadata={"regioncount": text, **metadata})


def raw_tensor_file(dtype, size):
    layer = {"type": "affine", "weight": {"tensor": "a"}}
    header = {"__metadata__": {"regioncount": json.dumps(with_layer(**layer))}}
    header["a"] = {"dtype": dtype, "shape": [1, 1], "data_offsets": [0, size]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(size)


AFFINE = {"type": "affine", "weight": {"tensor": "a"}}
REFUSED_TENSORS = [
    (b"", "expected a safetensors file"),
    (b"\0" * 100, "expected a safetensors file"),
    (json.dumps(SMALL).encode(), "expected a safetensors file"),
    (serialize({"a": WEIGHT}), "expected the metadata key 'regioncount'"),
    (serialize({"a": WEIGHT}, metadata={"regioncount": "{"}), "expected JSON"),
    (serialize({"a": WEIGHT}, metadata={"regioncount": "[]"}), "expected an object"),
    (tensor_file(AFFINE, {"b": WEIGHT}),
     "layers[0] (affine): weight: expected the name of a tensor in the file, got 'a'"),
    (tensor_file({"type": "affine", "weight": {"tensor": 3}}, {"a": WEIGHT}),
     "layers[0] (affine): weight: expected the name of a tensor in the file, got 3"),
    (tensor_file({"type": "affine", "weight": {"tensor": "a", "x": 1}}, {"a": WEIGHT}),
     "layers[0] (affine): weight: unknown key 'x'; expected tensor"),
    (tensor_file({"type": "affine", "weight": {}}, {"a": WEIGHT}),
     "layers[0] (affine): weight: tensor: missing"),
    (tensor_file(AFFINE, {"a": WEIGHT.T}), "layers[0] (affine): weight: expected (out, 1), got (1, 2)"),
    (tensor_file(AFFINE, {"a": WEIGHT[0]}), "layers[0] (affine): weight: expected (out, in), got (1,)"),
    (tensor_file(AFFINE, {"a": WEIGHT[:0]}), "layers[0] (affine): weight: expected (out, in), got (0, 1)"),
    (tensor_file(AFFINE, {"a": WEIGHT * np.nan}),
     "layers[0] (affine): weight[0][0]: expected a finite number"),
    (tensor_file(AFFINE, {"a": WEIGHT * np.inf}),
     "layers[0] (affine): weight[0][0]: expected a finite number"),
    (tensor_file(AFFINE, {"a": WEIGHT > 1}),
     "layers[0] (affine): weight: expected a tensor of float64, got BOOL"),
    (tensor_file(AFFINE, {"a": WEIGHT, "b": WEIGHT}), "got 'b' that is not used"),
    (tensor_file({"type": "maxout", "weight": [{"tensor": "a"}, {"tensor": "c"}]}, {"a": WEIGHT}),
     "layers[0] (maxout): weight[1]: expected the name of a tensor in the file, got 'c'"),
    (raw_tensor_file("BF16", 2), "layers[0] (affine): weight: expected a tensor of float64, got BF16"),
    (raw_tensor_file("F8_E4M3", 1), "layers[0] (affine): weight: expected a tensor of float64, got F8_E4M3"),
    (raw_tensor_file("F99", 2), "expected a safetensors file"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), REFUSED_TENSORS, ids=range(len(REFUSED_TENSORS)))
def test_refused_tensors(tmp_path, content, message):
    path = tmp_path / "net.safetensors"
    path.write_bytes(content)
    text = refusal(load, path)
    assert text.startswith(f"{path}: ")
    assert message in text


def test_truncated_tensors(tmp_path):
    path = tmp_path / "net.safetensors"
    save(Network(1, [Affine(WEIGHT)]), path)
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        assert "expected a safetensors file" in refusal(load, path)
    path.write_bytes(content + b"x")
    assert "expected a safetensors file" in refusal(load, path)


def test_other_number_types_and_inline_arrays_are_read(tmp_path):
    path = tmp_path / "net.safetensors"
    for dtype in (np.float32, np.float16, np.int64, np.uint8):
        path.write_bytes(tensor_file(AFFINE | {"bias": ["1/3", 1]}, {"a": WEIGHT.astype(dtype)}))
        assert load(path).layers == (Affine(WEIGHT, ["1/3", 1]),)


def test_rounding_is_named(tmp_path):
    network = network_from_dict(SMALL)
    message = refusal(save, network, tmp_path / "net.safetensors")
    assert "layers.0.weight[1][0]: expected a weight that float64 holds exactly, got '1/3'" in message


def test_large_networks_are_fast(tmp_path):
    rng = np.random.default_rng(0)
    network = Network(500, [Affine(rng.standard_normal((500, 500))), ReLU()] * 4)
    path = tmp_path / "net.safetensors"
    start = time.perf_counter()
    save(network, path)
    assert load(path) == network
    assert time.perf_counter() - start < 1
