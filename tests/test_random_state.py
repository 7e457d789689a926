"""Everything that draws takes the same kinds of seeds."""

import numpy as np
import pytest

from skmoe import MoERegressor, joint_em, learn_experts, learn_gate, make_moe, plain_tensor_method

X, Y, TRUTH = make_moe(300, 3, 2, activation="tanh", noise_scale=0.2, random_state=0)
A = TRUTH.expert_coef

DRAWS = {
    "learn_experts": lambda seed: learn_experts(X, Y, 2, activation="tanh", random_state=seed).coef,
    "learn_gate": lambda seed: learn_gate(X, Y, A, noise_scale=0.2, activation="tanh", random_state=seed).path[0],
    "joint_em": lambda seed: joint_em(X, Y, 2, activation="tanh", max_iter=5, random_state=seed).path[0][0],
    "make_moe": lambda seed: make_moe(20, 3, 2, random_state=seed)[1],
    "plain_tensor_method": lambda seed: plain_tensor_method(X, Y, 2, activation="tanh", random_state=seed).components,
    "MoERegressor": lambda seed: MoERegressor(2, random_state=seed).fit(X, Y).expert_coef_,
    "MoERegressor.test_n_experts": lambda seed: (
        MoERegressor(1).fit(X, Y).test_n_experts(X, Y, n_bootstrap=3, random_state=seed).bootstrap_ratios
    ),
    "MoERegressor.sample": lambda seed: MoERegressor(1).fit(X, Y).sample(X, random_state=seed),
}


@pytest.mark.filterwarnings("ignore::skmoe.spectral.decomposition.RankWarning")  # few rows
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("what", DRAWS)
@pytest.mark.parametrize("kind", [int, np.random.RandomState, np.random.default_rng], ids=["int", "state", "generator"])
def test_seeds_of_every_kind_give_the_same_draw_again(what, kind):
    first, again = (DRAWS[what](kind(3)) for _ in range(2))
    assert np.all(np.isfinite(first))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize(
    "what", ["learn_gate", "joint_em", "make_moe", "MoERegressor.sample", "MoERegressor.test_n_experts"]
)
@pytest.mark.parametrize("kind", [int, np.random.RandomState, np.random.default_rng], ids=["int", "state", "generator"])
def test_other_seeds_give_another_draw(what, kind):
    assert not np.allclose(DRAWS[what](kind(3)), DRAWS[what](kind(4)))


@pytest.mark.parametrize("what", DRAWS)
def test_other_seeds_are_refused_by_their_name(what):
    with pytest.raises(ValueError, match=r"random_state|cannot be used to seed"):
        DRAWS[what]("seed")
