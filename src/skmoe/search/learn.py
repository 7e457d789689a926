"""The way into a fit: rows and settings that were checked, to a fitted model by one of the methods."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from skmoe.likelihood import MappedRows
from skmoe.rows.inputs import RowsToFit
from skmoe.rows.table_moments import table_moments
from skmoe.search.checkpoint import Checkpoint
from skmoe.search.config import SearchConfig
from skmoe.search.fitting import Fitted, fit_search
from skmoe.search.input_shape import InputShape, input_shape
from skmoe.search.joint_em import fit_joint_em
from skmoe.search.number import choose_experts
from skmoe.search.records import Control
from skmoe.search.spectral_fit import fit_spectral
from skmoe.search.standardise import standardised
from skmoe.search.task import ModelSpec, Task, canonical, check_memory, most_experts, prepare, streamed_scale
from skmoe.spectral.options import SpectralOptions

__all__ = ["Learned", "Request", "learn"]


@dataclass(frozen=True)
class Request:
    """How a model is to be learned.

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
    """

    method: str
    n_experts: int | str
    n_init: int
    checkpoint: Any
    settings: Mapping[str, str]
    options: SpectralOptions


@dataclass(frozen=True)
class Learned:
    """A fitted model, the numbers of experts tried with their BIC, and what was seen of the rows."""

    fitted: Fitted
    tried: list[tuple[int, float]]
    inputs: InputShape
    n_rows: int
    n_searched: int


def learn(
    rows: RowsToFit,
    spec: ModelSpec,
    request: Request,
    rng: np.random.Generator,
    control: Control,
    config: SearchConfig,
) -> Learned:
    """Learn a model by the method asked for."""
    if request.checkpoint is not None and request.method != "auto":
        raise ValueError(f'checkpoint is for method="auto"; method is {request.method!r}')
    if request.method == "spectral":
        return _learn_spectral(rows, spec, request, rng, control, config)
    if not isinstance(request.n_experts, str):
        check_memory(spec, rows.X.shape[1], int(request.n_experts))
    task = prepare(rows, spec, request.n_experts, rng, control, config.with_starts(request.n_init))
    if request.checkpoint is not None:
        seen = asdict(task.moments) | {"shape": rows.X.shape}
        checkpoint = Checkpoint(request.checkpoint, request.settings, seen)
        task = replace(task, control=replace(control, checkpoint=checkpoint))
    tried: list[tuple[int, float]] = []
    if request.method == "joint-em":
        fitted = fit_joint_em(task, _experts_carried(task, request), rng, request.n_init)
    elif request.n_experts == "auto":
        fitted, tried = choose_experts(task, rng)
    else:
        fitted = fit_search(task, _experts_carried(task, request), rng)
    shape = input_shape(task.searched, task.moments, fitted.parameters)
    return Learned(fitted, tried, shape, task.n_rows, task.searched.n if task.sampled else task.n_rows)


def _experts_carried(task: Task, request: Request) -> int:
    """The number of experts asked for, or as many as the rows can carry, with a warning."""
    if isinstance(request.n_experts, str):
        raise ValueError(f'method={request.method!r} needs a number of experts; n_experts="auto" is for method="auto"')
    k, most = int(request.n_experts), most_experts(task.spec, task.moments, task.config)
    if k <= most:
        return k
    warnings.warn(
        f"n_experts={k} asks for more than {task.n_rows} rows of {len(task.moments.mean)} columns can carry (two rows "
        f"per coefficient of an expert); {most} fitted instead: use fewer experts or more rows",
        stacklevel=5,
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
    n = rows.X.shape[0]
    X, y, weight = canonical(rows.X, rows.y, rows.weight, config)
    if weight is not None or rows.weight is not None:  # rows that are all distinct stay in their order
        rows = replace(rows, X=X, y=y, weight=weight)
    moments = table_moments(rows.X, rows.y, rows.weight, rows.names)
    n = moments.rows if rows.streamed else n
    fitted = fit_spectral(rows, spec, moments, int(request.n_experts), rng, control, request.options)
    whitened = standardised(moments, intercept=True, outputs=False)
    shape = input_shape(MappedRows(rows.X, rows.y, rows.weight, whitened, moments.total), moments, fitted.parameters)
    return Learned(fitted, [], shape, n, n)
