"""Counts against reference values, bad input, metamorphic relations, and the checks of partitions with broken ones."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import compare
import numpy as np
import oracle
import peers
import pytest

import regioncount as rc
from regioncount import constructions, engines
from regioncount.errors import InputError, NeedsConicEngine, TooManyPieces
from regioncount.files import network_from_dict

F = Fraction
DATA = Path(__file__).parent / "data"
ENTRIES = {entry["name"]: entry for entry in json.loads((DATA / "networks.json").read_text())}
CONIC = [
    name for name in ENTRIES if name.startswith(("conic_", "random_hardmax_2d_")) and name != "conic_cross"
]  # the score of the cross is a product of two numbers

# The file says 13; by the definition (components of unions of closed *pieces*) it is 14: so the oracle, and the proof
# by hand in test_oracle.py, test_all_distinct_0_has_14_closed_regions.
CORRECTED = {"all_distinct_0": {"linear_closed": 14}}


# ------------------------------------------------------------------------------------------------ known counts


@pytest.mark.nojit
@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in CONIC])
def test_reference_counts(name):
    entry = ENTRIES[name]
    expected = {**entry["counts"], **CORRECTED.get(name, {})}
    network = network_from_dict(entry["network"])
    partition = rc.subdivide(network, entry["domain"])
    assert {key: partition.count(key) for key in expected} == expected
    assert partition.certified
    partition.check_invariants()
    assert rc.count(network, entry["domain"]).counts == {"activation": expected["activation"]}
    every = rc.count(network, entry["domain"], definitions=rc.DEFINITIONS)
    assert every.counts == partition.counts()
    assert every.depth_profile == partition.depth_profile
    assert every.pieces == partition.n_pieces


@pytest.mark.nojit
@pytest.mark.parametrize("name", CONIC)
def test_polygons_refuse_quadratic_scores_in_the_plane(name):
    network, domain = network_from_dict(ENTRIES[name]["network"]), ENTRIES[name]["domain"]
    with pytest.raises(NeedsConicEngine, match=r"layers\[\d\] \(attention\)") as caught:
        rc.count(network, domain, method="polygon")
    assert "\n" not in str(caught.value) and "conic" in str(caught.value)
    with pytest.raises(NeedsConicEngine, match="quadratic"):
        rc.subdivide(network, domain, method="polygon")


THREE_STEP = json.loads((DATA / "constructions.json").read_text())["constructions"]["three_step"]


@pytest.mark.parametrize("key", [*THREE_STEP])
def test_three_step_counts(key):
    tokens, depth = map(int, key.split(","))
    network = constructions.three_step(tokens, depth)
    partition = rc.subdivide(network)
    assert partition.counts() == {name: THREE_STEP[key][name] for name in rc.DEFINITIONS}
    assert partition.certified
    assert rc.count(network).counts["activation"] == THREE_STEP[key]["activation"]
    if depth == 3:
        partition.check_invariants()


@pytest.mark.parametrize(("name", "domain", "number"), peers.cases())
def test_peers_agree(name, domain, number):
    network = peers.load(name)
    box = ",".join([domain] * network.input_dim)
    result = rc.count(network, box)
    assert result.counts == {"activation": number}
    assert result.certified
    if number < 10_000 and name != "relu_1_256x8":  # there rational arithmetic has 2,000 units of 53 bits to compose
        partition = rc.subdivide(network, box)
        partition.check_invariants()
        assert partition.depth_profile == result.depth_profile
        assert partition.count("activation") == partition.n_pieces == number


@pytest.mark.slow
def test_a_large_partition_holds():
    """55,000 pieces of a network of four layers of 128 units."""
    partition = rc.subdivide(peers.load("relu_2_128x4"), "-1:1,-1:1")
    partition.check_invariants()
    assert set(partition.counts().values()) == {54602}


# ------------------------------------------------------------------------------------------------ what results hold


def test_a_network_without_choices_is_one_region():
    for dim, domain in ((1, "0:1"), (2, "0:1,0:1")):
        network = rc.Network(dim, [])
        partition = rc.subdivide(network, domain)
        partition.check_invariants()
        assert set(partition.counts().values()) == {1}
        assert rc.count(network, domain).counts == {"activation": 1}
        assert rc.count(network, domain).depth_profile == []


def test_depth_profile_is_that_of_the_network_cut_after_each_layer():
    network = oracle.random_relu(Random(11), [2, 3, 3, 2, 1])
    partition = rc.subdivide(network_from_dict(network), "-2:2,-2:2")
    for entry in partition.depth_profile:
        cut = {**network, "layers": network["layers"][: entry["layer"] + 1]}
        assert entry["type"] == "relu"
        assert entry["activation"] == rc.count(network_from_dict(cut), "-2:2,-2:2").counts["activation"]
    assert len(partition.depth_profile) == 3


def test_the_domain_of_the_network_is_the_default():
    network = rc.from_layers([([[1]], [0]), "relu"], domain="-1:1")
    assert rc.count(network).counts == {"activation": 2}
    assert rc.count(network, "1:2").counts == {"activation": 1}
    assert rc.count(network, [[-1, 1]]).domain == "-1:1"
    assert rc.subdivide(network, rc.Interval(-2, 3)).breakpoints.tolist() == [-2, 0, 3]


def test_layout_of_a_partition():
    network = rc.from_layers([([[1, 0], [0, 1]], [0, 0]), "relu", ([[1, 2]], [3])])
    partition = rc.subdivide(network, "-1:1,-1:1")
    assert (partition.dim, partition.n_pieces, len(partition.vertices), len(partition.facets)) == (2, 4, 9, 12)
    assert partition.patterns.dtype == np.uint8
    by_pattern = {tuple(row): k for k, row in enumerate(partition.patterns.tolist())}
    k = by_pattern[1, 0]
    assert partition.maps[k].tolist() == [[1, 0, 3]]
    corners = partition.vertices[partition.piece_vertices[partition.offsets[k] : partition.offsets[k + 1]]]
    assert {tuple(v) for v in corners.tolist()} == {(0, -1), (1, -1), (1, 0), (0, 0)}
    inner = {frozenset(pair) for pair in partition.facets.tolist() if -1 not in pair}
    assert frozenset({by_pattern[0, 0], by_pattern[1, 1]}) not in inner
    assert len(inner) == 4
    assert sorted(set(partition.facet_border[partition.facets[:, 1] < 0].tolist())) == [-4, -3, -2, -1]


def test_labels_are_read_only_and_named():
    partition = rc.subdivide(rc.from_layers([([[1]], [0]), "relu"]), "-1:1")
    assert partition.labels("linear").tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        partition.labels("linear")[0] = 1
    with pytest.raises(InputError, match=r"definitions?: expected one of activation"):
        partition.labels("regions")
    with pytest.raises(InputError, match="definitions?: expected one of activation"):
        partition.count("R4")


# ------------------------------------------------------------------------------------------------ bad input

LINE = rc.from_layers([([[1]], [0]), "relu"])
PLANE = rc.from_layers([([[1, 0], [0, 1]], [0, 0]), "relu"])


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("network", "arguments", "text"),
    [
        (LINE, {}, r"domain: expected one, since the network has none of its own"),
        (LINE, {"domain": "-1:1,-1:1"}, r"domain: expected dimension 1 \(input_dim\), got -1:1,-1:1 of dimension 2"),
        (PLANE, {"domain": "-1:1"}, r"domain: expected dimension 2"),
        (PLANE, {"domain": "1:-1,0:1"}, r"domain: low"),
        (PLANE, {"domain": 3}, r"domain: expected a domain"),
        (
            rc.Network(3, [rc.Affine([[1, 1, 1]])]),
            {"domain": "0:1,0:1,0:1", "method": "polygon"},
            r"method: 'polygon' does not take a domain of dimension 3; expected one of 'auto', 'polytope'",
        ),
        (
            LINE,
            {"domain": "-1:1", "method": "polytope"},
            r"method: 'polytope' does not take a domain of dimension 1; expected one of 'auto', 'interval'",
        ),
        (
            LINE,
            {"domain": "-1:1", "method": "simplex"},
            r"method: expected one of auto, interval, polygon, conic, polytope, grid, montecarlo, got 'simplex'",
        ),
        (LINE, {"domain": "-1:1", "method": "conic"}, r"method: 'conic' does not take a domain of dimension 1"),
        (LINE, {"domain": "-1:1", "method": "polygon"}, r"method: 'polygon' does not take a domain of dimension 1"),
        (
            PLANE,
            {"domain": "0:1,0:1", "method": "interval"},
            r"method: 'interval' does not take a domain of dimension 2",
        ),
        (LINE, {"domain": "-1:1", "max_pieces": 0}, r"max_pieces: expected a positive integer, got 0"),
        (LINE, {"domain": "-1:1", "max_pieces": True}, r"max_pieces: expected a positive integer, got True"),
        (LINE, {"domain": "-1:1", "max_pieces": 1e3}, r"max_pieces: expected a positive integer, got 1000.0"),
    ],
)
def test_bad_arguments_are_named(network, arguments, text):
    for function in (rc.count, rc.subdivide):
        with pytest.raises(InputError, match=text):
            function(network, **arguments)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"definitions": ("activation", "R5")}, r"definitions: expected one of activation, .*, got 'R5'"),
        ({"definitions": "regions"}, r"definitions: expected one of .* got 'regions'"),
        ({"definitions": 4}, r"definitions: expected .* got 4"),
        ({"grid": 10}, r"grid: expected with method 'grid' only, got 10"),
    ],
)
def test_bad_arguments_of_count(arguments, text):
    with pytest.raises(InputError, match=text):
        rc.count(LINE, "-1:1", **arguments)


@pytest.mark.parametrize("network", ["net.json", None, [[1, 2]], LINE.layers])
def test_something_else_than_a_network_is_refused(network):
    for function in (rc.count, rc.subdivide):
        with pytest.raises(InputError, match="network: expected a Network, got"):
            function(network, "-1:1")


def test_subdivide_has_no_grid():
    with pytest.raises(InputError, match="method: the grid samples points and makes no partition"):
        rc.subdivide(LINE, "-1:1", method="grid")


def test_softmax_is_not_enumerated():
    part = {"weight": [[1]]}
    heads = [dict.fromkeys(("query", "key", "value", "output"), part)]
    attention = {"type": "attention", "heads": heads, "activation": "softmax", "scale": 2}
    layers = [{"type": "embed", "weight": [[[1]], [[2]]]}, attention]
    network = network_from_dict({"format": "regioncount-network", "version": 1, "input_dim": 1, "layers": layers})
    with pytest.raises(InputError, match=r"layers\[1\] \(attention\): activation 'softmax' is not piecewise affine"):
        rc.count(network, "0:1")


@pytest.mark.nojit
@pytest.mark.parametrize("domain", ["-1:1", "-1:1,-1:1"])
def test_max_pieces(domain):
    dim = domain.count(":")
    weight = np.eye(dim)[np.arange(8) % dim]
    network = rc.from_layers([(weight, [k / 10 for k in range(8)]), "relu"])
    total = rc.count(network, domain).counts["activation"]
    assert rc.subdivide(network, domain, max_pieces=total).n_pieces == total
    assert rc.count(network, domain, definitions=["cells"], max_pieces=total).counts == {"cells": total}
    for limit in (1, total // 2, total - 1):
        with pytest.raises(TooManyPieces, match=f"max_pieces: the partition has more than {limit} pieces"):
            rc.subdivide(network, domain, max_pieces=limit)
        with pytest.raises(TooManyPieces, match="max_pieces"):
            rc.count(network, domain, definitions=rc.DEFINITIONS, max_pieces=limit)
        assert rc.count(network, domain, max_pieces=limit).counts == {"activation": total}  # keeps no pieces


# ------------------------------------------------------------------------------------------------ broken partitions


def grid_partition():
    """Nine squares and the two halves of some: lines x, y and x + y, all maps different."""
    weight = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]]
    network = rc.from_layers(
        [(weight, [0.5, -0.5, 0.5, -0.25, 0.125]), "relu", ([[1, 2, 3, 4, 5], [1, -1, 2, 1, 0]], [0, 1])]
    )
    return rc.subdivide(network, "-1:1,-1:1")


def overlap_partition():
    """Facets that are overlaps: an attention layer, behind it a relu that cuts its two sides differently."""
    entry = ENTRIES["facet_overlap"]
    return rc.subdivide(network_from_dict(entry["network"]), entry["domain"])


def line_partition():
    network = rc.from_layers([([[1], [1], [1]], [0.5, 0, -0.5]), "relu", ([[1, 2, 3]], [0])])
    return rc.subdivide(network, "-1:1")


def changed(array, index, value):
    copy = array.copy()
    copy[index] = value
    return copy


def without_piece(p, k):
    """The partition without piece k, its facets given to the domain's boundary or dropped."""
    keep = np.arange(p.n_pieces) != k
    number = np.cumsum(keep) - 1
    facets = p.facets[(p.facets != k).all(axis=1)]
    kept = (p.facets != k).all(axis=1)
    renumbered = np.where(facets < 0, -1, number[facets])
    if p.dim == 1:
        return replace(
            p, patterns=p.patterns[keep], maps=p.maps[keep], breakpoints=np.delete(p.breakpoints, k),
            facets=renumbered, facet_border=p.facet_border[kept],
        )  # fmt: skip
    sizes = np.diff(p.offsets)
    return replace(
        p, patterns=p.patterns[keep], maps=p.maps[keep], facets=renumbered, facet_border=p.facet_border[kept],
        facet_vertices=p.facet_vertices[kept], piece_vertices=p.piece_vertices[np.repeat(keep, sizes)],
        offsets=np.concatenate([[0], np.cumsum(sizes[keep])]),
    )  # fmt: skip


