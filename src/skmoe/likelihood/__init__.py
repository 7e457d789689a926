"""Sums over rows: those of an EM step, the gradient, the observed information, and the penalty.

A `Problem` is rows in the model's coordinates, the shape of the model and its settings; the kernels are free functions
of a problem and a point `Theta`, one pass over the rows each.
"""

from skmoe.likelihood.derivatives import Curvature, Gradient, gradient, information, score_outer
from skmoe.likelihood.input_map import InputMap
from skmoe.likelihood.largest import largest_predictors
from skmoe.likelihood.means import mean_gate, mean_log_likelihood
from skmoe.likelihood.problem import Problem, Settings
from skmoe.likelihood.rows import LaidOutRows, MappedRows, ModelRows
from skmoe.likelihood.theta import Theta

__all__ = [
    "Curvature",
    "Gradient",
    "InputMap",
    "LaidOutRows",
    "MappedRows",
    "ModelRows",
    "Problem",
    "Settings",
    "Theta",
    "gradient",
    "information",
    "largest_predictors",
    "mean_gate",
    "mean_log_likelihood",
    "score_outer",
]
