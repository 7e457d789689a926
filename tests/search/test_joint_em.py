import numpy as np
import pytest

from skmoe import joint_em, make_moe, metrics


def test_joint_em_never_lowers_the_likelihood_and_finds_the_truth():
    X, y, truth = make_moe(2000, 5, 2, random_state=0)
    fit = joint_em(X, y, 2, random_state=0)
    assert np.all(np.diff(fit.trace) >= 0)
    assert len(fit.trace) == len(fit.path) == fit.n_iter + 1
    assert fit.converged
    assert metrics.regressor_fit(fit.expert_coef, truth.expert_coef) > 0.99


def test_joint_em_starts_where_it_is_told():
    X, y, truth = make_moe(500, 4, 3, random_state=1)
    fit = joint_em(X, y, 3, init=(truth.A, truth.W), noise_scale=0.1, max_iter=1)
    np.testing.assert_allclose(fit.path[0][0], truth.A)
    assert fit.noise_scale == 0.1


def test_the_problems_own_seed_is_not_a_start_at_its_truth():
    X, y, truth = make_moe(500, 4, 3, random_state=7)
    start = joint_em(X, y, 3, random_state=7).path[0]
    assert metrics.parameter_error(start[0], start[1], truth.expert_coef, truth.gate_coef) > 0.5


def test_joint_em_runs_on_every_array_library(xp):
    X, y, _ = make_moe(300, 3, 2, random_state=0)
    plain, found = (joint_em(*rows, 2, random_state=0) for rows in ((X, y), map(xp.asarray, (X, y))))
    np.testing.assert_allclose(found.expert_coef, plain.expert_coef, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"max_iter": 5.0}, "The 'max_iter' parameter of joint_em must be an int in the range"),
        ({"max_iter": 0}, "The 'max_iter' parameter of joint_em must be an int in the range"),
        ({"n_experts": 0}, "The 'n_experts' parameter of joint_em must be an int in the range"),
        ({"tol": 0.0}, "The 'tol' parameter of joint_em must be"),
        ({"noise_scale": -1.0}, "The 'noise_scale' parameter of joint_em must be"),
        ({"activation": "gelu"}, "activation must be one of"),
        ({"init": (np.zeros((2, 3)), np.zeros((2, 2)))}, r"init\[1\] must have shape \(2, 3\)"),
        ({"n_experts": 20}, "100 rows, too few for 20 experts"),
        ({"y": np.ones(100)}, "y is constant"),
    ],
)
def test_bad_settings_are_refused(change, why):
    X, y, _ = make_moe(100, 3, 2, random_state=0)
    with pytest.raises(ValueError, match=why):
        joint_em(**{"X": X, "y": y, "n_experts": 2} | change)
