"""Everything that is reported of one run over a cohort: the figures of `study.cohort` and the post-hoc tables.

Cost grids are those of the task's origin and are never pooled; a cost that stands in two grids is scored once.
Intervals use the papers' replicates and seed. What is not here: how roots are scored (`study.cohort` and
`study.post_hoc`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from exactworlds.errors import UsageError
from exactworlds.metrics import REPLICATES, SEEDS, ComplementSums, ExactCurve, GridSigns, Undefined
from exactworlds.metrics.divergences import total_variation_formula
from exactworlds.metrics.scores import brier_score_formula
from exactworlds.rational import parse_exact
from exactworlds.study.cohort import CohortScores, score_cohort
from exactworlds.study.figures import Figure, Series, figure
from exactworlds.study.joining import ContractRows
from exactworlds.study.post_hoc import (
    CalibrationTable,
    SelectiveTable,
    calibration_table,
    complement_table,
    murphy_curves,
    reject_curves,
    selective_table,
    sweep_signs,
)

__all__ = ["ContractScores", "bootstrap_seed", "cost_grids", "raw_contract_figures", "score_contracts"]


def bootstrap_seed(cohort: str) -> int:
    """The seed of a cohort's intervals: the published one, or that of the primary cohort."""
    return SEEDS.get(cohort, SEEDS["primary"])


@frozen
class ContractScores:
    """The scores of a run over a cohort, and the tables beside them."""

    cohort: CohortScores
    costs: Mapping[str, tuple[str, ...]]
    primary_cost: str
    seed: int
    replicates: int
    raw: Mapping[str, Figure]
    complement: ComplementSums | Undefined
    calibration: CalibrationTable | Undefined
    selective: SelectiveTable
    reject: Mapping[str, ExactCurve] | Undefined
    murphy: Mapping[str, ExactCurve] | Undefined
    signs: GridSigns | Undefined


def score_contracts(
    rows: ContractRows, origin: Mapping[str, Any], *, seed: int, replicates: int = REPLICATES
) -> ContractScores:
    """Scores a run over the roots of its cohort.

    Claim: E.tables
    """
    costs, primary = cost_grids(origin)
    distinct = sorted({cost for grid in costs.values() for cost in grid}, key=parse_exact)
    scores = score_cohort(
        rows.truths, [rows.run], costs=distinct, seed=seed, replicates=replicates, variants=rows.variants
    )
    reject = reject_curves(rows.truths, rows.run)
    return ContractScores(
        cohort=scores,
        costs=costs,
        primary_cost=primary,
        seed=seed,
        replicates=replicates,
        raw=raw_contract_figures(rows),
        complement=complement_table(rows.truths, rows.run),
        calibration=calibration_table(rows.truths, rows.run),
        selective=selective_table(rows.truths, rows.run, cost=primary),
        reject=reject,
        murphy=murphy_curves(rows.truths, rows.run),
        signs=reject if isinstance(reject, Undefined) else sweep_signs(reject),
    )


def cost_grids(origin: Mapping[str, Any]) -> tuple[dict[str, tuple[str, ...]], str]:
    """The cost grids of a task by name, and the cost that is reported first."""
    try:
        grids = {str(name): tuple(_cost(cost) for cost in grid) for name, grid in origin["costs"].items()}
        return grids, _cost(origin["primary_cost"])
    except (KeyError, TypeError, AttributeError):
        raise UsageError("the origin of the targets has no costs, expected that of a task of contracts") from None


def raw_contract_figures(rows: ContractRows) -> dict[str, Figure]:
    """The scores of the numbers as they were written, before they were rescaled; empty where none was.

    Their sum is not 1, so that the bare formulas are used: ½ Σ |p − q| and Σ (p − q)² + 1 − Σ q².
    """
    answers = {
        variant: [rows.run.answer(truth.id, variant) for truth in rows.truths]
        for variant in ("canonical", "event", "choice")
    }
    if all(answer.total == 1 for found in answers.values() for answer in found):
        return {}
    strata = [truth.stratum for truth in rows.truths]
    return {name: figure(values, strata) for name, values in _raw_series(rows, answers)}


def _raw_series(rows: ContractRows, answers: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, Series]]:
    for name, formula in (("raw_tv", total_variation_formula), ("raw_brier", brier_score_formula)):
        yield (
            name,
            [
                Fraction(formula([p * answer.total for p in answer.report], list(truth.posterior)))
                if answer.report is not None
                else None
                for truth, answer in zip(rows.truths, answers["canonical"], strict=True)
            ],
        )
    for variant in ("event", "choice"):
        yield (
            f"raw_{variant}_error",
            [
                abs(answer.report * answer.total - truth.event) if answer.report is not None else None
                for truth, answer in zip(rows.truths, answers[variant], strict=True)
            ],
        )


def _cost(text: object) -> str:
    if not isinstance(text, str) or not 0 < parse_exact(text) < 1:
        raise UsageError(f"the origin of the targets has the cost {text!r}, expected a number between 0 and 1")
    return text
