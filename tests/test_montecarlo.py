"""Monte-Carlo estimates: the tree has the right leaves, weights are unbiased, intervals are worth what is said."""

import json
import math
from random import Random

import numpy as np
import oracle
import pytest
import space

import regioncount as rc
from regioncount.cli import main
from regioncount.domain import as_domain
from regioncount.errors import InputError
from regioncount.files import network_from_dict
from regioncount.montecarlo import Tree, estimate, interval

ENTRIES = json.loads(space.FILE.read_text())


def all_descents(tree, seed=0):
    """Every descent there is, with the same random numbers: (probability, weight, pattern)."""
    found, waiting = [], [()]
    while waiting:
        path = waiting.pop()
        taken, probability = [], 1.0

        def pick(probabilities, path=path, taken=taken):
            nonlocal probability
            place = len(taken)
            if place >= len(path):  # new here: the other children wait
                waiting.extend((*taken, child) for child in range(1, len(probabilities)))
            child = path[place] if place < len(path) else 0
            taken.append(child)
            assert (probabilities > 0).all()
            assert math.isclose(probabilities.sum(), 1)
            probability *= float(probabilities[child])
            return child

        log, pattern = tree.descend(np.random.default_rng(seed), pick)
        found.append((probability, math.exp(log), pattern))
    return found


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, id=entry["name"], marks=[pytest.mark.slow] if entry["counts"]["activation"] > 40 else [])
        for entry in ENTRIES
    ],
)
def test_the_leaves_are_the_regions_and_their_weights_expect_the_count(entry):
    network = network_from_dict(entry["network"])
    descents = all_descents(Tree(network, as_domain(space.text(entry["domain"]), network.input_dim)))
    number = entry["counts"]["activation"]
    assert math.isclose(sum(p for p, _, _ in descents), 1)
    assert math.isclose(sum(p * weight for p, weight, _ in descents), number)
    words = ["".join(map(str, np.frombuffer(pattern, np.uint8))) for _, _, pattern in descents]
    assert sorted(words) == sorted(entry["patterns"]["bounded"] + entry["patterns"]["unbounded"])


def arrangement(rng, n, m):
    """Random hyperplanes as a network; in general position."""
    return rc.from_layers([(rng.normal(size=(m, n)), rng.normal(size=m)), "relu"])


def deep(rng, widths):
    """A random ReLU network."""
    layers = []
    for a, b in zip(widths, widths[1:], strict=False):
        layers += [(rng.normal(size=(b, a)) * (2 / a) ** 0.5, rng.normal(size=b) * 0.3), "relu"]
    return rc.from_layers(layers)


def zaslavsky(n, m):
    return sum(math.comb(m, j) for j in range(n + 1))


@pytest.mark.parametrize(("n", "m"), [(1, 12), (2, 9), (3, 8)])
def test_all_descents_of_an_arrangement_on_the_whole_space(n, m):
    network = arrangement(np.random.default_rng(n), n, m)
    descents = all_descents(Tree(network, as_domain("all", n)), seed=5)
    assert len({pattern for *_, pattern in descents}) == len(descents) == zaslavsky(n, m)


def test_all_descents_of_a_deep_network_are_its_patterns():
    network = deep(np.random.default_rng(0), [2, 6, 6, 3])
    partition = rc.subdivide(network, "-1:1,-1:1")
    descents = all_descents(Tree(network, partition.domain))
    assert {pattern for *_, pattern in descents} == {row.tobytes() for row in partition.patterns}
    assert len(descents) == partition.n_pieces


def test_an_estimate():
    network = arrangement(np.random.default_rng(3), 3, 9)
    found = estimate(network, "all", samples=40, seed=1)
    assert 0.6 * zaslavsky(3, 9) < found.regions < 1.6 * zaslavsky(3, 9)
    assert found.low <= found.regions <= found.high
    assert found.low >= found.distinct > 15
    assert (found.samples, found.confidence, found.definition) == (40, 0.95, "activation")
    again = estimate(network, "all", samples=40, seed=1)
    assert (again.regions, again.low, again.high) == (found.regions, found.low, found.high)
    assert estimate(network, "all", samples=40, seed=2).regions != found.regions
    wider = estimate(network, "all", samples=40, seed=1, confidence=0.999)
    assert wider.low <= found.low
    assert wider.high > found.high


