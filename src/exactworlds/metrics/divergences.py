"""How far a report is from its target: total variation, KL divergence, entropies and the bounds between them.

Distances are returned row by row: `means` averages them. What is not here: proper scores (`scores`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    Value,
    apply_rows,
    as_fraction,
    check_interval,
    check_probability,
    check_simplex,
    is_exact,
    read,
    result,
)
from exactworlds.metrics._ordering import Real, absolute, total
from exactworlds.metrics._rows import (
    binary_pair,
    class_pair,
    float_rows,
    log_of_exact,
)
from exactworlds.metrics.accuracy import (
    bayes_accuracy_formula,
    expected_accuracy_array,
    expected_accuracy_formula,
)

__all__ = [
    "accuracy_gap",
    "accuracy_gap_bound",
    "accuracy_gap_bound_from_tv",
    "accuracy_gap_bound_from_tv_formula",
    "accuracy_gap_formula",
    "entropy_bits",
    "entropy_bits_binary",
    "entropy_formula",
    "kl_formula",
    "kl_nats",
    "kl_nats_array",
    "kl_nats_binary",
    "pinsker_bound",
    "pinsker_bound_formula",
    "total_variation",
    "total_variation_array",
    "total_variation_binary",
    "total_variation_binary_formula",
    "total_variation_formula",
]


def total_variation_formula(report: Sequence[Real], target: Sequence[Real]) -> Real:
    """½ Σ |p_k − q_k|.

    Proof: proofs/test_regret.py::test_total_variation_is_the_largest_difference_on_any_event
    Proof: proofs/test_regret.py::test_merging_classes_never_raises_the_total_variation
    Proof: proofs/test_pinsker.py::test_merging_by_sign_keeps_the_total_variation
    """
    return total(absolute(p - q) for p, q in zip(report, target, strict=True)) / 2


def total_variation_array(report: Array, target: Array) -> Array:
    """Array twin of `total_variation_formula` over the last axis."""
    difference: Array = np.abs(report - target).sum(axis=-1) / 2
    return difference


def total_variation(*, report: object, target: object) -> Value:
    """The largest difference that report and target give to any event; 0 is best.

    Formula: ½‖p − q‖₁.

    Claim: C.tv.

    Range [0, 1]; symmetric.

    Shapes: (…, K) twice, to (…).

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], sums that are not 1, or shapes that differ.

    Examples
    --------
    >>> total_variation(report=["0.5", "0.3", "0.2"], target=["0.4", "0.3", "0.3"])
    Fraction(1, 10)
    """
    p, q = class_pair(report, target)
    if is_exact(p):
        return apply_rows(total_variation_formula, p, q, core=1)
    return result(total_variation_array(p, q))


def total_variation_binary_formula(report: Real, target: Real) -> Real:
    """|p − q|.

    Proof: proofs/test_regret.py::test_the_binary_distance_is_that_of_two_classes
    """
    return absolute(report - target)


def total_variation_binary(*, report: object, target: object) -> Value:
    """`total_variation` for reports and targets that are the probability of yes.

    Formula: |p − q|.

    Claim: C.tv.

    Range [0, 1]; elementwise.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> total_variation_binary(report="0.84", target="220/317")
    Fraction(1157, 7925)
    """
    p, q = binary_pair(report, target)
    if is_exact(p):
        return apply_rows(total_variation_binary_formula, p, q, core=0)
    return result(np.abs(p - q))


def kl_formula(report: Sequence[Real], target: Sequence[Real], *, log: Callable[[Real], Real]) -> Real:
    """Σ q_k log(q_k / p_k) over q_k > 0; infinite where q_k > 0 = p_k. The logarithm is handed in.

    Proof: proofs/test_propriety.py::test_log_loss_is_entropy_plus_divergence
    Proof: proofs/test_propriety.py::test_what_is_impossible_costs_infinitely_much_and_nothing_else_does
    Proof: proofs/test_pinsker.py::test_pinsker_for_two_classes
    Proof: proofs/test_pinsker.py::test_pinsker_at_the_ends
    Proof: proofs/test_pinsker.py::test_merging_two_classes_lowers_the_divergence
    Proof: proofs/test_propriety.py::test_the_divergence_with_the_bound_for_the_logarithm_is_zero
    Proof: proofs/test_propriety.py::test_a_zero_of_the_target_only_helps
    """
    out: Real = 0
    for p, q in zip(report, target, strict=True):
        if q > 0:
            if p > 0:
                out = out + q * log(q / p)
            else:
                return math.inf
    return out


def kl_nats_array(report: Array, target: Array) -> Array:
    """Array twin of `kl_formula` over the last axis, float64, natural logarithm."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = target * (np.log(target) - np.log(report))
    terms[target == 0] = 0.0
    out: Array = terms.sum(axis=-1)
    return out


