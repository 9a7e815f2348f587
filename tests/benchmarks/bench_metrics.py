"""Speed of the metrics beside the bare formula and the libraries, as ratios within one run.

    python tests/benchmarks/bench_metrics.py [rows]

Times are CPU seconds of one thread, medians of a few runs; absolute times mean little, so only ratios are
bars. A library that is not installed is said to be so. Validation is on throughout.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # a second thread that waits is counted as work; read when NumPy is loaded

import numpy as np

from exactworlds import metrics

Timed = Callable[[], Any]
REPEATS = 5


def seconds(run: Timed, repeats: int = REPEATS) -> float:
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
        if sum(times) > 20:
            break
    return statistics.median(times)


def show(name: str, ours: Timed, *, bare: Timed | None = None, bar: float = 4, libraries: dict[str, Any]) -> None:
    """One line for ours (against the bare formula), one for each library (against ours)."""
    own = seconds(ours)
    if bare is None:
        print(f"{name:24s} {own * 1e3:9.1f} ms")
    else:
        ratio = own / seconds(bare)
        verdict = "ok" if ratio <= 4 else "MISSED"
        print(f"{name:24s} {own * 1e3:9.1f} ms  {ratio:6.1f} × the bare formula (bar ≤ 4: {verdict})")
    for library, entry in libraries.items():
        least, run = entry
        try:
            other = seconds(run, 3)
        except ImportError:
            print(f"    {library:40s} not installed")
            continue
        ratio = other / own
        verdict = "ok" if ratio >= least else "MISSED"
        print(f"    {library:40s} {other * 1e3:9.1f} ms  {ratio:6.1f} × ours (bar ≥ {least:g}: {verdict})")


def lattice_rows(rows: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    q = rng.choice(np.round(rng.beta(0.5, 0.8, 2000), 4), rows)
    y = (rng.random(rows) < q).astype(np.int64)
    logit = np.log((q + 1e-3) / (1 - q + 1e-3)) * 1.3 + 0.2 + rng.normal(0, 0.3, rows)
    p = np.clip(np.round(1 / (1 + np.exp(-logit)), 6), 1e-6, 1 - 1e-6)
    return p, q, y


def scores(rows: int) -> None:
    p, q, y = lattice_rows(rows)
    yes = y == 1

    def mean(values: Any) -> float:
        return float(metrics.weighted_mean(values).value)

    def sklearn(name: str) -> Timed:
        def run() -> Any:
            import sklearn.metrics

            return getattr(sklearn.metrics, name)(y, p)

        return run

    def scoringrules(name: str, *extra: Any) -> Timed:
        def run() -> Any:
            import scoringrules as library

            return np.mean(getattr(library, name)(y, *extra, p))

        return run

    def diagnostics(name: str) -> Timed:
        def run() -> Any:
            import model_diagnostics.scoring

            return getattr(model_diagnostics.scoring, name)()(y, p)

        return run

    def bare_brier() -> float:
        difference = p - y
        return float(np.dot(difference, difference)) / rows

    show(
        "realised log loss",
        lambda: mean(metrics.realised_log_loss_binary(report=p, label=y)),
        bare=lambda: -np.log(np.where(yes, p, 1 - p)).mean(),
        libraries={
            "scikit-learn log_loss": (1, sklearn("log_loss")),
            "model-diagnostics LogLoss": (1, diagnostics("LogLoss")),
            "scoringrules log_score": (1, scoringrules("log_score")),
        },
    )
    show(
        "realised Brier",
        lambda: mean(metrics.realised_brier_score_binary(report=p, label=y)),
        bare=bare_brier,
        libraries={
            "scikit-learn brier_score_loss": (1, sklearn("brier_score_loss")),
            "scoringrules brier_score": (1, scoringrules("brier_score")),
            "model-diagnostics SquaredError, unchecked": (0, diagnostics("SquaredError")),
        },
    )

    def bare_kl() -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            up = np.where(q > 0, q * np.log(q / p), 0)
            return float((up + np.where(q < 1, (1 - q) * np.log((1 - q) / (1 - p)), 0)).mean())

    def scipy_kl() -> float:
        from scipy.special import rel_entr

        return float((rel_entr(q, p) + rel_entr(1 - q, 1 - p)).mean())

    show(
        "KL to the target",
        lambda: mean(metrics.kl_nats_binary(report=p, target=q)),
        bare=bare_kl,
        libraries={"SciPy rel_entr, unchecked": (0, scipy_kl)},
    )
    show(
        "total variation",
        lambda: mean(metrics.total_variation_binary(report=p, target=q)),
        bare=lambda: np.abs(p - q).mean(),
        libraries={},
    )
    show(
        "expected Brier",
        lambda: mean(metrics.brier_score_binary(report=p, target=q)),
        bare=lambda: float(((p - q) ** 2 + q * (1 - q)).mean()),
        libraries={},
    )


def calibration(rows: int) -> None:
    p, _, y = lattice_rows(rows)

    def torch_ece() -> Any:
        import torch
        from torchmetrics.functional.classification import binary_calibration_error

        torch.set_num_threads(1)
        return float(binary_calibration_error(torch.tensor(p), torch.tensor(y), n_bins=15, norm="l1"))

    def netcal_ece() -> Any:
        from netcal.metrics import ECE

        return ECE(15).measure(p, y)

    def uncertainty_ece() -> Any:
        import calibration as uncertainty_calibration

        return uncertainty_calibration.get_ece(p, y, num_bins=15)

    def sklearn_curve(strategy: str) -> Timed:
        def run() -> Any:
            from sklearn.calibration import calibration_curve

            return calibration_curve(y, p, n_bins=15, strategy=strategy)

        return run

    show(
        "ECE, 15 fixed bins",
        lambda: metrics.calibration_error(confidence=p, accuracy=y, bins=15),
        libraries={
            "torchmetrics binary_calibration_error": (5, torch_ece),
            "netcal ECE": (1, netcal_ece),
            "uncertainty-calibration get_ece": (1, uncertainty_ece),
            "scikit-learn calibration_curve": (1, sklearn_curve("uniform")),
        },
    )
    show(
        "ECE, 15 equal-frequency",
        lambda: metrics.calibration_error(confidence=p, accuracy=y, bins=15, strategy="equal_frequency"),
        libraries={"scikit-learn calibration_curve": (0, sklearn_curve("quantile"))},
    )


def curves(rows: int) -> None:
    p, q, y = lattice_rows(rows)

    def diagnostics_murphy() -> Any:
        from model_diagnostics.scoring import ElementaryScore

        return [ElementaryScore(eta=float(t), functional="mean")(y, p) for t in metrics.THETA_GRID]

    show(
        "Murphy, 199 thresholds",
        lambda: metrics.murphy_grid(report=p, target=y),
        libraries={"model-diagnostics ElementaryScore": (8, diagnostics_murphy)},
    )
    coarse = np.round(p, 4)

    def scipy_w1() -> float:
        from scipy.stats import wasserstein_distance

        return float(wasserstein_distance(coarse, q))

    show(
        "W1 on a lattice",
        lambda: metrics.wasserstein1_lattice(first=coarse, second=q, steps=10_000),
        libraries={"SciPy wasserstein_distance": (10, scipy_w1)},
    )


def bootstrap() -> None:
    """5,000 replicates of 1,000 roots in 4 strata, 40 statistics: plain, then each with its own valid roots.

    For the second, every fourth statistic is a ratio. SciPy is given what the same answer needs of it: the
    means of numerators, of valid roots and of denominators in each stratum, to be divided afterwards.
    """
    rng = np.random.default_rng(1)
    roots, many = 1000, 40
    strata = rng.choice(4, roots, p=[0.4, 0.3, 0.2, 0.1])
    names = strata.tolist()
    values = rng.normal(0.02, 0.5, (roots, many))
    valid = rng.random((roots, many)) < 0.97
    below = rng.random((roots, many // 4)) + 0.5
    groups = [np.flatnonzero(strata == s) for s in range(4)]
    plain = {str(j): metrics.mean_statistic(values[:, j]) for j in range(many)}
    own = {
        str(j): metrics.ratio_statistic(numerator=values[:, j], denominator=below[:, j // 4], valid=valid[:, j])
        if j % 4 == 0
        else metrics.mean_statistic(values[:, j], valid=valid[:, j])
        for j in range(many)
    }

    def scipy_strata(columns: Any) -> Timed:
        def average(a: Any, axis: int) -> Any:
            return a.mean(axis=axis)

        def run() -> Any:
            from scipy.stats import bootstrap as scipy_bootstrap

            return [
                scipy_bootstrap(
                    (columns[group],),
                    average,
                    n_resamples=5000,
                    method="percentile",
                    axis=0,
                    vectorized=True,
                    batch=100,
                    rng=np.random.default_rng(3),
                ).bootstrap_distribution
                for group in groups
            ]

        return run

    needed = np.concatenate([values * valid, valid.astype(float), below * valid[:, ::4]], axis=1)
    show(
        "bootstrap, plain means",
        lambda: metrics.paired_bootstrap(plain, strata=names, seed=7),
        libraries={"SciPy bootstrap, stratum by stratum": (4, scipy_strata(values))},
    )
    show(
        "bootstrap, own roots",
        lambda: metrics.paired_bootstrap(own, strata=names, seed=7),
        libraries={"SciPy bootstrap, stratum by stratum": (4, scipy_strata(needed))},
    )
    tracemalloc.start()
    metrics.paired_bootstrap(own, strata=names, seed=7)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    print(f"    memory {peak:.0f} MB (bar < 200: {'ok' if peak < 200 else 'MISSED'})")


def main() -> None:
    warnings.filterwarnings("ignore")
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"{rows:,} rows")
    scores(rows)
    calibration(rows)
    curves(rows)
    bootstrap()


if __name__ == "__main__":
    main()
