"""Figures that others published for the UCI tables with their usual splits, means over the splits."""

from __future__ import annotations

__all__ = ["LOG_LOSS", "RMSE", "SOURCES"]

SOURCES = {
    "MC dropout": "Mukhoti, Stenetorp and Gal, On the importance of strong baselines in Bayesian deep learning, 2018",
    "deep ensembles": "Lakshminarayanan, Pritzel and Blundell, Simple and scalable predictive uncertainty estimation "
    "using deep ensembles, 2017",
    "NGBoost": "Duan et al., NGBoost: natural gradient boosting for probabilistic prediction, 2020",
    "WGBoost": "Matsubara, Wasserstein gradient boosting: a framework for distribution-valued supervised learning, "
    "2024",
}
# mean negative log density of the test rows, in the order of SOURCES
LOG_LOSS = {
    "boston": (2.40, 2.41, 2.43, 2.47),
    "concrete": (2.93, 3.06, 3.04, 2.83),
    "energy": (1.21, 1.38, 0.60, 0.53),
    "kin8nm": (-1.14, -1.20, -0.49, -0.44),
    "naval": (-4.45, -5.63, -5.34, -5.47),
    "power": (2.80, 2.79, 2.79, 2.60),
    "protein": (2.87, 2.83, 2.81, 2.70),
    "wine": (0.93, 0.94, 0.91, 0.95),
    "yacht": (1.25, 1.18, 0.20, 0.16),
}
# naval's are given as .00 or not at all
RMSE = {
    "boston": (2.90, 3.28, 2.94, 2.78),
    "concrete": (4.82, 6.03, 5.06, 4.15),
    "energy": (0.54, 2.09, 0.46, 0.42),
    "kin8nm": (0.08, 0.09, 0.16, 0.15),
    "power": (4.01, 4.11, 3.79, 3.19),
    "protein": (4.27, 4.71, 4.33, 4.09),
    "wine": (0.62, 0.64, 0.63, 0.61),
    "yacht": (0.67, 1.58, 0.50, 0.48),
}
