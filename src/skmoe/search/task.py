"""A table prepared for a fit: looked at once, standardised once, sampled where it is large."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skmoe.likelihood import InputMap, MappedRows, ModelRows, Problem, Settings
from skmoe.model.family import Family
from skmoe.rows.arrays import Array, array_namespace, to_numpy
from skmoe.rows.blocks import in_memory, sum_over_blocks, take_rows
from skmoe.rows.checks import MOST_COUNTED
from skmoe.rows.inputs import RowsToFit
from skmoe.rows.table_moments import TableMoments, table_moments
from skmoe.search.config import SearchConfig
from skmoe.search.records import Control
from skmoe.search.standardise import standardised

INFORMATION_COPIES = 6
"""Matrices of the size of the information that a fit holds at once: itself, scaled, factored, inverse, sandwich."""
ROUNDING = 1e-9  # differences of outputs below this part of their range are rounding errors of the file
PEAK = float((2 * np.pi) ** -0.5)
"""Noise scale, over the step of rounded outputs, at which a Gaussian is as high as an even spread over a step."""
ROUNDED = 0.3
"""Part of the rows with an output that others have too, above which outputs count as rounded."""
NOISE_FLOOR = 1e-3
"""Least noise scale, as a part of the spread of the outputs: keeps experts off a few rows that lie on a line."""

__all__ = [
    "ModelSpec",
    "Task",
    "canonical",
    "check_memory",
    "most_experts",
    "pooled_coefficients",
    "prepare",
    "streamed_scale",
]


@dataclass(frozen=True)
class ModelSpec:
    """The model to be fitted, as the caller asked for it.

    Parameters
    ----------
    family : Family
        Law of an expert's output.
    noise : "shared", "per-expert" or a known scale
    penalty : float or "auto"
        Strength of the penalty.
    intercept : bool
    input_law : "auto", "gaussian", "mixture", None or a law of `skmoe.scores`
        Law of the inputs, as the caller gives them, that the consistent start assumes.
    expert_columns, gate_columns : sequences of int, optional
        Columns that experts and gate see.
    """

    family: Family
    noise: str | float
    penalty: float | str
    intercept: bool
    input_law: Any = "auto"
    expert_columns: Sequence[int] | None = None
    gate_columns: Sequence[int] | None = None


@dataclass(frozen=True)
class Task:
    """A table and the model to be fitted to it, on the standardised scale.

    Attributes
    ----------
    rows : ModelRows
        All rows.
    searched : ModelRows
        The rows to search on: a sample of a large table, else all.
    n_rows : int
        Rows with weight, as the caller counts them.
    resolution : float
        Least noise scale that rounded outputs allow, on the standardised scale.
    penalty : float
        Strength of the penalty, whether asked for or chosen.
    pooled : (De,) array
        The single regression that a penalty draws experts to.
    """

    spec: ModelSpec
    moments: TableMoments
    rows: ModelRows
    searched: ModelRows
    n_rows: int
    control: Control
    config: SearchConfig
    resolution: float = 0.0
    penalty: float = 0.0
    pooled: Any = 0.0

    @property
    def map(self) -> InputMap:
        """The way to the standardised scale and back."""
        return self.rows.map

    @property
    def step(self) -> float:
        """Step of rounded outputs on the standardised scale, zero where they are not rounded."""
        return self.resolution / PEAK

    @property
    def sampled(self) -> bool:
        """Whether the search sees a sample of the rows."""
        return self.searched is not self.rows

    def problem(self, k: int, rows: ModelRows | None = None) -> Problem:
        """The model with k experts over all rows, or over others."""
        noise = self.spec.noise if isinstance(self.spec.noise, str) else float(self.spec.noise) / self.map.y_scale
        spread = self.moments.y_std / self.map.y_scale
        settings = Settings(
            noise=noise,
            penalty=self.penalty if k > 1 else 0.0,
            pooled=self.pooled,
            noise_floor=NOISE_FLOOR * spread,
            resolution=self.resolution,
        )
        return Problem(self.rows if rows is None else rows, k, self.spec.family, settings, spread)

    def few_rows(self, k: int) -> bool:
        """Whether strengths of the penalty are worth comparing: with many rows per parameter they hardly differ."""
        return self.moments.total < self.config.plenty * self.problem(k).n_parameters

    def in_callers_units(self, log_likelihood: float) -> float:
        """Mean log-likelihood of the caller's y from that of the outputs as the model sees them."""
        return log_likelihood - float(np.log(self.map.y_scale))


def pooled_coefficients(spec: ModelSpec, moments: TableMoments, map: InputMap) -> np.ndarray | None:
    """The single regression of all rows on the standardised scale, (De,); None for experts that are not linear.

    There inputs have the identity for their second moment, so that coefficients are cross moments.
    """
    if not spec.family.location_scale:
        return None
    cross = moments.cross if spec.intercept else moments.cross + moments.mean * moments.y_mean
    coef = (cross if map.transform is None else map.transform.T @ cross) / map.y_scale
    coef = coef if map.expert_columns is None else coef[list(map.expert_columns)]
    return np.append(coef, (moments.y_mean - map.y_shift) / map.y_scale) if spec.intercept else coef


