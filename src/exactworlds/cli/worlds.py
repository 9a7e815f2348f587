"""The commands about worlds: verify, check, show."""

from __future__ import annotations

from typing import Annotated

import typer

from exactworlds.audit.certificates import certificate_lines, certificates_json
from exactworlds.audit.claims import claims_json, claims_lines
from exactworlds.audit.cohort_text import cohort_json, cohort_lines, contracts_json, contracts_lines
from exactworlds.audit.cohorts import CohortAudit, ContractsAudit, audit_cohort, audit_contracts
from exactworlds.audit.portrait import check_lines, portrait_json, setting_portrait, show_lines
from exactworlds.audit.text import papers_json, papers_lines, world_json, world_lines
from exactworlds.audit.verify import Line, PapersAudit, WorldAudit, audit_papers, audit_world
from exactworlds.cli.output import print_json, print_lines, progress
from exactworlds.engine.admit import ENUMERATION_LIMIT, admit
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import ExactworldsError, NotFound
from exactworlds.golden.check import golden_path
from exactworlds.memo.certify import certify
from exactworlds.spec.bundled import find_world, world_names
from exactworlds.spec.claims import load_claims
from exactworlds.spec.cohorts import cohort_names, find_cohort
from exactworlds.spec.digest import law_digest, text_digest

