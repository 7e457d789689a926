r"""Small-sample corrections: degrees of freedom, and the uncertainty of predictions from that of coefficients.

An expert with :math:`N_i` rows, the sum of its responsibilities, and :math:`p_i` effective parameters has
:math:`N_i - p_i` degrees of freedom, and its noise variance is that of maximum likelihood times :math:`N_i / (N_i -
p_i)`. Effective parameters are the trace of the covariance of its coefficients times their information in these rows;
without a penalty one regression has as many as it has coefficients, which is the textbook's correction. A penalty
widens the noise already; that part is not corrected again.

A single expert with as many coefficients as rows has no degrees of freedom: its noise, standard errors and intervals
are unknown. Where there are several, each keeps at least `LEAST_DOF`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skmoe.likelihood import Theta
from skmoe.likelihood.batch import batch_sums
from skmoe.likelihood.penalty import noise_dof, noise_penalty
from skmoe.model.fitted import FittedMixture
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.parameters import MoEParameters
from skmoe.model.predictive import Correction
from skmoe.search import Optimum

__all__ = ["SmallSample", "correction_of", "small_sample", "small_sample_correction"]

LEAST_DOF = 2.0  # of one of several experts, however few its rows are
ROUNDING = 1e-9  # relative, of the total weight of rows
GAUSSIAN = 200.0  # degrees of freedom from which on one of several experts counts as Gaussian, which is faster
MANY_ROWS = 10_000  # rows per parameter from which on coefficients count as they are


@dataclass(frozen=True)
class SmallSample:
    """Factors of the experts' variances (k,), and their degrees of freedom (k,), in the order they are reported."""

    factor: np.ndarray
    dof: np.ndarray

    @property
    def none_left(self) -> bool:
        """True where no degrees of freedom are left."""
        return bool(np.any(self.dof == 0))

    def corrected(self, root: np.ndarray, p: MoEParameters) -> np.ndarray:
        """Scale the root of a covariance over (A, b, W, c, sigma): experts and noise, not the gate."""
        scale = np.sqrt(self.factor)
        experts = np.repeat(scale, p.A[0].size), np.repeat(scale, p.b[0].size)
        return root * np.concatenate([*experts, np.ones(p.W.size + p.c.size), scale])[:, None]


def small_sample(optimum: Optimum | None, k: int) -> SmallSample:
    """Return degrees of freedom of a fit; infinite for other families, known noise and without a likelihood."""
    if optimum is None or not optimum.problem.noise_groups:
        return SmallSample(np.ones(k), np.full(k, np.inf))
    if k == 1 and optimum.problem.total <= optimum.problem.De * (1 + ROUNDING):
        return SmallSample(np.full(1, np.nan), np.zeros(1))
    if not isinstance(optimum.problem.family, GaussianFamily):
        return SmallSample(np.ones(k), np.full(k, np.inf))
    problem, rows = optimum.problem, optimum.fit.share * optimum.problem.total
    effective = _effective_parameters(optimum)
    # squared residuals over the variance: a penalty has widened it already
    pull = noise_dof(problem) * noise_penalty(optimum.fit.theta.sigma, problem.y_std)[1]
    counted = rows + pull * problem.total
    if problem.settings.noise == "shared":
        rows, effective, counted = (np.full(k, np.sum(part)) for part in (rows, effective, counted))
    dof = rows - effective if k == 1 else np.maximum(rows - effective, LEAST_DOF)
    return SmallSample((np.maximum(counted, dof) / dof)[optimum.order], dof[optimum.order])


def _effective_parameters(optimum: Optimum) -> np.ndarray:
    """Return the effective parameters of each expert, (k,), at most as many as it has coefficients."""
    problem, fit = optimum.problem, optimum.fit
    k, De = problem.k, problem.De
    if k == 1 or fit.inverse_root is None or problem.total > MANY_ROWS * problem.n_parameters:
        return np.full(k, float(De))
    gram = (
        batch_sums(problem, Theta.stacked([fit.theta])).expert_gram[0]
        / problem.family.step_scale(fit.theta.sigma)[:, None, None]
    )
    roots = fit.inverse_root[: k * De].reshape(k, De, -1)
    return np.minimum(np.sum((gram @ roots) * roots, axis=(1, 2)), De)


def small_sample_correction(model: FittedMixture) -> Correction | None:
    """Return the correction of predictions of a fitted `MoERegressor`.

    None for other families than the Gaussian, and where rows are so many that nothing is corrected.
    """
    rows, parameters = model.record_.rows, model.n_parameters_
    if not isinstance(model.parameters_.family.base, GaussianFamily):
        return None
    if model.method == "spectral" or (model.n_experts_ > 1 and rows > MANY_ROWS * parameters):
        return None
    covariance = model.covariance_ if model.parameters_.origin is None else model.covariance_at_origin_
    if covariance is None:
        return Correction(model.noise_scale_, model.dof_)
    correction = correction_of(covariance, model.noise_scale_, model.dof_, model.gate_coef_.shape[1])
    if model.calibration_ is not None:  # which has the heavy tails
        correction = replace(correction, dof=None)
    return correction if model.gate_uncertain_ else replace(correction, gate_covariance=None)


def correction_of(covariance: np.ndarray, sigma: np.ndarray, dof: np.ndarray, d: int) -> Correction:
    """Return the correction of predictions: noise scales, degrees of freedom, covariances of experts and gate.

    Parameters
    ----------
    covariance : (p, p) array
        Over (A, b, W, c, sigma) in the caller's units, intercepts at the origin of the parameters.
    sigma, dof : (k,) arrays
        Noise scales, corrected, and degrees of freedom.
    d : int
        Number of inputs.
    """
    k = len(sigma)
    first = k * (d + 1)
    # of k vectors of coefficients followed by their intercepts, the indices of each vector with its own
    vectors = np.column_stack([np.arange(k * d).reshape(k, d), np.arange(k * d, first)])
    experts = covariance[vectors[:, :, None], vectors[:, None, :]]
    if k == 1:
        return Correction(sigma, dof, experts)
    dof = np.where(dof > GAUSSIAN, np.inf, dof)
    # the gate's vectors count only up to one that is added to all of them: take each about their mean
    about = np.eye(k) - 1.0 / k
    gate = first + vectors.ravel()
    C = covariance[np.ix_(gate, gate)].reshape(k, d + 1, k, d + 1)
    C = np.tensordot(about, C, axes=(1, 0))
    gates = np.stack([np.tensordot(about[i], C[i], axes=(0, 1)) for i in range(k)])
    return Correction(sigma, dof, experts, gates)
