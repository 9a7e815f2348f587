"""Cases: states drawn exactly from a world's law, with the label that the rule gives them, and their memos.

A case is a pure function of (law digest, setting, scale, seed, index), its wording of (text digest, template, seed,
index). Each attribute, the residual, the ids and each column of the wording have a stream of their own, keyed by name:
neither the order of a file nor the size of a batch matters, and nothing that is public tells anything of the labels.
What is not here: task folders (`files`).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from exactworlds.engine.integer_arrays import ArrayEvaluator, Levels, Numbers, Value, numbers_from_literals
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.memo.slots import Column
from exactworlds.memo.streams import Stream
from exactworlds.memo.template import MemoTemplate, memo_template
from exactworlds.rational import common_denominator, exact_text
from exactworlds.spec.digest import law_digest, text_digest
from exactworlds.spec.world import Attribute, World

__all__ = ["Case", "CaseSource", "Drawn"]

Array = NDArray[Any]


@frozen
class Case:
    """One drawn case: what is visible, the label, and the exact probability of the positive class given the view."""

    index: int
    id: str
    pattern: tuple[str, ...]
    positive: bool
    posterior: Fraction
    memo: str


@frozen(eq=False)
class Drawn:
    """Consecutive cases in columns, as small as their values allow.

    `codes` index `texts`, one column a visible name; `wording` holds the draws of the template's columns.
    """

    start: int
    codes: Mapping[str, Array]
    texts: Mapping[str, Sequence[str]]
    positive: NDArray[np.bool_]
    ids: NDArray[np.uint64]
    wording: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.positive)

    def pattern(self, row: int) -> tuple[str, ...]:
        return tuple([self.texts[name][codes[row]] for name, codes in self.codes.items()])

    def id(self, row: int) -> str:
        """96 bits of the row's own stream, as hexadecimal digits."""
        return f"{int(self.ids[row, 0]):016x}{int(self.ids[row, 1]) >> 32:08x}"

    def draws(self, row: int) -> dict[str, int]:
        return {name: int(column[row]) for name, column in self.wording.items()}


class CaseSource:
    """Draws cases of one world, setting, template and seed."""

    def __init__(self, world: World, setting: str, template: str, seed: str, *, scale: Fraction = Fraction(1)) -> None:
        self.world, self.setting, self.seed, self.scale = world, setting, seed, scale
        self._scaled = ScaledWorld(world)
        self.template: MemoTemplate = memo_template(world, setting, template, self._scaled)
        self._law = (law_digest(world), setting, exact_text(scale), seed)
        self._text = (text_digest(world), template, seed)
        self._weights = {
            attribute.name: _Weights(attribute, [world.attribute[parent].levels for parent in attribute.given])
            for attribute in world.attributes
        }
        self._residual = self._scaled.residual_weights(scale)

    @cached_property
    def posteriors(self) -> dict[tuple[str, ...], Fraction]:
        """p*(1 | x) of every pattern."""
        table = self._scaled.view(self.setting).table(self.scale)
        return {pattern: posterior for pattern, (_, posterior) in table.items()}

    def draw(self, start: int, rows: int) -> Drawn:
        """The cases start … start + rows − 1 in columns.

        Claim: B.draws
        """
        values, positive = self._states(start, rows)
        codes, texts = {}, {}
        for name in self.world.settings[self.setting].visible:
            column, texts[name] = _coded(values[name], rows)
            codes[name] = _smallest(column, len(texts[name]))
        ids = Stream("ids", *self._law).words(start, rows)[:, :2].copy()
        wording = {column.name: self._wording(column, start, rows, codes, texts) for column in self.template.columns}
        return Drawn(start, codes, texts, positive, ids, wording)

    def case(self, drawn: Drawn, row: int) -> Case:
        """One case of a batch, with its memo."""
        pattern = drawn.pattern(row)
        return Case(
            index=drawn.start + row,
            id=drawn.id(row),
            pattern=pattern,
            positive=bool(drawn.positive[row]),
            posterior=self.posteriors[pattern],
            memo=self.memo(drawn, row),
        )

    def memo(self, drawn: Drawn, row: int) -> str:
        """The memo of one case of a batch; this needs no posterior."""
        return self.template.write(drawn.pattern(row), drawn.draws(row))

    def cases(self, start: int, rows: int) -> list[Case]:
        """A few cases at once."""
        drawn = self.draw(start, rows)
        return [self.case(drawn, row) for row in range(rows)]

    def _states(self, start: int, rows: int) -> tuple[dict[str, Value], NDArray[np.bool_]]:
        """The drawn states as arrays of values, and where the label is positive."""
        levels: dict[str, Array] = {}
        values: dict[str, Value] = {}
        for attribute in self.world.attributes:
            weights = self._weights[attribute.name]
            number = Stream("attribute", attribute.name, *self._law).uniform(start, rows, weights.denominator)
            levels[attribute.name] = weights.pick(number, [levels[parent] for parent in attribute.given])
            values[attribute.name] = _values(attribute, levels[attribute.name])
        residual = self.world.residual
        if residual is not None:
            weights_at_scale, denominator = self._residual
            number = Stream("residual", *self._law).uniform(start, rows, denominator)
            picked = np.searchsorted(_cumulative(weights_at_scale, denominator), number, side="right")
            flat = numbers_from_literals(list(residual.literals))
            values[residual.name] = Numbers(flat.array[picked.astype(np.intp)], flat.exponent, flat.bound)
        evaluator = ArrayEvaluator(values, self.world.tables, frozenset())
        for entry in self.world.derived:
            evaluator.names[entry.name] = evaluator.evaluate(entry.expression)
        positive = np.broadcast_to(evaluator.booleans(self.world.rule), rows).copy()
        return dict(evaluator.names), positive

    def _wording(
        self,
        column: Column,
        start: int,
        rows: int,
        codes: Mapping[str, Array],
        texts: Mapping[str, Sequence[str]],
    ) -> Array:
        """The draws of one column; where the size depends on the level, each size draws from the same bits."""
        stream, sizes = Stream("wording", column.name, *self._text), column.sizes
        if isinstance(sizes, int):
            return _smallest(stream.uniform(start, rows, sizes), sizes)
        by_size = {size: stream.uniform(start, rows, size) for size in sorted(set(sizes.values()))}
        drawn = np.zeros(rows, dtype=np.int64)
        for code, level in enumerate(texts[column.name]):
            where = codes[column.name] == code
            drawn[where] = by_size[sizes[level]][where]
        return _smallest(drawn, max(sizes.values()))


