"""Templates: syntax, writing, reading, and the round trip on the bundled worlds and on random ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import InvalidSpec, NotFound
from exactworlds.memo.cases import CaseSource
from exactworlds.memo.certify import certify, certify_template, law_in_texts
from exactworlds.memo.slots import GridSlot, IdentifierSlot, visible_slot
from exactworlds.memo.template import MemoParseError, memo_template
from exactworlds.spec.bundled import find_world, spec_folder, world_names
from exactworlds.spec.document import ShownTable
from exactworlds.spec.load import parse_world
from exactworlds.spec.templates import Literal, Slot, TemplateSyntaxError, Wording, parse_part
from exactworlds.spec.world import World

EVERY = [
    (name, template, setting)
    for name in world_names()
    for world in [find_world(name)[0]]
    for template in world.templates
    for setting in world.settings
]


@pytest.mark.parametrize("name", world_names())
def test_every_world_has_a_form_and_a_prose_template_with_all_fields(name: str) -> None:
    world, _ = find_world(name)
    assert {"form", "prose"} <= set(world.templates)
    for template in world.templates:
        shown = {column.name for column in memo_template(world, "low", template).columns}
        assert set(world.irrelevant) <= shown
    assert len(world.irrelevant) == 8


@pytest.mark.parametrize(("name", "template", "setting"), EVERY)
def test_every_pattern_of_medium_and_high_reads_back(name: str, template: str, setting: str) -> None:
    world, _ = find_world(name)
    scaled = ScaledWorld(world)
    certificate = certify_template(world, memo_template(world, setting, template, scaled), scaled)
    assert certificate.holds, certificate.faults
    if setting != "low":
        assert certificate.checked == certificate.patterns


@given(st.sampled_from(EVERY), st.integers(0, 10**6))
def test_drawn_memos_read_back(which: tuple[str, str, str], index: int) -> None:
    source = SOURCES[which]
    drawn = source.draw(index, 1)
    pattern = drawn.pattern(0)
    parsed = source.template.parse(source.template.write(pattern, drawn.draws(0)))
    assert parsed.pattern == pattern
    assert set(parsed.fields) == set(source.world.irrelevant)


SOURCES = {which: CaseSource(find_world(which[0])[0], which[2], which[1], "7") for which in EVERY}


def test_pieces_of_a_part() -> None:
    assert parse_part("{{x}} {a}{b|c}") == (Literal("{x} "), Slot("a"), Wording(("b", "c")))
    for bad in ("{", "}", "{a", "a}", "{}", "{A}", "{a b}", "{a|}", "{a|a}", "{{a|{b}}"):
        with pytest.raises(TemplateSyntaxError):
            parse_part(bad)


def test_grids_are_inclusive_and_a_threshold_belongs_to_the_higher_level() -> None:
    world, _ = find_world("peer-review")
    slot = visible_slot("evidence", ("0", "1", "2"), world.shown["evidence"])
    assert isinstance(slot, GridSlot)
    assert (slot.values["0"][0], slot.values["0"][-1], len(slot.values["0"])) == ("1.0", "2.4", 15)
    assert (slot.values["2"][0], slot.values["2"][-1], len(slot.values["2"])) == ("3.5", "5.0", 16)
    assert [slot.read(text) for text in ("2.4", "2.5", "3.4", "3.5")] == ["0", "1", "1", "2"]


def test_identifier_positions_count_letters_not_hyphens() -> None:
    world, _ = find_world("covert-transfer")
    slot = visible_slot("letter", tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), world.shown["letter"])
    assert isinstance(slot, IdentifierSlot)
    text = slot.write({"letter": "Z", "report_type": "incident"}, [0] * 16)
    assert text == "AAAA-ZAAA-AAAA-AAAA"
    assert slot.level(slot.read("ABCD-EFGH-IJKL-MNOP"), "incident") == "E"
    assert slot.level(slot.read("ABCD-EFGH-IJKL-MNOP"), "inventory") == "K"


def test_damaged_memos_say_where_they_stop() -> None:
    world, _ = find_world("peer-review")
    template = memo_template(world, "high", "form")
    memo = CaseSource(world, "high", "form", "1").cases(0, 1)[0].memo
    assert len(template.parse(memo).pattern) == 7
    with pytest.raises(MemoParseError, match=r"line 2, column 20: found .* expected a value of contribution$"):
        template.parse(memo.replace("Contribution type: ", "Contribution type: x"))
    with pytest.raises(MemoParseError, match="found the end"):
        template.parse(memo[:-20])
    with pytest.raises(MemoParseError):
        template.parse(memo + " ")
    with pytest.raises(MemoParseError):
        template.parse("")


def test_unknown_names_are_refused() -> None:
    world, _ = find_world("peer-review")
    with pytest.raises(NotFound, match="setting"):
        memo_template(world, "none", "form")
    with pytest.raises(NotFound, match="template"):
        memo_template(world, "low", "none")


def with_template(name: str, parts: str) -> World:
    text = (spec_folder() / "worlds" / f"{name}.toml").read_text(encoding="utf-8")
    marker = "\n[template.form]\n"
    assert text.count(marker) == 1
    return parse_world(text.replace(marker, f"\n[template.other]\nparts = {parts}\n{marker}").encode())


ALL_COVERT = '"{report_type} {letter} {broad}", " {narrow}", " {tag}"'


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (f"[{ALL_COVERT}, ' {{procedure}}']", "found {procedure}, which no setting shows"),
        (f"[{ALL_COVERT}, ' {{drawn}}']", "found {drawn}, which no setting shows"),
        ('["{report_type} {letter} {broad}", " {narrow}"]', "does not show 'tag', which the setting 'low' shows"),
        ('["{letter}{broad}{narrow}{tag}"]', "does not show 'report_type'"),
        ("[]", "found an empty list"),
        ('["{"]', "found { without }"),
    ],
)
def test_a_template_that_shows_too_much_or_too_little_is_refused(parts: str, message: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        with_template("covert-transfer", parts)
    assert message in str(caught.value)


def test_an_ambiguous_template_is_refused_with_its_shortest_witness() -> None:
    world = with_template("covert-transfer", f"[{ALL_COVERT}, ' {{attachments}}{{report_pages}}']")
    faults = [fault for entry in certify(world) if entry.template == "other" for fault in entry.faults]
    assert faults
    assert all("has two readings: attachments" in fault for fault in faults)


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("peer-review", "the threshold is 11.5", "the number 11.5"),
        ("peer-review", "weights such as 1.7", "the number 1.7"),
        ("peer-review", "score >= threshold and no_serious_flaw", "the expression"),
        ("covert-transfer", "look at the 5th letter", "the position 5"),
        ("covert-transfer", "look at the Eleventh letter", "the position 11"),
        ("covert-transfer", "look at letter 14", "the number 14"),
        ("credit-risk", "one in 0.10", "the number 0.10"),
    ],
)
def test_texts_that_state_the_law_are_found(name: str, words: str, message: str) -> None:
    text = (spec_folder() / "worlds" / f"{name}.toml").read_text(encoding="utf-8")
    world = parse_world(
        text.replace("[template.form]\nparts = [\n", f'[template.form]\nparts = [\n"{words}",\n').encode()
    )
    assert any(message in fault for fault in law_in_texts(world, "form"))
    assert not list(law_in_texts(world, "prose"))


LEVEL = st.one_of(
    st.sampled_from(
        ["no", "not", "not at all", "naïve", "שלום", "مرحبا", "it's", 'a "b"', "line\nbreak", "x" * 3, "12th", "é", "e"]
    ),
    st.text(alphabet="ab 1'\"é\nא", min_size=1, max_size=4).filter(
        lambda text: text == text.strip() and not text.isdecimal()
    ),
)


@st.composite
def memo_worlds(draw: st.DrawFn) -> str:
    """The TOML of a world of up to three attributes, with one template of random literals."""
    count = draw(st.integers(1, 3))
    levels = [draw(st.lists(LEVEL, min_size=1, max_size=4, unique=True)) for _ in range(count)]
    names = [f"a{index}" for index in range(count)]
    literal = st.text(alphabet="ab .1é", max_size=3)
    parts = []
    for name in names:
        parts.append(draw(literal) + "{" + name + "}" + draw(literal))
    if draw(st.booleans()):
        parts.append("{size}")
    lines = ['format = "exactworlds/world/1"\nid = "memo"\ntitle = "t"\nquestion = "q?"']
    lines.append('labels = { positive = "p", negative = "n" }')
    for name, found in zip(names, levels, strict=True):
        lines.append(f"[attribute.{name}]\nlevels = {json.dumps(found)}\nprobability = 'uniform'")
    lines.append(f"[rule]\npositive = {json.dumps('a0 == a0')}")
    lines.append(f"[setting]\nall = {json.dumps(names)}")
    lines.append("[irrelevant]\nsize = { label = 'Size', range = [8, 12] }")
    lines.append(f"[template.t]\nparts = {json.dumps(parts)}")
    lines.append("[[provenance]]\nof = ['*']\nkind = 'chosen'\nwhy = 'random'")
    return "\n".join(lines)


@given(memo_worlds())
def test_random_worlds_read_back_or_show_a_text_with_two_readings(text: str) -> None:
    """Certified: every memo reads back. Refused: two choices of values do give one text."""
    world = parse_world(text.encode())
    scaled = ScaledWorld(world)
    template = memo_template(world, "all", "t", scaled)
    every: dict[str, set[tuple[Any, ...]]] = {}
    for pattern in scaled.view("all").patterns:
        sizes = [column.size("") for column in template.columns]
        for draw in range(sizes[0] if sizes else 1):
            draws: Mapping[str, int] = {column.name: draw for column in template.columns}
            every.setdefault(template.write(pattern, draws), set()).add((pattern, draw))
    certificate = certify_template(world, template, scaled)
    decoding = [fault for fault in certificate.faults if "two readings" in fault]
    assert bool(decoding) == any(len(sources) > 1 for sources in every.values())
    if not decoding:
        assert certificate.holds
        for memo, sources in every.items():
            assert template.parse(memo).pattern == next(iter(sources))[0]


@given(st.text(max_size=40))
def test_the_parser_never_fails_in_another_way(text: str) -> None:
    template = SOURCES["covert-transfer", "form", "high"].template
    assume(not text.startswith("TRANSFER REPORT\nReport type: inc"))
    with pytest.raises(MemoParseError):
        template.parse(text)


def test_a_value_without_entry_is_shown_as_its_level() -> None:
    slot = visible_slot("flag", ("false", "true"), None)
    assert slot.write({"flag": "true"}, []) == "yes"
    assert slot.read("no") == "false"
    plain = visible_slot("sector", ("a", "b"), ShownTable(label="Sector"))
    assert plain.write({"sector": "b"}, []) == "b"


def test_wordings_are_drawn_and_carry_nothing() -> None:
    source = SOURCES["peer-review", "prose", "low"]
    pattern = source.template.visible
    cases = source.cases(0, 40)
    starts = {case.memo[:10] for case in cases}
    assert len(starts) == 2
    assert all(source.template.parse(case.memo).pattern == case.pattern for case in cases)
    assert len(pattern) == 9
