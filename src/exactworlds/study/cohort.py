"""Scoring the runs of a cohort: validity, accuracy, coherence, decisions, and the criterion.

Probability scores use valid reports only, relations need every constituent valid, contrasts need both sides valid, and
decisions use every intended root, whose missing reports defer. Each figure carries its own support. What is not here:
how roots are weighted and drawn (`study.figures`), and the formulas (`metrics`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from attrs import frozen

from exactworlds.errors import InvalidArgument
from exactworlds.metrics import (
    DEFER,
    actions,
    actions_binary,
    best_fixed_action,
    brier_score,
    brier_score_binary,
    coarsening_residual,
    complement_residual,
    distribution_residual,
    expected_loss,
    frechet_residual,
    log_loss,
    oracle_loss,
    pair_residual,
    passes,
    policy_losses,
    product_residual,
    realised_brier_score,
    realised_log_loss,
    total_variation,
)
from exactworlds.study.figures import Figure, Series, exact_lower_bound, with_intervals
from exactworlds.study.reports import VARIANTS, RootTruth, Run

__all__ = ["CohortScores", "Criterion", "Slots", "score_cohort", "slots"]

VALIDITY_FLOOR = Fraction(995, 1000)
PASS_FLOOR = Fraction(95, 100)
PRIMARY_RELATIONS = (
    *("event_choice", "complement", "coarsening", "product", "permutation", "layout", "opaque_keys", "metadata"),
    "repeat",
)
_DISTRIBUTIONS = {"permutation": "permuted", "layout": "layout", "opaque_keys": "opaque", "metadata": "metadata"}


@frozen
class Slots:
    """How the requests of one configuration ended, by variant and in all.

    Claim: E.validity
    """

    intended: int
    eligible: int
    ended: Mapping[str, int]
    reasons: Mapping[str, int]
    served: int

    @property
    def native_validity(self) -> Fraction:
        """valid / eligible."""
        return Fraction(self.ended.get("valid", 0), self.eligible)

    @property
    def service_availability(self) -> Fraction:
        """(valid + rejected after HTTP 200) / eligible."""
        return Fraction(self.served, self.eligible)


@frozen
class Criterion:
    """The operational criterion: validity, and the lower end of each primary relation's pass rate.

    Claim: E.criterion
    """

    native_validity: Fraction
    lower_bounds: Mapping[str, Fraction | None]
    failed: tuple[str, ...]

    @property
    def passes(self) -> bool:
        return not self.failed


@frozen
class CohortScores:
    """All figures of all configurations, by name such as `kev/tv` or `jev - kev/tv`, and what they rest on."""

    figures: Mapping[str, Figure]
    slots: Mapping[str, Slots]
    slots_by_variant: Mapping[str, Mapping[str, Slots]]
    criteria: Mapping[str, Criterion]
    best_fixed: Mapping[str, tuple[int, Fraction]]
    strata: tuple[str, ...]
    support: Mapping[str, Mapping[str, int]]


def slots(truths: Sequence[RootTruth], run: Run, variants: Sequence[str] = VARIANTS) -> Slots:
    """The ends of all intended requests; undefined conditionals are intended but not eligible.

    Claim: E.validity
    """
    ended: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    served = eligible = 0
    for truth in truths:
        for variant in variants:
            if not truth.is_eligible(variant):
                continue
            answer = run.answer(truth.id, variant)
            eligible += 1
            ended[answer.state] += 1
            served += answer.state == "valid" or (answer.state == "rejected" and answer.served)
            if answer.reason is not None:
                reasons[answer.reason] += 1
    return Slots(len(truths) * len(variants), eligible, dict(ended), dict(reasons), served)


def score_cohort(
    truths: Sequence[RootTruth],
    runs: Sequence[Run],
    *,
    costs: Sequence[str],
    seed: int,
    replicates: int = 5000,
    variants: Sequence[str] = VARIANTS,
) -> CohortScores:
    """Scores runs over the roots of a cohort.

    Figures of a configuration are named `NAME/figure`, contrasts `LEFT - RIGHT/figure`; costs are part of the name, as
    in `kev/canonical-loss@0.10`. Policies of Event and Choice, of Event and its repeat, and references stand beside.

    Claim: E.tables
    """
    if len({truth.id for truth in truths}) < len(truths):
        raise InvalidArgument("truths", "an id twice", "every root once")
    if len({run.name for run in runs}) < len(runs):
        raise InvalidArgument("runs", "a name twice", "every configuration once")
    strata = [truth.stratum for truth in truths]
    series: dict[str, Series] = {}
    ratios: dict[str, tuple[Series, Series]] = {}
    for cost in costs:
        series.update({f"{name}@{cost}": values for name, values in _references(truths, cost).items()})
    for run in runs:
        own = _Scorer(truths, run)
        found = dict(own.scores()) | dict(own.relations())
        for cost in costs:
            found |= {f"{name}@{cost}": values for name, values in own.decisions(cost)}
        series.update({f"{run.name}/{name}": values for name, values in found.items()})
        ratios[f"{run.name}/disagreement-share"] = own.disagreement()
    for left, right in combinations(runs, 2):
        series.update(dict(_contrasts(series, left.name, right.name)))
    figures = with_intervals(series, ratios, strata, seed=seed, replicates=replicates)
    ends = {run.name: slots(truths, run, variants) for run in runs}
    return CohortScores(
        figures=figures,
        slots=ends,
        slots_by_variant={run.name: {each: slots(truths, run, (each,)) for each in variants} for run in runs},
        criteria={
            run.name: _criterion(
                {relation: series[f"{run.name}/{relation}-pass"] for relation in PRIMARY_RELATIONS},
                strata,
                ends[run.name],
                seed=seed,
                replicates=replicates,
            )
            for run in runs
        },
        best_fixed={cost: best_fixed_action(target=[truth.event for truth in truths], cost=cost) for cost in costs},
        strata=tuple(dict.fromkeys(strata)),
        support={run.name: _support(truths, run) for run in runs},
    )


def _criterion(
    rates: Mapping[str, Series], strata: Sequence[str], ends: Slots, *, seed: int, replicates: int
) -> Criterion:
    """Passes and bounds are compared exactly; `rates` has the pass series of each primary relation."""
    bounds = {
        relation: exact_lower_bound(rates[relation], strata, seed=seed, replicates=replicates)
        for relation in PRIMARY_RELATIONS
    }
    failed = [relation for relation, low in bounds.items() if low is None or low < PASS_FLOOR]
    if ends.native_validity < VALIDITY_FLOOR:
        failed.insert(0, "validity")
    return Criterion(ends.native_validity, bounds, tuple(failed))


def _support(truths: Sequence[RootTruth], run: Run) -> dict[str, int]:
    """How many canonical reports are valid in each stratum; zeros are kept and named."""
    counts = dict.fromkeys([truth.stratum for truth in truths], 0)
    for truth in truths:
        counts[truth.stratum] += run.report(truth.id, "canonical") is not None
    return counts


def _contrasts(series: Mapping[str, Series], left: str, right: str) -> Iterator[tuple[str, Series]]:
    """Differences on the roots where both sides have a finite value; an infinite loss has no paired difference."""
    for name, values in series.items():
        configuration, _, figure = name.partition("/")
        other = series.get(f"{right}/{figure}")
        if configuration != left or other is None or figure.endswith("log-loss"):
            continue
        yield (
            f"{left} - {right}/{figure}",
            [None if a is None or b is None else a - b for a, b in zip(values, other, strict=True)],
        )


def _references(truths: Sequence[RootTruth], cost: str) -> dict[str, Series]:
    """What needs no report: the oracles, and always deferring."""
    binary = [truth.event for truth in truths]
    return {
        "oracle/canonical-loss": _by_size(
            truths, [truth.posterior for truth in truths], lambda q, _: oracle_loss(target=q, cost=cost)
        ),
        "oracle/binary-loss": [
            *policy_losses(policy="oracle", event=binary, choice=binary, target=binary, cost=cost).tolist()
        ],
        "defer/loss": [Fraction(cost)] * len(truths),
    }


class _Scorer:
    """The series of one configuration."""

    def __init__(self, truths: Sequence[RootTruth], run: Run) -> None:
        self.truths, self.run = truths, run
        self.reports = {variant: [run.report(truth.id, variant) for truth in truths] for variant in VARIANTS}

    def scores(self) -> Iterator[tuple[str, Series]]:
        """Accuracy against the exact posterior, on valid reports."""
        canonical = self.reports["canonical"]
        yield "tv", _by_size(self.truths, canonical, lambda p, q: total_variation(report=p, target=q))
        yield "brier", _by_size(self.truths, canonical, lambda p, q: brier_score(report=p, target=q))
        yield "log-loss", _by_size(self.truths, canonical, lambda p, q: log_loss(report=p, target=q))
        if all(truth.outcome is not None for truth in self.truths):
            labels = [truth.outcome for truth in self.truths]
            yield "realised-brier", _with_labels(self.truths, canonical, labels, realised_brier_score)
            yield "realised-log-loss", _with_labels(self.truths, canonical, labels, realised_log_loss)
        for variant in ("event", "choice"):
            yield f"{variant}-error", self._scalar(variant, lambda p, q: abs(p - q))
            yield (
                f"{variant}-brier",
                self._scalar(variant, lambda p, q: _fraction(brier_score_binary(report=p, target=q))),
            )

    def relations(self) -> Iterator[tuple[str, Series]]:
        """The residuals of the ten relations and whether they pass, where every constituent is valid.

        Claim: E.relations
        """
        found: dict[str, Series] = {
            "event_choice": self._joined(("event", "choice"), lambda a, b: pair_residual(first=a, second=b)),
            "complement": self._joined(
                ("event", "complement"), lambda a, b: complement_residual(event=a, complement=b)
            ),
            "product": self._joined(
                ("intersection", "conditional", "b"),
                lambda joint, given, b: product_residual(joint=joint, conditional=given, condition=b),
            ),
            "repeat": self._joined(("event", "repeat"), lambda a, b: pair_residual(first=a, second=b)),
            "frechet": self._joined(
                ("event", "b", "intersection"), lambda a, b, x: frechet_residual(first=a, second=b, joint=x)
            ),
            "coarsening": [
                None if event is None or whole is None else _coarsening(truth, event, whole)
                for truth, event, whole in zip(
                    self.truths, self.reports["event"], self.reports["canonical"], strict=True
                )
            ],
        }
        for relation, variant in _DISTRIBUTIONS.items():
            found[relation] = [
                None if one is None or whole is None else _fraction(distribution_residual(variant=one, canonical=whole))
                for one, whole in zip(self.reports[variant], self.reports["canonical"], strict=True)
            ]
        for relation, residuals in found.items():
            yield relation, residuals
            yield (
                f"{relation}-pass",
                [
                    None if residual is None else Fraction(bool(passes(residual, relation=relation)))
                    for residual in residuals
                ],
            )

    def decisions(self, cost: str) -> Iterator[tuple[str, Series]]:
        """Losses of the controller over every intended root; a report that is not valid defers."""
        canonical = self.reports["canonical"]
        valid = _by_size(self.truths, canonical, lambda p, _: actions(report=p, cost=cost))
        chosen = [DEFER if action is None else int(action) for action in valid]
        losses = [
            _fraction(loss)
            for loss in _by_size(
                self.truths,
                chosen,
                lambda a, q: expected_loss(action=a.astype(np.int64), target=q, cost=cost),
            )
        ]
        best = _references(self.truths, cost)["oracle/canonical-loss"]
        yield "canonical-loss", losses
        yield "canonical-regret", [loss - _present(least) for loss, least in zip(losses, best, strict=True)]
        yield "canonical-coverage", [Fraction(action != DEFER) for action in chosen]
        yield from self._policies(cost)
        yield from self._action_changes(cost)

    def disagreement(self) -> tuple[Series, Series]:
        """Half the Event/Choice gap, and the mean error of the pair: their ratio of means is the share.

        Claim: E.disagreement
        """
        gaps: list[Fraction | None] = []
        errors: list[Fraction | None] = []
        for truth, event, choice in zip(self.truths, self.reports["event"], self.reports["choice"], strict=True):
            whole = isinstance(event, Fraction) and isinstance(choice, Fraction)
            gaps.append(abs(_fraction(event) - _fraction(choice)) / 2 if whole else None)
            errors.append(
                (abs(_fraction(event) - truth.event) + abs(_fraction(choice) - truth.event)) / 2 if whole else None
            )
        return gaps, errors

    def _policies(self, cost: str) -> Iterator[tuple[str, Series]]:
        """Binary policies of Event with Choice, and of Event with its repeat, over every intended root."""
        target = [truth.event for truth in self.truths]
        event, event_valid = _stand_in(self.reports["event"])
        for second, policies in (
            ("choice", ("event", "choice", "random", "mean", "agreement")),
            ("repeat", ("mean", "agreement")),
        ):
            other, other_valid = _stand_in(self.reports[second])
            for policy in policies:
                losses = policy_losses(
                    policy=policy,
                    event=event,
                    choice=other,
                    target=target,
                    cost=cost,
                    event_valid=event_valid,
                    choice_valid=other_valid,
                )
                name = policy if second == "choice" else f"event-repeat-{policy}"
                yield f"binary-loss:{name}", losses.tolist()

    def _action_changes(self, cost: str) -> Iterator[tuple[str, Series]]:
        """Whether Event and Choice lead to different actions, on paired-valid roots; crossings and switches apart."""
        changes: list[Fraction | None] = []
        crossings: list[Fraction | None] = []
        for event, choice in zip(self.reports["event"], self.reports["choice"], strict=True):
            if event is None or choice is None:
                changes.append(None)
                crossings.append(None)
                continue
            first, second = (int(a) for a in actions_binary(report=[event, choice], cost=cost))
            changes.append(Fraction(first != second))
            crossings.append(Fraction(first != second and DEFER in (first, second)))
        yield "action-change", changes
        yield "action-crossing", crossings

    def _scalar(self, variant: str, score: Callable[[Fraction, Fraction], Fraction]) -> Series:
        return [
            None if report is None else score(_fraction(report), _fraction(truth.target(variant)))
            for truth, report in zip(self.truths, self.reports[variant], strict=True)
        ]

    def _joined(self, variants: Sequence[str], residual: Callable[..., Any]) -> Series:
        """A residual of scalar reports, computed at once for the roots that have all of them."""
        rows = list(zip(*(self.reports[variant] for variant in variants), strict=True))
        complete = [place for place, row in enumerate(rows) if None not in row]
        values: list[Fraction | None] = [None] * len(rows)
        if complete:
            columns = [[_fraction(rows[place][k]) for place in complete] for k in range(len(variants))]
            for place, value in zip(complete, residual(*columns).tolist(), strict=True):
                values[place] = value
        return values


def _coarsening(truth: RootTruth, event: object, whole: object) -> Fraction:
    return _fraction(coarsening_residual(event=event, canonical=whole, members=list(truth.in_event)))


def _stand_in(reports: Sequence[object]) -> tuple[list[Fraction], list[bool]]:
    """Reports with a number where there is none, and which of them are valid: an invalid one is never used."""
    mask = [isinstance(report, Fraction) for report in reports]
    return [report if isinstance(report, Fraction) else Fraction(0) for report in reports], mask


def _by_size(
    truths: Sequence[RootTruth], reports: Sequence[object], score: Callable[[Any, Any], Any]
) -> list[Fraction | float | None]:
    """A score of distributions, computed at once for all roots with the same number of categories."""
    values: list[Fraction | float | None] = [None] * len(truths)
    sizes = {len(truth.posterior) for truth in truths}
    for size in sizes:
        rows = [
            place for place, truth in enumerate(truths) if len(truth.posterior) == size and reports[place] is not None
        ]
        if rows:
            p = np.array([reports[place] for place in rows], dtype=object)
            q = np.array([truths[place].posterior for place in rows], dtype=object)
            for place, value in zip(rows, np.asarray(score(p, q)).tolist(), strict=True):
                values[place] = value
    return values


def _with_labels(
    truths: Sequence[RootTruth], reports: Sequence[object], labels: Sequence[int | None], score: Callable[..., Any]
) -> list[Fraction | float | None]:
    values: list[Fraction | float | None] = []
    for report, label in zip(reports, labels, strict=True):
        values.append(None if report is None else np.asarray(score(report=[report], label=[label])).tolist()[0])
    assert len(values) == len(truths)
    return values


def _fraction(value: object) -> Fraction:
    assert isinstance(value, Fraction | int)  # exact in, exact out
    return Fraction(value)


def _present(value: Fraction | float | None) -> Fraction:
    assert isinstance(value, Fraction)
    return value
