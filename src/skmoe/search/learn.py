"""Fits by each of the methods, from rows and settings that were checked."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skmoe.arrays.row_hash import row_hash
from skmoe.arrays.sizes import check_known_noise, check_unit_sizes
from skmoe.arrays.table_moments import table_moments
from skmoe.likelihood import MappedRows
from skmoe.model.families import StudentFamily
from skmoe.model.parameters import MoEParameters
from skmoe.model.record import FitRecord, NumberTried
from skmoe.search.checkpoint import Checkpoint
from skmoe.search.config import SearchConfig
from skmoe.search.ensemble import Ensemble, average
from skmoe.search.finish import maximise
from skmoe.search.fitting import Fitted, fit_search, interrupted_at
from skmoe.search.given_dof import fit_with_given_dof
from skmoe.search.input_shape import input_shape
from skmoe.search.joint_em import fit_joint_em
from skmoe.search.learned_dof import fit_with_dof
from skmoe.search.limits import check_request
from skmoe.search.number import Choice, choose, gain
from skmoe.search.records import Control, Start, StartKind
from skmoe.search.row_order import canonical
from skmoe.search.spectral_fit import fit_spectral
from skmoe.search.stability import memberships, stability
from skmoe.search.standardise import standardised
from skmoe.search.starts import pooled_regression
from skmoe.search.task import (
    ModelSpec,
    Task,
    most_experts,
    pooled_coefficients,
    prepare,
    streamed_scale,
)
from skmoe.spectral.options import SpectralOptions
from skmoe.tables.inputs import RowsToFit

__all__ = ["Learned", "Request", "learn"]


@dataclass(frozen=True)
class Request:
    """Settings of a fit.

    Parameters
    ----------
    method : {"auto", "spectral", "joint-em"}
    n_experts : int or "auto"
    n_init : int
        Random starts.
    checkpoint : path, optional
    settings : mapping of str
        What the fit was asked for, to tell its checkpoint from others.
    options : SpectralOptions
        Choices of "spectral".
    averaging : int
        Models whose predictions are averaged.
    calibrated : bool
        Whether rows are to be held out for calibration.
    """

    method: str
    n_experts: int | str
    n_init: int
    checkpoint: Any
    settings: Mapping[str, str]
    options: SpectralOptions
    averaging: int = 0
    calibrated: bool = True


@dataclass(frozen=True)
class Learned:
    """A fitted model, the record of its fit, choices by held-out rows, and averaged models, if any.

    `stability` is the share of other models in which each expert has a match, (k,), NaN where there are none; `sampled`
    tells that the search used a sample of the rows.
    """

    fitted: Fitted
    record: FitRecord
    stability: np.ndarray
    sampled: bool = False
    choice: Choice | None = None
    ensemble: Ensemble | None = None


def learn(
    rows: RowsToFit,
    spec: ModelSpec,
    request: Request,
    rng: np.random.Generator,
    control: Control,
    config: SearchConfig,
) -> Learned:
    """Fit a model by the method of the request."""
    if request.checkpoint is not None and request.method != "auto":
        raise ValueError(f'checkpoint is for method="auto"; method is {request.method!r}')
    if request.averaging and request.method != "auto":
        raise ValueError(f"averaging is for the method auto; the method is {request.method!r}")
    if request.method == "spectral":
        return _learn_spectral(rows, spec, request, rng, control, config)
    asked = check_request(rows, spec, request.n_experts, config)
    task = prepare(rows, spec, asked, rng, control, config.with_starts(request.n_init))
    if request.checkpoint is not None:
        table = row_hash(rows.X, rows.y, rows.weight)
        checkpoint = Checkpoint(request.checkpoint, request.settings, table, (task.map.De, task.map.Dg), rng)
        task = replace(task, control=replace(control, checkpoint=checkpoint))
    n_experts = request.n_experts
    if request.method == "joint-em" or n_experts != "auto":
        n_experts = _supported_experts(task, request)
    choice, ensemble = None, None
    if request.method == "joint-em":
        fitted = fit_joint_em(task, int(n_experts), rng, request.n_init)
    else:
        task, fitted, choice, ensemble = _learn_search(task, request, n_experts, rng)
    record = FitRecord(
        rows=task.n_rows,
        searched=task.searched.n if task.sampled else task.n_rows,
        weighted=rows.weight is not None,
        step=task.step * task.map.y_scale,
        inputs=input_shape(task.searched, task.moments, fitted.parameters),
        penalty=task.penalty,
        search=fitted.search,
        run=fitted.run,
    )
    if choice is not None and choice.folds is not None:
        n = float(np.sum(choice.folds.weight))
        record = replace(
            record,
            tried=_tried(task, choice, n),
            penalties=tuple(choice.penalties),
            folds=len(choice.folds.parts),
            fold_rows=round(n),
        )
    seen = _stability(task, fitted.parameters, choice, ensemble)
    return Learned(fitted, record, seen, task.sampled, choice, ensemble)


def _tried(task: Task, choice: Choice, n: float) -> tuple[NumberTried, ...]:
    """Return criteria and held-out log densities, in the caller's units, of each number of experts tried."""
    if not choice.tried:
        return ()
    assert choice.folds is not None
    weight, shift = choice.folds.weight, -2 * n * task.in_callers_units(0.0)
    chosen = next(t.held_out for t in choice.tried if t.k == choice.k)
    return tuple(
        NumberTried(
            t.k,
            task.in_callers_units(float(np.average(t.held_out, weights=weight))),
            gain(t.held_out, chosen, weight)[1],
            t.bic(n) + shift,
            t.icl(n) + shift,
        )
        for t in choice.tried
    )


