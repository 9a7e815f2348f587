"""The numbers and texts that the papers print, as printed, with where they stand.

A cell's key is the quantity that it prints; its id adds the group, because one quantity can be printed twice. What is
not here: how a quantity is computed and compared (`golden.quantities`, `audit`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from attrs import fields, frozen

from exactworlds.errors import InvalidSpec, Problem
from exactworlds.spec.bundled import spec_folder
from exactworlds.spec.document import Description
from exactworlds.spec.reading import read_toml, structure, unknown_keys

__all__ = ["Group", "Published", "PublishedCell", "load_published"]


@frozen
class Group:
    """Cells that are printed in one place."""

    id: str
    locus: str
    about: str
    claim: str
    cells: Mapping[str, str]
    compare: Annotated[
        Literal["rounded", "exact", "text"],
        Description("to half a unit of the last digit, exactly, or letter by letter"),
    ] = "rounded"
    unreadable: Annotated[tuple[str, ...], Description("quantities whose printed value could not be read")] = ()
    brief: Annotated[bool, Description("show the group as one line when all of it matches")] = False


@frozen
class PublishedCell:
    """One printed value; `printed` is None where it could not be read."""

    group: Group
    quantity: str
    printed: str | None

    @property
    def id(self) -> str:
        return f"{self.group.id}:{self.quantity}"

    @property
    def world(self) -> str:
        return self.quantity.partition("/")[0]


@frozen
class Published:
    """Everything that the papers print."""

    format: Literal["exactworlds/published/1"]
    source: Mapping[str, str]
    group: tuple[Group, ...]
    identity: Annotated[Mapping[str, str], Description("printed against printed")]

    def cells(self, world: str | None = None) -> Iterator[PublishedCell]:
        """The cells of one world, or of all, in file order."""
        for group in self.group:
            for quantity, printed in group.cells.items():
                cell = PublishedCell(group, quantity, printed)
                if world in (None, cell.world):
                    yield cell
            for quantity in group.unreadable:
                cell = PublishedCell(group, quantity, None)
                if world in (None, cell.world):
                    yield cell


@cache
def load_published(file: Path | None = None) -> Published:
    """The bundled `published.toml`, or another file of its format."""
    path = file or spec_folder() / "published.toml"
    raw = read_toml(path)
    problems: list[Problem] = unknown_keys(raw, [entry.name for entry in fields(Published)], "")
    published = structure(raw, Published, "", problems)
    if problems or published is None:
        raise InvalidSpec(path, dict.fromkeys(problems))
    return published
