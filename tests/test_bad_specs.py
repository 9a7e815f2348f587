"""What is wrong with a file is said, all of it, at its place, and never as a traceback.

tests/bad_specs/ holds one world that loads and one file for each way in which it does not: NAME.toml is broken as its
first line says, NAME.expected holds the message, one line a fault, without the file's name. What cannot lie in a
repository well (large, binary, no file at all) is made here.
"""

from __future__ import annotations

import json
import re
import tomllib
import tracemalloc
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.errors import InvalidSpec, UnreadableFile
from exactworlds.spec.load import load_world, parse_world
from strategies import world_texts

FOLDER = Path(__file__).parent / "bad_specs"
BROKEN = sorted(path.stem for path in FOLDER.glob("*.expected"))
SOUND = (FOLDER / "sound.toml").read_text(encoding="utf-8")


def faults(data: bytes | str) -> list[str]:
    with pytest.raises(InvalidSpec) as caught:
        parse_world(data.encode() if isinstance(data, str) else data)
    return [str(problem) for problem in caught.value.problems]


def changed(*edits: tuple[str, str]) -> str:
    text = SOUND
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def with_rule(rule: str) -> str:
    return changed(("slack < 0.5 or large and slack < 1", rule))


def test_the_world_that_the_broken_ones_differ_from_loads() -> None:
    assert load_world(FOLDER / "sound.toml").id == "loan-desk"


def test_each_broken_spec_has_its_expected_message() -> None:
    assert len(BROKEN) >= 35
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted([*BROKEN, "sound"])


@pytest.mark.parametrize("name", BROKEN)
def test_broken_spec(name: str) -> None:
    file = FOLDER / f"{name}.toml"
    expected = (FOLDER / f"{name}.expected").read_text(encoding="utf-8").splitlines()
    with pytest.raises(InvalidSpec) as caught:
        load_world(file)
    assert str(caught.value).splitlines() == [f"{file}: {line}" for line in expected]


def test_several_faults_are_all_reported() -> None:
    places = [line.partition(":")[0] for line in (FOLDER / "many_faults.expected").read_text("utf-8").splitlines()]
    assert places == [
        "id",
        "attribute.income.probability",
        "residual.shock.probability",
        "table.buffer.middle",
        "derived.large",
        "rule.positive",
        "setting.high[0]",
    ]


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"nowhere\.toml: does not exist"):
        load_world(tmp_path / "nowhere.toml")


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="is a directory, expected a file"):
        load_world(tmp_path)


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(UnreadableFile, match="cannot be read"):
        load_world("null\0byte")


def test_an_empty_file(tmp_path: Path) -> None:
    file = tmp_path / "empty.toml"
    for content in (b"", b"  \n\t\n", b"\xef\xbb\xbf"):
        file.write_bytes(content)
        with pytest.raises(InvalidSpec, match=r"empty\.toml: the file is empty"):
            load_world(file)


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    file = tmp_path / "large.toml"
    file.write_bytes(b"# " + b"x" * (4 * 1024 * 1024))
    with pytest.raises(UnreadableFile, match="is larger than 4,194,304 bytes"):
        load_world(file)


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_world(b"\xef\xbb\xbf" + SOUND.encode()).id == "loan-desk"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'id = "caf\xe9"', "line 1, column 10: found the byte 0xe9, expected UTF-8 text"),
        (b"# one\n# two\n\xff\xfe", "line 3, column 1: found the byte 0xff, expected UTF-8 text"),
        (b"\x00", "line 1, column 1: not TOML: Invalid statement"),
        (b"a = [1\n", "end of document: not TOML: Unclosed array"),
        (b"[a]\nb = 1\nb = 2\n", "line 3, column 6: not TOML: Cannot overwrite a value"),
        (b"[a]\n[a]\n", "line 2, column 3: not TOML: Cannot declare ('a',) twice"),
    ],
)
def test_bytes_that_are_not_toml(data: bytes, expected: str) -> None:
    assert faults(data) == [expected]


@pytest.mark.parametrize("number", ["1" * 1_000_000, "0." + "3" * 1_000_000, "0x" + "f" * 5_000, "1_" * 600 + "1"])
@pytest.mark.parametrize("place", ["title = {}\n", "setting = {}\n", 'attribute.a.values = ["{}"]\n'])
def test_a_number_of_a_million_digits(number: str, place: str) -> None:
    (fault,) = faults("# first line\n" + place.format(number))
    assert fault.startswith("line 2: found a number of ")
    assert fault.endswith(" characters, expected at most 1,000")
    assert len(fault) < 100


