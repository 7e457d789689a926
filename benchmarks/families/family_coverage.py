"""Coverage of 95% coefficient intervals for each family, by the observed information and by the sandwich formula.

    python benchmarks/families/family_coverage.py [--families poisson] [--seeds 200] [--jobs 2] [--record]

One truth of two experts over three inputs for each family; 3000 rows for each seed, 0, 1, 2, ..., and a fit by maximum
likelihood. Counted is how often estimate ± 1.96 standard errors holds a true coefficient of an expert, its intercept
included, over all of them; goal 93 to 97%. A row of 0 or 1 tells little: 3000 of them are few for the coefficients of
two experts, whose estimates then spread more than large samples say. They are studied with the default penalty and with
10,000 rows too.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from skmoe import MoEClassifier, MoERegressor
from skmoe.cli.checkout import call, load

problems = load("benchmarks.families.simulated_families")
Z95 = 1.959964
K, D, TRUTH = 2, 3, 1
RESULTS = Path(__file__).parents[1] / "results" / "family_coverage.json"


class Study(NamedTuple):
    """A family, the rows of a table and the strength of the penalty."""

    family: str
    rows: int = 3000
    penalty: float = 0.0

    @property
    def title(self) -> str:
        """What it is called in the results."""
        return f"{self.family}, {self.rows} rows" + (f", penalty {self.penalty:g}" if self.penalty else "")


STUDIES = (*(Study(name) for name in problems.NAMES), Study("binomial", penalty=0.3), Study("binomial", 10_000))


def errors_in_standard_errors(name: str, rows: int, penalty: float, seed: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Errors of experts' coefficients and intercepts over both kinds of standard errors; None without any."""
    X, y, truth = problems.simulated(name, rows, D, K, seed, truth_seed=TRUTH)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "classes":
            model = MoEClassifier(K, penalty=penalty, random_state=0).fit(X, y)
        else:
            family = "student" if name == "student" else problems.law_of(name)
            how = {"penalty": penalty, "calibration": None, "random_state": 0}
            model = MoERegressor(K, family=family, **how).fit(X, y)
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
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--record", action="store_true", help=f"write figures to {RESULTS.name}")
    args = parser.parse_args()
    figures = json.loads(RESULTS.read_text()) if args.record and RESULTS.exists() else {}
    measured = "benchmarks.families.family_coverage", errors_in_standard_errors.__name__
    for study in (study for study in STUDIES if study.family in args.families.split(",")):
        z = Parallel(n_jobs=args.jobs)(delayed(call)(*measured, *study, seed) for seed in range(args.seeds))
        told = [pair for pair in z if pair is not None]
        plain, robust = (float(100 * np.mean(np.abs([pair[i] for pair in told]) < Z95)) for i in range(2))
        print(
            f"{study.title}: plain {plain:.1f}%, sandwich {robust:.1f}% of {told[0][0].size} coefficients x "
            f"{len(told)} seeds; {len(z) - len(told)} without standard errors",
            flush=True,
        )
        counts = {"seeds": len(told), "without": len(z) - len(told)}
        figures[study.title] = study._asdict() | {"plain": plain, "sandwich": robust} | counts
        if args.record:
            RESULTS.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
