"""Nearest-neighbour estimates of the Bayes error, with ties taken by expectation, distances exactly.

On inputs with few levels many distances are 0 and many more are equal, so the tie rule decides the estimate.
Here the test error is the expectation over uniform tie-breaking, which no row order can move. Binary labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    as_fraction,
    as_label,
    check_count,
    check_probability,
    read_exact,
)
from exactworlds.metrics._ordering import Real, total
from exactworlds.metrics.means import weighted_mean
from exactworlds.rational import common_denominator

__all__ = [
    "Features",
    "NeighbourEstimate",
    "asymptotic_error",
    "asymptotic_five_formula",
    "asymptotic_one_formula",
    "encode",
    "lower_bound_five",
    "lower_bound_five_formula",
    "lower_bound_one",
    "lower_bound_one_formula",
    "neighbour_error",
    "neighbour_estimate",
    "tie_error_formula",
]

BLOCK = 256
"""Test rows whose distances are held at one time."""


@dataclass(frozen=True)
class Features:
    """Rows as integers whose squared differences, summed, are the squared distances times `scale`²."""

    numbers: Array
    categories: Array
    scale: int


def encode(
    columns: Mapping[str, Sequence[object]], *, ranges: Mapping[str, tuple[object, object]] | None = None
) -> Features:
    """Inputs as features: a number is scaled by its declared range, anything else is one-hot.

    Formula: (v − lo)/(hi − lo) for a column in `ranges`, else one coordinate a level; Euclidean.

    Claim: F.knn.

    Convention: exact, on a common denominator; two different categories are at squared distance 2.

    Raises
    ------
    InvalidArgument
        For no column, columns of unequal length, an empty range, or a number outside its range.

    Examples
    --------
    >>> encode({"rate": ["0.5", "1.5"], "type": ["a", "b"]}, ranges={"rate": (0, 2)}).numbers.tolist()
    [[1], [3]]
    """
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise InvalidArgument("columns", sorted(lengths), "columns of one length, at least one row")
    scaled: list[list[Fraction]] = []
    codes: list[list[int]] = []
    for name in ranges or {}:
        if name not in columns:
            raise InvalidArgument("ranges", name, f"a column among {sorted(columns)}")
    for name, values in columns.items():
        if ranges and name in ranges:
            low, high = (as_fraction(edge, argument=f"ranges[{name!r}]") for edge in ranges[name])
            if not low < high:
                raise InvalidArgument(f"ranges[{name!r}]", ranges[name], "a range whose ends differ, low first")
            column = [as_fraction(v, argument=f"columns[{name!r}]", index=i) for i, v in enumerate(values)]
            for index, value in enumerate(column):
                if not low <= value <= high:
                    raise InvalidArgument(f"columns[{name!r}]", value, f"a number in [{low}, {high}]", index)
            scaled.append([(value - low) / (high - low) for value in column])
        else:
            seen: dict[object, int] = {}
            codes.append([seen.setdefault(value, len(seen)) for value in values])
    scale = common_denominator(value for column in scaled for value in column)
    rows = lengths.pop()
    # A squared distance is at most (numbers + 2·categories)·scale²; past 62 bits Python integers take over.
    kind: type = np.int64 if (len(scaled) + 2 * len(codes)) * scale * scale < 2**62 else object
    numbers: Array = np.empty((rows, len(scaled)), dtype=kind)
    for j, column in enumerate(scaled):
        numbers[:, j] = [int(value * scale) for value in column]
    return Features(numbers, np.array(codes, dtype=np.int64).reshape(len(codes), rows).T, scale)


def tie_error_formula(closer: int, closer_yes: int, tied: int, tied_yes: int, *, k: int, label: int) -> Fraction:
    """The chance of a wrong vote, when k − closer of the tied rows are drawn without replacement.

    Proof: proofs/test_cover_hart.py::test_ties_are_taken_in_expectation
    """
    drawn = k - closer
    wrong = 0
    for yes in range(drawn + 1):
        votes = 2 * (closer_yes + yes)
        answer = 1 if votes > k else 0
        if answer != label:
            wrong += math.comb(tied_yes, yes) * math.comb(tied - tied_yes, drawn - yes)
    return Fraction(wrong, math.comb(tied, drawn))


def neighbour_error(features: Features, label: object, *, k: int, fit_rows: int | None = None) -> Fraction:
    """The test error of k nearest neighbours, in expectation over uniform tie-breaking.

    Formula: rows 0 … n/2 − 1 fit, the rest test; for each test row the rows strictly closer than its k-th
    distance vote, and the remaining votes are a hypergeometric draw among the rows at that distance; the mean
    probability of a wrong majority.

    Claim: F.knn (P1 C.4). k odd. Exact: distances are compared as integers. Labels 0 and 1, one a row.

    Raises
    ------
    InvalidArgument
        For an even k, fewer fitting rows than k, no test row, or labels that are not 0 or 1.

    Notes
    -----
    Departures: scikit-learn breaks ties by row order; here no row order matters.

    Examples
    --------
    >>> rows = encode({"type": ["a", "a", "b", "a"]})
    >>> neighbour_error(rows, [0, 1, 1, 1], k=1, fit_rows=3)
    Fraction(1, 2)
    """
    n = len(features.numbers)
    y = as_label(label, argument="label", classes=2, shape=(n,)).astype(np.int64)
    count = check_count(k, argument="k")
    if count % 2 == 0:
        raise InvalidArgument("k", k, "an odd number of neighbours")
    half = n // 2 if fit_rows is None else check_count(fit_rows, argument="fit_rows", low=1, high=n - 1)
    if half < count or half >= n:
        raise InvalidArgument("fit_rows", half, f"at least k = {count} fitting rows and a test row")
    # Equal rows have equal neighbours, so distances are taken once for each distinct pattern on either side.
    fit, fit_of = _patterns(features, slice(0, half))
    test, test_of = _patterns(features, slice(half, n))
    mass, yes = (
        np.bincount(fit_of, minlength=len(fit)),
        np.bincount(fit_of, y[:half], len(fit)).astype(np.int64),
    )
    rows, rows_yes = np.bincount(test_of, minlength=len(test)), np.bincount(test_of, y[half:], len(test))
    error = cache(tie_error_formula)
    out = Fraction(0)
    for start in range(0, len(test), BLOCK):
        distances = _squared_distances(features, test[start : start + BLOCK], fit)
        for t, row in enumerate(distances, start=start):
            votes = _votes(row, mass, yes, count)
            ones = int(rows_yes[t])
            zeros = int(rows[t]) - ones
            out += zeros * error(*votes, k=count, label=0) + ones * error(*votes, k=count, label=1)
    return out / (n - half)


def _votes(distance: Array, mass: Array, yes: Array, k: int) -> tuple[int, int, int, int]:
    order = np.argsort(distance, kind="stable")
    reached = np.cumsum(mass[order])
    kth = distance[order[int(np.searchsorted(reached, k))]]
    closer, tied = distance < kth, distance == kth
    return int(mass[closer].sum()), int(yes[closer].sum()), int(mass[tied].sum()), int(yes[tied].sum())


def _patterns(features: Features, part: slice) -> tuple[Array, Array]:
    """The first row of each distinct pattern, and the pattern of each row."""
    seen: dict[tuple[object, ...], int] = {}
    first: list[int] = []
    code: list[int] = []
    numbers, categories = features.numbers[part].tolist(), features.categories[part].tolist()
    for offset, (left, right) in enumerate(zip(numbers, categories, strict=True)):
        key = (*left, *right)
        if key not in seen:
            seen[key] = len(seen)
            first.append((part.start or 0) + offset)
        code.append(seen[key])
    return np.array(first, dtype=np.int64), np.array(code, dtype=np.int64)


def _squared_distances(features: Features, test: Array, fit: Array) -> Array:
    out = np.zeros((len(test), len(fit)), dtype=features.numbers.dtype)
    for j in range(features.numbers.shape[1]):
        difference = features.numbers[test, j][:, np.newaxis] - features.numbers[fit, j]
        out += difference * difference
    for j in range(features.categories.shape[1]):
        differ = features.categories[test, j][:, np.newaxis] != features.categories[fit, j]
        out += 2 * features.scale * features.scale * differ.astype(features.numbers.dtype)
    return out


# --- estimates ------------------------------------------------------------------------------------------------------


def lower_bound_one_formula(error: Real, *, sqrt: Callable[[Real], Real]) -> Real:
    """½(1 − √(1 − 2e)) for e < ½, as e/(1 + √(1 − 2e)), which loses no digits where e is small; else ½.

    Proof: proofs/test_cover_hart.py::test_the_lower_bound_inverts_the_upper_half
    Proof: proofs/test_cover_hart.py::test_the_root_is_that_of_one_minus_twice_the_error
    """
    if 2 * error < 1:
        return error / (1 + sqrt(1 - 2 * error))
    return (0 * error + 1) / 2


def lower_bound_five_formula(error: Real, *, sqrt: Callable[[Real], Real]) -> Real:
    """e / (1 + 1/√5).

    Proof: proofs/test_cover_hart.py::test_the_bound_by_five_is_valid
    """
    return error / (1 + 1 / sqrt(5))


def lower_bound_one(error: object) -> float:
    """The lower estimate of the Bayes error from a 1NN error.

    Formula: ½(1 − √max(0, 1 − 2e)).

    Claim: F.cover-hart: R* ≤ R₁ ≤ 2R*(1 − R*).

    Convention: e > ½ gives ½ and is flagged saturated by `neighbour_estimate`.

    Range [0, ½].

    Raises
    ------
    InvalidArgument
        For an error outside [0, 1].

    Examples
    --------
    >>> round(lower_bound_one("0.18"), 12), lower_bound_one("0.52")
    (0.1, 0.5)
    """
    return float(lower_bound_one_formula(_error(error), sqrt=math.sqrt))


def lower_bound_five(error: object) -> float:
    """The lower estimate of the Bayes error from a 5NN error.

    Formula: e / (1 + 1/√5).

    Claim: F.knn (Devroye 1981): valid, not tight, as sup L₅ / min(p, 1−p) = 1.21755.

    Raises
    ------
    InvalidArgument
        For an error outside [0, 1].

    Examples
    --------
    >>> round(lower_bound_five("0.2"), 6)
    0.138197
    """
    return float(lower_bound_five_formula(float(_error(error)), sqrt=math.sqrt))


def _error(error: object, argument: str = "error", index: int | None = None) -> Fraction:
    e = as_fraction(error, argument=argument, index=index)
    if not 0 <= e <= 1:
        raise InvalidArgument(argument, error, "an error in [0, 1]", index)
    return e


def _one_or_five(k: object) -> int:
    count = check_count(k, argument="k")
    if count not in (1, 5):
        raise InvalidArgument("k", k, "1 or 5")
    return count


@dataclass(frozen=True)
class NeighbourEstimate:
    """A mean test error as the upper estimate, the lower one, and whether e > ½ saturates the 1NN bound."""

    k: int
    upper: Fraction
    lower: float
    saturated: bool


def neighbour_estimate(errors: Sequence[object], *, k: int) -> NeighbourEstimate:
    """Both ends of a nearest-neighbour estimate: the means over seeds of the lower and the upper values.

    Formula: upper mean e; lower the mean of `lower_bound_one` or `lower_bound_five` of each e.

    Claim: F.knn.

    Convention: saturated if any e > ½ (k = 1).

    Raises
    ------
    InvalidArgument
        For k not 1 or 5, or an error outside [0, 1].

    Examples
    --------
    >>> neighbour_estimate(["0.52"], k=1)
    NeighbourEstimate(k=1, upper=Fraction(13, 25), lower=0.5, saturated=True)
    """
    _one_or_five(k)
    if not errors:
        raise InvalidArgument("errors", "no error", "at least one test error")
    values = [_error(e, "errors", i) for i, e in enumerate(errors)]
    bound = lower_bound_one if k == 1 else lower_bound_five
    lower = math.fsum(bound(e) for e in values) / len(values)
    return NeighbourEstimate(k, Fraction(total(values)) / len(values), lower, k == 1 and any(2 * e > 1 for e in values))


def asymptotic_one_formula(probability: Real) -> Real:
    """2p(1 − p).

    Proof: proofs/test_cover_hart.py::test_the_bayes_error_is_at_most_the_neighbour_error
    Proof: proofs/test_cover_hart.py::test_the_neighbour_error_is_at_most_its_bound
    Proof: proofs/test_cover_hart.py::test_the_upper_half_for_any_number_of_patterns
    Proof: proofs/test_cover_hart.py::test_a_pattern_by_its_smaller_probability
    """
    return 2 * probability * (1 - probability)


def asymptotic_five_formula(probability: Real) -> Real:
    """L₅(p) = Σ_j C(5, j) p^j (1−p)^(5−j) · (p if j ≤ 2 else 1 − p).

    Proof: proofs/test_cover_hart.py::test_the_five_neighbour_error_by_its_votes
    Proof: proofs/test_cover_hart.py::test_the_five_neighbour_error_is_at_most_its_constant
    """
    p, rest = probability, 1 - probability
    few = rest * rest * rest * (rest * rest + 5 * p * rest + 10 * p * p)
    many = p * p * p * (10 * rest * rest + 5 * p * rest + p * p)
    return few * p + many * rest


def asymptotic_error(posterior: object, *, weights: object = None, k: int) -> Fraction:
    """The error that 1NN or 5NN reaches on a world as rows grow, exactly.

    Formula: Σ P(x) 2p*(1−p*), or Σ P(x) L₅(p*).

    Claim: F.knn, F.cover-hart. Exact.

    Shapes: (n) and (n).

    Raises
    ------
    InvalidArgument
        For k not 1 or 5, values outside [0, 1], or weights that are negative or all 0.

    Examples
    --------
    >>> asymptotic_error(["0.9"], k=1), asymptotic_error(["0.9"], k=5)
    (Fraction(9, 50), Fraction(3339, 31250))
    """
    _one_or_five(k)
    (p,) = read_exact(posterior=posterior)
    check_probability(p, argument="posterior")
    formula = asymptotic_one_formula if k == 1 else asymptotic_five_formula
    values = [formula(value) for value in p]
    return Fraction(weighted_mean(values, weights=weights).value)
