"""Reproducible exact draws: a counter-based bit stream, and our own step from bits to uniform integers.

A stream is NumPy's Philox, whose raw words are guaranteed, under a key that is the SHA-256 of what the stream is for.
Row i of a stream owns the counters (i, block, 0, 0), so its draws do not depend on how many rows are drawn, in which
order, or by how many processes. A word beyond the largest multiple of the bound is rejected and the row's next word is
taken: every integer has exactly the same probability. What is not here: what is drawn (`memo.cases`, `memo.template`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactworlds.errors import InvalidArgument
from exactworlds.spec.digest import canonical_json

__all__ = ["Stream"]

_WORDS = 4  # a Philox block
_WORD = 2**64
Array = NDArray[Any]


class Stream:
    """The draws that belong to one purpose, such as one attribute of one task.

    >>> Stream("example", 7).uniform(0, 3, 10).tolist() == Stream("example", 7).uniform(0, 9, 10)[:3].tolist()
    True
    """

    def __init__(self, *purpose: object) -> None:
        digest = hashlib.sha256(canonical_json([str(part) for part in purpose]).encode()).digest()
        self._key = np.frombuffer(digest[:16], dtype="<u8").astype(np.uint64)

    def words(self, start: int, rows: int, block: int = 0) -> NDArray[np.uint64]:
        """The raw 64-bit words of a block for consecutive rows, shape (rows, 4)."""
        counter = np.array([start, block, 0, 0], dtype=np.uint64)
        raw = np.random.Philox(key=self._key, counter=counter).random_raw(_WORDS * rows)
        return np.asarray(raw, dtype=np.uint64).reshape(rows, _WORDS)

    def uniform(self, start: int, rows: int, bound: int) -> Array:
        """For each row, a uniform integer in [0, bound): int64, or Python integers if the bound needs them.

        Claim: B.draws
        """
        if bound < 1:
            raise InvalidArgument("bound", bound, "at least 1")
        if bound > 2**63:
            return np.array([self._wide(row, bound) for row in range(start, start + rows)], dtype=object)
        words = self.words(start, rows)
        limit = _WORD - _WORD % bound
        drawn = (words[:, 0] % np.uint64(bound)).astype(np.int64)
        if limit < _WORD:
            for row in np.flatnonzero(words[:, 0] >= np.uint64(limit)).tolist():
                drawn[row] = next(word for word in self._row(start + row, skip=1) if word < limit) % bound
        return drawn

    def _wide(self, row: int, bound: int) -> int:
        """A draw that needs several words: they are the digits of one large number."""
        width = -(-(bound - 1).bit_length() // 64)
        limit = _WORD**width - _WORD**width % bound
        words = self._row(row)
        while True:
            number = 0
            for _ in range(width):
                number = number * _WORD + next(words)
            if number < limit:
                return number % bound

    def _row(self, row: int, skip: int = 0) -> Iterator[int]:
        """The words of one row, block after block."""
        block = 0
        while True:
            yield from self.words(row, 1, block)[0, skip if block == 0 else 0 :].tolist()
            block += 1
