r"""Plain cross moments :math:`T_m = E[q\, S_m(x)]`, averages over rows (paper: Algorithm 1).

A per-row S2 or S3 is never formed. For a Gaussian component with mean :math:`\mu` and precision :math:`\Lambda`, and in
a basis B, with :math:`u = B^\top \Lambda (x - \mu)` and :math:`M = B^\top \Lambda B`,

.. math:: S_2 = u u^\top - M, \qquad S_3 = u^{\otimes 3} - \mathrm{sym}(u \otimes M),

where sym is the sum over the three placements; so sums over rows of :math:`q`, :math:`q\,u`, :math:`q\,u u^\top` and
:math:`q\,u^{\otimes 3}`, weighted by the component's posterior probability suffice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skmoe.arrays.blocks import block_rows_for, sum_over_blocks
from skmoe.arrays.memory import check_memory
from skmoe.arrays.namespaces import Array, array_namespace, columns, to_device, to_numpy
from skmoe.arrays.products import gram_channels, monomials, unpack_symmetric, weighted_grams
from skmoe.spectral.scores.gaussian import symmetric_placements

__all__ = ["score_moment"]

TENSOR_COPIES = 5  # tensors held at once: the sum over rows, unpacked, its placements, the result


def _second_sum(U: Array, q: Array) -> tuple[Array, Array]:
    """Return the sums over rows of q and of q u u' (packed) for a block (m, b)."""
    return array_namespace(U).sum(q), weighted_grams(q[None, :], U)[0, :]


def _third_sum(U: Array, q: Array) -> tuple[Array, Array]:
    """Return the sums over rows of q u (m,) and of q u (x) (u u' packed) for a block (m, b)."""
    weighted = U * q
    return array_namespace(U).sum(weighted, axis=1), weighted @ monomials(U).T


def score_moment(
    X: Array,
    y: Array,
    q: Callable[[Array, Array], Array],
    law: Any,
    order: int,
    *,
    basis: np.ndarray | None = None,
    weight: Array | None = None,
) -> np.ndarray:
    """Return the average over rows of ``q S_order(x)``, on the host: (m, m) or (m, m, m) in the given basis (d, m).

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    q : callable
        Takes a block of inputs (d, b) and of outputs (b,) and returns factors of the scores, (b,), or those of each
        component of the law, (m, b).
    law : input law of `skmoe.scores`
        Law of the scores.
    order : {2, 3}
        Order of the score.
    basis : (d, m) array, default the identity
        Moments are computed inside its span. Memory beyond the rows is of the order of a block times m^2.
    weight : (n,) array, optional
        Row weights.

    Returns
    -------
    (m, m) or (m, m, m) array
        The moment, symmetric.

    Examples
    --------
    The plain tensor E[y S3(x)], contracted with one direction:

    >>> import numpy as np
    >>> from skmoe import make_moe, moments, scores
    >>> X, y, truth = make_moe(1000, 4, 2, random_state=0)
    >>> moments.score_moment(X, y, lambda Z, t: t, scores.Gaussian(), 3, basis=np.eye(4, 1)).shape
    (1, 1, 1)
    """
    d = X.shape[1]
    if order == 3:
        m = d if basis is None else basis.shape[1]
        what = f"the third moment in {m} directions"
        check_memory(8.0 * TENSOR_COPIES * m**3, what, "pass a basis of fewer directions, or fewer columns")
    components = law.components(d)
    B = np.eye(d) if basis is None else basis
    precisions = [c.precision for c in components]
    means = [to_device(c.mean, X)[:, None] if np.any(c.mean) else None for c in components]
    # inside a basis rows are projected first; without one, the small sums are mapped at the end instead
    maps = [None if basis is None else to_device(B.T @ L, X) for L in precisions]
    add = _second_sum if order == 2 else _third_sum

    def kernel(x: Array, t: Array, w: Array | None) -> tuple[Array, ...]:
        Z = columns(x)
        label = q(Z, t) if w is None else q(Z, t) * w
        if len(components) > 1:
            label = label * law.responsibilities(Z)
        sums: tuple[Array, ...] = (float(x.shape[0]) if w is None else array_namespace(Z).sum(w),)
        for j, (mean, M) in enumerate(zip(means, maps, strict=True)):
            U = Z if mean is None else Z - mean
            sums += add(U if M is None else M @ U, label if label.ndim == 1 else label[j, :])
        return sums

    m = B.shape[1]
    total, *sums = sum_over_blocks(
        kernel, X, y, weight, block_rows=block_rows_for(d + (gram_channels(m, 1) if order == 2 else m * m))
    )
    moment: Any = 0.0
    for j, L in enumerate(precisions):
        low, high = (to_numpy(s) / float(total) for s in sums[2 * j : 2 * j + 2])
        raw, metric = unpack_symmetric(high), B.T @ L @ B
        if basis is None:
            low = low if order == 2 else L @ low
            for _ in range(order):
                raw = np.tensordot(raw, L, axes=(0, 0))
        moment = moment + raw - (low * metric if order == 2 else symmetric_placements(low, metric))
    return moment
