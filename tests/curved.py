"""Small partitions with curved borders, made by hand: vertices, facets and points; patterns and maps from the network.

A facet is (left, right, start, end, middle): the pieces to the left and to the right of the way from vertex ``start``
to vertex ``end``, −1 for the outside of the domain, and the row (X, Y, w) of its arc or None.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from regioncount import geometry
from regioncount.domain import as_domain
from regioncount.files import network_from_dict
from regioncount.lowering import Composer, lower
from regioncount.network import Network
from regioncount.partition import Partition

Facet = tuple[int, int, int, int, Any]


def build(network: Network, domain: Any, vertices: Any, facets: list[Facet], points: Any) -> Partition:
    """A partition with a piece for each point."""
    points, vertices = np.array(points, dtype=float), np.array(vertices, dtype=float)
    patterns = network.activation_pattern(points)
    composer = Composer(lower(network), [Fraction(0)] * 2, [Fraction(1)] * 2)
    maps = np.array([_map(composer, pattern) for pattern in patterns])
    middles = [facet[4] for facet in facets if facet[4] is not None]
    numbers = iter(range(len(middles)))
    where = as_domain(domain)
    made = Partition(
        network, where, 2, patterns, maps, np.array([facet[:2] for facet in facets]), np.zeros(len(facets), dtype=int),
        _profile(network, patterns), 0, np.array([facet[2:4] for facet in facets]), vertices,
        np.zeros(len(points) + 1, dtype=int), np.zeros(0, dtype=int),
        arcs=np.array(middles, dtype=float).reshape(-1, 3),
        facet_arc=np.array([-1 if facet[4] is None else next(numbers) for facet in facets]), interior_points=points,
    )  # fmt: skip
    corners = np.array(where.vertices, dtype=float)
    for f, (left, right, start, end, _) in enumerate(facets):
        assert left >= 0, "the inside is to the left"
        made.facet_border[f] = f if right >= 0 else -1 - _edge(corners, vertices[[start, end]])
    offsets, walk = geometry.walks(made)
    return Partition(**{**_fields(made), "offsets": offsets, "piece_vertices": walk})


def _fields(partition: Partition) -> dict[str, Any]:
    return {name: getattr(partition, name) for name in partition.__dataclass_fields__}


def _map(composer: Composer, pattern: np.ndarray) -> list[list[float]]:
    numerators, denominator = composer.output(pattern)
    return [[int(x) / denominator for x in row] for row in np.array(numerators).T]


def _profile(network: Network, patterns: np.ndarray) -> list[dict[str, Any]]:
    blocks = [block for block in lower(network).blocks if block.selects]
    number = len(np.unique(patterns, axis=0))
    assert len(blocks) <= 1, "the profile of one layer is known without an engine"
    return [{"layer": b.layer, "type": network.layers[b.layer].type, "activation": number} for b in blocks]


def _edge(corners: np.ndarray, ends: np.ndarray) -> int:
    for k, (a, b) in enumerate(zip(corners, np.roll(corners, -1, axis=0), strict=True)):
        if all(abs((b - a)[0] * (p - a)[1] - (b - a)[1] * (p - a)[0]) < 1e-12 for p in ends):
            return k
    raise AssertionError(f"{ends} is on no edge of the domain")


# --- networks


def choosing(*scores: Any, value: Any = (1, 0), outside: Any = (0, 0, 0)) -> Network:
    """One attention layer whose query token chooses itself, in head k, where the quadratic score k is positive.

    A score is (xx, xy, yy, x, y, 1).  The output is (value · position) summed over the heads that choose the query
    token; for the others the constant that ``outside`` gives each of them.  The other token always chooses itself.
    """
    heads = []
    for k, (xx, xy, yy, x, y, one) in enumerate(scores):
        heads.append(
            {
                "query": {"weight": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]},
                "key": {"weight": [[xx, xy, 0, 0], [0, yy, 0, 0], [x, y, one, str(-Fraction(one))]]},
                "value": {"weight": [[(k + 1) * value[0], (k + 1) * value[1], 0, outside[k]]]},
                "output": {"weight": [[1]]},
            }
        )
    return network_from_dict(
        {
            "format": "regioncount-network", "version": 1, "input_dim": 2,
            "layers": [
                {"type": "embed", "weight": [[[1, 0], [0, 1], [0, 0], [0, 0]], [[0, 0]] * 4],
                 "bias": [[0, 0, 1, 0], [0, 0, 1, 1]]},
                {"type": "attention", "residual": False, "heads": heads, "mask": [[True, True], [False, True]]},
                {"type": "readout", "token": 0, "coordinates": [0]},
            ],
        }
    )  # fmt: skip


# --- arcs


def ellipse_arc(centre: Any, half: Any, start: float, turn: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends and middle of the arc of an ellipse from the angle ``start`` over ``turn``, at most π either way."""
    centre, half = np.array(centre, dtype=float), np.array(half, dtype=float)
    w = max(np.cos(turn / 2), 0.0)
    middle = start + turn / 2
    ends = [centre + half * [np.cos(a), np.sin(a)] for a in (start, start + turn)]
    return ends[0], np.array([*(w * centre + half * [np.cos(middle), np.sin(middle)]), w]), ends[1]


