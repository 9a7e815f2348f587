"""Conditional label entropy, and the divergence that clipping costs, as certified intervals from an exact table.

    H(Y | X) = − Σ_x P(x) [p* log₂ p* + (1 − p*) log₂(1 − p*)]                              (claim A.entropy)
    D = Σ_x P(x) [p* ln(p*/q) + (1 − p*) ln((1 − p*)/(1 − q))],  q = p* clipped             (claim C.kl)

The irrational numbers of a world. They are enclosed by interval arithmetic, so their digits are proved, not estimated.
What is not here: the 70-digit value that `decimals` computes by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from attrs import frozen
from mpmath.ctx_iv import MPIntervalContext

from exactworlds.rational import decimal_digits

__all__ = ["CERTIFIED_DIGITS", "CLIP", "Interval", "clipped_kl_nats", "entropy_bits"]

CERTIFIED_DIGITS = 40
_WORKING_DIGITS = 60

CLIP = (Fraction(1, 1000), Fraction(999, 1000))
"""P1 clips reports to these before its divergences (Section A.2)."""


@frozen
class Interval:
    """A closed interval with rational ends that holds the number."""

    low: Fraction
    high: Fraction

    @property
    def width(self) -> Fraction:
        return self.high - self.low

    def digits(self, places: int = CERTIFIED_DIGITS) -> str:
        """The rounded decimal expansion, which both ends share."""
        low, high = decimal_digits(self.low, places), decimal_digits(self.high, places)
        if low != high:
            raise ArithmeticError(f"the interval {low} to {high} does not settle {places} digits")
        return low


def entropy_bits(groups: Iterable[tuple[Fraction, Fraction]]) -> Interval:
    """The entropy of a label in bits, from pairs of mass and posterior.

    Claim: A.entropy

    >>> entropy_bits([(Fraction(1), Fraction(1, 2))])
    Interval(low=Fraction(1, 1), high=Fraction(1, 1))
    """
    masses: dict[Fraction, Fraction] = {}
    for mass, posterior in groups:
        masses[posterior] = masses.get(posterior, Fraction(0)) + mass
    halves = masses.pop(Fraction(1, 2), Fraction(0))  # exactly one bit each
    context = MPIntervalContext()  # an own context: global precision belongs to the caller
    context.dps = _WORKING_DIGITS
    total = context.mpf(0)
    logs = {}
    for posterior, mass in sorted(masses.items(), key=_order):  # one order, so that equal laws have equal intervals
        if posterior in (0, 1):
            continue
        whole = posterior.denominator
        for part in (posterior.numerator, whole - posterior.numerator, whole):
            if part not in logs:
                logs[part] = context.log(context.mpf(part))
        positive, negative = posterior.numerator, whole - posterior.numerator
        nats = logs[whole] - (positive * logs[positive] + negative * logs[negative]) / whole
        total += nats * mass.numerator / mass.denominator
    bits = total / context.log(context.mpf(2))
    low, high = _rational(bits.a), _rational(bits.b)
    return Interval(low + halves, high + halves)


def clipped_kl_nats(groups: Iterable[tuple[Fraction, Fraction]]) -> Interval:
    """What the exact posterior is charged when it is clipped like every report: its divergence in nats, from pairs of
    mass and posterior. 0 where no posterior is beyond the bounds.

    Claim: C.kl

    >>> clipped_kl_nats([(Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 2), Fraction(1))]).digits(6)
    '0.000500'
    """
    context = MPIntervalContext()
    context.dps = _WORKING_DIGITS
    total = context.mpf(0)
    masses: dict[Fraction, Fraction] = {}
    for mass, posterior in groups:
        masses[posterior] = masses.get(posterior, Fraction(0)) + mass
    for posterior, mass in sorted(masses.items(), key=_order):
        report = min(max(posterior, CLIP[0]), CLIP[1])
        if report == posterior:
            continue
        for share, said in ((posterior, report), (1 - posterior, 1 - report)):
            if share:
                ratio, weight = share / said, mass * share
                logarithm = context.log(context.mpf(ratio.numerator) / ratio.denominator)
                total += logarithm * weight.numerator / weight.denominator
    return Interval(_rational(total.a), _rational(total.b))


def _order(item: tuple[Fraction, Fraction]) -> tuple[int, int]:
    return item[0].denominator, item[0].numerator


def _rational(end: object) -> Fraction:
    """The exact value of one end of an interval, which is a binary floating-point number."""
    sign, mantissa, exponent, _ = end._mpi_[0]  # type: ignore[attr-defined]  # mpmath has no public accessor
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -value if sign else value
