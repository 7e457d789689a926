"""Algorithm 1 where the index a.x of a unit expert is not standard: the label transform is that of its law."""

import warnings

import numpy as np
import pytest
from scipy import linalg, optimize

from skmoe import learn_experts, metrics, scores
from skmoe.model.activations import get_activation
from skmoe.model.parameters import MoEParameters
from skmoe.spectral.decomposition import RankWarning
from skmoe.spectral.labels import of_index
from skmoe.spectral.scores.index_law import index_reference, one_transform_each

D, NOISE = 5, 0.2
WAYS = [{}, {"moments": "plain", "decomposition": "orth-als"}, {"moments": "plain", "decomposition": "power"}]
ACTIVATIONS = ["linear", "sigmoid", "relu"]


def a_covariance(seed=0):
    """A random covariance, of condition number 18."""
    rng = np.random.default_rng(seed)
    L = (np.eye(D) + 0.4 * np.tril(rng.standard_normal((D, D)), -1)) * np.array([1.5, 1.0, 0.8, 1.2, 2.0])[:, None]
    return L @ L.T


def unit_experts(rng, covariance=None):
    """Two unit experts; with a covariance, of equal index variances."""
    A = rng.standard_normal((2, D))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    if covariance is None:
        return A
    goal = A[0] @ covariance @ A[0]
    while True:
        plane = np.linalg.qr(rng.standard_normal((D, 2)))[0]

        def expert(angle, plane=plane):
            return plane @ [np.cos(angle), np.sin(angle)]

        def excess(angle):
            return expert(angle) @ covariance @ expert(angle) - goal

        angles = np.linspace(0, np.pi, 40)
        change = np.nonzero(np.diff(np.sign([excess(angle) for angle in angles])))[0]
        if len(change):
            A[1] = expert(optimize.brentq(excess, *angles[change[0] : change[0] + 2]))
            return A


def rows(law, A, activation, n, rng):
    """Rows whose gate looks where no expert's index does, under every component of the law."""
    covariances = [linalg.inv(c.whitener @ c.whitener) for c in law.components(D)]
    free = linalg.null_space(np.vstack([A @ C for C in covariances]))
    w = free @ rng.standard_normal(free.shape[1])
    model = MoEParameters(A, np.vstack([w / np.linalg.norm(w), np.zeros(D)]), NOISE, family=activation)
    X = law.sample(n, D, rng)
    return X, model.sample(X, rng)[0]


