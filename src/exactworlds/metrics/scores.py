"""Proper scores of a probability report against an exact target or a realised class.

One row is one example. Class axes are last and in canonical order; a `_binary` function takes the probability
of yes alone. Scores are returned row by row: `means` averages them. What is not here: accuracy (`accuracy`),
divergences (`divergences`), decompositions (`decomposition`), calibration (`calibration`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    Value,
    apply_rows,
    as_fraction,
    is_exact,
    result,
)
from exactworlds.metrics._ordering import Real, total
from exactworlds.metrics._rows import (
    binary_label,
    binary_pair,
    class_pair,
    float_rows,
    log_of_exact,
    minus_log,
    report_at_label,
)

__all__ = [
    "brier_score",
    "brier_score_binary",
    "brier_score_binary_formula",
    "brier_score_formula",
    "elementary_score",
    "elementary_score_array",
    "elementary_score_formula",
    "log_loss",
    "log_loss_array",
    "log_loss_binary",
    "log_loss_formula",
    "realised_brier_score",
    "realised_brier_score_formula",
    "realised_brier_score_binary",
    "realised_brier_score_binary_formula",
    "realised_log_loss",
    "realised_log_loss_binary",
]


def brier_score_formula(report: Sequence[Real], target: Sequence[Real]) -> Real:
    """Σ (p_k − q_k)² + 1 − Σ q_k².

    Proof: proofs/test_propriety.py::test_the_brier_score_is_the_mean_over_outcomes
    Proof: proofs/test_propriety.py::test_the_brier_score_is_strictly_proper_and_in_its_range
    """
    squares = total((p - q) * (p - q) for p, q in zip(report, target, strict=True))
    return squares + 1 - total(q * q for q in target)


def brier_score(*, report: object, target: object) -> Value:
    """The expected Brier score under the target, summed over classes; smaller is better.

    Formula: Σ_y q_y Σ_k (p_k − 1[k=y])² = Σ_k (p_k − q_k)² + 1 − Σ_k q_k².

    Claim: C.brier, C.propriety.

    Convention: sum over all classes, range [0, 2]; for two classes it is twice `brier_score_binary`.

    Shapes: (…, K) twice, to (…). Float error below 1e-15·K.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], sums that are not 1, or shapes that differ.

    Examples
    --------
    >>> brier_score(report=["0.8", "0.2"], target=["0.6", "0.4"])
    Fraction(14, 25)
    """
    p, q = class_pair(report, target)
    if is_exact(p):
        return apply_rows(brier_score_formula, p, q, core=1)
    difference = p - q
    return result((difference * difference).sum(axis=-1) + (1 - (q * q).sum(axis=-1)))


def brier_score_binary_formula(report: Real, target: Real) -> Real:
    """(p − q)² + q(1 − q).

    Proof: proofs/test_propriety.py::test_the_binary_brier_score_is_half_that_of_two_classes
    """
    return (report - target) * (report - target) + target * (1 - target)


def brier_score_binary(*, report: object, target: object) -> Value:
    """The expected one-coordinate Brier score of a binary report; half of the sum over both classes.

    Formula: (p − q)² + q(1 − q).

    Claim: C.brier.

    Convention: one coordinate, range [0, 1]; elementwise.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> brier_score_binary(report="0.8", target="0.6")
    Fraction(7, 25)
    """
    p, q = binary_pair(report, target)
    if is_exact(p):
        return apply_rows(brier_score_binary_formula, p, q, core=0)
    difference = p - q
    return result(difference * difference + q * (1 - q))


def realised_brier_score_formula(report: Sequence[Real], label: int) -> Real:
    """Σ p_k² + 1 − 2 p_y.

    Proof: proofs/test_propriety.py::test_the_brier_score_is_the_mean_over_outcomes
    """
    return total(p * p for p in report) + (1 - 2 * report[label])


def realised_brier_score(*, report: object, label: object) -> Value:
    """The Brier score of a report for the class that was drawn, summed over classes.

    Formula: Σ_k (p_k − 1[k=y])² = Σ_k p_k² + 1 − 2 p_y.

    Claim: C.brier.

    Convention: range [0, 2].

    Shapes: (…, K) and integer (…), to (…).

    Raises
    ------
    InvalidArgument
        For a report that is no distribution or a class outside 0 … K−1.

    Notes
    -----
    Departures: scikit-learn halves the score of two classes unless told otherwise; here the name says the
    convention.

    Examples
    --------
    >>> realised_brier_score(report=["0.8", "0.2"], label=0)
    Fraction(2, 25)
    """
    p, at = report_at_label(report, label)
    return result((p * p).sum(axis=-1) + (1 - 2 * at))


def realised_brier_score_binary_formula(report: Real, label: int) -> Real:
    """(p − y)².

    Proof: proofs/test_propriety.py::test_the_binary_brier_score_is_half_that_of_two_classes
    """
    return (report - label) * (report - label)


def realised_brier_score_binary(*, report: object, label: object) -> Value:
    """The one-coordinate Brier score of a binary report for the answer that was drawn.

    Formula: (p − y)².

    Claim: C.brier.

    Convention: one coordinate, range [0, 1]; elementwise.

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1] or a label that is not 0 or 1.

    Examples
    --------
    >>> realised_brier_score_binary(report="0.8", label=1)
    Fraction(1, 25)
    """
    p, y = binary_label(report, label)
    difference = p - y
    return result(difference * difference)


def log_loss_formula(report: Sequence[Real], target: Sequence[Real], *, log: Callable[[Real], Real]) -> Real:
    """−Σ q_k log p_k over q_k > 0; infinite where q_k > 0 = p_k. The logarithm is handed in.

    Proof: proofs/test_propriety.py::test_log_loss_is_entropy_plus_divergence
    Proof: proofs/test_propriety.py::test_log_loss_has_its_slope_at_the_target
    Proof: proofs/test_propriety.py::test_what_is_impossible_costs_infinitely_much_and_nothing_else_does
    """
    out: Real = 0
    for p, q in zip(report, target, strict=True):
        if q > 0:
            if p > 0:
                out = out - q * log(p)
            else:
                return math.inf
    return out


def log_loss_array(report: Array, target: Array) -> Array:
    """Array twin of `log_loss_formula` over the last axis, float64, natural logarithm."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = target * np.log(report)
    terms[target == 0] = 0.0
    out: Array = 0.0 - terms.sum(axis=-1)
    return out


