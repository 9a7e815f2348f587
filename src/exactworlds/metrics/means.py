"""Means with the weights of the strata, and contrasts of means, infinities counted.

A mean over roots that were drawn by strata gives every stratum with at least one root the same weight, and
every root of a stratum an equal part of it. What is not here: intervals (`bootstrap`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    Value,
    as_weights,
    check_mask,
    is_exact,
    one_dimensional,
    read,
    read_exact,
)
from exactworlds.metrics._ordering import Real, total
from exactworlds.metrics.undefined import Undefined

__all__ = [
    "Mean",
    "StratumWeights",
    "contrast",
    "seed_summary",
    "stratum_weight_formula",
    "stratum_weights",
    "weighted_mean",
    "weighted_mean_formula",
]


@dataclass(frozen=True)
class Mean:
    """A weighted mean of `count` values, `infinite` of which are +inf, as `value` then is too."""

    value: Value
    infinite: int
    count: int


@dataclass(frozen=True)
class StratumWeights:
    """One weight a root (0 outside the support), the strata that carry weight, and those without a root."""

    weights: Array
    strata: tuple[Hashable, ...]
    empty: tuple[Hashable, ...]


def stratum_weight_formula(strata: Real, roots: Real) -> Real:
    """1 / (H · n_h).

    Proof: proofs/test_estimators.py::test_stratum_weights_give_each_stratum_the_same
    """
    return 1 / (strata * roots)


def stratum_weights(
    strata: Sequence[Hashable], *, support: object = None, declared: Sequence[Hashable] | None = None
) -> StratumWeights:
    """The weight of each root: every stratum of the support counts the same.

    Formula: w = 1 / (H n_h), n_h the roots of the statistic's own support in stratum h, H the strata with n_h
    > 0; a root outside the support weighs 0.

    Claim: conventions.weights (P2). The weights are Fractions that sum to 1. `support` says which
    roots count (all); `declared` lists the strata that were intended (those that occur).

    Raises
    ------
    InvalidArgument
        For no roots, no support, or a stratum that was not declared.

    Examples
    --------
    >>> stratum_weights(["a", "a", "b"]).weights.tolist()
    [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    """
    names = list(strata)
    if not names:
        raise InvalidArgument("strata", "an empty sequence", "at least one root")
    mask = check_mask(support, argument="support", shape=(len(names),))
    known = list(dict.fromkeys(declared if declared is not None else names))
    counts = dict.fromkeys(known, 0)
    for index, name in enumerate(names):
        if name not in counts:
            raise InvalidArgument("strata", name, "a declared stratum", index)
        counts[name] += bool(mask[index])
    kept = tuple(name for name in known if counts[name])
    if not kept:
        raise InvalidArgument("support", "no root", "at least one root in the support")
    weights = np.empty(len(names), dtype=object)
    for index, name in enumerate(names):
        weights[index] = (
            stratum_weight_formula(Fraction(len(kept)), Fraction(counts[name])) if mask[index] else Fraction(0)
        )
    return StratumWeights(weights, kept, tuple(name for name in known if not counts[name]))


def weighted_mean_formula(values: Sequence[Real], weights: Sequence[Real]) -> Real:
    """Σ w v / Σ w.

    Proof: proofs/test_estimators.py::test_the_weighted_mean_is_the_balance_point
    """
    return total(w * v for w, v in zip(weights, values, strict=True)) / total(weights)


def weighted_mean(values: object, *, weights: object = None) -> Mean:
    """The weighted mean of scores, with the infinities in it counted.

    Formula: Σ w v / Σ w over w > 0; equal weights where none are given.

    Claim: C.log-loss.

    Convention: one +inf with positive weight makes the mean +inf and stays countable; nothing is dropped. A
    value of weight 0 is outside the support and counts nowhere.

    Shapes: (n) and (n).

    Raises
    ------
    InvalidArgument
        For a NaN, a −inf, no values, or weights that are negative or all 0.

    Examples
    --------
    >>> weighted_mean([0.5, 1.5]), weighted_mean([0.5, float("inf")])
    (Mean(value=1.0, infinite=0, count=2), Mean(value=inf, infinite=1, count=2))
    """
    (v,) = read(values=values)
    one_dimensional(v, argument="values")
    if is_exact(v):
        w = as_weights(weights, shape=v.shape, exact=True)
        inside = [i for i in range(len(v)) if w[i] > 0]
        return Mean(weighted_mean_formula([v[i] for i in inside], [w[i] for i in inside]), 0, len(inside))
    if not v.min() > -math.inf:  # also true for a NaN
        index = int(np.argmax(np.isnan(v) | (v == -math.inf)))
        raise InvalidArgument("values", float(v[index]), "a number or +inf", index)
    if weights is None:
        return Mean(float(v.mean()), int(np.count_nonzero(v == math.inf)), v.size)
    w = as_weights(weights, shape=v.shape, exact=False)
    keep = w > 0
    infinite = int(np.count_nonzero(keep & (v == math.inf)))
    value = math.inf if infinite else float(np.dot(w[keep], v[keep]) / w.sum())
    return Mean(value, infinite, int(np.count_nonzero(keep)))


def seed_summary(values: object) -> tuple[float, float | Undefined]:
    """The mean of runs that differ only in their seed, and their sample standard deviation.

    Formula: v̄ and √(Σ (v − v̄)² / (n − 1)).

    Claim: F.seeds.

    Convention: ddof 1; the deviation of a single run is `Undefined`.

    Raises
    ------
    InvalidArgument
        For no value, a NaN or an infinity.

    Examples
    --------
    >>> seed_summary([1.0, 2.0, 3.0])
    (2.0, 1.0)
    """
    (v,) = read_exact(values=values)
    one_dimensional(v, argument="values")
    mean = Fraction(total(v)) / len(v)
    if len(v) == 1:
        return float(mean), Undefined("one run has no spread", {"runs": 1})
    return float(mean), math.sqrt(Fraction(total((x - mean) * (x - mean) for x in v)) / (len(v) - 1))


def contrast(first: Mean, second: Mean) -> Value | Undefined:
    """The difference of two means, or `Undefined` with both counts where both are infinite.

    Formula: first − second; inf − inf is undefined, never NaN.

    Claim: C.log-loss.

    Examples
    --------
    >>> contrast(Mean(2.0, 0, 5), Mean(0.5, 0, 5))
    1.5
    >>> contrast(Mean(math.inf, 1, 5), Mean(math.inf, 2, 5)).reason
    'both means are infinite'
    """
    if first.infinite and second.infinite:
        return Undefined("both means are infinite", {"first": first.infinite, "second": second.infinite})
    return first.value - second.value
