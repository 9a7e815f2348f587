"""How numbers are written for people: rounded, with what they are; and tables of them that can be sorted.

What is not here: which numbers stand in which table (`tables`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import frozen

from exactworlds.report.scored import Number, Spread

__all__ = ["Cell", "Column", "Table", "cell", "interval", "percent", "plain", "spread_cell", "text", "usd"]

NOTHING = "–"


@frozen
class Cell:
    """What stands in a table: the text, and what it is sorted by (texts by themselves, None last)."""

    text: str
    sort: float | str | None = None


@frozen
class Column:
    """A column; `about` says its convention in full."""

    name: str
    about: str = ""
    numeric: bool = True


@frozen
class Table:
    """A table with a caption; the first column names the rows."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def texts(self) -> list[list[str]]:
        return [[cell.text for cell in row] for row in self.rows]


def text(words: object) -> Cell:
    """A cell of words."""
    return Cell(str(words), str(words).casefold())


def plain(value: float | int | None, digits: int = 4) -> str:
    """A number rounded to so many decimals; whole numbers as they are.

    >>> plain(0.12345), plain(1234), plain(math.inf), plain(None)
    ('0.1235', '1,234', '∞', '–')
    """
    if value is None:
        return NOTHING
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0:
        return "0"
    if math.isinf(value):
        return "∞"
    if value and abs(value) < 10**-digits / 2:
        return f"{value:.1e}"
    return f"{value:.{digits}f}"


def cell(number: Number, digits: int = 4, *, with_n: bool = False) -> Cell:
    """A number of the scores; how many terms are infinite stands behind it."""
    written = plain(number.value, digits)
    if number.infinite:
        written += f" ({number.infinite:,} of {number.n:,})"
    if with_n and number.n is not None:
        written += f" (n\u00a0=\u00a0{number.n:,})"
    return Cell(written, number.value)


def interval(number: Number, digits: int = 4) -> Cell:
    """A number with its 95 % interval."""
    written = plain(number.value, digits)
    if number.low is not None and number.high is not None:
        written += f" [{plain(number.low, digits)}, {plain(number.high, digits)}]"
    return Cell(written, number.value)


def percent(value: float | None, digits: int = 1) -> Cell:
    """A share in per cent.

    >>> percent(0.5).text, percent(0.99999).text, percent(1.0).text
    ('50.0\xa0%', '99.999\xa0%', '100\xa0%')
    """
    if value is None:
        return Cell(NOTHING, None)
    if value in (0.0, 1.0):
        return Cell(f"{100 * value:.0f}\u00a0%", value)
    written = f"{100 * value:.{digits}f}"
    while float(written) in (0.0, 100.0) and digits < 9:  # what is not all is not shown as all
        digits += 1
        written = f"{100 * value:.{digits}f}"
    return Cell(f"{written}\u00a0%", value)


def usd(number: Number) -> Cell:
    """An amount of money; an unknown one says so."""
    if number.value is None:
        return Cell("unknown", None)
    if not number.value:
        return Cell("0", 0.0)
    return Cell(f"{number.value:.3g}" if number.value < 1 else f"{number.value:,.2f}", number.value)


def spread_cell(found: Spread, digits: int = 4) -> Cell:
    """Mean ± sample s.d."""
    if found.mean is None or found.deviation is None:
        return Cell(plain(found.mean, digits), found.mean)
    return Cell(f"{plain(found.mean, digits)} ± {plain(found.deviation, digits)}", found.mean)


def row_of(cells: Sequence[Cell | str]) -> tuple[Cell, ...]:
    return tuple(text(one) if isinstance(one, str) else one for one in cells)
