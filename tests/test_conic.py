"""The conic engine: known counts, the rational oracle, curves made by hand with their roots one by one, samples.

A tuple of five numbers is the counts in the order of ``rc.DEFINITIONS``.
"""

from __future__ import annotations

import json
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import conic_oracle
import long_run
import numpy as np
import oracle
import pytest
import scored
from scored import ZERO, circle, plus, scaled, sheared, signs, times

import regioncount as rc
from regioncount import conics, geometry
from regioncount.conics import SHEARS
from regioncount.files import network_from_dict

ENTRIES = {entry["name"]: entry for entry in json.loads((Path(__file__).parent / "data" / "networks.json").read_text())}
KNOWN = [name for name in ENTRIES if name.startswith(("conic_", "random_hardmax_2d_"))]
SQUARE = [[-1, 1], [-1, 1]]
WAYS = [("auto", False), ("conic", True), ("conic", False), ("auto", True)]
SOME_WAYS = [*WAYS[:2], *(pytest.param(*way, marks=pytest.mark.slow) for way in WAYS[2:])]


def five(counts: dict[str, int]) -> tuple[int, ...]:
    return tuple(counts[name] for name in rc.DEFINITIONS)


def made(network: Any, domain: Any, method: str = "auto", exact: bool = False) -> rc.Partition:
    """A partition that is certified, holds its invariants and fills its domain."""
    network = network_from_dict(network) if isinstance(network, dict) else network
    partition = rc.subdivide(network, domain, method=method, exact=exact)
    assert partition.certified
    assert partition.decisions["float"] == 0 or not exact
    partition.check_invariants()
    corners = np.array([[float(c) for c in corner] for corner in partition.domain.vertices])
    x, y = (corners - corners[0]).T
    whole = (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2
    assert geometry.areas(partition).sum() == pytest.approx(whole, rel=1e-10)
    return partition


# ------------------------------------------------------------------------------------------------ known counts


@pytest.mark.parametrize(
    ("name", "method", "exact"),
    [
        pytest.param(name, *way, marks=[pytest.mark.slow] if way[1] and name.endswith(("14", "17")) else [])
        for name in KNOWN
        for way in WAYS
    ],
)
def test_known_counts(name, method, exact):
    entry = ENTRIES[name]
    partition = made(entry["network"], entry["domain"], method, exact)
    expected = {key: value for key, value in entry["counts"].items() if key != "R1"}
    assert {key: partition.count(key) for key in expected} == expected
    network = network_from_dict(entry["network"])
    streamed = rc.count(network, entry["domain"], method=method, exact=exact)
    assert streamed.counts == {"activation": expected["activation"]} and streamed.certified
    assert streamed.depth_profile == partition.depth_profile


# ------------------------------------------------------------------------------------------- curves made by hand

S = SHEARS[0]
SMALL = {"1e-9": F(1, 10**9), "1e-13": F(1, 10**13), "2^-40": F(1, 2**40), "1e-25": F(1, 10**25)}
HYPERBOLA = (F(-1, 4), 0, 0, 0, 1, 0)
DISC = circle(0, 0, F(1, 4))

ONE = (1, 1, 1, 1, 1)
TWO = (2, 2, 2, 2, 2)
THREE = (3, 3, 3, 3, 3)
FOUR = (4, 4, 4, 4, 4)
BRANCHES = (2, 3, 3, 3, 2)  # one pattern in two pieces that do not touch
CROSS = (2, 4, 4, 2, 2)  # two lines that cross

BY_HAND: dict[str, tuple[Any, tuple[int, ...]]] = {
    "ellipse": (signs((F(1, 4), 0, 0, -1, 0, -4)), TWO),
    "tilted ellipse": (signs((F(1, 4), F(1, 7), 0, -2, 1, -3)), TWO),
    "circle whose square is no square": (signs(circle(F(1, 7), F(-1, 5), F(1, 3))), TWO),
    "circle that touches the four sides": (signs(circle(0, 0, 1)), (2, 5, 5, 2, 2)),
    "circle that touches one side": (signs(circle(0, F(1, 2), F(1, 4))), TWO),
    "circle that touches a side from outside": (signs(circle(F(3, 2), 0, F(1, 4))), ONE),
    "circle through the corners": (signs(circle(0, 0, 2)), ONE),
    "circle through a corner from outside": (signs(circle(F(3, 2), F(3, 2), F(1, 2))), ONE),
    "circle that cuts off a bit of a corner": (signs(circle(F(3, 2), F(3, 2), F(1, 2) + F(1, 2**40))), TWO),
    "circle out and in again at corners": (signs(circle(F(1, 2), F(1, 2), F(1, 2))), TWO),
    "circle that touches two sides in their corners": (signs(circle(1, 0, 1)), TWO),
    "circle through four corners but for a bit": (signs(circle(0, 0, 2 - F(1, 2**40))), (2, 5, 5, 5, 2)),
    "tiny circle": (signs(circle(F(1, 3), F(1, 7), F(1, 10**18))), TWO),
    "very tiny circle": (signs(circle(F(1, 3), F(1, 7), F(1, 10**60))), TWO),
    # the discs leave two outsides, which meet in three points
    "circles that touch each other and the sides": (
        signs(circle(F(-1, 2), 0, F(1, 4)), circle(F(1, 2), 0, F(1, 4))),
        (3, 4, 4, 3, 3),
    ),
    "circles that touch": (signs(circle(F(-1, 4), 0, F(1, 16)), circle(F(1, 4), 0, F(1, 16))), THREE),
    "circles one above the other that touch": (
        signs(circle(0, F(-1, 4), F(1, 16)), circle(0, F(1, 4), F(1, 16))),
        THREE,
    ),
    "circles that touch in an irrational point": (
        signs(circle(0, 0, F(1, 8)), circle(F(1, 2), F(1, 2), F(1, 8))),
        THREE,
    ),
    "circles that touch from inside": (signs(DISC, circle(F(1, 4), 0, F(1, 16))), THREE),
    # radii 1/8, 2/8, 3/8 around the corners of a triangle with sides 3/8, 4/8, 5/8: they leave a hole in the middle
    "three circles that touch": (
        signs(circle(0, 0, F(1, 64)), circle(F(3, 8), 0, F(4, 64)), circle(0, F(1, 2), F(9, 64))),
        (4, 5, 5, 4, 4),
    ),
    "circles that cross": (signs(circle(F(-1, 4), 0, F(1, 4)), circle(F(1, 4), 0, F(1, 4))), FOUR),
    "concentric circles": (signs(DISC, circle(0, 0, F(1, 5))), THREE),
    "hyperbola, both asymptotes along axes": (signs(HYPERBOLA), BRANCHES),
    "hyperbola, one asymptote horizontal": (signs((F(-1, 4), 0, 0, 0, 1, 1)), BRANCHES),
    "hyperbola, one asymptote vertical": (signs((F(-1, 4), 0, 0, 1, 1, 0)), BRANCHES),
    "hyperbola beside its asymptotes": (signs((F(-1, 10**14), 0, 0, 0, 1, 0)), BRANCHES),
    "hyperbola very near its asymptotes": (signs((F(-1, 10**40), 0, 0, 0, 1, 0)), BRANCHES),
    "hyperbola with irrational asymptotes": (signs((F(-1, 9), 0, 0, 1, 0, -2)), BRANCHES),
    "hyperbola through a corner": (signs((-1, 0, 0, 0, 1, 0)), ONE),
    "parabola": (signs((0, 0, 1, -1, 0, 0)), TWO),
    "parabola on its side": (signs((0, 1, 0, 0, 0, -1)), TWO),
    "tilted parabola": (signs((0, F(1, 3), F(-1, 3), -1, -2, -1)), TWO),
    "parabola along the shear": (signs(sheared((0, 0, 1, -1, 0, 0), S)), TWO),
    "parabola whose axis is along the shear": (signs(plus((0, 1, 0, 0, 0, 0), times((0, 1, -S), (0, 1, -S)), -1)), TWO),
    "asymptote along the shear": (signs(sheared(HYPERBOLA, S)), BRANCHES),
    "asymptotes along two shears": (signs(sheared(HYPERBOLA, S), sheared(HYPERBOLA, SHEARS[1])), (3, 5, 5, 5, 3)),
    "both asymptotes along shears": (
        signs(plus(times((0, 1, -S), (0, 1, -SHEARS[1])), (F(-1, 16), *ZERO[1:]))),
        BRANCHES,
    ),
    "line along the shear and a circle": (signs((F(-1, 8), 1, -S, 0, 0, 0), DISC), FOUR),
    "strip along the shear": (signs(sheared((F(-1, 16), 0, 0, 1, 0, 0), S)), BRANCHES),
    "double line along the shear": (signs(sheared((0, 0, 0, 1, 0, 0), S), DISC), TWO),
    "cross with a line along the shear": (signs(times((0, 1, -S), (0, 2, 1))), CROSS),
    "lines along the axes": (signs((0, 0, 0, 0, 1, 0)), CROSS),
    "rational lines": (signs(times((F(-1, 2), 1, 1), (0, 1, -2))), CROSS),
    "rational lines that cross outside": (signs(times((-2, 1, 1), (-1, 1, 3))), TWO),
    "rational lines that cross on a side": (signs(times((-1, 1, 1), (-1, 1, -1))), (2, 3, 3, 2, 2)),
    "irrational lines": (signs((0, 0, 0, 1, 0, -2)), CROSS),
    "irrational lines elsewhere": (
        signs(plus(times((F(-1, 3), 1, 1), (F(-1, 3), 1, 1)), times((0, 1, -2), (0, 1, -2)), -3)),
        CROSS,
    ),
    "parallels": (signs((F(-1, 4), 0, 0, 1, 0, 0)), BRANCHES),
    "tilted parallels": (signs(times((0, 1, 1), (-1, 1, 1))), BRANCHES),
    "irrational parallels": (signs((F(-1, 2), 0, 0, 1, 0, 0)), BRANCHES),
    "tilted irrational parallels": (signs(plus(times((0, 1, 2), (0, 1, 2)), (F(-1, 2), *ZERO[1:]))), BRANCHES),
    "parallels beside each other": (signs((F(-1, 10**30), 0, 0, 1, 0, 0)), BRANCHES),
    "double line": (signs((0, 0, 0, 1, 0, 0)), ONE),
    "double line from below": (signs((0, 0, 0, -1, 0, 0)), ONE),
    "tilted double line": (signs(times((F(-1, 3), 1, 2), (F(-1, 3), 1, 2))), ONE),
    "point": (signs((0, 0, 0, 1, 0, 1)), ONE),
    "point from below": (signs((0, 0, 0, -1, 0, -1)), ONE),
    "irrational point": (signs((-1, 0, 4, -3, 0, -4)), ONE),
    "empty": (signs((-1, 0, 0, -1, 0, -1)), ONE),
    "almost a point": (signs((F(-1, 10**20), 0, 0, -1, 0, -1)), ONE),
    "a conic twice": (signs(DISC, DISC), TWO),
    "proportional conics": (signs(DISC, scaled(3, DISC), scaled(F(-1, 7), DISC)), TWO),
    "a conic in three heads of three tokens": (scored.attention(*([DISC, ZERO, scaled(2, DISC)],) * 2), TWO),
    "identical scores": (scored.attention([DISC, DISC, ZERO]), TWO),
    "identical scores below": (scored.attention([DISC, ZERO, ZERO]), TWO),
    "all scores identical": (scored.attention([DISC, DISC, DISC]), ONE),
    "all scores identical in one head of two": (scored.attention([DISC, DISC], [DISC, ZERO]), TWO),
    # x², xy, 0: where x > 0 the greater of x and y, where x < 0 the smaller; 0 never wins
    "scores with a common line": (scored.attention([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 1, 0), ZERO]), CROSS),
    # x (y − 1/2), −x (y + 1/2), 0: three stripes where x > 0, two where x < 0, and no token on both sides of a border
    "scores with a common line, all win": (
        scored.attention([(0, F(-1, 2), 0, 0, 1, 0), (0, F(-1, 2), 0, 0, -1, 0), ZERO]),
        (3, 5, 5, 5, 3),
    ),
    "scores with a common line along the shear": (
        scored.attention([times((0, 1, -S), (F(-1, 2), 0, 1)), times((0, 1, -S), (F(-1, 2), 0, -1)), ZERO]),
        (3, 5, 5, 5, 3),
    ),
    # x², y², 1/4
    "four triple points": (
        scored.attention([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1), (F(1, 4), *ZERO[1:])]),
        (3, 5, 5, 5, 3),
    ),
    "two irrational triple points": (
        scored.attention([circle(F(-1, 4), 0, F(1, 4)), circle(F(1, 4), 0, F(1, 4)), ZERO]),
        THREE,
    ),
    "four circles through one point": (
        signs(*(circle(x, y, F(1, 16)) for x, y in ((F(1, 4), 0), (0, F(1, 4)), (F(-1, 4), 0), (0, F(-1, 4))))),
        (9, 9, 9, 9, 9),
    ),
    "five scores that tie in one point": (
        scored.attention(
            [*(circle(x, y, F(1, 16)) for x, y in ((F(1, 4), 0), (0, F(1, 4)), (F(-1, 4), 0), (0, F(-1, 4)))), ZERO]
        ),
        (5, 5, 5, 5, 5),
    ),
    # a hyperbola, its asymptotes and a circle that touches it at its vertices
    "hyperbola, asymptotes and a circle": (
        signs(HYPERBOLA, (0, 0, 0, 0, 1, 0), circle(0, 0, F(1, 2))),
        (5, 12, 12, 8, 5),
    ),
    # y = x² and x² + y² = y meet four times in the origin; the circle touches the upper side
    "contact of order four": (signs((0, 0, 1, -1, 0, 0), circle(0, F(1, 2), F(1, 4))), (3, 4, 4, 3, 3)),
    # y = x² and y = x² + xy meet three times in the origin, where they cross
    "contact of order three": (signs((0, 0, 1, -1, 0, 0), (0, 0, 1, -1, -1, 0)), FOUR),
    "parabolas that touch": (signs((0, 0, 1, -1, 0, 0), (0, 0, 1, 1, 0, 0)), (3, 4, 4, 3, 3)),
    "line that touches a circle": (signs(DISC, (F(-1, 2), 1, 0, 0, 0, 0)), THREE),
    "irrational line that touches a circle": (signs(circle(0, 0, F(1, 2)), (-1, 1, 1, 0, 0, 0)), THREE),
    "lines and a circle through their crossing": (
        signs((0, 0, 0, 1, 0, -2), circle(F(1, 4), 0, F(1, 16))),
        (4, 7, 7, 5, 4),
    ),
    "tie in a point of a circle": (signs(plus(DISC, (0, 0, 0, -1, 0, 0)), (0, 0, 0, -1, 0, 0)), TWO),
}
for _name, _gap in SMALL.items():
    for _sign, _side in (("", 1), ("-", -1)):
        _g = _side * _gap
        BY_HAND |= {
            f"circles {_sign}{_name} apart": (
                signs(circle(F(-1, 4), 0, F(1, 16)), circle(F(1, 4) + _g, 0, F(1, 16))),
                THREE if _side > 0 else FOUR,
            ),
            f"circles one above the other {_sign}{_name} apart": (
                signs(circle(F(1, 5), F(-1, 4), F(1, 16)), circle(F(1, 5), F(1, 4) + _g, F(1, 16))),
                THREE if _side > 0 else FOUR,
            ),
            f"circle {_sign}{_name} out of another": (
                signs(DISC, circle(F(1, 4) + _g, 0, F(1, 16))),
                FOUR if _side > 0 else THREE,
            ),
            f"circle {_sign}{_name} larger": (signs(DISC, circle(0, 0, F(1, 4) + _g)), THREE),
            # circle and ellipse cross four times: twice each alone
            f"ellipse {_sign}{_name} flatter than a circle": (
                signs(DISC, plus(DISC, (0, 0, 0, _g, 0, -_g))),
                (4, 6, 6, 6, 4),
            ),
            f"circle {_sign}{_name} over the sides": (
                signs(circle(0, 0, 1 + _g)),
                (2, 5, 5, 5, 2) if _side > 0 else TWO,
            ),
            f"lines {_sign}{_name} from a cross": (signs((_g, 0, 0, 0, 1, 0)), BRANCHES),
            # y = x² and y = (1 + g) x² touch in the origin: two pieces between them
            f"parabola {_sign}{_name} narrower": (
                signs((0, 0, 1, -1, 0, 0), (0, 0, 1, -1 - _g, 0, 0)),
                (3, 4, 4, 3, 3),
            ),
            f"asymptote {_sign}{_name} from the shear": (signs(sheared(HYPERBOLA, S + _g)), BRANCHES),
            f"line {_sign}{_name} from the shear": (signs((F(-1, 8), 1, -S - _g, 0, 0, 0), DISC), FOUR),
        }


