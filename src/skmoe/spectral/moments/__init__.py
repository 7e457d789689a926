"""Moments T1, T2, T3 of transformed outputs and inputs: plain averages of scores, or Hermite regression."""

from skmoe.spectral.moments.labelled import second_moment, third_moment
from skmoe.spectral.moments.plain import score_moment

__all__ = ["score_moment", "second_moment", "third_moment"]
