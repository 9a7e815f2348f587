"""The controller: the action on a report is the first one of least expected loss under that report (D.controller).

These statements pin the functions themselves. Bounds on regret alone would not: a controller that is wrong in the same
way for the report and for the oracle satisfies them all.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from exactworlds.metrics._ordering import total
from exactworlds.metrics.accuracy import (
    bayes_accuracy_formula,
    expected_accuracy_binary_formula,
    expected_accuracy_formula,
    first_maximum_formula,
)
from exactworlds.metrics.decisions import (
    DEFER,
    NO,
    YES,
    action_formula,
    binary_action_formula,
    binary_loss_formula,
    decision_loss_formula,
)
from exactworlds.metrics.policies import (
    agreement_action_formula,
    mean_action_formula,
    mean_minus_random_formula,
    midpoint_formula,
    policy_loss_formula,
    single_loss_formula,
)
from exactworlds.metrics.regrets import (
    binary_oracle_loss_formula,
    headroom_formula,
    oracle_loss_formula,
    regret_formula,
)
from exactworlds.metrics.shares import best_fixed_action_formula
from proofs.kit.reals import costs, law, prove, refute, unit

CLASSES = (2, 3, 4)
HALF = Fraction(1, 2)


def first_of_least(losses: list[Any], chosen: int) -> list[Any]:
    """No loss is less than the chosen one, and every loss before it is more."""
    return [losses[chosen] <= loss for loss in losses] + [losses[chosen] < loss for loss in losses[:chosen]]


def any_cost(cost: Any) -> list[Any]:
    return costs(cost, below=1)


# --- classes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", CLASSES)
def test_the_selected_class_is_the_first_of_the_largest(classes: int) -> None:
    """No class has more than the selected one, and every class before it has less; max q is what it has."""

    def statement(p: Any) -> list[Any]:
        chosen = first_maximum_formula(p)
        return [
            *[p[chosen] >= x for x in p],
            *[p[chosen] > x for x in p[:chosen]],
            bayes_accuracy_formula(p) == p[chosen],
            expected_accuracy_formula(p, p) == p[chosen],
        ]

    assert prove(statement, f"p[{classes}]") == 2 ** (classes - 1)


def test_twin_the_selected_class_is_not_the_last_of_the_largest() -> None:
    def statement(p: Any) -> list[Any]:
        chosen = first_maximum_formula(p)
        return [p[chosen] > x for x in p[chosen + 1 :]] or [chosen == 2]

    witness = refute(statement, "p[3]")
    assert witness["p"].count(max(witness["p"])) > 1


@pytest.mark.parametrize("classes", CLASSES)
def test_expected_accuracy_is_at_most_bayes_accuracy(classes: int) -> None:
    """The target's mass at the selected class is at most its largest, report by report (P1 Eq. 1)."""

    def statement(p: Any, q: Any) -> Any:
        return expected_accuracy_formula(p, q) <= bayes_accuracy_formula(q)

    assert prove(statement, f"p[{classes}] q[{classes}]", law) >= 2**classes


def test_twin_expected_accuracy_is_not_always_bayes_accuracy() -> None:
    witness = refute(lambda p, q: expected_accuracy_formula(p, q) >= bayes_accuracy_formula(q), "p[2] q[2]", law)
    assert first_maximum_formula(witness["p"]) != first_maximum_formula(witness["q"])


def test_the_binary_accuracy_is_the_accuracy_of_two_classes() -> None:
    """With classes (no, yes) both forms agree, and a report of ½ selects no."""
    prove(
        lambda p, q: expected_accuracy_binary_formula(p, q) == expected_accuracy_formula((1 - p, p), (1 - q, q)),
        "p q",
        unit,
    )


def test_twin_a_report_of_a_half_does_not_select_yes() -> None:
    witness = refute(
        lambda p, q: expected_accuracy_binary_formula(p, q) == expected_accuracy_formula((p, 1 - p), (q, 1 - q)),
        "p q",
        unit,
    )
    assert witness["p"] == HALF


