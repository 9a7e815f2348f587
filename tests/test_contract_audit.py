"""The audit of contracts: every printed value beside ours, departures never hidden, goldens that notice, one story."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from attrs import evolve

from exactworlds.audit.cohort_text import cohort_json, cohort_lines, contracts_json, contracts_lines
from exactworlds.audit.cohorts import ContractsAudit, audit_cohort, audit_contracts
from exactworlds.contract.calibrate import fit_development, fit_headroom, fit_primary, fit_subset, main
from exactworlds.errors import GoldenError, NotFound
from exactworlds.golden.check import check_subject, cohort_golden_path
from exactworlds.golden.cohort_quantities import (
    CohortQuantities,
    example_value,
    relation_value,
)
from exactworlds.golden.quantities import value_text
from exactworlds.golden.store import read_golden
from exactworlds.golden.update import add_world, replace_cells
from exactworlds.rational import matches_printed
from exactworlds.spec.cohorts import DepartureEntry, QuotaTable, cohort_names, find_cohort
from exactworlds.spec.document import Exact
from exactworlds.spec.published import load_published

PRINTED = {
    "primary/undefined-conditionals": "87",
    "primary/product-roots": "913",
    "primary/eligible": "11913",
    "primary/canonical/0.10/oracle-loss": "0.0897",
    "primary/binary/0.10/oracle-loss": "0.08132",
    "primary/canonical/0.10/positive-headroom-roots": "119",
    "primary/binary/0.10/positive-headroom-roots": "208",
    "primary/always-yes/0.10/half-coverage-loss": "0.29496",
    "headroom/binary/0.10/headroom": "0.04021",
    "headroom/canonical/0.10/headroom": "0.01234",
    "subset/undefined-conditionals": "15",
    "subset/product-roots": "185",
    "subset/eligible": "2385",
    "development/eligible": "477",
}


@pytest.fixture(scope="module")
def audit() -> ContractsAudit:
    return audit_contracts()


def test_everything_printed_of_the_worlds_comes_out(audit: ContractsAudit) -> None:
    assert audit.passes
    found = {line.cell.quantity: line for line in audit.all_lines}
    for quantity, printed in PRINTED.items():
        line = found[quantity]
        assert line.cell.printed == printed
        assert isinstance(line.value, Fraction)
        assert matches_printed(line.value, printed)
        assert line.evidence == "calibrated to this cell" or quantity in ("development/eligible",)
    assert {audited.spec.id for audited in audit.cohorts} == set(cohort_names())


def test_every_printed_cell_of_contracts_is_audited(audit: ContractsAudit) -> None:
    cells = [cell.id for cell in load_published().cells() if cell.group.id.startswith("P2.")]
    assert len(cells) > 50
    assert sorted(cells) == sorted(line.cell.id for line in audit.all_lines)


def test_half_coverage_of_a_constant_yes(audit: ContractsAudit) -> None:
    """Half of the roots answer yes and lose 1 − q(A), the other half defers: strata of equal size, so a plain mean."""
    quantities = next(audited.quantities for audited in audit.cohorts if audited.spec.id == "primary")
    roots = quantities.cohort.roots
    loss = sum(((1 - root.world.q_a) / 2 + Fraction(1, 20) for root in roots), Fraction(0)) / len(roots)
    assert quantities.value("primary/always-yes/0.10/half-coverage-loss") == loss


def test_text_and_json_say_the_same(audit: ContractsAudit) -> None:
    text = "\n".join(contracts_lines(audit))
    content = json.loads(json.dumps(contracts_json(audit)))
    assert content["passes"] is True
    assert "✗" not in text
    assert "12 × 1,000 = 12,000 intended − 87 undefined = 11,913 eligible requests" in text
    assert "12 × 200 = 2,400 intended − 15 undefined = 2,385 eligible requests" in text
    for cohort in content["cohorts"]:
        assert cohort["passes"] is True
        for cell in cohort["cells"]:
            assert cell["exact"] in text
        for root in cohort["slots"]["undefined"]:
            assert f" {root.rpartition('/')[2]}" in text
    primary = next(cohort for cohort in content["cohorts"] if cohort["cohort"] == "primary")
    assert len(primary["slots"]["undefined"]) == 87
    assert primary["relations"]["product"] == 913


def test_a_value_that_is_not_reached_fails_unless_the_spec_says_so() -> None:
    """Another seed reaches little of what is printed: that fails, and passes only when each miss is named."""
    spec = evolve(find_cohort("development"), seed="4")
    audited = audit_cohort(spec)
    (line,) = audited.lines
    assert not line.matches
    assert not audited.passes
    assert any("✗ eligible" in text and "DOES NOT MATCH" in text for text in cohort_lines(audited))
    declared = evolve(spec, departure=(DepartureEntry(("P2.worlds.slots:development/*",), "a test"),))
    shown = audit_cohort(declared)
    (line,) = shown.lines
    assert (line.matches, line.departs, line.passes) == (False, True, True)
    assert any(
        "· eligible" in text and "DIFFERS, as the spec says" in text for text in cohort_lines(audit_cohort(declared))
    )
    assert cohort_json(audit_cohort(declared))["cells"][0]["departs"] is True


def test_a_departure_that_is_reached_fails() -> None:
    departure = DepartureEntry(("P2.worlds.slots:development/eligible",), "a test")
    audited = audit_cohort(evolve(find_cohort("development"), departure=(departure,)))
    assert not audited.passes
    assert any("MATCHES, although the spec says that it departs" in text for text in cohort_lines(audited))


def test_goldens_notice_every_change_of_a_law() -> None:
    spec = find_cohort("diagnostic")
    file = cohort_golden_path(spec, "diagnostic")
    assert check_subject(spec, file, CohortQuantities(spec)).matches
    generator = spec.generator["noisy-sensor"]
    moved = evolve(spec, generator={**spec.generator, "noisy-sensor": evolve(generator, counts=(0, 99))})
    result = check_subject(moved, file, CohortQuantities(moved))
    assert not result.law_matches
    wrong = {cell.cell.quantity for cell in result.cells if not cell.matches}
    assert {"diagnostic/hashes", "diagnostic/worlds", "diagnostic/posteriors", "diagnostic/requests"} <= wrong
    fewer = evolve(spec, variants=spec.variants[:-1])
    assert not check_subject(fewer, file, CohortQuantities(fewer)).text_matches


def test_goldens_pin_hashes_posteriors_eligibility_and_quotas() -> None:
    for name in ("primary", "headroom"):
        spec = find_cohort(name)
        golden = read_golden(cohort_golden_path(spec, name))
        pinned = {cell.quantity: cell.value for cell in golden.cells}
        assert {f"{name}/hashes", f"{name}/posteriors", f"{name}/eligible", f"{name}/undefined-roots"} <= set(pinned)
        assert {cell.kind for cell in golden.cells} == {"computed"}
        for quota in spec.quota:
            assert pinned[f"{name}/quota/{quota.name}"] == str(quota.roots)


def test_a_users_cohort_is_pinned_beside_its_file_and_changed_by_name(tmp_path: Path) -> None:
    spec = evolve(find_cohort("diagnostic"), id="mine")
    file = cohort_golden_path(spec, tmp_path / "mine.toml")
    assert file == tmp_path / "mine.golden.json"
    quantities = CohortQuantities(spec)
    golden = add_world(spec, file, quantities)
    assert len(golden.cells) == len(list(quantities.pinned()))
    assert check_subject(spec, file, quantities).matches
    assert audit_cohort(spec, tmp_path / "mine.toml").passes
    other = evolve(spec, seed="5")
    with pytest.raises(GoldenError, match="another law"):
        add_world(other, file, CohortQuantities(other))
    moved = [cell.cell.id for cell in check_subject(other, file, CohortQuantities(other)).cells if not cell.matches]
    with pytest.raises(GoldenError, match="these cells moved too"):
        replace_cells(other, file, CohortQuantities(other), only=moved[:1], reason="test", date="2026-01-01")
    replace_cells(other, file, CohortQuantities(other), only=[*moved, "law"], reason="test", date="2026-01-01")
    assert check_subject(other, file, CohortQuantities(other)).matches


def test_uneven_quotas_are_shown_stratum_by_stratum() -> None:
    bins = (QuotaTable("all", Exact("1/2", Fraction(1, 2)), Exact("1", Fraction(1)), 2),)
    quantities = CohortQuantities(evolve(find_cohort("diagnostic"), quota=bins))
    assert value_text(quantities.value("diagnostic/quota/all")) == "2"
    plain = CohortQuantities(find_cohort("diagnostic"))
    object.__setattr__(plain.spec, "quota", bins)
    counts = value_text(plain.value("diagnostic/quota/all")).split(", ")
    object.__setattr__(plain.spec, "quota", ())
    assert len(counts) == 8


@pytest.mark.parametrize("quantity", ["primary/none", "other/roots", "primary/eligible/none", "primary/relation/none"])
def test_unknown_quantities_are_not_found(quantity: str) -> None:
    quantities = CohortQuantities(evolve(find_cohort("diagnostic"), id="primary"))
    with pytest.raises(NotFound):
        quantities.value(quantity)
    with pytest.raises(NotFound):
        example_value("example/none")
    with pytest.raises(NotFound):
        relation_value("relations/none")


def test_the_search_finds_what_the_specs_hold() -> None:
    """The searches are reproducible: what the files hold is among what they find today."""
    firsts = {
        name: [entry.first for _, _, entry in find_cohort(name).strata()]
        for name in ("primary", "headroom", "development")
    }
    assert firsts["primary"] in fit_primary(find_cohort("primary"))
    assert firsts["headroom"] in fit_headroom(find_cohort("headroom"))
    assert firsts["development"] in fit_development(find_cohort("development"))
    assert str(fit_subset(find_cohort("subset"), 100)) == find_cohort("subset").seed


def test_the_ranges_of_the_specs_are_the_nearest_candidates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ranges"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 24
    table = find_cohort("primary").generator["noisy-sensor"]
    low, high = table.counts
    wanted = f"{low}–{high}  {' '.join(likelihood.raw for likelihood in table.likelihoods)}  "
    assert wanted in lines[1]
    assert main(["else"]) == 2
    assert "expected one of" in capsys.readouterr().err


def test_the_search_says_in_its_exit_code_whether_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    places = [7] * len(list(find_cohort("development").strata()))
    for found, code in (([places], 0), ([], 1)):
        monkeypatch.setattr("exactworlds.contract.calibrate.fit_development", lambda spec, found=found: found)
        assert main(["development"]) == code
