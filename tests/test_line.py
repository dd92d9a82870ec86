"""The whole line: the oracle on an interval that holds every breakpoint, germs at infinity, files, degenerate networks.

The oracle's interval is [−B, B], B = 10^60.  Weights of the random networks are at most 10 in size, with denominators
that divide 2310, and networks have at most ten affine layers of width five; attention multiplies at most two of them:
so breakpoints, roots of polynomials with such coefficients, are far below B.
"""

import json
from fractions import Fraction
from pathlib import Path
from random import Random

import compare
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_boundary import chooser
from test_interval import attention, bends

import regioncount as rc
from regioncount import geometry
from regioncount.errors import InputError, TooManyPieces
from regioncount.files import network_from_dict
from regioncount.germs import germ, line_reach
from regioncount.lowering import lower
from regioncount.verify import verify

F = Fraction
B = 10**60
DATA = Path(__file__).parent / "data"
LINES = {
    entry["name"]: entry["network"]
    for entry in json.loads((DATA / "networks.json").read_text())
    if entry["network"]["input_dim"] == 1
}


def assert_same(network, invariants=True):
    """Everything that both programs know, on the line and on [−B, B]; returns the partition."""
    made = network_from_dict(network)
    pieces = oracle.enumerate_1d(network, -B, B)
    partition = rc.subdivide(made, rc.Line())
    assert [tuple(row) for row in partition.patterns.tolist()] == [piece.pattern for piece in pieces]
    assert partition.counts() == oracle.counts(pieces)
    assert partition.certified
    inner = [float(piece.right) for piece in pieces[:-1]]
    assert partition.breakpoints[[0, -1]].tolist() == [-np.inf, np.inf]
    assert partition.breakpoints[1:-1] == pytest.approx(inner, rel=1e-12, abs=1e-15 * partition.reach)
    assert all(abs(x) < partition.reach for x in inner)
    for k, piece in enumerate(pieces):
        size = max(1.0, *(abs(float(c)) for row in piece.map for c in row))
        assert partition.maps[k].ravel() == pytest.approx(
            [float(c) for row in piece.map for c in row], rel=1e-9, abs=1e-9 * size
        )
    streamed = rc.count(made, "all")
    assert streamed.counts == {"activation": len(oracle.patterns(pieces))}
    assert (streamed.domain, streamed.pieces, streamed.certified) == ("all", len(pieces), True)
    assert streamed.depth_profile == partition.depth_profile
    if invariants:
        partition.check_invariants()
    return partition


# ------------------------------------------------------------------------------------------------ against the oracle


@pytest.mark.parametrize("name", LINES)
def test_reference_networks(name):
    partition = assert_same(LINES[name], invariants="rounded" not in name)
    if partition.n_pieces < 60:
        assert partition.count("R1") == len(oracle.patterns_1d_closed(LINES[name], -B, B))


@pytest.mark.nojit
@pytest.mark.parametrize("block", range(5))
def test_random_continuous_networks(block):
    for seed in range(12 * block, 12 * block + 12):
        network = compare.continuous(seed, 1)
        partition = assert_same(network)
        assert partition.count("R1") == len(oracle.patterns_1d_closed(network, -B, B))


@pytest.mark.parametrize("block", range(5))
def test_random_transformers(block):
    for seed in range(12 * block, 12 * block + 12):
        network = compare.transformer(seed, 1)
        partition = assert_same(network)
        if seed % 3 == 0:
            assert partition.count("R1") == len(oracle.patterns_1d_closed(network, -B, B))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=6),
    st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
)
def test_any_parabolas(keys, query):
    """Scores (a x + b)(c x + d): germs that tie in their leading coefficients."""
    values = [(k, (-1) ** k) for k in range(len(keys))]
    assert_same(attention(keys, values, query=query))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.fractions(min_value=-1000, max_value=1000, max_denominator=50), min_size=1, max_size=8))
def test_any_breakpoints(places):
    partition = assert_same(bends(*places))
    distinct = sorted(set(places))
    assert partition.n_pieces == len(distinct) + 1
    assert partition.breakpoints[1:-1] == pytest.approx([float(x) for x in distinct], abs=1e-15 * partition.reach)


@pytest.mark.parametrize("seed", range(12))
def test_the_depth_profile_is_that_of_networks_cut_after_each_layer(seed):
    network = compare.continuous(seed, 1) if seed % 2 else compare.transformer(seed, 1)
    for entry in rc.subdivide(network_from_dict(network), "all").depth_profile:
        cut = {**network, "layers": network["layers"][: entry["layer"] + 1]}
        assert entry["activation"] == len(oracle.patterns(oracle.enumerate_1d(cut, -B, B)))


