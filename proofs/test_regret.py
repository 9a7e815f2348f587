"""Regret of a report against the oracle: at most twice the total variation, and sharper by cases (D.regret).

For any number of classes. Let the report choose i and the target j. Then

    E_q ℓ(i) − E_q ℓ(j) = (E_q − E_p) ℓ(i) + [E_p ℓ(i) − E_p ℓ(j)] + (E_p − E_q) ℓ(j).

The bracket is ≤ 0, because i is best under p, and equal to −(p_i − p_j) where both are classes. Each of the other terms
is a difference of probabilities of one class, at most the total variation, and 0 for a deferral, whose loss is
constant. Only the classes i and j take part, so the other K − 2 can be merged into one cell, which never raises the
total variation (`test_merging_classes_never_raises_the_total_variation`). The last tests state this on three cells;
the tests before run the whole code for K = 2, 3, 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import pytest

from exactworlds.metrics._ordering import total
from exactworlds.metrics.decisions import DEFER, action_formula, decision_loss_formula
from exactworlds.metrics.divergences import total_variation_binary_formula, total_variation_formula
from exactworlds.metrics.regrets import margin_formula, regret_bound_formula, regret_formula
from proofs.kit.reals import costs, law, prove, refute, unit

HALF = Fraction(1, 2)
CLASSES = (2, 3, 4)


def events(classes: int) -> Iterable[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(classes), size) for size in range(classes + 1))


def laws(p: Any, q: Any, c: Any) -> list[Any]:
    return [*law(p, q), *costs(c, below=1)]


def distance(p: Any, q: Any, t: Any, c: Any) -> list[Any]:
    """Any t that is at least the difference on each class; the total variation is one."""
    return [*laws(p, q, c), *[x for a, b in zip(p, q, strict=True) for x in (t >= a - b, t >= b - a)]]


# --- total variation ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", CLASSES)
def test_total_variation_is_the_largest_difference_on_any_event(classes: int) -> None:
    """At least |P(E) − Q(E)| for each of the 2^K events, and equal to it for the event where p ≥ q."""

    def statement(p: Any, q: Any) -> list[Any]:
        found = total_variation_formula(p, q)
        gaps = [a - b for a, b in zip(p, q, strict=True)]
        return [
            *[found >= total(gaps[k] for k in event) for event in events(classes)],
            found == total(gap for gap in gaps if gap >= 0),
        ]

    assert prove(statement, f"p[{classes}] q[{classes}]", law) >= 2**classes - 2


def test_the_binary_distance_is_that_of_two_classes() -> None:
    prove(
        lambda p, q: total_variation_binary_formula(p, q) == total_variation_formula((1 - p, p), (1 - q, q)),
        "p q",
        unit,
    )


def test_twin_total_variation_is_not_the_largest_difference_on_a_class() -> None:
    def statement(p: Any, q: Any) -> Any:
        found = total_variation_formula(p, q)
        return any(
            found == abs_gap for a, b in zip(p, q, strict=True) for abs_gap in [total_variation_binary_formula(a, b)]
        )

    refute(statement, "p[4] q[4]", law)


def test_merging_classes_never_raises_the_total_variation() -> None:
    """One merge, three classes into two; any merge is several of these."""
    prove(
        lambda p, q: total_variation_formula((p[0] + p[1], p[2]), (q[0] + q[1], q[2])) <= total_variation_formula(p, q),
        "p[3] q[3]",
        law,
    )


def test_twin_merging_classes_may_lower_the_total_variation() -> None:
    refute(
        lambda p, q: total_variation_formula((p[0] + p[1], p[2]), (q[0] + q[1], q[2])) >= total_variation_formula(p, q),
        "p[3] q[3]",
        law,
    )


# --- the whole code -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_regret_is_at_least_zero_and_within_its_bound(classes: int) -> None:
    """0 ≤ regret ≤ 2 TV, and ≤ TV/(1 − c) for c ≤ ½, with the package's total variation."""

    def statement(p: Any, q: Any, c: Any) -> list[Any]:
        regret = regret_formula(p, q, c)
        return [regret >= 0, regret <= regret_bound_formula(total_variation_formula(p, q), c)]

    assert prove(statement, f"p[{classes}] q[{classes}] c", laws) >= 10


def test_regret_of_four_classes_is_within_its_bound() -> None:
    """The same for K = 4 with any t in place of TV that is at least each class's difference, as TV is."""

    def statement(p: Any, q: Any, t: Any, c: Any) -> list[Any]:
        regret = regret_formula(p, q, c)
        return [regret >= 0, regret <= regret_bound_formula(t, c)]

    assert prove(statement, "p[4] q[4] t c", distance) >= 50


def test_twin_the_bound_is_not_the_total_variation() -> None:
    for classes in (2, 3):
        witness = refute(
            lambda p, q, c: regret_formula(p, q, c) <= total_variation_formula(p, q),
            f"p[{classes}] q[{classes}] c",
            laws,
        )
        assert action_formula(witness["q"], witness["c"]) != DEFER != action_formula(witness["p"], witness["c"])