def with_piece_twice(p, k):
    corners = p.piece_vertices[p.offsets[k] : p.offsets[k + 1]]
    return replace(
        p, patterns=np.concatenate([p.patterns, p.patterns[[k]]]), maps=np.concatenate([p.maps, p.maps[[k]]]),
        piece_vertices=np.concatenate([p.piece_vertices, corners]),
        offsets=np.append(p.offsets, p.offsets[-1] + len(corners)),
    )  # fmt: skip


def inner_facet(p):
    return int(np.flatnonzero(p.facets[:, 1] >= 0)[0])


def outer_facet(p):
    return int(np.flatnonzero(p.facets[:, 1] < 0)[0])


def inner_vertex(p):
    """A vertex inside the square."""
    return int(np.flatnonzero((np.abs(p.vertices) < 0.9).all(axis=1))[0])


def swapped(array):
    return array[[1, 0, *range(2, len(array))]]


BROKEN = {
    "maps swapped": (lambda p: replace(p, maps=swapped(p.maps)), "maps on its two sides|map gives"),
    "a constant off": (
        lambda p: replace(p, maps=changed(p.maps, (2, 0, 2), p.maps[2, 0, 2] + 1e-5)),
        "maps on|map gives",
    ),
    "patterns swapped": (lambda p: replace(p, patterns=swapped(p.patterns)), "patterns on its two sides|pattern is"),
    "a pattern bit": (
        lambda p: replace(p, patterns=changed(p.patterns, (1, 0), 1 - p.patterns[1, 0])),
        "patterns on its two|pattern is|number of different",
    ),
    "a pattern of 2": (lambda p: replace(p, patterns=changed(p.patterns, (1, 0), 2)), "only 0 and 1"),
    "a column less": (lambda p: replace(p, patterns=p.patterns[:, 1:]), r"patterns: expected uint8 of shape"),
    "an output less": (lambda p: replace(p, maps=p.maps[:, 1:]), r"maps: expected floats of shape"),
    "a vertex moved": (
        lambda p: replace(p, vertices=changed(p.vertices, inner_vertex(p), p.vertices[inner_vertex(p)] + 1e-6)),
        "convex|maps on its two sides|ties on the border|ends on its boundary|as long as",
    ),
    "a vertex far off": (
        lambda p: replace(p, vertices=changed(p.vertices, inner_vertex(p), [0.9, 0.9])),
        "convex|area|as long as",
    ),
    "a vertex not finite": (lambda p: replace(p, vertices=changed(p.vertices, (0, 0), np.nan)), "vertices are finite"),
    "a corner's vertex": (
        lambda p: replace(p, piece_vertices=changed(p.piece_vertices, 0, p.piece_vertices[5])),
        "convex|area|corner",
    ),
    "no such vertex": (
        lambda p: replace(p, piece_vertices=changed(p.piece_vertices, 0, len(p.vertices))),
        "it is a vertex",
    ),
    "clockwise": (
        lambda p: replace(p, piece_vertices=p.piece_vertices[::-1], offsets=p.offsets[-1] - p.offsets[::-1]),
        "counter-clockwise",
    ),
    "an inner facet dropped": (lambda p: without_facet(p, inner_facet(p)), "Euler"),
    "an outer facet dropped": (lambda p: without_facet(p, outer_facet(p)), "Euler"),
    "a facet for another": (
        lambda p: replace(
            p,
            facets=changed(p.facets, inner_facet(p), p.facets[inner_facet(p) + 1]),
            facet_vertices=changed(p.facet_vertices, inner_facet(p), p.facet_vertices[inner_facet(p) + 1]),
        ),
        "vertices: number|each part of its boundary|follow one another",
    ),
    "a facet turned round": (
        lambda p: replace(
            p, facet_vertices=changed(p.facet_vertices, inner_facet(p), p.facet_vertices[inner_facet(p), ::-1])
        ),
        "each part of its boundary|follow one another",
    ),
    "a facet of other pieces": (
        lambda p: replace(p, facets=changed(p.facets, (inner_facet(p), 1), far_piece(p))),
        "follow one another|each part of its boundary",
    ),
    "a facet of one piece": (
        lambda p: replace(p, facets=changed(p.facets, (inner_facet(p), 1), p.facets[inner_facet(p), 0])),
        "different pieces",
    ),
    "a facet of no piece": (
        lambda p: replace(p, facets=changed(p.facets, (0, 0), p.n_pieces)),
        "first side is a piece",
    ),
    "an outer facet inside": (
        lambda p: replace(p, facet_border=changed(p.facet_border, outer_facet(p), 7)),
        "on both accounts",
    ),
    "another edge of the domain": (
        lambda p: replace(
            p, facet_border=changed(p.facet_border, outer_facet(p), -1 - (-p.facet_border[outer_facet(p)]) % 4)
        ),
        "it lies on the edge of the domain",
    ),
    "an edge that is none": (
        lambda p: replace(p, facet_border=changed(p.facet_border, outer_facet(p), -9)),
        "names an edge of the domain",
    ),
    "a piece dropped": (lambda p: without_piece(p, 1), "areas of the pieces"),
    "a piece twice": (lambda p: with_piece_twice(p, 1), "areas of the pieces"),
    "the profile": (
        lambda p: replace(p, depth_profile=[{**entry, "activation": 5000} for entry in p.depth_profile]),
        "depth_profile",
    ),
    "another network": (
        lambda p: replace(
            p, network=rc.from_layers([([[1, 0]] * p.patterns.shape[1], None), "relu", ([[1] * 5] * 2, None)])
        ),
        "its pattern is the network's at the point",
    ),
}


