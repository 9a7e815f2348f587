"""Cohort and relation files: every fault at once and with its place, digests of what matters, provenance."""

from __future__ import annotations

from pathlib import Path

import pytest

from exactworlds.errors import InvalidSpec, NotFound
from exactworlds.spec.bundled import spec_folder
from exactworlds.spec.cohorts import (
    CohortSpec,
    cohort_law_digest,
    cohort_names,
    cohort_text_digest,
    find_cohort,
    load_cohort,
    parse_cohort,
)
from exactworlds.spec.relations import load_relations, parse_relations

SOUND = """
format = "exactworlds/cohort/1"
id = "mine"
title = "Mine"
seed = "7"
variants = ["canonical", "event"]
primary_cost = "0.10"

[costs]
grid = ["0.05", "0.10"]

[generator.noisy-sensor]
counts = [1, 9]
likelihoods = ["1/2", "1"]

[generator.missing-rule]
counts = [1, 9]
observed = { none = 1, true = 2 }

[stratum.noisy-sensor]
joined = { roots = 3 }

[stratum.missing-rule]
nested = { roots = 3, first = 5 }

[[quota]]
name = "low"
low = "0.5"
high = "0.75"
roots = 3

[[provenance]]
of = ["*"]
kind = "chosen"
why = "a test"
"""


def parsed(*changes: tuple[str, str]) -> CohortSpec:
    text = SOUND
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return parse_cohort(text.encode(), "mine.toml")


def sensor_counts(text: str) -> tuple[str, str]:
    return "counts = [1, 9]\nlikelihoods", f"counts = {text}\nlikelihoods"


FAULTS: list[tuple[list[tuple[str, str]], list[str]]] = [
    ([('seed = "7"', 'seed = "x"')], ["seed: found 'x', expected a whole number in quotes"]),
    ([('seed = "7"', "seed = 7")], ["seed: found the value 7, expected text"]),
    ([('seed = "7"\n', "")], ["seed: missing"]),
    ([('"event"]', '"events", "canonical"]')], ["variants[1]: found 'events'", "variants[2]: found 'canonical' twice"]),
    ([('variants = ["canonical", "event"]', "variants = []")], ["variants: found none"]),
    ([('primary_cost = "0.10"', 'primary_cost = "0.20"')], ["primary_cost: found 0.20, expected a cost of a grid"]),
    ([('primary_cost = "0.10"', "primary_cost = 0.10")], ["primary_cost: found the float 0.10"]),
    ([('["0.05", "0.10"]', '["0.10", "0.05"]')], ["costs.grid: found costs out of order"]),
    ([('["0.05", "0.10"]', '["0", "0.10", "1"]')], ["costs.grid[0]: found 0", "costs.grid[2]: found 1"]),
    ([("likelihoods = [", 'likelihoods = ["-1/2", "11/10", ')],
     ["generator.noisy-sensor.likelihoods[0]: found -1/2", "generator.noisy-sensor.likelihoods[1]: found 11/10"]),
    ([('likelihoods = ["1/2", "1"]', 'likelihoods = ["0"]')], ["generator.noisy-sensor.likelihoods: found zeros only"]),
    ([('likelihoods = ["1/2", "1"]\n', "")], ["generator.noisy-sensor.likelihoods: is missing"]),
    ([("observed = { none = 1, true = 2 }\n", "")], ["generator.missing-rule.observed: is missing"]),
    ([("{ none = 1, true = 2 }", "{ none = -1, maybe = 2 }")],
     ["generator.missing-rule.observed.none: found -1", "generator.missing-rule.observed.maybe: unknown key"]),
    ([("{ none = 1, true = 2 }", "{ none = 0 }")], ["generator.missing-rule.observed: found weights that add up"]),
    ([sensor_counts("[9, 1]")],
     ["generator.noisy-sensor.counts: found 9 to 1"]),
    ([sensor_counts("[-1, 9]")],
     ["generator.noisy-sensor.counts: found -1 to 9"]),
    ([sensor_counts("[0, 0]")],
     ["generator.noisy-sensor.counts: found 0 to 0"]),
    ([sensor_counts("[1]")],
     ["generator.noisy-sensor.counts: found a list of 1"]),
    ([("[generator.noisy-sensor]", "[generator.coin]")],
     ["generator.coin: found 'coin'", "stratum.noisy-sensor: has no [generator.noisy-sensor]"]),
    ([("joined = { roots = 3 }", "joined = { roots = 0 }")],
     ["stratum.noisy-sensor.joined.roots: found 0, expected at least 1",
      "stratum.noisy-sensor.joined.roots: found 0, expected 3"]),
    ([("joined = { roots = 3 }", "joint = { roots = 3, first = -1 }")],
     ["stratum.noisy-sensor.joint: expected one of: joined, nested", "stratum.noisy-sensor.joint.first: found -1"]),
    ([("first = 5", "frist = 5")], ["stratum.missing-rule.nested.frist: unknown key"]),
    ([('high = "0.75"', 'high = "0.5"')], ["quota[0]: found 0.5 to 0.5, expected low < high"]),
    ([("[[provenance]]", '[[quota]]\nname = "low"\nlow = "0.7"\nhigh = "0.8"\nroots = 0\n\n[[provenance]]')],
     ["quota[1]: overlaps the quota 'low'", "quota[1].name: found 'low' twice"]),
    ([('of = ["*"]', 'of = ["costs.*", "nothing"]')],
     ["provenance[0].of: 'nothing' names nothing", "seed: has no provenance", "quota.low: has no provenance"]),
    ([('kind = "chosen"', 'kind = "calibrated"')], ["provenance[0].cells: is missing"]),
    ([('kind = "chosen"', 'kind = "guessed"')], ["provenance[0].kind: found the text 'guessed'"]),
    ([("[costs]", '[subset]\nof = "primary"\nroots = 0\n\n[costs]')],
     ["subset: stands beside generator, stratum or quota", "subset.roots: found 0"]),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "messages"), FAULTS)
