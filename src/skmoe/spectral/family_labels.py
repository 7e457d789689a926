r"""Label transforms for any family: the functions of y of least variance that meet the paper's conditions.

Theorem 1 of the paper needs of P2 and P3 only the Hermite coefficients of
:math:`S_r(z) = E[P_r(Y) \mid Z = z]`, where :math:`Z \sim N(0, 1)` is the standardised index of an expert:

* Condition 1: :math:`E[S_3'] = E[S_3''] = 0`, and :math:`c_3 = E[S_3'''] \ne 0`;
* Condition 2: :math:`E[S_2'] = 0`, and :math:`c_2 = E[S_2''] \ne 0`.

Both are linear in P, since by Stein's identity :math:`E[S^{(m)}] = E[\mathrm{He}_m(Z)\, P(Y)] = E[h_m(Y)\, P(Y)]` with
:math:`h_m(y) = E[\mathrm{He}_m(Z) \mid Y = y]`. Among all functions of y that meet them the one of least variance is a
combination of :math:`h_0, \dots, h_r`. For linear experts with Gaussian noise it is the paper's own polynomial; for
counts it grows with a power of log y, where the factorial moments that solve the same conditions grow with a power of
y.

Outputs are taken in bins, so that the functions are steps: bounded, and their coefficients exact, since they need
only the distribution function at the edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from scipy import linalg
from scipy.special import eval_hermitenorm, ndtr

from skmoe.arrays.namespaces import Array, array_namespace, to_device
from skmoe.model.family import Family
from skmoe.spectral.labels import Transform, refusal

__all__ = ["StepTransform", "bin_edges", "bin_probabilities", "step_transform"]

TAIL = 8.5  # of the index, in standard deviations
FEWEST_NODES, MOST_NODES = 128, 8192  # of the trapezoidal rule over the index, doubled until it converges
SETTLED = 1e-11  # change of the coefficients of a bin at which it has converged
SCORES = np.linspace(-4.0, 4.0, 161)  # normal scores of the quantiles that bound the bins
EMPTY = 1e-14  # probability below which a bin holds no output
ZERO = 1e-9  # share of h_r outside the span of lower ones, below which it is in that span

FAILURES = {
    1: "E[S'(Z)] = 0 for every function of y",
    2: "every function of y with E[S2'(Z)] = 0 has E[S2''(Z)] = 0 too",
    3: "every function of y with E[S3'(Z)] = E[S3''(Z)] = 0 has E[S3'''(Z)] = 0 too",
}
"""Condition that fails where no transform of an order exists."""


@dataclass(frozen=True)
class StepTransform(Transform):
    """P1, P2 and P3 as step functions: values (3, bins) between edges (bins - 1,), each bin with its upper edge."""

    edges: np.ndarray
    values: np.ndarray
    hermite: np.ndarray

    def all(self, y: Array) -> Array:
        """Return P1(y), P2(y) and P3(y), (3, n)."""
        xp = array_namespace(y)
        bins = xp.searchsorted(to_device(self.edges, y), xp.astype(y, xp.float64, copy=False))
        return xp.take(to_device(self.values, y), bins, axis=1)


def bin_edges(y: np.ndarray) -> np.ndarray:
    """Return the edges between bins at quantiles of some outputs, equally spaced in normal scores."""
    found = np.unique(np.quantile(y, ndtr(SCORES), method="inverted_cdf"))
    return found[found < np.max(y)]


def bin_probabilities(
    family: Family, scale: float, edges: np.ndarray, length: float, offset: float, orders: int = 1
) -> np.ndarray:
    r"""Return coefficients :math:`E[\mathrm{He}_m(Z)\, 1\{Y \in \text{bin}\}]`, m below `orders`: (orders, bins).

    The predictor is offset + length Z. The first row holds the probabilities of the bins.
    """
    nodes, before = FEWEST_NODES, None
    while True:
        z, step = np.linspace(-TAIL, TAIL, nodes, retstep=True)
        weight = step * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
        below = family.cdf(edges[:, None], offset + length * z, np.asarray(scale))
        inside = np.diff(below, axis=0, prepend=0.0, append=1.0)
        found = np.stack([inside @ (weight * eval_hermitenorm(m, z)) for m in range(orders)])
        if before is not None and np.max(np.abs(found - before)) <= SETTLED:
            return found
        if nodes >= MOST_NODES:
            raise ValueError(
                f"family {family.name!r} with noise_scale={scale:g} is too sharp for label transforms: {MOST_NODES} "
                "points do not integrate its distribution function over the index; use a larger noise_scale"
            )
        nodes, before = 2 * nodes, found


def step_transform(
    family: Family, scale: float, edges: np.ndarray, length: float = 1.0, offset: float = 0.0
) -> StepTransform:
    r"""Return the step functions P1, P2, P3 of least variance that meet the paper's conditions.

    Parameters
    ----------
    family : Family
        Distribution of an expert's output.
    scale : float
        Its scale; not used by families without one.
    edges : (bins - 1,) array
        Edges between the bins, rising.
    length, offset : float
        The predictor is offset + length Z, Z standard Gaussian.

    Returns
    -------
    StepTransform
        With :math:`E[\mathrm{He}_r(Z)\, P_r(Y)] = r!` and lower coefficients of zero.

    Raises
    ------
    ValueError
        If no function of y meets a condition, naming it.
    """
    Q = bin_probabilities(family, scale, edges, length, offset, orders=6)
    kept = Q[0] > EMPTY
    root = np.sqrt(Q[0, kept])
    H = Q[:4, kept] / root  # h_m times the root of the probability: products of rows are expectations
    values = np.zeros((3, len(kept)))
    for r in (1, 2, 3):
        lower = linalg.orth(H[:r].T)
        rest = H[r] - lower @ (lower.T @ H[r])
        if rest @ rest <= ZERO * factorial(r):
            raise ValueError(_refusal(family, r, int(np.sum(kept))))
        values[r - 1, kept] = factorial(r) * rest / (rest @ H[r]) / root
    return StepTransform(edges, values, values @ Q.T)


def _refusal(family: Family, r: int, bins: int) -> str:
    why = FAILURES[r]
    if bins <= r:
        why += f": outputs of {bins} values leave {bins - 1} function{'s' * (bins != 2)} of y beside constants"
    condition = "Condition 1" if r == 3 else "Condition 2"
    return refusal(f"family {family.name!r}", condition, why, "skmoe.MoERegressor")
