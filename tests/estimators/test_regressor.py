import pickle
import warnings

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skmoe import MoEClassifier, MoERegressor, datasets, joint_em, make_moe, metrics
from skmoe.inference import FewRowsWarning
from skmoe.model.parameters import MoEParameters


@pytest.fixture(scope="module")
def problem():
    X, y, truth = make_moe(2000, 4, 3, noise_scale=0.2, random_state=0)
    return X, y, truth


@pytest.fixture(scope="module")
def fitted(problem):
    X, y, _ = problem
    return MoERegressor(3, random_state=0).fit(X, y)


def messy_table(n=1500, seed=0):
    """Other units, correlated columns, intercepts, own noise."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 3)) @ (np.eye(3) + 0.5 * rng.standard_normal((3, 3)))
    X = Z * [1e-3, 1.0, 1e4] + [5.0, -2.0, 3e5]
    A = np.array([[800.0, 2.0, -1e-4], [-500.0, 0.0, 3e-4]])
    truth = MoEParameters(
        A, np.array([[900.0, 0.5, 1e-4], [0, 0, 0]]), [0.3, 0.1], b=[1 - 4000, -85 + 2500], c=[-4530.0, 0.0]
    )
    return X, truth.sample(X, rng)[0], truth


# -- the optimum ------------------------------------------------------------------------------------------------------


def test_default_reaches_the_fit_started_at_the_truth(problem):
    X, y, truth = problem
    best = joint_em(X, y, 3, init=(truth.expert_coef, truth.gate_coef), tol=1e-7)
    model = MoERegressor(3, noise="shared", fit_intercept=False, penalty=0, random_state=1).fit(X, y)
    assert model.log_likelihood_ / len(y) == pytest.approx(best.log_likelihood, abs=1e-6)
    assert metrics.parameter_error(
        model.expert_coef_, model.gate_coef_, best.expert_coef, best.gate_coef
    ) == pytest.approx(0, abs=1e-3)
    assert model.converged_


def test_gradient_of_the_likelihood_vanishes_at_the_fit(problem):
    """Against the model's own density, by differences: nothing of the fitting code is used."""
    X, y, _ = problem
    model = MoERegressor(2, penalty=0.0, random_state=0).fit(X, y)
    k, d = 2, 4

    def value(v):
        A, b, w, c, s = np.split(v, np.cumsum([k * d, k, d, 1]))
        p = MoEParameters(A.reshape(k, d), np.vstack([w, 0 * w]), np.exp(s), b=b, c=np.append(c, 0))
        return float(np.mean(p.log_density(X, y)))

    at = np.concatenate(
        [
            model.expert_coef_.ravel(),
            model.expert_intercept_,
            model.gate_coef_[0],
            model.gate_intercept_[:1],
            np.log(model.parameters_.sigma),  # noise_scale_ is corrected for degrees of freedom
        ]
    )
    assert np.max(np.abs(optimize.approx_fprime(at, value, 1e-6))) < 1e-5


def test_one_expert_is_ordinary_regression(problem):
    X, y, _ = problem
    model, ols = MoERegressor(1).fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.expert_coef_[0], ols.coef_, atol=1e-9)
    np.testing.assert_allclose(model.expert_intercept_, ols.intercept_, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), ols.predict(X), atol=1e-9)
    residual = y - ols.predict(X)
    design = np.column_stack([X, np.ones(len(y))])
    dof = len(y) - design.shape[1]
    variance = np.sum(residual**2) / dof
    assert model.dof_[0] == dof
    assert model.noise_scale_[0] == pytest.approx(np.sqrt(variance), rel=1e-10)
    covariance = np.linalg.inv(design.T @ design) * variance
    textbook = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(model.expert_coef_se_[0], textbook[:-1], rtol=1e-8)
    np.testing.assert_allclose(model.expert_intercept_se_, textbook[-1:], rtol=1e-8)
    row = model.summary().rows[1]
    half = stats.t.ppf(0.975, dof) * textbook[0]
    np.testing.assert_allclose(row[-2:], [ols.coef_[0] - half, ols.coef_[0] + half], rtol=1e-8)
    new = np.random.default_rng(0).normal(scale=3, size=(20, X.shape[1]))
    half = stats.t.ppf(0.95, dof) * np.sqrt(variance + np.sum((D := np.c_[new, np.ones(20)]) @ covariance * D, axis=1))
    expected = np.column_stack([ols.predict(new) - half, ols.predict(new) + half])
    np.testing.assert_allclose(model.predict_interval(new), expected, rtol=0, atol=1e-8)
    assert model.noise_scale_se_[0] == pytest.approx(model.noise_scale_[0] / np.sqrt(2 * len(y)), rel=1e-4)


