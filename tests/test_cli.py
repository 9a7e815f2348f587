"""The command line, as a person meets it: exit codes, one clear message, no traceback, one screen of text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from exactworlds.spec.bundled import spec_folder, world_names
from exactworlds.spec.claims import load_claims
from exactworlds.spec.cohorts import cohort_names

LOAN = (Path(__file__).parent / "loan-desk.toml").read_text(encoding="utf-8")


def run(*words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "exactworlds", *words],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **environment},
    )


@pytest.fixture
def loan(tmp_path: Path) -> Path:
    file = tmp_path / "loan-desk.toml"
    file.write_text(LOAN, encoding="utf-8")
    return file


def assert_readable(text: str) -> None:
    lines = text.splitlines()
    assert len(lines) <= 60
    assert max(len(line) for line in lines) <= 80
    assert "\x1b" not in text


def test_verify_covert_transfer() -> None:
    done = run("verify", "covert-transfer")
    assert done.returncode == 0, done.stderr
    assert "8+8+8+2" in done.stdout
    assert "identifies" in done.stdout
    found = json.loads(run("verify", "covert-transfer", "--json").stdout)
    assert found["passes"] is True
    assert [world["world"] for world in found["worlds"]] == ["covert-transfer"]


def test_verify_claims_prints_every_claim_with_what_stands_behind_it() -> None:
    done = run("verify", "--claims")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    found = json.loads(run("verify", "--claims", "--json").stdout)["claims"]
    claims = load_claims().claim
    assert [row["id"] for row in found] == list(claims)
    assert [row["statement"] for row in found] == [claim.statement for claim in claims.values()]
    for row in found:
        (line,) = [line for line in done.stdout.splitlines() if f" {row['id']} " in line]
        counts = [str(len(row[kind])) for kind in ("proved_by", "twins", "tested_by")]
        assert line.split()[1:6] == [row["status"], *counts, row["id"]]


def test_verify_of_a_changed_copy_exits_1_and_names_the_cells(tmp_path: Path) -> None:
    text = (spec_folder() / "worlds" / "covert-transfer.toml").read_text(encoding="utf-8")
    copy = tmp_path / "copy.toml"
    copy.write_text(text.replace('["1/2", "1/2"]', '["0.51", "0.49"]'), encoding="utf-8")
    done = run("verify", str(copy))
    assert done.returncode == 1
    assert "covert-transfer/low/1/bayes-error: pinned 1/52" in done.stdout
    assert "DOES NOT MATCH" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_show_and_check_fit_one_screen(loan: Path) -> None:
    for words in (
        ("show", "peer-review", "--setting", "high"),
        ("show", "covert-transfer"),
        ("show", str(loan)),
        ("check", str(loan)),
        ("check", "covert-transfer"),
    ):
        done = run(*words)
        assert done.returncode == 0, done.stderr
        assert_readable(done.stdout)
        for word in ("prior", "Bayes error", "entropy", "patterns", "p*(1|x)"):
            assert word in done.stdout, words


def test_show_knows_digests_and_json() -> None:
    digests = json.loads(run("show", "covert-transfer", "--digest", "--json").stdout)
    assert set(digests) == {"law", "text"}
    assert digests["law"] in run("show", "covert-transfer", "--digest").stdout
    shown = json.loads(run("show", "covert-transfer", "--json").stdout)
    assert [entry["bayes_error"] for entry in shown["settings"]] == ["1/52", "25/338", "49/338"]


def test_check_reads_standard_input() -> None:
    done = run("check", "-", stdin=LOAN)
    assert done.returncode == 0, done.stderr
    assert "loan-desk is admitted" in done.stdout
    empty = run("check", "-")
    assert empty.returncode == 2
    assert empty.stderr == "error: -: the file is empty\n"


def test_check_reports_every_file_and_every_fault(loan: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(LOAN.replace('"0.3", "0.5"', '"0.3", "0.4"').replace("slack < 0.5", "slak < 0.5"), encoding="utf-8")
    done = run("check", str(bad), str(tmp_path / "none.toml"), str(loan))
    assert done.returncode == 2
    assert "add up to 0.9, expected exactly 1" in done.stderr
    assert "the unknown name 'slak'" in done.stderr
    assert "none.toml: does not exist" in done.stderr
    assert "loan-desk is admitted" in done.stdout
    found = json.loads(run("check", str(bad), str(loan), "--json").stdout)
    assert found["passes"] is False
    assert len(found["errors"]) == 1
    assert found["worlds"][0]["admitted"] is True


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "peer-reviw"), "there is no world 'peer-reviw'; known: covert-transfer, credit-risk, peer-review"),
        (("show", "peer-review", "--setting", "hi"), "there is no setting 'hi'; known: low, medium, high"),
        (("show", "."), ".: is a directory, expected a file"),
        (("verify", "nowhere.toml"), "nowhere.toml: does not exist"),
        (("golden", "replace", "papers", "--only", "x", "--reason", "y"), "published cells cannot be replaced"),
        (("golden", "add", "-"), "the file is empty"),
        (("golden", "check", "nowhere.toml"), "nowhere.toml: does not exist"),
    ],
)
def test_errors_are_one_message_and_exit_code_2(words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "words", [("nonsense",), ("show",), ("golden", "replace", "peer-review"), ("show", "x", "--bad")]
)
def test_usage_errors_exit_2(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_golden_add_check_and_replace_of_a_users_world(loan: Path) -> None:
    missing = run("golden", "check", str(loan))
    assert missing.returncode == 2
    assert "does not exist" in missing.stderr
    assert run("golden", "add", str(loan)).returncode == 0
    assert loan.with_suffix(".golden.json").exists()
    assert run("golden", "check", str(loan)).returncode == 0
    assert run("verify", str(loan)).returncode == 0
    loan.write_text(LOAN.replace('"0.3", "0.5", "0.2"', '"0.3", "0.4", "0.3"'), encoding="utf-8")
    stale = json.loads(run("golden", "check", str(loan), "--json").stdout)
    ids = [fault.partition(":")[0] for fault in stale["subjects"][0]["faults"] if ": pinned " in fault]
    assert "loan-desk/high/1/bayes-error" in ids
    assert run("golden", "check", str(loan)).returncode == 1
    assert run("verify", str(loan)).returncode == 1
    refused = run("golden", "replace", str(loan), "--only", ids[0], "--reason", "test")
    assert refused.returncode == 2
    assert "moved too" in refused.stderr
    every = [word for name in ids for word in ("--only", name)]
    assert run("golden", "replace", str(loan), *every, "--reason", "a test").returncode == 0
    assert run("golden", "check", str(loan)).returncode == 0


def test_golden_check_of_everything_bundled() -> None:
    done = run("golden", "check")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("✓") == 1 + len(world_names()) + len(cohort_names())


def test_a_terminal_without_unicode_gets_text_not_an_error() -> None:
    done = run("show", "covert-transfer", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert "Bayes error" in done.stdout


def test_a_reader_that_leaves_early_causes_no_traceback() -> None:
    command = f"{sys.executable} -m exactworlds verify covert-transfer | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr


def test_version_and_help() -> None:
    assert run("--version").stdout.startswith("exactworlds ")
    text = run("--help").stdout
    for command in ("verify", "check", "show", "golden"):
        assert command in text


def test_verify_of_a_cohort_shows_slots_and_printed_values() -> None:
    done = run("verify", "development")
    assert done.returncode == 0, done.stderr
    assert "12 × 40 = 480 intended − 3 undefined = 477 eligible requests" in done.stdout
    assert "✓ 1 of 1 printed values match" in done.stdout
    found = json.loads(run("verify", "development", "covert-transfer", "--json").stdout)
    assert found["passes"] is True
    assert [cohort["cohort"] for cohort in found["cohorts"]] == ["development"]
    assert [world["world"] for world in found["worlds"]] == ["covert-transfer"]


def test_goldens_of_cohorts_are_checked_and_never_written_twice() -> None:
    done = run("golden", "check", "diagnostic", "development")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["✓ diagnostic: as pinned", "✓ development: as pinned"]
    refused = run("golden", "replace", "diagnostic", "--only", "diagnostic/hashes", "--reason", "none")
    assert refused.returncode == 2
    assert "the named cells have not moved; nothing was written" in refused.stderr
