"""Killed without warning twenty times: nothing that was complete is asked again, nothing is lost, the rest goes on."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from collect_helpers import many, noul, server, write_task
from exactworlds.collect.reading import run_ends
from exactworlds.files.ledger import read_ledger

REQUESTS, KILLS, AT_A_TIME = 2_000, 20, 8


class Counting:
    """Answers each case with a probability that only its text determines, and counts what was asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, peer: socket.socket, request: bytes) -> None:
        state = json.loads(request.partition(b"\r\n\r\n")[2])["state"]
        with self._lock:
            self.asked[state] += 1
        time.sleep(0.02)
        peer.sendall(noul(said(state)))


def said(state: str) -> float:
    return int(state.split()[1].strip(".")) / 4_000


def test_killed_at_random_moments_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    requests = many(REQUESTS)
    task, run = write_task(tmp_path / "task", requests), tmp_path / "run"
    ledger = run / "ledger.jsonl"
    moments, counting = random.Random(20), Counting()
    with server(counting) as base:
        words = [sys.executable, "-m", "exactworlds", "collect", str(task), "--out", str(run), "--backend", "systemone"]
        words += ["--model", "m", "--base-url", base, "--concurrency", str(AT_A_TIME), "--json"]
        for _ in range(KILLS):
            before = ledger.read_bytes() if ledger.exists() else b""
            with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                while process.poll() is None and (not ledger.exists() or ledger.stat().st_size == len(before)):
                    time.sleep(0.002)
                time.sleep(moments.uniform(0.0, 0.3))
                assert process.poll() is None, "it ended before it was killed"
                process.kill()
            assert ledger.read_bytes().startswith(before)
        final = subprocess.run(words, capture_output=True, text=True, check=False)
        assert final.returncode == 1, final.stderr
        ends = {end.id: end for end in run_ends(run, requests)}
        interrupted = {ident for ident, end in ends.items() if end.state == "interrupted"}
        assert Counter(end.state for end in ends.values()) == {
            "valid": REQUESTS - len(interrupted),
            "interrupted": len(interrupted),
        }
        assert 1 <= len(interrupted) <= KILLS * AT_A_TIME
        assert max(counting.asked.values()) == 1
        assert json.loads(final.stdout)["interrupted"] == len(interrupted)
        for request in requests:
            end = ends[request.id]
            if end.report is not None:
                assert float(end.report["yes"]) == said(request.state)
                assert counting.asked[request.state] == 1
        sessions = [entry.kind for entry in read_ledger(ledger)].count("session")
        assert sessions == KILLS + 1
        again = subprocess.run([*words, "--retry-interrupted"], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert {end.state for end in run_ends(run, requests)} == {"valid"}
    twice = {request.id for request in requests if counting.asked[request.state] == 2}
    assert twice <= interrupted
    assert sum(counting.asked.values()) == REQUESTS + len(twice)