def without_facet(p, k):
    return replace(
        p, facets=np.delete(p.facets, k, axis=0), facet_border=np.delete(p.facet_border, k),
        facet_vertices=np.delete(p.facet_vertices, k, axis=0) if p.dim == 2 else p.facet_vertices,
    )  # fmt: skip


def far_piece(p):
    """A piece that is no neighbour of the first inner facet's first."""
    k = p.facets[inner_facet(p), 0]
    near = set(p.facets[(p.facets == k).any(axis=1)].ravel().tolist())
    return next(q for q in range(p.n_pieces) if q not in near)


@pytest.mark.nojit
@pytest.mark.parametrize("name", [*BROKEN])
def test_checks_refuse_broken_partitions(name):
    partition = grid_partition()
    partition.check_invariants()
    spoil, text = BROKEN[name]
    with pytest.raises(AssertionError, match=text) as caught:
        spoil(partition).check_invariants()
    assert "\n" not in str(caught.value)
    assert any(character.isdigit() for character in str(caught.value))  # says where, or how many


BROKEN_LINES = {
    "maps swapped": (lambda p: replace(p, maps=swapped(p.maps)), "maps on its two sides"),
    "a pattern bit": (
        lambda p: replace(p, patterns=changed(p.patterns, (1, 0), 1 - p.patterns[1, 0])),
        "patterns on its two|pattern is",
    ),
    "a breakpoint moved": (
        lambda p: replace(p, breakpoints=changed(p.breakpoints, 1, p.breakpoints[1] + 1e-6)),
        "maps on its two sides",
    ),
    "breakpoints out of order": (lambda p: replace(p, breakpoints=p.breakpoints[[0, 2, 1, 3, 4]]), "is not less"),
    "the domain's end": (lambda p: replace(p, breakpoints=changed(p.breakpoints, 0, -2.0)), "ends of the domain"),
    "a breakpoint less": (lambda p: replace(p, breakpoints=p.breakpoints[:-1]), "breakpoints: expected"),
    "a facet dropped": (lambda p: without_facet(p, 1), "facets: number"),
    "an end dropped": (lambda p: without_facet(p, 0), "facets: pieces at the ends"),
    "a facet skips": (lambda p: replace(p, facets=changed(p.facets, (1, 1), 2)), "one facet joins"),
    "a piece dropped": (lambda p: without_piece(p, 1), "facets: number|one facet joins"),
}


