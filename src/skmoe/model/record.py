"""The record of a fit: its rows, the search for the optimum, what held-out rows said, and where each expert holds.

A model file holds a record by its fields, and checks them by their types (`skmoe.persistence.plain`). There
``Annotated[int, 1]`` is a whole number of at least 1, and ``Annotated[float, 0.0]`` a finite one of at least 0.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated, Any

import numpy as np

from skmoe.model.regime import Regime
from skmoe.tables.relations import Relation

__all__ = [
    "FitRecord",
    "InputShape",
    "NumberTried",
    "RunRecord",
    "SearchRecord",
    "Spectrum",
    "Stage",
    "StartKind",
    "StartRecord",
]

Count = Annotated[int, 0]
AtLeastOne = Annotated[int, 1]
Finite = Annotated[float, -math.inf]
NotNegative = Annotated[float, 0.0]
Positive = Annotated[float, math.ulp(0.0)]


class Stage(StrEnum):
    """The last stage that a start reached."""

    RACE = "race"
    SUBSAMPLE = "subsample"
    SAMPLE = "sample"
    ALL_ROWS = "all rows"


class StartKind(StrEnum):
    """The origin of a start."""

    REGRESSION = "regression"
    SPECTRAL = "spectral"
    RANDOM = "random"
    VORONOI = "voronoi"
    JOINT = "joint"  # nearest of k rows in inputs and output
    REWEIGHTED = "reweighted"  # a restart after some steps on rows with random weights
    SPLIT = "split"  # one expert dropped, another split
    GROWN = "grown"  # a smaller model with experts split
    FOLD = "fold"  # the best fit to all rows but those of a fold
    CHOSEN = "chosen"  # the best fit so far
    CHECKPOINT = "checkpoint"


@dataclass(frozen=True)
class StartRecord:
    """The result of a start: the mean log-likelihood it reached, and at which stage."""

    name: str
    kind: StartKind
    log_likelihood: float
    stage: Stage


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of the second moment in the consistent start, largest first.

    Attributes
    ----------
    values : tuple of float
    gap : float
        Distance of the k-th from the next, relative to itself.
    noise_level : float
        Size of eigenvalues of sampling noise alone.
    """

    values: tuple[float, ...]
    gap: float
    noise_level: float


@dataclass(frozen=True)
class SearchRecord:
    """The search for the optimum.

    Attributes
    ----------
    starts : tuple of StartRecord
        Result of each start.
    winner : str
        Name of the start that won.
    agreement : int
        Starts that reached the winner's likelihood, itself included.
    interrupted : bool
        Whether the fit was stopped before its end.
    limited : bool
        Whether the search ended for the work it took.
    spectrum : Spectrum or None
        None where the consistent start was not used.
    """

    starts: tuple[StartRecord, ...] = ()
    winner: str = ""
    agreement: Count = 0
    interrupted: bool = False
    limited: bool = False
    spectrum: Spectrum | None = None


@dataclass(frozen=True)
class RunRecord:
    """The last run of a fit, and the point that it ended at.

    Attributes
    ----------
    log_likelihood : float
        Total over all rows; of a fit that was stopped on a sample, its mean there times their number.
    n_parameters : int
    converged : bool
    identified : bool
        Whether the observed information is positive definite, and degrees of freedom are left.
    at_floor : bool
        Whether a noise scale is at its least value, and should not be.
    objective : tuple of float
        Log-likelihood less the penalty by iteration, mean per row.
    passes : int
        Passes over all rows.
    """

    log_likelihood: Finite
    n_parameters: AtLeastOne
    converged: bool
    identified: bool
    at_floor: bool
    objective: tuple[float, ...]
    passes: Count


