"""Run folders: RUN/run.json says who was asked and how, RUN/ledger.jsonl what went over the wire.

`run.json` is written once, before the first request, and never changed: a run with other settings is another run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from attrs import asdict, field, frozen

from exactworlds.errors import InvalidSpec, Problem, UnreadableFile, UsageError
from exactworlds.files.strict_json import read_json
from exactworlds.spec.reading import structure

__all__ = ["LEDGER", "RUN", "RunInfo", "create_run", "read_run"]

RUN, LEDGER, FORMAT = "run.json", "ledger.jsonl", "exactworlds/run/1"


@frozen
class RunInfo:
    """Who was asked, and how.

    `task` is the task folder relative to the run folder, `requests_sha256` the digest of the requests that are asked,
    `step` the precision that the backend declares ("0.01" for two decimals, "0" for exact reports), `endpoint` a URL
    without user or query, or `in-process`. `settings` is what else the backend was told, as text. Prices are found by
    (`backend`, `model`). No key and no path of a person's machine is in here.
    """

    name: str
    backend: str
    model: str
    endpoint: str
    step: str
    task: str
    requests_sha256: str
    exactworlds: str
    settings: Mapping[str, str] = field(factory=dict)
    format: str = FORMAT


def read_run(run: Path) -> RunInfo:
    """The facts of a run folder."""
    problems: list[Problem] = []
    info = structure(read_json(run / RUN), RunInfo, "", problems)
    if info is not None and info.format != FORMAT:
        problems.append(Problem("format", f"found {info.format!r}, expected {FORMAT!r}"))
    if info is None or problems:
        raise InvalidSpec(run / RUN, problems)
    return info


def create_run(run: Path, info: RunInfo) -> None:
    """Makes a run folder, or finds that it is one of the same run; one of another run is refused."""
    if (run / RUN).exists():
        old = asdict(read_run(run))
        differing = [
            f"{key}: found {old[key]!r}, expected {value!r}" for key, value in asdict(info).items() if old[key] != value
        ]
        if differing:
            raise UsageError(f"{run} is another run: {'; '.join(differing)}; use a new folder")
        return
    if run.exists() and any(run.iterdir()):
        raise UsageError(f"{run} is not empty and has no {RUN}, expected a run folder or a new name")
    try:
        run.mkdir(parents=True, exist_ok=True)
        part = run / f".{RUN}.partial"
        with part.open("w", encoding="utf-8") as stream:
            stream.write(json.dumps(asdict(info), ensure_ascii=False, indent=1) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        part.rename(run / RUN)
    except OSError as error:
        raise UnreadableFile(run, f"cannot be written ({error.strerror})") from None
