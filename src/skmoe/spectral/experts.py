r"""Algorithm 1: the experts, read off the moments of inputs and transformed outputs, without the gate.

Scores, label transforms, moments and a decomposition meet here. The default goes beyond the paper in what is
estimated, not in what is assumed: moments are regressed on Hermite features under a reference law narrower than the
inputs' own (`skmoe.spectral.scores.reference`), and T1, T2, T3 are matched together, each by what it knows
(`skmoe.spectral.decomposition.matching`). ``moments="plain"`` with ``decomposition="orth-als"`` or ``"power"`` is the paper.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from skmoe.model.activations import Activation, get_activation
from skmoe.rows.arrays import Array, array_namespace, columns, to_numpy
from skmoe.rows.blocks import block_rows_for, in_memory, sum_over_blocks, take_rows
from skmoe.rows.checks import (
    check_enough_rows,
    check_n_experts,
    check_noise_scale,
    check_rows,
    check_spectral_rank,
    check_varies,
    generator,
)
from skmoe.rows.products import tensor
from skmoe.spectral.decomposition import DECOMPOSITIONS, Decomposition, RankWarning, WeightMode, orth_als
from skmoe.spectral.labels import LabelTransform, activation_moments, label_transform
from skmoe.spectral.moments import hermite_regression, leading_basis, score_moment
from skmoe.spectral.moments.regression import Moments, order_slices, pick_rows, regression_dimension
from skmoe.spectral.scores import Gaussian, InputLaw, Reference, choose_reference, fit_law

__all__ = ["ExpertsResult", "learn_experts", "plain_tensor_method"]

Decomposer = str | Callable[..., Decomposition]

SAMPLE_ROWS = 20_000  # rows on which a reference law is judged
SHARE_SD = 0.2  # spread of an expert's share about 1/k, in units of 1/k, before the data speak
GATE_CURVATURE = 0.06  # spread of a gate's mean curvature along its expert, relative to that of its share


@dataclass(frozen=True)
class ExpertsResult:
    """Experts and how sure the moments are of them; see `learn_experts`."""

    coef: np.ndarray
    weights: np.ndarray
    noise_scale: float
    spectrum: np.ndarray
    gap: float
    rank: int
    noise_level: float


def learn_experts(
    X: Any,
    y: Any,
    n_experts: int,
    *,
    activation: Any = "linear",
    noise_scale: float | None = None,
    input_law: Any = None,
    decomposition: Decomposer = "matching",
    moments: str = "regression",
    random_state: int | np.random.Generator | None = None,
) -> ExpertsResult:
    """Learn the experts of a mixture without knowing its gate (paper: algo. regressrecov).

    Assumes experts of unit length without intercepts, as the paper does.

    Parameters
    ----------
    X : (n, d) array        y : (n,) array
    n_experts : int, at most d
    activation : name, callable or Activation
    noise_scale : float, optional
        Estimated from the second moment of y if not given.
    input_law : law of `skmoe.spectral.scores`, "gaussian", "mixture" or None
        The law of the inputs; a name fits it to X, None is the standard Gaussian.
    decomposition : {"matching", "orth-als", "power"} or callable
        A callable is given T2, T3, k and a Generator, and returns a `skmoe.spectral.decomposition.Decomposition`.
    moments : {"regression", "plain"}
        Hermite regression under a reference law, or the paper's averages.
    random_state : int, Generator or None

    Returns
    -------
    ExpertsResult
        ``coef`` (k, d) unit experts, ``weights`` (k,) their shares of the rows, falling ("power" and "orth-als" give
        fewer than k where T2 has fewer positive eigenvalues); ``noise_scale``;
        ``spectrum``, the eigenvalues of T2 in units of shares, ``gap``, how far the k-th stands above the next,
        relative to itself, ``noise_level``, what sampling noise alone gives as an eigenvalue, and ``rank``, how many
        stand above it.

    Examples
    --------
    >>> from skmoe import learn_experts, make_moe, metrics
    >>> X, y, truth = make_moe(5000, 5, 2, random_state=0)
    >>> experts = learn_experts(X, y, 2, noise_scale=0.1, random_state=0)
    >>> bool(metrics.regressor_fit(experts.coef, truth.expert_coef) > 0.99)
    True
    """
    X, y = check_rows(X, y)
    n, d = X.shape
    k = check_n_experts(n_experts)
    g = get_activation(activation)
    if not callable(decomposition) and decomposition not in DECOMPOSITIONS:
        raise ValueError(
            f"decomposition must be one of {sorted(DECOMPOSITIONS)}, or a function of (T2, T3, k, random_state); "
            f"got {decomposition!r}"
        )
    if moments not in ("regression", "plain"):
        raise ValueError(f'moments must be "regression" or "plain"; got {moments!r}')
    check_spectral_rank(k, d)
    check_enough_rows(n, 2 * (k + 1) * (d + 1), f"the moments of {k} experts over {d} columns")
    check_varies(y)
    if noise_scale is not None:
        noise_scale = check_noise_scale(noise_scale)
    label_transform(g, noise_scale or 1.0)  # refuse an activation that does not qualify before any work
    rng = generator(random_state, "learn_experts")
    law = _law(input_law, X, rng)
    learn = _by_regression if moments == "regression" else _by_averages
    result = learn(X, y, k, g, noise_scale, law, decomposition, rng)
    if result.rank < k:
        warnings.warn(
            f"T2 shows {result.rank} directions above its sampling noise ({result.noise_level:.2g}), fewer than the "
            f"{k} experts asked for (spectrum {np.array2string(result.spectrum[:k], precision=2)}): the weakest "
            "experts may be noise; use more rows or fewer experts",
            RankWarning,
            stacklevel=2,
        )
    return result


def _decompose(
    decomposition: Decomposer, T2: np.ndarray, T3: np.ndarray, k: int, rng: Any, **knowledge: Any
) -> Decomposition:
    decompose = decomposition if callable(decomposition) else DECOMPOSITIONS[decomposition]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # `learn_experts` reports the rank in terms of the noise
        found = decompose(T2, T3, k, rng, **knowledge)
    if not isinstance(found, Decomposition) or found.components.shape[1:] != (len(T2),) or found.rank > k:
        raise ValueError(
            f"while decomposing T3: decomposition must return a skmoe.spectral.decomposition.Decomposition of at most {k} "
            f"components over {len(T2)} columns; got {found!r}"
        )
    return found


def _law(input_law: Any, X: Array, rng: np.random.Generator) -> InputLaw:
    if input_law is None:
        return Gaussian()
    if isinstance(input_law, str):
        return fit_law(X, input_law, rng)
    if not hasattr(input_law, "components"):
        raise TypeError(
            f'input_law must be "gaussian", "mixture", None or a law of skmoe.spectral.scores; got {input_law!r}'
        )
    input_law.components(X.shape[1])
    return input_law


def _stretched(g: Activation, spread: float) -> Activation:
    """The activation of an index of unit variance: z -> g(spread z)."""
    return Activation(lambda z: g(spread * z), kinks=tuple(kink / spread for kink in g.kinks), name=g.name)


def _estimate_noise(mean_square: float, g: Activation) -> float:
    """Noise scale from E[y^2] = E[g(Z)^2] + sigma^2; at least a hundredth of the output's size."""
    explained = activation_moments(g)[2, 0]
    return float(np.sqrt(max(mean_square - explained, 1e-4 * mean_square)))


