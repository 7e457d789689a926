"""The objective: rows, the shape of the model over them, and settings that prevent degenerate components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from skmoe.arrays.blocks import block_rows_for, sum_over_blocks
from skmoe.arrays.namespaces import Array, to_device
from skmoe.arrays.products import gram_channels
from skmoe.likelihood.rows import LaidOutRows, ModelRows
from skmoe.likelihood.theta import Theta
from skmoe.model.family import Family
from skmoe.model.gate import with_zero_row
from skmoe.model.posterior import Posterior, posterior

__all__ = ["FULL", "Problem", "Settings"]

NEAR_LEAST = 1.01  # noise scales below so many times the least scale count as it, where the next step would put them

FULL = 0.03
"""Penalty from which on noise scales have the full degrees-of-freedom correction."""

Kernel = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class Settings:
    """The noise model, the penalty, and limits that prevent degenerate components.

    Parameters
    ----------
    noise : "shared", "per-expert", or a known scale
    penalty : float
        The penalty, in total log-likelihood; see `skmoe.likelihood.penalty`.
    pooled : (De,) array
        The pooled regression that a penalty shrinks experts towards; zero by default.
    dof_correction : float
        Degrees of freedom subtracted for each coefficient of an expert under a penalty; see `skmoe.likelihood.penalty`.
    least_ridge : float
        Ridge on the gate without a penalty.
    least_scale : float
        Least noise scale, in the model's units of y: a fit that reaches it is degenerate.
    resolution : float
        Least noise scale that rounded outputs allow, in the model's units; zero where they are not rounded. A fit may
        have it.
    least_share : float
        Least share of the rows an expert may hold.
    least_rows : float
        Least rows an expert may hold, per coefficient of an expert.
    """

    noise: str | float = "shared"
    penalty: float = 0.0
    pooled: Any = 0.0
    dof_correction: float = 2.0
    least_ridge: float = 1e-5
    least_scale: float = 1e-3
    resolution: float = 0.0
    least_share: float = 0.005
    least_rows: float = 2.0


@dataclass(frozen=True)
class Problem:
    """Rows, and the model to be fitted to them.

    Parameters
    ----------
    rows : ModelRows
    k : int
        Number of experts.
    family : Family
        Distribution of an expert's output.
    settings : Settings
    y_std : float
        Standard deviation of the outputs, in the model's units.
    """

    rows: ModelRows
    k: int
    family: Family
    settings: Settings
    y_std: float

    # -- shape --------------------------------------------------------------------------------------------------------

    @property
    def De(self) -> int:  # noqa: N802 - the letter of the formulas
        """Coefficients of an expert, those of all its predictors."""
        return self.family.predictors * self.rows.map.De

    @property
    def Dg(self) -> int:  # noqa: N802 - the letter of the formulas
        """Coefficients of a gate vector."""
        return self.rows.map.Dg

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.n

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return self.rows.total

    @cached_property
    def noise_groups(self) -> list[slice]:
        """Experts that share a noise scale; none if it is known."""
        if self.settings.noise == "shared":
            return [slice(0, self.k)]
        return [slice(i, i + 1) for i in range(self.k)] if self.settings.noise == "per-expert" else []

    @property
    def n_parameters(self) -> int:
        """Numbers to be learned."""
        return self.k * self.De + (self.k - 1) * self.Dg + len(self.noise_groups)

    @property
    def least_scale(self) -> float:
        """Least noise scale, in the model's units of y."""
        return max(self.settings.least_scale, self.settings.resolution)

    @property
    def may_end_at_least_scale(self) -> bool:
        """Return whether a fit at the least scale is not degenerate, for rounded outputs or by the family."""
        return self.settings.resolution > self.settings.least_scale or self.family.may_end_at_least_scale

    @property
    def unbounded(self) -> bool:
        """Return whether the likelihood has no bound where noise vanishes on a few rows."""
        return bool(self.noise_groups) and not self.family.may_end_at_least_scale

    def prevents_degeneracy(self, penalty: Any) -> Any:
        """Return whether a penalty, or each of several, prevents degenerate components; see the module `penalty`."""
        return np.logical_and(self.unbounded, np.asarray(penalty) >= FULL)

    @property
    def min_share(self) -> float:
        """Least share of the rows an expert may hold; zero where the penalty prevents degenerate components."""
        if self.prevents_degeneracy(self.settings.penalty):
            return 0.0
        least = max(self.settings.least_rows * self.De / self.total, self.settings.least_share)
        return min(least, 0.5 / self.k)

    # -- the same on other rows, or with other experts ----------------------------------------------------------------

    def on(self, rows: ModelRows) -> Problem:
        """Return the problem over other rows."""
        return replace(self, rows=rows)

    def in_memory(self) -> Problem:
        """Return the problem with rows laid out in memory where they are few enough."""
        return self.on(self.rows.in_memory())

    def sample(self, size: int, rng: np.random.Generator) -> Problem:
        """Return the problem over a random subsample of the rows, laid out in memory."""
        return self.on(self.rows.sample(size, rng))

    def with_experts(self, k: int) -> Problem:
        """Return the problem with another number of experts."""
        return replace(self, k=k)

    def laid_out(self) -> LaidOutRows:
        """Return the rows, laid out in memory."""
        return self.rows.subset()

    # -- parameters as one vector -------------------------------------------------------------------------------------

    def pack(self, theta: Theta) -> np.ndarray:
        """Return parameters as one vector: experts, gate, logs of the noise scales that are learned."""
        noise = [np.log(theta.sigma[group.start]) for group in self.noise_groups]
        return np.concatenate([theta.A.ravel(), theta.gate.ravel(), noise])

    def unpack(self, vector: np.ndarray, like: Theta) -> Theta:
        """Invert `pack`, with noise scales bounded below; known noise is taken from `like`."""
        a, w = self.k * self.De, (self.k - 1) * self.Dg
        sigma = like.sigma.copy()
        for group, log_noise in zip(self.noise_groups, vector[a + w :], strict=True):
            sigma[group] = max(np.exp(min(log_noise, 300.0)), self.least_scale)
        gate = vector[a : a + w].reshape(self.k - 1, self.Dg)
        return Theta(vector[:a].reshape(self.k, -1), with_zero_row(gate), sigma)

    def at_least_scale(self, theta: Theta) -> np.ndarray:
        """Return which learned noise scales are at the least scale, or nearly so."""
        return np.array([theta.sigma[g.start] <= NEAR_LEAST * self.least_scale for g in self.noise_groups], dtype=bool)

    def is_admissible(self, theta: Theta, share: np.ndarray) -> bool:
        """Return whether no expert is nearly empty or infinite, and no noise scale least or far above others."""
        return bool(self.are_admissible(theta.A[None], theta.sigma[None], share[None])[0])

    def are_admissible(self, A: np.ndarray, sigma: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Return `is_admissible` of S models with experts (S, k, De), noise scales and shares (S, k)."""
        admissible = np.all(share >= self.min_share, axis=1)
        least = np.min(sigma, axis=1)
        if self.noise_groups and not self.may_end_at_least_scale:
            admissible &= least > NEAR_LEAST * self.least_scale
        most = self.family.most_scale_ratio * least
        if self.prevents_degeneracy(
            self.settings.penalty
        ):  # the noise scale of an expert that has vanished is that of y
            most = np.maximum(most, self.y_std)
        admissible &= np.max(sigma, axis=1) <= most
        return admissible & (np.max(np.abs(A), axis=(1, 2), initial=0.0) <= self.family.most_coef)

    # -- one pass over the rows ---------------------------------------------------------------------------------------

    @cached_property
    def block_rows(self) -> int:
        """Rows per block of an EM pass."""
        widest = max(self.rows.map.De, self.Dg)
        channels = 6 * self.k * self.family.predictors
        return block_rows_for(max(gram_channels(widest, widest), widest + channels))

    def on_device(self, theta: Theta) -> tuple[Array, Array, Array]:
        """Return parameters on the rows' device, the gate with its zero row."""
        like = self.rows.X
        A = theta.A.reshape(self.k * self.family.predictors, -1)
        return to_device(A, like), to_device(theta.W, like), to_device(theta.sigma, like)

    def mean_of(self, kernel: Kernel, theta: Theta, *more: Array | None, block_rows: int | None = None) -> list[Any]:
        """Return the totals of ``kernel(posterior, block, *more)`` over the rows, divided by the total weight."""
        A, W, sigma = self.on_device(theta)
        rows, family = self.rows, self.family

        def on_block(x: Array, y: Array, weight: Array | None, *rest: Array) -> tuple[Any, ...]:
            block = rows.block(x, y, weight)
            post: Posterior = posterior(A, W, sigma, family, block.U, block.V, block.y)
            return kernel(post, block, *rest)

        rows.passes.count += 1
        arrays = (rows.X, rows.y, rows.weight, *more)
        totals = sum_over_blocks(on_block, *arrays, block_rows=block_rows or self.block_rows)
        return [t / self.total for t in totals]
