"""Screen figures with plotly, which is imported on use.

Lines and markers have the colours of Okabe and Ito, told apart by readers with any common colour blindness; each number
of tokens T also has its own marker, so that a figure survives grey print.  Regions have those of ``drawing``.

Up to ``CELLS`` cells of the plane are filled polygons, one trace a colour; more of them are an image, and a ``window``
shows the cells of a part.  What hovering says lies in an invisible heatmap, one text for each of its pixels, and in a
point for each cell that is under none of them.

Reference: Okabe, Ito, Color universal design (2008), https://jfly.uni-koeln.de/color/
"""

from __future__ import annotations

import base64
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regioncount import drawing
from regioncount.drawing import LINE_COLOURS, REGION_COLOURS, height, place
from regioncount.errors import InputError, shown

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from regioncount.partition import Partition

OKABE_ITO = drawing.OKABE_ITO
CONFIG = {  # of written pages: no button that uploads a figure to plotly's cloud
    "displaylogo": False,
    "plotlyServerURL": "",
    "modeBarButtons": [["toImage"], ["zoom2d", "pan2d", "resetScale2d"]],
}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star", "triangle-down", "cross", "pentagon")
AXIS_TITLES = {
    "activation": "activation regions (R2: full-dimensional sets of one pattern)",
    "cells": "cells (pieces of one pattern, joined through facets)",
    "linear": "linear regions (R4: maximal open connected sets with one affine map)",
    "linear_closed": "closed linear regions (R5: joined also where they touch)",
    "affine_maps": "affine regions (R6: distinct affine maps)",
    "R1": "activation regions (R1: points and segments of one pattern included)",
}
FORMATS = (".html", ".json")
CELLS = 5000  # most cells drawn as polygons
FONT = {"family": "Helvetica, Arial, sans-serif", "size": 14, "color": "#111"}
HOVER = 64  # pixels of the invisible heatmap along each side


# ------------------------------------------------------------------------------------------------ partitions


def partition_figure(
    partition: Partition,
    color_by: str = "linear",
    boundary: bool = False,
    window: tuple[float, ...] | None = None,
    pixels: int = 900,
) -> Figure:
    """Draw a partition: the plane's regions in colours, or on the line the function's graph in coloured pieces.

    Regions that share a facet have different colours. The title names the definition and the count; hovering
    tells a region's number, its piece and the affine map there. On the line jumps are gaps.

    Parameters
    ----------
    partition : Partition
    color_by : str
        A definition of ``regioncount.DEFINITIONS``, or "value" or "value:k" for the value of output k (0 by
        default); on the line that output's graph is drawn, coloured by linear regions.
    boundary : bool
        Also draw the decision boundary, of networks with at least 2 outputs.
    window : tuple of float, optional
        (x from, x to, y from, y to): the part to show, on the line also (x from, x to); by default all of the domain,
        of the whole line or plane the part around most breakpoints or vertices.
    pixels : int
        Width of the image where there are more than ``CELLS`` cells in view, or values are shown.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    InputError
        If an argument is not as said, or a boundary is asked for and there is a single output.

    Examples
    --------
    >>> import regioncount as rc
    >>> network = rc.from_layers([([[1, 0], [0, 1]], [0, 0]), "relu", ([[1, 1]], [0])])
    >>> partition_figure(rc.subdivide(network, "-1:1,-1:1")).layout.title.text
    '4 linear regions (R4)'
    """
    import plotly.graph_objects as go

    shade = drawing.shade(partition.network, color_by)
    if isinstance(pixels, bool) or not isinstance(pixels, int) or not 1 <= pixels <= 10_000:
        raise InputError(f"pixels: expected an integer of 1 … 10,000, got {shown(pixels)}")
    view = drawing.window_of(partition, window)
    lines = _boundary_traces(go, partition, view) if boundary else []
    if partition.dim == 1:
        figure = go.Figure([*_graph_traces(go, partition, shade, view), *lines])
        axes = _graph_axes(partition, shade.output or 0, None if window is None else view)
    else:
        traces, image = _plane_traces(go, partition, shade, view, pixels)
        figure = go.Figure([*traces, *lines])
        axes = _plane_axes(partition, view, image)
    figure.update_layout(**_partition_layout(partition, shade, bool(lines)), **axes)
    return figure


