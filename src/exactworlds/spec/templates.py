"""The template language: literal text with slots, in parts that stand or fall together.

    "Novelty: {novelty}. {The authors|They} submitted in {submission_month}."

A slot in braces names a visible attribute or an irrelevant field; alternatives with | are wordings of which one is
drawn; {{ and }} are braces. A part is left out where a setting hides an attribute that it names. What is not here: how
a slot is written and read (`memo`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

__all__ = ["Literal", "Piece", "Slot", "TemplateSyntaxError", "Wording", "parse_part", "slot_names"]

_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


class TemplateSyntaxError(ValueError):
    """A part of a template cannot be read; the message says why."""


@frozen
class Literal:
    """Text that stands as it is."""

    text: str


@frozen
class Slot:
    """The value of an attribute or of an irrelevant field."""

    name: str


@frozen
class Wording:
    """One of several wordings, drawn by the renderer; it carries nothing."""

    options: tuple[str, ...]


Piece = Literal | Slot | Wording


def parse_part(text: str) -> tuple[Piece, ...]:
    """The pieces of a part.

    >>> parse_part("It is {size}, {really|truly}.")  # doctest: +NORMALIZE_WHITESPACE
    (Literal(text='It is '), Slot(name='size'), Literal(text=', '), Wording(options=('really', 'truly')),
     Literal(text='.'))
    """
    return tuple(_pieces(text))


def slot_names(pieces: tuple[Piece, ...]) -> tuple[str, ...]:
    """The names that a part's slots read, in order."""
    return tuple(piece.name for piece in pieces if isinstance(piece, Slot))


def _pieces(text: str) -> Iterator[Piece]:
    literal = ""
    position = 0
    while position < len(text):
        pair = text[position : position + 2]
        if pair in ("{{", "}}"):
            literal += pair[0]
            position += 2
        elif text[position] == "{":
            end = text.find("}", position)
            if end < 0:
                raise TemplateSyntaxError("found { without }, expected a slot such as {name} (a brace itself is {{)")
            if literal:
                yield Literal(literal)
                literal = ""
            yield _slot(text[position + 1 : end])
            position = end + 1
        elif text[position] == "}":
            raise TemplateSyntaxError("found } without {, expected a slot such as {name} (a brace itself is }})")
        else:
            literal += text[position]
            position += 1
    if literal:
        yield Literal(literal)


def _slot(inside: str) -> Piece:
    if "|" in inside:
        options = tuple(inside.split("|"))
        if "" in options or len(set(options)) < len(options) or "{" in inside:
            raise TemplateSyntaxError(f"found {{{inside}}}, expected distinct wordings, none of them empty")
        return Wording(options)
    if not _NAME.fullmatch(inside):
        raise TemplateSyntaxError(f"found {{{inside}}}, expected the name of an attribute or irrelevant field")
    return Slot(inside)
