"""Pinsker's inequality for any number of classes, and the accuracy gap (C.pinsker, C.accuracy-gap).

KL(q‖p) ≥ 2 TV². For two classes, as a function of the target q it is tangent to 0 at q = p and its curvature is
(1 − 2q)²/(q(1 − q)) ≥ 0: so it is ≥ 0. For K classes, merge those with p ≥ q into one and the others into another:
the total variation does not change, and each merge of two classes only lowers KL; what is left is the case of two.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import given

from exactworlds.metrics.divergences import (
    accuracy_gap_bound_from_tv_formula,
    accuracy_gap_formula,
    kl_formula,
    pinsker_bound_formula,
    total_variation_binary_formula,
    total_variation_formula,
)
from metric_strategies import pairs_of_distributions
from proofs.kit.algebra import NotIdentical, identical, never_negative, normal_logs, tangent
from proofs.kit.enclosures import INTERVALS, certainly_negative, certainly_positive, enclose, enclose_all
from proofs.kit.reals import law, prove, refute, unit

HALF = Fraction(1, 2)
P, Q, NO, NOT_Q = sympy.symbols("p q s t", positive=True)


def binary_kl(p: Any, q: Any) -> Any:
    """The package's divergence of two classes; sympy is told that the complements are positive."""
    return kl_formula((NO, P), (NOT_Q, Q), log=sympy.log).subs({NO: 1 - P, NOT_Q: 1 - Q}).subs({P: p, Q: q})


def laws(p: Any, q: Any) -> list[Any]:
    return law(p, q)


def test_pinsker_for_two_classes() -> None:
    """KL − 2(p − q)² is 0 with slope 0 at q = p, and its curvature in q is a square over q(1 − q)."""
    excess = binary_kl(P, Q) - pinsker_bound_formula(P - Q)
    tangent(excess, Q, P, (1 - 2 * Q) ** 2 / (Q * (1 - Q)))
    a, b = sympy.symbols("a b", positive=True)
    curvature = sympy.diff(excess, Q, 2).subs(Q, a / (a + b))
    identical(curvature, (a - b) ** 2 / (a * b))


def test_pinsker_at_the_ends() -> None:
    """At q = 0 the divergence is −ln(1 − p); minus 2p² it is 0 at 0 with slope (1 − 2p)²/(1 − p). At q = 1 the same
    with 1 − p for p."""
    end = kl_formula((NO, P), (sympy.Integer(1), sympy.Integer(0)), log=sympy.log).subs(NO, 1 - P)
    excess = end - pinsker_bound_formula(P)
    assert sympy.limit(excess, P, 0) == 0
    identical(sympy.diff(excess, P), (1 - 2 * P) ** 2 / (1 - P))
    assert normal_logs(kl_formula((NO, P), (sympy.Integer(0), sympy.Integer(1)), log=sympy.log) + sympy.log(P)) == 0


def test_merging_two_classes_lowers_the_divergence() -> None:
    """KL(q‖p) minus that of classes 1 and 2 merged, in q₁ with q₁ + q₂ fixed: tangent to 0 where q₁ : q₂ = p₁ : p₂,
    curvature 1/q₁ + 1/q₂ > 0. Classes with a zero are limits of these."""
    p1, p2, p3, q1, q2, q3, both = sympy.symbols("p1 p2 p3 q1 q2 q3 b", positive=True)
    apart = kl_formula((p1, p2, p3), (q1, q2, q3), log=sympy.log)
    merged = kl_formula((p1 + p2, p3), (q1 + q2, q3), log=sympy.log)
    lost = (apart - merged).subs(q2, both - q1)
    tangent(lost, q1, both * p1 / (p1 + p2), 1 / q1 + 1 / (both - q1))
    never_negative(1 / q1 + 1 / q2)


def test_merging_by_sign_keeps_the_total_variation() -> None:
    """Two classes with p ≥ q, or two with p ≤ q, merged: the total variation is the same, so the bound is."""

    def statement(p: Any, q: Any) -> Any:
        merged = total_variation_formula((p[0] + p[1], p[2]), (q[0] + q[1], q[2]))
        return merged == total_variation_formula(p, q)

    prove(statement, "p[3] q[3]", lambda p, q: [*laws(p, q), p[0] >= q[0], p[1] >= q[1]])
    prove(statement, "p[3] q[3]", lambda p, q: [*laws(p, q), p[0] <= q[0], p[1] <= q[1]])


