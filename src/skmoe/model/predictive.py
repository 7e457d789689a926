r"""The predictive distribution of a fitted model, or of several whose densities are averaged.

A `PredictiveDistribution` gives the `Mixture` of each block of rows: the components of a member are its experts,
weighted by its gate. Corrections for small samples, where a member has them, widen the components by the uncertainty of
the experts' coefficients and shrink the gate towards equal weights by the uncertainty of its coefficients, with
x~ = (x, 1):

.. math:: s_i^2 = \hat\sigma_i^2 + g'(\eta_i)^2\, \tilde x^\top C_i \tilde x, \qquad
    \pi = \mathrm{softmax}\Big(\ell_i / \sqrt{1 + \pi v_i / 8}\Big), \quad v_i = \tilde x^\top C^g_i \tilde x
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from skmoe.arrays.blocks import block_rows_for, row_blocks
from skmoe.arrays.namespaces import Array, array_namespace, to_device, to_numpy
from skmoe.model.calibration import Calibration
from skmoe.model.exponentiated import Exponentiated
from skmoe.model.family import Family
from skmoe.model.family_mixture import FamilyMixture
from skmoe.model.mixture import Mixture
from skmoe.model.parameters import MoEParameters
from skmoe.model.unknown import UnknownScale

__all__ = ["Correction", "Mixture", "PredictiveDistribution", "RowDistributions"]

RowDistributions = Mixture | FamilyMixture | Exponentiated | UnknownScale
"""Predictive distributions of a block of rows."""


@dataclass(frozen=True)
class Correction:
    """Small-sample corrections of a member with k experts over d inputs, D = d + 1; each of them may be None.

    Parameters
    ----------
    scale : (k,) array, optional
        Noise scales in place of the member's, in the units of y.
    dof : (k,) array, optional
        Degrees of freedom of each expert's distribution.
    expert_covariance : (k, D, D) array, optional
        Covariance of each expert's coefficients and intercept at the member's origin, in the caller's units.
    gate_covariance : (k, D, D) array, optional
        Covariance of each expert's gate coefficients and intercept, centred over the experts.
    """

    scale: np.ndarray | None = None
    dof: np.ndarray | None = None
    expert_covariance: np.ndarray | None = None
    gate_covariance: np.ndarray | None = None


@dataclass(frozen=True)
class PredictiveDistribution:
    """Distribution of the output given the inputs.

    Parameters
    ----------
    members : tuple of MoEParameters
        Models whose densities are averaged, of one family; one for a model by itself.
    member_weights : (m,) array
        Their weights, which add up to one.
    calibration : Calibration, optional
        Correction of levels.
    corrections : tuple of Correction or None, optional
        Small-sample corrections of each member; empty for none.
    unknown : bool
        Whether no degrees of freedom are left to estimate the noise.
    """

    members: tuple[MoEParameters, ...]
    member_weights: np.ndarray
    calibration: Calibration | None = None
    corrections: tuple[Correction | None, ...] = ()
    unknown: bool = False

    @classmethod
    def of(cls, parameters: MoEParameters) -> PredictiveDistribution:
        """Return the distribution of one model, without corrections."""
        return cls((parameters,), np.ones(1))

    @property
    def _corrections(self) -> tuple[Correction | None, ...]:
        return self.corrections or (None,) * len(self.members)

    @property
    def plain(self) -> bool:
        """Return whether densities are those of the members, neither calibrated nor corrected."""
        return not self.unknown and self.calibration is None and all(c is None for c in self._corrections)

    @property
    def family(self) -> Family:
        """Family of the experts, which all members share."""
        return self.members[0].family

    def at(self, x: Array) -> RowDistributions:
        """Return the distributions of a block of rows, on the host."""
        if self.unknown:
            return UnknownScale(to_numpy(self.mean(x)), self.family.lowest, self.family.highest)
        if self.family.base.noise_dof is None:
            gates = [w * to_numpy(m.gate_proba(x)) for w, m in zip(self.member_weights, self.members, strict=True)]
            eta = [to_numpy(m.predictors(x)) for m in self.members]
            sigma = np.concatenate([m.sigma for m in self.members])
            return FamilyMixture(self.family, np.concatenate(gates, axis=1), np.concatenate(eta, axis=1), sigma)
        mixture = self._noise_mixture(x)
        return mixture if self.family.base is self.family else Exponentiated(mixture)

    def _noise_mixture(self, x: Array) -> Mixture:
        """Return the distributions of transformed responses that are a centre plus noise."""
        components = [
            _components(member, correction, x)
            for member, correction in zip(self.members, self._corrections, strict=True)
        ]
        weights = [weight * c[0] for weight, c in zip(self.member_weights, components, strict=True)]
        centers, scales = (np.concatenate([c[i] for c in components], axis=1) for i in (1, 2))
        dof = np.concatenate([c[3] for c in components])
        return Mixture(np.concatenate(weights, axis=1), centers, scales, dof, self.calibration)

    def by_blocks(
        self, function: Callable[..., np.ndarray | list[np.ndarray]], X: Array, y: Array | None = None
    ) -> list[Any]:
        """Evaluate a function of the mixtures, and outputs if any, of blocks of rows that fit into memory."""
        components = sum(len(member.A) for member in self.members)
        found = []
        for x, t in row_blocks(X, y, block_rows=block_rows_for(8 * components)):
            given = () if t is None else (np.asarray(to_numpy(t), dtype=np.float64),)
            found.append(function(self.at(x), *given))
        return found

    def evaluate(
        self, function: Callable[..., np.ndarray | list[np.ndarray]], X: Array, y: Array | None = None
    ) -> Array:
        """Evaluate `by_blocks` a function that returns an array, in the library and on the device of the rows."""
        return to_device(np.concatenate(self.by_blocks(function, X, y)), X)

    def without_gate_uncertainty(self) -> PredictiveDistribution:
        """Return the distribution without the uncertainty of the gates."""
        return replace(self, corrections=tuple(c and replace(c, gate_covariance=None) for c in self._corrections))

    def with_gaussian_components(self) -> PredictiveDistribution:
        """Return the distribution with Gaussian components: heavy tails are left to the calibration."""
        return replace(self, corrections=tuple(c and replace(c, dof=None) for c in self._corrections))

    def mean(self, X: Array) -> Array:
        """Return the mean of the output by the members' gates and experts without corrections, (n,)."""
        xp = array_namespace(X)
        means = [w * member.predict(X) for w, member in zip(self.member_weights.tolist(), self.members, strict=True)]
        return means[0] if len(means) == 1 else xp.sum(xp.stack(means), axis=0)

    def log_density(self, X: Array, y: Array) -> Array:
        """Return the log density of outputs, (n,)."""
        if not self.plain:
            return self.evaluate(lambda d, t: d.logpdf(t), X, y)
        if len(self.members) == 1:
            return self.members[0].log_density(X, y)
        values = np.stack([to_numpy(member.log_density(X, y)) for member in self.members])
        return to_device(logsumexp(values, axis=0, b=self.member_weights[:, None]), X)

    def cdf(self, X: Array, y: Array) -> Array:
        """Return the probability of an output of at most y, (n,): uniform over rows if the distribution is right."""
        return self.evaluate(lambda d, t: d.cdf(t), X, y)

    def interval(self, X: Array, coverage: float) -> Array:
        """Return bounds between which an output falls with probability `coverage`, tails of equal weight, (n, 2)."""
        return self.evaluate(lambda d: d.interval(coverage), X)


