"""Mean loss as a function of a threshold: reject-cost curves and Murphy curves, on grids and exactly.

An exact curve is a list of breakpoints with the value left of, at and right of each, and an affine segment
between neighbours; it says all that any grid could. It is built from the policies' own scalar formulas, root
by root: each root changes at its own few breakpoints, and the changes are added up in order. `murphy_grid` is
the fast path for arrays.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import (
    Array,
    Value,
    as_fraction,
    as_weights,
    check_choice,
    check_mask,
    check_probability,
    check_same_shape,
    is_exact,
    one_dimensional,
    read,
    read_exact,
)
from exactworlds.metrics._ordering import Real, smaller, total
from exactworlds.metrics.policies import POLICIES, policy_loss_formula, single_loss_formula
from exactworlds.metrics.scores import elementary_score_formula

__all__ = [
    "COST_GRID",
    "THETA_GRID",
    "ExactCurve",
    "GridSigns",
    "agreement_acts_from_formula",
    "exact_curve",
    "grid_signs",
    "murphy_curve",
    "murphy_grid",
    "murphy_oracle_formula",
    "reject_curve",
    "reject_grid",
]

COST_GRID = tuple(Fraction(k, 200) for k in range(1, 100))
"""Costs k/200 for k = 1 … 99: the open interval (0, ½)."""

THETA_GRID = tuple(Fraction(k, 200) for k in range(1, 200))
"""Thresholds k/200 for k = 1 … 199: the open interval (0, 1)."""


@dataclass(frozen=True)
class ExactCurve:
    """A piecewise affine curve on the open interval (low, high).

    `left[i]`, `at[i]`, `right[i]` are the limits at and the value on `breakpoints[i]`; `segments[i]` is (α,
    β) of α + βx between breakpoint i − 1 (or low) and breakpoint i (or high).
    """

    low: Fraction
    high: Fraction
    breakpoints: tuple[Fraction, ...]
    left: tuple[Fraction, ...]
    at: tuple[Fraction, ...]
    right: tuple[Fraction, ...]
    segments: tuple[tuple[Fraction, Fraction], ...]

    def value(self, x: object) -> Fraction:
        """The curve at a point of the open interval, exactly."""
        point = as_fraction(x, argument="x")
        if not self.low < point < self.high:
            raise InvalidArgument("x", x, f"a point above {self.low} and below {self.high}")
        index = bisect_left(self.breakpoints, point)
        if index < len(self.breakpoints) and self.breakpoints[index] == point:
            return self.at[index]
        alpha, beta = self.segments[index]
        return alpha + beta * point

    def integral(self) -> Fraction:
        """The exact area under the curve over (low, high)."""
        edges = (self.low, *self.breakpoints, self.high)
        out = Fraction(0)
        for (alpha, beta), (a, b) in zip(self.segments, pairwise(edges), strict=True):
            out += (b - a) * (alpha + beta * (a + b) / 2)
        return out


def exact_curve(
    losses: Sequence[Callable[[Fraction], Fraction]],
    *,
    breakpoints: Sequence[Iterable[Fraction]],
    weights: Sequence[Fraction],
    low: Fraction,
    high: Fraction,
) -> ExactCurve:
    """The weighted mean of piecewise affine functions, exactly, from their values and their own breakpoints.

    Formula: each root is evaluated at its breakpoints and at two inner points of every piece, which fixes α
    and β there; the changes are accumulated over all roots in order.

    Claim: D.curves. The functions must be affine between their breakpoints; what lies outside (low, high) is
    ignored. O(n log n) in all breakpoints.

    Examples
    --------
    >>> step = exact_curve([lambda x: Fraction(int(x >= Fraction(1, 3)))], breakpoints=[[Fraction(1, 3)]],
    ...                    weights=[Fraction(1)], low=Fraction(0), high=Fraction(1))
    >>> step.left, step.at, step.right
    ((Fraction(0, 1),), (Fraction(1, 1),), (Fraction(1, 1),))
    """
    scale = total(weights)
    changes: dict[Fraction, list[Fraction]] = {}
    alpha, beta = Fraction(0), Fraction(0)
    for loss, own, weight in zip(losses, breakpoints, weights, strict=True):
        inner = sorted({x for x in own if low < x < high})
        edges = [low, *inner, high]
        pieces = [_affine(loss, a, b) for a, b in pairwise(edges)]
        alpha, beta = alpha + weight * pieces[0][0], beta + weight * pieces[0][1]
        for x, before, after in zip(inner, pieces, pieces[1:], strict=False):
            change = changes.setdefault(x, [Fraction(0), Fraction(0), Fraction(0)])
            change[0] += weight * (after[0] - before[0])
            change[1] += weight * (after[1] - before[1])
            change[2] += weight * (loss(x) - after[0] - after[1] * x)
    order = sorted(changes)
    segments = [(alpha / scale, beta / scale)]
    left, at, right = [], [], []
    for x in order:
        left.append((alpha + beta * x) / scale)
        alpha, beta = alpha + changes[x][0], beta + changes[x][1]
        right.append((alpha + beta * x) / scale)
        at.append((alpha + beta * x + changes[x][2]) / scale)
        segments.append((alpha / scale, beta / scale))
    return ExactCurve(low, high, tuple(order), tuple(left), tuple(at), tuple(right), tuple(segments))


def _affine(loss: Callable[[Fraction], Fraction], a: Fraction, b: Fraction) -> tuple[Fraction, Fraction]:
    first, second = a + (b - a) / 3, a + 2 * (b - a) / 3
    beta = (loss(second) - loss(first)) / (second - first)
    return loss(first) - beta * first, beta


def agreement_acts_from_formula(event: Real, choice: Real) -> Real:
    """The least cost in (0, ½) at which both reports give one class: the larger breakpoint; ½ for never.

    Proof: proofs/test_elementary_scores.py::test_agreement_acts_from_the_larger_breakpoint
    """
    one = 0 * event + 1
    if 2 * event < 1 and 2 * choice < 1:
        return event if event >= choice else choice
    if 2 * event > 1 and 2 * choice > 1:
        return 1 - smaller(event, choice)
    return one / 2


def reject_curve(
    *,
    policy: str,
    event: object,
    choice: object,
    target: object,
    weights: object = None,
    event_valid: object = None,
    choice_valid: object = None,
) -> ExactCurve:
    """The mean loss of a policy as an exact function of the reject cost on (0, ½).

    Formula: breakpoints min(x, 1−x) in (0, ½) of the policy's reports, the midpoint or q; between neighbours
    α + βc with β the weighted share that defers.

    Claim: D.curves.

    Convention: the value at a breakpoint is the right limit, for every policy; the oracle is continuous. A
    breakpoint at which nothing changes in sum is kept. Policies as in `policies.policy_losses`; a root with a
    constituent that is not valid costs c there (random averages).

    Shapes: (n) three times. Computed on exact decimals.

    Raises
    ------
    InvalidArgument
        As `policy_losses` does.

    Examples
    --------
    >>> curve = reject_curve(policy="event", event=["0.84"], choice=["0.97"], target=["220/317"])
    >>> curve.breakpoints, curve.left, curve.at
    ((Fraction(4, 25),), (Fraction(4, 25),), (Fraction(97, 317),))
    """
    check_choice(policy, argument="policy", choices=POLICIES)
    p, r, q = read_exact(event=event, choice=choice, target=target)
    for name, array in (("event", p), ("choice", r), ("target", q)):
        check_probability(array, argument=name)
    one_dimensional(p, argument="event")
    check_same_shape(event=p, choice=r, target=q)
    w = as_weights(weights, shape=p.shape, exact=True)
    ok_p = check_mask(event_valid, argument="event_valid", shape=p.shape)
    ok_r = check_mask(choice_valid, argument="choice_valid", shape=p.shape)
    losses = [_root_loss(policy, p[i], r[i], q[i], ok_p=bool(ok_p[i]), ok_r=bool(ok_r[i])) for i in range(len(p))]
    own = [[smaller(x, 1 - x) for x in _own_reports(policy, p[i], r[i], q[i])] for i in range(len(p))]
    return exact_curve(losses, breakpoints=own, weights=list(w), low=Fraction(0), high=Fraction(1, 2))


def _own_reports(policy: str, p: Fraction, r: Fraction, q: Fraction) -> tuple[Fraction, ...]:
    return {
        "event": (p,),
        "choice": (r,),
        "random": (p, r),
        "mean": ((p + r) / 2,),
        "agreement": (p, r),
        "oracle": (q,),
    }.get(policy, ())


def _root_loss(
    policy: str, p: Fraction, r: Fraction, q: Fraction, *, ok_p: bool, ok_r: bool
) -> Callable[[Fraction], Fraction]:
    def loss(c: Fraction) -> Fraction:
        if policy == "random":
            first = single_loss_formula(p, q, c) if ok_p else c
            second = single_loss_formula(r, q, c) if ok_r else c
            return Fraction(first + second) / 2
        missing = {
            "event": not ok_p,
            "choice": not ok_r,
            "mean": not (ok_p and ok_r),
            "agreement": not (ok_p and ok_r),
        }
        return c if missing.get(policy, False) else Fraction(policy_loss_formula(policy, p, r, q, c))

    return loss


def reject_grid(curve: ExactCurve, *, costs: Sequence[object] = COST_GRID) -> list[Fraction]:
    """A reject curve read off at costs: exact values, whatever the grid.

    Claim: D.curves (c = k/200, k = 1 … 99).

    Raises
    ------
    InvalidArgument
        For a cost outside (0, ½).

    Examples
    --------
    >>> curve = reject_curve(policy="defer", event=["0.5"], choice=["0.5"], target=["0.5"])
    >>> reject_grid(curve, costs=["0.1"])
    [Fraction(1, 10)]
    """
    return [curve.value(cost) for cost in costs]


@dataclass(frozen=True)
class GridSigns:
    """On a grid: where Mean loses less than, as much as, more than Random, and both less than deferring."""

    mean_better: int
    equal: int
    mean_worse: int
    both_beat_defer: int


def grid_signs(*, mean: ExactCurve, random: ExactCurve, costs: Sequence[object] = COST_GRID) -> GridSigns:
    """The signs of Mean − Random on a grid of costs, and how often both lose less than always deferring.

    Formula: counts of sign(L_mean(c) − L_random(c)) and of max(L_mean(c), L_random(c)) < c.

    Claim: D.curves.

    Convention: signs are exact; a tie with deferring does not beat it.

    Raises
    ------
    InvalidArgument
        For a cost outside (0, ½).

    Examples
    --------
    >>> roots = {"event": ["0.9"], "choice": ["0.7"], "target": ["0.9"]}
    >>> grid_signs(mean=reject_curve(policy="mean", **roots), random=reject_curve(policy="random", **roots))
    GridSigns(mean_better=20, equal=60, mean_worse=19, both_beat_defer=60)
    """
    better = equal = worse = both = 0
    for cost in costs:
        c = as_fraction(cost, argument="costs")
        m, r = mean.value(c), random.value(c)
        better, equal, worse = better + (m < r), equal + (m == r), worse + (m > r)
        both += m < c and r < c
    return GridSigns(better, equal, worse, both)


# --- Murphy curves --------------------------------------------------------------------------------------------------


def murphy_oracle_formula(target: Real, theta: Real) -> Real:
    """min((1 − θ)q, θ(1 − q)).

    Proof: proofs/test_elementary_scores.py::test_the_oracle_of_a_murphy_curve_is_the_best_report
    """
    return smaller((1 - theta) * target, theta * (1 - target))


def murphy_curve(*, target: object, reports: Sequence[object] = (), weights: object = None) -> ExactCurve:
    """The mean elementary score as an exact function of its threshold on (0, 1).

    Formula: mean S_θ(p; q) with h_θ(p) = 1[p ≥ θ]; breakpoints θ = p.

    Claim: D.murphy.

    Convention: one entry of `reports` is that report's curve (give the midpoints for Mean's); two are
    Random's, the mean of theirs; none is the oracle's, min((1−θ)q, θ(1−q)). The value at a breakpoint is the
    left limit, right − left = q − p for one root.

    Shapes: (n) each. Computed on exact decimals.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1] or shapes that differ.

    Examples
    --------
    >>> curve = murphy_curve(reports=[["0.3"]], target=["0.5"])
    >>> curve.left, curve.at, curve.right
    ((Fraction(3, 20),), (Fraction(3, 20),), (Fraction(7, 20),))
    """
    (q,) = read_exact(target=target)
    check_probability(q, argument="target")
    one_dimensional(q, argument="target")
    if len(reports) > 2:
        raise InvalidArgument("reports", f"{len(reports)} reports", "none, one or two sets of reports")
    sets = []
    for number, report in enumerate(reports):
        (p,) = read_exact(report=report)
        check_probability(p, argument=f"reports[{number}]")
        if p.shape != q.shape:
            raise InvalidArgument("reports", f"shape {p.shape}", f"the shape of target, {q.shape}", number)
        sets.append(p)
    w = as_weights(weights, shape=q.shape, exact=True)
    losses = [_murphy_loss([p[i] for p in sets], q[i]) for i in range(len(q))]
    own = [[p[i] for p in sets] or [q[i]] for i in range(len(q))]
    return exact_curve(losses, breakpoints=own, weights=list(w), low=Fraction(0), high=Fraction(1))


def _murphy_loss(reports: list[Fraction], q: Fraction) -> Callable[[Fraction], Fraction]:
    def loss(theta: Fraction) -> Fraction:
        if not reports:
            return Fraction(murphy_oracle_formula(q, theta))
        scores = [elementary_score_formula(p, q, theta, inclusive=True) for p in reports]
        return Fraction(total(scores)) / len(scores)

    return loss


def murphy_grid(
    *, report: object, target: object, thetas: Sequence[object] = THETA_GRID, weights: object = None
) -> Value:
    """The mean elementary score on a grid of thresholds: the fast path for arrays.

    Formula: mean (1−θ)q + (θ−q)·1[p ≥ θ] at each θ, all from one pass over the rows and sums over the
    thresholds.

    Claim: D.murphy.

    Convention: inclusive, p = θ counts as above.

    Shapes: (n) twice, to one value a θ. Floats: each θ is rounded once from its exact value; error below
    1e-12 at 10⁷ rows. Targets may be labels 0 and 1. Exact input gives Fractions.

    Raises
    ------
    InvalidArgument
        For values outside [0, 1], shapes that differ, no threshold, or one outside [0, 1].

    Examples
    --------
    >>> murphy_grid(report=["0.3"], target=["0.5"], thetas=["0.3", "0.31"]).tolist()
    [Fraction(3, 20), Fraction(69, 200)]
    """
    p, q = read(report=report, target=target)
    one_dimensional(p, argument="report")
    check_probability(p, argument="report")
    check_probability(q, argument="target")
    check_same_shape(report=p, target=q)
    exact = is_exact(p)
    (grid,) = read_exact(thetas=list(thetas))
    check_probability(grid, argument="thetas")
    w = None if weights is None and not exact else as_weights(weights, shape=p.shape, exact=exact)
    levels = grid if exact else grid.astype(np.float64)
    return _murphy_sums(p, q, levels, w)


def _murphy_sums(p: Array, q: Array, thetas: Array, w: Array | None) -> Value:
    """Weight and weighted target strictly below each θ, by counting rows between neighbouring thresholds.

    With the thresholds sorted, each row needs only its place among them, so rows are binned instead of
    sorted.
    """
    order = np.argsort(thetas, kind="stable")
    place = np.searchsorted(thetas[order], p, side="right")  # thresholds ≤ p: h is 1 for those
    cells = len(thetas) + 1
    if is_exact(p) and w is not None:
        mass, hits = np.full(cells, Fraction(0)), np.full(cells, Fraction(0))
        np.add.at(mass, place, w)
        np.add.at(hits, place, w * q)
    elif w is None:
        mass, hits = np.bincount(place, minlength=cells).astype(np.float64), np.bincount(place, q, cells)
    else:
        mass, hits = np.bincount(place, w, cells), np.bincount(place, w * q, cells)
    above_mass = mass[::-1].cumsum()[::-1][1:]
    above_hits = hits[::-1].cumsum()[::-1][1:]
    out = np.empty(len(thetas), dtype=thetas.dtype)
    ranked = thetas[order]
    out[order] = ((1 - ranked) * hits.sum() + ranked * above_mass - above_hits) / mass.sum()
    return out
