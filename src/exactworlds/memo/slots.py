"""How one value is written and read: phrases, numeric grids, fields, wordings, and the identifier.

A slot knows its language (which texts it can produce), writes a level with the help of uniform draws, and reads a text
back. It is made from the spec's texts alone and never sees a law. What is not here: joining slots to memos
(`memo.template`) and deciding whether a memo reads back in one way (`memo.automaton`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from attrs import field, frozen

from exactworlds.rational import decimal_digits, exact_text
from exactworlds.spec.document import IdentifierTable, IrrelevantTable, ShownTable

__all__ = [
    "Column",
    "FieldSlot",
    "GridSlot",
    "IdentifierSlot",
    "PhraseSlot",
    "WordingSlot",
    "WrittenSlot",
    "field_slot",
    "visible_slot",
]


@frozen
class Column:
    """One uniform draw that a slot needs: `sizes` alternatives, or as many as the level says."""

    name: str
    sizes: int | Mapping[str, int]

    def size(self, level: str) -> int:
        return self.sizes if isinstance(self.sizes, int) else self.sizes[level]


class WrittenSlot(Protocol):
    """What every slot can do."""

    @property
    def name(self) -> str:
        """The attribute or field that it writes; wordings have made-up names."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The draws that writing needs."""

    def write(self, levels: Mapping[str, str], draws: Sequence[int]) -> str:
        """The text for the levels of the visible attributes and the draws of the columns."""

    def texts(self) -> Iterable[str] | tuple[frozenset[str], ...]:
        """Its language: every text, or for each place the characters that can stand there."""

    def read(self, text: str) -> str:
        """The value that a text of the language states; an identifier gives its letters."""


@frozen
class PhraseSlot:
    """A level written as its phrase."""

    name: str
    phrases: Mapping[str, str]
    columns: tuple[Column, ...] = ()

    def write(self, levels: Mapping[str, str], draws: Sequence[int]) -> str:
        return self.phrases[levels[self.name]]

    def texts(self) -> Iterable[str]:
        return self.phrases.values()

    def read(self, text: str) -> str:
        return next(level for level, phrase in self.phrases.items() if phrase == text)


@frozen
class GridSlot:
    """A level written as a number of its grid, uniformly; end points are inclusive, thresholds go up."""

    name: str
    values: Mapping[str, tuple[str, ...]]

    @property
    def columns(self) -> tuple[Column, ...]:
        return (Column(self.name, {level: len(texts) for level, texts in self.values.items()}),)

    def write(self, levels: Mapping[str, str], draws: Sequence[int]) -> str:
        return self.values[levels[self.name]][draws[0]]

    def texts(self) -> Iterable[str]:
        return [text for texts in self.values.values() for text in texts]

    def read(self, text: str) -> str:
        return next(level for level, texts in self.values.items() if text in texts)


@frozen
class FieldSlot:
    """An irrelevant field, uniform over its choices."""

    name: str
    choices: Sequence[str]

    @property
    def columns(self) -> tuple[Column, ...]:
        return (Column(self.name, len(self.choices)),)

    def write(self, levels: Mapping[str, str], draws: Sequence[int]) -> str:
        return self.choices[draws[0]]

    def texts(self) -> Iterable[str]:
        return self.choices

    def read(self, text: str) -> str:
        return text


@frozen
class WordingSlot:
    """One of several wordings that mean the same."""

    name: str
    options: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return (Column(self.name, len(self.options)),)

    def write(self, levels: Mapping[str, str], draws: Sequence[int]) -> str:
        return self.options[draws[0]]

    def texts(self) -> Iterable[str]:
        return self.options

    def read(self, text: str) -> str:
        return text


@frozen
class IdentifierSlot:
    """Letters in groups with display hyphens; the level stands at the position that another attribute picks.

    Positions count letters, never hyphens. The other letters are uniform filler, drawn for every place; the one at the
    position is drawn too and not used, so that filler does not depend on what is shown.
    """

    name: str
    table: IdentifierTable
    alphabet: tuple[str, ...]
    columns: tuple[Column, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        columns = tuple(Column(f"{self.name}:{place}", len(self.alphabet)) for place in range(self.table.length))
        object.__setattr__(self, "columns", columns)

    def write(self, levels: Mapping[str, str], draws: Sequence[int]) -> str:
        letters = [self.alphabet[draw] for draw in draws]
        letters[self.table.position[levels[self.table.position_of]] - 1] = levels[self.name]
        return "-".join(self._groups(letters))

    def texts(self) -> tuple[frozenset[str], ...]:
        letters = frozenset(self.alphabet)
        places: list[frozenset[str]] = []
        for index, size in enumerate(self.table.groups):
            places += [frozenset("-")] * (index > 0) + [letters] * size
        return tuple(places)

    def read(self, text: str) -> str:
        return text.replace("-", "")

    def level(self, letters: str, selector: str) -> str:
        """The level that the identifier states, given the level of the attribute that picks the position."""
        return letters[self.table.position[selector] - 1]

    def _groups(self, letters: Sequence[str]) -> list[str]:
        groups, start = [], 0
        for size in self.table.groups:
            groups.append("".join(letters[start : start + size]))
            start += size
        return groups


def visible_slot(name: str, levels: Sequence[str], shown: ShownTable | None) -> WrittenSlot:
    """The slot of a visible attribute with these levels, as the spec shows it; by default, the levels themselves."""
    if shown is not None and shown.identifier is not None:
        return IdentifierSlot(name, shown.identifier, tuple(levels))
    if shown is not None and shown.grid is not None and shown.step is not None:
        places = len(shown.step.raw.partition(".")[2])
        return GridSlot(
            name,
            {
                level: _grid_texts(first.value, last.value, shown.step.value, places)
                for level, (first, last) in shown.grid.items()
            },
        )
    if shown is not None and shown.phrases is not None:
        return PhraseSlot(name, dict(shown.phrases))
    spoken = {"false": "no", "true": "yes"} if set(levels) <= {"false", "true"} else {}
    return PhraseSlot(name, {level: spoken.get(level, level) for level in levels})


def _grid_texts(first: Fraction, last: Fraction, step: Fraction, places: int) -> tuple[str, ...]:
    """Every value of a grid in the decimals of its step."""
    count = int((last - first) / step) + 1
    values = [first + index * step for index in range(count)]
    if all(round(value * 10**places) == value * 10**places for value in values):
        return tuple(decimal_digits(value, places) for value in values)
    return tuple(exact_text(value) for value in values)


def field_slot(name: str, table: IrrelevantTable) -> FieldSlot:
    """The slot of an irrelevant field."""
    if table.choices is not None:
        return FieldSlot(name, table.choices)
    first, last = table.range or (0, 0)
    return FieldSlot(name, [str(number) for number in range(first, last + 1)])
