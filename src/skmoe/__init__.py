"""Mixture-of-experts regression: a softmax gate over the inputs picks one of k simple regressions.

The flow, which the rooms of this package follow::

    rows                              arrays, validation, blocks
      -> scores S2, S3 of the inputs  scores
      -> label transforms P2, P3      labels
      -> moments T1, T2, T3           moments
      -> rank-k decomposition         decomposition
      -> experts                      experts    (Algorithm 1: learn_experts)
      -> gate, given the experts      gating     (Algorithm 2: learn_gate)
      -> maximum likelihood           likelihood, refine, moves, starts   (joint_em)
      -> a model in your units        fitting, inference, estimator       (MoERegressor)
"""

from skmoe import datasets, metrics, scores
from skmoe.activations import Activation
from skmoe.baseline import joint_em
from skmoe.datasets import make_moe
from skmoe.estimator import MoERegressor, load
from skmoe.experts import learn_experts
from skmoe.gating import learn_gate
from skmoe.labels import label_transform

__version__ = "0.1.0"

__all__ = [
    "Activation",
    "MoERegressor",
    "datasets",
    "joint_em",
    "label_transform",
    "learn_experts",
    "learn_gate",
    "load",
    "make_moe",
    "metrics",
    "scores",
]
