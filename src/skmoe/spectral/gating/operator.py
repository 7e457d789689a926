r"""The EM operator M and its objective Q, as the paper writes them (paper: section 3, equations 8 and 9).

Q is :math:`Q(w' | w) = E[\sum_i p^{(i)}_w(x, y) \log \mathrm{softmax}_i(w' x)]`, with the logarithm that is missing in
the paper's equation 8, and :math:`M(w) = \arg\max_{w' \in \Omega} Q(w' | w)`. Algorithm 2 iterates M to convergence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.checks import check_coef, check_unit_rows, check_weight
from skmoe.arrays.threads import with_one_blas_thread
from skmoe.model.activations import get_activation
from skmoe.model.gate import maximise_gate, project_rows, with_zero_row
from skmoe.model.gaussian import GaussianFamily
from skmoe.spectral.gating.em import GateTask, gate_objective
from skmoe.spectral.options import POSITIVE, validated

__all__ = ["em_objective", "em_operator", "gate_task"]


def gate_task(X: Any, y: Any, expert_coef: Any, noise_scale: float, activation: Any, sample_weight: Any) -> GateTask:
    """Check rows and experts."""
    X, y = check_unit_rows(X, y)
    A = check_coef(expert_coef, X.shape[1], "expert_coef")
    weight = None if sample_weight is None else check_weight(X, sample_weight)
    return GateTask(X, y, weight, A, float(noise_scale), GaussianFamily(get_activation(activation)))


def _free_rows(task: GateTask, coef: Any, name: str) -> np.ndarray:
    """Return the gate vectors (k-1, d) from (k, d), the last one being the reference."""
    W = check_coef(coef, task.X.shape[1], name, task.k)
    return W[:-1] - W[-1]


@validated("activation", noise_scale=[POSITIVE])
@with_one_blas_thread
def em_objective(
    X: Any,
    y: Any,
    expert_coef: Any,
    new_gate_coef: Any,
    gate_coef: Any,
    *,
    noise_scale: float,
    activation: Any = "linear",
    sample_weight: Any = None,
) -> float:
    r"""Return the objective :math:`Q(w' | w)` of the gate's EM on rows (paper: equation 8).

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    expert_coef : (k, d) array
        The experts, which stay as they are.
    new_gate_coef : (k, d) array
        The gate w' that is evaluated.
    gate_coef : (k, d) array
        The gate w of the posterior probabilities.
    noise_scale : float
        Standard deviation of the noise.
    activation : str, callable or Activation
        The experts' activation g.
    sample_weight : (n,) array, optional
        Row weights.

    Returns
    -------
    float
        Mean over rows of :math:`\sum_i p^{(i)}_w \log \mathrm{softmax}_i(w' x)`: Q without its constant.

    Examples
    --------
    A step of EM increases Q:

    >>> from skmoe import make_moe
    >>> from skmoe.spectral import em_objective, em_operator
    >>> X, y, truth = make_moe(1000, 3, 2, random_state=0)
    >>> A, W, how = truth.expert_coef, 0 * truth.gate_coef, {"noise_scale": 0.1}
    >>> new = em_operator(X, y, A, W, **how)
    >>> em_objective(X, y, A, new, W, **how) > em_objective(X, y, A, W, W, **how)
    True
    """
    task = gate_task(X, y, expert_coef, noise_scale, activation, sample_weight)
    new, old = _free_rows(task, new_gate_coef, "new_gate_coef"), _free_rows(task, gate_coef, "gate_coef")
    return gate_objective(task)(old, new)[1].value if task.k > 1 else 0.0


@validated("activation", "radius", noise_scale=[POSITIVE])
@with_one_blas_thread
def em_operator(
    X: Any,
    y: Any,
    expert_coef: Any,
    gate_coef: Any,
    *,
    noise_scale: float,
    activation: Any = "linear",
    radius: float | None = None,
    sample_weight: Any = None,
) -> np.ndarray:
    r"""Return the EM operator :math:`M(w) = \arg\max_{w' \in \Omega} Q(w' | w)` on rows (paper: section 3).

    One iteration of Algorithm 2, which is `skmoe.learn_gate`.

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    expert_coef : (k, d) array
        The experts, which stay as they are.
    gate_coef : (k, d) array
        The gate w; its last row is subtracted from all.
    noise_scale : float
        Standard deviation of the noise.
    activation : str, callable or Activation
        The experts' activation g.
    radius : float, optional
        Radius R of the paper's ball Omega; without it gate vectors may be of any length.
    sample_weight : (n,) array, optional
        Row weights.

    Returns
    -------
    (k, d) array
        The gate M(w), with a zero last row.

    Examples
    --------
    The true gate is a fixed point, up to the noise of the sample:

    >>> import numpy as np
    >>> from skmoe import make_moe
    >>> from skmoe.spectral import em_operator
    >>> X, y, truth = make_moe(20_000, 3, 2, noise_scale=0.1, random_state=0)
    >>> moved = em_operator(X, y, truth.expert_coef, truth.gate_coef, noise_scale=0.1) - truth.gate_coef
    >>> bool(np.max(np.abs(moved)) < 0.1)
    True
    """
    task = gate_task(X, y, expert_coef, noise_scale, activation, sample_weight)
    W = _free_rows(task, gate_coef, "gate_coef")
    if task.k == 1:
        return with_zero_row(W)
    objective = gate_objective(task)
    start = project_rows(W, radius)
    return with_zero_row(maximise_gate(lambda V: objective(W, V)[1], start, objective(W, start)[1], radius=radius))
