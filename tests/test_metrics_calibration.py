"""Calibration: bins on exact decimals, sums by brute force, ties that no row order can move."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics import calibration
from metric_strategies import decimals, distributions, rows_of, unit_fractions, weights_of

BINS = (1, 2, 5, 10, 15, 20)
ONE = Fraction(1)


def edges_and_neighbours(bins: int) -> st.SearchStrategy[Fraction]:
    tiny = Fraction(1, 10**9)
    edge = st.builds(
        lambda b, e: Fraction(b, bins) + e, st.integers(0, bins), st.sampled_from([-tiny, Fraction(0), tiny])
    )
    return st.one_of(edge.filter(lambda x: 0 <= x <= 1), unit_fractions(), decimals())


binned = st.sampled_from(BINS).flatmap(lambda b: st.tuples(st.just(b), rows_of(edges_and_neighbours(b))))


@given(binned)
def test_a_value_lies_in_its_bin(case: tuple[int, list[Fraction]]) -> None:
    bins, values = case
    for value, index in zip(values, metrics.bin_index(values, bins=bins), strict=True):
        assert Fraction(index, bins) <= value
        assert value < Fraction(index + 1, bins) or (value == 1 and index == bins - 1)
        assert index == min(math.floor(value * bins), bins - 1)


@given(binned)
def test_the_array_twin_equals_the_formula(case: tuple[int, list[Fraction]]) -> None:
    bins, values = case
    floats = np.array([float(v) for v in values])
    edges = [b / bins for b in range(1, bins)]
    expected = [sum(v >= edge for edge in edges) for v in floats]
    assert calibration.bin_index_array(floats, bins).tolist() == expected
    if bins != 15:  # with decimal edges the double's bin is the bin of the decimal that repr prints
        exact = [calibration.bin_index_formula(Fraction(repr(float(v))), bins) for v in values]
        assert calibration.bin_index_array(floats, bins).tolist() == exact


@pytest.mark.parametrize("bins", [10, 15, 20, 49, 1000])
def test_no_edge_is_missed_by_rounding(bins: int) -> None:
    edges = np.arange(bins + 1) / bins
    last = bins - 1
    assert metrics.bin_index(edges, bins=bins).tolist() == [*range(bins), last]
    below = np.nextafter(edges[1:], 0)
    assert metrics.bin_index(below, bins=bins).tolist() == list(range(bins))
    assert metrics.bin_index(0.3, bins=10) == metrics.bin_index("0.3", bins=10) == 3
    many = np.arange(10001) / 10000
    exact = metrics.bin_index([Fraction(k, 10000) for k in range(10001)], bins=10)
    assert metrics.bin_index(many, bins=10).tolist() == exact.tolist()


def test_a_complement_is_the_double_of_the_decimal() -> None:
    for places in (1, 2, 3, 4):
        n = 10**places
        k = np.arange(n + 1)
        assert (calibration.complement_array(k / n) == (n - k) / n).all()
    assert (1 - 0.07) != 0.93
    odd = np.array([1 / 3, 5e-324, 0.1234567890123456])
    assert calibration.complement_array(odd).tolist() == (1 - odd).tolist()


# --- the error ------------------------------------------------------------------------------------------------------

points = rows_of(st.tuples(edges_and_neighbours(10), st.sampled_from([Fraction(0), ONE, Fraction(2, 5)])), most=7)


@given(points, st.sampled_from(BINS), st.data())
def test_fixed_bins_by_brute_force(rows: list[tuple[Fraction, Fraction]], bins: int, data: st.DataObject) -> None:
    weights = data.draw(weights_of(len(rows)))
    v, a = [r[0] for r in rows], [r[1] for r in rows]
    expected = Fraction(0)
    for b in range(bins):
        low, high = Fraction(b, bins), Fraction(b + 1, bins)
        inside = [i for i in range(len(rows)) if low <= v[i] and (v[i] < high or b == bins - 1)]
        expected += abs(sum((weights[i] * (v[i] - a[i]) for i in inside), Fraction(0)))
    expected /= sum(weights)
    assert metrics.calibration_error(confidence=v, accuracy=a, bins=bins, weights=weights) == expected
    floats: Any = {"confidence": [float(x) for x in v], "accuracy": [float(x) for x in a]}
    found = metrics.calibration_error(**floats, bins=bins, weights=[float(w) for w in weights])
    if bins != 15:
        assert found == pytest.approx(float(expected), abs=1e-14)


@given(points, st.integers(1, 5), st.randoms(use_true_random=False))
def test_equal_frequency_bins_by_dividing_every_row(
    rows: list[tuple[Fraction, Fraction]], bins: int, random: Random
) -> None:
    """Each row is cut into `bins` crumbs with its value's mean accuracy; a bin is as many crumbs as rows."""
    v, a = [r[0] for r in rows], [r[1] for r in rows]
    mean = {x: sum((b for y, b in rows if y == x), Fraction(0)) / sum(y == x for y, _ in rows) for x in v}
    crumbs = [x - mean[x] for x in sorted(v) for _ in range(bins)]
    n = len(rows)
    expected = sum((abs(sum(crumbs[b * n : (b + 1) * n], Fraction(0))) for b in range(bins)), Fraction(0)) / (n * bins)
    found = metrics.calibration_error(confidence=v, accuracy=a, bins=bins, strategy="equal_frequency")
    assert found == expected
    order = list(range(n))
    random.shuffle(order)
    moved = {"confidence": [v[i] for i in order], "accuracy": [a[i] for i in order]}
    assert metrics.calibration_error(**moved, bins=bins, strategy="equal_frequency") == expected
    floats = metrics.calibration_error(
        confidence=[float(x) for x in v],
        accuracy=[float(x) for x in a],
        bins=bins,
        strategy="equal_frequency",
    )
    assert floats == pytest.approx(float(expected), abs=1e-14)


