"""HTTP: one POST, bounded in time and size, with the exact bytes of both sides. It never retries and never redirects.

The client is HTTPX: connections are pooled, certificates are checked. The time limit is for the whole exchange, so a
server that sends a byte a second is cut off too; an answer beyond the size limit is not read to its end.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from exactworlds.collect.exchange import Exchange
from exactworlds.errors import UsageError

__all__ = ["LARGEST_ANSWER", "HttpTransport", "checked_url", "is_loopback"]

LARGEST_ANSWER = 1024 * 1024
"""An answer is some hundred bytes; beyond one MiB it is not read further."""

_DAILY = b'"code":4006'


class HttpTransport:
    """Posts bodies to one URL. Use it as an asynchronous context.

    Each exchange under way has a client of its own with one connection, which the next one takes over: a shared pool
    looks at every idle connection for every request.
    """

    def __init__(self, url: str, *, key: str | None, timeout: float) -> None:
        self._url, self._timeout = url, timeout
        # No compression: what is kept is what was sent, and a small answer cannot unpack into a large one.
        self._headers = {
            "content-type": "application/json",
            "accept": "application/json",
            "accept-encoding": "identity",
        }
        if key is not None:
            self._headers["authorization"] = f"Bearer {key}"
        self._idle: list[Any] = []
        self._certificates: ssl.SSLContext | None = None

    async def __aenter__(self) -> HttpTransport:
        _httpx()
        self._certificates = ssl.create_default_context()
        return self

    async def __aexit__(self, *_: object) -> None:
        for client in self._idle:
            await client.aclose()
        self._idle.clear()

    def _client(self) -> Any:
        """A client that nobody uses; the environment's proxies are honoured, nothing else of it is."""
        if self._idle:
            return self._idle.pop()
        httpx = _httpx()
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        return httpx.AsyncClient(verify=self._certificates, limits=limits, timeout=None, follow_redirects=False)

    async def ask(self, body: bytes) -> Exchange:
        """One attempt; whatever goes wrong is an exchange too."""
        httpx, client = _httpx(), self._client()
        began = time.monotonic()
        status: int | None = None
        headers: Mapping[str, str] = {}
        pieces: list[bytes] = []
        fault: tuple[str | None, str] = (None, "")
        try:
            async with (
                asyncio.timeout(self._timeout),
                client.stream("POST", self._url, content=body, headers=self._headers) as response,
            ):
                status, headers = response.status_code, response.headers
                size = 0
                async for piece in response.aiter_raw():
                    size += len(piece)
                    if size > LARGEST_ANSWER:
                        fault = ("too-large", f"the answer is larger than {LARGEST_ANSWER:,} bytes")
                        break
                    pieces.append(piece)
        except TimeoutError:
            fault = ("timeout", f"no whole answer within {self._timeout:g} s")
        except httpx.ConnectError as error:
            fault = _connect_fault(error)
        except httpx.RemoteProtocolError as error:
            fault = ("cut-off", str(error))
        except (httpx.TransportError, OSError) as error:
            fault = ("connection", str(error) or type(error).__name__)
        finally:
            self._idle.append(client)
        answer = b"".join(pieces)
        if fault[0] is None and status == 429 and _DAILY in answer.replace(b" ", b""):
            fault = ("quota", "the daily quota is used up")
        seconds = time.monotonic() - began
        return Exchange(status, answer, *fault, _retry_after(headers.get("retry-after")), seconds)


def _httpx() -> Any:
    try:
        import httpx2  # noqa: PLC0415  # only whoever asks a served model needs a client
    except ImportError:
        raise UsageError("a served model needs the extra: pip install 'exactworlds[collect]'") from None
    return httpx2


def _connect_fault(error: Exception) -> tuple[str, str]:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError) or "CERTIFICATE_VERIFY_FAILED" in str(cause):
            return "certificate", f"the certificate of the server is not accepted ({cause})"
        text = str(cause).lower()
        if "name or service" in text or "getaddrinfo" in text or "name resolution" in text or "no address" in text:
            return "unknown-host", f"the host of the address is not known ({cause})"
        cause = cause.__cause__ or cause.__context__
    return "connection", f"no connection ({error})"


def _retry_after(text: str | None) -> float | None:
    """Seconds; a date is not waited for to the second, so it is left to the usual waiting."""
    try:
        seconds = float(text) if text is not None else None
    except ValueError:
        return None
    return seconds if seconds is not None and 0 <= seconds < 1e9 else None


def checked_url(text: str) -> str:
    """A base address without a slash at its end; one with a user, a key, a query or a fragment is refused."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"found the address {text.strip()[:100]!r}, expected http:// or https:// and a host")
    if parts.username or parts.password or parts.query or parts.fragment or "@" in parts.netloc:
        raise UsageError(
            f"the address at {parts.hostname} has a user, a query or a fragment; keys come from the environment only"
        )
    try:
        port = parts.port
    except ValueError:
        raise UsageError(f"the address at {parts.hostname} has a port that is no port") from None
    if parts.scheme == "http" and not is_loopback(text):
        raise UsageError(
            f"found http:// at {parts.hostname}{'' if port is None else f':{port}'}, expected https:// for all but "
            "this machine: a key would travel in the clear"
        )
    return text.strip().rstrip("/")


def is_loopback(text: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(text.strip()).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