@pytest.mark.parametrize("classes", CLASSES)
def test_the_sharper_bounds(classes: int) -> None:
    """≤ t − |max p − (1 − c)| when exactly one of report and oracle defers; ≤ 2t − (p_i − p_j) when both answer."""

    def statement(p: Any, q: Any, t: Any, c: Any) -> Any:
        regret = regret_formula(p, q, c)
        chosen, best = action_formula(p, c), action_formula(q, c)
        if chosen == best:
            return regret == 0
        if DEFER in (chosen, best):
            return regret <= t - margin_formula(p, c)
        return [p[chosen] >= p[best], regret <= 2 * t - (p[chosen] - p[best])]

    assert prove(statement, f"p[{classes}] q[{classes}] t c", distance) >= 8


def test_twins_of_the_sharper_bounds() -> None:
    """Neither margin can be taken twice, neither constant made smaller."""

    def twice_the_margin(p: Any, q: Any, c: Any) -> Any:
        if (action_formula(p, c) == DEFER) == (action_formula(q, c) == DEFER):
            return True
        return regret_formula(p, q, c) <= total_variation_formula(p, q) - 2 * margin_formula(p, c)

    def twice_the_gap(p: Any, q: Any, c: Any) -> Any:
        chosen, best = action_formula(p, c), action_formula(q, c)
        if DEFER in (chosen, best):
            return True
        return regret_formula(p, q, c) <= 2 * total_variation_formula(p, q) - 2 * (p[chosen] - p[best])

    for statement in (twice_the_margin, twice_the_gap):
        refute(statement, "p[2] q[2] c", laws)


def test_the_bound_is_attained_at_every_cost() -> None:
    """For c ≤ ½ the report (1 − c, c) and the target (0, 1) attain TV/(1 − c); for c > ½, 2 TV is attained near ½."""
    prove(
        lambda c: (
            regret_formula((1 - c, c), (0 * c, 1 + 0 * c), c)
            == regret_bound_formula(total_variation_formula((1 - c, c), (0 * c, 1 + 0 * c)), c)
        ),
        "c",
        lambda c: [c > 0, c <= HALF],
    )

    def near_a_half(c: Any, e: Any) -> Any:
        p, q = (HALF + 0 * e, HALF + 0 * e), (HALF - e, HALF + e)
        return regret_formula(p, q, c) == regret_bound_formula(total_variation_formula(p, q), c)

    prove(near_a_half, "c e", lambda c, e: [c > HALF, c < 1, e >= 0, e <= HALF])


def test_twin_the_bound_is_no_smaller() -> None:
    for factor in (Fraction(99, 100), Fraction(999, 1000)):
        refute(
            lambda p, q, c, factor=factor: (
                regret_formula(p, q, c) <= factor * regret_bound_formula(total_variation_formula(p, q), c)
            ),
            "p[2] q[2] c",
            lambda p, q, c: [*law(p, q), *costs(c)],
        )


# --- any number of classes ------------------------------------------------------------------------------------------


def test_any_number_of_classes_by_three_cells() -> None:
    """Classes i, j and the rest, merged: the three cases of the argument, with only what the choice of i gives."""

    def both_answer(p: Any, q: Any, c: Any) -> Any:
        t = total_variation_formula(p, q)
        regret = decision_loss_formula(0, q, c) - decision_loss_formula(1, q, c)
        return [regret <= 2 * t - (p[0] - p[1]), regret <= t / (1 - c) if 2 * c <= 1 else True]

    def oracle_defers(p: Any, q: Any, c: Any) -> Any:
        regret = decision_loss_formula(0, q, c) - decision_loss_formula(DEFER, q, c)
        return regret <= total_variation_formula(p, q) - (p[0] - (1 - c))

    def report_defers(p: Any, q: Any, c: Any) -> Any:
        regret = decision_loss_formula(DEFER, q, c) - decision_loss_formula(0, q, c)
        return regret <= total_variation_formula(p, q) - (1 - c - p[0])

    prove(both_answer, "p[3] q[3] c", lambda p, q, c: [*laws(p, q, c), p[0] >= 1 - c, p[0] >= p[1]])
    prove(oracle_defers, "p[3] q[3] c", lambda p, q, c: [*laws(p, q, c), p[0] >= 1 - c])
    prove(report_defers, "p[3] q[3] c", lambda p, q, c: [*laws(p, q, c), p[0] < 1 - c])


def test_twin_three_cells_need_the_choice() -> None:
    """Without i being best under p the first case is false."""
    refute(
        lambda p, q, c: (
            decision_loss_formula(0, q, c) - decision_loss_formula(1, q, c)
            <= 2 * total_variation_formula(p, q) - (p[1] - p[0]) * 2
        ),
        "p[3] q[3] c",
        lambda p, q, c: [*laws(p, q, c), p[1] > p[0]],
    )
