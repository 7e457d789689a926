"""A law given as `input_law` is that of the inputs as they are in X, for every method."""

import numpy as np
import pytest

from skmoe import MoERegressor, make_moe, metrics, scores


def shifted(mean, seed=0, n=6000):
    """Inputs N(mean, 4 I), and their law."""
    law = scores.Gaussian(np.full(4, mean), 4 * np.eye(4))
    return law, *make_moe(n, 4, 2, input_law=law, noise_scale=0.1, random_state=seed)


def default_history(X, y, law):
    return MoERegressor(2, input_law=law, random_state=0).fit(X, y).history_


def spectral(X, y, law):
    return MoERegressor(2, method="spectral", input_law=law, random_state=0).fit(X, y)


pytestmark = [
    pytest.mark.filterwarnings("ignore::skmoe.spectral.decomposition.RankWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.mark.parametrize("mean", [1.0, 3.0])
def test_default_start_sees_a_given_law_as_it_sees_the_fitted_one(mean):
    """Rows are whitened before the start looks at them, and so is the law."""
    law, X, y, _ = shifted(mean)
    given, fitted = (default_history(X, y, choice) for choice in (law, "gaussian"))
    assert given["noise_level"] == pytest.approx(fitted["noise_level"], rel=0.1)
    np.testing.assert_allclose(given["spectrum"], fitted["spectrum"], atol=0.02)


def test_default_start_takes_units_of_the_law_for_those_of_the_inputs():
    """The law of X scaled and shifted is the law scaled and shifted."""
    law, X, y, _ = shifted(1.0)
    units, shift = np.array([10.0, 1.0, 0.1, 5.0]), np.array([0.0, 100.0, -1.0, 2.0])
    moved = scores.Gaussian(law.mean * units + shift, law.covariance * np.outer(units, units))
    here, there = default_history(X, y, law), default_history(X * units + shift, y, moved)
    np.testing.assert_allclose(there["spectrum"], here["spectrum"], atol=1e-4)


def test_mixtures_are_taken_to_whitened_inputs_component_by_component():
    law = scores.GaussianMixture([0.4, 0.6], [[8.0, 0, 0, 1], [2.0, 0, 0, 1]], [4 * np.eye(4), np.eye(4)])
    X, y, _ = make_moe(6000, 4, 2, input_law=law, random_state=0)
    given, fitted = (default_history(X, y, choice) for choice in (law, "mixture"))
    np.testing.assert_allclose(given["spectrum"], fitted["spectrum"], atol=0.05)


@pytest.mark.parametrize("mean", [1.0, 3.0])
def test_spectral_does_not_take_any_inputs_for_standard_gaussian(mean):
    law, X, y, _ = shifted(mean, n=20_000)
    auto, given, standard = (spectral(X, y, choice) for choice in ("auto", law, None))
    # E[y^2] is 4 and more, and known to 0.1
    assert auto.noise_scale_[0] ** 2 == pytest.approx(given.noise_scale_[0] ** 2, abs=0.1)
    assert abs(standard.noise_scale_[0] / given.noise_scale_[0] - 1) > 0.1
    assert metrics.regressor_fit(auto.expert_coef_, given.expert_coef_) > 0.99


def test_spectral_finds_the_experts_under_the_law_of_the_inputs():
    law, X, y, truth = shifted(1.0, n=20_000)
    for choice in ("auto", law, "gaussian"):
        model = spectral(X, y, choice)
        assert metrics.regressor_fit(model.expert_coef_, truth.expert_coef) > 0.995
        assert metrics.gating_fit(model.gate_coef_, truth.gate_coef) > 0.99


@pytest.mark.parametrize("method", ["auto", "spectral"])
def test_laws_over_other_columns_are_refused_or_left_aside(method):
    _, X, y, _ = shifted(1.0, n=500)
    model = MoERegressor(2, method=method, input_law=scores.Gaussian(np.zeros(3)), random_state=0)
    if method == "spectral":
        with pytest.raises(ValueError, match="input_law is over 3 inputs, but X has 4 columns"):
            model.fit(X, y)
    else:  # the consistent start cannot run: others remain
        assert "spectral" not in {name for name, _, _ in model.fit(X, y).history_["starts"]}


# -- dependent columns ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:inputs 'x0' and 'x4' repeat each other")
@pytest.mark.parametrize("choice", ["auto", "gaussian", "law"])
def test_spectral_learns_along_the_directions_in_which_rows_vary(choice):
    """A repeated column and a constant one change no prediction."""
    _, X, y, _ = shifted(0.0)
    wide = np.column_stack([X, X[:, 0], np.full(len(y), 7.0)])
    if choice == "law":  # all but that of the rows: one whose columns repeat has no density
        covariance = np.diag([4.0, 4, 4, 4, 4, 1])
        covariance[0, 4] = covariance[4, 0] = 3.9
        choice = scores.Gaussian([0.0, 0, 0, 0, 0, 7], covariance)
    model = spectral(wide, y, choice)
    np.testing.assert_allclose(np.linalg.norm(model.expert_coef_, axis=1), 1)
    np.testing.assert_allclose(model.expert_coef_[:, 0], model.expert_coef_[:, 4], atol=1e-9)
    np.testing.assert_allclose(model.expert_coef_[:, 5], 0, atol=1e-9)
    np.testing.assert_allclose(model.gate_coef_[:, 5], 0, atol=1e-9)
    moved = wide.copy()
    moved[:, 5] = -100.0
    np.testing.assert_allclose(model.predict(moved), model.predict(wide), atol=1e-6)
