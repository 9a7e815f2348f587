"""The ledger of a run: append-only JSON lines, an intent before each send, a record of both sides after it.

    session   a process began to ask
    intent    a request is about to be sent; durable before it is
    record    what was sent and what came back, byte for byte; durable before it is looked at
    unsent    a request that is never sent, and why
    closed    a session ended, and why

A line that has no end is the attempt in flight of a process that was killed. It is never removed: the next session ends
it and says so with a `torn` line. Any other line that cannot be read is damage, and is an error. One process at a time
may write; the lock is the kernel's, so a killed process leaves none. What is not here: what answers mean (`collect`).
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from exactworlds.errors import InvalidSpec, Problem, UnreadableFile, UsageError
from exactworlds.files.strict_json import json_line, parse_json

__all__ = ["Entry", "Ledger", "as_bytes", "as_json", "read_ledger"]

KINDS = {
    "session": {"at"},
    "intent": {"id", "key", "attempt", "at"},
    "record": {"id", "key", "attempt", "at", "seconds", "status", "error", "request", "response"},
    "unsent": {"id", "key", "at", "reason", "detail"},
    "closed": {"at", "why"},
    "torn": {"at", "bytes"},
}
"""What each kind of line must have; more is allowed."""


@frozen
class Entry:
    """One line: its number, its kind and its fields."""

    line: int
    kind: str
    fields: dict[str, Any]


def read_ledger(file: Path) -> Iterator[Entry]:
    """The whole lines of a ledger, in order; a torn one is skipped, a damaged one is an error."""
    try:
        with file.open("rb") as stream:
            held: tuple[int, bytes, str] | None = None
            for number, raw in enumerate(stream, start=1):
                entry, fault = _parsed(number, raw)
                if held is not None and not (
                    entry and entry.kind == "torn" and entry.fields["bytes"] == len(held[1]) - 1
                ):
                    raise InvalidSpec(file, [Problem(f"line {held[0]}", held[2])])
                held = None
                if entry is not None:
                    yield entry
                elif raw.endswith(b"\n"):
                    held = (number, raw, fault)
            if held is not None:
                raise InvalidSpec(file, [Problem(f"line {held[0]}", held[2])])
    except OSError as error:
        raise UnreadableFile(file, f"cannot be read ({error.strerror})") from None


def _parsed(number: int, raw: bytes) -> tuple[Entry | None, str]:
    try:
        content = parse_json(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return None, f"not a JSON line: {error}"
    kind = content.pop("type", None) if isinstance(content, dict) else None
    if kind not in KINDS:
        return None, f"found a line of the kind {kind!r}, expected one of {', '.join(KINDS)}"
    missing = sorted(KINDS[kind] - set(content))
    if missing:
        return None, f"found no {', '.join(missing)}, expected every field of a line of the kind {kind}"
    return Entry(number, kind, content), ""


class Ledger:
    """The one writer of a ledger. `write` makes lines durable; they are whole or they are the torn last one."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise UnreadableFile(file, f"cannot be written ({error.strerror})") from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise UsageError(f"{file} is being written by another process, expected one at a time") from None
        _sync_folder(file.parent)

    def mend(self, at: str) -> int:
        """Ends a last line that has no end; returns its length, 0 if there was none."""
        size = os.fstat(self._descriptor).st_size
        tail = b""
        while size > len(tail) and b"\n" not in tail:
            step = min(max(len(tail), 65_536), size - len(tail))
            tail = os.pread(self._descriptor, step, size - len(tail) - step) + tail
        torn = tail.rpartition(b"\n")[2]
        if not torn:
            return 0
        whole, _ = _parsed(0, torn)
        self.write(b"\n" if whole is not None else b"\n" + as_line("torn", at=at, bytes=len(torn)))
        return 0 if whole is not None else len(torn)

    def write(self, lines: bytes) -> None:
        """Appends, and returns when the lines are on the disk."""
        try:
            rest = memoryview(lines)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise UnreadableFile(
                self.file, f"cannot be written ({error.strerror}); nothing was lost before it"
            ) from None

    def close(self) -> None:
        """Gives up the lock."""
        os.close(self._descriptor)


def as_line(kind: str, **fields: Any) -> bytes:
    """One line."""
    return json_line({"type": kind, **fields}).encode()


def as_json(raw: bytes) -> str | dict[str, str]:
    """Bytes as JSON: text where they are UTF-8, base64 where not, so that nothing is lost."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode("ascii")}
    return text


def as_bytes(value: Any) -> bytes:
    """The bytes that `as_json` was given."""
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, dict) and isinstance(value.get("base64"), str):
        return base64.b64decode(value["base64"], validate=True)
    raise ValueError(f"found {json.dumps(value)[:80]}, expected text or base64")


def _sync_folder(folder: Path) -> None:
    """The name of a new file is durable too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
