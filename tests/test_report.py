"""The report: what stands in it is what was scored, what is unknown says so, and stale scores are refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.cli.reporting import fresh_scores
from exactworlds.errors import UsageError
from exactworlds.files.scores import read_scores
from exactworlds.metrics import reject_curve, seed_summary
from exactworlds.report.case_charts import frontier_chart
from exactworlds.report.charts import Axis, Chart, Point, Series
from exactworlds.report.curves import curve_of, line_points
from exactworlds.report.images import figure_of
from exactworlds.report.markdown import markdown
from exactworlds.report.page import overview_of, page, section_views
from exactworlds.report.scored import Number, Scored, configurations, sections, spread, with_labels
from exactworlds.report.svg import render, tick_texts, ticks
from exactworlds.report.tables import case_summary, figures_table, seeds_table
from exactworlds.report.values import Table, percent, plain
from exactworlds.study.scores import curve_content
from run_makers import case_ends, case_task, contract_ends, contract_task, make_run


def half(q: Fraction, place: int) -> Fraction | None:
    """Halfway between the exact probability and one half; every ninth answer is rejected."""
    return None if place % 9 == 0 else (q + Fraction(1, 2)) / 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two draws of a task, one of them by a model without a price, and one of a cohort."""
    root = tmp_path_factory.mktemp("report")
    first, second = case_task(root / "first"), case_task(root / "second", seed="314159265")
    contracts = contract_task(root / "contracts")
    make_run(root / "jev-1", first, case_ends(first, half))
    make_run(root / "jev-2", second, case_ends(second, half))
    make_run(root / "kev", first, case_ends(first, lambda q, place: Fraction(place % 5, 4)), model="kev")
    make_run(root / "posterior", first, case_ends(first, lambda q, place: q), backend="reporter", model="posterior")
    make_run(root / "cohort", contracts, contract_ends(contracts, lambda variant, place, report: report))
    return root


NAMES = ("jev-1", "jev-2", "kev", "posterior", "cohort")


def runs(folder: Path, *names: str) -> list[Scored]:
    return with_labels([(name, read_scores(folder / name)) for name in names or NAMES])


def cells(table: Table, row: int) -> dict[str, str]:
    return {column.name: cell.text for column, cell in zip(table.columns, table.rows[row], strict=True)}


# --- tables ---------------------------------------------------------------------------------------------------------


def test_the_summary_has_the_scores_rounded_with_n_and_validity_beside_them(folder: Path) -> None:
    (section, _) = sections(runs(folder))
    table = case_summary(section, "s")
    assert len(table.rows) == 4
    content = read_scores(folder / "jev-1")
    shown = cells(table, 0)
    assert shown["n valid"] == "35 of 40"
    assert shown["validity"] == "87.5\u00a0%"
    assert shown["KL, clipped"] == f"{content['figures']['kl_nats_clipped_0.001']['value']:.4f}"
    accuracy = Fraction(content["figures"]["expected_accuracy"]["exact"])
    assert shown["expected accuracy"] == f"{float(100 * accuracy):.1f}\u00a0%"
    kev = read_scores(folder / "kev")["figures"]["kl_nats_unclipped"]
    assert cells(table, 2)["KL, unclipped"] == f"∞ ({kev['infinite']} of 40)"
    assert [cells(table, row)["USD per 1,000"] for row in range(4)] == ["0.0126", "0.0126", "unknown", "0"]


def test_raw_scores_stand_beside_the_main_ones_where_an_answer_was_rescaled(folder: Path, tmp_path: Path) -> None:
    task = case_task(tmp_path / "task")
    ends = [evolve(end, total=Fraction(99, 100)) for end in case_ends(task, lambda q, place: q)]
    content = read_scores(make_run(tmp_path / "coarse", task, ends))
    (section,) = sections(with_labels([("coarse", content)]))
    shown = cells(case_summary(section, "s"), 0)
    assert (shown["TV"], shown["TV, raw"]) == ("0", f"{content['raw_figures']['raw_total_variation']['value']:.4f}")
    (other, _) = sections(runs(folder))
    assert "TV, raw" not in cells(case_summary(other, "s"), 0)


def test_every_figure_of_every_run_is_listed(folder: Path) -> None:
    (section, cohort) = sections(runs(folder))
    assert [row[0].text for row in figures_table(section, "s").rows] == list(read_scores(folder / "kev")["figures"])
    assert [row[0].text for row in figures_table(cohort, "s").rows] == list(read_scores(folder / "cohort")["figures"])


