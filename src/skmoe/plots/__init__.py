"""Pictures of a fitted model: experts, gate, calibration of predictions, search.

Displays are in scikit-learn's manner: ``from_estimator`` computes the numbers, which are attributes, and draws them;
``plot`` draws them again, elsewhere. Drawing needs matplotlib (``pip install "skmoe[plot]"``); with ``draw=False`` the
numbers come without it. `to_svg` turns a display into a picture for a page, light or dark.
"""

from skmoe.plots.classes import ExpertProbabilityDisplay, ProbabilityDisplay
from skmoe.plots.coefficients import CoefficientsDisplay
from skmoe.plots.gate import GateDisplay
from skmoe.plots.outputs import BandDisplay, ResponsibilityDisplay
from skmoe.plots.predictions import CalibrationDisplay, PredictionDisplay
from skmoe.plots.probabilities import ReliabilityDisplay, SeparationDisplay
from skmoe.plots.regime import ExpertDisplay, RangeDisplay
from skmoe.plots.search import ChoiceDisplay, SpectrumDisplay, TraceDisplay
from skmoe.plots.style import expert_colors, expert_styles
from skmoe.plots.svg import to_svg

__all__ = [
    "BandDisplay",
    "CalibrationDisplay",
    "ChoiceDisplay",
    "CoefficientsDisplay",
    "ExpertDisplay",
    "ExpertProbabilityDisplay",
    "GateDisplay",
    "PredictionDisplay",
    "ProbabilityDisplay",
    "RangeDisplay",
    "ReliabilityDisplay",
    "ResponsibilityDisplay",
    "SeparationDisplay",
    "SpectrumDisplay",
    "TraceDisplay",
    "expert_colors",
    "expert_styles",
    "to_svg",
]
