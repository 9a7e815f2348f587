"""What can be computed of a cohort and compared or pinned, under ids such as `primary/binary/0.10/oracle-loss`.

    COHORT/canonical | binary/COST/oracle-loss | headroom | positive-headroom-roots      COHORT/always-yes/COST/…
    COHORT/…         example/… (P2's introductory world)         relations/…

What is not here: what a value is compared with (`golden.cohort_check`, `audit`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property

from exactworlds.contract.cells import CELLS, ContractWorld, cell_name, introductory_world
from exactworlds.contract.cohorts import Cohort, Slots, build_cohort, confidence_bin, count_slots
from exactworlds.contract.relations import populations
from exactworlds.contract.requests import cohort_requests, drawn_cell, events_text
from exactworlds.errors import NotFound
from exactworlds.golden.quantities import Value
from exactworlds.metrics.regrets import headroom_formula, oracle_loss_formula
from exactworlds.rational import fraction_text, parse_exact
from exactworlds.spec.cohorts import GENERATORS, CohortSpec
from exactworlds.spec.relations import load_relations

__all__ = ["SUBJECTS", "CohortQuantities", "example_value", "relation_value"]

SUBJECTS = ("example", "relations")
"""What the papers print values of beside worlds and cohorts."""


_TRANSCRIBED = {
    *("costs", "primary-cost", "requests-per-root", "intended", "quota", "counts", "likelihoods", "tolerance"),
    *("roots", "roots-per-generator", "roots-per-stratum"),
}
_FIGURES: dict[str, Callable[[Sequence[Fraction], Fraction], Fraction]] = {
    "oracle-loss": oracle_loss_formula,
    "headroom": headroom_formula,
}


class CohortQuantities:
    """The quantities of one cohort, computed on demand and kept."""

    def __init__(self, spec: CohortSpec, cohort: Cohort | None = None) -> None:
        self.spec = spec
        self.cohort = cohort or build_cohort(spec)
        self._known: dict[str, Value] = {}

    @cached_property
    def slots(self) -> Slots:
        return count_slots(self.cohort)

    def pinned(self) -> Iterator[tuple[str, str]]:
        """The ids that a golden file pins, each with the claim that it belongs to."""
        name, cost = self.spec.id, self.spec.primary_cost.raw
        for entry in ("roots", "intended", "eligible", "undefined-conditionals", "undefined-roots"):
            yield f"{name}/{entry}", "E.slots"
        for entry in ("hashes", "worlds"):
            yield f"{name}/{entry}", "E.hash"
        yield f"{name}/posteriors", "E.posterior"
        yield f"{name}/requests", "E.requests"
        yield f"{name}/outcomes", "E.draws"
        for variant in sorted(self.spec.variants):
            yield f"{name}/eligible/{variant}", "E.slots"
        for relation in populations(self.cohort):
            yield f"{name}/relation/{relation}", "E.relations"
        for quota in self.spec.quota:
            yield f"{name}/quota/{quota.name}", "E.cohorts"
        costs = dict.fromkeys(each.raw for grid in self.spec.costs.values() for each in grid)
        for task in ("canonical", "binary"):
            for each in costs:
                yield f"{name}/{task}/{each}/oracle-loss", "D.headroom"
            yield f"{name}/{task}/{cost}/positive-headroom-roots", "D.headroom"
        yield f"{name}/mean-event-probability", "E.posterior"
        yield f"{name}/always-yes/{cost}/half-coverage-loss", "D.headroom"

    @staticmethod
    def is_transcribed(quantity: str) -> bool:
        """Whether a quantity merely reads an entry of the spec back."""
        _, *parts = quantity.split("/")
        return parts[0] in _TRANSCRIBED

    def value(self, quantity: str) -> Value:
        """The value of a quantity, or `NotFound`."""
        if quantity not in self._known:
            self._known[quantity] = self._compute(quantity)
        return self._known[quantity]

    def _compute(self, quantity: str) -> Value:
        name, *parts = quantity.split("/")
        if name == self.spec.id:
            match parts:
                case [("canonical" | "binary") as task, cost, figure] if figure in _FIGURES:
                    c = parse_exact(cost)
                    return self.cohort.mean(_FIGURES[figure](target, c) for target in self._targets(task))
                case [("canonical" | "binary") as task, cost, "positive-headroom-roots"]:
                    c = parse_exact(cost)
                    return Fraction(sum(headroom_formula(target, c) > 0 for target in self._targets(task)))
                case ["always-yes", cost, "half-coverage-loss"]:
                    return (1 - self._mean_q_a() + parse_exact(cost)) / 2
                case ["eligible", variant] if variant in self.slots.by_variant:
                    return Fraction(self.slots.by_variant[variant])
                case ["relation", relation]:
                    found = populations(self.cohort).get(relation)
                    if found is not None:
                        return Fraction(len(found.roots))
                case ["quota", bin_name]:
                    return self._quota(bin_name)
                case [entry] if entry in _ENTRIES:
                    return _ENTRIES[entry](self)
        raise NotFound("quantity", quantity, [f"those of {self.spec.id}"])

    def _targets(self, task: str) -> list[tuple[Fraction, ...]]:
        """The exact posteriors of a task: of the categories, or of A and its complement."""
        worlds = [root.world for root in self.cohort.roots]
        if task == "canonical":
            return [tuple(world.canonical.values()) for world in worlds]
        return [(1 - world.q_a, world.q_a) for world in worlds]

    def _mean_q_a(self) -> Fraction:
        return self.cohort.mean(root.world.q_a for root in self.cohort.roots)

    def _quota(self, name: str) -> Value:
        """How many roots of a bin each stratum has: a number if it is the same in all."""
        counts = [
            sum(confidence_bin(root.world, self.spec.quota) == name for root in roots)
            for roots in self.cohort.strata.values()
        ]
        return Fraction(counts[0]) if len(set(counts)) == 1 else ", ".join(map(str, counts))

    def _each(self, sizes: list[int]) -> Value:
        return Fraction(sizes[0]) if len(set(sizes)) == 1 else ", ".join(map(str, sizes))


def _digest(lines: Iterator[str]) -> str:
    return "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _posterior_lines(cohort: Cohort) -> Iterator[str]:
    for root in cohort.roots:
        yield "\t".join([root.id, *(fraction_text(root.world.posterior[cell]) for cell in CELLS)])


def _world_lines(cohort: Cohort) -> Iterator[str]:
    for root in cohort.roots:
        likelihoods = map(fraction_text, root.world.likelihoods)
        yield "\t".join([root.id, str(root.index), *map(str, root.world.counts), *likelihoods])


def _request_lines(cohort: Cohort) -> Iterator[str]:
    for request in cohort_requests(cohort):
        options = [f"{option.key}={option.text}" for option in request.options]
        events = [f"{key}: {text}" for key, text in events_text(request).items()]
        yield "\t".join(
            [request.id, request.root.id, request.variant, request.kind, request.question, *options, *events]
        )
        yield request.state


def _outcome_lines(cohort: Cohort) -> Iterator[str]:
    for root in cohort.roots:
        yield f"{root.id}\t{cell_name(drawn_cell(root, cohort))}"


def _grids(quantities: CohortQuantities) -> str:
    return "; ".join(", ".join(cost.raw for cost in grid) for grid in quantities.spec.costs.values())


_ENTRIES: dict[str, Callable[[CohortQuantities], Value]] = {
    "roots": lambda of: Fraction(len(of.cohort.roots)),
    "roots-per-stratum": lambda of: of._each([len(roots) for roots in of.cohort.strata.values()]),
    "roots-per-generator": lambda of: of._each(
        [sum(root.generator == generator for root in of.cohort.roots) for generator in GENERATORS]
    ),
    "requests-per-root": lambda of: Fraction(len(of.spec.variants)),
    "intended": lambda of: Fraction(of.slots.intended),
    "eligible": lambda of: Fraction(of.slots.eligible),
    "undefined-conditionals": lambda of: Fraction(len(of.slots.undefined)),
    "undefined-roots": lambda of: _digest(iter(of.slots.undefined)),
    "product-roots": lambda of: of.value(f"{of.spec.id}/relation/product"),
    "costs": _grids,
    "primary-cost": lambda of: of.spec.primary_cost.raw,
    "mean-event-probability": lambda of: of._mean_q_a(),
    "hashes": lambda of: _digest(root.hash for root in of.cohort.roots),
    "worlds": lambda of: _digest(_world_lines(of.cohort)),
    "posteriors": lambda of: _digest(_posterior_lines(of.cohort)),
    "outcomes": lambda of: _digest(_outcome_lines(of.cohort)),
    "requests": lambda of: _digest(_request_lines(of.cohort)),
}


def example_value(quantity: str) -> Value:
    """A quantity of P2's introductory world, or `NotFound`."""
    world = introductory_world()
    match quantity.split("/"):
        case ["example", "weight", cell] if cell in map(cell_name, CELLS):
            return dict(zip(map(cell_name, CELLS), world.weights, strict=True))[cell]
        case ["example", entry] if entry in _EXAMPLE:
            return _EXAMPLE[entry](world)
        case ["example", "always-yes", "loss"]:
            return 1 - world.q_a
        case _:
            raise NotFound("quantity", quantity, ["those of example"])


_EXAMPLE: dict[str, Callable[[ContractWorld], Value]] = {
    "event-probability": lambda world: fraction_text(world.q_a),
    "counts": lambda world: ", ".join(map(str, world.counts)),
    "likelihoods": lambda world: ", ".join(map(fraction_text, world.likelihoods)),
}


def relation_value(quantity: str) -> Value:
    """A quantity of the relations, or `NotFound`."""
    relations = load_relations().relation
    match quantity.split("/"):
        case ["relations", "count"]:
            return Fraction(len(relations))
        case ["relations", "primary"]:
            return Fraction(sum(relation.primary for relation in relations.values()))
        case ["relations", "tolerance", name] if name in relations:
            return relations[name].tolerance.value
        case _:
            raise NotFound("quantity", quantity, ["those of relations"])
