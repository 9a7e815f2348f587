"""Paired, stratified bootstrap intervals, each statistic with its own denominator.

One draw of roots serves all statistics of a replicate, so that they stay paired. Replicates are counts of how
often each root was drawn; weighted means and ratios of means are then one matrix product a stratum. The draws
are a pure function of the seed and the strata: raw Philox words, whose stream NumPy guarantees, and they do
not depend on the block size. What is not here: the statistics themselves. Whatever is no ratio of means goes
through `bootstrap_function`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import Array, check_choice, check_count, check_mask
from exactworlds.metrics._ordering import Real
from exactworlds.metrics.undefined import Undefined

__all__ = [
    "BASE_SEEDS",
    "REPLICATES",
    "SEEDS",
    "BootstrapInterval",
    "Statistic",
    "bootstrap_function",
    "derived_seed",
    "mean_statistic",
    "paired_bootstrap",
    "percentile_formula",
    "percentile_interval",
    "ratio_statistic",
    "resample_counts",
]

REPLICATES = 5000
"""Replicates of a published interval (P2 App. S)."""

SEEDS = {"primary": 2026092408, "reasoning": 20260923, "headroom": 20260923}
"""Published seeds (P2); the reasoning and the headroom analysis share one."""

BASE_SEEDS = (2026092804, 2026092803)
"""Bases from which `derived_seed` makes one seed a metric and configuration."""

LARGEST_BLOCK = 2**17
"""Counts that are held at one time: 1 MB as floats, which stays in a core's cache."""


@dataclass(frozen=True)
class Statistic:
    """A ratio of weighted means over a statistic's own valid roots; `denominator` none for a plain mean."""

    numerator: Array
    valid: Array
    denominator: Array | None = None


def mean_statistic(values: object, *, valid: object = None) -> Statistic:
    """A weighted mean over valid roots, for the bootstrap.

    Formula: Σ w v / Σ w, w = 1/(H n_h) over valid roots.

    Claim: E.bootstrap. Values are floats; ±inf is allowed and kept. What stands at a root that is not valid
    is ignored.

    Raises
    ------
    InvalidArgument
        For a NaN at a valid root, or shapes.

    Examples
    --------
    >>> mean_statistic([0.5, float("nan")], valid=[True, False]).numerator
    array([0.5, 0. ])
    """
    v, mask = _floats(values, "values", valid)
    return Statistic(v, mask)


def ratio_statistic(*, numerator: object, denominator: object, valid: object = None) -> Statistic:
    """A ratio of two weighted means over the same valid roots, for the bootstrap.

    Formula: Σ w a / Σ w b.

    Claim: E.bootstrap, `weights`. A replicate whose denominator is 0 has no value and is dropped.

    Raises
    ------
    InvalidArgument
        For a NaN or, in the denominator, an infinity at a valid root, or shapes that differ.

    Examples
    --------
    >>> ratio_statistic(numerator=[1.0, 2.0], denominator=[2.0, 2.0]).denominator
    array([2., 2.])
    """
    a, mask = _floats(numerator, "numerator", valid)
    b, _ = _floats(denominator, "denominator", valid)
    if a.shape != b.shape:
        raise InvalidArgument("denominator", f"shape {b.shape}", f"the shape of numerator, {a.shape}")
    if np.isinf(b).any():
        index = int(np.argmax(np.isinf(b)))
        raise InvalidArgument("denominator", float(b[index]), "a finite number", index)
    return Statistic(a, mask, b)


def _floats(values: object, argument: str, valid: object) -> tuple[Array, Array]:
    raw = np.asarray(values)
    if raw.dtype == object and raw.ndim == 1:
        raw = np.array([float(value) for value in raw])
    if raw.dtype.kind not in "iuf" or raw.dtype in (np.float32, np.float16) or raw.ndim != 1 or raw.size == 0:
        raise InvalidArgument(argument, f"an array of {raw.dtype}, shape {raw.shape}", "one float64 a root")
    mask = check_mask(valid, argument="valid", shape=raw.shape)
    out = np.where(mask, raw, 0).astype(np.float64)
    if np.isnan(out).any():
        index = int(np.argmax(np.isnan(out)))
        raise InvalidArgument(argument, float("nan"), "a number at every valid root", index)
    return out, mask


# --- draws ----------------------------------------------------------------------------------------------------------


