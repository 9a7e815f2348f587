"""Cohorts of contract roots: how many roots of which kind, asked how, at which costs, drawn from which ranges.

A file either draws its own roots (`generator`, `stratum`, perhaps `quota`) or takes some of another cohort's
(`subset`). Every number has a provenance, as in world files. A printed value that the cohort does not reach is named
under `departure`, so that it is shown as differing and never hidden. What is not here: drawing (`contract`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from attrs import fields, frozen

from exactworlds.errors import InvalidSpec, NotFound, Problem, shorten
from exactworlds.spec.bundled import spec_folder
from exactworlds.spec.digest import digest_of
from exactworlds.spec.document import Description, Exact, ProvenanceEntry
from exactworlds.spec.reading import parse_toml, read_bytes, structure, unknown_keys
from exactworlds.spec.resolve import Findings
from exactworlds.spec.resolve_texts import resolve_provenance

__all__ = [
    "ENCODINGS",
    "GENERATORS",
    "VARIANTS",
    "CohortSpec",
    "DepartureEntry",
    "Encoding",
    "GeneratorName",
    "GeneratorTable",
    "QuotaTable",
    "StratumTable",
    "SubsetTable",
    "Variant",
    "cohort_law_digest",
    "cohort_names",
    "cohort_text_digest",
    "find_cohort",
    "load_cohort",
    "parse_cohort",
]

GeneratorName = Literal["finite-population", "noisy-sensor", "joint-attributes", "missing-rule"]
Encoding = Literal["joined", "nested"]
Variant = Literal[
    "canonical",
    "event",
    "choice",
    "repeat",
    "complement",
    "b",
    "intersection",
    "conditional",
    "permuted",
    "layout",
    "opaque",
    "metadata",
]
GENERATORS: tuple[GeneratorName, ...] = get_args(GeneratorName)
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
VARIANTS: tuple[Variant, ...] = get_args(Variant)
OBSERVED = ("none", "false", "true")
"""What an observation can say: nothing, that the attribute is False, that it is True."""
LARGEST_COUNT = 10**9
TEXTS = "exactworlds/contract-texts/1"
"""The version of the sentences and layouts of `contract`; the text digest of every cohort covers it."""


def _about(text: str) -> Description:
    return Description(text)


@frozen
class GeneratorTable:
    """The ranges that one generator draws from; every draw is uniform."""

    counts: Annotated[tuple[int, int], _about("the smallest and the largest count of a cell, inclusive")]
    observed: Annotated[
        Mapping[str, int], _about("weights of none, false and true: what is observed of the generator's attribute")
    ] = {}
    likelihoods: Annotated[
        tuple[Exact, ...], _about("the values that the likelihood of a sensor's reading takes, with repeats as weights")
    ] = ()


@frozen
class StratumTable:
    """One generator with one encoding."""

    roots: int
    first: Annotated[int, _about("the index of the stratum's first draw in its stream")] = 0


@frozen
class QuotaTable:
    """How many roots of each stratum have max(q(A), 1 − q(A)) in [low, high); q(A) = 0 and 1 never count."""

    name: str
    low: Exact
    high: Exact
    roots: int


@frozen
class SubsetTable:
    """Roots taken from another cohort: in each stratum those whose drawn numbers are smallest."""

    of: Annotated[str, _about("the id of the cohort that they are taken from")]
    roots: Annotated[int, _about("how many a stratum")]


@frozen
class DepartureEntry:
    """Printed cells that this cohort does not reach; one that it does reach may not stand here."""

    cells: tuple[str, ...]
    why: str


@frozen
class CohortSpec:
    """A cohort file."""

    format: Literal["exactworlds/cohort/1"]
    id: str
    title: str
    seed: Annotated[str, _about("a whole number; every draw depends on it")]
    variants: Annotated[tuple[str, ...], _about("the requests of each root")]
    primary_cost: Annotated[Exact, _about("the cost of deferring at which the cohort is reported first")]
    costs: Annotated[Mapping[str, tuple[Exact, ...]], _about("cost grids by name; they are never pooled")]
    provenance: tuple[ProvenanceEntry, ...]
    description: str = ""
    estimated: Annotated[bool, _about("false: the cohort is left out of every estimate")] = True
    disjoint_from: Annotated[tuple[str, ...], _about("cohorts that may share no root with this one")] = ()
    generator: Mapping[str, GeneratorTable] = {}
    stratum: Annotated[Mapping[str, Mapping[str, StratumTable]], _about("by generator and encoding")] = {}
    quota: tuple[QuotaTable, ...] = ()
    subset: SubsetTable | None = None
    departure: tuple[DepartureEntry, ...] = ()

    def strata(self) -> Iterator[tuple[GeneratorName, Encoding, StratumTable]]:
        """The strata in their fixed order."""
        for generator in GENERATORS:
            for encoding in ENCODINGS:
                entry = self.stratum.get(generator, {}).get(encoding)
                if entry is not None:
                    yield generator, encoding, entry

    def departs_from(self, cell: str) -> bool:
        """Whether the file says that this printed cell is not reached."""
        return any(fnmatchcase(cell, pattern) for entry in self.departure for pattern in entry.cells)


def cohort_names() -> tuple[str, ...]:
    """The bundled cohorts, by name."""
    return tuple(sorted(file.stem for file in (spec_folder() / "cohorts").glob("*.toml")))


def find_cohort(name_or_file: str) -> CohortSpec:
    """A bundled cohort by its name, or the cohort in a file ("-" is standard input)."""
    if name_or_file in cohort_names():
        return load_cohort(spec_folder() / "cohorts" / f"{name_or_file}.toml")
    looks_like_a_file = name_or_file == "-" or "/" in name_or_file or "." in name_or_file
    if not looks_like_a_file and not Path(name_or_file).exists():
        raise NotFound("cohort", name_or_file, [*cohort_names(), "or a file"])
    return load_cohort(name_or_file)


def load_cohort(file: str | Path) -> CohortSpec:
    """The cohort in a file; `InvalidSpec` names every fault."""
    return parse_cohort(read_bytes(file), file)


def parse_cohort(data: bytes, file: str | Path = "<text>") -> CohortSpec:
    """The cohort in a TOML text; `file` is what errors call it."""
    raw = parse_toml(data, file)
    findings = Findings()
    findings.problems += unknown_keys(raw, [entry.name for entry in fields(CohortSpec)], "")
    spec = structure(raw, CohortSpec, "", findings.problems)
    if spec is not None:
        _check(spec, findings)
    if findings.problems or spec is None:
        raise InvalidSpec(file, dict.fromkeys(findings.problems or [Problem("", "is not a cohort")]))
    return spec


def _check(spec: CohortSpec, findings: Findings) -> None:
    """Everything that the shape of the file does not say."""
    if not (spec.seed.isascii() and spec.seed.isdecimal()):
        findings.add("seed", f"found {shorten(spec.seed)}, expected a whole number in quotes")
    _check_variants(spec, findings)
    _check_costs(spec, findings)
    if spec.subset is not None:
        if spec.generator or spec.stratum or spec.quota:
            findings.add("subset", "stands beside generator, stratum or quota, expected one way to get roots")
        if spec.subset.roots < 1:
            findings.add("subset.roots", f"found {spec.subset.roots}, expected at least 1")
    elif not spec.stratum:
        findings.add("stratum", "found none, expected strata or a subset")
    for name, table in spec.generator.items():
        _check_generator(name, table, findings)
    for generator, encodings in spec.stratum.items():
        _check_stratum(spec, generator, encodings, findings)
    _check_quotas(spec, findings)
    resolve_provenance(spec.provenance, _leaves(spec), ("description", "title"), findings)


def _check_variants(spec: CohortSpec, findings: Findings) -> None:
    if not spec.variants:
        findings.add("variants", "found none, expected at least one")
    for index, variant in enumerate(spec.variants):
        if variant not in VARIANTS:
            findings.add(f"variants[{index}]", f"found {shorten(variant)}, expected one of: {', '.join(VARIANTS)}")
        elif variant in spec.variants[:index]:
            findings.add(f"variants[{index}]", f"found {shorten(variant)} twice, expected each once")


def _check_costs(spec: CohortSpec, findings: Findings) -> None:
    for name, grid in spec.costs.items():
        for index, cost in enumerate(grid):
            if not 0 < cost.value < 1:
                findings.add(f"costs.{name}[{index}]", f"found {cost}, expected a cost between 0 and 1")
        if list(grid) != sorted(set(grid), key=lambda cost: cost.value):
            findings.add(f"costs.{name}", "found costs out of order or twice, expected them to rise")
    if all(spec.primary_cost.value not in [cost.value for cost in grid] for grid in spec.costs.values()):
        findings.add("primary_cost", f"found {spec.primary_cost}, expected a cost of a grid")


def _check_generator(name: str, table: GeneratorTable, findings: Findings) -> None:
    where = f"generator.{name}"
    if name not in GENERATORS:
        findings.add(where, f"found {shorten(name)}, expected one of: {', '.join(GENERATORS)}")
        return
    low, high = table.counts
    if not 0 <= low <= high <= LARGEST_COUNT or high == 0:
        what = f"found {low} to {high}, expected 0 ≤ smallest ≤ largest, largest from 1 to {LARGEST_COUNT:,}"
        findings.add(f"{where}.counts", what)
    observes = name in ("finite-population", "missing-rule")
    if observes != bool(table.observed):
        findings.add(f"{where}.observed", f"is {'missing' if observes else 'not drawn by this generator'}")
    for key, weight in table.observed.items():
        if key not in OBSERVED:
            findings.add(f"{where}.observed.{key}", f"unknown key, expected one of: {', '.join(OBSERVED)}")
        elif weight < 0:
            findings.add(f"{where}.observed.{key}", f"found {weight}, expected a weight that is not negative")
    if observes and table.observed and sum(table.observed.values()) < 1:
        findings.add(f"{where}.observed", "found weights that add up to nothing, expected at least 1")
    if (name == "noisy-sensor") != bool(table.likelihoods):
        findings.add(
            f"{where}.likelihoods", "is missing" if name == "noisy-sensor" else "is not drawn by this generator"
        )
    for index, likelihood in enumerate(table.likelihoods):
        if not 0 <= likelihood.value <= 1:
            findings.add(f"{where}.likelihoods[{index}]", f"found {likelihood}, expected a number from 0 to 1")
    if table.likelihoods and not any(likelihood.value for likelihood in table.likelihoods):
        findings.add(f"{where}.likelihoods", "found zeros only, expected one that is positive")


def _check_stratum(spec: CohortSpec, generator: str, encodings: Mapping[str, StratumTable], findings: Findings) -> None:
    if generator not in GENERATORS:
        findings.add(f"stratum.{generator}", f"expected one of: {', '.join(GENERATORS)}")
    elif generator not in spec.generator:
        findings.add(f"stratum.{generator}", f"has no [generator.{generator}] to draw from")
    for encoding, entry in encodings.items():
        where = f"stratum.{generator}.{encoding}"
        if encoding not in ENCODINGS:
            findings.add(where, f"expected one of: {', '.join(ENCODINGS)}")
        if entry.roots < 1:
            findings.add(f"{where}.roots", f"found {entry.roots}, expected at least 1")
        if not 0 <= entry.first < 2**62:
            findings.add(f"{where}.first", f"found {entry.first}, expected an index that is not negative")
        if spec.quota and entry.roots != sum(quota.roots for quota in spec.quota):
            total = sum(quota.roots for quota in spec.quota)
            findings.add(f"{where}.roots", f"found {entry.roots}, expected {total}, what the quotas add up to")


def _check_quotas(spec: CohortSpec, findings: Findings) -> None:
    for index, quota in enumerate(spec.quota):
        where = f"quota[{index}]"
        if not quota.low.value < quota.high.value:
            findings.add(where, f"found {quota.low} to {quota.high}, expected low < high")
        if quota.roots < 0:
            findings.add(f"{where}.roots", f"found {quota.roots}, expected a number that is not negative")
        for other in spec.quota[:index]:
            if quota.low.value < other.high.value and other.low.value < quota.high.value:
                findings.add(where, f"overlaps the quota {shorten(other.name)}, expected bins that share nothing")
            if quota.name == other.name:
                findings.add(f"{where}.name", f"found {shorten(quota.name)} twice, expected each once")


def _leaves(spec: CohortSpec) -> list[str]:
    """The key paths of everything that needs a provenance."""
    leaves = [
        "seed",
        "variants",
        "primary_cost",
        "disjoint_from",
        "estimated",
        *(f"costs.{name}" for name in spec.costs),
    ]
    for name, table in spec.generator.items():
        leaves.append(f"generator.{name}.counts")
        leaves += [f"generator.{name}.observed"] if table.observed else []
        leaves += [f"generator.{name}.likelihoods"] if table.likelihoods else []
    for generator, encodings in spec.stratum.items():
        leaves += [f"stratum.{generator}.{encoding}.{key}" for encoding in encodings for key in ("roots", "first")]
    leaves += [f"quota.{quota.name}" for quota in spec.quota]
    return leaves + (["subset.of", "subset.roots"] if spec.subset else [])


def cohort_law_digest(spec: CohortSpec) -> str:
    """The digest of all that the roots of a cohort depend on, beside the cohort that a subset is taken from.

    How a number was written, and the order of entries that have none, do not matter.
    """
    return digest_of(_law(spec))


def cohort_text_digest(spec: CohortSpec) -> str:
    """The digest of what is asked of each root: the variants and the version of the texts."""
    return digest_of({"texts": TEXTS, "variants": sorted(spec.variants)})


def _law(spec: CohortSpec) -> dict[str, Any]:
    return {
        "seed": spec.seed,
        "generators": {
            name: {
                "counts": list(table.counts),
                "observed": {key: table.observed.get(key, 0) for key in OBSERVED} if table.observed else None,
                "likelihoods": [str(likelihood.value) for likelihood in table.likelihoods],
            }
            for name, table in spec.generator.items()
        },
        "strata": [[generator, encoding, entry.roots, entry.first] for generator, encoding, entry in spec.strata()],
        "quotas": sorted([str(quota.low.value), str(quota.high.value), quota.roots] for quota in spec.quota),
        "subset": [spec.subset.of, spec.subset.roots] if spec.subset else None,
    }
