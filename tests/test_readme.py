"""README says what is so: its examples run, its world loads, its links exist, its commands are those of CI."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from exactworlds.engine.admit import admit
from exactworlds.spec.load import parse_world

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_python_examples_run() -> None:
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks("python")), {}, "README", "README.md", 0)
    assert len(examples.examples) >= 3
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(examples)
    assert runner.summarize(verbose=False).failed == 0


def test_the_example_world_is_admitted() -> None:
    (text,) = blocks("toml")
    assert admit(parse_world(text.encode())).admitted


PAGES = [
    page.relative_to(ROOT).as_posix()
    for folder in (".", "spec", "golden", "proofs", "docs")
    for page in sorted((ROOT / folder).glob("*.md"))
]


@pytest.mark.parametrize("file", PAGES)
def test_links_lead_somewhere(file: str) -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", (ROOT / file).read_text(encoding="utf-8")):
        assert ((ROOT / file).parent / target).exists(), target


def test_the_two_commands_are_marked_for_ci() -> None:
    for marker in ("verify", "test"):
        assert README.count(f"<!-- {marker} command -->\n```sh\npython3 -m venv .venv && ") == 1
    assert "readme_command test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_picture_names_every_layer() -> None:
    layers = re.search(r"layers = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.DOTALL)
    assert layers is not None
    (picture,) = blocks("mermaid")
    for name in re.findall(r'"([a-z]+)"', layers.group(1)):
        assert re.search(rf"\b{name}\b", picture), name