def test_likelihood_is_never_below_a_single_regressions():
    for name in ("load_airfoil", "load_stock_portfolio"):
        X, y = getattr(datasets, name)(return_X_y=True)
        one = MoERegressor(1).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", FewRowsWarning)  # one of the tables has 63 rows
            two = MoERegressor(2, random_state=0).fit(X, y)
        assert two.log_likelihood_ >= one.log_likelihood_
        assert np.all(np.isfinite(two.expert_coef_))


def test_messy_units_are_no_obstacle():
    X, y, truth = messy_table()
    model = MoERegressor(2, random_state=0).fit(X, y)
    order = metrics.match_experts(model.expert_coef_ * X.std(axis=0), truth.expert_coef * X.std(axis=0))
    for found, error, true in (
        (model.expert_coef_[order], model.expert_coef_se_[order], truth.expert_coef),
        (model.noise_scale_[order], model.noise_scale_se_[order], truth.noise_scale),
    ):
        assert np.all(np.abs(found - true) < 5 * error)
        assert np.all(error > 0)


def test_truth_lies_within_the_standard_errors(problem, fitted):
    _, _, truth = problem
    order = metrics.match_experts(fitted.expert_coef_, truth.expert_coef)
    z = (fitted.expert_coef_[order] - truth.expert_coef) / fitted.expert_coef_se_[order]
    assert np.max(np.abs(z)) < 4.5
    assert 0.4 < np.sqrt(np.mean(z**2)) < 1.8


@pytest.mark.parametrize("activation", ["sigmoid", "relu", "tanh", "softplus"])
def test_nonlinear_experts_are_fitted(activation):
    X, y, truth = make_moe(3000, 4, 2, noise_scale=0.1, activation=activation, random_state=0)
    model = MoERegressor(2, activation=activation, fit_intercept=False, random_state=0).fit(X, y)
    best = joint_em(X, y, 2, activation=activation, init=(truth.expert_coef, truth.gate_coef), tol=1e-6)
    assert model.log_likelihood_ / 3000 >= best.log_likelihood - 1e-4


# -- what changes a fit and what does not -----------------------------------------------------------------------------


def same_model(one, other, atol=1e-8):
    for name in ("expert_coef_", "expert_intercept_", "gate_coef_", "gate_intercept_", "noise_scale_"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=atol, rtol=1e-7, err_msg=name)


def test_integer_weights_are_repeated_rows(problem):
    X, y, _ = problem
    X, y = X[:600], y[:600]
    weight = np.random.default_rng(0).integers(0, 4, 600)
    weighted = MoERegressor(2, random_state=0).fit(X, y, sample_weight=weight)
    repeated = MoERegressor(2, random_state=0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    same_model(weighted, repeated)
    np.testing.assert_allclose(weighted.expert_coef_se_, repeated.expert_coef_se_, rtol=1e-6)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, abs=600 * 1e-9)


def test_order_of_rows_does_not_matter(problem):
    X, y, _ = problem
    rows = np.random.default_rng(0).permutation(len(y))
    same_model(MoERegressor(3, random_state=0).fit(X, y), MoERegressor(3, random_state=0).fit(X[rows], y[rows]), 1e-12)


