"""Programs: their answers, and programs that hang, fork, print, look for the targets or for the network."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from collect_helpers import CHOICE, EVENT, WHOLE, many, write_task
from exactworlds.collect import backends, program, sandbox
from exactworlds.collect.backends import Asked, prepare
from exactworlds.collect.ends import End
from exactworlds.collect.reading import run_ends
from exactworlds.collect.runner import Limits, collect
from exactworlds.errors import UnreadableFile, UsageError
from exactworlds.files.requests import Request
from exactworlds.files.run import RunInfo, create_run

ISOLATED = sandbox.isolation() is not None
needs_isolation = pytest.mark.skipif(not ISOLATED, reason="bubblewrap (bwrap) is not installed on this system")


def ends_of(source: str, requests: list[Request], folder: Path, *, timeout: float = 20.0) -> list[End]:
    """What a program's answers amount to."""
    (folder / "program.py").write_text(source)
    task = write_task(folder / "task", requests)
    (task / "targets").mkdir()
    (task / "targets" / "targets.jsonl").write_text("the exact answers\n")
    asked = Asked("program", task, program=folder / "program.py", timeout=timeout, isolated=ISOLATED)
    prepared = prepare(asked)
    info = RunInfo("t", "program", prepared.model, "in-process", prepared.step, "../task", "0" * 64, "0")
    create_run(folder / "run", info)
    asyncio.run(collect(folder / "run", lambda: iter(requests), prepared.job, Limits(4)))
    return run_ends(folder / "run", requests)


def details(folder: Path) -> str:
    return (folder / "run" / "ledger.jsonl").read_text()


def test_a_number_is_the_probability_of_the_second_option_and_a_dict_says_all(tmp_path: Path) -> None:
    source = """
print("noise on standard output")
import sys
print("more of it", file=sys.stderr)
def predict(request):
    print("and more")
    if request["kind"] == "distribution":
        return {option["key"]: "1/3" for option in request["options"]}
    return 0.25 if "Clouds" in request["state"] else 1
"""
    ends = ends_of(source, [EVENT, CHOICE, WHOLE, *many(20)], tmp_path)
    assert ends[0].report == {"no": Fraction(3, 4), "yes": Fraction(1, 4)}
    assert ends[1].report == {"dry": Fraction(3, 4), "wet": Fraction(1, 4)}
    assert ends[2].report == {"K1": Fraction(1, 3), "K2": Fraction(1, 3), "K3": Fraction(1, 3)}
    assert {end.report["yes"] for end in ends[3:] if end.report} == {Fraction(1)}


SOUND = "def predict(request):\n    return 0.5\n"
BAD: list[tuple[str, str, str]] = [
    ("raises", "def predict(request):\n    raise ValueError('no idea')\n", "ValueError: no idea"),
    ("returns text", "def predict(request):\n    return 'likely'\n", "predict returned str"),
    ("returns NaN", "def predict(request):\n    return float('nan')\n", "ValueError"),
    ("returns a flag", "def predict(request):\n    return True\n", "predict returned bool"),
    ("has no predict", "x = 1\n", "KeyError"),
    ("ends itself", "import os\ndef predict(request):\n    os._exit(3)\n", "the program ended"),
    ("cannot be read", "def predict(request:\n", "SyntaxError"),
    ("hangs", "import time\ndef predict(request):\n    time.sleep(1000)\n", "gave no answer within 0.5 s"),
    ("hangs at import", "while True: pass\n", "gave no answer within 0.5 s"),
    ("wants much memory", "def predict(request):\n    return len(bytearray(10**11))\n", "MemoryError"),
    ("answers at length", "def predict(request):\n    return {'x' * 3_000_000: 1}\n", "longer than"),
]


@pytest.mark.parametrize(("what", "source", "detail"), BAD, ids=[what for what, _, _ in BAD])
def test_programs_that_fail_cost_their_request_and_say_how(what: str, source: str, detail: str, tmp_path: Path) -> None:
    began = time.monotonic()
    ends = ends_of(source, many(2), tmp_path, timeout=0.5 if "hangs" in what else 20.0)
    assert time.monotonic() - began < 60
    assert [(end.state, end.reason) for end in ends] == [("rejected", "transport")] * 2
    assert detail in details(tmp_path)


def test_a_program_that_dies_once_is_started_again(tmp_path: Path) -> None:
    source = "import os\ndef predict(request):\n    if '3.' in request['state']: os._exit(1)\n    return 0.5\n"
    ends = ends_of(source, many(8), tmp_path)
    assert [end.state for end in ends] == ["rejected" if n == 3 else "valid" for n in range(8)]


