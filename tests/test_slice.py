"""Slices: the network on the cut is the network at the points of the cut, restricted by hand or looked at densely."""

import json
import pickle
from fractions import Fraction
from random import Random

import compare
import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import regioncount as rc
from regioncount import cli, figures
from regioncount.errors import InputError
from regioncount.exact import as_fraction
from regioncount.files import network_from_dict, read_domain
from regioncount.verify import verify

F = Fraction
VALUES = (-2, -1, F(-1, 3), 0, F(1, 2), 1, F(5, 7))


def by_hand(network, cut):
    """The network dictionary on a cut: the first layer's weights times directions, its bias + weights times origin."""
    first, *rest = network["layers"]
    text = lambda x: str(F(x))  # noqa: E731

    def through(weight, bias):  # one row, or rows of rows
        if isinstance(weight[0], list):
            pairs = [through(w, b) for w, b in zip(weight, bias, strict=True)]
            return [w for w, _ in pairs], [b for _, b in pairs]
        row = [as_fraction(x) for x in weight]
        slopes = [sum(a * d for a, d in zip(row, direction, strict=True)) for direction in cut.directions]
        constant = as_fraction(bias) + sum(a * o for a, o in zip(row, cut.origin, strict=True))
        return [text(x) for x in slopes], text(constant)

    weight, bias = through(first["weight"], first["bias"])
    layers = [{**first, "weight": weight, "bias": bias}, *rest]
    return {**network, "input_dim": cut.parameters, "layers": layers}


def random_slice(rng, dim, parameters, domain=None):
    while True:
        rows = [[rng.choice(VALUES) for _ in range(dim)] for _ in range(parameters)]
        domain = domain or ([[-2, 3]] if parameters == 1 else [[-2, 1], [-1, "3/2"]])
        try:
            return rc.Slice([rng.choice(VALUES) for _ in range(dim)], rows, domain)
        except InputError:
            continue


def classifier(rng, widths=(784, 50, 50, 50, 10)):
    """A network of the sizes of ERAN's digit classifiers, He initialised; float weights."""
    layers = []
    for n, m in zip(widths, widths[1:], strict=False):
        layers += [(rng.normal(size=(m, n)) * np.sqrt(2 / n), rng.normal(size=m) * 0.1), "relu"]
    return rc.from_layers(layers[:-1])


# ------------------------------------------------------------------------------------------------ counts


@pytest.mark.parametrize("parameters", [1, 2])
@pytest.mark.parametrize("seed", range(12))
def test_continuous_networks_are_those_restricted_by_hand(seed, parameters):
    rng = Random(seed)
    dim = rng.randint(parameters, 5)
    make = oracle.random_maxout if seed % 3 == 0 else oracle.random_relu
    network = make(rng, [dim, 4, 3, 2], values=VALUES)
    cut = random_slice(rng, dim, parameters)
    partition = rc.subdivide(network_from_dict(network), cut)
    low, high = (cut.domain.low, cut.domain.high) if parameters == 2 else ([cut.domain.low], [cut.domain.high])
    pieces = compare.oracle_pieces(by_hand(network, cut), list(zip(low, high, strict=True)))
    assert compare.pattern_set(partition) == oracle.patterns(pieces)
    assert partition.counts() == oracle.counts(pieces)
    partition.check_invariants()
    result = rc.count(network_from_dict(network), cut)
    assert result.counts["activation"] == partition.count("activation")
    assert result.domain == str(cut)


@pytest.mark.parametrize("seed", range(16))
def test_transformers_are_those_restricted_by_hand(seed):
    """In 1-D quadratic scores, in 2-D affine ones, and conics for every fourth seed."""
    rng = Random(seed)
    parameters = 1 + seed % 2
    dim = rng.randint(parameters, 4)
    scores = "quadratic" if parameters == 1 or seed % 4 == 3 else "fixed_query"
    network = oracle.random_transformer(
        rng, tokens=3, dim=2, layers=1, heads=1, head_dim=1, hidden=1, input_dim=dim, values=VALUES, scores=scores
    )
    cut = random_slice(rng, dim, parameters)
    made, hand = network_from_dict(network), network_from_dict(by_hand(network, cut))
    ours, theirs = rc.subdivide(made, cut), rc.subdivide(hand, cut.domain)
    assert ours.counts() == theirs.counts()
    assert compare.pattern_set(ours) == compare.pattern_set(theirs)
    ours.check_invariants()


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_whole_lines_through_space(rng):
    dim = rng.randint(1, 4)
    network = oracle.random_relu(rng, [dim, 4, 3, 1], values=VALUES)
    cut = random_slice(rng, dim, 1, "all")
    partition = rc.subdivide(network_from_dict(network), cut)
    pieces = oracle.enumerate_1d(by_hand(network, cut), -(10**60), 10**60)
    assert [tuple(row) for row in partition.patterns.tolist()] == [piece.pattern for piece in pieces]
    assert partition.counts() == oracle.counts(pieces)


