import numpy as np
import pytest
from scipy import optimize

from skmoe import metrics
from skmoe.arrays.products import coefficients, tensor
from skmoe.spectral.decomposition import DECOMPOSITIONS, RankWarning, WeightMode, matching, orth_als, orth_als_t2
from skmoe.spectral.decomposition.common import apply, weigh
from tensors import rank_one_sum


def exact_problem(k, d, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((k, d))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    w = rng.dirichlet(np.full(k, 3.0))
    return A, w, rank_one_sum(w, A, 2), rank_one_sum(w, A, 3)


@pytest.fixture(params=sorted(DECOMPOSITIONS))
def decompose(request):
    return DECOMPOSITIONS[request.param]


@pytest.fixture(params=sorted(set(DECOMPOSITIONS) - {"orth-als"}))
def using_t2(request):
    """Decompositions that are led by T2; alternating sweeps on T3 alone crawl where components are nearly dependent."""
    return DECOMPOSITIONS[request.param]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("k", "d"), [(5, 5), (8, 10)])
def test_recovery_of_many_components_is_exact_on_exact_tensors(using_t2, k, d, seed):
    check_exact(using_t2, k, d, seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("k", "d"), [(1, 3), (2, 10), (3, 6)])
def test_recovery_is_exact_on_exact_tensors(decompose, k, d, seed):
    check_exact(decompose, k, d, seed)


def check_exact(decompose, k, d, seed):
    A, w, T2, T3 = exact_problem(k, d, seed)
    found = decompose(T2, T3, k, 0)
    order = metrics.match_experts(found.components, A)
    np.testing.assert_allclose(found.components[order], A, atol=1e-8)
    np.testing.assert_allclose(found.weights[order], w, atol=1e-8)
    assert found.rank == k
    assert np.all(np.diff(found.weights) <= 0)


def test_nearly_dependent_components_are_separated(using_t2):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((3, 5))
    A[1] = A[0] + 0.2 * A[1]
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    w = np.array([0.5, 0.3, 0.2])
    found = using_t2(rank_one_sum(w, A, 2), rank_one_sum(w, A, 3), 3, 0)
    order = metrics.match_experts(found.components, A)
    np.testing.assert_allclose(found.components[order], A, atol=1e-8)


def test_orth_als_takes_only_the_number_of_components_from_t2():
    """The published algorithm decomposes all of T3; ours looks only inside the leading space of T2."""
    A, w, T2, T3 = exact_problem(2, 6, 0)
    turned = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    other = turned.T @ T2 @ turned  # same eigenvalues, another leading space
    found = orth_als(other, T3, 2, 0)
    order = metrics.match_experts(found.components, A)
    np.testing.assert_allclose(found.components[order], A, atol=1e-8)
    np.testing.assert_allclose(found.weights[order], w, atol=1e-8)
    inside = orth_als_t2(other, T3, 2, 0)
    assert metrics.regressor_fit(inside.components, A) < 0.9


def test_orth_als_is_least_squares_on_the_whole_tensor():
    """No gradient is left: the independent check of where the plain sweeps end."""
    _, _, T2, T3 = exact_problem(2, 5, 0)
    rng = np.random.default_rng(0)
    noisy = T3 + tensor(0.02 * rng.standard_normal(len(coefficients(T3))), 5, 3)
    found = orth_als(T2, noisy, 2, 0, tol=1e-13)
    residual = noisy - rank_one_sum(found.weights, found.components, 3)
    for a, weight in zip(found.components, found.weights, strict=True):
        assert abs(apply(residual, a, a, a)) < 1e-6
        tangent = apply(residual, a, a) - apply(residual, a, a, a) * a
        assert np.max(np.abs(tangent)) < 1e-5 * max(weight, 0.1)


def test_equal_weights_and_orthogonal_components_are_no_tie(decompose):
    w = np.full(4, 0.25)
    A = np.eye(4, 6)
    found = decompose(rank_one_sum(w, A, 2), rank_one_sum(w, A, 3), 4, 0)
    np.testing.assert_allclose(found.components[metrics.match_experts(found.components, A)], A, atol=1e-8)


def test_rank_that_is_not_there_is_reported(decompose):
    A, w, T2, T3 = exact_problem(2, 6, 0)
    with pytest.warns(RankWarning, match=r"rank 2, below the 4 components"):
        found = decompose(T2, T3, 4, 0)
    assert found.rank == 2
    np.testing.assert_allclose(found.components[metrics.match_experts(found.components, A)], A, atol=1e-8)
    assert found.weights.sum() == pytest.approx(w.sum(), abs=1e-8)


def test_tensors_without_components_are_refused(decompose):
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        decompose(-np.eye(3), np.zeros((3, 3, 3)), 2, 0)


