"""Twelve requests a root: they read back to world, evidence and event, and differ in nothing but what they say."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from fractions import Fraction

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from contract_strategies import worlds
from exactworlds.contract.alignment import align, report_problems
from exactworlds.contract.cells import CELLS, ContractWorld, Sensor, introductory_world, semantic_hash
from exactworlds.contract.cohorts import Cohort, Root, build_cohort
from exactworlds.contract.events import cells_of, probability
from exactworlds.contract.questions import CANONICAL_QUESTION, parse_question
from exactworlds.contract.rendering import parse_state, state_text
from exactworlds.contract.requests import ContractRequest, _Draws, cohort_requests, drawn_cell, root_requests
from exactworlds.errors import InvalidContract
from exactworlds.spec.cohorts import ENCODINGS, VARIANTS, Encoding, find_cohort

ENCODING = st.sampled_from(ENCODINGS)


@pytest.fixture(scope="module")
def primary() -> Cohort:
    return build_cohort(find_cohort("primary"))


@pytest.fixture(scope="module")
def requests(primary: Cohort) -> dict[str, dict[str, ContractRequest]]:
    found: dict[str, dict[str, ContractRequest]] = {}
    for request in cohort_requests(primary):
        found.setdefault(request.root.id, {})[request.variant] = request
    return found


def cohort_of(world: ContractWorld, encoding: Encoding) -> tuple[Root, Cohort]:
    root = Root("one", world.generator, encoding, 7, world, semantic_hash(world))
    return root, Cohort(find_cohort("primary"), "5", (root,))


@given(worlds(), ENCODING, st.booleans(), st.none() | st.sampled_from(["file 1, clerk X", "Table counts", "a,b | c"]))
def test_a_state_reads_back_to_its_world(
    world: ContractWorld, encoding: Encoding, second: bool, metadata: str | None
) -> None:
    text = state_text(world, encoding, second_layout=second, metadata=metadata)
    parsed = parse_state(text)
    assert parsed.world == world
    assert dict(parsed.world.categories) == dict(world.categories)
    assert (parsed.encoding, parsed.metadata) == (encoding, metadata)


@given(worlds(), ENCODING)
def test_every_request_reads_back_to_world_evidence_and_event(world: ContractWorld, encoding: Encoding) -> None:
    root, cohort = cohort_of(world, encoding)
    found = {request.variant: request for request in root_requests(root, cohort)}
    assert set(found) == set(VARIANTS) - (set() if world.has_conditional else {"conditional"})
    for request in found.values():
        assert parse_state(request.state).world == world
        if request.query is None:
            assert request.question == CANONICAL_QUESTION
            target: dict[str, Fraction] = dict(world.canonical)
        else:
            assert parse_question(request.question) == request.query
            yes = probability(request.query, world)
            target = {"no": 1 - yes, "yes": yes}
        assert align(request.target(), request) == target
        assert list(align(request.target(), request)) == list(target)
        keys = [option.key for option in request.options]
        assert sorted(keys) == sorted(request.event_map) == sorted(request.events)
        covered = frozenset(itertools.chain.from_iterable(request.event_map.values()))
        assert covered == request.condition
        assert sum(map(len, request.event_map.values())) == len(covered)


@given(worlds(), ENCODING)
def test_linked_requests_ask_about_linked_events(world: ContractWorld, encoding: Encoding) -> None:
    root, cohort = cohort_of(world, encoding)
    found = {request.variant: request for request in root_requests(root, cohort)}
    yes = {variant: request.event_map.get("yes", frozenset()) for variant, request in found.items()}
    assert yes["event"] == yes["choice"] == yes["repeat"] == world.cells_of_a
    assert yes["complement"] == set(CELLS) - world.cells_of_a
    assert yes["b"] == {cell for cell in CELLS if cell.b}
    assert yes["intersection"] == yes["event"] & yes["b"]
    if "conditional" in found:
        assert yes["conditional"] == yes["intersection"]
        assert found["conditional"].condition == yes["b"]


def test_an_undefined_conditional_is_never_rendered(
    primary: Cohort, requests: dict[str, dict[str, ContractRequest]]
) -> None:
    without = [root.id for root in primary.roots if "conditional" not in requests[root.id]]
    assert without == [root.id for root in primary.roots if root.world.mass(root.world.cells_of_b) == 0]
    assert len(without) == 87


def test_variants_change_what_they_say_and_nothing_else(requests: dict[str, dict[str, ContractRequest]]) -> None:
    for of_root in requests.values():
        canonical, event = of_root["canonical"], of_root["event"]
        for variant, request in of_root.items():
            if variant not in ("layout", "metadata"):
                assert request.state == canonical.state
        assert (event.question, event.options, event.kind) == (of_root["repeat"].question, event.options, "event")
        assert (of_root["choice"].question, of_root["choice"].kind) == (event.question, "choice")
        assert of_root["choice"].options == event.options
        assert of_root["layout"].state != canonical.state
        assert of_root["layout"].options == canonical.options
        assert of_root["permuted"].options != canonical.options
        assert set(of_root["permuted"].options) == set(canonical.options)
        assert of_root["metadata"].options == canonical.options
        lines = of_root["metadata"].state.split("\n")
        assert "\n".join(lines[:-1]) == canonical.state
        assert lines[-1].startswith("Metadata: ")
        opaque = of_root["opaque"]
        assert [option.text for option in opaque.options] == [option.text for option in canonical.options]
        assert not {option.key for option in opaque.options} & {option.key for option in canonical.options}


def test_exact_reports_satisfy_all_ten_relations_on_every_root(
    primary: Cohort, requests: dict[str, dict[str, ContractRequest]]
) -> None:
    """The formulas of `relations.toml`, written out on aligned exact reports: every residual is exactly 0."""
    products = 0
    for root in primary.roots:
        of_root = requests[root.id]
        reports = {variant: align(request.target(), request) for variant, request in of_root.items()}
        yes = {variant: report["yes"] for variant, report in reports.items() if "yes" in report}
        canonical = reports["canonical"]
        assert yes["event"] == yes["choice"] == yes["repeat"] == 1 - yes["complement"]
        assert yes["event"] == sum(canonical[name] for name in root.world.event_a)
        assert canonical == reports["permuted"] == reports["layout"] == reports["opaque"] == reports["metadata"]
        assert max(Fraction(0), yes["event"] + yes["b"] - 1) <= yes["intersection"] <= min(yes["event"], yes["b"])
        if "conditional" in yes:
            products += 1
            assert yes["intersection"] == yes["conditional"] * yes["b"]
    assert products == 913


def test_layout_keeps_every_number_and_word(requests: dict[str, dict[str, ContractRequest]]) -> None:
    for of_root in requests.values():
        one, other = of_root["canonical"].state, of_root["layout"].state
        for mark in '|,:{}[]"':
            one, other = one.replace(mark, " "), other.replace(mark, " ")
        assert Counter(one.split()) == Counter(other.split())
        assert one.index("cell_1") < one.index("cell_4")
        assert other.index("cell_4") < other.index("cell_1")


def test_ids_keys_orders_and_metadata_say_nothing_of_the_world(
    primary: Cohort, requests: dict[str, dict[str, ContractRequest]]
) -> None:
    """Another world under the same seed and index has the same ids, keys, order and metadata."""
    ids = [request.id for of_root in requests.values() for request in of_root.values()]
    assert len(set(ids)) == len(ids) == 11_913
    for root in primary.roots[::50]:
        other = evolve(root, world=evolve(root.world, counts=(1, 2, 3, 4), evidence=None))
        for request in root_requests(other, primary):
            if request.variant in requests[root.id]:
                mine = requests[root.id][request.variant]
                assert request.id == mine.id
                assert request.options == mine.options
                assert request.state.split("\n")[-1].startswith("Metadata: ") == (request.variant == "metadata")
                if request.variant == "metadata":
                    assert request.state.split("\n")[-1] == mine.state.split("\n")[-1]


def test_opaque_keys_carry_no_category(requests: dict[str, dict[str, ContractRequest]]) -> None:
    """Over all roots no letter at any place of a key leans to a category: each is within five deviations of even."""
    by_place = [[option.key for option in of_root["opaque"].options] for of_root in requests.values()]
    assert all(len(set(keys)) == len(keys) for keys in by_place)
    letters = sorted({letter for keys in by_place for key in keys for letter in key})
    assert len(letters) == 19
    for category in range(3):
        keys = [found[category] for found in by_place]
        for place in range(6):
            counts = Counter(key[place] for key in keys)
            mean = len(keys) / len(letters)
            assert all(abs(counts[letter] - mean) < 5 * mean**0.5 for letter in letters)


def test_every_order_but_the_canonical_one_is_drawn(requests: dict[str, dict[str, ContractRequest]]) -> None:
    orders = Counter(
        tuple(option.key for option in of_root["permuted"].options)
        for of_root in requests.values()
        if len(of_root["permuted"].options) == 4
    )
    assert len(orders) == 23
    assert ("type_0", "type_1", "type_2", "type_3") not in orders


def test_seeds_move_everything_that_is_drawn(primary: Cohort) -> None:
    root = primary.roots[0]
    one = list(root_requests(root, primary))
    other = list(root_requests(root, evolve(primary, seed="7")))
    assert not {request.id for request in one} & {request.id for request in other}
    keys = [[option.key for option in request.options] for request in (*one, *other) if request.variant == "opaque"]
    assert keys[0] != keys[1]


def test_outcomes_are_drawn_from_the_posterior(primary: Cohort) -> None:
    """A cell of mass zero never comes; the mean mass of A and its frequency agree within four deviations."""
    drawn = {root.id: drawn_cell(root, primary) for root in primary.roots}
    assert all(root.world.posterior[drawn[root.id]] > 0 for root in primary.roots)
    masses = [root.world.q_a for root in primary.roots]
    hits = sum(drawn[root.id] in root.world.cells_of_a for root in primary.roots)
    assert abs(hits - float(sum(masses))) < 4 * float(sum(mass * (1 - mass) for mass in masses)) ** 0.5
    subset = build_cohort(find_cohort("subset"))
    assert all(drawn_cell(root, subset) == drawn[root.id] for root in subset.roots)
    elsewhere = [evolve(root, id="x", index=root.index + 1) for root in primary.roots]
    assert [drawn_cell(root, primary) for root in elsewhere] == list(drawn.values())


def test_the_realised_option_is_where_the_cell_lies(primary: Cohort) -> None:
    root = next(root for root in primary.roots if root.world.has_conditional)
    for request in root_requests(root, primary):
        for cell in CELLS:
            key = request.realised(cell)
            assert (key is None) == (cell not in request.condition)
            assert key is None or cell in request.event_map[key]


@given(worlds(), ENCODING, st.data())
def test_alignment_looks_at_cells_only(world: ContractWorld, encoding: Encoding, data: st.DataObject) -> None:
    """Whatever the keys are called and however the options are ordered, each value goes to its set of cells."""
    root, cohort = cohort_of(world, encoding)
    for request in root_requests(root, cohort):
        keys = list(request.event_map)
        new = dict(zip(keys, data.draw(st.permutations([f"key{place}" for place in range(len(keys))])), strict=True))
        shuffled = data.draw(st.permutations(keys))
        renamed = evolve(request, event_map={new[key]: request.event_map[key] for key in shuffled})
        values = {key: place for place, key in enumerate(keys)}
        report = {new[key]: values[key] for key in data.draw(st.permutations(keys))}
        aligned = align(report, renamed)
        assert aligned == align(values, request)
        for name, cells in request.outcomes.items():
            assert request.event_map[keys[aligned[name]]] == cells


@pytest.mark.parametrize(
    ("report", "faults"),
    [
        ({"no": 1}, ["yes: is missing"]),
        ({"no": 0, "yes": 1, "maybe": 0}, ["maybe: found the option 'maybe'"]),
        ({"no": 0, "Yes": 1}, ["yes: is missing", "Yes: found the option 'Yes'"]),
        ({}, ["no: is missing", "yes: is missing"]),
    ],
)
def test_missing_extra_and_renamed_options_are_refused_and_kept(report: dict[str, int], faults: list[str]) -> None:
    root, cohort = cohort_of(introductory_world(), "joined")
    request = next(request for request in root_requests(root, cohort) if request.variant == "event")
    before = dict(report)
    with pytest.raises(InvalidContract) as caught:
        align(report, request)
    assert report == before
    assert [str(problem).partition(", expected")[0] for problem in caught.value.problems] == faults
    assert report_problems({"no": 0, "yes": 1}, request) == []


def test_events_stay_what_they_were_for_the_introductory_world() -> None:
    root, cohort = cohort_of(introductory_world(), "nested")
    targets = {request.variant: request.target() for request in root_requests(root, cohort)}
    assert targets["event"] == {"no": Fraction(97, 317), "yes": Fraction(220, 317)}
    assert targets["complement"] == {"no": Fraction(220, 317), "yes": Fraction(97, 317)}
    assert targets["intersection"]["yes"] == Fraction(153, 317)
    assert targets["b"]["yes"] == Fraction(232, 317)
    assert targets["conditional"]["yes"] == Fraction(153, 232)


BROKEN = [
    ("One item", "An item", "expected a sentence that says how the item is drawn"),
    ("Evidence: none.", "Evidence: some.", "four cells"),
    ("cell_2 | 85", "cell_2 | -85", "counts[1]: found -85"),
    ("cell_2 | 85", "cell_2 | many", "four cells"),
    ("cell_3 | True | False", "cell_3 | True | True", "four cells"),
    ("cell_3 | True | False", "cell_3 | True | maybe", "four cells"),
    ("cell_4 | 79", "cell_4 | 79 | 1", "four cells"),
    ("cell_4 | 79", "cell_4 | 79\ncell_4 | 80", "four cells"),
    ("cell_2 | 9/10", "cell_2 | 11/10", "evidence.likelihoods[1]: found '11/10'"),
    ("cell_2 | 9/10", "cell_2 | 0.9x", "four cells"),
    ("cell_2 | 9/10\n", "", "four cells"),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN)
def test_damaged_states_are_refused(old: str, new: str, message: str) -> None:
    text = state_text(introductory_world(), "joined")
    if old == "Evidence: none.":
        text = state_text(evolve(introductory_world(), evidence=None), "joined")
    assert text.count(old) == 1
    with pytest.raises(InvalidContract) as caught:
        parse_state(text.replace(old, new))
    assert message in str(caught.value)


def test_a_nested_state_with_a_fifth_record_is_refused() -> None:
    text = state_text(introductory_world(), "nested")
    start = text.index("{")
    content = json.loads(text[start:])
    content["cells"].append(content["cells"][0])
    with pytest.raises(InvalidContract, match="each of the four cells once"):
        parse_state(text[:start] + json.dumps(content))


def test_events_of_an_unknown_category_are_refused_in_a_question() -> None:
    query = parse_question("For the drawn item, is it the case that the category is type_7?")
    with pytest.raises(InvalidContract, match="found the category 'type_7'"):
        probability(query, introductory_world())


def test_likelihoods_are_shown_as_exact_fractions() -> None:
    sensor = Sensor((Fraction(1, 3), Fraction(2, 7), Fraction(1), Fraction(0)))
    for encoding in ENCODINGS:
        text = state_text(evolve(introductory_world(), evidence=sensor), encoding)
        assert "1/3" in text
        assert "2/7" in text
        assert parse_state(text).world.evidence == sensor
    assert cells_of(parse_question("For the drawn item, is it the case that b is not True?"), introductory_world()) == {  # type: ignore[arg-type]
        cell for cell in CELLS if not cell.b
    }


@pytest.mark.parametrize("table", ["attributes", "counts", "evidence_likelihoods"])
def test_a_table_that_comes_twice_is_refused(table: str) -> None:
    text = state_text(introductory_world(), "joined")
    start = text.index(f"Table {table} ")
    rows = text[start:].split("\n\n")[0]
    with pytest.raises(InvalidContract, match="cell_1 twice"):
        parse_state(f"{text}\n\n{rows}")


class Largest:
    """A stream that draws the largest number that it may."""

    def __init__(self, *purpose: object) -> None:
        self.purpose = purpose

    def uniform(self, row: int, count: int, bound: int) -> list[int]:
        return [bound - 1]


def test_filing_numbers_have_five_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exactworlds.contract.requests.Stream", Largest)
    root, cohort = cohort_of(introductory_world(), "joined")
    assert _Draws(root, cohort.spec.id, cohort.seed).metadata().startswith("file 99999, ")
