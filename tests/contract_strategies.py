"""Hypothesis strategies for contracts, and the set-based model that they are checked against.

The model knows nothing of the package's arithmetic: a world is a bag of equally likely tickets, an event a set of
cells, and a probability is counting.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import lcm
from typing import get_args

from hypothesis import strategies as st

from exactworlds.contract.cells import (
    CELLS,
    FOUR_CATEGORIES,
    THREE_CATEGORIES,
    Cell,
    CellSet,
    ContractWorld,
    Observed,
    Sensor,
)
from exactworlds.contract.events import And, Atom, Event, Given, In, Not, Or, Query
from exactworlds.spec.cohorts import GeneratorName

LIKELIHOODS = st.fractions(0, 1, max_denominator=12)


@st.composite
def partitions(draw: st.DrawFn) -> dict[str, CellSet]:
    """Two to four categories with names of no particular order, or those of the generators."""
    kind = draw(st.sampled_from(["four", "three", "free"]))
    if kind != "free":
        return dict(FOUR_CATEGORIES if kind == "four" else THREE_CATEGORIES)
    size = draw(st.integers(2, 4))
    more = draw(st.lists(st.integers(0, size - 1), min_size=4 - size, max_size=4 - size))
    owners = draw(st.permutations([*range(size), *more]))
    names = draw(st.permutations([f"type_{place}" for place in range(size)]))
    return {
        names[owner]: frozenset(cell for cell, mine in zip(CELLS, owners, strict=True) if mine == owner)
        for owner in range(size)
    }


@st.composite
def worlds(draw: st.DrawFn) -> ContractWorld:
    """Any world of positive mass: zero counts and zero likelihoods included."""
    generator = draw(st.sampled_from(get_args(GeneratorName)))
    evidence = draw(
        st.none()
        | st.builds(Observed, st.sampled_from(["a", "b"]), st.booleans())
        | st.builds(Sensor, st.tuples(LIKELIHOODS, LIKELIHOODS, LIKELIHOODS, LIKELIHOODS))
    )
    categories = draw(partitions())
    counts = draw(
        st.tuples(*[st.integers(0, 30)] * 4).filter(
            lambda found: tickets_of(found, likelihoods_of(evidence)).total() > 0
        )
    )
    return ContractWorld(generator, counts, evidence, categories)


def likelihoods_of(evidence: Observed | Sensor | None) -> list[Fraction]:
    """The likelihood of each cell, cell by cell."""
    if evidence is None:
        return [Fraction(1)] * 4
    if isinstance(evidence, Sensor):
        return list(evidence.likelihoods)
    place = 0 if evidence.attribute == "a" else 1
    return [Fraction(1 if cell[place] is evidence.value else 0) for cell in CELLS]


def tickets_of(counts: tuple[int, ...], likelihoods: list[Fraction]) -> Counter[Cell]:
    """How many equally likely tickets lie in each cell: a counted object has as many as its likelihood says."""
    whole = lcm(*(likelihood.denominator for likelihood in likelihoods))
    found: Counter[Cell] = Counter()
    for cell, count, likelihood in zip(CELLS, counts, likelihoods, strict=True):
        found[cell] += count * int(likelihood * whole)
    return found


def share(world: ContractWorld, cells: set[Cell]) -> Fraction:
    """The share of the tickets that lie in a set of cells."""
    drawn = tickets_of(world.counts, likelihoods_of(world.evidence))
    return Fraction(sum(drawn[cell] for cell in cells), drawn.total())


def model_cells(event: Event, world: ContractWorld) -> set[Cell]:
    """The cells of an event, by asking each cell by itself."""
    return {cell for cell in CELLS if model_holds(event, cell, world)}


def model_holds(event: Event, cell: Cell, world: ContractWorld) -> bool:
    if isinstance(event, Atom):
        return cell[0] if event.attribute == "a" else cell[1]
    if isinstance(event, In):
        return any(cell in world.categories[name] for name in event.categories)
    if isinstance(event, Not):
        return not model_holds(event.event, cell, world)
    left, right = model_holds(event.left, cell, world), model_holds(event.right, cell, world)
    return (left and right) if isinstance(event, And) else (left or right)


def events(names: tuple[str, ...]) -> st.SearchStrategy[Event]:
    """Events over the attributes and these categories."""
    simple: st.SearchStrategy[Event] = st.one_of(
        st.builds(Atom, st.sampled_from(["a", "b"])),
        st.builds(In, st.sets(st.sampled_from(names), min_size=1)),
    )
    return st.recursive(
        simple,
        lambda inner: st.one_of(st.builds(Not, inner), st.builds(And, inner, inner), st.builds(Or, inner, inner)),
        max_leaves=8,
    )


def queries(names: tuple[str, ...]) -> st.SearchStrategy[Query]:
    return st.one_of(events(names), st.builds(Given, events(names), events(names)))


@st.composite
def worlds_with_events(draw: st.DrawFn, count: int = 2) -> tuple[ContractWorld, list[Event]]:
    """A world, and events over its own categories."""
    world = draw(worlds())
    return world, [draw(events(world.names)) for _ in range(count)]
