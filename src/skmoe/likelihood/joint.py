r"""The joint likelihood of experts and gate over rows: each method of `JointLikelihood` is one pass.

Parameters are small host arrays, `Theta`; the design is the caller's table, mapped block by block, with a last channel
of ones where an intercept is fitted. Sums come back to the host divided by the total weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from skmoe.likelihood import curvature
from skmoe.likelihood.curvature import Curvature, weighted
from skmoe.model.activations import Activation, get_activation
from skmoe.model.gate import GateSums, gate_channels, gate_kernel, gate_sums
from skmoe.model.parameters import MoEParameters, Posterior, design, posterior, softmax
from skmoe.rows.arrays import Array, array_namespace, device, to_device, to_numpy
from skmoe.rows.blocks import Streamed, block_rows_for, sum_over_blocks, take_rows
from skmoe.rows.products import gram_channels, unpack_symmetric, weighted_grams

__all__ = ["Curvature", "JointLikelihood", "JointSums", "Settings", "Theta"]

MEMORY_DOUBLES = 2**20
"""A design of up to this size, 8 MiB, is held in memory; above, mapping it all takes as long as ten passes."""


@dataclass(frozen=True)
class Theta:
    """Experts A (k, De), gate W (k-1, Dg) without its zero row, noise scales sigma (k,)."""

    A: np.ndarray
    W: np.ndarray
    sigma: np.ndarray

    def moved(self, step: Theta, size: float) -> Theta:
        """Go part of the way to `step`; scales move geometrically, so that they stay positive."""
        return Theta(
            self.A + size * (step.A - self.A),
            self.W + size * (step.W - self.W),
            self.sigma * (step.sigma / self.sigma) ** size,
        )

    def distance(self, other: Theta) -> float:
        """Largest change of any entry."""
        parts = (self.A - other.A, self.W - other.W, self.sigma - other.sigma)
        return max((float(np.max(np.abs(p))) for p in parts if p.size), default=0.0)


@dataclass(frozen=True)
class Settings:
    """What is learned of the noise, and what keeps a fit off degenerate spikes.

    Parameters
    ----------
    noise : "shared", "per-expert", or a known scale
    noise_floor : float, optional
        Least noise scale, in units of y; by default a thousandth of the spread of y.
    gate_penalty : float
        Ridge on the gate, in total log-likelihood: ``penalty / 2`` times the squares of the gate's coefficients about
        their mean over experts, so that the order of experts does not matter. It is there for separable data only.
    min_share : float, optional
        Least share of the rows an expert may hold; by default that of 2 De rows, or half a percent.
    """

    noise: str | float = "shared"
    noise_floor: float | None = None
    gate_penalty: float = 1e-5
    min_share: float | None = None


@dataclass(frozen=True)
class JointSums:
    """Per-row means of what an EM step needs."""

    log_likelihood: float
    objective: float  # less the gate's penalty: what is maximised
    share: np.ndarray  # (k,) mean responsibility
    square: np.ndarray  # (k,) responsibility-weighted squared residual
    expert_gradient: np.ndarray  # (k, De), of the weighted least squares, R g' residual x
    expert_gram: np.ndarray  # (k, De, De), R g'^2 x x'
    gate: GateSums


class JointLikelihood:
    """Rows of data and the shape of the model to be fitted to them.

    Parameters
    ----------
    X : (n, d) array        y : (n,) array
    g : Activation
    k : int
    weight : (n,) array, optional
        Row weights.
    intercept : bool
        Whether experts and gate have an intercept, their last coefficient.
    center, transform : (d,), (d, r) arrays, optional
        Inputs are seen as ``z = (x - center) @ transform``, a block at a time; see `whitening_map`.
    output : (float, float)
        Outputs are seen as ``(y - level) / scale``.
    expert_columns, gate_columns : sequences of int, optional
        Columns of z that the experts and the gate see, by default all.
    settings : Settings, optional
    total, spread : float, optional
        Weight of all rows and standard deviation of the outputs as they are seen, where they are known.
    """

    def __init__(
        self,
        X: Array,
        y: Array,
        g: Activation,
        k: int,
        *,
        weight: Array | None = None,
        intercept: bool = False,
        center: np.ndarray | None = None,
        transform: np.ndarray | None = None,
        output: tuple[float, float] = (0.0, 1.0),
        expert_columns: Sequence[int] | None = None,
        gate_columns: Sequence[int] | None = None,
        settings: Settings | None = None,
        total: float | None = None,
        spread: float | None = None,
    ) -> None:
        self.X, self.y, self.weight, self.output = X, y, weight, output
        if weight is not None and not isinstance(weight, Streamed):
            xp = array_namespace(X)
            self.weight = xp.astype(weight, xp.float64, copy=False)
        self.g, self.k, self.intercept, self.settings = g, k, intercept, settings or Settings()
        self.same = expert_columns is None and gate_columns is None
        self.expert_columns, self.gate_columns = expert_columns, gate_columns
        self.n, d = X.shape
        self.center = np.zeros(d) if center is None else np.asarray(center, dtype=np.float64)
        self.transform = None if transform is None else np.asarray(transform, dtype=np.float64)
        self.mapped, self.designed = center is not None or transform is not None, False
        self.passes = 0
        self.total = self._total() if total is None else total
        self.spread = self._spread() if spread is None else spread
        width = d if self.transform is None else self.transform.shape[1]
        self.De, self.Dg = (
            (width if columns is None else len(columns)) + intercept for columns in (expert_columns, gate_columns)
        )
        self._resolve(self.settings)
        widest = max(self.De, self.Dg)
        self.block_rows = block_rows_for(max(gram_channels(widest, widest, X), widest + 6 * k))

    def _resolve(self, settings: Settings) -> None:
        """Fill in what the settings leave to the data."""
        k = self.k
        by_noise: dict[Any, list[slice]] = {
            "shared": [slice(0, k)],
            "per-expert": [slice(i, i + 1) for i in range(k)],
        }
        self.noise_groups = by_noise.get(settings.noise, [])  # experts that share a noise scale; none if it is known
        self.noise_floor = 1e-3 * self.spread if settings.noise_floor is None else settings.noise_floor
        default = min(max(2 * self.De / self.total, 0.005), 0.5 / k)
        self.min_share = default if settings.min_share is None else settings.min_share
        self.penalty = settings.gate_penalty / self.total

    def _total(self) -> float:
        return float(self.n if self.weight is None else array_namespace(self.weight).sum(self.weight))

    def _spread(self) -> float:
        """Standard deviation of the outputs, as they are seen."""
        xp = array_namespace(self.y)
        weight = xp.ones_like(self.y) if self.weight is None else self.weight
        mean = xp.sum(self.y * weight) / self.total
        return float(xp.sum((self.y - mean) ** 2 * weight) / self.total) ** 0.5 / self.output[1]

    # -- rows -------------------------------------------------------------------------------------------------------

    def _mapped(self, x: Array, intercept: bool) -> Array:
        """Block of rows as channels by rows, mapped."""
        if not self.mapped:
            return design(x, intercept)
        Z = design(x, False) - to_device(self.center, x)[:, None]
        if self.transform is not None:
            Z = to_device(self.transform.T, x) @ Z
        if not intercept:
            return Z
        xp = array_namespace(Z)
        return xp.concat([Z, xp.ones((1, Z.shape[1]), dtype=Z.dtype, device=device(Z))], axis=0)

    def _outputs(self, y: Array) -> Array:
        level, scale = self.output
        return y if self.output == (0.0, 1.0) else (y - level) / scale

    def _designs(self, x: Array) -> tuple[Array, Array]:
        """Lay out the inputs of experts (De, b) and gate (Dg, b): one array where they see the same columns."""
        if self.same:
            Z = design(x, False) if self.designed else self._mapped(x, self.intercept)
            return Z, Z
        Z = self._mapped(x, True)
        xp = array_namespace(Z)
        ones = [Z.shape[0] - 1] if self.intercept else []
        U, V = (
            xp.take(
                Z,
                xp.asarray([*(range(Z.shape[0] - 1) if columns is None else columns), *ones], device=device(Z)),
                axis=0,
            )
            for columns in (self.expert_columns, self.gate_columns)
        )
        return U, V

    def subset(self, rows: np.ndarray | None = None) -> JointLikelihood:
        """Restrict to some of the rows (all by default), their design held in memory."""
        part = copy(self)
        arrays = (self.X, self.y, self.weight)
        part.X, y, part.weight = arrays if rows is None else take_rows(arrays, rows)
        part.y, part.output = self._outputs(y), (0.0, 1.0)
        if self.same and not self.designed:
            part.X, part.designed = self._mapped(part.X, self.intercept).T, True
        part.n = part.X.shape[0]
        part.total = part._total()
        part.penalty = self.settings.gate_penalty / part.total
        if self.settings.min_share is None:
            part.min_share = min(max(2 * self.De / part.total, self.min_share), 0.5 / self.k)
        return part

    def in_memory(self) -> JointLikelihood:
        """Hold the design in memory, where it is small enough, so that it is not mapped at each pass."""
        large = isinstance(self.X, Streamed) or self.n * self.De > MEMORY_DOUBLES
        return self if large or self.designed or not self.same else self.subset()

    def sample(self, size: int, rng: np.random.Generator) -> JointLikelihood:
        """Draw a random subset of the rows that have weight."""
        able = self.n if self.weight is None else np.flatnonzero(to_numpy(self.weight) > 0)
        most = able if self.weight is None else len(able)
        return self.subset(np.sort(rng.choice(able, size=min(size, most), replace=False)))

    def with_experts(self, k: int) -> JointLikelihood:
        """Put another number of experts over the same rows."""
        other = copy(self)
        other.k, other.spread = k, self._spread()
        other._resolve(self.settings)
        return other

    def linearised(self, slope: float, level: float) -> JointLikelihood:
        """Put linear experts over the same rows for ``(y - level) / slope``: a first guess for nonlinear ones."""
        line = copy(self)
        line.g, line.y = get_activation("linear"), (self._outputs(self.y) - level) / slope
        line.output = (0.0, 1.0)
        return line

    def inputs(self) -> np.ndarray:
        """Return the mapped inputs that the gate sees, (n, Dg) on the host; for subsets, which are small."""
        return to_numpy(self._designs(self.X)[1]).T

    # -- parameters -------------------------------------------------------------------------------------------------

    @property
    def n_parameters(self) -> int:
        """Numbers to be learned."""
        return self.k * self.De + (self.k - 1) * self.Dg + len(self.noise_groups)

    def pack(self, theta: Theta) -> np.ndarray:
        """Parameters as one vector: experts, gate, logs of the noise scales that are learned."""
        noise = [np.log(theta.sigma[group.start]) for group in self.noise_groups]
        return np.concatenate([theta.A.ravel(), theta.W.ravel(), noise])

    def unpack(self, vector: np.ndarray, like: Theta) -> Theta:
        """Inverse of `pack`, noise scales held above their floor; known noise is taken from `like`."""
        a, w = self.k * self.De, (self.k - 1) * self.Dg
        sigma = like.sigma.copy()
        for group, log_noise in zip(self.noise_groups, vector[a + w :], strict=True):
            sigma[group] = max(np.exp(min(log_noise, 300.0)), self.noise_floor)
        return Theta(vector[:a].reshape(self.k, -1), vector[a : a + w].reshape(self.k - 1, self.Dg), sigma)

    def at_floor(self, theta: Theta) -> np.ndarray:
        """Which learned noise scales sit on their floor."""
        return np.array([theta.sigma[g.start] <= self.noise_floor * (1 + 1e-9) for g in self.noise_groups], dtype=bool)

    def to_parameters(self, theta: Theta) -> MoEParameters:
        """`theta` in the caller's units: all columns of X, intercepts, a gate with its zero row."""
        W = np.vstack([theta.W, np.zeros((1, self.Dg))])
        (A, b), (W, c) = (
            self._unmapped(M, cols) for M, cols in ((theta.A, self.expert_columns), (W, self.gate_columns))
        )
        return MoEParameters(A, W, theta.sigma, b=b, c=c, g=self.g)

    def _unmapped(self, M: np.ndarray, columns: Sequence[int] | None) -> tuple[np.ndarray, np.ndarray]:
        width = len(self.center) if self.transform is None else self.transform.shape[1]
        coef, shift = (M[:, :-1], M[:, -1]) if self.intercept else (M, np.zeros(len(M)))
        full = np.zeros((len(M), width))
        full[:, slice(None) if columns is None else list(columns)] = coef
        if self.transform is not None:
            full = full @ self.transform.T
        return full, shift - full @ self.center

    def from_parameters(self, parameters: MoEParameters) -> Theta:
        """Find the `Theta` nearest to parameters in the caller's units."""
        back = None if self.transform is None else np.linalg.pinv(self.transform)

        def mapped(M: np.ndarray, shift: Any, columns: Sequence[int] | None) -> np.ndarray:
            coef = M if back is None else M @ back.T
            coef = coef if columns is None else coef[:, list(columns)]
            return np.column_stack([coef, shift + M @ self.center]) if self.intercept else coef

        p = parameters
        c = p.gate_intercept
        W = mapped(p.W - p.W[-1], c - c[-1], self.gate_columns)
        return Theta(mapped(p.A, p.b, self.expert_columns), W[:-1], p.sigma.copy())

    # -- passes over the rows -----------------------------------------------------------------------------------------

    def on_device(self, theta: Theta) -> tuple[Array, Array, Array]:
        """Parameters on the rows' device, the gate with its zero row."""
        W = np.vstack([theta.W, np.zeros((1, self.Dg))])
        return to_device(theta.A, self.X), to_device(W, self.X), to_device(theta.sigma, self.X)

    def mean_of(
        self, kernel: Callable[..., tuple[Any, ...]], theta: Theta, *more: Array | None, block_rows: int | None = None
    ) -> list[Any]:
        """Totals of ``kernel(posterior, U, V, weight, *more)`` over the rows, divided by the total weight."""
        A, W, sigma = self.on_device(theta)

        def on_block(x: Array, y: Array, weight: Array | None, *rest: Array) -> tuple[Any, ...]:
            U, V = self._designs(x)
            return kernel(posterior(A, W, sigma, self.g, U, V, self._outputs(y)), U, V, weight, *rest)

        self.passes += 1
        totals = sum_over_blocks(on_block, self.X, self.y, self.weight, *more, block_rows=block_rows or self.block_rows)
        return [t / self.total for t in totals]

    def penalty_at(self, W: np.ndarray) -> tuple[float, np.ndarray]:
        """Evaluate the gate's penalty per row and its gradient (k-1, Dg)."""
        slope = self.penalty * (W - np.sum(W, axis=0) / self.k)
        return 0.5 * float(np.sum(slope * W)), slope

    def penalty_information(self) -> np.ndarray:
        """Negative Hessian of the gate's penalty per row."""
        return self.penalty * _centred_identity(self.k, self.Dg)

    def value(self, theta: Theta) -> float:
        """Mean log-likelihood, without the penalty."""

        def kernel(post: Posterior, U: Array, V: Array, weight: Array | None) -> tuple[Array]:
            return (array_namespace(U).sum(weighted(post.log_density, weight)),)

        return float(self.mean_of(kernel, theta)[0])

    def em_sums(self, theta: Theta, labels: Array | None = None) -> JointSums:
        """Everything for one EM step, in one pass; `labels` (n, k) stand in for the responsibilities if given."""

        def kernel(
            post: Posterior, U: Array, V: Array, weight: Array | None, labels: Array | None = None
        ) -> tuple[Array, ...]:
            xp = array_namespace(U)
            share = post.R if labels is None else labels.T
            R = weighted(share, weight)
            if self.g.linear:
                slope, curve = R, R
            else:
                prime = self.g.prime(post.eta)
                slope, curve = R * prime, R * prime**2
            shared = (
                xp.sum(weighted(post.log_density, weight)),
                xp.sum(R, axis=1),
                xp.sum(R * post.residual**2, axis=1),
                (slope * post.residual) @ U.T,
            )
            if self.k == 1:
                return *shared, weighted_grams(curve, U)
            if not self.same:
                return *shared, weighted_grams(curve, U), *gate_kernel(share, post.P, post.log_P, V, weight)
            # one product serves the experts' and the gate's Gram matrices
            grams = weighted_grams(xp.concat([curve, weighted(gate_channels(post.P), weight)], axis=0), U)
            E = weighted(share - post.P, weight)[:-1, :]
            return *shared, grams[: self.k, :], xp.sum(R * post.log_P), E @ V.T, grams[self.k :, :]

        log_likelihood, share, square, gradient, gram, *gate = self.mean_of(kernel, theta, labels)
        cost, _ = self.penalty_at(theta.W)
        return JointSums(
            float(log_likelihood),
            float(log_likelihood) - cost,
            to_numpy(share),
            to_numpy(square),
            to_numpy(gradient),
            unpack_symmetric(to_numpy(gram)),
            self._penalised(gate_sums(*gate), theta.W) if gate else GateSums(0.0, theta.W, np.zeros((0, 0))),
        )

    def _penalised(self, gate: GateSums, W: np.ndarray) -> GateSums:
        cost, slope = self.penalty_at(W)
        return GateSums(gate.value - cost, gate.gradient - slope, gate.information + self.penalty_information())

    def gate_objective(self, theta: Theta, W: np.ndarray) -> GateSums:
        """Objective of the gate's M-step at `W`, responsibilities from `theta`."""
        W_new = self.on_device(Theta(theta.A, W, theta.sigma))[1]

        def kernel(post: Posterior, U: Array, V: Array, weight: Array | None) -> tuple[Array, ...]:
            return gate_kernel(post.R, *softmax(W_new @ V), V, weight)

        return self._penalised(gate_sums(*self.mean_of(kernel, theta)), W)

    def gradient(self, theta: Theta) -> Curvature:
        """Objective and gradient per row, in one pass; see `skmoe.likelihood.curvature`."""
        return curvature.gradient(self, theta)

    def information(self, theta: Theta) -> Curvature:
        """Objective, gradient and exact negative Hessian per row, in one pass."""
        return curvature.information(self, theta)

    def score_outer(self, theta: Theta) -> np.ndarray:
        """Mean over rows of the outer product of a row's score, (p, p): the middle of the sandwich."""
        return curvature.score_outer(self, theta)


@lru_cache(maxsize=16)
def _centred_identity(k: int, D: int) -> np.ndarray:
    """Build the quadratic form of k gate vectors (the last one zero) about their mean, ((k-1) D, (k-1) D)."""
    return np.kron(np.eye(k - 1) - 1.0 / k, np.eye(D))
