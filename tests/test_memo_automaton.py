"""Unique decoding is decided: against brute force over every text that a chain of small languages can produce."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.memo import automaton
from exactworlds.memo.automaton import Chain, Reading, Stuck, TooLarge

WORDS = st.text(alphabet="ab ", min_size=1, max_size=3)
LANGUAGES = st.lists(st.lists(WORDS, min_size=1, max_size=4, unique=True), min_size=1, max_size=4)


def texts_by_count(languages: list[list[str]]) -> Counter[str]:
    """How many ways there are to each text."""
    return Counter("".join(words) for words in itertools.product(*languages))


@given(LANGUAGES)
def test_a_witness_is_found_exactly_if_two_choices_give_one_text(languages: list[list[str]]) -> None:
    ways = texts_by_count(languages)
    double = [text for text, count in ways.items() if count > 1]
    witness = Chain(languages).ambiguity()
    if not double:
        assert witness is None
        return
    assert witness is not None
    assert ways[witness] > 1
    assert len(witness) == min(map(len, double))


@given(LANGUAGES)
def test_readings_are_all_choices_that_give_the_text(languages: list[list[str]]) -> None:
    chain = Chain(languages)
    for text, count in texts_by_count(languages).items():
        found = chain.readings(text, limit=1000)
        assert isinstance(found, list)
        expected = {words for words in itertools.product(*languages) if "".join(words) == text}
        assert {reading.items for reading in found} == expected
        assert len(found) == count


@given(LANGUAGES, st.text(alphabet="abc ", max_size=8))
def test_other_texts_say_where_they_stop(languages: list[list[str]], text: str) -> None:
    chain = Chain(languages)
    ways = texts_by_count(languages)
    found = chain.readings(text)
    if text in ways:
        assert isinstance(found, list)
        return
    assert isinstance(found, Stuck)
    longest = max(cut for cut in range(len(text) + 1) if any(other.startswith(text[:cut]) for other in ways))
    assert found.position == longest
    expected_more = any(other.startswith(text[:longest]) and other != text[:longest] for other in ways)
    assert bool(found.items) == expected_more


def test_prefixes_of_one_another_are_fine_where_a_boundary_shows() -> None:
    assert Chain([["a", "ab", "abc"], ["."], ["b", "bc"]]).ambiguity() is None
    assert Chain([["a", "ab"], ["b", "bb"]]).ambiguity() == "abb"


def test_letters_at_places_are_a_language_too() -> None:
    letters = frozenset("AB")
    chain = Chain([("id ",), (letters, letters, frozenset("-"), letters)])
    assert chain.ambiguity() is None
    assert chain.readings("id AB-A") == [Reading(("id ", "AB-A"))]
    assert chain.readings("id ABA") == Stuck(5, (1,))


def test_beyond_the_bound_it_refuses_rather_than_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automaton, "LARGEST_SEARCH", 10)
    with pytest.raises(TooLarge):
        Chain([[str(number) for number in range(100)]]).ambiguity()


def test_an_empty_item_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Chain([["a", ""]])
