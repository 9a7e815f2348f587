"""Reports as accurate as one likes on which averaging loses to drawing one of them (D.accurate-harm, P2 App. Q)."""

from __future__ import annotations

from typing import Any

from exactworlds.metrics.coherence import difference_formula
from exactworlds.metrics.policies import (
    accurate_harm_formula,
    mean_minus_random_formula,
    policy_loss_formula,
)
from proofs.kit.reals import costs, prove, reachable, refute, unit


def domain(c: Any, e: Any) -> list[Any]:
    """0 < c < ½ and 0 < e < min(c/4, 1 − 2c)."""
    return [*costs(c), e > 0, 4 * e < c, e < 1 - 2 * c]


def mean_loss(policy: str, c: Any, e: Any) -> Any:
    """Over the two roots, each with weight ½."""
    first, second = accurate_harm_formula(c, e)
    return (policy_loss_formula(policy, *first, c) + policy_loss_formula(policy, *second, c)) / 2


def test_random_beats_mean_and_both_beat_deferring() -> None:
    """Random < Mean < c, and Mean − Random = e/4, for every cost and every e."""

    def statement(c: Any, e: Any) -> list[Any]:
        random, mean, never = (mean_loss(policy, c, e) for policy in ("random", "mean", "defer"))
        return [random < mean, mean < never, never == c, 4 * (mean - random) == e]

    prove(statement, "c e", domain)


def test_every_report_is_accurate() -> None:
    """Reports and targets are probabilities, no report is further than 4e from its target, one is, and one root has
    reports that differ."""

    def statement(c: Any, e: Any) -> list[Any]:
        (p, r, q), (s, t, u) = accurate_harm_formula(c, e)
        errors = [
            difference_formula(p, q),
            difference_formula(r, q),
            difference_formula(s, u),
            difference_formula(t, u),
        ]
        return [*unit(p, r, q, s, t, u), *[error <= 4 * e for error in errors], errors[1] == 4 * e, p == q, s == t]

    prove(statement, "c e", domain)


def test_twin_the_bound_on_e_is_needed() -> None:
    """Beyond it (here only e < 1 − 2c is kept) Mean < c or a probability fails."""

    def statement(c: Any, e: Any) -> list[Any]:
        (_, r, _), _ = accurate_harm_formula(c, e)
        return [mean_loss("mean", c, e) < c, r <= 1]

    refute(statement, "c e", lambda c, e: [*costs(c), e > 0, e < 1 - 2 * c])


def test_twin_the_errors_are_not_three_times_e() -> None:
    refute(
        lambda c, e: difference_formula(accurate_harm_formula(c, e)[0][1], accurate_harm_formula(c, e)[0][2]) <= 3 * e,
        "c e",
        domain,
    )


def test_one_root_alone_never_does_it() -> None:
    """On a single root Mean < c and Random < Mean exclude each other, for every pair of reports, target and cost."""

    def statement(p: Any, r: Any, q: Any, c: Any) -> Any:
        mean = policy_loss_formula("mean", p, r, q, c)
        return not (mean < c and policy_loss_formula("random", p, r, q, c) < mean)

    prove(statement, "p r q c", lambda p, r, q, c: [*unit(p, r, q), *costs(c)])


def test_twin_one_root_can_have_each_of_the_two() -> None:
    """Averaging can harm one root, and Mean can beat deferring there: only both together are impossible."""

    def both(p: Any, r: Any, q: Any, c: Any) -> list[Any]:
        return [*unit(p, r, q), *costs(c)]

    refute(lambda p, r, q, c: mean_minus_random_formula(p, r, q, c) <= 0, "p r q c", both)
    refute(lambda p, r, q, c: policy_loss_formula("mean", p, r, q, c) >= c, "p r q c", both)
    assert reachable("c e", domain)["c"] > 0
