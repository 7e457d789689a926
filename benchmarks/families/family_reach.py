"""Reach of the default search for each family: whether the fit is as good as one that starts at the truth.

    python -m benchmarks.families.family_reach [--families poisson,gamma] [--problems 20] [--experts 2,3,4] [--jobs 1]

For each family and number of experts so many simulated tables, seeds 0, 1, 2, ..., not selected. The default fit
(random_state=0) is compared with EM and Newton from the truth on the same rows; both by maximum likelihood, but for 0
and 1 and classes with the default penalty, since without one their likelihood often rises for ever. Printed is in how
many tables the fit is within .001 a row of that, the worst gap, and the seconds of a fit.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from benchmarks.families import simulated_families as problems
from skmoe import MoEClassifier, MoERegressor
from skmoe.arrays.table_moments import table_moments
from skmoe.likelihood import MappedRows, Problem, Settings
from skmoe.model.parameters import MoEParameters
from skmoe.search.finish import maximise
from skmoe.search.standardise import standardised
from skmoe.search.starts import pooled_regression

ENOUGH = 1e-3
PENALTY = 0.3
RESULTS = Path(__file__).parents[1] / "results" / "family_reach.json"


def penalty_of(name: str) -> float:
    """No penalty, but for 0 and 1 and classes the default one: without, the likelihood of few rows has no maximum."""
    return PENALTY if name in ("binomial", "classes") else 0.0


def from_the_truth(X: np.ndarray, y: np.ndarray, truth: MoEParameters, penalty: float) -> float:
    """Objective per row of the optimum near the truth, in the units of y."""
    family, k = truth.family, len(truth.A)
    transform_response = None if family.base is family else family.transform_response
    moments = table_moments(X, y, None, None, None if transform_response is None else family.typical)
    scale = standardised(
        moments, intercept=True, outputs=family.base.location_scale, transform_response=transform_response
    )
    noise = "per-expert" if family.base.has_scale else 1.0
    rows = MappedRows.of(X, y, scale).subset()
    one = Problem(rows, 1, family.base, Settings(noise=noise), 1.0)
    pooled = maximise(one, pooled_regression(one)).theta.A[0]
    problem = Problem(rows, k, family.base, Settings(noise=noise, penalty=penalty, pooled=pooled), 1.0)
    fit = maximise(problem, scale.from_parameters(truth))
    cost = fit.log_likelihood - fit.objective
    return float(np.mean(scale.to_parameters(fit.theta, family).log_density(X, y))) - cost


def fitted(name: str, X: np.ndarray, y: np.ndarray, k: int) -> tuple[float, float]:
    """Objective per row of the default fit, and its seconds."""
    start, penalty = time.perf_counter(), penalty_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "classes":
            model = MoEClassifier(k, penalty=penalty, random_state=0).fit(X, y)
        else:
            how = {"penalty": penalty, "calibration": None, "random_state": 0}
            model = MoERegressor(k, family=problems.law_of(name), **how).fit(X, y)
    return float(model.history_["objective"][-1]), time.perf_counter() - start


def gap_and_seconds(name: str, n: int, d: int, k: int, seed: int) -> tuple[float, float]:
    """How far the default fit stays below the one from the truth, per row, and its seconds."""
    X, y, truth = problems.simulated(name, n, d, k, seed)
    reached, seconds = fitted(name, X, y, k)
    return from_the_truth(X, y, truth, penalty_of(name)) - reached, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default=",".join(problems.NAMES))
    parser.add_argument("--problems", type=int, default=20)
    parser.add_argument("--experts", default="2,3,4")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--record", action="store_true", help=f"write figures to {RESULTS.name}")
    args = parser.parse_args()
    found = json.loads(RESULTS.read_text()) if args.record and RESULTS.exists() else {}
    for name in args.families.split(","):
        for k in map(int, args.experts.split(",")):
            tables = [(name, args.rows, args.columns, k, seed) for seed in range(args.problems)]
            pairs = Parallel(n_jobs=args.jobs)(delayed(gap_and_seconds)(*table) for table in tables)
            gaps, seconds = zip(*pairs, strict=True)
            reach = sum(gap <= ENOUGH for gap in gaps)
            worst = float(np.max(gaps))
            print(
                f"{name:18} k={k}: {reach} of {len(gaps)} within {ENOUGH}, worst gap {worst:+.4f}, "
                f"median {np.median(seconds):.2f} s, most {max(seconds):.1f} s; missed "
                f"{[seed for seed, gap in enumerate(gaps) if gap > ENOUGH]}",
                flush=True,
            )
            found[f"{name} k={k}"] = {
                "reached": reach,
                "problems": len(gaps),
                "worst_gap": worst,
                "median_seconds": float(np.median(seconds)),
            }
            if args.record:
                RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
