"""Cohorts: the roots that a spec describes, drawn in order, with what it may not share and how many slots it has.

A stratum keeps its draws from its first index on, in their order: those that are a world, that no earlier root of the
cohort equals (by semantic hash), and, with quotas, those whose bin is still open. What is not here: the requests
(`requests`), files, scores.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property

import numpy as np
from attrs import field, frozen

from exactworlds.contract.cells import CELLS, ContractWorld, categories_of, semantic_hash
from exactworlds.contract.generators import Array, Source
from exactworlds.errors import InvalidContract, Problem
from exactworlds.memo.streams import Stream
from exactworlds.spec.cohorts import (
    CohortSpec,
    Encoding,
    GeneratorName,
    QuotaTable,
    StratumTable,
    find_cohort,
)

__all__ = [
    "Cohort",
    "Root",
    "Slots",
    "build_cohort",
    "check_disjoint",
    "check_subset",
    "confidence_bin",
    "count_slots",
]

MOST_DRAWS = 20_000_000
"""A stratum gives up after this many draws: its quotas or its ranges leave too little to keep."""

_BATCH = 4096


@frozen
class Root:
    """A world with its evidence and its encoding, and where it stands in the cohort."""

    id: str
    generator: GeneratorName
    encoding: Encoding
    index: int
    world: ContractWorld
    hash: str

    @property
    def stratum(self) -> str:
        return f"{self.generator}/{self.encoding}"


@frozen
class Cohort:
    """All roots of a cohort, stratum after stratum, and the seed under which they were drawn."""

    spec: CohortSpec
    seed: str
    roots: tuple[Root, ...] = field(repr=False)

    @cached_property
    def strata(self) -> Mapping[str, tuple[Root, ...]]:
        """The roots by stratum, in their fixed order."""
        found: dict[str, list[Root]] = {}
        for root in self.roots:
            found.setdefault(root.stratum, []).append(root)
        return {name: tuple(roots) for name, roots in found.items()}

    def mean(self, values: Iterable[Fraction]) -> Fraction:
        """The mean of one value a root, with equal weight for every stratum.

        Claim: E.strata
        """
        sums: dict[str, Fraction] = {}
        for root, value in zip(self.roots, values, strict=True):
            sums[root.stratum] = sums.get(root.stratum, Fraction(0)) + value
        means = [total / len(self.strata[name]) for name, total in sums.items()]
        return sum(means, Fraction(0)) / len(means)


@frozen
class Slots:
    """The requests that a cohort intends, those that are undefined (by root), and those that are sent."""

    intended: int
    undefined: tuple[str, ...]
    by_variant: Mapping[str, int]

    @property
    def eligible(self) -> int:
        return self.intended - len(self.undefined)


def build_cohort(spec: CohortSpec, seed: str | None = None) -> Cohort:
    """The roots of a cohort, under its own seed or another one.

    Raises `InvalidContract` if a stratum cannot be filled.

    Claim: E.cohorts, E.hash
    """
    if spec.subset is not None:
        return _subset(spec, seed)
    used = seed or spec.seed
    taken: set[str] = set()
    roots: list[Root] = []
    for generator, encoding, entry in spec.strata():
        source = Source(spec.generator[generator], generator, encoding, used)
        for place, (index, world) in enumerate(_kept(spec, entry, source, taken)):
            name = f"{spec.id}/{generator}/{encoding}/{place:03d}"
            roots.append(Root(name, generator, encoding, index, world, semantic_hash(world)))
    return Cohort(spec, used, tuple(roots))


def count_slots(cohort: Cohort) -> Slots:
    """How many requests there are: variants × roots, minus the conditionals given an event of mass zero.

    Claim: E.slots
    """
    variants = cohort.spec.variants
    undefined = (
        [root.id for root in cohort.roots if not root.world.has_conditional] if "conditional" in variants else []
    )
    by_variant = {
        variant: len(cohort.roots) - (len(undefined) if variant == "conditional" else 0) for variant in variants
    }
    return Slots(len(variants) * len(cohort.roots), tuple(undefined), by_variant)


def check_disjoint(cohorts: Iterable[Cohort]) -> None:
    """Refuses equal roots within a cohort, and between cohorts of which one says that they share none.

    Claim: E.hash
    """
    problems = []
    known = list(cohorts)
    for cohort in known:
        seen: dict[str, str] = {}
        for root in cohort.roots:
            if root.hash in seen:
                problems.append(Problem(root.id, f"equals {seen[root.hash]}, expected roots that differ"))
            seen.setdefault(root.hash, root.id)
    for one, other in itertools.combinations(known, 2):
        if other.spec.id in one.spec.disjoint_from or one.spec.id in other.spec.disjoint_from:
            theirs = {root.hash: root.id for root in other.roots}
            problems += [
                Problem(root.id, f"equals {theirs[root.hash]}, expected cohorts that share no root")
                for root in one.roots
                if root.hash in theirs
            ]
    if problems:
        raise InvalidContract("cohorts", problems)


def check_subset(subset: Cohort, whole: Cohort) -> None:
    """Refuses a subset that has a root which the whole has not.

    Claim: E.hash
    """
    known = {root.hash for root in whole.roots}
    problems = [
        Problem(root.id, f"is not in {whole.spec.id}, expected its roots only")
        for root in subset.roots
        if root.hash not in known
    ]
    if problems:
        raise InvalidContract(subset.spec.id, problems)


def confidence_bin(world: ContractWorld, quotas: Iterable[QuotaTable]) -> str | None:
    """The bin of max(q(A), 1 − q(A)); None outside all bins, and always for q(A) = 0 and 1.

    Claim: E.cohorts
    """
    confidence = max(world.q_a, 1 - world.q_a)
    if confidence == 1:
        return None
    return next((quota.name for quota in quotas if quota.low.value <= confidence < quota.high.value), None)


def _kept(
    spec: CohortSpec, entry: StratumTable, source: Source, taken: set[str]
) -> Iterator[tuple[int, ContractWorld]]:
    """The draws that a stratum keeps, with their indices; `taken` grows by their hashes."""
    room = {quota.name: quota.roots for quota in spec.quota}
    wanted = entry.roots
    for start in range(entry.first, entry.first + MOST_DRAWS, _BATCH):
        drawn = source.draw(start, _BATCH)
        weights = source.weights(drawn)
        for row in np.flatnonzero(_worth_a_look(weights, source, spec.quota)).tolist():
            world = source.world(drawn, row)
            found = confidence_bin(world, spec.quota) if spec.quota else None
            if spec.quota and (found is None or not room[found]):
                continue
            digest = semantic_hash(world)
            if digest in taken:
                continue
            taken.add(digest)
            if found is not None:
                room[found] -= 1
            yield start + row, world
            wanted -= 1
            if not wanted:
                return
    what = f"found {entry.roots - wanted} roots in {MOST_DRAWS:,} draws, expected {entry.roots}"
    raise InvalidContract(spec.id, [Problem(f"stratum.{source.generator}.{source.encoding}", what)])


def _worth_a_look(weights: Array, source: Source, quotas: tuple[QuotaTable, ...]) -> Array:
    """Where there is mass, and with quotas where a bin holds the root: exact in integers, and fast."""
    total = weights.sum(axis=1)
    if not quotas:
        return np.asarray(total > 0)
    names = sorted(categories_of(source.generator))
    cells = [cell for name in names[: len(names) // 2] for cell in categories_of(source.generator)[name]]
    inside = weights[:, [CELLS.index(cell) for cell in cells]].sum(axis=1)
    larger = np.maximum(inside, total - inside)
    found = np.zeros(len(total), dtype=bool)
    for quota in quotas:
        low, high = quota.low.value, quota.high.value
        above = larger * low.denominator >= total * low.numerator
        found |= (above & (larger * high.denominator < total * high.numerator)).astype(bool)
    return np.asarray(found & (larger < total))


def _subset(spec: CohortSpec, seed: str | None) -> Cohort:
    """In each stratum the roots with the smallest drawn numbers, in the order of the cohort that they come from."""
    assert spec.subset is not None
    whole = build_cohort(find_cohort(spec.subset.of), seed)
    roots: list[Root] = []
    for stratum, members in whole.strata.items():
        if len(members) < spec.subset.roots:
            what = f"found {len(members)} roots in {whole.spec.id}, expected at least {spec.subset.roots}"
            raise InvalidContract(spec.id, [Problem(stratum, what)])
        words = Stream("contract", "subset", spec.seed, stratum).words(0, len(members))[:, 0]
        chosen = sorted(np.argsort(words, kind="stable")[: spec.subset.roots].tolist())
        roots += [members[place] for place in chosen]
    return Cohort(spec, whole.seed, tuple(roots))
