"""Censored, truncated and binomial outputs in several columns: one expert against SciPy and statsmodels, two found."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats

from skmoe import MoERegressor
from skmoe.model.families import TruncatedFamily


def censored(n=800, k=1, seed=0):
    """Outputs that are seen between 0 and 2 only, and what they were."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    eta = 1 + X @ [0.8, -0.5]
    if k == 2:
        eta = np.where(rng.random(n) < 1 / (1 + np.exp(-3 * X[:, 1])), eta, 1 - X @ [1.0, 0.0])
    y = eta + 0.6 * rng.standard_normal(n)
    lower = np.where(y < 0, -np.inf, np.where(y > 2, 2.0, y))
    upper = np.where(y < 0, 0.0, np.where(y > 2, np.inf, y))
    return X, np.column_stack([lower, upper]), y


def tobit(X, bounds):
    """Maximum of the Tobit likelihood by SciPy: coefficients, intercept, scale, log-likelihood."""
    Z, (lower, upper) = np.column_stack([X, np.ones(len(X))]), bounds.T
    seen = lower == upper

    def loss(v):
        law = stats.norm(Z @ v[:3], np.exp(v[3]))
        between = np.where(np.isinf(lower), law.logcdf(0.0), law.logsf(2.0))
        return -np.sum(np.where(seen, law.logpdf(np.where(seen, lower, 0.0)), between))

    best = optimize.minimize(loss, np.zeros(4), options={"gtol": 1e-7})
    return best.x, -best.fun


def found(model):
    return np.array([*model.expert_coef_[0], model.expert_intercept_[0], np.log(model.noise_scale_[0])])


def test_one_censored_expert_is_the_optimum_of_the_tobit_likelihood():
    X, bounds, _ = censored()
    model = MoERegressor(1, family="censored-gaussian").fit(X, bounds)
    expected, log_likelihood = tobit(X, bounds)
    assert_allclose(found(model), expected, atol=1e-5)
    assert model.log_likelihood_ == pytest.approx(log_likelihood, abs=1e-6)
    assert_allclose(np.sum(model.log_density(X, bounds)), model.log_likelihood_)
    assert np.all(model.expert_coef_se_ > 0)


def test_bounds_that_are_equal_everywhere_are_least_squares():
    X, _, y = censored()
    model = MoERegressor(1, family="censored-gaussian").fit(X, np.column_stack([y, y]))
    plain = MoERegressor(1).fit(X, y)
    assert_allclose(model.expert_coef_, plain.expert_coef_, atol=1e-7)
    assert model.log_likelihood_ == pytest.approx(plain.log_likelihood_, abs=len(X) * 1e-9)


def test_one_censored_lognormal_expert_is_the_same_of_the_logs():
    X, bounds, _ = censored()
    logs = MoERegressor(1, family="censored-gaussian").fit(X, bounds)
    model = MoERegressor(1, family="censored-lognormal").fit(X, np.exp(bounds))
    assert_allclose(found(model), found(logs), atol=1e-7)
    seen = bounds[:, 0] == bounds[:, 1]
    assert model.log_likelihood_ == pytest.approx(logs.log_likelihood_ - np.sum(bounds[seen, 0]), abs=len(X) * 1e-8)


@pytest.mark.parametrize("constant", [True, False])
def test_one_truncated_expert_is_the_optimum_of_scipy(constant):
    X, _, y = censored(2000)
    X, y = X[y > 0], y[y > 0]
    Z = np.column_stack([X, np.ones(len(X))])

    def loss(v):
        law = stats.norm(Z @ v[:3], np.exp(v[3]))
        return -np.sum(law.logpdf(y) - law.logsf(0.0))

    expected = optimize.minimize(loss, np.zeros(4), options={"gtol": 1e-7})
    if constant:
        model = MoERegressor(1, family=TruncatedFamily(lower=0.0)).fit(X, y)
    else:
        table = np.column_stack([y, np.zeros(len(y)), np.full(len(y), np.inf)])
        model = MoERegressor(1, family="truncated-gaussian").fit(X, table)
    assert_allclose(found(model), expected.x, atol=1e-5)
    assert model.log_likelihood_ == pytest.approx(-expected.fun, abs=1e-6)


def test_two_censored_experts_predict_what_is_behind_the_bounds():
    X, bounds, y = censored(3000, k=2)
    model = MoERegressor(2, family="censored-gaussian", random_state=0).fit(X, bounds)
    order = np.argsort(-model.expert_coef_[:, 0])
    gap = (model.expert_coef_[order] - [[0.8, -0.5], [-1.0, 0.0]]) / model.expert_coef_se_[order]
    assert np.max(np.abs(gap)) < 4
    low, high = model.predict_interval(X, 0.9).T
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(0.9, abs=0.03)
    with pytest.raises(ValueError, match="score needs outputs of one column"):
        model.score(X, bounds)


def test_number_of_experts_is_chosen_for_censored_outputs():
    X, bounds, _ = censored(1500, k=2)
    assert MoERegressor("auto", family="censored-gaussian", random_state=0).fit(X, bounds).n_experts_ == 2


def test_successes_and_failures_are_the_binomial_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api", exc_type=ImportError)
    rng = np.random.default_rng(0)
    X, trials = rng.standard_normal((400, 2)), rng.integers(1, 12, 400)
    s = rng.binomial(trials, 1 / (1 + np.exp(-X @ [1.0, -0.5])))
    pair = np.column_stack([s, trials - s]).astype(float)
    fit = sm.GLM(pair, np.column_stack([X, np.ones(400)]), family=sm.families.Binomial()).fit(tol=1e-14)
    model = MoERegressor(1, family="binomial").fit(X, pair)
    assert_allclose([*model.expert_coef_[0], model.expert_intercept_[0]], fit.params, atol=1e-6)
    assert_allclose([*model.expert_coef_se_[0], model.expert_intercept_se_[0]], fit.bse, atol=1e-6)
    assert model.log_likelihood_ == pytest.approx(fit.llf)
    by_weight = MoERegressor(1, family="binomial").fit(X, s / trials, sample_weight=trials)
    assert_allclose(by_weight.expert_coef_, model.expert_coef_, atol=1e-9)
    assert_allclose(model.predict(X), fit.predict(), atol=1e-6)


