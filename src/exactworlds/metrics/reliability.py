"""Reliability tables: what lies in every bin of the confidences, the numbers behind a reliability diagram.

What is not here: bins and calibration errors (`calibration`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from exactworlds.metrics._arguments import (
    Value,
    as_weights,
    check_count,
    check_probability,
    check_same_shape,
    is_exact,
    one_dimensional,
    read,
)
from exactworlds.metrics.calibration import bin_index
from exactworlds.metrics.undefined import Undefined

__all__ = ["ReliabilityRow", "reliability_table"]


@dataclass(frozen=True)
class ReliabilityRow:
    """One fixed bin: edges, rows, share of the weight, and its means (undefined where it is empty)."""

    low: Fraction
    high: Fraction
    count: int
    weight: Value
    confidence: Value | Undefined
    accuracy: Value | Undefined


def reliability_table(
    *, confidence: object, accuracy: object, bins: int, weights: object = None
) -> tuple[ReliabilityRow, ...]:
    """Mean confidence and accuracy in every fixed bin: the table behind a reliability diagram.

    Formula: per bin Σ w v / Σ w and Σ w a / Σ w, share Σ w over the total.

    Claim: F.ece.

    Convention: every bin has a row; an empty one has share 0 and undefined means.

    Shapes: (n) twice.

    Raises
    ------
    InvalidArgument
        As `calibration_error` does.

    Examples
    --------
    >>> table = reliability_table(confidence=["0.6", "0.7"], accuracy=[1, 0], bins=2)
    >>> table[0].count, table[1].confidence, table[1].accuracy
    (0, Fraction(13, 20), Fraction(1, 2))
    """
    v, a = read(confidence=confidence, accuracy=accuracy)
    one_dimensional(v, argument="confidence")
    check_probability(v, argument="confidence")
    check_probability(a, argument="accuracy")
    check_same_shape(confidence=v, accuracy=a)
    count = check_count(bins, argument="bins")
    w = as_weights(weights, shape=v.shape, exact=is_exact(v))
    index = np.asarray(bin_index(v, bins=count))
    rows = []
    for b in range(count):
        inside = (index == b) & (w > 0)
        edges = Fraction(b, count), Fraction(b + 1, count)
        if not inside.any():
            empty = Undefined("empty bin", {"rows": 0})
            rows.append(ReliabilityRow(*edges, 0, _plain(0 * w[0]), empty, empty))
            continue
        mass = w[inside].sum()
        mean_v, mean_a = (w[inside] * v[inside]).sum() / mass, (w[inside] * a[inside]).sum() / mass
        rows.append(
            ReliabilityRow(
                *edges, int(np.count_nonzero(inside)), _plain(mass / w.sum()), _plain(mean_v), _plain(mean_a)
            )
        )
    return tuple(rows)


def _plain(value: Any) -> Value:
    return value if isinstance(value, Fraction) else float(value)
