"""Decisions with a reject option: act on the selected class, or defer at a known cost.

A wrong answer costs 1, a right one 0, deferring c with 0 < c < 1. An action is the index of a class (0 no, 1
yes for a binary question) or `DEFER`, −1. What is not here: policies on two reports (`policies`), curves over
the cost (`curves`).

Every comparison is made with the cost and 1 − c exactly, or, on float arrays, with each rounded once from its
exact value. For costs of at most 15 significant digits that is the same action as the decimal's: a double
that is the nearest to a decimal compares with it as the shortest decimal of that double does. Sums of floats
have no such property, so what compares a sum (a midpoint, a difference) lives in modules that compute on
decimals only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._actions import DEFER, NO, YES, read_actions
from exactworlds.metrics._arguments import (
    Array,
    Value,
    apply_rows,
    as_fraction,
    check_cost,
    check_mask,
    check_probability,
    check_simplex,
    is_exact,
    place_of,
    read,
    result,
)
from exactworlds.metrics._ordering import Real
from exactworlds.metrics.accuracy import first_maximum_formula

__all__ = [
    "DEFER",
    "NO",
    "PRIMARY_COST",
    "PRIMARY_COSTS",
    "SECONDARY_COSTS",
    "YES",
    "action_array",
    "action_formula",
    "actions",
    "actions_binary",
    "binary_action_array",
    "binary_action_formula",
    "binary_loss_array",
    "binary_loss_formula",
    "decision_loss_array",
    "decision_loss_formula",
    "exact_decimals",
    "expected_loss",
    "expected_loss_binary",
]


PRIMARY_COSTS = tuple(Fraction(k, 100) for k in (2, 5, 10, 20, 40))
"""Reject costs of the primary cohort (P2 §5.3)."""

SECONDARY_COSTS = tuple(Fraction(k, 100) for k in (5, 10, 20, 30, 40))
"""Reject costs of the secondary cohort; never pooled with the primary ones."""

PRIMARY_COST = Fraction(1, 10)
"""The reject cost of the headline tables."""


def exact_decimals(values: object) -> Value:
    """Numbers as Fractions, a float as the decimal that repr prints: the door from floats to exact results.

    Claim: conventions.exact. Elementwise.

    Raises
    ------
    InvalidArgument
        For a NaN, an infinity or no value.

    Examples
    --------
    >>> exact_decimals(0.1)
    Fraction(1, 10)
    """
    raw = np.asarray(values, dtype=object)
    if raw.size == 0:
        raise InvalidArgument("values", "an empty array", "at least one value")
    out = np.empty(raw.shape, dtype=object)
    for index, value in np.ndenumerate(raw):
        out[index] = as_fraction(value, argument="values", index=place_of(index))
    return result(out)


def action_formula(report: Sequence[Real], cost: Real) -> int:
    """The first maximum if it is at least 1 − c, else `DEFER`.

    Proof: proofs/test_controller.py::test_the_action_is_the_first_of_least_loss_under_its_own_report
    """
    best = first_maximum_formula(report)
    if report[best] >= 1 - cost:
        return best
    return DEFER


def action_array(report: Array, answer_from: Real) -> Array:
    """Array twin of `action_formula` over the last axis; `answer_from` is 1 − c."""
    return np.where(report.max(axis=-1) >= answer_from, np.argmax(report, axis=-1), DEFER)


def actions(*, report: object, cost: object, valid: object = None) -> Value:
    """What the controller does with a report: the index of a class, or `DEFER`.

    Formula: the first minimiser of expected loss under p in the order class 0 … K−1, defer; that is ŷ(p) if
    max p ≥ 1 − c, else defer.

    Claim: D.controller (P2 §5.3).

    Convention: at max p = 1 − c the class wins; a row that is not `valid` defers (its numbers are checked all
    the same: give a stand-in).

    Shapes: (…, K) to integer (…). Floats: 1 − c is rounded once from its exact value.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], sums that are not 1, or a cost outside (0, 1).

    Examples
    --------
    >>> actions(report=["0.1", "0.9"], cost="0.1"), actions(report=["0.1", "0.9"], cost="0.09")
    (1, -1)
    """
    (p,) = read(report=report)
    check_simplex(p, argument="report")
    c = check_cost(cost)
    mask = check_mask(valid, argument="valid", shape=p.shape[:-1])
    if is_exact(p):
        chosen = apply_rows(lambda row: action_formula(row, c), p, core=1)
    else:
        chosen = action_array(p, float(1 - c))
    return _integers(np.where(mask, chosen, DEFER))


def binary_action_formula(report: Real, cost: Real) -> int:
    """The first minimiser of (p, 1 − p, c) in the order no, yes, defer.

    Proof: proofs/test_controller.py::test_the_binary_action_is_the_first_of_no_yes_defer
    Proof: proofs/test_action_regions.py::test_the_regions_are_those_of_the_controller
    Proof: proofs/test_elementary_scores.py::test_between_breakpoints_the_reject_loss_is_affine
    """
    if 2 * report > 1:
        if report >= 1 - cost:
            return YES
    elif report <= cost:
        return NO
    return DEFER


def binary_action_array(report: Array, cost: Real, answer_from: Real) -> Array:
    """Array twin of `binary_action_formula`, elementwise; `answer_from` is 1 − c."""
    above = 2 * report > 1
    return np.where(above & (report >= answer_from), YES, np.where(~above & (report <= cost), NO, DEFER))


def actions_binary(*, report: object, cost: object, valid: object = None) -> Value:
    """`actions` for reports that are the probability of yes: `NO`, `YES` or `DEFER`.

    Formula: the first minimiser of p (no), 1 − p (yes), c (defer); for c < ½: no iff p ≤ c, else yes iff p ≥
    1 − c, else defer.

    Claim: D.controller.

    Convention: both thresholds act; p = ½ at c ≥ ½ is no; a row that is not `valid` defers. Elementwise.
    Floats: c and 1 − c are each rounded once.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or a cost outside (0, 1).

    Examples
    --------
    >>> actions_binary(report=[0.1, 0.9, 0.84], cost="0.1")
    array([ 0,  1, -1])
    """
    (p,) = read(report=report)
    check_probability(p, argument="report")
    c = check_cost(cost)
    mask = check_mask(valid, argument="valid", shape=p.shape)
    if is_exact(p):
        chosen = apply_rows(lambda value: binary_action_formula(value, c), p, core=0)
    else:
        chosen = binary_action_array(p, float(c), float(1 - c))
    return _integers(np.where(mask, chosen, DEFER))


def decision_loss_formula(action: int, target: Sequence[Real], cost: Real) -> Real:
    """c for a deferral, else 1 − q[action].

    Proof: proofs/test_controller.py::test_a_loss_is_the_chance_of_being_wrong
    """
    if action < 0:
        return cost
    return 1 - target[action]


def decision_loss_array(action: Array, target: Array, cost: Real) -> Array:
    """Array twin of `decision_loss_formula` over the last axis of the target."""
    index = np.expand_dims(np.maximum(action, 0), -1)
    return np.where(action < 0, cost, 1 - np.take_along_axis(target, index, axis=-1)[..., 0])


def binary_loss_formula(action: int, target: Real, cost: Real) -> Real:
    """c for a deferral, q for no, 1 − q for yes.

    Proof: proofs/test_controller.py::test_binary_losses_are_those_of_two_classes
    """
    if action == YES:
        return 1 - target
    if action == NO:
        return target
    return cost


def binary_loss_array(action: Array, target: Array, cost: Real) -> Array:
    """Array twin of `binary_loss_formula`, elementwise."""
    return np.where(action == YES, 1 - target, np.where(action == NO, target, cost))


def expected_loss(*, action: object, target: object, cost: object) -> Value:
    """The loss that an action has in expectation under the target; smaller is better.

    Formula: 1 − q[a] for a class, c for `DEFER`.

    Claim: D.controller.

    Range [0, 1].

    Shapes: integer (…) and (…, K), to (…).

    Raises
    ------
    InvalidArgument
        For a target that is no distribution, an action outside −1 … K−1, or a cost outside (0, 1).

    Examples
    --------
    >>> expected_loss(action=1, target=["97/317", "220/317"], cost="0.1")
    Fraction(97, 317)
    """
    (q,) = read(target=target)
    check_simplex(q, argument="target")
    c = check_cost(cost)
    a = read_actions(action, classes=q.shape[-1], shape=q.shape[:-1])
    if is_exact(q):
        return apply_rows(lambda i, row: decision_loss_formula(i, row, c), a, _rows_of(q), core=0)
    return result(decision_loss_array(a, q, float(c)))


def expected_loss_binary(*, action: object, target: object, cost: object) -> Value:
    """`expected_loss` for targets that are the probability of yes.

    Formula: q for no, 1 − q for yes, c for defer.

    Claim: D.controller.

    Range [0, 1]; elementwise.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], an action outside −1, 0, 1, or a cost outside (0, 1).

    Examples
    --------
    >>> expected_loss_binary(action=YES, target="220/317", cost="0.1")
    Fraction(97, 317)
    """
    (q,) = read(target=target)
    check_probability(q, argument="target")
    c = check_cost(cost)
    a = read_actions(action, classes=2, shape=q.shape)
    if is_exact(q):
        return apply_rows(lambda i, value: binary_loss_formula(i, value, c), a, q, core=0)
    return result(binary_loss_array(a, q, float(c)))


def _rows_of(q: Array) -> Array:
    """Each leading index's class vector as one object, so that it runs beside an integer."""
    out = np.empty(q.shape[:-1], dtype=object)
    for index in np.ndindex(*q.shape[:-1]):
        out[index] = tuple(q[index])
    return out


def _integers(values: Array) -> Value:
    return result(np.asarray(values).astype(np.int64))
