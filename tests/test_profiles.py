"""The Hypothesis profiles hold however pytest is started, seen from a test inside a pytest of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from examples_report import read_statistics
from hypothesis_profiles import most_examples

ROOT = Path(__file__).resolve().parents[1]

PROBE = """
import json, os
from hypothesis import given, settings, strategies as st

seen = []

@given(st.integers())
def test_probe(number):
    seen.append(number)

def test_report():
    now = settings()
    with open(os.environ["PROBE_REPORT"], "a", encoding="utf-8") as report:
        facts = [len(seen) >= now.max_examples * 0.9, now.max_examples, now.derandomize, now.database is not None]
        report.write(json.dumps(facts) + "\\n")
"""

DEV, CI, THOROUGH = [30, False, True], [80, True, False], [2_000, False, True]
TARGETS = {
    "pytest": [],
    "pytest tests": ["tests"],
    "pytest proofs": ["proofs"],
    "one file": ["tests/test_probe.py"],
    "one file of proofs": ["proofs/test_probe.py"],
    "the root": ["."],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project's test configuration with one probe in each folder and nothing else."""
    root = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "pyproject.toml", root)
    for folder in ("tests", "proofs"):
        (root / folder).mkdir()
        shutil.copy(ROOT / folder / "conftest.py", root / folder)
        (root / folder / "test_probe.py").write_text(PROBE, encoding="utf-8")
    for name in ("hypothesis_profiles.py", "examples_report.py"):
        shutil.copy(ROOT / "tests" / name, root / "tests")
    return root


def run(project: Path, target: list[str], *options: str, ci: bool) -> list[list[object]]:
    """The settings that the probes of one run saw."""
    report = project / "report"
    report.unlink(missing_ok=True)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CI", "PYTEST_", "TF_BUILD"))}
    environment["PROBE_REPORT"] = str(report)
    if ci:
        environment["CI"] = "true"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *target, *options]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]


def probes(target: list[str]) -> int:
    return 2 if target in ([], ["."]) else 1


@pytest.mark.parametrize("ci", [False, True], ids=["at home", "under CI"])
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_flag_beats_what_the_conftest_loads(project: Path, target: list[str], ci: bool) -> None:
    assert run(project, target, "--hypothesis-profile=thorough", ci=ci) == [[True, *THOROUGH]] * probes(target)


@pytest.mark.parametrize(("ci", "expected"), [(False, DEV), (True, CI)], ids=["at home", "under CI"])
@pytest.mark.parametrize("target", [[], ["proofs"]], ids=["pytest", "pytest proofs"])
def test_the_environment_chooses_without_a_flag(
    project: Path, target: list[str], ci: bool, expected: list[object]
) -> None:
    assert run(project, target, ci=ci) == [[True, *expected]] * probes(target)


def test_thorough_keeps_what_it_found_under_ci(project: Path) -> None:
    """A failing example is written to the database and tried first the next time."""
    failing = project / "tests" / "test_failing.py"
    failing.write_text(
        "import os\n"
        "from hypothesis import given, strategies as st\n\n"
        "@given(st.integers())\n"
        "def test_failing(number):\n"
        "    assert number < 1000\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "CI": "true"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(failing)]
    try:
        for profile, kept in (("ci", False), ("thorough", True)):
            shutil.rmtree(project / ".hypothesis", ignore_errors=True)
            flag = f"--hypothesis-profile={profile}"
            done = subprocess.run([*command, flag], cwd=project, env=environment, capture_output=True, check=False)
            assert done.returncode == 1
            assert (project / ".hypothesis" / "examples").exists() is kept
    finally:
        failing.unlink()


EXAMPLES = """
from hypothesis import assume, given, strategies as st

@given(st.integers())
def test_free(number):
    pass

@given(st.integers(0, 4))
def test_exhausted(number):
    assume(number != 3)

@given(st.booleans())
def test_false(value):
    assert not value

def test_plain():
    pass
"""


@pytest.mark.parametrize("profile", ["dev", "thorough"])
def test_the_report_of_examples_counts_those_of_each_property(project: Path, profile: str) -> None:
    (project / "tests" / "test_examples.py").write_text(EXAMPLES, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--hypothesis-profile={profile}"]
    target = ["tests/test_examples.py", "--examples-report", "deep/examples.tsv"]
    done = subprocess.run([*command, *target], cwd=project, capture_output=True, text=True, check=False)
    (project / "tests" / "test_examples.py").unlink()
    assert done.returncode == 1, done.stdout + done.stderr
    head, _, *lines = (project / "deep" / "examples.tsv").read_text(encoding="utf-8").splitlines()
    allowed = most_examples(profile)
    assert head.startswith("# 3 properties, ")
    assert head.endswith(f" {allowed} a property")
    found = {test.partition("::")[2]: counts for *counts, test, _ in (line.split("\t") for line in lines)}
    reasons = dict(line.split("\t")[-2:] for line in lines)
    assert found["test_free"] == [str(allowed), "0", "0"]
    assert found["test_exhausted"] == ["4", "0", "1"]
    assert int(found["test_false"][1]) >= 1
    assert reasons["tests/test_examples.py::test_free"] == f"settings.max_examples={allowed}"


def test_statistics_that_are_not_understood_are_refused() -> None:
    with pytest.raises(ValueError, match="not understood"):
        read_statistics("  - 3 passing of 4\n  - Stopped because settings.max_examples=4")
