"""What a world file becomes: literals kept, levels canonical, references resolved, derived attributes in order."""

from __future__ import annotations

import io
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given

from exactworlds.rational import exact_text
from exactworlds.spec.load import load_world, parse_world
from exactworlds.spec.rules import parse_rule
from exactworlds.spec.typing import BOOLEAN, NUMBER, LevelType
from strategies import Draft, drafts

ROOT = Path(__file__).resolve().parents[1]
SOUND = (Path(__file__).parent / "bad_specs" / "sound.toml").read_bytes()

TEXT = """
format = "exactworlds/world/1"
id = "w-1"
title = "A title"
question = "A question?"
labels = { positive = "yes", negative = "no" }
level_set.letter = ["B", "A"]
attribute.first = { levels = "letter", probability = "uniform" }
attribute.second = { levels = "letter", given = "first", probability = "uniform" }
attribute.third = { values = ["2.50", 1, "-0.0"], given = ["second", "first"], probability = PROBABILITY }
residual.noise = { probability = { -1 = "1/3", "0.50" = "2/3" }, scales = ["1", "0.50"] }
table.points = { A = "2.50", B = 1 }
table.other = { A = "B", B = "A" }
derived.last = "middle + noise"
derived.middle = "points[early] * 2"
derived.early = "other[first]"
derived.same = "first == second"
rule.positive = "last > 0.50 and same"
setting = { all = ["third", "early", "same", "middle"], none = [] }
provenance = [
    { of = ["attribute.*", "level_set.*"], kind = "published", locus = "page 1", why = "printed" },
    { of = ["[!al]*"], kind = "chosen", why = "ours" },
]
"""
PROBABILITY = (
    """{ A = { A = ["0.250", "0.75", "0"], B = ["1/3", "1/3", "1/3"] }, B = { B = ["0", "0", "1"], A = "uniform" } }"""
)
WORLD = TEXT.replace("PROBABILITY", PROBABILITY).encode()


def test_literals_are_kept_and_levels_are_canonical() -> None:
    world = parse_world(WORLD)
    third = world.attribute["third"]
    assert third.is_number
    assert third.literals == ("2.50", "1", "-0.0")
    assert third.levels == ("2.5", "1", "0")
    row = third.rows["A", "A"]
    assert [number.raw for number in row] == ["0.250", "0.75", "0"]
    assert [number.value for number in row] == [Fraction(1, 4), Fraction(3, 4), 0]
    assert world.tables["points"].rows == {("A",): "2.50", ("B",): "1"}
    assert world.rule == parse_rule("last > 0.50 and same")
    assert world.rule_text == "last > 0.50 and same"


def test_conditional_rows_are_keyed_in_the_order_of_given() -> None:
    third = parse_world(WORLD).attribute["third"]
    assert third.given == ("second", "first")
    assert set(third.rows) == {("A", "A"), ("A", "B"), ("B", "B"), ("B", "A")}
    assert [number.value for number in third.rows["B", "B"]] == [0, 0, 1]
    assert [number.raw for number in third.rows["B", "A"]] == ["1/3"] * 3


def test_level_sets_and_uniform() -> None:
    world = parse_world(WORLD)
    first, second = world.attribute["first"], world.attribute["second"]
    assert first.levels == second.levels == ("B", "A")
    assert not first.is_number
    assert first.given == ()
    assert [number.value for number in first.rows[()]] == [Fraction(1, 2)] * 2
    assert second.given == ("first",)
    assert set(second.rows) == {("B",), ("A",)}


def test_derived_attributes_stand_in_an_order_in_which_each_reads_earlier_ones() -> None:
    world = parse_world(WORLD)
    order = [entry.name for entry in world.derived]
    assert set(order) == {"last", "middle", "early", "same"}
    assert order.index("early") < order.index("middle") < order.index("last")
    by_name = world.derived_by_name
    assert {name: entry.reads_residual for name, entry in by_name.items()} == {
        "last": True,
        "middle": False,
        "early": False,
        "same": False,
    }
    assert by_name["early"].type == LevelType(("B", "A"))
    assert by_name["middle"].type == NUMBER
    assert by_name["same"].type == BOOLEAN


