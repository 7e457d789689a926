"""The map from a caller's rows to those of the model, and of parameters back to the caller's units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, columns, design, device, to_device, with_ones
from skmoe.likelihood.theta import Theta
from skmoe.model.family import Family
from skmoe.model.parameters import MoEParameters

__all__ = ["InputMap"]


@dataclass(frozen=True)
class InputMap:
    """Map of inputs to ``(x - origin - center) @ transform``, of outputs to ``(response - y_shift) / y_scale``.

    Parameters
    ----------
    center : (d,) array
    transform : (d, r) array, optional
        The identity if not given.
    intercept : bool
        Whether experts and gate have an intercept, their last coefficient.
    expert_columns, gate_columns : tuples of int, optional
        Columns of the mapped inputs z of the experts and of the gate, by default all.
    y_shift, y_scale : float
    transform_response : callable, optional
        Function of outputs that is applied first (`Family.transform_response`); the identity if not given.
    origin : (d,) array, optional
        Subtracted before `center`, with no digit lost, where columns lie far from zero relative to their standard
        deviation.
    """

    center: np.ndarray
    transform: np.ndarray | None = None
    intercept: bool = False
    expert_columns: tuple[int, ...] | None = None
    gate_columns: tuple[int, ...] | None = None
    y_shift: float = 0.0
    y_scale: float = 1.0
    transform_response: Callable[[Array], Array] | None = None
    origin: np.ndarray | None = None

    @classmethod
    def identity(cls, d: int, *, intercept: bool = False) -> InputMap:
        """Return the map that leaves inputs and outputs unchanged."""
        return cls(np.zeros(d), intercept=intercept)

    @property
    def width(self) -> int:
        """Columns of z, the intercept not counted."""
        return len(self.center) if self.transform is None else self.transform.shape[1]

    @property
    def De(self) -> int:  # noqa: N802 - the letter of the formulas
        """Coefficients of an expert, intercept included."""
        return (self.width if self.expert_columns is None else len(self.expert_columns)) + self.intercept

    @property
    def Dg(self) -> int:  # noqa: N802 - the letter of the formulas
        """Coefficients of a gate vector, intercept included."""
        return (self.width if self.gate_columns is None else len(self.gate_columns)) + self.intercept

    @property
    def shared(self) -> bool:
        """Return whether experts and gate have the same columns."""
        return self.expert_columns is None and self.gate_columns is None

    # -- rows ---------------------------------------------------------------------------------------------------------

    def lay_out(self, x: Array) -> Array:
        """Return the block of rows (b, d) as channels by rows: z, and a last channel of ones with an intercept."""
        if self.transform is None and not np.any(self.center):
            return design(x, self.intercept)
        Z = design(x, False) if self.transform is None else columns(x)  # a product changes the layout by itself
        if self.origin is not None:
            Z = Z - to_device(self.origin, x)[:, None]
        Z = Z - to_device(self.center, x)[:, None]
        if self.transform is not None:
            Z = to_device(self.transform.T, x) @ Z
        return with_ones(Z) if self.intercept else Z

    def split(self, Z: Array) -> tuple[Array, Array]:
        """Return the inputs of experts (De, b) and gate (Dg, b) of a block laid out: one array if they are the same."""
        if self.shared:
            return Z, Z
        return self._selected(Z, self.expert_columns), self._selected(Z, self.gate_columns)

    def _selected(self, Z: Array, columns: tuple[int, ...] | None) -> Array:
        """Return the channels of some columns and the intercept; the block itself where these are all."""
        chosen = [*range(self.width)] if columns is None else [*columns]
        chosen += [self.width] * self.intercept
        if chosen == [*range(Z.shape[0])]:
            return Z
        xp = array_namespace(Z)
        return xp.take(Z, xp.asarray(chosen, dtype=xp.int64, device=device(Z)), axis=0)

    def outputs(self, y: Array) -> Array:
        """Return transformed, centred and scaled outputs."""
        y = y if self.transform_response is None else self.transform_response(y)
        return y if (self.y_shift, self.y_scale) == (0.0, 1.0) else (y - self.y_shift) / self.y_scale

    # -- parameters ---------------------------------------------------------------------------------------------------

    def to_parameters(self, theta: Theta, family: Family) -> MoEParameters:
        """Return `theta` in the caller's units: all columns of X, intercepts, a gate with its zero row."""
        m = family.predictors
        A, b = self._to_caller(theta.A.reshape(theta.k * m, -1), self.expert_columns)
        if m > 1:
            A, b = A.reshape(theta.k, m, -1), b.reshape(theta.k, m)
        W, c = self._to_caller(theta.W - theta.W[-1], self.gate_columns)
        s = self.y_scale
        b = b * s + self.y_shift
        return MoEParameters(A * s, W, theta.sigma * s, b=b, c=c, family=family, origin=self.origin)

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of coefficients in the caller's units over those of an expert, and of a gate vector.

        Rows are all columns of X, then the intercept: (d + 1, De), (d + 1, Dg).
        """
        experts, gate = (
            np.column_stack(self._to_caller(np.eye(size), columns)).T
            for size, columns in ((self.De, self.expert_columns), (self.Dg, self.gate_columns))
        )
        return experts * self.y_scale, gate

    def _to_caller(self, M: np.ndarray, columns: tuple[int, ...] | None) -> tuple[np.ndarray, np.ndarray]:
        coef, shift = (M[:, :-1], M[:, -1]) if self.intercept else (M, np.zeros(len(M)))
        full = np.zeros((len(M), self.width))
        full[:, slice(None) if columns is None else list(columns)] = coef
        if self.transform is not None:
            full = full @ self.transform.T
        return full, shift - full @ self.center

    def from_parameters(self, parameters: MoEParameters) -> Theta:
        """Find the `Theta` nearest to parameters in the caller's units."""
        p, s = parameters, self.y_scale
        zero = np.zeros(len(self.center))
        moved = (zero if self.origin is None else self.origin) - (zero if p.origin is None else p.origin)
        b, c = (p.b, p.c) if not np.any(moved) else (p.b + p.A @ moved, p.c + p.W @ moved)
        coef, intercept = p.A.reshape(-1, p.A.shape[-1]), b.reshape(-1)
        A = self._from_caller(coef / s, (intercept - self.y_shift) / s, self.expert_columns).reshape(len(p.A), -1)
        W = self._from_caller(p.W - p.W[-1], c - c[-1], self.gate_columns)
        return Theta(A, W, p.sigma / s)

    def _from_caller(self, M: np.ndarray, shift: np.ndarray, columns: tuple[int, ...] | None) -> np.ndarray:
        coef = M if self.transform is None else M @ np.linalg.pinv(self.transform).T
        coef = coef if columns is None else coef[:, list(columns)]
        return np.column_stack([coef, shift + M @ self.center]) if self.intercept else coef
