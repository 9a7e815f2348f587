"""The boundary cases that the definitions list, one test each, exact and in floats."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from exactworlds import metrics


def test_nine_tenths_at_a_tenth_acts_with_no_headroom() -> None:
    for p, c in (("9/10", "1/10"), (0.9, 0.1)):
        assert metrics.actions_binary(report=p, cost=c) == metrics.YES
        assert metrics.headroom_binary(target=p, cost=c) == 0
        assert metrics.regret_binary(report=p, target=p, cost=c) == 0


def test_a_half_at_a_half_is_no() -> None:
    for p in ("1/2", 0.5):
        assert metrics.actions_binary(report=p, cost=p) == metrics.NO


def test_zero_and_two_thirds_at_a_third_average_to_no() -> None:
    acted = metrics.policy_actions(policy="mean", event=[0], choice=["2/3"], cost="1/3")
    assert acted.tolist() == [metrics.NO]


@pytest.mark.parametrize("q", ["0", "0.3", "1/7", "1"])
def test_elementary_scores_at_the_threshold_add_up_to_the_target(q: str) -> None:
    strict = metrics.elementary_score(report="1/10", target=q, theta="1/10", inclusive=False)
    inclusive = metrics.elementary_score(report="1/10", target=q, theta="9/10", inclusive=True)
    assert strict + inclusive == Fraction(q)


def test_a_clipped_report_of_zero_meets_a_target_of_a_thousandth() -> None:
    assert metrics.kl_nats_binary(report=0, target="0.001", clip=("0.001", "0.999")) == 0


def test_a_clipped_report_of_zero_misses_a_target_of_zero() -> None:
    exact = metrics.kl_nats_binary(report=0, target=0, clip=("0.001", "0.999"))
    assert exact == pytest.approx(-math.log(0.999), rel=1e-15)


def test_three_tenths_fall_into_bin_three_of_ten() -> None:
    for value in ("0.3", 0.3, Fraction(3, 10)):
        assert metrics.bin_index(value, bins=10) == 3


def test_an_error_above_a_half_gives_a_lower_bound_of_a_half() -> None:
    found = metrics.neighbour_estimate(["0.52"], k=1)
    assert (found.lower, found.saturated) == (0.5, True)
