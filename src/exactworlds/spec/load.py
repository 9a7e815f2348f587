"""Loading a world: a path, bundled name or open text in, a checked `World` out.

All faults of a file are raised together as one `InvalidSpec`. This is the only module of the layer that reads world
files; `spec.bundled` knows where the bundled ones are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import fields

from exactworlds.errors import InvalidSpec, Problem, shorten
from exactworlds.spec.document import (
    AttributeTable,
    IrrelevantTable,
    LabelsTable,
    ProvenanceEntry,
    ResidualTable,
    RuleTable,
    ShownTable,
    TemplateTable,
    Tree,
    WorldDocument,
)
from exactworlds.spec.reading import parse_toml, read_bytes, shown, structure, unknown_keys
from exactworlds.spec.resolve import (
    Findings,
    check_names,
    check_state_space,
    resolve_attributes,
    resolve_residual,
    resolve_tables,
)
from exactworlds.spec.resolve_rules import (
    Scope,
    check_digits,
    check_tables_used,
    resolve_derived,
    resolve_rule,
    resolve_settings,
)
from exactworlds.spec.resolve_texts import check_irrelevant, check_shown, check_templates, resolve_provenance
from exactworlds.spec.world import World

__all__ = ["FORMAT", "load_world", "parse_world"]

FORMAT = "exactworlds/world/1"

_SECTIONS: dict[str, Any] = {
    "attribute": AttributeTable,
    "setting": tuple[str, ...],
    "level_set": tuple[str, ...],
    "residual": ResidualTable,
    "table": Tree,
    "derived": str,
    "shown": ShownTable,
    "irrelevant": IrrelevantTable,
    "template": TemplateTable,
}
_SCALARS: dict[str, Any] = {
    "format": Literal["exactworlds/world/1"],
    "id": str,
    "title": str,
    "question": str,
    "labels": LabelsTable,
    "rule": RuleTable,
    "description": str,
}
_REQUIRED = ("format", "id", "title", "question", "labels", "rule", "attribute", "setting", "provenance")


def load_world(file: str | Path) -> World:
    """The world in a file ("-" is standard input).

    Raises `UnreadableFile` if there is nothing to read, and `InvalidSpec` with every fault that was found.
    """
    return parse_world(read_bytes(file), file)


def parse_world(data: bytes, file: str | Path = "<text>") -> World:
    """The world in a TOML text; `file` is what errors call it."""
    raw = parse_toml(data, file)
    findings = Findings()
    problems = findings.problems
    problems += unknown_keys(raw, [entry.name for entry in fields(WorldDocument)], "")
    for key in _REQUIRED:
        if key not in raw:
            problems.append(Problem(key, "missing"))
    scalars: dict[str, Any] = {
        key: structure(raw[key], kind, key, problems) for key, kind in _SCALARS.items() if key in raw
    }
    sections = {key: _section(raw.get(key, {}), kind, key, findings) for key, kind in _SECTIONS.items()}
    entries = _provenance(raw.get("provenance", []), problems)
    if scalars.get("id") is not None:
        _check_id(str(scalars["id"]), findings)
    labels = scalars.get("labels")
    if labels is not None and labels.positive == labels.negative:
        findings.add("labels", f"found {shorten(labels.positive)} twice, expected two labels")

    names = {key: sections[key] for key in ("attribute", "derived", "residual", "table")}
    check_names({key: raw.get(key, {}) for key in names if isinstance(raw.get(key, {}), Mapping)}, findings)
    declared = raw["attribute"] if isinstance(raw.get("attribute"), Mapping) else {}
    attributes = resolve_attributes(sections["attribute"], declared, sections["level_set"], findings)
    residual = resolve_residual(sections["residual"], findings)
    tables = resolve_tables(sections["table"], findings)
    check_state_space(attributes, findings)
    declared_tables = tuple(raw["table"]) if isinstance(raw.get("table"), Mapping) else ()
    scope = Scope(attributes, residual, tables, findings, declared_tables)
    derived = resolve_derived(sections["derived"], scope, residual)
    rule = scalars.get("rule")
    expression = resolve_rule(rule.positive, scope) if rule else None
    trees = [entry.expression for entry in derived] + ([expression] if expression else [])
    if expression and not findings.broken:
        check_tables_used(tables, trees, findings)
        numbers = {name: entry.levels for name, entry in attributes.items() if entry.is_number}
        if residual:
            numbers[residual.name] = residual.literals
        check_digits(numbers, tables, derived, expression, findings)
    settings = resolve_settings(sections["setting"], attributes, derived, residual, findings)
    derived_by_name = {entry.name: entry for entry in derived}
    check_shown(sections["shown"], attributes, derived_by_name, findings)
    check_irrelevant(sections["irrelevant"], [*attributes, *derived_by_name], findings)
    check_templates(sections["template"], settings, sections["shown"], sections["irrelevant"], findings)
    unread = None in entries  # an entry that cannot be read might have covered anything: no blame for gaps then
    provenance = resolve_provenance(
        [entry for entry in entries if entry is not None],
        [] if unread else _leaves(sections),
        [*(_leaves(sections) if unread else ()), *_texts(raw), *_broken_leaves(raw, sections)],
        findings,
    )
    if problems:
        raise InvalidSpec(file, dict.fromkeys(problems))
    assert expression is not None  # no problems: the rule was parsed
    return World(
        id=scalars["id"],
        title=scalars["title"],
        description=scalars.get("description", ""),
        question=scalars["question"],
        labels=scalars["labels"],
        attributes=tuple(attributes.values()),
        residual=residual,
        tables=tables,
        derived=derived,
        rule=expression,
        rule_text=rule.positive if rule else "",
        settings=settings,
        shown=sections["shown"],
        irrelevant=sections["irrelevant"],
        templates=sections["template"],
        provenance=provenance,
    )


def _section(raw: Any, kind: Any, where: str, findings: Findings) -> dict[str, Any]:
    """The sound entries of a section; the names of the others are broken."""
    if not isinstance(raw, Mapping):
        findings.add(where, f"found {shown(raw)}, expected a table")
        return {}
    sound = {}
    for name, value in raw.items():
        entry = structure(value, kind, f"{where}.{name}", findings.problems)
        if entry is None:
            findings.broken.add(name)
        else:
            sound[name] = entry
    return sound


def _provenance(raw: Any, problems: list[Problem]) -> list[ProvenanceEntry | None]:
    if not isinstance(raw, list):
        problems.append(Problem("provenance", f"found {shown(raw)}, expected [[provenance]] entries"))
        return [None]
    return [structure(value, ProvenanceEntry, f"provenance[{index}]", problems) for index, value in enumerate(raw)]


def _check_id(identity: str, findings: Findings) -> None:
    allowed = "abcdefghijklmnopqrstuvwxyz0123456789-"
    if not identity or any(letter not in allowed for letter in identity) or not identity[0].isalpha():
        findings.add("id", f"found {shorten(identity)}, expected lower-case letters, digits and -, a letter first")


def _leaves(sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The key paths of everything that needs a provenance."""
    leaves = []
    for name, entry in sections["attribute"].items():
        leaves += [f"attribute.{name}.{'values' if entry.values is not None else 'levels'}"]
        leaves += [f"attribute.{name}.probability"]
    for name in sections["residual"]:
        leaves += [f"residual.{name}.probability", f"residual.{name}.scales"]
    for section in ("level_set", "table", "derived", "setting", "shown", "irrelevant", "template"):
        leaves += [f"{section}.{name}" for name in sections[section]]
    return [*leaves, "rule.positive"]


def _broken_leaves(raw: Mapping[str, Any], sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The key paths of entries that have faults of their own: a provenance may name them."""
    leaves = []
    for section, sound in sections.items():
        entries = raw.get(section, {})
        for name in entries if isinstance(entries, Mapping) else ():
            if name not in sound:
                path = f"{section}.{name}"
                leaves += [path, *(f"{path}.{part}" for part in ("levels", "values", "probability", "scales"))]
    return leaves


def _texts(raw: Mapping[str, Any]) -> list[str]:
    return [key for key in ("title", "question", "labels", "description") if key in raw]
