"""Predictions of one method for rows that it was not fitted to, and how far they are from the outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.inference.class_confidence import ClassConfidence
from skmoe.inference.formatting import fixed, listed, three_digits

__all__ = ["SAME", "Evaluate", "Evaluated", "EvaluatedClasses", "EvaluatedNumbers", "Fit"]

SAME = 0.005  # relative difference of errors that is not reported
LEAST = 1e-15  # probability that a log loss counts at least, as scikit-learn's

Evaluate = Callable[[np.ndarray, np.ndarray], Any]
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray | None], Evaluate]


@dataclass(frozen=True)
class Evaluated:
    """Rows that one method was not fitted to; subclasses add its predictions.

    Attributes
    ----------
    method : str
    y : (n,) array
    weight : (n,) array or None
        Weights of the rows; None for equal ones.
    seconds : float
        Time of the fit; NaN where it was not taken.
    """

    MEASURES: ClassVar[dict[str, str]]  # names of properties, and their headings
    LOSS: ClassVar[tuple[str, str]]  # the measure that methods are compared by, and its name in a sentence

    method: str
    y: np.ndarray
    weight: np.ndarray | None = field(default=None, kw_only=True)
    seconds: float = field(default=float("nan"), kw_only=True)

    @property
    def loss(self) -> float:
        """Return the measure that methods are compared by; smaller is better."""
        return float(getattr(self, self.LOSS[0]))

    def measures(self) -> dict[str, float]:
        """Return all measures; NaN for those that the method has none of."""
        return {name: float(getattr(self, name)) for name in self.MEASURES}

    def shortfall(self, simplest: Self | None) -> str:
        """Name what predicts these rows better: a constant, or the simplest baseline; empty if neither does."""
        better = [text] if (text := self._better_constant()) else []
        if simplest is not None and self.loss > (1 + SAME) * simplest.loss:
            losses = f"{three_digits(self.loss)} against {three_digits(simplest.loss)}"
            better.append(f"{simplest.method} ({self.LOSS[1]} {losses})")
        return f"Careful: rows held out are predicted worse than by {listed(better)}" if better else ""

    def _better_constant(self) -> str:
        raise NotImplementedError

    def _mean(self, values: np.ndarray) -> float:
        return float(np.average(values, weights=self.weight))

    def joined(self, others: Sequence[Self], order: np.ndarray | slice) -> Self:
        """Join these and other predictions of the method in one record, its rows in the given order."""
        arrays = {f.name for f in fields(self)} - {"method", "weight", "seconds"}
        parts = [self, *others]
        joined: dict[str, Any] = {name: np.concatenate([getattr(p, name) for p in parts])[order] for name in arrays}
        return replace(self, **joined)


@dataclass(frozen=True)
class EvaluatedNumbers(Evaluated):
    """Predictions of one method for rows that it was not fitted to.

    Attributes
    ----------
    predicted : (n,) array
    pit : (n,) array
        Predictive distribution function at y; NaN for a method without one.
    bounds : (n, 2) array
        Bounds of 90% intervals; NaN without any.
    log_densities : (n,) array
        Log densities of y; NaN without any.
    """

    MEASURES: ClassVar[dict[str, str]] = {
        "rmse": "RMSE",
        "r2": "R2",
        "log_density": "log density",
        "coverage": "inside 90% interval",
    }
    LOSS: ClassVar[tuple[str, str]] = ("rmse", "root mean squared error")

    predicted: np.ndarray
    pit: np.ndarray
    bounds: np.ndarray
    log_densities: np.ndarray

    @classmethod
    def of_means(cls, method: str, y: np.ndarray, predicted: np.ndarray) -> Self:
        """Return predictions of a method that has no distribution of the outputs."""
        unknown = np.full((len(y), 2), np.nan)
        return cls(method, y, predicted, unknown[:, 0], unknown, unknown[:, 0])

    @property
    def rmse(self) -> float:
        """Root mean squared error."""
        return self._mean((self.y - self.predicted) ** 2) ** 0.5

    @property
    def r2(self) -> float:
        """Share of the variance of the outputs that is explained; NaN where they do not vary."""
        total = self._mean((self.y - self._mean(self.y)) ** 2)
        return 1 - self.rmse**2 / total if total > 0 else float("nan")

    def _better_constant(self) -> str:
        return f"the mean of all outputs (R² is {fixed(self.r2, 3)})" if self.r2 < 0 else ""

    @property
    def log_density(self) -> float:
        """Mean log density of the outputs; NaN without any."""
        return self._mean(self.log_densities)

    @property
    def coverage(self) -> float:
        """Share of the outputs inside 90% intervals; NaN without any."""
        return self.inside(0.9)

    def inside(self, coverage: float) -> float:
        """Return the share of the outputs inside central intervals; NaN without any."""
        if np.any(np.isnan(self.pit)):
            return float("nan")
        return self._mean(np.abs(self.pit - 0.5) <= coverage / 2)

    @property
    def width(self) -> float:
        """Median width of 90% intervals; NaN without any."""
        widths = self.bounds[:, 1] - self.bounds[:, 0]
        if self.weight is None or np.any(np.isnan(widths)):
            return float(np.median(widths))
        return float(np.quantile(widths, 0.5, weights=self.weight, method="inverted_cdf"))


@dataclass(frozen=True)
class EvaluatedClasses(Evaluated):
    """Probabilities that one method gives to classes, for rows that it was not fitted to.

    Attributes
    ----------
    y : (n,) array
        Numbers of the observed classes.
    proba : (n, C) array
    """

    MEASURES: ClassVar[dict[str, str]] = {"log_loss": "log loss", "accuracy": "accuracy", "brier": "Brier score"}
    LOSS: ClassVar[tuple[str, str]] = ("log_loss", "log loss")

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

    def _better_constant(self) -> str:
        if self.accuracy >= self.base_rate:
            return ""
        shares = f"{100 * self.accuracy:.1f}% right against {100 * self.base_rate:.1f}%"
        return f"always naming the most frequent class ({shares})"

    @property
    def brier(self) -> float:
        """Mean squared distance of the probabilities from 1 for the observed class and 0 for the others."""
        return self._mean(np.sum(self.proba**2, axis=1) - 2 * self._of_truth + 1)

    @property
    def confidence(self) -> ClassConfidence:
        """Probability of the most probable class, and how often it is observed."""
        return ClassConfidence.of(self.proba, self.y, self.weight)

    @property
    def _of_truth(self) -> np.ndarray:
        return self.proba[np.arange(len(self.y)), self.y.astype(int)]