def _stability(task: Task, parameters: MoEParameters, choice: Choice | None, ensemble: Ensemble | None) -> np.ndarray:
    """Compare experts with those of the models averaged or, without any, of the best fit of each fold."""
    k, family = len(parameters.A), parameters.family.base
    if choice is None or choice.folds is None:
        return np.full(k, np.nan)
    if ensemble is not None:
        others = [task.map.from_parameters(member) for member in ensemble.parameters]
    elif choice.fits is not None and k > 1:  # one expert matches that of any other model of one
        others = choice.fits.best
    else:
        return np.full(k, np.nan)
    rows = choice.folds.rows
    others_memberships = [memberships(rows, family.any_experts, theta) for theta in others]
    own = memberships(rows, family, task.map.from_parameters(parameters))
    return stability(own, others_memberships, choice.folds.weight)


def _learn_search(
    task: Task, request: Request, n_experts: int | str, rng: np.random.Generator
) -> tuple[Task, Fitted, Choice | None, Ensemble | None]:
    """Choose what was left open by held-out rows, search for the optimum, and average models if wanted."""
    penalty = task.spec.penalty
    strength = task.config.folds.penalties[0] if isinstance(penalty, str) else float(penalty)
    pooled = pooled_coefficients(task.spec, task.moments, task.map)
    if pooled is None:
        one = task.problem(1, task.searched)
        pooled = maximise(one, pooled_regression(one)).theta.A[0]
    task = replace(task, penalty=strength, pooled=pooled)
    if strength < min(task.config.folds.penalties) and (isinstance(n_experts, str) or task.supports(n_experts)):
        task = replace(task, config=task.config.wider(task.config.moves.unpenalised))
    if not (n_experts == "auto" or request.averaging) and not _needs_folds(task, request, int(n_experts)):
        return *_fit(task, int(n_experts), rng, []), None, None
    choice = choose(task, n_experts, request.averaging, rng)
    task = replace(task, penalty=choice.penalty)
    if choice.stopped_at is not None:
        return task, interrupted_at(task, choice.stopped_at), choice, None
    warm = [] if choice.fits is None else choice.fits.best
    starts = [Start(f"fold {i}", StartKind.FOLD, theta) for i, theta in enumerate(warm)]
    task, fitted = _fit(task, choice.k, rng, starts if choice.k > 1 else [])
    ensemble = average(task, choice, request.averaging) if request.averaging else None
    return task, fitted, choice, ensemble


