"""The tensor method for mixtures of generalised linear models, which is biased by a gate: a baseline."""

from __future__ import annotations

from typing import Any

from scipy import linalg

from skmoe.arrays.checks import check_unit_rows, check_varies, generator
from skmoe.arrays.threads import with_one_blas_thread
from skmoe.model.activations import get_activation
from skmoe.spectral.decomposition import Decomposition, orth_als_t2
from skmoe.spectral.experts import check_spectral_rank
from skmoe.spectral.labels import activation_moments
from skmoe.spectral.moments import score_moment
from skmoe.spectral.options import validated
from skmoe.spectral.scores.fitting import as_law

__all__ = ["plain_tensor_method"]


@validated("n_experts", "activation", "random_state")
@with_one_blas_thread
def plain_tensor_method(
    X: Any, y: Any, n_experts: int, *, activation: Any, input_law: Any = None, random_state: Any = None
) -> Decomposition:
    r"""Learn experts by the tensor method for generalised linear models, a baseline (paper: equations 3, 4).

    It decomposes :math:`E[y\, S_3(x)]`, which is :math:`E[g'''(Z)] \sum_i p_i a_i^{\otimes 3}` when the gate does not
    depend on the inputs, and mixes experts with gate vectors when it does, however many rows there are. Not in the
    paper: for linear, ReLU and softplus experts :math:`E[g'''(Z)] = 0`, so there is nothing to
    decompose; and for two experts with an odd activation (up to a constant) all the mixed terms vanish by symmetry,
    so that the method is consistent.

    Parameters
    ----------
    X : (n, d) array
        Inputs.
    y : (n,) array
        Outputs.
    n_experts : int
        Number of experts k, at most d.
    activation : str, callable or Activation
        The experts' activation g.
    input_law : law of `skmoe.scores`, "gaussian", "mixture" or None
        The law of the inputs, as for `learn_experts`.
    random_state : int, RandomState, Generator or None
        Draws the starts of the decomposition.

    Returns
    -------
    Decomposition
        ``components`` (k, d) of unit length, and their ``weights``.

    Examples
    --------
    Without a gate the experts are found; with one they are not, however many rows there are.

    >>> import numpy as np
    >>> from skmoe import make_moe, metrics, plain_tensor_method
    >>> from skmoe.model import MoEParameters
    >>> _, _, truth = make_moe(10, 6, 3, activation="tanh", orthogonal_gate=True, random_state=0)
    >>> X = np.random.default_rng(0).standard_normal((200_000, 6))
    >>> for length in (0.0, 2.0):
    ...     model = MoEParameters(truth.A, length * truth.W, 0.1, family="tanh")
    ...     y, _ = model.sample(X, np.random.default_rng(1))
    ...     found = plain_tensor_method(X, y, 3, activation="tanh", random_state=0)
    ...     print(metrics.regressor_fit(found.components, truth.A) > 0.95)
    True
    False
    """
    X, y = check_unit_rows(X, y, standard=input_law is None)
    check_spectral_rank(n_experts, X.shape[1])
    check_varies(y)
    g = get_activation(activation)
    scale = activation_moments(g)[1, 3]
    if abs(scale) < 1e-9:
        raise ValueError(
            f"activation {g.name!r} has E[g'''(Z)] = 0, so E[y S3(x)] does not depend on the experts; use learn_experts"
        )
    rng = generator(random_state, "plain_tensor_method")
    T3 = score_moment(X, y, lambda Z, t: t, as_law(input_law, X, rng), 3) / scale
    # no T2 belongs to this T3: the leading space comes from T3's own unfolding
    U, values, _ = linalg.svd(T3.reshape(X.shape[1], -1), full_matrices=False)
    return orth_als_t2((U * values) @ U.T, T3, n_experts, rng)
