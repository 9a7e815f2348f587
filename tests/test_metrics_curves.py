"""Curves: every value against the policies themselves, the shape the definitions promise, and areas."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics import curves, policies
from metric_strategies import roots, rows_of, unit_fractions, weights_of

Root = tuple[Fraction, Fraction, Fraction]
some_roots = rows_of(roots(Fraction(1, 10)), most=4)
HALF = Fraction(1, 2)
NAMES = ("event", "choice", "random", "mean", "agreement", "oracle", "defer")


def columns(rows: list[Root]) -> dict[str, list[Fraction]]:
    return {"event": [r[0] for r in rows], "choice": [r[1] for r in rows], "target": [r[2] for r in rows]}


def mean_loss(name: str, rows: list[Root], weights: list[Fraction], c: Fraction) -> Fraction:
    losses = metrics.policy_losses(policy=name, **columns(rows), cost=c)
    return sum((w * v for w, v in zip(weights, losses, strict=True)), Fraction(0)) / sum(weights)


@given(some_roots, st.sampled_from(NAMES), st.data())
def test_a_reject_curve_is_the_mean_loss_at_every_cost(rows: list[Root], name: str, data: st.DataObject) -> None:
    weights = data.draw(weights_of(len(rows)))
    curve = metrics.reject_curve(policy=name, **columns(rows), weights=weights)
    free = data.draw(unit_fractions(97).filter(lambda x: 0 < x < HALF))
    between = [(a + b) / 2 for a, b in zip((Fraction(0), *curve.breakpoints), (*curve.breakpoints, HALF), strict=True)]
    for c in [free, *curve.breakpoints, *between]:
        assert curve.value(c) == mean_loss(name, rows, weights, c)
    edges = (Fraction(0), *curve.breakpoints, HALF)
    for i, x in enumerate(curve.breakpoints):
        a, b = (
            (edges[i] + x) / 2,
            (x + edges[i + 2]) / 2,
        )  # limits, from two points of the neighbouring pieces
        near, far = mean_loss(name, rows, weights, a), mean_loss(name, rows, weights, (a + x) / 2)
        assert curve.left[i] == far + (far - near)
        near, far = mean_loss(name, rows, weights, b), mean_loss(name, rows, weights, (b + x) / 2)
        assert curve.right[i] == far + (far - near)
        assert curve.at[i] == curve.right[i]
        if name == "oracle":
            assert curve.left[i] == curve.right[i]
    for (alpha, beta), c in zip(curve.segments, between, strict=True):
        assert alpha + beta * c == mean_loss(name, rows, weights, c)
        if name not in ("oracle", "random", "defer"):
            share = metrics.policy_coverage(
                policy=name,
                event=columns(rows)["event"],
                choice=columns(rows)["choice"],
                cost=c,
                weights=weights,
            )
            assert beta == 1 - share


@given(some_roots)
def test_breakpoints_are_where_they_are_said_to_be(rows: list[Root]) -> None:
    def folded(values: set[Fraction]) -> tuple[Fraction, ...]:
        return tuple(sorted({min(x, 1 - x) for x in values} - {Fraction(0), HALF}))

    table = columns(rows)
    for name, values in (
        ("event", {p for p, _, _ in rows}),
        ("random", {x for p, r, _ in rows for x in (p, r)}),
        ("mean", {(p + r) / 2 for p, r, _ in rows}),
        ("oracle", {q for _, _, q in rows}),
        ("defer", set()),
    ):
        assert metrics.reject_curve(policy=name, **table).breakpoints == folded(values)


@given(some_roots)
def test_areas_of_reject_curves_are_half_the_brier_score(rows: list[Root]) -> None:
    table = columns(rows)
    for name, reports in (("event", [p for p, _, _ in rows]), ("mean", [(p + r) / 2 for p, r, _ in rows])):
        brier = metrics.weighted_mean(metrics.brier_score_binary(report=reports, target=table["target"])).value
        assert 2 * metrics.reject_curve(policy=name, **table).integral() == brier


@given(roots(Fraction(1, 10)), unit_fractions(97).filter(lambda x: 0 < x < HALF))
def test_where_agreement_starts_to_act(root: Root, c: Fraction) -> None:
    p, r, _ = root
    start = curves.agreement_acts_from_formula(p, r)
    one_side = (2 * p < 1 and 2 * r < 1) or (2 * p > 1 and 2 * r > 1)
    assert start == (max(min(p, 1 - p), min(r, 1 - r)) if one_side else HALF)
    assert (policies.agreement_action_formula(p, r, c) >= 0) == (c >= start)


def test_where_agreement_starts_to_act_in_tenths() -> None:
    """The first cost on a finer grid at which the policy acts."""
    grid = [Fraction(k, 100) for k in range(1, 50)]
    for p, r in itertools.product([Fraction(k, 10) for k in range(1, 10)], repeat=2):
        acting = [c for c in grid if policies.agreement_action_formula(p, r, c) >= 0]
        assert curves.agreement_acts_from_formula(p, r) == min(acting, default=HALF)


def test_roots_with_missing_reports() -> None:
    table = {"event": ["0.9"], "choice": ["0.05"], "target": ["0.5"]}
    for name in NAMES:
        curve = metrics.reject_curve(policy=name, **table, event_valid=[False])
        for c in ("0.01", "0.05", "0.1", "0.3"):
            losses = metrics.policy_losses(policy=name, **table, cost=c, event_valid=[False])
            assert curve.value(c) == losses[0]


@given(some_roots)
def test_signs_on_the_grid(rows: list[Root]) -> None:
    table = columns(rows)
    mean, random = (metrics.reject_curve(policy=name, **table) for name in ("mean", "random"))
    signs = metrics.grid_signs(mean=mean, random=random)
    ones = [Fraction(1)] * len(rows)
    values = [(mean_loss("mean", rows, ones, c), mean_loss("random", rows, ones, c), c) for c in metrics.COST_GRID]
    assert signs.mean_better == sum(m < r for m, r, _ in values)
    assert signs.equal == sum(m == r for m, r, _ in values)
    assert signs.mean_worse == sum(m > r for m, r, _ in values)
    assert signs.both_beat_defer == sum(max(m, r) < c for m, r, c in values)
    assert metrics.reject_grid(mean) == [m for m, _, _ in values]


def test_grids_are_the_published_ones() -> None:
    assert (metrics.COST_GRID[0], metrics.COST_GRID[-1], len(metrics.COST_GRID)) == (
        Fraction(1, 200),
        Fraction(99, 200),
        99,
    )
    assert (metrics.THETA_GRID[0], metrics.THETA_GRID[-1]) == (Fraction(1, 200), Fraction(199, 200))
    assert len(metrics.THETA_GRID) == 199


def test_a_curve_is_open_at_both_ends() -> None:
    curve = metrics.reject_curve(policy="defer", event=["0.5"], choice=["0.5"], target=["0.5"])
    for outside in (0, "1/2", "0.6"):
        with pytest.raises(metrics.InvalidArgument):
            curve.value(outside)


# --- Murphy curves --------------------------------------------------------------------------------------------------


def score(p: Fraction, q: Fraction, theta: Fraction) -> Fraction:
    return theta * (1 - q) if p >= theta else (1 - theta) * q


@given(some_roots, st.data())
def test_a_murphy_curve_is_the_mean_score_at_every_threshold(rows: list[Root], data: st.DataObject) -> None:
    weights = data.draw(weights_of(len(rows)))
    mass = sum(weights)
    theta = data.draw(unit_fractions(97).filter(lambda x: 0 < x < 1))
    p, r, q = ([row[i] for row in rows] for i in range(3))
    one = metrics.murphy_curve(reports=[p], target=q, weights=weights)
    two = metrics.murphy_curve(reports=[p, r], target=q, weights=weights)
    none = metrics.murphy_curve(target=q, weights=weights)
    for x in [theta, *one.breakpoints, *two.breakpoints]:
        parts = list(zip(p, r, q, weights, strict=True))
        assert one.value(x) == sum(w * score(a, c, x) for a, _, c, w in parts) / mass
        assert two.value(x) == sum(w * (score(a, c, x) + score(b, c, x)) / 2 for a, b, c, w in parts) / mass
        assert none.value(x) == sum(w * min((1 - x) * c, x * (1 - c)) for _, _, c, w in parts) / mass
    assert one.at == one.left
    for i, x in enumerate(one.breakpoints):
        jump = sum(w * (c - a) for a, _, c, w in zip(p, r, q, weights, strict=True) if a == x) / mass
        assert one.right[i] - one.left[i] == jump
    assert none.left == none.right
    brier = metrics.weighted_mean(metrics.brier_score_binary(report=p, target=q), weights=weights).value
    assert 2 * one.integral() == brier


@given(some_roots, st.data())
def test_the_murphy_grid_is_the_exact_curve_on_the_grid(rows: list[Root], data: st.DataObject) -> None:
    weights = data.draw(weights_of(len(rows)))
    p, q = [row[0] for row in rows], [row[2] for row in rows]
    thetas = [*metrics.THETA_GRID[::40], *(x for x in p if 0 < x < 1), Fraction(1, 7)]
    curve = metrics.murphy_curve(reports=[p], target=q, weights=weights)
    expected = [curve.value(theta) for theta in thetas]
    assert metrics.murphy_grid(report=p, target=q, thetas=thetas, weights=weights).tolist() == expected
    floats = metrics.murphy_grid(
        report=[float(x) for x in p],
        target=[float(x) for x in q],
        thetas=thetas,
        weights=[float(w) for w in weights],
    )
    assert floats == pytest.approx(np.array(expected, dtype=float), abs=1e-14)


def test_a_report_at_a_threshold_counts_as_above_it() -> None:
    grid = [k / 200 for k in range(1, 200)]
    curve = metrics.murphy_grid(report=grid, target=[1] * 199)
    for i, theta in enumerate(metrics.THETA_GRID):  # k reports lie strictly below θ = (k + 1)/200 and lose 1 − θ
        assert curve[i] == pytest.approx(float((1 - theta) * i / 199), abs=1e-15)
