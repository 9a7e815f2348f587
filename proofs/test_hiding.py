"""Posteriors of a world, what hiding does to its errors, and how they depend on the scale (claims A.*).

`WORLD` has two attributes and a residual; all of its probabilities and its scale are symbols. The engine that executes
the definition runs on them as it does on Fractions.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
import sympy
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.engine.enumerate import bayes_error, pattern_tables, prior, residual_law
from exactworlds.metrics._ordering import smaller, total
from exactworlds.metrics.divergences import entropy_formula, kl_formula
from exactworlds.metrics.means import weighted_mean_formula
from exactworlds.spec.load import parse_world
from metric_strategies import distributions
from proofs.kit.algebra import normal_logs
from proofs.kit.enclosures import INTERVALS, certainly_negative, certainly_positive, enclose_all
from proofs.kit.reals import law, prove, refute, unit

HALF = Fraction(1, 2)
WORLD = parse_world(
    b"""
format = "exactworlds/world/1"
id = "two"
title = "Two attributes"
question = "Which?"
labels = { positive = "yes", negative = "no" }
[attribute.first]
values = [0, 1]
probability = ["1/2", "1/2"]
[attribute.second]
levels = ["u", "v"]
given = "first"
probability = { 0 = ["1/2", "1/2"], 1 = ["1/2", "1/2"] }
[residual.noise]
probability = { "-1" = "1/4", "0" = "1/2", "1" = "1/4" }
[rule]
positive = "first + (1 if second == 'u' else 0) + noise >= 1"
[setting]
low = ["first", "second"]
high = ["first"]
[[provenance]]
of = ["*"]
kind = "chosen"
why = "a proof"
"""
)
OVER = "a[2] b[2] c[2] r[3] s"
NOISE = (-1, 0, 1)


def with_numbers(a: Any, b: Any, c: Any, r: Any) -> Any:
    """The world with these probabilities: of `first`, of `second` given 0 and given 1, of the noise."""

    def row(values: Any) -> Any:
        return tuple(SimpleNamespace(value=value) for value in values)

    first, second = WORLD.attributes
    assert WORLD.residual is not None
    keys = list(second.rows)
    return evolve(
        WORLD,
        attributes=(
            evolve(first, rows={(): row(a)}),
            evolve(second, rows=dict(zip(keys, map(row, (b, c)), strict=True))),
        ),
        residual=evolve(WORLD.residual, probabilities=row(r)),
    )


def laws(a: Any, b: Any, c: Any, r: Any, s: Any) -> list[Any]:
    return [*law(a, b, c, r), *[x > 0 for x in (*a, *b, *c, *r)], s > 0, s * (r[0] + r[2]) < 1]


def states(a: Any, b: Any, c: Any, r: Any, s: Any) -> list[tuple[int, int, int, Any]]:
    """Every state by hand: first, second (1 for u), noise, and its probability at scale s."""
    scaled = (s * r[0], 1 - s * r[0] - s * r[2], s * r[2])
    return [
        (first, 1 - place, noise, a[first] * (b, c)[first][place] * scaled[index])
        for first, place, (index, noise) in product((0, 1), (0, 1), enumerate(NOISE))
    ]


def is_positive(first: int, second: int, noise: int) -> bool:
    return first + second + noise >= 1


# --- posteriors -----------------------------------------------------------------------------------------------------


def test_the_posterior_is_the_ratio_of_masses() -> None:
    """In both settings each pattern has the mass of its states, and posterior · mass is that of its positive ones."""

    def statement(a: Any, b: Any, c: Any, r: Any, s: Any) -> list[Any]:
        tables = pattern_tables(with_numbers(a, b, c, r), s)
        seen: dict[str, Callable[[int, int], tuple[str, ...]]] = {
            "low": lambda f, u: (str(f), "u" if u else "v"),
            "high": lambda f, u: (str(f),),
        }
        goals: list[Any] = []
        for setting, view in seen.items():
            for pattern, (mass, posterior) in tables[setting].items():
                inside = [state for state in states(a, b, c, r, s) if view(*state[:2]) == pattern]
                goals.append(mass == total(p for *_, p in inside))
                goals.append(mass * posterior == total(p for f, u, n, p in inside if is_positive(f, u, n)))
        assert len(goals) == 12
        return goals

    prove(statement, OVER, laws)


def test_twin_the_posterior_is_not_the_mass_of_positive_states() -> None:
    def statement(a: Any, b: Any, c: Any, r: Any, s: Any) -> Any:
        _, posterior = pattern_tables(with_numbers(a, b, c, r), s)["high"][("0",)]
        return posterior == total(p for f, u, n, p in states(a, b, c, r, s) if f == 0 and is_positive(f, u, n))

    refute(statement, OVER, laws)


def test_the_prior_is_the_same_in_every_setting() -> None:
    def statement(a: Any, b: Any, c: Any, r: Any, s: Any) -> list[Any]:
        tables = pattern_tables(with_numbers(a, b, c, r), s)
        positive = total(p for f, u, n, p in states(a, b, c, r, s) if is_positive(f, u, n))
        return [prior(tables[setting]) == positive for setting in ("low", "high")]

    prove(statement, OVER, laws)


def test_twin_the_prior_is_not_a_plain_mean_of_posteriors() -> None:
    refute(
        lambda w, e: 2 * prior({("x",): (w[0], e[0]), ("y",): (w[1], e[1])}) == e[0] + e[1],
        "w[2] e[2]",
        lambda w, e: [*law(w), *unit(*e)],
    )


# --- Bayes error ----------------------------------------------------------------------------------------------------


def table(w: Any, e: Any) -> Any:
    return {(str(index),): pair for index, pair in enumerate(zip(w, e, strict=True))}


def population(w: Any, e: Any) -> list[Any]:
    return [*law(w), *unit(*e)]


def test_the_bayes_error_is_the_least_of_all_decision_rules() -> None:
    """Over three patterns: no rule from patterns to labels errs less, and one errs exactly as much."""

    def statement(w: Any, e: Any) -> list[Any]:
        found = bayes_error(table(w, e))
        errors = [
            total(p * ((1 - x) if says else x) for p, x, says in zip(w, e, rule, strict=True))
            for rule in product((0, 1), repeat=3)
        ]
        return [*[found <= error for error in errors], any(found == error for error in errors)]

    prove(statement, "w[3] e[3]", population)


def test_twin_the_bayes_error_is_not_that_of_the_commoner_label() -> None:
    refute(
        lambda w, e: bayes_error(table(w, e)) == smaller(prior(table(w, e)), 1 - prior(table(w, e))),
        "w[2] e[2]",
        population,
    )


def merged(w: Any, e: Any) -> Any:
    """Both patterns seen as one: the coarser view's mass and posterior."""
    return table([w[0] + w[1]], [weighted_mean_formula(e, w)])


