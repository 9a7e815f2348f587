"""Golden files: canonical JSON that pins values, read strictly and written in one step.

A cell is `published` (a printed value, changed only by an erratum), `derived` (obtained without this package) or
`computed` (a regression pin, bound to the world's law digest). A bad write leaves the old file as it was. What is not
here: comparing (`golden.check`) and changing (`golden.update`).
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Final, Literal

from attrs import asdict, frozen

from exactworlds.errors import GoldenError, Problem, UnreadableFile, shorten
from exactworlds.files.strict_json import parse_json
from exactworlds.spec.reading import read_bytes, structure

__all__ = ["FORMAT", "Change", "GoldenCell", "GoldenFile", "read_golden", "write_golden"]

FORMAT: Final = "exactworlds/golden/1"


@frozen
class Change:
    """What a cell was before, when it was changed, and why."""

    was: str
    date: str
    reason: str


@frozen
class GoldenCell:
    """One pinned value: `id` is unique in the file, `quantity` says what is computed to compare with it."""

    id: str
    quantity: str
    claim: str
    kind: Literal["published", "derived", "computed"]
    value: str
    history: tuple[Change, ...] = ()


@frozen
class GoldenFile:
    """The pinned values of one subject; numeric cells are bound to the digest `law`, memo cells to `text` as well."""

    format: Literal["exactworlds/golden/1"]
    subject: str
    law: str | None
    text: str | None
    cells: tuple[GoldenCell, ...]
    digest_history: tuple[Change, ...] = ()


def read_golden(file: Path) -> GoldenFile:
    """A golden file, or `GoldenError`: a missing or damaged one never passes."""
    try:
        data = read_bytes(file)
    except UnreadableFile as error:
        raise GoldenError(f"{file}: the golden file {error.reason}") from None
    try:
        raw = parse_json(data.decode("utf-8"), floats=False)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise GoldenError(f"{file}: not a golden file: {error}") from None
    problems: list[Problem] = []
    golden = structure(raw, GoldenFile, "", problems)
    if golden is None:
        raise GoldenError("\n".join(f"{file}: {problem}" for problem in problems))
    seen: set[str] = set()
    for cell in golden.cells:
        if cell.id in seen:
            raise GoldenError(f"{file}: found the cell {shorten(cell.id)} twice, expected each once")
        seen.add(cell.id)
    return golden


def write_golden(file: Path, golden: GoldenFile) -> None:
    """Writes canonical JSON under a temporary name, syncs it, reads it back, and only then takes the file's name."""
    text = json.dumps(asdict(golden), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".rej", dir=file.parent)
    except OSError as error:
        raise GoldenError(f"{file}: cannot be written ({error.strerror})") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if read_golden(temporary) != golden:
            raise GoldenError(f"{file}: what was written does not read back; the old file was kept")
        temporary.chmod(0o644)
        temporary.replace(file)
    except OSError as error:
        raise GoldenError(f"{file}: cannot be written ({error.strerror}); the old file was kept") from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
