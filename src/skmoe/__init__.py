"""Mixture-of-experts regression: a softmax gate over the inputs picks one of k simple regressions.

The flow, which the rooms of this package follow::

    rows                              arrays, validation, blocks (files, Dask), inputs
      -> scores S2, S3 of the inputs  scores
      -> label transforms P2, P3      labels
      -> moments T1, T2, T3           moments
      -> rank-k decomposition         decomposition
      -> experts                      experts    (Algorithm 1: learn_experts)
      -> gate, given the experts      gating     (Algorithm 2: learn_gate)
      -> maximum likelihood           likelihood, refine, moves, starts   (joint_em)
      -> a model in your units        units, fitting, inference, estimator   (MoERegressor)
      -> pictures, a report           plots, report
      -> for a table in a file        tabular, cli
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skmoe import datasets, metrics, plots, report
    from skmoe.datasets import make_moe
    from skmoe.estimators.regressor import MoERegressor, load
    from skmoe.model.activations import Activation
    from skmoe.rows import blocks
    from skmoe.search.joint_em import joint_em
    from skmoe.spectral import scores
    from skmoe.spectral.experts import learn_experts
    from skmoe.spectral.gating import learn_gate
    from skmoe.spectral.labels import label_transform

__version__ = "0.1.0"

__all__ = [
    "Activation",
    "MoERegressor",
    "blocks",
    "datasets",
    "joint_em",
    "label_transform",
    "learn_experts",
    "learn_gate",
    "load",
    "make_moe",
    "metrics",
    "plots",
    "report",
    "scores",
]

_HOME = {
    "Activation": "model.activations",
    "MoERegressor": "estimators.regressor",
    "joint_em": "search.joint_em",
    "label_transform": "spectral.labels",
    "learn_experts": "spectral.experts",
    "learn_gate": "spectral.gating",
    "load": "estimators.regressor",
    "make_moe": "datasets",
}
_MODULES = {"blocks": "rows.blocks", "scores": "spectral.scores"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: what is not used costs no start-up time."""
    if name not in __all__:
        raise AttributeError(f"module 'skmoe' has no attribute {name!r}")
    home = import_module(f"skmoe.{_HOME.get(name, _MODULES.get(name, name))}")
    return getattr(home, name) if name in _HOME else home


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
