"""Contracts of integer and text functions, decided by crosshair over all paths.

The exit code of its command is 0 also where nothing was confirmed and where a contract is misspelt; so it is asked
through its API, and a state other than the expected one fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crosshair.core_and_libs import MessageType, analyze_function, run_checkables
from crosshair.options import AnalysisKind, AnalysisOptionSet

__all__ = ["is_confirmed", "is_refuted", "states"]

# What bounds the work is the number of paths; the seconds are there for a path that never ends, so that a busy machine
# gives the same verdict as an idle one.
_OPTIONS = AnalysisOptionSet(
    analysis_kind=[AnalysisKind.PEP316],
    max_iterations=5_000,
    per_condition_timeout=600.0,
    per_path_timeout=60.0,
    report_all=True,
)


def states(function: Callable[..., Any]) -> list[MessageType]:
    """What was found for each condition of a function's contract."""
    checkables = analyze_function(function, _OPTIONS)
    if not checkables:
        raise AssertionError(f"{function.__name__} states no contract that was understood")
    return [message.state for message in run_checkables(checkables)]


def is_confirmed(function: Callable[..., Any]) -> bool:
    """Whether every condition holds on every path."""
    return set(states(function)) == {MessageType.CONFIRMED}


def is_refuted(function: Callable[..., Any]) -> bool:
    """Whether a condition was shown to fail."""
    return MessageType.POST_FAIL in states(function)
