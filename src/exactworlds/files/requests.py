"""Requests: all that a model may see of a case. Nothing here, and nothing beside it, determines a label."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, frozen

from exactworlds.errors import InvalidSpec, Problem
from exactworlds.files.strict_json import read_json, read_lines
from exactworlds.spec.reading import structure

__all__ = [
    "MANIFEST",
    "REQUESTS",
    "Demonstration",
    "Kind",
    "Option",
    "Request",
    "check_requests",
    "read_manifest",
    "read_requests",
    "request_content",
]

MANIFEST, REQUESTS = "task.json", "requests.jsonl"
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


def read_manifest(task: Path) -> dict[str, Any]:
    """What a task is; the digest of its requests is among the facts."""
    file = task / MANIFEST
    content = read_json(file)
    problems = []
    if not isinstance(content, dict) or content.get("format") != "exactworlds/task/1":
        problems.append(Problem("format", "expected a task, exactworlds/task/1"))
    elif not isinstance(content.get("requests_sha256"), str):
        problems.append(Problem("requests_sha256", "is missing, expected the digest of the requests"))
    if problems:
        raise InvalidSpec(file, problems)
    return dict(content)


def check_requests(task: Path) -> int:
    """How many requests a task has; refuses ids that stand twice and bytes that the manifest does not speak of."""
    file, seen, problems = task / REQUESTS, set[str](), list[Problem]()
    for number, request in enumerate(read_requests(task), start=1):
        if request.id in seen:
            problems.append(Problem(f"line {number}.id", f"found {request.id!r} again, expected every id once"))
        seen.add(request.id)
        if not _is_unicode(request):
            problems.append(Problem(f"line {number}", "found half a surrogate pair, expected text that UTF-8 can hold"))
        keys = [option.key for option in request.options]
        if len(set(keys)) < len(keys) or len(keys) < 2 or (request.kind == "event" and len(keys) != 2):
            what = f"found the keys {', '.join(keys) or 'none'}, expected at least two, all different; two for an event"
            problems.append(Problem(f"line {number}.options", what))
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    expected = read_manifest(task)["requests_sha256"]
    if digest.hexdigest() != expected:
        problems.append(Problem("", f"found the SHA-256 {digest.hexdigest()}, expected {expected} as {MANIFEST} says"))
    if problems:
        raise InvalidSpec(file, problems)
    return len(seen)


def _is_unicode(request: Request) -> bool:
    shown = [text for one in request.demonstrations for text in (one.memo, one.answer)]
    said = [text for option in request.options for text in (option.key, option.text)]
    try:
        "".join([request.id, request.variant, request.question, request.state, *shown, *said]).encode()
    except UnicodeEncodeError:
        return False
    return True


def read_requests(task: Path) -> Iterator[Request]:
    """The requests of a task, in file order."""
    file = task / REQUESTS
    for number, raw in read_lines(file):
        problems: list[Problem] = []
        request = structure(raw, Request, f"line {number}", problems)
        if request is None:
            raise InvalidSpec(file, problems)
        yield request
