"""Keys: in no form in anything that is kept or shown, and from the environment only."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.collect.secrets import Secrets, key_from_environment
from exactworlds.errors import UsageError

KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=40)
FORMS: list[Callable[[str], str]] = [
    str,
    quote,
    lambda key: quote(key, safe=""),
    quote_plus,
    lambda key: quote(key, safe="").lower() if key.islower() else quote(key),
    lambda key: json.dumps(key)[1:-1],
    lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1] if '"' not in key and "\\" not in key else key,
    html.escape,
    lambda key: "".join(f"&#{ord(character)};" for character in key),
    lambda key: "".join(f"\\u{ord(character):04x}" for character in key),
    lambda key: key[::-1],
    lambda key: key.encode().hex(),
]


@given(key=KEYS, form=st.sampled_from(FORMS), before=st.binary(max_size=9), after=st.binary(max_size=9))
def test_no_form_of_a_key_stays(key: str, form: Callable[[str], str], before: bytes, after: bytes) -> None:
    written = form(key).encode()
    hidden = Secrets((key,)).hide(before + written + after)
    assert len(hidden) == len(before + written + after)
    assert written not in hidden


@given(key=KEYS, before=st.binary(max_size=7), after=st.binary(max_size=7), urlsafe=st.booleans())
def test_nothing_that_tells_of_a_key_stays_in_base64(key: str, before: bytes, after: bytes, urlsafe: bool) -> None:
    encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    hidden = Secrets((key,)).hide(encode(before + key.encode() + after))
    kept = hidden.replace(b"*", b"A").translate(bytes.maketrans(b"-_", b"+/"))
    decoded = base64.b64decode(kept + b"=" * (-len(kept) % 4))
    assert key.encode()[2:-2] not in decoded


@given(st.binary(max_size=200))
def test_what_holds_no_key_stays_as_it_is(data: bytes) -> None:
    assert Secrets(("sk-0123456789abcdef",)).hide(data) == data
    assert Secrets().hide(data) == data


def test_keys_are_not_in_the_representation() -> None:
    assert "0123456789" not in repr(Secrets(("sk-0123456789abcdef",)))


def test_keys_come_from_the_environment() -> None:
    assert key_from_environment("K", needed=True, environment={"K": " sk-0123456789 "}) == "sk-0123456789"
    assert key_from_environment("K", needed=False, environment={}) is None
    with pytest.raises(UsageError, match="K is not set"):
        key_from_environment("K", needed=True, environment={"K": "  "})
    for bad in ("short", "two words here", "bad\x00byte-in-it", "schlüssel-0123"):
        with pytest.raises(UsageError, match="expected at least 8 visible ASCII characters") as caught:
            key_from_environment("K", needed=True, environment={"K": bad})
        assert bad not in str(caught.value)