@pytest.mark.parametrize("seed", range(30))
def test_the_decision_boundary_is_that_of_a_long_interval(seed):
    network = compare.continuous(seed, 1) if seed % 2 else compare.transformer(seed, 1)
    made = network_from_dict(network)
    if made.output_dim < 2:
        made = rc.Network(1, [*made.layers, rc.Affine([[1] * made.output_dim, [0] * made.output_dim], [0, "1/3"])])
    whole, long = rc.subdivide(made, "all"), rc.subdivide(made, [[-(2**40), 2**40]])
    assert whole.n_pieces == long.n_pieces
    found, wanted = whole.decision_boundary(), long.decision_boundary()
    assert found.count == wanted.count
    assert found.pieces.tolist() == wanted.pieces.tolist()
    assert found.pairs.tolist() == wanted.pairs.tolist()
    assert found.jumps.tolist() == wanted.jumps.tolist()
    assert found.segments == pytest.approx(wanted.segments, rel=1e-6, abs=1e-3)


def test_a_tie_of_outputs_far_beyond_the_breakpoints():
    network = rc.from_layers([([[1]], [0]), "relu", ([[1], [F(1001, 1000)]], [0, -1000])])
    partition = rc.subdivide(network, "all")
    assert partition.reach > 10**6
    boundary = partition.decision_boundary()
    assert boundary.segments.ravel() == pytest.approx([1e6], rel=1e-12)


# ------------------------------------------------------------------------------------------------ germs


def test_germs():
    assert germ([[7, 0, 0]]) == ([0], [])
    assert germ([[0, 0, -1], [-5, 0, 0], [-4, 0, 0]]) == ([2], [[-4, 0, 1], [1, 0, 0]])
    assert germ([[0, 1, 1], [0, 2, 1], [0, 2, 1]]) == ([1, 2], [[0, 1, 0]])


@pytest.mark.parametrize(
    ("places", "reach"),
    [
        ([0], 1),
        ([1], 2),
        (["-3/4"], 1),
        ([-4], 8),
        (["1/1000", "-1/500"], F(1, 256)),
        ([10**30, 0], 2**100),
        ([F(1, 10**40)], F(1, 2**132)),
    ],
)
def test_reach(places, reach):
    network = network_from_dict(bends(*places))
    assert line_reach(lower(network)) == reach
    assert_same(bends(*places))


def test_reach_is_that_of_the_last_irrational_breakpoint():
    network = attention([(1, 0), (0, 2)], [(0, 1), (0, 2)])  # x² against 2x… on one side; −2x is behind
    assert line_reach(lower(network_from_dict(network))) == 4
    root = attention([(1, 0), (0, 0)], [(0, 1), (0, 2)], query=(1, -3))  # x² − 3x against 0
    assert line_reach(lower(network_from_dict(root))) == 4
    assert_same(network), assert_same(root)


def test_nothing_changes_on_networks_without_choices_and_on_constant_units():
    for network in (
        rc.Network(1, []),
        rc.from_layers([([[0], [0]], [1, -1]), "relu", ([[1, 1]], [0])]),
        rc.from_layers([([[0]], [0]), "abs"]),
    ):
        partition = rc.subdivide(network, rc.Line())
        partition.check_invariants()
        assert partition.breakpoints.tolist() == [-np.inf, np.inf]
        assert (partition.reach, partition.bounded.tolist()) == (1.0, [False])
        assert set(partition.counts().values()) == {partition.count("R1")} == {1}


def test_what_a_partition_says():
    network = rc.from_layers([([[1], [2]], [-3, 1]), "relu", ([[1, -1]], [0])])
    partition = rc.subdivide(network, "all")
    assert partition.breakpoints.tolist() == [-np.inf, -0.5, 3, np.inf]
    assert partition.bounded.tolist() == [False, True, False]
    assert (partition.domain, partition.reach, partition.frame) == (rc.Line(), 4.0, rc.Interval(-4, 4))
    assert partition.facets.tolist() == [[0, -1], [0, 1], [1, 2], [2, -1]]
    assert rc.subdivide(network, "-9:9").bounded.all()
    assert rc.subdivide(network, "-9:9").reach is None


def test_a_breakpoint_beyond_floats_is_refused():
    huge = [{"type": "affine", "weight": [["1/" + "1" + "0" * 150]]}] * 2
    network = network_from_dict(
        {**bends(1), "layers": [*huge, {"type": "affine", "weight": [["1/" + "1" + "0" * 100]], "bias": [-1]},
                                {"type": "relu"}]}
    )  # fmt: skip
    with pytest.raises(InputError, match=r"^domain: expected all breakpoints within 2\^1000"):
        rc.count(network, "all")


