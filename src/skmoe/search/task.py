"""A table prepared for a fit: read once for its moments, standardised once, sampled where it is large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skmoe.arrays.blocks import in_memory, sum_over_blocks, take_rows
from skmoe.arrays.checks import LEAST_WEIGHT, MOST_COUNTED, too_small_weights
from skmoe.arrays.namespaces import Array, array_namespace, to_numpy
from skmoe.arrays.sizes import check_known_noise
from skmoe.arrays.table_moments import TableMoments, table_moments
from skmoe.likelihood import InputMap, MappedRows, ModelRows, Problem, Settings
from skmoe.model.family import Family
from skmoe.search.config import SearchConfig
from skmoe.search.records import Control
from skmoe.search.row_order import canonical, sorted_rows
from skmoe.search.standardise import standardised
from skmoe.tables.inputs import RowsToFit

ROUNDING = 1e-9  # differences of outputs below this part of their range are rounding errors of the file
PEAK = float((2 * np.pi) ** -0.5)
"""Noise scale, over the step of rounded outputs, at which a Gaussian is as high as a uniform density over a step."""
ROUNDED = 0.3
"""Share of the rows with an output that others have too, above which outputs count as rounded."""
NOISE_FLOOR = 1e-3
"""Least noise scale, as a share of the standard deviation of y: prevents experts of a few rows that lie on a line."""

MOST_DOUBLES = 2**25
"""Size of a sample of rows of many columns, 256 MiB, unless experts need more rows."""

SMALL = 2.0**-500
"""Factor of a second sum of weights, for sums that are too large for a number."""

__all__ = [
    "ModelSpec",
    "Task",
    "expert_rows",
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
        Distribution of an expert's output.
    noise : "shared", "per-expert" or a known scale
    penalty : float or "auto"
        Strength of the penalty.
    intercept : bool
    input_law : "auto", "gaussian", "mixture", None or an input law of `skmoe.scores`
        Distribution of the inputs, as the caller gives them, that the consistent start assumes.
    expert_columns, gate_columns : sequences of int, optional
        Columns that experts and gate see.
    expert_dof : tuple of float
        Degrees of freedom of Student t experts, one for each in no order; empty where the family has them.
    """

    family: Family
    noise: str | float
    penalty: float | str
    intercept: bool
    input_law: Any = "auto"
    expert_columns: Sequence[int] | None = None
    gate_columns: Sequence[int] | None = None
    expert_dof: tuple[float, ...] = ()


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
        The single regression that a penalty shrinks experts towards.
    log_jacobian : float
        Mean over rows of `Family.log_jacobian`, by which log-likelihoods of outputs and of what is fitted differ.
    known : float
        Share of rows whose output is known, so that its density depends on the units.
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
    log_jacobian: float = 0.0
    known: float = 1.0

    @property
    def map(self) -> InputMap:
        """The map to the standardised scale and back."""
        return self.rows.map

    @property
    def step(self) -> float:
        """Step of rounded outputs on the standardised scale, zero where they are not rounded."""
        return self.resolution / PEAK

    @property
    def sampled(self) -> bool:
        """True where the search uses a sample of the rows."""
        return self.searched is not self.rows

    def problem(self, k: int, rows: ModelRows | None = None) -> Problem:
        """Return the problem of k experts on all rows, or on others."""
        family, noise = self.spec.family.base, self.spec.noise
        scaled = family.noise_dof is not None or family.location_scale
        spread = self.moments.y_std / self.map.y_scale if scaled else 1.0
        if not family.has_scale:
            noise = 1.0
        elif not isinstance(noise, str):
            noise = float(noise) / self.map.y_scale
        settings = Settings(
            noise=noise,
            penalty=self.penalty if k > 1 else 0.0,
            pooled=self.pooled,
            least_scale=NOISE_FLOOR * spread if scaled else family.least_scale,
            resolution=self.resolution,
        )
        return Problem(self.rows if rows is None else rows, k, family, settings, spread)

    def few_rows(self, k: int) -> bool:
        """Return whether rows are so few for the parameters that strengths of the penalty are worth comparing."""
        return self.moments.total < self.config.rows.plenty * self.problem(k).n_parameters

    def supports(self, k: int) -> bool:
        """Return whether there are enough rows for the parameters of k experts, gate and noise among them."""
        return self.config.number.rows_per_parameter * self.problem(k).n_parameters <= self.moments.total

    def in_callers_units(self, log_likelihood: Any) -> Any:
        """Convert a mean log-likelihood of standardised outputs to that of the caller's y."""
        return log_likelihood - self.known * float(np.log(self.map.y_scale)) + self.log_jacobian


def pooled_coefficients(spec: ModelSpec, moments: TableMoments, map: InputMap) -> np.ndarray | None:
    """Return the single regression of all rows on the standardised scale, (De,); None where it is not by least squares.

    Second moments of the inputs are the identity on that scale, so that coefficients are cross moments.
    """
    if not spec.family.base.least_squares:
        return None
    cross = moments.cross if spec.intercept else moments.cross + moments.mean * moments.y_mean
    coef = (cross if map.transform is None else map.transform.T @ cross) / map.y_scale
    coef = coef if map.expert_columns is None else coef[list(map.expert_columns)]
    return np.append(coef, (moments.y_mean - map.y_shift) / map.y_scale) if spec.intercept else coef