def test_runs_that_differ_only_in_the_draw_are_summarised_by_mean_and_sample_deviation(folder: Path) -> None:
    (section, _) = sections(runs(folder))
    groups = [[run.label for run in group] for group in configurations(section)]
    assert groups == [["jev-1", "jev-2"], ["kev"], ["posterior"]]
    table = seeds_table(section, "s")
    assert table is not None
    values = [read_scores(folder / name)["figures"]["kl_nats_clipped_0.001"]["value"] for name in ("jev-1", "jev-2")]
    mean, deviation = seed_summary(values)
    assert cells(table, 0)["KL, clipped"] == f"{mean:.4f} ± {deviation:.4f}"
    assert cells(table, 0)["draws"] == "2"


def test_the_overview_has_one_row_a_configuration_over_all_tasks(folder: Path) -> None:
    table = overview_of(runs(folder))
    assert table is not None
    names = [row[0].text for row in table.rows]
    assert names == ["jev-1, jev-2 (2 draws)", "kev", "posterior", "cohort"]
    values = [read_scores(folder / name)["figures"]["kl_nats_clipped_0.001"]["value"] for name in ("jev-1", "jev-2")]
    mean, deviation = seed_summary(values)
    shown = cells(table, 0)
    assert (shown["KL, clipped"], shown["n valid"]) == (f"{mean:.4f} ± {deviation:.4f}", "70 of 80")
    assert shown["validity"] == "87.5\u00a0%"
    assert cells(table, 3)["TV of the distribution"] == "0"
    assert cells(table, 3)["KL, clipped"] == ""
    assert overview_of(runs(folder, "jev-1", "kev")) is None


def test_the_same_task_asked_twice_is_no_spread_over_draws(folder: Path) -> None:
    (section,) = sections(runs(folder, "jev-1", "jev-1"))
    assert [len(group) for group in configurations(section)] == [1, 1]
    assert seeds_table(section, "s") is None
    assert [run.label for run in section.runs] == ["jev-1 #1", "jev-1 #2"]


def test_an_infinite_run_makes_the_mean_infinite_and_has_no_deviation() -> None:
    found = spread([Number(1.0), Number(float("inf"))])
    assert (found.mean, found.deviation, found.infinite) == (float("inf"), None, 1)
    assert spread([Number(None)]).mean is None


# --- charts ---------------------------------------------------------------------------------------------------------


def test_a_run_of_unknown_cost_is_named_and_not_drawn_at_0(folder: Path) -> None:
    (section, _) = sections(runs(folder))
    chart = frontier_chart(section, "s")
    drawn = {series.name for series in chart.series}
    assert drawn == {"jev-1, jev-2 (2 draws)", "posterior"}
    assert "kev (no list price of this model is known)" in chart.note
    assert [cells(chart.table, row)["USD per 1,000 answers"] for row in range(3)] == ["0.01260", "unknown", "0"]


def test_reference_reporters_are_not_ranked(folder: Path) -> None:
    (section, _) = sections(runs(folder))
    table = frontier_chart(section, "s").table
    assert [cells(table, row)["on the frontier"] for row in range(3)] == ["yes", "no", "no"]


REPORTS = st.lists(
    st.tuples(st.integers(0, 20).map(lambda k: Fraction(k, 20)), st.integers(0, 7).map(lambda k: Fraction(k, 7))),
    min_size=1,
    max_size=6,
)


@given(REPORTS, st.integers(1, 999).map(lambda k: Fraction(k, 2000)))
def test_a_curve_of_the_scores_reads_as_the_exact_one(pairs: list[tuple[Fraction, Fraction]], cost: Fraction) -> None:
    p, q = [report for report, _ in pairs], [target for _, target in pairs]
    exact = reject_curve(policy="event", event=p, choice=p, target=q)
    read = curve_of(curve_content(exact))
    if all(abs(cost - x) > Fraction(1, 10**9) for x in exact.breakpoints):
        assert read.value(float(cost)) == pytest.approx(float(exact.value(cost)), abs=1e-12)
    places = [point.x for point in line_points(read, 10, "{x} {y}")]
    assert places == sorted(places)
    assert set(exact.breakpoints) <= {Fraction(x).limit_denominator(1000) for x in places}


@given(st.floats(-5, 5), st.floats(1e-3, 100))
def test_ticks_are_round_places_within_the_axis_and_their_texts_differ(low: float, width: float) -> None:
    found = ticks(Axis("x", low, low + width))
    assert all(low - 1e-6 * width <= tick <= low + width + 1e-6 * width for tick in found)
    assert len(set(tick_texts(found))) == len(found) >= 2


def test_a_chart_is_the_same_series_as_svg_and_as_a_figure(folder: Path) -> None:
    for view in section_views(runs(folder)):
        for chart in view.charts:
            svg = ET.fromstring(render(chart))
            titles = [title.text for title in svg.iter("title")]
            words = [point.words for series in chart.series for point in series.points if point.read]
            assert titles == words
            assert len(svg.findall(".//g[@data-series]")) == len(chart.series)
            legend = figure_of(chart).axes[0].get_legend_handles_labels()[1]
            assert legend == [series.name for series in chart.series]


