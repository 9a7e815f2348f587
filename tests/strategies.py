"""Random worlds for the property tests, as TOML texts, biased to ties.

A `Draft` is a world before it is written down: tests that need a variant of a world (attributes in another order, a
setting less) change the draft and write it again. Numbers come from a small grid, and thresholds are drawn among the
values that the other side really takes, so that most worlds have states that tie exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from hypothesis import strategies as st

from brute_force import BruteForce, rewrite, written

__all__ = ["AttributeDraft", "Draft", "drafts", "probability_rows", "world_texts"]

MOST_STATES = 96
LEVEL_SETS = [("u", "v"), ("x", "y", "z"), ("only",), ("north side", "south-side", "x"), ("v", "u")]
GRID = ["0", "1", "2", "-1", "0.5", "1.5", "-0.5", "0.1", "0.2", "0.3", "0.7", "2.50", "-2"]
"""0.1 + 0.2 = 0.3 holds in none but exact arithmetic; 2.50 is not in canonical form."""
LARGE = ["9223372036854775807", "-9223372036854775808", "4294967296.5", "3037000500", "0.000000000000000000001"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]


@dataclass(frozen=True)
class AttributeDraft:
    name: str
    is_number: bool
    levels: tuple[str, ...]
    given: tuple[str, ...]
    rows: Mapping[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Draft:
    """A world: `text` writes it down."""

    attributes: tuple[AttributeDraft, ...]
    residual: Mapping[str, str] = field(default_factory=dict)
    scales: tuple[str, ...] = ("1",)
    tables: Mapping[str, Mapping[tuple[str, ...], str]] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    rule: str = "1 < 2"
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        document: dict[str, Any] = {
            "format": "exactworlds/world/1",
            "id": "drawn",
            "title": "Drawn",
            "question": "Which?",
            "labels": {"positive": "yes", "negative": "no"},
            "attribute": {attribute.name: _attribute_table(attribute) for attribute in self.attributes},
            "rule": {"positive": self.rule},
            "setting": self.settings,
            "provenance": [{"of": ["*"], "kind": "chosen", "why": "drawn"}],
        }
        if self.residual:
            document["residual"] = {"noise": {"probability": self.residual, "scales": list(self.scales)}}
        if self.tables:
            document["table"] = {name: _nested(rows) for name, rows in self.tables.items()}
        if self.derived:
            document["derived"] = self.derived
        return "".join(f"{key} = {_toml(value)}\n" for key, value in document.items())

    @property
    def bytes(self) -> bytes:
        return self.text.encode()

    @property
    def largest_scale(self) -> Fraction:
        """The scale that leaves nothing on 0."""
        nonzero = (Fraction(weight) for value, weight in self.residual.items() if Fraction(value))
        return 1 / sum(nonzero, Fraction(0))


def _attribute_table(attribute: AttributeDraft) -> dict[str, Any]:
    table: dict[str, Any] = {"values" if attribute.is_number else "levels": attribute.levels}
    if attribute.given:
        table["given"] = attribute.given
    table["probability"] = _nested({key: list(row) for key, row in attribute.rows.items()})
    return table


def _nested(rows: Mapping[tuple[str, ...], Any]) -> Any:
    if set(rows) == {()}:
        return rows[()]
    below: dict[str, dict[tuple[str, ...], Any]] = {}
    for key, value in rows.items():
        below.setdefault(key[0], {})[key[1:]] = value
    return {first: _nested(rest) for first, rest in below.items()}


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(below)}" for key, below in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


@st.composite
def probability_rows(draw: st.DrawFn, count: int, width: int) -> list[tuple[str, ...]]:
    """Rows of exact probabilities: coarse or with denominators of forty digits; zeros in several rows, never in all."""
    weights = [draw(st.lists(st.integers(0, 4), min_size=width, max_size=width)) for _ in range(count)]
    for row in weights:
        row[0] += not any(row)
    for index in range(width):
        if not any(row[index] for row in weights):
            weights[0][index] = 1
    kind = draw(st.sampled_from(["coarse", "coarse", "decimal", "ratio"]))
    if kind == "coarse":
        return [tuple(str(Fraction(weight, sum(row))) for weight in row) for row in weights]
    whole = 10**40 if kind == "decimal" else draw(st.integers(10**39, 10**40 - 1))
    rows = []
    for row in weights:
        parts = [draw(st.integers(1, whole // width - 1)) if weight else 0 for weight in row]
        largest = parts.index(max(parts))
        parts[largest] += whole - sum(parts)
        rows.append(tuple(_probability(part, whole, kind) for part in parts))
    return rows


def _probability(part: int, whole: int, kind: str) -> str:
    if kind == "ratio":
        return f"{part}/{whole}"
    return "1" if part == whole else f"0.{part:040d}"


class _Expressions:
    """Draws expressions of a wanted type over what is known so far."""

    def __init__(self, draw: st.DrawFn, numbers: list[str]) -> None:
        self.draw = draw
        self.grid = numbers
        self.numbers: list[str] = []
        self.booleans: list[str] = []
        self.levels: dict[str, tuple[str, ...]] = {}
        self.number_tables: dict[str, list[tuple[str, ...]]] = {}
        self.level_tables: dict[str, tuple[list[tuple[str, ...]], tuple[str, ...]]] = {}

    def pick(self, options: Iterable[Any]) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def literal(self) -> str:
        text = str(self.pick(self.grid))
        return f"({text})" if text.startswith("-") else text

    def number(self, depth: int) -> str:
        ways = ["literal", "name", "name"]
        if self._tables(self.number_tables):
            ways += ["table", "table"]
        if depth > 0:
            ways += ["+", "-", "*", "negate", "extremum", "choose"]
        way = self.pick(ways)
        if way == "name" and self.numbers:
            return str(self.pick(self.numbers))
        if way == "table":
            return self._lookup(self.pick(self._tables(self.number_tables)), self.number_tables)
        if way in "+-*":
            return f"({self.number(depth - 1)} {way} {self.number(depth - 1)})"
        if way == "negate":
            return f"(-{self.number(depth - 1)})"
        if way == "extremum":
            parts = [self.number(depth - 1) for _ in range(self.pick([1, 2, 3]))]
            function = self.pick(["min", "max"]) if len(parts) > 1 else ""
            return f"{function}({', '.join(parts)})"
        if way == "choose":
            return f"({self.number(depth - 1)} if {self.boolean(depth - 1)} else {self.number(depth - 1)})"
        return self.literal()

    def boolean(self, depth: int) -> str:
        ways = ["compare", "compare"]
        if self.levels:
            ways += ["level", "level"]
        if self.booleans:
            ways += ["name", "equal"]
        if depth > 0:
            ways += ["and", "or", "not", "choose"]
        way = self.pick(ways)
        if way == "name":
            return str(self.pick(self.booleans))
        if way == "equal":
            return f"({self.pick(self.booleans)} {self.pick(['==', '!='])} {self.boolean(0)})"
        if way == "level":
            name = self.pick(self.levels)
            return f"({name} {self.pick(['==', '!='])} {self.level(self.levels[name], depth)})"
        if way in ("and", "or"):
            return f"({self.boolean(depth - 1)} {way} {self.boolean(depth - 1)})"
        if way == "not":
            return f"(not {self.boolean(depth - 1)})"
        if way == "choose":
            return f"({self.boolean(depth - 1)} if {self.boolean(depth - 1)} else {self.boolean(depth - 1)})"
        return f"({self.number(depth)} {self.pick(COMPARISONS)} {self.number(depth)})"

    def level(self, levels: tuple[str, ...], depth: int) -> str:
        """A level of this very set."""
        same = [name for name, own in self.levels.items() if set(own) == set(levels)]
        tables = [name for name in self._tables(self.level_tables) if set(self.level_tables[name][1]) == set(levels)]
        ways = ["quoted"] + ["name"] * bool(same) + ["table"] * bool(tables) + ["choose"] * (depth > 0)
        way = self.pick(ways)
        if way == "name":
            return str(self.pick(same))
        if way == "table":
            return self._lookup(self.pick(tables), {name: keys for name, (keys, _) in self.level_tables.items()})
        if way == "choose":
            first, second = self.level(levels, depth - 1), self.level(levels, depth - 1)
            return f"({first} if {self.boolean(depth - 1)} else {second})"
        return f"'{self.pick(levels)}'"

    def _tables(self, tables: Mapping[str, Any]) -> list[str]:
        return list(tables)

    def _lookup(self, table: str, keys: Mapping[str, list[tuple[str, ...]]]) -> str:
        """A name where one has these levels, and now and then the level itself."""
        parts = []
        for levels in keys[table]:
            names = [name for name, own in self.levels.items() if set(own) == set(levels)]
            parts.append(self.pick([*names, *names, f"'{self.pick(levels)}'"]))
        return f"{table}[{', '.join(parts)}]"


@st.composite
def drafts(draw: st.DrawFn, *, residual: bool | None = None, most: int = 6) -> Draft:
    """A random world of 1 to `most` attributes; with or without residual, or either."""
    numbers = GRID + (LARGE if draw(st.integers(0, 4)) == 0 else [])
    write = _Expressions(draw, numbers)
    attributes = draw(_attributes(numbers, most))
    for attribute in attributes:
        if attribute.is_number:
            write.numbers.append(attribute.name)
        else:
            write.levels[attribute.name] = attribute.levels
    tables = _draw_tables(draw, write, numbers)

    derived: dict[str, str] = {}
    shown = [attribute.name for attribute in attributes]
    for index in range(draw(st.integers(0, 3))):
        name = f"hidden{index}"
        kind = draw(st.sampled_from(["number", "boolean", "level"]))
        if kind == "level" and write.levels:
            levels = draw(st.sampled_from(list(write.levels.values())))
            # two branches that name attributes of the set, so that the type is the whole set and not a quoted part
            own = [known for known, theirs in write.levels.items() if theirs == levels]
            derived[name] = f"({draw(st.sampled_from(own))} if {write.boolean(1)} else {write.level(levels, 1)})"
            write.levels[name] = levels
        elif kind == "boolean":
            derived[name] = write.boolean(2)
            write.booleans.append(name)
        else:
            derived[name] = write.number(2)
            write.numbers.append(name)
        shown.append(name)

    settings = {
        f"view{index}": tuple(draw(st.lists(st.sampled_from(shown), unique=True, max_size=6)))
        for index in range(draw(st.integers(1, 3)))
    }
    settings["all"] = tuple(attribute.name for attribute in attributes)

    has_residual = draw(st.booleans()) if residual is None else residual
    law: dict[str, str] = {}
    scales: tuple[str, ...] = ("1",)
    if has_residual:
        law, scales = draw(_residuals())
        derived["score"] = f"{write.number(2)} {draw(st.sampled_from(['+', '-']))} noise"
        write.numbers.append("score")
    rule = write.boolean(2)
    side = "score" if has_residual else write.number(3)
    draft = Draft(attributes, law, scales, tables, derived, rule, settings)
    tie = _tie(draw, draft, side)
    rule = draw(st.sampled_from([tie, tie, f"({tie} and {rule})", f"({rule} or {tie})", rule]))
    used = " ".join([rule, *derived.values()])
    return replace(draft, rule=rule, tables={name: rows for name, rows in tables.items() if f"{name}[" in used})


def _tie(draw: st.DrawFn, draft: Draft, side: str) -> str:
    """A comparison of `side` with a value that it takes somewhere."""
    forced = BruteForce(draft.text)
    state = {}
    for attribute in draft.attributes:
        state[attribute.name] = draw(st.sampled_from(forced.levels(attribute.name)))
    noise = Fraction(draw(st.sampled_from(list(draft.residual)))) if draft.residual else Fraction(0)
    threshold = forced.evaluate(rewrite(side), forced.complete(state, noise))
    literal = written(threshold)
    return f"({side} {draw(st.sampled_from(COMPARISONS))} {literal})"


@st.composite
def _attributes(draw: st.DrawFn, numbers: Sequence[str], most: int) -> tuple[AttributeDraft, ...]:
    attributes: list[AttributeDraft] = []
    states = 1
    for index in range(draw(st.integers(1, most))):
        is_number = draw(st.booleans())
        if is_number:
            drawn = draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=3, unique_by=Fraction))
            levels = tuple(drawn)
        else:
            levels = draw(st.sampled_from(LEVEL_SETS))
        if states * len(levels) > MOST_STATES:
            break
        states *= len(levels)
        parents: list[AttributeDraft] = []
        depends = draw(st.booleans())
        if attributes and depends:
            parents = draw(st.lists(st.sampled_from(attributes), min_size=1, max_size=2, unique_by=lambda a: a.name))
        keys = list(product(*(parent.levels for parent in parents)))
        rows = draw(probability_rows(len(keys), len(levels)))
        given = tuple(parent.name for parent in parents)
        attributes.append(AttributeDraft(f"a{index}", is_number, levels, given, dict(zip(keys, rows, strict=True))))
    return tuple(attributes)


def _draw_tables(draw: st.DrawFn, write: _Expressions, numbers: Sequence[str]) -> dict[str, dict[tuple[str, ...], str]]:
    """Up to two tables of one or two keys, whose rows are numbers or levels of one set."""
    tables: dict[str, dict[tuple[str, ...], str]] = {}
    if not write.levels:
        return tables
    for index in range(draw(st.integers(0, 2))):
        name = f"table{index}"
        keys = draw(st.lists(st.sampled_from(list(write.levels.values())), min_size=1, max_size=2))
        rows = list(product(*keys))
        if draw(st.booleans()):
            values = [draw(st.sampled_from(numbers)) for _ in rows]
            write.number_tables[name] = keys
        else:
            levels = draw(st.sampled_from(list(write.levels.values())))
            values = [draw(st.sampled_from(levels)) for _ in rows]
            if set(values) == set(levels):  # otherwise its type is another set
                write.level_tables[name] = (keys, levels)
        tables[name] = dict(zip(rows, values, strict=True))
    return tables


@st.composite
def _residuals(draw: st.DrawFn) -> tuple[dict[str, str], tuple[str, ...]]:
    """A law with the value 0 in it or not, and scales: 0, fractions, and the one that leaves nothing on 0."""
    values = draw(st.lists(st.sampled_from(GRID), min_size=1, max_size=4, unique_by=Fraction))
    if values == ["0"]:
        values = ["0", "1"]
    parts = [draw(st.integers(1, 5)) for _ in values]
    weights = [Fraction(part, sum(parts)) for part in parts]
    if draw(st.integers(0, 3)) == 0:
        (row,) = draw(probability_rows(1, len(values)))
        if all(Fraction(weight) > 0 for weight in row):
            weights = [Fraction(weight) for weight in row]
    nonzero = sum((weight for value, weight in zip(values, weights, strict=True) if Fraction(value)), Fraction(0))
    scales = {Fraction(1), *draw(st.lists(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2)]), max_size=2))}
    if nonzero and draw(st.booleans()):
        scales |= {1 / nonzero}
    return dict(zip(values, map(str, weights), strict=True)), tuple(map(str, sorted(scales)))


def states_of(draft: Draft) -> int:
    return prod(len(attribute.levels) for attribute in draft.attributes)


world_texts = drafts().map(lambda draft: draft.text)
