"""Estimators in scikit-learn's manner: validate, learn, store."""

from skmoe.estimators.classifier import MoEClassifier
from skmoe.estimators.files import load
from skmoe.estimators.predictive import Predictive
from skmoe.estimators.regressor import MoERegressor

__all__ = ["MoEClassifier", "MoERegressor", "Predictive", "load"]
