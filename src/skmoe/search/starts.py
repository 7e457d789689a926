r"""Where fits begin, how they are compared, when to stop trying.

1. *Race.* On a subsample, starts of several kinds beside those the caller hands in; a few EM steps, the better ones
   carried on, the best finished. Where the finished ones disagree, their experts are pooled and pruned, and another
   batch is drawn.
2. *All rows.* The winners are finished on all rows.
3. *Moves.* From the best, drop an expert and split another, or pool it with a fresh start and prune (`skmoe.search.moves`);
   accept a gain, stop at the first round without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from skmoe.likelihood.joint import JointLikelihood, Theta
from skmoe.rows.arrays import to_device, to_numpy
from skmoe.search.moves import prune, remove_and_split, short_run, union
from skmoe.search.refine import Ascent, Fit, em_step, is_admissible, maximise

__all__ = ["Search", "StartRecord", "drawn_start", "labelled_start", "random_labels", "voronoi_labels"]

KINDS = ("overfull", "voronoi", "random", "voronoi")
FIRST_STEPS, MORE_STEPS, KEEP = 8, 10, 0.35
SIGNAL = 3.0  # log-likelihood per parameter that a subsample must gain over a single regression
MOST_ROWS = 50_000  # of a subsample: where so many show no signal, more would cost much and find little
GAIN = 0.05  # in total log-likelihood: less is the same optimum reached by another way
FEW = 3  # experts up to which one start of each kind will do
AGREE = 0.25  # in total log-likelihood, among runs that were stopped early
LEAST_ROWS = 1000  # of a subsample: on fewer a step costs no less, and hard gates are seen badly
BATCHES, ROUNDS = 6, 8  # of starts, and of moves, at most
POOLED = " with "
LONG_RUNS, LONG_ROWS = 3, 20_000  # where starts disagree: so many plain runs on up to so many rows
ROUGH, RANKING_STEPS = 1e-2, 60  # tolerance and longest length of runs that only have to be ranked


@dataclass(frozen=True)
class StartRecord:
    """One start: its name, the mean log-likelihood it reached and at which stage it ended."""

    name: str
    log_likelihood: float
    stage: str


def random_labels(likelihood: JointLikelihood, rng: np.random.Generator) -> np.ndarray:
    """Each row given to an expert by lot, (n,)."""
    return rng.integers(likelihood.k, size=likelihood.n)


def voronoi_labels(likelihood: JointLikelihood, rng: np.random.Generator) -> np.ndarray:
    """Each row given to the nearest of k random rows in the inputs, (n,)."""
    Z = likelihood.inputs()
    centers = Z[rng.choice(len(Z), size=likelihood.k, replace=False)]
    return np.argmin(np.sum(centers**2, axis=1) - 2 * Z @ centers.T, axis=1)


def labelled_start(likelihood: JointLikelihood, labels: np.ndarray) -> Theta:
    """Experts by least squares on their labelled rows, a gate one Newton step towards the labels.

    Nonlinear experts are taken as the line through g(-1) and g(1), which has the right signs; EM bends them.
    """
    k = likelihood.k
    hot = 0.9 * np.eye(k)[labels] + 0.1 / k  # a little of every row for all, so that no system is singular
    slope, level = 1.0, 0.0
    if not likelihood.g.linear:
        low, high = to_numpy(likelihood.g(to_device(np.array([-1.0, 1.0]), likelihood.X)))
        slope, level = (high - low) / 2 or 1.0, (high + low) / 2
    line = likelihood if likelihood.g.linear else likelihood.linearised(slope, level)
    known = not likelihood.noise_groups
    sigma = np.full(k, float(likelihood.settings.noise) if known else likelihood.spread)
    theta = Theta(np.zeros((k, likelihood.De)), np.zeros((k - 1, likelihood.Dg)), sigma)
    start = em_step(line, theta, line.em_sums(theta, to_device(hot, likelihood.X)))
    return start if known else Theta(start.A, start.W, np.maximum(abs(slope) * start.sigma, likelihood.noise_floor))


def drawn_start(likelihood: JointLikelihood, kind: str, rng: np.random.Generator) -> Theta:
    """Draw a start of one of the `KINDS`; "overfull" has half as many experts again, then pruned."""
    if kind == "voronoi":
        return labelled_start(likelihood, voronoi_labels(likelihood, rng))
    if kind == "random":
        return labelled_start(likelihood, random_labels(likelihood, rng))
    many = likelihood.with_experts(likelihood.k + (likelihood.k + 1) // 2)
    return prune(likelihood, short_run(many, labelled_start(many, random_labels(many, rng)), 8))


@dataclass
class _Runner:
    """A start in the race."""

    name: str
    ascent: Ascent

    @property
    def rank(self) -> tuple[bool, float]:
        """Admissible before inadmissible, then by likelihood."""
        a = self.ascent
        return is_admissible(a.likelihood, a.theta, a.known.share), a.known.objective


def _rank(fit: Fit) -> tuple[bool, float]:
    return fit.admissible, fit.objective


def _ranked(fits: list[tuple[str, Fit]]) -> list[tuple[str, Fit]]:
    return sorted(fits, key=lambda pair: _rank(pair[1]), reverse=True)


def _beats(fit: Fit, other: Fit, likelihood: JointLikelihood) -> bool:
    """Whether a fit is at a better optimum than another on the same rows."""
    return _rank(fit) > (other.admissible, other.objective + GAIN / likelihood.total)


class Search:
    """A search for the global maximum of the likelihood.

    Parameters
    ----------
    likelihood : JointLikelihood
    rng : numpy Generator
        Everything random is drawn from it: same seed, same answer.
    starts : sequence of (name, Theta)
        The caller's own starts, raced beside the others.
    callback : callable, optional
        Called with the search after each iteration of a run with k experts; an exception from it, or Ctrl-C, ends
        the search and leaves the best point so far in ``theta``.
    quick : bool
        Race one batch of starts and try few moves, whatever they show: enough to compare numbers of experts.
    tol, max_iter : as for `maximise`, of finishes on all rows

    Attributes
    ----------
    theta, level : Theta, float, the best point so far and its objective
    best : Fit, the best finished fit on all rows
    records : list of StartRecord
    agreement : int, finished starts of the race that reached the winner's likelihood, itself included
    disputed : bool, whether the first batch of starts ended at different optima
    """

    def __init__(
        self,
        likelihood: JointLikelihood,
        rng: np.random.Generator,
        *,
        starts: Sequence[tuple[str, Theta]] = (),
        callback: Callable[[Search], None] | None = None,
        quick: bool = False,
        tol: float = 1e-4,
        max_iter: int = 500,
    ) -> None:
        self.likelihood = likelihood.in_memory()
        self.rng, self.starts, self.callback = rng, list(starts), callback
        self.quick, self.tol, self.max_iter = quick, tol, max_iter
        self.batches, self.rounds = (1, 2) if quick else (BATCHES, ROUNDS)
        # experts with kinks bend to a few rows more easily, and have more optima to tell apart
        self.rows = max(LEAST_ROWS, (160 if likelihood.g.kinks else 40) * likelihood.k * likelihood.De)
        self.theta: Theta | None = None
        self.best: Fit | None = None
        self.records: list[StartRecord] = []
        self.drawn, self.level = 0, -np.inf
        self.agreement, self.disputed = 0, False

    def run(self) -> Fit:
        """Search, and return the best fit on all rows."""
        full = self.likelihood
        if full.k == 1:
            return self._offer("regression", labelled_start(full, np.zeros(full.n, dtype=int)))
        for name, fit in self._race():
            best = self._offer(name, fit.theta)
        if self.disputed and not self.quick:
            for name, theta in self._long_runs():
                best = self._offer(name, theta)
        many = self.rows <= 0.7 * full.n
        if many and full.k == 2 and self.agreement >= 2 and not self.disputed:
            return best  # the one move there is, another split of a single regression, is what the starts were
        for _ in range(self.rounds):
            before, best = best, self._move(best)
            if best is before:
                break
        return best

    # -- pieces -----------------------------------------------------------------------------------------------------

    def _tick(self, ascent: Ascent) -> None:
        level = -np.inf if self.best is None else self.best.objective
        on_all_rows = ascent.likelihood is self.likelihood
        # subsamples differ a little in level: until a fit on all rows stands, theirs are the best there is
        if (on_all_rows or self.best is None) and ascent.known.objective > max(level, self.level):
            self.theta, self.level = ascent.theta, ascent.known.objective
        if self.callback is not None:
            self.callback(self)

    def _subsample(self) -> JointLikelihood:
        """Rows for short runs: enough to tell basins apart, all of them if there are few."""
        full = self.likelihood
        if self.rows > 0.7 * full.n:
            return full
        return full.sample(self.rows, self.rng)

    def _rows_carry(self, part: JointLikelihood, fit: Fit) -> bool:
        """Whether the subsample tells the experts apart; if not, later ones are made larger.

        An optimum of a few rows with weak signal is one of noise. What the fit gains over a single regression, per
        parameter, says how much signal there is; a parameter of pure noise gains about a half.
        """
        if part is self.likelihood or self.rows >= MOST_ROWS:
            return True
        one = part.with_experts(1)
        single = maximise(one, labelled_start(one, np.zeros(part.n, dtype=int))).log_likelihood
        gain = (fit.log_likelihood - single) * part.total / part.n_parameters - 0.5
        if gain < SIGNAL:
            self.rows = min(int(self.rows * np.clip(2 * SIGNAL / max(gain, 1e-3), 2, 16)), MOST_ROWS)
        return gain >= SIGNAL

    def _batch(self, part: JointLikelihood) -> list[tuple[str, Theta]]:
        """Starts of several kinds by turns."""
        batch = []
        for i in range(3 if part.k <= FEW else 4):
            name = KINDS[i % len(KINDS)]
            batch.append((f"{name} {self.drawn}", drawn_start(part, name, self.rng)))
            self.drawn += 1
        return batch

    def _heats(
        self, part: JointLikelihood, starts: Iterable[tuple[str, Theta]], steps: tuple[int, ...]
    ) -> list[_Runner]:
        """Short runs by successive halving; the best two, best first."""
        runners = [_Runner(name, Ascent(part, theta, self._tick)) for name, theta in starts]
        for heat, count in enumerate(steps):
            for runner in runners:
                for _ in range(count):
                    runner.ascent.em()
            runners.sort(key=lambda r: r.rank, reverse=True)
            keep = 2 if heat + 1 == len(steps) else max(2, round(KEEP * len(runners)))
            self.records += [StartRecord(r.name, r.ascent.known.log_likelihood, "race") for r in runners[keep:]]
            runners = runners[:keep]
        return runners

    def _climbed(self, part: JointLikelihood, theta: Theta, *, near: bool = False) -> Fit:
        """Climb far enough to be ranked."""
        return maximise(part, theta, tol=ROUGH, max_iter=RANKING_STEPS, near=near, callback=self._tick)

    def _raced(self, part: JointLikelihood, handed: list[tuple[str, Theta]]) -> list[tuple[str, Fit]]:
        """One batch of starts, beside those handed in: the best two finished, and their union where they differ."""
        heats = self._heats(part, self._batch(part) + handed, (FIRST_STEPS, MORE_STEPS))
        first, second = (self._climbed(part, r.ascent.theta) for r in heats)
        finished = [(heats[0].name, first), (heats[1].name, second)]
        if abs(first.objective - second.objective) > self._same(part):
            pooled = union(first.theta, second.theta)
            theta = prune(part, short_run(part.with_experts(len(pooled.A)), pooled, 3))
            finished.append((f"{heats[0].name}{POOLED}{heats[1].name}", self._climbed(part, theta)))
        return finished

    @staticmethod
    def _same(part: JointLikelihood) -> float:
        """Difference of mean log-likelihoods below which two early ends are the same optimum."""
        return max(AGREE / part.total, 1e-4)

    def _race(self) -> list[tuple[str, Fit]]:
        """Race, batch after batch, until ends agree: the winner, and a second that rows cannot tell from it."""
        part = self._subsample()
        finished = _ranked(self._raced(part, self.starts))
        while not self._rows_carry(part, finished[0][1]):
            winner = [(name, fit.theta) for name, fit in finished[:1]]
            part = self._subsample()
            finished = _ranked(self._raced(part, self.starts + winner))
        for batch in range(self.batches):
            if batch > 0:
                finished = _ranked(finished + self._raced(part, []))
            level = finished[0][1].objective - self._same(part)
            # a pooled end holds its parents' experts: it is no witness of its own
            self.agreement = sum(
                fit.admissible and fit.objective > level and POOLED not in name for name, fit in finished
            )
            # where ends have differed, two that agree may agree on a common but lesser optimum
            # (and few rows make many optima)
            if self.agreement >= (3 if self.disputed or part is self.likelihood else 2):
                break
            self.disputed = self.agreement < 2 or self.disputed
        self.records += [StartRecord(name, fit.log_likelihood, "subsample") for name, fit in finished]
        if self.disputed:  # the rows raced on were too few to tell: all rows shall, and moves shall see more of them
            self.rows *= 3
        return self._distinct(part, finished)

    def _long_runs(self) -> Iterator[tuple[str, Theta]]:
        """Plain runs from random labels on all rows, or many: slow, but with no subsample to be misled by."""
        many = self.likelihood if self.likelihood.n <= LONG_ROWS else self.likelihood.sample(LONG_ROWS, self.rng)
        for i in range(LONG_RUNS):
            theta = labelled_start(many, random_labels(many, self.rng))
            yield f"long run {i}", self._climbed(many, theta).theta

    def _distinct(self, part: JointLikelihood, finished: list[tuple[str, Fit]]) -> list[tuple[str, Fit]]:
        """The winner, and ends of lower likelihood that might win on all rows: more of them where ends disagreed."""
        margin, most = (20.0, 4) if self.disputed else (3.0, 2)
        winners = finished[:1]
        for name, fit in finished[1:]:
            gap = winners[-1][1].objective - fit.objective
            if len(winners) < most and gap > self._same(part):
                winners.append((name, fit))
        top = winners[0][1].objective
        return [(name, fit) for name, fit in winners if top - fit.objective < margin / part.total]

    def _offer(self, name: str, theta: Theta) -> Fit:
        """Finish on all rows an end reached on some of them; return the best there is then."""
        fit = maximise(
            self.likelihood,
            theta,
            tol=self.tol,
            max_iter=self.max_iter,
            near=True,
            rng=self.rng,
            callback=self._tick,
        )
        self.records.append(StartRecord(name, fit.log_likelihood, "all rows"))
        if self.best is None or _beats(fit, self.best, self.likelihood):
            self.best, self.theta, self.level = fit, fit.theta, fit.objective
        return self.best

    def _immigrants(self, part: JointLikelihood, best: Fit) -> Iterator[tuple[str, Theta]]:
        """Pool the best fit with fresh starts and prune: what they have found and it has not is kept."""
        for kind in ("random", "voronoi"):
            fresh = short_run(part, drawn_start(part, kind, self.rng), FIRST_STEPS)
            pooled = union(best.theta, fresh)
            theta = short_run(part.with_experts(len(pooled.A)), pooled, 3)
            yield f"best with {kind} {self.drawn}", prune(part, theta)
            self.drawn += 1

    def _move(self, best: Fit) -> Fit:
        """One round of moves; the best fit after it."""
        part = self._subsample()
        moves = list(remove_and_split(part, best.theta, best.share))
        if self.disputed:  # costly, so only where there was reason to doubt
            moves += self._immigrants(part, best)
        heats = self._heats(part, moves, (5, 8))
        here = best if part is self.likelihood else self._climbed(part, best.theta, near=True)
        for runner in heats:
            fit = self._climbed(part, runner.ascent.theta)
            if _beats(fit, here, part) and self._offer(runner.name, fit.theta) is not best:
                break
        return self.best or best