class _Weights:
    """An attribute's distribution as integers, ready for picking levels."""

    def __init__(self, attribute: Attribute, parents: Sequence[tuple[str, ...]]) -> None:
        probabilities = [number.value for row in attribute.rows.values() for number in row]
        self.denominator = common_denominator(probabilities)
        self.rows = {
            tuple(levels.index(level) for levels, level in zip(parents, key, strict=True)): _cumulative(
                [int(number.value * self.denominator) for number in row], self.denominator
            )
            for key, row in attribute.rows.items()
        }

    def pick(self, numbers: Array, parents: Sequence[Array]) -> Array:
        """The level index of each row, given the level indices of its parents."""
        if not parents:
            return np.searchsorted(self.rows[()], numbers, side="right")
        picked = np.zeros(len(numbers), dtype=np.intp)
        for key, cumulative in self.rows.items():
            where = np.logical_and.reduce([parent == index for parent, index in zip(parents, key, strict=True)])
            picked[where] = np.searchsorted(cumulative, numbers[where], side="right")
        return picked


def _cumulative(weights: Sequence[int], denominator: int) -> Array:
    return np.array(list(itertools.accumulate(weights)), dtype=object if denominator > 2**62 else np.int64)


def _values(attribute: Attribute, index: Array) -> Value:
    if attribute.is_number:
        flat = numbers_from_literals(list(attribute.levels))
        return Numbers(flat.array[index], flat.exponent, flat.bound)
    return Levels(index, attribute.levels)


def _coded(value: Value, rows: int) -> tuple[Array, Sequence[str]]:
    """A column of values as codes and the texts that they stand for."""
    if isinstance(value, Levels):
        return np.broadcast_to(value.indices, rows), value.names
    if isinstance(value, Numbers):
        distinct, codes = np.unique(np.broadcast_to(value.array, rows), return_inverse=True)
        return codes, [exact_text(Fraction(int(entry), 10**value.exponent)) for entry in distinct]
    return np.broadcast_to(value, rows).astype(np.intp), ("false", "true")


def _smallest(column: Array, size: int) -> Array:
    """The column in the smallest type that holds values below `size`."""
    return column.astype(np.min_scalar_type(max(size - 1, 0)))
