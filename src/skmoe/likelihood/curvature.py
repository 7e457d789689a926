r"""Derivatives of the observed likelihood over (A, W, log noise), exact, in one pass each.

A row's log density is :math:`\ell = \log \sum_i e^{L_i}` with :math:`L_i = \log p_i + f_i`, the log of the gate plus
the log of a Gaussian. Over the channels :math:`\eta_i = a_i^\top x`, :math:`u_i = w_i^\top x` and
:math:`\tau_i = \log\sigma_i`, with responsibilities :math:`r`,

.. math:: \nabla \ell = E_r[\nabla L], \qquad \nabla^2 \ell = E_r[\nabla^2 L] + \mathrm{Cov}_r(\nabla L),

so a row's Hessian is a small matrix of channel weights times :math:`x x^\top`. Letters below: ``alpha`` is
:math:`\partial f_i / \partial \eta_i`, ``kappa`` is :math:`-\partial^2 f_i / \partial \eta_i^2`, ``t`` is
:math:`\partial f_i / \partial \tau_i`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skmoe.model.activations import Activation
from skmoe.model.gate import gate_channels
from skmoe.model.parameters import Posterior
from skmoe.rows.arrays import Array, array_namespace, to_numpy
from skmoe.rows.blocks import block_rows_for
from skmoe.rows.products import gram_channels, unpack_symmetric, weighted_grams

if TYPE_CHECKING:
    from skmoe.likelihood.joint import JointLikelihood, Theta

__all__ = ["Curvature", "gradient", "information", "score_outer"]


@dataclass(frozen=True)
class Curvature:
    """The objective (per row) at a point, with its derivatives over (A, W, log noise) laid out as one vector."""

    log_likelihood: float
    objective: float
    share: np.ndarray
    gradient: np.ndarray  # (p,)
    information: np.ndarray  # (p, p), the negative Hessian; empty where only the gradient was asked for


def weighted(C: Array, weight: Array | None) -> Array:
    return C if weight is None else C * weight


def _second_derivative(g: Activation, z: Array) -> Array:
    """Differentiate g' by central differences, taken as zero at kinks, where a difference would see a spike."""
    xp = array_namespace(z)
    step = 6e-6 * xp.maximum(xp.abs(z), xp.ones_like(z))
    second = (g.prime(z + step) - g.prime(z - step)) / (2 * step)
    for kink in g.kinks:
        second = xp.where(xp.abs(z - kink) <= step, xp.zeros_like(z), second)
    return second


def expert_expert_weights(RA: Array, diagonal: Array) -> Array:
    """Channel weights of the experts' blocks i <= j: r_i alpha_i r_j alpha_j, plus a diagonal part."""
    rows = []
    for i in range(RA.shape[0]):
        products = RA[i : i + 1, :] * RA[i:, :]
        products[0, :] += diagonal[i, :]
        rows.append(products)
    return array_namespace(RA).concat(rows, axis=0)


def expert_gate_weights(RA: Array, R: Array) -> Array:
    """Channel weights of the blocks (expert i, gate j < k): r_i alpha_i (r_j - delta_ij)."""
    rows, gates = [], R.shape[0] - 1
    for i in range(RA.shape[0]):
        products = RA[i : i + 1, :] * R[:-1, :]
        if i < gates:
            products[i, :] -= RA[i, :]
        rows.append(products)
    return array_namespace(RA).concat(rows, axis=0)


def _channels(likelihood: JointLikelihood, post: Posterior, sigma: Array) -> tuple[Array, Array]:
    """First derivatives alpha and t (k, b) of each expert's log density."""
    scaled = post.residual / sigma[:, None]
    alpha = scaled / sigma[:, None]
    return alpha if likelihood.g.linear else alpha * likelihood.g.prime(post.eta), scaled**2 - 1


def _grouped(likelihood: JointLikelihood, C: Array) -> list[Array]:
    """Channels (k, b) added up over the experts that share a noise scale: one (b,) row each."""
    xp = array_namespace(C)
    return [xp.sum(C[group, :], axis=0) for group in likelihood.noise_groups]


