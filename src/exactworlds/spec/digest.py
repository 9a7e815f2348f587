"""Digests of the canonical content of a world, so that results can say exactly what they rest on.

`law` covers all that p* depends on, `text` all that memos depend on. Both ignore how a number was written ("0.50",
"1/2"), spacing in rules, comments, and the order of entries that have none. What is not here: goldens, which bind to
these digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from attrs import asdict

from exactworlds.rational import exact_text, parse_decimal
from exactworlds.spec.document import Exact
from exactworlds.spec.rules import rule_text
from exactworlds.spec.world import World

__all__ = ["canonical_json", "digest_of", "law_digest", "text_digest"]


def canonical_json(content: Any) -> str:
    """JSON with sorted keys, no spaces and no escapes beyond the necessary: equal content, equal text.

    >>> canonical_json({"b": 1, "a": "é"})
    '{"a":"é","b":1}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(content: Any) -> str:
    """The SHA-256 of the canonical JSON of a content.

    >>> digest_of({})[:20]
    'sha256:44136fa355b36'
    """
    return "sha256:" + hashlib.sha256(canonical_json(content).encode()).hexdigest()


def law_digest(world: World) -> str:
    """The digest of attributes, residual, tables, derived attributes, rule and settings."""
    return digest_of(_law(world))


def text_digest(world: World) -> str:
    """The digest of question, labels, what is shown and how, and the irrelevant fields."""
    return digest_of(_text(world))


def _law(world: World) -> dict[str, Any]:
    return {
        "attributes": {
            attribute.name: {
                "levels": list(attribute.levels),
                "number": attribute.is_number,
                "given": sorted(attribute.given),
                "rows": sorted(
                    [
                        sorted(zip(attribute.given, key, strict=True)),
                        [exact_text(number.value) for number in row],
                    ]
                    for key, row in attribute.rows.items()
                ),
            }
            for attribute in world.attributes
        },
        "residual": None
        if world.residual is None
        else {
            "name": world.residual.name,
            "law": sorted(
                [exact_text(parse_decimal(literal)), exact_text(probability.value)]
                for literal, probability in zip(world.residual.literals, world.residual.probabilities, strict=True)
            ),
        },
        "tables": {
            name: sorted(
                [list(key), exact_text(parse_decimal(cell)) if table.is_number else cell]
                for key, cell in table.rows.items()
            )
            for name, table in world.tables.items()
        },
        "derived": {entry.name: _canonical_rule(entry.expression) for entry in world.derived},
        "rule": _canonical_rule(world.rule),
        "settings": {name: sorted(setting.visible) for name, setting in world.settings.items()},
    }


def _text(world: World) -> dict[str, Any]:
    return {
        "question": world.question,
        "labels": asdict(world.labels),
        "shown": {name: _plain(asdict(entry, recurse=False)) for name, entry in world.shown.items()},
        "irrelevant": {name: _plain(asdict(entry, recurse=False)) for name, entry in world.irrelevant.items()},
        "templates": {name: list(entry.parts) for name, entry in world.templates.items()},
    }


def _canonical_rule(expression: Any) -> str:
    return rule_text(expression, number=lambda literal: exact_text(parse_decimal(literal)))


def _plain(value: Any) -> Any:
    """Attrs classes, mappings and exact numbers as plain JSON values."""
    if isinstance(value, Exact):
        return exact_text(value.value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "__attrs_attrs__"):
        return _plain(asdict(value, recurse=False))
    return value
