"""Every number that steers a search, by stage, with its reason; `benchmarks/search/parts.py` measures their worth.

Numbers of numerical analysis (rounding, sufficient increase of a line search, limits of memory) are not among them:
they stand beside the code that uses them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

__all__ = ["FoldNumbers", "MoveNumbers", "NumberNumbers", "RaceNumbers", "RowNumbers", "SearchConfig", "StartNumbers"]


@dataclass(frozen=True)
class RowNumbers:
    """How many rows each stage works on."""

    canonical_rows: int = 20_000
    """Tables up to this size are brought into one order, so that the order of rows cannot matter: sorting more costs
    as much as a pass."""
    sample_rows: int = 200_000
    """Tables above this size are searched on a sample of so many rows: its optima are near those of all rows."""
    least_rows: int = 1000
    """Rows of a subsample: on fewer a step costs no less, and hard gates are seen badly."""
    rows_per_coefficient: int = 40
    """Rows of a subsample per expert coefficient; half as many lost optima."""
    kinked_rows_per_coefficient: int = 160
    """The same for activations with kinks, and for yes and no: they bend to a few rows easily, with more optima."""
    most_rows: int = 50_000
    """Rows of a subsample that is enlarged for want of signal, and of the consistent start: more tell little more."""
    enough_rows: float = 0.6
    """A subsample of more than this part of the rows is not worth drawing."""
    more_rows: int = 4
    """Factor by which subsamples grow where runs ended apart, and before several results go on to all rows."""
    plenty: int = 50
    """Rows per parameter from which on strengths of the penalty are not compared, and a subsample brings a fit to
    all rows near its optimum."""


@dataclass(frozen=True)
class StartNumbers:
    """Where runs begin."""

    random: int = 10
    """Random starts, which n_init sets."""
    spectral_rows_per_parameter: int = 8
    """Rows per parameter below which moments are mostly noise, and there is no consistent start."""
    spectral_noise: float = 0.5
    """Noise scale of the consistent start, as a part of the standard deviation of y: EM shrinks it in a step or two."""
    output_weight: float = 2.0
    """Weight of the output, over its standard deviation, beside the standardised inputs where cells are drawn in both:
    1 loses optima at three experts and more."""


@dataclass(frozen=True)
class RaceNumbers:
    """How runs are compared while they are under way, and when they end."""

    em_steps: int = 4
    """EM steps with which each run begins: they are safe where L-BFGS is not."""
    warm_up: int = 12
    """L-BFGS steps before runs are compared for the first time: after EM alone their ranks say little."""
    stride: int = 8
    """L-BFGS steps between two comparisons."""
    gain: float = 0.02
    """Gain in total log-likelihood over a stride below which a run has arrived."""
    hope: float = 4.0
    """A run that lies further behind the best than this many times its gain over a stride is dropped."""
    margin: float = 3.0
    """But not where it lies behind by less than this in total log-likelihood; results as near as this to the best are
    finished on all rows as well."""
    steps: int = 96
    """Longest run, in L-BFGS steps."""
    signal: float = 3.0
    """Log-likelihood per parameter that a subsample must gain over a single regression; pure noise gains a half."""
    same: float = 0.25
    """Difference in total log-likelihood below which runs that were stopped early ended at the same optimum."""
    agreeing: int = 3
    """Runs that must end at the best optimum, or there is doubt; so many results are finished after the last round."""
    em_gain: float = 1e-3
    """On all rows EM is left for Newton steps once a step gains less than this per row: it is slow near the optimum."""


@dataclass(frozen=True)
class MoveNumbers:
    """Rounds of moves from one optimum to another, where there is doubt."""

    patience: int = 4
    """Rounds in a row without a gain after which a search ends."""
    unpenalised: float = 5.0
    """Times that a search takes as long without a penalty, or under less than the least there is to choose from: optima
    are many then, and far apart. Where rows are fewer than the parameters need, the maximum is none to look for."""
    work: float = 1e10
    """Operations of runs after which no further round begins, half a second where they are compiled, else some ten
    seconds."""
    population: int = 16
    """Results, the best different ones, from which moves are tried: from fewer, one leads to the others soon."""
    tilts: int = 8
    """Reweighted restarts of a round, for each expert of the model; from each of the population by turns."""
    tilt: tuple[float, float] = (0.5, 2.0)
    """Logarithm of a row's weight per standard deviation along the direction, drawn between these."""
    softening: tuple[float, float] = (0.03, 0.5)
    """Factor of the gate's coefficients there where no penalty keeps them small, drawn between these: a fifth less
    shortfall at four experts, two fifths less at three."""
    splits: int = 24
    """Splits tried of a model that gets an expert more and is pruned again, and of one whose experts are dropped in
    turn before: twice as many gain twice as often."""
    least_shift: float = 0.3
    """Halves of a split expert are at least so far apart, in units of its noise: nearer ones take EM long to part."""
    gate_slope: float = 3.0
    """Slope of the gate across a bend, per standard deviation of the expert's own rows."""


