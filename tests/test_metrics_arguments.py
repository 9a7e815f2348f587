"""What the public functions refuse, and what they say about it."""

from __future__ import annotations

import ast
import doctest
import importlib
import operator
import pkgutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactworlds import metrics
from exactworlds.errors import InvalidArgument
from exactworlds.metrics import _arguments as arguments

NAN, INF = float("nan"), float("inf")

REFUSED: list[tuple[Callable[[], Any], str, object, str]] = [
    (lambda: metrics.brier_score(report=[0.5, 0.500009], target=[0.5, 0.5]), "report", None, "sum to 1"),
    (lambda: metrics.brier_score(report=["0.5", "0.49"], target=["0.5", "0.5"]), "report", None, "sum to 1"),
    (
        lambda: metrics.brier_score(report=[[0.5, 0.5], [0.2, 0.9]], target=[[0, 1]] * 2),
        "report",
        1,
        "sum to 1",
    ),
    (lambda: metrics.brier_score(report=[0.5, 0.5], target=[[0.5, 0.5]]), "target", None, "shape"),
    (lambda: metrics.brier_score(report=[1.0], target=[1.0]), "report", None, "two classes"),
    (
        lambda: metrics.brier_score(report=[[0.5, 0.5], [0.5]], target=[[0.5, 0.5]] * 2),
        "report",
        0,
        "one length",
    ),
    (lambda: metrics.brier_score(report=[], target=[]), "report", None, "at least one"),
    (lambda: metrics.brier_score_binary(report=[0.1, NAN], target=[0.5, 0.5]), "report", 1, "in [0, 1]"),
    (lambda: metrics.brier_score_binary(report=[0.1, INF], target=[0.5, 0.5]), "report", 1, "in [0, 1]"),
    (lambda: metrics.brier_score_binary(report=["0.1", NAN], target=[0.5, 0.5]), "report", 1, "finite"),
    (lambda: metrics.brier_score_binary(report=-0.1, target=0.5), "report", None, "in [0, 1]"),
    (lambda: metrics.brier_score_binary(report=0.1, target=1.5), "target", None, "in [0, 1]"),
    (lambda: metrics.brier_score_binary(report=True, target=0.5), "report", None, "a number"),
    (lambda: metrics.brier_score_binary(report=None, target=0.5), "report", None, "a number"),
    (lambda: metrics.brier_score_binary(report="a", target=0.5), "report", None, "exact number"),
    (lambda: metrics.brier_score_binary(report={"a": 1}, target=0.5), "report", None, "sequence"),
    (
        lambda: metrics.brier_score_binary(report=np.array([0.5], dtype=np.float32), target=[0.5]),
        "report",
        None,
        "float64",
    ),
    (lambda: metrics.brier_score_binary(report=np.array([True]), target=[0.5]), "report", None, "float64"),
    (lambda: metrics.realised_log_loss(report=[[0.5, 0.5]], label=[2]), "label", 0, "a class in 0 … 1"),
    (lambda: metrics.realised_log_loss(report=[[0.5, 0.5]], label=[-1]), "label", 0, "a class in 0 … 1"),
    (lambda: metrics.realised_log_loss(report=[[0.5, 0.5]], label=[1.0]), "label", None, "integer classes"),
    (lambda: metrics.realised_log_loss(report=[[0.5, 0.5]], label=[0, 1]), "label", None, "the shape"),
    (lambda: metrics.realised_brier_score_binary(report=[0.5], label=[2]), "label", 0, "a class in 0 … 1"),
    (lambda: metrics.kl_nats_binary(report=0.5, target=0.5, clip=(0.9, 0.1)), "clip", None, "low < high"),
    (lambda: metrics.actions_binary(report=0.5, cost=0), "cost", None, "above 0"),
    (lambda: metrics.actions_binary(report=0.5, cost=1), "cost", None, "below 1"),
    (lambda: metrics.actions_binary(report=0.5, cost=NAN), "cost", None, "finite"),
    (lambda: metrics.actions_binary(report=[0.5], cost="0.1", valid=[1]), "valid", None, "booleans"),
    (lambda: metrics.decision_margin_binary(report=0.5, cost="0.5"), "cost", None, "below 1/2"),
    (lambda: metrics.expected_loss(action=2, target=[0.5, 0.5], cost="0.1"), "action", None, "class index"),
    (
        lambda: metrics.expected_loss(action=[0, -2], target=[[1, 0]] * 2, cost="0.1"),
        "action",
        1,
        "class index",
    ),
    (lambda: metrics.coverage([]), "action", None, "integer actions"),
    (lambda: metrics.coverage([0, 1], weights=[1, -1]), "weights", 1, "not negative"),
    (lambda: metrics.coverage([0, 1], weights=[0, 0]), "weights", None, "positive"),
    (lambda: metrics.coverage([0, 1], weights=[1.0, NAN]), "weights", 1, "finite"),
    (lambda: metrics.calibration_error(confidence=[0.5], accuracy=[1], bins=0), "bins", None, "at least 1"),
    (
        lambda: metrics.calibration_error(confidence=[0.5], accuracy=[1], bins=cast(int, 1.5)),
        "bins",
        None,
        "an integer",
    ),
    (
        lambda: metrics.calibration_error(confidence=[0.5], accuracy=[1], bins=5, strategy="x"),
        "strategy",
        None,
        "fixed",
    ),
    (lambda: metrics.expected_calibration_error(report=[[0.5, 0.5]], bins=5), "target", None, "exactly one"),
    (lambda: metrics.weighted_mean([0.5, NAN]), "values", 1, "a number or +inf"),
    (lambda: metrics.weighted_mean([0.5, -INF]), "values", 1, "a number or +inf"),
    (lambda: metrics.weighted_mean([]), "values", None, "at least one"),
    (lambda: metrics.stratum_weights([]), "strata", None, "at least one root"),
    (lambda: metrics.stratum_weights(["a"], support=[False]), "support", None, "at least one root"),
    (lambda: metrics.stratum_weights(["a"], declared=["b"]), "strata", 0, "declared"),
    (lambda: metrics.mixture_law([{Fraction(0): Fraction(1)}], weights=[Fraction(0)]), "laws", None, "not all 0"),
    (lambda: metrics.mixture_law([], weights=[]), "laws", None, "not all 0"),
    (lambda: metrics.wasserstein1({}, {0: 1}), "first", None, "not empty"),
    (lambda: metrics.wasserstein1({0: "1/2"}, {0: 1}), "first", None, "sum to 1"),
    (lambda: metrics.wasserstein1({0: "-1", 1: 2}, {0: 1}), "first", 0, "at least 0"),
    (
        lambda: metrics.wasserstein1_lattice(first=[0.15], second=[0.1], steps=10),
        "first",
        0,
        "multiple of 1/10",
    ),
    (lambda: metrics.neighbour_error(metrics.encode({"a": [1, 2]}), [0, 1], k=2), "k", None, "odd"),
    (
        lambda: metrics.neighbour_error(metrics.encode({"a": [1, 2]}), [0, 1], k=3),
        "fit_rows",
        None,
        "fitting rows",
    ),
    (lambda: metrics.encode({"a": ["3"]}, ranges={"a": (0, 2)}), "columns['a']", 0, "[0, 2]"),
    (lambda: metrics.encode({"a": ["3"]}, ranges={"a": (2, 2)}), "ranges['a']", None, "differ"),
    (lambda: metrics.neighbour_estimate(["0.1", "1.1"], k=1), "errors", 1, "in [0, 1]"),
    (lambda: metrics.neighbour_estimate(["0.1"], k=3), "k", None, "1 or 5"),
    (lambda: metrics.neighbour_estimate(["0.1"], k=True), "k", None, "an integer"),
    (
        lambda: metrics.snapshot_errors(
            weight=[-1], posterior=[0], report=[0], k=1, calibration_report=[0], positives=[0]
        ),
        "weight",
        0,
        "not negative",
    ),
    (
        lambda: metrics.multicalibration_error(report=[0], outcome=[0], groups={}),
        "groups",
        None,
        "at least one",
    ),
    (
        lambda: metrics.multicalibration_error(report=[0], outcome=[0], groups={"a": [1]}),
        "groups['a']",
        None,
        "booleans",
    ),
    (lambda: metrics.murphy_grid(report=[0.1], target=[0.1], thetas=[]), "thetas", None, "at least one"),
    (lambda: metrics.murphy_grid(report=[0.1], target=[0.1], thetas=["1.1"]), "thetas", 0, "in [0, 1]"),
    (lambda: metrics.murphy_curve(reports=[["0.1"]] * 3, target=["0.1"]), "reports", None, "one or two"),
    (
        lambda: metrics.elementary_score(report=0, target=0, theta=2, inclusive=True),
        "theta",
        None,
        "in [0, 1]",
    ),
    (lambda: metrics.accuracy_gap_bound(-1.0), "kl_nats", None, "at least 0"),
    (lambda: metrics.accuracy_gap_bound(NAN), "kl_nats", None, "at least 0"),
    (lambda: metrics.seed_summary([1.0, INF]), "values", 1, "finite"),
    (lambda: metrics.ratio_statistic(numerator=[1.0], denominator=[INF]), "denominator", 0, "finite"),
    (lambda: metrics.ratio_statistic(numerator=[1.0], denominator=[1.0, 2.0]), "denominator", None, "shape"),
    (
        lambda: metrics.paired_bootstrap({"x": metrics.mean_statistic([1.0])}, strata=["a", "b"], seed=1),
        "statistics['x']",
        None,
        "each of 2",
    ),
    (
        lambda: metrics.binned_brier_decomposition(report=[[0, 1]], target=[[0, 1]], bin_of=cast(Any, [0.5])),
        "bin_of",
        None,
        "integer bin",
    ),
    (lambda: metrics.one_hot([2], classes=2), "label", 0, "a class in 0 … 1"),
    (lambda: metrics.selective_loss(loss=[2], retained=[1], cost="0.1"), "loss", 0, "in [0, 1]"),
    (lambda: metrics.area_under_curve(score=[0.1, NAN], positive=[True, False]), "score", 1, "a number"),
    (lambda: metrics.area_under_curve(score=[0.1], positive=[1]), "positive", None, "booleans"),
    (lambda: metrics.pareto_frontier(cost=[1], loss=[NAN]), "loss", 0, "finite"),
    (lambda: metrics.pareto_frontier(cost=[1], loss=[1, 2]), "loss", None, "as many"),
    (lambda: metrics.selective_retention(score=[1], retain=2), "retain", None, "[0, 1]"),
    (lambda: metrics.percentile_interval([]), "values", None, "at least one"),
    (lambda: metrics.mean_statistic([0.1, NAN]), "values", 1, "valid root"),
    (lambda: metrics.paired_bootstrap({}, strata=["a"], seed=1), "statistics", None, "at least one"),
    (lambda: next(metrics.resample_counts(["a"], seed=-1)), "seed", None, "at least 0"),
    (lambda: next(metrics.resample_counts(["a"], seed=2**64)), "seed", None, "at most"),
    (lambda: metrics.hoeffding_bound(rows=10, witnesses=2, alpha=0), "alpha", None, "above 0"),
    (lambda: metrics.passes(0, relation="x"), "relation", None, "one of"),
    (lambda: metrics.pair_residual(first=[0.1], second=[0.1, 0.2]), "second", None, "shape"),
    (
        lambda: metrics.policy_actions(policy="oracle", event=[0], choice=[0], cost="0.1"),
        "policy",
        None,
        "one of",
    ),
    (lambda: metrics.accurate_harm_roots(cost="0.1", epsilon="0.1"), "epsilon", None, "below 1/40"),
]


@pytest.mark.parametrize(("call", "argument", "index", "expected"), REFUSED)
def test_a_refusal_names_argument_index_and_expectation(
    call: Callable[[], Any], argument: str, index: object, expected: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        call()
    error = caught.value
    assert (error.argument, error.index) == (argument, index)
    assert expected in error.expected
    assert argument in str(error)
    assert "found" in str(error)


@pytest.mark.parametrize(
    "name", ["brier_score", "log_loss", "kl_nats", "total_variation", "expected_accuracy", "regret"]
)
def test_arguments_of_like_type_are_keyword_only(name: str) -> None:
    with pytest.raises(TypeError):
        getattr(metrics, name)([0.5, 0.5], [0.5, 0.5])


def test_float_sums_may_be_off_by_their_own_rounding_only() -> None:
    ten = [0.1] * 10
    assert reduce(operator.add, ten) != 1  # sum() itself is compensated from Python 3.12 on
    assert metrics.total_variation(report=ten, target=ten) == 0
    rng = np.random.default_rng(3)
    raw = rng.random((10_000, 7))
    softmax = raw / raw.sum(axis=1, keepdims=True)
    assert metrics.total_variation(report=softmax, target=softmax).max() == 0
    with pytest.raises(InvalidArgument):
        metrics.selected_class(softmax.astype(np.float32).astype(np.float64))


@given(st.floats(0, 1))
def test_a_float_stands_for_the_decimal_that_repr_prints(value: float) -> None:
    assert metrics.exact_decimals(value) == Fraction(repr(value))
    assert float(metrics.exact_decimals(np.float64(value))) == value


def test_one_exact_value_makes_the_call_exact() -> None:
    assert metrics.total_variation_binary(report=0.3, target="0.1") == Fraction(1, 5)
    assert metrics.total_variation_binary(report=[0.3, 0.5], target=[0, Fraction(1, 2)]).tolist() == [
        Fraction(3, 10),
        0,
    ]
    assert isinstance(metrics.total_variation_binary(report=0.3, target=0.1), float)
    assert isinstance(metrics.total_variation_binary(report=1, target=0), Fraction)
    assert isinstance(metrics.total_variation_binary(report=1.0, target=0), float)
    batch = np.array(["0.25", "0.5"])
    assert metrics.total_variation_binary(report=batch, target=batch).tolist() == [0, 0]


def test_inputs_are_left_as_they_were() -> None:
    report, label = np.array([0.0, 0.3, 1.0]), np.array([0, 1, 1])
    before = report.copy()
    metrics.realised_log_loss_binary(report=report, label=label)
    metrics.murphy_grid(report=report, target=label)
    metrics.expected_calibration_error_binary(report=report, label=label, bins=10)
    assert (report == before).all()


@given(st.lists(st.floats(), min_size=1, max_size=6))
def test_the_range_check_accepts_exactly_the_range(values: list[float]) -> None:
    array = np.array(values)
    inside = all(0 <= value <= 1 for value in values)
    if inside:
        arguments.check_probability(array, argument="x")
    else:
        with pytest.raises(InvalidArgument) as caught:
            arguments.check_probability(array, argument="x")
        first = next(i for i, value in enumerate(values) if not 0 <= value <= 1)
        assert caught.value.index == first


def test_undefined_is_neither_true_nor_a_number() -> None:
    nothing = metrics.Undefined("no positive case")
    with pytest.raises(TypeError):
        bool(nothing)
    with pytest.raises(TypeError):
        float(nothing)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        nothing + 1  # type: ignore[operator]


MODULES = [found.name for found in pkgutil.iter_modules(metrics.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    module = importlib.import_module(f"exactworlds.metrics.{name}")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", metrics.__all__)
def test_every_public_function_states_formula_claim_and_example(name: str) -> None:
    item = getattr(metrics, name)
    if callable(item) and not isinstance(item, type):
        text = item.__doc__ or ""
        for part in ("Claim:", ">>>"):
            assert part in text, f"{name} has no {part}"
        assert "Formula:" in text or name in {"reject_grid", "exact_decimals"}


NOT_SYMBOLIC = {
    "isinstance",
    "float",
    "int",
    "abs",
    "max",
    "min",
    "round",
    "hash",
    "set",
    "dict",
    "np",
    "Fraction",
}


def test_bare_formulas_use_arithmetic_and_comparisons_only() -> None:
    """What a symbol could not go through: types, conversions, NumPy, and builtins that hide a branch."""
    counted_votes = {"tie_error_formula"}  # integers in, a Fraction out: nothing symbolic about it
    found = 0
    for name in MODULES:
        file = importlib.import_module(f"exactworlds.metrics.{name}").__file__
        for node in ast.walk(ast.parse(Path(str(file)).read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef) or not node.name.endswith("_formula"):
                continue
            calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
            used = {part.id for call in calls for part in ast.walk(call) if isinstance(part, ast.Name)}
            assert node.name in counted_votes or not used & NOT_SYMBOLIC, f"{node.name} uses {used & NOT_SYMBOLIC}"
            found += 1
    assert found > 50


IMPORT = """
import sys, time
sys.path.insert(0, {home!r})
start = time.process_time()
import numpy
beside = time.process_time()
import exactworlds.metrics
done = time.process_time()
known = set(sys.stdlib_module_names) | {{"numpy", "exactworlds", "__main__", "sitecustomize"}}
roots = {{name.partition(".")[0] for name in sys.modules}} - known
print(sorted(name for name in roots if not name.startswith("_")))
print(sorted(name for name in sys.modules if name.startswith("exactworlds.") and "metrics" not in name))
print(done - beside, done - start)
"""


def test_the_import_needs_numpy_and_the_standard_library_only() -> None:
    """An isolated interpreter is told where the package is and nothing else; CPU time, best of three."""
    script = IMPORT.format(home=str(Path(metrics.__file__).parents[2]))
    times = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
        extra, layers, seconds = done.stdout.splitlines()
        assert extra == "[]"
        assert layers == "['exactworlds.errors', 'exactworlds.rational']"
        times.append([float(value) for value in seconds.split()])
    own, whole = min(times)
    print(f"import: {whole:.3f} s of CPU, {own:.3f} s of it beside NumPy")
    assert own < 0.5
