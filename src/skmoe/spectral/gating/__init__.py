"""Algorithm 2 and its kin: the gate, given the experts."""

from skmoe.spectral.gating.em import GateResult
from skmoe.spectral.gating.learn import learn_gate

__all__ = ["GateResult", "learn_gate"]
