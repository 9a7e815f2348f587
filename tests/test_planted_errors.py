"""Errors planted in one engine at a time: admission must report each of them.

An engine that agrees with the others although it is wrong would make their agreement worthless. Most errors are
planted at the place where an evaluator meets a node of a rule: it is handed a node that differs by one operator.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given

from exactworlds.engine import decimals, integer_arrays, scaled
from exactworlds.engine import enumerate as definition
from exactworlds.engine.admit import Admission, admit
from exactworlds.engine.entropy import Interval, entropy_bits
from exactworlds.errors import InvalidArgument
from exactworlds.spec.document import Exact
from exactworlds.spec.load import parse_world
from exactworlds.spec.rules import (
    Arithmetic,
    Choose,
    Comparison,
    Expression,
    Extremum,
    Level,
    Logical,
    Lookup,
    Negate,
    Not,
    Number,
)
from exactworlds.spec.world import World
from strategies import Draft, drafts

Change = Callable[[Expression], Expression]

WORLD = """
format = "exactworlds/world/1"
id = "operators"
title = "Operators"
question = "Which?"
labels = { positive = "yes", negative = "no" }

attribute.a = { values = [0, 1, 2], probability = ["1/5", "1/2", "3/10"] }
attribute.b = { values = ["0.5", "1", "2"], probability = "uniform" }
attribute.kind = { levels = ["x", "y", "z"], given = ["b", "a"], probability.VALUES }
attribute.mood = { levels = ["x", "y", "z"], probability = ["1/7", "2/7", "4/7"] }
residual.noise = { probability = { -1 = "0.1", 0 = "0.7", 1 = "0.2" }, scales = ["0.5", "1", "2"] }
TABLES
rule.positive = "RULE"
setting = { low = ["a", "b", "kind", "mood"], middle = ["mood", "kind"], high = ["mood"] }
provenance = [{ of = ["*"], kind = "chosen", why = "each operator once" }]
"""
ROWS = ['["1/2", "1/2", "0"]', '["1/3", "1/3", "1/3"]', '["0", "1/4", "3/4"]', '["1/8", "1/8", "3/4"]']
TABLES = {
    "bonus": 'table.bonus = { x = "0.5", y = 1, z = "2" }',
    "grid": "table.grid = { x = { x = 0, y = 1, z = 2 }, y = { x = 1, y = 2, z = 0 }, z = { x = 1, y = 0, z = 2 } }",
    "after": 'table.after = { x = "y", y = "z", z = "x" }',
}


def world_with(rule: str) -> World:
    tables = "\n".join(text for name, text in TABLES.items() if f"{name}[" in rule)
    rows = {b: {a: ROWS[(i + 2 * j) % 4] for j, a in enumerate("012")} for i, b in enumerate(["0.5", "1", "2"])}
    nested = ", ".join(
        f'"{b}" = {{ ' + ", ".join(f"{a} = {row}" for a, row in below.items()) + " }" for b, below in rows.items()
    )
    text = WORLD.replace("probability.VALUES", f"probability = {{ {nested} }}")
    return parse_world(text.replace("TABLES", tables).replace("RULE", rule).encode())


def operator(node: type[Any], old: str, new: str) -> Change:
    """Where a node has one operator (or function), it gets another."""

    def change(found: Expression) -> Expression:
        key = "function" if node is Extremum else "operator"
        if isinstance(found, node) and getattr(found, key) == old:
            changed: Expression = evolve(found, **{key: new})
            return changed
        return found

    return change


def next_row(node: Expression) -> Expression:
    """A look-up that takes another row."""
    if isinstance(node, Lookup) and node.keys[0] == Level("x"):
        return evolve(node, keys=(Level("y"), *node.keys[1:]))
    return node


def swapped_keys(node: Expression) -> Expression:
    return evolve(node, keys=node.keys[::-1]) if isinstance(node, Lookup) else node


def without_sign(node: Expression) -> Expression:
    return node.operand if isinstance(node, Negate) else node


def without_not(node: Expression) -> Expression:
    return node.operand if isinstance(node, Not) else node


def swapped_branches(node: Expression) -> Expression:
    return evolve(node, then=node.otherwise, otherwise=node.then) if isinstance(node, Choose) else node


def swapped_sides(node: Expression) -> Expression:
    if isinstance(node, Arithmetic) and node.operator == "-":
        return evolve(node, left=node.right, right=node.left)
    return node


def without_last(node: Expression) -> Expression:
    if isinstance(node, Extremum | Logical) and len(node.operands) > 2:
        return evolve(node, operands=node.operands[:-1])
    return node


def truncated(node: Expression) -> Expression:
    return Number(node.literal.partition(".")[0]) if isinstance(node, Number) else node


def other_level(node: Expression) -> Expression:
    return Level("y") if node == Level("x") else node


CHANGES: dict[str, tuple[str, Change]] = {
    "< becomes <=": ("a < b", operator(Comparison, "<", "<=")),
    "<= becomes <": ("a <= b + noise", operator(Comparison, "<=", "<")),
    "> becomes >=": ("a > b", operator(Comparison, ">", ">=")),
    ">= becomes >": ("a + noise >= b", operator(Comparison, ">=", ">")),
    "< becomes >": ("a < b", operator(Comparison, "<", ">")),
    "== becomes >=": ("a == b", operator(Comparison, "==", ">=")),
    "!= becomes ==": ("a != b", operator(Comparison, "!=", "==")),
    "== of levels becomes !=": ("kind == mood", operator(Comparison, "==", "!=")),
    "!= of levels becomes ==": ("mood != 'x'", operator(Comparison, "!=", "==")),
    "== of booleans becomes !=": ("(a == 1) == (mood == 'y')", operator(Comparison, "==", "!=")),
    "a level becomes another": ("kind == 'x'", other_level),
    "+ becomes -": ("a + b >= 2", operator(Arithmetic, "+", "-")),
    "- becomes +": ("a - b >= 0", operator(Arithmetic, "-", "+")),
    "* becomes +": ("a * b >= 2", operator(Arithmetic, "*", "+")),
    "the sides of - are swapped": ("a - b > 0.5", swapped_sides),
    "a sign is lost": ("-a + b > 0", without_sign),
    "min becomes max": ("min(a, b) >= 1", operator(Extremum, "min", "max")),
    "max becomes min": ("max(a, b, 0.5) >= 2", operator(Extremum, "max", "min")),
    "the last operand of max is lost": ("max(a, 1, 2 * b) > 1", without_last),
    "and becomes or": ("a > 0 and mood == 'x'", operator(Logical, "and", "or")),
    "or becomes and": ("a > 0 or mood == 'x'", operator(Logical, "or", "and")),
    "the last condition is lost": ("a > 0 and b > 0.5 and mood == 'x'", without_last),
    "not is lost": ("not a > b", without_not),
    "the branches are swapped": ("(a if mood == 'x' else b) > 1", swapped_branches),
    "the branches of levels are swapped": ("(kind if a == 1 else mood) == 'x'", swapped_branches),
    "another row of a table": ("a * bonus['x'] >= 1", next_row),
    "the keys of a table are swapped": ("a + grid[kind, mood] > 1", swapped_keys),
    "another row of a table of levels": ("after['x'] == mood", next_row),
    "a decimal loses its fraction": ("a + 0.5 > b", truncated),
}


def plant_in_enumerate(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    sound = definition.compile_expression
    monkeypatch.setattr(definition, "compile_expression", lambda node, world: sound(change(node), world))


def plant_in_scaled(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    sound = integer_arrays.ArrayEvaluator._compute
    kept: list[Expression] = []  # nodes are known by their identity, so they must live on

    def compute(self: integer_arrays.ArrayEvaluator, node: Expression) -> integer_arrays.Value:
        kept.append(change(node))
        return sound(self, kept[-1])

    monkeypatch.setattr(integer_arrays.ArrayEvaluator, "_compute", compute)


def plant_in_decimals(monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
    sound = decimals.compile_decimal
    monkeypatch.setattr(decimals, "compile_decimal", lambda node, world: sound(change(node), world))


PLANTERS = {"enumerate": plant_in_enumerate, "scaled": plant_in_scaled, "decimals": plant_in_decimals}


def disagreements(world: World) -> tuple[str, ...]:
    found = admit(world, enumerated_scales=world.scales)
    assert found.admitted is (found.disagreements == ())
    return found.disagreements


@pytest.mark.parametrize("planter", PLANTERS.values(), ids=PLANTERS)
@pytest.mark.parametrize(("rule", "change"), CHANGES.values(), ids=CHANGES)
def test_an_error_in_one_evaluator_is_reported(
    monkeypatch: pytest.MonkeyPatch,
    planter: Callable[[pytest.MonkeyPatch, Change], None],
    rule: str,
    change: Change,
) -> None:
    world = world_with(rule)
    assert disagreements(world) == ()
    planter(monkeypatch, change)
    assert disagreements(world) != ()


@pytest.mark.parametrize("size", [Fraction(1, 10**6), Fraction(-1, 10**6)])
@pytest.mark.parametrize(("figure", "words"), [("prior", "priors"), ("bayes_error", "Bayes errors")])
def test_a_figure_that_is_off_in_either_direction_is_reported(
    monkeypatch: pytest.MonkeyPatch, figure: str, words: str, size: Fraction
) -> None:
    sound = getattr(definition, figure)
    monkeypatch.setattr(definition, figure, lambda table: sound(table) + size)
    found = disagreements(world_with("a > b"))
    assert len(found) == 9  # three settings at three scales
    assert all(f"the {words} differ between enumerate and scaled" in sentence for sentence in found)


def test_nothing_compared_is_nothing_apart() -> None:
    nothing = Admission(figures={}, comparisons={}, enumerated=(), disagreements=())
    assert nothing.admitted is True
    assert nothing.largest == 0
    assert evolve(nothing, disagreements=("high at scale 1: …",)).admitted is False


def _with_unit_scale(sound: Callable[..., Any], one: object) -> Callable[..., Any]:
    return lambda owner, scale: sound(owner, one)


def _law_that_forgets_the_scale(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(definition, "residual_law", _with_unit_scale(definition.residual_law, Fraction(1)))


def _law_without_its_rest(patch: pytest.MonkeyPatch) -> None:
    sound = definition.residual_law
    patch.setattr(definition, "residual_law", lambda world, scale: sound(world, scale)[:-1])


def _states_without_the_rare(patch: pytest.MonkeyPatch) -> None:
    sound = definition._states
    patch.setattr(definition, "_states", lambda world: [pair for pair in sound(world) if pair[1] > Fraction(1, 300)])


def _enumerated_prior_unweighted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(definition, "prior", lambda table: sum(p for _, p in table.values()) / len(table))


def _enumerated_bayes_error_of_the_worse(patch: pytest.MonkeyPatch) -> None:
    wrong = lambda table: sum(mass * max(p, 1 - p) for mass, p in table.values())  # noqa: E731
    patch.setattr(definition, "bayes_error", wrong)


def _enumerated_literal_read_as_float(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(definition, "_rational", lambda literal: Fraction(float(literal)))


def _weights_that_forget_the_scale(patch: pytest.MonkeyPatch) -> None:
    wrong = _with_unit_scale(scaled.ScaledWorld.residual_weights, Fraction(1))
    patch.setattr(scaled.ScaledWorld, "residual_weights", wrong)


def _scaled_positive_reversed(patch: pytest.MonkeyPatch) -> None:
    sound = scaled.ScaledWorld.positive.func  # type: ignore[attr-defined]  # the function below the cached property
    patch.setattr(scaled.ScaledWorld, "positive", property(lambda self: sound(self)[::-1]))


def _scaled_parents_in_file_order(patch: pytest.MonkeyPatch) -> None:
    sound = scaled.ScaledWorld._factor

    def wrong(self: scaled.ScaledWorld, attribute: Any) -> scaled.Factor:
        return sound(self, evolve(attribute, given=attribute.given[::-1], rows=_turned(attribute)))

    patch.setattr(scaled.ScaledWorld, "_factor", wrong)


def _turned(attribute: Any) -> dict[tuple[str, ...], Any]:
    """The rows under parents in the wrong order, where both have three levels."""
    if len(attribute.given) < 2:
        return dict(attribute.rows)
    keys = sorted({key[::-1] for key in attribute.rows})
    return dict(zip(keys, attribute.rows.values(), strict=True))


def _scaled_posterior_of_the_other_class(patch: pytest.MonkeyPatch) -> None:
    sound = scaled.SettingView.posteriors
    patch.setattr(scaled.SettingView, "posteriors", lambda self, scale: [1 - p for p in sound(self, scale)])


def _scaled_prior_as_bayes_error(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(scaled.SettingView, "bayes_error", scaled.SettingView.prior)


def _scaled_bayes_error_as_prior(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(scaled.SettingView, "prior", scaled.SettingView.bayes_error)


def _scaled_masses_uniform(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(scaled.SettingView, "_masses", lambda self, scale: ([1] * len(self.patterns), len(self.patterns)))


def _scaled_entropy_in_nats(patch: pytest.MonkeyPatch) -> None:
    sound, ln2 = entropy_bits, Fraction(6931471805599453, 10**16)

    def wrong(groups: Any) -> Interval:
        found = sound(groups)
        return Interval(found.low * ln2, found.high * ln2)

    patch.setattr(scaled, "entropy_bits", wrong)


def _scaled_entropy_off_by_little(patch: pytest.MonkeyPatch) -> None:
    sound, little = entropy_bits, Fraction(11, 10**16)

    def wrong(groups: Any) -> Interval:
        found = sound(groups)
        return Interval(found.low, found.high + little)

    patch.setattr(scaled, "entropy_bits", wrong)


def _likelihoods_that_forget_the_scale(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(decimals.DecimalWorld, "_likelihoods", _with_unit_scale(decimals.DecimalWorld._likelihoods, "1"))


def _second_path_entropy_in_nats(patch: pytest.MonkeyPatch) -> None:
    sound = decimals.DecimalWorld._binary_entropy
    wrong = lambda self, posterior: sound(self, posterior) * self.context.ln2  # noqa: E731
    patch.setattr(decimals.DecimalWorld, "_binary_entropy", wrong)


def _second_path_of_twelve_digits(patch: pytest.MonkeyPatch) -> None:
    sound = decimals.DecimalWorld._real
    patch.setattr(
        decimals.DecimalWorld, "_real", lambda self, text: self.context.mpf(self.context.nstr(sound(self, text), 12))
    )


def _second_path_literal_read_as_float(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(decimals, "_exact", lambda literal: Decimal(float(literal)))


def _second_path_merges_posteriors(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(decimals, "_SAME_POSTERIOR", 0)


def _second_path_mixes_patterns(patch: pytest.MonkeyPatch) -> None:
    sound = decimals.DecimalWorld.patterns
    patch.setattr(decimals.DecimalWorld, "patterns", lambda self, setting: sound(self, setting)[::-1])


def _second_path_loses_a_pattern(patch: pytest.MonkeyPatch) -> None:
    sound = decimals.DecimalWorld.patterns
    patch.setattr(decimals.DecimalWorld, "patterns", lambda self, setting: sound(self, setting)[1:])


PLANTS = [
    _law_that_forgets_the_scale,
    _law_without_its_rest,
    _states_without_the_rare,
    _enumerated_prior_unweighted,
    _enumerated_bayes_error_of_the_worse,
    _enumerated_literal_read_as_float,
    _weights_that_forget_the_scale,
    _scaled_positive_reversed,
    _scaled_parents_in_file_order,
    _scaled_posterior_of_the_other_class,
    _scaled_prior_as_bayes_error,
    _scaled_bayes_error_as_prior,
    _scaled_masses_uniform,
    _scaled_entropy_in_nats,
    _scaled_entropy_off_by_little,
    _likelihoods_that_forget_the_scale,
    _second_path_entropy_in_nats,
    _second_path_of_twelve_digits,
    _second_path_literal_read_as_float,
    _second_path_merges_posteriors,
    _second_path_mixes_patterns,
    _second_path_loses_a_pattern,
]


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__.strip("_"))
def test_an_error_in_one_probability_path_is_reported(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    world = world_with("bonus[kind] * 0.1 + a * 0.1 + noise > 0.3")
    assert disagreements(world) == ()
    plant(monkeypatch)
    assert disagreements(world) != ()


@pytest.mark.parametrize("module", [scaled, integer_arrays], ids=["probabilities", "rules"])
def test_an_array_that_is_not_promoted_is_reported(monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
    """int64 wraps in silence; the other engines see it."""
    primes = (2_147_483_647, 2_147_483_629, 2_147_483_587)
    laws = "\n".join(
        f'attribute.x{i} = {{ values = [1, 3037000500], probability = ["1/{prime}", "{prime - 1}/{prime}"] }}'
        for i, prime in enumerate(primes)
    )
    head, tail = WORLD[: WORLD.index("attribute.a")], 'provenance = [{ of = ["*"], kind = "chosen", why = "a test" }]'
    rule = 'rule.positive = "x0 * x1 > 1 and x0 * x1 > x2"'
    world = parse_world(
        f'{head}{laws}\n{rule}\nsetting = {{ low = ["x0", "x1", "x2"], high = ["x0"] }}\n{tail}'.encode()
    )
    assert disagreements(world) == ()
    monkeypatch.setattr(module, "integers", lambda array, bound: array)
    assert disagreements(world) != ()


def poisoned(world: World) -> World:
    """The world with every parsed value of a probability replaced by nonsense; the literals stay."""

    def spoil(number: Exact) -> Exact:
        return evolve(number, value=Fraction(999, 7))

    attributes = tuple(
        evolve(attribute, rows={key: tuple(map(spoil, row)) for key, row in attribute.rows.items()})
        for attribute in world.attributes
    )
    residual = world.residual and evolve(
        world.residual,
        probabilities=tuple(map(spoil, world.residual.probabilities)),
        scales=tuple(map(spoil, world.residual.scales)),
    )
    return evolve(world, attributes=attributes, residual=residual)


@given(drafts())
def test_the_second_path_reads_nothing_but_literals(draft: Draft) -> None:
    world = parse_world(draft.bytes)
    sound, spoilt = decimals.DecimalWorld(world), decimals.DecimalWorld(poisoned(world))
    for setting in world.settings:
        assert spoilt.patterns(setting) == sound.patterns(setting)
        for scale in world.scales:
            assert spoilt.estimate(setting, scale) == sound.estimate(setting, scale)
    assert _exact_table(poisoned(world)) != _exact_table(world)  # the poison is real: the exact engine takes it


def _exact_table(world: World) -> object:
    try:
        return scaled.ScaledWorld(world).view("all").table()
    except InvalidArgument:
        return None


def test_the_second_path_imports_no_arithmetic_of_the_others() -> None:
    tree = ast.parse(Path(decimals.__file__).read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    ours = {module for module in modules if module and module.startswith("exactworlds")}
    assert ours == {"exactworlds.errors", "exactworlds.spec.rules", "exactworlds.spec.world"}
    assert not modules & {"fractions", "numpy"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "value"]
