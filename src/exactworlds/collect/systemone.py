"""System One: a state, and typed questions by name; answers with probabilities by option, and how they were wrapped.

    POST {base}/v1/systemone    {model, state, questions: {q: {type, instructions, criteria}}}
    answer                      {model, answers: {q: …}, usage}

An event is a `noul` question (the probability of yes), a choice or a distribution a `choice` question with the options
as criteria, ordered levels a `score` question, answered by position. `confidence` is a statistic of concentration whose
meaning differs between servers, so it is never read. Each request asks one question: no other can lean on it.
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

__all__ = ["CLOUDFLARE_DAILY_LIMIT", "SystemOne"]

QUESTION = "q"
TYPES = {"event": "noul", "choice": "choice", "distribution": "choice", "score": "score"}
CLOUDFLARE_DAILY_LIMIT = 4006
"""The code of a 429 that no waiting cures before tomorrow."""


@frozen
class SystemOne:
    """The protocol; `wrapped` if answers come inside {result, success, errors}, as Cloudflare sends them."""

    wrapped: bool = False

    def body(self, request: Request, model: str) -> bytes:
        """The bytes of a request."""
        content = {"model": model, "state": case_text(request), "questions": {QUESTION: question(request)}}
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()

    def read(self, answer: bytes, request: Request) -> Reading:
        """What an answer says of each option."""
        answers = self._opened(answer).get("answers")
        if not isinstance(answers, dict):
            raise Unread("transport", "the answer has no answers")
        if QUESTION not in answers:
            raise Unread("missing-option", "the question was not answered")
        if len(answers) > 1:
            raise Unread("extra-option", "a question was answered that nobody asked")
        found = answers[QUESTION]
        asked = TYPES[request.kind]
        if not isinstance(found, dict) or found.get("type") != asked:
            raise Unread("missing-option", f"the answer is not of the type {asked}")
        if asked == "noul":
            return Reading(complement_pairs(request, found.get("noul")))
        report = found.get("probabilities")
        if not isinstance(report, dict):
            raise Unread("missing-option", "the answer has no probabilities")
        if asked == "choice":
            return Reading(pairs_of(report), choice=text_or_none(found.get("choice")))
        keys = {str(place): option.key for place, option in enumerate(request.options)}
        placed = {keys.get(key, f"position {key}"): value for key, value in report.items()}
        return Reading(pairs_of(placed), score=exact_number(found.get("score")))

    def usage(self, answer: bytes) -> Usage:
        """What an answer says of itself."""
        return usage_in(answer, opened=self._opened)

    def _opened(self, answer: bytes) -> dict[str, Any]:
        content = open_object(answer)
        if not self.wrapped:
            return content
        if content.get("success") is not True or not isinstance(content.get("result"), dict):
            raise Unread("transport", "the envelope says that the request failed")
        return dict(content["result"])


def question(request: Request) -> dict[str, Any]:
    """The question of a request, with a text for every option: some servers refuse a null description."""
    described = {option.key: option.text for option in request.options}
    asked: dict[str, Any] = {"type": TYPES[request.kind], "instructions": request.question}
    if request.kind == "event":
        no, yes = request.options
        if (no.text, yes.text) != (no.key, yes.key):
            asked["criteria"] = {"true": yes.text, "false": no.text}
    elif request.kind == "score":
        asked["criteria"] = [option.text for option in request.options]
    else:
        asked["criteria"] = described
    return asked
