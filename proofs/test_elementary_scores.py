"""The reject loss is two elementary scores, and the scores add up to Brier (D.elementary, D.murphy).

An integral over thresholds is split by hand where the score jumps; on each side the package's own formula, run on
symbols that say which side it is, gives the integrand.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy

from exactworlds.metrics._ordering import larger, smaller, total
from exactworlds.metrics.curves import agreement_acts_from_formula, murphy_oracle_formula
from exactworlds.metrics.decisions import DEFER, action_formula, binary_action_formula, decision_loss_formula
from exactworlds.metrics.policies import (
    agreement_action_formula,
    averaging_gain_formula,
    mean_minus_random_formula,
    midpoint_formula,
    single_loss_formula,
)
from exactworlds.metrics.scores import brier_score_binary_formula, brier_score_formula, elementary_score_formula
from proofs.kit.algebra import difference_at, identical
from proofs.kit.reals import costs, law, prove, refute, unit

HALF = Fraction(1, 2)
Q, THETA, COST = sympy.symbols("q theta c", real=True)
GAP = sympy.Symbol("g", positive=True)


def one_cost(p: Any, q: Any, c: Any) -> list[Any]:
    return [*unit(p, q), *costs(c)]


# --- what an elementary score is ------------------------------------------------------------------------------------


@pytest.mark.parametrize("inclusive", [True, False])
def test_an_elementary_score_is_a_mean_over_outcomes(inclusive: bool) -> None:
    """A miss costs 1 − θ, a false alarm θ, the rest nothing; an alarm is p ≥ θ (inclusive) or p > θ."""

    def statement(p: Any, q: Any, theta: Any) -> Any:
        alarm = p >= theta if inclusive else p > theta
        mean = (1 - q) * theta if alarm else q * (1 - theta)
        return elementary_score_formula(p, q, theta, inclusive=inclusive) == mean

    assert prove(statement, "p q t", unit) >= 2


def test_twin_the_two_conventions_differ_at_the_threshold_only() -> None:
    def statement(p: Any, q: Any, theta: Any) -> Any:
        both = [elementary_score_formula(p, q, theta, inclusive=inclusive) for inclusive in (True, False)]
        return both[0] == both[1]

    witness = refute(statement, "p q t", unit)
    assert witness["p"] == witness["t"]


def test_a_murphy_curve_jumps_by_target_minus_report() -> None:
    """At θ = p the right value minus the left value is q − p: the alarm is included at p and lost after it."""

    def statement(p: Any, q: Any) -> Any:
        after = elementary_score_formula(p, q, p, inclusive=False)
        return after - elementary_score_formula(p, q, p, inclusive=True) == q - p

    prove(statement, "p q", unit)


def test_the_oracle_of_a_murphy_curve_is_the_best_report() -> None:
    """min((1 − θ)q, θ(1 − q)) is at most every report's score, and the target itself attains it."""

    def statement(p: Any, q: Any, theta: Any) -> list[Any]:
        least = murphy_oracle_formula(q, theta)
        return [
            least <= elementary_score_formula(p, q, theta, inclusive=True),
            least == elementary_score_formula(q, q, theta, inclusive=True),
        ]

    prove(statement, "p q t", unit)


def test_twin_a_report_of_a_half_is_not_the_oracle() -> None:
    refute(
        lambda q, t: murphy_oracle_formula(q, t) == elementary_score_formula(HALF, q, t, inclusive=True), "q t", unit
    )


# --- the reject loss ------------------------------------------------------------------------------------------------


def reject_loss_is_two_scores(low: bool, high: bool, factor: int = 1) -> Any:
    def statement(p: Any, q: Any, c: Any) -> Any:
        at_cost = elementary_score_formula(p, q, c, inclusive=low)
        at_rest = elementary_score_formula(p, q, 1 - c, inclusive=high)
        return single_loss_formula(p, q, c) == factor * (at_cost + at_rest)

    return statement


def test_the_reject_loss_is_two_elementary_scores() -> None:
    """For c < ½: the strict score at c plus the inclusive one at 1 − c, the factor exactly 1."""
    assert prove(reject_loss_is_two_scores(low=False, high=True), "p q c", one_cost) >= 3


