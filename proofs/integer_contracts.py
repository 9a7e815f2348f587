"""Contracts of the package's integer and text functions, one twin each that must be refuted.

A contract stands in the docstring of a function that only calls the package, so that the package needs no second
kind of docstring. `pre:` bounds what is tried, `post:` is what must hold; crosshair reads both. A twin has the same
body or the same contract with one thing changed. `test_contracts.py` runs them; proofs/README.md says what
crosshair cannot do.
"""

from __future__ import annotations

from exactworlds.engine.enumerate import compile_expression
from exactworlds.errors import InvalidArgument
from exactworlds.golden.identification import partitions, refines
from exactworlds.metrics._ordering import absolute, larger, smaller, total
from exactworlds.metrics.accuracy import bayes_accuracy_formula, first_maximum_formula
from exactworlds.metrics.selection import dominates_formula
from exactworlds.metrics.snapshots import wasserstein1_formula
from exactworlds.rational import parse_exact
from exactworlds.spec.load import parse_world

WORLD = parse_world(
    b"""
format = "exactworlds/world/1"
id = "rules"
title = "Rules"
question = "Which?"
labels = { positive = "yes", negative = "no" }
[attribute.a]
values = [0, 1]
probability = ["1/2", "1/2"]
[attribute.b]
values = [0, 1]
probability = ["1/2", "1/2"]
[derived]
best = "max(a, b, 2)"
gap = "2 * a - b if a > b else -b"
[rule]
positive = "not (a < b or a == 3) and a - b >= 1"
[setting]
all = ["a", "b"]
[[provenance]]
of = ["*"]
kind = "chosen"
why = "a contract"
"""
)
RULE = compile_expression(WORLD.rule, WORLD)
BEST, GAP = (compile_expression(WORLD.derived_by_name[name].expression, WORLD) for name in ("best", "gap"))


def first_maximum(values: list[int]) -> int:
    """
    pre: 1 <= len(values) <= 4
    post: all(values[k] < values[__return__] for k in range(__return__))
    post: all(value <= values[__return__] for value in values)
    """
    return first_maximum_formula(values)


def first_maximum_twin(values: list[int]) -> int:
    """
    pre: 1 <= len(values) <= 4
    post: all(values[k] < values[__return__] for k in range(len(values)) if k != __return__)
    """
    return first_maximum_formula(values)


def largest(values: list[int]) -> int:
    """
    pre: 1 <= len(values) <= 4
    post: __return__ in values and all(value <= __return__ for value in values)
    """
    return int(bayes_accuracy_formula(values))


def largest_twin(values: list[int]) -> int:
    """
    pre: 1 <= len(values) <= 4
    post: __return__ in values and all(value < __return__ for value in values[1:])
    """
    return int(bayes_accuracy_formula(values))


def ordering(first: int, second: int) -> tuple[int, int, int]:
    """
    post: __return__[0] + __return__[1] == first + second
    post: __return__[0] - __return__[1] == __return__[2] and __return__[2] >= 0
    """
    return larger(first, second), smaller(first, second), absolute(first - second)


def ordering_twin(first: int, second: int) -> tuple[int, int, int]:
    """
    post: __return__[0] - __return__[1] == __return__[2] and __return__[2] > 0
    """
    return larger(first, second), smaller(first, second), absolute(first - second)


def dominates(cost: int, loss: int, other_cost: int, other_loss: int) -> bool:
    """
    post: __return__ == (cost <= other_cost and loss <= other_loss and (cost, loss) != (other_cost, other_loss))
    """
    return dominates_formula(cost, loss, other_cost, other_loss)


def dominates_twin(cost: int, loss: int, other_cost: int, other_loss: int) -> bool:
    """
    post: __return__ == (cost <= other_cost and loss <= other_loss)
    """
    return dominates_formula(cost, loss, other_cost, other_loss)