# --- the rule -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", CLASSES)
def test_a_loss_is_the_chance_of_being_wrong(classes: int) -> None:
    """Answering k costs 1 where the outcome is another class; deferring costs c whatever the outcome."""

    def statement(q: Any, c: Any) -> list[Any]:
        wrong = [
            decision_loss_formula(k, q, c) == total(x for other, x in enumerate(q) if other != k)
            for k in range(classes)
        ]
        return [*wrong, decision_loss_formula(DEFER, q, c) == c]

    prove(statement, f"q[{classes}] c", lambda q, c: [*law(q), *any_cost(c)])


def test_twin_a_loss_is_not_the_chance_of_being_right() -> None:
    refute(lambda q: decision_loss_formula(0, q, HALF) == q[0], "q[3]", law)


def test_binary_losses_are_those_of_two_classes() -> None:
    """The one-coordinate losses are the losses on (1 − q, q), for each action."""

    def statement(q: Any, c: Any) -> list[Any]:
        return [
            binary_loss_formula(action, q, c) == decision_loss_formula(action, (1 - q, q), c)
            for action in (NO, YES, DEFER)
        ]

    prove(statement, "q c", lambda q, c: [*unit(q), *any_cost(c)])


def test_twin_binary_losses_do_not_swap_the_classes() -> None:
    refute(lambda q, c: binary_loss_formula(YES, q, c) == decision_loss_formula(NO, (1 - q, q), c), "q c", unit)


@pytest.mark.parametrize("classes", CLASSES)
def test_the_action_is_the_first_of_least_loss_under_its_own_report(classes: int) -> None:
    """In the order class 1 … K, defer, for every cost in (0, 1): a class wins every tie against deferring."""

    def statement(p: Any, c: Any) -> list[Any]:
        losses = [*[decision_loss_formula(k, p, c) for k in range(classes)], c]
        action = action_formula(p, c)
        return first_of_least(losses, action if action >= 0 else classes)

    assert prove(statement, f"p[{classes}] c", lambda p, c: [*law(p), *any_cost(c)]) >= 2**classes


def test_twin_deferring_does_not_win_a_tie() -> None:
    def statement(p: Any, c: Any) -> list[Any]:
        losses = [c, *[decision_loss_formula(k, p, c) for k in range(3)]]
        return first_of_least(losses, action_formula(p, c) + 1)

    witness = refute(statement, "p[3] c", lambda p, c: [*law(p), *costs(c)])
    assert max(witness["p"]) == 1 - witness["c"]


def test_the_binary_action_is_the_first_of_no_yes_defer() -> None:
    """The first of least loss among no, yes, defer, for every cost in (0, 1), and the action on (1 − p, p)."""

    def statement(p: Any, c: Any) -> list[Any]:
        action = binary_action_formula(p, c)
        losses = [binary_loss_formula(a, p, c) for a in (NO, YES, DEFER)]
        return [*first_of_least(losses, [NO, YES, DEFER].index(action)), action == action_formula((1 - p, p), c)]

    assert prove(statement, "p c", lambda p, c: [*unit(p), *any_cost(c)]) >= 4


def test_twin_the_binary_action_is_not_the_first_of_yes_no_defer() -> None:
    def statement(p: Any, c: Any) -> list[Any]:
        losses = [binary_loss_formula(a, p, c) for a in (YES, NO, DEFER)]
        return first_of_least(losses, [YES, NO, DEFER].index(binary_action_formula(p, c)))

    witness = refute(statement, "p c", lambda p, c: [*unit(p), *any_cost(c)])
    assert witness["p"] == HALF


# --- the oracle and headroom ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", CLASSES)
def test_the_oracle_is_the_controller_on_the_target(classes: int) -> None:
    """Its loss is at most that of every action, and the target as report attains it, with no regret."""

    def statement(q: Any, c: Any) -> list[Any]:
        least = oracle_loss_formula(q, c)
        return [
            *[least <= decision_loss_formula(a, q, c) for a in range(-1, classes)],
            least == decision_loss_formula(action_formula(q, c), q, c),
            regret_formula(q, q, c) == 0,
            headroom_formula(q, c) == c - least,
        ]

    prove(statement, f"q[{classes}] c", lambda q, c: [*law(q), *any_cost(c)])


def test_twin_the_oracle_saves_nothing_only_sometimes() -> None:
    witness = refute(lambda q, c: headroom_formula(q, c) == 0, "q[3] c", lambda q, c: [*law(q), *costs(c)])
    assert max(witness["q"]) > 1 - witness["c"]


