"""The dashboard in a real browser: Chromium, driven by playwright, with every request to elsewhere refused."""

import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

import regioncount as rc
from regioncount import sweep
from regioncount.definitions import DEFINITIONS, MEANINGS

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if os.environ.get("CI") != "true":
    pytest.importorskip("playwright.sync_api", reason="needs playwright (the extra regioncount[test])")
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium", allow_module_level=True)

from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402
from waitress.server import create_server  # noqa: E402

from regioncount_app import data, server  # noqa: E402

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
WIDE, NARROW = (1280, 860), (390, 844)
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    data.compiled()
    data.depth_curve("three-step", [3, 4, 5], 12)
    listener = server.listen(0)
    port = listener.getsockname()[1]
    served = create_server(server.create_app().server, sockets=[listener], threads=6)
    threading.Thread(target=served.run, daemon=True).start()
    yield f"http://127.0.0.1:{port}/"
    served.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Open]:
    """Open the page; in the end no error may have reached the console and no request another machine."""
    context = browser.new_context()
    context.set_default_timeout(30_000)
    outside, errors = [], []

    def guard(route: Any) -> None:
        url = urlsplit(route.request.url)
        if url.hostname == "127.0.0.1":
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    context.route("**/*", guard)

    def page(fragment: str = "", size: tuple[int, int] = WIDE) -> Page:
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda r: outside.append(r.url) if r.url.startswith("ws") else None)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.goto(f"{address}{fragment}")
        return page

    yield page
    context.close()
    assert outside == []
    assert errors == []


def drawn(page: Page, name: str, other_than: str = "") -> str:
    """What plotly has drawn, its traces and paths, once there are some and they differ from what is given."""
    script = f"""(before) => {{
        const plot = document.querySelector('#{name}-figure .js-plotly-plot');
        const now = plot && plot.data && plot.data.length ? JSON.stringify([plot.data, plot.layout.shapes]) : '';
        return now && now !== before && now;
    }}"""
    return str(page.wait_for_function(script, arg=other_than).json_value())


def counts(page: Page) -> dict[str, int]:
    return {name: int(page.locator(f"#count-{name}").inner_text().replace(",", "")) for name in DEFINITIONS}


