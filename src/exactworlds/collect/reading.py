"""From a ledger to ends: how each request ended, computed from the raw bytes again each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import define, evolve, field

from exactworlds.collect.ends import End, State
from exactworlds.collect.exchange import FAULTS, Verdict, verdict
from exactworlds.collect.forms import wire_of
from exactworlds.collect.validation import first_reason, is_consistent_choice, is_consistent_score, rescaled
from exactworlds.collect.wire import Reading, Unread, Usage, Wire
from exactworlds.errors import InvalidSpec, Problem
from exactworlds.files.ledger import Entry, as_bytes, read_ledger
from exactworlds.files.requests import Request
from exactworlds.files.run import LEDGER, read_run
from exactworlds.rational import parse_exact

__all__ = ["end_of_answer", "run_ends", "verdict_of"]


@define
class _Slot:
    """What the ledger has of one request so far."""

    state: State = "not-acquired"
    entry: Entry | None = None
    attempts: int = 0
    seconds: float | None = None
    usage: Usage = field(factory=Usage)


def run_ends(run: Path, requests: Sequence[Request]) -> list[End]:
    """One end a request, in the order of the requests."""
    info = read_run(run)
    file = run / LEDGER
    wire, step = wire_of(info.backend), parse_exact(info.step)
    slots: dict[str, _Slot] = {}
    known = {request.id for request in requests}
    for entry in read_ledger(file) if file.exists() else ():
        if entry.kind in ("intent", "record", "unsent"):
            if entry.fields["id"] not in known:
                what = f"found the request {entry.fields['id']!r}, expected one of the task"
                raise InvalidSpec(file, [Problem(f"line {entry.line}.id", what)])
            _take(file, slots.setdefault(entry.fields["id"], _Slot()), entry, wire)
    return [_end(file, request, slots.get(request.id, _Slot()), wire, step) for request in requests]


def _take(file: Path, slot: _Slot, entry: Entry, wire: Wire) -> None:
    """What a line does to a slot. An answer is final: nothing after it counts."""
    if slot.state in ("valid", "rejected"):
        return
    if entry.kind == "intent":
        slot.state, slot.attempts = "interrupted", slot.attempts + 1
        return
    slot.entry = entry
    if entry.kind == "unsent":
        slot.state = "rejected"
        return
    judged = verdict_of(file, entry)
    slot.state = "unavailable" if judged in ("again", "unavailable") else "rejected" if judged == "refused" else "valid"
    slot.seconds = (slot.seconds or 0.0) + float(entry.fields["seconds"])
    if judged == "answered":
        slot.usage = wire.usage(_bytes(file, entry, "response"))


def verdict_of(file: Path, entry: Entry) -> Verdict:
    """What a recorded attempt amounts to; a record that cannot be is damage."""
    status, error = entry.fields["status"], entry.fields["error"]
    fits = (error is None and type(status) is int) or (error in FAULTS and (status is None or type(status) is int))
    if not fits:
        what = f"found the status {status!r} and the error {error!r}, expected a status, or an error of a known kind"
        raise InvalidSpec(file, [Problem(f"line {entry.line}", what)])
    return verdict(status, error)


def _bytes(file: Path, entry: Entry, name: str) -> bytes:
    try:
        return as_bytes(entry.fields[name])
    except ValueError as error:
        raise InvalidSpec(file, [Problem(f"line {entry.line}.{name}", str(error))]) from None


def _end(file: Path, request: Request, slot: _Slot, wire: Wire, step: Fraction) -> End:
    facts: Mapping[str, Any] = {
        "attempts": slot.attempts,
        "seconds": slot.seconds,
        "input_tokens": slot.usage.input_tokens,
        "output_tokens": slot.usage.output_tokens,
        "model": slot.usage.model,
    }
    if slot.state == "valid":
        assert slot.entry is not None
        return evolve(end_of_answer(_bytes(file, slot.entry, "response"), request, wire, step), **facts)
    if slot.state == "rejected":
        assert slot.entry is not None
        reason = str(slot.entry.fields["reason"]) if slot.entry.kind == "unsent" else "transport"
        return End(request.id, "rejected", reason, **facts)
    return End(request.id, slot.state, **facts)


def end_of_answer(answer: bytes, request: Request, wire: Wire, step: Fraction) -> End:
    """How a request ends that was answered with these bytes: valid, or rejected with the first reason that holds.

    Claim: E.validity
    """
    try:
        reading = wire.read(answer, request)
    except Unread as unread:
        return End(request.id, "rejected", unread.reason, served=True)
    said = tuple((key, text) for key, text, _ in reading.pairs)
    numbers = [(key, number) for key, _, number in reading.pairs]
    reason = first_reason(numbers, [option.key for option in request.options], step)
    if reason is None and not _consistent(reading, request, step):
        reason = "inconsistent"
    if reason is not None:
        return End(request.id, "rejected", reason, said=said, served=True, label_mass=reading.label_mass)
    report, total = rescaled({key: number for key, number in numbers if number is not None})
    return End(request.id, "valid", None, report, total=total, said=said, served=True, label_mass=reading.label_mass)


def _consistent(reading: Reading, request: Request, step: Fraction) -> bool:
    report = {key: number for key, _, number in reading.pairs if number is not None}
    if reading.choice is not None and not is_consistent_choice(reading.choice, report):
        return False
    ordered = [report[option.key] for option in request.options]
    return reading.score is None or is_consistent_score(reading.score, ordered, step)
