"""Answers beside targets: each end of a run joined with the exact answer of its request, by id.

Nothing is joined unless everything belongs together: a run whose requests are not those of the task, a target without a
request, or a memo that is not the one the target was made for, is refused. What is not here: where ends come from
(`collect`), and what is made of the rows (`study.scores`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from attrs import field, frozen

from exactworlds.collect.ends import End
from exactworlds.contract.events import In, parse_query
from exactworlds.errors import ExactworldsError, UsageError, shorten
from exactworlds.files.requests import Request
from exactworlds.files.targets import ContractTarget, Target
from exactworlds.rational import parse_exact
from exactworlds.study.reports import VECTORS, Answer, RootTruth, Run

__all__ = [
    "CaseRow",
    "ContractRows",
    "check_same_digest",
    "join_cases",
    "join_contracts",
    "truths_of_targets",
]

YES = "yes"
_T = TypeVar("_T")


@frozen
class CaseRow:
    """One case: what was visible, the exact probability of the positive class, one drawn label, and how it ended."""

    id: str
    visible: tuple[tuple[str, str], ...]
    posterior: Fraction
    positive: bool
    end: End = field(repr=False)
    key: str = YES

    @property
    def report(self) -> Fraction | None:
        """The reported probability of the positive class; None where the answer is not valid."""
        return None if self.end.report is None else self.end.report[self.key]

    @property
    def raw_report(self) -> Fraction | None:
        """The same as it was written, before it was rescaled; above 1 it is no probability."""
        return None if self.report is None else self.report * self.end.total


@frozen
class ContractRows:
    """The truths of a cohort's roots, the run's aligned answers, and each target beside its end."""

    truths: tuple[RootTruth, ...]
    run: Run
    pairs: tuple[tuple[ContractTarget, End], ...] = field(repr=False)
    variants: tuple[str, ...] = ()


def check_same_digest(what: str, found: str, expected: object, of: str) -> None:
    """Refuses a file that is not the one that was meant."""
    if found != expected:
        raise UsageError(f"{what}: found the digest {shorten(found, 20)}, expected {shorten(expected, 20)} {of}")


def join_cases(
    requests: Sequence[Request], targets: Sequence[Target], event_map: Mapping[str, bool], ends: Sequence[End]
) -> tuple[CaseRow, ...]:
    """The cases of a task in the order of its requests."""
    if not requests:
        raise UsageError("the task has no request, expected at least one")
    by_target = _by_id("targets", [target.id for target in targets], targets, requests)
    by_end = _by_id("ends of the run", [end.id for end in ends], ends, requests)
    positive = [key for key, is_positive in event_map.items() if is_positive is True]
    if len(positive) != 1:
        raise UsageError(f"the origin's event map has {len(positive)} positive options, expected 1")
    rows = []
    for request in requests:
        target, end = by_target[request.id], by_end[request.id]
        keys = [option.key for option in request.options]
        if sorted(keys) != sorted(event_map):
            raise UsageError(f"{request.id}: found the options {keys}, expected those of the origin {list(event_map)}")
        _check_memo(request, target.digest)
        _check_report(end, keys)
        rows.append(
            CaseRow(
                target.id,
                tuple(target.visible.items()),
                _probability(target.posterior, request.id),
                target.positive,
                end,
                positive[0],
            )
        )
    return tuple(rows)


def join_contracts(
    requests: Sequence[Request],
    targets: Sequence[ContractTarget],
    origin: Mapping[str, Any],
    variants: Sequence[str],
    ends: Sequence[End],
    *,
    name: str,
) -> ContractRows:
    """The truths and aligned answers of a task of contracts.

    Claim: E.alignment
    """
    by_target = _by_id("targets", [target.id for target in targets], targets, requests)
    by_end = _by_id("ends of the run", [end.id for end in ends], ends, requests)
    truths = truths_of_targets(targets, origin, variants)
    answers: dict[str, dict[str, Answer]] = {}
    for request in requests:
        target, end = by_target[request.id], by_end[request.id]
        _check_memo(request, target.digest)
        keys = [option.key for option in target.options]
        if sorted(keys) != sorted(option.key for option in request.options):
            raise UsageError(f"{request.id}: the options of its target are not those that were asked")
        _check_report(end, keys)
        answers.setdefault(target.root, {})[target.variant] = aligned_answer(target, end)
    pairs = tuple((by_target[request.id], by_end[request.id]) for request in requests)
    return ContractRows(truths, Run(name, answers), pairs, tuple(variants))


def aligned_answer(target: ContractTarget, end: End) -> Answer:
    """An end as an answer: sorted categories, or the probability of yes, whatever keys and order were shown."""
    report: tuple[Fraction, ...] | Fraction | None = None
    if end.report is not None:
        by_outcome = {option.outcome: end.report[option.key] for option in target.options}
        is_vector = target.variant in VECTORS
        report = tuple(by_outcome[name] for name in sorted(by_outcome)) if is_vector else by_outcome[YES]
    return Answer(end.state, report, end.reason, end.served, end.said, end.total)


def truths_of_targets(
    targets: Sequence[ContractTarget], origin: Mapping[str, Any], variants: Sequence[str]
) -> tuple[RootTruth, ...]:
    """The truth of every root, from what its targets say of it; they must not contradict each other.

    The canonical request gives the posterior and the drawn category, the event request says what A is. A conditional
    that was not asked must be listed as undefined, and the other way round.
    """
    try:
        roots = {str(root): str(entry["stratum"]) for root, entry in origin["roots"].items()}
        undefined = set(origin["undefined"])
    except (KeyError, TypeError, AttributeError):
        raise UsageError("the origin of the targets has no roots, expected that of a task of contracts") from None
    asked: dict[str, dict[str, ContractTarget]] = {root: {} for root in roots}
    for target in targets:
        if target.root not in asked or target.stratum != roots[target.root]:
            raise UsageError(f"{target.id}: its root {target.root} is not one of the origin's")
        if target.variant in asked[target.root]:
            raise UsageError(f"{target.root}: found {target.variant} twice, expected once")
        asked[target.root][target.variant] = target
    for root, own in asked.items():
        expected = [variant for variant in variants if not (variant == "conditional" and root in undefined)]
        if sorted(own) != sorted(expected):
            differing = ", ".join(sorted(set(own) ^ set(expected)))
            raise UsageError(f"{root}: targets are missing or not expected: {differing}")
    return tuple(_root_truth(root, roots[root], own) for root, own in asked.items())


def _root_truth(root: str, stratum: str, own: Mapping[str, ContractTarget]) -> RootTruth:
    if "canonical" not in own or "event" not in own:
        raise UsageError(f"{root}: found no canonical or no event request, expected both to know what is true")
    whole = {option.outcome: option for option in own["canonical"].options}
    categories = tuple(sorted(whole))
    drawn = [name for name in categories if whole[name].key == own["canonical"].realised]
    events = [parse_query(option.event) for option in own["event"].options if option.outcome == YES]
    query = events[0] if len(events) == 1 else None
    if not isinstance(query, In) or not query.categories <= set(categories):
        raise UsageError(f"{root}: its event is no set of its categories, expected one")

    def asked(variant: str) -> Fraction | None:
        options = own[variant].options if variant in own else ()
        return next((_probability(option.posterior, root) for option in options if option.outcome == YES), None)

    truth = RootTruth(
        id=root,
        stratum=stratum,
        categories=categories,
        posterior=tuple(_probability(whole[name].posterior, root) for name in categories),
        in_event=tuple(name in query.categories for name in categories),
        event_b=asked("b"),
        intersection=asked("intersection"),
        conditional=asked("conditional"),
        outcome=categories.index(drawn[0]) if drawn else None,
    )
    for variant, target in own.items():
        said = {option.outcome: _probability(option.posterior, root) for option in target.options}
        is_vector = variant in VECTORS
        found = tuple(said.get(name) for name in categories) if is_vector else said.get(YES)
        if found != truth.target(variant) or sum(said.values(), Fraction(0)) != 1:
            raise UsageError(f"{root}: the targets of {variant} and of its other requests contradict each other")
    return truth


def _by_id(what: str, ids: Sequence[str], rows: Sequence[_T], requests: Sequence[Request]) -> dict[str, _T]:
    found = dict(zip(ids, rows, strict=True))
    expected = [request.id for request in requests]
    problems = [
        f"{len(listed)} {kind} ({', '.join(sorted(listed)[:3])}{', …' if len(listed) > 3 else ''})"
        for kind, listed in (
            ("missing", set(expected) - set(found)),
            ("not asked", set(found) - set(expected)),
            ("twice", {one for one in found if ids.count(one) > 1} if len(found) < len(ids) else set()),
        )
        if listed
    ]
    if problems:
        raise UsageError(f"{what}: {'; '.join(problems)}, expected one for each of {len(expected):,} requests")
    if len(set(expected)) < len(expected):
        raise UsageError("requests: found an id twice, expected every request once")
    return found


def _check_memo(request: Request, digest: str) -> None:
    if hashlib.sha256(request.state.encode()).hexdigest() != digest:
        raise UsageError(f"{request.id}: its target was made for another text than the one that was asked")


def _check_report(end: End, keys: Sequence[str]) -> None:
    if end.report is not None and sorted(end.report) != sorted(keys):
        raise UsageError(f"{end.id}: the report has the options {list(end.report)}, expected {list(keys)}")


def _probability(text: str, where: str) -> Fraction:
    try:
        value = parse_exact(text)
    except ExactworldsError as error:
        raise UsageError(f"{where}: {error}") from None
    if not 0 <= value <= 1:
        raise UsageError(f"{where}: found the probability {text}, expected one from 0 to 1")
    return value