def test_faults_are_named_with_their_place(changes: list[tuple[str, str]], messages: list[str]) -> None:
    with pytest.raises(InvalidSpec) as caught:
        parsed(*changes)
    for message in messages:
        assert f"mine.toml: {message}" in str(caught.value)


def test_many_faults_come_at_once() -> None:
    with pytest.raises(InvalidSpec) as caught:
        parsed(('seed = "7"', 'seed = ""'), ('"event"]', '"x"]'), ("first = 5", "first = -5"), ('"0.05", ', '"2", '))
    places = [problem.where for problem in caught.value.problems]
    assert places == ["seed", "variants[1]", "costs.grid[0]", "costs.grid", "stratum.missing-rule.nested.first"]


def test_the_sound_text_is_sound() -> None:
    spec = parsed()
    assert [(generator, encoding, entry.roots) for generator, encoding, entry in spec.strata()] == [
        ("noisy-sensor", "joined", 3),
        ("missing-rule", "nested", 3),
    ]
    assert spec.estimated
    without = SOUND[: SOUND.index("[generator")] + SOUND[SOUND.index("[[provenance]]") :]
    with pytest.raises(InvalidSpec, match="stratum: found none, expected strata or a subset"):
        parse_cohort(without.encode())


@pytest.mark.parametrize("data", [b"", b"x = ", b"\xff", b"x = 1.5", b"[[provenance]]\n" * 3])
def test_any_other_file_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidSpec):
        parse_cohort(data)


def test_the_law_digest_covers_all_that_roots_depend_on() -> None:
    base = cohort_law_digest(parsed())
    moved = [
        parsed(('seed = "7"', 'seed = "8"')),
        parsed(("counts = [1, 9]\nlikelihoods", "counts = [1, 8]\nlikelihoods")),
        parsed(('["1/2", "1"]', '["1", "1/2"]')),
        parsed(("true = 2", "true = 3")),
        parsed(("first = 5", "first = 6")),
        parsed(('high = "0.75"', 'high = "0.76"')),
    ]
    assert len({base, *map(cohort_law_digest, moved)}) == len(moved) + 1
    same = [
        parsed(('title = "Mine"', 'title = "Yours"')),
        parsed(('high = "0.75"', 'high = "3/4"')),
        parsed(('["0.05", "0.10"]', '["0.05", "0.10", "0.40"]')),
        parsed(("none = 1, true = 2", "true = 2, none = 1, false = 0")),
    ]
    assert {cohort_law_digest(spec) for spec in same} == {base}


