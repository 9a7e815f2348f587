"""The covert-transfer model in closed form, for any alphabet and any unequal ranges (A.covert).

A tag is one of n letters, each as likely; the observer knows its range of m letters only. With ½ the procedure encodes:
then the identifier shows the tag's letter, which is in the range for sure. Otherwise the letter is any of the n.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy

from exactworlds.engine.enumerate import bayes_error, prior
from exactworlds.golden.identification import (
    covert_bayes_error,
    covert_error_formula,
    covert_match_formula,
    partitions,
    refines,
)
from exactworlds.metrics._ordering import total
from exactworlds.metrics.divergences import entropy_formula
from exactworlds.metrics.means import weighted_mean_formula
from proofs.kit.algebra import identical, normal_logs
from proofs.kit.reals import prove, refute

HALF = Fraction(1, 2)


def model(n: Any, sizes: Any) -> dict[tuple[str, ...], tuple[Any, Any]]:
    """Each range with a match and without: mass and posterior of "encoded", by the definition of the model."""
    found: dict[tuple[str, ...], tuple[Any, Any]] = {}
    for index, m in enumerate(sizes):
        for seen, encoded, plain in (("match", 1, m / n), ("no match", 0, 1 - m / n)):
            masses = [m / n * encoded / 2, m / n * plain / 2]
            mass = total(masses)
            found[str(index), seen] = (mass, weighted_mean_formula([1, 0], masses) if mass > 0 else 0 * n)
    return found


def blocks(n: Any, m: Any) -> list[Any]:
    """At least one letter a range, the ranges are the alphabet; the numbers may be any reals, integers among them."""
    return [*[size >= 1 for size in m], total(m) == n]


@pytest.mark.parametrize("ranges", [1, 2, 3, 4])
def test_the_closed_forms_for_any_ranges(ranges: int) -> None:
    """P(range, match) = (m/n)(1 + m/n)/2, p*(encoded | match) = n/(n + m), 0 without a match; the Bayes error is
    Σ (m/n)·m/(2n), and the prior ½. Ranges may be unequal."""

    def statement(n: Any, m: Any) -> list[Any]:
        found = model(n, m)
        goals = [bayes_error(found) == covert_error_formula(n, m), prior(found) == HALF]
        for index, size in enumerate(m):
            mass, posterior = covert_match_formula(n, size)
            seen, unseen = found[str(index), "match"], found[str(index), "no match"]
            goals += [seen[0] == mass, seen[1] == posterior, unseen[1] == 0, seen[1] >= HALF]
        return goals

    prove(statement, f"n m[{ranges}]", blocks)


def test_twins_of_the_closed_forms() -> None:
    """Not m/(n + m), not ½ of it, and the Bayes error is not that of equal ranges."""
    refute(lambda n, m: covert_match_formula(n, m[0])[1] == m[0] / (n + m[0]), "n m[2]", blocks)
    refute(lambda n, m: covert_match_formula(n, m[0])[0] == m[0] / n / 2, "n m[2]", blocks)
    witness = refute(
        lambda n, m: covert_error_formula(n, m) == covert_error_formula(n, [n / 2, n / 2]), "n m[2]", blocks
    )
    assert witness["m"][0] != witness["m"][1]


def test_joining_ranges_raises_the_error() -> None:
    """A coarser view of the tag errs more, strictly: the square of a sum is more than the sum of the squares."""
    prove(lambda n, m: covert_error_formula(n, [m[0] + m[1], m[2]]) > covert_error_formula(n, m), "n m[3]", blocks)


def test_twin_joining_ranges_never_lowers_the_error() -> None:
    refute(lambda n, m: covert_error_formula(n, [m[0] + m[1], m[2]]) < covert_error_formula(n, m), "n m[3]", blocks)


@pytest.mark.parametrize("letters", range(1, 8))
def test_counting_every_case(letters: int) -> None:
    """For each partition of a small alphabet: every tag, procedure and letter counted, against the closed form."""
    for sizes in partitions(letters):
        of_letter = [index for index, size in enumerate(sizes) for _ in range(size)]
        encoded: dict[tuple[int, bool], int] = {}
        plain: dict[tuple[int, bool], int] = {}
        for tag in range(letters):
            for letter in range(letters):
                seen = of_letter[tag], of_letter[tag] == of_letter[letter]
                plain[seen] = plain.get(seen, 0) + 1
            seen = of_letter[tag], True
            encoded[seen] = encoded.get(seen, 0) + letters
        errors = sum(min(encoded.get(seen, 0), plain.get(seen, 0)) for seen in {*encoded, *plain})
        assert Fraction(errors, 2 * letters**2) == covert_bayes_error(letters, sizes)


def test_twin_the_error_of_a_refinement_is_less() -> None:
    fine, coarse = (4, 4, 2), (8, 2)
    assert refines(fine, coarse)
    assert not refines(coarse, fine)
    assert covert_bayes_error(10, fine) < covert_bayes_error(10, coarse)


def test_the_entropy_of_a_range_in_closed_form() -> None:
    """P(match | range)·H(n/(n + m)) = [(n + m) ln(n + m) − n ln n − m ln m]/(2n); for m = n it is one bit."""
    n, m = sympy.symbols("n m", positive=True)
    mass, posterior = covert_match_formula(n, m)
    entropy = entropy_formula([m / (n + m), posterior], log=sympy.log)
    closed = ((n + m) * sympy.log(n + m) - n * sympy.log(n) - m * sympy.log(m)) / (2 * n)
    assert normal_logs(mass * n / m * entropy - closed) == 0
    assert normal_logs(closed.subs(m, n) - sympy.log(2)) == 0
    identical(1 - posterior, m / (n + m))
    assert normal_logs(mass * entropy - closed) != 0
