"""MoERegressor with other laws than the Gaussian: one expert against statsmodels, several against themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats

import skmoe
from skmoe import MoERegressor
from skmoe.model.families import FAMILIES, PoissonFamily, StudentFamily, TruncatedFamily
from skmoe.model.parameters import MoEParameters

sm = pytest.importorskip("statsmodels.api", exc_type=ImportError)
NAMES = ["poisson", "binomial", "gamma", "negative-binomial", "lognormal", "student"]


def made(name, n=600, k=1, seed=0):
    """Rows of k experts over two inputs."""
    rng = np.random.default_rng(seed)
    family = StudentFamily(4.0) if name == "student" else FAMILIES[name]
    X = rng.standard_normal((n, 2))
    A = np.array([[0.8, -0.3], [-0.6, 0.5]])[:k] * (2 if name == "binomial" else 1)
    scale = np.array([0.5, 0.7])[:k] if family.has_scale else 1.0
    truth = MoEParameters(A, np.array([[0.0, 3.0], [0.0, 0.0]])[:k], scale, b=np.array([1.0, 1.5])[:k], family=family)
    return X, np.asarray(truth.sample(X, rng)[0]), truth


def one_expert(name, X, y, weight=None):
    family = StudentFamily(4.0) if name == "student" else name
    return MoERegressor(1, family=family).fit(X, y, sample_weight=weight)


def found(model, what=""):
    """Coefficients, intercept last, or their standard errors."""
    return np.append(getattr(model, f"expert_coef{what}_")[0], getattr(model, f"expert_intercept{what}_")[0])


def glm(name, X, y, weight=None):
    """Coefficients and observed information of statsmodels' GLM, of the canonical or log link."""
    family = {
        "poisson": sm.families.Poisson(),
        "binomial": sm.families.Binomial(),
        "gamma": sm.families.Gamma(sm.families.links.Log()),
    }[name]
    model = sm.GLM(y, np.column_stack([X, np.ones(len(X))]), family=family, freq_weights=weight)
    fit = model.fit(tol=1e-14, maxiter=200)
    return fit.params, model, fit


@pytest.mark.parametrize("name", ["poisson", "binomial", "gamma"])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_expert_is_the_glm_of_statsmodels(name, weighted):
    X, y, _ = made(name)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    model = one_expert(name, X, y, weight)
    params, reference, fit = glm(name, X, y, weight)
    assert_allclose(found(model), params, atol=1e-6)
    dispersion = model.noise_scale_[0] ** 2 if name == "gamma" else 1.0
    errors = np.sqrt(np.diag(np.linalg.inv(-reference.hessian(params, scale=dispersion, observed=True))))
    if name == "gamma":  # coefficients and shape are not orthogonal in the observed information
        assert_allclose(found(model, "_se"), errors, rtol=1e-3)
    else:
        assert_allclose(found(model, "_se"), errors, atol=1e-6)
        assert_allclose(model.log_likelihood_, fit.llf)


def test_one_negative_binomial_expert_is_that_of_statsmodels():
    X, y, _ = made("negative-binomial")
    model = one_expert("negative-binomial", X, y)
    fit = sm.NegativeBinomial(y, np.column_stack([X, np.ones(len(X))])).fit(disp=0, method="newton", tol=1e-12)
    assert_allclose(found(model), fit.params[:3], atol=1e-5)
    assert_allclose(model.noise_scale_[0] ** 2, fit.params[3], rtol=1e-5)
    assert_allclose(found(model, "_se"), fit.bse[:3], rtol=1e-4)
    assert model.log_likelihood_ == pytest.approx(fit.llf, abs=1e-6)


def test_one_lognormal_expert_is_least_squares_of_the_logs():
    X, y, _ = made("lognormal")
    model = one_expert("lognormal", X, y)
    fit = sm.OLS(np.log(y), np.column_stack([X, np.ones(len(X))])).fit()
    assert_allclose(found(model), fit.params, atol=1e-10)
    assert_allclose(found(model, "_se"), fit.bse, rtol=1e-8)
    assert model.log_likelihood_ == pytest.approx(fit.llf - np.sum(np.log(y)), abs=1e-6)


def test_one_student_expert_is_the_optimum_of_scipy():
    X, y, _ = made("student")
    model = one_expert("student", X, y)
    Z = np.column_stack([X, np.ones(len(X))])

    def loss(v):
        return -np.sum(stats.t.logpdf(y, 4.0, Z @ v[:3], np.exp(v[3])))

    best = optimize.minimize(loss, np.append(np.linalg.lstsq(Z, y, rcond=None)[0], 0.0), options={"gtol": 1e-8})
    assert_allclose(found(model), best.x[:3], atol=1e-5)
    assert model.noise_scale_[0] == pytest.approx(np.exp(best.x[3]), rel=1e-5)
    assert model.log_likelihood_ == pytest.approx(-best.fun, abs=1e-6)


