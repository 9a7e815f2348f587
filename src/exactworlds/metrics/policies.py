"""Policies that decide from two reports of one event: the event request's p and the choice request's p′.

Everything here is computed on exact decimals: a float stands for the decimal that repr prints, results are
Fractions. The mean of 0.82 and 0.98 is 0.9 and acts at c = 0.10; the mean of the two doubles does not. What
is not here: the controller on one report (`decisions`), curves over the cost (`curves`).
"""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    Value,
    as_weights,
    check_choice,
    check_cost,
    check_mask,
    check_probability,
    check_same_shape,
    one_dimensional,
    read_exact,
)
from exactworlds.metrics._ordering import Real, total
from exactworlds.metrics.decisions import (
    DEFER,
    binary_action_formula,
    binary_loss_formula,
)
from exactworlds.metrics.regrets import binary_oracle_loss_formula

__all__ = [
    "POLICIES",
    "REQUESTS",
    "accurate_harm_formula",
    "accurate_harm_roots",
    "agreement_action_formula",
    "averaging_gain_formula",
    "mean_action_formula",
    "mean_minus_random_formula",
    "midpoint",
    "midpoint_formula",
    "policy_actions",
    "policy_coverage",
    "policy_loss_formula",
    "policy_losses",
    "single_loss_formula",
]

POLICIES = ("event", "choice", "random", "mean", "agreement", "defer", "oracle")
"""The policies by name. A repeat control is `mean` or `agreement` with the repeat as second report."""

REQUESTS = MappingProxyType(
    {
        "event": 1,
        "choice": 1,
        "random": 1,
        "mean": 2,
        "agreement": 2,
        "event_repeat_mean": 2,
        "event_repeat_agreement": 2,
        "defer": 0,
        "oracle": 0,
    }
)
"""Requests that one decision takes."""


def midpoint_formula(event: Real, choice: Real) -> Real:
    """(p + p′) / 2, the projection of (p, p′) onto equality.

    Proof: proofs/test_averaging.py::test_the_averaging_identity
    Proof: proofs/test_averaging.py::test_the_midpoint_is_the_projection_onto_equality
    """
    return (event + choice) / 2


def averaging_gain_formula(event: Real, choice: Real) -> Real:
    """(p − p′)² / 4: what the midpoint's squared error saves over the mean squared error of the two.

    Proof: proofs/test_averaging.py::test_the_gain_in_brier_score_does_not_depend_on_the_target
    Proof: proofs/test_elementary_scores.py::test_the_mean_effect_of_averaging_over_uniform_costs
    """
    return (event - choice) * (event - choice) / 4


def mean_action_formula(event: Real, choice: Real, cost: Real) -> int:
    """The controller's action on the midpoint.

    Proof: proofs/test_action_regions.py::test_opposite_classes_keep_a_class_only_from_a_third_on
    Proof: proofs/test_action_regions.py::test_the_code_takes_exactly_the_ten_rows
    """
    return binary_action_formula(midpoint_formula(event, choice), cost)


def agreement_action_formula(event: Real, choice: Real, cost: Real) -> int:
    """The common action of the two reports, else `DEFER`.

    Proof: proofs/test_controller.py::test_agreement_acts_only_on_a_common_class
    """
    first = binary_action_formula(event, cost)
    if first == binary_action_formula(choice, cost):
        return first
    return DEFER


def single_loss_formula(report: Real, target: Real, cost: Real) -> Real:
    """The expected loss of the controller on one report.

    Proof: proofs/test_elementary_scores.py::test_the_reject_loss_is_two_elementary_scores
    Proof: proofs/test_elementary_scores.py::test_the_reject_loss_over_uniform_costs_is_the_brier_score
    """
    return binary_loss_formula(binary_action_formula(report, cost), target, cost)


def mean_minus_random_formula(event: Real, choice: Real, target: Real, cost: Real) -> Real:
    """Δ_c = ℓ(a(m)) − ½[ℓ(a(p)) + ℓ(a(p′))]: negative where averaging beats drawing one report.

    Claim: D.regions (P2 Prop. 1, Table 29).

    Proof: proofs/test_action_regions.py::test_every_row_of_the_table
    Proof: proofs/test_action_regions.py::test_the_code_takes_exactly_the_ten_rows
    Proof: proofs/test_action_regions.py::test_averaging_helps_and_harms_by_at_most_a_half
    Proof: proofs/test_elementary_scores.py::test_averaging_in_elementary_scores
    """
    mean = binary_loss_formula(mean_action_formula(event, choice, cost), target, cost)
    both = single_loss_formula(event, target, cost) + single_loss_formula(choice, target, cost)
    return mean - both / 2


