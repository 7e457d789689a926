"""How sure a fit is: covariance, intervals of coefficients, summary, diagnosis."""

from skmoe.inference.covariance import Covariance, covariance_of, split_errors
from skmoe.inference.diagnosis import diagnose
from skmoe.inference.summary import Summary, feature_names, summarise

__all__ = ["Covariance", "Summary", "covariance_of", "diagnose", "feature_names", "split_errors", "summarise"]
