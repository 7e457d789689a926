"""Where fits begin: labels for rows, turned into experts and a gate; and the consistent start from moments."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.likelihood import Problem, Theta, em_sums
from skmoe.likelihood.rows import LaidOutRows
from skmoe.model.gaussian import GaussianFamily
from skmoe.rows.arrays import to_device, to_numpy
from skmoe.rows.threads import without_warnings
from skmoe.search.ascent import em_step
from skmoe.search.config import SearchConfig
from skmoe.search.moves import prune, short_run
from skmoe.search.records import Start, StartKind
from skmoe.search.task import Task
from skmoe.spectral.experts import ExpertsResult, experts_of
from skmoe.spectral.scores.fitting import as_law, choose_law, mapped_law

__all__ = ["draw_start", "labelled_start", "random_labels", "spectral_start", "voronoi_labels"]

DRAWN = {
    StartKind.RANDOM: "random",
    StartKind.VORONOI: "voronoi",
    StartKind.OVERFULL: "overfull",
}


def random_labels(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """Each row given to an expert at random, (n,)."""
    return rng.integers(problem.k, size=problem.n)


def voronoi_labels(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """Each row given to the nearest of k random rows in the inputs, (n,)."""
    Z = problem.laid_out().gate_inputs()
    centers = Z[rng.choice(len(Z), size=problem.k, replace=False)]
    return np.argmin(np.sum(centers**2, axis=1) - 2 * Z @ centers.T, axis=1)


def labelled_start(problem: Problem, labels: np.ndarray, purity: float = 0.9) -> Theta:
    """Experts by least squares on their labelled rows, a gate one Newton step towards the labels.

    Other experts than linear ones are first taken as linear in a rough predictor (`Family.start_response`).
    """
    k, family = problem.k, problem.family
    hot = purity * np.eye(k)[labels] + (1 - purity) / k  # a little of every row for all: no system is singular
    rows = problem.rows if family.location_scale else problem.rows.responding(family.start_response)
    line = Problem(rows, k, GaussianFamily.linear(), problem.settings, problem.spread)
    known = not problem.noise_groups
    sigma = np.full(k, float(problem.settings.noise) if known else problem.spread)
    theta = Theta(np.zeros((k, problem.De)), np.zeros((k - 1, problem.Dg)), sigma)
    start = em_step(line, theta, em_sums(line, theta, to_device(hot, rows.X)))
    if known:
        return start
    return Theta(start.A, start.W, np.maximum(family.start_scale(start.sigma), problem.noise_floor))


def draw_start(problem: Problem, kind: StartKind, number: int, rng: np.random.Generator, config: SearchConfig) -> Start:
    """A random start; "overfull" has half as many experts again, then pruned."""
    if kind is StartKind.VORONOI:
        theta = labelled_start(problem, voronoi_labels(problem, rng), config.label_purity)
    elif kind is StartKind.RANDOM:
        theta = labelled_start(problem, random_labels(problem, rng), config.label_purity)
    else:
        many = problem.with_experts(problem.k + int(np.ceil(config.overfull * problem.k)))
        labelled = labelled_start(many, random_labels(many, rng), config.label_purity)
        theta = prune(problem, short_run(many, labelled, config.first_steps), config.prune_steps)
    return Start(f"{DRAWN[kind]} {number}", kind, theta)


def spectral_start(task: Task, problem: Problem, rng: np.random.Generator) -> tuple[Start, ExpertsResult] | None:
    """The consistent start: directions of the experts from moments of whitened inputs; None where it cannot run.

    Directions have unit length there; lengths, intercepts, noise and gate are what EM learns next.
    """
    k, config = problem.k, task.config
    width = problem.De - problem.rows.map.intercept
    family = problem.family
    if not problem.rows.map.shared or k > width or k < 2 or not isinstance(family, GaussianFamily):
        return None
    if problem.n > config.spectral_rows:
        problem = problem.sample(config.spectral_rows, rng)
    Z, y = _inputs_and_outputs(problem.laid_out(), width, config, rng)
    if len(y) < 2 * (k + 1) * (width + 1):  # fewer rows than numbers in the moments: nothing to be read off them
        return None
    if family.g.linear:
        y = y / max(float(np.sqrt(np.mean(y**2))), np.finfo(float).tiny)
    noise = None if problem.noise_groups else float(problem.settings.noise)
    try:
        with without_warnings():  # the race judges this start, whatever its rank
            law = _law_of_whitened(task, Z, rng)
            found = experts_of(Z, y, None, k, family.g, noise_scale=noise, input_law=law, rng=rng)
    except ValueError:
        return None  # an activation or inputs that do not qualify: other starts remain
    if len(found.coef) < k:
        return None
    A = np.column_stack([found.coef, np.zeros(k)]) if problem.rows.map.intercept else found.coef
    sigma = np.full(k, noise if noise is not None else config.start_noise * problem.spread)
    theta = Theta(A * (problem.spread if family.g.linear else 1.0), np.zeros((k - 1, problem.Dg)), sigma)
    return Start("spectral", StartKind.SPECTRAL, theta), found


def _inputs_and_outputs(
    rows: LaidOutRows, width: int, config: SearchConfig, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    Z, y = rows.gate_inputs()[:, :width], to_numpy(rows.y)
    if rows.weight is None:
        return Z, y
    w = to_numpy(rows.weight)  # rows are drawn by their weights
    drawn = np.sort(rng.choice(len(w), size=min(config.spectral_rows, int(w.sum()) or 1), p=w / w.sum()))
    return Z[drawn], y[drawn]


def _law_of_whitened(task: Task, Z: np.ndarray, rng: np.random.Generator) -> Any:
    """The law of whitened inputs: chosen by how they look, or what the caller says of the rows as they came."""
    choice = task.spec.input_law
    if isinstance(choice, str):
        if choice == "gaussian":
            return None
        return choose_law(Z, rng) if choice == "auto" else as_law(choice, Z, rng)
    transform = task.map.transform
    if transform is None:
        return choice
    return mapped_law(as_law(choice, np.empty((1, len(transform))), rng), task.map.center, transform)
