"""Charts as inline SVG: text stays text, colours are the page's variables, and every point can be read.

The page's script moves through the marks by keyboard and pointer; without it, a mark's title is shown by the browser.
What is not here: files of figures (`images`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from attrs import frozen
from matplotlib.ticker import MaxNLocator

from exactworlds.report.charts import Axis, Chart, Point, Series

__all__ = ["COLORS", "DASHES", "SHAPES", "render", "ticks"]

WIDTH, HEIGHT = 480, 330
TOP, RIGHT, BOTTOM = 14, 14, 50
COLORS = 8
MOST_CORNERS = 1500
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 2", "1 4", "6 2 1 2")
SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "cross", "bar")


def ticks(axis: Axis, count: int = 6) -> list[float]:
    """Round places within an axis."""
    found = MaxNLocator(nbins=count, steps=[1, 2, 2.5, 5, 10]).tick_values(axis.low, axis.high)
    slack = 1e-9 * (axis.high - axis.low)
    return [float(x) for x in found if axis.low - slack <= x <= axis.high + slack]


def tick_texts(places: Iterable[float]) -> list[str]:
    """The numbers at an axis, with as many decimals as they need to differ."""
    values = list(places)
    for digits in range(7):
        texts = [f"{0.0 if abs(value) < 1e-12 else value:.{digits}f}" for value in values]
        if len(set(texts)) == len(values) and all(abs(float(t) - v) < 1e-9 for t, v in zip(texts, values, strict=True)):
            return texts
    return [f"{value:.2g}" for value in values]


@frozen
class _Frame:
    """From the values of a chart to places in its picture."""

    chart: Chart

    @property
    def left(self) -> int:
        """Room for the widest text at the axis of y, and for its label."""
        if self.chart.y.names:
            return 16 + 8 * max(map(len, self.chart.y.names))
        return 34 + 8 * max(map(len, tick_texts(ticks(self.chart.y))), default=4)

    def x(self, value: float) -> float:
        axis = self.chart.x
        return self.left + (value - axis.low) / (axis.high - axis.low) * (WIDTH - self.left - RIGHT)

    def y(self, value: float) -> float:
        axis = self.chart.y
        share = (value - axis.low) / (axis.high - axis.low)
        share = 1 - share if axis.names else share  # names are read from the top
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def render(chart: Chart) -> str:
    """The chart as one `svg` element, without a document around it."""
    frame = _Frame(chart)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{chart.id}-title" '
        f'aria-describedby="{chart.id}-about">',
        *_axes(frame),
        f'<clipPath id="{chart.id}-clip"><rect x="{frame.left - 6}" y="{TOP - 6}" '
        f'width="{WIDTH - frame.left - RIGHT + 12}" height="{HEIGHT - TOP - BOTTOM + 12}"/></clipPath>',
        f'<g clip-path="url(#{chart.id}-clip)">',
        *(_series(frame, series, place) for place, series in enumerate(chart.series)),
        "</g>",
        '<circle class="cursor" r="8" cx="-50" cy="-50"/>',
        "</svg>",
    ]
    return "".join(parts)


def _axes(frame: _Frame) -> Iterable[str]:
    chart = frame.chart
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    places = ticks(chart.x)
    for place, words in zip(places, tick_texts(places), strict=True):
        x = _n(frame.x(place))
        yield f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}"/>'
        yield f'<text class="tick" x="{x}" y="{bottom + 18}" text-anchor="middle">{escape(words)}</text>'
    if chart.y.names:
        rows = [(float(row), name) for row, name in enumerate(chart.y.names)]
    else:
        found = ticks(chart.y)
        rows = list(zip(found, tick_texts(found), strict=True))
        middle = (TOP + bottom) / 2
        yield (
            f'<text class="label" transform="translate(15 {_n(middle)}) rotate(-90)" text-anchor="middle">'
            f"{escape(chart.y.label)}</text>"
        )
    for value, words in rows:
        y = _n(frame.y(value))
        yield f'<line class="grid" x1="{frame.left}" x2="{right}" y1="{y}" y2="{y}"/>'
        yield f'<text class="tick" x="{frame.left - 8}" y="{y}" dy=".35em" text-anchor="end">{escape(words)}</text>'
    yield (
        f'<text class="label" x="{_n((frame.left + right) / 2)}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(chart.x.label)}</text>"
    )


def _series(frame: _Frame, series: Series, place: int) -> str:
    color = f"c{series.color % COLORS}" if series.role == "run" else series.role
    parts = [f'<g class="series {series.kind} {color}" data-series="{place}">']
    if series.kind == "line":
        dash = {"reference": ("6 4", "2 4")[series.dash % 2], "guide": "3 5"}.get(
            series.role, DASHES[series.dash % len(DASHES)]
        )
        drawn = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(f'<path class="path" d="{_path(frame, series.points)}"{drawn}/>')
    has_marks = series.kind == "points" or (series.role == "run" and len(series.points) <= 12)
    for point in series.points:
        if point.read:
            parts.append(_mark(frame, series, point, visible=has_marks))
    parts.append("</g>")
    return "".join(parts)


def _path(frame: _Frame, points: Sequence[Point]) -> str:
    """The line through the points; of very many, those that a column of half a unit cannot tell apart are left out."""
    corners = [(frame.x(point.x), frame.y(point.y)) for point in points]
    if len(corners) > MOST_CORNERS:
        columns: dict[int, list[tuple[float, float]]] = {}
        for corner in corners:
            columns.setdefault(round(2 * corner[0]), []).append(corner)
        corners = [corner for column in columns.values() for corner in _outline(column)]
    places: list[str] = []
    for x, y in corners:
        place = f"{_n(x)} {_n(y)}"
        if not places or places[-1] != place:
            places.append(place)
    return "M" + "L".join(places)


def _outline(column: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The first, lowest, highest and last corner of a column, in their order."""
    by_height = sorted(range(len(column)), key=lambda place: column[place][1])
    return [column[place] for place in sorted({0, by_height[0], by_height[-1], len(column) - 1})]


