"""How sure a fit is: covariance, intervals of coefficients, test of the number of experts, summary, diagnosis."""

from skmoe.inference.covariance import Covariance, covariance_of, split_errors
from skmoe.inference.diagnosis import diagnose
from skmoe.inference.likelihood_ratio import ExpertsTest, likelihood_ratio_test
from skmoe.inference.summary import Summary, feature_names, summarise

__all__ = [
    "Covariance",
    "ExpertsTest",
    "Summary",
    "covariance_of",
    "diagnose",
    "feature_names",
    "likelihood_ratio_test",
    "split_errors",
    "summarise",
]
