"""The relations that a coherent set of answers satisfies, and what each residual measures (E.relations)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from exactworlds.metrics._ordering import total
from exactworlds.metrics.coherence import (
    coarsening_formula,
    complement_formula,
    difference_formula,
    product_formula,
)
from proofs.kit.reals import law, prove, refute, unit


def is_distance(residual: Any, left: Any, right: Any) -> Any:
    """The residual is ≥ 0 and the difference of the two sides, up to its sign."""
    return residual >= 0 and (left - right == residual or right - left == residual)


def test_the_exact_posterior_satisfies_every_relation() -> None:
    """For a law of the cells A∩B, A only, B only, neither: product, complement and coarsening residuals are 0."""

    def statement(w: Any) -> list[Any]:
        a, b, joint = w[0] + w[1], w[0] + w[2], w[0]
        return [
            product_formula(joint, joint / b, b) == 0,
            complement_formula(a, w[2] + w[3]) == 0,
            coarsening_formula(a, w, [True, True, False, False]) == 0,
            difference_formula(a, 1 - (w[2] + w[3])) == 0,
        ]

    prove(statement, "w[4]", lambda w: [*law(w), w[0] + w[2] > 0])


def test_twin_the_product_needs_a_condition_that_can_happen() -> None:
    """With p(B) = 0 the conditional does not exist: the division fails, it is not 0/0 = anything."""
    witness = refute(lambda w: product_formula(w[0], w[0] / (w[0] + w[2]), w[0] + w[2]) == 0, "w[4]", law)
    assert witness["w"][0] + witness["w"][2] == 0


def test_twin_the_product_is_not_that_of_independent_events() -> None:
    refute(lambda w: product_formula(w[0], w[0] + w[1], w[0] + w[2]) == 0, "w[4]", law)


def test_each_residual_is_how_far_the_two_sides_are_apart() -> None:
    prove(lambda j, k, b: is_distance(product_formula(j, k, b), j, k * b), "j k b", unit)
    prove(lambda a, b: is_distance(complement_formula(a, b), a + b, 1), "a b", unit)
    prove(lambda a, b: is_distance(difference_formula(a, b), a, b), "a b", unit)


@pytest.mark.parametrize("members", [(True, False, False), (False, True, True), (True, True, True)])
def test_coarsening_compares_with_the_mass_of_the_members(members: tuple[bool, ...]) -> None:
    def statement(a: Any, p: Any) -> Any:
        mass = total(x for x, inside in zip(p, members, strict=True) if inside)
        return is_distance(coarsening_formula(a, p, members), a, mass)

    prove(statement, "a p[3]", lambda a, p: [*unit(a), *law(p)])


def test_twins_of_the_residuals() -> None:
    refute(lambda a, b: complement_formula(a, b) == a + b - 1, "a b", unit)
    refute(lambda a, p: coarsening_formula(a, p, [True, False, False]) == a - p[0], "a p[3]", lambda a, p: law(p))
    refute(lambda j, k, b: product_formula(j, k, b) <= Fraction(1, 2), "j k b", unit)


def test_residuals_are_probabilities() -> None:
    """No residual of probabilities exceeds 1, so that a tolerance of 1 passes everything."""
    prove(
        lambda j, k, b: [product_formula(j, k, b) <= 1, complement_formula(j, k) <= 1, difference_formula(j, k) <= 1],
        "j k b",
        unit,
    )