@pytest.mark.parametrize("name", ["poisson", "binomial"])
def test_sandwich_is_that_of_statsmodels(name):
    X, y, _ = made(name)
    model = one_expert(name, X, y)
    _, _, fit = glm(name, X, y)
    robust = fit.model.fit(cov_type="HC0", tol=1e-14).bse
    assert_allclose(np.sqrt(np.diag(model.covariance_robust_))[:3], robust, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_two_experts_are_found_with_intervals_that_hold_them(name):
    X, y, truth = made(name, n=3000, k=2)
    model = MoERegressor(2, family="gamma" if name == "gamma" else name, random_state=0).fit(X, y)
    assert model.log_likelihood_ >= np.sum(truth.log_density(X, y)) - 1e-3 * len(y)
    order = np.argsort(-model.expert_coef_[:, 0])
    gap = (model.expert_coef_[order] - truth.A) / model.expert_coef_se_[order]
    assert np.max(np.abs(gap)) < 4
    assert np.all(np.isfinite(model.covariance_robust_))


@pytest.mark.parametrize("name", NAMES)
def test_whole_weights_are_repeated_rows(name):
    X, y, _ = made(name, n=300, k=2)
    weight = np.random.default_rng(2).integers(1, 4, len(y))
    how = {"family": name, "penalty": 0.3, "calibration": None, "random_state": 0}
    weighed = MoERegressor(2, **how).fit(X, y, sample_weight=weight)
    repeated = MoERegressor(2, **how).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighed.expert_coef_, repeated.expert_coef_, atol=1e-6)
    assert_allclose(weighed.expert_coef_se_, repeated.expert_coef_se_, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_predictive_distribution_is_that_of_the_mixture(name):
    X, y, _ = made(name, n=400, k=2)
    model = MoERegressor(2, family=name, calibration=None, penalty=0.3, random_state=0).fit(X, y)
    law, p = model.predictive(X), model.parameters_
    assert_allclose(law.logpdf(y), model.log_density(X, y))
    draws = np.stack([law.sample(s) for s in range(300)])
    error = 5 * np.std(draws, axis=0) / np.sqrt(300) + 1e-9
    assert np.mean(np.abs(np.mean(draws, axis=0) - model.predict(X)) < error) > 0.98
    low, high = law.interval(0.8).T
    assert np.mean((y >= low) & (y <= high)) > 0.75
    levels = law.quantile([0.1, 0.5])
    assert np.all(law.cdf(levels[:, 1]) >= 0.5 - 1e-9)
    if not p.family.discrete:
        assert_allclose(law.cdf(levels[:, 0]), 0.1, atol=1e-8)
    else:
        assert np.all(law.cdf(levels[:, 0] - 1) < 0.1)


@pytest.mark.parametrize("name", NAMES)
def test_smallest_sets_hold_their_probability_and_are_no_longer_than_intervals(name):
    X, y, _ = made(name, n=400, k=2)
    model = MoERegressor(2, family=name, calibration=None, penalty=0.3, random_state=0).fit(X, y)
    law = model.predictive(X[:20])
    regions, bounds = law.region(0.8), law.interval(0.8)
    discrete = model.parameters_.family.discrete
    for i, parts in enumerate(regions):
        one = model.predictive(X[i : i + 1])
        inside = sum(one.cdf(b)[0] - one.cdf(a - 1 if discrete else a)[0] for a, b in parts.tolist())
        assert inside >= 0.8 - 1e-6
        assert np.sum(parts[:, 1] - parts[:, 0]) <= bounds[i, 1] - bounds[i, 0] + 1e-6


@pytest.mark.parametrize("name", [name for name in NAMES if name != "student"])  # which takes any number
def test_wrong_outputs_are_refused_in_words(name):
    X, y, _ = made(name)
    with pytest.raises(ValueError, match=f"the family '{name}' takes .* as y; 1 of 600 values are not, such as -2.5"):
        MoERegressor(1, family=name).fit(X, np.append(y[:-1], -2.5))


def test_number_of_experts_is_chosen_for_counts():
    X, y, _ = made("poisson", n=1500, k=2)
    model = MoERegressor("auto", family="poisson", random_state=0).fit(X, y)
    assert model.n_experts_ == 2
    assert model.calibration_ is None
    averaged = MoERegressor(2, family="poisson", averaging=3, random_state=0).fit(X, y)
    assert_allclose(averaged.predict(X), model.predict(X), rtol=0.3)


@pytest.mark.parametrize("name", ["poisson", "gamma", "negative-binomial"])
def test_rows_of_pytorch_and_of_files_give_the_same_fit(name, tmp_path):
    torch = pytest.importorskip("torch", exc_type=ImportError)
    pa = pytest.importorskip("pyarrow")
    X, y, _ = made(name, n=400, k=2)
    how = {"family": name, "penalty": 0.3, "calibration": None, "random_state": 0}
    model = MoERegressor(2, **how).fit(X, y)
    other = MoERegressor(2, **how).fit(torch.asarray(X), torch.asarray(y))
    assert_allclose(other.expert_coef_, model.expert_coef_, atol=1e-6)
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    streamed = MoERegressor(2, **how).fit(table, "y")
    assert_allclose(streamed.expert_coef_, model.expert_coef_, atol=1e-6)


def test_degrees_of_freedom_are_learned_as_by_scipy():
    """Coefficients, scale and degrees of freedom at the joint optimum; standard errors know that all are unknown."""
    X, y, _ = made("student", n=1500)
    model = MoERegressor(1, family="student").fit(X, y)
    Z = np.column_stack([X, np.ones(len(X))])

    def loss(v):
        return -np.sum(stats.t.logpdf(y, np.exp(v[4]), Z @ v[:3], np.exp(v[3])))

    best = optimize.minimize(loss, np.append(np.linalg.lstsq(Z, y, rcond=None)[0], [-1.0, 1.5]), options={"gtol": 1e-6})
    assert_allclose(found(model), best.x[:3], atol=1e-3)
    assert model.family_.dof == pytest.approx(np.exp(best.x[4]), rel=5e-3)
    assert model.log_likelihood_ == pytest.approx(-best.fun, abs=1e-3)
    step = 1e-3 * np.eye(5)
    at = best.x
    H = np.array(
        [[loss(at + a + b) - loss(at + a - b) - loss(at - a + b) + loss(at - a - b) for a in step] for b in step]
    )
    errors = np.sqrt(np.diag(np.linalg.inv(H / 4e-6)))
    assert_allclose(found(model, "_se"), errors[:3], rtol=2e-2)
    assert model.noise_scale_se_[0] == pytest.approx(errors[3] * model.noise_scale_[0], rel=2e-2)
    assert model.n_parameters_ == 5


def test_student_experts_withstand_outliers():
    """Two outputs in a hundred are gross errors: robust experts hardly notice, Gaussian ones do."""
    X, y, truth = made("student", n=2000, k=2)
    rng = np.random.default_rng(5)
    wrong = rng.choice(len(y), size=len(y) // 50, replace=False)
    spoilt = y.copy()
    spoilt[wrong] += rng.choice([-1, 1], size=len(wrong)) * rng.uniform(15, 40, len(wrong))

    def error(family, outputs):
        model = MoERegressor(2, family=family, penalty=0, calibration=None, random_state=0).fit(X, outputs)
        A = model.expert_coef_[np.argsort(-model.expert_coef_[:, 0])]
        return np.sqrt(np.mean((A - truth.A) ** 2))

    assert error("student", spoilt) < 1.5 * error("student", y)
    assert error("gaussian", spoilt) > 3 * error("student", spoilt)


FILED = [*NAMES, StudentFamily(3.0), "censored-gaussian", "censored-lognormal", TruncatedFamily(lower=0.0)]
FILED += ["trials", "poisson exposure", "negative-binomial exposure"]


@pytest.mark.parametrize("family", FILED, ids=str)
def test_model_file_holds_the_family(family, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 2)), rng.uniform(0.5, 2.0, 120)
    if family in ("poisson", "negative-binomial", "binomial"):
        y = np.round(y - 0.5)
        y = np.minimum(y, 1.0) if family == "binomial" else y
    elif family in ("censored-gaussian", "censored-lognormal"):
        y = np.column_stack([y, np.where(y > 1.5, np.inf, y)])
    elif family == "trials":
        family, y = "binomial", np.column_stack([np.round(3 * y), np.ones(120)])
    elif str(family).endswith("exposure"):
        family, y = family.split()[0], np.column_stack([rng.poisson(2 * y), y])
    model = MoERegressor(1, family=family).fit(X, y)
    model.save(tmp_path / "model.skmoe")
    again = skmoe.load(tmp_path / "model.skmoe")
    assert again.family_ == model.family_
    assert again.family == model.family
    assert_allclose(again.log_density(X, y), model.log_density(X, y))
    assert_allclose(again.predict_interval(X), model.predict_interval(X))
    assert str(again.summary()) == str(model.summary())


def test_model_file_cannot_hold_a_law_of_ones_own(tmp_path):
    class Own(PoissonFamily):
        name = "own"

    X, y, _ = made("poisson", n=100)
    with pytest.raises(ValueError, match="family 'own' is your own code"):
        MoERegressor(1, family=Own()).fit(X, y).save(tmp_path / "model.skmoe")


@pytest.mark.parametrize("name", ["gamma", "lognormal"])
@pytest.mark.parametrize("odd", [1e300, 5e-324])
def test_positive_outputs_that_are_too_far_apart_are_refused(name, odd):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.exp(rng.standard_normal(60))
    with pytest.raises(ValueError, match=rf"y spans from .* too far apart for the family '{name}'"):
        MoERegressor(1, family=name).fit(X, np.append(y[:-1], odd))
    weight = np.append(np.ones(59), 0.0)  # a row that does not count
    model = MoERegressor(1, family=name, calibration=None).fit(X, np.append(y[:-1], odd), weight)
    assert np.all(np.isfinite(model.predict(X)))


def test_outputs_within_reach_of_gamma_experts_are_fitted_to_the_last_digits():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.exp(rng.standard_normal(60))
    y[0] = 1e6
    model = MoERegressor(1, family="gamma", calibration=None).fit(X, y)
    score = np.column_stack([X, np.ones(60)]).T @ (y / model.predict(X) - 1)  # of the likelihood, zero at its maximum
    assert_allclose(score, 0, atol=1e-8)
