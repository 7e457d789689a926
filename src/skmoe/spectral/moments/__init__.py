"""Moments T1, T2, T3 of transformed outputs and inputs: plain averages of scores, or Hermite regression."""

from skmoe.spectral.moments.plain import score_moment
from skmoe.spectral.moments.regression import Moments, hermite_regression, leading_basis

__all__ = ["Moments", "hermite_regression", "leading_basis", "score_moment"]
