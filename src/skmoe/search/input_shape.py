"""The shape of the inputs for a diagnosis: skewness, rank and range, and the gate along the experts."""

from __future__ import annotations

import numpy as np

from skmoe.arrays.blocks import evenly_spaced_rows
from skmoe.arrays.namespaces import to_numpy
from skmoe.arrays.table_moments import TableMoments
from skmoe.likelihood import ModelRows
from skmoe.model.parameters import MoEParameters
from skmoe.model.record import InputShape
from skmoe.search.standardise import whitening
from skmoe.spectral.scores.fitting import is_gaussian, shape_of

__all__ = ["input_shape"]

ROWS = 20_000  # rows from which skewness and kurtosis are taken


def input_shape(rows: ModelRows, moments: TableMoments, parameters: MoEParameters) -> InputShape:
    """Measure the shape of the inputs on some rows, evenly spaced."""
    block = rows.block(*evenly_spaced_rows((rows.X, rows.y, rows.weight), ROWS))
    Z = to_numpy(block.V if rows.map.Dg > rows.map.intercept else block.U).T
    Z = Z[:, : Z.shape[1] - rows.map.intercept]
    skewness, light, heavy = shape_of(Z)
    return InputShape(
        skewness,
        light if -light > heavy else heavy,
        is_gaussian(skewness, light, heavy),
        rows.map.width if rows.map.shared else whitening(moments)[1].shape[1],
        len(moments.mean),
        _gate_along_experts(parameters, moments),
        moments.total,
        tuple(moments.low.tolist()),
        tuple(moments.high.tolist()),
    )


def _gate_along_experts(parameters: MoEParameters, moments: TableMoments) -> float:
    if len(parameters.A) == 1:
        return 0.0
    transform = whitening(moments)[1]
    if transform.shape[1] == 0:
        return 0.0
    back = np.linalg.pinv(transform)
    A, W = parameters.A.reshape(-1, parameters.A.shape[-1]) @ back.T, parameters.W[:-1] @ back.T
    A, W = (M / np.maximum(np.linalg.norm(M, axis=1, keepdims=True), np.finfo(float).tiny) for M in (A, W))
    return float(np.max(np.abs(W @ A.T)))
