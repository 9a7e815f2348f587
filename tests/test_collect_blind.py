"""Whoever asks a model cannot see what it is scored against: no file of targets is opened, no exact value is near."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from exactworlds.files.case_task import CaseTask, write_case_task
from exactworlds.files.contract_task import write_contract_task
from exactworlds.files.targets import read_contract_targets, read_origin, read_targets
from exactworlds.spec.bundled import find_world
from exactworlds.spec.cohorts import find_cohort

WATCHED = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
sys.argv = ["exactworlds", *sys.argv[1:]]
from exactworlds.cli import main
try:
    main()
except SystemExit as left:
    assert not left.code, left.code
print("\\n".join(opened))
"""


def collected(task: Path, run: Path, backend: str) -> list[str]:
    """Collects, and returns every path that was opened on the way."""
    words = [sys.executable, "-c", WATCHED, "collect", str(task), "--out", str(run), "--backend", backend]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("blind")
    world, _ = find_world("peer-review")
    write_case_task(CaseTask(world, "high", "prose", "271828182845904523536", 60, 6), folder / "cases")
    write_contract_task(find_cohort("diagnostic"), folder / "contracts")
    return {name: folder / name for name in ("cases", "contracts")}


@pytest.mark.parametrize(("kind", "backend"), [("cases", "sparrow"), ("cases", "posterior"), ("contracts", "sparrow")])
def test_no_file_of_targets_is_opened(kind: str, backend: str, tasks: dict[str, Path], tmp_path: Path) -> None:
    opened = collected(tasks[kind], tmp_path / "run", backend)
    assert any(path.endswith("requests.jsonl") for path in opened)
    assert [path for path in opened if "targets" in Path(path).parts] == []


def exact_values(task: Path, kind: str) -> set[str]:
    """Every exact probability as it could be written, where that is long enough to be no accident; and the seed."""
    if kind == "cases":
        fractions = {(target.posterior, target.posterior) for target in read_targets(task)}
    else:
        targets = list(read_contract_targets(task))
        fractions = {(option.posterior, option.posterior) for target in targets for option in target.options}
    written = set()
    for text, _ in fractions:
        numerator, _, denominator = text.partition("/")
        written |= {text, repr(int(numerator) / int(denominator or 1))}
    return {value for value in written if len(value) >= 6} | {str(read_origin(task)["seed"])}


@pytest.mark.parametrize("kind", ["cases", "contracts"])
def test_nothing_that_a_collector_is_handed_or_sends_states_an_exact_value(
    kind: str, tasks: dict[str, Path], tmp_path: Path
) -> None:
    task = tasks[kind]
    collected(task, tmp_path / "run", "sparrow")
    handed = (task / "task.json").read_text() + (task / "requests.jsonl").read_text()
    handed += (tmp_path / "run" / "run.json").read_text()
    for line in (tmp_path / "run" / "ledger.jsonl").read_text().splitlines():
        handed += json.loads(line).get("request", "")
    values = exact_values(task, kind)
    assert len(values) > 10
    assert [value for value in values if value in handed] == []
