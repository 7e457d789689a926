"""Outputs of a few values: their names and probabilities, and the confidence in the most probable one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Self

import numpy as np

from skmoe.inference.formatting import percent
from skmoe.model.fitted import FittedMixture

__all__ = ["ClassConfidence", "ConfidenceVerdict", "outcome_names", "outcome_proba"]

TOLERABLE = 0.02  # difference of probability and share that is never reported
UNLIKELY = 2.58  # standard errors at which a difference is not taken for chance


def outcome_names(model: FittedMixture) -> tuple[str, ...]:
    """Return the possible outputs: classes, or 0 and 1 of binomial experts; empty where outputs are numbers."""
    if hasattr(model, "classes_"):
        return tuple(map(str, model.classes_))
    family = model.parameters_.family
    return ("0", "1") if family.few_values and family.columns == 1 else ()


def outcome_proba(model: FittedMixture, X: np.ndarray) -> np.ndarray:
    """Return probabilities of the possible outputs, (n, C), in the order of `outcome_names`."""
    if hasattr(model, "classes_"):
        return np.asarray(model._class_proba(X))
    p = model._distribution().mean(X)
    return np.column_stack([1 - p, p])


class ConfidenceVerdict(Enum):
    """Comparison of probabilities with observed shares, in words."""

    RIGHT = "They are as sure as they should be"
    TOO_SURE = "Probabilities near 1 are too near: the model is too sure"
    LESS_SURE = "The model is less sure than it could be"


@dataclass(frozen=True)
class ClassConfidence:
    """Probability of the most probable class, and how often it was observed.

    Attributes
    ----------
    stated : float
        Mean probability of the most probable class.
    observed : float
        Share of the rows in which that class was observed.
    error : float
        Standard error of their difference if the probabilities are right.
    n : int
        Number of rows.
    """

    stated: float
    observed: float
    error: float
    n: int

    @classmethod
    def of(cls, proba: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> Self:
        """Compare probabilities (n, C) with the observed classes (n,), with weights of the rows (n,)."""
        share = np.full(len(y), 1 / len(y)) if weight is None else weight / np.sum(weight)
        p = np.max(proba, axis=1)
        observed = float(share @ (np.argmax(proba, axis=1) == y))
        return cls(float(share @ p), observed, float(np.sqrt(share**2 @ (p * (1 - p)))), len(y))

    @property
    def finding(self) -> str:
        """The stated probability and the observed share, in words."""
        stated, observed = percent(self.stated), percent(self.observed)
        return f"the most probable class has {stated} on average, and comes in {observed} of the rows"

    @property
    def verdict(self) -> ConfidenceVerdict:
        """Whether the probabilities are right, as far as the rows show."""
        gap = self.stated - self.observed
        if abs(gap) <= max(TOLERABLE, UNLIKELY * self.error):
            return ConfidenceVerdict.RIGHT
        return ConfidenceVerdict.TOO_SURE if gap > 0 else ConfidenceVerdict.LESS_SURE
