"""Estimators in scikit-learn's manner: validate, learn, store."""

from skmoe.estimators.classifier import MoEClassifier
from skmoe.estimators.predictive import Predictive
from skmoe.estimators.regressor import MoERegressor, load

__all__ = ["MoEClassifier", "MoERegressor", "Predictive", "load"]
