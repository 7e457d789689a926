r"""Whether an expert is seen again in another model of the same rows.

The rows of an expert are all rows, weighted by its responsibilities. An expert P is seen in another model if one of
that model's experts Q has mostly the same rows, by Cohen's kappa of two draws, one by the memberships of each:

.. math:: \kappa = \frac{2\,(\overline{PQ} - \bar P \bar Q)}{\bar P (1 - \bar Q) + \bar Q (1 - \bar P)}

It is zero for experts that share out the rows at random, however alike their shares are, so that experts which rows do
not tell apart are not seen anywhere. Over simulated tables, gates alone would miss experts that hold everywhere alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skmoe.arrays.namespaces import to_numpy
from skmoe.likelihood import LaidOutRows, Theta
from skmoe.model.family import Family
from skmoe.model.gate import with_zero_row
from skmoe.model.posterior import posterior

__all__ = ["memberships", "stability"]

SAME = 0.4
"""Kappa from which on two experts have mostly the same rows: on simulated tables regimes that are there have 0.4 to 1
in fits to parts of the rows, and experts fitted to noise alone up to 0.3."""


def memberships(rows: LaidOutRows, family: Family, theta: Theta) -> np.ndarray:
    """Probability of each expert given inputs and output, (k, n)."""
    U, V, y = (to_numpy(part) for part in rows.block(rows.X, rows.y, None)[:3])
    return posterior(theta.A.reshape(-1, U.shape[0]), with_zero_row(theta.W), theta.sigma, family, U, V, y).R


def stability(memberships: np.ndarray, others: Sequence[np.ndarray], weight: np.ndarray) -> np.ndarray:
    """Share of other models that have an expert with mostly the same rows, for each expert, (k,).

    Parameters
    ----------
    memberships : (k, n) array
        Probability of each expert in each row.
    others : sequence of (k', n) arrays
        The same of other models, of any number of experts.
    weight : (n,) array
        Row weights.
    """
    seen = [np.max(_kappa(memberships, other, weight / np.sum(weight)), axis=1) >= SAME for other in others]
    return np.mean(seen, axis=0) if seen else np.full(len(memberships), np.nan)


def _kappa(P: np.ndarray, Q: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Cohen's kappa of each expert of one model and each of another, (k, k')."""
    p, q = (P @ weight)[:, None], (Q @ weight)[None, :]
    by_chance = p * (1 - q) + q * (1 - p)
    excess = 2 * ((P * weight) @ Q.T - p * q)
    never = by_chance < 1e-12  # both have all rows, or none
    return np.where(never, p * q, excess / np.where(never, 1.0, by_chance))
