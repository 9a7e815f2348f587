"""Targets: the exact answers of a task, its seed and its digests, in a folder of their own that no collector opens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from exactworlds.errors import InvalidSpec, Problem
from exactworlds.files.strict_json import read_json, read_lines
from exactworlds.rational import parse_exact
from exactworlds.spec.reading import structure

__all__ = [
    "FOLDER",
    "ORIGIN",
    "TARGETS",
    "ContractTarget",
    "OptionTarget",
    "Target",
    "read_contract_targets",
    "read_origin",
    "read_targets",
]

FOLDER, TARGETS, ORIGIN = "targets", "targets.jsonl", "origin.json"


@frozen
class Target:
    """The exact answer of one request; `posterior` is p*(1|x) as a fraction, `digest` the SHA-256 of the memo."""

    id: str
    index: int
    split: str
    visible: Mapping[str, str]
    label: str
    positive: bool
    posterior: str
    digest: str


def read_targets(task: Path) -> Iterator[Target]:
    """The targets of a task, in file order."""
    file = task / FOLDER / TARGETS
    for number, raw in read_lines(file):
        problems: list[Problem] = []
        content = dict(raw) if isinstance(raw, Mapping) else raw
        shown = content.pop("posterior_float", None) if isinstance(content, dict) else None
        target = structure(content, Target, f"line {number}", problems)
        if target is None:
            raise InvalidSpec(file, problems)
        if shown != float(parse_exact(target.posterior)):
            what = f"found {shown} beside {target.posterior}, expected the nearest float"
            raise InvalidSpec(file, [Problem(f"line {number}.posterior_float", what)])
        yield target


@frozen
class OptionTarget:
    """What one option means: its event in the notation, its canonical outcome, its exact probability."""

    key: str
    event: str
    outcome: str
    posterior: str


@frozen
class ContractTarget:
    """The exact answer of one contract request.

    `realised` is the key of the option that holds in the root's one drawn cell; None where that cell is outside of what
    a conditional takes as given. `digest` is the SHA-256 of the state.
    """

    id: str
    root: str
    variant: str
    stratum: str
    index: int
    options: tuple[OptionTarget, ...]
    realised: str | None
    digest: str


def read_contract_targets(task: Path) -> Iterator[ContractTarget]:
    """The targets of a task of contracts, in file order."""
    file = task / FOLDER / TARGETS
    for number, raw in read_lines(file):
        problems: list[Problem] = []
        shown: list[Any] = []
        content = raw
        if isinstance(raw, Mapping) and isinstance(raw.get("options"), list):
            options = [dict(option) if isinstance(option, Mapping) else option for option in raw["options"]]
            shown = [option.pop("posterior_float", None) for option in options if isinstance(option, dict)]
            content = {**raw, "options": options}
        target = structure(content, ContractTarget, f"line {number}", problems)
        if target is None:
            raise InvalidSpec(file, problems)
        for place, (option, nearest) in enumerate(zip(target.options, shown, strict=True)):
            if nearest != float(parse_exact(option.posterior)):
                what = f"found {nearest} beside {option.posterior}, expected the nearest float"
                raise InvalidSpec(file, [Problem(f"line {number}.options[{place}].posterior_float", what)])
        yield target


def read_origin(task: Path) -> dict[str, Any]:
    """Seed, digests and event map of a task."""
    return dict(read_json(task / FOLDER / ORIGIN))
