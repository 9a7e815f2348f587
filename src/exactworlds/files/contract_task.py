"""Task folders of cohorts: every eligible request, in the order of random ids, and apart from them what they mean."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from exactworlds import __version__
from exactworlds.contract.cells import Cell
from exactworlds.contract.cohorts import Cohort, build_cohort, count_slots
from exactworlds.contract.requests import ContractRequest, drawn_cell, events_text, root_requests
from exactworlds.errors import UsageError
from exactworlds.files.requests import Option, Request, request_content
from exactworlds.files.task import new_task
from exactworlds.rational import fraction_text
from exactworlds.spec.cohorts import CohortSpec, cohort_law_digest, cohort_text_digest
from exactworlds.spec.relations import load_relations

__all__ = ["write_contract_task"]


def write_contract_task(
    spec: CohortSpec,
    out: Path,
    seed: str | None = None,
    told: Callable[[str, int, int], None] | None = None,
) -> Cohort:
    """Writes the folder of a cohort, drawn under its own seed or another one, and returns what was drawn.

    Undefined conditionals have no request; they are listed in the origin. The manifest has no seed.
    """
    if seed is not None and not (seed.isascii() and seed.isdecimal()):
        raise UsageError(f"found the seed {seed!r}, expected a whole number")
    say = told or (lambda what, done, total: None)
    with new_task(out) as writer:
        say("drawing roots", 0, 1)
        cohort = build_cohort(spec, seed)
        requests: list[ContractRequest] = []
        cells: dict[str, Cell] = {}
        for done, root in enumerate(cohort.roots):
            if done % 100 == 0:
                say("making requests", done, len(cohort.roots))
            requests += root_requests(root, cohort)
            cells[root.id] = drawn_cell(root, cohort)
        requests.sort(key=lambda request: request.id)
        for done, request in enumerate(requests):
            if done % 1000 == 0:
                say("writing requests", done, len(requests))
            writer.add(request_content(_request(request)), _target(request, cells[request.root.id]))
        writer.finish(_manifest(cohort), _origin(cohort), _card(cohort, len(requests)))
    return cohort


def _request(request: ContractRequest) -> Request:
    return Request(
        id=request.id,
        variant=request.variant,
        kind=request.kind,
        question=request.question,
        options=tuple(Option(option.key, option.text) for option in request.options),
        state=request.state,
    )


def _target(request: ContractRequest, cell: Cell) -> dict[str, Any]:
    """What every option means, with its exact probability, and the option that holds in the root's one drawn cell."""
    exact, events = request.target(), events_text(request)
    outcome = {cells: name for name, cells in request.outcomes.items()}
    return {
        "id": request.id,
        "root": request.root.id,
        "variant": request.variant,
        "stratum": request.root.stratum,
        "index": request.root.index,
        "options": [
            {
                "key": option.key,
                "event": events[option.key],
                "outcome": outcome[request.event_map[option.key]],
                "posterior": fraction_text(exact[option.key]),
                "posterior_float": float(exact[option.key]),
            }
            for option in request.options
        ],
        "realised": request.realised(cell),
        "digest": hashlib.sha256(request.state.encode()).hexdigest(),
    }


def _manifest(cohort: Cohort) -> dict[str, Any]:
    """What the folder is; the seed and everything that roots mean stand apart."""
    spec, slots = cohort.spec, count_slots(cohort)
    return {
        "format": "exactworlds/task/1",
        "kind": "contracts",
        "cohort": spec.id,
        "variants": list(spec.variants),
        "roots": len(cohort.roots),
        "strata": len(cohort.strata),
        "intended": slots.intended,
        "eligible": slots.eligible,
        "estimated": spec.estimated,
        "text": cohort_text_digest(spec),
        "exactworlds": __version__,
    }


def _origin(cohort: Cohort) -> dict[str, Any]:
    spec, slots = cohort.spec, count_slots(cohort)
    return {
        "format": "exactworlds/origin/1",
        "seed": cohort.seed,
        "law": cohort_law_digest(spec),
        "text": cohort_text_digest(spec),
        "costs": {name: [cost.raw for cost in grid] for name, grid in spec.costs.items()},
        "primary_cost": spec.primary_cost.raw,
        "relations": {
            name: {"tolerance": relation.tolerance.raw, "constituents": list(relation.constituents)}
            for name, relation in load_relations().relation.items()
        },
        "undefined": list(slots.undefined),
        "roots": {root.id: {"stratum": root.stratum, "index": root.index, "hash": root.hash} for root in cohort.roots},
    }


def _card(cohort: Cohort, requests: int) -> str:
    spec = cohort.spec
    return f"""---
pretty_name: "exactworlds contracts, {spec.id}"
license: apache-2.0
language: [en]
task_categories: [text-classification]
size_categories: [{"n<1K" if requests < 1000 else "1K<n<10K" if requests < 10_000 else "10K<n<100K"}]
tags: [synthetic, calibration, coherence, exact-probabilities]
configs:
- config_name: requests
  data_files: requests.jsonl
- config_name: targets
  data_files: targets/targets.jsonl
---

# {spec.title}

{spec.description} {len(cohort.roots):,} worlds of four cells with exact posteriors, {requests:,} requests. Requests
about one world share their information, so that reports can be checked against each other and against the truth.

| file | what it holds |
|---|---|
| `task.json` | what this folder is: cohort, variants, counts, digest of the texts |
| `requests.jsonl` | all that a model may see: id, variant, kind, question, options, state |
| `targets/targets.jsonl` | per id: root, stratum, exact probability of each option, event map, realised option |
| `targets/origin.json` | seed, digests, costs, relations with tolerances, undefined conditionals, semantic hashes |

Ids are random and the lines are in their order. Keep `targets/` away from what you evaluate.

Synthetic: made by exactworlds {__version__}.
"""
