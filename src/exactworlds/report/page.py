"""One self-contained HTML page for a set of scored runs.

The template, the style and the script lie in `template/`; the page asks nothing of anyone, and says so to the browser.
What is not here: the values of its tables and charts (`tables`, `case_charts`, `contract_charts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen
from jinja2 import Environment, PackageLoader, StrictUndefined

from exactworlds import __version__
from exactworlds.report import tables, words
from exactworlds.report.case_charts import case_charts
from exactworlds.report.charts import Chart
from exactworlds.report.contract_charts import contract_charts
from exactworlds.report.scored import Scored, Section, sections
from exactworlds.report.svg import render, swatch
from exactworlds.report.values import Table

__all__ = ["SectionView", "overview_of", "page", "section_views"]


@frozen
class Finding:
    """What came out of one run."""

    label: str
    words: str


@frozen
class SectionView:
    """All that is shown of a section; `below` are tables after the charts, `more` the long ones, folded."""

    id: str
    heading: str
    asked: str
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]
    below: tuple[Table, ...]
    more: tuple[Table, ...]


def page(runs: Sequence[Scored]) -> str:
    """The page; the same scores give the same text."""
    views = section_views(runs)
    environment = Environment(
        loader=PackageLoader("exactworlds.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    loader: Any = environment.loader
    style, script = (loader.get_source(environment, name)[0] for name in ("page.css", "page.js"))
    found = environment.get_template("page.html.jinja").render(
        title=words.title(sections(runs)),
        lead=words.lead(sections(runs)),
        overview=overview_of(runs),
        sections=views,
        sources=[tables.provenance_table(runs), tables.digests_table(runs)],
        version=__version__,
        count=len(runs),
        style=style,
        script=script,
        render=render,
        swatch=swatch,
    )
    return found.lstrip() + "\n"


def overview_of(runs: Sequence[Scored]) -> Table | None:
    """One row a configuration, where the summaries of the sections do not say as much."""
    return tables.overview([(words.heading(section), section) for section in sections(runs)])


def section_views(runs: Sequence[Scored]) -> list[SectionView]:
    """What is shown of each kind of task, in order."""
    return [_view(section, f"s{place}") for place, section in enumerate(sections(runs))]


def _view(section: Section, prefix: str) -> SectionView:
    is_cases = section.kind == "cases"
    summary = tables.case_summary(section, prefix) if is_cases else tables.contract_summary(section, prefix)
    seeds = tables.seeds_table(section, prefix)
    return SectionView(
        id=prefix,
        heading=words.heading(section),
        asked=words.asked(section),
        findings=tuple(Finding(run.label, words.finding(run)) for run in section.runs),
        warnings=tuple(words.warnings(section)),
        tables=(summary, *([seeds] if seeds is not None else [])),
        charts=tuple(case_charts(section, prefix) if is_cases else contract_charts(section, prefix)),
        below=(tables.ends_table(section, prefix),),
        more=(
            *([] if is_cases else tables.post_hoc_tables(section, prefix)),
            tables.figures_table(section, prefix),
        ),
    )
