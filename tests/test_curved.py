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

import regioncount as rc
from regioncount import arcs, drawing, figures, geometry
from regioncount.definitions import DEFINITIONS
from regioncount.errors import InputError
from regioncount.verify import verify


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


# --- figures


def test_each_pixel_has_the_piece_of_its_centre(partition) -> None:
    (x0, y0), (x1, y1) = partition.domain.bounds
    window, shape = (x0 - 0.1, x1, y0, y1 + 0.25), (83, 91)
    image = drawing.pixels(partition, window, shape)
    x, y = drawing.pixel_centres(window, shape)
    points = shapely.points(*np.meshgrid(x, y))
    inside = image >= 0
    assert (inside == ((x > x0)[None] & (y < y1)[:, None])).all()
    made = geometry.polygons(partition, 1e-5)
    near = shapely.distance(made[image[inside]], points[inside])
    assert near.max() <= 4e-4 and (near == 0).mean() > 0.99
    values = drawing.pixel_values(partition, image, window, 0)
    sure = inside & (np.abs(values) < np.inf)
    at = np.stack(np.meshgrid(x, y), axis=2)[sure]
    wrong = np.abs(partition.network.evaluate(at)[:, 0] - values[sure]) > 1e-9
    assert wrong.mean() < 0.01, "each pixel has the value of its own piece, on both sides of a jump"


def test_painting_is_that_of_the_kernel_where_pieces_are_convex() -> None:
    plain = rc.subdivide(rc.constructions.random_relu((2, 8, 8, 1), seed=0))
    bent = replace(plain, facet_arc=np.full(len(plain.facets), -1))
    for window in ((-1, 1, -1, 1), (0.1, 0.3, -0.2, 1.5)):
        one, two = (drawing.pixels(p, window, (157, 211)) for p in (plain, bent))
        assert (one != two).mean() < 1e-4


def test_no_pixel_is_left_open(partition) -> None:
    (x0, y0), (x1, y1) = partition.domain.bounds
    assert (drawing.pixels(partition, (x0, x1, y0, y1), (700, 900)) >= 0).all()


def test_only_borders_of_regions_are_drawn() -> None:
    partition = hyperbola()
    points, offsets = drawing.borders(partition, partition.labels("cells"), (-1, 1, -1, 1))
    assert len(offsets) == 10 + 2 + 1, "the boundary and two arcs, no walls"
    lines = np.split(points, offsets[1:-1])
    assert sorted(map(len, lines))[:10] == [2] * 10 and sorted(map(len, lines))[-1] > 20
    curves = [line for line in lines if len(line) > 2]
    assert np.abs(np.concatenate(curves).prod(axis=1) - 0.25).max() < 1e-12


@pytest.mark.parametrize("by", [*DEFINITIONS, "value"])
def test_screen_figures(partition, by: str) -> None:
    figure = figures.partition_figure(partition, by)
    definition = "linear" if by == "value" else by
    assert drawing.headline(partition, definition)[0] in figure.layout.title.text
    filled = [trace for trace in figure.data if trace.type == "scatter" and trace.fill == "toself"]
    assert sum(1 + np.isnan(trace.x).sum() for trace in filled) == (0 if by == "value" else partition.n_pieces)
    if by != "value":
        texts = [text for trace in figure.data if trace.text is not None for text in np.ravel(trace.text)]
        assert {int(text.split("piece ")[1].split("<")[0]) for text in texts} == set(range(partition.n_pieces))


def test_a_window_has_finer_arcs() -> None:
    partition = ellipse()
    near = figures.partition_figure(partition, window=(0.4999, 0.5001, -1e-4, 1e-4))
    x, y = next((np.array(t.x), np.array(t.y)) for t in near.data if t.mode == "lines" and t.fill is None)
    inside = (np.abs(x - 0.5) < 1e-4) & (np.abs(y) < 1e-4)
    assert inside.sum() > 3
    np.testing.assert_allclose((x[inside] / 0.5) ** 2 + (y[inside] / 0.25) ** 2, 1, rtol=1e-12)
    assert len(x) < 400, "and no more points elsewhere"


def test_many_curved_cells_are_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "CELLS", 3)
    figure = figures.partition_figure(ellipse(), pixels=60)
    assert len(figure.layout.images) == 1


