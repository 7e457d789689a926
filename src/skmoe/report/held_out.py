"""How well a model predicts rows that it was not fitted to, beside least squares and boosting on the same rows."""

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

from skmoe.report.baselines import boosting, least_squares
from skmoe.report.judged import Fit, Judge, Judged
from skmoe.report.rows import Rows, evenly_spaced
from skmoe.tables.chosen import chosen_inputs

__all__ = [
    "OF_NUMBERS",
    "Judgement",
    "Methods",
    "Protocol",
    "TooFewRowsError",
    "affordable_rows",
    "cross_fitted",
    "judged_on_test",
]

CROSS_WORK = 10_000_000  # rows times parameters up to which models are fitted to again: a minute or two for five folds
CROSS_ROWS = 2000  # rows that are always affordable
LEAST_ROWS = 20  # below which errors of parts of the rows say nothing


class TooFewRowsError(ValueError):
    """Part of the rows cannot carry the model."""


class Protocol(Enum):
    """Which rows judge, and what was fitted to which."""

    CROSS_FITTED = "all methods were fitted to the other folds of the rows"
    TEST = "rivals were fitted to the rows of the fit"
    TEST_ALONE = "rivals were fitted to the other folds of the test rows"


@dataclass(frozen=True)
class Methods:
    """What is compared: how the mixture is judged, the rivals, the simplest first, and how rows are split into folds.

    `folds` takes outputs, the number of folds and a seed.
    """

    mixture: Callable[[Any, np.ndarray, np.ndarray], Any]
    rivals: tuple[Fit, ...]
    folds: Callable[[np.ndarray, int, int], Iterator[tuple[np.ndarray, np.ndarray]]]


@dataclass(frozen=True)
class Judgement:
    """The mixture and its rivals on the same rows.

    Attributes
    ----------
    protocol : Protocol
    methods : tuple of Judged or JudgedClasses
        The mixture first.
    folds : int
        Parts that were left out in turn; 0 where there were none.
    of : int
        Rows of which those judged were taken.
    unfinished : int
        Fits of the mixture to part of the rows that did not converge.
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
    def rivals(self) -> tuple[Any, ...]:
        """The other methods."""
        return self.methods[1:]

    @property
    def shortfall(self) -> str:
        """What predicts better though it knows less, in a sentence; empty if nothing does."""
        return self.mixture.shortfall(self.rivals[0] if self.rivals else None)

    @property
    def n(self) -> int:
        """Number of rows judged."""
        return len(self.mixture.y)


def cross_fitted(model: Any, rows: Rows, folds: int, methods: Methods) -> Judgement | str:
    """Each row predicted by models fitted to the other folds.

    The number of experts, chosen from all rows, is kept; all else is as in the fit. An average of models chooses anew.
    All rows take part as long as that is affordable, see `affordable_rows`.
    Gives a sentence in place of the judgement where parts of the rows are too few to fit to.
    """
    some = evenly_spaced(rows.n, affordable_rows(model))
    X, y, weight = rows.values[some], _outputs(rows)[some], None if rows.weight is None else rows.weight[some]
    if len(y) < max(LEAST_ROWS, 2 * folds):
        return f"{len(y)} rows are too few to hold some of them out."
    fits: list[Any] = []

    def refit(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Judge:
        fits.append(_refitted(model, X, y, weight))
        return partial(methods.mixture, fits[-1])

    try:
        splits = list(methods.folds(y, folds, _seed(model)))
        found = [_pooled(fit, X, y, weight, splits) for fit in (refit, *methods.rivals)]
    except TooFewRowsError as error:
        return f"The model could not be fitted to part of the rows: {error}."
    unfinished = sum(not fit.converged_ for fit in fits)
    return Judgement(Protocol.CROSS_FITTED, tuple(found), folds, rows.total, unfinished)


def judged_on_test(model: Any, rows: Rows | None, test: Rows, folds: int, methods: Methods) -> Judgement:
    """The model on rows that were held out of its fit; rivals are never fitted to rows they are judged on.

    They are fitted to the rows of the fit where those are at hand, and else to the other folds of the test rows; with
    too few of these, or with no folds, they are left out.
    """
    y = _outputs(test)
    ours = methods.mixture(model, test.values, y)
    if rows is not None and rows.told is not None:
        theirs = [fit(rows.values, rows.told, rows.weight)(test.values, y) for fit in methods.rivals]
        return Judgement(Protocol.TEST, (ours, *theirs), 0, test.total)
    if folds < 2 or len(y) < max(LEAST_ROWS, 2 * folds):
        return Judgement(Protocol.TEST_ALONE, (ours,), 0, test.total)
    splits = list(methods.folds(y, folds, _seed(model)))
    theirs = [_pooled(fit, test.values, y, None, splits) for fit in methods.rivals]
    return Judgement(Protocol.TEST_ALONE, (ours, *theirs), folds, test.total)


def affordable_rows(model: Any) -> int:
    """Most rows that a model is fitted to again for: rows times parameters stay below `CROSS_WORK`."""
    return max(CROSS_ROWS, CROSS_WORK // model.n_parameters_)


def _seed(model: Any) -> int:
    """Seed of the fits and of the folds: the model's own, where it has one that can be used again."""
    return int(model.random_state) if isinstance(model.random_state, Integral) else 0


def _outputs(rows: Rows) -> np.ndarray:
    if rows.told is None:
        raise ValueError("rows without outputs cannot judge a model")
    return rows.told


def _pooled(
    fit: Fit,
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray | None,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
) -> Any:
    """Predictions of each row by a model that was fitted to the other folds."""
    parts = []
    for train, test in folds:
        judge = fit(X[train], y[train], None if weight is None else weight[train])
        parts.append(judge(X[test], y[test]))
    order = np.argsort(np.concatenate([test for _, test in folds]))
    return replace(parts[0].joined(parts[1:], order), weight=weight)


def _split(y: np.ndarray, folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The same folds for every method."""
    return KFold(folds, shuffle=True, random_state=seed).split(y[:, None])


def _refitted(model: Any, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Any:
    """The same kind of model, fitted to part of the rows."""
    settings: dict[str, Any] = {f"{part}_features": chosen_inputs(model, part) for part in ("expert", "gate")}
    settings["categorical"] = None  # rows are numbers already
    if not model.averaging:
        settings["n_experts"] = model.n_experts_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few rows, rounding and convergence; the report tells of them
        again = clone(model).set_params(**settings, random_state=_seed(model), verbose=0, checkpoint=None)
        try:
            return again.fit(X, y, sample_weight=weight)
        except ValueError as error:  # what all rows could carry, a part of them may not
            raise TooFewRowsError(str(error)) from error


def _of_mixture(model: Any, X: np.ndarray, y: np.ndarray) -> Judged:
    law = model._law()
    pit = law.cdf(X, y)
    if law.family.discrete:  # at a random place within the probability of each output, levels are uniform
        below = law.cdf(X, y - 1)
        pit = below + np.random.default_rng(0).random(len(y)) * (pit - below)
    return Judged("mixture of experts", y, law.mean(X), pit, law.interval(X, 0.9), law.log_density(X, y))


OF_NUMBERS = Methods(_of_mixture, (least_squares, boosting), _split)