@pytest.mark.parametrize("seed", range(4))
def test_whole_planes_through_space(seed):
    rng = Random(seed)
    network = oracle.random_relu(rng, [4, 4, 3, 1], values=VALUES)
    cut = random_slice(rng, 4, 2, "all")
    partition = rc.subdivide(network_from_dict(network), cut)
    assert partition.counts() == rc.subdivide(network_from_dict(by_hand(network, cut)), "all").counts()
    assert not partition.bounded.all()


@pytest.mark.parametrize("parameters", [1, 2])
def test_patterns_are_those_at_the_points_of_the_cut(parameters):
    rng = np.random.default_rng(parameters)
    network = classifier(rng, (784, 20, 20, 10))
    cut = rc.Slice.through(rng.uniform(size=(parameters + 1, 784)))
    partition = rc.subdivide(network, cut)
    assert partition.certified
    t = rng.uniform(-0.5, 1.5, size=(4000, parameters))
    sampled = {tuple(row) for row in network.activation_pattern(cut.outward(t)).tolist()}
    found = compare.pattern_set(partition)
    assert sampled <= found
    if parameters == 1:
        middle = np.clip(partition.breakpoints[:-1] + np.diff(partition.breakpoints) / 3, -0.5, 1.5)
        assert (network.activation_pattern(cut.outward(middle)) == partition.patterns).all()
        values = np.einsum("no,n->no", partition.maps[:, :, 0], middle) + partition.maps[:, :, 1]
        assert values == pytest.approx(network.evaluate(cut.outward(middle)), rel=1e-9, abs=1e-9)
    else:
        assert len(sampled) > 0.7 * len(found)


def test_a_classifier_of_784_inputs():
    rng = np.random.default_rng(0)
    network = classifier(rng)
    points = rng.uniform(size=(3, 784))
    line, plane = rc.Slice.through(points[:2]), rc.Slice.through(points)
    assert rc.count(network, line).counts["activation"] == 48
    result = rc.count(network, plane)
    assert result.counts["activation"] == 1664 and result.certified
    assert rc.count(network, rc.Slice.through(points[:2], "all")).counts["activation"] == 134
    partition = rc.subdivide(network, plane)
    assert all(layer.weight.is_float for layer in partition.network.layers[1:] if isinstance(layer, rc.Affine))
    assert partition.decision_boundary().count > 0


def test_layers_are_numbered_as_in_the_network():
    network = rc.from_layers([([[1, 0, 1], [0, 1, 1]],), "relu", ([[1, -1]],), "abs"])
    cut = rc.Slice([0, 0, 0], [[1, 0, 0], [0, 1, 1]], "-1:1,-1:1")
    for profile in (rc.count(network, cut).depth_profile, rc.subdivide(network, cut).depth_profile):
        assert [(entry["layer"], entry["type"]) for entry in profile] == [(1, "relu"), (3, "abs")]
    partition = rc.subdivide(network, cut)
    assert partition.slice is cut
    assert partition.domain == rc.Box([-1, -1], [1, 1])
    assert partition.network.input_dim == 2
    assert rc.subdivide(partition.network, partition.domain).slice is None


def test_exact_numbers_of_a_slice():
    """Three lines through one point for the exact slice; with 0.1 for 1/10 they make a triangle."""
    network = rc.from_layers([([[1, 0, 0], [0, 1, 0], [1, 1, -1]], ["-1/10", "-1/5", 0]), "relu"])
    exact = rc.Slice(["0.1", "0.2", "0.3"], [[1, 0, 0], [0, 1, 0]], "-1:1,-1:1")
    rounded = rc.Slice([0.1, 0.2, 0.3], [[1, 0, 0], [0, 1, 0]], "-1:1,-1:1")
    assert rc.count(network, exact).counts["activation"] == 6
    assert rc.count(network, rounded).counts["activation"] == 7


