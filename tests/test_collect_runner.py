"""The runner: every request once, retries within the patience, early stops, and going on where it was left."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from collect_helpers import EVENT, many
from exactworlds.collect import runner
from exactworlds.collect.ends import End
from exactworlds.collect.exchange import FAULTS, Exchange, verdict
from exactworlds.collect.plain import Plain
from exactworlds.collect.reading import run_ends
from exactworlds.collect.runner import Counts, Job, Limits, Outcome, collect, request_key
from exactworlds.errors import InvalidSpec
from exactworlds.files.ledger import read_ledger
from exactworlds.files.requests import Request
from exactworlds.files.run import RunInfo, create_run

INFO = RunInfo("test", "reporter", "m", "in-process", "0", "../task", "0" * 64, "0")
Say = Callable[[dict[str, Any]], Exchange]


def right(request: dict[str, Any]) -> Exchange:
    return Exchange(200, json.dumps({"id": request["id"], "probabilities": {"no": "2/3", "yes": "1/3"}}).encode())


class Service:
    """Answers by a function, and counts how often it was asked what, and how many at a time."""

    def __init__(self, say: Say = right, *, pause: float = 0.0) -> None:
        self.say, self.pause = say, pause
        self.asked: Counter[str] = Counter()
        self.now = self.most = 0

    async def ask(self, body: bytes) -> Exchange:
        request = json.loads(body)
        self.asked[request["id"]] += 1
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.pause)
        self.now -= 1
        return self.say(request)


def job(service: Service, **more: Any) -> Job:
    base = Job(Plain(), "m", "in-process", Fraction(0), service.ask, nullcontext())
    return evolve(base, **more)


def go(run: Path, requests: list[Request], work: Job, **limits: Any) -> Outcome:
    create_run(run, INFO)
    return asyncio.run(collect(run, lambda: iter(requests), work, Limits(**limits)))


def states(run: Path, requests: list[Request]) -> Counter[str]:
    return Counter(end.state for end in run_ends(run, requests))


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(runner, "LONGEST_PAUSE", 0.01)


def test_every_request_is_asked_once_some_at_a_time(tmp_path: Path) -> None:
    requests, service = many(40), Service(pause=0.002)
    outcome = go(tmp_path / "run", requests, job(service), concurrency=5)
    assert outcome.why == "complete"
    assert outcome.counts == Counts(total=40, valid=40, attempts=40)
    assert set(service.asked.values()) == {1}
    assert service.most == 5
    ends = run_ends(tmp_path / "run", requests)
    assert [end.id for end in ends] == [request.id for request in requests]
    assert {end.report["yes"] for end in ends if end.report} == {Fraction(1, 3)}


def test_what_has_an_answer_is_not_asked_again(tmp_path: Path) -> None:
    requests, service = many(10), Service()
    go(tmp_path / "run", requests, job(service), limit=4)
    assert states(tmp_path / "run", requests) == {"valid": 4, "not-acquired": 6}
    outcome = go(tmp_path / "run", requests, job(service))
    assert (outcome.counts.before, outcome.counts.valid) == (4, 6)
    assert set(service.asked.values()) == {1}


def test_rejected_answers_are_answers(tmp_path: Path) -> None:
    requests = many(3)
    service = Service(lambda request: Exchange(200, b"nonsense"))
    go(tmp_path / "run", requests, job(service))
    go(tmp_path / "run", requests, job(service))
    assert set(service.asked.values()) == {1}
    assert [end.reason for end in run_ends(tmp_path / "run", requests)] == ["not-json"] * 3


PASSING = [
    *(Exchange(status, b"") for status in (408, 409, 425, 429, 500, 503, 529)),
    *(Exchange(None, b"", error) for error in ("timeout", "cut-off")),
]


@pytest.mark.parametrize("failure", PASSING)
def test_what_may_pass_is_asked_again_until_it_does(failure: Exchange, tmp_path: Path) -> None:
    requests = many(6)
    tries: Counter[str] = Counter()

    def flaky(request: dict[str, Any]) -> Exchange:
        tries[request["id"]] += 1
        return failure if tries[request["id"]] < 6 else right(request)

    outcome = go(tmp_path / "run", requests, job(Service(flaky)))
    assert outcome.counts.valid == 6
    ends = run_ends(tmp_path / "run", requests)
    assert {end.attempts for end in ends} == {6}


@pytest.fixture
def steady_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that every look at it moves on by a second, however busy the machine is."""
    seconds = itertools.count()
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))


