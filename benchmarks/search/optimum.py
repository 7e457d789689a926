"""Does a default fit reach the likelihood's global maximum? 200 seeded problems in families, and what it costs.

    python -m benchmarks.search.optimum [--problems 200] [--family NAME] [--seed 0] [--flexmix 2]

A problem is won when the mean log-likelihood is within 0.001 of the best known: the best of our fit, a fit started at
the truth and ten random joint-EM starts, among fits without nearly empty experts or noise on its floor. Cost is time
over that of one random joint-EM run that reaches the optimum (the mean of those that do).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning

from benchmarks.flexmix.flexmix import run_flexmix
from skmoe import MoERegressor, make_moe, scores
from skmoe.arrays.table_moments import table_moments
from skmoe.likelihood import MappedRows, Problem, Settings, Theta, gradient
from skmoe.model.parameters import MoEParameters
from skmoe.search.finish import maximise
from skmoe.search.joint_em import run_em
from skmoe.search.standardise import standardised
from skmoe.search.starts import labelled_start, random_labels

WIN = 1e-3
RANDOM_STARTS = 10


@dataclass(frozen=True)
class Case:
    """Rows, the truth they were drawn from, and the model to be fitted."""

    X: np.ndarray
    y: np.ndarray
    truth: MoEParameters
    intercept: bool
    noise: str = "shared"

    def problem(self) -> Problem:
        """Set the model up over whitened inputs."""
        moments = table_moments(self.X, self.y)
        rows = MappedRows.of(self.X, self.y, standardised(moments, intercept=self.intercept, outputs=False))
        return Problem(rows, len(self.truth.A), self.truth.family, Settings(noise=self.noise), moments.y_std)


# -- families ---------------------------------------------------------------------------------------------------------


def paper(n: int, d: int, k: int, sigma: float, seed: int, **how: object) -> Case:
    """Draw the paper's model: unit experts, no intercepts, one noise."""
    return Case(*make_moe(n, d, k, noise_scale=sigma, random_state=seed, **how), intercept=False)


def table1(i: int, seed: int) -> Case:
    p = (0.1, 0.3, 0.5, 0.7, 0.9)[i % 5]
    mu = np.random.default_rng(seed).standard_normal((2, 10))
    mu /= np.linalg.norm(mu, axis=1, keepdims=True)
    return paper(2000, 10, 2, 0.1, seed, input_law=scores.GaussianMixture([p, 1 - p], mu, [np.eye(10)] * 2))


def table2(i: int, seed: int) -> Case:
    return paper(2000, 10, 2, 0.1, seed, orthogonal_gate=bool(i % 2))


def figure3(i: int, seed: int) -> Case:
    return paper(8000, 10, 3 + i % 2, 0.5, seed)


def figure4(i: int, seed: int) -> Case:
    return paper((1000, 5000, 10000)[i % 3], 5, 3, 0.5, seed)


def figure5(i: int, seed: int) -> Case:
    return paper(10000, 5, 3, 0.5, seed, activation=("sigmoid", "relu")[i % 2])


