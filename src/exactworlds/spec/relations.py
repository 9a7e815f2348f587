"""The relations between the requests of a root, as `relations.toml` states them.

What is not here: which roots a relation is about (`contract.relations`) and the residual of a report (`metrics`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from attrs import fields, frozen

from exactworlds.errors import InvalidSpec, Problem, shorten
from exactworlds.spec.bundled import spec_folder
from exactworlds.spec.cohorts import VARIANTS
from exactworlds.spec.document import Description, Exact, ProvenanceEntry
from exactworlds.spec.reading import parse_toml, read_bytes, structure, unknown_keys
from exactworlds.spec.resolve import Findings
from exactworlds.spec.resolve_texts import resolve_provenance

__all__ = ["Relation", "Relations", "load_relations", "parse_relations"]


@frozen
class Relation:
    """One relation that exact reports satisfy."""

    statement: str
    residual: Annotated[str, Description("the residual, as a formula in words")]
    tolerance: Annotated[Exact, Description("it passes up to and including this residual")]
    primary: Annotated[bool, Description("whether the operational criterion asks for it")]
    kind: Literal["identity", "representation", "repeat"]
    constituents: Annotated[tuple[str, ...], Description("the requests of a root that it joins")]
    locus: str
    claim: str


@frozen
class Relations:
    """All relations, by id."""

    format: Literal["exactworlds/relations/1"]
    relation: Mapping[str, Relation]
    provenance: tuple[ProvenanceEntry, ...]


@cache
def load_relations(file: Path | None = None) -> Relations:
    """The bundled `relations.toml`, or another file of its format."""
    path = file or spec_folder() / "relations.toml"
    return parse_relations(read_bytes(path), path)


def parse_relations(data: bytes, file: str | Path = "<text>") -> Relations:
    """The relations in a TOML text; `InvalidSpec` names every fault."""
    raw = parse_toml(data, file)
    findings = Findings()
    findings.problems += unknown_keys(raw, [entry.name for entry in fields(Relations)], "")
    found = structure(raw, Relations, "", findings.problems)
    if found is not None:
        _check(found, findings)
    if findings.problems or found is None:
        raise InvalidSpec(file, dict.fromkeys(findings.problems or [Problem("", "holds no relations")]))
    return found


def _check(relations: Relations, findings: Findings) -> None:
    leaves = []
    for name, relation in relations.relation.items():
        where = f"relation.{name}"
        if not 0 <= relation.tolerance.value < 1:
            findings.add(f"{where}.tolerance", f"found {relation.tolerance}, expected a number from 0 to below 1")
        if len(set(relation.constituents)) < max(2, len(relation.constituents)):
            found = ", ".join(relation.constituents) or "none"
            findings.add(f"{where}.constituents", f"found {found}, expected at least two different requests")
        for index, variant in enumerate(relation.constituents):
            if variant not in VARIANTS:
                what = f"found {shorten(variant)}, expected one of: {', '.join(VARIANTS)}"
                findings.add(f"{where}.constituents[{index}]", what)
        leaves += [f"{where}.{key}" for key in ("tolerance", "primary", "constituents", "residual")]
    resolve_provenance(relations.provenance, leaves, (), findings)