def most_experts(spec: ModelSpec, moments: TableMoments, config: SearchConfig) -> int:
    """Return the largest number of experts that there are enough rows for."""
    return max(1, int(moments.total // expert_rows(spec, len(moments.mean), config)))


def expert_rows(spec: ModelSpec, columns: int, config: SearchConfig) -> float:
    """Return the number of rows that an expert needs."""
    seen = columns if spec.expert_columns is None else len(spec.expert_columns)
    return config.number.rows_per_parameter * spec.family.predictors * max(1, seen + spec.intercept)


def prepare(
    rows: RowsToFit,
    spec: ModelSpec,
    n_experts: int | str,
    rng: np.random.Generator,
    control: Control,
    config: SearchConfig,
) -> Task:
    """Read the table once, refuse what cannot be fitted, standardise, and sample a large table."""
    X, y, weight = rows.X, rows.y, rows.weight
    k, d = config.number.most_experts if isinstance(n_experts, str) else n_experts, X.shape[1]
    most = min(config.rows.sample_rows, MOST_DOUBLES // (d + 1))
    most = max(most, config.rows.rows_per_coefficient * k * (d + 1))
    small = X.shape[0] <= most
    if small:
        X, y, weight = in_memory(X, y, weight)
        X, y, weight = sorted_rows(X, y, weight, config)
    scale = streamed_scale(weight) if rows.streamed else 1.0
    transform_response = None if spec.family.base is spec.family else spec.family.transform_response
    typical = None if transform_response is None else spec.family.typical
    moments = table_moments(X, y, weight, rows.names, typical, weight_scale=scale)
    if not spec.intercept:
        moments = moments.from_zero(rows.names, "fit_intercept=False")
    if spec.family.base.noise_dof is not None or spec.family.base.location_scale:
        check_known_noise(spec.noise, moments.y_std)
    moments = moments if scale == 1.0 else replace(moments, total=float(moments.rows))
    map = standardised(
        moments,
        intercept=spec.intercept,
        outputs=spec.family.base.location_scale,
        expert_columns=spec.expert_columns,
        gate_columns=spec.gate_columns,
        transform_response=transform_response,
    )
    jacobian, known = (0.0, 1.0) if transform_response is None else _densities(spec.family, y, weight)
    units = {"log_jacobian": jacobian, "known": known}
    for which, width in (("experts see", map.De), ("the gate sees", map.Dg)):
        if width == 0:
            raise ValueError(
                f"the columns that {which} are none, or zero in every row, and without intercepts there is nothing to "
                "learn; use fit_intercept=True, or other columns"
            )
    if small:
        if rows.streamed and weight is not None:
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0] * scale
        X, y, weight = canonical(X, y, weight, config)
        all_rows = MappedRows.of(X, y, map, weight).in_memory()
        least = _resolution(spec.family, all_rows)
        return Task(spec, moments, all_rows, all_rows, moments.rows, control, config, least, **units)
    all_rows = MappedRows(X, y, weight, map, moments.total, scale).in_memory()
    X, y, weight = take_rows((X, y, weight), np.sort(rng.choice(X.shape[0], size=most, replace=False)))
    sample = MappedRows.of(X, y, map, None if weight is None else weight * scale).in_memory()
    least = _resolution(spec.family, sample)
    return Task(spec, moments, all_rows, sample, moments.rows, control, config, least, **units)


def _densities(family: Family, y: Array, weight: Array | None) -> tuple[float, float]:
    """Return means over rows of `Family.log_jacobian` and of `Family.known`."""

    def kernel(t: Array, w: Array | None) -> tuple[Array, ...]:
        xp = array_namespace(t)
        values, known = family.log_jacobian(t), family.known(t)
        w = xp.ones_like(known) if w is None else w
        return xp.sum(values * w), xp.sum(known * w), xp.sum(w)

    jacobian, known, rows = (float(s) for s in sum_over_blocks(kernel, y, weight, block_rows=2**16))
    return jacobian / rows, known / rows


def _resolution(family: Family, rows: ModelRows) -> float:
    """Return the least noise scale of rounded outputs, as the model sees them; zero where they are not rounded.

    A density of outputs rounded to a step cannot exceed one over the step. Only outputs that are a centre plus noise
    are examined.
    """
    if family.noise_dof is None:
        return 0.0
    values = np.unique(to_numpy(rows.map.outputs(rows.y) if isinstance(rows, MappedRows) else rows.y))
    if len(values) > (1 - ROUNDED) * rows.n or len(values) < 2:
        return 0.0
    gaps = np.diff(values)
    return PEAK * float(np.min(gaps[gaps > ROUNDING * (values[-1] - values[0])]))


def streamed_scale(weight: Array | None) -> float:
    """Return the factor that turns weights of streamed rows into counts; see `skmoe.arrays.checks.weight_scale`."""
    if weight is None:
        return 1.0

    def kernel(w: Array) -> tuple[Array, ...]:
        xp = array_namespace(w)
        w = xp.astype(w, xp.float64, copy=False)
        fractional = xp.sum(xp.astype(w != xp.floor(w), xp.float64))
        with np.errstate(over="ignore"):  # the second sum is used where the first is too large
            return xp.sum(w), xp.sum(w * SMALL), xp.sum(xp.astype(w > 0, xp.float64)), fractional

    total, small_total, rows, fractional = (float(s) for s in sum_over_blocks(kernel, weight, block_rows=2**16))
    counts = fractional == 0 and total <= MOST_COUNTED
    if counts or not total > 0:
        return 1.0
    if total < LEAST_WEIGHT:
        raise ValueError(too_small_weights(total))
    return rows / total if np.isfinite(total) else rows / small_total * SMALL
