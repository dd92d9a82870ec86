"""Networks with three and four inputs: the engine against the enumeration by linear programs, as sets of patterns.

The quick tests read the oracle's answers from data/space.json (`space.py`), the slow ones ask it afresh.
"""

import json
from pathlib import Path
from random import Random

import compare
import lp_oracle
import numpy as np
import oracle
import peers
import pytest
import space

import regioncount as rc
from regioncount.files import network_from_dict

ENTRIES = json.loads(space.FILE.read_text())


def assert_same(network, domain, expected):
    """Compare all that both programs know; `expected` as `space.answer` gives it."""
    made, where = network_from_dict(network), space.text(domain)
    partition = rc.subdivide(made, where)
    words = ["".join(map(str, row)) for row in partition.patterns.tolist()]
    bounded = np.asarray(partition.bounded).tolist()
    assert len(bounded) == len(words) == partition.n_pieces
    assert {
        "bounded": sorted(word for word, flag in zip(words, bounded, strict=True) if flag),
        "unbounded": sorted(word for word, flag in zip(words, bounded, strict=True) if not flag),
    } == expected["patterns"]
    assert {name: partition.count(name) for name in rc.DEFINITIONS} == expected["counts"]
    assert partition.certified
    streamed = rc.count(made, where)
    assert streamed.counts == {"activation": expected["counts"]["activation"]}
    assert streamed.certified
    return partition


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_same_as_the_saved_answers(entry):
    assert_same(entry["network"], entry["domain"], entry)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_the_saved_answers_are_the_oracles(entry):
    assert space.answer(entry["network"], entry["domain"]) == {key: entry[key] for key in ("counts", "patterns")}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dim", [3, 4])
@pytest.mark.parametrize("kind", space.KINDS)
def test_same_as_the_oracle(kind, dim, seed):
    rng = Random(f"{kind} {dim} {seed}")
    network, domain = space.draw(kind, dim, rng, small=dim == 4), space.draw_domain(dim, rng)
    assert_same(network, domain, space.answer(network, domain))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dim", [1, 2])
def test_same_as_the_oracle_on_the_line_and_plane(dim, seed):
    rng = Random(seed)
    network = (compare.continuous if seed % 2 else compare.transformer)(rng, dim)
    try:
        expected = space.answer(network, None)
    except oracle.NotAffine:
        pytest.skip("quadratic scores")
    made = network_from_dict(network)
    partition = rc.subdivide(made, "all")
    words = {"".join(map(str, row)) for row in partition.patterns.tolist()}
    assert words == {*expected["patterns"]["bounded"], *expected["patterns"]["unbounded"]}
    assert partition.counts() == expected["counts"]
    assert rc.count(made, "all").counts == {"activation": expected["counts"]["activation"]}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dim", [3, 4, 5])
def test_degenerate_arrangements(dim, seed):
    rng = Random(f"{dim} {seed}")
    rows = []
    while len(rows) < (8 if dim == 3 else 6):
        row = [rng.choice((-1, 0, 1)) for _ in range(dim)]
        if any(row):
            rows.append(row)
    network = lp_oracle.arrangement(rows, [rng.choice((-1, 0, 0, 1)) for _ in rows])
    domain = space.draw_domain(dim, rng)
    assert_same(network, domain, space.answer(network, domain))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "domain", "number"), peers.cases_all())
def test_known_arrangements(name, domain, number):
    network = peers.load(name)
    where = domain if domain == "all" else ",".join([domain] * network.input_dim)
    result = rc.count(network, where)
    assert result.counts == {"activation": number}
    assert result.certified


@pytest.mark.parametrize("domain", [None, [[-1, 1]] * 3])
def test_networks_without_a_choice(domain):
    for layers in (
        [{"type": "affine", "weight": [[1, 2, 3]], "bias": [1]}],
        [{"type": "affine", "weight": [[0, 0, 0], [0, 0, 0]], "bias": [1, 0]}, {"type": "relu"}],
    ):
        network = {"format": "regioncount-network", "version": 1, "input_dim": 3, "layers": layers}
        assert_same(network, domain, space.answer(network, domain))


def test_oracle_imports_nothing_of_the_package():
    for module in (oracle, lp_oracle, space):
        lines = Path(module.__file__).read_text().splitlines()
        assert not [line for line in lines if line.startswith(("import regioncount", "from regioncount"))]
