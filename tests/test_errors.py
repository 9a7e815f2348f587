"""Errors are typed facts under one base, and each builds its own sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import errors
from exactworlds.errors import (
    ExactworldsError,
    InvalidArgument,
    InvalidSpec,
    NotFound,
    Problem,
    StateSpaceTooLarge,
    UnreadableFile,
    shorten,
)


def test_all_errors_have_one_base() -> None:
    raised = [getattr(errors, name) for name in errors.__all__]
    exceptions = [kind for kind in raised if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(exceptions) == 10
    assert all(issubclass(kind, ExactworldsError) for kind in exceptions)


def test_invalid_spec_keeps_every_problem_in_order() -> None:
    problems = [Problem("b", "second"), Problem("a[0]", "first"), Problem("", "everywhere")]
    error = InvalidSpec("world.toml", problems)
    assert error.problems == tuple(problems)
    assert error.file == "world.toml"
    assert str(error) == "world.toml: b: second\nworld.toml: a[0]: first\nworld.toml: everywhere"


def test_facts_become_sentences() -> None:
    assert str(UnreadableFile("a.toml", "does not exist")) == "a.toml: does not exist"
    assert str(NotFound("setting", "hihg", ["low", "high"])) == "there is no setting 'hihg'; known: low, high"
    assert str(NotFound("setting", "high", [])) == "there is no setting 'high'; known: none"
    assert str(InvalidArgument("scale", -1, "a scale")) == "scale: found -1, expected a scale"
    assert str(InvalidArgument("report", "x", "a number", index=3)) == "report[3]: found 'x', expected a number"
    assert str(StateSpaceTooLarge(10**15, 2**24)) == (
        "the world has 1,000,000,000,000,000 states without its residual; the engines accept at most 16,777,216"
    )


def test_an_invalid_argument_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="places"):
        raise InvalidArgument("places", -1, "more")


@given(st.text(max_size=300), st.integers(10, 80))
def test_shorten_keeps_both_ends_and_says_the_length(text: str, limit: int) -> None:
    found = shorten(text, limit)
    if len(text) <= limit:
        assert found == repr(text)
    else:
        half = (limit - 1) // 2
        assert found == f"{text[:half] + '…' + text[-half:]!r} ({len(text)} characters)"


def test_shorten_shows_other_values_as_they_are_written() -> None:
    assert shorten(0.5) == "0.5"
    assert shorten([1, 2]) == "[1, 2]"
    assert shorten(None) == "None"
