"""How an audit looks: plain text for people, a dictionary for machines. Both say the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby
from typing import Any

from exactworlds.audit.verify import Line, PapersAudit, WorldAudit
from exactworlds.golden.check import CellResult, GoldenResult
from exactworlds.spec.published import Group

__all__ = [
    "golden_json",
    "golden_lines",
    "line_json",
    "papers_json",
    "papers_lines",
    "printed_lines",
    "scientific",
    "world_json",
    "world_lines",
]

LONGEST_FRACTION = 48
OK, BAD, NOTE = "✓", "✗", "·"


def scientific(value: Fraction | None) -> str:
    """A difference in two digits; an exact zero says so."""
    if value is None:
        return "-"
    return f"{float(value):.1e}" if value else "0"


def world_lines(audit: WorldAudit) -> Iterator[str]:
    """The audit of one world as lines of text."""
    world, admission = audit.world, audit.admission
    yield f"{world.title} ({world.id}), law {audit.law[:19]}…, text {audit.text[:19]}…"
    mark = OK if admission.admitted else BAD
    runs = len(admission.comparisons)
    largest = scientific(admission.largest) if admission.comparisons else "-"
    yield f"  {mark} engines: scaled and decimals agree within 1e-15 on {runs} settings × scales; largest Δ {largest}"
    if admission.enumerated:
        at = ", ".join(admission.enumerated)
        yield f"  {mark} engines: enumerate and scaled give identical tables for every setting at s = {at}"
    else:
        yield f"  {NOTE} engines: enumerate did not run (too many states)"
    for sentence in admission.disagreements:
        yield f"  {BAD} {sentence}"
    yield from printed_lines(audit.lines)
    yield ""
    yield from golden_lines(audit.golden, audit.golden_error, is_due=audit.golden_is_due)


def printed_lines(printed: tuple[Line, ...]) -> Iterator[str]:
    """Printed values beside exact ones, group after group."""
    for group, lines in _groups(printed):
        yield ""
        yield f"  {group.locus}: {group.about}  [{group.id}]"
        if group.brief and all(line.matches for line in lines):
            yield f"    {OK} all {len(lines)} cells as printed; evidence: {_evidences(lines)}"
        else:
            yield from (f"    {text}" for text in _group_texts(lines))


def _group_texts(lines: list[Line]) -> Iterator[str]:
    """A line a cell, in columns as wide as the group needs, and its fraction below it."""
    rows = [
        (line, line.cell.quantity.partition("/")[2], line.cell.printed if line.cell.printed is not None else "—")
        for line in lines
    ]
    names = max(len(name) for _, name, _ in rows)
    printed = max(len(text) for _, _, text in rows)
    exact = max(len(line.exact) for line in lines)
    for line, name, text in rows:
        mark = BAD if not line.passes else OK if line.cell.printed is not None and line.matches else NOTE
        verdict = "" if line.matches else "  DIFFERS, as the spec says" if line.departs else "  DOES NOT MATCH"
        if line.matches and line.departs:
            verdict = "  MATCHES, although the spec says that it departs"
        yield (
            f"{mark} {name:<{names}}  printed {text:<{printed}}  exact {line.exact:<{exact}}  "
            f"Δ {scientific(line.difference):<7}  {line.evidence}{verdict}"
        )
        if line.fraction and "/" in line.fraction:
            yield f"    = {_fraction(line.fraction)}"


def _fraction(text: str) -> str:
    """A fraction, or its digest when it is long."""
    if len(text) <= LONGEST_FRACTION:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"a fraction of {len(text)} characters, sha256 {digest}… (--json has it whole)"


def _groups(lines: tuple[Line, ...]) -> Iterator[tuple[Group, list[Line]]]:
    for _, members in groupby(lines, key=lambda line: line.cell.group.id):
        found = list(members)
        yield found[0].cell.group, found


def _evidences(lines: list[Line]) -> str:
    return ", ".join(dict.fromkeys(line.evidence for line in lines))


def golden_lines(golden: GoldenResult | None, error: str | None, *, is_due: bool) -> Iterator[str]:
    """What the golden file says, or why it could not be read."""
    if golden is None:
        mark = BAD if is_due else NOTE
        hint = "" if is_due else " (nothing is pinned for this world; 'exactworlds golden add' does it)"
        yield f"  {mark} goldens: {error}{hint}"
        return
    wrong = [result for result in golden.cells if not result.matches]
    by_kind = {kind: sum(cell.kind == kind for cell in golden.golden.cells) for kind in ("derived", "computed")}
    counts = ", ".join(f"{count} {kind}" for kind, count in by_kind.items() if count)
    mark = OK if golden.matches else BAD
    yield f"  {mark} goldens: {len(golden.cells) - len(wrong)} of {len(golden.cells)} pinned cells as pinned ({counts})"
    if not golden.law_matches:
        bound = (golden.golden.law or "none")[:19]
        yield f"  {BAD} goldens: bound to the law digest {bound}…, found {golden.law[:19]}…"
    if not golden.text_matches:
        bound = (golden.golden.text or "none")[:19]
        yield f"  {BAD} goldens: bound to the text digest {bound}…, found {golden.text[:19]}…"
    for result in golden.cells:
        if result.cell.kind == "derived" and result.matches:
            yield f"    {OK} {result.cell.quantity.partition('/')[2]} = {_short(result.cell.value)}"
    for quantity in golden.missing:
        yield f"  {BAD} goldens: {quantity} is not pinned"
    for result in wrong:
        yield f"  {BAD} {_moved(result)}"


def _moved(result: CellResult) -> str:
    return f"{result.cell.id}: pinned {_short(result.cell.value)}, found {_short(result.found or 'nothing')}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_FRACTION else f"{text[:30]}…{text[-12:]}"


def papers_lines(audit: PapersAudit) -> Iterator[str]:
    """The papers' own arithmetic as lines of text."""
    yield "The papers' own arithmetic (printed against printed)"
    for name, identity in audit.identities.items():
        mark = OK if identity.holds else BAD
        yield f"    {mark} {name:<20} {identity.line}"
    if audit.transcription:
        yield from (f"  {BAD} transcription: {fault}" for fault in audit.transcription)
    else:
        yield f"  {OK} transcription: published.toml equals the golden file of printed values"


