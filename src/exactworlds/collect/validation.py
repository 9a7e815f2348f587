"""What makes a report of probabilities valid. Nothing is repaired: the first reason that holds is the end of it.

A sum may miss 1 by half a step of the declared precision for each option, at most 0.02; the report is then p/Σp
exactly. An all-zero report is never valid, however coarse the precision. What is not here: reading bytes (the wire
forms).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

__all__ = ["LARGEST_SLACK", "first_reason", "is_consistent_choice", "is_consistent_score", "rescaled"]

LARGEST_SLACK = Fraction(2, 100)
"""However coarse a backend's numbers are, a sum further from 1 than this is rejected."""


def first_reason(said: Sequence[tuple[str, Fraction | None]], keys: Sequence[str], step: Fraction) -> str | None:
    """Why a report is not valid, or None if it is. `said` may name a key twice; None is what is no finite number.

    >>> first_reason([("no", Fraction(1, 2)), ("yes", Fraction(49, 100))], ["no", "yes"], Fraction(1, 100))
    >>> first_reason([("no", Fraction(1, 2)), ("yes", Fraction(49, 100))], ["no", "yes"], Fraction(0))
    'sum'

    Claim: E.validity
    """
    report = dict(said)
    if len(report) < len(said):
        return "duplicate-key"
    if any(key not in report for key in keys):
        return "missing-option"
    if any(key not in keys for key in report):
        return "extra-option"
    numbers = [number for number in report.values() if number is not None]
    if len(numbers) < len(report):
        return "not-finite"
    if any(number < 0 for number in numbers):
        return "negative"
    total = sum(numbers, Fraction(0))
    slack = min(len(numbers) * step / 2, LARGEST_SLACK)
    return "sum" if total == 0 or abs(total - 1) > slack else None


def rescaled(report: Mapping[str, Fraction]) -> tuple[dict[str, Fraction], Fraction]:
    """p/Σp, and Σ.

    >>> rescaled({"a": Fraction(1, 3), "b": Fraction(1, 3)})
    ({'a': Fraction(1, 2), 'b': Fraction(1, 2)}, Fraction(2, 3))
    """
    total = sum(report.values(), Fraction(0))
    return {key: value / total for key, value in report.items()}, total


def is_consistent_choice(choice: str, report: Mapping[str, Fraction]) -> bool:
    """Whether the chosen option has the largest probability, or shares it: rounding keeps the order."""
    return choice in report and report[choice] == max(report.values())


def is_consistent_score(score: Fraction, report: Sequence[Fraction], step: Fraction) -> bool:
    """Whether a score is the mean position, within what rounding by `step` can do, or a most likely position.

    Servers report either; a number that is neither contradicts the probabilities.
    """
    mean = sum((place * value for place, value in enumerate(report)), Fraction(0))
    slack = step / 2 * (1 + sum(range(len(report))))
    modes = [place for place, value in enumerate(report) if value == max(report)]
    return abs(score - mean) <= slack or score in modes