def test_order_of_columns_carries_through(problem, fitted):
    X, y, _ = problem
    columns = [2, 0, 3, 1]
    turned = MoERegressor(3, random_state=0).fit(X[:, columns], y)
    np.testing.assert_allclose(turned.expert_coef_, fitted.expert_coef_[:, columns], atol=1e-6)
    np.testing.assert_allclose(turned.gate_coef_, fitted.gate_coef_[:, columns], atol=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_of_inputs_and_output_carry_through(problem, fitted, scale):
    X, y, _ = problem
    factors, shift = np.array([scale, 1.0, 3.0, 1 / scale]), np.array([0.0, 5.0, -1.0, 0.0])
    other = MoERegressor(3, random_state=0).fit(X * factors + shift, 1e6 * y - 7)
    np.testing.assert_allclose(other.expert_coef_ * factors / 1e6, fitted.expert_coef_, atol=1e-5)
    np.testing.assert_allclose(other.gate_coef_ * factors, fitted.gate_coef_, atol=1e-5)
    np.testing.assert_allclose(other.noise_scale_ / 1e6, fitted.noise_scale_, rtol=1e-6)
    np.testing.assert_allclose((other.predict(X * factors + shift) + 7) / 1e6, fitted.predict(X), atol=1e-5)
    assert other.log_likelihood_ == pytest.approx(fitted.log_likelihood_ - len(y) * np.log(1e6), abs=len(y) * 1e-7)


def test_same_seed_same_fit_and_any_seed_the_same_optimum(problem):
    X, y, _ = problem
    first, again, other = (MoERegressor(3, random_state=s).fit(X, y) for s in (1, 1, 2))
    same_model(first, again, 0)
    same_model(first, other, 1e-5)


def test_experts_stand_in_order_of_their_mean_gate_weight(problem, fitted):
    shares = fitted.gate_proba(problem[0]).mean(axis=0)
    assert np.all(np.diff(shares) <= 0)
    np.testing.assert_allclose(fitted.shares_, shares, atol=1e-8)
    np.testing.assert_array_equal(fitted.gate_coef_[-1], 0)
    assert fitted.gate_intercept_[-1] == 0
    np.testing.assert_array_equal(fitted.gate_coef_se_[-1], 0)


def test_nothing_the_caller_owns_is_changed(problem):
    X, y, _ = problem
    X_before, y_before = X.copy(), y.copy()
    weight = np.ones(len(y))
    MoERegressor(2, random_state=0).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)
    np.testing.assert_array_equal(weight, 1)


# -- what is asked of a fit -------------------------------------------------------------------------------------------


