"""Joint EM, experts and gate together from a random start: the usual baseline, as strong as it can be made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, validate_params

from skmoe.arrays.checks import RANDOM_STATE, check_coef, check_enough_rows, check_unit_rows, check_varies, generator
from skmoe.arrays.namespaces import Array, array_namespace, to_device
from skmoe.arrays.threads import with_one_blas_thread
from skmoe.likelihood import InputMap, MappedRows, Problem, Settings, Theta
from skmoe.likelihood.batch import BatchSums, batch_sums
from skmoe.likelihood.penalty import penalised_gate, penalty_at
from skmoe.likelihood.rows import Block
from skmoe.model.activations import get_activation
from skmoe.model.gate import GateSums, check_gate_memory, gate_kernel, gate_sums, maximise_gate, softmax, with_zero_row
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.posterior import Posterior
from skmoe.model.record import SearchRecord, Stage, StartKind, StartRecord
from skmoe.search.batch_em import PenaltyStrengths, em_step_of_batch
from skmoe.search.finish import Fit
from skmoe.search.fitting import Fitted, fitted_at
from skmoe.search.optimiser import Optimiser, Point
from skmoe.search.records import Progress
from skmoe.search.starts import labelled_start, random_labels
from skmoe.search.task import Task

__all__ = ["EMTrace", "JointEMResult", "fit_joint_em", "joint_em", "run_em"]

NOISE_FLOOR = 1e-6  # of the standard deviation of y: keeps a perfect fit from dividing by zero
ROUNDING = 1e-13  # relative, in a mean of n terms, which is no loss
SMALLEST = 1e-8  # part of a step below which it gains nothing above rounding
SAME = 1e-3  # mean log-likelihood below the best within which a run ended at the same optimum


@dataclass(frozen=True)
class JointEMResult:
    """A joint EM fit; ``path`` holds (A, W, sigma) at each iteration. See `joint_em`."""

    expert_coef: np.ndarray
    gate_coef: np.ndarray
    noise_scale: float
    log_likelihood: float
    path: list[tuple[np.ndarray, np.ndarray, float]]
    trace: np.ndarray
    n_iter: int
    converged: bool


def _random_parameters(k: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw the paper's random start: experts and gate vectors uniform on the unit sphere, the last gate vector zero."""
    A, W = (M / np.linalg.norm(M, axis=1, keepdims=True) for M in rng.standard_normal((2, k, d)))
    W[-1] = 0.0
    return A, W