def distance(first: tuple[int, int, int], second: tuple[int, int, int]) -> int:
    """
    pre: min(first) >= 0 and min(second) >= 0 and sum(first) == sum(second)
    post: __return__ >= abs(first[1] + 2 * first[2] - second[1] - 2 * second[2])
    post: (__return__ == 0) == (first == second)
    """
    return int(wasserstein1_formula(first, second, (1, 1)))


def distance_twin(first: tuple[int, int, int], second: tuple[int, int, int]) -> int:
    """
    pre: min(first) >= 0 and min(second) >= 0 and sum(first) == sum(second)
    post: __return__ == abs(first[1] + 2 * first[2] - second[1] - 2 * second[2])
    """
    return int(wasserstein1_formula(first, second, (1, 1)))


def rule(a: int, b: int) -> bool:
    """
    post: __return__ == (a > b and a != 3)
    """
    return bool(RULE({"a": a, "b": b}))


def rule_twin(a: int, b: int) -> bool:
    """
    post: __return__ == (a >= b and a != 3)
    """
    return bool(RULE({"a": a, "b": b}))


def derived(a: int, b: int) -> tuple[int, int]:
    """
    post: __return__[0] >= a and __return__[0] >= b and __return__[0] >= 2 and __return__[0] in (a, b, 2)
    post: __return__[1] + b == (a + a if a > b else 0)
    """
    return int(BEST({"a": a, "b": b})), int(GAP({"a": a, "b": b}))


def derived_twin(a: int, b: int) -> tuple[int, int]:
    """
    post: __return__[1] + b == (a + a if a >= b else 0)
    """
    return int(BEST({"a": a, "b": b})), int(GAP({"a": a, "b": b}))


def all_partitions(number: int) -> list[tuple[int, ...]]:
    """
    pre: 0 <= number <= 6
    post: len(__return__) == (1, 1, 2, 3, 5, 7, 11)[number] == len(set(__return__))
    post: all(sum(parts) == number and list(parts) == sorted(parts, reverse=True) for parts in __return__)
    """
    return list(partitions(number))


def all_partitions_twin(number: int) -> list[tuple[int, ...]]:
    """
    pre: 0 <= number <= 6
    post: all(list(parts) == sorted(parts) for parts in __return__)
    """
    return list(partitions(number))


def refinement(a: int, b: int, c: int) -> bool:
    """
    pre: 1 <= a <= 4 and 1 <= b <= 4 and 1 <= c <= 8
    post: __return__ == (a + b == c)
    """
    return refines((a, b), (c,))


def refinement_twin(a: int, b: int, c: int) -> bool:
    """
    pre: 1 <= a <= 4 and 1 <= b <= 4 and 1 <= c <= 8
    post: __return__ == (a + b <= c)
    """
    return refines((a, b), (c,))


def accepted(text: str) -> bool:
    """
    pre: len(text) <= 3 and not any("0" <= character <= "9" for character in text)
    post: not __return__
    """
    try:
        parse_exact(text)
    except InvalidArgument:
        return False
    return True


def accepted_twin(text: str) -> bool:
    """
    pre: len(text) <= 3 and not any("0" <= character <= "9" for character in text)
    post: __return__ == (text == "-")
    """
    try:
        parse_exact(text)
    except InvalidArgument:
        return False
    return True


def sum_of(values: list[int]) -> int:
    """
    pre: len(values) <= 4
    post: __return__ == sum(values)
    """
    return int(total(values))


def sum_of_twin(values: list[int]) -> int:
    """
    pre: len(values) <= 4
    post: __return__ >= sum(values[1:])
    """
    return int(total(values))


CONTRACTS = {
    first_maximum: first_maximum_twin,
    largest: largest_twin,
    ordering: ordering_twin,
    dominates: dominates_twin,
    distance: distance_twin,
    rule: rule_twin,
    derived: derived_twin,
    all_partitions: all_partitions_twin,
    refinement: refinement_twin,
    accepted: accepted_twin,
    sum_of: sum_of_twin,
}
