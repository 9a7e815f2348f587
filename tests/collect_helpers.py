"""Requests, and a local server whose every answer a test decides, for the tests of collecting."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from exactworlds.files.requests import Demonstration, Option, Request

EVENT = Request("e1", "form", "event", "Will it rain?", (Option("no", "dry"), Option("yes", "wet")), "Clouds.", ())
PLAIN_EVENT = Request("e2", "event", "event", "A?", (Option("no", "no"), Option("yes", "yes")), "Clouds.")
CHOICE = Request("c1", "form", "choice", "Which?", (Option("dry", "dry"), Option("wet", "wet")), "Clouds.")
WHOLE = Request(
    "d1", "canonical", "distribution", "Which?", (Option("K1", "low"), Option("K2", "mid"), Option("K3", "top")), "X."
)
SCORE = Request(
    "s1", "form", "score", "How much?", (Option("lo", "little"), Option("mi", "some"), Option("hi", "much")), "X."
)
SHOWN = Request(
    "e3",
    "form",
    "event",
    "Will it rain?",
    EVENT.options,
    "Clouds.",
    (Demonstration("Sun.", "no"), Demonstration("Fog.", "yes")),
)
ALL = (EVENT, PLAIN_EVENT, CHOICE, WHOLE, SCORE, SHOWN)

Answer = Callable[[bytes], bytes]


def http(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """A whole HTTP answer."""
    lines = [f"HTTP/1.1 {status}", "content-type: application/json", f"content-length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def noul(p: object = 0.25) -> bytes:
    """What a System One server answers to a yes-or-no question."""
    content = {
        "model": "m-1",
        "answers": {"q": {"type": "noul", "noul": p}},
        "usage": {"input_tokens": 7, "output_tokens": 2},
    }
    return http(json.dumps(content).encode())


@contextmanager
def server(handle: Callable[[socket.socket, bytes], None], context: Any = None) -> Iterator[str]:
    """A server on loopback that gives each connection's requests, whole, to `handle`; the address is yielded."""
    listening = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                peer = context.wrap_socket(connection, server_side=True) if context is not None else connection
                while not stop.is_set():
                    request = read_request(peer)
                    if request is None:
                        return
                    handle(peer, request)
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    scheme = "https" if context is not None else "http"
    try:
        yield f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        stop.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)


def read_request(peer: socket.socket) -> bytes | None:
    """Head and body of one request; None where the other side has left."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = peer.recv(65_536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    )
    while len(body) < length:
        body += peer.recv(65_536)
    return head + b"\r\n\r\n" + body


def write_task(folder: Path, requests: tuple[Request, ...] | list[Request]) -> Path:
    """A task folder of requests alone: what a collector is handed."""
    import hashlib  # noqa: PLC0415

    from exactworlds.files.requests import request_content  # noqa: PLC0415

    folder.mkdir()
    data = "".join(json.dumps(request_content(request)) + "\n" for request in requests).encode()
    (folder / "requests.jsonl").write_bytes(data)
    manifest = {"format": "exactworlds/task/1", "kind": "cases", "requests_sha256": hashlib.sha256(data).hexdigest()}
    (folder / "task.json").write_text(json.dumps(manifest))
    return folder


def many(count: int) -> list[Request]:
    """Different requests with different ids."""
    return [
        Request(f"r{number:05}", "form", "event", "Will it rain?", EVENT.options, f"Cloud {number}.")
        for number in range(count)
    ]
