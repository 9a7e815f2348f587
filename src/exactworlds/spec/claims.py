"""The registry of claims: what each says, and the names of the code, proofs, tests and goldens behind it.

The file says a status and the tests compute it; they must agree. What is not here: resolving names, which needs the
repository (`tests/test_claims.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from attrs import fields, frozen

from exactworlds.errors import InvalidSpec, Problem
from exactworlds.spec.bundled import spec_folder
from exactworlds.spec.document import Description
from exactworlds.spec.reading import read_toml, structure, unknown_keys

__all__ = ["Claim", "Claims", "Status", "load_claims"]

Status = Literal["proved", "checked", "pinned", "open"]


@frozen
class Claim:
    """One claim."""

    statement: str
    locus: Annotated[str, Description("where it is printed")]
    status: Annotated[Status, Description("what a test computes from the names below")]
    implemented_by: Annotated[tuple[str, ...], Description("module:name")] = ()
    proved_by: Annotated[tuple[str, ...], Description("proofs/file.py::test")] = ()
    twins: Annotated[tuple[str, ...], Description("proofs/file.py::test, each refutes a changed statement")] = ()
    tested_by: Annotated[tuple[str, ...], Description("tests/file.py::test")] = ()
    pinned_by: Annotated[tuple[str, ...], Description("quantities of golden cells, * stands for any part")] = ()
    departures: Annotated[str, Description("where the code departs from what is printed, and why")] = ""

    @property
    def evident_status(self) -> Status:
        """The status that the names amount to."""
        if self.proved_by:
            return "proved"
        if self.tested_by:
            return "checked"
        return "pinned" if self.pinned_by else "open"


@frozen
class Claims:
    """All claims, by id."""

    format: Literal["exactworlds/claims/1"]
    claim: Mapping[str, Claim]


@cache
def load_claims(file: Path | None = None) -> Claims:
    """The bundled `claims.toml`, or another file of its format."""
    path = file or spec_folder() / "claims.toml"
    raw = read_toml(path)
    problems: list[Problem] = unknown_keys(raw, [entry.name for entry in fields(Claims)], "")
    claims = structure(raw, Claims, "", problems)
    if problems or claims is None:
        raise InvalidSpec(path, dict.fromkeys(problems))
    return claims
