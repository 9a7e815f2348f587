"""Reference reporters: they read what a model reads, parse the memo, and report by a rule that everyone can check.

    posterior              p*(1 | x) by the engine: what a perfect model would say
    prior                  p*(1), whatever the memo says
    label-frequency        the share of positive demonstrations
    logistic-regression    fitted to the demonstrations' visible attributes (P1, Section A.1)

None of them opens targets; all are exact but the fitted one, whose doubles stand for the decimals that repr prints.
Where a rule gives no answer (no demonstrations, only one label among them) it declines rather than guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from attrs import frozen

from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import NotFound, UsageError
from exactworlds.files.requests import Request
from exactworlds.memo.template import MemoParseError, MemoTemplate, memo_template
from exactworlds.rational import parse_exact
from exactworlds.spec.digest import law_digest, text_digest
from exactworlds.spec.reporters import LogisticSettings, load_reporters
from exactworlds.spec.world import World

__all__ = ["REPORTERS", "Declined", "Reporter", "reporter"]

UNFIT_FOR_REGRESSION = "covert-transfer"
"""P1 leaves it out: its categories are not seen in training, and the feature that tells is the rule itself."""


class Declined(Exception):  # an answer of a kind, not a fault
    """The reporter's rule gives no answer to this request."""


@frozen(slots=False)
class Reporter:
    """A rule, bound to the world that a task was drawn from; `report` gives each option key its probability."""

    name: str
    world: World
    setting: str
    template: str
    scale: Fraction

    def report(self, request: Request) -> dict[str, Fraction]:
        """What the rule reports, from the request alone.

        Claim: B.preservation
        """
        no, yes = (option.key for option in request.options)
        value = REPORTERS[self.name](self, request)
        return {no: 1 - value, yes: value}

    def pattern(self, memo: str) -> tuple[str, ...]:
        """The visible levels that a memo states."""
        try:
            return self._memos.parse(memo).pattern
        except MemoParseError as error:
            raise Declined(f"the memo cannot be read: {error}") from None

    @cached_property
    def _scaled(self) -> ScaledWorld:
        return ScaledWorld(self.world)

    @cached_property
    def _memos(self) -> MemoTemplate:
        return memo_template(self.world, self.setting, self.template, self._scaled)

    @cached_property
    def table(self) -> dict[tuple[str, ...], Fraction]:
        """p*(1 | x) of every pattern."""
        rows = self._scaled.view(self.setting).table(self.scale)
        return {pattern: posterior for pattern, (_, posterior) in rows.items()}

    @cached_property
    def prior(self) -> Fraction:
        """p*(1)."""
        rows = self._scaled.view(self.setting).table(self.scale)
        return sum((mass * posterior for mass, posterior in rows.values()), Fraction(0))

    @cached_property
    def features(self) -> Features:
        """How patterns become numbers."""
        return Features(self.world, self.setting, self._scaled)

    @cached_property
    def fits(self) -> dict[tuple[tuple[str, str], ...], Callable[[tuple[str, ...]], Fraction]]:
        """Fitted models by the demonstrations they were fitted to: most requests of a task share them."""
        return {}


class Features:
    """Visible attributes as columns: categories one-hot over their declared levels, numbers scaled by their support."""

    def __init__(self, world: World, setting: str, scaled: ScaledWorld) -> None:
        self._columns: list[dict[str, tuple[float, ...]]] = []
        for name in world.settings[setting].visible:
            attribute, derived = world.attribute.get(name), world.derived_by_name.get(name)
            levels = attribute.levels if attribute is not None else scaled.values_of(name)
            is_number = attribute.is_number if attribute is not None else derived is not None and _are_numbers(levels)
            self._columns.append(_scaled_numbers(levels) if is_number else _one_hot(levels))

    def row(self, pattern: Sequence[str]) -> list[float]:
        """The numbers of a pattern."""
        return [value for column, level in zip(self._columns, pattern, strict=True) for value in column[level]]


def _are_numbers(levels: Sequence[str]) -> bool:
    try:
        for level in levels:
            parse_exact(level)
    except ValueError:
        return False
    return True


