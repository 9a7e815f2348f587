"""Expected calibration error, against drawn labels and against exact targets.

Bins are half-open, [b/B, (b+1)/B) with the last one closed, and their edges are rational. Equal-frequency
bins cut the cumulated weight and divide a value that straddles a cut in proportion, so that no result depends
on the order of rows. What is not here: the table of bins (`reliability`), multicalibration (`witnesses`),
fitted recalibration (`snapshots`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    Value,
    apply_rows,
    as_label,
    as_weights,
    check_choice,
    check_count,
    check_probability,
    check_same_shape,
    check_simplex,
    is_exact,
    one_dimensional,
    read,
    result,
)
from exactworlds.metrics._ordering import Real, absolute, smaller, total
from exactworlds.metrics.accuracy import expected_accuracy_array, first_maximum_array

__all__ = [
    "BIN_COUNTS",
    "Confidences",
    "bin_index",
    "bin_index_array",
    "bin_index_formula",
    "calibration_error",
    "complement_array",
    "confidences",
    "confidences_binary",
    "equal_frequency_formula",
    "expected_calibration_error",
    "expected_calibration_error_binary",
    "fixed_bins_formula",
]

BIN_COUNTS = (10, 15, 20)
"""The numbers of fixed bins that are reported (P1 §5)."""

STRATEGIES = ("fixed", "equal_frequency")

BLOCK = 2**15
"""Rows that are binned at one time."""


# --- bins -----------------------------------------------------------------------------------------------------------


def bin_index_formula(value: Real, bins: int) -> int:
    """The largest b ≤ B − 1 with v ≥ b/B.

    Proof: proofs/test_estimators.py::test_bins_are_closed_below_and_the_last_one_above
    """
    for index in range(bins - 1, 0, -1):
        if value * bins >= index:
            return index
    return 0


def bin_index_array(value: Array, bins: int) -> Array:
    """Array twin of `bin_index_formula` for float64: the edges are the doubles nearest b/B."""
    edges = _edges(bins)
    index = np.minimum((value * bins).astype(np.intp), bins - 1)
    # The product may round across an edge by one bin; a comparison with the edges on either side mends it.
    index -= value < edges[index]
    index += value >= edges[index + 1]
    out: Array = np.minimum(index, bins - 1)
    return out


def _edges(bins: int) -> Array:
    """Division is correctly rounded, so b/B is the double nearest to the rational."""
    return np.append(np.arange(bins) / bins, np.inf)


def bin_index(value: object, *, bins: int) -> Value:
    """The fixed-width bin that a probability falls into.

    Formula: bins [b/B, (b+1)/B), the last one closed.

    Claim: F.ece.

    Convention: an edge belongs to the bin above it, 1 to the last bin. Floats: the edge is the double nearest
    b/B; where b/B is a decimal (B = 10, 20) that is the bin of the decimal that repr prints, for B = 15 the
    double nearest to 2/15 counts as 2/15. Elementwise.

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1] or fewer than one bin.

    Notes
    -----
    Departures: scikit-learn and torchmetrics put an edge into the bin below it; here it belongs to the
    bin above.

    Examples
    --------
    >>> bin_index(0.3, bins=10), bin_index("1", bins=10)
    (3, 9)
    """
    (v,) = read(value=value)
    check_probability(v, argument="value")
    count = check_count(bins, argument="bins")
    if is_exact(v):
        return _integers(apply_rows(lambda x: bin_index_formula(x, count), v, core=0))
    return result(bin_index_array(v, count))


# --- confidence and accuracy ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Confidences:
    """Row by row: a report's largest probability, and the accuracy of the class that it selects."""

    confidence: Array
    accuracy: Array


def confidences(*, report: object, target: object = None, label: object = None) -> Confidences:
    """The confidence of each report, and the accuracy of its selected class by target or by drawn label.

    Formula: v = max p; a = q[ŷ(p)] by target, 1[ŷ(p) = y] by label.

    Claim: F.ece.

    Shapes: (n, K), and (n, K) or integer (n).

    Raises
    ------
    InvalidArgument
        Unless exactly one of target and label is given, and as `expected_accuracy` does.

    Examples
    --------
    >>> confidences(report=[[0.25, 0.75]], label=[1]).accuracy
    array([1.])
    """
    p, q = _report_and_target(report, target, label)
    check_simplex(p, argument="report")
    if p.ndim != 2:
        raise InvalidArgument("report", f"shape {p.shape}", "rows of class probabilities")
    chosen = first_maximum_array(p)
    if q is not None:
        check_simplex(q, argument="target")
        check_same_shape(report=p, target=q)
        return Confidences(p.max(axis=-1), expected_accuracy_array(p, q))
    y = as_label(label, argument="label", classes=p.shape[-1], shape=p.shape[:-1])
    return Confidences(p.max(axis=-1), _as_kind(chosen == y, p))


