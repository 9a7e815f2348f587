"""Keys: from the environment only, and out of everything that is kept or shown.

A server may echo a key, in a body or in an error, as it is or encoded. Whatever goes into a ledger, a message or a page
passes through `Secrets.hide`, which replaces every form of a key by the same number of asterisks.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from urllib.parse import quote, quote_plus

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
        for form in self._forms():
            if form in data:
                data = data.replace(form, b"*" * len(form))
        return data

    def hide_text(self, text: str) -> str:
        """The same for text."""
        return self.hide(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")

    def _forms(self) -> list[bytes]:
        found: set[bytes] = set()
        for value in self.values:
            plain = value.encode()
            found |= {plain, quote(value, safe="").encode(), quote_plus(value).encode()}
            found |= {json.dumps(value)[1:-1].encode(), plain[::-1], plain.hex().encode()}
            found |= _base64_forms(plain)
        return sorted((form for form in found if len(form) >= SHORTEST), key=len, reverse=True)


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
