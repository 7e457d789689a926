import numpy as np
import pytest

from skmoe import metrics
from skmoe.rows.products import coefficients, tensor
from skmoe.spectral.decomposition import DECOMPOSITIONS, RankWarning, WeightMode, matching
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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("k", "d"), [(1, 3), (2, 10), (3, 6), (5, 5), (8, 10)])
def test_recovery_is_exact_on_exact_tensors(decompose, k, d, seed):
    A, w, T2, T3 = exact_problem(k, d, seed)
    found = decompose(T2, T3, k, 0)
    order = metrics.match_experts(found.components, A)
    np.testing.assert_allclose(found.components[order], A, atol=1e-8)
    np.testing.assert_allclose(found.weights[order], w, atol=1e-8)
    assert found.rank == k
    assert np.all(np.diff(found.weights) <= 0)


def test_nearly_dependent_components_are_separated(decompose):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((3, 5))
    A[1] = A[0] + 0.2 * A[1]
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    w = np.array([0.5, 0.3, 0.2])
    found = decompose(rank_one_sum(w, A, 2), rank_one_sum(w, A, 3), 3, 0)
    order = metrics.match_experts(found.components, A)
    np.testing.assert_allclose(found.components[order], A, atol=1e-8)


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


def test_first_moment_and_modes_are_matched_exactly():
    A, w, _, _ = exact_problem(4, 6, 3)
    factor, D = (0.5, 1.0, 2.0), np.array([0.02, -0.01, 0.0, 0.03])
    T = [rank_one_sum(w + factor[r - 1] * D, A, r) for r in (2, 3)]
    T1 = (w + factor[0] * D) @ A
    # a prior that is far weaker than the moments
    found = matching(*T, 4, 0, T1=T1, variances=[1e-12] * 3, modes=[WeightMode(1.0, factor)], share_sd=10.0)
    order = metrics.match_experts(found.components, A)
    np.testing.assert_allclose(found.components[order], A, atol=1e-5)


def test_weigh_gives_signs_that_make_weights_positive():
    A, w, T2, T3 = exact_problem(3, 5, 0)
    found = weigh(T2, T3, -2 * A)
    order = metrics.match_experts(found.components, A)
    np.testing.assert_allclose(found.components[order], A, atol=1e-12)
    np.testing.assert_allclose(found.weights[order], w, atol=1e-12)
