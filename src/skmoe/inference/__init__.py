"""How sure a fit is: covariance, intervals of coefficients, summary, where each expert holds, diagnosis."""

from skmoe.inference.covariance import Covariance, covariance_of, split_errors
from skmoe.inference.diagnosis import FewRowsWarning, diagnose, few_rows
from skmoe.inference.fitted_range import Outside, rows_outside
from skmoe.inference.gate_change import Input, gate_changes, inputs_of
from skmoe.inference.regimes import Regime, describe_regimes, regimes_from_rows, regimes_table, where_in_words
from skmoe.inference.summary import Summary, feature_names, summarise

__all__ = [
    "Covariance",
    "FewRowsWarning",
    "Input",
    "Outside",
    "Regime",
    "Summary",
    "covariance_of",
    "describe_regimes",
    "diagnose",
    "feature_names",
    "few_rows",
    "gate_changes",
    "inputs_of",
    "regimes_from_rows",
    "regimes_table",
    "rows_outside",
    "split_errors",
    "summarise",
    "where_in_words",
]
