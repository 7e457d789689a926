r"""Joint likelihood of experts and gate: EM steps and a fast finish.

One EM step is Newton on the gate's convex problem (one step, or as many as it takes), weighted least squares for linear
experts or one Gauss-Newton step for others, and the noise. A step that would lower the likelihood is halved until it
does not. `maximise` follows EM by Newton on the observed likelihood, and stops by the distance to the optimum in
standard errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from skmoe.likelihood.joint import Curvature, JointLikelihood, JointSums, Theta
from skmoe.model.gate import maximise_gate

__all__ = ["POLISH", "Ascent", "Fit", "em_step", "extend", "maximise", "run_em"]

ROUNDING = 1e-13  # in a mean of n terms, must not be taken for a loss
POLISH = 1e-18  # squared distance to the optimum in standard errors that last steps aim at
SLOW = 1e-4  # gain per row over five EM steps below which a saddle is left by other means


def solve_least_squares(gram: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Least-norm solution of a positive semi-definite system: directions that the rows do not inform stay put."""
    values, vectors = linalg.eigh(gram)
    keep = values > max(1e-12 * values[-1], np.finfo(float).tiny)
    return vectors[:, keep] @ ((vectors[:, keep].T @ gradient) / values[keep])


def solve_each(grams: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """Solutions of systems (m, D, D) with right sides (m, D); least-norm ones where a system is nearly singular."""
    if len(grams) == 1:  # the gate's, which may be large: factored once
        factor, info = linalg.lapack.dpotrf(grams[0], lower=1)
        if info == 0 and _well_conditioned(np.diag(factor)[None]):
            return linalg.lapack.dpotrs(factor, gradients[0], lower=1)[0][None]
    elif _positive_definite(grams):
        return np.linalg.solve(grams, gradients[:, :, None])[:, :, 0]
    return np.stack([solve_least_squares(G, v) for G, v in zip(grams, gradients, strict=True)])


def _positive_definite(grams: np.ndarray) -> bool:
    try:
        return _well_conditioned(np.diagonal(np.linalg.cholesky(grams), axis1=1, axis2=2))
    except np.linalg.LinAlgError:
        return False


def _well_conditioned(diagonals: np.ndarray) -> bool:
    """Whether Cholesky factors with these diagonals (m, D) are far from singular."""
    return bool(np.all(np.min(diagonals, axis=1) > 1e-5 * np.max(diagonals, axis=1)))


def em_step(likelihood: JointLikelihood, theta: Theta, sums: JointSums, *, gate_steps: int = 1) -> Theta:
    """One EM step from `theta`, where `sums` were taken, with at most `gate_steps` Newton steps on the gate."""
    steps = solve_each(sums.expert_gram, sums.expert_gradient)
    square = sums.square
    if likelihood.g.linear:  # what is left after the step, without another pass
        square = square - np.sum(steps * sums.expert_gradient, axis=1)
    sigma = theta.sigma.copy()
    for group in likelihood.noise_groups:
        share = max(float(np.sum(sums.share[group])), np.finfo(float).tiny)
        left = max(float(np.sum(square[group])), 0.0)
        sigma[group] = max(np.sqrt(left / share), likelihood.noise_floor)
    return Theta(theta.A + steps, _gate_step(likelihood, theta, sums, gate_steps), sigma)


def _gate_step(likelihood: JointLikelihood, theta: Theta, sums: JointSums, steps: int) -> np.ndarray:
    if likelihood.k == 1:
        return theta.W
    if steps > 1:
        return maximise_gate(lambda V: likelihood.gate_objective(theta, V), theta.W, sums.gate, max_steps=steps)
    step = solve_each(sums.gate.information[None], sums.gate.gradient.reshape(1, -1))
    return theta.W + step.reshape(theta.W.shape)


@dataclass(frozen=True)
class Fit:
    """Where an ascent ended.

    ``trace`` is the mean log-likelihood less the gate's penalty, which never falls; ``curvature`` holds the gradient
    and the observed information per row at ``theta``. ``converged`` says that the optimum was nearer than the
    tolerance, ``at_floor`` which learned noise scales sit on their floor, ``admissible`` that none does and no expert
    is nearly empty. ``identified`` is false where the information is singular: there are no standard errors.
    """

    theta: Theta
    log_likelihood: float
    trace: list[float]
    converged: bool
    at_floor: np.ndarray
    share: np.ndarray
    admissible: bool
    identified: bool = False
    curvature: Curvature | None = None

    @property
    def objective(self) -> float:
        """What was maximised: mean log-likelihood less the gate's penalty."""
        return self.trace[-1]


class Ascent:
    """A climb of the likelihood: the point, what is known there, and the trace so far. No step lowers the objective.

    Parameters
    ----------
    likelihood : JointLikelihood
    theta : Theta
    callback : callable, optional
        Called with the ascent after each iteration.
    known : JointSums or Curvature, optional
        What is known at `theta` already.
    """

    def __init__(
        self,
        likelihood: JointLikelihood,
        theta: Theta,
        callback: Callable[[Ascent], None] | None = None,
        known: JointSums | Curvature | None = None,
    ) -> None:
        self.likelihood, self.callback, self.theta = likelihood, callback, theta
        self.known = likelihood.em_sums(theta) if known is None else known
        self.trace = [self.known.objective]

    def _go(self, theta: Theta, known: JointSums | Curvature) -> None:
        self.theta, self.known = theta, known
        self.trace.append(max(known.objective, self.trace[-1]))
        if self.callback is not None:
            self.callback(self)

    def _allowed(self, there: JointSums | Curvature, gain: float = 0.0) -> bool:
        """Whether a point gains enough and leaves every expert the weight of a row (or what it has now)."""
        here, least = self.known, min(self.likelihood.min_share, 1.0 / self.likelihood.total)
        slack = ROUNDING * (1 + abs(here.objective))
        full = np.all(there.share >= np.minimum(here.share, least))
        return bool(there.objective >= here.objective + gain - slack and full)

    @np.errstate(over="ignore", invalid="ignore")  # a wild trial step overflows, and is refused by its value
    def em(self, *, gate_steps: int = 1) -> float:
        """One EM step, halved until the objective does not fall; returns the gain per row, 0 where none is left."""
        if not isinstance(self.known, JointSums):
            self.known = self.likelihood.em_sums(self.theta)
        before = self.known.objective
        goal = em_step(self.likelihood, self.theta, self.known, gate_steps=gate_steps)
        size, there = 1.0, goal
        new = self.likelihood.em_sums(there)
        while not self._allowed(new):
            size *= 0.5
            if size < 1e-8:  # no ascent left above rounding: this is the optimum
                return 0.0
            there = self.theta.moved(goal, size)
            new = self.likelihood.em_sums(there)
        self._go(there, new)
        return max(new.objective - before, 0.0)

    def em_until(self, gain: float, *, least: int = 3, most: int = 60) -> None:
        """EM steps until one gains less than `gain` per row."""
        for i in range(most):
            if self.em() <= gain and i + 1 >= least:
                return

    def curvature(self) -> Curvature:
        """Observed information at the point, computed once."""
        if not isinstance(self.known, Curvature) or self.known.information.size == 0:
            self.known = self.likelihood.information(self.theta)
        return self.known

    def free(self) -> np.ndarray:
        """Parameters that may move: all but noise scales on their floor that would go below it."""
        free = np.ones(self.likelihood.n_parameters, dtype=bool)
        stuck = self.likelihood.at_floor(self.theta)
        if stuck.size:
            free[-stuck.size :] = ~(stuck & (self.curvature().gradient[-stuck.size :] <= 0))
        return free

    @np.errstate(over="ignore", invalid="ignore")
    def newton(self, *, saddles: bool = False, enough: float = 0.0) -> tuple[float, float]:
        """One Newton step on the observed likelihood; where that is not concave only if `saddles` are to be left.

        Returns the squared distance to the optimum in standard errors before the step, infinite where the likelihood is
        not concave, and the gain per row, 0 where the step was refused or the distance was less than `enough`.
        """
        here, free = self.curvature(), self.free()
        H = here.information[np.ix_(free, free)]
        factor = cholesky(H)
        if factor is None and not saddles:
            return np.inf, 0.0
        step = np.zeros(len(free))
        step[free] = (
            saddle_step(H, here.gradient[free]) if factor is None else linalg.cho_solve(factor, here.gradient[free])
        )
        slope = float(here.gradient @ step)
        distance = np.inf if factor is None else self.likelihood.total * slope
        if distance < enough:
            return distance, 0.0
        vector = self.likelihood.pack(self.theta)
        for size in (1.0, 0.25, 0.0625):
            theta = self.likelihood.unpack(vector + size * step, self.theta)
            there = self.likelihood.information(theta) if size == 1.0 else self.likelihood.gradient(theta)
            if self._allowed(there, 1e-4 * size * slope):
                self._go(theta, there)
                return distance, there.objective - here.objective
        return distance, 0.0

    def result(self, converged: bool) -> Fit:
        """Report the present point, with its information."""
        curvature, free = self.curvature(), self.free()
        floor = self.likelihood.at_floor(self.theta)
        return Fit(
            self.theta,
            curvature.log_likelihood,
            self.trace,
            converged,
            floor,
            curvature.share,
            is_admissible(self.likelihood, self.theta, curvature.share),
            cholesky(curvature.information[np.ix_(free, free)]) is not None,
            curvature,
        )


def is_admissible(likelihood: JointLikelihood, theta: Theta, share: np.ndarray) -> bool:
    """Whether no expert is nearly empty and no noise scale sits on its floor."""
    return bool(np.all(share >= likelihood.min_share) and not np.any(likelihood.at_floor(theta)))


def cholesky(H: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """Cholesky factor, or None where the matrix is not safely positive definite."""
    scale = np.sqrt(np.maximum(np.diag(H), 0.0))
    if not np.all(np.isfinite(H)) or np.any(scale == 0):
        return None
    # the test is on a matrix of unit diagonal, so that it does not depend on units
    factor, info = linalg.lapack.dpotrf(H / np.outer(scale, scale), lower=1)
    if info != 0 or np.min(np.diag(factor)) < 1e-7:
        return None
    return factor * scale[:, None], True


def saddle_step(H: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Newton's step with the sizes of the curvatures in place of their signs, so that it climbs away from saddles."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(H)), np.finfo(float).tiny))
    values, vectors = linalg.eigh(H / np.outer(scale, scale))
    sizes = np.maximum(np.abs(values), 1e-3 * np.max(np.abs(values)))
    return vectors @ ((vectors.T @ (gradient / scale)) / sizes) / scale


def maximise(
    likelihood: JointLikelihood,
    theta: Theta,
    *,
    tol: float = 1e-4,
    max_iter: int = 500,
    near: bool = False,
    rng: np.random.Generator | None = None,
    callback: Callable[[Ascent], None] | None = None,
) -> Fit:
    """Climb from `theta` to the maximum of the likelihood near it.

    EM first, for it is safe far from the optimum, then Newton on the observed likelihood. Many rows are first climbed
    on a random subsample, whose Hessian then preconditions a quasi-Newton finish on all of them.

    Parameters
    ----------
    likelihood : JointLikelihood
    theta : Theta
    tol : float
        Squared distance to the optimum in standard errors at which to stop; for experts with kinks, whose gradient
        jumps, the gain in total log-likelihood instead.
    max_iter : int
    near : bool
        Whether `theta` is known to be near an optimum, as that of a subsample is: EM is then called on only if needed.
    rng : Generator, optional
        Draws the subsample.
    callback : callable, optional
        Called with the `Ascent` after each iteration; an exception it raises ends the climb.
    """
    likelihood = likelihood.in_memory()
    rows = max(100 * likelihood.n_parameters, 2000)
    many = 3 * rows < likelihood.n
    ascent = Ascent(likelihood, theta, callback, likelihood.gradient(theta) if many or near else None)
    if many:
        near = _climb_by_subsample(ascent, rows, tol, near, rng or np.random.default_rng(0))
    return ascent.result(_climb(ascent, tol, max_iter, near))


def extend(
    likelihood: JointLikelihood,
    part: Ascent,
    *,
    tol: float = 1e-4,
    max_iter: int = 500,
    callback: Callable[[Ascent], None] | None = None,
) -> Fit:
    """Carry the optimum of a sample of the rows, where `part` stands, to that of all rows of `likelihood`.

    Few passes: gradients only, preconditioned by the sample's Hessian, down to rounding; then the Hessian once, which
    says how far the optimum is. Only where that is not near do EM and Newton steps follow.
    """
    ascent = Ascent(likelihood, part.theta, callback, likelihood.gradient(part.theta))
    _carry(ascent, part, tol if likelihood.g.kinks else POLISH)
    return ascent.result(_climb(ascent, tol, max_iter, near=True, enough=tol))


def _climb(ascent: Ascent, tol: float, max_iter: int, near: bool = False, enough: float = 0.0) -> bool:
    """EM unless the optimum is near, then Newton where it works and EM where not, until the optimum is near."""
    kinked = bool(ascent.likelihood.g.kinks)
    total = ascent.likelihood.total
    if not near:
        ascent.em_until(1e-3)
    slow = False
    while len(ascent.trace) < max_iter:
        distance, gain = ascent.newton(saddles=slow, enough=enough)
        if (not kinked and distance < tol) or (kinked and 0 < gain * total < tol):
            return True
        if gain <= 0:
            em_gain = sum(ascent.em() for _ in range(5))
            if em_gain * total < (tol if kinked else 0.1 * tol):
                return kinked
            # EM picks the better basin; it is left only once it hardly moves
            slow = em_gain < SLOW
    return False


def _climb_by_subsample(ascent: Ascent, rows: int, tol: float, near: bool, rng: np.random.Generator) -> bool:
    """Climb on a random subsample, then on all rows by L-BFGS with the subsample's Hessian as preconditioner.

    Returns whether that led near the optimum.
    """
    likelihood = ascent.likelihood
    part = Ascent(likelihood.sample(rows, rng), ascent.theta, ascent.callback)
    _climb(part, tol, 200, near)
    there = likelihood.gradient(part.theta)
    if not ascent._allowed(there):  # the subsample led astray: start over on all rows
        return False
    ascent._go(part.theta, there)
    return _carry(ascent, part, tol)


def _carry(ascent: Ascent, part: Ascent, tol: float) -> bool:
    """L-BFGS on all rows from the optimum of some, where their gradient is known; whether the Hessian allowed it."""
    H, free = part.curvature().information, part.free()
    factor = cholesky(H[np.ix_(free, free)])
    if factor is not None:
        _quasi_newton(ascent, factor, free, tol)
    return factor is not None


def _quasi_newton(
    ascent: Ascent,
    factor: tuple[np.ndarray, bool],
    free: np.ndarray,
    tol: float,
    *,
    memory: int = 20,
    most: int = 60,
) -> None:
    """L-BFGS on all rows from a point with known gradient, preconditioned by a frozen Cholesky factor."""
    likelihood, here = ascent.likelihood, ascent.known
    assert isinstance(here, Curvature)
    pairs: list[tuple[np.ndarray, np.ndarray, float]] = []
    for _ in range(most):
        step = np.zeros(len(free))
        step[free] = two_loop(here.gradient[free], pairs[-memory:], lambda v: linalg.cho_solve(factor, v))
        slope = float(here.gradient @ step)
        if not slope > 0 or likelihood.total * slope < tol:
            return
        size, vector = 1.0, likelihood.pack(ascent.theta)
        while size > 1e-3:
            theta = likelihood.unpack(vector + size * step, ascent.theta)
            there = likelihood.gradient(theta)
            if ascent._allowed(there, 1e-4 * size * slope):
                break
            size *= 0.4
        else:
            return
        ascent._go(theta, there)
        moved = (likelihood.pack(theta) - vector)[free]
        bent = (here.gradient - there.gradient)[free]
        if moved @ bent > 1e-12 * np.linalg.norm(moved) * np.linalg.norm(bent):
            pairs.append((moved, bent, 1.0 / (moved @ bent)))
        here = there


def two_loop(
    gradient: np.ndarray,
    pairs: list[tuple[np.ndarray, np.ndarray, float]],
    precondition: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """L-BFGS direction of ascent from pairs (step, fall of the gradient, 1 / their product)."""
    q, used = gradient.copy(), []
    for s, z, rho in reversed(pairs):
        a = rho * (s @ q)
        q -= a * z
        used.append(a)
    r = precondition(q)
    for (s, z, rho), a in zip(pairs, reversed(used), strict=True):
        r += s * (a - rho * (z @ r))
    return r


@dataclass(frozen=True)
class EMTrace:
    """Where EM went: points, mean log-likelihood at each, and whether it settled."""

    points: list[Theta]
    log_likelihood: list[float]
    converged: bool


def run_em(likelihood: JointLikelihood, theta: Theta, *, max_iter: int, tol: float, gate_steps: int = 50) -> EMTrace:
    """EM from `theta` until no parameter moves by `tol`; the objective never falls."""
    ascent = Ascent(likelihood, theta)
    points = [theta]
    for _ in range(max_iter):
        ascent.em(gate_steps=gate_steps)
        moved = ascent.theta.distance(points[-1])
        if ascent.theta is not points[-1]:
            points.append(ascent.theta)
        if moved <= tol:
            return EMTrace(points, ascent.trace, True)
    return EMTrace(points, ascent.trace, False)
