"""Decisions against a brute-force minimiser, and the bounds on what they cost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics import decisions, regrets
from exactworlds.metrics.decisions import DEFER, NO, YES
from metric_strategies import (
    TINY,
    costs,
    decimals,
    distributions,
    pairs_of_distributions,
    probabilities,
    rows_of,
    weights_of,
)

Distribution = tuple[Fraction, ...]
any_cost = costs(below_half=False)
with_binary = costs().flatmap(lambda c: st.tuples(st.just(c), probabilities(c), probabilities(c)))
with_any_binary = any_cost.flatmap(lambda c: st.tuples(st.just(c), probabilities(c), probabilities(c)))
with_classes = any_cost.flatmap(lambda c: st.tuples(st.just(c), pairs_of_distributions(c)))
with_classes_below_half = costs().flatmap(lambda c: st.tuples(st.just(c), pairs_of_distributions(c)))


def first_minimiser(report: Distribution, cost: Fraction) -> int:
    """Expected losses in the order class 0 … K−1, defer; the first least one."""
    losses = [1 - p for p in report] + [cost]
    best = losses.index(min(losses))
    return best if best < len(report) else DEFER


def loss_by_outcomes(action: int, target: Distribution, cost: Fraction) -> Fraction:
    if action == DEFER:
        return cost
    return sum((q for y, q in enumerate(target) if y != action), Fraction(0))


@given(with_classes)
def test_the_action_is_the_first_minimiser_of_expected_loss(
    case: tuple[Fraction, tuple[Distribution, Distribution]],
) -> None:
    cost, (report, target) = case
    action = metrics.actions(report=report, cost=cost)
    assert action == first_minimiser(report, cost)
    loss = loss_by_outcomes(action, target, cost)
    assert metrics.expected_loss(action=action, target=target, cost=cost) == loss
    best = min([loss_by_outcomes(k, target, cost) for k in range(len(target))] + [cost])
    assert metrics.oracle_loss(target=target, cost=cost) == best
    assert loss_by_outcomes(first_minimiser(target, cost), target, cost) == best
    assert metrics.regret(report=report, target=target, cost=cost) == loss - best >= 0
    assert metrics.headroom(target=target, cost=cost) == cost - best
    assert metrics.regret(report=target, target=target, cost=cost) == 0


@given(with_any_binary)
def test_the_binary_rule_is_the_two_class_rule(case: tuple[Fraction, Fraction, Fraction]) -> None:
    cost, p, q = case
    action = metrics.actions_binary(report=p, cost=cost)
    assert action == first_minimiser((1 - p, p), cost)
    if 2 * cost < 1:
        assert action == (NO if p <= cost else YES if p >= 1 - cost else DEFER)
    two = metrics.expected_loss(action=action, target=(1 - q, q), cost=cost)
    assert metrics.expected_loss_binary(action=action, target=q, cost=cost) == two
    assert metrics.oracle_loss_binary(target=q, cost=cost) == metrics.oracle_loss(target=(1 - q, q), cost=cost)
    assert metrics.regret_binary(report=p, target=q, cost=cost) == metrics.regret(
        report=(1 - p, p), target=(1 - q, q), cost=cost
    )
    assert metrics.headroom_binary(target=q, cost=cost) == metrics.headroom(target=(1 - q, q), cost=cost)
    if 2 * cost < 1:
        assert metrics.decision_margin_binary(report=p, cost=cost) == metrics.decision_margin(
            report=(1 - p, p), cost=cost
        )


@given(any_cost.flatmap(lambda c: st.tuples(st.just(c), rows_of(probabilities(c)), rows_of(distributions(3, c)))))
def test_array_twins_equal_the_formulas_element_by_element(
    case: tuple[Fraction, list[Fraction], list[Distribution]],
) -> None:
    cost, binary, classes = case
    p, v = np.array(binary, dtype=object), np.array(classes, dtype=object)
    acted = decisions.binary_action_array(p, cost, 1 - cost)
    assert acted.tolist() == [decisions.binary_action_formula(x, cost) for x in binary]
    chosen = decisions.action_array(v, 1 - cost)
    assert chosen.tolist() == [decisions.action_formula(x, cost) for x in classes]
    losses = [decisions.binary_loss_formula(int(a), x, cost) for a, x in zip(acted, binary, strict=True)]
    assert decisions.binary_loss_array(acted, p, cost).tolist() == losses
    class_losses = [decisions.decision_loss_formula(int(a), x, cost) for a, x in zip(chosen, classes, strict=True)]
    assert decisions.decision_loss_array(chosen, v, cost).tolist() == class_losses


@given(
    st.integers(1, 49).flatmap(
        lambda k: st.tuples(
            st.just(Fraction(k, 100)),
            rows_of(st.one_of(decimals(2), decimals(6), st.floats(0, 1).map(lambda x: Fraction(repr(x))))),
        )
    )
)
def test_float_actions_are_the_actions_of_their_decimals(case: tuple[Fraction, list[Fraction]]) -> None:
    cost, reports = case
    near = [*reports, cost, 1 - cost, cost + TINY, 1 - cost - TINY]
    floats = np.array([float(x) for x in near])
    exact = metrics.actions_binary(report=near, cost=cost)
    assert metrics.actions_binary(report=floats, cost=cost).tolist() == exact.tolist()
    below, above = np.nextafter(float(1 - cost), 0), np.nextafter(float(cost), 1)
    assert metrics.actions_binary(report=[below, above], cost=cost).tolist() == [DEFER, DEFER]


def test_all_two_decimal_reports_act_as_decimals_at_every_published_cost() -> None:
    for cost in {*metrics.PRIMARY_COSTS, *metrics.SECONDARY_COSTS}:
        for k in range(101):
            action = NO if Fraction(k, 100) <= cost else YES if Fraction(k, 100) >= 1 - cost else DEFER
            assert metrics.actions_binary(report=k / 100, cost=float(cost)) == action


def test_boundary_cases() -> None:
    nine = ("1/10", "9/10")
    assert metrics.actions(report=nine, cost="1/10") == YES
    assert metrics.headroom(target=nine, cost="1/10") == 0
    assert metrics.regret(report=nine, target=nine, cost="1/10") == 0
    assert metrics.actions_binary(report="1/2", cost="1/2") == NO
    assert metrics.actions_binary(report=0.5, cost=0.5) == NO
    assert metrics.actions(report=["1/2", "1/2"], cost="1/2") == NO
    assert metrics.actions(report=["1/3", "1/3", "1/3"], cost="2/3") == 0
    assert metrics.actions_binary(report=[0.0, 1.0], cost="0.02").tolist() == [NO, YES]
    low = metrics.elementary_score(report="0.1", target="0.3", theta="0.1", inclusive=False)
    high = metrics.elementary_score(report="0.1", target="0.3", theta="0.9", inclusive=True)
    assert low + high == Fraction(3, 10)


def test_a_report_that_is_not_valid_defers() -> None:
    assert metrics.actions_binary(report=[0.0, 1.0], cost="0.1", valid=[False, True]).tolist() == [DEFER, YES]
    assert metrics.actions(report=[[1, 0], [0, 1]], cost="0.1", valid=[False, True]).tolist() == [DEFER, 1]


# --- bounds ---------------------------------------------------------------------------------------------------------


@given(with_classes)
def test_regret_is_within_its_bounds(case: tuple[Fraction, tuple[Distribution, Distribution]]) -> None:
    cost, (p, q) = case
    found = metrics.regret(report=p, target=q, cost=cost)
    tv = metrics.total_variation(report=p, target=q)
    assert found <= metrics.regret_bound(tv=tv, cost=cost) <= 2 * tv
    acted, ideal = first_minimiser(p, cost), first_minimiser(q, cost)
    if (acted == DEFER) != (ideal == DEFER):
        assert found <= tv - abs(max(p) - (1 - cost))
    elif acted not in (DEFER, ideal):
        assert found <= 2 * tv - (p[acted] - p[ideal])


def test_the_regret_bound_is_attained() -> None:
    for cost in (Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)):
        p, q = (1 - cost, cost), (Fraction(0), Fraction(1))
        tv = metrics.total_variation(report=p, target=q)
        assert (
            metrics.regret(report=p, target=q, cost=cost) == tv / (1 - cost) == metrics.regret_bound(tv=tv, cost=cost)
        )
    assert regrets.regret_bound_formula(Fraction(1, 4), Fraction(3, 4)) == Fraction(1, 2)
    assert metrics.regret_bound(tv=0.09, cost="0.1") == pytest.approx(0.1)


@given(with_classes_below_half)
def test_within_the_margin_the_decision_to_act_stays(
    case: tuple[Fraction, tuple[Distribution, Distribution]],
) -> None:
    cost, (p, other) = case
    margin = metrics.decision_margin(report=p, cost=cost)
    tv = metrics.total_variation(report=p, target=other)
    acts, acts_there = first_minimiser(p, cost), first_minimiser(other, cost)
    if acts != DEFER and tv <= margin:
        assert acts_there == acts
    if acts == DEFER and tv < margin:
        assert acts_there == DEFER


def test_the_margin_is_attained() -> None:
    p, moved = (Fraction(1, 5), Fraction(4, 5)), (Fraction(1, 10), Fraction(9, 10))
    margin = metrics.decision_margin(report=p, cost="0.1")
    assert margin == metrics.total_variation(report=p, target=moved)
    assert (first_minimiser(p, Fraction(1, 10)), first_minimiser(moved, Fraction(1, 10))) == (DEFER, YES)


# --- floats and sets of roots ---------------------------------------------------------------------------------------


@given(costs().flatmap(lambda c: st.tuples(st.just(c), rows_of(st.tuples(distributions(3, c), distributions(3, c))))))
def test_float_losses_agree_with_exact_ones(
    case: tuple[Fraction, list[tuple[Distribution, Distribution]]],
) -> None:
    cost, rows = case
    p, q = np.array([a for a, _ in rows], dtype=object), np.array([b for _, b in rows], dtype=object)
    pf, qf = p.astype(float), q.astype(float)
    pf, qf = pf / pf.sum(axis=-1, keepdims=True), qf / qf.sum(axis=-1, keepdims=True)
    for name in ("oracle_loss", "headroom"):
        function = getattr(metrics, name)
        assert function(target=qf, cost=cost) == pytest.approx(function(target=q, cost=cost).astype(float), abs=1e-15)
    margin = metrics.decision_margin(report=p, cost=cost).astype(float)
    assert metrics.decision_margin(report=pf, cost=cost) == pytest.approx(margin, abs=1e-15)
    binary = {"decision_margin_binary": "report", "headroom_binary": "target", "oracle_loss_binary": "target"}
    for name, argument in binary.items():
        function = getattr(metrics, name)
        one = function(**{argument: q[:, 0]}, cost=cost).astype(float)
        assert function(**{argument: qf[:, 0]}, cost=cost) == pytest.approx(one, abs=1e-15)
    acted = metrics.actions(report=pf, cost=cost)
    lost = metrics.expected_loss(action=acted, target=q, cost=cost) - metrics.oracle_loss(target=q, cost=cost)
    assert metrics.regret(report=pf, target=qf, cost=cost) == pytest.approx(lost.astype(float), abs=1e-15)
    action = metrics.actions(report=p, cost=cost)
    exact = metrics.expected_loss(action=action, target=q, cost=cost).astype(float)
    assert metrics.expected_loss(action=action, target=qf, cost=cost) == pytest.approx(exact, abs=1e-15)
    found = metrics.regret_binary(report=pf[:, 0], target=qf[:, 0], cost=cost)
    assert found.dtype == np.float64
    decided = metrics.actions_binary(report=pf[:, 0], cost=cost)
    expected = metrics.expected_loss_binary(action=decided, target=q[:, 0], cost=cost)
    ideal = metrics.oracle_loss_binary(target=q[:, 0], cost=cost)
    assert found == pytest.approx((expected - ideal).astype(float), abs=1e-15)


@given(st.lists(st.sampled_from([NO, YES, DEFER]), min_size=1, max_size=9), st.data())
def test_shares_of_actions_are_exact(first: list[int], data: st.DataObject) -> None:
    second = data.draw(st.lists(st.sampled_from([NO, YES, DEFER]), min_size=len(first), max_size=len(first)))
    weights = data.draw(weights_of(len(first)))
    mass = sum(weights)

    def share(hits: list[bool]) -> Fraction:
        return sum((w for w, hit in zip(weights, hits, strict=True) if hit), Fraction(0)) / mass

    pairs = list(zip(first, second, strict=True))
    change = metrics.action_changes(first=first, second=second, weights=weights)
    assert change.crossings == share([(a == DEFER) != (b == DEFER) for a, b in pairs])
    assert change.switches == share([{a, b} == {NO, YES} for a, b in pairs])
    assert change.total == change.crossings + change.switches == share([a != b for a, b in pairs])
    assert change.coverage_first == metrics.coverage(first, weights=weights) == share([a != DEFER for a in first])
    assert change.coverage_second == share([b != DEFER for b in second])
    assert metrics.coverage(first, weights=[float(w) for w in weights]) == pytest.approx(float(change.coverage_first))


@given(costs().flatmap(lambda c: st.tuples(st.just(c), rows_of(probabilities(c)))))
def test_the_best_fixed_action_is_the_first_with_least_mean_loss(
    case: tuple[Fraction, list[Fraction]],
) -> None:
    cost, targets = case
    action, loss = metrics.best_fixed_action(target=targets, cost=cost)
    order = [NO, YES, DEFER]
    means = [sum((loss_by_outcomes(a, (1 - q, q), cost) for q in targets), Fraction(0)) / len(targets) for a in order]
    assert loss == min(means)
    assert order.index(action) == means.index(min(means))


def test_ties_between_fixed_actions_go_to_the_first() -> None:
    assert metrics.best_fixed_action(target=["0.1"], cost="0.1") == (NO, Fraction(1, 10))
    assert metrics.best_fixed_action(target=["0.9"], cost="0.1") == (YES, Fraction(1, 10))
    assert metrics.best_fixed_action(target=["0.5"], cost="0.1") == (DEFER, Fraction(1, 10))
    assert metrics.best_fixed_action(target=[0.05, 0.15], cost=0.1) == (NO, Fraction(1, 10))


@pytest.mark.parametrize("percent", range(1, 100))
def test_the_bound_of_the_regret_is_attained_up_to_a_half(percent: int) -> None:
    """A report that just dares to name the wrong class; above ½ the bound is twice the distance."""
    c = Fraction(percent, 100)
    worst = metrics.regret(report=[1 - c, c], target=[0, 1], cost=c)
    bound = metrics.regret_bound(tv=1 - c, cost=c)
    assert bound == (worst if 2 * c <= 1 else 2 * (1 - c))