@given(points, st.integers(1, 4), st.data())
def test_integer_weights_are_repeated_rows(
    rows: list[tuple[Fraction, Fraction]], bins: int, data: st.DataObject
) -> None:
    weights = data.draw(weights_of(len(rows)))
    v, a = [r[0] for r in rows], [r[1] for r in rows]
    long_v = [x for x, w in zip(v, weights, strict=True) for _ in range(int(w))]
    long_a = [x for x, w in zip(a, weights, strict=True) for _ in range(int(w))]
    for strategy in ("fixed", "equal_frequency"):
        weighted = metrics.calibration_error(confidence=v, accuracy=a, bins=bins, strategy=strategy, weights=weights)
        assert weighted == metrics.calibration_error(confidence=long_v, accuracy=long_a, bins=bins, strategy=strategy)
        floats = metrics.calibration_error(
            confidence=[float(x) for x in v],
            accuracy=[float(x) for x in a],
            bins=bins,
            strategy=strategy,
            weights=[float(w) for w in weights],
        )
        assert floats == pytest.approx(float(weighted), abs=1e-14)


# --- reports --------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(distributions(3), distributions(3)), min_size=1, max_size=3), st.sampled_from([2, 10]))
def test_the_exact_mass_error_is_at_most_the_expected_label_error(
    rows: list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]], bins: int
) -> None:
    p, q = [r[0] for r in rows], [r[1] for r in rows]
    exact = metrics.expected_calibration_error(report=p, target=q, bins=bins)
    expected = Fraction(0)
    for labels in product(range(3), repeat=len(rows)):
        chance = math.prod((t[y] for t, y in zip(q, labels, strict=True)), start=ONE)
        expected += chance * metrics.expected_calibration_error(report=p, label=list(labels), bins=bins)
    assert exact <= expected
    assert metrics.expected_calibration_error(report=q, target=q, bins=bins) == 0


@given(st.lists(st.tuples(decimals(), decimals(), st.booleans()), min_size=1, max_size=6))
def test_binary_reports_are_two_class_reports(rows: list[tuple[Fraction, Fraction, bool]]) -> None:
    p, q, y = ([r[i] for r in rows] for i in range(3))
    labels = [int(b) for b in y]
    two, goal = [[1 - x, x] for x in p], [[1 - x, x] for x in q]
    for strategy in ("fixed", "equal_frequency"):
        for bins in (3, 10):
            kind: Any = {"bins": bins, "strategy": strategy}
            by_target = metrics.expected_calibration_error(report=two, target=goal, **kind)
            by_label = metrics.expected_calibration_error(report=two, label=labels, **kind)
            assert metrics.expected_calibration_error_binary(report=p, target=q, **kind) == by_target
            assert metrics.expected_calibration_error_binary(report=p, label=labels, **kind) == by_label
            floats = metrics.expected_calibration_error_binary(report=[float(x) for x in p], label=labels, **kind)
            assert floats == pytest.approx(float(by_label), abs=1e-14)


def test_one_class_and_all_mass_on_one_outcome() -> None:
    assert metrics.expected_calibration_error_binary(report=[1.0, 1.0], label=[1, 1], bins=10) == 0
    assert metrics.expected_calibration_error_binary(report=[0.0, 1.0], label=[1, 0], bins=10) == 1
    assert metrics.expected_calibration_error_binary(report=["1/2"], label=[1], bins=15) == Fraction(1, 2)
    assert metrics.calibration_error(confidence=[0.95, 1.0], accuracy=[1, 0], bins=10) == pytest.approx(0.475)


@given(points, st.sampled_from(BINS))
def test_the_reliability_table_adds_up(rows: list[tuple[Fraction, Fraction]], bins: int) -> None:
    v, a = [r[0] for r in rows], [r[1] for r in rows]
    table = metrics.reliability_table(confidence=v, accuracy=a, bins=bins)
    assert len(table) == bins
    assert sum(row.count for row in table) == len(rows)
    assert sum(row.weight for row in table) == 1
    error = Fraction(0)
    for row in table:
        if row.count:
            assert not isinstance(row.confidence, metrics.Undefined)
            assert not isinstance(row.accuracy, metrics.Undefined)
            assert row.low <= row.confidence <= row.high
            error += row.weight * abs(row.confidence - row.accuracy)
        else:
            assert row.weight == 0
            assert isinstance(row.confidence, metrics.Undefined)
            assert isinstance(row.accuracy, metrics.Undefined)
    assert error == metrics.calibration_error(confidence=v, accuracy=a, bins=bins)
    floats = metrics.reliability_table(confidence=[float(x) for x in v], accuracy=[float(x) for x in a], bins=bins)
    assert [row.count for row in floats] == [row.count for row in table] or bins == 15


def test_a_row_without_weight_may_be_the_first() -> None:
    first, second = metrics.reliability_table(confidence=["0.1", "0.9"], accuracy=[0, 1], weights=[0, 1], bins=2)
    assert (first.count, first.weight, second.count, second.weight) == (0, 0, 1, 1)
