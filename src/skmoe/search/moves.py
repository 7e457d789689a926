r"""Moves between optima of the likelihood: drop experts that are hardly missed, split ones that do two jobs.

Where to split is read from the residuals :math:`e` of an expert, in coordinates
:math:`s` in which its own rows are white: two laws that cross leave a variance that grows along a direction,
:math:`E_r[(e^2/\sigma^2 - 1)\, s s^\top]`; a bend leaves :math:`E_r[e\, s s^\top]`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, to_device, to_numpy
from skmoe.arrays.products import unpack_symmetric, weighted_grams
from skmoe.likelihood import Problem, Theta
from skmoe.likelihood.batch import BatchPosterior, ThetaBatch, batch_totals
from skmoe.likelihood.rows import Block, weighted
from skmoe.model.channels import repeated
from skmoe.model.gaussian import GaussianFamily
from skmoe.search.batch_em import centred
from skmoe.search.climb import BatchAscent, OnStep, OwnRows
from skmoe.search.compiled import batch_ascent
from skmoe.search.config import SearchConfig
from skmoe.search.records import Start, StartKind
from skmoe.search.removal import removal_losses

__all__ = ["Split", "drop_and_split", "grown_starts", "pruned", "splits_of", "tilted"]

FOLDED = 0.8  # of a standard Gaussian t: E|t| = E[|t| (t^2 - 1)] = 0.8, which ties a moment to the slope of a bend
AT_A_TIME = 4  # of so many superfluous experts one is dropped before losses are taken anew
FAR = 2.5  # standard deviations along a direction beyond which rows count no more than there


@dataclass(frozen=True)
class Split:
    """How an expert may be split: its halves differ by plus and minus these, in units of its noise.

    The unit of an expert whose law has no noise scale is one over the root of its mean curvature.
    """

    expert: int
    predictor: int  # of the expert that the halves differ in
    way: str
    shift: np.ndarray  # (D,) of that predictor
    turn: np.ndarray | None  # (Dg,) of the gate
    level: float  # of both experts
    promise: float  # how much it may gain, to compare splits by
    unit: float  # of the predictor


def splits_of(problem: Problem, batch: ThetaBatch, config: SearchConfig) -> list[list[Split]]:
    """Ways to split each expert of each model."""
    moments, share, units = _split_moments(problem, batch)
    mass = np.maximum(share, 1.0 / problem.total)
    G, excess, residual = np.moveaxis(moments / mass[:, None, :, None, None], 1, 0)
    white = _whitener(G)
    # eigenvalues, rising, and directions of the inputs, as rows, along which an expert's residuals spread or bend
    spread, bend = (_signed_eigen(white.mT @ M @ white) for M in (excess, residual))
    along, across = (Q @ white.mT for _, Q in (spread, bend))
    found, m, shared = [], problem.family.predictors, problem.rows.map.shared
    for model in range(len(batch)):
        mine = []
        for place in range(batch.k * m):
            at = model, place
            here, unit = float(mass[at]), float(units[at])
            size = max(float(spread[0][at][-1]), 0.0)
            shift = min(max((size / 2) ** 0.5, config.moves.least_shift), 1.0) * along[at][-1]
            mine.append(Split(*divmod(place, m), "crossing", shift, None, 0.0, here * size**2 / 4, unit))
            sizes = bend[0][at]
            order = np.argsort(-np.abs(sizes), kind="stable")
            for top, way in zip(order.tolist(), ("bend", "second bend"), strict=False):
                size, v = float(sizes[top]), across[at][top]
                slope = math.copysign(min(max(abs(size) / FOLDED, config.moves.least_shift), 3.0), size)
                turn = config.moves.gate_slope * v if shared else None
                mine.append(Split(*divmod(place, m), way, slope * v, turn, -FOLDED * slope, here * size**2, unit))
        found.append(mine)
    return found


def _split_moments(problem: Problem, batch: ThetaBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Second moments of inputs, variance excess and residuals (S, 3, k m, D, D), shares and units (S, k m)."""
    S, m = len(batch), problem.family.predictors
    k, De = batch.k * m, batch.A.shape[2] // m  # each predictor is looked at by itself
    gaussian = isinstance(problem.family, GaussianFamily)
    sigma = np.repeat(batch.sigma, m, axis=1)
    scale = to_device(sigma[:, :, None], problem.rows.X)

    def kernel(post: BatchPosterior, block: Block) -> tuple[Array, ...]:
        xp = array_namespace(block.U)
        R, law = repeated(weighted(post.R, block.weight), m), post.law
        score = law.score if m == 1 else xp.reshape(law.score, R.shape)
        excess = law.scale_score if gaussian else score**2 - _own_curvature(law.curvature, m, R.shape)
        C = xp.stack([R, R * excess, R * score * scale], axis=1)
        steep = law.step_weight if m == 1 else _own_curvature(law.step_weight, m, R.shape)
        sums = xp.sum(R, axis=2), xp.sum(R if gaussian or steep is None else R * steep, axis=2)
        return *sums, weighted_grams(xp.reshape(C, (S * 3 * k, block.y.shape[0])), block.U)

    share, steep, packed = (
        to_numpy(t) / problem.total for t in batch_totals(problem, batch, kernel, channels=3 * S * k)
    )
    moments = unpack_symmetric(packed).reshape(S, 3, k, De, De)
    if gaussian:
        return moments, share, sigma
    share_seen = np.maximum(share, np.finfo(float).tiny)
    steep = np.maximum(steep, np.finfo(float).eps * share_seen)  # next to zero where an expert separates its rows
    units = np.sqrt(problem.family.step_scale(sigma) * share_seen / steep)
    moments[:, 1] *= (units**2)[..., None, None]
    moments[:, 2] *= (units / sigma)[..., None, None]
    return moments, share, units


