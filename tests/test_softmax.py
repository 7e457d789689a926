import numpy as np
import pytest
from scipy import optimize

from skmoe.rows.arrays import to_numpy
from skmoe.model.parameters import softmax
from skmoe.model.gate import gate_kernel, gate_sums, maximise_gate, project_rows


@pytest.fixture(params=[2, 3, 5])
def problem(request, rng):
    k, d, n = request.param, 3, 200
    R = rng.dirichlet(np.full(k, 0.5), n).T
    return R, rng.standard_normal((d, n)), rng.standard_normal((k - 1, d))


def with_zero(W):
    return np.vstack([W, np.zeros((1, W.shape[1]))])


def objective(R, V):
    def sums(W):
        return gate_sums(*gate_kernel(R, *softmax(with_zero(W) @ V), V))

    return sums


def test_gradient_and_information_match_differences(xp, problem):
    R, V, W = problem
    R_, V_ = xp.asarray(R), xp.asarray(V)

    def sums(w):
        full = xp.asarray(with_zero(w.reshape(W.shape)))
        return gate_sums(*gate_kernel(R_, *softmax(full @ V_), V_))

    here = sums(W.ravel())
    numeric = optimize.approx_fprime(W.ravel(), lambda w: sums(w).value, 1e-6)
    np.testing.assert_allclose(here.gradient.ravel(), numeric, atol=2e-3)
    curvature = optimize.approx_fprime(W.ravel(), lambda w: sums(w).gradient.ravel(), 1e-6)
    np.testing.assert_allclose(here.information, -curvature, atol=2e-3)


def test_kernel_adds_up_over_blocks_and_weights(xp, problem):
    R, V, W = problem
    P = softmax(with_zero(W) @ V)
    whole = gate_kernel(*map(xp.asarray, (R, *P, V)))
    parts = [
        gate_kernel(*map(xp.asarray, (R[:, s], P[0][:, s], P[1][:, s], V[:, s]))) for s in (slice(90), slice(90, None))
    ]
    for total, a, b in zip(whole, *parts, strict=True):
        np.testing.assert_allclose(to_numpy(a) + to_numpy(b), to_numpy(total), rtol=1e-12, atol=1e-12)
    weight = np.arange(R.shape[1]) % 3.0
    repeat = np.repeat(np.arange(R.shape[1]), weight.astype(int))
    weighted = gate_kernel(*map(xp.asarray, (R, *P, V, weight)))
    repeated = gate_kernel(*map(xp.asarray, (R[:, repeat], P[0][:, repeat], P[1][:, repeat], V[:, repeat])))
    for a, b in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(to_numpy(a), to_numpy(b), rtol=1e-11, atol=1e-11)


def test_maximum_agrees_with_scipy(problem):
    R, V, _ = problem
    sums = objective(R, V)
    zero = np.zeros((len(R) - 1, len(V)))
    W = maximise_gate(sums, zero, sums(zero))
    fit = optimize.minimize(
        lambda w: -sums(w.reshape(zero.shape)).value,
        zero.ravel(),
        jac=lambda w: -sums(w.reshape(zero.shape)).gradient.ravel(),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    np.testing.assert_allclose(W.ravel(), fit.x, atol=1e-6)


def test_maximum_in_the_ball_meets_its_conditions(problem):
    R, V, _ = problem
    R = 0.02 * R + 0.98 * np.eye(len(R))[np.argmax(with_zero(np.ones((len(R) - 1, len(V)))) @ V, axis=0)].T
    sums = objective(R, V)
    start, radius = np.zeros((len(R) - 1, len(V))), 0.3
    W = maximise_gate(sums, start, sums(start), radius=radius)
    length = np.linalg.norm(W, axis=1)
    assert np.all(length <= radius * (1 + 1e-12))
    # the gradient points out of the ball where a row is at its rim, and vanishes elsewhere
    gradient = sums(W).gradient
    outward = np.sum(gradient * W, axis=1) / radius**2
    rim = length > radius * (1 - 1e-9)
    np.testing.assert_allclose(gradient - outward[:, None] * W * rim[:, None], 0, atol=1e-4 * R.shape[1])
    assert np.all(outward[rim] > 0)
    assert rim.any()


def test_separable_targets_stay_finite_and_rise():
    V = np.vstack([np.linspace(-1, 1, 50), np.ones(50)])
    R = np.vstack([V[0] > 0, V[0] <= 0]).astype(float)
    sums, start = objective(R, V), np.zeros((1, 2))
    W = maximise_gate(sums, start, sums(start))
    assert np.all(np.isfinite(W))
    assert sums(W).value > sums(start).value


def test_projection_is_nearest(rng):
    W = 3 * rng.standard_normal((4, 3))
    P = project_rows(W, 1.0)
    assert np.all(np.linalg.norm(P, axis=1) <= 1 + 1e-12)
    np.testing.assert_array_equal(project_rows(P / 2, 1.0), P / 2)
    np.testing.assert_array_equal(project_rows(W, None), W)


def test_gate_over_dependent_inputs_is_maximised():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((2, 80))
    V = np.vstack([V, V[0], 1e-9 * V[1], np.zeros(80)])  # repeated, tiny and empty channels
    R = rng.dirichlet(np.ones(3), 80).T
    sums, start = objective(R, V), np.zeros((2, 5))
    W = maximise_gate(sums, start, sums(start))
    assert np.all(np.isfinite(W))
    alone = objective(R, V[:2])
    best = maximise_gate(alone, np.zeros((2, 2)), alone(np.zeros((2, 2))))
    assert sums(W).value == pytest.approx(alone(best).value, abs=1e-6)
