"""W₁ between laws on one support, the triangle of snapshot errors, and how far k labels are from the posterior.

Claims F.triangle and F.snapshots. The distance is ∫|F − G|; at each point the triangle inequality of absolute values
holds, gaps are positive, and sums over points and bins keep it: so it holds for every finite support and every
weighted mean over bins. δ_k: in one bin the law of k labels and the posterior are mixtures, W₁ of mixtures is at most
the mixture of the W₁, and W₁ from the law of S/k to the point p is E|S/k − p| ≤ √Var(S/k) = √(p(1 − p)/k) ≤ 1/(2√k).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy

from exactworlds.metrics._ordering import absolute, total
from exactworlds.metrics.snapshots import binomial_formula, snapshot_errors, wasserstein1, wasserstein1_formula
from proofs.kit.algebra import difference_at, identical
from proofs.kit.reals import law, prove, refute, unit

HALF = Fraction(1, 2)


def laws(*vectors_and_gaps: Any) -> list[Any]:
    *vectors, gaps = vectors_and_gaps
    return [*law(*vectors), *[gap > 0 for gap in gaps]]


@pytest.mark.parametrize("points", [2, 3, 4])
def test_the_triangle_inequality(points: int) -> None:
    """|W(f, m) − W(t, m)| ≤ W(f, t) on any support of so many points: fitted, mixture, target."""

    def statement(f: Any, t: Any, m: Any, g: Any) -> list[Any]:
        higher, delta = wasserstein1_formula(f, m, g), wasserstein1_formula(t, m, g)
        return [higher - delta <= wasserstein1_formula(f, t, g), delta - higher <= wasserstein1_formula(f, t, g)]

    over = f"f[{points}] t[{points}] m[{points}] g[{points - 1}]"
    if points < 4:
        prove(statement, over, laws)
    even = [Fraction(1, points - 1)] * (points - 1)
    prove(
        lambda f, t, m: statement(f, t, m, even),
        f"f[{points}] t[{points}] m[{points}]",
        law,
    )


def test_the_triangle_inequality_over_bins() -> None:
    """Weighted means over two bins keep it, whatever the weights."""
    prove(
        lambda h, d, s, w: [
            absolute(total(w[b] * h[b] for b in range(2)) - total(w[b] * d[b] for b in range(2)))
            <= total(w[b] * s[b] for b in range(2))
        ],
        "h[2] d[2] s[2] w[2]",
        lambda h, d, s, w: [*law(w), *[x for b in range(2) for x in (h[b] - d[b] <= s[b], d[b] - h[b] <= s[b])]],
    )


def test_twin_the_distance_to_the_target_is_no_difference() -> None:
    """W(f, m) − W(t, m) is not W(f, t): the label gap δ_k is no additive component of the higher-order error."""

    def statement(f: Any, t: Any, m: Any, g: Any) -> Any:
        return wasserstein1_formula(f, m, g) - wasserstein1_formula(t, m, g) == wasserstein1_formula(f, t, g)

    refute(statement, "f[3] t[3] m[3] g[2]", laws)
    refute(
        lambda f, t, m, g: (
            wasserstein1_formula(f, m, g) <= (wasserstein1_formula(f, t, g) + wasserstein1_formula(t, m, g)) / 2
        ),
        "f[3] t[3] m[3] g[2]",
        laws,
    )


def test_all_posteriors_a_half_with_two_labels() -> None:
    """Bin(2, ½)/2 has mass ¼, ½, ¼ at 0, ½, 1: its distance from the point ½ is ¼, although a perfect fit has none."""
    assert binomial_formula(2, HALF) == (Fraction(1, 4), HALF, Fraction(1, 4))
    assert wasserstein1_formula(binomial_formula(2, HALF), (0, 1, 0), (HALF, HALF)) == Fraction(1, 4)
    found = snapshot_errors(
        weight=[1], posterior=["1/2"], report=["1/2"], k=2, calibration_report=["1/2"], fit="reports"
    )
    quarter = Fraction(1, 4)
    assert [found.snapshot_error, found.higher_order_error, found.delta] == [0, quarter, quarter]
    assert found.higher_order_error != found.snapshot_error + 2 * found.delta


def test_what_the_distance_is() -> None:
    """It is symmetric, 0 exactly for equal laws, the difference of means where one law lies above the other, and the
    mean distance to a point; scaling the support scales it."""

    def metric(f: Any, t: Any, g: Any) -> list[Any]:
        found = wasserstein1_formula(f, t, g)
        same = all(a == b for a, b in zip(f, t, strict=True))
        return [found == wasserstein1_formula(t, f, g), found == 0 if same else found > 0]

    def ordered(f: Any, t: Any, g: Any) -> Any:
        places = [0, g[0], g[0] + g[1]]
        gap = total(x * (b - a) for x, a, b in zip(places, f, t, strict=True))
        return wasserstein1_formula(f, t, g) == gap

    def to_a_point(f: Any, g: Any) -> list[Any]:
        places = [0 * g[0], g[0], g[0] + g[1]]
        return [
            wasserstein1_formula(f, [int(k == j) for k in range(3)], g)
            == total(mass * absolute(x - places[j]) for mass, x in zip(f, places, strict=True))
            for j in range(3)
        ]

    prove(metric, "f[3] t[3] g[2]", laws)
    prove(ordered, "f[3] t[3] g[2]", lambda f, t, g: [*laws(f, t, g), f[0] >= t[0], f[0] + f[1] >= t[0] + t[1]])
    prove(to_a_point, "f[3] g[2]", laws)


def test_twin_the_distance_is_not_always_the_difference_of_means() -> None:
    def statement(f: Any, t: Any, g: Any) -> Any:
        places = [0, g[0], g[0] + g[1]]
        return wasserstein1_formula(f, t, g) == absolute(
            total(x * (b - a) for x, a, b in zip(places, f, t, strict=True))
        )

    refute(statement, "f[3] t[3] g[2]", laws)


@pytest.mark.parametrize("labels", range(1, 9))
def test_the_law_of_the_number_of_positives(labels: int) -> None:
    """Bin(k, p) sums to 1, its share S/k has mean p and variance p(1 − p)/k."""
    p = sympy.Symbol("p")
    found = binomial_formula(labels, p)
    shares = [sympy.Rational(j, labels) for j in range(labels + 1)]
    identical(sum(found), 1)
    identical(sum(x * mass for x, mass in zip(shares, found, strict=True)), p)
    identical(sum((x - p) ** 2 * mass for x, mass in zip(shares, found, strict=True)), p * (1 - p) / labels)


def test_twin_the_variance_is_not_that_of_one_label() -> None:
    p = sympy.Symbol("p")
    found = binomial_formula(3, p)
    difference_at(sum((sympy.Rational(j, 3) - p) ** 2 * mass for j, mass in enumerate(found)), p * (1 - p))


def test_the_label_gap_is_at_most_its_bound() -> None:
    """(E|X|)² ≤ E X², p(1 − p)/k ≤ 1/(4k), and W₁ of mixtures is at most the mixture: so δ_k ≤ 1/(2√k)."""
    prove(
        lambda f, x: (
            total(f[i] * absolute(x[i]) for i in range(3)) * total(f[i] * absolute(x[i]) for i in range(3))
            <= total(f[i] * x[i] * x[i] for i in range(3))
        ),
        "f[3] x[3]",
        lambda f, x: law(f),
    )
    prove(lambda p: 4 * p * (1 - p) <= 1, "p")
    prove(
        lambda a, b, c, d, w, g: (
            wasserstein1_formula(
                [w[0] * x + w[1] * y for x, y in zip(a, b, strict=True)],
                [w[0] * x + w[1] * y for x, y in zip(c, d, strict=True)],
                g,
            )
            <= w[0] * wasserstein1_formula(a, c, g) + w[1] * wasserstein1_formula(b, d, g)
        ),
        "a[2] b[2] c[2] d[2] w[2] g[1]",
        lambda a, b, c, d, w, g: [*law(a, b, c, d, w), *[x > 0 for x in g]],
    )


@pytest.mark.parametrize("labels", [1, 2, 3, 4])
def test_the_label_gap_of_one_posterior(labels: int) -> None:
    """The same on the package's own binomial: 4k·(E|S/k − p|)² ≤ 1, attained at k = 1, p = ½."""

    def statement(p: Any) -> Any:
        mean = total(mass * absolute(Fraction(j, labels) - p) for j, mass in enumerate(binomial_formula(labels, p)))
        return 4 * labels * mean * mean <= 1

    prove(statement, "p", unit)


def test_twin_the_bound_is_attained_with_one_label() -> None:
    witness = refute(
        lambda p: 2 * total(mass * absolute(j - p) for j, mass in enumerate(binomial_formula(1, p))) < 1, "p", unit
    )
    assert witness["p"] == HALF


def gap(k: int) -> Fraction:
    return snapshot_errors(
        weight=["2/5", "3/5"],
        posterior=["17/20", "1/10"],
        report=["1/2", "1/2"],
        k=k,
        calibration_report=["1/2"],
        fit="reports",
    ).delta


def test_the_label_gap_may_rise_with_more_labels() -> None:
    """For 17/20 with mass 2/5 and 1/10 with mass 3/5 in one bin: δ₁ = 3/25 < δ₂ = 69/400."""
    assert gap(1) == Fraction(3, 25)
    assert gap(2) == Fraction(69, 400)
    assert gap(1) < gap(2) <= HALF


def test_twin_two_labels_are_not_always_further_than_one() -> None:
    one, two = (
        wasserstein1({Fraction(j, k): mass for j, mass in enumerate(binomial_formula(k, HALF))}, {HALF: 1})
        for k in (1, 2)
    )
    assert (one, two) == (HALF, Fraction(1, 4))
