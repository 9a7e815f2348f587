"""Curves and tables of a run over cases: reject costs, thresholds, reliability, and the report of every pattern.

Curves are exact, and stand beside what the exact posterior and a constant report of the mean posterior would reach on
the same cases. What is not here: single figures (`study.case_scores`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from attrs import frozen

from exactworlds.errors import UsageError
from exactworlds.metrics import (
    ExactCurve,
    ReliabilityRow,
    confidences_binary,
    murphy_curve,
    reject_curve,
    reliability_table,
)
from exactworlds.study.joining import CaseRow

__all__ = [
    "BINS",
    "CaseCurves",
    "Pattern",
    "Reliability",
    "case_curves",
    "pattern_table",
    "reliability",
]

BINS = 10


@frozen
class CaseCurves:
    """Mean loss over the cost of deferring, and mean elementary score over the threshold, each on the same `n` cases.

    `report` is the run's, `posterior` that of who knows the exact probabilities, `constant` that of reporting the mean
    exact probability of these cases every time.
    """

    n: int
    constant_report: Fraction
    reject: Mapping[str, ExactCurve]
    murphy: Mapping[str, ExactCurve]


@frozen
class Pattern:
    """The cases that show the same: how many, the exact probability, and the reports of those that are valid."""

    visible: tuple[tuple[str, str], ...]
    posterior: Fraction
    n: int
    valid: int
    mean: Fraction | None
    low: Fraction | None
    high: Fraction | None


@frozen
class Reliability:
    """Tables of ten fixed bins: of the probability of the positive class, and of the class that is selected.

    Each bin sets the mean report beside the mean exact probability (`exact`) and the share of drawn labels (`labels`).
    """

    positive_exact: tuple[ReliabilityRow, ...]
    positive_labels: tuple[ReliabilityRow, ...]
    selected_exact: tuple[ReliabilityRow, ...]
    selected_labels: tuple[ReliabilityRow, ...]


def case_curves(rows: Sequence[CaseRow]) -> CaseCurves | None:
    """The curves on valid answers; None if there is none.

    Claim: D.curves, D.murphy
    """
    kept = [(row.report, row.posterior) for row in rows if row.report is not None]
    if not kept:
        return None
    p, q = [report for report, _ in kept], [posterior for _, posterior in kept]
    constant = sum(q, Fraction(0)) / len(q)
    level = [constant] * len(q)
    return CaseCurves(
        n=len(kept),
        constant_report=constant,
        reject={
            "report": reject_curve(policy="event", event=p, choice=p, target=q),
            "posterior": reject_curve(policy="oracle", event=q, choice=q, target=q),
            "constant": reject_curve(policy="event", event=level, choice=level, target=q),
        },
        murphy={
            "report": murphy_curve(target=q, reports=[p]),
            "posterior": murphy_curve(target=q, reports=[]),
            "constant": murphy_curve(target=q, reports=[level]),
        },
    )


def reliability(rows: Sequence[CaseRow]) -> Reliability | None:
    """Reliability tables of the valid answers; None if there is none.

    Claim: F.ece
    """
    kept = [(row.report, row.posterior, row.positive) for row in rows if row.report is not None]
    if not kept:
        return None
    p, q = [report for report, _, _ in kept], [posterior for _, posterior, _ in kept]
    labels = [Fraction(positive) for _, _, positive in kept]
    exact = confidences_binary(report=p, target=q)
    drawn = confidences_binary(report=p, label=[int(label) for label in labels])
    confidence = exact.confidence.tolist()
    hits = [Fraction(int(hit)) for hit in drawn.accuracy.tolist()]
    return Reliability(
        positive_exact=reliability_table(confidence=p, accuracy=q, bins=BINS),
        positive_labels=reliability_table(confidence=p, accuracy=labels, bins=BINS),
        selected_exact=reliability_table(confidence=confidence, accuracy=exact.accuracy.tolist(), bins=BINS),
        selected_labels=reliability_table(confidence=confidence, accuracy=hits, bins=BINS),
    )


def pattern_table(rows: Sequence[CaseRow]) -> tuple[Pattern, ...]:
    """One row for each visible pattern, ordered by its exact probability and then by what it shows."""
    groups: dict[tuple[tuple[str, str], ...], list[CaseRow]] = {}
    for row in rows:
        group = groups.setdefault(row.visible, [])
        group.append(row)
        if group[0].posterior != row.posterior:
            raise UsageError(f"{row.id}: found another exact probability than {group[0].id}, which shows the same")
    found = []
    for visible, members in groups.items():
        reports = [row.report for row in members if row.report is not None]
        mean = sum(reports, Fraction(0)) / len(reports) if reports else None
        found.append(
            Pattern(
                visible,
                members[0].posterior,
                len(members),
                len(reports),
                mean,
                min(reports, default=None),
                max(reports, default=None),
            )
        )
    return tuple(sorted(found, key=lambda pattern: (pattern.posterior, pattern.visible)))
