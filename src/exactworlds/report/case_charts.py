"""The charts of runs over cases: cost, reliability, patterns, and the curves over costs and thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exactworlds.metrics import pareto_frontier
from exactworlds.report.charts import Axis, Chart, Point, Series, bounds
from exactworlds.report.curves import curve_of, line_points
from exactworlds.report.scored import Scored, Section, as_number, configurations, group_name, spread
from exactworlds.report.values import Cell, Column, Table, cell, plain, row_of, spread_cell

__all__ = ["MOST_PATTERNS", "case_charts"]

KL = "kl_nats_clipped_0.001"
MOST_PATTERNS, MOST_DRAWN = 150, 400
"""A table shows, and a run draws, at most so many patterns, the most frequent; all of them are in `scores.json`."""

DIAGONAL = Series("exact", (Point(0, 0, "", read=False), Point(1, 1, "", read=False)), "line", "guide")


def case_charts(section: Section, prefix: str) -> list[Chart]:
    """The charts of a section, as far as there are valid answers."""
    charts = [frontier_chart(section, prefix)]
    with_answers = [run for run in section.runs if run.content["curves"] is not None]
    if with_answers:
        charts += [
            reliability_chart(with_answers, prefix),
            pattern_chart(with_answers, prefix),
            *(_curve_chart(with_answers, prefix, kind) for kind in ("reject", "murphy")),
        ]
    return charts


# --- cost -----------------------------------------------------------------------------------------------------------


def frontier_chart(section: Section, prefix: str) -> Chart:
    """Mean KL over list price, one point a configuration; unknown costs are named and not drawn.

    Claim: F.frontier
    """
    rows: list[list[Cell | str]] = []
    placed: list[tuple[Scored, str, float, float]] = []
    unknown: list[str] = []
    for group in configurations(section):
        kl = spread([run.figure(KL) for run in group])
        costs = [run.cost_per_thousand() for run in group]
        known = [cost.value for cost in costs if cost.value is not None]
        cost = sum(known) / len(known) if len(known) == len(costs) else None
        name = group_name(group)
        if cost is None:
            unknown.append(f"{name} ({costs[0].why or 'some runs do not say their tokens'})")
        if cost is not None and kl.mean is not None:
            placed.append((group[0], name, cost, kl.mean))
        valid = sum(run.figure(KL).n or 0 for run in group)
        rows.append(
            [
                name,
                Cell("unknown" if cost is None else plain(cost, 5), cost),
                spread_cell(kl),
                Cell(f"{valid:,}", valid),
            ]
        )
    ranked = [entry for entry in placed if not entry[0].is_reference]
    kept = (
        [bool(keep) for keep in pareto_frontier(cost=[e[2] for e in ranked], loss=[e[3] for e in ranked])]
        if ranked
        else []
    )
    best = [entry for entry, keep in zip(ranked, kept, strict=True) if keep]
    on_frontier = {entry[1] for entry in best}
    series = [
        Series(
            name,
            (Point(cost, kl_mean, f"{name}: {cost:.5f} USD per 1,000 answers, KL {kl_mean:.4f} nats", size=0.6),),
            role="reference" if run.is_reference else "run",
            color=run.color,
        )
        for run, name, cost, kl_mean in placed
    ]
    if len(best) > 1:
        line = tuple(
            Point(cost, kl_mean, "", read=False) for _, _, cost, kl_mean in sorted(best, key=lambda e: (e[2], e[3]))
        )
        series.append(Series("Pareto frontier", line, "line", "guide"))
    table = Table(
        f"{prefix}-cost-numbers",
        "Mean KL and list price",
        (
            Column("run", numeric=False),
            Column("USD per 1,000 answers", "list price times tokens"),
            Column("KL, clipped", "nats, mean over valid answers; reports clipped to [0.001, 0.999]"),
            Column("n valid"),
            Column("on the frontier", numeric=False),
        ),
        tuple(row_of([*row, "yes" if str(row[0]) in on_frontier else "no"]) for row in rows),
    )
    series.sort(key=lambda one: one.role == "run")  # models lie above references and the frontier
    low, high = bounds([entry[2] for entry in placed], least=0.01)
    return Chart(
        f"{prefix}-cost",
        "Distance from the exact probability, and its price",
        "Lower and further left is better. A run is on the Pareto frontier if no other costs as little and is as close "
        "with one of them strictly; reference reporters are drawn hollow and are not ranked.",
        Axis("USD per 1,000 answers (list price)", low, high),
        Axis("mean KL in nats, clipped to [0.001, 0.999]", *bounds([e[3] for e in placed], floor=0.0, least=0.01)),
        tuple(series),
        table,
        f"Not drawn, because the cost is unknown: {'; '.join(unknown)}." if unknown else "",
    )


# --- reliability and patterns -----------------------------------------------------------------------------------------


def reliability_chart(runs: Sequence[Scored], prefix: str) -> Chart:
    """Mean exact probability over mean report, in ten bins of the report."""
    series, rows = [DIAGONAL], []
    for run in runs:
        points, most = [], max(row["n"] for row in run.content["reliability"]["positive_exact"])
        bins = zip(
            run.content["reliability"]["positive_exact"], run.content["reliability"]["positive_labels"], strict=True
        )
        for row, drawn in bins:
            if not row["n"]:
                continue
            report, truth, labels = as_number(row["report"]), as_number(row["truth"]), as_number(drawn["truth"])
            assert report.value is not None  # a bin with rows has means
            assert truth.value is not None
            edges = f"{float(row['low']):.1f} to {float(row['high']):.1f}"
            means = f"mean report {report.value:.3f}, exact {truth.value:.3f}"
            words = f"{run.label}, reports {edges}: {means}, n = {row['n']:,}"
            points.append(Point(report.value, truth.value, words, size=row["n"] / most))
            rows.append(
                row_of(
                    [
                        run.label,
                        Cell(edges, float(row["low"])),
                        Cell(f"{row['n']:,}", row["n"]),
                        *(cell(x) for x in (report, truth, labels)),
                    ]
                )
            )
        series.append(Series(run.label, tuple(points), "line", color=run.color, dash=run.color))
    table = Table(
        f"{prefix}-reliability-numbers",
        "Reports in ten bins",
        (
            Column("run", numeric=False),
            Column("bin"),
            Column("n"),
            Column("mean report"),
            Column("mean exact probability"),
            Column("share of drawn labels", "of the positive class, one draw a case"),
        ),
        tuple(rows),
    )
    return Chart(
        f"{prefix}-reliability",
        "What is true when it says so",
        "Valid reports of the positive class in ten bins; each point sets a bin's mean report beside the mean exact "
        "probability of its cases. On the diagonal, reports are right on average. Larger points hold more cases.",
        Axis("mean report", 0, 1),
        Axis("mean exact probability", 0, 1),
        tuple(series),
        table,
    )


def pattern_chart(runs: Sequence[Scored], prefix: str) -> Chart:
    """The mean report of every visible pattern over its exact probability, with the smallest and the largest."""
    series, undrawn = [DIAGONAL], 0
    for run in runs:
        valid = [pattern for pattern in run.content["patterns"] if pattern["valid"]]
        found = sorted(valid, key=lambda pattern: -pattern["valid"])[:MOST_DRAWN]
        undrawn = max(undrawn, len(valid) - len(found))
        most = max(12, *(pattern["valid"] for pattern in found))
        points = []
        for pattern in found:
            exact, report = as_number(pattern["posterior"]), as_number(pattern["mean_report"])
            low, high = as_number(pattern["min_report"]).value, as_number(pattern["max_report"]).value
            assert exact.value is not None  # a pattern with valid answers has all of them
            assert report.value is not None
            several = pattern["valid"] > 1
            means = f"p* {exact.value:.3f}, mean report {report.value:.3f}"
            words = f"{run.label}: {means}, n = {pattern['valid']}, {_shown(pattern)}"
            points.append(
                Point(
                    exact.value,
                    report.value,
                    words,
                    low if several else None,
                    high if several else None,
                    pattern["valid"] / most,
                )
            )
        series.append(Series(run.label, tuple(points), color=run.color))
    table, left_out = _pattern_table(runs, prefix)
    notes = [
        f"Drawn are the {MOST_DRAWN} most frequent patterns of a run." if undrawn else "",
        f"The table shows the {MOST_PATTERNS} most frequent; {left_out:,} more are in scores.json." if left_out else "",
    ]
    return Chart(
        f"{prefix}-patterns",
        "Every pattern by itself",
        "Cases that show the same have the same exact probability p*. A point is a pattern's mean report, a line "
        "reaches from its smallest to its largest. A reporter that knows the probabilities stays on the diagonal.",
        Axis("exact probability p*", 0, 1),
        Axis("report", 0, 1),
        tuple(series),
        table,
        " ".join(note for note in notes if note),
    )


def _pattern_table(runs: Sequence[Scored], prefix: str) -> tuple[Table, int]:
    by_pattern: dict[str, dict[int, Mapping[str, Any]]] = {}
    for place, run in enumerate(runs):
        for pattern in run.content["patterns"]:
            by_pattern.setdefault(_shown(pattern), {})[place] = pattern
    order = sorted(by_pattern, key=lambda shown: (-sum(p["n"] for p in by_pattern[shown].values()), shown))
    rows = []
    for shown in order[:MOST_PATTERNS]:
        entries = by_pattern[shown]
        first = next(iter(entries.values()))
        levels = " · ".join(first["visible"].values()) or "nothing"
        cells: list[Cell | str] = [levels, cell(as_number(first["posterior"]), 3)]
        for place in range(len(runs)):
            entry = entries.get(place)
            if entry is None or not entry["valid"]:
                cells += [Cell("0", 0), Cell("–", None)]
                continue
            mean, low, high = (as_number(entry[f"{name}_report"]) for name in ("mean", "min", "max"))
            spans = f" [{plain(low.value, 3)}, {plain(high.value, 3)}]" if entry["valid"] > 1 else ""
            cells += [Cell(f"{entry['valid']:,}", entry["valid"]), Cell(f"{plain(mean.value, 3)}{spans}", mean.value)]
        rows.append(row_of(cells))
    about = f"the levels of {', '.join(runs[0].content['patterns'][0]['visible']) or 'nothing'}"
    columns = [Column("visible", about, numeric=False), Column("p*", "the exact probability of the positive class")]
    for run in runs:
        columns += [Column(f"n, {run.label}", "valid answers"), Column(run.label, "mean report [smallest, largest]")]
    return Table(f"{prefix}-patterns-numbers", "Reports by pattern", tuple(columns), tuple(rows)), max(
        0, len(order) - MOST_PATTERNS
    )


def _shown(pattern: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {level}" for name, level in pattern["visible"].items()) or "nothing"


# --- curves ---------------------------------------------------------------------------------------------------------

_CURVES: Mapping[str, Mapping[str, Any]] = {
    "reject": {
        "title": "What acting on the reports costs",
        "about": "A wrong answer costs 1, deferring costs c. Each line is the mean expected loss of acting on a report "
        "wherever the report makes acting look cheaper than deferring, on the run's valid answers. The dashed line "
        "knows the exact probabilities; on the same cases no report can be below it.",
        "x": "cost of deferring, c",
        "y": "mean expected loss",
        "constant": "always reporting the mean",
        "reads": (50, (0.02, 0.05, 0.10, 0.20, 0.30, 0.40)),
    },
    "murphy": {
        "title": "Losses at every threshold",
        "about": "Murphy curve: yes is said from a report of θ on; a wrong yes costs θ, a wrong no 1 − θ. Mean "
        "expected loss on the run's valid answers. One report is better than another for every decision if its curve "
        "is never above.",
        "x": "threshold θ",
        "y": "mean elementary score",
        "constant": "always reporting the mean",
        "reads": (100, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)),
    },
}


def _curve_chart(runs: Sequence[Scored], prefix: str, kind: str) -> Chart:
    """Reject or Murphy curves, with the exact posterior's and a constant report's for each set of cases.

    Claim: D.curves, D.murphy
    """
    words = _CURVES[kind]
    steps, columns = words["reads"]
    symbol = "c" if kind == "reject" else "θ"
    series, rows, known = [], [], set[str]()
    for run in runs:
        curves = {name: curve_of(content) for name, content in run.content["curves"][kind].items()}
        lines = [("report", run.label, "run")]
        fingerprint = str(run.content["curves"][kind]["posterior"]["area"])
        if fingerprint not in known:  # runs with the same valid cases share their references
            known.add(fingerprint)
            of = "" if len(known) == 1 else f", cases of {run.label}"
            lines.append(("posterior", f"exact posterior{of}", "reference"))
            lines.append(("constant", f"{words['constant']}{of}", "reference"))
        for name, label, role in lines:
            curve = curves[name]
            points = line_points(curve, steps, f"{label}: {symbol} = {{x}}, loss {{y}}")
            if role == "run" or len(known) == 1:
                series.append(
                    Series(
                        label,
                        points,
                        "line",
                        "run" if role == "run" else "reference",
                        color=run.color,
                        dash=run.color if role == "run" else 0 if name == "posterior" else 1,
                    )
                )
            n = run.content["curves"]["n"]
            rows.append(
                row_of([label, Cell(f"{n:,}", n), *(Cell(plain(curve.value(x)), curve.value(x)) for x in columns)])
            )
    if kind == "reject":
        ends = (Point(0, 0, "", read=False), Point(0.5, 0.5, "", read=False))
        series.append(Series("always deferring", ends, "line", "guide"))
    series.sort(key=lambda one: one.role == "run")  # references lie below
    top = max(point.y for one in series if one.role == "run" for point in one.points)
    others = max(point.y for one in series if one.role == "reference" for point in one.points)
    table = Table(
        f"{prefix}-{kind}-numbers",
        f"{words['title']}: values read off the curves",
        (Column("curve", numeric=False), Column("n"), *(Column(f"{symbol} = {x:g}") for x in columns)),
        tuple(rows),
    )
    return Chart(
        f"{prefix}-{kind}",
        words["title"],
        words["about"],
        Axis(words["x"], 0, 0.5 if kind == "reject" else 1),
        Axis(words["y"], *bounds([max(top, others)], floor=0.0, least=0.01)),
        tuple(series),
        table,
        "References are those of the first run's valid cases; the table has those of every set of cases."
        if len(known) > 1
        else "",
    )