def _components(
    member: MoEParameters, correction: Correction | None, x: Array
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return weights, centres, scales (n, k) and degrees of freedom (k,) of a member's experts at a block of rows."""
    k = len(member.A)
    centers = to_numpy(member.centers(x))
    if correction is None:
        scales = np.broadcast_to(member.sigma, centers.shape)
        return to_numpy(member.gate_proba(x)), centers, scales, np.broadcast_to(member.family.base.noise_dof, k)
    X = member.from_origin(np.asarray(to_numpy(x), dtype=np.float64))
    X = np.column_stack([X, np.ones(len(X))])
    scales = np.broadcast_to(member.sigma if correction.scale is None else correction.scale, centers.shape)
    if correction.expert_covariance is not None:
        slope = member.g.prime(X @ np.column_stack([member.A, member.b]).T)
        scales = np.sqrt(scales**2 + slope**2 * _forms(X, correction.expert_covariance))
    logits = X @ np.column_stack([member.W, member.c]).T
    logits = logits - np.mean(logits, axis=1, keepdims=True)
    if correction.gate_covariance is not None:
        logits = logits / np.sqrt(1 + np.pi / 8 * _forms(X, correction.gate_covariance))
    dof = np.full(k, np.inf) if correction.dof is None else np.asarray(correction.dof, dtype=np.float64)
    return softmax(logits, axis=1), centers, scales, dof


def _forms(X: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Return the quadratic forms x' C_i x, (n, k)."""
    return np.stack([np.sum((X @ C) * X, axis=1) for C in covariances], axis=1)