def test_a_long_number_in_a_rule() -> None:
    assert faults(with_rule(f"slack < {'9' * 1001}"))[0].endswith("expected at most 1,000")
    assert faults(with_rule(f"slack < 1.{'9' * 999}")) == [
        f"rule.positive: column 9: found '1.{'9' * 27}…{'9' * 29}' (1001 characters): "
        "expected a number of at most 1000 characters"
    ]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("(" * 10_000 + "slack" + ")" * 10_000, "found 20,005 characters, expected at most 10,000"),
        ("(" * 4_000 + "slack" + ")" * 4_000, "column 101: brackets are nested more than 100 deep"),
        ("(" * 10_000 + " text", "found 10,005 characters, expected at most 10,000"),
        ("not " * 2_000 + "large", "the expression joins more than 200 parts in a row: split it"),
        ("-" * 9_000 + "slack < 1", "the expression is nested too deeply or holds a character that cannot be read"),
        (" + ".join(["slack"] * 1_000) + " < 1", "the expression joins more than 200 parts in a row: split it"),
        ("slack < 1) or (large", "column 10: found ')' without its opening bracket"),
        ("slack < 1 # so", "column 11: found '#', which is not in the language"),
    ],
    ids=lambda value: value[:12],
)
def test_a_rule_that_is_too_deep_or_odd(rule: str, expected: str) -> None:
    assert faults(with_rule(rule)) == [f"rule.positive: {expected}"]


def test_a_hundred_terms_are_not_too_many() -> None:
    parse_world(with_rule(" + ".join(["slack"] * 150) + " < 1").encode())


@pytest.mark.parametrize("character", ["\\r", "\\f", "\\u0000", "\\u0008"])
def test_control_characters_in_a_rule(character: str) -> None:
    (fault,) = faults(with_rule(f"slack {character} < {character} 1"))
    assert fault.startswith("rule.positive: column 7: found ")
    assert fault.endswith(", which is not in the language")


@pytest.mark.parametrize(
    "text",
    [
        "attribute = " + "[" * 30_000 + "]" * 30_000,
        "attribute = " + "[" * 200 + "]" * 200,
        f"table.t.{'a.' * 5_000}b = 1",
        f"attribute = [ {{ {'a.' * 5_000}b = 1 }} ]",
    ],
    ids=["lists", "fewer lists", "a dotted key", "a dotted key in a list"],
)
def test_tables_and_lists_that_are_nested_deeply(text: str) -> None:
    assert faults(text) == ["tables or lists are nested more than 100 deep"]


def _many_states(given: bool) -> str:
    levels = json.dumps(list("abcdefghij"))
    laws = [
        f'[attribute.x{index}]\nlevels = {levels}\nprobability = "uniform"\n'
        + (f"given = {json.dumps([f'x{parent}' for parent in range(index)])}\n" if given else "")
        for index in range(15)
    ]
    start, end = SOUND.index("[attribute.income]"), SOUND.index("[[provenance]]")
    rest = '[rule]\npositive = "x0 == \'a\'"\n[setting]\nlow = ["x0"]\n'
    return SOUND[:start] + "\n".join(laws) + rest + SOUND[end:]


