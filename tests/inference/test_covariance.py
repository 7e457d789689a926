import warnings

import numpy as np
import pytest
from scipy import linalg, optimize

from skmoe import MoEClassifier, MoERegressor, load, make_moe
from skmoe.inference.covariance import covariance_root, from_root, sandwich_root, split_errors
from skmoe.model.parameters import MoEParameters
from skmoe.search.solvers import cholesky, inverse_root


def covariances(information, free, outer):
    """By the information and by the sandwich formula, of one row."""
    root = inverse_root(information, free)
    return from_root(root), from_root(root @ sandwich_root(root, outer))


def test_covariances_skip_what_is_fixed(rng):
    M = rng.standard_normal((3, 3))
    information, outer = M @ M.T + np.eye(3), np.eye(3)
    free = np.array([True, True, False])
    model, sandwich = covariances(information, free, outer)
    np.testing.assert_allclose(model[:2, :2], np.linalg.inv(information[:2, :2]))
    np.testing.assert_array_equal(model[2], 0)
    inverse = np.linalg.inv(information[:2, :2])
    np.testing.assert_allclose(sandwich[:2, :2], inverse @ inverse)


def test_covariances_of_parameters_in_wild_units_are_found():
    """Positive definite once rescaled, as identification is judged; singular to working precision before."""
    R = np.array([[1.0, 0.3, 0.2], [0.3, 1.0, -0.4], [0.2, -0.4, 1.0]])
    units = np.array([1e10, 1.0, 1e-10])
    H = R * np.outer(units, units)
    with pytest.warns(linalg.LinAlgWarning):
        linalg.solve(H, np.eye(3))
    assert cholesky(H) is not None
    for found in covariances(H, np.ones(3, dtype=bool), H):
        np.testing.assert_allclose(found * np.outer(units, units), np.linalg.inv(R), rtol=1e-9)


def test_sandwich_of_an_all_but_singular_information_is_symmetric_with_positive_variances(rng):
    """Where outer products of scores are those of rows, of which some directions know next to nothing."""
    Q = linalg.qr(rng.standard_normal((6, 6)))[0]
    Z = rng.standard_normal((500, 6)) @ np.diag([1, 1, 1, 1e-3, 1e-5, 1e-6]) @ Q
    _, sandwich = covariances(Z.T @ Z / 500, np.ones(6, dtype=bool), Z.T @ Z / 500)
    np.testing.assert_array_equal(sandwich, sandwich.T)
    assert np.min(np.diag(sandwich)) > 0
    assert np.min(linalg.eigvalsh(sandwich)) > -1e-12 * np.max(sandwich)


