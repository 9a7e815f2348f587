"""The same numbers as `enumerate`, fast: integers over a common denominator in NumPy arrays, one axis an attribute.

The rule is evaluated over all states at once, once for each residual value. Attributes that a setting hides are summed
out axis by axis; probabilities stay integers over their common denominators and become Fractions at the end. Arrays
are int64 while a bound proves that they cannot overflow, and Python integers after that. What is not here: the rule's
arithmetic (`engine.integer_arrays`) and the entropy's interval (`engine.entropy`).
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from exactworlds.engine.entropy import Interval, clipped_kl_nats, entropy_bits
from exactworlds.engine.integer_arrays import (
    SAFE,
    ArrayEvaluator,
    Booleans,
    Levels,
    Numbers,
    Value,
    integers,
    numbers_from_literals,
)
from exactworlds.errors import InvalidArgument
from exactworlds.rational import common_denominator, exact_text, parse_decimal
from exactworlds.spec.rules import names_in
from exactworlds.spec.world import Attribute, World

__all__ = ["ScaledWorld", "SettingView"]

Array = NDArray[Any]
Pattern = tuple[str, ...]


@frozen(eq=False)
class Factor:
    """The distribution of one attribute given its parents: integers over `denominator`, on the axes they stand for."""

    axes: frozenset[int]
    array: Array
    denominator: int


class ScaledWorld:
    """A world as integer arrays; everything is computed on demand and what does not depend on the scale is kept."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.axis = {attribute.name: index for index, attribute in enumerate(world.attributes)}
        self.rank = len(world.attributes)
        self.factors = [self._factor(attribute) for attribute in world.attributes]
        residual = {world.residual.name} if world.residual else set()
        moving = residual | {entry.name for entry in world.derived if entry.reads_residual}
        names = {attribute.name: self._coordinates(attribute) for attribute in world.attributes}
        self.evaluator = ArrayEvaluator(names, world.tables, frozenset(moving))
        for entry in world.derived:
            if not entry.reads_residual:
                self.evaluator.names[entry.name] = self.evaluator.evaluate(entry.expression)
        self._views: dict[str, SettingView] = {}
        self._likelihood: tuple[Fraction, tuple[Array, int]] | None = None

    def view(self, setting: str) -> SettingView:
        """The world as a setting shows it."""
        if setting not in self._views:
            self._views[setting] = SettingView(self, self.world.settings[setting].visible)
        return self._views[setting]

    @cached_property
    def everything(self) -> SettingView:
        """The world as it would be with every attribute visible: its patterns are the states without residual."""
        return SettingView(self, tuple(self.axis))

    def values_of(self, name: str) -> tuple[str, ...]:
        """The canonical texts of the values that an attribute can take."""
        value = self.evaluator.names[name]
        if isinstance(value, Levels):
            return value.names
        if isinstance(value, Numbers):
            return tuple(exact_text(Fraction(int(entry), 10**value.exponent)) for entry in np.unique(value.array))
        return ("false", "true")

    @cached_property
    def positive(self) -> list[Booleans]:
        """For each residual value, where the label is positive."""
        world = self.world
        if world.residual is None:
            return [self.evaluator.booleans(world.rule)]
        found = []
        for literal in world.residual.literals:
            self.evaluator.names[world.residual.name] = numbers_from_literals([literal])
            for entry in world.derived:
                if entry.reads_residual:
                    self.evaluator.names[entry.name] = self.evaluator.evaluate(entry.expression)
            found.append(self.evaluator.booleans(world.rule))
        return found

    def residual_weights(self, scale: Fraction) -> tuple[list[int], int]:
        """P_s of each residual value as integers, and their denominator.

        Claim: A.residual-scale
        """
        if self.world.residual is None:
            if scale != 1:
                raise InvalidArgument("scale", scale, "1, because the world has no residual")
            return [1], 1
        residual = self.world.residual
        moved = [
            Fraction(0) if parse_decimal(literal) == 0 else scale * probability.value
            for literal, probability in zip(residual.literals, residual.probabilities, strict=True)
        ]
        rest = 1 - sum(moved, Fraction(0))
        if scale < 0 or rest < 0:
            raise InvalidArgument("scale", scale, "a scale that leaves no probability negative")
        law = [
            rest if parse_decimal(literal) == 0 else mass
            for literal, mass in zip(residual.literals, moved, strict=True)
        ]
        denominator = common_denominator(law)
        return [int(mass * denominator) for mass in law], denominator

    def likelihood(self, scale: Fraction) -> tuple[Array, int]:
        """P_s(y = 1 | state) over all states, as integers over a denominator; every setting shares the last one."""
        if self._likelihood is None or self._likelihood[0] != scale:
            self._likelihood = (scale, self._weigh_labels(scale))
        return self._likelihood[1]

    def _weigh_labels(self, scale: Fraction) -> tuple[Array, int]:
        weights, denominator = self.residual_weights(scale)
        if denominator > SAFE:
            total: Array = np.zeros((1,) * self.rank, dtype=object)
        else:
            total = np.zeros((1,) * self.rank, dtype=np.int64)
        for weight, where in zip(weights, self.positive, strict=True):
            if weight:
                total = total + np.where(where, np.array(weight, dtype=total.dtype), np.array(0, dtype=total.dtype))
        return total, denominator

    def depends_on(self, name: str) -> frozenset[str]:
        """The attributes that a visible name is a function of."""
        if name in self.axis:
            return frozenset([name])
        parts = set(names_in(self.world.derived_by_name[name].expression))
        return frozenset().union(*(self.depends_on(part) for part in parts))

    def _along(self, array: Array, axis: int) -> Array:
        shape = [1] * self.rank
        shape[axis] = array.shape[0]
        return array.reshape(shape)

    def _coordinates(self, attribute: Attribute) -> Value:
        axis = self.axis[attribute.name]
        if attribute.is_number:
            flat = numbers_from_literals(list(attribute.levels))
            return Numbers(self._along(flat.array, axis), flat.exponent, flat.bound)
        return Levels(self._along(np.arange(len(attribute.levels)), axis), attribute.levels)

    def _factor(self, attribute: Attribute) -> Factor:
        parents = [self.world.attribute[parent] for parent in attribute.given]
        denominator = common_denominator(number.value for row in attribute.rows.values() for number in row)
        rows = [
            int(number.value * denominator)
            for key in itertools.product(*(parent.levels for parent in parents))
            for number in attribute.rows[key]
        ]
        order = [self.axis[parent.name] for parent in parents] + [self.axis[attribute.name]]
        sizes = [len(parent.levels) for parent in parents] + [len(attribute.levels)]
        table = np.array(rows, dtype=object if denominator > SAFE else np.int64).reshape(sizes)
        table = table.transpose(np.argsort(order))  # parents may be named in any order, axes have one
        shape = [1] * self.rank
        for axis, size in zip(order, sizes, strict=True):
            shape[axis] = size
        return Factor(frozenset(order), table.reshape(shape), denominator)


