"""How values are shown, the irrelevant fields, and the provenance of every number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from fractions import Fraction

from exactworlds.errors import shorten
from exactworlds.rational import exact_text
from exactworlds.spec.document import (
    Exact,
    IdentifierTable,
    IrrelevantTable,
    ProvenanceEntry,
    ShownTable,
    TemplateTable,
)
from exactworlds.spec.resolve import Findings
from exactworlds.spec.templates import TemplateSyntaxError, parse_part, slot_names
from exactworlds.spec.typing import BooleanType, LevelType
from exactworlds.spec.world import Attribute, Derived, Setting

__all__ = ["check_irrelevant", "check_shown", "check_templates", "resolve_provenance"]

LONGEST_GRID = 100_000


def levels_of(name: str, attributes: Mapping[str, Attribute], derived: Mapping[str, Derived]) -> tuple[str, ...] | None:
    """The canonical levels of an attribute; None for a derived number, whose values are not listed anywhere."""
    if name in attributes:
        return attributes[name].levels
    kind = derived[name].type
    if isinstance(kind, LevelType):
        return kind.levels
    return ("false", "true") if isinstance(kind, BooleanType) else None


def check_shown(
    entries: Mapping[str, ShownTable],
    attributes: Mapping[str, Attribute],
    derived: Mapping[str, Derived],
    findings: Findings,
) -> None:
    """Every way of showing covers the levels of its attribute and can be read back."""
    for name, entry in entries.items():
        where = f"shown.{name}"
        if name in findings.broken:
            continue
        if name not in attributes and name not in derived:
            known = ", ".join([*attributes, *derived])
            findings.add(where, f"shows an unknown attribute, expected one of: {known}")
            continue
        ways = [way for way in ("phrases", "grid", "identifier") if getattr(entry, way) is not None]
        if len(ways) > 1:
            findings.add(where, f"found {' and '.join(ways)}, expected at most one of phrases, grid, identifier")
        levels = levels_of(name, attributes, derived)
        if ways and levels is None:
            findings.add(where, f"found {ways[0]} for a derived number, expected none: it is shown as it is")
            continue
        if entry.phrases is not None and levels:
            _check_keys(f"{where}.phrases", entry.phrases, levels, findings)
            _check_phrases(f"{where}.phrases", entry.phrases, findings)
        if entry.grid is not None and levels:
            if _check_keys(f"{where}.grid", entry.grid, levels, findings):
                _check_grid(where, [entry.grid[level] for level in levels], entry.step, findings)
        elif entry.step is not None:
            findings.add(f"{where}.step", "found a step without a grid, expected both or neither")
        if entry.identifier is not None and levels:
            _check_identifier(f"{where}.identifier", entry.identifier, levels, attributes, findings)


def _check_keys(where: str, rows: Iterable[str], levels: tuple[str, ...], findings: Findings) -> bool:
    keys = list(rows)
    missing = [level for level in levels if level not in keys]
    unknown = [key for key in keys if key not in levels]
    if missing:
        findings.add(where, f"has no entry for {', '.join(map(shorten, missing[:6]))}, expected one for each level")
    if unknown:
        findings.add(where, f"has an entry for {', '.join(map(shorten, unknown[:6]))}, which is no level")
    return not missing and not unknown


def _check_phrases(where: str, phrases: Mapping[str, str], findings: Findings) -> None:
    seen: dict[str, str] = {}
    for level, phrase in phrases.items():
        if not phrase.strip() or phrase != phrase.strip():
            findings.add(f"{where}.{level}", f"found {shorten(phrase)}, expected words without space around them")
        if phrase in seen:
            findings.add(f"{where}.{level}", f"is the phrase of {seen[phrase]!r} too, expected a phrase of its own")
        seen.setdefault(phrase, level)


def _check_grid(where: str, ranges: list[tuple[Exact, Exact]], step: Exact | None, findings: Findings) -> None:
    """Ranges rise with the levels and do not touch: a value belongs to one level, a threshold to the higher one."""
    if step is None or step.value <= 0:
        findings.add(f"{where}.step", "expected a step of more than 0 beside the grid")
        return
    last: Fraction | None = None
    for first, end in ranges:
        if end.value < first.value or (end.value - first.value) % step.value != 0:
            findings.add(f"{where}.grid", f"found {first} to {end}, expected a range of whole steps of {step}")
            return
        if (end.value - first.value) / step.value > LONGEST_GRID:
            findings.add(f"{where}.grid", f"found {first} to {end}, expected at most {LONGEST_GRID:,} steps of {step}")
        if last is not None and first.value <= last:
            what = (
                f"found a range from {first} after one to {exact_text(last)}, expected ranges that rise with the levels"
            )
            findings.add(f"{where}.grid", what)
        last = end.value


def _check_identifier(
    where: str,
    identifier: IdentifierTable,
    levels: tuple[str, ...],
    attributes: Mapping[str, Attribute],
    findings: Findings,
) -> None:
    for level in levels:
        if len(level) != 1 or not level.isalpha():
            findings.add(where, f"found the level {shorten(level)}, expected single letters")
            break
    if min((*identifier.groups, 1)) < 1 or sum(identifier.groups) != identifier.length:
        what = f"found groups of {list(identifier.groups)}, expected them to add up to {identifier.length} letters"
        findings.add(f"{where}.groups", what)
    if identifier.position_of not in attributes:
        if identifier.position_of not in findings.broken:
            known = ", ".join(attributes)
            what = f"found the unknown attribute {shorten(identifier.position_of)}, expected one of: {known}"
            findings.add(f"{where}.position_of", what)
        return
    if _check_keys(f"{where}.position", identifier.position, attributes[identifier.position_of].levels, findings):
        for level, position in identifier.position.items():
            if not 1 <= position <= identifier.length:
                what = f"found {position}, expected a letter from 1 to {identifier.length}"
                findings.add(f"{where}.position.{level}", what)


def check_irrelevant(entries: Mapping[str, IrrelevantTable], taken: Iterable[str], findings: Findings) -> None:
    """Irrelevant fields are uniform over a range of integers or over distinct choices."""
    names = set(taken)
    for name, entry in entries.items():
        where = f"irrelevant.{name}"
        if name in names:
            findings.add(where, f"the name {name!r} is taken, expected another name")
        if (entry.range is None) == (entry.choices is None):
            findings.add(where, "expected either range (two integers) or choices (texts), one of them")
        if entry.range is not None and entry.range[1] < entry.range[0]:
            findings.add(f"{where}.range", f"found {list(entry.range)}, expected the first to be the smaller")
        if entry.choices is not None and (len(entry.choices) < 2 or len(set(entry.choices)) < len(entry.choices)):
            findings.add(f"{where}.choices", "expected two or more distinct texts")


def check_templates(
    entries: Mapping[str, TemplateTable],
    settings: Mapping[str, Setting],
    shown: Mapping[str, ShownTable],
    irrelevant: Mapping[str, IrrelevantTable],
    findings: Findings,
) -> None:
    """Every template shows all that a setting shows, once or more, and names nothing that no setting shows."""
    everything = {name for setting in settings.values() for name in setting.visible}
    for template, entry in entries.items():
        where = f"template.{template}"
        names: list[tuple[str, ...]] = []
        sound = bool(entry.parts)
        if not sound:
            findings.add(f"{where}.parts", "found an empty list, expected at least one part")
        for index, part in enumerate(entry.parts):
            try:
                pieces = parse_part(part)
            except TemplateSyntaxError as error:
                findings.add(f"{where}.parts[{index}]", str(error))
                sound = False
                continue
            names.append(slot_names(pieces))
            for name in slot_names(pieces):
                if name not in everything and name not in irrelevant and name not in findings.broken:
                    what = f"found {{{name}}}, which no setting shows, expected a visible attribute or irrelevant field"
                    findings.add(f"{where}.parts[{index}]", what)
        for setting in settings.values() if sound else ():
            kept = {
                name for part in names if all(n in setting.visible or n in irrelevant for n in part) for name in part
            }
            for name in setting.visible:
                if name not in kept:
                    findings.add(where, f"does not show {name!r}, which the setting {setting.name!r} shows")
                entry_shown = shown.get(name)
                if entry_shown and entry_shown.identifier and entry_shown.identifier.position_of not in setting.visible:
                    selector = entry_shown.identifier.position_of
                    findings.add(
                        where, f"cannot read {name!r} in the setting {setting.name!r}, which hides {selector!r}"
                    )


def resolve_provenance(
    entries: Iterable[ProvenanceEntry], leaves: Iterable[str], optional: Iterable[str], findings: Findings
) -> dict[str, ProvenanceEntry]:
    """Which entry speaks for which number or table: exactly one for each."""
    required = list(leaves)
    everything = [*required, *optional]
    found: dict[str, ProvenanceEntry] = {}
    for index, entry in enumerate(entries):
        where = f"provenance[{index}]"
        if entry.kind == "published" and not entry.locus:
            findings.add(f"{where}.locus", "is missing, expected where the published number is printed")
        if entry.kind in ("forced", "calibrated") and not entry.cells:
            what = f"is missing, expected the published cells behind a {entry.kind} number"
            findings.add(f"{where}.cells", what)
        for pattern in entry.of:
            matched = [leaf for leaf in everything if fnmatchcase(leaf, pattern)]
            if not matched:
                findings.add(f"{where}.of", f"{shorten(pattern)} names nothing in this file, expected a key path")
            for leaf in matched:
                if leaf in found:
                    findings.add(f"{where}.of", f"{leaf} has a provenance already, expected exactly one")
                found[leaf] = entry
    for leaf in required:
        if leaf not in found:
            findings.add(leaf, "has no provenance, expected one [[provenance]] entry that names it")
    return found
