"""Heads whose query and key have one row, both varying, in the plane: the sign of the query is a hidden choice.

The reference enumerates by another way, in rational arithmetic: each piece is cut by *all* lines on which a query or
the difference of two keys vanishes, and the winners are read off at an inner point of each part.  Superfluous cuts are
joined by ``oracle.counts``.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import compare
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

import regioncount as rc
from regioncount.errors import InputError
from regioncount.files import network_from_dict, network_to_dict
from regioncount.lowering import lower

SQUARE = [[-1, 1], [-1, 1]]


# ------------------------------------------------------------------------------------------------ the reference


def pieces_of(network, domain):
    """Exact pieces, with superfluous cuts, of a network whose heads have one query row or affine scores."""
    pieces = [(oracle.box(domain), (), oracle._input_tokens(2))]
    for layer in network["layers"]:
        refined = []
        for vertices, pattern, tokens in pieces:
            parts = [(vertices, ())]
            for unit in _questions(layer, tokens):
                parts = [(smaller, columns + more) for part, columns in parts for smaller, more in _answers(part, unit)]
            refined += [
                (part, pattern + columns, oracle._next_tokens(layer, tokens, columns)) for part, columns in parts
            ]
        pieces = refined
    return [oracle.Piece2D(vertices, pattern, oracle._output_map(tokens)) for vertices, pattern, tokens in pieces]


def _questions(layer, tokens):
    if layer["type"] != "attention":
        yield from oracle._units(layer, tokens)
        return
    for head in layer["heads"]:
        queries, keys = ([oracle._form_act(head[what], token) for token in tokens] for what in ("query", "key"))
        for query, allowed in zip(queries, oracle._allowed(layer, len(tokens)), strict=True):
            if len(query) > 1:
                yield "set", [oracle._score(query, key) if ok else None for key, ok in zip(keys, allowed, strict=True)]
            else:
                yield "product", [query[0], [key[0] if ok else None for key, ok in zip(keys, allowed, strict=True)]]


def _answers(vertices, unit):
    tag, rest = unit
    if tag != "product":
        return oracle._answers_2d(vertices, tag, rest)
    query, keys = rest
    present = [key for key in keys if key is not None]
    lines = [query, *(tuple(a - b for a, b in zip(p, q, strict=True)) for p, q in combinations(present, 2))]
    parts = [vertices]
    for line in lines:
        if any(line[:2]):
            halves = (oracle.clip(part, tuple(s * x for x in line)) for part in parts for s in (1, -1))
            parts = [half for half in halves if half]
    answers = []
    for part in parts:
        x, y = oracle.centroid(part)
        q, *at = (None if f is None else f[0] * x + f[1] * y + f[2] for f in (query, *keys))
        best = max(q * k for k in at if k is not None)
        answers.append((part, tuple(int(k is not None and q * k == best) for k in at)))
    return answers


def closed_patterns(network, pieces):
    """The patterns on the closed domain: those of pieces, and of the network restricted to all their edges."""
    found = oracle.patterns(pieces)
    for p, q in {tuple(sorted(edge)) for piece in pieces for edge in oracle._edges(piece.vertices)}:
        found |= oracle.patterns_1d_closed(oracle.restrict(network, p, q), 0, 1)
    return found


def assert_same(network, domain, closed=False):
    """Compare with the reference; returns the partition."""
    made, pieces = network_from_dict(network), pieces_of(network, domain)
    partition = rc.subdivide(made, domain)
    assert compare.pattern_set(partition) == oracle.patterns(pieces)
    assert partition.counts() == oracle.counts(pieces)
    assert partition.certified
    streamed = rc.count(made, domain)
    assert streamed.counts == {"activation": len(oracle.patterns(pieces))}
    assert streamed.depth_profile == partition.depth_profile
    assert streamed.certified
    partition.check_invariants()
    if closed:
        assert partition.count("R1") == len(closed_patterns(network, pieces))
    return partition


def random_network(rng, values=None, layers=(1, 1, 2)):
    """A small random Transformer with heads of one row, some of them with affine scores."""
    values = values or rng.choice((oracle.VALUES, compare.THIRDS, compare.SMALL, compare.MIXED))
    return oracle.random_transformer(
        rng, tokens=rng.randint(2, 3), dim=rng.randint(1, 3), head_dim=1, layers=rng.choice(layers),
        heads=rng.randint(1, 2), hidden=rng.randint(0, 2), input_dim=2, values=values, residual=rng.random() < 0.7,
        mask=rng.choice(("none", "none", "causal", "random")), readout=rng.choice((True, False, "mean", "all")),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ by hand

X, Y, ONE, ZERO = [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]


def head(query, key, value):
    """A head of one row each, rows given as (weight of coordinate 0, of coordinate 1, bias)."""
    parts = {"query": query, "key": key, "value": value}
    made = {name: {"weight": [row[:2]], "bias": row[2:]} for name, row in parts.items()}
    return {**made, "output": {"weight": [[1]]}}


def transformer(tokens, *heads, mask="none", before=(), after=(), readout=0):
    """A network dictionary: tokens of two coordinates, each an affine function (a, b, c) of the input, one attention
    layer without a residual."""
    embed = {
        "type": "embed",
        "weight": [[row[:2] for row in token] for token in tokens],
        "bias": [[row[2] for row in token] for token in tokens],
    }
    attention = {"type": "attention", "residual": False, "mask": mask, "heads": list(heads)}
    layers = [*before, embed, attention, *after, {"type": "readout", "token": readout}]
    return {"format": "regioncount-network", "version": 1, "input_dim": 2, "layers": layers}


def five(partition):
    return [partition.count(name) for name in rc.DEFINITIONS]


# token 0 sees both tokens, token 1 itself alone
FIRST = [[True, True], [False, True]]
# query x, keys y and 0, values as the keys: the greater of xy and 0 wins
CROSS = transformer([[X, Y], [X, ZERO]], head(X, Y, Y), mask=FIRST)


@pytest.mark.nojit
def test_two_quadrants_of_two_patterns():
    partition = assert_same(CROSS, SQUARE)
    assert five(partition) == [2, 4, 4, 2, 2]
    assert partition.n_pieces == 4
    assert partition.count("R1") == 3  # the two, and both tokens on the axes
    assert partition.depth_profile == [{"layer": 1, "type": "attention", "activation": 2}]
    assert sorted(map(tuple, partition.patterns.tolist())) == [(0, 1, 0, 1)] * 2 + [(1, 0, 0, 1)] * 2
    assert partition.patterns.shape[1] == network_from_dict(CROSS).activation_pattern([[0.5, 0.5]]).shape[1]


@pytest.mark.nojit
def test_equal_keys_make_no_border():
    """The cut along x = 0 is superfluous."""
    partition = assert_same(transformer([[X, Y], [ZERO, Y]], head(X, Y, ONE), mask=FIRST), SQUARE)
    assert partition.n_pieces == 2
    assert five(partition) == [1, 1, 1, 1, 1]
    assert partition.count("R1") == 1
    assert partition.patterns.tolist() == [[1, 1, 0, 1]] * 2


@pytest.mark.nojit
def test_a_superfluous_cut_beside_a_border():
    """Keys y and min(y, 0), query x: for y < 0 the keys are one map, for y > 0 the sign of x decides."""
    clipped = {"type": "affine", "weight": [[1, 0], [0, 1], [0, -1]]}
    before = [clipped, {"type": "relu"}, {"type": "affine", "weight": [[1, 0, 0], [0, 1, -1], [0, 0, -1]]}]
    network = transformer([[X, Y], [ZERO, Y]], head(X, Y, ONE), mask=FIRST, before=before)
    network["layers"][3]["weight"] = [[[1, 0, 0], [0, 1, 0]], [[0, 0, 0], [0, 0, 1]]]
    network["layers"][0]["bias"] = [3, 0, 0]  # relu keeps x + 3
    network["layers"][2]["bias"] = [-3, 0, 0]
    partition = assert_same(network, SQUARE, closed=True)
    assert partition.n_pieces == 4
    assert five(partition) == [3, 3, 1, 1, 1]
    assert [entry["activation"] for entry in partition.depth_profile] == [2, 3]


@pytest.mark.nojit
def test_a_query_that_is_zero_on_a_piece():
    """Query relu(x): for x < 0 all keys tie."""
    before = [{"type": "affine", "weight": [[1, 0], [0, 1]], "bias": [0, 9]}, {"type": "relu"}]
    network = transformer([[X, [0, 1, -9]], [X, ZERO]], head(X, Y, Y), mask=FIRST, before=before)
    partition = assert_same(network, SQUARE, closed=True)
    assert five(partition) == [3, 3, 3, 3, 3]
    assert partition.n_pieces == 3
    left = partition.patterns[partition.patterns[:, 0] == 0]
    assert left.tolist() == [[0, 1, 1, 1, 0, 1]]


def test_queries_whose_scores_are_affine_by_structure_are_not_split():
    fixed = network_from_dict(transformer([[X, Y], [X, ZERO]], head([0, 0, 2], Y, Y)))
    alike = network_from_dict(transformer([[X, ONE], [X, ZERO]], head(X, Y, Y)))
    for network in (fixed, alike):
        assert lower(network, planar=True) is lower(network)
    # token 1 has a constant query, token 2 sees one token alone
    tokens = [[X, Y], [ONE, X], [X, ZERO]]
    mask = [[True, True, True], [True, True, True], [False, False, True]]
    mixed = lower(network_from_dict(transformer(tokens, head(X, Y, Y), mask=mask)), planar=True)
    assert [block.hidden for block in mixed.blocks].count(True) == 1
    assert (~mixed.visible).sum() == 2
    assert lower(mixed.network).visible.all() and not lower(mixed.network).has_hidden


def test_two_rows_need_conics():
    wide = {"weight": [[1, 0], [0, 1]]}
    network = transformer([[X, Y], [Y, X]], {"query": wide, "key": wide, "value": wide, "output": wide})
    with pytest.raises(rc.NeedsConicEngine, match=r"layers\[1\] \(attention\)"):
        rc.count(network_from_dict(network), SQUARE, method="polygon")
    assert rc.subdivide(network_from_dict(network), SQUARE).method == "conic"


def test_heads_masks_and_layers():
    tokens = [[X, Y], [[1, 1, 0], [1, -1, "1/2"]], [[0, 2, "1/3"], X]]
    relu = {"type": "feedforward", "hidden": {"weight": [[1]]}, "output": {"weight": [[2]]}}
    heads = [head(X, Y, X), head(Y, [1, 1, 0], Y)]
    for mask in ("none", "causal"):
        assert_same(transformer(tokens, *heads, mask=mask, after=[relu], readout="all"), SQUARE, closed=mask == "none")
    wide = [{**part, "output": {"weight": row}} for part, row in zip(heads, ([[1], [0]], [[0], [1]]), strict=True)]
    twice = transformer(tokens, *wide, readout=1)
    twice["layers"].insert(2, {**twice["layers"][1], "residual": True})
    assert_same(twice, [[-1, 1], [0, 2]])


# ------------------------------------------------------------------------------------------------ random networks


@pytest.mark.parametrize("block", [*range(4), *(pytest.param(b, marks=pytest.mark.slow) for b in range(4, 8))])
def test_random_networks(block):
    for seed in range(20 * block, 20 * block + 20):
        assert_same(random_network(Random(seed)), compare.domain_for(Random(seed), 2), closed=seed % 5 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_more_random_networks(block):
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        assert_same(random_network(Random(seed)), compare.domain_for(Random(seed), 2), closed=seed % 5 == 0)


@pytest.mark.nojit
def test_a_few_random_networks():
    for seed in range(5000, 5012):
        assert_same(random_network(Random(seed)), compare.domain_for(Random(seed), 2), closed=seed % 3 == 0)


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_exact_mode_agrees(rng):
    network = network_from_dict(random_network(rng, compare.SMALL))
    quick, exact = (rc.subdivide(network, SQUARE, exact=flag) for flag in (False, True))
    assert quick.counts() == exact.counts()
    assert compare.pattern_set(quick) == compare.pattern_set(exact)
    assert rc.count(network, SQUARE, exact=True).counts["activation"] == quick.count("activation")


def generic(seed, tokens=4, layers=2, heads=2):
    return rc.constructions.random_transformer(
        tokens=tokens, layers=layers, heads=heads, dim=2, hidden=2, input_dim=2, seed=seed
    )


@pytest.mark.parametrize("seed", range(4))
def test_floats_agree_with_exact_mode_on_generic_networks(seed):
    network = generic(seed, tokens=3)
    quick, exact = (rc.subdivide(network, SQUARE, exact=flag) for flag in (False, True))
    assert quick.counts() == exact.counts()
    assert compare.pattern_set(quick) == compare.pattern_set(exact)
    quick.check_invariants()


def test_some_random_networks_have_superfluous_cuts_and_patterns_of_several_cells():
    """Else the tests above say little."""
    cuts = cells = 0
    for seed in range(160):
        partition = rc.subdivide(network_from_dict(random_network(Random(seed))), compare.domain_for(Random(seed), 2))
        cuts += partition.count("cells") < partition.n_pieces
        cells += partition.count("activation") < partition.count("cells")
    assert cuts >= 5 and cells >= 10


@pytest.mark.parametrize("seed", range(6))
def test_a_fine_grid_finds_no_more(seed):
    import shapely

    from regioncount.evaluation import patterns_and_borders
    from regioncount.geometry import polygons

    n = 150
    network = generic(seed) if seed % 2 else network_from_dict(random_network(Random(seed)))
    partition = rc.subdivide(network, SQUARE)
    x, y = (-1 + (np.arange(n) + shift) * 2 / n for shift in (0.4137, 0.5719))  # not within rounding of a border
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    patterns, on_border = patterns_and_borders(network, points)
    assert {row.tobytes() for row in patterns[~on_border]} <= {row.tobytes() for row in partition.patterns}
    # every component of 25 samples lies in cells of its pattern
    names = np.unique(patterns, axis=0, return_inverse=True)[1].reshape(-1)
    names[on_border] = -1
    tree = shapely.STRtree(polygons(partition))
    for name in range(names.max() + 1):
        labels, number = ndimage.label(names.reshape(n, n) == name)
        for label in np.flatnonzero(np.bincount(labels.ravel(), minlength=number + 1)[1:] >= 25) + 1:
            inside = points[(labels == label).ravel()]
            sample, piece = tree.query(shapely.points(inside), predicate="within")
            assert len(np.unique(sample)) == len(inside)
            assert (partition.patterns[piece] == patterns[names == name][0]).all()


# ------------------------------------------------------------------------------------------------ metamorphic


def with_input(network, matrix):
    """The network that reads ``matrix`` times its input."""
    first = {"type": "affine", "weight": [[str(x) for x in row] for row in matrix]}
    return {**network, "layers": [first, *network["layers"]]}


def everything(network, domain):
    partition = rc.subdivide(network_from_dict(network), domain)
    profile = [entry["activation"] for entry in partition.depth_profile]
    return partition.counts(), profile, partition.count("R1") if partition.n_pieces < 30 else None


@pytest.mark.parametrize("seed", range(12))
def test_rotated_and_sheared_inputs(seed):
    network = random_network(Random(seed + 300))
    expected = everything(network, SQUARE)
    assert everything(with_input(network, [[0, -1], [1, 0]]), SQUARE) == expected
    sheared = "poly:-2/3,-1;4/3,-1;2/3,1;-4/3,1"
    assert everything(with_input(network, [[1, Fraction(1, 3)], [0, 1]]), sheared) == expected
    thin = "-1/1000:1/1000,-1000:1000"
    assert everything(with_input(network, [[1000, 0], [0, Fraction(1, 1000)]]), thin) == expected


@pytest.mark.parametrize("seed", range(12))
def test_permuted_tokens_and_heads(seed):
    rng = Random(seed + 400)
    network = oracle.random_transformer(
        rng, tokens=3, dim=2, head_dim=1, layers=1 + seed % 2, heads=2, input_dim=2, values=compare.MIXED, readout=True
    )
    expected = everything(network, SQUARE)
    layers = [dict(layer) for layer in network["layers"]]
    order = [2, 0, 1]
    layers[0] |= {key: [layers[0][key][t] for t in order] for key in ("weight", "bias")}
    layers[-1]["token"] = order.index(layers[-1]["token"])
    assert everything({**network, "layers": layers}, SQUARE) == expected
    for layer in layers:
        if layer["type"] == "attention":
            layer["heads"] = layer["heads"][::-1]
    assert everything({**network, "layers": layers}, SQUARE) == expected


# ------------------------------------------------------------------------------------------------ the rest


def test_few_fingerprints_at_a_time(monkeypatch):
    """The buffer fills, is emptied and grows."""
    from regioncount import engines

    network = generic(1)
    expected = rc.count(network, SQUARE)
    monkeypatch.setattr(engines.PolygonRun, "PRINTS", 3)
    assert rc.count(network, SQUARE).depth_profile == expected.depth_profile
    assert rc.subdivide(network, SQUARE).depth_profile == expected.depth_profile


def test_too_many_pieces():
    with pytest.raises(rc.TooManyPieces):
        rc.subdivide(network_from_dict(CROSS), SQUARE, max_pieces=3)


SUPERFLUOUS = transformer([[X, Y], [ZERO, Y]], head(X, Y, X), mask=FIRST)


@pytest.mark.parametrize("network", [CROSS, SUPERFLUOUS], ids=["cross", "superfluous"])
def test_saved_and_verified(network, tmp_path):
    from regioncount.verify import verify

    partition = rc.subdivide(network_from_dict(network), SQUARE)
    rc.save(partition, tmp_path / "p.npz")
    loaded = rc.load(tmp_path / "p.npz")
    assert verify(loaded)["counts"] == partition.counts() == loaded.counts()
    loaded.patterns[0, :2] = 1 - loaded.patterns[0, :2]
    with pytest.raises(InputError, match="does not hold"):
        verify(loaded)


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_saved_random_networks(seed, tmp_path):
    from regioncount.verify import verify

    partition = rc.subdivide(network_from_dict(random_network(Random(seed))), SQUARE)
    rc.save(partition, tmp_path / "p.npz")
    assert verify(rc.load(tmp_path / "p.npz"))["counts"] == partition.counts()


def test_boundary_and_regions_of_a_superfluous_cut():
    from regioncount.geometry import regions

    # outputs y and 1/2 - y: they tie along y = 1/4, which the cut x = 1/2 crosses
    after = [{"type": "affine", "weight": [[1], [-1]], "bias": [0, "1/2"]}]
    network = transformer([[X, Y], [ZERO, Y]], head([1, 0, "-1/2"], Y, Y), mask=FIRST, after=after)
    partition = assert_same(network, SQUARE)
    assert partition.n_pieces == 2 and partition.count("cells") == 1
    assert [region.area for region in regions(partition, "cells")] == [4.0]
    boundary = partition.decision_boundary()
    assert np.isclose(np.linalg.norm(np.diff(boundary.segments, axis=1), axis=2).sum(), 2.0)
    assert len(boundary.jumps) == 0


def test_the_line_keeps_its_own_lowering():
    network = oracle.random_transformer(Random(0), tokens=3, dim=2, head_dim=1, input_dim=1, values=compare.MIXED)
    made = network_from_dict(network)
    compare.assert_same(network, [[-1, 1]])
    assert "planar" not in made._cache
    partition = rc.subdivide(made, "-1:1")
    assert not partition._source.lowered.has_hidden and partition._source.lowered is lower(made)


def test_patterns_and_values_at_points_do_not_depend_on_the_engine():
    made = network_from_dict(CROSS)
    before = made.activation_pattern([[0.5, 0.5], [0, 0.5]])
    rc.count(made, SQUARE)
    assert (made.activation_pattern([[0.5, 0.5], [0, 0.5]]) == before).all()
    assert network_to_dict(made) == network_to_dict(network_from_dict(CROSS))
