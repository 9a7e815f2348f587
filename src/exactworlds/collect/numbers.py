"""Strict JSON from a model's bytes: numbers stay the text that was written, and nothing is guessed.

A probability is an exact decimal: the reader keeps `0.30` as it stands, and `exact_number` makes it 3/10. Text is never
a number here, nor is a boolean. What is not here: files of our own (`files.strict_json`), which hold no foreign bytes.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

__all__ = ["DuplicateKey", "JsonNumber", "NotJson", "exact_number", "parse_answer"]

LONGEST_NUMBER = 1000
"""The longest number that is read, in characters."""

LARGEST_EXPONENT = 300
"""A number with a larger power of ten, up or down, is beyond what doubles hold, and no probability."""

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)


class NotJson(ValueError):
    """The bytes are not one strict JSON document; NaN and infinities are not JSON."""


class DuplicateKey(ValueError):
    """An object names a key twice: which of the two is meant is not known."""


class JsonNumber(str):
    """A number as it was written."""

    __slots__ = ()


def parse_answer(raw: bytes | str) -> Any:
    """One JSON document whose numbers are `JsonNumber`.

    >>> parse_answer(b'{"p": 0.30}')
    {'p': '0.30'}
    """
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
        content = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse,
            parse_float=JsonNumber,
            parse_int=JsonNumber,
        )
        if "\\u" in text:  # an escape can spell half a surrogate pair, which no file of ours could hold
            json.dumps(content, ensure_ascii=False).encode()
        return content
    except DuplicateKey:
        raise
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def exact_number(value: object) -> Fraction | None:
    """The rational number that a JSON number states; None for whatever is no finite number.

    >>> exact_number(JsonNumber("1.5e-1")), exact_number("0.5"), exact_number(JsonNumber("1e999"))
    (Fraction(3, 20), None, None)
    """
    if not isinstance(value, JsonNumber) or len(value) > LONGEST_NUMBER:
        return None
    found = _NUMBER.fullmatch(value)
    if found is None or (found[3] and abs(int(found[3][1:])) > LARGEST_EXPONENT):
        return None
    return Fraction(str(value))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise DuplicateKey("a key stands twice")
    return content


def _refuse(text: str) -> Any:
    raise NotJson(f"found {text}, which is not JSON")
