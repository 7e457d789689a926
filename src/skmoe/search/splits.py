r"""Splits of an expert that is fitted to rows of two regimes.

Where to split is read from the residuals :math:`e` of an expert, in coordinates
:math:`s` in which the second moments of its rows are the identity: two regressions that cross leave a variance that
grows along a direction, :math:`E_r[(e^2/\sigma^2 - 1)\, s s^\top]`; a bend leaves :math:`E_r[e\, s s^\top]`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, to_device, to_numpy
from skmoe.arrays.products import unpack_symmetric, weighted_grams
from skmoe.likelihood import Problem, Theta
from skmoe.likelihood.batch import batch_totals
from skmoe.likelihood.rows import Block, weighted
from skmoe.model.channels import repeated
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.posterior import Posterior
from skmoe.search.config import SearchConfig
from skmoe.search.records import Start, StartKind
from skmoe.search.removal import removal_losses

__all__ = ["Split", "drop_and_split", "grown_starts", "splits_of"]

HALF_NORMAL = 0.8  # of a standard Gaussian t: E|t| = E[|t| (t^2 - 1)] = 0.8, which ties a moment to the slope of a bend


@dataclass(frozen=True)
class Split:
    """A split of an expert: its halves differ by plus and minus these, in units of its noise.

    The unit of an expert whose family has no noise scale is one over the root of its mean curvature.
    """

    expert: int
    predictor: int  # of the expert that the halves differ in
    kind: str
    shift: np.ndarray  # (D,) of that predictor
    gate_shift: np.ndarray | None  # (Dg,)
    intercept: float  # added to that of both experts
    promise: float  # gain that is expected of it, to compare splits by
    unit: float  # of the predictor


def splits_of(problem: Problem, batch: Theta, config: SearchConfig) -> list[list[Split]]:
    """Return the splits of each expert of each model."""
    moments, share, units = _split_moments(problem, batch)
    mass = np.maximum(share, 1.0 / problem.total)
    G, excess, residual = np.moveaxis(moments / mass[:, None, :, None, None], 1, 0)
    whitener = _whitener(G)
    # eigenvalues, rising, and directions of the inputs, as rows, along which an expert's residuals vary more or bend
    spread, bend = (_signed_eigen(whitener.mT @ M @ whitener) for M in (excess, residual))
    along, across = (Q @ whitener.mT for _, Q in (spread, bend))
    found, m, shared = [], problem.family.predictors, problem.rows.map.shared
    for model in range(len(batch)):
        splits = []
        for place in range(batch.k * m):
            at = model, place
            weight, unit = float(mass[at]), float(units[at])
            size = max(float(spread[0][at][-1]), 0.0)
            shift = min(max((size / 2) ** 0.5, config.moves.least_shift), 1.0) * along[at][-1]
            splits.append(Split(*divmod(place, m), "crossing", shift, None, 0.0, weight * size**2 / 4, unit))
            sizes = bend[0][at]
            order = np.argsort(-np.abs(sizes), kind="stable")
            for which, kind in zip(order.tolist(), ("bend", "second bend"), strict=False):
                size, v = float(sizes[which]), across[at][which]
                slope = math.copysign(min(max(abs(size) / HALF_NORMAL, config.moves.least_shift), 3.0), size)
                gate_shift = config.moves.gate_slope * v if shared else None
                splits.append(
                    Split(*divmod(place, m), kind, slope * v, gate_shift, -HALF_NORMAL * slope, weight * size**2, unit)
                )
        found.append(splits)
    return found


def _split_moments(problem: Problem, batch: Theta) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return second moments of inputs, excess variance and residuals (S, 3, k m, D, D), shares and units (S, k m)."""
    S, m = len(batch), problem.family.predictors
    k, De = batch.k * m, batch.A.shape[2] // m  # each predictor is split by itself
    gaussian = isinstance(problem.family, GaussianFamily)
    sigma = np.repeat(batch.sigma, m, axis=1)
    scale = to_device(sigma[:, :, None], problem.rows.X)

    def kernel(post: Posterior, block: Block) -> tuple[Array, ...]:
        xp = array_namespace(block.U)
        R, law = repeated(weighted(post.R, block.weight), m), post.law
        score = law.score if m == 1 else xp.reshape(law.score, R.shape)
        excess = law.scale_score if gaussian else score**2 - _curvature_of_each(law.curvature, m, R.shape)
        C = xp.stack([R, R * excess, R * score * scale], axis=1)
        steep = law.step_weight if m == 1 else _curvature_of_each(law.step_weight, m, R.shape)
        sums = xp.sum(R, axis=2), xp.sum(R if gaussian or steep is None else R * steep, axis=2)
        return *sums, weighted_grams(xp.reshape(C, (S * 3 * k, block.y.shape[0])), block.U)

    share, steep, packed = (
        to_numpy(t) / problem.total for t in batch_totals(problem, batch, kernel, channels=3 * S * k)
    )
    moments = unpack_symmetric(packed).reshape(S, 3, k, De, De)
    if gaussian:
        return moments, share, sigma
    share_seen = np.maximum(share, np.finfo(float).tiny)
    steep = np.maximum(steep, np.finfo(float).eps * share_seen)  # nearly zero where an expert separates its rows
    units = np.sqrt(problem.family.step_scale(sigma) * share_seen / steep)
    moments[:, 1] *= (units**2)[..., None, None]
    moments[:, 2] *= (units / sigma)[..., None, None]
    return moments, share, units


