"""How sure a fit is: standard errors in the caller's units, exact intervals of the predictive mixture, summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import ndtr, ndtri

from skmoe.model.parameters import MoEParameters
from skmoe.rows.arrays import Array, array_namespace, to_device, to_numpy
from skmoe.rows.blocks import block_rows_for, row_blocks, sum_over_blocks

__all__ = [
    "Summary",
    "covariances",
    "interval",
    "log_likelihood",
    "mean_gate",
    "mixture_quantile",
    "propagate",
    "r_squared",
    "split_errors",
]


def mixture_quantile(P: np.ndarray, mean: np.ndarray, sigma: np.ndarray, level: float) -> np.ndarray:
    """Quantile of a mixture of Gaussians for each row, by Newton steps kept inside a shrinking bracket.

    Parameters
    ----------
    P, mean : (n, k), weights and means        sigma : (k,)        level : in (0, 1)
    """
    ends = mean + sigma * ndtri(level)
    # below every component's own quantile no mass is missing, above every one it is all there; an expert that the
    # gate rules out has no say
    used = P > 1e-12
    low = np.min(np.where(used, ends, np.inf), axis=1)
    high = np.max(np.where(used, ends, -np.inf), axis=1)
    q = 0.5 * (low + high)
    before = np.full(len(q), np.inf)
    for _ in range(200):
        z = (q[:, None] - mean) / sigma
        excess = np.sum(P * ndtr(z), axis=1) - level
        density = np.sum(P * np.exp(-0.5 * z**2) / sigma, axis=1) / np.sqrt(2 * np.pi)
        low, high = np.where(excess < 0, q, low), np.where(excess < 0, high, q)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            new = q - excess / density
        # between far modes the density all but vanishes and Newton crawls: halve the bracket there
        good = (new > low) & (new < high) & (np.abs(excess) < 0.5 * before)
        before = np.abs(excess)
        new = np.where(good, new, 0.5 * (low + high))
        new = np.where(before > 1e-14, new, q)
        settled = np.max(np.abs(new - q) / (np.abs(q) + np.min(sigma))) <= 1e-13
        q = new
        if settled:
            break
    return q


def interval(parameters: MoEParameters, coverage: float, X: Array) -> Array:
    """Bounds between which an output falls with probability `coverage`, tails of equal weight, (n, 2)."""
    tail = (1 - coverage) / 2
    parts = []
    for (x,) in row_blocks(X, block_rows=block_rows_for(8 * len(parameters.A))):
        P, mean = to_numpy(parameters.gate_proba(x)), to_numpy(parameters.expert_means(x))
        parts.append([mixture_quantile(P, mean, parameters.sigma, level) for level in (tail, 1 - tail)])
    return to_device(np.concatenate([np.stack(bounds, axis=1) for bounds in parts]), X)


def log_likelihood(parameters: MoEParameters, X: Array, y: Array) -> float:
    """Log-likelihood of all rows together, in one pass."""
    block_rows = block_rows_for(sum(parameters.A.shape))
    (total,) = sum_over_blocks(
        lambda x, t: (array_namespace(x).sum(parameters.log_density(x, t)),), X, y, block_rows=block_rows
    )
    return float(total)


def mean_gate(parameters: MoEParameters, X: Array) -> np.ndarray:
    """Mean probability of each expert, (k,), in one pass."""

    def kernel(x: Array) -> tuple[Array]:
        return (array_namespace(x).sum(parameters.gate_proba(x), axis=0),)

    return to_numpy(sum_over_blocks(kernel, X, block_rows=block_rows_for(sum(parameters.A.shape)))[0]) / X.shape[0]


def r_squared(parameters: MoEParameters, X: Array, y: Array, weight: Array | None = None) -> float:
    """Share of the variance of y that predictions explain, over any kind of rows, in one pass."""

    def kernel(x: Array, t: Array, w: Array | None) -> tuple[Array, ...]:
        xp = array_namespace(x)
        t = xp.astype(t, xp.float64, copy=False)
        w = xp.ones_like(t) if w is None else w
        size = xp.sum(w)
        mean = xp.sum(w * t) / size if float(size) else size
        # pieces are merged about their own means, so that no digits are lost to a far origin
        errors, inside = w * (t - parameters.predict(x)) ** 2, w * (t - mean) ** 2
        return xp.sum(errors), xp.sum(inside), size * mean**2, size * mean, size

    rest, inside, squares, total, size = (
        float(v) for v in sum_over_blocks(kernel, X, y, weight, block_rows=block_rows_for(sum(parameters.A.shape)))
    )
    between = max(squares - total**2 / size, 0.0)
    return 1.0 - rest / (inside + between)


def covariances(
    information: np.ndarray, outer: np.ndarray, free: np.ndarray, n: float
) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the estimate by the observed information, and its sandwich version, (p, p) each.

    `information` and `outer` are per row; parameters that are not `free` (noise on its floor) have no variance.
    """
    model, sandwich = np.zeros_like(information), np.zeros_like(information)
    inside = np.ix_(free, free)
    inverse = linalg.inv(information[inside]) / n
    model[inside] = 0.5 * (inverse + inverse.T)
    sandwich[inside] = n * inverse @ outer[inside] @ inverse
    return model, sandwich


def propagate(map_to: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> np.ndarray:
    """Matrix of an affine map, read off its values at the origin's neighbours: (outputs, inputs)."""
    base = map_to(at)
    return np.stack([map_to(at + step) - base for step in np.eye(len(at))], axis=1)


def split_errors(covariance: np.ndarray | None, k: int, d: int) -> dict[str, np.ndarray]:
    """Standard errors by name from a covariance over (A, b, W, c, sigma); NaN where there is none."""
    if covariance is None:
        errors = np.full(2 * k * (d + 1) + k, np.nan)
    else:
        errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    sizes = {
        "expert_coef": (k, d),
        "expert_intercept": (k,),
        "gate_coef": (k, d),
        "gate_intercept": (k,),
        "noise_scale": (k,),
    }
    parts, start = {}, 0
    for name, shape in sizes.items():
        size = int(np.prod(shape))
        parts[name] = errors[start : start + size].reshape(shape)
        start += size
    return parts


@dataclass
class Summary:
    """A table with a heading: prints itself as text, and turns into a DataFrame where pandas is there."""

    title: str
    columns: Sequence[str]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas; str() prints the table without it") from error
        return pd.DataFrame(self.rows, columns=list(self.columns))

    def __str__(self) -> str:
        cells = [[_text(value) for value in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.columns, *cells, strict=True)]
        number = [all(isinstance(row[i], float | int) for row in self.rows) for i in range(len(widths))]

        def line(parts: Sequence[str]) -> str:
            aligned = (p.rjust(w) if right else p.ljust(w) for p, w, right in zip(parts, widths, number, strict=True))
            return "  ".join(aligned).rstrip()

        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join([self.title, rule, line(self.columns), rule, *map(line, cells), rule, *self.notes])

    __repr__ = __str__


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.4g}"
    return str(value)
