"""The command `contracts`: draw a cohort of probability contracts and write a task folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exactworlds.cli.output import print_json, print_lines, progress
from exactworlds.contract.cohorts import count_slots
from exactworlds.files.contract_task import write_contract_task
from exactworlds.spec.cohorts import find_cohort

__all__ = ["contracts"]


def contracts(
    cohort: Annotated[str, typer.Option(help="A bundled cohort by name, or a cohort file.")],
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    seed: Annotated[str | None, typer.Option(help="A whole number; the cohort's own seed if none.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Draw a cohort and write a task folder: all eligible requests, and apart from them what they mean."""
    spec = find_cohort(cohort)
    with progress(spec.id) as told:
        drawn = write_contract_task(spec, out, seed, told)
    slots = count_slots(drawn)
    if as_json:
        print_json(
            {
                "task": str(out),
                "cohort": spec.id,
                "roots": len(drawn.roots),
                "intended": slots.intended,
                "undefined": list(slots.undefined),
                "eligible": slots.eligible,
                "by_variant": dict(slots.by_variant),
            }
        )
        return
    variants = len(slots.by_variant)
    lines = [
        f"✓ {out}: {slots.eligible:,} requests of {spec.id}",
        f"  {len(drawn.roots):,} roots × {variants} variants = {slots.intended:,} intended slots",
        f"  − {len(slots.undefined)} undefined conditionals = {slots.eligible:,} eligible requests",
    ]
    lines += [f"    {variant:<14} {count:>6,} eligible" for variant, count in slots.by_variant.items()]
    if slots.undefined:
        lines.append(f"  undefined at: {', '.join(slots.undefined)}")
    print_lines(lines)
