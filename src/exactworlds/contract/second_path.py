"""The second path to a posterior: 70-digit arithmetic that normalises the prior before the likelihood update.

It shares nothing with the exact one but the raw numbers, and has a context of its own: no global precision is touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mpmath import MPContext

__all__ = ["DIGITS", "SecondPath"]

DIGITS = 70
_GUARD = 5

Real = Any  # an mpf of this module's own context; mpmath has no types


class SecondPath:
    """Posteriors of four-cell worlds in 70-digit decimal arithmetic."""

    def __init__(self) -> None:
        self.context = MPContext()
        self.context.dps = DIGITS + _GUARD

    def posterior(self, counts: Sequence[int], likelihoods: Sequence[str]) -> list[Real]:
        """Prior first: shares of the counts, then each times its likelihood, then divided by their sum.

        A likelihood is its text, such as "9/10".

        Claim: E.posterior
        """
        mp = self.context
        population = mp.mpf(0)
        for count in counts:
            population += count
        prior = [mp.mpf(count) / population for count in counts]
        updated = [share * self._real(text) for share, text in zip(prior, likelihoods, strict=True)]
        evidence = mp.fsum(updated)
        return [share / evidence for share in updated]

    def _real(self, text: str) -> Real:
        above, _, below = text.partition("/")
        return self.context.mpf(above) / self.context.mpf(below or "1")
