"""Takes README's picture of a report: the top of a page, as a PNG.

    python docs/picture.py work/page.html docs/report.png

The page is the one that README's quick start makes. Needs Playwright (the extra `test`) and a Chromium; `CHROMIUM`
names one that is not in the path.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def find_chromium() -> str:
    """The Chromium of this machine."""
    found = os.environ.get("CHROMIUM") or next((place for name in NAMES if (place := shutil.which(name))), None)
    if found is None:
        raise SystemExit("no Chromium was found; set CHROMIUM to its place")
    return found


def take_picture(page: Path, out: Path, *, width: int = 1280, dark: bool = False) -> None:
    """The page down to its first two charts."""
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        view = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        view.goto(page.resolve().as_uri())
        box = view.locator(".plot").nth(1).bounding_box()
        assert box is not None  # a page has charts
        view.set_viewport_size({"width": width, "height": round(box["y"] + box["height"]) + 6})
        view.screenshot(path=str(out))
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--dark", action="store_true")
    words = parser.parse_args()
    take_picture(words.page, words.picture, dark=words.dark)


if __name__ == "__main__":
    main()
