"""The second path: 70-digit arithmetic, written apart from the exact engines.

It reads the raw literals of the spec itself, walks the states depth-first with the last attribute outermost, normalises
the prior before the likelihood update, and keeps patterns in dictionaries. Rules are evaluated in `Decimal` under a
context that traps every inexact result, so that a tie at a threshold is exact or an error; only probabilities are
rounded, to 70 digits. What it shares with the other engines is the world's raw text and its parsed rules, nothing else:
a fault in their arithmetic cannot be repeated here. Their agreement is checked by `engine.admit`.
"""

from __future__ import annotations

import operator as operator_module
from collections.abc import Callable, Iterator, Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from typing import Any, cast

from attrs import field, frozen
from mpmath import MPContext

from exactworlds.errors import InvalidArgument
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

__all__ = ["DIGITS", "DecimalWorld", "Estimate"]

DIGITS = 70
_GUARD = 15  # extra working digits, so that sums of millions of terms keep 70
_SAME_POSTERIOR = 50  # posteriors that agree to this many digits share one logarithm; the entropy moves by < 1e-47

Real = Any  # an mpf of this module's own context; mpmath has no types
Value = Decimal | str | bool
State = dict[str, Value]
Progress = Callable[[int], None]
Pattern = tuple[str, ...]

_RULES = Context(
    prec=100_000, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow]
)
"""Exact or an error: only a product of a hundred literals of 1,000 digits would come near this precision."""


@frozen
class Estimate:
    """What the second path finds for one setting at one scale."""

    prior: Real
    bayes_error: Real
    entropy_bits: Real
    posteriors: list[Real] = field(repr=False)


