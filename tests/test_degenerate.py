"""Degenerate networks with counts that are known: by proof, by another network of the same function, or by the
rational oracle.

Every count here must also be certified.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import oracle
import pytest

import regioncount as rc
from regioncount.files import network_from_dict, network_to_dict

BOX = "-1:1,-1:1"


def counted(network, domain=BOX):
    result = rc.count(network, domain, definitions=rc.DEFINITIONS)
    assert result.certified and result.undecided == 0
    assert rc.count(network, domain).counts["activation"] == result.counts["activation"]
    return result.counts


def arrangement(normals, offsets):
    """Lines normals·x = offsets as one layer."""
    return rc.from_layers([(np.asarray(normals), -np.asarray(offsets)), "relu"])


def relu_net(rng, widths, draw):
    layers = []
    for n_in, n_out in zip(widths[:-1], widths[1:], strict=True):
        layers += [(draw(rng, (n_out, n_in)), draw(rng, (n_out,))), "relu"]
    return rc.from_layers(layers[:-1])


def affine_layers(network):
    return [layer for layer in network.layers if layer.type == "affine"]


def few(rng, shape):
    return rng.integers(-1, 2, shape)


def normal(rng, shape):
    return rng.normal(size=shape)


# ------------------------------------------------------------------------------------------------ lines


@pytest.mark.parametrize("m", [1, 2, 3, 7, 60])
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_lines_through_a_point(m, shift):
    angles = np.pi * (np.arange(m) + 0.25) / m
    normals = np.column_stack([np.cos(angles), np.sin(angles)])
    exact = [[Fraction(float(x)) for x in row] for row in normals]
    offsets = [sum(row, Fraction(0)) * Fraction(shift) for row in exact]  # all through (shift, shift), exactly
    weight = [[str(x) for x in row] for row in exact]
    network = rc.from_layers([(weight, [str(-c) for c in offsets]), "relu"])
    assert counted(network)["activation"] == 2 * m


@pytest.mark.parametrize("n", [1, 5, 30])
def test_grid_of_lines(n):
    at = (np.arange(n) + 1) / (n + 1) * 2 - 1
    normals = np.vstack([np.tile([1, 0], (n, 1)), np.tile([0, 1], (n, 1))])
    assert counted(arrangement(normals, np.concatenate([at, at])))["activation"] == (n + 1) ** 2


@pytest.mark.parametrize("gap", [1e-9, 1e-15, 2.0**-52])
@pytest.mark.parametrize("direction", [(1.0, 0.0), (1.0, 2.0), (0.3, -0.7)])
def test_parallel_pairs(gap, direction):
    """k pairs of parallels and one line across all of them: 2(2k + 1) regions."""
    a, b = direction
    offsets = [c for k in range(3) for c in (0.125 * k, 0.125 * k + gap)]
    assert len(set(offsets)) == 6
    normals = [[a, b]] * 6 + [[-b, a]]
    assert counted(arrangement(normals, [*offsets, 0.0]))["activation"] == 14


def test_lines_at_the_edge_of_the_domain():
    """Lines that only touch the domain in a corner or along an edge cut nothing."""
    touching = [([1, 1], 2), ([1, -1], 2), ([1, 0], 1), ([0, -1], 1), ([2, 1], -3)]
    assert counted(arrangement(*zip(*touching, strict=True)))["activation"] == 1
    assert counted(arrangement(*zip(*touching, ([1, 0], 0), strict=True)))["activation"] == 2


def test_line_through_corners_of_cells():
    """The diagonal of a grid passes through the corners of its cells: it cuts the diagonal cells only."""
    n = 9
    at = (np.arange(n) + 1) / (n + 1) * 2 - 1
    normals = np.vstack([np.tile([1, 0], (n, 1)), np.tile([0, 1], (n, 1)), [[1, -1]]])
    found = counted(arrangement(normals, np.concatenate([at, at, [0]])))["activation"]
    exact = arrangement([[str(x) for x in map(Fraction, row)] for row in normals.tolist()],
                        [*(Fraction(k + 1, n + 1) * 2 - 1 for k in range(n))] * 2 + [Fraction(0)])  # fmt: skip
    assert counted(exact)["activation"] == (n + 1) ** 2 + n + 1
    # floats of k/5 − 1 are not symmetric: the diagonal may miss a corner, where it cuts one more cell
    assert (
        found >= (n + 1) ** 2 + n + 1 and found == counted(arrangement(normals, np.concatenate([at, at, [0]])))["cells"]
    )


# ------------------------------------------------------------------------------------------------ copies


@pytest.mark.parametrize("seed", range(4))
def test_copies_of_neurons_change_nothing(seed):
    rng = np.random.default_rng(seed)
    weight, bias = rng.normal(size=(9, 2)), rng.normal(size=9) * 0.4
    deep = rng.normal(size=(6, 9)), rng.normal(size=6)
    plain = counted(rc.from_layers([(weight, bias), "relu", deep, "relu"]))["activation"]
    for factors in ([1.0], [4.0, 0.5], [-1.0], [1.0, -2.0]):
        w = np.vstack([weight, *(f * weight for f in factors)])
        b = np.concatenate([bias, *(f * bias for f in factors)])
        zeros = np.zeros((6, 9 * len(factors)))  # the copies feed nothing
        copied = rc.from_layers([(w, b), "relu", (np.hstack([deep[0], zeros]), deep[1]), "relu"])
        assert counted(copied)["activation"] == plain
    twice = rc.from_layers([(weight, bias), "relu", tuple(np.concatenate([x, 2 * x]) for x in deep), "relu"])
    assert counted(twice)["activation"] == plain


@pytest.mark.parametrize("seed", range(3))
def test_copies_one_ulp_apart_are_other_lines(seed):
    rng = random.Random(seed)
    layers = [{"type": "affine", "weight": [[1.0, 0.5], [-0.75, 1.0]], "bias": [0.1, -0.2]}]
    for _ in range(3):
        w = layers[0]["weight"][rng.randrange(2)]
        nudged = [float(np.nextafter(x, rng.choice([-9, 9]))) for x in w]
        layers[0]["weight"].append(nudged)
        layers[0]["bias"].append(float(np.nextafter(layers[0]["bias"][rng.randrange(2)], 9)))
    data = {"format": "regioncount-network", "version": 1, "input_dim": 2, "layers": [*layers, {"type": "relu"}]}
    pieces = oracle.enumerate_2d(data, oracle.box([[-1, 1], [-1, 1]]))
    partition = rc.subdivide(network_from_dict(data), BOX)
    assert {tuple(map(int, p)) for p in partition.patterns} == oracle.patterns(pieces)
    assert partition.counts() == oracle.counts(pieces) and partition.certified


def test_copies_of_candidates_and_heads():
    rng = np.random.default_rng(5)
    weight, bias = rng.normal(size=(4, 3, 2)), rng.normal(size=(4, 3))
    out = rng.normal(size=(2, 4)), np.zeros(2)
    plain = counted(rc.from_layers([("maxout", weight, bias), out]))
    doubled = [
        ("maxout", np.concatenate([weight, weight[:, :2]], axis=1), np.concatenate([bias, bias[:, :2]], axis=1)),
        out,
    ]
    assert counted(rc.from_layers(doubled)) == plain
    base = rc.constructions.random_transformer(tokens=3, layers=1, heads=1, input_dim=2, queries="fixed", seed=3)
    data = network_to_dict(base)
    attention = next(layer for layer in data["layers"] if layer["type"] == "attention")
    before = counted(base)
    head = attention["heads"][0]
    attention["heads"] = [head, head]  # the same choices twice; other values, so other maps
    assert counted(network_from_dict(data))["activation"] >= 1
    half = {
        **head,
        "output": {"weight": (np.array(head["output"]["weight"]) / 2).tolist(), "bias": head["output"]["bias"]},
    }
    half["output"]["bias"] = (np.array(half["output"]["bias"]) / 2).tolist()
    attention["heads"] = [half, half]  # the same function
    assert counted(network_from_dict(data)) == before


# ------------------------------------------------------------------------------------------------ zero biases


@pytest.mark.parametrize("seed", range(6))
def test_zero_bias_networks_are_cones(seed):
    """Regions of a network without biases are cones, so its patterns are those on the four edges of the box."""
    rng = np.random.default_rng(seed)
    draw = few if seed % 2 else lambda rng, shape: np.round(rng.normal(size=shape), 2)
    layers = []
    for n_in, n_out in ((2, 5), (5, 4), (4, 3)):
        layers += [{"type": "affine", "weight": draw(rng, (n_out, n_in)).tolist()}, {"type": "relu"}]
    data = {"format": "regioncount-network", "version": 1, "input_dim": 2, "layers": layers}
    corners = oracle.box([[-1, 1], [-1, 1]])
    on_edges = set()
    for start, end in zip(corners, corners[1:] + corners[:1], strict=True):
        on_edges |= oracle.patterns(oracle.enumerate_1d(oracle.restrict(data, start, end), 0, 1))
    partition = rc.subdivide(network_from_dict(data), BOX)
    assert {tuple(map(int, p)) for p in partition.patterns} == on_edges
    assert partition.certified


def test_larger_zero_bias_network_is_certified():
    network = relu_net(
        np.random.default_rng(0), [2, 64, 64, 64, 1], lambda rng, s: normal(rng, s) if len(s) > 1 else np.zeros(s)
    )
    counts = counted(network)
    assert counts["activation"] == rc.count(network, BOX, exact=True).counts["activation"]
    # cones: twice the box, the same number
    assert counted(network, "-2:2,-2:2") == counts


# ------------------------------------------------------------------------------------------------ one function, two
# networks


def lattice(rows, constants):
    """max over i of min over j of rows[i][j]·x + constants[i][j], by ReLU and by maxout."""
    k, m = len(rows), len(rows[0])
    weight, bias = np.reshape(rows, (k * m, -1)), np.reshape(constants, -1)
    relu, size, group = [], k * m, m
    while size > 1:
        minimum = group > 1
        if not minimum:
            group = size
        # pairs (a, b): min = a − relu(a − b), max = b + relu(a − b); an odd one out passes as relu(c) − relu(−c)
        rows_in, out, start = [], [], 0
        for block in range(0, size, group):
            members = list(range(block, min(block + group, size)))
            pairs = [members[i : i + 2] for i in range(0, len(members), 2)]
            for pair in pairs:
                keep = pair[0] if minimum or len(pair) == 1 else pair[1]
                unit = np.eye(size)
                rows_in += [unit[keep], -unit[keep]]
                line = {start: 1.0, start + 1: -1.0}
                start += 2
                if len(pair) == 2:
                    rows_in.append(unit[pair[0]] - unit[pair[1]])
                    line[start] = -1.0 if minimum else 1.0
                    start += 1
                out.append(line)
        combine = np.zeros((len(out), start))
        for i, line in enumerate(out):
            combine[i, list(line)] = list(line.values())
        relu += [(np.array(rows_in) @ weight, np.array(rows_in) @ bias), "relu"]
        weight, bias = combine, np.zeros(len(out))
        size, group = len(out), (group + 1) // 2 if minimum else 1
    by_relu = rc.from_layers([*relu, (weight, bias)])
    minima = -np.asarray(rows, dtype=float), -np.asarray(constants, dtype=float)
    by_maxout = rc.from_layers([("maxout", *minima), ("maxout", -np.eye(k)[None], np.zeros((1, k)))])
    return by_relu, by_maxout


@pytest.mark.parametrize(("k", "m", "seed"), [(2, 2, 0), (3, 2, 1), (2, 4, 2), (4, 4, 3), (5, 3, 4), (8, 4, 5)])
def test_lattice_networks(k, m, seed):
    """Two networks of one function have one number of linear regions, however many patterns each has."""
    rng = np.random.default_rng(seed)
    by_relu, by_maxout = lattice(rng.integers(-4, 5, (k, m, 2)), rng.integers(-4, 5, (k, m)))
    points = rng.uniform(-3, 3, (50, 2))
    np.testing.assert_allclose(by_relu.evaluate(points), by_maxout.evaluate(points), atol=1e-9)
    first, second = counted(by_relu, "-3:3,-3:3"), counted(by_maxout, "-3:3,-3:3")
    for name in ("linear", "linear_closed", "affine_maps"):
        assert first[name] == second[name], name
    assert first["activation"] >= first["linear"]


@pytest.mark.parametrize(("pieces", "depth"), [(2, 1), (3, 1), (2, 2), (3, 2), (4, 2)])
def test_products_of_zigzags(pieces, depth):
    """(f(x), f(y)) for a zigzag of p pieces a layer: p^{2L} linear regions, by exact coincidence of all folds."""
    data = network_to_dict(rc.constructions.zigzag(pieces=pieces, depth=depth))
    layers = []
    for layer in data["layers"]:
        if layer["type"] != "affine":
            layers.append(layer)
            continue
        w = layer["weight"]
        zero = [0] * len(w[0])
        layers.append(
            {
                "type": "affine",
                "weight": [row + zero for row in w] + [zero + row for row in w],
                "bias": 2 * layer["bias"],
            }
        )
    data = {"format": "regioncount-network", "version": 1, "input_dim": 2, "layers": layers}
    assert counted(network_from_dict(data), "0:1,0:1")["linear"] == pieces ** (2 * depth)


# ------------------------------------------------------------------------------------------------ the same, seen
# otherwise


@pytest.fixture(params=[(few, 0), (few, 1), (normal, 2)])
def network(request):
    draw, seed = request.param
    return relu_net(np.random.default_rng(seed), [2, 8, 7, 6, 2], draw)


def _layers(network):
    return [(layer.weight.view, layer.bias.view) for layer in affine_layers(network)]


def _made(layers):
    out = []
    for pair in layers:
        out += [pair, "relu"]
    return rc.from_layers(out[:-1])


def test_order_of_neurons(network):
    rng, layers = np.random.default_rng(1), _layers(network)
    for i in range(len(layers) - 1):
        p = rng.permutation(len(layers[i][1]))
        layers[i] = layers[i][0][p], layers[i][1][p]
        layers[i + 1] = layers[i + 1][0][:, p], layers[i + 1][1]
    assert counted(_made(layers)) == counted(network)


def test_rotation_by_a_right_angle(network):
    layers = _layers(network)
    layers[0] = layers[0][0] @ np.array([[0.0, -1.0], [1.0, 0.0]]), layers[0][1]
    assert counted(_made(layers)) == counted(network)


@pytest.mark.parametrize("power", [3, -40, 498, -498])
def test_powers_of_two(network, power):
    layers, scale = _layers(network), 2.0**power
    layers[0] = layers[0][0] * scale, layers[0][1] * scale
    layers[1] = layers[1][0] / scale, layers[1][1]
    assert counted(_made(layers)) == counted(network)


@pytest.mark.parametrize("power", [150, -150])
def test_huge_and_tiny_weights(power):
    rng = np.random.default_rng(8)
    weight, bias = rng.integers(-5, 6, (6, 2)), rng.integers(-5, 6, 6)
    plain = rc.from_layers([(weight, bias), "relu", (np.ones((3, 6)), [-3, -5, -7]), "relu"])
    factor = Fraction(10) ** power
    scaled = rc.from_layers([
        ([[str(x * factor) for x in row] for row in weight.tolist()], [str(x * factor) for x in bias.tolist()]), "relu",
        (np.ones((3, 6)), [str(c * factor) for c in (-3, -5, -7)]), "relu",
    ])  # fmt: skip
    assert counted(scaled) == counted(plain)


@pytest.mark.parametrize("shift", [10**6, 2**40])
def test_window_far_from_the_origin(network, shift):
    layers = _layers(network)
    weight = [[Fraction(float(x)) for x in row] for row in layers[0][0]]
    bias = [Fraction(float(b)) - shift * sum(row) for b, row in zip(layers[0][1], weight, strict=True)]
    first = ([[str(x) for x in row] for row in weight], [str(b) for b in bias])
    moved = rc.from_layers([first, "relu", layers[1], "relu", layers[2], "relu", layers[3]])
    low, high = shift - 1, shift + 1
    assert counted(moved, f"{low}:{high},{low}:{high}") == counted(network)


@pytest.mark.parametrize("width", ["1/1000000000", "1/1000000000000000000"])
def test_tiny_window(network, width):
    """x ↦ network(x / width) on a box of that width."""
    layers, factor = _layers(network), 1 / Fraction(width)
    first = ([[str(Fraction(float(x)) * factor) for x in row] for row in layers[0][0]], layers[0][1])
    zoomed = rc.from_layers([first, "relu", layers[1], "relu", layers[2], "relu", layers[3]])
    assert counted(zoomed, f"-{width}:{width},-{width}:{width}") == counted(network)


def test_fractions_are_kept():
    """A sixth is not its float: three lines through (1/3, 1/3) with float weights miss each other."""
    lines = [["1/3", "1/6", "-1/6"], ["1/7", "-1/7", 0], ["1/5", "2/5", "-1/5"]]
    exact = rc.from_layers([([row[:2] for row in lines], [row[2] for row in lines]), "relu"])
    assert counted(exact)["activation"] == 6
    floats = rc.from_layers([(np.array([[float(Fraction(x)) for x in row] for row in lines])[:, :2],
                              [float(Fraction(row[2])) for row in lines]), "relu"])  # fmt: skip
    pieces = oracle.enumerate_2d(network_to_dict(floats), oracle.box([[-1, 1], [-1, 1]]))
    assert counted(floats)["activation"] == oracle.counts(pieces)["activation"]


@pytest.mark.slow
def test_deep_construction():
    """59,049 linear regions, all decisions degenerate: exact splits are shared by pieces of one state."""
    network = rc.constructions.three_step(tokens=4, depth=30)
    assert counted(network, "0:1")["linear"] == 3**10
