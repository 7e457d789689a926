"""Fits with as many coefficients as rows, and just fewer: nothing is claimed where no degrees of freedom are left."""

import re

import numpy as np
import pytest
import statsmodels.api as sm

import skmoe
from command_line import run
from skmoe import MoEClassifier, MoERegressor
from skmoe.inference import FewRowsWarning


def noise_table(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def saturated(n, d, **settings):
    X, y = noise_table(n, d)
    with pytest.warns(FewRowsWarning, match=rf"{d + 1} coefficients were fitted to {n} rows.*no degrees of freedom"):
        return MoERegressor(1, **settings).fit(X, y), X, y


@pytest.mark.parametrize(("n", "d"), [(8, 7), (5, 10), (2, 1)])
def test_nothing_is_claimed_without_degrees_of_freedom(n, d):
    model, X, _ = saturated(n, d)
    np.testing.assert_array_equal(model.dof_, [0])
    assert np.all(np.isnan(model.expert_coef_se_))
    assert np.all(np.isnan(model.noise_scale_))
    assert model.covariance_ is None
    for robust in (False, True):
        table = model.summary(robust=robust).to_frame()
        assert table[["std. error", "t", "P>|t|"]].isna().all().all()
        coefficients = table[table["part"].str.startswith("expert")]
        assert np.all(coefficients["[0.025"] == -np.inf)
        assert np.all(coefficients["0.975]"] == np.inf)
    assert re.search("no degrees of freedom", str(model.summary()))
    assert any("no degrees of freedom" in row[2] for row in model.diagnose(X).rows)


def test_predictions_without_degrees_of_freedom_have_infinite_intervals():
    model, X, y = saturated(8, 7)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-2)
    law = model.predictive(X)
    np.testing.assert_array_equal(model.predict_interval(X, 0.1), np.tile([-np.inf, np.inf], (8, 1)))
    np.testing.assert_array_equal(law.quantile([0.4, 0.6]), np.tile([-np.inf, np.inf], (8, 1)))
    np.testing.assert_array_equal(law.region(0.5)[0], [[-np.inf, np.inf]])
    assert np.all(np.isinf(law.std()))
    assert np.all(np.isinf(law.crps(y)))
    np.testing.assert_array_equal(law.pdf(y), np.zeros(8))
    np.testing.assert_array_equal(law.cdf(y), np.full(8, 0.5))
    np.testing.assert_array_equal(model.predictive(X, held_out=(X, y)).interval(0.5)[0], [-np.inf, np.inf])
    with pytest.raises(ValueError, match=r"outputs cannot be drawn.*more rows"):
        law.sample(0)


@pytest.mark.parametrize("family", ["gamma", "lognormal", "negative-binomial", "student"])
def test_other_outputs_with_a_scale_are_as_unknown(family):
    X, y = noise_table(8, 7)
    lowest = -np.inf if family == "student" else 0.0
    with pytest.warns(FewRowsWarning, match="8 coefficients were fitted to 8 rows"):
        model = MoERegressor(1, family=family).fit(X, np.ceil(np.exp(y)))
    assert np.all(np.isnan(model.expert_coef_se_))
    np.testing.assert_array_equal(model.predict_interval(X)[0], [lowest, np.inf])


def test_classes_and_counts_warn_too():
    X, y = noise_table(8, 7)
    with pytest.warns(FewRowsWarning, match="8 parameters were fitted to 8 rows"):
        MoEClassifier(1).fit(X, y > 0)
    with pytest.warns(FewRowsWarning, match="8 parameters were fitted to 8 rows"):
        MoERegressor(1, family="poisson").fit(X, np.floor(np.exp(y)))


def test_known_noise_needs_no_degrees_of_freedom():
    X, y = noise_table(8, 7)
    with pytest.warns(FewRowsWarning):
        model = MoERegressor(1, noise=0.5, penalty=0).fit(X, y)
    design = sm.add_constant(X)
    errors = 0.5 * np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    np.testing.assert_allclose(model.expert_coef_se_[0], errors[1:], rtol=1e-6)


@pytest.mark.parametrize("rows", [9, 10, 11, 12, 20, 100])
def test_one_expert_has_the_errors_of_least_squares(rows):
    X, y = noise_table(rows, 7)
    model = MoERegressor(1).fit(X, y)
    other = sm.OLS(y, sm.add_constant(X)).fit()
    np.testing.assert_allclose(model.dof_, other.df_resid)
    np.testing.assert_allclose(np.append(model.expert_intercept_se_, model.expert_coef_se_), other.bse, rtol=1e-6)
    np.testing.assert_allclose(model.noise_scale_, np.sqrt(other.scale), rtol=1e-6)
    table = model.summary().to_frame().iloc[:8]
    np.testing.assert_allclose(table["P>|t|"], other.pvalues, rtol=1e-6)
    np.testing.assert_allclose(table[["[0.025", "0.975]"]], other.conf_int(), rtol=1e-6)
    expected = other.get_prediction(sm.add_constant(X)).conf_int(obs=True, alpha=0.1)
    if model.calibration_ is None:
        np.testing.assert_allclose(model.predict_interval(X, 0.9), expected, rtol=1e-6)


def test_whole_weights_leave_degrees_of_freedom_and_others_none():
    X, y = noise_table(8, 7)
    assert MoERegressor(1).fit(X, y, sample_weight=np.full(8, 3)).dof_ == 24 - 8
    with pytest.warns(FewRowsWarning):
        assert MoERegressor(1).fit(X, y, sample_weight=np.linspace(0.3, 1.1, 8)).dof_ == 0


def test_a_fit_without_degrees_of_freedom_is_saved(tmp_path):
    model, X, _ = saturated(8, 7)
    model.save(tmp_path / "a.skmoe")
    loaded = skmoe.load(tmp_path / "a.skmoe")
    np.testing.assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))
    assert str(loaded.summary()) == str(model.summary())


def test_the_command_line_says_it(tmp_path):
    X, y = noise_table(5, 10)
    table, out = tmp_path / "t.csv", tmp_path / "t.skmoe"
    names = [f"x{i}" for i in range(10)]
    np.savetxt(table, np.column_stack([X, y]), delimiter=",", header=",".join([*names, "y"]), comments="")
    done = run("fit", table, "--target", "y", "--experts", 1, "--out", out, "--report", tmp_path / "t.html")
    assert done.exit_code == 0
    assert "coefficients were fitted to 5 rows, which leaves no degrees of freedom" in " ".join(done.stderr.split())
    page = (tmp_path / "t.html").read_text()
    assert "Its noise is unknown" in page
    assert "which leaves no degrees of freedom" in page
    done = run("predict", out, table, "--interval", 0.9, "--out", "-")
    assert done.stdout.splitlines()[1].endswith(",-inf,inf")