@pytest.mark.nojit
@pytest.mark.parametrize("name", [*BROKEN_LINES])
def test_checks_refuse_broken_partitions_of_the_line(name):
    partition = line_partition()
    partition.check_invariants()
    spoil, text = BROKEN_LINES[name]
    with pytest.raises(AssertionError, match=text):
        spoil(partition).check_invariants()


class Spoilt(dict):
    """Labels with one of them changed."""


@pytest.mark.nojit
@pytest.mark.parametrize("make", [grid_partition, line_partition, overlap_partition])
@pytest.mark.parametrize("name", rc.DEFINITIONS)
def test_checks_refuse_wrong_labels(make, name):
    for wrong in ("merged", "numbering"):
        partition = make()
        labels = {key: partition.labels(key) for key in rc.DEFINITIONS}
        label = labels[name].copy()
        last = label.argmax()  # the first piece of the last region
        if wrong == "merged":
            label[last] = label[0]
        else:
            label[last] = label.max() + 1
        labels[name] = label
        partition.__dict__["_labels"] = Spoilt(labels)
        with pytest.raises(AssertionError, match="region|labels"):
            partition.check_invariants()


def test_checks_see_a_jump_that_is_none():
    """With attention maps may jump: a wrong map is then found by evaluation alone."""
    partition = overlap_partition()
    partition.check_invariants()
    wrong = changed(partition.maps, (1, 0, 2), partition.maps[1, 0, 2] + 1)
    with pytest.raises(AssertionError, match="piece 1: its map gives the network's output"):
        replace(partition, maps=wrong).check_invariants()


