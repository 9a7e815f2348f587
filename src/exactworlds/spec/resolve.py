"""From structured tables to a checked `World`: what the sections of a file mean together.

Every fault becomes a `Problem` and the check goes on, so that all of them are reported at once; what has faults of
its own is `broken`, and what refers to it is not blamed for it. Attributes, the residual and tables are resolved here,
rules and settings in `spec.resolve_rules`, texts and provenance in `spec.resolve_texts`.
"""

from __future__ import annotations

import itertools
import keyword
import math
import re
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from typing import Any

from attrs import define, field

from exactworlds.errors import InvalidArgument, Problem, shorten
from exactworlds.rational import exact_text, is_finite_decimal, parse_decimal
from exactworlds.spec.document import AttributeTable, Exact, ResidualTable, Tree
from exactworlds.spec.reading import exact_from
from exactworlds.spec.world import LARGEST_STATE_SPACE, Attribute, Residual, Table

__all__ = [
    "Findings",
    "check_names",
    "check_state_space",
    "resolve_attributes",
    "resolve_residual",
    "resolve_tables",
]

_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


@define
class Findings:
    """What is wrong so far, and the names that are broken."""

    problems: list[Problem] = field(factory=list)
    broken: set[str] = field(factory=set)

    def add(self, where: str, what: str) -> None:
        self.problems.append(Problem(where, what))


def check_names(sections: Mapping[str, Mapping[str, Any]], findings: Findings) -> None:
    """Names are plain words, and no two things of a world share one."""
    seen: dict[str, str] = {}
    for section, entries in sections.items():
        for name in entries:
            where = f"{section}.{name}"
            if not _NAME.fullmatch(name) or keyword.iskeyword(name) or name in ("min", "max"):
                findings.add(
                    where,
                    "expected a name of lower-case letters, digits and _ that is not a word of the language",
                )
                findings.broken.add(name)
            if name in seen:
                findings.add(where, f"the name {name!r} is taken by {seen[name]}, expected another name")
                findings.broken.add(name)
            seen.setdefault(name, where)


def resolve_attributes(
    entries: Mapping[str, AttributeTable],
    declared: Collection[str],
    level_sets: Mapping[str, tuple[str, ...]],
    findings: Findings,
) -> dict[str, Attribute]:
    """The attributes whose levels are sound, in file order; a fault in a distribution does not hide the levels."""
    if not declared:
        findings.add("attribute", "found none, expected at least one attribute")
    for name, levels in level_sets.items():
        _check_levels(f"level_set.{name}", levels, findings)
    sized = {name: _levels(name, entry, level_sets, findings) for name, entry in entries.items()}
    fits = math.prod(len(levels) for levels, _ in sized.values() if levels) <= LARGEST_STATE_SPACE
    attributes: dict[str, Attribute] = {}
    for name, entry in entries.items():
        levels, literals = sized[name]
        if not levels:
            findings.broken.add(name)
            continue
        given = (entry.given,) if isinstance(entry.given, str) else (entry.given or ())
        rows: dict[tuple[str, ...], tuple[Exact, ...]] = {}
        sound = _check_given(name, given, attributes, list(declared), findings)
        if sound and fits:  # a world that is too large is refused before its rows are made
            parents = [attributes[parent].levels for parent in given]
            where = f"attribute.{name}.probability"
            rows = dict(_rows(where, entry.probability.content, parents, len(levels), findings))
            _check_possible(where, levels, rows, findings)
        attributes[name] = Attribute(name, entry.values is not None, levels, literals, given, rows)
    return attributes


