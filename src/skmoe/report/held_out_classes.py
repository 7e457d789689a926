"""Compare probabilities of classes with those of logistic regression and boosting, on rows held out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference.class_confidence import ClassConfidence, outcome_proba
from skmoe.inference.formatting import three_digits
from skmoe.report.baselines import on_one_thread
from skmoe.report.evaluated import SAME, Evaluate, EvaluatedRows
from skmoe.report.held_out import Methods, TooFewRowsError

__all__ = ["EvaluatedClasses", "of_classes"]

LEAST = 1e-15  # probability that a log loss counts at least, as scikit-learn's
ITERATIONS = 1000  # of logistic regression


@dataclass(frozen=True)
class EvaluatedClasses(EvaluatedRows):
    """Probabilities that one method gives to classes, for rows that it was not fitted to.

    Attributes
    ----------
    y : (n,) array
        Numbers of the observed classes.
    proba : (n, C) array
    """

    proba: np.ndarray

    @property
    def log_loss(self) -> float:
        """Mean negative log probability of the observed class."""
        return -self._mean(np.log(np.maximum(self._of_truth, LEAST)))

    @property
    def accuracy(self) -> float:
        """Share of the rows whose most probable class is the observed one."""
        return self._mean(np.argmax(self.proba, axis=1) == self.y)

    @property
    def base_rate(self) -> float:
        """Share of the rows of the most frequent class: the accuracy of always naming it."""
        return max(self._mean(self.y == number) for number in np.unique(self.y))

    def _better(self, simplest: Self | None) -> list[str]:
        found = []
        if self.accuracy < self.base_rate:
            shares = f"{100 * self.accuracy:.1f}% right against {100 * self.base_rate:.1f}%"
            found.append(f"always naming the most frequent class ({shares})")
        if simplest is not None and self.log_loss > (1 + SAME) * simplest.log_loss:
            losses = f"{three_digits(self.log_loss)} against {three_digits(simplest.log_loss)}"
            found.append(f"{simplest.method} (log loss {losses})")
        return found

    @property
    def brier(self) -> float:
        """Mean squared distance of the probabilities from 1 for the observed class and 0 for the others."""
        return self._mean(np.sum(self.proba**2, axis=1) - 2 * self._of_truth + 1)

    @property
    def sureness(self) -> ClassConfidence:
        """Probability of the most probable class, and how often it is observed."""
        return ClassConfidence.of(self.proba, self.y, self.weight)

    @property
    def _of_truth(self) -> np.ndarray:
        return self.proba[np.arange(len(self.y)), self.y.astype(int)]


def of_classes(n_classes: int) -> Methods:
    """Return the methods to compare where outputs are classes 0, 1, ..., n_classes - 1."""
    baselines = (
        ("logistic regression", lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=ITERATIONS))),
        ("gradient boosting", lambda: HistGradientBoostingClassifier(random_state=0)),
    )
    fits = tuple(on_one_thread(partial(_fitted, name, make, n_classes)) for name, make in baselines)
    return Methods(partial(_of_mixture, n_classes), fits, _split)


def _fitted(
    method: str, make: Any, n_classes: int, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None
) -> Evaluate:
    """Fit a baseline with scikit-learn's defaults."""
    if len(np.unique(y)) < 2:
        raise TooFewRowsError("it holds one class only")
    model = make()
    name = f"{model.steps[-1][0]}__sample_weight" if hasattr(model, "steps") else "sample_weight"
    model.fit(X, y, **{name: weight})
    return lambda X, y: EvaluatedClasses(method, y, _of_all(n_classes, model, model.predict_proba(X)))


def _of_mixture(n_classes: int, model: MixtureOfExperts, X: np.ndarray, y: np.ndarray) -> EvaluatedClasses:
    return EvaluatedClasses("mixture of experts", y, _of_all(n_classes, model, outcome_proba(model, X)))


def _of_all(n_classes: int, model: MixtureOfExperts, P: np.ndarray) -> np.ndarray:
    """Return probabilities of all classes; one that was not among the rows of a fit has probability 0."""
    if P.shape[1] == n_classes:
        return P
    full = np.zeros((len(P), n_classes))
    full[:, model.classes_.astype(int)] = P
    return full


def _split(y: np.ndarray, folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split rows into folds, alike for every method, with the same shares of the classes where each has enough rows."""
    enough = np.min(np.unique(y, return_counts=True)[1]) >= folds
    kind = StratifiedKFold if enough else KFold
    return kind(folds, shuffle=True, random_state=seed).split(y[:, None], y)
