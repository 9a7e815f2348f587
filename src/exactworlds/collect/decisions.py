"""OpenAI Decisions: an input, and a list of questions; answers in the same order, a refusal for each question.

POST {base}/v1/decisions    {model, input, questions: [{type, name, …}]}
answer                      {model, answers: [{type, name, …}], usage}
"""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen

from exactworlds.collect.numbers import exact_number
from exactworlds.collect.wire import (
    Reading,
    Unread,
    Usage,
    case_text,
    complement_pairs,
    open_object,
    pairs_of,
    text_or_none,
    usage_in,
)
from exactworlds.files.requests import Request

__all__ = ["Decisions"]

NAME = "q"
TYPES = {"event": "predicate", "choice": "choice", "distribution": "choice", "score": "score"}


@frozen
class Decisions:
    """The protocol."""

    def body(self, request: Request, model: str) -> bytes:
        """The bytes of a request."""
        content = {"model": model, "input": case_text(request), "questions": [_question(request)]}
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()

    def read(self, answer: bytes, request: Request) -> Reading:
        """What an answer says of each option."""
        found = _only_answer(open_object(answer))
        if found.get("type") == "refusal":
            raise Unread("refusal", "the model declined to answer")
        asked = TYPES[request.kind]
        if found.get("type") != asked:
            raise Unread("missing-option", f"the answer is not of the type {asked}")
        if asked == "predicate":
            return Reading(complement_pairs(request, found.get("probability")))
        rows = found.get("probabilities")
        if not isinstance(rows, list) or not all(isinstance(row, dict) and "value" in row for row in rows):
            raise Unread("missing-option", "the answer has no list of probabilities")
        if asked == "choice":
            return Reading(_listed(rows, {}), choice=text_or_none(found.get("choice")))
        keys = {str(place): option.key for place, option in enumerate(request.options)}
        return Reading(_listed(rows, keys), score=exact_number(found.get("score")))

    def usage(self, answer: bytes) -> Usage:
        """What an answer says of itself."""
        return usage_in(answer)


def _question(request: Request) -> dict[str, Any]:
    asked: dict[str, Any] = {"type": TYPES[request.kind], "name": NAME, "instructions": request.question}
    if request.kind == "event":
        no, yes = request.options
        if (no.text, yes.text) != (no.key, yes.key):
            asked["instructions"] = f"{request.question} Yes means {yes.text}, no means {no.text}."
    elif request.kind == "score":
        asked["levels"] = [{"label": option.text} for option in request.options]
    else:
        asked["choices"] = [
            {"value": option.key} if option.text == option.key else {"value": option.key, "description": option.text}
            for option in request.options
        ]
    return asked


def _only_answer(content: dict[str, Any]) -> dict[str, Any]:
    answers = content.get("answers")
    if not isinstance(answers, list):
        raise Unread("transport", "the answer has no list of answers")
    if not answers:
        raise Unread("missing-option", "the question was not answered")
    if len(answers) > 1:
        raise Unread("extra-option", "a question was answered that nobody asked")
    found = answers[0]
    if not isinstance(found, dict):
        raise Unread("missing-option", "the answer is not an object")
    if found.get("name") not in (None, NAME):
        raise Unread("extra-option", "another question was answered")
    return found


def _listed(rows: list[dict[str, Any]], keys: dict[str, str]) -> tuple[Any, ...]:
    """A list of values with their probabilities; a value that stands twice stays twice."""
    found: list[Any] = []
    for row in rows:
        value = row["value"]
        key = keys.get(str(value), f"position {value}") if keys else (value if type(value) is str else repr(value))
        found += pairs_of({key: row.get("probability")})
    return tuple(found)
