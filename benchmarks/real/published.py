"""Figures that others published for the UCI tables with their usual splits, means over the splits.

Those of TabPFN are by one author, who ran TabResFlow too and found its log losses again within 0.13 (wine: 0.32).
"""

from __future__ import annotations

__all__ = ["LOG_LOSS", "PRETRAINED", "RMSE", "SOURCES", "SPIKED"]

SOURCES = {
    "MC dropout": "Mukhoti, Stenetorp and Gal, On the importance of strong baselines in Bayesian deep learning, 2018",
    "deep ensembles": "Lakshminarayanan, Pritzel and Blundell, Simple and scalable predictive uncertainty estimation "
    "using deep ensembles, 2017",
    "NGBoost": "Duan et al., NGBoost: natural gradient boosting for probabilistic prediction, 2020",
    "WGBoost": "Matsubara, Wasserstein gradient boosting: a framework for distribution-valued supervised learning, "
    "2024",
    "TabResFlow": "Madhusudhanan et al., TabResFlow: a normalizing spline flow model for probabilistic univariate "
    "tabular regression, 2025 (arXiv 2508.17056)",
    "TabPFN": "its own density, fitted to at most 10,000 rows of a split; a single source, the README of the GitHub "
    "repository ayhamo/Probabilistic_Point_Estimations, 2025",
}
PRETRAINED = "TabPFN"
SPIKED = "wine"  # rounded outputs, on whose values the densities of TabResFlow and TabPFN have spikes
# mean negative log density of the test rows, in the order of SOURCES; None: not given
LOG_LOSS: dict[str, tuple[float | None, ...]] = {
    "boston": (2.40, 2.41, 2.43, 2.47, None, None),
    "concrete": (2.93, 3.06, 3.04, 2.83, 2.90, 2.21),
    "energy": (1.21, 1.38, 0.60, 0.53, 0.77, 0.15),
    "kin8nm": (-1.14, -1.20, -0.49, -0.44, -1.29, -1.27),
    "naval": (-4.45, -5.63, -5.34, -5.47, -5.30, -7.33),
    "power": (2.80, 2.79, 2.79, 2.60, 2.60, 2.28),
    "protein": (2.87, 2.83, 2.81, 2.70, 1.95, 1.73),
    "wine": (0.93, 0.94, 0.91, 0.95, -0.85, -2.72),
    "yacht": (1.25, 1.18, 0.20, 0.16, 0.67, -0.73),
}
# naval's are given as .00 or not at all
RMSE: dict[str, tuple[float | None, ...]] = {
    "boston": (2.90, 3.28, 2.94, 2.78, None, None),
    "concrete": (4.82, 6.03, 5.06, 4.15, 5.01, 3.86),
    "energy": (0.54, 2.09, 0.46, 0.42, 1.45, 0.42),
    "kin8nm": (0.08, 0.09, 0.16, 0.15, 0.07, 0.07),
    "power": (4.01, 4.11, 3.79, 3.19, 3.98, 3.00),
    "protein": (4.27, 4.71, 4.33, 4.09, 4.44, 3.53),
    "wine": (0.62, 0.64, 0.63, 0.61, 0.39, 0.63),
    "yacht": (0.67, 1.58, 0.50, 0.48, 0.47, 0.42),
}
