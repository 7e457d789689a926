r"""Scores of each row, as the paper defines them; the moments never form them, since sums over rows suffice."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.checks import check_rows
from skmoe.spectral.scores.fitting import as_law
from skmoe.spectral.scores.gaussian import Component, symmetric_placements

__all__ = ["second_score", "third_score"]

MOST_NUMBERS = 2**27
"""Numbers of the largest array that is returned, one gibibyte."""


def second_score(X: Any, input_law: Any = None) -> np.ndarray:
    r"""Return the score :math:`S_2(x) = \nabla^2 p(x) / p(x)` of each row (paper: equation 6).

    For standard Gaussian inputs it is :math:`x \otimes x - I`.

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    input_law : law of `skmoe.scores`, "gaussian", "mixture", "auto" or None
        Their law; None is the standard Gaussian.

    Returns
    -------
    (n, d, d) array
        Symmetric in each row.

    Examples
    --------
    >>> from skmoe import scores
    >>> scores.second_score([[1.0, 2.0]])
    array([[[0., 2.],
            [2., 3.]]])
    """
    return _scores(X, input_law, 2)


def third_score(X: Any, input_law: Any = None) -> np.ndarray:
    r"""Return the score :math:`S_3(x) = -\nabla^3 p(x) / p(x)` of each row (paper: equation 5).

    For standard Gaussian inputs it is :math:`x \otimes x \otimes x - \sum_i \mathrm{sym}(x \otimes e_i \otimes e_i)`,
    sym being the sum over the three placements of x.

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    input_law : law of `skmoe.scores`, "gaussian", "mixture", "auto" or None
        Their law; None is the standard Gaussian.

    Returns
    -------
    (n, d, d, d) array
        Symmetric in each row.

    Examples
    --------
    >>> from skmoe import scores
    >>> scores.third_score([[2.0]]).ravel()  # the third Hermite polynomial, x^3 - 3 x
    array([2.])
    """
    return _scores(X, input_law, 3)


def _scores(X: Any, input_law: Any, order: int) -> np.ndarray:
    X = np.asarray(check_rows(X)[0], dtype=np.float64)
    n, d = X.shape
    if n * d**order > MOST_NUMBERS:
        raise ValueError(
            f"S{order} of {n} rows over {d} columns would hold {n * d**order} numbers; take fewer rows, or "
            f"averages of them by skmoe.moments.score_moment, which takes a basis to contract with, or "
            f"skmoe.moments.{'second' if order == 2 else 'third'}_moment"
        )
    law = as_law(input_law, X, np.random.default_rng(0))
    total = np.zeros((n,) + (d,) * order)
    for r, component in zip(law.responsibilities(X.T), law.components(d), strict=True):
        total += r.reshape((n,) + (1,) * order) * _of_component(X, component, order)
    return total


def _of_component(X: np.ndarray, component: Component, order: int) -> np.ndarray:
    """Return Hermite tensors of the standardised rows, taken back through the whitener."""
    precision = component.precision
    U = (X - component.mean) @ precision
    if order == 2:
        return U[:, :, None] * U[:, None, :] - precision
    return U[:, :, None, None] * U[:, None, :, None] * U[:, None, None, :] - symmetric_placements(U, precision)