@validate_params(
    {
        "n_experts": [Interval(Integral, 1, None, closed="left")],
        "activation": [str, callable],
        "noise_scale": [Interval(Real, 0, None, closed="neither"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": RANDOM_STATE,
    },
    prefer_skip_nested_validation=True,
)
@with_one_blas_thread
def joint_em(
    X: Any,
    y: Any,
    n_experts: int,
    *,
    activation: Any = "linear",
    noise_scale: float | None = None,
    init: tuple[Any, Any] | None = None,
    max_iter: int = 1000,
    tol: float = 1e-4,
    random_state: Any = None,
) -> JointEMResult:
    """Fit experts and gate together by EM: the baseline, as strong as it can be made.

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    n_experts : int
        Number of experts k.
    activation : str, callable or Activation
        The experts' activation g.
    noise_scale : float, optional
        Known standard deviation of the noise; learned if not given.
    init : (A, W), optional
        Where to start; by default experts and gate vectors uniform on the unit sphere.
    max_iter : int
        Most iterations.
    tol : float
        Stop when no parameter moves by more than this in an iteration.
    random_state : int, RandomState, Generator or None
        Draws the start.

    Returns
    -------
    JointEMResult
        ``expert_coef`` (k, d), ``gate_coef`` (k, d) with a zero last row, ``noise_scale``, ``log_likelihood`` (mean),
        ``path`` and ``trace`` (the log-likelihood along it), ``n_iter``, ``converged``.

    Examples
    --------
    >>> from skmoe import joint_em, make_moe, metrics
    >>> X, y, truth = make_moe(2000, 5, 2, random_state=0)
    >>> fit = joint_em(X, y, 2, random_state=0)
    >>> bool(metrics.regressor_fit(fit.expert_coef, truth.expert_coef) > 0.99)
    True
    """
    X, y = check_unit_rows(X, y)
    k, (n, d) = n_experts, X.shape
    check_enough_rows(n, (2 * k - 1) * d + 1, f"{k} experts and a gate over {d} columns")
    check_varies(y)
    check_gate_memory(k, d)
    rng = generator(random_state, "joint_em")
    if init is None:
        A, W = _random_parameters(k, d, rng)
    else:
        A, W = (check_coef(m, d, f"init[{i}]", k) for i, m in enumerate(init))
    spread = float(array_namespace(y).std(y))
    sigma = spread if noise_scale is None else float(noise_scale)
    noise = "shared" if noise_scale is None else sigma
    settings = Settings(noise, least_ridge=0.0, least_scale=NOISE_FLOOR * spread, least_share=0.0, least_rows=0.0)
    rows = MappedRows.of(X, y, InputMap.identity(d))
    problem = Problem(rows, k, GaussianFamily(get_activation(activation)), settings, spread)
    run = run_em(problem, Theta(A, W, np.full(k, sigma)), max_iter=max_iter, tol=tol)
    path = [(p.A, p.W - p.W[-1], float(p.sigma[0])) for p in run.points]
    return JointEMResult(
        *path[-1], run.log_likelihood[-1], path, np.array(run.log_likelihood), len(path) - 1, run.converged
    )


@dataclass(frozen=True)
class EMTrace:
    """The points of an EM run, the mean log-likelihood less the penalty at each, and whether it converged."""

    points: list[Theta]
    log_likelihood: list[float]
    converged: bool


def run_em(problem: Problem, theta: Theta, *, max_iter: int, tol: float) -> EMTrace:
    """Run EM from `theta` until no parameter moves by `tol`; a step that would lower the objective is halved.

    A step is weighted least squares for linear experts, or a Gauss-Newton step for others, and the maximum of the
    gate's convex problem.
    """
    sums, value = _sums_at(problem, theta)
    points, trace = [theta], [value]
    for _ in range(max_iter):
        goal, size = _em_step(problem, theta, sums), 1.0
        while size > SMALLEST:
            trial = theta.towards(goal, size)
            sums, value = _sums_at(problem, trial)
            if value >= trace[-1] - ROUNDING * (1 + abs(trace[-1])) and np.all(sums.share > 0):
                break
            size *= 0.5
        else:  # nothing is gained above rounding: this is the optimum
            return EMTrace(points, trace, True)
        moved, theta = trial.distance(theta), trial
        points.append(theta)
        trace.append(max(value, trace[-1]))
        if moved <= tol:
            return EMTrace(points, trace, True)
    return EMTrace(points, trace, False)


def _sums_at(problem: Problem, theta: Theta) -> tuple[BatchSums, float]:
    """Return the sums of an EM step at a point, and the mean log-likelihood less the penalty."""
    sums = batch_sums(problem, Theta.stacked([theta]))
    return sums, float(sums.log_likelihood[0]) - penalty_at(problem, theta).cost


def _em_step(problem: Problem, theta: Theta, sums: BatchSums) -> Theta:
    """Return the maximum of the expected log-likelihood, responsibilities from `theta`."""
    moved = em_step_of_batch(problem, Theta.stacked([theta]), sums, PenaltyStrengths.of(problem, 1)).picked(0)
    if problem.k == 1:
        return moved

    def gate(W: np.ndarray) -> GateSums:
        W_new = to_device(with_zero_row(W), problem.rows.X)

        def kernel(post: Posterior, block: Block) -> tuple[Array, ...]:
            return gate_kernel(post.R, *softmax(W_new @ block.V), block.V, block.weight)

        return penalised_gate(problem, gate_sums(*problem.mean_of(kernel, theta)), W)

    return replace(moved, W=with_zero_row(maximise_gate(gate, theta.gate, gate(theta.gate))))


def fit_joint_em(task: Task, k: int, rng: np.random.Generator, n_init: int) -> Fitted:
    """Fit the baseline to a table: EM from random labels, the best of `n_init` runs."""
    control, whole, searched = task.control, task.problem(k), task.problem(k, task.searched)
    runs, records = [], []
    for i in range(n_init):
        start = labelled_start(searched, random_labels(searched, rng))
        runs.append(run_em(whole, start, max_iter=control.max_iter, tol=control.tol))
        log_likelihood = task.in_callers_units(runs[-1].log_likelihood[-1])
        records.append(StartRecord(f"random {i}", StartKind.RANDOM, log_likelihood, Stage.ALL_ROWS))
        if control.progress is not None:
            best_so_far = max(r.log_likelihood for r in records)
            runs_left = control.seconds / (i + 1) * (n_init - i - 1)
            left = float(np.fmin(runs_left, control.seconds_left))
            control.progress(Progress("all rows", k, i + 1, best_so_far, k, i + 1, n_init, control.seconds, left))
        if control.out_of_time:
            break
    won = int(np.argmax([r.log_likelihood for r in records]))
    best = runs[won]
    fit = Fit.of(Optimiser(Point(whole, best.points[-1])), best.converged)
    search = SearchRecord(
        starts=tuple(records),
        winner=records[won].name,
        agreement=sum(records[won].log_likelihood - r.log_likelihood < SAME for r in records),
        interrupted=len(runs) < n_init,
    )
    return fitted_at(task, whole, replace(fit, trace=best.log_likelihood), search)