@pytest.mark.nojit
def test_checks_where_floats_do_not_resolve_the_domain():
    """A square 1e-12 wide, 1e6 from the origin: its corners are one float, its counts are exact."""
    one = F(1, 10**12)
    network = rc.from_layers([([[1, 0], [1, 1]], [str(-(10**6) - one / 3), str(-2 * 10**6 - one)]), "relu"])
    partition = rc.subdivide(network, rc.Box([10**6] * 2, [10**6 + one] * 2))
    assert partition.n_pieces == 4
    partition.check_invariants()


# ------------------------------------------------------------------------------------------------ metamorphic


def linear_layers(seed, dim):
    """Weights of a two-layer ReLU network as Fractions, with no zero row in the first layer."""
    rng = Random(seed)
    values = [F(v) for v in (-2, -1, F(-1, 3), F(1, 2), 0, 1, F(3, 2))]

    def draw(rows, columns):
        return np.array([[rng.choice(values) for _ in range(columns)] for _ in range(rows)], dtype=object)

    return [draw(4, dim), draw(1, 4)[0], draw(3, 4), draw(1, 3)[0], draw(2, 3), draw(1, 2)[0]]


def network_of(layers):
    a, b, c, d, e, f = layers
    return rc.from_layers([(a, b), "relu", (c, d), "relu", (e, f)])