# pieces that are smaller than the spacing of floats: their counts are exact, their float vertices coincide
BELOW_FLOATS = ("circles 1e-25 apart", "lines -1e-25 from a cross", "line -1e-25 from the shear")


@pytest.mark.parametrize(("method", "exact"), SOME_WAYS)
@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name, method, exact):
    network, expected = BY_HAND[name]
    if name in BELOW_FLOATS:
        partition = rc.subdivide(network_from_dict(network), SQUARE, method=method, exact=exact)
        assert five(partition.counts()) == expected and partition.certified
        return
    assert five(made(network, SQUARE, method, exact).counts()) == expected


# ------------------------------------------------------------------------------------------------ random networks


def assert_agrees(seed):
    """All patterns and counts, by polygons and conics as "auto" takes them; for some networks by all ways."""
    network, domain = long_run.random_conic_network(seed)
    ways = WAYS if seed % 10 == 0 else WAYS[:2] if seed % 5 == 1 else WAYS[:1]
    assert long_run.disagreement(network, domain, ways) is None
    if seed % 3 == 0:
        made(network, domain)


@pytest.mark.parametrize("block", range(4))
def test_agrees_with_the_oracle(block):
    for seed in range(10 * block, 10 * block + 10):
        assert_agrees(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_agrees_with_the_oracle_on_many(block):
    for seed in range(1000 + 40 * block, 1040 + 40 * block):
        assert_agrees(seed)


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(500, 512))
def test_agrees_with_the_oracle_uncompiled(seed):
    assert_agrees(seed)


