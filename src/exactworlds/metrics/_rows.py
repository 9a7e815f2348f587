"""Pairs of a report and a target or a label, read and checked; logarithms of exact numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from exactworlds.metrics._arguments import (
    Array,
    Value,
    apply_rows,
    as_label,
    check_probability,
    check_same_shape,
    check_simplex,
    is_exact,
    read,
    result,
)
from exactworlds.metrics._ordering import Real, smaller

__all__ = [
    "binary_label",
    "binary_pair",
    "class_pair",
    "float_rows",
    "log_of_exact",
    "minus_log",
    "report_at_label",
]


def log_of_exact(value: Fraction) -> float:
    """The natural logarithm of a positive Fraction, to a relative error below 1e-15 near 1 and far from it.

    >>> log_of_exact(Fraction(1, 2))
    -0.6931471805599453
    """
    if smaller(2 * value, 4 - 2 * value) > 1:  # within (1/2, 3/2): the difference from 1 is exact before it is rounded
        return math.log1p(float(value - 1))
    if Fraction(1, 2**1000) < value < 2**1000:
        return math.log(float(value))
    return math.log(value.numerator) - math.log(value.denominator)


def minus_log(at: Array) -> Value:
    if is_exact(at):
        return float_rows(lambda value: 0.0 - log_of_exact(value) if value > 0 else math.inf, at, core=0)
    with np.errstate(divide="ignore"):
        return result(0.0 - np.log(at))


def float_rows(formula: Callable[..., Real], *arrays: Array, core: int) -> Value:
    out = apply_rows(formula, *arrays, core=core)
    return out.astype(np.float64) if isinstance(out, np.ndarray) else float(out)


def class_pair(report: object, target: object) -> tuple[Array, Array]:
    p, q = read(report=report, target=target)
    check_simplex(p, argument="report")
    check_simplex(q, argument="target")
    check_same_shape(report=p, target=q)
    return p, q


def binary_pair(report: object, target: object) -> tuple[Array, Array]:
    p, q = read(report=report, target=target)
    check_probability(p, argument="report")
    check_probability(q, argument="target")
    check_same_shape(report=p, target=q)
    return p, q


def binary_label(report: object, label: object) -> tuple[Array, Array]:
    (p,) = read(report=report)
    check_probability(p, argument="report")
    return p, as_label(label, argument="label", classes=2, shape=p.shape)


def report_at_label(report: object, label: object) -> tuple[Array, Array]:
    (p,) = read(report=report)
    check_simplex(p, argument="report")
    y = as_label(label, argument="label", classes=p.shape[-1], shape=p.shape[:-1])
    return p, np.take_along_axis(p, np.expand_dims(y.astype(np.int64), -1), axis=-1)[..., 0]
