"""Decompositions of the Brier score: by the exact report, and over bins with what bins leave out.

By the exact value of the report the three textbook terms add up. Over bins of unequal reports they do not:
two more terms are needed, and both sums are returned so that the difference is seen. All scores are sums over
classes, [0, 2].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    Value,
    as_label,
    as_weights,
    check_count,
    check_probability,
    check_same_shape,
    check_simplex,
    is_exact,
    read,
)
from exactworlds.metrics._ordering import Real, total

__all__ = [
    "BinnedBrierDecomposition",
    "BrierDecomposition",
    "binned_brier_decomposition",
    "brier_decomposition",
    "brier_decomposition_formula",
    "one_hot",
]


@dataclass(frozen=True)
class BrierDecomposition:
    """Brier = reliability − resolution + uncertainty = reliability + grouping_loss + irreducible."""

    score: Value
    reliability: Value
    resolution: Value
    uncertainty: Value
    grouping_loss: Value
    irreducible: Value
    groups: int


@dataclass(frozen=True)
class BinnedBrierDecomposition:
    """Brier = three_terms + within_bin_variance − 2·within_bin_covariance; `three_terms` alone is refuted."""

    score: Value
    reliability: Value
    resolution: Value
    uncertainty: Value
    within_bin_variance: Value
    within_bin_covariance: Value
    three_terms: Value
    bins: int


def one_hot(label: object, *, classes: int) -> Array:
    """Realised classes as targets that give them probability 1, as int8 rows.

    Formula: q_k = 1[k = y].

    Claim: C.decomposition.

    Shapes: (n) to (n, K).

    Raises
    ------
    InvalidArgument
        For a class outside 0 … K−1.

    Examples
    --------
    >>> one_hot([1, 0], classes=2).tolist()
    [[0, 1], [1, 0]]
    """
    count = check_count(classes, argument="classes", low=2)
    y = as_label(label, argument="label", classes=count, shape=np.asarray(label).shape)
    out: Array = (y[..., np.newaxis] == np.arange(count)).astype(np.int8)
    return out


def brier_decomposition_formula(
    report: Sequence[Sequence[Real]], target: Sequence[Sequence[Real]], weights: Sequence[Real]
) -> tuple[Real, Real, Real, Real, Real, Real]:
    """Score, reliability, resolution, uncertainty, grouping loss, irreducible, by equal reports.

    Proof: proofs/test_decomposition.py::test_three_terms_add_up_to_the_score
    Proof: proofs/test_decomposition.py::test_with_exact_targets_there_are_three_other_terms
    Proof: proofs/test_decomposition.py::test_each_term_is_what_it_says
    """
    first: list[int] = []
    code: list[int] = []
    for p in report:
        group = 0
        while group < len(first) and not _equal(report[first[group]], p):
            group += 1
        if group == len(first):
            first.append(len(code))
        code.append(group)
    rows = list(zip(report, target, weights, strict=True))
    mass = total(weights)
    mean = _centre([q for _, q, _ in rows], weights)
    inside = [
        _centre([q for (_, q, _), c in zip(rows, code, strict=True) if c == g], _of(weights, code, g))
        for g in range(len(first))
    ]
    shares = [total(_of(weights, code, g)) / mass for g in range(len(first))]
    score = total(w * (_square(p, q) + total(x * (1 - x) for x in q)) for p, q, w in rows) / mass
    reliability = total(s * _square(report[i], o) for s, i, o in zip(shares, first, inside, strict=True))
    resolution = total(s * _square(o, mean) for s, o in zip(shares, inside, strict=True))
    uncertainty = total(x * (1 - x) for x in mean)
    grouping = total(w * _square(q, inside[g]) for (_, q, w), g in zip(rows, code, strict=True)) / mass
    irreducible = total(w * total(x * (1 - x) for x in q) for _, q, w in rows) / mass
    return score, reliability, resolution, uncertainty, grouping, irreducible


def _equal(first: Sequence[Real], second: Sequence[Real]) -> bool:
    return all(p == q for p, q in zip(first, second, strict=True))


def _square(first: Sequence[Real], second: Sequence[Real]) -> Real:
    return total((p - q) * (p - q) for p, q in zip(first, second, strict=True))


def _of(weights: Sequence[Real], code: Sequence[int], group: int) -> list[Real]:
    return [w for w, c in zip(weights, code, strict=True) if c == group]


def _centre(vectors: Sequence[Sequence[Real]], weights: Sequence[Real]) -> list[Real]:
    mass = total(weights)
    return [total(w * v[k] for v, w in zip(vectors, weights, strict=True)) / mass for k in range(len(vectors[0]))]


def brier_decomposition(*, report: object, target: object, weights: object = None) -> BrierDecomposition:
    """Reliability, resolution and uncertainty of a set of reports, grouped by the exact report.

    Formula: Σ w_g‖p_g − ō_g‖² − Σ w_g‖ō_g − ō‖² + Σ_k ō_k(1 − ō_k), g over the distinct reports (whole
    vectors), ō_g and ō weighted mean targets; also reliability + Σ w‖q − ō_g‖² (grouping loss) + Σ w Σ_k
    q_k(1 − q_k) (irreducible).

    Claim: C.decomposition.

    Convention: sum over classes, [0, 2]; labels enter as `one_hot`.

    Shapes: (n, K) twice. Exact input: both sums equal the score exactly.

    Raises
    ------
    InvalidArgument
        As `brier_score` does.

    Examples
    --------
    >>> d = brier_decomposition(report=[["0.8", "0.2"]] * 2, target=[[1, 0], [0, 1]])
    >>> d.reliability, d.resolution, d.uncertainty, d.score
    (Fraction(9, 50), Fraction(0, 1), Fraction(1, 2), Fraction(17, 25))
    """
    p, q, w = _rows(report, target, weights)
    code, count = _codes([tuple(row) for row in p.tolist()])
    mass, sums = _group(code, count, w, q)
    group_mean = sums / mass[:, np.newaxis]
    first = _first_rows(code, count)
    share = mass / mass.sum()
    mean = (share[:, np.newaxis] * group_mean).sum(axis=0)
    row_share = (w / w.sum())[:, np.newaxis]
    residual = group_mean[code]
    return BrierDecomposition(
        score=_plain((row_share * ((p - q) ** 2 + q * (1 - q))).sum()),
        reliability=_plain((share[:, np.newaxis] * (p[first] - group_mean) ** 2).sum()),
        resolution=_plain((share[:, np.newaxis] * (group_mean - mean) ** 2).sum()),
        uncertainty=_plain((mean * (1 - mean)).sum()),
        grouping_loss=_plain((row_share * (q - residual) ** 2).sum()),
        irreducible=_plain((row_share * (q * (1 - q))).sum()),
        groups=count,
    )


def binned_brier_decomposition(
    *, report: object, target: object, bin_of: Sequence[int] | Array, weights: object = None
) -> BinnedBrierDecomposition:
    """The three terms over bins of unequal reports, and the two terms that they leave out.

    Formula: with p̄_b and ō_b weighted bin means, Σ w_b‖p̄_b − ō_b‖² − Σ w_b‖ō_b − ō‖² + Σ ō_k(1 − ō_k) + Σ
    w‖p − p̄_b‖² − 2 Σ w⟨p − p̄_b, q − ō_b⟩.

    Claim: C.decomposition; the first three alone are the refuted form.

    Convention: sum over classes, [0, 2]. `bin_of` gives each row's bin (`calibration.bin_index`).

    Shapes: (n, K) twice, (n).

    Raises
    ------
    InvalidArgument
        As `brier_score` does, and for bins that are no integers.

    Examples
    --------
    >>> d = binned_brier_decomposition(
    ...     report=[["0.9", "0.1"], ["0.7", "0.3"]], target=[[1, 0], [0, 1]], bin_of=[0, 0])
    >>> five_terms = d.three_terms + d.within_bin_variance - 2 * d.within_bin_covariance
    >>> d.three_terms == d.score, five_terms == d.score
    (False, True)
    """
    p, q, w = _rows(report, target, weights)
    bins = np.asarray(bin_of)
    if bins.dtype.kind not in "iu" or bins.shape != w.shape:
        raise InvalidArgument(
            "bin_of", f"{bins.dtype} of shape {bins.shape}", f"one integer bin for each of {len(w)} rows"
        )
    code, count = _codes(bins.tolist())
    mass, sums = _group(code, count, w, q)
    _, report_sums = _group(code, count, w, p)
    outcome, centre = sums / mass[:, np.newaxis], report_sums / mass[:, np.newaxis]
    share = (mass / mass.sum())[:, np.newaxis]
    row_share = (w / w.sum())[:, np.newaxis]
    mean = (share * outcome).sum(axis=0)
    reliability = (share * (centre - outcome) ** 2).sum()
    resolution = (share * (outcome - mean) ** 2).sum()
    uncertainty = (mean * (1 - mean)).sum()
    inside = p - centre[code]
    return BinnedBrierDecomposition(
        score=_plain((row_share * ((p - q) ** 2 + q * (1 - q))).sum()),
        reliability=_plain(reliability),
        resolution=_plain(resolution),
        uncertainty=_plain(uncertainty),
        within_bin_variance=_plain((row_share * inside**2).sum()),
        within_bin_covariance=_plain((row_share * inside * (q - outcome[code])).sum()),
        three_terms=_plain(reliability - resolution + uncertainty),
        bins=count,
    )


def _rows(report: object, target: object, weights: object) -> tuple[Array, Array, Array]:
    p, q = read(report=report, target=target)
    if p.ndim != 2:
        raise InvalidArgument("report", f"shape {p.shape}", "rows of class probabilities")
    check_simplex(p, argument="report")
    check_probability(q, argument="target")
    check_same_shape(report=p, target=q)
    check_simplex(q, argument="target")
    w = as_weights(weights, shape=p.shape[:1], exact=is_exact(p))
    keep = w > 0
    return p[keep], q[keep], w[keep]


def _codes(keys: Sequence[Any]) -> tuple[Array, int]:
    """Rows numbered by key in order of first appearance; 0.0 and −0.0 are one number and one key."""
    seen: dict[Any, int] = {}
    code = np.array([seen.setdefault(key, len(seen)) for key in keys])
    return code, len(seen)


def _first_rows(code: Array, count: int) -> Array:
    first = np.empty(count, dtype=np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]  # the last write wins, so the smallest index stays
    return first


def _group(code: Array, count: int, w: Array, values: Array) -> tuple[Array, Array]:
    mass = np.zeros(count, dtype=w.dtype)
    sums = np.zeros((count, values.shape[1]), dtype=values.dtype)
    if is_exact(w):
        mass[...], sums[...] = Fraction(0), Fraction(0)
    np.add.at(mass, code, w)
    np.add.at(sums, code, w[:, np.newaxis] * values)
    return mass, sums


def _plain(value: Any) -> Value:
    return value if isinstance(value, Fraction) else float(value)