def complement_array(report: Array) -> Array:
    """1 − p for float64, as the double of the decimal 1 − p wherever p has at most 15 decimals.

    1 − 0.07 is not the double 0.93, and it would fall into another bin or tie class than 0.93 does.
    """
    scaled = np.rint((1 - report) * 1e15) / 1e15
    return np.where(np.rint(report * 1e15) / 1e15 == report, scaled, 1 - report)


def confidences_binary(*, report: object, target: object = None, label: object = None) -> Confidences:
    """`confidences` for reports and targets that are the probability of yes.

    Formula: v = max(p, 1 − p); a = q or y where p > ½, else 1 − q or 1 − y.

    Claim: F.ece.

    Shapes: (n), and (n). Floats: 1 − p is the double of the decimal 1 − p for a report of at most 15
    decimals, so that 0.07 and 0.93 tie.

    Raises
    ------
    InvalidArgument
        Unless exactly one of target and label is given, and for values outside [0, 1].

    Examples
    --------
    >>> confidences_binary(report=[0.07, 0.93], label=[0, 1]).confidence
    array([0.93, 0.93])
    """
    p, q = _report_and_target(report, target, label)
    one_dimensional(p, argument="report")
    check_probability(p, argument="report")
    if q is not None:
        check_probability(q, argument="target")
        check_same_shape(report=p, target=q)
    else:
        q = as_label(label, argument="label", classes=2, shape=p.shape)
    yes = 2 * p > 1
    if is_exact(p):
        return Confidences(np.where(yes, p, 1 - p), _as_kind(np.where(yes, q, 1 - q), p))
    return Confidences(np.where(yes, p, complement_array(p)), np.where(yes, q, 1 - q).astype(np.float64))


def _report_and_target(report: object, target: object, label: object) -> tuple[Array, Array | None]:
    if (target is None) == (label is None):
        found = "both or neither of target and label"
        raise InvalidArgument("target", found, "exactly one of target and label")
    if target is None:
        (p,) = read(report=report)
        return p, None
    p, q = read(report=report, target=target)
    return p, q


def _as_kind(values: Array, like: Array) -> Array:
    if not is_exact(like):
        return values.astype(np.float64)
    out = np.empty(values.shape, dtype=object)
    for index, value in np.ndenumerate(values):
        out[index] = value if isinstance(value, Fraction) else Fraction(int(value))
    return out


# --- the error ------------------------------------------------------------------------------------------------------


def fixed_bins_formula(
    confidence: Sequence[Real], accuracy: Sequence[Real], weights: Sequence[Real], bins: int
) -> Real:
    """Σ_b |Σ_{i∈b} w_i(v_i − a_i)| / Σ w over fixed bins.

    Proof: proofs/test_estimators.py::test_the_calibration_error_of_fixed_bins
    Proof: proofs/test_estimators.py::test_the_exact_mass_error_is_at_most_the_expected_label_error
    """
    sums: list[Real] = [0] * bins
    for v, a, w in zip(confidence, accuracy, weights, strict=True):
        index = bin_index_formula(v, bins)
        sums[index] = sums[index] + w * (v - a)
    return total(absolute(value) for value in sums) / total(weights)


def equal_frequency_formula(
    confidence: Sequence[Real], accuracy: Sequence[Real], weights: Sequence[Real], bins: int
) -> Real:
    """The same over bins that cut the sorted weight at j/B; a value across a cut is divided in proportion.

    Proof: proofs/test_estimators.py::test_the_calibration_error_of_equal_frequency_bins
    """
    blocks = _blocks(confidence, accuracy, weights)
    mass = total(weights)
    sums: list[Real] = [0] * bins
    start: Real = 0
    for _, weight, residual in blocks:
        end = start + weight
        for index in range(bins):
            low, high = mass * index / bins, mass * (index + 1) / bins
            if low < end and start < high:
                part = smaller(end, high) - (start if start >= low else low)
                sums[index] = sums[index] + residual * part / weight
        start = end
    return total(absolute(value) for value in sums) / mass


def _blocks(
    confidence: Sequence[Real], accuracy: Sequence[Real], weights: Sequence[Real]
) -> list[tuple[Real, Real, Real]]:
    """(value, its weight, its weighted residual) in ascending order, equal values joined, by insertion."""
    out: list[tuple[Real, Real, Real]] = []
    rows = sorted(zip(confidence, accuracy, weights, strict=True), key=lambda row: row[0])
    for v, a, w in rows:
        if w > 0:
            if out and out[-1][0] == v:
                _, weight, residual = out[-1]
                out[-1] = (v, weight + w, residual + w * (v - a))
            else:
                out.append((v, w, w * (v - a)))
    return out


