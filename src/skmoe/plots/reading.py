"""Checked rows, names, typical rows and grids that displays need from a fitted model and a table."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skmoe.arrays.blocks import in_memory
from skmoe.arrays.namespaces import to_numpy
from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import feature_names, inputs_of
from skmoe.inference.class_confidence import outcome_names
from skmoe.inference.formatting import short
from skmoe.tables.chosen import GivenColumns
from skmoe.tables.inputs import rows_to_use

__all__ = [
    "Along",
    "along",
    "check_model",
    "check_whole",
    "class_names",
    "classes_to_draw",
    "expert_names",
    "needs_numbers",
    "output_name",
    "rows",
    "rows_and_outputs",
    "some_rows",
    "typical_row",
]

MOST_CLASSES = 4  # lines that can be told apart in one picture
JITTER = 0.14  # half the width over which rows of one value are moved apart, as a share of the distance between values


def check_model(model: MixtureOfExperts) -> None:
    """Refuse what is not fitted, or is no mixture of experts."""
    check_is_fitted(model)
    if not hasattr(model, "parameters_") or not hasattr(model, "record_"):
        raise TypeError(
            f"expected a fitted MoERegressor; got {type(model).__name__}: of a pipeline pass the last step and the "
            "table it was given, of a search best_estimator_"
        )


def rows(model: MixtureOfExperts, X: Any) -> np.ndarray:
    """Return rows (n, d) as the model takes them, names checked."""
    check_model(model)
    return _on_the_host(rows_to_use(model, X)[0])


def rows_and_outputs(model: MixtureOfExperts, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (n, d) and outputs (n,) as the model takes them; those of a classifier are numbers of classes."""
    check_model(model)
    model._needs_one_column("a picture with y")
    X, y = (_on_the_host(values) for values in model._rows_with_outputs(X, y))
    return X, y


def needs_numbers(model: MixtureOfExperts, instead: str) -> None:
    """Refuse a classifier, for which there is another display."""
    check_model(model)
    if hasattr(model, "classes_"):
        raise TypeError(f"this display is of outputs that are numbers; for a MoEClassifier use {instead}")


def class_names(model: MixtureOfExperts) -> list[str]:
    """Return names of the classes of a fitted classifier, or 0 and 1 of binomial experts; refuse other models."""
    check_model(model)
    if not (names := outcome_names(model)):
        raise TypeError(
            f"this display is of classes, or of outputs 0 and 1; got a {type(model).__name__} with "
            f"family={model.parameters_.family.name!r}"
        )
    return list(names)


def classes_to_draw(weight: np.ndarray) -> list[int]:
    """Choose of two classes the second, which determines the other; of more those with most weight (C,), in order."""
    if len(weight) == 2:
        return [1]
    return sorted(np.argsort(-weight, kind="stable")[:MOST_CLASSES].tolist())


def _on_the_host(values: Any) -> np.ndarray:
    return np.asarray(to_numpy(in_memory(values)[0]), dtype=np.float64)


def expert_names(model: MixtureOfExperts) -> list[str]:
    """Return names of the experts for legends: number, and share of the rows."""
    return [f"expert {i + 1} ({100 * share:.0f}%)" for i, share in enumerate(model.shares_)]


def check_whole(value: Any, least: int, name: str) -> int:
    """Check that a value is a whole number of at least `least`."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}")
    return int(value)


def typical_row(X: np.ndarray) -> np.ndarray:
    """Return the median of each column, the more frequent value where there are but two, (d,)."""
    middle = np.median(X, axis=0)
    for j in range(X.shape[1]):
        values, counts = np.unique(X[:, j], return_counts=True)
        if len(values) == 2:  # a median between them would be no value
            middle[j] = values[np.argmax(counts)]
    return middle


@dataclass(frozen=True)
class Along:
    """An input that is drawn along an axis: a number, or one of a few values that are points on it.

    Attributes
    ----------
    name : str
    columns : tuple of int
        Its columns in X: several for a column of text.
    values : (g, columns) array
        Values of the columns at each place of the axis.
    places : (g,) array
        Coordinates of these on the axis.
    labels : tuple of str
        Names of the places; empty for numbers with more than two values.
    """

    name: str
    columns: tuple[int, ...]
    values: np.ndarray
    places: np.ndarray
    labels: tuple[str, ...] = ()

    @property
    def discrete(self) -> bool:
        """True where the axis has places with nothing between them."""
        return bool(self.labels)

    @property
    def step(self) -> float:
        """Distance between places."""
        return float(self.places[1] - self.places[0])

    def place(self, X: np.ndarray, *, jitter: bool = False) -> np.ndarray:
        """Return the places of rows (n, d) on the axis; with `jitter`, rows of one value are moved apart."""
        if len(self.columns) > 1:
            held = X[:, self.columns] > 0.5
            places = np.where(np.any(held, axis=1), 1.0 + np.argmax(held, axis=1), 0.0)
        else:
            places = X[:, self.columns[0]]
            if self.labels:  # of two values the nearer: places are those of the axis
                places = self.places[np.argmin(np.abs(places[:, None] - self.values[:, 0]), axis=1)]
        if jitter and self.discrete:
            places = places + JITTER * self.step * np.random.default_rng(0).uniform(-1, 1, len(places))
        return places

    def rows(self, row: np.ndarray) -> np.ndarray:
        """Return one row (d,) with this input at each place, (g, d)."""
        at = np.tile(row, (len(self.places), 1))
        at[:, self.columns] = self.values
        return at

    def at(self, places: np.ndarray) -> Along:
        """Return the input at other places of a continuous axis."""
        return Along(self.name, self.columns, places[:, None], places)


def along(model: MixtureOfExperts, X: np.ndarray, feature: Any, resolution: int, name: str = "feature") -> Along:
    """Find an input to draw along: a column by its name or index, or a column of text by its name.

    Numbers get even steps from the smallest to the largest value, columns of two values these, text its categories.
    """
    if isinstance(feature, Integral) and model.encoder_ is not None and feature in range(model.n_features_in_):
        feature = str(model.feature_names_in_[feature])
    names = feature_names(model)
    for one in inputs_of(model):
        first, width = one.columns[0], len(one.columns)
        if one.levels and feature in (one.name, *([first, names[first]] if width == 1 else [])):
            values = np.vstack([np.zeros(width), np.eye(width)])
            return Along(one.name, one.columns, values, np.arange(width + 1.0), one.levels)
    (j, *more) = [names.index(feature)] if feature in names else GivenColumns.of(model).indices([feature], name) or []
    if more:
        became = ", ".join(names[i] for i in (j, *more))
        raise ValueError(f"{name}: column {feature!r} became several inputs; choose one of them: {became}")
    called = names[j]
    distinct = np.unique(X[:, j])
    if len(distinct) < 2:
        raise ValueError(f"column {called!r} is constant in X; there is nothing to draw against it: choose another")
    if len(distinct) == 2:
        return Along(called, (j,), distinct[:, None], distinct, (short(distinct[0]), short(distinct[1])))
    grid = np.linspace(distinct[0], distinct[-1], resolution)
    return Along(called, (j,), grid[:, None], grid)


def output_name(y: Any, target: str | None) -> str:
    """Return the label of the output: the caller's, or the name of the outputs."""
    if target is not None:
        return str(target)
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def some_rows(n: int, most: int, random_state: Any) -> np.ndarray:
    """Return the indices of at most `most` of n rows, sampled at random, in order."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))