def test_a_line_of_very_many_corners_keeps_its_ends_and_extremes() -> None:
    axis = Axis("x", 0, 1)
    points = tuple(Point(k / 20_000, (k * 7919 % 1000) / 1000, "", read=False) for k in range(20_001))
    line = Series("line", points, "line")

    def corners(series: Series) -> list[tuple[float, float]]:
        path = ET.fromstring(render(Chart("c", "t", "a", axis, axis, (series,), Table("n", "c", (), ())))).find(
            ".//path"
        )
        assert path is not None
        return [(float(x), float(y)) for x, _, y in (p.partition(" ") for p in path.attrib["d"][1:].split("L"))]

    few, whole = (
        corners(line),
        [place for part in range(20) for place in corners(Series("p", points[1000 * part :][:1001], "line"))],
    )
    assert len(few) < 4000 < len(whole)
    assert (few[0], few[-1]) == (whole[0], whole[-1])
    heights = [y for _, y in few]
    assert (min(heights), max(heights)) == (min(y for _, y in whole), max(y for _, y in whole))


def test_words_in_charts_are_escaped() -> None:
    axis = Axis("<x> & y", 0, 1)
    series = Series("a<b", (Point(0.5, 0.5, "1 < 2 & 3"),))
    svg = render(Chart("c", "t", "a", axis, axis, (series,), Table("n", "c", (), ())))
    assert [title.text for title in ET.fromstring(svg).iter("title")] == ["1 < 2 & 3"]


# --- the page -------------------------------------------------------------------------------------------------------


