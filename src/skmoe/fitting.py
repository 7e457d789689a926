r"""From a table to a fitted model: units in and out, the consistent start, the search, and the uncertainty.

Inside, inputs are whitened and, for linear experts, the output is centred and scaled, so that nothing depends on the
caller's units; results come back in them. For small tables rows are first brought into one order and repeated rows into
weights, so that neither the order of rows nor the way of repeating them matters at all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
from scipy import stats

from skmoe.activations import Activation
from skmoe.arrays import Array, array_namespace, to_numpy
from skmoe.experts import learn_experts
from skmoe.inference import covariances, propagate
from skmoe.likelihood import JointLikelihood, Settings, Theta
from skmoe.model import MoEParameters
from skmoe.moves import remove_and_split
from skmoe.refine import Ascent, Fit, run_em
from skmoe.scores import fit_law
from skmoe.starts import Search, StartRecord, labelled_start, random_labels
from skmoe.whitening import whitening_map

__all__ = ["Fitted", "Progress", "Task", "choose_experts", "fit_joint_em", "fit_search"]

CANONICAL_ROWS = 20_000  # tables up to this size are brought into one order, whatever order they came in
SPECTRAL_ROWS = 50_000  # the consistent start looks at no more rows than this
LAW_ROWS = 1_000
MAX_EXPERTS = 10  # "auto" tries no more
POLISH = 1e-18  # squared distance to the optimum in standard errors that the last Newton steps aim at


@dataclass(frozen=True)
class Task:
    """A table and the model to be fitted to it, in the caller's units."""

    X: Array
    y: Array
    weight: Array | None
    g: Activation
    noise: str | float
    intercept: bool
    gate_penalty: float
    input_law: Any = "auto"
    expert_columns: Sequence[int] | None = None
    gate_columns: Sequence[int] | None = None
    max_iter: int = 500
    tol: float = 1e-4


@dataclass(frozen=True)
class Progress:
    """How far a fit is: "starts" are raced on some of the rows, the best are finished on "all rows"."""

    stage: str
    n_experts: int
    step: int
    log_likelihood: float  # the best so far, mean per row, in the caller's units


@dataclass
class Fitted:
    """A fit in the caller's units, experts in order of falling mean gate weight."""

    parameters: MoEParameters
    log_likelihood: float
    n_parameters: int
    converged: bool
    identified: bool
    trace: np.ndarray
    covariance: np.ndarray | None = None  # over (A, b, W, c, sigma)
    sandwich: np.ndarray | None = None
    records: list[StartRecord] = field(default_factory=list)
    agreement: int = 0
    winner: str = ""
    at_floor: bool = False
    interrupted: bool = False
    shares: np.ndarray | None = None
    spectral: Any = None
    theta: Theta | None = None  # inside units, for warm starts


class Units:
    """The likelihood over a task's rows in inside units, and the way back to the caller's."""

    def __init__(self, task: Task, k: int) -> None:
        X, y, weight = _canonical(task)
        self.task = task
        xp = array_namespace(y)
        self.level, self.scale = 0.0, 1.0
        if task.g.linear:
            w = xp.ones_like(y) if weight is None else weight
            total = float(xp.sum(w))
            self.level = float(xp.sum(y * w)) / total if task.intercept else 0.0
            self.scale = (float(xp.sum(w * (y - self.level) ** 2)) / total) ** 0.5 or 1.0
        noise = task.noise if isinstance(task.noise, str) else float(task.noise) / self.scale
        center, transform, expert_columns, gate_columns = _maps(task, X, weight)
        self.likelihood = JointLikelihood(
            X,
            (y - self.level) / self.scale,
            task.g,
            k,
            weight=weight,
            intercept=task.intercept,
            center=center,
            transform=transform,
            expert_columns=expert_columns,
            gate_columns=gate_columns,
            settings=Settings(noise=noise, gate_penalty=task.gate_penalty),
        ).in_memory()

    def outside(self, theta: Theta) -> MoEParameters:
        """Parameters in the caller's units."""
        p = self.likelihood.to_parameters(theta)
        return replace(p, A=p.A * self.scale, b=p.b * self.scale + self.level, sigma=p.sigma * self.scale)

    def log_likelihood(self, inside: float) -> float:
        """Mean log-likelihood of the caller's y."""
        return inside - float(np.log(self.scale))


