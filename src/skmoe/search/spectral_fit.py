"""The paper and nothing else: Algorithm 1 for the experts, then Algorithm 2 for the gate."""

from __future__ import annotations

import numpy as np

from skmoe.model.evaluation import log_likelihood, mean_gate
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.parameters import MoEParameters
from skmoe.rows.inputs import RowsToFit
from skmoe.rows.table_moments import TableMoments
from skmoe.search.fitting import Fitted
from skmoe.search.records import Control
from skmoe.search.task import ModelSpec
from skmoe.spectral.experts import experts_of
from skmoe.spectral.gating.em import GateTask
from skmoe.spectral.gating.learn import gate_of

__all__ = ["fit_spectral"]


def fit_spectral(
    rows: RowsToFit, spec: ModelSpec, moments: TableMoments, k: int, rng: np.random.Generator, control: Control
) -> Fitted:
    """Unit experts without intercepts, from moments of the rows as they came; then the gate by EM."""
    if spec.expert_columns is not None or spec.gate_columns is not None:
        raise ValueError('method="spectral" takes no expert_features or gate_features; use method="auto"')
    if not isinstance(spec.family, GaussianFamily):
        raise ValueError(f'method="spectral" is for Gaussian noise; got family {spec.family.name!r}')
    X, y, weight = rows.X, rows.y, rows.weight
    noise = None if isinstance(spec.noise, str) else float(spec.noise)
    experts = experts_of(X, y, weight, k, spec.family.g, noise_scale=noise, input_law=spec.input_law, rng=rng)
    task = GateTask(X, y, weight, experts.coef, experts.noise_scale, spec.family)
    gate = gate_of(task, max_iter=control.max_iter, tol=control.tol, rng=rng)
    model = MoEParameters(experts.coef, gate.coef, experts.noise_scale, family=spec.family)
    shares = mean_gate(model, X, weight)
    order = np.argsort(-shares, kind="stable")
    found, d = experts.coef.shape
    return Fitted(
        model.permuted(order),
        log_likelihood(model, X, y, weight) / moments.total,
        (2 * found - 1) * d + (noise is None),
        gate.converged,
        gate.log_likelihood,
        shares[order],
        winner="spectral",
        spectral=experts,
    )
