"""Arcs of conics: areas against exact formulas, polylines, which side a point is on."""

from __future__ import annotations

import numpy as np
import pytest
from curved import ellipse_arc, hyperbola_arc

from regioncount import arcs
from regioncount.arcs import Parts


def rows(*arc):
    return tuple(np.array(part, dtype=float)[None] for part in arc)


ARCS = {
    "half an ellipse": rows(*ellipse_arc((1, 2), (3, 0.5), 0.3, np.pi)),
    "part of an ellipse": rows(*ellipse_arc((1, 2), (3, 0.5), 0.3, 2.5)),
    "clockwise": rows(*ellipse_arc((1, 2), (3, 0.5), 0.3, -1.0)),
    "parabola": rows((0, 0), (1, 0, 1), (2, 4)),
    "nearly a parabola": rows((0, 0), (1 + 1e-9, 0, 1 + 1e-9), (2, 4)),
    "hyperbola": rows(*hyperbola_arc(0.25, 0.25, 1)),
    "sharp hyperbola": rows(*hyperbola_arc(1e-12, 1e-12, 1)),
}


@pytest.fixture(params=ARCS)
def arc(request):
    return ARCS[request.param]


@pytest.mark.parametrize("turn", [1e-3, 0.3, 1.0, 1.05, 2.0, 3.0, np.pi, -1.0])
def test_areas_of_ellipses(turn: float) -> None:
    found = arcs.areas(*rows(*ellipse_arc((1, -2), (3, 0.5), 0.7, turn)))[0]
    assert found == pytest.approx(0.75 * (turn - np.sin(turn)), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("x", [(1, 2), (0.5, 0.75), (0.25, 1), (1e-3, 1), (1e-6, 1), (1e-12, 1)])
def test_areas_of_hyperbolas(x) -> None:
    k, (x0, x1) = 0.25, x
    trapezoid = (x1 - x0) * (k / x0 + k / x1) / 2
    found = arcs.areas(*rows(*hyperbola_arc(k, x0, x1)))[0]  # the arc is below its chord, to the right of it
    assert found == pytest.approx(trapezoid - k * np.log(x1 / x0), rel=1e-12)


@pytest.mark.parametrize("w", [1.0, *(1 + s * 10.0**-k for s in (-1, 1) for k in range(1, 17)), 1.125, 0.875])
def test_the_series_meets_the_closed_form(w: float) -> None:
    t = np.linspace(0, 1, 2001)
    values = t**2 / ((1 - t) ** 2 + 2 * t * (1 - t) * w + t**2) ** 2
    simpson = (values[0] + values[-1] + 4 * values[1::2].sum() + 2 * values[2:-1:2].sum()) / 6000
    assert arcs._integral(np.array([w]))[0] == pytest.approx(simpson, rel=1e-12)


def test_weights_of_any_size() -> None:
    w = np.array([1e3, 1e100, 1e300])
    np.testing.assert_allclose(arcs._integral(w) * w, 0.5, rtol=1e-2)  # the two tangents, a triangle
    assert arcs._integral(np.array([0.0]))[0] == pytest.approx(np.pi / 4, rel=1e-15)


def test_backwards_it_is_the_same_arc(arc) -> None:
    start, middle, end = arc
    tolerance = np.array([1e-4, 1e-4])
    there, back = Parts.of(start, middle, end).flat(tolerance, 20), Parts.of(end, middle, start).flat(tolerance, 20)
    np.testing.assert_array_equal(there.start, back.end[::-1])
    np.testing.assert_array_equal(there.end, back.start[::-1])
    assert arcs.areas(start, middle, end) == -arcs.areas(end, middle, start)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_polylines_are_as_near_as_asked(arc, tolerance: float) -> None:
    start, middle, end = arc
    parts = Parts.of(start, middle, end).flat(np.full(2, tolerance), 30)
    np.testing.assert_array_equal(parts.start[1:], parts.end[:-1])
    np.testing.assert_array_equal([parts.start[0], parts.end[-1]], [start[0], end[0]])
    assert len(parts.curve) < 60 * tolerance**-0.5, "no more points than needed"
    for t in np.linspace(0, 1, 33)[1:-1]:  # of each part
        on = arcs.points(parts.start, parts.middle, parts.end, t)
        step = parts.end - parts.start
        along = np.clip(((on - parts.start) * step).sum(axis=1) / (step**2).sum(axis=1), 0, 1)
        assert np.hypot(*(on - parts.start - along[:, None] * step).T).max() <= tolerance


def test_parts_lie_on_their_arc(arc) -> None:
    start, middle, end = arc
    parts = Parts.of(start, middle, end).flat(np.full(2, 1e-3), 20)
    matrix = np.stack([[*start[0], 1], middle[0], [*end[0], 1]], axis=1)
    a, b, c = np.linalg.solve(matrix, np.concatenate([parts.end[:-1], np.ones((len(parts.end) - 1, 1))], axis=1).T)
    np.testing.assert_allclose(b**2, 4 * a * c, rtol=1e-6, atol=1e-9)
    assert ((a >= -1e-9) & (b >= -1e-9) & (c >= -1e-9)).all()


def test_arcs_have_no_more_parts_than_allowed(arc) -> None:
    parts = Parts.of(*arc).flat(np.full(2, 1e-15), 5)
    assert len(parts.curve) <= 32


def test_only_what_a_window_shows_is_cut() -> None:
    whole = Parts.of(*ARCS["half an ellipse"])
    window = np.array([[3.0, 2.0], [5.0, 3.0]])
    near, all_ = (whole.flat(np.full(2, 1e-7), 20, box) for box in (window, None))
    assert len(near.curve) < len(all_.curve) / 2
    inside = ((all_.end >= window[0]) & (all_.end <= window[1])).all(axis=1)
    assert inside.any() and np.isin(all_.end[inside], near.end).all()


def test_boxes_hold_their_arcs(arc) -> None:
    low, high = arcs.boxes(*arc)
    on = np.concatenate([arcs.points(*arc, t) for t in np.linspace(0, 1, 101)])
    assert (on >= low - 1e-12).all() and (on <= high + 1e-12).all()


def test_which_side_of_an_arc_a_point_is_on(arc) -> None:
    start, middle, end = arc
    chord = (start + end) / 2
    shoulder = arcs.points(start, middle, end, 0.5)
    side = int(np.sign(arcs.areas(start, middle, end)[0]))
    for part, inside in ((0.01, side), (0.5, side), (0.99, side), (-0.01, 0), (1.01, 0)):
        point = chord + part * (shoulder - chord)
        around = arcs.winding(point, start, middle, end, np.array([True])) - arcs.winding(
            point, start, middle, end, np.array([False])
        )
        assert around[0] == inside


def test_a_point_on_the_chord_of_two_arcs_is_between_them() -> None:
    """Both halves of an ellipse must hear the same of the side of their chord, whatever rounding makes of it."""
    turns = np.linspace(0, 2 * np.pi, 41)
    for turn in turns:
        start, middle, end = (
            np.concatenate(v)
            for v in zip(*(rows(*ellipse_arc((0, 0), (2, 1), a, np.pi)) for a in (turn, turn + np.pi)), strict=True)
        )
        start[1], end[1] = end[0], start[0]  # the same ends, not ends rounded twice
        for part in (0.25, 0.5, 0.75):
            point = (1 - part) * start + part * end
            for p in (point[0], point[1], np.array([1.7e-16, 1.4e-17]) + point[0]):
                around = arcs.winding(np.stack([p, p]), start, middle, end, np.array([True, True])).sum()
                assert around == 1


def test_winding_around_points_of_an_ellipse() -> None:
    start, middle, end = (
        np.concatenate(v)
        for v in zip(*(rows(*ellipse_arc((0, 0), (2, 1), a, np.pi)) for a in (0.2, 0.2 + np.pi)), strict=True)
    )
    x = np.random.default_rng(0).uniform(-2.2, 2.2, (400, 2))
    inside = (x[:, 0] / 2) ** 2 + x[:, 1] ** 2 < 1
    bent = np.array([True, True])
    found = [arcs.winding(np.stack([p, p]), start, middle, end, bent).sum() for p in x]
    np.testing.assert_array_equal(found, inside)
    assert inside.any() and not inside.all()
