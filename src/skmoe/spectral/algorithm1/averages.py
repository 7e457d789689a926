r"""Plain averages of :math:`P_2(y) S_2(x)` and :math:`P_3(y) S_3(x)`: the paper's Algorithm 1.

Their label transforms have to be those of the index :math:`a_i^\top x` under the law of the inputs.

* :math:`N(0, s^2 I)`, the standard Gaussian among them, and mixtures of :math:`N(\mu_j, s_j^2 I)`: every unit expert's
  index has the variance :math:`s_j^2` in component j, and each component's average is taken with the transforms of that
  variance. Rows are not weighted. Means of the index are taken as zero, as the paper does in its table 1.
* Any other law: the index's variance :math:`a_i^\top \Sigma a_i` and mean differ between experts. Rows are weighted to
  a Gaussian law under which they do not (`skmoe.spectral.scores.index_law`), and the averages are those of that law.
  Mixtures so far from Gaussian that weights would leave few rows are treated as above, each component with the mean
  variance of the index over unit directions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import linalg

from skmoe.arrays.namespaces import Array
from skmoe.spectral.algorithm1.regression import by_regression
from skmoe.spectral.algorithm1.task import (
    ExpertsResult,
    Task,
    decompose,
    mean_and_variance,
    noise_under,
    result_of,
)
from skmoe.spectral.decomposition import INSIDE_T2
from skmoe.spectral.moments.labelled import LabelledScores, index_stds
from skmoe.spectral.moments.plain import score_moment
from skmoe.spectral.outputs import IndexLaw
from skmoe.spectral.scores import Gaussian
from skmoe.spectral.scores.index_law import index_reference, one_transform_each
from skmoe.spectral.scores.reference import Reference

__all__ = ["by_averages"]

MOST_COLUMNS = 250  # T3 in full, d^3 numbers, is refused beyond

Moment = Callable[[int, np.ndarray | None], np.ndarray]  # of an order, in a basis


def by_averages(task: Task, rng: np.random.Generator) -> ExpertsResult:
    """Learn experts as the paper does, from a decomposition of plain T2 and T3."""
    _check_columns(task)
    if not one_transform_each(task.law, task.rows.X.shape[1]):
        found = _weighted(task, rng)
        if found is not None:
            return found
    found = _averaged(task, _noise(task, None), rng)
    if task.sigma is None and any(np.any(c.mean) for c in task.law.components(task.rows.X.shape[1])):
        found = _averaged(task, _noise(task, found), rng)  # the indices' means are known now
    return found


def _inside_t2(task: Task) -> bool:
    """Return whether T3 is used inside the leading space of T2 only."""
    return isinstance(task.decomposition, str) and task.decomposition in INSIDE_T2


def _check_columns(task: Task) -> None:
    """Refuse a T3 that memory could not hold, before any work."""
    d = task.rows.X.shape[1]
    if d > MOST_COLUMNS and not _inside_t2(task):
        raise ValueError(
            f"decomposition={task.decomposition!r} takes T3 in full, d^3 numbers, and X has {d} columns, over "
            f'{MOST_COLUMNS}; use "orth-als-t2", "power" or "matching", which take it in k dimensions only'
        )


def _noise(task: Task, found: ExpertsResult | None) -> float:
    """Return the noise scale: known, or from the variance of y that indices of experts, or of all directions, leave."""
    d = task.rows.X.shape[1]
    indices = []
    for std, c in zip(index_stds(task.law, d), task.law.components(d), strict=True):
        if found is None:
            indices.append(IndexLaw(float(np.sqrt(std**2 + c.mean @ c.mean / d)), 0.0, c.weight))
            continue
        shares = c.weight * found.weights / found.weights.sum()
        indices += [IndexLaw(std, float(a @ c.mean), p) for p, a in zip(shares, found.coef, strict=True)]
    return noise_under(task, indices)


def _averaged(task: Task, sigma: float, rng: np.random.Generator) -> ExpertsResult:
    """Learn experts from unweighted averages of the scores of the input law."""
    X, y, weight = task.rows.arrays
    scores = LabelledScores.of(task.law, X.shape[1], task.outputs, sigma)

    def moment(order: int, basis: np.ndarray | None) -> np.ndarray:
        return scores.moment(X, y, order, basis=basis, weight=weight)

    variance = mean_and_variance(task.rows, lambda Z, v: scores.mixed_label(2, Z, v))[1] / task.rows.total
    return _decomposed(task, moment, sigma, variance, None, rng)


def _weighted(task: Task, rng: np.random.Generator) -> ExpertsResult | None:
    """Learn experts from averages under a law that gives all indices one law; None if that leaves too few rows.

    The law depends on the experts: Hermite regression gives approximate ones. Alternating averages with the law would
    too, but they have so much noise that the iteration need not converge.
    """
    pilot = by_regression(replace(task, decomposition="matching"), rng)
    U, sample = np.eye(task.rows.X.shape[1]), task.sample(rng)
    reference = index_reference(task.law, U, *sample, experts=pilot.coef)
    return None if reference is None else _averaged_under(task, reference, rng)


def _averaged_under(task: Task, reference: Reference, rng: np.random.Generator) -> ExpertsResult:
    """Learn experts from weighted averages of the scores of a reference law, in its coordinates."""
    X, y, weight = task.rows.arrays
    mean_weight = mean_and_variance(task.rows, lambda Z, v: reference.weights(reference.coordinates(Z)))[0]
    index = IndexLaw(reference.index_std, reference.index_mean)
    sigma = noise_under(task, [index], reference)
    t = task.outputs.transform(sigma, index)
    root = linalg.inv(reference.B)
    law = Gaussian(reference.center, root @ root.T)

    def labels(order: int) -> Callable[[Array, Array], Array]:
        unit = t.constant(order) * mean_weight
        return lambda Z, v: t.of_order(order, v) * reference.weights(reference.coordinates(Z)) / unit

    def moment(order: int, basis: np.ndarray | None) -> np.ndarray:
        return score_moment(
            X, y, labels(order), law, order, basis=root if basis is None else root @ basis, weight=weight
        )

    variance = mean_and_variance(task.rows, labels(2))[1] / task.rows.total
    return _decomposed(task, moment, sigma, variance, reference, rng)


def _decomposed(
    task: Task, moment: Moment, sigma: float, variance: float, reference: Reference | None, rng: np.random.Generator
) -> ExpertsResult:
    """Compute T2, its leading space where the decomposition uses it, T3 inside it or in full, and the experts."""
    T2 = moment(2, None)
    values, vectors = linalg.eigh(T2)
    if _inside_t2(task):
        U = vectors[:, ::-1][:, : task.k]
        found = decompose(task.decomposition, U.T @ T2 @ U, moment(3, U), task.k, rng)
        coef = found.components @ U.T
    else:
        found = decompose(task.decomposition, T2, moment(3, None), task.k, rng)
        coef = found.components
    coef = coef if reference is None else reference.experts(coef)
    return result_of(found, coef, sigma, values[::-1], variance, task.k)
