"""Scored runs as a report reads them: figures by name, and which runs belong together.

Runs are of one section if they were asked the same kind of task, and of one configuration if nothing but the draw of
the task (its seed) differs. What is not here: how anything is shown (`tables`, `charts`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from exactworlds.metrics import Undefined, seed_summary

__all__ = ["Number", "Scored", "Section", "Spread", "configurations", "group_name", "sections", "spread", "with_labels"]

REFERENCE = "reporter"
"""The backend of reference reporters: shown beside models, and never ranked with them."""


@frozen
class Number:
    """A number of the scores: its value (None where there is none, and `why`), and what it is over."""

    value: float | None
    n: int | None = None
    of: int | None = None
    infinite: int = 0
    low: float | None = None
    high: float | None = None
    why: str = ""

    @property
    def is_infinite(self) -> bool:
        return self.value is not None and math.isinf(self.value)

    @property
    def finite(self) -> float | None:
        """The value where it can be drawn."""
        return None if self.value is None or self.is_infinite else self.value


@frozen
class Scored:
    """One run with its scores; `label` is its name on the page, `color` its place in the palette of its section."""

    content: Mapping[str, Any] = field(repr=False)
    label: str = ""
    color: int = 0

    @property
    def kind(self) -> str:
        return str(self.content["kind"])

    @property
    def run(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.content["run"]
        return found

    @property
    def task(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.content["task"]
        return found

    @property
    def collection(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.content["collection"]
        return found

    @property
    def is_reference(self) -> bool:
        return bool(self.run["backend"] == REFERENCE)

    @property
    def requests_digest(self) -> str:
        return str(self.content["inputs"]["requests.jsonl"])

    def figure(self, name: str) -> Number:
        """A figure by name; a raw one where there are raw ones."""
        content = self.content["figures"].get(name) or self.content["raw_figures"].get(name)
        return Number(None, why="not among the scores") if content is None else as_number(content)

    def cost_per_thousand(self) -> Number:
        """List price of a thousand answered requests, in USD."""
        cost = self.collection["cost"]
        one = as_number(cost["usd_per_request"])
        return Number(None if one.value is None else 1000 * one.value, cost["n"], cost["of"], why=one.why)


@frozen
class Section:
    """The runs of one kind of task."""

    kind: str
    task: Mapping[str, Any]
    runs: tuple[Scored, ...]

    @property
    def draws(self) -> int:
        """How many draws of the task there are."""
        return len({run.requests_digest for run in self.runs})


@frozen
class Spread:
    """Mean and sample standard deviation over the runs of a configuration."""

    mean: float | None
    deviation: float | None
    runs: int
    infinite: int = 0


def as_number(content: Mapping[str, Any]) -> Number:
    """A number as the scores write it."""
    value = content["value"]
    return Number(
        math.inf if value == "inf" else None if value is None else float(value),
        content.get("n"),
        content.get("of"),
        content.get("infinite", 0),
        _end(content.get("low")),
        _end(content.get("high")),
        str(content.get("undefined", "")),
    )


def _end(value: object) -> float | None:
    if value == "inf":
        return math.inf
    return float(value) if isinstance(value, int | float) else None


def sections(runs: Sequence[Scored]) -> list[Section]:
    """The runs by kind of task, in the order in which the kinds first occur; colours by their place in it."""
    found: dict[str, list[Scored]] = {}
    for run in runs:
        found.setdefault(_text((run.kind, dict(run.task))), []).append(run)
    return [
        Section(group[0].kind, group[0].task, tuple(evolve(run, color=place) for place, run in enumerate(group)))
        for group in found.values()
    ]


def configurations(section: Section) -> list[tuple[Scored, ...]]:
    """The runs that differ in nothing but the draw of their task; a task that was asked twice stays by itself."""
    found: dict[str, list[Scored]] = {}
    for run in section.runs:
        keys = ("backend", "model", "endpoint", "step", "settings")
        found.setdefault(_text([run.run[key] for key in keys]), []).append(run)
    groups: list[tuple[Scored, ...]] = []
    for members in found.values():
        digests = {run.requests_digest for run in members}
        groups += [tuple(members)] if len(digests) == len(members) else [(run,) for run in members]
    return groups


def group_name(group: Sequence[Scored]) -> str:
    """What a configuration is called: by its run, or by the name that its runs share."""
    if len(group) == 1:
        return group[0].label
    names = dict.fromkeys(str(run.run["name"]) for run in group)
    return f"{', '.join(names)} ({len(group)} draws)"


def spread(values: Sequence[Number]) -> Spread:
    """Mean ± sample s.d. of the runs that have a value; an infinite one makes the mean infinite.

    Claim: F.seeds
    """
    known = [number.value for number in values if number.value is not None]
    infinite = sum(math.isinf(value) for value in known)
    if not known:
        return Spread(None, None, 0)
    if infinite:
        return Spread(math.inf, None, len(known), infinite)
    mean, deviation = seed_summary(known)
    return Spread(mean, None if isinstance(deviation, Undefined) else deviation, len(known))


def with_labels(contents: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Scored]:
    """Runs with labels that differ: the run's name, or its folder's where several runs have that name."""
    names = [str(content["run"]["name"]) for _, content in contents]
    labels = [folder if names.count(name) > 1 else name for name, (folder, _) in zip(names, contents, strict=True)]
    labels = [f"{label} #{place + 1}" if labels.count(label) > 1 else label for place, label in enumerate(labels)]
    return [Scored(content, label) for label, (_, content) in zip(labels, contents, strict=True)]


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
