"""The summary of a report as Markdown, for a pull request or a log."""

from __future__ import annotations

from collections.abc import Sequence

from exactworlds import __version__
from exactworlds.report import tables, words
from exactworlds.report.page import overview_of, section_views
from exactworlds.report.scored import Scored, sections
from exactworlds.report.values import Table

__all__ = ["markdown"]


def markdown(runs: Sequence[Scored]) -> str:
    """What the page says first, its summary tables with what their columns mean, and the digests."""
    found = sections(runs)
    lines = [f"# {words.title(found)}", "", *(f"{sentence}\n" for sentence in words.lead(found))]
    first = overview_of(runs)
    lines += _table(first) if first is not None else []
    for view in section_views(runs):
        lines += [f"## {view.heading}", "", view.asked, ""]
        lines += [f"- **{_text(finding.label)}:** {_text(finding.words)}" for finding in view.findings]
        lines += ["", *(f"> {_text(warning)}\n" for warning in view.warnings)]
        for table in (*view.tables, *view.below):
            lines += _table(table)
        for chart in view.charts:
            if chart.note:
                lines += [f"{chart.title}: {_text(chart.note)}", ""]
    lines += ["## Sources", "", *_table(tables.provenance_table(runs)), *_table(tables.digests_table(runs))]
    lines.append(f"Made by exactworlds {__version__}.")
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def _table(table: Table) -> list[str]:
    lines = [f"**{table.caption}**", ""]
    lines.append(f"| {' | '.join(_text(column.name) for column in table.columns)} |")
    lines.append(f"|{'|'.join('---:' if column.numeric else '---' for column in table.columns)}|")
    lines += [f"| {' | '.join(_text(words) for words in row)} |" for row in table.texts()]
    noted = [f"{column.name}: {column.about}" for column in table.columns if column.about]
    return [*lines, "", *([f"<sub>{_text('; '.join(noted))}.</sub>", ""] if noted else [])]


def _text(words: str) -> str:
    """Words that stay in their cell."""
    return words.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
