"""Screen figures with plotly, which is imported on use.

Colours are those of Okabe and Ito, told apart by readers with any common colour blindness; each number of
tokens T also has its own marker, so that a figure survives grey print.

Reference: Okabe, Ito, Color universal design (2008), https://jfly.uni-koeln.de/color/
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regioncount.errors import InputError, shown

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star", "triangle-down", "cross", "pentagon")
AXIS_TITLES = {
    "activation": "activation regions (R2: full-dimensional sets of one pattern)",
    "cells": "cells (pieces of one pattern, joined through facets)",
    "linear": "linear regions (R4: maximal open connected sets with one affine map)",
    "linear_closed": "closed linear regions (R5: joined also where they touch)",
    "affine_maps": "affine regions (R6: distinct affine maps)",
}
FORMATS = (".html", ".json", ".png", ".svg", ".pdf")


def depth_figure(records: Iterable[Mapping[str, Any]], definition: str = "linear") -> Figure:
    """Draw counts against depth on a logarithmic axis, beside the lower bound (T-1)^floor(D/3).

    Each T has one colour and one marker: the counts are markers, hollow where a count is not certified, the
    bound is a dashed staircase. Counts too large for float64 text are given in full on hovering.

    Parameters
    ----------
    records : iterable of dict
        As from `regioncount.sweep.depth_sweep` or `read_records`.
    definition : str
        The count to draw, a key of `AXIS_TITLES`; "linear" is R4.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure, with the definition named on its vertical axis.

    Raises
    ------
    InputError
        If there are no records, the definition is unknown or was not counted, or a count is beyond float64.

    Examples
    --------
    >>> record = {"construction": "three-step", "tokens": 3, "depth": 3, "counts": {"linear": 2}, "bound": 2,
    ...           "method": "interval", "certified": True, "seconds": 0.1}
    >>> depth_figure([record]).layout.yaxis.type
    'log'
    """
    import plotly.graph_objects as go

    rows = list(records)
    if definition not in AXIS_TITLES:
        raise InputError(f"definition: expected one of {', '.join(AXIS_TITLES)}, got {shown(definition)}")
    if not rows:
        raise InputError("records: expected at least one record, got none")
    for row in rows:
        if definition not in row["counts"]:
            where = f"{row['construction']}, T = {row['tokens']}, D = {row['depth']}"
            raise InputError(f"definition: {definition!r} was not counted for {where}")

    sizes = sorted({row["tokens"] for row in rows})
    names = list(dict.fromkeys(row["construction"] for row in rows))
    bounds, counted = [], []
    for i, size in enumerate(sizes):
        colour = OKABE_ITO[i % len(OKABE_ITO)]
        own = sorted((row for row in rows if row["tokens"] == size), key=lambda row: row["depth"])
        bounds.append(_bound_trace(go, own, size, colour))
        for j, name in enumerate(names):
            series = [row for row in own if row["construction"] == name]
            # markers coincide at D = 1 and 2: the later ones are smaller and leave the earlier visible
            marker = {
                "color": colour,
                "symbol": SYMBOLS[(i + j * len(sizes)) % len(SYMBOLS)],
                "size": max(9, 15 - 4 * i),
            }
            if series:
                counted.append(_count_trace(go, series, definition, size, marker))
    figure = go.Figure([*bounds, *counted])
    figure.update_layout(**_depth_layout(names, rows, definition))
    return figure


def _bound_trace(go: Any, rows: list[Mapping[str, Any]], size: int, colour: str) -> Any:
    """Dashed staircase through the bounds of one T, each depth once."""
    bounds = {row["depth"]: row["bound"] for row in rows if row["bound"] is not None}
    return go.Scatter(
        x=list(bounds),
        y=[_height(value) for value in bounds.values()],
        customdata=[f"{value:,}" for value in bounds.values()],
        mode="lines",
        line={"color": colour, "width": 2, "dash": "dash", "shape": "hv"},
        name="bound (T−1)<sup>⌊D/3⌋</sup>",
        legendgroup=f"T = {size}",
        legendgrouptitle={"text": f"T = {size}"},
        hovertemplate=f"T = {size}, D = %{{x}}<br>bound %{{customdata}}<extra></extra>",
    )


def _count_trace(
    go: Any, rows: list[Mapping[str, Any]], definition: str, size: int, marker: dict[str, Any]
) -> Any:
    """Markers of one construction and T, hollow where a count is not certified."""
    counts = [row["counts"][definition] for row in rows]
    name = rows[0]["construction"]
    certified = [bool(row["certified"]) for row in rows]
    details = [
        f"{count:,}<br>{'certified' if sure else 'not certified'}, {row['method']}, {row['seconds']:.3g} s"
        for count, sure, row in zip(counts, certified, rows, strict=True)
    ]
    symbol, colour = marker["symbol"], marker["color"]
    outline = {"color": ["white" if sure else colour for sure in certified], "width": 1}
    symbols = [symbol if sure else f"{symbol}-open" for sure in certified]
    return go.Scatter(
        x=[row["depth"] for row in rows],
        y=[_height(count) for count in counts],
        customdata=details,
        mode="markers",
        marker={**marker, "symbol": symbols, "line": outline},
        name=f"{name}, counted",
        legendgroup=f"T = {size}",
        hovertemplate=f"{name}, T = {size}, D = %{{x}}<br>%{{customdata}}<extra></extra>",
    )


def _depth_layout(names: list[str], rows: list[Mapping[str, Any]], definition: str) -> dict[str, Any]:
    deepest = max(row["depth"] for row in rows)
    highest = max(max(row["counts"][definition], row["bound"] or 1) for row in rows)
    line = {
        "showline": True,
        "linecolor": "#444",
        "ticks": "outside",
        "gridcolor": "#e5e5e5",
        "zeroline": False,
    }
    depth_axis: dict[str, Any] = {
        "title": {"text": "depth D (attention and feedforward blocks)", "font": {"size": 14}}
    }
    count_axis: dict[str, Any] = {
        "title": {"text": AXIS_TITLES[definition], "font": {"size": 14}},
        "type": "log",
    }
    if deepest <= 20:
        depth_axis["dtick"] = 1
    if highest < 10**12:  # every power of ten has a label; beyond that plotly thins them out
        count_axis["dtick"] = 1
    return {
        "template": "plotly_white",
        "title": {
            "text": f"Depth and the number of regions: {', '.join(names)}",
            "x": 0.02,
            "xanchor": "left",
        }
        | (
            {}
            if all(row["certified"] for row in rows)
            else {"subtitle": {"text": "hollow markers: not certified"}}
        ),
        "font": {"family": "Helvetica, Arial, sans-serif", "size": 14, "color": "#111"},
        "xaxis": {**line, **depth_axis, "range": [0.5, deepest + 0.5], "tickformat": "d"},
        "yaxis": {**line, **count_axis, "exponentformat": "power"},
        "legend": {"x": 1.02, "y": 1, "xanchor": "left", "yanchor": "top", "tracegroupgap": 12},
        "margin": {"l": 80, "r": 20, "t": 80, "b": 70},
        "width": 900,
        "height": 600,
    }


def _height(count: int) -> float:
    try:
        return float(count)
    except OverflowError:
        raise InputError(f"records: a count of {len(str(count))} digits is too large to draw") from None


def write_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a plotly figure to a file whose name ends in one of `FORMATS`; it appears at once and whole.

    An .html file carries plotly.js and needs no network; .json is plotly's own format; .png, .svg and .pdf
    are drawn by a browser through kaleido.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        The figure.
    path : path-like
        File to write or to replace.

    Raises
    ------
    InputError
        For an unknown ending, a missing kaleido or browser, or a file that cannot be written.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise InputError(f"figure: expected a name ending in {', '.join(FORMATS)}, got {shown(path.name)}")
    if path.is_dir():
        raise InputError(f"figure: {path} is a directory")
    if ending == ".html":
        content = figure.to_html(include_plotlyjs=True, full_html=True, div_id="figure").encode()
    elif ending == ".json":
        content = figure.to_json().encode()
    else:
        content = _exported(figure, ending)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"figure: cannot write {path}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _exported(figure: Figure, ending: str) -> bytes:
    """Bytes of a .png, .svg or .pdf file, from plotly's exporter."""
    if importlib.util.find_spec("kaleido") is None:
        raise InputError(
            f"figure: {ending} needs kaleido (the extra regioncount[paper]); .html needs nothing"
        )
    try:
        return figure.to_image(format=ending[1:], scale=2 if ending == ".png" else 1)
    except Exception as error:  # kaleido has no one class for a browser that is missing or does not start
        reason = (str(error).strip().splitlines() or [""])[0]
        raise InputError(
            f"figure: {ending} needs a working Chrome or Chromium, .html does not "
            f"({type(error).__name__}: {reason})"
        ) from error
