"""Print figures with matplotlib (the extra ``paper``), which is imported on use.

Made for two-column and one-column pages: widths 3.25, 5.5 and 6.75 inches, text of 7 and 8 points that keeps its size.
Fonts are embedded as TrueType (``pdf.fonttype`` 42: conferences refuse the default Type 3); nothing in a file depends
on the date, the machine or a user's settings, so equal figures are equal bytes.

Adjacent polygons would show white seams: cells have edges of their own colour, and above ``CELLS`` of them they are one
image of ``DPI`` pixels an inch inside the file. Lines and text stay vectors.
"""

from __future__ import annotations

import importlib.util
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regioncount import drawing
from regioncount.drawing import LINE_COLOURS, OKABE_ITO, REGION_COLOURS
from regioncount.errors import InputError, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from regioncount.partition import Partition

FORMATS = (".pdf", ".png", ".svg")
WIDTHS = {"single": 3.25, "text": 5.5, "double": 6.75}  # a column of two, the text of one column, both columns
CELLS = 20_000
DPI = 600
MARKERS = ("o", "s", "D", "^", "*", "v", "P", "p")
STYLE: dict[Any, Any] = {
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "legend.fontsize": 7, "legend.frameon": False, "axes.linewidth": 0.6, "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "ytick.minor.width": 0.4, "lines.linewidth": 1.0, "pdf.fonttype": 42, "ps.fonttype": 42,
    "svg.hashsalt": "regioncount", "figure.facecolor": "white", "image.interpolation": "none",
}  # fmt: skip


def partition_figure(
    partition: Partition,
    color_by: str = "linear",
    boundary: bool = False,
    width: str | float = "single",
    window: tuple[float, ...] | None = None,
) -> Figure:
    """Draw a partition for print: the plane's regions in colours, or on the line the function's graph.

    Parameters
    ----------
    partition : Partition
    color_by : str
        A definition of ``regioncount.DEFINITIONS``, or "value" or "value:k" for the value of output k (0 by
        default); on the line that output's graph is drawn, coloured by linear regions.
    boundary : bool
        Also draw the decision boundary, of networks with at least 2 outputs.
    width : str or float
        A key of ``WIDTHS``, or inches.
    window : tuple of float, optional
        (x from, x to, y from, y to): the part to show, on the line also (x from, x to); by default all of the domain,
        of the whole line or plane the part around most breakpoints or vertices.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If an argument is not as said, a boundary is asked for and there is a single output, or matplotlib is not
        installed.
    """
    inches = check_width(width)
    shade = drawing.shade(partition.network, color_by)
    view = drawing.window_of(partition, window)
    title, _ = drawing.headline(partition, shade.definition)
    if shade.output is not None:
        title = f"output {shade.output} on {title}"
    names = drawing.axis_names(partition)
    with _style():
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator

        if partition.dim == 1:
            figure = Figure(figsize=(inches, 0.62 * inches), layout="constrained")
            axes = figure.subplots()
            _graph(axes, partition, shade, view)
            axes.xaxis.set_major_locator(MaxNLocator(5 if inches < 4 else 8, steps=[1, 2, 5, 10]))
        else:
            x0, x1, y0, y1 = view
            aspect = (y1 - y0) / (x1 - x0)
            equal = 0.25 <= aspect <= 4
            bar = 0.16 * inches if shade.output is not None else 0.0
            height = (inches - 0.5 - bar) * (min(aspect, 1.6) if equal else 1.0) + 0.55 + 0.2 * boundary
            figure = Figure(figsize=(inches, height), layout="compressed")
            axes = figure.subplots()
            _plane(figure, axes, partition, shade, inches, view)
            across, up = (f"${name[0]}_{name[1:]}$" if name[1:] else f"${name}$" for name in names)
            axes.set(xlim=(x0, x1), ylim=(y0, y1), xlabel=across, ylabel=up)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_locator(MaxNLocator(5 if inches < 4 else 8, steps=[1, 2, 5, 10]))
            if equal:
                axes.set_aspect("equal")
        axes.set_title(title)
        if boundary:
            _boundary(figure, axes, partition, view)
    return figure


