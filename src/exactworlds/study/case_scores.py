"""The figures of a run over cases: every mean on the answers that are valid, and the losses that also count the others.

A figure's name says its convention. `valid` figures are means over the cases with a valid answer; `all` figures are
over every case of the task, where an answer that is not valid defers. The raw figures take the number as it was
written, before it was rescaled, and 1 minus it. What is not here: curves and tables (`study.case_tables`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from exactworlds.metrics import (
    BIN_COUNTS,
    DEFER,
    PRIMARY_COSTS,
    Undefined,
    actions_binary,
    brier_score_binary,
    calibration_error,
    confidences_binary,
    expected_accuracy_binary,
    expected_loss_binary,
    kl_nats_binary,
    log_loss_binary,
    oracle_loss_binary,
    realised_accuracy_binary,
    realised_brier_score_binary,
    realised_log_loss_binary,
    total_variation_binary,
    weighted_mean,
)
from exactworlds.rational import decimal_digits
from exactworlds.study.joining import CaseRow

__all__ = ["CLIP", "CaseFigure", "case_figures", "cost_text", "raw_figures", "tied_reports"]

CLIP = ("0.001", "0.999")
"""P1's tables clip the report's probability to this interval; the target is never clipped."""

HALF = Fraction(1, 2)


@frozen
class CaseFigure:
    """A mean over `n` of `of` cases, `infinite` of which are infinite; or why there is none."""

    value: Fraction | float | Undefined
    n: int
    of: int
    infinite: int = 0


def case_figures(rows: Sequence[CaseRow]) -> dict[str, CaseFigure]:
    """Every figure of a run by name.

    Claim: C.expected-accuracy, C.kl, C.tv, C.brier, C.log-loss, D.controller, D.regret, D.coverage, F.ece
    """
    kept = [row for row in rows if row.report is not None]
    figures = dict(_scores(kept, [_present(row.report) for row in kept], len(rows)))
    every = [row.posterior for row in rows]
    figures["bayes_accuracy_all_cases"] = _figure([max(q, 1 - q) for q in every], len(rows))
    figures |= dict(_calibration(kept, len(rows)))
    for cost in PRIMARY_COSTS:
        figures |= {f"{name}@{cost_text(cost)}": found for name, found in _decisions(rows, kept, cost)}
    return figures


def raw_figures(rows: Sequence[CaseRow]) -> dict[str, CaseFigure]:
    """The scores of the numbers as they were written; empty where no answer was rescaled.

    A number above 1 is no probability and has no score: n says how many there are.
    """
    kept = [row for row in rows if row.raw_report is not None]
    if all(row.end.total == 1 for row in kept):
        return {}
    usable = [row for row in kept if _present(row.raw_report) <= 1]
    reports = [_present(row.raw_report) for row in usable]
    return {f"raw_{name}": found for name, found in _scores(usable, reports, len(rows))}


def cost_text(cost: Fraction) -> str:
    """A cost as the names of figures write it.

    >>> cost_text(Fraction(1, 10))
    '0.10'
    """
    return decimal_digits(cost, 2)


def tied_reports(rows: Sequence[CaseRow]) -> int:
    """How many valid reports are exactly ½, and therefore select the negative class.

    Claim: C.expected-accuracy
    """
    return sum(row.report == HALF for row in rows)


def _scores(rows: Sequence[CaseRow], reports: Sequence[Fraction], of: int) -> Iterator[tuple[str, CaseFigure]]:
    p, q = list(reports), [row.posterior for row in rows]
    y = [int(row.positive) for row in rows]

    def each(score: Callable[..., Any], **arguments: object) -> CaseFigure:
        return _figure(np.asarray(score(**arguments)).tolist() if rows else [], of)

    yield "expected_accuracy", each(expected_accuracy_binary, report=p, target=q)
    yield "bayes_accuracy_same_cases", _figure([max(x, 1 - x) for x in q], of)
    yield "realised_accuracy", each(realised_accuracy_binary, report=p, label=y)
    yield "kl_nats_unclipped", each(kl_nats_binary, report=p, target=q)
    yield "kl_nats_clipped_0.001", each(kl_nats_binary, report=p, target=q, clip=CLIP)
    yield "total_variation", each(total_variation_binary, report=p, target=q)
    yield "brier_score_binary", each(brier_score_binary, report=p, target=q)
    yield "brier_score_binary_realised", each(realised_brier_score_binary, report=p, label=y)
    yield "log_loss_nats", each(log_loss_binary, report=p, target=q)
    yield "log_loss_nats_realised", each(realised_log_loss_binary, report=p, label=y)


def _calibration(rows: Sequence[CaseRow], of: int) -> Iterator[tuple[str, CaseFigure]]:
    """ECE of the selected class, against its exact probability and against the drawn labels.

    Claim: F.ece
    """
    schemes = [(f"fixed_{bins}", bins, "fixed") for bins in BIN_COUNTS]
    schemes.append(("equal_frequency_10", 10, "equal_frequency"))
    against: Mapping[str, dict[str, Any]] = {
        "exact": {"target": [row.posterior for row in rows]},
        "labels": {"label": [int(row.positive) for row in rows]},
    }
    for kind, truth in against.items():
        pairs = confidences_binary(report=[row.report for row in rows], **truth) if rows else None
        for name, bins, strategy in schemes:
            if pairs is None:
                yield f"ece_{kind}_{name}", _figure([], of)
                continue
            accuracy = [Fraction(int(a)) if kind == "labels" else a for a in pairs.accuracy.tolist()]
            error = calibration_error(
                confidence=pairs.confidence.tolist(), accuracy=accuracy, bins=bins, strategy=strategy
            )
            yield f"ece_{kind}_{name}", CaseFigure(Fraction(error), len(rows), of)


def _decisions(rows: Sequence[CaseRow], kept: Sequence[CaseRow], cost: Fraction) -> Iterator[tuple[str, CaseFigure]]:
    """Losses of the reject-option controller and of who knows the exact probability, and how far they are apart.

    Claim: D.controller, D.regret, D.coverage
    """
    for scope, chosen in (("valid", kept), ("all", rows)):
        if not chosen:
            for name in ("loss", "oracle_loss", "regret", "coverage"):
                yield f"reject_{name}_{scope}", _figure([], len(rows))
            continue
        q = [row.posterior for row in chosen]
        is_valid = [row.report is not None for row in chosen]
        stand_in = [row.report if row.report is not None else Fraction(0) for row in chosen]
        actions = actions_binary(report=stand_in, cost=cost, valid=is_valid)
        losses = _fractions(expected_loss_binary(action=actions, target=q, cost=cost))
        least = _fractions(oracle_loss_binary(target=q, cost=cost))
        answered = [Fraction(int(action) != DEFER) for action in np.asarray(actions).tolist()]
        yield f"reject_loss_{scope}", _figure(losses, len(rows))
        yield f"reject_oracle_loss_{scope}", _figure(least, len(rows))
        yield f"reject_regret_{scope}", _figure([a - b for a, b in zip(losses, least, strict=True)], len(rows))
        yield f"reject_coverage_{scope}", _figure(answered, len(rows))


def _figure(values: Sequence[Any], of: int) -> CaseFigure:
    if not len(values):
        return CaseFigure(Undefined("no answer is valid", {"valid": 0, "cases": of}), 0, of)
    mean = weighted_mean([Fraction(value) if isinstance(value, int) else value for value in values])
    return CaseFigure(mean.value, mean.count, of, mean.infinite)


def _fractions(values: Any) -> list[Fraction]:
    return [Fraction(value) for value in np.asarray(values).tolist()]


def _present(value: Fraction | None) -> Fraction:
    assert value is not None
    return value
