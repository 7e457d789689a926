r"""The gate of two linear experts by moments (paper: theorem 3).

With :math:`\mathrm{Ratio} = (y - a_2^\top x) / ((a_1 - a_2)^\top x)`, a mixture of Cauchy variables around 1 (expert 1)
and 0 (expert 2), :math:`E[1\{\mathrm{Ratio} \le 1/2\}\, x]` is a negative multiple of w.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.blocks import block_rows_for, sum_over_blocks
from skmoe.arrays.checks import check_coef, check_unit_rows
from skmoe.arrays.namespaces import Array, array_namespace, design, to_device, to_numpy
from skmoe.model.gate import with_zero_row
from skmoe.spectral.gating.em import GateResult, GateTask

__all__ = ["moment_gate", "ratio"]


def ratio(X: Any, y: Any, expert_coef: Any) -> Array:
    r"""Return the paper's :math:`\mathrm{Ratio}(x, y) = (y - a_2^\top x) / ((a_1 - a_2)^\top x)` (paper: section 3).

    It is about 1 in rows of the first expert and about 0 in those of the second, with Cauchy tails, so that it has no
    mean. ``learn_gate(method="moments")`` estimates the gate's direction from its distribution function.

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    expert_coef : (2, d) array
        Two linear experts.

    Returns
    -------
    (n,) array
        The ratio of each row, in the caller's array library; infinite or NaN where both experts agree exactly.

    Examples
    --------
    >>> from skmoe.spectral import ratio
    >>> ratio([[1.0, 0.0], [1.0, 1.0]], [2.0, 1.0], [[2.0, 0.0], [1.0, 0.0]])
    array([1., 0.])
    """
    X, y = check_unit_rows(X, y)
    A = check_coef(expert_coef, X.shape[1], "expert_coef")
    if len(A) != 2:
        raise ValueError(f"ratio is for two linear experts; expert_coef has {len(A)} rows")
    xp = array_namespace(X)
    eta = xp.astype(X, xp.float64, copy=False) @ to_device(A.T, X)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (xp.astype(y, xp.float64, copy=False) - eta[:, 1]) / (eta[:, 0] - eta[:, 1])


def moment_gate(task: GateTask) -> GateResult:
    """Return the unit direction of the gate of two linear experts, in one pass."""
    A_ = to_device(task.A, task.X)

    def kernel(x: Array, t: Array, w: Array | None) -> tuple[Array]:
        xp = array_namespace(x)
        Z = design(x, False)
        eta = A_ @ Z
        gap = eta[0, :] - eta[1, :]
        # the sign of the gap is multiplied through, so that no row is divided by zero
        left = (t - eta[1, :]) * xp.sign(gap) <= 0.5 * xp.abs(gap)
        indicator = xp.astype(left, xp.float64)
        return (Z @ (indicator if w is None else indicator * w),)

    (total,) = sum_over_blocks(kernel, task.X, task.y, task.weight, block_rows=block_rows_for(task.X.shape[1]))
    moment = to_numpy(total)
    coef = with_zero_row(-(moment / np.linalg.norm(moment))[None, :])
    return GateResult(coef, coef[None], np.empty(0), 0, True)
