"""Over real sockets: an independent server with its faults, the bundled model's own server, misbehaving servers."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from jevcompat.mock import FAULTS, MockConfig, make_server

from collect_helpers import CHOICE, EVENT, SCORE, http, many, noul, server, write_task
from exactworlds.collect.backends import Asked, prepare
from exactworlds.collect.ends import End
from exactworlds.collect.http import HttpTransport, checked_url
from exactworlds.collect.reading import run_ends
from exactworlds.collect.runner import Limits, Outcome, collect
from exactworlds.errors import UsageError
from exactworlds.files.requests import Request
from exactworlds.files.run import RunInfo, create_run

KEY = "sk-planted-0123456789abcdef"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "TYPESAFE_API_KEY",
        "TYPESAFE_BASE_URL",
        "TYPESAFE_DEFAULT_MODEL",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ):
        monkeypatch.delenv(name, raising=False)


def run(folder: Path, base: str, requests: list[Request], **limits: Any) -> tuple[Outcome, list[End]]:
    options = {name: limits.pop(name) for name in ("timeout", "backend", "model") if name in limits}
    asked = Asked(
        options.get("backend", "systemone"),
        folder,
        options.get("model", "mock"),
        base,
        timeout=options.get("timeout", 20.0),
    )
    prepared = prepare(asked)
    job = prepared.job
    info = RunInfo("t", asked.backend, prepared.model, job.endpoint, prepared.step, "../task", "0" * 64, "0")
    create_run(folder / "run", info)
    limits.setdefault("patience", 2.0)
    outcome = asyncio.run(collect(folder / "run", lambda: iter(requests), job, Limits(**limits)))
    return outcome, run_ends(folder / "run", requests)


@contextmanager
def mock_server(config: MockConfig) -> Iterator[str]:
    """The independent server; it looks often whether it should stop."""
    listening = make_server(config)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_address[1]}"
    listening.shutdown()
    listening.server_close()
    thread.join()


KEYED = {"auth-x-api-key", "auth-plain", "auth-invalid-403-text"}
"""Faults that show only where the server asks for a key."""
GONE = {"wrong-route", "auth-rejects-header", "auth-x-api-key"}
"""The service has no place for us: nothing is known of the question."""
EXPECTED: dict[str, dict[str, str]] = {
    "event": dict.fromkeys(GONE, "unavailable")
    | {"xssi-200": "not-json", "nan": "not-json", "extra-answer": "extra-option"}
    | {"boolean-type": "missing-option", "noul-range": "negative"},
    "choice": dict.fromkeys(GONE, "unavailable")
    | {"xssi-200": "not-json", "nan": "not-json", "extra-answer": "extra-option"}
    | {"choice-key-case": "missing-option", "choice-sum": "sum", "choice-second": "inconsistent"},
    "score": dict.fromkeys(GONE, "unavailable")
    | {"xssi-200": "not-json", "nan": "not-json", "extra-answer": "extra-option"}
    | {"score-sum": "sum", "score-keys-1-based": "missing-option"},
}
"""Every fault that is not here leaves the probabilities intact, and the answer must be valid. One question a request
makes `first-question-only` harmless."""
ASKED = {
    "event": EVENT,
    "choice": Request("c2", "form", "choice", "Which?", CHOICE.options, "Clouds."),
    "score": SCORE,
}
NAMED = Request(
    "c3", "form", "choice", "Which?", tuple(type(CHOICE.options[0])(name, name) for name in ("Dry", "Wet")), "Clouds."
)


@pytest.mark.parametrize("kind", ["event", "choice", "score"])
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_an_independent_server_ends_as_the_table_says(
    fault: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = NAMED if fault == "choice-key-case" and kind == "choice" else ASKED[kind]
    needs_key = fault in KEYED
    if needs_key or fault == "auth-rejects-header":
        monkeypatch.setenv("TYPESAFE_API_KEY", KEY)
    with mock_server(MockConfig(key=KEY if needs_key else None, faults=frozenset({fault}))) as base:
        _, (end,) = run(tmp_path, base, [request])
    expected = EXPECTED[kind].get(fault, "valid")
    assert (end.reason or end.state) == expected


def test_the_table_speaks_of_all_47_faults_and_of_no_other() -> None:
    assert len(FAULTS) == 47
    assert {fault for ends in EXPECTED.values() for fault in ends} <= set(FAULTS)


def test_every_second_request_busy_with_50_at_a_time_completes_all(tmp_path: Path) -> None:
    requests = many(300)
    with mock_server(MockConfig(busy_every=2)) as base:
        outcome, ends = run(tmp_path, base, requests, concurrency=50, patience=120.0)
    assert Counter(end.state for end in ends) == {"valid": 300}
    assert outcome.counts.attempts > 500
    assert max(end.attempts for end in ends) > 3


@pytest.fixture(scope="module")
def sparrow_server() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [str(Path(sys.executable).with_name("sparrow-decider")), "serve", "--port", str(port)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=0.2).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
        process.kill()


def test_the_served_model_says_what_the_bundled_one_says_up_to_its_rounding(
    sparrow_server: str, tmp_path: Path
) -> None:
    requests = [*many(20), CHOICE, SCORE]
    _, served = run(tmp_path, sparrow_server, requests)
    prepared = prepare(Asked("sparrow", tmp_path))
    info = RunInfo("t", "sparrow", prepared.model, "in-process", prepared.step, "../task", "0" * 64, "0")
    create_run(tmp_path / "own", info)
    asyncio.run(collect(tmp_path / "own", lambda: iter(requests), prepared.job, Limits()))
    own = run_ends(tmp_path / "own", requests)
    for left, right in zip(served, own, strict=True):
        assert left.report is not None
        assert right.report is not None
        written = {key: text for key, text in left.said if not text.startswith("1 - ")}
        for key, text in written.items():
            assert abs(float(text) - float(right.report[key])) <= 0.5e-4 + 1e-6
    assert len({end.report["yes"] for end in own[:20] if end.report}) > 1


Handle = Callable[[socket.socket, bytes], None]


def constant(answer: bytes) -> Handle:
    return lambda peer, request: peer.sendall(answer)


def slow(peer: socket.socket, request: bytes) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
    for _ in range(100):
        peer.sendall(b" ")
        time.sleep(0.05)


def huge(peer: socket.socket, request: bytes) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 10485760\r\n\r\n")
    for _ in range(160):
        peer.sendall(b"x" * 65_536)


BOMB = gzip.compress(b" " * 20_000_000, 9)


def bomb(peer: socket.socket, request: bytes) -> None:
    peer.sendall(http(BOMB, "200 OK", "content-encoding: gzip"))


def hang_up(peer: socket.socket, request: bytes) -> None:
    peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
    peer.close()


BEHAVIOURS: list[tuple[str, Handle, str]] = [
    ("an HTML page with 200", constant(http(b"<html><body>Welcome</body></html>")), "not-json"),
    ("an error body with 200", constant(http(b'{"error": {"message": "overloaded"}}')), "transport"),
    ("an HTML page with 404", constant(http(b"<html>not here</html>", "404 Not Found")), "unavailable"),
    ("a 10 MB answer", huge, "transport"),
    ("a compressed answer", bomb, "not-json"),
    ("a byte now and then", slow, "unavailable"),
    ("an answer cut off", hang_up, "unavailable"),
    ("an empty answer", constant(http(b"")), "not-json"),
    (
        "another question's answer",
        constant(http(b'{"answers": {"other": {"type": "noul", "noul": 0.5}}}')),
        "missing-option",
    ),
    ("no HTTP at all", constant(b"SSH-2.0-OpenSSH_9\r\n"), "unavailable"),
    ("a redirect", constant(http(b"", "302 Found", "location: http://127.0.0.1:1/")), "unavailable"),
    (
        "a daily quota",
        constant(http(b'{"success": false, "errors": [{"code": 4006}]}', "429 Too Many Requests")),
        "unavailable",
    ),
]


@pytest.mark.parametrize(("what", "handle", "expected"), BEHAVIOURS, ids=[what for what, _, _ in BEHAVIOURS])
def test_servers_that_misbehave_cost_a_bounded_time_and_end_in_a_clear_state(
    what: str, handle: Handle, expected: str, tmp_path: Path
) -> None:
    began = time.monotonic()
    with server(handle) as base:
        outcome, (end,) = run(tmp_path, base, [EVENT], timeout=0.5 if handle is slow else 20.0, patience=1.0)
    assert time.monotonic() - began < 60, what
    assert (end.reason or end.state) == expected
    ledger = (tmp_path / "run" / "ledger.jsonl").read_bytes()
    assert len(ledger) < 2_500_000
    if what == "a daily quota":
        assert (outcome.why, outcome.message[:4]) == ("quota", "http")


def test_a_certificate_that_nobody_vouches_for_is_refused_and_named(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    os.environ["TYPESAFE_API_KEY"] = KEY
    try:
        with server(constant(noul()), context) as base:
            outcome, (end,) = run(tmp_path, base, [EVENT])
    finally:
        del os.environ["TYPESAFE_API_KEY"]
    assert outcome.why == "unavailable"
    assert "certificate" in outcome.message
    assert end.state == "unavailable"


def test_nobody_listening_and_unknown_hosts_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    outcome, _ = run(tmp_path, f"http://127.0.0.1:{port}", [EVENT])
    assert outcome.why == "unavailable"
    assert "no connection" in outcome.message
    monkeypatch.setenv("TYPESAFE_API_KEY", KEY)
    outcome, _ = run(tmp_path / "other", "https://no-such-host.invalid", [EVENT])
    assert outcome.why == "unavailable"
    assert "host" in outcome.message or "connection" in outcome.message


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("example.org", "expected http:// or https://"),
        ("ftp://example.org", "expected http:// or https://"),
        ("https://user:pass@example.org", "has a user, a query or a fragment"),
        ("https://example.org?key=abc", "has a user, a query or a fragment"),
        ("http://example.org", "in the clear"),
        ("https://example.org:99999", "no port"),
        ("https://", "expected http:// or https:// and a host"),
    ],
)
def test_addresses_that_would_not_do_are_refused_without_what_they_hide(url: str, what: str) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        checked_url(url)
    assert "pass" not in str(caught.value)
    assert "abc" not in str(caught.value)


ECHOES: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("as it is", lambda key: key),
    ("in an error", lambda key: b'{"detail": "invalid key ' + key + b'"}'),
    ("encoded for a URL", lambda key: b"https://x.invalid/?key=" + key.replace(b"/", b"%2F").replace(b"+", b"%2B")),
    ("in base64", lambda key: __import__("base64").b64encode(b"Basic:" + key)),
    ("in JSON", lambda key: json.dumps(key.decode()).encode()),
]


@pytest.mark.parametrize("status", ["200 OK", "401 Unauthorized", "422 Unprocessable", "500 Internal Server Error"])
@pytest.mark.parametrize(("how", "echo"), ECHOES, ids=[how for how, _ in ECHOES])
def test_a_key_that_a_server_echoes_reaches_neither_ledger_nor_message(
    how: str, echo: Callable[[bytes], bytes], status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = 'sk-pla/nt+ed"0123456789'
    monkeypatch.setenv("TYPESAFE_API_KEY", key)
    body = echo(key.encode())
    headers: list[bytes] = []

    def handle(peer: socket.socket, request: bytes) -> None:
        headers.append(request)
        peer.sendall(http(body, status))

    with server(handle) as base:
        outcome, _ = run(tmp_path, base, [EVENT, *many(4)], patience=0.1)
    assert f"authorization: Bearer {key}".encode() in headers[0]
    written = (tmp_path / "run" / "ledger.jsonl").read_bytes() + (tmp_path / "run" / "run.json").read_bytes()
    shown = written + outcome.message.encode()
    assert key.encode() not in shown
    assert key.encode() not in shown.replace(b"\\", b"")
    assert body.strip(b'"') not in shown.replace(b"\\", b"")


def test_a_missing_key_and_a_missing_model_are_asked_for_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="TYPESAFE_API_KEY is not set"):
        prepare(Asked("systemone", tmp_path, "m", "https://example.org"))
    with pytest.raises(UsageError, match="has no model"):
        prepare(Asked("systemone", tmp_path, None, "http://127.0.0.1:1"))
    with pytest.raises(UsageError, match="TYPESAFE_BASE_URL"):
        prepare(Asked("systemone", tmp_path, "m"))
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        prepare(Asked("chat-json", tmp_path, "m"))


def test_connections_are_used_again() -> None:
    seen: set[tuple[str, int]] = set()
    lock = threading.Lock()

    def handle(peer: socket.socket, request: bytes) -> None:
        with lock:
            seen.add(peer.getpeername())
        peer.sendall(noul())

    async def ask(base: str) -> None:
        async with HttpTransport(f"{base}/v1/systemone", key=None, timeout=10) as transport:
            for _ in range(5):
                found = await asyncio.gather(*(transport.ask(b"{}") for _ in range(3)))
                assert {one.status for one in found} == {200}

    with server(handle) as base:
        asyncio.run(ask(base))
    assert len(seen) <= 3


def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task", [EVENT])
    words = [sys.executable, "-m", "exactworlds", "collect", str(task), "--out", str(tmp_path / "run")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TYPESAFE", "OPENAI"))}

    def said(*more: str) -> tuple[int, str]:
        found = subprocess.run([*words, *more], capture_output=True, text=True, check=False, env=environment)
        assert "Traceback" not in found.stderr
        return found.returncode, found.stderr

    assert said("--backend", "nothing")[0] == 2
    code, text = said("--backend", "systemone", "--model", "m", "--base-url", "https://example.org")
    assert (code, text.count("\n")) == (2, 1)
    assert "TYPESAFE_API_KEY is not set" in text
    with server(constant(http(b"<html>", "404 Not Found"))) as base:
        code, text = said("--backend", "systemone", "--model", "m", "--base-url", base)
    assert code == 2
    assert "found the status 404" in text
    assert "is the address right?" in text
