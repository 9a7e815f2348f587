"""What tokens cost: list prices with their source and date, as `prices.toml` states them.

A model without a row has no price, and a run of it an unknown cost; it is never taken to be free. What is not here: how
many tokens a run used (`study.validity`).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from attrs import fields, frozen

from exactworlds.errors import InvalidArgument, InvalidSpec, Problem
from exactworlds.rational import is_finite_decimal
from exactworlds.spec.bundled import spec_folder
from exactworlds.spec.document import Description, Exact
from exactworlds.spec.reading import parse_toml, read_bytes, structure, unknown_keys

__all__ = ["ANY", "MILLION", "Price", "Prices", "find_price", "load_prices", "parse_prices", "token_cost"]

ANY = "*"
"""Stands for every model of a backend that has no row of its own."""

MILLION = 1_000_000


@frozen
class Price:
    """The list price of a model."""

    backend: str
    model: Annotated[str, Description('the name that the service uses; "*" for all others of the backend')]
    input: Annotated[Exact, Description("USD per million input tokens")]
    output: Annotated[Exact, Description("USD per million output tokens")]
    kind: Annotated[Literal["published", "chosen"], Description("chosen: nobody asks for money")]
    source: Annotated[str, Description("where it is printed, or why it is 0")]
    date: Annotated[str, Description("when the source said so, as YYYY-MM-DD")]


@frozen
class Prices:
    """All list prices."""

    format: Literal["exactworlds/prices/1"]
    price: tuple[Price, ...]

    def find(self, backend: str, model: str) -> Price | None:
        """The row of a model, or of all models of its backend; None if there is neither."""
        rows = {(row.backend, row.model): row for row in self.price}
        return rows.get((backend, model), rows.get((backend, ANY)))


@cache
def load_prices(file: Path | None = None) -> Prices:
    """The bundled `prices.toml`, or another file of its format."""
    path = file or spec_folder() / "prices.toml"
    return parse_prices(read_bytes(path), path)


def parse_prices(data: bytes, file: str | Path = "<text>") -> Prices:
    """The prices in a TOML text; `InvalidSpec` names every fault."""
    raw = parse_toml(data, file)
    problems = unknown_keys(raw, [entry.name for entry in fields(Prices)], "")
    found = structure(raw, Prices, "", problems)
    if found is not None:
        problems += _faults(found)
    if problems or found is None:
        raise InvalidSpec(file, dict.fromkeys(problems))
    return found


def find_price(backend: str, model: str) -> Price | None:
    """The bundled list price of a model; None if it is not known.

    >>> find_price("reporter", "posterior").input.value, find_price("nobody", "nothing")
    (Fraction(0, 1), None)
    """
    return load_prices().find(backend, model)


def token_cost(price: Price, input_tokens: int, output_tokens: int) -> Fraction:
    """What tokens cost in USD, exactly.

    >>> token_cost(find_price("systemone", "jev-1.13.0"), 1_000_000, 7)
    Fraction(21, 500)
    """
    for name, count in (("input_tokens", input_tokens), ("output_tokens", output_tokens)):
        if count < 0:
            raise InvalidArgument(name, count, "a number of tokens that is not negative")
    return (price.input.value * input_tokens + price.output.value * output_tokens) / MILLION


def _faults(prices: Prices) -> Iterator[Problem]:
    seen: dict[tuple[str, str], int] = {}
    for index, row in enumerate(prices.price):
        where = f"price[{index}]"
        for name, amount in (("input", row.input), ("output", row.output)):
            if amount.value < 0 or not is_finite_decimal(amount.value):
                yield Problem(f"{where}.{name}", f"found {amount}, expected a decimal that is not negative")
        if row.kind == "chosen" and (row.input.value or row.output.value):
            yield Problem(f"{where}.kind", "found chosen beside a price, expected published or a price of 0")
        for key, text in (("backend", row.backend), ("model", row.model), ("source", row.source)):
            if not text.strip():
                yield Problem(f"{where}.{key}", "found nothing, expected a text")
        if not _is_date(row.date):
            yield Problem(f"{where}.date", f"found {row.date!r}, expected a date such as 2026-10-07")
        first = seen.setdefault((row.backend, row.model), index)
        if first != index:
            yield Problem(where, f"prices {row.backend} {row.model} again, expected only price[{first}]")


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
