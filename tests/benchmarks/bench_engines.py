"""How fast the engines are, in ratios of CPU time within one process: `python tests/benchmarks/bench_engines.py`.

Prints one Markdown table of measurements and one of bars. Nothing here is a test: absolute times say little on a
shared machine, and ratios are for people to read. Peers (lea, icepool, pgmpy: the `bench` extra) are left out where
they are not installed. `--quick` skips whatever takes more than a few seconds.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import logging
import math
import operator
import platform
import re
import resource
import statistics
import subprocess
import sys
import time
import tomllib
import warnings
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from exactworlds.engine import enumerate as definition
from exactworlds.engine.admit import admit
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.spec.load import load_world, parse_world
from exactworlds.spec.world import World

WORLDS = Path(__file__).resolve().parents[2] / "spec" / "worlds"
REVIEW = (WORLDS / "peer-review.toml").read_text(encoding="utf-8")
COARSE = [["0.5", "0.4", "0.1"], ["0.2", "0.5", "0.3"], ["0.3", "0.5", "0.2"], ["0.6", "0.3", "0.1"]]
THOUSANDTHS = [["0.137", "0.613", "0.25"], ["0.291", "0.409", "0.3"], ["0.397", "0.353", "0.25"]]
Result = dict[str, tuple[Fraction, Fraction]]
Measured = dict[str, float]


NOISE = REVIEW[REVIEW.index("[residual.noise]") : REVIEW.index("[table.weight]")]


def with_probabilities(rows: list[list[str]]) -> str:
    """Peer review, its residual included, with other probabilities of the factors: the rows in turn."""
    turn = itertools.cycle(rows)
    text = re.sub(
        r"(values = \[0, 1, 2\]\nprobability = ).*", lambda found: found.group(1) + json.dumps(next(turn)), REVIEW
    )
    return text.replace('["0.21", "0.44", "0.35"]', '["0.2", "0.5", "0.3"]')


VARIANTS = {
    "fits int64 (tenths)": with_probabilities(COARSE),
    "beyond int64 (thousandths)": with_probabilities(THOUSANDTHS),
    "peer-review itself": REVIEW,
}


def cpu(action: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The median CPU time and the last result."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        result = action()
        times.append(time.process_time() - began)
    return statistics.median(times), result


def by_scaled(world: World) -> Result:
    """Prior and Bayes error of every setting, from nothing."""
    scaled = ScaledWorld(world)
    return {name: (scaled.view(name).prior(), scaled.view(name).bayes_error()) for name in world.settings}


def by_enumerate(world: World) -> Result:
    tables = definition.pattern_tables(world)
    return {name: (definition.prior(table), definition.bayes_error(table)) for name, table in tables.items()}


class Review:
    """Peer review as somebody would write it by hand, its numbers read from the file."""

    def __init__(self, text: str) -> None:
        self.raw = tomllib.loads(text)
        self.types = self.raw["attribute"]["contribution"]["levels"]
        self.factors = [name for name in self.raw["attribute"] if name != "contribution"]
        self.laws = {name: [Fraction(p) for p in entry["probability"]] for name, entry in self.raw["attribute"].items()}
        noise = self.raw["residual"]["noise"]["probability"]
        self.noise = [(int(10 * Fraction(value)), Fraction(p)) for value, p in noise.items()]
        places = [self.factors.index(name) for name in ("validity", "significance", "evidence", "robustness")]
        self.validity, self.significance, self.evidence, self.robustness = places
        table = self.raw["table"]["weight"]
        self.weights = [[int(10 * Fraction(table[kind][name])) for name in self.factors] for kind in self.types]

    def score(self, kind: int, levels: tuple[int, ...]) -> int:
        """Ten times the score without noise."""
        total: int = sum(map(operator.mul, self.weights[kind], levels))
        if levels[self.evidence] == 2:
            if levels[self.significance] == 2:
                total += 5
            if levels[self.robustness] == 2:
                total += 10
        return total

    def accepted(self, kind: int, levels: tuple[int, ...], noise: int) -> bool:
        return levels[self.validity] > 0 and self.score(kind, levels) + noise >= 115

    def careful(self) -> Result:
        """A careful Fraction loop: the product hoisted out of the residual's loop, scores in integers."""
        found = {}
        laws = [self.laws[name] for name in self.factors]
        for setting, visible in self.raw["setting"].items():
            seen = [index for index, name in enumerate(self.factors) if name in visible]
            mass: dict[Any, Fraction] = defaultdict(Fraction)
            positive: dict[Any, Fraction] = defaultdict(Fraction)
            for kind, of_kind in enumerate(self.laws["contribution"]):
                for levels in itertools.product(range(3), repeat=len(self.factors)):
                    probability = of_kind
                    for law, level in zip(laws, levels, strict=True):
                        probability *= law[level]
                    pattern = (kind, *[levels[index] for index in seen])
                    mass[pattern] += probability
                    if levels[self.validity]:
                        score = self.score(kind, levels)
                        positive[pattern] += probability * sum(p for noise, p in self.noise if score + noise >= 115)
            total = sum(positive.values(), Fraction(0))
            error = sum((min(positive[pattern], m - positive[pattern]) for pattern, m in mass.items()), Fraction(0))
            found[setting] = (total, error)
        return found

    def visible(self, setting: str) -> list[int]:
        return [index for index, name in enumerate(self.factors) if name in self.raw["setting"][setting]]

    # --- the same table by other libraries: from (type, visible levels) to P(accept | them) ---------------------------

    def by_lea(self, lea: Any, setting: str) -> dict[Any, Fraction]:
        lea.set_prob_type("r")
        kind = lea.pmf(dict(enumerate(self.laws["contribution"])))
        factors = [lea.pmf(dict(enumerate(self.laws[name]))) for name in self.factors]
        noise = lea.pmf(dict(self.noise))
        seen = self.visible(setting)
        accepted = lea.joint(kind, *factors, noise).map(lambda x: self.accepted(x[0], tuple(x[1:-1]), x[-1]))
        sums: dict[Any, list[Fraction]] = {}
        for (pattern, label), p in lea.joint(lea.joint(kind, *[factors[i] for i in seen]), accepted).pmf_tuple():
            sums.setdefault(pattern, [Fraction(0), Fraction(0)])[label] += Fraction(p)
        return {tuple(pattern): positive / (negative + positive) for pattern, (negative, positive) in sums.items()}

    def by_icepool(self, icepool: Any, setting: str) -> dict[Any, Fraction]:
        def die(law: dict[int, Fraction]) -> Any:
            whole = np.lcm.reduce([p.denominator for p in law.values()])
            return icepool.Die({value: int(p * int(whole)) for value, p in law.items()})

        seen = self.visible(setting)
        dice = [die(dict(enumerate(self.laws[name]))) for name in ("contribution", *self.factors)]
        joint = icepool.map(
            lambda *x: (x[0], *[x[1 + i] for i in seen], self.accepted(x[0], x[1:-1], x[-1])),
            *dice,
            die(dict(self.noise)),
        )
        sums: dict[Any, list[int]] = {}
        for outcome, quantity in joint.items():
            sums.setdefault(tuple(outcome[:-1]), [0, 0])[outcome[-1]] += quantity
        return {pattern: Fraction(positive, negative + positive) for pattern, (negative, positive) in sums.items()}

    def pgmpy_model(self) -> Any:
        models = importlib.import_module("pgmpy.models")
        factors = importlib.import_module("pgmpy.factors.discrete")
        names = ["contribution", *self.factors]
        sizes = [len(self.laws[name]) for name in names] + [len(self.noise)]
        labels = np.array(
            [
                self.accepted(kind, levels, noise)
                for kind in range(len(self.types))
                for levels in itertools.product(range(3), repeat=len(self.factors))
                for noise, _ in self.noise
            ],
            dtype=float,
        )
        model = models.DiscreteBayesianNetwork([(name, "label") for name in (*names, "noise")])
        model.add_cpds(
            *[factors.TabularCPD(name, len(self.laws[name]), [[float(p)] for p in self.laws[name]]) for name in names],
            factors.TabularCPD("noise", len(self.noise), [[float(p)] for _, p in self.noise]),
            factors.TabularCPD("label", 2, np.vstack([1 - labels, labels]), [*names, "noise"], sizes),
        )
        return model

    def by_pgmpy(self, model: Any, setting: str) -> Any:
        inference = importlib.import_module("pgmpy.inference").VariableElimination(model)
        names = ["label", "contribution", *[self.factors[index] for index in self.visible(setting)]]
        joint = inference.query(names, show_progress=False)
        values = np.transpose(joint.values, [joint.variables.index(name) for name in names])
        return values[1] / values.sum(0)


def optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Report:
    """Rows of measurements, and bars that were judged."""

    def __init__(self) -> None:
        self.bars: list[tuple[str, str, str, str]] = []
        print(f"Python {platform.python_version()}, NumPy {np.__version__}; CPU seconds, medians\n")
        print("| world | what | way | CPU s | ratio to `scaled` |\n|---|---|---|---:|---:|")

    def row(self, world: str, what: str, way: str, seconds: float | None, base: float | None = None) -> None:
        if seconds is None:
            print(f"| {world} | {what} | {way} | not installed | |", flush=True)
            return
        ratio = f"{seconds / base:,.1f}" if base else ""
        print(f"| {world} | {what} | {way} | {seconds:.4f} | {ratio} |", flush=True)

    def bar(self, what: str, bar: str, measured: str, holds: bool | None) -> None:
        self.bars.append((what, bar, measured, {True: "holds", False: "MISSED", None: "not measured"}[holds]))

    def finish(self) -> None:
        print("\n| bar | asked | measured | |\n|---|---|---|---|")
        for line in self.bars:
            print("| " + " | ".join(line) + " |")


def compare_loops(report: Report, quick: bool) -> None:
    what = "prior and Bayes error, three settings"
    for name, text in VARIANTS.items():
        world = parse_world(text.encode())
        base, expected = cpu(lambda world=world: by_scaled(world), 7)  # type: ignore[misc]
        report.row(name, what, "scaled", base, base)
        ratios = {}
        ways: dict[str, Callable[[], Result]] = {"careful Fraction loop": Review(text).careful}
        if not quick:
            ways["enumerate"] = lambda world=world: by_enumerate(world)  # type: ignore[misc]
        for way, action in ways.items():
            seconds, found = cpu(action, 1 if quick else 3)
            assert found == expected
            report.row(name, what, way, seconds, base)
            ratios[way] = seconds / base
        if "itself" in name:
            continue
        bar = 300 if "fits" in name else 25
        measured = ", ".join(f"{way} {ratio:,.0f} ×" for way, ratio in ratios.items())
        bits = math.prod(factor.denominator for factor in ScaledWorld(world).factors).bit_length()
        assert (bits < 63) == ("fits" in name)
        report.bar(f"scaled, {name}, denominators of {bits} bits", f"≥ {bar} ×", measured, min(ratios.values()) >= bar)