def fit_of(X, y, A, activation, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        found = learn_experts(X, y, 2, activation=activation, noise_scale=NOISE, random_state=0, **how).coef
    return found, metrics.regressor_fit(found, A)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("spread", [2.0, 3.0])
def test_isotropic_inputs_give_what_whitened_ones_give(spread, activation, way):
    law = scores.Gaussian(np.zeros(D), spread**2 * np.eye(D))
    rng = np.random.default_rng(1)
    A = unit_experts(rng)
    X, y = rows(law, A, activation, 50_000, rng)
    _, fit = fit_of(X, y, A, activation, input_law=law, **way)
    _, white = fit_of(X / spread, y, A, of_index(get_activation(activation), spread), **way)
    assert abs(fit - white) < 0.005
    assert white > 0.9


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_inputs_of_any_covariance_give_what_whitened_ones_give(activation, way):
    """Experts have equal index variances, so that the whitened problem is one of the paper's."""
    covariance = a_covariance()
    law, rng = scores.Gaussian(np.zeros(D), covariance), np.random.default_rng(2)
    A = unit_experts(rng, covariance)
    X, y = rows(law, A, activation, 60_000, rng)
    _, fit = fit_of(X, y, A, activation, input_law=law, **way)
    back = linalg.inv(linalg.sqrtm(covariance).real)
    g = of_index(get_activation(activation), float(np.sqrt(A[0] @ covariance @ A[0])))
    coef = fit_of(X @ back, y, A, g, **way)[0] @ back
    white = metrics.regressor_fit(coef / np.linalg.norm(coef, axis=1, keepdims=True), A)
    assert abs(fit - white) < 0.005
    assert white > 0.95


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_mixture_of_wide_components_gives_what_the_scaled_one_gives(activation, way):
    means = np.array([[0.6, -0.3, 0.0, 0.0, 0.3], [-0.4, 0.2, 0.0, 0.0, -0.2]])
    wide, unit = (scores.GaussianMixture([0.4, 0.6], s * means, [s**2 * np.eye(D)] * 2) for s in (2.0, 1.0))
    rng = np.random.default_rng(2)
    A = unit_experts(rng)
    X, y = rows(wide, A, activation, 50_000, rng)
    _, fit = fit_of(X, y, A, activation, input_law=wide, **way)
    _, scaled = fit_of(X / 2, y, A, of_index(get_activation(activation), 2.0), input_law=unit, **way)
    assert abs(fit - scaled) < 0.005
    assert scaled > 0.9


@pytest.mark.parametrize("law", ["unequal variances", "mixture of spreads", "mixture of covariances", "mean"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_experts_are_found_whatever_their_index_variances(activation, law):
    covariance, one = a_covariance(), np.eye(D)
    law = {
        "unequal variances": scores.Gaussian(np.zeros(D), covariance),
        "mixture of spreads": scores.GaussianMixture([0.3, 0.7], np.zeros((2, D)), [4 * one, one]),
        "mixture of covariances": scores.GaussianMixture([0.5, 0.5], np.zeros((2, D)), [covariance, one]),
        "mean": scores.Gaussian(np.array([0.0, 1.0, 0.0, -0.5, 0.0]), one),
    }[law]
    rng = np.random.default_rng(3)
    A = np.array([[1.0, 0.4, 0.0, -0.3, 0.0], [0.2, -0.5, 0.8, 0.0, 0.3]])
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    X, y = rows(law, A, activation, 100_000, rng)
    for way, least in (({}, 0.994), ({"moments": "plain", "decomposition": "power"}, 0.98)):
        assert fit_of(X, y, A, activation, input_law=law, **way)[1] > least, way


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("law", ["isotropic", "any covariance", "mixture"])
def test_noise_is_estimated_under_the_law_of_the_index(law, activation, way):
    law = {
        "isotropic": scores.Gaussian(np.zeros(D), 4 * np.eye(D)),
        "any covariance": scores.Gaussian(np.zeros(D), a_covariance()),
        "mixture": scores.GaussianMixture([0.3, 0.7], np.zeros((2, D)), [3 * np.eye(D), np.eye(D)]),
    }[law]
    rng = np.random.default_rng(5)
    A = unit_experts(rng)
    X, y = rows(law, A, activation, 100_000, rng)
    found = learn_experts(X, y, 2, activation=activation, input_law=law, random_state=0, **way)
    # E[y^2] of rows with an index of variance 4 is known to 0.02: of the noise's variance, that is half
    assert abs(found.noise_scale**2 - NOISE**2) < (0.04 if activation != "sigmoid" else 0.005)


def test_reference_gives_all_experts_one_index_law():
    rng = np.random.default_rng(0)
    law = scores.Gaussian(np.array([0.5, 0.0, -0.5, 0.0, 0.2]), a_covariance())
    A = unit_experts(rng)
    reference = index_reference(law, np.eye(D), law.sample(5000, D, rng), experts=A)
    root = linalg.inv(reference.B)
    np.testing.assert_allclose(np.sqrt(np.sum((A @ root) ** 2, axis=1)), reference.index_std, rtol=1e-8)
    np.testing.assert_allclose(A @ reference.center, reference.index_mean, atol=1e-8)
    # rows weighted to it follow it
    X = law.sample(400_000, D, rng)
    weight = reference.weights(reference.coordinates(X.T))
    z = reference.coordinates(X.T)
    np.testing.assert_allclose((z * weight) @ z.T / weight.sum(), np.eye(D), atol=0.03)


def test_reference_of_equal_variances_is_the_law_itself():
    covariance = a_covariance()
    rng = np.random.default_rng(0)
    law, A = scores.Gaussian(np.zeros(D), covariance), unit_experts(rng, covariance)
    reference = index_reference(law, np.eye(D), law.sample(1000, D, rng), experts=A)
    root = linalg.inv(reference.B)
    np.testing.assert_allclose(root @ root.T, covariance, rtol=1e-8)
    np.testing.assert_allclose(reference.weights(reference.coordinates(law.sample(5, D, rng).T)), 1, rtol=1e-8)


def test_mixture_far_from_gaussian_has_no_reference():
    means = 6 * np.eye(2, D)
    law = scores.GaussianMixture([0.5, 0.5], means)
    X = law.sample(1000, D, np.random.default_rng(0))
    assert index_reference(law, np.eye(D), X) is None


@pytest.mark.parametrize(
    ("law", "one"),
    [
        (scores.Gaussian(), True),
        (scores.Gaussian(None, 4 * np.eye(D)), True),
        (scores.Gaussian(None, np.diag(np.arange(1.0, D + 1))), False),
        (scores.Gaussian(np.ones(D)), False),
        (scores.GaussianMixture([0.5, 0.5], np.eye(2, D), [4 * np.eye(D), np.eye(D)]), True),
        (scores.GaussianMixture([0.5, 0.5], np.eye(2, D), [a_covariance(), np.eye(D)]), False),
    ],
)
def test_one_transform_each_is_for_isotropic_components(law, one):
    assert one_transform_each(law, D) is one
