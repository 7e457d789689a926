"""Honest uncertainty: how often 95% intervals hold the true coefficient, and predictive intervals a new output.

    python -m benchmarks.inference.coverage [--seeds 400] [--first-seed 0] [--jobs 2] [--fresh-truths] [--quick]

A truth of `make_moe` (n=5000, d=5, k=3) is drawn once, rows from it for each seed, and a model with one noise and
intercepts, whose truth is zero, is fitted. Counted is how often estimate ± 1.96 standard errors holds each true
coefficient, by the observed information and by the sandwich formula: goal 93 to 97% for every one. Chance alone moves
a share of 400 by 1.1 points, so beside the least and the most over coefficients stands what exact 95% intervals would
show. Predictive intervals are tried on new rows: goal within 1.5 points.

``--fresh-truths`` draws a truth per seed, near-equal experts included; coefficients are then told apart by their place
alone.
"""

from __future__ import annotations

import argparse
import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning

from skmoe import MoERegressor, make_moe, metrics
from skmoe.model.parameters import MoEParameters

LEVELS = (0.5, 0.9, 0.95)
Z95 = 1.959964
NEW_ROWS = 5000


class Problem(NamedTuple):
    n: int
    d: int
    k: int
    sigma: float
    truth_seed: int | None  # None: a truth per seed


class Outcome(NamedTuple):
    z: dict[str, np.ndarray]  # errors in standard errors, (A, b, W, c, sigma), by kind of standard error
    predictive: np.ndarray  # share of new outputs inside, by level
    stopped: bool


def vector_of(p: MoEParameters) -> np.ndarray:
    return np.concatenate([p.A.ravel(), p.b, p.W.ravel(), p.c, p.sigma])


def permuted(vector: np.ndarray, k: int, d: int, order: np.ndarray) -> np.ndarray:
    """(A, b, W, c, sigma) as one vector with experts in another order: a linear map, for covariances to follow."""
    A, b, W, c, sigma = np.split(vector, np.cumsum([k * d, k, k * d, k]))
    p = MoEParameters(A.reshape(k, d), W.reshape(k, d), sigma, b=b, c=c).permuted(order)
    return vector_of(p)


def slices(k: int, d: int) -> dict[str, np.ndarray]:
    """Where the coefficients that are learned stand in the vector; the shared noise is one."""
    ends = np.cumsum([0, k * d, k, k * d, k, k])
    sizes = {"experts": k * d, "expert intercepts": k, "gate": (k - 1) * d, "gate intercepts": k - 1, "noise": 1}
    return {name: start + np.arange(size) for start, (name, size) in zip(ends[:-1], sizes.items(), strict=True)}


def measure(problem: Problem, seed: int) -> Outcome | None:
    """One seed; None where the fit gave no standard errors."""
    rng = np.random.default_rng([seed, 1])
    k, d = problem.k, problem.d
    drawn = seed if problem.truth_seed is None else problem.truth_seed
    truth = make_moe(1, d, k, noise_scale=problem.sigma, random_state=drawn)[2]
    X = rng.standard_normal((problem.n + NEW_ROWS, d))
    y = truth.sample(X, rng)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MoERegressor(k, noise="shared", random_state=seed).fit(X[: problem.n], y[: problem.n])
    if model.covariance_ is None:
        return None
    order = metrics.match_experts(model.expert_coef_, truth.A)
    size = len(model.covariance_)
    J = np.column_stack([permuted(unit, k, d, order) for unit in np.eye(size)])
    error = vector_of(model.parameters_.permuted(order)) - vector_of(truth)
    z = {}
    with np.errstate(divide="ignore", invalid="ignore"):  # the gate's zero row
        for kind, C in (("model", model.covariance_), ("sandwich", model.covariance_robust_)):
            z[kind] = error / np.sqrt(np.diag(J @ C @ J.T))
    X_new, y_new = X[problem.n :], y[problem.n :]
    bounds = [model.predict_interval(X_new, coverage=level) for level in LEVELS]
    inside = np.array([np.mean((y_new >= low) & (y_new <= high)) for low, high in (b.T for b in bounds)])
    return Outcome(z, inside, not model.converged_)


def chance(count: int, seeds: int, rng: np.random.Generator) -> str:
    """Least and most share that `count` exact 95% intervals would show over so many seeds, on average."""
    shares = rng.binomial(seeds, 0.95, size=(4000, count)) / seeds
    return f"{100 * shares.min(axis=1).mean():.1f} to {100 * shares.max(axis=1).mean():.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=400)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--truth-seed", type=int, default=0)
    parser.add_argument("--fresh-truths", action="store_true", help="a truth per seed")
    parser.add_argument("--sigma", type=float, default=0.3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="20 seeds")
    parser.add_argument("--verbose", action="store_true", help="print seeds with an error of over 4 standard errors")
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + (20 if arguments.quick else arguments.seeds))
    problem = Problem(5000, 5, 3, arguments.sigma, None if arguments.fresh_truths else arguments.truth_seed)
    results = Parallel(n_jobs=arguments.jobs)(delayed(measure)(problem, seed) for seed in seeds)
    outcomes = [o for o in results if o is not None]
    console = Console(width=150)
    places = slices(problem.k, problem.d)
    learned = np.concatenate(list(places.values()))
    if arguments.verbose:
        for seed, o in zip(seeds, results, strict=True):
            worst = np.inf if o is None else np.max(np.abs(o.z["model"][learned]))
            if worst > 4:
                console.print(f"seed {seed}: largest error {worst:.1f} standard errors", style="dim")
    table = Table(
        title=f"Coverage in percent, n={problem.n}, d={problem.d}, k={problem.k}, sigma={problem.sigma:g}, seeds "
        f"{seeds.start} to {seeds.stop - 1}, {'a truth per seed' if arguments.fresh_truths else 'one truth'}"
    )
    for column in ("interval", "wanted", "mean", "least", "most", "by chance", "outside 93 to 97", "rms z"):
        table.add_column(column)
    rng = np.random.default_rng(0)
    for kind in ("model", "sandwich") if outcomes else ():
        z = np.array([o.z[kind] for o in outcomes])
        for name, index in {**places, "all": learned}.items():
            shares = 100 * np.mean(np.abs(z[:, index]) <= Z95, axis=0)
            table.add_row(
                f"{kind}: {name}",
                "93 to 97",
                f"{shares.mean():.2f}",
                f"{shares.min():.1f}",
                f"{shares.max():.1f}",
                chance(len(index), len(outcomes), rng),
                f"{np.sum((shares < 93) | (shares > 97))} of {len(index)}",
                f"{np.sqrt(np.mean(z[:, index] ** 2)):.3f}",
                end_section=name == "all",
            )
    for j, level in enumerate(LEVELS):
        shares = 100 * np.array([o.predictive[j] for o in outcomes] or [np.nan])
        off = abs(shares.mean() - 100 * level)
        table.add_row(
            f"predict_interval, {level:g}",
            f"{100 * level - 1.5:g} to {100 * level + 1.5:g}",
            f"{shares.mean():.2f} {'' if off <= 1.5 else 'MISSED'}",
            f"{shares.min():.1f}",
            f"{shares.max():.1f}",
            f"sd {shares.std():.2f}, by chance {100 * np.sqrt(level * (1 - level) / NEW_ROWS):.2f}",
            f"{np.sum(np.abs(shares - 100 * level) > 1.5)} of {len(shares)} seeds",
            "",
        )
    console.print(table)
    short = sum(o.stopped for o in outcomes)
    console.print(f"failures: {len(results) - len(outcomes)} fits without standard errors, {short} stopped short")


if __name__ == "__main__":
    main()