def _partition_layout(partition: Partition, shade: drawing.Shade, legend: bool) -> dict[str, Any]:
    title, meaning = drawing.headline(partition, shade.definition)
    if shade.output is not None:
        title = f"output {shade.output} on {title}"
    return {
        "template": "plotly_white",
        "title": {
            "text": title,
            "subtitle": {"text": f"{meaning}<br>{drawing.footing(partition)}", "font": {"size": 12}},
            "x": 0.02,
            "xanchor": "left",
            "y": 0.97,
            "yanchor": "top",
        },
        "font": FONT,
        "hovermode": "closest",
        "showlegend": legend,
        "legend": {"orientation": "h", "x": 0, "y": -0.1 if partition.dim == 2 else -0.17, "yanchor": "top"},
        "margin": {"l": 70, "r": 20, "t": 100, "b": 90 if legend else 60},
        "width": 760,
        "height": 800 if partition.dim == 2 else 520,
    }


def _texts(partition: Partition, definition: str, pieces: np.ndarray) -> list[str]:
    """What hovering says on each of some pieces."""
    labels = partition.labels(definition)[pieces]
    name = drawing.NAMES[definition][0]
    out = []
    for piece, region, maps in zip(pieces.tolist(), labels.tolist(), partition.maps[pieces].tolist(), strict=True):
        rows = [
            f"slope{'s' * (len(row) > 2)} {', '.join(f'{x:.4g}' for x in row[:-1])}; constant {row[-1]:.4g}"
            for row in maps[:3]
        ]
        more = [f"… {len(maps)} outputs"] if len(maps) > 3 else []
        out.append("<br>".join([f"{name} {region}, piece {piece}", *rows, *more]))
    return out


def _apart(parts: np.ndarray) -> np.ndarray:
    """Polylines (n, k, 2) one after the other, gaps between them, (n (k + 1), 2)."""
    n, k = parts.shape[:2]
    out = np.full((n, k + 1, 2), np.nan)
    out[:, :k] = parts
    return out.reshape(-1, 2)