def _gradient_kernel(likelihood: JointLikelihood, theta: Theta) -> Callable[..., tuple[Any, ...]]:
    sigma = likelihood.on_device(theta)[2]

    def kernel(post: Posterior, U: Array, V: Array, weight: Array | None) -> tuple[Any, ...]:
        xp = array_namespace(U)
        alpha, t = _channels(likelihood, post, sigma)
        R, E = weighted(post.R, weight), weighted(post.R - post.P, weight)
        noise = [xp.sum(row) for row in _grouped(likelihood, R * t)]
        log_likelihood = xp.sum(weighted(post.log_density, weight))
        return log_likelihood, xp.sum(R, axis=1), (R * alpha) @ U.T, E[:-1, :] @ V.T, *noise

    return kernel


def _curvature(likelihood: JointLikelihood, theta: Theta, sums: list[Any], information: np.ndarray) -> Curvature:
    log_likelihood, share, experts, gate, *noise = sums
    cost, slope = likelihood.penalty_at(theta.W)
    gradient = np.concatenate([to_numpy(experts).ravel(), (to_numpy(gate) - slope).ravel(), [float(v) for v in noise]])
    value = float(log_likelihood)
    return Curvature(value, value - cost, to_numpy(share), gradient, information)


def gradient(likelihood: JointLikelihood, theta: Theta) -> Curvature:
    """Objective and gradient per row, in one pass."""
    rows = block_rows_for(max(likelihood.De, likelihood.Dg) + 6 * likelihood.k)
    sums = likelihood.mean_of(_gradient_kernel(likelihood, theta), theta, block_rows=rows)
    return _curvature(likelihood, theta, sums, np.empty((0, 0)))


def information(likelihood: JointLikelihood, theta: Theta) -> Curvature:
    """Objective, gradient and exact negative Hessian per row, in one pass.

    All blocks over inputs are one product of channel weights against the monomials of x.
    """
    sigma = likelihood.on_device(theta)[2]
    first = _gradient_kernel(likelihood, theta)

    def kernel(post: Posterior, U: Array, V: Array, weight: Array | None) -> tuple[Any, ...]:
        alpha, t = _channels(likelihood, post, sigma)
        sums = first(post, U, V, weight)
        return (
            *sums,
            *_input_blocks(likelihood, post, alpha, sigma, U, V, weight),
            *_noise_blocks(likelihood, post, alpha, t, U, V, weight),
        )

    pairs = likelihood.k * (2 * likelihood.k - 1)
    rows = block_rows_for(max(pairs, gram_channels(likelihood.De, pairs, likelihood.X)))
    totals = likelihood.mean_of(kernel, theta, block_rows=min(rows, likelihood.block_rows))
    n_first = 4 + len(likelihood.noise_groups)
    blocks = [to_numpy(b) for b in totals[n_first:]]
    return _curvature(likelihood, theta, totals[:n_first], _assembled(likelihood, *blocks))


def _input_blocks(
    likelihood: JointLikelihood, post: Posterior, alpha: Array, sigma: Array, U: Array, V: Array, weight: Array | None
) -> tuple[Array, ...]:
    """Add up the blocks expert-expert (packed), expert-gate (full or packed), gate-gate (packed)."""
    xp = array_namespace(U)
    RA = post.R * alpha
    kappa = (1 / sigma**2)[:, None]
    if not likelihood.g.linear:
        kappa = kappa * (likelihood.g.prime(post.eta) ** 2 - post.residual * _second_derivative(likelihood.g, post.eta))
    expert = weighted(expert_expert_weights(RA, post.R * kappa - RA * alpha), weight)
    if likelihood.k == 1:
        return (weighted_grams(expert, U),)
    cross = weighted(expert_gate_weights(RA, post.R), weight)
    gate = weighted(gate_channels(post.P) - gate_channels(post.R), weight)
    if likelihood.same:
        grams = weighted_grams(xp.concat([expert, cross, gate], axis=0), U)
        first, second = expert.shape[0], expert.shape[0] + cross.shape[0]
        return grams[:first, :], grams[first:second, :], grams[second:, :]
    mixed = xp.stack([(U * cross[c, :]) @ V.T for c in range(cross.shape[0])])
    return weighted_grams(expert, U), mixed, weighted_grams(gate, V)


