"""One attempt: what came back, and whether to ask again. A pure rule, so that a ledger can be read again by it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from attrs import frozen

__all__ = ["FAULTS", "Ask", "Exchange", "Verdict", "verdict"]

Verdict = Literal["answered", "again", "unavailable", "refused"]

FAULTS: dict[str, Verdict] = {
    "timeout": "again",
    "connection": "again",
    "cut-off": "again",
    "unknown-host": "unavailable",
    "certificate": "unavailable",
    "quota": "unavailable",
    "too-large": "refused",
    "program": "refused",
}
"""What can go wrong without a status, or in spite of one, and what follows from it."""

_AGAIN = {408, 409, 425, 429}
_DOOR = {401, 402, 403, 404, 405, 407}


@frozen
class Exchange:
    """What one attempt brought: a status with the bytes of its body, or a fault. `retry_after` is in seconds."""

    status: int | None
    body: bytes
    error: str | None = None
    detail: str = ""
    retry_after: float | None = None
    seconds: float = 0.0


Ask = Callable[[bytes], Awaitable[Exchange]]


def verdict(status: int | None, error: str | None) -> Verdict:
    """What an attempt amounts to.

    answered     success: the bytes are to be read
    again        busy, failing or unreachable for now: ask again within the patience of the run
    unavailable  the service is not there for us (key, address, certificate, quota): says nothing of the request
    refused      the request itself was refused, or its answer cannot be taken: final

    >>> verdict(200, None), verdict(429, None), verdict(401, None), verdict(422, None), verdict(None, "timeout")
    ('answered', 'again', 'unavailable', 'refused', 'again')
    """
    if error is not None:
        return FAULTS[error]
    assert status is not None
    if status == 200:
        return "answered"
    if status in _AGAIN or status >= 500:
        return "again"
    return "unavailable" if status in _DOOR or 300 <= status < 400 else "refused"
