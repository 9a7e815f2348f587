"""How long a cohort takes: `python tests/benchmarks/bench_cohort.py`.

Draws the primary and the headroom cohort with all requests, and scores four configurations of simulated reports over
the 1,000 roots of the primary one: all relations, decisions at five costs, contrasts, 5,000 bootstrap replicates.
Nothing here is a test.
"""

from __future__ import annotations

import itertools
import random
import resource
import time
from collections.abc import Callable
from fractions import Fraction

from exactworlds.contract.cohorts import Cohort, build_cohort
from exactworlds.contract.requests import cohort_requests
from exactworlds.spec.cohorts import find_cohort
from exactworlds.study.cohort import score_cohort
from exactworlds.study.cohort_truths import cohort_truths, exact_run
from exactworlds.study.reports import VARIANTS, Answer, RootTruth, Run, rejected, valid

COSTS = ("0.02", "0.05", "0.10", "0.20", "0.40")


def timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def noisy(truths: list[RootTruth], name: str, seed: int) -> Run:
    """Reports of two decimals that know nothing, one in a hundred of them rejected."""
    chance = random.Random(seed)

    def said(target: tuple[Fraction, ...] | Fraction) -> Answer:
        if chance.random() < 0.01:
            return rejected("sum")
        if isinstance(target, Fraction):
            return valid(Fraction(chance.randint(0, 100), 100))
        cuts = [0, *sorted(chance.randint(0, 100) for _ in target[1:]), 100]
        return valid([Fraction(high - low, 100) for low, high in itertools.pairwise(cuts)])

    answers: dict[str, dict[str, Answer]] = {}
    for truth in truths:
        targets = {variant: truth.target(variant) for variant in VARIANTS}
        answers[truth.id] = {variant: said(target) for variant, target in targets.items() if target is not None}
    return Run(name, answers)


def main() -> None:
    cohorts: dict[str, Cohort] = {}
    print("| what | CPU s |\n|---|---:|")
    for name in ("primary", "headroom"):

        def generate(name: str = name) -> None:
            cohorts[name] = build_cohort(find_cohort(name))
            list(cohort_requests(cohorts[name]))

        print(f"| {name}: all roots and requests | {timed(generate):.2f} |")
    truths = cohort_truths(cohorts["primary"])
    runs = [exact_run(truths), *(noisy(truths, f"noise {seed}", seed) for seed in (1, 2, 3))]
    seconds = timed(lambda: score_cohort(truths, runs, costs=COSTS, seed=2026092408))
    print(f"| scoring 1,000 roots × 4 configurations, 5,000 replicates | {seconds:.1f} |")
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB; bars: 20 s and 500 MB")


if __name__ == "__main__":
    main()
