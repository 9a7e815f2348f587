"""How far a report can move before its decision changes (D.margin), for costs below ½."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from exactworlds.metrics.decisions import DEFER, action_formula
from exactworlds.metrics.divergences import total_variation_formula
from exactworlds.metrics.regrets import margin_formula
from proofs.kit.reals import costs, law, prove, refute


def two_reports(p: Any, r: Any, c: Any) -> list[Any]:
    return [*law(p, r), *costs(c)]


def near(p: Any, r: Any, t: Any, c: Any) -> list[Any]:
    """Two reports, and any t that is at least their difference on each class, as the total variation is."""
    return [*two_reports(p, r, c), *[x for a, b in zip(p, r, strict=True) for x in (t >= a - b, t >= b - a)]]


@pytest.mark.parametrize("classes", [2, 3])
def test_within_the_margin_the_decision_stays(classes: int) -> None:
    """Total variation ≤ margin keeps an answer, and which one; < margin keeps a deferral."""

    def statement(p: Any, r: Any, c: Any) -> Any:
        distance, margin, action = total_variation_formula(p, r), margin_formula(p, c), action_formula(p, c)
        if action == DEFER:
            return action_formula(r, c) == DEFER if distance < margin else True
        return action_formula(r, c) == action if distance <= margin else True

    assert prove(statement, f"p[{classes}] r[{classes}] c", two_reports) >= 6


def test_within_the_margin_the_decision_of_four_classes_stays() -> None:
    """For any t in place of the total variation that is at least each class's difference: for any K, by the classes
    that take part."""

    def statement(p: Any, r: Any, t: Any, c: Any) -> Any:
        margin, action = margin_formula(p, c), action_formula(p, c)
        if action == DEFER:
            return action_formula(r, c) == DEFER if t < margin else True
        return action_formula(r, c) == action if t <= margin else True

    prove(statement, "p[4] r[4] t c", near)


def test_twin_a_deferral_may_end_exactly_at_the_margin() -> None:
    def statement(p: Any, r: Any, c: Any) -> Any:
        keeps = action_formula(p, c) != DEFER or total_variation_formula(p, r) > margin_formula(p, c)
        return keeps or action_formula(r, c) == DEFER

    witness = refute(statement, "p[2] r[2] c", two_reports)
    assert total_variation_formula(witness["p"], witness["r"]) == margin_formula(witness["p"], witness["c"])


def test_the_margin_is_attained_everywhere() -> None:
    """Moving the margin to the largest class ends every deferral; taking any more from it, up to a bound, ends every
    answer."""

    def deferral_ends(p: Any, c: Any) -> Any:
        if action_formula(p, c) != DEFER:
            return True
        m, first = margin_formula(p, c), 0 if p[0] >= p[1] else 1
        moved = (p[0] + m, p[1] - m) if first == 0 else (p[0] - m, p[1] + m)
        return [total_variation_formula(p, moved) == m, action_formula(moved, c) == first]

    def answer_ends(p: Any, e: Any, c: Any) -> Any:
        chosen = action_formula(p, c)
        if chosen == DEFER:
            return True
        m = margin_formula(p, c) + e
        moved = (p[0] - m, p[1] + m) if chosen == 0 else (p[0] + m, p[1] - m)
        return [total_variation_formula(p, moved) == m, action_formula(moved, c) == DEFER]

    prove(deferral_ends, "p[2] c", lambda p, c: [*law(p), *costs(c)])
    prove(answer_ends, "p[2] e c", lambda p, e, c: [*law(p), *costs(c), e > 0, e < 1 - 2 * c])


def test_twin_the_margin_is_no_larger() -> None:
    slack = Fraction(1, 100)

    def statement(p: Any, r: Any, c: Any) -> Any:
        far = total_variation_formula(p, r) > margin_formula(p, c) + slack
        return far or action_formula(r, c) == action_formula(p, c)

    refute(statement, "p[3] r[3] c", two_reports)
