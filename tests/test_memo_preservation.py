"""Preservation as it is stated: P(y | memo) = P(y | x), by listing every state and draw of a small world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest

from exactworlds.engine.scaled import ScaledWorld
from exactworlds.memo.certify import posterior_given_memo, preservation_faults
from exactworlds.memo.template import MemoTemplate, memo_template
from exactworlds.spec.load import parse_world
from exactworlds.spec.world import World

SMALL = """
format = "exactworlds/world/1"
id = "clinic"
title = "Clinic"
question = "will the patient return?"
labels = { positive = "returns", negative = "stays away" }
[attribute.age]
levels = ["young", "old"]
probability = ["0.4", "0.6"]
[attribute.habit]
values = [0, 1, 2]
given = "age"
probability = { young = ["0.5", "0.3", "0.2"], old = ["0.2", "0.2", "0.6"] }
[attribute.distance]
levels = ["near", "far"]
probability = ["1/3", "2/3"]
[residual.luck]
probability = { "-1" = "0.2", "0" = "0.5", "1" = "0.3" }
[derived]
frail = "age == 'old' and habit > 0"
[rule]
positive = "habit + (1 if distance == 'near' else 0) + luck >= 2"
[setting]
most = ["age", "habit", "distance"]
some = ["frail", "habit"]
[shown.habit]
label = "Habit"
grid = { 0 = ["0", "1"], 1 = ["2", "3"], 2 = ["4", "6"] }
step = "1"
[irrelevant]
room = { label = "Room", range = [8, 11] }
[template.form]
parts = ["Habit: {habit}\\nRoom: {room}\\n", "Age: {age}\\n", "{Distance|Way}: {distance}\\n", "Frail: {frail}\\n"]
[[provenance]]
of = ["*"]
kind = "chosen"
why = "a test"
"""


@pytest.fixture(scope="module")
def world() -> World:
    return parse_world(SMALL.encode())


@pytest.mark.parametrize("setting", ["most", "some"])
def test_a_memo_says_of_the_label_what_the_visible_attributes_say(world: World, setting: str) -> None:
    template = memo_template(world, setting, "form")
    table = ScaledWorld(world).view(setting).table()
    given_memo = posterior_given_memo(world, template)
    assert len(given_memo) > 4 * len(table)
    for memo, posterior in given_memo.items():
        assert posterior == table[template.parse(memo).pattern][1]
    assert preservation_faults(world, template) == []


def test_the_count_is_right_for_one_memo_by_hand(world: World) -> None:
    """Young, habit 1, near, in setting most: 1 + 1 + luck ≥ 2 iff luck ≥ 0, which has probability 0.8."""
    given_memo = posterior_given_memo(world, memo_template(world, "most", "form"))
    assert given_memo["Habit: 2\nRoom: 9\nAge: young\nWay: near\n"] == Fraction(4, 5)


def leaking(template: MemoTemplate, name: str) -> object:
    """A renderer that looks at a hidden attribute: its level picks the wording of the room."""

    def write(state: Mapping[str, str], pattern: Sequence[str], draws: Mapping[str, int]) -> str:
        return template.write(pattern, draws) + (" " if state[name] == "near" else "")

    return write


def test_a_renderer_that_leaks_a_hidden_attribute_is_refused(world: World) -> None:
    template = memo_template(world, "some", "form")
    faults = preservation_faults(world, template, leaking(template, "distance"))  # type: ignore[arg-type]
    assert faults
    assert "what is visible says" in faults[0]


def test_a_renderer_that_drops_a_visible_attribute_is_refused(world: World) -> None:
    template = memo_template(world, "most", "form")

    def write(state: Mapping[str, str], pattern: Sequence[str], draws: Mapping[str, int]) -> str:
        return template.write(pattern, draws).replace("near", "far")

    assert preservation_faults(world, template, write)


def test_filler_that_depends_on_what_is_hidden_is_refused(world: World) -> None:
    """The room is even for those who live near: a leak through a field that should be irrelevant."""
    template = memo_template(world, "some", "form")

    def write(state: Mapping[str, str], pattern: Sequence[str], draws: Mapping[str, int]) -> str:
        room = draws["room"] // 2 * 2 + (state["distance"] == "far")
        return template.write(pattern, {**draws, "room": room})

    assert preservation_faults(world, template, write)


def test_hidden_values_cannot_matter(world: World) -> None:
    """For equal pattern and draws the bytes are equal, whatever the state is; with a planted leak they are not."""
    template = memo_template(world, "some", "form")
    draws = {column.name: 0 for column in template.columns}
    leak = leaking(template, "distance")
    honest: dict[tuple[str, ...], set[str]] = {}
    planted: dict[tuple[str, ...], set[str]] = {}
    for state in ScaledWorld(world).everything.patterns:
        levels = dict(zip(world.attribute, state, strict=True))
        frail = levels["age"] == "old" and levels["habit"] != "0"
        pattern = ("true" if frail else "false", levels["habit"])
        honest.setdefault(pattern, set()).add(template.write(pattern, draws))
        planted.setdefault(pattern, set()).add(leak(levels, pattern, draws))  # type: ignore[operator]
    assert {len(memos) for memos in honest.values()} == {1}
    assert {len(memos) for memos in planted.values()} == {2}
