"""Multicalibration error by brute force over the family, and what its bound promises."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics.witnesses import witness_formula
from metric_strategies import decimals, unit_fractions, weights_of

rows_with_levels = st.lists(
    st.tuples(decimals(1), decimals(1), st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=6
)
Row = tuple[Fraction, Fraction, str, str]
LEVELS = {"size": "ab", "kind": "xyz"}


def has(column: int, level: str, row: Row) -> bool:
    return row[column] == level


def groups_of(rows: list[tuple[Fraction, Fraction, str, str]]) -> dict[str, object]:
    columns = {"size": [r[2] for r in rows], "kind": [r[3] for r in rows]}
    return dict(metrics.attribute_groups(columns, levels=LEVELS))


@given(rows_with_levels, st.data())
def test_the_largest_witness_by_brute_force(
    rows: list[tuple[Fraction, Fraction, str, str]], data: st.DataObject
) -> None:
    weights = data.draw(weights_of(len(rows)))
    mass = sum(weights)
    groups = groups_of(rows)
    found = metrics.multicalibration_error(
        report=[r[0] for r in rows], outcome=[r[1] for r in rows], groups=groups, weights=weights
    )
    values: dict[tuple[str, tuple[Fraction, Fraction] | None], Fraction] = {}
    intervals = [None, *((Fraction(b, 10), Fraction(b + 1, 10)) for b in range(10))]
    members: dict[str, Callable[[Row], bool]] = {"everyone": lambda row: True}
    members |= {f"size={s}": partial(has, 2, s) for s in "ab"}
    members |= {f"kind={s}": partial(has, 3, s) for s in "xyz"}
    for (name, inside), interval in product(members.items(), intervals):
        total = Fraction(0)
        for row, w in zip(rows, weights, strict=True):
            in_bin = interval is None or interval[0] <= row[0] < interval[1] or (row[0] == 1 and interval[1] == 1)
            if inside(row) and in_bin:
                total += w * (row[1] - row[0])
        values[name, interval] = total / mass
    assert found.witnesses == len(values) == metrics.witness_count(LEVELS) == 66
    assert found.value == max(abs(v) for v in values.values())
    assert values[found.group, found.interval] == found.signed
    assert abs(found.signed) == found.value
    floats = metrics.multicalibration_error(
        report=[float(r[0]) for r in rows],
        outcome=[float(r[1]) for r in rows],
        groups=groups,
        weights=[float(w) for w in weights],
    )
    assert floats.value == pytest.approx(float(found.value), abs=1e-14)


@given(rows_with_levels)
def test_the_posterior_itself_has_no_error_in_the_population(
    rows: list[tuple[Fraction, Fraction, str, str]],
) -> None:
    same = [r[0] for r in rows]
    assert metrics.multicalibration_error(report=same, outcome=same, groups=groups_of(rows)).value == 0


def test_the_sample_error_at_the_posterior_is_positive_in_expectation() -> None:
    half = Fraction(1, 2)
    groups = {"everyone": [True, True]}
    drawn = [
        metrics.multicalibration_error(report=[half, half], outcome=list(labels), groups=groups).value
        for labels in product([0, 1], repeat=2)
    ]
    assert sum(drawn) / 4 == Fraction(1, 4)
    certain = metrics.multicalibration_error(report=[0, 1], outcome=[0, 1], groups=groups)
    assert certain.value == 0


def test_undeclared_levels_are_refused() -> None:
    with pytest.raises(metrics.InvalidArgument) as caught:
        metrics.attribute_groups({"size": ["a", "q"]}, levels={"size": "ab"})
    assert (caught.value.argument, caught.value.index) == ("attributes['size']", 1)


def test_the_hoeffding_bound() -> None:
    bound = metrics.hoeffding_bound(rows=800, witnesses=110, alpha="0.1")
    # P(|mean − its expectation| ≥ t) ≤ 2 exp(−2 n t² / (1 − (−1))²) for each witness; together they use up α
    assert 110 * 2 * math.exp(-2 * 800 * bound**2 / 4) == pytest.approx(0.1)


@given(
    st.lists(st.tuples(unit_fractions(), unit_fractions(), st.booleans(), st.integers(1, 3)), min_size=1, max_size=5)
)
def test_a_weighted_witness_is_a_mean_over_repeated_rows(rows: list[tuple[Fraction, Fraction, bool, int]]) -> None:
    f, y, inside, w = (list(column) for column in zip(*rows, strict=True))
    repeated = [(y - f) if member else Fraction(0) for f, y, member, weight in rows for _ in range(weight)]
    found = witness_formula(f, y, inside, [Fraction(weight) for weight in w])
    assert found == sum(repeated, Fraction(0)) / len(repeated)


def test_one_row_of_three_quarters_is_a_witness_of_a_quarter() -> None:
    half, three = Fraction(1, 2), Fraction(3, 4)
    assert witness_formula([half, half], [three, half], [True, False], [Fraction(3), Fraction(1)]) == Fraction(3, 16)