def test_first_view_is_the_depth_curve(opened: Open) -> None:
    started = time.perf_counter()
    page = opened()
    page.locator("#depth-figure .scatterlayer .trace").first.wait_for()
    elapsed = time.perf_counter() - started
    print(f"first view after {elapsed:.2f} s")  # to reach: 3 s; machines that run tests are busy
    assert elapsed < 15
    expect(page.locator("#depth")).to_be_visible()
    expect(page.locator("#partition")).to_be_hidden()
    dashed = "document.querySelector('#depth-figure .js-plotly-plot').data.filter(t => t.mode == 'lines').map(t => t.y)"
    assert page.evaluate(dashed)[2][:12] == [4 ** (depth // 3) for depth in range(1, 13)]
    expect(page.get_by_role("alert").first).to_be_empty()
    buttons = page.locator("#depth-figure .modebar-btn")
    titles = [button.get_attribute("data-title") for button in buttons.all()]
    assert titles and not any(re.search("share|cloud|edit", str(title), re.IGNORECASE) for title in titles)


def test_depth_controls_change_figure_and_table(opened: Open) -> None:
    page = opened()
    table = page.locator("#depth-numbers table")
    table.wait_for()
    before = drawn(page, "depth")
    page.get_by_role("radio", name="two-heads").click()
    page.get_by_role("checkbox", name="5").click()
    page.get_by_label("Largest depth D").fill("6")
    page.locator("#depth-definition").get_by_role("radio", name="activation").click()
    expect(table.locator("tbody tr")).to_have_count(6)
    expect(page.locator("#depth-numbers .sentence")).to_contain_text(MEANINGS["activation"][4:])
    records = sweep.depth_sweep("two-heads", [3, 4], 6)
    wanted = [
        [str(D)] + [f"{r['counts']['activation']} / {r['bound']}" for r in records if r["depth"] == D]
        for D in range(1, 7)
    ]
    rows = [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]
    assert rows == wanted
    drawn(page, "depth", other_than=before)


@pytest.mark.parametrize("family", ["random-relu", "random-maxout", "random-transformer"])
def test_partition_counts_are_those_of_the_core(opened: Open, family: str) -> None:
    page = opened("#partition")
    page.locator("#count-linear").wait_for()
    expect(page.locator("#depth")).to_be_hidden()
    before = drawn(page, "partition")
    parameters: dict[str, Any] = {"seed": 5}
    page.get_by_role("radio", name=family).click()
    page.get_by_label("Seed").fill("5")
    if family == "random-transformer":
        page.get_by_label("Layers").fill("1")
        parameters |= {"tokens": 3, "layers": 1, "heads": 1, "hidden": 8} | data.FIXED[family]
        expect(page.get_by_label("Widths, inputs first")).to_be_hidden()
    else:
        page.get_by_label("Widths, inputs first").fill("2,7,7,1")
        page.get_by_label("Widths, inputs first").press("Enter")
        parameters["widths"] = "2,7,7,1"
    if family == "random-maxout":
        page.get_by_label("Rank K of a maxout unit").fill("4")
        parameters["rank"] = 4
    partition = rc.subdivide(rc.constructions.build(family, **parameters))
    expect(page.locator("#pieces")).to_contain_text(f"{partition.n_pieces:,} pieces")
    assert counts(page) == partition.counts()
    drawn(page, "partition", other_than=before)
    for name in DEFINITIONS:
        expect(page.locator("#partition-numbers")).to_contain_text(MEANINGS[name].split(": ")[-1])
    expect(page.locator("#partition-numbers")).to_contain_text("Certified")


def test_colour_changes_the_figure_and_not_the_counts(opened: Open) -> None:
    page = opened("#partition")
    page.locator("#count-linear").wait_for()
    before, seen = counts(page), drawn(page, "partition")
    page.get_by_role("radio", name="output value").click()
    expect(page.locator("#partition-numbers .chosen")).to_have_count(0)
    assert counts(page) == before
    drawn(page, "partition", other_than=seen)


def test_bad_input_is_a_sentence_and_can_be_mended(opened: Open) -> None:
    page = opened("#partition")
    page.locator("#count-linear").wait_for()
    widths, alert = page.get_by_label("Widths, inputs first"), page.locator("#partition-message")
    widths.fill("2,x,1")
    widths.press("Enter")
    expect(alert).to_contain_text("Widths: expected whole numbers")
    expect(page.locator("#count-linear")).to_have_count(0)
    assert "Traceback" not in page.content()
    page.get_by_label("Seed").fill("")
    widths.fill("2,4,1")
    widths.press("Enter")
    expect(alert).to_contain_text("Seed: expected")
    page.get_by_label("Seed").fill("1")
    expect(page.locator("#count-linear")).to_be_visible()
    expect(alert).to_be_empty()


def test_everything_is_in_reach_of_the_keyboard(opened: Open) -> None:
    page = opened()
    page.locator("#depth-numbers table").wait_for()
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        element = "document.activeElement"
        reached.add(page.evaluate(f"{element}.id || {element}.name || {element}.className"))
    assert {"to-depth", "to-partition", "construction", "max-depth", "depth-definition", "scroll"} <= reached
    page.locator("#construction input").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="one-step")).to_be_checked()
    page.locator("#to-partition").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#partition")).to_be_visible()
    unlabelled = "[...document.querySelectorAll('input')].filter(e => !e.labels.length).map(e => e.id)"
    assert page.evaluate(unlabelled) == []


@pytest.mark.parametrize("view", ["depth", "partition"])
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_nothing_is_wider_than_the_screen(opened: Open, view: str, size: tuple[int, int]) -> None:
    page = opened(f"#{view}", size)
    page.locator(f"#{view}-numbers table").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    plot = page.locator(f"#{view}-figure .main-svg").first
    card = page.locator(f"#{view} .figure").bounding_box()
    expect(plot).to_be_visible()
    page.wait_for_function(
        f"document.querySelector('#{view}-figure .main-svg').getBoundingClientRect().width > 0.8 * {card['width']} - 30"
    )
    box = plot.bounding_box()
    assert box["x"] >= card["x"] and box["x"] + box["width"] <= card["x"] + card["width"]
    assert box["y"] + box["height"] <= card["y"] + card["height"]
