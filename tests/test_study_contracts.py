"""The whole way through a cohort: requests, what is said, judging, alignment, scoring; and the command `contracts`."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from exactworlds.contract.cohorts import Cohort, build_cohort, count_slots
from exactworlds.contract.requests import ContractRequest, cohort_requests
from exactworlds.files.requests import read_requests
from exactworlds.metrics import RELATIONS, TOLERANCES
from exactworlds.spec.cohorts import VARIANTS as SPEC_VARIANTS
from exactworlds.spec.cohorts import find_cohort
from exactworlds.spec.relations import load_relations
from exactworlds.study.cohort import score_cohort
from exactworlds.study.cohort_truths import cohort_truths, exact_run
from exactworlds.study.judging import judge, read_number
from exactworlds.study.reports import VARIANTS, Answer, Run


@pytest.fixture(scope="module")
def primary() -> Cohort:
    return build_cohort(find_cohort("primary"))


@pytest.fixture(scope="module")
def requests(primary: Cohort) -> list[ContractRequest]:
    return list(cohort_requests(primary))


def test_names_are_the_same_everywhere() -> None:
    assert set(VARIANTS) == set(SPEC_VARIANTS)
    spec = {name.replace("-", "_"): entry for name, entry in load_relations().relation.items()}
    assert set(spec) == set(RELATIONS)
    assert {name: entry.tolerance.value for name, entry in spec.items()} == dict(TOLERANCES)


def test_exact_reports_of_every_request_are_perfect_on_all_thousand_roots(
    primary: Cohort, requests: list[ContractRequest]
) -> None:
    """Each request is answered with its own exact probabilities, judged and aligned; nothing else is known."""
    truths = cohort_truths(primary)
    answers: dict[str, dict[str, Answer]] = {}
    for request in requests:
        answers.setdefault(request.root.id, {})[request.variant] = judge(request.target(), request)
    run = Run("exact", answers)
    known = exact_run(truths)
    assert all(run.report(t.id, variant) == known.report(t.id, variant) for t in truths for variant in VARIANTS)
    scores = score_cohort(truths, [run], costs=["0.10"], seed=2026092408, replicates=300)
    assert {scores.figures[f"exact/{relation}"].value for relation in RELATIONS} == {0}
    assert scores.figures["exact/canonical-regret@0.10"].value == 0
    assert scores.criteria["exact"].passes
    slots = count_slots(primary)
    ends = scores.slots["exact"]
    assert (ends.intended, ends.eligible) == (slots.intended, slots.eligible) == (12_000, 12_000 - len(slots.undefined))
    assert scores.figures["exact/product"].n == 1000 - len(slots.undefined)


def test_a_preference_for_the_first_displayed_option_shows_in_permutation_and_not_in_layout(
    primary: Cohort, requests: list[ContractRequest]
) -> None:
    """The reporter moves 0.04 of the last displayed option to the first: permuting the options moves another one."""
    answers: dict[str, dict[str, Answer]] = {}
    for request in requests:
        said = dict(request.target())
        if request.query is None:
            first, last = request.options[0].key, request.options[-1].key
            share = min(Fraction(4, 100), said[last])
            said[first], said[last] = said[first] + share, said[last] - share
        answers.setdefault(request.root.id, {})[request.variant] = judge(said, request)
    scores = score_cohort(cohort_truths(primary), [Run("first", answers)], costs=[], seed=1, replicates=50)
    assert scores.figures["first/layout"].value == scores.figures["first/metadata"].value == 0
    assert scores.figures["first/permutation"].value != 0
    for relation in ("event_choice", "complement", "product", "repeat", "frechet"):
        assert scores.figures[f"first/{relation}"].value == 0


def binary(requests: list[ContractRequest]) -> ContractRequest:
    return next(request for request in requests if request.variant == "event")


def whole(requests: list[ContractRequest]) -> ContractRequest:
    return next(request for request in requests if request.variant == "canonical" and len(request.options) == 4)


BAD: list[tuple[Any, str]] = [
    ({"yes": "0.5"}, "missing-option"),
    ({"yes": "0.5", "no": "0.5", "maybe": "0"}, "extra-option"),
    ({"Yes": "0.5", "no": "0.5"}, "missing-option"),
    ([("yes", "0.5"), ("no", "0.5"), ("yes", "0.5")], "duplicate-key"),
    ({"yes": math.nan, "no": 0.5}, "not-finite"),
    ({"yes": math.inf, "no": 0.5}, "not-finite"),
    ({"yes": "high", "no": 0.5}, "not-finite"),
    ({"yes": True, "no": 0}, "not-finite"),
    ({"yes": None, "no": 1}, "not-finite"),
    ({"yes": "-0.1", "no": "1.1"}, "negative"),
    ({"yes": "0.5", "no": "0.4"}, "sum"),
    ({"yes": "1.88", "no": "0.12"}, "sum"),
    ({"yes": "0", "no": "0"}, "sum"),
    ({"yes": "0.500001", "no": "0.5"}, "sum"),
    ({}, "missing-option"),
]


@pytest.mark.parametrize(("said", "reason"), BAD)
def test_bad_reports_are_rejected_with_their_reason_and_kept(
    said: Any, reason: str, requests: list[ContractRequest]
) -> None:
    answer = judge(said, binary(requests))
    assert (answer.state, answer.reason, answer.report) == ("rejected", reason, None)
    pairs = list(said.items()) if isinstance(said, dict) else said
    assert answer.said == tuple((key, str(value)) for key, value in pairs)


def test_sums_within_the_declared_precision_are_rescaled_exactly_and_say_so(requests: list[ContractRequest]) -> None:
    request = whole(requests)
    keys = [option.key for option in request.options]
    said = dict(zip(keys, ("0.33", "0.33", "0.33", "0.00"), strict=True))
    assert judge(said, request).reason == "sum"
    answer = judge(said, request, step=Fraction(1, 100))
    assert answer.total == Fraction(99, 100)
    assert isinstance(answer.report, tuple)
    assert sum(answer.report, Fraction(0)) == 1
    assert set(answer.report) == {Fraction(1, 3), Fraction(0)}
    far = dict(zip(keys, ("0.33", "0.33", "0.30", "0.00"), strict=True))
    assert judge(far, request, step=Fraction(1, 100)).reason == "sum"
    assert judge(dict.fromkeys(keys, 0), request, step=Fraction(1, 2)).reason == "sum"


def test_floats_stand_for_the_decimals_that_repr_prints() -> None:
    assert read_number(0.1) == Fraction(1, 10)
    assert read_number("1/3") == Fraction(1, 3)
    assert read_number("1e-3") is None
    assert read_number(float("nan")) is None


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "exactworlds", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": "80"},
    )


def test_the_command_prints_slots_that_add_up_and_lists_what_is_undefined(tmp_path: Path) -> None:
    done = run("contracts", "--cohort", "primary", "--out", str(tmp_path / "task"), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["roots"], found["intended"]) == (1000, 12_000)
    assert found["eligible"] == found["intended"] - len(found["undefined"]) == sum(found["by_variant"].values())
    assert found["by_variant"]["conditional"] == 1000 - len(found["undefined"])
    assert sum(1 for _ in read_requests(tmp_path / "task")) == found["eligible"]
    manifest = json.loads((tmp_path / "task" / "task.json").read_text(encoding="utf-8"))
    assert "seed" not in manifest
    text = run("contracts", "--cohort", "diagnostic", "--out", str(tmp_path / "small")).stdout
    assert "eligible requests" in text


def test_another_seed_gives_other_roots(tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert run("contracts", "--cohort", "diagnostic", "--seed", seed, "--out", str(tmp_path / name)).returncode == 0
    texts = [(tmp_path / name / "requests.jsonl").read_bytes() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cohort", "none"), "there is no cohort 'none'"),
        (("--cohort", "diagnostic", "--seed", "x"), "expected a whole number"),
    ],
)
def test_wrong_words_are_one_message(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = run("contracts", *words, "--out", str(tmp_path / "task"))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "task").exists()


def test_the_slack_of_a_sum_is_half_a_step_for_each_option(requests: list[ContractRequest]) -> None:
    """Two options of two decimals: 0.99 is within 2 × 0.005, 0.98 is not; without a step only 1 is."""
    step = Fraction(1, 100)
    assert judge({"yes": "0.50", "no": "0.49"}, binary(requests), step=step).state == "valid"
    assert judge({"yes": "0.50", "no": "0.48"}, binary(requests), step=step).reason == "sum"
    assert judge({"yes": "0.50", "no": "0.50"}, binary(requests)).state == "valid"
    keys = [option.key for option in whole(requests).options]
    four = dict(zip(keys, ("0.25", "0.25", "0.25", "0.23"), strict=True))
    assert judge(four, whole(requests), step=step).state == "valid"
    assert judge({**four, keys[0]: "0.24"}, whole(requests), step=Fraction(1, 10)).reason == "sum"
