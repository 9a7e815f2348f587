"""The shape of a world file, one class a TOML table, before anything is checked against anything else.

These types are what `spec.reading` structures a file into and what the JSON Schema is generated from. An exact number
keeps the literal as it was written beside its value. What is not here: meaning (`spec.resolve`), reading
(`spec.reading`), the checked world that engines take (`spec.world`).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from attrs import field, frozen

__all__ = [
    "AttributeTable",
    "Description",
    "Exact",
    "IdentifierTable",
    "IrrelevantTable",
    "LabelsTable",
    "ProvenanceEntry",
    "ResidualTable",
    "RuleTable",
    "ShownTable",
    "TemplateTable",
    "Tree",
    "WorldDocument",
]


@frozen
class Exact:
    """An exact number: the literal as it stands in the file, and its value."""

    raw: str
    value: Fraction = field(eq=True)

    def __str__(self) -> str:
        return self.raw


@frozen
class Tree:
    """Rows keyed by levels, as deep as there are keys; its leaves are read where their shape is known."""

    content: Any


@frozen
class Description:
    """What an editor shows beside a key."""

    text: str


def _about(text: str) -> Description:
    return Description(text)


@frozen
class LabelsTable:
    """The names of the two classes."""

    positive: str
    negative: str


@frozen
class AttributeTable:
    """One attribute of the latent state."""

    probability: Annotated[
        Tree,
        _about(
            'one exact probability a level, in their order, or "uniform"; with given, a table from each level of the '
            "given attribute to such a list, nested in the order of given"
        ),
    ]
    levels: Annotated[tuple[str, ...] | str | None, _about("the names of its levels, or the name of a [level_set]")] = (
        None
    )
    values: Annotated[tuple[Exact, ...] | None, _about("its levels, when they are numbers: finite decimals")] = None
    given: Annotated[
        tuple[str, ...] | str | None, _about("the earlier attributes that its distribution depends on")
    ] = None


@frozen
class ResidualTable:
    """A number that is never shown; its nonzero mass can be scaled."""

    probability: Annotated[Mapping[str, Exact], _about("from each value, a finite decimal, to its probability")]
    scales: Annotated[tuple[Exact, ...], _about("the scales at which the world is checked")] = (
        Exact("1", Fraction(1)),
    )


@frozen
class RuleTable:
    """The label rule."""

    positive: Annotated[str, _about("a boolean expression: the label is positive where it holds")]


@frozen
class IdentifierTable:
    """Letters in groups, one of which, at a position that another attribute picks, is the level."""

    length: Annotated[int, _about("how many letters it has")]
    groups: Annotated[tuple[int, ...], _about("the letters between display hyphens; they add up to length")]
    position_of: Annotated[str, _about("the attribute whose level picks the position")]
    position: Annotated[Mapping[str, int], _about("from its levels to positions, which count letters from 1")]


@frozen
class ShownTable:
    """How a visible value is written in a memo."""

    label: str
    unit: str | None = None
    phrases: Annotated[Mapping[str, str] | None, _about("from each level to its phrase")] = None
    grid: Annotated[
        Mapping[str, tuple[Exact, Exact]] | None,
        _about("from each level to the first and last value of its grid"),
    ] = None
    step: Annotated[Exact | None, _about("the step of the grid")] = None
    identifier: IdentifierTable | None = None


@frozen
class IrrelevantTable:
    """A field that is drawn uniformly and independently of everything."""

    label: str
    range: Annotated[tuple[int, int] | None, _about("the first and last integer, inclusive")] = None
    choices: tuple[str, ...] | None = None


@frozen
class TemplateTable:
    """A way to write memos."""

    parts: Annotated[
        tuple[str, ...],
        _about(
            "texts with slots such as {novelty} and wordings such as {The paper|It}; a part is left out where a "
            "setting hides an attribute that it names"
        ),
    ]


@frozen
class ProvenanceEntry:
    """Where numbers come from."""

    of: Annotated[tuple[str, ...], _about("key paths, * stands for any part")]
    kind: Literal["published", "forced", "calibrated", "chosen"]
    why: str
    locus: Annotated[str | None, _about("where it is printed")] = None
    cells: Annotated[tuple[str, ...], _about("the published cells that force it or that it was chosen for")] = ()


@frozen
class WorldDocument:
    """A world file."""

    format: Literal["exactworlds/world/1"]
    id: str
    title: str
    question: str
    labels: LabelsTable
    rule: RuleTable
    attribute: Mapping[str, AttributeTable]
    setting: Annotated[
        Mapping[str, tuple[str, ...]], _about("from the name of a setting to the attributes that it shows")
    ]
    provenance: tuple[ProvenanceEntry, ...]
    description: str = ""
    level_set: Mapping[str, tuple[str, ...]] = {}
    residual: Annotated[Mapping[str, ResidualTable], _about("at most one")] = {}
    table: Annotated[Mapping[str, Tree], _about("from levels to finite decimals or to levels")] = {}
    derived: Annotated[Mapping[str, str], _about("attributes that are expressions of others")] = {}
    shown: Mapping[str, ShownTable] = {}
    irrelevant: Mapping[str, IrrelevantTable] = {}
    template: Mapping[str, TemplateTable] = {}