def kl_nats(*, report: object, target: object) -> Value:
    """The expected excess log loss of a report over the target, in nats; 0 is best, infinity is kept.

    Formula: KL(q‖p) = Σ_k q_k ln(q_k / p_k), with 0·ln 0 = 0; +inf iff some q_k > 0 = p_k.

    Claim: C.kl.

    Convention: natural logarithm, nothing clipped; range [0, inf].

    Shapes: (…, K) twice, to (…); results are floats. Exact input: each logarithm is taken of the exact ratio,
    relative error below 1e-14 a term; float input: absolute error below 1e-15·K·(1 + max |ln|), so that a
    value near 0 may come out as −1e-16.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], sums that are not 1, or shapes that differ.

    Notes
    -----
    Departures: SciPy's `entropy` normalises what does not sum to 1; here it is refused.

    Examples
    --------
    >>> kl_nats(report=["0.5", "0.5"], target=[1, 0])
    0.6931471805599453
    >>> kl_nats(report=[1.0, 0.0], target=[0.5, 0.5])
    inf
    """
    p, q = class_pair(report, target)
    if is_exact(p):
        return float_rows(lambda a, b: kl_formula(a, b, log=log_of_exact), p, q, core=1)
    return result(kl_nats_array(p, q))


def kl_nats_binary(*, report: object, target: object, clip: tuple[object, object] | None = None) -> Value:
    """`kl_nats` for probabilities of yes, with a clipped report if, and only if, it is asked for.

    Formula: q ln(q/p) + (1−q) ln((1−q)/(1−p)).

    Claim: C.kl.

    Convention: with `clip=(low, high)` the report's probability of yes is moved into [low, high] first, its
    complement is 1 minus that, and the target is never clipped (P1's tables: ("0.001", "0.999")). A clipped
    value is not 0 at p = q outside the interval. Elementwise; results are floats, with the errors of
    `kl_nats`.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], shapes that differ, or a clip that is not 0 ≤ low < high ≤ 1.

    Examples
    --------
    >>> kl_nats_binary(report=0, target=0, clip=("0.001", "0.999"))
    0.0010005003335835335
    """
    p, q = binary_pair(report, target)
    if clip is not None:
        low, high = (
            as_fraction(clip[0], argument="clip", index=0),
            as_fraction(clip[1], argument="clip", index=1),
        )
        if not 0 <= low < high <= 1:
            raise InvalidArgument("clip", clip, "two bounds with 0 ≤ low < high ≤ 1")
        bounds: tuple[Any, Any] = (low, high) if is_exact(p) else (float(low), float(high))
        p = np.asarray(np.maximum(np.minimum(p, bounds[1]), bounds[0]), dtype=p.dtype)
    if is_exact(p):
        return float_rows(lambda a, b: kl_formula((1 - a, a), (1 - b, b), log=log_of_exact), p, q, core=0)
    return result(kl_nats_array(np.stack([1 - p, p], axis=-1), np.stack([1 - q, q], axis=-1)))


def entropy_formula(target: Sequence[Real], *, log: Callable[[Real], Real]) -> Real:
    """−Σ q_k log q_k over q_k > 0. The logarithm is handed in.

    Proof: proofs/test_hiding.py::test_hiding_never_lowers_the_entropy
    Proof: proofs/test_hiding.py::test_the_entropy_of_a_fair_label_is_one_bit
    """
    out: Real = 0
    for q in target:
        if q > 0:
            out = out - q * log(q)
    return out


def entropy_bits(target: object) -> Value:
    """The entropy of a target in bits.

    Formula: −Σ_k q_k log₂ q_k, with 0·log 0 = 0.

    Claim: A.entropy.

    Range [0, log₂ K].

    Shapes: (…, K) to (…); floats, absolute error below 1e-15·K.

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1] or a sum that is not 1.

    Notes
    -----
    Departures: SciPy's `entropy` normalises what does not sum to 1; here it is refused.

    Examples
    --------
    >>> entropy_bits(["1/4", "1/4", "1/2"])
    1.5
    """
    (q,) = read(target=target)
    check_simplex(q, argument="target")
    return _entropy_bits(q)


