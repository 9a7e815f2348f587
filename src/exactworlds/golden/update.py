"""The one way to change goldens: add what is new, replace what is named, with a reason that stays in the file.

There is no update-all. Published cells are never replaced: a printed value changes by an erratum of the paper, and
then by hand, in `published.toml` and in the golden file, with the erratum in the cell's history. A computed cell whose
world changed is accepted only together with every other cell that the change moved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from attrs import evolve

from exactworlds.errors import GoldenError
from exactworlds.golden.check import Pinnable, Subject, check_cells, subject_digests
from exactworlds.golden.quantities import value_text
from exactworlds.golden.store import FORMAT, Change, GoldenCell, GoldenFile, read_golden, write_golden
from exactworlds.spec.published import Published

__all__ = ["DIGESTS", "add_world", "published_golden", "replace_cells"]

DIGESTS = ("law", "text")
"""The ids that stand for the digests themselves in `replace_cells`."""


def add_world(world: Subject, file: Path, quantities: Pinnable, derived: Iterable[GoldenCell] = ()) -> GoldenFile:
    """Pins a world or cohort that is not pinned yet, or what is new of one; nothing that is pinned is touched."""
    law, text = subject_digests(world)
    old = read_golden(file) if file.exists() else GoldenFile(FORMAT, world.id, law, text, ())
    if old.subject != world.id:
        raise GoldenError(f"{file}: pins {old.subject!r}, found the world {world.id!r}")
    if (old.law, old.text) != (law, text):
        raise GoldenError(
            f"{file}: is bound to another law or text digest; use 'golden replace --only ID --reason TEXT'"
        )
    known = {cell.id for cell in old.cells}
    new = [
        GoldenCell(quantity, quantity, claim, "computed", value_text(quantities.value(quantity)))
        for quantity, claim in quantities.pinned()
        if quantity not in known
    ]
    given = list(derived)
    for cell in given:
        if cell.kind != "derived":
            raise GoldenError(f"found a {cell.kind} cell {cell.id!r} among the derived ones, expected derived cells")
        if cell.id in known:
            raise GoldenError(f"{file}: the cell {cell.id!r} is pinned already; use 'golden replace'")
    golden = evolve(old, cells=(*old.cells, *given, *new))
    wrong = [result for result in check_cells(golden, quantities) if not result.matches]
    if wrong:
        listed = ", ".join(result.cell.id for result in wrong[:6])
        raise GoldenError(f"{file}: {listed}: pinned values differ from what is computed; nothing was written")
    write_golden(file, golden)
    return golden


def replace_cells(
    world: Subject, file: Path, quantities: Pinnable, *, only: Collection[str], reason: str, date: str
) -> GoldenFile:
    """Sets the named cells to what is computed now, and both digests to the world's; "law" and "text" name a digest.

    Refuses published and derived cells, unknown ids, an empty reason, and a change that would leave other cells wrong.
    """
    if not only or not reason.strip():
        raise GoldenError("golden replace wants --only ID (one or more) and --reason TEXT")
    old = read_golden(file)
    by_id = {cell.id: cell for cell in old.cells}
    unknown = [name for name in only if name not in by_id and name not in DIGESTS]
    if unknown:
        raise GoldenError(f"{file}: has no cell {', '.join(unknown)}")
    kept = [name for name in only if name in by_id and by_id[name].kind != "computed"]
    if kept:
        kinds = ", ".join(f"{name} is {by_id[name].kind}" for name in kept)
        raise GoldenError(f"{file}: {kinds}; only computed cells can be replaced")
    results = check_cells(old, quantities)
    others = [result.cell.id for result in results if not result.matches and result.cell.id not in only]
    if others:
        raise GoldenError(f"{file}: these cells moved too and must be named (or mended): {', '.join(others)}")
    cells = []
    for result in results:
        cell = result.cell
        if cell.id in only and result.found is not None and not result.matches:
            cell = evolve(cell, value=result.found, history=(*cell.history, Change(cell.value, date, reason)))
        cells.append(cell)
    law, text = subject_digests(world)
    golden = evolve(old, law=law, text=text, cells=tuple(cells))
    changed = [was or "" for was, now in ((old.law, golden.law), (old.text, golden.text)) if was != now]
    history = (*old.digest_history, *(Change(was, date, reason) for was in changed))
    golden = evolve(golden, digest_history=history)
    if golden == old:
        raise GoldenError(f"{file}: the named cells have not moved; nothing was written")
    write_golden(file, golden)
    return golden


def published_golden(published: Published) -> GoldenFile:
    """The golden file that pins the transcription of the papers' values."""
    cells = [
        GoldenCell(cell.id, cell.quantity, cell.group.claim, "published", cell.printed)
        for cell in published.cells()
        if cell.printed is not None
    ]
    identities = [
        GoldenCell(f"identity:{name}", f"identity/{name}", "E.criterion", "published", text)
        for name, text in published.identity.items()
    ]
    return GoldenFile(FORMAT, "papers", None, None, (*cells, *identities))
