"""Joint EM, experts and gate together from a random start: the baseline everyone uses, as strong as it can be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.likelihood.joint import JointLikelihood, Settings, Theta
from skmoe.model.activations import get_activation
from skmoe.rows.arrays import array_namespace
from skmoe.rows.checks import (
    check_coef,
    check_enough_rows,
    check_n_experts,
    check_noise_scale,
    check_positive,
    check_rows,
    check_varies,
    generator,
)
from skmoe.search.refine import run_em

__all__ = ["JointEMResult", "joint_em"]

NOISE_FLOOR = 1e-6  # of the spread of y: keeps a perfect fit from dividing by zero


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


def random_parameters(k: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Experts and gate vectors uniform on the unit sphere, the last gate vector zero: the paper's random start."""
    A, W = (M / np.linalg.norm(M, axis=1, keepdims=True) for M in rng.standard_normal((2, k, d)))
    W[-1] = 0.0
    return A, W


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
    random_state: int | np.random.Generator | None = None,
) -> JointEMResult:
    """Fit experts and gate together by EM: the baseline, as strong as it can be made.

    Parameters
    ----------
    X : (n, d) array        y : (n,) array
    n_experts : int
    activation : name, callable or Activation
    noise_scale : float, optional
        Known noise; learned if not given.
    init : (A, W), optional
        Where to start; by default experts and gate vectors uniform on the unit sphere.
    max_iter : int        tol : float
        Stop when no parameter moves by more than `tol` in an iteration.
    random_state : int, Generator or None

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
    X, y = check_rows(X, y)
    k = check_n_experts(n_experts)
    g = get_activation(activation)
    n, d = X.shape
    check_positive(tol, "tol")
    check_positive(max_iter, "max_iter")
    check_enough_rows(n, (2 * k - 1) * d + 1, f"{k} experts and a gate over {d} columns")
    check_varies(y)
    rng = generator(random_state, "joint_em")
    if init is None:
        A, W = random_parameters(k, d, rng)
    else:
        A, W = (check_coef(m, d, f"init[{i}]", k) for i, m in enumerate(init))
    xp = array_namespace(y)
    spread = float(xp.std(y))
    sigma = spread if noise_scale is None else check_noise_scale(noise_scale)
    settings = Settings(
        "shared" if noise_scale is None else sigma, NOISE_FLOOR * spread, gate_penalty=0.0, min_share=0.0
    )
    likelihood = JointLikelihood(X, y, g, k, settings=settings)
    run = run_em(likelihood, Theta(A, (W - W[-1])[:-1], np.full(k, sigma)), max_iter=max_iter, tol=tol)
    path = [(p.A, np.vstack([p.W, np.zeros((1, d))]), float(p.sigma[0])) for p in run.points]
    return JointEMResult(
        *path[-1], run.log_likelihood[-1], path, np.array(run.log_likelihood), len(path) - 1, run.converged
    )
