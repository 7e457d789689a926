"""Models from files."""

from __future__ import annotations

from typing import Any

from skmoe.estimators.classifier import MoEClassifier
from skmoe.estimators.regressor import MoERegressor
from skmoe.persistence import load_model

__all__ = ["load"]


def load(path: Any) -> MoERegressor | MoEClassifier:
    """Read a model written by the `save` of an estimator; no code in the file is run.

    Parameters
    ----------
    path : str or path
        The model file.

    Returns
    -------
    MoERegressor or MoEClassifier
        The fitted model.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If the file is damaged, is no skmoe model, or is of another format.
    """
    return load_model(path, {"regressor": MoERegressor, "classifier": MoEClassifier})
