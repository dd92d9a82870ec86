"""What figures show: pixels, colours of neighbours, words, thinning."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

import regioncount as rc
from regioncount import drawing, geometry
from regioncount.definitions import COUNTABLE, DEFINITIONS
from regioncount.errors import InputError

pytestmark = pytest.mark.nojit


@pytest.fixture(scope="module")
def partition():
    return rc.subdivide(rc.constructions.random_relu((2, 6, 6, 2), seed=3))


def test_each_pixel_has_the_piece_of_its_centre(partition) -> None:
    window, shape = (-1.5, 1.0, -0.25, 1.0), (40, 60)
    image = drawing.pixels(partition, window, shape)
    x, y = drawing.pixel_centres(window, shape)
    np.testing.assert_allclose([x[0], y[-1]], [-1.5 + 2.5 / 120, 1 - 1.25 / 80])
    points = shapely.points(*np.meshgrid(x, y))
    pieces = geometry.polygons(partition)
    inside = image >= 0
    assert (inside == (np.abs(x) < 1)[None]).all()
    assert shapely.covers(pieces[image[inside]], points[inside]).all()
    values = drawing.pixel_values(partition, image, window, 1)
    assert np.isnan(values[~inside]).all()
    xy = np.stack(np.meshgrid(x, y), axis=-1)
    np.testing.assert_allclose(values[inside], partition.network.evaluate(xy[inside])[:, 1], atol=1e-9)


def test_pixels_between_neighbours_are_never_left_open() -> None:
    # borders that run through pixel centres
    partition = rc.subdivide(rc.from_layers([([[1, 0], [0, 1], [1, 1], [1, -1]], [0] * 4), "relu"]), "-1:1,-1:1")
    image = drawing.pixels(partition, (-1, 1, -1, 1), (41, 41))
    assert (image >= 0).all() and len(np.unique(image)) == partition.n_pieces == 8


def test_a_window_far_away_and_one_far_inside(partition) -> None:
    assert (drawing.pixels(partition, (1e9, 2e9, 0, 1), (8, 8)) == -1).all()
    assert len(np.unique(drawing.pixels(partition, (0.1, 0.1 + 1e-12, 0.1, 0.1 + 1e-12), (8, 8)))) <= 3


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_neighbours_have_different_colours(partition, definition: str) -> None:
    labels, colours = partition.labels(definition), drawing.region_colours(partition, definition)
    p, q = partition.facets[partition.facets[:, 1] >= 0].T
    other = labels[p] != labels[q]
    assert (colours[p] != colours[q])[other].all()
    for region in range(labels.max() + 1):
        assert len(np.unique(colours[labels == region])) == 1
    assert colours.min() >= 0 and colours.max() < len(drawing.REGION_COLOURS)
    assert drawing.region_colours(partition, definition) is colours


def test_colours_of_any_graph() -> None:
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 40, (90, 2))
    colours = drawing._coloured(40, pairs, 8)
    real = pairs[pairs[:, 0] != pairs[:, 1]]
    assert (colours[real[:, 0]] != colours[real[:, 1]]).all()
    complete = np.stack(np.triu_indices(12, 1), axis=1)
    colours = drawing._coloured(12, complete, 8)
    assert sorted(np.bincount(colours).tolist()) == [1, 1, 1, 1, 2, 2, 2, 2], "no eight are enough: used evenly"
    assert sorted(drawing._coloured(3, np.zeros((0, 2), dtype=np.int64), 8)) == [0, 1, 2], "no neighbours"


def test_region_colours_differ_in_grey() -> None:
    grey = []
    for colour in drawing.REGION_COLOURS:
        linear = [(int(colour[k : k + 2], 16) / 255) ** 2.2 for k in (1, 3, 5)]
        grey.append(116 * np.cbrt(np.dot([0.2126, 0.7152, 0.0722], linear)) - 16)
    assert np.diff(grey).min() > 6


def test_words(partition) -> None:
    count = partition.count("linear")
    assert drawing.headline(partition, "linear") == (
        f"{count} linear regions (R4)",
        "maximal open connected sets with one affine map",
    )
    title, meaning = drawing.headline(partition, "cells")
    assert title == f"{partition.n_pieces} cells" and "joined through facets" in meaning
    one = rc.subdivide(rc.from_layers([([[1, 0]], [0])]), "0:1,0:1")
    assert drawing.headline(one, "linear")[0] == "1 linear region (R4)"
    assert drawing.footing(one) == "1 piece on 0:1,0:1, certified"
    assert set(drawing.NAMES) == set(DEFINITIONS) and set(drawing.AXIS_NAMES) == set(COUNTABLE)


def test_what_colours_may_mean(partition) -> None:
    network = partition.network
    assert drawing.shade(network, "cells") == ("cells", None)
    assert drawing.shade(network, "value") == ("linear", 0) and drawing.shade(network, "value:1") == ("linear", 1)
    for wrong in ("value:2", "value:", "value:-1", "value:x", "values", "R1", "", 3, None, "value:" + "9" * 5000):
        with pytest.raises(InputError, match="color_by: expected"):
            drawing.shade(network, wrong)


@pytest.mark.parametrize("window", [(0, 1, 0), (1, 0, 0, 1), (0, 1, 0, float("inf")), "wide", 3, [None] * 4])
def test_windows_that_are_none(partition, window) -> None:
    with pytest.raises(InputError, match="window: expected"):
        drawing.window_of(partition, window)


def test_visible_pieces(partition) -> None:
    assert len(drawing.visible(partition, (-1, 1, -1, 1))) == partition.n_pieces
    assert len(drawing.visible(partition, (5, 6, 5, 6))) == 0


def test_a_thinned_graph_keeps_its_extremes() -> None:
    rng = np.random.default_rng(1)
    x = np.sort(rng.random(5000))
    y = rng.random(5000)
    points = np.stack([np.stack([x[:-1], x[1:]], axis=1), np.stack([y[:-1], y[1:]], axis=1)], axis=2)
    line = drawing.thinned(points, 50)
    assert len(line) <= 200 and (np.diff(line[:, 0]) >= 0).all()
    assert line[:, 1].min() == y.min() and line[:, 1].max() == y.max()
    assert line[0].tolist() == [x[0], y[0]] and line[-1].tolist() == [x[-1], y[-1]]