def most_experts(spec: ModelSpec, moments: TableMoments, config: SearchConfig) -> int:
    """Experts that the rows can carry."""
    columns = len(moments.mean) if spec.expert_columns is None else len(spec.expert_columns)
    return max(1, int(moments.total // (config.rows_per_expert_coefficient * (columns + spec.intercept))))


def _bytes_needed(spec: ModelSpec, columns: int, k: int) -> float:
    """Memory of a model's information matrix and its factors, about."""
    experts = columns if spec.expert_columns is None else len(spec.expert_columns)
    gate = columns if spec.gate_columns is None else len(spec.gate_columns)
    parameters = k * (experts + spec.intercept) + (k - 1) * (gate + spec.intercept) + k
    return 8.0 * INFORMATION_COPIES * parameters**2


def _bytes_there() -> float:
    """Memory of this machine that a fit may take: half of it, or any amount where the system does not tell."""
    if not hasattr(os, "sysconf"):
        return float("inf")
    return 0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_memory(spec: ModelSpec, columns: int, k: int) -> None:
    """Refuse a number of experts whose information matrix this machine cannot hold, before any memory is taken."""
    there = _bytes_there()
    if _bytes_needed(spec, columns, k) <= there:
        return
    carried = k
    while carried > 1 and _bytes_needed(spec, columns, carried) > there:
        carried = min(carried - 1, int(carried * 0.99))
    needed = _bytes_needed(spec, columns, k)
    raise ValueError(
        f"n_experts={k} over {columns} columns needs about {needed / 1e9:.0f} GB of memory for its information matrix, "
        f"and a fit may take {there / 1e9:.1f} GB here: at most {carried} experts can be carried"
    )


def prepare(
    rows: RowsToFit,
    spec: ModelSpec,
    n_experts: int | str,
    rng: np.random.Generator,
    control: Control,
    config: SearchConfig,
) -> Task:
    """Look at the table once, refuse what cannot be fitted, standardise, and sample what is large."""
    X, y, weight = rows.X, rows.y, rows.weight
    k, d = config.most_experts if isinstance(n_experts, str) else n_experts, X.shape[1]
    most = max(
        min(config.sample_rows, config.sample_doubles // (d + 1)), config.sample_rows_per_coefficient * k * (d + 1)
    )
    small = X.shape[0] <= most
    if small:
        X, y, weight = in_memory(X, y, weight)
    scale = streamed_scale(weight) if rows.streamed else 1.0
    moments = table_moments(X, y, weight, rows.names)
    moments = moments if scale == 1.0 else replace(moments, total=float(moments.rows))
    map = standardised(
        moments,
        intercept=spec.intercept,
        outputs=spec.family.location_scale,
        expert_columns=spec.expert_columns,
        gate_columns=spec.gate_columns,
    )
    if small:
        if rows.streamed and weight is not None:
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0] * scale
        X, y, weight = canonical(X, y, weight, config)
        all_rows = MappedRows.of(X, y, map, weight).in_memory()
        return Task(spec, moments, all_rows, all_rows, moments.rows, control, config, _resolution(all_rows))
    all_rows = MappedRows(X, y, weight, map, moments.total, scale).in_memory()
    X, y, weight = take_rows((X, y, weight), np.sort(rng.choice(X.shape[0], size=most, replace=False)))
    sample = MappedRows.of(X, y, map, None if weight is None else weight * scale).in_memory()
    return Task(spec, moments, all_rows, sample, moments.rows, control, config, _resolution(sample))


def _resolution(rows: ModelRows) -> float:
    """Least noise scale of rounded outputs, as the model sees them; zero where they are not rounded.

    A law of outputs rounded to a step cannot have a density above one over the step.
    """
    values = np.unique(to_numpy(rows.map.outputs(rows.y) if isinstance(rows, MappedRows) else rows.y))
    if len(values) > (1 - ROUNDED) * rows.n or len(values) < 2:
        return 0.0
    gaps = np.diff(values)
    return PEAK * float(np.min(gaps[gaps > ROUNDING * (values[-1] - values[0])]))


def streamed_scale(weight: Array | None) -> float:
    """Factor that turns weights of streamed rows into counts; see `skmoe.rows.checks.weight_scale`."""
    if weight is None:
        return 1.0

    def kernel(w: Array) -> tuple[Array, ...]:
        xp = array_namespace(w)
        w = xp.astype(w, xp.float64, copy=False)
        whole = xp.sum(xp.astype(w != xp.floor(w), xp.float64))
        return xp.sum(w), xp.sum(xp.astype(w > 0, xp.float64)), whole

    total, rows, broken = (float(s) for s in sum_over_blocks(kernel, weight, block_rows=2**16))
    counts = broken == 0 and total <= MOST_COUNTED
    return 1.0 if counts or not total > 0 else rows / total


def canonical(X: Array, y: Array, weight: Array | None, config: SearchConfig) -> tuple[Array, Array, Array | None]:
    """Rows in one order with repeated ones as weights, so that neither order nor repeats matter; of small tables."""
    if not isinstance(X, np.ndarray) or len(X) > config.canonical_rows:
        return X, y, weight
    table, back, counts = np.unique(np.column_stack([y, X]), axis=0, return_inverse=True, return_counts=True)
    if weight is not None:
        counts = np.bincount(back.ravel(), weights=weight)
        table, counts = table[counts > 0], counts[counts > 0]
    counted = None if weight is None and len(table) == len(X) else counts.astype(np.float64)
    if counted is not None and np.all(counted == 1):
        counted = None
    return np.ascontiguousarray(table[:, 1:]), np.ascontiguousarray(table[:, 0]), counted
