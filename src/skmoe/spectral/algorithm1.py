r"""Algorithm 1 on rows that were checked: scores, label transforms, moments and a decomposition meet here.

`by_averages` is the paper. `by_regression` goes beyond it in what is estimated, not in what is assumed: moments are
regressed on Hermite features under a reference law narrower than the inputs' own (`skmoe.spectral.scores.reference`),
and T1, T2, T3 are matched together, each by what it knows (`skmoe.spectral.decomposition.matching`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from skmoe.model.activations import Activation
from skmoe.rows.arrays import Array, array_namespace, columns, to_numpy
from skmoe.rows.blocks import block_rows_for, in_memory, sum_over_blocks, take_rows
from skmoe.rows.products import tensor
from skmoe.rows.threads import without_warnings
from skmoe.spectral.decomposition import DECOMPOSITIONS, Decomposition, RankWarning, WeightMode
from skmoe.spectral.labels import LabelTransform, activation_moments, label_transform
from skmoe.spectral.moments import score_moment
from skmoe.spectral.moments.regression import (
    Moments,
    Rows,
    hermite_regression,
    leading_basis,
    order_slices,
    pick_rows,
    regression_dimension,
)
from skmoe.spectral.scores import InputLaw
from skmoe.spectral.scores.reference import Reference, choose_reference

__all__ = ["ExpertsResult", "Task", "by_averages", "by_regression"]

SAMPLE_ROWS = 20_000  # rows on which a reference law is judged
SHARE_SD = 0.2  # spread of an expert's share about 1/k, in units of 1/k, before the data speak
GATE_CURVATURE = 0.06  # spread of a gate's mean curvature along its expert, relative to that of its share

Decomposer = str | Callable[..., Decomposition]


@dataclass(frozen=True)
class ExpertsResult:
    """Experts and how sure the moments are of them; see `learn_experts`."""

    coef: np.ndarray
    weights: np.ndarray
    noise_scale: float
    spectrum: np.ndarray
    gap: float
    rank: int
    noise_level: float


@dataclass(frozen=True)
class Task:
    """Rows, and what is to be learned from them."""

    rows: Rows
    k: int
    g: Activation
    sigma: float | None  # estimated where it is not known
    law: InputLaw
    decomposition: Decomposer


def _decompose(
    decomposition: Decomposer, T2: np.ndarray, T3: np.ndarray, k: int, rng: Any, **knowledge: Any
) -> Decomposition:
    decompose = decomposition if callable(decomposition) else DECOMPOSITIONS[decomposition]
    with without_warnings(RankWarning):  # `learn_experts` reports the rank in terms of the noise
        found = decompose(T2, T3, k, rng, **knowledge)
    if not isinstance(found, Decomposition) or found.components.shape[1:] != (len(T2),) or found.rank > k:
        raise ValueError(
            f"while decomposing T3: decomposition must return a skmoe.decomposition.Decomposition of at most {k} "
            f"components over {len(T2)} columns; got {found!r}"
        )
    return found


def _stretched(g: Activation, spread: float) -> Activation:
    """The activation of an index of unit variance: z -> g(spread z)."""
    return Activation(lambda z: g(spread * z), kinks=tuple(kink / spread for kink in g.kinks), name=g.name)


def _estimate_noise(mean_square: float, g: Activation) -> float:
    """Noise scale from E[y^2] = E[g(Z)^2] + sigma^2; at least a hundredth of the output's size."""
    explained = activation_moments(g)[2, 0]
    return float(np.sqrt(max(mean_square - explained, 1e-4 * mean_square)))


def _mean_and_variance(rows: Rows, f: Callable[[Array], Array]) -> tuple[float, float]:
    """Mean and variance of f(y)."""

    def kernel(y: Array, w: Array | None) -> tuple[Array, Array]:
        v = f(y)
        first, second = (v, v**2) if w is None else (v * w, v**2 * w)
        return array_namespace(v).sum(first), array_namespace(v).sum(second)

    sums = sum_over_blocks(kernel, rows.y, rows.weight, block_rows=block_rows_for(8))
    mean, squares = (float(s) / rows.total for s in sums)
    return mean, max(squares - mean**2, 0.0)


def _noise_from_outputs(task: Task) -> float:
    return _estimate_noise(_mean_and_variance(task.rows, lambda v: v**2)[0], task.g)


def by_averages(task: Task, rng: np.random.Generator) -> ExpertsResult:
    """The paper: plain T2, its leading space, plain T3 inside it."""
    X, y, weight = task.rows.arrays
    sigma = _noise_from_outputs(task) if task.sigma is None else task.sigma
    t = label_transform(task.g, sigma)
    T2 = score_moment(X, y, lambda Z, v: t.quadratic(v), task.law, 2, weight=weight) / t.c2
    values, vectors = linalg.eigh(T2)
    U = vectors[:, ::-1][:, : task.k]
    T3 = score_moment(X, y, lambda Z, v: t.cubic(v), task.law, 3, basis=U, weight=weight) / t.c3
    found = _decompose(task.decomposition, U.T @ T2 @ U, T3, task.k, rng)
    variance = _mean_and_variance(task.rows, t.quadratic)[1] / t.c2**2 / task.rows.total
    return _result(found, found.components @ U.T, sigma, values[::-1], variance, task.k)


