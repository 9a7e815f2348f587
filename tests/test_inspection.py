"""The Inspect task, with Inspect's own mock model: the same prompts, the same strict reading, the same exact scores."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from exactworlds.files.case_task import CaseTask, write_case_task
from exactworlds.files.contract_task import write_contract_task
from exactworlds.files.requests import read_requests
from exactworlds.files.targets import read_contract_targets, read_targets
from exactworlds.spec.bundled import find_world
from exactworlds.spec.cohorts import find_cohort

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed")
task_module = pytest.importorskip("exactworlds.inspection.task")

pytestmark = pytest.mark.filterwarnings("default")


def evaluated(task: Path, texts: list[str], logs: Path) -> Any:
    from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: PLC0415

    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for output in outputs:  # what is said needs no counting by a tokenizer that would have to be fetched
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    (log,) = inspect_ai.eval(
        task_module.exact(task=str(task)),
        model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(logs),
        display="none",
        max_connections=1,
        max_samples=1,
    )
    assert log.status == "success", log.error
    return log


def metrics(log: Any) -> dict[str, float]:
    return {name: found.value for name, found in log.results.scores[0].metrics.items()}


def test_answers_are_scored_exactly_and_invalid_ones_are_in_no_mean(tmp_path: Path) -> None:
    write_case_task(CaseTask(find_world("credit-risk")[0], "high", "form", "3", 6, 2), tmp_path / "task")
    said = ["0.25", "0.5", "nonsense", "1", "0.125", "0"]
    texts = [json.dumps({"no": 1 - float(p), "yes": float(p)}) if p != "nonsense" else p for p in said]
    log = evaluated(tmp_path / "task", texts, tmp_path / "logs")
    targets = {target.id: Fraction(target.posterior) for target in read_targets(tmp_path / "task")}
    assert log.samples is not None
    rows = []
    for sample, p in zip(log.samples, said, strict=True):
        if p != "nonsense":
            q, r = targets[sample.id], Fraction(p)
            rows.append((q if r > Fraction(1, 2) else 1 - q, abs(q - r), 2 * (q - r) ** 2 + 2 * q * (1 - q)))
    found = metrics(log)
    assert found["valid_samples"] == 5
    assert found["validity"] == pytest.approx(5 / 6)
    for name, column in (("expected_accuracy", 0), ("total_variation", 1), ("brier_score", 2)):
        mean = sum(row[column] for row in rows) / 5
        assert found[name] == pytest.approx(float(mean), abs=1e-12)
    assert [sample.scores["exact_scorer"].explanation for sample in log.samples][2] == "not-json"
    text = json.dumps([[message.text for message in sample.input] for sample in log.samples])
    (first, *_) = read_requests(tmp_path / "task")
    assert json.dumps(first.state)[1:-1] in text
    assert json.dumps(first.demonstrations[0].memo)[1:-1] in text


def test_whole_distributions_are_scored_by_option(tmp_path: Path) -> None:
    write_contract_task(find_cohort("diagnostic"), tmp_path / "task")
    targets = {target.id: target for target in read_contract_targets(tmp_path / "task")}
    requests = list(read_requests(tmp_path / "task"))
    exact = task_module.exact_targets(tmp_path / "task")
    for request in requests:
        assert exact[request.id] == {option.key: Fraction(option.posterior) for option in targets[request.id].options}
    sharp = next(request for request in requests if request.kind == "distribution")
    keys = [option.key for option in sharp.options]
    judged = task_module.score_of(json.dumps(dict.fromkeys(keys, 0) | {keys[0]: 1}), "stop", sharp, exact[sharp.id])
    assert judged.scores["expected_accuracy"] == float(exact[sharp.id][keys[0]])
    assert judged.scores["total_variation"] == pytest.approx(float(1 - exact[sharp.id][keys[0]]), abs=1e-15)
    assert "kl_nats_clipped" not in judged.scores
    capped = task_module.score_of('{"yes": 0.', "length", sharp, exact[sharp.id])
    assert (capped.end.reason, capped.scores) == ("cap", {})
