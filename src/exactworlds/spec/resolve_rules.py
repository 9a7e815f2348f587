"""Derived attributes, the label rule and settings: parsed, typed, ordered, and kept from showing the residual."""

from __future__ import annotations

import re
from collections.abc import Mapping

from exactworlds.errors import shorten
from exactworlds.spec.resolve import Findings
from exactworlds.spec.rules import Expression, Lookup, RuleSyntaxError, children, names_in, parse_rule
from exactworlds.spec.typing import BOOLEAN, NUMBER, UNKNOWN, LevelType, TableType, Type, infer_type
from exactworlds.spec.world import Attribute, Derived, Residual, Setting, Table

__all__ = ["resolve_derived", "resolve_rule", "resolve_settings"]

_SETTING = re.compile(r"[a-z][a-z0-9_-]*", re.ASCII)


class Scope:
    """The types of everything that an expression may name."""

    def __init__(
        self,
        attributes: Mapping[str, Attribute],
        residual: Residual | None,
        tables: Mapping[str, Table],
        findings: Findings,
        declared_tables: tuple[str, ...],
    ) -> None:
        self.findings = findings
        self.types: dict[str, Type] = {
            attribute.name: NUMBER if attribute.is_number else LevelType(attribute.levels)
            for attribute in attributes.values()
        }
        if residual:
            self.types[residual.name] = NUMBER
        self.tables: dict[str, TableType | None] = {name: _table_type(table) for name, table in tables.items()}
        for name in findings.broken:
            if name in declared_tables:
                self.tables[name] = None
            if name not in declared_tables or name in self.types:
                self.types[name] = UNKNOWN

    def infer(self, where: str, expression: Expression) -> Type:
        """The type of an expression, with its faults reported once each."""
        said: set[str] = set()

        def report(what: str) -> None:
            if what not in said:
                said.add(what)
                self.findings.add(where, what)

        return infer_type(expression, names=self.types, tables=self.tables, report=report)


def _table_type(table: Table) -> TableType:
    if table.is_number:
        return TableType(table.keys, NUMBER)
    return TableType(table.keys, LevelType(tuple(dict.fromkeys(table.rows.values()))))


def resolve_derived(entries: Mapping[str, str], scope: Scope, residual: Residual | None) -> tuple[Derived, ...]:
    """The derived attributes in an order in which each reads only earlier ones."""
    findings = scope.findings
    parsed: dict[str, Expression] = {}
    for name, text in entries.items():
        expression = _parse(f"derived.{name}", text, findings)
        if expression is None:
            findings.broken.add(name)
            scope.types[name] = UNKNOWN
        else:
            parsed[name] = expression
    ordered: list[Derived] = []
    waiting = dict(parsed)
    reading_residual = {residual.name} if residual else set()
    while waiting:
        ready = [name for name, tree in waiting.items() if not set(names_in(tree)) & set(waiting)]
        if not ready:
            _report_cycles(waiting, findings, scope)
            break
        for name in ready:
            tree = waiting.pop(name)
            before = len(findings.problems)
            kind = scope.infer(f"derived.{name}", tree)
            if len(findings.problems) > before or name in findings.broken:
                kind = UNKNOWN
            scope.types[name] = kind
            reads = bool(set(names_in(tree)) & reading_residual)
            if reads:
                reading_residual.add(name)
            if kind == UNKNOWN:
                findings.broken.add(name)
            else:
                if isinstance(kind, LevelType):
                    kind = scope.types[name] = LevelType(kind.levels)
                ordered.append(Derived(name, entries[name], tree, kind, reads))
    return tuple(ordered)


def _report_cycles(waiting: Mapping[str, Expression], findings: Findings, scope: Scope) -> None:
    """Reports each cycle once; what merely waits for one is broken without being blamed."""
    blamed: set[str] = set()
    for start in waiting:
        path: list[str] = []
        name = start
        while name not in path:
            path.append(name)
            name = next(part for part in names_in(waiting[name]) if part in waiting)
        cycle = path[path.index(name) :]
        if not blamed & set(cycle):
            blamed |= set(cycle)
            route = " → ".join([*cycle, cycle[0]])
            findings.add(f"derived.{cycle[0]}", f"depends on itself ({route}), expected no cycle")
    for name in waiting:
        findings.broken.add(name)
        scope.types[name] = UNKNOWN


def resolve_rule(text: str, scope: Scope) -> Expression | None:
    """The label rule, which must be a boolean."""
    expression = _parse("rule.positive", text, scope.findings)
    if expression is None:
        return None
    before = len(scope.findings.problems)
    kind = scope.infer("rule.positive", expression)
    if len(scope.findings.problems) == before and kind not in (BOOLEAN, UNKNOWN):
        scope.findings.add("rule.positive", f"found {kind}, expected a boolean: the label is positive where it holds")
    return expression


def resolve_settings(
    entries: Mapping[str, tuple[str, ...]],
    attributes: Mapping[str, Attribute],
    derived: tuple[Derived, ...],
    residual: Residual | None,
    findings: Findings,
) -> dict[str, Setting]:
    """What each setting shows: known attributes, each once, none of which tells of the residual."""
    by_name = {entry.name: entry for entry in derived}
    settings = {}
    if not entries:
        findings.add("setting", "found none, expected at least one setting")
    for setting, visible in entries.items():
        where = f"setting.{setting}"
        if not _SETTING.fullmatch(setting):
            findings.add(where, "expected a name of lower-case letters, digits, _ and -")
        for index, name in enumerate(visible):
            place = f"{where}[{index}]"
            if name in visible[:index]:
                findings.add(place, f"found {shorten(name)} a second time, expected each attribute once")
            elif residual and name == residual.name:
                findings.add(place, f"found the residual {name!r}, which is never shown, expected an attribute")
            elif name in by_name and by_name[name].reads_residual:
                what = f"found {name!r}, which depends on the residual, expected an attribute that does not"
                findings.add(place, what)
            elif name not in attributes and name not in by_name and name not in findings.broken:
                known = ", ".join([*attributes, *by_name])
                findings.add(place, f"found the unknown attribute {shorten(name)}, expected one of: {known}")
        settings[setting] = Setting(setting, visible)
    return settings


def check_tables_used(tables: Mapping[str, Table], expressions: list[Expression], findings: Findings) -> None:
    """A table that no expression reads is a slip of the pen more often than a plan."""
    used = {name for tree in expressions for name in _tables_in(tree)}
    for name in tables:
        if name not in used:
            findings.add(f"table.{name}", "no rule or derived attribute reads this table, expected a use (or drop it)")


def _tables_in(node: Expression) -> set[str]:
    found = {node.table} if isinstance(node, Lookup) else set()
    return found.union(*(_tables_in(child) for child in children(node)))


def _parse(where: str, text: str, findings: Findings) -> Expression | None:
    try:
        return parse_rule(text)
    except RuleSyntaxError as error:
        findings.add(where, str(error))
        return None
