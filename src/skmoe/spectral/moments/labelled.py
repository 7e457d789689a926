r"""T2 and T3 with their label transforms: :math:`T_m = E[P_m(y)\, S_m(x)]` (paper: theorem 1 and Algorithm 1).

The transforms are those of the index :math:`u = a^\top x` of a unit expert. For a component :math:`N(\mu_j, s_j^2 I)`
of the input law that is a Gaussian of variance :math:`s_j^2`, and Stein's identity gives
:math:`E[P_m(y) S_m(x)] = c_m s^{-m} \sum_i p_i\, a_i^{\otimes m}` with the constant :math:`c_m` of the activation
:math:`z \mapsto g(s z)`. A mixture's moment is the sum of its components', each with transforms of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.arrays.checks import check_rows, check_weight, generator
from skmoe.arrays.namespaces import Array, array_namespace, to_device
from skmoe.arrays.threads import with_one_blas_thread
from skmoe.model.activations import get_activation
from skmoe.spectral.moments.plain import score_moment
from skmoe.spectral.options import validated
from skmoe.spectral.outputs import ActivationOutputs, IndexLaw, Outputs, Transform
from skmoe.spectral.scores.fitting import as_law
from skmoe.spectral.scores.gaussian import InputLaw

__all__ = ["LabelledScores", "index_stds", "second_moment", "third_moment"]


def index_stds(law: InputLaw, d: int) -> tuple[float, ...]:
    """Return the standard deviation of an index in each component, its variance being the mean over unit directions."""
    return tuple(float(np.sqrt(np.trace(c.covariance) / d)) for c in law.components(d))


@dataclass(frozen=True)
class LabelledScores:
    """Scores of a law, and the label transforms of a unit expert's index in each of its components."""

    law: InputLaw
    stds: tuple[float, ...]
    transforms: tuple[Transform, ...]

    @classmethod
    def of(cls, law: InputLaw, d: int, outputs: Outputs, sigma: float) -> LabelledScores:
        """Make transforms for the mean variance of an index over unit directions, exact where covariances are s^2 I."""
        stds = index_stds(law, d)
        known = {std: outputs.transform(sigma, IndexLaw(std)) for std in set(stds)}
        return cls(law, stds, tuple(known[std] for std in stds))

    def labels(self, order: int, y: Array, shares: bool = True) -> Array:
        """Return P_order(y) of each component, over its constant if moments are to be in units of shares: (m, b)."""
        labels = [t.of_order(order, y) / (t.constant(order) if shares else 1.0) for t in self.transforms]
        return array_namespace(y).stack(labels)

    def moment(
        self,
        X: Array,
        y: Array,
        order: int,
        *,
        basis: np.ndarray | None = None,
        weight: Array | None = None,
        shares: bool = True,
    ) -> np.ndarray:
        """Return the average over rows of P_order(y) S_order(x), in units of shares if `shares`."""
        scale = np.array(self.stds)[:, None] ** order if shares else np.ones((len(self.stds), 1))

        def scaled(Z: Array, v: Array) -> Array:
            return to_device(scale, v) * self.labels(order, v, shares)

        return score_moment(X, y, scaled, self.law, order, basis=basis, weight=weight)

    def mixed_label(self, order: int, Z: Array, y: Array) -> Array:
        """Return the label of a row in units of shares, averaged over the components by their posterior: (b,)."""
        return array_namespace(y).sum(self.labels(order, y) * self.law.responsibilities(Z), axis=0)


_validated = validated("activation", "noise_scale", "random_state", shares=["boolean"])


def _moment(
    X: Any,
    y: Any,
    order: int,
    noise_scale: float,
    activation: Any,
    input_law: Any,
    shares: bool,
    sample_weight: Any,
    random_state: Any,
) -> np.ndarray:
    X, y = check_rows(X, y)
    weight = None if sample_weight is None else check_weight(X, sample_weight)
    law = as_law(input_law, X, generator(random_state, "moment"), weight)
    scores = LabelledScores.of(law, X.shape[1], ActivationOutputs(get_activation(activation)), float(noise_scale))
    return scores.moment(X, y, order, weight=weight, shares=shares)


@_validated
@with_one_blas_thread
def second_moment(
    X: Any,
    y: Any,
    *,
    noise_scale: float,
    activation: Any = "linear",
    input_law: Any = None,
    shares: bool = False,
    sample_weight: Any = None,
    random_state: Any = None,
) -> np.ndarray:
    r"""Return the paper's :math:`\hat T_2`, the mean over rows of :math:`P_2(y)\, S_2(x)` (paper: theorem 1).

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    noise_scale : float
        Standard deviation of the noise.
    activation : str, callable or Activation
        The experts' activation g.
    input_law : law of `skmoe.scores`, "gaussian", "mixture", "auto" or None
        The law of the inputs, as for `learn_experts`. Where a covariance is no multiple of the identity, the label
        transform is that of the index's mean variance over unit directions; `learn_experts` does better there.
    shares : bool
        Divide by the constant of theorem 1, so that the weights of the experts in it are their shares of the rows.
    sample_weight : (n,) array, optional
        Row weights.
    random_state : int, RandomState, Generator or None
        Random numbers for fitting a law.

    Returns
    -------
    (d, d) array
        Symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from skmoe import make_moe, moments
    >>> X, y, truth = make_moe(50_000, 4, 2, orthogonal_gate=True, random_state=0)
    >>> T2 = moments.second_moment(X, y, noise_scale=0.1, shares=True)
    >>> A, p = truth.expert_coef, truth.gate_proba(X).mean(axis=0)
    >>> bool(np.max(np.abs(T2 - (A.T * p) @ A)) < 0.03)
    True
    """
    return _moment(X, y, 2, noise_scale, activation, input_law, shares, sample_weight, random_state)


@_validated
@with_one_blas_thread
def third_moment(
    X: Any,
    y: Any,
    *,
    noise_scale: float,
    activation: Any = "linear",
    input_law: Any = None,
    shares: bool = False,
    sample_weight: Any = None,
    random_state: Any = None,
) -> np.ndarray:
    r"""Return the paper's :math:`\hat T_3`, the mean over rows of :math:`P_3(y)\, S_3(x)` (paper: theorem 1).

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    noise_scale : float
        Standard deviation of the noise.
    activation : str, callable or Activation
        The experts' activation g.
    input_law : law of `skmoe.scores`, "gaussian", "mixture", "auto" or None
        The law of the inputs, as for `second_moment`.
    shares : bool
        Divide by the constant of theorem 1, so that the weights of the experts in it are their shares of the rows.
    sample_weight : (n,) array, optional
        Row weights.
    random_state : int, RandomState, Generator or None
        Random numbers for fitting a law.

    Returns
    -------
    (d, d, d) array
        Symmetric.

    Examples
    --------
    Both moments, then the decomposition of the paper's experiments:

    >>> from skmoe import decomposition, make_moe, metrics, moments
    >>> X, y, truth = make_moe(20_000, 5, 2, orthogonal_gate=True, random_state=0)
    >>> T2 = moments.second_moment(X, y, noise_scale=0.1, shares=True)
    >>> T3 = moments.third_moment(X, y, noise_scale=0.1, shares=True)
    >>> found = decomposition.orth_als(T2, T3, 2, random_state=0)
    >>> bool(metrics.regressor_fit(found.components, truth.expert_coef) > 0.98)
    True
    """
    return _moment(X, y, 3, noise_scale, activation, input_law, shares, sample_weight, random_state)