def test_a_slice_of_one_input():
    network = rc.from_layers([([[1], [-1]], [0, 1]), "relu"])
    cut = rc.Slice([1], [[2]], "-1:1")  # x in [-1, 3]
    assert rc.subdivide(network, cut).breakpoints.tolist() == [-1, -0.5, 0, 1]


def test_the_grid_samples_slices():
    network = rc.from_layers([(np.eye(3),), "relu"])
    cut = rc.Slice([0, 0, "1/7"], [[1, 0, 0], [0, 1, 1]], "-1:1,-1:1")
    result = rc.count(network, cut, method="grid", grid=50)
    assert result.estimate["activation"] == rc.count(network, cut).counts["activation"] == 6
    assert result.domain == str(cut)


# ------------------------------------------------------------------------------------------------ the class


def test_slices():
    cut = rc.Slice([0, "1/2", 1], [[1, 0, -1]], "0:1")
    assert (cut.dim, cut.parameters, cut.bounded) == (3, 1, True)
    assert cut.domain == rc.Interval(0, 1)
    assert cut.bounds == ((0, 0.5, 0), (1, 0.5, 1))
    assert str(cut) == "slice 0,0.5,1 + t(1,0,-1) on 0:1"
    assert eval(repr(cut), {"Slice": rc.Slice, "Interval": rc.Interval}) == cut
    assert pickle.loads(pickle.dumps(cut)) == cut
    assert hash(cut) == hash(rc.Slice([0, 0.5, 1], [[1, 0, -1]], [[0, 1]]))
    assert cut.outward([0.25, 1]).tolist() == [[0.25, 0.5, 0.75], [1, 0.5, 0]]
    assert cut.outward(0.25).tolist() == [0.25, 0.5, 0.75]
    whole = rc.Slice([0, 0], [[1, 0], [1, 1]], "all")
    assert (whole.domain, whole.bounded) == (rc.Plane(), False)
    assert whole.bounds == ((-np.inf, -np.inf), (np.inf, np.inf))
    assert rc.Slice([0, 3], [[1, 0]], "all").bounds == ((-np.inf, 3), (np.inf, 3))
    assert rc.Slice([0, 0], [[1, 0]], rc.Space(1)).domain == rc.Line()
    with pytest.raises(AttributeError):
        cut.origin = (1,)


def test_text_of_large_slices_tells_them_apart():
    rng = np.random.default_rng(0)
    a, b = (rc.Slice.through(rng.uniform(size=(2, 784))) for _ in range(2))
    assert str(a) != str(b) and len(str(a)) < 80
    assert str(a).endswith(" on -0.5:1.5") and "R^784" in str(a)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=2, max_size=3))
def test_through_points(points):
    try:
        cut = rc.Slice.through(points)
    except InputError:
        assert np.linalg.matrix_rank(np.diff(points, axis=0)) < len(points) - 1
        return
    assert np.linalg.matrix_rank(np.diff(points, axis=0)) == len(points) - 1
    at = [[0], [1]] if len(points) == 2 else [[0, 0], [1, 0], [0, 1]]
    assert cut.outward(at).tolist() == points
    assert cut.domain.contains(at).all()


def test_through_points_with_a_domain_or_a_margin():
    points = np.array([[0, 0.1], [1, 0.7]])
    assert rc.Slice.through(points, margin=0).domain == rc.Interval(0, 1)
    assert rc.Slice.through(points, "all").domain == rc.Line()
    cut = rc.Slice.through(points)
    assert cut.directions[0][1] == F(0.7) - F(0.1)  # exactly, though no float is


