"""What nearest-neighbour errors say about the Bayes error (F.cover-hart, F.knn).

R* ≤ R₁ ≤ 2R*(1 − R*), R₁ = Σ P 2p(1 − p). With r = min(p, 1 − p) a pattern has 2p(1 − p) = 2r(1 − r), so the lower half
is r ≤ 2r(1 − r) for r ≤ ½, pattern by pattern; the upper half is 2R*(1 − R*) − R₁ = 2 Var(r) ≥ 0, for any number of
patterns, which algebra shows as a sum of squares.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
import sympy

from exactworlds.engine.enumerate import bayes_error
from exactworlds.metrics._ordering import smaller
from exactworlds.metrics.means import weighted_mean_formula
from exactworlds.metrics.neighbours import (
    asymptotic_five_formula,
    asymptotic_one_formula,
    lower_bound_five_formula,
    lower_bound_one_formula,
    tie_error_formula,
)
from proofs.kit.algebra import identical
from proofs.kit.reals import law, prove, refute, unit

HALF = Fraction(1, 2)
SUP = Fraction(121755, 100_000)


def population(w: Any, e: Any) -> list[Any]:
    return [*law(w), *unit(*e)]


def least_error(w: Any, e: Any) -> Any:
    """The engine's Bayes error of patterns with these masses and posteriors."""
    return bayes_error({(str(index),): pair for index, pair in enumerate(zip(w, e, strict=True))})


def one_neighbour(w: Any, e: Any) -> Any:
    return weighted_mean_formula([asymptotic_one_formula(x) for x in e], w)


@pytest.mark.parametrize("patterns", [1, 2, 3])
def test_the_bayes_error_is_at_most_the_neighbour_error(patterns: int) -> None:
    prove(lambda w, e: least_error(w, e) <= one_neighbour(w, e), f"w[{patterns}] e[{patterns}]", population)


@pytest.mark.parametrize("patterns", [1, 2])
def test_the_neighbour_error_is_at_most_its_bound(patterns: int) -> None:
    def statement(w: Any, e: Any) -> Any:
        least = least_error(w, e)
        return one_neighbour(w, e) <= 2 * least * (1 - least)

    prove(statement, f"w[{patterns}] e[{patterns}]", population)


@pytest.mark.parametrize("patterns", [2, 3, 4, 5])
def test_the_upper_half_for_any_number_of_patterns(patterns: int) -> None:
    """2m(1 − m) − Σ w 2r(1 − r) = 2 Σ_{i<j} w_i w_j (r_i − r_j)²: for any number the same computation."""
    w, r = sympy.symbols(f"w0:{patterns}", positive=True), sympy.symbols(f"r0:{patterns}")
    mean = weighted_mean_formula(r, w)
    pairs = sum(w[i] * w[j] * (r[i] - r[j]) ** 2 for i in range(patterns) for j in range(i))
    identical(asymptotic_one_formula(mean) - one_neighbour(w, r), 2 * pairs / sum(w) ** 2)


def test_a_pattern_by_its_smaller_probability() -> None:
    """2p(1 − p) = 2r(1 − r) ≥ r for r = min(p, 1 − p), with equality at 0 and ½ only."""

    def statement(p: Any) -> list[Any]:
        r = smaller(p, 1 - p)
        found = asymptotic_one_formula(p)
        ends = bool(r == 0) or bool(r == HALF)
        return [found == asymptotic_one_formula(r), found == r if ends else found > r]

    prove(statement, "p", unit)


def test_twins_of_cover_and_hart() -> None:
    """Neither constant can be improved, and neither inequality is strict."""
    refute(lambda w, e: 2 * one_neighbour(w, e) <= 3 * least_error(w, e), "w[2] e[2]", population)
    refute(lambda w, e: least_error(w, e) < one_neighbour(w, e), "w[2] e[2]", population)

    def smaller_constant(w: Any, e: Any) -> Any:
        least = least_error(w, e)
        return 100 * one_neighbour(w, e) <= 199 * least * (1 - least)

    refute(smaller_constant, "w[2] e[2]", population)


def test_the_lower_bound_inverts_the_upper_half() -> None:
    """l = ½(1 − √(1 − 2e)) solves 2l(1 − l) = e with l ≤ ½; from e on above ½ it stays ½. So l ≤ R* for e ≥ R₁ … and
    whenever e ≤ 2R*(1 − R*), l ≤ R*."""

    def inverse(e: Any, s: Any) -> list[Any]:
        bound = lower_bound_one_formula(e, sqrt=lambda x: s)
        return [2 * bound * (1 - bound) == e, bound >= 0, bound <= HALF, 2 * bound == 1 - s]

    def saturated(e: Any) -> Any:
        return lower_bound_one_formula(e, sqrt=lambda x: x) == HALF

    def below(b: Any, e: Any, s: Any) -> Any:
        return lower_bound_one_formula(e, sqrt=lambda x: s) <= b

    prove(inverse, "e s", lambda e, s: [e >= 0, 2 * e < 1, s >= 0, s * s == 1 - 2 * e])
    prove(saturated, "e", lambda e: [e >= HALF, e <= 1])
    prove(
        below,
        "b e s",
        lambda b, e, s: [*unit(b), 2 * b <= 1, e >= 0, e <= 2 * b * (1 - b), 2 * e < 1, s >= 0, s * s == 1 - 2 * e],
    )


