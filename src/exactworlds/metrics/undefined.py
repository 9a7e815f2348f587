"""A quantity that has no value, as a fact that says why.

A ratio over nothing, a contrast of two infinities, an area without one of its classes: none is a number, and
none is NaN, `None` or text either. `Undefined` carries the reason and the counts behind it; arithmetic with
it fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Undefined"]


@dataclass(frozen=True)
class Undefined:
    """A quantity without a value: `reason` in words, `counts` behind it.

    Notes
    -----
    It has no arithmetic and no truth value, so that a mean over it, or a check of it, fails loudly.

    Examples
    --------
    >>> Undefined("no positive case", {"positive": 0, "negative": 3})
    Undefined(reason='no positive case', counts={'positive': 0, 'negative': 3})
    """

    reason: str
    counts: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        raise TypeError(f"this quantity is undefined ({self.reason}); it is neither true nor false")
