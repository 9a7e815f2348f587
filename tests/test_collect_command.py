"""The command `collect` and run folders: what is wrong is said in words, nothing is lost, the same command goes on."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from collect_helpers import EVENT, many, noul, server, write_task
from exactworlds.collect.ends import End
from exactworlds.collect.reading import run_ends
from exactworlds.errors import InvalidSpec, UsageError
from exactworlds.files.requests import check_requests, read_manifest
from exactworlds.files.run import RunInfo, create_run, read_run

INFO = RunInfo("t", "sparrow", "m", "in-process", "0.01", "../task", "0" * 64, "0.1.0", {"window": "512"})


def command(task: Path, run: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "exactworlds", "collect", str(task), "--out", str(run), *words]


def after(seconds: float) -> Callable[[socket.socket, bytes], None]:
    """A server's way to answer each request after a while."""

    def answer(peer: socket.socket, request: bytes) -> None:
        time.sleep(seconds)
        peer.sendall(noul())

    return answer


def said(*words: str) -> tuple[int, str, str]:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_a_run_says_who_was_asked_and_is_gone_on_with_by_the_same_command(tmp_path: Path) -> None:
    task, run = write_task(tmp_path / "task", many(6)), tmp_path / "runs" / "first"
    words = command(task, run, "--backend", "sparrow", "--limit", "2", "--json")
    code, out, _ = said(*words)
    first = json.loads(out)
    assert (code, first["valid"], first["without_answer"], first["why"]) == (1, 2, 4, "limit")
    assert (first["cost_usd"], first["input_tokens"] > 0) == ("0", True)
    info = read_run(run)
    assert (info.backend, info.endpoint, info.task) == ("sparrow", "in-process", "../../task")
    assert info.requests_sha256 == read_manifest(task)["requests_sha256"]
    assert str(tmp_path) not in (run / "run.json").read_text()
    code, out, _ = said(*command(task, run, "--backend", "sparrow"))
    assert code == 0
    assert "6 requests: 4 valid, 0 rejected, 2 before" in out
    code, _, text = said(*command(task, run, "--backend", "sparrow", "--step", "0.1"))
    assert code == 2
    assert "is another run: step: found '0.000001', expected '0.1'" in text


