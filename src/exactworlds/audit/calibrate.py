"""The search behind calibrated probabilities: `python -m exactworlds.audit.calibrate peer-review --seed 1`.

The papers' level probabilities did not survive; those in the specs were chosen so that the printed values come out.
This program shows how such values are found, and that they are not unique: from seeded random starts it moves
one step of 0.01 between two levels at a time, by simulated annealing, until every printed value that the spec names
lies in its interval. Rule, weights and residual stay as they are. The search runs in floats; what it finds is checked
in exact arithmetic. It writes no file.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from exactworlds.engine.entropy import Interval
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import ExactworldsError, UsageError
from exactworlds.golden.quantities import Quantities
from exactworlds.rational import exact_text, half_unit, matches_printed, parse_exact
from exactworlds.spec.bundled import find_world
from exactworlds.spec.document import Exact
from exactworlds.spec.published import load_published
from exactworlds.spec.world import World

__all__ = ["calibrate", "main", "with_probabilities"]

STEP = 100  # probabilities are whole numbers of hundredths
_STEPS_A_START = 16_000
_WARMEST = 0.01
_COLDEST = 3e-6

Law = dict[str, list[int]]
Array = NDArray[np.float64]


def calibrate(world: World, *, seed: int, starts: int, told: bool = False) -> tuple[Law, float, int]:
    """A law near the printed values, its distance from them (0 if all are reached), and the starts that it took.

    Distance is the sum, over the printed values, of how far a value is outside its interval.
    """
    target = _Target(world)
    chance = random.Random(seed)
    best: tuple[Law, float] | None = None
    for start in range(1, starts + 1):
        found = _anneal(target, chance)
        if best is None or found[1] < best[1]:
            best = found
        if told:
            sys.stderr.write(f"start {start} of {starts}: distance {found[1]:.5f}, best {best[1]:.5f}\n")
        if best[1] == 0:
            return best[0], 0.0, start
    if best is None:
        raise UsageError(f"found {starts} starts, expected at least 1")
    return best[0], best[1], starts


def _anneal(target: _Target, chance: random.Random) -> tuple[Law, float]:
    """One start: random rows, then moves of one step, fewer and fewer of them uphill."""
    law = {name: _random_row(chance, size) for name, size in target.sizes.items()}
    distance = target.distance(law)
    best, best_distance = {name: list(row) for name, row in law.items()}, distance
    warmth = _WARMEST
    for _ in range(_STEPS_A_START):
        warmth *= (_COLDEST / _WARMEST) ** (1 / _STEPS_A_START)
        row = law[chance.choice(list(law))]
        down, up = chance.sample(range(len(row)), 2)
        if row[down] <= 1:
            continue
        row[down], row[up] = row[down] - 1, row[up] + 1
        moved = target.distance(law)
        if moved > distance and chance.random() >= math.exp((distance - moved) / warmth):
            row[down], row[up] = row[down] + 1, row[up] - 1
            continue
        distance = moved
        if distance < best_distance:
            best, best_distance = {key: list(value) for key, value in law.items()}, distance
        if best_distance == 0:
            break
    return best, best_distance


def with_probabilities(world: World, law: Mapping[str, list[int]]) -> World:
    """The world with other unconditional probabilities, given in hundredths."""
    attributes = []
    for attribute in world.attributes:
        if attribute.name in law:
            row = tuple(Exact(f"{part}/{STEP}", Fraction(part, STEP)) for part in law[attribute.name])
            attribute = evolve(attribute, rows={(): row})
        attributes.append(attribute)
    return evolve(world, attributes=tuple(attributes))


class _Target:
    """The printed values of a world as a function of its attributes' probabilities, in floats."""

    def __init__(self, world: World) -> None:
        if any(attribute.given for attribute in world.attributes):
            raise UsageError(f"{world.id} has conditional probabilities, the search moves unconditional ones")
        self.world = world
        self.sizes = {attribute.name: len(attribute.levels) for attribute in world.attributes}
        scaled = ScaledWorld(world)
        shape = tuple(self.sizes.values())
        self.likelihood: dict[str, Array] = {}
        for scale in world.scales:
            counts, unit = scaled.likelihood(parse_exact(scale))
            self.likelihood[scale] = np.broadcast_to(counts.astype(np.float64) / unit, shape)
        self.printed = dict(_fitted_cells(world))

    def distance(self, law: Law) -> float:
        rows = [np.array(row) / STEP for row in law.values()]
        total = 0.0
        seen: dict[tuple[str, str], Array] = {}
        for quantity, (value, half) in self.printed.items():
            total += max(0.0, abs(self._value(quantity, rows, seen) - value) - half)
        return total

    def _value(self, quantity: str, rows: list[Array], seen: dict[tuple[str, str], Array]) -> float:
        parts = quantity.split("/")[1:]
        if parts[1] == "prior":
            setting, scale, figure = next(iter(self.world.settings)), parts[0], "prior"
        else:
            setting, scale, figure = parts
        if (setting, scale) not in seen:
            seen[setting, scale] = self._posterior(setting, scale, rows)
        posterior = seen[setting, scale]
        if figure == "bayes-error":
            per_pattern: Array = np.minimum(posterior, 1 - posterior)
        elif figure == "prior":
            per_pattern = posterior
        else:
            per_pattern = _binary_entropy(posterior)
        shown = [rows[axis] for axis, name in enumerate(self.sizes) if name in self.world.settings[setting].visible]
        for row in reversed(shown):
            per_pattern = per_pattern @ row
        return float(per_pattern)

    def _posterior(self, setting: str, scale: str, rows: list[Array]) -> Array:
        visible = self.world.settings[setting].visible
        posterior = self.likelihood[scale]
        for axis in reversed(range(len(rows))):
            if list(self.sizes)[axis] not in visible:
                posterior = np.tensordot(posterior, rows[axis], axes=(axis, 0))
        return posterior