def _curvature_of_each(curvature: Array, m: int, shape: tuple[int, ...]) -> Array:
    """Return the curvature of each predictor by itself, (S, k m, b)."""
    if m == 1:
        return curvature
    xp, rows = array_namespace(curvature), np.cumsum([0, *range(m, 1, -1)])  # places of the pairs (c, c)
    return xp.reshape(xp.stack([curvature[..., int(c), :] for c in rows], axis=-2), shape)


def _whitener(G: np.ndarray) -> np.ndarray:
    """Return maps (..., D, D) to coordinates in which the second moments G are identities."""
    values, vectors = np.linalg.eigh(G)
    least = 1e-9 * np.maximum(values[..., -1:], 1e-300)
    return vectors / np.sqrt(np.maximum(values, least))[..., None, :]


def _signed_eigen(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rising eigenvalues, and eigenvectors as rows with signs that do not depend on the machine."""
    values, vectors = np.linalg.eigh(0.5 * (M + M.mT))
    largest = np.argmax(np.abs(vectors), axis=-2, keepdims=True)
    return values, (vectors * np.sign(np.take_along_axis(vectors, largest, axis=-2))).mT


def _apply_split(problem: Problem, A: np.ndarray, W: np.ndarray, sigma: np.ndarray, split: Split, place: int) -> None:
    """Replace an expert by one half of a split expert, in the given arrays."""
    i, D = split.expert, len(split.shift)
    part = slice(split.predictor * D, (split.predictor + 1) * D)
    A[place] = A[i]
    A[place, part], A[i, part] = A[i, part] - split.unit * split.shift, A[i, part] + split.unit * split.shift
    W[place], sigma[place] = W[i], sigma[i]
    if problem.rows.map.intercept:
        A[[i, place], part.stop - 1] += split.unit * split.intercept
        W[[i, place], -1] -= np.log(2.0)
    if split.gate_shift is not None:
        W[place], W[i] = W[i] - split.gate_shift, W[i] + split.gate_shift


def drop_and_split(problem: Problem, thetas: Sequence[Theta], config: SearchConfig, most: int) -> list[Start]:
    """Return the most promising starts in which the least useful expert is removed and another one split."""
    batch = Theta.stacked(thetas)
    losses, candidates = removal_losses(problem, batch), []
    for model, splits in enumerate(splits_of(problem, batch, config)):
        for split in splits:
            j = min((m for m in range(batch.k) if m != split.expert), key=lambda m: losses[model, m])
            candidates.append((split.promise * problem.total - losses[model, j], model, j, split))
    candidates.sort(key=lambda candidate: -candidate[0])
    starts = []
    for _, model, j, split in candidates[:most]:
        A, W, sigma = (part[model].copy() for part in (batch.A, batch.W, batch.sigma))
        _apply_split(problem, A, W, sigma, split, j)
        name = f"drop {j}, split {split.expert} {split.kind}"
        starts.append(Start(name, StartKind.SPLIT, Theta(A, W, sigma)))
    return starts


def grown_starts(
    problem: Problem,
    smaller: Sequence[Theta],
    config: SearchConfig,
    rng: np.random.Generator,
    most: int,
) -> list[Start]:
    """Return starts with k experts from models with fewer, by splits of experts; at most `most` from each model.

    For one more expert these are the most promising splits; for several, splits of different experts, drawn at random
    with more weight on those that promise more.
    """
    batch = Theta.stacked(smaller)
    more, starts = problem.k - batch.k, []
    for model, splits in enumerate(splits_of(problem, batch, config)):
        for chosen in _choices(splits, more, rng, most):
            A, W, sigma = (
                np.concatenate([part[model], np.zeros((more, *part[model].shape[1:]))])
                for part in (batch.A, batch.W, batch.sigma)
            )
            for extra, split in enumerate(chosen):
                _apply_split(problem, A, W, sigma, split, batch.k + extra)
            name = "grown: " + ", ".join(f"split {split.expert} {split.kind}" for split in chosen)
            starts.append(Start(name, StartKind.GROWN, Theta(A, W, sigma)))
    return starts


def _choices(splits: list[Split], more: int, rng: np.random.Generator, most: int) -> list[tuple[Split, ...]]:
    """Return sets of splits of different experts, at most `most` sets."""
    ranked = sorted(splits, key=lambda split: -split.promise)
    if more == 1:
        return [(split,) for split in ranked[:most]]
    weights = np.array([max(split.promise, 1e-12) for split in splits])
    orders = [ranked] + [[splits[s] for s in _random_order(weights, rng)] for _ in range(most - 1)]
    chosen = []
    for order in orders:
        chosen_of: dict[int, Split] = {}
        for split in order:
            chosen_of.setdefault(split.expert, split)
        chosen.append(tuple(list(chosen_of.values())[:more]))
    return chosen


def _random_order(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw an order without replacement, heavier ones sooner."""
    return np.argsort(-(np.log(weights) + rng.gumbel(size=len(weights))))