def test_the_residual_always_has_the_value_0() -> None:
    residual = parse_world(WORLD).residual
    assert residual is not None
    assert residual.literals == ("-1", "0.50", "0")
    assert [number.value for number in residual.probabilities] == [Fraction(1, 3), Fraction(2, 3), 0]
    assert parse_world(WORLD).scales == ("1", "0.50")
    sound = parse_world(SOUND).residual
    assert sound is not None
    assert sound.literals == ("-1", "0", "1")


def test_sizes() -> None:
    world = parse_world(WORLD)
    assert world.states == 2 * 2 * 3
    assert world.states_with_residual == 2 * 2 * 3 * 3


def test_settings_and_texts() -> None:
    world = parse_world(WORLD)
    assert world.settings["all"].visible == ("third", "early", "same", "middle")
    assert world.settings["none"].visible == ()
    assert (world.id, world.title, world.question, world.description) == ("w-1", "A title", "A question?", "")
    assert (world.labels.positive, world.labels.negative) == ("yes", "no")


def test_each_number_has_one_provenance() -> None:
    found = parse_world(WORLD).provenance
    kinds = {path: entry.kind for path, entry in found.items()}
    assert kinds["attribute.third.values"] == kinds["attribute.first.levels"] == "published"
    assert kinds["attribute.third.probability"] == kinds["level_set.letter"] == "published"
    assert found["attribute.third.values"].locus == "page 1"
    for path in (
        "residual.noise.probability",
        "residual.noise.scales",
        "table.points",
        "derived.last",
        "rule.positive",
    ):
        assert kinds[path] == "chosen"
    assert kinds["setting.all"] == "chosen"


def test_a_world_without_residual_has_one_scale() -> None:
    text = SOUND.decode()
    start, end = text.index("[residual.shock]"), text.index("[table]")
    world = parse_world((text[:start] + text[end:]).replace(" + shock", "").encode())
    assert world.residual is None
    assert world.scales == ("1",)
    assert world.states_with_residual == world.states == 18


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WORLD)))
    assert load_world("-") == parse_world(WORLD)


def test_a_path_or_its_text(tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    file.write_bytes(WORLD)
    assert load_world(file) == load_world(str(file)) == parse_world(WORLD)


@pytest.mark.parametrize(
    ("name", "states", "with_residual"),
    [("peer-review", 19_683, 216_513), ("covert-transfer", 4_056, 4_056), ("credit-risk", 78_732, 393_660)],
)
def test_the_three_worlds(name: str, states: int, with_residual: int) -> None:
    world = load_world(ROOT / "spec" / "worlds" / f"{name}.toml")
    assert world.id == name
    assert list(world.settings) == ["low", "medium", "high"]
    assert (world.states, world.states_with_residual) == (states, with_residual)
    assert len(world.irrelevant) == 8


@given(drafts())
def test_a_drawn_world_keeps_every_literal(draft: Draft) -> None:
    world = parse_world(draft.bytes)
    assert [attribute.name for attribute in world.attributes] == [attribute.name for attribute in draft.attributes]
    for attribute, written in zip(world.attributes, draft.attributes, strict=True):
        assert attribute.literals == written.levels
        assert attribute.given == written.given
        canonical = {level: exact_text(Fraction(level)) if written.is_number else level for level in written.levels}
        assert attribute.levels == tuple(canonical.values())
        parents = {parent.name: parent for parent in draft.attributes}
        for key, row in written.rows.items():
            place = tuple(
                exact_text(Fraction(level)) if parents[name].is_number else level
                for name, level in zip(written.given, key, strict=True)
            )
            assert tuple(number.raw for number in attribute.rows[place]) == row
            assert tuple(number.value for number in attribute.rows[place]) == tuple(map(Fraction, row))
        assert len(attribute.rows) == len(written.rows)
    assert {name: setting.visible for name, setting in world.settings.items()} == dict(draft.settings)
    assert world.rule == parse_rule(draft.rule)
    assert world.scales == draft.scales