def _canonical(task: Task) -> tuple[Array, Array, Array | None]:
    """Rows in one order with repeated ones as weights; only for small tables on the host."""
    X, y, weight = task.X, task.y, task.weight
    if not isinstance(X, np.ndarray) or len(X) > CANONICAL_ROWS:
        return X, y, weight
    table, back, counts = np.unique(np.column_stack([y, X]), axis=0, return_inverse=True, return_counts=True)
    if weight is not None:
        counts = np.bincount(back.ravel(), weights=weight)
        table, counts = table[counts > 0], counts[counts > 0]
    weighted = None if weight is None and len(table) == len(X) else counts.astype(np.float64)
    if weighted is not None and np.all(weighted == 1):
        weighted = None
    return np.ascontiguousarray(table[:, 1:]), np.ascontiguousarray(table[:, 0]), weighted


def _maps(
    task: Task, X: Array, weight: Array | None
) -> tuple[np.ndarray, np.ndarray, Sequence[int] | None, Sequence[int] | None]:
    """Whitening of the inputs; where experts and gate see other columns, one beside the other."""
    if task.expert_columns is None and task.gate_columns is None:
        return *whitening_map(X, weight, centered=task.intercept), None, None
    d = X.shape[1]
    xp = array_namespace(X)
    blocks, center = [], np.zeros(d)
    for columns in (task.expert_columns, task.gate_columns):
        index = list(range(d)) if columns is None else list(columns)
        middle, inner = whitening_map(xp.take(X, xp.asarray(index), axis=1), weight, centered=task.intercept)
        block = np.zeros((d, inner.shape[1]))
        block[index] = inner
        center[index] = middle
        blocks.append(block)
    first = blocks[0].shape[1]
    transform = np.concatenate(blocks, axis=1)
    return center, transform, range(first), range(first, transform.shape[1])


def spectral_start(units: Units, rng: np.random.Generator) -> tuple[Theta, Any] | None:
    """The consistent start: directions of the experts from moments of whitened inputs; None where it cannot run.

    Directions have unit length there; lengths, intercepts, noise and gate are what EM learns next.
    """
    part = units.likelihood
    k = part.k
    width = part.De - part.intercept
    if not part.same or k > width or k < 2:
        return None
    part = part.sample(SPECTRAL_ROWS, rng) if part.n > SPECTRAL_ROWS else part
    Z, y = part.inputs()[:, :width], to_numpy(part.y)
    if part.weight is not None:  # moments know no weights: draw rows by them
        w = to_numpy(part.weight)
        rows = np.sort(rng.choice(len(w), size=min(SPECTRAL_ROWS, int(w.sum()) or 1), p=w / w.sum()))
        Z, y = Z[rows], y[rows]
    if part.g.linear:
        y = y / max(float(np.sqrt(np.mean(y**2))), np.finfo(float).tiny)
    noise = None if part.noise_groups else float(part.settings.noise)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the race judges this start, whatever its rank
            law = _input_law(units.task.input_law, Z, rng)
            found = learn_experts(Z, y, k, activation=part.g, noise_scale=noise, input_law=law, random_state=rng)
    except ValueError:
        return None  # too few rows, an activation that does not qualify: other starts remain
    if len(found.coef) < k:
        return None
    A = np.column_stack([found.coef, np.zeros(k)]) if part.intercept else found.coef
    sigma = np.full(k, float(part.settings.noise) if noise is not None else 0.5 * part.spread)
    return Theta(A * (part.spread if part.g.linear else 1.0), np.zeros((k - 1, part.Dg)), sigma), found


def _input_law(choice: Any, Z: np.ndarray, rng: np.random.Generator) -> Any:
    """Standard Gaussian for whitened inputs that look it, else a fitted mixture; a caller's choice is kept."""
    if choice is None or choice == "gaussian":
        return None
    sample = Z[np.sort(rng.choice(len(Z), LAW_ROWS, replace=False))] if len(Z) > LAW_ROWS else Z
    if isinstance(choice, str) and choice == "auto" and looks_gaussian(sample):
        return None
    if not isinstance(choice, str):
        return choice
    return fit_law(sample, "mixture", rng, max_components=3, n_init=1)  # a start has to be near, not exact


