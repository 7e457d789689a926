"""Real tables: a default fit beside joint EM, R's flexmix and ordinary least squares, on rows that were not fitted.

    python -m benchmarks.real.tables [--seeds 20] [--first-seed 0] [--table concrete] [--experts 3]
                                     [--noise per-expert] [--no-flexmix] [--quick]

Concrete, airfoil and stock portfolio, a random quarter of the rows held out per seed. Shown are test mean squared
error, in units of the test rows' variance, and mean test log density (Gaussian noise for least squares), mean ± sd over
splits, and mean training log-likelihood, at which the fits aim. Inputs and output are standardised by the training rows
for every method, so that log densities of all tables are on one scale. The portfolios' weights sum to one: their last
column is left out, which flexmix needs and others do not mind.

Failed are fits that raise an error or give a test figure that is not finite; they are left out of the means. Off scale
are test log densities below -10 per row, which stay in the means and are better read in the median.
"""

from __future__ import annotations

import argparse
import subprocess
import time
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.flexmix import flexmix as rscript
from skmoe import MoERegressor
from skmoe.datasets import load_airfoil, load_concrete, load_stock_portfolio
from skmoe.model.parameters import MoEParameters

TABLES = {"concrete": load_concrete, "airfoil": load_airfoil, "stock_portfolio": load_stock_portfolio}
OFF_SCALE = -10.0


def least_squares(X: np.ndarray, y: np.ndarray, seed: int) -> MoEParameters:
    """One expert: least squares with the noise that maximises the likelihood."""
    line = LinearRegression().fit(X, y)
    sigma = np.sqrt(np.mean((y - line.predict(X)) ** 2))
    return MoEParameters(line.coef_[None], np.zeros((1, X.shape[1])), sigma, b=line.intercept_)


def ours(k: int, noise: str, **how: object) -> Callable[..., MoEParameters]:
    def fit(X: np.ndarray, y: np.ndarray, seed: int) -> MoEParameters:
        return MoERegressor(k, noise=noise, random_state=seed, **how).fit(X, y).parameters_

    return fit


def flexmix(k: int, starts: int) -> Callable[..., MoEParameters]:
    def fit(X: np.ndarray, y: np.ndarray, seed: int) -> MoEParameters:
        best = rscript.run_flexmix(X, y, k, starts=starts, seed=1 + 1000 * seed, timeout=600)["best"]
        if best is None:
            raise RuntimeError("every start of flexmix failed")
        return MoEParameters(
            best["expert_coef"],
            best["gate_coef"],
            best["noise_scale"],
            b=best["expert_intercept"],
            c=best["gate_intercept"],
        )

    return fit


def methods(sizes: Sequence[int], noises: Sequence[str], with_flexmix: bool) -> dict[str, Callable[..., MoEParameters]]:
    plan: dict[str, Callable[..., MoEParameters]] = {"least squares": least_squares}
    for k in sizes:
        for noise in noises:
            plan[f"k={k}, {noise}: default"] = ours(k, noise)
            for n_init in (1, 10):
                plan[f"k={k}, {noise}: joint EM, {n_init}"] = ours(k, noise, method="joint-em", n_init=n_init)
            if with_flexmix and noise == "per-expert":
                plan[f"k={k}, {noise}: flexmix, 1"] = flexmix(k, 1)  # more starts take minutes a split
    return plan


class Outcome(NamedTuple):
    error: float  # test mean squared error over the variance of the test rows
    density: float  # mean test log density
    training: float  # mean training log-likelihood
    seconds: float
    short: bool


def split(name: str, seed: int) -> tuple[np.ndarray, ...]:
    """Training and test inputs, training and test outputs, standardised by the training rows."""
    X, y = TABLES[name](return_X_y=True)
    if name == "stock_portfolio":
        X = X[:, :-1]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=seed)
    inputs, output = StandardScaler().fit(X), StandardScaler().fit(y[:, None])
    rows = (inputs.transform(X), inputs.transform(X_test))
    return *rows, *(output.transform(part[:, None])[:, 0] for part in (y, y_test))


def measure(fit: Callable[..., MoEParameters], rows: tuple[np.ndarray, ...], seed: int) -> Outcome:
    X, X_test, y, y_test = rows
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit(X, y, seed)
    seconds = time.perf_counter() - begin
    error = np.mean((y_test - model.predict(X_test)) ** 2) / np.var(y_test)
    density, training = (np.mean(model.log_density(*part)) for part in ((X_test, y_test), (X, y)))
    if not np.isfinite([error, density]).all():
        raise FloatingPointError(f"test error {error}, test log density {density}")
    short = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    return Outcome(float(error), float(density), float(training), seconds, short)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="splits")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--table", choices=list(TABLES))
    parser.add_argument("--no-flexmix", action="store_true")
    parser.add_argument("--experts", type=int, nargs="*", default=[2, 3])
    parser.add_argument("--noise", nargs="*", default=["shared", "per-expert"])
    parser.add_argument("--quick", action="store_true", help="one split of the smallest table, two experts")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.table, arguments.seeds = "stock_portfolio", 1
    console = Console(width=180)
    with_flexmix = rscript.available() and not (arguments.no_flexmix or arguments.quick)
    if not with_flexmix:
        console.print("without flexmix: Rscript was not found on the path, or it was to be left out", style="red")
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    table = Table(title=f"Held-out rows of real tables, mean ± sd over splits {seeds.start} to {seeds.stop - 1}")
    heads = ("table", "method", "test error / variance", "test log density", "median", "training")
    for column in (*heads, "seconds", "off scale", "stopped short", "failed"):
        table.add_column(column)
    for name in [arguments.table] if arguments.table else list(TABLES):
        plan = methods((2,) if arguments.quick else arguments.experts, arguments.noise, with_flexmix)
        outcomes: dict[str, list[Outcome]] = {method: [] for method in plan}
        for seed in seeds:
            rows = split(name, seed)
            for method, fit in plan.items():
                try:
                    outcomes[method].append(measure(fit, rows, seed))
                except (ValueError, RuntimeError, ArithmeticError, subprocess.TimeoutExpired) as error:
                    console.print(f"{name}, {method}, split {seed}: {str(error)[:200]}", style="red")
            console.print(f"{name}: split {seed} done", style="dim")
        for method, done in outcomes.items():
            error, density, training, seconds, short = np.array(done).reshape(-1, 5).T
            cells = [f"{v.mean():.3f} ± {v.std():.3f}" if done else "" for v in (error, density, training)]
            table.add_row(
                name,
                method,
                *cells[:2],
                f"{np.median(density):.3f}" if done else "",
                cells[2],
                f"{np.median(seconds):.2f}" if done else "",
                str(int(np.sum(density < OFF_SCALE))),
                str(int(short.sum())),
                str(len(seeds) - len(done)),
                end_section=method == list(plan)[-1],
            )
    console.print(table)


if __name__ == "__main__":
    main()
