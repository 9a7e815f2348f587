"""The kit must be able to fail: on a false claim, on premises that nothing satisfies, where no verdict is reached."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy
import z3
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.metrics._ordering import absolute, larger
from exactworlds.metrics.policies import mean_minus_random_formula
from metric_strategies import costs, probabilities
from proofs.kit.algebra import NotIdentical, difference_at, identical, never_negative, orderings, tangent
from proofs.kit.enclosures import INTERVALS, certainly_negative, certainly_positive, enclose
from proofs.kit.reals import NotProved, NotRefuted, Symbol, explore, prove, reachable, refute, unit, unreachable
from proofs.kit.reals import _check_cover as check

HALF = Fraction(1, 2)


def test_a_false_claim_is_not_proved_and_the_witness_is_exact() -> None:
    with pytest.raises(NotProved) as caught:
        prove(lambda x: x > 1, "x", lambda x: [x > 0])
    assert caught.value.witness is not None
    assert 0 < caught.value.witness["x"] <= 1


def test_a_claim_that_is_false_on_one_branch_only_is_not_proved() -> None:
    with pytest.raises(NotProved):
        prove(lambda x: absolute(x) == x, "x")
    assert prove(lambda x: absolute(x) == x, "x", lambda x: [x >= 0]) == 1
    assert prove(lambda x: absolute(x) >= x, "x") == 2


def test_each_entry_of_a_list_counts() -> None:
    with pytest.raises(NotProved):
        prove(lambda x: [x <= 1, x >= HALF], "x", unit)
    assert refute(lambda x: [x <= 1, x >= HALF], "x", unit)["x"] < HALF


def test_nothing_follows_from_premises_that_nothing_satisfies() -> None:
    with pytest.raises(NotProved, match="premises"):
        prove(lambda x: x == 7, "x", lambda x: [x > 0, x < 0])
    with pytest.raises(NotRefuted, match="premises"):
        refute(lambda x: x == 7, "x", lambda x: [x > 0, x < 0])
    with pytest.raises(NotProved, match="premises"):
        unreachable("x", lambda x: [x > 0, x < 0], lambda x: [x == 7])


def test_a_true_claim_is_not_refuted() -> None:
    with pytest.raises(NotRefuted, match="holds"):
        refute(lambda x: x > 0, "x", lambda x: [x > 1])


def test_no_verdict_fails_both_ways() -> None:
    def power(base: int, exponent: Any) -> Any:  # outside what the solver decides
        return Symbol(base**exponent.term) if isinstance(exponent, Symbol) else Fraction(base) ** int(exponent)

    def hard(x: Any) -> Any:
        return power(2, x) * power(3, x) == power(6, x)

    with pytest.raises(NotProved, match="no verdict") as caught:
        prove(hard, "x", lambda x: [x > 0])
    assert caught.value.witness is None
    with pytest.raises(NotRefuted, match="no verdict"):
        refute(hard, "x", lambda x: [x > 0])


def test_floats_and_booleans_are_refused() -> None:
    for wrong in (0.5, True):
        with pytest.raises(TypeError, match="exact"):
            prove(lambda x, wrong=wrong: x + wrong > x, "x")
    with pytest.raises(TypeError):
        identical(sympy.Symbol("x") * 0.5, 0)
    with pytest.raises(TypeError):
        enclose(0.5)  # type: ignore[arg-type]


def test_a_division_by_zero_is_a_failure_and_not_a_number() -> None:
    with pytest.raises(NotProved):
        prove(lambda x, y: x / y * y == x, "x y")
    assert prove(lambda x, y: x / y * y == x, "x y", lambda x, y: [y > 0]) == 1
    assert refute(lambda x, y: x / y * y == x, "x y")["y"] == 0


def test_a_root_is_no_rational_witness() -> None:
    with pytest.raises(NotRefuted, match="rational"):
        refute(lambda x: x * x != 2, "x", lambda x: [x > 0])
    with pytest.raises(NotProved, match="rational"):
        reachable("x", lambda x: [x > 0, x * x == 2])


def test_reachable_and_unreachable() -> None:
    assert reachable("x y", lambda x, y: [x + y == 1, x - y == HALF]) == {"x": Fraction(3, 4), "y": Fraction(1, 4)}
    unreachable("x", unit, lambda x: [x * x > x])
    with pytest.raises(NotProved, match="reachable"):
        unreachable("x", unit, lambda x: [x * x < x])


def test_every_branch_is_found_and_replayed() -> None:
    paths = explore(lambda a, b, c: larger(larger(a, b), c), "a b c")
    assert len(paths) == 4
    assert {path.witness is not None for path in paths} == {True}


def test_a_path_that_is_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs.kit.reals._check_cover", lambda branches: check(branches[:-1]))
    with pytest.raises(NotProved, match="cover"):
        explore(absolute, "x")


def test_an_inexact_replay_is_noticed() -> None:
    def differs(x: Any) -> Any:
        return x if isinstance(x, Symbol) else x + 1

    with pytest.raises(NotProved, match="Fractions"):
        explore(differs, "x")


PATHS = explore(mean_minus_random_formula, "p r q c", lambda p, r, q, c: [*unit(p, r, q), c > 0, c < HALF])


@given(costs().flatmap(lambda c: st.tuples(*[probabilities(c)] * 3, st.just(c))))
def test_the_paths_agree_with_the_code_on_numbers(root: tuple[Fraction, ...]) -> None:
    """Exactly one path of a formula with a dozen of them takes given numbers, and it gives their result."""
    places = [(z3.Real(name), z3.Q(x.numerator, x.denominator)) for name, x in zip("prqc", root, strict=True)]
    taken = [
        path
        for path in PATHS
        if z3.is_true(z3.simplify(z3.substitute(z3.And(*path.conditions, z3.BoolVal(True)), *places)))
    ]
    assert len(taken) == 1
    value = taken[0].result
    if isinstance(value, Symbol):
        value = Fraction(str(z3.simplify(z3.substitute(value.term, *places)).as_fraction()))
    assert value == mean_minus_random_formula(*root)


# --- algebra --------------------------------------------------------------------------------------------------------


def test_identities_are_decided_both_ways() -> None:
    x, y = sympy.symbols("x y")
    identical((x + y) ** 2, x**2 + 2 * x * y + y**2)
    identical((x**2 - 1) / (x - 1), x + 1)
    with pytest.raises(NotIdentical):
        identical((x + y) ** 2, x**2 + y**2)
    where, gap = difference_at((x + y) ** 2, x**2 + y**2)
    assert gap == 2 * where["x"] * where["y"]
    with pytest.raises(NotIdentical):
        difference_at((x + y) ** 2, x**2 + 2 * x * y + y**2)


def test_signs_need_a_certificate() -> None:
    x, y = sympy.symbols("x y", nonnegative=True)
    never_negative(x * y + 1 / (1 + x))
    with pytest.raises(NotIdentical):
        never_negative(x - y)
    with pytest.raises(NotIdentical, match="declared"):
        never_negative(sympy.Symbol("z"))


def test_there_are_six_orders_of_three_numbers() -> None:
    orders = list(orderings(3))
    assert len({tuple(map(str, order)) for order in orders}) == 6


def test_a_tangent_needs_all_three() -> None:
    x = sympy.Symbol("x", positive=True)
    tangent(x - 1 - sympy.log(x), x, sympy.Integer(1), 1 / x**2)
    for wrong in (x - sympy.log(x), 2 * x - 2 - sympy.log(x)):
        with pytest.raises(NotIdentical, match="derivative"):
            tangent(wrong, x, sympy.Integer(1), 1 / x**2)
    with pytest.raises(NotIdentical):
        tangent(x - 1 - sympy.log(x), x, sympy.Integer(1), 1 / x)


def test_intervals_hold_what_they_enclose() -> None:
    third = enclose(Fraction(1, 3))
    assert third.a < third.b
    assert certainly_positive(INTERVALS.log(enclose(2)) - enclose(Fraction(69, 100)))
    assert certainly_negative(INTERVALS.log(enclose(2)) - enclose(Fraction(70, 100)))
    assert not certainly_positive(3 * third - 1)
    assert not certainly_negative(3 * third - 1)