def counts_with_exposure(n, dispersion=0.0):
    rng = np.random.default_rng(3)
    X, exposure = rng.standard_normal((n, 2)), rng.uniform(0.2, 5.0, n)
    rate = exposure * np.exp(0.4 + X @ [0.6, -0.3])
    spread = rng.gamma(1 / dispersion, dispersion, n) if dispersion else 1.0
    return X, np.column_stack([rng.poisson(rate * spread), exposure]).astype(float)


def test_counts_with_exposure_are_the_poisson_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api", exc_type=ImportError)
    X, pair = counts_with_exposure(400)
    design = np.column_stack([X, np.ones(400)])
    fit = sm.GLM(pair[:, 0], design, family=sm.families.Poisson(), exposure=pair[:, 1]).fit(tol=1e-14)
    model = MoERegressor(1, family="poisson").fit(X, pair)
    assert_allclose([*model.expert_coef_[0], model.expert_intercept_[0]], fit.params, atol=1e-6)
    assert_allclose([*model.expert_coef_se_[0], model.expert_intercept_se_[0]], fit.bse, atol=1e-6)
    assert model.log_likelihood_ == pytest.approx(fit.llf)
    assert_allclose(model.predict(X), fit.predict(design, exposure=np.ones(400)), atol=1e-6)  # for an exposure of one


def test_counts_with_exposure_are_the_negative_binomial_of_statsmodels():
    discrete = pytest.importorskip("statsmodels.discrete.discrete_model", exc_type=ImportError)
    X, pair = counts_with_exposure(600, dispersion=0.3)
    design = np.column_stack([X, np.ones(600)])
    fit = discrete.NegativeBinomial(pair[:, 0], design, exposure=pair[:, 1]).fit(disp=0, gtol=1e-10, maxiter=200)
    model = MoERegressor(1, family="negative-binomial").fit(X, pair)
    found = [*model.expert_coef_[0], model.expert_intercept_[0], model.noise_scale_[0] ** 2]
    assert_allclose(found, fit.params, atol=1e-6)
    assert_allclose([*model.expert_coef_se_[0], model.expert_intercept_se_[0]], fit.bse[:3], atol=1e-6)
    assert model.log_likelihood_ == pytest.approx(fit.llf)


@pytest.mark.parametrize("family", ["poisson", "negative-binomial"])
def test_exposures_of_one_change_nothing_and_other_units_move_the_intercepts(family):
    X, pair = counts_with_exposure(500, dispersion=0.3)
    pair[:, 0] += np.where(X[:, 0] > 0, 4.0, 0.0)
    how = {"family": family, "penalty": 0, "calibration": None, "random_state": 0}
    plain = MoERegressor(2, **how).fit(X, pair[:, 0])
    ones = MoERegressor(2, **how).fit(X, np.column_stack([pair[:, 0], np.ones(500)]))
    assert_allclose(ones.expert_coef_, plain.expert_coef_, atol=1e-5)
    assert_allclose(ones.log_likelihood_, plain.log_likelihood_, atol=500 * 1e-8)
    years, months = (MoERegressor(2, **how).fit(X, pair * [1.0, unit]) for unit in (1.0, 12.0))
    assert_allclose(months.expert_intercept_ + np.log(12.0), years.expert_intercept_, atol=1e-4)
    assert_allclose(months.log_likelihood_, years.log_likelihood_, atol=500 * 1e-8)


@pytest.mark.parametrize("wrong", [[1.5, 1.0], [2.0, 0.0], [2.0, -1.0], [-1.0, 1.0]])
def test_counts_and_exposures_that_cannot_be_are_refused(wrong):
    X, pair = counts_with_exposure(30)
    pair[4] = wrong
    with pytest.raises(ValueError, match="positive exposures as y; 1 of 30"):
        MoERegressor(1, family="poisson").fit(X, pair)


def test_proportions_without_trials_are_refused():
    with pytest.raises(ValueError, match="needs the numbers of trials"):
        MoERegressor(1, family="binomial").fit(np.zeros((3, 1)), [0.2, 0.5, 1.0])


def test_columns_of_a_table_are_taken_by_name():
    pa = pytest.importorskip("pyarrow")
    X, bounds, _ = censored(300)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "low": bounds[:, 0], "high": bounds[:, 1]})
    model = MoERegressor(1, family="censored-gaussian").fit(table, ["low", "high"])
    plain = MoERegressor(1, family="censored-gaussian").fit(X, bounds)
    assert_allclose(model.expert_coef_, plain.expert_coef_, atol=1e-8)
    with pytest.raises(TypeError, match="list of 2 names"):
        MoERegressor(1, family="censored-gaussian").fit(table, "low")


def test_wrong_shapes_and_bounds_are_refused_in_words():
    X, bounds, _ = censored(50)
    with pytest.raises(ValueError, match=r"y must have 2 columns .* got shape \(50,\)"):
        MoERegressor(1, family="censored-gaussian").fit(X, bounds[:, 0])
    with pytest.raises(ValueError, match=r"takes a lower and an upper bound, .* 50 of 50 values are not"):
        MoERegressor(1, family="censored-gaussian").fit(X, np.column_stack([np.ones(50), np.zeros(50)]))
