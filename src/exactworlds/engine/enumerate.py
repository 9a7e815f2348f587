"""The definition, executed: every state of a world is visited once and weighed with Fractions.

    p*(1 | x) = Σ_{z: φ(z)=x, g(z)=1} p(z) / Σ_{z: φ(z)=x} p(z)        (claim A.posterior)

Short and slow on purpose; `scaled` computes the same numbers fast, and `decimals` computes them another way. What is
not here: anything clever. The residual is summed per state, because what is visible never depends on it.
"""

from __future__ import annotations

import operator as operator_module
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import count
from operator import itemgetter
from typing import cast

from exactworlds.errors import InvalidArgument
from exactworlds.rational import exact_text, parse_exact
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
)
from exactworlds.spec.world import World

__all__ = [
    "Pattern",
    "PatternTable",
    "bayes_error",
    "compile_expression",
    "pattern_tables",
    "prior",
    "residual_law",
]

Pattern = tuple[str, ...]
PatternTable = dict[Pattern, tuple[Fraction, Fraction]]
"""From each visible pattern of positive mass to its mass P(x) and posterior p*(1 | x)."""

Rational = Fraction | int
Value = Rational | str | bool
State = dict[str, Value]
Progress = Callable[[int], None]


def prior(table: Mapping[Pattern, tuple[Fraction, Fraction]]) -> Fraction:
    """P(y = 1), the mean posterior.

    Claim: A.prior

    Proof: proofs/test_hiding.py::test_the_prior_is_the_same_in_every_setting
    """
    return sum((mass * posterior for mass, posterior in table.values()), Fraction(0))


def bayes_error(table: Mapping[Pattern, tuple[Fraction, Fraction]]) -> Fraction:
    """Σ_x P(x) min(p*, 1 − p*), the error of the best decision on what is visible.

    Claim: A.bayes-error

    Proof: proofs/test_hiding.py::test_the_bayes_error_is_the_least_of_all_decision_rules
    Proof: proofs/test_hiding.py::test_hiding_never_lowers_the_bayes_error
    Proof: proofs/test_hiding.py::test_the_error_is_concave_in_the_scale
    """
    return sum((mass * min(posterior, 1 - posterior) for mass, posterior in table.values()), Fraction(0))


def pattern_tables(
    world: World, scale: Fraction = Fraction(1), progress: Progress | None = None
) -> dict[str, PatternTable]:
    """For each setting, every visible pattern with its mass and posterior, by visiting every state.

    Claim: A.posterior

    Proof: proofs/test_hiding.py::test_the_posterior_is_the_ratio_of_masses
    Proof: proofs/test_hiding.py::test_the_low_bayes_error_as_a_function_of_the_scale
    Proof: proofs/test_hiding.py::test_hiding_in_a_world_with_symbols
    """
    law = residual_law(world, scale)
    residual = world.residual.name if world.residual else None
    compiled = [(entry, compile_expression(entry.expression, world)) for entry in world.derived]
    fixed = [(entry.name, value) for entry, value in compiled if not entry.reads_residual]
    moving = [(entry.name, value) for entry, value in compiled if entry.reads_residual]
    is_positive = compile_expression(world.rule, world)
    shown = dict.fromkeys(name for setting in world.settings.values() for name in setting.visible)
    texts: dict[str, dict[Value, str]] = {name: {} for name in shown}
    views: list[tuple[Pattern, dict[Pattern, Fraction], dict[Pattern, Fraction]]]
    views = [(setting.visible, defaultdict(Fraction), defaultdict(Fraction)) for setting in world.settings.values()]
    for visited, (state, probability) in zip(count(1), _states(world), strict=False):
        for name, value in fixed:
            state[name] = value(state)
        likelihood = Fraction(0)
        for number, weight in law:
            if residual is not None:
                state[residual] = number
            for name, value in moving:
                state[name] = value(state)
            if is_positive(state):
                likelihood += weight
        written = {name: _written(state[name], known) for name, known in texts.items()}
        joint = probability * likelihood if likelihood else None
        for visible, mass, positive in views:
            pattern = tuple([written[name] for name in visible])
            mass[pattern] += probability
            if joint is not None:
                positive[pattern] += joint
        if progress and visited % 1000 == 0:
            progress(visited)
    nothing = Fraction(0)
    return {
        name: {pattern: (total, positive.get(pattern, nothing) / total) for pattern, total in mass.items()}
        for name, (_, mass, positive) in zip(world.settings, views, strict=True)
    }


