"""How actions are written down and checked."""

from __future__ import annotations

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.metrics._arguments import Array, place_of

__all__ = ["DEFER", "NO", "YES", "read_actions"]

NO, YES, DEFER = 0, 1, -1
"""Actions on a binary question; on K classes an action is 0 … K−1 or `DEFER`."""


def read_actions(
    action: object, *, classes: int | None, shape: tuple[int, ...] | None, argument: str = "action"
) -> Array:
    """Actions as integers of the given shape (any, if none), each a class index or −1."""
    a = np.asarray(action)
    if a.size == 0 or a.dtype.kind not in "iu":
        raise InvalidArgument(argument, f"an array of {a.dtype}, {a.size} values", "integer actions")
    if shape is not None and a.shape != shape:
        raise InvalidArgument(argument, f"shape {a.shape}", f"the shape {shape}")
    high = int(a.max()) if classes is None else classes - 1
    bad = np.atleast_1d((a < DEFER) | (a > high))
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        place = place_of(index) if a.ndim else None
        raise InvalidArgument(argument, int(np.atleast_1d(a)[index]), "a class index or −1 for defer", place)
    return a
