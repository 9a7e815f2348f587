"""Multicalibration error against a fixed family of witnesses, on samples and on whole populations.

A witness is a group of inputs crossed with an interval of the report; the family is fixed before any outcome
is seen. One function serves both readings: give drawn labels and it is the sample's error, give exact
posteriors with the probabilities of the inputs as weights and it is the population's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    Value,
    as_fraction,
    as_weights,
    check_count,
    check_mask,
    check_probability,
    check_same_shape,
    is_exact,
    one_dimensional,
    read,
)
from exactworlds.metrics._ordering import Real, absolute, total
from exactworlds.metrics.calibration import bin_index

__all__ = [
    "WITNESS_BINS",
    "MulticalibrationError",
    "attribute_groups",
    "hoeffding_bound",
    "hoeffding_formula",
    "multicalibration_error",
    "witness_count",
    "witness_formula",
]

WITNESS_BINS = 10
"""Intervals of the report in the family, beside the whole of [0, 1]."""


@dataclass(frozen=True)
class MulticalibrationError:
    """The largest witness: its size, `signed` value, group and interval (none for all of [0, 1])."""

    value: Value
    signed: Value
    group: str
    interval: tuple[Fraction, Fraction] | None
    witnesses: int


def attribute_groups(
    attributes: Mapping[str, Sequence[Hashable]], *, levels: Mapping[str, Sequence[Hashable]]
) -> dict[str, Array]:
    """The groups of the family: everyone, then one group for each declared level of each visible attribute.

    Formula: 1[x_j = level].

    Claim: F.multicalibration. The levels are declared, not read off the sample: the family is fixed in
    advance.

    Raises
    ------
    InvalidArgument
        For attributes that differ, no rows, or a value that is no declared level.

    Examples
    --------
    >>> sorted(attribute_groups({"size": ["s", "l"]}, levels={"size": ["s", "m", "l"]}))
    ['everyone', 'size=l', 'size=m', 'size=s']
    """
    if set(attributes) != set(levels) or not attributes:
        raise InvalidArgument("levels", sorted(levels), f"levels for exactly {sorted(attributes)}")
    rows = {len(values) for values in attributes.values()}
    if len(rows) != 1 or 0 in rows:
        raise InvalidArgument("attributes", sorted(rows), "columns of one length, at least one row")
    groups: dict[str, Array] = {"everyone": np.ones(rows.pop(), dtype=bool)}
    for name, values in attributes.items():
        for index, value in enumerate(values):
            if value not in levels[name]:
                raise InvalidArgument(f"attributes[{name!r}]", value, f"one of {list(levels[name])}", index)
        for level in levels[name]:
            groups[f"{name}={level}"] = np.array([value == level for value in values])
    return groups


def witness_count(levels: Mapping[str, Sequence[Hashable]]) -> int:
    """The size of the family.

    Formula: |W| = 11(1 + Σ levels).

    Claim: F.multicalibration.

    Examples
    --------
    >>> witness_count({"size": ["s", "m", "l"], "type": ["a", "b"]})
    66
    """
    return (WITNESS_BINS + 1) * (1 + sum(len(names) for names in levels.values()))


def witness_formula(
    report: Sequence[Real], outcome: Sequence[Real], inside: Sequence[bool], weights: Sequence[Real]
) -> Real:
    """Σ_{i inside} w_i(y_i − f_i) / Σ w, over all rows in the denominator.

    Proof: proofs/test_estimators.py::test_a_witness_is_a_part_of_the_mean_residual
    """
    rows = zip(report, outcome, inside, weights, strict=True)
    return total(w * (y - f) for f, y, member, w in rows if member) / total(weights)


def multicalibration_error(
    *, report: object, outcome: object, groups: Mapping[str, object], weights: object = None
) -> MulticalibrationError:
    """The largest absolute witness, and the group, the interval and the sign that attain it; 0 is best.

    Formula: max over groups g and intervals I of |E 1[x∈g]·1[f(x)∈I]·(y − f(x))|, I all of [0, 1] or one of
    ten fixed bins.

    Claim: F.multicalibration (`chosen`).

    Convention: population: outcome p*(x), weights P(x), value exact; sample: outcome the label, whose
    expected error is positive even at f = p* unless p* is 0 or 1 everywhere. The first maximiser is named, in
    the order of `groups`, all of [0, 1] before the bins.

    Range [0, 1].

    Shapes: (n) each; a group is n booleans.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], shapes that differ, no group, or a group that is not boolean.

    Examples
    --------
    >>> found = multicalibration_error(report=["0.5", "0.5"], outcome=["0.9", "0.1"],
    ...                                groups={"everyone": [True, True], "first": [True, False]})
    >>> found.value, found.group, found.interval
    (Fraction(1, 5), 'first', None)
    """
    f, y = read(report=report, outcome=outcome)
    one_dimensional(f, argument="report")
    check_probability(f, argument="report")
    check_probability(y, argument="outcome")
    check_same_shape(report=f, outcome=y)
    if not groups:
        raise InvalidArgument("groups", "no group", "at least one group")
    w = as_weights(weights, shape=f.shape, exact=is_exact(f))
    place = np.asarray(bin_index(f, bins=WITNESS_BINS))
    mass, residual = w.sum(), w * (y - f)
    best: tuple[Value, str, int | None] | None = None
    for name, members in groups.items():
        inside = check_mask(members, argument=f"groups[{name!r}]", shape=f.shape)
        sums = (
            [residual[inside & (place == b)].sum() for b in range(WITNESS_BINS)]
            if is_exact(f)
            else list(np.bincount(place[inside], residual[inside], WITNESS_BINS))
        )
        for b, value in [(None, total(sums)), *enumerate(sums)]:
            if best is None or absolute(value) > absolute(best[0]):
                best = (value, name, b)
    assert best is not None
    signed, group, b = best[0] / mass, best[1], best[2]
    signed = Fraction(signed) if is_exact(f) else float(signed)
    interval = None if b is None else (Fraction(b, WITNESS_BINS), Fraction(b + 1, WITNESS_BINS))
    return MulticalibrationError(absolute(signed), signed, group, interval, (WITNESS_BINS + 1) * len(groups))


def hoeffding_formula(
    rows: Real, witnesses: Real, alpha: Real, *, log: Callable[[Real], Real], sqrt: Callable[[Real], Real]
) -> Real:
    """2√(log(2|W|/α) / (2n)). Logarithm and root are handed in.

    Proof: proofs/test_estimators.py::test_the_hoeffding_bound_spends_alpha_on_all_witnesses
    """
    return 2 * sqrt(log(2 * witnesses / alpha) / (2 * rows))


def hoeffding_bound(*, rows: int, witnesses: int, alpha: object) -> float:
    """How far the sample's error can be from the population's, for all witnesses at once.

    Formula: |sample − population| ≤ 2√(ln(2|W|/α) / (2n)) with probability at least 1 − α; a summand lies in
    [−1, 1].

    Claim: F.multicalibration. Rows are independent; the family was fixed in advance.

    Raises
    ------
    InvalidArgument
        For fewer than one row or witness, or α outside (0, 1).

    Examples
    --------
    >>> round(hoeffding_bound(rows=1000, witnesses=66, alpha="0.05"), 6)
    0.125527
    """
    n, family = check_count(rows, argument="rows"), check_count(witnesses, argument="witnesses")
    level = as_fraction(alpha, argument="alpha")
    if not 0 < level < 1:
        raise InvalidArgument("alpha", alpha, "a level above 0 and below 1")
    return float(hoeffding_formula(n, family, float(level), log=math.log, sqrt=math.sqrt))