def test_covariance_is_found_where_a_gate_all_but_separates(rng):
    """The gate's coefficients are large and hardly known, the experts' all but exact."""
    X = rng.standard_normal((400, 2))
    y = np.where(X[:, 0] > 0, 5 + X[:, 1], -5 - X[:, 1]) + 1e-3 * rng.standard_normal(400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MoERegressor(2, penalty=0, random_state=0).fit(X, y)
    assert model.identified_
    assert np.all(np.isfinite(model.covariance_))
    assert np.all(np.isfinite(model.covariance_robust_))
    assert np.max(model.expert_coef_se_) < 1e-3
    assert np.min(model.gate_coef_se_[0]) > 5


def test_errors_are_split_by_name():
    p = MoEParameters(np.zeros((2, 2)), np.zeros((2, 2)), 1.0)
    parts = split_errors(np.diag(np.arange(1.0, 15.0) ** 2), p)
    np.testing.assert_allclose(parts["expert_coef"], [[1, 2], [3, 4]])
    np.testing.assert_allclose(parts["expert_intercept"], [5, 6])
    np.testing.assert_allclose(parts["gate_coef"], [[7, 8], [9, 10]])
    np.testing.assert_allclose(parts["noise_scale"], [13, 14])


def test_errors_without_a_covariance_are_unknown():
    parts = split_errors(None, MoEParameters(np.zeros((2, 3)), np.zeros((2, 3)), 1.0))
    assert all(np.all(np.isnan(values)) for values in parts.values())
    assert parts["gate_coef"].shape == (2, 3)


def test_fits_without_an_optimum_have_no_covariance():
    assert covariance_root(None) is None


def test_covariance_is_the_inverse_curvature_of_the_likelihood_in_the_callers_units():
    """Against the model's own density, by differences: nothing of the fitting code is used."""
    X, y, _ = make_moe(1500, 2, 2, noise_scale=0.3, random_state=1)
    X, y = X * [10.0, 0.1] + [3.0, -1.0], 5 * y + 2
    model = MoERegressor(2, penalty=0.0, random_state=0).fit(X, y)
    k, d = 2, 2
    names = ("expert_coef", "expert_intercept", "gate_coef", "gate_intercept", "noise_scale")
    kept = np.r_[0 : k * d + k, k * d + k : k * d + k + d, 2 * k * d + k, 2 * k * d + 2 * k : 2 * k * d + 3 * k]

    def total(v):
        A, b, w, c, s = np.split(v, np.cumsum([k * d, k, d, 1]))
        p = MoEParameters(A.reshape(k, d), np.vstack([w, 0 * w]), s, b=b, c=np.append(c, 0))
        return float(np.sum(p.log_density(X, y)))

    at = np.concatenate([np.ravel(getattr(model, f"{name}_")) for name in names])[kept]
    error = np.sqrt(np.diag(model.covariance_))[kept]
    # in units of the standard errors the information is a correlation matrix's inverse, of order one
    hessian = optimize.approx_fprime(
        np.zeros(len(at)), lambda u: optimize.approx_fprime(u, lambda v: total(at + error * v), 1e-3), 1e-3
    )
    expected = np.linalg.inv(-0.5 * (hessian + hessian.T)) * np.outer(error, error)
    found = model.covariance_[np.ix_(kept, kept)]
    np.testing.assert_allclose(found / np.outer(error, error), expected / np.outer(error, error), atol=0.02)


def test_standard_errors_are_those_seen_over_repetitions():
    """Errors that the fits say beside how far their estimates scatter, over fresh outputs for the same inputs."""
    X, _, truth = make_moe(400, 2, 2, noise_scale=0.3, random_state=1)
    draws, found, said, robust = np.random.default_rng(0), [], [], []
    for _ in range(30):
        model = MoERegressor(2, noise=0.3, random_state=0).fit(X, truth.sample(X, draws)[0])
        order = np.argsort(model.expert_coef_[:, 0])
        found.append(model.expert_coef_[order])
        said.append(model.expert_coef_se_[order])
        robust.append(split_errors(model.covariance_robust_, model.parameters_)["expert_coef"][order])
    scatter = np.std(found, axis=0)
    for errors in (said, robust):  # a standard deviation of 30 draws is known to an eighth of itself
        np.testing.assert_allclose(np.mean(errors, axis=0) / scatter, 1.0, atol=4 / np.sqrt(2 * 30))


def awkward_table(name):
    """Inputs and outputs of which some parameters are known hardly or not at all."""
    rng = np.random.default_rng(0)
    n = 40 if name == "empty experts" else 400
    side, region = rng.integers(0, 2, n), rng.integers(0, 4, n)
    x, z, e = rng.normal(40, 15, n).round(), rng.normal(30, 6, n), rng.standard_normal(n)
    dummies = np.column_stack([side, 1 - side, np.eye(4)[region]]).astype(float)
    outputs = {
        "collinear dummies": x * dummies[:, 2] - 5 * z * dummies[:, 0] + e,
        "separable gate": np.where(x > 40, 1e4 + x, -1e4 - z) + 1e-3 * e,
        "empty experts": 250 * x + e,
        "exact laws": np.where(z > 30, x, -x),
        "wild units": 1e20 * (np.where(z > 30, x, -x) + e),
    }
    X = np.column_stack([x, z, dummies, 2 * x + z])
    return X * np.where(name == "wild units", 10.0 ** np.linspace(-9, 12, 9), 1.0), outputs[name]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["collinear dummies", "separable gate", "empty experts", "exact laws", "wild units", "separable classes"]
)
def test_every_fit_has_symmetric_covariances_with_positive_variances_and_is_saved(name, tmp_path):
    if name == "separable classes":
        X, y = awkward_table("separable gate")
        models = [MoEClassifier(k, random_state=0).fit(X, y > 0) for k in (1, 2)]
    else:
        X, y = awkward_table(name)
        models = [MoERegressor(k, random_state=0).fit(X, y) for k in (1, 4, 8)]
    assert any(model.identified_ for model in models)
    for model in models:
        model.save(tmp_path / "model.skmoe")
        assert (load(tmp_path / "model.skmoe").covariance_ is None) == (not model.identified_)
        if model.covariance_ is None:
            assert np.all(np.isnan(model.expert_coef_se_))
            assert "no standard errors" in str(model.summary())
            continue
        for covariance in (model.covariance_, model.covariance_robust_):
            np.testing.assert_array_equal(covariance, covariance.T)
            assert np.all(np.isfinite(covariance))
            assert np.all((np.diag(covariance) > 0) | (np.diag(model.covariance_) == 0))