def residual_law(world: World, scale: Fraction) -> list[tuple[Rational, Fraction]]:
    """The residual's values and probabilities at a scale: P_s(r) = s·P₁(r) for r ≠ 0, the rest on 0.

    Without a residual there is one value, 0, and the scale must be 1. Values of probability 0 are dropped.

    Claim: A.residual-scale

    Proof: proofs/test_hiding.py::test_the_scale_multiplies_what_is_not_zero
    """
    if world.residual is None:
        if scale != 1:
            raise InvalidArgument("scale", scale, "1, because the world has no residual")
        return [(0, Fraction(1))]
    law: list[tuple[Rational, Fraction]] = []
    rest = Fraction(1)
    for literal, probability in zip(world.residual.literals, world.residual.probabilities, strict=True):
        value = _rational(literal)
        if value != 0:
            law.append((value, scale * probability.value))
            rest -= scale * probability.value
    if scale < 0 or rest < 0:
        raise InvalidArgument("scale", scale, "a scale that leaves no probability negative")
    return [(value, weight) for value, weight in [*law, (0, rest)] if weight]


def _states(world: World) -> Iterator[tuple[State, Fraction]]:
    """Every state of positive probability, attribute by attribute in file order."""

    def extend(index: int, state: State, levels: dict[str, str], weight: Fraction) -> Iterator[tuple[State, Fraction]]:
        if index == len(world.attributes):
            yield dict(state), weight
            return
        attribute = world.attributes[index]
        row = attribute.rows[tuple(levels[parent] for parent in attribute.given)]
        for level, probability in zip(attribute.levels, row, strict=True):
            if probability.value:
                state[attribute.name] = _rational(level) if attribute.is_number else level
                levels[attribute.name] = level
                yield from extend(index + 1, state, levels, weight * probability.value)

    return extend(0, {}, {}, Fraction(1))


def _written(value: Value, known: dict[Value, str]) -> str:
    """The canonical text of a value; `known` holds those of one attribute, so that 1 and True do not meet."""
    if value not in known:
        known[value] = _text(value)
    return known[value]


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else exact_text(Fraction(value))


def compile_expression(node: Expression, world: World) -> Callable[[State], Value]:
    """A function from a state to the value of an expression: a rational number, a level or a boolean.

    Literals are read once, here; an integer stays an `int`, which is exact and cheaper than a `Fraction`.
    """

    def number(part: Expression) -> Callable[[State], Rational]:
        return cast(Callable[[State], Rational], compile_expression(part, world))  # typed when it was loaded

    match node:
        case Name(name):
            return itemgetter(name)
        case Number(literal):
            constant = _rational(literal)
            return lambda state: constant
        case Level(name):
            return lambda state: name
        case Negate(operand):
            inner = number(operand)
            return lambda state: -inner(state)
        case Arithmetic(operator, left, right):
            combine, first, second = _ARITHMETIC[operator], number(left), number(right)
            return lambda state: combine(first(state), second(state))
        case Extremum(function, operands):
            choose, numbers = (min if function == "min" else max), [number(operand) for operand in operands]
            return lambda state: choose([value(state) for value in numbers])
        case Comparison(operator, left, right):
            compare, one, two = _COMPARISON[operator], number(left), number(right)
            return lambda state: compare(one(state), two(state))
        case Not(operand):
            part = compile_expression(operand, world)
            return lambda state: not part(state)
        case Logical(operator, operands):
            join, parts = (
                (all if operator == "and" else any),
                [compile_expression(o, world) for o in operands],
            )
            return lambda state: join([value(state) for value in parts])
        case Choose(test, then, otherwise):
            when, yes, no = (compile_expression(part, world) for part in (test, then, otherwise))
            return lambda state: yes(state) if when(state) else no(state)
        case Lookup(table, keys):
            found = world.tables[table]
            rows = {key: _rational(text) if found.is_number else text for key, text in found.rows.items()}
            picks = [compile_expression(key, world) for key in keys]
            return lambda state: rows[tuple([str(pick(state)) for pick in picks])]


_ARITHMETIC: dict[str, Callable[[Rational, Rational], Rational]] = {
    "+": operator_module.add,
    "-": operator_module.sub,
    "*": operator_module.mul,
}
_COMPARISON: dict[str, Callable[[Value, Value], bool]] = {
    "<": operator_module.lt,
    "<=": operator_module.le,
    ">": operator_module.gt,
    ">=": operator_module.ge,
    "==": operator_module.eq,
    "!=": operator_module.ne,
}


def _rational(literal: str) -> Rational:
    value = parse_exact(literal)
    return value.numerator if value.denominator == 1 else value
