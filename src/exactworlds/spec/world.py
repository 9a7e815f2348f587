"""The checked world that engines, memos and audits take: names resolved, shapes known, every literal kept.

A `World` is made by `spec.load` only, after all checks; nothing here can be wrong any more. What is not here: how it
is read (`spec.reading`), how it is checked (`spec.resolve`), what its numbers add up to (`engine`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

from attrs import frozen

from exactworlds.spec.document import (
    Exact,
    IrrelevantTable,
    LabelsTable,
    ProvenanceEntry,
    ShownTable,
    TemplateTable,
)
from exactworlds.spec.rules import Expression
from exactworlds.spec.typing import Type

__all__ = ["LARGEST_STATE_SPACE", "Attribute", "Derived", "Residual", "Setting", "Table", "World"]

LARGEST_STATE_SPACE = 2**24
"""The most states without residual that a world may have: the engines' arrays then stay within a few gigabytes."""


@frozen
class Attribute:
    """A coordinate of the latent state.

    `levels` are canonical texts and what patterns are made of; `literals` are the same levels as written, which
    differ for numbers only ("0.50" and "0.5"). `rows` maps the levels of `given`, in order, to one probability a
    level; without `given` its only key is ().
    """

    name: str
    is_number: bool
    levels: tuple[str, ...]
    literals: tuple[str, ...]
    given: tuple[str, ...]
    rows: Mapping[tuple[str, ...], tuple[Exact, ...]]


@frozen
class Residual:
    """A hidden number, independent of the attributes; `scales` are where the world is checked.

    0 is always among its values, with probability 0 when the file does not name it: scaling moves mass there.
    """

    name: str
    literals: tuple[str, ...]
    probabilities: tuple[Exact, ...]
    scales: tuple[Exact, ...]


@frozen
class Table:
    """Rows from levels to literals of finite decimals (`is_number`) or to levels."""

    name: str
    keys: tuple[tuple[str, ...], ...]
    is_number: bool
    rows: Mapping[tuple[str, ...], str]


@frozen
class Derived:
    """An attribute that is an expression of others; `reads_residual` if it depends on the residual, at any depth."""

    name: str
    text: str
    expression: Expression
    type: Type
    reads_residual: bool


@frozen
class Setting:
    """What a report may rest on: the names of visible attributes, in the order of a pattern's parts."""

    name: str
    visible: tuple[str, ...]


@frozen(slots=False)  # cached properties need a __dict__
class World:
    """A finite latent space with exact probabilities, a label rule, and views of it.

    `derived` stands in an order in which each entry reads only earlier ones.
    """

    id: str
    title: str
    description: str
    question: str
    labels: LabelsTable
    attributes: tuple[Attribute, ...]
    residual: Residual | None
    tables: Mapping[str, Table]
    derived: tuple[Derived, ...]
    rule: Expression
    rule_text: str
    settings: Mapping[str, Setting]
    shown: Mapping[str, ShownTable]
    irrelevant: Mapping[str, IrrelevantTable]
    templates: Mapping[str, TemplateTable]
    provenance: Mapping[str, ProvenanceEntry]

    @cached_property
    def states(self) -> int:
        """The number of states without residual."""
        return math.prod(len(attribute.levels) for attribute in self.attributes)

    @cached_property
    def states_with_residual(self) -> int:
        """The number of states with the residual as a coordinate."""
        return self.states * (len(self.residual.literals) if self.residual else 1)

    @cached_property
    def attribute(self) -> Mapping[str, Attribute]:
        """The attributes by name."""
        return {attribute.name: attribute for attribute in self.attributes}

    @cached_property
    def derived_by_name(self) -> Mapping[str, Derived]:
        """The derived attributes by name."""
        return {entry.name: entry for entry in self.derived}

    @property
    def scales(self) -> tuple[str, ...]:
        """The literals of the scales at which the world is checked; without residual there is one, and it is 1."""
        return tuple(scale.raw for scale in self.residual.scales) if self.residual else ("1",)
