"""Degrees of freedom, the uncertainty of coefficients in predictions, calibration by held-out rows, rounded outputs."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from skmoe import MoERegressor, make_moe
from skmoe.inference import RoundedOutputWarning
from skmoe.model.predictive import PredictiveDistribution


@pytest.fixture(scope="module")
def model():
    X, y, _ = make_moe(300, 3, 2, noise_scale=0.3, random_state=0)
    return MoERegressor(2, random_state=0).fit(X, y)


def test_degrees_of_freedom_are_rows_less_what_experts_spend(model):
    assert np.sum(model.dof_) < 300
    assert np.sum(model.dof_) >= 300 - 2 * 4  # an expert spends no more than its coefficients
    np.testing.assert_array_equal(model.parameters_.sigma, model.noise_scale_)  # widened by the penalty already


def test_standard_errors_are_those_of_the_corrected_noise(model):
    """Experts' errors grow with their noise, the gate's do not."""
    X, y, _ = make_moe(300, 3, 2, noise_scale=0.3, random_state=0)
    known = MoERegressor(2, noise="shared", penalty=0, calibration=None, random_state=0).fit(X, y)
    factor = known.noise_scale_[0] / known.parameters_.sigma[0]
    assert factor == pytest.approx(np.sqrt(300 / known.dof_[0]), rel=1e-12)
    assert known.dof_[0] == pytest.approx(300 - 8, abs=2)


def test_intervals_widen_away_from_the_data(model):
    line = np.zeros((3, 3))
    line[:, 1] = [0.0, 10.0, 100.0]
    low, high = model.predict_interval(line).T
    plain = PredictiveDistribution((model.parameters_,), np.ones(1), model.calibration_)
    ratio = (high - low) / np.diff(plain.interval(line, 0.9), axis=1)[:, 0]
    assert 1 < ratio[0] < 1.1
    assert ratio[0] < ratio[1] < ratio[2]


def test_gate_uncertainty_draws_weights_together(model):
    unsure = replace(small_sample_of(model), gate_covariance=np.stack([np.eye(4)] * 2))
    law = PredictiveDistribution((model.parameters_,), np.ones(1), corrections=(unsure,))
    X = np.array([[3.0, -3.0, 3.0]])
    np.testing.assert_allclose(law.without_gate_uncertainty().at(X).weights, model.gate_proba(X))
    assert np.max(law.at(X).weights) < np.max(model.gate_proba(X))


def small_sample_of(model):
    (correction,) = model._distribution().corrections
    return correction


def test_calibration_widens_the_laws_of_fits_that_are_too_sure():
    """Many columns, few rows: a fit by maximum likelihood is too sure, and held-out rows show it."""
    rng = np.random.default_rng(0)
    X, X_new = rng.standard_normal((60, 8)), rng.standard_normal((2000, 8))
    y, y_new = (rows[:, 0] + rng.standard_normal(len(rows)) for rows in (X, X_new))
    held = []
    for calibration in (None, "loo"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = MoERegressor(2, penalty=0, calibration=calibration, random_state=0).fit(X, y)
        low, high = fit.predict_interval(X_new).T
        held.append(np.mean((low < y_new) & (y_new < high)))
    assert held[0] < 0.85
    assert abs(held[1] - 0.9) < abs(held[0] - 0.9)


def test_rounded_outputs_are_said_and_leave_no_spikes(rng):
    X = rng.standard_normal((400, 2))
    y = np.round(X[:, 0] + 0.4 * rng.standard_normal(400))
    with pytest.warns(RoundedOutputWarning, match="y is rounded to steps of 1, as wide as the noise"):
        fit = MoERegressor(3, random_state=0).fit(X, y)
    assert np.min(fit.parameters_.sigma) >= 1 / np.sqrt(2 * np.pi) - 1e-9
    assert not fit.history_["at_floor"]
    found = {question: finding for question, finding, _ in fit.diagnose().rows}
    assert found["resolution of y"] == "steps of 1"


def test_fine_steps_bring_no_warning(rng):
    X = rng.standard_normal((400, 2))
    y = np.round(X[:, 0] + 0.4 * rng.standard_normal(400), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RoundedOutputWarning)
        fit = MoERegressor(1, random_state=0).fit(X, y)
    assert fit.history_["step"] == pytest.approx(0.1)