def test_twin_merging_unlike_classes_loses_total_variation() -> None:
    refute(
        lambda p, q: total_variation_formula((p[0] + p[1], p[2]), (q[0] + q[1], q[2])) == total_variation_formula(p, q),
        "p[3] q[3]",
        lambda p, q: [*laws(p, q), p[0] > q[0], p[1] < q[1]],
    )


def test_twin_the_constant_two_is_the_largest() -> None:
    """With 2.01 the inequality is false by certified intervals, and the tangent is refused with 2.1."""
    report, target = enclose_all([HALF, HALF]), enclose_all([HALF - Fraction(1, 1000), HALF + Fraction(1, 1000)])
    excess = kl_formula(report, target, log=INTERVALS.log)
    distance = enclose(Fraction(1, 1000))
    assert certainly_positive(excess - pinsker_bound_formula(distance))
    assert certainly_negative(excess - pinsker_bound_formula(distance) * enclose(Fraction(201, 200)))
    with pytest.raises(NotIdentical):
        tangent(
            binary_kl(P, Q) - Fraction(21, 20) * pinsker_bound_formula(P - Q), Q, P, (1 - 2 * Q) ** 2 / (Q * (1 - Q))
        )
    e = sympy.Symbol("e", positive=True)
    series = sympy.series(binary_kl(sympy.Rational(1, 2), sympy.Rational(1, 2) + e), e, 0, 4).removeO()
    identical(series, pinsker_bound_formula(e))


@given(pairs_of_distributions())
def test_pinsker_by_intervals(pair: tuple[Any, Any]) -> None:
    """On numbers, with certified ends: never below the bound, and strictly above it wherever the two differ."""
    report, target = map(enclose_all, pair)
    divergence = kl_formula(report, target, log=INTERVALS.log)
    if divergence != INTERVALS.inf:
        excess = divergence - pinsker_bound_formula(enclose(total_variation_formula(*pair)))
        assert not certainly_negative(excess)
        assert pair[0] == pair[1] or certainly_positive(excess)


# --- the accuracy gap -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_the_accuracy_gap_is_at_most_twice_the_total_variation(classes: int) -> None:
    """max q − q[ŷ(p)] ≤ 2 TV, and it is never negative; any K by the two classes that take part."""

    def statement(p: Any, q: Any) -> list[Any]:
        gap = accuracy_gap_formula(p, q)
        return [gap >= 0, gap <= accuracy_gap_bound_from_tv_formula(total_variation_formula(p, q))]

    assert prove(statement, f"p[{classes}] q[{classes}]", laws) >= 6


def test_the_gap_is_attained_at_a_half() -> None:
    """The report (½, ½) selects no; against (½ − e, ½ + e) the gap is 2e = 2 TV."""

    def statement(e: Any) -> Any:
        p, q = (HALF + 0 * e, HALF + 0 * e), (HALF - e, HALF + e)
        return accuracy_gap_formula(p, q) == accuracy_gap_bound_from_tv_formula(total_variation_formula(p, q))

    prove(statement, "e", lambda e: [e >= 0, e <= HALF])


def test_twin_the_gap_may_exceed_any_smaller_bound() -> None:
    for classes in (2, 3):
        refute(
            lambda p, q: 10 * accuracy_gap_formula(p, q) <= 19 * total_variation_formula(p, q),
            f"p[{classes}] q[{classes}]",
            laws,
        )


def test_from_the_divergence_to_the_gap() -> None:
    """With KL ≥ 2 TV², any s ≥ 0 with s² = 2 KL is at least 2 TV; and a mean of roots is at most the root of a mean."""
    prove(
        lambda t, k, s: accuracy_gap_bound_from_tv_formula(t) <= s,
        "t k s",
        lambda t, k, s: [*unit(t), k >= pinsker_bound_formula(t), s >= 0, s * s == 2 * k],
    )
    prove(
        lambda w, u, v: (w * u + (1 - w) * v) * (w * u + (1 - w) * v) <= w * u * u + (1 - w) * v * v,
        "w u v",
        lambda w, u, v: unit(w),
    )


def test_twin_the_root_of_the_divergence_alone_is_not_enough() -> None:
    refute(
        lambda t, s: accuracy_gap_bound_from_tv_formula(t) <= s,
        "t s",
        lambda t, s: [*unit(t), s >= 0, s * s >= pinsker_bound_formula(t)],
    )


def test_the_binary_distance_bounds_the_binary_gap() -> None:
    prove(
        lambda p, q: (
            accuracy_gap_formula((1 - p, p), (1 - q, q))
            <= accuracy_gap_bound_from_tv_formula(total_variation_binary_formula(p, q))
        ),
        "p q",
        unit,
    )