def test_same_seed_same_answer(decompose):
    rng = np.random.default_rng(0)
    _, _, T2, T3 = exact_problem(3, 5, 0)
    T2 = T2 + 0.01 * np.diag(rng.standard_normal(5))
    first, again = (decompose(T2, T3, 3, 7) for _ in range(2))
    np.testing.assert_array_equal(first.components, again.components)
    np.testing.assert_array_equal(first.weights, again.weights)


@pytest.mark.parametrize("seed", range(3))
def test_rotation_carries_through(decompose, seed):
    A, w, T2, T3 = exact_problem(3, 5, seed)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((5, 5)))[0]
    found = decompose(Q.T @ T2 @ Q, apply(T3, Q, Q, Q), 3, 0)
    order = metrics.match_experts(found.components, A @ Q)
    np.testing.assert_allclose(found.components[order], A @ Q, atol=1e-8)
    np.testing.assert_allclose(found.weights[order], w, atol=1e-8)


def test_noise_moves_matching_by_no_more_than_its_size():
    A, _, T2, T3 = exact_problem(4, 6, 3)
    rng = np.random.default_rng(0)
    size = 1e-4
    noise2, noise3 = (tensor(size * rng.standard_normal(len(coefficients(T))), 6, T.ndim) for T in (T2, T3))
    found = matching(T2 + noise2, T3 + noise3, 4, 0)
    order = metrics.match_experts(found.components, A)
    assert np.max(np.abs(found.components[order] - A)) < 100 * size


def test_a_loose_tolerance_moves_matching_by_little():
    _, _, T2, T3 = exact_problem(4, 6, 3)
    noise = np.random.default_rng(0).standard_normal(T2.shape)
    fine, loose = (matching(T2 + 1e-3 * (noise + noise.T), T3, 4, 0, tol=tol) for tol in (1e-10, 1e-5))
    assert 0 < np.max(np.abs(fine.components - loose.components)) < 1e-3


def test_first_moment_and_modes_are_matched_exactly():
    A, w, _, _ = exact_problem(4, 6, 3)
    factor, D = (0.5, 1.0, 2.0), np.array([0.02, -0.01, 0.0, 0.03])
    T1, *T = (rank_one_sum(w + factor[r - 1] * D, A, r) for r in (1, 2, 3))
    # a prior that is far weaker than the moments
    found = matching(*T, 4, 0, T1=T1, variances=[1e-12] * 3, modes=[WeightMode(1.0, factor)], share_sd=10.0)
    order = metrics.match_experts(found.components, A)
    np.testing.assert_allclose(found.components[order], A, atol=1e-5)


def test_scipy_finds_no_better_match_of_noisy_moments():
    k, q, share_sd, mode, variances = 3, 5, 0.2, WeightMode(0.1, (0.5, 1.0, 2.0)), [1e-4, 2e-4, 3e-4]
    A, w, _, _ = exact_problem(k, q, 3)
    rng = np.random.default_rng(0)
    exact = [coefficients(rank_one_sum(w, A, r)) for r in (1, 2, 3)]
    noisy = [t + np.sqrt(v) * rng.standard_normal(len(t)) for t, v in zip(exact, variances, strict=True)]
    T1, T2, T3 = (tensor(t, q, r) for r, t in enumerate(noisy, start=1))
    found = matching(T2, T3, k, 0, T1=T1, variances=variances, modes=[mode], share_sd=share_sd)

    def residual(x):
        a, p, D = x[: k * q].reshape(k, q), x[k * q : k * q + k], x[k * q + k :]
        a = a / np.linalg.norm(a, axis=1, keepdims=True)
        model = [coefficients(rank_one_sum(p + mode.factor[r - 1] * D, a, r)) for r in (1, 2, 3)]
        gaps = [(t - m) / np.sqrt(v) for t, m, v in zip(noisy, model, variances, strict=True)]
        return np.concatenate([*gaps, [1e3 * (p.sum() - 1)], (p - 1 / k) / share_sd, D / mode.sd])

    start = np.concatenate([found.components.ravel(), found.weights, np.zeros(k)])
    best = optimize.least_squares(residual, start, xtol=1e-14, ftol=1e-14, gtol=1e-12).x
    components = best[: k * q].reshape(k, q)
    np.testing.assert_allclose(
        components / np.linalg.norm(components, axis=1, keepdims=True), found.components, atol=1e-4
    )
    np.testing.assert_allclose(best[k * q : k * q + k], found.weights, atol=1e-4)


def test_weigh_gives_signs_that_make_weights_positive():
    A, w, T2, T3 = exact_problem(3, 5, 0)
    found = weigh(T2, T3, -2 * A)
    order = metrics.match_experts(found.components, A)
    np.testing.assert_allclose(found.components[order], A, atol=1e-12)
    np.testing.assert_allclose(found.weights[order], w, atol=1e-12)
