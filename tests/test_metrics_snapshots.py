"""Snapshot errors from their definitions: label sequences enumerated, distances by transport."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics import snapshots
from metric_strategies import decimals, unit_fractions, weights_of

HALF = Fraction(1, 2)
laws = st.dictionaries(unit_fractions(6), st.integers(1, 4), min_size=1, max_size=4).map(
    lambda n: {x: Fraction(k, sum(n.values())) for x, k in n.items()}
)


def transport(first: dict[Fraction, Fraction], second: dict[Fraction, Fraction]) -> Fraction:
    """Cost of moving mass in order of position: optimal on a line, and no distribution function in sight."""
    here, there = sorted(first.items()), sorted(second.items())
    cost, i, j = Fraction(0), 0, 0
    left, need = here[0][1], there[0][1]
    while True:
        moved = min(left, need)
        cost += moved * abs(here[i][0] - there[j][0])
        left, need = left - moved, need - moved
        if left == 0:
            i += 1
            if i == len(here):
                return cost
            left = here[i][1]
        if need == 0:
            j += 1
            need = there[j][1] if j < len(there) else Fraction(0)


@given(laws, laws)
def test_the_distance_is_the_cheapest_transport(f: dict[Any, Any], g: dict[Any, Any]) -> None:
    assert metrics.wasserstein1(f, g) == metrics.wasserstein1(g, f) == transport(f, g)
    assert metrics.wasserstein1(f, f) == 0
    sums = [sum((x * m for x, m in law.items()), Fraction(0)) for law in (f, g)]
    assert metrics.wasserstein1(f, g) >= abs(sums[0] - sums[1])


@given(laws, laws, laws)
def test_the_triangle_inequality(f: dict[Any, Any], g: dict[Any, Any], h: dict[Any, Any]) -> None:
    assert metrics.wasserstein1(f, h) <= metrics.wasserstein1(f, g) + metrics.wasserstein1(g, h)


@given(st.integers(1, 5), unit_fractions())
def test_the_binomial_law_by_enumerating_label_sequences(k: int, p: Fraction) -> None:
    law: dict[Fraction, Fraction] = {}
    for labels in product([0, 1], repeat=k):
        chance = math.prod((p if y else 1 - p for y in labels), start=Fraction(1))
        if chance:
            share = Fraction(sum(labels), k)
            law[share] = law.get(share, Fraction(0)) + chance
    assert metrics.binomial_share_law(k=k, probability=p) == law
    assert sum(snapshots.binomial_formula(k, p)) == 1


@given(st.lists(st.integers(0, 20), min_size=1, max_size=9), st.lists(st.integers(0, 20), min_size=1, max_size=9))
def test_samples_on_a_lattice(first: list[int], second: list[int]) -> None:
    def law(values: list[int]) -> dict[Fraction, Fraction]:
        return {Fraction(v, 20): Fraction(values.count(v), len(values)) for v in values}

    found = metrics.wasserstein1_lattice(first=[v / 20 for v in first], second=[v / 20 for v in second], steps=20)
    assert found == pytest.approx(float(transport(law(first), law(second))), abs=1e-14)


def test_every_multiple_is_found_on_a_fine_lattice() -> None:
    for steps in (7, 10, 1000, 10**6):
        values = np.arange(steps + 1) / steps
        assert metrics.wasserstein1_lattice(first=values, second=values, steps=steps) == 0


# --- snapshot errors ------------------------------------------------------------------------------------------------

populations = st.lists(st.tuples(unit_fractions(8), decimals(1)), min_size=1, max_size=5)
inputs = st.lists(st.tuples(decimals(1), st.integers(0, 3)), min_size=1, max_size=6)


def bin_of(f: Fraction) -> int:
    return min(int(f * 10), 9)


@given(populations, inputs, st.sampled_from(["histogram", "reports"]), st.data())
def test_errors_by_definition(
    rows: list[tuple[Fraction, Fraction]], seen: list[tuple[Fraction, int]], fit: str, data: st.DataObject
) -> None:
    k = 3
    weights = data.draw(weights_of(len(rows)))
    mass = sum(weights)
    found = metrics.snapshot_errors(
        weight=weights,
        posterior=[q for q, _ in rows],
        report=[f for _, f in rows],
        k=k,
        calibration_report=[f for f, _ in seen],
        positives=[n for _, n in seen] if fit == "histogram" else None,
        fit=fit,
    )

    def share_law(p: Fraction) -> dict[Fraction, Fraction]:
        return {Fraction(j, k): math.comb(k, j) * p**j * (1 - p) ** (k - j) for j in range(k + 1)}

    def average(parts: list[tuple[Fraction, dict[Fraction, Fraction]]]) -> dict[Fraction, Fraction]:
        total = sum(w for w, _ in parts)
        out: dict[Fraction, Fraction] = {}
        for w, law in parts:
            for x, m in law.items():
                out[x] = out.get(x, Fraction(0)) + w * m / total
        return {x: m for x, m in out.items() if m}

    def fitted(chosen: list[tuple[Fraction, int]]) -> dict[Fraction, Fraction]:
        one = Fraction(1)
        return average([(one, share_law(f) if fit == "reports" else {Fraction(n, k): one}) for f, n in chosen])

    snapshot = higher = delta = covered = Fraction(0)
    for b in range(10):
        inside = [(w, q) for w, (q, f) in zip(weights, rows, strict=True) if w and bin_of(f) == b]
        if not inside:
            continue
        share = sum((w for w, _ in inside), Fraction(0)) / mass
        own = [row for row in seen if bin_of(row[0]) == b]
        law = fitted(own or seen)
        target = average([(w, share_law(q)) for w, q in inside])
        mixture = average([(w, {q: Fraction(1)}) for w, q in inside])
        snapshot += share * transport(law, target)
        higher += share * transport(law, mixture)
        delta += share * transport(target, mixture)
        covered += share if own else 0
    assert (found.snapshot_error, found.higher_order_error, found.delta) == (snapshot, higher, delta)
    assert found.covered_mass == covered
    assert abs(found.higher_order_error - found.delta) <= found.snapshot_error
    variance = sum(w * q * (1 - q) for w, (q, _) in zip(weights, rows, strict=True)) / mass
    assert found.delta**2 <= variance / k <= Fraction(1, 4 * k)


def one_bin(law: dict[Fraction, Fraction], k: int) -> metrics.SnapshotErrors:
    return metrics.snapshot_errors(
        weight=list(law.values()),
        posterior=list(law),
        report=["1/2"] * len(law),
        k=k,
        calibration_report=["1/2"],
        fit="reports",
    )


def test_all_posteriors_a_half() -> None:
    found = one_bin({HALF: Fraction(1)}, 2)
    assert found.delta == found.higher_order_error == Fraction(1, 4)
    assert found.snapshot_error == 0


def test_the_gap_to_the_mixture_may_rise_with_more_labels() -> None:
    law = {Fraction(17, 20): Fraction(2, 5), Fraction(1, 10): Fraction(3, 5)}
    assert one_bin(law, 1).delta == Fraction(3, 25)
    assert one_bin(law, 2).delta == Fraction(69, 400)


def test_positives_are_checked() -> None:
    base: dict[str, Any] = {
        "weight": [1],
        "posterior": ["0.5"],
        "report": ["0.5"],
        "calibration_report": ["0.5"],
    }
    wrong: list[Any] = [[3], [-1], [0, 1], None, [0.5]]
    for positives in wrong:
        with pytest.raises(metrics.InvalidArgument, match="positives"):
            metrics.snapshot_errors(**base, k=2, positives=positives)
    with pytest.raises(metrics.InvalidArgument, match="positives"):
        metrics.snapshot_errors(**base, k=2, positives=[1], fit="reports")


@pytest.mark.parametrize("k", [1, 2, 5])
def test_a_binomial_law_has_one_probability_for_each_count(k: int) -> None:
    fair = [sum(labels) for labels in product((0, 1), repeat=k)]
    wanted = tuple(Fraction(fair.count(count), len(fair)) for count in range(k + 1))
    assert snapshots.binomial_formula(k, Fraction(1, 2)) == wanted


def test_a_lattice_has_at_most_ten_million_steps() -> None:
    assert metrics.wasserstein1_lattice(first=[1.0], second=[0.0], steps=10**7) == 1
    with pytest.raises(metrics.InvalidArgument, match="steps"):
        metrics.wasserstein1_lattice(first=[1.0], second=[0.0], steps=10**7 + 1)
