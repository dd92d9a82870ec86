"""The parts of the page: figures fitted to it, the table, the card of counts, the controls.

Pure functions from what `regioncount_app.data` computes to plotly figures and dash components. Figures come from
`regioncount.figures`; here they only lose their fixed size and their titles, which the page has as text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from dash import dcc, html

from regioncount import constructions, drawing, figures
from regioncount.definitions import DEFINITIONS, MEANINGS

from . import data

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MARKS = "●■◆▲"  # as figures.SYMBOLS
VALUE = "value"  # the one way to colour that is no definition
VALUE_MEANING = "the value of the first output"
GRAPH = {
    **figures.CONFIG,
    "responsive": True,
    "toImageButtonOptions": {"format": "svg", "filename": "regioncount"},
}
FONT = {"family": 'system-ui, "Segoe UI", Helvetica, Arial, sans-serif', "size": 14, "color": "#1b2430"}

VIEWS = {"depth": "Depth curve", "partition": "Partition"}
COLOURS = [*DEFINITIONS, VALUE]
INTRODUCTION = "Counts of the linear regions of piecewise-linear networks, exact and by five definitions."
PREPARING = "Preparing: the first start after an installation compiles the counting code, up to a minute."


def code(definition: str) -> str:
    """R2, R4, R5 or R6, or nothing.

    >>> code("linear"), code("cells")
    ('R4', '')
    """
    head, colon, _ = MEANINGS[definition].partition(":")
    return head if colon else ""


def title(definition: str) -> str:
    """What is counted, for an axis.

    >>> title("linear"), title("cells")
    ('linear regions (R4)', 'cells')
    """
    words = figures.AXIS_TITLES[definition].partition(" (")[0]
    return f"{words} ({code(definition)})" if code(definition) else words


def meaning(definition: str) -> str:
    """The sentence of `MEANINGS` without the code in front."""
    return MEANINGS[definition].removeprefix(f"{code(definition)}: ")


# --- figures


def depth_figure(curve: data.DepthCurve, definition: str) -> Figure:
    """Counts against depth; the dashed bound is drawn strongest, over all depths, with its formula at its end."""
    figure = figures.depth_figure(curve.records, definition)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    for (size, bound), line in zip(curve.bounds.items(), lines, strict=True):
        depths = list(range(1, len(bound) + 1))
        line.update(
            x=[*depths, depths[-1] + 0.4],  # the last step has a length too
            y=[*bound, bound[-1]],
            customdata=[f"T = {size}, D = {D}<br>bound {value:,}" for D, value in zip(depths, bound, strict=True)]
            + [f"T = {size}, D = {depths[-1]}<br>bound {bound[-1]:,}"],
            hovertemplate="%{customdata}<extra></extra>",
            line={"width": 3.5, "dash": "9px,5px"},
        )
    markers = [trace for trace in figure.data if trace.mode == "markers"]
    for trace, size in zip(markers, (12, 9, 9, 9), strict=False):  # small enough to leave the dashes in sight
        trace.marker.size = size
    top = max(max(trace.y) for trace in figure.data)
    span = math.log10(top)
    _fit(figure)
    figure.update_layout(
        showlegend=False,
        xaxis={"title": {"text": "depth D"}, "range": [0.5, depths[-1] + 0.5], "tickangle": 0},
        yaxis={"title": {"text": title(definition)}, "range": [-0.03 - 0.06 * span, 0.05 + 1.08 * span]},
        margin={"l": 62, "r": 58, "t": 30, "b": 52},
        uirevision=f"{definition} {depths} {list(curve.bounds)}",
    )
    if depths[-1] > 6:  # the bound jumps at multiples of 3
        figure.update_xaxes(tick0=0, dtick=3, minor={"dtick": 1, "ticks": "outside", "ticklen": 3})
    if top < 100:
        figure.update_yaxes(dtick="D2")  # 1, 2, 5, 10
    _label_bounds(figure, curve, lines, span)
    return figure


def _label_bounds(figure: Figure, curve: data.DepthCurve, lines: Sequence[Any], span: float) -> None:
    """The formula of each bound at the end of its line, where it has room; one for all while they coincide."""
    ends = {size: bound[-1] for size, bound in curve.bounds.items()}
    style: dict[str, Any] = {"x": lines[0].x[-1], "showarrow": False, "xanchor": "left", "xshift": 8}
    if len(ends) > 1 and len(set(ends.values())) == 1:
        style |= {"xanchor": "right", "xshift": 0, "yshift": 16, "font": {"size": 15}}
        figure.add_annotation(text="<b>(T−1)<sup>⌊D/3⌋</sup></b>", y=math.log10(min(ends.values())), **style)
        return
    below = -math.inf
    for (size, end), line in zip(ends.items(), lines, strict=True):
        height = math.log10(end)
        if height - below > 0.07 * span:
            font = {"color": line.line.color, "size": 15}
            figure.add_annotation(text=f"<b>{size - 1}<sup>⌊D/3⌋</sup></b>", y=height, font=font, **style)
            below = height


def depth_legend(curve: data.DepthCurve) -> Any:
    """Colour, marker and line of each T, as text that wraps."""
    chips = []
    for i, size in enumerate(curve.bounds):
        colour = {"color": figures.OKABE_ITO[i]}
        chips.append(
            html.Span(
                [
                    html.Span(className="dash", style=colour),
                    html.Span(MARKS[i], className="mark", style=colour),
                    f"T = {size}",
                ],
                className="chip",
            )
        )
    return [*chips, html.Span("dashed: bound, markers: counted", className="chip soft")]


def partition_figure(counted: data.Counted, color_by: str) -> Figure:
    """The pieces in the plane, coloured by region or by value."""
    figure = _with_paths(figures.partition_figure(counted.partition, color_by=color_by))
    _fit(figure)
    figure.update_layout(margin={"l": 44, "r": 12, "t": 30, "b": 40}, uirevision=str(drawing.bounds(counted.partition)))
    bar = {"orientation": "h", "x": 0.5, "y": -0.2, "yanchor": "top", "thickness": 12}
    figure.update_traces(colorbar=bar, selector={"type": "heatmap"})
    figure.update_xaxes(title_standoff=4)
    figure.update_yaxes(title_standoff=0)
    return figure


def _with_paths(figure: Figure) -> Figure:
    """The same figure with one path for each trace of lines or filled polygons that nobody points at.

    A trace has an element for every line between two gaps, 15,000 for 4,000 cells; so a browser draws them in 0.25 s
    instead of 1.1 s.
    """
    import plotly.graph_objects as go

    traces, paths = [], []
    for trace in figure.data:
        if trace.type != "scatter" or trace.mode != "lines" or trace.hoverinfo != "skip":
            traces.append(trace)
            continue
        filled = trace.fill == "toself"
        paths.append(
            {
                "type": "path",
                "path": _path(np.column_stack([trace.x, trace.y]).astype(float)),
                "fillcolor": trace.fillcolor if filled else "rgba(0,0,0,0)",
                "line": {"color": trace.line.color, "width": trace.line.width},
                "layer": "below" if filled else "above",
            }
        )
    figure = go.Figure(traces, figure.layout)
    figure.update_layout(shapes=paths)
    return figure


def _path(points: np.ndarray) -> str:
    """An SVG path through points (n, 2), broken where they are NaN."""
    real = ~np.isnan(points[:, 0])
    starts = np.concatenate([[True], ~real[:-1]])[real]
    return "".join(["M%.9g,%.9g" if start else "L%.9g,%.9g" for start in starts]) % tuple(points[real].ravel().tolist())


def empty_figure() -> Figure:
    """A figure that says there is nothing to show."""
    import plotly.graph_objects as go

    figure = go.Figure()
    axis = {"visible": False}
    figure.update_layout(template="plotly_white", xaxis=axis, yaxis=axis)
    figure.add_annotation(text="nothing to draw", xref="paper", yref="paper", x=0.5, y=0.5, showarrow=False, font=FONT)
    _fit(figure)
    return figure


def _fit(figure: Figure) -> None:
    """Leave the size to the page and the title to its text."""
    figure.update_layout(width=None, height=None, autosize=True, title=None, font=FONT)


# --- what is said about them


def depth_table(curve: data.DepthCurve, definition: str) -> Any:
    """The values behind the depth curve: a row for each D, count and bound for each T."""
    records = {(record["tokens"], record["depth"]): record for record in curve.records}
    rows = []
    for i in range(len(next(iter(curve.bounds.values())))):
        cells = [html.Th(i + 1, scope="row")]
        for size, bound in curve.bounds.items():
            count = html.B(_count(records.get((size, i + 1)), definition))
            cells.append(html.Td([count, html.Span(f" / {bound[i]:,}")]))
        rows.append(html.Tr(cells))
    head = html.Tr([html.Th(word, scope="col") for word in ["D", *(f"T = {size}" for size in curve.bounds)]])
    caption = f"{title(definition)[:1].upper()}{title(definition)[1:]} / bound. Counted: {meaning(definition)}."
    table = html.Table([html.Thead(head), html.Tbody(rows)], className="values")
    scroll = html.Div(table, className="scroll", tabIndex=0, role="region", **{"aria-label": caption})
    notes = []
    if curve.stopped:
        stops = ", ".join(f"D = {depth} for T = {size}" for size, depth in curve.stopped.items())
        notes.append(
            f"Counted up to {stops}: deeper networks have more than {data.MAX_PIECES_LINE:,} pieces, too many to wait "
            "for here."
        )
    if all(record["certified"] for record in curve.records):
        notes.append("All counts are certified: every decision was proved.")
    else:
        notes.append("* not certified: some decisions followed their float value.")
    return [html.P(caption, className="sentence"), scroll, *(html.P(note, className="note") for note in notes)]


def _count(record: dict[str, Any] | None, definition: str) -> str:
    if record is None:
        return "–"
    return f"{record['counts'][definition]:,}{'' if record['certified'] else ' *'}"


def counts_card(counted: data.Counted, color_by: str) -> Any:
    """The counts by every definition, what each means, and how sure they are."""
    partition = counted.partition
    rows = [
        html.Tr(
            [
                html.Th(
                    [html.Span(name, className="name"), html.Span(code(name), className="code")]
                    + [html.Span(meaning(name), className="meaning")],
                    scope="row",
                ),
                html.Td(f"{counted.counts[name]:,}", id=f"count-{name}"),
            ],
            className="chosen" if name == color_by else "",
        )
        for name in DEFINITIONS
    ]
    if partition.certified:
        verdict = html.P("Certified: every decision was proved.", className="verdict certified")
    else:
        text = f"Not certified: {partition.undecided:,} undecided decisions followed their float value."
        verdict = html.P(text, className="verdict")
    return [
        html.Table(html.Tbody(rows), className="counts"),
        verdict,
        html.P(f"{partition.n_pieces:,} pieces, {counted.seconds:.2g} s", className="note", id="pieces"),
    ]


# --- the page


def page(ready: bool = True) -> Any:
    """The whole page; until `ready` it says why its figures are late."""
    links = [html.A(label, href=f"#{name}", id=f"to-{name}") for name, label in VIEWS.items()]
    return html.Div(
        [
            dcc.Location(id="place", refresh=False),
            html.Header([html.H1("regioncount"), html.P(INTRODUCTION)]),
            html.Nav(links, **{"aria-label": "Views"}),
            html.Main([_depth_view(ready), _partition_view(ready)]),
        ],
        className="page",
    )


def place(fragment: str | None) -> list[Any]:
    """For the part of the address after #: which views are hidden, and which link is the current one.

    >>> place("#partition"), place("")
    ([True, False, 'false', 'page'], [False, True, 'page', 'false'])
    """
    names = list(VIEWS)
    current = (fragment or "").removeprefix("#")
    current = current if current in names else names[0]
    return [name != current for name in names] + ["page" if name == current else "false" for name in names]


def _depth_view(ready: bool) -> Any:
    power = html.Sup("⌊D/3⌋")
    bound = [
        "The dashed line is the lower bound ",
        html.Span(["(T−1)", power], className="formula"),
        " for Transformers of T tokens and depth D.",
    ]
    controls = [
        _choice("construction", "Construction", data.CONSTRUCTIONS, "three-step"),
        _group(
            "Tokens T",
            dcc.Checklist(list(data.TOKENS), [3, 4, 5], id="depth-tokens", inline=True, className="options"),
        ),
        _number("max-depth", "Largest depth D", 12, 1, data.MAX_DEPTH),
        _definitions("depth-definition", "Regions counted", DEFINITIONS),
    ]
    return _view("depth", "Regions against depth", bound, controls, "Values", ready)


def _partition_view(ready: bool) -> Any:
    sentence = (
        "A network of two inputs. A random-transformer has fixed queries, so that its borders are straight; "
        "elsewhere queries depend on the input, and borders are conics."
    )
    limits = data.LIMITS
    standard = {"rank": 3, **constructions.parameters("random-transformer"), "tokens": 3, "seed": 0}
    labels = {
        "rank": "Rank K of a maxout unit",
        "tokens": "Tokens T",
        "layers": "Layers",
        "heads": "Heads a layer",
        "hidden": "Hidden units",
        "seed": "Seed",
    }
    controls = [
        _choice("family", "Family", tuple(data.FAMILIES), "random-relu"),
        _field("widths", "Widths, inputs first", dcc.Input(id="widths", value="2,16,16,1", debounce=True)),
        *(_number(name, labels[name], standard[name], *limits[name]) for name in labels),
        html.Div(_choice("example", "Example", tuple(data.EXAMPLES), next(iter(data.EXAMPLES))), id="example-field"),
        _field("domain", "Domain: a box, poly:…, or all", dcc.Input(id="domain", value=data.DOMAIN, debounce=True)),
        _definitions("color-by", "Coloured by", COLOURS),
    ]
    return _view("partition", "Regions in the plane", sentence, controls, "Counts", ready)


def _view(name: str, heading: str, sentence: Any, controls: Sequence[Any], aside: str, ready: bool) -> Any:
    graph = dcc.Graph(id=f"{name}-figure", config=GRAPH, className="graph", figure=_blank())
    figure = html.Div(
        dcc.Loading(graph, delay_show=400, type="dot", color="#0072B2"), role="figure", **{"aria-label": heading}
    )
    return html.Div(
        [
            html.Section(
                [
                    html.H2(heading),
                    html.P(sentence, className="sentence"),
                    html.Div(id=f"{name}-message", role="alert", children=message("" if ready else PREPARING)),
                    html.Div(id=f"{name}-legend", className="legend"),
                    figure,
                ],
                className="figure",
            ),
            html.Section([html.H2("Controls", className="unseen"), *controls], className="controls"),
            html.Section([html.H2(aside), html.Div(id=f"{name}-numbers")], className="numbers"),
        ],
        id=name,
        className="view",
        hidden=name != next(iter(VIEWS)),
    )


def message(text: str) -> Any:
    """The sentence above a figure that could not be made as asked, or nothing."""
    return [html.P(text, className="message")] if text else []


def _blank() -> dict[str, Any]:
    """Before the first answer: no axes that look like an empty figure."""
    axis = {"visible": False}
    return {"data": [], "layout": {"xaxis": axis, "yaxis": axis, "autosize": True}}


def _group(label: str, child: Any) -> Any:
    return html.Fieldset([html.Legend(label), child])


def _choice(name: str, label: str, options: Sequence[str], value: str) -> Any:
    return _group(label, dcc.RadioItems(list(options), value, id=name, className="options"))


def _definitions(name: str, label: str, options: Sequence[str]) -> Any:
    items = [
        {
            "value": option,
            "label": "output value" if option == VALUE else f"{option} {code(option)}".strip(),
            "title": VALUE_MEANING if option == VALUE else MEANINGS[option],
        }
        for option in options
    ]
    return _group(label, dcc.RadioItems(items, "linear", id=name, className="options"))


def _field(name: str, label: str, child: Any) -> Any:
    return html.Div([html.Label(label, htmlFor=name), child], className="field", id=f"{name}-field")


def _number(name: str, label: str, value: int, low: int, high: int) -> Any:
    return _field(name, label, dcc.Input(id=name, type="number", value=value, min=low, max=high, step=1, debounce=0.25))
