r"""The model: a softmax gate over the inputs picks one of k noisy regressions (paper: equation 1).

.. math:: p(y \mid x) = \sum_{i=1}^k
    \frac{e^{w_i^\top x + c_i}}{\sum_j e^{w_j^\top x + c_j}}\; N(y \mid g(a_i^\top x + b_i), \sigma_i^2)

Methods of `MoEParameters` take rows ``X (n, d)`` as a caller has them and return ``(n, ...)`` in the caller's array
library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skmoe.arrays.blocks import block_rows_for, row_blocks
from skmoe.arrays.namespaces import Array, array_namespace, design, to_device, to_numpy
from skmoe.model.activations import ACTIVATIONS, Activation
from skmoe.model.channels import with_predictors
from skmoe.model.family import Family
from skmoe.model.gate import log_sum_exp
from skmoe.model.gaussian import as_family
from skmoe.model.posterior import posterior
from skmoe.model.quantiles import choose_components

__all__ = ["MoEParameters"]


@dataclass(frozen=True)
class MoEParameters:
    """Parameters of a mixture of k experts over d inputs, as small host arrays.

    Parameters
    ----------
    A : (k, d) array
        Expert coefficients; (k, m, d) for a family with m predictors, whose intercepts are (k, m).
    W : (k, d) array
        Gate coefficients.
    sigma : float or (k,) array
        Noise scales.
    b : (k,) array, default 0
        Expert intercepts.
    c : (k,) array, default 0
        Gate intercepts.
    family : Family, or the name of an activation, a callable or Activation
        Distribution of an expert's output; an activation stands for Gaussian noise about it.
    origin : (d,) array, optional
        Inputs at which `b` and `c` are intercepts, zero by default. Where a column lies far from zero relative to its
        standard deviation, sums of coefficients times inputs would lose digits without it.
    largest : (k,) array, optional
        Largest predictors of experts with a log link: predictions are bounded by them, since a line extrapolated
        beyond an expert's rows leads to any mean; see `skmoe.likelihood.largest`.
    offset : bool
        Whether the last input is added to every predictor, outside the bound `largest`.
    """

    A: np.ndarray
    W: np.ndarray
    sigma: Any
    b: Any = None
    c: Any = None
    family: Any = "linear"
    origin: Any = None
    largest: Any = None
    offset: bool = False

    def __post_init__(self) -> None:
        k = np.shape(self.A)[0]
        for name in ("A", "W"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))
        for name, shape in (("sigma", (k,)), ("b", self.A.shape[:-1]), ("c", (k,))):
            value = getattr(self, name)
            full = np.broadcast_to(0.0 if value is None else np.asarray(value, dtype=np.float64), shape).copy()
            object.__setattr__(self, name, full)
        object.__setattr__(self, "family", as_family(self.family))
        for name in ("origin", "largest"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, np.array(value, dtype=np.float64))

    @property
    def expert_coef(self) -> np.ndarray:
        """Expert coefficients (k, d)."""
        return self.A

    @property
    def expert_intercept(self) -> np.ndarray:
        """Expert intercepts (k,), at inputs of zero."""
        return self.b if self.origin is None else self.b - self.A @ self.origin

    @property
    def gate_coef(self) -> np.ndarray:
        """Gate coefficients (k, d), last row zero."""
        return self.W

    @property
    def gate_intercept(self) -> np.ndarray:
        """Gate intercepts (k,), at inputs of zero; the last one is zero."""
        return self.c if self.origin is None else self.c - self.W @ self.origin

    @property
    def noise_scale(self) -> np.ndarray:
        """Noise scales (k,)."""
        return self.sigma

    @property
    def g(self) -> Activation:
        """The experts' activation; the identity for families that have none."""
        return getattr(self.family, "g", ACTIVATIONS["linear"])

    @property
    def marginal(self) -> MoEParameters:
        """Parameters with the marginal family; see `Family.marginal`."""
        return self if self.family.marginal is self.family else replace(self, family=self.family.marginal)

    def permuted(self, order: Any) -> MoEParameters:
        """Return the model with experts in another order, and the gate relative to the new last one."""
        order = np.asarray(order)
        W, c = self.W[order], self.c[order]
        A, b, sigma = self.A[order], self.b[order], self.sigma[order]
        largest = None if self.largest is None else self.largest[order]
        family = self.family.for_experts(order)
        return replace(self, A=A, W=W - W[-1], sigma=sigma, b=b, c=c - c[-1], family=family, largest=largest)

    @property
    def with_offset(self) -> MoEParameters:
        """Model with one more input, the last, which is added to the predictor of every expert."""
        one, none = np.ones((*self.A.shape[:-1], 1)), np.zeros((len(self.W), 1))
        origin = None if self.origin is None else np.append(self.origin, 0.0)
        A, W = np.concatenate([self.A, one], axis=-1), np.concatenate([self.W, none], axis=-1)
        return replace(self, A=A, W=W, origin=origin, offset=True)

    def from_origin(self, X: Array) -> Array:
        """Return inputs (n, d) less the origin, which `b` and `c` are intercepts at."""
        if self.origin is None:
            return X
        xp = array_namespace(X)
        return xp.astype(X, xp.float64, copy=False) - to_device(self.origin, X)

    def _by_rows(self, kernel: Callable[..., Array], X: Array, y: Array | None = None) -> Array:
        xp = array_namespace(X)
        experts = self.A.reshape(self.b.size, self.A.shape[-1]), self.b.reshape(-1)  # there may be no columns
        A, W = (to_device(np.column_stack(m), X) for m in (experts, (self.W, self.c)))
        parts = [
            kernel(A, W, design(self.from_origin(x), True), t)
            for x, t in row_blocks(X, y, block_rows=block_rows_for(sum(self.A.shape)))
        ] or [kernel(A, W, design(self.from_origin(X), True), y)]  # without rows there is no block
        return parts[0] if len(parts) == 1 else xp.concat(parts, axis=0)

    def gate_proba(self, X: Array) -> Array:
        """Return the probability of each expert given the inputs, (n, k)."""
        return self._by_rows(lambda A, W, Z, y: log_sum_exp(W @ Z)[1].T, X)

    def predictors(self, X: Array) -> Array:
        """Return the linear predictor of each expert, (n, k), bounded as in predictions."""
        return self._by_rows(lambda A, W, Z, y: self._eta(A, Z).T, X)

    def _eta(self, A: Array, Z: Array) -> Array:
        """Return the predictors of a block, (k, b) or (k, m, b), bounded as in predictions."""
        eta, largest = with_predictors(A @ Z, (len(self.A),), self.family.predictors), self._largest(Z)
        return eta if largest is None else array_namespace(Z).minimum(eta, largest)

    def _largest(self, Z: Array) -> Array | None:
        """Return the largest predictors of a block, (k, 1), or (k, b) where inputs have an offset."""
        if self.largest is None:
            return None
        largest = to_device(self.largest[:, None], Z)
        return largest + Z[-2, :] if self.offset else largest

    def expert_proba(self, X: Array) -> Array:
        """Return the probability of each class by each expert, (n, k, C), for families of classes."""

        def kernel(A: Array, W: Array, Z: Array, y: Array | None) -> Array:
            P = self.family.probabilities(self._eta(A, Z))
            return array_namespace(P).permute_dims(P, (2, 0, 1))

        return self._by_rows(kernel, X)

    def predict_proba(self, X: Array) -> Array:
        """Return the probability of each class, the experts' weighted by the gate, (n, C), for families of classes."""

        def kernel(A: Array, W: Array, Z: Array, y: Array | None) -> Array:
            gate = log_sum_exp(W @ Z)[1][:, None, :]
            return array_namespace(Z).sum(gate * self.family.probabilities(self._eta(A, Z)), axis=0).T

        return self._by_rows(kernel, X)

    def expert_means(self, X: Array) -> Array:
        """Return the mean of the output by each expert, (n, k)."""
        return self._means_by(self.family, X)

    def centers(self, X: Array) -> Array:
        """Return the mean of the transformed response by each expert, (n, k)."""
        return self._means_by(self.family.base, X)

    def _means_by(self, family: Family, X: Array) -> Array:
        sigma = to_device(self.sigma[:, None], X)
        return self._by_rows(lambda A, W, Z, y: family.mean(self._eta(A, Z), sigma).T, X)

    def predict(self, X: Array) -> Array:
        """Return the mean of y given the inputs: the experts' predictions weighted by the gate, (n,)."""
        sigma = to_device(self.sigma[:, None], X)

        def kernel(A: Array, W: Array, Z: Array, y: Array | None) -> Array:
            return array_namespace(Z).sum(log_sum_exp(W @ Z)[1] * self.family.mean(self._eta(A, Z), sigma), axis=0)

        return self._by_rows(kernel, X)

    def log_density(self, X: Array, y: Array) -> Array:
        """Return the log density of each row, (n,), by the predictive distribution."""
        sigma, family = to_device(self.sigma, X), self.family

        def kernel(A: Array, W: Array, Z: Array, t: Array) -> Array:
            found = posterior(
                A, W, sigma, family.base, Z, Z, family.transform_response(t), self._largest(Z)
            ).log_density
            return found if family.base is family else found + family.log_jacobian(t)

        return self._by_rows(kernel, X, y)

    def responsibilities(self, X: Array, y: Array) -> Array:
        """Return the probability of each expert given inputs and output by the likelihood, (n, k)."""
        sigma, family = to_device(self.sigma, X), self.family

        def kernel(A: Array, W: Array, Z: Array, t: Array) -> Array:
            return posterior(A, W, sigma, family.base, Z, Z, family.transform_response(t)).R.T

        return self._by_rows(kernel, X, y)

    def sample(self, X: Array, rng: np.random.Generator) -> tuple[Array, np.ndarray]:
        """Draw outputs for given inputs: y (n,) in the caller's library, and the expert of each row."""
        P = to_numpy(self.gate_proba(X))
        expert = choose_components(P, rng)
        eta = np.take_along_axis(to_numpy(self.predictors(X)), expert[:, None], axis=1)
        sampled = self.family.for_experts(expert).sample(eta, self.sigma[expert][:, None], rng)
        return to_device(sampled[:, 0], X), expert