def test_where_every_descent_weighs_the_same_the_estimate_is_exact():
    boolean = rc.from_layers([(np.eye(5), np.zeros(5)), "relu"])
    found = estimate(boolean, [[-1, 1]] * 5, samples=5)
    assert found.regions == pytest.approx(32)
    assert (found.low, found.high) == pytest.approx((32, 32))
    none = rc.from_layers([([[1, 2, 3]], [4])])
    assert estimate(none, "all", samples=2).regions == 1
    dead = rc.from_layers([([[0, 0, 0], [1, 0, 0]], [1, 5]), "relu"])
    assert estimate(dead, [[-1, 1]] * 3, samples=2).regions == 1


def test_units_of_any_scale_are_seen():
    rng = np.random.default_rng(4)
    weight, bias = rng.normal(size=(6, 3)), rng.normal(size=6)
    factors = 10.0 ** rng.integers(-12, 12, 6)
    plain = rc.from_layers([(weight, bias), "relu"])
    scaled = rc.from_layers([(weight * factors[:, None], bias * factors), "relu"])
    far = rc.from_layers([(weight, bias * 1e6), "relu"])
    for network in (plain, scaled, far):
        assert len(all_descents(Tree(network, as_domain("all", 3)))) == zaslavsky(3, 6)


def test_a_time_limit_ends_the_descents():
    network = arrangement(np.random.default_rng(3), 2, 6)
    assert estimate(network, "all", samples=10**6, seconds=1e-9).samples == 100  # two populations
    assert estimate(network, "all", samples=5, seconds=1e-9).samples == 2


def test_populations_are_unbiased():
    network = arrangement(np.random.default_rng(1), 2, 8)
    tree = Tree(network, as_domain("all", 2))
    single = np.array([tree.population(np.random.default_rng([0, i]), 1)[0] for i in range(3)])
    assert single.tolist() == [tree.descend(np.random.default_rng([0, i]))[0] for i in range(3)]
    means = np.exp([tree.population(np.random.default_rng([1, i]), 8)[0] for i in range(30)])
    assert abs(means.mean() - zaslavsky(2, 8)) < 4 * means.std() / 30**0.5
    assert means.std() > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples": 1}, "samples: expected an integer of at least 2, got 1"),
        ({"samples": 2.5}, "samples: "),
        ({"seed": -1}, "seed: expected an integer of at least 0, got -1"),
        ({"seed": True}, "seed: "),
        ({"confidence": 1}, "confidence: expected a number between 0 and 1, got 1"),
        ({"confidence": math.nan}, "confidence: "),
        ({"seconds": 0}, "seconds: expected a positive number or None, got 0"),
        ({"domain": "-1:1"}, "domain: expected dimension 2 like the network, got 1"),
        ({"domain": None}, "domain: expected one"),
        ({"domain": "poly:0,0;1,0;0,1"}, "domain: expected an interval, a box or the whole space"),
    ],
)
def test_bad_arguments(arguments, message):
    network = rc.from_layers([(np.eye(2),), "relu"])
    with pytest.raises(InputError, match=message) as error:
        estimate(network, **{"domain": "-1:1,-1:1", **arguments})
    assert "\n" not in str(error.value)


def test_quadratic_scores_and_what_is_no_network_are_refused():
    network = network_from_dict(oracle.random_transformer(Random(0), tokens=2, input_dim=3))
    with pytest.raises(InputError, match="network: expected scores that are affine"):
        estimate(network, [[-1, 1]] * 3)
    with pytest.raises(InputError, match="network: expected a Network"):
        estimate("network", "-1:1")


# ------------------------------------------------------------------------------------------------ count, the command