def _broken(points: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Polylines of any lengths, gaps between them."""
    return np.insert(points, offsets[1:-1], np.nan, axis=0)


# --- the plane


def _plane_traces(
    go: Any, partition: Partition, shade: drawing.Shade, view: drawing.Window, pixels: int
) -> tuple[list[Any], dict[str, Any] | None]:
    """Traces, and the image that lies under them if there are too many cells."""
    pieces = drawing.visible(partition, view)
    x0, x1, y0, y1 = view
    labels = partition.labels(shade.definition)
    traces: list[Any] = []
    image = None
    if shade.output is not None:
        traces.append(_value_trace(go, partition, shade.output, view, min(pixels, 400)))
    elif len(pieces) <= CELLS:
        traces += _fill_traces(go, partition, shade.definition, pieces, view)
    else:
        rows = max(1, round(pixels * min((y1 - y0) / (x1 - x0), 4.0)))
        under = drawing.pixels(partition, view, (rows, pixels))
        colours = np.where(under < 0, 0, drawing.region_colours(partition, shade.definition)[under] + 1)
        palette = ("#FFFFFF", *REGION_COLOURS)
        image = {
            "source": _png(colours[::-1].astype(np.uint8), palette), "xref": "x", "yref": "y", "layer": "below",
            "sizing": "stretch", "x": x0, "y": y1, "sizex": x1 - x0, "sizey": y1 - y0,
        }  # fmt: skip
    if len(pieces) <= CELLS:
        width = 1.0 if len(pieces) <= 500 else 0.5
        edges = _broken(*drawing.borders(partition, labels, view, pieces))
        if len(edges):  # the whole plane may have none
            traces.append(
                go.Scatter(
                    x=edges[:, 0],
                    y=edges[:, 1],
                    mode="lines",
                    line={"color": "#222", "width": width, "simplify": False},
                    hoverinfo="skip",
                    showlegend=False,
                )  # fmt: skip
            )
    if shade.output is None:
        traces += _hover_traces(go, partition, shade.definition, pieces, view)
    return traces, image


def _fill_traces(
    go: Any, partition: Partition, definition: str, pieces: np.ndarray, view: drawing.Window
) -> list[Any]:
    """One trace a colour; its lines have the colour too, so that no seams show."""
    colours = drawing.region_colours(partition, definition)[pieces]
    traces = []
    for c, colour in enumerate(REGION_COLOURS):
        corners, offsets = drawing.piece_polygons(partition, pieces[colours == c], view)
        if not len(corners):
            continue
        path = _broken(corners, offsets)
        traces.append(
            go.Scatter(
                x=path[:, 0],
                y=path[:, 1],
                mode="lines",
                fill="toself",
                fillcolor=colour,
                line={"color": colour, "width": 0.7, "simplify": False},
                hoverinfo="skip",
                showlegend=False,
            )  # fmt: skip
        )
    return traces


def _hover_traces(
    go: Any, partition: Partition, definition: str, pieces: np.ndarray, view: drawing.Window
) -> list[Any]:
    shape = (HOVER, HOVER)
    under = drawing.pixels(partition, view, shape)
    seen, where = np.unique(under, return_inverse=True)
    texts = np.array(["" if p < 0 else t for p, t in zip(seen, _texts(partition, definition, seen), strict=True)])
    x, y = drawing.pixel_centres(view, shape)
    layer = go.Heatmap(
        x=x, y=y, z=np.where(under < 0, np.nan, 0.0), text=texts[where.reshape(shape)].tolist(), opacity=0,
        showscale=False, hovertemplate="%{text}<extra></extra>", hoverongaps=False,
    )  # fmt: skip
    small = np.setdiff1d(pieces, seen)
    if len(pieces) > CELLS or not len(small):
        return [layer]
    middle = drawing.middles(partition, small, view)
    points = go.Scatter(
        x=middle[:, 0], y=middle[:, 1], mode="markers", marker={"size": 4, "opacity": 0},
        text=_texts(partition, definition, small), hovertemplate="%{text}<extra></extra>", showlegend=False,
    )  # fmt: skip
    return [layer, points]


def _value_trace(go: Any, partition: Partition, output: int, view: drawing.Window, pixels: int) -> Any:
    shape = (pixels, pixels)
    under = drawing.pixels(partition, view, shape)
    x, y = drawing.pixel_centres(view, shape)
    region = np.where(under < 0, -1, partition.labels("linear")[under])
    return go.Heatmap(
        x=x, y=y, z=drawing.pixel_values(partition, under, view, output).astype(np.float32), customdata=region,
        colorscale=list(drawing.VALUE_COLOURS), colorbar={"title": {"text": f"output {output}"}, "outlinewidth": 0},
        hovertemplate="(%{x:.4g}, %{y:.4g}): %{z:.6g}<br>linear region %{customdata}<extra></extra>", hoverongaps=False,
    )  # fmt: skip


def _plane_axes(partition: Partition, view: drawing.Window, image: dict[str, Any] | None) -> dict[str, Any]:
    x0, x1, y0, y1 = view
    line = {"showgrid": False, "zeroline": False, "ticks": "outside", "constrain": "domain"}
    across, up = (f"{name[0]}<sub>{name[1:]}</sub>" if name[1:] else name for name in drawing.axis_names(partition))
    axes: dict[str, Any] = {
        "xaxis": {**line, "title": {"text": across}, "range": [x0, x1]},
        "yaxis": {**line, "title": {"text": up}, "range": [y0, y1]},
    }
    if 0.25 <= (y1 - y0) / (x1 - x0) <= 4:
        axes["yaxis"] |= {"scaleanchor": "x", "scaleratio": 1}
    if image is not None:
        axes["images"] = [image]
    return axes


def _png(image: np.ndarray, palette: tuple[str, ...]) -> str:
    """A picture of indices (rows, columns) uint8, from the top down, as a data URI."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows, columns = image.shape
    lines = np.concatenate([np.zeros((rows, 1), dtype=np.uint8), image], axis=1)  # 0: no filter
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0))
    content += chunk(b"PLTE", b"".join(bytes.fromhex(colour[1:]) for colour in palette))
    content += chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(content).decode()


