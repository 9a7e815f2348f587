"""An Inspect task over a task folder: each request a sample, the same strict parser, exact scores.

A sample that is not valid is counted as not valid: it is in no mean, and every mean stands beside the number of samples
behind it. Targets are read when answers are scored; the samples that Inspect shows a model do not hold them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from attrs import frozen
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState, generate

from exactworlds.collect.chat import LONGEST_ANSWER, ChatJson
from exactworlds.collect.ends import End
from exactworlds.collect.forms import form_of
from exactworlds.collect.reading import end_of_answer
from exactworlds.files.requests import Request, check_requests, read_manifest, read_requests
from exactworlds.files.targets import read_contract_targets, read_origin, read_targets
from exactworlds.metrics import (
    bayes_accuracy,
    brier_score,
    expected_accuracy,
    kl_nats_binary,
    total_variation,
)
from exactworlds.rational import parse_exact

__all__ = ["exact", "exact_targets", "score_of"]

P1_CLIP = ("0.001", "0.999")
_ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


@task
def exact(task: str) -> Task:
    """A task folder as an Inspect task."""
    folder = Path(task)
    check_requests(folder)
    requests = list(read_requests(folder))
    return Task(
        name=f"exactworlds-{folder.name}",
        dataset=MemoryDataset([_sample(request) for request in requests], name=folder.name),
        solver=generate(),
        scorer=exact_scorer(str(folder)),
        config=GenerateConfig(temperature=0, max_tokens=LONGEST_ANSWER),
    )


def _sample(request: Request) -> Sample:
    messages = json.loads(ChatJson().body(request, ""))["messages"]
    return Sample(id=request.id, input=[_ROLES[one["role"]](content=one["content"]) for one in messages], target="")


def exact_targets(task: Path) -> dict[str, dict[str, Fraction]]:
    """The exact probability of each option, by request and option key."""
    if read_manifest(task)["kind"] == "contracts":
        return {
            target.id: {option.key: parse_exact(option.posterior) for option in target.options}
            for target in read_contract_targets(task)
        }
    event_map: Mapping[str, bool] = read_origin(task)["event_map"]
    return {
        target.id: {
            key: parse_exact(target.posterior) if positive else 1 - parse_exact(target.posterior)
            for key, positive in event_map.items()
        }
        for target in read_targets(task)
    }


@frozen
class Judged:
    """What one answer amounts to: how it ended and, if it is valid, its scores."""

    end: End
    scores: Mapping[str, float]


def score_of(text: str, finish: str, request: Request, target: Mapping[str, Fraction]) -> Judged:
    """The end and the scores of a generated text, read as if an OpenAI-compatible server had sent it."""
    envelope = {"choices": [{"finish_reason": finish, "message": {"content": text}}]}
    step = parse_exact(form_of("chat-json").step)
    end = end_of_answer(json.dumps(envelope).encode(), request, ChatJson(), step)
    if end.report is None:
        return Judged(end, {})
    keys = [option.key for option in request.options]
    report, exact_ = [end.report[key] for key in keys], [target[key] for key in keys]
    scores = {
        "expected_accuracy": expected_accuracy(report=report, target=exact_),
        "bayes_accuracy": bayes_accuracy(target=exact_),
        "total_variation": total_variation(report=report, target=exact_),
        "brier_score": brier_score(report=report, target=exact_),
    }
    if len(keys) == 2:
        scores["kl_nats_clipped"] = kl_nats_binary(report=report[1], target=exact_[1], clip=P1_CLIP)
    return Judged(end, {name: float(value) for name, value in scores.items()})


@metric
def over_valid() -> Metric:
    """The mean of each score over the samples that have it; a score that no sample has is left out, not NaN."""

    def means(scores: list[SampleScore]) -> dict[str, float]:
        held: dict[str, list[float]] = {}
        for one in scores:
            for name, value in (one.score.metadata or {}).get("scores", {}).items():
                held.setdefault(name, []).append(float(value))
        return {name: sum(values) / len(values) for name, values in held.items()}

    return means


@metric
def valid_samples() -> Metric:
    """How many samples have a valid report."""

    def count(scores: list[SampleScore]) -> float:
        return float(sum(one.score.as_float() for one in scores))

    return count


@metric
def validity() -> Metric:
    """The share of samples with a valid report."""

    def share(scores: list[SampleScore]) -> float:
        return float(sum(one.score.as_float() for one in scores)) / len(scores) if scores else 0.0

    return share


@scorer(metrics=[validity(), valid_samples(), over_valid()])
def exact_scorer(task: str) -> Scorer:
    """Scores each answer against the exact probabilities of its request."""
    folder = Path(task)
    requests = {request.id: request for request in read_requests(folder)}
    targets = exact_targets(folder)

    async def score(state: TaskState, target: Target) -> Score:
        ident = str(state.sample_id)
        stop = str(state.output.stop_reason) if state.output.choices else "stop"
        finish = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}.get(
            stop, "stop"
        )
        judged = score_of(state.output.completion, finish, requests[ident], targets[ident])
        said = dict(judged.end.said)
        return Score(
            value=1.0 if judged.end.state == "valid" else 0.0,
            answer=json.dumps(said) if said else None,
            explanation=judged.end.reason,
            metadata={"scores": dict(judged.scores), "reason": judged.end.reason},
        )

    return score
