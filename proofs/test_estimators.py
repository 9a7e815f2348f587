"""Means, bins, ranks and bounds: what each estimator is, over rows with any weights.

Claims conventions.weights, F.ece, F.multicalibration, F.frontier, E.selective, E.bootstrap, D.coverage. Few rows are
enough: each formula is a sum over rows or pairs, and more rows repeat the same terms.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy

from exactworlds.metrics._ordering import absolute, larger, smaller, total
from exactworlds.metrics.bootstrap import percentile_formula
from exactworlds.metrics.calibration import bin_index_formula, equal_frequency_formula, fixed_bins_formula
from exactworlds.metrics.means import stratum_weight_formula, weighted_mean_formula
from exactworlds.metrics.selection import (
    auroc_formula,
    dominates_formula,
    retention_formula,
    selective_loss_formula,
)
from exactworlds.metrics.shares import share_formula
from exactworlds.metrics.witnesses import hoeffding_formula, witness_formula
from proofs.kit.algebra import identical
from proofs.kit.reals import prove, refute, unit

HALF = Fraction(1, 2)


def positive(*values: Any) -> list[Any]:
    return [value > 0 for value in values]


# --- means ----------------------------------------------------------------------------------------------------------


def test_the_weighted_mean_is_the_balance_point() -> None:
    """It lies between the least and the largest value, and Σ w (v − mean) = 0; a share is the mean of 1 and 0."""

    def statement(v: Any, w: Any) -> list[Any]:
        mean = weighted_mean_formula(v, w)
        return [
            total(b * (a - mean) for a, b in zip(v, w, strict=True)) == 0,
            mean >= smaller(smaller(v[0], v[1]), v[2]),
            mean <= larger(larger(v[0], v[1]), v[2]),
        ]

    prove(statement, "v[3] w[3]", lambda v, w: positive(*w))
    for hits in product((True, False), repeat=3):
        prove(
            lambda w, hits=hits: share_formula(hits, w) == weighted_mean_formula([int(hit) for hit in hits], w),
            "w[3]",
            lambda w: positive(*w),
        )


def test_twin_the_weighted_mean_is_not_the_plain_mean() -> None:
    refute(lambda v, w: 2 * weighted_mean_formula(v, w) == v[0] + v[1], "v[2] w[2]", lambda v, w: positive(*w))
    refute(lambda w: share_formula([True, False], w) == HALF, "w[2]", lambda w: positive(*w))


def test_stratum_weights_give_each_stratum_the_same() -> None:
    """n roots of weight 1/(H n) weigh 1/H, and H strata 1."""
    prove(
        lambda h, n: [n * stratum_weight_formula(h, n) == 1 / h, h * n * stratum_weight_formula(h, n) == 1],
        "h n",
        lambda h, n: [h >= 1, n >= 1],
    )


def test_twin_stratum_weights_are_not_equal_across_strata() -> None:
    refute(
        lambda h, n, m: stratum_weight_formula(h, n) == stratum_weight_formula(h, m),
        "h n m",
        lambda h, n, m: [h >= 1, n >= 1, m >= 1],
    )


@pytest.mark.parametrize(("part", "of"), [(1, 40), (39, 40), (1, 8), (1, 2), (0, 1), (1, 1)])
def test_a_percentile_is_linear_between_neighbours(part: int, of: int) -> None:
    """Of a + k·b, k = 0 … 4, the percentile is the one at position 4·part/of; upper and lower agree without
    infinities, and no value lies outside its neighbours."""
    position = Fraction(4 * part, of)

    def statement(a: Any, b: Any) -> list[Any]:
        ordered = [a + k * b for k in range(5)]
        found = [percentile_formula(ordered, part=part, of=of, upper=upper) for upper in (True, False)]
        return [found[0] == a + position * b, found[0] == found[1]]

    def between(x: Any) -> list[Any]:
        found = percentile_formula(x, part=part, of=of, upper=False)
        low = position.__floor__()
        return [found >= x[low], found <= x[min(low + 1, 4)]]

    prove(statement, "a b")
    prove(between, "x[5]", lambda x: [x[k] <= x[k + 1] for k in range(4)])


def test_a_percentile_beside_an_infinity_is_the_outer_neighbour() -> None:
    """Between −∞ and a number, or a number and +∞, an upper end is the higher and a lower end the lower of the two."""
    below: list[Any] = [-math.inf, *map(Fraction, range(4))]
    above: list[Any] = [*map(Fraction, range(4)), math.inf]
    assert percentile_formula(below, part=1, of=8, upper=False) == -math.inf
    assert percentile_formula(below, part=1, of=8, upper=True) == 0
    assert percentile_formula(above, part=7, of=8, upper=False) == 3
    assert percentile_formula(above, part=7, of=8, upper=True) == math.inf
    assert percentile_formula(above, part=1, of=2, upper=True) == 2


def test_twin_a_percentile_is_not_the_lower_neighbour() -> None:
    refute(
        lambda x: percentile_formula(x, part=1, of=8, upper=True) == x[0],
        "x[5]",
        lambda x: [x[k] <= x[k + 1] for k in range(4)],
    )


# --- calibration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [2, 10, 15])
def test_bins_are_closed_below_and_the_last_one_above(bins: int) -> None:
    """b/B ≤ v < (b + 1)/B, and v = 1 in the last bin."""

    def statement(v: Any) -> list[Any]:
        found = bin_index_formula(v, bins)
        return [v * bins >= found, v * bins < found + 1 if found < bins - 1 else v <= 1]

    assert prove(statement, "v", unit) == bins


def test_twin_an_edge_does_not_belong_below() -> None:
    witness = refute(lambda v: v * 10 <= bin_index_formula(v, 10) + 1 if v * 10 != 3 else v > 1, "v", unit)
    assert bin_index_formula(witness["v"], 10) == 3


def rows(v: Any, a: Any, w: Any) -> list[Any]:
    return [*unit(*v, *a), *positive(*w)]


def test_the_calibration_error_of_fixed_bins() -> None:
    """Over two bins: residuals of one bin are added before their size is taken, those of two bins after; 0 where
    every accuracy is its confidence."""

    def statement(v: Any, a: Any, w: Any) -> list[Any]:
        residuals = [y * (x - z) for x, z, y in zip(v, a, w, strict=True)]
        upper = [bool(x >= HALF) for x in v]
        sums = [total(r for r, up in zip(residuals, upper, strict=True) if up == side) for side in (False, True)]
        sizes = total(absolute(0 * w[0] + found) for found in sums)
        return [fixed_bins_formula(v, a, w, 2) * total(w) == sizes, fixed_bins_formula(v, v, w, 2) == 0]

    prove(statement, "v[3] a[3] w[3]", rows)


@pytest.mark.parametrize("bins", [1, 2])
def test_the_exact_mass_error_is_at_most_the_expected_label_error(bins: int) -> None:
    """E over the labels of two rows, each 1 with probability a: the mean of a size is at least the size of the mean."""

    def statement(v: Any, a: Any) -> Any:
        expected = total(
            (a[0] if one else 1 - a[0]) * (a[1] if two else 1 - a[1]) * fixed_bins_formula(v, [one, two], [1, 1], bins)
            for one, two in product((1, 0), repeat=2)
        )
        return fixed_bins_formula(v, a, [1, 1], bins) <= expected

    prove(statement, "v[2] a[2]", lambda v, a: unit(*v, *a))


def test_twin_the_label_error_is_not_zero_for_the_truth() -> None:
    """A calibrated report has an expected label error above 0."""
    refute(
        lambda a: total((a if label else 1 - a) * fixed_bins_formula([a], [label], [1], 2) for label in (1, 0)) == 0,
        "a",
        unit,
    )


def test_the_calibration_error_of_equal_frequency_bins() -> None:
    """Two bins, two confidences in either order of rows: the heavier one is cut where half of the weight is reached,
    and its parts have its mean residual; equal confidences are one block, cut in halves."""

    def statement(v: Any, a: Any, w: Any) -> Any:
        mass = total(w)
        found = equal_frequency_formula(v, a, w, 2) * mass
        if v[0] == v[1]:
            return found == absolute(total(y * (x - z) for x, z, y in zip(v, a, w, strict=True)))
        first, second = (0, 1) if v[0] < v[1] else (1, 0)
        residual = [v[k] - a[k] for k in (first, second)]
        half = mass / 2
        inside = smaller(w[first], half)
        below = inside * residual[0] + (half - inside) * residual[1]
        above = (w[first] - inside) * residual[0] + (w[second] - (half - inside)) * residual[1]
        return found == absolute(below) + absolute(above)

    prove(statement, "v[2] a[2] w[2]", rows)


def test_twin_equal_frequency_bins_are_not_fixed_bins() -> None:
    refute(
        lambda v, a, w: equal_frequency_formula(v, a, w, 2) == fixed_bins_formula(v, a, w, 2), "v[2] a[2] w[2]", rows
    )


# --- witnesses ------------------------------------------------------------------------------------------------------


def test_a_witness_is_a_part_of_the_mean_residual() -> None:
    """Everyone: mean outcome minus mean report. Two groups that divide everyone add up to it; 0 where f = y."""

    def statement(f: Any, y: Any, w: Any) -> list[Any]:
        everyone = witness_formula(f, y, [True] * 3, w)
        parts = [witness_formula(f, y, inside, w) for inside in ([True, False, True], [False, True, False])]
        return [
            everyone == weighted_mean_formula(y, w) - weighted_mean_formula(f, w),
            parts[0] + parts[1] == everyone,
            parts[1] * total(w) == w[1] * (y[1] - f[1]),
            witness_formula(f, f, [True] * 3, w) == 0,
        ]

    prove(statement, "f[3] y[3] w[3]", rows)


def test_twin_a_witness_is_no_mean_within_its_group() -> None:
    refute(lambda f, y, w: witness_formula(f, y, [True, False], w) == y[0] - f[0], "f[2] y[2] w[2]", rows)


def test_the_hoeffding_bound_spends_alpha_on_all_witnesses() -> None:
    """A mean of n terms in [−1, 1] is t away with probability at most 2 exp(−n t²/2); at the bound, |W| times that
    is α."""
    n, family, alpha = sympy.symbols("n W a", positive=True)
    bound = hoeffding_formula(n, family, alpha, log=sympy.log, sqrt=sympy.sqrt)
    assert sympy.simplify(family * 2 * sympy.exp(-n * bound**2 / 2) - alpha) == 0
    assert sympy.simplify(family * 2 * sympy.exp(-2 * n * bound**2) - alpha) != 0
    identical(bound**2 * n / sympy.log(2 * family / alpha), 2)


# --- selection ------------------------------------------------------------------------------------------------------


def test_the_area_is_the_chance_that_a_positive_ranks_higher() -> None:
    """One pair gives 1, ½ or 0; more pairs the weighted mean of theirs; turning the scores around, the rest to 1."""

    def pair(s: Any, t: Any) -> Any:
        return auroc_formula([s, t], [True, False], [Fraction(1)] * 2)

    def single(s: Any, w: Any) -> list[Any]:
        found = auroc_formula(s, [True, False], w)
        return [found == (1 if s[0] > s[1] else HALF if s[0] == s[1] else 0)]

    def many(s: Any, w: Any) -> Any:
        found = auroc_formula(s, [True, False, True, False], w)
        mean = total(w[i] * w[j] * pair(s[i], s[j]) for i in (0, 2) for j in (1, 3))
        return found * (w[0] + w[2]) * (w[1] + w[3]) == mean

    prove(single, "s[2] w[2]", lambda s, w: positive(*w))
    prove(many, "s[4] w[4]", lambda s, w: positive(*w))


def test_twin_a_tie_does_not_count_as_higher() -> None:
    witness = refute(lambda s: auroc_formula(s, [True, False], [Fraction(1)] * 2) == (1 if s[0] >= s[1] else 0), "s[2]")
    assert witness["s"][0] == witness["s"][1]


def test_retention_keeps_the_lowest_scores_first() -> None:
    """The kept weight is what was asked for, equal scores are kept in equal shares, and none is kept above one that is
    not kept whole. A root without weight takes none: it is kept as soon as all below it are."""

    def statement(s: Any, w: Any, r: Any) -> list[Any]:
        kept = retention_formula(s, w, r)
        goals: list[Any] = [total(k * x for k, x in zip(kept, w, strict=True)) == r]
        for i, j in product(range(3), repeat=2):
            if s[i] < s[j]:
                goals.append(kept[j] == 0 if kept[i] < 1 else kept[i] == 1)
            elif s[i] == s[j]:
                goals.append(kept[i] == kept[j])
        return [*goals, *unit(*kept)]

    def without_weight(s: Any, w: Any, r: Any) -> Any:
        return retention_formula(s, [w, 0 * w], r)[1] == (1 if r >= w else 0)

    prove(statement, "s[3] w[3] r", lambda s, w, r: [*positive(*w), r >= 0, r <= w[0] + w[1] + w[2]])
    prove(without_weight, "s[2] w r", lambda s, w, r: [s[0] < s[1], w > 0, r >= 0, r <= w])


def test_twin_retention_does_not_keep_whole_roots_only() -> None:
    refute(
        lambda s, w, r: all(k * (1 - k) == 0 for k in retention_formula(s, w, r)),
        "s[2] w[2] r",
        lambda s, w, r: [*positive(*w), r >= 0, r <= w[0] + w[1]],
    )


def test_the_selective_loss_defers_what_is_not_kept() -> None:
    """The mean loss where everything is kept, c where nothing is, and linear in between root by root."""

    def statement(x: Any, k: Any, w: Any, c: Any) -> list[Any]:
        found = selective_loss_formula(x, k, w, c)
        parts = [k[i] * x[i] + (1 - k[i]) * c for i in range(2)]
        return [
            selective_loss_formula(x, [1, 1], w, c) == weighted_mean_formula(x, w),
            selective_loss_formula(x, [0, 0], w, c) == c,
            found == weighted_mean_formula(parts, w),
        ]

    prove(statement, "x[2] k[2] w[2] c", lambda x, k, w, c: [*unit(*x, *k), *positive(*w), *unit(c)])


def test_twin_the_selective_loss_is_no_mean_over_what_is_kept() -> None:
    refute(
        lambda x, k, w, c: (
            selective_loss_formula(x, k, w, c) * total(k) == total(a * b for a, b in zip(x, k, strict=True))
        ),
        "x[2] k[2] w[2] c",
        lambda x, k, w, c: [*unit(*x, *k), *positive(*w), *unit(c)],
    )


def test_domination_is_a_strict_order() -> None:
    """No point dominates itself, none is dominated by what it dominates, and domination is transitive; so the points
    that stay are never empty, and equal points stay together."""

    def statement(a: Any, b: Any, c: Any) -> list[Any]:
        ab, ba, bc, ac = (dominates_formula(*x, *y) for x, y in ((a, b), (b, a), (b, c), (a, c)))
        at_most = bool(a[0] <= b[0] and a[1] <= b[1])
        equal = bool(a[0] == b[0] and a[1] == b[1])
        return [not dominates_formula(*a, *a), not (ab and ba), not (ab and bc) or ac, ab == (at_most and not equal)]

    prove(statement, "a[2] b[2] c[2]")


def test_twin_domination_is_not_total() -> None:
    witness = refute(lambda a, b: dominates_formula(*a, *b) or dominates_formula(*b, *a), "a[2] b[2]")
    assert not dominates_formula(*witness["b"], *witness["a"])
