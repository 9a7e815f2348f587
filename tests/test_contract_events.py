"""The algebra of events against a set-based model: laws, probabilities, notation, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_strategies import model_cells, queries, share, worlds, worlds_with_events
from exactworlds.contract.cells import CELLS, FOUR_CATEGORIES, ContractWorld, Observed, introductory_world
from exactworlds.contract.events import (
    And,
    Atom,
    Event,
    Given,
    In,
    Not,
    Or,
    Query,
    cells_of,
    check_partition,
    event_text,
    parse_query,
    probability,
)
from exactworlds.contract.questions import parse_question, question_text
from exactworlds.errors import InvalidContract, UndefinedConditional

NAMES = ("type_0", "type_1", "type_2", "type_3")


@given(worlds_with_events(1))
def test_an_event_is_the_set_of_cells_where_it_holds(drawn: tuple[ContractWorld, list[Event]]) -> None:
    world, (event,) = drawn
    assert cells_of(event, world) == model_cells(event, world)
    assert probability(event, world) == share(world, model_cells(event, world))


@given(worlds_with_events(3))
def test_boolean_laws(drawn: tuple[ContractWorld, list[Event]]) -> None:
    world, (a, b, c) = drawn

    def same(one: Event, other: Event) -> None:
        assert cells_of(one, world) == cells_of(other, world) == model_cells(other, world)

    same(Not(Not(a)), a)
    same(Not(And(a, b)), Or(Not(a), Not(b)))
    same(Not(Or(a, b)), And(Not(a), Not(b)))
    same(And(a, Or(b, c)), Or(And(a, b), And(a, c)))
    same(Or(a, And(b, c)), And(Or(a, b), Or(a, c)))
    same(And(a, Or(a, b)), a)
    same(And(a, b), And(b, a))
    same(Or(a, Or(b, c)), Or(Or(a, b), c))
    assert cells_of(And(a, Not(a)), world) == set()
    assert cells_of(Or(a, Not(a)), world) == set(CELLS)


@given(worlds_with_events(2))
def test_total_probability_bayes_and_frechet(drawn: tuple[ContractWorld, list[Event]]) -> None:
    world, (a, b) = drawn
    p_a, p_b, p_both = (probability(event, world) for event in (a, b, And(a, b)))
    counted_a, counted_b = model_cells(a, world), model_cells(b, world)
    assert p_both == share(world, counted_a & counted_b)
    assert probability(Not(a), world) == 1 - share(world, counted_a)
    assert probability(Or(a, b), world) == p_a + p_b - p_both
    assert max(Fraction(0), p_a + p_b - 1) <= p_both <= min(p_a, p_b)
    parts = [(condition, probability(condition, world)) for condition in (b, Not(b))]
    assert p_a == sum(probability(Given(a, condition), world) * mass for condition, mass in parts if mass)
    if p_a and p_b:
        given_b, given_a = probability(Given(a, b), world), probability(Given(b, a), world)
        assert given_b == share(world, counted_a & counted_b) / share(world, counted_b)
        assert given_b == given_a * p_a / p_b


@given(worlds())
def test_the_canonical_distribution_is_a_partition(world: ContractWorld) -> None:
    parts: list[Event] = [In({name}) for name in world.names]
    check_partition(parts, world)
    assert [probability(part, world) for part in parts] == list(world.canonical.values())


@given(worlds_with_events(2))
def test_a_partition_is_accepted_iff_each_possible_cell_is_in_one_part(
    drawn: tuple[ContractWorld, list[Event]],
) -> None:
    world, parts = drawn
    possible = [cell for cell in CELLS if share(world, {cell})]
    once = all(sum(cell in model_cells(part, world) for part in parts) == 1 for cell in possible)
    if once:
        check_partition(parts, world)
    else:
        with pytest.raises(InvalidContract):
            check_partition(parts, world)


def test_overlaps_and_gaps_are_named_all_at_once() -> None:
    world = introductory_world()
    with pytest.raises(InvalidContract) as caught:
        check_partition([parse_query("type_0 or type_1"), parse_query("type_1")], world)  # type: ignore[list-item]
    assert [str(problem) for problem in caught.value.problems] == [
        "cell FT: is in type_0 or type_1 and in type_1, expected parts that share nothing",
        "cell TF: is in no part, expected parts that leave nothing out",
        "cell TT: is in no part, expected parts that leave nothing out",
    ]


def test_a_partition_is_judged_on_positive_support_only() -> None:
    """Where b = True was observed, a and not a may both leave the other cells as they are."""
    world = ContractWorld("finite-population", (1, 2, 3, 4), Observed("b", True), FOUR_CATEGORIES)
    check_partition([In({"type_1"}), In({"type_3"})], world)
    check_partition([In({"type_0", "type_1"}), In({"type_0", "type_3"})], world)


def test_conditioning_on_mass_zero_is_an_error_and_never_a_number() -> None:
    world = ContractWorld("finite-population", (1, 2, 3, 4), Observed("b", False), FOUR_CATEGORIES)
    with pytest.raises(UndefinedConditional, match=r"type_0 given b: found P\(b\) = 0"):
        probability(Given(In({"type_0"}), Atom("b")), world)
    assert probability(And(In({"type_0"}), Atom("b")), world) == 0


@given(st.data())
def test_notation_and_questions_read_back(data: st.DataObject) -> None:
    query: Query = data.draw(queries(NAMES))
    assert parse_query(event_text(query)) == query
    assert parse_question(question_text(query)) == query


@given(st.text(alphabet="ab ()notrdgive,{}_01c", max_size=40))
def test_any_text_is_read_or_refused_with_a_column(text: str) -> None:
    try:
        query: Query | None = parse_query(text)
        places = []
    except InvalidContract as error:
        query, places = None, [problem.where for problem in error.problems]
    if query is None:
        assert len(places) == 1
        assert places[0].startswith("column ")
    else:
        assert parse_query(event_text(query)) == query


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "column 1: found the end, expected an attribute, a category, 'not' or '('"),
        ("a and", "column 6: found the end"),
        ("a b", "column 3: found 'b', expected 'and', 'or', one outermost 'given', or the end"),
        ("a given b given a", "column 11: found 'given'"),
        ("(a given b) and a", "column 4: found 'given', expected ')'"),
        ("not (a or b", "column 12: found the end, expected ')'"),
        ("category in {}", "column 14: found '}'"),
        ("category type_0", "column 10: found 'type_0', expected 'in'"),
        ("a & b", "column 3: found '&'"),
        ("not " * 200 + "a", "at most 100 brackets and negations"),
        ("(" * 5000 + "a", "at most 100 brackets and negations"),
        ("a or " * 5000 + "a", "found 25,001 characters, expected at most 10,000"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InvalidContract) as caught:
        parse_query(text)
    assert message in str(caught.value)


def test_operators_bind_as_stated() -> None:
    a, b, c = Atom("a"), Atom("b"), In({"c"})
    assert parse_query("not a and b or c") == Or(And(Not(a), b), c)
    assert parse_query("a or b and c given a") == Given(Or(a, And(b, c)), a)
    assert parse_query("a and (b or c)") == And(a, Or(b, c))
    assert parse_query("a or b or c") == Or(Or(a, b), c)
    assert event_text(Or(a, Or(b, c))) == "a or (b or c)"


def test_unknown_attributes_and_categories_are_refused_all_at_once() -> None:
    world = introductory_world()
    event = And(In({"type_9", "type_0"}), Or(Atom("c"), In({"kind"})))  # type: ignore[arg-type]
    with pytest.raises(InvalidContract) as caught:
        probability(event, world)
    assert len(caught.value.problems) == 3
    for message in ("the category 'type_9'", "the attribute 'c'", "the category 'kind'"):
        assert f"event: found {message}, expected one of: " in str(caught.value)
    with pytest.raises(InvalidContract, match="membership in no category"):
        cells_of(In(()), world)


@pytest.mark.parametrize(
    "text", ["", "Is it?", "For the drawn item, is it the case that ?", "For the drawn item, b is True?"]
)
def test_a_question_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidContract):
        parse_question(text)
