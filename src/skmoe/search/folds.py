"""Models fitted to the rows of each fold and evaluated on the held-out rows.

Rows are split into folds once. Each fold has a few starts of its own, run for a while side by side on its other rows:
starts from a fit to all rows would depend on the rows that are held out. Held-out outputs that are rounded are
spread over the step they were rounded to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from skmoe.arrays.namespaces import to_device, to_numpy
from skmoe.likelihood import LaidOutRows, Problem, Theta, largest_predictors
from skmoe.model.calibration import Calibration
from skmoe.model.family import Family
from skmoe.model.gate import log_sum_exp
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.mixture import Mixture
from skmoe.model.posterior import posterior
from skmoe.search.batch_optimiser import OnStep, PerModelRows
from skmoe.search.compiled import make_optimiser
from skmoe.search.config import SearchConfig
from skmoe.search.finish import maximise
from skmoe.search.records import Start, StartKind
from skmoe.search.results import ranked, run_all
from skmoe.search.splits import grown_starts
from skmoe.search.starts import by_turns, drawn_starts, pooled_regression
from skmoe.search.task import Task

__all__ = ["Fold", "FoldFits", "Folds", "HeldOut", "converged", "fit_folds", "folds_of", "run_briefly"]


@dataclass(frozen=True)
class Fold:
    """Rows to fit to, held-out rows with their numbers, and the single regression of the rows to fit to."""

    train: LaidOutRows
    test: LaidOutRows
    held_out: np.ndarray
    one: Theta

    @property
    def pooled(self) -> np.ndarray:
        """Coefficients of that regression, (De,): what experts are shrunk towards."""
        return self.one.A[0]


@dataclass(frozen=True)
class Folds:
    """Rows each of which is held out once, their weights (n,), and the folds."""

    rows: LaidOutRows
    weight: np.ndarray
    parts: tuple[Fold, ...]

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.n


@dataclass(frozen=True)
class FoldFits:
    """Models of one number of experts and one penalty, several for each fold, best first on the rows of the fit.

    `problems` holds what they maximise, one for each fold.
    """

    k: int
    penalty: float
    problems: tuple[Problem, ...]
    thetas: tuple[tuple[Theta, ...], ...]

    def of_best(self, count: int = 1) -> FoldFits:
        """Keep the best few of each fold."""
        return replace(self, thetas=tuple(thetas[:count] for thetas in self.thetas))

    @property
    def best(self) -> list[Theta]:
        """The best of each fold."""
        return [thetas[0] for thetas in self.thetas]


@dataclass(frozen=True)
class HeldOut:
    """Log densities of held-out rows and their normal scores, on the standardised scale, (n,) each.

    There are no scores where outputs are not a centre plus noise: their distributions are not calibrated.
    """

    log_density: np.ndarray
    scores: np.ndarray | None
    weight: np.ndarray

    @classmethod
    def of(cls, folds: Folds, groups: Sequence[FoldFits], shares: Sequence[float]) -> HeldOut:
        """Evaluate averages of fitted models, groups with the given shares, on the rows that each fold held out."""
        log_density, scores = np.empty(folds.n), np.empty(folds.n)
        for f, fold in enumerate(folds.parts):
            family = groups[0].problems[f].family
            models = [group.thetas[f] for group in groups]
            weights = np.concatenate([np.full(len(m), s / len(m)) for m, s in zip(models, shares, strict=True)])
            thetas = [theta for m in models for theta in m]
            if family.noise_dof is None:
                on_train = [p for group in groups for p in [group.problems[f]] * len(group.thetas[f])]
                log_density[fold.held_out] = _log_density(fold.test, on_train, thetas, weights)
                continue
            mixture, y = mixture_at(fold.test, family, thetas, weights), to_numpy(fold.test.y)
            log_density[fold.held_out], scores[fold.held_out] = mixture.logpdf(y), mixture.normal_scores(y)
        return cls(log_density, None if family.noise_dof is None else scores, folds.weight)

    def calibrated(self) -> np.ndarray:
        """Return log densities after calibration by the same rows, (n,)."""
        if self.scores is None:
            return self.log_density
        return self.log_density + Calibration.fit(self.scores, self.weight).log_slope(self.scores)

    def calibration(self) -> Calibration | None:
        """Return the calibration fitted to the scores; None where there are none."""
        return None if self.scores is None else Calibration.fit(self.scores, self.weight)


def mixture_at(rows: LaidOutRows, family: Family, thetas: Sequence[Theta], weights: np.ndarray) -> Mixture:
    """Return the predictive distribution of an average of models at rows, for outputs that are a centre plus noise."""
    U, V, _, _ = rows.block(rows.X, rows.y, None)
    U, V = to_numpy(U), to_numpy(V)
    gates = [w * log_sum_exp(t.W @ V)[1] for t, w in zip(thetas, weights, strict=True)]
    centers = [family.mean(t.A @ U, t.sigma[:, None]) for t in thetas]
    scales = np.concatenate([t.sigma for t in thetas])[None, :]
    return Mixture(np.concatenate(gates).T, np.concatenate(centers).T, scales, np.full_like(scales, family.noise_dof))


def _log_density(
    rows: LaidOutRows, problems: Sequence[Problem], thetas: Sequence[Theta], weights: np.ndarray
) -> np.ndarray:
    """Return the log density of rows by an average of models, each fitted to the rows of a problem, (n,)."""
    U, V, y, _ = rows.block(rows.X, rows.y, None)
    found = []
    for problem, t in zip(problems, thetas, strict=True):
        A, W, sigma = (to_device(part, U) for part in (t.A.reshape(-1, U.shape[0]), t.W, t.sigma))
        largest = largest_predictors(problem, t)
        held = None if largest is None else to_device(largest[:, None], U)
        found.append(to_numpy(posterior(A, W, sigma, problem.family, U, V, y, held).log_density))
    return logsumexp(np.stack(found), axis=0, b=weights[:, None])


def folds_of(task: Task, parameters: int, rng: np.random.Generator) -> Folds | None:
    """Split the rows, or a sample that is large enough for the parameters, into folds; None for too few rows."""
    config, rows = task.config, task.searched
    wanted = max(config.rows.least_rows, min(config.rows.plenty * parameters, config.folds.most_rows))
    rows = rows.sample(wanted, rng) if wanted < config.rows.enough_rows * rows.n else rows.subset()
    count = min(config.folds.folds, rows.n // 2)
    if count < 2 or rows.n - rows.n // count <= task.map.De + 1:
        return None
    fold_of = rng.permutation(rows.n) % count
    parts = []
    for f in range(count):
        held_out = np.flatnonzero(fold_of == f)
        train = rows.subset(np.flatnonzero(fold_of != f))
        test = rows.subset(held_out)
        if task.resolution:  # else narrow peaks at the values that rounding allows would look good
            spread = to_device(task.step * (rng.random(test.n) - 0.5), test.y)
            test = replace(test, y=test.y + spread)
        parts.append(Fold(train, test, held_out, _single_regression(task.problem(1, train))))
    weight = np.ones(rows.n) if rows.weight is None else to_numpy(rows.weight)
    return Folds(rows, weight, tuple(parts))


def _single_regression(problem: Problem) -> Theta:
    """Fit a single regression to the rows of a problem."""
    one = pooled_regression(problem)
    return one if isinstance(problem.family, GaussianFamily) else maximise(problem, one).theta


def _fold_problem(task: Task, fold: Fold, k: int) -> Problem:
    problem = task.problem(k, fold.train)
    return replace(problem, settings=replace(problem.settings, pooled=fold.pooled))


def _penalised(problem: Problem, penalty: float) -> Problem:
    return replace(problem, settings=replace(problem.settings, penalty=penalty))


def _training_rows(folds: Folds, which: Sequence[int]) -> PerModelRows:
    """Return the rows that models of the given folds are fitted to, and the regressions they are shrunk towards."""
    weight = np.ones((folds.n, len(folds.parts)))
    for f, fold in enumerate(folds.parts):
        weight[fold.held_out, f] = 0.0
    pooled = np.stack([fold.pooled for fold in folds.parts])
    return PerModelRows(to_device(weight[:, list(which)], folds.rows.X), pooled[list(which)])


def fit_folds(
    task: Task,
    folds: Folds,
    k: int,
    penalties: Sequence[float],
    starts: int,
    rng: np.random.Generator,
    *,
    smaller: FoldFits | None = None,
    checks: int | None = None,
    on_step: OnStep | None = None,
) -> list[FoldFits]:
    """Fit models of k experts for each fold and penalty, from random starts and splits of a smaller model.

    All are one batch. Runs are short, of `checks` comparisons: where many models are compared or averaged, the last
    steps of each matter little for held-out rows.
    """
    config = task.config
    problems = tuple(_fold_problem(task, fold, k) for fold in folds.parts)
    if k == 1:
        return [FoldFits(k, tau, problems, tuple((fold.one,) for fold in folds.parts)) for tau in penalties]
    drawn: list[tuple[int, Theta]] = []
    for f, problem in enumerate(problems):
        of_fold = drawn_starts(problem, by_turns(starts), 0, rng, config)
        if smaller is not None:
            of_fold += grown_starts(problem, [smaller.thetas[f][0]], config, rng, config.folds.starts)
        drawn += [(f, start.theta) for start in of_fold]
    which = [f for _ in penalties for f, _ in drawn]
    strengths = np.repeat(penalties, len(drawn))
    results = run_briefly(
        task.problem(k, folds.rows),
        [theta for _ in penalties for _, theta in drawn],
        strengths,
        config,
        checks=checks,
        per_model=_training_rows(folds, which),
        on_step=on_step,
    )
    found: dict[float, list[list[Theta]]] = {tau: [[] for _ in problems] for tau in penalties}
    for i, theta in results:
        found[float(strengths[i])][which[i]].append(theta)
    return [
        FoldFits(k, tau, tuple(_penalised(one, tau) for one in problems), tuple(map(tuple, found[tau])))
        for tau in penalties
    ]


def run_briefly(
    problem: Problem,
    starts: Sequence[Theta],
    penalties: Sequence[float] | np.ndarray,
    config: SearchConfig,
    *,
    checks: int | None = None,
    per_model: PerModelRows | None = None,
    on_step: OnStep | None = None,
) -> list[tuple[int, Theta]]:
    """Run the optimiser from starts for a while, each with its penalty; return their numbers and points, best first."""
    optimiser = make_optimiser(
        problem, Theta.stacked(starts), np.asarray(penalties), per_model=per_model, on_step=on_step
    )
    optimiser.em(config.race.em_steps)
    for _ in range(config.folds.checks if checks is None else checks):
        before = optimiser.objective
        optimiser.quasi_newton(config.race.check_every)
        if np.all((optimiser.objective - before) * problem.total < config.race.gain):
            break
    order = np.argsort(-optimiser.objective, kind="stable")
    return [(int(i), optimiser.batch.picked(int(i))) for i in order]


def converged(
    task: Task, folds: Folds, fits: FoldFits, penalties: Sequence[float], on_step: OnStep | None = None
) -> list[FoldFits]:
    """Run all models of each fold to convergence with each of the penalties; return the best of each fold."""
    which = [f for _ in penalties for f, thetas in enumerate(fits.thetas) for _ in thetas]
    thetas = [theta for _ in penalties for of_fold in fits.thetas for theta in of_fold]
    each = len(thetas) // len(penalties)
    strengths = [tau for tau in penalties for _ in range(each)]
    groups = [len(folds.parts) * (i // each) + f for i, f in enumerate(which)]  # of a penalty and a fold
    results = run_all(
        task.problem(fits.k, folds.rows),
        [Start("fold", StartKind.FOLD, theta) for theta in thetas],
        task.config,
        strengths,
        groups=groups,
        per_model=_training_rows(folds, which),
        on_step=on_step,
    )
    best: dict[int, Theta] = {}
    for result in ranked(results):
        best.setdefault(result.group, result.start.theta)
    count = len(folds.parts)
    return [
        FoldFits(
            fits.k,
            tau,
            tuple(_penalised(one, tau) for one in fits.problems),
            tuple((best[count * i + f],) for f in range(count)),
        )
        for i, tau in enumerate(penalties)
    ]
