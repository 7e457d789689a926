"""What a report may speak of: the model, the rows if there are any, and numbers computed from them once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skmoe.report.numbers import GateCurve, Quality, Rows, gate_curves, qualities
from skmoe.report.pictures import Pictures

__all__ = ["Known"]


@dataclass
class Known:
    """What sections are made from."""

    model: Any
    rows: Rows | None
    test: Rows | None
    target: str
    pictures: Pictures

    @property
    def X(self) -> Any:  # noqa: N802 - the rows as the caller gave them
        """Rows as the caller gave them, or None."""
        return None if self.rows is None else self.rows.X

    @property
    def y(self) -> np.ndarray | None:
        """Outputs of the rows, or None."""
        return None if self.rows is None else self.rows.y

    @cached_property
    def quality(self) -> list[Quality]:
        """How well mixture and least squares predict: given rows first, held-out ones last."""
        return [] if self.rows is None or self.y is None else qualities(self.model, self.rows, self.test)

    @cached_property
    def curves(self) -> list[GateCurve]:
        """The gate along its most influential inputs."""
        return [] if self.rows is None or self.model.n_experts_ == 1 else gate_curves(self.model, self.rows.values)

    @cached_property
    def coefficients(self) -> list[tuple[Any, ...]]:
        """Rows of the coefficient table."""
        return self.model.summary().rows

    @cached_property
    def main_input(self) -> int | None:
        """The input that pictures run along: the gate's strongest, or else the experts'; None without rows."""
        if self.curves:
            return self.curves[0].column
        if self.rows is None:
            return None
        effect = np.max(np.abs(self.model.expert_coef_), axis=0) * np.std(self.rows.values, axis=0)
        return int(np.argmax(effect)) if np.max(effect) > 0 else None
