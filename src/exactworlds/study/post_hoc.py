"""The post-hoc tables of a cohort: complement sums, calibration, cost sweeps, and selective use of the mean report.

Each takes the truths and one run and uses the roots where what it needs is valid, with the stratum weights of that
support. What is not here: figures with intervals (`study.cohort`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from exactworlds.metrics import (
    BIN_COUNTS,
    ComplementSums,
    ExactCurve,
    GridSigns,
    Undefined,
    area_under_curve,
    calibration_error,
    complement_sums,
    grid_signs,
    murphy_curve,
    policy_losses,
    reject_curve,
    selective_loss,
    selective_retention,
    stratum_weights,
)
from exactworlds.study.reports import RootTruth, Run

__all__ = [
    "CalibrationTable",
    "SelectiveTable",
    "calibration_table",
    "complement_table",
    "murphy_curves",
    "reject_curves",
    "selective_table",
    "sweep_signs",
]

HALF = Fraction(1, 2)


@frozen
class Pairs:
    """The roots where Event and Choice are both valid, as columns, with their weights."""

    truths: tuple[RootTruth, ...]
    event: tuple[Fraction, ...]
    choice: tuple[Fraction, ...]
    weights: Any

    @property
    def target(self) -> list[Fraction]:
        return [truth.event for truth in self.truths]

    @property
    def midpoint(self) -> list[Fraction]:
        return [(p + r) / 2 for p, r in zip(self.event, self.choice, strict=True)]


@frozen
class CalibrationTable:
    """ECE of the top class of valid canonical reports, by scheme; against labels, and against the exact mass.

    Claim: F.ece
    """

    roots: int
    against_exact: Mapping[str, Fraction]
    against_labels: Mapping[str, Fraction]


@frozen
class SelectiveTable:
    """Loss when half the weight acts on the mean report and the rest defers, by what selects it.

    Claim: E.selective
    """

    retained: Fraction
    losses: Mapping[str, Fraction]
    auroc: Fraction | Undefined


def complement_table(truths: Sequence[RootTruth], run: Run) -> ComplementSums | Undefined:
    """The signed sums p(A) + p(¬A).

    Claim: E.complement-sums, E.tables
    """
    pairs = _pairs(truths, run, "event", "complement")
    if pairs is None:
        return Undefined("no root has both reports valid")
    return complement_sums(event=list(pairs.event), complement=list(pairs.choice), weights=pairs.weights)


def calibration_table(truths: Sequence[RootTruth], run: Run) -> CalibrationTable | Undefined:
    """Reliability of the selected class, with fixed bins and with one equal-frequency scheme.

    Claim: F.ece, E.tables
    """
    rows = [(truth, run.report(truth.id, "canonical")) for truth in truths]
    kept = [(truth, report) for truth, report in rows if isinstance(report, tuple)]
    if not kept:
        return Undefined("no canonical report is valid")
    weights = stratum_weights([truth.stratum for truth, _ in kept]).weights
    tops = [max(range(len(report)), key=lambda k: (report[k], -k)) for _, report in kept]
    confidence = [report[top] for (_, report), top in zip(kept, tops, strict=True)]
    mass = [truth.posterior[top] for (truth, _), top in zip(kept, tops, strict=True)]
    labelled = all(truth.outcome is not None for truth, _ in kept)
    hits = [Fraction(truth.outcome == top) for (truth, _), top in zip(kept, tops, strict=True)]

    def errors(accuracy: Sequence[Fraction]) -> dict[str, Fraction]:
        schemes = [(f"fixed {bins}", bins, "fixed") for bins in BIN_COUNTS]
        schemes.append(("equal frequency 10", 10, "equal_frequency"))
        return {
            name: Fraction(
                calibration_error(
                    confidence=confidence, accuracy=accuracy, bins=bins, strategy=strategy, weights=weights
                )
            )
            for name, bins, strategy in schemes
        }

    return CalibrationTable(len(kept), errors(mass), errors(hits) if labelled else {})


def reject_curves(truths: Sequence[RootTruth], run: Run) -> dict[str, ExactCurve] | Undefined:
    """Exact mean losses of the pair policies as functions of the cost, on paired-valid roots.

    Claim: D.curves
    """
    pairs = _pairs(truths, run, "event", "choice")
    if pairs is None:
        return Undefined("no root has both reports valid")
    return {
        policy: reject_curve(
            policy=policy,
            event=list(pairs.event),
            choice=list(pairs.choice),
            target=pairs.target,
            weights=pairs.weights,
        )
        for policy in ("event", "choice", "random", "mean", "agreement", "oracle")
    }


def sweep_signs(curves: Mapping[str, ExactCurve]) -> GridSigns:
    """Signs of Mean − Random at c = k/200, and where both beat always deferring (P2 Table 30).

    Claim: D.curves, E.tables
    """
    return grid_signs(mean=curves["mean"], random=curves["random"])


def murphy_curves(truths: Sequence[RootTruth], run: Run) -> dict[str, ExactCurve] | Undefined:
    """Murphy curves of Event, Choice, Random, Mean and the oracle, on paired-valid roots.

    Claim: D.murphy
    """
    pairs = _pairs(truths, run, "event", "choice")
    if pairs is None:
        return Undefined("no root has both reports valid")
    shown: dict[str, list[Sequence[Fraction]]] = {
        "event": [pairs.event],
        "choice": [pairs.choice],
        "random": [pairs.event, pairs.choice],
        "mean": [pairs.midpoint],
        "oracle": [],
    }
    return {
        name: murphy_curve(target=pairs.target, reports=[list(r) for r in reports], weights=pairs.weights)
        for name, reports in shown.items()
    }


def selective_table(
    truths: Sequence[RootTruth], run: Run, *, cost: str = "0.10", retained: Fraction = HALF
) -> SelectiveTable:
    """Selecting roots by disagreement, by confidence, by class excess risk, or at random (P2 Table 31).

    Every strategy uses the mean report's class on what it keeps; the rest defers, as do incomplete pairs.

    Claim: E.selective, E.tables
    """
    weights = stratum_weights([truth.stratum for truth in truths]).weights
    events = [run.report(truth.id, "event") for truth in truths]
    choices = [run.report(truth.id, "choice") for truth in truths]
    complete = [isinstance(p, Fraction) and isinstance(r, Fraction) for p, r in zip(events, choices, strict=True)]
    p = [x if isinstance(x, Fraction) else Fraction(0) for x in events]
    r = [x if isinstance(x, Fraction) else Fraction(0) for x in choices]
    middle = [(a + b) / 2 for a, b in zip(p, r, strict=True)]
    target = [truth.event for truth in truths]
    class_loss = [q if m <= HALF else 1 - q for m, q in zip(middle, target, strict=True)]
    scores = {
        "disagreement": [abs(a - b) for a, b in zip(p, r, strict=True)],
        "confidence": [1 - max(m, 1 - m) for m in middle],
        "excess risk": [loss - min(q, 1 - q) for loss, q in zip(class_loss, target, strict=True)],
        "random": [Fraction(0)] * len(truths),
    }
    losses = {}
    for name, score in scores.items():
        kept = selective_retention(score=score, retain=retained, weights=weights, eligible=complete)
        losses[name] = selective_loss(loss=class_loss, retained=kept.tolist(), cost=cost, weights=weights)
    return SelectiveTable(retained, losses, _regret_auroc(truths, run, cost))


def _regret_auroc(truths: Sequence[RootTruth], run: Run, cost: str) -> Fraction | Undefined:
    """How well disagreement tells roots where Mean has regret from those where it has none."""
    pairs = _pairs(truths, run, "event", "choice")
    if pairs is None:
        return Undefined("no root has both reports valid")
    event, choice = list(pairs.event), list(pairs.choice)
    losses = {
        policy: policy_losses(policy=policy, event=event, choice=choice, target=pairs.target, cost=cost)
        for policy in ("mean", "oracle")
    }
    positive = [mean > least for mean, least in zip(losses["mean"], losses["oracle"], strict=True)]
    gaps = [abs(p - r) for p, r in zip(event, choice, strict=True)]
    area = area_under_curve(score=gaps, positive=positive, weights=pairs.weights)
    return area if isinstance(area, Undefined) else Fraction(area)


def _pairs(truths: Sequence[RootTruth], run: Run, first: str, second: str) -> Pairs | None:
    rows = [(truth, run.report(truth.id, first), run.report(truth.id, second)) for truth in truths]
    kept = [(t, p, r) for t, p, r in rows if isinstance(p, Fraction) and isinstance(r, Fraction)]
    if not kept:
        return None
    return Pairs(
        tuple(truth for truth, _, _ in kept),
        tuple(p for _, p, _ in kept),
        tuple(r for _, _, r in kept),
        stratum_weights([truth.stratum for truth, _, _ in kept]).weights,
    )
