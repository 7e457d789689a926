r"""How starts are compared, and when to stop trying.

1. *Race.* On a subsample, starts of several kinds beside those the caller hands in are climbed as one batch.
2. *Doubt.* Where ends disagree, rounds follow of moves from a population of ends (rows tilted for a while; an expert
   fewer, then another split; one more, then one pruned), until so many rounds in a row gain nothing, or until as much
   work is done as a search may take. Where the subsample is all rows, one round is tried though ends agree.
3. *All rows.* The winners are finished on all rows.
4. *Moves.* On a subsample again, a round of moves from the best; accept a gain, stop at the first round without one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from skmoe.likelihood import Problem, Theta
from skmoe.search.ascent import Ascent
from skmoe.search.climb import BatchAscent
from skmoe.search.config import SearchConfig
from skmoe.search.ends import End, climb_all, distinct, ranked
from skmoe.search.finish import Fit, maximise, newton_is_costly
from skmoe.search.growth import regrown, shrunk
from skmoe.search.moves import drop_and_split, tilted
from skmoe.search.records import Control, Stage, Start, StartKind, StartRecord
from skmoe.search.starts import by_turns, drawn_starts, pooled_regression

__all__ = ["Search"]


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
    ended, most_starts : int
        Starts that have ended, and how many there may be at most, as far as is known.
    work : float
        Operations of its climbs so far.
    limited : bool
        Whether it ended for its work, and more rounds might have gained.
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
    ) -> None:
        self.problem = problem.in_memory()
        self.control, self.config = control or Control(), config or SearchConfig()
        self.rng, self.starts, self.on_step = rng, list(starts), on_step
        config = self.config
        plain = problem.family.smooth and not problem.family.few_values
        rows = config.rows
        per_coefficient = rows.rows_per_coefficient if plain else rows.kinked_rows_per_coefficient
        self.rows = max(rows.least_rows, per_coefficient * problem.k * problem.De)
        self.theta: Theta | None = None
        self.best: Fit | None = None
        self.records: list[StartRecord] = []
        self.drawn, self.level = 0, -np.inf
        self.agreement, self.disputed = 0, False
        self.ended, self.most_starts = 0, config.starts.random
        self.work, self.limited = 0.0, False

    def run(self) -> Fit:
        """Search, and return the best fit on all rows."""
        full = self.problem
        if full.k == 1:
            return self._offer(Start("regression", StartKind.REGRESSION, pooled_regression(full)))
        part, ends = self._race()
        on_all = part.rows is full.rows
        moved = self.disputed or on_all
        if moved:
            ends = self._further(part, ends)
        self.records += [end.record() for end in ends]
        contenders = self._contenders(part, ends)
        for end in contenders:
            best = self._offer(end.start)
        for end in distinct((end for end in ends if end.finished), self._same(part))[: self.config.race.agreeing]:
            if best.admissible:
                break
            # what was fine on some rows is not on all, or a last step went too far
            if not any(end is other for other in contenders):
                best = self._offer(end.start)
        if (moved and on_all) or (full.k == 2 and not self.disputed):
            return best  # every move has been tried, or the one there is is what the starts were
        before = None
        while best is not before:
            before, best = best, self._move(best)
        return best

    # -- pieces -------------------------------------------------------------------------------------------------------

    def _tick(self, problem: Problem, objective: float, theta: Callable[[], Theta]) -> None:
        level = -np.inf if self.best is None else self.best.objective
        on_all_rows = problem.rows is self.problem.rows
        # subsamples differ a little in level: until a fit on all rows stands, theirs are the best there is
        if (on_all_rows or self.best is None) and objective > max(level, self.level):
            self.theta, self.level = theta(), objective
        if self.on_step is not None:
            self.on_step(self)

    def _on_finish(self, ascent: Ascent) -> None:
        self._tick(ascent.problem, ascent.point.objective, lambda: ascent.point.theta)

    def _on_climb(self, ascent: BatchAscent) -> None:
        self.work += ascent.work
        i = int(np.argmax(ascent.objective))
        objective = float(ascent.objective[i]) if ascent.batch.k == self.problem.k else -np.inf
        self._tick(ascent.problem, objective, lambda: ascent.batch.theta(i))

    def _climbed(self, part: Problem, starts: Sequence[Start], bar: float = -np.inf) -> list[End]:
        """Where starts end, beside a `bar` that is known already."""
        self.most_starts = max(self.most_starts, self.ended + len(starts))
        ends = climb_all(part, starts, self.config, bar=bar, on_step=self._on_climb)
        self.ended += len(ends)
        return ends

    def _subsample(self) -> Problem:
        """Rows for short runs: enough to tell basins apart, all of them if there are few."""
        full = self.problem
        return full if self.rows > self.config.rows.enough_rows * full.n else full.sample(self.rows, self.rng)

    def _rows_carry(self, part: Problem, end: End) -> bool:
        """Whether the subsample tells the experts apart; if not, later ones are made larger.

        An optimum of a few rows with weak signal is one of noise. What the fit gains over a single regression, per
        parameter, says how much signal there is; a parameter of pure noise gains about a half.
        """
        config, most = self.config, self.config.rows.most_rows
        if part.rows is self.problem.rows or self.rows >= most:
            return True
        single = maximise(part.with_experts(1), pooled_regression(part), config=config).log_likelihood
        gain = (end.log_likelihood - single) * part.total / part.n_parameters - 0.5
        signal = config.race.signal
        if gain < signal:
            self.rows = min(int(self.rows * np.clip(2 * signal / max(gain, 1e-3), 2, 16)), most)
        return gain >= signal

    def _fresh(self, part: Problem, count: int) -> list[Start]:
        """Random starts of several kinds by turns."""
        starts = drawn_starts(part, by_turns(count, self.drawn), self.drawn, self.rng, self.config)
        self.drawn += count
        return starts

    def _same(self, part: Problem) -> float:
        """Difference of mean log-likelihoods below which two early ends are the same optimum."""
        return self.config.race.same / part.total

    def _race(self) -> tuple[Problem, list[End]]:
        """One batch of starts, on a subsample that tells the experts apart; whether its ends agree is noted."""
        config = self.config
        part, again = self._subsample(), list[Start]()
        while True:
            ends = ranked(self._climbed(part, [*self.starts, *again, *self._fresh(part, config.starts.random)]))
            if self._rows_carry(part, ends[0]):
                break
            again, part = [ends[0].start], self._subsample()
        self.agreement = len(self._witnesses(part, ends, ends[0].objective))
        self.disputed = self.agreement < config.race.agreeing
        # experts with kinks bend to a few rows, outputs of few values tell little: starts agree on lesser optima too
        self.disputed |= part.k > 2 and (part.family.few_values or not part.family.smooth)
        return part, ends

    def _further(self, part: Problem, ends: list[End]) -> list[End]:
        """Rounds of moves where ends disagree; where they agree, one, to see whether it gains."""
        config = self.config
        if self.disputed:
            self.rows = int(self.rows * config.rows.more_rows)  # for later moves: these rows were too few to tell
        moves = config.moves
        rounds = moves.patience if self.disputed else 1
        self.most_starts += rounds * (part.k * moves.tilts + 2 * moves.splits)
        before, ends = ends, self._evolved(part, ends)
        self.disputed |= self._gained(part, ends[0], before[0])
        # moves that lead back to the best end are no witnesses; the starts before them are
        self.agreement = max(1, len(self._witnesses(part, before, ends[0].objective)))
        return ends

    def _witnesses(self, part: Problem, ends: list[End], best: float) -> list[End]:
        """Ends at an optimum of the objective `best`; of starts, which came there by themselves."""
        level = best - self._same(part)
        return [end for end in ends if end.admissible and end.finished and end.objective > level]

    def _evolved(self, part: Problem, ends: list[End]) -> list[End]:
        """Rounds of moves from a population of ends until so many of them in a row gain nothing; one, if ends agree.

        What a move leads to is climbed for a while only: it is one of the population if it is among the best, and those
        that stay are climbed to the top at the end.
        """
        config, moves, idle, done = self.config, self.config.moves, 0, set[float]()
        patience = moves.patience if self.disputed else 1
        hasty = config.changed("race", steps=2 * config.race.warm_up)
        while idle < patience:
            if self.work > moves.work:
                self.limited = self.disputed
                break
            before = ends[0]
            tops = self._population(part, ends)[: moves.population]
            starts, levels = self._moves_from(part, tops, done)
            found = climb_all(
                part, starts, hasty, groups=range(len(starts)), bar=np.array(levels), on_step=self._on_climb
            )
            self.ended += len(found)
            ends = ranked(ends + found)
            idle += 1
            if self._gained(part, ends[0], before):
                idle, patience = 0, moves.patience
        tops = self._population(part, ends)[: config.race.agreeing]
        return ranked(ends + self._climbed(part, [end.start for end in tops]))

    def _population(self, part: Problem, ends: list[End]) -> list[End]:
        """One end of each optimum, best first, those dropped on the way among them: from there moves lead elsewhere.

        But where none at its top is admissible, one on its way is no better for being so.
        """
        sound = any(end.admissible and end.finished for end in ends)
        return distinct((end for end in ends if end.finished or sound), self._same(part))

    def _gained(self, part: Problem, end: End, before: End) -> bool:
        """Whether an end is better than another, not the same one reached by another way."""
        return end.rank > (before.admissible, before.objective + self.config.race.same / part.total)

    def _moves_from(self, part: Problem, tops: list[End], done: set[float]) -> tuple[list[Start], list[float]]:
        """Starts of one round, and for each the objective of the end it comes from.

        From each of the population by turns with rows tilted; from the best end that is not `done` grown and pruned,
        and shrunk and split.
        """
        config, rng = self.config, self.rng
        of = [tops[i % len(tops)] for i in range(part.k * config.moves.tilts)]
        starts = tilted(part, [end.start.theta for end in of], config, rng, self._on_climb) if of else []
        near = next((end for end in tops if end.objective not in done), None)
        if near is not None and config.moves.splits:
            done.add(near.objective)
            for move in (regrown, shrunk) if part.k > 2 else (regrown,):
                found = move(part, near.start.theta, config, rng, self._on_climb)
                starts += found
                of += [near] * len(found)
        return starts, [end.objective for end in of]

    def _contenders(self, part: Problem, ends: list[End]) -> list[End]:
        """The winner, and ends of lower likelihood that might win on all rows: more of them where ends disagreed.

        Several are first climbed side by side on more rows.
        """
        config, rows = self.config, self.config.rows
        margin, more = config.race.margin, rows.more_rows * part.n
        if self.disputed and part.rows is not self.problem.rows:
            margin *= rows.more_rows  # a subsample of so many fewer rows tells less
        tops = self._near_the_best(part, ends, margin)
        if len(tops) > 1 and part.rows is not self.problem.rows:
            whole = more > rows.enough_rows * self.problem.n
            part = self.problem if whole else self.problem.sample(more, self.rng)
            tops = self._near_the_best(part, self._climbed(part, [end.start for end in tops]), config.race.margin)
        return tops

    def _near_the_best(self, part: Problem, ends: list[End], margin: float) -> list[End]:
        """The best ends of different optima within a margin in total log-likelihood."""
        tops = distinct((end for end in ends if end.finished), self._same(part))[: self.config.race.agreeing]
        return [end for end in tops if tops[0].objective - end.objective < margin / part.total]

    def _beats(self, fit: Fit, other: Fit, problem: Problem) -> bool:
        """Whether a fit is at a better optimum than another on the same rows."""
        needed = (other.admissible, other.objective + self.config.race.same / problem.total)
        return (fit.admissible, fit.objective) > needed

    def _offer(self, start: Start) -> Fit:
        """Finish on all rows an end reached on some of them; return the best there is then.

        Where a finish takes long, an end that does not come near the best on all rows is left before it.
        """
        if self.best is not None and self.best.admissible and newton_is_costly(self.problem):
            (end,) = self._climbed(self.problem, [start], bar=self.best.objective)
            if not end.finished or end.objective < self.best.objective - self._same(self.problem):
                self.records.append(replace(end.record(), stage=Stage.ALL_ROWS))
                return self.best
            start = end.start
        fit = maximise(
            self.problem, start.theta, self.control, self.config, near=True, rng=self.rng, on_step=self._on_finish
        )
        self.records.append(StartRecord(start.name, start.kind, fit.log_likelihood, Stage.ALL_ROWS))
        if self.best is None or self._beats(fit, self.best, self.problem):
            self.best, self.theta, self.level = fit, fit.theta, fit.objective
        return self.best

    def _move(self, best: Fit) -> Fit:
        """One round of moves on a fresh subsample; the best fit after it."""
        part, config = self._subsample(), self.config
        here = Start("best", StartKind.CHOSEN, best.theta)
        starts = [here, *drop_and_split(part, [best.theta], config, config.moves.splits // 2)]
        ends = self._climbed(part, starts)
        level = next((end.objective for end in ends if end.start.kind is StartKind.CHOSEN), -np.inf)
        better = [end for end in ranked(ends) if end.finished and end.objective > level + config.race.same / part.total]
        self.records += [replace(end.record(), stage=Stage.RACE) for end in ends if end.start.name != "best"]
        for end in better[:2]:
            if self._offer(end.start) is not best:
                break
        return self.best or best
