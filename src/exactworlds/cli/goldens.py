"""The commands about goldens: golden check, golden add, golden replace."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

import typer

from exactworlds.audit.verify import audit_papers
from exactworlds.cli.output import print_json, print_lines
from exactworlds.errors import GoldenError, UsageError
from exactworlds.files.strict_json import parse_json
from exactworlds.golden.check import (
    GoldenResult,
    Pinnable,
    Subject,
    check_subject,
    cohort_golden_path,
    golden_path,
)
from exactworlds.golden.cohort_quantities import CohortQuantities
from exactworlds.golden.quantities import Quantities
from exactworlds.golden.store import GoldenCell, read_golden, write_golden
from exactworlds.golden.update import add_world, published_golden, replace_cells
from exactworlds.spec.bundled import find_world, golden_folder, world_names
from exactworlds.spec.cohorts import cohort_names, find_cohort
from exactworlds.spec.published import load_published
from exactworlds.spec.reading import read_bytes

__all__ = ["app"]

PAPERS = "papers"

app = typer.Typer(help="Check, add or replace pinned values.", no_args_is_help=True)
World = Annotated[
    str, typer.Argument(metavar="WORLD", help="A bundled world or cohort by name, a world file, or 'papers'.")
]


def _subject(name: str) -> tuple[Subject, Pinnable, Path | None]:
    """A world or cohort with its quantities and its golden file; None for standard input, which has no place."""
    if name in cohort_names():
        spec = find_cohort(name)
        return spec, CohortQuantities(spec), cohort_golden_path(spec, name)
    world, source = find_world(name)
    return world, Quantities(world), None if source == "-" else golden_path(world, source)


@app.command()
def check(
    worlds: Annotated[
        list[str] | None, typer.Argument(help="Worlds and cohorts; all bundled ones and the papers if none.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Compare pinned values with what is computed. Exit code 0 if all match, 1 if not, 2 if a file is missing."""
    passes, rows = True, []
    for name in worlds or [PAPERS, *world_names(), *cohort_names()]:
        if name == PAPERS:
            faults = list(audit_papers().transcription)
        else:
            subject, quantities, file = _subject(name)
            faults = _faults(check_subject(subject, _placed(file), quantities))
        passes = passes and not faults
        rows.append({"subject": name, "faults": faults})
        if not as_json:
            print_lines([f"✗ {name}: {fault}" for fault in faults] or [f"✓ {name}: as pinned"])
    if as_json:
        print_json({"format": "exactworlds/golden-check/1", "passes": passes, "subjects": rows})
    if not passes:
        raise typer.Exit(1)


def _placed(file: Path | None) -> Path:
    if file is None:
        raise UsageError("goldens want a file: standard input has no place to put a golden file beside")
    return file


def _faults(result: GoldenResult) -> list[str]:
    faults = []
    if not result.law_matches:
        faults.append(f"bound to the law digest {result.golden.law}, found {result.law}")
    if not result.text_matches:
        faults.append(f"bound to the text digest {result.golden.text}, found {result.text}")
    faults += [f"{quantity} is not pinned" for quantity in result.missing]
    faults += [
        f"{cell.cell.id}: pinned {cell.cell.value}, found {cell.found}" for cell in result.cells if not cell.matches
    ]
    return faults


@app.command()
def add(
    name: World,
    derived: Annotated[
        Path | None, typer.Option(help="A JSON list of derived cells, obtained without this package.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Pin what is not pinned yet. What is pinned stays as it is."""
    if name == PAPERS:
        file = golden_folder() / "papers" / "published.json"
        old = read_golden(file).cells if file.exists() else ()
        golden = published_golden(load_published())
        changed = [cell.id for cell in old if cell not in golden.cells]
        if changed:
            raise GoldenError(f"{file}: {', '.join(changed[:6])}: a published value changes only by an erratum")
        write_golden(file, golden)
    else:
        subject, quantities, place = _subject(name)
        file = _placed(place)
        golden = add_world(subject, file, quantities, _derived(derived) if derived else ())
    if as_json:
        print_json({"file": str(file), "cells": len(golden.cells)})
    else:
        print_lines([f"✓ {file}: {len(golden.cells)} cells are pinned"])


def _derived(file: Path) -> list[GoldenCell]:
    try:
        raw = parse_json(read_bytes(file).decode("utf-8"), floats=False)
        return [GoldenCell(**entry) for entry in raw]
    except (ValueError, TypeError) as error:
        raise GoldenError(f"{file}: not a JSON list of derived cells: {error}") from None


@app.command()
def replace(
    name: World,
    only: Annotated[list[str], typer.Option(help="The id of a cell to replace, or 'law' or 'text'; can be repeated.")],
    reason: Annotated[str, typer.Option(help="Why; it stays in the file.")],
) -> None:
    """Set named computed cells to what is computed now, with a reason that stays in the file."""
    if name == PAPERS:
        raise GoldenError("published cells cannot be replaced: a printed value changes only by an erratum, by hand")
    subject, quantities, place = _subject(name)
    file = _placed(place)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    replace_cells(subject, file, quantities, only=only, reason=reason, date=today)
    print_lines([f"✓ {file}: replaced {', '.join(only)}"])
