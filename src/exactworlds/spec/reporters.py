"""The settings of the reference reporters, as `reporters.toml` states them. What is not here: the fitting (`study`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from attrs import fields, frozen

from exactworlds.errors import InvalidSpec, Problem
from exactworlds.spec.bundled import spec_folder
from exactworlds.spec.document import Description, Exact, ProvenanceEntry
from exactworlds.spec.reading import parse_toml, read_bytes, structure, unknown_keys
from exactworlds.spec.resolve import Findings
from exactworlds.spec.resolve_texts import resolve_provenance

__all__ = ["LogisticSettings", "ReporterSettings", "load_reporters", "parse_reporters"]

LOGISTIC = "logistic_regression"


@frozen
class LogisticSettings:
    """Logistic regression on visible attributes: categories one-hot, numbers scaled by their support."""

    penalty: Literal["l2"]
    inverse_strength: Annotated[Exact, Description("the reciprocal of the penalty's weight, C")]
    solver: Literal["lbfgs"]
    iterations: Annotated[int, Description("at most so many steps; a fit that needs more is refused")]
    tolerance: Annotated[Exact, Description("the fit stops where its gradient is this small")]
    locus: str


@frozen
class ReporterSettings:
    """The settings of all reporters that have any."""

    format: Literal["exactworlds/reporters/1"]
    logistic_regression: LogisticSettings
    provenance: tuple[ProvenanceEntry, ...]


@cache
def load_reporters(file: Path | None = None) -> ReporterSettings:
    """The bundled `reporters.toml`, or another file of its format."""
    path = file or spec_folder() / "reporters.toml"
    return parse_reporters(read_bytes(path), path)


def parse_reporters(data: bytes, file: str | Path = "<text>") -> ReporterSettings:
    """The settings in a TOML text; `InvalidSpec` names every fault."""
    raw = parse_toml(data, file)
    findings = Findings()
    findings.problems += unknown_keys(raw, [entry.name for entry in fields(ReporterSettings)], "")
    found = structure(raw, ReporterSettings, "", findings.problems)
    if found is not None:
        chosen = found.logistic_regression
        for name, number in (("inverse_strength", chosen.inverse_strength), ("tolerance", chosen.tolerance)):
            if not number.value > 0:
                findings.add(f"{LOGISTIC}.{name}", f"found {number}, expected a number above 0")
        if chosen.iterations < 1:
            findings.add(f"{LOGISTIC}.iterations", f"found {chosen.iterations}, expected at least 1")
        leaves = [f"{LOGISTIC}.{entry.name}" for entry in fields(LogisticSettings)]
        resolve_provenance(found.provenance, leaves, (), findings)
    if findings.problems or found is None:
        raise InvalidSpec(file, dict.fromkeys(findings.problems or [Problem("", "holds no settings")]))
    return found