def _noise_blocks(
    likelihood: JointLikelihood, post: Posterior, alpha: Array, t: Array, U: Array, V: Array, weight: Array | None
) -> tuple[Array, ...]:
    """Add up the blocks noise-noise (S, S), noise-expert (S, k De) and noise-gate (S, (k-1) Dg)."""
    if not likelihood.noise_groups:
        return ()
    xp = array_namespace(U)
    R, RA, Rt = post.R, post.R * alpha, post.R * t
    T = _grouped(likelihood, Rt)
    own = _grouped(likelihood, R * (t**2 - 2 * (t + 1)))
    noise = xp.stack(T)
    square = weighted(noise, weight) @ noise.T
    experts, gates = [], []
    for s, group in enumerate(likelihood.noise_groups):
        with_expert, with_gate = RA * T[s], R * T[s]
        with_expert[group, :] -= RA[group, :] * (t[group, :] - 2)
        with_gate[group, :] -= Rt[group, :]
        experts.append(xp.reshape(weighted(with_expert, weight) @ U.T, (-1,)))
        gates.append(xp.reshape(weighted(with_gate[:-1, :], weight) @ V.T, (-1,)))
    diagonal = xp.stack([xp.sum(weighted(row, weight)) for row in own])
    return square, diagonal, xp.stack(experts), xp.stack(gates)


def _assembled(likelihood: JointLikelihood, expert: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """Lay the blocks out as one symmetric (p, p) matrix, the gate's penalty included."""
    k, a, w = likelihood.k, likelihood.k * likelihood.De, (likelihood.k - 1) * likelihood.Dg
    H, rest = np.zeros((likelihood.n_parameters,) * 2), list(others)
    H[:a, :a] = _placed(unpack_symmetric(expert), k)
    if k > 1:
        cross, gate, *rest = rest
        blocks = unpack_symmetric(cross) if likelihood.same else cross
        i, j = np.divmod(np.arange(k * (k - 1)), k - 1)
        full = np.empty((k, likelihood.De, k - 1, likelihood.Dg))
        full[i, :, j, :] = blocks
        H[:a, a : a + w] = full.reshape(a, w)
        H[a : a + w, a : a + w] = _placed(unpack_symmetric(gate), k - 1) + likelihood.penalty_information()
    if likelihood.noise_groups:
        square, diagonal, experts, gates = rest
        H[a + w :, a + w :] = square - np.diag(diagonal)
        H[:a, a + w :], H[a : a + w, a + w :] = experts.T, gates.T
    return np.triu(H) + np.triu(H, 1).T


def score_outer(likelihood: JointLikelihood, theta: Theta) -> np.ndarray:
    """Mean over rows of the outer product of a row's score, (p, p): the middle of the sandwich."""
    sigma = likelihood.on_device(theta)[2]

    def kernel(post: Posterior, U: Array, V: Array, weight: Array | None) -> tuple[Array]:
        xp = array_namespace(U)
        alpha, t = _channels(likelihood, post, sigma)
        RA, E = post.R * alpha, (post.R - post.P)[:-1, :]
        rows = [RA[i, :] * U for i in range(likelihood.k)] + [E[i, :] * V for i in range(likelihood.k - 1)]
        rows += [row[None, :] for row in _grouped(likelihood, post.R * t)]
        S = xp.concat(rows, axis=0)
        return (weighted(S, weight) @ S.T,)

    rows = min(block_rows_for(2 * likelihood.n_parameters), likelihood.block_rows)
    return to_numpy(likelihood.mean_of(kernel, theta, block_rows=rows)[0])


def _placed(blocks: np.ndarray, q: int) -> np.ndarray:
    """Symmetric blocks (q (q + 1) / 2, D, D) of the upper triangle laid out as one (q D, q D) matrix."""
    D = blocks.shape[-1]
    H = np.empty((q, D, q, D))
    i, j = np.triu_indices(q)
    H[i, :, j, :] = blocks
    H[j, :, i, :] = blocks
    return H.reshape(q * D, q * D)
