"""OpenAI-compatible chat: generated JSON, or the log-probabilities of the answer letters at the first answer position.

    POST {base}/chat/completions    {model, messages, temperature: 0, …}

Generated JSON is read by a strict parser: one object from option keys to numbers, nothing before or after it. The
readout asks for one letter and reads `top_logprobs`; a letter that is not among them has unknown mass, not 0, so the
answer is rejected. What is read is the softmax over the letters, and the mass that they had together is kept.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from string import ascii_uppercase
from typing import Any

from attrs import frozen

from exactworlds.collect.numbers import DuplicateKey, NotJson, exact_number, parse_answer
from exactworlds.collect.wire import Reading, Unread, Usage, open_object, option_lines, pairs_of, usage_in
from exactworlds.files.requests import Request

__all__ = ["LONGEST_ANSWER", "TOP", "ChatJson", "ChatLogprobs", "letters_of", "softmax_pairs"]

LONGEST_ANSWER = 128
"""New tokens that an answer may have (P2, Appendix N)."""

TOP = 20
"""How many of the most likely tokens are asked for: the most that such servers give."""


class _Chat:
    def usage(self, answer: bytes) -> Usage:
        """What an answer says of itself."""
        return usage_in(answer, names=("prompt_tokens", "completion_tokens"))


@frozen
class ChatJson(_Chat):
    """Asks for one JSON object of probabilities, greedily."""

    def body(self, request: Request, model: str) -> bytes:
        """The bytes of a request."""
        form = ", ".join(f"{json.dumps(option.key, ensure_ascii=False)}: <number>" for option in request.options)
        told = (
            f"{request.question}\n{option_lines(request)}\n\nReply with one JSON object and nothing else: {{{form}}}. "
            "The numbers are your probabilities and add up to 1."
        )
        return _body(request, model, told, {"max_tokens": LONGEST_ANSWER})

    def read(self, answer: bytes, request: Request) -> Reading:
        """What an answer says of each option."""
        text = _text(_choice(open_object(answer)))
        try:
            report = parse_answer(text)
        except DuplicateKey as error:
            raise Unread("duplicate-key", str(error)) from None
        except NotJson as error:
            raise Unread("not-json", str(error)) from None
        if not isinstance(report, dict):
            raise Unread("missing-option", "the answer is not an object")
        return Reading(pairs_of(report))


@frozen
class ChatLogprobs(_Chat):
    """Asks for one letter and reads how likely each letter was."""

    def body(self, request: Request, model: str) -> bytes:
        """The bytes of a request."""
        marks = [f"{letter}." for letter in letters_of(request)]
        listed = option_lines(request, marks)
        told = f"{request.question}\n{listed}\n\nReply with the letter of one option and nothing else."
        return _body(request, model, told, {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP})

    def read(self, answer: bytes, request: Request) -> Reading:
        """The softmax over the letters at the first answer position."""
        choice = _choice(open_object(answer), cap_matters=False)
        logprobs = choice.get("logprobs")
        positions = logprobs.get("content") if isinstance(logprobs, dict) else None
        first = positions[0] if isinstance(positions, list) and positions else None
        rows = first.get("top_logprobs") if isinstance(first, dict) else None
        if not isinstance(rows, list):
            raise Unread("missing-option", "the answer has no log-probabilities at its first position")
        found: dict[str, Fraction] = {}
        for row in rows:
            token, value = (
                (row.get("token"), exact_number(row.get("logprob"))) if isinstance(row, dict) else (None, None)
            )
            if isinstance(token, str) and value is not None:
                if token in found:
                    raise Unread("duplicate-key", f"the token {token!r} stands twice")
                found[token] = value
        letters = letters_of(request)
        unknown = [letter for letter in letters if letter not in found]
        if unknown:
            raise Unread("missing-option", f"no log-probability of {', '.join(unknown)}: its mass is unknown, not 0")
        return softmax_pairs(request, [float(found[letter]) for letter in letters])


def letters_of(request: Request) -> list[str]:
    """A letter an option, in displayed order; more options than letters are refused."""
    if len(request.options) > len(ascii_uppercase):
        raise Unread("too-long", f"{len(request.options)} options, expected at most {len(ascii_uppercase)}")
    return list(ascii_uppercase[: len(request.options)])


def softmax_pairs(request: Request, logprobs: list[float]) -> Reading:
    """Probabilities over the options alone, from log-probabilities; doubles, read as the decimals that repr prints."""
    largest = max(logprobs)
    if not math.isfinite(largest):
        raise Unread("not-finite", "no option has any probability")
    weights = [math.exp(value - largest) for value in logprobs]
    total = math.fsum(weights)
    shares = [weight / total for weight in weights]
    mass = math.fsum(math.exp(value) for value in logprobs)
    pairs = tuple(
        (option.key, repr(share), Fraction(repr(share))) for option, share in zip(request.options, shares, strict=True)
    )
    return Reading(pairs, label_mass=mass)


def _body(request: Request, model: str, told: str, options: dict[str, Any]) -> bytes:
    """Demonstrations are earlier turns of the same conversation."""
    messages = [{"role": "system", "content": "You estimate probabilities. Follow the requested format exactly."}]
    for one in request.demonstrations:
        messages += [
            {"role": "user", "content": f"{one.memo}\n\n{request.question}"},
            {"role": "assistant", "content": one.answer},
        ]
    messages.append({"role": "user", "content": f"{request.state}\n\n{told}"})
    content = {"model": model, "messages": messages, "temperature": 0, **options}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _choice(content: dict[str, Any], *, cap_matters: bool = True) -> dict[str, Any]:
    """The one choice, unless the model refused or ran into the cap."""
    choices = content.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Unread("transport", "the answer has no choices")
    choice: dict[str, Any] = choices[0]
    message = choice.get("message")
    if isinstance(message, dict) and message.get("refusal"):
        raise Unread("refusal", "the model declined to answer")
    if choice.get("finish_reason") == "content_filter":
        raise Unread("refusal", "the answer was filtered")
    if cap_matters and choice.get("finish_reason") == "length":
        raise Unread("cap", "the answer ran into the cap of its length")
    return choice


def _text(choice: dict[str, Any]) -> str:
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise Unread("not-json", "the answer has no text")
    return str(text)
