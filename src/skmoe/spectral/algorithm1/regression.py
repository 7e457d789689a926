"""Hermite regression under a reference law: the default, which is not the paper's."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from skmoe.arrays.products import tensor
from skmoe.spectral.algorithm1.task import (
    ExpertsResult,
    Task,
    decompose,
    direction_mean_square,
    noise_under,
    result_of,
)
from skmoe.spectral.decomposition import WeightMode
from skmoe.spectral.moments.regression import (
    hermite_regression,
    leading_basis,
    order_slices,
    regression_dimension,
)
from skmoe.spectral.outputs import IndexLaw, Transform
from skmoe.spectral.scores.index_law import index_reference
from skmoe.spectral.scores.reference import Reference, choose_reference, reference_width

__all__ = ["by_regression"]

ROUNDS = 4  # alternations of experts and reference, where the law of an index depends on the expert
START_TOL = 1e-3  # for a start of other methods; a smaller one takes up to ten times the steps
SETTLED = 1e-3  # change of experts between rounds below which they have converged
SHARE_SD = 0.2  # prior standard deviation of an expert's share about 1/k, in units of 1/k
GATE_CURVATURE = 0.06  # standard deviation of a gate's mean curvature along its expert, relative to its share's


def by_regression(task: Task, rng: np.random.Generator) -> ExpertsResult:
    """Learn experts by Hermite regression under a reference law, in all dimensions or a leading space of T2."""
    rows, d = task.rows, task.rows.X.shape[1]
    q = regression_dimension(int(rows.total), d, task.k)
    U, spectrum = np.eye(d), None
    if q < d:
        index = IndexLaw(float(np.sqrt(direction_mean_square(task.law, d))))
        t = task.outputs.transform(noise_under(task, [index]), index)
        c2 = t.constant(2)
        U, T2 = leading_basis(rows, partial(t.of_order, 2), task.law, np.sign(c2), q, rng)
        spectrum = linalg.eigvalsh(index.std**2 * T2 / c2)[::-1]
    sample = task.sample(rng)
    reference = choose_reference(task.law, U, *sample)
    # a Gaussian whose weights were tempered is another Gaussian, with scores that the reference does not have
    several = task.settle and not reference.common and len(task.law.components(d)) == 1
    found = _settled(task, U, sample, spectrum, rng) if several else None
    return _regressed(task, reference, spectrum, rng) if found is None else found


def _settled(
    task: Task, U: np.ndarray, sample: tuple[Any, Any], spectrum: Any, rng: np.random.Generator
) -> ExpertsResult | None:
    """Alternate between experts under a reference and a reference for them; None if there is no first reference."""

    def reference_for(experts: np.ndarray | None) -> Reference | None:
        width = reference_width(U.shape[1])
        return index_reference(task.law, U, *sample, experts=experts, width=width, toward_origin=True)

    reference = reference_for(None)
    if reference is None:
        return None
    found = _regressed(task, reference, spectrum, rng)
    for _ in range(ROUNDS):
        reference = reference_for(found.coef) if len(found.coef) == task.k else None
        if reference is None:
            break
        before, found = found, _regressed(task, reference, spectrum, rng)
        if found.coef.shape == before.coef.shape and np.max(np.abs(found.coef - before.coef)) < SETTLED:
            break
    return found


def _regressed(task: Task, reference: Reference, spectrum: Any, rng: np.random.Generator) -> ExpertsResult:
    """Learn experts from the moments under one reference."""
    rows, k, (q, d) = task.rows, task.k, reference.B.shape
    index = IndexLaw(reference.index_std, reference.index_mean)
    sigma = noise_under(task, [index], reference)
    t = task.outputs.transform(sigma, index)
    coef, variances = hermite_regression(rows, lambda Z, v: t.all(v), reference, q, rng)
    unit = [t.constant(r) for r in (1, 2, 3)]  # of shares
    T1, T2, T3 = (tensor(coef[r - 1, order_slices(q)[r]] / unit[r - 1], q, r) for r in (1, 2, 3))
    v = np.array([variances[r - 1, r] / unit[r - 1] ** 2 for r in (1, 2, 3)])
    options: dict[str, Any] = {}
    if task.decomposition == "matching":
        options = {"T1": T1, "variances": v, "modes": _weight_modes(t, k, d), "share_sd": SHARE_SD / k}
        options |= {} if task.settle else {"tol": START_TOL}
    found = decompose(task.decomposition, T2, T3, k, rng, **options)
    if spectrum is None:
        spectrum = linalg.eigvalsh(T2)[::-1]
    return result_of(found, reference.experts(found.components), sigma, spectrum, float(v[1]), k)


def _weight_modes(t: Transform, k: int, d: int) -> list[WeightMode]:
    r"""Return how a gate not orthogonal to the experts changes an expert's weight at each order.

    In addition to the share :math:`p_i` there are :math:`E[a_i^\top \nabla p_i]`, through the next Hermite coefficient
    of the label transform (none for odd activations), and :math:`a_i^\top E[\nabla^2 p_i] a_i`. Both are small and
    about zero; their standard deviations are those of a random gate of unit length.
    """
    unit = (1 - 1 / k) / k
    if unit == 0:
        return []
    c = t.hermite
    slope = [float(c[r - 1, r + 1] / c[r - 1, r]) for r in (1, 2, 3)]
    curvature = [float(r + c[r - 1, r + 2] / (2 * c[r - 1, r])) for r in (1, 2, 3)]
    modes = [WeightMode(GATE_CURVATURE * unit, curvature)]
    if max(map(abs, slope)) > 1e-6:
        modes.append(WeightMode(unit / np.sqrt(d), slope))
    return modes