def test_hiding_never_lowers_the_bayes_error() -> None:
    """Joining two patterns raises it iff one posterior is below ½ and the other above; any coarser view joins pairs."""

    def statement(w: Any, e: Any) -> Any:
        fine, coarse = bayes_error(table(w, e)), bayes_error(merged(w, e))
        opposite = bool(e[0] < HALF and e[1] > HALF) or bool(e[0] > HALF and e[1] < HALF)
        return coarse > fine if opposite else coarse == fine

    prove(statement, "w[2] e[2]", lambda w, e: [*unit(*e), w[0] > 0, w[1] > 0])


def test_twin_hiding_does_not_always_raise_the_bayes_error() -> None:
    witness = refute(
        lambda w, e: bayes_error(merged(w, e)) > bayes_error(table(w, e)) if e[0] != e[1] else True,
        "w[2] e[2]",
        lambda w, e: [*unit(*e), w[0] > 0, w[1] > 0],
    )
    assert witness["e"][0] != witness["e"][1]


def test_hiding_in_a_world_with_symbols() -> None:
    """The engine's own tables of the finer and the coarser setting, at every scale."""

    def statement(a: Any, b: Any, c: Any) -> Any:
        tables = pattern_tables(with_numbers(a, b, c, [Fraction(1, 4), HALF, Fraction(1, 4)]), Fraction(1))
        return bayes_error(tables["low"]) <= bayes_error(tables["high"])

    prove(statement, "a[2] b[2] c[2]", lambda a, b, c: [*law(a, b, c), *[x > 0 for x in (*a, *b, *c)]])


# --- entropy --------------------------------------------------------------------------------------------------------


def test_hiding_never_lowers_the_entropy() -> None:
    """H(mean) − Σ w H(e_i) = Σ w KL(e_i ‖ mean): ≥ 0, and 0 only if all posteriors are the mean (C.propriety)."""
    e, f, no_e, no_f, w, v = sympy.symbols("e f s t w v", positive=True)
    share = w / (w + v), v / (w + v)
    mean = [share[0] * x + share[1] * y for x, y in ((no_e, no_f), (e, f))]
    entropies = [entropy_formula(vector, log=sympy.log) for vector in (mean, [no_e, e], [no_f, f])]
    loss = entropies[0] - share[0] * entropies[1] - share[1] * entropies[2]
    gain = share[0] * kl_formula(mean, [no_e, e], log=sympy.log) + share[1] * kl_formula(mean, [no_f, f], log=sympy.log)
    assert normal_logs(loss - gain) == 0
    assert normal_logs(loss + gain) != 0


