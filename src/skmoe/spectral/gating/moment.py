r"""The gate of two linear experts by moments (paper: thm. MoM_gating).

With :math:`\mathrm{Ratio} = (y - a_2^\top x) / ((a_1 - a_2)^\top x)`, a mixture of Cauchy variables around 1 (expert 1)
and 0 (expert 2), :math:`E[1\{\mathrm{Ratio} \le 1/2\}\, x]` is a negative multiple of w.
"""

from __future__ import annotations

import numpy as np

from skmoe.model.gate import with_zero_row
from skmoe.rows.arrays import Array, array_namespace, design, to_device, to_numpy
from skmoe.rows.blocks import block_rows_for, sum_over_blocks
from skmoe.spectral.gating.em import GateResult, GateTask

__all__ = ["moment_gate"]


def moment_gate(task: GateTask) -> GateResult:
    """Unit direction of the gate of two linear experts, in one pass."""
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
