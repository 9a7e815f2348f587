"""Bootstrap: every replicate recomputed root by root from the same draws, and the draws themselves."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.metrics import bootstrap

INF = math.inf
values_with_gaps = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(-3, 3), st.integers(0, 3), st.booleans()),
    min_size=1,
    max_size=9,
)


def replicates(strata: list[str], many: int, seed: int) -> list[list[int]]:
    return [
        list(map(int, row)) for block in metrics.resample_counts(strata, replicates=many, seed=seed) for row in block
    ]


def one_replicate(
    strata: list[str], counts: list[int], valid: list[bool], top: list[float], bottom: list[float] | None
) -> tuple[float | None, bool]:
    """The weighted mean or ratio of one draw, in Fractions, and whether a stratum was left out."""
    drawn = [i for i, n in enumerate(counts) for _ in range(n) if valid[i]]
    if not drawn:
        return None, True
    names = {strata[i] for i in drawn}
    weight = {i: Fraction(1, len(names) * sum(strata[j] == strata[i] for j in drawn)) for i in drawn}
    below = sum(weight[i] * Fraction(bottom[i] if bottom else 1) for i in drawn)
    infinite = {top[i] for i in drawn if math.isinf(top[i])}
    left_out = names != set(strata)
    if below == 0 or len(infinite) == 2:
        return None, left_out
    if infinite:
        return infinite.pop(), left_out
    return float(sum(weight[i] * Fraction(top[i]) for i in drawn) / below), left_out


def check(
    found: metrics.BootstrapInterval,
    strata: list[str],
    draws: list[list[int]],
    valid: list[bool],
    *,
    top: list[float],
    bottom: list[float] | None = None,
) -> None:
    results = [one_replicate(strata, counts, valid, top, bottom) for counts in draws]
    kept = sorted(value for value, _ in results if value is not None)
    assert (found.used, found.dropped) == (len(kept), len(draws) - len(kept))
    assert found.strata_left_out == sum(left and value is not None for value, left in results)
    whole, _ = one_replicate(strata, [1] * len(strata), valid, top, bottom)
    if whole is None:
        assert isinstance(found.estimate, metrics.Undefined)
    else:
        assert found.estimate == pytest.approx(whole, abs=1e-12)
    if not kept:
        assert isinstance(found.low, metrics.Undefined)
        assert isinstance(found.high, metrics.Undefined)
        return
    for end, share in ((found.low, Fraction(1, 40)), (found.high, Fraction(39, 40))):
        place = share * (len(kept) - 1)
        low, high = kept[math.floor(place)], kept[math.ceil(place)]
        if math.isinf(low) or math.isinf(high):
            expected = low if share < Fraction(1, 2) else high
        else:
            expected = low + (high - low) * float(place - math.floor(place))
        assert end == pytest.approx(expected, abs=1e-12)


@given(values_with_gaps, st.integers(0, 2**64 - 1), st.data())
def test_every_replicate_by_gathering_roots(
    rows: list[tuple[str, int, int, bool]], seed: int, data: st.DataObject
) -> None:
    strata = [r[0] for r in rows]
    valid = [r[3] for r in rows]
    top, bottom = [float(r[1]) for r in rows], [float(r[2]) for r in rows]
    infinite = data.draw(st.lists(st.sampled_from([0.0, 0.0, INF, -INF]), min_size=len(rows), max_size=len(rows)))
    odd = [a + b for a, b in zip(top, infinite, strict=True)]
    found = metrics.paired_bootstrap(
        {
            "mean": metrics.mean_statistic(top, valid=valid),
            "all": metrics.mean_statistic(top),
            "ratio": metrics.ratio_statistic(numerator=top, denominator=bottom, valid=valid),
            "infinite": metrics.mean_statistic(odd, valid=valid),
        },
        strata=strata,
        replicates=23,
        seed=seed,
    )
    draws = replicates(strata, 23, seed)
    every = [True] * len(rows)
    check(found["mean"], strata, draws, valid, top=top)
    check(found["all"], strata, draws, every, top=top)
    check(found["ratio"], strata, draws, valid, top=top, bottom=bottom)
    check(found["infinite"], strata, draws, valid, top=odd)
    assert {f.support for f in found.values()} == {"intended"}


@given(values_with_gaps.filter(lambda rows: any(r[3] for r in rows)), st.integers(0, 2**32))
def test_paired_support_draws_valid_roots_only(rows: list[tuple[str, int, int, bool]], seed: int) -> None:
    strata, top, valid = [r[0] for r in rows], [float(r[1]) for r in rows], [r[3] for r in rows]
    statistic = metrics.mean_statistic(top, valid=valid)
    found = metrics.paired_bootstrap({"x": statistic}, strata=strata, replicates=11, seed=seed, support="paired")["x"]
    kept = [i for i, ok in enumerate(valid) if ok]
    inside = [strata[i] for i in kept]
    alone = metrics.mean_statistic([top[i] for i in kept])
    same = metrics.paired_bootstrap({"x": alone}, strata=inside, replicates=11, seed=seed)["x"]
    assert (found.estimate, found.low, found.high, found.dropped) == (same.estimate, same.low, same.high, 0)
    assert (found.support, same.support) == ("paired", "intended")


def test_the_two_supports_differ() -> None:
    values = metrics.mean_statistic([0.0, 1.0, 5.0, 2.0], valid=[True, True, False, False])
    strata = ["a", "a", "a", "b"]
    intended, paired = (
        metrics.paired_bootstrap({"x": values}, strata=strata, replicates=400, seed=5, support=support)["x"]
        for support in ("intended", "paired")
    )
    assert intended.estimate == paired.estimate == 0.5
    assert intended.dropped > 0 == paired.dropped
    assert intended.strata_left_out == intended.used


# --- draws ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=12), st.integers(0, 2**64 - 1), st.integers(1, 7))
def test_draws_keep_the_strata_and_ignore_the_block_size(strata: list[str], seed: int, block: int) -> None:
    whole = np.concatenate(list(metrics.resample_counts(strata, replicates=9, seed=seed)))
    cut = np.concatenate(list(metrics.resample_counts(strata, replicates=9, seed=seed, block=block)))
    assert (whole == cut).all()
    for name in set(strata):
        own = [i for i, s in enumerate(strata) if s == name]
        assert (whole[:, own].sum(axis=1) == len(own)).all()


def test_draws_are_pinned() -> None:
    """The stream is a promise: a release that changes it changes every published interval."""
    (block,) = metrics.resample_counts(["a"] * 5 + ["b"] * 2, replicates=3, seed=metrics.SEEDS["primary"])
    stream = np.random.Philox(key=np.array([metrics.SEEDS["primary"], 0], dtype=np.uint64)).random_raw(9)
    for k in range(3):
        halves = [int(half) for word in stream[3 * k : 3 * k + 3] for half in (word & 0xFFFFFFFF, word >> 32)]
        picked = [half * 5 >> 32 for half in halves[:5]]
        assert block[k, :5].tolist() == [picked.count(i) for i in range(5)]
    assert block.tolist() == [[2, 1, 0, 1, 1, 1, 1], [3, 0, 2, 0, 0, 1, 1], [1, 0, 2, 0, 2, 1, 1]]


def test_every_root_is_drawn_equally_often() -> None:
    counts = sum(block.sum(axis=0) for block in metrics.resample_counts(["a"] * 7, replicates=40_000, seed=1))
    spread = math.sqrt(40_000 * 7 * (1 / 7) * (6 / 7))
    assert np.abs(counts - 40_000).max() < 4 * spread


def test_a_ratio_may_have_a_negative_denominator() -> None:
    ratio = metrics.ratio_statistic(numerator=[1.0, 1.0, 3.0], denominator=[-2.0, -2.0, -6.0])
    found = metrics.paired_bootstrap({"ratio": ratio}, strata=["a", "a", "a"], replicates=20, seed=1)["ratio"]
    assert (found.estimate, found.low, found.high, found.dropped) == (-0.5, -0.5, -0.5, 0)


def test_seeds_of_their_own() -> None:
    seeds = {
        metrics.derived_seed(base, metric=metric, configuration=configuration)
        for base in metrics.BASE_SEEDS
        for metric in ("regret", "coverage")
        for configuration in ("a", "b")
    }
    assert len(seeds) == 8
    digest = hashlib.sha256(b"1/m/c").hexdigest()
    assert metrics.derived_seed(1, metric="m", configuration="c") == int(digest[:16], 16)


# --- intervals ------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200))
def test_positions_are_those_of_linear_percentiles(values: list[float]) -> None:
    low, high = metrics.percentile_interval(values)
    expected = np.percentile(values, [2.5, 97.5], method="linear")
    assert (low, high) == pytest.approx(tuple(expected), abs=1e-6)


def test_an_infinite_neighbour_gives_the_outer_one() -> None:
    finite = [float(k) for k in range(60)]  # positions 1.475 and 57.525 of 60 values
    assert metrics.percentile_interval(finite) == pytest.approx((1.475, 57.525))
    assert metrics.percentile_interval([-INF, -INF, *finite[2:]])[0] == -INF
    assert metrics.percentile_interval([-INF, *finite[1:]])[0] == pytest.approx(1.475)
    assert metrics.percentile_interval([*finite[:58], INF, INF])[1] == INF
    assert metrics.percentile_interval([*finite[:59], INF])[1] == pytest.approx(57.525)
    assert metrics.percentile_interval([-INF] * 41) == (-INF, -INF)
    assert metrics.percentile_interval([*[float(k) for k in range(40)], INF]) == (1.0, 39.0)
    assert metrics.percentile_interval([2.0, INF, INF, INF])[0] == 2.0
    exact = bootstrap.percentile_formula([Fraction(k) for k in range(60)], part=1, of=40, upper=False)
    assert exact == Fraction(59, 40)


def test_any_statistic_of_the_counts() -> None:
    scores, strata = [0.1, 0.4, 0.4, 0.9], ["a", "a", "b", "b"]
    positive = [True, False, True, False]

    def area(counts: Any) -> float | metrics.Undefined:
        return metrics.area_under_curve(score=scores, positive=positive, weights=counts)

    found = metrics.bootstrap_function(area, strata=strata, replicates=200, seed=2)
    draws = replicates(strata, 200, 2)
    kept = [v for v in (area(np.array(c)) for c in draws) if not isinstance(v, metrics.Undefined)]
    assert (found.used, found.dropped) == (len(kept), 200 - len(kept))
    assert found.dropped > 0
    assert (found.low, found.high) == metrics.percentile_interval(kept)
    assert found.estimate == area(np.ones(4, dtype=int)) == 0.125
    with pytest.raises(metrics.InvalidArgument):
        metrics.bootstrap_function(lambda counts: math.nan, strata=strata, replicates=2, seed=2)


def test_the_mean_of_replicates_is_near_the_estimate_and_their_spread_is_the_known_one() -> None:
    rng = np.random.default_rng(4)
    values, strata = rng.normal(size=400), ["a"] * 100 + ["b"] * 300
    found = metrics.paired_bootstrap({"x": metrics.mean_statistic(values)}, strata=strata, seed=9)["x"]
    parts = [values[:100], values[100:]]
    error = math.sqrt(sum(part.var() / len(part) for part in parts)) / 2
    centre = sum(part.mean() for part in parts) / 2
    assert found.estimate == pytest.approx(centre)
    assert found.low == pytest.approx(centre - 1.96 * error, abs=0.15 * error)
    assert found.high == pytest.approx(centre + 1.96 * error, abs=0.15 * error)
