"""Admission: the exact engines agree to the last digit, and the 70-digit path agrees with them within 1e-15.

    |exact − second path| ≤ 10⁻¹⁵ for every posterior, prior, Bayes error and entropy          (claim A.engines)

absolute, inclusive, taken at 70 digits. A world that fails is refused. What is not here: the engines, and what a
figure is compared with on paper (`audit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from attrs import frozen

from exactworlds.engine import decimals, scaled
from exactworlds.engine import enumerate as definition
from exactworlds.engine.entropy import Interval
from exactworlds.rational import parse_exact
from exactworlds.spec.world import World

__all__ = [
    "ENUMERATION_LIMIT",
    "TOLERANCE",
    "Admission",
    "Comparison",
    "Figures",
    "admit",
    "differences",
    "exact_figures",
    "largest_difference",
]

TOLERANCE = Fraction(1, 10**15)
ENUMERATION_LIMIT = 1_000_000
"""`enumerate` visits worlds of up to this many states with residual; above it the two other engines decide."""

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@frozen
class Figures:
    """The exact figures of one setting at one scale."""

    setting: str
    scale: str
    prior: Fraction
    bayes_error: Fraction
    entropy: Interval
    patterns: int


@frozen
class Comparison:
    """How far the second path is from the exact figures of one setting at one scale, at most."""

    setting: str
    scale: str
    prior: Fraction
    bayes_error: Fraction
    entropy: Fraction
    posterior: Fraction

    @property
    def largest(self) -> Fraction:
        return max(self.prior, self.bayes_error, self.entropy, self.posterior)


@frozen
class Admission:
    """What admission found: the figures, the comparisons, and each disagreement as a sentence."""

    figures: Mapping[tuple[str, str], Figures]
    comparisons: Mapping[tuple[str, str], Comparison]
    enumerated: tuple[str, ...]
    disagreements: tuple[str, ...]

    @property
    def admitted(self) -> bool:
        return not self.disagreements

    @property
    def largest(self) -> Fraction:
        """The largest difference between the exact figures and the second path."""
        return max((comparison.largest for comparison in self.comparisons.values()), default=Fraction(0))


def admit(
    world: World,
    scales: tuple[str, ...] | None = None,
    *,
    exact: scaled.ScaledWorld | None = None,
    enumerated_scales: tuple[str, ...] = ("1",),
    progress: Progress | None = None,
) -> Admission:
    """Runs the engines against each other: `scaled` and `decimals` at every scale, `enumerate` at those named.

    Scales default to the world's own. `enumerate` is left out above `ENUMERATION_LIMIT` states, and the result says
    at which scales it ran. `exact` is the world in arrays, where the caller has it already.

    Claim: A.engines
    """
    chosen = scales if scales is not None else world.scales
    told = progress or (lambda what, done, total: None)
    told("reading the world into arrays", 0, 1)
    exact = exact or scaled.ScaledWorld(world)
    second = decimals.DecimalWorld(world, lambda done: told("second path, states", done, world.states))
    figures, comparisons = {}, {}
    disagreements: list[str] = []
    pairs = [(setting, scale) for scale in chosen for setting in world.settings]
    places = {name: _places(exact.view(name).patterns, second.patterns(name)) for name in world.settings}
    for name, place in places.items():
        if place is None:
            disagreements.append(f"{name}: the engines find different patterns of positive mass")
    for done, (setting, scale) in enumerate(pairs, start=1):
        told("comparing settings and scales", done, len(pairs))
        figures[setting, scale] = exact_figures(exact, setting, scale)
        place = places[setting]
        if place is not None:
            found = differences(exact, second, figures[setting, scale], place)
            comparisons[setting, scale] = found
            if found.largest > TOLERANCE:
                disagreements.append(f"{setting} at scale {scale}: the paths differ by {float(found.largest):.3e}")
    ran = [scale for scale in enumerated_scales if scale in chosen]
    if world.states_with_residual > ENUMERATION_LIMIT:
        ran = []
    for scale in ran:
        tables = definition.pattern_tables(
            world, parse_exact(scale), lambda done: told("enumerating states", done, world.states)
        )
        for setting, table in tables.items():
            known = figures.get((setting, scale))
            disagreements += _table_differences(exact, setting, scale, table, known)
    return Admission(figures, comparisons, tuple(ran), tuple(disagreements))


def exact_figures(exact: scaled.ScaledWorld, setting: str, scale: str) -> Figures:
    """The exact figures of a setting at a scale, from `scaled`."""
    view = exact.view(setting)
    value = parse_exact(scale)
    return Figures(
        setting,
        scale,
        prior=view.prior(value),
        bayes_error=view.bayes_error(value),
        entropy=view.entropy(value),
        patterns=view.pattern_count,
    )


def differences(
    exact: scaled.ScaledWorld,
    second: decimals.DecimalWorld,
    figures: Figures,
    places: list[int],
) -> Comparison:
    """The largest differences of a setting at a scale; an entropy is compared with both ends of its interval."""
    mp = second.context
    setting, scale = figures.setting, figures.scale
    estimate = second.estimate(setting, scale)
    posteriors = exact.view(setting).posteriors(parse_exact(scale))
    pairs = {
        (id(mine), id(theirs)): (mine, theirs)
        for mine, theirs in zip((posteriors[place] for place in places), estimate.posteriors, strict=True)
    }
    entropy = [estimate.entropy_bits] * 2
    return Comparison(
        setting,
        scale,
        prior=largest_difference([figures.prior], [estimate.prior], mp),
        bayes_error=largest_difference([figures.bayes_error], [estimate.bayes_error], mp),
        entropy=largest_difference([figures.entropy.low, figures.entropy.high], entropy, mp),
        posterior=largest_difference([mine for mine, _ in pairs.values()], [real for _, real in pairs.values()], mp),
    )


def largest_difference(exact: Iterable[Fraction], second: Iterable[Any], context: Any) -> Fraction:
    """The largest |exact − second| of pairs of a fraction and a real number of `context`, taken at its precision.

    Claim: A.engines
    """
    differences = [
        abs(theirs - context.mpf(mine.numerator) / mine.denominator) for mine, theirs in zip(exact, second, strict=True)
    ]
    return _rational(max(differences))


def _places(exact: list[tuple[str, ...]], second: list[tuple[str, ...]]) -> list[int] | None:
    """Where each pattern of the second path stands in the exact table; None if they are not the same patterns."""
    index = dict(zip(exact, range(len(exact)), strict=True))
    if len(second) != len(index) or any(pattern not in index for pattern in second):
        return None
    return [index[pattern] for pattern in second]


def _table_differences(
    exact: scaled.ScaledWorld,
    setting: str,
    scale: str,
    table: Mapping[tuple[str, ...], tuple[Fraction, Fraction]],
    figures: Figures | None,
) -> Iterator[str]:
    where = f"{setting} at scale {scale}"
    if exact.view(setting).table(parse_exact(scale)) != table:
        yield f"{where}: the tables of pattern, mass and posterior differ between enumerate and scaled"
    if figures and definition.prior(table) != figures.prior:
        yield f"{where}: the priors differ between enumerate and scaled"
    if figures and definition.bayes_error(table) != figures.bayes_error:
        yield f"{where}: the Bayes errors differ between enumerate and scaled"


def _rational(value: Any) -> Fraction:
    """The exact value of an mpf."""
    sign, mantissa, exponent, _ = value._mpf_
    size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -size if sign else size
