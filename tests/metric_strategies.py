"""Strategies for metrics: probabilities that sit on thresholds more often than chance would put them."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

__all__ = [
    "TINY",
    "costs",
    "decimals",
    "distributions",
    "pairs_of_distributions",
    "probabilities",
    "roots",
    "rows_of",
    "unit_fractions",
    "weights_of",
]

TINY = Fraction(1, 10**9)
"""The ε beside a threshold."""


def unit_fractions(largest: int = 40) -> st.SearchStrategy[Fraction]:
    """Free rationals in [0, 1] with small denominators, which collide often."""
    return st.integers(1, largest).flatmap(lambda d: st.integers(0, d).map(lambda n: Fraction(n, d)))


def decimals(places: int = 2) -> st.SearchStrategy[Fraction]:
    """Decimals in [0, 1] as people write them."""
    return st.integers(0, 10**places).map(lambda n: Fraction(n, 10**places))


def costs(*, below_half: bool = True) -> st.SearchStrategy[Fraction]:
    """Reject costs: the published ones, a third, and free ones."""
    known = st.sampled_from([Fraction(k, 100) for k in (2, 5, 10, 20, 30, 40)] + [Fraction(1, 3), Fraction(99, 200)])
    limit = Fraction(1, 2) if below_half else Fraction(1)
    free = unit_fractions(60).filter(lambda c: 0 < c < limit)
    return st.one_of(known, free) if below_half else st.one_of(known, free, st.just(Fraction(1, 2)))


def probabilities(cost: Fraction) -> st.SearchStrategy[Fraction]:
    """A probability in {c, 1−c, c ± ε, 1−c ± ε, 0, ½, 1} or free."""
    near = [cost, 1 - cost, cost - TINY, cost + TINY, 1 - cost - TINY, 1 - cost + TINY]
    special = [*near, Fraction(0), Fraction(1, 2), Fraction(1)]
    return st.one_of(st.sampled_from([x for x in special if 0 <= x <= 1]), unit_fractions(), decimals())


def distributions(classes: int, cost: Fraction | None = None) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Class probabilities: small integers normalised (many ties), or one class at a threshold."""
    free = st.lists(st.integers(0, 4), min_size=classes, max_size=classes).filter(any)
    even = free.map(lambda n: tuple(Fraction(k, sum(n)) for k in n))
    if cost is None:
        return even

    def pinned(p: Fraction, n: list[int], place: int) -> tuple[Fraction, ...]:
        rest = [(1 - p) * Fraction(k, sum(n)) for k in n]
        return (*rest[:place], p, *rest[place:])

    others = st.lists(st.integers(0, 4), min_size=classes - 1, max_size=classes - 1).filter(any)
    tied = st.builds(pinned, probabilities(cost), others, st.integers(0, classes - 1))
    return st.one_of(even, tied)


def pairs_of_distributions(
    cost: Fraction | None = None,
) -> st.SearchStrategy[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    """A report and a target over the same 2 … 4 classes, equal now and then."""
    return st.integers(2, 4).flatmap(
        lambda k: st.one_of(
            st.tuples(distributions(k, cost), distributions(k, cost)),
            distributions(k, cost).map(lambda p: (p, p)),
        )
    )


def roots(cost: Fraction) -> st.SearchStrategy[tuple[Fraction, Fraction, Fraction]]:
    """(p, p′, q), with a midpoint at a threshold now and then."""
    free = st.tuples(probabilities(cost), probabilities(cost), probabilities(cost))

    def centred(m: Fraction, gap: Fraction, q: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        half = min(m, 1 - m, gap)
        return m - half, m + half, q

    middle = st.sampled_from([cost, 1 - cost, Fraction(1, 2)])
    return st.one_of(free, st.builds(centred, middle, unit_fractions(), probabilities(cost)))


def rows_of(rows: st.SearchStrategy[T], most: int = 8) -> st.SearchStrategy[list[T]]:
    """A few rows, at least one."""
    return st.lists(rows, min_size=1, max_size=most)


def weights_of(count: int) -> st.SearchStrategy[list[Fraction]]:
    """Weights that are not all 0."""
    return st.lists(st.integers(0, 3).map(Fraction), min_size=count, max_size=count).filter(any)
