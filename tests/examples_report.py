"""`--examples-report FILE`: how many examples each property had, written when pytest ends.

Hypothesis leaves a text of statistics on each test item; it is condensed to one line a property. A text that is not
understood is an error, so that a new version of Hypothesis cannot empty the report in silence.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from hypothesis_profiles import most_examples

_COUNTS = re.compile(r"- (\d+) passing, (\d+) failing, and (\d+) invalid test cases")
_REASON = re.compile(r"- Stopped because (.+)")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hypothesis")
    group.addoption("--examples-report", type=Path, metavar="FILE", help="write how many examples each property had")


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--examples-report")
    if file:
        config.pluginmanager.register(ExamplesReport(file))


class Counts(NamedTuple):
    """Of one property."""

    passed: int
    failed: int
    invalid: int
    reason: str


class ExamplesReport:
    """Collects the counts of every property and writes them as tab-separated lines."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.counts: dict[str, Counts] = {}

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        text = getattr(item, "hypothesis_statistics", None)
        if call.when == "call" and text:
            self.counts[item.nodeid] = read_statistics(text)

    def pytest_sessionfinish(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(self.table(), encoding="utf-8")

    def table(self) -> str:
        counts = self.counts.values()
        passed, failed, invalid = (
            sum(number)
            for number in ([c.passed for c in counts], [c.failed for c in counts], [c.invalid for c in counts])
        )
        header = (
            f"# {len(self.counts)} properties, {passed} examples passed, {failed} failed, {invalid} were invalid; "
            f"the profile allows {most_examples()} a property\n"
        )
        lines = [f"{p}\t{f}\t{i}\t{test}\t{why}\n" for test, (p, f, i, why) in sorted(self.counts.items())]
        return "".join([header, "passed\tfailed\tinvalid\ttest\tstopped because\n", *lines])


def read_statistics(text: str) -> Counts:
    """How many examples passed, failed and were invalid, over all phases, and why Hypothesis stopped."""
    reason, counts = _REASON.search(text), _COUNTS.findall(text)
    if not reason or text.count("passing") != len(counts):
        raise ValueError(f"these statistics of Hypothesis are not understood:\n{text}")
    passed, failed, invalid = (sum(int(entry[place]) for entry in counts) for place in range(3))
    return Counts(passed, failed, invalid, reason[1])