def entropy_bits_binary(target: object) -> Value:
    """The entropy in bits of a binary target given as the probability of yes.

    Formula: h₂(q) = −q log₂ q − (1−q) log₂(1−q).

    Claim: A.entropy.

    Range [0, 1]; elementwise; floats.

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1].

    Examples
    --------
    >>> entropy_bits_binary("1/2"), entropy_bits_binary(1)
    (1.0, 0.0)
    """
    (q,) = read(target=target)
    check_probability(q, argument="target")
    both = np.empty((*q.shape, 2), dtype=q.dtype)
    both[..., 0], both[..., 1] = 1 - q, q
    return _entropy_bits(both)


def _entropy_bits(q: Array) -> Value:
    if is_exact(q):
        return float_rows(lambda a: entropy_formula(a, log=log_of_exact) / math.log(2), q, core=1)
    logs = np.zeros_like(q)
    np.log2(q, out=logs, where=q > 0)
    return result(0.0 - (q * logs).sum(axis=-1))


def pinsker_bound_formula(tv: Real) -> Real:
    """2·TV².

    Proof: proofs/test_pinsker.py::test_pinsker_for_two_classes
    """
    return 2 * tv * tv


def pinsker_bound(tv: object) -> Value:
    """The least KL divergence, in nats, that a total variation distance allows.

    Formula: KL(q‖p) ≥ 2·TV(p, q)².

    Claim: C.pinsker.

    Convention: nats; the tv of the same report that the KL is of (a clipped report's own).

    Range [0, 2]; elementwise; exact for exact input.

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1].

    Examples
    --------
    >>> pinsker_bound("1/2")
    Fraction(1, 2)
    """
    (distance,) = read(tv=tv)
    check_probability(distance, argument="tv")
    return result(pinsker_bound_formula(distance))


def accuracy_gap_formula(report: Sequence[Real], target: Sequence[Real]) -> Real:
    """max q − q[ŷ(p)].

    Proof: proofs/test_pinsker.py::test_the_accuracy_gap_is_at_most_twice_the_total_variation
    Proof: proofs/test_pinsker.py::test_the_gap_is_attained_at_a_half
    """
    return bayes_accuracy_formula(target) - expected_accuracy_formula(report, target)


def accuracy_gap(*, report: object, target: object) -> Value:
    """How much accuracy the selected class gives away against the best class; 0 is best.

    Formula: max q − q[ŷ(p)] ≤ 2·TV ≤ √(2·KL).

    Claim: C.accuracy-gap.

    Range [0, 1].

    Shapes: (…, K) twice, to (…).

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], sums that are not 1, or shapes that differ.

    Examples
    --------
    >>> accuracy_gap(report=["1/2", "1/2"], target=["0.1", "0.9"])
    Fraction(4, 5)
    """
    p, q = class_pair(report, target)
    if is_exact(p):
        return apply_rows(accuracy_gap_formula, p, q, core=1)
    return result(q.max(axis=-1) - expected_accuracy_array(p, q))


def accuracy_gap_bound(kl_nats: object) -> Value:
    """The largest accuracy gap that a KL divergence in nats allows; for means, of the mean KL.

    Formula: √(2·KL); in bits it would be √(2 ln 2·KL).

    Claim: C.accuracy-gap.

    Range [0, inf]; elementwise; floats.

    Raises
    ------
    InvalidArgument
        For a negative value or a NaN; infinity is allowed.

    Examples
    --------
    >>> accuracy_gap_bound(0.5)
    1.0
    """
    kl = np.asarray(kl_nats)
    if kl.dtype.kind not in "iuf" or kl.size == 0:
        raise InvalidArgument("kl_nats", kl_nats, "divergences as floats")
    check_interval(kl, argument="kl_nats", low=0, high=math.inf, expected="a divergence of at least 0")
    return result(np.sqrt(2.0 * kl))


def accuracy_gap_bound_from_tv_formula(tv: Real) -> Real:
    """2·TV.

    Proof: proofs/test_pinsker.py::test_from_the_divergence_to_the_gap
    """
    return 2 * tv


def accuracy_gap_bound_from_tv(tv: object) -> Value:
    """The largest accuracy gap that a total variation distance allows.

    Formula: 2·TV.

    Claim: C.accuracy-gap.

    Range [0, 2]; elementwise; exact for exact input.

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1].

    Examples
    --------
    >>> accuracy_gap_bound_from_tv("0.1")
    Fraction(1, 5)
    """
    (distance,) = read(tv=tv)
    check_probability(distance, argument="tv")
    return result(accuracy_gap_bound_from_tv_formula(distance))
