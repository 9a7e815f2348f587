"""What covert transfer's printed values force, against a derivation that does not use the package."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import derive_covert
from exactworlds.golden import identification as identified
from exactworlds.golden.store import read_golden
from exactworlds.spec.bundled import find_world, golden_folder


def test_derived_goldens_are_what_the_independent_script_prints() -> None:
    golden = read_golden(golden_folder() / "worlds" / "covert-transfer.json")
    pinned = [
        {"id": cell.id, "quantity": cell.quantity, "claim": cell.claim, "kind": cell.kind, "value": cell.value}
        for cell in golden.cells
        if cell.kind == "derived"
    ]
    assert json.loads(json.dumps(list(derive_covert.cells()))) == pinned


def test_there_are_2436_partitions_of_26_each_once() -> None:
    found = list(identified.partitions(26))
    assert len(found) == len(set(found)) == 2436
    assert all(sum(sizes) == 26 and sorted(sizes, reverse=True) == list(sizes) for sizes in found)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [("high", [(8, 8, 8, 2)]), ("medium", [(5, 4, 4, 4, 3, 3, 3), (4, 4, 4, 4, 4, 4, 2)]), ("low", [(1,) * 26])],
)
def test_only_these_partitions_fit(setting: str, expected: list[tuple[int, ...]]) -> None:
    assert identified.fitting_partitions(26, setting) == expected


def test_only_26_letters_fit_every_setting() -> None:
    assert identified.identification("alphabets") == "26"
    assert identified.fitting_partitions(27, "high") == []


def test_the_bundled_world_has_the_forced_sizes() -> None:
    world, _ = find_world("covert-transfer")
    for table, sizes in (("broad_range", [8, 8, 8, 2]), ("narrow_range", [4, 4, 4, 4, 4, 4, 2])):
        rows = list(world.tables[table].rows.values())
        assert sorted((rows.count(name) for name in set(rows)), reverse=True) == sizes


def test_refines_is_about_joining_parts() -> None:
    assert identified.refines((4, 4, 4, 4, 4, 4, 2), (8, 8, 8, 2))
    assert not identified.refines((5, 4, 4, 4, 3, 3, 3), (8, 8, 8, 2))
    assert identified.refines((3, 3, 2), (5, 3))
    assert not identified.refines((4, 4), (8, 1))


def test_unknown_names_have_no_value() -> None:
    assert identified.identification("partitions/23") is None
    assert identified.identification("nonsense") is None
    assert identified.covert_bayes_error(4, (2, 1, 1)) == Fraction(3, 16)