def policy_loss_formula(policy: str, event: Real, choice: Real, target: Real, cost: Real) -> Real:
    """The expected loss of a policy on one root whose two reports are valid.

    Proof: proofs/test_controller.py::test_policies_are_what_their_names_say
    """
    if policy == "event":
        return single_loss_formula(event, target, cost)
    if policy == "choice":
        return single_loss_formula(choice, target, cost)
    if policy == "random":
        return (single_loss_formula(event, target, cost) + single_loss_formula(choice, target, cost)) / 2
    if policy == "mean":
        return binary_loss_formula(mean_action_formula(event, choice, cost), target, cost)
    if policy == "agreement":
        return binary_loss_formula(agreement_action_formula(event, choice, cost), target, cost)
    if policy == "oracle":
        return binary_oracle_loss_formula(target, cost)
    return cost


def midpoint(*, event: object, choice: object) -> Value:
    """The mean of two reports of one event, exactly.

    Formula: m = (p + p′)/2; ½[(p−q)² + (p′−q)²] = (m−q)² + (p−p′)²/4 for every q.

    Claim: D.averaging (P2 Eq. 2).

    Range [0, 1]; shapes (n) twice, to (n).

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> midpoint(event=[0.82], choice=[0.98]).tolist()
    [Fraction(9, 10)]
    """
    p, r = _reports(event, choice)
    return (p + r) / 2


def policy_actions(
    *,
    policy: str,
    event: object,
    choice: object,
    cost: object,
    event_valid: object = None,
    choice_valid: object = None,
) -> Array:
    """What a policy does on every root: `NO`, `YES` or `DEFER`.

    Formula: event a(p); choice a(p′); mean a((p+p′)/2); agreement the common action, else defer; defer always
    defers.

    Claim: D.controller, D.regions (policies; P2 §5.3).

    Convention: a constituent that is not valid makes the policy defer (its number is checked all the same:
    give a stand-in). Random has two actions and the oracle reads the target: neither is offered here.

    Shapes: (n) twice, to integer (n). Computed on exact decimals.

    Raises
    ------
    InvalidArgument
        For an unknown policy, values outside [0, 1], shapes that differ, or a cost outside (0, 1).

    Examples
    --------
    >>> policy_actions(policy="mean", event=[0.82], choice=[0.98], cost="0.10").tolist()
    [1]
    """
    check_choice(policy, argument="policy", choices=("event", "choice", "mean", "agreement", "defer"))
    p, r = _reports(event, choice)
    c = check_cost(cost)
    ok_event, ok_choice = _masks(event_valid, choice_valid, p)
    out = np.full(p.shape, DEFER, dtype=np.int64)
    for i in range(len(p)):
        if policy == "event" and ok_event[i]:
            out[i] = binary_action_formula(p[i], c)
        elif policy == "choice" and ok_choice[i]:
            out[i] = binary_action_formula(r[i], c)
        elif policy == "mean" and ok_event[i] and ok_choice[i]:
            out[i] = mean_action_formula(p[i], r[i], c)
        elif policy == "agreement" and ok_event[i] and ok_choice[i]:
            out[i] = agreement_action_formula(p[i], r[i], c)
    return out


def policy_losses(
    *,
    policy: str,
    event: object,
    choice: object,
    target: object,
    cost: object,
    event_valid: object = None,
    choice_valid: object = None,
) -> Array:
    """The expected loss of a policy on every root; smaller is better.

    Formula: ℓ of the policy's action under q; random ½[ℓ(a(p)) + ℓ(a(p′))]; oracle min(q, 1−q, c); defer c.

    Claim: D.controller, D.regions (policies; P2 §5.3).

    Convention: a constituent that is not valid defers; random averages, the one that is not valid costing c.

    Shapes: (n) three times, to (n) Fractions. Computed on exact decimals.

    Raises
    ------
    InvalidArgument
        For an unknown policy, values outside [0, 1], shapes that differ, or a cost outside (0, 1).

    Examples
    --------
    >>> root = {"event": ["0.84"], "choice": ["0.97"], "target": ["220/317"], "cost": "0.1"}
    >>> policy_losses(policy="event", **root).tolist(), policy_losses(policy="choice", **root).tolist()
    ([Fraction(1, 10)], [Fraction(97, 317)])
    """
    check_choice(policy, argument="policy", choices=POLICIES)
    p, r = _reports(event, choice)
    (q,) = read_exact(target=target)
    check_probability(q, argument="target")
    check_same_shape(event=p, target=q)
    c = check_cost(cost)
    ok_event, ok_choice = _masks(event_valid, choice_valid, p)
    out = np.empty(p.shape, dtype=object)
    for i in range(len(p)):
        both = bool(ok_event[i] and ok_choice[i])
        if policy == "random" and not both:
            first = single_loss_formula(p[i], q[i], c) if ok_event[i] else c
            second = single_loss_formula(r[i], q[i], c) if ok_choice[i] else c
            out[i] = (first + second) / 2
        elif not both and not _has_what_it_needs(policy, bool(ok_event[i]), bool(ok_choice[i])):
            out[i] = c
        else:
            out[i] = policy_loss_formula(policy, p[i], r[i], q[i], c)
    return out


