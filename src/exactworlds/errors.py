"""Everything that can be wrong with what a user hands over, as typed facts.

Each error knows its own facts (file, place, what was found, what was expected) and builds its own sentence from them.
A file can have many faults at once: they are collected as `Problem`s and raised together. What is not here: failed
checks. A number that does not match is a result (exit code 1), not an error (exit code 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = [
    "ExactworldsError",
    "GoldenError",
    "InvalidArgument",
    "InvalidContract",
    "InvalidSpec",
    "NotFound",
    "Problem",
    "StateSpaceTooLarge",
    "UndefinedConditional",
    "UnreadableFile",
    "UsageError",
    "shorten",
]

LONGEST_QUOTE = 60


def shorten(found: object, limit: int = LONGEST_QUOTE) -> str:
    """What was found, quoted, and cut in the middle when it is long.

    >>> shorten("x" * 100, 20)
    "'xxxxxxxxx…xxxxxxxxx' (100 characters)"
    """
    text = found if isinstance(found, str) else repr(found)
    if len(text) <= limit:
        return repr(text) if isinstance(found, str) else text
    half = (limit - 1) // 2
    cut = f"{text[:half]}…{text[-half:]}"
    return f"{cut!r} ({len(text)} characters)"


class ExactworldsError(Exception):
    """The base of every error that the package raises on purpose; its text is one clear message."""


@dataclass(frozen=True, order=True)
class Problem:
    """One fault at one place: `where` is a key path ("attribute.rate.probability[1]") or a line and column."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


class UnreadableFile(ExactworldsError):
    """A file cannot be read or written at all (missing, a directory, no permission, not UTF-8)."""

    def __init__(self, file: object, reason: str) -> None:
        self.file, self.reason = str(file), reason
        super().__init__(f"{self.file}: {reason}")


class InvalidSpec(ExactworldsError):
    """A file was read, and these are all the faults that were found in it."""

    def __init__(self, file: object, problems: Iterable[Problem]) -> None:
        self.file = str(file)
        self.problems: Sequence[Problem] = tuple(problems)
        super().__init__("\n".join(f"{self.file}: {problem}" for problem in self.problems))


class StateSpaceTooLarge(ExactworldsError):
    """A world has more states than the engines accept; nothing was allocated."""

    def __init__(self, count: int, limit: int) -> None:
        self.count, self.limit = count, limit
        super().__init__(f"the world has {count:,} states without its residual; the engines accept at most {limit:,}")


class NotFound(ExactworldsError):
    """A name was asked for that does not exist; the known names are listed."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        listed = ", ".join(self.known) or "none"
        super().__init__(f"there is no {kind} {shorten(name)}; known: {listed}")


class InvalidArgument(ExactworldsError, ValueError):
    """A function was called with a value outside its domain."""

    def __init__(self, argument: str, found: object, expected: str, index: object = None) -> None:
        self.argument, self.found, self.expected, self.index = argument, found, expected, index
        place = argument if index is None else f"{argument}[{index}]"
        super().__init__(f"{place}: found {shorten(found)}, expected {expected}")


class GoldenError(ExactworldsError):
    """A golden file is missing, damaged, or was asked for something that it refuses."""


class UsageError(ExactworldsError):
    """A command was called with words that do not go together."""


class InvalidContract(ExactworldsError, ValueError):
    """A world, event, partition or report breaks its contract; these are all the faults that were found."""

    def __init__(self, subject: str, problems: Iterable[Problem]) -> None:
        self.subject = subject
        self.problems: Sequence[Problem] = tuple(problems)
        super().__init__("\n".join(f"{subject}: {problem}" for problem in self.problems))


class UndefinedConditional(ExactworldsError, ArithmeticError):
    """A probability was asked for given an event of mass zero: it is no number."""

    def __init__(self, event: str, given: str) -> None:
        self.event, self.given = event, given
        super().__init__(f"{event} given {given}: found P({given}) = 0, expected a condition of positive mass")
