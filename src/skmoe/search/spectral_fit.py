"""The paper's method: Algorithm 1 for the experts, then Algorithm 2 for the gate."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, to_device
from skmoe.arrays.streamed import Streamed
from skmoe.arrays.table_moments import TableMoments
from skmoe.model.evaluation import log_likelihood, mean_gate
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.parameters import MoEParameters
from skmoe.model.record import RunRecord, SearchRecord
from skmoe.search.fitting import Fitted, spectrum_of
from skmoe.search.records import Control
from skmoe.search.standardise import whitening
from skmoe.search.task import ModelSpec
from skmoe.spectral.experts import experts_of
from skmoe.spectral.gating.em import GateTask
from skmoe.spectral.gating.learn import gate_of
from skmoe.spectral.options import SpectralOptions
from skmoe.spectral.outputs import ActivationOutputs
from skmoe.spectral.scores.fitting import as_law, mapped_law
from skmoe.tables.inputs import RowsToFit

__all__ = ["fit_spectral"]


def fit_spectral(
    rows: RowsToFit,
    spec: ModelSpec,
    moments: TableMoments,
    k: int,
    rng: np.random.Generator,
    control: Control,
    options: SpectralOptions,
) -> Fitted:
    """Fit unit experts without intercepts from moments of the rows as they are, then the gate."""
    if spec.expert_columns is not None or spec.gate_columns is not None:
        raise ValueError('method="spectral" takes no expert_features or gate_features; use method="auto"')
    if not isinstance(spec.family, GaussianFamily):
        raise ValueError(f'method="spectral" is for Gaussian noise; got family {spec.family.name!r}')
    y, weight = rows.y, rows.weight
    X, law, back = _independent_inputs(rows.X, spec.input_law, moments)
    noise = None if isinstance(spec.noise, str) else float(spec.noise)
    experts = experts_of(
        X,
        y,
        weight,
        k,
        ActivationOutputs(spec.family.g),
        noise_scale=noise,
        input_law=law,
        rng=rng,
        decomposition=options.decomposition,
        moments=options.moments,
        settle=True,
    )
    task = GateTask(X, y, weight, experts.coef, experts.noise_scale, spec.family)
    choices: dict[str, Any] = {"radius": options.radius, "step_size": options.step_size}
    gate = gate_of(task, method=options.gate_method, max_iter=control.max_iter, tol=control.tol, rng=rng, **choices)
    A, W = experts.coef, gate.coef
    found, d = A.shape
    if back is not None:
        A, W = A @ back, W @ back
    model = MoEParameters(A, W, experts.noise_scale, family=spec.family)
    shares = mean_gate(model, rows.X, weight)
    order = np.argsort(-shares, kind="stable")
    run = RunRecord(
        log_likelihood=log_likelihood(model, rows.X, y, weight),
        n_parameters=(2 * found - 1) * d + (noise is None),
        converged=bool(gate.converged),
        identified=False,
        at_floor=False,
        objective=tuple(np.asarray(gate.log_likelihood).tolist()),
        passes=0,
    )
    search = SearchRecord(winner="spectral", spectrum=spectrum_of(experts))
    return Fitted(model.permuted(order), shares[order], run, search)


def _independent_inputs(X: Array, law: Any, moments: TableMoments) -> tuple[Array, Any, np.ndarray | None]:
    """Return inputs and their distribution along directions that vary, and the map of coefficients back, if any.

    The directions are orthonormal, so that unit experts stay unit experts. Moments have no information on others.
    """
    transform = whitening(moments)[1]
    d, rank = transform.shape
    if rank in (0, d) or isinstance(X, Streamed):  # the input law refuses what is left
        return X, law, None
    U = np.linalg.qr(moments.covariance @ transform)[0]
    if law is not None and not isinstance(law, str):
        law = mapped_law(as_law(law, X, np.random.default_rng(0)), np.zeros(d), U)
    xp = array_namespace(X)
    return xp.astype(X, xp.float64, copy=False) @ to_device(U, X), law, U.T
