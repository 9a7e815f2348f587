"""Scores of runs: each figure against a second derivation on small cases, and what exact answers must give."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.cli.scoring import score_folder
from exactworlds.collect.ends import End
from exactworlds.errors import UnreadableFile, UsageError
from exactworlds.files.case_task import CaseTask, write_case_task
from exactworlds.files.scores import file_digest, read_scores, stale_inputs, write_scores
from exactworlds.files.targets import read_targets
from exactworlds.metrics import PRIMARY_COSTS, RELATIONS, Undefined
from exactworlds.spec.bundled import find_world
from exactworlds.spec.prices import find_price, load_prices
from exactworlds.study.case_scores import CaseFigure, case_figures, cost_text, raw_figures, tied_reports
from exactworlds.study.case_tables import case_curves, pattern_table, reliability
from exactworlds.study.joining import CaseRow
from exactworlds.study.scores import number
from exactworlds.study.validity import STATES, collection, cost_of
from run_makers import answered, case_ends, case_task, contract_ends, contract_task, make_run, rows

TARGETS = st.sampled_from(
    [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(9, 10), Fraction(1, 1000), Fraction(22, 31)]
)
REPORTS = st.one_of(st.none(), st.integers(0, 100).map(lambda k: Fraction(k, 100)), TARGETS)
ROWS = st.lists(st.tuples(TARGETS, st.booleans(), REPORTS), min_size=1, max_size=8)
SOME = ROWS.filter(lambda triples: any(report is not None for _, _, report in triples))
Triples = list[tuple[Fraction, bool, Fraction | None]]


def scored(triples: Triples) -> list[tuple[Fraction, bool, Fraction]]:
    return [(q, y, p) for q, y, p in triples if p is not None]


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def class_of(p: Fraction) -> bool:
    return p > 1 - p


# --- figures against what they mean ---------------------------------------------------------------------------------


@given(SOME)
def test_accuracies_are_averages_over_both_outcomes(triples: Triples) -> None:
    kept, figures = scored(triples), case_figures(rows(triples))
    expected = mean([next(w for y, w in ((True, q), (False, 1 - q)) if y == class_of(p)) for q, _, p in kept])
    assert figures["expected_accuracy"].value == expected
    assert figures["realised_accuracy"].value == mean([Fraction(y == class_of(p)) for _, y, p in kept])
    best = [max(q if guess else 1 - q for guess in (False, True)) for q, _, _ in kept]
    assert figures["bayes_accuracy_same_cases"].value == mean(best)
    assert figures["bayes_accuracy_all_cases"].value == mean([max(q, 1 - q) for q, _, _ in triples])
    assert expected <= mean(best)


@given(SOME)
def test_squared_errors_are_averages_over_both_outcomes(triples: Triples) -> None:
    kept, figures = scored(triples), case_figures(rows(triples))
    assert figures["brier_score_binary"].value == mean([q * (p - 1) ** 2 + (1 - q) * p**2 for q, _, p in kept])
    assert figures["brier_score_binary_realised"].value == mean([(p - int(y)) ** 2 for _, y, p in kept])
    halves = [(abs(p - q) + abs((1 - p) - (1 - q))) / 2 for q, _, p in kept]
    assert figures["total_variation"].value == mean(halves)


def log_loss(q: Fraction, p: Fraction) -> mpmath.mpf:
    """−q ln p − (1−q) ln(1−p) to 40 digits."""
    with mpmath.workdps(40):
        out = mpmath.mpf(0)
        for weight, said in ((q, p), (1 - q, 1 - p)):
            if weight:
                if not said:
                    return mpmath.inf
                ratio = mpmath.mpf(said.numerator) / said.denominator
                out -= mpmath.mpf(weight.numerator) / weight.denominator * mpmath.log(ratio)
        return out


@given(SOME)
def test_logarithmic_scores_keep_and_count_infinities(triples: Triples) -> None:
    kept, figures = scored(triples), case_figures(rows(triples))
    losses = [log_loss(q, p) for q, _, p in kept]
    excess = [loss - log_loss(q, q) for loss, (q, _, _) in zip(losses, kept, strict=True)]
    drawn = [log_loss(Fraction(y), p) for _, y, p in kept]
    for name, values in (
        ("log_loss_nats", losses),
        ("kl_nats_unclipped", excess),
        ("log_loss_nats_realised", drawn),
    ):
        found = figures[name]
        assert isinstance(found.value, float)
        assert found.infinite == sum(value == mpmath.inf for value in values)
        assert math.isinf(found.value) == (found.infinite > 0)
        if not found.infinite:
            assert found.value == pytest.approx(float(sum(values) / len(values)), abs=1e-12)


@given(SOME)
def test_clipping_moves_the_report_only_and_makes_every_term_finite(triples: Triples) -> None:
    low, high = Fraction(1, 1000), Fraction(999, 1000)
    terms = [log_loss(q, min(max(p, low), high)) - log_loss(q, q) for q, _, p in scored(triples)]
    found = case_figures(rows(triples))["kl_nats_clipped_0.001"]
    assert found.infinite == 0
    assert found.value == pytest.approx(float(sum(terms) / len(terms)), abs=1e-12)


@given(ROWS)
def test_reject_losses_choose_the_action_that_the_report_likes_best(triples: Triples) -> None:
    figures = case_figures(rows(triples))
    for cost in PRIMARY_COSTS:
        least, losses, answered_share = [], [], []
        for q, _, p in triples:
            under_truth = {"no": q, "yes": 1 - q, "defer": cost}
            least.append(min(under_truth.values()))
            action = "defer"
            if p is not None:
                under_report = {"no": p, "yes": 1 - p, "defer": cost}
                action = min(under_report, key=lambda name: (under_report[name], list(under_report).index(name)))
            losses.append(under_truth[action])
            answered_share.append(Fraction(action != "defer"))
        where = f"all@{cost_text(cost)}"
        assert figures[f"reject_loss_{where}"].value == mean(losses)
        assert figures[f"reject_oracle_loss_{where}"].value == mean(least)
        assert figures[f"reject_regret_{where}"].value == mean(losses) - mean(least)
        assert figures[f"reject_coverage_{where}"].value == mean(answered_share)
        kept = [k for k, (_, _, p) in enumerate(triples) if p is not None]
        valid = figures[f"reject_loss_valid@{cost_text(cost)}"]
        if kept:
            assert valid.value == mean([losses[k] for k in kept])
        else:
            assert isinstance(valid.value, Undefined)


@given(SOME, st.sampled_from([10, 15, 20]))
def test_calibration_errors_are_sums_over_bins(triples: Triples, bins: int) -> None:
    figures = case_figures(rows(triples))
    for kind in ("exact", "labels"):
        gaps: dict[int, Fraction] = defaultdict(Fraction)
        for q, y, p in scored(triples):
            confidence = max(p, 1 - p)
            truth = q if kind == "exact" else Fraction(y)
            hit = truth if class_of(p) else 1 - truth
            gaps[min(int(confidence * bins), bins - 1)] += confidence - hit
        error = sum((abs(gap) for gap in gaps.values()), Fraction(0)) / len(scored(triples))
        assert figures[f"ece_{kind}_fixed_{bins}"].value == error


@given(ROWS)
def test_every_figure_says_over_how_many_cases_it_is(triples: Triples) -> None:
    n = len(scored(triples))
    for name, found in case_figures(rows(triples)).items():
        whole = "_all" in name
        assert (found.n, found.of) == (len(triples) if whole else n, len(triples)), name
        assert isinstance(found.value, Undefined) == (found.n == 0)


# --- curves and tables ----------------------------------------------------------------------------------------------


@given(SOME, st.integers(1, 999).map(lambda k: Fraction(k, 2000)))
def test_the_reject_curve_is_the_mean_loss_at_every_cost(triples: Triples, cost: Fraction) -> None:
    curves = case_curves(rows(triples))
    assert curves is not None
    kept = scored(triples)
    constant = mean([q for q, _, _ in kept])
    for name, reports in (("report", [p for _, _, p in kept]), ("constant", [constant] * len(kept))):
        losses = []
        for (q, _, _), p in zip(kept, reports, strict=True):
            losses.append(q if p <= cost else 1 - q if 1 - p <= cost else cost)
        assert curves.reject[name].value(cost) == mean(losses)
    assert curves.reject["posterior"].value(cost) == mean([min(q, 1 - q, cost) for q, _, _ in kept])


@given(SOME, st.integers(1, 1999).map(lambda k: Fraction(k, 2000)))
def test_the_murphy_curve_is_the_mean_cost_of_deciding_at_every_threshold(triples: Triples, theta: Fraction) -> None:
    """A wrong no costs 1 − θ, a wrong yes θ; yes is said from the threshold on."""
    curves = case_curves(rows(triples))
    assert curves is not None
    kept = scored(triples)
    losses = [theta * (1 - q) if p >= theta else (1 - theta) * q for q, _, p in kept]
    assert curves.murphy["report"].value(theta) == mean(losses)
    assert curves.murphy["posterior"].value(theta) == mean([min(theta * (1 - q), (1 - theta) * q) for q, _, _ in kept])
    assert curves.murphy["posterior"].value(theta) <= curves.murphy["constant"].value(theta)


@given(SOME)
def test_reliability_bins_hold_every_valid_answer_once(triples: Triples) -> None:
    tables = reliability(rows(triples))
    assert tables is not None
    kept = scored(triples)
    for table in (tables.positive_exact, tables.positive_labels, tables.selected_exact, tables.selected_labels):
        assert sum(row.count for row in table) == len(kept)
    for b, row in enumerate(tables.positive_exact):
        inside = [(p, q) for q, _, p in kept if min(int(p * 10), 9) == b]
        assert row.count == len(inside)
        if inside:
            assert (row.confidence, row.accuracy) == (mean([p for p, _ in inside]), mean([q for _, q in inside]))


@given(ROWS)
def test_patterns_hold_every_case_once(triples: Triples) -> None:
    table = pattern_table(rows(triples))
    assert sum(pattern.n for pattern in table) == len(triples)
    assert [pattern.posterior for pattern in table] == sorted({q for q, _, _ in triples})
    for pattern in table:
        reports = [p for q, _, p in scored(triples) if q == pattern.posterior]
        assert pattern.valid == len(reports)
        if reports:
            assert (pattern.mean, pattern.low, pattern.high) == (mean(reports), min(reports), max(reports))


def test_one_pattern_with_two_posteriors_is_refused() -> None:
    first, second = rows([(Fraction(1, 2), True, None), (Fraction(1, 3), True, None)])
    with pytest.raises(UsageError, match="another exact probability"):
        pattern_table([first, evolve(second, visible=first.visible)])


# --- rescaled answers -----------------------------------------------------------------------------------------------


def test_raw_scores_take_the_number_as_it_was_written() -> None:
    triples: Triples = [(Fraction(1, 2), True, Fraction(40, 99)), (Fraction(1, 4), False, Fraction(1, 3))]
    found = raw_figures(rows(triples, Fraction(99, 100)))
    assert found["raw_total_variation"].value == mean([abs(p * Fraction(99, 100) - q) for q, _, p in scored(triples)])
    assert raw_figures(rows(triples)) == {}


def test_a_number_above_1_has_no_raw_score_and_is_not_counted() -> None:
    triples: Triples = [(Fraction(1), True, Fraction(1)), (Fraction(1), True, Fraction(1, 2))]
    found = raw_figures(rows(triples, Fraction(101, 100)))["raw_total_variation"]
    assert (found.n, found.of, found.value) == (1, 2, 1 - Fraction(101, 200))


# --- how requests ended ---------------------------------------------------------------------------------------------


def some_ends() -> list[End]:
    report = {"no": Fraction(1, 2), "yes": Fraction(1, 2)}
    return [
        answered("1", report, Fraction(98, 100), label_mass=0.9),
        answered("2", report, label_mass=0.7, model="jev-1.14.0"),
        answered("3", None),
        End("4", "rejected", "transport", served=False, attempts=3),
        End("5", "unavailable", attempts=2),
        End("6", "interrupted", attempts=1),
        End("7", "not-acquired"),
    ]


def test_ends_add_up_and_shares_are_of_all_requests() -> None:
    found = collection(some_ends())
    assert list(found.states) == list(STATES)
    assert sum(found.states.values()) == found.requests == 7
    assert found.reasons == {"sum": 1, "transport": 1}
    assert found.native_validity == Fraction(2, 7)
    assert found.service_availability == Fraction(3, 7)
    assert found.coverage == Fraction(5, 7)
    assert (found.rescaled, found.share_rescaled, found.largest_gap) == (1, Fraction(1, 2), Fraction(2, 100))
    assert (found.label_mass.sum / found.label_mass.n, found.smallest_label_mass) == (Fraction(8, 10), Fraction(7, 10))
    assert (found.input_tokens.sum, found.input_tokens.n) == (Fraction(900), 3)
    assert found.has_several_models
    assert not collection(some_ends()[:1]).has_several_models


def test_nothing_valid_has_no_share_that_was_rescaled() -> None:
    assert isinstance(collection([End("7", "not-acquired")]).share_rescaled, Undefined)
    with pytest.raises(UsageError, match="no request"):
        collection([])


def test_costs_are_exact_and_unknown_rather_than_0() -> None:
    ends = some_ends()[:3]
    jev = find_price("systemone", "jev-1.13.0")
    known = cost_of(ends, jev)
    assert known.usd == Fraction(42, 1000) * 900 / 10**6
    assert known.usd_per_request == Fraction(42, 1000) * 300 / 10**6
    assert isinstance(cost_of(ends, None).usd, Undefined)
    assert cost_of([*ends, End("5", "unavailable", attempts=1)], jev).usd == known.usd
    untold = cost_of([*ends, answered("5", None, input_tokens=None)], jev)
    assert isinstance(untold.usd, Undefined)
    assert (untold.priced, untold.usd.reason) == (3, "1 of 4 answers do not say their tokens")
    assert isinstance(cost_of([End("7", "not-acquired")], jev).usd, Undefined)
    free = next(row for row in load_prices().price if row.backend == "reporter")
    assert cost_of([answered("5", None, input_tokens=None)], free).usd == 0


# --- whole runs -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return case_task(tmp_path_factory.mktemp("scores") / "task", n=60)


def test_the_posterior_is_perfect_and_not_when_it_is_clipped(task: Path, tmp_path: Path) -> None:
    content = read_scores(make_run(tmp_path / "exact", task, case_ends(task, lambda q, place: q)))
    figures = content["figures"]
    assert figures["kl_nats_unclipped"]["value"] == 0
    assert figures["kl_nats_clipped_0.001"]["value"] > 0  # this world has posteriors of exactly 0
    assert figures["expected_accuracy"]["exact"] == figures["bayes_accuracy_same_cases"]["exact"]
    assert figures["bayes_accuracy_same_cases"]["exact"] == figures["bayes_accuracy_all_cases"]["exact"]
    assert figures["total_variation"]["exact"] == figures["ece_exact_fixed_10"]["exact"] == "0"
    for cost in content["costs"]:
        assert figures[f"reject_regret_all@{cost}"]["exact"] == "0"
    assert content["curves"]["reject"]["report"]["area"] == content["curves"]["reject"]["posterior"]["area"]
    posteriors = [Fraction(target.posterior) for target in read_targets(task)]
    assert figures["bayes_accuracy_all_cases"]["exact"] == str(mean([max(q, 1 - q) for q in posteriors]))
    assert content["collection"]["cost"]["usd"]["exact"] == str(Fraction(42, 1000) * 300 * 60 / 10**6)


def test_choices_are_scored_by_the_key_of_the_positive_class(tmp_path: Path) -> None:
    """Options are keyed by their labels here, and the reports are exact: nothing may be lost or exchanged."""
    task = tmp_path / "task"
    write_case_task(CaseTask(find_world("peer-review")[0], "low", "form", "5772156649", 20, 2, "choice"), task)
    ends = [
        answered(target.id, {"reject": 1 - Fraction(target.posterior), "accept": Fraction(target.posterior)})
        for target in read_targets(task)
    ]
    figures = read_scores(make_run(tmp_path / "run", task, ends))["figures"]
    assert figures["kl_nats_unclipped"]["value"] == 0
    assert figures["total_variation"]["exact"] == "0"


def test_scoring_twice_gives_the_same_bytes(task: Path, tmp_path: Path) -> None:
    ends = case_ends(task, lambda q, place: None if place % 7 == 0 else Fraction(place % 11, 10))
    run = make_run(tmp_path / "twice", task, ends)
    first = (run / "scores.json").read_bytes()
    write_scores(run, score_folder(run, lambda where, requests: ends[::-1]))
    assert (run / "scores.json").read_bytes() == first
    assert b"Infinity" not in first
    assert json.loads(first)["figures"]["kl_nats_unclipped"]["value"] == "inf"
    assert json.loads(first)["figures"]["kl_nats_unclipped"]["infinite"] > 0
    assert sorted(path.name for path in run.iterdir()) == ["ledger.jsonl", "run.json", "scores.json"]


def test_the_inputs_are_named_by_their_digests(task: Path, tmp_path: Path) -> None:
    run = make_run(tmp_path / "digests", task, case_ends(task, lambda q, place: q))
    content = read_scores(run)
    assert content["inputs"]["ledger.jsonl"] == file_digest(run / "ledger.jsonl")
    assert content["inputs"]["targets/targets.jsonl"] == file_digest(task / "targets" / "targets.jsonl")
    assert set(content["inputs"]) == {
        *("run.json", "ledger.jsonl", "task.json", "requests.jsonl", "targets/targets.jsonl", "targets/origin.json")
    }
    assert stale_inputs(content, content["inputs"]) == []
    assert stale_inputs(content, {**content["inputs"], "ledger.jsonl": "0"}) == ["ledger.jsonl"]
    assert stale_inputs({}, {"run.json": "0"}) == ["run.json"]
    seed = json.loads((task / "targets" / "origin.json").read_text(encoding="utf-8"))["seed"]
    assert f'"{seed}"' not in json.dumps(content["task"]) + json.dumps(content["run"])


@pytest.mark.parametrize("broken", ["requests.jsonl", "targets/targets.jsonl"])
def test_files_of_another_task_are_refused(broken: str, tmp_path: Path) -> None:
    own, other = case_task(tmp_path / "own"), case_task(tmp_path / "other", seed="3")
    ends = case_ends(own, lambda q, place: q)
    run = make_run(tmp_path / "run", own, ends)
    (own / broken).write_bytes((other / broken).read_bytes())
    with pytest.raises(UsageError, match="found the digest"):
        score_folder(run, lambda where, requests: ends)


def test_a_run_without_its_task_is_refused(tmp_path: Path) -> None:
    own = case_task(tmp_path / "own")
    ends = case_ends(own, lambda q, place: q)
    run = make_run(tmp_path / "run", own, ends)
    own.rename(tmp_path / "moved")
    with pytest.raises(UnreadableFile, match=r"task.json"):
        score_folder(run, lambda where, requests: ends)


def test_exact_answers_to_contracts_have_no_residual_and_no_regret(tmp_path: Path) -> None:
    task = contract_task(tmp_path / "task")
    ends = contract_ends(task, lambda variant, place, report: report)
    content = read_scores(make_run(tmp_path / "run", task, ends))
    figures = content["figures"]
    asked = {"event_choice", "complement", "coarsening", "repeat"}
    for relation in RELATIONS:
        assert figures[relation]["n"] == (16 if relation in asked else 0)
        assert figures[relation]["value"] == (0 if relation in asked else None)
    assert figures["tv"]["exact"] == figures["canonical-regret@0.10"]["exact"] == "0"
    assert content["costs"] == {
        "primary": ["0.02", "0.05", "0.10", "0.20", "0.40"],
        "secondary": ["0.05", "0.10", "0.20", "0.30", "0.40"],
    }
    assert content["bootstrap"] == {"seed": 2026092408, "replicates": 5000}
    assert content["curves"]["reject"]["area"]["event"] == content["curves"]["reject"]["area"]["oracle"]
    assert content["raw_figures"] == {}
    assert content["slots"]["all"]["eligible"] == 80


def test_a_constant_gap_between_event_and_choice_is_its_residual(tmp_path: Path) -> None:
    """Choice moves 1/10 of the probability from the likelier to the other option: the residual is 1/10 everywhere."""
    task = contract_task(tmp_path / "task")

    def spoil(variant: str, place: int, report: list[Fraction]) -> list[Fraction] | None:
        if variant == "canonical" and place % 5 == 0:
            return None
        if variant != "choice":
            return report
        step = Fraction(1, 10) if report[0] >= report[1] else Fraction(-1, 10)
        return [report[0] - step, report[1] + step]

    content = read_scores(make_run(tmp_path / "run", task, contract_ends(task, spoil)))
    assert content["figures"]["event_choice"]["exact"] == "1/10"
    assert content["figures"]["event_choice-pass"]["exact"] == "0"
    assert content["figures"]["repeat"]["exact"] == "0"
    assert content["figures"]["tv"]["n"] == sum(content["support"].values()) < 16
    assert "event_choice" in content["criterion"]["failed"]


def test_rescaled_reports_of_contracts_have_raw_scores_beside_them(tmp_path: Path) -> None:
    task = contract_task(tmp_path / "task")
    ends = [evolve(end, total=Fraction(99, 100)) for end in contract_ends(task, lambda variant, place, report: report)]
    content = read_scores(make_run(tmp_path / "run", task, ends))
    assert content["figures"]["tv"]["exact"] == "0"
    assert content["raw_figures"]["raw_tv"]["exact"] == "1/200"  # half of what is missing from 1
    assert content["collection"]["rescaled"]["largest_gap"]["exact"] == "1/100"


# --- numbers as text ------------------------------------------------------------------------------------------------


def test_numbers_longer_than_python_writes_are_written() -> None:
    long = Fraction(1, 10**5000)
    assert number(1 - long)["exact"] == "9" * 5000 + "/1" + "0" * 5000
    assert number(1 - long)["value"] == 1.0
    assert number(Undefined("why", {"n": 0})) == {"value": None, "undefined": "why", "counts": {"n": 0}}


def test_ties_are_counted() -> None:
    found: tuple[CaseRow, ...] = rows([(Fraction(1, 2), True, Fraction(1, 2)), (Fraction(1, 2), True, None)])
    assert tied_reports(found) == 1
    assert case_figures(found)["expected_accuracy"] == CaseFigure(Fraction(1, 2), 1, 2)
