"""Runs without a ledger, for tests of what comes after collecting: tasks from the package, ends made here."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from exactworlds.cli.scoring import score_folder
from exactworlds.collect.ends import End
from exactworlds.files.case_task import CaseTask, write_case_task
from exactworlds.files.contract_task import write_contract_task
from exactworlds.files.requests import Demonstration, Option, Request, read_requests
from exactworlds.files.run import RunInfo, create_run
from exactworlds.files.scores import write_scores
from exactworlds.files.targets import Target, read_contract_targets, read_targets
from exactworlds.spec.bundled import find_world
from exactworlds.spec.cohorts import find_cohort
from exactworlds.study.joining import CaseRow, join_cases

Report = Callable[[Fraction, int], Fraction | None]
"""From the exact probability of yes and the place of the request to the report; None is a rejected answer."""


def case_task(
    folder: Path, *, world: str = "covert-transfer", setting: str = "medium", seed: str = "902107777", n: int = 40
) -> Path:
    write_case_task(CaseTask(find_world(world)[0], setting, "form", seed, n, 0), folder)
    return folder


def contract_task(folder: Path, cohort: str = "diagnostic") -> Path:
    write_contract_task(find_cohort(cohort), folder)
    return folder


def answered(request: str, report: Mapping[str, Fraction] | None, total: Fraction = Fraction(1), **more: Any) -> End:
    """A valid end, or one rejected for its sum where there is no report."""
    facts: dict[str, Any] = {
        "served": True,
        "attempts": 1,
        "seconds": 0.25,
        "input_tokens": 300,
        "output_tokens": 2,
        "model": "jev-1.13.0",
        **more,
    }
    if report is None:
        return End(id=request, state="rejected", reason="sum", **facts)
    return End(id=request, state="valid", report=dict(report), total=total, **facts)


def case_ends(task: Path, report: Report, **more: Any) -> list[End]:
    """The ends of a task of cases, in the order of its requests."""
    ends = []
    for place, target in enumerate(read_targets(task)):
        said = report(Fraction(target.posterior), place)
        ends.append(answered(target.id, None if said is None else {"no": 1 - said, "yes": said}, **more))
    return ends


def contract_ends(task: Path, spoil: Callable[[str, int, list[Fraction]], list[Fraction] | None]) -> list[End]:
    """The ends of a task of contracts: exact reports, changed by `spoil` of (variant, place, report)."""
    ends = []
    for place, target in enumerate(read_contract_targets(task)):
        exact = [Fraction(option.posterior) for option in target.options]
        said = spoil(target.variant, place, exact)
        report = None if said is None else {o.key: p for o, p in zip(target.options, said, strict=True)}
        ends.append(answered(target.id, report))
    return ends


def make_run(
    folder: Path,
    task: Path,
    ends: Sequence[End],
    *,
    backend: str = "systemone",
    model: str = "jev-1.13.0",
    settings: Mapping[str, str] | None = None,
) -> Path:
    """A run folder with its scores; its ledger is empty and the ends are given."""
    digest = hashlib.sha256((task / "requests.jsonl").read_bytes()).hexdigest()
    place = os.path.relpath(task, folder)
    create_run(
        folder,
        RunInfo(folder.name, backend, model, "https://example.org", "0", place, digest, "0", dict(settings or {})),
    )
    (folder / "ledger.jsonl").write_text("", encoding="utf-8")
    write_scores(folder, score_folder(folder, lambda run, requests: ends))
    return folder


def rows(
    triples: Sequence[tuple[Fraction, bool, Fraction | None]], total: Fraction = Fraction(1)
) -> tuple[CaseRow, ...]:
    """Joined cases of (exact probability, drawn label, report), all with different memos and two patterns."""
    requests, targets, ends = [], [], []
    for place, (posterior, positive, report) in enumerate(triples):
        memo = f"memo {place}"
        digest = hashlib.sha256(memo.encode()).hexdigest()
        options = (Option("no", "no"), Option("yes", "yes"))
        requests.append(
            Request(f"{place:04}", "form", "event", "Is it so?", options, memo, (Demonstration("m", "no"),))
        )
        visible = {"level": str(posterior)}
        label = "yes" if positive else "no"
        targets.append(Target(f"{place:04}", place, "evaluation", visible, label, positive, str(posterior), digest))
        said = None if report is None else {"no": 1 - report, "yes": report}
        ends.append(answered(f"{place:04}", said, total))
    return join_cases(requests, targets, {"no": False, "yes": True}, ends)


def all_requests(task: Path) -> list[Request]:
    return list(read_requests(task))
