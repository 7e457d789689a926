"""Evaluate a model and the methods it is compared with on rows that none of them was fitted to."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from skmoe.estimators.base import MixtureOfExperts
from skmoe.report.evaluated import Evaluate, Fit
from skmoe.report.methods import Methods, TooFewRowsError
from skmoe.report.rows import Rows, evenly_spaced
from skmoe.tables.chosen import chosen_inputs

__all__ = ["Evaluation", "Protocol", "cross_fitted", "evaluated_on_test", "fold_by_fold"]

CROSS_WORK = 10_000_000  # rows times parameters up to which models are fitted to again: a minute or two for five folds
CROSS_ROWS = 2000  # rows that are always affordable
LEAST_ROWS = 20  # below which rows are not held out


class Protocol(Enum):
    """Rows that methods are evaluated on, and rows that they were fitted to."""

    CROSS_FITTED = "all methods were fitted to the other folds of the rows"
    TEST = "baselines were fitted to the rows of the fit"
    TEST_ALONE = "baselines were fitted to the other folds of the test rows"


@dataclass(frozen=True)
class Evaluation:
    """The mixture and the baselines on the same rows.

    Attributes
    ----------
    protocol : Protocol
    methods : tuple of EvaluatedNumbers or EvaluatedClasses
        The mixture first.
    folds : int
        Parts that were left out in turn; 0 where there were none.
    of : int
        Number of rows that those evaluated were sampled from.
    unfinished : int
        Number of fits of the mixture to some of the rows that did not converge.
    """

    protocol: Protocol
    methods: tuple[Any, ...]
    folds: int
    of: int
    unfinished: int = 0

    @property
    def mixture(self) -> Any:
        """The model that the report is about."""
        return self.methods[0]

    @property
    def baselines(self) -> tuple[Any, ...]:
        """The other methods."""
        return self.methods[1:]

    @property
    def shortfall(self) -> str:
        """Sentence on simpler methods that predict better; empty if none does."""
        return self.mixture.shortfall(self.baselines[0] if self.baselines else None)

    @property
    def n(self) -> int:
        """Number of rows evaluated."""
        return len(self.mixture.y)


def cross_fitted(model: MixtureOfExperts, rows: Rows, folds: int, methods: Methods) -> Evaluation | str:
    """Predict each row by models fitted to the other folds.

    The number of experts, chosen from all rows, is kept; all else is as in the fit. An average of models chooses anew.
    All rows take part as long as rows times parameters stay below `CROSS_WORK`.
    Returns a sentence in place of the evaluation where folds have too few rows to fit to.
    """
    assert rows.outputs is not None
    some = evenly_spaced(rows.n, max(CROSS_ROWS, CROSS_WORK // model.n_parameters_))
    X, y, weight = rows.values[some], rows.outputs[some], None if rows.weight is None else rows.weight[some]
    if len(y) < max(LEAST_ROWS, 2 * folds):
        return f"{len(y)} rows are too few to hold some of them out."
    fits: list[Any] = []

    def refit(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Evaluate:
        fits.append(_refitted(model, X, y, weight))
        return partial(methods.mixture, fits[-1])

    try:
        found = _cross_predicted((refit, *methods.baselines), X, y, weight, methods.folds(y, folds, _seed(model)))
    except TooFewRowsError as error:
        return f"The model could not be fitted to part of the rows: {error}."
    unfinished = sum(not fit.converged_ for fit in fits)
    return Evaluation(Protocol.CROSS_FITTED, found, folds, rows.total, unfinished)


def evaluated_on_test(
    model: MixtureOfExperts, rows: Rows | None, test: Rows, folds: int, methods: Methods
) -> Evaluation:
    """Evaluate the model on rows held out of its fit; baselines are never fitted to rows they are evaluated on.

    They are fitted to the rows of the fit where those are at hand, and else to the other folds of the test rows; with
    too few of these, or with no folds, they are left out.
    """
    assert test.outputs is not None
    y = test.outputs
    mixture = methods.mixture(model, test.values, y)
    if rows is not None and rows.outputs is not None:
        others = tuple(fit(rows.values, rows.outputs, rows.weight)(test.values, y) for fit in methods.baselines)
        return Evaluation(Protocol.TEST, (mixture, *others), 0, test.total)
    if folds < 2 or len(y) < max(LEAST_ROWS, 2 * folds):
        return Evaluation(Protocol.TEST_ALONE, (mixture,), 0, test.total)
    others = _cross_predicted(methods.baselines, test.values, y, None, methods.folds(y, folds, _seed(model)))
    return Evaluation(Protocol.TEST_ALONE, (mixture, *others), folds, test.total)


def _seed(model: MixtureOfExperts) -> int:
    """Return the seed of the fits and of the folds: that of the model, if it is a number."""
    return int(model.random_state) if isinstance(model.random_state, Integral) else 0


def _cross_predicted(
    fits: Sequence[Fit], X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, splits: Iterable[Any]
) -> tuple[Any, ...]:
    """Predict each row by fits to the other folds; a record for each method, its rows as they are given."""
    splits = list(splits)
    order = np.argsort(np.concatenate([test for _, test in splits]))
    by_method = zip(*fold_by_fold(fits, X, y, weight, splits), strict=True)
    return tuple(replace(first.joined(others, order), weight=weight) for first, *others in by_method)


def fold_by_fold(
    fits: Sequence[Fit], X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, splits: Iterable[Any]
) -> list[list[Any]]:
    """Fit each method to the rows outside of a fold and evaluate it on those inside; a list for each fold."""

    def evaluated(fit: Fit, train: np.ndarray, test: np.ndarray) -> Any:
        start = time.perf_counter()
        evaluate = fit(X[train], y[train], None if weight is None else weight[train])
        seconds = time.perf_counter() - start
        return replace(evaluate(X[test], y[test]), seconds=seconds)

    return [[evaluated(fit, train, test) for fit in fits] for train, test in splits]


def _refitted(model: MixtureOfExperts, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Any:
    """Fit a model with the same settings to some of the rows."""
    settings: dict[str, Any] = {f"{part}_features": chosen_inputs(model, part) for part in ("expert", "gate")}
    settings["categorical"] = None  # rows are numbers already
    if not model.averaging:
        settings["n_experts"] = model.n_experts_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few rows, rounding and convergence, which the report has
        again = clone(model).set_params(**settings, random_state=_seed(model), verbose=0, checkpoint=None)
        try:
            return again.fit(X, y, sample_weight=weight)
        except ValueError as error:  # some of the rows may be too few for what all rows allow
            raise TooFewRowsError(str(error)) from error