def hyperbola_arc(k: float, x0: float, x1: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends and middle of the arc of xy = k from x0 to x1, of one sign."""
    a, b = np.array([x0, k / x0]), np.array([x1, k / x1])
    root = np.sqrt(x1 / x0)
    w = (root + 1 / root) / 2
    return a, np.array([*(w * 2 * np.array([x0 * x1, k]) / (x0 + x1)), w]), b


# --- partitions


def ellipse(a: Any = "1/2", b: Any = "1/4") -> Partition:
    """An ellipse around the origin of [−1, 1]², cut at its tips; around it four pieces of one cell: a region with a
    hole.
    """
    p, q = Fraction(a), Fraction(b)
    network = choosing((str(-1 / p**2), 0, str(-1 / q**2), 0, 0, 1))
    p, q = float(p), float(q)
    vertices = [(-1, -1), (-p, -1), (p, -1), (1, -1), (1, 1), (p, 1), (-p, 1), (-1, 1), (-p, 0), (p, 0)]
    up, down = (0, q, 0), (0, -q, 0)
    facets = [
        (1, -1, 0, 1, None), (3, -1, 1, 2, None), (2, -1, 2, 3, None), (2, -1, 3, 4, None), (2, -1, 4, 5, None),
        (4, -1, 5, 6, None), (1, -1, 6, 7, None), (1, -1, 7, 0, None), (1, 3, 1, 8, None), (1, 4, 8, 6, None),
        (3, 2, 2, 9, None), (4, 2, 9, 5, None), (0, 4, 9, 8, up), (0, 3, 8, 9, down),
    ]  # fmt: skip
    points = [(0.1 * p, 0.1 * q), (-(1 + p) / 2, 0.1), ((1 + p) / 2, 0.1), (0.1, -(1 + q) / 2), (0.1, (1 + q) / 2)]
    return build(network, "-1:1,-1:1", vertices, facets, points)


def hyperbola(k: Any = "1/4") -> Partition:
    """xy = k in [−1, 1]²: two curved corners, and between them three trapezoids that are one cell."""
    network = choosing((0, 1, 0, 0, 0, str(-Fraction(k))))
    k = float(Fraction(k))
    vertices = [(-1, -1), (-k, -1), (1, -1), (1, k), (1, 1), (k, 1), (-1, 1), (-1, -k), (-k, 1), (k, -1)]
    _, right, _ = hyperbola_arc(k, 1, k)
    _, left, _ = hyperbola_arc(k, -1, -k)
    facets = [
        (1, -1, 0, 1, None), (3, -1, 1, 9, None), (4, -1, 9, 2, None), (4, -1, 2, 3, None), (0, -1, 3, 4, None),
        (0, -1, 4, 5, None), (3, -1, 5, 8, None), (2, -1, 8, 6, None), (2, -1, 6, 7, None), (1, -1, 7, 0, None),
        (0, 4, 5, 3, right), (1, 2, 1, 7, left), (2, 3, 1, 8, None), (3, 4, 9, 5, None),
    ]  # fmt: skip
    points = [(0.9, 0.9), (-0.9, -0.9), (-0.9, 0.5), (0.01 * k, 0.1), (0.8, -0.5)]
    return build(network, "-1:1,-1:1", vertices, facets, points)


def circles() -> Partition:
    """Two circles of radius 5/8 around (∓3/8, 0) in [−2, 2] × [−1, 1]: they cross in (0, ±1/2), three curved cells and
    the outside, which has a hole.
    """
    scores = [(-1, 0, -1, str(x), 0, "1/4") for x in (Fraction(-3, 4), Fraction(3, 4))]
    network = choosing(*scores, value=(1, 1), outside=("1/2", "-1/3"))
    vertices = [(-2, -1), (2, -1), (2, 1), (-2, 1), (-2, 0), (2, 0), (-1, 0), (1, 0), (0, -0.5), (0, 0.5)]
    angle = np.arctan2(4, 3)
    left, right, half = (-0.375, 0), (0.375, 0), (0.625, 0.625)

    def arc(centre: Any, start: float, turn: float) -> np.ndarray:
        return ellipse_arc(centre, half, start, turn)[1]

    facets = [
        (4, -1, 0, 1, None), (4, -1, 1, 5, None), (3, -1, 5, 2, None), (3, -1, 2, 3, None), (3, -1, 3, 4, None),
        (4, -1, 4, 0, None), (3, 4, 4, 6, None), (3, 4, 7, 5, None),
        (0, 3, 9, 6, arc(left, angle, np.pi - angle)), (0, 4, 6, 8, arc(left, np.pi, np.pi - angle)),
        (1, 4, 8, 7, arc(right, np.pi + angle, np.pi - angle)), (1, 3, 7, 9, arc(right, 0, np.pi - angle)),
        (2, 1, 8, 9, arc(left, -angle, 2 * angle)), (2, 0, 9, 8, arc(right, np.pi - angle, 2 * angle)),
    ]  # fmt: skip
    points = [(-0.6, 0.05), (0.6, 0.05), (0.01, 0.02), (0.1, 0.8), (0.1, -0.8)]
    return build(network, "-2:2,-1:1", vertices, facets, points)


def tangent(part: Any = "1/1024") -> Partition:
    """The parabolas y = x² and y = (1 − part) x², which touch in the origin, in [−1, 1]²: two thin pieces between."""
    low = 1 - Fraction(part)
    network = choosing((-1, 0, 0, 0, 1, 0), (str(-low), 0, 0, 0, 1, 0), outside=(1, 3))
    low = float(low)
    cut = 0.7  # a wall above the right one of them, so that the two arcs beside it are cut at different places
    vertices = [(-1, -1), (1, -1), (1, low), (1, 1), (-1, 1), (-1, low), (0, 0), (cut, cut**2), (cut, 1)]
    left, right = (-0.5, 0, 1), (0.5, 0, 1)
    parts = (cut / 2, 0, 1), ((1 + cut) / 2, cut, 1)
    facets = [
        (3, -1, 0, 1, None), (3, -1, 1, 2, None), (1, -1, 2, 3, None), (4, -1, 3, 8, None), (0, -1, 8, 4, None),
        (2, -1, 4, 5, None), (3, -1, 5, 0, None), (0, 1, 6, 7, parts[0]), (4, 1, 7, 3, parts[1]), (0, 4, 7, 8, None),
        (0, 2, 4, 6, left), (1, 3, 6, 2, right), (2, 3, 5, 6, left),
    ]  # fmt: skip
    thin = (1 + low) / 2
    points = [(0.01, 0.5), (1 / 2, thin / 4), (-1 / 2, thin / 4), (0.01, -0.5), (0.71, 0.9)]
    return build(network, "-1:1,-1:1", vertices, facets, points)


MADE = {
    "ellipse": ellipse,
    "flat ellipse": lambda: ellipse("1/2", "1/1000000"),
    "hyperbola": hyperbola,
    "sharp": lambda: hyperbola("1/100000"),
    "circles": circles,
    "tangent": tangent,
    "thin": lambda: tangent("1/1073741824"),
}
