"""Exact literals: what is read, what is refused, and that text and number are the same thing."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.errors import InvalidArgument
from exactworlds.rational import (
    LONGEST_LITERAL,
    common_denominator,
    decimal_digits,
    exact_text,
    fraction_text,
    half_unit,
    is_finite_decimal,
    matches_printed,
    parse_decimal,
    parse_exact,
)

FINITE = st.builds(
    lambda units, places: Fraction(units, 10**places), st.integers(-(10**50), 10**50), st.integers(0, 45)
)
RATIONALS = st.fractions() | FINITE | st.builds(Fraction, st.integers(), st.integers(1, 10**60))


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("7/25", Fraction(7, 25)),
        ("-7/25", Fraction(-7, 25)),
        ("14/50", Fraction(7, 25)),
        ("0.28", Fraction(7, 25)),
        ("0.2800", Fraction(7, 25)),
        ("-0.5", Fraction(-1, 2)),
        ("007", Fraction(7)),
        ("0", Fraction(0)),
        ("-0", Fraction(0)),
        (3, Fraction(3)),
        (-3, Fraction(-3)),
        ("0." + "0" * 40 + "1", Fraction(1, 10**41)),
    ],
)
def test_what_is_read(literal: str | int, value: Fraction) -> None:
    assert parse_exact(literal) == value


@pytest.mark.parametrize(
    "literal",
    [
        "", " ", "1 ", " 1", "+1", "1.", ".5", "1e3", "1E-3", "inf", "nan", "0x1", "1_000", "1/0", "1/-2", "1.5/2",
        "1//2", "１", "٣", "½", "1/2/3", "--1", "1\n", "0.28f",
        0.5, True, False, None, Fraction(1, 2), Decimal("0.5"), 1j, [1],
    ],
)  # fmt: skip
def test_what_is_refused(literal: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"literal: found .*, expected "):
        parse_exact(literal)


def test_the_length_of_a_literal_is_bounded() -> None:
    assert parse_exact("9" * LONGEST_LITERAL) == 10**LONGEST_LITERAL - 1
    with pytest.raises(InvalidArgument, match="at most 1000 characters"):
        parse_exact("9" * (LONGEST_LITERAL + 1))


@pytest.mark.parametrize("literal", ["1/4", "2/1", "1/3"])
def test_a_decimal_is_no_ratio(literal: str) -> None:
    with pytest.raises(InvalidArgument, match="a finite decimal"):
        parse_decimal(literal)


@given(RATIONALS)
def test_canonical_text_is_the_number(value: Fraction) -> None:
    assert parse_exact(fraction_text(value)) == value
    assert parse_exact(exact_text(value)) == value


@given(RATIONALS, RATIONALS)
def test_equal_numbers_have_equal_texts(one: Fraction, other: Fraction) -> None:
    assert (exact_text(one) == exact_text(other)) == (one == other)
    assert exact_text(one * other / other if other else one) == exact_text(one)


@given(FINITE)
def test_a_finite_decimal_is_written_as_short_as_it_can(value: Fraction) -> None:
    text = exact_text(value)
    assert is_finite_decimal(value)
    assert parse_decimal(text) == value
    assert "/" not in text
    assert text != "-0"
    if "." in text:
        assert not text.endswith("0")


@given(st.integers(1, 10**6))
def test_a_finite_decimal_is_one_whose_expansion_ends(denominator: int) -> None:
    """Long division by hand: the remainders reach 0, or they come round again."""
    remainder = 1 % denominator
    seen: set[int] = set()
    while remainder and remainder not in seen and len(seen) < 64:
        seen.add(remainder)
        remainder = remainder * 10 % denominator
    assert is_finite_decimal(Fraction(1, denominator)) == (remainder == 0)


@given(RATIONALS, st.integers(0, 30))
def test_decimal_digits_round_half_to_even(value: Fraction, places: int) -> None:
    with localcontext() as context:
        context.prec = 400
        wanted = (Decimal(value.numerator) / Decimal(value.denominator)).quantize(Decimal(1).scaleb(-places))
        if abs(value * 10**places * 2 - round(value * 10**places * 2)) > Fraction(1, 10**200):
            assert Decimal(decimal_digits(value, places)) == wanted
    assert abs(parse_decimal(decimal_digits(value, places)) - value) * 2 * 10**places <= 1


@given(st.integers(-(10**20), 10**20), st.integers(0, 20))
def test_ties_go_to_the_even_digit(units: int, places: int) -> None:
    middle = Fraction(2 * units + 1, 2 * 10**places)
    rounded = parse_decimal(decimal_digits(middle, places)) * 10**places
    assert rounded % 2 == 0
    assert abs(rounded - middle * 10**places) == Fraction(1, 2)


def test_negative_places_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="places"):
        decimal_digits(Fraction(1), -1)


@given(FINITE, st.integers(0, 20))
def test_a_printed_value_matches_within_half_a_unit_closed(value: Fraction, places: int) -> None:
    printed = decimal_digits(value, places)
    half = half_unit(printed)
    assert half == Fraction(1, 2 * 10**places)
    assert matches_printed(value, printed)
    centre = parse_decimal(printed)
    assert matches_printed(centre + half, printed)
    assert matches_printed(centre - half, printed)
    assert not matches_printed(centre + half + Fraction(1, 10**60), printed)
    assert not matches_printed(centre - half - Fraction(1, 10**60), printed)


@given(st.lists(RATIONALS, max_size=6))
def test_the_common_denominator_is_the_least(values: list[Fraction]) -> None:
    found = common_denominator(values)
    assert all((value * found).denominator == 1 for value in values)
    for prime in (2, 3, 5, 7):
        if found % prime == 0:
            assert any((value * (found // prime)).denominator != 1 for value in values)
