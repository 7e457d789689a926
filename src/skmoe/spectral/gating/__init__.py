"""Algorithm 2 and its kin: the gate, given the experts."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.model.activations import get_activation
from skmoe.rows.checks import check_coef, check_enough_rows, check_noise_scale, check_positive, check_rows, generator
from skmoe.spectral.gating.em import GateResult, random_gate, run_gate_em
from skmoe.spectral.gating.gradient import run_gradient_em
from skmoe.spectral.gating.moment import moment_gate

__all__ = ["GateResult", "learn_gate"]


def learn_gate(
    X: Any,
    y: Any,
    expert_coef: Any,
    *,
    activation: Any = "linear",
    noise_scale: float,
    method: str = "em",
    radius: float | None = None,
    init: Any = None,
    max_iter: int = 200,
    tol: float = 1e-4,
    random_state: int | np.random.Generator | None = None,
) -> GateResult:
    r"""Learn the gate with the experts fixed (paper: algo. gatingrecov).

    Parameters
    ----------
    X : (n, d) array        y : (n,) array
    expert_coef : (k, d) array
        The experts, from `learn_experts` or known.
    activation : name, callable or Activation
    noise_scale : float
    method : {"em", "gradient", "moments"}
        "em": EM with a full M-step. "gradient": one projected gradient step in place of the M-step (paper:
        app. twoexpertsgradEM). "moments": no iteration, the direction of the gate for two linear experts (paper:
        thm. MoM_gating), a vector of unit length.
    radius : float, optional
        Gate vectors are kept within this length (the paper's ball Omega).
    init : (k, d) array, optional
        Where to start; by default uniformly random in the ball, of radius 1 if none is given.
    max_iter : int        tol : float
        Stop when no gate vector moves by more than `tol` in an iteration.
    random_state : int, Generator or None

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
    X, y = check_rows(X, y)
    n, d = X.shape
    A = check_coef(expert_coef, d, "expert_coef")
    k = A.shape[0]
    sigma = check_noise_scale(noise_scale)
    g = get_activation(activation)
    check_positive(tol, "tol")
    check_positive(max_iter, "max_iter")
    if radius is not None:
        check_positive(radius, "radius")
    if method not in ("em", "gradient", "moments"):
        raise ValueError(f'method must be "em", "gradient" or "moments"; got {method!r}')
    if k == 1:
        flat = np.zeros((1, d))
        return GateResult(flat, flat[None], np.empty(0), 0, True)
    check_enough_rows(n, (k - 1) * d + 1, f"a gate of {k} experts over {d} columns")
    if method == "moments":
        if k != 2 or not g.linear:
            raise ValueError(
                f'method="moments" is for two linear experts; got {k} experts with activation {g.name!r}: use "em"'
            )
        return moment_gate(X, y, A)
    rng = generator(random_state, "learn_gate")
    start = random_gate(k, d, radius, rng) if init is None else check_coef(init, d, "init", k)
    run = run_gate_em if method == "em" else run_gradient_em
    return run(X, y, A, sigma, g, start - start[-1], radius=radius, max_iter=max_iter, tol=tol)