def test_the_text_digest_covers_the_variants() -> None:
    text = cohort_text_digest(parsed())
    assert cohort_text_digest(parsed(('["canonical", "event"]', '["event", "canonical"]'))) == text
    assert cohort_text_digest(parsed(('["canonical", "event"]', '["event"]'))) != text


def test_bundled_cohorts_are_found_by_name_and_others_by_file(tmp_path: Path) -> None:
    assert cohort_names() == ("development", "diagnostic", "headroom", "primary", "subset")
    assert find_cohort("primary") == load_cohort(spec_folder() / "cohorts" / "primary.toml")
    file = tmp_path / "mine.toml"
    file.write_text(SOUND, encoding="utf-8")
    assert find_cohort(str(file)) == parsed()
    with pytest.raises(NotFound, match="there is no cohort 'primry'; known: development"):
        find_cohort("primry")


def test_every_number_says_where_it_comes_from() -> None:
    """Nothing that P2 lost is called published: ranges, seeds and first draws are calibrated or chosen."""
    for name in cohort_names():
        spec = find_cohort(name)
        kinds = {pattern: entry.kind for entry in spec.provenance for pattern in entry.of}
        assert all(kinds[pattern] != "published" for pattern in kinds if "generator" in pattern or "first" in pattern)
        assert kinds.get("seed") != "published"
        assert all(entry.cells for entry in spec.provenance if entry.kind in ("calibrated", "forced"))


def test_departures_are_patterns_of_cells() -> None:
    spec = parsed(("[[provenance]]", '[[departure]]\ncells = ["P2.*:mine/*"]\nwhy = "a test"\n\n[[provenance]]'))
    assert spec.departs_from("P2.worlds:mine/eligible")
    assert not spec.departs_from("P2.worlds:other/eligible")
    assert not any(find_cohort(name).departure for name in cohort_names())


def test_the_relations_are_the_ten_of_the_paper() -> None:
    relations = load_relations().relation
    assert len(relations) == 10
    assert [name for name, relation in relations.items() if not relation.primary] == ["frechet"]
    assert {name: relation.tolerance.raw for name, relation in relations.items() if name == "repeat"} == {
        "repeat": "0.02"
    }
    assert {relation.tolerance.raw for name, relation in relations.items() if name != "repeat"} == {"0.05"}
    with_conditional = [name for name, relation in relations.items() if "conditional" in relation.constituents]
    assert with_conditional == ["product"]
    against_canonical = {name for name, relation in relations.items() if "canonical" in relation.constituents}
    assert against_canonical == {"coarsening", "permutation", "layout", "opaque-keys", "metadata"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('tolerance = "0.02"', 'tolerance = "1"', "relation.repeat.tolerance: found 1"),
        ('tolerance = "0.02"', "tolerance = 0.02", "relation.repeat.tolerance: found the float 0.02"),
        ('["event", "repeat"]', '["event", "again"]', "relation.repeat.constituents[1]: found 'again'"),
        ('["event", "repeat"]', '["event"]', "relation.repeat.constituents: found event, expected at least two"),
        ('["event", "repeat"]', '["event", "event"]', "relation.repeat.constituents: found event, event"),
        ('"relation.*.tolerance", ', "", "relation.repeat.tolerance: has no provenance"),
        ("[relation.repeat]", "[relation.repeat]\nsince = 1", "relation.repeat.since: unknown key"),
    ],
)
def test_faults_of_relations_are_named(old: str, new: str, message: str) -> None:
    text = (spec_folder() / "relations.toml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    with pytest.raises(InvalidSpec) as caught:
        parse_relations(text.replace(old, new).encode())
    assert message in str(caught.value)
