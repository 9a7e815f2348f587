"""Overhead of collecting: requests a second against a local server that answers at once, and memory over many requests.

    python tests/benchmarks/bench_collect.py [REQUESTS]

The server is a process of its own on loopback (asyncio, one fixed answer), so it takes one core and the collector has
the other. Every request has an intent that is durable before it is sent and a record that is durable after it, and is
validated. Memory is the largest resident set of the collecting process at a tenth of the requests and at the end.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from exactworlds.collect.backends import Asked, prepare
from exactworlds.collect.runner import Counts, Limits, collect
from exactworlds.files.requests import Option, Request, check_requests, read_requests, request_content
from exactworlds.files.run import RunInfo, create_run

BODY = json.dumps(
    {"model": "m", "answers": {"q": {"type": "noul", "noul": 0.25}}, "usage": {"input_tokens": 300, "output_tokens": 2}}
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY
MEMO = "Line of a memo that says something about the case at hand. " * 12
OPTIONS = (Option("no", "reject"), Option("yes", "accept"))


class _At(asyncio.Protocol):
    """Answers each whole request at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self._held = transport, b""

    def data_received(self, data: bytes) -> None:
        self._held += data
        while b"\r\n\r\n" in self._held:
            head, _, rest = self._held.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            if len(rest) < length:
                return
            self._held = rest[length:]
            assert isinstance(self._transport, asyncio.Transport)
            self._transport.write(ANSWER)


def serve(pipe: multiprocessing.connection.Connection) -> None:
    """A server on a free port, which it tells."""

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(_At, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def write_task(folder: Path, count: int) -> None:
    """A task of requests with memos of about 700 characters."""
    folder.mkdir()
    digest = hashlib.sha256()
    with (folder / "requests.jsonl").open("wb") as stream:
        for number in range(count):
            request = Request(f"{number:024x}", "form", "event", "Will it be?", OPTIONS, f"{MEMO}{number}")
            line = json.dumps(request_content(request)).encode() + b"\n"
            digest.update(line)
            stream.write(line)
    manifest = {"format": "exactworlds/task/1", "kind": "cases", "requests_sha256": digest.hexdigest()}
    (folder / "task.json").write_text(json.dumps(manifest))


def resident() -> float:
    """The largest resident set so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Prints the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    port = ours.recv()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_task(folder / "task", count)
        began = time.perf_counter()
        check_requests(folder / "task")
        checked = time.perf_counter() - began
        prepared = prepare(Asked("systemone", folder / "task", "m", f"http://127.0.0.1:{port}"))
        info = RunInfo("b", "systemone", "m", prepared.job.endpoint, prepared.step, "../task", "0" * 64, "0")
        create_run(folder / "run", info)
        early: list[float] = []

        def told(counts: Counts) -> None:
            if not early and counts.valid >= count // 10:
                early.append(resident())

        def requests() -> Iterator[Request]:
            return read_requests(folder / "task")

        began, used = time.perf_counter(), time.process_time()
        outcome = asyncio.run(collect(folder / "run", requests, prepared.job, Limits(concurrency=32), told))
        wall, cpu = time.perf_counter() - began, time.process_time() - used
        assert outcome.counts.valid == count
        size = (folder / "run" / "ledger.jsonl").stat().st_size / 1e6
    print(f"requests                     {count:,}")
    print(f"a second, wall               {count / wall:,.0f}")
    print(f"a second, CPU of collector   {count / cpu:,.0f}")
    print(f"memory at a tenth, at end    {early[0]:.0f} MB, {resident():.0f} MB")
    print(f"checking the task first      {checked:.1f} s")
    print(f"ledger                       {size:,.0f} MB")


if __name__ == "__main__":
    main()
