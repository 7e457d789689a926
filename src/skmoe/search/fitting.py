r"""From a table to a fitted model: the consistent start, the search, the finish on all rows, and the uncertainty."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
from scipy import stats

from skmoe.inference.uncertainty import covariances, propagate
from skmoe.likelihood.joint import JointLikelihood, Theta
from skmoe.model.parameters import MoEParameters
from skmoe.rows.arrays import Array, array_namespace, to_numpy
from skmoe.search.checkpoint import Checkpoint
from skmoe.search.moves import remove_and_split
from skmoe.search.refine import POLISH, Ascent, Fit, extend, run_em
from skmoe.search.starts import Search, StartRecord, labelled_start, random_labels
from skmoe.search.units import MAX_EXPERTS, Task, Units, prepared
from skmoe.spectral.experts import learn_experts
from skmoe.spectral.scores import fit_law

__all__ = ["Fitted", "Progress", "Task", "choose_experts", "fit_joint_em", "fit_search", "prepared"]

SPECTRAL_ROWS = 50_000  # the consistent start looks at no more rows than this
LAW_ROWS = 1_000


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
    passes: int = 0  # over all rows
    spectral: Any = None
    theta: Theta | None = None  # inside units, for warm starts


def spectral_start(units: Units, rng: np.random.Generator) -> tuple[Theta, Any] | None:
    """The consistent start: directions of the experts from moments of whitened inputs; None where it cannot run.

    Directions have unit length there; lengths, intercepts, noise and gate are what EM learns next.
    """
    part = units.search
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
    checkpoint: Checkpoint | None = None,
    quick: bool = False,
) -> Fitted:
    """The default: consistent start, other cheap starts beside it, maximum likelihood from the winners.

    A large table is searched on its sample, and the winner finished on all rows.
    """
    units = Units(task, k)
    steps = count(1)

    def tell(stage: str, level: float) -> None:
        if report is not None:
            report(Progress(stage, k, next(steps), units.log_likelihood(level)))

    stage = f"{k} experts{', quick' if quick else ''}"

    reached: Theta | None = None  # after the search

    def keep(theta: Theta) -> None:
        nonlocal reached
        reached = theta
        if checkpoint is not None:
            checkpoint.put(stage, theta, rng)

    known = None if checkpoint is None else checkpoint.get(stage, rng)
    if known is not None:
        return _resumed(units, known, keep, tell)
    found = spectral_start(units, rng)
    search = Search(
        units.search,
        rng,
        starts=list(warm) if found is None else [("spectral", found[0]), *warm],
        callback=lambda search: tell("starts" if search.best is None else "finish", search.level),
        quick=quick,
        tol=task.tol,
        max_iter=task.max_iter,
    )
    interrupted = False
    try:
        fit = search.run()
        keep(fit.theta)
        if units.search is not units.likelihood:
            search.records = [replace(r, stage="sample") if r.stage == "all rows" else r for r in search.records]
            fit = _on_all_rows(units, fit, keep, tell)
            search.records.append(StartRecord(_winner(search.records, "sample"), fit.log_likelihood, "all rows"))
        fitted = finish(units, units.likelihood, fit.theta, fit, polish=True)
    except KeyboardInterrupt:
        best = search.theta if reached is None else reached
        if best is None:  # nothing to keep yet
            raise
        interrupted = True
        fitted = finish(units, units.search, best, None, polish=False)
    fitted.records, fitted.agreement, fitted.interrupted = _told(units, search.records), search.agreement, interrupted
    fitted.winner = _winner(search.records, "all rows")
    fitted.spectral = None if found is None else found[1]
    return fitted


def _told(units: Units, records: list[StartRecord]) -> list[StartRecord]:
    """Likelihoods of the caller's y."""
    return [replace(r, log_likelihood=units.log_likelihood(r.log_likelihood)) for r in records]


def _winner(records: list[StartRecord], stage: str) -> str:
    done = [r for r in records if r.stage == stage]
    return max(done, key=lambda r: r.log_likelihood).name if done else ""


def _on_all_rows(units: Units, fit: Fit, keep: Callable[[Theta], None], tell: Callable[[str, float], None]) -> Fit:
    """From the sample's optimum to that of all rows, noting each step."""

    def step(ascent: Ascent) -> None:
        keep(ascent.theta)
        tell("all rows", ascent.trace[-1])

    part = Ascent(units.search, fit.theta, known=fit.curvature)
    task = units.task
    return extend(units.likelihood, part, tol=task.tol, max_iter=task.max_iter, callback=step)


