"""The audit: every printed and every pinned value beside what is computed, and why it can be trusted.

For each world: admission by the three engines, the papers' cells with the evidence that the spec's provenance gives
them, and the golden cells. For the papers: their own arithmetic. What is not here: how it looks (`audit.text`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Literal

from attrs import field, frozen

from exactworlds.audit.identities import Identity, check_identity
from exactworlds.engine.admit import Admission, Progress, admit
from exactworlds.engine.entropy import Interval
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import GoldenError, InvalidArgument, NotFound
from exactworlds.golden.check import GoldenResult, check_world
from exactworlds.golden.quantities import Quantities, Value, value_text
from exactworlds.golden.store import read_golden
from exactworlds.golden.update import published_golden
from exactworlds.rational import decimal_digits, matches_printed, parse_decimal
from exactworlds.spec.bundled import golden_folder
from exactworlds.spec.digest import law_digest, text_digest
from exactworlds.spec.document import ProvenanceEntry
from exactworlds.spec.published import PublishedCell, load_published
from exactworlds.spec.world import World

__all__ = [
    "Evidence",
    "Line",
    "PapersAudit",
    "WorldAudit",
    "audit_papers",
    "audit_world",
    "evidence",
    "evidence_of",
    "matches_cell",
]

SHOWN_DIGITS = 18
Evidence = Literal["independent", "identifies", "calibrated to this cell", "transcribed", "not readable in the source"]


@frozen
class Line:
    """A printed cell beside the exact value."""

    cell: PublishedCell
    value: Value
    difference: Fraction | None
    evidence: Evidence
    matches: bool
    departs: bool = False

    @property
    def passes(self) -> bool:
        """Whether it matches, or does not and is said not to; a departure that matches is a fault of the spec."""
        return self.matches != self.departs

    @property
    def exact(self) -> str:
        """The decimal expansion, to at least 15 digits unless it ends before, or the text."""
        if isinstance(self.value, Fraction):
            whole = self.value.denominator == 1
            return str(self.value) if whole else decimal_digits(self.value, SHOWN_DIGITS)
        return self.value.digits(SHOWN_DIGITS) if isinstance(self.value, Interval) else self.value

    @property
    def fraction(self) -> str | None:
        """The fraction in lowest terms; None for an entropy, which is irrational, and for a text."""
        return value_text(self.value) if isinstance(self.value, Fraction) else None


@frozen
class WorldAudit:
    """All that was checked of one world."""

    world: World
    source: str
    law: str
    text: str
    admission: Admission
    lines: tuple[Line, ...]
    golden: GoldenResult | None
    golden_error: str | None
    golden_is_due: bool

    @property
    def passes(self) -> bool:
        lines = all(line.passes for line in self.lines)
        golden = self.golden.matches if self.golden else not self.golden_is_due
        return self.admission.admitted and lines and golden


@frozen
class PapersAudit:
    """The papers' own arithmetic, and whether the transcription is the pinned one."""

    identities: Mapping[str, Identity]
    transcription: tuple[str, ...] = field(default=())

    @property
    def passes(self) -> bool:
        return not self.transcription and all(identity.holds for identity in self.identities.values())


def audit_world(
    world: World,
    source: Path | str,
    golden_file: Path,
    *,
    golden_is_due: bool,
    progress: Progress | None = None,
    enumerated_scales: tuple[str, ...] = ("1",),
) -> WorldAudit:
    """Admits a world, compares it with what is printed of it, and checks its goldens.

    `golden_is_due` says whether a missing golden file is a failure (bundled worlds) or just news (a user's own).
    """
    scaled = ScaledWorld(world)
    admission = admit(world, exact=scaled, enumerated_scales=enumerated_scales, progress=progress)
    quantities = Quantities(world, scaled)
    for (setting, scale), found in admission.figures.items():  # computed once, compared with three things
        quantities.know(f"{world.id}/{setting}/{scale}/bayes-error", found.bayes_error)
        quantities.know(f"{world.id}/{setting}/{scale}/entropy-bits", found.entropy)
        quantities.know(f"{world.id}/{scale}/prior", found.prior)
    lines = tuple(_line(world, cell, quantities, admission) for cell in load_published().cells(world.id))
    golden, golden_error = None, None
    try:
        golden = check_world(world, golden_file, quantities)
    except GoldenError as error:
        golden_error = str(error)
        golden_is_due = golden_is_due or golden_file.exists()  # a damaged file never passes
    return WorldAudit(
        world=world,
        source=str(source),
        law=law_digest(world),
        text=text_digest(world),
        admission=admission,
        lines=lines,
        golden=golden,
        golden_error=golden_error,
        golden_is_due=golden_is_due,
    )