# ------------------------------------------------------------------------------------------- ties on whole pieces


def beside(*layers: dict, network: dict) -> dict:
    """The network behind other layers."""
    return {**network, "layers": [*layers, *network["layers"]]}


@pytest.mark.nojit
@pytest.mark.parametrize(("method", "exact"), WAYS)
def test_ties_on_whole_pieces_are_averaged(method, exact):
    """Scores of tokens 0 and 1 are r·y and 0, where r = ReLU(x): left of x = 0 they tie, and the value is 1/2."""
    network = scored.attention([(0, 0, 0, 0, 1, 0), ZERO])
    embed = network["layers"][0]
    embed["weight"] = [[[row[0], row[1], -row[1]] for row in token] for token in embed["weight"]]
    rows = {"type": "affine", "weight": [[1, 0], [0, 1], [0, -1]]}
    partition = made(beside(rows, {"type": "relu"}, network=network), SQUARE, method, exact)
    assert five(partition.counts()) == (4, 4, 3, 3, 3)  # the bits y > 0 and −y > 0 cut the left, but not the map
    left = partition.interior_points[:, 0] < 0 if partition.method == "conic" else partition.maps[:, 0, 2] == 0.5
    assert left.any() and (partition.maps[left] == [0, 0, 0.5]).all()
    assert set(partition.maps[~left][:, 0, 2].tolist()) == {0, 1}


