"""Identities, tangents and sign certificates of expressions that the package's formulas build from sympy's symbols.

sympy's `==` compares how expressions are written, and its inequalities may stay undecided; nothing here rests on
either. An identity of rational functions is decided by bringing the difference over one denominator. A sign is
certified by coefficients that are not negative, in symbols that are declared so. A refusal is always an exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Any

import sympy

__all__ = [
    "NotIdentical",
    "difference_at",
    "identical",
    "never_negative",
    "no_float",
    "normal_logs",
    "orderings",
    "rational",
    "tangent",
]

PLACES = (Fraction(1, 7), Fraction(2, 11), Fraction(3, 13), Fraction(5, 17), Fraction(7, 19), Fraction(11, 23))
"""Where identities that should fail are evaluated: unequal numbers, so that nothing cancels by accident."""


class NotIdentical(AssertionError):
    """Two expressions differ, or a sign could not be certified."""


def rational(value: Fraction | int) -> Any:
    """A Fraction as sympy's number."""
    return sympy.Rational(Fraction(value).numerator, Fraction(value).denominator)


def no_float(expression: Any) -> Any:
    """The expression itself; a float anywhere in it is refused."""
    expression = sympy.sympify(expression)
    if expression.atoms(sympy.Float):
        raise TypeError(f"a float in {expression}")
    return expression


def identical(left: Any, right: Any) -> None:
    """The two are equal as rational functions: their difference over one denominator is 0."""
    difference = sympy.cancel(sympy.together(no_float(left) - no_float(right)))
    if difference != 0:
        raise NotIdentical(f"they differ by {difference}")


def difference_at(left: Any, right: Any) -> tuple[dict[str, Fraction], Fraction]:
    """Fractions at which the two differ, and by how much; `NotIdentical` is raised if they do not differ there."""
    difference = no_float(left) - no_float(right)
    symbols = sorted(difference.free_symbols, key=str)
    assert len(symbols) <= len(PLACES)
    where = dict(zip(symbols, PLACES, strict=False))
    value = difference.subs({symbol: rational(number) for symbol, number in where.items()})
    if value == 0 or not value.is_Rational:
        raise NotIdentical(f"no difference at {where}: {value}")
    return {str(symbol): number for symbol, number in where.items()}, Fraction(int(value.p), int(value.q))


def never_negative(expression: Any) -> None:
    """The expression is ≥ 0 wherever its symbols, declared not negative, are: every coefficient is ≥ 0."""
    for symbol in expression.free_symbols:
        if not symbol.is_nonnegative:
            raise NotIdentical(f"{symbol} is not declared to be ≥ 0")
    parts = sympy.fraction(sympy.cancel(sympy.together(no_float(expression))))
    for part in map(sympy.expand, parts):
        names = sorted(part.free_symbols, key=str)
        coefficients = sympy.Poly(part, *names).coeffs() if names else [part]
        if not all(coefficient.is_nonnegative for coefficient in coefficients):
            raise NotIdentical(f"no certificate: {part}")
    if parts[1] == 0:
        raise NotIdentical("a denominator that is 0")


def orderings(count: int) -> Iterator[list[Any]]:
    """Every strict order of some numbers > 0: the smallest plus gaps that are > 0, permuted."""
    steps = sympy.symbols(f"g0:{count}", positive=True)
    ladder = [sympy.Add(*steps[: index + 1]) for index in range(count)]
    for order in permutations(range(count)):
        yield [ladder[index] for index in order]


def normal_logs(expression: Any) -> Any:
    """The expression with every logarithm taken apart into logarithms of irreducible factors."""

    def apart(log: Any) -> Any:
        return sympy.expand_log(sympy.log(sympy.factor(sympy.cancel(sympy.together(log.args[0])))), force=True)

    expanded = expression.replace(lambda part: isinstance(part, sympy.log), apart)
    return sympy.simplify(sympy.expand(expanded))


def tangent(function: Any, symbol: Any, place: Any, curvature: Any) -> None:
    """The function and its derivative are 0 at a place, and its second derivative is `curvature`.

    Where the curvature is ≥ 0 on an interval around the place, the function is ≥ 0 there: a convex function lies
    above its tangent. That one step is made by hand, wherever this is used.
    """
    for order in (0, 1):
        value = normal_logs(sympy.diff(function, symbol, order).subs(symbol, place))
        if value != 0:
            raise NotIdentical(f"derivative {order} at {place} is {value}")
    identical(sympy.diff(function, symbol, 2), curvature)
