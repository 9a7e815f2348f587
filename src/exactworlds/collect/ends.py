"""How each request of a run ended: a pure function of the request, the run's settings and its ledger."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from attrs import field, frozen

from exactworlds.errors import InvalidArgument

__all__ = ["REASONS", "End", "State"]

State = Literal["valid", "rejected", "unavailable", "interrupted", "not-acquired"]

REASONS = (
    *("transport", "too-long", "not-json", "duplicate-key", "refusal", "cap", "missing-option", "extra-option"),
    *("not-finite", "negative", "sum", "inconsistent"),
)
"""Why an answer is rejected; the first that holds is the reason."""


@frozen
class End:
    """How one request ended.

    `report` has the probability of each option key and adds up to exactly 1; only a valid end has one. `total` is what
    the numbers added up to before they were rescaled within the precision that the backend declares. `said` keeps what
    was reported, as text, also where it was rejected. `label_mass` is the probability that the options had together
    where the backend reads it off a larger distribution. `served` says that the last answer came with HTTP 200.
    `seconds` and the tokens are sums over all attempts that were answered.
    """

    id: str
    state: State
    reason: str | None = None
    report: Mapping[str, Fraction] | None = None
    total: Fraction = Fraction(1)
    said: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    served: bool = False
    label_mass: float | None = None
    attempts: int = 0
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None

    def __attrs_post_init__(self) -> None:
        if (self.report is not None) != (self.state == "valid"):
            raise InvalidArgument("report", self.report, "a report exactly if the state is valid")
        if (self.reason is not None) != (self.state == "rejected"):
            raise InvalidArgument("reason", self.reason, "a reason exactly if the state is rejected")
        if self.report is not None and sum(self.report.values(), Fraction(0)) != 1:
            raise InvalidArgument("report", self.report, "probabilities that add up to exactly 1")