def compare_peers(report: Report, quick: bool) -> None:
    name = "fits int64 (tenths)"
    text = VARIANTS[name]
    world, review = parse_world(text.encode()), Review(text)
    setting = "low"
    what = f"every pattern of {setting}"
    integers, joint = cpu(lambda: ScaledWorld(world).view(setting).joint(Fraction(1)), 7)
    fractions, table = cpu(lambda: ScaledWorld(world).view(setting).table(), 5)
    report.row(name, what, "scaled, integers over one denominator", integers, integers)
    report.row(name, what, "scaled, a Fraction each", fractions, integers)
    kinds = {kind: index for index, kind in enumerate(review.types)}
    expected = {(kinds[key[0]], *map(int, key[1:])): posterior for key, (_, posterior) in table.items()}
    ratios: Measured = {}
    for peer in ("lea", "icepool"):
        library = optional(peer)
        if library is None or quick:
            report.row(name, what, f"{peer} (exact)", None)
            continue
        seconds, found = cpu(lambda peer=peer, library=library: getattr(review, f"by_{peer}")(library, setting))  # type: ignore[misc]
        assert found == expected
        report.row(name, what, f"{peer} (exact)", seconds, integers)
        ratios[peer] = seconds
    measured = ", ".join(
        f"{peer} {seconds / integers:,.0f} × (with a Fraction each {seconds / fractions:,.0f} ×)"
        for peer, seconds in ratios.items()
    )
    report.bar(
        "scaled against lea or icepool, pattern table",
        "≥ 500 ×",
        measured or "not installed",
        min(ratios.values()) / integers >= 500 if ratios else None,
    )
    if optional("pgmpy") is None:
        report.row(name, what, "pgmpy (float), joint query", None)
        report.bar("scaled against pgmpy's joint query", "≤ 10 ×", "not installed", None)
        return
    model = review.pgmpy_model()
    seconds, values = cpu(lambda: review.by_pgmpy(model, setting), 5)
    exact = np.broadcast_to(joint.positive / joint.label_unit, values.shape)
    assert abs(exact - values).max() < 1e-12
    report.row(name, what, "pgmpy (float), joint query", seconds, integers)
    measured = f"{integers / seconds:.2f} × (with a Fraction each {fractions / seconds:.1f} ×)"
    report.bar("scaled against pgmpy's joint query", "≤ 10 ×", measured, integers <= 10 * seconds)


