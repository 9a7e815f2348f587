"""Strict JSON lines: what is written can be read by anyone, and what is read is not guessed at."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exactworlds.errors import InvalidSpec, Problem, UnreadableFile

__all__ = ["json_line", "parse_json", "read_json", "read_lines"]


def json_line(content: Any) -> str:
    """One line of JSON in the order of its keys; NaN and infinities are refused."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def parse_json(text: str, *, floats: bool = True) -> Any:
    """JSON without duplicate keys, NaN or infinities; `ValueError` says what was found.

    With `floats` false, a number with a point or exponent is refused too: exact values are text.
    """
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=None if floats else _refuse)


def read_json(file: Path) -> Any:
    """One JSON document, or the error that names the file."""
    try:
        return parse_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(file, f"cannot be read ({error})") from None
    except (ValueError, RecursionError) as error:
        raise InvalidSpec(file, [Problem("", f"not JSON: {error}")]) from None


def read_lines(file: Path) -> Iterator[tuple[int, Any]]:
    """The documents of a JSON-lines file with their line numbers."""
    try:
        with file.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    yield number, parse_json(line)
                except (ValueError, RecursionError) as error:
                    raise InvalidSpec(file, [Problem(f"line {number}", f"not JSON: {error}")]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(file, f"cannot be read ({error})") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("found a duplicate key")
    return content


def _refuse(text: str) -> Any:
    raise ValueError(f"found the number {text}, expected one that JSON can hold, or exact text")
