"""What can be computed of a world and compared or pinned, each under an id such as `peer-review/low/1/bayes-error`.

    WORLD/SETTING/SCALE/bayes-error | entropy-bits | patterns | table      WORLD/SCALE/prior      WORLD/…

A value is a Fraction, a certified interval (entropies only), or a text. What is not here: what a value is compared
with (`golden.cells`, `audit`).
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import cast

from attrs import frozen

from exactworlds.engine.entropy import Interval
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import NotFound
from exactworlds.golden.identification import covert_bayes_error, covert_entropy_bits, identification
from exactworlds.memo.cases import CaseSource
from exactworlds.rational import exact_text, fraction_text, parse_decimal, parse_exact
from exactworlds.spec.digest import digest_of
from exactworlds.spec.document import IrrelevantTable
from exactworlds.spec.rules import Number
from exactworlds.spec.world import World

__all__ = ["Quantities", "Value", "value_text"]

Value = Fraction | Interval | str


def value_text(value: Value) -> str:
    """The canonical text of a value: a fraction in lowest terms, 40 certified digits, or the text itself.

    >>> value_text(Fraction(2, 4)), value_text("yes")
    ('1/2', 'yes')
    """
    if isinstance(value, Fraction):
        return fraction_text(value)
    return value.digits() if isinstance(value, Interval) else value


@frozen
class _Place:
    """A setting at a scale."""

    setting: str
    scale: Fraction


class Quantities:
    """The quantities of one world, computed on demand and kept."""

    def __init__(self, world: World, scaled: ScaledWorld | None = None) -> None:
        self.world = world
        self.scaled = scaled or ScaledWorld(world)
        self._known: dict[str, Value] = {}

    def pinned(self) -> Iterator[tuple[str, str]]:
        """The ids that a golden file pins, each with the claim that it belongs to."""
        world = self.world
        yield f"{world.id}/states", "A.posterior"
        yield f"{world.id}/states-with-residual", "A.posterior"
        for setting in world.settings:
            yield f"{world.id}/{setting}/1/patterns", "A.posterior"
            yield f"{world.id}/{setting}/1/table", "A.posterior"
            yield f"{world.id}/{setting}/1/clipped-kl-nats", "C.kl"
        for setting in world.settings if world.templates else ():
            yield f"{world.id}/{setting}/1/draws", "B.draws"
            for template in world.templates:
                yield f"{world.id}/{setting}/memos/{template}", "B.preservation"
        for scale in world.scales:
            yield f"{world.id}/{scale}/prior", "A.prior"
            for setting in world.settings:
                yield f"{world.id}/{setting}/{scale}/bayes-error", "A.bayes-error"
                yield f"{world.id}/{setting}/{scale}/entropy-bits", "A.entropy"

    @staticmethod
    def is_transcribed(quantity: str) -> bool:
        """Whether a quantity merely reads an entry of the spec back, so that a match shows a faithful copy only."""
        _, *parts = quantity.split("/")
        return parts[0] in _TRANSCRIBED

    def know(self, quantity: str, value: Value) -> None:
        """Takes a value that was computed already."""
        self._known[quantity] = value

    def value(self, quantity: str) -> Value:
        """The value of a quantity, or `NotFound`."""
        if quantity not in self._known:
            self._known[quantity] = self._compute(quantity)
        return self._known[quantity]

    def _compute(self, quantity: str) -> Value:
        world, *parts = quantity.split("/")
        if world == self.world.id:
            match parts:
                case [setting, scale, figure] if setting in self.world.settings and figure in _FIGURES:
                    place = _Place(setting, parse_exact(scale))
                    return _FIGURES[figure](self.scaled, place)
                case [setting, "memos", template] if setting in self.world.settings:
                    return _memo_digest(self.world, setting, template) if template in self.world.templates else "none"
                case [scale, "prior"]:
                    setting = next(iter(self.world.settings))
                    return self.scaled.view(setting).prior(parse_exact(scale))
                case [name] if name in _COUNTS:
                    return _COUNTS[name](self)
                case [kind, *names] if kind in _PARTS:
                    found = _PARTS[kind](self.world, names)
                    if found is not None:
                        return found
        raise NotFound("quantity", quantity, [f"those of {self.world.id}"])


def _table_digest(scaled: ScaledWorld, place: _Place) -> str:
    """The digest of the whole table, one sorted line a pattern: pattern, mass, posterior."""
    lines = sorted(
        "\t".join([*pattern, fraction_text(mass), fraction_text(posterior)])
        for pattern, (mass, posterior) in scaled.view(place.setting).table(place.scale).items()
    )
    return "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()


PINNED_SEED = "0"
PINNED_ROWS = 100


def _draw_digest(scaled: ScaledWorld, place: _Place) -> str:
    """The digest of the first rows that seed 0 draws: id, pattern, label. It pins the stream and what is made of it."""
    source = CaseSource(scaled.world, place.setting, next(iter(scaled.world.templates)), PINNED_SEED, scale=place.scale)
    drawn = source.draw(0, PINNED_ROWS)
    return digest_of([[drawn.id(row), *drawn.pattern(row), bool(drawn.positive[row])] for row in range(PINNED_ROWS)])


def _memo_digest(world: World, setting: str, template: str) -> str:
    """The digest of the memos of the first rows that seed 0 draws."""
    source = CaseSource(world, setting, template, PINNED_SEED)
    drawn = source.draw(0, PINNED_ROWS)
    return digest_of([source.memo(drawn, row) for row in range(PINNED_ROWS)])


_FIGURES: dict[str, Callable[[ScaledWorld, _Place], Value]] = {
    "bayes-error": lambda scaled, place: scaled.view(place.setting).bayes_error(place.scale),
    "entropy-bits": lambda scaled, place: scaled.view(place.setting).entropy(place.scale),
    "clipped-kl-nats": lambda scaled, place: scaled.view(place.setting).clipped_kl(place.scale),
    "patterns": lambda scaled, place: Fraction(scaled.view(place.setting).pattern_count),
    "table": _table_digest,
    "draws": _draw_digest,
}


def _residual_mass(quantities: Quantities) -> Fraction:
    """P(R ≠ 0) at s = 1."""
    residual = quantities.world.residual
    if residual is None:
        return Fraction(0)
    law = zip(residual.literals, residual.probabilities, strict=True)
    return sum((number.value for literal, number in law if parse_decimal(literal) != 0), Fraction(0))


def _impossible_states(quantities: Quantities) -> Fraction:
    """How many states without residual have probability 0."""
    return Fraction(quantities.world.states - quantities.scaled.everything.pattern_count)


def strict_rises(quantities: Quantities) -> Fraction:
    """How often the Bayes error rises strictly from a setting to the next, which shows a function of what it showed.

    Claim: A.hiding
    """
    world = quantities.world
    rises = 0
    for finer, coarser in itertools.pairwise(world.settings.values()):
        is_coarser = set(coarser.visible) <= set(finer.visible)
        before, after = (quantities.value(f"{world.id}/{setting.name}/1/bayes-error") for setting in (finer, coarser))
        rises += is_coarser and cast(Fraction, before) < cast(Fraction, after)
    return Fraction(rises)


def _identifier_letters(quantities: Quantities) -> Fraction:
    """How many letters the identifier has, display hyphens not counted; 0 without one."""
    identifiers = [entry.identifier for entry in quantities.world.shown.values() if entry.identifier]
    return Fraction(identifiers[0].length if identifiers else 0)


_COUNTS: dict[str, Callable[[Quantities], Value]] = {
    "states": lambda quantities: Fraction(quantities.world.states),
    "states-with-residual": lambda quantities: Fraction(quantities.world.states_with_residual),
    "impossible-states": _impossible_states,
    "residual-mass": _residual_mass,
    "strict-rises": strict_rises,
    "identifier-letters": _identifier_letters,
    "factors": lambda quantities: Fraction(sum(entry.is_number for entry in quantities.world.attributes)),
    "irrelevant-fields": lambda quantities: Fraction(len(quantities.world.irrelevant)),
    "question": lambda quantities: quantities.world.question,
}


_TRANSCRIBED = {
    *("weight", "weight-sum", "derived", "in-every-setting", "hides", "shown", "irrelevant"),
    *("identifier-letters", "factors", "irrelevant-fields", "question"),
}


def _weight(world: World, names: list[str]) -> Value | None:
    """A cell of a table, such as weight/empirical/novelty."""
    table = world.tables.get("weight")
    cell = table.rows.get(tuple(names)) if table else None
    return None if cell is None else parse_decimal(cell)


def _weight_sum(world: World, names: list[str]) -> Value | None:
    """The sum of a row of the weights."""
    table = world.tables.get("weight")
    cells = [cell for key, cell in table.rows.items() if list(key[:1]) == names] if table else []
    return sum((parse_decimal(cell) for cell in cells), Fraction(0)) if cells else None


def _constant(world: World, names: list[str]) -> Value | None:
    """The value of a derived attribute that is a plain number."""
    entry = world.derived_by_name.get(names[0]) if len(names) == 1 else None
    if entry is None or not isinstance(entry.expression, Number):
        return None
    return parse_decimal(entry.expression.literal)


def _in_every_setting(world: World, names: list[str]) -> Value | None:
    shown = all(names[0] in setting.visible for setting in world.settings.values())
    return "yes" if shown else "no"


def _hides(world: World, names: list[str]) -> Value | None:
    """The labels, in lower case, of what a setting hides that the one before it shows."""
    order = list(world.settings)
    if names[0] not in order[1:]:
        return None
    now = world.settings[names[0]]
    before = world.settings[order[order.index(names[0]) - 1]]
    hidden = [name for name in before.visible if name not in now.visible]
    return ", ".join(world.shown[name].label.lower() if name in world.shown else name for name in hidden)


def _shown_value(world: World, names: list[str]) -> Value | None:
    """How a level is written: its phrase, or the first and last value of its grid."""
    entry = world.shown.get(names[0])
    if entry is None or len(names) != 2:
        return None
    if entry.phrases and names[1] in entry.phrases:
        return entry.phrases[names[1]]
    if entry.grid and names[1] in entry.grid:
        return "–".join(end.raw for end in entry.grid[names[1]])
    return None


def _closed_form(world: World, names: list[str]) -> Value | None:
    """A figure of the covert-transfer model by its closed form, from the range sizes of a table."""
    if len(names) != 2 or names[0] not in world.tables:
        return None
    table = world.tables[names[0]]
    sizes = tuple(Counter(table.rows.values()).values())
    if names[1] == "bayes-error":
        return covert_bayes_error(len(table.rows), sizes)
    return covert_entropy_bits(len(table.rows), sizes) if names[1] == "entropy-bits" else None


def _irrelevant_value(world: World, names: list[str]) -> Value | None:
    """What an irrelevant field ranges over."""
    entry: IrrelevantTable | None = world.irrelevant.get(names[0])
    if entry is None:
        return None
    return ", ".join(entry.choices) if entry.choices else "–".join(map(exact_text, map(Fraction, entry.range or ())))


_PARTS: dict[str, Callable[[World, list[str]], Value | None]] = {
    "weight": _weight,
    "weight-sum": _weight_sum,
    "derived": _constant,
    "in-every-setting": _in_every_setting,
    "hides": _hides,
    "shown": _shown_value,
    "irrelevant": _irrelevant_value,
    "identification": lambda _, names: identification("/".join(names)),
    "closed-form": _closed_form,
}