def test_predictions_are_the_gates_average_of_the_experts(problem, fitted):
    X, y, _ = problem
    P, means = fitted.gate_proba(X), fitted.expert_predict(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_allclose(fitted.predict(X), np.sum(P * means, axis=1))
    R = fitted.responsibilities(X, y)
    np.testing.assert_allclose(R.sum(axis=1), 1)
    assert np.sum(fitted.parameters_.log_density(X, y)) == pytest.approx(fitted.log_likelihood_, abs=len(y) * 1e-9)
    n, p = len(y), fitted.n_parameters_
    assert p == 3 * 5 + 2 * 5 + 3
    assert fitted.aic(X, y) == pytest.approx(2 * p - 2 * fitted.log_likelihood_)
    assert fitted.bic(X, y) == pytest.approx(p * np.log(n) - 2 * fitted.log_likelihood_)


def test_intervals_cover_what_they_say(problem, fitted):
    _, _, truth = problem
    X = np.random.default_rng(5).standard_normal((20_000, 4))
    y, _ = truth.sample(X, np.random.default_rng(6))
    for coverage in (0.5, 0.9, 0.95):
        low, high = fitted.predict_interval(X, coverage=coverage).T
        assert np.mean((y > low) & (y < high)) == pytest.approx(coverage, abs=0.025)


def test_samples_follow_the_model(problem, fitted):
    X, _, _ = problem
    y = fitted.sample(X, random_state=0)
    np.testing.assert_array_equal(y, fitted.sample(X, random_state=0))
    assert np.mean(fitted.log_density(X, y)) == pytest.approx(fitted.log_likelihood_ / len(y), abs=0.1)


def test_methods_treat_rows_one_by_one(problem, fitted):
    X, y, _ = problem
    X, y = X[:30], y[:30]
    order = np.random.default_rng(0).permutation(30)
    for method in ("predict", "gate_proba", "expert_predict", "predict_interval"):
        whole = getattr(fitted, method)(X)
        np.testing.assert_allclose(getattr(fitted, method)(X[order]), whole[order], atol=1e-12)
        np.testing.assert_allclose(np.concatenate([getattr(fitted, method)(x[None]) for x in X]), whole, atol=1e-12)
    whole = fitted.log_density(X, y)
    np.testing.assert_allclose(fitted.log_density(X[order], y[order]), whole[order], atol=1e-12)


def test_single_precision_in_single_precision_out(problem):
    X, y, _ = problem
    model = MoERegressor(2, random_state=0).fit(X.astype(np.float32), y.astype(np.float32))
    double = MoERegressor(2, random_state=0).fit(X, y)
    for method in ("predict", "gate_proba", "expert_predict", "predict_interval"):
        assert getattr(model, method)(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.expert_coef_, double.expert_coef_, atol=1e-4)


def test_warnings_of_a_fit_point_at_its_caller(rng):
    X = rng.standard_normal((40, 2))
    models = MoERegressor(9, random_state=0), MoERegressor(2, max_iter=1, random_state=0), MoEClassifier(2, max_iter=1)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for model in models:
            model.fit(np.column_stack([X, 2 * X[:, 0]]), X[:, 1] > 0)
    assert len({warning.category for warning in found}) >= 3
    assert {warning.filename for warning in found} == {__file__}


def test_history_is_a_view_that_nobody_changes(fitted):
    with pytest.raises(TypeError):
        fitted.history_["agreement"] = 0
    fitted.history_["starts"].clear()
    assert len(fitted.history_["starts"]) == len(fitted.record_.search.starts)
    assert not hasattr(MoERegressor(), "history_")


def test_history_tells_the_likelihood_and_the_winner(fitted):
    trace = fitted.history_["objective"]
    assert np.all(np.diff(trace) >= -1e-12)
    assert fitted.history_["winner"]
    assert any(name == "spectral" for name, _, _ in fitted.history_["starts"])
    assert fitted.history_["agreement"] >= 1


# -- choices ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3])
def test_number_of_experts_is_found(k):
    X, y, _ = make_moe(3000, 4, k, noise_scale=0.2, random_state=k)
    model = MoERegressor("auto", random_state=0).fit(X, y)
    assert model.n_experts_ == k
    tried = dict(model.history_["bic"])
    assert min(tried, key=tried.get) == k
    assert len(tried) <= k + 2


def test_known_noise_is_kept(problem):
    X, y, _ = problem
    model = MoERegressor(3, noise=0.25, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.noise_scale_, 0.25)
    np.testing.assert_array_equal(model.noise_scale_se_, 0)
    assert model.n_parameters_ == 3 * 5 + 2 * 5


def test_experts_and_gate_may_see_other_columns(problem):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4))
    truth = MoEParameters(
        [[1.0, -1, 0, 0], [-1.0, 2, 0, 0]], [[0, 0, 2.0, 0], [0, 0, 0, 0]], 0.2, b=[0.5, 0.0], c=[0.3, 0.0]
    )
    y, _ = truth.sample(X, rng)
    model = MoERegressor(2, expert_features=[0, 1], gate_features=[2, 3], random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.expert_coef_[:, 2:], 0)
    np.testing.assert_array_equal(model.gate_coef_[:, :2], 0)
    order = metrics.match_experts(model.expert_coef_, truth.expert_coef)
    np.testing.assert_allclose(model.expert_coef_[order], truth.expert_coef, atol=0.05)
    assert model.n_parameters_ == 2 * 3 + 3 + 2
    assert len(model.summary().rows) == 2 * 3 + 3 + 2
    full = MoERegressor(2, random_state=0).fit(X, y)
    assert full.log_likelihood_ >= model.log_likelihood_ - len(y) * 1e-8