def counts_of(layers, domain):
    partition = rc.subdivide(network_of(layers), domain)
    partition.check_invariants()
    return partition.counts()


BOX = {1: rc.Interval("-3/2", 2), 2: rc.Box(["-3/2", -1], [2, "4/3"])}


@pytest.mark.nojit
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_permuted_neurons(seed, dim):
    a, b, c, d, e, f = linear_layers(seed, dim)
    first, second = Random(seed).sample(range(4), 4), Random(seed).sample(range(3), 3)
    permuted = [a[first], b[first], c[:, first][second], d[second], e[:, second], f]
    assert counts_of(permuted, BOX[dim]) == counts_of([a, b, c, d, e, f], BOX[dim])


@pytest.mark.nojit
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_scaled_by_powers_of_two(seed, dim):
    """Neurons, and the input with its domain; far beyond what squares of floats hold."""
    a, b, c, d, e, f = layers = linear_layers(seed, dim)
    expected = counts_of(layers, BOX[dim])
    s = np.array([F(2) ** k for k in (-3, 0, 7, 40)], dtype=object)
    assert counts_of([a * s[:, None], b * s, c / s, d, e, f], BOX[dim]) == expected
    for power in (F(2) ** 30, F(1, 2**40)):
        low, high = (np.array([getattr(BOX[dim], side)]).ravel() * power for side in ("low", "high"))
        box = rc.Interval(low[0], high[0]) if dim == 1 else rc.Box(list(low), list(high))
        assert counts_of([a / power, b, c, d, e, f], box) == expected


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [10**150, F(1, 10**150)])
def test_scaled_by_1e150(seed, dim, size):
    """Squares of the weights overflow or vanish in floats: rational arithmetic decides."""
    a, b, c, d, e, f = layers = linear_layers(seed, dim)
    expected = counts_of(layers, BOX[dim])
    text = np.vectorize(str, otypes=[object])
    assert counts_of([text(a * size), text(b * size), c, text(d * size), e, f], BOX[dim]) == expected
    assert counts_of([text(a * size), text(b * size), text(c / size), d, e, f], BOX[dim]) == expected
    assert counts_of([a, b, c, d, text(e * size), f], BOX[dim]) == expected


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(8))
def test_rotated_by_90_degrees(seed):
    """(x, y) becomes (y, -x), so the row (u, v) of a weight becomes (v, -u)."""
    a, *rest = layers = linear_layers(seed, 2)
    expected = counts_of(layers, BOX[2])
    corners = BOX[2].vertices
    for _ in range(3):
        a = np.stack([a[:, 1], -a[:, 0]], axis=1)
        corners = [(y, -x) for x, y in corners]
        assert counts_of([a, *rest], rc.Polygon(corners)) == expected


