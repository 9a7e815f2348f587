"""How the requests of a run ended, and what the answers took: states, reasons, validity, tokens, cost, time.

Nothing is counted twice and nothing is left out: the states add up to the requests. A cost without a price, or without
the tokens that it needs, is unknown; it is never 0. What is not here: how good the answers are (`study.case_scores`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from attrs import field, frozen

from exactworlds.collect.ends import End
from exactworlds.errors import UsageError
from exactworlds.metrics import Undefined
from exactworlds.spec.prices import Price, token_cost

__all__ = ["STATES", "Collection", "Cost", "Total", "collection", "cost_of"]

STATES = ("valid", "rejected", "unavailable", "interrupted", "not-acquired")
"""How a request can end, in the order in which they are shown."""


@frozen
class Total:
    """A sum over the ends that say a number, and over how many of them."""

    sum: Fraction
    n: int


@frozen
class Cost:
    """What a run cost by list prices, in USD, or why that is unknown.

    `priced` of the `answered` requests say the tokens that the price asks for. What was sent without an answer says
    none and is not in the cost.
    """

    usd: Fraction | Undefined
    usd_per_request: Fraction | Undefined
    price: Price | None
    priced: int
    answered: int


@frozen
class Collection:
    """How the requests of a run ended.

    Native validity is valid / requests. Service availability also counts what was rejected after success (HTTP 200).
    Coverage is the share of requests that reached an end: valid, rejected or unavailable.

    Claim: E.validity
    """

    requests: int
    states: Mapping[str, int]
    reasons: Mapping[str, int]
    served: int
    rescaled: int
    largest_gap: Fraction
    attempts: int
    models: Mapping[str, int]
    input_tokens: Total
    output_tokens: Total
    seconds: Total
    label_mass: Total
    smallest_label_mass: Fraction | None = field(default=None)

    @property
    def valid(self) -> int:
        return self.states["valid"]

    @property
    def native_validity(self) -> Fraction:
        return Fraction(self.valid, self.requests)

    @property
    def service_availability(self) -> Fraction:
        return Fraction(self.served, self.requests)

    @property
    def coverage(self) -> Fraction:
        ended = self.valid + self.states["rejected"] + self.states["unavailable"]
        return Fraction(ended, self.requests)

    @property
    def share_rescaled(self) -> Fraction | Undefined:
        """Of the valid answers, those whose numbers did not add up to exactly 1."""
        return Fraction(self.rescaled, self.valid) if self.valid else Undefined("no answer is valid")

    @property
    def has_several_models(self) -> bool:
        """Whether more than one model answered: an alias that moved."""
        return len(self.models) > 1


def collection(ends: Sequence[End]) -> Collection:
    """What the ends of a run amount to.

    Claim: E.validity
    """
    if not ends:
        raise UsageError("the run has no request, expected at least one")
    states = Counter[str](end.state for end in ends)
    gaps = [abs(end.total - 1) for end in ends if end.state == "valid"]
    masses = [_exact(end.label_mass) for end in ends if end.label_mass is not None]
    return Collection(
        requests=len(ends),
        states={state: states[state] for state in STATES},
        reasons=dict(sorted(Counter(end.reason for end in ends if end.reason is not None).items())),
        served=sum(end.state == "valid" or (end.state == "rejected" and end.served) for end in ends),
        rescaled=sum(gap != 0 for gap in gaps),
        largest_gap=max(gaps, default=Fraction(0)),
        attempts=sum(end.attempts for end in ends),
        models=dict(sorted(Counter(end.model for end in ends if end.model is not None).items())),
        input_tokens=_total([end.input_tokens for end in ends]),
        output_tokens=_total([end.output_tokens for end in ends]),
        seconds=_total([end.seconds for end in ends]),
        label_mass=Total(sum(masses, Fraction(0)), len(masses)),
        smallest_label_mass=min(masses, default=None),
    )


def cost_of(ends: Sequence[End], price: Price | None) -> Cost:
    """The cost of a run by list prices.

    Known if there is a price, and every answer (with success, HTTP 200) says the tokens that the price asks for: a
    price of 0 asks for none. The mean is over the requests that were answered.
    """
    answers = [end for end in ends if end.state == "valid" or end.served]
    if price is None:
        unknown = Undefined("no list price of this model is known")
        return Cost(unknown, unknown, None, 0, len(answers))
    told = [
        end
        for end in answers
        if (end.input_tokens is not None or not price.input.value)
        and (end.output_tokens is not None or not price.output.value)
    ]
    if not answers:
        unknown = Undefined("no request was answered", {"requests": len(ends)})
        return Cost(unknown, unknown, price, 0, 0)
    if len(told) < len(answers):
        counts = {"without tokens": len(answers) - len(told), "answered": len(answers)}
        unknown = Undefined(f"{counts['without tokens']} of {len(answers)} answers do not say their tokens", counts)
        return Cost(unknown, unknown, price, len(told), len(answers))
    usd = sum((token_cost(price, end.input_tokens or 0, end.output_tokens or 0) for end in told), Fraction(0))
    return Cost(usd, usd / len(told), price, len(told), len(answers))


def _total(values: Sequence[float | int | None]) -> Total:
    known = [_exact(value) for value in values if value is not None]
    return Total(sum(known, Fraction(0)), len(known))


def _exact(value: float | int) -> Fraction:
    """The decimal that repr prints, so that sums do not depend on their order."""
    return Fraction(repr(value))
