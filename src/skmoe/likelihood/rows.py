"""Rows in the coordinates of the model: mapped a block at a time, or laid out in memory once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skmoe.arrays.blocks import take_rows
from skmoe.arrays.namespaces import Array, array_namespace, design, device, to_numpy
from skmoe.arrays.streamed import Streamed
from skmoe.likelihood.input_map import InputMap

__all__ = ["Block", "LaidOutRows", "MappedRows", "ModelRows", "weighted"]

MEMORY_DOUBLES = 2**20
"""Rows of up to this size, 8 MiB, are laid out in memory; above, doing so takes as long as ten passes."""


class Block(NamedTuple):
    """A block of rows: inputs of experts U (De, b) and gate V (Dg, b), outputs and weights (b,)."""

    U: Array
    V: Array
    y: Array
    weight: Array | None


def weighted(C: Array, weight: Array | None) -> Array:
    """Return channels times row weights, where rows have any."""
    return C if weight is None else C * weight


@dataclass
class PassCount:
    """Passes over rows so far."""

    count: int = 0


@dataclass(frozen=True)
class ModelRows:
    """Rows of data, and their map to the coordinates of the model.

    Parameters
    ----------
    X : (n, ...) array or streamed columns
    y : (n,) array or streamed column, or (n, S) array
        Outputs; those of each of S models by itself where a batch of them is fitted to several tables at once. Outputs
        of several parts are (n, 1, parts) once they are laid out.
    weight : (n,) array or streamed column, optional
        Row weights.
    map : InputMap
    total : float
        Weight of all rows.
    weight_scale : float
        Factor of the weights, so that they add up to `total`.
    """

    X: Array
    y: Array
    weight: Array | None
    map: InputMap
    total: float
    weight_scale: float = 1.0
    passes: PassCount = field(default_factory=PassCount, compare=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @cached_property
    def layouts(self) -> dict[Any, tuple[np.ndarray, ...]]:
        """Cache of other layouts of the rows, for code that would compute them repeatedly."""
        return {}

    def block(self, x: Array, y: Array, weight: Array | None) -> Block:
        """Return a block as kernels take it."""
        raise NotImplementedError

    def subset(self, rows: np.ndarray | None = None) -> LaidOutRows:
        """Return some of the rows (all by default), laid out in memory."""
        raise NotImplementedError

    def with_response(self, function: Callable[[Array], Array]) -> ModelRows:
        """Return the rows with a function of the outputs in their place; for rows in memory."""
        raise NotImplementedError

    def for_models(self, which: np.ndarray) -> ModelRows:
        """Return the rows for some models of a batch: their columns of y, where each model has one."""
        if self.y.ndim == 1 or self.y.shape[1] == 1:
            return self
        xp = array_namespace(self.y)
        return replace(self, y=xp.take(self.y, xp.asarray(which, device=device(self.y)), axis=1))

    def _weights(self, weight: Array | None) -> Array | None:
        return weight if weight is None or self.weight_scale == 1.0 else weight * self.weight_scale

    def in_memory(self) -> ModelRows:
        """Return rows laid out in memory, where they are few enough, so that they are not mapped at each pass."""
        large = isinstance(self.X, Streamed) or self.n * (self.map.width + self.map.intercept) > MEMORY_DOUBLES
        return self if large else self.subset()

    def sample(self, size: int, rng: np.random.Generator) -> LaidOutRows:
        """Draw a random subsample of the rows that have weight."""
        if self.weight is None:
            return self.subset(np.sort(rng.choice(self.n, size=min(size, self.n), replace=False)))
        with_weight = np.flatnonzero(to_numpy(self.weight) > 0)
        return self.subset(np.sort(rng.choice(with_weight, size=min(size, len(with_weight)), replace=False)))

    def y_std(self) -> float:
        """Return the standard deviation of the outputs, in the model's units; for rows in memory."""
        xp = array_namespace(self.y)
        weight = xp.ones_like(self.y) if self.weight is None else self._weights(self.weight)
        mean = xp.sum(self.y * weight) / self.total
        return float(xp.sum((self.y - mean) ** 2 * weight) / self.total) ** 0.5 / self._output_scale()

    def _output_scale(self) -> float:
        raise NotImplementedError


@dataclass(frozen=True)
class MappedRows(ModelRows):
    """The caller's rows (n, d), mapped a block at a time."""

    @classmethod
    def of(cls, X: Array, y: Array, map: InputMap, weight: Array | None = None) -> MappedRows:
        """Return rows in memory with their total weight."""
        if weight is not None:
            xp = array_namespace(X)
            weight = xp.astype(weight, xp.float64, copy=False)
        return cls(X, y, weight, map, _total(X, weight))

    def for_models(self, which: np.ndarray) -> ModelRows:
        """Return the rows for some models of a batch; all columns of y where outputs are made of several."""
        return super().for_models(which) if self.map.transform_response is None else self

    def block(self, x: Array, y: Array, weight: Array | None) -> Block:
        """Map a block."""
        return Block(*self.map.split(self.map.lay_out(x)), self.map.outputs(y), self._weights(weight))

    def subset(self, rows: np.ndarray | None = None) -> LaidOutRows:
        """Map some of the rows once."""
        arrays = (self.X, self.y, self.weight)
        X, y, weight = arrays if rows is None else take_rows(arrays, rows)
        weight = self._weights(weight)
        return LaidOutRows(self.map.lay_out(X).T, self.map.outputs(y), weight, self.map, _total(X, weight))

    def with_response(self, function: Callable[[Array], Array]) -> MappedRows:
        """Return the rows with a function of the outputs in their place."""
        plain = replace(self.map, y_shift=0.0, y_scale=1.0, transform_response=None)
        return replace(self, y=function(self.map.outputs(self.y)), map=plain)

    def _output_scale(self) -> float:
        return self.map.y_scale


@dataclass(frozen=True)
class LaidOutRows(ModelRows):
    """Rows that were mapped already: X (n, r + 1) is z and the ones of the intercept, y in the model's units."""

    def block(self, x: Array, y: Array, weight: Array | None) -> Block:
        """Turn a block so that channels come first."""
        return Block(*self.map.split(design(x, False)), y, weight)

    def subset(self, rows: np.ndarray | None = None) -> LaidOutRows:
        """Return some of the rows, or all."""
        if rows is None:
            return self
        X, y, weight = take_rows((self.X, self.y, self.weight), rows)
        return LaidOutRows(X, y, weight, self.map, _total(X, weight))

    def gate_inputs(self) -> np.ndarray:
        """Return the inputs of the gate, (n, Dg) on the host."""
        return to_numpy(self.map.split(design(self.X, False))[1]).T

    def with_response(self, function: Callable[[Array], Array]) -> LaidOutRows:
        """Return the rows with a function of the outputs in their place."""
        return replace(self, y=function(self.y))

    def _output_scale(self) -> float:
        return 1.0


def _total(X: Array, weight: Array | None) -> float:
    return float(X.shape[0] if weight is None else array_namespace(weight).sum(weight))
