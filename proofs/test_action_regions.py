"""Mean minus Random, row by row: P2's Proposition 1 and Table 29 for every cost in (0, ½) (D.regions of the papers).

A row names the actions on the two reports and on their midpoint, reports in the order no, defer, yes. Ten rows can
occur; the controller's own ties decide which points belong to which row. Δ_c is the package's `mean_minus_random`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from exactworlds.metrics.decisions import DEFER, NO, YES, binary_action_formula
from exactworlds.metrics.policies import mean_action_formula, mean_minus_random_formula, midpoint_formula
from proofs.kit.reals import costs, explore, prove, reachable, refute, unit, unreachable

Row = tuple[int, int, int]
HALF = Fraction(1, 2)
THIRD = Fraction(1, 3)
OVER = "p r q c"

TABLE: dict[Row, Callable[[Any, Any], Any]] = {
    (NO, NO, NO): lambda q, c: 0,
    (DEFER, DEFER, DEFER): lambda q, c: 0,
    (YES, YES, YES): lambda q, c: 0,
    (NO, DEFER, NO): lambda q, c: (q - c) / 2,
    (NO, DEFER, DEFER): lambda q, c: (c - q) / 2,
    (DEFER, YES, YES): lambda q, c: (1 - q - c) / 2,
    (DEFER, YES, DEFER): lambda q, c: (c - 1 + q) / 2,
    (NO, YES, NO): lambda q, c: q - HALF,
    (NO, YES, YES): lambda q, c: HALF - q,
    (NO, YES, DEFER): lambda q, c: c - HALF,
}
ROWS = [
    (*pair, middle) for pair, middle in product(combinations_with_replacement((NO, DEFER, YES), 2), (NO, DEFER, YES))
]
NAMES = {NO: "no", YES: "yes", DEFER: "defer"}


def region(report: Any, action: int, cost: Any) -> list[Any]:
    """Where the controller takes an action, for a cost below ½: closed for the classes, open for deferring."""
    if action == NO:
        return [report <= cost]
    return [report >= 1 - cost] if action == YES else [report > cost, report < 1 - cost]


def everywhere(p: Any, r: Any, q: Any, c: Any) -> list[Any]:
    return [*unit(p, r, q), *costs(c)]


def inside(row: Row) -> Callable[..., list[Any]]:
    def conditions(p: Any, r: Any, q: Any, c: Any) -> list[Any]:
        first, second, middle = row
        return [*region(p, first, c), *region(r, second, c), *region(midpoint_formula(p, r), middle, c)]

    return conditions


def domain(row: Row) -> Callable[..., list[Any]]:
    return lambda p, r, q, c: [*everywhere(p, r, q, c), *inside(row)(p, r, q, c)]


def named(row: Row) -> str:
    return "-".join(NAMES[action] for action in row)


def test_the_regions_are_those_of_the_controller() -> None:
    """Below ½: no iff p ≤ c, yes iff p ≥ 1 − c, defer strictly between; the thresholds belong to the classes."""

    def statement(p: Any, c: Any) -> list[Any]:
        return region(p, binary_action_formula(p, c), c)

    prove(statement, "p c", lambda p, c: [*unit(p), *costs(c)])


def test_twin_the_thresholds_do_not_belong_to_deferring() -> None:
    def statement(p: Any, c: Any) -> list[Any]:
        action = binary_action_formula(p, c)
        return [p < c] if action == NO else [p > 1 - c] if action == YES else [p >= c, p <= 1 - c]

    witness = refute(statement, "p c", lambda p, c: [*unit(p), *costs(c)])
    assert witness["p"] in (witness["c"], 1 - witness["c"])


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_every_row_of_the_table(row: Row) -> None:
    """A row of the table can occur and has the difference that the table gives; a row that it lacks cannot occur."""
    if row not in TABLE:
        unreachable(OVER, everywhere, inside(row))
        return
    w = reachable(OVER, domain(row))
    assert (
        binary_action_formula(w["p"], w["c"]),
        binary_action_formula(w["r"], w["c"]),
        mean_action_formula(w["p"], w["r"], w["c"]),
    ) == row
    prove(lambda p, r, q, c: mean_minus_random_formula(p, r, q, c) == TABLE[row](q, c), OVER, domain(row))


def test_the_code_takes_exactly_the_ten_rows() -> None:
    """All paths of the code, in either order of the reports: ten rows occur, and no other."""

    def taken(p: Any, r: Any, q: Any, c: Any) -> Any:
        actions = (binary_action_formula(p, c), binary_action_formula(r, c), mean_action_formula(p, r, c))
        return [*actions, mean_minus_random_formula(p, r, q, c)]

    order = (NO, DEFER, YES)
    seen = {(*sorted(path.result[:2], key=order.index), path.result[2]) for path in explore(taken, OVER, everywhere)}
    assert seen == set(TABLE)


@pytest.mark.parametrize("row", sorted(set(TABLE) - {(a, a, a) for a in NAMES}), ids=named)
def test_twin_no_row_has_the_opposite_sign(row: Row) -> None:
    witness = refute(lambda p, r, q, c: mean_minus_random_formula(p, r, q, c) == -TABLE[row](q, c), OVER, domain(row))
    assert mean_minus_random_formula(*witness.values()) == TABLE[row](witness["q"], witness["c"]) != 0


def test_twin_the_factor_one_half_is_needed() -> None:
    row = (NO, DEFER, NO)
    refute(lambda p, r, q, c: mean_minus_random_formula(p, r, q, c) == q - c, OVER, domain(row))


@pytest.mark.parametrize("middle", [NO, YES], ids=["no", "yes"])
def test_opposite_classes_keep_a_class_only_from_a_third_on(middle: int) -> None:
    """Between no and yes the midpoint answers only if c ≥ 1/3, and at 1/3 it does; below, it always defers."""
    row = (NO, YES, middle)
    prove(lambda p, r, q, c: c >= THIRD, OVER, domain(row))
    reachable(OVER, lambda p, r, q, c: [*domain(row)(p, r, q, c), c == THIRD])
    prove(
        lambda p, r, c: mean_action_formula(p, r, c) == DEFER,
        "p r c",
        lambda p, r, c: [*unit(p, r), *costs(c, below=THIRD), *region(p, NO, c), *region(r, YES, c)],
    )


def test_the_ends_at_a_third() -> None:
    """At c = 1/3 the pair (0, 2/3) has the midpoint 1/3, which answers no, and (1/3, 1) answers yes."""
    zero, one = Fraction(0), Fraction(1)
    assert mean_action_formula(zero, 2 * THIRD, THIRD) == NO
    assert mean_action_formula(THIRD, one, THIRD) == YES


def test_twin_opposite_classes_do_not_always_defer() -> None:
    witness = refute(
        lambda p, r, c: mean_action_formula(p, r, c) == DEFER,
        "p r c",
        lambda p, r, c: [*unit(p, r), *costs(c), *region(p, NO, c), *region(r, YES, c)],
    )
    assert witness["c"] >= THIRD


def test_averaging_helps_and_harms_by_at_most_a_half() -> None:
    """|Δ_c| ≤ ½; a deferring midpoint of opposite classes always helps, by ½ − c."""

    def statement(p: Any, r: Any, q: Any, c: Any) -> list[Any]:
        found = mean_minus_random_formula(p, r, q, c)
        return [found <= HALF, found >= -HALF]

    prove(statement, OVER, everywhere)
    prove(lambda p, r, q, c: mean_minus_random_formula(p, r, q, c) < 0, OVER, domain((NO, YES, DEFER)))


def test_twin_averaging_can_harm() -> None:
    witness = refute(lambda p, r, q, c: mean_minus_random_formula(p, r, q, c) <= 0, OVER, everywhere)
    assert mean_minus_random_formula(*witness.values()) > 0
