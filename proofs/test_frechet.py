"""Fréchet's bounds: what p(A) and p(B) allow for p(A∩B), sharp in both directions (E.frechet)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactworlds.metrics._ordering import absolute
from exactworlds.metrics.coherence import frechet_formula
from proofs.kit.reals import prove, refute, unit


def cells(a: Any, b: Any, x: Any) -> bool:
    """Whether the four cells A∩B, A only, B only, neither are all ≥ 0, so that some law has these three values."""
    return bool(x >= 0 and a - x >= 0 and b - x >= 0 and 1 - a - b + x >= 0)


def marginals(a: Any, b: Any, *others: Any) -> list[Any]:
    return unit(a, b)


def test_the_residual_is_zero_exactly_for_joint_laws() -> None:
    """A law of two events has residual 0, and three values with residual 0 are those of a law: both directions,
    for every number x, in [0, 1] or not."""
    prove(
        lambda a, b, x: (frechet_formula(a, b, x) == 0) if cells(a, b, x) else frechet_formula(a, b, x) > 0,
        "a b x",
        marginals,
    )


def test_the_residual_is_the_distance_to_the_nearest_joint_law() -> None:
    """No law with the same p(A), p(B) is nearer than the residual, and one is exactly that near."""

    def nearest(a: Any, b: Any, x: Any, y: Any) -> Any:
        return absolute(x - y) >= frechet_formula(a, b, x) if cells(a, b, y) else True

    def attained(a: Any, b: Any, x: Any) -> Any:
        residual = frechet_formula(a, b, x)
        return cells(a, b, x - residual) or cells(a, b, x + residual)

    prove(nearest, "a b x y", marginals)
    prove(attained, "a b x", marginals)


def test_twin_independence_is_no_bound() -> None:
    witness = refute(lambda a, b, x: frechet_formula(a, b, x) > 0 if x > a * b else True, "a b x", unit)
    assert frechet_formula(*witness.values()) == 0


def test_twin_the_lower_bound_is_not_looser() -> None:
    slack = Fraction(1, 10)
    refute(lambda a, b, x: frechet_formula(a, b, x) == 0 if x + slack >= a + b - 1 else True, "a b x", unit)