def test_the_binary_oracle_is_the_oracle_of_two_classes() -> None:
    prove(
        lambda q, c: binary_oracle_loss_formula(q, c) == oracle_loss_formula((1 - q, q), c),
        "q c",
        lambda q, c: [*unit(q), *any_cost(c)],
    )


def test_twin_the_binary_oracle_may_answer_no() -> None:
    refute(lambda q, c: binary_oracle_loss_formula(q, c) == oracle_loss_formula((q, q), c), "q c", unit)


# --- policies -------------------------------------------------------------------------------------------------------


def test_policies_are_what_their_names_say() -> None:
    """Each policy's loss is that of its actions: one report, the midpoint, the common action, never, the target."""

    def statement(p: Any, r: Any, q: Any, c: Any) -> list[Any]:
        def loss(report: Any) -> Any:
            return binary_loss_formula(binary_action_formula(report, c), q, c)

        found = {name: policy_loss_formula(name, p, r, q, c) for name in ("random", "mean", "agreement")}
        common = binary_action_formula(p, c) == binary_action_formula(r, c)
        return [
            policy_loss_formula("event", p, r, q, c) == loss(p),
            policy_loss_formula("choice", p, r, q, c) == loss(r),
            found["random"] + found["random"] == loss(p) + loss(r),
            found["mean"] == loss(midpoint_formula(p, r)),
            found["agreement"] == (loss(p) if common else c),
            policy_loss_formula("oracle", p, r, q, c) == single_loss_formula(q, q, c),
            policy_loss_formula("defer", p, r, q, c) == c,
            mean_action_formula(p, r, c) == binary_action_formula(midpoint_formula(p, r), c),
            mean_minus_random_formula(p, r, q, c) == found["mean"] - found["random"],
        ]

    assert prove(statement, "p r q c", lambda p, r, q, c: [*unit(p, r, q), *any_cost(c)]) >= 12


def test_twin_the_policies_are_different() -> None:
    for one, other in (("event", "choice"), ("random", "mean"), ("mean", "agreement"), ("agreement", "defer")):
        refute(
            lambda p, r, q, c, one=one, other=other: (
                policy_loss_formula(one, p, r, q, c) == policy_loss_formula(other, p, r, q, c)
            ),
            "p r q c",
            lambda p, r, q, c: [*unit(p, r, q), *costs(c)],
        )


def test_agreement_acts_only_on_a_common_class() -> None:
    """It takes the action that both reports take, and defers where they take different ones."""

    def statement(p: Any, r: Any, c: Any) -> Any:
        action = agreement_action_formula(p, r, c)
        both = (binary_action_formula(p, c), binary_action_formula(r, c))
        return both == (action, action) if both[0] == both[1] else action == DEFER

    prove(statement, "p r c", lambda p, r, c: [*unit(p, r), *any_cost(c)])


def test_twin_agreement_is_not_the_first_report() -> None:
    refute(
        lambda p, r, c: agreement_action_formula(p, r, c) == binary_action_formula(p, c),
        "p r c",
        lambda p, r, c: [*unit(p, r), *costs(c)],
    )


def test_the_best_fixed_action_is_the_first_of_least_mean_loss() -> None:
    """Over two roots with any weights: the first of no, yes, defer with least mean loss, and that loss."""

    def statement(q: Any, w: Any, c: Any) -> list[Any]:
        action, loss = best_fixed_action_formula(q, w, c)
        losses = [
            total(weight * binary_loss_formula(a, target, c) for weight, target in zip(w, q, strict=True))
            for a in (NO, YES, DEFER)
        ]
        place = [NO, YES, DEFER].index(action)
        return [*first_of_least(losses, place), loss * total(w) == losses[place]]

    prove(statement, "q[2] w[2] c", lambda q, w, c: [*unit(*q), *[x > 0 for x in w], *any_cost(c)])


def test_twin_the_best_fixed_action_is_not_chosen_root_by_root() -> None:
    def statement(q: Any, w: Any, c: Any) -> Any:
        _, loss = best_fixed_action_formula(q, w, c)
        return loss * total(w) == total(
            weight * binary_oracle_loss_formula(target, c) for weight, target in zip(w, q, strict=True)
        )

    refute(statement, "q[2] w[2] c", lambda q, w, c: [*unit(*q), *[x > 0 for x in w], *costs(c)])