def many_factors(count: int) -> str:
    """A review with `count` factors, all settings of which see or hide some."""
    names = [f"f{index}" for index in range(count)]
    laws = itertools.cycle(COARSE)
    text = REVIEW[: REVIEW.index("[attribute.novelty]")].replace('["0.21", "0.44", "0.35"]', '["0.2", "0.5", "0.3"]')
    for name in names:
        text += f"[attribute.{name}]\nvalues = [0, 1, 2]\nprobability = {json.dumps(next(laws))}\n"
    text += NOISE + "[table.weight]\n"
    for kind in range(3):
        weights = ", ".join(
            f'{name} = "{(7 * (kind + 2) * (i + 1)) % 23 / 10 + 0.1:.1f}"' for i, name in enumerate(names)
        )
        text += f"{['theoretical', 'empirical', 'applied'][kind]} = {{ {weights} }}\n"
    score = " + ".join(f"weight[contribution, '{name}'] * {name}" for name in names)
    settings = {
        "low": ["contribution", *names],
        "medium": ["contribution", *names[1:]],
        "high": ["contribution", *names[2:]],
    }
    listed = "\n".join(f"{name} = {json.dumps(visible)}" for name, visible in settings.items())
    return (
        f'{text}[derived]\nscore = "{score} + noise"\n[rule]\npositive = "score >= {count * 1.4:.1f} and f2 > 0"\n'
        f'[setting]\n{listed}\n[[provenance]]\nof = ["*"]\nkind = "chosen"\nwhy = "a benchmark"\n'
    )


def run_many_factors(count: int) -> None:
    """In a process of its own: CPU seconds of prior and Bayes error of three settings, and the peak memory."""
    world = parse_world(many_factors(count).encode())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, _ = cpu(lambda: by_scaled(world), 3)
    one, _ = cpu(lambda: (ScaledWorld(world).view("low").prior(), ScaledWorld(world).view("low").bayes_error()), 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "one": one, "megabytes": peak / 1024, "before": before / 1024}))


def twelve_factors(report: Report) -> None:
    command = [sys.executable, __file__, "--factors", "12"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: Measured = json.loads(done.stdout)
    states = f"12 factors, {3**13:,} states"
    report.row(states, "prior and Bayes error, three settings", "scaled", found["seconds"])
    report.row(states, "prior and Bayes error, one setting", "scaled", found["one"])
    measured = f"{found['seconds']:.2f} s for three settings, {found['megabytes']:.0f} MB at most"
    report.bar(
        "a world of 12 factors", "≤ 1 s and 0.5 GB", measured, found["seconds"] <= 1 and found["megabytes"] <= 500
    )


def admissions(report: Report) -> None:
    total = 0.0
    for name in ("peer-review", "covert-transfer", "credit-risk"):
        world = load_world(WORLDS / f"{name}.toml")
        seconds, found = cpu(lambda world=world: admit(world))  # type: ignore[misc]
        assert found.admitted
        total += seconds
        what = f"admission, largest difference {float(found.largest):.1e}"
        report.row(name, what, "three engines, enumerate at s = 1", seconds)
    report.bar("admission of the three worlds (the bar is verify's)", "≤ 20 s", f"{total:.1f} s", total <= 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out what takes more than a few seconds")
    parser.add_argument("--factors", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.factors:
        run_many_factors(options.factors)
        return
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    report = Report()
    compare_loops(report, options.quick)
    compare_peers(report, options.quick)
    twelve_factors(report)
    admissions(report)
    report.finish()


if __name__ == "__main__":
    main()
