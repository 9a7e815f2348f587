"""Statements over the reals, proved on every path of the code that they call, or refuted by a number.

A statement is an ordinary function of numbers that calls the package's formulas and returns what should hold: a
comparison, a boolean, or a list of them. `prove` runs it on symbols. A comparison that decides a branch forks the run;
branches that nothing takes are pruned, what is left is shown to cover the whole domain, the claim is
proved on each, and each path is run again on Fractions that take it. `refute` finds numbers for which the statement
is false and runs the statement on these Fractions, so that a witness never rests on the solver.

    prove(lambda p, q: absolute(p - q) <= 1, "p q", lambda p, q: [*unit(p, q)])

`over` names the symbols: "p" is a number, "p[3]" a list of three. A solver that gives up fails both `prove` and
`refute`; its limit is in its own resource units, so that a verdict does not depend on how busy the machine is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import z3

__all__ = [
    "NotProved",
    "NotRefuted",
    "Path",
    "Symbol",
    "costs",
    "explore",
    "law",
    "prove",
    "reachable",
    "refute",
    "unit",
    "unreachable",
]

RESOURCES = 20_000_000
"""z3's own units, a few seconds' worth; a verdict that needs more counts as none."""
QUICK_RESOURCES = 200_000
MOST_PATHS = 5_000

Statement = Callable[..., Any]
Witness = dict[str, Any]
"""From each name to a Fraction, or to a list of them."""


class NotProved(AssertionError):
    """The statement is false somewhere (`witness`, if it is known), or the solver gave no verdict."""

    def __init__(self, message: str, witness: Witness | None = None) -> None:
        super().__init__(message)
        self.witness = witness


class NotRefuted(AssertionError):
    """A statement that should be false holds, or was not shown to be false."""


# --- symbols --------------------------------------------------------------------------------------------------------


def _term(value: Any) -> Any:
    if isinstance(value, Symbol):
        return value.term
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise TypeError(f"{value!r} in exact arithmetic")
    return z3.Q(Fraction(value).numerator, Fraction(value).denominator)


class Truth:
    """A comparison of symbols: a goal if it is returned, a fork if it decides a branch."""

    def __init__(self, term: Any) -> None:
        self.term = term

    def __bool__(self) -> bool:
        if not _RUNS:
            raise TypeError("a premise must not branch: a comparison was asked for its truth outside a statement")
        return _RUNS[-1].decide(self.term)


class Symbol:
    """A real number that is not known, with the arithmetic of a Fraction: no float, no hash, no division by zero."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, term: Any) -> None:
        self.term = term

    def __add__(self, other: Any) -> Symbol:
        return Symbol(self.term + _term(other))

    def __radd__(self, other: Any) -> Symbol:
        return Symbol(_term(other) + self.term)

    def __sub__(self, other: Any) -> Symbol:
        return Symbol(self.term - _term(other))

    def __rsub__(self, other: Any) -> Symbol:
        return Symbol(_term(other) - self.term)

    def __mul__(self, other: Any) -> Symbol:
        return Symbol(self.term * _term(other))

    def __rmul__(self, other: Any) -> Symbol:
        return Symbol(_term(other) * self.term)

    def __truediv__(self, other: Any) -> Symbol:
        if other == 0:  # to z3 x/0 is any number; here it is an error, as with Fractions
            raise ZeroDivisionError
        return Symbol(self.term / _term(other))

    def __rtruediv__(self, other: Any) -> Symbol:
        return Symbol(_term(other)) / self

    def __neg__(self) -> Symbol:
        return Symbol(-self.term)

    def __bool__(self) -> bool:
        return bool(Truth(self.term != 0))

    def __lt__(self, other: Any) -> Truth:
        return Truth(self.term < _term(other))

    def __le__(self, other: Any) -> Truth:
        return Truth(self.term <= _term(other))

    def __gt__(self, other: Any) -> Truth:
        return Truth(self.term > _term(other))

    def __ge__(self, other: Any) -> Truth:
        return Truth(self.term >= _term(other))

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        if isinstance(other, float) and math.isinf(other):  # a real number is no infinity
            return Truth(z3.BoolVal(False))
        return Truth(self.term == _term(other))

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(self.term != _term(other))


# --- verdicts -------------------------------------------------------------------------------------------------------


def _model(conditions: Iterable[Any]) -> Any:
    """A model of the conditions, None if there is none. Every check has its own solver.

    A z3 solver that is asked twice turns incremental and gives up on products that a fresh one decides.
    """
    solver = z3.Solver()
    solver.set("rlimit", RESOURCES)
    solver.add(*conditions)
    verdict = solver.check()
    if verdict == z3.unknown:
        raise NotProved(f"no verdict: {solver.reason_unknown()}")
    return solver.model() if verdict == z3.sat else None


