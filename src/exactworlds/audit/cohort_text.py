"""How the audit of contracts looks: plain text for people, dictionaries for machines. Both say the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exactworlds.audit.cohorts import CohortAudit, ContractsAudit
from exactworlds.audit.text import (
    BAD,
    NOTE,
    OK,
    golden_json,
    golden_lines,
    line_json,
    printed_lines,
    scientific,
)

__all__ = ["cohort_json", "cohort_lines", "contracts_json", "contracts_lines"]

_PER_LINE = 25


def cohort_lines(audit: CohortAudit) -> Iterator[str]:
    """The audit of one cohort as lines of text."""
    spec, slots = audit.spec, audit.slots
    left_out = "" if spec.estimated else ", excluded from every estimate"
    yield f"{spec.title} ({spec.id}){left_out}, law {audit.law[:19]}…, text {audit.text[:19]}…"
    mark = OK if audit.admission.admitted else BAD
    largest = scientific(audit.admission.largest)
    roots = audit.admission.roots
    yield f"  {mark} two paths: the posteriors of {roots:,} roots agree within 1e-15; largest Δ {largest}"
    yield from (f"  {BAD} {sentence}" for sentence in audit.admission.disagreements)
    mark = OK if audit.adds_up else BAD
    count = len(slots.undefined)
    variants = len(spec.variants)
    yield (
        f"  {mark} slots: {variants} × {roots:,} = {slots.intended:,} intended − {count} undefined "
        f"= {slots.eligible:,} eligible requests"
    )
    yield from _undefined_lines(audit)
    yield f"  {NOTE} relations, with the roots that each is about:"
    names = max(map(len, audit.populations), default=0)
    for name, population in audit.populations.items():
        yield f"      {name:<{names}}  {len(population.roots):>5,} of {roots:,}"
    yield from printed_lines(audit.lines)
    yield ""
    yield from golden_lines(audit.golden, audit.golden_error, is_due=audit.golden_is_due)


def _undefined_lines(audit: CohortAudit) -> Iterator[str]:
    """The roots whose conditional is undefined, by stratum."""
    by_stratum: dict[str, list[str]] = {}
    for root in audit.slots.undefined:
        stratum, _, place = root.rpartition("/")
        by_stratum.setdefault(stratum, []).append(place)
    for stratum, places in by_stratum.items():
        yield f"      P(B) = 0 in {stratum} ({len(places)}):"
        for start in range(0, len(places), _PER_LINE):
            yield f"        {' '.join(places[start : start + _PER_LINE])}"


def contracts_lines(audit: ContractsAudit) -> Iterator[str]:
    """All cohorts, then what belongs to none."""
    for cohort in audit.cohorts:
        yield from cohort_lines(cohort)
        yield ""
    yield "Contracts"
    yield from (f"  {BAD} {fault}" for fault in audit.sharing)
    if not audit.sharing:
        yield f"  {OK} semantic hashes: no root twice in a cohort, none shared by cohorts that must differ"
    yield from printed_lines(audit.lines)


def cohort_json(audit: CohortAudit) -> dict[str, Any]:
    """The audit of one cohort as plain JSON values."""
    return {
        "cohort": audit.spec.id,
        "law": audit.law,
        "text": audit.text,
        "passes": audit.passes,
        "admission": {
            "admitted": audit.admission.admitted,
            "roots": audit.admission.roots,
            "largest_difference": scientific(audit.admission.largest),
            "disagreements": list(audit.admission.disagreements),
        },
        "slots": {
            "intended": audit.slots.intended,
            "eligible": audit.slots.eligible,
            "undefined": list(audit.slots.undefined),
            "by_variant": dict(audit.slots.by_variant),
            "adds_up": audit.adds_up,
        },
        "relations": {name: len(population.roots) for name, population in audit.populations.items()},
        "cells": [line_json(line) for line in audit.lines],
        "golden": golden_json(audit.golden),
        "golden_error": audit.golden_error,
    }


def contracts_json(audit: ContractsAudit) -> dict[str, Any]:
    """All cohorts and what belongs to none as plain JSON values."""
    return {
        "passes": audit.passes,
        "cohorts": [cohort_json(cohort) for cohort in audit.cohorts],
        "sharing": list(audit.sharing),
        "cells": [line_json(line) for line in audit.lines],
    }