def many_experts(i: int, seed: int) -> Case:
    k, d = 5 + i % 6, (5, 10)[i // 6 % 2]
    rows = (25, 50, 100)[i % 3] * k * d
    return paper(rows, d, k, (0.05, 0.1, 0.2)[i // 3 % 3], seed)


def affine(
    n: int,
    k: int,
    Z: np.ndarray,
    rng: np.random.Generator,
    *,
    sigma: np.ndarray,
    shares: np.ndarray,
    activation: str = "linear",
) -> Case:
    """Affine experts of unequal length over given inputs, gate intercepts set so that the mean gate meets `shares`."""
    d = Z.shape[1]
    U = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    A = rng.standard_normal((k, d))
    A *= np.exp(rng.uniform(-1, 1, (k, 1))) / np.linalg.norm(A, axis=1, keepdims=True)
    W = 1.5 * rng.standard_normal((k, d)) / np.sqrt(d)
    b, c = rng.standard_normal(k), np.log(shares)
    for _ in range(200):
        P = MoEParameters(A, W, 1.0, c=c).gate_proba(U)
        c += np.log(shares / P.mean(axis=0))
    scaled = 1 / Z.std(axis=0)
    A_x, W_x = A * scaled, W * scaled
    truth = MoEParameters(
        A_x, W_x, sigma, b=b - A_x @ Z.mean(axis=0), c=c - W_x @ Z.mean(axis=0), family=activation
    ).permuted(np.arange(k))
    noise = "shared" if np.ptp(sigma) == 0 else "per-expert"
    return Case(Z, truth.sample(Z, rng)[0], truth, intercept=True, noise=noise)


def _unequal_shares(k: int, rng: np.random.Generator) -> np.ndarray:
    rest = 0.5 + rng.random(k - 1)
    return np.append(0.95 * rest / rest.sum(), 0.05)


def unequal(i: int, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    k, d = 3 + i % 4, (3, 5, 8)[i % 3]
    n = (75, 150, 300)[i // 4 % 3] * k * (d + 1)
    Z = rng.standard_normal((n, d))
    return affine(n, k, Z, rng, sigma=rng.uniform(0.1, 0.5, k), shares=_unequal_shares(k, rng))


def _correlated(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((n, d)) @ (rng.standard_normal((d, d)) + 0.3 * np.eye(d)) * 10 ** rng.uniform(-2, 2, d)


def _skewed(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    return np.exp(0.7 * rng.standard_normal((n, d)))


def _heavy(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_t(3, (n, d))


def _mixed(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    Z = rng.standard_normal((n, d))
    Z[:, : d // 2] = Z[:, : d // 2] > rng.uniform(-0.7, 0.7, d // 2)
    return Z


def _of_inputs(draw: Callable[[int, int, np.random.Generator], np.ndarray]) -> Callable[[int, int], Case]:
    def family(i: int, seed: int) -> Case:
        rng = np.random.default_rng(seed)
        k, d = 3 + i % 3, 4 + i % 4
        n = (100, 200)[i % 2] * k * (d + 1)
        shares = rng.dirichlet(np.full(k, 5.0))
        return affine(n, k, draw(n, d, rng), rng, sigma=rng.uniform(0.1, 0.5, k), shares=np.maximum(shares, 0.08))

    return family


def noise_levels(i: int, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    k, d = 3 + i % 3, 5
    n = 150 * k * (d + 1)
    sigma = np.full(k, (0.02, 0.05, 0.1, 0.3, 1.0)[i % 5])
    return affine(n, k, rng.standard_normal((n, d)), rng, sigma=sigma, shares=np.full(k, 1 / k))


def nonlinear(i: int, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    k, d, n = 2 + i % 2, 4, 4000
    Z = rng.standard_normal((n, d))
    activation, sigma = (("sigmoid", 0.05), ("relu", 0.2))[i // 2 % 2]
    return affine(n, k, Z, rng, sigma=np.full(k, sigma), shares=np.full(k, 1 / k), activation=activation)


FAMILIES: dict[str, tuple[Callable[[int, int], Case], int]] = {
    "table1": (table1, 10),
    "table2": (table2, 10),
    "figure3": (figure3, 10),
    "figure4": (figure4, 12),
    "figure5": (figure5, 18),
    "many-experts": (many_experts, 36),
    "unequal": (unequal, 36),
    "correlated": (_of_inputs(_correlated), 9),
    "skewed": (_of_inputs(_skewed), 9),
    "heavy-tailed": (_of_inputs(_heavy), 9),
    "mixed-01": (_of_inputs(_mixed), 9),
    "noise-levels": (noise_levels, 15),
    "nonlinear": (nonlinear, 17),
}


# -- the contest ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What one problem gave, in mean log-likelihoods and seconds."""

    ours: float
    truth: float
    random: list[float]
    seconds: float
    random_seconds: list[float]
    winner: str
    agreement: int
    flexmix: float = np.nan

    @property
    def best(self) -> float:
        """The best mean log-likelihood known."""
        return max([self.ours, self.truth, *self.random, *([] if np.isnan(self.flexmix) else [self.flexmix])])

    @property
    def gap(self) -> float:
        """How far our fit is below the best known."""
        return self.best - self.ours

    @property
    def cost(self) -> float:
        """Time over that of a random joint-EM run that succeeds; NaN if none did."""
        good = [s for s, v in zip(self.random_seconds, self.random, strict=True) if self.best - v <= WIN]
        return self.seconds / float(np.mean(good)) if good else np.nan


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    value = run()
    return time.perf_counter() - begin, value


def random_joint_em(problem: Problem, seed: int) -> float:
    """Mean log-likelihood of joint EM from random responsibilities; minus infinity for a degenerate end."""
    start = labelled_start(problem, random_labels(problem, np.random.default_rng(seed)))
    end = run_em(problem, start, max_iter=500, tol=1e-4).points[-1]
    here = gradient(problem, end)
    return here.log_likelihood if problem.is_admissible(end, here.share) else -np.inf


def from_truth(problem: Problem, truth: MoEParameters) -> float:
    theta = problem.rows.map.from_parameters(truth)
    fit = maximise(problem, Theta(theta.A, theta.W, np.maximum(theta.sigma, problem.least_scale)))
    return fit.log_likelihood if fit.admissible else -np.inf


def one_flexmix(case: Case, seed: int) -> float:
    """Mean log-likelihood of one start of flexmix, which has intercepts and own noise; minus infinity if it failed."""
    found = run_flexmix(case.X, case.y, len(case.truth.A), starts=1, seed=seed)
    return -np.inf if found["best"] is None else found["best"]["log_likelihood"] / len(case.y)


def contest(case: Case, seed: int, starts: int, flexmix: bool) -> Outcome:
    model = MoERegressor(
        len(case.truth.A),
        activation=case.truth.g,
        fit_intercept=case.intercept,
        noise=case.noise,
        penalty=0.0,
        calibration=None,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        seconds, fit = timed(lambda: model.fit(case.X, case.y))
    problem = case.problem()
    memory = problem.on(problem.rows.subset())  # joint EM gets the same help: its rows are mapped once
    runs = [timed(lambda s=s: random_joint_em(memory, 1000 * seed + s)) for s in range(starts)]
    comparable = flexmix and case.intercept and case.noise == "per-expert"
    return Outcome(
        fit.log_likelihood_ / len(case.y),
        from_truth(problem, case.truth),
        [value for _, value in runs],
        seconds,
        [spent for spent, _ in runs],
        fit.history_["winner"],
        fit.history_["agreement"],
        one_flexmix(case, seed) if comparable else np.nan,
    )


def problems(total: int, only: str | None, seed: int) -> Iterator[tuple[str, int, int]]:
    """Family, index and seed of each problem, families shrunk alike when fewer than 200 are asked for."""
    full = sum(count for _, count in FAMILIES.values())
    for f, (name, (_, count)) in enumerate(FAMILIES.items()):
        if only is None or name == only:
            for i in range(max(1, round(count * total / full))):
                yield name, i, 100_000 * seed + 1000 * f + i


def report(table: Table, name: str, outcomes: list[Outcome]) -> None:
    gaps = np.array([o.gap for o in outcomes])
    single = np.mean([[o.best - v <= WIN for v in o.random] for o in outcomes]) if outcomes[0].random else np.nan
    ten = sum(o.best - max(o.random, default=-np.inf) <= WIN for o in outcomes)
    costs = np.array([o.cost for o in outcomes])
    costs = costs[np.isfinite(costs)]
    flexmix = [o.best - o.flexmix <= WIN for o in outcomes if not np.isnan(o.flexmix)]
    table.add_row(
        name,
        str(len(gaps)),
        str(int(np.sum(gaps <= WIN))),
        str(int(np.sum(gaps > WIN))),
        f"{gaps.max():.5f}",
        f"{single:.2f}",
        str(ten),
        f"{sum(flexmix)} of {len(flexmix)}" if flexmix else "",
        f"{np.median(costs):.1f} ({costs.min():.1f} to {costs.max():.1f})" if len(costs) else "",
        f"{np.median([o.seconds for o in outcomes]):.2f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--family", choices=list(FAMILIES))
    parser.add_argument("--seed", type=int, default=0, help="offset of all seeds")
    parser.add_argument("--random-starts", type=int, default=RANDOM_STARTS)
    parser.add_argument("--flexmix", type=int, default=0, help="so many problems of each family that flexmix can fit")
    parser.add_argument("--verbose", action="store_true", help="print every problem")
    args = parser.parse_args()
    table = Table(title=f"Optimum reached by one default fit, seed offset {args.seed}")
    for column in ("family", "problems", "won", "lost", "largest gap", "one random EM", "best of 10", "one flexmix"):
        table.add_column(column)
    table.add_column("cost: median (range)")
    table.add_column("seconds")
    console = Console(width=150)
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for name, i, seed in problems(args.problems, args.family, args.seed):
        outcome = contest(FAMILIES[name][0](i, seed), seed, args.random_starts, i < args.flexmix)
        outcomes[name].append(outcome)
        if args.verbose or outcome.gap > WIN:
            console.print(
                f"{name} {i}: gap {outcome.gap:.5f}, truth {outcome.truth - outcome.ours:+.5f}, "
                f"cost {outcome.cost:.1f}, {outcome.seconds:.2f} s, won by {outcome.winner}, "
                f"agreement {outcome.agreement}",
                style="dim",
            )
    for name, group in outcomes.items():
        report(table, name, group)
    if len(outcomes) > 1:
        report(table, "all", [o for group in outcomes.values() for o in group])
    console.print(table)


if __name__ == "__main__":
    main()
