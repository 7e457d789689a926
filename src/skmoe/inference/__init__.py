"""Uncertainty of a fit: covariance, calibration, tests, summary, where each expert holds, diagnosis."""

from skmoe.inference.calibrate import Calibrated, calibration_of, held_out_coverage
from skmoe.inference.correction import small_sample, small_sample_correction
from skmoe.inference.covariance import at_zero, covariance_root, from_root, robust_root, split_errors
from skmoe.inference.diagnosis import RoundedOutputWarning, coarse_outputs, diagnose
from skmoe.inference.fitted_range import Outside, rows_outside
from skmoe.inference.gate_change import Input, gate_changes, inputs_of
from skmoe.inference.intervals import intervals_of
from skmoe.inference.likelihood_ratio import ExpertsTest, likelihood_ratio_test
from skmoe.inference.profile import profile_intervals
from skmoe.inference.regimes import Regime, describe_regimes, regimes_from_rows, regimes_table, regimes_text
from skmoe.inference.relations import RelationWarning
from skmoe.inference.row_counts import FewRowsWarning, few_rows, few_rows_of_fit
from skmoe.inference.summary import Summary, feature_names, summarise

__all__ = [
    "Calibrated",
    "ExpertsTest",
    "FewRowsWarning",
    "Input",
    "Outside",
    "Regime",
    "RelationWarning",
    "RoundedOutputWarning",
    "Summary",
    "at_zero",
    "calibration_of",
    "coarse_outputs",
    "covariance_root",
    "describe_regimes",
    "diagnose",
    "feature_names",
    "few_rows",
    "few_rows_of_fit",
    "from_root",
    "gate_changes",
    "held_out_coverage",
    "inputs_of",
    "intervals_of",
    "likelihood_ratio_test",
    "profile_intervals",
    "regimes_from_rows",
    "regimes_table",
    "regimes_text",
    "robust_root",
    "rows_outside",
    "small_sample",
    "small_sample_correction",
    "split_errors",
    "summarise",
]