def test_spectral_learns_unit_experts_and_climbs_no_likelihood():
    X, y, truth = make_moe(5000, 5, 2, noise_scale=0.1, random_state=0)
    model = MoERegressor(2, method="spectral", noise=0.1, random_state=0).fit(X, y)
    np.testing.assert_allclose(np.linalg.norm(model.expert_coef_, axis=1), 1)
    np.testing.assert_array_equal(model.expert_intercept_, 0)
    assert metrics.regressor_fit(model.expert_coef_, truth.expert_coef) > 0.99
    assert np.all(np.isnan(model.expert_coef_se_))
    assert not model.identified_


def test_joint_em_is_the_baseline(problem):
    X, y, _ = problem
    model = MoERegressor(3, method="joint-em", n_init=4, random_state=0, tol=1e-5).fit(X, y)
    assert len(model.history_["starts"]) == 4
    best = MoERegressor(3, penalty=0, calibration=None, random_state=0).fit(X, y)
    assert model.log_likelihood_ <= best.log_likelihood_ + len(y) * 1e-6


@pytest.mark.parametrize("law", ["gaussian", "mixture", None])
def test_input_law_can_be_overridden(problem, law, fitted):
    X, y, _ = problem
    model = MoERegressor(3, input_law=law, random_state=0).fit(X, y)
    assert model.log_likelihood_ == pytest.approx(fitted.log_likelihood_, abs=len(y) * 1e-6)


# -- the ecosystem ----------------------------------------------------------------------------------------------------


def test_clone_pickle_search_pipeline(problem):
    X, y, _ = problem
    X, y = X[:500], y[:500]
    model = MoERegressor(2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(MoERegressor(random_state=0), {"n_experts": [1, 2]}, cv=3).fit(X, y)
    assert search.best_params_["n_experts"] == 2
    pipeline = make_pipeline(StandardScaler(), MoERegressor(2, random_state=0)).fit(X, y)
    np.testing.assert_allclose(pipeline.predict(X), model.predict(X), atol=1e-5)
    assert cross_val_predict(MoERegressor(2, random_state=0), X, y, cv=3).shape == (500,)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_taken_with_their_names(problem, library):
    frames = pytest.importorskip(library)
    X, y, _ = problem
    names = ["speed", "age", "mass", "time"]
    frame = frames.DataFrame({name: X[:500, i] for i, name in enumerate(names)})
    model = MoERegressor(2, gate_features=["age", "mass"], random_state=0).fit(frame, y[:500])
    assert list(model.feature_names_in_) == names
    assert "mass" in str(model.summary())
    assert model.predict(frame).shape == (500,)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["age", "speed", "mass", "time"]])


def test_frames_are_checked_once_by_sample_and_weighted_score(problem):
    pd = pytest.importorskip("pandas")
    from sklearn.metrics import r2_score

    X, y, _ = problem
    frame = pd.DataFrame(X[:500], columns=[f"c{i}" for i in range(X.shape[1])])
    weight = np.arange(500) % 3
    model = MoERegressor(2, random_state=0).fit(frame, y[:500])
    assert model.sample(frame, random_state=0).shape == (500,)  # a warning about names would be an error here
    expected = r2_score(y[:500], model.predict(frame), sample_weight=weight)
    assert abs(model.score(frame, y[:500], sample_weight=weight) - expected) < 1e-12


def test_interruption_keeps_the_best_model_so_far(problem):
    X, y, _ = problem

    def stop(progress):
        if progress.step == 8:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = MoERegressor(3, random_state=0, verbose=stop).fit(X, y)
    assert not model.converged_
    assert np.all(np.isfinite(model.predict(X)))
    assert model.score(X, y) > 0


