"""Algorithm 1 on rows that were checked: scores, label transforms, moments and a decomposition.

`by_averages` is the paper. `by_regression` goes beyond it in what is estimated, not in what is assumed: moments are
regressed on Hermite features under a reference law narrower than the inputs' own (`skmoe.spectral.scores.reference`),
and T1, T2, T3 are matched together, each weighted by its precision (`skmoe.spectral.decomposition.matching`).
"""

from skmoe.spectral.algorithm1.averages import by_averages
from skmoe.spectral.algorithm1.regression import by_regression
from skmoe.spectral.algorithm1.task import Decomposer, ExpertsResult, Task

__all__ = ["Decomposer", "ExpertsResult", "Task", "by_averages", "by_regression"]