def policy_coverage(
    *,
    policy: str,
    event: object,
    choice: object,
    cost: object,
    event_valid: object = None,
    choice_valid: object = None,
    weights: object = None,
) -> Value:
    """The weighted share of roots that a policy answers; for random, the mean of its two constituents'.

    Formula: Σ w·1[a ≠ defer] / Σ w.

    Claim: D.coverage.

    Range [0, 1].

    Shapes: (n) twice. Computed on exact decimals.

    Raises
    ------
    InvalidArgument
        As `policy_actions` does, and for weights that are negative or all 0.

    Examples
    --------
    >>> policy_coverage(policy="random", event=["0.84"], choice=["0.97"], cost="0.1")
    Fraction(1, 2)
    """
    check_choice(policy, argument="policy", choices=("event", "choice", "random", "mean", "agreement", "defer"))
    shares = []
    for part in ("event", "choice") if policy == "random" else (policy,):
        taken = policy_actions(
            policy=part,
            event=event,
            choice=choice,
            cost=cost,
            event_valid=event_valid,
            choice_valid=choice_valid,
        )
        w = as_weights(weights, shape=taken.shape, exact=True)
        shares.append(total(w[i] for i in range(len(w)) if taken[i] >= 0) / total(w))
    return total(shares) / Fraction(len(shares))


def accurate_harm_formula(cost: Real, epsilon: Real) -> tuple[tuple[Real, Real, Real], ...]:
    """(1 − c − e, 1 − c + 3e, 1 − c − e) and (1, 1, 1).

    Proof: proofs/test_accurate_harm.py::test_random_beats_mean_and_both_beat_deferring
    Proof: proofs/test_accurate_harm.py::test_every_report_is_accurate
    """
    one = 0 * cost + 1
    near = one - cost - epsilon
    return ((near, one - cost + 3 * epsilon, near), (one, one, one))


def accurate_harm_roots(*, cost: object, epsilon: object) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
    """Two roots (p, p′, q) with small errors on which averaging the reports loses to drawing one of them.

    Formula: (1−c−e, 1−c+3e, 1−c−e) and (1, 1, 1), for 0 < c < ½ and 0 < e < min(c/4, 1−2c); Random < Mean < c
    on their mean, every error ≤ 4e, Mean − Random = e/4.

    Claim: D.accurate-harm (P2 App. Q).

    Proof: proofs/test_accurate_harm.py::test_one_root_alone_never_does_it

    Raises
    ------
    InvalidArgument
        For a cost or an epsilon outside those bounds.

    Examples
    --------
    >>> accurate_harm_roots(cost="0.1", epsilon="0.02")[0]
    (Fraction(22, 25), Fraction(24, 25), Fraction(22, 25))
    """
    c = check_cost(cost, below=Fraction(1, 2))
    (e,) = (read_exact(epsilon=epsilon)[0].item(),)
    if not 0 < e < min(c / 4, 1 - 2 * c):
        raise InvalidArgument("epsilon", epsilon, f"a number above 0 and below {min(c / 4, 1 - 2 * c)}")
    return accurate_harm_formula(c, e)


def _has_what_it_needs(policy: str, event: bool, choice: bool) -> bool:
    return {"event": event, "choice": choice, "mean": False, "agreement": False}.get(policy, True)


def _reports(event: object, choice: object) -> tuple[Array, Array]:
    p, r = read_exact(event=event, choice=choice)
    one_dimensional(p, argument="event")
    check_probability(p, argument="event")
    check_probability(r, argument="choice")
    check_same_shape(event=p, choice=r)
    return p, r


def _masks(event_valid: object, choice_valid: object, like: Array) -> tuple[Array, Array]:
    return (
        check_mask(event_valid, argument="event_valid", shape=like.shape),
        check_mask(choice_valid, argument="choice_valid", shape=like.shape),
    )
