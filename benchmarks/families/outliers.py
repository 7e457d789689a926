"""Robustness: Gaussian and Student t experts where two outputs in a hundred are gross errors.

    python -m benchmarks.families.outliers [--seeds 100] [--rows 2000]

Two Gaussian experts of noise 0.3 over three inputs; two rows in a hundred have 10 to 40 added to their output or taken
from it. Printed is the root mean squared error of experts' coefficients without and with the errors, each by the same
estimator, over seeds 0, 1, 2, ..., none left out; in how many tables it grows more than tenfold; and its median growth.
Without errors Student t experts are as precise as Gaussian ones. Goal for Student t experts: at most 1.2 times the
error without.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np

from benchmarks.families import simulated_families as problems
from skmoe import MoERegressor, metrics

RESULTS = Path(__file__).parents[1] / "results" / "family_outliers.json"
PART, LEAST, MOST = 0.02, 10.0, 40.0
NOISE = 0.3
LOST = 10.0  # times the error without, from which on a table is lost


def error_of(family: str, X: np.ndarray, y: np.ndarray, truth: np.ndarray) -> float:
    """Mean squared error of the experts' coefficients."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MoERegressor(2, family=family, penalty=0, calibration=None, random_state=0).fit(X, y)
    order = metrics.match_experts(model.expert_coef_, truth)
    return float(np.mean((model.expert_coef_[order] - truth) ** 2))


def outputs_of(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, outputs without and with gross errors, and the true coefficients of the experts."""
    X, _, truth = problems.simulated("student", n, 3, 2, seed)
    rng = np.random.default_rng([seed, 7])
    chosen = (rng.random((n, 1)) > np.cumsum(truth.gate_proba(X), axis=1)).sum(axis=1)
    y = truth.predictors(X)[np.arange(n), chosen] + NOISE * rng.standard_normal(n)
    wrong = rng.choice(n, size=round(PART * n), replace=False)
    spoilt = y.copy()
    spoilt[wrong] += rng.choice([-1, 1], len(wrong)) * rng.uniform(LEAST, MOST, len(wrong))
    return X, y, spoilt, truth.A


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--record", action="store_true", help=f"write figures to {RESULTS.name}")
    args = parser.parse_args()
    squares: dict[str, list[float]] = {}
    for seed in range(args.seeds):
        X, y, spoilt, truth = outputs_of(seed, args.rows)
        for family in ("gaussian", "student"):
            for name, outputs in (("without", y), ("with", spoilt)):
                squares.setdefault(f"{family} {name}", []).append(error_of(family, X, outputs, truth))
    figures = {name: float(np.sqrt(np.mean(values))) for name, values in squares.items()}
    for family in ("gaussian", "student"):
        clean, spoilt = figures[f"{family} without"], figures[f"{family} with"]
        growth = np.sqrt(np.divide(squares[f"{family} with"], squares[f"{family} without"]))
        figures |= {f"{family} lost": int(np.sum(growth > LOST)), f"{family} median": float(np.median(growth))}
        print(
            f"{family:9} error {clean:.4f} without, {spoilt:.4f} with outliers: {spoilt / clean:.2f} times; "
            f"median {np.median(growth):.2f} times, more than tenfold in {np.sum(growth > LOST)} of {args.seeds} tables"
        )
    if args.record:
        RESULTS.write_text(json.dumps(figures | {"seeds": args.seeds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
