"""A wire form: from one neutral request to the bytes of a protocol, and from the bytes that came back to a reading.

Both ways are pure. A reading is what was said of each option, in the request's own keys, or the reason why nothing can
be read. A new protocol is one small file with such a class. What is not here: sending (`http` and the local
backends), and whether a reading is valid (`validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from attrs import frozen

from exactworlds.collect.numbers import DuplicateKey, NotJson, exact_number, parse_answer
from exactworlds.files.requests import Request

__all__ = [
    "Reading",
    "Unread",
    "Usage",
    "Wire",
    "case_text",
    "complement_pairs",
    "open_object",
    "option_lines",
    "pairs_of",
    "text_or_none",
    "token_count",
    "usage_in",
]


@frozen
class Reading:
    """What an answer says: pairs of an option key, what was written, and the number it states (None: no number)."""

    pairs: tuple[tuple[str, str, Fraction | None], ...] = ()
    choice: str | None = None
    score: Fraction | None = None
    label_mass: float | None = None


@frozen
class Usage:
    """What the answer says of itself; None where it says nothing."""

    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class Unread(Exception):  # an outcome of reading, not a fault of the program
    """Nothing can be read, for one of the reasons of `ends.REASONS`."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail}")


class Wire(Protocol):
    """A protocol: `body` makes the bytes of a request, `read` takes those of an answer or raises `Unread`."""

    def body(self, request: Request, model: str) -> bytes: ...

    def read(self, answer: bytes, request: Request) -> Reading: ...

    def usage(self, answer: bytes) -> Usage: ...


def case_text(request: Request) -> str:
    """The demonstrations with their answers, then the case: what is shown where a protocol has one text for both."""
    if not request.demonstrations:
        return request.state
    shown = [
        f"Example {number}\n{one.memo}\nAnswer: {one.answer}"
        for number, one in enumerate(request.demonstrations, start=1)
    ]
    return "\n\n".join([*shown, f"Case\n{request.state}"])


def option_lines(request: Request, marks: Sequence[str] | None = None) -> str:
    """One line an option: its mark, its key, and what it says where that is more than the key."""
    return "\n".join(
        f"{mark} {option.key}" if option.text == option.key else f"{mark} {option.key}: {option.text}"
        for mark, option in zip(marks or ["-"] * len(request.options), request.options, strict=True)
    )


def open_object(answer: bytes) -> dict[str, Any]:
    """A JSON object, or the reason why the bytes are none."""
    try:
        content = parse_answer(answer)
    except DuplicateKey as error:
        raise Unread("duplicate-key", str(error)) from None
    except NotJson as error:
        raise Unread("not-json", str(error)) from None
    if not isinstance(content, dict):
        raise Unread("transport", "the answer is not an object")
    return content


def usage_in(
    answer: bytes,
    *,
    opened: Callable[[bytes], Mapping[str, Any]] = open_object,
    names: tuple[str, str] = ("input_tokens", "output_tokens"),
) -> Usage:
    """The answering model and the counts of tokens, where an answer has them; nothing is read where it cannot be."""
    try:
        content = opened(answer)
    except Unread:
        return Usage()
    counted = content.get("usage")
    counts = counted if isinstance(counted, dict) else {}
    before, after = (token_count(counts.get(name)) for name in names)
    return Usage(text_or_none(content.get("model")), before, after)


def pairs_of(report: Mapping[str, Any]) -> tuple[tuple[str, str, Fraction | None], ...]:
    """An object of probabilities as pairs."""
    return tuple((key, str(value), exact_number(value)) for key, value in report.items())


def complement_pairs(request: Request, said: Any) -> tuple[tuple[str, str, Fraction | None], ...]:
    """The pairs of a binary request of which only the probability of the second option, yes, was said."""
    no, yes = (option.key for option in request.options)
    value = exact_number(said)
    return ((no, f"1 - {said}", None if value is None else 1 - value), (yes, str(said), value))


def token_count(value: object) -> int | None:
    """A count of tokens, also if it was written as 12.0; None for anything else."""
    number = exact_number(value)
    return int(number) if number is not None and number.denominator == 1 and number >= 0 else None


def text_or_none(value: object) -> str | None:
    """A short text that is no number; None for anything else."""
    return value[:200] if type(value) is str else None