# --- the line


def _graph_traces(go: Any, partition: Partition, shade: drawing.Shade, view: drawing.Window) -> list[Any]:
    pieces = drawing.visible(partition, view)
    points = drawing.graph(partition, shade.output or 0, view)
    common = {"mode": "lines", "showlegend": False}
    if len(pieces) > CELLS:
        line = drawing.thinned(points, 4000)
        style = {"color": OKABE_ITO[0], "width": 1.5}
        return [go.Scatter(x=line[:, 0], y=line[:, 1], line=style, hoverinfo="x+y", **common)]
    labels = partition.labels(shade.definition)[pieces]
    colours = drawing.region_colours(partition, shade.definition)[pieces]
    traces = []
    for c, colour in enumerate(LINE_COLOURS):
        chosen = np.flatnonzero(colours == c)
        if not len(chosen):
            continue
        middle = points[chosen].mean(axis=1, keepdims=True)
        path = _apart(np.concatenate([points[chosen][:, :1], middle, points[chosen][:, 1:]], axis=1))
        texts = _texts(partition, shade.definition, pieces[chosen])
        traces.append(
            go.Scatter(
                x=path[:, 0],
                y=path[:, 1],
                line={"color": colour, "width": 4, "simplify": False},
                text=[text for text in texts for _ in range(4)],
                hovertemplate="(%{x:.6g}, %{y:.6g})<br>%{text}<extra></extra>",
                **common,
            )  # fmt: skip
        )
    ends = np.concatenate([points[1:, 0], points[:-1, 1]])[np.tile(labels[1:] != labels[:-1], 2)]
    if len(ends) <= 400:
        dots = {"mode": "markers", "marker": {"color": "#111", "size": 5}, "showlegend": False}
        traces.append(go.Scatter(x=ends[:, 0], y=ends[:, 1], hoverinfo="skip", **dots))
    return traces


def _graph_axes(partition: Partition, output: int, view: drawing.Window | None) -> dict[str, Any]:
    line = {"showline": True, "linecolor": "#444", "ticks": "outside", "gridcolor": "#e5e5e5", "zeroline": False}
    name = "f(x)" if partition.network.output_dim == 1 else f"output {output}"
    (x,) = drawing.axis_names(partition)
    if x != "x":
        name = name.replace("(x)", f"({x})")
    axes: dict[str, Any] = {"xaxis": {**line, "title": {"text": x}}, "yaxis": {**line, "title": {"text": name}}}
    for axis, ends in zip(axes.values(), ((), ()) if view is None else (view[:2], view[2:]), strict=True):
        if ends:
            axis["range"] = list(ends)
    return axes


# --- decision boundary


