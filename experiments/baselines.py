"""Baselines that the library does not offer: joint EM with a gradient step for the gate, and Adam (needs PyTorch)."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from skmoe.model.activations import get_activation
from skmoe.model.parameters import MoEParameters

Path = list[tuple[np.ndarray, np.ndarray]]
HAS_TORCH = importlib.util.find_spec("torch") is not None


def random_start(k: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Experts and gate vectors uniform on the unit sphere, the last gate vector zero."""
    A, W = (M / np.linalg.norm(M, axis=1, keepdims=True) for M in rng.standard_normal((2, k, d)))
    W[-1] = 0.0
    return A, W


def gradient_joint_em(
    X: np.ndarray, y: np.ndarray, start: Any, *, sigma: float, activation: str, max_iter: int, tol: float = 1e-4
) -> Path:
    """Joint EM whose gate takes one ascent step on Q; experts take their (Gauss-)Newton step, halved if need be.

    The step is 1 over the largest curvature Q can have: half that of the inputs' second moments, for a softmax.
    """
    g = get_activation(activation)
    step = 2 / np.linalg.eigvalsh(X.T @ X / len(X))[-1]
    model = MoEParameters(*start, sigma, family=activation)
    path = [start]
    level = np.mean(model.log_density(X, y))
    for _ in range(max_iter):
        R, eta = model.responsibilities(X, y), X @ model.A.T
        slope, residual = g.prime(eta), y[:, None] - g(eta)
        move_W = step * (R - model.gate_proba(X)).T @ X / len(X)
        move_W[-1] = 0.0
        move_A = np.stack(
            [
                np.linalg.lstsq((X.T * (R * slope**2)[:, i]) @ X, X.T @ (R * slope * residual)[:, i])[0]
                for i in range(len(model.A))
            ]
        )
        size = 1.0
        while size > 1e-3:
            there = MoEParameters(model.A + size * move_A, model.W + move_W, sigma, family=activation)
            new = np.mean(there.log_density(X, y))
            if new >= level:
                break
            size *= 0.5
        model, level = there, new
        path.append((model.A, model.W))
        if max(np.max(np.abs(path[-1][i] - path[-2][i])) for i in (0, 1)) <= tol:
            break
    return path


def adam(
    X: np.ndarray,
    y: np.ndarray,
    start: Any,
    *,
    sigma: float,
    activation: str,
    loss: str,
    steps: int,
    rate: float = 0.05,
) -> Path:
    """Adam on all rows, on the squared error of the prediction or on the negative log-likelihood."""
    import torch

    torch.set_num_threads(1)
    g = {"linear": lambda z: z, "sigmoid": torch.sigmoid, "relu": torch.relu}[activation]
    Z, t = torch.as_tensor(X.T.copy()), torch.as_tensor(y)
    A, W = torch.tensor(start[0], requires_grad=True), torch.tensor(start[1][:-1], requires_grad=True)
    optimiser = torch.optim.Adam([A, W], lr=rate)
    path = [start]
    for _ in range(steps):
        optimiser.zero_grad()
        log_P = torch.log_softmax(torch.nn.functional.pad(W, (0, 0, 0, 1)) @ Z, dim=0)
        mean = g(A @ Z)
        if loss == "squared error":
            value = torch.mean((t - torch.sum(log_P.exp() * mean, dim=0)) ** 2)
        else:
            value = -torch.mean(torch.logsumexp(log_P - 0.5 * ((t - mean) / sigma) ** 2, dim=0))
        value.backward()
        optimiser.step()
        gate = W.detach().numpy()
        path.append((A.detach().numpy().copy(), np.vstack([gate, np.zeros((1, gate.shape[1]))])))
    return path
