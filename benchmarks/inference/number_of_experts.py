"""The number of experts: how often `MoERegressor(n_experts="auto")` finds the number of experts the rows came from.

    python -m benchmarks.inference.number_of_experts [--seeds 20] [--first-seed 0] [--quick]

Problems are those of `make_moe` with n=5000, d=5, noise 0.1 and 0.3, true k from 1 to 5, a problem per seed each. They
are well separated: a truth is drawn anew until no two of its experts have a cosine beyond 0.8, of either sign, and
every expert has at least 5% of the rows. The goal is the true k in at least 90% of the problems; the table counts what
was chosen. A fit that raises an error counts as wrong.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning

from skmoe import MoERegressor, make_moe
from skmoe.model.parameters import MoEParameters

N, D = 5000, 5
NOISE = (0.1, 0.3)
MOST_COSINE, LEAST_SHARE = 0.8, 0.05
GOAL = 0.9


def separated(X: np.ndarray, truth: MoEParameters) -> bool:
    cosines = np.abs(truth.A @ truth.A.T - np.eye(len(truth.A)))  # experts have unit length
    return bool(cosines.max() < MOST_COSINE and truth.gate_proba(X).mean(axis=0).min() >= LEAST_SHARE)


def draw(k: int, sigma: float, seed: int, n: int) -> tuple[np.ndarray, np.ndarray, MoEParameters]:
    rng = np.random.default_rng([seed, k])
    while True:
        X, y, truth = make_moe(n, D, k, noise_scale=sigma, random_state=rng)
        if separated(X, truth):
            return X, y, truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="problems for each k and noise")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="k from 1 to 2, one problem each, n=1000")
    parser.add_argument("--verbose", action="store_true", help="print every wrong choice")
    arguments = parser.parse_args()
    n, largest, problems = (1000, 2, 1) if arguments.quick else (N, 5, arguments.seeds)
    seeds = range(arguments.first_seed, arguments.first_seed + problems)
    warnings.simplefilter("ignore", ConvergenceWarning)  # counted
    table = Table(title=f'n_experts="auto", n={n}, d={D}, seeds {seeds.start} to {seeds.stop - 1}; goal {GOAL:.0%}')
    heads = ("sigma", "true k", "right", *(f"chose {k}" for k in range(1, largest + 3)), "more", "stopped short")
    for column in (*heads, "errors", "seconds (largest)"):
        table.add_column(column, justify="right")
    console = Console(width=150)
    right = total = 0
    for sigma in NOISE:
        for k in range(1, largest + 1):
            chosen: Counter[int] = Counter()
            short, errors, seconds = 0, 0, []
            for seed in seeds:
                X, y, truth = draw(k, sigma, seed, n)
                begin = time.perf_counter()
                try:
                    model = MoERegressor("auto", noise="shared", random_state=seed).fit(X, y)
                except (ValueError, np.linalg.LinAlgError) as error:
                    errors += 1
                    console.print(f"sigma {sigma:g}, k={k}, seed {seed}: {error}", style="red")
                    continue
                seconds.append(time.perf_counter() - begin)
                chosen[model.n_experts_] += 1
                short += not model.converged_
                if arguments.verbose and model.n_experts_ != k:
                    tried = ", ".join(f"{j}: {bic:.1f}" for j, bic in model.history_["bic"])
                    console.print(f"sigma {sigma:g}, k={k}, seed {seed}: BIC {tried}; shares {model.shares_.round(3)}")
                    at_truth = truth.log_density(X, y).sum()
                    console.print(
                        f"  log-likelihood of the truth {at_truth:.1f}, of the fit {model.log_likelihood_:.1f}"
                    )
            right, total = right + chosen[k], total + problems
            table.add_row(
                f"{sigma:g}",
                str(k),
                f"{chosen[k] / problems:.0%}",
                *(str(chosen[j] or "") for j in range(1, largest + 3)),
                str(sum(c for j, c in chosen.items() if j > largest + 2) or ""),
                str(short),
                str(errors),
                f"{np.mean(seconds):.1f} ({max(seconds):.1f})" if seconds else "",
            )
            console.print(f"sigma {sigma:g}, k={k}: {chosen[k]} of {problems} right", style="dim")
    console.print(table)
    error = np.sqrt(right / total * (1 - right / total) / total)
    console.print(
        f"true k found in {right} of {total}: {right / total:.1%} ± {error:.1%}, goal {GOAL:.0%} "
        f"{'met' if right >= GOAL * total else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
