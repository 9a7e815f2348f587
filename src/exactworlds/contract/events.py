"""Events over the cells of a world: a small typed algebra, its notation, and exact probabilities.

    query = or [ "given" or ]        or = and { "or" and }        and = not { "and" not }
    not   = "not" not | "a" | "b" | CATEGORY | "category in {" CATEGORY { "," CATEGORY } "}" | "(" or ")"

`given` stands once and outermost: a conditional is a question, not an event. What is not here: the English of
questions (`questions`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from attrs import field, frozen

from exactworlds.contract.cells import CELLS, CellSet, ContractWorld, cell_name
from exactworlds.errors import InvalidContract, Problem, UndefinedConditional, shorten

__all__ = [
    "And",
    "Atom",
    "Event",
    "Given",
    "In",
    "Not",
    "Or",
    "Query",
    "Words",
    "cells_of",
    "check_partition",
    "event_text",
    "parse_query",
    "probability",
]

LONGEST = 10_000
DEEPEST = 100
_RESERVED = ("a", "b", "and", "or", "not", "given", "category", "in")
_TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z_0-9]*)|([(){},])|(\S))")


@frozen
class Atom:
    """An attribute is True."""

    attribute: Literal["a", "b"]


def _names(categories: Iterable[str]) -> frozenset[str]:
    return frozenset(categories)


@frozen
class In:
    """The category is one of these."""

    categories: frozenset[str] = field(converter=_names)


@frozen
class Not:
    """The event does not hold."""

    event: Event


@frozen
class And:
    """Both events hold."""

    left: Event
    right: Event


@frozen
class Or:
    """At least one of the events holds."""

    left: Event
    right: Event


@frozen
class Given:
    """An event under a condition, which must have positive mass."""

    event: Event
    condition: Event


Event = Atom | In | Not | And | Or
Query = Event | Given


@frozen
class Words:
    """How the parts of a query are written; the brackets and the order are the same in every wording."""

    atom: str
    several: str
    single: str
    no: str
    both: str
    either: str
    given: str


NOTATION = Words("{}", "category in {{{}}}", "{}", "not {}", "{} and {}", "{} or {}", "{} given {}")


def event_text(query: Query, words: Words = NOTATION) -> str:
    """The query in the notation, or in other words; `parse_query` reads the notation back.

    Claim: E.events

    >>> event_text(Given(In({"type_0", "type_1"}), Not(Atom("b"))))
    'category in {type_0, type_1} given not b'
    """
    if isinstance(query, Given):
        return words.given.format(_text(query.event, 0, words), _text(query.condition, 0, words))
    return _text(query, 0, words)


def _text(event: Event, strength: int, words: Words) -> str:
    """Brackets stand where an operand binds less than its operator (or: 0, and: 1, not: 2)."""
    match event:
        case Atom(attribute):
            return words.atom.format(attribute)
        case In(categories):
            form = words.single if len(categories) == 1 else words.several
            return form.format(", ".join(sorted(categories)))
        case Not(inner):
            return words.no.format(_text(inner, 2, words))
        case And(left, right):
            own, form = 1, words.both
        case Or(left, right):
            own, form = 0, words.either
    text = form.format(_text(left, own, words), _text(right, own + 1, words))
    return f"({text})" if own < strength else text


def parse_query(text: str) -> Query:
    """The query that a text in the notation states; `InvalidContract` names the column of what cannot be read.

    Claim: E.events

    >>> parse_query("type_0 or not b") == Or(In({"type_0"}), Not(Atom("b")))
    True
    """
    if len(text) > LONGEST:
        raise InvalidContract("event", [Problem("", f"found {len(text):,} characters, expected at most {LONGEST:,}")])
    return _Parser(text).query()


class _Parser:
    def __init__(self, text: str) -> None:
        found = ((match, match.lastindex or 0) for match in _TOKEN.finditer(text))
        self._tokens = [(match.group(kind), match.start(kind) + 1) for match, kind in found]
        self._end = len(text) + 1
        self._at = 0

    def query(self) -> Query:
        event = self._either(0)
        if not self._take("given"):
            self._expect_end()
            return event
        condition = self._either(0)
        self._expect_end()
        return Given(event, condition)

    def _either(self, depth: int) -> Event:
        event = self._both(depth)
        while self._take("or"):
            event = Or(event, self._both(depth))
        return event

    def _both(self, depth: int) -> Event:
        event = self._not(depth)
        while self._take("and"):
            event = And(event, self._not(depth))
        return event

    def _not(self, depth: int) -> Event:
        if depth > DEEPEST:
            raise self._fault(f"at most {DEEPEST} brackets and negations within each other")
        if self._take("not"):
            return Not(self._not(depth + 1))
        if self._take("("):
            event = self._either(depth + 1)
            self._require(")")
            return event
        if self._take("category"):
            self._require("in")
            self._require("{")
            names = [self._name()]
            while self._take(","):
                names.append(self._name())
            self._require("}")
            return In(frozenset(names))
        for attribute in ("a", "b"):
            if self._take(attribute):
                return Atom("a" if attribute == "a" else "b")
        return In(frozenset([self._name()]))

    def _peek(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _take(self, token: str) -> bool:
        found = self._peek() == token
        self._at += found
        return found

    def _require(self, token: str) -> None:
        if not self._take(token):
            raise self._fault(repr(token))

    def _name(self) -> str:
        token = self._peek()
        if not token.isidentifier() or token in _RESERVED:
            raise self._fault("an attribute, a category, 'not' or '('")
        self._at += 1
        return token

    def _expect_end(self) -> None:
        if self._peek():
            raise self._fault("'and', 'or', one outermost 'given', or the end")

    def _fault(self, expected: str) -> InvalidContract:
        token = self._peek()
        column = self._tokens[self._at][1] if token else self._end
        found = shorten(token) if token else "the end"
        return InvalidContract("event", [Problem(f"column {column}", f"found {found}, expected {expected}")])


def cells_of(event: Event, world: ContractWorld) -> CellSet:
    """The cells in which an event holds; unknown attributes and categories are refused, all at once.

    Claim: E.events
    """
    problems = list(dict.fromkeys(_unknown(event, world)))
    if problems:
        raise InvalidContract("event", problems)
    holds = _holds(event, world.categories)
    return frozenset(cell for cell in CELLS if cell in holds)


def probability(query: Query, world: ContractWorld) -> Fraction:
    """The exact posterior probability of a query; `UndefinedConditional` where the condition has mass zero.

    Claim: E.events
    """
    if not isinstance(query, Given):
        return world.mass(cells_of(query, world))
    condition = cells_of(query.condition, world)
    mass = world.mass(condition)
    both = cells_of(query.event, world) & condition
    if mass == 0:
        raise UndefinedConditional(event_text(query.event), event_text(query.condition))
    return world.mass(both) / mass


def check_partition(parts: Sequence[Event], world: ContractWorld) -> None:
    """Refuses parts that overlap or leave something out, on the cells of positive posterior mass.

    Claim: E.events
    """
    held = [cells_of(part, world) for part in parts]
    problems = []
    for cell in CELLS:
        if world.posterior[cell] == 0:
            continue
        holders = [event_text(part) for part, cells in zip(parts, held, strict=True) if cell in cells]
        if len(holders) > 1:
            what = f"is in {' and in '.join(holders)}, expected parts that share nothing"
            problems.append(Problem(f"cell {cell_name(cell)}", what))
        if not holders:
            problems.append(Problem(f"cell {cell_name(cell)}", "is in no part, expected parts that leave nothing out"))
    if problems:
        raise InvalidContract("partition", problems)


def _unknown(event: Event, world: ContractWorld) -> Iterator[Problem]:
    match event:
        case Atom(attribute):
            if attribute not in ("a", "b"):
                yield Problem("", f"found the attribute {shorten(attribute)}, expected one of: a, b")
        case In(categories):
            if not categories:
                yield Problem("", "found a membership in no category, expected at least one")
            for name in sorted(categories - set(world.categories)):
                yield Problem("", f"found the category {shorten(name)}, expected one of: {', '.join(world.names)}")
        case Not(inner):
            yield from _unknown(inner, world)
        case And(left, right) | Or(left, right):
            yield from _unknown(left, world)
            yield from _unknown(right, world)


def _holds(event: Event, categories: Mapping[str, CellSet]) -> CellSet:
    match event:
        case Atom(attribute):
            return frozenset(cell for cell in CELLS if getattr(cell, attribute))
        case In(names):
            return frozenset(cell for name in names for cell in categories[name])
        case Not(inner):
            return frozenset(CELLS) - _holds(inner, categories)
        case And(left, right):
            return _holds(left, categories) & _holds(right, categories)
        case Or(left, right):
            return _holds(left, categories) | _holds(right, categories)
