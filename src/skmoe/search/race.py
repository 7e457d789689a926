r"""The search for the global maximum: which starts are run, how runs are compared, and when the search ends.

1. *Race.* On a subsample, starts of several kinds beside those of the caller are run as one batch.
2. *Perturbations.* Where runs end at different optima, rounds follow of perturbed restarts from the best results
   (`skmoe.search.perturbations`), until several rounds in a row gain nothing, or the work is done that a search may
   take. Where the subsample is all rows, one round is tried though runs agree.
3. *All rows.* The best results are finished on all rows.
4. *Splits.* On a new subsample, restarts from the best fit with one expert removed and another split; they are repeated
   as long as they gain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from skmoe.likelihood import Problem, Theta
from skmoe.search.batch_optimiser import BatchOptimiser
from skmoe.search.config import SearchConfig
from skmoe.search.finish import Fit, maximise, newton_is_costly
from skmoe.search.optimiser import Optimiser
from skmoe.search.perturbations import experts_to_remove, grow_and_prune, reweighted_restarts, shrink_and_split
from skmoe.search.records import Control, Stage, Start, StartKind, StartRecord
from skmoe.search.results import RunResult, best_optima, better, count_agreeing, distinct, ranked, run_all
from skmoe.search.splits import drop_and_split
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
    theta, objective : Theta, float
        The best point so far and its objective.
    best : Fit
        The best finished fit on all rows.
    records : list of StartRecord
    agreement : int
        Finished starts of the race that reached the winner's likelihood, itself included.
    multimodal : bool
        Whether the first batch of starts ended at different optima.
    ended, most_starts : int
        Starts that have ended, and how many there may be at most, as far as is known.
    work : float
        Operations of its runs so far.
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
        rows, plain = self.config.rows, problem.family.smooth and not problem.family.few_values
        per_coefficient = rows.rows_per_coefficient if plain else rows.kinked_rows_per_coefficient
        self.rows = max(rows.least_rows, per_coefficient * problem.k * problem.De)
        self.theta: Theta | None = None
        self.best: Fit | None = None
        self.records: list[StartRecord] = []
        self.drawn, self.objective = 0, -np.inf
        self.agreement, self.multimodal = 0, False
        self.ended, self.most_starts = 0, self.config.starts.random
        self.work, self.limited = 0.0, False

    def run(self) -> Fit:
        """Search, and return the best fit on all rows."""
        full = self.problem
        if full.k == 1:
            return self._finish(Start("regression", StartKind.REGRESSION, pooled_regression(full)))
        subsample, results = self._race()
        on_all_rows = subsample.rows is full.rows
        perturbed = self.multimodal or on_all_rows
        if perturbed:
            results = self._perturb(subsample, results)
        self.records += [result.record() for result in results]
        candidates = self._candidates(subsample, results)
        for result in candidates:
            best = self._finish(result.start)
        for result in best_optima(results, self._same(subsample), self.config.race.agreeing):
            if best.admissible:
                break
            # what is admissible on some rows may not be so on all, or a last step went too far
            if not any(result is other for other in candidates):
                best = self._finish(result.start)
        if (perturbed and on_all_rows) or (full.k == 2 and not self.multimodal):
            return best  # all perturbations were tried; two experts have no split that the starts did not try
        before = None
        while best is not before:
            before, best = best, self._split(best)
        return best

    # -- progress -----------------------------------------------------------------------------------------------------

    def _note(self, problem: Problem, objective: float, theta: Callable[[], Theta]) -> None:
        """Note a point if it is the best so far, and call `on_step`."""
        best = -np.inf if self.best is None else self.best.objective
        on_all_rows = problem.rows is self.problem.rows
        # objectives of subsamples differ a little: they count only until there is a fit on all rows
        if (on_all_rows or self.best is None) and objective > max(best, self.objective):
            self.theta, self.objective = theta(), objective
        if self.on_step is not None:
            self.on_step(self)

    def _on_finish(self, optimiser: Optimiser) -> None:
        self._note(optimiser.problem, optimiser.point.objective, lambda: optimiser.point.theta)

    def _on_run(self, optimiser: BatchOptimiser) -> None:
        self.work += optimiser.work
        i = int(np.argmax(optimiser.objective))
        objective = float(optimiser.objective[i]) if optimiser.batch.k == self.problem.k else -np.inf
        self._note(optimiser.problem, objective, lambda: optimiser.batch.picked(i))

    # -- runs on a subsample ------------------------------------------------------------------------------------------

    def _run(self, problem: Problem, starts: Sequence[Start], cutoff: float = -np.inf) -> list[RunResult]:
        """Run the optimiser from all starts; stop those that come near neither the best nor the cutoff."""
        self.most_starts = max(self.most_starts, self.ended + len(starts))
        results = run_all(problem, starts, self.config, cutoff=cutoff, on_step=self._on_run)
        self.ended += len(results)
        return results

    def _subsample(self) -> Problem:
        """Draw rows for short runs: enough to tell optima apart, all of them if there are few."""
        full = self.problem
        return full if self.rows > self.config.rows.enough_rows * full.n else full.sample(self.rows, self.rng)

    def _enough_signal(self, subsample: Problem, result: RunResult) -> bool:
        """Return whether the subsample tells the experts apart; if not, later ones are made larger.

        An optimum of a few rows with weak signal is one of noise. The gain over a single regression, per parameter,
        measures the signal; a parameter of pure noise gains about a half.
        """
        config, most = self.config, self.config.rows.most_rows
        if subsample.rows is self.problem.rows or self.rows >= most:
            return True
        single = maximise(subsample.with_experts(1), pooled_regression(subsample), config=config).log_likelihood
        gain = (result.log_likelihood - single) * subsample.total / subsample.n_parameters - 0.5
        signal = config.race.signal
        if gain < signal:
            self.rows = min(int(self.rows * np.clip(2 * signal / max(gain, 1e-3), 2, 16)), most)
        return gain >= signal

    def _same(self, problem: Problem) -> float:
        """Return the difference of mean log-likelihoods below which two results are the same optimum."""
        return self.config.race.same / problem.total

    def _race(self) -> tuple[Problem, list[RunResult]]:
        """Run one batch of starts on a subsample that tells the experts apart, and note whether the runs agree."""
        config, count = self.config, self.config.starts.random
        subsample, again = self._subsample(), list[Start]()
        while True:
            random = drawn_starts(subsample, by_turns(count, self.drawn), self.drawn, self.rng, config)
            self.drawn += count
            results = ranked(self._run(subsample, [*self.starts, *again, *random]))
            if self._enough_signal(subsample, results[0]):
                break
            again, subsample = [results[0].start], self._subsample()
        self.agreement = count_agreeing(results, results[0].objective, self._same(subsample))
        self.multimodal = self.agreement < config.race.agreeing
        # experts with kinks fit few rows closely, outputs of few values tell little: runs agree on local optima too
        self.multimodal |= subsample.k > 2 and (subsample.family.few_values or not subsample.family.smooth)
        return subsample, results

    # -- perturbations ------------------------------------------------------------------------------------------------

    def _perturb(self, subsample: Problem, results: list[RunResult]) -> list[RunResult]:
        """Perturb the best results where runs disagree; where they agree, for one round, to see whether it gains."""
        moves = self.config.moves
        if self.multimodal:
            self.rows = int(self.rows * self.config.rows.more_rows)  # of later subsamples: these rows were too few
        rounds = moves.patience if self.multimodal else 1
        self.most_starts += rounds * (subsample.k * moves.reweighted + 2 * moves.splits)
        before, results = results, self._rounds(subsample, results)
        self.multimodal |= better(results[0], before[0], self._same(subsample))
        # perturbations of the best result that lead back to it do not count as runs that agree
        self.agreement = max(1, count_agreeing(before, results[0].objective, self._same(subsample)))
        return results

    def _rounds(self, subsample: Problem, results: list[RunResult]) -> list[RunResult]:
        """Perturb a population of results until several rounds in a row gain nothing; for one round if runs agree.

        Perturbed restarts are run for some steps only: they join the population if they are among the best, and the
        best are run to the end last.
        """
        config, moves, idle, done = self.config, self.config.moves, 0, set[float]()
        patience = moves.patience if self.multimodal else 1
        short = config.changed("race", steps=2 * config.race.warm_up)
        while idle < patience:
            if self.work > moves.work:
                self.limited = self.multimodal
                break
            before = results[0]
            population = self._population(subsample, results)[: moves.population]
            starts, cutoffs = self._perturbed_starts(subsample, population, done)
            groups = range(len(starts))
            found = run_all(subsample, starts, short, groups=groups, cutoff=np.array(cutoffs), on_step=self._on_run)
            self.ended += len(found)
            results = ranked(results + found)
            idle += 1
            if better(results[0], before, self._same(subsample)):
                idle, patience = 0, moves.patience
        best = self._population(subsample, results)[: config.race.agreeing]
        return ranked(results + self._run(subsample, [result.start for result in best]))

    def _population(self, subsample: Problem, results: list[RunResult]) -> list[RunResult]:
        """Return one result of each optimum, best first; runs that were stopped early lead to other optima.

        They are left out where no finished run is admissible: that they are so while under way says nothing.
        """
        sound = any(result.admissible and result.finished for result in results)
        return distinct((result for result in results if result.finished or sound), self._same(subsample))

    def _perturbed_starts(
        self, subsample: Problem, population: list[RunResult], done: set[float]
    ) -> tuple[list[Start], list[float]]:
        """Return the starts of one round, and for each the objective of the result that it comes from.

        The population in turn is restarted on reweighted rows; the best result that is not `done` gets one expert
        more that is pruned again, and one less that is replaced by a split. Where nothing is lost without several of
        its experts, others are split in their place, and nothing else is tried.
        """
        config, rng = self.config, self.rng
        untried = (result for result in population if result.objective not in done)
        best = next(untried, None) if config.moves.splits else None
        groups: list[np.ndarray] = []
        if best is not None and subsample.k > 2:
            groups = experts_to_remove(subsample, best.start.theta, config)
        together = len(groups) == 1
        count = 0 if together else subsample.k * config.moves.reweighted
        origins = [population[i % len(population)] for i in range(count)]
        thetas = [result.start.theta for result in origins]
        starts = reweighted_restarts(subsample, thetas, config, rng, self._on_run) if thetas else []
        if best is not None:
            done.add(best.objective)
            theta = best.start.theta
            found = shrink_and_split(subsample, theta, groups, config, rng, self._on_run) if groups else []
            found += [] if together else grow_and_prune(subsample, theta, config, rng, self._on_run)
            starts += found
            origins += [best] * len(found)
        return starts, [result.objective for result in origins]

    # -- all rows -----------------------------------------------------------------------------------------------------

    def _candidates(self, subsample: Problem, results: list[RunResult]) -> list[RunResult]:
        """Return the results that may win on all rows: more of them where runs disagreed.

        Several are first run side by side on more rows.
        """
        full, rows, race = self.problem, self.config.rows, self.config.race

        def near_the_best(problem: Problem, results: list[RunResult], factor: float = 1.0) -> list[RunResult]:
            return best_optima(results, self._same(problem), race.agreeing, factor * race.margin / problem.total)

        if subsample.rows is full.rows:
            return near_the_best(subsample, results)
        # a subsample with a fraction of the rows tells less
        best = near_the_best(subsample, results, rows.more_rows if self.multimodal else 1.0)
        if len(best) < 2:
            return best
        wanted = rows.more_rows * subsample.n
        larger = full if wanted > rows.enough_rows * full.n else full.sample(wanted, self.rng)
        return near_the_best(larger, self._run(larger, [result.start for result in best]))

    def _finish(self, start: Start) -> Fit:
        """Finish a result on all rows; return the best fit so far.

        Where a finish takes long, a result that does not come near the best on all rows is left before it.
        """
        full, best = self.problem, self.best
        if best is not None and best.admissible and newton_is_costly(full):
            (result,) = self._run(full, [start], cutoff=best.objective)
            if not result.finished or result.objective < best.objective - self._same(full):
                self.records.append(replace(result.record(), stage=Stage.ALL_ROWS))
                return best
            start = result.start
        fit = maximise(full, start.theta, self.control, self.config, near=True, rng=self.rng, on_step=self._on_finish)
        self.records.append(StartRecord(start.name, start.kind, fit.log_likelihood, Stage.ALL_ROWS))
        if best is None or (fit.admissible, fit.objective) > (best.admissible, best.objective + self._same(full)):
            self.best, self.theta, self.objective = fit, fit.theta, fit.objective
        return self.best or fit

    def _split(self, best: Fit) -> Fit:
        """Run restarts with one expert removed and another split on a new subsample; return the best fit after it."""
        subsample, config = self._subsample(), self.config
        current = Start("best", StartKind.CHOSEN, best.theta)
        starts = [current, *drop_and_split(subsample, [best.theta], config, config.moves.splits // 2)]
        results = self._run(subsample, starts)
        own = next((result.objective for result in results if result.start.kind is StartKind.CHOSEN), -np.inf)
        least = own + self._same(subsample)
        gained = [result for result in ranked(results) if result.finished and result.objective > least]
        self.records += [
            replace(result.record(), stage=Stage.RACE) for result in results if result.start.name != "best"
        ]
        for result in gained[:2]:
            if self._finish(result.start) is not best:
                break
        return self.best or best
