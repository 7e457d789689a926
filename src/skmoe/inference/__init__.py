"""How sure a fit is: covariance, intervals of coefficients, summary, diagnosis."""

from skmoe.inference.calibrate import calibration_of
from skmoe.inference.correction import small_sample, small_sample_correction
from skmoe.inference.covariance import Covariance, covariance_of, split_errors
from skmoe.inference.diagnosis import diagnose
from skmoe.inference.summary import Summary, feature_names, summarise

__all__ = [
    "Covariance",
    "Summary",
    "calibration_of",
    "covariance_of",
    "diagnose",
    "feature_names",
    "small_sample",
    "small_sample_correction",
    "split_errors",
    "summarise",
]