@pytest.mark.parametrize(("low", "high"), [(True, True), (False, False), (True, False)])
def test_twin_other_tie_conventions_fail_exactly_on_a_threshold(low: bool, high: bool) -> None:
    witness = refute(reject_loss_is_two_scores(low, high), "p q c", one_cost)
    assert witness["p"] in (witness["c"], 1 - witness["c"])


def test_twin_the_factor_is_not_two() -> None:
    refute(reject_loss_is_two_scores(low=False, high=True, factor=2), "p q c", one_cost)


def test_averaging_in_elementary_scores() -> None:
    """Mean minus Random is the same contrast of scores, at both thresholds."""

    def contrast(theta: Any, inclusive: bool, p: Any, r: Any, q: Any) -> Any:
        def score(x: Any) -> Any:
            return elementary_score_formula(x, q, theta, inclusive=inclusive)

        return score(midpoint_formula(p, r)) - (score(p) + score(r)) / 2

    def statement(p: Any, r: Any, q: Any, c: Any) -> Any:
        both = contrast(c, False, p, r, q) + contrast(1 - c, True, p, r, q)
        return mean_minus_random_formula(p, r, q, c) == both

    assert prove(statement, "p r q c", lambda p, r, q, c: [*unit(p, r, q), *costs(c)]) >= 10


# --- integrals ------------------------------------------------------------------------------------------------------


def score_integral(p: Any) -> Any:
    """∫₀¹ S_θ dθ, split at θ = p: before it the report is above the threshold, after it below."""
    before = elementary_score_formula(THETA + GAP, Q, THETA, inclusive=True)
    after = elementary_score_formula(THETA - GAP, Q, THETA, inclusive=True)
    return sympy.integrate(before, (THETA, 0, p)) + sympy.integrate(after, (THETA, p, 1))


def loss_integral(p: Any) -> Any:
    """2∫₀^½ ℓ_c dc for a report p ≤ ½, split at c = p: before it the controller defers, after it says no."""
    rest = sympy.Symbol("h", positive=True)
    report = sympy.Rational(1, 2) - rest
    before = single_loss_formula(report, Q, report - GAP).subs(GAP, report - COST)
    after = single_loss_formula(report, Q, report + GAP)
    half = sympy.Rational(1, 2)
    return 2 * (sympy.integrate(before, (COST, 0, p)) + sympy.integrate(after, (COST, p, half)))


def test_the_integral_of_elementary_scores_is_half_the_brier_score() -> None:
    p = sympy.Symbol("p", real=True)
    identical(2 * score_integral(p), brier_score_binary_formula(p, Q))


def test_the_reject_loss_over_uniform_costs_is_the_brier_score() -> None:
    """2∫₀^½ ℓ_c dc = (p − q)² + q(1 − q); for p ≥ ½ by the symmetry that exchanges the classes."""
    p = sympy.Symbol("p", real=True)
    identical(loss_integral(p), brier_score_binary_formula(p, Q))
    identical(brier_score_binary_formula(1 - p, 1 - Q), brier_score_binary_formula(p, Q))
    prove(
        lambda p, q, c: single_loss_formula(p, q, c) == single_loss_formula(1 - p, 1 - q, c),
        "p q c",
        lambda p, q, c: [*one_cost(p, q, c)],
    )


def test_the_mean_effect_of_averaging_over_uniform_costs() -> None:
    """The mean of Δ_c over c uniform on (0, ½) is −(p − p′)²/4: by linearity, Brier scores of the three reports."""
    p, r = sympy.symbols("p r", real=True)
    mean = loss_integral(p) + loss_integral(r)
    identical(loss_integral(midpoint_formula(p, r)) - mean / 2, -averaging_gain_formula(p, r))


def test_twins_of_the_integrals() -> None:
    p, r = sympy.symbols("p r", real=True)
    difference_at(score_integral(p), brier_score_binary_formula(p, Q))
    difference_at(loss_integral(p), 2 * brier_score_binary_formula(p, Q))
    difference_at(
        loss_integral(midpoint_formula(p, r)) - (loss_integral(p) + loss_integral(r)) / 2,
        averaging_gain_formula(p, r),
    )


