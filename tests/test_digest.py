"""Digests: what changes them and what does not."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from exactworlds.spec.bundled import spec_folder
from exactworlds.spec.digest import law_digest, text_digest
from exactworlds.spec.load import parse_world

SOURCE = (spec_folder() / "worlds" / "peer-review.toml").read_text(encoding="utf-8")


def digests(text: str) -> tuple[str, str]:
    world = parse_world(text.encode())
    return law_digest(world), text_digest(world)


LAW, TEXT = digests(SOURCE)


def replaced(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


@pytest.mark.parametrize(
    "change",
    [
        replaced('"0.50", "0.39", "0.11"', '"1/2", "39/100", "0.110"'),
        replaced("score >= threshold and no_serious_flaw", "( score>=threshold )   and no_serious_flaw"),
        replaced('threshold = "11.5"', 'threshold = "11.50"'),
        lambda text: "# a comment\n" + text,
        lambda text: re.sub(
            r"(\[attribute\.novelty\].*?)(\[attribute\.significance\].*?)(?=\[attribute)", r"\2\1", text, flags=re.S
        ),
        replaced("the threshold 11.5 and the rejection", "the rejection"),
        replaced('title = "Peer review"', 'title = "Review"'),
    ],
)
def test_how_it_is_written_does_not_matter(change: Callable[[str], str]) -> None:
    assert change(SOURCE) != SOURCE
    assert digests(change(SOURCE)) == (LAW, TEXT)


@pytest.mark.parametrize(
    "change",
    [
        replaced('"0.50", "0.39", "0.11"', '"0.51", "0.38", "0.11"'),
        replaced('novelty = "1.7"', 'novelty = "1.6"'),
        replaced("score >= threshold", "score > threshold"),
        replaced('"-0.5" = "0.05"\n"0" = "0.72"', '"-0.5" = "0.04"\n"0" = "0.73"'),
        replaced('high = ["contribution", "significance", ', 'high = ["contribution", '),
        replaced('threshold = "11.5"', 'threshold = "11.4"'),
    ],
)
def test_what_the_probabilities_depend_on_changes_the_law_only(change: Callable[[str], str]) -> None:
    law, text = digests(change(SOURCE))
    assert law != LAW
    assert text == TEXT


@pytest.mark.parametrize(
    "change",
    [
        replaced('0 = "incremental"', '0 = "small"'),
        replaced('"2.5", "3.4"', '"2.5", "3.3"'),
        replaced("range = [1, 20]", "range = [1, 21]"),
        replaced('positive = "accept"', 'positive = "yes"'),
        replaced("will it be accepted?", "is it accepted?"),
    ],
)
def test_what_memos_depend_on_changes_the_text_only(change: Callable[[str], str]) -> None:
    law, text = digests(change(SOURCE))
    assert law == LAW
    assert text != TEXT