def _fitted_cells(world: World) -> Iterator[tuple[str, tuple[float, float]]]:
    """The printed Bayes errors, entropies and priors of a world, with half a unit of their last digit."""
    for cell in load_published().cells(world.id):
        if cell.printed and cell.quantity.endswith(("bayes-error", "entropy-bits", "prior")):
            yield cell.quantity, (float(cell.printed), float(half_unit(cell.printed)))


def _binary_entropy(p: Array) -> Array:
    inside = np.clip(p, 1e-300, 1 - 1e-16)
    return np.where((p > 0) & (p < 1), -(inside * np.log2(inside) + (1 - inside) * np.log2(1 - inside)), 0.0)


def _random_row(chance: random.Random, size: int) -> list[int]:
    cuts = sorted(chance.sample(range(1, STEP), size - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, STEP], strict=True)]


def _report(world: World, law: Law) -> Iterator[str]:
    """What was found, and each printed value beside it in exact arithmetic."""
    for name, row in law.items():
        shares = ", ".join(f'"{exact_text(Fraction(part, STEP))}"' for part in row)
        yield f"{name:<24} probability = [{shares}]"
    quantities = Quantities(with_probabilities(world, law))
    for cell in load_published().cells(world.id):
        if cell.printed and cell.quantity.endswith(("bayes-error", "entropy-bits", "prior")):
            value: Any = quantities.value(cell.quantity)
            ends = (value.low, value.high) if isinstance(value, Interval) else (value,)
            mark = "✓" if all(matches_printed(end, cell.printed) for end in ends) else "✗"
            yield f"{mark} {cell.id:<48} printed {cell.printed}  found {float(ends[0]):.6f}"


def main(arguments: list[str] | None = None) -> int:
    """The command: exit code 0 if every printed value is reached, 1 if not, 2 for a world that cannot be searched."""
    parser = argparse.ArgumentParser(prog="python -m exactworlds.audit.calibrate", description=__doc__)
    parser.add_argument("world", help="peer-review or credit-risk, or a world file with published values")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--starts", type=int, default=20, help="random starts before it gives up")
    words = parser.parse_args(arguments)
    try:
        world, _ = find_world(words.world)
        law, distance, starts = calibrate(world, seed=words.seed, starts=words.starts, told=True)
    except ExactworldsError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    print("\n".join(_report(world, law)))
    print(f"distance {distance:.6f} after {starts} start(s), seed {words.seed}")
    return 0 if distance == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
