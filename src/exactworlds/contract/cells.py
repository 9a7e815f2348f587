"""Worlds of four cells, and their exact posterior.

    q(cell) = count × likelihood / Σ count × likelihood          (P2, Section 4.1; claim E.posterior)

A cell is a pair (a, b) of truth values. Evidence is an observed attribute (likelihood 1 where it agrees, else 0), a
sensor's reading with a likelihood for each cell, or nothing. Categories are sets of cells. A is the union of the first
⌊K/2⌋ sorted categories, B is b = True. What is not here: events (`events`), draws (`generators`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

from attrs import field, frozen

from exactworlds.errors import InvalidContract, Problem, shorten
from exactworlds.rational import fraction_text
from exactworlds.spec.cohorts import GENERATORS, GeneratorName
from exactworlds.spec.digest import digest_of

__all__ = [
    "CELLS",
    "EVERYTHING",
    "FOUR_CATEGORIES",
    "THREE_CATEGORIES",
    "Cell",
    "CellSet",
    "ContractWorld",
    "Evidence",
    "Observed",
    "Sensor",
    "categories_of",
    "cell_name",
    "introductory_world",
    "posterior",
    "semantic_hash",
]


class Cell(NamedTuple):
    """One of the four cells."""

    a: bool
    b: bool


CellSet = frozenset[Cell]
CELLS = (Cell(False, False), Cell(False, True), Cell(True, False), Cell(True, True))
"""The cells in their sorted order; counts and likelihoods stand in this order."""

EVERYTHING: CellSet = frozenset(CELLS)
FOUR_CATEGORIES: Mapping[str, CellSet] = {f"type_{place}": frozenset([cell]) for place, cell in enumerate(CELLS)}
"""Each cell is a category; the order of the cells is that of the categories (as in P2's example)."""

THREE_CATEGORIES: Mapping[str, CellSet] = {
    "type_0": frozenset(CELLS[:2]),
    "type_1": frozenset([CELLS[2]]),
    "type_2": frozenset([CELLS[3]]),
}
"""The rule reads b only where a is True. P2's grouping is lost; this one is calibrated to its printed values."""


@frozen
class Observed:
    """An attribute was observed: cells that disagree are impossible."""

    attribute: Literal["a", "b"]
    value: bool


@frozen
class Sensor:
    """A reading, by its likelihood in each cell."""

    likelihoods: tuple[Fraction, Fraction, Fraction, Fraction]


Evidence = Observed | Sensor | None


def categories_of(generator: GeneratorName) -> Mapping[str, CellSet]:
    """The categories of a generator's worlds: three for missing-rule, else four."""
    return THREE_CATEGORIES if generator == "missing-rule" else FOUR_CATEGORIES


def cell_name(cell: Cell) -> str:
    """Two letters, a before b.

    >>> [cell_name(cell) for cell in CELLS]
    ['FF', 'FT', 'TF', 'TT']
    """
    return "".join("T" if value else "F" for value in cell)


@frozen
class ContractWorld:
    """A world, its evidence and its categories; what cannot be is refused with every fault at once."""

    generator: GeneratorName
    counts: tuple[int, int, int, int]
    evidence: Evidence
    categories: Mapping[str, CellSet] = field(hash=False)

    def __attrs_post_init__(self) -> None:
        problems = list(_faults(self))
        if not problems and not any(self.weights):
            problems.append(Problem("counts", "found no cell with count × likelihood > 0, expected at least one"))
        if problems:
            raise InvalidContract("world", problems)

    @cached_property
    def likelihoods(self) -> tuple[Fraction, ...]:
        """The likelihood of the evidence in each cell."""
        match self.evidence:
            case Observed(attribute, value):
                return tuple(Fraction(getattr(cell, attribute) == value) for cell in CELLS)
            case Sensor(likelihoods):
                return likelihoods
            case None:
                return (Fraction(1),) * 4

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        """Count × likelihood of each cell."""
        return tuple(count * likelihood for count, likelihood in zip(self.counts, self.likelihoods, strict=True))

    @cached_property
    def posterior(self) -> Mapping[Cell, Fraction]:
        """The exact posterior of the cells."""
        return posterior(self)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The categories in canonical order."""
        return tuple(sorted(self.categories))

    @property
    def event_a(self) -> tuple[str, ...]:
        """The categories of A: the first ⌊K/2⌋."""
        return self.names[: len(self.names) // 2]

    @cached_property
    def cells_of_a(self) -> CellSet:
        return frozenset(cell for name in self.event_a for cell in self.categories[name])

    @property
    def cells_of_b(self) -> CellSet:
        return frozenset(cell for cell in CELLS if cell.b)

    def mass(self, cells: CellSet) -> Fraction:
        """The posterior mass of a set of cells."""
        return sum((self.posterior[cell] for cell in cells), Fraction(0))

    @cached_property
    def canonical(self) -> Mapping[str, Fraction]:
        """The posterior of the categories, in canonical order."""
        return {name: self.mass(self.categories[name]) for name in self.names}

    @cached_property
    def q_a(self) -> Fraction:
        """The posterior mass of A."""
        return self.mass(self.cells_of_a)

    @cached_property
    def has_conditional(self) -> bool:
        """Whether A given B is defined: P(B) > 0."""
        return self.mass(self.cells_of_b) > 0


def posterior(world: ContractWorld) -> dict[Cell, Fraction]:
    """The exact posterior of each cell.

    Claim: E.posterior
    """
    total = sum(world.weights, Fraction(0))
    return {cell: weight / total for cell, weight in zip(CELLS, world.weights, strict=True)}


def semantic_hash(world: ContractWorld) -> str:
    """What a world is, whatever it is called and however it is shown: equal hashes are the same root.

    Claim: E.hash
    """
    match world.evidence:
        case Observed(attribute, value):
            evidence: object = {attribute: value}
        case Sensor():
            evidence = "reading"
        case None:
            evidence = None
    content = {
        "generator": world.generator,
        "cells": [
            [cell.a, cell.b, count, fraction_text(likelihood)]
            for cell, count, likelihood in zip(CELLS, world.counts, world.likelihoods, strict=True)
        ],
        "evidence": evidence,
        "categories": sorted(sorted(map(cell_name, cells)) for cells in world.categories.values()),
        "A": sorted(map(cell_name, world.cells_of_a)),
        "B": sorted(map(cell_name, world.cells_of_b)),
    }
    return digest_of(content)


def introductory_world() -> ContractWorld:
    """P2's example (Sections 1 and 4.1): weights 33.5, 76.5, 9 and 39.5.

    >>> introductory_world().q_a
    Fraction(220, 317)
    """
    sensor = Sensor((Fraction(1, 2), Fraction(9, 10), Fraction(1), Fraction(1, 2)))
    return ContractWorld("noisy-sensor", (67, 85, 9, 79), sensor, FOUR_CATEGORIES)


def _faults(world: ContractWorld) -> Iterator[Problem]:
    if world.generator not in GENERATORS:
        what = f"found {shorten(world.generator)}, expected one of: {', '.join(GENERATORS)}"
        yield Problem("generator", what)
    counts: Sequence[Any] = world.counts  # what came in may be anything
    if len(counts) != len(CELLS):
        yield Problem("counts", f"found {len(counts)} counts, expected {len(CELLS)}")
    for place, count in enumerate(counts):
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            what = f"found {shorten(count)}, expected a whole number that is not negative"
            yield Problem(f"counts[{place}]", what)
    if isinstance(world.evidence, Sensor):
        likelihoods: Sequence[Any] = world.evidence.likelihoods
        if len(likelihoods) != len(CELLS):
            yield Problem("evidence.likelihoods", f"found {len(likelihoods)}, expected {len(CELLS)}")
        for place, likelihood in enumerate(likelihoods):
            if not isinstance(likelihood, Fraction) or not 0 <= likelihood <= 1:
                what = f"found {shorten(str(likelihood))}, expected an exact number from 0 to 1"
                yield Problem(f"evidence.likelihoods[{place}]", what)
    if isinstance(world.evidence, Observed) and world.evidence.attribute not in ("a", "b"):
        yield Problem("evidence.attribute", f"found {shorten(world.evidence.attribute)}, expected one of: a, b")
    yield from _category_faults(world.categories)


def _category_faults(categories: Mapping[str, CellSet]) -> Iterator[Problem]:
    if len(categories) < 2:
        yield Problem("categories", f"found {len(categories)}, expected at least 2")
    owner: dict[Cell, str] = {}
    for name, cells in categories.items():
        if not name.isidentifier() or name in ("a", "b", "and", "or", "not", "given", "category"):
            yield Problem(f"categories.{name}", "expected a name of letters, digits and _ that is no word of events")
        for cell in sorted(cells):
            if cell not in CELLS:
                yield Problem(f"categories.{name}", f"found {shorten(cell)}, expected cells")
            elif cell in owner:
                what = f"holds the cell {cell_name(cell)}, which {owner[cell]} holds too, expected each cell once"
                yield Problem(f"categories.{name}", what)
            else:
                owner[cell] = name
    missing = [cell_name(cell) for cell in CELLS if cell not in owner]
    if missing:
        yield Problem("categories", f"leave out {', '.join(missing)}, expected every cell in one category")
