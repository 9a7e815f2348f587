"""Contracts of the event algebra, the alignment and the rule language on small types, one twin each.

Events, parts and levels are picked by whole numbers: the trees themselves are concrete, and every choice is a path.
The values that are aligned and the numbers in rules are symbolic and bounded by nothing. `integer_contracts` says how a
contract reads, proofs/README.md what crosshair cannot do.
"""

from __future__ import annotations

from exactworlds.contract.alignment import align, report_problems
from exactworlds.contract.cells import CELLS, FOUR_CATEGORIES, Cell, ContractWorld, introductory_world, semantic_hash
from exactworlds.contract.cohorts import Root
from exactworlds.contract.events import (
    And,
    Atom,
    Event,
    Given,
    In,
    Not,
    Or,
    cells_of,
    check_partition,
    event_text,
    parse_query,
    probability,
)
from exactworlds.contract.requests import ContractRequest
from exactworlds.engine.enumerate import compile_expression
from exactworlds.errors import InvalidContract
from exactworlds.spec.load import parse_world
from exactworlds.spec.rules import parse_rule
from exactworlds.spec.typing import NUMBER, LevelType, Type, infer_type

FOUR = introductory_world()
LEAVES: tuple[Event, ...] = (Atom("a"), Atom("b"), In({"type_1"}), In({"type_0", "type_3"}))
PARTS: tuple[Event, ...] = (In({"type_0"}), In({"type_1"}), In({"type_2"}), Atom("a"))

FIRST, SECOND, THIRD = frozenset(CELLS[:2]), frozenset(CELLS[2:3]), frozenset(CELLS[3:])
REQUEST = ContractRequest(
    id="one",
    root=Root("one", FOUR.generator, "joined", 0, FOUR, semantic_hash(FOUR)),
    variant="opaque",
    kind="distribution",
    question="",
    options=(),
    state="",
    query=None,
    events={},
    event_map={"x": THIRD, "y": FIRST, "z": SECOND},
    outcomes={"first": FIRST, "second": SECOND, "third": THIRD},
)

RULES = parse_world(
    b"""
format = "exactworlds/world/1"
id = "small"
title = "Small types"
question = "Which?"
labels = { positive = "yes", negative = "no" }
[attribute.size]
levels = ["small", "large"]
probability = ["1/2", "1/2"]
[attribute.kind]
levels = ["old", "new", "none"]
probability = ["1/2", "1/4", "1/4"]
[attribute.n]
values = [0, 1, 2]
probability = ["1/2", "1/4", "1/4"]
[table]
price = { small = "1", large = "4" }
rate.small = { old = "1", new = "2", none = "3" }
rate.large = { old = "2", new = "4", none = "6" }
[derived]
cost = "price[size] * n + rate[size, kind]"
cheap = "cost < 3 or not (size == 'large') and kind != 'new'"
[rule]
positive = "cheap and n > 0"
[setting]
all = ["size", "kind", "n"]
[[provenance]]
of = ["*"]
kind = "chosen"
why = "a contract"
"""
)
SIZES, KINDS = ("small", "large"), ("old", "new", "none")
COST, CHEAP = (compile_expression(RULES.derived_by_name[name].expression, RULES) for name in ("cost", "cheap"))
HALVES = compile_expression(parse_rule("n < 0.5 or n * 0.5 >= 2.5"), RULES)
TYPES: dict[str, Type] = {"n": NUMBER, "size": LevelType(SIZES), "kind": LevelType(KINDS)}
SIDES = ("n", "1", "size", "kind", "'old'", "n < 1", "size == 'small'")


def event(shape: int, left: int, right: int) -> Event:
    one, two = LEAVES[left], LEAVES[right]
    return (one, Not(one), And(one, two), Or(one, two), Not(And(one, Not(two))), And(Or(one, two), Not(two)))[shape]


def truth(shape: int, left: int, right: int, a: bool, b: bool) -> bool:
    """Whether the event holds in a cell, in Python's own logic."""
    one, two = ((a, b, not a and b, a == b)[leaf] for leaf in (left, right))
    return (one, not one, one and two, one or two, two or not one, one and not two)[shape]


