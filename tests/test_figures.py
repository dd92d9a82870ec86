"""The depth figure: what it draws, and its files."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest

from regioncount import figures
from regioncount.definitions import DEFINITIONS
from regioncount.errors import InputError

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


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
    assert tuple(figures.AXIS_TITLES) == DEFINITIONS


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


@pytest.mark.slow
@pytest.mark.skipif(
    BROWSER is None or importlib.util.find_spec("kaleido") is None, reason="needs kaleido and a browser"
)
@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<svg")])
def test_exported_files(figure, tmp_path: Path, ending: str, start: bytes) -> None:
    figures.write_figure(figure, tmp_path / f"depth.{ending}")
    assert (tmp_path / f"depth.{ending}").read_bytes().startswith(start)


def test_a_missing_exporter_or_browser_is_named(figure, tmp_path: Path, monkeypatch) -> None:
    def no_browser(**options):
        raise RuntimeError("Kaleido requires Google Chrome\nto be installed.")

    monkeypatch.setattr(type(figure), "to_image", lambda self, **options: no_browser(**options))
    monkeypatch.setattr(figures.importlib.util, "find_spec", lambda name: object())
    with pytest.raises(InputError, match="figure: .pdf needs a working Chrome or Chromium") as caught:
        figures.write_figure(figure, tmp_path / "depth.pdf")
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(figures.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="figure: .png needs kaleido"):
        figures.write_figure(figure, tmp_path / "depth.png")
    assert os.listdir(tmp_path) == []


def test_places_and_endings_that_are_refused(figure, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a name ending in .html, .json, .png, .svg, .pdf"):
        figures.write_figure(figure, tmp_path / "depth.gif")
    with pytest.raises(InputError, match="cannot write .*absent"):
        figures.write_figure(figure, tmp_path / "absent" / "depth.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match="is a directory"):
        figures.write_figure(figure, tmp_path / "folder.json")
