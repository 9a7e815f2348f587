"""Integer and text functions, events and rules meet their contracts on every path; each twin is refuted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proofs import event_contracts, integer_contracts
from proofs.kit.contracts import is_confirmed, is_refuted, states

CONTRACTS = integer_contracts.CONTRACTS | event_contracts.CONTRACTS


@pytest.mark.parametrize("function", CONTRACTS, ids=lambda function: function.__name__)
def test_the_contract_is_confirmed(function: Callable[..., Any]) -> None:
    assert is_confirmed(function), states(function)


@pytest.mark.parametrize("twin", CONTRACTS.values(), ids=lambda function: function.__name__)
def test_the_twin_is_refuted(twin: Callable[..., Any]) -> None:
    assert is_refuted(twin), states(twin)


def test_a_function_without_a_contract_fails() -> None:
    def nothing(value: int) -> int:
        return value

    with pytest.raises(AssertionError, match="no contract"):
        states(nothing)
