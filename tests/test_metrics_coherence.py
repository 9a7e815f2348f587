"""Coherence: residuals on exact decimals, Fréchet's range by construction, the disagreement share."""

from __future__ import annotations

import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics import coherence
from metric_strategies import decimals, distributions, unit_fractions, weights_of

unit = st.one_of(unit_fractions(), decimals())


def test_all_pairs_of_two_decimals_exactly_a_tolerance_apart_pass() -> None:
    passed = 0
    for k in range(101):
        for other in (k - 2, k + 2):
            if 0 <= other <= 100:
                residual = metrics.pair_residual(first=k / 100, second=other / 100)
                passed += metrics.passes(residual, relation="repeat")
    assert passed == 198
    naive = sum(abs(k / 100 - (k + 2) / 100) <= 0.02 for k in range(99))
    assert naive < 99  # what doubles would have done


def test_tolerances_are_inclusive() -> None:
    assert metrics.passes(["0.05", "0.0500001"], relation="complement").tolist() == [True, False]
    assert metrics.passes([0.02, 0.021], relation="repeat").tolist() == [True, False]
    assert metrics.passes("0.1", relation="layout", tolerance="0.1") is True
    assert set(metrics.RELATIONS) == set(metrics.TOLERANCES)
    assert len(metrics.RELATIONS) == 10


@given(unit, unit, unit)
def test_residuals_of_scalars(a: Fraction, b: Fraction, c: Fraction) -> None:
    assert metrics.pair_residual(first=a, second=b) == max(a, b) - min(a, b)
    assert metrics.complement_residual(event=a, complement=b) == abs((a + b) - 1)
    assert metrics.product_residual(joint=a, conditional=b, condition=c) == abs(a - b * c)
    assert metrics.product_residual(joint=b * c, conditional=b, condition=c) == 0


@given(distributions(4), unit, st.lists(st.booleans(), min_size=4, max_size=4))
def test_coarsening(whole: tuple[Fraction, ...], event: Fraction, members: list[bool]) -> None:
    mass = sum((p for p, member in zip(whole, members, strict=True) if member), Fraction(0))
    found = metrics.coarsening_residual(event=event, canonical=whole, members=members)
    assert found == abs(event - mass)
    assert metrics.coarsening_residual(event=[mass], canonical=[whole], members=members).tolist() == [0]


@given(distributions(3), distributions(3))
def test_distributions_differ_by_total_variation(p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> None:
    largest = max(sum((p[k] - q[k] for k in range(3) if mask >> k & 1), Fraction(0)) for mask in range(8))
    assert metrics.distribution_residual(variant=p, canonical=q) == largest


@given(distributions(4))
def test_frechet_is_zero_for_every_joint_law(law: tuple[Fraction, ...]) -> None:
    both, only_a, only_b, _ = law
    assert metrics.frechet_residual(first=both + only_a, second=both + only_b, joint=both) == 0


@given(unit, unit, unit)
def test_frechet_is_zero_only_for_joint_laws(a: Fraction, b: Fraction, x: Fraction) -> None:
    cells = (x, a - x, b - x, 1 - a - b + x)
    residual = metrics.frechet_residual(first=a, second=b, joint=x)
    assert (residual == 0) == all(cell >= 0 for cell in cells)
    low, high = max(Fraction(0), a + b - 1), min(a, b)
    nearest = min(max(x, low), high)
    assert residual == abs(x - nearest)


@given(unit, unit, unit)
def test_disagreement_is_at_most_the_mean_error(p: Fraction, r: Fraction, q: Fraction) -> None:
    error = coherence.mean_pair_error_formula(p, r, q)
    half = coherence.difference_formula(p, r) / 2
    assert error >= half
    assert (error == half) == (min(p, r) <= q <= max(p, r))


@given(st.lists(st.tuples(unit, unit, unit), min_size=1, max_size=6), st.data())
def test_the_share_is_a_ratio_of_means(rows: list[tuple[Fraction, Fraction, Fraction]], data: st.DataObject) -> None:
    weights = data.draw(weights_of(len(rows)))
    p, r, q = ([row[i] for row in rows] for i in range(3))
    table = list(zip(rows, weights, strict=True))
    top = sum(w * abs(a - b) / 2 for (a, b, _), w in table)
    bottom = sum(w * (abs(a - c) + abs(b - c)) / 2 for (a, b, c), w in table)
    found = metrics.disagreement_share(first=p, second=r, target=q, weights=weights)
    if bottom == 0:
        assert isinstance(found, metrics.Undefined)
    else:
        assert found == top / bottom
        assert 0 <= top / bottom <= 1


@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=6))
def test_complement_sums(rows: list[tuple[Fraction, Fraction]]) -> None:
    sums = [a + b for a, b in rows]
    found = metrics.complement_sums(event=[a for a, _ in rows], complement=[b for _, b in rows])
    assert found.mean == sum(sums) / len(sums)
    assert found.median == statistics.median(sums)
    assert (found.low, found.high) == (min(sums), max(sums))
    assert found.above_one == Fraction(sum(s > 1 for s in sums), len(sums))
    assert found.above_three_halves == Fraction(sum(2 * s > 3 for s in sums), len(sums))
    assert found.below_half == Fraction(sum(2 * s < 1 for s in sums), len(sums))


def test_shapes_are_checked() -> None:
    with pytest.raises(metrics.InvalidArgument, match="members"):
        metrics.coarsening_residual(event="0.5", canonical=["0.5", "0.5"], members=[True])
    with pytest.raises(metrics.InvalidArgument, match="canonical"):
        metrics.coarsening_residual(event=["0.5"], canonical=["0.5", "0.5"], members=[True, False])
    with pytest.raises(metrics.InvalidArgument, match="canonical"):
        metrics.distribution_residual(variant=["0.5", "0.5"], canonical=["0.2", "0.3", "0.5"])