def _mean_and_variance(y: Array, f: Callable[[Array], Array]) -> tuple[float, float]:
    """Mean and variance of f(y)."""

    def kernel(t: Array) -> tuple[Array, Array]:
        v = f(t)
        return array_namespace(v).sum(v), array_namespace(v).sum(v**2)

    total, squares = (float(s) / y.shape[0] for s in sum_over_blocks(kernel, y, block_rows=block_rows_for(8)))
    return total, max(squares - total**2, 0.0)


def _by_averages(
    X: Array, y: Array, k: int, g: Activation, sigma: float | None, law: InputLaw, decomposition: Decomposer, rng: Any
) -> ExpertsResult:
    """The paper: plain T2, its leading space, plain T3 inside it."""
    sigma = _estimate_noise(_mean_and_variance(y, lambda v: v**2)[0], g) if sigma is None else sigma
    t = label_transform(g, sigma)
    T2 = score_moment(X, y, lambda Z, v: t.quadratic(v), law, 2) / t.c2
    values, vectors = linalg.eigh(T2)
    U = vectors[:, ::-1][:, :k]
    T3 = score_moment(X, y, lambda Z, v: t.cubic(v), law, 3, basis=U) / t.c3
    found = _decompose(decomposition, U.T @ T2 @ U, T3, k, rng)
    variance = _mean_and_variance(y, t.quadratic)[1] / t.c2**2 / X.shape[0]
    return _result(found, found.components @ U.T, sigma, values[::-1], variance, k)


def _by_regression(
    X: Array, y: Array, k: int, g: Activation, sigma: float | None, law: InputLaw, decomposition: Decomposer, rng: Any
) -> ExpertsResult:
    """Hermite regression under a reference law, in all dimensions or inside a leading space of T2."""
    n, d = X.shape
    q = regression_dimension(n, d, k)
    U, spectrum = np.eye(d), None
    if q < d:
        first = sigma or _estimate_noise(_mean_and_variance(y, lambda v: v**2)[0], g)
        t = label_transform(g, first)
        U, T2 = leading_basis(X, y, t.quadratic, law, np.sign(t.c2), q, rng)
        spectrum = linalg.eigvalsh(T2 / t.c2)[::-1]
    rows = pick_rows(n, SAMPLE_ROWS, rng)
    (some,) = in_memory(X) if rows is None else take_rows((X,), rows)
    reference = choose_reference(law, U, to_numpy(some))
    g_reference = _stretched(g, reference.spread)
    if sigma is None:
        sigma = _estimate_noise(_reference_mean_square(X, y, reference), g_reference)
    t = label_transform(g_reference, sigma)
    coef, variances = hermite_regression(X, y, lambda Z, v: t.all(v), reference, q, rng)
    found_moments = _moments(coef, variances, t, q)
    knowledge = {}
    if decomposition == "matching":
        knowledge = {
            "T1": found_moments.T1,
            "variances": found_moments.variances,
            "modes": _weight_modes(t, k, d),
            "share_sd": SHARE_SD / k,
        }
    found = _decompose(decomposition, found_moments.T2, found_moments.T3, k, rng, **knowledge)
    inner = linalg.eigvalsh(found_moments.T2)[::-1]
    return _result(
        found,
        reference.experts(found.components),
        sigma,
        inner if spectrum is None else spectrum,
        float(found_moments.variances[1]),
        k,
    )