def cells_of_an_event(shape: int, left: int, right: int, a: bool, b: bool) -> bool:
    """
    pre: 0 <= shape < 6 and 0 <= left < 4 and 0 <= right < 2
    post: __return__ == truth(shape, left, right, a, b)
    """
    return Cell(a, b) in cells_of(event(shape, left, right), FOUR)


def cells_of_an_event_twin(shape: int, left: int, right: int, a: bool, b: bool) -> bool:
    """
    pre: 0 <= shape < 6 and 0 <= left < 4 and 0 <= right < 2
    post: __return__ == (truth(shape, left, right, a, b) and not (shape == 3 and a and b))
    """
    return Cell(a, b) in cells_of(event(shape, left, right), FOUR)


def de_morgan(left: int, right: int) -> bool:
    """
    pre: 0 <= left < 4 and 0 <= right < 4
    post: __return__
    """
    one, two = LEAVES[left], LEAVES[right]
    return cells_of(Not(And(one, two)), FOUR) == cells_of(Or(Not(one), Not(two)), FOUR)


def de_morgan_twin(left: int, right: int) -> bool:
    """
    pre: 0 <= left < 4 and 0 <= right < 4
    post: __return__
    """
    one, two = LEAVES[left], LEAVES[right]
    return cells_of(Not(And(one, two)), FOUR) == cells_of(And(Not(one), Not(two)), FOUR)


def query_reads_back(shape: int, left: int, condition: int) -> bool:
    """
    pre: 0 <= shape < 6 and 0 <= left < 4 and 0 <= condition < 5
    post: __return__
    """
    asked = event(shape, left, 1)
    query = Given(asked, LEAVES[condition]) if condition < 4 else asked
    return parse_query(event_text(query)) == query


def query_reads_back_twin(shape: int, left: int, condition: int) -> bool:
    """
    pre: 0 <= shape < 6 and 0 <= left < 4 and 0 <= condition < 5
    post: __return__
    """
    asked = event(shape, left, 1)
    query = Given(asked, LEAVES[condition]) if condition < 4 else asked
    return parse_query(event_text(query)) == asked


def is_partition(first: int, second: int) -> bool:
    try:
        check_partition([PARTS[first], In({"type_0"}), PARTS[second]], FOUR)
    except InvalidContract:
        return False
    return True


def partition(first: int, second: int) -> bool:
    """
    pre: 0 <= first < 4 and 0 <= second < 4
    post: __return__ == ((first, second) in ((1, 3), (3, 1)))
    """
    return is_partition(first, second)


def partition_twin(first: int, second: int) -> bool:
    """
    pre: 0 <= first < 4 and 0 <= second < 4
    post: __return__ == ((first, second) in ((1, 2), (1, 3), (3, 1)))
    """
    return is_partition(first, second)


def posterior(first: int, second: int) -> bool:
    """
    pre: 1 <= first <= 3 and 1 <= second <= 3
    post: __return__
    """
    world = ContractWorld("noisy-sensor", (first, second, 0, 0), None, FOUR_CATEGORIES)
    return probability(Atom("b"), world) * (first + second) == second


def posterior_twin(first: int, second: int) -> bool:
    """
    pre: 1 <= first <= 3 and 1 <= second <= 3
    post: __return__
    """
    world = ContractWorld("noisy-sensor", (first, second, 0, 0), None, FOUR_CATEGORIES)
    return probability(Atom("b"), world) * (first + second) == first


def aligned(x: int, y: int, z: int) -> tuple[int, int, int]:
    """
    post: __return__ == (y, z, x)
    """
    found = align({"x": x, "y": y, "z": z}, REQUEST)
    return found["first"], found["second"], found["third"]


def aligned_twin(x: int, y: int, z: int) -> tuple[int, int, int]:
    """
    post: __return__ == (x, y, z)
    """
    found = align({"x": x, "y": y, "z": z}, REQUEST)
    return found["first"], found["second"], found["third"]


def faults_of_a_report(x: bool, y: bool, z: bool, first: bool) -> int:
    """
    post: __return__ == (not x) + (not y) + (not z) + first
    """
    keys = [key for key, there in (("x", x), ("y", y), ("z", z), ("first", first)) if there]
    return len(report_problems(dict.fromkeys(keys, 0), REQUEST))


