"""Make the pictures of README.md in docs/pictures, with the print figures of `regioncount.paper`.

Run it from a checkout: `.venv/bin/python docs/pictures.py`. Equal versions of the libraries give equal bytes. The
picture of the dashboard needs playwright and Chromium as well; where one is missing the old picture stays.
"""

from __future__ import annotations

import io
import logging
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import regioncount as rc
from regioncount import drawing, paper, sweep

HERE = Path(__file__).resolve().parent
PICTURES = HERE / "pictures"
LARGEST = 150_000  # bytes
BROWSER = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--force-color-profile=srgb",
)


def depth() -> Any:
    """Three-step Transformers beside random ReLU networks: the first figure of `make demo`."""
    records = sweep.depth_sweep("three-step", [3, 4, 5], 12) + sweep.depth_sweep("random-relu", None, 12)
    return paper.depth_figure(records, width="text")


def partition_relu() -> Any:
    """The trained network of the examples."""
    return paper.partition_figure(rc.subdivide(rc.load(HERE.parent / "examples" / "trained_relu.json")))


def partition_maxout() -> Any:
    """A random maxout network."""
    network = rc.constructions.random_maxout("2,12,12,1", rank=3, seed=3, init="uniform")
    return paper.partition_figure(rc.subdivide(network))


def partition_attention() -> Any:
    """The attention layer of the examples whose borders are conics."""
    return paper.partition_figure(rc.subdivide(rc.load(HERE.parent / "examples" / "attention_conic.json")))


def dashboard(path: Path) -> None:
    """The first page of `regioncount app`, in Chromium without a window."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
        from waitress.server import create_server
    except ImportError as error:
        chromium, reason = None, str(error)
    else:
        reason = "there is no Chromium"
    if chromium is None:
        print(f"{path.name}: not made, {reason}")
        return

    from regioncount_app import server

    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # as in server.run
    server.warm()
    listener = server.listen(0)
    served = create_server(server.create_app().server, sockets=[listener])
    threading.Thread(target=served.run, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(BROWSER))
        page = browser.new_page(viewport={"width": 1280, "height": 820}, color_scheme="light", reduced_motion="reduce")
        page.goto(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        page.wait_for_selector("#depth-figure .scatterlayer")
        page.wait_for_timeout(1000)
        taken = page.screenshot()
        browser.close()
    save(path, taken)


def save(path: Path, png: bytes) -> None:
    """Write a picture of few colours in few bytes: at most 256 colours, which these have but for smoothed edges."""
    from PIL import Image

    content = io.BytesIO()
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(content, format="PNG", optimize=True)
    size = len(content.getvalue())
    if size > LARGEST:
        raise SystemExit(f"{path.name}: {size:,} bytes, more than {LARGEST:,}")
    drawing.write_whole(path, content.getvalue())
    print(f"{path.name}: {image.width} x {image.height}, {size:,} bytes")


def main() -> None:
    """Make all pictures."""
    PICTURES.mkdir(exist_ok=True)
    makers: tuple[Callable[[], Any], ...] = (depth, partition_relu, partition_maxout, partition_attention)
    for maker in makers:
        path = PICTURES / f"{maker.__name__}.png"
        paper.write_figure(maker(), path)
        save(path, path.read_bytes())
    dashboard(PICTURES / "dashboard.png")


if __name__ == "__main__":
    main()