def _boundary_traces(go: Any, partition: Partition, view: drawing.Window) -> list[Any]:
    """The segments black in a white casing, jumps dotted; on the line vertical lines through the points."""
    boundary = partition.decision_boundary()
    words = drawing.boundary_words(boundary.count, len(boundary.jumps), partition.dim)
    parts = drawing.boundary_segments(partition, boundary, view)
    styles = [{"color": "black", "width": 3}, {"color": "black", "width": 3, "dash": "dot"}]
    traces = []
    for part, name, style in zip(parts, words, styles, strict=True):
        path = _apart(part)
        if not len(path) and style is styles[1]:
            continue
        if partition.dim == 2:
            casing = {"color": "white", "width": 6}
            traces.append(
                go.Scatter(x=path[:, 0], y=path[:, 1], mode="lines", line=casing, hoverinfo="skip", showlegend=False)
            )
        if not len(path):
            path = np.full((1, 2), np.nan)  # the legend still says that there are none
        traces.append(
            go.Scatter(
                x=path[:, 0], y=path[:, 1], mode="lines", line=style, hoverinfo="skip", name=name, showlegend=True
            )
        )
    return traces


# ------------------------------------------------------------------------------------------------ depth sweeps


def depth_figure(records: Iterable[Mapping[str, Any]], definition: str = "linear") -> Figure:
    """Draw counts against depth on a logarithmic axis, beside the lower bound (T-1)^floor(D/3).

    Each T has one colour and one marker: the counts are markers, hollow where a count is not certified, the
    bound is a dashed staircase. Random networks (records with a ``seed``) are a band between the quartiles over their
    seeds and a dotted line through the medians. Counts too large for float64 text are given in full on hovering.

    Parameters
    ----------
    records : iterable of dict
        As from `regioncount.sweep.depth_sweep` or `read_records`; ``tokens`` and ``bound`` may be None or
        missing, ``seed`` marks a random network.
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

    contents = drawing.depth_contents(records, definition)
    bounds, bands, counted = [], [], []
    for size, by_depth in contents.bounds.items():
        if by_depth:
            bounds.append(_bound_trace(go, by_depth, size, drawing.size_colour(contents, size)))
    for band, colour in zip(contents.bands, drawing.band_colours(contents), strict=True):
        bands += _band_traces(go, band, colour)
    for series in contents.counted:
        # markers coincide at D = 1 and 2: the later ones are smaller and leave the earlier visible
        marker = {
            "color": drawing.size_colour(contents, series.tokens),
            "symbol": SYMBOLS[drawing.symbol_number(contents, series) % len(SYMBOLS)],
            "size": max(9, 15 - 4 * contents.sizes.index(series.tokens)),
        }
        counted.append(_count_trace(go, series, definition, marker))
    figure = go.Figure([*bands, *bounds, *counted])
    figure.update_layout(**_depth_layout(contents, definition))
    return figure


def _group(size: int | None) -> dict[str, Any]:
    """The legend's group of one T; groups in the order of T, what has no tokens last."""
    name = "no tokens" if size is None else f"T = {size}"
    rank = 1001 if size is None else 1000 - 1 / size
    return {"legendgroup": name, "legendgrouptitle": {"text": name}, "legendrank": rank}


def _bound_trace(go: Any, bounds: Mapping[int, int], size: int | None, colour: str) -> Any:
    """Dashed staircase through the bounds of one T, each depth once."""
    return go.Scatter(
        x=list(bounds),
        y=[height(value) for value in bounds.values()],
        customdata=[f"{value:,}" for value in bounds.values()],
        mode="lines",
        line={"color": colour, "width": 2, "dash": "dash", "shape": "hv"},
        name="bound (T−1)<sup>⌊D/3⌋</sup>",
        **_group(size),
        hovertemplate=f"{place('bound', size)}, D = %{{x}}<br>%{{customdata}}<extra></extra>",
    )


