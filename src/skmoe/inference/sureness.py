"""Outputs that are one of a few: their names and probabilities, and how sure a model is of the most probable one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Self

import numpy as np

from skmoe.inference.formatting import percent

__all__ = ["Sureness", "SurenessVerdict", "outcome_names", "outcome_proba"]

TOLERABLE = 0.02  # difference from what was said that is never worth a word
UNLIKELY = 2.58  # standard errors at which a difference is not taken for chance


def outcome_names(model: Any) -> tuple[str, ...]:
    """Names of what an output can be: classes, or 0 and 1 of binomial experts; empty where it is a number."""
    if hasattr(model, "classes_"):
        return tuple(map(str, model.classes_))
    family = model.parameters_.family
    return ("0", "1") if family.few_values and family.columns == 1 else ()


def outcome_proba(model: Any, X: np.ndarray) -> np.ndarray:
    """Probabilities of what an output can be, (n, C), in the order of `outcome_names`."""
    if hasattr(model, "classes_"):
        return np.asarray(model._class_proba(X))
    p = model._law().mean(X)
    return np.column_stack([1 - p, p])


class SurenessVerdict(Enum):
    """How probabilities compare with what came, in words."""

    RIGHT = "They are as sure as they should be"
    TOO_SURE = "Probabilities near 1 are too near: the model is too sure"
    LESS_SURE = "The model is less sure than it could be"


@dataclass(frozen=True)
class Sureness:
    """Probability of the most probable class, and how often it came.

    Attributes
    ----------
    said : float
        Mean probability of the most probable class.
    came : float
        Share of the rows in which that class came.
    error : float
        Standard error of their difference if the probabilities are right.
    n : int
        Number of rows.
    """

    said: float
    came: float
    error: float
    n: int

    @classmethod
    def of(cls, proba: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> Self:
        """Probabilities (n, C) beside the numbers of the classes that came (n,), with weights of the rows (n,)."""
        share = np.full(len(y), 1 / len(y)) if weight is None else weight / np.sum(weight)
        p = np.max(proba, axis=1)
        came = float(share @ (np.argmax(proba, axis=1) == y))
        return cls(float(share @ p), came, float(np.sqrt(share**2 @ (p * (1 - p)))), len(y))

    @property
    def finding(self) -> str:
        """What was said and what came."""
        said, came = percent(self.said), percent(self.came)
        return f"the most probable class has {said} on average, and comes in {came} of the rows"

    @property
    def verdict(self) -> SurenessVerdict:
        """Whether probabilities are right, as far as the rows tell."""
        gap = self.said - self.came
        if abs(gap) <= max(TOLERABLE, UNLIKELY * self.error):
            return SurenessVerdict.RIGHT
        return SurenessVerdict.TOO_SURE if gap > 0 else SurenessVerdict.LESS_SURE
