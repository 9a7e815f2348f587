"""Joining: answers meet the targets of their own requests, and nothing is joined that does not belong together."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from exactworlds.collect.ends import End
from exactworlds.contract.cohorts import build_cohort
from exactworlds.errors import UsageError
from exactworlds.files.requests import Request
from exactworlds.files.strict_json import read_json
from exactworlds.files.targets import ContractTarget, read_contract_targets, read_origin, read_targets
from exactworlds.spec.cohorts import find_cohort
from exactworlds.study.cohort_truths import cohort_truths, exact_run
from exactworlds.study.joining import CaseRow, ContractRows, join_cases, join_contracts, truths_of_targets
from exactworlds.study.reports import VARIANTS, Run
from run_makers import all_requests, answered, case_ends, case_task, contract_ends, contract_task

EVENT_MAP = {"no": False, "yes": True}


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return case_task(tmp_path_factory.mktemp("joining") / "task")


@pytest.fixture(scope="module")
def contracts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return contract_task(tmp_path_factory.mktemp("contracts") / "task", "development")


def joined(task: Path, ends: list[End]) -> tuple[CaseRow, ...]:
    return join_cases(all_requests(task), list(read_targets(task)), EVENT_MAP, ends)


def test_each_answer_meets_the_target_of_its_own_request_in_any_order(task: Path) -> None:
    ends = case_ends(task, lambda q, place: Fraction(place, 1000))
    for given in (ends, ends[::-1]):
        rows = joined(task, given)
        assert [row.report for row in rows] == [Fraction(place, 1000) for place in range(40)]
        assert [row.id for row in rows] == [request.id for request in all_requests(task)]
        assert [str(row.posterior) for row in rows] == [target.posterior for target in read_targets(task)]


def test_the_report_is_that_of_the_positive_option_whatever_it_is_called(task: Path) -> None:
    ends = case_ends(task, lambda q, place: Fraction(1, 4))
    other = join_cases(all_requests(task), list(read_targets(task)), {"no": True, "yes": False}, ends)
    assert {row.report for row in joined(task, ends)} == {Fraction(1, 4)}
    assert {row.report for row in other} == {Fraction(3, 4)}


def test_the_raw_report_is_the_number_that_was_written(task: Path) -> None:
    ends = [
        answered(end.id, {"no": Fraction(1, 3), "yes": Fraction(2, 3)}, Fraction(99, 100))
        for end in case_ends(task, lambda q, place: q)
    ]
    assert {row.raw_report for row in joined(task, ends)} == {Fraction(66, 100)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ends: ends[1:], r"ends of the run: 1 missing \("),
        (lambda ends: [*ends, evolve(ends[0], id="f" * 24)], r"ends of the run: 1 not asked \(f{24}\)"),
        (lambda ends: [*ends, ends[0]], r"ends of the run: 1 twice \("),
        (lambda ends: ends[4:], r"ends of the run: 4 missing \(.*, .*, .*, …\)"),
        (lambda ends: [evolve(ends[0], report={"maybe": Fraction(1)}), *ends[1:]], "the report has the options"),
    ],
)
def test_ends_that_are_not_those_of_the_requests_are_refused(
    task: Path, change: Callable[[list[End]], list[End]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        joined(task, change(case_ends(task, lambda q, place: q)))


@pytest.mark.parametrize(
    ("change", "event_map", "message"),
    [
        (lambda rows: rows[1:], EVENT_MAP, "targets: 1 missing"),
        (lambda rows: [evolve(rows[0], digest="0" * 64), *rows[1:]], EVENT_MAP, "made for another text"),
        (lambda rows: [evolve(rows[0], posterior="3/2"), *rows[1:]], EVENT_MAP, "the probability 3/2"),
        (lambda rows: [evolve(rows[0], posterior="half"), *rows[1:]], EVENT_MAP, "expected an exact number"),
        (lambda rows: rows, {"no": False, "yes": False}, "0 positive options"),
        (lambda rows: rows, {"yes": True}, "expected those of the origin"),
    ],
)
def test_targets_of_another_task_are_refused(
    task: Path, change: Callable[[list[Any]], list[Any]], event_map: dict[str, bool], message: str
) -> None:
    ends = case_ends(task, lambda q, place: q)
    with pytest.raises(UsageError, match=message):
        join_cases(all_requests(task), change(list(read_targets(task))), event_map, ends)


def test_a_task_without_requests_is_refused() -> None:
    with pytest.raises(UsageError, match="no request"):
        join_cases([], [], EVENT_MAP, [])


# --- contracts ------------------------------------------------------------------------------------------------------


def variants(task: Path) -> list[str]:
    return list(read_json(task / "task.json")["variants"])


def contract_rows(task: Path, ends: list[End]) -> ContractRows:
    targets = list(read_contract_targets(task))
    return join_contracts(all_requests(task), targets, read_origin(task), variants(task), ends, name="run")


@pytest.mark.parametrize("cohort", ["primary", "development"])
def test_truths_from_targets_are_those_of_the_cohort(cohort: str, tmp_path: Path) -> None:
    task = contract_task(tmp_path / "task", cohort)
    known = cohort_truths(build_cohort(find_cohort(cohort)))
    assert list(truths_of_targets(list(read_contract_targets(task)), read_origin(task), VARIANTS)) == known


def test_exact_answers_to_keys_are_the_exact_run(contracts: Path) -> None:
    rows = contract_rows(contracts, contract_ends(contracts, lambda variant, place, report: report))
    known = exact_run(rows.truths)
    for truth in rows.truths:
        for variant in VARIANTS:
            assert rows.run.report(truth.id, variant) == known.report(truth.id, variant)
            missing = variant == "conditional" and truth.conditional is None
            assert rows.run.answer(truth.id, variant).state == ("not-acquired" if missing else "valid")


def test_a_rejected_answer_keeps_its_reason(contracts: Path) -> None:
    rows = contract_rows(contracts, contract_ends(contracts, lambda variant, place, report: None))
    found = {rows.run.answer(truth.id, "event") for truth in rows.truths}
    assert {(answer.state, answer.reason, answer.report, answer.served) for answer in found} == {
        ("rejected", "sum", None, True)
    }


def test_a_cohort_that_never_asks_for_b_has_no_mass_of_it(tmp_path: Path) -> None:
    small = contract_task(tmp_path / "small")
    truths = truths_of_targets(list(read_contract_targets(small)), read_origin(small), variants(small))
    known = {truth.id: truth for truth in cohort_truths(build_cohort(find_cohort("diagnostic")))}
    assert len(truths) == len(known) == 16
    for truth in truths:
        assert (truth.event_b, truth.intersection, truth.conditional) == (None, None, None)
        assert truth == evolve(known[truth.id], event_b=None, intersection=None, conditional=None)
        assert [variant for variant in VARIANTS if truth.is_eligible(variant) and variant not in VARIANTS[8:]] == [
            *("canonical", "event", "choice", "repeat", "complement")
        ]


def change_one(targets: list[ContractTarget], which: str, **changes: Any) -> list[ContractTarget]:
    place = next(place for place, target in enumerate(targets) if target.variant == which)
    changed = evolve(targets[place], **changes)
    return [*targets[:place], changed, *targets[place + 1 :]]


def doubled(targets: list[ContractTarget]) -> list[ContractTarget]:
    """One event target with its probabilities exchanged, where they are not equal."""
    place = next(
        place
        for place, target in enumerate(targets)
        if target.variant == "event" and target.options[0].posterior != target.options[1].posterior
    )
    first, second = targets[place].options
    options = (evolve(first, posterior=second.posterior), evolve(second, posterior=first.posterior))
    return [*targets[:place], evolve(targets[place], options=options), *targets[place + 1 :]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (doubled, "the targets of event and of its other requests contradict each other"),
        (lambda targets: change_one(targets, "b", root="nobody"), "its root nobody is not one of the origin's"),
        (lambda targets: change_one(targets, "b", variant="event"), "found event twice"),
        (lambda targets: [t for t in targets if t.variant != "b"], "targets are missing or not expected: b"),
        (lambda targets: change_one(targets, "event", options=()), "its event is no set"),
    ],
)
def test_targets_that_contradict_each_other_are_refused(
    contracts: Path, change: Callable[[list[ContractTarget]], list[ContractTarget]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        truths_of_targets(change(list(read_contract_targets(contracts))), read_origin(contracts), VARIANTS)


def test_an_undefined_conditional_that_was_asked_is_refused(contracts: Path) -> None:
    origin = read_origin(contracts)
    asked = next(root for root in origin["roots"] if root not in origin["undefined"])
    with pytest.raises(UsageError, match=f"{asked}: targets are missing or not expected: conditional"):
        truths_of_targets(
            list(read_contract_targets(contracts)), {**origin, "undefined": [*origin["undefined"], asked]}, VARIANTS
        )


def test_the_origin_of_cases_is_refused(contracts: Path, task: Path) -> None:
    with pytest.raises(UsageError, match="has no roots"):
        truths_of_targets(list(read_contract_targets(contracts)), read_origin(task), VARIANTS)


def test_requests_with_other_options_than_their_targets_are_refused(contracts: Path) -> None:
    requests = all_requests(contracts)
    changed: list[Request] = [evolve(requests[0], options=requests[0].options[:1]), *requests[1:]]
    ends = contract_ends(contracts, lambda variant, place, report: report)
    with pytest.raises(UsageError, match="not those that were asked"):
        join_contracts(
            changed, list(read_contract_targets(contracts)), read_origin(contracts), VARIANTS, ends, name="run"
        )


def test_a_run_has_the_name_that_it_is_given(contracts: Path) -> None:
    rows = contract_rows(contracts, contract_ends(contracts, lambda variant, place, report: report))
    assert isinstance(rows.run, Run)
    assert rows.run.name == "run"
