r"""Mixtures of Gaussian and Student components, row by row: density, tails and quantiles, to any distance.

For each row, with components j of weight w, centre m, scale s and degrees of freedom nu,

.. math:: F(y) = \sum_j w_j\, T_{\nu_j}\big((y - m_j) / s_j\big)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp, ndtri, ndtri_exp

from skmoe.model import student

__all__ = ["LEAST_LOG", "Components"]

NEGLIGIBLE = 1e-12  # share of a tail below which a component is left out of the bounds of its quantile
STEPS = 200  # more halvings than a bracket has digits
UNDERFLOW = 1e-290
LEAST_LOG = float(np.log(student.LEAST_LEVEL))  # below which components have no quantiles of their own
OUTWARDS = 200  # doublings after which a quantile is beyond the range of doubles, and left there


@dataclass(frozen=True)
class Components:
    """Components of the distributions of n rows, on the host; outputs y are (n,), or (n, m) for several for each row.

    Parameters
    ----------
    weights, centers : (n, K) arrays
        Weights, which add up to one in each row, and centres of the components.
    scales : (n, K) or (K,) array
        Scales of the components.
    dof : (n, K) or (K,) array, optional
        Their degrees of freedom, infinite for a Gaussian; None where all are Gaussian.
    """

    weights: np.ndarray
    centers: np.ndarray
    scales: np.ndarray
    dof: np.ndarray | None = None

    def __post_init__(self) -> None:
        shape = np.shape(self.centers)
        dof = None if self.dof is None or np.all(np.isinf(self.dof)) else np.broadcast_to(self.dof, shape)
        object.__setattr__(self, "weights", np.broadcast_to(self.weights, shape))
        object.__setattr__(self, "scales", np.broadcast_to(self.scales, shape))
        object.__setattr__(self, "dof", dof)

    def __len__(self) -> int:
        return self.centers.shape[0]

    def take(self, rows: Any) -> Self:
        """Return the distributions of some rows, by index, mask or slice."""
        dof = None if self.dof is None else self.dof[rows]
        return replace(self, weights=self.weights[rows], centers=self.centers[rows], scales=self.scales[rows], dof=dof)

    def mean(self) -> np.ndarray:
        """Return the mean of the mixture, (n,)."""
        return np.sum(self.weights * self.centers, axis=1)

    def _components(self, y: np.ndarray) -> tuple[Any, ...]:
        """Return weights, scales, degrees of freedom, and outputs standardised by each component, along a last axis."""
        arrays: tuple[Any, ...] = (self.weights, self.centers, self.scales, self.dof)
        if y.ndim == 2:
            arrays = tuple(None if a is None else a[:, None, :] for a in arrays)
        weights, centers, scales, dof = arrays
        return weights, scales, dof, (y[..., None] - centers) / scales

    def raw_logpdf(self, y: np.ndarray) -> np.ndarray:
        """Return the log density of the mixture at y."""
        weights, scales, dof, s = self._components(y)
        terms = student.log_density(s, dof)
        with np.errstate(divide="ignore"):
            terms = terms + np.log(weights / scales)
        top = np.max(terms, axis=-1)
        return top + np.log(np.sum(np.exp(terms - top[..., None]), axis=-1))

    def tail(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the probability of a tail of the mixture at y, and whether it is the upper one.

        It is the tail away from the mean, or the other one where that holds nearly all: in either case its complement
        has all its digits.
        """
        weights, _, dof, s = self._components(y)
        mean = self.mean()
        upper = y > (mean if y.ndim == 1 else mean[:, None])
        tail = np.sum(weights * student.cdf(np.where(upper[..., None], -s, s), dof), axis=-1)
        for_other = tail > 0.9
        if np.any(for_other):
            upper = upper ^ for_other
            where = np.nonzero(for_other)
            weights, _, dof, s = self.take(where[0])._components(y[where])
            tail[where] = np.sum(weights * student.cdf(np.where(upper[where][:, None], -s, s), dof), axis=-1)
        return np.minimum(tail, 1), upper  # weights add up to one but for roundoff

    def normal_scores(self, y: np.ndarray) -> np.ndarray:
        """Return normal scores of y: standard Gaussian where the mixture is right; finite for finite y."""
        tail, upper = self.tail(y)
        z = ndtri(np.maximum(tail, UNDERFLOW))
        far = tail < UNDERFLOW
        if np.any(far):
            where = np.nonzero(far)
            z[where] = ndtri_exp(self.take(where[0])._log_below(y[where], np.where(upper[where], -1.0, 1.0)))
        return np.where(upper, -z, z)

    def _log_below(self, y: np.ndarray, sign: np.ndarray) -> np.ndarray:
        """Return the log probability below y, or above where `sign` is negative, however small."""
        weights, _, dof, s = self._components(y)
        with np.errstate(divide="ignore"):
            return logsumexp(np.log(weights) + student.log_cdf(sign[:, None] * s, dof), axis=-1)

    def at_log_tail(self, log_p: np.ndarray, sign: np.ndarray) -> np.ndarray:
        """Return outputs of tail probability exp(log_p), upper where `sign` is negative, by safeguarded Newton."""
        q = np.where(np.isinf(log_p), -np.inf, np.nan)
        rows = np.nonzero(~np.isinf(log_p))[0]
        # in terms of lower tails: an upper one is that of the mirrored distribution
        taken, log_p = self.take(rows), log_p[rows]
        mixture = Components(taken.weights, sign[rows, None] * taken.centers, taken.scales, taken.dof)
        low, high = mixture._bracket(log_p)
        q[rows] = middle = 0.5 * (low + high)
        before = np.full(len(rows), np.inf)
        for _ in range(STEPS):
            excess, step = mixture._newton(middle, log_p)
            low, high = np.where(excess < 0, middle, low), np.where(excess < 0, high, middle)
            new = middle - step
            # between far modes the density is nearly zero and Newton steps are short: the bracket is halved there
            good = (new > low) & (new < high) & (np.abs(excess) < 0.5 * before)
            before = np.abs(excess)
            new = np.where(good, new, 0.5 * (low + high))
            new = np.where(before > 1e-14, new, middle)
            active = np.abs(new - middle) > 1e-13 * (np.abs(middle) + np.min(mixture.scales, axis=1))
            q[rows], middle = new, new
            if not np.any(active):
                break
            if np.mean(active) < 0.8:
                mixture, rows = mixture.take(active), rows[active]
                low, high, middle, before, log_p = (a[active] for a in (low, high, middle, before, log_p))
        return sign * q

    def _newton(self, q: np.ndarray, log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log of the probability below q over the one wanted, and the Newton step towards zero."""
        weights, scales, dof, s = self._components(q)
        below = np.sum(weights * student.cdf(s, dof), axis=1)
        density = np.sum(weights * np.exp(student.log_density(s, dof)) / scales, axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            excess, ratio = np.log(below) - log_p, below / density
            far = below < UNDERFLOW
            if np.any(far):
                distant = self.take(far)
                log_below = distant._log_below(q[far], np.ones(int(np.sum(far))))
                excess[far], ratio[far] = log_below - log_p[far], np.exp(log_below - distant.raw_logpdf(q[far]))
            return excess, excess * ratio

    def _bracket(self, log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of a quantile: the least and the largest of the components' quantiles."""
        used = self.weights > NEGLIGIBLE * np.exp(log_p)[:, None]
        if self.dof is None:
            s = ndtri_exp(log_p)[:, None]
        else:
            s = student.quantile(np.exp(np.maximum(log_p, LEAST_LOG))[:, None], self.dof)
        ends = self.centers + self.scales * s
        low, high = np.min(np.where(used, ends, np.inf), axis=1), np.max(np.where(used, ends, -np.inf), axis=1)
        # beyond the quantiles that SciPy finds: growing steps outwards
        step = np.abs(low) + np.max(np.where(used, self.scales, 0.0), axis=1)
        for _ in range(OUTWARDS if self.dof is not None else 0):
            short = (log_p < LEAST_LOG) & (self._newton(low, log_p)[0] > 0)
            if not np.any(short):
                break
            low, step = np.where(short, low - step, low), 2 * step
        return low, high
