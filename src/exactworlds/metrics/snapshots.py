"""Snapshot calibration: what a report's bin says about the law of several labels drawn on one input.

In each bin of the report, the target is the law of the share of positives among k labels; a histogram fit of
such shares is compared with it, and with the mixture of the posteriors behind it, in Wasserstein-1 distance.
Everything is exact: laws are mappings from Fractions to Fractions. `wasserstein1_lattice` is the fast path
for samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    as_fraction,
    as_weights,
    check_choice,
    check_count,
    check_probability,
    check_same_shape,
    one_dimensional,
    read_exact,
)
from exactworlds.metrics._ordering import Real, absolute, total
from exactworlds.metrics.calibration import bin_index_formula

__all__ = [
    "Law",
    "SnapshotBin",
    "SnapshotErrors",
    "binomial_formula",
    "binomial_share_law",
    "mixture_law",
    "snapshot_errors",
    "wasserstein1",
    "wasserstein1_formula",
    "wasserstein1_lattice",
]

Law = Mapping[Fraction, Fraction]
"""A law with finite support: value → probability."""

SNAPSHOT_BINS = 10
"""Equal-width bins of the report."""


# --- laws and their distance ----------------------------------------------------------------------------------------


def wasserstein1_formula(first: Sequence[Real], second: Sequence[Real], gaps: Sequence[Real]) -> Real:
    """∫ |F − G| for two laws on one increasing support of K points with K − 1 `gaps` between them.

    Proof: proofs/test_snapshots.py::test_the_triangle_inequality
    Proof: proofs/test_snapshots.py::test_the_triangle_inequality_over_bins
    Proof: proofs/test_snapshots.py::test_what_the_distance_is
    """
    distance: Real = 0
    difference: Real = 0
    for p, q, gap in zip(first[:-1], second[:-1], gaps, strict=True):
        difference = difference + (p - q)
        distance = distance + gap * absolute(difference)
    return distance


def wasserstein1(first: Mapping[object, object], second: Mapping[object, object]) -> Fraction:
    """The Wasserstein-1 distance of two laws with finite support, exactly; 0 is best.

    Formula: ∫ |F(x) − G(x)| dx.

    Claim: F.snapshots, F.triangle. Symmetric; in the unit of the values. Laws map values to probabilities;
    both are numbers or their text, a float stands for the decimal that repr prints.

    Raises
    ------
    InvalidArgument
        For an empty law, a negative probability, or probabilities that do not sum to 1.

    Notes
    -----
    Departures: SciPy's `wasserstein_distance` normalises weights; here a law must sum to 1.

    Examples
    --------
    >>> wasserstein1({"1/2": 1}, {0: "1/4", "1/2": "1/2", 1: "1/4"})
    Fraction(1, 4)
    """
    f, g = _law(first, "first"), _law(second, "second")
    support = sorted(f.keys() | g.keys())
    nothing = Fraction(0)
    out = wasserstein1_formula(
        [f.get(x, nothing) for x in support],
        [g.get(x, nothing) for x in support],
        [b - a for a, b in pairwise(support)],
    )
    return Fraction(out)


def _law(law: Mapping[object, object], argument: str) -> dict[Fraction, Fraction]:
    if not law:
        raise InvalidArgument(argument, law, "a mapping from values to probabilities that is not empty")
    out: dict[Fraction, Fraction] = {}
    for value, probability in law.items():
        mass = as_fraction(probability, argument=argument, index=value)
        if mass < 0:
            raise InvalidArgument(argument, probability, "a probability of at least 0", value)
        point = as_fraction(value, argument=argument)
        out[point] = out.get(point, Fraction(0)) + mass
    if sum(out.values()) != 1:
        raise InvalidArgument(argument, f"a sum of {sum(out.values())}", "probabilities that sum to 1")
    return out


def wasserstein1_lattice(*, first: object, second: object, steps: int) -> float:
    """The Wasserstein-1 distance of two samples of multiples of 1/steps: counts instead of a sort.

    Formula: Σ_j |F̂(j/L) − Ĝ(j/L)| / L.

    Claim: F.snapshots. Float error below 1e-12.

    Shapes: (n) and (m), values in [0, 1].

    Raises
    ------
    InvalidArgument
        For a value that is not the double nearest to a multiple of 1/steps, or no value.

    Examples
    --------
    >>> wasserstein1_lattice(first=[0.1, 0.2], second=[0.2, 0.2], steps=10)
    0.05
    """
    count = check_count(steps, argument="steps", high=10**7)
    cells = []
    for name, values in (("first", first), ("second", second)):
        x = np.asarray(values)
        if x.dtype != np.float64 or x.ndim != 1 or x.size == 0:
            raise InvalidArgument(name, f"an array of {x.dtype}, shape {x.shape}", "a sample of float64, not empty")
        check_probability(x, argument=name)
        index = (x * count + 0.5).astype(np.intp)
        off = index / count != x
        if off.any():
            place = int(np.argmax(off))
            raise InvalidArgument(name, float(x[place]), f"a multiple of 1/{count}", place)
        cells.append(np.bincount(index, minlength=count + 1) / len(x))
    return float(np.abs(np.cumsum(cells[0] - cells[1])[:-1]).sum() / count)


def binomial_formula(k: int, p: Real) -> tuple[Real, ...]:
    """The probabilities of 0 … k positives among k labels with probability p each.

    Proof: proofs/test_snapshots.py::test_the_law_of_the_number_of_positives
    Proof: proofs/test_snapshots.py::test_the_label_gap_is_at_most_its_bound
    Proof: proofs/test_snapshots.py::test_the_label_gap_of_one_posterior
    """
    out = []
    for j in range(k + 1):
        term: Real = math.comb(k, j)
        for _ in range(j):
            term = term * p
        for _ in range(k - j):
            term = term * (1 - p)
        out.append(term)
    return tuple(out)


def binomial_share_law(*, k: int, probability: object) -> dict[Fraction, Fraction]:
    """The law of the share of positives among k independent labels.

    Formula: P(j/k) = C(k, j) p^j (1−p)^(k−j).

    Claim: F.snapshots. Values in [0, 1]; probabilities of 0 are left out.

    Raises
    ------
    InvalidArgument
        For fewer than one label or a probability outside [0, 1].

    Examples
    --------
    >>> binomial_share_law(k=2, probability="1/2")
    {Fraction(0, 1): Fraction(1, 4), Fraction(1, 2): Fraction(1, 2), Fraction(1, 1): Fraction(1, 4)}
    """
    labels = check_count(k, argument="k")
    (p,) = read_exact(probability=probability)
    check_probability(p, argument="probability")
    return {Fraction(j, labels): mass for j, mass in enumerate(binomial_formula(labels, p.item())) if mass > 0}


def mixture_law(laws: Sequence[Law], *, weights: Sequence[Fraction]) -> dict[Fraction, Fraction]:
    """The weighted mixture of laws.

    Formula: Σ w_i law_i / Σ w.

    Claim: F.snapshots.

    Raises
    ------
    InvalidArgument
        For no law or no positive weight.

    Examples
    --------
    >>> laws = [{Fraction(0): Fraction(1)}, {Fraction(1): Fraction(1)}]
    >>> mixture_law(laws, weights=[Fraction(1), Fraction(3)])
    {Fraction(0, 1): Fraction(1, 4), Fraction(1, 1): Fraction(3, 4)}
    """
    mass = total(weights)
    if not laws or len(laws) != len(weights) or not mass > 0:
        raise InvalidArgument("laws", f"{len(laws)} laws, weights {mass}", "laws with as many weights, not all 0")
    out: dict[Fraction, Fraction] = {}
    for law, weight in zip(laws, weights, strict=True):
        for value, probability in law.items():
            if weight > 0:
                out[value] = out.get(value, Fraction(0)) + weight * probability / mass
    return dict(sorted(out.items()))


# --- snapshot errors ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SnapshotBin:
    """One bin: fitted law, law of k labels, law of the posterior; `pooled` if it had no input of its own."""

    index: int
    mass: Fraction
    inputs: int
    pooled: bool
    fitted: Law
    target: Law
    mixture: Law


@dataclass(frozen=True)
class SnapshotErrors:
    """Σ w_b W₁ of fitted against target, of fitted against mixture, and δ_k of target against mixture."""

    snapshot_error: Fraction
    higher_order_error: Fraction
    delta: Fraction
    covered_mass: Fraction
    bins: tuple[SnapshotBin, ...]


def snapshot_errors(
    *,
    weight: object,
    posterior: object,
    report: object,
    k: int,
    calibration_report: object,
    positives: Sequence[int] | Array | None = None,
    fit: str = "histogram",
) -> SnapshotErrors:
    """How far the fitted law of k labels is from its target, and from the law of the posterior, over bins.

    Formula: over ten equal-width bins b of f with w_b = P(f ∈ b): target_b = Σ_x P(x|b) Bin(k, p*(x))/k,
    mixture_b the law of p*(x) given b, F_b the law of (positives among k labels)/k over b's calibration
    inputs; snapshot error Σ w_b W₁(F_b, target_b), higher-order error Σ w_b W₁(F_b, mixture_b), δ_k = Σ w_b
    W₁(target_b, mixture_b).

    Claim: F.snapshots, F.triangle: |higher-order error − δ_k| ≤ snapshot error.

    Proof: proofs/test_snapshots.py::test_all_posteriors_a_half_with_two_labels
    Proof: proofs/test_snapshots.py::test_the_label_gap_may_rise_with_more_labels

    Convention: `weight`, `posterior`, `report` describe the population row by row (weights need not sum to
    1); `calibration_report` and `positives` (0 … k) describe the calibration inputs, one label sequence an
    input. A bin with mass and no input takes the pooled law (`chosen`), and `covered_mass` is the share of
    mass that had inputs. With `fit="reports"` F_b averages Bin(k, f(x_i))/k over the same inputs: the state
    before calibration. Exact.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], shapes that differ, weights that are negative or all 0, a count outside 0 …
        k, or an unknown fit.

    Examples
    --------
    >>> out = snapshot_errors(weight=[1], posterior=["1/2"], report=["1/2"], k=2,
    ...                       calibration_report=["1/2"], fit="reports")
    >>> out.snapshot_error, out.higher_order_error, out.delta
    (Fraction(0, 1), Fraction(1, 4), Fraction(1, 4))
    """
    labels = check_count(k, argument="k")
    check_choice(fit, argument="fit", choices=("histogram", "reports"))
    q, f = read_exact(posterior=posterior, report=report)
    one_dimensional(q, argument="posterior")
    check_probability(q, argument="posterior")
    check_probability(f, argument="report")
    check_same_shape(posterior=q, report=f)
    w = as_weights(weight, shape=q.shape, exact=True, argument="weight")
    (g,) = read_exact(calibration_report=calibration_report)
    one_dimensional(g, argument="calibration_report")
    check_probability(g, argument="calibration_report")
    seen = _input_laws(g, positives, labels, fit)
    place = [bin_index_formula(value, SNAPSHOT_BINS) for value in g]
    pooled = mixture_law(seen, weights=[Fraction(1)] * len(seen))
    mass = total(w)
    bins = []
    for b in range(SNAPSHOT_BINS):
        rows = [i for i in range(len(f)) if w[i] > 0 and bin_index_formula(f[i], SNAPSHOT_BINS) == b]
        if not rows:
            continue
        inside = [law for law, where in zip(seen, place, strict=True) if where == b]
        fitted = mixture_law(inside, weights=[Fraction(1)] * len(inside)) if inside else pooled
        shares = [w[i] for i in rows]
        target = mixture_law([binomial_share_law(k=labels, probability=q[i]) for i in rows], weights=shares)
        mixture = mixture_law([{q[i]: Fraction(1)} for i in rows], weights=shares)
        bins.append(SnapshotBin(b, total(shares) / mass, len(inside), not inside, fitted, target, mixture))
    return SnapshotErrors(
        snapshot_error=Fraction(total(b.mass * _distance(b.fitted, b.target) for b in bins)),
        higher_order_error=Fraction(total(b.mass * _distance(b.fitted, b.mixture) for b in bins)),
        delta=Fraction(total(b.mass * _distance(b.target, b.mixture) for b in bins)),
        covered_mass=Fraction(total(b.mass for b in bins if not b.pooled)),
        bins=tuple(bins),
    )


def _distance(first: Law, second: Law) -> Fraction:
    return wasserstein1(dict(first.items()), dict(second.items()))


def _input_laws(
    report: Array, positives: Sequence[int] | Array | None, k: int, fit: str
) -> list[dict[Fraction, Fraction]]:
    if fit == "reports":
        if positives is not None:
            raise InvalidArgument("positives", "counts", 'no counts when fit is "reports"')
        return [binomial_share_law(k=k, probability=value) for value in report]
    counts = np.asarray(positives)
    if counts.dtype.kind not in "iu" or counts.shape != report.shape:
        raise InvalidArgument("positives", f"an array of {counts.dtype}, shape {counts.shape}", f"{len(report)} counts")
    for index, count in enumerate(counts):
        check_count(count, argument=f"positives[{index}]", low=0, high=k)
    return [{Fraction(int(count), k): Fraction(1)} for count in counts]
