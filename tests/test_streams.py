"""Exact draws: uniform, independent of batches, the same for ever."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.errors import InvalidArgument
from exactworlds.memo.streams import Stream

PINNED_NARROW = [466489, 473735, 195850, 483900]
PINNED_WIDE = [64336027616432160451934466401, 240008332391768484005761072143]

BOUNDS = st.one_of(
    st.integers(1, 50),
    st.sampled_from([2**31, 2**32 + 1, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64, 2**64 + 1, 10**40]),
    st.integers(1, 2**70),
)


@given(bound=BOUNDS, start=st.integers(0, 2**40), rows=st.integers(1, 40), cut=st.integers(0, 40))
def test_a_row_does_not_depend_on_the_batch(bound: int, start: int, rows: int, cut: int) -> None:
    whole = Stream("t", bound).uniform(start, rows, bound).tolist()
    cut = min(cut, rows)
    first = Stream("t", bound).uniform(start, cut, bound).tolist() if cut else []
    second = Stream("t", bound).uniform(start + cut, rows - cut, bound).tolist() if cut < rows else []
    assert whole == first + second
    assert all(0 <= value < bound for value in whole)


@pytest.mark.parametrize("bound", [3, 7, 1000, 2**63 - 25, 2**64 + 7])
def test_draws_are_the_words_without_the_rejected_ones(bound: int) -> None:
    """The rule again in Python integers: take words in order, drop those beyond the largest multiple of the bound."""
    stream = Stream("rule", bound)
    width = math.ceil((bound - 1).bit_length() / 64)
    limit = (2 ** (64 * width) // bound) * bound
    for row, value in enumerate(stream.uniform(0, 200, bound).tolist()):
        words = [int(word) for block in range(8) for word in stream.words(row, 1, block)[0]]
        numbers = [
            sum(w << 64 * (width - 1 - i) for i, w in enumerate(words[at : at + width])) for at in range(0, 30, width)
        ]
        assert value == next(number for number in numbers if number < limit) % bound


def test_rejection_happens_where_it_must() -> None:
    """A bound just above half of 2**64 rejects nearly every second word; draws stay uniform over halves."""
    bound = 2**63 + 3
    drawn = Stream("half").uniform(0, 4000, bound).tolist()
    low = sum(value < bound // 2 for value in drawn)
    assert abs(low / 4000 - 0.5) < math.sqrt(math.log(2 / 1e-9) / (2 * 4000))


def test_frequencies_agree_within_a_stated_false_alarm_rate() -> None:
    """Hoeffding, all seven faces at once: a false alarm has probability below 1e-9."""
    rows, faces = 100_000, 7
    drawn = Stream("die").uniform(0, rows, faces)
    allowed = math.sqrt(math.log(2 * faces / 1e-9) / (2 * rows))
    for face in range(faces):
        assert abs(float(np.mean(drawn == face)) - 1 / faces) < allowed


def test_streams_of_different_purposes_differ() -> None:
    first, second = (Stream("attribute", name).uniform(0, 50, 10**6).tolist() for name in ("a", "b"))
    assert first != second
    assert Stream("a", "bc").uniform(0, 50, 10**6).tolist() != Stream("ab", "c").uniform(0, 50, 10**6).tolist()


def test_the_stream_is_pinned() -> None:
    """These numbers must never change: not with NumPy, not with this package."""
    assert Stream("pin").uniform(0, 4, 10**6).tolist() == PINNED_NARROW
    assert Stream("pin").uniform(0, 2, 10**30).tolist() == PINNED_WIDE


def test_a_bound_below_one_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="bound: found 0"):
        Stream("x").uniform(0, 1, 0)
