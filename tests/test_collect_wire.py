"""Wire forms: requests become what a protocol asks for, answers become readings in the request's own keys."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jevcompat.mock import MockConfig, respond, validate_request
from openai.types.decision import Decision
from openai.types.decision_create_params import DecisionCreateParams
from pydantic import TypeAdapter

from collect_helpers import ALL, CHOICE, EVENT, PLAIN_EVENT, SCORE, SHOWN, WHOLE
from exactworlds.collect.chat import ChatJson, ChatLogprobs
from exactworlds.collect.decisions import Decisions
from exactworlds.collect.ends import REASONS
from exactworlds.collect.forms import FORMS
from exactworlds.collect.numbers import JsonNumber, NotJson, exact_number, parse_answer
from exactworlds.collect.plain import Plain
from exactworlds.collect.reading import end_of_answer
from exactworlds.collect.systemone import SystemOne
from exactworlds.collect.wire import Unread
from exactworlds.files.requests import Request

CENT = Fraction(1, 100)


def end(wire: Any, request: Request, content: object, step: Fraction = CENT) -> Any:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return end_of_answer(raw, request, wire, step)


@pytest.mark.parametrize("request_", ALL)
def test_an_independent_server_accepts_every_request_and_its_answers_are_valid(request_: Request) -> None:
    body = json.loads(SystemOne().body(request_, "jev-1.13.0"))
    assert validate_request(body, MockConfig()) == []
    strict = MockConfig(faults=frozenset({"strict-ids", "forbid-extra", "string-only-text", "noul-two-sided"}))
    assert validate_request(body, strict) == []
    found = end(SystemOne(), request_, respond(MockConfig(), body))
    assert found.state == "valid"
    assert list(found.report) == [option.key for option in request_.options]


@pytest.mark.parametrize("request_", ALL)
def test_the_sdk_has_the_same_idea_of_a_decision(request_: Request) -> None:
    body = json.loads(Decisions().body(request_, "gpt-6-luna"))
    TypeAdapter(DecisionCreateParams).validate_python(body)
    count = len(request_.options)
    share = 1 / count
    kind = {"event": "predicate", "score": "score"}.get(request_.kind, "choice")
    answer: dict[str, Any] = {"type": kind, "name": "q"}
    if kind == "predicate":
        answer["probability"] = 0.5
    elif kind == "choice":
        rows = [{"value": option.key, "probability": share} for option in request_.options]
        answer |= {"choice": request_.options[0].key, "confidence": 0.1, "probabilities": rows}
    else:
        rows = [{"value": n, "label": o.text, "probability": share} for n, o in enumerate(request_.options)]
        answer |= {"score": (count - 1) / 2, "confidence": 0.1, "probabilities": rows}
    usage = {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}
    details = {
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    content = {"model": "gpt-6-luna-x", "answers": [answer], "usage": usage | details}
    Decision.model_validate(content)
    found = end(Decisions(), request_, content)
    assert found.state == "valid"
    assert set(found.report.values()) == {Fraction(1, count)}
    assert Decisions().usage(json.dumps(content).encode()).input_tokens == 5


def systemone(answer: object, **more: object) -> dict[str, object]:
    return {"model": "m", "answers": {"q": answer}, "usage": {}, **more}


BAD_SYSTEM_ONE: list[tuple[Request, object, str]] = [
    (EVENT, b"<html>", "not-json"),
    (EVENT, b"\xff\xfe", "not-json"),
    (EVENT, b"[" * 100_000, "not-json"),
    (EVENT, rb'{"model": "\ud800", "answers": {"q": {"type": "noul", "noul": 0.1}}}', "not-json"),
    (CHOICE, rb'{"answers": {"q": {"type": "choice", "probabilities": {"\udfff": 1}}}}', "not-json"),
    (EVENT, b'{"answers": {"q": {"type": "noul", "noul": NaN}}}', "not-json"),
    (EVENT, b'{"answers": {"q": {"type": "noul", "noul": 0.1, "noul": 0.2}}}', "duplicate-key"),
    (EVENT, b"[]", "transport"),
    (EVENT, {"error": "down for maintenance"}, "transport"),
    (EVENT, {"answers": {}}, "missing-option"),
    (EVENT, {"answers": {"q": {"type": "noul", "noul": 0.1}, "x": {}}}, "extra-option"),
    (EVENT, systemone({"type": "boolean", "noul": 0.1}), "missing-option"),
    (EVENT, systemone({"type": "noul"}), "not-finite"),
    (EVENT, systemone({"type": "noul", "noul": "0.5"}), "not-finite"),
    (EVENT, systemone({"type": "noul", "noul": True}), "not-finite"),
    (EVENT, systemone({"type": "noul", "noul": None}), "not-finite"),
    (EVENT, b'{"answers": {"q": {"type": "noul", "noul": 1e400}}}', "not-finite"),
    (EVENT, b'{"answers": {"q": {"type": "noul", "noul": 1e-999999999}}}', "not-finite"),
    (EVENT, systemone({"type": "noul", "noul": 1.88}), "negative"),
    (EVENT, systemone({"type": "noul", "noul": -0.1}), "negative"),
    (CHOICE, systemone({"type": "choice", "probabilities": {"dry": 1}}), "missing-option"),
    (CHOICE, systemone({"type": "choice", "probabilities": {"Dry": 0.5, "wet": 0.5}}), "missing-option"),
    (CHOICE, systemone({"type": "choice", "probabilities": {"dry": 0.5, "wet": 0.5, "x": 0}}), "extra-option"),
    (CHOICE, systemone({"type": "choice", "probabilities": {"dry": 0, "wet": 0}}), "sum"),
    (CHOICE, systemone({"type": "choice", "probabilities": {"dry": 0.6, "wet": 0.6}}), "sum"),
    (CHOICE, systemone({"type": "choice", "probabilities": [0.5, 0.5]}), "missing-option"),
    (CHOICE, systemone({"type": "choice", "choice": "dry", "probabilities": {"dry": 0.4, "wet": 0.6}}), "inconsistent"),
    (CHOICE, systemone({"type": "choice", "choice": "x", "probabilities": {"dry": 0.4, "wet": 0.6}}), "inconsistent"),
    (SCORE, systemone({"type": "score", "probabilities": {"1": 0.2, "2": 0.3, "3": 0.5}}), "missing-option"),
    (
        SCORE,
        systemone({"type": "score", "score": 0.4, "probabilities": {"0": 0.2, "1": 0.3, "2": 0.5}}),
        "inconsistent",
    ),
]


@pytest.mark.parametrize(("request_", "content", "reason"), BAD_SYSTEM_ONE)
def test_bad_answers_are_rejected_with_the_first_reason(request_: Request, content: object, reason: str) -> None:
    found = end(SystemOne(), request_, content)
    assert (found.state, found.reason, found.report, found.served) == ("rejected", reason, None, True)


GOOD_SYSTEM_ONE: list[tuple[Request, object, dict[str, Fraction]]] = [
    (EVENT, systemone({"type": "noul", "noul": 0.00}), {"no": Fraction(1), "yes": Fraction(0)}),
    (EVENT, systemone({"type": "noul", "noul": 1}), {"no": Fraction(0), "yes": Fraction(1)}),
    (PLAIN_EVENT, b'{"answers": {"q": {"type": "noul", "noul": 3e-1}}}',
     {"no": Fraction(7, 10), "yes": Fraction(3, 10)}),
    (CHOICE, systemone({"type": "choice", "choice": "dry", "probabilities": {"wet": 0.5, "dry": 0.5}}),
     {"dry": Fraction(1, 2), "wet": Fraction(1, 2)}),
    (CHOICE, systemone({"type": "choice", "probabilities": {"dry": 0.33, "wet": 0.66}}),
     {"dry": Fraction(1, 3), "wet": Fraction(2, 3)}),
    (SCORE, systemone({"type": "score", "score": 1.3, "probabilities": {"0": 0.2, "1": 0.3, "2": 0.5}}),
     {"lo": Fraction(1, 5), "mi": Fraction(3, 10), "hi": Fraction(1, 2)}),
    (SCORE, systemone({"type": "score", "score": 2.0, "probabilities": {"0": 0.2, "1": 0.3, "2": 0.5}}),
     {"lo": Fraction(1, 5), "mi": Fraction(3, 10), "hi": Fraction(1, 2)}),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "content", "report"), GOOD_SYSTEM_ONE)
def test_sound_answers_are_read_exactly(request_: Request, content: object, report: dict[str, Fraction]) -> None:
    assert end(SystemOne(), request_, content).report == report


def test_rescaling_keeps_the_sum_and_what_was_said() -> None:
    found = end(SystemOne(), CHOICE, systemone({"type": "choice", "probabilities": {"dry": 0.33, "wet": 0.66}}))
    assert found.total == Fraction(99, 100)
    assert found.said == (("dry", "0.33"), ("wet", "0.66"))
    exact = end(
        SystemOne(), CHOICE, systemone({"type": "choice", "probabilities": {"dry": 0.33, "wet": 0.66}}), Fraction(0)
    )
    assert exact.reason == "sum"


@pytest.mark.parametrize(("step", "total", "reason"), [
    ("0.01", "0.99", None), ("0.01", "1.01", None), ("0.01", "0.9899", "sum"), ("0.01", "1.0101", "sum"),
    ("0.5", "0.98", None), ("0.5", "0.9799", "sum"), ("0", "1", None), ("0", "0.9999999", "sum"),
])  # fmt: skip
def test_a_sum_may_miss_one_by_half_a_step_an_option_and_no_more(step: str, total: str, reason: str | None) -> None:
    rest = Fraction(total) - Fraction(1, 4)
    text = f'{{"answers": {{"q": {{"type": "choice", "probabilities": {{"dry": 0.25, "wet": {float(rest)!r}}}}}}}}}'
    assert Fraction(repr(float(rest))) == rest
    assert end(SystemOne(), CHOICE, text.encode(), Fraction(step)).reason == reason


def test_letters_that_are_all_most_unlikely_still_have_a_readout() -> None:
    found = end(ChatLogprobs(), EVENT, logprobs(A=-900.0, B=-900.0 + math.log(3)), Fraction(1, 10**12))
    assert float(found.report["yes"]) == pytest.approx(0.75, abs=1e-12)


def test_an_envelope_is_opened_and_its_faults_are_seen() -> None:
    inner = systemone({"type": "noul", "noul": 0.3})
    wire = SystemOne(wrapped=True)
    assert end(wire, EVENT, {"result": inner, "success": True, "errors": []}).report["yes"] == Fraction(3, 10)
    assert wire.usage(json.dumps({"result": inner, "success": True}).encode()).model == "m"
    assert end(wire, EVENT, {"result": inner, "success": False, "errors": [1]}).reason == "transport"
    assert end(wire, EVENT, {"result": None, "success": True}).reason == "transport"
    assert end(wire, EVENT, inner).reason == "transport"


def listed(*rows: tuple[object, object]) -> dict[str, object]:
    found = [{"value": value, "probability": probability} for value, probability in rows]
    return {"answers": [{"type": "choice", "probabilities": found}]}


BAD_DECISIONS: list[tuple[Request, object, str]] = [
    (EVENT, {"answers": [{"type": "refusal", "name": "q"}]}, "refusal"),
    (EVENT, {"answers": []}, "missing-option"),
    (EVENT, {"answers": [{"type": "predicate", "name": "other", "probability": 0.5}]}, "extra-option"),
    (EVENT, {"answers": [{"type": "predicate", "probability": 0.5}] * 2}, "extra-option"),
    (EVENT, {"answers": [{"type": "predicate", "probability": 1.7}]}, "negative"),
    (CHOICE, listed(("dry", 1)), "missing-option"),
    (CHOICE, listed(("dry", 0.5), ("dry", 0.5)), "duplicate-key"),
    (CHOICE, listed((True, 0.5), ("wet", 0.5)), "missing-option"),
    (CHOICE, listed(("dry", 1.7), ("wet", -0.7)), "negative"),
    (EVENT, {"error": {"message": "no"}}, "transport"),
]


@pytest.mark.parametrize(("request_", "content", "reason"), BAD_DECISIONS)
def test_bad_decisions_are_rejected(request_: Request, content: object, reason: str) -> None:
    assert end(Decisions(), request_, content).reason == reason


def chat(text: object, finish: str = "stop", **message: object) -> dict[str, object]:
    return {"model": "m", "choices": [{"finish_reason": finish, "message": {"content": text, **message}}]}


CHAT: list[tuple[object, str | None]] = [
    (chat('{"no": 0.25, "yes": 0.75}'), None),
    (chat(' {"yes": 0.75, "no": 0.25}\n'), None),
    (chat('```json\n{"no": 0.25, "yes": 0.75}\n```'), "not-json"),
    (chat('{"no": 0.25, "yes": 0.75} I hope this helps'), "not-json"),
    (chat('{"no": 0.25, "yes": 0.75, "yes": 0.75}'), "duplicate-key"),
    (chat('{"no": "0.25", "yes": 0.75}'), "not-finite"),
    (chat('{"no": 25, "yes": 75}'), "sum"),
    (chat('{"no": 0.2', "length"), "cap"),
    (chat(None, refusal="I cannot"), "refusal"),
    (chat("", "content_filter"), "refusal"),
    (chat(""), "not-json"),
    (chat("[0.25, 0.75]"), "missing-option"),
    ({"choices": []}, "transport"),
]


@pytest.mark.parametrize(("content", "reason"), CHAT)
def test_generated_json_is_parsed_strictly(content: object, reason: str | None) -> None:
    found = end(ChatJson(), EVENT, content)
    assert found.reason == reason
    if reason is None:
        assert found.report == {"no": Fraction(1, 4), "yes": Fraction(3, 4)}


def logprobs(**values: object) -> dict[str, object]:
    rows = [{"token": token, "logprob": value} for token, value in values.items()]
    return {"choices": [{"finish_reason": "length", "message": {"content": "A"},
                         "logprobs": {"content": [{"token": "A", "top_logprobs": rows}]}}]}  # fmt: skip


def test_the_readout_is_the_softmax_over_the_letters_and_keeps_their_mass() -> None:
    content = logprobs(A=math.log(0.1), B=math.log(0.3), x=math.log(0.6))
    found = end(ChatLogprobs(), EVENT, content, Fraction(1, 10**12))
    assert found.state == "valid"
    assert float(found.report["yes"]) == pytest.approx(0.75, abs=1e-12)
    assert found.label_mass == pytest.approx(0.4, abs=1e-12)


def test_a_letter_outside_the_top_is_unknown_and_not_zero() -> None:
    assert end(ChatLogprobs(), EVENT, logprobs(A=-0.1, x=-3)).reason == "missing-option"
    assert end(ChatLogprobs(), EVENT, chat("A")).reason == "missing-option"
    assert end(ChatLogprobs(), WHOLE, logprobs(A=-0.1, B=-3)).reason == "missing-option"


def test_the_neutral_form_answers_for_one_request_with_exact_text() -> None:
    good = {"id": "e1", "probabilities": {"no": "2/3", "yes": "1/3"}}
    assert end(Plain(), EVENT, good, Fraction(0)).report == {"no": Fraction(2, 3), "yes": Fraction(1, 3)}
    assert end(Plain(), EVENT, good | {"id": "e2"}).reason == "transport"
    assert end(Plain(), EVENT, {"id": "e1", "refusal": "no demonstrations"}).reason == "refusal"
    assert end(Plain(), EVENT, {"id": "e1", "fault": "ValueError"}).reason == "transport"


@pytest.mark.parametrize("name", FORMS)
def test_every_form_shows_the_case_the_question_and_the_demonstrations(name: str) -> None:
    body = FORMS[name].wire.body(SHOWN, "m").decode()
    for text in ("Clouds.", "Will it rain?", "Sun.", "Fog."):
        assert text in body
    assert body.index("Sun.") < body.index("Fog.") < body.index("Clouds.") or name in (
        "likelihood",
        "program",
        "reporter",
    )


@given(st.binary(max_size=60))
def test_no_bytes_make_any_form_fail(data: bytes) -> None:
    for form in FORMS.values():
        for request in ALL:
            found = end_of_answer(data, request, form.wire, CENT)
            assert found.state == "rejected"
            assert found.reason in REASONS
            form.wire.usage(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["answers", "q", "type", "noul", "choice", "probabilities", "choices", "message", "content", "logprobs",
             "top_logprobs", "token", "logprob", "id", "usage", "model", "score", "result", "success", "value"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_no_json_makes_any_form_fail(content: object) -> None:
    data = json.dumps(content).encode()
    for form in FORMS.values():
        for request in ALL:
            found = end_of_answer(data, request, form.wire, CENT)
            assert found.state == "valid" or found.reason in REASONS
            form.wire.usage(data)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-2, max_value=2, places=6))
def test_numbers_are_the_decimals_that_were_written(number: Any) -> None:
    (found,) = parse_answer(f"[{number:f}]")
    assert isinstance(found, JsonNumber)
    assert exact_number(found) == Fraction(number)


@pytest.mark.parametrize("text", ["01", "+1", ".5", "1.", "0x1", "Infinity", "-NaN", "1_0", "١"])
def test_what_is_no_json_number_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        parse_answer(text)


def test_a_question_with_more_options_than_letters_is_not_asked_for_letters() -> None:
    many = Request("m", "v", "distribution", "?", tuple(WHOLE.options[:1]) * 27, "s")
    with pytest.raises(Unread):
        ChatLogprobs().body(many, "m")