def by_regression(task: Task, rng: np.random.Generator) -> ExpertsResult:
    """Hermite regression under a reference law, in all dimensions or inside a leading space of T2."""
    rows, k, d = task.rows, task.k, task.rows.X.shape[1]
    q = regression_dimension(int(rows.total), d, k)
    U, spectrum = np.eye(d), None
    if q < d:
        t = label_transform(task.g, task.sigma or _noise_from_outputs(task))
        U, T2 = leading_basis(rows, t.quadratic, task.law, np.sign(t.c2), q, rng)
        spectrum = linalg.eigvalsh(T2 / t.c2)[::-1]
    reference = choose_reference(task.law, U, *_some(rows, rng))
    g_reference = _stretched(task.g, reference.spread)
    sigma = task.sigma
    if sigma is None:
        sigma = _estimate_noise(_reference_mean_square(rows, reference), g_reference)
    t = label_transform(g_reference, sigma)
    coef, variances = hermite_regression(rows, lambda Z, v: t.all(v), reference, q, rng)
    moments = _moments(coef, variances, t, q)
    knowledge: dict[str, Any] = {}
    if task.decomposition == "matching":
        modes = _weight_modes(t, k, d)
        knowledge = {"T1": moments.T1, "variances": moments.variances, "modes": modes, "share_sd": SHARE_SD / k}
    found = _decompose(task.decomposition, moments.T2, moments.T3, k, rng, **knowledge)
    if spectrum is None:
        spectrum = linalg.eigvalsh(moments.T2)[::-1]
    return _result(found, reference.experts(found.components), sigma, spectrum, float(moments.variances[1]), k)


def _some(rows: Rows, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
    """Inputs and weights of enough rows to judge a reference law by, on the host."""
    index = pick_rows(rows.X.shape[0], SAMPLE_ROWS, rng)
    beside = (rows.X, rows.weight)
    X, weight = in_memory(*beside) if index is None else take_rows(beside, index)
    return to_numpy(X), None if weight is None else to_numpy(weight)


def _reference_mean_square(rows: Rows, reference: Reference) -> float:
    """Mean of y^2 under the reference law."""

    def kernel(x: Array, y: Array, row_weight: Array | None) -> tuple[Array, Array]:
        xp = array_namespace(x)
        w = reference.weights(reference.coordinates(columns(x)))
        w = w if row_weight is None else w * row_weight
        return xp.sum(w), xp.sum(w * y**2)

    total, squares = sum_over_blocks(kernel, *rows.arrays, block_rows=block_rows_for(2 * rows.X.shape[1]))
    return float(squares) / float(total)


def _moments(coef: np.ndarray, variances: np.ndarray, t: LabelTransform, q: int) -> Moments:
    """T1, T2, T3 in units of shares, from the coefficients of P1, P2, P3."""
    scale = [t.hermite[r - 1, r] for r in (1, 2, 3)]
    T1, T2, T3 = (tensor(coef[r - 1, order_slices(q)[r]] / scale[r - 1], q, r) for r in (1, 2, 3))
    return Moments(T1, T2, T3, np.array([variances[r - 1, r] / scale[r - 1] ** 2 for r in (1, 2, 3)]))


def _weight_modes(t: LabelTransform, k: int, d: int) -> list[WeightMode]:
    r"""What a gate that is not orthogonal to the experts does to an expert's weight at each order.

    Beside the share :math:`p_i` there enter :math:`E[a_i^\top \nabla p_i]`, through the next Hermite coefficient of the
    label transform (none for odd activations), and :math:`a_i^\top E[\nabla^2 p_i] a_i`. Both are small and about zero;
    their spreads here are those of a gate of unit length in general position.
    """
    unit = (1 - 1 / k) / k
    if unit == 0:
        return []
    c = t.hermite
    slope = [float(c[r - 1, r + 1] / c[r - 1, r]) for r in (1, 2, 3)]
    curve = [float(r + c[r - 1, r + 2] / (2 * c[r - 1, r])) for r in (1, 2, 3)]
    modes = [WeightMode(GATE_CURVATURE * unit, curve)]
    if max(map(abs, slope)) > 1e-6:
        modes.append(WeightMode(unit / np.sqrt(d), slope))
    return modes


def _result(
    found: Decomposition, coef: np.ndarray, sigma: float, spectrum: np.ndarray, variance: float, k: int
) -> ExpertsResult:
    following = spectrum[k] if len(spectrum) > k else 0.0
    last = float(spectrum[k - 1])
    gap = float((last - following) / abs(last)) if last else 0.0
    # a symmetric matrix of pure noise has its eigenvalues within twice its off-diagonal deviation times sqrt(d)
    noise_level = float(2 * np.sqrt(variance * len(spectrum)))
    rank = int(np.sum(spectrum > noise_level))
    return ExpertsResult(coef, found.weights, sigma, spectrum, gap, rank, noise_level)
