"""The model: activations, families of experts, the gate, parameters, posterior and predictive distribution."""

from skmoe.model.activations import Activation
from skmoe.model.family import Family, Law
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.parameters import MoEParameters

__all__ = ["Activation", "Family", "GaussianFamily", "Law", "MoEParameters"]
