"""Curves of the scores as lines: from exact breakpoints to places that can be drawn and read.

What is not here: how curves are computed (`metrics.curves`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from attrs import frozen

from exactworlds.report.charts import Point

__all__ = ["Curve", "curve_of", "grid_points", "line_points"]


@frozen
class Curve:
    """A piecewise straight curve: values left of, at, and right of each breakpoint, and at both ends."""

    low: float
    high: float
    at_low: float
    at_high: float
    breakpoints: tuple[float, ...]
    left: tuple[float, ...]
    at: tuple[float, ...]
    right: tuple[float, ...]

    def value(self, x: float) -> float:
        """The curve between its ends."""
        place = bisect_left(self.breakpoints, x)
        if place < len(self.breakpoints) and self.breakpoints[place] == x:
            return self.at[place]
        x0, y0 = (self.breakpoints[place - 1], self.right[place - 1]) if place else (self.low, self.at_low)
        inside = place < len(self.breakpoints)
        x1, y1 = (self.breakpoints[place], self.left[place]) if inside else (self.high, self.at_high)
        return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def curve_of(content: Mapping[str, Any]) -> Curve:
    """A curve as the scores write it."""

    def numbers(name: str) -> tuple[float, ...]:
        return tuple(_float(text) for text in content[name])

    return Curve(
        _float(content["low"]),
        _float(content["high"]),
        _float(content["at_low"]),
        _float(content["at_high"]),
        numbers("breakpoints"),
        numbers("left"),
        numbers("at"),
        numbers("right"),
    )


def line_points(curve: Curve, steps: int, words: str) -> tuple[Point, ...]:
    """Every corner of a curve, and between them `steps` − 1 places at which it can be read.

    `words` is filled with x and y.
    """
    points = [Point(curve.low, curve.at_low, "", read=False)]
    for x, before, after in zip(curve.breakpoints, curve.left, curve.right, strict=True):
        points += [Point(x, before, "", read=False), Point(x, after, "", read=False)]
    points.append(Point(curve.high, curve.at_high, "", read=False))
    width = curve.high - curve.low
    reads = [curve.low + width * step / steps for step in range(1, steps)]
    found = [Point(x, y, words.format(x=f"{x:.3g}", y=f"{y:.4f}")) for x, y in ((x, curve.value(x)) for x in reads)]
    merged: list[Point] = []
    corners = iter(sorted(points, key=lambda point: point.x))  # stable: left stays before right
    corner = next(corners, None)
    for read in found:
        while corner is not None and corner.x <= read.x:
            merged.append(corner)
            corner = next(corners, None)
        merged.append(read)
    while corner is not None:
        merged.append(corner)
        corner = next(corners, None)
    return tuple(merged)


def grid_points(values: Sequence[float], words: str, *, every: int) -> tuple[Point, ...]:
    """A curve that is known at k/200: each value is a corner, and every so many can be read."""
    return tuple(
        Point(k / 200, value, words.format(x=f"{k / 200:.3g}", y=f"{value:.4f}"), read=k % every == 0)
        for k, value in enumerate(values, start=1)
    )


def _float(text: str) -> float:
    top, _, below = text.partition("/")
    if "." in top:
        return float(text)
    return float(Fraction(int(Decimal(top)), int(Decimal(below)) if below else 1))
