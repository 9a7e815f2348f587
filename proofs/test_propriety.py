"""Brier score and log loss are strictly proper, the absolute error is not (C.propriety, C.brier, C.log-loss, C.kl).

Log loss, for any number of classes: ln x ≥ 1 − 1/x, with equality at 1 only. Handed to the package's divergence in
place of ln, the right-hand side gives Σ q_k (1 − p_k/q_k) = 0; so KL ≥ 0, and 0 only where every p_k = q_k. Log loss
minus entropy is KL, so the truth is the only best report.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import given

from exactworlds.metrics.divergences import entropy_formula, kl_formula, total_variation_binary_formula
from exactworlds.metrics.scores import (
    brier_score_binary_formula,
    brier_score_formula,
    log_loss_formula,
    realised_brier_score_binary_formula,
    realised_brier_score_formula,
)
from metric_strategies import pairs_of_distributions
from proofs.kit.algebra import difference_at, identical, normal_logs, tangent
from proofs.kit.enclosures import INTERVALS, certainly_positive, enclose_all
from proofs.kit.reals import law, prove, refute, unit

CLASSES = (2, 3, 4)


def symbols(name: str, classes: int) -> list[Any]:
    return list(sympy.symbols(f"{name}0:{classes}", positive=True))


# --- Brier ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", CLASSES)
def test_the_brier_score_is_the_mean_over_outcomes(classes: int) -> None:
    """Σ_y q_y Σ_k (p_k − 1[k = y])², for any law q; and so the realised score on the outcome that happens."""
    p, q = symbols("p", classes), symbols("q", classes)
    q[-1] = 1 - sum(q[:-1])

    def squares(y: int) -> Any:
        return sum((p[k] - int(k == y)) ** 2 for k in range(classes))

    for y in range(classes):
        identical(realised_brier_score_formula(p, y), squares(y))
    identical(brier_score_formula(p, q), sum(q[y] * squares(y) for y in range(classes)))


def test_twin_the_brier_score_is_not_the_squared_distance_alone() -> None:
    p, q = symbols("p", 3), symbols("q", 3)
    difference_at(brier_score_formula(p, q), sum((a - b) ** 2 for a, b in zip(p, q, strict=True)))


def test_the_binary_brier_score_is_half_that_of_two_classes() -> None:
    """The one-coordinate form is the mean over outcomes of (p − y)², and half the two-class form."""
    p, q = sympy.symbols("p q")
    one = brier_score_binary_formula(p, q)
    identical(one, q * (p - 1) ** 2 + (1 - q) * p**2)
    identical(2 * one, brier_score_formula((1 - p, p), (1 - q, q)))
    identical(one, q * realised_brier_score_binary_formula(p, 1) + (1 - q) * realised_brier_score_binary_formula(p, 0))


def test_twin_the_binary_brier_score_is_not_all_of_it() -> None:
    p, q = sympy.symbols("p q")
    difference_at(brier_score_binary_formula(p, q), brier_score_formula((1 - p, p), (1 - q, q)))


@pytest.mark.parametrize("classes", CLASSES)
def test_the_brier_score_is_strictly_proper_and_in_its_range(classes: int) -> None:
    """Any report other than the target scores worse than the target; no score is below 0 or above 2."""

    def statement(p: Any, q: Any) -> Any:
        score = brier_score_formula(p, q)
        same = all(a == b for a, b in zip(p, q, strict=True))
        return score == brier_score_formula(q, q) if same else score > brier_score_formula(q, q)

    def in_range(p: Any, q: Any) -> list[Any]:
        return [brier_score_formula(p, q) >= 0, brier_score_formula(p, q) <= 2]

    prove(statement, f"p[{classes}] q[{classes}]", law)
    prove(in_range, f"p[{classes}] q[{classes}]", law)


def test_twin_the_range_is_not_smaller() -> None:
    witness = refute(lambda p, q: brier_score_formula(p, q) < 2, "p[3] q[3]", law)
    assert sorted(witness["p"]) == sorted(witness["q"]) == [0, 0, 1]


def test_twin_the_absolute_error_is_not_proper() -> None:
    """Σ_y q_y |p − y| is made smaller by a report that is not q."""

    def expected(p: Any, q: Any) -> Any:
        return q * total_variation_binary_formula(p, 1) + (1 - q) * total_variation_binary_formula(p, 0)

    witness = refute(lambda p, q: expected(q, q) <= expected(p, q), "p q", unit)
    assert expected(witness["p"], witness["q"]) < expected(witness["q"], witness["q"])


# --- log loss and divergence ----------------------------------------------------------------------------------------


def test_the_logarithm_is_above_its_bound() -> None:
    """ln x − (1 − 1/x) is 0 with slope 0 at 1, and x² times its slope is x − 1: it falls before 1 and rises after."""
    x = sympy.Symbol("x", positive=True)
    gap = sympy.log(x) - (1 - 1 / x)
    assert gap.subs(x, 1) == 0
    identical(sympy.diff(gap, x) * x**2, x - 1)


@pytest.mark.parametrize("classes", CLASSES)
def test_the_divergence_with_the_bound_for_the_logarithm_is_zero(classes: int) -> None:
    """Σ q (1 − p/q) = 0 for laws without a zero: KL is a sum of q times something ≥ 0 that is 0 at p = q only."""
    prove(
        lambda p, q: kl_formula(p, q, log=lambda x: 1 - 1 / x) == 0,
        f"p[{classes}] q[{classes}]",
        lambda p, q: [*law(p, q), *[x > 0 for x in (*p, *q)]],
    )


def test_a_zero_of_the_target_only_helps() -> None:
    """Where q_k = 0 < p_k the sum of bounds is the p_k that is left out, still ≥ 0, and > 0: strict there as well."""
    prove(
        lambda p, q: kl_formula([*p], [q[0], q[1], 0 * q[0]], log=lambda x: 1 - 1 / x) == p[2],
        "p[3] q[2]",
        lambda p, q: [*law(p, q), *[x > 0 for x in (*p, *q)]],
    )


def test_twin_a_larger_bound_for_the_logarithm_is_refuted() -> None:
    refute(
        lambda p, q: kl_formula(p, q, log=lambda x: 1 - 1 / (x * x)) >= 0,
        "p[2] q[2]",
        lambda p, q: [*law(p, q), *[x > 0 for x in (*p, *q)]],
    )


@pytest.mark.parametrize("classes", CLASSES)
def test_log_loss_is_entropy_plus_divergence(classes: int) -> None:
    """−Σ q ln p = −Σ q ln q + Σ q ln(q/p), so that log loss is least at the target and nowhere else."""
    p, q = symbols("p", classes), symbols("q", classes)
    loss, entropy = log_loss_formula(p, q, log=sympy.log), entropy_formula(q, log=sympy.log)
    assert normal_logs(loss - entropy - kl_formula(p, q, log=sympy.log)) == 0
    assert normal_logs(loss + sum(b * sympy.log(a) for a, b in zip(p, q, strict=True))) == 0
    assert normal_logs(log_loss_formula(q, q, log=sympy.log) - entropy) == 0


def test_twin_the_divergence_is_not_symmetric() -> None:
    p, q = symbols("p", 2), symbols("q", 2)
    assert normal_logs(kl_formula(p, q, log=sympy.log) - kl_formula(q, p, log=sympy.log)) != 0


def test_log_loss_has_its_slope_at_the_target() -> None:
    """In p the binary log loss has slope (p − q)/(p(1 − p)): it falls before q and rises after."""
    p, q, no, not_q = sympy.symbols("p q s t", positive=True)
    loss = log_loss_formula((no, p), (not_q, q), log=sympy.log).subs({no: 1 - p, not_q: 1 - q})
    identical(sympy.diff(loss, p), (p - q) / (p * (1 - p)))
    tangent(loss - loss.subs(p, q), p, q, q / p**2 + (1 - q) / (1 - p) ** 2)


def test_what_is_impossible_costs_infinitely_much_and_nothing_else_does() -> None:
    """q_k > 0 = p_k gives +inf, q_k = 0 adds nothing, whatever the logarithm; both scores, every place of the zero."""

    def bounded(p: Any, q: Any) -> Any:
        hit = any(a == 0 and b > 0 for a, b in zip(p, q, strict=True))
        found = [kl_formula(p, q, log=lambda x: 0 * x), log_loss_formula(p, q, log=lambda x: 0 * x)]
        return all(isinstance(x, float) == hit for x in found)

    prove(bounded, "p[3] q[3]", law)
    assert kl_formula((0, 1), (Fraction(1, 2), Fraction(1, 2)), log=math.log) == math.inf


@given(pairs_of_distributions())
def test_the_divergence_is_positive_by_intervals(pair: tuple[Any, Any]) -> None:
    """On numbers, with certified ends: KL > 0 wherever report and target differ."""
    report, target = map(enclose_all, pair)
    found = kl_formula(report, target, log=INTERVALS.log)
    assert found == math.inf or pair[0] == pair[1] or certainly_positive(found)
