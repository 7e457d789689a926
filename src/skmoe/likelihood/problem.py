"""What is to be maximised: rows, the shape of the model over them, and what keeps it off degenerate ends."""

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

NEAR_FLOOR = 1.01  # noise scales below so many times their floor are on it: a step would end there

FULL = 0.03
"""Strength of a penalty from which on noise scales are charged in full."""

Kernel = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class Settings:
    """What is learned of the noise, the penalty, and what keeps a fit off degenerate spikes.

    Parameters
    ----------
    noise : "shared", "per-expert", or a known scale
    penalty : float
        Strength of the penalty, in total log-likelihood; see `skmoe.likelihood.penalty`.
    pooled : (De,) array
        The pooled regression that a penalty draws experts to; zero by default.
    charge : float
        Degrees of freedom that the penalty charges for each coefficient of an expert; see `skmoe.likelihood.penalty`.
    least_ridge : float
        Ridge on the gate that is there without a penalty.
    noise_floor : float
        Least noise scale, as the model sees outputs: a fit that reaches it is degenerate.
    resolution : float
        Least noise scale that rounded outputs allow, as the model sees them; zero where they are not rounded. A fit
        may end there.
    least_share : float
        Least share of the rows an expert may hold.
    least_rows : float
        Least rows an expert may hold, per coefficient of an expert.
    """

    noise: str | float = "shared"
    penalty: float = 0.0
    pooled: Any = 0.0
    charge: float = 2.0
    least_ridge: float = 1e-5
    noise_floor: float = 1e-3
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
        Law of an expert's output.
    settings : Settings
    spread : float
        Standard deviation of the outputs, as the model sees them.
    """

    rows: ModelRows
    k: int
    family: Family
    settings: Settings
    spread: float

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
    def noise_floor(self) -> float:
        """Least noise scale, as the model sees outputs."""
        return max(self.settings.noise_floor, self.settings.resolution)

    @property
    def may_end_at_floor(self) -> bool:
        """Whether the least scale is no degenerate end: outputs so coarse that their step sets it, or a law."""
        return self.settings.resolution > self.settings.noise_floor or self.family.may_end_at_least_scale

    @property
    def spikes(self) -> bool:
        """Whether the likelihood has no bound where noise vanishes on a few rows."""
        return bool(self.noise_groups) and not self.family.may_end_at_least_scale

    def guarded(self, penalty: Any) -> Any:
        """Whether a penalty, or each of several, keeps experts off spikes by itself; see `skmoe.likelihood.penalty`."""
        return np.logical_and(self.spikes, np.asarray(penalty) >= FULL)

    @property
    def min_share(self) -> float:
        """Least share of the rows an expert may hold; none where the penalty keeps experts off few rows."""
        if self.guarded(self.settings.penalty):
            return 0.0
        least = max(self.settings.least_rows * self.De / self.total, self.settings.least_share)
        return min(least, 0.5 / self.k)

    # -- the same on other rows, or with other experts ----------------------------------------------------------------

    def on(self, rows: ModelRows) -> Problem:
        """The same model over other rows."""
        return replace(self, rows=rows)

    def in_memory(self) -> Problem:
        """The same, with rows laid out in memory where they are few enough."""
        return self.on(self.rows.in_memory())

    def sample(self, size: int, rng: np.random.Generator) -> Problem:
        """The same model over a random subset of the rows, laid out in memory."""
        return self.on(self.rows.sample(size, rng))

    def with_experts(self, k: int) -> Problem:
        """Another number of experts over the same rows."""
        return replace(self, k=k)

    def laid_out(self) -> LaidOutRows:
        """The rows, laid out in memory."""
        return self.rows.subset()

    # -- parameters as one vector -------------------------------------------------------------------------------------

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
        """Which learned noise scales sit on their floor, or all but."""
        return np.array([theta.sigma[g.start] <= NEAR_FLOOR * self.noise_floor for g in self.noise_groups], dtype=bool)

    def is_admissible(self, theta: Theta, share: np.ndarray) -> bool:
        """Whether no expert is nearly empty or infinite, and no noise scale is on its floor or far above others."""
        return bool(self.are_admissible(theta.A[None], theta.sigma[None], share[None])[0])

    def are_admissible(self, A: np.ndarray, sigma: np.ndarray, share: np.ndarray) -> np.ndarray:
        """The same of S models, of experts (S, k, De), noise scales and shares (S, k)."""
        fine = np.all(share >= self.min_share, axis=1)
        least = np.min(sigma, axis=1)
        if self.noise_groups and not self.may_end_at_floor:
            fine &= least > NEAR_FLOOR * self.noise_floor
        most = self.family.most_scale_ratio * least
        if self.guarded(self.settings.penalty):  # the noise of an expert that has faded is the spread
            most = np.maximum(most, self.spread)
        fine &= np.max(sigma, axis=1) <= most
        return fine & (np.max(np.abs(A), axis=(1, 2), initial=0.0) <= self.family.most_coef)

    # -- one pass over the rows ---------------------------------------------------------------------------------------

    @cached_property
    def block_rows(self) -> int:
        """Rows per block of an EM pass."""
        widest = max(self.rows.map.De, self.Dg)
        channels = 6 * self.k * self.family.predictors
        return block_rows_for(max(gram_channels(widest, widest), widest + channels))

    def on_device(self, theta: Theta) -> tuple[Array, Array, Array]:
        """Parameters on the rows' device, the gate with its zero row."""
        like = self.rows.X
        A = theta.A.reshape(self.k * self.family.predictors, -1)
        return to_device(A, like), to_device(with_zero_row(theta.W), like), to_device(theta.sigma, like)

    def mean_of(self, kernel: Kernel, theta: Theta, *more: Array | None, block_rows: int | None = None) -> list[Any]:
        """Totals of ``kernel(posterior, block, *more)`` over the rows, divided by the total weight."""
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