def calibration_error(
    *, confidence: object, accuracy: object, bins: int, strategy: str = "fixed", weights: object = None
) -> Value:
    """The expected calibration error of confidences whose accuracies are known or drawn; 0 is best.

    Formula: Σ_b |Σ_{i∈b} w_i(v_i − a_i)| / Σ w.

    Claim: F.ece (P1 §5).

    Range [0, 1].

    Shapes: (n) twice.

    Convention: `fixed` bins as `bin_index`; `equal_frequency` bins cut the cumulated weight, sorted by v, at
    j/B, and a value across a cut is divided in proportion with that value's mean accuracy (`chosen`), so row
    order never matters. Exact input gives a Fraction; float error below 1e-12 at 10⁷ rows.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], shapes that differ, fewer than one bin, or an unknown strategy.

    Notes
    -----
    Departures: scikit-learn's quantile edges collapse where values repeat, and others cut by row order;
    here a repeated value is divided.

    Examples
    --------
    >>> calibration_error(confidence=["0.3", "0.35"], accuracy=[1, 0], bins=10)
    Fraction(7, 40)
    """
    v, a = read(confidence=confidence, accuracy=accuracy)
    one_dimensional(v, argument="confidence")
    check_probability(v, argument="confidence")
    check_probability(a, argument="accuracy")
    check_same_shape(confidence=v, accuracy=a)
    count = check_count(bins, argument="bins")
    check_choice(strategy, argument="strategy", choices=STRATEGIES)
    if is_exact(v):
        w = as_weights(weights, shape=v.shape, exact=True)
        formula = fixed_bins_formula if strategy == "fixed" else equal_frequency_formula
        return formula(v.tolist(), a.tolist(), w.tolist(), count)
    w = as_weights(weights, shape=v.shape, exact=False) if weights is not None else np.empty(0)
    if strategy == "fixed":
        return _fixed_bins_float(v, a, w, count)
    return _equal_frequency_float(v, v - a if weights is None else w * (v - a), w, count)


def _fixed_bins_float(v: Array, a: Array, w: Array, bins: int) -> float:
    """Sums by blocks of rows that stay in a core's cache, twice as fast as by columns; an empty w is ones."""
    sums = np.zeros(bins)
    for start in range(0, len(v), BLOCK):
        part = slice(start, start + BLOCK)
        residual = v[part] - a[part]
        if w.size:
            residual *= w[part]
        sums += np.bincount(bin_index_array(v[part], bins), residual, bins)
    return float(np.abs(sums).sum() / (w.sum() if w.size else len(v)))


def _equal_frequency_float(v: Array, residual: Array, w: Array, bins: int) -> float:
    _, code = np.unique(v, return_inverse=True)
    weight, part = np.bincount(code, w if w.size else None).astype(np.float64), np.bincount(code, residual)
    reached = np.concatenate([[0.0], np.cumsum(weight)])
    summed = np.concatenate([[0.0], np.cumsum(part)])
    cuts = reached[-1] * (np.arange(bins + 1) / bins)
    return float(np.abs(np.diff(np.interp(cuts, reached, summed))).sum() / reached[-1])


def expected_calibration_error(
    *,
    report: object,
    target: object = None,
    label: object = None,
    bins: int,
    strategy: str = "fixed",
    weights: object = None,
) -> Value:
    """The calibration error of class reports, by drawn labels or by the exact mass of the selected class.

    Formula: `calibration_error` of v = max p and a = q[ŷ(p)] (target) or 1[ŷ(p) = y] (label).

    Claim: F.ece.

    Convention: by target it is 0 at p = q and at most the expectation of the error by label.

    Shapes: (n, K), and (n, K) or integer (n).

    Raises
    ------
    InvalidArgument
        As `confidences` and `calibration_error` do.

    Examples
    --------
    >>> expected_calibration_error(report=[[0.25, 0.75]], label=[1], bins=15)
    0.25
    """
    rows = confidences(report=report, target=target, label=label)
    return calibration_error(
        confidence=rows.confidence, accuracy=rows.accuracy, bins=bins, strategy=strategy, weights=weights
    )


def expected_calibration_error_binary(
    *,
    report: object,
    target: object = None,
    label: object = None,
    bins: int,
    strategy: str = "fixed",
    weights: object = None,
) -> Value:
    """`expected_calibration_error` for reports and targets that are the probability of yes.

    Formula: `calibration_error` of v = max(p, 1 − p).

    Claim: F.ece.

    Shapes: (n), and (n).

    Raises
    ------
    InvalidArgument
        As `confidences_binary` and `calibration_error` do.

    Examples
    --------
    >>> expected_calibration_error_binary(report=["0.2", "0.9"], target=["0.3", "0.9"], bins=10)
    Fraction(1, 20)
    """
    rows = confidences_binary(report=report, target=target, label=label)
    return calibration_error(
        confidence=rows.confidence, accuracy=rows.accuracy, bins=bins, strategy=strategy, weights=weights
    )


def _integers(value: Value) -> Value:
    return value.astype(np.int64) if isinstance(value, np.ndarray) else int(value)
