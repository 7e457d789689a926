"""A batch of models optimised side by side: EM steps, then L-BFGS with EM's own curvature as preconditioner.

EM is safe far from an optimum and slow near it; L-BFGS from there needs a quarter of the steps. All models move in
lockstep, one pass over the rows a step, each with its own step size: a step that would lower a model's objective is
shortened until it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, device
from skmoe.likelihood import Problem, Theta
from skmoe.likelihood.batch import BatchSums, batch_sums
from skmoe.likelihood.penalty import noise_penalty
from skmoe.search.batch_em import FEWEST_ROWS, PenaltyStrengths, em_scales, mean_centred, with_ridge
from skmoe.search.lbfgs import Memory

__all__ = ["BatchOptimiser", "OnStep", "PerModelRows"]

ROUNDING = 1e-12  # relative, in a mean over rows, which is no loss
SUFFICIENT = 1e-4  # part of the gain that a gradient promises which a step must reach
SHRINK = 0.3  # of a refused step
GIVE_UP = 0.03  # size below which a direction is replaced by EM's
MANY_COLUMNS = 48  # from which Gram matrices cost more than the steps they save
PAIRS = 8  # that L-BFGS remembers
REFRESH = 3  # steps for which a preconditioner is used
MOST_SPREADS = 1e4  # of y, that a noise scale may be: that of a truncated law has no bound of its own
ELEMENTWISE = 40  # operations on a row and expert beside products, two exponentials among them


@dataclass(frozen=True)
class PerModelRows:
    """Weights (n, S) that S models give the same rows, and the regressions (S, De) that they are shrunk towards."""

    weight: Array
    pooled: np.ndarray

    def picked(self, rows: np.ndarray) -> PerModelRows:
        """Return those of some of the models."""
        xp = array_namespace(self.weight)
        index = xp.asarray(rows, device=device(self.weight))
        return PerModelRows(xp.take(self.weight, index, axis=1), self.pooled[rows])


OnStep = Callable[["BatchOptimiser"], None]
"""Called with an optimiser after each of its steps; what it raises ends the run."""


class BatchOptimiser:
    """An optimiser of S models of one problem, in lockstep.

    Parameters
    ----------
    problem : Problem
    batch : Theta
        Where the models start; their number of experts need not be that of the problem.
    penalties : (S,) array, optional
        Strength of each model's penalty; the problem's by default.
    per_model : PerModelRows, optional
        Weights of the rows, where models see different ones.
    on_step : callable, optional
        Called with the optimiser after each step; what it raises ends the run.

    Attributes
    ----------
    batch : Theta
        The current parameters.
    objective, log_likelihood : (S,) arrays
        Mean log-likelihood less the penalty, and without it.
    share : (S, k) array
        Mean responsibilities.
    """

    def __init__(
        self,
        problem: Problem,
        batch: Theta,
        penalties: np.ndarray | None = None,
        *,
        per_model: PerModelRows | None = None,
        on_step: OnStep | None = None,
    ) -> None:
        self.problem, self.batch, self.on_step, self.per_model = problem, batch, on_step, per_model
        pooled = None if per_model is None else per_model.pooled
        self.penalties = PenaltyStrengths.of(problem, len(batch), penalties, pooled)
        self._known = not problem.noise_groups
        self._shared = problem.settings.noise == "shared"
        self._grams = max(batch.A.shape[2], batch.W.shape[2]) <= MANY_COLUMNS
        self._age, self._em = 0, True
        self.vector = self._pack(batch)
        self._begin()

    def _begin(self) -> None:
        """Set objective, gradient and EM's directions where the models start."""
        batch = self.batch
        sums = self._sums(batch, self._grams)
        self.log_likelihood, self.share = sums.log_likelihood, sums.share
        self.objective = self._objective(batch, sums)
        self.gradient = self._gradient(batch, sums, self.penalties)
        self._precondition = self._curvatures(batch, sums, self.penalties)
        self.direction = self._em_direction(sums)
        self.size = np.ones(len(batch))
        self._memory = Memory(PAIRS, self.vector.shape)

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def work(self) -> float:
        """Operations of a step, about: predictors of experts and gate, their gradients, and elementwise work."""
        _, k, De = self.batch.A.shape
        return float(self.problem.n * len(self) * k * (2 * (De + self.batch.W.shape[2]) + ELEMENTWISE))

    # -- steps --------------------------------------------------------------------------------------------------------

    def em(self, steps: int) -> None:
        """Take EM steps; with many columns, where each would cost much, twice as many of L-BFGS."""
        if not self._grams:
            return self.quasi_newton(2 * steps)
        self._steps(steps, quasi_newton=False)

    def quasi_newton(self, steps: int) -> None:
        """Take L-BFGS steps."""
        if self._em:
            self._switch_to_lbfgs()
            self._em = False
        self._steps(steps, quasi_newton=True)

    def keep(self, rows: np.ndarray) -> None:
        """Go on with some of the models only."""
        self.batch, self.penalties = self.batch.picked(rows), self.penalties.picked(rows)
        self.problem = self.problem.on(self.problem.rows.for_models(rows))
        self.per_model = None if self.per_model is None else self.per_model.picked(rows)
        self._keep(rows)

    def _keep(self, rows: np.ndarray) -> None:
        """Keep the arrays of some of the models."""
        for name in ("objective", "log_likelihood", "share", "gradient", "vector", "direction", "size"):
            setattr(self, name, getattr(self, name)[rows])
        self._precondition = tuple(part[rows] for part in self._precondition)
        self._memory.keep(rows)

    def _switch_to_lbfgs(self) -> None:
        """Replace EM's directions by those of L-BFGS without any pairs."""
        self._memory.forget(np.arange(len(self)))
        self.direction, self.size = self._apply(self.gradient), np.ones(len(self))

    def _steps(self, steps: int, *, quasi_newton: bool) -> None:
        for _ in range(steps):
            self._step(quasi_newton)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def _step(self, quasi_newton: bool) -> None:
        fresh = not quasi_newton or self._age % REFRESH == 0
        self._age += 1
        proposal = self._unpack(self.vector + self.size[:, None] * self.direction)
        sums = self._sums(proposal, fresh and self._grams)
        value = self._objective(proposal, sums)
        slope = np.maximum(np.sum(self.gradient * self.direction, axis=1), 0.0) if quasi_newton else 0.0
        needed = self.objective + SUFFICIENT * self.size * slope - ROUNDING * (1 + np.abs(self.objective))
        kept = np.all(sums.share * self.problem.total >= self.penalties.fewest_rows[:, None], axis=1)
        good = (value >= needed) & kept & np.isfinite(value)
        self._accept(np.flatnonzero(good), proposal, sums, value, fresh, quasi_newton)
        lost = ~good & (self.size < GIVE_UP) & self._memory.pairs  # EM's own steps may have to be far shorter
        self._memory.forget(lost)
        self.size = np.where(good | lost, 1.0, self.size * SHRINK)
        if quasi_newton:
            self._new_directions(np.flatnonzero(good | lost))
        elif np.any(good):
            self.direction = np.where(good[:, None], self._em_direction(sums), self.direction)
        if self.on_step is not None:
            self.on_step(self)

    def _accept(
        self, rows: np.ndarray, proposal: Theta, sums: BatchSums, value: np.ndarray, fresh: bool, pairs: bool
    ) -> None:
        """Move the models `rows` to their proposals."""
        if not len(rows):
            return
        moved, some, penalties = proposal.picked(rows), sums.picked(rows), self.penalties.picked(rows)
        vector, gradient = self._pack(moved), self._gradient(moved, some, penalties)
        if pairs:
            self._memory.remember(rows, vector - self.vector[rows], self.gradient[rows] - gradient)
        if fresh:
            for old, new in zip(self._precondition, self._curvatures(moved, some, penalties), strict=True):
                old[rows] = new
        self.vector[rows], self.gradient[rows] = vector, gradient
        # callers may hold on to these
        self.objective, self.share, self.log_likelihood = (
            part.copy() for part in (self.objective, self.share, self.log_likelihood)
        )
        self.objective[rows] = np.maximum(value[rows], self.objective[rows])
        self.share[rows], self.log_likelihood[rows] = some.share, some.log_likelihood
        self.batch = self._unpack(self.vector)

    def _new_directions(self, rows: np.ndarray) -> None:
        """Set new directions of the models `rows`; one that is no direction of ascent is replaced by EM's."""
        if not len(rows):
            return
        self.direction[rows] = self._memory.direction(self.gradient, self._apply)[rows]
        wrong = np.flatnonzero(np.sum(self.gradient * self.direction, axis=1) <= 0)
        if len(wrong):
            self._memory.forget(wrong)
            self.direction[wrong] = self._apply(self.gradient)[wrong]

    # -- sums and objective -------------------------------------------------------------------------------------------

    def _sums(self, batch: Theta, grams: bool) -> BatchSums:
        return batch_sums(self.problem, batch, None if self.per_model is None else self.per_model.weight, grams=grams)

    def _objective(self, batch: Theta, sums: BatchSums) -> np.ndarray:
        penalties, spread = self.penalties, self.problem.y_std
        cost = 0.5 * penalties.gate * np.sum(mean_centred(batch.W) ** 2, axis=(1, 2))
        if np.any(penalties.expert):
            cost = cost + 0.5 * penalties.expert * np.sum((batch.A - penalties.pooled) ** 2, axis=(1, 2))
            if not self._known:
                cost = cost + penalties.noise_dof * np.sum(noise_penalty(batch.sigma, spread)[0], axis=1)
        return sums.log_likelihood - cost

    def _gradient(self, batch: Theta, sums: BatchSums, penalties: PenaltyStrengths) -> np.ndarray:
        """Return the gradient of the objective over the vector, (S, P)."""
        family, S = self.problem.family, len(batch)
        A = sums.expert_gradient / family.step_scale(batch.sigma)[:, :, None]
        W = sums.gate_gradient - penalties.gate[:, None, None] * mean_centred(batch.W)
        parts = [A - penalties.expert[:, None, None] * (batch.A - penalties.pooled), W]
        if not self._known:
            noise = family.scale_slope(sums.statistic, sums.share, batch.sigma)
            noise = noise - penalties.noise_dof[:, None] * noise_penalty(batch.sigma, self.problem.y_std)[1]
            if self._shared:
                noise = np.sum(noise, axis=1, keepdims=True)
            floor = batch.sigma[:, : noise.shape[1]] <= self.problem.least_scale * (1 + 1e-9)
            parts.append(np.where(floor & (noise < 0), 0.0, noise))
        return np.concatenate([part.reshape(S, -1) for part in parts], axis=1)

    # -- directions ----------------------------------------------------------------------------------------------------

    def _curvatures(self, batch: Theta, sums: BatchSums, penalties: PenaltyStrengths) -> tuple[np.ndarray, ...]:
        """Return inverses of EM's curvature for experts, gate and scales; numbers, no matrices, for many columns."""
        problem, expert, gate = self.problem, penalties.expert[:, None], penalties.gate[:, None]
        precision, least = 1.0 / problem.family.step_scale(batch.sigma), FEWEST_ROWS / problem.total
        curve = penalties.noise_dof[:, None] * noise_penalty(batch.sigma, problem.y_std)[2]
        scales = 1.0 / (2 * np.maximum(sums.share, least) + curve)
        if self._grams and sums.expert_gram.size:
            De, Dg = batch.A.shape[2], batch.W.shape[2]
            experts = with_ridge(sums.expert_gram * precision[..., None, None] + expert[..., None, None] * np.eye(De))
            gates = with_ridge(sums.gate_gram + gate[..., None, None] * np.eye(Dg))
            return np.linalg.inv(experts), np.linalg.inv(gates), scales
        # on the standardised scale a Gram matrix is about its weight times the identity
        experts = sums.share * precision + expert
        gates = 0.5 * sums.share * (1 - sums.share) + gate
        return 1.0 / np.maximum(experts, least), 1.0 / np.maximum(gates, least), scales

    def _apply(self, vector: np.ndarray) -> np.ndarray:
        """Multiply a gradient by the inverse curvature."""
        S, k, De = self.batch.A.shape
        a, w = k * De, self.batch.W[0].size
        parts = []
        for inverse, part in zip(self._precondition[:2], (vector[:, :a], vector[:, a : a + w]), strict=True):
            shaped = part.reshape(S, k, -1)
            done = (inverse @ shaped[..., None])[..., 0] if inverse.ndim == 4 else inverse[..., None] * shaped
            parts.append(done.reshape(S, -1))
        noise = vector[:, a + w :]
        scales = self._precondition[2]
        if self._shared:
            scales = 1.0 / np.sum(1.0 / scales, axis=1, keepdims=True)
        return np.concatenate([*parts, noise * scales[:, : noise.shape[1]]], axis=1)

    def _em_direction(self, sums: BatchSums) -> np.ndarray:
        """Return the direction of an EM step; with many columns, the gradient times the inverse curvature."""
        direction = self._apply(self.gradient)
        if self._grams and not self._known:
            steps = direction[:, : self.batch.A[0].size].reshape(self.batch.A.shape)
            after = np.log(em_scales(self.problem, self.batch, sums, self.penalties, steps))
            width = 1 if self._shared else self.batch.k
            direction[:, -width:] = after[:, :width] - self.vector[:, -width:]
        return direction

    # -- parameters as vectors ----------------------------------------------------------------------------------------

    def _pack(self, batch: Theta) -> np.ndarray:
        S = len(batch)
        parts = [batch.A.reshape(S, -1), batch.W.reshape(S, -1)]
        if not self._known:
            parts.append(np.log(batch.sigma[:, :1] if self._shared else batch.sigma))
        return np.concatenate(parts, axis=1)

    def _unpack(self, vector: np.ndarray) -> Theta:
        S, k, De = len(vector), *self.batch.A.shape[1:]
        a, w = k * De, self.batch.W[0].size
        A, W = vector[:, :a].reshape(S, k, De), vector[:, a : a + w].reshape(S, k, -1)
        sigma = self.batch.sigma[:S]
        if not self._known:
            low, high = np.log([self.problem.least_scale, MOST_SPREADS * self.problem.y_std])
            noise = np.maximum(np.exp(np.clip(vector[:, a + w :], low, high)), self.problem.least_scale)
            sigma = np.broadcast_to(noise, (S, k)).copy()
        return Theta(A.copy(), W.copy(), sigma)