@pytest.mark.nojit
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_doubled_neurons(seed, dim):
    """Each unit twice, with half its output weights."""
    a, b, c, d, e, f = layers = linear_layers(seed, dim)
    doubled = [np.repeat(a, 2, axis=0), np.repeat(b, 2), np.repeat(c / 2, 2, axis=1), d, e, f]
    assert counts_of(doubled, BOX[dim]) == counts_of(layers, BOX[dim])


@pytest.mark.nojit
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shift", [10**6, F(10**9, 7)])
def test_far_away_windows(seed, dim, shift):
    a, b, *rest = layers = linear_layers(seed, dim)
    expected = counts_of(layers, BOX[dim])
    low, high = (np.array([getattr(BOX[dim], side)]).ravel() + shift for side in ("low", "high"))
    box = rc.Interval(low[0], high[0]) if dim == 1 else rc.Box(list(low), list(high))
    assert counts_of([a, b - a.sum(axis=1) * shift, *rest], box) == expected


@pytest.mark.nojit
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [F(1, 10**9), F(1, 10**25)])
def test_tiny_windows(seed, dim, size):
    a, b, *rest = layers = linear_layers(seed, dim)
    expected = counts_of(layers, BOX[dim])
    at = F(1, 3)
    low, high = (np.array([getattr(BOX[dim], side)]).ravel() * size + at for side in ("low", "high"))
    box = rc.Interval(low[0], high[0]) if dim == 1 else rc.Box(list(low), list(high))
    # x = at + size·u: the same function of u, scaled by `size` in the first layer
    assert counts_of([a, b * size - a.sum(axis=1) * at, rest[0], rest[1] * size, *rest[2:]], box) == expected