@pytest.mark.parametrize("by", ["cells", "value"])
@pytest.mark.parametrize("ending", [".pdf", ".png", ".svg"])
def test_print_figures(partition, tmp_path, by: str, ending: str) -> None:
    paper = pytest.importorskip("regioncount.paper")
    pytest.importorskip("matplotlib")
    paths = [tmp_path / f"{k}{ending}" for k in "ab"]
    for path in paths:
        paper.write_figure(paper.partition_figure(partition, by), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_the_decision_boundary_is_refused() -> None:
    partition = ellipse()
    network = rc.Network(2, [*partition.network.layers, rc.Affine([[1], [2]])])
    with pytest.raises(InputError, match="decision_boundary: expected straight borders"):
        replace(partition, network=network).decision_boundary()


# --- invariants and files


def test_invariants_hold(partition) -> None:
    partition.check_invariants()


def test_files_keep_everything(partition, tmp_path) -> None:
    rc.save(partition, tmp_path / "curved.npz")
    again = rc.load(tmp_path / "curved.npz")
    for name in ("vertices", "facets", "facet_vertices", "arcs", "facet_arc", "interior_points", "maps", "patterns"):
        np.testing.assert_array_equal(getattr(again, name), getattr(partition, name), err_msg=name)
    assert verify(again, partition.network)["counts"] == partition.counts() == again.recorded


def test_files_of_straight_partitions_have_no_arcs(tmp_path) -> None:
    rc.save(rc.subdivide(rc.constructions.random_relu((2, 3, 1), seed=0)), tmp_path / "plain.npz")
    assert not {"arcs", "facet_arc", "interior_points"} & set(np.load(tmp_path / "plain.npz").files)
    assert len(rc.load(tmp_path / "plain.npz").facet_arc) == 0


def change(name: str, edit) -> object:
    def broken(p):
        array = getattr(p, name).copy()
        found = edit(array)
        return replace(p, **{name: array if found is None else found})

    return broken


def _put(index, value):
    return lambda array: array.__setitem__(index, value)


def _patterns(p):
    patterns = p.patterns.copy()
    patterns[0] = patterns[2]
    return replace(p, patterns=patterns)


def _swap_sides(p):
    facets = p.facets.copy()
    facets[10] = facets[10, ::-1]
    return replace(p, facets=facets)


BROKEN = {  # of the hyperbola, whose facets 10 and 11 are arcs
    "straight": change("facet_arc", _put(10, -1)),
    "the other arc": change("facet_arc", _put(10, 1)),
    "no such arc": change("facet_arc", _put(10, 2)),
    "too few": change("facet_arc", lambda a: a[:-1]),
    "negative weight": change("arcs", _put((0, 2), -0.5)),
    "not finite": change("arcs", _put((0, 0), np.nan)),
    "rounder": change("arcs", lambda a: a * [[1.1], [1]] - [[0.1 * 0.625, 0.1 * 0.625, 0.1], [0, 0, 0]]),
    "nearly the same arc": change("arcs", _put((0, 2), 1.2501)),
    "bent boundary": change("facet_arc", _put(0, 0)),
    "a point in another piece": change("interior_points", lambda x: x[[1, 0, 2, 3, 4]]),
    "a point outside": change("interior_points", _put(0, (3, 3))),
    "no points": change("interior_points", lambda x: x[:0]),
    "another pattern": _patterns,
    "another map": change("maps", _put((0, 0, 2), 1.0)),
    "a facet from the wrong side": _swap_sides,
    "a facet of other pieces": change("facets", _put(13, (2, 4))),
    "a vertex moved": change("vertices", _put(5, (0.26, 1))),
    "a vertex moved off": change("vertices", _put(5, (0.25, 0.99))),
    "an unused vertex": change("vertices", lambda v: np.concatenate([v, v[:1]])),
    "a corner that is none": change("piece_vertices", _put(0, 0)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_partitions_are_refused(name: str) -> None:
    broken = BROKEN[name](hyperbola())
    with pytest.raises(AssertionError) as caught:
        broken.check_invariants()
    assert "\n" not in str(caught.value).strip()
    with pytest.raises(InputError, match="does not hold"):
        verify(broken)


@pytest.mark.parametrize(
    "name", [n for n in BROKEN if n in ("no such arc", "too few", "negative weight", "not finite", "no points")]
)
def test_files_that_do_not_fit_together(tmp_path, name: str) -> None:
    partition = hyperbola()
    path = tmp_path / "curved.npz"
    rc.save(partition, path)
    stored = dict(np.load(path))
    broken = BROKEN[name](partition)
    np.savez(path, **stored | {key: getattr(broken, key) for key in ("arcs", "facet_arc", "interior_points")})
    with pytest.raises(InputError, match="(arcs|facet_arc|interior_points): expected") as caught:
        rc.load(path)
    assert "\n" not in str(caught.value)
    stored.pop("arcs")
    np.savez(path, **stored)
    with pytest.raises(InputError, match="expected the arrays patterns, .*, arcs"):
        rc.load(path)


def test_truncated_files(tmp_path) -> None:
    path = tmp_path / "curved.npz"
    rc.save(hyperbola(), path)
    content = path.read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match="not a partition file, or a damaged one"):
            rc.load(path)
