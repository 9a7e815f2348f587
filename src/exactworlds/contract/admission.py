"""Admission of roots: the exact posterior and the 70-digit path agree within 1e-15 on every cell."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from attrs import frozen

from exactworlds.contract.cells import CELLS, ContractWorld, cell_name
from exactworlds.contract.second_path import SecondPath
from exactworlds.engine.admit import TOLERANCE, largest_difference
from exactworlds.rational import fraction_text

__all__ = ["RootAdmission", "admit_roots"]


@frozen
class RootAdmission:
    """How many roots were compared, how far the paths are apart at most, and which roots are refused."""

    roots: int
    largest: Fraction
    disagreements: tuple[str, ...]

    @property
    def admitted(self) -> bool:
        return not self.disagreements


def admit_roots(roots: Iterable[tuple[str, ContractWorld]]) -> RootAdmission:
    """Compares the two paths on every root, each given with its name.

    Claim: E.posterior
    """
    second = SecondPath()
    largest, count = Fraction(0), 0
    refused = []
    for name, world in roots:
        count += 1
        theirs = second.posterior(world.counts, [fraction_text(likelihood) for likelihood in world.likelihoods])
        mine = [world.posterior[cell] for cell in CELLS]
        difference = largest_difference(mine, theirs, second.context)
        largest = max(largest, difference)
        if difference > TOLERANCE:
            cells = ", ".join(map(cell_name, CELLS))
            refused.append(f"{name}: the paths differ by {float(difference):.3e} on the posterior of {cells}")
    return RootAdmission(count, largest, tuple(refused))
