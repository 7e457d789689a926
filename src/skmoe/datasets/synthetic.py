"""The paper's synthetic problems."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, validate_params

from skmoe.arrays.checks import RANDOM_STATE, generator
from skmoe.model.families import get_family
from skmoe.model.family import Family
from skmoe.model.parameters import MoEParameters
from skmoe.spectral.scores import Gaussian, InputLaw

__all__ = ["make_moe"]


def _unit_rows(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    M = rng.standard_normal((rows, columns))
    return M / np.linalg.norm(M, axis=1, keepdims=True)


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "n_experts": [Interval(Integral, 1, None, closed="left")],
        "family": [str, Family],
        "activation": [str, callable],
        "noise_scale": [Interval(Real, 0, None, closed="neither")],
        "orthogonal_gate": ["boolean"],
        "random_state": RANDOM_STATE,
    },
    prefer_skip_nested_validation=True,
)
def make_moe(
    n_samples: int,
    n_features: int,
    n_experts: int,
    *,
    family: str | Family = "gaussian",
    activation: Any = "linear",
    noise_scale: float = 0.1,
    orthogonal_gate: bool = False,
    input_law: InputLaw | None = None,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray, MoEParameters]:
    """Draw a mixture of experts and data from it, as in the paper's synthetic experiments.

    Experts and gate vectors are uniform on the unit sphere, the last gate vector is zero, inputs are standard
    Gaussian unless a law is given.

    Parameters
    ----------
    n_samples : int
        Number of rows n.
    n_features : int
        Number of inputs d.
    n_experts : int
        Number of experts k.
    family : str or Family
        Law of an expert's output, one that `skmoe.MoERegressor` takes; the paper's is "gaussian".
    activation : str, callable or Activation
        The activation g of Gaussian experts.
    noise_scale : float
        Standard deviation of the noise, or the scale of another family.
    orthogonal_gate : bool
        Draw the gate vectors orthogonal to the span of the experts (the paper's assumption 3); needs
        ``n_features > n_experts``.
    input_law : law of `skmoe.scores`, default standard Gaussian
        Law of the inputs.
    random_state : int, RandomState, Generator or None
        Seed.

    Returns
    -------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    truth : MoEParameters
        With ``expert_coef``, ``gate_coef``, ``noise_scale``, ``predict``, ``log_density`` and so on.

    Examples
    --------
    >>> from skmoe import make_moe
    >>> X, y, truth = make_moe(1000, 5, 3, random_state=0)
    >>> X.shape, y.shape, truth.expert_coef.shape
    ((1000, 5), (1000,), (3, 5))
    """
    k, law = n_experts, get_family(family, activation)
    if law.predictors > 1:
        raise ValueError(f"family {law.name!r} has experts of several predictors; make_moe draws those of one")
    if orthogonal_gate and n_features <= k:
        raise ValueError(
            f"orthogonal_gate needs more features than experts; got n_features={n_features}, n_experts={k}"
        )
    # an int is taken as it is, since problems of the paper are known by their seeds
    rng = np.random.default_rng(int(random_state)) if isinstance(random_state, Integral) else generator(random_state)
    A = _unit_rows(rng, k, n_features)
    W = np.zeros((k, n_features))
    if k > 1:
        W[:-1] = _unit_rows(rng, k - 1, n_features)
        if orthogonal_gate:
            basis = np.linalg.qr(A.T)[0]
            W[:-1] -= W[:-1] @ basis @ basis.T
            W[:-1] /= np.linalg.norm(W[:-1], axis=1, keepdims=True)
    truth = MoEParameters(A, W, noise_scale, family=law)
    X = (input_law or Gaussian()).sample(n_samples, n_features, rng)
    y, _ = truth.sample(X, rng)
    return X, y, truth
