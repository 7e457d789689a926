r"""Predictive laws of a block of rows: mixtures of Gaussian and Student components, with corrected levels.

For each row, with components j of weight w, centre m, scale s and degrees of freedom nu,

.. math:: F(y) = \sum_j w_j\, T_{\nu_j}\big((y - m_j) / s_j\big)

and a `Calibration`, where there is one, takes F to the law that is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri, ndtri_exp

from skmoe.model import regions, student
from skmoe.model.calibration import Calibration

__all__ = ["Mixture"]

NEGLIGIBLE = 1e-12  # share of a tail below which a component has no say in where its quantile can be
STEPS = 200  # a bracket is halved to nothing by then
UNDERFLOW = 1e-290
LEAST_LOG = float(np.log(student.LEAST_LEVEL))  # below which components have no quantiles of their own
OUTWARDS = 200  # doublings after which a quantile is beyond the range of doubles, and left there
WORK = 2**22  # values of the largest temporary
LAST_LEVEL = 1e-6  # level from which on `std` takes outputs to be as far out as the quantile
NODES = np.array([-4.5, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4.5])  # where a component's shape shows
MOST_NODES = 512
LEAST_OUTSIDE = float(np.log(1e-12))


@dataclass(frozen=True)
class Mixture:
    """Predictive laws of n rows, on the host.

    Outputs y are (n,), one for each row, or (n, m), several for each; results have their shape.

    Parameters
    ----------
    weights, centers : (n, K) arrays
        Weights, which add up to one in each row, and centres of the components.
    scales : (n, K) or (K,) array
        Scales of the components.
    dof : (n, K) or (K,) array, optional
        Their degrees of freedom, infinite for a Gaussian; None where all are Gaussian.
    calibration : Calibration, optional
        Correction of levels.
    """

    weights: np.ndarray
    centers: np.ndarray
    scales: np.ndarray
    dof: np.ndarray | None = None
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        shape = np.shape(self.centers)
        dof = None if self.dof is None or np.all(np.isinf(self.dof)) else np.broadcast_to(self.dof, shape)
        object.__setattr__(self, "weights", np.broadcast_to(self.weights, shape))
        object.__setattr__(self, "scales", np.broadcast_to(self.scales, shape))
        object.__setattr__(self, "dof", dof)

    def __len__(self) -> int:
        return self.centers.shape[0]

    def take(self, rows: Any) -> Mixture:
        """The laws of some rows, by index, mask or slice."""
        dof = None if self.dof is None else self.dof[rows]
        return Mixture(self.weights[rows], self.centers[rows], self.scales[rows], dof, self.calibration)

    def _small_parts(self, lost: float) -> Iterator[Mixture]:
        """The laws in blocks of rows so small that all components at all `_nodes` of each row fit into memory.

        Components that hold a share of at most `lost` together are left out.
        """
        size = max(1, WORK // (MOST_NODES * self.centers.shape[1]))
        for start in range(0, len(self), size):
            yield self.take(slice(start, start + size))._without_light(lost)

    def _without_light(self, lost: float) -> Mixture:
        order = np.argsort(-self.weights, axis=1)
        rest = 1 - np.cumsum(np.take_along_axis(self.weights, order, axis=1), axis=1)
        order = order[:, : 1 + int(np.max(np.sum(rest > lost, axis=1)))]
        weights, centers, scales = (
            np.take_along_axis(a, order, axis=1) for a in (self.weights, self.centers, self.scales)
        )
        dof = None if self.dof is None else np.take_along_axis(self.dof, order, axis=1)
        return Mixture(weights / np.sum(weights, axis=1, keepdims=True), centers, scales, dof, self.calibration)

    # -- density and probability --------------------------------------------------------------------------------------

    def _components(self, y: np.ndarray) -> tuple[Any, ...]:
        """Weights, scales, degrees of freedom, and outputs standardised by each component, along a last axis."""
        arrays: tuple[Any, ...] = (self.weights, self.centers, self.scales, self.dof)
        if y.ndim == 2:
            arrays = tuple(None if a is None else a[:, None, :] for a in arrays)
        weights, centers, scales, dof = arrays
        return weights, scales, dof, (y[..., None] - centers) / scales

    def _raw_logpdf(self, y: np.ndarray) -> np.ndarray:
        weights, scales, dof, s = self._components(y)
        terms = student.log_density(s, dof)
        with np.errstate(divide="ignore"):
            terms = terms + np.log(weights / scales)
        top = np.max(terms, axis=-1)
        return top + np.log(np.sum(np.exp(terms - top[..., None]), axis=-1))

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        """Log density at y."""
        raw = self._raw_logpdf(y)
        return raw if self.calibration is None else raw + self.calibration.log_slope(self.normal_scores(y))

    def pdf(self, y: np.ndarray) -> np.ndarray:
        """Density at y."""
        return np.exp(self.logpdf(y))

    def _tail(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probability of a tail at y before calibration, and whether it is the upper one.

        It is the tail away from the mean, or the other one where that holds nearly all: in either case one less it has
        all its digits.
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

    def cdf(self, y: np.ndarray) -> np.ndarray:
        """Probability of an output of at most y: uniform over new rows where the law is right (PIT)."""
        if self.calibration is not None:
            return self.calibration.levels(self.normal_scores(y))
        tail, upper = self._tail(y)
        return np.where(upper, 1 - tail, tail)

    def normal_scores(self, y: np.ndarray) -> np.ndarray:
        """Normal scores of y before calibration: standard Gaussian where the mixture is right; finite for finite y."""
        tail, upper = self._tail(y)
        z = ndtri(np.maximum(tail, UNDERFLOW))
        far = tail < UNDERFLOW
        if np.any(far):
            where = np.nonzero(far)
            z[where] = ndtri_exp(self.take(where[0])._log_below(y[where], np.where(upper[where], -1.0, 1.0)))
        return np.where(upper, -z, z)

    def standard_scores(self, y: np.ndarray) -> np.ndarray:
        """Scores of y that have the calibration's standard law where it is right: Student, or Gaussian without one."""
        z = self.normal_scores(y)
        return z if self.calibration is None else self.calibration.standardised(z)

    def log_tails(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log of the probability below y and above y, finite for finite y."""
        s, dof = self.standard_scores(y), None if self.calibration is None else self.calibration.dof
        return student.log_cdf(s, dof), student.log_cdf(-s, dof)

    def _log_below(self, y: np.ndarray, sign: np.ndarray) -> np.ndarray:
        """Log probability below y, or above where `sign` is negative, however small."""
        weights, _, dof, s = self._components(y)
        with np.errstate(divide="ignore"):
            return logsumexp(np.log(weights) + student.log_cdf(sign[:, None] * s, dof), axis=-1)

    # -- moments ------------------------------------------------------------------------------------------------------

    def mean(self) -> np.ndarray:
        """Mean of the mixture, (n,): a calibration corrects levels and spread, and leaves the mean alone."""
        return np.sum(self.weights * self.centers, axis=1)

    def std(self) -> np.ndarray:
        """Root mean squared deviation from `mean`, (n,).

        Where a law is calibrated, or has Student components of 2 degrees of freedom or fewer, outputs beyond the
        quantiles of level 1e-6 on either side count as if they were at these quantiles, so that it is always finite.
        """
        if self.calibration is not None or (self.dof is not None and np.any(self.dof <= 2)):
            return np.concatenate([np.empty(0), *(part._winsorised_std() for part in self._small_parts(1e-9))])
        variance = self.scales**2
        if self.dof is not None:
            variance = variance / (1 - 2 / self.dof)
        return np.sqrt(np.sum(self.weights * (variance + (self.centers - self.mean()[:, None]) ** 2), axis=1))

    def _winsorised_std(self) -> np.ndarray:
        mean = self.mean()
        levels = np.geomspace(0.05, LAST_LEVEL, 7)
        nodes = np.column_stack([self._nodes(levels), mean])
        low, high = (np.minimum(nodes[:, -3], mean), np.maximum(nodes[:, -2], mean))
        nodes = np.sort(np.clip(nodes, low[:, None], high[:, None]), axis=1)
        return np.sqrt(regions.squared_deviation(self, nodes, mean))

    # -- quantiles ----------------------------------------------------------------------------------------------------

    def quantile(self, level: Any) -> np.ndarray:
        """Output that is not exceeded with probability `level`: (n,), or (n, m) for a list of m levels."""
        levels = np.asarray(level, dtype=np.float64)
        if levels.ndim > 1 or not np.all((levels >= 0) & (levels <= 1)):
            raise ValueError(f"levels must be between 0 and 1; got {level!r}")
        if levels.ndim == 0:
            return self._at_tail(np.minimum(levels, 1 - levels), upper=bool(levels > 0.5))
        columns = [self._at_tail(np.minimum(p, 1 - p), upper=bool(p > 0.5)) for p in levels]
        return np.stack(columns, axis=1) if columns else np.empty((len(self), 0))

    def interval(self, coverage: float) -> np.ndarray:
        """Bounds between which an output falls with probability `coverage`, tails of equal weight, (n, 2)."""
        return self.bounds((1 - coverage) / 2)

    def bounds(self, tail: float) -> np.ndarray:
        """Lower and upper bounds with probability `tail` outside on either side, (n, 2)."""
        return np.stack([self._at_tail(tail, upper=False), self._at_tail(tail, upper=True)], axis=1)

    def central(self, score: float) -> np.ndarray:
        """Outputs whose standard scores are -score and score, (n, 2)."""
        return np.stack([self._at_score(sign * np.full(len(self), score)) for sign in (-1.0, 1.0)], axis=1)

    def _at_tail(self, tail: Any, *, upper: Any) -> np.ndarray:
        """Output below which, or above which, the probability is `tail`."""
        score = student.quantile(tail, None if self.calibration is None else self.calibration.dof)
        return self._at_score(np.broadcast_to(np.where(upper, -score, score), len(self)))

    def _at_score(self, score: np.ndarray) -> np.ndarray:
        """Output of each row with a given standard score."""
        z = score if self.calibration is None else self.calibration.normal(score)
        return self._at_log_tail(log_ndtr(-np.abs(z)), np.where(z > 0, -1.0, 1.0))

    def _at_log_tail(self, log_p: np.ndarray, sign: np.ndarray) -> np.ndarray:
        """Outputs whose probability below, or above where `sign` is negative, is exp(log_p), by safeguarded Newton."""
        q = np.where(np.isinf(log_p), -np.inf, np.nan)
        rows = np.nonzero(~np.isinf(log_p))[0]
        # all in terms of lower tails: an upper one is that of the mirrored law
        centers = sign[rows, None] * self.centers[rows]
        law, log_p = Mixture(self.weights[rows], centers, self.scales[rows], self._dof_of(rows)), log_p[rows]
        low, high = law._bracket(log_p)
        q[rows] = middle = 0.5 * (low + high)
        before = np.full(len(rows), np.inf)
        for _ in range(STEPS):
            excess, step = law._newton(middle, log_p)
            low, high = np.where(excess < 0, middle, low), np.where(excess < 0, high, middle)
            new = middle - step
            # between far modes the density all but vanishes and Newton crawls: halve the bracket there
            good = (new > low) & (new < high) & (np.abs(excess) < 0.5 * before)
            before = np.abs(excess)
            new = np.where(good, new, 0.5 * (low + high))
            new = np.where(before > 1e-14, new, middle)
            active = np.abs(new - middle) > 1e-13 * (np.abs(middle) + np.min(law.scales, axis=1))
            q[rows], middle = new, new
            if not np.any(active):
                break
            if np.mean(active) < 0.8:
                law, rows = law.take(active), rows[active]
                low, high, middle, before, log_p = (a[active] for a in (low, high, middle, before, log_p))
        return sign * q

    def _dof_of(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.dof is None else self.dof[rows]

    def _newton(self, q: np.ndarray, log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log of the probability below q over the one asked for, and the Newton step that would make it zero."""
        weights, scales, dof, s = self._components(q)
        below = np.sum(weights * student.cdf(s, dof), axis=1)
        density = np.sum(weights * np.exp(student.log_density(s, dof)) / scales, axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            excess, ratio = np.log(below) - log_p, below / density
            far = below < UNDERFLOW
            if np.any(far):
                part = self.take(far)
                log_below = part._log_below(q[far], np.ones(int(np.sum(far))))
                excess[far], ratio[far] = log_below - log_p[far], np.exp(log_below - part._raw_logpdf(q[far]))
            return excess, excess * ratio

    def _bracket(self, log_p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of a quantile: below every component's own no mass is missing, above every one it is all there."""
        used = self.weights > NEGLIGIBLE * np.exp(log_p)[:, None]
        if self.dof is None:
            s = ndtri_exp(log_p)[:, None]
        else:
            s = student.quantile(np.exp(np.maximum(log_p, LEAST_LOG))[:, None], self.dof)
        ends = self.centers + self.scales * s
        low, high = np.min(np.where(used, ends, np.inf), axis=1), np.max(np.where(used, ends, -np.inf), axis=1)
        # further out than a component's quantile can be had: go out in growing steps
        step = np.abs(low) + np.max(np.where(used, self.scales, 0.0), axis=1)
        for _ in range(OUTWARDS if self.dof is not None else 0):
            short = (log_p < LEAST_LOG) & (self._newton(low, log_p)[0] > 0)
            if not np.any(short):
                break
            low, step = np.where(short, low - step, low), 2 * step
        return low, high

    # -- smallest sets ------------------------------------------------------------------------------------------------

    def _nodes(self, levels: Any) -> np.ndarray:
        """Outputs between which the density changes little, or in one direction; last the bounds of the last level."""
        near = (self.centers[:, :, None] + self.scales[:, :, None] * NODES).reshape(len(self), -1)
        if near.shape[1] > MOST_NODES:  # many components overlap, and a part of their nodes shows the same
            chosen = np.linspace(0, near.shape[1] - 1, MOST_NODES - self.centers.shape[1]).astype(np.intp)
            near = np.column_stack([np.sort(near, axis=1)[:, chosen], self.centers])
        return np.column_stack([near, *(self.bounds(level) for level in levels)])

    def region(self, coverage: float) -> list[np.ndarray]:
        """Smallest set of probability `coverage` for each row, as intervals (m, 2) in ascending order."""
        return self.sets(float(np.log1p(-coverage)))

    def sets(self, log_outside: float) -> list[np.ndarray]:
        """Smallest sets, as intervals (m, 2) in ascending order, by the log of the probability outside.

        Where levels are calibrated, sets that would leave less than 1e-12 out are the whole line: that far out the
        density has too few digits to find where they end.
        """
        if log_outside == -np.inf or (self.calibration is not None and log_outside < LEAST_OUTSIDE):
            return [np.array([[-np.inf, np.inf]]) for _ in range(len(self))]
        levels = np.exp(max(log_outside, LEAST_LOG)) * np.array([0.5, 0.1])
        found: list[np.ndarray] = []
        for part in self._small_parts(1e-6 * float(levels[0])):
            found += regions.smallest_sets(part, part._nodes(levels), log_outside)
        return found

    def log_less_likely(self, y: np.ndarray) -> np.ndarray:
        """Log probability of an output of lower density than y, (n,): outside the smallest set that holds y."""
        parts, start = [np.empty(0)], 0
        for part in self._small_parts(1e-12):
            t = y[start : start + len(part)]
            parts.append(regions.log_less_likely(part, np.column_stack([part._nodes([0.05, 1e-3]), t]), t))
            start += len(part)
        return np.concatenate(parts)

    # -- drawing ------------------------------------------------------------------------------------------------------

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """Draw an output for each row, (n,)."""
        if self.calibration is not None:
            return self._at_score(student.draw(rng, np.full(len(self), self.calibration.dof)))
        n, K = self.centers.shape
        chosen = np.minimum((rng.random((n, 1)) > np.cumsum(self.weights, axis=1)).sum(axis=1), K - 1)
        rows = np.arange(n)
        noise = rng.standard_normal(n) if self.dof is None else student.draw(rng, self.dof[rows, chosen])
        return self.centers[rows, chosen] + self.scales[rows, chosen] * noise
