import numpy as np
import pytest
from scipy import optimize, special

from skmoe.arrays.namespaces import to_numpy
from skmoe.model.gate import (
    GateSums,
    gate_kernel,
    gate_sums,
    log_sum_exp,
    maximise_gate,
    project_rows,
    softmax,
    with_zero_row,
)


@pytest.fixture(params=[2, 3, 5])
def problem(request, rng):
    k, d, n = request.param, 3, 200
    R = rng.dirichlet(np.full(k, 0.5), n).T
    return R, rng.standard_normal((d, n)), rng.standard_normal((k - 1, d))


def objective(R, V):
    def sums(W):
        return gate_sums(*gate_kernel(R, *softmax(with_zero_row(W) @ V), V))

    return sums


def test_softmax_is_that_of_scipy_and_finite_far_out(xp, rng):
    L = 5 * rng.standard_normal((3, 40))
    P, log_P = map(to_numpy, softmax(xp.asarray(L)))
    np.testing.assert_allclose(P, special.softmax(L, axis=0), rtol=1e-12)
    np.testing.assert_allclose(log_P, special.log_softmax(L, axis=0), atol=1e-12)
    total, shares = map(to_numpy, log_sum_exp(xp.asarray(L)))
    np.testing.assert_allclose(total, special.logsumexp(L, axis=0), rtol=1e-12)
    np.testing.assert_array_equal(shares, P)
    far = [to_numpy(part) for part in softmax(xp.asarray([[1e4, -1e4], [0.0, 0.0]]))]
    assert all(np.all(np.isfinite(part)) for part in far)
    np.testing.assert_array_equal(far[0], [[1.0, 0.0], [0.0, 1.0]])


def test_gradient_and_information_match_differences(xp, problem):
    R, V, W = problem
    R_, V_ = xp.asarray(R), xp.asarray(V)

    def sums(w):
        full = xp.asarray(with_zero_row(w.reshape(W.shape)))
        return gate_sums(*gate_kernel(R_, *softmax(full @ V_), V_))

    here = sums(W.ravel())
    numeric = optimize.approx_fprime(W.ravel(), lambda w: sums(w).value, 1e-6)
    np.testing.assert_allclose(here.gradient.ravel(), numeric, atol=2e-3)
    curvature = optimize.approx_fprime(W.ravel(), lambda w: sums(w).gradient.ravel(), 1e-6)
    np.testing.assert_allclose(here.information, -curvature, atol=2e-3)


def test_kernel_adds_up_over_blocks_and_weights(xp, problem):
    R, V, W = problem
    P = softmax(with_zero_row(W) @ V)
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
    R = 0.02 * R + 0.98 * np.eye(len(R))[np.argmax(with_zero_row(np.ones((len(R) - 1, len(V)))) @ V, axis=0)].T
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


def test_no_passes_are_spent_where_nothing_is_left_to_gain():
    """A gate so steep that all rows but a few are decided: steps along the flat directions stay long for ever."""
    V = 3 * np.random.default_rng(0).random((3, 20))
    W = 1000 * np.array([[-0.1, -0.1 / 3, 0.3]])
    R, calls = softmax(with_zero_row(W) @ V)[0], []

    def mean(at):
        calls.append(at)
        total = objective(R, V)(at)
        return GateSums(total.value / 20, total.gradient / 20, total.information / 20)

    start = 0.97 * W + 0.3
    found = maximise_gate(mean, start, mean(start))
    assert len(calls) < 20
    assert mean(found).value >= mean(W).value - 1e-15