def _band_traces(go: Any, band: drawing.Band, colour: str) -> list[Any]:
    """The quartiles as a filled outline, the medians as a dotted line."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    seeds = drawing.seeds(band)
    outline = go.Scatter(
        x=[*band.depths, *band.depths[::-1]], y=[*band.high, *band.low[::-1]], mode="lines", line={"width": 0},
        fill="toself", fillcolor=f"rgba({red},{green},{blue},0.2)", hoverinfo="skip",
        name=f"{band.construction}, quartiles", **_group(band.tokens),
    )  # fmt: skip
    details = [
        f"median {m:,.6g}, quartiles {a:,.6g} and {b:,.6g}, {n} seeds"
        for a, m, b, n in zip(band.low, band.median, band.high, band.seeds, strict=True)
    ]
    medians = go.Scatter(
        x=list(band.depths), y=list(band.median), customdata=details, mode="lines+markers",
        line={"color": colour, "width": 2, "dash": "dot"}, marker={"color": colour, "size": 5},
        name=f"{band.construction}, median of {seeds}", **_group(band.tokens),
        hovertemplate=f"{place(band.construction, band.tokens)}, D = %{{x}}<br>%{{customdata}}<extra></extra>",
    )  # fmt: skip
    return [outline, medians]


def _count_trace(go: Any, series: drawing.Counted, definition: str, marker: dict[str, Any]) -> Any:
    """Markers of one construction and T, hollow where a count is not certified."""
    rows, name = series.rows, series.construction
    counts = [row["counts"][definition] for row in rows]
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
        y=[height(count) for count in counts],
        customdata=details,
        mode="markers",
        marker={**marker, "symbol": symbols, "line": outline},
        name=f"{name}, counted",
        **_group(series.tokens),
        hovertemplate=f"{place(name, series.tokens)}, D = %{{x}}<br>%{{customdata}}<extra></extra>",
    )


def _depth_layout(contents: drawing.Depth, definition: str) -> dict[str, Any]:
    line = {
        "showline": True,
        "linecolor": "#444",
        "ticks": "outside",
        "gridcolor": "#e5e5e5",
        "zeroline": False,
    }
    blocks = "attention and feedforward blocks" + (", or hidden layers" if None in contents.sizes else "")
    depth_axis: dict[str, Any] = {"title": {"text": f"depth D ({blocks})", "font": {"size": 14}}}
    count_axis: dict[str, Any] = {
        "title": {"text": AXIS_TITLES[definition], "font": {"size": 14}},
        "type": "log",
    }
    if contents.deepest <= 20:
        depth_axis["dtick"] = 1
    if contents.highest < 10**12:  # every power of ten has a label; beyond that plotly thins them out
        count_axis["dtick"] = 1
    title: dict[str, Any] = {
        "text": f"Depth and the number of regions: {', '.join(contents.names)}",
        "x": 0.02,
        "xanchor": "left",
    }
    if not contents.certified:
        hollow = "hollow markers: not certified" if contents.counted else "not all counts are certified"
        title["subtitle"] = {"text": hollow}
    return {
        "template": "plotly_white",
        "title": title,
        "font": FONT,
        "xaxis": {**line, **depth_axis, "range": [0.5, contents.deepest + 0.5], "tickformat": "d"},
        "yaxis": {**line, **count_axis, "exponentformat": "power"},
        "legend": {"x": 1.02, "y": 1, "xanchor": "left", "yanchor": "top", "tracegroupgap": 12},
        "margin": {"l": 80, "r": 20, "t": 80, "b": 70},
        "width": 900,
        "height": 600,
    }


# ------------------------------------------------------------------------------------------------ files


def write_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a plotly figure to a file whose name ends in one of `FORMATS`; it appears at once and whole.

    An .html file carries plotly.js and needs no network; .json is plotly's own format. `regioncount.paper` makes
    .pdf, .svg and .png files.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        The figure.
    path : path-like
        File to write or to replace.

    Raises
    ------
    InputError
        For an unknown ending, or a file that cannot be written.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise InputError(f"figure: expected a name ending in {', '.join(FORMATS)}, got {shown(path.name)}")
    if ending == ".html":
        content = figure.to_html(include_plotlyjs=True, full_html=True, div_id="figure", config=CONFIG).encode()
    else:
        content = figure.to_json().encode()
    drawing.write_whole(path, content)
