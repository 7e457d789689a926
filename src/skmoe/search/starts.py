"""Starts of runs: experts and a gate from labels of the rows, and the consistent start from moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skmoe.arrays.blocks import sum_over_blocks
from skmoe.arrays.namespaces import Array, array_namespace, device, to_device, to_numpy
from skmoe.arrays.products import unpack_symmetric, weighted_grams
from skmoe.arrays.threads import without_warnings
from skmoe.likelihood import Problem, Theta
from skmoe.likelihood.batch import BatchSums, batch_block_rows
from skmoe.likelihood.rows import LaidOutRows
from skmoe.model.channels import as_channels, outputs_first, times
from skmoe.model.gaussian import GaussianFamily
from skmoe.search.batch_em import PenaltyStrengths, em_step_of_batch
from skmoe.search.config import SearchConfig
from skmoe.search.records import Start, StartKind
from skmoe.search.task import Task
from skmoe.spectral.experts import ExpertsResult, experts_of
from skmoe.spectral.outputs import ActivationOutputs
from skmoe.spectral.scores.fitting import as_law, choose_law, mapped_law

__all__ = [
    "by_turns",
    "drawn_starts",
    "labelled_batch",
    "labelled_start",
    "pooled_regression",
    "random_labels",
    "spectral_start",
]


KINDS = (
    StartKind.JOINT,
    StartKind.VORONOI,
    StartKind.RANDOM,
    StartKind.JOINT,
    StartKind.RANDOM,
    StartKind.VORONOI,
)
"""Kinds of random starts, in turn."""
PURITY = 0.9
"""Weight of a row's label in a labelled start; the rest goes to all experts, so that no system is singular."""
CLIPPED_AT = 4.0
"""Median absolute deviations from the median at which starts of experts with heavy tails clip outputs: 2.7 standard
deviations of a Gaussian, so that the outputs of distant experts are hardly clipped."""


def by_turns(count: int, first: int = 0) -> list[StartKind]:
    """Return `count` kinds of random starts in turn, from the given place on."""
    return [KINDS[(first + i) % len(KINDS)] for i in range(count)]


def pooled_regression(problem: Problem) -> Theta:
    """Fit one expert to all rows by least squares."""
    return labelled_start(problem.with_experts(1), np.zeros(problem.n, dtype=int))


