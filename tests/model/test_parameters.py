import numpy as np
import pytest
from scipy import stats

from skmoe.arrays.namespaces import to_numpy
from skmoe.model.activations import ACTIVATIONS
from skmoe.model.parameters import MoEParameters


@pytest.fixture(params=sorted(ACTIVATIONS))
def model(request, rng):
    k, d = 3, 2
    W = np.vstack([rng.standard_normal((k - 1, d)), np.zeros((1, d))])
    return MoEParameters(
        rng.standard_normal((k, d)), W, [0.2, 0.5, 1.0], b=[0.1, -0.3, 0.0], c=[0.4, -0.2, 0.0], family=request.param
    )


def direct_density(model, X, y):
    logits = X @ model.W.T + model.c
    gate = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return gate, gate * stats.norm.pdf(y[:, None], model.g(X @ model.A.T + model.b), model.sigma)


def test_density_and_responsibilities_match_the_formula(xp, rng, model):
    X, y = rng.standard_normal((700, 2)), rng.standard_normal(700)
    gate, joint = direct_density(model, X, y)
    X_, y_ = xp.asarray(X), xp.asarray(y)
    np.testing.assert_allclose(to_numpy(model.log_density(X_, y_)), np.log(joint.sum(axis=1)), atol=1e-12)
    np.testing.assert_allclose(to_numpy(model.gate_proba(X_)), gate, atol=1e-13)
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(to_numpy(model.responsibilities(X_, y_)), expected, atol=1e-12)
    np.testing.assert_allclose(to_numpy(model.predict(X_)), np.sum(gate * model.g(X @ model.A.T + model.b), axis=1))


def test_density_integrates_to_one(rng, model):
    x = rng.standard_normal((1, 2))
    y = np.linspace(-12, 12, 4001)
    density = np.exp(model.log_density(np.repeat(x, len(y), axis=0), y))
    assert np.trapezoid(density, y) == pytest.approx(1.0, abs=1e-8)


def test_log_density_is_finite_far_out():
    model = MoEParameters([[1.0], [-1.0]], [[50.0], [0.0]], 1e-3)
    X = np.array([[1e3], [-1e3], [0.0]])
    assert np.all(np.isfinite(model.log_density(X, np.array([0.0, 5.0, 1e4]))))
    np.testing.assert_allclose(model.responsibilities(X, np.zeros(3)).sum(axis=1), 1.0)


def test_blocks_make_no_difference(rng):
    model = MoEParameters(rng.standard_normal((2, 3)), [[1.0, 0, 0], [0, 0, 0]], 0.1)
    X, y = rng.standard_normal((40_000, 3)), rng.standard_normal(40_000)
    by_rows = np.concatenate([model.log_density(x, t) for x, t in zip(np.split(X, 8), np.split(y, 8), strict=True)])
    np.testing.assert_allclose(model.log_density(X, y), by_rows, atol=1e-12)


def test_sample_has_the_models_moments(xp, model):
    n = 200_000
    x = np.array([[0.3, -0.7]])
    y, expert = model.sample(xp.asarray(np.repeat(x, n, axis=0)), np.random.default_rng(0))
    gate, mean = model.gate_proba(x)[0], model.expert_means(x)[0]
    share = np.bincount(expert, minlength=3) / n
    np.testing.assert_allclose(share, gate, atol=5 * np.sqrt(0.25 / n))
    variance = gate @ (model.sigma**2 + mean**2) - (gate @ mean) ** 2
    assert to_numpy(y).mean() == pytest.approx(gate @ mean, abs=5 * np.sqrt(variance / n))


def test_permuted_model_is_the_same_model(rng, model):
    X, y = rng.standard_normal((50, 2)), rng.standard_normal(50)
    other = model.permuted([2, 0, 1])
    np.testing.assert_allclose(other.log_density(X, y), model.log_density(X, y), atol=1e-12)
    np.testing.assert_array_equal(other.W[-1], 0)
    np.testing.assert_array_equal(other.expert_coef[0], model.expert_coef[2])


@pytest.mark.parametrize("method", ["gate_proba", "predictors", "expert_means", "predict", "log_density"])
def test_no_rows_give_empty_arrays(xp, model, method):
    X, y = xp.asarray(np.empty((0, 2))), xp.asarray(np.empty(0))
    found = getattr(model, method)(*(X, y) if method == "log_density" else (X,))
    assert found.shape == ((0,) if method in ("predict", "log_density") else (0, 3))
