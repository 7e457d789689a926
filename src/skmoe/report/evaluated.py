"""Predictions of one method for rows that it was not fitted to, and how far they are from the outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from skmoe.inference.formatting import fixed, listed, three_digits

__all__ = ["SAME", "Evaluate", "EvaluatedNumbers", "EvaluatedRows", "Fit"]

SAME = 0.005  # relative difference of errors that is not reported

Evaluate = Callable[[np.ndarray, np.ndarray], Any]
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray | None], Evaluate]


@dataclass(frozen=True)
class EvaluatedRows:
    """Rows that one method was not fitted to; subclasses add its predictions.

    Attributes
    ----------
    method : str
    y : (n,) array
    weight : (n,) array or None
        Weights of the rows; None for equal ones.
    """

    method: str
    y: np.ndarray
    weight: np.ndarray | None = field(default=None, kw_only=True)

    def shortfall(self, simplest: Self | None) -> str:
        """Name what predicts these rows better: a constant, or the simplest baseline; empty if neither does."""
        better = self._better(simplest)
        return f"Careful: rows held out are predicted worse than by {listed(better)}" if better else ""

    def _better(self, simplest: Self | None) -> list[str]:
        raise NotImplementedError

    def _mean(self, values: np.ndarray) -> float:
        return float(np.average(values, weights=self.weight))

    def joined(self, others: Sequence[Self], order: np.ndarray | slice) -> Self:
        """Join these and other predictions of the method in one record, its rows in the given order."""
        arrays = {f.name for f in fields(self)} - {"method", "weight"}
        parts = [self, *others]
        joined: dict[str, Any] = {name: np.concatenate([getattr(p, name) for p in parts])[order] for name in arrays}
        return replace(self, **joined)


@dataclass(frozen=True)
class EvaluatedNumbers(EvaluatedRows):
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

    predicted: np.ndarray
    pit: np.ndarray
    bounds: np.ndarray
    log_densities: np.ndarray

    @property
    def rmse(self) -> float:
        """Root mean squared error."""
        return self._mean((self.y - self.predicted) ** 2) ** 0.5

    @property
    def r2(self) -> float:
        """Share of the variance of the outputs that is explained; NaN where they do not vary."""
        total = self._mean((self.y - self._mean(self.y)) ** 2)
        return 1 - self.rmse**2 / total if total > 0 else float("nan")

    def _better(self, simplest: Self | None) -> list[str]:
        found = [f"the mean of all outputs (R² is {fixed(self.r2, 3)})"] if self.r2 < 0 else []
        if simplest is not None and self.rmse > (1 + SAME) * simplest.rmse:
            errors = f"{three_digits(self.rmse)} against {three_digits(simplest.rmse)}"
            found.append(f"{simplest.method} (root mean squared error {errors})")
        return found

    @property
    def log_density(self) -> float:
        """Mean log density of the outputs; NaN without any."""
        return self._mean(self.log_densities)

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
