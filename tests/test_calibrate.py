"""The search behind calibrated probabilities: its floats are the exact values, and its distance means what it says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exactworlds.audit.calibrate import _Target, calibrate, main, with_probabilities
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import UsageError
from exactworlds.spec.bundled import find_world
from exactworlds.spec.world import World


def hundredths(world: World) -> dict[str, list[int]]:
    return {a.name: [int(n.value * 100) for n in a.rows[()]] for a in world.attributes}


@pytest.mark.parametrize("name", ["peer-review", "credit-risk"])
def test_the_bundled_law_has_distance_zero_and_a_step_away_has_not(name: str) -> None:
    world, _ = find_world(name)
    target = _Target(world)
    law = hundredths(world)
    assert target.distance(law) == 0
    for row in law.values():
        row[0], row[1] = row[0] + 5, row[1] - 5
    assert target.distance(law) > 0.01


def test_floats_of_the_search_are_the_exact_values() -> None:
    world, _ = find_world("credit-risk")
    law = {name: [34, 33, 33] for name in hundredths(world)}
    law["sector"], law["cycle"] = [25, 25, 25, 25], [50, 25, 25]
    view = ScaledWorld(with_probabilities(world, law)).view("high")
    target = _Target(world)
    target.printed = {"credit-risk/high/1/bayes-error": (float(view.bayes_error()), 0.0)}
    assert target.distance(law) < 1e-12
    target.printed = {"credit-risk/1/prior": (float(view.prior()), 0.0)}
    assert target.distance(law) < 1e-12
    target.printed = {"credit-risk/high/1/entropy-bits": (float(view.entropy().low), 0.0)}
    assert target.distance(law) < 1e-12


def test_probabilities_are_replaced_exactly() -> None:
    world, _ = find_world("peer-review")
    changed = with_probabilities(world, {"novelty": [1, 2, 97]})
    assert [number.value for number in changed.attribute["novelty"].rows[()]] == [
        Fraction(1, 100),
        Fraction(2, 100),
        Fraction(97, 100),
    ]


def test_what_cannot_be_searched_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        calibrate(find_world("credit-risk")[0], seed=1, starts=0)
    assert main(["nowhere"]) == 2
    assert "there is no world" in capsys.readouterr().err
