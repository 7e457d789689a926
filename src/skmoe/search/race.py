r"""How starts are compared, and when to stop trying.

1. *Race.* On a subsample, starts of several kinds beside those the caller hands in; a few EM steps, the better ones
   carried on, the best finished. Where the finished ones disagree, their experts are pooled and pruned, and another
   batch is drawn.
2. *All rows.* The winners are finished on all rows.
3. *Moves.* From the best, drop an expert and split another, or pool it with a fresh start and prune
   (`skmoe.search.moves`); accept a gain, stop at the first round without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from skmoe.likelihood import Problem, Theta
from skmoe.search.ascent import Ascent, Point
from skmoe.search.config import SearchConfig
from skmoe.search.finish import Fit, maximise
from skmoe.search.moves import pooled_start, remove_and_split, short_run
from skmoe.search.records import Control, Stage, Start, StartKind, StartRecord
from skmoe.search.starts import draw_start, labelled_start, random_labels

__all__ = ["Search"]

KINDS = (StartKind.OVERFULL, StartKind.VORONOI, StartKind.RANDOM, StartKind.VORONOI)


@dataclass(frozen=True)
class _Runner:
    """A start in the race."""

    start: Start
    ascent: Ascent

    @property
    def rank(self) -> tuple[bool, float]:
        """Admissible before inadmissible, then by likelihood."""
        return self.ascent.point.admissible, self.ascent.point.objective

    def ended(self, stage: Stage) -> StartRecord:
        """Where the run ended."""
        return StartRecord(self.start.name, self.start.kind, self.ascent.point.log_likelihood, stage)


@dataclass(frozen=True)
class _Finished:
    """A start that was climbed to an optimum, or near one."""

    start: Start
    fit: Fit

    @property
    def rank(self) -> tuple[bool, float]:
        return self.fit.admissible, self.fit.objective

    def ended(self, stage: Stage) -> StartRecord:
        return StartRecord(self.start.name, self.start.kind, self.fit.log_likelihood, stage)


def _ranked(finished: Iterable[_Finished]) -> list[_Finished]:
    return sorted(finished, key=lambda end: end.rank, reverse=True)


class Search:
    """A search for the global maximum of the likelihood.

    Parameters
    ----------
    problem : Problem
    rng : numpy Generator
        Everything random is drawn from it: same seed, same answer.
    control : Control, optional
        Tolerance and limit of finishes on all rows.
    config : SearchConfig, optional
    starts : sequence of Start
        The caller's own starts, raced beside the others.
    on_step : callable, optional
        Called with the search after each iteration of a run with k experts; an exception from it, or Ctrl-C, ends
        the search and leaves the best point so far in ``theta``.
    quick : bool
        Race one batch of starts and try few moves, whatever they show: enough to compare numbers of experts.

    Attributes
    ----------
    theta, level : Theta, float
        The best point so far and its objective.
    best : Fit
        The best finished fit on all rows.
    records : list of StartRecord
    agreement : int
        Finished starts of the race that reached the winner's likelihood, itself included.
    disputed : bool
        Whether the first batch of starts ended at different optima.
    """

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        control: Control | None = None,
        config: SearchConfig | None = None,
        *,
        starts: Sequence[Start] = (),
        on_step: Callable[[Search], None] | None = None,
        quick: bool = False,
    ) -> None:
        self.problem = problem.in_memory()
        self.control, self.config = control or Control(), config or SearchConfig()
        self.rng, self.starts, self.on_step, self.quick = rng, list(starts), on_step, quick
        config = self.config
        self.batches, self.rounds = config.batches, config.rounds
        if quick:
            self.batches, self.rounds = config.quick_batches, config.quick_rounds
        per_coefficient = config.rows_per_coefficient if problem.family.smooth else config.kinked_rows_per_coefficient
        self.rows = max(config.least_rows, per_coefficient * problem.k * problem.De)
        self.theta: Theta | None = None
        self.best: Fit | None = None
        self.records: list[StartRecord] = []
        self.drawn, self.level = 0, -np.inf
        self.agreement, self.disputed = 0, False

    def run(self) -> Fit:
        """Search, and return the best fit on all rows."""
        full = self.problem
        if full.k == 1:
            theta = labelled_start(full, np.zeros(full.n, dtype=int), self.config.label_purity)
            return self._offer(Start("regression", StartKind.REGRESSION, theta))
        for end in self._race():
            best = self._offer(end.start, end.fit.theta)
        if self.disputed and not self.quick:
            for start in self._long_runs():
                best = self._offer(start)
        many = self.rows <= self.config.enough_rows * full.n
        if many and full.k == 2 and self.agreement >= 2 and not self.disputed:
            return best  # the one move there is, another split of a single regression, is what the starts were
        for _ in range(self.rounds):
            before, best = best, self._move(best)
            if best is before:
                break
        return best

    # -- pieces -------------------------------------------------------------------------------------------------------

    def _tick(self, ascent: Ascent) -> None:
        level = -np.inf if self.best is None else self.best.objective
        on_all_rows = ascent.problem.rows is self.problem.rows
        # subsamples differ a little in level: until a fit on all rows stands, theirs are the best there is
        if (on_all_rows or self.best is None) and ascent.point.objective > max(level, self.level):
            self.theta, self.level = ascent.point.theta, ascent.point.objective
        if self.on_step is not None:
            self.on_step(self)

    def _subsample(self) -> Problem:
        """Rows for short runs: enough to tell basins apart, all of them if there are few."""
        full = self.problem
        return full if self.rows > self.config.enough_rows * full.n else full.sample(self.rows, self.rng)

    def _rows_carry(self, part: Problem, fit: Fit) -> bool:
        """Whether the subsample tells the experts apart; if not, later ones are made larger.

        An optimum of a few rows with weak signal is one of noise. What the fit gains over a single regression, per
        parameter, says how much signal there is; a parameter of pure noise gains about a half.
        """
        config = self.config
        if part is self.problem or self.rows >= config.most_rows:
            return True
        one = part.with_experts(1)
        start = labelled_start(one, np.zeros(part.n, dtype=int), config.label_purity)
        single = maximise(one, start, config=config).log_likelihood
        gain = (fit.log_likelihood - single) * part.total / part.n_parameters - 0.5
        if gain < config.signal:
            grow = np.clip(2 * config.signal / max(gain, 1e-3), 2, 16)
            self.rows = min(int(self.rows * grow), config.most_rows)
        return gain >= config.signal

    def _draw(self, part: Problem, kind: StartKind) -> Start:
        start = draw_start(part, kind, self.drawn, self.rng, self.config)
        self.drawn += 1
        return start

    def _batch(self, part: Problem) -> list[Start]:
        """Starts of several kinds by turns."""
        size = len(KINDS) - (part.k <= self.config.few_experts)
        return [self._draw(part, kind) for kind in KINDS[:size]]

    def _heats(self, part: Problem, starts: Iterable[Start], steps: tuple[int, ...]) -> list[_Runner]:
        """Short runs by successive halving; the best two, best first."""
        runners = [_Runner(s, Ascent(Point(part, s.theta).taking("em"), self._tick)) for s in starts]
        for heat, count in enumerate(steps):
            for runner in runners:
                for _ in range(count):
                    runner.ascent.em()
            runners.sort(key=lambda r: r.rank, reverse=True)
            keep = 2 if heat + 1 == len(steps) else max(2, round(self.config.keep * len(runners)))
            self.records += [runner.ended(Stage.RACE) for runner in runners[keep:]]
            runners = runners[:keep]
        return runners

    def _climbed(self, part: Problem, theta: Theta, *, near: bool = False) -> Fit:
        """Climb far enough to be ranked."""
        rough = Control(tol=self.config.rough_tol, max_iter=self.config.rough_steps)
        return maximise(part, theta, rough, self.config, near=near, on_step=self._tick)

    def _raced(self, part: Problem, handed: list[Start]) -> list[_Finished]:
        """One batch of starts, beside those handed in: the best two finished, and their union where they differ."""
        config = self.config
        heats = self._heats(part, self._batch(part) + handed, (config.first_steps, config.more_steps))
        finished = [_Finished(r.start, self._climbed(part, r.ascent.point.theta)) for r in heats]
        first, second = finished
        if abs(first.fit.objective - second.fit.objective) > self._same(part):
            parents = (first.start.name, second.start.name)
            name = f"{parents[0]} with {parents[1]}"
            pooled = pooled_start(part, name, first.fit.theta, second.fit.theta, parents, config)
            finished.append(_Finished(pooled, self._climbed(part, pooled.theta)))
        return finished

    def _same(self, part: Problem) -> float:
        """Difference of mean log-likelihoods below which two early ends are the same optimum."""
        return max(self.config.same_total / part.total, self.config.same_mean)

    def _race(self) -> list[_Finished]:
        """Race, batch after batch, until ends agree: the winner, and a second that rows cannot tell from it."""
        part = self._subsample()
        finished = _ranked(self._raced(part, self.starts))
        while not self._rows_carry(part, finished[0].fit):
            won = finished[0]
            again = Start(won.start.name, won.start.kind, won.fit.theta, won.start.parents)
            part = self._subsample()
            finished = _ranked(self._raced(part, [*self.starts, again]))
        for batch in range(self.batches):
            if batch > 0:
                finished = _ranked(finished + self._raced(part, []))
            level = finished[0].fit.objective - self._same(part)
            # a pooled end holds its parents' experts: it is no witness of its own
            self.agreement = sum(
                end.fit.admissible and end.fit.objective > level and end.start.kind is not StartKind.POOLED
                for end in finished
            )
            # if ends differed before, two that agree may both be at a worse optimum (and few rows make many optima)
            if self.agreement >= (3 if self.disputed or part is self.problem else 2):
                break
            self.disputed = self.agreement < 2 or self.disputed
        self.records += [end.ended(Stage.SUBSAMPLE) for end in finished]
        if self.disputed:  # the rows raced on were too few to tell: all rows shall, and moves shall see more of them
            self.rows = int(self.rows * self.config.disputed_rows)
        return self._distinct(part, finished)

    def _long_runs(self) -> Iterator[Start]:
        """Plain runs from random labels on all rows, or many."""
        config, full = self.config, self.problem
        many = full if full.n <= config.long_rows else full.sample(config.long_rows, self.rng)
        for i in range(config.long_runs):
            theta = labelled_start(many, random_labels(many, self.rng), config.label_purity)
            yield Start(f"long run {i}", StartKind.LONG, self._climbed(many, theta).theta)

    def _distinct(self, part: Problem, finished: list[_Finished]) -> list[_Finished]:
        """The winner, and ends of lower likelihood that might win on all rows: more of them where ends disagreed."""
        config = self.config
        margin, most = (config.disputed_margin, 4) if self.disputed else (config.margin, 2)
        winners = finished[:1]
        for end in finished[1:]:
            if len(winners) < most and winners[-1].fit.objective - end.fit.objective > self._same(part):
                winners.append(end)
        top = winners[0].fit.objective
        return [end for end in winners if top - end.fit.objective < margin / part.total]

    def _beats(self, fit: Fit, other: Fit, problem: Problem) -> bool:
        """Whether a fit is at a better optimum than another on the same rows."""
        needed = (other.admissible, other.objective + self.config.gain / problem.total)
        return (fit.admissible, fit.objective) > needed

    def _offer(self, start: Start, theta: Theta | None = None) -> Fit:
        """Finish on all rows an end reached on some of them; return the best there is then."""
        from_here = start.theta if theta is None else theta
        fit = maximise(self.problem, from_here, self.control, self.config, near=True, rng=self.rng, on_step=self._tick)
        self.records.append(StartRecord(start.name, start.kind, fit.log_likelihood, Stage.ALL_ROWS))
        if self.best is None or self._beats(fit, self.best, self.problem):
            self.best, self.theta, self.level = fit, fit.theta, fit.objective
        return self.best

    def _immigrants(self, part: Problem, best: Fit) -> Iterator[Start]:
        """Pool the best fit with fresh starts and prune: what they have found and it has not is kept."""
        for kind in (StartKind.RANDOM, StartKind.VORONOI):
            number = self.drawn
            fresh = self._draw(part, kind)
            theta = short_run(part, fresh.theta, self.config.first_steps)
            yield pooled_start(part, f"best with {kind} {number}", best.theta, theta, ("best", fresh.name), self.config)

    def _move(self, best: Fit) -> Fit:
        """One round of moves; the best fit after it."""
        part = self._subsample()
        moves = list(remove_and_split(part, best.theta, best.share, self.config))
        if self.disputed:  # costly, so only where there was reason to doubt
            moves += self._immigrants(part, best)
        heats = self._heats(part, moves, self.config.move_steps)
        here = best if part is self.problem else self._climbed(part, best.theta, near=True)
        for runner in heats:
            fit = self._climbed(part, runner.ascent.point.theta)
            if self._beats(fit, here, part) and self._offer(runner.start, fit.theta) is not best:
                break
        return self.best or best
