"""The content of `scores.json`: everything that is reported of a run, unrounded, as plain JSON values.

    value       the nearest float, "inf" for infinity, null where there is no number (then `undefined` says why)
    exact       the same as a fraction, where it is one
    n, of       how many cases (or roots) the mean is over, and how many there are

The content is a pure function of the run's inputs: no clock, no path. What is not here: the meaning of a figure
(`study.case_scores`, `study.cohort`) and the file (`files.scores`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from exactworlds.collect.ends import End
from exactworlds.metrics import PRIMARY_COSTS, ExactCurve, ReliabilityRow, Undefined, reject_grid
from exactworlds.metrics.curves import THETA_GRID
from exactworlds.rational import exact_text
from exactworlds.spec.prices import Price
from exactworlds.study.case_scores import CaseFigure, case_figures, cost_text, raw_figures, tied_reports
from exactworlds.study.case_tables import Pattern, case_curves, pattern_table, reliability
from exactworlds.study.cohort import Slots
from exactworlds.study.contract_scores import ContractScores
from exactworlds.study.figures import Figure
from exactworlds.study.joining import CaseRow, ContractRows
from exactworlds.study.validity import Collection, Total, collection, cost_of

__all__ = ["case_content", "collection_content", "contract_content", "curve_content", "number"]


def case_content(rows: Sequence[CaseRow], price: Price | None) -> dict[str, Any]:
    """Everything about a run over cases."""
    ends = [row.end for row in rows]
    curves = case_curves(rows)
    tables = reliability(rows)
    return {
        "collection": collection_content(ends, price),
        "costs": [cost_text(cost) for cost in PRIMARY_COSTS],
        "tied_reports": tied_reports(rows),
        "figures": {name: _case_figure(found) for name, found in case_figures(rows).items()},
        "raw_figures": {name: _case_figure(found) for name, found in raw_figures(rows).items()},
        "curves": None
        if curves is None
        else {
            "n": curves.n,
            "constant_report": number(curves.constant_report),
            "reject": {name: curve_content(curve) for name, curve in curves.reject.items()},
            "murphy": {name: curve_content(curve) for name, curve in curves.murphy.items()},
        },
        "reliability": None
        if tables is None
        else {
            "positive_exact": [_bin(row) for row in tables.positive_exact],
            "positive_labels": [_bin(row) for row in tables.positive_labels],
            "selected_exact": [_bin(row) for row in tables.selected_exact],
            "selected_labels": [_bin(row) for row in tables.selected_labels],
        },
        "patterns": [_pattern(pattern) for pattern in pattern_table(rows)],
    }


def contract_content(rows: ContractRows, scores: ContractScores, price: Price | None) -> dict[str, Any]:
    """Everything about a run over a cohort."""
    name, cohort = rows.run.name, scores.cohort
    criterion = cohort.criteria[name]
    return {
        "collection": collection_content([end for _, end in rows.pairs], price),
        "slots": {
            "all": _slots(cohort.slots[name]),
            **{each: _slots(found) for each, found in cohort.slots_by_variant[name].items()},
        },
        "strata": list(cohort.strata),
        "support": dict(cohort.support[name]),
        "costs": {grid: list(costs) for grid, costs in scores.costs.items()},
        "primary_cost": scores.primary_cost,
        "bootstrap": {"seed": scores.seed, "replicates": scores.replicates},
        "figures": {key.removeprefix(f"{name}/"): _cohort_figure(found) for key, found in cohort.figures.items()},
        "raw_figures": {key: _cohort_figure(found) for key, found in scores.raw.items()},
        "best_fixed": {
            cost: {"action": action, "loss": number(loss)} for cost, (action, loss) in cohort.best_fixed.items()
        },
        "criterion": {
            "passes": criterion.passes,
            "failed": list(criterion.failed),
            "native_validity": number(criterion.native_validity),
            "lower_bounds": {
                relation: None if low is None else number(low) for relation, low in criterion.lower_bounds.items()
            },
        },
        "complement": _table(scores.complement),
        "calibration": _table(scores.calibration),
        "selective": _table(scores.selective),
        "signs": _table(scores.signs),
        "curves": {
            "reject": _grids(scores.reject, "reject"),
            "murphy": _grids(scores.murphy, "murphy"),
        },
    }


def collection_content(ends: Sequence[End], price: Price | None) -> dict[str, Any]:
    """How the requests ended, what was used and what it cost."""
    found, cost = collection(ends), cost_of(ends, price)
    return {
        "requests": found.requests,
        "states": dict(found.states),
        "reasons": dict(found.reasons),
        "served": found.served,
        "attempts": found.attempts,
        "native_validity": number(found.native_validity),
        "service_availability": number(found.service_availability),
        "coverage": number(found.coverage),
        "rescaled": {
            "count": found.rescaled,
            "share": number(found.share_rescaled),
            "largest_gap": number(found.largest_gap),
        },
        "models": dict(found.models),
        "several_models": found.has_several_models,
        "label_mass": _label_mass(found),
        "input_tokens": _total(found.input_tokens),
        "output_tokens": _total(found.output_tokens),
        "seconds": _total(found.seconds),
        "cost": {
            "usd": number(cost.usd),
            "usd_per_request": number(cost.usd_per_request),
            "n": cost.priced,
            "of": cost.answered,
            "price": None if cost.price is None else _price(cost.price),
        },
    }


def number(value: object) -> dict[str, Any]:
    """A number with what is exact about it; an undefined one with its reason.

    >>> number(Fraction(1, 4)), number(math.inf)
    ({'value': 0.25, 'exact': '1/4'}, {'value': 'inf'})
    """
    if isinstance(value, Undefined):
        return {"value": None, "undefined": value.reason, **({"counts": dict(value.counts)} if value.counts else {})}
    if isinstance(value, Fraction | int):
        return {"value": float(value), "exact": _fraction_text(Fraction(value))}
    assert isinstance(value, float)
    return {"value": "inf" if value == math.inf else value}


def _fraction_text(value: Fraction) -> str:
    """Python refuses to write integers of more than 4,300 digits; decimals have no such limit."""
    top = str(Decimal(value.numerator))
    return top if value.denominator == 1 else f"{top}/{Decimal(value.denominator)}"


def _case_figure(found: CaseFigure) -> dict[str, Any]:
    return {**number(found.value), "n": found.n, "of": found.of, "infinite": found.infinite}


def _cohort_figure(found: Figure) -> dict[str, Any]:
    content = {**number(found.value), "n": found.n, "of": found.intended, "infinite": found.infinite}
    for name, end in (("low", found.low), ("high", found.high)):
        content[name] = None if end is None else number(end)["value"]
    return {**content, "dropped": found.dropped, "empty_strata": list(found.empty_strata)}


def _slots(found: Slots) -> dict[str, Any]:
    return {
        "intended": found.intended,
        "eligible": found.eligible,
        "ended": dict(found.ended),
        "reasons": dict(found.reasons),
        "native_validity": number(found.native_validity if found.eligible else Undefined("nothing is eligible")),
        "service_availability": number(
            found.service_availability if found.eligible else Undefined("nothing is eligible")
        ),
    }


def _total(found: Total) -> dict[str, Any]:
    mean = found.sum / found.n if found.n else Undefined("no answer says it")
    return {"sum": number(found.sum if found.n else mean), "mean": number(mean), "n": found.n}


def _label_mass(found: Collection) -> dict[str, Any]:
    least = found.smallest_label_mass
    return {
        **_total(found.label_mass),
        "smallest": number(Undefined("no answer says it") if least is None else least),
    }


def _price(price: Price) -> dict[str, str]:
    return {
        "backend": price.backend,
        "model": price.model,
        "input_usd_per_million": price.input.raw,
        "output_usd_per_million": price.output.raw,
        "kind": price.kind,
        "source": price.source,
        "date": price.date,
    }


def curve_content(curve: ExactCurve) -> dict[str, Any]:
    """An exact curve by its breakpoints: the values left of, at and right of each, and the limits at both ends."""
    (first_a, first_b), (last_a, last_b) = curve.segments[0], curve.segments[-1]
    return {
        "low": exact_text(curve.low),
        "high": exact_text(curve.high),
        "at_low": _fraction_text(first_a + first_b * curve.low),
        "at_high": _fraction_text(last_a + last_b * curve.high),
        "breakpoints": [_fraction_text(x) for x in curve.breakpoints],
        "left": [_fraction_text(x) for x in curve.left],
        "at": [_fraction_text(x) for x in curve.at],
        "right": [_fraction_text(x) for x in curve.right],
        "area": number(curve.integral()),
    }


def _grids(curves: Mapping[str, ExactCurve] | Undefined, kind: str) -> dict[str, Any]:
    """Curves over a cohort at the papers' grid: each value is the nearest float of the exact one; areas are exact."""
    if isinstance(curves, Undefined):
        return number(curves)
    step = "k/200, k = 1 … 99" if kind == "reject" else "k/200, k = 1 … 199"
    grids = {
        name: reject_grid(curve) if kind == "reject" else [curve.value(theta) for theta in THETA_GRID]
        for name, curve in curves.items()
    }
    return {
        "grid": step,
        "values": {name: [float(value) for value in values] for name, values in grids.items()},
        "area": {name: number(curve.integral()) for name, curve in curves.items()},
        "breakpoints": {name: len(curve.breakpoints) for name, curve in curves.items()},
    }


def _bin(row: ReliabilityRow) -> dict[str, Any]:
    return {
        "low": exact_text(row.low),
        "high": exact_text(row.high),
        "n": row.count,
        "report": number(row.confidence),
        "truth": number(row.accuracy),
    }


def _pattern(pattern: Pattern) -> dict[str, Any]:
    def given(value: Fraction | None) -> dict[str, Any]:
        return number(Undefined("no answer is valid") if value is None else value)

    return {
        "visible": dict(pattern.visible),
        "posterior": number(pattern.posterior),
        "n": pattern.n,
        "valid": pattern.valid,
        "mean_report": given(pattern.mean),
        "min_report": given(pattern.low),
        "max_report": given(pattern.high),
    }


def _table(found: object) -> dict[str, Any]:
    """A table of numbers by name, whatever its class; mappings in it become tables of their own."""
    if isinstance(found, Undefined):
        return number(found)
    content: dict[str, Any] = {}
    for key in getattr(type(found), "__annotations__", {}):
        value = getattr(found, key)
        if isinstance(value, Mapping):
            content[key] = {name: number(each) for name, each in value.items()}
        else:
            content[key] = value if isinstance(value, int) else number(value)
    return content
