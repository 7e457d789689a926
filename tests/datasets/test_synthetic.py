import numpy as np
import pytest

from skmoe import make_moe, scores


def test_truth_is_the_papers_law():
    X, y, truth = make_moe(500, 6, 3, random_state=0)
    assert X.shape == (500, 6)
    assert y.shape == (500,)
    np.testing.assert_allclose(np.linalg.norm(truth.expert_coef, axis=1), 1)
    np.testing.assert_allclose(np.linalg.norm(truth.gate_coef[:-1], axis=1), 1)
    np.testing.assert_array_equal(truth.gate_coef[-1], 0)
    np.testing.assert_array_equal(truth.noise_scale, 0.1)
    np.testing.assert_array_equal(truth.expert_intercept, 0)
    np.testing.assert_array_equal(truth.gate_intercept, 0)
    assert truth.g.name == "linear"


def test_orthogonal_gate_is_orthogonal():
    _, _, truth = make_moe(10, 6, 3, orthogonal_gate=True, random_state=0)
    np.testing.assert_allclose(truth.gate_coef @ truth.expert_coef.T, 0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(truth.gate_coef[:-1], axis=1), 1)


def test_seed_decides_everything():
    first, again, other = (make_moe(20, 3, 2, random_state=s) for s in (7, 7, 8))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.allclose(first[1], other[1])


def test_noise_is_what_was_asked_for():
    X, y, truth = make_moe(50_000, 3, 1, noise_scale=0.4, activation="tanh", random_state=0)
    assert np.std(y - truth.predict(X)) == pytest.approx(0.4, rel=0.02)


def test_input_law_is_used():
    law = scores.GaussianMixture([0.5, 0.5], [[10.0, 0.0], [-10.0, 0.0]])
    X, _, _ = make_moe(1000, 2, 2, input_law=law, random_state=0)
    assert np.all(np.abs(X[:, 0]) > 4)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"n_experts": 0}, "The 'n_experts' parameter of make_moe must be an int"),
        ({"n_experts": 2.5}, "The 'n_experts' parameter of make_moe must be an int"),
        ({"n_experts": 3, "orthogonal_gate": True}, "more features than experts"),
        ({"n_experts": 2, "noise_scale": -1.0}, "The 'noise_scale' parameter of make_moe must be a float"),
        ({"n_experts": 2, "activation": "gelu"}, "activation must be one of"),
    ],
)
def test_bad_arguments_are_refused(arguments, why):
    with pytest.raises(ValueError, match=why):
        make_moe(10, 3, **arguments)