def looks_gaussian(Z: np.ndarray) -> bool:
    """Whether no whitened input is clearly skewed or heavy-tailed."""
    return bool(np.max(np.abs(stats.skew(Z))) < 0.5 and np.max(np.abs(stats.kurtosis(Z))) < 1.0)


def fit_search(
    task: Task,
    k: int,
    rng: np.random.Generator,
    *,
    warm: Sequence[tuple[str, Theta]] = (),
    report: Callable[[Progress], None] | None = None,
    quick: bool = False,
) -> Fitted:
    """The default: consistent start, other cheap starts beside it, maximum likelihood from the winners."""
    units = Units(task, k)
    steps = count(1)

    def tell(search: Search) -> None:
        if report is not None:
            stage = "starts" if search.best is None else "all rows"
            report(Progress(stage, k, next(steps), units.log_likelihood(search.level)))

    found = spectral_start(units, rng)
    starts = list(warm) if found is None else [("spectral", found[0]), *warm]
    search = Search(
        units.likelihood,
        rng,
        starts=starts,
        callback=tell,
        quick=quick,
        tol=task.tol,
        max_iter=task.max_iter,
    )
    interrupted = False
    try:
        fit = search.run()
        fitted = finish(units, fit.theta, fit, polish=True)
    except KeyboardInterrupt:
        if search.theta is None:  # nothing to keep yet
            raise
        interrupted = True
        fitted = finish(units, search.theta, None, polish=False)
    fitted.records, fitted.agreement, fitted.interrupted = search.records, search.agreement, interrupted
    fitted.winner = next((r.name for r in reversed(search.records) if r.stage == "all rows"), "")
    fitted.spectral = None if found is None else found[1]
    return fitted


def fit_joint_em(
    task: Task, k: int, rng: np.random.Generator, n_init: int, report: Callable[[Progress], None] | None = None
) -> Fitted:
    """The baseline: EM from random labels, the best of `n_init` runs."""
    units = Units(task, k)
    best, records = None, []
    for i in range(n_init):
        run = run_em(
            units.likelihood,
            labelled_start(units.likelihood, random_labels(units.likelihood, rng)),
            max_iter=task.max_iter,
            tol=task.tol,
        )
        records.append(StartRecord(f"random {i}", run.log_likelihood[-1], "all rows"))
        if best is None or run.log_likelihood[-1] > best.log_likelihood[-1]:
            best = run
        if report is not None:
            report(Progress("all rows", k, i + 1, units.log_likelihood(best.log_likelihood[-1])))
    assert best is not None
    fitted = finish(units, best.points[-1], None, polish=False)
    fitted.trace, fitted.converged, fitted.records = np.array(best.log_likelihood), best.converged, records
    top = best.log_likelihood[-1]
    fitted.agreement = sum(top - r.log_likelihood < 1e-3 for r in records)
    fitted.winner = max(records, key=lambda r: r.log_likelihood).name
    return fitted


def choose_experts(task: Task, rng: np.random.Generator, **how: Any) -> tuple[Fitted, list[tuple[int, float]]]:
    """The number of experts by BIC, from one upwards, each fit also started from a split of the one before.

    Numbers are compared by quick searches; the one chosen is then searched for in full.
    """
    n = float(len(task.y) if task.weight is None else array_namespace(task.weight).sum(task.weight))
    tried: list[tuple[int, float]] = []
    best, last = None, None
    for k in range(1, min(MAX_EXPERTS, most_experts(task)) + 1):
        warm: list[tuple[str, Theta]] = [] if last is None else grown(Units(task, k), last)
        last = fit_search(task, k, rng, warm=warm, quick=True, **how)
        tried.append((k, last.n_parameters * np.log(n) - 2 * n * last.log_likelihood))
        if best is None or tried[-1][1] < min(bic for _, bic in tried[:-1]):
            best = last
        if last.interrupted or k - min(tried, key=lambda pair: pair[1])[0] >= 2:
            break
    assert best is not None
    if best.interrupted or best.theta is None or len(best.theta.A) == 1:
        return best, tried
    full = fit_search(task, len(best.theta.A), rng, warm=[("chosen", best.theta)], **how)
    return max(full, best, key=lambda fitted: fitted.log_likelihood), tried