def _own_curvature(curvature: Array, m: int, shape: tuple[int, ...]) -> Array:
    """Curvatures of each predictor by itself, (S, k m, b)."""
    if m == 1:
        return curvature
    xp, rows = array_namespace(curvature), np.cumsum([0, *range(m, 1, -1)])  # places of the pairs (c, c)
    return xp.reshape(xp.stack([curvature[..., int(c), :] for c in rows], axis=-2), shape)


def _whitener(G: np.ndarray) -> np.ndarray:
    """Maps (..., D, D) to coordinates in which the second moments G are identities."""
    values, vectors = np.linalg.eigh(G)
    least = 1e-9 * np.maximum(values[..., -1:], 1e-300)
    return vectors / np.sqrt(np.maximum(values, least))[..., None, :]


def _signed_eigen(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, rising, and eigenvectors as rows, with signs that do not depend on the machine."""
    values, vectors = np.linalg.eigh(0.5 * (M + M.mT))
    largest = np.argmax(np.abs(vectors), axis=-2, keepdims=True)
    return values, (vectors * np.sign(np.take_along_axis(vectors, largest, axis=-2))).mT


def _apply_split(problem: Problem, A: np.ndarray, W: np.ndarray, sigma: np.ndarray, split: Split, place: int) -> None:
    """Put one half of a split expert in the place of another, in the given arrays."""
    i, D = split.expert, len(split.shift)
    own = slice(split.predictor * D, (split.predictor + 1) * D)
    A[place] = A[i]
    A[place, own], A[i, own] = A[i, own] - split.unit * split.shift, A[i, own] + split.unit * split.shift
    W[place], sigma[place] = W[i], sigma[i]
    if problem.rows.map.intercept:
        A[[i, place], own.stop - 1] += split.unit * split.level
        W[[i, place], -1] -= np.log(2.0)
    if split.turn is not None:
        W[place], W[i] = W[i] - split.turn, W[i] + split.turn


def drop_and_split(problem: Problem, thetas: Sequence[Theta], config: SearchConfig, most: int) -> list[Start]:
    """Starts one move away: the expert least missed dropped, another split; the most promising of them."""
    batch = ThetaBatch.of(thetas)
    losses, moves = removal_losses(problem, batch), []
    for model, splits in enumerate(splits_of(problem, batch, config)):
        for split in splits:
            j = min((m for m in range(batch.k) if m != split.expert), key=lambda m: losses[model, m])
            moves.append((split.promise * problem.total - losses[model, j], model, j, split))
    moves.sort(key=lambda move: -move[0])
    starts = []
    for _, model, j, split in moves[:most]:
        A, W, sigma = (part[model].copy() for part in (batch.A, batch.W, batch.sigma))
        _apply_split(problem, A, W, sigma, split, j)
        name = f"drop {j}, split {split.expert} {split.way}"
        starts.append(Start(name, StartKind.SPLIT, Theta(A, (W - W[-1])[:-1], sigma)))
    return starts


def grown_starts(
    problem: Problem,
    smaller: Sequence[Theta],
    config: SearchConfig,
    rng: np.random.Generator,
    most: int,
) -> list[Start]:
    """Starts with k experts from models with fewer, experts split; at most so many of each model.

    One expert more is each of the most promising splits in turn; several are splits of different experts, drawn by what
    they promise.
    """
    batch = ThetaBatch.of(smaller)
    more, starts = problem.k - batch.k, []
    for model, splits in enumerate(splits_of(problem, batch, config)):
        for chosen in _choices(splits, more, rng, most):
            A, W, sigma = (
                np.concatenate([part[model], np.zeros((more, *part[model].shape[1:]))])
                for part in (batch.A, batch.W, batch.sigma)
            )
            for extra, split in enumerate(chosen):
                _apply_split(problem, A, W, sigma, split, batch.k + extra)
            name = "grown: " + ", ".join(f"split {split.expert} {split.way}" for split in chosen)
            starts.append(Start(name, StartKind.GROWN, Theta(A, (W - W[-1])[:-1], sigma)))
    return starts


def _choices(splits: list[Split], more: int, rng: np.random.Generator, most: int) -> list[tuple[Split, ...]]:
    """Sets of splits of different experts, at most so many sets."""
    ranked = sorted(splits, key=lambda split: -split.promise)
    if more == 1:
        return [(split,) for split in ranked[:most]]
    weights = np.array([max(split.promise, 1e-12) for split in splits])
    orders = [ranked] + [[splits[s] for s in _drawn(weights, rng)] for _ in range(most - 1)]
    chosen = []
    for order in orders:
        mine: dict[int, Split] = {}
        for split in order:
            mine.setdefault(split.expert, split)
        chosen.append(tuple(list(mine.values())[:more]))
    return chosen


def _drawn(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An order drawn without replacement, heavier ones sooner."""
    return np.argsort(-(np.log(weights) + rng.gumbel(size=len(weights))))


def tilted(
    problem: Problem,
    thetas: Sequence[Theta],
    config: SearchConfig,
    rng: np.random.Generator,
    on_step: OnStep | None = None,
) -> list[Start]:
    """Starts from models climbed for a while where rows count more the further they lie along a direction drawn anew.

    On rows so weighted the optimum they stand on is another, or none; what they find is near enough to be better, and
    far enough not to be the same (Nixon, 1999, has done so with trees of species). Without a penalty gates are all but
    steps, and a row never changes sides: they begin less steep then, but not where rows are too few for the parameters
    and the highest maxima are spikes.
    """
    rows, count, batch = problem.laid_out(), len(thetas), ThetaBatch.of(thetas)
    carried = problem.total >= config.number.rows_per_parameter * problem.n_parameters
    if carried and not problem.prevents_degeneracy(problem.settings.penalty):
        low, high = np.log(config.moves.softening)
        batch = replace(batch, W=np.exp(rng.uniform(low, high, count))[:, None, None] * centred(batch.W))
    Z = to_numpy(rows.X)
    Z = Z[:, :-1] if rows.map.intercept else Z
    along = Z @ rng.standard_normal((Z.shape[1], count))
    along -= np.mean(along, axis=0)
    along /= np.maximum(np.std(along, axis=0), np.finfo(float).tiny)
    low, high = np.log(config.moves.tilt)
    weight = np.exp(np.exp(rng.uniform(low, high, count)) * np.clip(along, -FAR, FAR))
    counts = np.ones(len(Z)) if rows.weight is None else to_numpy(rows.weight)
    weight *= np.sum(counts) / (counts @ weight)
    drawn_to = np.broadcast_to(problem.settings.pooled, (count, problem.De))
    own = OwnRows(to_device(weight, rows.X), drawn_to)
    ascent = batch_ascent(problem, batch, own=own, on_step=on_step)
    ascent.em(config.race.em_steps)
    ascent.quasi_newton(config.race.warm_up)
    return [Start(f"tilted {i}", StartKind.TILTED, ascent.batch.theta(i)) for i in range(count)]


def pruned(problem: Problem, ascent: BatchAscent, k: int, steps: int, on_step: OnStep | None = None) -> ThetaBatch:
    """Drop the experts least missed, one or, of many, a few at a time with some EM steps between, until k are left.

    A law that one expert among many has found is kept, where k experts from a poor start would have shared it out.
    """
    while ascent.batch.k > k:
        batch = ascent.batch
        left = batch.k - max(1, (batch.k - k) // AT_A_TIME)
        kept = np.sort(np.argsort(-ascent.removal_losses(), axis=1, kind="stable")[:, :left], axis=1)
        rows = np.arange(len(batch))[:, None]
        fewer = ThetaBatch(batch.A[rows, kept], batch.W[rows, kept], batch.sigma[rows, kept])
        ascent = batch_ascent(problem, fewer, on_step=on_step)
        ascent.em(steps)
    return ascent.batch
