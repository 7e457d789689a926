"""Algorithm 2 and its variants: the gate, given the experts; the EM operator and the constants of its theory."""

from skmoe.spectral.gating.constants import concavity_constants, robustness_constant
from skmoe.spectral.gating.em import GateResult
from skmoe.spectral.gating.learn import learn_gate
from skmoe.spectral.gating.moment import ratio
from skmoe.spectral.gating.operator import em_objective, em_operator
from skmoe.spectral.gating.stability import noise_threshold, stability_constant

__all__ = [
    "GateResult",
    "concavity_constants",
    "em_objective",
    "em_operator",
    "learn_gate",
    "noise_threshold",
    "ratio",
    "robustness_constant",
    "stability_constant",
]