def most_experts(task: Task) -> int:
    """Experts that the rows can carry: twice as many rows as coefficients each."""
    n = len(task.y) if task.weight is None else int(array_namespace(task.weight).sum(task.weight > 0))
    columns = task.X.shape[1] if task.expert_columns is None else len(task.expert_columns)
    return max(1, n // (2 * (columns + task.intercept)))


def grown(units: Units, smaller: Fitted) -> list[tuple[str, Theta]]:
    """Starts with one expert more: each expert of a smaller fit split in two, in two ways."""
    theta = smaller.theta
    if theta is None or not units.likelihood.intercept:
        return []
    W = np.vstack([theta.W, np.zeros((1, theta.W.shape[1]))]) if theta.W.size else np.zeros((1, units.likelihood.Dg))
    spare = W[:1].copy()
    spare[0, -1] -= 8.0  # an expert that nobody would miss, for the split to take the place of
    W = np.vstack([spare, W])
    bigger = Theta(np.vstack([theta.A[:1], theta.A]), (W - W[-1])[:-1], np.append(theta.sigma[:1], theta.sigma))
    share = np.append(1e-3, np.full(len(theta.A), 1 / len(theta.A)))
    moves = list(remove_and_split(units.likelihood, bigger, share))
    return [(f"grown: {name}", start) for name, start in moves if "split 0 " not in name]


def finish(units: Units, theta: Theta, fit: Fit | None, *, polish: bool) -> Fitted:
    """Last Newton steps, uncertainty, and the way back to the caller's units and order."""
    likelihood = units.likelihood
    ascent = Ascent(likelihood, theta, known=None if fit is None else fit.curvature)
    trace = [] if fit is None else fit.trace
    if polish and not likelihood.g.kinks:
        for _ in range(3):
            distance, gain = ascent.newton()
            if distance < POLISH or gain <= 0:
                break
    end = ascent.result(fit.converged if fit is not None else False)
    parameters = units.outside(end.theta)
    shares = _mean_gate(likelihood, end.theta)
    order = np.argsort(-shares, kind="stable")
    fitted = Fitted(
        parameters.permuted(order),
        units.log_likelihood(end.log_likelihood),
        likelihood.n_parameters,
        end.converged,
        end.identified,
        np.array(trace) - np.log(units.scale),
        at_floor=bool(np.any(end.at_floor)),
        shares=shares[order],
        theta=end.theta,
    )
    if end.identified and end.curvature is not None:
        outer = likelihood.score_outer(end.theta)
        inner = covariances(end.curvature.information, outer, ascent.free(), likelihood.total)
        J = propagate(lambda v: _outside_vector(units, end.theta, v, order), likelihood.pack(end.theta))
        # the noise is learned as its logarithm: slopes there, not differences
        J[-likelihood.k :] = _noise_slopes(units, end.theta)[order]
        fitted.covariance, fitted.sandwich = (J @ C @ J.T for C in inner)
    return fitted


def _mean_gate(likelihood: JointLikelihood, theta: Theta) -> np.ndarray:
    def kernel(post: Any, U: Array, V: Array, weight: Array | None) -> tuple[Array]:
        return (array_namespace(U).sum(post.P if weight is None else post.P * weight, axis=1),)

    return to_numpy(likelihood.mean_of(kernel, theta)[0])


def _outside_vector(units: Units, like: Theta, vector: np.ndarray, order: np.ndarray) -> np.ndarray:
    """All parameters in the caller's units as one vector (A, b, W, c, sigma)."""
    p = units.outside(units.likelihood.unpack(vector, like)).permuted(order)
    return np.concatenate([p.A.ravel(), p.b, p.W.ravel(), p.c, p.sigma])


def _noise_slopes(units: Units, theta: Theta) -> np.ndarray:
    """Derivatives of the noise scales (k,) in the caller's units over the inside parameters, (k, p)."""
    likelihood = units.likelihood
    slopes = np.zeros((likelihood.k, likelihood.n_parameters))
    first = likelihood.n_parameters - len(likelihood.noise_groups)
    for s, group in enumerate(likelihood.noise_groups):
        slopes[group, first + s] = theta.sigma[group] * units.scale
    return slopes
