"""Means over the roots of a cohort, each on its own support, and their intervals on shared draws.

A figure is an exact (or, with logarithms, a float) mean with equal stratum weights over the roots that have a value;
strata without one are named. All figures of an analysis are drawn together, so that contrasts stay paired. What is not
here: which values go in (`study.cohort`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from attrs import evolve, frozen

from exactworlds.metrics import (
    REPLICATES,
    Statistic,
    StratumWeights,
    Undefined,
    mean_statistic,
    paired_bootstrap,
    ratio_statistic,
    resample_counts,
    stratum_weights,
    weighted_mean,
)

__all__ = ["Figure", "Series", "exact_lower_bound", "figure", "with_intervals"]

Value = Fraction | float
Series = Sequence[Value | None]
"""One value a root, in the cohort's order; None where the root is not in the statistic's support."""


@frozen
class Figure:
    """A weighted mean, or why there is none; `n` of `intended` roots are in its support."""

    value: Fraction | float | Undefined
    n: int
    intended: int
    infinite: int = 0
    empty_strata: tuple[str, ...] = ()
    low: float | Undefined | None = None
    high: float | Undefined | None = None
    dropped: int = 0


def figure(values: Series, strata: Sequence[str]) -> Figure:
    """The mean of the values that are there, every stratum with a value weighing the same.

    Claim: conventions.weights
    """
    support = [value is not None for value in values]
    if not any(support):
        return Figure(Undefined("no root has a value", {"roots": len(values)}), 0, len(values))
    weights = _weights(tuple(strata), tuple(support))
    empty = tuple(str(name) for name in weights.empty)
    exact = all(isinstance(value, Fraction) for value in values if value is not None)
    filled = [value if value is not None else Fraction(0) for value in values]
    numbers = np.array(filled, dtype=object) if exact else np.array([float(value) for value in filled])
    usable = weights.weights if exact else weights.weights.astype(np.float64)
    mean = weighted_mean(numbers, weights=usable)
    return Figure(mean.value, mean.count, len(values), mean.infinite, empty)


@lru_cache(maxsize=64)
def _weights(strata: tuple[str, ...], support: tuple[bool, ...]) -> StratumWeights:
    """Most figures of an analysis share their support."""
    return stratum_weights(strata, support=support)


def with_intervals(
    series: Mapping[str, Series],
    ratios: Mapping[str, tuple[Series, Series]],
    strata: Sequence[str],
    *,
    seed: int,
    replicates: int = REPLICATES,
) -> dict[str, Figure]:
    """The figures of every series and ratio of means, with 95 % intervals from one set of draws.

    Claim: E.bootstrap
    """
    figures = {name: figure(values, strata) for name, values in series.items()}
    statistics: dict[str, Statistic] = {}
    for name, values in series.items():
        if figures[name].n:
            statistics[name] = mean_statistic(_floats(values), valid=[value is not None for value in values])
    for name, (numerator, denominator) in ratios.items():
        above, below = figure(numerator, strata), figure(denominator, strata)
        if not above.n or below.value == 0:
            figures[name] = Figure(Undefined("its denominator is 0 or empty"), above.n, above.intended)
            continue
        assert not isinstance(above.value, Undefined)
        assert not isinstance(below.value, Undefined)
        figures[name] = evolve(above, value=above.value / below.value)
        mask = [value is not None for value in numerator]
        statistics[name] = ratio_statistic(numerator=_floats(numerator), denominator=_floats(denominator), valid=mask)
    if statistics:
        found = paired_bootstrap(statistics, strata=list(strata), seed=seed, replicates=replicates)
        for name, interval in found.items():
            figures[name] = evolve(figures[name], low=interval.low, high=interval.high, dropped=interval.dropped)
    return figures


def exact_lower_bound(values: Series, strata: Sequence[str], *, seed: int, replicates: int) -> Fraction | None:
    """The 2.5 % end of the interval of a share, exactly: from integer counts, on the draws of `with_intervals`.

    None if no root has a value. Values are 0 or 1. The same replicates in floats can differ by rounding, which must
    not decide whether a bound is reached.

    Claim: E.bootstrap
    """
    support = np.array([value is not None for value in values])
    if not support.any():
        return None
    hits = np.array([bool(value) for value in values])
    names = list(dict.fromkeys(strata))
    columns = [np.flatnonzero(np.array(list(strata)) == name) for name in names]
    drawn: list[tuple[Any, Any]] = []
    for counts in resample_counts(list(strata), replicates=replicates, seed=seed):
        n = np.stack([counts[:, rows] @ support[rows] for rows in columns], axis=1)
        up = np.stack([counts[:, rows] @ (support & hits)[rows] for rows in columns], axis=1)
        drawn.append((n, up))
    trials = np.concatenate([n for n, _ in drawn])
    passed = np.concatenate([up for _, up in drawn])
    kept = trials.any(axis=1)
    return _exact_percentile(trials[kept], passed[kept]) if kept.any() else None


def _exact_percentile(trials: Any, passed: Any) -> Fraction:
    """The value at 0-based position (R − 1)/40 of the sorted rates: floats find it, Fractions order it."""
    shares = np.divide(passed, trials, out=np.zeros(trials.shape), where=trials > 0)
    rates = shares.sum(axis=1) / (trials > 0).sum(axis=1)
    index, rest = divmod(len(rates) - 1, 40)
    ordered = np.sort(rates)
    low, high = ordered[index] - _NEAR, ordered[min(index + 1, len(rates) - 1)] + _NEAR
    near = np.flatnonzero((rates >= low) & (rates <= high))
    exact: dict[bytes, Fraction] = {}
    values = []
    for row in near:
        key = trials[row].tobytes() + passed[row].tobytes()
        if key not in exact:
            parts = [Fraction(int(up), int(n)) for n, up in zip(trials[row], passed[row], strict=True) if n]
            exact[key] = sum(parts, Fraction(0)) / len(parts)
        values.append(exact[key])
    values.sort()
    place = index - int(np.count_nonzero(rates < low))
    above = values[min(place + 1, len(values) - 1)]
    return values[place] + (above - values[place]) * Fraction(rest, 40)


_NEAR = 1e-9  # far above the rounding of a rate, far below the gap that matters


def _floats(values: Series) -> list[float]:
    return [0.0 if value is None else (math.inf if value == math.inf else float(value)) for value in values]
