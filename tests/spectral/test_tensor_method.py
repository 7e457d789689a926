import numpy as np
import pytest

from skmoe import make_moe, metrics, plain_tensor_method
from skmoe.model.parameters import MoEParameters


@pytest.mark.parametrize(
    ("k", "gate", "right"), [(3, 0.0, True), (3, 2.0, False), (2, 2.0, True)], ids=["no gate", "gate", "two experts"]
)
def test_plain_tensor_method_fails_with_a_gate_of_three_experts(k, gate, right):
    fits = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        _, _, truth = make_moe(10, 6, k, activation="tanh", noise_scale=0.05, orthogonal_gate=True, random_state=seed)
        model = MoEParameters(truth.A, gate * truth.W, truth.sigma, family=truth.family)
        X = rng.standard_normal((200_000, 6))
        y, _ = model.sample(X, rng)
        found = plain_tensor_method(X, y, k, activation="tanh", random_state=0)
        fits.append(metrics.regressor_fit(found.components, truth.expert_coef))
    assert np.mean(fits) > 0.98 if right else np.mean(fits) < 0.6


def test_plain_tensor_method_refuses_linear_experts():
    X, y, _ = make_moe(100, 3, 2, random_state=0)
    with pytest.raises(ValueError, match="does not depend on the experts"):
        plain_tensor_method(X, y, 2, activation="linear")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"n_experts": 2.0}, "The 'n_experts' parameter of plain_tensor_method must be an int"),
        ({"n_experts": 4}, "more than the 3 columns of X"),
        ({"activation": 3}, "The 'activation' parameter of plain_tensor_method must be"),
        ({"y": np.ones(100)}, "y is constant"),
    ],
)
def test_bad_input_is_refused(change, why):
    X, y, _ = make_moe(100, 3, 2, random_state=0)
    with pytest.raises(ValueError, match=why):
        plain_tensor_method(**{"X": X, "y": y, "n_experts": 2, "activation": "tanh"} | change)