def _levels(
    name: str, entry: AttributeTable, level_sets: Mapping[str, tuple[str, ...]], findings: Findings
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Canonical levels and the literals they were written as; empty if they cannot be used."""
    where = f"attribute.{name}"
    if (entry.levels is None) == (entry.values is None):
        findings.add(where, "expected either levels (names) or values (numbers), one of them")
        return (), ()
    if entry.values is not None:
        for index, value in enumerate(entry.values):
            if not is_finite_decimal(value.value):
                findings.add(f"{where}.values[{index}]", f"found {value}, expected a finite decimal such as 0.25")
                return (), ()
        texts = tuple(exact_text(value.value) for value in entry.values)
        if not _check_distinct(f"{where}.values", texts, findings):
            return (), ()
        return texts, tuple(value.raw for value in entry.values)
    if isinstance(entry.levels, str):
        if entry.levels not in level_sets:
            known = ", ".join(level_sets) or "none"
            findings.add(f"{where}.levels", f"found {shorten(entry.levels)}, expected a list or a level set: {known}")
            return (), ()
        return level_sets[entry.levels], level_sets[entry.levels]
    levels = entry.levels or ()
    sound = _check_levels(f"{where}.levels", levels, findings)
    return (levels, levels) if sound else ((), ())


def _check_levels(where: str, levels: tuple[str, ...], findings: Findings) -> bool:
    for index, level in enumerate(levels):
        if not level.strip():
            findings.add(f"{where}[{index}]", f"found {shorten(level)}, expected a name")
            return False
        if _is_number(level):
            findings.add(f"{where}[{index}]", f"found {level!r}, expected a name; for numbers write values = […]")
            return False
    return _check_distinct(where, levels, findings)


def _check_distinct(where: str, texts: tuple[str, ...], findings: Findings) -> bool:
    if not texts:
        findings.add(where, "found an empty list, expected at least one level")
        return False
    seen: set[str] = set()
    for index, text in enumerate(texts):
        if text in seen:
            findings.add(f"{where}[{index}]", f"found {shorten(text)} a second time, expected each level once")
            return False
        seen.add(text)
    return True


def _is_number(text: str) -> bool:
    try:
        parse_decimal(text)
    except InvalidArgument:
        return False
    return True


def _check_given(
    name: str,
    given: tuple[str, ...],
    earlier: Mapping[str, Attribute],
    declared: list[str],
    findings: Findings,
) -> bool:
    where = f"attribute.{name}.given"
    sound = True
    for index, parent in enumerate(given):
        if parent in given[:index]:
            findings.add(where, f"found {parent!r} twice, expected each attribute once")
            sound = False
        elif parent not in declared:
            known = ", ".join(earlier) or "none"
            findings.add(where, f"found the unknown attribute {shorten(parent)}, expected an earlier one: {known}")
            sound = False
        elif parent not in earlier:
            sound = False
            if parent not in findings.broken:
                findings.add(
                    where,
                    f"found {parent!r}, which is not earlier in the file, expected an earlier attribute",
                )
    return sound


def _rows(
    where: str, content: Any, parents: list[tuple[str, ...]], width: int, findings: Findings
) -> Iterator[tuple[tuple[str, ...], tuple[Exact, ...]]]:
    """The distributions of a probability tree, each with the levels that it is given."""
    if content == "uniform":
        row = (Exact(f"1/{width}", Fraction(1, width)),) * width
        for key in itertools.product(*parents):
            yield key, row
        return
    if not parents:
        row_or_none = _row(where, content, width, findings)
        if row_or_none is not None:
            yield (), row_or_none
        return
    if not isinstance(content, Mapping):
        findings.add(
            where,
            'expected a table from each level of the given attribute to its probabilities, or "uniform"',
        )
        return
    found = [_canonical(key) for key in content]
    for level in parents[0]:
        if level not in found:
            findings.add(where, f"has no row for {shorten(level)}, expected one for each level of the given attribute")
    for index, (level, (key, below)) in enumerate(zip(found, content.items(), strict=True)):
        if level in found[:index]:
            findings.add(f"{where}.{key}", f"is a second row for {shorten(level)}, expected each level once")
            continue
        if level not in parents[0]:
            listed = ", ".join(parents[0][:6])
            findings.add(f"{where}.{key}", f"is not a level of the given attribute, expected one of: {listed}")
            continue
        for rest, row in _rows(f"{where}.{key}", below, parents[1:], width, findings):
            yield (level, *rest), row


def _row(where: str, content: Any, width: int, findings: Findings) -> tuple[Exact, ...] | None:
    if not isinstance(content, list):
        findings.add(where, 'expected a list of exact probabilities, or "uniform"')
        return None
    if len(content) != width:
        findings.add(where, f"found {len(content)} probabilities, expected {width}, one for each level")
        return None
    row: list[Exact] = []
    for index, item in enumerate(content):
        try:
            number = exact_from(item)
        except (TypeError, ValueError) as error:
            findings.add(f"{where}[{index}]", str(error))
            continue
        if number.value < 0:
            findings.add(f"{where}[{index}]", f"found {number}, expected a probability that is not negative")
            continue
        row.append(number)
    if len(row) < width:
        return None
    total = sum((number.value for number in row), Fraction(0))
    if total != 1:
        findings.add(where, f"the probabilities add up to {exact_text(total)}, expected exactly 1")
        return None
    return tuple(row)


def _check_possible(
    where: str, levels: tuple[str, ...], rows: Mapping[tuple[str, ...], tuple[Exact, ...]], findings: Findings
) -> None:
    """A level may be impossible in some rows of a conditional distribution, never in all."""
    for index, level in enumerate(levels):
        if rows and all(row[index].value == 0 for row in rows.values()):
            place = where if len(rows) > 1 else f"{where}[{index}]"
            findings.add(
                place,
                f"the level {shorten(level)} has probability 0, expected more than 0 (or drop the level)",
            )


def _canonical(key: str) -> str:
    """The canonical text of a key that may be the literal of a number."""
    return exact_text(parse_decimal(key)) if _is_number(key) else key


def resolve_residual(entries: Mapping[str, ResidualTable], findings: Findings) -> Residual | None:
    """The residual, if there is one and it is sound at every scale."""
    if len(entries) > 1:
        findings.add("residual", f"found {len(entries)} residuals ({', '.join(entries)}), expected at most one")
        findings.broken.update(entries)
        return None
    for name, entry in entries.items():
        before = len(findings.problems)
        where = f"residual.{name}.probability"
        values = [_residual_value(f"{where}.{key}", key, findings) for key in entry.probability]
        for index, value in enumerate(values):
            if value is not None and value in values[:index]:
                findings.add(where, f"found the value {exact_text(value)} twice, expected each value once")
        for key, number in entry.probability.items():
            if number.value <= 0:
                findings.add(f"{where}.{key}", f"found {number}, expected a probability of more than 0")
        total = sum((number.value for number in entry.probability.values()), Fraction(0))
        if total != 1:
            findings.add(where, f"the probabilities add up to {exact_text(total)}, expected exactly 1")
        nonzero = sum(
            (number.value for value, number in zip(values, entry.probability.values(), strict=True) if value != 0),
            Fraction(0),
        )
        if len(findings.problems) > before:  # what a scale makes of faulty probabilities is nobody's fault
            nonzero = Fraction(0)
        _check_scales(f"residual.{name}.scales", entry.scales, nonzero, findings)
        if len(findings.problems) > before:
            findings.broken.add(name)
            return None
        law = dict(entry.probability)
        if Fraction(0) not in values:  # a smaller scale moves mass there
            law["0"] = Exact("0", Fraction(0))
        return Residual(name, tuple(law), tuple(law.values()), entry.scales)
    return None


def _residual_value(where: str, key: str, findings: Findings) -> Fraction | None:
    try:
        return parse_decimal(key)
    except InvalidArgument as error:
        findings.add(where, f"found {shorten(key)}, expected {error.expected}")
        return None


def _check_scales(where: str, scales: tuple[Exact, ...], nonzero: Fraction, findings: Findings) -> None:
    if not scales:
        findings.add(where, "found an empty list, expected at least one scale")
    if Fraction(1) not in [scale.value for scale in scales]:
        findings.add(where, "found no 1, expected the unscaled residual to be among the scales")
    for index, scale in enumerate(scales):
        if scale.value in [other.value for other in scales[:index]]:
            findings.add(f"{where}[{index}]", f"found {scale} a second time, expected each scale once")
        if scale.value < 0:
            findings.add(f"{where}[{index}]", f"found {scale}, expected a scale that is not negative")
        elif scale.value * nonzero > 1:
            rest = exact_text(1 - scale.value * nonzero)
            what = f"the scale {scale} leaves the probability {rest} on 0, expected a scale of at most {1 / nonzero}"
            findings.add(f"{where}[{index}]", what)


def resolve_tables(entries: Mapping[str, Tree], findings: Findings) -> dict[str, Table]:
    """The tables whose rows have one shape and hold one kind of value."""
    tables = {}
    for name, tree in entries.items():
        before = len(findings.problems)
        where = f"table.{name}"
        leaves = dict(_leaves(where, tree.content, findings))
        depths = {len(key) for key in leaves}
        if len(findings.problems) == before and (depths == {0} or not leaves):
            findings.add(where, "expected rows, each from a level to a finite decimal or to a level")
        elif len(depths) > 1:
            findings.add(where, f"its rows have {min(depths)} to {max(depths)} keys, expected the same number for all")
        if len(findings.problems) == before:
            keys = tuple(tuple(dict.fromkeys(key[level] for key in leaves)) for level in range(max(depths)))
            _check_full(where, keys, leaves, findings)
            numbers = [_is_number(value) for value in leaves.values()]
            if any(numbers) and not all(numbers):
                odd = next(value for value, number in zip(leaves.values(), numbers, strict=True) if not number)
                findings.add(where, f"found {shorten(odd)} among numbers, expected all finite decimals or all levels")
        if len(findings.problems) == before:
            tables[name] = Table(name, keys, all(numbers), leaves)
        else:
            findings.broken.add(name)
    return tables


def _leaves(where: str, content: Any, findings: Findings) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(content, Mapping):
        for key, below in content.items():
            for rest, leaf in _leaves(f"{where}.{key}", below, findings):
                yield (key, *rest), leaf
    elif isinstance(content, str) and type(content) is str and not _is_ratio(content):
        yield (), content
    elif type(content) is int:
        yield (), str(content)
    else:
        try:
            exact_from(content)
            findings.add(where, f"found {shorten(content)}, expected a finite decimal such as 0.25, or a level")
        except (TypeError, ValueError) as error:
            findings.add(where, str(error))


def _is_ratio(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+/[0-9]+", text, re.ASCII) is not None


def _check_full(
    where: str, keys: tuple[tuple[str, ...], ...], leaves: Mapping[tuple[str, ...], str], findings: Findings
) -> None:
    if math.prod(map(len, keys)) == len(leaves):
        return
    missing = next(key for key in itertools.product(*keys) if key not in leaves)
    findings.add(f"{where}.{'.'.join(missing)}", "this row is missing, expected the same keys in every row")


def check_state_space(attributes: Mapping[str, Attribute], findings: Findings) -> None:
    """Counts the states before any engine allocates one."""
    count = math.prod(len(attribute.levels) for attribute in attributes.values())
    if count > LARGEST_STATE_SPACE:
        findings.add("attribute", f"the world has {count:,} states, expected at most {LARGEST_STATE_SPACE:,}")