class DecimalWorld:
    """A world walked once; each scale is then a likelihood update on what the walk has kept."""

    def __init__(self, world: World, progress: Progress | None = None) -> None:
        self.world = world
        self.context = MPContext()
        self.context.dps = DIGITS + _GUARD
        residual = world.residual
        law = (
            zip(residual.literals, [probability.raw for probability in residual.probabilities], strict=True)
            if residual
            else [("0", "1")]
        )
        self._residual = [(_exact(literal), self._real(probability)) for literal, probability in law]
        self._groups = self._walk(progress)
        self._singles: dict[str, dict[int, Real]] = {}
        self._logs: dict[int, Real] = {}
        self._same = self.context.mpf(10) ** _SAME_POSTERIOR
        self._nothing = self.context.mpf(10) ** -DIGITS
        self._outcomes_found = {
            outcome for group in self._groups.values() for parts in group.values() for outcome in parts
        }

    def patterns(self, setting: str) -> list[Pattern]:
        """The visible patterns of a setting, in the order of its posteriors."""
        return list(self._groups[setting])

    def estimate(self, setting: str, scale: str) -> Estimate:
        """Prior, Bayes error, entropy and every posterior at a scale.

        Claim: A.engines
        """
        mp = self.context
        likelihood = self._likelihoods(scale)
        posteriors = []
        priors, errors, entropies = [], [], []

        def add(mass: Real, positive: Real, posterior: Real) -> None:
            negative = mass - positive
            priors.append(positive)
            if positive and negative:
                errors.append(positive if positive < negative else negative)
                entropies.append(mass * self._binary_entropy(posterior))

        for parts in self._groups[setting].values():
            if len(parts) == 1:  # one likelihood for the whole pattern: it is the posterior
                posteriors.append(likelihood[next(iter(parts))])
                continue
            mass = mp.fsum(parts.values())
            positive = mp.fsum([weight * likelihood[outcome] for outcome, weight in parts.items()])
            posterior = positive / mass
            posteriors.append(posterior)
            add(mass, positive, posterior)
        for outcome, mass in self._single_outcome_masses(setting).items():
            add(mass, mass * likelihood[outcome], likelihood[outcome])
        return Estimate(mp.fsum(priors), mp.fsum(errors), mp.fsum(entropies), posteriors)

    def _single_outcome_masses(self, setting: str) -> dict[int, Real]:
        """The mass of the patterns that have one outcome only, by outcome; they share a posterior at every scale."""
        if setting not in self._singles:
            collected: dict[int, list[Real]] = {}
            for parts in self._groups[setting].values():
                if len(parts) == 1:
                    outcome, mass = next(iter(parts.items()))
                    collected.setdefault(outcome, []).append(mass)
            self._singles[setting] = {outcome: self.context.fsum(masses) for outcome, masses in collected.items()}
        return self._singles[setting]

    def _walk(self, progress: Progress | None) -> dict[str, dict[Pattern, dict[int, Real]]]:
        """For each setting and pattern, the normalised prior of its states by which residual values make them positive.

        The residual values are the bits of an integer, the first value being bit 0.
        """
        visible = {name: setting.visible for name, setting in self.world.settings.items()}
        outcome_of = self._outcomes()
        texts_of = self._texts()
        weights: list[Real] = []
        rows: list[tuple[dict[str, str], int]] = []
        for state, weight in self._states():
            outcome = outcome_of(state)
            rows.append((texts_of(state), outcome))
            weights.append(weight)
            if progress and len(rows) % 1000 == 0:
                progress(len(rows))
        total = self.context.fsum(weights)
        groups: dict[str, dict[Pattern, dict[int, Real]]] = {name: {} for name in visible}
        for (texts, outcome), weight in zip(rows, weights, strict=True):
            share = weight / total
            for name, names in visible.items():
                pattern = tuple([texts[part] for part in names])
                parts = groups[name].setdefault(pattern, {})
                parts[outcome] = parts[outcome] + share if outcome in parts else share
        return groups

    def _states(self) -> Iterator[tuple[State, Real]]:
        """Depth-first over the attributes; a later attribute varies slower than an earlier one where it can."""
        attributes = self._outermost_first()
        levels: dict[str, str] = {}
        state: State = {}
        tables = [
            {key: [self._real(number.raw) for number in row] for key, row in attribute.rows.items()}
            for attribute in attributes
        ]
        values = [
            [_exact(literal) if attribute.is_number else literal for literal in attribute.literals]
            for attribute in attributes
        ]

        def down(depth: int, weight: Real) -> Iterator[tuple[State, Real]]:
            if depth == len(attributes):
                yield dict(state), weight
                return
            attribute = attributes[depth]
            row = tables[depth][tuple([levels[parent] for parent in attribute.given])]
            for index in range(len(row) - 1, -1, -1):
                if row[index]:
                    state[attribute.name] = values[depth][index]
                    levels[attribute.name] = attribute.levels[index]
                    yield from down(depth + 1, weight * row[index])

        return down(0, self.context.mpf(1))

    def _outermost_first(self) -> list[Any]:
        """The attributes from the last to the first, except that a parent stands outside its children."""
        ordered: list[Any] = []

        def place(name: str) -> None:
            attribute = self.world.attribute[name]
            for parent in attribute.given:
                place(parent)
            if attribute not in ordered:
                ordered.append(attribute)

        for attribute in reversed(self.world.attributes):
            place(attribute.name)
        return ordered

    def _outcomes(self) -> Callable[[State], int]:
        """A function that fills in the derived attributes of a state and finds the residual values that make it
        positive."""
        world = self.world
        compiled = [(entry, compile_decimal(entry.expression, world)) for entry in world.derived]
        fixed = [(entry.name, value) for entry, value in compiled if not entry.reads_residual]
        moving = [(entry.name, value) for entry, value in compiled if entry.reads_residual]
        rule = compile_decimal(world.rule, world)
        residual = world.residual.name if world.residual else ""
        values = [(1 << bit, value) for bit, (value, _) in enumerate(self._residual)]

        def outcome_of(state: State) -> int:
            for name, value in fixed:
                state[name] = value(state)
            outcome = 0
            for bit, number in values:
                state[residual] = number
                for name, value in moving:
                    state[name] = value(state)
                if rule(state):
                    outcome |= bit
            return outcome

        return outcome_of

    def _texts(self) -> Callable[[State], dict[str, str]]:
        """A function from a state to the canonical texts of what any setting shows."""
        known: dict[str, dict[Value, str]] = {
            name: {} for setting in self.world.settings.values() for name in setting.visible
        }

        def texts_of(state: State) -> dict[str, str]:
            texts = {}
            for name, memory in known.items():
                value = state[name]
                if value not in memory:
                    memory[value] = _text(value)
                texts[name] = memory[value]
            return texts

        return texts_of

    def _likelihoods(self, scale: str) -> Mapping[int, Real]:
        """For each outcome that occurs, the probability of the residual values that are in it."""
        mp = self.context
        factor = self._real(scale)
        if self.world.residual is None and factor != 1:
            raise InvalidArgument("scale", scale, "1, because the world has no residual")
        law = [factor * weight for _, weight in self._residual]
        zeros = [bit for bit, (value, _) in enumerate(self._residual) if value == 0]
        for bit in zeros:
            law[bit] = mp.mpf(0)
        rest = 1 - mp.fsum(law)
        if abs(rest) < self._nothing:  # the largest scale leaves nothing, and a rounding error is not a probability
            rest = mp.mpf(0)
        if factor < 0 or rest < 0:
            raise InvalidArgument("scale", scale, "a scale that leaves no probability negative")
        for bit in zeros:
            law[bit] = rest
        everything = (1 << len(law)) - 1
        return {
            outcome: mp.mpf(1)
            if outcome == everything
            else mp.fsum([weight for bit, weight in enumerate(law) if outcome >> bit & 1])
            for outcome in self._outcomes_found
        }

    def _binary_entropy(self, posterior: Real) -> Real:
        mp = self.context
        key = int(posterior * self._same)
        if key not in self._logs:
            other = 1 - posterior
            nats = posterior * mp.log(posterior) + other * mp.log(other)
            self._logs[key] = -nats / mp.ln2
        return self._logs[key]

    def _real(self, literal: str) -> Real:
        numerator, _, denominator = literal.partition("/")
        value = self.context.mpf(numerator)
        return value / self.context.mpf(denominator) if denominator else value


