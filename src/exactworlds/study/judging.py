"""From what a model said to an answer: valid and aligned, or rejected with the first reason that holds. Never repaired.

    duplicate-key, missing-option, extra-option, not-finite, negative, sum

A number is what was written: text as its decimal, a float as the decimal that repr prints. A sum may miss 1 by half a
step of the backend's declared precision for each option, at most 0.02; the report is then p/Σp exactly, and the answer
keeps Σ. An all-zero report is never valid. What is not here: bytes and protocols (`collect`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from exactworlds.contract.alignment import align
from exactworlds.contract.requests import ContractRequest
from exactworlds.errors import InvalidArgument
from exactworlds.rational import parse_exact
from exactworlds.study.reports import Answer

__all__ = ["LARGEST_SLACK", "judge", "read_number"]

LARGEST_SLACK = Fraction(2, 100)
"""However coarse a backend's numbers are, a sum further from 1 than this is rejected."""


def judge(
    said: Mapping[str, Any] | Sequence[tuple[str, Any]], request: ContractRequest, *, step: Fraction = Fraction(0)
) -> Answer:
    """The answer that a report of option probabilities amounts to.

    `said` may be pairs, so that a key that stands twice is seen. `step` is the precision that the backend declares,
    such as 1/100 for two decimals; 0 means that sums are exact.

    Claim: E.validity
    """
    pairs = list(said.items()) if isinstance(said, Mapping) else list(said)
    kept = tuple((str(key), str(value)) for key, value in pairs)
    report = dict(pairs)
    reason = _first_reason(pairs, report, request, step)
    if reason is not None:
        return Answer("rejected", None, reason, said=kept)
    numbers = {key: _present(read_number(value)) for key, value in report.items()}
    total = sum(numbers.values(), Fraction(0))
    aligned = align({key: value / total for key, value in numbers.items()}, request)
    values = tuple(aligned.values())
    return Answer("valid", values if request.query is None else aligned["yes"], said=kept, total=total)


def read_number(value: object) -> Fraction | None:
    """The exact number that was said; None for NaN, infinities, booleans and whatever is no number."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        return Fraction(repr(value)) if math.isfinite(value) else None
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str | int):
        try:
            return parse_exact(value)
        except InvalidArgument:
            return None
    return None


def _first_reason(
    pairs: Sequence[tuple[str, Any]], report: Mapping[str, Any], request: ContractRequest, step: Fraction
) -> str | None:
    if len(report) < len(pairs):
        return "duplicate-key"
    if any(key not in report for key in request.event_map):
        return "missing-option"
    if any(key not in request.event_map for key in report):
        return "extra-option"
    numbers = [read_number(value) for value in report.values()]
    if any(number is None for number in numbers):
        return "not-finite"
    if any(_present(number) < 0 for number in numbers):
        return "negative"
    total = sum((_present(number) for number in numbers), Fraction(0))
    slack = min(len(numbers) * step / 2, LARGEST_SLACK)
    return "sum" if total == 0 or abs(total - 1) > slack else None


def _present(number: Fraction | None) -> Fraction:
    assert number is not None
    return number
