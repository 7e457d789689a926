"""Experts whose log mean is a line: beyond their own rows it is held, so that means of new rows do not run away."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import skmoe
from skmoe import MoERegressor

LOG_LINKS = ["poisson", "negative-binomial", "gamma"]


def heavy_tailed(n, seed, family="poisson"):
    """Inputs with heavy tails, outputs whose mean levels off, and that mean."""
    rng = np.random.default_rng(seed)
    first = np.exp(rng.standard_normal(n)) * (rng.random(n) < 0.3)
    X = np.column_stack([first, rng.standard_t(3, n), rng.standard_normal(n)])
    mean = 0.15 * np.exp(0.3 * X[:, 2]) + 1.2 * (1 - np.exp(-X[:, 0])) * (1 + 0.5 * np.tanh(X[:, 1]))
    rate = mean * rng.gamma(2, 0.5, n)
    return X, (rate if family == "gamma" else rng.poisson(rate)).astype(float), mean


def fitted(family, k=3, seed=1, n=500, **settings):
    X, y, _ = heavy_tailed(n, seed, family)
    return MoERegressor(k, family=family, random_state=0, **settings).fit(X, y), X, y


def error(y, predicted):
    return np.sqrt(np.mean((y - predicted) ** 2))


@pytest.mark.parametrize("family", ["poisson", "negative-binomial"])
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_means_of_new_rows_do_not_run_away(family, seed):
    model, _, y = fitted(family, seed=seed)
    new, counts, mean = heavy_tailed(20_000, seed + 100)
    assert error(counts, model.predict(new)) < min(1.1 * error(counts, mean), error(counts, np.mean(y)))


@pytest.mark.parametrize("family", LOG_LINKS)
def test_predictors_are_held_at_the_largest_on_rows_of_the_expert(family):
    model, X, y = fitted(family)
    free = replace(model.parameters_, largest=None)
    R, eta = free.responsibilities(X, y), X @ free.A.T + free.expert_intercept
    largest = np.array([np.max(eta[R[:, i] >= R[:, i].max() / 2, i]) for i in range(3)])
    assert np.allclose(model.parameters_.largest, largest)
    far = 5 * X
    held = np.exp(np.minimum(far @ free.A.T + free.expert_intercept, largest))
    assert np.any(held < free.expert_means(far))
    assert np.allclose(model.expert_predict(far), held)
    assert np.allclose(model.predict(far), np.sum(model.gate_proba(far) * held, axis=1))
    assert np.allclose(model.predictive(far).mean(), model.predict(far))


def test_distributions_are_those_of_the_means_that_are_predicted():
    model, X, y = fitted("poisson")
    far, means = 5 * X, model.expert_predict(5 * X)
    expected = logsumexp(stats.poisson.logpmf(y[:, None], means), axis=1, b=model.gate_proba(far))
    assert np.allclose(model.log_density(far, y), expected)
    assert np.allclose(model.parameters_.log_density(far, y), expected)
    below = np.sum(model.gate_proba(far) * stats.poisson.cdf(y[:, None], means), axis=1)
    assert np.allclose(model.predictive(far).cdf(y), below)
    drawn = np.mean([model.sample(far, random_state=seed) for seed in range(200)], axis=0)
    std = model.predictive(far).std()
    assert np.max(np.abs(drawn - model.predict(far)) / np.maximum(std, 1e-3)) < 6 / np.sqrt(200)


@pytest.mark.parametrize("family", LOG_LINKS)
def test_criteria_are_of_the_likelihood_that_was_maximised(family):
    model, X, y = fitted(family, penalty=0.3)
    assert model.aic(X, y) == pytest.approx(2 * model.n_parameters_ - 2 * model.log_likelihood_, rel=1e-9)


@pytest.mark.parametrize("family", [*LOG_LINKS, "gaussian", "binomial"])
def test_one_expert_and_other_links_are_not_held(family):
    X, y, _ = heavy_tailed(300, 0, "gamma" if family in ("gamma", "gaussian") else "poisson")
    y = np.minimum(y, 1) if family == "binomial" else y
    k = 1 if family in LOG_LINKS else 2
    assert MoERegressor(k, family=family, random_state=0).fit(X, y).parameters_.largest is None


def test_held_predictors_are_those_of_the_rate_whatever_the_exposure():
    rng = np.random.default_rng(0)
    X, _, mean = heavy_tailed(500, 1)
    days = rng.uniform(0.5, 4, 500)
    y = rng.poisson(days * mean)
    model = MoERegressor(3, family="poisson", random_state=0).fit(X, np.column_stack([y, days]))
    far = 20 * X
    rates = np.exp(np.minimum(far @ model.expert_coef_.T + model.expert_intercept_, model.parameters_.largest))
    rate = np.sum(model.gate_proba(far) * rates, axis=1)
    assert np.any(rate < replace(model.parameters_, largest=None).predict(far))
    assert np.allclose(model.predict(far), rate)
    assert np.allclose(model.predictive(far, exposure=days).mean(), days * rate)
    each = stats.poisson.logpmf(y[:, None], days[:, None] * rates)
    density = logsumexp(each, axis=1, b=model.gate_proba(far))
    assert np.allclose(model.log_density(far, np.column_stack([y, days])), density)
    assert np.allclose(model.predictive(far, exposure=days).logpdf(y), density)


@pytest.mark.parametrize("averaging", [0, 5])
def test_loaded_models_predict_as_the_saved_ones(averaging, tmp_path):
    model, X, y = fitted("poisson", k="auto" if averaging else 3, averaging=averaging)
    assert len(model.members_) == averaging
    model.save(tmp_path / "counts.skmoe")
    loaded = skmoe.load(tmp_path / "counts.skmoe")
    assert np.array_equal(loaded.predict(20 * X), model.predict(20 * X))
    assert np.array_equal(loaded.log_density(20 * X, y), model.log_density(20 * X, y))
    free = [replace(p, largest=None).predict(20 * X) for p in (loaded.members_ or (loaded.parameters_,))]
    assert np.max(free) > np.max(model.predict(20 * X))
