"""Scores against their definitions: outcome by outcome, by exact integration, and at every boundary."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath.ctx_iv import MPIntervalContext

from exactworlds import metrics
from exactworlds.metrics import _rows as rows_module
from exactworlds.metrics import accuracy, divergences, scores
from metric_strategies import (
    costs,
    decimals,
    distributions,
    pairs_of_distributions,
    probabilities,
    roots,
    rows_of,
    unit_fractions,
)

Pair = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
TENTH = Fraction(1, 10)
INTERVALS = MPIntervalContext()  # a context of its own: the precision of nothing else changes
INTERVALS.dps = 40
reports = probabilities(TENTH)
lists_of_pairs = st.integers(2, 4).flatmap(
    lambda k: rows_of(st.tuples(distributions(k, TENTH), distributions(k, TENTH)))
)


def split(rows: list[Pair]) -> tuple[Any, Any]:
    return np.array([p for p, _ in rows], dtype=object), np.array([q for _, q in rows], dtype=object)


def expectation(target: tuple[Fraction, ...], values: list[Fraction]) -> Fraction:
    return sum((q * v for q, v in zip(target, values, strict=True)), Fraction(0))


# --- accuracy -------------------------------------------------------------------------------------------------------


@given(pairs_of_distributions(TENTH))
def test_the_selected_class_is_the_first_of_the_largest(pair: Pair) -> None:
    report, target = pair
    first = min(k for k in range(len(report)) if all(report[k] >= other for other in report))
    assert metrics.selected_class(report) == first
    assert metrics.tied_maxima(report) == sum(p == max(report) for p in report)
    assert metrics.expected_accuracy(report=report, target=target) == target[first]
    assert metrics.expected_accuracy(report=report, target=target) <= metrics.bayes_accuracy(target) == max(target)
    drawn = [metrics.realised_accuracy(report=report, label=k) for k in range(len(report))]
    assert expectation(target, [Fraction(int(a)) for a in drawn]) == target[first]


@given(lists_of_pairs)
def test_array_twins_equal_the_formulas_element_by_element(rows: list[Pair]) -> None:
    p, q = split(rows)
    assert accuracy.first_maximum_array(p).tolist() == [accuracy.first_maximum_formula(r) for r, _ in rows]
    assert accuracy.expected_accuracy_array(p, q).tolist() == [
        accuracy.expected_accuracy_formula(r, t) for r, t in rows
    ]
    assert divergences.total_variation_array(p, q).tolist() == [
        divergences.total_variation_formula(r, t) for r, t in rows
    ]
    pf, qf = p.astype(float), q.astype(float)
    assert accuracy.first_maximum_array(pf).tolist() == [accuracy.first_maximum_formula(r) for r in pf.tolist()]
    log_losses = [scores.log_loss_formula(r, t, log=math.log) for r, t in zip(pf.tolist(), qf.tolist(), strict=True)]
    assert scores.log_loss_array(pf, qf) == pytest.approx(log_losses, rel=1e-14, abs=1e-15)
    divergence = [divergences.kl_formula(r, t, log=math.log) for r, t in zip(pf.tolist(), qf.tolist(), strict=True)]
    assert divergences.kl_nats_array(pf, qf) == pytest.approx(divergence, rel=1e-12, abs=1e-14)


def test_twins_run_over_any_leading_axes() -> None:
    p = np.random.default_rng(0).dirichlet([1, 1, 1], size=(2, 5))
    p /= p.sum(axis=-1, keepdims=True)
    q = p[::-1].copy()
    assert metrics.brier_score(report=p, target=q).shape == (2, 5)
    for i in range(2):
        for j in range(5):
            one = metrics.kl_nats(report=p[i, j], target=q[i, j])
            assert metrics.kl_nats(report=p, target=q)[i, j] == pytest.approx(one, abs=1e-15)


@given(reports, reports, st.sampled_from([0, 1]))
def test_binary_forms_are_the_two_class_forms(p: Fraction, q: Fraction, y: int) -> None:
    two, goal = (1 - p, p), (1 - q, q)
    assert metrics.expected_accuracy_binary(report=p, target=q) == metrics.expected_accuracy(report=two, target=goal)
    assert metrics.total_variation_binary(report=p, target=q) == metrics.total_variation(report=two, target=goal)
    assert 2 * metrics.brier_score_binary(report=p, target=q) == metrics.brier_score(report=two, target=goal)
    assert scores.realised_brier_score_binary_formula(p, y) == metrics.realised_brier_score_binary(report=p, label=y)
    assert 2 * metrics.realised_brier_score_binary(report=p, label=y) == metrics.realised_brier_score(
        report=two, label=y
    )
    assert metrics.realised_accuracy_binary(report=p, label=y) == metrics.realised_accuracy(report=two, label=y)
    assert metrics.log_loss_binary(report=p, target=q) == metrics.log_loss(report=two, target=goal)
    assert metrics.kl_nats_binary(report=p, target=q) == metrics.kl_nats(report=two, target=goal)
    assert metrics.entropy_bits_binary(q) == metrics.entropy_bits(goal)


@given(rows_of(st.tuples(decimals(), decimals())))
def test_binary_floats_agree_with_exact_ones(rows: list[tuple[Fraction, Fraction]]) -> None:
    p, q = [r[0] for r in rows], [r[1] for r in rows]
    pf, qf = np.array(p, dtype=float), np.array(q, dtype=float)
    for name in ("log_loss_binary", "kl_nats_binary", "brier_score_binary", "total_variation_binary"):
        score = getattr(metrics, name)
        exact = np.array(score(report=p, target=q), dtype=float)
        assert score(report=pf, target=qf) == pytest.approx(exact, abs=1e-14)
    assert metrics.entropy_bits_binary(qf) == pytest.approx(metrics.entropy_bits_binary(q), abs=1e-14)
    accurate = np.array(metrics.expected_accuracy_binary(report=p, target=q), dtype=float)
    assert metrics.expected_accuracy_binary(report=pf, target=qf) == pytest.approx(accurate, abs=1e-15)
    label = [int(2 * x > 1) for x in q]
    for name in ("realised_log_loss_binary", "realised_brier_score_binary", "realised_accuracy_binary"):
        score = getattr(metrics, name)
        exact = np.array(score(report=p, label=label), dtype=float)
        assert score(report=pf, label=label) == pytest.approx(exact, abs=1e-14)


def test_a_half_selects_no() -> None:
    assert metrics.realised_accuracy_binary(report=[0.5, "1/2"], label=[0, 1]).tolist() == [1, 0]
    assert metrics.expected_accuracy_binary(report=0.5, target=0.75) == 0.25


# --- Brier ----------------------------------------------------------------------------------------------------------


@given(pairs_of_distributions(TENTH))
def test_brier_is_the_mean_over_outcomes_of_the_squared_distance(pair: Pair) -> None:
    report, target = pair
    by_outcome = [
        sum(((p - (1 if k == y else 0)) ** 2 for k, p in enumerate(report)), Fraction(0)) for y in range(len(report))
    ]
    assert metrics.brier_score(report=report, target=target) == expectation(target, by_outcome)
    realised = [metrics.realised_brier_score(report=report, label=y) for y in range(len(report))]
    assert realised == by_outcome
    assert [scores.realised_brier_score_formula(report, y) for y in range(len(report))] == by_outcome
    assert 0 <= metrics.brier_score(report=report, target=target) <= 2
    excess = metrics.brier_score(report=report, target=target) - metrics.brier_score(report=target, target=target)
    assert excess == sum(((p - q) ** 2 for p, q in zip(report, target, strict=True)), Fraction(0))


@given(lists_of_pairs)
def test_float_scores_stay_within_their_stated_error(rows: list[Pair]) -> None:
    p, q = split(rows)
    pf, qf = p.astype(float), q.astype(float)
    exact = metrics.brier_score(report=p, target=q)
    assert np.abs(metrics.brier_score(report=pf, target=qf) - exact.astype(float)).max() < 1e-15 * 4
    for name in ("log_loss", "kl_nats"):
        score = getattr(metrics, name)
        assert score(report=pf, target=qf) == pytest.approx(score(report=p, target=q), abs=1e-13)
    assert metrics.entropy_bits(qf) == pytest.approx(metrics.entropy_bits(q), abs=1e-14)


# --- log loss and divergences ---------------------------------------------------------------------------------------


@given(pairs_of_distributions(TENTH))
def test_log_loss_is_entropy_plus_divergence(pair: Pair) -> None:
    report, target = pair
    loss, kl = metrics.log_loss(report=report, target=target), metrics.kl_nats(report=report, target=target)
    missing = any(q > 0 and p == 0 for p, q in zip(report, target, strict=True))
    assert math.isinf(loss) == math.isinf(kl) == missing
    if not missing:
        assert loss == pytest.approx(metrics.entropy_bits(target) * math.log(2) + kl, abs=1e-12)
        realised = [metrics.realised_log_loss(report=report, label=y) for y in range(len(report))]
        assert loss == pytest.approx(sum(float(q) * v for q, v in zip(target, realised, strict=True) if q > 0))
    if report == target:
        assert kl == 0


@given(pairs_of_distributions())
def test_only_the_target_itself_has_the_best_expected_score(pair: Pair) -> None:
    """Each expectation over drawn labels; numerators are at most 4, so a float loses nothing that could decide."""
    p, q = pair
    for score in (metrics.realised_brier_score, metrics.realised_log_loss):
        honest, other = (
            sum(float(w) * float(score(report=report, label=k)) for k, w in enumerate(q) if w) for report in (q, p)
        )
        assert (other > honest + 1e-6) == (p != q)
    assert (metrics.brier_score(report=p, target=q) > metrics.brier_score(report=q, target=q)) == (p != q)
    assert (metrics.log_loss(report=p, target=q) > metrics.log_loss(report=q, target=q)) == (p != q)


@given(pairs_of_distributions())
def test_pinsker_and_the_accuracy_gap_to_certified_digits(pair: Pair) -> None:
    report, target = pair
    tv = metrics.total_variation(report=report, target=target)
    gap = metrics.accuracy_gap(report=report, target=target)
    assert 0 <= gap <= metrics.accuracy_gap_bound_from_tv(tv) == 2 * tv
    if any(q > 0 and p == 0 for p, q in zip(report, target, strict=True)):
        return
    kl = INTERVALS.mpf(0)
    for p, q in zip(report, target, strict=True):
        if q > 0:
            ratio = q / p
            logarithm = INTERVALS.log(INTERVALS.mpf(ratio.numerator) / ratio.denominator)
            kl += INTERVALS.mpf(q.numerator) / q.denominator * logarithm
    bound = metrics.pinsker_bound(tv)
    assert bound == 2 * tv * tv
    certified = INTERVALS.mpf(bound.numerator) / bound.denominator
    assert kl.a > certified.b or (report == target and kl.a == 0 == bound)
    found = metrics.kl_nats(report=report, target=target)
    assert kl.a * (1 - 1e-12) - 1e-300 <= found <= kl.b * (1 + 1e-12) + 1e-300
    assert float(gap) <= metrics.accuracy_gap_bound(found) * (1 + 1e-12)


@given(lists_of_pairs)
def test_the_accuracy_gap_row_by_row(rows: list[Pair]) -> None:
    p, q = split(rows)
    wanted = [max(target) - target[report.index(max(report))] for report, target in rows]
    assert list(metrics.accuracy_gap(report=p, target=q)) == wanted
    floats = metrics.accuracy_gap(report=p.astype(float), target=q.astype(float))
    assert floats == pytest.approx([float(gap) for gap in wanted], abs=1e-15)


@given(distributions(3), distributions(3))
def test_total_variation_is_the_largest_difference_on_any_event(
    p: tuple[Fraction, ...], q: tuple[Fraction, ...]
) -> None:
    events = [[k for k in range(3) if mask >> k & 1] for mask in range(8)]
    largest = max(sum((p[k] - q[k] for k in event), Fraction(0)) for event in events)
    assert metrics.total_variation(report=p, target=q) == largest


def test_infinities_are_kept_and_zero_times_log_zero_is_zero() -> None:
    assert metrics.log_loss(report=[1, 0], target=[1, 0]) == 0
    assert metrics.log_loss(report=[1.0, 0.0], target=[1.0, 0.0]) == 0
    assert metrics.kl_nats(report=[1.0, 0.0], target=[0.5, 0.5]) == math.inf
    assert metrics.kl_nats(report=[0.5, 0.5], target=[1.0, 0.0]) == pytest.approx(math.log(2))
    assert metrics.realised_log_loss_binary(report=[0.0, 1.0, 0.0, 1.0], label=[0, 1, 1, 0]).tolist() == [
        0,
        0,
        math.inf,
        math.inf,
    ]
    assert metrics.realised_log_loss_binary(report=[0, 1, "1/2"], label=[1, 1, 1]).tolist() == [
        math.inf,
        0,
        math.log(2),
    ]
    assert metrics.entropy_bits([1.0, 0.0]) == 0
    assert math.copysign(1, metrics.realised_log_loss(report=[1.0, 0.0], label=0)) == 1


def test_denormal_reports_have_finite_losses() -> None:
    smallest = 5e-324
    assert metrics.log_loss_binary(report=smallest, target=1.0) == pytest.approx(744.4400719213812)
    assert metrics.kl_nats_binary(report=smallest, target=1.0) == pytest.approx(744.4400719213812)
    assert metrics.realised_log_loss_binary(report=smallest, label=1) == pytest.approx(744.4400719213812)
    assert metrics.kl_nats_binary(report=Fraction(1, 10**400), target=1) == pytest.approx(400 * math.log(10))
    assert metrics.brier_score_binary(report=smallest, target=0.0) == 0


def test_clipping_only_when_asked_and_only_of_the_report() -> None:
    clip = ("0.001", "0.999")
    assert metrics.kl_nats_binary(report=0, target="0.001", clip=clip) == 0
    assert metrics.kl_nats_binary(report=0.0, target=0.001, clip=clip) == pytest.approx(0, abs=1e-15)
    assert metrics.kl_nats_binary(report=0, target=0, clip=clip) == pytest.approx(-math.log(0.999), rel=1e-15)
    assert metrics.kl_nats_binary(report=0.0, target=0.0, clip=clip) == pytest.approx(-math.log(0.999), rel=1e-12)
    assert metrics.kl_nats_binary(report=1, target=0, clip=clip) == pytest.approx(math.log(1000), rel=1e-15)
    assert metrics.kl_nats_binary(report=1, target=0) == math.inf
    assert metrics.kl_nats_binary(report="0.4", target="0.4", clip=clip) == 0
    assert metrics.kl_nats_binary(report=[0.0, 0.5], target=[0.5, 0.5], clip=clip)[1] == 0


@given(reports, reports)
def test_the_clipped_divergence_keeps_the_accuracy_gap_bound(p: Fraction, q: Fraction) -> None:
    kl = metrics.kl_nats_binary(report=p, target=q, clip=("0.001", "0.999"))
    gap = metrics.accuracy_gap(report=(1 - p, p), target=(1 - q, q))
    assert float(gap) <= math.sqrt(2 * max(kl, 0.0)) + 1e-7


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**6))
def test_logarithms_of_exact_numbers(value: Fraction) -> None:
    with mpmath.workdps(40):
        truth = mpmath.log(mpmath.mpf(value.numerator) / value.denominator)
        error = abs(mpmath.mpf(rows_module.log_of_exact(value)) - truth)
        assert error <= mpmath.mpf(2) ** -50 * max(abs(truth), 1 if abs(truth) > 0.3 else 0)


# --- elementary scores ----------------------------------------------------------------------------------------------


@given(reports, reports, probabilities(TENTH), st.booleans())
def test_an_elementary_score_is_the_expected_cost_of_a_thresholded_answer(
    p: Fraction, q: Fraction, theta: Fraction, inclusive: bool
) -> None:
    yes = p >= theta if inclusive else p > theta
    cost = (1 - q) * theta if yes else q * (1 - theta)
    assert metrics.elementary_score(report=p, target=q, theta=theta, inclusive=inclusive) == cost


@given(rows_of(st.tuples(reports, reports)), probabilities(TENTH), st.booleans())
def test_the_elementary_twin_equals_the_formula(
    rows: list[tuple[Fraction, Fraction]], theta: Fraction, inclusive: bool
) -> None:
    p, q = np.array([a for a, _ in rows], dtype=object), np.array([b for _, b in rows], dtype=object)
    scalar = [scores.elementary_score_formula(a, b, theta, inclusive=inclusive) for a, b in rows]
    assert scores.elementary_score_array(p, q, theta, inclusive=inclusive).tolist() == scalar
    floats = scores.elementary_score_array(p.astype(float), q.astype(float), float(theta), inclusive=inclusive)
    one = [scores.elementary_score_formula(float(a), float(b), float(theta), inclusive=inclusive) for a, b in rows]
    assert floats.tolist() == one


@given(reports, reports, st.booleans())
def test_the_elementary_integral_is_half_the_brier_score(p: Fraction, q: Fraction, inclusive: bool) -> None:
    area = Fraction(0)
    for low, high in pairwise(sorted({Fraction(0), p, Fraction(1)})):
        middle = (low + high) / 2  # affine between breakpoints, so the midpoint rule is exact
        area += (high - low) * scores.elementary_score_formula(p, q, middle, inclusive=inclusive)
    assert area == (q * (1 - p) ** 2 + (1 - q) * p**2) / 2 == metrics.brier_score_binary(report=p, target=q) / 2


@given(costs().flatmap(lambda c: st.tuples(st.just(c), roots(c))))
def test_the_reject_loss_is_the_sum_of_two_elementary_scores(
    case: tuple[Fraction, tuple[Fraction, ...]],
) -> None:
    c, (p, _, q) = case
    action = 0 if p <= c else 1 if p >= 1 - c else None
    loss = {0: q, 1: 1 - q, None: c}[action]
    low = metrics.elementary_score(report=p, target=q, theta=c, inclusive=False)
    high = metrics.elementary_score(report=p, target=q, theta=1 - c, inclusive=True)
    assert low + high == loss


def test_the_wrong_tie_conventions_fail_at_a_threshold() -> None:
    c, q = TENTH, Fraction(3, 10)
    low = metrics.elementary_score(report=c, target=q, theta=c, inclusive=False)
    high = metrics.elementary_score(report=c, target=q, theta=1 - c, inclusive=True)
    assert low + high == q  # p = c answers no
    assert metrics.elementary_score(report=c, target=q, theta=c, inclusive=True) + high != q


# --- means ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12), st.data())
def test_stratum_weights_give_each_stratum_the_same(strata: list[str], data: st.DataObject) -> None:
    support = data.draw(st.lists(st.booleans(), min_size=len(strata), max_size=len(strata)).filter(any))
    found = metrics.stratum_weights(strata, support=support, declared="abcd")
    present = {s for s, inside in zip(strata, support, strict=True) if inside}
    assert set(found.strata) == present
    assert set(found.empty) == set("abcd") - present
    for name in present:
        own = [w for w, s in zip(found.weights, strata, strict=True) if s == name]
        assert sum(own) == Fraction(1, len(present))
    assert all(w == 0 for w, inside in zip(found.weights, support, strict=True) if not inside)


@given(rows_of(unit_fractions()), st.data())
def test_means_are_exact_and_floats_agree(values: list[Fraction], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)).filter(any))
    expanded = [v for v, w in zip(values, weights, strict=True) for _ in range(w)]
    exact = metrics.weighted_mean(values, weights=weights)
    assert exact.value == sum(expanded, Fraction(0)) / len(expanded)
    assert exact.count == sum(w > 0 for w in weights)
    floats = metrics.weighted_mean([float(v) for v in values], weights=weights)
    assert floats.value == pytest.approx(float(exact.value), abs=1e-15)


@given(rows_of(unit_fractions()))
def test_runs_that_differ_only_in_seed(values: list[Fraction]) -> None:
    mean, spread = metrics.seed_summary(values)
    assert mean == pytest.approx(float(np.mean([float(v) for v in values])))
    if len(values) == 1:
        assert isinstance(spread, metrics.Undefined)
    else:
        assert spread == pytest.approx(float(np.std([float(v) for v in values], ddof=1)), abs=1e-12)


def test_means_carry_their_infinities() -> None:
    losses = metrics.realised_log_loss_binary(report=[0.0, 0.5, 0.0], label=[1, 1, 0])
    mean = metrics.weighted_mean(losses)
    assert (mean.value, mean.infinite, mean.count) == (math.inf, 1, 3)
    outside = metrics.weighted_mean(losses, weights=[0, 1, 1])
    assert (outside.infinite, outside.count) == (0, 2)
    assert outside.value == pytest.approx(math.log(2) / 2)
    finite = metrics.weighted_mean([1.0])
    assert metrics.contrast(mean, finite) == math.inf
    assert metrics.contrast(finite, mean) == -math.inf
    nothing = metrics.contrast(mean, mean)
    assert isinstance(nothing, metrics.Undefined)
    assert nothing.counts == {"first": 1, "second": 1}


# --- many rows ------------------------------------------------------------------------------------------------------


def test_ten_million_rows() -> None:
    """Reports and labels on a small lattice, so that the exact answer is a short weighted sum."""
    rng = np.random.default_rng(11)
    size = 10_000_000
    code = rng.integers(0, 1001, size)
    report, label = code / 1000, rng.integers(0, 2, size, dtype=np.int8)
    counts = np.bincount(2 * code + label, minlength=2002)
    cells = [(Fraction(k, 1000), y, int(counts[2 * k + y])) for k in range(1001) for y in (0, 1)]

    exact = sum(n * (p - y) ** 2 for p, y, n in cells) / size
    assert metrics.weighted_mean(
        metrics.realised_brier_score_binary(report=report, label=label)
    ).value == pytest.approx(float(exact), abs=1e-13)
    residuals = [Fraction(0)] * 15
    for p, y, n in cells:
        yes = 2 * p > 1
        v, a = (p, y) if yes else (1 - p, 1 - y)
        residuals[min(int(v * 15), 14)] += n * (v - a)
    ece = sum((abs(r) for r in residuals), Fraction(0)) / size
    found = metrics.expected_calibration_error_binary(report=report, label=label, bins=15)
    assert found == pytest.approx(float(ece), abs=1e-12)
    theta = Fraction(3, 10)
    murphy = sum(n * (theta * (1 - y) if p >= theta else (1 - theta) * y) for p, y, n in cells) / size
    assert metrics.murphy_grid(report=report, target=label, thetas=["0.3"])[0] == pytest.approx(
        float(murphy), abs=1e-12
    )


@given(decimals(), decimals())
def test_scores_take_text_as_well_as_numbers(p: Fraction, q: Fraction) -> None:
    text = metrics.brier_score_binary(report=str(p), target=str(q))
    assert text == metrics.brier_score_binary(report=float(p), target=q)
    assert metrics.brier_score_binary(report=float(p), target=float(q)) == pytest.approx(float(text), abs=1e-15)
