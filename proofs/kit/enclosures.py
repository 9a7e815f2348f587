"""The package's formulas on intervals: every end is rounded outwards, so that a sign that is read off is certain.

The intervals belong to a context of their own: mpmath's global one could be changed by anyone who imports it.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from mpmath.ctx_iv import MPIntervalContext

__all__ = ["INTERVALS", "certainly_negative", "certainly_positive", "enclose", "enclose_all"]

INTERVALS: Any = MPIntervalContext()
INTERVALS.prec = 160


def enclose(value: Fraction | int) -> Any:
    """The smallest interval around a Fraction."""
    if isinstance(value, float):
        raise TypeError(f"{value!r} in exact arithmetic")
    return INTERVALS.mpf(Fraction(value).numerator) / INTERVALS.mpf(Fraction(value).denominator)


def enclose_all(values: Iterable[Fraction | int]) -> list[Any]:
    """The intervals around several Fractions."""
    return [enclose(value) for value in values]


def certainly_positive(interval: Any) -> bool:
    """Whether all of the interval is above 0."""
    return bool(interval.a > 0)


def certainly_negative(interval: Any) -> bool:
    """Whether all of the interval is below 0."""
    return bool(interval.b < 0)
