import warnings

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import r2_score

from skmoe import MoERegressor
from skmoe.model.evaluation import log_likelihood, mean_gate, r_squared
from skmoe.model.parameters import MoEParameters
from skmoe.model.predictive import PredictiveDistribution


@pytest.fixture
def model():
    return MoEParameters([[1.0, -2.0], [0.5, 3.0]], [[2.0, 0.0], [0.0, 0.0]], [0.1, 0.6], b=[0.3, -1.0])


@pytest.fixture
def table(rng):
    return rng.standard_normal((50_000, 2)), rng.standard_normal(50_000), rng.integers(0, 4, 50_000).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
def test_r_squared_is_scikit_learns(xp, model, table, weighted):
    X, y, weight = table
    weight = weight if weighted else None
    expected = r2_score(y, model.predict(X), sample_weight=weight)
    for shift in (0.0, 1e6):  # no digits are lost to a far origin
        moved = MoEParameters(model.A, model.W, model.sigma, b=model.b + shift)
        found = r_squared(
            PredictiveDistribution.of(moved),
            xp.asarray(X),
            xp.asarray(y + shift),
            None if weight is None else xp.asarray(weight),
        )
        assert found == pytest.approx(expected, rel=1e-9)


def test_r_squared_of_one_row_is_not_defined(model):
    X, y = np.zeros((1, 2)), np.ones(1)
    with pytest.warns(UndefinedMetricWarning):
        expected = r2_score(y, model.predict(X))
    with pytest.warns(UndefinedMetricWarning, match="two rows"):
        found = r_squared(PredictiveDistribution.of(model), X, y)
    assert np.isnan(expected)
    assert np.isnan(found)


@pytest.mark.parametrize("exact", [True, False])
def test_r_squared_of_a_constant_output_is_scikit_learns(exact):
    constant = MoEParameters([[0.0]], [[0.0]], 1.0, b=[2.0 if exact else 3.0])
    X, y = np.arange(40_000.0)[:, None], np.full(40_000, 2.0)
    assert r_squared(PredictiveDistribution.of(constant), X, y) == r2_score(y, constant.predict(X)) == float(exact)


def test_r_squared_of_a_constant_output_is_zero_though_its_mean_is_rounded():
    constant = MoEParameters([[0.0]], [[0.0]], 1.0, b=[0.2])
    assert r_squared(PredictiveDistribution.of(constant), np.arange(40_000.0)[:, None], np.full(40_000, 0.1)) == 0.0


def test_score_of_an_estimator_on_one_row_or_a_constant_output_is_scikit_learns(rng):
    X = rng.standard_normal((40, 2))
    model = MoERegressor(1).fit(X, X @ [1.0, 2.0] + rng.standard_normal(40))
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(model.score(X[:1], np.ones(1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.score(X, np.ones(40)) == r2_score(np.ones(40), model.predict(X)) == 0.0


def test_log_likelihood_is_the_sum_of_log_densities(xp, model, table):
    X, y, weight = table
    rows = [xp.asarray(part) for part in table]
    assert log_likelihood(model, *rows[:2]) == pytest.approx(np.sum(model.log_density(X, y)), rel=1e-12)
    assert log_likelihood(model, *rows) == pytest.approx(np.sum(weight * model.log_density(X, y)), rel=1e-12)


def test_mean_gate_is_the_average_of_the_gate(xp, model, table):
    X, _, weight = table
    P = model.gate_proba(X)
    np.testing.assert_allclose(mean_gate(model, xp.asarray(X)), P.mean(axis=0), rtol=1e-10)
    weighted = mean_gate(model, xp.asarray(X), xp.asarray(weight))
    np.testing.assert_allclose(weighted, np.average(P, axis=0, weights=weight), rtol=1e-10)
