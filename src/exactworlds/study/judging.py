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

from exactworlds.collect.validation import first_reason, rescaled
from exactworlds.contract.alignment import align
from exactworlds.contract.requests import ContractRequest
from exactworlds.errors import InvalidArgument
from exactworlds.rational import parse_exact
from exactworlds.study.reports import Answer

__all__ = ["judge", "read_number"]


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
    reason = first_reason([(str(key), read_number(value)) for key, value in pairs], list(request.event_map), step)
    if reason is not None:
        return Answer("rejected", None, reason, said=kept)
    numbers = {key: read_number(value) for key, value in pairs}
    shares, total = rescaled({key: value for key, value in numbers.items() if value is not None})
    aligned = align(shares, request)
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