def audit_papers() -> PapersAudit:
    """Checks the papers' own arithmetic, and that the transcription equals its golden file cell by cell."""
    published = load_published()
    identities = {name: check_identity(line) for name, line in published.identity.items()}
    return PapersAudit(identities, tuple(_transcription_faults()))


def _transcription_faults() -> Iterator[str]:
    try:
        pinned = read_golden(golden_folder() / "papers" / "published.json")
    except GoldenError as error:
        yield str(error)
        return
    now = {cell.id: cell.value for cell in published_golden(load_published()).cells}
    then = {cell.id: cell.value for cell in pinned.cells}
    for name in dict.fromkeys([*then, *now]):
        if then.get(name) != now.get(name):
            yield f"{name}: published.toml says {now.get(name)}, the golden file says {then.get(name)}"


def _line(world: World, cell: PublishedCell, quantities: Quantities, admission: Admission) -> Line:
    try:
        value = quantities.value(cell.quantity)
    except (NotFound, InvalidArgument) as error:  # a changed copy may lack what is printed of the original
        return Line(cell, f"none ({error})", None, evidence(world, cell), matches=False)
    matches = cell.printed is None or matches_cell(value, cell.printed, cell.group.compare)
    return Line(cell, value, _difference(cell.quantity, admission), evidence(world, cell), matches)


def matches_cell(value: Value, printed: str, compare: Literal["rounded", "exact", "text"]) -> bool:
    """Whether a value is the printed one, as its group compares."""
    if isinstance(value, str) or compare == "text":
        return value == printed
    if compare == "exact":
        return value == parse_decimal(printed)
    ends = (value.low, value.high) if isinstance(value, Interval) else (value,)
    return all(matches_printed(end, printed) for end in ends)


def evidence(world: World, cell: PublishedCell) -> Evidence:
    """What a match shows, by the provenance of the world's numbers.

    A cell that numbers were calibrated to shows only that they do what they were chosen for; one that forced a number
    identifies it; one that the spec copies shows that the copy is faithful; any other match is independent. A quantity
    that is printed twice is one quantity: what holds for one of its cells holds for all.
    """
    return evidence_of(world.provenance.values(), cell, transcribed=Quantities.is_transcribed(cell.quantity))


def evidence_of(entries: Iterable[ProvenanceEntry], cell: PublishedCell, *, transcribed: bool) -> Evidence:
    """`evidence` for any spec with provenance; `transcribed` says whether the quantity reads the spec back."""
    if cell.printed is None:
        return "not readable in the source"
    same = [other.id for other in load_published().cells(cell.world) if other.quantity == cell.quantity]
    kinds = {
        entry.kind for entry in entries if any(fnmatchcase(name, pattern) for pattern in entry.cells for name in same)
    }
    if "calibrated" in kinds:
        return "calibrated to this cell"
    if "forced" in kinds:
        return "identifies"
    return "transcribed" if transcribed else "independent"


def _difference(quantity: str, admission: Admission) -> Fraction | None:
    """How far the second path is from the exact value; None where there is only one way to the value."""
    match quantity.split("/")[1:]:
        case [scale, "prior"]:
            found = [entry.prior for (_, at), entry in admission.comparisons.items() if at == scale]
            return max(found, default=None)
        case [setting, scale, ("bayes-error" | "entropy-bits") as figure]:
            entry = admission.comparisons.get((setting, scale))
            if entry is None:
                return None
            return entry.bayes_error if figure == "bayes-error" else entry.entropy
        case _:
            return None
