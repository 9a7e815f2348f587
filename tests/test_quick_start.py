"""README's quick start, as it stands there, in an empty folder: from cases to a page, offline."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from exactworlds.collect.reading import run_ends
from exactworlds.files.requests import read_requests

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def commands() -> str:
    """The block without its first line, which installs what is installed here."""
    found = re.search(r"<!-- quick start -->\n```sh\n(.*?)```", README, re.DOTALL)
    assert found is not None
    first, _, rest = found[1].partition("\n")
    assert first.startswith(".venv/bin/pip install")
    return rest


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quick")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euc", commands()], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "work"


def test_every_run_is_complete_and_scored(work: Path) -> None:
    runs = sorted(path.parent for path in work.glob("*/run.json"))
    assert [run.name for run in runs] == [
        *("logistic-1", "logistic-2", "logistic-3"), *("sparrow-1", "sparrow-2", "sparrow-3"), "sparrow-contracts"
    ]  # fmt: skip
    for run in runs:
        assert json.loads((run / "scores.json").read_text())["format"] == "exactworlds/scores/1"


def test_the_bundled_model_answers_each_case_for_itself(work: Path) -> None:
    for seed in (1, 2, 3):
        ends = run_ends(work / f"sparrow-{seed}", list(read_requests(work / f"bare-{seed}")))
        assert {end.state for end in ends} == {"valid"}
        assert len({end.report["yes"] for end in ends if end.report}) > 250


def test_with_demonstrations_the_bundled_model_rejects_every_request_before_it_is_sent(work: Path) -> None:
    task = work / "shown-1"
    words = ["collect", str(task), "--backend", "sparrow", "--out", str(work / "too-long")]
    subprocess.run([sys.executable, "-m", "exactworlds", *words], check=True, capture_output=True)
    ends = run_ends(work / "too-long", list(read_requests(task)))
    assert Counter((end.state, end.reason, end.attempts) for end in ends) == {("rejected", "too-long", 0): 300}


def test_the_page_is_one_small_file_with_every_run(work: Path) -> None:
    page = (work / "page.html").read_bytes()
    assert len(page) < 3_000_000
    text = page.decode()
    for name in ("sparrow", "logistic-regression", "Cohort primary"):
        assert name in text
    assert str(work) not in text
