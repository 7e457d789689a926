r"""Score functions S2, S3 of an input law, :math:`S_m(x) = (-1)^m \nabla^m p(x) / p(x)` (paper: equations 5, 6).

A law is a list of Gaussian components. For one Gaussian, S_m is the Hermite tensor of the standardised input taken
back through the whitener; for a mixture it is the average of those of its components under their posterior
probabilities, so one pass per component and no derivative code:

.. math:: S_m(x) = \sum_j r_j(x)\; \mathrm{He}_m(V_j (x - \mu_j)) \cdot (V_j, \dots, V_j).
"""

from skmoe.spectral.scores.fitting import fit_law
from skmoe.spectral.scores.gaussian import Component, Gaussian, InputLaw
from skmoe.spectral.scores.mixture import GaussianMixture
from skmoe.spectral.scores.per_row import second_score, third_score

__all__ = ["Component", "Gaussian", "GaussianMixture", "InputLaw", "fit_law", "second_score", "third_score"]
