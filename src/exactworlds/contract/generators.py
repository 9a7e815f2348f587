"""The four generators: worlds drawn exactly, each a pure function of (seed, generator, encoding, index).

Every count, likelihood and observation has a stream of its own, so that neither the number of draws nor their order
matters. Ranges come from a cohort's spec. What is not here: which draws a cohort keeps (`cohorts`).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from exactworlds.contract.cells import CELLS, ContractWorld, Evidence, Observed, Sensor, categories_of
from exactworlds.memo.streams import Stream
from exactworlds.rational import common_denominator
from exactworlds.spec.cohorts import OBSERVED, Encoding, GeneratorName, GeneratorTable

__all__ = ["Drawn", "Source"]

OBSERVES: dict[str, Literal["a", "b"]] = {"finite-population": "b", "missing-rule": "a"}
"""The attribute that a generator may observe."""

Array = NDArray[Any]
_SMALL = 2**40  # weights below it can be added and compared with quotas in 64 bits


@frozen(eq=False)
class Drawn:
    """Consecutive draws in columns: counts and likelihood indices a cell, and what is observed."""

    start: int
    counts: Array
    likelihoods: Array
    observed: Array

    def __len__(self) -> int:
        return len(self.counts)


class Source:
    """The draws of one stratum."""

    def __init__(self, table: GeneratorTable, generator: GeneratorName, encoding: Encoding, seed: str) -> None:
        self.table, self.generator, self.encoding, self.seed = table, generator, encoding, seed
        self._purpose = (seed, generator, encoding)
        self.likelihoods = [likelihood.value for likelihood in table.likelihoods]
        weights = [table.observed.get(key, 0) for key in OBSERVED]
        self._observed = np.repeat(np.arange(len(OBSERVED)), weights) if table.observed else np.zeros(1, dtype=np.int64)

    def draw(self, start: int, rows: int) -> Drawn:
        """The draws start … start + rows − 1.

        Claim: E.draws
        """
        low, high = self.table.counts
        counts = [low + self._uniform(f"count {place}", start, rows, high - low + 1) for place in range(len(CELLS))]
        likelihoods = [
            self._uniform(f"likelihood {place}", start, rows, len(self.likelihoods))
            for place in range(len(CELLS))
            if self.likelihoods
        ]
        observed = self._observed[self._uniform("observed", start, rows, len(self._observed))]
        return Drawn(start, np.stack(counts, axis=1), np.array(likelihoods).T, observed)

    def weights(self, drawn: Drawn) -> Array:
        """Count × likelihood of each cell, as integers over a common denominator: shape (rows, 4)."""
        whole = common_denominator(self.likelihoods)
        kind: Any = np.int64 if self.table.counts[1] * whole < _SMALL else object  # else Python integers, of any size
        weights = drawn.counts.astype(kind)
        if self.likelihoods:
            scaled = np.array([int(likelihood * whole) for likelihood in self.likelihoods], dtype=kind)
            weights = weights * scaled[drawn.likelihoods]
        attribute = OBSERVES.get(self.generator)
        if attribute is not None:
            truth = np.array([getattr(cell, attribute) for cell in CELLS])
            weights[np.equal(drawn.observed[:, None], OBSERVED.index("true")) & ~truth] = 0
            weights[np.equal(drawn.observed[:, None], OBSERVED.index("false")) & truth] = 0
        return weights

    def world(self, drawn: Drawn, row: int) -> ContractWorld:
        """The world of one draw, whose weights must not all be 0."""
        counts = [int(count) for count in drawn.counts[row]]
        evidence: Evidence = None
        if self.likelihoods:
            first, second, third, fourth = (self.likelihoods[index] for index in drawn.likelihoods[row].tolist())
            evidence = Sensor((first, second, third, fourth))
        elif drawn.observed[row]:
            value = OBSERVED[int(drawn.observed[row])] == "true"
            evidence = Observed(OBSERVES[self.generator], value)
        return ContractWorld(
            self.generator, (counts[0], counts[1], counts[2], counts[3]), evidence, categories_of(self.generator)
        )

    def _uniform(self, what: str, start: int, rows: int, bound: int) -> Array:
        return Stream("contract", what, *self._purpose).uniform(start, rows, bound)