@pytest.mark.parametrize("given", [False, True], ids=["independent", "each given all before it"])
def test_a_state_space_of_a_thousand_billion_is_refused_before_memory_is_taken(given: bool) -> None:
    text = _many_states(given)
    tracemalloc.start()
    try:
        found = faults(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == ["attribute: the world has 1,000,000,000,000,000 states, expected at most 16,777,216"]
    assert peak < 20_000_000


def test_a_long_list_of_levels_is_read() -> None:
    """Comparing each with each would take minutes."""
    values = json.dumps(list(range(100_000)))
    assert faults(f"[attribute.a]\nvalues = {values}\nprobability = 'uniform'\n")[0] == "format: missing"


SHAPE_FAULTS = [
    ('values = [1, 2, "2.5"]', 'values = "12"', "attribute.amount.values: found the text '12', expected a list"),
    ('scales = ["0", "1", "5"]', 'scales = "1"', "residual.shock.scales: found the text '1', expected a list"),
    ('scales = ["0", "1", "5"]', "scales = { 1 = 0 }", "residual.shock.scales: found a table, expected a list"),
    (
        '{ "-1" = "0.1", "0" = "0.8", "1" = "0.1" }',
        "1",
        "residual.shock.probability: found the value 1, expected a table",
    ),
    ("[1, 9]", "[1, 9, 20]", "irrelevant.pages.range: found a list of 3, expected a list of 2"),
    ("[1, 9]", "[1, true]", "irrelevant.pages.range[1]: found true, expected an integer"),
    (
        'label = "Rate"',
        "label = 1979-05-27",
        "shown.rate.label: found the value datetime.date(1979, 5, 27), expected text",
    ),
    ('label = "Rate"', "label = inf", "shown.rate.label: found the float inf, expected text"),
    (
        '["0.3", "0.5", "0.2"]',
        '[nan, "0.5", "0.2"]',
        'attribute.income.probability[0]: found the float nan, expected an exact number in quotes, such as "0.28"',
    ),
    ("[derived]", "[[derived]]", "derived: found a list of 1, expected a table"),
]


@pytest.mark.parametrize(("old", "new", "expected"), SHAPE_FAULTS)
def test_shapes_are_not_stretched(old: str, new: str, expected: str) -> None:
    """A text is no list of its letters, a table no list of its keys, a float no number."""
    assert faults(changed((old, new)))[0] == expected


# --- nothing but these two errors comes out, whatever goes in ---------------------------------------------------------


OTHERS_WORDS = re.compile("has no attribute|to structure|not in literal|<class|Exceeds the limit|recursion")


def only_ours(data: bytes) -> None:
    """Whatever is wrong is an `InvalidSpec`, in our words, that can be printed."""
    try:
        parse_world(data)
    except InvalidSpec as error:
        messages = [problem.what for problem in error.problems]
        printed = str(error).encode()
    else:
        return
    assert printed
    assert all(messages)
    assert not [message for message in messages if OTHERS_WORDS.search(message)]


PIECES = [
    *[b'"', b"'", b"[", b"]", b"{", b"}", b"=", b",", b".", b"\n", b"\xff", b"0", b"-", b"e9", b"nan", b"true", b"#"],
    *[b"(", b")", b"\\r", b"\\u0000", b" if ", b" < ", b"1979-05-27", b'"""', b"\\", b"uniform", b"noise", b"a0"],
]


@given(world_texts | st.just(SOUND), st.data())
def test_mutated_bytes(text: str, data: st.DataObject) -> None:
    """Bytes deleted, repeated, replaced or swapped with pieces that mean something in TOML or in a rule."""
    found = bytearray(text.encode())
    pieces = st.sampled_from(PIECES)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(found)))
        length = data.draw(st.integers(0, 6))
        found[start : start + length] = data.draw(pieces | st.binary(max_size=3) | st.just(b""))
    only_ours(bytes(found))


WORDS = ["", "uniform", "0.5", "1/2", "1/3", "income", "large", "shock", "a < b", "1 < 2", "é", "*", "x y", "[", "0.50"]
SCALARS = (
    st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(WORDS)
    | st.text(max_size=4)
    | st.sampled_from([1.5, date(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)])
)
KEYS = st.text(max_size=3) | st.sampled_from(WORDS)
SHAPES = st.recursive(SCALARS, lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=3))


def toml(value: Any) -> str:
    """A TOML value; Hypothesis' texts can hold what TOML cannot, which is then not TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(below)}" for key, below in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return value.isoformat() if isinstance(value, date) else json.dumps(value)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, inner in below for found in paths(inner, (*path, key)))]


SECTIONS = ["attribute", "setting", "level_set", "residual", "table", "derived", "shown", "irrelevant", "provenance"]


@pytest.mark.parametrize("section", [*SECTIONS, "labels", "rule", "format", "id", "title", "question", "description"])
@pytest.mark.parametrize("value", [False, 7, 1.5, "text", [], [1], [[]], [{}], {}, {"a": {}}, {"a": []}, {"a": 1}])
def test_each_section_as_something_else(section: str, value: Any) -> None:
    world: Any = tomllib.loads(SOUND)
    world[section] = value
    only_ours("".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in world.items()).encode())


@given(st.data())
def test_random_shapes_in_every_place(data: st.DataObject) -> None:
    """The sound world with one or two of its values replaced by anything, or with a key renamed."""
    world: Any = tomllib.loads(SOUND)
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(paths(world)[1:]))
        holder = world
        for step in path[:-1]:
            holder = holder[step]
        if isinstance(holder, dict) and data.draw(st.integers(0, 4)) == 0:
            holder[data.draw(st.sampled_from(["income", "shock", "low", "Big", "", "a.b", "0.50"]))] = holder.pop(
                path[-1]
            )
        else:
            holder[path[-1]] = data.draw(SHAPES)
    text = "".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in world.items())
    only_ours(text.encode())


def test_a_rule_with_a_fault_inside_is_not_blamed_for_its_kind_too() -> None:
    rule = tomllib.loads(SOUND)["rule"]["positive"]
    found = faults(changed((f'positive = "{rule}"', 'positive = "1 + rate"')))
    assert [fault for fault in found if fault.startswith("rule.positive")] == [
        "rule.positive: found a level ('fixed', 'floating') beside + in 'rate', expected a number"
    ]
