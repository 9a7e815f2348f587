"""Charts as files, PNG and SVG by Matplotlib: the same charts give the same bytes on the same computer.

What is not here: the page's own pictures (`svg`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from exactworlds.report.charts import Chart, Series

__all__ = ["figure_of", "write_images"]

COLORS = ("#0a63ad", "#b4470a", "#1d7a48", "#8b3fa8", "#b01e55", "#6b6a00", "#00737a", "#5b5b64")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "_")
DASHES: tuple[Any, ...] = (
    *("-", (0, (7, 3)), (0, (2, 3)), (0, (9, 3, 2, 3)), (0, (12, 4)), (0, (4, 2)), (0, (1, 4))),
    (0, (6, 2, 1, 2)),
)
_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "exactworlds", "font.size": 10, "axes.spines.top": False,
          "axes.spines.right": False}  # fmt: skip


def write_images(charts: Sequence[Chart], folder: Path) -> Iterator[Path]:
    """Writes every chart to the folder, as PNG and as SVG whose text is text, and names the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for chart in charts:
        with mpl.rc_context(_STYLE):
            figure = figure_of(chart)
            for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
                file = folder / f"{chart.id}.{kind}"
                figure.savefig(file, dpi=160, metadata=metadata)
                yield file


def figure_of(chart: Chart) -> Figure:
    """The figure of a chart."""
    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for series in chart.series:
        _draw(axes, chart, series)
    axes.set(title=chart.title, xlabel=chart.x.label, xlim=(chart.x.low, chart.x.high))
    axes.grid(color="#e6e9ee", linewidth=0.8)
    axes.set_axisbelow(True)
    if chart.y.names:
        axes.set(ylim=(chart.y.high, chart.y.low), yticks=range(len(chart.y.names)))
        axes.set_yticklabels(chart.y.names)
    else:
        axes.set(ylabel=chart.y.label, ylim=(chart.y.low, chart.y.high))
    if len(chart.series) > 1:
        axes.legend(fontsize=8, frameon=False)
    return figure


def _draw(axes: Any, chart: Chart, series: Series) -> None:
    x, y = [point.x for point in series.points], [point.y for point in series.points]
    color = {"reference": "#1a1d23", "guide": "#565d6b"}.get(series.role, COLORS[series.color % len(COLORS)])
    if series.kind == "line":
        dash = {"reference": ("--", ":")[series.dash % 2], "guide": (0, (3, 5))}.get(
            series.role, DASHES[series.dash % len(DASHES)]
        )
        marker = MARKERS[series.color % len(MARKERS)] if series.role == "run" and len(x) <= 12 else None
        axes.plot(x, y, color=color, linestyle=dash, linewidth=1.5, marker=marker, markersize=5, label=series.name)
        return
    hollow = series.role == "reference"
    axes.plot(
        x,
        y,
        linestyle="none",
        marker=MARKERS[series.color % len(MARKERS)],
        markersize=6 if len(x) < 40 else 4,
        markerfacecolor="white" if hollow else color,
        markeredgecolor=color,
        alpha=0.8,
        label=series.name,
    )
    for point in series.points:
        if point.low is not None and point.high is not None:
            ends = (
                ([point.low, point.high], [point.y] * 2) if chart.y.names else ([point.x] * 2, [point.low, point.high])
            )
            axes.plot(*ends, color=color, linewidth=1.2, alpha=0.7)