def test_a_run_folder_is_of_one_run(tmp_path: Path) -> None:
    create_run(tmp_path / "run", INFO)
    create_run(tmp_path / "run", INFO)
    assert read_run(tmp_path / "run") == INFO
    with pytest.raises(UsageError, match=r"model: found 'm', expected 'other'; step: found '0.01', expected '0'"):
        create_run(tmp_path / "run", evolve(INFO, model="other", step="0"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"is not empty and has no run\.json"):
        create_run(tmp_path / "full", INFO)
    (tmp_path / "run" / "run.json").write_text('{"format": "exactworlds/run/2", "name": 3}')
    with pytest.raises(InvalidSpec) as caught:
        read_run(tmp_path / "run")
    assert "name" in str(caught.value)
    assert "requests_sha256" in str(caught.value)


def test_two_processes_on_one_run_are_one_too_many(tmp_path: Path) -> None:
    task, run = write_task(tmp_path / "task", many(1_000)), tmp_path / "run"

    with server(after(0.1)) as base:
        words = command(task, run, "--backend", "systemone", "--model", "m", "--base-url", base, "--concurrency", "1")
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
            while not (run / "ledger.jsonl").exists() or not (run / "ledger.jsonl").stat().st_size:
                time.sleep(0.01)
            code, _, text = said(*words)
            assert first.poll() is None
            first.kill()
    assert code == 2
    assert "is being written by another process" in text


def test_ctrl_c_leaves_a_run_that_goes_on(tmp_path: Path) -> None:
    task, run = write_task(tmp_path / "task", many(400)), tmp_path / "run"

    with server(after(0.03)) as base:
        words = command(task, run, "--backend", "systemone", "--model", "m", "--base-url", base)
        with subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # a shell's background processes ignore the signal, and hand that on
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        ) as process:
            while not (run / "ledger.jsonl").exists() or (run / "ledger.jsonl").stat().st_size < 20_000:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, text = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in text
        assert "interrupted" in text
        code, _, _ = said(*words, "--retry-interrupted")
    assert code == 0
    assert {end.state for end in run_ends(run, many(400))} == {"valid"}


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--backend", "oracle"), "there is no backend 'oracle'"),
        (("--backend", "sparrow", "--model", "big"), "there is no model 'big'"),
        (("--backend", "sparrow", "--base-url", "http://127.0.0.1:1"), "runs on this machine"),
        (("--backend", "sparrow", "--step", "two"), "--step"),
        (("--backend", "sparrow", "--step", "7"), "expected 0 (exact) to 1"),
        (("--backend", "posterior", "--model", "x"), "is a rule"),
        (("--backend", "systemone", "--model", "m"), "has no address"),
        (("--backend", "program"), "needs --program"),
        (("--backend", "likelihood"), "needs --model"),
        (("--backend", "sparrow", "--concurrency", "0"), "--concurrency"),
    ],
)
def test_words_that_do_not_go_together_are_one_clear_message(
    words: tuple[str, ...], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TYPESAFE_BASE_URL", "TYPESAFE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    code, _, text = said(*command(write_task(tmp_path / "task", [EVENT]), tmp_path / "run", *words))
    assert code == 2
    assert what in text
    assert not (tmp_path / "run").exists()


def test_tasks_that_are_damaged_are_refused_with_all_that_is_wrong(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task", [EVENT, EVENT, evolve(EVENT, id="e9", options=EVENT.options[:1])])
    (task / "requests.jsonl").write_bytes((task / "requests.jsonl").read_bytes() + b"\n"[:0])
    with pytest.raises(InvalidSpec) as caught:
        check_requests(task)
    assert "line 2.id: found 'e1' again" in str(caught.value)
    assert "line 3.options: found the keys no" in str(caught.value)
    with pytest.raises(InvalidSpec, match="line 1: found half a surrogate pair"):
        check_requests(write_task(tmp_path / "half", [evolve(EVENT, state="Clouds \ud800.")]))
    good = write_task(tmp_path / "good", [EVENT])
    with (good / "requests.jsonl").open("ab") as stream:
        stream.write((good / "requests.jsonl").read_bytes().replace(b'"e1"', b'"e2"'))
    with pytest.raises(InvalidSpec, match="SHA-256"):
        check_requests(good)
    code, _, text = said(*command(tmp_path / "nothing", tmp_path / "run", "--backend", "sparrow"))
    assert code == 2
    assert "task.json" in text
    (good / "task.json").write_text("{}")
    code, _, text = said(*command(good, tmp_path / "run", "--backend", "sparrow"))
    assert code == 2
    assert "exactworlds/task/1" in text


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task", [EVENT])
    (tmp_path / "file").write_text("")
    code, _, text = said(*command(task, tmp_path / "file" / "run", "--backend", "sparrow"))
    assert code == 2
    assert "cannot be written" in text


def test_the_progress_of_a_long_run_is_told_in_plain_lines(tmp_path: Path) -> None:
    task, run = write_task(tmp_path / "task", many(80)), tmp_path / "run"

    with server(after(0.1)) as base:
        words = command(task, run, "--backend", "systemone", "--model", "m", "--base-url", base, "--concurrency", "1")
        _, _, text = said(*words)
    lines = [line for line in text.splitlines() if line.endswith(" of 80")]
    assert lines
    assert "valid, 0 rejected, 0 unavailable" in lines[0]
    assert "tokens, cost unknown (no list price)" in lines[0]


def test_ends_do_not_depend_on_the_order_in_which_requests_are_given(tmp_path: Path) -> None:
    task, run = write_task(tmp_path / "task", many(9)), tmp_path / "run"
    assert said(*command(task, run, "--backend", "sparrow"))[0] == 0
    ends: dict[str, End] = {end.id: end for end in run_ends(run, many(9))}
    assert {end.id: end for end in run_ends(run, many(9)[::-1])} == ends


def test_help_names_every_backend() -> None:
    environment = {**os.environ, "COLUMNS": "300"}
    done = subprocess.run(
        [sys.executable, "-m", "exactworlds", "collect", "--help"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    for name in (
        "systemone",
        "openai-decisions",
        "chat-json",
        "sparrow",
        "program",
        "posterior",
        "logistic-regression",
    ):
        assert name in done.stdout