def log_loss(*, report: object, target: object) -> Value:
    """The expected log loss of a report under the target, in nats; smaller is better, infinity is kept.

    Formula: −Σ_k q_k ln p_k; a term with q_k = 0 is 0.

    Claim: C.log-loss, C.propriety.

    Convention: natural logarithm, nothing clipped; range [0, inf].

    Shapes: (…, K) twice, to (…); floats.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], sums that are not 1, or shapes that differ.

    Examples
    --------
    >>> log_loss(report=["1/2", "1/2"], target=["0.3", "0.7"])
    0.6931471805599453
    """
    p, q = class_pair(report, target)
    if is_exact(p):
        return float_rows(lambda a, b: log_loss_formula(a, b, log=log_of_exact), p, q, core=1)
    return result(log_loss_array(p, q))


def log_loss_binary(*, report: object, target: object) -> Value:
    """`log_loss` for reports and targets that are the probability of yes.

    Formula: −q ln p − (1−q) ln(1−p).

    Claim: C.log-loss. Nats; range [0, inf]; elementwise; floats. The float path takes the logarithm of the
    rounded 1 − p: absolute error below 2e-16.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> log_loss_binary(report=0.0, target=0.5)
    inf
    """
    p, q = binary_pair(report, target)
    if is_exact(p):
        return float_rows(lambda a, b: log_loss_formula((1 - a, a), (1 - b, b), log=log_of_exact), p, q, core=0)
    return result(log_loss_array(np.stack([1 - p, p], axis=-1), np.stack([1 - q, q], axis=-1)))


