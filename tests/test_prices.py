"""Prices: every row has a source and a date, an unknown model has no price, and faults come all at once."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.errors import InvalidArgument, InvalidSpec
from exactworlds.spec.prices import find_price, load_prices, parse_prices, token_cost

ROW = """
[[price]]
backend = "systemone"
model = "m"
input = "0.042"
output = "1"
kind = "published"
source = "a list"
date = "2026-10-07"
"""
HEAD = 'format = "exactworlds/prices/1"\n'


def faults(text: str) -> list[str]:
    with pytest.raises(InvalidSpec) as caught:
        parse_prices(text.encode())
    return [str(problem) for problem in caught.value.problems]


def test_what_is_free_is_chosen_and_what_costs_money_is_published() -> None:
    for row in load_prices().price:
        assert (row.kind == "chosen") == (row.input.value == row.output.value == 0)


def test_a_model_without_a_row_has_no_price() -> None:
    assert find_price("systemone", "jev-latest") is None
    assert find_price("nobody", "jev-1.13.0") is None


def test_the_own_row_of_a_model_goes_before_that_of_its_backend() -> None:
    prices = parse_prices((HEAD + ROW + ROW.replace('"m"', '"*"').replace("0.042", "9")).encode())
    found = [prices.find("systemone", model) for model in ("m", "other")]
    assert [row.input.raw for row in found if row] == ["0.042", "9"]


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_a_cost_is_the_sum_of_its_tokens(input_tokens: int, output_tokens: int) -> None:
    row = parse_prices((HEAD + ROW).encode()).price[0]
    micro = Decimal("0.042") * input_tokens + output_tokens  # USD per million, so these are millionths
    assert token_cost(row, input_tokens, output_tokens) * 10**6 == Fraction(micro)


def test_tokens_are_not_negative() -> None:
    with pytest.raises(InvalidArgument, match="output_tokens"):
        token_cost(load_prices().price[0], 1, -1)


def test_all_faults_come_at_once() -> None:
    text = HEAD + ROW.replace('"0.042"', '"-1"').replace('"1"', '"1/3"').replace("2026-10-07", "2026-13-01")
    text += ROW.replace('"published"', '"chosen"').replace('"a list"', '" "')
    assert faults(text) == [
        "price[0].input: found -1, expected a decimal that is not negative",
        "price[0].output: found 1/3, expected a decimal that is not negative",
        "price[0].date: found '2026-13-01', expected a date such as 2026-10-07",
        "price[1].kind: found chosen beside a price, expected published or a price of 0",
        "price[1].source: found nothing, expected a text",
        "price[1]: prices systemone m again, expected only price[0]",
    ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('"0.042"', "0.042"), "found the float 0.042"),
        (('"published"', '"guessed"'), "published, chosen"),
        (("source", "origin"), "unknown key"),
        (('date = "2026-10-07"', ""), "missing"),
    ],
)
def test_what_cannot_be_read_is_named(change: tuple[str, str], fault: str) -> None:
    assert any(fault in line for line in faults(HEAD + ROW.replace(*change)))