def test_the_limit_on_pieces_and_exact_arithmetic():
    network = network_from_dict(LINES["tent_L3"])
    with pytest.raises(TooManyPieces, match="max_pieces"):
        rc.subdivide(network, "all", max_pieces=4)
    assert rc.count(network, "all", exact=True).counts == rc.count(network, "all").counts


def test_an_unbounded_domain_has_no_grid_and_no_other_engine():
    network = network_from_dict(LINES["hat"])
    with pytest.raises(InputError, match="^domain: expected a bounded interval"):
        rc.count(network, "all", method="grid")
    with pytest.raises(InputError, match="^method: 'polygon' does not take"):
        rc.count(network, "all", method="polygon")


def test_the_domain_of_the_network_may_be_all(tmp_path):
    network = rc.from_layers([([[1]], [0]), "relu"], domain="all")
    assert rc.count(network).domain == "all"
    rc.save(network, tmp_path / "net.json")
    assert rc.count(rc.load(tmp_path / "net.json")).counts == {"activation": 2}


# ------------------------------------------------------------------------------------------------ files, geometry


@pytest.mark.parametrize("name", ["hat", "attn_DS_T4", "three_step_T3_L1"])
def test_partition_files(name, tmp_path):
    partition = rc.subdivide(network_from_dict(LINES[name]), "all")
    rc.save(partition, tmp_path / "p.npz")
    loaded = rc.load(tmp_path / "p.npz")
    assert loaded.domain == rc.Line()
    assert loaded.breakpoints.tolist() == partition.breakpoints.tolist()
    assert loaded.reach == partition.reach
    assert loaded.counts() == partition.counts()
    assert verify(loaded)["counts"] == partition.counts()


def test_broken_lines_are_refused():
    from dataclasses import replace

    partition = rc.subdivide(network_from_dict(LINES["hat"]), "all")
    ends = partition.breakpoints
    for broken in (
        np.concatenate([[-partition.reach], ends[1:]]),
        np.where(np.isinf(ends), np.nan, ends),
        ends + np.array([0, 0, 0, 1e-3, 0]),
        np.concatenate([ends[:-2], [np.inf, np.inf]]),
    ):
        with pytest.raises(AssertionError):
            replace(partition, breakpoints=broken).check_invariants()


def test_lengths_and_segments():
    partition = rc.subdivide(network_from_dict(bends(0, 1, 5)), "all")
    assert geometry.areas(partition).tolist() == [np.inf, 1, 4, np.inf]
    assert geometry.extent(partition) == (-0.625, 5.625)
    assert [s.bounds[::2] for s in geometry.polygons(partition)] == [(-0.625, 0), (0, 1), (1, 5), (5, 5.625)]
    features = geometry.geojson(partition)["features"]
    assert [f["properties"]["bounded"] for f in features] == [False, True, True, False]
    assert [f["properties"]["area"] for f in features] == [None, 1, 4, None]
    json.dumps(features, allow_nan=False)


@pytest.mark.parametrize(
    ("places", "view"),
    [([], (-1, 1)), ([0], (-1, 1)), ([8], (4, 12)), ([-2, 2], (-2.5, 2.5)), ([*range(40), 10**9], (-2.5, 42.5))],
)
def test_views(places, view):
    from regioncount import drawing

    network = network_from_dict(bends(*places)) if places else rc.Network(1, [])
    found = drawing.bounds(rc.subdivide(network, "all"))
    assert found == pytest.approx(view, rel=1e-9)


def test_graphs_of_the_line():
    from regioncount import drawing, figures

    partition = rc.subdivide(chooser(1, ([[1, 5], [0, 1]], [0, 0])), "all")
    assert drawing.footing(partition).startswith("2 pieces, 0 of them bounded, on the whole line")
    figure = figures.partition_figure(partition, "value:0")
    drawn = np.concatenate([np.asarray(trace.x, dtype=float) for trace in figure.data])
    assert np.nanmin(drawn) == -1 and np.nanmax(drawn) == 1
    figure = figures.partition_figure(partition, window=(-3, 5))
    assert figure.layout.xaxis.range == (-3, 5)
    figure = figures.partition_figure(partition, window=(1, 5, -2, 2))
    assert figure.layout.yaxis.range == (-2, 2)
    with pytest.raises(InputError, match=r"^window: expected \(x from, x to\) or"):
        figures.partition_figure(partition, window=(2, 1))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_more_random_networks(block):
    rng = Random(block)
    for _ in range(40):
        assert_same(compare.continuous(rng, 1))
        assert_same(compare.transformer(rng, 1))
