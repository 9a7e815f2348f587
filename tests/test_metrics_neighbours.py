"""Nearest neighbours: ties by enumerating every way to break them, bounds, and the limits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics import neighbours
from metric_strategies import unit_fractions

row = st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 1))
samples = st.lists(row, min_size=8, max_size=14)


def encoded(rows: list[tuple[int, str, int]]) -> metrics.Features:
    columns: dict[str, list[object]] = {"level": [r[0] for r in rows], "type": [r[1] for r in rows]}
    return metrics.encode(columns, ranges={"level": (0, 3)})


def brute_force(rows: list[tuple[int, str, int]], k: int) -> Fraction:
    """For each test row, every set of k rows that could be its k nearest, all equally likely."""
    half = len(rows) // 2
    errors = []
    for level, kind, y in rows[half:]:
        distance = [Fraction(level - a, 3) ** 2 + (0 if kind == b else 2) for a, b, _ in rows[:half]]
        sets = []
        for chosen in combinations(range(half), k):
            others = [i for i in range(half) if i not in chosen]
            if all(distance[i] <= distance[j] for i in chosen for j in others):
                sets.append(chosen)
        wrong = sum((2 * sum(rows[i][2] for i in chosen) > k) != y for chosen in sets)
        errors.append(Fraction(wrong, len(sets)))
    return sum(errors, Fraction(0)) / len(errors)


@given(samples, st.sampled_from([1, 3]))
def test_the_error_is_the_mean_over_all_ways_to_break_ties(rows: list[tuple[int, str, int]], k: int) -> None:
    labels = [r[2] for r in rows]
    assert metrics.neighbour_error(encoded(rows), labels, k=k) == brute_force(rows, k)


@given(samples, st.randoms(use_true_random=False))
def test_row_order_within_a_half_does_not_matter(rows: list[tuple[int, str, int]], random: Random) -> None:
    half = len(rows) // 2
    moved = [*random.sample(rows[:half], half), *random.sample(rows[half:], len(rows) - half)]
    first = metrics.neighbour_error(encoded(rows), [r[2] for r in rows], k=1)
    assert metrics.neighbour_error(encoded(moved), [r[2] for r in moved], k=1) == first


def test_five_neighbours_with_a_tie_at_the_fifth() -> None:
    rows = [(0, "a", 1)] * 4 + [(1, "a", 1), (1, "a", 0), (1, "a", 0)] + [(0, "a", 1)] * 7
    rows = [(0, "a", 1), (0, "a", 1), (0, "a", 0), (0, "a", 0), *rows[4:7], *[(0, "a", 1)] * 7]
    assert metrics.neighbour_error(encoded(rows), [r[2] for r in rows], k=5) == brute_force(rows, 5) == Fraction(2, 3)


def test_distances_are_compared_exactly() -> None:
    """0.1 + 0.2 from 0 and 0.3 from 0 are one distance as decimals and two as doubles."""
    rows = metrics.encode({"x": ["0.3", "0.3", 0.0, "0.6"]}, ranges={"x": (0, "0.9")})
    assert rows.numbers.tolist() == [[1], [1], [0], [2]]
    mixed = metrics.encode({"x": [0.1 + 0.2, "0.3", 0.0, "0.6"]}, ranges={"x": (0, "0.9")})
    assert metrics.neighbour_error(mixed, [1, 0, 1, 1], k=1, fit_rows=2) == Fraction(1, 2)
    big = metrics.encode({"x": [f"0.{'0' * 30}1", "0.5", 0, 1]}, ranges={"x": (0, 1)})
    assert big.numbers.dtype == object
    assert metrics.neighbour_error(big, [1, 0, 1, 0], k=1) == 0


def test_categories_are_one_hot() -> None:
    rows = metrics.encode({"type": ["a", "b", "c", "a"], "x": [0, "1", "1/2", 1]}, ranges={"x": (0, 1)})
    one_hot = np.array([[1, 0, 0, 0.0], [0, 1, 0, 1], [0, 0, 1, 0.5], [1, 0, 0, 1]])
    expected = ((one_hot[:, np.newaxis] - one_hot) ** 2).sum(axis=-1)
    every = np.arange(4)
    assert (neighbours._squared_distances(rows, every, every) / rows.scale**2 == expected).all()


@given(st.sampled_from([1, 3, 5, 7]), st.data())
def test_the_tie_formula_by_enumeration(k: int, data: st.DataObject) -> None:
    closer = data.draw(st.integers(0, k - 1))
    closer_yes = data.draw(st.integers(0, closer))
    tied = data.draw(st.integers(k - closer, 8))
    tied_yes = data.draw(st.integers(0, tied))
    pool = [1] * tied_yes + [0] * (tied - tied_yes)
    draws = list(combinations(pool, k - closer))
    for label in (0, 1):
        wrong = sum((closer_yes + sum(d) > k // 2) != label for d in draws)
        found = neighbours.tie_error_formula(closer, closer_yes, tied, tied_yes, k=k, label=label)
        assert found == Fraction(wrong, len(draws))


def test_three_of_seven_are_no_majority() -> None:
    assert neighbours.tie_error_formula(6, 3, 1, 0, k=7, label=0) == 0
    assert neighbours.tie_error_formula(6, 3, 1, 1, k=7, label=0) == 1


# --- bounds and limits ----------------------------------------------------------------------------------------------


@given(unit_fractions())
def test_limits_by_enumerating_the_votes(p: Fraction) -> None:
    one, five = Fraction(0), Fraction(0)
    for labels in product([0, 1], repeat=6):
        chance = math.prod((p if y else 1 - p for y in labels), start=Fraction(1))
        five += chance * ((sum(labels[:5]) > 2) != labels[5])
    for y, z in product([0, 1], repeat=2):
        one += (p if y else 1 - p) * (p if z else 1 - p) * (y != z)
    assert metrics.asymptotic_error([p], k=1) == one
    assert metrics.asymptotic_error([p], k=5) == five
    bayes = min(p, 1 - p)
    assert bayes <= one <= 2 * bayes * (1 - bayes)
    assert metrics.lower_bound_one(one) <= float(bayes) + 1e-8
    assert bayes <= five <= Fraction(121756, 100000) * bayes
    assert metrics.lower_bound_five(five) <= float(bayes) + 1e-12


@given(st.lists(st.tuples(unit_fractions(), st.integers(1, 3)), min_size=1, max_size=4))
def test_cover_and_hart_for_a_population(rows: list[tuple[Fraction, int]]) -> None:
    mass = sum(w for _, w in rows)
    bayes = sum((w * min(p, 1 - p) for p, w in rows), Fraction(0)) / mass
    error = metrics.asymptotic_error([p for p, _ in rows], weights=[w for _, w in rows], k=1)
    assert bayes <= error <= 2 * bayes * (1 - bayes)


def test_estimates_and_saturation() -> None:
    assert metrics.lower_bound_one("0.52") == 0.5
    assert metrics.neighbour_estimate(["0.52"], k=1).saturated
    assert not metrics.neighbour_estimate(["0.5"], k=1).saturated
    assert metrics.lower_bound_one(0) == metrics.lower_bound_five(0) == 0
    assert metrics.lower_bound_one("1/2") == 0.5
    seeds = metrics.neighbour_estimate(["0.18", "0.32", "0"], k=1)
    assert seeds.upper == Fraction(1, 6)
    assert seeds.lower == pytest.approx((0.1 + 0.2 + 0) / 3)
    assert metrics.neighbour_estimate(["0.2"], k=5).lower == pytest.approx(0.2 / (1 + 1 / math.sqrt(5)))
    for k in (2, 3):
        with pytest.raises(metrics.InvalidArgument):
            metrics.neighbour_estimate(["0.2"], k=k)
