"""The numbers of a search, by stage, each with its reason; `benchmarks/search/parts.py` measures their effects.

Numbers of numerical analysis (rounding, sufficient increase of a line search, limits of memory) stand beside the code
that uses them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

__all__ = ["FoldNumbers", "MoveNumbers", "NumberNumbers", "RaceNumbers", "RowNumbers", "SearchConfig", "StartNumbers"]


@dataclass(frozen=True)
class RowNumbers:
    """How many rows each stage works on."""

    canonical_rows: int = 20_000
    """Tables up to this size are sorted, so that the order of rows cannot matter: sorting larger ones costs as much as
    a pass over the rows."""
    sample_rows: int = 200_000
    """Tables above this size are searched on a sample of so many rows: its optima are near those of all rows."""
    least_rows: int = 1000
    """Rows of a subsample: on fewer a step costs no less, and steep gates are hard to fit."""
    rows_per_coefficient: int = 40
    """Rows of a subsample per expert coefficient; with half as many, optima were missed."""
    kinked_rows_per_coefficient: int = 160
    """The same for activations with kinks and for binary outputs, which fit few rows closely and have more optima."""
    most_rows: int = 50_000
    """Rows of a subsample that is enlarged for lack of signal, and of the consistent start: more add little."""
    enough_rows: float = 0.6
    """Share of the rows above which all are used in place of a subsample."""
    more_rows: int = 4
    """Factor by which subsamples grow where runs ended at different optima, and before several results are finished."""
    plenty: int = 50
    """Rows per parameter from which on strengths of the penalty are not compared, and the optimum of a subsample is
    near that of all rows."""


@dataclass(frozen=True)
class StartNumbers:
    """Where runs begin."""

    random: int = 10
    """Random starts, which n_init sets."""
    spectral_rows_per_parameter: int = 8
    """Rows per parameter below which moments are mostly noise, and there is no consistent start."""
    spectral_noise: float = 0.5
    """Noise scale of the consistent start, as a share of that of y: EM reduces it in a step or two."""
    output_weight: float = 2.0
    """Weight of the output, over its standard deviation, beside the standardised inputs, where cells are drawn in both:
    with 1, optima are missed at three experts and more."""


@dataclass(frozen=True)
class RaceNumbers:
    """How runs are compared while they are under way, and when they end."""

    em_steps: int = 4
    """EM steps at the beginning of each run: they are safe where L-BFGS is not."""
    warm_up: int = 12
    """L-BFGS steps before runs are compared for the first time: after EM alone their ranks say little."""
    check_every: int = 8
    """L-BFGS steps between two comparisons of the runs."""
    gain: float = 0.02
    """Gain in total log-likelihood between two comparisons below which a run is finished."""
    catch_up: float = 4.0
    """A run that lies further behind the best than this many times its gain between two comparisons is stopped."""
    margin: float = 3.0
    """But not where it lies behind by less than this in total log-likelihood; results that are as near to the best are
    finished on all rows as well."""
    steps: int = 96
    """Longest run, in L-BFGS steps."""
    signal: float = 3.0
    """Gain in log-likelihood per parameter over a single regression that a subsample must show; noise gains a half."""
    same: float = 0.25
    """Difference in total log-likelihood below which the results of runs are the same optimum."""
    agreeing: int = 3
    """Runs that must end at the best optimum, or the likelihood counts as multimodal; as many results are finished
    after the last round."""
    em_gain: float = 1e-3
    """Gain per row of some first-order steps below which Newton steps follow: they are slow near the optimum."""


@dataclass(frozen=True)
class MoveNumbers:
    """Rounds of perturbations that lead from one optimum to another, where the likelihood is multimodal."""

    patience: int = 4
    """Rounds in a row without a gain after which a search ends."""
    unpenalised: float = 5.0
    """Factor of the time of a search without a penalty, or with less than the least there is to choose from: optima are
    many then, and far apart. It is 1 where rows are too few for the parameters, whose maximum is degenerate."""
    work: float = 1e10
    """Operations of runs after which no further round begins: half a second in compiled code, else some ten seconds."""
    population: int = 16
    """Best different results that are perturbed: from fewer, all rounds find the same optima."""
    reweighted: int = 8
    """Reweighted restarts of a round, for each expert of the model; from each of the population by turns."""
    weight_slope: tuple[float, float] = (0.5, 2.0)
    """Logarithm of a row's weight per standard deviation along a random direction, drawn between these."""
    softening: tuple[float, float] = (0.03, 0.5)
    """Factor of the gate's coefficients in these restarts where no penalty keeps them small, drawn between these:
    a fifth less shortfall at four experts, two fifths less at three."""
    splits: int = 24
    """Splits by which an expert is added before one is removed, or after it: twice as many gain twice as often."""
    least_shift: float = 0.3
    """Least distance of the two halves of a split expert, in units of its noise: EM separates nearer ones slowly."""
    gate_slope: float = 3.0
    """Slope of the gate across a bend, per standard deviation of the expert's rows."""


@dataclass(frozen=True)
class FoldNumbers:
    """Models fitted to some of the rows and evaluated on the others."""

    folds: int = 5
    """Number of folds."""
    most_rows: int = 5000
    """Most rows that are used in folds."""
    starts: int = 3
    """Random starts of each fold, and as many splits of the next smaller model of the same fold."""
    checks: int = 4
    """Comparisons after which these runs end, where numbers of experts are compared: longer ones gain nothing on rows
    held out."""
    penalties: tuple[float, ...] = (0.3, 0.03, 3.0, 30.0)
    """Strengths of the penalty to choose from, the default first: few real tables prefer another one. Without any,
    gates that separate rows have neither an optimum nor standard errors."""
    ensemble_penalty: float = 0.003
    """Another strength for models that are averaged: averages are smoother than each of their models."""


@dataclass(frozen=True)
class NumberNumbers:
    """The number of experts."""

    numbers: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
    """Numbers that "auto" tries, in this order; the last is the largest of models that are averaged."""
    most_experts: int = 10
    """The largest number that "auto" chooses: more regimes are hard to read."""
    unseen_gain: float = 0.02
    """Mean log density of held-out rows that a number of experts must gain where none of its experts has a match in the
    fit of another fold, and in proportion where some have: new rows of 22 real tables lose 0.0005 by it, and 0.0016 by
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
        """Return the same search with another number of random starts, and as much more work where runs disagree."""
        if starts == self.starts.random:
            return self
        return self.wider(starts / self.starts.random).changed("starts", random=starts)

    def wider(self, times: float) -> SearchConfig:
        """Return the same search, `times` as long where runs disagree."""
        if times == 1:
            return self
        # twice the models in a round, and twice the rounds, are four times the work
        moves, root = self.moves, times**0.5

        def more(number: int, least: int = 1) -> int:
            return max(least, round(number * root)) if number else 0  # what is switched off stays off

        return self.changed(
            "moves",
            population=more(moves.population, 2),
            reweighted=more(moves.reweighted),
            patience=more(moves.patience),
            work=moves.work * times,
        )
