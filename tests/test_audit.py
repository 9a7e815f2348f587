"""The audit: every printed cell is there, everything matches, and a change of one grid step is found and named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from attrs import evolve

from exactworlds.audit.identities import check_identity
from exactworlds.audit.text import papers_json, world_json, world_lines
from exactworlds.audit.verify import WorldAudit, audit_papers, audit_world, evidence
from exactworlds.errors import InvalidArgument
from exactworlds.golden.check import check_world, golden_path
from exactworlds.golden.cohort_quantities import SUBJECTS
from exactworlds.golden.quantities import Quantities
from exactworlds.golden.store import read_golden
from exactworlds.spec.bundled import find_world, spec_folder, world_names
from exactworlds.spec.cohorts import cohort_names
from exactworlds.spec.load import parse_world
from exactworlds.spec.published import load_published
from exactworlds.spec.world import World


@pytest.fixture(scope="module")
def audits() -> dict[str, WorldAudit]:
    found = {}
    for name in world_names():
        world, source = find_world(name)
        found[name] = audit_world(world, source, golden_path(world, source), golden_is_due=True)
    return found


def test_everything_matches(audits: dict[str, WorldAudit]) -> None:
    for audit in audits.values():
        assert audit.passes
        assert audit.admission.enumerated == ("1",)
        assert audit.admission.largest <= Fraction(1, 10**15)
    assert audit_papers().passes


def test_all_cells_of_tables_2_and_7_are_there(audits: dict[str, WorldAudit]) -> None:
    lines = [line for audit in audits.values() for line in audit.lines]
    table_2 = [line for line in lines if line.cell.group.id == "P1.tab2"]
    table_7 = [line for line in lines if line.cell.group.id == "P1.tab7"]
    assert (len(table_2), len(table_7)) == (18, 30)
    unread = [line for line in table_2 + table_7 if line.cell.printed is None]
    assert len(unread) == 6 + 10
    assert {line.evidence for line in unread} == {"not readable in the source"}
    assert {line.cell.world for line in unread} == {"credit-risk"}


def test_every_line_says_what_the_auditor_needs(audits: dict[str, WorldAudit]) -> None:
    for audit in audits.values():
        for line in audit.lines:
            if line.cell.quantity.endswith(("bayes-error", "entropy-bits", "prior")):
                assert line.difference is not None
                assert line.difference <= Fraction(1, 10**15)
                digits = line.exact.partition(".")[2]
                assert len(digits) >= 15 or line.value == int(line.exact)
                assert (line.fraction is None) == line.cell.quantity.endswith("entropy-bits")


def test_evidence_follows_the_provenance(audits: dict[str, WorldAudit]) -> None:
    kinds = {
        name: {line.evidence for line in audit.lines if line.cell.group.id == "P1.tab2"}
        for name, audit in audits.items()
    }
    assert kinds["covert-transfer"] == {"identifies"}
    assert kinds["peer-review"] == {"calibrated to this cell"}
    tables = ("P1.tab2", "P1.tab6", "P1.tab7")
    for name, fitted in (("peer-review", 19), ("credit-risk", 7)):
        quantities = {
            line.cell.quantity
            for line in audits[name].lines
            if line.evidence == "calibrated to this cell" and line.cell.group.id in tables
        }
        assert len(quantities) == fitted
    weights = [line for line in audits["peer-review"].lines if line.cell.group.id == "P1.tab4"]
    assert {line.evidence for line in weights} == {"transcribed"}


def test_evidence_is_independent_only_if_nothing_was_fitted_to_the_quantity() -> None:
    world, _ = find_world("peer-review")
    cell = next(cell for cell in load_published().cells("peer-review") if cell.id == "P1.tab6:peer-review/1/prior")
    assert evidence(world, cell) == "calibrated to this cell"
    free = evolve(world, provenance={path: evolve(entry, cells=()) for path, entry in world.provenance.items()})
    assert evidence(free, cell) == "independent"


def test_text_and_json_say_the_same(audits: dict[str, WorldAudit]) -> None:
    for audit in audits.values():
        text = "\n".join(world_lines(audit))
        content = world_json(audit)
        assert content["passes"] is True
        assert len(content["cells"]) == len(audit.lines)
        assert "✗" not in text
        for cell in content["cells"]:
            if cell["quantity"].endswith("bayes-error"):
                assert cell["exact"] in text
    assert papers_json(audit_papers())["passes"] is True


def with_text(old: str, new: str, name: str) -> World:
    text = (spec_folder() / "worlds" / f"{name}.toml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    return parse_world(text.replace(old, new).encode())


def test_a_changed_copy_names_the_cells_that_moved(tmp_path: Path) -> None:
    changed = with_text('"0.50", "0.39", "0.11"', '"0.49", "0.40", "0.11"', "peer-review")
    golden = golden_path(*find_world("peer-review"))
    audit = audit_world(changed, tmp_path / "copy.toml", golden, golden_is_due=True, enumerated_scales=())
    assert not audit.passes
    text = "\n".join(world_lines(audit))
    moved = [line for line in text.splitlines() if "✗" in line]
    assert any("peer-review/low/1/bayes-error: pinned" in line for line in moved)
    assert any("bound to the law digest" in line for line in moved)


STEP = Fraction(1, 100)
WEIGHT_STEP = {"peer-review": Fraction(1, 10), "credit-risk": Fraction(1, 2)}


def one_step_changes(name: str) -> Iterator[tuple[str, str]]:
    """Every way to move one step of a list of probabilities from one level to the next, and of one weight up."""
    text = (spec_folder() / "worlds" / f"{name}.toml").read_text(encoding="utf-8")
    for match in re.finditer(r'probability = \[("[0-9.]+"(?:, "[0-9.]+")*)\]', text):
        numbers = [Fraction(item.strip('" ')) for item in match.group(1).split(",")]
        for index in range(len(numbers) - 1):
            moved = list(numbers)
            moved[index] -= STEP
            moved[index + 1] += STEP
            new = ", ".join(f'"{number}"' for number in moved)
            yield f"{match.group(1)} moved at {index}", text[: match.start(1)] + new + text[match.end(1) :]
    start = text.index("[table")
    for match in re.finditer(r'= "(-?[0-9]\.[0-9])"', text[start : text.index("[derived]")]):
        value = Fraction(match.group(1)) + WEIGHT_STEP[name]
        at = start + match.start(1)
        new = f"{float(value):.1f}"
        yield f"weight {match.group(1)} at {at}", text[:at] + new + text[at + len(match.group(1)) :]


@pytest.mark.parametrize("name", ["peer-review", "credit-risk"])
def test_one_step_of_any_probability_or_weight_moves_a_pinned_number(name: str) -> None:
    """Priors and Bayes errors move for nearly all; where two levels act alike, the digest of the table still moves."""
    world, source = find_world(name)
    pinned = {
        cell.quantity: cell.value
        for cell in read_golden(golden_path(world, source)).cells
        if cell.quantity.endswith(("/1/bayes-error", "/1/prior", "/0/bayes-error", "/high/1/table"))
    }
    assert len(pinned) == 8
    pinned = dict(sorted(pinned.items(), key=lambda item: item[0].endswith("table")))  # the costly one last
    changes = list(one_step_changes(name))
    assert len(changes) == {"peer-review": 18 + 24, "credit-risk": 21 + 4}[name]
    for what, text in changes:
        quantities = Quantities(parse_world(text.encode()))
        assert any(str(quantities.value(quantity)) != value for quantity, value in pinned.items()), what


def test_every_residual_and_covert_number_is_pinned_too() -> None:
    for old, new, name in (
        ('"-0.5" = "0.05"\n"0" = "0.72"', '"-0.5" = "0.045"\n"0" = "0.725"', "peer-review"),
        ('"-1" = "0.10", "0" = "0.76"', '"-1" = "0.09", "0" = "0.77"', "credit-risk"),
        ('probability = ["1/2", "1/2"]', 'probability = ["0.51", "0.49"]', "covert-transfer"),
    ):
        changed = with_text(old, new, name)
        result = check_world(changed, golden_path(*find_world(name)), Quantities(changed))
        assert any(not cell.matches for cell in result.cells), name


def test_a_missing_golden_fails_for_a_bundled_world_only(tmp_path: Path) -> None:
    world, source = find_world("covert-transfer")
    nowhere = tmp_path / "none.json"
    assert not audit_world(world, source, nowhere, golden_is_due=True).passes
    own = audit_world(world, source, nowhere, golden_is_due=False)
    assert own.passes
    assert "golden add" in "\n".join(world_lines(own))
    nowhere.write_text("{", encoding="utf-8")
    assert not audit_world(world, source, nowhere, golden_is_due=False).passes


def test_identities_hold_as_written_and_wrong_ones_do_not() -> None:
    for line in load_published().identity.values():
        assert check_identity(line).holds, line
        left, _, printed = line.partition("=")
        digits = printed.strip()
        unit = Fraction(1, 10 ** len(digits.partition(".")[2]))
        for shift in (-2 * unit, 2 * unit):
            places = len(digits.partition(".")[2])
            wrong = f"{float(Fraction(digits) + shift):.{places}f}"
            assert not check_identity(f"{left}= {wrong}").holds, line
    for bad in ("1 + 1", "a + 1 = 2", "1 / 0 = 2", "2 ** 3 = 8", "f(1) = 1", "1 + = 2"):
        with pytest.raises(InvalidArgument):
            check_identity(bad)


def test_transcription_faults_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    published = load_published()
    first = published.group[0]
    name = next(iter(first.cells))
    changed = evolve(published, group=(evolve(first, cells={**first.cells, name: "0.999"}), *published.group[1:]))
    monkeypatch.setattr("exactworlds.audit.verify.load_published", lambda: changed)
    faults = audit_papers().transcription
    assert len(faults) == 1
    assert name in faults[0]


def test_cells_are_in_step_with_what_can_be_computed() -> None:
    """No printed cell is left out of the audit: each belongs to a bundled world or cohort, or a known subject."""
    cells = list(load_published().cells())
    assert {cell.world for cell in cells} == {*world_names(), *cohort_names(), *SUBJECTS}
    ids = [cell.id for cell in cells]
    assert len(ids) == len(set(ids))