def derived_seed(base: int, *, metric: str, configuration: str) -> int:
    """A seed of its own for one metric of one configuration.

    Formula: the first 8 bytes of SHA-256 of "base/metric/configuration" as an integer, most significant first
    (`chosen`).

    Claim: E.bootstrap.

    Examples
    --------
    >>> derived_seed(2026092804, metric="regret", configuration="a") < 2**64
    True
    """
    text = f"{check_count(base, argument='base', low=0)}/{metric}/{configuration}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def resample_counts(
    strata: Sequence[Hashable], *, replicates: int = REPLICATES, seed: int, block: int | None = None
) -> Iterator[Array]:
    """How often each root is drawn, in blocks of replicates: n_h draws with replacement in every stratum.

    Formula: stratum number h (in order of first appearance) reads its own Philox stream, key (seed, h); each
    word gives two 32-bit halves u, low half first, and the root ⌊u n_h / 2³²⌋, whose probability is 1/n_h up
    to 2⁻³² (`chosen`).

    Claim: E.bootstrap. Blocks are integer arrays (replicates, roots); their size does not change the draws.

    Raises
    ------
    InvalidArgument
        For no roots, fewer than one replicate, or a seed outside 0 … 2⁶⁴ − 1.

    Examples
    --------
    >>> next(resample_counts(["a", "a", "b"], replicates=2, seed=1)).sum(axis=1)
    array([3, 3])
    """
    groups = _groups(strata)
    many, key = _checked(replicates, seed)
    size = block if block is not None else max(1, LARGEST_BLOCK // len(strata))
    streams = [np.random.Philox(key=np.array([key, h], dtype=np.uint64)) for h in range(len(groups))]
    for start in range(0, many, size):
        rows = min(size, many - start)
        counts = np.zeros((rows, len(strata)), dtype=np.int64)
        for stream, group in zip(streams, groups, strict=True):
            counts[:, group] = _draw(stream, rows, len(group))
        yield counts


def _checked(replicates: int, seed: int) -> tuple[int, int]:
    return check_count(replicates, argument="replicates"), check_count(seed, argument="seed", low=0, high=2**64 - 1)


def _groups(strata: Sequence[Hashable]) -> list[Array]:
    found: dict[Hashable, list[int]] = {}
    for index, name in enumerate(strata):
        found.setdefault(name, []).append(index)
    if not found:
        raise InvalidArgument("strata", "an empty sequence", "at least one root")
    return [np.array(indices) for indices in found.values()]


def _draw(stream: np.random.Philox, rows: int, roots: int) -> Array:
    words = (roots + 1) // 2
    halves = stream.random_raw(rows * words).astype("<u8", copy=False).view("<u4").reshape(rows, 2 * words)
    scaled = np.multiply(halves[:, :roots], np.uint64(roots), dtype=np.uint64)
    scaled >>= np.uint64(32)
    picked = scaled.view(np.int64)
    picked += (np.arange(rows) * roots)[:, np.newaxis]
    return np.bincount(picked.ravel(), minlength=rows * roots).reshape(rows, roots)


# --- intervals ------------------------------------------------------------------------------------------------------


def percentile_formula(ordered: Sequence[Real], *, part: int, of: int, upper: bool) -> Real:
    """The value at position (n − 1)·part/of of a sorted sequence, linear; by an infinity the outer one.

    Proof: proofs/test_estimators.py::test_a_percentile_is_linear_between_neighbours
    """
    index, rest = divmod((len(ordered) - 1) * part, of)
    if rest == 0:
        return ordered[index]
    low, high = ordered[index], ordered[index + 1]
    if low == -math.inf or high == math.inf:
        return high if upper else low
    return low + (high - low) * rest / of


def percentile_interval(values: object) -> tuple[float, float]:
    """The 95 % percentile interval of replicates.

    Formula: sorted values at 0-based positions 0.025(R − 1) and 0.975(R − 1), linear between neighbours;
    where a neighbour is infinite, the outer one.

    Claim: E.bootstrap.

    Raises
    ------
    InvalidArgument
        For no value or a NaN.

    Examples
    --------
    >>> percentile_interval([float(k) for k in range(41)])
    (1.0, 39.0)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0 or np.isnan(array).any():
        raise InvalidArgument("values", f"{array.size} values", "at least one replicate, none of them NaN")
    places = sorted({p for end in ((array.size - 1) // 40, (array.size - 1) * 39 // 40) for p in (end, end + 1)})
    ordered: Any = np.partition(array, [p for p in places if p < array.size])
    low = percentile_formula(ordered, part=1, of=40, upper=False)
    return float(low), float(percentile_formula(ordered, part=39, of=40, upper=True))


@dataclass(frozen=True)
class BootstrapInterval:
    """A statistic on all roots and its 95 % interval, with what the replicates went through.

    `used` replicates have a value; `dropped` have none (no valid root, a denominator of 0, or infinities of
    both signs); in `strata_left_out` replicates some stratum had no valid root and the others carried the
    weight. `support` names what was drawn: intended root slots, or paired-valid roots.
    """

    estimate: float | Undefined
    low: float | Undefined
    high: float | Undefined
    used: int
    dropped: int
    strata_left_out: int
    replicates: int
    seed: int
    support: str


def paired_bootstrap(
    statistics: Mapping[str, Statistic],
    *,
    strata: Sequence[Hashable],
    replicates: int = REPLICATES,
    seed: int,
    support: str = "intended",
) -> dict[str, BootstrapInterval]:
    """95 % intervals of weighted means and ratios, all on the same draws of roots.

    Formula: a replicate draws n_h root slots with replacement in each stratum, once for all statistics; each
    statistic is recomputed on its own valid roots as the mean over strata of its stratum means (a ratio: of
    its two means); the interval is `percentile_interval`.

    Claim: E.bootstrap (P2 App. S).

    Convention: `support="intended"` draws from all root slots; a stratum without a valid root is left out of
    that statistic in that replicate, a replicate without any is dropped, both counted. `support="paired"`
    draws only from roots at which every statistic of the call is valid (`chosen` for several statistics):
    hand over one pair's at a time. Infinite values are kept: a replicate that drew one is infinite. Floats,
    error below 1e-12 relative to the largest value.

    Raises
    ------
    InvalidArgument
        For no statistic, lengths that differ, an unknown support, or a seed outside 0 … 2⁶⁴ − 1.

    Notes
    -----
    Departures: SciPy's `bootstrap` has no strata and no missing roots; its percentile interval is the
    same.

    Examples
    --------
    >>> gap = mean_statistic([0.0, 1.0, 1.0, 1.0])
    >>> out = paired_bootstrap({"gap": gap}, strata=["a", "a", "b", "b"], seed=7)
    >>> out["gap"].estimate, out["gap"].low, out["gap"].high, out["gap"].dropped
    (0.75, 0.5, 1.0, 0)
    """
    check_choice(support, argument="support", choices=("intended", "paired"))
    if not statistics:
        raise InvalidArgument("statistics", "no statistic", "at least one")
    names = list(strata)
    for name, statistic in statistics.items():
        if statistic.numerator.shape != (len(names),):
            found = f"{len(statistic.numerator)} roots"
            raise InvalidArgument(f"statistics[{name!r}]", found, f"one value for each of {len(names)} roots")
    kept = np.ones(len(names), dtype=bool)
    if support == "paired":
        kept = np.logical_and.reduce([statistic.valid for statistic in statistics.values()])
        if not kept.any():
            raise InvalidArgument("support", "paired", "a root at which every statistic is valid")
    rows = np.flatnonzero(kept)
    plan = _Plan(statistics, rows)
    many, _ = _checked(replicates, seed)
    drawn = [names[i] for i in rows]
    groups = _groups(drawn)
    whole = plan.values([np.ones((1, len(group))) for group in groups], groups)
    values = np.empty((many, len(statistics)))
    fine, partial = np.empty(values.shape, dtype=bool), np.empty(values.shape, dtype=bool)
    streams = [np.random.Philox(key=np.array([seed, h], dtype=np.uint64)) for h in range(len(groups))]
    size = max(1, LARGEST_BLOCK // len(rows))
    for start in range(0, many, size):
        count = min(size, many - start)
        counts = [
            _draw(stream, count, len(group)).astype(np.float64) for stream, group in zip(streams, groups, strict=True)
        ]
        part = slice(start, start + count)
        values[part], fine[part], partial[part] = plan.values(counts, groups)
    out = {}
    for j, name in enumerate(statistics):
        good = values[fine[:, j], j]
        nothing = Undefined("no replicate has a value", {"replicates": many})
        low, high = percentile_interval(good) if good.size else (nothing, nothing)
        point = float(whole[0][0, j]) if whole[1][0, j] else Undefined("no value on all roots", {"roots": len(rows)})
        left_out = int(np.count_nonzero(partial[:, j] & fine[:, j]))
        out[name] = BootstrapInterval(
            point, low, high, int(good.size), many - int(good.size), left_out, many, seed, support
        )
    return out


class _Plan:
    """The columns of all statistics side by side, so that one product a stratum serves them all.

    Numerators come first, one column a statistic; then the masks (a single one if all statistics are valid at
    the same roots); then the denominators of the ratios; then the places of infinite values, where there
    are any.
    """

    def __init__(self, statistics: Mapping[str, Statistic], rows: Array) -> None:
        chosen = list(statistics.values())
        tops = np.stack([statistic.numerator[rows] for statistic in chosen], axis=1)
        masks = np.stack([statistic.valid[rows] for statistic in chosen], axis=1).astype(np.float64)
        if (masks == masks[:, :1]).all():
            masks = masks[:, :1]
        infinite = np.isinf(tops)
        self._count = len(chosen)
        self._ratios = np.array([j for j, s in enumerate(chosen) if s.denominator is not None], dtype=np.intp)
        self._odd = np.flatnonzero(infinite.any(axis=0))
        below = [s.denominator[rows] for s in chosen if s.denominator is not None]
        parts = [
            np.where(infinite, 0.0, tops),
            masks,
            np.stack(below, axis=1) if below else np.empty((len(rows), 0)),
            (tops[:, self._odd] == math.inf).astype(np.float64),
            (tops[:, self._odd] == -math.inf).astype(np.float64),
        ]
        self._matrix = np.concatenate(parts, axis=1)
        self._ends = np.cumsum([part.shape[1] for part in parts])

    def values(self, counts: Sequence[Array], groups: Sequence[Array]) -> tuple[Array, Array, Array]:
        """Each statistic in each replicate; whether it has a value; whether a stratum was left out of it."""
        a, b, c, d, _ = self._ends
        shape = (len(counts[0]), self._count)
        top, strata = np.zeros(shape), np.zeros((shape[0], b - a))
        bottom = np.zeros((shape[0], c - b))
        odd = np.zeros((shape[0], 2 * len(self._odd)))
        for count, group in zip(counts, groups, strict=True):
            sums = count @ self._matrix[group]
            roots = sums[:, a:b]
            inside = roots > 0
            scale = 1.0 / roots if inside.all() else np.divide(1.0, roots, out=np.zeros(roots.shape), where=inside)
            strata += inside
            top += sums[:, :a] * scale
            if c > b:
                bottom += sums[:, b:c] * (scale if b - a == 1 else scale[:, self._ratios])
            odd += sums[:, c:]
        below = np.broadcast_to(strata, shape).copy()  # a plain mean divides by the strata that had a root
        fine = below > 0
        below[:, self._ratios] = bottom
        fine &= below != 0
        value = top / below if fine.all() else np.divide(top, below, out=np.zeros(shape), where=fine)
        for place, j in enumerate(self._odd):
            up, down = odd[:, place] > 0, odd[:, d - c + place] > 0
            sign = np.where(below[:, j] < 0, -math.inf, math.inf)
            value[up, j], value[down, j] = sign[up], -sign[down]
            fine[up & down, j] = False
        return value, fine, np.broadcast_to(strata < len(counts), shape)


def bootstrap_function(
    statistic: Callable[[Array], float | Fraction | Undefined],
    *,
    strata: Sequence[Hashable],
    replicates: int = REPLICATES,
    seed: int,
) -> BootstrapInterval:
    """The 95 % interval of any statistic of how often each root was drawn: ECE, AUROC, selective loss.

    Formula: `statistic(counts)` on the draws of `resample_counts`; a replicate that returns `Undefined` is
    dropped and counted.

    Claim: E.bootstrap. The statistic applies the weights of the strata itself (`means.stratum_weights`
    times counts, for a fixed support). Slower than `paired_bootstrap` by the price of the statistic.

    Raises
    ------
    InvalidArgument
        As `resample_counts` does, and for a statistic that returns a NaN.

    Examples
    --------
    >>> drawn = lambda counts: float(counts[0] > 0)
    >>> out = bootstrap_function(drawn, strata=["a", "a"], replicates=100, seed=3)
    >>> out.estimate, out.low, out.high
    (1.0, 0.0, 1.0)
    """
    values: list[float] = []
    dropped = 0

    def number(counts: Array) -> float | Undefined:
        value = statistic(counts)
        if isinstance(value, Undefined):
            return value
        if math.isnan(value):
            raise InvalidArgument("statistic", value, "a number or Undefined for every replicate")
        return float(value)

    for block in resample_counts(strata, replicates=replicates, seed=seed):
        for counts in block:
            value = number(counts)
            if isinstance(value, Undefined):
                dropped += 1
            else:
                values.append(value)
    nothing = Undefined("no replicate has a value", {"replicates": replicates})
    low, high = percentile_interval(values) if values else (nothing, nothing)
    estimate = number(np.ones(len(strata), dtype=np.int64))
    return BootstrapInterval(estimate, low, high, len(values), dropped, 0, replicates, seed, "intended")
