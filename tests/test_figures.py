"""Screen figures: what they draw, and their files."""

from __future__ import annotations

import base64
import json
import os
import zlib
from pathlib import Path

import numpy as np
import pytest
from test_boundary import chooser

import regioncount as rc
from regioncount import drawing, figures
from regioncount.definitions import COUNTABLE, DEFINITIONS
from regioncount.errors import InputError


def make_records(tokens=(3, 4, 5), max_depth=9, construction="three-step", certified=True):
    return [
        {
            "construction": construction,
            "tokens": size,
            "depth": depth,
            "counts": {"linear": (size - 1) ** (depth // 3), "activation": 2 * size ** (depth // 3)},
            "bound": (size - 1) ** (depth // 3),
            "method": "interval",
            "certified": certified,
            "seconds": 0.01,
        }
        for size in tokens
        for depth in range(1, max_depth + 1)
    ]


def traces(figure, mode):
    return [trace for trace in figure.data if trace.mode == mode]


def test_counts_are_markers_and_bounds_dashed_stairs() -> None:
    figure = figures.depth_figure(make_records())
    counted, bounds = traces(figure, "markers"), traces(figure, "lines")
    assert len(counted) == len(bounds) == 3
    for size, marks, line in zip((3, 4, 5), counted, bounds, strict=True):
        assert list(marks.x) == list(line.x) == list(range(1, 10))
        assert list(marks.y) == list(line.y) == [(size - 1) ** (depth // 3) for depth in range(1, 10)]
        assert (line.line.dash, line.line.shape) == ("dash", "hv")
        assert line.line.color == marks.marker.color
        assert marks.legendgroup == line.legendgroup == f"T = {size}"
        assert "bound" in line.name and "counted" in marks.name
    assert figure.data[-3:] == tuple(counted), "markers lie above lines"
    assert figure.layout.yaxis.type == "log"


def test_each_number_of_tokens_has_its_own_colour_and_marker() -> None:
    counted = traces(figures.depth_figure(make_records(tokens=range(2, 9), max_depth=3)), "markers")
    assert len({trace.marker.color for trace in counted}) == 7
    assert len({trace.marker.symbol[0] for trace in counted}) == 7
    assert {trace.marker.color for trace in counted} <= set(figures.OKABE_ITO)


def test_axis_names_the_definition_and_the_counts_are_its_own() -> None:
    figure = figures.depth_figure(make_records(tokens=[3]), "activation")
    assert "activation regions (R2" in figure.layout.yaxis.title.text
    assert list(traces(figure, "markers")[0].y) == [2 * 3 ** (depth // 3) for depth in range(1, 10)]
    linear = figures.depth_figure(make_records(tokens=[3]))
    expected = "linear regions (R4: maximal open connected sets with one affine map)"
    assert linear.layout.yaxis.title.text == expected


def test_every_definition_has_an_axis_title() -> None:
    assert tuple(figures.AXIS_TITLES) == COUNTABLE


def test_uncertified_counts_are_hollow() -> None:
    records = make_records(tokens=[3], max_depth=3) + make_records(tokens=[4], max_depth=3, certified=False)
    figure = figures.depth_figure(records)
    sure, unsure = traces(figure, "markers")
    assert set(sure.marker.symbol) == {"circle"}
    assert set(unsure.marker.symbol) == {"square-open"}
    assert "not certified" in figure.layout.title.subtitle.text
    assert figures.depth_figure(make_records()).layout.title.subtitle.text is None


def test_constructions_share_one_bound() -> None:
    records = make_records(tokens=[3]) + make_records(tokens=[3], construction="two-heads")
    figure = figures.depth_figure(records)
    assert len(traces(figure, "lines")) == 1
    assert [trace.name for trace in traces(figure, "markers")] == [
        "three-step, counted",
        "two-heads, counted",
    ]
    assert list(traces(figure, "lines")[0].x) == list(range(1, 10))


def test_records_may_come_in_any_order() -> None:
    records = make_records()
    assert figures.depth_figure(records[::-1]).data == figures.depth_figure(records).data


def test_large_counts_are_drawn_and_told_exactly() -> None:
    record = {**make_records(tokens=[3], max_depth=1)[0], "counts": {"linear": 10**30 + 1}}
    marks = traces(figures.depth_figure([record]), "markers")[0]
    assert marks.y == (1e30,)
    assert marks.customdata[0].startswith("1,000,000,000,000,000,000,000,000,000,001<br>certified")
    with pytest.raises(InputError, match="401 digits"):
        figures.depth_figure([{**record, "counts": {"linear": 10**400}}])


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="records: expected at least one"):
        figures.depth_figure([])
    with pytest.raises(InputError, match="definition: expected one of activation, .*, got 'straight'"):
        figures.depth_figure(make_records(), "straight")
    with pytest.raises(InputError, match="'cells' was not counted for three-step, T = 3, D = 1"):
        figures.depth_figure(make_records(), "cells")


# --- random networks


def random_records(counts, construction="random-transformer", tokens=3, depth=2):
    return [
        {
            "construction": construction, "tokens": tokens, "depth": depth, "seed": seed, "counts": {"linear": count},
            "bound": None, "method": "interval", "certified": True, "seconds": 0.1,
        }
        for seed, count in enumerate(counts)
    ]  # fmt: skip


def test_random_networks_are_a_median_and_quartiles() -> None:
    records = [
        *make_records(tokens=[3]),
        *random_records([1, 2, 3, 4, 10], depth=1),
        *random_records([5, 6], depth=2),
    ]
    figure = figures.depth_figure(records)
    outline, medians, bound, counted = figure.data
    assert (list(medians.x), list(medians.y)) == ([1, 2], [3, 5.5]) and medians.line.dash == "dot"
    assert list(outline.x) == [1, 2, 2, 1] and list(outline.y) == [4, 5.75, 5.25, 2]
    assert medians.name == "random-transformer, median of 2 to 5 seeds" and "quartiles" in outline.name
    assert medians.line.color == bound.line.color == counted.marker.color
    assert medians.legendgroup == "T = 3" and "5 seeds" in medians.customdata[0]
    assert counted.marker.symbol[0] == "circle", "random networks take no marker from the constructions"


def test_families_without_tokens() -> None:
    without = random_records([7, 9], "random-relu")
    for record in without:
        del record["tokens"], record["bound"]
    records = [*make_records(tokens=[3]), *without, *random_records([2, 3], "random-maxout", None)]
    figure = figures.depth_figure(records)
    medians = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert {trace.legendgroup for trace in medians} == {"no tokens"}
    assert len({trace.line.color for trace in medians} | {traces(figure, "markers")[0].marker.color}) == 3
    assert "hidden layers" in figure.layout.xaxis.title.text
    assert [trace.legendrank > 1000 for trace in figure.data[:4]] == [True] * 4, "after every T"
    only = figures.depth_figure(random_records([7, 9], "random-relu", None))
    assert len(only.data) == 2 and only.layout.title.subtitle.text is None
    with pytest.raises(InputError, match="'cells' was not counted for random-relu, D = 2"):
        figures.depth_figure(without, "cells")


# --- partitions


@pytest.fixture(scope="module")
def partition():
    return rc.subdivide(rc.constructions.random_relu((2, 6, 6, 2), seed=3))


def fills(figure):
    return [trace for trace in figure.data if trace.type == "scatter" and trace.fill == "toself"]


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_cells_are_filled_by_colour(partition, definition: str) -> None:
    figure = figures.partition_figure(partition, definition)
    assert figure.layout.title.text == drawing.headline(partition, definition)[0]
    assert drawing.footing(partition) in figure.layout.title.subtitle.text
    polygons = 0
    for trace in fills(figure):
        assert trace.fillcolor == trace.line.color and trace.fillcolor in drawing.REGION_COLOURS
        polygons += 1 + np.isnan(trace.x).sum()
    assert polygons == partition.n_pieces and len(fills(figure)) <= len(drawing.REGION_COLOURS)


def test_what_hovering_says(partition) -> None:
    figure = figures.partition_figure(partition)
    layer = next(trace for trace in figure.data if trace.type == "heatmap")
    points = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers"]
    texts = [text for row in layer.text for text in row] + [text for trace in points for text in trace.text]
    pieces = {int(text.split("piece ")[1].split("<")[0]) for text in texts}
    assert pieces == set(range(partition.n_pieces)), "every piece can be found"
    i, j = 20, 40
    x = np.array([[layer.x[j], layer.y[i]]])
    text, value = layer.text[i][j], partition.network.evaluate(x)[0]
    slopes, constant = text.split("<br>")[1].removeprefix("slopes ").split("; constant ")
    assert np.dot(x[0], [float(s) for s in slopes.split(", ")]) + float(constant) == pytest.approx(value[0], abs=2e-3)


def test_values_are_a_heatmap(partition) -> None:
    figure = figures.partition_figure(partition, "value:1")
    layer = figure.data[0]
    assert layer.type == "heatmap" and layer.colorbar.title.text == "output 1"
    x = np.array([[layer.x[7], layer.y[300]]])
    assert layer.z[300][7] == pytest.approx(partition.network.evaluate(x)[0, 1], rel=1e-5)
    assert figure.layout.title.text.startswith("output 1 on ")


def test_many_cells_are_an_image(partition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "CELLS", 20)
    figure = figures.partition_figure(partition, pixels=60)
    assert not fills(figure)
    (image,) = figure.layout.images
    assert (image.x, image.y, image.sizex, image.sizey) == (-1, 1, 2, 2)
    content = base64.b64decode(image.source.removeprefix("data:image/png;base64,"))
    assert content.startswith(b"\x89PNG") and content.endswith(b"IEND\xaeB`\x82")
    start = content.index(b"IDAT") + 4
    rows = np.frombuffer(zlib.decompress(content[start:-16]), dtype=np.uint8).reshape(60, 61)[::-1, 1:]
    pieces = drawing.pixels(partition, (-1, 1, -1, 1), (60, 60))
    assert (rows == drawing.region_colours(partition, "linear")[pieces] + 1).all()
    # a window with few cells in it has polygons again
    near = figures.partition_figure(partition, window=(0.9, 1, 0.9, 1))
    assert fills(near) and not near.layout.images and list(near.layout.xaxis.range) == [0.9, 1]


def test_the_boundary_is_drawn_and_counted(partition) -> None:
    figure = figures.partition_figure(partition, boundary=True)
    found = partition.decision_boundary()
    line = figure.data[-1]
    assert line.name == f"decision boundary: {found.count} segments" and figure.layout.showlegend
    assert len(line.x) == 3 * found.count
    jumping = rc.subdivide(chooser(2, ([[0, 0, 1], [0, 0, 0]], [0, "1/2"])), "-1:1,-1:1")
    names = [trace.name for trace in figures.partition_figure(jumping, boundary=True).data if trace.name]
    assert names == ["decision boundary: 0 segments", "jumps of the greatest output: 1"]
    with pytest.raises(InputError, match="at least 2 outputs"):
        figures.partition_figure(rc.subdivide(rc.constructions.tent(2)), boundary=True)


def test_the_graph_on_the_line_has_its_pieces_and_gaps() -> None:
    partition = rc.subdivide(chooser(1, ([[1, 5], [0, 1]], [0, 0])), "-1:1")
    figure = figures.partition_figure(partition, "value:0", boundary=True)
    pieces = [trace for trace in figure.data if trace.mode == "lines" and trace.hovertemplate]
    drawn = sorted((list(trace.x[:3]), list(trace.y[:3])) for trace in pieces)
    assert drawn == [([-1, -0.5, 0], [4, 4.5, 5]), ([0, 0.5, 1], [0, 0.5, 1])]
    assert len({trace.line.color for trace in pieces}) == 2
    assert figure.layout.yaxis.title.text == "output 0"
    part = figures.partition_figure(partition, window=(0.5, 1, 0, 2))
    drawn = [trace for trace in part.data if trace.mode == "lines" and trace.hovertemplate]
    assert [list(trace.x[:3]) for trace in drawn] == [[0.5, 0.75, 1]]
    assert (part.layout.xaxis.range, part.layout.yaxis.range) == ((0.5, 1), (0, 2))


def test_a_graph_of_many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "CELLS", 100)
    (line,) = figures.partition_figure(rc.subdivide(rc.constructions.tent(8))).data
    assert line.y.min() == 0 and line.y.max() == 1


@pytest.mark.parametrize("wrong", [{"color_by": "volume"}, {"window": (1, 0, 0, 1)}, {"pixels": 0}, {"pixels": 1.5}])
def test_what_no_partition_figure_has(partition, wrong) -> None:
    with pytest.raises(InputError, match=f"{next(iter(wrong))}: expected"):
        figures.partition_figure(partition, **wrong)


# --- files


@pytest.fixture(scope="module")
def figure():
    return figures.depth_figure(make_records(max_depth=3))


def test_html_carries_plotly_and_is_the_same_every_time(figure, tmp_path: Path) -> None:
    first, second = tmp_path / "one.html", tmp_path / "two.html"
    figures.write_figure(figure, first)
    figures.write_figure(figure, second)
    text = first.read_text(encoding="utf-8")
    assert len(text) > 1_000_000
    assert "<script src=" not in text and 'src="https' not in text
    assert first.read_bytes() == second.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["one.html", "two.html"]


def test_json_is_plotly_json(figure, tmp_path: Path) -> None:
    figures.write_figure(figure, tmp_path / "depth.json")
    assert set(json.loads((tmp_path / "depth.json").read_text())) == {"data", "layout"}


def test_places_and_endings_that_are_refused(figure, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a name ending in .html, .json, got"):
        figures.write_figure(figure, tmp_path / "depth.gif")
    with pytest.raises(InputError, match="cannot write .*absent"):
        figures.write_figure(figure, tmp_path / "absent" / "depth.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match="is a directory"):
        figures.write_figure(figure, tmp_path / "folder.json")


# ------------------------------------------------------------------------------------------------ the whole plane


def wedge() -> rc.Partition:
    """Three lines, one bounded triangle (0, 0), (4, 0), (0, 4) among seven pieces."""
    network = rc.from_layers([([[1, 0], [0, 1], [-1, -1]], [0, 0, 4]), "relu"])
    return rc.subdivide(network, "all")


def test_the_view_of_the_whole_plane_is_around_its_vertices() -> None:
    from regioncount import drawing, geometry

    partition = wedge()
    assert geometry.extent(partition) == pytest.approx((-0.5, 4.5, -0.5, 4.5))
    assert drawing.bounds(partition) == geometry.extent(partition)
    assert drawing.footing(partition).startswith("7 pieces, 1 of them bounded, on the whole plane")
    figure = figures.partition_figure(partition)
    assert (*figure.layout.xaxis.range, *figure.layout.yaxis.range) == drawing.bounds(partition)
    for rows, view in (
        ([], (-1, 1, -1, 1)),
        ([(1, 0, 0)], (-1, 1, -1, 1)),
        ([(1, 0, -8)], (4, 12, -4, 4)),
        ([(0, 1, 0), (0, 1, -4)], (-2.5, 2.5, -0.5, 4.5)),
        ([(1, 0, -2), (0, 1, -2)], (1, 3, 1, 3)),
        ([(1, 0, 0), (1, 0, -100), (0, 1, 0), (0, 1, -1)], (-12.5, 112.5, -0.125, 1.125)),
    ):
        weight, bias = [[a, b] for a, b, _ in rows] or [[0, 0]], [c for *_, c in rows] or [1]
        partition = rc.subdivide(rc.from_layers([(weight, bias), "relu"]), "all")
        assert drawing.bounds(partition) == pytest.approx(view)
        figures.partition_figure(partition)


def test_a_few_far_vertices_do_not_shrink_the_view() -> None:
    from regioncount import drawing, geometry

    rows = [(1, 0, -k) for k in range(25)] + [(0, 1, -k) for k in range(25)] + [("1/1000000", 1, "-1/2")]
    network = rc.from_layers([([[a, b] for a, b, _ in rows], [c for *_, c in rows]), "relu"])
    partition = rc.subdivide(network, "all")
    assert geometry.extent(partition)[1] > 1e5 or geometry.extent(partition)[0] < -1e5
    x0, x1, y0, y1 = drawing.bounds(partition)
    assert x1 - x0 < 40 and y1 - y0 < 40


@pytest.mark.parametrize("seed", range(6))
def test_pieces_fill_every_window(seed: int) -> None:
    """Also windows that lie far outside of the frame, where rays have to be drawn on."""
    from regioncount import drawing

    network = rc.constructions.random_relu((2, 5, 4, 1), seed=seed)
    partition = rc.subdivide(network, "all")
    r = partition.reach
    rng = np.random.default_rng(seed)
    for window in ((-1, 1, -1, 1), (-r, r, -r, r), (-9 * r, 5 * r, -2 * r, 40 * r), (3 * r, 4 * r, 5 * r, 5.5 * r),
                   drawing.bounds(partition)):  # fmt: skip
        x0, x1, y0, y1 = window
        image = drawing.pixels(partition, window, (50, 50))
        assert (image >= 0).all()
        at = rng.integers(0, 50, (200, 2))
        x, y = drawing.pixel_centres(window, (50, 50))
        points = np.stack([x[at[:, 1]], y[at[:, 0]]], axis=1)
        assert (network.activation_pattern(points) == partition.patterns[image[at[:, 0], at[:, 1]]]).all()
        pieces = drawing.visible(partition, window)
        assert set(np.unique(image)) <= set(pieces.tolist())
        corners, offsets = drawing.piece_polygons(partition, pieces, window)
        from regioncount.geometry import clipped

        corners, offsets = clipped(corners, offsets, window)
        area = sum(_area(corners[a:b]) for a, b in zip(offsets[:-1], offsets[1:], strict=True))
        assert area == pytest.approx((x1 - x0) * (y1 - y0), rel=1e-9)
        points, _ = drawing.borders(partition, partition.labels("activation"), window)
        room = 1 + 1e-9
        assert (np.abs(points - [(x0 + x1) / 2, (y0 + y1) / 2]) <= 1.5 * room * np.array([x1 - x0, y1 - y0])).all()


def _area(corners: np.ndarray) -> float:
    if len(corners) < 3:
        return 0.0
    base = corners - corners[0]
    after = np.roll(base, -1, axis=0)
    return float((base[:, 0] * after[:, 1] - base[:, 1] * after[:, 0]).sum() / 2)


def test_windows_of_bounded_partitions_are_cut() -> None:
    from regioncount import drawing

    partition = rc.subdivide(rc.constructions.random_relu((2, 8, 1), seed=1), "-1000:1000,-1000:1000")
    window = (0.1, 0.2, 0.1, 0.2)
    pieces = drawing.visible(partition, window)
    corners, _ = drawing.piece_polygons(partition, pieces, window)
    assert (corners >= -1e-9).all() and (corners <= 0.3 + 1e-9).all()
    assert len(pieces) < partition.n_pieces
    figures.partition_figure(partition, window=window)


def test_geometry_of_the_whole_plane() -> None:
    import shapely

    from regioncount import geometry

    partition = wedge()
    assert sorted(geometry.areas(partition).tolist()) == pytest.approx([8.0] + [np.inf] * 6)
    assert shapely.area(geometry.polygons(partition)).sum() == pytest.approx(25)
    features = geometry.geojson(partition)["features"]
    assert [f["properties"]["area"] for f in features if f["properties"]["bounded"]] == pytest.approx([8])
    assert sum(not f["properties"]["bounded"] for f in features) == 6
    bounds = shapely.total_bounds(geometry.regions(partition, "linear"))
    assert bounds.tolist() == pytest.approx([-0.5, -0.5, 4.5, 4.5])
    assert json.dumps(features, allow_nan=False)


def test_rays_of_the_decision_boundary_reach_the_edge_of_every_window() -> None:
    from regioncount import drawing

    network = rc.from_layers([([[1, 0], [0, 1]], [0, 0]), "abs"])  # |x| = |y|: four rays from the origin
    partition = rc.subdivide(network, "all")
    boundary = partition.decision_boundary()
    for size in (1e-3, 1.0, 1e3 * partition.reach):
        segments, jumps = drawing.boundary_segments(partition, boundary, (-size, size, -size, size))
        assert (len(segments), len(jumps)) == (4, 0)
        assert np.abs(segments).max(axis=(1, 2)) == pytest.approx([3 * size] * 4)
        assert np.abs(np.abs(segments[:, :, 0]) - np.abs(segments[:, :, 1])).max() <= 1e-9 * size
        figures.partition_figure(partition, boundary=True, window=(-size, size, -size, size))
