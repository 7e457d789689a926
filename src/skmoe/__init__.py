"""Mixture-of-experts regression: a softmax gate over the inputs picks one of k simple regressions.

The flow, which the folders of this package follow::

    arrays        where numbers live: array libraries, blocks, Dask, threads; checks of arrays
      -> tables       a table as it comes, turned into numbers
      -> model        activations, families, parameters, posterior, predictive distribution
      -> spectral     the paper: scores, label transforms, moments, decompositions, Algorithms 1 and 2
      -> likelihood   sums over rows: EM sums, gradient, curvature, penalty
      -> search       standardise, starts, runs, perturbations, finish, number of experts, checkpoint
      -> inference    covariance, summary, diagnosis
      -> estimators   MoERegressor, MoEClassifier
      -> plots, report, cli                datasets, metrics, persistence stand beside
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skmoe import datasets, metrics, plots, report
    from skmoe.datasets import make_moe
    from skmoe.estimators import MoEClassifier, MoERegressor, Predictive, load
    from skmoe.model import Activation, Family, Law, families
    from skmoe.persistence import ModelFileError
    from skmoe.search import joint_em
    from skmoe.spectral import (
        decomposition,
        label_transform,
        learn_experts,
        learn_gate,
        moments,
        plain_tensor_method,
        scores,
    )
    from skmoe.tables import TableTransformer

__version__ = "0.2.0.dev0"

__all__ = [
    "Activation",
    "Family",
    "Law",
    "MoEClassifier",
    "MoERegressor",
    "ModelFileError",
    "Predictive",
    "TableTransformer",
    "datasets",
    "decomposition",
    "families",
    "joint_em",
    "label_transform",
    "learn_experts",
    "learn_gate",
    "load",
    "make_moe",
    "metrics",
    "moments",
    "plain_tensor_method",
    "plots",
    "report",
    "scores",
]

_HOME = {
    "Activation": "model",
    "Family": "model",
    "Law": "model",
    "MoEClassifier": "estimators",
    "MoERegressor": "estimators",
    "ModelFileError": "persistence",
    "Predictive": "estimators",
    "TableTransformer": "tables",
    "joint_em": "search",
    "label_transform": "spectral",
    "learn_experts": "spectral",
    "learn_gate": "spectral",
    "load": "estimators",
    "make_moe": "datasets",
    "plain_tensor_method": "spectral",
}
_MODULES = {
    "decomposition": "spectral.decomposition",
    "families": "model.families",
    "moments": "spectral.moments",
    "scores": "spectral.scores",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: what is not used costs no start-up time."""
    if name not in __all__:
        raise AttributeError(f"module 'skmoe' has no attribute {name!r}")
    if name in _HOME:
        return getattr(import_module(f"skmoe.{_HOME[name]}"), name)
    return import_module(f"skmoe.{_MODULES.get(name, name)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