@pytest.mark.nojit
@pytest.mark.parametrize(("method", "exact"), WAYS)
def test_a_layer_upon_pieces_with_arcs(method, exact):
    """Inside the disc the second layer sees the input, outside of it 0."""
    first = {
        "query": {"weight": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
        "key": {"weight": [[-1, 0, 0], [0, -1, 0], [0, 0, "1/4"]]},  # token 1, all zero, has the score 0
        "value": {"weight": [[1, 0, 0], [0, 1, 0]]},
        "output": {"weight": [[1, 0], [0, 1]]},
    }
    eye = [[1, 0], [0, 1], [0, 0]]
    network = {
        "format": "regioncount-network", "version": 1, "input_dim": 2,
        "layers": [
            {"type": "embed", "weight": [eye, [[0, 0]] * 3], "bias": [[0, 0, 1], [0, 0, 0]]},
            {"type": "attention", "residual": False, "heads": [first], "mask": [[True, True], [False, True]]},
            {"type": "abs"},
            {"type": "readout", "token": 0},
        ],
    }  # fmt: skip
    partition = made(network, SQUARE, method, exact)
    assert five(partition.counts()) == (5, 5, 5, 5, 5)
    # a further head, |x|·|y| against 0: ahead inside, a tie of zeros on the whole outside; it passes on |x|
    second = {
        "query": {"weight": [[1, 0]]},
        "key": {"weight": [[0, 1]]},
        "value": {"weight": [[1, 0]]},
        "output": {"weight": [[1]]},
    }
    network["layers"].insert(3, {**network["layers"][1], "heads": [second]})
    partition = made(network, SQUARE, method, exact)
    assert five(partition.counts()) == (5, 5, 3, 3, 3)


# ------------------------------------------------------------------------------------------------ windows


@pytest.mark.parametrize(("method", "exact"), WAYS)
@pytest.mark.parametrize(
    ("centre", "half"),
    [
        ((F(123456789, 1000), F(-98765, 7)), F(1, 10**6)),
        ((F(10**9), F(1, 3)), F(1, 10**6)),
        ((F(1, 3), F(-2, 7)), F(10**6)),
        ((F(0), F(0)), F(1, 10**12)),
        ((F(0), F(0)), F(10**12)),
    ],
)
def test_windows_of_any_size_anywhere(centre, half, method, exact):
    """The same picture, moved and scaled: two circles that touch each other, a hyperbola, and a line pair."""
    a, b = centre

    def at(form):
        """The form at ((x − a)/half, (y − b)/half)."""
        one, x, y, xx, xy, yy = (F(c) for c in form)
        u, v = -a / half, -b / half
        return (
            one + x * u + y * v + xx * u * u + xy * u * v + yy * v * v,
            (x + 2 * xx * u + xy * v) / half,
            (y + xy * u + 2 * yy * v) / half,
            xx / half**2,
            xy / half**2,
            yy / half**2,
        )

    forms = (circle(F(-1, 4), 0, F(1, 16)), circle(F(1, 4), 0, F(1, 16)), HYPERBOLA, times((0, 1, 2), (0, 1, -3)))
    domain = [[str(a - half), str(a + half)], [str(b - half), str(b + half)]]
    network = network_from_dict(signs(*map(at, forms)))
    expected = rc.subdivide(network_from_dict(signs(*forms)), SQUARE, exact=True).counts()
    partition = rc.subdivide(network, domain, method=method, exact=exact)
    assert partition.counts() == expected and partition.certified
    partition.check_invariants()


def test_the_picture_of_windows_has_the_counts_of_the_oracle():
    forms = (circle(F(-1, 4), 0, F(1, 16)), circle(F(1, 4), 0, F(1, 16)), HYPERBOLA, times((0, 1, 2), (0, 1, -3)))
    pieces = conic_oracle.enumerate_conic(signs(*forms), oracle.box(SQUARE))
    assert made(signs(*forms), SQUARE).counts() == conic_oracle.counts(pieces)


H = F(1, 2)
POLYGONS = {
    "triangle": [(-1, -1), (1, F(-1, 2)), (F(1, 3), 1)],
    "hexagon": [(-1, 0), (F(-1, 2), -1), (F(1, 2), -1), (1, 0), (F(1, 2), 1), (F(-1, 2), 1)],
    "side along the shear": [(0, 0), (1, 0), (1 + S, 1), (S, 1)],
    "side on an asymptote": [(0, 0), (1, 0), (1, 1), (0, 1)],
    "sides that touch the circle": [(-H, -H), (H, -H), (H, H), (-H, H)],
    "corner on the circle": [(0, 0), (F(1, 2), 0), (F(3, 10), F(4, 10)), (0, F(1, 2))],
}  # fmt: skip


@pytest.mark.parametrize("name", POLYGONS)
@pytest.mark.parametrize("form", [DISC, HYPERBOLA, (0, 0, 0, 0, 1, 0), (0, 0, 1, -1, 0, 0)])
def test_polygons_as_domains(name, form):
    network = signs(form, circle(F(1, 4), F(1, 8), F(1, 9)))
    expected = conic_oracle.counts(conic_oracle.enumerate_conic(network, POLYGONS[name]))
    for method, exact in WAYS[:2]:
        assert made(network, rc.Polygon(POLYGONS[name]), method, exact).counts() == expected


# ------------------------------------------------------------------------------------------------ limits and errors

NET = network_from_dict(signs(DISC, (F(-1, 16), 0, 0, 0, 1, 0)))


@pytest.mark.nojit
def test_too_many_pieces():
    pieces = rc.subdivide(NET, SQUARE, method="conic").n_pieces
    for method in ("conic", "auto"):
        with pytest.raises(rc.TooManyPieces, match="max_pieces: the partition has more than 3 pieces"):
            rc.subdivide(NET, SQUARE, method=method, max_pieces=3)
        with pytest.raises(rc.TooManyPieces):
            rc.count(NET, SQUARE, method=method, definitions=("cells",), max_pieces=3)
        assert rc.count(NET, SQUARE, method=method, max_pieces=3).counts == {"activation": 4}
    assert rc.subdivide(NET, SQUARE, method="conic", max_pieces=pieces).n_pieces == pieces
    with pytest.raises(rc.TooManyPieces):
        rc.subdivide(NET, SQUARE, method="conic", max_pieces=pieces - 1)


def one_line(error) -> str:
    text = str(error.value)
    assert "\n" not in text and len(text) < 300
    return text


@pytest.mark.nojit
def test_what_is_refused():
    data = signs(DISC)
    data["layers"][1]["activation"], data["layers"][1]["scale"] = "softmax", 3
    for method in ("auto", "conic", "polygon"):
        with pytest.raises(rc.InputError) as error:
            rc.subdivide(network_from_dict(data), SQUARE, method=method)
        assert "softmax" in one_line(error)
    for ask in (rc.count, rc.subdivide):
        with pytest.raises(rc.NeedsConicEngine) as error:
            ask(NET, SQUARE, method="polygon")
        assert "layers[1] (attention)" in one_line(error) and "conic" in one_line(error)
    with pytest.raises(rc.InputError) as error:
        rc.count(NET, SQUARE, definitions=("R1",))
    assert one_line(error).startswith("definitions: R1")
    partition = rc.subdivide(NET, SQUARE)
    with pytest.raises(rc.InputError) as error:
        partition.count("R1")
    assert one_line(error).startswith("definitions: R1")
    with pytest.raises(rc.InputError) as error:
        partition.decision_boundary()
    assert one_line(error).startswith("decision_boundary: ")
    with pytest.raises(rc.InputError) as error:
        partition.labels("R1")
    assert one_line(error).startswith("definition: R1")


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(5))
def test_results_of_a_count_are_those_of_the_partition(seed):
    network, domain = long_run.random_conic_network(seed)
    network = network_from_dict(network)
    for method, exact in WAYS[:2]:
        partition = rc.subdivide(network, domain, method=method, exact=exact)
        streamed = rc.count(network, domain, method=method, exact=exact)
        every = rc.count(network, domain, definitions=rc.DEFINITIONS, method=method, exact=exact)
        assert streamed.counts == {"activation": partition.count("activation")}
        assert every.counts == partition.counts() and every.method == streamed.method == partition.method
        assert streamed.depth_profile == every.depth_profile == partition.depth_profile
        assert streamed.certified and every.certified and every.pieces == partition.n_pieces


