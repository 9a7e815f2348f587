"""A world enumerated the plain way, sharing no line with the package: what the engines are compared with.

Raw TOML in, Fractions out: every combination of levels and residual values is visited with `itertools.product`, and
each rule is evaluated by Python itself, on Fractions, after its decimals have been rewritten as Fractions. Slow,
unsafe on files of strangers, and good for nothing but tests.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from types import CodeType
from typing import Any

Pattern = tuple[str, ...]
Table = dict[Pattern, tuple[Fraction, Fraction]]

_TOKEN = re.compile(r"'[^']*'|\"[^\"]*\"|[A-Za-z_]\w*|\d+(?:\.\d+)?")


@dataclass
class BruteForce:
    """A world as its file states it."""

    text: str
    raw: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.raw = tomllib.loads(self.text)
        self.tables = {name: dict(_rows((), rows)) for name, rows in self.raw.get("table", {}).items()}
        self.codes = {name: rewrite(text) for name, text in self.raw.get("derived", {}).items()}
        self.rule = rewrite(self.raw["rule"]["positive"])

    def levels(self, name: str) -> list[Any]:
        attribute = self.raw["attribute"][name]
        if "values" in attribute:
            return [Fraction(value) for value in attribute["values"]]
        levels = attribute["levels"]
        return list(self.raw["level_set"][levels] if isinstance(levels, str) else levels)

    def probability(self, name: str, state: Mapping[str, Any]) -> Fraction:
        attribute = self.raw["attribute"][name]
        levels = self.levels(name)
        given = attribute.get("given", [])
        row = attribute["probability"]
        for parent in [given] if isinstance(given, str) else given:
            if row == "uniform":
                break
            row = next(below for key, below in row.items() if _same(key, state[parent]))
        if row == "uniform":
            return Fraction(1, len(levels))
        return Fraction(row[levels.index(state[name])])

    def residual(self, scale: Fraction) -> list[tuple[Fraction, Fraction]]:
        """Values and probabilities, the scaled ones and then what is left for 0."""
        for entry in self.raw.get("residual", {}).values():
            law = [(Fraction(v), scale * Fraction(p)) for v, p in entry["probability"].items() if Fraction(v) != 0]
            return [*law, (Fraction(0), 1 - sum((weight for _, weight in law), Fraction(0)))]
        return [(Fraction(0), Fraction(1))]

    def states(self) -> Iterator[tuple[dict[str, Any], Fraction]]:
        """Every combination of levels with its probability, impossible ones included."""
        names = list(self.raw["attribute"])
        for values in itertools.product(*(self.levels(name) for name in names)):
            state = dict(zip(names, values, strict=True))
            yield state, prod((self.probability(name, state) for name in names), start=Fraction(1))

    def complete(self, state: dict[str, Any], residual: Fraction) -> dict[str, Any]:
        """The state with its residual and everything derived."""
        known = {**state, **dict.fromkeys(self.raw.get("residual", {}), residual)}
        waiting = dict(self.codes)
        while waiting:
            for name, code in list(waiting.items()):
                if not set(code.co_names) & set(waiting):
                    known[name] = self.evaluate(waiting.pop(name), known)
        return known

    def evaluate(self, code: CodeType, state: Mapping[str, Any]) -> Any:
        return eval(code, {"__builtins__": {}, "F": Fraction, "min": min, "max": max, **self.tables, **state})

    def pattern_tables(self, scale: Fraction = Fraction(1)) -> dict[str, Table]:
        """For each setting, every pattern of positive mass with its mass and posterior."""
        sums: dict[str, dict[Pattern, list[Fraction]]] = {name: {} for name in self.raw["setting"]}
        for state, probability in self.states():
            if not probability:
                continue
            for residual, weight in self.residual(scale):
                known = self.complete(state, residual)
                positive = self.evaluate(self.rule, known)
                for setting, visible in self.raw["setting"].items():
                    cell = sums[setting].setdefault(
                        tuple(written(known[name]) for name in visible), [Fraction(0), Fraction(0)]
                    )
                    cell[0] += probability * weight
                    cell[1] += probability * weight * bool(positive)
        return {
            setting: {pattern: (mass, part / mass) for pattern, (mass, part) in cells.items()}
            for setting, cells in sums.items()
        }


def prior(table: Table) -> Fraction:
    return sum((mass * posterior for mass, posterior in table.values()), Fraction(0))


def bayes_error(table: Table) -> Fraction:
    return sum((mass * min(posterior, 1 - posterior) for mass, posterior in table.values()), Fraction(0))


def rewrite(text: str) -> CodeType:
    """Compiled for Python, each decimal a Fraction."""

    def token(match: re.Match[str]) -> str:
        found = match.group()
        return f"F('{found}')" if found[0].isdigit() else found

    return compile("(" + _TOKEN.sub(token, text) + "\n)", "<rule>", "eval")


def written(value: Fraction | bool | str) -> str:
    """A value as a pattern shows it: the shortest decimal, a level's name, true or false."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = f"{abs(value.numerator) * 10**places // value.denominator:0{places + 1}d}"
    return "-" * (value < 0) + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def _same(key: str, value: Any) -> bool:
    return key == value if isinstance(value, str) else Fraction(key) == value


def _rows(key: Pattern, content: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(content, dict):
        for level, below in content.items():
            yield from _rows((*key, level), below)
        return
    try:
        value: Any = Fraction(content)
    except ValueError:
        value = content
    yield (key[0] if len(key) == 1 else key), value
