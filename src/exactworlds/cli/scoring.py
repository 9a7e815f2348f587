"""The command `score`: join the answers of runs with their targets and write what they amount to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from exactworlds import __version__
from exactworlds.cli.output import print_json, print_lines, progress
from exactworlds.collect.ends import End
from exactworlds.collect.reading import run_ends
from exactworlds.errors import UsageError
from exactworlds.files.requests import MANIFEST, REQUESTS, Request, read_manifest, read_requests
from exactworlds.files.run import RunInfo, read_run
from exactworlds.files.scores import FORMAT, input_digests, task_folder, write_scores
from exactworlds.files.targets import FOLDER, TARGETS, read_contract_targets, read_origin, read_targets
from exactworlds.spec.prices import find_price
from exactworlds.study.contract_scores import bootstrap_seed, score_contracts
from exactworlds.study.joining import check_same_digest, join_cases, join_contracts
from exactworlds.study.scores import case_content, contract_content

__all__ = ["score", "score_folder"]

ReadEnds = Callable[[Path, Sequence[Request]], Sequence[End]]
_TASK_KEYS = {
    "cases": ("world", "setting", "template", "interface", "scale", "cases", "shots", "law", "text"),
    "contracts": ("cohort", "variants", "roots", "strata", "intended", "eligible", "estimated", "text"),
}


def score(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders that `collect` made.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON instead of a summary.")] = False,
) -> None:
    """Score runs against the exact answers of their tasks, and write RUN/scores.json. Scoring again changes nothing."""
    found = []
    for run in runs:
        with progress(f"scoring {run.name}") as told:
            told("joining answers with targets", 0, 1)
            content = score_folder(run, run_ends)
        file = write_scores(run, content)
        found.append(content)
        if not as_json:
            print_lines(_summary(file, content))
    if as_json:
        print_json(found[0] if len(found) == 1 else found)


def score_folder(run: Path, read_ends: ReadEnds) -> dict[str, Any]:
    """The content of the scores of a run folder; refuses a run whose task is not the one that it was asked."""
    info = read_run(run)
    task = task_folder(run, info)
    manifest = _manifest(task)
    digests = input_digests(run, task)
    check_same_digest(str(task / REQUESTS), digests[REQUESTS], manifest["requests_sha256"], "of its manifest")
    check_same_digest(str(task / REQUESTS), digests[REQUESTS], info.requests_sha256, f"of what {run} asked")
    origin = read_origin(task)
    targets = f"{FOLDER}/{TARGETS}"
    check_same_digest(str(task / targets), digests[targets], origin.get("targets_sha256"), "of their origin")
    requests = list(read_requests(task))
    ends = read_ends(run, requests)
    price = find_price(info.backend, info.model)
    if manifest["kind"] == "cases":
        event_map = origin.get("event_map")
        if not isinstance(event_map, Mapping):
            raise UsageError(f"{task}: the origin has no event map, expected that of a task of cases")
        rows = join_cases(requests, list(read_targets(task)), event_map, ends)
        content = case_content(rows, price)
    else:
        targets_list = list(read_contract_targets(task))
        joined = join_contracts(requests, targets_list, origin, manifest["variants"], ends, name="run")
        scores = score_contracts(joined, origin, seed=bootstrap_seed(manifest["cohort"]))
        content = contract_content(joined, scores, price)
    return {
        "format": FORMAT,
        "kind": manifest["kind"],
        "exactworlds": __version__,
        "run": _run(info),
        "task": _task(manifest, requests),
        "inputs": digests,
        **content,
    }


def _manifest(task: Path) -> dict[str, Any]:
    manifest = read_manifest(task)
    kind = manifest.get("kind")
    if kind not in _TASK_KEYS:
        raise UsageError(f"{task / MANIFEST}: found the kind {kind!r}, expected cases or contracts")
    missing = [key for key in _TASK_KEYS[kind] if key not in manifest]
    if missing:
        raise UsageError(f"{task / MANIFEST}: {', '.join(missing)} is missing, expected a whole manifest")
    return manifest


def _run(info: RunInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "backend": info.backend,
        "model": info.model,
        "endpoint": info.endpoint,
        "step": info.step,
        "settings": dict(info.settings),
        "exactworlds": info.exactworlds,
    }


def _task(manifest: Mapping[str, Any], requests: Sequence[Request]) -> dict[str, Any]:
    """What was asked, without the seed; the question and options of a task of cases are those of every request."""
    content = {key: manifest[key] for key in _TASK_KEYS[manifest["kind"]]}
    if manifest["kind"] == "cases":
        content["question"] = requests[0].question
        content["options"] = {option.key: option.text for option in requests[0].options}
    return content


def _summary(file: Path, content: Mapping[str, Any]) -> list[str]:
    collection, figures = content["collection"], content["figures"]
    states = ", ".join(f"{count:,} {state}" for state, count in collection["states"].items() if count)
    lines = [f"✓ {file}: {collection['requests']:,} requests: {states}"]
    shown = {
        "cases": (
            ("kl_nats_clipped_0.001", "KL in nats, reports clipped to [0.001, 0.999]"),
            ("kl_nats_unclipped", "KL in nats, unclipped"),
            ("expected_accuracy", "expected accuracy"),
            ("bayes_accuracy_same_cases", "Bayes accuracy of the same cases"),
        ),
        "contracts": (
            ("tv", "total variation of the canonical report"),
            ("event-error", "error of the probability of A"),
            ("event_choice-pass", "event and choice agree"),
            ("product-pass", "the product rule holds"),
        ),
    }
    for name, words in shown[content["kind"]]:
        figure = figures[name]
        value = figure["value"]
        text = "undefined" if value is None else "∞" if value == "inf" else f"{value:.4f}"
        lines.append(f"  {words:<46} {text:>9}  n = {figure['n']:,} of {figure['of']:,}")
    if collection["several_models"]:
        lines.append(f"  note: several models answered: {', '.join(collection['models'])}")
    return lines
