r"""The experts' outputs in Algorithm 1: label transforms for the law of an index, and the scale of the noise.

`ActivationOutputs` are the paper's, Gaussian noise about an activation; `FamilyOutputs` those of any other family.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import optimize

from skmoe.arrays.namespaces import Array, array_namespace, to_device
from skmoe.model.activations import Activation
from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily
from skmoe.spectral.family_labels import bin_edges, bin_probabilities, step_transform
from skmoe.spectral.labels import Transform, activation_moments, label_transform, of_index

__all__ = [
    "ActivationOutputs",
    "FamilyOutputs",
    "IndexLaw",
    "Outputs",
    "check_one_number",
    "outputs_of",
]

SCALES = (1e-2, 1e1)  # range of a scale that is estimated


class IndexLaw(NamedTuple):
    """The law of a unit expert's index: Gaussian, or a share of a mixture of such."""

    std: float = 1.0
    mean: float = 0.0
    share: float = 1.0


MeanOf = Callable[[Callable[[Array], Array]], np.ndarray]  # mean over rows of a function (m, b) of outputs (b,)


@dataclass(frozen=True)
class ActivationOutputs:
    """Gaussian noise about an activation of the index: the paper's quadratic and cubic."""

    g: Activation

    def transform(self, noise: float, index: IndexLaw) -> Transform:
        """Return label transforms for an index of that law."""
        return label_transform(of_index(self.g, index.std, index.mean), noise)

    def noise(self, mean_of: MeanOf, indices: Sequence[IndexLaw]) -> float:
        """Return the noise scale from E[y^2] = E[g(u)^2] + sigma^2; at least a hundredth of the output's size."""
        mean_square = float(mean_of(lambda y: (y**2)[None, :])[0])
        explained = 0.0
        for std, mean, share in indices:
            explained += share * float(activation_moments(of_index(self.g, std, mean))[2, 0])
        return float(np.sqrt(max(mean_square - explained, 1e-4 * mean_square)))


@dataclass(frozen=True)
class FamilyOutputs:
    """Outputs of any family whose predictor is offset + length times the index: step functions of least variance."""

    family: Family
    edges: np.ndarray
    length: float = 1.0
    offset: float = 0.0

    def transform(self, noise: float, index: IndexLaw) -> Transform:
        """Return label transforms for an index of that law."""
        return step_transform(self.family, noise, self.edges, *self._predictor(index))

    def noise(self, mean_of: MeanOf, indices: Sequence[IndexLaw]) -> float:
        """Scale of maximum likelihood for the outputs alone, in bins: inputs enter by the law of the index only."""
        if not self.family.has_scale:
            return 1.0
        below = np.append(mean_of(lambda y: _below(y, self.edges)), 1.0)
        counts = np.diff(below, prepend=0.0)

        def loss(log_scale: float) -> float:
            scale = float(np.exp(log_scale))
            probabilities = sum(
                index.share * bin_probabilities(self.family, scale, self.edges, *self._predictor(index))[0]
                for index in indices
            )
            return -float(counts @ np.log(np.maximum(probabilities, np.finfo(float).tiny)))

        bounds = tuple(np.log(SCALES).tolist())
        return float(np.exp(optimize.minimize_scalar(loss, bounds=bounds, method="bounded").x))

    def _predictor(self, index: IndexLaw) -> tuple[float, float]:
        """Return the length and offset of the predictor as a function of the standardised index."""
        return self.length * index.std, self.offset + self.length * index.mean


Outputs = ActivationOutputs | FamilyOutputs
"""Outputs given the index of an expert: label transforms for its law, refused where there are none, and the scale."""


def _below(y: Array, edges: np.ndarray) -> Array:
    """Return indicators of outputs (b,) that are at most the edges (m,), (m, b)."""
    xp = array_namespace(y)
    return xp.astype(y <= to_device(edges, y)[:, None], xp.float64)


def outputs_of(family: Family, y: np.ndarray) -> Outputs:
    """Return the `Outputs` of a family, with bins at quantiles of some outputs y."""
    if isinstance(family, GaussianFamily):
        return ActivationOutputs(family.g)
    return FamilyOutputs(family, bin_edges(y))


def check_one_number(family: Family) -> None:
    """Refuse families whose outputs or predictors are several numbers."""
    if family.columns > 1 or family.predictors > 1 or family.base.parts > 1:
        raise ValueError(
            f"family {family.name!r} does not qualify for the moment method, which takes outputs of one number from "
            "experts of one predictor; fit it by likelihood instead (skmoe.MoERegressor, skmoe.MoEClassifier)"
        )
