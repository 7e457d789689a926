"""Compare a model with least squares and boosting on rows that none of them was fitted to."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from skmoe.estimators.base import MixtureOfExperts
from skmoe.report.baselines import boosting, least_squares
from skmoe.report.evaluated import Evaluate, EvaluatedNumbers, Fit
from skmoe.report.rows import Rows, evenly_spaced
from skmoe.tables.chosen import chosen_inputs

__all__ = [
    "OF_NUMBERS",
    "Evaluation",
    "Methods",
    "Protocol",
    "TooFewRowsError",
    "affordable_rows",
    "cross_fitted",
    "evaluated_on_test",
]

CROSS_WORK = 10_000_000  # rows times parameters up to which models are fitted to again: a minute or two for five folds
CROSS_ROWS = 2000  # rows that are always affordable
LEAST_ROWS = 20  # below which rows are not held out


class TooFewRowsError(ValueError):
    """Some of the rows are too few for the model."""


class Protocol(Enum):
    """Rows that methods are evaluated on, and rows that they were fitted to."""

    CROSS_FITTED = "all methods were fitted to the other folds of the rows"
    TEST = "baselines were fitted to the rows of the fit"
    TEST_ALONE = "baselines were fitted to the other folds of the test rows"


@dataclass(frozen=True)
class Methods:
    """Methods to compare: evaluation of the mixture, baselines, the simplest first, and the split of rows into folds.

    `folds` takes outputs, the number of folds and a seed.
    """

    mixture: Callable[[Any, np.ndarray, np.ndarray], Any]
    baselines: tuple[Fit, ...]
    folds: Callable[[np.ndarray, int, int], Iterator[tuple[np.ndarray, np.ndarray]]]


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
    All rows take part as long as that is affordable, see `affordable_rows`.
    Returns a sentence in place of the evaluation where folds have too few rows to fit to.
    """
    some = evenly_spaced(rows.n, affordable_rows(model))
    X, y, weight = rows.values[some], _outputs(rows)[some], None if rows.weight is None else rows.weight[some]
    if len(y) < max(LEAST_ROWS, 2 * folds):
        return f"{len(y)} rows are too few to hold some of them out."
    fits: list[Any] = []

    def refit(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Evaluate:
        fits.append(_refitted(model, X, y, weight))
        return partial(methods.mixture, fits[-1])

    try:
        splits = list(methods.folds(y, folds, _seed(model)))
        found = [_cross_predicted(fit, X, y, weight, splits) for fit in (refit, *methods.baselines)]
    except TooFewRowsError as error:
        return f"The model could not be fitted to part of the rows: {error}."
    unfinished = sum(not fit.converged_ for fit in fits)
    return Evaluation(Protocol.CROSS_FITTED, tuple(found), folds, rows.total, unfinished)


def evaluated_on_test(
    model: MixtureOfExperts, rows: Rows | None, test: Rows, folds: int, methods: Methods
) -> Evaluation:
    """Evaluate the model on rows held out of its fit; baselines are never fitted to rows they are evaluated on.

    They are fitted to the rows of the fit where those are at hand, and else to the other folds of the test rows; with
    too few of these, or with no folds, they are left out.
    """
    y = _outputs(test)
    mixture = methods.mixture(model, test.values, y)
    if rows is not None and rows.outputs is not None:
        others = [fit(rows.values, rows.outputs, rows.weight)(test.values, y) for fit in methods.baselines]
        return Evaluation(Protocol.TEST, (mixture, *others), 0, test.total)
    if folds < 2 or len(y) < max(LEAST_ROWS, 2 * folds):
        return Evaluation(Protocol.TEST_ALONE, (mixture,), 0, test.total)
    splits = list(methods.folds(y, folds, _seed(model)))
    others = [_cross_predicted(fit, test.values, y, None, splits) for fit in methods.baselines]
    return Evaluation(Protocol.TEST_ALONE, (mixture, *others), folds, test.total)


def affordable_rows(model: MixtureOfExperts) -> int:
    """Return the most rows that a model is fitted to again: rows times parameters stay below `CROSS_WORK`."""
    return max(CROSS_ROWS, CROSS_WORK // model.n_parameters_)


def _seed(model: MixtureOfExperts) -> int:
    """Return the seed of the fits and of the folds: that of the model, if it is a number."""
    return int(model.random_state) if isinstance(model.random_state, Integral) else 0


def _outputs(rows: Rows) -> np.ndarray:
    if rows.outputs is None:
        raise ValueError("rows without outputs cannot evaluate a model")
    return rows.outputs


def _cross_predicted(
    fit: Fit,
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray | None,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
) -> Any:
    """Predict each row by a model that was fitted to the other folds."""
    predicted = []
    for train, test in folds:
        evaluate = fit(X[train], y[train], None if weight is None else weight[train])
        predicted.append(evaluate(X[test], y[test]))
    order = np.argsort(np.concatenate([test for _, test in folds]))
    return replace(predicted[0].joined(predicted[1:], order), weight=weight)


def _split(y: np.ndarray, folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split rows into folds, alike for every method."""
    return KFold(folds, shuffle=True, random_state=seed).split(y[:, None])


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


def _of_mixture(model: MixtureOfExperts, X: np.ndarray, y: np.ndarray) -> EvaluatedNumbers:
    distribution = model._distribution()
    pit = distribution.cdf(X, y)
    if distribution.family.discrete:  # randomised within the probability of each output, PIT values are uniform
        below = distribution.cdf(X, y - 1)
        pit = below + np.random.default_rng(0).random(len(y)) * (pit - below)
    return EvaluatedNumbers(
        "mixture of experts",
        y,
        distribution.mean(X),
        pit,
        distribution.interval(X, 0.9),
        distribution.log_density(X, y),
    )


OF_NUMBERS = Methods(_of_mixture, (least_squares, boosting), _split)
