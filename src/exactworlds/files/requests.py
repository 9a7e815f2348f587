"""Requests: all that a model may see of a case. Nothing here, and nothing beside it, determines a label."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, frozen

from exactworlds.errors import InvalidSpec, Problem
from exactworlds.files.strict_json import read_lines
from exactworlds.spec.reading import structure

__all__ = ["REQUESTS", "Demonstration", "Kind", "Option", "Request", "read_requests", "request_content"]

REQUESTS = "requests.jsonl"
Kind = Literal["event", "choice", "distribution", "score"]


@frozen
class Option:
    """An answer that can be given: its key, and what it says."""

    key: str
    text: str


@frozen
class Demonstration:
    """An earlier case with its realised label."""

    memo: str
    answer: str


@frozen
class Request:
    """One question about one state of affairs, in a form that every backend can be given."""

    id: str
    variant: str
    kind: Kind
    question: str
    options: tuple[Option, ...]
    state: str
    demonstrations: tuple[Demonstration, ...] = ()


def request_content(request: Request) -> dict[str, Any]:
    """A request as plain JSON values, in the order of its fields."""
    return asdict(request)


def read_requests(task: Path) -> Iterator[Request]:
    """The requests of a task, in file order."""
    file = task / REQUESTS
    for number, raw in read_lines(file):
        problems: list[Problem] = []
        request = structure(raw, Request, f"line {number}", problems)
        if request is None:
            raise InvalidSpec(file, problems)
        yield request
