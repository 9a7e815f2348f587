"""scikit-learn, SciPy and scoringrules: agreement on shared definitions, each difference with its reason."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.special
import scipy.stats
import scoringrules
import sklearn.metrics
from sklearn.calibration import calibration_curve
from sklearn.neighbors import KNeighborsClassifier

from exactworlds import metrics

RNG = np.random.default_rng(20)
ROWS = 4000
P = np.round(RNG.beta(0.7, 0.9, ROWS), 3)
Q = np.round(RNG.random(ROWS), 3)
Y = (RNG.random(ROWS) < Q).astype(int)
W = RNG.integers(1, 5, ROWS).astype(float)
INSIDE = np.clip(P, 0.001, 0.999)
P3 = RNG.dirichlet([0.5, 1, 2], ROWS)
P3 /= P3.sum(axis=1, keepdims=True)
Q3 = RNG.dirichlet([1, 1, 1], ROWS)
Q3 /= Q3.sum(axis=1, keepdims=True)
Y3 = (RNG.random(ROWS)[:, np.newaxis] > Q3.cumsum(axis=1)).sum(axis=1)


def mean(values: object) -> float:
    return float(metrics.weighted_mean(values).value)


# --- agreement ------------------------------------------------------------------------------------------------------


def test_brier_scores() -> None:
    binary = metrics.realised_brier_score_binary(report=P, label=Y)
    assert mean(binary) == pytest.approx(sklearn.metrics.brier_score_loss(Y, P), rel=1e-13)
    assert binary == pytest.approx(scoringrules.brier_score(Y, P), abs=1e-15)
    weighted = metrics.weighted_mean(binary, weights=W).value
    assert weighted == pytest.approx(sklearn.metrics.brier_score_loss(Y, P, sample_weight=W), rel=1e-13)
    several = metrics.realised_brier_score(report=P3, label=Y3)
    assert mean(several) == pytest.approx(sklearn.metrics.brier_score_loss(Y3, P3, labels=[0, 1, 2]), rel=1e-12)


def test_log_losses_inside_the_open_interval() -> None:
    binary = metrics.realised_log_loss_binary(report=INSIDE, label=Y)
    assert mean(binary) == pytest.approx(sklearn.metrics.log_loss(Y, INSIDE), rel=1e-12)
    assert binary == pytest.approx(scoringrules.log_score(Y, INSIDE), rel=1e-12)
    assert binary == pytest.approx(scoringrules.logs_binomial(Y, 1, INSIDE), rel=1e-9)
    several = metrics.realised_log_loss(report=P3, label=Y3)
    assert mean(several) == pytest.approx(sklearn.metrics.log_loss(Y3, P3, labels=[0, 1, 2]), rel=1e-12)


def test_divergences_and_entropies() -> None:
    assert metrics.kl_nats(report=P3, target=Q3) == pytest.approx(scipy.special.rel_entr(Q3, P3).sum(axis=1), abs=1e-13)
    assert metrics.kl_nats(report=P3, target=Q3) == pytest.approx(scipy.stats.entropy(Q3, P3, axis=1), abs=1e-12)
    assert metrics.entropy_bits(Q3) == pytest.approx(scipy.stats.entropy(Q3, base=2, axis=1), abs=1e-12)
    assert metrics.entropy_bits_binary(Q) == pytest.approx(
        (scipy.special.entr(Q) + scipy.special.entr(1 - Q)) / math.log(2), abs=1e-13
    )


def test_areas_under_the_curve() -> None:
    ties = np.round(P, 1)
    found = metrics.area_under_curve(score=ties, positive=Y == 1)
    assert found == pytest.approx(sklearn.metrics.roc_auc_score(Y, ties), abs=1e-12)
    weighted = metrics.area_under_curve(score=ties, positive=Y == 1, weights=W)
    assert weighted == pytest.approx(sklearn.metrics.roc_auc_score(Y, ties, sample_weight=W), abs=1e-12)
    rank = scipy.stats.mannwhitneyu(ties[Y == 1], ties[Y == 0]).statistic / ((Y == 1).sum() * (Y == 0).sum())
    assert found == pytest.approx(rank, abs=1e-12)


def test_distances_between_samples() -> None:
    ours = metrics.wasserstein1_lattice(first=P, second=Q, steps=1000)
    assert ours == pytest.approx(scipy.stats.wasserstein_distance(P, Q), abs=1e-12)
    law = {0: "1/4", "1/2": "1/4", 1: "1/2"}
    theirs = scipy.stats.wasserstein_distance([0, 0.5, 1], [0.25], [0.25, 0.25, 0.5], [1.0])
    assert float(metrics.wasserstein1(law, {"1/4": 1})) == pytest.approx(theirs)


def test_reliability_away_from_edges() -> None:
    off = np.clip(np.round(P, 2) + 0.003, 0, 0.999)
    table = [row for row in metrics.reliability_table(confidence=off, accuracy=Y, bins=10) if row.count]
    outcome, report = calibration_curve(Y, off, n_bins=10)
    assert [row.confidence for row in table] == pytest.approx(list(report))
    assert [row.accuracy for row in table] == pytest.approx(list(outcome))


def test_neighbours_without_ties() -> None:
    x = RNG.permutation(400)
    y = (RNG.random(400) < x / 400).astype(int)
    rows = metrics.encode({"x": [int(v) ** 2 for v in x]}, ranges={"x": (0, 400**2)})
    for k in (1, 5):
        model = KNeighborsClassifier(k, algorithm="brute").fit((x[:200, np.newaxis] ** 2.0), y[:200])
        theirs = (model.predict(x[200:, np.newaxis] ** 2.0) != y[200:]).mean()
        assert float(metrics.neighbour_error(rows, y, k=k)) == pytest.approx(theirs, abs=1e-12)


def test_bootstrap_intervals_agree_up_to_their_own_noise() -> None:
    values = np.round(P[:300] - Q[:300], 3)
    ours = metrics.paired_bootstrap({"x": metrics.mean_statistic(values)}, strata=["all"] * 300, seed=1)["x"]
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=5000, method="percentile", rng=np.random.default_rng(2), batch=100
    ).confidence_interval
    noise = values.std() / math.sqrt(300)
    assert ours.low == pytest.approx(theirs.low, abs=0.15 * noise)
    assert ours.high == pytest.approx(theirs.high, abs=0.15 * noise)


# --- differences ----------------------------------------------------------------------------------------------------


def test_scikit_learn_clips_a_report_of_zero_and_we_keep_infinity() -> None:
    theirs = sklearn.metrics.log_loss([1, 0], [0.0, 0.0], labels=[0, 1])
    assert math.isfinite(theirs)
    ours = metrics.weighted_mean(metrics.realised_log_loss_binary(report=[0.0, 0.0], label=[1, 0]))
    assert (ours.value, ours.infinite) == (math.inf, 1)


def test_scikit_learn_halves_the_binary_brier_score_by_default_and_we_name_the_convention() -> None:
    vectors = np.stack([1 - Q, Q], axis=1)
    ours = mean(metrics.realised_brier_score(report=vectors, label=Y))
    assert ours == pytest.approx(sklearn.metrics.brier_score_loss(Y, vectors, scale_by_half=False), rel=1e-12)
    assert ours == pytest.approx(2 * sklearn.metrics.brier_score_loss(Y, vectors), rel=1e-12)


def test_scikit_learn_scores_vectors_that_do_not_sum_to_one_and_we_refuse() -> None:
    report, label = [[0.5, 0.4], [0.3, 0.7]], [0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isfinite(sklearn.metrics.log_loss(label, report, labels=[0, 1]))
    with pytest.raises(metrics.InvalidArgument):
        metrics.realised_log_loss(report=report, label=label)


def test_scikit_learn_puts_an_edge_into_the_lower_bin_and_we_into_the_upper() -> None:
    report, label = np.array([0.25, 0.3, 0.35]), np.array([0, 0, 1])
    _, theirs = calibration_curve(label, report, n_bins=10)
    assert list(theirs) == pytest.approx([0.275, 0.35])
    ours = [
        row.confidence for row in metrics.reliability_table(confidence=report, accuracy=label, bins=10) if row.count
    ]
    assert ours == pytest.approx([0.25, 0.325])
    lattice = np.round(P, 1)
    table = [row.count for row in metrics.reliability_table(confidence=lattice, accuracy=Y, bins=10)]
    lower = np.bincount(np.searchsorted(np.linspace(0, 1, 11)[1:-1], lattice), minlength=10)
    assert table != lower.tolist()  # on decimals the rule moves real mass


def test_scikit_learn_loses_quantile_bins_to_equal_values_and_ours_share_them() -> None:
    """One value in several bins: their edges collapse to fewer bins, ours divide it in proportion."""
    report, label = np.full(100, 0.2), np.arange(100) % 2
    outcome, _ = calibration_curve(label, report, n_bins=5, strategy="quantile")
    assert len(outcome) < 5
    ours = metrics.calibration_error(confidence=report, accuracy=label, bins=5, strategy="equal_frequency")
    assert ours == pytest.approx(0.3)


def test_scikit_learn_breaks_neighbour_ties_by_row_order_and_we_take_the_expectation() -> None:
    x, y = np.zeros((4, 1)), np.array([0, 1, 1, 0])
    test = np.zeros((1, 1))
    forward = KNeighborsClassifier(1, algorithm="brute").fit(x, y).predict(test)[0]
    backward = KNeighborsClassifier(1, algorithm="brute").fit(x, y[[1, 0, 2, 3]]).predict(test)[0]
    assert forward != backward
    rows = metrics.encode({"x": ["0"] * 5})
    assert metrics.neighbour_error(rows, [0, 1, 1, 0, 1], k=1, fit_rows=4) == metrics.neighbour_error(
        rows, [1, 0, 1, 0, 1], k=1, fit_rows=4
    )


def test_scikit_learn_gives_nan_for_one_class_and_we_say_undefined() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isnan(sklearn.metrics.roc_auc_score([1, 1], [0.2, 0.3]))
    ours = metrics.area_under_curve(score=[0.2, 0.3], positive=[True, True])
    assert isinstance(ours, metrics.Undefined)
    assert ours.counts == {"positive": 2, "negative": 0}


def test_scipy_normalises_what_does_not_sum_to_one_and_we_refuse() -> None:
    assert scipy.stats.entropy([0.5, 0.6], base=2) == pytest.approx(0.994, abs=1e-3)
    with pytest.raises(metrics.InvalidArgument):
        metrics.entropy_bits([0.5, 0.6])
    assert math.isfinite(scipy.stats.wasserstein_distance([0, 1], [0, 1], [0.5, 0.6], [1, 0]))
    with pytest.raises(metrics.InvalidArgument):
        metrics.wasserstein1({0: "0.5", 1: "0.6"}, {0: 1})


def test_scoringrules_passes_a_nan_on_and_we_refuse() -> None:
    assert np.isnan(scoringrules.brier_score(1, float("nan")))
    with pytest.raises(metrics.InvalidArgument):
        metrics.realised_brier_score_binary(report=float("nan"), label=1)


def test_scoringrules_and_we_keep_an_infinite_log_score_alike() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert scoringrules.log_score(1, 0.0) == math.inf
    assert metrics.realised_log_loss_binary(report=0.0, label=1) == math.inf