def _proposition(condition: Any, holds: bool) -> Any:
    """A condition as a bare letter: what is left of it when only the logic of the branches counts."""
    letter = z3.Bool(condition.sexpr())
    return letter if holds else z3.Not(letter)


class _Run:
    """One run of a statement: the decisions that lead it, and those that are still to be tried."""

    def __init__(self, premises: list[Any], solver: Any, script: list[bool]) -> None:
        self.premises, self.solver, self.script = premises, solver, script
        self.taken: list[bool] = []
        self.conditions: list[Any] = []
        self.branches: list[Any] = []
        self.pruned: list[list[Any]] = []
        self.todo: list[list[bool]] = []

    def decide(self, condition: Any) -> bool:
        condition = z3.simplify(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return bool(z3.is_true(condition))
        place = len(self.taken)
        if place < len(self.script):
            answer = self.script[place]
        else:
            can_be, can_fail = self._possible(condition), self._possible(z3.Not(condition))
            answer = can_be
            if can_be and can_fail:
                self.todo.append([*self.taken, False])
            else:
                self.pruned.append([*self.branches, _proposition(condition, not answer)])
        self.taken.append(answer)
        self.conditions.append(condition if answer else z3.Not(condition))
        self.branches.append(_proposition(condition, answer))
        return answer

    def _possible(self, condition: Any) -> bool:
        quick = self.solver.check(*self.conditions, condition)
        if quick != z3.unknown:
            return bool(quick == z3.sat)
        return _model([*self.premises, *self.conditions, condition]) is not None


_RUNS: list[_Run] = []


@dataclass(frozen=True)
class Path:
    """One way through the code: the decisions taken, what came out, and Fractions that take it (none if a root)."""

    conditions: tuple[Any, ...]
    result: Any
    witness: Witness | None


def _symbols(over: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word in over.split():
        match = re.fullmatch(r"([a-z]+)(?:\[(\d+)\])?", word)
        assert match, f"{word!r} is not a name such as p or p[3]"
        name, count = match.groups()
        entries = [Symbol(z3.Real(f"{name}{index}")) for index in range(int(count or 0))]
        found[name] = entries if count else Symbol(z3.Real(name))
    return found


def _premises(given: Statement | None, symbols: dict[str, Any]) -> list[Any]:
    if given is None:
        return []
    conditions = [z3.BoolVal(c) if isinstance(c, bool) else c.term for c in given(*symbols.values())]
    if _model(conditions) is None:
        raise NotProved("nothing satisfies the premises")
    return conditions


def _fractions(model: Any, symbols: dict[str, Any]) -> Witness | None:
    def value(symbol: Symbol) -> Fraction | None:
        number = model.eval(symbol.term, model_completion=True)
        return Fraction(str(number.as_fraction())) if z3.is_rational_value(number) else None

    found: Witness = {
        name: [value(entry) for entry in entry_or_list] if isinstance(entry_or_list, list) else value(entry_or_list)
        for name, entry_or_list in symbols.items()
    }
    flat = [x for entry in found.values() for x in (entry if isinstance(entry, list) else [entry])]
    return None if None in flat else found


def _runs(formula: Statement, symbols: dict[str, Any], premises: list[Any]) -> list[tuple[tuple[Any, ...], Any]]:
    solver = z3.Solver()
    solver.set("rlimit", QUICK_RESOURCES)
    solver.add(*premises)
    todo: list[list[bool]] = [[]]
    found: list[tuple[tuple[Any, ...], Any]] = []
    branches: list[list[Any]] = []
    while todo:
        if len(found) >= MOST_PATHS:
            raise NotProved(f"more than {MOST_PATHS} paths")
        run = _Run(premises, solver, todo.pop())
        _RUNS.append(run)
        try:
            result: Any = formula(*symbols.values())
        except ZeroDivisionError as error:
            result = error
        finally:
            _RUNS.pop()
        todo.extend(run.todo)
        found.append((tuple(run.conditions), result))
        branches += [run.branches, *run.pruned]
    _check_cover(branches)
    return found


def _check_cover(branches: list[list[Any]]) -> None:
    """Whatever the comparisons say, some path is taken, or a branch that was shown to be impossible."""
    if _model([z3.Not(z3.And(z3.BoolVal(True), *letters)) for letters in branches]) is not None:
        raise NotProved("the paths do not cover the domain")


def _evaluate(result: Any, model: Any) -> Any:
    """A result under a model, as what Fractions would have given."""
    if isinstance(result, list | tuple):
        return [_evaluate(entry, model) for entry in result]
    if isinstance(result, Truth):
        return bool(z3.is_true(model.eval(result.term, model_completion=True)))
    if isinstance(result, Symbol):
        number = model.eval(result.term, model_completion=True)
        return Fraction(str(number.as_fraction()))
    return result


def _same(symbolic: Any, exact: Any) -> bool:
    if isinstance(symbolic, list):
        return len(symbolic) == len(exact) and all(map(_same, symbolic, exact))
    return bool(symbolic == exact)


def explore(formula: Statement, over: str, given: Statement | None = None) -> list[Path]:
    """Every path of a formula, each replayed on Fractions that take it; together they cover the domain."""
    symbols = _symbols(over)
    premises = _premises(given, symbols)
    found = []
    for conditions, result in _runs(formula, symbols, premises):
        model = _model([*premises, *conditions])
        if model is None:
            raise NotProved("a path that nothing takes")
        witness = _fractions(model, symbols)
        if witness is not None and not isinstance(result, ZeroDivisionError):
            exact = formula(*witness.values())
            if not _same(_evaluate(result, model), exact):
                raise NotProved(f"symbols give {_evaluate(result, model)}, Fractions {exact}", witness)
        found.append(Path(conditions, result, witness))
    return found


def _goals(result: Any) -> list[Any]:
    """What a statement returned, as goals that can be negated one by one."""
    if isinstance(result, ZeroDivisionError):
        return [z3.BoolVal(False)]
    if isinstance(result, Truth):
        return [result.term]
    if isinstance(result, bool):
        return [z3.BoolVal(result)]
    if not isinstance(result, list | tuple) or not result:
        raise TypeError(f"a statement returned {result!r}, expected comparisons")
    return [goal for entry in result for goal in _goals(entry)]


def prove(statement: Statement, over: str, given: Statement | None = None) -> int:
    """Prove a statement for all numbers that satisfy the premises; the number of paths of the code behind it."""
    symbols = _symbols(over)
    premises = _premises(given, symbols)
    paths = explore(statement, over, given)
    for path in paths:
        for goal in _goals(path.result):
            model = _model([*premises, *path.conditions, z3.Not(goal)])
            if model is not None:
                witness = _fractions(model, symbols)
                raise NotProved(f"false at {witness or model}", witness)
    return len(paths)


def refute(statement: Statement, over: str, given: Statement | None = None) -> Witness:
    """Fractions that satisfy the premises and make the statement false, as the Fractions themselves show."""
    symbols = _symbols(over)
    try:
        premises = _premises(given, symbols)
        runs = _runs(statement, symbols, premises)
        candidates = [
            model
            for conditions, result in runs
            for goal in _goals(result)
            for model in [_model([*premises, *conditions, z3.Not(goal)])]
            if model is not None
        ]
    except NotProved as error:
        raise NotRefuted(str(error)) from error
    if not candidates:
        raise NotRefuted("the statement holds")
    for model in candidates:
        witness = _fractions(model, symbols)
        if witness is not None and _is_refuted(statement, given, witness):
            return witness
    raise NotRefuted("false, but at no rational numbers that show it")


def _is_refuted(statement: Statement, given: Statement | None, witness: Witness) -> bool:
    if given is not None and not all(given(*witness.values())):
        return False
    try:
        outcome = statement(*witness.values())
    except ZeroDivisionError:
        return True
    return not all(outcome) if isinstance(outcome, list | tuple) else not outcome


def reachable(over: str, given: Statement) -> Witness:
    """Fractions that satisfy the conditions; `NotProved` if nothing does."""
    symbols = _symbols(over)
    model = _model(_premises(given, symbols))
    witness = _fractions(model, symbols)
    if witness is None:
        raise NotProved("satisfied, but by no rational numbers that were found")
    assert all(given(*witness.values()))
    return witness


def unreachable(over: str, given: Statement, conditions: Statement) -> None:
    """Nothing satisfies the conditions on top of the premises, which something satisfies."""
    symbols = _symbols(over)
    premises = _premises(given, symbols)
    model = _model([*premises, *(condition.term for condition in conditions(*symbols.values()))])
    if model is not None:
        raise NotProved("it is reachable", _fractions(model, symbols))


# --- domains --------------------------------------------------------------------------------------------------------


def unit(*values: Any) -> list[Any]:
    """Each value is a probability."""
    return [condition for value in values for condition in (value >= 0, value <= 1)]


def law(*vectors: Sequence[Any]) -> list[Any]:
    """Each vector is a probability law: no entry negative, sum 1."""
    conditions = []
    for vector in vectors:
        total = vector[0]
        for _, entry in pairwise(vector):
            total = total + entry
        conditions += [*[entry >= 0 for entry in vector], total == 1]
    return conditions


def costs(cost: Any, below: Fraction | int = Fraction(1, 2)) -> list[Any]:
    """A reject cost: above 0, and below a bound."""
    return [cost > 0, cost < below]
