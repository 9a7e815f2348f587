"""Which roots a relation is about: those of which every constituent is asked and eligible.

What is not here: the residual of a report.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from exactworlds.contract.cohorts import Cohort, Root
from exactworlds.spec.relations import Relation, load_relations

__all__ = ["Population", "applies", "populations"]


@frozen
class Population:
    """The roots that a relation is about in a cohort, and those that it leaves out."""

    relation: str
    roots: tuple[str, ...] = field(repr=False)
    left_out: tuple[str, ...]


def applies(relation: Relation, root: Root) -> bool:
    """Whether every constituent can be asked of a root: a conditional needs P(B) > 0.

    Claim: E.relations
    """
    return "conditional" not in relation.constituents or root.world.has_conditional


def populations(cohort: Cohort, relations: Mapping[str, Relation] | None = None) -> dict[str, Population]:
    """Each relation whose constituents the cohort asks, with its roots: its denominator before any report is read.

    Claim: E.relations
    """
    found = {}
    for name, relation in (relations or load_relations().relation).items():
        if not set(relation.constituents) <= set(cohort.spec.variants):
            continue
        inside = tuple(root.id for root in cohort.roots if applies(relation, root))
        outside = tuple(root.id for root in cohort.roots if not applies(relation, root))
        found[name] = Population(name, inside, outside)
    return found
