"""The class that a report selects, and how often it is right: expected, realised, and at best.

Class axes are last and in canonical order (the sorted categories, (no, yes) for a binary question); a
`_binary` function takes the probability of yes alone. What is not here: acting or deferring (`decisions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from exactworlds.metrics._arguments import (
    Array,
    Value,
    apply_rows,
    as_label,
    check_simplex,
    is_exact,
    read,
    result,
)
from exactworlds.metrics._ordering import Real, larger
from exactworlds.metrics._rows import (
    binary_label,
    binary_pair,
    class_pair,
)

__all__ = [
    "bayes_accuracy",
    "bayes_accuracy_formula",
    "expected_accuracy",
    "expected_accuracy_array",
    "expected_accuracy_binary",
    "expected_accuracy_binary_formula",
    "expected_accuracy_formula",
    "first_maximum_array",
    "first_maximum_formula",
    "realised_accuracy",
    "realised_accuracy_binary",
    "selected_class",
    "tied_maxima",
]


def first_maximum_formula(report: Sequence[Real]) -> int:
    """The index of the first maximum, by comparisons.

    Claim: conventions.order.

    Proof: proofs/test_controller.py::test_the_selected_class_is_the_first_of_the_largest
    """
    best = 0
    for index in range(1, len(report)):
        if report[index] > report[best]:
            best = index
    return best


def first_maximum_array(report: Array) -> Array:
    """Array twin of `first_maximum_formula` over the last axis."""
    best: Array = np.argmax(report, axis=-1)
    return best


def selected_class(report: object) -> Value:
    """The class ŷ that a report selects: the first maximum in canonical order.

    Formula: ŷ(p) = min{k : p_k = max p}.

    Claim: C.expected-accuracy (P1 Eq. 1; the tie rule is P2's and `chosen` for P1).

    Convention: classes 0 … K−1 along the last axis, sorted; a report of ½, ½ selects class 0 (no).

    Shapes: (…, K) to (…).

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1] or a sum that is not 1.

    Examples
    --------
    >>> selected_class(["0.3", "0.4", "0.3"]), selected_class([0.5, 0.5])
    (1, 0)
    """
    (p,) = read(report=report)
    check_simplex(p, argument="report")
    return apply_rows(first_maximum_formula, p, core=1) if is_exact(p) else result(first_maximum_array(p))


def tied_maxima(report: object) -> Value:
    """How many classes share the maximum of a report (1: no tie); score files count the ties.

    Formula: #{k : p_k = max p}.

    Claim: C.expected-accuracy.

    Shapes: (…, K) to (…).

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1] or a sum that is not 1.

    Examples
    --------
    >>> tied_maxima(["1/3", "1/3", "1/3"])
    3
    """
    (p,) = read(report=report)
    check_simplex(p, argument="report")
    return result((p == p.max(axis=-1, keepdims=True)).sum(axis=-1))


def expected_accuracy_formula(report: Sequence[Real], target: Sequence[Real]) -> Real:
    """q[ŷ(p)].

    Proof: proofs/test_controller.py::test_expected_accuracy_is_at_most_bayes_accuracy
    """
    return target[first_maximum_formula(report)]


def expected_accuracy_array(report: Array, target: Array) -> Array:
    """Array twin of `expected_accuracy_formula` over the last axis."""
    chosen = np.expand_dims(first_maximum_array(report), -1)
    return np.take_along_axis(target, chosen, axis=-1)[..., 0]


def expected_accuracy(*, report: object, target: object) -> Value:
    """The probability that the selected class is right, under the target; larger is better.

    Formula: q[ŷ(p)], at most max q.

    Claim: C.expected-accuracy (P1 Eq. 1).

    Convention: ŷ is the first maximum in canonical order; range [0, 1].

    Shapes: (…, K) twice, to (…).

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], sums that are not 1, or shapes that differ.

    Examples
    --------
    >>> expected_accuracy(report=["0.2", "0.8"], target=["0.4", "0.6"])
    Fraction(3, 5)
    """
    p, q = class_pair(report, target)
    if is_exact(p):
        return apply_rows(expected_accuracy_formula, p, q, core=1)
    return result(expected_accuracy_array(p, q))


def expected_accuracy_binary_formula(report: Real, target: Real) -> Real:
    """q where p > ½, else 1 − q: a report of ½ selects no.

    Proof: proofs/test_controller.py::test_the_binary_accuracy_is_the_accuracy_of_two_classes
    """
    if 2 * report > 1:
        return target
    return 1 - target


def expected_accuracy_binary(*, report: object, target: object) -> Value:
    """`expected_accuracy` for reports and targets that are the probability of yes.

    Formula: q if p > ½ else 1 − q.

    Claim: C.expected-accuracy.

    Range [0, 1]; elementwise, one shape.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> expected_accuracy_binary(report="1/2", target="0.9")
    Fraction(1, 10)
    """
    p, q = binary_pair(report, target)
    if is_exact(p):
        return apply_rows(expected_accuracy_binary_formula, p, q, core=0)
    return result(np.where(2 * p > 1, q, 1 - q))


def bayes_accuracy_formula(target: Sequence[Real]) -> Real:
    """max q, by comparisons.

    Proof: proofs/test_controller.py::test_the_selected_class_is_the_first_of_the_largest
    """
    best = target[0]
    for value in target[1:]:
        best = larger(best, value)
    return best


def bayes_accuracy(target: object) -> Value:
    """The best accuracy that any report can expect on an example.

    Formula: max q.

    Claim: C.expected-accuracy.

    Range [1/K, 1].

    Shapes: (…, K) to (…).

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1] or a sum that is not 1.

    Examples
    --------
    >>> bayes_accuracy(["97/317", "220/317"])
    Fraction(220, 317)
    """
    (q,) = read(target=target)
    check_simplex(q, argument="target")
    return apply_rows(bayes_accuracy_formula, q, core=1) if is_exact(q) else result(q.max(axis=-1))


def realised_accuracy(*, report: object, label: object) -> Value:
    """1 where the selected class is the drawn one, else 0.

    Formula: 1[ŷ(p) = y].

    Claim: C.expected-accuracy.

    Shapes: (…, K) and integer (…), to integer (…).

    Raises
    ------
    InvalidArgument
        For a report that is no distribution or a class outside 0 … K−1.

    Examples
    --------
    >>> realised_accuracy(report=[[0.2, 0.8], [0.5, 0.5]], label=[1, 1])
    array([1, 0])
    """
    (p,) = read(report=report)
    check_simplex(p, argument="report")
    y = as_label(label, argument="label", classes=p.shape[-1], shape=p.shape[:-1])
    return result((first_maximum_array(p) == y).astype(np.int64))


def realised_accuracy_binary(*, report: object, label: object) -> Value:
    """`realised_accuracy` for reports that are the probability of yes; a report of ½ selects no.

    Formula: 1[(p > ½) = y].

    Claim: C.expected-accuracy. Elementwise; labels are 0, 1 or booleans.

    Raises
    ------
    InvalidArgument
        For a value outside [0, 1] or a label that is not 0 or 1.

    Examples
    --------
    >>> realised_accuracy_binary(report=[0.7, 0.5], label=[1, 0])
    array([1, 1])
    """
    p, y = binary_label(report, label)
    return result(((p > Fraction(1, 2) if is_exact(p) else p > 0.5) == (y == 1)).astype(np.int64))