class Outline(HTMLParser):
    """Ids, what refers to them, addresses, and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.references: set[str] = set()
        self.addresses: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("aria-labelledby", "aria-describedby", "aria-controls"):
                self.references.add(value or "")
            if name in ("href", "src", "action", "data") and tag != "a":
                self.addresses.append(value or "")
            if name == "href" and tag == "a":
                self.references.add((value or "").removeprefix("#"))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def outline(text: str) -> Outline:
    found = Outline()
    found.feed(text)
    return found


def test_the_page_loads_nothing_and_its_references_lead_somewhere(folder: Path) -> None:
    text = page(runs(folder))
    found = outline(text)
    assert len(found.ids) == len(set(found.ids))
    assert found.references <= set(found.ids)
    assert found.addresses == ["data:,"]
    assert "url(http" not in text
    assert "@import" not in text
    assert len(text.encode()) < 3_000_000


def test_the_page_says_first_what_was_asked_of_whom_and_what_came_out(folder: Path) -> None:
    text = " ".join(outline(page(runs(folder))).words)
    assert (
        "2 models and 1 reference reporter were asked 2 × 40 cases of covert transfer (medium): “Was the tag encoded?”"
        in text
    )
    assert "1 model was asked 80 linked questions about 16 worlds (diagnostic)." in text
    assert "Closest to the exact probabilities is" in text


def test_the_page_has_the_digests_and_no_path_of_this_machine(folder: Path) -> None:
    text = page(runs(folder))
    for name in NAMES:
        for digest in read_scores(folder / name)["inputs"].values():
            assert digest in text
    assert str(folder) not in text
    assert str(Path.home()) + "/" not in text


def test_the_same_scores_give_the_same_page(folder: Path) -> None:
    assert page(runs(folder)) == page(runs(folder))


def test_names_are_escaped(folder: Path) -> None:
    content = read_scores(folder / "jev-1")
    content["run"]["name"] = "<img src=x onerror=alert(1)>"
    found = page(with_labels([("x", content)]))
    assert "<img" not in found
    assert "&lt;img" in found


def test_a_run_without_a_valid_answer_is_shown_as_such(tmp_path: Path) -> None:
    task = case_task(tmp_path / "task")
    run = make_run(tmp_path / "none", task, case_ends(task, lambda q, place: None))
    text = " ".join(outline(page(with_labels([("none", read_scores(run))]))).words)
    assert "there is nothing to score" in text
    assert "No answer was valid." in text


@pytest.mark.parametrize("answered", [(), ("event",), ("event", "canonical")])
def test_a_cohort_with_few_kinds_of_valid_answers_is_shown(answered: tuple[str, ...], tmp_path: Path) -> None:
    task = contract_task(tmp_path / "task")
    ends = contract_ends(task, lambda variant, place, report: report if variant in answered else None)
    content = read_scores(make_run(tmp_path / "few", task, ends))
    text = " ".join(outline(page(with_labels([("few", content)]))).words)
    assert f"{16 * len(answered)} of 80 answers valid" in text
    assert ("The distributions of few have a TV of" in text) == ("canonical" in answered)
    assert "Its answers do not meet the criterion of coherence." in text
    assert content["curves"]["reject"]["undefined"] == "no root has both reports valid"


def test_more_than_one_answering_model_is_flagged(tmp_path: Path) -> None:
    task = case_task(tmp_path / "task")
    ends = [*case_ends(task, half)[:20], *case_ends(task, half, model="jev-1.14.0")[20:]]
    run = make_run(tmp_path / "moved", task, ends)
    text = " ".join(outline(page(with_labels([("moved", read_scores(run))]))).words)
    assert "more than one model answered: jev-1.13.0 (20), jev-1.14.0 (20)" in text


def test_the_markdown_has_the_summary_and_the_digests(folder: Path) -> None:
    text = markdown(runs(folder))
    assert "| jev-1 | 35 of 40 |" in text
    assert read_scores(folder / "cohort")["inputs"]["ledger.jsonl"] in text
    for line in re.findall(r"^\|.*\|$", text, re.MULTILINE):
        assert line.count("|") > 2


# --- the command ----------------------------------------------------------------------------------------------------


def run_command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "exactworlds", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": "80"},
    )


def test_the_command_writes_the_page_figures_and_a_summary(folder: Path, tmp_path: Path) -> None:
    out, figures, summary = tmp_path / "new" / "page.html", tmp_path / "figures", tmp_path / "summary.md"
    words = ("report", str(folder / "jev-1"), "-o", str(out), "--figures", str(figures), "--markdown", str(summary))
    done = run_command(*words, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["runs"] == ["jev-1"]
    assert all(Path(file).is_file() for file in found["files"])
    kinds = {file.suffix for file in figures.iterdir()}
    assert kinds == {".png", ".svg"}
    svg = (figures / "s0-reject.svg").read_text(encoding="utf-8")
    assert "mean expected loss" in svg  # text stays text
    first = {file.name: file.read_bytes() for file in figures.iterdir()}
    assert run_command(*words).returncode == 0
    assert {file.name: file.read_bytes() for file in figures.iterdir()} == first


def test_stale_scores_are_refused(tmp_path: Path) -> None:
    task = case_task(tmp_path / "task")
    run = make_run(tmp_path / "run", task, case_ends(task, half))
    assert fresh_scores(run)["kind"] == "cases"
    (run / "ledger.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"ledger\.jsonl changed; run `exactworlds score"):
        fresh_scores(run)
    done = run_command("report", str(run), "-o", str(tmp_path / "page.html"))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "run `exactworlds score` first"),
        ("{", "not JSON"),
        ('{"format": "exactworlds/scores/0"}', "expected 'exactworlds/scores/1'"),
        ('{"format": "exactworlds/scores/1", "inputs": "@"}', "run `exactworlds score` again"),
    ],
)
def test_what_are_no_scores_is_one_message(content: str | None, message: str, folder: Path, tmp_path: Path) -> None:
    task = case_task(tmp_path / "task")
    run = make_run(tmp_path / "run", task, case_ends(task, half))
    digests = json.dumps(read_scores(run)["inputs"])
    if content is None:
        (run / "scores.json").unlink()
    else:
        (run / "scores.json").write_text(content.replace('"@"', digests), encoding="utf-8")
    done = run_command("report", str(run), "-o", str(tmp_path / "page.html"))
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_real_run_is_collected_scored_and_reported(tmp_path: Path) -> None:
    """From nothing to the page, by the commands alone."""
    task, run, out = tmp_path / "task", tmp_path / "run", tmp_path / "page.html"
    case_task(task, n=8)
    assert run_command("collect", str(task), "--backend", "posterior", "--out", str(run)).returncode == 0
    done = run_command("score", str(run), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == read_scores(run)
    assert read_scores(run)["figures"]["kl_nats_unclipped"]["value"] == 0
    before = (run / "scores.json").read_bytes()
    assert "n = 8 of 8" in run_command("score", str(run)).stdout
    assert (run / "scores.json").read_bytes() == before
    assert run_command("report", str(run), "-o", str(out)).returncode == 0
    assert "1 reference reporter was asked 8 cases" in out.read_text(encoding="utf-8")
    with (run / "ledger.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("nonsense\n")
    broken = run_command("score", str(run))
    assert broken.returncode == 2
    assert "ledger.jsonl" in broken.stderr
    assert "Traceback" not in broken.stderr


# --- numbers for people ---------------------------------------------------------------------------------------------


@given(st.floats(0, 1))
def test_a_share_that_is_not_all_is_not_shown_as_all(share: float) -> None:
    shown = percent(share).text
    if 1e-9 < share < 1 - 1e-9:
        assert shown not in ("100\u00a0%", "0\u00a0%", "100.0\u00a0%", "0.0\u00a0%")


@given(st.floats(-1e6, 1e6))
def test_a_number_is_shown_as_0_only_if_it_is(value: float) -> None:
    assert (float(plain(value).replace(",", "")) == 0) == (value == 0)
