"""Averaging two reports saves a quarter of their squared disagreement, whatever the target (D.averaging, P2 Eq. 2)."""

from __future__ import annotations

from typing import Any

import sympy

from exactworlds.metrics.policies import averaging_gain_formula, midpoint_formula
from exactworlds.metrics.scores import brier_score_binary_formula, realised_brier_score_binary_formula
from proofs.kit.algebra import difference_at, identical
from proofs.kit.reals import prove, refute, unit

P, R, Q = sympy.symbols("p r q")


def test_the_averaging_identity() -> None:
    """½[(p − q)² + (p′ − q)²] = (m − q)² + (p − p′)²/4, for all numbers, by algebra."""
    mean = ((P - Q) ** 2 + (R - Q) ** 2) / 2
    identical(mean, (midpoint_formula(P, R) - Q) ** 2 + averaging_gain_formula(P, R))


def test_twin_the_gain_is_not_half_the_squared_disagreement() -> None:
    mean = ((P - Q) ** 2 + (R - Q) ** 2) / 2
    where, gap = difference_at(mean, (midpoint_formula(P, R) - Q) ** 2 + 2 * averaging_gain_formula(P, R))
    assert gap == -((where["p"] - where["r"]) ** 2) / 4


def test_the_gain_in_brier_score_does_not_depend_on_the_target() -> None:
    """The mean Brier score of two reports minus that of their midpoint is (p − p′)²/4: the target cancels."""
    both = brier_score_binary_formula(P, Q) + brier_score_binary_formula(R, Q)
    gain = both / 2 - brier_score_binary_formula(midpoint_formula(P, R), Q)
    identical(gain, averaging_gain_formula(P, R))
    prove(
        lambda p, r, q: (
            brier_score_binary_formula(p, q) + brier_score_binary_formula(r, q)
            == 2 * (brier_score_binary_formula(midpoint_formula(p, r), q) + averaging_gain_formula(p, r))
        ),
        "p r q",
    )


def test_twin_averaging_never_loses_brier_score_but_does_lose_for_one_report() -> None:
    witness = refute(
        lambda p, r, q: brier_score_binary_formula(midpoint_formula(p, r), q) <= brier_score_binary_formula(p, q),
        "p r q",
        unit,
    )
    assert abs(witness["r"] - witness["q"]) > abs(witness["p"] - witness["q"])


def test_the_midpoint_is_the_projection_onto_equality() -> None:
    """Of all pairs (x, x), that of the midpoint is nearest to (p, p′), and it alone."""

    def statement(p: Any, r: Any, x: Any) -> Any:
        def squares(y: Any) -> Any:
            return realised_brier_score_binary_formula(p, y) + realised_brier_score_binary_formula(r, y)

        middle = midpoint_formula(p, r)
        return squares(middle) < squares(x) if x != middle else True

    prove(statement, "p r x")


def test_twin_the_first_report_is_not_the_projection() -> None:
    def statement(p: Any, r: Any) -> Any:
        def squares(y: Any) -> Any:
            return realised_brier_score_binary_formula(p, y) + realised_brier_score_binary_formula(r, y)

        return squares(p) <= squares(midpoint_formula(p, r))

    witness = refute(statement, "p r")
    assert witness["p"] != witness["r"]
