"""The command `cases`: draw cases from a world and write a task folder."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from exactworlds.cli.output import print_json, print_lines, progress
from exactworlds.errors import NotFound, UsageError
from exactworlds.files.case_task import CaseTask, Interface, write_case_task
from exactworlds.spec.bundled import find_world

__all__ = ["cases"]

STRONG_BITS = 128


def cases(  # noqa: PLR0917  # a command's options are named by whoever types them
    world_name: Annotated[str, typer.Argument(metavar="WORLD", help="A bundled world by name, or a world file.")],
    setting: Annotated[str, typer.Option(help="What the memos show.")],
    n: Annotated[int, typer.Option("--n", help="How many cases to evaluate on.")],
    seed: Annotated[str, typer.Option(help="A whole number, or 'random' for 128 bits from the system.")],
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    shots: Annotated[int, typer.Option(help="Demonstrations a case: the first rows of the pool.")] = 0,
    template: Annotated[str | None, typer.Option(help="The world's first template if none is named.")] = None,
    interface: Annotated[str, typer.Option(help="event (probability of yes) or choice (of two options).")] = "event",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Draw cases exactly and write a task folder: requests, and apart from them the targets."""
    world, _ = find_world(world_name)
    if setting not in world.settings:
        raise NotFound("setting", setting, world.settings)
    if not world.templates:
        raise UsageError(f"{world.id} has no template, expected at least one [template.NAME] in its file")
    chosen = template if template is not None else next(iter(world.templates))
    if chosen not in world.templates:
        raise NotFound("template", chosen, world.templates)
    kinds: dict[str, Interface] = {"event": "event", "choice": "choice"}
    if interface not in kinds:
        raise NotFound("interface", interface, kinds)
    canonical = _seed(seed)
    task = CaseTask(world, setting, chosen, canonical, n, shots, kinds[interface])
    with progress(f"{world.id} {setting}") as told:
        write_case_task(task, out, told)
    if int(canonical).bit_length() < STRONG_BITS - 8:
        sys.stderr.write(
            "note: anyone can try all seeds as short as this one and find the labels; "
            "for a task that will be published, use --seed random\n"
        )
    if as_json:
        print_json({"task": str(out), "cases": n, "shots": shots, "template": chosen})
    else:
        print_lines([f"✓ {out}: {n:,} cases of {world.id} {setting}, {shots} shots, template {chosen}"])


def _seed(text: str) -> str:
    """The canonical text of a seed."""
    if text == "random":
        return str(secrets.randbits(STRONG_BITS))
    if not (text.isascii() and text.isdecimal()) or len(text) > 100:
        raise UsageError(f"found the seed {text!r}, expected a whole number of at most 100 digits, or 'random'")
    return str(int(text))
