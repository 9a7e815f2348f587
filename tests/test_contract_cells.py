"""Four-cell worlds: the exact posterior against counting, the second path, what is refused, and what a hash ignores."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from contract_strategies import likelihoods_of, share, worlds
from exactworlds.contract.admission import admit_roots
from exactworlds.contract.cells import (
    CELLS,
    FOUR_CATEGORIES,
    THREE_CATEGORIES,
    Cell,
    ContractWorld,
    Observed,
    Sensor,
    introductory_world,
    semantic_hash,
)
from exactworlds.contract.second_path import SecondPath
from exactworlds.errors import InvalidContract

FF, FT, TF, TT = CELLS


def test_the_introductory_example() -> None:
    world = introductory_world()
    assert [float(weight) for weight in world.weights] == [33.5, 76.5, 9, 39.5]
    assert world.q_a == Fraction(220, 317)
    assert world.event_a == ("type_0", "type_1")
    assert sum(world.canonical.values()) == 1


@given(worlds())
def test_the_posterior_is_the_share_of_tickets(world: ContractWorld) -> None:
    for cell in CELLS:
        assert world.posterior[cell] == share(world, {cell})
    assert list(world.canonical) == sorted(world.categories)
    for name, cells in world.categories.items():
        assert world.canonical[name] == share(world, set(cells))
    half = sorted(world.categories)[: len(world.categories) // 2]
    assert world.q_a == share(world, {cell for name in half for cell in world.categories[name]})
    assert world.has_conditional == any(share(world, {cell}) for cell in CELLS if cell.b)


@given(worlds())
def test_both_paths_agree_far_below_the_tolerance(world: ContractWorld) -> None:
    found = admit_roots([("root", world)])
    assert found.admitted
    assert found.largest < Fraction(1, 10**60)


def test_a_wrong_posterior_is_refused_by_name() -> None:
    world = introductory_world()
    wrong = dict(world.posterior)
    wrong[FF] += Fraction(2, 10**15)
    wrong[TT] -= Fraction(2, 10**15)
    object.__setattr__(world, "posterior", wrong)
    found = admit_roots([("sound", introductory_world()), ("wrong", world)])
    assert not found.admitted
    assert [line.partition(":")[0] for line in found.disagreements] == ["wrong"]


def test_the_tolerance_is_inclusive() -> None:
    world = introductory_world()
    shifted = dict(world.posterior)
    shifted[FF] += Fraction(1, 10**15) - Fraction(1, 10**40)
    object.__setattr__(world, "posterior", shifted)
    assert admit_roots([("root", world)]).admitted


def test_the_second_path_has_its_own_precision() -> None:
    before = mpmath.mp.dps
    second = SecondPath()
    found = second.posterior((67, 85, 9, 79), ("1/2", "9/10", "1", "1/2"))
    assert mpmath.mp.dps == before
    assert second.context.nstr(found[0] + found[1], 60) == second.context.nstr(second.context.mpf(220) / 317, 60)


BAD_WORLDS: list[tuple[dict[str, Any], list[str]]] = [
    ({"counts": (-1, 2, 3, 4)}, ["counts[0]: found -1, expected a whole number that is not negative"]),
    ({"counts": (1, True, 1.5, 4)}, ["counts[1]: found True", "counts[2]: found 1.5"]),
    ({"counts": (1, 2, 3)}, ["counts: found 3 counts, expected 4"]),
    ({"counts": (0, 0, 0, 0)}, ["counts: found no cell with count × likelihood > 0"]),
    (
        {"evidence": Sensor((Fraction(11, 10), Fraction(1), Fraction(-1, 2), Fraction(1)))},
        ["evidence.likelihoods[0]: found '11/10', expected", "evidence.likelihoods[2]: found '-1/2', expected"],
    ),
    ({"evidence": Sensor((0.5, Fraction(1), Fraction(1), Fraction(1)))}, ["evidence.likelihoods[0]: found '0.5'"]),  # type: ignore[arg-type]
    ({"evidence": Observed("c", True)}, ["evidence.attribute: found 'c', expected one of: a, b"]),  # type: ignore[arg-type]
    ({"generator": "coin"}, ["generator: found 'coin', expected one of: finite-population"]),
    (
        {"categories": {"x": frozenset([FF, FT]), "y": frozenset([FT, TF])}},
        ["categories.y: holds the cell FT, which x holds too", "categories: leave out TT"],
    ),
    ({"categories": {"given": frozenset([FF, FT]), "y": frozenset([TF, TT])}}, ["categories.given: expected a name"]),
    ({"categories": {"all": frozenset(CELLS)}}, ["categories: found 1, expected at least 2"]),
    (
        {"counts": (-1, 2, 3, -4), "evidence": Sensor((Fraction(2), Fraction(1), Fraction(1), Fraction(1)))},
        ["counts[0]", "counts[3]", "evidence.likelihoods[0]"],
    ),
]


@pytest.mark.parametrize(("changes", "messages"), BAD_WORLDS)
def test_what_cannot_be_is_refused_with_every_fault(changes: dict[str, Any], messages: list[str]) -> None:
    sound: dict[str, Any] = {
        "generator": "noisy-sensor",
        "counts": (1, 2, 3, 4),
        "evidence": None,
        "categories": FOUR_CATEGORIES,
    }
    ContractWorld(**sound)
    with pytest.raises(InvalidContract) as caught:
        ContractWorld(**{**sound, **changes})
    assert len(caught.value.problems) == len(messages)
    for message in messages:
        assert f"world: {message}" in str(caught.value)


@given(worlds(), st.permutations(range(4)))
def test_a_hash_ignores_the_order_in_which_categories_are_written(world: ContractWorld, order: list[int]) -> None:
    items = list(world.categories.items())
    shuffled = dict(items[place] for place in order if place < len(items))
    assert semantic_hash(evolve(world, categories=shuffled)) == semantic_hash(world)


def test_a_hash_ignores_names_but_not_which_cells_form_a() -> None:
    world = introductory_world()
    renamed = {name.replace("type_", "kind_"): cells for name, cells in world.categories.items()}
    assert semantic_hash(evolve(world, categories=renamed)) == semantic_hash(world)
    within_a = dict(zip(FOUR_CATEGORIES, map(frozenset, ([FT], [FF], [TF], [TT])), strict=True))
    assert semantic_hash(evolve(world, categories=within_a)) == semantic_hash(world)
    another_a = dict(zip(FOUR_CATEGORIES, map(frozenset, ([TF], [FF], [FT], [TT])), strict=True))
    assert semantic_hash(evolve(world, categories=another_a)) != semantic_hash(world)


def test_a_hash_sees_everything_that_the_posterior_or_its_question_depends_on() -> None:
    base = ContractWorld("finite-population", (1, 2, 3, 4), None, FOUR_CATEGORIES)
    sensor = Sensor((Fraction(1, 2), Fraction(1), Fraction(1), Fraction(1)))
    others = [
        evolve(base, generator="joint-attributes"),
        evolve(base, counts=(2, 1, 3, 4)),
        evolve(base, counts=(1, 2, 3, 5)),
        evolve(base, evidence=Observed("b", True)),
        evolve(base, evidence=Observed("b", False)),
        evolve(base, evidence=Observed("a", True)),
        evolve(base, evidence=sensor),
        evolve(base, evidence=Sensor((Fraction(1),) * 4)),
        evolve(base, categories=THREE_CATEGORIES),
    ]
    assert len({semantic_hash(world) for world in [base, *others]}) == len(others) + 1


def identity(world: ContractWorld) -> object:
    """What two worlds must have in common to be the same root."""
    partition = frozenset(world.categories.values())
    evidence = (likelihoods_of(world.evidence), type(world.evidence))
    return (world.generator, world.counts, evidence, partition, world.cells_of_a)


@given(worlds(), st.data())
def test_hashes_are_equal_iff_the_roots_are(world: ContractWorld, data: st.DataObject) -> None:
    changes: dict[str, Any] = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "generator": st.sampled_from(["joint-attributes", "noisy-sensor"]),
                "counts": st.permutations(world.counts).map(tuple),
                "categories": st.permutations(list(world.categories.values())).map(
                    lambda cells: dict(zip(world.categories, cells, strict=True))
                ),
            },
        )
    )
    try:
        other = evolve(world, **changes)
    except InvalidContract:  # the counts fell where the evidence excludes them
        return
    assert (semantic_hash(world) == semantic_hash(other)) == (identity(world) == identity(other))


def test_cells_are_in_sorted_order() -> None:
    assert sorted(CELLS) == list(CELLS) == [Cell(False, False), Cell(False, True), Cell(True, False), Cell(True, True)]
