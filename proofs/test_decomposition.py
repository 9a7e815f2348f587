"""The Brier score by equal reports: reliability − resolution + uncertainty, and the terms below it (C.decomposition).

Groups are runs of the same symbols, so that the code groups rows as it does numbers; every way of grouping three rows
is run. Over bins of unequal reports the three terms do not add up: that is the refuted twin.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy

from exactworlds.metrics.decomposition import binned_brier_decomposition, brier_decomposition_formula
from exactworlds.metrics.scores import brier_score_formula
from proofs.kit.algebra import NotIdentical, identical

GROUPINGS = [(0, 1, 2), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 0, 0)]


def rows(grouping: tuple[int, ...]) -> tuple[list[Any], list[Any], list[Any]]:
    """Reports (1 − p, p), one symbol a group; targets (1 − q, q) and weights, one symbol a row."""
    reports = [sympy.Symbol(f"p{group}") for group in grouping]
    targets = sympy.symbols("q0:3")
    return [(1 - p, p) for p in reports], [(1 - q, q) for q in targets], list(sympy.symbols("w0:3", positive=True))


@pytest.mark.parametrize("grouping", GROUPINGS, ids=str)
def test_three_terms_add_up_to_the_score(grouping: tuple[int, ...]) -> None:
    """Score = reliability − resolution + uncertainty, for any targets and weights."""
    score, reliability, resolution, uncertainty, _, _ = brier_decomposition_formula(*rows(grouping))
    identical(score, reliability - resolution + uncertainty)


@pytest.mark.parametrize("grouping", GROUPINGS, ids=str)
def test_with_exact_targets_there_are_three_other_terms(grouping: tuple[int, ...]) -> None:
    """Score = reliability + grouping loss + what no report can remove."""
    score, reliability, _, _, grouping_loss, irreducible = brier_decomposition_formula(*rows(grouping))
    identical(score, reliability + grouping_loss + irreducible)


@pytest.mark.parametrize("grouping", GROUPINGS, ids=str)
def test_each_term_is_what_it_says(grouping: tuple[int, ...]) -> None:
    """The score is the weighted mean Brier score; uncertainty is the score of the mean target on itself, irreducible
    that of each target on itself; reliability is the score of reports against group means, above its least."""
    p, q, w = rows(grouping)
    score, reliability, _, uncertainty, _, irreducible = brier_decomposition_formula(p, q, w)
    mass = sum(w)

    def mean(members: list[int]) -> Any:
        inside = sum(w[i] for i in members)
        return [sum(w[i] * q[i][k] for i in members) / inside for k in range(2)]

    whole = mean([0, 1, 2])
    identical(score, sum(x * brier_score_formula(a, b) for x, a, b in zip(w, p, q, strict=True)) / mass)
    identical(uncertainty, brier_score_formula(whole, whole))
    identical(irreducible, sum(x * brier_score_formula(b, b) for x, b in zip(w, q, strict=True)) / mass)
    centres = [mean([i for i in range(3) if grouping[i] == grouping[row]]) for row in range(3)]
    least = [brier_score_formula(a, o) - brier_score_formula(o, o) for a, o in zip(p, centres, strict=True)]
    identical(reliability, sum(x * d for x, d in zip(w, least, strict=True)) / mass)


@pytest.mark.parametrize("grouping", GROUPINGS[1:4], ids=str)
def test_twin_two_terms_are_not_the_score(grouping: tuple[int, ...]) -> None:
    score, reliability, resolution, uncertainty, grouping_loss, _ = brier_decomposition_formula(*rows(grouping))
    for wrong in (reliability + resolution + uncertainty, reliability - resolution + uncertainty + grouping_loss):
        with pytest.raises(NotIdentical, match="differ"):
            identical(score, wrong)


def test_twin_over_bins_of_unequal_reports_three_terms_do_not_add_up() -> None:
    """A witness in Fractions, and the five terms that do."""
    found = binned_brier_decomposition(
        report=[["9/10", "1/10"], ["7/10", "3/10"]], target=[[1, 0], [0, 1]], bin_of=[0, 0]
    )
    assert found.three_terms - found.score == 2 * found.within_bin_covariance - found.within_bin_variance
    assert found.three_terms - found.score == Fraction(9, 50)