@frozen(eq=False)
class Joint:
    """P(x) and P(x, y = 1) as integer arrays: a shared product of `factors` times `mass` and `positive`.

    P(x) = mass · Π factors / (mass_unit · Π denominators), P(y = 1 | x) = positive / (mass · label_unit);
    `mass_bound` bounds the entries of mass.
    """

    mass: Array
    positive: Array
    factors: list[tuple[int, Factor]]
    mass_bound: int
    mass_unit: int
    label_unit: int


class SettingView:
    """What a setting shows, with its exact table and figures at every scale."""

    def __init__(self, scaled: ScaledWorld, visible: tuple[str, ...]) -> None:
        self.scaled = scaled
        self.visible = visible
        shown = {name for name in self.visible if name in scaled.axis}
        spread = [name for name in self.visible if not scaled.depends_on(name) <= shown]
        kept = shown.union(*(scaled.depends_on(name) for name in spread))
        self.grouped = bool(spread)
        self.kept = [axis for name, axis in scaled.axis.items() if name in kept]
        self.summed = [axis for name, axis in scaled.axis.items() if name not in kept]
        self.shape = tuple(
            len(attribute.levels) if index in self.kept else 1
            for index, attribute in enumerate(scaled.world.attributes)
        )
        self._joint: tuple[Fraction, Joint] | None = None

    def prior(self, scale: Fraction = Fraction(1)) -> Fraction:
        """P(y = 1).

        Claim: A.prior
        """
        joint = self.joint(scale)
        return self._total(joint.positive, joint) / joint.label_unit

    def bayes_error(self, scale: Fraction = Fraction(1)) -> Fraction:
        """Σ_x P(x) min(p*, 1 − p*).

        Claim: A.bayes-error
        """
        joint = self.joint(scale)
        bound = joint.mass_bound * joint.label_unit
        negative = integers(joint.mass, bound) * joint.label_unit - joint.positive
        return self._total(np.minimum(joint.positive, negative), joint) / joint.label_unit

    def entropy(self, scale: Fraction = Fraction(1)) -> Interval:
        """The conditional label entropy in bits, as a certified interval.

        Claim: A.entropy
        """
        return entropy_bits(self._mass_by_posterior(scale))

    def clipped_kl(self, scale: Fraction = Fraction(1)) -> Interval:
        """What clipping to P1's bounds costs the exact posterior, in nats, as a certified interval.

        Claim: C.kl
        """
        return clipped_kl_nats(self._mass_by_posterior(scale))

    def _mass_by_posterior(self, scale: Fraction) -> list[tuple[Fraction, Fraction]]:
        """Masses of equal posteriors."""
        masses, total = self._masses(scale)
        posteriors = self.posteriors(scale)
        distinct = {id(posterior): posterior for posterior in posteriors}  # equal posteriors are one object
        sums = dict.fromkeys(distinct, 0)
        for mass, posterior in zip(masses, posteriors, strict=True):
            sums[id(posterior)] += mass
        return [(Fraction(mass, total), distinct[key]) for key, mass in sums.items()]

    def table(self, scale: Fraction = Fraction(1)) -> dict[Pattern, tuple[Fraction, Fraction]]:
        """From each visible pattern of positive mass to its mass and posterior.

        Claim: A.posterior
        """
        masses, total = self._masses(scale)
        posteriors = self.posteriors(scale)
        return {
            pattern: (Fraction(mass, total), posterior)
            for pattern, mass, posterior in zip(self.patterns, masses, posteriors, strict=True)
        }

    def posteriors(self, scale: Fraction = Fraction(1)) -> list[Fraction]:
        """p*(1 | x) in the order of `patterns`; equal values are one object."""
        joint = self.joint(scale)
        unit = joint.label_unit
        known: dict[tuple[int, int], Fraction] = {}
        found = []
        for pair in zip(self._flat(joint.positive), self._flat(joint.mass), strict=True):
            if pair not in known:
                known[pair] = Fraction(pair[0], pair[1] * unit)
            found.append(known[pair])
        return found

    @property
    def pattern_count(self) -> int:
        """How many patterns have positive mass."""
        return int(np.count_nonzero(self._possible))

    @cached_property
    def patterns(self) -> list[Pattern]:
        """Every visible pattern of positive mass, as canonical texts."""
        columns = [np.array(self.scaled.values_of(name), dtype=object)[self._codes(name)] for name in self.visible]
        rows = zip(*(column.ravel().tolist() for column in columns), strict=True) if columns else [()]
        return list(itertools.compress(rows, self._possible.tolist()))

    def joint(self, scale: Fraction) -> Joint:
        """The joint law of pattern and label at a scale; the last one asked for is kept."""
        if self._joint is None or self._joint[0] != scale:
            self._joint = (scale, self._grouped(self._summed_out(scale)))
        return self._joint[1]

    def _summed_out(self, scale: Fraction) -> Joint:
        """Sums out the hidden axes, from the last to the first, so that each child goes before its parents."""
        positive, label_unit = self.scaled.likelihood(scale)
        mass: Array = np.ones((1,) * self.scaled.rank, dtype=np.int64)
        bound = 1
        unit = 1
        waiting = list(enumerate(self.scaled.factors))
        for axis in reversed(self.summed):
            involved = [factor for _, factor in waiting if axis in factor.axes]
            waiting = [(own, factor) for own, factor in waiting if axis not in factor.axes]
            for factor in involved:
                bound *= factor.denominator
                unit *= factor.denominator
            # The axis' own distribution is among them and adds up to its denominator: the sum stays within the bound.
            mass, positive = integers(mass, bound), integers(positive, bound * label_unit)
            for factor in involved:
                mass, positive = mass * factor.array, positive * factor.array
            mass, positive = mass.sum(axis=axis, keepdims=True), positive.sum(axis=axis, keepdims=True)
        return Joint(mass, positive, waiting, bound, unit, label_unit)

    def _grouped(self, joint: Joint) -> Joint:
        """Adds up the states of a pattern where a visible derived attribute reads hidden ones."""
        if not self.grouped:
            return joint
        order, starts = self._groups
        bound = self._full_bound(joint) * self._states
        mass = np.broadcast_to(_product(joint.mass, joint, bound), self.shape)
        positive = np.broadcast_to(_product(joint.positive, joint, bound * joint.label_unit), self.shape)
        mass = np.add.reduceat(mass.ravel()[order], starts)
        positive = np.add.reduceat(positive.ravel()[order], starts)
        return Joint(mass, positive, [], bound, _full_unit(joint), joint.label_unit)

    @cached_property
    def _states(self) -> int:
        size = 1
        for length in self.shape:
            size *= length
        return size

    @cached_property
    def _groups(self) -> tuple[Array, Array]:
        """The order that brings equal patterns together, and where each begins."""
        keys = np.zeros(self._states, dtype=np.int64)
        for name in self.visible:
            codes = np.broadcast_to(self._raw_codes(name), self.shape).ravel()
            _, keys = np.unique(keys * (int(codes.max()) + 1) + codes, return_inverse=True)
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        return order, starts

    def _codes(self, name: str) -> Array:
        """The index of a visible value in its texts, for each pattern."""
        codes = np.broadcast_to(self._raw_codes(name), self.shape)
        if self.grouped:
            order, starts = self._groups
            return np.asarray(codes.ravel()[order][starts])
        return codes

    def _raw_codes(self, name: str) -> Array:
        value = self.scaled.evaluator.names[name]
        if isinstance(value, Levels):
            return value.indices
        if isinstance(value, Numbers):
            return np.unique(value.array, return_inverse=True)[1].reshape(value.array.shape)
        return value.astype(np.intp)

    @cached_property
    def _possible(self) -> Booleans:
        """Which patterns have positive mass; this does not depend on the scale."""
        joint = self.joint(Fraction(1))
        possible = np.broadcast_to(joint.mass > 0, joint.mass.shape if self.grouped else self.shape)
        for _, factor in joint.factors:
            possible = possible & (factor.array > 0)
        return np.asarray(possible, dtype=np.bool_).ravel()

    def _flat(self, array: Array) -> list[int]:
        """The entries of the patterns of positive mass."""
        whole = array if self.grouped else np.broadcast_to(array, self.shape)
        return list(whole.ravel()[self._possible].tolist())

    def _masses(self, scale: Fraction) -> tuple[list[int], int]:
        """The masses of the patterns as integers over a total."""
        joint = self.joint(scale)
        return self._flat(_product(joint.mass, joint, self._full_bound(joint))), _full_unit(joint)

    def _full_bound(self, joint: Joint) -> int:
        bound = joint.mass_bound
        for _, factor in joint.factors:
            bound *= factor.denominator
        return bound

    def _total(self, array: Array, joint: Joint) -> Fraction:
        """Σ array · Π factors, over its unit: axis by axis from the last to the first, growing only as it shrinks."""
        if self.grouped:
            return Fraction(sum(array.tolist()), joint.mass_unit)
        bound = joint.mass_bound * joint.label_unit
        unit = joint.mass_unit
        own = dict(joint.factors)
        for axis in reversed(self.kept):
            if axis in own:
                factor = own[axis]
                bound *= factor.denominator
                unit *= factor.denominator
                array = integers(array, bound) * factor.array
            else:  # its distribution was spent on a hidden parent
                bound *= self.shape[axis]
                array = integers(array, bound)
            repeats = self.shape[axis] // array.shape[axis]  # an array that does not depend on the axis has length 1
            array = array.sum(axis=axis, keepdims=True) * repeats
        return Fraction(int(array.reshape(-1)[0]), unit)


def _product(array: Array, joint: Joint, bound: int) -> Array:
    """The array times the shared factors; `bound` bounds the result."""
    product = integers(array, bound)
    for _, factor in joint.factors:
        product = product * factor.array
    return product


def _full_unit(joint: Joint) -> int:
    unit = joint.mass_unit
    for _, factor in joint.factors:
        unit *= factor.denominator
    return unit
