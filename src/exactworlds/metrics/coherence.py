"""Residuals of the ten relations between reports on one root, and what a relation's residuals add up to.

Residuals are pure functions of aligned reports, computed on exact decimals: 0.84 and 0.82 differ by 0.02 and
pass a tolerance of 0.02; the difference of the two doubles would not. What is not here: which requests feed a
relation.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    Value,
    apply_rows,
    as_fraction,
    as_weights,
    check_choice,
    check_probability,
    check_same_shape,
    check_simplex,
    one_dimensional,
    read_exact,
    result,
)
from exactworlds.metrics._ordering import Real, absolute, larger, smaller, total
from exactworlds.metrics.divergences import total_variation_formula
from exactworlds.metrics.undefined import Undefined

__all__ = [
    "RELATIONS",
    "TOLERANCES",
    "ComplementSums",
    "coarsening_formula",
    "coarsening_residual",
    "complement_formula",
    "complement_residual",
    "complement_sums",
    "difference_formula",
    "disagreement_share",
    "disagreement_share_formula",
    "distribution_residual",
    "frechet_formula",
    "frechet_residual",
    "mean_pair_error_formula",
    "pair_residual",
    "passes",
    "product_formula",
    "product_residual",
]

TOLERANCES = MappingProxyType(
    {
        "event_choice": Fraction(1, 20),
        "complement": Fraction(1, 20),
        "coarsening": Fraction(1, 20),
        "product": Fraction(1, 20),
        "permutation": Fraction(1, 20),
        "layout": Fraction(1, 20),
        "opaque_keys": Fraction(1, 20),
        "metadata": Fraction(1, 20),
        "repeat": Fraction(1, 50),
        "frechet": Fraction(1, 20),
    }
)
"""The inclusive tolerance of each relation (P2 Table 1); Fréchet is a diagnostic outside the criterion."""

RELATIONS = tuple(TOLERANCES)
"""The ten relations by name."""


# --- residuals ------------------------------------------------------------------------------------------------------


def difference_formula(first: Real, second: Real) -> Real:
    """|p − p′|.

    Proof: proofs/test_disagreement.py::test_the_difference_is_the_larger_minus_the_smaller
    """
    return absolute(first - second)


def complement_formula(event: Real, complement: Real) -> Real:
    """|p(A) + p(¬A) − 1|.

    Proof: proofs/test_disagreement.py::test_the_bound_for_complements
    Proof: proofs/test_relations.py::test_each_residual_is_how_far_the_two_sides_are_apart
    """
    return absolute(event + complement - 1)


def coarsening_formula(event: Real, canonical: Sequence[Real], members: Sequence[bool]) -> Real:
    """|p(A) − Σ_{k in A} p_k|.

    Proof: proofs/test_relations.py::test_coarsening_compares_with_the_mass_of_the_members
    """
    return absolute(event - total(p for p, member in zip(canonical, members, strict=True) if member))


def product_formula(joint: Real, conditional: Real, condition: Real) -> Real:
    """|p(A∩B) − p(A|B) p(B)|.

    Proof: proofs/test_relations.py::test_the_exact_posterior_satisfies_every_relation
    Proof: proofs/test_relations.py::test_each_residual_is_how_far_the_two_sides_are_apart
    """
    return absolute(joint - conditional * condition)


def frechet_formula(first: Real, second: Real, joint: Real) -> Real:
    """max(0, L − x, x − U), L = max(0, a + b − 1), U = min(a, b).

    Proof: proofs/test_frechet.py::test_the_residual_is_zero_exactly_for_joint_laws
    Proof: proofs/test_frechet.py::test_the_residual_is_the_distance_to_the_nearest_joint_law
    """
    low = larger(0 * joint, first + second - 1)
    high = smaller(first, second)
    return larger(larger(0 * joint, low - joint), joint - high)


def pair_residual(*, first: object, second: object) -> Value:
    """The residual of two reports of one probability: event against choice, or event against its repeat.

    Formula: |p − p′|.

    Claim: E.relations (P2 Table 1).

    Range [0, 1]; elementwise; exact.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> pair_residual(first=0.84, second=0.82)
    Fraction(1, 50)
    """
    return _elementwise(difference_formula, first=first, second=second)


def complement_residual(*, event: object, complement: object) -> Value:
    """The residual of an event's report and its complement's.

    Formula: |p(A) + p(¬A) − 1|.

    Claim: E.relations.

    Range [0, 1]; elementwise; exact.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> complement_residual(event=0.7, complement=0.4)
    Fraction(1, 10)
    """
    return _elementwise(complement_formula, event=event, complement=complement)


def coarsening_residual(*, event: object, canonical: object, members: Sequence[bool]) -> Value:
    """The residual of an event's report and the mass that the canonical distribution gives its categories.

    Formula: |p(A) − Σ_{k in A} p_k|.

    Claim: E.relations.

    Shapes: (…), (…, K) and K booleans; exact.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], sums that are not 1, or shapes that differ.

    Examples
    --------
    >>> coarsening_residual(event="0.5", canonical=["0.3", "0.1", "0.6"], members=[True, True, False])
    Fraction(1, 10)
    """
    p, whole = read_exact(event=event, canonical=canonical)
    check_probability(p, argument="event")
    check_simplex(whole, argument="canonical")
    if whole.shape[:-1] != p.shape:
        raise InvalidArgument("canonical", f"shape {whole.shape}", f"one distribution for each event, {p.shape}")
    mask = np.asarray(members)
    if mask.dtype != np.bool_ or mask.shape != whole.shape[-1:]:
        raise InvalidArgument("members", members, f"{whole.shape[-1]} booleans")
    out = np.empty(p.shape, dtype=object)
    for index in np.ndindex(*p.shape):
        out[index] = coarsening_formula(p[index], whole[index].tolist(), mask.tolist())
    return result(out)


def product_residual(*, joint: object, conditional: object, condition: object) -> Value:
    """The residual of the product rule.

    Formula: |p(A∩B) − p(A|B) p(B)|.

    Claim: E.relations.

    Range [0, 1]; elementwise; exact. A root whose conditional is undefined (P(B) = 0) is not in the
    denominator: leave it out.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> product_residual(joint="0.2", conditional="0.5", condition="0.5")
    Fraction(1, 20)
    """
    return _elementwise(product_formula, joint=joint, conditional=conditional, condition=condition)


def distribution_residual(*, variant: object, canonical: object) -> Value:
    """The residual of a distribution asked in another form: permuted options, layout, opaque keys, metadata.

    Formula: TV(aligned variant, canonical) = ½‖·‖₁.

    Claim: E.relations (`chosen`).

    Convention: the variant is aligned to the canonical order first.

    Range [0, 1].

    Shapes: (…, K) twice, to (…); exact.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], sums that are not 1, or shapes that differ.

    Examples
    --------
    >>> distribution_residual(variant=[0.5, 0.3, 0.2], canonical=[0.4, 0.3, 0.3])
    Fraction(1, 10)
    """
    p, whole = read_exact(variant=variant, canonical=canonical)
    check_simplex(p, argument="variant")
    check_simplex(whole, argument="canonical")
    check_same_shape(variant=p, canonical=whole)
    return apply_rows(total_variation_formula, p, whole, core=1)


def frechet_residual(*, first: object, second: object, joint: object) -> Value:
    """How far a joint probability lies outside the range that its two margins allow: a diagnostic.

    Formula: max(0, L − x, x − U), L = max(0, p(A) + p(B) − 1), U = min(p(A), p(B)).

    Claim: E.frechet.

    Range [0, 1]; elementwise; exact. 0 iff some joint law has the three probabilities.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> frechet_residual(first="0.7", second="0.6", joint="0.2")
    Fraction(1, 10)
    """
    return _elementwise(frechet_formula, first=first, second=second, joint=joint)


def _elementwise(formula: Callable[..., Real], **values: object) -> Value:
    arrays = dict(zip(values, read_exact(**values), strict=True))
    for name, array in arrays.items():
        check_probability(array, argument=name)
    check_same_shape(**arrays)
    return apply_rows(formula, *arrays.values(), core=0)


def passes(residual: object, *, relation: str, tolerance: object = None) -> Value:
    """Whether residuals are within their relation's tolerance, inclusively and exactly.

    Formula: residual ≤ tolerance; 0.05, repeat 0.02.

    Claim: E.relations (P2 Table 1). Elementwise, to booleans.

    Raises
    ------
    InvalidArgument
        For an unknown relation, or a residual or tolerance outside [0, 1].

    Examples
    --------
    >>> passes(pair_residual(first=0.84, second=0.82), relation="repeat")
    True
    """
    check_choice(relation, argument="relation", choices=RELATIONS)
    (r,) = read_exact(residual=residual)
    check_probability(r, argument="residual")
    limit = TOLERANCES[relation] if tolerance is None else as_fraction(tolerance, argument="tolerance")
    if not 0 <= limit <= 1:
        raise InvalidArgument("tolerance", tolerance, "a tolerance in [0, 1]")
    return result(np.asarray(r <= limit, dtype=bool))


# --- over a set of roots --------------------------------------------------------------------------------------------


def mean_pair_error_formula(first: Real, second: Real, target: Real) -> Real:
    """(|p − q| + |p′ − q|) / 2, at least |p − p′| / 2.

    Proof: proofs/test_disagreement.py::test_half_the_disagreement_bounds_the_mean_error
    Proof: proofs/test_disagreement.py::test_the_bound_in_every_order_of_the_three
    """
    return (absolute(first - target) + absolute(second - target)) / 2


def disagreement_share_formula(
    first: Sequence[Real], second: Sequence[Real], target: Sequence[Real], weights: Sequence[Real]
) -> Real:
    """Σ w |p − p′|/2 / Σ w (|p − q| + |p′ − q|)/2.

    Proof: proofs/test_disagreement.py::test_the_share_is_a_ratio_of_means_and_at_most_one
    """
    rows = list(zip(first, second, target, weights, strict=True))
    gap = total(w * difference_formula(p, r) for p, r, _, w in rows) / 2
    return gap / total(w * mean_pair_error_formula(p, r, q) for p, r, q, w in rows)


def disagreement_share(
    *, first: object, second: object, target: object, weights: object = None
) -> Fraction | Undefined:
    """How much of the mean error of two reports their disagreement alone explains.

    Formula: mean(|p − p′|/2) / mean((|p − q| + |p′ − q|)/2), a ratio of weighted means.

    Claim: E.disagreement (P2 Eq. 1).

    Convention: `Undefined` where the mean error is 0. For complements hand over 1 − p(¬A) as second.

    Range [0, 1]; exact.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], shapes that differ, or weights that are negative or all 0.

    Examples
    --------
    >>> disagreement_share(first=["0.2", "0.9"], second=["0.4", "0.7"], target=["0.3", "0.5"])
    Fraction(1, 2)
    """
    p, r, q = read_exact(first=first, second=second, target=target)
    one_dimensional(p, argument="first")
    for name, array in (("first", p), ("second", r), ("target", q)):
        check_probability(array, argument=name)
    check_same_shape(first=p, second=r, target=q)
    w = as_weights(weights, shape=p.shape, exact=True)
    rows = [(p[i], r[i], q[i]) for i in range(len(p)) if w[i] > 0]
    if all(a == c and b == c for a, b, c in rows):
        return Undefined("every report equals its target", {"roots": len(rows)})
    return Fraction(disagreement_share_formula(p.tolist(), r.tolist(), q.tolist(), w.tolist()))


@dataclass(frozen=True)
class ComplementSums:
    """Signed sums p(A) + p(¬A): mean, median, range, and the shares above 1, above 1.5, below 0.5."""

    mean: Fraction
    median: Fraction
    low: Fraction
    high: Fraction
    above_one: Fraction
    above_three_halves: Fraction
    below_half: Fraction


def complement_sums(*, event: object, complement: object, weights: object = None) -> ComplementSums:
    """Signed sums of an event's report and its complement's, summarised; coherence is 1 everywhere.

    Formula: p(A) + p(¬A).

    Claim: E.complement-sums.

    Convention: mean and shares weighted; the median is that of the rows, unweighted (`chosen`); the bounds
    are strict.

    Range [0, 2].

    Shapes: (n) twice; exact.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], shapes that differ, or weights that are negative or all 0.

    Examples
    --------
    >>> complement_sums(event=["0.9", "0.6"], complement=["0.7", "0.4"]).mean
    Fraction(13, 10)
    """
    p, r = read_exact(event=event, complement=complement)
    one_dimensional(p, argument="event")
    check_probability(p, argument="event")
    check_probability(r, argument="complement")
    check_same_shape(event=p, complement=r)
    w = as_weights(weights, shape=p.shape, exact=True)
    sums: Array = p + r
    mass = total(w)

    def share(hit: Array) -> Fraction:
        return Fraction(total(w[i] for i in range(len(w)) if hit[i]) / mass)

    return ComplementSums(
        mean=Fraction(total(w * sums)) / mass,
        median=Fraction(statistics.median(sums.tolist())),
        low=min(sums),
        high=max(sums),
        above_one=share(sums > 1),
        above_three_halves=share(sums > Fraction(3, 2)),
        below_half=share(sums < Fraction(1, 2)),
    )
