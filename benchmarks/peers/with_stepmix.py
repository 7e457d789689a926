"""StepMix: latent classes with covariates, here y as a Gaussian measurement and x as covariates of the class.

That is a mixture of experts whose experts are constants: StepMix has no regression of y on x within a class. So it gets
more classes than there are experts, as many as BIC asks for.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from . import Fitted, Method, packaged

MORE_CLASSES = 10


def fit(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Fitted:
    from stepmix.stepmix import StepMix

    rows = y[:, None]
    models = [
        StepMix(
            size,
            measurement="gaussian_full",
            structural="covariate",
            n_steps=1,
            abs_tol=1e-6,
            max_iter=300,
            progress_bar=0,
            random_state=seed,
        ).fit(rows, X)
        for size in (k, MORE_CLASSES)
    ]
    best = min(models, key=lambda model: model.bic(rows, X))
    means = best.get_parameters()["measurement"]["means"][:, 0]

    def log_density(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return logsumexp(best._sm.log_likelihood(X) + best._mm.log_likelihood(y[:, None]), axis=1)

    def predict(X: np.ndarray) -> np.ndarray:
        return np.exp(best._sm.log_likelihood(X)) @ means

    return Fitted(predict, log_density, None, len(means))


PEER = packaged(
    "stepmix",
    {
        "StepMix": Method(
            fit, "one step, y Gaussian in each class, x as covariates; k or 10 classes by BIC, one random start each"
        )
    },
    "stepmix.stepmix",
)
