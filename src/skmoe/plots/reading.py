"""What displays read off a fitted model and a table: checked rows, names, typical rows and grids."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from skmoe.rows.checks import check_columns

__all__ = [
    "check_model",
    "check_whole",
    "column",
    "expert_names",
    "feature_names",
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
    return validate_data(model, X, reset=False, dtype=np.float64)


def rows_and_outputs(model: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, d) and outputs (n,) as the model would take them."""
    check_model(model)
    X, y = validate_data(model, X, y, reset=False, dtype=np.float64, y_numeric=True)
    return X, np.asarray(y, dtype=np.float64)


def feature_names(model: Any) -> list[str]:
    """Names of the columns, or x0, x1, ... where the model was fitted to a bare array."""
    d = model.expert_coef_.shape[1]
    return [str(name) for name in getattr(model, "feature_names_in_", [f"x{i}" for i in range(d)])]


def column(model: Any, feature: Any, name: str = "feature") -> int:
    """Index of a column given by name or index."""
    found = check_columns([feature], getattr(model, "feature_names_in_", None), model.expert_coef_.shape[1], name)
    assert found is not None
    return found[0]


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
