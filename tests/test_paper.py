"""Print figures: files that are the same every time, fonts, widths, what is a vector and what is an image."""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from test_boundary import chooser
from test_figures import make_records, random_records

import regioncount as rc
from regioncount.errors import InputError

pytest.importorskip("matplotlib")

from regioncount import figures, paper  # noqa: E402


@pytest.fixture(scope="module")
def partition():
    return rc.subdivide(rc.constructions.random_relu((2, 6, 6, 2), seed=3))


FIGURES = {
    "regions": lambda p, **options: paper.partition_figure(p, boundary=True, **options),
    "value": lambda p, **options: paper.partition_figure(p, "value:1", **options),
    "line": lambda p, **options: paper.partition_figure(
        rc.subdivide(chooser(1, ([[1, 5], [0, 1]], [0, 0])), "-1:1"), boundary=True, **options
    ),
    "depth": lambda p, **options: paper.depth_figure([*make_records(), *random_records([3, 4, 9])], **options),
}
START = {".pdf": b"%PDF", ".png": b"\x89PNG", ".svg": b"<?xml"}


@pytest.mark.parametrize("ending", paper.FORMATS)
@pytest.mark.parametrize("name", FIGURES)
def test_files_are_the_same_every_time(partition, tmp_path: Path, name: str, ending: str) -> None:
    import matplotlib

    paths = [tmp_path / f"{k}{ending}" for k in "ab"]
    paper.write_figure(FIGURES[name](partition), paths[0])
    with matplotlib.rc_context({"font.size": 30, "pdf.fonttype": 3, "lines.linewidth": 9}):  # a user's own settings
        paper.write_figure(FIGURES[name](partition), paths[1])
        assert matplotlib.rcParams["font.size"] == 30
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_bytes().startswith(START[ending]) and paths[0].stat().st_size > 4000
    assert sorted(os.listdir(tmp_path)) == [f"a{ending}", f"b{ending}"]


@pytest.mark.parametrize("name", FIGURES)
def test_fonts_of_pdf_files_are_truetype(partition, tmp_path: Path, name: str) -> None:
    paper.write_figure(FIGURES[name](partition), tmp_path / "figure.pdf")
    content = (tmp_path / "figure.pdf").read_bytes()
    assert b"/Type3" not in content and b"/CIDFontType2" in content
    assert b"CreationDate" not in content


@pytest.mark.parametrize(("width", "inches"), [("single", 3.25), ("text", 5.5), ("double", 6.75), (4, 4), ("4.5", 4.5)])
@pytest.mark.parametrize("name", FIGURES)
def test_widths(partition, tmp_path: Path, name: str, width, inches: float) -> None:
    figure = FIGURES[name](partition, width=width)
    assert figure.get_figwidth() == inches and 0.4 * inches < figure.get_figheight() < 1.6 * inches
    paper.write_figure(figure, tmp_path / "figure.pdf")
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", (tmp_path / "figure.pdf").read_bytes())
    assert box is not None and float(box[1]) == pytest.approx(72 * inches)


