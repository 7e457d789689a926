r"""The share of the gate's variation over the rows that goes with each input.

For expert i with probability :math:`p_i(x)` and input j,

.. math:: C_{ji} = \tfrac12\, E\,(p_i(x) - p_i(x^{(j)}))^2

where :math:`x^{(j)}` is x with input j of another row. Where the inputs are independent, :math:`C_{ji} / Var\, p_i` is
the share of the variance of p_i that needs input j, alone or with others: one if j decides everything, zero if the gate
does not depend on it. It depends on neither units nor standard errors, which have no meaning where the gate separates
the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skmoe.inference.formatting import short
from skmoe.inference.summary import feature_names
from skmoe.model.fitted import FittedMixture
from skmoe.model.gate import log_sum_exp
from skmoe.model.parameters import MoEParameters

__all__ = ["GateChanges", "Input", "gate_changes", "inputs_of", "two_values"]

PAIRS = 10_000  # pairs of rows over which the change is averaged
TWO_VALUED_ROWS = 1000  # rows that show most columns to have more than two values


@dataclass(frozen=True)
class Input:
    """An input as a column of the caller's table: a column of text is one input, and several columns of X.

    Attributes
    ----------
    name : str
    columns : tuple of int
        Its columns in X.
    levels : tuple of str
        Values of a column of text or yes/no, the one without a column of its own first; empty for numbers.
    """

    name: str
    columns: tuple[int, ...]
    levels: tuple[str, ...] = ()

    def membership(self, X: np.ndarray) -> tuple[tuple[str, ...], np.ndarray] | None:
        """Return categories and which rows have them, (n, levels); None for numbers with more than two values."""
        if self.levels:
            held = X[:, self.columns] > 0.5
            return self.levels, np.column_stack([~np.any(held, axis=1), held])
        values = X[:, self.columns[0]]
        two = two_values(values)
        if two is None:
            return None
        return (short(two[0]), short(two[1])), np.column_stack([values == two[0], values == two[1]])


def two_values(values: np.ndarray) -> tuple[float, float] | None:
    """Return the two values of a column that has no others, smaller first; else None."""
    if len(np.unique(values[:TWO_VALUED_ROWS])) > 2:
        return None
    distinct = np.unique(values)
    return (float(distinct[0]), float(distinct[1])) if len(distinct) == 2 else None


def inputs_of(model: FittedMixture) -> list[Input]:
    """Return the inputs of a fitted model, with the columns of one text column together."""
    if model.encoder_ is None:
        return [Input(name, (j,)) for j, name in enumerate(feature_names(model))]
    found, start = [], 0
    for one in (one for column in model.encoder_.columns for one in column.inputs):
        columns = tuple(range(start, start + len(one.features)))
        found.append(Input(one.name, columns, one.categories))
        start += len(columns)
    return found


class GateChanges(NamedTuple):
    """Changes of the gate with each input.

    Attributes
    ----------
    change : (inputs, k) array
        Half the mean squared change of each probability.
    rises : (inputs, k) array of bool
        Whether the probability rises with an input that is one column.
    variance : (k,) array
        Variance of each probability over the rows.
    """

    change: np.ndarray
    rises: np.ndarray
    variance: np.ndarray


def gate_changes(parameters: MoEParameters, X: np.ndarray, weight: np.ndarray, inputs: Sequence[Input]) -> GateChanges:
    """Measure how each probability changes when an input takes the value of another row.

    Parameters
    ----------
    parameters : MoEParameters
    X : (n, d) array
        Rows.
    weight : (n,) array
        Row weights, by which rows are drawn.
    inputs : sequence of Input

    Returns
    -------
    GateChanges
        Averages over a fixed number of pairs of rows; the same rows give the same averages.
    """
    rng = np.random.default_rng(0)
    share = weight / np.sum(weight)
    first, second = rng.choice(len(X), size=(2, PAIRS), p=share)
    L = parameters.W @ parameters.from_origin(X).T + parameters.c[:, None]
    _, P = log_sum_exp(L)
    L_first, P_first = L[:, first], P[:, first]
    changes, slopes = np.zeros((2, len(inputs), len(parameters.W)))
    for j, one in enumerate(inputs):
        W = parameters.W[:, one.columns]
        if np.any(W):
            values = X[:, one.columns]
            step = values[second] - values[first]
            moved = log_sum_exp(L_first + W @ step.T)[1] - P_first
            changes[j] = 0.5 * np.mean(moved**2, axis=1)
            slopes[j] = moved @ step[:, 0]
    return GateChanges(changes, slopes > 0, (P - (P @ share)[:, None]) ** 2 @ share)
