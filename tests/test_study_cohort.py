"""Scoring a cohort: exact reports are perfect, and simulated reporters do exactly what was predicted of them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from exactworlds.errors import InvalidArgument
from exactworlds.metrics import RELATIONS, Undefined, resample_counts
from exactworlds.study.cohort import PRIMARY_RELATIONS, CohortScores, _criterion, score_cohort, slots
from exactworlds.study.figures import exact_lower_bound, figure
from exactworlds.study.post_hoc import calibration_table, complement_table, reject_curves, selective_table, sweep_signs
from exactworlds.study.reports import SCALARS, VARIANTS, VECTORS, Answer, RootTruth, Run, rejected, valid

COSTS = ("0.02", "0.05", "0.10", "0.20", "0.40")
SEED = 2026092408
Report = tuple[Fraction, ...] | Fraction


def truths(count: int = 160, *, seed: int = 3) -> list[RootTruth]:
    """Roots of four cells with posteriors away from 0 and 1, some of three categories, some without P(B)."""
    generator = random.Random(seed)
    made = []
    for number in range(count):
        cells = [Fraction(generator.randint(15, 40)) for _ in range(4)]
        total = sum(cells)
        cells = [cell / total for cell in cells]
        three = number % 4 == 3
        posterior = (cells[0], cells[1], cells[2] + cells[3]) if three else tuple(cells)
        no_b = number % 10 == 9
        b = Fraction(0) if no_b else cells[0] + cells[2]
        joint = Fraction(0) if no_b else cells[0]
        made.append(
            RootTruth(
                id=f"root-{number}",
                stratum=f"stratum-{number % 8}",
                categories=tuple(f"type_{k}" for k in range(len(posterior))),
                posterior=posterior,
                in_event=(True, *(k == 1 and not three for k in range(1, len(posterior)))),
                event_b=b,
                intersection=joint,
                conditional=None if no_b else joint / b,
                outcome=generator.randrange(len(posterior)),
            )
        )
    return made


ROOTS = truths()


def mass_of_b(truth: RootTruth) -> Fraction:
    assert truth.event_b is not None  # these roots are asked for B
    return truth.event_b


def run(
    name: str, answer: Callable[[RootTruth, str], Report | Answer] | None = None, roots: list[RootTruth] = ROOTS
) -> Run:
    """The answers of a reporter to every eligible request."""
    answers: dict[str, dict[str, Answer]] = {}
    for truth in roots:
        answers[truth.id] = {}
        for variant in VARIANTS:
            if truth.is_eligible(variant):
                said = answer(truth, variant) if answer else exact(truth, variant)
                answers[truth.id][variant] = said if isinstance(said, Answer) else valid(said)
    return Run(name, answers)


def exact(truth: RootTruth, variant: str) -> Report:
    target = truth.target(variant)
    assert target is not None
    return target


def scored(*runs: Run, roots: list[RootTruth] = ROOTS, replicates: int = 200) -> CohortScores:
    return score_cohort(roots, list(runs), costs=COSTS, seed=SEED, replicates=replicates)


def residuals(scores: CohortScores, name: str) -> dict[str, object]:
    return {relation: scores.figures[f"{name}/{relation}"].value for relation in RELATIONS}


def test_exact_reports_are_perfect() -> None:
    scores = scored(run("exact"))
    assert set(residuals(scores, "exact").values()) == {Fraction(0)}
    for cost in COSTS:
        assert scores.figures[f"exact/canonical-regret@{cost}"].value == 0
        assert (
            scores.figures[f"exact/canonical-loss@{cost}"].value
            == scores.figures[f"oracle/canonical-loss@{cost}"].value
        )
        for policy in ("event", "choice", "random", "mean", "agreement", "event-repeat-mean"):
            loss = scores.figures[f"exact/binary-loss:{policy}@{cost}"].value
            assert loss == scores.figures[f"oracle/binary-loss@{cost}"].value
    assert scores.figures["exact/tv"].value == 0
    assert scores.criteria["exact"].passes
    assert scores.slots["exact"].native_validity == 1
    assert isinstance(scores.figures["exact/disagreement-share"].value, Undefined)


DELTA = Fraction(1, 100)


def shifted(value: Report, by: Fraction) -> Report:
    """A scalar moved by δ, or a distribution with δ moved from its first category to its last."""
    if isinstance(value, Fraction):
        return value + by
    return (value[0] - by, *value[1:-1], value[-1] + by)


MUST_BREAK = {
    "choice": {"event_choice"},
    "repeat": {"repeat"},
    "complement": {"complement"},
    "permuted": {"permutation"},
    "layout": {"layout"},
    "opaque": {"opaque_keys"},
    "metadata": {"metadata"},
    "event": {"event_choice", "repeat", "complement", "coarsening"},
}


@pytest.mark.parametrize("variant", MUST_BREAK)
def test_a_report_off_by_delta_breaks_its_relations_by_delta_and_no_other(variant: str) -> None:
    scores = scored(run("off", lambda truth, asked: shifted(exact(truth, asked), DELTA * (asked == variant))))
    for relation, value in residuals(scores, "off").items():
        assert value == (DELTA if relation in MUST_BREAK[variant] else 0), relation


def test_an_intersection_off_by_delta_breaks_the_product_rule() -> None:
    scores = scored(run("off", lambda truth, asked: shifted(exact(truth, asked), -DELTA * (asked == "conditional"))))
    found = residuals(scores, "off")
    expected = [mass_of_b(truth) * DELTA for truth in ROOTS if truth.conditional is not None]
    product = scores.figures["off/product"]
    assert product.n == len(expected)
    by_root = [None if truth.conditional is None else mass_of_b(truth) * DELTA for truth in ROOTS]
    assert product.value == figure(by_root, [truth.stratum for truth in ROOTS]).value
    assert {relation for relation, value in found.items() if value} == {"product"}


def test_a_joint_probability_outside_its_bounds_breaks_frechet_by_delta() -> None:
    def above(truth: RootTruth, asked: str) -> Report:
        if asked == "intersection":
            return min(truth.event, mass_of_b(truth)) + DELTA
        return exact(truth, asked)

    found = residuals(scored(run("off", above)), "off")
    assert found["frechet"] == DELTA
    assert {relation for relation, value in found.items() if value} == {"frechet", "product"}


def test_a_preference_for_yes_shows_in_the_complement_twice_and_in_event_and_choice_not() -> None:
    def likes_yes(truth: RootTruth, asked: str) -> Report:
        value = exact(truth, asked)
        return value + DELTA if asked in ("event", "choice", "repeat", "complement") else value  # type: ignore[operator]

    found = residuals(scored(run("yes", likes_yes)), "yes")
    assert found["complement"] == 2 * DELTA
    assert found["event_choice"] == found["repeat"] == 0
    assert found["coarsening"] == DELTA


def rounded(value: Fraction) -> Fraction:
    return Fraction(round(value * 100), 100)


def test_rounding_to_hundredths_stays_within_its_bounds() -> None:
    """Two scalars of one probability differ by at most 0.01, the coarsening by at most 0.005 (1 + |A|)."""

    def rounds(truth: RootTruth, asked: str) -> Report:
        value = exact(truth, asked)
        if isinstance(value, Fraction):
            return rounded(value)
        head = [rounded(part) for part in value[:-1]]
        return (*head, 1 - sum(head, Fraction(0)))

    reporter = run("rounded", rounds)
    scores = scored(reporter)
    assert scores.figures["rounded/event_choice"].value == 0
    for truth in ROOTS:
        event, complement = (reporter.report(truth.id, variant) for variant in ("event", "complement"))
        whole = reporter.report(truth.id, "canonical")
        assert isinstance(event, Fraction)
        assert isinstance(complement, Fraction)
        assert isinstance(whole, tuple)
        assert abs(event + complement - 1) <= Fraction(1, 100)
        inside = sum((p for p, member in zip(whole, truth.in_event, strict=True) if member), Fraction(0))
        assert abs(event - inside) <= Fraction(5, 1000) * (1 + sum(truth.in_event))


def test_planted_zeros_give_as_many_infinite_losses() -> None:
    planted = {ROOTS[number].id for number in (0, 5, 17)}

    def zeros(truth: RootTruth, asked: str) -> Report:
        value = exact(truth, asked)
        if asked == "canonical" and truth.id in planted:
            assert isinstance(value, tuple)
            return (Fraction(0), value[0] + value[1], *value[2:])
        return value

    scores = scored(run("zeros", zeros), run("exact"))
    loss = scores.figures["zeros/log-loss"]
    assert (loss.value, loss.infinite, loss.n) == (math.inf, 3, len(ROOTS))
    assert scores.figures["exact/log-loss"].infinite == 0
    assert "zeros - exact/log-loss" not in scores.figures


def test_invalid_answers_defer_and_lower_validity_exactly() -> None:
    broken = {ROOTS[number].id for number in range(12)}

    def sometimes(truth: RootTruth, asked: str) -> Report | Answer:
        return rejected("sum") if asked == "canonical" and truth.id in broken else exact(truth, asked)

    confident = [
        RootTruth(t.id, t.stratum, t.categories, (Fraction(1), *[Fraction(0)] * (len(t.posterior) - 1)), t.in_event,
                  t.event_b, t.intersection, t.conditional)
        for t in ROOTS
    ]  # fmt: skip
    scores = scored(run("some", sometimes, confident), roots=confident)
    eligible = scores.slots["some"].eligible
    assert scores.slots["some"].native_validity == Fraction(eligible - 12, eligible)
    assert scores.slots["some"].service_availability == 1
    assert scores.slots["some"].reasons == {"sum": 12}
    answered = scores.figures["some/canonical-coverage@0.10"]
    assert answered.n == len(ROOTS)
    by_root = [Fraction(truth.id not in broken) for truth in ROOTS]
    assert answered.value == figure(by_root, [truth.stratum for truth in ROOTS]).value
    assert scores.figures["some/tv"].n == len(ROOTS) - 12


def test_all_missing_costs_the_deferral_in_every_stratum() -> None:
    scores = scored(Run("silent", {}))
    for cost in COSTS:
        assert scores.figures[f"silent/canonical-loss@{cost}"].value == Fraction(cost)
        assert scores.figures[f"silent/binary-loss:mean@{cost}"].value == Fraction(cost)
    for stratum in scores.strata:
        inside = [truth for truth in ROOTS if truth.stratum == stratum]
        alone = scored(Run("silent", {}), roots=inside, replicates=20)
        for cost in COSTS:
            assert alone.figures[f"silent/canonical-loss@{cost}"].value == Fraction(cost)
    assert isinstance(scores.figures["silent/tv"].value, Undefined)
    assert scores.slots["silent"].ended == {"not-acquired": scores.slots["silent"].eligible}
    assert scores.criteria["silent"].failed == ("validity", *PRIMARY_RELATIONS)


def test_noise_of_eta_gives_a_mean_error_of_eta() -> None:
    eta = Fraction(1, 50)

    def noisy(truth: RootTruth, asked: str) -> Report:
        sign = 1 if int(truth.id.split("-")[1]) % 2 else -1
        value = exact(truth, asked)
        return value + sign * eta if asked == "event" else value  # type: ignore[operator]

    scores = scored(run("noisy", noisy))
    assert scores.figures["noisy/event-error"].value == eta
    assert scores.figures["noisy/choice-error"].value == 0
    assert scores.figures["noisy/event_choice"].value == eta
    assert scores.figures["noisy/disagreement-share"].value == 1


def test_a_bias_of_position_shows_in_permutation_only() -> None:
    scores = scored(run("biased", lambda truth, asked: shifted(exact(truth, asked), DELTA * (asked == "permuted"))))
    assert {name for name, value in residuals(scores, "biased").items() if value} == {"permutation"}


def test_slots_add_up_and_undefined_conditionals_are_not_eligible() -> None:
    ends = slots(ROOTS, run("exact"))
    undefined = sum(truth.conditional is None for truth in ROOTS)
    assert undefined == 16
    assert ends.intended == 12 * len(ROOTS)
    assert ends.eligible == ends.intended - undefined == sum(ends.ended.values())
    assert len(VARIANTS) == 12
    assert set(VARIANTS) == set(VECTORS) | set(SCALARS)


def test_empty_strata_are_named_and_carry_no_weight() -> None:
    def without_one(truth: RootTruth, asked: str) -> Report | Answer:
        return rejected("cap", served=False) if truth.stratum == "stratum-3" else exact(truth, asked)

    scores = scored(run("gap", without_one))
    assert scores.figures["gap/tv"].empty_strata == ("stratum-3",)
    assert scores.support["gap"]["stratum-3"] == 0
    assert scores.slots["gap"].service_availability < 1


def test_contrasts_are_paired() -> None:
    scores = scored(run("a", lambda t, v: shifted(exact(t, v), DELTA * (v == "canonical"))), run("b"))
    assert scores.figures["a - b/tv"].value == DELTA
    assert scores.figures["a - b/tv"].low == pytest.approx(float(DELTA))


def test_the_criterion_compares_its_bounds_exactly() -> None:
    """A pass rate of 19 of 20 in one stratum, without spread, is exactly at the bound: it passes."""
    strata = ["only"] * 20
    rates = [Fraction(1)] * 19 + [Fraction(0)]
    assert exact_lower_bound([Fraction(1)] * 20, strata, seed=1, replicates=50) == 1
    low = exact_lower_bound(rates, strata, seed=1, replicates=4001)
    assert low is not None
    assert low * 20 % 1 == 0  # position 100 of 4,001 is a replicate, no interpolation
    assert exact_lower_bound([None] * 20, strata, seed=1, replicates=10) is None


def test_exact_bounds_are_those_of_the_float_intervals() -> None:
    def sloppy(truth: RootTruth, asked: str) -> Report:
        off = Fraction(1, 10) if int(truth.id.split("-")[1]) % 7 == 0 else Fraction(0)
        return shifted(exact(truth, asked), off * (asked == "choice"))

    scores = scored(run("sloppy", sloppy), replicates=500)
    low = scores.criteria["sloppy"].lower_bounds["event_choice"]
    assert low is not None
    assert float(low) == pytest.approx(scores.figures["sloppy/event_choice-pass"].low, abs=1e-12)
    assert low < Fraction(95, 100)
    assert "event_choice" in scores.criteria["sloppy"].failed


def test_post_hoc_tables_of_exact_reports() -> None:
    sums = complement_table(ROOTS, run("exact"))
    assert not isinstance(sums, Undefined)
    assert {sums.low, sums.median, sums.high} == {Fraction(1)}
    calibration = calibration_table(ROOTS, run("exact"))
    assert not isinstance(calibration, Undefined)
    assert set(calibration.against_exact.values()) == {Fraction(0)}
    assert all(value > 0 for value in calibration.against_labels.values())
    curves = reject_curves(ROOTS, run("exact"))
    assert not isinstance(curves, Undefined)
    signs = sweep_signs(curves)
    assert (signs.mean_better, signs.mean_worse, signs.equal) == (0, 0, 99)
    table = selective_table(ROOTS, run("exact"))
    assert isinstance(table.auroc, Undefined)
    assert table.losses["confidence"] <= table.losses["random"]
    assert isinstance(complement_table(ROOTS, Run("silent", {})), Undefined)


def test_selection_by_excess_risk_is_best_and_random_keeps_half_of_all() -> None:
    def wild(truth: RootTruth, asked: str) -> Report:
        value = exact(truth, asked)
        odd = int(truth.id.split("-")[1]) % 2
        return 1 - value if asked in ("event", "choice") and odd and isinstance(value, Fraction) else value

    table = selective_table(ROOTS, run("wild", wild))
    assert table.losses["excess risk"] == min(table.losses.values())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Answer("valid"), "a report exactly if"),
        (lambda: Answer("rejected"), "a reason exactly if"),
        (lambda: Answer("unavailable", Fraction(1)), "a report exactly if"),
        (lambda: scored(run("a"), run("a")), "every configuration once"),
        (lambda: scored(run("a"), roots=[ROOTS[0], ROOTS[0]]), "every root once"),
        (
            lambda: RootTruth(
                "r", "s", ("a", "b"), (Fraction(1, 2), Fraction(1, 3)), (True, False), Fraction(1), Fraction(1), None
            ),
            "a sum of exactly 1",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        make()


@pytest.mark.parametrize("replicates", [1, 40, 41, 399])
def test_the_exact_bound_is_the_percentile_of_the_sorted_rates(replicates: int) -> None:
    """Every replicate's rate as a Fraction, sorted, and the position (R − 1)/40 between neighbours."""
    strata = [f"s{number % 3}" for number in range(30)]
    rates = [None if number % 11 == 0 else Fraction(number % 4 != 0) for number in range(30)]
    found = []
    for counts in resample_counts(strata, replicates=replicates, seed=9):
        for row in counts.tolist():
            shares = []
            for name in ("s0", "s1", "s2"):
                inside = [(n, rate) for n, rate, s in zip(row, rates, strata, strict=True) if s == name]
                drawn = [(n, rate) for n, rate in inside if rate is not None]
                total = sum(n for n, _ in drawn)
                if total:
                    shares.append(Fraction(sum(n for n, rate in drawn if rate), total))
            found.append(sum(shares, Fraction(0)) / len(shares))
    found.sort()
    place = Fraction(replicates - 1, 40)
    low = int(place)
    high = min(low + 1, replicates - 1)
    expected = found[low] + (found[high] - found[low]) * (place - low)
    assert exact_lower_bound(rates, strata, seed=9, replicates=replicates) == expected


def test_a_bound_of_exactly_95_percent_passes() -> None:
    """One replicate of twenty roots, under a seed that draws the one that fails exactly once."""
    rates = [Fraction(1)] * 19 + [Fraction(0)]
    strata = ["only"] * 20
    seed = next(s for s in range(200) if exact_lower_bound(rates, strata, seed=s, replicates=1) == Fraction(19, 20))
    ends = slots(ROOTS, run("exact"))
    found = _criterion(dict.fromkeys(PRIMARY_RELATIONS, rates), strata, ends, seed=seed, replicates=1)
    assert set(found.lower_bounds.values()) == {Fraction(19, 20)}
    assert found.passes


def test_a_mean_of_exactly_a_half_is_no() -> None:
    """Every pair reports ½: the class is no, half the weight acts and loses q(A), the rest defers."""
    half = run("half", lambda truth, asked: Fraction(1, 2) if asked in ("event", "choice") else exact(truth, asked))
    strata = [truth.stratum for truth in ROOTS]
    mean = figure([truth.event for truth in ROOTS], strata).value
    assert isinstance(mean, Fraction)
    assert selective_table(ROOTS, half).losses["random"] == mean / 2 + Fraction(1, 20)
