"""What displays read off a fitted model and a table: checked rows, names, typical rows and grids."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skmoe.rows.arrays import to_numpy
from skmoe.rows.blocks import in_memory
from skmoe.rows.checks import check_columns
from skmoe.rows.inputs import rows_to_use

__all__ = [
    "check_model",
    "check_whole",
    "column",
    "expert_names",
    "grid_over",
    "rows",
    "rows_and_outputs",
    "some_rows",
    "typical_row",
]


def check_model(model: Any) -> None:
    """Refuse what is not fitted, or is no mixture of experts."""
    check_is_fitted(model)
    if not hasattr(model, "parameters_") or not hasattr(model, "history_"):
        raise TypeError(
            f"expected a fitted MoERegressor; got {type(model).__name__}: of a pipeline pass the last step and the "
            "table it was given, of a search best_estimator_"
        )


def rows(model: Any, X: Any) -> np.ndarray:
    """Rows (n, d) as the model would take them, names checked."""
    check_model(model)
    return _on_the_host(rows_to_use(model, X)[0])


def rows_and_outputs(model: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, d) and outputs (n,) as the model would take them."""
    check_model(model)
    X, y = (_on_the_host(values) for values in rows_to_use(model, X, y))
    return X, y


def _on_the_host(values: Any) -> np.ndarray:
    return np.asarray(to_numpy(in_memory(values)[0]), dtype=np.float64)


def column(model: Any, feature: Any, name: str = "feature") -> int:
    """Index of a column given by name or index."""
    known, d = getattr(model, "feature_names_in_", None), model.expert_coef_.shape[1]
    return (check_columns([feature], known, d, name) or [])[0]


def expert_names(model: Any) -> list[str]:
    """Experts as legends call them: number, and share of the rows."""
    return [f"expert {i + 1} ({100 * share:.0f}%)" for i, share in enumerate(model.shares_)]


def check_whole(value: Any, least: int, name: str) -> int:
    """A whole number of at least `least`."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}")
    return int(value)


def typical_row(X: np.ndarray) -> np.ndarray:
    """Median of each column, the more frequent value where there are but two, (d,)."""
    middle = np.median(X, axis=0)
    for j in range(X.shape[1]):
        values, counts = np.unique(X[:, j], return_counts=True)
        if len(values) == 2:  # half a yes is nobody's value
            middle[j] = values[np.argmax(counts)]
    return middle


def grid_over(values: np.ndarray, resolution: int, name: str) -> np.ndarray:
    """Even steps from the smallest to the largest value; the values themselves where there are but two."""
    distinct = np.unique(values)
    if len(distinct) < 2:
        raise ValueError(f"column {name!r} is constant in X; there is nothing to draw against it: choose another")
    return distinct if len(distinct) == 2 else np.linspace(distinct[0], distinct[-1], resolution)


def some_rows(n: int, most: int, random_state: Any) -> np.ndarray:
    """Indices of at most `most` of n rows, drawn at random, in order."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))