def _plane(
    figure: Any, axes: Axes, partition: Partition, shade: drawing.Shade, inches: float, view: drawing.Window
) -> None:
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colors import LinearSegmentedColormap

    pieces = drawing.visible(partition, view)
    many = len(pieces) > CELLS
    if many or shade.output is not None:
        x0, x1, y0, y1 = view
        columns = round(inches * (DPI if many else DPI // 2))
        rows = max(1, round(columns * min((y1 - y0) / (x1 - x0), 4.0)))
        under = drawing.pixels(partition, view, (rows, columns))
        options: dict[str, Any] = {"extent": view, "origin": "lower", "aspect": "auto"}
        if shade.output is not None:
            values = drawing.pixel_values(partition, under, view, shade.output)
            scale = LinearSegmentedColormap.from_list("values", drawing.VALUE_COLOURS)
            shown_ = axes.imshow(np.ma.masked_invalid(values), cmap=scale, **options)
            bar = figure.colorbar(shown_, ax=axes, label=f"output {shade.output}", fraction=0.05, pad=0.02)
            bar.outline.set_visible(False)
        else:
            palette = np.array([[255, 255, 255], *([int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in REGION_COLOURS)])
            colours = np.where(under < 0, 0, drawing.region_colours(partition, shade.definition)[under] + 1)
            axes.imshow(palette.astype(np.uint8)[colours], **options)
    else:
        corners, offsets = drawing.piece_polygons(partition, pieces, view)
        colours = np.array(REGION_COLOURS)[drawing.region_colours(partition, shade.definition)[pieces]]
        polygons = np.split(corners, offsets[1:-1])
        axes.add_collection(PolyCollection(polygons, facecolors=colours, edgecolors="face", linewidths=0.3))
    if not many:
        points, offsets = drawing.borders(partition, partition.labels(shade.definition), view, pieces)
        thin = 0.35 if len(offsets) <= 2000 else 0.15
        lines = np.split(points, offsets[1:-1])
        axes.add_collection(LineCollection(lines, colors="#222222", linewidths=thin, capstyle="round"))


def _graph(axes: Axes, partition: Partition, shade: drawing.Shade, view: drawing.Window) -> None:
    from matplotlib.collections import LineCollection

    pieces = drawing.visible(partition, view)
    points = drawing.graph(partition, shade.output or 0, view)
    if len(pieces) > CELLS:
        axes.plot(*drawing.thinned(points, 4000).T, color=OKABE_ITO[0], linewidth=0.6)
    else:
        labels = partition.labels(shade.definition)[pieces]
        colours = np.array(LINE_COLOURS)[drawing.region_colours(partition, shade.definition)[pieces]]
        axes.add_collection(LineCollection(list(points), colors=colours, linewidths=1.4, capstyle="butt"))
        ends = np.concatenate([points[1:, 0], points[:-1, 1]])[np.tile(labels[1:] != labels[:-1], 2)]
        if len(ends) <= 400:
            axes.plot(*ends.T, "o", color="black", markersize=1.8, zorder=3)
    axes.set_xlim(view[0], view[1])
    axes.margins(y=0.06)
    axes.autoscale_view(scalex=False)
    if view[2:]:
        axes.set_ylim(view[2], view[3])
    (x,) = drawing.axis_names(partition)
    name = f"$f({x})$" if partition.network.output_dim == 1 else f"output {shade.output or 0}"
    axes.set(xlabel=f"${x}$", ylabel=name)
    axes.spines[["top", "right"]].set_visible(False)


def _boundary(figure: Any, axes: Axes, partition: Partition, view: drawing.Window) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    boundary = partition.decision_boundary()
    words = drawing.boundary_words(boundary.count, len(boundary.jumps), partition.dim)
    casing: list[Any] = [withStroke(linewidth=2.6, foreground="white")] if partition.dim == 2 else []
    handles: list[Any] = []
    parts = drawing.boundary_segments(partition, boundary, view)
    for part, name, style in zip(parts, words, ("solid", (0, (1, 1.2))), strict=True):
        lines = LineCollection(list(part), colors="black", linewidths=1.1, linestyles=[style], label=name, zorder=4)
        if len(part) or not handles:
            handles.append(lines)
            lines.set_path_effects(casing)
            axes.add_collection(lines, autolim=False)
    figure.legend(handles=handles, loc="outside lower center", ncols=1 if figure.get_figwidth() < 5 else 2)


def depth_figure(
    records: Iterable[Mapping[str, Any]], definition: str = "linear", width: str | float = "single"
) -> Figure:
    """Draw counts against depth on a logarithmic axis for print; what `regioncount.figures.depth_figure` draws.

    Parameters
    ----------
    records : iterable of dict
        As from `regioncount.sweep.depth_sweep` or `read_records`; a ``seed`` marks a random network.
    definition : str
        The count to draw.
    width : str or float
        A key of ``WIDTHS``, or inches.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If there are no records, the definition is unknown or was not counted, a count is beyond float64, the width is
        none, or matplotlib is not installed.
    """
    inches = check_width(width)
    contents = drawing.depth_contents(records, definition)
    with _style():
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator

        entries = len(contents.counted) + len(contents.bands) + 1
        columns = 1 if inches < 4 and (contents.bands or entries <= 3) else 2 if inches < 6 else 3
        lines = -(-entries // columns)
        figure = Figure(figsize=(inches, 0.66 * inches + 0.16 * lines + 0.2), layout="constrained")
        axes = figure.subplots()
        axes.set_yscale("log")
        handles = _depth_series(axes, contents, definition)
        blocks = "depth $D$ (blocks or hidden layers)" if None in contents.sizes else "depth $D$ (blocks)"
        axes.set(xlabel=blocks, ylabel=drawing.AXIS_NAMES[definition], xlim=(0.5, contents.deepest + 0.5))
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 3, 6, 10]))  # the bound has steps of 3
        axes.grid(True, which="major", color="#e5e5e5", linewidth=0.4)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        names = [handle.get_label() if not isinstance(handle, tuple) else handle[1].get_label() for handle in handles]
        figure.legend(handles, names, loc="outside lower center", ncols=columns, handlelength=2.6)
    return figure


def _depth_series(axes: Axes, contents: drawing.Depth, definition: str) -> list[Any]:
    """Draw the series; returns what the legend lists."""
    handles: list[Any] = []
    for band, colour in zip(contents.bands, drawing.band_colours(contents), strict=True):
        area = axes.fill_between(band.depths, band.low, band.high, color=colour, alpha=0.2, linewidth=0)
        name = f"{drawing.place(band.construction, band.tokens)}: median, quartiles of {drawing.seeds(band)}"
        (line,) = axes.plot(
            band.depths, band.median, color=colour, linestyle=(0, (1, 1.5)), marker=".", markersize=3, label=name
        )
        handles.append((area, line))
    for size, by_depth in contents.bounds.items():
        if by_depth:
            values = [drawing.height(value) for value in by_depth.values()]
            style: dict[str, Any] = {"linestyle": "dashed", "color": drawing.size_colour(contents, size)}
            axes.step(list(by_depth), values, where="post", **style)
    for series in contents.counted:
        i = contents.sizes.index(series.tokens)
        marker = MARKERS[drawing.symbol_number(contents, series) % len(MARKERS)]
        colour = drawing.size_colour(contents, series.tokens)
        depths = np.array([row["depth"] for row in series.rows])
        counts = np.array([drawing.height(row["counts"][definition]) for row in series.rows])
        sure = np.array([bool(row["certified"]) for row in series.rows])
        diameter = max(3, 5 - i) + 2 * (marker == "*")
        dots: dict[str, Any] = {"linestyle": "none", "marker": marker, "color": colour, "markersize": diameter}
        name = drawing.place(series.construction, series.tokens)
        (line,) = axes.plot(depths[sure], counts[sure], label=name, markeredgewidth=0, **dots)
        if not sure.all():
            (hollow,) = axes.plot(depths[~sure], counts[~sure], label=f"{name} (not certified)", mfc="none", **dots)
            line = line if sure.any() else hollow
        handles.append(line)
    if any(contents.bounds.values()):
        label = r"lower bound $(T-1)^{\lfloor D/3\rfloor}$"
        handles.append(*axes.plot([], [], linestyle="dashed", color="#444444", label=label))
    return handles


def write_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure of this module to a file whose name ends in one of `FORMATS`; it appears at once and whole.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
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
    named: dict[str, dict[str, Any]] = {
        ".pdf": {"Creator": "regioncount", "CreationDate": None},
        ".svg": {"Creator": "regioncount", "Date": None},
        ".png": {"Software": "regioncount"},
    }
    content = io.BytesIO()
    with _style():
        for axes in figure.axes:
            for image in axes.images:  # pixels as they are in vector files, averaged where they become pixels again
                image.set_interpolation("antialiased" if ending == ".png" else "none")
        figure.savefig(content, format=ending[1:], dpi=300 if ending == ".png" else DPI, metadata=named[ending])
    drawing.write_whole(path, content.getvalue())


def check_width(width: str | float) -> float:
    """A width in inches.

    Raises
    ------
    InputError
        If it is no key of ``WIDTHS`` and no number of 1 to 40 inches.

    Examples
    --------
    >>> check_width("double"), check_width("4.5")
    (6.75, 4.5)
    """
    if isinstance(width, str) and width in WIDTHS:
        return WIDTHS[width]
    try:
        inches = float(width)
    except (TypeError, ValueError):
        inches = 0.0
    if isinstance(width, bool) or not 1 <= inches <= 40:
        raise InputError(f"width: expected {', '.join(WIDTHS)} or 1 to 40 inches, got {shown(width)}")
    return inches


def check_installed() -> None:
    """Raise InputError where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError(
            f"figure: {', '.join(FORMATS)} need matplotlib (the extra regioncount[paper]); .html needs nothing"
        )


@contextmanager
def _style() -> Iterator[None]:
    """Matplotlib's defaults and ``STYLE``, whatever the user has set."""
    check_installed()
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield
