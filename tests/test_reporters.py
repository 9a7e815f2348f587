"""Reference reporters: they read the memo alone, and land where enumeration says they must."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from attrs import evolve

from exactworlds.collect.reading import run_ends
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import InvalidSpec, NotFound, UsageError
from exactworlds.files.case_task import CaseTask, write_case_task
from exactworlds.files.requests import Demonstration, Request, read_manifest, read_requests
from exactworlds.files.targets import read_targets
from exactworlds.golden.store import read_golden
from exactworlds.metrics import expected_accuracy_binary, kl_nats_binary
from exactworlds.spec.bundled import find_world, golden_folder, world_names
from exactworlds.spec.reporters import load_reporters, parse_reporters
from exactworlds.study.reporters import REPORTERS, Declined, Reporter, reporter

CLIP = ("0.001", "0.999")


def made(folder: Path, world: str, setting: str, *, cases: int = 60, shots: int = 0, **more: Any) -> Path:
    found, _ = find_world(world)
    task = CaseTask(found, setting, more.pop("template", next(iter(found.templates))), "7", cases, shots, **more)
    write_case_task(task, folder)
    return folder


def reports(name: str, task: Path, world: str) -> dict[str, Fraction]:
    """What a reporter says of each request, by id: the probability of the second option."""
    known = reporter(name, find_world(world)[0], read_manifest(task))
    found = {}
    for request in read_requests(task):
        said = known.report(request)
        assert list(said) == [option.key for option in request.options]
        assert sum(said.values()) == 1
        found[request.id] = said[request.options[1].key]
    return found


@pytest.mark.parametrize("interface", ["event", "choice"])
@pytest.mark.parametrize("world", world_names())
def test_the_posterior_read_off_the_memo_is_the_target(world: str, interface: Any, tmp_path: Path) -> None:
    found, _ = find_world(world)
    for setting in found.settings:
        for template in found.templates:
            task = made(tmp_path / f"{setting}-{template}", world, setting, interface=interface, template=template)
            targets = {target.id: Fraction(target.posterior) for target in read_targets(task)}
            shutil.rmtree(task / "targets")
            said = reports("posterior", task, world)
            assert said == targets
            assert {kl_nats_binary(report=said[ident], target=targets[ident]) for ident in said} == {0}


def table(world: str, setting: str) -> list[tuple[tuple[str, ...], Fraction, Fraction]]:
    rows = ScaledWorld(find_world(world)[0]).view(setting).table()
    return [(pattern, mass, posterior) for pattern, (mass, posterior) in rows.items()]


def kl(report: float, target: float) -> float:
    """The divergence by its definition, with P1's clipping, apart from the metrics."""
    q = min(max(report, 0.001), 0.999)
    parts = [(target, q), (1 - target, 1 - q)]
    return math.fsum(share * math.log(share / said) for share, said in parts if share > 0)


def within_chance(values: Sequence[float], rows: Sequence[tuple[float, float]]) -> bool:
    """Whether a sample mean lies within five standard errors of the mean of a law of (mass, value)."""
    mean = math.fsum(mass * value for mass, value in rows)
    variance = math.fsum(mass * (value - mean) ** 2 for mass, value in rows)
    return abs(math.fsum(values) / len(values) - mean) <= 5 * math.sqrt(variance / len(values)) + 1e-12


@pytest.mark.parametrize(("world", "setting"), [("peer-review", "medium"), ("credit-risk", "high")])
def test_clipped_divergence_of_the_posterior_is_its_golden(world: str, setting: str, tmp_path: Path) -> None:
    cells = {cell.quantity: cell.value for cell in read_golden(golden_folder() / "worlds" / f"{world}.json").cells}
    rows = table(world, setting)
    with mpmath.workdps(60):
        pinned = mpmath.mpf(cells[f"{world}/{setting}/1/clipped-kl-nats"])
        total = mpmath.mpf(0)
        for _, mass, posterior in rows:
            q = min(max(posterior, Fraction(1, 1000)), Fraction(999, 1000))
            for share, shown in ((posterior, q), (1 - posterior, 1 - q)):
                if share:
                    ratio = share / shown
                    term = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
                    total += term * mpmath.mpf((mass * share).numerator) / (mass * share).denominator
        assert abs(total - pinned) < mpmath.mpf(10) ** -40
    by_metric = math.fsum(
        float(mass) * float(kl_nats_binary(report=p, target=p, clip=CLIP))
        for _, mass, p in rows
        if p < CLIPPED or p > 1 - CLIPPED
    )
    assert by_metric == pytest.approx(float(pinned), abs=1e-15)
    task = made(tmp_path / "task", world, setting, cases=400)
    said = reports("posterior", task, world)
    targets = {target.id: target for target in read_targets(task)}
    ours = [float(kl_nats_binary(report=said[i], target=t.posterior, clip=CLIP)) for i, t in targets.items()]
    assert within_chance(ours, [(float(mass), kl(float(p), float(p))) for _, mass, p in rows])
    accuracies = {
        expected_accuracy_binary(report=said[i], target=t.posterior)
        - max(Fraction(t.posterior), 1 - Fraction(t.posterior))
        for i, t in targets.items()
    }
    assert accuracies == {0}


CLIPPED = Fraction(1, 1000)


@pytest.mark.parametrize(
    ("world", "setting"), [("peer-review", "low"), ("credit-risk", "medium"), ("covert-transfer", "high")]
)
def test_the_prior_costs_what_enumeration_says(world: str, setting: str, tmp_path: Path) -> None:
    task = made(tmp_path / "task", world, setting, cases=500)
    said = reports("prior", task, world)
    rows = table(world, setting)
    prior = sum(mass * posterior for _, mass, posterior in rows)
    assert set(said.values()) == {prior}
    targets = {target.id: float(Fraction(target.posterior)) for target in read_targets(task)}
    values = [kl(float(said[ident]), target) for ident, target in targets.items()]
    assert within_chance(values, [(float(mass), kl(float(prior), float(p))) for _, mass, p in rows])


def test_the_label_frequency_is_counted(tmp_path: Path) -> None:
    task = made(tmp_path / "task", "peer-review", "high", shots=20)
    (request, *_) = read_requests(task)
    positive = sum(one.answer == "yes" for one in request.demonstrations)
    assert set(reports("label-frequency", task, "peer-review").values()) == {Fraction(positive, 20)}


def fitted(rows: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], strength: float) -> np.ndarray[Any, Any]:
    """Penalised logistic regression by Newton's method, apart from the library: intercept last and not penalised."""
    design = np.hstack([rows, np.ones((len(rows), 1))])
    penalty = np.diag([1 / strength] * rows.shape[1] + [0.0])
    weights = np.zeros(design.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (p - labels) + penalty @ weights
        weights -= np.linalg.solve(design.T @ (design * (p * (1 - p))[:, None]) + penalty, gradient)
    return weights


@pytest.mark.parametrize(("world", "setting"), [("peer-review", "high"), ("credit-risk", "medium")])
def test_logistic_regression_is_the_fit_that_newton_finds_and_costs_what_enumeration_says(
    world: str, setting: str, tmp_path: Path
) -> None:
    task = made(tmp_path / "task", world, setting, cases=300, shots=50)
    said = reports("logistic-regression", task, world)
    found, _ = find_world(world)
    visible = found.settings[setting].visible
    scaled = ScaledWorld(found)

    def row(pattern: Sequence[str]) -> list[float]:
        values: list[float] = []
        for name, level in zip(visible, pattern, strict=True):
            known = found.attribute[name].levels if name in found.attribute else scaled.values_of(name)
            try:
                numbers = [float(Fraction(text)) for text in known]
                values.append((float(Fraction(level)) - min(numbers)) / (max(numbers) - min(numbers)))
            except ValueError:
                values += [1.0 if text == level else 0.0 for text in known]
        return values

    from exactworlds.memo.cases import CaseSource  # noqa: PLC0415

    pool = CaseSource(found, setting, next(iter(found.templates)), "7").cases(0, 50)
    weights = fitted(
        np.array([row(case.pattern) for case in pool]), np.array([float(case.positive) for case in pool]), 1.0
    )

    def predict(pattern: Sequence[str]) -> float:
        return float(1 / (1 + np.exp(-(np.dot(weights[:-1], row(pattern)) + weights[-1]))))

    targets = {target.id: target for target in read_targets(task)}
    for ident, target in targets.items():
        assert float(said[ident]) == pytest.approx(predict([target.visible[name] for name in visible]), abs=2e-3)
    values = [kl(float(said[ident]), float(Fraction(target.posterior))) for ident, target in targets.items()]
    law = [(float(mass), kl(predict(pattern), float(p))) for pattern, mass, p in table(world, setting)]
    assert within_chance(values, law)


def bound(name: str, task: Path, world: str = "peer-review") -> tuple[Reporter, Request]:
    return reporter(name, find_world(world)[0], read_manifest(task)), next(iter(read_requests(task)))


def test_reporters_decline_where_their_rule_gives_no_answer(tmp_path: Path) -> None:
    task = made(tmp_path / "task", "peer-review", "high", cases=3)
    frequency, request = bound("label-frequency", task)
    with pytest.raises(Declined, match="no demonstrations"):
        frequency.report(request)
    regression, _ = bound("logistic-regression", task)
    with pytest.raises(Declined, match="both labels"):
        regression.report(request)
    one = evolve(request, demonstrations=(Demonstration(request.state, "yes"),) * 3)
    with pytest.raises(Declined, match="both labels"):
        regression.report(one)
    assert frequency.report(one) == {"no": 0, "yes": 1}
    odd = evolve(request, demonstrations=(Demonstration(request.state, "maybe"),))
    with pytest.raises(Declined, match="answered with 'maybe'"):
        frequency.report(odd)
    exact, _ = bound("posterior", task)
    with pytest.raises(Declined, match="cannot be read"):
        exact.report(evolve(request, state="Dear editor"))


def test_words_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    task = made(tmp_path / "task", "covert-transfer", "high", cases=2)
    world, manifest = find_world("covert-transfer")[0], read_manifest(task)
    with pytest.raises(NotFound, match="no reporter 'oracle'"):
        reporter("oracle", world, manifest)
    with pytest.raises(UsageError, match="not for covert-transfer"):
        reporter("logistic-regression", world, manifest)
    with pytest.raises(UsageError, match="law digest"):
        reporter("prior", world, manifest | {"law": "sha256:0"})
    with pytest.raises(UsageError, match="reads memos"):
        reporter("prior", world, {"kind": "contracts"})


def test_settings_say_where_they_come_from_and_bad_ones_are_refused() -> None:
    assert {entry.kind for entry in load_reporters().provenance} == {"chosen"}
    text = (Path(__file__).parent.parent / "spec" / "reporters.toml").read_text(encoding="utf-8")
    bad = text.replace('inverse_strength = "1"', 'inverse_strength = "0"').replace(
        "iterations = 1000", "iterations = 0"
    )
    with pytest.raises(InvalidSpec) as caught:
        parse_reporters(bad.encode())
    assert len(caught.value.problems) == 2
    with pytest.raises(InvalidSpec, match="has no provenance"):
        parse_reporters(text.replace("logistic_regression.*", "logistic_regression.solver").encode())
    with pytest.raises(InvalidSpec):
        parse_reporters(b"")


@pytest.mark.parametrize("name", REPORTERS)
def test_a_reporter_is_collected_like_any_backend(name: str, tmp_path: Path) -> None:
    task = made(tmp_path / "task", "credit-risk", "medium", cases=12, shots=12)
    targets = list(read_targets(task))
    shutil.rmtree(task / "targets")
    words = [
        sys.executable,
        "-m",
        "exactworlds",
        "collect",
        str(task),
        "--backend",
        name,
        "--out",
        str(tmp_path / "run"),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ends = run_ends(tmp_path / "run", list(read_requests(task)))
    assert {end.state for end in ends} == {"valid"}
    if name == "posterior":
        assert [end.report["yes"] for end in ends if end.report] == [Fraction(target.posterior) for target in targets]