@given(st.lists(st.tuples(*[st.fractions(max_denominator=9)] * 4), min_size=2, max_size=2), st.fractions())
def test_dependence_is_exact(rows, factor):
    first, second = rows
    assume(any(first))
    multiple = [factor * x for x in first]
    with pytest.raises(InputError, match="^directions: expected two that are linearly independent"):
        rc.Slice([0] * 4, [first, multiple], "all")
    minors = [first[i] * second[j] - first[j] * second[i] for i in range(4) for j in range(i)]
    if any(minors):
        assert rc.Slice([0] * 4, [first, second], "all").parameters == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rc.Slice([], [[1]], "0:1"), "origin: expected a list of one or more numbers"),
        (lambda: rc.Slice([0, "x"], [[1, 0]], "0:1"), r"origin\[1\]: expected a finite number"),
        (lambda: rc.Slice([0, 0], [], "0:1"), "directions: expected a list of one or more directions"),
        (lambda: rc.Slice([0, 0], [1, 0], "0:1"), r"directions\[0\]: expected a list of numbers"),
        (lambda: rc.Slice([0, 0], [[1]], "0:1"), r"directions\[0\]: expected 2 numbers like origin, got 1"),
        (lambda: rc.Slice([0, 0], [[0, 0]], "0:1"), r"directions\[0\]: expected a direction, got zeros"),
        (lambda: rc.Slice([0, 0], [[1, 0], [0, 0]], "0:1,0:1"), "directions: expected two that are linearly"),
        (lambda: rc.Slice([0], [[1], [2]], "0:1,0:1"), "directions: expected two that are linearly"),
        (lambda: rc.Slice([0] * 3, np.eye(3), "0:1,0:1"), "directions: expected one or two, got 3"),
        (lambda: rc.Slice([0, 0], [[1, 0]], "0:1,0:1"), "domain: expected dimension 1 like the number of directions"),
        (lambda: rc.Slice([0, 0], np.eye(2), "0:1"), "domain: expected dimension 2 like the number of directions"),
        (lambda: rc.Slice([0, 0], np.eye(2), rc.Space(3)), "domain: expected dimension 2"),
        (lambda: rc.Slice([0, 0], [[1, 0]], "1:0"), "domain: low: expected less than high"),
        (lambda: rc.Slice([0, 0], [[1, 0]], rc.Slice([0], [[1]], "0:1")), "domain: expected dimension 1"),
        (lambda: rc.Slice.through([[0, 0]]), "points: expected two or three, got 1"),
        (lambda: rc.Slice.through([[0, 0], [1]]), r"points\[1\]: expected 2 numbers like points\[0\], got 1"),
        (lambda: rc.Slice.through([[0, 0], [0, 0]]), "points: expected distinct ones, got two that coincide"),
        (lambda: rc.Slice.through([[0, 0], [1, 1], [1, 1]]), "points: expected distinct ones"),
        (lambda: rc.Slice.through([[0, 0], [1, 1], [2, 2]]), "points: expected three that are not collinear"),
        (lambda: rc.Slice.through([[0], [1]], margin=-1), "margin: expected a number that is not negative"),
        (lambda: rc.Slice([0], [[1]], "0:1").outward([[1, 2]]), r"t: expected \(n_points, 1\), got \(1, 2\)"),
    ],
)
def test_refused(make, message):
    with pytest.raises(InputError, match=f"^{message}") as info:
        make()
    assert "\n" not in str(info.value)


def test_a_slice_of_another_dimension_is_refused():
    network = rc.from_layers([(np.eye(3),), "relu"])
    with pytest.raises(InputError, match=r"^domain: expected dimension 3 \(input_dim\), got slice .* of dimension 2"):
        rc.count(network, rc.Slice([0, 0], [[1, 0]], "0:1"))
    with pytest.raises(InputError, match="^method: 'polygon' does not take a domain of dimension 1"):
        rc.count(network, rc.Slice([0, 0, 0], [[1, 0, 0]], "0:1"), method="polygon")


# ------------------------------------------------------------------------------------------------ files