def realised_log_loss(*, report: object, label: object) -> Value:
    """The log loss of a report for the class that was drawn, in nats; infinity is kept.

    Formula: −ln p_y.

    Claim: C.log-loss.

    Convention: nothing clipped; range [0, inf].

    Shapes: (…, K) and integer (…), to (…); floats.

    Raises
    ------
    InvalidArgument
        For a report that is no distribution or a class outside 0 … K−1.

    Notes
    -----
    Departures: scikit-learn clips a probability of 0 to the smallest step and returns a finite loss; here
    it is infinite.

    Examples
    --------
    >>> realised_log_loss(report=[0.25, 0.75], label=0)
    1.3862943611198906
    """
    _, at = report_at_label(report, label)
    return minus_log(at)


def realised_log_loss_binary(*, report: object, label: object) -> Value:
    """The log loss of a binary report for the answer that was drawn, in nats; infinity is kept.

    Formula: −ln p if y = 1, else −ln(1 − p).

    Claim: C.log-loss.

    Range [0, inf]; elementwise; floats. The float path takes the logarithm of the rounded 1 − p: absolute
    error below 2e-16.

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1] or a label that is not 0 or 1.

    Notes
    -----
    Departures: scikit-learn clips a probability of 0 to the smallest step and returns a finite loss; here
    it is infinite.

    Examples
    --------
    >>> realised_log_loss_binary(report=["1/4", 0], label=[0, 1])
    array([0.28768207,        inf])
    """
    p, y = binary_label(report, label)
    return minus_log(np.where(y == 1, p, 1 - p))


def elementary_score_formula(report: Real, target: Real, theta: Real, *, inclusive: bool) -> Real:
    """(1 − θ)q + (θ − q)h, with h = 1[p ≥ θ] if inclusive, else 1[p > θ].

    Proof: proofs/test_elementary_scores.py::test_an_elementary_score_is_a_mean_over_outcomes
    Proof: proofs/test_elementary_scores.py::test_the_reject_loss_is_two_elementary_scores
    Proof: proofs/test_elementary_scores.py::test_the_integral_of_elementary_scores_is_half_the_brier_score
    Proof: proofs/test_elementary_scores.py::test_a_murphy_curve_jumps_by_target_minus_report
    Proof: proofs/test_elementary_scores.py::test_two_classes_have_the_identity_class_by_class
    """
    if report > theta or (inclusive and report >= theta):
        return (1 - theta) * target + (theta - target)
    return (1 - theta) * target


def elementary_score_array(report: Array, target: Array, theta: Real, *, inclusive: bool) -> Array:
    """Array twin of `elementary_score_formula`, elementwise."""
    above = report >= theta if inclusive else report > theta
    score: Array = np.where(above, (1 - theta) * target + (theta - target), (1 - theta) * target)
    return score


def elementary_score(*, report: object, target: object, theta: object, inclusive: bool) -> Value:
    """The expected loss of answering yes above a threshold; every proper binary score is a mixture of these.

    Formula: S_θ(p; q) = (1 − θ)q + (θ − q)h_θ(p), with h_θ(p) = 1[p ≥ θ] if `inclusive`, else 1[p > θ].

    Claim: D.elementary.

    Convention: no answered at outcome yes costs 1 − θ, yes answered at outcome no costs θ. For c < ½ the
    reject loss at cost c is S_c with the strict h plus S_{1−c} with the inclusive h; Murphy curves are
    inclusive.

    Range [0, 1]; elementwise in report and target; one θ. Float input: θ is rounded once.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> elementary_score(report="0.1", target="0.3", theta="0.1", inclusive=True)
    Fraction(7, 100)
    """
    p, q = binary_pair(report, target)
    t = as_fraction(theta, argument="theta")
    if not 0 <= t <= 1:
        raise InvalidArgument("theta", theta, "a threshold in [0, 1]")
    if not isinstance(inclusive, bool):
        raise InvalidArgument("inclusive", inclusive, "True or False")
    if is_exact(p):
        return apply_rows(lambda a, b: elementary_score_formula(a, b, t, inclusive=inclusive), p, q, core=0)
    return result(elementary_score_array(p, q, float(t), inclusive=inclusive))