def _needs_folds(task: Task, request: Request, k: int) -> bool:
    """Return whether rows are held out for a given number of experts: to calibrate, or to choose the penalty."""
    calibrated = request.calibrated and not task.sampled
    return k > 1 and (calibrated or (isinstance(task.spec.penalty, str) and task.few_rows(k)))


def _fit(task: Task, k: int, rng: np.random.Generator, warm: list[Start]) -> tuple[Task, Fitted]:
    """Search for the optimum, over degrees of freedom as well where the family learns or assigns them."""
    family = task.spec.family
    if isinstance(family, StudentFamily) and family.learned:
        return fit_with_dof(task, k, rng, warm)
    if task.spec.expert_dof:
        return fit_with_given_dof(task, k, rng, warm, task.spec.expert_dof)
    return task, fit_search(task, k, rng, warm=warm)


def _supported_experts(task: Task, request: Request) -> int:
    """Return the number of experts asked for, or the largest that there are enough rows for, with a warning."""
    if isinstance(request.n_experts, str):
        raise ValueError(f'method={request.method!r} needs a number of experts; n_experts="auto" is for method="auto"')
    # rows that stand for many may be few different ones
    k, most = int(request.n_experts), min(most_experts(task.spec, task.moments, task.config), task.rows.n)
    if k <= most:
        return k
    warnings.warn(
        f"{k} experts ask for more than {task.n_rows} rows of {len(task.moments.mean)} columns support (two rows "
        f"per coefficient of an expert, one that differs per expert); {most} fitted instead: use fewer experts or more "
        "rows",
        stacklevel=7,  # the caller of `fit`
    )
    return most


def _learn_spectral(
    rows: RowsToFit,
    spec: ModelSpec,
    request: Request,
    rng: np.random.Generator,
    control: Control,
    config: SearchConfig,
) -> Learned:
    if isinstance(request.n_experts, str):
        raise ValueError('method="spectral" needs a number of experts; n_experts="auto" is for method="auto"')
    if rows.streamed and streamed_scale(rows.weight) != 1.0:
        raise ValueError(
            'method="spectral" takes whole numbers, counts of rows, as sample_weight of rows that are streamed; '
            'method="auto" takes any'
        )
    n, weighted = rows.X.shape[0], rows.weight is not None
    X, y, weight = canonical(rows.X, rows.y, rows.weight, config)
    if weight is not None or rows.weight is not None:  # rows that are all distinct stay in their order
        rows = replace(rows, X=X, y=y, weight=weight)
    moments = table_moments(rows.X, rows.y, rows.weight, rows.names)
    moments = moments.from_zero(rows.names, "the paper's algorithms")
    largest = np.maximum(np.abs(moments.low), np.abs(moments.high))
    check_unit_sizes(largest, moments.y_second, rows.names, standard=spec.input_law is None)
    check_known_noise(spec.noise, moments.y_second)
    n = moments.rows if rows.streamed else n
    fitted = fit_spectral(rows, spec, moments, int(request.n_experts), rng, control, request.options)
    whitened = standardised(moments, intercept=True, outputs=False)
    mapped = MappedRows(rows.X, rows.y, rows.weight, whitened, moments.total)
    record = FitRecord(
        rows=n,
        searched=n,
        weighted=weighted,
        step=0.0,
        inputs=input_shape(mapped, moments, fitted.parameters),
        penalty=0.0,
        search=fitted.search,
        run=fitted.run,
    )
    return Learned(fitted, record, np.full(len(fitted.shares), np.nan))