def test_the_entropy_of_a_fair_label_is_one_bit() -> None:
    assert normal_logs(entropy_formula([sympy.Rational(1, 2)] * 2, log=sympy.log) - sympy.log(2)) == 0
    assert entropy_formula([sympy.Integer(1), sympy.Integer(0)], log=sympy.log) == 0


@given(distributions(2), distributions(2), st.integers(1, 9))
def test_hiding_raises_the_entropy_by_intervals(one: Any, other: Any, tenths: int) -> None:
    """On numbers, with certified ends: strictly more entropy wherever two unequal posteriors are joined."""
    share = Fraction(tenths, 10)
    mean = [share * a + (1 - share) * b for a, b in zip(one, other, strict=True)]
    whole, first, second = (entropy_formula(enclose_all(x), log=INTERVALS.log) for x in (mean, one, other))
    loss = whole - (tenths * first + (10 - tenths) * second) / 10
    assert not certainly_negative(loss)
    assert one == other or certainly_positive(loss)


def test_twin_entropy_is_not_linear() -> None:
    third = Fraction(1, 3)
    mean, one, other = (
        entropy_formula(enclose_all(x), log=INTERVALS.log)
        for x in ([HALF, HALF], [third, 1 - third], [1 - third, third])
    )
    assert certainly_positive(mean - (one + other) / 2)


# --- the scale of the residual --------------------------------------------------------------------------------------


def test_the_scale_multiplies_what_is_not_zero() -> None:
    """P_s(r) = s·P₁(r) for r ≠ 0, the rest on 0: a law for every s up to 1/P₁(R ≠ 0)."""

    def statement(a: Any, b: Any, c: Any, r: Any, s: Any) -> list[Any]:
        found = dict(residual_law(with_numbers(a, b, c, r), s))
        return [found[-1] == s * r[0], found[1] == s * r[2], total(found.values()) == 1, found[0] >= 0]

    prove(statement, OVER, laws)


def test_twin_the_scale_does_not_multiply_the_rest() -> None:
    def statement(a: Any, b: Any, c: Any, r: Any, s: Any) -> Any:
        return dict(residual_law(with_numbers(a, b, c, r), s))[0] == s * r[1]

    refute(statement, OVER, laws)


def flips(first: int, second: int, r: Any) -> Any:
    """f_x = P₁(the residual changes the label)."""
    without = is_positive(first, second, 0)
    return total(p for noise, p in zip(NOISE, r, strict=True) if is_positive(first, second, noise) != without)


def low_error(formula: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def statement(a: Any, b: Any, c: Any, r: Any, s: Any) -> Any:
        found = bayes_error(pattern_tables(with_numbers(a, b, c, r), s)["low"])
        cells = [(f, u, a[f] * (b, c)[f][1 - u]) for f, u in product((0, 1), repeat=2)]
        return found == total(mass * formula(s, flips(f, u, r)) for f, u, mass in cells)

    return statement


def test_the_low_bayes_error_as_a_function_of_the_scale() -> None:
    """Σ P(x) min(s f_x, 1 − s f_x), by the engine, for every scale and every probability."""
    prove(low_error(lambda s, f: smaller(s * f, 1 - s * f)), OVER, laws)


@pytest.mark.parametrize("wrong", [lambda s, f: s * f, lambda s, f: smaller(f, 1 - f)], ids=["linear", "constant"])
def test_twin_the_low_bayes_error_is_neither_linear_nor_constant(wrong: Callable[[Any, Any], Any]) -> None:
    refute(low_error(wrong), OVER, laws)


def test_the_error_is_concave_in_the_scale() -> None:
    """min(s f, 1 − s f) is concave in s, and linear as long as s f ≤ ½; so is its mean over patterns."""

    def error(s: Any, f: Any) -> Any:
        return bayes_error({("x",): (Fraction(1), s * f)})

    def statement(s: Any, t: Any, w: Any, f: Any) -> Any:
        return error(w * s + (1 - w) * t, f) >= w * error(s, f) + (1 - w) * error(t, f)

    prove(statement, "s t w f", lambda s, t, w, f: [*unit(w, f), s >= 0, t >= 0, s * f <= 1, t * f <= 1])
    prove(lambda s, f: error(s, f) == s * f, "s f", lambda s, f: [*unit(f), s >= 0, 2 * s * f <= 1])
    refute(
        lambda s, t, f: error(s, f) <= error(t, f),
        "s t f",
        lambda s, t, f: [*unit(f), s >= 0, t >= s, t * f <= 1],
    )