def _scaled_numbers(levels: Sequence[str]) -> dict[str, tuple[float, ...]]:
    numbers = [parse_exact(level) for level in levels]
    low, high = min(numbers), max(numbers)
    span = high - low or Fraction(1)
    return {level: (float((number - low) / span),) for level, number in zip(levels, numbers, strict=True)}


def _one_hot(levels: Sequence[str]) -> dict[str, tuple[float, ...]]:
    return {level: tuple(float(place == own) for place in range(len(levels))) for own, level in enumerate(levels)}


def _posterior(known: Reporter, request: Request) -> Fraction:
    pattern = known.pattern(request.state)
    if pattern not in known.table:
        raise Declined("the memo states a pattern of mass zero")
    return known.table[pattern]


def _prior(known: Reporter, request: Request) -> Fraction:
    return known.prior


def _label_frequency(known: Reporter, request: Request) -> Fraction:
    if not request.demonstrations:
        raise Declined("there are no demonstrations")
    return Fraction(sum(_labels(request)), len(request.demonstrations))


def _logistic(known: Reporter, request: Request) -> Fraction:
    key = tuple((one.memo, one.answer) for one in request.demonstrations)
    if key not in known.fits:
        labels = _labels(request)
        if len(set(labels)) < 2:
            raise Declined("the demonstrations do not have both labels")
        rows = [known.features.row(known.pattern(one.memo)) for one in request.demonstrations]
        known.fits[key] = _fitted(rows, labels, known.features, load_reporters().logistic_regression)
    return known.fits[key](known.pattern(request.state))


def _fitted(
    rows: Sequence[Sequence[float]], labels: Sequence[bool], features: Features, settings: LogisticSettings
) -> Callable[[tuple[str, ...]], Fraction]:
    """The fitted probability of yes, as the decimal of its double."""
    try:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  # only this reporter needs it
    except ImportError:
        raise UsageError("logistic regression needs the extra: pip install 'exactworlds[study]'") from None
    model = LogisticRegression(
        C=float(settings.inverse_strength.value),
        solver=settings.solver,
        max_iter=settings.iterations,
        tol=float(settings.tolerance.value),
    )
    model.fit(np.array(rows), np.array(labels))
    if int(model.n_iter_[0]) >= settings.iterations:
        raise UsageError(f"logistic regression did not settle within {settings.iterations} steps")

    def predict(pattern: tuple[str, ...]) -> Fraction:
        return Fraction(repr(float(model.predict_proba(np.array([features.row(pattern)]))[0, 1])))

    return predict


def _labels(request: Request) -> list[bool]:
    """Which demonstrations are positive: those answered with the second option."""
    no, yes = (option.key for option in request.options)
    unknown = sorted({one.answer for one in request.demonstrations} - {no, yes})
    if unknown:
        raise Declined(f"a demonstration is answered with {unknown[0]!r}, expected {no} or {yes}")
    return [one.answer == yes for one in request.demonstrations]


REPORTERS: dict[str, Callable[[Reporter, Request], Fraction]] = {
    "posterior": _posterior,
    "prior": _prior,
    "label-frequency": _label_frequency,
    "logistic-regression": _logistic,
}
"""The rules by name: each the probability of the second option, yes."""


def reporter(name: str, world: World, manifest: Mapping[str, Any]) -> Reporter:
    """A reporter for a task, of which it knows the manifest; the world must be the one that the task was drawn from."""
    if name not in REPORTERS:
        raise NotFound("reporter", name, REPORTERS)
    if manifest.get("kind") != "cases":
        raise UsageError(f"{name} reads memos, expected a task of cases, found one of {manifest.get('kind')}")
    for what, found in (("law", law_digest(world)), ("text", text_digest(world))):
        if manifest.get(what) != found:
            raise UsageError(
                f"the task was drawn from another version of {world.id}: its {what} digest is {manifest.get(what)}, "
                f"expected {found}"
            )
    if name == "logistic-regression" and world.id == UNFIT_FOR_REGRESSION:
        raise UsageError(f"{name} is not for {world.id}: its categories are not seen in training (P1, Section A.1)")
    scale = parse_exact(manifest["scale"])
    return Reporter(name, world, manifest["setting"], manifest["template"], scale)