def test_interruption_of_the_choice_keeps_the_best_number_so_far(problem):
    X, y, _ = problem

    def stop(progress):
        if progress.n_experts == 4:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = MoERegressor("auto", random_state=0, verbose=stop).fit(X, y)
    assert model.n_experts_ == 3
    assert not model.converged_


def test_verbose_prints_progress(problem, capsys):
    X, y, _ = problem
    MoERegressor(2, random_state=0, verbose=2).fit(X[:500], y[:500])
    assert "log-likelihood" in capsys.readouterr().out


def test_verbose_callable_sees_progress_in_the_units_of_the_data(problem):
    X, y, _ = problem
    seen = []
    model = MoERegressor(2, random_state=0, verbose=seen.append).fit(X, 100 * y)
    assert [p.step for p in seen] == list(range(1, len(seen) + 1))
    assert {p.n_experts for p in seen} == {2}
    assert abs(seen[-1].log_likelihood - model.log_likelihood_ / len(y)) < 0.05


# -- bad input --------------------------------------------------------------------------------------------------------


def of(name, what):
    """How scikit-learn says that a parameter is wrong."""
    return rf"The '{name}' parameter of MoERegressor must be {what}.* Got "


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"n_experts": 0}, of("n_experts", "an int in the range")),
        ({"n_experts": "many"}, of("n_experts", "an int in the range")),
        ({"n_experts": 2.0}, of("n_experts", "an int in the range")),
        ({"method": "mcmc"}, of("method", "a str among")),
        ({"noise": "none"}, of("noise", "a str among")),
        ({"noise": -1}, of("noise", "a str among .* or a float in the range")),
        ({"noise": 0.0}, of("noise", "a str among .* or a float in the range")),
        ({"penalty": -1.0}, of("penalty", "a float in the range")),
        ({"tol": 0}, of("tol", "a float in the range")),
        ({"max_iter": 0}, of("max_iter", "an int in the range")),
        ({"n_init": 1.5}, of("n_init", "an int in the range")),
        ({"n_init": 10_001}, of("n_init", "an int in the range")),
        ({"averaging": 1001}, of("averaging", "an int in the range")),
        ({"fit_intercept": "no"}, of("fit_intercept", "an instance of 'bool'")),
        ({"checkpoint": 3}, of("checkpoint", "an instance of 'str'")),
        ({"random_state": "seed"}, of("random_state", "an int")),
        ({"activation": 3}, of("activation", "an instance of 'str' or a callable")),
        ({"activation": "gelu"}, "activation must be one of"),
        ({"gate_features": ["age"]}, "no column names"),
        ({"gate_features": [7]}, "indices below 4"),
        ({"expert_features": [1, 1]}, "twice"),
        ({"method": "spectral", "n_experts": "auto"}, "needs a number of experts"),
        ({"method": "joint-em", "n_experts": "auto"}, "needs a number of experts"),
        ({"method": "spectral", "n_experts": 5}, "more than the 4 columns"),
        ({"method": "spectral", "gate_features": [1]}, "takes no expert_features or gate_features"),
        ({"method": "spectral", "input_law": "cauchy"}, "input_law must be"),
    ],
)
def test_bad_settings_are_refused_by_their_name(problem, settings, why):
    X, y, _ = problem
    with pytest.raises(ValueError, match=why):
        MoERegressor(**settings).fit(X[:200], y[:200])


