"""The truths of a cohort's roots, and the reporter that knows them."""

from __future__ import annotations

from collections.abc import Sequence

from exactworlds.contract.cohorts import Cohort, Root
from exactworlds.contract.requests import drawn_cell
from exactworlds.study.reports import VARIANTS, Answer, RootTruth, Run, valid

__all__ = ["cohort_truths", "exact_run", "root_truth"]


def cohort_truths(cohort: Cohort) -> list[RootTruth]:
    """The truth of every root, in the cohort's order."""
    return [root_truth(root, cohort) for root in cohort.roots]


def root_truth(root: Root, cohort: Cohort) -> RootTruth:
    """The exact posterior of a root: of its categories, of B, of A and B, and of A given B where P(B) > 0."""
    world = root.world
    drawn = drawn_cell(root, cohort)
    b = world.mass(world.cells_of_b)
    both = world.mass(world.cells_of_a & world.cells_of_b)
    return RootTruth(
        id=root.id,
        stratum=root.stratum,
        categories=world.names,
        posterior=tuple(world.canonical[name] for name in world.names),
        in_event=tuple(name in world.event_a for name in world.names),
        event_b=b,
        intersection=both,
        conditional=both / b if world.has_conditional else None,
        outcome=next(index for index, name in enumerate(world.names) if drawn in world.categories[name]),
    )


def exact_run(truths: Sequence[RootTruth], name: str = "posterior") -> Run:
    """The reporter that reports the posterior itself, on every eligible request."""
    answers: dict[str, dict[str, Answer]] = {}
    for truth in truths:
        targets = {variant: truth.target(variant) for variant in VARIANTS}
        answers[truth.id] = {variant: valid(target) for variant, target in targets.items() if target is not None}
    return Run(name, answers)
