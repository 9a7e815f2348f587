"""Makes the report that README shows, from nothing: draws, asks, scores, reports, and takes its picture.

    python docs/make_report.py docs/report.png --page report.html

Everything runs on this machine: the bundled model, a reporter that fits a regression to the demonstrations, one that
knows the prior, and one that knows the exact posterior. The picture needs Playwright and a Chromium (`CHROMIUM` names
it, if it is not found).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

SEED = "141421356237309504880168872420969807857"
TASK = ("peer-review", "--setting", "medium", "--n", "300", "--shots", "3", "--seed", SEED)
WHO = ("sparrow", "logistic-regression", "label-frequency", "prior", "posterior")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def find_chromium() -> str | None:
    """The Chromium of this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next((found for name in names if (found := shutil.which(name))), None)


def take_picture(page: Path, out: Path, *, width: int = 1280, dark: bool = False) -> None:
    """The top of a page, down to its first two charts, as a PNG."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # the extra `test`

    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("no Chromium was found; set CHROMIUM to its place")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        scheme: Literal["dark", "light"] = "dark" if dark else "light"
        view = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        view.goto(page.resolve().as_uri())
        box = view.locator(".plot").nth(1).bounding_box()
        assert box is not None  # a page has charts
        view.set_viewport_size({"width": width, "height": round(box["y"] + box["height"]) + 6})
        view.screenshot(path=str(out))
        browser.close()


def make_page(folder: Path, page: Path) -> None:
    """Draws a task, asks everyone, scores, and writes the page."""
    task, runs = folder / "task", [folder / "runs" / name for name in WHO]
    _exactworlds("cases", *TASK, "--out", str(task))
    for name, run in zip(WHO, runs, strict=True):
        _exactworlds("collect", str(task), "--backend", name, "--name", name, "--out", str(run))
    _exactworlds("score", *map(str, runs))
    _exactworlds("report", *map(str, runs), "-o", str(page))


def _exactworlds(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "exactworlds", *words], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--page", type=Path, help="keep the page here")
    parser.add_argument("--dark", action="store_true")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = words.page or Path(folder) / "report.html"
        make_page(Path(folder), page)
        take_picture(page, words.picture, dark=words.dark)


if __name__ == "__main__":
    main()
