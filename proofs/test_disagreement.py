"""Half the disagreement of two reports of one event is a lower bound of their mean error (E.disagreement, P2 Eq. 1)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactworlds.metrics._ordering import larger, smaller, total
from exactworlds.metrics.coherence import (
    complement_formula,
    difference_formula,
    disagreement_share_formula,
    mean_pair_error_formula,
)
from proofs.kit.algebra import never_negative, orderings
from proofs.kit.reals import prove, refute, unit

HALF = Fraction(1, 2)


def positive(*weights: Any) -> list[Any]:
    return [weight > 0 for weight in weights]


def test_the_difference_is_the_larger_minus_the_smaller() -> None:
    prove(lambda p, r: difference_formula(p, r) == larger(p, r) - smaller(p, r), "p r")


def test_twin_the_difference_has_no_sign() -> None:
    refute(lambda p, r: difference_formula(p, r) == p - r, "p r", unit)


def test_half_the_disagreement_bounds_the_mean_error() -> None:
    """(|p − q| + |p′ − q|)/2 ≥ |p − p′|/2, with equality iff q lies between; outside, the error is |m − q|."""

    def statement(p: Any, r: Any, q: Any) -> list[Any]:
        error, gap = mean_pair_error_formula(p, r, q), difference_formula(p, r) / 2
        low, high = smaller(p, r), larger(p, r)
        if low <= q <= high:
            return [error == gap]
        return [error > gap, error + error == difference_formula(p + r, q + q)]

    assert prove(statement, "p r q") >= 6


def test_the_bound_in_every_order_of_the_three() -> None:
    """The same by algebra: in each of the six orders of p, p′ and q no coefficient of the slack is negative."""
    for p, r, q in orderings(3):
        never_negative(mean_pair_error_formula(p, r, q) - difference_formula(p, r) / 2)


def test_twin_the_constant_one_half_is_sharp() -> None:
    constant = Fraction(101, 200)
    refute(lambda p, r, q: mean_pair_error_formula(p, r, q) >= constant * difference_formula(p, r), "p r q", unit)
    refute(lambda p, r, q: mean_pair_error_formula(p, r, q) > difference_formula(p, r) / 2, "p r q", unit)


def test_the_bound_for_complements() -> None:
    """(|p(A) − q| + |p(¬A) − (1 − q)|)/2 ≥ |p(A) + p(¬A) − 1|/2."""
    prove(
        lambda a, b, q: difference_formula(a, q) + difference_formula(b, 1 - q) >= complement_formula(a, b),
        "a b q",
        unit,
    )


def test_twin_complements_of_unequal_targets_have_no_such_bound() -> None:
    refute(
        lambda a, b, q: difference_formula(a, q) + difference_formula(b, q) >= complement_formula(a, b), "a b q", unit
    )


def test_the_share_is_a_ratio_of_means_and_at_most_one() -> None:
    """Share · mean error = mean half disagreement over weighted roots; it is in [0, 1]."""

    def statement(p: Any, r: Any, q: Any, w: Any) -> list[Any]:
        gaps = total(weight * difference_formula(a, b) for weight, a, b in zip(w, p, r, strict=True))
        errors = total(weight * mean_pair_error_formula(a, b, x) for weight, a, b, x in zip(w, p, r, q, strict=True))
        if not errors > 0:
            return [gaps == 0]
        share = disagreement_share_formula(p, r, q, w)
        return [2 * share * errors == gaps, share >= 0]

    prove(statement, "p[2] r[2] q[2] w[2]", lambda p, r, q, w: [*unit(*p, *r, *q), *positive(*w)])
    prove(
        lambda p, r, q: disagreement_share_formula(p, r, q, [1, 1]) <= 1,
        "p[2] r[2] q[2]",
        lambda p, r, q: [*unit(*p, *r, *q), p[0] < q[0]],
    )


def test_twin_the_share_is_not_a_mean_of_ratios() -> None:
    def statement(p: Any, r: Any, q: Any) -> Any:
        single = [disagreement_share_formula([a], [b], [x], [1]) for a, b, x in zip(p, r, q, strict=True)]
        return disagreement_share_formula(p, r, q, [1, 1]) == total(single) / 2

    refute(
        statement,
        "p[2] r[2] q[2]",
        lambda p, r, q: [*unit(*p, *r, *q), p[0] > q[0], p[1] > q[1], r[0] > q[0], r[1] < q[1]],
    )