@pytest.mark.nojit
@pytest.mark.parametrize("seed", [1, 4, 7])
def test_buffers_that_start_tiny_grow(seed, monkeypatch):
    """Stacks, plans, requests, verdicts, leaves, fingerprints: results do not depend on where they start."""
    network, domain = long_run.random_conic_network(seed)
    network = network_from_dict(network)
    before = {way: rc.subdivide(network, domain, method=way[0], exact=way[1]) for way in WAYS}
    for name, size in {
        "FRAMES": 4, "CORNERS": 4, "REQUESTS": 1, "TABLE": 4, "LEAVES": 1, "PRINTS": 1, "SLABS": 1
    }.items():  # fmt: skip
        monkeypatch.setattr(conics._ConicRun, name, size)
    for way, expected in before.items():
        partition = rc.subdivide(network, domain, method=way[0], exact=way[1])
        assert partition.patterns.tolist() == expected.patterns.tolist()
        assert partition.maps.tolist() == expected.maps.tolist()
        assert partition.counts() == expected.counts()
        streamed = rc.count(network, domain, method=way[0], exact=way[1])
        assert streamed.depth_profile == expected.depth_profile


def test_saved_and_verified(tmp_path):
    from regioncount.verify import verify

    partition = rc.subdivide(NET, SQUARE)
    rc.save(partition, tmp_path / "p.npz")
    loaded = rc.load(tmp_path / "p.npz")
    assert loaded.counts() == partition.counts() and loaded.method == "conic"
    loaded.check_invariants()
    assert verify(loaded)["counts"] == partition.counts()


def test_a_curve_along_every_shear():
    """Lines along all shears that the engine tries, and a conic: whatever it does, it must not give up."""
    lines = [(F(-k, 20), 1, -shear, 0, 0, 0) for k, shear in enumerate(SHEARS)]
    pieces = conic_oracle.enumerate_conic(signs(*lines, DISC), oracle.box(SQUARE))
    assert made(signs(*lines, DISC), SQUARE).counts() == conic_oracle.counts(pieces)
