"""The Dash application and its server: callbacks that only wire, on 127.0.0.1 only.

Nothing of the page comes from elsewhere, and its Content-Security-Policy has the browser refuse what would. The
compiled kernels release the GIL, so the server's threads share the two tasks of counting and answering.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dash import Dash, Input, Output, no_update

from regioncount.errors import InputError

from . import data, views

HOST = "127.0.0.1"
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self' blob: data:; "
    "frame-ancestors 'none'"
)
log = logging.getLogger(__name__)


def create_app(ready: threading.Event | None = None) -> Dash:
    """The application, not yet served.

    Parameters
    ----------
    ready : threading.Event, optional
        Set once the kernels are compiled, see `warm`; until then the page says why its figures are late.
    """
    app = Dash(
        __name__,
        title="regioncount",
        update_title=None,
        assets_folder=str(Path(__file__).parent / "assets"),
        use_pages=False,
        serve_locally=True,
        add_log_handler=False,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
        enable_mcp=False,
    )
    app.layout = lambda: views.page(ready is None or ready.is_set())
    _wire(app)

    @app.server.after_request
    def secure(response: Any) -> Any:
        response.headers["Content-Security-Policy"] = POLICY
        return response

    return app


def _wire(app: Dash) -> None:
    @app.callback(
        *(Output(name, "hidden") for name in views.VIEWS),
        *(Output(f"to-{name}", "aria-current") for name in views.VIEWS),
        Input("place", "hash"),
    )
    def place(fragment: str | None) -> Any:
        return views.place(fragment)

    @app.callback(
        Output("depth-figure", "figure"),
        Output("depth-numbers", "children"),
        Output("depth-legend", "children"),
        Output("depth-message", "children"),
        Input("depth", "hidden"),
        Input("construction", "value"),
        Input("depth-tokens", "value"),
        Input("max-depth", "value"),
        Input("depth-definition", "value"),
    )
    def depth(hidden: bool, construction: str, tokens: list[int], max_depth: int, definition: str) -> Any:
        return no_update if hidden else shown(depth_view, construction, tokens, max_depth, definition)

    names = list(dict.fromkeys(name for family in data.FAMILIES.values() for name in family))

    @app.callback(
        Output("partition-figure", "figure"),
        Output("partition-numbers", "children"),
        Output("partition-legend", "children"),
        Output("partition-message", "children"),
        Input("partition", "hidden"),
        Input("family", "value"),
        Input("color-by", "value"),
        Input("domain", "value"),
        *(Input(name, "value") for name in names),
    )
    def partition(hidden: bool, family: str, color_by: str, domain: str, *values: Any) -> Any:
        parameters = {"domain": domain, **dict(zip(names, values, strict=True))}
        return no_update if hidden else shown(partition_view, family, color_by, **parameters)

    @app.callback(*(Output(f"{name}-field", "hidden") for name in names), Input("family", "value"))
    def fields(family: str) -> Any:
        return [name not in data.FAMILIES.get(family, ()) for name in names]


def depth_view(construction: str, tokens: list[int], max_depth: int, definition: str) -> tuple[Any, Any, Any]:
    """Figure, table and legend of the depth curve."""
    curve = data.depth_curve(construction, tokens, max_depth)
    return views.depth_figure(curve, definition), views.depth_table(curve, definition), views.depth_legend(curve)


def partition_view(family: str, color_by: str, **parameters: Any) -> tuple[Any, Any, Any]:
    """Figure and counts of a random network; its legend is part of the figure."""
    counted = data.counted(family, **parameters)
    return views.partition_figure(counted, color_by), views.counts_card(counted, color_by), []


def shown(view: Callable[..., tuple[Any, Any, Any]], *arguments: Any, **named: Any) -> tuple[Any, Any, Any, Any]:
    """A view and no message; or, where it cannot be made, nothing and one sentence that says why."""
    try:
        return (*view(*arguments, **named), [])
    except InputError as error:
        text = " ".join(str(error).split())
        return views.empty_figure(), [], [], views.message(text[:1].upper() + text[1:])
    except Exception as error:
        log.exception("the dashboard could not make %s%s", view.__name__, (arguments, named))
        text = f"Unexpected {type(error).__name__}: please report what the terminal of the dashboard says."
        return views.empty_figure(), [], [], views.message(text)


def warm(ready: threading.Event | None = None) -> None:
    """Compile the kernels, make what the page shows first, then count what its choices will ask for."""
    try:
        data.compiled()
        depth_view("three-step", [3, 4, 5], 12, "linear")
        partition_view("random-relu", "linear", widths="2,16,16,1", seed=0)
        if ready is not None:
            ready.set()
        for construction in data.CONSTRUCTIONS:
            data.depth_curve(construction, data.TOKENS, 12)
        data.compiled_conics()
    except Exception:
        log.exception("the dashboard could not prepare its first figures")


def listen(port: int) -> socket.socket:
    """A socket on 127.0.0.1; port 0 takes a free one.

    Raises
    ------
    InputError
        If the port is taken or not allowed.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise InputError(f"port {port} on {HOST}: {error.strerror}; choose another with --port") from None
    return listener


def run(port: int = 8050) -> None:
    """Serve the dashboard on 127.0.0.1 until Ctrl-C, which raises KeyboardInterrupt.

    Raises
    ------
    InputError
        If waitress is missing, or the port is taken or not allowed.
    """
    try:
        from waitress.server import create_server
    except ImportError:
        raise InputError("app: waitress is missing; install it with: pip install 'regioncount[app]'") from None
    logging.basicConfig(format="regioncount app: %(message)s", level=logging.WARNING)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # "queue depth is 1": every first load of the page
    listener = listen(port)
    ready = threading.Event()
    server = create_server(create_app(ready).server, sockets=[listener], threads=6)
    threading.Thread(target=warm, args=(ready,), name="warm", daemon=True).start()
    print(f"The dashboard is at http://{HOST}:{listener.getsockname()[1]}/ (Ctrl-C ends it).", flush=True)
    server.run()  # returns on Ctrl-C
    raise KeyboardInterrupt
