"""Comparing goldens with what the package computes today: each cell, and the digest that it is bound to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from attrs import frozen

from exactworlds.errors import InvalidArgument, NotFound
from exactworlds.golden.quantities import Value, value_text
from exactworlds.golden.store import GoldenCell, GoldenFile, read_golden
from exactworlds.spec.bundled import golden_folder, world_names
from exactworlds.spec.cohorts import CohortSpec, cohort_law_digest, cohort_names, cohort_text_digest
from exactworlds.spec.digest import law_digest, text_digest
from exactworlds.spec.world import World

__all__ = [
    "CellResult",
    "GoldenResult",
    "Pinnable",
    "Subject",
    "check_cells",
    "check_subject",
    "check_world",
    "cohort_golden_path",
    "golden_path",
    "subject_digests",
]

Subject = World | CohortSpec
"""What has goldens: an id, and digests of its law and of its texts."""


class Pinnable(Protocol):
    """The quantities of a subject."""

    def pinned(self) -> Iterator[tuple[str, str]]: ...

    def value(self, quantity: str) -> Value: ...


def subject_digests(subject: Subject) -> tuple[str, str]:
    """The digests of law and texts."""
    if isinstance(subject, World):
        return law_digest(subject), text_digest(subject)
    return cohort_law_digest(subject), cohort_text_digest(subject)


@frozen
class CellResult:
    """A pinned cell beside what is computed now; `found` is None if there is no such quantity any more."""

    cell: GoldenCell
    found: str | None

    @property
    def matches(self) -> bool:
        return self.found == self.cell.value


@frozen
class GoldenResult:
    """What a golden file says of a world."""

    file: Path
    golden: GoldenFile
    law: str
    text: str
    cells: tuple[CellResult, ...]
    missing: tuple[str, ...]

    @property
    def law_matches(self) -> bool:
        return self.golden.law == self.law

    @property
    def text_matches(self) -> bool:
        return self.golden.text == self.text

    @property
    def matches(self) -> bool:
        return self.law_matches and self.text_matches and not self.missing and all(cell.matches for cell in self.cells)


def golden_path(world: World, source: Path | str) -> Path:
    """Where the goldens of a world are: with the bundled ones if it carries a bundled id, else beside its file."""
    if world.id in world_names():
        return golden_folder() / "worlds" / f"{world.id}.json"
    return Path(source).with_suffix(".golden.json")


def cohort_golden_path(spec: CohortSpec, source: Path | str) -> Path:
    """Where the goldens of a cohort are: with the bundled ones if it carries a bundled id, else beside its file."""
    if spec.id in cohort_names():
        return golden_folder() / "cohorts" / f"{spec.id}.json"
    return Path(source).with_suffix(".golden.json")


def check_world(world: World, file: Path, quantities: Pinnable) -> GoldenResult:
    """`check_subject` of a world."""
    return check_subject(world, file, quantities)


def check_subject(subject: Subject, file: Path, quantities: Pinnable) -> GoldenResult:
    """Every pinned cell of a subject, both digests, and quantities that should be pinned and are not.

    Raises `GoldenError` if the file is missing or damaged.
    """
    golden = read_golden(file)
    law, text = subject_digests(subject)
    known = {cell.quantity for cell in golden.cells}
    missing = tuple(quantity for quantity, _ in quantities.pinned() if quantity not in known)
    return GoldenResult(file, golden, law, text, check_cells(golden, quantities), missing)


def check_cells(golden: GoldenFile, quantities: Pinnable) -> tuple[CellResult, ...]:
    """Each cell beside its quantity as it is computed now; other subjects' quantities count as gone."""
    results = []
    for cell in golden.cells:
        try:
            found: str | None = value_text(quantities.value(cell.quantity))
        except (NotFound, InvalidArgument):
            found = None
        results.append(CellResult(cell, found))
    return tuple(results)