def _resumed(
    units: Units,
    known: Theta,
    keep: Callable[[Theta], None],
    tell: Callable[[str, float], None],
) -> Fitted:
    """Go on from a checkpoint: the search is over, the finish is not."""
    part = Ascent(units.search, known)
    fit = _on_all_rows(units, part.result(False), keep, tell)
    fitted = finish(units, units.likelihood, fit.theta, fit, polish=True)
    fitted.records = _told(units, [StartRecord("checkpoint", fit.log_likelihood, "all rows")])
    fitted.winner = "checkpoint"
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
            labelled_start(units.search, random_labels(units.search, rng)),
            max_iter=task.max_iter,
            tol=task.tol,
        )
        records.append(StartRecord(f"random {i}", run.log_likelihood[-1], "all rows"))
        if best is None or run.log_likelihood[-1] > best.log_likelihood[-1]:
            best = run
        if report is not None:
            report(Progress("all rows", k, i + 1, units.log_likelihood(best.log_likelihood[-1])))
    assert best is not None
    fitted = finish(units, units.likelihood, best.points[-1], None, polish=False)
    fitted.trace, fitted.converged = np.array(best.log_likelihood) - np.log(units.scale), best.converged
    fitted.records = _told(units, records)
    top = best.log_likelihood[-1]
    fitted.agreement = sum(top - r.log_likelihood < 1e-3 for r in records)
    fitted.winner = _winner(records, "all rows")
    return fitted


def choose_experts(task: Task, rng: np.random.Generator, **how: Any) -> tuple[Fitted, list[tuple[int, float]]]:
    """The number of experts by BIC, from one upwards, each fit also started from a split of the one before.

    Numbers are compared by quick searches; the one chosen is then searched for in full.
    """
    assert task.look is not None
    n, most = task.look.total, min(MAX_EXPERTS, most_experts(task, task.look.rows))
    tried: list[tuple[int, float]] = []
    best: Fitted | None = None
    last: Fitted | None = None
    try:
        for k in range(1, most + 1):
            warm = [] if last is None else grown(Units(task, k), last)
            last = fit_search(task, k, rng, warm=warm, quick=True, **how)
            tried.append((k, last.n_parameters * np.log(n) - 2 * n * last.log_likelihood))
            if best is None or tried[-1][1] < min(bic for _, bic in tried[:-1]):
                best = last
            if last.interrupted:
                raise KeyboardInterrupt
            if k - min(tried, key=lambda pair: pair[1])[0] >= 2:
                break
        assert best is not None
        if best.theta is None or len(best.theta.A) == 1:
            return best, tried
        full = fit_search(task, len(best.theta.A), rng, warm=[("chosen", best.theta)], **how)
        return max(full, best, key=lambda fitted: fitted.log_likelihood), tried
    except KeyboardInterrupt:
        if best is None:  # nothing to keep yet
            raise
        return replace(best, interrupted=True, converged=False), tried


def most_experts(task: Task, rows: int) -> int:
    """Experts that the rows can carry: twice as many rows as coefficients each."""
    columns = task.X.shape[1] if task.expert_columns is None else len(task.expert_columns)
    return max(1, rows // (2 * (columns + task.intercept)))


def grown(units: Units, smaller: Fitted) -> list[tuple[str, Theta]]:
    """Starts with one expert more: each expert of a smaller fit split in two, in two ways."""
    theta = smaller.theta
    likelihood = units.search
    if theta is None or not likelihood.intercept:
        return []
    W = np.vstack([theta.W, np.zeros((1, theta.W.shape[1]))]) if theta.W.size else np.zeros((1, likelihood.Dg))
    spare = W[:1].copy()
    spare[0, -1] -= 8.0  # an expert that nobody would miss, for the split to take the place of
    W = np.vstack([spare, W])
    bigger = Theta(np.vstack([theta.A[:1], theta.A]), (W - W[-1])[:-1], np.append(theta.sigma[:1], theta.sigma))
    share = np.append(1e-3, np.full(len(theta.A), 1 / len(theta.A)))
    moves = list(remove_and_split(likelihood, bigger, share))
    return [(f"grown: {name}", start) for name, start in moves if "split 0 " not in name]


def finish(units: Units, likelihood: JointLikelihood, theta: Theta, fit: Fit | None, *, polish: bool) -> Fitted:
    """Last Newton steps, uncertainty, and the way back to the caller's units and order."""
    ascent = Ascent(likelihood, theta, known=None if fit is None else fit.curvature)
    trace = [] if fit is None else fit.trace
    if polish and not likelihood.g.kinks:
        for _ in range(3):
            distance, gain = ascent.newton(enough=POLISH)
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
        passes=units.likelihood.passes,
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
