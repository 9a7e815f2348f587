"""Charts as plain values: series of points with what each says in words, and the same numbers as a table.

A chart is drawn twice, as inline SVG (`svg`) and by matplotlib (`images`), from these values alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import frozen

from exactworlds.report.values import Table

__all__ = ["Axis", "Chart", "Kind", "Point", "Role", "Series", "bounds"]

Kind = Literal["points", "line"]
Role = Literal["run", "reference", "guide"]


@frozen
class Point:
    """A place in a chart; `words` is what is read out there, `low` and `high` an interval of y (or x, on names).

    `size` from 0 to 1 says how much stands behind it. A point that is not `read` only shapes a line.
    """

    x: float
    y: float
    words: str
    low: float | None = None
    high: float | None = None
    size: float = 0.3
    read: bool = True


@frozen
class Series:
    """Points of one run, of a reference (exact posterior, prior), or of a guide such as the diagonal."""

    name: str
    points: tuple[Point, ...]
    kind: Kind = "points"
    role: Role = "run"
    color: int = 0
    dash: int = 0


@frozen
class Axis:
    """An axis: what it measures, from where to where; `names` instead of numbers for rows of names."""

    label: str
    low: float
    high: float
    names: tuple[str, ...] = ()


@frozen
class Chart:
    """A chart with its title, what is to be seen in it, how it is read, and its numbers."""

    id: str
    title: str
    about: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    table: Table
    note: str = ""


def bounds(values: Sequence[float], *, floor: float | None = None, least: float = 0.0) -> tuple[float, float]:
    """Where an axis begins and ends, so that nothing lies on its edge."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if floor is not None:
        low = floor
    room = max(high - low, least, 1e-9)
    return (low if floor is not None else low - 0.05 * room), low + 1.08 * room