@pytest.mark.usefixtures("steady_clock")
def test_patience_ends_and_the_request_can_be_asked_another_day(tmp_path: Path) -> None:
    requests, service = many(3), Service(lambda request: Exchange(429, b""))
    outcome = go(tmp_path / "run", requests, job(service), patience=20)
    assert (outcome.why, outcome.counts.unavailable) == ("complete", 3)
    assert states(tmp_path / "run", requests) == {"unavailable": 3}
    assert min(service.asked.values()) > 2
    go(tmp_path / "run", requests, job(Service()))
    assert states(tmp_path / "run", requests) == {"valid": 3}


def test_retry_after_is_honoured_under_a_cap() -> None:
    assert 7.0 <= runner._pause(0, 7.0) <= 7.0 + runner.FIRST_PAUSE
    assert runner._pause(0, 86_400.0) <= runner.RETRY_AFTER_CAP + runner.FIRST_PAUSE
    assert runner._pause(50, 0.0) <= runner.FIRST_PAUSE
    assert 0 < runner._pause(0, None) <= runner.FIRST_PAUSE


@pytest.mark.usefixtures("steady_clock")
def test_a_deadline_stops_sending_and_what_was_not_sent_says_so(tmp_path: Path) -> None:
    requests = many(200)
    outcome = go(tmp_path / "run", requests, job(Service()), concurrency=2, deadline=50)
    assert outcome.why == "deadline"
    found = states(tmp_path / "run", requests)
    assert found["valid"] == outcome.counts.valid > 0
    assert found["not-acquired"] == 200 - outcome.counts.valid
    assert outcome.counts.total == 200


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        (Exchange(401, b'{"error": "bad key"}'), "unavailable"),
        (Exchange(403, b""), "unavailable"),
        (Exchange(404, b"<html>"), "unavailable"),
        (Exchange(302, b""), "unavailable"),
        (Exchange(None, b"", "certificate", "not accepted"), "unavailable"),
        (Exchange(None, b"", "unknown-host", "not known"), "unavailable"),
        (Exchange(None, b"", "connection", "refused"), "unavailable"),
        (Exchange(429, b"", "quota", "used up"), "quota"),
    ],
)
def test_a_service_without_a_place_for_us_costs_one_attempt_and_is_named(
    failure: Exchange, why: str, tmp_path: Path
) -> None:
    requests, service = many(50), Service(lambda request: failure)
    outcome = go(tmp_path / "run", requests, job(service), concurrency=10)
    assert outcome.why == why
    assert "in-process" in outcome.message
    assert service.asked.total() == 1
    assert states(tmp_path / "run", requests) == {"unavailable": 1, "not-acquired": 49}
    go(tmp_path / "run", requests, job(Service()))
    assert states(tmp_path / "run", requests) == {"valid": 50}


def test_a_service_that_refuses_the_first_requests_is_set_up_wrongly(tmp_path: Path) -> None:
    requests, service = many(50), Service(lambda request: Exchange(422, b'{"detail": "no such model"}'))
    outcome = go(tmp_path / "run", requests, job(service), concurrency=1)
    assert outcome.why == "unavailable"
    assert "no such model" in outcome.message
    assert service.asked.total() == 3
    assert states(tmp_path / "run", requests) == {"rejected": 3, "not-acquired": 47}


def test_one_refused_request_among_answers_is_its_own_affair(tmp_path: Path) -> None:
    requests = many(20)

    def picky(request: dict[str, Any]) -> Exchange:
        return Exchange(400, b"") if int(request["id"][1:]) % 5 == 3 else right(request)

    outcome = go(tmp_path / "run", requests, job(Service(picky)), concurrency=3)
    assert (outcome.why, outcome.counts.valid, outcome.counts.rejected) == ("complete", 16, 4)
    assert {end.reason for end in run_ends(tmp_path / "run", requests)} == {None, "transport"}


def test_what_does_not_fit_is_never_sent(tmp_path: Path) -> None:
    requests, service = many(6), Service()
    work = job(service, window=100, count=lambda body: 101 if b"Cloud 3." in body else 100)
    go(tmp_path / "run", requests, work)
    ends = {end.id: end for end in run_ends(tmp_path / "run", requests)}
    assert (ends["r00003"].state, ends["r00003"].reason, ends["r00003"].served) == ("rejected", "too-long", False)
    assert "r00003" not in service.asked
    assert sum(end.state == "valid" for end in ends.values()) == 5


def test_the_same_words_under_two_ids_are_two_requests(tmp_path: Path) -> None:
    requests = [EVENT, evolve(EVENT, id="e9")]
    service = Service()
    go(tmp_path / "run", requests, job(service))
    assert service.asked == {"e1": 1, "e9": 1}


