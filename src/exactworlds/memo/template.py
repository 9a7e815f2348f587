"""A template for one setting: it writes memos from what is visible, and reads them back.

It is made from the spec's texts and level names alone; it has no law, no rule and no hidden attribute to look at, so
what is hidden cannot matter (claim B.preservation). A part is left out if the setting hides an attribute that it
names. What is not here: drawing cases (`memo.cases`) and proving that memos read back in one way (`memo.certify`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from attrs import frozen

from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import ExactworldsError, NotFound, shorten
from exactworlds.memo.automaton import Chain, Stuck
from exactworlds.memo.slots import Column, IdentifierSlot, WordingSlot, WrittenSlot, field_slot, visible_slot
from exactworlds.spec.document import IrrelevantTable, ShownTable
from exactworlds.spec.resolve_texts import levels_of
from exactworlds.spec.templates import Literal, Slot, parse_part, slot_names
from exactworlds.spec.world import World

__all__ = ["MemoParseError", "MemoTemplate", "Parsed", "memo_template"]


class MemoParseError(ExactworldsError):
    """A text is not a memo of the template: where it stops matching, what stands there, what was expected."""

    def __init__(self, text: str, position: int, expected: Sequence[str]) -> None:
        self.position, self.expected = position, tuple(expected)
        line = text.count("\n", 0, position) + 1
        column = position - (text.rfind("\n", 0, position) + 1) + 1
        found = shorten(text[position : position + 30]) if position < len(text) else "the end"
        listed = " or ".join(expected)
        super().__init__(f"line {line}, column {column}: found {found}, expected {listed}")


@frozen
class Parsed:
    """What a memo states: the pattern of visible levels, in the setting's order, and the irrelevant fields."""

    pattern: tuple[str, ...]
    fields: Mapping[str, str]


@frozen(slots=False)
class MemoTemplate:
    """Literals and slots in order, for one setting; `visible` is the order of a pattern's levels."""

    name: str
    setting: str
    visible: tuple[str, ...]
    items: tuple[str | WrittenSlot, ...]

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The draws that a memo needs, each named once although a slot may stand twice."""
        found: dict[str, Column] = {}
        for item in self.items:
            if not isinstance(item, str):
                found.update({column.name: column for column in item.columns})
        return tuple(found.values())

    @cached_property
    def chain(self) -> Chain:
        """The automaton of the memos of this template."""
        return Chain([(item,) if isinstance(item, str) else item.texts() for item in self.items])

    def write(self, pattern: Sequence[str], draws: Mapping[str, int]) -> str:
        """The memo for a pattern, with one draw a column.

        Claim: B.preservation
        """
        levels = dict(zip(self.visible, pattern, strict=True))
        return "".join(
            [
                item if isinstance(item, str) else item.write(levels, [draws[column.name] for column in item.columns])
                for item in self.items
            ]
        )

    def parse(self, text: str) -> Parsed:
        """What a memo states, or `MemoParseError`; the parser never guesses.

        Claim: B.preservation
        """
        found = self.chain.readings(text)
        if isinstance(found, Stuck):
            raise MemoParseError(text, found.position, [self._describe(item) for item in found.items] or ["the end"])
        if len(found) > 1:
            raise MemoParseError(text, 0, ["a text with one reading; this one has several"])
        return self._interpret(text, found[0].items)

    def _interpret(self, text: str, pieces: Sequence[str]) -> Parsed:
        values: dict[str, str] = {}
        identifiers: list[IdentifierSlot] = []
        for item, piece in zip(self.items, pieces, strict=True):
            if isinstance(item, str | WordingSlot):
                continue
            value = item.read(piece)
            if values.setdefault(item.name, value) != value:
                what = f"{item.name} to say the same everywhere, not {values[item.name]!r} and {value!r}"
                raise MemoParseError(text, 0, [what])
            if isinstance(item, IdentifierSlot):
                identifiers.append(item)
        for slot in identifiers:
            values[slot.name] = slot.level(values[slot.name].replace("-", ""), values[slot.table.position_of])
        fields = {name: value for name, value in values.items() if name not in self.visible}
        return Parsed(tuple(values[name] for name in self.visible), fields)

    def _describe(self, index: int) -> str:
        item = self.items[index]
        return shorten(item, 40) if isinstance(item, str) else f"a value of {item.name}"


def memo_template(world: World, setting: str, template: str, scaled: ScaledWorld | None = None) -> MemoTemplate:
    """The template of a world, as it is in a setting."""
    if setting not in world.settings:
        raise NotFound("setting", setting, world.settings)
    if template not in world.templates:
        raise NotFound("template", template, world.templates)
    visible = world.settings[setting].visible
    levels = {name: _levels(world, name, scaled) for name in visible}
    parts = world.templates[template].parts
    return MemoTemplate(template, setting, visible, _items(parts, levels, world.shown, world.irrelevant))


def _levels(world: World, name: str, scaled: ScaledWorld | None) -> tuple[str, ...]:
    """The levels of a visible name; a derived number has those that occur."""
    known = levels_of(name, world.attribute, world.derived_by_name)
    return known if known is not None else (scaled or ScaledWorld(world)).values_of(name)


def _items(
    parts: Sequence[str],
    levels: Mapping[str, tuple[str, ...]],
    shown: Mapping[str, ShownTable],
    irrelevant: Mapping[str, IrrelevantTable],
) -> tuple[str | WrittenSlot, ...]:
    """The items of the parts that a setting shows; neighbouring literals are joined."""
    items: list[str | WrittenSlot] = []
    for number, part in enumerate(parts):
        pieces = parse_part(part)
        if any(name not in levels and name not in irrelevant for name in slot_names(pieces)):
            continue
        for place, piece in enumerate(pieces):
            if isinstance(piece, Literal):
                if items and isinstance(items[-1], str):
                    items[-1] += piece.text
                else:
                    items.append(piece.text)
            elif isinstance(piece, Slot):
                if piece.name in levels:
                    items.append(visible_slot(piece.name, levels[piece.name], shown.get(piece.name)))
                else:
                    items.append(field_slot(piece.name, irrelevant[piece.name]))
            else:
                items.append(WordingSlot(f"wording:{number}:{place}", piece.options))
    return tuple(items)
