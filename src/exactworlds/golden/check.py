"""Comparing goldens with what the package computes today: each cell, and the digest that it is bound to."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from exactworlds.errors import InvalidArgument, NotFound
from exactworlds.golden.quantities import Quantities, value_text
from exactworlds.golden.store import GoldenCell, GoldenFile, read_golden
from exactworlds.spec.digest import law_digest, text_digest
from exactworlds.spec.library import golden_folder, world_names
from exactworlds.spec.world import World

__all__ = ["CellResult", "GoldenResult", "check_cells", "check_world", "golden_path"]


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


def check_world(world: World, file: Path, quantities: Quantities) -> GoldenResult:
    """Every pinned cell of a world, both digests, and quantities that should be pinned and are not.

    Raises `GoldenError` if the file is missing or damaged.
    """
    golden = read_golden(file)
    known = {cell.quantity for cell in golden.cells}
    missing = tuple(quantity for quantity, _ in quantities.pinned() if quantity not in known)
    return GoldenResult(file, golden, law_digest(world), text_digest(world), check_cells(golden, quantities), missing)


def check_cells(golden: GoldenFile, quantities: Quantities) -> tuple[CellResult, ...]:
    """Each cell beside its quantity as it is computed now; other subjects' quantities count as gone."""
    results = []
    for cell in golden.cells:
        try:
            found: str | None = value_text(quantities.value(cell.quantity))
        except (NotFound, InvalidArgument):
            found = None
        results.append(CellResult(cell, found))
    return tuple(results)
