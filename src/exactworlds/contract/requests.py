"""The twelve requests of a root, each with its event map: what every option means, as a set of cells.

Everything beside the world is drawn from streams of their own, keyed by purpose: ids, the permutation, opaque keys and
metadata say nothing of the world, its categories or each other. A conditional given an event of mass zero is never
made. What is not here: the way back from a report (`alignment`), files.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Literal

from attrs import field, frozen

from exactworlds.contract.cells import EVERYTHING, Cell, CellSet
from exactworlds.contract.cohorts import Cohort, Root
from exactworlds.contract.events import And, Atom, Event, Given, In, Not, Query, cells_of, event_text, probability
from exactworlds.contract.questions import CANONICAL_QUESTION, question_text
from exactworlds.contract.rendering import state_text
from exactworlds.memo.streams import Stream
from exactworlds.rational import common_denominator
from exactworlds.spec.cohorts import VARIANTS, Variant

__all__ = [
    "BINARY",
    "ContractOption",
    "ContractRequest",
    "cohort_requests",
    "drawn_cell",
    "events_text",
    "query_of",
    "root_requests",
]

Kind = Literal["event", "choice", "distribution"]
NO, YES = "no", "yes"
_LETTERS = "bcdfghjkmnpqrstvwxz"
_KEY_LENGTH = 6
_CLERKS = ("Abara", "Brandt", "Castro", "Dlamini", "Eriksen", "Farouk", "Gupta", "Haddad")
_OFFICES = ("north", "south", "east", "west", "central")
BINARY: Mapping[Variant, str] = {
    "event": "A",
    "choice": "A",
    "repeat": "A",
    "complement": "not A",
    "b": "B",
    "intersection": "A and B",
    "conditional": "A given B",
}
"""What each binary request asks about."""


@frozen
class ContractOption:
    """An answer that can be given: its key, and what it says."""

    key: str
    text: str


@frozen
class ContractRequest:
    """One request about a root: what is shown, and apart from it what every option means.

    `event_map` gives each key its set of cells, `condition` the cells that are taken as given (all but in a
    conditional), `events` the same as queries, `outcomes` the canonical outcomes as sets of cells in canonical order.
    """

    id: str
    root: Root
    variant: Variant
    kind: Kind
    question: str
    options: tuple[ContractOption, ...]
    state: str
    query: Query | None
    events: Mapping[str, Query] = field(repr=False)
    event_map: Mapping[str, CellSet] = field(repr=False)
    outcomes: Mapping[str, CellSet] = field(repr=False)
    condition: CellSet = EVERYTHING

    def target(self) -> dict[str, Fraction]:
        """The exact probability of each option, by its key.

        Claim: E.requests
        """
        return {option.key: probability(self.events[option.key], self.root.world) for option in self.options}

    def realised(self, cell: Cell) -> str | None:
        """The key of the option that holds in a cell; None where the cell is not among those taken as given."""
        return next((key for key, cells in self.event_map.items() if cell in cells), None)


def cohort_requests(cohort: Cohort) -> Iterator[ContractRequest]:
    """All eligible requests of a cohort, root after root."""
    for root in cohort.roots:
        yield from root_requests(root, cohort)


def root_requests(root: Root, cohort: Cohort) -> Iterator[ContractRequest]:
    """The eligible requests of a root in their fixed order; an undefined conditional is left out.

    Claim: E.requests, E.slots
    """
    drawn = _Draws(root, cohort.spec.id, cohort.seed)
    for variant in VARIANTS:
        if variant not in cohort.spec.variants or (variant == "conditional" and not root.world.has_conditional):
            continue
        yield _binary(root, variant, drawn) if variant in BINARY else _distribution(root, variant, drawn)


def drawn_cell(root: Root, cohort: Cohort) -> Cell:
    """The cell that is the root's one realised outcome, drawn exactly from its posterior.

    It depends on the seed and on what the root is: a subset has the outcomes of the cohort that it is taken from.

    Claim: E.draws
    """
    whole = common_denominator(root.world.posterior.values())
    number = int(Stream("contract outcome", cohort.seed, root.hash).uniform(0, 1, whole)[0])
    for cell, mass in root.world.posterior.items():
        number -= int(mass * whole)
        if number < 0:
            return cell
    raise AssertionError  # the masses add up to 1


def query_of(root: Root, variant: Variant) -> Query | None:
    """What a binary request asks about; None for a request of the whole distribution."""
    is_a: Event = In(root.world.event_a)
    is_b: Event = Atom("b")
    queries: dict[str, Query] = {
        "A": is_a,
        "not A": Not(is_a),
        "B": is_b,
        "A and B": And(is_a, is_b),
        "A given B": Given(is_a, is_b),
    }
    return queries[BINARY[variant]] if variant in BINARY else None


def _binary(root: Root, variant: Variant, drawn: _Draws) -> ContractRequest:
    query = query_of(root, variant)
    assert query is not None
    inner, condition = (query.event, query.condition) if isinstance(query, Given) else (query, None)
    events: dict[str, Query] = {
        NO: Given(Not(inner), condition) if condition is not None else Not(inner),
        YES: query,
    }
    given = cells_of(condition, root.world) if condition is not None else EVERYTHING
    cells = {NO: cells_of(Not(inner), root.world) & given, YES: cells_of(inner, root.world) & given}
    return ContractRequest(
        id=drawn.id(variant),
        root=root,
        variant=variant,
        kind="choice" if variant == "choice" else "event",
        question=question_text(query),
        options=(ContractOption(NO, NO), ContractOption(YES, YES)),
        state=state_text(root.world, root.encoding),
        query=query,
        events=events,
        event_map=cells,
        outcomes=cells,
        condition=given,
    )


def _distribution(root: Root, variant: Variant, drawn: _Draws) -> ContractRequest:
    names = root.world.names
    order = drawn.permutation(len(names)) if variant == "permuted" else range(len(names))
    keys = drawn.keys(len(names)) if variant == "opaque" else list(names)
    options = tuple(ContractOption(keys[place], names[place]) for place in order)
    return ContractRequest(
        id=drawn.id(variant),
        root=root,
        variant=variant,
        kind="distribution",
        question=CANONICAL_QUESTION,
        options=options,
        state=state_text(
            root.world,
            root.encoding,
            second_layout=variant == "layout",
            metadata=drawn.metadata() if variant == "metadata" else None,
        ),
        query=None,
        events={key: In({name}) for key, name in zip(keys, names, strict=True)},
        event_map={key: root.world.categories[name] for key, name in zip(keys, names, strict=True)},
        outcomes={name: root.world.categories[name] for name in names},
    )


class _Draws:
    """What is drawn beside the world: a pure function of (seed, cohort, stratum, index of the root, purpose)."""

    def __init__(self, root: Root, cohort: str, seed: str) -> None:
        self._row = root.index
        self._purpose = (seed, cohort, root.generator, root.encoding)

    def id(self, variant: Variant) -> str:
        """96 bits as hexadecimal digits."""
        words = self._stream("id", variant).words(self._row, 1)[0]
        return f"{int(words[0]):016x}{int(words[1]) >> 32:08x}"

    def permutation(self, size: int) -> tuple[int, ...]:
        """One of the orders that are not the canonical one, all equally likely."""
        number = 1 + int(self._stream("permutation").uniform(self._row, 1, math.factorial(size) - 1)[0])
        return next(itertools.islice(itertools.permutations(range(size)), number, None))

    def keys(self, size: int) -> list[str]:
        """Distinct keys of random letters, in the order of the categories but drawn without looking at them."""
        stream = self._stream("keys")
        found: list[str] = []
        for block in itertools.count():
            for word in stream.words(self._row, 1, block)[0].tolist():
                key = "".join(_LETTERS[word // len(_LETTERS) ** place % len(_LETTERS)] for place in range(_KEY_LENGTH))
                if key not in found:
                    found.append(key)
                if len(found) == size:
                    return found
        raise AssertionError

    def metadata(self) -> str:
        """A line of filing data."""
        number, clerk, office = (
            int(self._stream("metadata", name).uniform(self._row, 1, bound)[0])
            for name, bound in (("number", 90_000), ("clerk", len(_CLERKS)), ("office", len(_OFFICES)))
        )
        return f"file {10_000 + number}, clerk {_CLERKS[clerk]}, office {_OFFICES[office]}"

    def _stream(self, *what: str) -> Stream:
        return Stream("contract request", *what, *self._purpose)


def events_text(request: ContractRequest) -> dict[str, str]:
    """The event map in the notation, by option key."""
    return {key: event_text(query) for key, query in request.events.items()}
