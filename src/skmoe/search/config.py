"""Every number that steers a search, with its reason; `benchmarks/search/sensitivity.py` halves and doubles each.

Numbers of numerical analysis (rounding, sufficient increase of a line search) are not among them: they stand beside the
code that uses them.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    start_noise: float = 0.5
    """Noise scale of the consistent start, as a part of the spread of y: EM shrinks it in a step or two."""
    label_purity: float = 0.9
    """Weight of a row's label in a labelled start; the rest is shared out, so that no system is singular."""
    overfull: float = 0.5
    """Experts too many, relative to k, in starts that are then pruned: laws found by one of many are kept."""
    few_experts: int = 3
    """Up to so many experts a batch is one start of each kind; above, one more."""

    # -- the race -----------------------------------------------------------------------------------------------------
    least_rows: int = 1000
    """Rows of a subsample: on fewer a step costs no less, and hard gates are seen badly."""
    rows_per_coefficient: int = 40
    """Rows of a subsample per expert coefficient; half as many lost optima."""
    kinked_rows_per_coefficient: int = 160
    """The same for activations with kinks: they bend to a few rows more easily, and have more optima."""
    most_rows: int = 50_000
    """Rows of a subsample that is enlarged for want of signal: where so many show none, more find little."""
    enough_rows: float = 0.7
    """A subsample of more than this part of the rows is not worth drawing."""
    first_steps: int = 8
    """EM steps of the first heat: basins are told apart by then."""
    more_steps: int = 10
    """EM steps of the second heat."""
    keep: float = 0.35
    """Part of the starts kept after the first heat."""
    signal: float = 3.0
    """Log-likelihood per parameter that a subsample must gain over a single regression; pure noise gains a half."""
    same_total: float = 0.25
    """Difference in total log-likelihood below which runs that were stopped early ended at the same optimum."""
    same_mean: float = 1e-4
    """The same per row."""
    gain: float = 0.05
    """Gain in total log-likelihood that makes a better optimum: less is the same one, reached by another way."""
    batches: int = 6
    """Most batches of starts, where ends disagree."""
    rounds: int = 8
    """Most rounds of moves."""
    long_runs: int = 3
    """Plain runs on many rows where starts disagree: slow, but with no subsample to be misled by."""
    long_rows: int = 20_000
    """Rows of such a run."""
    disputed_rows: float = 3.0
    """Factor by which subsamples grow where starts disagreed."""
    margin: float = 3.0
    """Total log-likelihood below the winner within which a second end is finished on all rows as well."""
    disputed_margin: float = 20.0
    """The same where starts disagreed; then up to four ends are finished."""
    rough_tol: float = 1e-2
    """Tolerance of runs that only have to be ranked."""
    rough_steps: int = 60
    """Longest such run."""
    move_steps: tuple[int, int] = (5, 8)
    """EM steps of the two heats of moves."""

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

    # -- number of experts --------------------------------------------------------------------------------------------
    most_experts: int = 10
    """The largest number that "auto" tries."""
    rows_per_expert_coefficient: float = 2.0
    """Rows that each coefficient of an expert needs; numbers of experts that rows cannot carry are not tried."""
    patience: int = 2
    """Numbers of experts tried beyond the best before "auto" stops."""
    quick_batches: int = 1
    """Batches of starts where numbers of experts are compared."""
    quick_rounds: int = 2
    """Rounds of moves there."""
    spare_logit: float = 8.0
    """Gate intercept, below its neighbour, of the spare expert that a split replaces when a fit is grown: it has a
    negligible weight."""
