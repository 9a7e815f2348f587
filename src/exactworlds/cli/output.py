"""What every command shares: where text goes, how errors end, how long work is shown."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from exactworlds.engine.admit import Progress as Told

__all__ = ["print_json", "print_lines", "progress"]

_STYLES = {"✓": "green", "✗": "bold red", "·": "dim"}
_PLAIN_EVERY = 5.0  # seconds between plain progress lines


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines as they are; on a terminal, the marks are coloured."""
    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        mark = line.lstrip()[:1]
        console.print(line, style=_STYLES.get(mark), markup=False)


def print_json(content: Any) -> None:
    """Prints one JSON document."""
    print(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))


@contextmanager
def progress(subject: str) -> Iterator[Told]:
    """A progress bar on a terminal, and a plain line now and then elsewhere; both on standard error."""
    if sys.stderr.isatty():
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        with bar:
            task = bar.add_task(subject)

            def show(what: str, done: int, total: int) -> None:
                bar.update(task, description=f"{subject}: {what}", completed=done, total=total)

            yield show
        return
    last = [time.monotonic()]

    def tell(what: str, done: int, total: int) -> None:
        if time.monotonic() - last[0] >= _PLAIN_EVERY:
            last[0] = time.monotonic()
            print(f"{subject}: {what} {done:,} of {total:,}", file=sys.stderr, flush=True)

    yield tell
