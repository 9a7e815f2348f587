"""What the public functions accept, and the checks they make before a formula runs.

An argument is *exact* (Fractions, integers, or decimal and ratio text) or *float* (Python floats, float64
arrays). One exact non-integer anywhere in a call, or no float at all, makes the whole call exact: floats in
it are then read as the decimals that repr prints, and the results are Fractions. Otherwise the call is made
in float64. Nothing is clipped, renormalised or defaulted here; what does not fit is refused with the
argument, the index and the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from exactworlds.errors import InvalidArgument
from exactworlds.rational import parse_exact

__all__ = [
    "Array",
    "Value",
    "apply_rows",
    "as_fraction",
    "as_label",
    "as_weights",
    "check_choice",
    "check_cost",
    "check_count",
    "check_interval",
    "check_mask",
    "check_probability",
    "check_same_shape",
    "check_simplex",
    "is_exact",
    "one_dimensional",
    "place_of",
    "read",
    "read_exact",
    "result",
]

Array = np.ndarray[Any, np.dtype[Any]]
Value = Any
"""A Fraction or an object array of them when the call was exact; a float or a float64 array otherwise."""

PROBABILITY = "a probability in [0, 1]"
NUMBER = 'a number: a Fraction, an integer, text such as "0.28" or "7/25", or a float64'


def as_fraction(value: object, *, argument: str, index: object = None) -> Fraction:
    """The exact number that a value stands for; a float stands for the decimal that repr prints.

    >>> as_fraction(0.1, argument="cost"), as_fraction("1/3", argument="cost")
    (Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgument(argument, float(value), "a finite number", index)
        return Fraction(float.__repr__(value))
    if isinstance(value, np.integer):
        return Fraction(int(value))
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidArgument(argument, value, NUMBER, index)
    try:
        return parse_exact(value, argument=argument)
    except InvalidArgument as error:
        raise InvalidArgument(argument, value, error.expected, index) from None


def read(**values: object) -> tuple[Array, ...]:
    """The arguments of one call as arrays of one kind: all object arrays of Fractions, or all float64."""
    raws = {name: _raw(value, name) for name, value in values.items()}
    kinds = {name: _kind(raw, name) for name, raw in raws.items()}
    if "exact" not in kinds.values() and "float" in kinds.values():
        return tuple(_floats(raw) for raw in raws.values())
    return tuple(_fractions(raw, name) for name, raw in raws.items())


def read_exact(**values: object) -> tuple[Array, ...]:
    """The arguments as object arrays of Fractions, whatever they were."""
    return tuple(_fractions(_raw(value, name), name) for name, value in values.items())


def is_exact(array: Array) -> bool:
    """Whether a read array holds Fractions."""
    return array.dtype == object


def _raw(value: object, argument: str) -> Array:
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "U":
            value = value.astype(object)
        if value.dtype == np.float64 or value.dtype.kind in "iuO":
            out: Array = value
        else:
            raise InvalidArgument(argument, f"an array of {value.dtype}", "float64, integers, Fractions or text")
    elif isinstance(value, Mapping | set | frozenset | bytes):
        raise InvalidArgument(argument, value, "a number or a sequence of numbers")
    else:
        try:
            out = np.array(value, dtype=object)
        except ValueError:
            raise InvalidArgument(argument, value, "rows of one length") from None
    if out.size == 0:
        raise InvalidArgument(argument, "an empty array", "at least one value")
    return out


def _kind(raw: Array, argument: str) -> str:
    if raw.dtype != object:
        return "float" if raw.dtype.kind == "f" else "integer"
    kind = "integer"
    for index, value in np.ndenumerate(raw):
        if isinstance(value, Fraction | str):
            kind = "exact"
        elif isinstance(value, float):
            kind = kind if kind == "exact" else "float"
        elif isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            expected = "rows of one length" if isinstance(value, list | tuple | np.ndarray) else NUMBER
            raise InvalidArgument(argument, value, expected, place_of(index))
    return kind


def _floats(raw: Array) -> Array:
    return raw if raw.dtype == np.float64 else raw.astype(np.float64)


def _fractions(raw: Array, argument: str) -> Array:
    out = np.empty(raw.shape, dtype=object)
    for index, value in np.ndenumerate(raw):
        out[index] = as_fraction(value, argument=argument, index=place_of(index))
    return out


def place_of(index: Sequence[int]) -> object:
    """An index as messages show it: an integer, several joined by commas, nothing for a single value."""
    if len(index) <= 1:
        return int(index[0]) if index else None
    return ", ".join(str(int(i)) for i in index)


def _first(bad: Array) -> tuple[Any, ...]:
    return tuple(int(i) for i in np.argwhere(bad)[0])


def check_interval(array: Array, *, argument: str, low: object, high: object, expected: str) -> None:
    """Refuse a value outside [low, high]; a NaN is outside."""
    if array.min() >= low and array.max() <= high:  # a NaN makes both false
        return
    bad = np.atleast_1d(~((array >= low) & (array <= high)))
    index = _first(bad)
    found = np.atleast_1d(array)[index]
    raise InvalidArgument(argument, _shown(found), expected, place_of(index) if array.ndim else None)


def check_probability(array: Array, *, argument: str) -> None:
    """Refuse a value outside [0, 1], a NaN and an infinity."""
    check_interval(array, argument=argument, low=0, high=1, expected=PROBABILITY)


def check_simplex(array: Array, *, argument: str) -> None:
    """Refuse class probabilities (last axis) that are out of range or do not sum to 1.

    Fractions must sum to 1 exactly. Floats may be off by the rounding of their own addition, K·2⁻⁵² for K
    classes (`chosen`), which refuses 1.000009 and float32 values that were merely converted.
    """
    if array.ndim == 0 or array.shape[-1] < 2:
        raise InvalidArgument(argument, f"shape {array.shape}", "a last axis with at least two classes")
    check_probability(array, argument=argument)
    sums = array.sum(axis=-1)
    slack = 0 if is_exact(array) else array.shape[-1] * 2.0**-52
    good = np.atleast_1d((sums >= 1 - slack) & (sums <= 1 + slack))
    if good.all():
        return
    index = _first(~good)
    found = f"a sum of {_shown(np.atleast_1d(sums)[index])}"
    expected = "class probabilities that sum to 1"
    if is_exact(array):
        expected += " exactly (the call is exact: a float in it stands for its decimal)"
    raise InvalidArgument(argument, found, expected, place_of(index) if array.ndim > 1 else None)


def check_same_shape(**arrays: Array) -> None:
    """Refuse arrays whose shapes differ: nothing is broadcast."""
    (first, reference), *others = arrays.items()
    for name, array in others:
        if array.shape != reference.shape:
            raise InvalidArgument(name, f"shape {array.shape}", f"the shape of {first}, {reference.shape}")


def one_dimensional(array: Array, *, argument: str) -> None:
    """Refuse anything but a plain sequence of values."""
    if array.ndim != 1:
        raise InvalidArgument(argument, f"shape {array.shape}", "one value a row")


def as_label(value: object, *, argument: str, classes: int, shape: tuple[int, ...]) -> Array:
    """Realised classes as integers 0 … K−1 of the given shape; booleans are 0 and 1, a float is refused."""
    array = np.asarray(value)
    if array.size == 0:
        raise InvalidArgument(argument, "an empty array", "at least one class")
    if array.dtype.kind not in "iub":
        raise InvalidArgument(argument, f"an array of {array.dtype}", "integer classes")
    if array.shape != shape:
        raise InvalidArgument(argument, f"shape {array.shape}", f"the shape {shape}")
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    check_interval(array, argument=argument, low=0, high=classes - 1, expected=f"a class in 0 … {classes - 1}")
    return array


def as_weights(value: object, *, shape: tuple[int, ...], exact: bool, argument: str = "weights") -> Array:
    """Weights that are finite, not negative and not all 0; ones where none are given."""
    if value is None:
        return _ones(shape, exact)
    (weights,) = read_exact(**{argument: value}) if exact else (_float_weights(value, argument),)
    if weights.shape != shape:
        raise InvalidArgument(argument, f"shape {weights.shape}", f"the shape {shape}")
    high = weights.max() if exact else np.finfo(np.float64).max
    expected = "a finite weight that is not negative"
    check_interval(weights, argument=argument, low=0, high=high, expected=expected)
    if not weights.max() > 0:
        raise InvalidArgument(argument, "only zeros", "a positive total weight")
    return weights


def _float_weights(value: object, argument: str) -> Array:
    raw = _raw(value, argument)
    _kind(raw, argument)
    return _floats(_fractions(raw, argument) if raw.dtype == object else raw)


def _ones(shape: tuple[int, ...], exact: bool) -> Array:
    if not exact:
        return np.ones(shape)
    out = np.empty(shape, dtype=object)
    out[...] = Fraction(1)
    return out


def check_mask(value: object, *, argument: str, shape: tuple[int, ...]) -> Array:
    """Booleans of the given shape; all true where none are given."""
    if value is None:
        return np.ones(shape, dtype=bool)
    mask = np.asarray(value)
    if mask.dtype != np.bool_:
        raise InvalidArgument(argument, f"an array of {mask.dtype}", "booleans")
    if mask.shape != shape:
        raise InvalidArgument(argument, f"shape {mask.shape}", f"the shape {shape}")
    return mask


def check_cost(value: object, *, argument: str = "cost", below: Fraction = Fraction(1)) -> Fraction:
    """A reject cost, exactly: 0 < c < 1, or below a smaller bound."""
    cost = as_fraction(value, argument=argument)
    if not 0 < cost < below:
        raise InvalidArgument(argument, value, f"a reject cost above 0 and below {below}")
    return cost


def check_count(value: object, *, argument: str, low: int = 1, high: int | None = None) -> int:
    """An integer in a range; booleans and floats are refused."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidArgument(argument, value, "an integer")
    if value < low or (high is not None and value > high):
        raise InvalidArgument(
            argument, int(value), f"an integer of at least {low}" + (f", at most {high}" if high else "")
        )
    return int(value)


def check_choice(value: object, *, argument: str, choices: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidArgument(argument, value, "one of " + ", ".join(choices))
    return value


def _shown(found: object) -> object:
    return float(found) if isinstance(found, np.floating) else int(found) if isinstance(found, np.integer) else found


def apply_rows(formula: Callable[..., Any], *arrays: Array, core: int) -> Value:
    """A scalar formula applied at every leading index; the last `core` axes are handed over as sequences."""
    lead = arrays[0].shape[: arrays[0].ndim - core]
    out = np.empty(lead, dtype=object)
    for index in np.ndindex(*lead):
        out[index] = formula(*(array[index] for array in arrays))
    return result(out)


def result(array: Any) -> Value:
    """A plain number for a result without axes, the array otherwise."""
    if isinstance(array, np.ndarray):
        return array.item() if array.ndim == 0 else array
    return array.item() if isinstance(array, np.generic) else array
