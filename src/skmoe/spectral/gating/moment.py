r"""The gate of two linear experts by moments (paper: thm. MoM_gating).

With :math:`\mathrm{Ratio} = (y - a_2^\top x) / ((a_1 - a_2)^\top x)`, a mixture of Cauchy variables around 1 (expert 1)
and 0 (expert 2), :math:`E[1\{\mathrm{Ratio} \le 1/2\}\, x]` is a negative multiple of w.
"""

from __future__ import annotations

import numpy as np

from skmoe.model.parameters import design
from skmoe.rows.arrays import Array, array_namespace, to_device, to_numpy
from skmoe.rows.blocks import block_rows_for, sum_over_blocks
from skmoe.spectral.gating.em import GateResult, with_zero_row

__all__ = ["moment_gate"]


def moment_gate(X: Array, y: Array, A: np.ndarray) -> GateResult:
    """Unit direction of the gate of two linear experts, in one pass."""
    A_ = to_device(A, X)

    def kernel(x: Array, t: Array) -> tuple[Array]:
        xp = array_namespace(x)
        Z = design(x, False)
        eta = A_ @ Z
        gap = eta[0, :] - eta[1, :]
        # the sign of the gap is multiplied through, so that no row is divided by zero
        left = (t - eta[1, :]) * xp.sign(gap) <= 0.5 * xp.abs(gap)
        return (Z @ xp.astype(left, xp.float64),)

    (total,) = sum_over_blocks(kernel, X, y, block_rows=block_rows_for(X.shape[1]))
    moment = to_numpy(total) / X.shape[0]
    coef = with_zero_row(-(moment / np.linalg.norm(moment))[None, :])
    return GateResult(coef, coef[None], np.empty(0), 0, True)