def _mark(frame: _Frame, series: Series, point: Point, *, visible: bool) -> str:
    x, y = frame.x(point.x), frame.y(point.y)
    parts = [f'<g class="mark" data-x="{_n(x)}" data-y="{_n(y)}">']
    if visible:
        if point.low is not None and point.high is not None:
            if frame.chart.y.names:
                ends = f'x1="{_n(frame.x(point.low))}" x2="{_n(frame.x(point.high))}" y1="{_n(y)}" y2="{_n(y)}"'
            else:
                ends = f'x1="{_n(x)}" x2="{_n(x)}" y1="{_n(frame.y(point.low))}" y2="{_n(frame.y(point.high))}"'
            parts.append(f'<line class="whisker" {ends}/>')
        parts.append(_shape(x, y, 1.9 + 3.9 * point.size**0.5, SHAPES[series.color % len(SHAPES)]))
    parts.append(f"<title>{escape(point.words)}</title></g>")
    return "".join(parts)


def _shape(x: float, y: float, r: float, shape: str) -> str:
    if shape == "circle":
        return f'<circle class="dot" cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}"/>'
    corners = {
        "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        "triangle": [(0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        "diamond": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
        "down": [(0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
        "plus": [
            *[(-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4)],
            *[(0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)],
        ],
        "cross": [
            *[(-1.1, -0.6), (-0.6, -1.1), (0, -0.5), (0.6, -1.1), (1.1, -0.6), (0.5, 0)],
            *[(1.1, 0.6), (0.6, 1.1), (0, 0.5), (-0.6, 1.1), (-1.1, 0.6), (-0.5, 0)],
        ],
        "bar": [(-1.4, -0.5), (1.4, -0.5), (1.4, 0.5), (-1.4, 0.5)],
    }[shape]
    places = " ".join(f"{_n(x + r * dx)},{_n(y + r * dy)}" for dx, dy in corners)
    return f'<polygon class="dot" points="{places}"/>'


def swatch(series: Series) -> str:
    """The legend's sample of a series."""
    color = f"c{series.color % COLORS}" if series.role == "run" else series.role
    dash = {"reference": ("6 4", "2 4")[series.dash % 2], "guide": "3 5"}.get(
        series.role, DASHES[series.dash % len(DASHES)]
    )
    inside = (
        f'<path class="path" d="M1 7L27 7"{f" stroke-dasharray={dash!r}" if dash else ""}/>'
        if series.kind == "line"
        else _shape(14, 7, 5, SHAPES[series.color % len(SHAPES)])
    )
    return f'<svg viewBox="0 0 28 14" aria-hidden="true" class="series {series.kind} {color}">{inside}</svg>'


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
