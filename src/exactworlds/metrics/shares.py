"""Decisions over a set of roots: coverage, the best fixed action, and changes between two reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exactworlds.metrics._actions import DEFER, NO, YES, read_actions
from exactworlds.metrics._arguments import (
    Array,
    Value,
    as_weights,
    check_cost,
    check_probability,
    is_exact,
    one_dimensional,
    read,
)
from exactworlds.metrics._ordering import Real, total
from exactworlds.metrics.decisions import exact_decimals

__all__ = [
    "ActionChanges",
    "action_changes",
    "best_fixed_action",
    "best_fixed_action_formula",
    "coverage",
    "share_formula",
]


def share_formula(hit: Sequence[bool], weights: Sequence[Real]) -> Real:
    """Σ w over the hits / Σ w.

    Proof: proofs/test_estimators.py::test_the_weighted_mean_is_the_balance_point
    """
    return total(w for w, inside in zip(weights, hit, strict=True) if inside) / total(weights)


def coverage(action: object, *, weights: object = None) -> Value:
    """The weighted share of intended roots that are answered rather than deferred.

    Formula: Σ w·1[a ≠ defer] / Σ w.

    Claim: D.coverage.

    Range [0, 1]; exact if the weights are exact or absent.

    Raises
    ------
    InvalidArgument
        For no action, an action below −1, or weights that are negative or all 0.

    Examples
    --------
    >>> coverage([0, -1, 1, -1])
    Fraction(1, 2)
    """
    a = read_actions(action, classes=None, shape=None)
    one_dimensional(a, argument="action")
    w = _mean_weights(weights, a.shape)
    return _share(w, a >= 0)


def best_fixed_action_formula(target: Sequence[Real], weights: Sequence[Real], cost: Real) -> tuple[int, Real]:
    """The first of no, yes, defer with least mean loss q̄, 1 − q̄, c, and that loss.

    Proof: proofs/test_controller.py::test_the_best_fixed_action_is_the_first_of_least_mean_loss
    """
    mean = total(w * q for w, q in zip(weights, target, strict=True)) / total(weights)
    best = (NO, mean)
    for action, loss in ((YES, 1 - mean), (DEFER, cost)):
        if loss < best[1]:
            best = (action, loss)
    return best


def best_fixed_action(*, target: object, cost: object, weights: object = None) -> tuple[int, Value]:
    """The single action that loses least over all roots, and its mean loss; it looks at the targets.

    Formula: the first of no, yes, defer with least mean loss q̄, 1 − q̄, c.

    Claim: D.controller (policies). Binary. Computed exactly.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or a cost outside (0, 1).

    Examples
    --------
    >>> best_fixed_action(target=["0.05", "0.07"], cost="0.1")
    (0, Fraction(3, 50))
    """
    (q,) = read(target=exact_decimals(target))
    check_probability(q, argument="target")
    c = check_cost(cost)
    w = as_weights(weights, shape=q.shape, exact=True)
    return best_fixed_action_formula(q.tolist(), w.tolist(), c)


@dataclass(frozen=True)
class ActionChanges:
    """Shares of roots whose two actions differ: `crossings` of act and defer, `switches` of class."""

    crossings: Value
    switches: Value
    total: Value
    coverage_first: Value
    coverage_second: Value


def action_changes(*, first: object, second: object, weights: object = None) -> ActionChanges:
    """How often two reports on one root lead to different actions, and whether they cross into deferring.

    Formula: Σ w·1[a ≠ a′] / Σ w over paired-valid roots, split by whether exactly one of a, a′ is defer.

    Claim: D.action-change.

    Convention: hand over paired-valid roots only, with their weights.

    Shapes: integer (n) twice.

    Raises
    ------
    InvalidArgument
        For shapes that differ, an action below −1, or weights that are negative or all 0.

    Examples
    --------
    >>> change = action_changes(first=[0, 1, -1, 1], second=[0, 0, 1, 1])
    >>> change.crossings, change.switches
    (Fraction(1, 4), Fraction(1, 4))
    """
    a = read_actions(first, classes=None, shape=None, argument="first")
    one_dimensional(a, argument="first")
    b = read_actions(second, classes=None, shape=a.shape, argument="second")
    w = _mean_weights(weights, a.shape)
    crossed, differ = (a >= 0) != (b >= 0), a != b
    return ActionChanges(
        _share(w, crossed),
        _share(w, differ & ~crossed),
        _share(w, differ),
        _share(w, a >= 0),
        _share(w, b >= 0),
    )


def _share(weights: Array, hit: Array) -> Value:
    if is_exact(weights):
        return share_formula(hit.tolist(), weights.tolist())
    return float(weights[hit].sum() / weights.sum())


def _mean_weights(weights: object, shape: tuple[int, ...]) -> Array:
    exact = weights is None or is_exact(read(weights=weights)[0])
    return as_weights(weights, shape=shape, exact=exact)
