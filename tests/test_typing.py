"""Types of the rule language: what fits together, and that one fault is reported once."""

from __future__ import annotations

import pytest

from exactworlds.spec.rules import parse_rule
from exactworlds.spec.typing import BOOLEAN, NUMBER, UNKNOWN, LevelType, TableType, Type, infer_type

COLOUR = LevelType(("red", "green", "blue"))
SIZE = LevelType(("small", "large"))
NAMES: dict[str, Type] = {
    "n": NUMBER,
    "m": NUMBER,
    "yes": BOOLEAN,
    "colour": COLOUR,
    "hue": LevelType(("blue", "red", "green")),
    "size": SIZE,
    "broken": UNKNOWN,
}
RGB = "a level ('red', 'green', 'blue')"
TABLES: dict[str, TableType | None] = {
    "price": TableType((COLOUR.levels,), NUMBER),
    "fee": TableType((COLOUR.levels, SIZE.levels), NUMBER),
    "next": TableType((COLOUR.levels,), LevelType(("green", "blue", "red"))),
    "part": TableType((("red", "green"),), NUMBER),
    "damaged": None,
}


def infer(text: str) -> tuple[Type, list[str]]:
    faults: list[str] = []
    return infer_type(parse_rule(text), names=NAMES, tables=TABLES, report=faults.append), faults


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1.5", NUMBER),
        ("-n + m * 2 - min(n, m, 0)", NUMBER),
        ("n < m", BOOLEAN),
        ("n == 1 and not yes or yes != (n > 2)", BOOLEAN),
        ("colour == 'red'", BOOLEAN),
        ("'red' != colour", BOOLEAN),
        ("colour == hue", BOOLEAN),
        ("'red' == 'blue'", BOOLEAN),
        ("price[colour] + price['red'] + price[hue] + fee[next[colour], 'small']", NUMBER),
        ("next[next[colour]] == hue", BOOLEAN),
        ("1 if yes else n", NUMBER),
        ("yes if yes else n > 1", BOOLEAN),
        ("colour if yes else 'red'", COLOUR),
        ("'red' if yes else colour", COLOUR),
        ("price['red' if yes else 'green']", NUMBER),
        ("part['red' if yes else 'green']", NUMBER),
        ("'red' if yes else 'violet'", LevelType(("red", "violet"), quoted=True)),
    ],
)
def test_what_fits(text: str, kind: Type) -> None:
    assert infer(text) == (kind, [])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("n + yes", "found a boolean beside + in 'yes', expected a number"),
        ("colour * 2", "found a level ('red', 'green', 'blue') beside * in 'colour', expected a number"),
        ("-yes", "found a boolean after - in 'yes', expected a number"),
        ("max(n, 'red')", "found a level ('red') in max(…) in \"'red'\", expected a number"),
        ("not n", "found a number after not in 'n', expected a boolean"),
        ("yes and n", "found a number beside and in 'n', expected a boolean"),
        ("1 if n else 2", "found a number between if and else in 'n', expected a boolean"),
        ("size < 2", "found a level ('small', 'large') beside < in 'size', expected a number"),
        ("yes == 1", "found a boolean and a number as the two sides of ==, expected the same kind"),
        ("colour == 1", f"found {RGB} and a number as the two sides of ==, expected the same kind"),
        ("colour == 'violet'", "found the level 'violet', expected a level ('red', 'green', 'blue')"),
        ("(1 if yes else colour) == 1",
         f"found a number and {RGB} as the two values of an if-else, expected the same kind"),
        ("colour == size",
         f"found {RGB} and a level ('small', 'large') as the two sides of ==, expected levels of the same set"),
        ("nothing > 1", "found the unknown name 'nothing', expected one of: n, m, yes, colour, hue, size, broken"),
        ("price > 1", "found the table 'price' without a key, expected price[…]"),
        ("cost[colour]", "found the unknown table 'cost', expected one of: price, fee, next, part, damaged"),
        ("n[colour]", "found the unknown table 'n', expected one of: price, fee, next, part, damaged"),
        ("price[n]", "found a number as a key of the table 'price', expected a level"),
        ("price[size]", "the table 'price' has no row for 'small', 'large', expected a row for each level of its key"),
        ("price['violet']", "the table 'price' has no row for 'violet', expected a row for each level of its key"),
        ("part[colour]", "the table 'part' has no row for 'blue', expected a row for each level of its key"),
        ("price[colour, size]", "found 2 key(s) for the table 'price', expected 1"),
        ("fee[colour]", "found 1 key(s) for the table 'fee', expected 2"),
    ],
)  # fmt: skip
def test_what_does_not(text: str, fault: str) -> None:
    assert fault in infer(text)[1]


@pytest.mark.parametrize(
    "text",
    ["broken + 1 < n", "broken == colour", "broken and yes", "price[broken]", "damaged[colour] + 1",
     "damaged[n, n] == 'red'",
     "colour if broken else 'red'", "(broken if yes else colour) == 1", "next[broken] == 'red'"],
)  # fmt: skip
def test_what_is_broken_elsewhere_is_not_blamed_here(text: str) -> None:
    assert infer(text)[1] == []


def test_a_fault_below_is_not_repeated_above() -> None:
    assert len(infer("(nothing + 1) * 2 < 3 and not (nothing == 4)")[1]) == 2  # once for each time it is written
    assert len(infer("(n if yes else colour) + 1 == 2")[1]) == 1


def test_long_level_sets_are_cut() -> None:
    assert str(LevelType(tuple("abcdef"))) == "a level ('a', 'b', 'c', 'd', 'e', 'f')"
    kind = LevelType(tuple("abcdefgh"))
    assert str(kind) == "a level ('a', 'b', 'c', 'd', 'e', 'f', …)"
