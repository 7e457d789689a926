"""Every number that steers a search, with its reason; `benchmarks/search/sensitivity.py` halves and doubles each.

Numbers of numerical analysis (rounding, sufficient increase of a line search) are not among them: they stand beside the
code that uses them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["SearchConfig"]


@dataclass(frozen=True)
class SearchConfig:
    """How rows are prepared, how starts are raced, when a search stops."""

    # -- rows ---------------------------------------------------------------------------------------------------------
    canonical_rows: int = 20_000
    """Tables up to this size are brought into one order, so that the order of rows cannot matter: sorting more costs
    as much as a pass."""
    sample_rows: int = 200_000
    """Tables above this size are searched on a sample of so many rows: optima of the sample are near those of all."""
    sample_doubles: int = 2**25
    """Rows of many columns are sampled less, to hold no more than 256 MiB."""
    sample_rows_per_coefficient: int = 60
    """But never less than this, or the sample could not tell experts apart."""

    # -- starts -------------------------------------------------------------------------------------------------------
    spectral_rows: int = 50_000
    """The consistent start looks at no more rows: its error is then far below what EM corrects."""
    spectral_rows_per_parameter: int = 8
    """And no fewer for each parameter: below, its moments are mostly noise."""
    start_noise: float = 0.5
    """Noise scale of the consistent start, as a part of the spread of y: EM shrinks it in a step or two."""
    label_purity: float = 0.9
    """Weight of a row's label in a labelled start; the rest is shared out, so that no system is singular."""
    output_weight: float = 2.0
    """Weight of the output, in its own spread, beside the standardised inputs where cells are drawn in both."""
    far_outputs: float = 4.0
    """Median absolute deviations from the median beyond which starts of experts with heavy tails move outputs in: 2.7
    standard deviations of a Gaussian, so that experts apart from one another are hardly touched."""

    # -- the race -----------------------------------------------------------------------------------------------------
    least_rows: int = 1000
    """Rows of a subsample: on fewer a step costs no less, and hard gates are seen badly."""
    rows_per_coefficient: int = 40
    """Rows of a subsample per expert coefficient; half as many lost optima."""
    kinked_rows_per_coefficient: int = 160
    """The same for activations with kinks, and for yes and no: they bend to a few rows easily, with more optima."""
    most_rows: int = 50_000
    """Rows of a subsample that is enlarged for want of signal: where so many show none, more find little."""
    enough_rows: float = 0.7
    """A subsample of more than this part of the rows is not worth drawing."""
    starts: int = 10
    """Random starts of the first batch, which n_init sets."""
    em_heat: int = 4
    """EM steps with which each start begins: they are safe where L-BFGS is not."""
    heat: int = 12
    """L-BFGS steps of the first heat: after EM alone the ranks of starts say little of the ranks of ends."""
    keep: float = 0.5
    """Part of the starts kept after the first heat."""
    least_kept: int = 3
    """But at least so many, so that there are witnesses."""
    stride: int = 8
    """L-BFGS steps between two looks at who is done."""
    climb_gain: float = 0.02
    """Gain in total log-likelihood over a stride below which a start has arrived."""
    hope: float = 4.0
    """A start that lies further behind the best than this many times its gain over a stride is dropped."""
    climb_margin: float = 3.0
    """But not where it lies behind by less than this in total log-likelihood."""
    climb_steps: int = 96
    """Longest climb of a start, in L-BFGS steps."""
    signal: float = 3.0
    """Log-likelihood per parameter that a subsample must gain over a single regression; pure noise gains a half."""
    same_total: float = 0.25
    """Difference in total log-likelihood below which runs that were stopped early ended at the same optimum."""
    same_mean: float = 1e-4
    """The same per row."""
    gain: float = 0.05
    """Gain in total log-likelihood that makes a better optimum: less is the same one, reached by another way."""
    agreeing: float = 0.5
    """Part of the finished starts that must have ended at the best optimum, or there is doubt."""
    convincing: float = 0.5
    """Part of all starts, those dropped on the way among them, that must have ended there, or models are grown too; one
    beside the consistent start is enough."""
    rounds: int = 30
    """Most rounds of moves."""
    round_patience: int = 3
    """Rounds in a row without a gain after which a search in doubt ends."""
    unpenalised: float = 5.0
    """Times that a search takes as long without a penalty, or under less than the least there is to choose from: optima
    are many then, and far apart. Where rows are fewer than the parameters need, the maximum is none to look for."""
    strengths: tuple[float, ...] = (0.3, 3.0, 30.0)
    """Penalties under which models are grown where there is doubt, beside the one asked for."""
    ladders: int = 1
    """Times that models are grown from one expert up; from the second on splits are drawn."""
    beam: int = 2
    """Models that are grown side by side."""
    splits: int = 6
    """Splits tried of a model, the most promising ones."""
    ladder_gain: float = 0.5
    """Gain over a stride below which a model has arrived while it is grown: its experts are split again, or its
    penalty is let go."""
    ladder_steps: int = 16
    """Longest climb of a model that is grown further, in L-BFGS steps."""
    growth: float = 1.5
    """Experts that a growing model gains at a time, relative to those it has; at least one."""
    population: int = 16
    """Ends, the best ones, from which moves are tried: from fewer, one leads to the others soon."""
    tilts: int = 4
    """Moves of a round on tilted rows, for each expert of the model; from each of the population by turns."""
    tilt: tuple[float, float] = (0.5, 2.0)
    """Logarithm of a row's weight per standard deviation along the direction, drawn between these."""
    tilt_steps: tuple[int, int] = (4, 12)
    """EM and L-BFGS steps on tilted rows."""
    softening: tuple[float, float] = (0.03, 0.5)
    """Factor of the gate's coefficients there where no penalty keeps them small, drawn between these: a fifth less
    shortfall at four experts, two fifths less at three."""
    round_steps: int = 24
    """Longest climb after a move, in L-BFGS steps: the next move goes on from there."""
    near: int = 6
    """Ends, the best ones, that are grown and pruned, or shrunk."""
    regrow: int = 1
    """How many of them in a round."""
    regrow_splits: int = 12
    """Splits tried of a model that is grown by one expert and pruned again: twice as many gain twice as often."""
    drops: int = 5
    """Experts, those least missed, each of which is dropped before another is split."""
    drop_splits: int = 3
    """Splits tried of a model with one expert fewer."""
    pairs: int = 2
    """Pairs of the population that are recombined in a round, for each expert of the model."""
    first_rank: float = 4.0
    """Mean rank of the first of a pair, which is drawn among the best; the second is any other."""
    pool: int = 4
    """Ends that are climbed to the top after the last round."""
    regrow_steps: tuple[int, int] = (2, 6)
    """EM and L-BFGS steps of a model with one expert more before it is pruned: twice as many gain no more."""
    work: float = 1e10
    """Operations of climbs after which no further round begins, half a second where they are compiled, else some ten
    seconds: with many experts over thousands of rows the race and the models that are grown take as much."""
    check_work: float = 3e8
    """Operations of a race on all rows up to which one round of moves is tried though its ends agree: a quarter of the
    misses on real tables were of such races."""
    more_starts: int = 3
    """Fresh starts beside moves on a subsample, where starts disagreed."""
    disputed_rows: float = 3.0
    """Factor by which subsamples grow where starts disagreed."""
    more_rows: int = 4
    """Rows, relative to those of a subsample, on which several ends are climbed further before all rows are."""
    margin: float = 3.0
    """Total log-likelihood below the winner within which a second end is finished on all rows as well."""
    disputed_margin: float = 20.0
    """The same where starts disagreed; then up to four ends are finished."""

    # -- moves --------------------------------------------------------------------------------------------------------
    least_shift: float = 0.3
    """Halves of a split expert are at least so far apart, in units of its noise: nearer ones take EM long to part."""
    gate_slope: float = 3.0
    """Slope of the gate across a bend, per standard deviation of the expert's own rows."""
    prune_steps: int = 2
    """EM steps between the removals of two experts."""
    pool_steps: int = 3
    """EM steps of a pool of two models before it is pruned."""

    # -- the finish ---------------------------------------------------------------------------------------------------
    em_gain: float = 1e-3
    """EM is left for Newton steps once a step gains less than this per row: it is slow near the optimum."""
    em_steps: tuple[int, int] = (3, 60)
    """Fewest and most EM steps before the first Newton step."""
    slow_gain: float = 1e-4
    """Gain per row over five EM steps below which a saddle is left along its negative curvature."""
    subsample_rows_per_parameter: int = 100
    """Many rows are first climbed on a subsample of so many per parameter."""
    subsample_least_rows: int = 2000
    """But at least so many."""
    subsample_part: float = 3.0
    """And only where that is less than all rows over this."""

    # -- held-out rows ------------------------------------------------------------------------------------------------
    folds: int = 5
    """Parts that rows are held out by."""
    fold_rows: int = 2000
    """Tables up to this size take part in the folds with all their rows."""
    calibration_rows: int = 1000
    """The same where the number of experts is known, and folds serve the calibration of levels and the penalty."""
    plenty: int = 50
    """Rows per parameter from which on strengths of the penalty are not compared: they hardly differ."""
    fold_rows_per_parameter: int = 40
    """Larger ones with so many rows per parameter of the largest model: what fits lose to fewer rows is then little."""
    most_fold_rows: int = 5000
    """But with no more than these."""
    fold_starts: int = 4
    """Random starts of each fold."""
    calibration_starts: int = 3
    """The same where the number of experts is known: these climb to the top, and the best of them counts."""
    fold_splits: int = 2
    """Splits of the next smaller model of the same fold, beside them."""
    fold_strides: int = 4
    """Strides of L-BFGS steps of these climbs: longer ones gain nothing on rows not seen."""
    penalty: float = 0.3
    """Strength of the penalty unless held-out rows say otherwise: on real tables few of them prefer another one, and
    most starts then end at one optimum."""
    penalties: tuple[float, ...] = (0.03, 0.3, 3.0, 30.0)
    """Strengths to choose from: without any, gates that separate rows have no optimum, nor standard errors."""
    member_penalties: tuple[float, ...] = (0.003, 0.3)
    """Strengths of models that are averaged: an average smooths what a weak one leaves rough."""

    # -- number of experts --------------------------------------------------------------------------------------------
    numbers: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
    """Numbers that "auto" tries, in this order."""
    most_experts: int = 10
    """The largest number that "auto" chooses: nobody reads more regimes."""
    unseen_gain: float = 0.02
    """Mean log density of held-out rows that a number of experts must gain where none of its experts is seen in the fit
    of another fold, and in proportion where some are: new rows of 22 real tables lose 0.0005 by it, and 0.0016 by
    twice as much."""
    most_averaged: int = 32
    """The largest number of experts of a model that is one of many averaged."""
    rows_per_expert_coefficient: float = 2.0
    """Rows that each coefficient of an expert needs; numbers of experts that rows cannot carry are not tried."""
    rows_per_parameter: float = 2.0
    """Rows that each parameter needs, gate and noise among them, where the number of experts is to be chosen."""
    patience: int = 2
    """Numbers of experts tried beyond the best before "auto" stops."""

    def with_starts(self, starts: int) -> SearchConfig:
        """The same search, begun with so many random starts; what follows where ends disagree is wider alike."""
        return self if starts == self.starts else replace(self.wider(starts / self.starts), starts=starts)

    def wider(self, times: float) -> SearchConfig:
        """The same search, about so many times as long where ends disagree."""
        if times == 1:
            return self

        root = times**0.5  # twice as many models in a round, and twice as many rounds, are four times as long

        def more(name: str, factor: float, least: int = 1) -> int:
            value = getattr(self, name)
            return max(least, round(value * factor)) if value else 0  # what is switched off stays off

        return replace(
            self,
            splits=more("splits", root, 2),
            beam=more("beam", root),
            ladders=more("ladders", root),
            population=more("population", root, 2),
            tilts=more("tilts", root),
            pairs=more("pairs", root),
            regrow=more("regrow", root),
            rounds=more("rounds", root),
            round_patience=more("round_patience", root),
            near=more("near", times),
            more_starts=more("more_starts", times),
            work=self.work * times,
        )
