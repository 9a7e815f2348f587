"""Golden files: read strictly, written in one step, changed only by name and with a reason."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from attrs import evolve

from exactworlds.errors import GoldenError
from exactworlds.golden.check import check_world, golden_path
from exactworlds.golden.quantities import Quantities
from exactworlds.golden.store import GoldenCell, read_golden, write_golden
from exactworlds.golden.update import add_world, published_golden, replace_cells
from exactworlds.spec.bundled import find_world, golden_folder, world_names
from exactworlds.spec.load import parse_world
from exactworlds.spec.published import load_published
from exactworlds.spec.world import World

TINY = """
format = "exactworlds/world/1"
id = "tiny"
title = "Tiny"
question = "is it?"
labels = { positive = "yes", negative = "no" }
[attribute.coin]
levels = ["head", "tail"]
probability = ["PROBABILITY", "REST"]
[attribute.die]
values = [1, 2, 3]
probability = "uniform"
[rule]
positive = "coin == 'head' and die > 1"
[setting]
fine = ["coin", "die"]
coarse = ["coin"]
[[provenance]]
of = ["*"]
kind = "chosen"
why = "a test"
"""
BAYES = "tiny/coarse/1/bayes-error"


def tiny(probability: str = "0.3", rest: str = "0.7") -> World:
    return parse_world(TINY.replace("PROBABILITY", probability).replace("REST", rest).encode())


def rewritten() -> World:
    """The same law in other words: no probability moves, the law digest does."""
    text = TINY.replace("PROBABILITY", "0.3").replace("REST", "0.7")
    return parse_world(text.replace("die > 1", "die >= 2").encode())


@pytest.fixture
def pinned(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.golden.json"
    add_world(tiny(), file, Quantities(tiny()))
    return file


def moved_ids(world: World, file: Path) -> list[str]:
    return [result.cell.id for result in check_world(world, file, Quantities(world)).cells if not result.matches]


def test_a_pinned_world_matches_and_a_changed_one_does_not(pinned: Path) -> None:
    assert check_world(tiny(), pinned, Quantities(tiny())).matches
    changed = tiny("0.31", "0.69")
    result = check_world(changed, pinned, Quantities(changed))
    assert not result.matches
    assert not result.law_matches
    assert BAYES in moved_ids(changed, pinned)


def test_a_stale_digest_fails_although_every_number_agrees(pinned: Path) -> None:
    """The rule is written another way: no probability moves, the law digest does."""
    same = rewritten()
    result = check_world(same, pinned, Quantities(same))
    assert not moved_ids(same, pinned)
    assert not result.law_matches
    assert not result.matches


def test_a_missing_file_and_a_missing_cell_fail(pinned: Path, tmp_path: Path) -> None:
    with pytest.raises(GoldenError, match="does not exist"):
        check_world(tiny(), tmp_path / "nowhere.json", Quantities(tiny()))
    golden = read_golden(pinned)
    write_golden(pinned, evolve(golden, cells=golden.cells[1:]))
    result = check_world(tiny(), pinned, Quantities(tiny()))
    assert result.missing == (golden.cells[0].quantity,)
    assert not result.matches


def test_add_touches_nothing_that_is_pinned(pinned: Path) -> None:
    golden = read_golden(pinned)
    write_golden(pinned, evolve(golden, cells=(evolve(golden.cells[0], value="999"), *golden.cells[2:])))
    with pytest.raises(GoldenError, match="nothing was written"):
        add_world(tiny(), pinned, Quantities(tiny()))
    assert read_golden(pinned).cells[0].value == "999"
    with pytest.raises(GoldenError, match="another law or text digest"):
        add_world(tiny("0.31", "0.69"), pinned, Quantities(tiny("0.31", "0.69")))


def test_derived_cells_must_be_derived_and_must_hold(tmp_path: Path) -> None:
    file = tmp_path / "g.json"
    wrong = GoldenCell("by-hand", BAYES, "A.bayes-error", "derived", "1/2")
    with pytest.raises(GoldenError, match="by-hand: pinned values differ"):
        add_world(tiny(), file, Quantities(tiny()), [wrong])
    assert not file.exists()
    with pytest.raises(GoldenError, match="expected derived"):
        add_world(tiny(), file, Quantities(tiny()), [evolve(wrong, kind="computed")])
    golden = add_world(tiny(), file, Quantities(tiny()), [evolve(wrong, value="1/10")])
    assert golden.cells[0].value == "1/10"
    with pytest.raises(GoldenError, match="pinned already"):
        add_world(tiny(), file, Quantities(tiny()), [evolve(wrong, value="1/10")])


def test_replace_wants_ids_and_a_reason(pinned: Path) -> None:
    changed = tiny("0.31", "0.69")
    before = pinned.read_bytes()
    for only, reason in (([], "why"), ([BAYES], " ")):
        with pytest.raises(GoldenError, match="--only"):
            replace_cells(changed, pinned, Quantities(changed), only=only, reason=reason, date="2026-01-01")
    with pytest.raises(GoldenError, match="no cell nonsense"):
        replace_cells(changed, pinned, Quantities(changed), only=["nonsense"], reason="r", date="2026-01-01")
    with pytest.raises(GoldenError, match="moved too"):
        replace_cells(changed, pinned, Quantities(changed), only=[BAYES], reason="r", date="2026-01-01")
    with pytest.raises(GoldenError, match="have not moved"):
        replace_cells(tiny(), pinned, Quantities(tiny()), only=[BAYES], reason="r", date="2026-01-01")
    assert pinned.read_bytes() == before


def test_replace_changes_the_named_cells_and_keeps_their_history(pinned: Path) -> None:
    changed = tiny("0.31", "0.69")
    ids = moved_ids(changed, pinned)
    old = {cell.id: cell.value for cell in read_golden(pinned).cells}
    replace_cells(changed, pinned, Quantities(changed), only=ids, reason="a better coin", date="2026-01-01")
    golden = read_golden(pinned)
    assert check_world(changed, pinned, Quantities(changed)).matches
    for cell in golden.cells:
        if cell.id in ids:
            assert [(change.was, change.reason) for change in cell.history] == [(old[cell.id], "a better coin")]
        else:
            assert cell.value == old[cell.id]
            assert cell.history == ()
    assert [change.reason for change in golden.digest_history] == ["a better coin"]


def test_a_digest_alone_can_be_replaced_by_name(pinned: Path) -> None:
    same = rewritten()
    replace_cells(same, pinned, Quantities(same), only=["law"], reason="rewritten rule", date="2026-01-01")
    assert check_world(same, pinned, Quantities(same)).matches


def test_published_and_derived_cells_cannot_be_replaced(pinned: Path) -> None:
    golden = read_golden(pinned)
    kinds = (evolve(golden.cells[0], kind="published"), evolve(golden.cells[1], kind="derived"), *golden.cells[2:])
    write_golden(pinned, evolve(golden, cells=kinds))
    for cell in kinds[:2]:
        with pytest.raises(GoldenError, match="only computed cells"):
            replace_cells(tiny(), pinned, Quantities(tiny()), only=[cell.id], reason="r", date="2026-01-01")


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_an_interrupted_write_leaves_the_old_file(pinned: Path, moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = pinned.read_bytes()
    golden = read_golden(pinned)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    if moment == "fsync":
        monkeypatch.setattr(os, "fsync", interrupted)
    else:
        monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_golden(pinned, evolve(golden, cells=golden.cells[:1]))
    assert pinned.read_bytes() == before
    assert [file.name for file in pinned.parent.iterdir()] == [pinned.name]


def test_a_full_disk_is_one_message_and_the_old_file_stays(pinned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = pinned.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(GoldenError, match="the old file was kept"):
        write_golden(pinned, read_golden(pinned))
    assert pinned.read_bytes() == before


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("{", "not a golden file"),
        (
            '{"format": "exactworlds/golden/1", "subject": "tiny", "law": null, "law": null, "text": null}',
            "duplicate key",
        ),
        (
            '{"format": "exactworlds/golden/1", "subject": "tiny", "law": null, "text": null, "cells": [1.5]}',
            "the number 1.5",
        ),
        (
            '{"format": "exactworlds/golden/1", "subject": "tiny", "law": null, "text": null, "cells": NaN}',
            "the number NaN",
        ),
        ('{"format": "exactworlds/golden/2", "subject": "tiny", "law": null, "text": null, "cells": []}', "format"),
        (
            '{"format": "exactworlds/golden/1", "subject": "tiny", "law": null, "text": null, "cells": [], "more": 1}',
            "unknown key",
        ),
        ("[" * 100_000, "not a golden file"),
    ],
)
def test_damaged_files_never_pass(tmp_path: Path, damage: str, message: str) -> None:
    file = tmp_path / "g.json"
    file.write_text(damage, encoding="utf-8")
    with pytest.raises(GoldenError, match=message):
        read_golden(file)


def test_a_cell_may_stand_once_only(pinned: Path) -> None:
    raw = json.loads(pinned.read_text(encoding="utf-8"))
    raw["cells"].append(raw["cells"][0])
    pinned.write_text(json.dumps(raw), encoding="utf-8")
    with pytest.raises(GoldenError, match="twice"):
        read_golden(pinned)


def test_the_published_golden_is_the_transcription() -> None:
    pinned = read_golden(golden_folder() / "papers" / "published.json")
    assert pinned == published_golden(load_published())
    assert {cell.kind for cell in pinned.cells} == {"published"}


def test_every_bundled_world_is_pinned_in_full() -> None:
    for name in world_names():
        world, source = find_world(name)
        golden = read_golden(golden_path(world, source))
        ids = {cell.quantity for cell in golden.cells}
        assert {quantity for quantity, _ in Quantities(world).pinned()} <= ids


def test_a_users_world_is_pinned_beside_its_file(tmp_path: Path) -> None:
    assert golden_path(tiny(), tmp_path / "my.toml") == tmp_path / "my.golden.json"


def test_a_stale_text_digest_fails_by_itself(pinned: Path) -> None:
    """Another question moves no number and not the law; memos may have changed, so the file does not match."""
    text = TINY.replace("PROBABILITY", "0.3").replace("REST", "0.7")
    asked = parse_world(text.replace('question = "is it?"', 'question = "is it so?"').encode())
    result = check_world(asked, pinned, Quantities(asked))
    assert result.law_matches
    assert not moved_ids(asked, pinned)
    assert not result.text_matches
    assert not result.matches
