"""The search that chose what the papers lost: `python -m exactworlds.contract.calibrate ranges | primary | headroom …`.

P2's parameter ranges did not survive. `ranges` compares candidate ranges by how far the printed values lie from what
such ranges give on average, in standard deviations. The other searches keep the ranges and the seed, and choose from
where in its stream each stratum takes its roots (`first`), so that the printed values come out; they meet in the
middle: half of the strata are combined at random, and the other half is looked up. All of it is seeded, in floats, and
says only what to try: a cohort's figures are computed exactly elsewhere, and what is not reached is shown as such.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from attrs import evolve

from exactworlds.contract.cells import CELLS, categories_of
from exactworlds.contract.cohorts import build_cohort, count_slots
from exactworlds.contract.generators import Array, Source
from exactworlds.memo.streams import Stream
from exactworlds.rational import half_unit
from exactworlds.spec.cohorts import CohortSpec, find_cohort
from exactworlds.spec.document import Exact
from exactworlds.spec.published import load_published

__all__ = ["distance_of_ranges", "fit_development", "fit_headroom", "fit_primary", "fit_subset", "main"]

STEP = 500
"""The first indices that are tried are multiples of this."""

SEED = 20261130
COST = 10  # 1/c at the primary cost 0.10
NAMES = ("undefined", "canonical positive", "binary positive", "canonical headroom", "binary headroom", "q(A)")

COUNT_RANGES = ((1, 20), (1, 50), (1, 100), (1, 200), (0, 100), (5, 100))
LIKELIHOOD_SETS = (
    ("1/2", "9/10", "1"),
    ("1/10", "1/2", "9/10", "1"),
    ("1/10", "1/4", "1/2", "3/4", "9/10", "1"),
    ("0", "1/10", "1/2", "9/10", "1"),
)


class Target(NamedTuple):
    """A printed value and half a unit of its last digit."""

    value: float
    half: float


def printed(quantity: str) -> Target:
    """What the paper prints of a quantity of a cohort."""
    found = next(cell.printed for cell in load_published().cells() if cell.quantity == quantity and cell.printed)
    return Target(float(Fraction(found)), float(half_unit(found)))


def primary_targets() -> list[Target]:
    """The targets of the primary cohort, as sums or means over its roots, in the order of `NAMES`.

    The forced class "yes" on half of the roots costs (1 − mean q(A))/2 + c/2, which gives the mean q(A).
    """
    canonical, binary = (printed(f"primary/{task}/0.10/oracle-loss") for task in ("canonical", "binary"))
    loss = printed("primary/always-yes/0.10/half-coverage-loss")
    return [
        printed("primary/undefined-conditionals"),
        printed("primary/canonical/0.10/positive-headroom-roots"),
        printed("primary/binary/0.10/positive-headroom-roots"),
        Target(1 / COST - canonical.value, canonical.half),
        Target(1 / COST - binary.value, binary.half),
        Target(1 - 2 * (loss.value - 1 / COST / 2), 2 * loss.half),
    ]


def figures(source: Source, start: int, rows: int) -> Array:
    """One row a draw that is a world: the columns of `NAMES`, and max(q(A), 1 − q(A)) behind them."""
    weights = source.weights(source.draw(start, rows)).astype(np.int64)
    total = weights.sum(axis=1)
    categories = categories_of(source.generator)
    names = sorted(categories)
    masses = np.stack([weights[:, [CELLS.index(cell) for cell in categories[name]]].sum(axis=1) for name in names], 1)
    inside = masses[:, : len(names) // 2].sum(axis=1)
    largest, confident = masses.max(axis=1), np.maximum(inside, total - inside)
    b_mass = weights[:, [place for place, cell in enumerate(CELLS) if cell.b]].sum(axis=1)
    whole = np.maximum(total, 1)
    columns = [
        b_mass == 0,
        largest * COST > total * (COST - 1),
        confident * COST > total * (COST - 1),
        np.maximum(0, largest * COST - total * (COST - 1)) / (whole * COST),
        np.maximum(0, confident * COST - total * (COST - 1)) / (whole * COST),
        inside / whole,
        confident / whole,
    ]
    found: Array = np.stack([np.asarray(column, dtype=float) for column in columns], axis=1)
    return found[np.flatnonzero(total > 0)]


def distance_of_ranges(spec: CohortSpec, counts: tuple[int, int], likelihoods: Sequence[str], rows: int) -> Array:
    """How far each printed value lies from the mean under candidate ranges, in standard deviations of a cohort."""
    mean, variance = np.zeros(len(NAMES)), np.zeros(len(NAMES))
    tables = dict(spec.generator)
    for generator, encoding, entry in spec.strata():
        table = evolve(tables[generator], counts=counts)
        if table.likelihoods:
            table = evolve(table, likelihoods=tuple(Exact(text, Fraction(text)) for text in likelihoods))
        found = figures(Source(table, generator, encoding, str(SEED)), 0, rows)[:, : len(NAMES)]
        mean += entry.roots * found.mean(axis=0)
        variance += entry.roots * found.var(axis=0)
    targets = np.array([target.value for target in primary_targets()])
    scale = np.array([1, 1, 1, *[sum(entry.roots for _, _, entry in spec.strata())] * 3])
    return np.asarray((targets * scale - mean) / np.sqrt(variance))


def window_sums(spec: CohortSpec, windows: int) -> list[Array]:
    """For each stratum the sums of the columns over its roots, for each first index that is a multiple of STEP."""
    found = []
    for generator, encoding, entry in spec.strata():
        source = Source(spec.generator[generator], generator, encoding, spec.seed)
        rows = [figures(source, STEP * place, STEP)[: entry.roots, : len(NAMES)] for place in range(windows)]
        found.append(np.array([part.sum(axis=0) for part in rows]))
    return found


def quota_means(spec: CohortSpec, windows: int, step: int) -> list[Array]:
    """For each stratum and first index, the mean headrooms (canonical, binary) of the roots that its quotas keep."""
    found = []
    for generator, encoding, entry in spec.strata():
        source = Source(spec.generator[generator], generator, encoding, spec.seed)
        drawn = np.concatenate([figures(source, start, 50_000) for start in range(0, step * windows + 250_000, 50_000)])
        sums = np.zeros((windows, 2))
        for quota in spec.quota:
            low, high = float(quota.low.value), float(quota.high.value)
            places = np.flatnonzero((drawn[:, 6] >= low) & (drawn[:, 6] < high) & (drawn[:, 6] < 1))
            behind = np.concatenate([np.zeros((1, 2)), drawn[places][:, 3:5].cumsum(axis=0)])
            begin = np.searchsorted(places, step * np.arange(windows))
            sums += behind[begin + quota.roots] - behind[begin]
        found.append(sums / entry.roots)
    return found


def fit_primary(spec: CohortSpec, windows: int = 1000, tries: int = 1_000_000) -> list[list[int]]:
    """First indices of the strata that bring out every printed value of the primary cohort."""
    sums = window_sums(spec, windows)
    roots = sum(entry.roots for _, _, entry in spec.strata())
    wanted = np.array([target.value for target in primary_targets()]) * [1, 1, 1, *[roots] * 3]
    allowed = np.array([target.half for target in primary_targets()]) * [1, 1, 1, *[roots] * 3]
    return [[STEP * place for place in places] for places in _meet(sums, wanted, allowed, tries, windows, counts=3)]


def fit_headroom(spec: CohortSpec, windows: int = 400, step: int = 1000, tries: int = 20_000) -> list[list[int]]:
    """First indices of the strata that bring out the two printed mean headrooms."""
    means = quota_means(spec, windows, step)
    targets = [printed(f"headroom/{task}/0.10/headroom") for task in ("canonical", "binary")]
    wanted, allowed = ([pick * len(means) for pick in column] for column in zip(*targets, strict=True))
    found = _meet(means, np.array(wanted), np.array(allowed), tries, windows, counts=0)
    return [[step * place for place in places] for places in found]


def fit_development(spec: CohortSpec) -> list[list[int]]:
    """The least first index, the same for all strata, that leaves the printed number of requests."""
    wanted = printed("development/eligible").value
    for first in range(0, 100 * STEP, STEP):
        moved = {
            generator: {encoding: evolve(entry, first=first) for encoding, entry in encodings.items()}
            for generator, encodings in spec.stratum.items()
        }
        if count_slots(build_cohort(evolve(spec, stratum=moved))).eligible == wanted:
            return [[first] * sum(1 for _ in spec.strata())]
    return []


def fit_subset(spec: CohortSpec, seeds: int = 1000) -> int | None:
    """The least seed whose choice of roots has the printed number of undefined conditionals."""
    wanted = printed("subset/undefined-conditionals").value
    return next(
        (
            seed
            for seed in range(seeds)
            if len(count_slots(build_cohort(evolve(spec, seed=str(seed)))).undefined) == wanted
        ),
        None,
    )


def _meet(
    sums: list[Array], wanted: Array, allowed: Array, tries: int, windows: int, *, counts: int
) -> list[list[int]]:
    """Choices of one row a stratum whose total is as wanted; the first `counts` columns must be equal, being counts.

    Two random halves: the right one sorted by (counts, last column), the left one looks its complement up.
    """
    sides = (range(len(sums) // 2), range(len(sums) // 2, len(sums)))
    picks = [
        np.stack([Stream("contract calibration", stratum).uniform(0, tries, windows) for stratum in side], axis=1)
        for side in sides
    ]
    parts: list[Array] = [
        sum((sums[stratum][pick[:, column]] for column, stratum in enumerate(side)), np.zeros(len(wanted)))
        for side, pick in zip(sides, picks, strict=True)
    ]
    radix = np.array([1_000_000.0, 1000.0, 1.0])[:counts]
    keys = [part[:, :counts].round() @ radix if counts else np.zeros(len(part)) for part in parts]
    spread = 1000.0  # above any sum of the last column: a key and a last column make one sortable number
    order = np.argsort(keys[1] * spread + parts[1][:, -1], kind="stable")
    rights = (keys[1] * spread + parts[1][:, -1])[order]
    centre = (wanted[:counts] @ radix if counts else 0.0) - keys[0]
    lookup = centre * spread + wanted[-1] - parts[0][:, -1]
    low = np.searchsorted(rights, lookup - allowed[-1], "left")
    high = np.searchsorted(rights, lookup + allowed[-1], "right")
    found = []
    for left in np.flatnonzero(high > low).tolist():
        rights_here = order[low[left] : high[left]]
        apart = abs(parts[0][left] + parts[1][rights_here] - wanted)
        fits = (apart < np.concatenate([np.full(counts, 0.5), allowed[counts:]])).all(axis=1)
        found += [[*picks[0][left].tolist(), *picks[1][right].tolist()] for right in rights_here[fits].tolist()]
    return sorted(found, key=lambda places: (sum(places), places))


def _range_lines(spec: CohortSpec) -> Iterator[str]:
    rows = []
    for counts in COUNT_RANGES:
        for likelihoods in LIKELIHOOD_SETS:
            apart = distance_of_ranges(spec, counts, likelihoods, 20_000)
            rows.append((float((apart**2).sum()), counts, likelihoods, apart))
    yield "sum of squares, counts, likelihoods, and in standard deviations: " + ", ".join(NAMES)
    for distance, counts, likelihoods, apart in sorted(rows, key=lambda row: row[0]):
        each = " ".join(f"{value:+.2f}" for value in apart)
        yield f"{distance:7.2f}  {counts[0]}–{counts[1]}  {' '.join(likelihoods)}  {each}"


def main(arguments: Sequence[str]) -> int:
    """Prints what a search finds; the specs are changed by hand."""
    if list(arguments) == ["ranges"]:
        print("\n".join(_range_lines(find_cohort("primary"))))
        return 0
    if list(arguments) == ["subset"]:
        print(f"seed = {fit_subset(find_cohort('subset'))}")
        return 0
    fits: dict[str, Callable[[CohortSpec], list[list[int]]]] = {
        "primary": fit_primary,
        "headroom": fit_headroom,
        "development": fit_development,
    }
    if len(arguments) != 1 or arguments[0] not in fits:
        print(f"expected one of: ranges, subset, {', '.join(fits)}", file=sys.stderr)
        return 2
    spec = find_cohort(arguments[0])
    found = fits[arguments[0]](spec)
    print(f"{len(found)} choices of first indices; the one of least sum:")
    for (generator, encoding, _), first in zip(spec.strata(), found[0] if found else (), strict=bool(found)):
        print(f"stratum.{generator}.{encoding}.first = {first}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
