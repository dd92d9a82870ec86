"""R1: patterns on the closed domain, against reference values, as sets against the oracle, and by hand."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random

import compare
import oracle
import pytest

import regioncount as rc
from regioncount import cli
from regioncount.closed import closed_patterns
from regioncount.definitions import DEFINITIONS, MEANINGS
from regioncount.exact import Surd, real_roots, sign_of_polynomial
from regioncount.exact import compare as order
from regioncount.files import network_from_dict

DATA = Path(__file__).parent / "data"
ENTRIES = {
    entry["name"]: entry
    for entry in json.loads((DATA / "networks.json").read_text())
    if "R1" in entry["counts"]
}
CONSTRUCTIONS = [
    pytest.param(name, *map(int, size.split(",")), counts, marks=[pytest.mark.slow] if counts["R1"] > 100 else [])
    for name, sizes in json.loads((DATA / "constructions.json").read_text())["constructions"].items()
    for size, counts in sizes.items()
]


def found(network, domain):
    """The patterns on the closed domain, as tuples; those of the pieces must be among them."""
    partition = rc.subdivide(network_from_dict(network), domain)
    closed = {tuple(pattern) for pattern in closed_patterns(partition)}
    assert compare.pattern_set(partition) <= closed
    assert partition.count("R1") == len(closed)
    return closed


def expected(network, domain):
    if len(domain) == 1:
        return oracle.patterns_1d_closed(network, *domain[0])
    return oracle.patterns_2d_closed(network, oracle.box(domain))


# ------------------------------------------------------------------------------------------- reference values


@pytest.mark.parametrize("name", ENTRIES)
def test_reference_values(name):
    entry = ENTRIES[name]
    network = network_from_dict(entry["network"])
    if name.startswith("conic_") and name != "conic_cross":
        with pytest.raises(rc.InputError, match="definitions: R1 is counted where borders are straight"):
            rc.count(network, entry["domain"], definitions=("R1",))
        return
    assert rc.count(network, entry["domain"], definitions=("R1",)).counts == {"R1": entry["counts"]["R1"]}


@pytest.mark.parametrize("name, tokens, depth, counts", CONSTRUCTIONS)
def test_constructions(name, tokens, depth, counts):
    network = rc.constructions.build(name.replace("_", "-"), tokens=tokens, depth=depth)
    result = rc.count(network, definitions=("R1", "activation"))
    assert result.counts == {key: counts[key] for key in ("R1", "activation")}
    assert result.certified


@pytest.mark.slow
def test_deep_constructions_share_their_cuts():
    """14,580 pieces: the nodes, segments and points of equal maps, are few."""
    result = rc.count(rc.constructions.three_step(4, 24), definitions=("R1",))
    assert result.counts == {"R1": 29160}
    assert result.seconds < 30


# ------------------------------------------------------------------------------------------- against the oracle


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("make", [compare.continuous, compare.transformer])
def test_random_networks(make, dim, seed):
    network, domain = make(seed, dim), compare.domain_for(Random(seed), dim)
    assert found(network, domain) == expected(network, domain)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 220))
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("make", [compare.continuous, compare.transformer])
def test_more_random_networks(make, dim, seed):
    network, domain = make(seed, dim), compare.domain_for(Random(seed), dim)
    assert found(network, domain) == expected(network, domain)


@pytest.mark.parametrize("seed", range(6))
def test_polygons_and_fixed_queries(seed):
    rng = Random(seed)
    network = oracle.random_transformer(
        rng, input_dim=2, scores="fixed_query", layers=2, hidden=1, values=compare.SMALL
    )
    triangle = [(0, Fraction(-3, 2)), (2, 1), (-1, Fraction(2, 3))]
    partition = rc.subdivide(network_from_dict(network), rc.Polygon(triangle))
    closed = {tuple(pattern) for pattern in closed_patterns(partition)}
    assert closed == oracle.patterns_2d_closed(network, triangle)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6])
def test_irrational_breakpoints(seed):
    """Deep enough that scores tie at irrational points, and later layers decide on values there."""
    rng = Random(seed)
    network = oracle.random_transformer(rng, tokens=3, layers=2, hidden=2, values=compare.MIXED)
    pieces = oracle.enumerate_1d(network, -2, 2)
    assert sum(isinstance(piece.right, oracle.Surd) for piece in pieces) > 0
    assert found(network, [[-2, 2]]) == expected(network, [[-2, 2]])


# ------------------------------------------------------------------------------------------- by hand


def net(n, *layers):
    return {"format": "regioncount-network", "version": 1, "input_dim": n, "layers": list(layers)}


def attention(query, key, value, output, bias):
    head = {what: {"weight": rows} for what, rows in zip(("key", "value", "output"), (key, value, output), strict=True)}
    head["query"] = {"weight": query, "bias": bias}
    return {"type": "attention", "heads": [head], "residual": False}


def test_a_relu_after_an_isolated_tie_sees_the_average():
    """Scores −x² and 0 touch at 0, values 1 and −1: there the value is 0, all around −1.

    The second unit is x + value + 1: x around 0, where it would be 0 but for the tie, and 1 there.
    """
    embed = {"type": "embed", "weight": [[[1], [0]], [[0], [0]]], "bias": [[0, 1], [0, -1]]}
    touching = attention([[-1, 0]], [[1, 0]], [[0, 1]], [[1], [0]], [0])
    touching["residual"] = True
    touching["heads"][0]["output"]["weight"] = [[1], [0]]
    readout = {"type": "readout", "token": 0, "coordinates": [0]}
    network = net(1, embed, touching, readout, {"type": "affine", "weight": [[1]], "bias": [1]}, {"type": "relu"})
    token_1 = (1, 1)  # its query is 0: both tokens tie
    assert found(network, [[-1, 1]]) == {(0, 1, *token_1, 0), (0, 1, *token_1, 1), (1, 1, *token_1, 1)}
    network["layers"][3] = {"type": "affine", "weight": [[1]], "bias": [0]}  # −1 around, 0 at the tie
    assert found(network, [["-1/2", "1/2"]]) == {(0, 1, *token_1, 0), (1, 1, *token_1, 0)}
    assert found(network, [["1/4", "1/2"]]) == {(0, 1, *token_1, 0)}
    assert found(network, [[0, "1/2"]]) == {(0, 1, *token_1, 0), (1, 1, *token_1, 0)}  # the tie at an end


def test_values_at_irrational_ties():
    """Scores x² and 2: at ±√2 the ReLU after them sees the average of x and 0, minus 3/5."""
    embed = {"type": "embed", "weight": [[[1], [0]], [[0], [0]]], "bias": [[0, 0], [0, 1]]}
    layer = attention([[1, 0], [0, 0]], [[1, 0], [0, 2]], [[1, 0]], [[1]], [0, 1])
    shift = {"type": "affine", "weight": [[1]], "bias": ["-3/5"]}
    network = net(1, embed, layer, {"type": "readout", "token": 0}, shift, {"type": "relu"})
    closed = found(network, [[-2, 2]])
    assert {(*p[:2], p[4]) for p in closed} == {(1, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)}
    network["layers"][3]["bias"] = ["-3/4"]  # √2 / 2 is less
    assert {(*p[:2], p[4]) for p in found(network, [[-2, 2]])} == {(1, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 0)}


def test_a_border_is_cut_by_its_own_averages():
    """Scores x and 0, values y and −y − 1: the ReLU changes at y = 0 right of x = 0, at y = −1 left of it, and on
    x = 0, where it sees −1/2, not at all.
    """
    embed = {"type": "embed", "weight": [[[1, 0], [0, 1]], [[0, 0], [0, -1]]], "bias": [[0, 0], [0, -1]]}
    layer = attention([[0, 0]], [[1, 0]], [[0, 1]], [[1]], [1])
    network = net(2, embed, layer, {"type": "readout", "token": 0}, {"type": "relu"})
    closed = {(*p[:2], p[4]) for p in found(network, [[-1, 1], [-2, 2]])}
    assert closed == {(1, 0, 0), (1, 0, 1), (0, 1, 0), (0, 1, 1), (1, 1, 0)}
    embed["bias"][1][1] = 1  # y and 1 − y: the average is 1/2
    closed = {(*p[:2], p[4]) for p in found(network, [[-1, 1], [-2, 2]])}
    assert closed == {(1, 0, 0), (1, 0, 1), (0, 1, 0), (0, 1, 1), (1, 1, 1)}
    embed["weight"][1][1] = [0, 0]  # y and 1: the average changes sign at y = −1, where neither side does
    closed = {(*p[:2], p[4]) for p in found(network, [[-1, 1], [-2, 2]])}
    assert closed == {(1, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 0), (1, 1, 1)}


def test_a_value_that_is_zero_on_a_border_only():
    """|x| on both sides of x = 0 is > 0, and on it 0; with max(x, −x, y) the candidates tie in pairs, and all at 0."""
    fold = [{"type": "affine", "weight": [[1, 0]]}, {"type": "abs"}, {"type": "relu"}]
    assert found(net(2, *fold), [[-1, 1], [-1, 1]]) == {(1, 1), (0, 1), (0, 0)}
    maximum = {"type": "maxout", "weight": [[[1, 0], [-1, 0], [0, 1]]]}
    assert found(net(2, maximum), [[-1, 1], [-1, 1]]) == {
        p for p in [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] if any(p)
    }


def test_a_network_without_choices():
    for n, domain in ((1, "0:1"), (2, "0:1,0:1")):
        network = network_from_dict(net(n, {"type": "affine", "weight": [[1] * n]}))
        assert rc.subdivide(network, domain).count("R1") == 1


# ------------------------------------------------------------------------------------------- the interface

HALVES = rc.from_layers([([[1], [-1]], [0, 0]), "relu", ([[1, -1]], [0])])


def test_r1_is_on_request_and_labels_nothing():
    assert rc.count(HALVES, "-1:1", definitions=("linear", "R1")).counts == {"linear": 1, "R1": 3}
    partition = rc.subdivide(HALVES, "-1:1")
    assert tuple(partition.counts()) == DEFINITIONS
    with pytest.raises(rc.InputError, match="R1"):
        partition.labels("R1")
    with pytest.raises(rc.InputError, match="affine_maps, R1, got 'R2'"):
        partition.count("R2")


def test_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rc.save(HALVES, "net.json")
    assert cli.main(["count", "net.json", "--domain=-1:1", "--definitions", "R1,linear"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines if line.startswith(("R1", "linear"))] == [["R1", "3"], ["linear", "1"]]
    assert any(line.endswith(MEANINGS["R1"]) for line in lines)
    assert cli.main(["count", "net.json", "--domain=-1:1", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["counts"]) == list(DEFINITIONS)


# ------------------------------------------------------------------------------------------- numbers


def test_signs_and_order_of_surds():
    rng = Random(1)
    numbers = [Fraction(rng.randint(-9, 9), rng.randint(1, 9)) for _ in range(10)]
    for _ in range(30):
        numbers += real_roots(*(rng.randint(-9, 9) for _ in range(3)))
    for x in numbers[:30]:  # neighbours that floats do not tell apart
        step = Fraction(1, 10**30)
        numbers.append(x + step if isinstance(x, Fraction) else Surd(x.p + step, x.q, x.d))
    numbers += [Fraction(10**400), Fraction(1, 10**400), Surd(Fraction(10**400), Fraction(1), 2)]
    with localcontext() as context:
        context.prec = 900

        def decimal(x):
            if isinstance(x, Fraction):
                return Decimal(x.numerator) / x.denominator
            return decimal(x.p) + decimal(x.q) * Decimal(x.d).sqrt()

        def sign(value):
            return 0 if abs(value) < Decimal("1e-450") else 1 if value > 0 else -1

        values = [decimal(x) for x in numbers]
        for (x, a), (y, b) in combinations(zip(numbers, values, strict=True), 2):
            assert order(x, y) == -order(y, x) == sign(a - b)
        for x, a in zip(numbers, values, strict=True):
            for _ in range(5):
                c0, c1, c2 = (rng.randint(-9, 9) for _ in range(3))
                assert sign_of_polynomial(c0, c1, c2, x) == sign(c0 + c1 * a + c2 * a * a)
    for c in ((-2, 0, 1), (1, -3, 1), (-7, 2, 5)):
        assert all(sign_of_polynomial(*c, x) == 0 for x in real_roots(*c))
