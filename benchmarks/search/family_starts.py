"""What a start from moments would be worth in default fits of families: reach and CPU seconds with and without it.

    python -m benchmarks.search.family_starts [--families poisson gamma] [--problems 20] [--jobs 2] [--record]

The start has the directions that Algorithm 1 finds for the family in whitened inputs, one length and intercept for all
experts (of maximum likelihood for the outputs alone), and enters the race as that of Gaussian experts does. Counted is
in how many simulated tables, seeds 0, 1, 2, ..., each fit is within .001 a row of the better of both.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import optimize

from benchmarks.families import simulated_families as problems
from skmoe import MoERegressor
from skmoe.likelihood import Problem, Theta
from skmoe.search import fitting
from skmoe.search.records import Start, StartKind
from skmoe.search.task import Task
from skmoe.spectral.experts import ExpertsResult, experts_of
from skmoe.spectral.family_labels import bin_edges, bin_probabilities
from skmoe.spectral.outputs import FamilyOutputs

RESULTS = Path(__file__).parents[1] / "results" / "family_starts.json"
SETTINGS = [(2000, 3, 2), (2000, 3, 3), (2000, 5, 4), (4000, 8, 6), (6000, 10, 8)]  # rows, columns, experts
ENOUGH = 1e-3


def predictor_of(family: Any, edges: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Length, offset and scale of the law that outputs follow if all experts have one length and intercept."""
    counts = np.bincount(np.searchsorted(edges, y), minlength=len(edges) + 1)

    def loss(p: np.ndarray) -> float:
        law = bin_probabilities(family, float(np.exp(p[2])), edges, float(np.exp(p[0])), float(p[1]))[0]
        return -float(counts @ np.log(np.maximum(law, 1e-300))) / len(y)

    response = np.asarray(family.start_response(y))
    start = [np.log(np.std(response)), np.mean(response), np.log(0.5)]
    free = 3 if family.has_scale else 2
    bounds = [(-3.0, 2.0), (start[1] - 3, start[1] + 3), (-3.0, 1.0)]
    found = optimize.minimize(
        lambda p: loss(np.array([*p, *start[free:]])), start[:free], method="L-BFGS-B", bounds=bounds[:free]
    ).x
    return float(np.exp(found[0])), float(found[1]), float(np.exp(found[2])) if free == 3 else 1.0


def moment_start(task: Task, problem: Problem, rng: np.random.Generator) -> tuple[Start, ExpertsResult] | None:
    """The start from moments for any family of one predictor; None where there is none."""
    family, k = problem.family, problem.k
    width = problem.De - 1
    rows = problem.laid_out()
    Z, y = rows.gate_inputs()[:, :width], np.asarray(rows.y)
    if not 2 <= k <= width:
        return None
    edges = bin_edges(y)
    try:
        length, offset, scale = predictor_of(family, edges, y)
        outputs = FamilyOutputs(family, edges, length, offset)
        found = experts_of(Z, y, None, k, outputs, noise_scale=scale, input_law=None, rng=rng)
    except ValueError:
        return None  # other starts remain
    if len(found.coef) < k:
        return None
    A = np.column_stack([length * found.coef, np.full(k, offset)])
    return Start("spectral", StartKind.SPECTRAL, Theta(A, np.zeros((k, problem.Dg)), np.full(k, scale))), found


def fitted(name: str, X: np.ndarray, y: np.ndarray, k: int, seed: int) -> tuple[float, float, bool]:
    """Objective, seconds, and whether the start from moments won."""
    begin = time.process_time()
    model = MoERegressor(k, family=problems.law_of(name), penalty=0, calibration=None, random_state=seed).fit(X, y)
    return (
        float(model.history_["objective"][-1]),
        time.process_time() - begin,
        model.history_["winner"] == "spectral",
    )


def both(problem: tuple[str, int, int, int, int]) -> tuple[tuple[float, float, bool], tuple[float, float, bool]]:
    """A fit without and one with the start from moments."""
    name, n, d, k, seed = problem
    X, y, _ = problems.simulated(name, n, d, k, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        without = fitted(name, X, y, k, seed)
        with patch.object(fitting, "spectral_start", moment_start):
            return without, fitted(name, X, y, k, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="*", default=["poisson", "gamma", "negative-binomial", "student"])
    parser.add_argument("--problems", type=int, default=20)
    parser.add_argument("--experts", type=int, nargs="*", default=[s[2] for s in SETTINGS])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--record", action="store_true", help=f"write figures to {RESULTS.name}")
    arguments = parser.parse_args()
    found = json.loads(RESULTS.read_text()) if arguments.record and RESULTS.exists() else {}
    for name in arguments.families:
        for n, d, k in (s for s in SETTINGS if s[2] in arguments.experts):
            asked = [(name, n, d, k, seed) for seed in range(arguments.problems)]
            with get_context("fork").Pool(arguments.jobs) as pool:
                without, having = zip(*pool.map(both, asked, chunksize=1), strict=True)
            best = np.maximum([f[0] for f in without], [f[0] for f in having])
            record = {
                "problems": arguments.problems,
                "reached_without": int(sum(f[0] > b - ENOUGH for f, b in zip(without, best, strict=True))),
                "reached_with": int(sum(f[0] > b - ENOUGH for f, b in zip(having, best, strict=True))),
                "seconds_without": float(np.median([f[1] for f in without])),
                "seconds_with": float(np.median([f[1] for f in having])),
                "won": sum(f[2] for f in having),
            }
            found[f"{name}, {n}, {d}, {k}"] = record
            print(f"{name}, n={n}, d={d}, k={k}: {record}", flush=True)
            if arguments.record:
                RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
