"""Exact arithmetic on NumPy arrays of integers, and the rule evaluator that runs on them.

A number over all states is an integer array times a power of ten; a level is an index into its names; a boolean is a
boolean array. int64 wraps in silence, so each array carries a bound on its entries and is promoted to Python integers
before an operation could pass it. What is not here: probabilities (`engine.scaled`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from exactworlds.rational import parse_decimal
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
    children,
)
from exactworlds.spec.world import Table

__all__ = [
    "SAFE",
    "ArrayEvaluator",
    "Booleans",
    "Levels",
    "Numbers",
    "Value",
    "integers",
    "numbers_from_literals",
]

SAFE = 2**63 - 1
"""The largest magnitude that an int64 entry may reach."""

Array = NDArray[Any]


@frozen(eq=False)
class Numbers:
    """`array` / 10**`exponent`, with |entries of array| ≤ `bound`."""

    array: Array
    exponent: int
    bound: int


@frozen(eq=False)
class Levels:
    """Indices into `names`."""

    indices: Array
    names: tuple[str, ...]


Booleans = NDArray[np.bool_]
Value = Numbers | Levels | Booleans


def integers(array: Array, bound: int) -> Array:
    """The array in a type that holds entries up to `bound`: int64 if it can, Python integers otherwise."""
    if bound > SAFE and array.dtype != object:
        return array.astype(object)
    return array


def numbers_from_literals(literals: list[str]) -> Numbers:
    """A one-dimensional array of finite decimals over their common power of ten.

    A single literal keeps its axis: NumPy turns arithmetic on arrays without axes into scalars, and lets them overflow.
    """
    values = [parse_decimal(literal) for literal in literals]
    exponent = max((len(literal.partition(".")[2]) for literal in literals), default=0)
    scaled = [int(value * 10**exponent) for value in values]
    bound = max((abs(value) for value in scaled), default=0)
    return Numbers(np.array(scaled, dtype=object if bound > SAFE else np.int64), exponent, bound)


class ArrayEvaluator:
    """Evaluates expressions over all states at once.

    `names` gives the arrays of attributes, shaped so that they broadcast against each other. What does not read a
    name in `moving` (the residual and what depends on it) is computed once and kept.
    """

    def __init__(self, names: Mapping[str, Value], tables: Mapping[str, Table], moving: frozenset[str]) -> None:
        self.names: dict[str, Value] = dict(names)
        self.tables = {name: _TableArrays(table) for name, table in tables.items()}
        self.moving = moving
        self._kept: dict[int, Value] = {}
        self._moves: dict[int, bool] = {}

    def evaluate(self, node: Expression) -> Value:
        """The value of an expression as arrays."""
        if self._is_moving(node):
            return self._compute(node)
        if id(node) not in self._kept:
            self._kept[id(node)] = self._compute(node)
        return self._kept[id(node)]

    def numbers(self, node: Expression) -> Numbers:
        value = self.evaluate(node)
        assert isinstance(value, Numbers)  # the types were checked when the world was loaded
        return value

    def booleans(self, node: Expression) -> Booleans:
        value = self.evaluate(node)
        assert isinstance(value, np.ndarray)
        return value

    def _is_moving(self, node: Expression) -> bool:
        if id(node) not in self._moves:
            own = isinstance(node, Name) and node.name in self.moving
            self._moves[id(node)] = own or any(self._is_moving(child) for child in children(node))
        return self._moves[id(node)]

    def _compute(self, node: Expression) -> Value:
        match node:
            case Name(name):
                return self.names[name]
            case Number(literal):
                return numbers_from_literals([literal])
            case Level(name):
                return Levels(np.zeros(1, dtype=np.intp), (name,))
            case Negate(operand):
                positive = self.numbers(operand)
                return Numbers(-positive.array, positive.exponent, positive.bound)
            case Arithmetic("*", left, right):
                return _multiply(self.numbers(left), self.numbers(right))
            case Arithmetic(operator, left, right):
                first, second = _align(self.numbers(left), self.numbers(right))
                bound = first.bound + second.bound
                one, two = integers(first.array, bound), integers(second.array, bound)
                return Numbers(one + two if operator == "+" else one - two, first.exponent, bound)
            case Extremum(function, operands):
                result = self.numbers(operands[0])
                choose = np.minimum if function == "min" else np.maximum
                for operand in operands[1:]:
                    first, second = _align(result, self.numbers(operand))
                    bound = max(first.bound, second.bound)
                    result = Numbers(choose(first.array, second.array), first.exponent, bound)
                return result
            case Comparison():
                return self._compare(node)
            case Not(operand):
                return ~self.booleans(operand)
            case Logical(operator, operands):
                join = np.logical_and if operator == "and" else np.logical_or
                return reduce(join, [self.booleans(operand) for operand in operands])
            case Choose(test, then, otherwise):
                return _choose(self.booleans(test), self.evaluate(then), self.evaluate(otherwise))
            case Lookup(table, keys):
                return self.tables[table].look_up([self._levels(key) for key in keys])

    def _levels(self, node: Expression) -> Levels:
        value = self.evaluate(node)
        assert isinstance(value, Levels)
        return value

    def _compare(self, node: Comparison) -> Booleans:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(left, Levels) and isinstance(right, Levels):
            names = _joined_names(left, right)
            equal = _renamed(left, names) == _renamed(right, names)
        elif isinstance(left, Numbers) and isinstance(right, Numbers):
            return _COMPARE[node.operator](*(side.array for side in _align(left, right)))
        else:
            assert isinstance(left, np.ndarray)
            assert isinstance(right, np.ndarray)
            equal = left == right
        return np.asarray(equal if node.operator == "==" else ~equal)


class _TableArrays:
    """A table as an array with one axis a key."""

    def __init__(self, table: Table) -> None:
        self.keys = table.keys
        shape = tuple(len(levels) for levels in table.keys)
        rows = [table.rows[key] for key in _product(table.keys)]
        if table.is_number:
            flat = numbers_from_literals(rows)
            self.value: Value = Numbers(flat.array.reshape(shape), flat.exponent, flat.bound)
        else:
            names = tuple(dict.fromkeys(table.rows.values()))
            self.value = Levels(np.array([names.index(row) for row in rows], dtype=np.intp).reshape(shape), names)

    def look_up(self, keys: list[Levels]) -> Value:
        place = tuple(_renamed(key, levels) for key, levels in zip(keys, self.keys, strict=True))
        if isinstance(self.value, Numbers):
            return Numbers(np.asarray(self.value.array[place]), self.value.exponent, self.value.bound)
        assert isinstance(self.value, Levels)
        return Levels(np.asarray(self.value.indices[place]), self.value.names)


def _product(keys: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [()]
    for levels in keys:
        rows = [(*row, level) for row in rows for level in levels]
    return rows


def _align(left: Numbers, right: Numbers) -> tuple[Numbers, Numbers]:
    """Both numbers over the same power of ten."""
    exponent = max(left.exponent, right.exponent)
    return _shift(left, exponent), _shift(right, exponent)


def _shift(value: Numbers, exponent: int) -> Numbers:
    factor = 10 ** (exponent - value.exponent)
    if factor == 1:
        return value
    bound = max(value.bound, 1) * factor
    return Numbers(integers(value.array, bound) * factor, exponent, bound)


def _multiply(left: Numbers, right: Numbers) -> Numbers:
    bound = left.bound * right.bound
    product = integers(left.array, bound) * integers(right.array, bound)
    return Numbers(product, left.exponent + right.exponent, bound)


def _choose(test: Booleans, then: Value, otherwise: Value) -> Value:
    if isinstance(then, Numbers) and isinstance(otherwise, Numbers):
        first, second = _align(then, otherwise)
        chosen = np.where(test, first.array, second.array)
        return Numbers(chosen, first.exponent, max(first.bound, second.bound))
    if isinstance(then, Levels) and isinstance(otherwise, Levels):
        names = _joined_names(then, otherwise)
        return Levels(np.where(test, _renamed(then, names), _renamed(otherwise, names)), names)
    assert isinstance(then, np.ndarray)
    assert isinstance(otherwise, np.ndarray)
    return np.where(test, then, otherwise)


def _joined_names(left: Levels, right: Levels) -> tuple[str, ...]:
    return left.names if left.names == right.names else tuple(dict.fromkeys(left.names + right.names))


def _renamed(value: Levels, names: tuple[str, ...]) -> Array:
    """The indices of the same levels in another list of names."""
    if value.names == names:
        return value.indices
    translation = np.array([names.index(name) for name in value.names], dtype=np.intp)
    return np.asarray(translation[value.indices])


def _boolean(compared: Any) -> Booleans:
    """Comparisons of Python integers come back as objects."""
    return np.asarray(compared, dtype=np.bool_)


_COMPARE = {
    "<": lambda left, right: _boolean(left < right),
    "<=": lambda left, right: _boolean(left <= right),
    ">": lambda left, right: _boolean(left > right),
    ">=": lambda left, right: _boolean(left >= right),
    "==": lambda left, right: _boolean(left == right),
    "!=": lambda left, right: _boolean(left != right),
}
