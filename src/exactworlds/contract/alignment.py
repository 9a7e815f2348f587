"""From option keys back to events: reports are compared only after their event maps are inverted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from exactworlds.contract.requests import ContractRequest
from exactworlds.errors import InvalidContract, Problem, shorten

__all__ = ["align", "report_problems"]

T = TypeVar("T")


def align(report: Mapping[str, T], request: ContractRequest) -> dict[str, T]:
    """The values of a report by canonical outcome: sorted categories, or no and yes.

    An option and an outcome belong together if they are the same set of cells; neither keys, texts nor the displayed
    order are looked at. Refuses missing and extra options, all at once.

    Claim: E.alignment
    """
    problems = report_problems(report, request)
    if problems:
        raise InvalidContract("report", problems)
    key_of = {cells: key for key, cells in request.event_map.items()}
    return {name: report[key_of[cells]] for name, cells in request.outcomes.items()}


def report_problems(report: Mapping[str, object], request: ContractRequest) -> list[Problem]:
    """What is wrong with the options that a report names: missing, or not asked for (a renamed one is both)."""
    expected = ", ".join(request.event_map)
    missing = [
        Problem(key, "is missing, expected a value for each option") for key in request.event_map if key not in report
    ]
    extra = [
        Problem(str(key), f"found the option {shorten(key)}, expected: {expected}")
        for key in report
        if key not in request.event_map
    ]
    return [*missing, *extra]
