"""How many digits the values of an expression can have, found without evaluating it.

Products of derived attributes of products double the digits at each step: thirty lines could ask for more digits than
there is memory. The loader therefore bounds every number, and the engines can rely on it. The bound is an upper one:
it assumes that the largest values meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from exactworlds.spec.rules import (
    Arithmetic,
    Choose,
    Expression,
    Extremum,
    Lookup,
    Name,
    Negate,
    Number,
)
from exactworlds.spec.world import Table

__all__ = ["MOST_DIGITS", "Digits", "digits_of", "digits_of_literals"]

MOST_DIGITS = 10_000
"""The most digits, before and after the point together, that a value of a rule may need."""


@frozen
class Digits:
    """At most `whole` digits before the point and `places` after it."""

    whole: int
    places: int

    @property
    def total(self) -> int:
        return self.whole + self.places


def digits_of_literals(literals: Iterable[str]) -> Digits:
    """The digits that any of these literals needs.

    >>> digits_of_literals(["-12", "0.125"])
    Digits(whole=2, places=3)
    """
    parts = [literal.lstrip("-").partition(".") for literal in literals]
    return _widest(Digits(len(whole), len(places)) for whole, _, places in parts)


def digits_of(node: Expression, names: Mapping[str, Digits], tables: Mapping[str, Table]) -> Digits:
    """The digits that the value of an expression can need; none for booleans and levels.

    >>> digits_of(Arithmetic("*", Number("99"), Number("0.5")), {}, {})
    Digits(whole=3, places=1)
    """

    def inner(part: Expression) -> Digits:
        return digits_of(part, names, tables)

    match node:
        case Number(literal):
            return digits_of_literals([literal])
        case Name(name):
            return names.get(name, _NONE)
        case Negate(operand):
            return inner(operand)
        case Arithmetic("*", left, right):
            one, two = inner(left), inner(right)
            return Digits(one.whole + two.whole, one.places + two.places)
        case Arithmetic(_, left, right):
            widest = _widest([inner(left), inner(right)])
            return Digits(widest.whole + 1, widest.places)
        case Extremum(_, operands):
            return _widest(map(inner, operands))
        case Choose(_, then, otherwise):
            return _widest([inner(then), inner(otherwise)])
        case Lookup(table, _):
            found = tables.get(table)
            return digits_of_literals(found.rows.values()) if found is not None and found.is_number else _NONE
        case _:
            return _NONE


_NONE = Digits(0, 0)


def _widest(parts: Iterable[Digits]) -> Digits:
    found = list(parts) or [_NONE]
    return Digits(max(part.whole for part in found), max(part.places for part in found))