CUT = {"origin": [0, 0, "1/7"], "directions": [[1, 0, 0], [0, 1, 1]], "domain": "-1:1,-1:1"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rc.save(rc.from_layers([(np.eye(3),), "relu"]), "net.json")
    (tmp_path / "cut.json").write_text(json.dumps(CUT))
    return tmp_path


def test_slice_files(folder):
    assert read_domain("slice:cut.json") == rc.Slice(**CUT)
    assert read_domain(" slice:cut.json ", 3) == rc.Slice(**CUT)
    (folder / "pairs.json").write_text(json.dumps({**CUT, "domain": [[-1, 1], ["-1", 1.0]]}))
    assert read_domain("slice:pairs.json") == rc.Slice(**CUT)
    (folder / "all.json").write_text(json.dumps({**CUT, "domain": "all"}))
    assert read_domain("slice:all.json").domain == rc.Plane()
    assert read_domain("all", 2) == rc.Plane()
    network = rc.load("net.json")
    assert rc.count(network, "slice:cut.json").counts == rc.count(network, rc.Slice(**CUT)).counts == {"activation": 6}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({**CUT, "origin": [0, 0, "x"]}, r"origin\[2\]: expected a finite number"),
        ({**CUT, "directions": [[1, 0, 0], [2, 0, 0]]}, "directions: expected two that are linearly independent"),
        ({**CUT, "directions": 3}, "directions: expected a list of directions, got 3"),
        ({**CUT, "domain": "-1:1"}, "domain: expected dimension 2"),
        ({**CUT, "domain": "slice:cut.json"}, "domain: expected a domain without a file here"),
        ({**CUT, "domain": None}, "domain: expected a value, got null"),
        ({**CUT, "format": 1}, "unknown key 'format'; expected origin, directions, domain"),
        ({"origin": [0], "directions": [[1]]}, "domain: missing"),
        ([], r"expected an object, got \[\]"),
        ("{", "expected JSON"),
        ('{"origin": [NaN], "directions": [[1]], "domain": "0:1"}', "expected finite numbers, got NaN"),
    ],
)
def test_refused_files(folder, content, message, capsys):
    (folder / "bad.json").write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(InputError, match=f"^domain: bad.json: {message}"):
        read_domain("slice:bad.json")
    assert cli.main(["count", "net.json", "--domain=slice:bad.json"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "bad.json" in error


def test_files_that_are_not_there(folder):
    for name in ("none.json", ".", ""):
        with pytest.raises(InputError, match="^domain: "):
            read_domain(f"slice:{name}")


def test_count_prints_the_domain_as_given(folder, capsys):
    assert cli.main(["count", "net.json", "--domain=slice:cut.json", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["domain"] == "slice:cut.json"
    assert report["counts"]["activation"] == 6
    assert [entry["layer"] for entry in report["depth_profile"]] == [1]
    assert cli.main(["count", "net.json", "--domain=all", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["activation"] == 8


def test_a_network_file_may_name_a_slice(folder, capsys):
    rc.save(rc.Network(3, [rc.ReLU()], domain="slice:cut.json"), "own.json")
    assert cli.main(["count", "own.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["domain"] == "slice:cut.json"
    assert rc.count(rc.load("own.json")).counts == {"activation": 6}


def test_partition_files_keep_the_slice(folder, capsys):
    assert cli.main(["count", "net.json", "--domain=slice:cut.json", "--save=p.npz"]) == 0
    loaded = rc.load("p.npz")
    assert loaded.slice == rc.Slice(**CUT)
    assert loaded.depth_profile[0]["layer"] == 1
    network = rc.load("net.json")
    assert verify(loaded, network)["counts"]["activation"] == 6
    other = rc.from_layers([(2 * np.eye(3),), "relu"])
    with pytest.raises(InputError, match="of another network"):
        verify(loaded, other)
    assert cli.main(["verify", "p.npz", "net.json"]) == 0
    capsys.readouterr()


def test_a_partition_file_with_another_slice_is_refused(folder):
    from dataclasses import replace

    partition = rc.subdivide(rc.load("net.json"), "slice:cut.json")
    broken = replace(partition, slice=rc.Slice([0, 0, 1], CUT["directions"], CUT["domain"]))
    rc.save(broken, "p.npz")
    with pytest.raises(InputError, match="slice"):
        verify(rc.load("p.npz"))


# ------------------------------------------------------------------------------------------------ figures


def test_figures_name_the_parameters(folder):
    network = rc.load("net.json")
    figure = figures.partition_figure(rc.subdivide(network, "slice:cut.json"))
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("s", "t")
    line = rc.subdivide(network, rc.Slice([0, 0, 0], [[1, 1, -1]], "all"))
    assert figures.partition_figure(line).layout.xaxis.title.text == "t"
    assert cli.main(["figure", "net.json", "--domain=slice:cut.json", "--window=0:1,0:1", "-o", "cut.html"]) == 0
    assert (folder / "cut.html").stat().st_size > 1000
