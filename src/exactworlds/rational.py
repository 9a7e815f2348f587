"""Exact literals and their canonical text.

A number enters the package as text ("7/25", "0.28") or as an integer, and becomes a `Fraction`; a float never does,
because the decimal that a person wrote is no longer in it. What leaves is text again: a fraction in lowest terms, or
a decimal expansion that says how it was rounded. What is not here: floats with stated error, which belong to the
functions that need them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction

from exactworlds.errors import InvalidArgument

__all__ = [
    "LONGEST_LITERAL",
    "common_denominator",
    "decimal_digits",
    "exact_text",
    "fraction_text",
    "half_unit",
    "is_finite_decimal",
    "matches_printed",
    "parse_decimal",
    "parse_exact",
]

LONGEST_LITERAL = 1000
"""The longest literal that is read, in characters: exactness needs dozens of digits, an accident has millions."""

_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_RATIO = re.compile(r"-?[0-9]+/[0-9]+", re.ASCII)


def parse_exact(literal: str | int, *, argument: str = "literal") -> Fraction:
    """The rational number that a literal states: a decimal, a ratio of integers, or an integer.

    Raises `InvalidArgument` for a float, a boolean, an exponent, a space, a zero denominator, or more than
    `LONGEST_LITERAL` characters.

    >>> parse_exact("0.28"), parse_exact("7/25"), parse_exact(3)
    (Fraction(7, 25), Fraction(7, 25), Fraction(3, 1))
    """
    expected = 'an exact number such as "7/25", "0.28" or 3'
    if isinstance(literal, bool) or not isinstance(literal, str | int):
        raise InvalidArgument(argument, literal, expected)
    if isinstance(literal, int):
        return Fraction(literal)
    if len(literal) > LONGEST_LITERAL:
        raise InvalidArgument(argument, literal, f"a number of at most {LONGEST_LITERAL} characters")
    if _RATIO.fullmatch(literal):
        numerator, denominator = literal.split("/")
        if int(denominator) == 0:
            raise InvalidArgument(argument, literal, "a denominator that is not zero")
        return Fraction(int(numerator), int(denominator))
    if _DECIMAL.fullmatch(literal):
        return Fraction(literal)
    raise InvalidArgument(argument, literal, expected)


def parse_decimal(literal: str | int, *, argument: str = "literal") -> Fraction:
    """Like `parse_exact`, for a finite decimal only: "1/4" is refused although it has a decimal expansion.

    >>> parse_decimal("-0.5")
    Fraction(-1, 2)
    """
    if isinstance(literal, str) and "/" in literal:
        raise InvalidArgument(argument, literal, 'a finite decimal such as "0.25"')
    return parse_exact(literal, argument=argument)


def is_finite_decimal(value: Fraction) -> bool:
    """Whether the denominator has no prime factor but 2 and 5.

    >>> is_finite_decimal(Fraction(1, 40)), is_finite_decimal(Fraction(1, 3))
    (True, False)
    """
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def fraction_text(value: Fraction) -> str:
    """The canonical text of a rational: lowest terms, and an integer without a denominator.

    >>> fraction_text(Fraction(14, 50)), fraction_text(Fraction(3))
    ('7/25', '3')
    """
    return str(value)


def exact_text(value: Fraction) -> str:
    """The shortest exact text: a finite decimal without trailing zeros if there is one, else a fraction.

    >>> exact_text(Fraction(7, 25)), exact_text(Fraction(-3)), exact_text(Fraction(1, 3))
    ('0.28', '-3', '1/3')
    """
    if value.denominator == 1:
        return str(value.numerator)
    if not is_finite_decimal(value):
        return str(value)
    twos = (value.denominator & -value.denominator).bit_length() - 1
    fives = 0
    rest = value.denominator >> twos
    while rest > 1:
        rest //= 5
        fives += 1
    return decimal_digits(value, max(twos, fives))


def decimal_digits(value: Fraction, places: int) -> str:
    """The decimal expansion to `places` digits after the point, rounded half to even.

    >>> decimal_digits(Fraction(2, 3), 4), decimal_digits(Fraction(-1, 8), 2), decimal_digits(Fraction(-1, 1000), 2)
    ('0.6667', '-0.12', '0.00')
    """
    if places < 0:
        raise InvalidArgument("places", places, "a number of digits that is not negative")
    units = round(value * 10**places)
    sign = "-" if units < 0 else ""
    digits = str(abs(units)).rjust(places + 1, "0")
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def half_unit(printed: str) -> Fraction:
    """Half a unit of the last digit that is printed.

    >>> half_unit("0.034"), half_unit("12")
    (Fraction(1, 2000), Fraction(1, 2))
    """
    parse_decimal(printed, argument="printed")
    places = len(printed.partition(".")[2])
    return Fraction(1, 2 * 10**places)


def matches_printed(value: Fraction, printed: str) -> bool:
    """Whether `printed` is `value` rounded to the printed digits: |value − printed| ≤ half a unit, closed, exact.

    >>> matches_printed(Fraction(1, 52), "0.019"), matches_printed(Fraction(1, 50), "0.019")
    (True, False)
    """
    return abs(value - parse_decimal(printed, argument="printed")) <= half_unit(printed)


def common_denominator(values: Iterable[Fraction]) -> int:
    """The least common denominator (1 for no values).

    >>> common_denominator([Fraction(1, 4), Fraction(1, 6)])
    12
    """
    return math.lcm(*(value.denominator for value in values))
