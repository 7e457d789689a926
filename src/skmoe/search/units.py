r"""A table and the model to be fitted to it; inside units, and the way back to the caller's.

Inside, inputs are whitened and, for linear experts, the output is centred and scaled, so that nothing depends on the
caller's units. Small tables are first brought into one order and repeated rows into weights, so that neither the order
of rows nor the way of repeating them matters at all; of large ones a random sample is held in memory, to search on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skmoe.likelihood.joint import JointLikelihood, Settings, Theta
from skmoe.model.activations import Activation
from skmoe.model.parameters import MoEParameters
from skmoe.rows.arrays import Array
from skmoe.rows.blocks import Streamed, in_memory, take_rows
from skmoe.rows.checks import check_look
from skmoe.search.whitening import Look, first_look, whitening

__all__ = ["Task", "Units", "prepared"]

CANONICAL_ROWS = 20_000  # tables up to this size are brought into one order, whatever order they came in
SAMPLE_ROWS = 200_000  # tables above this size are searched on a sample of about so many rows
SAMPLE_DOUBLES = 2**25  # 256 MiB: rows of many columns are sampled less, but not below what the experts need
ROWS_PER_COEFFICIENT = 60
MAX_EXPERTS = 10  # "auto" tries no more


@dataclass(frozen=True)
class Task:
    """A table and the model to be fitted to it, in the caller's units."""

    X: Array
    y: Array
    weight: Array | None
    g: Activation
    noise: str | float
    intercept: bool
    gate_penalty: float
    input_law: Any = "auto"
    expert_columns: Sequence[int] | None = None
    gate_columns: Sequence[int] | None = None
    max_iter: int = 500
    tol: float = 1e-4
    look: Look | None = None
    sample: tuple[Any, Any, Any] | None = None  # inputs, outputs and weights of some rows, in memory


def prepared(task: Task, names: Sequence[Any] | None, n_experts: int | str, rng: np.random.Generator) -> Task:
    """Look at the table once, refuse what cannot be fitted, and sample what is large; the rest is left to passes."""
    X, y, weight = task.X, task.y, task.weight
    k = MAX_EXPERTS if isinstance(n_experts, str) else n_experts
    d = X.shape[1]
    most = max(min(SAMPLE_ROWS, SAMPLE_DOUBLES // (d + 1)), ROWS_PER_COEFFICIENT * k * (d + 1))
    streamed = isinstance(X, Streamed)
    small = X.shape[0] <= most
    if small:
        X, y, weight = in_memory(X, y, weight)
    look = first_look(X, y, weight)
    if streamed:
        check_look(look, names)
    if small:
        if streamed and weight is not None:
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        X, y, weight = _canonical(X, y, weight)
        return replace(task, X=X, y=y, weight=weight, look=look)
    sample = take_rows((X, y, weight), np.sort(rng.choice(X.shape[0], size=most, replace=False)))
    return replace(task, look=look, sample=sample)


def _canonical(X: Array, y: Array, weight: Array | None) -> tuple[Array, Array, Array | None]:
    """Rows in one order with repeated ones as weights; only for small tables on the host."""
    if not isinstance(X, np.ndarray) or len(X) > CANONICAL_ROWS:
        return X, y, weight
    table, back, counts = np.unique(np.column_stack([y, X]), axis=0, return_inverse=True, return_counts=True)
    if weight is not None:
        counts = np.bincount(back.ravel(), weights=weight)
        table, counts = table[counts > 0], counts[counts > 0]
    weighted = None if weight is None and len(table) == len(X) else counts.astype(np.float64)
    if weighted is not None and np.all(weighted == 1):
        weighted = None
    return np.ascontiguousarray(table[:, 1:]), np.ascontiguousarray(table[:, 0]), weighted


class Units:
    """The likelihood over a task's rows in inside units, and the way back to the caller's.

    Attributes
    ----------
    likelihood : JointLikelihood over all rows
    search : JointLikelihood over the rows to search on: the sample, or all
    """

    def __init__(self, task: Task, k: int) -> None:
        look = task.look
        assert look is not None
        self.task, self.look = task, look
        self.level, self.scale = 0.0, 1.0
        if task.g.linear:
            self.level = look.level if task.intercept else 0.0
            self.scale = float(np.hypot(look.spread, look.level - self.level)) or 1.0
        center, transform, expert_columns, gate_columns = _maps(task, look)
        self._shape: dict[str, Any] = {
            "intercept": task.intercept,
            "center": center,
            "transform": transform,
            "output": (self.level, self.scale),
            "expert_columns": expert_columns,
            "gate_columns": gate_columns,
            "spread": look.spread / self.scale,
        }
        self.likelihood = self._over(k, task.X, task.y, task.weight, total=look.total).in_memory()
        self.search = self.likelihood if task.sample is None else self._over(k, *task.sample).in_memory()

    def _over(self, k: int, X: Array, y: Array, weight: Array | None, **known: Any) -> JointLikelihood:
        noise = self.task.noise if isinstance(self.task.noise, str) else float(self.task.noise) / self.scale
        settings = Settings(noise=noise, gate_penalty=self.task.gate_penalty)
        return JointLikelihood(X, y, self.task.g, k, weight=weight, settings=settings, **self._shape, **known)

    def outside(self, theta: Theta) -> MoEParameters:
        """Parameters in the caller's units."""
        p = self.likelihood.to_parameters(theta)
        return replace(p, A=p.A * self.scale, b=p.b * self.scale + self.level, sigma=p.sigma * self.scale)

    def log_likelihood(self, inside: float) -> float:
        """Mean log-likelihood of the caller's y."""
        return inside - float(np.log(self.scale))


def _maps(task: Task, look: Look) -> tuple[np.ndarray, np.ndarray, Sequence[int] | None, Sequence[int] | None]:
    """Whitening of the inputs; where experts and gate see other columns, one beside the other."""
    if task.expert_columns is None and task.gate_columns is None:
        return *whitening(look, centered=task.intercept), None, None
    center = np.zeros(len(look.mean))
    blocks = []
    for columns in (task.expert_columns, task.gate_columns):
        index = range(len(center)) if columns is None else columns
        middle, block = whitening(look, index, centered=task.intercept)
        center[list(index)] = middle[list(index)]
        blocks.append(block)
    first = blocks[0].shape[1]
    transform = np.concatenate(blocks, axis=1)
    return center, transform, range(first), range(first, transform.shape[1])
