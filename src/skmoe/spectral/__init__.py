"""The paper: scores, label transforms, moments, decompositions, Algorithm 1, Algorithm 2, the plain tensor method."""

from skmoe.spectral.experts import ExpertsResult, learn_experts
from skmoe.spectral.gating import GateResult, learn_gate
from skmoe.spectral.labels import LabelTransform, label_transform
from skmoe.spectral.tensor_method import plain_tensor_method

__all__ = [
    "ExpertsResult",
    "GateResult",
    "LabelTransform",
    "label_transform",
    "learn_experts",
    "learn_gate",
    "plain_tensor_method",
]