def test_the_root_is_that_of_one_minus_twice_the_error() -> None:
    """What the formula hands to the root is 1 − 2e."""
    seen: list[Any] = []

    def root(x: Any) -> Any:
        seen.append(x)
        return sympy.sqrt(x)

    e = sympy.Rational(3, 16)
    lower_bound_one_formula(e, sqrt=root)
    lower_bound_five_formula(e, sqrt=root)
    assert seen == [1 - 2 * e, 5]


def test_twin_the_bound_is_not_half_the_error_less() -> None:
    """e is no lower bound itself, and neither is the solution with the root left out."""
    refute(
        lambda b, e: lower_bound_one_formula(e, sqrt=lambda x: x) <= b,
        "b e",
        lambda b, e: [*unit(b), 2 * b <= 1, e >= 0, e <= 2 * b * (1 - b), 2 * e < 1],
    )


def test_ties_are_taken_in_expectation() -> None:
    """The error of a vote of k = 1, 3, 5 is its mean over all ways to choose the tied rows, for every number of closer
    and up to five tied rows of either label: each choice as likely, counted one by one."""
    for k, label in product((1, 3, 5), (0, 1)):
        for closer in range(k):
            for closer_yes, tied in product(range(closer + 1), range(k - closer, 6)):
                for tied_yes in range(tied + 1):
                    rows = [1] * tied_yes + [0] * (tied - tied_yes)
                    votes = [2 * (closer_yes + sum(chosen)) > k for chosen in combinations(rows, k - closer)]
                    wrong = sum(vote != bool(label) for vote in votes)
                    found = tie_error_formula(closer, closer_yes, tied, tied_yes, k=k, label=label)
                    assert found == Fraction(wrong, len(votes))


def test_twin_ties_are_not_broken_by_the_first_rows() -> None:
    """One closer row that says no, two tied of each label, three votes: not the answer of any one choice."""
    assert tie_error_formula(1, 0, 4, 2, k=3, label=0) == Fraction(1, 6)


# --- five neighbours ------------------------------------------------------------------------------------------------


def test_the_five_neighbour_error_by_its_votes() -> None:
    """L₅ is the chance that the majority of five labels differs from a sixth: summed over all 32 votes."""
    p = sympy.Symbol("p")
    votes = 0
    for labels in product((0, 1), repeat=5):
        chance = sympy.prod([p if label else 1 - p for label in labels])
        votes += chance * ((1 - p) if sum(labels) >= 3 else p)
    identical(asymptotic_five_formula(p), votes)


def test_the_five_neighbour_error_is_at_most_its_constant() -> None:
    """min(p, 1 − p) ≤ L₅(p) ≤ 1.21755·min(p, 1 − p) to the printed digits: the supremum is between 1.217545 and
    1.217555."""
    prove(lambda p: smaller(p, 1 - p) <= asymptotic_five_formula(p), "p", unit)
    upper = SUP + Fraction(1, 200_000)
    prove(lambda p: asymptotic_five_formula(p) <= upper * smaller(p, 1 - p), "p", unit)
    lower = SUP - Fraction(1, 200_000)
    refute(lambda p: asymptotic_five_formula(p) <= lower * smaller(p, 1 - p), "p", unit)


def test_twin_the_constant_is_not_121() -> None:
    constant = Fraction(121, 100)
    witness = refute(lambda p: asymptotic_five_formula(p) <= constant * smaller(p, 1 - p), "p", unit)
    p = witness["p"]
    assert asymptotic_five_formula(p) > constant * min(p, 1 - p)


def test_the_bound_by_five_is_valid() -> None:
    """e/(1 + 1/√5) ≤ R* for e = L₅: 1.21755 < 1 + 1/√5, so it is valid and not tight; mixtures by linearity."""

    def pointwise(p: Any, s: Any) -> Any:
        return lower_bound_five_formula(asymptotic_five_formula(p), sqrt=lambda x: s) <= smaller(p, 1 - p)

    def linear(e: Any, f: Any, w: Any, s: Any) -> Any:
        def bound(x: Any) -> Any:
            return lower_bound_five_formula(x, sqrt=lambda y: s)

        return bound(w * e + (1 - w) * f) == w * bound(e) + (1 - w) * bound(f)

    def value(e: Any, s: Any) -> Any:
        return lower_bound_five_formula(e, sqrt=lambda x: s) * (s + 1) == e * s

    prove(pointwise, "p s", lambda p, s: [*unit(p), s > 2, s * s == 5])
    prove(linear, "e f w s", lambda e, f, w, s: [*unit(e, f, w), s > 0])
    prove(value, "e s", lambda e, s: [*unit(e), s > 0])


def test_twin_the_bound_by_five_needs_its_root() -> None:
    """With 5 in place of its root the divisor is 1.2, less than 1.21755, and the bound fails."""
    refute(
        lambda p: lower_bound_five_formula(asymptotic_five_formula(p), sqrt=Fraction) <= smaller(p, 1 - p), "p", unit
    )
