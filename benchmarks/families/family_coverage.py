"""Coverage of 95% coefficient intervals for each family, by the observed information and by the sandwich formula.

    python benchmarks/families/family_coverage.py [--families poisson] [--seeds 200] [--rows 3000]

One truth of two experts over three inputs for each family; rows for each seed, 0, 1, 2, ..., and a default fit by
maximum likelihood. Counted is how often estimate ± 1.96 standard errors holds a true coefficient of an expert, its
intercept included, over all of them; goal 93 to 97%.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np

from skmoe import MoEClassifier, MoERegressor
from skmoe.cli.checkout import load

problems = load("benchmarks.families.simulated_families")
Z95 = 1.959964
K, D, TRUTH = 2, 3, 1
RESULTS = Path(__file__).parents[1] / "results" / "family_coverage.json"


def errors_in_standard_errors(name: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Errors of experts' coefficients and intercepts over both kinds of standard errors; None without any."""
    X, y, truth = problems.simulated(name, n, D, K, seed, truth_seed=TRUTH)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "classes":
            model = MoEClassifier(K, penalty=0, random_state=0).fit(X, y)
        else:
            family = "student" if name == "student" else problems.law_of(name)
            model = MoERegressor(K, family=family, penalty=0, calibration=None, random_state=0).fit(X, y)
    if model.covariance_ is None:
        return None
    A, b = truth.A.reshape(K, -1, D), truth.b.reshape(K, -1)
    found, level = model.expert_coef_.reshape(A.shape), model.expert_intercept_.reshape(b.shape)
    order = [0, 1] if np.sum((found - A) ** 2) <= np.sum((found[::-1] - A) ** 2) else [1, 0]
    size = A.size + b.size
    # the experts of the truth in the order in which the model tells them
    gap = np.concatenate([(found - A[order]).ravel(), (level - b[order]).ravel()])
    return tuple(gap / np.sqrt(np.diag(C)[:size]) for C in (model.covariance_, model.covariance_robust_))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default=",".join(problems.NAMES))
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--record", action="store_true", help=f"write figures to {RESULTS.name}")
    args = parser.parse_args()
    figures = json.loads(RESULTS.read_text()) if args.record and RESULTS.exists() else {}
    for name in args.families.split(","):
        z = [errors_in_standard_errors(name, args.rows, seed) for seed in range(args.seeds)]
        told = [pair for pair in z if pair is not None]
        plain, robust = (100 * np.mean(np.abs([pair[i] for pair in told]) < Z95) for i in range(2))
        print(
            f"{name:18} plain {plain:.1f}%, sandwich {robust:.1f}% of {told[0][0].size} coefficients x {len(told)} "
            f"seeds; {len(z) - len(told)} without standard errors",
            flush=True,
        )
        figures[name] = {"plain": plain, "sandwich": robust, "seeds": len(told), "without": len(z) - len(told)}
        if args.record:
            RESULTS.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
