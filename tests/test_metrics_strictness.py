"""What all metrics refuse in the same way: sequences of different lengths, results that are changed, and the like."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from exactworlds import metrics
from exactworlds.metrics._actions import read_actions
from exactworlds.metrics._arguments import check_simplex
from exactworlds.metrics._ordering import absolute, larger, smaller
from exactworlds.metrics.snapshots import wasserstein1_formula
from exactworlds.spec.relations import load_relations

MODULES = [
    importlib.import_module(f"exactworlds.metrics.{info.name}") for info in pkgutil.iter_modules(metrics.__path__)
]
RESULTS = [
    thing
    for module in MODULES
    for thing in vars(module).values()
    if dataclasses.is_dataclass(thing) and isinstance(thing, type) and thing.__module__ == module.__name__
]
HALF = Fraction(1, 2)
VALUES: dict[str, object] = {
    "Sequence[Real]": [HALF, HALF],
    "Sequence[bool]": [True, False],
    "Sequence[Sequence[Real]]": [[HALF, HALF], [HALF, HALF]],
}
OTHERS: dict[str, object] = {
    "target": [Fraction(1, 4), Fraction(3, 4)],
    "bins": 2,
    "cost": Fraction(1, 4),
    "retained": HALF,
    "event": HALF,
    "log": lambda x: x - 1,
}


def several_sequences() -> list[Callable[..., Any]]:
    """The bare formulas that go through sequences side by side."""
    found = []
    for module in MODULES:
        for name, thing in vars(module).items():
            if name.endswith("_formula") and thing.__module__ == module.__name__:
                kinds = [part.annotation for part in inspect.signature(thing).parameters.values()]
                if (
                    "zip" in thing.__code__.co_names
                    and sum(kind in VALUES for kind in kinds) > 1
                    and name != "wasserstein1_formula"
                ):  # gaps are one fewer
                    found.append(thing)
    return found


SIDE_BY_SIDE = several_sequences()


def test_there_are_formulas_of_several_sequences() -> None:
    assert len(SIDE_BY_SIDE) > 10


@pytest.mark.parametrize("formula", SIDE_BY_SIDE, ids=lambda formula: formula.__name__)
def test_a_formula_refuses_sequences_of_different_lengths(formula: Callable[..., Any]) -> None:
    parts = inspect.signature(formula).parameters
    needed = {name: part.annotation for name, part in parts.items() if part.default is part.empty}
    fitting = {name: VALUES.get(kind, OTHERS.get(name)) for name, kind in needed.items()}
    if needed.get("target") == "Sequence[Real]":
        fitting["target"] = OTHERS["target"]
    formula(**fitting)
    for name, whole in fitting.items():
        if isinstance(whole, list):
            for other in (whole[:1], [*whole, whole[0]]):
                with pytest.raises(ValueError, match=r"zip\(\) argument"):
                    formula(**{**fitting, name: other})


@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)
def test_a_result_cannot_be_changed(kind: type[Any]) -> None:
    made = object.__new__(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, dataclasses.fields(kind)[0].name, 1)


def test_the_first_of_two_equal_numbers_is_kept() -> None:
    one, same = Fraction(1), 1.0
    assert larger(one, same) is one
    assert smaller(one, same) is one
    assert math.copysign(1, absolute(0.0)) == 1


@pytest.mark.parametrize("score", ["realised_accuracy", "realised_brier_score", "realised_log_loss"])
def test_labels_are_classes_however_many_rows_there_are(score: str) -> None:
    call = getattr(metrics, score)
    three_classes = call(report=[[0.25, 0.25, 0.5]], label=[2])
    assert np.shape(three_classes) == (1,)
    with pytest.raises(metrics.InvalidArgument, match="label"):
        call(report=[[0.25, 0.75]] * 4, label=[0, 1, 2, 0])


def test_weights_may_be_text_beside_floats() -> None:
    assert metrics.weighted_mean([0.5, 1.0], weights=["1/3", "2/3"]).value == pytest.approx(5 / 6, abs=1e-15)


def test_a_single_number_is_no_sequence() -> None:
    with pytest.raises(metrics.InvalidArgument, match="one value a row"):
        metrics.weighted_mean(0.5)


def test_the_first_wrong_action_is_named() -> None:
    with pytest.raises(metrics.InvalidArgument, match="found 3"):
        metrics.expected_loss_binary(action=[1, 3, 4], target=[0.5, 0.5, 0.5], cost=0.25)


def test_what_is_printed_of_costs_bins_and_tolerances() -> None:
    """The constants are those of the papers and of the table of relations."""
    assert [float(cost) for cost in metrics.PRIMARY_COSTS] == [0.02, 0.05, 0.10, 0.20, 0.40]
    assert [float(cost) for cost in metrics.SECONDARY_COSTS] == [0.05, 0.10, 0.20, 0.30, 0.40]
    assert metrics.BIN_COUNTS == (10, 15, 20)
    listed = {name.replace("-", "_"): relation.tolerance.value for name, relation in load_relations().relation.items()}
    assert dict(metrics.TOLERANCES) == listed


@pytest.mark.parametrize("tolerance", ["-0.5", "1.5"])
def test_a_tolerance_is_a_probability(tolerance: str) -> None:
    with pytest.raises(metrics.InvalidArgument, match="tolerance"):
        metrics.passes("0.1", relation="repeat", tolerance=tolerance)


@pytest.mark.parametrize(("above", "below"), [([1.0, 2.0], [1.0]), ([1.0], [1.0, 2.0])])
def test_a_ratio_has_one_denominator_a_root(above: list[float], below: list[float]) -> None:
    with pytest.raises(metrics.InvalidArgument, match="denominator"):
        metrics.ratio_statistic(numerator=above, denominator=below)


def test_a_distance_has_one_gap_between_neighbours() -> None:
    even, one = [HALF, HALF], [Fraction(1), Fraction(0)]
    assert wasserstein1_formula(one, even, [Fraction(1)]) == HALF
    for gaps in ([], [Fraction(1), Fraction(1)]):
        with pytest.raises(ValueError, match=r"zip\(\) argument"):
            wasserstein1_formula(one, even, gaps)


def test_no_actions_at_all_and_a_class_that_a_binary_question_does_not_have_are_refused() -> None:
    with pytest.raises(metrics.InvalidArgument, match="0 values"):
        read_actions(np.array([], dtype=np.int64), classes=None, shape=None)
    with pytest.raises(metrics.InvalidArgument, match="found 2"):
        metrics.expected_loss_binary(action=2, target="0.5", cost="0.1")


def test_a_single_number_is_no_distribution() -> None:
    with pytest.raises(metrics.InvalidArgument, match="at least two classes"):
        check_simplex(np.array(1.0), argument="report")


def test_more_members_than_classes_are_refused() -> None:
    with pytest.raises(metrics.InvalidArgument, match="2 booleans"):
        metrics.coarsening_residual(event="0.5", canonical=["0.5", "0.5"], members=[True, False, True])


def test_a_residual_passes_up_to_and_including_its_tolerance() -> None:
    found = metrics.passes(["0.01", "0.05", "0.050001"], relation="complement")
    assert np.asarray(found).tolist() == [True, True, False]


@pytest.mark.parametrize(("cost", "bound"), [(0.25, 1 / 3), (0.5, 0.5), (0.75, 0.5)])
def test_the_bound_of_the_regret_in_doubles(cost: float, bound: float) -> None:
    """TV/(1 − c) up to a cost of ½, 2 TV beyond."""
    assert float(np.asarray(metrics.regret_bound(tv=0.25, cost=cost))) == pytest.approx(bound, rel=1e-15)
