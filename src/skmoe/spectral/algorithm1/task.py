"""Shared by both estimators of Algorithm 1: the task, the result, the noise, the call of a decomposition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.arrays.blocks import block_rows_for, sum_over_blocks
from skmoe.arrays.namespaces import Array, array_namespace, columns, to_numpy
from skmoe.arrays.threads import without_warnings
from skmoe.spectral.decomposition import DECOMPOSITIONS, Decomposition, RankWarning
from skmoe.spectral.outputs import IndexLaw, Outputs
from skmoe.spectral.rows import Rows, some_rows
from skmoe.spectral.scores import InputLaw
from skmoe.spectral.scores.reference import Reference

__all__ = [
    "Decomposer",
    "ExpertsResult",
    "Task",
    "decompose",
    "direction_mean_square",
    "mean_and_variance",
    "noise_under",
    "result_of",
]

SAMPLE_ROWS = 20_000  # rows on which a reference law is evaluated

Decomposer = str | Callable[..., Decomposition]


@dataclass(frozen=True)
class ExpertsResult:
    """Experts, and the evidence for them in the moments; see `learn_experts`."""

    coef: np.ndarray
    weights: np.ndarray
    noise_scale: float
    spectrum: np.ndarray
    gap: float
    rank: int
    noise_level: float


@dataclass(frozen=True)
class Task:
    """Rows, and the model to be learned from them.

    With `settle`, a reference that does not suit all experts is chosen anew for those found; without, the result is a
    start for another method.
    """

    rows: Rows
    k: int
    outputs: Outputs
    sigma: float | None  # estimated where it is not known
    law: InputLaw
    decomposition: Decomposer
    settle: bool = True

    def sample(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
        """Return inputs and weights of enough rows to evaluate a reference law on, on the host."""
        X, weight = some_rows((self.rows.X, self.rows.weight), SAMPLE_ROWS, rng)
        return X, weight


def decompose(
    decomposition: Decomposer, T2: np.ndarray, T3: np.ndarray, k: int, rng: Any, **options: Any
) -> Decomposition:
    """Call a decomposition, and refuse a result that is none."""
    function = decomposition if callable(decomposition) else DECOMPOSITIONS[decomposition]
    with without_warnings(RankWarning):  # `learn_experts` reports the rank in terms of the noise
        found = function(T2, T3, k, rng, **options)
    if not isinstance(found, Decomposition) or found.components.shape[1:] != (len(T2),) or found.rank > k:
        raise ValueError(
            f"while decomposing T3: decomposition must return a skmoe.decomposition.Decomposition of at most {k} "
            f"components over {len(T2)} columns; got {found!r}"
        )
    return found


def direction_mean_square(law: InputLaw, d: int) -> float:
    """Return the mean of (a.x)^2 over inputs and over unit directions a."""
    mean, covariance = law.mean_and_covariance(d)
    return float((np.trace(covariance) + mean @ mean) / d)


def _means(rows: Rows, f: Callable[[Array, Array], Array], reference: Reference | None = None) -> np.ndarray:
    """Return the means over rows, under a reference if any, of f: (m, b) for blocks of inputs (d, b), outputs (b,)."""

    def kernel(x: Array, y: Array, row_weight: Array | None) -> tuple[Array, Array]:
        Z = columns(x)
        values = f(Z, y)
        w = array_namespace(y).ones_like(values[0, :])
        if reference is not None:
            w = w * reference.weights(reference.coordinates(Z))
        w = w if row_weight is None else w * row_weight
        return array_namespace(y).sum(w), values @ w

    total, sums = sum_over_blocks(kernel, *rows.arrays, block_rows=block_rows_for(256 + 2 * rows.X.shape[1]))
    return to_numpy(sums) / float(total)


def mean_and_variance(rows: Rows, f: Callable[[Array, Array], Array]) -> tuple[float, float]:
    """Return the mean and variance over rows of f, a function of a block of inputs (d, b) and of outputs (b,)."""

    def powers(Z: Array, y: Array) -> Array:
        v = f(Z, y)
        return array_namespace(v).stack([v, v**2])

    mean, squares = _means(rows, powers).tolist()
    return mean, max(squares - mean**2, 0.0)


def noise_under(task: Task, indices: Sequence[IndexLaw], reference: Reference | None = None) -> float:
    """Return the noise scale: known, or estimated from outputs given the laws of indices, under a reference if any."""
    if task.sigma is not None:
        return task.sigma
    return task.outputs.noise(lambda f: _means(task.rows, lambda Z, y: f(y), reference), indices)


def result_of(
    found: Decomposition, coef: np.ndarray, sigma: float, spectrum: np.ndarray, variance: float, k: int
) -> ExpertsResult:
    """Return the result, with the rank of T2 by its spectrum."""
    following = spectrum[k] if len(spectrum) > k else 0.0
    last = float(spectrum[k - 1])
    gap = float((last - following) / abs(last)) if last else 0.0
    # a symmetric matrix of pure noise has its eigenvalues within twice its off-diagonal deviation times sqrt(d)
    noise_level = float(2 * np.sqrt(variance * len(spectrum)))
    rank = int(np.sum(spectrum > noise_level))
    return ExpertsResult(coef, found.weights, sigma, spectrum, gap, rank, noise_level)