def _reference_mean_square(X: Array, y: Array, reference: Reference) -> float:
    """Mean of y^2 under the reference law."""

    def kernel(x: Array, t: Array) -> tuple[Array, Array]:
        xp = array_namespace(x)
        w = reference.weights(reference.coordinates(columns(x)))
        return xp.sum(w), xp.sum(w * t**2)

    total, squares = sum_over_blocks(kernel, X, y, block_rows=block_rows_for(2 * X.shape[1]))
    return float(squares) / float(total)


def _moments(coef: np.ndarray, variances: np.ndarray, t: LabelTransform, q: int) -> Moments:
    """T1, T2, T3 in units of shares, from the coefficients of P1, P2, P3."""
    scale = [t.hermite[r - 1, r] for r in (1, 2, 3)]
    T1, T2, T3 = (tensor(coef[r - 1, order_slices(q)[r]] / scale[r - 1], q, r) for r in (1, 2, 3))
    return Moments(T1, T2, T3, np.array([variances[r - 1, r] / scale[r - 1] ** 2 for r in (1, 2, 3)]))


def _weight_modes(t: LabelTransform, k: int, d: int) -> list[WeightMode]:
    r"""What a gate that is not orthogonal to the experts does to an expert's weight at each order.

    Beside the share :math:`p_i` there enter :math:`E[a_i^\top \nabla p_i]`, through the next Hermite coefficient of the
    label transform (none for odd activations), and :math:`a_i^\top E[\nabla^2 p_i] a_i`. Both are small and about zero;
    their spreads here are those of a gate of unit length in general position.
    """
    unit = (1 - 1 / k) / k
    if unit == 0:
        return []
    c = t.hermite
    slope = [float(c[r - 1, r + 1] / c[r - 1, r]) for r in (1, 2, 3)]
    curve = [float(r + c[r - 1, r + 2] / (2 * c[r - 1, r])) for r in (1, 2, 3)]
    modes = [WeightMode(GATE_CURVATURE * unit, curve)]
    if max(map(abs, slope)) > 1e-6:
        modes.append(WeightMode(unit / np.sqrt(d), slope))
    return modes


def _result(
    found: Decomposition, coef: np.ndarray, sigma: float, spectrum: np.ndarray, variance: float, k: int
) -> ExpertsResult:
    following = spectrum[k] if len(spectrum) > k else 0.0
    gap = float((spectrum[k - 1] - following) / abs(spectrum[k - 1]))
    # a symmetric matrix of pure noise has its eigenvalues within twice its off-diagonal deviation times sqrt(d)
    noise_level = float(2 * np.sqrt(variance * len(spectrum)))
    rank = int(np.sum(spectrum > noise_level))
    return ExpertsResult(coef, found.weights, sigma, spectrum, gap, rank, noise_level)


def plain_tensor_method(
    X: Any,
    y: Any,
    n_experts: int,
    *,
    activation: Any,
    input_law: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> Decomposition:
    r"""The tensor method for mixtures of generalised linear models, as a baseline (paper: eq. tensorpass, tensorfail).

    Decomposes :math:`E[y\, S_3(x)]`, which is :math:`E[g'''(Z)] \sum_i p_i a_i^{\otimes 3}` when the gate does not look
    at the inputs, and mixes experts with gate vectors when it does: no number of rows cures that. Two things the
    paper does not say: for linear, ReLU and softplus experts :math:`E[g'''(Z)] = 0`, so there is nothing to
    decompose; and for two experts with an odd activation (up to a constant) all the mixed terms vanish by symmetry,
    so that it stays right.
    """
    X, y = check_rows(X, y)
    k = check_n_experts(n_experts)
    check_spectral_rank(k, X.shape[1])
    check_varies(y)
    g = get_activation(activation)
    scale = activation_moments(g)[1, 3]
    if abs(scale) < 1e-9:
        raise ValueError(
            f"activation {g.name!r} has E[g'''(Z)] = 0, so E[y S3(x)] holds nothing of the experts; use learn_experts"
        )
    rng = generator(random_state, "plain_tensor_method")
    T3 = score_moment(X, y, lambda Z, t: t, _law(input_law, X, rng), 3) / scale
    # no T2 belongs to this T3: the leading space comes from T3's own unfolding
    U, values, _ = linalg.svd(T3.reshape(X.shape[1], -1), full_matrices=False)
    return orth_als((U * values) @ U.T, T3, k, rng)