def random_labels(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """Assign each row to an expert at random, (n,)."""
    return rng.integers(problem.k, size=problem.n)


def labelled_start(problem: Problem, labels: np.ndarray, purity: float = PURITY) -> Theta:
    """Fit experts and a gate to one set of labels (n,); see `labelled_batch`."""
    return labelled_batch(problem, labels[:, None], purity).picked(0)


def drawn_starts(
    problem: Problem, kinds: Sequence[StartKind], number: int, rng: np.random.Generator, config: SearchConfig
) -> list[Start]:
    """Return random starts of the given kinds, numbered from `number`."""
    problem = _clipped_outputs(problem)
    batch = labelled_batch(problem, _labels(problem, kinds, rng, config), PURITY)
    return [Start(f"{kind} {number + i}", kind, batch.picked(i)) for i, kind in enumerate(kinds)]


def _clipped_outputs(problem: Problem) -> Problem:
    """Clip outputs far from the others, for experts with heavy tails.

    Least squares would follow them, and an expert that starts with them may keep only them.
    """
    dof = problem.family.noise_dof
    if dof is None or np.all(np.isinf(dof)):
        return problem
    rows = problem.laid_out()
    y = to_numpy(rows.y)
    center = np.median(y, axis=0)
    reach = CLIPPED_AT * np.median(np.abs(y - center), axis=0)
    if not np.all(reach > 0):  # more than half of the outputs are the same
        return problem
    near = to_device(np.clip(y, center - reach, center + reach), rows.y)
    return problem.on(rows.with_response(lambda _: near))


def _labels(problem: Problem, kinds: Sequence[StartKind], rng: np.random.Generator, config: SearchConfig) -> np.ndarray:
    """Draw labels (n, S) for one start of each of the given kinds.

    Random labels; the nearest of k random rows in the inputs (Voronoi cells); or the nearest in inputs and output.
    """
    rows, k = problem.laid_out(), problem.k
    Z, n = rows.gate_inputs() if rows.map.Dg > rows.map.intercept else to_numpy(rows.X), rows.n
    if rows.map.intercept:
        Z = Z[:, :-1]
    family = problem.family
    plain = family.noise_dof is not None
    y = to_numpy(rows.y if plain else family.start_response(outputs_first(rows.y)))
    spread = float(np.std(y)) or 1.0
    joint = np.column_stack([Z, config.starts.output_weight / spread * y.reshape(-1, n).T])
    labels = np.empty((n, len(kinds)), dtype=np.int64)
    for s, kind in enumerate(kinds):
        if kind is StartKind.RANDOM:
            labels[:, s] = rng.integers(k, size=n)
            continue
        space = joint if kind is StartKind.JOINT else Z
        centers = space[rng.choice(n, size=k, replace=n < k)]
        labels[:, s] = np.argmin(np.sum(centers**2, axis=1) - 2 * space @ centers.T, axis=1)
    return labels


def labelled_batch(problem: Problem, labels: np.ndarray, purity: float) -> Theta:
    """Fit experts by least squares to S sets of labels (n, S), and gates by one step towards the labels.

    Other experts than linear ones are first taken as linear in an approximate predictor (`Family.start_response`).
    """
    S, k, rows, family = labels.shape[1], problem.k, problem.rows, problem.family
    De, Dg, m = problem.De, problem.Dg, family.predictors

    def kernel(x: Array, y: Array, weight: Array | None, label: Array) -> tuple[Array, ...]:
        U, V, y, weight = rows.block(x, y, weight)
        y = y if family.location_scale and family.parts == 1 else family.start_response(outputs_first(y))
        xp = array_namespace(U)
        turned = xp.matrix_transpose(label)[:, None, :]
        hot = xp.astype(turned == xp.arange(k, device=device(label))[None, :, None], xp.float64)
        R = purity * hot + (1 - purity) / k  # every row has some weight for all: no system is singular
        P = xp.ones_like(R) / k
        if weight is not None:
            R, P = R * weight, P * weight
        one = y if m == 1 else y[0, :]
        return (
            xp.sum(R, axis=2),
            xp.sum(R * one**2, axis=2),
            as_channels(times(R, y) if m == 1 else R[:, :, None, :] * y) @ U.T,
            as_channels(R - P) @ V.T,
            weighted_grams(as_channels(R), U),
            weighted_grams(P[:, 0, :], V),
        )

    xp = array_namespace(rows.X)
    block_rows = batch_block_rows(S * k, rows.X)
    arrays = (rows.X, rows.y, rows.weight, xp.asarray(labels, device=device(rows.X)))
    totals = sum_over_blocks(kernel, *arrays, block_rows=block_rows, shared=False)
    share, statistic, experts, gates, gram, spread = (to_numpy(t) / problem.total for t in totals)
    gate_gram = np.repeat(unpack_symmetric(spread)[:, None], k, axis=1) * (1 - 1 / k)
    sums = BatchSums(
        np.zeros(S),
        share,
        statistic,
        experts.reshape(S, k, De),
        gates.reshape(S, k, Dg),
        _for_each_predictor(unpack_symmetric(gram).reshape(S, k, De // m, De // m), m),
        gate_gram,
    )
    sigma = np.full((S, k), problem.y_std if problem.noise_groups else float(problem.settings.noise))
    zero = Theta(np.zeros((S, k, De)), np.zeros((S, k, Dg)), sigma)
    line = Problem(rows, k, GaussianFamily.linear(), problem.settings, problem.y_std)
    start = em_step_of_batch(line, zero, sums, PenaltyStrengths.of(problem, S))
    if not problem.noise_groups:
        return start
    return Theta(start.A, start.W, np.maximum(family.start_scale(start.sigma), problem.least_scale))


def _for_each_predictor(grams: np.ndarray, m: int) -> np.ndarray:
    """Repeat Gram matrices (S, k, D, D) for each of m predictors, (S, k, m D, m D)."""
    if m == 1:
        return grams
    S, k, D, _ = grams.shape
    full = np.zeros((S, k, m, D, m, D))
    for c in range(m):
        full[:, :, c, :, c, :] = grams
    return full.reshape(S, k, m * D, m * D)


def spectral_start(task: Task, problem: Problem, rng: np.random.Generator) -> tuple[Start, ExpertsResult] | None:
    """Return the consistent start, by the directions of experts in moments of whitened inputs, or None where it fails.

    Directions have unit length; EM learns lengths, intercepts, noise and gate next.
    """
    k, config = problem.k, task.config
    width = problem.De - problem.rows.map.intercept
    family = problem.family
    if not problem.rows.map.shared or k > width or k < 2 or not isinstance(family, GaussianFamily):
        return None
    if problem.n > config.rows.most_rows:
        problem = problem.sample(config.rows.most_rows, rng)
    Z, y = _inputs_and_outputs(problem.laid_out(), width, config, rng)
    if len(y) < config.starts.spectral_rows_per_parameter * problem.n_parameters:
        return None
    if family.g.linear:
        y = y / max(float(np.sqrt(np.mean(y**2))), np.finfo(float).tiny)
    noise = None if problem.noise_groups else float(problem.settings.noise)
    try:
        with without_warnings():  # the race compares this start, whatever its rank
            law = _law_of_whitened(task, Z, rng)
            outputs = ActivationOutputs(family.g)
            found = experts_of(Z, y, None, k, outputs, noise_scale=noise, input_law=law, rng=rng)
    except ValueError:
        return None  # an activation or inputs that it does not hold for: other starts remain
    if len(found.coef) < k:
        return None
    A = np.column_stack([found.coef, np.zeros(k)]) if problem.rows.map.intercept else found.coef
    sigma = np.full(k, noise if noise is not None else config.starts.spectral_noise * problem.y_std)
    theta = Theta(A * (problem.y_std if family.g.linear else 1.0), np.zeros((k, problem.Dg)), sigma)
    return Start("spectral", StartKind.SPECTRAL, theta), found


def _inputs_and_outputs(
    rows: LaidOutRows, width: int, config: SearchConfig, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    Z, y = rows.gate_inputs()[:, :width], to_numpy(rows.y)
    if rows.weight is None:
        return Z, y
    w = to_numpy(rows.weight)  # rows are drawn by their weights
    drawn = np.sort(rng.choice(len(w), size=min(config.rows.most_rows, int(w.sum()) or 1), p=w / w.sum()))
    return Z[drawn], y[drawn]


def _law_of_whitened(task: Task, Z: np.ndarray, rng: np.random.Generator) -> Any:
    """Return the distribution of whitened inputs: chosen by the data, or that of the caller for the original inputs."""
    choice = task.spec.input_law
    if isinstance(choice, str):
        if choice == "gaussian":
            return None
        return choose_law(Z, rng) if choice == "auto" else as_law(choice, Z, rng)
    transform = task.map.transform
    if transform is None:
        return choice
    center = task.map.center if task.map.origin is None else task.map.origin + task.map.center
    return mapped_law(as_law(choice, np.empty((1, len(transform))), rng), center, transform)
