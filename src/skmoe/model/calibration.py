r"""Correction of predictive distributions by the normal scores of held-out rows.

Where a predictive distribution F is right, normal scores :math:`z = \Phi^{-1}(F(y))` of new rows are standard Gaussian.
A `Calibration` takes them to be Student t about a shift with a scale instead, and so corrects every F to

.. math:: G(y) = T_\nu\big((z - m) / s\big), \qquad
    G'(y) = F'(y)\; \frac{t_\nu\big((z - m) / s\big)}{s\, \phi(z)}
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from skmoe.model import student

__all__ = ["Calibration"]

FARTHEST = 40.0  # normal scores beyond are cut for the fit: probabilities of 1e-350
MOST_LOG_SCALE = 5.0  # scales are from exp(-5) to exp(5)
LEAST_DOF = 2.1  # so that the corrected distribution of a Gaussian has a variance
SHIFT_PRIOR = 0.2  # standard deviation of the prior on the shift; 25 rows weigh as much
LOG_SCALE_PRIOR = 0.3  # likewise on the log of the scale; 6 rows weigh as much
TAIL_PRIOR = 0.1  # mean of the exponential prior on reciprocal degrees of freedom


@dataclass(frozen=True)
class Calibration:
    """Student t distribution of normal scores, by which predictive distributions are corrected.

    Parameters
    ----------
    shift : float
        Location of the scores, 0 where predictive distributions are neither too low nor too high.
    scale : float
        Their scale, above 1 where predictive distributions are too narrow.
    dof : float
        Their degrees of freedom, infinite for a Gaussian.
    """

    shift: float = 0.0
    scale: float = 1.0
    dof: float = float("inf")

    @property
    def _dof(self) -> float | None:
        return None if np.isinf(self.dof) else self.dof

    def log_slope(self, z: np.ndarray) -> np.ndarray:
        """Return the log of the factor by which the density at normal score z is corrected."""
        s = self.standardised(z)
        return student.log_density(s, self._dof) - student.log_density(z) - float(np.log(self.scale))

    def standardised(self, z: np.ndarray) -> np.ndarray:
        """Return normal scores less their shift, in units of their scale."""
        return (z - self.shift) / self.scale

    def normal(self, s: np.ndarray) -> np.ndarray:
        """Return normal scores from standardised ones."""
        return self.shift + self.scale * s

    def levels(self, z: np.ndarray) -> np.ndarray:
        """Return the corrected probability below normal score z, to relative precision in the lower tail."""
        return student.cdf(self.standardised(z), self._dof)

    @classmethod
    def fit(cls, z: np.ndarray, weight: np.ndarray | None = None) -> Calibration:
        """Fit a calibration by penalised maximum likelihood, shrunk towards no correction.

        Parameters
        ----------
        z : (n,) array
            Normal scores of rows that were held out; infinite ones are cut to 40 and undefined ones left out.
        weight : (n,) array, optional
            Row weights, on the scale of counts.
        """
        z = np.asarray(z, dtype=np.float64)
        w = np.ones_like(z) if weight is None else np.asarray(weight, dtype=np.float64)
        defined = ~np.isnan(z)
        z, w = np.clip(z[defined], -FARTHEST, FARTHEST), w[defined]
        rows = max(float(np.sum(w)), 1.0)
        bounds = [(-FARTHEST, FARTHEST), (-MOST_LOG_SCALE, MOST_LOG_SCALE), (0.0, 1 / LEAST_DOF)]
        found = optimize.minimize(
            _loss,
            [0.0, 0.0, 0.05],
            args=(z, w, rows),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": 100},
        )
        shift, log_scale, u = found.x
        return cls(float(shift), float(np.exp(log_scale)), float("inf") if u < 1e-6 else float(1 / u))


def _loss(theta: np.ndarray, z: np.ndarray, w: np.ndarray, rows: float) -> tuple[float, np.ndarray]:
    """Return the negative log posterior per row of shift, log scale and reciprocal dof, with its gradient."""
    shift, log_scale, u = theta
    scale = np.exp(log_scale)
    s = (z - shift) / scale
    density, over_s, over_u = student.log_density_and_slopes(s, u)
    w_over_s, total = w * over_s, np.sum(w)
    value = w @ density - total * log_scale
    slopes = np.array([-np.sum(w_over_s) / scale, -(w_over_s @ s) - total, w @ over_u])
    prior = 0.5 * (shift / SHIFT_PRIOR) ** 2 + 0.5 * (log_scale / LOG_SCALE_PRIOR) ** 2 + u / TAIL_PRIOR
    prior_slopes = np.array([shift / SHIFT_PRIOR**2, log_scale / LOG_SCALE_PRIOR**2, 1 / TAIL_PRIOR])
    return float(prior - value) / rows, (prior_slopes - slopes) / rows
