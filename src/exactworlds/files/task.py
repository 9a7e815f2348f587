"""Writing a task folder: under a temporary name, line by line, and under its own name only when it is whole."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from exactworlds.errors import UnreadableFile, UsageError
from exactworlds.files.requests import MANIFEST, REQUESTS
from exactworlds.files.strict_json import json_line
from exactworlds.files.targets import FOLDER, ORIGIN, TARGETS

__all__ = ["MANIFEST", "TaskWriter", "new_task"]

_BATCH = 10_000


class TaskWriter:
    """Takes requests and targets one by one; `finish` writes the rest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / FOLDER).mkdir()
        self._requests = _Lines(folder / REQUESTS)
        self._targets = _Lines(folder / FOLDER / TARGETS)
        self._tables = _tables(folder)

    def add(self, request: Mapping[str, Any], target: Mapping[str, Any]) -> None:
        """One request and its target, on the same line of their files."""
        self._requests.add(request)
        self._targets.add(target)
        for table, row in zip(self._tables, (request, target), strict=False):
            table.add(row)

    def abandon(self) -> None:
        """Closes what is open; what could not be written is lost with the folder anyway."""
        parts: list[_Lines | _Table] = [self._requests, self._targets, *self._tables]
        for part in parts:
            with contextlib.suppress(OSError):
                part.abandon()

    def finish(self, manifest: Mapping[str, Any], origin: Mapping[str, Any], card: str) -> None:
        """The manifest (with the digest of the requests), the origin (with that of the targets), and the card."""
        for table in self._tables:
            table.close()
        whole = {**manifest, "requests_sha256": self._requests.close()}
        apart = {**origin, "targets_sha256": self._targets.close()}
        _write(self.folder / MANIFEST, json_line(whole))
        _write(self.folder / FOLDER / ORIGIN, json_line(apart))
        _write(self.folder / "README.md", card)


@contextmanager
def new_task(out: Path) -> Iterator[TaskWriter]:
    """A writer for a folder that does not exist yet; whatever goes wrong, nothing is left under its name."""
    if out.exists():
        raise UsageError(f"{out} exists already, expected the name of a new folder")
    temporary: Path | None = None
    writer: TaskWriter | None = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
        writer = TaskWriter(temporary)
        yield writer
        temporary.chmod(0o755)
        temporary.rename(out)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
        reason = "there is no room for it" if full else error.strerror or str(error)
        raise UnreadableFile(out, f"cannot be written ({reason}); nothing was kept") from None
    finally:
        if writer is not None:
            writer.abandon()
        if temporary is not None and temporary.exists():
            shutil.rmtree(temporary, ignore_errors=True)


class _Lines:
    """A JSON-lines file that knows its digest."""

    def __init__(self, file: Path) -> None:
        self._stream = file.open("wb")
        self._digest = hashlib.sha256()

    def add(self, content: Mapping[str, Any]) -> None:
        data = json_line(content).encode()
        self._digest.update(data)
        self._stream.write(data)

    def close(self) -> str:
        with self._stream:
            self._stream.flush()
            os.fsync(self._stream.fileno())
        return self._digest.hexdigest()

    def abandon(self) -> None:
        self._stream.close()


class _Table(Protocol):
    def add(self, row: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...

    def abandon(self) -> None: ...


class _ParquetTable:
    """The same rows as a Parquet file, written in batches."""

    def __init__(self, file: Path, arrow: Any, parquet: Any) -> None:
        self._file, self._arrow, self._parquet = file, arrow, parquet
        self._rows: list[Mapping[str, Any]] = []
        self._writer: Any = None

    def add(self, row: Mapping[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) >= _BATCH:
            self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def abandon(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def _flush(self) -> None:
        schema = self._writer.schema if self._writer is not None else None
        table = self._arrow.Table.from_pylist(list(self._rows), schema=schema)
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)
        self._rows.clear()


def _tables(folder: Path) -> Sequence[_Table]:
    """Parquet beside the JSON lines where pyarrow (the extra `data`) is installed."""
    try:
        import pyarrow  # noqa: PLC0415  # optional
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        return ()
    files = (folder / "requests.parquet", folder / FOLDER / "targets.parquet")
    return [_ParquetTable(file, pyarrow, pyarrow.parquet) for file in files]


def _write(file: Path, text: str) -> None:
    with file.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
