"""What a report is made from: the model, the rows if there are any, and numbers computed from them once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skmoe.report.gate_curves import GateCurve, gate_curves
from skmoe.report.quality import Quality, qualities
from skmoe.report.rows import Rows

__all__ = ["Coefficient", "ReportData", "report_data"]


class Coefficient(NamedTuple):
    """A row of the coefficient table, as `MoERegressor.summary` gives it."""

    part: str
    term: str
    estimate: float
    error: float
    t: float
    p: float
    low: float
    high: float


@dataclass(frozen=True)
class ReportData:
    """What sections are made from.

    Attributes
    ----------
    model : fitted MoERegressor
    rows : Rows or None
        The given rows.
    test : Rows or None
        Rows held out of the fit.
    target : str
        What the output is called.
    """

    model: Any
    rows: Rows | None
    test: Rows | None
    target: str

    @property
    def X(self) -> Any:  # noqa: N802 - the matrix of rows
        """Rows as the caller gave them, or None."""
        return None if self.rows is None else self.rows.X

    @property
    def y(self) -> np.ndarray | None:
        """Outputs of the given rows, or None."""
        return None if self.rows is None else self.rows.y

    @property
    def target_in_figures(self) -> str:
        """The output in captions of figures, whose axes call it y."""
        return "y" if self.target == "y" else f"{self.target} (y)"

    @cached_property
    def quality(self) -> tuple[Quality, ...]:
        """How well mixture and least squares predict: given rows first, held-out ones last."""
        return () if self.rows is None or self.y is None else qualities(self.model, self.rows, self.test)

    @cached_property
    def curves(self) -> tuple[GateCurve, ...]:
        """The gate along its most influential inputs."""
        return () if self.rows is None or self.model.n_experts_ == 1 else gate_curves(self.model, self.rows.values)

    @cached_property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """Rows of the coefficient table."""
        return tuple(Coefficient(*row[:8]) for row in self.model.summary().rows)

    @cached_property
    def main_input(self) -> int | None:
        """Column for the horizontal axis of figures: the gate's strongest, or else the experts'; None without rows."""
        if self.curves:
            return self.curves[0].column
        if self.rows is None:
            return None
        effect = np.max(np.abs(self.model.expert_coef_), axis=0) * np.std(self.rows.values, axis=0)
        return int(np.argmax(effect)) if np.max(effect) > 0 else None


def report_data(model: Any, X: Any, y: Any, target: str | None, test: Any) -> ReportData:
    """Check the arguments of a report and put them together."""
    if not hasattr(model, "gate_proba"):
        raise TypeError(
            f"a report is about a fitted MoERegressor; got {type(model).__name__} (of a pipeline, pass the last step "
            "and the rows as they reach it)"
        )
    check_is_fitted(model)
    if hasattr(model, "classes_"):
        raise TypeError("a report is about a regression; of a MoEClassifier, summary() and regimes() tell")
    if y is not None and model.parameters_.family.columns > 1:
        raise ValueError(
            f"outputs of family={model.parameters_.family.name!r} have several columns, which a report cannot show: "
            "leave y out"
        )
    if X is None and y is not None:
        raise ValueError("y came without X: pass both, X alone, or neither")
    if test is not None and (X is None or y is None):
        raise ValueError("test is compared with the rows of the fit: pass X and y too, or held-out rows as X and y")
    if test is not None and (not isinstance(test, tuple | list) or len(test) != 2):
        raise ValueError(f"test must be a pair (X, y) of held-out rows; got {type(test).__name__}")
    rows = None if X is None else Rows.of(model, X, y)
    held_out = None if test is None else Rows.of(model, *test)
    if target is None:
        name = getattr(y, "name", None)
        target = name if isinstance(name, str) and name else "y"
    return ReportData(model, rows, held_out, str(target))
