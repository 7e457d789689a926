"""Algorithm 2: the gate, given the experts."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.checks import check_coef, check_enough_rows, generator
from skmoe.arrays.threads import with_one_blas_thread
from skmoe.spectral.gating.em import GateResult, GateTask, random_gate, run_gate_em
from skmoe.spectral.gating.gradient import run_gradient_em
from skmoe.spectral.gating.moment import moment_gate
from skmoe.spectral.gating.operator import gate_task
from skmoe.spectral.options import CONSTRAINTS, POSITIVE, validated

__all__ = ["gate_of", "learn_gate"]


@validated(
    "activation",
    "radius",
    "step_size",
    "max_iter",
    "tol",
    "random_state",
    noise_scale=[POSITIVE],
    method=CONSTRAINTS["gate_method"],
)
@with_one_blas_thread
def learn_gate(
    X: Any,
    y: Any,
    expert_coef: Any,
    *,
    activation: Any = "linear",
    noise_scale: float,
    method: str = "em",
    radius: float | None = None,
    step_size: float | None = None,
    init: Any = None,
    max_iter: int = 200,
    tol: float = 1e-4,
    sample_weight: Any = None,
    random_state: Any = None,
) -> GateResult:
    r"""Learn the gate with the experts fixed (paper: Algorithm 2).

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    expert_coef : (k, d) array
        The experts, from `learn_experts` or known.
    activation : str, callable or Activation
        The experts' activation g.
    noise_scale : float
        Standard deviation of the noise.
    method : {"em", "gradient", "moments"}
        "em": EM with a full M-step, the paper's Algorithm 2. "gradient": one projected gradient step in place of the
        M-step (paper: theorem 5). "moments": no iteration, the direction of the gate for two linear experts (paper:
        theorem 3), a vector of unit length.
    radius : float, optional
        Gate vectors are kept within this length, the radius R of the paper's ball Omega, which is 1 there. Without it
        they may be of any length.
    step_size : float, optional
        Step alpha of ``method="gradient"``. By default the paper's :math:`2 / (\mu + \lambda)`, with the smoothness
        and the strong concavity that Q has on the rows.
    init : (k, d) array, optional
        Start; by default uniformly random in the ball, of radius 1 if none is given.
    max_iter : int
        Most iterations.
    tol : float
        Stop when no gate vector moves by more than this in an iteration.
    sample_weight : (n,) array, optional
        Row weights: whole numbers are the same as repeated rows, others are scaled to a mean of one.
    random_state : int, RandomState, Generator or None
        Draws the start.

    Returns
    -------
    GateResult
        ``coef`` (k, d) with a zero last row, ``path`` (n_iter + 1, k, d), ``log_likelihood`` (mean, at each point of
        the path), ``n_iter`` and ``converged``.

    Examples
    --------
    >>> from skmoe import learn_gate, make_moe, metrics
    >>> X, y, truth = make_moe(2000, 5, 2, noise_scale=0.1, random_state=0)
    >>> gate = learn_gate(X, y, truth.expert_coef, noise_scale=0.1, random_state=0)
    >>> gate.converged, bool(metrics.gating_fit(gate.coef, truth.gate_coef) > 0.98)
    (True, True)
    """
    if step_size is not None and method != "gradient":
        raise ValueError(f'step_size is for method="gradient"; method is {method!r}')
    task = gate_task(X, y, expert_coef, noise_scale, activation, sample_weight)
    start = None if init is None else check_coef(init, task.X.shape[1], "init", task.k)
    rng = generator(random_state, "learn_gate")
    options: dict[str, Any] = {"method": method, "radius": radius, "step_size": step_size}
    return gate_of(task, start=start, max_iter=max_iter, tol=tol, rng=rng, **options)


def gate_of(
    task: GateTask,
    *,
    method: str = "em",
    radius: float | None = None,
    step_size: float | None = None,
    start: np.ndarray | None = None,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> GateResult:
    """Run Algorithm 2 on rows and settings that were checked; see `learn_gate`."""
    (n, d), k, g = task.X.shape, task.k, task.family.g
    if k == 1:
        flat = np.zeros((1, d))
        return GateResult(flat, flat[None], np.empty(0), 0, True)
    check_enough_rows(n, (k - 1) * d + 1, f"a gate of {k} experts over {d} columns")
    if method == "moments":
        if k != 2 or not g.linear:
            raise ValueError(
                f'method="moments" is for two linear experts; got {k} experts with activation {g.name!r}: use "em"'
            )
        return moment_gate(task)
    start = random_gate(k, d, radius, rng) if start is None else start
    start = start - start[-1]
    if method == "em":
        return run_gate_em(task, start, radius=radius, max_iter=max_iter, tol=tol)
    return run_gradient_em(task, start, radius=radius, max_iter=max_iter, tol=tol, step_size=step_size)
