"""Partitions whose cells are bounded by arcs of conics: geometry."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import shapely
from curved import MADE, ellipse, hyperbola

from regioncount import arcs, geometry
from regioncount.definitions import DEFINITIONS
from regioncount.errors import InputError


@pytest.fixture(params=MADE, scope="module")
def partition(request):
    return MADE[request.param]()


def box_of(partition):
    (x0, y0), (x1, y1) = partition.domain.bounds
    return shapely.box(x0, y0, x1, y1)


@pytest.mark.parametrize(("a", "b"), [("1/2", "1/4"), ("1/3", "3/4"), ("9/10", "1/1000")])
def test_area_of_an_ellipse(a: str, b: str) -> None:
    found = geometry.areas(ellipse(a, b))
    assert found[0] == pytest.approx(np.pi * float(Fraction(a) * Fraction(b)), rel=1e-12)
    assert found.sum() == pytest.approx(4, rel=1e-14)


@pytest.mark.parametrize("k", ["1/4", "1/100", "1/1000000", "1/1000000000000"])
def test_area_beside_a_hyperbola(k: str) -> None:
    found, k_ = geometry.areas(hyperbola(k)), float(Fraction(k))
    np.testing.assert_allclose(found[:2], 1 - k_ + k_ * np.log(k_), rtol=1e-12)
    assert found.sum() == pytest.approx(4, rel=1e-14)


def test_areas_sum_to_the_domain(partition) -> None:
    found = geometry.areas(partition)
    assert (found > 0).all()
    assert found.sum() == pytest.approx(float(box_of(partition).area), rel=1e-12)


@pytest.mark.parametrize("tolerance", [None, 0.05, 1e-3, 1e-6])
def test_polygons_are_a_coverage(partition, tolerance: float | None) -> None:
    pieces = geometry.polygons(partition, tolerance)
    assert len(pieces) == partition.n_pieces
    assert shapely.is_valid(pieces).all() and shapely.is_ccw(shapely.get_exterior_ring(pieces)).all()
    assert shapely.coverage_is_valid(pieces)
    whole = shapely.coverage_union_all(pieces)
    assert not whole.interiors and whole.symmetric_difference(box_of(partition)).area < 1e-14
    length = shapely.length(pieces)
    step = 1e-4 * 4 if tolerance is None else tolerance
    assert (np.abs(shapely.area(pieces) - geometry.areas(partition)) <= step * length).all()


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_regions_have_no_seams(partition, definition: str) -> None:
    found = geometry.regions(partition, definition)
    labels = partition.labels(definition)
    assert len(found) == partition.count(definition)
    assert shapely.is_valid(found).all() and shapely.coverage_is_valid(found)
    size = np.bincount(labels, shapely.area(geometry.polygons(partition)))
    np.testing.assert_allclose(shapely.area(found), size, rtol=1e-12)


def test_the_region_around_an_ellipse_has_a_hole() -> None:
    partition = ellipse()
    assert partition.counts() == dict.fromkeys(DEFINITIONS, 2)
    inside, around = geometry.regions(partition)
    (hole,) = around.interiors
    assert shapely.Polygon(hole).equals(inside) and around.area + inside.area == pytest.approx(4)


def test_walls_join_cells() -> None:
    partition = hyperbola()
    assert (partition.n_pieces, partition.count("cells"), partition.count("activation")) == (5, 3, 2)
    assert partition.labels("cells").tolist() == [0, 1, 2, 2, 2]


def test_polylines_of_facets_are_near_their_arcs(partition) -> None:
    made = geometry.outlines(partition, 1e-5)
    for f, row in enumerate(partition.facet_arc):
        line = made.points[made.along[made.spans[f] : made.spans[f + 1]]]
        ends = partition.vertices[partition.facet_vertices[f]]
        np.testing.assert_array_equal(line[[0, -1]], ends)
        if row < 0:
            assert len(line) == 2
            continue
        on = arcs.points(*(np.repeat(v[None], 5001, axis=0) for v in (ends[0], partition.arcs[row], ends[1])),
                         np.linspace(0, 1, 5001))  # fmt: skip
        assert shapely.distance(shapely.points(on), shapely.LineString(line)).max() <= 1e-5
        assert shapely.distance(shapely.points(line), shapely.LineString(on)).max() <= 1e-5


def test_pieces_walk_along_their_facets(partition) -> None:
    made = geometry.outlines(partition)
    edges = [set(pairwise([*ring, ring[0]])) for ring in np.split(made.around, made.offsets[1:-1])]
    for (a, b), line in zip(partition.facets, np.split(made.along, made.spans[1:-1]), strict=True):
        assert set(pairwise(line)) <= edges[a]
        assert b < 0 or set(pairwise(line[::-1])) <= edges[b]


def test_facets_may_be_named_from_either_side(partition) -> None:
    inner = partition.facets[:, 1] >= 0
    other = replace(
        partition,
        facets=np.where(inner[:, None], partition.facets[:, ::-1], partition.facets),
        facet_vertices=np.where(inner[:, None], partition.facet_vertices[:, ::-1], partition.facet_vertices),
    )
    for one, two in zip(geometry.polygons(partition), geometry.polygons(other), strict=True):
        assert set(one.exterior.coords) == set(two.exterior.coords)
    np.testing.assert_allclose(geometry.areas(partition), geometry.areas(other), rtol=1e-14)


def test_boxes_and_points_inside(partition) -> None:
    low, high = geometry.boxes(partition)
    pieces = geometry.polygons(partition)
    bounds = shapely.bounds(pieces)
    assert (low <= bounds[:, :2] + 1e-12).all() and (high >= bounds[:, 2:] - 1e-12).all()
    unnamed = replace(partition, interior_points=np.zeros((0, 2)))
    some = np.arange(partition.n_pieces)[::-2]
    assert shapely.contains_xy(pieces[some], geometry.inside(unnamed, some)).all()
    np.testing.assert_array_equal(geometry.inside(partition, some), partition.interior_points[some])


def test_geojson() -> None:
    partition = hyperbola()
    found = json.loads(json.dumps(geometry.geojson(partition, "cells", 0.01), allow_nan=False))
    sizes = [feature["properties"]["area"] for feature in found["features"]]
    np.testing.assert_allclose(sizes[:2], 0.75 - np.log(4) / 4, rtol=1e-12)
    assert [feature["properties"]["pieces"] for feature in found["features"]] == [1, 1, 3]
    fine = geometry.geojson(partition, "cells")["features"][0]["geometry"]["coordinates"][0]
    assert 3 < len(found["features"][0]["geometry"]["coordinates"][0]) < len(fine) < 100


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), "fine", True])
def test_tolerances_that_are_none(wrong) -> None:
    with pytest.raises(InputError, match="tolerance: expected a positive number"):
        geometry.polygons(ellipse(), wrong)
