"""States as text, in two encodings and two layouts each, and the way back to the world and its evidence.

`joined`: tables of attributes, counts and, where there are any, evidence likelihoods, joined on `cell`. `nested`: one
record a cell. The second layout of an encoding changes order and punctuation, nothing else. Metadata is one further
line that has nothing to do with the world.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from attrs import frozen

from exactworlds.contract.cells import CELLS, Cell, ContractWorld, Evidence, Observed, Sensor
from exactworlds.errors import InvalidArgument, InvalidContract, Problem, shorten
from exactworlds.rational import fraction_text, parse_exact
from exactworlds.spec.cohorts import Encoding, GeneratorName

__all__ = ["ParsedState", "parse_state", "state_text"]

_OPENINGS: dict[GeneratorName, str] = {
    "finite-population": "One item is drawn uniformly from a finite population of counted items.",
    "noisy-sensor": "One item is drawn uniformly from a counted population, and a noisy sensor is read.",
    "joint-attributes": "One item is drawn uniformly from counted combinations of two attributes.",
    "missing-rule": "One item is drawn uniformly from counted records; attribute a may be missing from the report.",
}
_NOTHING = "Evidence: none."
_READING = "Evidence: the sensor gave a reading, whose likelihood in each cell is listed."
_OBSERVED = re.compile(r"Evidence: ([ab]) = (True|False) was observed\.")
_METADATA = "Metadata: "
_CELL_IDS = {f"cell_{place}": cell for place, cell in enumerate(CELLS, start=1)}
Row = dict[str, Any]


@frozen
class ParsedState:
    """What a text says: the world with its evidence, how it is encoded, and the metadata line, if any."""

    world: ContractWorld
    encoding: Encoding
    metadata: str | None


def state_text(
    world: ContractWorld, encoding: Encoding, *, second_layout: bool = False, metadata: str | None = None
) -> str:
    """The text of a world with its evidence.

    Claim: E.requests
    """
    body = _joined(world, second_layout) if encoding == "joined" else _nested(world, second_layout)
    lines = [_OPENINGS[world.generator], _evidence_line(world.evidence), *body]
    return "\n".join([*lines, *([f"{_METADATA}{metadata}"] if metadata is not None else [])])


def parse_state(text: str) -> ParsedState:
    """The world that a text describes; `InvalidContract` says what cannot be read.

    Claim: E.requests
    """
    opening, evidence_line, *body = [*text.split("\n"), "", ""]
    while body and not body[-1]:
        body.pop()
    metadata = body.pop().removeprefix(_METADATA) if body and body[-1].startswith(_METADATA) else None
    generator = next((name for name, line in _OPENINGS.items() if line == opening), None)
    if generator is None:
        raise _unreadable(opening, "a sentence that says how the item is drawn")
    encoding: Encoding = "nested" if body and body[0].startswith("{") else "joined"
    try:
        rows = _read_nested(body) if encoding == "nested" else _read_joined(body)
        by_cell = {Cell(row["a"], row["b"]): row for row in rows}
        ordered = [by_cell[cell] for cell in CELLS]
        first, second, third, fourth = (int(row["count"]) for row in ordered)
        evidence = _evidence(evidence_line, ordered)
        categories = {
            row["category"]: frozenset(cell for cell in CELLS if by_cell[cell]["category"] == row["category"])
            for row in ordered
        }
    except (KeyError, ValueError, TypeError) as error:
        raise _unreadable(body[0] if body else "nothing", f"four cells with all their columns ({error!r})") from None
    if len(rows) != len(CELLS):
        raise _unreadable(f"{len(rows)} cells", "each of the four cells once")
    return ParsedState(
        ContractWorld(generator, (first, second, third, fourth), evidence, categories), encoding, metadata
    )


def _unreadable(found: str, expected: str) -> InvalidContract:
    return InvalidContract("state", [Problem("", f"found {shorten(found)}, expected {expected}")])


def _evidence_line(evidence: Evidence) -> str:
    match evidence:
        case Observed(attribute, value):
            return f"Evidence: {attribute} = {value} was observed."
        case Sensor():
            return _READING
        case None:
            return _NOTHING


def _evidence(line: str, rows: list[Row]) -> Evidence:
    if line == _NOTHING:
        return None
    if line == _READING:
        first, second, third, fourth = (_likelihood(row["likelihood"]) for row in rows)
        return Sensor((first, second, third, fourth))
    match = _OBSERVED.fullmatch(line)
    if match is None:
        raise ValueError(line)
    return Observed("a" if match.group(1) == "a" else "b", match.group(2) == "True")


def _likelihood(text: str) -> Fraction:
    try:
        return parse_exact(text)
    except InvalidArgument as error:
        raise ValueError(str(error)) from None


def _rows(world: ContractWorld) -> Iterator[Row]:
    category = {cell: name for name, cells in world.categories.items() for cell in cells}
    for name, cell in _CELL_IDS.items():
        place = CELLS.index(cell)
        row: Row = {"cell": name, "a": cell.a, "b": cell.b, "category": category[cell], "count": world.counts[place]}
        if isinstance(world.evidence, Sensor):
            row["likelihood"] = fraction_text(world.evidence.likelihoods[place])
        yield row


_TABLES: Mapping[str, tuple[str, ...]] = {
    "attributes": ("cell", "a", "b", "category"),
    "counts": ("cell", "count"),
    "evidence_likelihoods": ("cell", "likelihood"),
}


def _joined(world: ContractWorld, second_layout: bool) -> Iterator[str]:
    rows = list(_rows(world))
    tables = [(name, columns) for name, columns in _TABLES.items() if set(columns) <= set(rows[0])]
    separator = "," if second_layout else " | "
    for name, columns in reversed(tables) if second_layout else tables:
        order = columns[::-1] if second_layout else columns
        yield ""
        yield f"Table {name} (joined on cell)"
        yield separator.join(order)
        for row in reversed(rows) if second_layout else rows:
            yield separator.join(str(row[column]) for column in order)


def _read_joined(lines: list[str]) -> list[Row]:
    found: dict[str, Row] = {}
    header: list[str] | None = None
    for line in lines:
        parts = [part.strip() for part in re.split(r"[|,]", line)]
        if not line or line.startswith("Table "):
            header = None
        elif header is None:
            header = parts
        else:
            row = dict(zip(header, parts, strict=True))
            known = found.setdefault(row["cell"], {})
            twice = [column for column in row if column in known and column != "cell"]
            if twice:
                raise ValueError(f"{row['cell']} twice")
            known.update(row)
    for row in found.values():
        row.update({column: {"True": True, "False": False}[row[column]] for column in ("a", "b")})
    return list(found.values())


def _nested(world: ContractWorld, second_layout: bool) -> Iterator[str]:
    records = []
    for row in _rows(world):
        record = {
            "cell": row["cell"],
            "attributes": {"a": row["a"], "b": row["b"]},
            "category": row["category"],
            "count": row["count"],
        }
        if "likelihood" in row:
            record["evidence_likelihood"] = row["likelihood"]
        records.append(dict(reversed(record.items())) if second_layout else record)
    if second_layout:
        yield json.dumps({"cells": records[::-1]}, separators=(",", ":"))
    else:
        yield from json.dumps({"cells": records}, indent=2).split("\n")


def _read_nested(lines: list[str]) -> list[Row]:
    rows = []
    for record in json.loads("\n".join(lines))["cells"]:
        row = {**record["attributes"], "category": record["category"], "count": record["count"]}
        if "evidence_likelihood" in record:
            row["likelihood"] = record["evidence_likelihood"]
        rows.append(row)
    return rows
