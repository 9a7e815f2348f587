"""Keys: from the environment only, and out of everything that is kept or shown.

A server may echo a key, in a body or in an error, as it is or encoded. Whatever goes into a ledger, a message or a page
passes through `Secrets.hide`, which replaces every form of a key by the same number of asterisks.
"""

from __future__ import annotations

import base64
import html
import os
import re
from collections.abc import Mapping
from functools import lru_cache

from attrs import field, frozen

from exactworlds.errors import UsageError

__all__ = ["Secrets", "key_from_environment"]

SHORTEST = 8
"""A shorter value is no key: to hide it would blot out ordinary text."""


@frozen
class Secrets:
    """The keys of a run; their text is not part of the representation."""

    values: tuple[str, ...] = field(default=(), repr=False)

    def hide(self, data: bytes) -> bytes:
        """The same bytes without any form of a key, and of the same length."""
        for value in self.values:
            data = _pattern(value).sub(lambda found: b"*" * len(found[0]), data)
        return data

    def hide_text(self, text: str) -> str:
        """The same for text."""
        return self.hide(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


@lru_cache(maxsize=8)
def _pattern(value: str) -> re.Pattern[bytes]:
    """A key as it is, escaped for URLs, JSON or HTML character by character, reversed, in hexadecimal, or in base64."""
    plain = value.encode()
    spelled = b"".join(_spellings(character) for character in plain)
    whole = [plain[::-1], plain.hex().encode(), plain.hex().upper().encode(), *_base64_forms(plain)]
    return re.compile(b"|".join([spelled, *(re.escape(form) for form in whole if len(form) >= SHORTEST)]))


def _spellings(byte: int) -> bytes:
    """A pattern of the ways in which one visible ASCII character is written."""
    character = bytes([byte])
    code = f"(?i:%{byte:02x}|\\\\u00{byte:02x}|&\\#x0*{byte:x};|&\\#0*{byte};)".encode()
    named = html.escape(character.decode()).encode()
    forms = [re.escape(character), rb"\\\\?" + re.escape(character), code]
    return b"(?:" + b"|".join([*forms, *([re.escape(named)] if named != character else [])]) + b")"


def _base64_forms(plain: bytes) -> set[bytes]:
    """What base64 makes of a key at each of three offsets: the characters that depend on the key alone."""
    found = set()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + plain)
        inner = encoded[-(-offset * 8 // 6) : (offset + len(plain)) * 8 // 6]
        found |= {inner, inner.translate(bytes.maketrans(b"+/", b"-_"))}
    return found


def key_from_environment(name: str, *, needed: bool, environment: Mapping[str, str] | None = None) -> str | None:
    """The key in an environment variable, or the message that says which one is not set."""
    value = (os.environ if environment is None else environment).get(name, "").strip()
    if value:
        if len(value) < SHORTEST or any(not " " < character <= "~" for character in value):
            raise UsageError(f"{name} is set, but not to a key: expected at least {SHORTEST} visible ASCII characters")
        return value
    if needed:
        raise UsageError(f"{name} is not set, expected the key of the service in this environment variable")
    return None