def test_a_program_that_writes_into_the_answers_spoils_its_own_request_only(tmp_path: Path) -> None:
    source = """
import json, os
def predict(request):
    text = b"garbage" if "1." in request["state"] else json.dumps({"id": "r00000", "probabilities": {}}).encode()
    if "1." in request["state"] or "3." in request["state"]:
        for descriptor in range(3, 12):
            try:
                os.write(descriptor, text + b"\\n")
            except OSError:
                pass
    return 0.5
"""
    ends = ends_of(source, many(5), tmp_path)
    assert [end.state for end in ends] == ["valid", "rejected", "valid", "rejected", "valid"]
    assert [end.reason for end in ends if end.reason] == ["not-json", "transport"]


def test_a_program_that_forks_without_end_is_stopped_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    source = (
        "import os, time\ndef predict(request):\n    while True:\n        try:\n            os.fork()\n"
        "        except OSError:\n            time.sleep(0.1)\n"
    )
    began = time.monotonic()
    ends = ends_of(source, many(1), tmp_path, timeout=10.0)
    assert ends[0].reason == "transport"
    assert time.monotonic() - began < 60
    time.sleep(0.3)
    assert [name for name in os.listdir("/proc") if name.isdigit() and _writes_below(name, tmp_path)] == []


def _writes_below(pid: str, folder: Path) -> bool:
    """Whether a process has its standard error there: each that a program started has."""
    try:
        return os.readlink(f"/proc/{pid}/fd/2").startswith(str(folder))
    except OSError:
        return False


@pytest.fixture
def listening_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


@needs_isolation
def test_a_program_sees_neither_targets_nor_network_nor_secrets_and_writes_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listening_port: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    here = str(tmp_path)
    source = f"""
import os, socket
def tries(action):
    try:
        action()
    except OSError:
        return False
    return True
def net():
    socket.create_connection(("127.0.0.1", {listening_port}), timeout=2).close()
SEEN = {{
    "targets": tries(lambda: open({here!r} + "/task/targets/targets.jsonl").read()),
    "folder": tries(lambda: os.listdir({here!r})),
    "home": tries(lambda: os.listdir("/root")) and len(os.listdir("/root")) > 1,
    "network": tries(net),
    "write here": tries(lambda: open({here!r} + "/x", "w")),
    "write usr": tries(lambda: open("/usr/x", "w")),
    "write python": tries(lambda: open(os.__file__ + "x", "w")),
    "key": "OPENAI_API_KEY" in os.environ,
    "root": os.getuid() == 0 and os.path.exists("/proc/self/loginuid") and tries(lambda: os.setuid(1)),
    "others": len([name for name in os.listdir("/proc") if name.isdigit()]) > 4,
}}
open("/scratch/mine", "w").write("x" * 1000)
def fill():
    for number in range(200):
        open(f"/scratch/{{number}}", "wb").write(b"x" * 1_000_000)
SEEN["disk"] = tries(fill)
def predict(request):
    bad = [what for what, seen in SEEN.items() if seen]
    assert not bad, bad
    return 0.5
"""
    ends = ends_of(source, many(1), tmp_path)
    assert ends[0].state == "valid", details(tmp_path)
    assert not (tmp_path / "x").exists()


def test_without_isolation_a_program_runs_only_if_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "isolation", lambda: None)
    (tmp_path / "program.py").write_text(SOUND)
    task = write_task(tmp_path / "task", [EVENT])
    with pytest.raises(UsageError, match="no bubblewrap"):
        prepare(Asked("program", task, program=tmp_path / "program.py"))
    prepared = prepare(Asked("program", task, program=tmp_path / "program.py", isolated=False))
    assert prepared.settings["isolation"] == "none"
    create_run(tmp_path / "run", RunInfo("t", "program", "program", "in-process", "0", "../task", "0" * 64, "0"))
    outcome = asyncio.run(collect(tmp_path / "run", lambda: iter([EVENT]), prepared.job, Limits()))
    assert outcome.counts.valid == 1


def test_bad_words_are_refused(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task", [EVENT])
    with pytest.raises(UsageError, match="needs --program"):
        prepare(Asked("program", task))
    with pytest.raises(UnreadableFile, match="cannot be read"):
        prepare(Asked("program", task, program=tmp_path / "none.py", isolated=ISOLATED))


@needs_isolation
def test_a_task_inside_what_a_program_may_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    task = write_task(tmp_path / "task", [EVENT])
    (tmp_path / "program.py").write_text(SOUND)
    with pytest.raises(UsageError, match="which a program may read"):
        program.Program(tmp_path / "program.py", task=task, timeout=1, isolated=True)
