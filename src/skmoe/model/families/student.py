r"""Robust experts: Student t noise about the predictor, so that outliers have little influence.

The noise is Gaussian with a latent variance in each row, and EM for these variances weights a row with standardised
residual s by :math:`w = (\nu + 1) / (\nu + s^2)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, to_device
from skmoe.model import student
from skmoe.model.family import Law
from skmoe.model.gaussian import NoiseFamily

__all__ = ["MOST_LEARNED", "StudentFamily"]

LEAST_DOF = 0.01  # with fewer, quantiles are no floating-point numbers
MOST_LEARNED = 100.0  # above, rows cannot distinguish it from a Gaussian


@dataclass(frozen=True)
class StudentLaw(Law):
    """Student t noise about the predictor at a block of rows."""

    dof: Any  # a number, or (k, 1)
    residual: Array
    scale: Array
    log_normaliser: Any = 0.0

    @cached_property
    def _squares(self) -> Array:
        """Squared standardised residuals."""
        return (self.residual / self.scale) ** 2

    @cached_property
    def _weight(self) -> Array:
        return (self.dof + 1) / (self.dof + self._squares)

    @property
    def log_density(self) -> Array:
        """Log density, less its constant where it is the same for all experts."""
        xp = array_namespace(self.residual)
        return self.log_normaliser - 0.5 * (self.dof + 1) * xp.log1p(self._squares / self.dof) - xp.log(self.scale)

    @cached_property
    def score(self) -> Array:
        """Weighted residual over squared scale."""
        return self.step_score / self.scale**2

    @property
    def curvature(self) -> Array:
        """Negative second derivative over the predictor, below zero for outliers."""
        return self._weight**2 * (self.dof - self._squares) / ((self.dof + 1) * self.scale**2)

    @cached_property
    def scale_score(self) -> Array:
        """Weighted squared standardised residual less one."""
        return self._weight * self._squares - 1

    @property
    def scale_curvature(self) -> Array:
        """Negative second derivative over the log scale."""
        return 2 * self._slope_factor * self._squares

    @property
    def cross_curvature(self) -> Array:
        """Negative mixed derivative."""
        return 2 * self._slope_factor * self.residual / self.scale**2

    @cached_property
    def _slope_factor(self) -> Array:
        return self._weight**2 * self.dof / (self.dof + 1)

    @cached_property
    def step_score(self) -> Array:
        """Weighted residual; the squared scale cancels in the M-step."""
        return self._weight * self.residual

    @property
    def step_weight(self) -> Array | None:
        """Weights of the rows."""
        return self._weight

    @property
    def scale_statistic(self) -> Array:
        """Weighted squared residual."""
        return self._weight * self.residual**2


@dataclass(frozen=True)
class StudentFamily(NoiseFamily):
    """Student t noise about the predictor.

    Parameters
    ----------
    dof : float
        Degrees of freedom, shared by all experts; the start where a fit learns them; not used where there are
        `expert_dof`.
    learned : bool
        Whether a fit learns them.
    per_expert : bool
        Whether a fit learns a number for each expert; `learned` must be true. The search has one number for all; from
        its optimum, which is `dof`, those of the experts are learned with all other parameters.
    expert_dof : tuple of float
        Degrees of freedom of each expert. Given to a fit they are in no order, as experts have none before it: the fit
        finds which expert has which. In `MoERegressor.family_` and `MoEParameters` they are those of the experts in
        turn.
    least_dof : float
        Fewest degrees of freedom that a fit learns. By the likelihood a few gross errors resemble noise without
        variance, and the fewer degrees of freedom, the less information the other rows carry about the coefficients.
        With 1 a fit may learn the tails of outputs that truly have no variance.
    """

    dof: float = 4.0
    learned: bool = False
    per_expert: bool = False
    expert_dof: tuple[float, ...] = ()
    least_dof: float = 3.0

    name = "student"
    location_scale = True
    most_scale_ratio = 20.0

    def __post_init__(self) -> None:
        if not isinstance(self.dof, Real) or not LEAST_DOF <= self.dof < np.inf:
            raise ValueError(f"dof must be a number of {LEAST_DOF} or more; got {self.dof!r}")
        if not isinstance(self.least_dof, Real) or not LEAST_DOF <= self.least_dof < MOST_LEARNED:
            raise ValueError(
                f"least_dof must be a number of {LEAST_DOF} or more, below {MOST_LEARNED:g}; got {self.least_dof!r}"
            )
        if self.per_expert and not self.learned:
            raise ValueError(
                "per_expert=True asks for degrees of freedom that are learned: set learned=True too, or leave "
                "per_expert out for one number that is given"
            )
        object.__setattr__(self, "expert_dof", tuple(float(dof) for dof in self.expert_dof))
        if not all(LEAST_DOF <= dof < np.inf for dof in self.expert_dof):
            raise ValueError(f"expert_dof must be numbers of {LEAST_DOF} or more; got {self.expert_dof!r}")

    @property
    def noise_dof(self) -> Any:
        """Degrees of freedom of the noise: a number, or one for each expert."""
        return np.array(self.expert_dof) if self.expert_dof else self.dof

    @property
    def log_base(self) -> float:  # type: ignore[override]
        """Log density of the standard distribution at zero, where it is the same for all experts."""
        return 0.0 if self.expert_dof else float(student.log_normaliser(1 / self.dof))

    def for_experts(self, experts: np.ndarray) -> StudentFamily:
        """Return the family of the given experts, in that order."""
        return replace(self, expert_dof=np.array(self.expert_dof)[experts]) if self.expert_dof else self

    @property
    def any_experts(self) -> StudentFamily:
        """Family with the number that all experts share."""
        return replace(self, expert_dof=())

    def at(self, y: Array, eta: Array, scale: Array) -> StudentLaw:
        """Return the `Law` at a block of rows."""
        if not self.expert_dof:
            return StudentLaw(self.dof, y - eta, scale)
        dof = self._column(eta)
        return StudentLaw(to_device(dof, eta), y - eta, scale, to_device(student.log_normaliser(1 / dof), eta))

    def _column(self, eta: Array) -> np.ndarray:
        """Return the degrees of freedom that broadcast against predictors (..., k, b)."""
        if not self.expert_dof:
            return np.array(self.dof)
        if eta.ndim < 2 or eta.shape[-2] != len(self.expert_dof):
            raise ValueError(
                f"expert_dof has {len(self.expert_dof)} degrees of freedom; predictors of shape {tuple(eta.shape)} are "
                "not of as many experts"
            )
        return np.array(self.expert_dof)[:, None]

    def start_scale(self, residual: np.ndarray) -> np.ndarray:
        """Return residual scales, reduced since outliers inflate them."""
        return 0.7 * residual

    def mean(self, eta: Array, scale: Array) -> Array:
        """Return the centre, which is the mean where it exists."""
        return eta

    def variance(self, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the variance of the noise, infinite for two degrees of freedom or fewer."""
        dof = self._column(np.asarray(eta))
        factor = np.where(dof > 2, dof / np.where(dof > 2, dof - 2, 1.0), np.inf)
        return np.broadcast_to(factor * scale**2, np.broadcast_shapes(np.shape(eta), np.shape(scale)))

    def cdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y."""
        return student.cdf((y - eta) / scale, self._column(np.asarray(eta)))

    def sample(self, eta: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw outputs."""
        return eta + scale * rng.standard_t(self._column(np.asarray(eta)), size=np.shape(eta))
