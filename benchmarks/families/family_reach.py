"""Reach of the default search for each family: whether the fit is as good as one that starts at the truth.

    python benchmarks/families/family_reach.py [--families poisson,gamma] [--problems 20] [--experts 2,3,4]

For each family and number of experts so many simulated tables, seeds 0, 1, 2, ..., not selected. The default fit
(maximum likelihood, random_state=0) is compared with EM and Newton from the truth on the same rows. Printed is in how
many tables it is within .001 a row of that, the worst gap, and the seconds of a fit.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

from skmoe import MoEClassifier, MoERegressor
from skmoe.cli.checkout import load
from skmoe.likelihood import MappedRows, Problem, Settings
from skmoe.rows.table_moments import table_moments
from skmoe.search.finish import maximise
from skmoe.search.standardise import standardised

problems = load("benchmarks.families.simulated_families")
ENOUGH = 1e-3
RESULTS = Path(__file__).parents[1] / "results" / "family_reach.json"


def from_the_truth(X: np.ndarray, y: np.ndarray, truth: object) -> float:
    """Mean log-likelihood of the optimum near the truth, in the units of y."""
    family = truth.family  # type: ignore[attr-defined]
    working = None if family.inner is family else family.working
    moments = table_moments(X, y, None, None, None if working is None else family.typical)
    scale = standardised(moments, intercept=True, outputs=family.inner.location_scale, working=working)
    settings = Settings(noise="per-expert" if family.inner.has_scale else 1.0, penalty=0.0)
    problem = Problem(MappedRows.of(X, y, scale).subset(), len(truth.A), family.inner, settings, 1.0)  # type: ignore
    theta = maximise(problem, scale.from_parameters(truth)).theta  # type: ignore[arg-type]
    return float(np.mean(scale.to_parameters(theta, family).log_density(X, y)))


def fitted(name: str, X: np.ndarray, y: np.ndarray, k: int) -> tuple[float, float]:
    """Mean log-likelihood of the default fit, and its seconds."""
    family = problems.law_of(name)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "classes":
            model = MoEClassifier(k, penalty=0, random_state=0).fit(X, y)
        else:
            model = MoERegressor(k, family=family, penalty=0, calibration=None, random_state=0).fit(X, y)
    return model.log_likelihood_, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default=",".join(problems.NAMES))
    parser.add_argument("--problems", type=int, default=20)
    parser.add_argument("--experts", default="2,3,4")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=3)
    parser.add_argument("--record", action="store_true", help=f"write figures to {RESULTS.name}")
    args = parser.parse_args()
    found = json.loads(RESULTS.read_text()) if args.record and RESULTS.exists() else {}
    for name in args.families.split(","):
        for k in map(int, args.experts.split(",")):
            gaps, seconds = [], []
            for seed in range(args.problems):
                X, y, truth = problems.simulated(name, args.rows, args.columns, k, seed)
                reached, taken = fitted(name, X, y, k)
                gaps.append(from_the_truth(X, y, truth) - reached)
                seconds.append(taken)
            reach = sum(gap <= ENOUGH for gap in gaps)
            worst = float(np.max(gaps))
            print(
                f"{name:18} k={k}: {reach} of {len(gaps)} within {ENOUGH}, worst gap {worst:+.4f}, "
                f"median {np.median(seconds):.2f} s, most {max(seconds):.1f} s",
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
