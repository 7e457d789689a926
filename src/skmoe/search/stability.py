r"""Stability of experts: the share of other models of the same rows that have a matching expert.

The rows of an expert are all rows, weighted by its responsibilities. An expert Q of another model
matches an expert P if it has mostly the same rows, by Cohen's kappa of two draws, one by the memberships of each:

.. math:: \kappa = \frac{2\,(\overline{PQ} - \bar P \bar Q)}{\bar P (1 - \bar Q) + \bar Q (1 - \bar P)}

It is zero for experts that divide the rows at random, however alike their shares are, so that experts which the rows do
not distinguish match none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skmoe.arrays.namespaces import to_numpy
from skmoe.likelihood import LaidOutRows, Theta
from skmoe.model.family import Family
from skmoe.model.posterior import posterior

__all__ = ["memberships", "stability"]

SAME = 0.4
"""Kappa from which on two experts match: on simulated tables true regimes have 0.4 to 1 in fits to subsets of the rows,
and experts fitted to noise alone up to 0.3."""


def memberships(rows: LaidOutRows, family: Family, theta: Theta) -> np.ndarray:
    """Return the probability of each expert given inputs and output, (k, n)."""
    U, V, y = (to_numpy(part) for part in rows.block(rows.X, rows.y, None)[:3])
    return posterior(theta.A.reshape(-1, U.shape[0]), theta.W, theta.sigma, family, U, V, y).R


def stability(memberships: np.ndarray, others: Sequence[np.ndarray], weight: np.ndarray) -> np.ndarray:
    """Return the share of other models with a matching expert, for each expert, (k,).

    Parameters
    ----------
    memberships : (k, n) array
        Probability of each expert in each row.
    others : sequence of (k', n) arrays
        The same of other models, of any number of experts.
    weight : (n,) array
        Row weights.
    """
    matched = [np.max(_kappa(memberships, other, weight / np.sum(weight)), axis=1) >= SAME for other in others]
    return np.mean(matched, axis=0) if matched else np.full(len(memberships), np.nan)


def _kappa(P: np.ndarray, Q: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return Cohen's kappa of each expert of one model and each of another, (k, k')."""
    p, q = (P @ weight)[:, None], (Q @ weight)[None, :]
    by_chance = p * (1 - q) + q * (1 - p)
    excess = 2 * ((P * weight) @ Q.T - p * q)
    never = by_chance < 1e-12  # both have all rows, or none
    return np.where(never, p * q, excess / np.where(never, 1.0, by_chance))