def _exact(literal: str) -> Decimal:
    return _RULES.create_decimal(literal)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        digits = format(value, "f")
        if "." in digits:
            digits = digits.rstrip("0").rstrip(".")
        return "0" if digits in ("-0", "") else digits
    return value


def compile_decimal(node: Expression, world: World) -> Callable[[State], Value]:
    """A function from a state to the value of an expression, in exact decimals."""

    def number(part: Expression) -> Callable[[State], Decimal]:
        return cast(Callable[[State], Decimal], compile_decimal(part, world))  # typed when it was loaded

    match node:
        case Number(literal):
            constant = _exact(literal)
            return lambda state: constant
        case Level(level):
            return lambda state: level
        case Name(name):
            return lambda state: state[name]
        case Negate(operand):
            negated = number(operand)
            return lambda state: negated(state).copy_negate()
        case Arithmetic(sign, left, right):
            apply = {"+": _RULES.add, "-": _RULES.subtract, "*": _RULES.multiply}[sign]
            first, second = number(left), number(right)
            return lambda state: apply(first(state), second(state))
        case Extremum(function, operands):
            parts = [number(operand) for operand in operands]
            return (
                (lambda state: min([part(state) for part in parts]))
                if function == "min"
                else (lambda state: max([part(state) for part in parts]))
            )
        case Comparison(sign, left, right):
            holds = _COMPARISONS[sign]
            one, two = number(left), number(right)
            return lambda state: holds(one(state), two(state))
        case Not(operand):
            inner = compile_decimal(operand, world)
            return lambda state: not inner(state)
        case Logical("and", operands):
            conditions = [compile_decimal(operand, world) for operand in operands]
            return lambda state: all(condition(state) for condition in conditions)
        case Logical(_, operands):
            alternatives = [compile_decimal(operand, world) for operand in operands]
            return lambda state: any(alternative(state) for alternative in alternatives)
        case Choose(test, then, otherwise):
            condition = compile_decimal(test, world)
            branches = (compile_decimal(otherwise, world), compile_decimal(then, world))
            return lambda state: branches[1 if condition(state) else 0](state)
        case Lookup(table, keys):
            found = world.tables[table]
            rows = {key: _exact(cell) if found.is_number else cell for key, cell in found.rows.items()}
            picks = [compile_decimal(key, world) for key in keys]
            if len(picks) == 1:
                only = picks[0]
                return lambda state: rows[(cast(str, only(state)),)]
            return lambda state: rows[tuple([cast(str, pick(state)) for pick in picks])]


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator_module.lt,
    "<=": operator_module.le,
    ">": operator_module.gt,
    ">=": operator_module.ge,
    "==": operator_module.eq,
    "!=": operator_module.ne,
}
