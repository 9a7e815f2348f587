"""The English of queries: questions that a model is asked, and the way back to the query.

The same tree is written with other words, so that reading back is replacing words and reading the notation.
"""

from __future__ import annotations

import re

from exactworlds.contract.events import Query, Words, event_text, parse_query
from exactworlds.errors import InvalidContract, Problem, shorten

__all__ = ["CANONICAL_QUESTION", "parse_question", "question_text"]

CANONICAL_QUESTION = "Which category does the drawn item belong to?"
_ENGLISH = Words(
    atom="{} is True",
    several="the category is one of [{}]",
    single="the category is {}",
    no="it is not so that {}",
    both="{} and {}",
    either="{} or {}",
    given="given that {1}, is it the case that {0}",
)
_OPENING = "For the drawn item, "
_PLAIN = "is it the case that "
_BACK = (
    (re.compile(r"\b([ab]) is True"), r"\1"),
    (re.compile(r"the category is one of \[([^\]]*)\]"), r"category in {\1}"),
    (re.compile(r"the category is ([A-Za-z_0-9]+)"), r"\1"),
    (re.compile(r"it is not so that "), "not "),
)
_SHORTER = tuple((f"it is not so that {subject} is ", f"{subject} is not ") for subject in ("the category", "a", "b"))
"""A negated simple event in fewer words; the short form stands for nothing else."""


def question_text(query: Query) -> str:
    """The question whether a query holds; a conditional names its condition first.

    Claim: E.requests

    >>> from exactworlds.contract.events import parse_query
    >>> question_text(parse_query("category in {type_0, type_1} given b"))
    'For the drawn item, given that b is True, is it the case that the category is one of [type_0, type_1]?'
    """
    text = event_text(query, _ENGLISH)
    for long, short in _SHORTER:
        text = text.replace(long, short)
    return f"{_OPENING}{text}?" if text.startswith("given that ") else f"{_OPENING}{_PLAIN}{text}?"


def parse_question(text: str) -> Query:
    """The query that a question asks about.

    Claim: E.requests
    """
    body = text.removeprefix(_OPENING).removesuffix("?")
    if text != f"{_OPENING}{body}?" or _PLAIN not in body:
        raise InvalidContract("question", [Problem("", f"found {shorten(text)}, expected a question about an event")])
    condition, _, event = body.partition(_PLAIN)
    condition = condition.removeprefix("given that ").removesuffix(", ")
    notation = [_notation(event), *([_notation(condition)] if condition else [])]
    return parse_query(" given ".join(notation))


def _notation(text: str) -> str:
    for long, short in _SHORTER:
        text = re.sub(rf"\b{short}", long, text)
    for pattern, replacement in _BACK:
        text = pattern.sub(replacement, text)
    return text
