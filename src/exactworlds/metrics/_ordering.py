"""Absolute value, extremes and sums written as comparisons and additions only.

The bare formulas are read by provers as well as by people: whatever runs through them needs the four field
operations and comparisons, nothing else. The builtins would do the same on numbers; written out, each branch
is one that a prover can follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["Real", "absolute", "larger", "smaller", "total"]

Real = Any
"""A Fraction, a float, or a symbolic real: anything with field arithmetic and comparisons."""


def absolute(value: Real) -> Real:
    """|value|.

    >>> absolute(-3), absolute(0), absolute(2)
    (3, 0, 2)
    """
    if value >= 0:
        return value
    return -value


def larger(first: Real, second: Real) -> Real:
    """The larger of two; the first if they are equal.

    >>> larger(1, 2)
    2
    """
    if first >= second:
        return first
    return second


def smaller(first: Real, second: Real) -> Real:
    """The smaller of two; the first if they are equal.

    >>> smaller(1, 2)
    1
    """
    if first <= second:
        return first
    return second


def total(values: Iterable[Real]) -> Real:
    """The sum, from left to right, starting at the integer 0.

    >>> total([1, 2, 3])
    6
    """
    out: Real = 0
    for value in values:
        out = out + value
    return out
