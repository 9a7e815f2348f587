"""The neutral form itself: the request as one JSON object, an object of probabilities back.

For what runs on this machine. Reporters and programs answer in it. Exact numbers are text here ("7/25"); JSON numbers
stand for their decimals.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from attrs import frozen

from exactworlds.collect.numbers import exact_number
from exactworlds.collect.wire import Reading, Unread, Usage, open_object
from exactworlds.errors import InvalidArgument
from exactworlds.files.requests import Request, request_content
from exactworlds.rational import parse_exact

__all__ = ["Plain"]


@frozen
class Plain:
    """The protocol: {"id", "probabilities": {key: number}}, or a refusal or fault in place of the probabilities."""

    def body(self, request: Request, model: str) -> bytes:
        """The bytes of a request: all that may be seen, and nothing else."""
        return json.dumps(request_content(request), ensure_ascii=False, separators=(",", ":")).encode()

    def read(self, answer: bytes, request: Request) -> Reading:
        """What an answer says of each option."""
        content = open_object(answer)
        if content.get("id") != request.id:
            raise Unread("transport", "the answer is to another request")
        if "refusal" in content:
            raise Unread("refusal", str(content["refusal"])[:200])
        if "fault" in content:
            raise Unread("transport", str(content["fault"])[:200])
        report = content.get("probabilities")
        if not isinstance(report, dict):
            raise Unread("missing-option", "the answer has no probabilities")
        mass = exact_number(content.get("label_mass"))
        pairs = tuple((key, str(value), _exact(value)) for key, value in report.items())
        return Reading(pairs, label_mass=None if mass is None else float(mass))

    def usage(self, answer: bytes) -> Usage:
        """Nothing is counted on this machine."""
        return Usage(input_tokens=0, output_tokens=0)


def _exact(value: Any) -> Fraction | None:
    if type(value) is str:
        try:
            return parse_exact(value)
        except InvalidArgument:
            return None
    return exact_number(value)
