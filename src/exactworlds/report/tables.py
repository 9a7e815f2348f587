"""The tables of a report: what came out, how requests ended, every figure, and where it all comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exactworlds.report.scored import Number, Scored, Section, as_number, configurations, group_name, spread
from exactworlds.report.values import (
    Cell,
    Column,
    Table,
    cell,
    interval,
    percent,
    plain,
    row_of,
    spread_cell,
    text,
    usd,
)

__all__ = [
    "case_summary",
    "contract_summary",
    "digests_table",
    "ends_table",
    "figures_table",
    "overview",
    "post_hoc_tables",
    "provenance_table",
    "seeds_table",
]

RUN = Column("run", numeric=False)
CLIPPED, UNCLIPPED = "kl_nats_clipped_0.001", "kl_nats_unclipped"
OVERVIEW = (
    (CLIPPED, True),
    ("expected_accuracy", True),
    ("bayes_accuracy_same_cases", True),
    ("tv", False),
    ("event_choice-pass", False),
)
"""The figures of the overview, and whether they are of cases or of cohorts."""


def overview(sections: Sequence[tuple[str, Section]]) -> Table | None:
    """One row a configuration, over all kinds of task (each with its heading); None where a summary says as much."""
    groups = [(heading, section, group) for heading, section in sections for group in configurations(section)]
    if len(sections) == 1 and all(len(group) == 1 for _, _, group in groups):
        return None
    rows = []
    for heading, section, group in groups:
        is_cases = section.kind == "cases"
        requests = sum(run.collection["requests"] for run in group)
        valid = sum(run.collection["states"]["valid"] for run in group)
        costs = [run.cost_per_thousand() for run in group]
        known = [cost.value for cost in costs if cost.value is not None]
        cost = Number(sum(known) / len(known) if len(known) == len(costs) else None)
        means = [
            spread_cell(spread([run.figure(name) for run in group])) if of_cases == is_cases else Cell("", None)
            for name, of_cases in OVERVIEW
        ]
        asked = Cell(f"{valid:,} of {requests:,}", valid)
        rows.append(row_of([group_name(group), heading, asked, percent(valid / requests), *means, usd(cost)]))
    draws = "mean ± sample standard deviation over the draws of its task, where there are several"
    columns = (
        Column("configuration", "runs that differ in nothing but the draw of their task", numeric=False),
        Column("asked", numeric=False),
        Column("n valid", "of the requests, in all draws"),
        Column("validity", "valid / requests, in all draws"),
        Column("KL, clipped", f"nats; reports clipped to [0.001, 0.999]; {draws}"),
        Column("expected accuracy", draws),
        Column("Bayes accuracy", f"on the same cases; {draws}"),
        Column("TV of the distribution", f"cohorts: total variation of the canonical report; {draws}"),
        Column("event and choice agree", f"cohorts: share of roots where both are within 0.05; {draws}"),
        Column("USD per 1,000", "list price per 1,000 answers"),
    )
    return Table("overview", "All configurations", columns, tuple(rows))


def case_summary(section: Section, prefix: str) -> Table:
    """What came out of runs over cases: n, validity and coverage beside every mean, raw scores where there are any."""
    rows = []
    raw = ("raw_kl_nats_clipped_0.001", "raw_total_variation", "raw_brier_score_binary")
    has_raw = any(run.content["raw_figures"] for run in section.runs)
    for run in section.runs:
        of = run.collection
        n = of["states"]["valid"]
        rows.append(
            row_of(
                [
                    run.label,
                    Cell(f"{n:,} of {of['requests']:,}", n),
                    percent(as_number(of["native_validity"]).value),
                    percent(as_number(of["coverage"]).value),
                    cell(run.figure(CLIPPED)),
                    cell(run.figure(UNCLIPPED)),
                    percent(run.figure("expected_accuracy").value),
                    percent(run.figure("bayes_accuracy_same_cases").value),
                    percent(run.figure("realised_accuracy").value),
                    cell(run.figure("total_variation")),
                    cell(run.figure("brier_score_binary")),
                    *([cell(run.figure(name)) for name in raw] if has_raw else []),
                    cell(run.figure("ece_exact_fixed_10")),
                    cell(run.figure("reject_regret_all@0.10")),
                    percent(run.figure("reject_coverage_all@0.10").value),
                    usd(run.cost_per_thousand()),
                ]
            )
        )
    columns = (
        RUN,
        Column("n valid", "the means of a row are over these answers, unless the column says all cases"),
        Column("validity", "native validity: valid / requests"),
        Column("coverage", "requests that ended as valid, rejected or unavailable / requests"),
        Column("KL, clipped", "nats; reports clipped to [0.001, 0.999], the exact probability never"),
        Column("KL, unclipped", "nats; infinite if a report excludes what can happen, with how many do"),
        Column("expected accuracy", "of the class that a report selects, by the exact probabilities"),
        Column("Bayes accuracy", "the best possible, on the same cases"),
        Column("realised accuracy", "against one drawn label a case"),
        Column("TV", "total variation, |report − p*|"),
        Column("Brier", "expected, one coordinate, in [0, 1]"),
        *(_raw_columns("KL, clipped", "TV", "Brier") if has_raw else ()),
        Column("ECE", "selected class against its exact probability, ten fixed bins"),
        Column("regret, all cases", "expected loss above the oracle's at a cost of deferring of 0.10; invalid defers"),
        Column("answered, all cases", "share of cases where the controller acts at a cost of 0.10"),
        Column("USD per 1,000", "list price per 1,000 answers"),
    )
    return Table(f"{prefix}-summary", "What came out", columns, tuple(rows))


def contract_summary(section: Section, prefix: str) -> Table:
    """What came out of runs over a cohort, with 95 % intervals."""
    rows = []
    has_raw = any(run.content["raw_figures"] for run in section.runs)
    for run in section.runs:
        slots, criterion = run.content["slots"]["all"], run.content["criterion"]
        valid = slots["ended"].get("valid", 0)
        cost = run.content["primary_cost"]
        failed, parts = len(criterion["failed"]), len(criterion["lower_bounds"]) + 1
        rows.append(
            row_of(
                [
                    run.label,
                    Cell(f"{valid:,} of {slots['eligible']:,}", valid),
                    percent(as_number(slots["native_validity"]).value),
                    percent(as_number(run.collection["coverage"]).value),
                    interval(run.figure("tv")),
                    *([cell(run.figure("raw_tv"))] if has_raw else []),
                    Cell(f"{run.figure('tv').n:,} of {run.figure('tv').of:,}", run.figure("tv").n),
                    interval(run.figure("event-error")),
                    interval(run.figure("choice-error")),
                    interval(run.figure(f"canonical-regret@{cost}")),
                    text("met" if criterion["passes"] else f"failed in {failed} of {parts} parts"),
                    usd(run.cost_per_thousand()),
                ]
            )
        )
    columns = (
        RUN,
        Column("n valid", "of the eligible requests"),
        Column("validity", "native validity: valid / eligible"),
        Column("coverage", "requests that ended as valid, rejected or unavailable / requests"),
        Column("TV of the distribution", "total variation of the canonical report, with 95 % interval"),
        *(_raw_columns("TV of the distribution") if has_raw else ()),
        Column("n roots", "roots with a valid canonical report"),
        Column("error of the event", "mean |report − exact|, 95 % interval"),
        Column("error of the choice", "mean |report − exact|, 95 % interval"),
        Column("regret, all roots", "canonical report at the primary cost of deferring; invalid defers"),
        Column(
            "criterion",
            "native validity of at least 99.5 %, and the lower end of each primary pass rate's interval at least 95 %",
            numeric=False,
        ),
        Column("USD per 1,000", "list price per 1,000 answers"),
    )
    return Table(f"{prefix}-summary", "What came out", columns, tuple(rows))


def _raw_columns(*names: str) -> list[Column]:
    """Columns of the scores of numbers as they were written; a run without rescaled answers has none."""
    return [
        Column(f"{name}, raw", "of the numbers as written, before they were rescaled to add up to 1") for name in names
    ]


def seeds_table(section: Section, prefix: str) -> Table | None:
    """Runs that differ only in the draw of their task, as mean ± sample standard deviation.

    Claim: F.seeds
    """
    groups = [group for group in configurations(section) if len(group) > 1]
    if not groups:
        return None
    shown = (
        (
            (CLIPPED, Column("KL, clipped", "nats; reports clipped to [0.001, 0.999]")),
            (UNCLIPPED, Column("KL, unclipped", "nats; infinite if one run's is")),
            ("expected_accuracy", Column("expected accuracy")),
            ("bayes_accuracy_same_cases", Column("Bayes accuracy", "on the same cases")),
            ("realised_accuracy", Column("realised accuracy")),
            ("brier_score_binary", Column("Brier", "one coordinate, in [0, 1]")),
        )
        if section.kind == "cases"
        else (
            ("tv", Column("TV of the distribution")),
            ("event-error", Column("error of the event")),
            ("choice-error", Column("error of the choice")),
        )
    )
    rows = []
    for group in groups:
        n = sum(run.collection["states"]["valid"] for run in group)
        validity = spread([as_number(run.collection["native_validity"]) for run in group])
        cells = [
            spread_cell(validity),
            *(spread_cell(spread([run.figure(name) for run in group])) for name, _ in shown),
        ]
        rows.append(row_of([group_name(group), Cell(f"{len(group)}", len(group)), Cell(f"{n:,}", n), *cells]))
    columns = (
        Column("runs", ", ".join(run.label for group in groups for run in group), numeric=False),
        Column("draws", "of the task, by seed"),
        Column("n valid", "in all of them"),
        Column("validity"),
        *(column for _, column in shown),
    )
    return Table(f"{prefix}-seeds", "Over draws of the task: mean ± sample standard deviation", columns, tuple(rows))


def ends_table(section: Section, prefix: str) -> Table:
    """How every request ended, and what it took."""
    reasons = list(dict.fromkeys(reason for run in section.runs for reason in run.collection["reasons"]))
    states = ("valid", "rejected", "unavailable", "interrupted", "not-acquired")
    rows = []
    for run in section.runs:
        of = run.collection
        rescaled, mass = of["rescaled"], of["label_mass"]
        totals = [of["input_tokens"], of["output_tokens"]]
        seconds, cost = as_number(of["seconds"]["mean"]), as_number(of["cost"]["usd"])
        rows.append(
            row_of(
                [
                    run.label,
                    Cell(f"{of['requests']:,}", of["requests"]),
                    *(Cell(f"{of['states'][state]:,}", of["states"][state]) for state in states),
                    *(Cell(f"{of['reasons'].get(reason, 0):,}", of["reasons"].get(reason, 0)) for reason in reasons),
                    percent(as_number(of["service_availability"]).value),
                    percent(as_number(rescaled["share"]).value),
                    cell(as_number(rescaled["largest_gap"])),
                    cell(as_number(mass["mean"])),
                    Cell(f"{of['attempts']:,}", of["attempts"]),
                    *(_tokens(total, of["served"]) for total in totals),
                    usd(cost),
                    Cell("unknown" if seconds.value is None else plain(seconds.value, 3), seconds.value),
                ]
            )
        )
    columns = (
        RUN,
        Column("requests"),
        *(Column(state.replace("-", " ")) for state in states),
        *(Column(f"rejected: {reason}") for reason in reasons),
        Column("availability", "(valid + rejected after HTTP 200) / requests"),
        Column("rescaled", "of the valid answers, those whose numbers did not add up to exactly 1"),
        Column("largest |Σ − 1|", "among valid answers"),
        Column("label mass", "mean probability of all options together, where it is known"),
        Column("attempts"),
        Column("tokens in", "as the service says; n where not every answer says it"),
        Column("tokens out", "as the service says; n where not every answer says it"),
        Column("USD", "list price"),
        Column("seconds a request", "mean over those that say it"),
    )
    return Table(f"{prefix}-ends", "How the requests ended", columns, tuple(rows))


def figures_table(section: Section, prefix: str) -> Table:
    """Every figure of every run; raw ones, where answers were rescaled, are named so."""
    names: dict[str, None] = {}
    for run in section.runs:
        names |= dict.fromkeys(run.content["figures"])
    for run in section.runs:
        names |= dict.fromkeys(run.content["raw_figures"])
    rows = []
    for name in names:
        found = [run.figure(name) for run in section.runs]
        rows.append(row_of([name, *(interval(x, 6) if x.low is not None else cell(x, 6, with_n=True) for x in found)]))
    columns = (Column("figure", numeric=False), *(Column(run.label) for run in section.runs))
    return Table(f"{prefix}-figures", "Every figure", columns, tuple(rows))


def post_hoc_tables(section: Section, prefix: str) -> list[Table]:
    """Complement sums, calibration of the selected class, and selective use of the mean report.

    Claim: E.tables
    """
    tables = []
    for key, caption, fields in (
        ("complement", "Sums of an event's report and its complement's", None),
        ("calibration", "Calibration errors of the selected class", ("against_exact", "against_labels")),
        ("selective", "Loss when half the roots act on the mean report", ("losses",)),
    ):
        found = [(run, run.content[key]) for run in section.runs if "undefined" not in run.content[key]]
        if not found:
            continue
        flat = [(run, _flat(content, fields)) for run, content in found]
        names = list(dict.fromkeys(name for _, content in flat for name in content))
        rows = tuple(row_of([run.label, *(cell(as_number(content[n])) for n in names)]) for run, content in flat)
        columns = (RUN, *(Column(name.replace("_", " ")) for name in names))
        tables.append(Table(f"{prefix}-{key}", caption, columns, rows))
    return tables


def provenance_table(runs: Sequence[Scored]) -> Table:
    """Who was asked, how, and at which price; no key and no path."""
    rows = []
    for run in runs:
        price = run.collection["cost"]["price"]
        answered = ", ".join(f"{model} ({count:,})" for model, count in run.collection["models"].items()) or "not said"
        settings = ", ".join(f"{key} = {value}" for key, value in run.run["settings"].items()) or "none"
        priced = (
            "unknown"
            if price is None
            else f"{price['input_usd_per_million']} in, {price['output_usd_per_million']} out; {price['source']}, "
            f"{price['date']} ({price['kind']})"
        )
        cells = (run.label, run.run["backend"], run.run["model"], answered, run.run["endpoint"], run.run["step"])
        rows.append(row_of([*map(text, cells), text(settings), text(priced), text(run.content["exactworlds"])]))
    columns = [
        RUN,
        *(Column(name, numeric=False) for name in ("backend", "model", "answered by", "endpoint")),
        Column("declared step", "precision of the reported numbers; 0 is exact", numeric=False),
        Column("settings", numeric=False),
        Column("price, USD per million tokens", numeric=False),
        Column("scored by exactworlds", numeric=False),
    ]
    return Table("provenance", "Who was asked", tuple(columns), tuple(rows))


def digests_table(runs: Sequence[Scored]) -> Table:
    """The SHA-256 of everything that each run's scores were computed from."""
    rows = [
        row_of([run.label, name, Cell(digest, digest)])
        for run in runs
        for name, digest in run.content["inputs"].items()
    ]
    columns = (RUN, Column("file", numeric=False), Column("SHA-256", numeric=False))
    return Table("digests", "What the scores were computed from", columns, tuple(rows))


def _tokens(total: Mapping[str, Any], answers: int) -> Cell:
    """A sum of tokens, and over how many answers where some do not say theirs."""
    number = as_number(total["sum"])
    if number.value is None:
        return Cell("unknown", None)
    partly = "" if total["n"] >= answers else f" (n\u00a0=\u00a0{total['n']:,} of {answers:,})"
    return Cell(f"{number.value:,.0f}{partly}", number.value)


def _flat(content: Mapping[str, Any], fields: Sequence[str] | None) -> dict[str, Mapping[str, Any]]:
    if fields is None:
        return {name: value for name, value in content.items() if isinstance(value, Mapping)}
    prefixed = len(fields) > 1
    return {
        f"{field} {name}" if prefixed else name: value for field in fields for name, value in content[field].items()
    }
