"""The audit of contracts: cohorts beside what is printed of them, their slots, their goldens, and what they share.

A printed value that a cohort does not reach must be named under `departure` in its spec; it is then shown as differing
and does not fail. One that is named there and is reached fails: the spec would say too little of itself. What is not
here: worlds (`audit.verify`), how it looks (`audit.cohort_text`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from attrs import field, frozen

from exactworlds.audit.verify import Line, evidence_of, matches_cell
from exactworlds.contract.admission import RootAdmission, admit_roots
from exactworlds.contract.cohorts import Slots, check_disjoint, check_subset
from exactworlds.contract.relations import Population, populations
from exactworlds.errors import GoldenError, InvalidArgument, InvalidContract, NotFound
from exactworlds.golden.check import GoldenResult, check_subject, cohort_golden_path, subject_digests
from exactworlds.golden.cohort_quantities import SUBJECTS, CohortQuantities, example_value, relation_value
from exactworlds.golden.quantities import Value
from exactworlds.spec.cohorts import CohortSpec, cohort_names, find_cohort
from exactworlds.spec.published import PublishedCell, load_published
from exactworlds.spec.relations import load_relations

__all__ = ["CohortAudit", "ContractsAudit", "audit_cohort", "audit_contracts"]


@frozen
class CohortAudit:
    """All that was checked of one cohort."""

    spec: CohortSpec
    law: str
    text: str
    admission: RootAdmission
    slots: Slots
    populations: Mapping[str, Population]
    lines: tuple[Line, ...]
    golden: GoldenResult | None
    golden_error: str | None
    golden_is_due: bool
    quantities: CohortQuantities = field(repr=False, eq=False)

    @property
    def adds_up(self) -> bool:
        """Whether the slots by variant, the undefined ones and the intended ones are one count."""
        sent = sum(self.slots.by_variant.values())
        return self.slots.intended == sent + len(self.slots.undefined) and sent == self.slots.eligible

    @property
    def passes(self) -> bool:
        lines = all(line.passes for line in self.lines)
        golden = self.golden.matches if self.golden else not self.golden_is_due
        return self.admission.admitted and self.adds_up and lines and golden


@frozen
class ContractsAudit:
    """All bundled cohorts, what they share and may not, and the values that belong to no cohort."""

    cohorts: tuple[CohortAudit, ...]
    lines: tuple[Line, ...]
    sharing: tuple[str, ...]

    @cached_property
    def all_lines(self) -> tuple[Line, ...]:
        return (*self.lines, *(line for audit in self.cohorts for line in audit.lines))

    @property
    def passes(self) -> bool:
        return (
            not self.sharing and all(line.passes for line in self.lines) and all(audit.passes for audit in self.cohorts)
        )


def audit_cohort(spec: CohortSpec, source: Path | str = "<spec>") -> CohortAudit:
    """Draws a cohort, admits its roots, counts its slots, and compares it with what is printed and pinned."""
    quantities = CohortQuantities(spec)
    golden_file = cohort_golden_path(spec, source)
    golden, error = None, None
    is_due = spec.id in cohort_names()
    try:
        golden = check_subject(spec, golden_file, quantities)
    except GoldenError as fault:
        error = str(fault)
        is_due = is_due or golden_file.exists()
    law, text = subject_digests(spec)
    return CohortAudit(
        spec=spec,
        law=law,
        text=text,
        admission=admit_roots((root.id, root.world) for root in quantities.cohort.roots),
        slots=quantities.slots,
        populations=populations(quantities.cohort),
        lines=tuple(_line(spec, cell, quantities) for cell in load_published().cells(spec.id)),
        golden=golden,
        golden_error=error,
        golden_is_due=is_due,
        quantities=quantities,
    )


def audit_contracts(told: Callable[[str, int, int], None] | None = None) -> ContractsAudit:
    """Audits every bundled cohort, P2's example and the relations."""
    say = told or (lambda what, done, total: None)
    audits = []
    for done, name in enumerate(cohort_names()):
        say(f"cohort {name}", done, len(cohort_names()))
        audits.append(audit_cohort(find_cohort(name)))
    return ContractsAudit(tuple(audits), tuple(_subject_lines()), tuple(_sharing(audits)))


def _line(spec: CohortSpec, cell: PublishedCell, quantities: CohortQuantities) -> Line:
    evidence = evidence_of(spec.provenance, cell, transcribed=CohortQuantities.is_transcribed(cell.quantity))
    departs = spec.departs_from(cell.id)
    try:
        value = quantities.value(cell.quantity)
    except (NotFound, InvalidArgument) as error:  # a changed copy may lack what is printed of the original
        return Line(cell, f"none ({error})", None, evidence, matches=False, departs=departs)
    matches = cell.printed is None or matches_cell(value, cell.printed, cell.group.compare)
    return Line(cell, value, None, evidence, matches, departs)


def _subject_lines() -> list[Line]:
    values: dict[str, Callable[[str], Value]] = dict(zip(SUBJECTS, (example_value, relation_value), strict=True))
    provenance = {"example": (), "relations": load_relations().provenance}
    lines = []
    for subject in SUBJECTS:
        for cell in load_published().cells(subject):
            value = values[subject](cell.quantity)
            transcribed = subject == "relations" or CohortQuantities.is_transcribed(cell.quantity)
            evidence = evidence_of(provenance[subject], cell, transcribed=transcribed)
            matches = cell.printed is None or matches_cell(value, cell.printed, cell.group.compare)
            lines.append(Line(cell, value, None, evidence, matches))
    return lines


def _sharing(audits: list[CohortAudit]) -> list[str]:
    """Roots that are equal and may not be, and those of a subset that its cohort lacks."""
    cohorts = {audit.spec.id: audit.quantities.cohort for audit in audits}
    faults = []
    try:
        check_disjoint(cohorts.values())
    except InvalidContract as error:
        faults.append(str(error))
    for cohort in cohorts.values():
        if cohort.spec.subset is not None and cohort.spec.subset.of in cohorts:
            try:
                check_subset(cohort, cohorts[cohort.spec.subset.of])
            except InvalidContract as error:
                faults.append(str(error))
    return faults