def faults_of_a_report_twin(x: bool, y: bool, z: bool, first: bool) -> int:
    """
    post: __return__ == (not x) + (not y) + (not z)
    """
    keys = [key for key, there in (("x", x), ("y", y), ("z", z), ("first", first)) if there]
    return len(report_problems(dict.fromkeys(keys, 0), REQUEST))


def looked_up(size: int, kind: int, n: int) -> int:
    """
    pre: 0 <= size < 2 and 0 <= kind < 3
    post: __return__ == (1 + 3 * size) * n + (1 + size) * (1 + kind)
    """
    return int(COST({"size": SIZES[size], "kind": KINDS[kind], "n": n}))


def looked_up_twin(size: int, kind: int, n: int) -> int:
    """
    pre: 0 <= size < 2 and 0 <= kind < 3
    post: __return__ == (1 + 3 * size) * n + (1 + size) + kind
    """
    return int(COST({"size": SIZES[size], "kind": KINDS[kind], "n": n}))


def levels(size: int, kind: int, cost: int) -> bool:
    """
    pre: 0 <= size < 2 and 0 <= kind < 3
    post: __return__ == (cost <= 2 or (size == 0 and kind != 1))
    """
    return bool(CHEAP({"size": SIZES[size], "kind": KINDS[kind], "cost": cost}))


def levels_twin(size: int, kind: int, cost: int) -> bool:
    """
    pre: 0 <= size < 2 and 0 <= kind < 3
    post: __return__ == ((cost <= 2 or size == 0) and kind != 1)
    """
    return bool(CHEAP({"size": SIZES[size], "kind": KINDS[kind], "cost": cost}))


def level_as_text(size: str, cost: int) -> bool:
    """
    pre: len(size) <= 5
    post: __return__ == (cost <= 2 or size != "large")
    """
    return bool(CHEAP({"size": size, "kind": "old", "cost": cost}))


def level_as_text_twin(size: str, cost: int) -> bool:
    """
    pre: len(size) <= 5
    post: __return__ == (cost <= 2 or size == "small")
    """
    return bool(CHEAP({"size": size, "kind": "old", "cost": cost}))


def halves(n: int) -> bool:
    """
    post: __return__ == (n < 1 or n >= 5)
    """
    return bool(HALVES({"n": n}))


def halves_twin(n: int) -> bool:
    """
    post: __return__ == (n < 1 or n > 5)
    """
    return bool(HALVES({"n": n}))


def is_well_typed(left: int, operator: str, right: int) -> bool:
    faults: list[str] = []
    tree = parse_rule(f"({SIDES[left]}) {operator} ({SIDES[right]})")
    infer_type(tree, names=TYPES, tables={}, report=faults.append)
    return not faults


def compared(left: int, right: int) -> bool:
    """
    pre: 0 <= left < 7 and 0 <= right < 7
    post: __return__ == (left <= 1 and right <= 1)
    """
    return is_well_typed(left, "<", right)


def compared_twin(left: int, right: int) -> bool:
    """
    pre: 0 <= left < 7 and 0 <= right < 7
    post: __return__ == (left <= 1 or right <= 1)
    """
    return is_well_typed(left, "<", right)


def equated(left: int, right: int) -> bool:
    """
    pre: 0 <= left < 7 and 0 <= right < 7
    post: __return__ == ("nnskobb"[left] + "nnskobb"[right] in ("nn", "ss", "kk", "oo", "bb", "ko", "ok"))
    """
    return is_well_typed(left, "==", right)


def equated_twin(left: int, right: int) -> bool:
    """
    pre: 0 <= left < 7 and 0 <= right < 7
    post: __return__ == ("nnskobb"[left] + "nnskobb"[right] in ("nn", "ss", "kk", "oo", "bb"))
    """
    return is_well_typed(left, "==", right)


CONTRACTS = {
    cells_of_an_event: cells_of_an_event_twin,
    de_morgan: de_morgan_twin,
    query_reads_back: query_reads_back_twin,
    partition: partition_twin,
    posterior: posterior_twin,
    aligned: aligned_twin,
    faults_of_a_report: faults_of_a_report_twin,
    looked_up: looked_up_twin,
    levels: levels_twin,
    level_as_text: level_as_text_twin,
    halves: halves_twin,
    compared: compared_twin,
    equated: equated_twin,
}
