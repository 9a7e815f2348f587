"""Pair policies: brute force by root, the averaging identity, and where averaging helps or harms."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics import policies
from exactworlds.metrics.decisions import DEFER, NO, YES
from metric_strategies import costs, roots, rows_of, unit_fractions, weights_of

Root = tuple[Fraction, Fraction, Fraction]
with_roots = costs().flatmap(lambda c: st.tuples(st.just(c), rows_of(roots(c), most=5)))
with_root = costs().flatmap(lambda c: st.tuples(st.just(c), roots(c)))
HALF = Fraction(1, 2)


def act(p: Fraction | None, c: Fraction) -> int:
    if p is None:
        return DEFER
    return NO if p <= c else YES if p >= 1 - c else DEFER


def lose(action: int, q: Fraction, c: Fraction) -> Fraction:
    return {NO: q, YES: 1 - q, DEFER: c}[action]


def columns(rows: list[Root]) -> dict[str, list[Fraction]]:
    return {"event": [r[0] for r in rows], "choice": [r[1] for r in rows], "target": [r[2] for r in rows]}


@given(with_roots, st.data())
def test_policies_root_by_root(case: tuple[Fraction, list[Root]], data: st.DataObject) -> None:
    cost, rows = case
    masks = st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))
    ok_event, ok_choice = data.draw(masks), data.draw(masks)
    weights = data.draw(weights_of(len(rows)))
    table = columns(rows)
    reports = {"event": table["event"], "choice": table["choice"]}
    valid = {"event_valid": ok_event, "choice_valid": ok_choice}
    for i, (p, r, q) in enumerate(rows):
        first = p if ok_event[i] else None
        second = r if ok_choice[i] else None
        both = first is not None and second is not None
        actions = {
            "event": act(first, cost),
            "choice": act(second, cost),
            "mean": act((p + r) / 2, cost) if both else DEFER,
            "agreement": act(p, cost) if both and act(p, cost) == act(r, cost) else DEFER,
            "defer": DEFER,
        }
        losses = {name: lose(action, q, cost) for name, action in actions.items()}
        losses["random"] = (losses["event"] + losses["choice"]) / 2
        losses["oracle"] = min(q, 1 - q, cost)
        for name, action in actions.items():
            assert metrics.policy_actions(policy=name, **reports, cost=cost, **valid)[i] == action
        for name, loss in losses.items():
            assert metrics.policy_losses(policy=name, **table, cost=cost, **valid)[i] == loss
    shares = {}
    for name in ("event", "choice", "mean", "agreement", "defer", "random"):
        shares[name] = metrics.policy_coverage(policy=name, **reports, cost=cost, **valid, weights=weights)
    acted = metrics.policy_actions(policy="mean", **reports, cost=cost, **valid)
    assert shares["mean"] == sum(w for w, a in zip(weights, acted, strict=True) if a != DEFER) / sum(weights)
    assert shares["random"] == (shares["event"] + shares["choice"]) / 2
    assert shares["defer"] == 0


def test_the_mean_of_two_decimals_is_a_decimal() -> None:
    assert (0.82 + 0.98) / 2 < 0.9
    assert metrics.midpoint(event=[0.82], choice=[0.98]).tolist() == [Fraction(9, 10)]
    assert metrics.policy_actions(policy="mean", event=[0.82], choice=[0.98], cost=0.10).tolist() == [YES]


def test_the_worked_example_of_the_contracts() -> None:
    counts, likelihoods = (67, 85, 9, 79), (HALF, Fraction(9, 10), Fraction(1), HALF)
    mass = [n * likelihood for n, likelihood in zip(counts, likelihoods, strict=True)]
    q = (mass[0] + mass[1]) / sum(mass)
    assert q == Fraction(220, 317)
    root = {"event": [0.84], "choice": [0.97], "target": [q], "cost": 0.10}
    reports = {"event": [0.84], "choice": [0.97], "cost": 0.10}
    assert metrics.policy_actions(policy="event", **reports).tolist() == [DEFER]
    assert metrics.policy_actions(policy="choice", **reports).tolist() == [YES]
    assert metrics.policy_losses(policy="event", **root).tolist() == [Fraction(1, 10)]
    (loss,) = metrics.policy_losses(policy="choice", **root)
    assert loss == Fraction(97, 317)
    assert round(float(loss), 3) == 0.306


def test_every_policy_says_how_many_requests_it_takes() -> None:
    assert {name: metrics.REQUESTS[name] for name in metrics.POLICIES} == {
        "event": 1, "choice": 1, "random": 1, "mean": 2, "agreement": 2, "defer": 0, "oracle": 0
    }  # fmt: skip
    assert metrics.REQUESTS["event_repeat_mean"] == metrics.REQUESTS["event_repeat_agreement"] == 2


# --- averaging ------------------------------------------------------------------------------------------------------


@given(unit_fractions(), unit_fractions(), unit_fractions())
def test_the_averaging_identity(p: Fraction, r: Fraction, q: Fraction) -> None:
    m = policies.midpoint_formula(p, r)
    assert ((p - q) ** 2 + (r - q) ** 2) / 2 == (m - q) ** 2 + policies.averaging_gain_formula(p, r)
    nearest = min(((p - x) ** 2 + (r - x) ** 2, x) for x in (p, r, m, q))[0]
    assert nearest == (p - m) ** 2 + (r - m) ** 2


@given(with_root)
def test_the_difference_by_action_regions(case: tuple[Fraction, Root]) -> None:
    c, (p, r, q) = case
    ends, middle = {act(p, c), act(r, c)}, act((p + r) / 2, c)
    expected = {
        (frozenset({NO, DEFER}), NO): (q - c) / 2,
        (frozenset({NO, DEFER}), DEFER): (c - q) / 2,
        (frozenset({YES, DEFER}), YES): (1 - q - c) / 2,
        (frozenset({YES, DEFER}), DEFER): (c - 1 + q) / 2,
        (frozenset({NO, YES}), NO): q - HALF,
        (frozenset({NO, YES}), YES): HALF - q,
        (frozenset({NO, YES}), DEFER): c - HALF,
    }
    found = policies.mean_minus_random_formula(p, r, q, c)
    assert found == (0 if len(ends) == 1 else expected[frozenset(ends), middle])
    if len(ends) == 1:
        assert middle in ends
    if ends == {NO, YES} and middle != DEFER:
        assert c >= Fraction(1, 3)
    losses = [policies.policy_loss_formula(name, p, r, q, c) for name in ("mean", "random")]
    assert found == losses[0] - losses[1]


def test_a_class_at_the_midpoint_of_no_and_yes_is_attained_at_a_third() -> None:
    third = Fraction(1, 3)
    for event, choice, action in ((0, 2 * third, NO), (third, 1, YES)):
        assert {act(Fraction(event), third), act(Fraction(choice), third)} == {NO, YES}
        found = metrics.policy_actions(policy="mean", event=[event], choice=[choice], cost=third)
        assert found.tolist() == [action]


@given(costs(), unit_fractions().filter(lambda x: 0 < x < 1))
def test_averaging_can_harm_reports_as_accurate_as_one_likes(c: Fraction, share: Fraction) -> None:
    e = share * min(c / 4, 1 - 2 * c)
    rows = metrics.accurate_harm_roots(cost=c, epsilon=e)
    table = columns(list(rows))
    assert all(abs(x - q) <= 4 * e for p, r, q in rows for x in (p, r))
    mean = sum(metrics.policy_losses(policy="mean", **table, cost=c)) / 2
    random = sum(metrics.policy_losses(policy="random", **table, cost=c)) / 2
    assert random < mean < c
    assert mean - random == e / 4


@given(with_root)
def test_one_root_alone_never_does_it(case: tuple[Fraction, Root]) -> None:
    c, (p, r, q) = case
    mean, random = (policies.policy_loss_formula(name, p, r, q, c) for name in ("mean", "random"))
    assert not random < mean < c


@given(roots(Fraction(1, 10)))
def test_the_mean_difference_over_costs_is_a_quarter_of_the_squared_gap(root: Root) -> None:
    p, r, q = root
    edges = sorted({Fraction(0), HALF, *(min(x, 1 - x) for x in (p, r, (p + r) / 2))})
    area = Fraction(0)
    for low, high in pairwise(edges):
        area += (high - low) * policies.mean_minus_random_formula(p, r, q, (low + high) / 2)
    assert 2 * area == -((p - r) ** 2) / 4
    loss = sum(
        ((high - low) * policies.single_loss_formula(p, q, (low + high) / 2) for low, high in pairwise(edges)),
        Fraction(0),
    )
    assert 2 * loss == metrics.brier_score_binary(report=p, target=q)


def test_no_such_identity_for_three_classes() -> None:
    """Twice the area under the reject loss is half the Brier score for K = 2 and something else for K = 3."""

    def area(report: tuple[Fraction, ...], target: tuple[Fraction, ...]) -> Fraction:
        edges = sorted({Fraction(0), HALF, min(HALF, 1 - max(report))})
        middles = [(low, high, (low + high) / 2) for low, high in pairwise(edges)]
        return sum(
            (
                (high - low)
                * metrics.expected_loss(action=metrics.actions(report=report, cost=c), target=target, cost=c)
                for low, high, c in middles
            ),
            Fraction(0),
        )

    two = (Fraction(1, 5), Fraction(4, 5))
    goal = (Fraction(2, 5), Fraction(3, 5))
    assert 4 * area(two, goal) == metrics.brier_score(report=two, target=goal)
    report, target = (
        (Fraction(1, 10), Fraction(2, 10), Fraction(7, 10)),
        (Fraction(3, 10), Fraction(3, 10), Fraction(4, 10)),
    )
    other = (Fraction(2, 10), Fraction(1, 10), Fraction(7, 10))
    third = (Fraction(1, 2), Fraction(1, 10), Fraction(4, 10))
    assert area(report, third) == area(other, third)
    assert metrics.brier_score(report=report, target=third) != metrics.brier_score(report=other, target=third)
    assert 4 * area(report, target) != metrics.brier_score(report=report, target=target)


def test_policies_refuse_an_unknown_name() -> None:
    with pytest.raises(metrics.InvalidArgument, match="policy"):
        metrics.policy_losses(policy="median", event=["0.1"], choice=["0.1"], target=["0.1"], cost="0.1")


@pytest.mark.parametrize(("cost", "epsilon"), [("0.49", "0.02"), ("0.49", "0.05"), ("0.2", "0.05"), ("0.2", "0")])
def test_accurate_harm_needs_small_errors(cost: str, epsilon: str) -> None:
    """Below a quarter of the cost and below 1 − 2c, whichever is less."""
    with pytest.raises(metrics.InvalidArgument, match="epsilon"):
        metrics.accurate_harm_roots(cost=cost, epsilon=epsilon)