def test_bad_rows_are_refused(problem):
    X, y, _ = problem
    X, y = X[:100], y[:100]
    bad = X.copy()
    bad[3, 1] = np.nan
    for arguments, why in (
        ((bad, y), "NaN"),
        ((X, np.where(np.arange(100) == 5, np.inf, y)), "infinity"),
        ((X, np.ones(100)), "y is constant"),
        ((X, y[:50]), "inconsistent numbers of samples"),
        ((X[:1], y[:1]), "minimum of 2"),
        ((X, y, -np.ones(100)), "Negative values"),
        ((X, y, np.zeros(100)), "fewer than two rows|at least one"),
    ):
        with pytest.raises(ValueError, match=why):
            MoERegressor().fit(*arguments)
    with pytest.raises(NotFittedError):
        MoERegressor().predict(X)
    model = MoERegressor(1).fit(X, y)
    for coverage in (0, 1, 1.5, "wide"):
        with pytest.raises(ValueError, match="coverage"):
            model.predict_interval(X, coverage=coverage)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X, y: (np.column_stack([X, np.full(len(y), 7.0)]), y),
        lambda X, y: (np.column_stack([X, X[:, 0]]), y),
        lambda X, y: (np.column_stack([X, X @ [1, 2, 3, 4]]), y),
        lambda X, y: (np.repeat(X[:100], 4, axis=0), np.repeat(y[:100], 4)),
        lambda X, y: (X, np.round(y)),
        lambda X, y: (X, np.where(np.arange(len(y)) % 5 == 0, 0.0, y)),
        lambda X, y: (X, X @ [1.0, 2, 3, 4]),
        lambda X, y: (X, np.where(X[:, 0] > 0, X @ [1.0, 2, 3, 4], X @ [-1.0, 0, 2, 1])),
        lambda X, y: (np.sign(X), y),
        lambda X, y: (np.round(X).astype(int), y),
        lambda X, y: (X[:12], y[:12]),
    ],
    ids=[
        "constant column",
        "duplicate column",
        "dependent column",
        "duplicate rows",
        "few values of y",
        "many equal y",
        "perfect line",
        "separable perfect experts",
        "0/1 inputs",
        "integers",
        "few rows",
    ],
)
@pytest.mark.parametrize("noise", ["shared", "per-expert"])
def test_awkward_tables_are_fitted_soundly(problem, spoil, noise):
    X, y = spoil(problem[0][:400], problem[1][:400])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MoERegressor(2, noise=noise, random_state=0).fit(X, y)
        one = MoERegressor(1, noise=noise, random_state=0).fit(X, y)
    for name in ("expert_coef_", "expert_intercept_", "gate_coef_", "gate_intercept_", "noise_scale_"):
        assert np.all(np.isfinite(getattr(model, name))), name
    assert np.all(model.noise_scale_ > 0)
    assert np.all(np.isfinite(model.predict_interval(X)))
    assert model.log_likelihood_ >= one.log_likelihood_ - len(y) * 1e-9
    assert np.all(model.shares_ > 0)


@pytest.mark.filterwarnings("ignore::skmoe.inference.FewRowsWarning")
def test_more_experts_than_rows_can_carry_is_said(problem):
    X, y, _ = problem
    with pytest.warns(UserWarning, match="columns support"):
        model = MoERegressor(10, random_state=0).fit(X[:60], y[:60])
    assert model.n_experts_ == 6


@pytest.mark.parametrize("method", ["auto", "joint-em"])
def test_history_is_in_the_units_of_the_data(problem, method):
    X, y, _ = problem
    model = MoERegressor(2, method=method, n_init=2, penalty=0, random_state=0).fit(X, 100 * y)
    assert abs(model.history_["objective"][-1] - model.log_likelihood_ / len(y)) < 1e-3
    best = max(value for _, value, stage in model.history_["starts"] if stage == "all rows")
    assert abs(best - model.log_likelihood_ / len(y)) < 1e-3


@pytest.mark.parametrize("n_experts", [1, 2, "auto"])
def test_inputs_of_zeros_without_intercepts_are_refused(n_experts, rng):
    with pytest.raises(ValueError, match="zero in every row, and without intercepts"):
        MoERegressor(n_experts, fit_intercept=False).fit(np.zeros((40, 2)), rng.normal(size=40))


def test_columns_that_are_all_constant_leave_experts_of_intercepts_alone():
    y = np.append(np.zeros(15), np.ones(15)) + 0.01 * np.random.default_rng(0).standard_normal(30)
    X = np.full((30, 1), 13.57302211)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MoERegressor(2, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), np.mean(y), atol=0.05)
