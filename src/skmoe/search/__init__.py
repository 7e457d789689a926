"""From rows to the best optimum: standardise, starts, runs, perturbations, finish, number of experts, checkpoint.

`learn` takes rows, a `ModelSpec` and a `Control`, and returns a `Learned` model.
"""

from skmoe.search.checkpoint import Checkpoint
from skmoe.search.config import SearchConfig
from skmoe.search.fitting import Optimum
from skmoe.search.joint_em import JointEMResult, joint_em
from skmoe.search.learn import learn
from skmoe.search.records import Control, Progress, Stage
from skmoe.search.task import ModelSpec

__all__ = [
    "Checkpoint",
    "Control",
    "JointEMResult",
    "ModelSpec",
    "Optimum",
    "Progress",
    "SearchConfig",
    "Stage",
    "joint_em",
    "learn",
]
