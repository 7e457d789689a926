"""Data of a report: the model, the rows if there are any, and numbers computed from them once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skmoe.arrays.namespaces import to_numpy
from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import Regime, describe_regimes, inputs_of, regimes_from_rows
from skmoe.inference.class_confidence import outcome_names
from skmoe.plots.reading import output_name
from skmoe.report.evaluation import Evaluation, cross_fitted, evaluated_on_test
from skmoe.report.gate_curves import GateCurve, gate_curves
from skmoe.report.methods import can_be_evaluated, methods_of
from skmoe.report.rows import Rows
from skmoe.report.support import Support, support_of

__all__ = ["Coefficient", "ReportData", "report_data"]


class Coefficient(NamedTuple):
    """A row of the coefficient table, as `MoERegressor.summary` gives it; the last three for families with ratios."""

    part: str
    term: str
    estimate: float
    error: float
    t: float
    p: float
    low: float
    high: float
    ratio: float = float("nan")
    ratio_low: float = float("nan")
    ratio_high: float = float("nan")


@dataclass(frozen=True)
class ReportData:
    """Model, rows and numbers that sections are made from.

    Attributes
    ----------
    model : fitted MoERegressor or MoEClassifier
    fit_rows : Rows or None
        The rows of the fit.
    test : Rows or None
        Rows held out of the fit.
    target : str
        Name of the output.
    folds : int
        Parts of the rows that are held out in turn; 0 for none.
    """

    model: MixtureOfExperts
    fit_rows: Rows | None
    test: Rows | None
    target: str
    folds: int

    @property
    def rows(self) -> Rows | None:
        """The rows to show: those of the fit, or else those held out."""
        return self.fit_rows if self.fit_rows is not None else self.test

    @property
    def X(self) -> Any:  # noqa: N802 - the matrix of rows
        """Rows as the caller gave them, or None."""
        return None if self.rows is None else self.rows.X

    @property
    def y(self) -> np.ndarray | None:
        """Outputs of the given rows, or None."""
        return None if self.rows is None else self.rows.y

    @cached_property
    def evaluation(self) -> Evaluation | str:
        """Predictions of model and baselines for rows held out of their fits, or the reason why there are none."""
        if self.test is not None:
            return evaluated_on_test(self.model, self.fit_rows, self.test, self.folds, methods_of(self.model))
        if not can_be_evaluated(self.model):
            return "Outputs of this family come in several columns, with which predictions cannot be compared."
        if self.fit_rows is None or self.fit_rows.outputs is None:
            return "Rows with outputs are needed to say how well the model predicts; none were given."
        if not self.folds:
            return "No rows were held out, so nothing is known of rows that the model has not seen."
        return cross_fitted(self.model, self.fit_rows, self.folds, methods_of(self.model))

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes of a classifier; empty for a regression."""
        return tuple(map(str, getattr(self.model, "classes_", ())))

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Values of an output that is one of a few: classes, or 0 and 1; empty for numbers."""
        return outcome_names(self.model)

    @property
    def outputs(self) -> np.ndarray | None:
        """Outputs of the given rows as the model takes them, labels for a classifier, or None."""
        if self.y is None or not self.classes:
            return self.y
        return self.model.classes_[self.y.astype(int)]

    @cached_property
    def regimes(self) -> tuple[Regime, ...]:
        """Regimes of the experts by the rows shown or, without any, as stored in the fit."""
        if self.rows is None:
            return describe_regimes(self.model)
        return regimes_from_rows(self.model, self.rows.values, self.rows.weight)

    @cached_property
    def support(self) -> Support:
        """Rows that support the effects of each expert."""
        if self.rows is None:
            return support_of(self.model, None, None, self.regimes)
        parameters, X, y = self.model.parameters_, self.rows.values, self.rows.outputs
        P = to_numpy(parameters.gate_proba(X) if y is None else parameters.responsibilities(X, y))
        weight = 1.0 if self.rows.weight is None else self.rows.weight[:, None]
        return support_of(self.model, X, weight * P, self.regimes)

    @cached_property
    def curves(self) -> tuple[GateCurve, ...]:
        """The gate along its most influential inputs."""
        return () if self.rows is None or self.model.n_experts_ == 1 else gate_curves(self.model, self.rows.values)

    @cached_property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """Rows of the coefficient table."""
        return tuple(Coefficient(*row) for row in self.model.summary().rows)

    @cached_property
    def main_input(self) -> str | None:
        """Name of the input along the axis of figures: the gate's strongest, or the experts'; None without rows."""
        if self.curves:
            return self.curves[0].name
        if self.rows is None:
            return None
        coef = self.model.expert_coef_.reshape(-1, self.model.gate_coef_.shape[1])
        effect = np.max(np.abs(coef), axis=0) * np.std(self.rows.values, axis=0)
        strongest = max(inputs_of(self.model), key=lambda one: float(np.max(effect[list(one.columns)])))
        return strongest.name if np.max(effect) > 0 else None


def report_data(
    model: MixtureOfExperts, X: Any, y: Any, target: str | None, test: Any, folds: Any = 5, weight: Any = None
) -> ReportData:
    """Check the arguments of a report and put them together."""
    if not hasattr(model, "gate_proba"):
        raise TypeError(
            f"a report is about a fitted MoERegressor or MoEClassifier; got {type(model).__name__} (of a pipeline, "
            "pass the last step and the rows as they reach it)"
        )
    check_is_fitted(model)
    if X is None and y is not None:
        raise ValueError("y came without X: pass both, X alone, or neither")
    if X is None and weight is not None:
        raise ValueError("sample_weight came without X, whose rows it weighs: pass both or neither")
    if test is not None and (not isinstance(test, tuple | list) or len(test) != 2):
        raise ValueError(f"test must be a pair (X, y) of held-out rows; got {type(test).__name__}")
    if test is not None and test[1] is None:
        raise ValueError("test must have outputs; its y is None")
    if not isinstance(folds, Integral) or folds < 0 or folds == 1:
        raise ValueError(f"folds must be 0, for none, or a whole number of at least 2; got {folds!r}")
    name = output_name(y if y is not None or test is None else test[1], target)
    if not can_be_evaluated(model):  # their outputs are left out, so rows held out serve as other rows
        y, X, test = None, X if X is not None or test is None else test[0], None
    rows = None if X is None else Rows.of(model, X, y, weight)
    held_out = None if test is None else Rows.of(model, *test)
    return ReportData(model, rows, held_out, name, int(folds))
