"""The dashboard without a browser: its data against the core, its parts, its server."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from curved import circles

import regioncount as rc
from regioncount import bounds, cli, sweep
from regioncount.definitions import DEFINITIONS, MEANINGS
from regioncount.errors import InputError, NeedsConicEngine, TooManyPieces

pytest.importorskip("dash")
from regioncount_app import data, server, views

PARAMETERS: dict[str, dict[str, Any]] = {
    "random-relu": {"widths": "2,8,8,1", "seed": 3},
    "random-maxout": {"widths": "2, 5, 1", "rank": 3, "seed": 2},
    "random-transformer": {"tokens": 3, "layers": 1, "heads": 1, "hidden": 4, "seed": 1},
    "conic-transformer": {"tokens": 2, "layers": 1, "heads": 1, "hidden": 2, "seed": 1},
    "conic-example": {"example": "two circles"},
}


def text(component: Any) -> str:
    """All text inside a component or a list of them."""
    if component is None:
        return ""
    if isinstance(component, (list, tuple)):
        return " ".join(map(text, component))
    return text(component.children) if hasattr(component, "children") else str(component)


# --- data


@pytest.mark.parametrize("construction", data.CONSTRUCTIONS)
def test_depth_curve_is_the_sweep(construction: str) -> None:
    curve = data.depth_curve(construction, [4, 3], 5)
    records = sweep.depth_sweep(construction, [3, 4], 5)
    keys = ("construction", "tokens", "depth", "counts", "bound", "certified")
    assert [[a[k] for k in keys] for a in curve.records] == [[b[k] for k in keys] for b in records]
    assert curve.bounds == {T: [bounds.transformer_lower(T, D) for D in range(1, 6)] for T in (3, 4)}
    assert curve.stopped == {}


def test_depth_curve_stops_where_networks_get_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MAX_PIECES_LINE", 100)
    monkeypatch.setattr(data, "_record", data.remembered(64)(data._record.__wrapped__))  # type: ignore[attr-defined]
    curve = data.depth_curve("one-step", [3, 4], 6)
    assert [r["depth"] for r in curve.records if r["tokens"] == 4] == [1, 2, 3, 4]
    assert curve.stopped == {3: 4, 4: 4}
    assert "Counted up to D = 4 for T = 3, D = 4 for T = 4: " in text(views.depth_table(curve, "linear"))
    assert [len(bound) for bound in curve.bounds.values()] == [6, 6]
    assert "–" in text(views.depth_table(curve, "linear"))
    dashed = [trace for trace in views.depth_figure(curve, "linear").data if trace.mode == "lines"]
    assert all(list(trace.x)[:6] == [1, 2, 3, 4, 5, 6] for trace in dashed)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("tent", [3], 3), "construction"),
        ((None, [3], 3), "construction"),
        (("three-step", [], 3), "tokens"),
        (("three-step", None, 3), "tokens"),
        (("three-step", [2], 3), "tokens"),
        (("three-step", ["3"], 3), "tokens"),
        (("three-step", [3], None), "largest depth"),
        (("three-step", [3], 0), "largest depth"),
        (("three-step", [3], 3.5), "largest depth"),
        (("three-step", [3], 16), "largest depth"),
    ],
)
def test_depth_curve_refuses(arguments: tuple[Any, ...], named: str) -> None:
    with pytest.raises(InputError, match=f"^{named}: "):
        data.depth_curve(*arguments)


@pytest.mark.parametrize("family", data.FAMILIES)
def test_counts_are_those_of_the_core(family: str) -> None:
    parameters = PARAMETERS[family]
    network = data.built(family, **parameters)
    try:
        partition = rc.subdivide(network, "-1:1,-1:1")
    except NeedsConicEngine:
        with pytest.raises(NeedsConicEngine, match="quadratic"):
            data.counted(family, **parameters)
        pytest.skip("needs an engine for conics")
    counted = data.counted(family, **parameters, unused=None)
    assert counted.counts == partition.counts()
    assert counted.partition.n_pieces == partition.n_pieces
    assert data.counted(family, **parameters) is counted


@pytest.mark.parametrize(
    ("family", "change", "message"),
    [
        ("tent", {}, "family: "),
        ("random-relu", {"widths": ""}, "widths: .*got nothing"),
        ("random-relu", {"widths": None}, "widths: .*got nothing"),
        ("random-relu", {"widths": "2,8,,1"}, "widths: "),
        ("random-relu", {"widths": "2,-8,1"}, "widths: "),
        ("random-relu", {"widths": "2,²,1"}, "widths: "),
        ("random-relu", {"widths": "2," + "9" * 9999}, "widths: "),
        ("random-relu", {"widths": "2"}, "widths: "),
        ("random-relu", {"widths": "3,8,1"}, "widths: .*must be 2"),
        ("random-relu", {"widths": "2,0,1"}, "widths: .*from 1 to 256"),
        ("random-relu", {"widths": "2,257,1"}, "widths: .*from 1 to 256"),
        ("random-relu", {"widths": "2" + ",2" * 10}, "widths: .*at most 8 hidden layers"),
        ("random-relu", {"seed": None}, "seed: .*got nothing"),
        ("random-relu", {"seed": -1}, "seed: "),
        ("random-relu", {"seed": 1.5}, "seed: "),
        ("random-maxout", {"rank": 0}, "rank: "),
        ("random-transformer", {"tokens": 9}, "tokens: "),
        ("random-transformer", {"hidden": True}, "hidden: "),
        ("conic-example", {"example": "cube"}, "example: expected one of ellipse, "),
        ("conic-example", {"example": None}, "example: "),
        ("random-relu", {"domain": ""}, "domain: .*got nothing"),
        ("random-relu", {"domain": None}, "domain: .*got nothing"),
        ("random-relu", {"domain": "-1:1"}, "domain: expected one of the plane"),
        ("random-relu", {"domain": "slice:net.json"}, "domain: expected a domain without a file"),
        ("random-relu", {"domain": "0:1," * 999}, "domain: expected text such as"),
        ("conic-example", {"domain": "all"}, "bounded domain"),
    ],
)
def test_counted_refuses(family: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        data.counted(family, **PARAMETERS.get(family, {}) | change)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


def test_counted_on_other_domains() -> None:
    parameters = PARAMETERS["random-relu"]
    network = data.built("random-relu", **parameters)
    for text in ("all", "poly:0,0;2,0;0,1", " -3:1,0:1/3 "):
        counted = data.counted("random-relu", text, **parameters)
        assert counted.counts == rc.subdivide(network, text).counts()
        views.partition_figure(counted, "linear")
    assert data.counted("random-relu", **parameters) is data.counted("random-relu", data.DOMAIN, **parameters)


def test_counted_refuses_too_many_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MAX_PIECES_PLANE", 10)
    with pytest.raises(TooManyPieces, match="choose a smaller one"):
        data.counted("random-relu", widths="2,9,9,1", seed=3)


@pytest.mark.parametrize("example", data.EXAMPLES)
def test_examples_choose_by_the_sign_of_their_scores(example: str) -> None:
    x, y = np.random.default_rng(0).uniform(-1, 1, (2, 200))
    form = np.stack([x * x, x * y, y * y, x, y, np.ones(200)])
    on = np.array([[float(Fraction(c)) for c in score] for score in data.EXAMPLES[example]]) @ form > 0
    network = data.built("conic-example", example=example)
    value = (on * np.arange(1, len(on) + 1)[:, None]).sum(axis=0) * (x + y)
    np.testing.assert_allclose(network.evaluate(np.stack([x, y], axis=1))[:, 0], value, atol=1e-12)
    assert (on.any(axis=1) & ~on.all(axis=1)).all()


def test_threads_share_one_computation() -> None:
    calls = []

    @data.remembered(8)
    def slow(key: int) -> int:
        calls.append(key)
        time.sleep(0.1)
        return 2 * key

    results: list[int] = []
    threads = [threading.Thread(target=lambda: results.append(slow(4))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [8] * 5 and calls == [4]


def test_remembered_forgets_the_oldest_and_what_was_no_bad_input() -> None:
    calls = []

    @data.remembered(2)
    def work(key: str) -> str:
        calls.append(key)
        if key == "bad":
            raise InputError("bad: bad")
        if key == "broken":
            raise RuntimeError
        return key

    for key, error in (("bad", InputError), ("broken", RuntimeError)):
        for _ in range(2):
            with pytest.raises(error):
                work(key)
    assert calls == ["bad", "broken", "broken"]
    for key in "abac":  # b is the one used longest ago
        work(key)
    calls.clear()
    work("a"), work("c"), work("b")
    assert calls == ["b"]


# --- parts of the page


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_depth_figure_and_table_show_the_counts(definition: str) -> None:
    curve = data.depth_curve("three-step", [3, 4], 6)
    figure = views.depth_figure(curve, definition)
    marked = [list(trace.y) for trace in figure.data if trace.mode == "markers"]
    counts = {T: [r["counts"][definition] for r in curve.records if r["tokens"] == T] for T in (3, 4)}
    assert marked == list(counts.values())
    assert [list(trace.y)[:6] for trace in figure.data if trace.mode == "lines"] == list(curve.bounds.values())
    assert all("px" in trace.line.dash for trace in figure.data if trace.mode == "lines")
    table = text(views.depth_table(curve, definition))
    assert views.meaning(definition) in table
    last = " ".join(f"{counts[T][-1]:,}  / {curve.bounds[T][-1]:,}" for T in (3, 4))
    assert f" 6 {last} " in table
    assert "certified" in table


def test_bounds_that_coincide_have_one_label() -> None:
    assert len(views.depth_figure(data.depth_curve("three-step", [3, 4, 5], 2), "linear").layout.annotations) == 1
    assert len(views.depth_figure(data.depth_curve("three-step", [3, 4, 5], 6), "linear").layout.annotations) == 3


@pytest.mark.parametrize("color_by", views.COLOURS)
def test_partition_figure_of_every_colour(color_by: str) -> None:
    figure = views.partition_figure(data.counted("random-relu", **PARAMETERS["random-relu"]), color_by)
    assert len(figure.data) + len(figure.layout.shapes) > 1
    assert figure.layout.width is None and figure.layout.height is None


@pytest.mark.parametrize("color_by", views.COLOURS)
def test_partition_figure_of_curved_cells(color_by: str) -> None:
    partition = circles()
    figure = views.partition_figure(data.Counted(partition, partition.counts(), 0.1), color_by)
    lines = figure.layout.shapes[-1]
    assert lines.layer == "above" and lines.path.count("M") == 6 + 6, "the boundary and six arcs, no walls"
    assert lines.path.count("L") > 100


def test_card_shows_every_count_with_its_meaning() -> None:
    counted = data.counted("random-transformer", **PARAMETERS["random-transformer"])
    card = text(views.counts_card(counted, "cells"))
    for name in DEFINITIONS:
        assert MEANINGS[name].split(": ")[-1] in card
        assert re.search(rf"{name}\b[^0-9]*(R\d)?[^0-9]*{counted.counts[name]:,}", card), name
    assert "Certified" in card and f"{counted.partition.n_pieces:,} pieces" in card


def test_page_has_a_label_for_every_input() -> None:
    for ready in (True, False):
        page = json.dumps(views.page(ready).to_plotly_json(), default=lambda part: part.to_plotly_json())
        assert ("compiles" in page) is not ready
    for name in ("widths", "seed", "rank", "max-depth"):
        assert f'"htmlFor": "{name}"' in page


def test_views_by_address() -> None:
    assert views.place(None) == views.place("#depth") == views.place("#nowhere")
    assert views.place("#partition")[:2] == [True, False]


# --- server


def test_errors_are_one_sentence(caplog: pytest.LogCaptureFixture) -> None:
    *_, message = server.shown(server.depth_view, "three-step", [], 12, "linear")
    assert text(message) == "Tokens: choose at least one number of tokens"

    def broken() -> Any:
        raise ZeroDivisionError("a secret")

    *_, message = server.shown(broken)
    assert text(message).startswith("Unexpected ZeroDivisionError")
    assert "a secret" in caplog.text and "a secret" not in text(message)


def test_nothing_of_the_page_is_elsewhere() -> None:
    client = server.create_app().server.test_client()
    response = client.get("/")
    html = response.get_data(as_text=True)
    addresses = re.findall(r'(?:src|href)="([^"]*)"', html)
    assert addresses and all(re.match(r"/(?!/)", address) for address in addresses)
    assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    assert "http" not in re.sub(r"POLICY|http-equiv|https?://www\.w3\.org", "", client.get("/assets/style.css").text)


@pytest.mark.parametrize("port", [0, 1, 65_536, "x"])
def test_bad_ports(port: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: socket.socket, address: Any) -> None:
        raise PermissionError(13, "Permission denied")

    class Socket(socket.socket):
        bind = refused

    monkeypatch.setattr(socket, "socket", Socket)
    assert cli.main(["app", "--port", str(port)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "port" in error


def test_taken_port_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with server.listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        port = listener.getsockname()[1]
        assert cli.main(["app", "--port", str(port)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and str(port) in error and "in use" in error


def test_without_waitress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "waitress.server", None)
    with pytest.raises(InputError, match="waitress"):
        server.run(0)


def test_module_is_the_command() -> None:
    run = subprocess.run([sys.executable, "-m", "regioncount_app", "--help"], capture_output=True, text=True)
    assert run.returncode == 0 and "--port" in run.stdout


def test_ctrl_c_ends_the_server() -> None:
    with server.listen(0) as listener:
        port = str(listener.getsockname()[1])
    command = [sys.executable, "-m", "regioncount_app", "--port", port]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # jobs may ignore it
    )  # fmt: skip
    try:
        assert process.stdout is not None and f"http://127.0.0.1:{port}/" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, error) == (130, "regioncount: interrupted\n")