@dataclass(frozen=True)
class FoldNumbers:
    """Models fitted to some of the rows and judged on the others."""

    folds: int = 5
    """Parts that rows are held out by."""
    most_rows: int = 5000
    """Rows that take part in folds at the most."""
    starts: int = 3
    """Random starts of each fold, and splits of the next smaller model of the same fold beside them."""
    strides: int = 4
    """Strides of these runs where numbers of experts are compared: longer ones gain nothing on rows not seen."""
    penalties: tuple[float, ...] = (0.3, 0.03, 3.0, 30.0)
    """Strengths of the penalty to choose from, the default first: few real tables prefer another one, and without any,
    gates that separate rows have no optimum, nor standard errors."""
    member_penalty: float = 0.003
    """Another strength for models that are averaged: an average smooths what a weak one leaves rough."""


@dataclass(frozen=True)
class NumberNumbers:
    """The number of experts."""

    numbers: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
    """Numbers that "auto" tries, in this order; the last is the largest of a model that is one of many averaged."""
    most_experts: int = 10
    """The largest number that "auto" chooses: nobody reads more regimes."""
    unseen_gain: float = 0.02
    """Mean log density of held-out rows that a number of experts must gain where none of its experts is seen in the fit
    of another fold, and in proportion where some are: new rows of 22 real tables lose 0.0005 by it, and 0.0016 by
    twice as much."""
    rows_per_parameter: float = 2.0
    """Rows that each coefficient of an expert needs, and, where the number of experts is to be chosen, each parameter,
    gate and noise among them."""
    patience: int = 2
    """Numbers of experts tried beyond the best before "auto" stops."""


@dataclass(frozen=True)
class SearchConfig:
    """All numbers of a search, in a record for each stage."""

    rows: RowNumbers = field(default_factory=RowNumbers)
    starts: StartNumbers = field(default_factory=StartNumbers)
    race: RaceNumbers = field(default_factory=RaceNumbers)
    moves: MoveNumbers = field(default_factory=MoveNumbers)
    folds: FoldNumbers = field(default_factory=FoldNumbers)
    number: NumberNumbers = field(default_factory=NumberNumbers)

    def changed(self, stage: str, **numbers: Any) -> SearchConfig:
        """Return the same search with some numbers of a stage changed."""
        return replace(self, **{stage: replace(getattr(self, stage), **numbers)})

    def numbers(self) -> dict[str, Any]:
        """Return every number by its stage and name, such as "race.gain"."""
        return {
            f"{stage.name}.{number.name}": getattr(getattr(self, stage.name), number.name)
            for stage in fields(self)
            for number in fields(getattr(self, stage.name))
        }

    def with_starts(self, starts: int) -> SearchConfig:
        """Return the same search, begun with so many random starts; what follows where runs disagree is wider alike."""
        if starts == self.starts.random:
            return self
        return self.wider(starts / self.starts.random).changed("starts", random=starts)

    def wider(self, times: float) -> SearchConfig:
        """Return the same search, about so many times as long where runs disagree."""
        if times == 1:
            return self
        # twice the models in a round, and twice the rounds, are four times the work
        moves, root = self.moves, times**0.5

        def more(number: int, least: int = 1) -> int:
            return max(least, round(number * root)) if number else 0  # what is switched off stays off

        return self.changed(
            "moves",
            population=more(moves.population, 2),
            tilts=more(moves.tilts),
            patience=more(moves.patience),
            work=moves.work * times,
        )
