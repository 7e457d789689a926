r"""Reference laws: rows reweighted so that inputs follow a narrower standard Gaussian.

With weights :math:`w(x) = \phi(z) / f(z)`, f the input law in the coordinates z, rows follow N(0, I) in z whatever
the input law is. This has three advantages. Mixtures need no scores of their own. Where coordinates are isotropic about
the origin, :math:`a^\top x` has the same Gaussian law for every unit expert, which is what label transforms
assume. And under a reference narrower than the data the gate is flatter, so the bias that a gate not orthogonal to
the experts leaves in the moments falls with the square of the width, while heavy tails, where the noise of third
moments comes from, are weighted down. Where an isotropic reference would leave too few rows, see
`skmoe.spectral.scores.index_law`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import linalg, optimize
from scipy.special import logsumexp

from skmoe.arrays.namespaces import Array, array_namespace, columns, to_device
from skmoe.model.gate import log_sum_exp
from skmoe.spectral.scores.gaussian import Component, InputLaw, weighted_logs

__all__ = [
    "LEAST_EFFECTIVE",
    "Reference",
    "choose_reference",
    "effective_share",
    "largest_kept",
    "reference_in",
    "reference_width",
    "tempering",
    "whitened_along",
]

EFFECTIVE = 0.7
"""Effective share of the rows for which the width is chosen. Lower is better with little noise and many rows, worse
with much noise; 0.7 was best or near it in all settings tried."""
LEAST_EFFECTIVE = 0.4
"""Weights are tempered until the effective share of the rows is at least this."""
LEAST_TEMPER = 0.25
"""Below this power the isotropic reference is not used: rows would be far from following it."""


def reference_width(q: int) -> float:
    """Return the width of the reference, in standard deviations, that leaves the share `EFFECTIVE` of the rows."""
    return float(np.sqrt(1 - np.sqrt(1 - EFFECTIVE ** (2 / q))))


@dataclass(frozen=True)
class Reference:
    """Coordinates z = B (x - center), and the Gaussian components of the input law there.

    `index_std` and `index_mean` are the standard deviation and mean of a unit expert's index under the reference,
    `temper` the power of the weights. `common` is whether every unit expert's index has exactly that law.
    """

    B: np.ndarray
    center: np.ndarray
    index_std: float
    components: tuple[Component, ...]
    temper: float = 1.0
    index_mean: float = 0.0
    common: bool = False

    def coordinates(self, Z: Array) -> Array:
        """Return coordinates (q, b) of a block of inputs (d, b)."""
        return to_device(self.B, Z) @ Z - to_device(self.B @ self.center, Z)[:, None]

    def log_weights(self, z: Array) -> Array:
        """Return the log weights (b,) of a block in coordinates (q, b), before tempering."""
        return -0.5 * array_namespace(z).sum(z**2, axis=0) - log_sum_exp(weighted_logs(self.components, z))[0]

    def weights(self, z: Array) -> Array:
        """Return weights (b,), of mean about one unless tempered."""
        return array_namespace(z).exp(self.temper * self.log_weights(z))

    def experts(self, A: np.ndarray) -> np.ndarray:
        """Return unit experts over x from experts over z."""
        A = A @ self.B
        return A / np.linalg.norm(A, axis=1, keepdims=True)


def reference_in(law: InputLaw, B: np.ndarray, center: np.ndarray, index_std: float) -> Reference:
    """Return the reference that is standard Gaussian in the coordinates B (x - center)."""
    components = [
        Component(c.weight, B @ (c.mean - center), linalg.inv(linalg.cholesky(B @ c.covariance @ B.T, lower=True)))
        for c in law.components(B.shape[1])
    ]
    return Reference(B, center, index_std, tuple(components))


def choose_reference(
    law: InputLaw, U: np.ndarray, X_sample: np.ndarray, row_weight: np.ndarray | None = None
) -> Reference:
    """Return a reference inside the span of U (d, q), evaluated on a sample of rows.

    Isotropic about the origin where the law has enough rows, since there the label transforms hold exactly for unit
    experts; else in the law's whitened coordinates, where they hold on average.
    """
    d, q = U.shape
    width, projected = reference_width(q), U.T @ law.mean_and_covariance(d)[1] @ U
    std = width * np.sqrt(q / np.trace(linalg.inv(projected)))
    isotropic = reference_in(law, U.T / std, np.zeros(d), std)
    temper = tempering(isotropic, X_sample, row_weight)
    if temper >= LEAST_TEMPER:
        return replace(isotropic, temper=temper, common=temper == 1.0)
    std = width * np.sqrt(np.trace(projected) / q)
    B, mean = whitened_along(law, U)
    whitened = reference_in(law, B / width, mean, std)
    return replace(whitened, temper=tempering(whitened, X_sample, row_weight))


def effective_share(log_weights: np.ndarray, row_weight: np.ndarray | None, power: float = 1.0) -> float:
    """Return the share of the rows that weights leave, (sum w)^2 / (n sum w^2), at a power of them."""
    rows = len(log_weights) if row_weight is None else float(np.sum(row_weight))
    total, squares = (logsumexp(p * log_weights, b=row_weight) for p in (power, 2 * power))
    return float(np.exp(2 * total - squares) / rows)


def tempering(reference: Reference, X: np.ndarray, row_weight: np.ndarray | None) -> float:
    """Return the largest power, at most one, at which weights leave the share `LEAST_EFFECTIVE` of the rows."""
    log_weights = reference.log_weights(reference.coordinates(columns(X)))
    return largest_kept(partial(effective_share, log_weights, row_weight), xtol=1e-3)


def largest_kept(share: Callable[[float], float], xtol: float) -> float:
    """Return the largest u up to 1 at which a share of the rows is at least `LEAST_EFFECTIVE`, as it is at 0."""
    if share(1.0) >= LEAST_EFFECTIVE:
        return 1.0
    return float(optimize.brentq(lambda u: share(u) - LEAST_EFFECTIVE, 0.0, 1.0, xtol=xtol))


def whitened_along(law: InputLaw, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrix (q, d) that maps inputs less their mean to whitened ones along U (d, q), and the mean."""
    mean, covariance = law.mean_and_covariance(len(U))
    root = linalg.cholesky(U.T @ covariance @ U, lower=True)
    return linalg.solve_triangular(root, U.T, lower=True), mean