@given(st.tuples(*[st.text(max_size=4)] * 3), st.tuples(*[st.text(max_size=4)] * 3))
def test_keys_of_different_requests_differ(left: tuple[str, str, str], right_: tuple[str, str, str]) -> None:
    keys = {request_key(evolve(EVENT, id=ident), endpoint, model, b"body") for endpoint, model, ident in (left, right_)}
    assert len(keys) == len({left, right_})


def test_an_interruption_ends_in_flight_requests_as_interrupted_until_they_are_asked_for(tmp_path: Path) -> None:
    requests, service = many(30), Service()
    stuck = 0

    async def sometimes_never(body: bytes) -> Exchange:
        nonlocal stuck
        if service.asked.total() >= 10:
            stuck += 1
            await asyncio.Event().wait()
        return await Service.ask(service, body)

    async def broken_off() -> None:
        create_run(tmp_path / "run", INFO)
        work = evolve(job(service), ask=sometimes_never)
        task = asyncio.create_task(collect(tmp_path / "run", lambda: iter(requests), work, Limits(4)))
        while stuck < 4:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(broken_off())
    first = states(tmp_path / "run", requests)
    assert first["interrupted"] == 4
    outcome = go(tmp_path / "run", requests, job(service))
    assert outcome.counts.interrupted == first["interrupted"]
    assert states(tmp_path / "run", requests) == {
        "valid": 30 - first["interrupted"],
        "interrupted": first["interrupted"],
    }
    go(tmp_path / "run", requests, job(service), retry_interrupted=True)
    assert states(tmp_path / "run", requests) == {"valid": 30}
    closed = [entry.fields["why"] for entry in read_ledger(tmp_path / "run" / "ledger.jsonl") if entry.kind == "closed"]
    assert closed == ["interrupted", "complete", "complete"]


def test_an_intent_is_on_the_disk_before_the_request_is_sent(tmp_path: Path) -> None:
    requests = many(12)
    seen: list[bool] = []

    def look(request: dict[str, Any]) -> Exchange:
        kinds = [entry.kind for entry in read_ledger(tmp_path / "run" / "ledger.jsonl")
                 if entry.fields.get("id") == request["id"]]  # fmt: skip
        seen.append(kinds == ["intent"])
        return right(request)

    go(tmp_path / "run", requests, job(Service(look)), concurrency=4)
    assert seen == [True] * 12


def test_a_ledger_of_other_requests_is_refused(tmp_path: Path) -> None:
    go(tmp_path / "run", many(3), job(Service()))
    with pytest.raises(InvalidSpec, match="expected one of the task"):
        run_ends(tmp_path / "run", many(2))


@pytest.mark.parametrize(
    ("before", "after"), [('"status":200', '"status":null'), ('"error":null', '"error":"gremlins"')]
)
def test_a_record_that_cannot_be_is_damage_for_whoever_reads_it(before: str, after: str, tmp_path: Path) -> None:
    requests, file = many(2), tmp_path / "run" / "ledger.jsonl"
    go(tmp_path / "run", requests, job(Service()))
    file.write_text(file.read_text().replace(before, after))
    with pytest.raises(InvalidSpec, match="line 3: found the status"):
        run_ends(tmp_path / "run", requests)
    with pytest.raises(InvalidSpec, match="line 3: found the status"):
        go(tmp_path / "run", requests, job(Service()))


def test_an_error_of_a_backend_is_that_error_and_not_a_group(tmp_path: Path) -> None:
    def broken(request: dict[str, Any]) -> Exchange:
        raise InvalidSpec("model", [])

    with pytest.raises(InvalidSpec):
        go(tmp_path / "run", many(5), job(Service(broken)))
    go(tmp_path / "run", many(5), job(Service()), retry_interrupted=True)
    assert states(tmp_path / "run", many(5)) == {"valid": 5}


@given(st.sampled_from([None, *FAULTS]), st.integers(100, 599))
def test_every_end_of_an_attempt_has_one_verdict(error: str | None, status: int) -> None:
    assert verdict(status, error) in ("answered", "again", "unavailable", "refused")
    assert (verdict(status, None) == "answered") == (status == 200)


def test_an_end_says_no_more_than_it_can() -> None:
    with pytest.raises(ValueError, match="exactly if the state is valid"):
        End("a", "valid")
    with pytest.raises(ValueError, match="exactly if the state is rejected"):
        End("a", "rejected")
    with pytest.raises(ValueError, match="add up to exactly 1"):
        End("a", "valid", None, {"yes": Fraction(1, 3)})
