"""The largest number of experts that rows and memory allow; more are refused before memory is taken."""

from __future__ import annotations

from collections.abc import Callable

from skmoe.arrays import memory
from skmoe.search.config import SearchConfig
from skmoe.search.task import ModelSpec, expert_rows
from skmoe.tables.inputs import RowsToFit

__all__ = ["check_request", "experts_in_memory"]

INFORMATION_COPIES = 6
"""Matrices of the size of the information that a fit holds at once: itself, scaled, factor, inverse, sandwich."""
COVARIANCE_COPIES = 3
"""The same of the covariance of all coefficients in the caller's units: by the information, by the sandwich, scaled."""
MOMENT_COPIES = 5
"""The same of the covariance of the inputs."""


def bytes_needed(spec: ModelSpec, rows: int, columns: int, k: int) -> float:
    """Return about how much memory the matrices of a fit with k experts take."""
    rank = min(columns, rows)
    experts = rank if spec.expert_columns is None else min(rank, len(spec.expert_columns))
    gate = rank if spec.gate_columns is None else min(rank, len(spec.gate_columns))
    learned = k * spec.family.predictors * (experts + spec.intercept) + (k - 1) * (gate + spec.intercept) + k
    reported = (spec.family.predictors + 1) * k * (columns + 1) + k
    return 8.0 * (INFORMATION_COPIES * learned**2 + COVARIANCE_COPIES * reported**2 + MOMENT_COPIES * columns**2)


def experts_in_memory(needed: Callable[[int], float], most: int, available: float) -> int:
    """Return the largest number of experts up to `most` for the available memory; zero where one is too many."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if needed(middle) <= available else (low, middle - 1)
    return low


def check_request(rows: RowsToFit, spec: ModelSpec, n_experts: int | str, config: SearchConfig) -> int | str:
    """Return the number of experts asked for, or the largest that rows allow; refuse what memory cannot hold.

    Weighted rows may stand for any number of rows: they are not counted.
    """
    n, columns = rows.X.shape
    k = config.number.most_experts if isinstance(n_experts, str) else int(n_experts)
    if rows.weight is None:
        k = min(k, max(1, int(n // expert_rows(spec, columns, config))))
    available = memory.available_bytes()

    def needed(number: int) -> float:
        return bytes_needed(spec, n, columns, number)

    if needed(k if not isinstance(n_experts, str) else 1) <= available:
        return n_experts if isinstance(n_experts, str) else k
    most = experts_in_memory(needed, k, available)
    can = f"at most {most} experts are possible" if most else "not even one expert is possible: use fewer columns"
    fewer = f" ({k} of them, which {n} rows support)" if n_experts != k and not isinstance(n_experts, str) else ""
    asked = f"{k} experts at most" if isinstance(n_experts, str) else f"{n_experts} experts"
    raise ValueError(
        f"{asked} over {columns} columns{fewer} need about {memory.gigabytes(needed(k))} of memory for "
        f"their information and covariance matrices, and {memory.gigabytes(available)} are available: {can}"
    )