# --- three classes --------------------------------------------------------------------------------------------------


def test_two_classes_have_the_identity_class_by_class() -> None:
    """For K = 2 the reject loss is half the sum over classes of both scores, except on a threshold."""
    prove(class_by_class, "p[2] q[2] c", lambda p, q, c: [*law(p, q), *costs(c), p[0] != c, p[1] != c])


def class_by_class(p: Any, q: Any, c: Any) -> Any:
    scores = [
        elementary_score_formula(a, b, c, inclusive=False) + elementary_score_formula(a, b, 1 - c, inclusive=True)
        for a, b in zip(p, q, strict=True)
    ]
    return 2 * decision_loss_formula(action_formula(p, c), q, c) == total(scores)


def test_twin_three_classes_have_no_such_identity() -> None:
    """Class by class the sum is another number; and no function of the Brier score will do.

    Two reports without a majority are both deferred at every cost below ½, whatever the target, so every mean of their
    reject losses is the same; their Brier scores are not.
    """
    refute(class_by_class, "p[3] q[3] c", lambda p, q, c: [*law(p, q), *costs(c), *[x != c for x in p]])
    one = [Fraction(2, 5), Fraction(3, 10), Fraction(3, 10)]
    other = [Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)]
    prove(
        lambda q, c: [decision_loss_formula(action_formula(report, c), q, c) == c for report in (one, other)],
        "q[3] c",
        lambda q, c: [*law(q), *costs(c)],
    )
    refute(lambda q: brier_score_formula(one, q) == brier_score_formula(other, q), "q[3]", law)


# --- curves over the cost -------------------------------------------------------------------------------------------


def test_between_breakpoints_the_reject_loss_is_affine() -> None:
    """At costs with no min(x, 1 − x) of the report between them the action is the same; the loss is c or constant.

    At a breakpoint the action is that of the costs just above it: the exact value is the right value.
    """

    def statement(p: Any, c: Any, d: Any) -> Any:
        least = smaller(p, 1 - p)
        same_side = least <= c or d < least
        return binary_action_formula(p, c) == binary_action_formula(p, d) if same_side else True

    prove(statement, "p c d", lambda p, c, d: [*unit(p), *costs(c), *costs(d), c <= d])


def test_twin_a_breakpoint_does_not_belong_to_the_costs_below() -> None:
    def statement(p: Any, c: Any, d: Any) -> Any:
        least = smaller(p, 1 - p)
        same_side = least < c or d <= least
        return binary_action_formula(p, c) == binary_action_formula(p, d) if same_side else True

    witness = refute(statement, "p c d", lambda p, c, d: [*unit(p), *costs(c), *costs(d), c <= d])
    assert witness["d"] == min(witness["p"], 1 - witness["p"])


def test_agreement_acts_from_the_larger_breakpoint() -> None:
    """If both reports lie strictly on one side of ½, agreement answers iff c is at least both breakpoints; otherwise
    it never does."""

    def statement(p: Any, r: Any, c: Any) -> list[Any]:
        start = agreement_acts_from_formula(p, r)
        acts = agreement_action_formula(p, r, c) != DEFER
        one_side = bool(p < HALF and r < HALF) or bool(p > HALF and r > HALF)
        return [start >= 0, start <= HALF, bool(c >= start) == acts, bool(start < HALF) == one_side]

    prove(statement, "p r c", lambda p, r, c: [*unit(p, r), *costs(c)])
    prove(
        lambda p, r: agreement_acts_from_formula(p, r) == larger(smaller(p, 1 - p), smaller(r, 1 - r)),
        "p r",
        lambda p, r: [*unit(p, r), p < HALF, r < HALF],
    )


def test_twin_agreement_does_not_act_from_the_smaller_breakpoint() -> None:
    refute(
        lambda p, r, c: agreement_action_formula(p, r, c) != DEFER if smaller(p, r) <= c else True,
        "p r c",
        lambda p, r, c: [*unit(p, r), *costs(c), p < HALF, r < HALF],
    )