def world_json(audit: WorldAudit) -> dict[str, Any]:
    """The audit of one world as plain JSON values."""
    return {
        "world": audit.world.id,
        "source": audit.source,
        "law": audit.law,
        "text": audit.text,
        "passes": audit.passes,
        "admission": {
            "admitted": audit.admission.admitted,
            "largest_difference": scientific(audit.admission.largest) if audit.admission.comparisons else None,
            "enumerated_scales": list(audit.admission.enumerated),
            "disagreements": list(audit.admission.disagreements),
            "comparisons": [
                {
                    "setting": entry.setting,
                    "scale": entry.scale,
                    "posterior": scientific(entry.posterior),
                    "prior": scientific(entry.prior),
                    "bayes_error": scientific(entry.bayes_error),
                    "entropy_bits": scientific(entry.entropy),
                }
                for entry in audit.admission.comparisons.values()
            ],
        },
        "cells": [line_json(line) for line in audit.lines],
        "golden": golden_json(audit.golden),
        "golden_error": audit.golden_error,
    }


def line_json(line: Line) -> dict[str, Any]:
    """A printed value beside the exact one as plain JSON values."""
    return {
        "id": line.cell.id,
        "quantity": line.cell.quantity,
        "locus": line.cell.group.locus,
        "claim": line.cell.group.claim,
        "printed": line.cell.printed,
        "exact": line.exact,
        "fraction": line.fraction,
        "difference": scientific(line.difference) if line.difference is not None else None,
        "evidence": line.evidence,
        "matches": line.matches,
        **({"departs": True} if line.departs else {}),
    }


def golden_json(golden: GoldenResult | None) -> dict[str, Any] | None:
    """What the golden file says as plain JSON values."""
    if golden is None:
        return None
    return {
        "law_matches": golden.law_matches,
        "text_matches": golden.text_matches,
        "missing": list(golden.missing),
        "cells": [
            {
                "id": result.cell.id,
                "kind": result.cell.kind,
                "pinned": result.cell.value,
                "found": result.found,
                "matches": result.matches,
            }
            for result in golden.cells
        ],
    }


def papers_json(audit: PapersAudit) -> dict[str, Any]:
    """The papers' own arithmetic as plain JSON values."""
    return {
        "passes": audit.passes,
        "identities": [
            {"id": name, "line": identity.line, "value": str(identity.value), "holds": identity.holds}
            for name, identity in audit.identities.items()
        ],
        "transcription": list(audit.transcription),
    }
