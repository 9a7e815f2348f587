"""Ranking: pairs counted one by one, retention by filling up, frontiers by definition."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics import selection
from metric_strategies import unit_fractions, weights_of

scored = st.lists(st.tuples(unit_fractions(4), st.booleans()), min_size=1, max_size=8)


@given(scored, st.data())
def test_the_area_is_the_chance_that_a_positive_ranks_higher(
    rows: list[tuple[Fraction, bool]], data: st.DataObject
) -> None:
    weights = data.draw(weights_of(len(rows)))
    table = [(s, yes, w) for (s, yes), w in zip(rows, weights, strict=True) if w > 0]
    up = [(s, w) for s, yes, w in table if yes]
    down = [(s, w) for s, yes, w in table if not yes]
    arguments = {"score": [s for s, _ in rows], "positive": [yes for _, yes in rows]}
    found = metrics.area_under_curve(**arguments, weights=weights)
    floats = metrics.area_under_curve(
        score=[float(s) for s, _ in rows], positive=arguments["positive"], weights=[float(w) for w in weights]
    )
    if not up or not down:
        assert isinstance(found, metrics.Undefined)
        assert isinstance(floats, metrics.Undefined)
        assert found.counts == floats.counts == {"positive": len(up), "negative": len(down)}
        return
    pairs = [(a, b, w * v) for a, w in up for b, v in down]
    wins = (
        sum((m for a, b, m in pairs if a > b), Fraction(0)) + sum((m for a, b, m in pairs if a == b), Fraction(0)) / 2
    )
    expected = wins / sum(m for _, _, m in pairs)
    assert found == expected
    assert floats == pytest.approx(float(expected), abs=1e-14)
    scalar = selection.auroc_formula([s for s, _, _ in table], [y for _, y, _ in table], [w for _, _, w in table])
    assert scalar == expected


@given(scored, unit_fractions(), st.data())
def test_retention_fills_up_to_the_share(
    rows: list[tuple[Fraction, bool]], share: Fraction, data: st.DataObject
) -> None:
    weights = data.draw(weights_of(len(rows)))
    s, eligible = [r[0] for r in rows], [r[1] for r in rows]
    kept = metrics.selective_retention(score=s, retain=share, weights=weights, eligible=eligible)
    assert all(0 <= k <= 1 for k in kept)
    assert all(k == 0 for k, ok in zip(kept, eligible, strict=True) if not ok)
    total = sum(weights)
    most = sum((w for w, ok in zip(weights, eligible, strict=True) if ok), Fraction(0))
    assert sum(k * w for k, w in zip(kept, weights, strict=True)) == min(share * total, most)
    chosen = [(a, k) for a, k, ok in zip(s, kept, eligible, strict=True) if ok]
    for a, k in chosen:
        assert all(other == k for b, other in chosen if b == a)
        if k > 0:
            assert all(other == 1 for b, other in chosen if b < a)


@given(scored, unit_fractions(), st.data())
def test_the_retention_twin_equals_the_formula(
    rows: list[tuple[Fraction, bool]], share: Fraction, data: st.DataObject
) -> None:
    weights = [w + 1 for w in data.draw(weights_of(len(rows)))]
    s = [r[0] for r in rows]
    kept = metrics.selective_retention(score=s, retain=share, weights=weights)
    assert kept.tolist() == selection.retention_formula(s, weights, share * sum(weights))


@given(scored, unit_fractions(), st.data())
def test_the_selective_loss_by_splitting_each_root(
    rows: list[tuple[Fraction, bool]], share: Fraction, data: st.DataObject
) -> None:
    weights = data.draw(weights_of(len(rows)))
    losses, cost = [r[0] for r in rows], Fraction(1, 10)
    kept = metrics.selective_retention(score=losses, retain=share, weights=weights)
    found = metrics.selective_loss(loss=losses, retained=kept, cost=cost, weights=weights)
    total = sum(weights)
    acting = sum((w * k * loss for w, k, loss in zip(weights, kept, losses, strict=True)), Fraction(0))
    assert found == (acting + cost * (1 - share) * total) / total  # everyone is eligible, so the share is met


def test_float_scores_are_ranked_as_decimals() -> None:
    scores = [0.1 + 0.2, 0.3]
    assert metrics.selective_retention(score=scores).tolist() == [0, 1]
    exact = [abs(Fraction("0.84") - Fraction("0.82")), abs(Fraction("0.98") - Fraction("0.96"))]
    assert metrics.selective_retention(score=exact).tolist() == [Fraction(1, 2)] * 2


points = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8)


@given(points, st.booleans())
def test_a_point_stays_unless_another_beats_it(rows: list[tuple[int, int]], infinite: bool) -> None:
    losses: list[float] = [math.inf if infinite and b == 3 else b for _, b in rows]
    costs = [a for a, _ in rows]
    found = metrics.pareto_frontier(cost=costs, loss=losses)
    for i, (a, b) in enumerate(zip(costs, losses, strict=True)):
        beaten = any(c <= a and d <= b and (c < a or d < b) for c, d in zip(costs, losses, strict=True))
        assert found[i] == (not beaten)
        dominated = [selection.dominates_formula(c, d, a, b) for c, d in zip(costs, losses, strict=True)]
        assert found[i] == (not any(dominated))


def test_many_rows_with_ties() -> None:
    rng = np.random.default_rng(5)
    score, positive = rng.integers(0, 50, 20_000) / 50, rng.random(20_000) < 0.3
    up, down = (
        np.bincount((score * 50).round().astype(int)[positive]),
        np.bincount((score * 50).round().astype(int)[~positive]),
    )
    wins = sum(int(up[i]) * (2 * int(down[:i].sum()) + int(down[i])) for i in range(50))
    expected = Fraction(wins, 2 * int(up.sum()) * int(down.sum()))
    assert metrics.area_under_curve(score=score, positive=positive) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_roots_without_weight_are_kept_with_all_that_is_below_them(share: Fraction) -> None:
    scores, weights = [Fraction(1), Fraction(2), Fraction(3)], [Fraction(0), Fraction(1), Fraction(0)]
    kept = [1, share, 1 if share == 1 else 0]
    assert metrics.selective_retention(score=scores, retain=share, weights=weights).tolist() == kept
    assert selection.retention_formula(scores, weights, share) == kept