@pytest.mark.nojit
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_another_layer_never_lowers_activation_and_cells(seed, dim):
    make = compare.continuous if seed % 2 else compare.transformer
    network = make(1000 + seed, dim)
    domain = [[-2, 2]] * dim
    cells = activation = 0
    for length in range(len(network["layers"]) + 1):
        cut = {**network, "layers": network["layers"][:length]}
        partition = rc.subdivide(network_from_dict(cut), domain)
        assert partition.count("cells") >= cells
        assert partition.count("activation") >= activation
        cells, activation = partition.count("cells"), partition.count("activation")


# ------------------------------------------------------------------------------------------------ small buffers


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(4))
def test_buffers_that_start_tiny_grow(seed, monkeypatch):
    """Stacks, corners, requests, verdicts, events, leaves, fingerprints: results do not depend on where they start."""
    nets = [compare.continuous(40 + seed, 2), compare.transformer(3 * seed, 2), compare.continuous(40 + seed, 1)]
    nets += [compare.transformer(40 + seed, 1), oracle.random_relu(Random(seed), [2, 6, 5, 1])]
    expected = [rc.subdivide(network_from_dict(net), "-2:2" + ",-2:2" * (net["input_dim"] - 1)) for net in nets]
    for name, size in {"FRAMES": 4, "CORNERS": 4, "REQUESTS": 1, "TABLE": 4, "LEAVES": 1}.items():
        monkeypatch.setattr(engines.PolygonRun, name, size)
    for name, size in {"FRAMES": 1, "EVENTS": 1, "LEAVES": 1, "PRINTS": 1}.items():
        monkeypatch.setattr(engines._IntervalRun, name, size)
    for net, before in zip(nets, expected, strict=True):
        network, domain = network_from_dict(net), before.domain
        partition = rc.subdivide(network, domain)
        assert partition.patterns.tolist() == before.patterns.tolist()
        assert partition.maps.tolist() == before.maps.tolist()
        assert partition.counts() == before.counts()
        partition.check_invariants()
        assert rc.count(network, domain).depth_profile == before.depth_profile
