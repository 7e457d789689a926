"""Regimes that are there are seen in other models; experts fitted to noise are not."""

import numpy as np
import pytest

from skmoe import MoERegressor
from skmoe.search.stability import _kappa, stability


@pytest.fixture(scope="module")
def regimes():
    """Two clear regimes."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    y = np.where(X[:, 0] > 0, 2 * X[:, 1], 1 - 2 * X[:, 1]) + 0.2 * rng.standard_normal(400)
    return X, y


def memberships(rng, k, n=300):
    R = rng.random((k, n)) ** 6
    return R / np.sum(R, axis=0)


def test_clear_regimes_are_seen_in_every_fit_that_left_rows_out(regimes):
    model = MoERegressor(2, random_state=0).fit(*regimes)
    np.testing.assert_array_equal(model.stability_, [1.0, 1.0])
    assert (model.history_["folds"], model.history_["fold_rows"]) == (5, 400)


def test_clear_regimes_are_seen_in_averaged_models(regimes):
    model = MoERegressor("auto", averaging=8, random_state=0).fit(*regimes)
    assert model.n_experts_ == 2
    assert np.all(model.stability_ >= 0.8)
    np.testing.assert_allclose(model.stability_ * len(model.members_) % 1, 0.0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::skmoe.inference.FewRowsWarning")
@pytest.mark.parametrize("penalty", ["auto", 0.3])
def test_experts_of_pure_noise_are_seen_nowhere(penalty):
    """Under a strong penalty all experts have equal shares of each row, which no expert is recognised by."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 3)), rng.standard_normal(300)
    model = MoERegressor(3, penalty=penalty, random_state=0).fit(X, y)
    assert np.mean(model.stability_) < 0.4


def test_stability_is_unknown_without_other_models(regimes):
    for settings in ({"n_experts": 1}, {"penalty": 0, "calibration": None}, {"method": "joint-em", "n_init": 2}):
        model = MoERegressor(random_state=0, **settings).fit(*regimes)
        np.testing.assert_array_equal(model.stability_, np.full(model.n_experts_, np.nan))


def test_order_of_experts_does_not_matter(rng):
    own, others, weight = memberships(rng, 3), [memberships(rng, 4), memberships(rng, 2)], np.ones(300)
    others.append(own[[2, 0, 1]])
    before = stability(own, others, weight)
    assert np.all(before >= 1 / 3)
    np.testing.assert_array_equal(stability(own, [other[::-1] for other in others], weight), before)
    np.testing.assert_array_equal(stability(own[[1, 2, 0]], others, weight), before[[1, 2, 0]])


def test_weights_are_repeated_rows(rng):
    own, other, weight = memberships(rng, 3), memberships(rng, 2), rng.integers(0, 4, 300)
    repeated = [np.repeat(R, weight, axis=1) for R in (own, other)]
    n = repeated[0].shape[1]
    np.testing.assert_allclose(_kappa(own, other, weight / n), _kappa(*repeated, np.full(n, 1 / n)), rtol=1e-12)


def test_kappa_of_known_memberships_is_that_of_scikit_learn(rng):
    from sklearn.metrics import cohen_kappa_score

    a, b = rng.integers(0, 3, 200), rng.integers(0, 3, 200)
    b[:120] = a[:120]
    found = _kappa(np.eye(3)[:, a], np.eye(3)[:, b], np.full(200, 1 / 200))
    expected = [[cohen_kappa_score(a == i, b == j) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_one_expert_is_seen_where_there_is_one_expert(rng):
    own = np.ones((1, 300))
    np.testing.assert_array_equal(stability(own, [own, own, memberships(rng, 2), own], np.ones(300)), [0.75])
