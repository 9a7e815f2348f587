"""What a decision costs against the best one: oracle loss, regret and its bounds, headroom, margins.

The oracle is the controller on the target itself. What is not here: the controller (`decisions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from exactworlds.metrics._arguments import (
    Array,
    Value,
    apply_rows,
    check_cost,
    check_probability,
    check_same_shape,
    check_simplex,
    is_exact,
    read,
    result,
)
from exactworlds.metrics._ordering import Real, absolute, larger, smaller
from exactworlds.metrics.accuracy import bayes_accuracy_formula
from exactworlds.metrics.decisions import (
    action_array,
    action_formula,
    actions_binary,
    decision_loss_array,
    decision_loss_formula,
    expected_loss_binary,
)

__all__ = [
    "binary_oracle_loss_formula",
    "decision_margin",
    "decision_margin_binary",
    "headroom",
    "headroom_binary",
    "headroom_formula",
    "margin_formula",
    "oracle_loss",
    "oracle_loss_binary",
    "oracle_loss_formula",
    "regret",
    "regret_binary",
    "regret_bound",
    "regret_bound_formula",
    "regret_formula",
]


def oracle_loss_formula(target: Sequence[Real], cost: Real) -> Real:
    """min(1 − max q, c).

    Proof: proofs/test_controller.py::test_the_oracle_is_the_controller_on_the_target
    """
    return smaller(1 - bayes_accuracy_formula(target), cost)


def binary_oracle_loss_formula(target: Real, cost: Real) -> Real:
    """min(q, 1 − q, c).

    Proof: proofs/test_controller.py::test_the_binary_oracle_is_the_oracle_of_two_classes
    """
    return smaller(smaller(target, 1 - target), cost)


def oracle_loss(*, target: object, cost: object) -> Value:
    """The loss of the controller that reads the target itself: no policy has less.

    Formula: min(1 − max q, c).

    Claim: D.controller.

    Range [0, c].

    Shapes: (…, K) to (…).

    Raises
    ------
    InvalidArgument
        For a target that is no distribution or a cost outside (0, 1).

    Examples
    --------
    >>> oracle_loss(target=["97/317", "220/317"], cost="0.1")
    Fraction(1, 10)
    """
    (q,) = read(target=target)
    check_simplex(q, argument="target")
    c = check_cost(cost)
    if is_exact(q):
        return apply_rows(lambda row: oracle_loss_formula(row, c), q, core=1)
    return result(np.minimum(1 - q.max(axis=-1), float(c)))


def oracle_loss_binary(*, target: object, cost: object) -> Value:
    """`oracle_loss` for targets that are the probability of yes.

    Formula: min(q, 1 − q, c).

    Claim: D.controller.

    Range [0, min(½, c)]; elementwise.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or a cost outside (0, 1).

    Examples
    --------
    >>> oracle_loss_binary(target="0.97", cost="0.1")
    Fraction(3, 100)
    """
    (q,) = read(target=target)
    check_probability(q, argument="target")
    c = check_cost(cost)
    if is_exact(q):
        return apply_rows(lambda value: binary_oracle_loss_formula(value, c), q, core=0)
    return result(np.minimum(np.minimum(q, 1 - q), float(c)))


def regret_formula(report: Sequence[Real], target: Sequence[Real], cost: Real) -> Real:
    """The loss of the report's action minus the oracle's.

    Proof: proofs/test_regret.py::test_regret_is_at_least_zero_and_within_its_bound
    Proof: proofs/test_regret.py::test_regret_of_four_classes_is_within_its_bound
    Proof: proofs/test_regret.py::test_the_sharper_bounds
    Proof: proofs/test_regret.py::test_any_number_of_classes_by_three_cells
    """
    return decision_loss_formula(action_formula(report, cost), target, cost) - oracle_loss_formula(target, cost)


def regret(*, report: object, target: object, cost: object) -> Value:
    """What acting on the report costs more, in expectation, than acting on the target; 0 is best.

    Formula: E_q ℓ(a(p)) − min(1 − max q, c).

    Claim: D.regret.

    Convention: at most 2·TV(p, q), see `regret_bound`.

    Range [0, 1].

    Shapes: (…, K) twice, to (…). In floats a regret that is exactly 0 may come out as 1e-17: decide its sign
    on exact input (`exact_decimals`).

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], sums that are not 1, shapes that differ, or a cost outside (0, 1).

    Examples
    --------
    >>> regret(report=["0.03", "0.97"], target=["97/317", "220/317"], cost="0.1")
    Fraction(653, 3170)
    """
    p, q = read(report=report, target=target)
    check_simplex(p, argument="report")
    check_simplex(q, argument="target")
    check_same_shape(report=p, target=q)
    c = check_cost(cost)
    if is_exact(p):
        return apply_rows(lambda a, b: regret_formula(a, b, c), p, q, core=1)
    taken = action_array(p, float(1 - c))
    return result(decision_loss_array(taken, q, float(c)) - np.minimum(1 - q.max(axis=-1), float(c)))


def regret_binary(*, report: object, target: object, cost: object) -> Value:
    """`regret` for reports and targets that are the probability of yes.

    Formula: E_q ℓ(a(p)) − min(q, 1 − q, c).

    Claim: D.regret. Elementwise; on floats as `regret`.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], shapes that differ, or a cost outside (0, 1).

    Examples
    --------
    >>> regret_binary(report="0.97", target="220/317", cost="0.1")
    Fraction(653, 3170)
    """
    p, q = read(report=report, target=target)
    check_probability(p, argument="report")
    check_probability(q, argument="target")
    check_same_shape(report=p, target=q)
    c = check_cost(cost)
    taken = actions_binary(report=p, cost=c)
    return result(
        _object_or_float(expected_loss_binary(action=taken, target=q, cost=c), q) - oracle_loss_binary(target=q, cost=c)
    )


def regret_bound_formula(tv: Real, cost: Real) -> Real:
    """The least of 2·TV and, for c ≤ ½, TV / (1 − c).

    Proof: proofs/test_regret.py::test_the_bound_is_attained_at_every_cost
    """
    bound = 2 * tv
    if 2 * cost <= 1:
        return smaller(bound, tv / (1 - cost))
    return bound


def regret_bound(*, tv: object, cost: object) -> Value:
    """The largest regret that a valid report at a total variation distance can have.

    Formula: 2·TV, and TV / (1 − c) for c ≤ ½ (attained).

    Claim: D.regret.

    Range [0, 2]; elementwise.

    Raises
    ------
    InvalidArgument
        For a distance outside [0, 1] or a cost outside (0, 1).

    Examples
    --------
    >>> regret_bound(tv="0.09", cost="0.1")
    Fraction(1, 10)
    """
    (distance,) = read(tv=tv)
    check_probability(distance, argument="tv")
    c = check_cost(cost)
    if is_exact(distance):
        return apply_rows(lambda value: regret_bound_formula(value, c), distance, core=0)
    return result(distance * float(min(Fraction(2), 1 / (1 - c)) if 2 * c <= 1 else 2))


def headroom_formula(target: Sequence[Real], cost: Real) -> Real:
    """max(0, max q − (1 − c)).

    Proof: proofs/test_controller.py::test_the_oracle_is_the_controller_on_the_target
    """
    return larger(0 * cost, bayes_accuracy_formula(target) - (1 - cost))


def headroom(*, target: object, cost: object) -> Value:
    """What the oracle gains by acting instead of deferring; positive where acting pays.

    Formula: max(0, max q − (1 − c)).

    Claim: D.headroom.

    Range [0, c].

    Shapes: (…, K) to (…). Floats: 1 − c is rounded once.

    Raises
    ------
    InvalidArgument
        For a target that is no distribution or a cost outside (0, 1).

    Examples
    --------
    >>> headroom(target=["0.1", "0.9"], cost="0.1"), headroom(target=["0.03", "0.97"], cost="0.1")
    (Fraction(0, 1), Fraction(7, 100))
    """
    (q,) = read(target=target)
    check_simplex(q, argument="target")
    c = check_cost(cost)
    if is_exact(q):
        return apply_rows(lambda row: headroom_formula(row, c), q, core=1)
    return result(np.maximum(0.0, q.max(axis=-1) - float(1 - c)))


def headroom_binary(*, target: object, cost: object) -> Value:
    """`headroom` for targets that are the probability of yes.

    Formula: max(0, max(q, 1 − q) − (1 − c)).

    Claim: D.headroom. Elementwise.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or a cost outside (0, 1).

    Examples
    --------
    >>> headroom_binary(target=["0.9", "0.03"], cost="0.1").tolist()
    [Fraction(0, 1), Fraction(7, 100)]
    """
    (q,) = read(target=target)
    check_probability(q, argument="target")
    c = check_cost(cost)
    if is_exact(q):
        return apply_rows(lambda value: headroom_formula((1 - value, value), c), q, core=0)
    return result(np.maximum(0.0, np.maximum(q - float(1 - c), float(c) - q)))


def margin_formula(report: Sequence[Real], cost: Real) -> Real:
    """|max p − (1 − c)|.

    Proof: proofs/test_margins.py::test_within_the_margin_the_decision_stays
    Proof: proofs/test_margins.py::test_within_the_margin_the_decision_of_four_classes_stays
    Proof: proofs/test_margins.py::test_the_margin_is_attained_everywhere
    """
    return absolute(bayes_accuracy_formula(report) - (1 - cost))


def decision_margin(*, report: object, cost: object) -> Value:
    """How far a report is, in total variation, from another decision between acting and deferring.

    Formula: |max p − (1 − c)|, c < ½.

    Claim: D.margin.

    Convention: a report within the margin keeps an action, strictly within it a deferral; attained.

    Range [0, 1).

    Shapes: (…, K) to (…).

    Raises
    ------
    InvalidArgument
        For a report that is no distribution or a cost outside (0, ½).

    Examples
    --------
    >>> decision_margin(report=["0.16", "0.84"], cost="0.1")
    Fraction(3, 50)
    """
    (p,) = read(report=report)
    check_simplex(p, argument="report")
    c = check_cost(cost, below=Fraction(1, 2))
    if is_exact(p):
        return apply_rows(lambda row: margin_formula(row, c), p, core=1)
    return result(np.abs(p.max(axis=-1) - float(1 - c)))


def decision_margin_binary(*, report: object, cost: object) -> Value:
    """`decision_margin` for reports that are the probability of yes.

    Formula: |max(p, 1 − p) − (1 − c)|, c < ½.

    Claim: D.margin. Elementwise.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or a cost outside (0, ½).

    Examples
    --------
    >>> decision_margin_binary(report="0.84", cost="0.1")
    Fraction(3, 50)
    """
    (p,) = read(report=report)
    check_probability(p, argument="report")
    c = check_cost(cost, below=Fraction(1, 2))
    if is_exact(p):
        return apply_rows(lambda value: margin_formula((1 - value, value), c), p, core=0)
    return result(np.abs(np.maximum(p - float(1 - c), float(c) - p)))


def _object_or_float(value: Value, like: Array) -> Value:
    return np.asarray(value, dtype=like.dtype)
