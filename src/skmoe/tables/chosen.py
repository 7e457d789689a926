"""Columns that a caller chooses by name or place, as indices of the inputs that they became."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from skmoe.arrays.visible import listed
from skmoe.tables.encoder import TableEncoder

__all__ = ["FittedColumns", "GivenColumns", "chosen_inputs", "sees_inputs"]


class FittedColumns:
    """The columns that a model was fitted to, and its settings of them, as the estimators document them."""

    expert_features: Sequence[Any] | None
    gate_features: Sequence[Any] | None
    categorical: str | Sequence[str] | None
    unseen: str

    encoder_: TableEncoder | None
    n_features_in_: int
    feature_names_in_: np.ndarray
    encoded_feature_names_: np.ndarray
    classes_: np.ndarray  # of a classifier


@dataclass(frozen=True)
class GivenColumns:
    """The caller's columns, and which inputs each of them became.

    Parameters
    ----------
    names : sequence of str, optional
        Names of the columns, if they have any.
    places : sequence of sequences of int
        For each column the indices of its inputs; none where it was left out.
    inputs : sequence of str
        Names of the inputs.
    """

    names: Sequence[str] | None
    places: Sequence[Sequence[int]]
    inputs: Sequence[str]

    @classmethod
    def of(cls, model: FittedColumns) -> GivenColumns:
        """Find the columns of a model's rows; without an encoder each is one input."""
        names = [str(name) for name in getattr(model, "feature_names_in_", ())] or None
        inputs = [str(name) for name in model.encoded_feature_names_]
        if model.encoder_ is None or names is None:
            return cls(names, [(j,) for j in range(model.n_features_in_)], inputs)
        found, start = {}, 0
        for column in model.encoder_.columns:
            found[column.name] = range(start, start + len(column.features))
            start += len(column.features)
        return cls(names, [found.get(name, ()) for name in names], inputs)

    def indices(self, features: Any, name: str) -> list[int] | None:
        """Return the indices of the inputs of chosen columns; None stands for all, no columns for constants.

        Parameters
        ----------
        features : sequence of str or int, optional
            Names of columns, or of inputs such as ``"species=Gentoo"``; or places of columns.
        name : str
            Name of the caller's option, for messages.
        """
        if features is None:
            return None
        if isinstance(features, str | bytes):
            raise ValueError(f"{name} must be a list of columns, such as [{features!r}]; got the text {features!r}")
        found = [place for feature in features for place in self._places(feature, name)]
        if len(set(found)) < len(found):
            raise ValueError(f"{name} names a column twice: {list(features)}")
        return found

    def _places(self, feature: Any, name: str) -> Sequence[int]:
        width = len(self.places)
        if isinstance(feature, str):
            if feature in self.inputs and feature not in (self.names or ()):
                return [self.inputs.index(feature)]
            if self.names is None:
                raise ValueError(f"{name} names the column {feature!r}, but X has no column names; use indices")
            if feature not in self.names:
                raise ValueError(
                    f"{name} names the column {feature!r}, which X does not have; it has {listed(self.names)}"
                )
            place = self.names.index(feature)
        elif isinstance(feature, Integral) and -width <= int(feature) < width:
            place = int(feature) % width
        else:
            raise ValueError(f"{name} must hold column names or indices below {width}; got {feature!r}")
        if not self.places[place]:
            column = feature if self.names is None else self.names[place]
            raise ValueError(f"{name} names the column {column!r}, which was left out: no input came of it")
        return self.places[place]


def chosen_inputs(model: FittedColumns, part: str) -> list[int] | None:
    """Return the indices of the inputs that a part of a model uses, "expert" or "gate"; None stands for all."""
    name = f"{part}_features"
    return GivenColumns.of(model).indices(getattr(model, name), name)


def sees_inputs(model: FittedColumns, part: str) -> bool:
    """Return whether a part of a model, "expert" or "gate", has any input; it is of constants otherwise."""
    return chosen_inputs(model, part) != []
