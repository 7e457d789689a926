"""The paper: scores, label transforms, moments, decompositions, Algorithm 1, Algorithm 2, the plain tensor method."""

from skmoe.spectral.experts import ExpertsResult, learn_experts
from skmoe.spectral.gating import (
    GateResult,
    concavity_constants,
    em_objective,
    em_operator,
    learn_gate,
    noise_threshold,
    ratio,
    robustness_constant,
    stability_constant,
)
from skmoe.spectral.labels import LabelTransform, label_transform
from skmoe.spectral.options import SpectralOptions
from skmoe.spectral.tensor_method import plain_tensor_method

__all__ = [
    "ExpertsResult",
    "GateResult",
    "LabelTransform",
    "SpectralOptions",
    "concavity_constants",
    "em_objective",
    "em_operator",
    "label_transform",
    "learn_experts",
    "learn_gate",
    "noise_threshold",
    "plain_tensor_method",
    "ratio",
    "robustness_constant",
    "stability_constant",
]
