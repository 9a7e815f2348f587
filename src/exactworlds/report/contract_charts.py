"""The charts of runs over a cohort: whether linked reports agree, and what the policies of a pair of reports cost."""

from __future__ import annotations

from collections.abc import Sequence

from exactworlds.metrics import RELATIONS
from exactworlds.report.charts import Axis, Chart, Point, Series, bounds
from exactworlds.report.curves import grid_points
from exactworlds.report.scored import Scored, Section
from exactworlds.report.values import Cell, Column, Table, interval, plain, row_of

__all__ = ["contract_charts"]

FLOOR = 0.95
POLICIES = {
    "event": "event",
    "choice": "choice",
    "random": "one of both at random",
    "mean": "mean of both",
    "agreement": "where both agree",
}


def contract_charts(section: Section, prefix: str) -> list[Chart]:
    """The charts of a section."""
    charts = [_relation_chart(section.runs, prefix, passing=True), _relation_chart(section.runs, prefix, passing=False)]
    for place, run in enumerate(section.runs):
        for kind in ("reject", "murphy"):
            if "values" in run.content["curves"][kind]:
                charts.append(_curve_chart(run, f"{prefix}-{place}", kind))
    return charts


def _relation_chart(runs: Sequence[Scored], prefix: str, *, passing: bool) -> Chart:
    """Pass rates or mean residuals of the relations, with 95 % intervals.

    Claim: E.relations
    """
    asked = [name for name in RELATIONS if any(run.figure(name).n for run in runs)]
    series, rows, values = [], [], []
    for place, run in enumerate(runs):
        shift = 0.0 if len(runs) == 1 else 0.5 * (place / (len(runs) - 1) - 0.5)
        points = []
        for row, relation in enumerate(asked):
            found = run.figure(f"{relation}-pass" if passing else relation)
            rows.append(row_of([run.label, _name(relation), interval(found), Cell(f"{found.n:,}", found.n)]))
            if found.finite is None:
                continue
            values += [value for value in (found.finite, found.low, found.high) if value is not None]
            what = "pass rate" if passing else "mean residual"
            words = f"{run.label}, {_name(relation)}: {what} {interval(found).text}, n = {found.n:,}"
            points.append(Point(found.finite, row + shift, words, found.low, found.high))
        series.append(Series(run.label, tuple(points), color=run.color))
    if passing:
        line = (Point(FLOOR, -0.6, "", read=False), Point(FLOOR, len(asked) - 0.4, "", read=False))
        series.append(Series("95 %", line, "line", "guide"))
    low, high = bounds([*values, FLOOR] if passing else values, floor=None if passing else 0.0, least=0.02)
    name = "passes" if passing else "residuals"
    table = Table(
        f"{prefix}-{name}-numbers",
        "Share of roots that pass" if passing else "Mean residuals",
        (
            Column("run", numeric=False),
            Column("relation", numeric=False),
            Column("pass rate [95 %]" if passing else "mean residual [95 %]", "bootstrap over roots, by strata"),
            Column("n", "roots where every report that the relation needs is valid"),
        ),
        tuple(rows),
    )
    return Chart(
        f"{prefix}-{name}",
        "How often linked reports agree" if passing else "By how much linked reports disagree",
        "Requests about one world must agree with each other. A root passes a relation if its residual is at most 0.05 "
        "(0.02 for a repeat); lines are 95 % intervals. The criterion wants each interval above 95 %."
        if passing
        else "Mean residual of each relation over the roots where its reports are valid; 0 is coherent. Being coherent "
        "is not being right. Lines are 95 % intervals.",
        Axis("share of roots that pass" if passing else "mean residual", low, min(high, 1.02) if passing else high),
        Axis("relation", -0.6, len(asked) - 0.4, tuple(_name(relation) for relation in asked)),
        tuple(series),
        table,
    )


def _curve_chart(run: Scored, prefix: str, kind: str) -> Chart:
    """What each policy of the pair of reports loses above who knows the exact probabilities.

    Claim: D.curves, D.murphy
    """
    losses = run.content["curves"][kind]["values"]
    is_reject = kind == "reject"
    symbol = "c" if is_reject else "θ"
    columns = (0.02, 0.05, 0.10, 0.20, 0.40) if is_reject else (0.1, 0.3, 0.5, 0.7, 0.9)
    end = 0.5 if is_reject else 1.0
    zero = (Point(0, 0, "", read=False), Point(end, 0, "", read=False))
    series, rows = [Series("exact posterior", zero, "line", "reference")], []
    for place, (name, values) in enumerate(losses.items()):
        label = "exact posterior" if name == "oracle" else POLICIES[name]
        at = [values[round(200 * x) - 1] for x in columns]
        rows.append(row_of([label, *(Cell(plain(value), value) for value in at)]))
        if name != "oracle":
            regrets = [value - least for value, least in zip(values, losses["oracle"], strict=True)]
            words = f"{label}: {symbol} = {{x}}, regret {{y}}"
            series.append(Series(label, grid_points(regrets, words, every=2), "line", color=place, dash=place))
    top = max(point.y for one in series for point in one.points)
    table = Table(
        f"{prefix}-{kind}-numbers",
        f"{run.label}: mean losses at {symbol}",
        (Column("policy", numeric=False), *(Column(f"{symbol} = {x:g}") for x in columns)),
        tuple(rows),
    )
    rule = (
        "Acting on two reports of one event, asked as an event and as a choice: a wrong answer costs 1, deferring c."
        if is_reject
        else "Two reports of one event: yes is said from a report of θ on; a wrong yes costs θ, a wrong no 1 − θ."
    )
    return Chart(
        f"{prefix}-{kind}",
        f"{run.label}: {'regret of acting on a pair of reports' if is_reject else 'regret at every threshold'}",
        f"{rule} The chart shows the mean expected loss above that of the exact posterior, on the roots where both "
        "reports are valid; the table has the losses themselves.",
        Axis("cost of deferring, c" if is_reject else "threshold θ", 0, end),
        Axis("mean regret", *bounds([top], floor=0.0, least=0.001)),
        tuple(series),
        table,
        "Known at multiples of 1/200.",
    )


def _name(relation: str) -> str:
    return relation.replace("_", " ").replace("event choice", "event and choice").replace("frechet", "Fréchet")