def test_count_gives_an_estimate_and_no_count():
    network = arrangement(np.random.default_rng(3), 3, 8)
    result = rc.count(network, "-1:1,-1:1,-1:1", method="montecarlo", samples=20, seed=4)
    assert (result.method, result.counts, result.certified, result.pieces) == ("montecarlo", {}, False, None)
    assert result.note == "Monte-Carlo estimate, not a count"
    found = estimate(network, "-1:1,-1:1,-1:1", samples=20, seed=4)
    assert result.estimate["activation"] == found.regions
    assert (result.estimate["low"], result.estimate["high"]) == (found.low, found.high)
    assert (result.estimate["samples"], result.estimate["seed"], result.estimate["confidence"]) == (20, 4, 0.95)


def test_count_refuses_what_does_not_fit():
    network = rc.from_layers([(np.eye(2),), "relu"])
    with pytest.raises(InputError, match="samples: expected with method 'montecarlo' only, got 5 with method 'auto'"):
        rc.count(network, "-1:1,-1:1", samples=5)
    with pytest.raises(InputError, match="seed: expected with method 'montecarlo' only"):
        rc.count(network, "-1:1,-1:1", method="polygon", seed=5)
    with pytest.raises(InputError, match="grid: expected with method 'grid' only"):
        rc.count(network, "-1:1,-1:1", method="montecarlo", grid=5)
    with pytest.raises(InputError, match="method: Monte Carlo samples points and makes no partition"):
        rc.subdivide(network, "-1:1,-1:1", method="montecarlo")


def test_the_command(tmp_path, capsys):
    path = tmp_path / "net.json"
    rc.save(arrangement(np.random.default_rng(3), 3, 8), path)
    words = ["count", str(path), "--domain=-1:1,-1:1,-1:1", "--method", "montecarlo", "--samples", "20"]
    assert main([*words, "--seed", "4", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["method"], report["counts"], report["certified"]) == ("montecarlo", {}, False)
    assert report["estimate"]["low"] <= report["estimate"]["activation"] <= report["estimate"]["high"]
    assert report["note"] == "Monte-Carlo estimate, not a count"
    assert main(words) == 0
    assert "a Monte-Carlo estimate from 20 random descents, not a count" in capsys.readouterr().out
    assert main([*words, "--definitions", "activation"]) == 2
    assert "only samples, it gives no counts" in capsys.readouterr().err
    assert main([*words[:3], "--samples", "20"]) == 2
    assert "argument --samples: needs --method montecarlo" in capsys.readouterr().err
    assert main([*words[:-1], "1"]) == 2
    assert "samples: expected an integer of at least 2, got 1" in capsys.readouterr().err


# --------------------------------------------------------------------------------------------------------- intervals


def test_interval_of_weights_without_skew_is_students():
    low, high = interval(np.array([1.0, 2.0, 3.0]), 0.95)
    assert (low, high) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))
    assert interval(np.full(7, 3.0), 0.95) == (3.0, 3.0)


def test_interval_of_skewed_weights_reaches_further_up():
    weights = np.exp(np.random.default_rng(0).normal(size=50))
    low, high = interval(weights, 0.95)
    assert high - weights.mean() > 1.3 * (weights.mean() - low) > 0


@pytest.mark.slow
def test_coverage():
    """Of nominal 95 % intervals of 50 descents, sampled from all the descents of a tree."""
    network = arrangement(np.random.default_rng(1), 3, 10)
    descents = all_descents(Tree(network, as_domain("all", 3)))
    probabilities, weights = (np.array(x) for x in list(zip(*descents, strict=True))[:2])
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(2000):
        low, high = interval(weights[rng.choice(len(weights), 50, p=probabilities / probabilities.sum())], 0.95)
        held += low <= zaslavsky(3, 10) <= high
    assert 0.91 < held / 2000 < 0.98


@pytest.mark.slow
def test_estimates_of_many_seeds_hold_the_count():
    network = arrangement(np.random.default_rng(3), 3, 14)
    held = 0
    means = []
    for seed in range(20):
        found = estimate(network, "all", samples=50, seed=seed)
        held += found.low <= zaslavsky(3, 14) <= found.high
        means.append(found.regions)
    assert held >= 16
    assert np.mean(means) == pytest.approx(zaslavsky(3, 14), rel=0.08)
