"""What a template promises, checked: it shows what is visible only, reads back in one way, and tells no law.

Unique decoding is decided by the template's automaton, not sampled. The round trip is run for every visible pattern, or
for a stated sample where there are many. `posterior_given_memo` states preservation itself, P(y | memo) = P(y | x), and
computes it by listing every memo of a small world. What is not here: templates and draws.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from attrs import frozen

from exactworlds.engine.scaled import ScaledWorld, SettingView
from exactworlds.errors import shorten
from exactworlds.memo.automaton import TooLarge
from exactworlds.memo.streams import Stream
from exactworlds.memo.template import MemoParseError, MemoTemplate, memo_template
from exactworlds.rational import parse_decimal
from exactworlds.spec.rules import Number, children
from exactworlds.spec.templates import Literal, Wording, parse_part
from exactworlds.spec.world import World

__all__ = [
    "ROUND_TRIP_LIMIT",
    "ROUND_TRIP_SAMPLE",
    "Certificate",
    "certify",
    "certify_template",
    "law_in_texts",
    "posterior_given_memo",
    "preservation_faults",
]

ROUND_TRIP_LIMIT = 30_000
"""A setting with up to this many patterns is checked pattern by pattern."""
ROUND_TRIP_SAMPLE = 5_000
"""How many patterns are checked where there are more; they are drawn uniformly by a fixed stream."""

_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]
_NUMBER = re.compile(r"(?<![0-9.])[0-9]+(?:\.[0-9]+)?(?![0-9])")

Write = Callable[[Mapping[str, str], Sequence[str], Mapping[str, int]], str]
"""A renderer that is handed more than it should be: the whole state, beside the pattern and the draws."""


@frozen
class Certificate:
    """What was found for a template in a setting; it holds if there are no faults."""

    template: str
    setting: str
    patterns: int
    checked: int
    faults: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.faults


def certify(world: World, told: Callable[[int, int], None] | None = None) -> list[Certificate]:
    """A certificate for every template in every setting.

    Claim: B.preservation
    """
    scaled = ScaledWorld(world)
    pairs = list(itertools.product(world.templates, world.settings))
    found = []
    for done, (name, setting) in enumerate(pairs):
        if told:
            told(done, len(pairs))
        found.append(certify_template(world, memo_template(world, setting, name, scaled), scaled))
    return found


def certify_template(world: World, template: MemoTemplate, scaled: ScaledWorld) -> Certificate:
    """Structure, unique decoding, round trip, and that no text states the law."""
    patterns = scaled.view(template.setting).patterns
    chosen = _sample(patterns)
    faults = [*_structure(world, template), *_decoding(template)]
    if not faults:
        faults += _round_trip(template, chosen)
    faults += law_in_texts(world, template.name)
    return Certificate(template.name, template.setting, len(patterns), len(chosen), tuple(faults))


def posterior_given_memo(world: World, template: MemoTemplate, write: Write | None = None) -> dict[str, Fraction]:
    """P(y = 1 | memo) for every memo of a small world, by listing every state and every combination of draws.

    States are weighed by the law, draws are uniform. `write` stands in for the template's own renderer and, unlike it,
    is handed the whole state, so that a renderer that leaks can be shown to fail.

    Claim: B.preservation

    Proof: proofs/test_preservation.py::test_every_readable_rendering_preserves_the_posterior
    Proof: proofs/test_preservation.py::test_the_one_line_of_the_argument
    """
    mass: dict[str, Fraction] = {}
    positive: dict[str, Fraction] = {}
    for state, pattern, weight, posterior in _whole_states(world, template):
        for memo, share in _memos_of(template, state, pattern, write):
            mass[memo] = mass.get(memo, Fraction(0)) + weight * share
            positive[memo] = positive.get(memo, Fraction(0)) + weight * share * posterior
    return {memo: positive[memo] / total for memo, total in mass.items()}


def preservation_faults(world: World, template: MemoTemplate, write: Write | None = None) -> list[str]:
    """Where P(y | memo) differs from p*(1 | x) for a memo and a pattern that it is written for.

    Claim: B.preservation
    """
    given_memo = posterior_given_memo(world, template, write)
    given_view = ScaledWorld(world).view(template.setting).table()
    faults: dict[str, None] = {}
    for state, pattern, _, _ in _whole_states(world, template):
        for memo, _ in _memos_of(template, state, pattern, write):
            if given_memo[memo] != given_view[pattern][1]:
                expected = given_view[pattern][1]
                faults[f"the memo {shorten(memo)} says {given_memo[memo]}, what is visible says {expected}"] = None
    return list(faults)


def _whole_states(
    world: World, template: MemoTemplate
) -> Iterator[tuple[dict[str, str], tuple[str, ...], Fraction, Fraction]]:
    """Every state without residual: its levels, its visible pattern, its mass, and P(y = 1 | state)."""
    names = tuple(dict.fromkeys([*world.attribute, *template.visible]))
    for key, (weight, posterior) in SettingView(ScaledWorld(world), names).table().items():
        state = dict(zip(names, key, strict=True))
        yield state, tuple(state[name] for name in template.visible), weight, posterior


def _memos_of(
    template: MemoTemplate, state: Mapping[str, str], pattern: tuple[str, ...], write: Write | None
) -> Iterator[tuple[str, Fraction]]:
    """Every memo of a state with its probability: all combinations of draws, each column uniform."""
    sizes = {column.name: column.size(state.get(column.name, "")) for column in template.columns}
    share = Fraction(1, math.prod(sizes.values()))
    for drawn in itertools.product(*(range(size) for size in sizes.values())):
        draws = dict(zip(sizes, drawn, strict=True))
        yield (write(state, pattern, draws) if write else template.write(pattern, draws)), share


def _sample(patterns: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    if len(patterns) <= ROUND_TRIP_LIMIT:
        return patterns
    rows = Stream("certify", "patterns").uniform(0, ROUND_TRIP_SAMPLE, len(patterns))
    return [patterns[row] for row in rows.tolist()]


def _structure(world: World, template: MemoTemplate) -> Iterator[str]:
    """The template reads visible attributes and irrelevant fields only, and reads all that is visible."""
    named = [item.name for item in template.items if not isinstance(item, str) and not item.name.startswith("wording:")]
    for name in dict.fromkeys(named):
        if name not in template.visible and name not in world.irrelevant:
            yield f"it shows {name!r}, which the setting hides"
    for name in template.visible:
        if name not in named:
            yield f"it does not show {name!r}, which the setting shows"


def _decoding(template: MemoTemplate) -> Iterator[str]:
    try:
        witness = template.chain.ambiguity()
    except TooLarge as error:
        yield f"unique decoding could not be decided: {error}"
        return
    if witness is not None:
        readings = [
            ", ".join(f"{name} {shorten(value, 24)}" for name, value in _differing(template, witness, which))
            for which in (0, 1)
        ]
        yield f"the text {shorten(witness)} has two readings: {readings[0]}; or {readings[1]}"


def _differing(template: MemoTemplate, witness: str, which: int) -> Iterator[tuple[str, str]]:
    """The slots of one reading whose text differs between the two."""
    found = template.chain.readings(witness)
    assert isinstance(found, list)
    for item, ours, other in zip(template.items, found[which].items, found[1 - which].items, strict=True):
        if ours != other and not isinstance(item, str):
            yield item.name, ours


def _round_trip(template: MemoTemplate, patterns: Sequence[tuple[str, ...]]) -> Iterator[str]:
    columns = {
        column.name: Stream("certify", column.name).uniform(0, len(patterns), 2**32).tolist()
        for column in template.columns
    }
    for row, pattern in enumerate(patterns):
        levels = dict(zip(template.visible, pattern, strict=True))
        draws = {
            column.name: columns[column.name][row] % column.size(levels.get(column.name, ""))
            for column in template.columns
        }
        memo = template.write(pattern, draws)
        try:
            found = template.parse(memo).pattern
        except MemoParseError as error:
            yield f"the memo of {pattern} does not read back: {error}"
            return
        if found != pattern:
            yield f"the memo of {pattern} reads back as {found}"
            return


def law_in_texts(world: World, template: str) -> Iterator[str]:
    """Whether a template's own words, or the words of what it shows, state the rule, its numbers or positions.

    Searched are all fixed texts: literals, wordings, labels, units, phrases, choices, the question. Forbidden are rule
    and derived expressions, every number of the law that is not a small integer, and the identifier's positions as
    digits or ordinals. Values that vary (grids, ranges, levels) are what memos are for.
    """
    texts = list(_fixed_texts(world, template))
    expressions = [world.rule_text, *(entry.text for entry in world.derived)]
    squeezed = ["".join(text.split()) for text in texts]
    for expression in expressions:
        wanted = "".join(expression.split())
        if len(wanted) > 3 and any(wanted in text for text in squeezed):
            yield f"its text states the expression {shorten(expression.strip())}"
    numbers = set(_law_numbers(world))
    positions = _positions(world)
    for text in texts:
        for literal in _NUMBER.findall(text):
            value = parse_decimal(literal)
            if value in numbers or (positions and literal in {str(position) for position in positions}):
                yield f"its text {shorten(text)} states the number {literal} of the law"
        for position in positions:
            word = _ORDINALS[position - 1] if position <= len(_ORDINALS) else ""
            if re.search(rf"\b({position}(st|nd|rd|th)|{word or position})\b", text, re.IGNORECASE):
                yield f"its text {shorten(text)} states the position {position} of the identifier"


def _fixed_texts(world: World, template: str) -> Iterator[str]:
    yield world.question
    for part in world.templates[template].parts:
        for piece in parse_part(part):
            if isinstance(piece, Literal):
                yield piece.text
            elif isinstance(piece, Wording):
                yield from piece.options
    for shown in world.shown.values():
        yield from (shown.label, shown.unit or "", *(shown.phrases or {}).values())
    for field in world.irrelevant.values():
        yield from (field.label, *(field.choices or ()))


def _law_numbers(world: World) -> Iterator[Fraction]:
    """Probabilities, table cells, residual values and rule constants, integers below ten left out."""
    numbers = [number.value for attribute in world.attributes for row in attribute.rows.values() for number in row]
    for table in world.tables.values():
        numbers += [parse_decimal(cell) for cell in table.rows.values()] if table.is_number else []
    if world.residual:
        numbers += [number.value for number in world.residual.probabilities]
        numbers += [parse_decimal(literal) for literal in world.residual.literals]
    waiting = [world.rule, *(entry.expression for entry in world.derived)]
    while waiting:
        node = waiting.pop()
        waiting.extend(children(node))
        if isinstance(node, Number):
            numbers.append(parse_decimal(node.literal))
    for number in numbers:
        size = abs(number)
        if size.denominator > 1 or size >= 10:
            yield size


def _positions(world: World) -> list[int]:
    return sorted(
        {place for shown in world.shown.values() if shown.identifier for place in shown.identifier.position.values()}
    )
