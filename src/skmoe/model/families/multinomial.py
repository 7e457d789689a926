r"""Classes: the log odds of each class against the first are the predictors of an expert.

With classes :math:`0, \dots, C - 1` an expert has :math:`m = C - 1` predictors, and
:math:`p_c \propto e^{\eta_c}`, :math:`\eta_0 = 0`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, device
from skmoe.model.family import Family, Law

__all__ = ["MultinomialFamily"]


def _indicators(y: Array, classes: int) -> Array:
    """Return indicators of all classes but the first, (..., m, b)."""
    xp = array_namespace(y)
    numbers = xp.asarray(np.arange(1.0, classes), device=device(y))
    return xp.astype(y[..., None, :] == numbers[:, None], xp.float64)


def _probabilities(eta: Array) -> tuple[Array, Array]:
    """Return the probabilities of the classes but the first, (..., m, b), and the log of the sum over all, (..., b)."""
    xp = array_namespace(eta)
    top = xp.max(eta, axis=-2, keepdims=True)
    top = xp.where(top > 0, top, xp.zeros_like(top))
    E = xp.exp(eta - top)
    total = xp.sum(E, axis=-2, keepdims=True) + xp.exp(-top)
    return E / total, (top + xp.log(total))[..., 0, :]


@dataclass(frozen=True)
class MultinomialLaw(Law):
    """Classes at a block of rows; predictors are (..., k, m, b)."""

    indicators: Array
    eta: Array

    @cached_property
    def _probability(self) -> tuple[Array, Array]:
        return _probabilities(self.eta)

    @property
    def log_density(self) -> Array:
        """Log probability of the classes, (..., k, b)."""
        return array_namespace(self.eta).sum(self.indicators * self.eta, axis=-2) - self._probability[1]

    @cached_property
    def score(self) -> Array:
        """Indicator of a class less its probability, (..., k, m, b)."""
        return self.indicators - self._probability[0]

    @cached_property
    def curvature(self) -> Array:
        """Covariances of the choices, pairs of classes as in an upper triangle, (..., k, m (m + 1) / 2, b)."""
        p, xp = self._probability[0], array_namespace(self.eta)
        rows = []
        for c in range(p.shape[-2]):
            one = p[..., c : c + 1, :]
            rows.append(one * (1 - one))
            if c + 1 < p.shape[-2]:
                rows.append(-one * p[..., c + 1 :, :])
        return xp.concat(rows, axis=-2)

    @property
    def scale_statistic(self) -> Array:
        """Zeros, since there is no scale."""
        return array_namespace(self.eta).zeros_like(self.eta[..., 0, :])


@dataclass(frozen=True)
class MultinomialFamily(Family):
    """Classes 0, 1, ..., C - 1, three or more; log odds against class 0 are the predictors.

    Parameters
    ----------
    classes : int
        Their number C.
    """

    classes: int = 3

    name = "multinomial"
    discrete = True
    support = "numbers of classes, from 0 on"
    ratio = "odds ratio"
    most_coef = 30.0
    few_values = True

    @property
    def predictors(self) -> int:  # type: ignore[override]
        """One for each class but the first."""
        return self.classes - 1

    def at(self, y: Array, eta: Array, scale: Array) -> MultinomialLaw:
        """Return the `Law` at a block of rows."""
        return MultinomialLaw(_indicators(y, self.classes), eta)

    def start_response(self, y: Array) -> Array:
        """Return the first step of iterated least squares from even odds, (m, b)."""
        xp = array_namespace(y)
        return self.classes * (_indicators(y, self.classes) - xp.astype(y == 0, xp.float64))

    def impossible(self, y: Array) -> Array:
        """Return which outputs are no numbers of classes."""
        return (y < 0) | (y >= self.classes) | (y != array_namespace(y).floor(y))

    def mean(self, eta: Array, scale: Array) -> Array:
        """Return the mean number of the class, (..., b)."""
        xp, p = array_namespace(eta), _probabilities(eta)[0]
        return xp.sum(p * xp.asarray(np.arange(1.0, self.classes), device=device(eta))[:, None], axis=-2)

    def probabilities(self, eta: Array) -> Array:
        """Return the probabilities of all classes, (..., C, b), from predictors (..., m, b)."""
        p, log_total = _probabilities(eta)
        xp = array_namespace(eta)
        return xp.concat([xp.exp(-log_total)[..., None, :], p], axis=-2)