__all__ = ["check", "show", "verify"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Worlds = Annotated[
    list[str] | None,
    typer.Argument(
        help="Bundled worlds or cohorts by name, or world files; - is standard input. Everything bundled if none."
    ),
]


def verify(
    worlds: Worlds = None,
    claims: Annotated[bool, typer.Option("--claims", help="Print the claims and what stands behind each.")] = False,
    as_json: Json = False,
) -> None:
    """Compare every printed and every pinned value with the exact one.

    Exit code 0 if all match, 1 if any does not, 2 if something cannot be read.
    """
    if claims:
        _print_claims(as_json)
        return
    audits: list[WorldAudit] = []
    cohorts: list[CohortAudit] = []
    papers: PapersAudit | None = None if worlds else audit_papers()
    contracts: ContractsAudit | None = None
    failed: list[str] = []
    for name in worlds or world_names():
        try:
            if name in cohort_names():
                cohorts.append(audit_cohort(find_cohort(name)))
                if not as_json:
                    print_lines([*cohort_lines(cohorts[-1]), ""])
                continue
            world, source = find_world(name)
            with progress(world.id) as told:
                audits.append(
                    audit_world(
                        world,
                        source,
                        golden_path(world, source),
                        golden_is_due=world.id in world_names(),
                        progress=told,
                    )
                )
        except ExactworldsError as error:
            failed.append(str(error))
            continue
        if not as_json:
            print_lines([*world_lines(audits[-1]), ""])
    if not worlds:
        with progress("contracts") as told:
            contracts = audit_contracts(told)
        if not as_json:
            print_lines([*contracts_lines(contracts), ""])
    passes = all(audit.passes for audit in audits) and all(audit.passes for audit in cohorts)
    passes = passes and (contracts is None or contracts.passes) and (papers is None or papers.passes)
    if as_json:
        print_json(
            {
                "format": "exactworlds/verify/1",
                "passes": passes and not failed,
                "worlds": [world_json(audit) for audit in audits],
                **({"cohorts": [cohort_json(audit) for audit in cohorts]} if cohorts else {}),
                "contracts": contracts_json(contracts) if contracts else None,
                "papers": papers_json(papers) if papers else None,
                "errors": failed,
            }
        )
    else:
        if papers:
            print_lines([*papers_lines(papers), ""])
        print_lines(_verdict(audits, cohorts, contracts, papers))
    _end(failed, passes)


def _print_claims(as_json: bool) -> None:
    if as_json:
        print_json(claims_json(load_claims()))
    else:
        print_lines(claims_lines(load_claims()))


def _verdict(
    audits: list[WorldAudit],
    cohorts: list[CohortAudit],
    contracts: ContractsAudit | None,
    papers: PapersAudit | None,
) -> list[str]:
    lines: list[Line] = [line for audit in audits for line in audit.lines]
    lines += [line for audit in cohorts for line in audit.lines]
    lines += contracts.all_lines if contracts else ()
    printed = [line for line in lines if line.cell.printed is not None]
    matching = sum(line.matches for line in printed)
    unread = len(lines) - len(printed)
    departing = sum(line.departs and not line.matches for line in printed)
    bad = [audit.world.id for audit in audits if not audit.passes]
    bad += [audit.spec.id for audit in (*cohorts, *(contracts.cohorts if contracts else ())) if not audit.passes]
    if contracts and (contracts.sharing or not all(line.passes for line in contracts.lines)):
        bad.append("contracts")
    if papers and not papers.passes:
        bad.append("the papers' arithmetic or transcription")
    found = (
        f"{matching} of {len(printed)} printed values match, {unread} more are computed (not readable in the source)"
        + (f", {departing} differ as the specs say" if departing else "")
    )
    return [f"✗ {found}; failing: {', '.join(bad)}" if bad else f"✓ {found}; engines and goldens agree"]


def check(
    files: Annotated[list[str], typer.Argument(help="World files, or bundled worlds by name; - is standard input.")],
    as_json: Json = False,
) -> None:
    """Admit a world, or say exactly why not, certify its memos, and show what it is.

    Exit code 0 if every world is admitted, 1 if one is refused by the engines or its memos, 2 if one cannot be read.
    """
    failed: list[str] = []
    found = []
    passes = True
    for name in files:
        try:
            world, _ = find_world(name)
            with progress(world.id) as told:
                admission = admit(world, progress=told)
                certificates = certify(world, lambda done, total: told("certifying memos", done, total))
        except ExactworldsError as error:
            failed.append(str(error))
            continue
        scaled = ScaledWorld(world)
        portraits = [setting_portrait(scaled, setting) for setting in world.settings]
        passes = passes and admission.admitted and all(certificate.holds for certificate in certificates)
        if as_json:
            memos = certificates_json(certificates)
            found.append({**portrait_json(world, portraits), "admitted": admission.admitted, "memos": memos})
            continue
        notes = certificate_lines(certificates)
        if not admission.enumerated:
            limit = f"{ENUMERATION_LIMIT:,}"
            notes.append(f"enumerate did not run: {world.states_with_residual:,} states, it visits at most {limit}")
        print_lines(check_lines(world, portraits, admission, notes))
    if as_json:
        print_json(
            {"format": "exactworlds/check/1", "passes": passes and not failed, "worlds": found, "errors": failed}
        )
    _end(failed, passes)


def show(
    world_name: Annotated[str, typer.Argument(metavar="WORLD", help="A bundled world by name, or a world file.")],
    setting: Annotated[str | None, typer.Option(help="One setting, with a larger plot.")] = None,
    digest: Annotated[bool, typer.Option("--digest", help="Print the two digests only.")] = False,
    as_json: Json = False,
) -> None:
    """Show what a world is: its question, what is visible, its exact figures, and how p*(1|x) is distributed."""
    world, _ = find_world(world_name)
    if digest:
        digests = {"law": law_digest(world), "text": text_digest(world)}
        if as_json:
            print_json(digests)
        else:
            print_lines(f"{name:<5} {value}" for name, value in digests.items())
        return
    if setting is not None and setting not in world.settings:
        raise NotFound("setting", setting, world.settings)
    scaled = ScaledWorld(world)
    portraits = [setting_portrait(scaled, name) for name in ([setting] if setting else world.settings)]
    if as_json:
        print_json(portrait_json(world, portraits))
    else:
        print_lines(show_lines(world, portraits, full=setting is not None))


def _end(failed: list[str], passes: bool) -> None:
    """Errors on standard error and exit code 2; a failed check is exit code 1."""
    for message in failed:
        typer.echo(f"error: {message}" if "\n" not in message else message, err=True)
    if failed:
        raise typer.Exit(2)
    if not passes:
        raise typer.Exit(1)
