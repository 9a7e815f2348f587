"""Task folders of cases: drawn from a world, in the order of random ids, with nested demonstrations from a pool."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from attrs import frozen

from exactworlds import __version__
from exactworlds.errors import UsageError
from exactworlds.files.requests import Demonstration, Option, Request, request_content
from exactworlds.files.task import new_task
from exactworlds.memo.cases import Case, CaseSource
from exactworlds.rational import exact_text, fraction_text
from exactworlds.spec.digest import law_digest, text_digest
from exactworlds.spec.world import World

__all__ = ["POOL", "CaseTask", "Interface", "write_case_task"]

POOL = 1000
"""Rows 0 … 999 are the pool that demonstrations come from; evaluated cases begin at row 1000 (P1, Section A.5)."""

Interface = Literal["event", "choice"]
_BATCH = 10_000


@frozen
class CaseTask:
    """What a task of cases is to be."""

    world: World
    setting: str
    template: str
    seed: str
    cases: int
    shots: int
    interface: Interface = "event"


def write_case_task(task: CaseTask, out: Path, told: Callable[[str, int, int], None] | None = None) -> None:
    """Writes the folder of a task; the order of its lines is that of their ids, which are random.

    Demonstrations are the first `shots` rows of the pool, so that tasks of the same seed nest.
    """
    if not 0 <= task.shots <= POOL:
        raise UsageError(f"found {task.shots} shots, expected 0 to {POOL}, the rows of the pool")
    if task.cases < 1:
        raise UsageError(f"found {task.cases} cases, expected at least 1")
    say = told or (lambda what, done, total: None)
    with new_task(out) as writer:
        source = CaseSource(task.world, task.setting, task.template, task.seed)
        pool = source.cases(0, task.shots) if task.shots else []
        shown = tuple(Demonstration(case.memo, _answer(task, case.positive)) for case in pool)
        batches = []
        for start in range(0, task.cases, _BATCH):
            say("drawing cases", start, task.cases)
            batches.append(source.draw(POOL + start, min(_BATCH, task.cases - start)))
        order = np.lexsort([np.concatenate([batch.ids[:, column] for batch in batches]) for column in (1, 0)])
        for done, place in enumerate(order.tolist()):
            if done % 1000 == 0:
                say("writing cases", done, task.cases)
            case = source.case(batches[place // _BATCH], place % _BATCH)
            writer.add(_request(task, case, shown), _target(task, case))
        writer.finish(_manifest(task, source), _origin(task), _card(task))


def _request(task: CaseTask, case: Case, shown: tuple[Demonstration, ...]) -> dict[str, Any]:
    question = task.world.question[:1].upper() + task.world.question[1:]
    request = Request(
        id=case.id,
        variant=task.template,
        kind=task.interface,
        question=question,
        options=_options(task),
        state=case.memo,
        demonstrations=shown,
    )
    return request_content(request)


def _options(task: CaseTask) -> tuple[Option, ...]:
    """In canonical order, the negative class first."""
    labels = task.world.labels
    if task.interface == "event":
        return (Option("no", labels.negative), Option("yes", labels.positive))
    return (Option(labels.negative, labels.negative), Option(labels.positive, labels.positive))


def _answer(task: CaseTask, positive: bool) -> str:
    return _options(task)[1 if positive else 0].key


def _target(task: CaseTask, case: Case) -> dict[str, Any]:
    visible = task.world.settings[task.setting].visible
    labels = task.world.labels
    return {
        "id": case.id,
        "index": case.index,
        "split": "evaluation",
        "visible": dict(zip(visible, case.pattern, strict=True)),
        "label": labels.positive if case.positive else labels.negative,
        "positive": case.positive,
        "posterior": fraction_text(case.posterior),
        "posterior_float": float(case.posterior),
        "digest": hashlib.sha256(case.memo.encode()).hexdigest(),
    }


def _manifest(task: CaseTask, source: CaseSource) -> dict[str, Any]:
    """What the folder is; neither the seed nor a digest of the targets, which few cases would give away."""
    return {
        "format": "exactworlds/task/1",
        "kind": "cases",
        "world": task.world.id,
        "setting": task.setting,
        "template": task.template,
        "interface": task.interface,
        "scale": exact_text(source.scale),
        "cases": task.cases,
        "shots": task.shots,
        "law": law_digest(task.world),
        "text": text_digest(task.world),
        "exactworlds": __version__,
    }


def _origin(task: CaseTask) -> dict[str, Any]:
    return {
        "format": "exactworlds/origin/1",
        "seed": task.seed,
        "law": law_digest(task.world),
        "text": text_digest(task.world),
        "first_index": POOL,
        "pool": {"first_index": 0, "rows": POOL, "shown": task.shots},
        "event_map": {option.key: index == 1 for index, option in enumerate(_options(task))},
    }


def _size_category(cases: int) -> str:
    bounds = [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")]
    return next((name for bound, name in bounds if cases < bound), "1M<n<10M")


def _card(task: CaseTask) -> str:
    """The dataset card: a YAML header that dataset hubs read, and what a person wants to know."""
    world = task.world
    question = world.question[:1].upper() + world.question[1:]
    labels = world.labels
    return f"""---
pretty_name: "exactworlds {world.id}, {task.setting}"
license: apache-2.0
language: [en]
task_categories: [text-classification]
size_categories: [{_size_category(task.cases)}]
tags: [synthetic, calibration, exact-probabilities]
configs:
- config_name: requests
  data_files: requests.jsonl
- config_name: targets
  data_files: targets/targets.jsonl
---

# {world.title}, setting {task.setting}

{question} {task.cases:,} memos ({task.template} template, {task.shots} demonstrations each), drawn exactly from a world
whose class probabilities are known. Positive: {labels.positive}; negative: {labels.negative}.

| file | what it holds |
|---|---|
| `task.json` | what this folder is: world, setting, counts, digests of law and texts |
| `requests.jsonl` | all that a model may see: id, question, options, memo, demonstrations with realised labels |
| `targets/targets.jsonl` | per id: visible attributes, drawn label, exact probability as fraction and nearest float |
| `targets/origin.json` | seed, digests, and which option is the positive class |

Ids are random and the lines are in their order. Keep `targets/` away from what you evaluate. The label of a case is one
draw; score probabilities against `posterior`.

Synthetic: no real manuscripts, companies or persons. Made by exactworlds {__version__}.
"""
