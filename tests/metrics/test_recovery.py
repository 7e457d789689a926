from itertools import permutations

import numpy as np
import pytest

from skmoe import metrics


def unit_rows(M):
    return M / np.linalg.norm(M, axis=1, keepdims=True)


def gauge(W, order):
    """The gate of the same model with its experts in another order."""
    return W[order] - W[order][-1]


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_regressor_fit_matches_trying_every_order(rng, k):
    A, B = unit_rows(rng.standard_normal((k, 4))), unit_rows(rng.standard_normal((k, 4)))
    best = max(np.abs(np.sum(A[list(p)] * B, axis=1)).min() for p in permutations(range(k)))
    assert metrics.regressor_fit(A, B) == pytest.approx(best, abs=1e-14)


def test_regressor_fit_ignores_order_sign_and_length(rng):
    A = rng.standard_normal((4, 6))
    assert metrics.regressor_fit(-3 * A[[2, 0, 3, 1]], A) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_gating_fit_is_one_for_the_same_gate_in_any_order(rng, k):
    W = np.vstack([rng.standard_normal((k - 1, 4)), np.zeros((1, 4))])
    for _ in range(5):
        assert metrics.gating_fit(gauge(W, rng.permutation(k)), W) == pytest.approx(1.0, abs=1e-12)


def test_gating_fit_of_two_experts_is_the_papers(rng):
    w, v = unit_rows(rng.standard_normal((2, 5)))
    zero = np.zeros(5)
    assert metrics.gating_fit([w, zero], [v, zero]) == pytest.approx(abs(w @ v), abs=1e-14)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_parameter_error_matches_trying_every_order(rng, k):
    A, A_true = rng.standard_normal((2, k, 3))
    W, W_true = (np.vstack([rng.standard_normal((k - 1, 3)), np.zeros((1, 3))]) for _ in range(2))
    best = min(
        np.linalg.norm(A - A_true[list(p)]) + np.linalg.norm(W - gauge(W_true, list(p))) for p in permutations(range(k))
    )
    assert metrics.parameter_error(A, W, A_true, W_true) == pytest.approx(best, rel=1e-12)


def test_parameter_error_vanishes_for_a_relabelled_truth(rng):
    A = rng.standard_normal((6, 4))
    W = np.vstack([rng.standard_normal((5, 4)), np.zeros((1, 4))])
    order = rng.permutation(6)
    assert metrics.parameter_error(A[order], gauge(W, order), A, W) == pytest.approx(0.0, abs=1e-10)


def test_match_experts_undoes_a_shuffle(rng):
    A = rng.standard_normal((5, 3))
    order = rng.permutation(5)
    np.testing.assert_array_equal(A[order][metrics.match_experts(A[order], A)], A)


def test_shapes_must_match():
    with pytest.raises(ValueError, match="must match"):
        metrics.regressor_fit(np.eye(3), np.eye(2))
