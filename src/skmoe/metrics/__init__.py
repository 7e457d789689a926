"""Distances of learned parameters to the truth."""

from skmoe.metrics.recovery import gating_fit, match_experts, parameter_error, regressor_fit

__all__ = ["gating_fit", "match_experts", "parameter_error", "regressor_fit"]
