"""Types of the rule language: every expression is a number, a boolean or a level of a known set.

A level set is known by its names: attributes and tables that have the same levels, in any order, share their type. A
quoted level has the type of what it stands beside, and is checked to be one of its levels. A part whose type is not
known, because the thing it names has faults of its own, passes everywhere: one fault is reported once. What is not
here: values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from exactworlds.errors import shorten
from exactworlds.spec.rules import (
    Arithmetic,
    Choose,
    Comparison,
    Expression,
    Extremum,
    Level,
    Logical,
    Lookup,
    Name,
    Negate,
    Not,
    Number,
    rule_text,
)

__all__ = [
    "BOOLEAN",
    "NUMBER",
    "UNKNOWN",
    "BooleanType",
    "LevelType",
    "NumberType",
    "TableType",
    "Type",
    "infer_type",
]


@frozen
class NumberType:
    def __str__(self) -> str:
        return "a number"


@frozen
class BooleanType:
    def __str__(self) -> str:
        return "a boolean"


@frozen
class UnknownType:
    def __str__(self) -> str:
        return "unknown"


@frozen
class LevelType:
    """One of `levels`. `quoted` marks a set that is only known from the levels that were written in the rule."""

    levels: tuple[str, ...]
    quoted: bool = False

    def __str__(self) -> str:
        return f"a level ({', '.join(shorten(level) for level in self.levels[:6])}{', …' * (len(self.levels) > 6)})"


NUMBER, BOOLEAN, UNKNOWN = NumberType(), BooleanType(), UnknownType()
Type = NumberType | BooleanType | LevelType | UnknownType


@frozen
class TableType:
    """A table of one or more keys: the levels that each key must cover, and what a row holds."""

    keys: tuple[tuple[str, ...], ...]
    value: Type


Report = Callable[[str], None]


def infer_type(
    node: Expression, *, names: Mapping[str, Type], tables: Mapping[str, TableType | None], report: Report
) -> Type:
    """The type of an expression; each fault is handed to `report` as one sentence."""
    return _Checker(names, tables, report).check(node)


class _Checker:
    def __init__(self, names: Mapping[str, Type], tables: Mapping[str, TableType | None], report: Report) -> None:
        self.names, self.tables, self.report = names, tables, report

    def check(self, node: Expression) -> Type:
        match node:
            case Number():
                return NUMBER
            case Level(name):
                return LevelType((name,), quoted=True)
            case Name(name):
                return self._name(name)
            case Negate(operand):
                self._want(NUMBER, operand, "after -")
                return NUMBER
            case Arithmetic(operator, left, right):
                for side in (left, right):
                    self._want(NUMBER, side, f"beside {operator}")
                return NUMBER
            case Extremum(function, operands):
                for operand in operands:
                    self._want(NUMBER, operand, f"in {function}(…)")
                return NUMBER
            case Not(operand):
                self._want(BOOLEAN, operand, "after not")
                return BOOLEAN
            case Logical(operator, operands):
                for operand in operands:
                    self._want(BOOLEAN, operand, f"beside {operator}")
                return BOOLEAN
            case Comparison():
                self._comparison(node)
                return BOOLEAN
            case Choose(test, then, otherwise):
                self._want(BOOLEAN, test, "between if and else")
                return self._unify(then, otherwise, "the two values of an if-else")
            case Lookup():
                return self._lookup(node)

    def _name(self, name: str) -> Type:
        if name in self.names:
            return self.names[name]
        if name in self.tables:
            self.report(f"found the table {name!r} without a key, expected {name}[…]")
        else:
            known = ", ".join(self.names) or "none"
            self.report(f"found the unknown name {shorten(name)}, expected one of: {known}")
        return UNKNOWN

    def _want(self, wanted: Type, node: Expression, place: str) -> None:
        found = self.check(node)
        if found not in (wanted, UNKNOWN):
            self.report(f"found {found} {place} in {shorten(rule_text(node))}, expected {wanted}")

    def _comparison(self, node: Comparison) -> None:
        if node.operator in ("==", "!="):
            self._unify(node.left, node.right, f"the two sides of {node.operator}")
            return
        for side in (node.left, node.right):
            self._want(NUMBER, side, f"beside {node.operator}")

    def _unify(self, left: Expression, right: Expression, what: str) -> Type:
        first, second = self.check(left), self.check(right)
        if UNKNOWN in (first, second):
            return UNKNOWN
        if isinstance(first, LevelType) and isinstance(second, LevelType):
            return self._unify_levels(first, second, what)
        if first != second:
            self.report(f"found {first} and {second} as {what}, expected the same kind")
            return UNKNOWN
        return first

    def _unify_levels(self, first: LevelType, second: LevelType, what: str) -> Type:
        if first.quoted and second.quoted:
            return LevelType(tuple(dict.fromkeys(first.levels + second.levels)), quoted=True)
        if second.quoted:
            first, second = second, first
        if first.quoted:
            for level in first.levels:
                if level not in second.levels:
                    self.report(f"found the level {shorten(level)}, expected {second}")
            return second
        if set(first.levels) != set(second.levels):  # the rows of a table may name them in another order
            self.report(f"found {first} and {second} as {what}, expected levels of the same set")
            return UNKNOWN
        return first

    def _lookup(self, node: Lookup) -> Type:
        found = [self.check(key) for key in node.keys]
        if node.table not in self.tables:
            known = ", ".join(self.tables) or "none"
            self.report(f"found the unknown table {shorten(node.table)}, expected one of: {known}")
            return UNKNOWN
        table = self.tables[node.table]
        if table is None:  # the table has faults of its own
            return UNKNOWN
        if len(found) != len(table.keys):
            self.report(f"found {len(found)} key(s) for the table {node.table!r}, expected {len(table.keys)}")
            return UNKNOWN
        for key, levels in zip(found, table.keys, strict=True):
            self._key(node.table, key, levels)
        return table.value

    def _key(self, table: str, key: Type, rows: tuple[str, ...]) -> None:
        if key == UNKNOWN:
            return
        if not isinstance(key, LevelType):
            self.report(f"found {key} as a key of the table {table!r}, expected a level")
            return
        missing = [level for level in key.levels if level not in rows]
        if missing:
            listed = ", ".join(shorten(level) for level in missing[:6])
            self.report(f"the table {table!r} has no row for {listed}, expected a row for each level of its key")
        unused = [row for row in rows if row not in key.levels]
        if unused and not key.quoted:
            listed = ", ".join(shorten(row) for row in unused[:6])
            self.report(f"the table {table!r} has a row for {listed}, which its key never is: expected {key}")