@pytest.mark.parametrize("width", ["single", "double"])
@pytest.mark.parametrize("name", FIGURES)
def test_all_text_lies_inside(partition, name: str, width: str) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = FIGURES[name](partition, width=width)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    box, renderer = figure.bbox, canvas.get_renderer()
    texts = [axes.title for axes in figure.axes]
    for axes in figure.axes:
        texts += [axes.xaxis.label, axes.yaxis.label]
        for axis in (axes.xaxis, axes.yaxis):  # ticks beyond the limits are not drawn
            low, high = sorted(axis.get_view_interval())
            texts += [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            texts += [tick.label2 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    for legend in figure.legends:
        texts += legend.get_texts()
    for text in texts:
        if text.get_visible() and text.get_text():
            extent = text.get_window_extent(renderer)
            assert box.x0 - 1 <= extent.x0 and extent.x1 <= box.x1 + 1, text
            assert box.y0 - 1 <= extent.y0 and extent.y1 <= box.y1 + 1, text


def test_no_seams_and_one_image_for_many_cells(partition, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.collections import PolyCollection

    (axes,) = paper.partition_figure(partition).axes
    cells = next(c for c in axes.collections if isinstance(c, PolyCollection))
    assert len(cells.get_paths()) == partition.n_pieces
    np.testing.assert_array_equal(cells.get_edgecolor(), cells.get_facecolor())
    assert axes.get_title() == f"{partition.count()} linear regions (R4)"

    monkeypatch.setattr(paper, "CELLS", 20)
    (axes,) = paper.partition_figure(partition).axes
    assert not axes.collections and len(axes.images) == 1
    assert axes.images[0].get_array().shape[1] == round(3.25 * paper.DPI)


def test_many_cells_are_an_image_inside_the_pdf(partition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "CELLS", 20)
    paper.write_figure(paper.partition_figure(partition, boundary=True), tmp_path / "figure.pdf")
    content = (tmp_path / "figure.pdf").read_bytes()
    assert b"/Subtype /Image" in content and b"/Width 1950" in content, "its pixels as they are, not resampled"
    page = re.search(rb"FlateDecode.*?stream\r?\n(.*?)\r?\nendstream", content, re.S)
    assert page is not None and b" l\n" in zlib.decompress(page[1]), "the boundary stays lines"


def test_legend_of_the_boundary(partition) -> None:
    figure = paper.partition_figure(partition, boundary=True)
    (legend,) = figure.legends
    count = partition.decision_boundary().count
    assert [text.get_text() for text in legend.get_texts()] == [f"decision boundary: {count} segments"]
    jumping = rc.subdivide(chooser(2, ([[0, 0, 1], [0, 0, 0]], [0, "1/2"])), "-1:1,-1:1")
    (legend,) = paper.partition_figure(jumping, boundary=True).legends
    assert len(legend.get_texts()) == 2


def test_depth_series() -> None:
    records = [*make_records(tokens=[3]), *make_records(tokens=[4], certified=False), *random_records([2, 4, 9])]
    figure = paper.depth_figure(records)
    (axes,) = figure.axes
    assert axes.get_yscale() == "log" and axes.get_ylabel() == "linear regions (R4)"
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [
        "random-transformer, T = 3: median, quartiles of 3 seeds", "three-step, T = 3",
        "three-step, T = 4 (not certified)", r"lower bound $(T-1)^{\lfloor D/3\rfloor}$",
    ]  # fmt: skip
    dashed = [line for line in axes.lines if line.get_drawstyle() == "steps-post"]
    assert [line.get_linestyle() for line in dashed] == ["--", "--"]


def test_a_long_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "CELLS", 100)
    (axes,) = paper.partition_figure(rc.subdivide(rc.constructions.tent(8))).axes
    assert len(axes.lines) == 1 and axes.lines[0].get_ydata().max() == 1


@pytest.mark.parametrize("width", ["wide", 0.5, 41, None, True, float("nan"), "nan"])
def test_widths_that_are_none(partition, width) -> None:
    with pytest.raises(InputError, match="width: expected single, text, double or 1 to 40 inches"):
        paper.partition_figure(partition, width=width)
    with pytest.raises(InputError, match="width: expected"):
        paper.depth_figure(make_records(), width=width)


def test_places_and_endings_that_are_refused(partition, tmp_path: Path) -> None:
    figure = paper.depth_figure(make_records())
    with pytest.raises(InputError, match="expected a name ending in .pdf, .png, .svg"):
        paper.write_figure(figure, tmp_path / "depth.html")
    with pytest.raises(InputError, match="cannot write .*absent"):
        paper.write_figure(figure, tmp_path / "absent" / "depth.pdf")
    (tmp_path / "folder.pdf").mkdir()
    with pytest.raises(InputError, match="is a directory"):
        paper.write_figure(figure, tmp_path / "folder.pdf")
    assert os.listdir(tmp_path) == ["folder.pdf"]


def test_without_matplotlib(partition, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="need matplotlib"):
        paper.partition_figure(partition)
    with pytest.raises(InputError, match="need matplotlib"):
        paper.depth_figure(make_records())


def test_windows_and_the_whole_plane(tmp_path: Path) -> None:
    network = rc.from_layers([([[1, 0], [0, 1], [-1, -1]], [0, 0, 4]), "relu"])
    for domain, window, limits in (
        ("-9:9,-9:9", (1, 2, 0, 3), (1, 2, 0, 3)),
        ("all", None, (-0.5, 4.5, -0.5, 4.5)),
        ("all", (-1e4, 1e4, -1e3, 1e3), (-1e4, 1e4, -1e3, 1e3)),
    ):
        figure = paper.partition_figure(rc.subdivide(network, domain), window=window)
        (axes,) = figure.axes
        assert (*axes.get_xlim(), *axes.get_ylim()) == pytest.approx(limits)
        paper.write_figure(figure, tmp_path / "figure.pdf")
    line = rc.subdivide(chooser(1, ([[1, 5], [0, 1]], [0, 0])), "all")
    (axes,) = paper.partition_figure(line, boundary=True, window=(-2, 3, 0, 1)).axes
    assert (*axes.get_xlim(), *axes.get_ylim()) == (-2, 3, 0, 1)
    cut = rc.subdivide(network, rc.Slice([0, 0], [[1, 1]], "all"))
    (axes,) = paper.partition_figure(cut).axes
    assert axes.get_xlabel() == "$t$"
    with pytest.raises(InputError, match="^window: expected"):
        paper.partition_figure(cut, window=(1, 0))


def test_windows_with_nothing_in_them(tmp_path: Path) -> None:
    network = rc.from_layers([([[1, 0], [0, 1], [-1, -1]], [0, 0, 4]), "relu"])
    plane = rc.subdivide(network, "0:1,0:1")
    line = rc.subdivide(chooser(1, ([[1, 5], [0, 1]], [0, 0])), "-1:1")
    for partition, window in ((plane, (2, 3, 2, 3)), (plane, (0.1, 0.2, 0.1, 0.2)), (line, (2, 3)), (line, (0.5, 0.6))):
        for color_by in ("linear", "value"):
            figure = paper.partition_figure(partition, color_by, True, window=window)
            paper.write_figure(figure, tmp_path / "figure.svg")
            assert (tmp_path / "figure.svg").stat().st_size > 0
            assert figures.partition_figure(partition, color_by, True, window).layout.xaxis.range == window[:2]
