"""RUN/scores.json: what a run amounts to, with the digests of everything that it was computed from.

Written under a temporary name first, so that no half file is ever read. `stale_inputs` says which inputs are no longer
the ones that were scored. What is not here: the figures (`study.scores`).
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exactworlds.errors import InvalidSpec, Problem, UnreadableFile
from exactworlds.files.requests import REQUESTS
from exactworlds.files.run import LEDGER, RUN, RunInfo
from exactworlds.files.strict_json import read_json
from exactworlds.files.targets import FOLDER, ORIGIN, TARGETS
from exactworlds.files.task import MANIFEST

__all__ = [
    "FORMAT",
    "SCORES",
    "file_digest",
    "input_digests",
    "read_scores",
    "stale_inputs",
    "task_folder",
    "write_scores",
]

SCORES, FORMAT = "scores.json", "exactworlds/scores/1"


def task_folder(run: Path, info: RunInfo) -> Path:
    """The task of a run; its place is written relative to the run's folder."""
    task = run / info.task
    if not (task / MANIFEST).is_file():
        raise UnreadableFile(task / MANIFEST, f"does not exist; {RUN} of {run} names its task {info.task}")
    return task


def file_digest(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        raise UnreadableFile(file, "does not exist") from None
    except OSError as error:
        raise UnreadableFile(file, f"cannot be read ({error.strerror})") from None


def input_digests(run: Path, task: Path) -> dict[str, str]:
    """The digest of everything that scores depend on, by its place in the run or the task."""
    places = {
        RUN: run / RUN,
        LEDGER: run / LEDGER,
        MANIFEST: task / MANIFEST,
        REQUESTS: task / REQUESTS,
        f"{FOLDER}/{TARGETS}": task / FOLDER / TARGETS,
        f"{FOLDER}/{ORIGIN}": task / FOLDER / ORIGIN,
    }
    return {name: file_digest(file) for name, file in places.items()}


def write_scores(run: Path, content: Mapping[str, Any]) -> Path:
    """Writes the scores of a run; the same content gives the same bytes."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    try:
        handle, name = tempfile.mkstemp(prefix=f".{SCORES}.", suffix=".partial", dir=run)
        part = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            part.chmod(0o644)
            part.replace(run / SCORES)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise UnreadableFile(run / SCORES, f"cannot be written ({error.strerror})") from None
    return run / SCORES


def read_scores(run: Path) -> dict[str, Any]:
    """The scores of a run folder, as they were written."""
    file = run / SCORES
    if run.is_dir() and not file.exists():
        raise UnreadableFile(file, "does not exist; run `exactworlds score` first")
    content = read_json(file)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else content
        raise InvalidSpec(file, [Problem("format", f"found {found!r}, expected {FORMAT!r}")])
    return content


def stale_inputs(scores: Mapping[str, Any], digests: Mapping[str, str]) -> list[str]:
    """The inputs that are not what was scored."""
    scored = scores.get("inputs")
    if not isinstance(scored, Mapping):
        return list(digests)
    return [name for name, digest in digests.items() if scored.get(name) != digest]
