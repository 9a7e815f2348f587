"""What a world is, on one screen: its question, what each setting shows, its exact figures, and a small plot.

At most 60 lines of 80 columns, readable without colour. What is not here: admission and goldens (`audit.verify`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from attrs import frozen

from exactworlds.engine.admit import Admission
from exactworlds.engine.entropy import Interval
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.golden.quantities import value_text
from exactworlds.rational import decimal_digits
from exactworlds.spec.digest import law_digest, text_digest
from exactworlds.spec.world import World

__all__ = ["SettingPortrait", "check_lines", "portrait_json", "setting_portrait", "show_lines"]

COLUMNS = 80
_BARS = "▁▂▃▄▅▆▇█"
_SHOWN_IN_FULL = 6


@frozen
class SettingPortrait:
    """The exact figures of a setting, and the law of p*(1 | x) in bins of equal width."""

    name: str
    visible: tuple[str, ...]
    patterns: int
    prior: Fraction
    bayes_error: Fraction
    entropy: Interval
    bins: tuple[Fraction, ...]
    certain: Fraction


def setting_portrait(scaled: ScaledWorld, setting: str, bins: int = 20) -> SettingPortrait:
    """The portrait of a setting at s = 1; a bin is [b/B, (b+1)/B), the last one closed."""
    view = scaled.view(setting)
    masses = [Fraction(0)] * bins
    certain = Fraction(0)
    by_posterior: dict[Fraction, Fraction] = {}
    for mass, posterior in view.table().values():
        by_posterior[posterior] = by_posterior.get(posterior, Fraction(0)) + mass
    for posterior, mass in by_posterior.items():
        masses[min(int(posterior * bins), bins - 1)] += mass
        certain += mass if posterior in (0, 1) else 0
    return SettingPortrait(
        name=setting,
        visible=view.visible,
        patterns=view.pattern_count,
        prior=view.prior(),
        bayes_error=view.bayes_error(),
        entropy=view.entropy(),
        bins=tuple(masses),
        certain=certain,
    )


def show_lines(world: World, portraits: list[SettingPortrait], *, full: bool) -> Iterator[str]:
    """A world and its settings; `full` draws one setting's plot over several lines."""
    yield from _head(world)
    for portrait in portraits:
        yield ""
        yield from _figures(world, portrait)
        yield from (_histogram(portrait) if full else _sparkline(portrait))


def check_lines(
    world: World, portraits: list[SettingPortrait], admission: Admission, notes: list[str]
) -> Iterator[str]:
    """The verdict on a world that was checked, and its portrait."""
    if admission.admitted:
        largest = float(admission.largest)
        yield f"✓ {world.id} is admitted"
        yield f"  the engines agree: largest difference {largest:.1e}, allowed 1e-15"
    else:
        yield f"✗ {world.id} is refused:"
        for sentence in admission.disagreements:
            yield from textwrap.wrap(sentence, COLUMNS, initial_indent="  ", subsequent_indent="    ")
    for note in notes:
        yield from textwrap.wrap(note, COLUMNS, initial_indent="  ", subsequent_indent="    ")
    yield ""
    if len(portraits) <= _SHOWN_IN_FULL:
        yield from show_lines(world, portraits, full=False)
        return
    yield from _head(world)
    for portrait in portraits[: COLUMNS // 2]:
        error = decimal_digits(portrait.bayes_error, 6)
        yield f"  {portrait.name[:24]:<24} Bayes error {error}  entropy {portrait.entropy.digits(6)} bits"
    if len(portraits) > COLUMNS // 2:
        yield f"  … and {len(portraits) - COLUMNS // 2} more settings ('exactworlds show --setting NAME' shows one)"


def portrait_json(world: World, portraits: list[SettingPortrait]) -> dict[str, Any]:
    """A world and its settings as plain JSON values."""
    return {
        "world": world.id,
        "title": world.title,
        "question": world.question,
        "labels": {"positive": world.labels.positive, "negative": world.labels.negative},
        "law": law_digest(world),
        "text": text_digest(world),
        "states": world.states,
        "states_with_residual": world.states_with_residual,
        "settings": [_setting_json(portrait) for portrait in portraits],
    }


def _setting_json(portrait: SettingPortrait) -> Mapping[str, Any]:
    return {
        "setting": portrait.name,
        "visible": list(portrait.visible),
        "patterns": portrait.patterns,
        "prior": value_text(portrait.prior),
        "bayes_error": value_text(portrait.bayes_error),
        "entropy_bits": value_text(portrait.entropy),
        "posterior_bins": [value_text(mass) for mass in portrait.bins],
        "mass_where_certain": value_text(portrait.certain),
    }


def _head(world: World) -> Iterator[str]:
    question = world.question[:1].upper() + world.question[1:]
    yield from textwrap.wrap(f"{world.title}: {question}", COLUMNS)
    yield from textwrap.wrap(
        f"positive: {world.labels.positive}, negative: {world.labels.negative}; {world.states:,} states"
        + (f", {world.states_with_residual:,} with the residual" if world.residual else ", no residual"),
        COLUMNS,
    )
    provenance = [entry.kind for entry in world.provenance.values()]
    kinds = {kind: provenance.count(kind) for kind in ("published", "forced", "calibrated", "chosen")}
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    yield from textwrap.wrap(f"numbers and tables: {listed}", COLUMNS)


def _figures(world: World, portrait: SettingPortrait) -> Iterator[str]:
    labels = [world.shown[name].label if name in world.shown else name for name in portrait.visible]
    shows = ", ".join(labels) if labels else "nothing"
    text = f"{portrait.name} shows {shows}"
    yield from textwrap.wrap(text, COLUMNS, subsequent_indent="  ", max_lines=4, placeholder=" …")
    yield f"  prior       {decimal_digits(portrait.prior, 12)}    patterns {portrait.patterns:,}"
    yield f"  Bayes error {decimal_digits(portrait.bayes_error, 12)}    entropy {portrait.entropy.digits(12)} bits"


def _sparkline(portrait: SettingPortrait) -> Iterator[str]:
    """One character a bin; a bin that holds anything is never blank."""
    top = max(portrait.bins)
    bars = "".join(_BARS[min(int(mass / top * len(_BARS)), len(_BARS) - 1)] if mass else " " for mass in portrait.bins)
    yield f"  p*(1|x)  0 |{bars}| 1   certain on {_percent(portrait.certain)} of the mass"


def _histogram(portrait: SettingPortrait) -> Iterator[str]:
    """A line a bin, its bar as long as its mass."""
    top = max(portrait.bins)
    width = 44
    yield ""
    yield f"  how the mass lies on p*(1|x); it is 0 or 1 on {_percent(portrait.certain)} of it"
    bins = len(portrait.bins)
    for index, mass in enumerate(portrait.bins):
        closing = "]" if index == bins - 1 else ")"
        place = f"[{decimal_digits(Fraction(index, bins), 2)}, {decimal_digits(Fraction(index + 1, bins), 2)}{closing}"
        bar = "█" * round(mass / top * width) or ("▏" if mass else "")
        yield f"  {place} {_percent(mass):>7} {bar}".rstrip()


def _percent(mass: Fraction) -> str:
    return f"{decimal_digits(100 * mass, 2)}%"
