"""Decompositions of the Brier score, term by term from their meaning, and the refuted form over bins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics import decomposition
from metric_strategies import distributions, weights_of

Vector = tuple[Fraction, ...]
few = [(Fraction(1, 4), Fraction(3, 4), Fraction(0)), (Fraction(1, 3),) * 3]
tables = st.lists(
    st.tuples(st.one_of(st.sampled_from(few), distributions(3)), distributions(3)), min_size=1, max_size=7
)


def squared(a: Vector, b: Vector) -> Fraction:
    return sum(((x - y) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0))


def mean(rows: list[tuple[Fraction, Vector]]) -> Vector:
    mass = sum(w for w, _ in rows)
    return tuple(sum((w * v[k] for w, v in rows), Fraction(0)) / mass for k in range(3))


@given(tables, st.data())
def test_the_terms_have_their_meaning_and_add_up(rows: list[tuple[Vector, Vector]], data: st.DataObject) -> None:
    weights = data.draw(weights_of(len(rows)))
    p, q = [r[0] for r in rows], [r[1] for r in rows]
    mass = sum(weights)
    scores = metrics.brier_score(report=p, target=q)
    found = metrics.brier_decomposition(report=p, target=q, weights=weights)
    assert found.score == sum(w * s for w, s in zip(weights, scores, strict=True)) / mass
    assert found.score == found.reliability - found.resolution + found.uncertainty
    assert found.score == found.reliability + found.grouping_loss + found.irreducible
    kept = [(w, a, b) for w, a, b in zip(weights, p, q, strict=True) if w > 0]
    overall = mean([(w, b) for w, _, b in kept])
    inside = {a: mean([(w, b) for w, c, b in kept if c == a]) for _, a, _ in kept}
    assert found.groups == len(inside)
    assert found.reliability == sum(w * squared(a, inside[a]) for w, a, _ in kept) / mass
    assert found.resolution == sum(w * squared(inside[a], overall) for w, a, _ in kept) / mass
    assert found.uncertainty == sum(x * (1 - x) for x in overall)
    assert found.grouping_loss == sum(w * squared(b, inside[a]) for w, a, b in kept) / mass
    for term in (
        found.reliability,
        found.resolution,
        found.uncertainty,
        found.grouping_loss,
        found.irreducible,
    ):
        assert term >= 0
    scalar = decomposition.brier_decomposition_formula(
        [a for _, a, _ in kept], [b for _, _, b in kept], [w for w, _, _ in kept]
    )
    assert scalar == (
        found.score,
        found.reliability,
        found.resolution,
        found.uncertainty,
        found.grouping_loss,
        found.irreducible,
    )
    pf, qf = np.array(p, dtype=float), np.array(q, dtype=float)
    floats = metrics.brier_decomposition(report=pf, target=qf, weights=[float(w) for w in weights])
    for name in ("score", "reliability", "resolution", "uncertainty", "grouping_loss", "irreducible"):
        assert getattr(floats, name) == pytest.approx(float(getattr(found, name)), abs=1e-14)
    assert floats.groups == found.groups


@given(tables, st.data())
def test_over_bins_five_terms_add_up(rows: list[tuple[Vector, Vector]], data: st.DataObject) -> None:
    p, q = [r[0] for r in rows], [r[1] for r in rows]
    bins = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    found = metrics.binned_brier_decomposition(report=p, target=q, bin_of=bins)
    assert found.three_terms == found.reliability - found.resolution + found.uncertainty
    assert found.score == found.three_terms + found.within_bin_variance - 2 * found.within_bin_covariance
    assert found.score == metrics.brier_decomposition(report=p, target=q).score
    assert found.bins == len(set(bins))


def test_over_bins_three_terms_are_refuted() -> None:
    p, q = [["0.9", "0.1"], ["0.7", "0.3"]], metrics.one_hot([0, 1], classes=2)
    found = metrics.binned_brier_decomposition(report=p, target=q, bin_of=[0, 0])
    assert found.three_terms != found.score
    same = metrics.binned_brier_decomposition(report=[["0.9", "0.1"]] * 2, target=q, bin_of=[0, 0])
    assert same.three_terms == same.score


def test_reports_are_grouped_by_their_whole_vector() -> None:
    p = [["0.5", "0.3", "0.2"], ["0.5", "0.2", "0.3"], ["1/2", "3/10", "1/5"]]
    q = metrics.one_hot([0, 1, 2], classes=3)
    assert metrics.brier_decomposition(report=p, target=q).groups == 2
    negative_zero = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert metrics.brier_decomposition(report=negative_zero, target=[[0.0, 1.0]] * 2).groups == 1
