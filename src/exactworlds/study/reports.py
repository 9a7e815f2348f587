"""What an analysis of a cohort takes: the truth of each root, and how each request of a run ended.

Reports are aligned already: probabilities of the canonical categories in their sorted order, or of the event itself.
Nothing is repaired here; a report that is not valid stays with its reason. What is not here: where truths come from
(`contract`) and where answers come from (`collect`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from attrs import field, frozen

from exactworlds.errors import InvalidArgument

__all__ = ["SCALARS", "VARIANTS", "VECTORS", "Answer", "RootTruth", "Run", "State", "rejected", "valid"]

VECTORS = ("canonical", "permuted", "layout", "opaque", "metadata")
"""Variants that ask for the whole distribution of the categories."""

SCALARS = ("event", "choice", "repeat", "complement", "b", "intersection", "conditional")
"""Variants that ask for one probability: of A (three ways), ¬A, B, A∩B, and A given B."""

VARIANTS = (*VECTORS[:1], *SCALARS, *VECTORS[1:])

State = Literal["valid", "rejected", "unavailable", "interrupted", "not-acquired"]
Number = Fraction


@frozen
class RootTruth:
    """The exact posterior of one root.

    `posterior` follows the sorted `categories`; `in_event` says which of them make up A. `conditional` is None where
    P(B) = 0, and its request is then not eligible. `event_b` and `intersection` are None only in a cohort that never
    asks for them. `outcome` is the index of one drawn category, if one was drawn.
    """

    id: str
    stratum: str
    categories: tuple[str, ...]
    posterior: tuple[Fraction, ...]
    in_event: tuple[bool, ...]
    event_b: Fraction | None
    intersection: Fraction | None
    conditional: Fraction | None
    outcome: int | None = None

    def __attrs_post_init__(self) -> None:
        if sum(self.posterior, Fraction(0)) != 1:
            raise InvalidArgument("posterior", sum(self.posterior, Fraction(0)), "a sum of exactly 1", self.id)

    @property
    def event(self) -> Fraction:
        """q(A)."""
        return sum((q for q, inside in zip(self.posterior, self.in_event, strict=True) if inside), Fraction(0))

    def target(self, variant: str) -> tuple[Fraction, ...] | Fraction | None:
        """What an exact report of a variant says; None where the variant is not eligible."""
        if variant in VECTORS:
            return self.posterior
        scalars = {
            "complement": 1 - self.event,
            "b": self.event_b,
            "intersection": self.intersection,
            "conditional": self.conditional,
        }
        return scalars.get(variant, self.event)

    def is_eligible(self, variant: str) -> bool:
        """Whether the variant has a target; an undefined conditional is never sent."""
        return self.target(variant) is not None


@frozen
class Answer:
    """How one request ended; only a valid one has a report, only a rejected one a reason.

    `served` says that a rejected answer came with HTTP 200: it counts for service availability. `said` keeps what was
    reported, option by option as text, also and above all where it was rejected. `total` is what the numbers of a valid
    report added up to before it was rescaled within its declared precision; 1 if it was not.
    """

    state: State
    report: tuple[Fraction, ...] | Fraction | None = None
    reason: str | None = None
    served: bool = True
    said: tuple[tuple[str, str], ...] = ()
    total: Fraction = Fraction(1)

    def __attrs_post_init__(self) -> None:
        if (self.report is not None) != (self.state == "valid"):
            raise InvalidArgument("report", self.report, "a report exactly if the state is valid")
        if (self.reason is not None) != (self.state == "rejected"):
            raise InvalidArgument("reason", self.reason, "a reason exactly if the state is rejected")


def valid(report: Sequence[Fraction] | Fraction) -> Answer:
    """A valid answer.

    >>> valid(Fraction(1, 2)).state
    'valid'
    """
    return Answer("valid", report if isinstance(report, Fraction) else tuple(report))


def rejected(reason: str, *, served: bool = True) -> Answer:
    """An answer that was refused, with the reason."""
    return Answer("rejected", None, reason, served)


@frozen
class Run:
    """The answers of one configuration: by root, then by variant. What is missing was not acquired."""

    name: str
    answers: Mapping[str, Mapping[str, Answer]] = field(repr=False)

    def answer(self, root: str, variant: str) -> Answer:
        return self.answers.get(root, {}).get(variant, Answer("not-acquired"))

    def report(self, root: str, variant: str) -> tuple[Fraction, ...] | Fraction | None:
        """The valid report of a request, or None."""
        return self.answer(root, variant).report
