"""The page in a browser: nothing is loaded or logged, it works by keyboard and on a phone, and axe finds no fault.

Skipped only where no Chromium is installed; `CHROMIUM` names one that is not in the path.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from exactworlds.files.scores import read_scores
from exactworlds.report.page import page as page_text
from exactworlds.report.scored import with_labels
from run_makers import case_ends, case_task, contract_ends, contract_task, make_run

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = os.environ.get("CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed, and CHROMIUM names none")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of three runs over cases and one over a cohort."""
    root = tmp_path_factory.mktemp("page")
    task, contracts = case_task(root / "task", n=30), contract_task(root / "contracts")

    def spoil(variant: str, place: int, report: list[Fraction]) -> list[Fraction] | None:
        if variant == "complement" and place % 3 == 0:
            return None
        return [(p + Fraction(1, len(report))) / 2 for p in report] if variant == "choice" else report

    made = [
        make_run(root / "near", task, case_ends(task, lambda q, place: (9 * q + Fraction(1, 2)) / 10)),
        make_run(root / "far", task, case_ends(task, lambda q, place: None if place < 3 else 1 - q), model="kev"),
        make_run(root / "known", task, case_ends(task, lambda q, place: q), backend="reporter", model="posterior"),
        make_run(root / "linked", contracts, contract_ends(contracts, spoil)),
    ]
    out = root / "page.html"
    out.write_text(page_text(with_labels([(run.name, read_scores(run)) for run in made])), encoding="utf-8")
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


class Opened:
    """The page in a context of its own, with everything that it logged or asked for."""

    def __init__(
        self, browser: Browser, file: Path, width: int = 1280, scheme: Literal["light", "dark"] = "light"
    ) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page: Page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())


@pytest.fixture
def opened(browser: Browser, file: Path) -> Iterator[Opened]:
    found = Opened(browser, file)
    yield found
    assert found.said == []
    found.context.close()


def column(page: Page, name: str, table: str = "#s0-summary") -> list[str]:
    """The texts of a column, from top to bottom."""
    heads = page.locator(f"{table} thead th").all_inner_texts()
    place = next(k for k, head in enumerate(heads) if " ".join(head.split()) == name)
    return [row.locator("th, td").nth(place).inner_text() for row in page.locator(f"{table} tbody tr").all()]


def test_nothing_is_loaded_and_nothing_is_logged(opened: Opened, file: Path) -> None:
    page = opened.page
    for button in page.locator("button:visible").all():
        button.click()
    for plot in page.locator(".plot").all():
        plot.hover()
    page.wait_for_load_state("networkidle")
    assert opened.asked == [file.as_uri()]


def test_a_table_is_sorted_by_mouse_and_by_keyboard(opened: Opened) -> None:
    page = opened.page
    head = page.locator("#s0-summary thead th", has_text="KL, clipped")
    assert head.get_attribute("aria-sort") == "none"
    before = column(page, "KL, clipped")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    ascending = column(page, "KL, clipped")
    assert ascending == sorted(before, key=float) != before
    assert column(page, "run")[0] == "known"
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, "KL, clipped") == ascending[::-1]
    page.locator("#s0-summary thead th", has_text="run").first.locator("button").click()
    assert head.get_attribute("aria-sort") == "none"
    assert column(page, "run") == ["far", "known", "near"]


def test_what_has_no_number_is_sorted_last_both_ways(opened: Opened) -> None:
    button = opened.page.locator("#s0-summary thead th", has_text="USD per 1,000").locator("button")
    for _ in range(2):
        button.click()
        assert column(opened.page, "USD per 1,000")[-1] == "unknown"


def test_a_series_is_toggled(opened: Opened) -> None:
    chart = opened.page.locator(".chart").filter(has=opened.page.locator("#s0-reject-title"))
    button = chart.get_by_role("button", name="near", exact=True)
    place = button.get_attribute("data-series")
    line = chart.locator(f".plot g[data-series='{place}']")
    assert line.is_visible()
    for pressed in ("false", "true"):
        button.press("Space")
        assert button.get_attribute("aria-pressed") == pressed
        assert line.is_visible() == (pressed == "true")


def test_the_numbers_of_a_chart_are_toggled(opened: Opened) -> None:
    chart = opened.page.locator(".chart").filter(has=opened.page.locator("#s0-reject-title"))
    button = chart.locator(".numbers")
    table = opened.page.locator(f"#{button.get_attribute('aria-controls')}")
    assert button.get_attribute("aria-expanded") == "false"
    assert not table.is_visible()
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    assert table.is_visible()
    assert table.locator("tbody tr").count() >= 3
    button.click()
    assert not table.is_visible()


def test_values_are_read_by_keyboard_and_by_pointer(opened: Opened) -> None:
    chart = opened.page.locator(".chart").filter(has=opened.page.locator("#s0-reject-title"))
    plot, reading = chart.locator(".plot"), chart.locator("output")
    plot.focus()
    plot.press("ArrowRight")
    assert ": c = 0.01, loss " in reading.inner_text()
    plot.press("ArrowRight")
    assert ": c = 0.02, loss " in reading.inner_text()
    first = reading.inner_text().split(":")[0]
    plot.press("ArrowUp")
    assert ": c = 0.02, loss " in reading.inner_text()
    assert reading.inner_text().split(":")[0] != first
    plot.press("End")
    assert ": c = 0.49, loss " in reading.inner_text()
    costs = opened.page.locator(".chart").filter(has=opened.page.locator("#s0-cost-title"))
    costs.locator(".plot .dot").first.hover(force=True)
    costs.locator("output", has_text="USD per 1,000 answers, KL").wait_for()


def test_a_table_says_that_it_scrolls_only_where_it_does(browser: Browser, file: Path) -> None:
    for width, is_wide in ((390, True), (3000, False)):
        found = Opened(browser, file, width)
        hint = found.page.locator("#s0-seeds .hint, #digests .hint").first
        hint.wait_for(state="visible" if is_wide else "hidden")
        found.context.close()


def test_without_a_script_every_number_is_there(browser: Browser, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.locator("#s0-reject-numbers").is_visible()
    assert page.locator(".chart .plot title").count() > 10
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_its_window_in_both_themes(
    width: int, scheme: Literal["light", "dark"], browser: Browser, file: Path
) -> None:
    found = Opened(browser, file, width, scheme)
    for button in found.page.locator(".numbers").all():
        button.click()
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    red, green, blue = (
        int(part) for part in found.page.evaluate("getComputedStyle(document.body).backgroundColor")[4:-1].split(",")
    )
    assert (red + green + blue > 600) == (scheme == "light")
    for plot in found.page.locator(".plot").all():
        box = plot.bounding_box()
        assert box is not None
        assert box["width"] <= width
    found.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(scheme: Literal["light", "dark"], browser: Browser, file: Path) -> None:
    found = Opened(browser, file, scheme=scheme)
    for button in found.page.locator(".numbers").all():
        button.click()
    for summary in found.page.locator("summary").all():
        summary.click()
    result = Axe().run(found.page)
    grave = [one for one in result.response["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in grave] == []
    assert len(result.response["passes"]) > 20
    found.context.close()
