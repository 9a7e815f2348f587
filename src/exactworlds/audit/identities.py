"""Printed against printed: lines such as "12000 - 87 = 11913" must hold as written.

The left side is evaluated exactly (+ − × ÷ and brackets over decimals); the right side is one printed number, which
must be the result to half a unit of its last digit.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction

from attrs import frozen

from exactworlds.errors import InvalidArgument
from exactworlds.rational import matches_printed, parse_decimal

__all__ = ["Identity", "check_identity"]

_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@frozen
class Identity:
    """A line, its left side's exact value, the printed right side, and whether it holds."""

    line: str
    value: Fraction
    printed: str
    holds: bool


def check_identity(line: str) -> Identity:
    """Evaluates a line "expression = printed number".

    >>> check_identity("0.1938 / (2 * 0.18567) = 0.52").holds, check_identity("1 + 1 = 3").holds
    (True, False)
    """
    left, separator, right = line.partition("=")
    printed = right.strip()
    if not separator:
        raise InvalidArgument("line", line, 'a line such as "12000 - 87 = 11913"')
    try:
        value = _evaluate(ast.parse(left.strip(), mode="eval").body, left.strip())
    except (SyntaxError, ZeroDivisionError):
        raise InvalidArgument("line", line, "sums, differences, products and quotients of decimals") from None
    return Identity(line, value, printed, matches_printed(value, printed))


def _evaluate(node: ast.expr, source: str) -> Fraction:
    match node:
        case ast.Constant():
            return parse_decimal(ast.get_source_segment(source, node) or "")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, source)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(left, source), _evaluate(right, source))
        case _:
            raise InvalidArgument("line", source, "sums, differences, products and quotients of decimals")
