"""Ranking roots: areas under the curve with ties, retention with fractional ties, Pareto frontiers.

Ties are never broken by row order: a tied pair counts half, the roots at a retention boundary are kept in
equal fractions, equal points on a frontier both stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    Value,
    as_fraction,
    as_weights,
    check_cost,
    check_mask,
    check_probability,
    check_same_shape,
    is_exact,
    one_dimensional,
    read,
    read_exact,
)
from exactworlds.metrics._ordering import Real, total
from exactworlds.metrics.undefined import Undefined

__all__ = [
    "area_under_curve",
    "auroc_formula",
    "dominates_formula",
    "pareto_frontier",
    "retention_formula",
    "selective_loss",
    "selective_loss_formula",
    "selective_retention",
]


def auroc_formula(score: Sequence[Real], positive: Sequence[bool], weights: Sequence[Real]) -> Real:
    """Σ_{i positive, j negative} w_i w_j (1[s_i > s_j] + ½·1[s_i = s_j]) / (Σ w_i Σ w_j).

    Proof: proofs/test_estimators.py::test_the_area_is_the_chance_that_a_positive_ranks_higher
    """
    doubled: Real = 0
    for s, yes, w in zip(score, positive, weights, strict=True):
        if yes:
            for t, other, v in zip(score, positive, weights, strict=True):
                if not other:
                    if s > t:
                        doubled = doubled + 2 * w * v
                    elif s == t:
                        doubled = doubled + w * v
    up = total(w for w, yes in zip(weights, positive, strict=True) if yes)
    down = total(w for w, yes in zip(weights, positive, strict=True) if not yes)
    return doubled / (2 * up * down)


def area_under_curve(*, score: object, positive: object, weights: object = None) -> Value | Undefined:
    """The probability that a positive root has the higher score, a tie counting half; ½ is no information.

    Formula: P(s⁺ > s⁻) + ½ P(s⁺ = s⁻), pairs weighted by the product of their weights.

    Claim: E.selective (P2).

    Convention: `Undefined` with the counts where a class is empty (of positive weight).

    Range [0, 1].

    Shapes: (n) each. Exact scores give a Fraction; floats an error below 1e-12. O(n log n).

    Raises
    ------
    InvalidArgument
        For a NaN, shapes that differ, or weights that are negative or all 0.

    Notes
    -----
    Departures: scikit-learn returns NaN with a warning where a class is empty; here the result is
    `Undefined`.

    Examples
    --------
    >>> area_under_curve(score=["0.3", "0.3", "0.1"], positive=[True, False, False])
    Fraction(3, 4)
    """
    (s,) = read(score=score)
    one_dimensional(s, argument="score")
    if not is_exact(s) and np.isnan(s).any():
        raise InvalidArgument("score", float("nan"), "a number", int(np.argmax(np.isnan(s))))
    exact = is_exact(s)
    yes = check_mask(positive, argument="positive", shape=s.shape)
    w = as_weights(weights, shape=s.shape, exact=exact)
    up, down = np.where(yes, w, 0 * w), np.where(yes, 0 * w, w)
    if not (up.max() > 0 and down.max() > 0):
        counts = {"positive": int(np.count_nonzero(up)), "negative": int(np.count_nonzero(down))}
        return Undefined("one of the two classes is empty", counts)
    code = _ranks(s)
    cells = int(code.max()) + 1
    if exact:
        ups, downs = np.full(cells, Fraction(0)), np.full(cells, Fraction(0))
        np.add.at(ups, code, up)
        np.add.at(downs, code, down)
    else:
        ups, downs = np.bincount(code, up, cells), np.bincount(code, down, cells)
    below = downs.cumsum() - downs
    area = (ups * (2 * below + downs)).sum() / (2 * ups.sum() * downs.sum())
    return area if exact else float(area)


def _ranks(score: Array) -> Array:
    """Dense ranks; equal scores share one."""
    if not is_exact(score):
        return np.unique(score, return_inverse=True)[1]
    rank = {value: index for index, value in enumerate(sorted(set(score.tolist())))}
    return np.array([rank[value] for value in score.tolist()])


def retention_formula(score: Sequence[Real], weights: Sequence[Real], retained: Real) -> list[Real]:
    """The share of each root that is kept when the lowest scores are kept up to the weight `retained`.

    Proof: proofs/test_estimators.py::test_retention_keeps_the_lowest_scores_first
    """
    out = []
    for s, w in zip(score, weights, strict=True):
        below = total(v for t, v in zip(score, weights, strict=True) if t < s)
        level = total(v for t, v in zip(score, weights, strict=True) if t == s)
        if retained >= below + level:
            out.append(0 * w + 1)
        elif retained <= below:
            out.append(0 * w)
        else:
            out.append((retained - below) / level)
    return out


def selective_retention(
    *, score: object, retain: object = Fraction(1, 2), weights: object = None, eligible: object = None
) -> Array:
    """How much of each root is kept when the roots with the lowest scores are, up to a share of the weight.

    Formula: keep ascending score until the weight κ·Σ w; the roots whose score is at the boundary are kept in
    one equal fraction, the rest defers.

    Claim: E.selective (P2).

    Convention: the total is that of all intended roots; a root that is not `eligible` (an incomplete pair) is
    never kept, and takes none of the weight. Scores: |p − p′|, −max(m, 1 − m), or class excess risk.

    Shapes: (n) each, to (n) Fractions in [0, 1]. Computed on exact decimals.

    Raises
    ------
    InvalidArgument
        For shapes that differ, a share outside [0, 1], or weights that are negative or all 0.

    Examples
    --------
    >>> selective_retention(score=["0.1", "0.2", "0.2", "0.3"]).tolist()
    [Fraction(1, 1), Fraction(1, 2), Fraction(1, 2), Fraction(0, 1)]
    """
    (s,) = read_exact(score=score)
    one_dimensional(s, argument="score")
    share = as_fraction(retain, argument="retain")
    if not 0 <= share <= 1:
        raise InvalidArgument("retain", retain, "a share in [0, 1]")
    w = as_weights(weights, shape=s.shape, exact=True)
    mask = check_mask(eligible, argument="eligible", shape=s.shape)
    kept = np.full(s.shape, Fraction(0))
    left = share * total(w)
    levels: dict[Fraction, list[int]] = {}
    for index in range(len(s)):
        if mask[index]:
            levels.setdefault(s[index], []).append(index)
    for value in sorted(levels):
        mass = total(w[i] for i in levels[value])
        part = Fraction(1) if left >= mass else left / mass
        for index in levels[value]:
            kept[index] = part
        if part < 1:
            break
        left = left - mass
    return kept


def selective_loss_formula(loss: Sequence[Real], retained: Sequence[Real], weights: Sequence[Real], cost: Real) -> Real:
    """Σ w (k ℓ + (1 − k) c) / Σ w.

    Proof: proofs/test_estimators.py::test_the_selective_loss_defers_what_is_not_kept
    """
    rows = zip(loss, retained, weights, strict=True)
    return total(w * (k * value + (1 - k) * cost) for value, k, w in rows) / total(weights)


def selective_loss(*, loss: object, retained: object, cost: object, weights: object = None) -> Fraction:
    """The mean loss when a share of each root acts and the rest defers; smaller is better.

    Formula: Σ w (k ℓ + (1 − k) c) / Σ w, k from `selective_retention`.

    Claim: E.selective (P2).

    Convention: ℓ is the loss of acting as the policy does; the main point is κ = ½, c = 0.10. Computed on
    exact decimals.

    Shapes: (n) each.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], shapes that differ, a cost outside (0, 1), or weights that are negative or
        all 0.

    Examples
    --------
    >>> selective_loss(loss=["0.02", "0.5"], retained=[1, 0], cost="0.1")
    Fraction(3, 50)
    """
    values, kept = read_exact(loss=loss, retained=retained)
    one_dimensional(values, argument="loss")
    check_probability(values, argument="loss")
    check_probability(kept, argument="retained")
    check_same_shape(loss=values, retained=kept)
    c = check_cost(cost)
    w = as_weights(weights, shape=values.shape, exact=True)
    return Fraction(selective_loss_formula(values.tolist(), kept.tolist(), w.tolist(), c))


def dominates_formula(cost: Real, loss: Real, other_cost: Real, other_loss: Real) -> bool:
    """Whether a point is at most as costly and at most as bad as another, one of them strictly.

    Proof: proofs/test_estimators.py::test_domination_is_a_strict_order
    """
    if cost > other_cost or loss > other_loss:
        return False
    if cost < other_cost:
        return True
    return bool(loss < other_loss)


def pareto_frontier(*, cost: object, loss: object) -> Array:
    """Which points no other point beats in cost and loss at once.

    Formula: i stays iff no j has cost_j ≤ cost_i and loss_j ≤ loss_i with one of them strict.

    Claim: F.frontier (P1 §5).

    Convention: equal points both stay; infinite losses are allowed; compared exactly.

    Shapes: (n) twice, to (n) booleans.

    Raises
    ------
    InvalidArgument
        For a NaN or shapes that differ.

    Examples
    --------
    >>> pareto_frontier(cost=[1, 2, 3, 1], loss=["0.3", "0.2", "0.2", "0.3"]).tolist()
    [True, True, False, True]
    """
    c, e = _points(cost, "cost"), _points(loss, "loss")
    if len(c) != len(e):
        raise InvalidArgument("loss", f"{len(e)} values", f"as many as costs, {len(c)}")
    keep = np.ones(len(c), dtype=bool)
    best: Real = None
    order = sorted(range(len(c)), key=lambda i: (c[i], e[i]))
    for position, i in enumerate(order):
        same = position > 0 and c[i] == c[order[position - 1]] and e[i] == e[order[position - 1]]
        if same:
            keep[i] = keep[order[position - 1]]
        elif best is not None and e[i] >= best:
            keep[i] = False
        if best is None or e[i] < best:
            best = e[i]
    return keep


def _points(values: object, argument: str) -> list[Real]:
    raw = np.asarray(values, dtype=object)
    if raw.ndim != 1 or raw.size == 0:
        raise InvalidArgument(argument, f"shape {raw.shape}", "one value a point, at least one")
    out: list[Real] = []
    for index, value in enumerate(raw):
        infinite = isinstance(value, float) and value in (float("inf"), float("-inf"))
        out.append(value if infinite else as_fraction(value, argument=argument, index=index))
    return out