@dataclass(frozen=True)
class InputShape:
    """Shape of the inputs on the standardised scale, and the correlation of gate and experts on it."""

    skewness: float  # largest of any direction, by size
    kurtosis: float  # excess kurtosis, likewise
    gaussian: bool  # whether both are small
    rank: Count
    columns: Count
    gate_along_experts: float  # largest correlation of a gate vector with an expert
    total: Positive  # weight of all rows, as a count of rows
    low: tuple[Finite, ...]  # smallest value of each input
    high: tuple[Finite, ...]  # largest


@dataclass(frozen=True)
class NumberTried:
    """A number of experts that was tried, and its evaluation.

    Attributes
    ----------
    n_experts : int
    held_out : float
        Mean log density of held-out rows.
    error : float
        Standard error of the difference from the number chosen.
    bic, icl : float
        Criteria of which smaller ones are better.
    """

    n_experts: AtLeastOne
    held_out: float
    error: float
    bic: float
    icl: float


@dataclass(frozen=True)
class FitRecord:
    """A fit: its rows, the search, what held-out rows said, and where each expert holds.

    Attributes
    ----------
    rows : int
        Rows with weight, as the caller counts them.
    searched : int
        Rows on which starts were compared: a sample of a large table, else all.
    weighted : bool
        Whether rows had weights.
    step : float
        Step to which outputs are rounded, 0 where there is none.
    inputs : InputShape
    penalty : float
        Strength of the penalty, given or chosen.
    search : SearchRecord
    run : RunRecord
    tried : tuple of NumberTried
        Numbers of experts compared by held-out rows, none where no rows were held out for it.
    penalties : tuple of (float, float)
        Strengths of the penalty compared, with the mean log density of held-out rows.
    folds, fold_rows : int
        Folds that rows were held out in, and their rows.
    gate_uncertain : bool
        Whether predictive distributions count the uncertainty of the gate, as held-out rows decided.
    coverage : tuple of (float, float)
        Coverages of intervals, and the shares of held-out rows inside.
    relations : tuple of Relation
        Relations among the columns.
    regimes : tuple of Regime
        Where each expert holds.
    """

    rows: AtLeastOne
    searched: AtLeastOne
    weighted: bool
    step: NotNegative
    inputs: InputShape
    penalty: NotNegative
    search: SearchRecord
    run: RunRecord
    tried: tuple[NumberTried, ...] = ()
    penalties: tuple[tuple[NotNegative, float], ...] = ()
    folds: Count = 0
    fold_rows: Count = 0
    gate_uncertain: bool = False
    coverage: tuple[tuple[NotNegative, NotNegative], ...] = ()
    relations: tuple[Relation, ...] = ()
    regimes: tuple[Regime, ...] = ()

    def history(self) -> dict[str, Any]:
        """Return the record as plain values for people, by the names of the attribute `history_` of an estimator."""
        search, run, spectrum = self.search, self.run, self.search.spectrum
        return {
            "objective": np.array(run.objective),
            "starts": [(r.name, r.log_likelihood, str(r.stage)) for r in search.starts],
            "winner": search.winner,
            "agreement": search.agreement,
            "at_floor": run.at_floor,
            "interrupted": search.interrupted,
            "limited": search.limited,
            "step": self.step,
            "bic": [(t.n_experts, t.bic) for t in self.tried],
            "icl": [(t.n_experts, t.icl) for t in self.tried],
            "held_out": [(t.n_experts, t.held_out, t.error) for t in self.tried],
            "penalties": list(self.penalties),
            "folds": self.folds,
            "fold_rows": self.fold_rows,
            "coverage": list(self.coverage),
            "passes": run.passes,
            "spectrum": None if spectrum is None else np.array(spectrum.values),
            "gap": None if spectrum is None else spectrum.gap,
            "noise_level": None if spectrum is None else spectrum.noise_level,
            "inputs": asdict(self.inputs),
            "rows": self.rows,
            "searched": self.searched,
            "relations": [asdict(relation) for relation in self.relations],
            "weighted": self.weighted,
            "regimes": [asdict(regime) for regime in self.regimes],
        }
