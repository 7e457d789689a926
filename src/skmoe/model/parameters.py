r"""The model: a softmax gate over the inputs picks one of k noisy regressions (paper: eq. kmoe).

.. math:: p(y \mid x) = \sum_{i=1}^k
    \frac{e^{w_i^\top x + c_i}}{\sum_j e^{w_j^\top x + c_j}}\; N(y \mid g(a_i^\top x + b_i), \sigma_i^2)

Kernels work on a block of rows laid out channels by rows: inputs ``Z (d, b)``, channels ``(k, b)``. Methods of
`MoEParameters` take rows ``X (n, d)`` as a caller has them and return ``(n, ...)`` in the caller's array library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skmoe.model.activations import Activation, get_activation
from skmoe.rows.arrays import Array, array_namespace, device, rows_last, to_device, to_numpy
from skmoe.rows.blocks import block_rows_for, row_blocks

__all__ = ["MoEParameters", "Posterior", "design", "posterior", "softmax"]

HALF_LOG_2PI = float(0.5 * np.log(2 * np.pi))


def design(X: Array, intercept: bool) -> Array:
    """Block of rows (b, d) as (d, b), or (d + 1, b) with a last channel of ones."""
    Z = rows_last(X)
    if not intercept:
        return Z
    xp = array_namespace(Z)
    return xp.concat([Z, xp.ones((1, Z.shape[1]), dtype=Z.dtype, device=device(Z))], axis=0)


def _log_sum_exp(L: Array) -> tuple[Array, Array]:
    """Log of the sum of exponentials over channels (b,), and the normalised exponentials (k, b)."""
    xp = array_namespace(L)
    top = xp.max(L, axis=0)
    E = xp.exp(L - top)
    total = xp.sum(E, axis=0)
    E /= total
    return top + xp.log(total), E


def softmax(L: Array) -> tuple[Array, Array]:
    """Softmax over channels of logits (k, b), and its log."""
    log_total, P = _log_sum_exp(L)
    return P, L - log_total


class Posterior(NamedTuple):
    """What one look at a block of rows tells: all (k, b) but the last, which is (b,)."""

    R: Array  # responsibilities, P(expert | x, y)
    P: Array  # gate, P(expert | x)
    log_P: Array
    eta: Array  # expert indices a_i.x
    residual: Array  # y - g(eta)
    log_density: Array


def posterior(A: Array, W: Array, sigma: Array, g: Activation, U: Array, V: Array, y: Array) -> Posterior:
    """Gate, responsibilities, residuals and log density of a block, by log-sum-exp.

    Parameters
    ----------
    A, W : (k, De), (k, Dg) arrays on the rows' device
    sigma : (k,) array
    U, V : (De, b), (Dg, b) inputs of the experts and of the gate, often the same array
    y : (b,)
    """
    xp = array_namespace(U)
    if U is V:  # one product is faster than two thin ones
        both = xp.concat([W, A], axis=0) @ U
        logits, eta = both[: W.shape[0], :], both[W.shape[0] :, :]
    else:
        logits, eta = W @ V, A @ U
    P, log_P = softmax(logits)
    residual = y - g(eta)
    log_joint = log_P - 0.5 * (residual / sigma[:, None]) ** 2
    log_joint -= xp.log(sigma)[:, None]
    log_density, R = _log_sum_exp(log_joint)
    return Posterior(R, P, log_P, eta, residual, log_density - HALF_LOG_2PI)


@dataclass(frozen=True)
class MoEParameters:
    """Parameters of a mixture of k experts over d inputs, as small host arrays.

    Parameters
    ----------
    A : (k, d), expert coefficients          b : (k,), expert intercepts, default 0
    W : (k, d), gate coefficients            c : (k,), gate intercepts, default 0
    sigma : float or (k,), noise scales
    g : activation
    """

    A: np.ndarray
    W: np.ndarray
    sigma: Any
    b: Any = None
    c: Any = None
    g: Any = "linear"

    def __post_init__(self) -> None:
        k = np.shape(self.A)[0]
        for name in ("A", "W"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))
        for name in ("sigma", "b", "c"):
            value = getattr(self, name)
            full = np.broadcast_to(0.0 if value is None else np.asarray(value, dtype=np.float64), (k,)).copy()
            object.__setattr__(self, name, full)
        object.__setattr__(self, "g", get_activation(self.g))

    @property
    def expert_coef(self) -> np.ndarray:
        """Expert coefficients (k, d)."""
        return self.A

    @property
    def expert_intercept(self) -> np.ndarray:
        """Expert intercepts (k,)."""
        return self.b

    @property
    def gate_coef(self) -> np.ndarray:
        """Gate coefficients (k, d), last row zero."""
        return self.W

    @property
    def gate_intercept(self) -> np.ndarray:
        """Gate intercepts (k,), last one zero."""
        return self.c

    @property
    def noise_scale(self) -> np.ndarray:
        """Noise scales (k,)."""
        return self.sigma

    @property
    def activation(self) -> Activation:
        """The experts' activation g."""
        return self.g

    def permuted(self, order: Any) -> MoEParameters:
        """The same model with experts in another order; the gate's last row is made zero again."""
        order = np.asarray(order)
        W, c = self.W[order], self.c[order]
        return MoEParameters(self.A[order], W - W[-1], self.sigma[order], b=self.b[order], c=c - c[-1], g=self.g)

    def _by_rows(self, kernel: Callable[..., Array], X: Array, y: Array | None = None) -> Array:
        xp = array_namespace(X)
        A, W = (to_device(np.column_stack(m), X) for m in ((self.A, self.b), (self.W, self.c)))
        sigma = to_device(self.sigma, X)
        parts = [
            kernel(A, W, sigma, design(x, True), t)
            for x, t in row_blocks(X, y, block_rows=block_rows_for(sum(self.A.shape)))
        ]
        return parts[0] if len(parts) == 1 else xp.concat(parts, axis=0)

    def gate_proba(self, X: Array) -> Array:
        """Probability of each expert given the inputs, (n, k)."""
        return self._by_rows(lambda A, W, s, Z, y: _log_sum_exp(W @ Z)[1].T, X)

    def expert_means(self, X: Array) -> Array:
        """What each expert predicts, (n, k)."""
        return self._by_rows(lambda A, W, s, Z, y: self.g(A @ Z).T, X)

    def predict(self, X: Array) -> Array:
        """Mean of y given the inputs: the experts' predictions weighted by the gate, (n,)."""

        def kernel(A: Array, W: Array, s: Array, Z: Array, y: Array) -> Array:
            return array_namespace(Z).sum(_log_sum_exp(W @ Z)[1] * self.g(A @ Z), axis=0)

        return self._by_rows(kernel, X)

    def log_density(self, X: Array, y: Array) -> Array:
        """Log density of each row, (n,)."""
        return self._by_rows(lambda A, W, s, Z, t: posterior(A, W, s, self.g, Z, Z, t).log_density, X, y)

    def responsibilities(self, X: Array, y: Array) -> Array:
        """Probability of each expert given inputs and output, (n, k)."""
        return self._by_rows(lambda A, W, s, Z, t: posterior(A, W, s, self.g, Z, Z, t).R.T, X, y)

    def sample(self, X: Array, rng: np.random.Generator) -> tuple[Array, np.ndarray]:
        """Draw outputs for given inputs: y (n,) in the caller's library, and which expert gave each row."""
        P = to_numpy(self.gate_proba(X))
        expert = np.minimum((rng.random((P.shape[0], 1)) > np.cumsum(P, axis=1)).sum(axis=1), P.shape[1] - 1)
        mean = np.take_along_axis(to_numpy(self.expert_means(X)), expert[:, None], axis=1)[:, 0]
        return to_device(mean + self.sigma[expert] * rng.standard_normal(len(mean)), X), expert
