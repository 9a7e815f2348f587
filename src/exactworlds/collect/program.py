"""A program as a backend: a Python file, run as a separate process, that answers one request after the other.

A program that hangs, dies, forks without end or prints what is no answer costs the request it was asked, and is started
again for the next one. What it wrote to standard error is quoted, shortened, where it explains a death.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

from exactworlds.collect.exchange import Exchange
from exactworlds.collect.sandbox import MOST_PROCESSES, command, process_count
from exactworlds.errors import UnreadableFile
from exactworlds.files.strict_json import parse_json

__all__ = ["Program"]

LONGEST_LINE = 1024 * 1024
_LOOK = 0.02  # seconds between looks at how many processes there are


class Program:
    """One program; `ask` starts it when it is needed. Use it as an asynchronous context."""

    def __init__(self, file: Path, *, task: Path, timeout: float, isolated: bool) -> None:
        self._timeout = timeout
        try:
            source = file.read_bytes()
        except OSError as error:
            raise UnreadableFile(file, f"cannot be read ({error.strerror})") from None
        self.digest = hashlib.sha256(source).hexdigest()
        self._scratch = Path(tempfile.mkdtemp(prefix="exactworlds-program-"))
        (self._scratch / "program.py").write_bytes(source)
        self._words, self._environment = command(self._scratch, task, isolated=isolated)
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Program:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()
        shutil.rmtree(self._scratch, ignore_errors=True)

    async def ask(self, body: bytes) -> Exchange:
        """One line in, one line out, within the time limit."""
        async with self._turn:
            began = time.monotonic()
            try:
                line = await self._watched(body)
            except asyncio.CancelledError:
                await self._end()
                raise
            seconds = time.monotonic() - began
            if line.endswith(b"\n"):
                if _id_of(line) != _id_of(body):  # its stream of answers is spoilt: the next one gets a fresh start
                    await self._end()
                return Exchange(200, line[:-1], seconds=seconds)
            await self._end()
            return Exchange(None, b"", "program", self._detail(line.decode()), seconds=seconds)

    async def _watched(self, body: bytes) -> bytes:
        """The line that came back; words without a line end say why there is none."""
        process = await self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(body + b"\n")
            await process.stdin.drain()
        reading = asyncio.ensure_future(process.stdout.readline())
        until = time.monotonic() + self._timeout
        try:
            while not reading.done():
                await asyncio.wait([reading], timeout=min(_LOOK, max(until - time.monotonic(), 0)))
                if not reading.done() and time.monotonic() >= until:
                    return b"the program gave no answer within %g s" % self._timeout
                if process_count(process.pid, MOST_PROCESSES) > MOST_PROCESSES:
                    return b"the program has more than %d processes" % MOST_PROCESSES
            try:
                line = reading.result()
            except ValueError:
                return b"the program's answer is longer than %d bytes" % LONGEST_LINE
            return line if line.endswith(b"\n") else b"the program ended"
        finally:
            if not reading.done():
                reading.cancel()

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            with (self._scratch / "stderr").open("wb") as stream:
                self._process = await asyncio.create_subprocess_exec(
                    *self._words,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=stream,
                    env=self._environment,
                    cwd=self._scratch,
                    limit=LONGEST_LINE,
                    start_new_session=True,
                )
        return self._process

    async def _end(self) -> None:
        """Kills the process with whatever it started."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    def _detail(self, what: str) -> str:
        try:
            said = (self._scratch / "stderr").read_bytes()[-400:].decode("utf-8", "replace").strip()
        except OSError:
            said = ""
        return f"{what}; it said: {said}" if said else what


def _id_of(data: bytes) -> object:
    """The id that a line names; None for what is no object with one."""
    try:
        content = parse_json(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return content.get("id") if isinstance(content, dict) else None
