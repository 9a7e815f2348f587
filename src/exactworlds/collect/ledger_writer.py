"""Durable lines at speed: what many tasks append at about the same time reaches the disk in one write."""

from __future__ import annotations

import asyncio
import contextlib

from exactworlds.files.ledger import Ledger

__all__ = ["LedgerWriter"]


class LedgerWriter:
    """Appends to a ledger; `append` returns when the line is on the disk. Use it as an asynchronous context."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._fault: BaseException | None = None

    async def __aenter__(self) -> LedgerWriter:
        self._task = asyncio.create_task(self._commit())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._write([line for line, _ in self._waiting])  # what was handed over is kept, also on Ctrl-C

    async def append(self, line: bytes) -> None:
        """Hands a line over, and waits until it is durable."""
        if self._fault is not None:
            raise self._fault
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((line, done))
        self._wake.set()
        await done

    async def _commit(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            batch = self._waiting
            try:
                # The write is not awaited under cancellation: it ends before anything else happens to the file.
                writing = asyncio.get_running_loop().run_in_executor(None, self._write, [line for line, _ in batch])
                self._waiting = []
                try:
                    await asyncio.shield(writing)
                except asyncio.CancelledError:
                    await writing
                    raise
                for _, done in batch:
                    if not done.done():
                        done.set_result(None)
            except Exception as error:  # the disk is full, say: whoever waits is told, and whoever comes later
                self._fault = error
                for _, done in [*batch, *self._waiting]:
                    if not done.done():
                        done.set_exception(error)
                return

    def _write(self, lines: list[bytes]) -> None:
        if lines:
            self._ledger.write(b"".join(lines))
