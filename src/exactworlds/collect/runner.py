"""Asks a model every request of a task once, some at a time, and writes down everything; can be killed and resumed.

For each request: an intent, one attempt, a record; again after a pause where the service was busy or unreachable, until
the patience of the request is used up. The run stops early, and says why, when the service has no place for us: a wrong
address or key, a certificate that is not accepted, a quota. What answers amount to is not decided here (`reading`); the
counts that are shown on the way are taken from the same functions.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from attrs import define, evolve, field, frozen

from exactworlds.collect.ends import End
from exactworlds.collect.exchange import Ask, Exchange, verdict
from exactworlds.collect.ledger_writer import LedgerWriter
from exactworlds.collect.reading import end_of_answer, verdict_of
from exactworlds.collect.secrets import Secrets
from exactworlds.collect.wire import Unread, Wire
from exactworlds.files.ledger import Ledger, as_json, as_line, read_ledger
from exactworlds.files.requests import Request
from exactworlds.files.run import LEDGER

__all__ = ["Counts", "Job", "Limits", "Outcome", "collect", "request_key"]

RETRY_AFTER_CAP = 60.0
"""A server that asks for a longer pause, in seconds, is asked again after this one."""

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0
"""Pauses between attempts double from the first to the longest, each shortened by up to a half at random."""

REFUSED_AT_FIRST = 3
"""A session whose first answers, this many, are all refusals of the request is set up wrongly."""


@frozen
class Limits:
    """How long and how much: `patience` seconds a request with all its attempts, `deadline` seconds a session."""

    concurrency: int = 8
    patience: float = 600.0
    deadline: float | None = None
    limit: int | None = None
    retry_interrupted: bool = False


@frozen
class Job:
    """Who is asked: a wire form, a way to send, and what fits. `count` counts the tokens of a body, for `window`."""

    wire: Wire
    model: str
    endpoint: str
    step: Fraction
    ask: Ask
    open: AbstractAsyncContextManager[object]
    secrets: Secrets = field(factory=Secrets)
    window: int | None = None
    count: Callable[[bytes], int] | None = None


@define
class Counts:
    """What has happened so far; `total` counts the whole task, `before` earlier sessions, the rest this one."""

    total: int = 0
    before: int = 0
    valid: int = 0
    rejected: int = 0
    unavailable: int = 0
    interrupted: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def done(self) -> int:
        """Requests that need no more attention in this session."""
        return self.before + self.valid + self.rejected + self.unavailable + self.interrupted


@frozen
class Outcome:
    """How a session ended: `why` is "complete", or why it stopped early; `message` is for whoever waits."""

    counts: Counts
    why: str
    message: str = ""


def request_key(request: Request, endpoint: str, model: str, body: bytes) -> str:
    """What makes two requests the same: who is asked, what is sent, and which request it is.

    The id belongs to it: two requests with the same words, such as a repeat, are two questions.
    """
    parts = [endpoint.encode(), model.encode(), request.id.encode(), body]
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).hexdigest()


async def collect(
    run: Path,
    requests: Callable[[], Iterator[Request]],
    job: Job,
    limits: Limits,
    told: Callable[[Counts], None] = lambda counts: None,
) -> Outcome:
    """One session of a run: asks whatever has no answer yet."""
    ledger = Ledger(run / LEDGER)
    try:
        ledger.mend(_now())
        past = _past(run / LEDGER)
        session = _Session(job, limits, past, told)
        ledger.write(as_line("session", at=_now(), concurrency=limits.concurrency))
        async with LedgerWriter(ledger) as writer, job.open:
            try:
                await session.work(writer, requests)
            except asyncio.CancelledError:
                session.why = "interrupted"
                raise
            except BaseExceptionGroup as group:
                session.why = "failed"
                raise _first(group) from None
            finally:
                await asyncio.shield(writer.append(as_line("closed", at=_now(), why=session.why)))
        return Outcome(session.counts, session.why, session.message)
    finally:
        ledger.close()


@define
class _Past:
    """What earlier sessions left: keys that have an answer, and keys that have only an intent."""

    complete: set[bytes] = field(factory=set)
    interrupted: set[bytes] = field(factory=set)
    attempts: dict[bytes, int] = field(factory=dict)


def _past(file: Path) -> _Past:
    past = _Past()
    for entry in read_ledger(file):
        if entry.kind not in ("intent", "record", "unsent"):
            continue
        key = bytes.fromhex(entry.fields["key"])
        if entry.kind == "intent":
            past.interrupted.add(key)
            past.attempts[key] = entry.fields["attempt"]
            continue
        past.interrupted.discard(key)
        if entry.kind == "unsent" or verdict_of(file, entry) in ("answered", "refused"):
            past.complete.add(key)
            past.attempts.pop(key, None)
    return past


class _Session:
    def __init__(self, job: Job, limits: Limits, past: _Past, told: Callable[[Counts], None]) -> None:
        self.job, self.limits, self.past, self.told = job, limits, past, told
        self.counts = Counts()
        self.why, self.message = "complete", ""
        self._ends_at = None if limits.deadline is None else time.monotonic() + limits.deadline
        self._reached = False
        self._refused = 0

    async def work(self, writer: LedgerWriter, requests: Callable[[], Iterator[Request]]) -> None:
        """One request alone first, so that a wrong address costs one attempt; then as many at a time as wished."""
        pending = self._pending(requests())
        await self._worker(writer, pending, only=1)
        async with asyncio.TaskGroup() as group:
            for _ in range(self.limits.concurrency):
                group.create_task(self._worker(writer, pending))

    def _pending(self, requests: Iterator[Request]) -> Iterator[tuple[Request, bytes, str]]:
        """The requests that have no answer yet, with their bytes and keys."""
        asked = 0
        for request in requests:
            self.counts.total += 1
            body = self._body(request)
            key = request_key(request, self.job.endpoint, self.job.model, body)
            raw = bytes.fromhex(key)
            if raw in self.past.complete:
                self.counts.before += 1
            elif raw in self.past.interrupted and not self.limits.retry_interrupted:
                self.counts.interrupted += 1
            elif self.why != "complete" or self._late() or asked == self.limits.limit:
                if self.why == "complete":
                    self._stop("deadline" if self._late() else "limit", "")
            else:
                asked += 1
                yield request, body, key

    def _body(self, request: Request) -> bytes:
        """The bytes of a request; none where the protocol has no room for it, which is seen again when it is asked."""
        try:
            return self.job.wire.body(request, self.job.model)
        except Unread:
            return b""

    async def _worker(
        self, writer: LedgerWriter, pending: Iterator[tuple[Request, bytes, str]], *, only: int | None = None
    ) -> None:
        for number, (request, body, key) in enumerate(pending, start=1):
            await self._one(writer, request, body, key)
            self.told(self.counts)
            if number == only:
                return

    async def _one(self, writer: LedgerWriter, request: Request, body: bytes, key: str) -> None:
        too_long = self._too_long(request, body)
        if too_long:
            line = as_line("unsent", id=request.id, key=key, at=_now(), reason="too-long", detail=too_long)
            await writer.append(line)
            self.counts.rejected += 1
            return
        first = self.past.attempts.get(bytes.fromhex(key), 0) + 1
        patient_until = time.monotonic() + self.limits.patience
        for attempt in itertools.count(first):
            exchange = await self._attempt(writer, request, body, key, attempt)
            judged = verdict(exchange.status, exchange.error)
            if judged == "answered":
                self._reached = True
                self._count(end_of_answer(exchange.body, request, self.job.wire, self.job.step))
                return
            if judged == "refused":
                self._refuse(exchange)
                return
            if judged == "unavailable" or (not self._reached and exchange.error == "connection"):
                self.counts.unavailable += 1
                self._stop("quota" if exchange.error == "quota" else "unavailable", self._explained(exchange))
                return
            pause = _pause(attempt - first, exchange.retry_after)
            if self.why != "complete" or self._late(pause) or time.monotonic() + pause > patient_until:
                self.counts.unavailable += 1
                return
            await asyncio.sleep(pause)

    def _too_long(self, request: Request, body: bytes) -> str:
        """Why a request does not fit, or nothing if it does."""
        if not body:
            return f"{len(request.options)} options, more than the protocol has room for"
        if self.job.window is None or self.job.count is None:
            return ""
        found = self.job.count(body)
        return f"{found} tokens, the window has {self.job.window}" if found > self.job.window else ""

    async def _attempt(self, writer: LedgerWriter, request: Request, body: bytes, key: str, attempt: int) -> Exchange:
        await writer.append(as_line("intent", id=request.id, key=key, attempt=attempt, at=_now()))
        exchange = await self.job.ask(body)
        hidden = self.job.secrets.hide(exchange.body)
        usage = self.job.wire.usage(hidden) if verdict(exchange.status, exchange.error) == "answered" else None
        facts: Mapping[str, object] = (
            {"model": usage.model, "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
            if usage is not None
            else {"detail": self.job.secrets.hide_text(exchange.detail), "retry_after": exchange.retry_after}
        )
        await writer.append(
            as_line(
                "record",
                id=request.id,
                key=key,
                attempt=attempt,
                at=_now(),
                seconds=round(exchange.seconds, 6),
                status=exchange.status,
                error=exchange.error,
                **facts,
                request=as_json(self.job.secrets.hide(body)),
                response=as_json(hidden),
            )
        )
        self.counts.attempts += 1
        if usage is not None:
            self.counts.input_tokens += usage.input_tokens or 0
            self.counts.output_tokens += usage.output_tokens or 0
        return evolve(exchange, body=hidden)

    def _count(self, end: End) -> None:
        if end.state == "valid":
            self.counts.valid += 1
        else:
            self.counts.rejected += 1

    def _refuse(self, exchange: Exchange) -> None:
        self.counts.rejected += 1
        self._refused += 1
        if not self._reached and self._refused >= REFUSED_AT_FIRST:
            self._stop("unavailable", f"the first {self._refused} requests were refused; {self._explained(exchange)}")

    def _stop(self, why: str, message: str) -> None:
        if self.why == "complete":
            self.why, self.message = why, message

    def _late(self, pause: float = 0.0) -> bool:
        return self._ends_at is not None and time.monotonic() + pause > self._ends_at

    def _explained(self, exchange: Exchange) -> str:
        """One sentence with what the service said, short and without keys."""
        snippet = " ".join(exchange.body[:300].decode("utf-8", "replace").split())[:200]
        what = exchange.detail or f"found the status {exchange.status}"
        hint = {
            401: "; is the key right?",
            403: "; is the key right, and allowed here?",
            404: "; is the address right?",
        }
        said = f", saying {snippet!r}" if snippet else ""
        return self.job.secrets.hide_text(f"{self.job.endpoint}: {what}{said}{hint.get(exchange.status or 0, '')}")


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """One of the errors that ended the tasks of a session: they have one cause."""
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


def _pause(number: int, retry_after: float | None) -> float:
    """Seconds before the next attempt: what the server asks for, under a cap, or a doubling pause with chance."""
    if retry_after is not None:  # 0 means at once; a little chance keeps many from coming back together
        return min(retry_after, RETRY_AFTER_CAP) + random.uniform(0.0, FIRST_PAUSE)
    usual = min(FIRST_PAUSE * 2.0 ** min(number, 20), LONGEST_PAUSE)
    return usual * random.uniform(0.5, 1.0)


def _now() -> str:
    return datetime.now(tz=UTC).isoformat(timespec="milliseconds")
