import numpy as np
import pytest

from skmoe.model.activations import ACTIVATIONS, Activation, get_activation
from skmoe.rows.arrays import to_numpy
from skmoe.likelihood.joint import JointLikelihood, Settings, Theta
from skmoe.model.parameters import MoEParameters
from skmoe.search.whitening import whitening_map

NOISES = ["shared", "per-expert", 0.7]


def problem(rng, n=80, d=3, k=3, noise="shared", g="linear", xp=np, weighted=True, **how):
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    weight = xp.asarray(rng.integers(1, 4, n).astype(float)) if weighted else None
    settings = how.pop("settings", Settings(noise=noise, gate_penalty=0.3))
    likelihood = JointLikelihood(
        xp.asarray(X), xp.asarray(y), get_activation(g), k, weight=weight, settings=settings, **how
    )
    sigma = rng.uniform(0.5, 1.5, k) if noise == "per-expert" else np.full(k, 0.7)
    theta = Theta(rng.standard_normal((k, likelihood.De)), rng.standard_normal((k - 1, likelihood.Dg)), sigma)
    return likelihood, theta


def differences(likelihood, theta, what, step=1e-6):
    """Central differences of a field of the curvature, one row per parameter."""
    vector = likelihood.pack(theta)

    def at(v):
        return getattr(likelihood.gradient(likelihood.unpack(v, theta)), what)

    return np.array([(at(vector + e) - at(vector - e)) / (2 * step) for e in step * np.eye(len(vector))])


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("g", list(ACTIVATIONS))
def test_derivatives_match_differences(rng, g, noise):
    likelihood, theta = problem(rng, g=g, noise=noise, intercept=True)
    here = likelihood.information(theta)
    np.testing.assert_allclose(here.gradient, differences(likelihood, theta, "objective"), atol=1e-7)
    np.testing.assert_allclose(here.information, -differences(likelihood, theta, "gradient"), atol=1e-7)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_derivatives_match_differences_with_separate_columns_and_a_map(rng, k):
    how = dict(center=rng.standard_normal(4), transform=rng.standard_normal((4, 3)))
    columns = dict(expert_columns=[0, 2], gate_columns=[1])
    likelihood, theta = problem(rng, d=4, k=k, noise="per-expert", intercept=True, **how, **columns)
    here = likelihood.information(theta)
    np.testing.assert_allclose(here.gradient, differences(likelihood, theta, "objective"), atol=1e-7)
    np.testing.assert_allclose(here.information, -differences(likelihood, theta, "gradient"), atol=1e-7)


def test_information_of_a_users_activation_is_exact_without_derivatives(rng):
    own = Activation(lambda z: z + 0.3 * np.sin(z))
    likelihood, theta = problem(rng, g=own)
    numeric = -differences(likelihood, theta, "gradient", step=1e-4)
    np.testing.assert_allclose(likelihood.information(theta).information, numeric, atol=1e-4)


def test_every_array_library_gives_the_same_sums(xp):
    results = []
    for library in (np, xp):
        rng = np.random.default_rng(3)
        how = dict(center=np.ones(3), transform=rng.standard_normal((3, 2)))
        likelihood, theta = problem(rng, g="tanh", noise="per-expert", xp=library, intercept=True, **how)
        part = likelihood.subset(np.arange(5, 60))
        results.append([part.information(theta).information, part.score_outer(theta), part.em_sums(theta).expert_gram])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(to_numpy(theirs), ours, atol=1e-10)


@pytest.mark.parametrize("same", [True, False])
def test_integer_weights_are_repeated_rows(rng, same):
    columns = {} if same else dict(expert_columns=[0, 1], gate_columns=[1, 2])
    likelihood, theta = problem(rng, noise="per-expert", intercept=True, **columns)
    rows = np.repeat(np.arange(likelihood.n), likelihood.weight.astype(int))
    repeated = JointLikelihood(
        likelihood.X[rows], likelihood.y[rows], likelihood.g, 3, intercept=True, settings=likelihood.settings, **columns
    )
    here, there = likelihood.information(theta), repeated.information(theta)
    assert here.objective == pytest.approx(there.objective, abs=1e-12)
    np.testing.assert_allclose(here.information, there.information, atol=1e-10)
    np.testing.assert_allclose(here.gradient, there.gradient, atol=1e-10)
    np.testing.assert_allclose(likelihood.score_outer(theta), repeated.score_outer(theta), atol=1e-10)
    assert likelihood.noise_floor == pytest.approx(repeated.noise_floor)
    assert likelihood.min_share == pytest.approx(repeated.min_share)


def test_sums_do_not_depend_on_the_blocks(rng):
    likelihood, theta = problem(rng, n=500, noise="per-expert")
    whole, outer = likelihood.information(theta), likelihood.score_outer(theta)
    likelihood.block_rows = 37
    np.testing.assert_allclose(likelihood.information(theta).information, whole.information, atol=1e-12)
    np.testing.assert_allclose(likelihood.score_outer(theta), outer, atol=1e-12)


def test_score_outer_is_the_outer_product_of_one_rows_gradient(rng):
    likelihood, theta = problem(
        rng, n=1, noise="per-expert", weighted=False, settings=Settings("per-expert", 1e-3, 0.0)
    )
    gradient = likelihood.gradient(theta).gradient
    np.testing.assert_allclose(likelihood.score_outer(theta), np.outer(gradient, gradient), atol=1e-12)


def test_subset_of_all_rows_changes_nothing(rng):
    how = dict(center=rng.standard_normal(3), transform=rng.standard_normal((3, 3)))
    likelihood, theta = problem(rng, intercept=True, **how)
    held = likelihood.subset()
    np.testing.assert_allclose(
        held.information(theta).information, likelihood.information(theta).information, atol=1e-12
    )
    assert held.value(theta) == pytest.approx(likelihood.value(theta), abs=1e-13)


def test_parameters_in_the_callers_units_give_the_same_density_and_come_back(rng):
    X, y = 50 + rng.standard_normal((100, 4)) @ rng.standard_normal((4, 4)), rng.standard_normal(100)
    center, transform = whitening_map(X)
    likelihood = JointLikelihood(X, y, get_activation("linear"), 3, intercept=True, center=center, transform=transform)
    theta = Theta(rng.standard_normal((3, 5)), rng.standard_normal((2, 5)), np.array([0.5, 1.0, 2.0]))
    parameters = likelihood.to_parameters(theta)
    assert np.mean(parameters.log_density(X, y)) == pytest.approx(likelihood.value(theta), abs=1e-9)
    assert likelihood.from_parameters(parameters).distance(theta) < 1e-9


def test_penalty_does_not_depend_on_the_order_of_experts(rng):
    likelihood, theta = problem(rng)
    W = np.vstack([theta.W, np.zeros((1, 3))])[[2, 0, 1]]
    assert likelihood.penalty_at((W - W[-1])[:-1])[0] == pytest.approx(likelihood.penalty_at(theta.W)[0], rel=1e-12)


def test_whitening_drops_constant_and_repeated_columns_whatever_their_units(rng, xp):
    base = rng.standard_normal((300, 3))
    X = np.column_stack([base * [1e-6, 1.0, 1e6], np.full(300, 7e5), base[:, 0] - 2 * base[:, 1]])
    center, transform = whitening_map(xp.asarray(X))
    assert transform.shape == (5, 3)
    Z = (X - center) @ transform
    np.testing.assert_allclose(Z.T @ Z / 300, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)


def test_whitening_without_centering_keeps_the_origin(rng):
    X = 3 + rng.standard_normal((200, 3))
    center, transform = whitening_map(X, centered=False)
    np.testing.assert_array_equal(center, 0)
    np.testing.assert_allclose((X @ transform).T @ (X @ transform) / 200, np.eye(3), atol=1e-10)


def test_packing_comes_back_and_holds_noise_above_its_floor(rng):
    likelihood, theta = problem(rng, noise="per-expert")
    assert likelihood.unpack(likelihood.pack(theta), theta).distance(theta) < 1e-14
    vector = likelihood.pack(theta)
    vector[-1] = -50.0
    low = likelihood.unpack(vector, theta)
    assert low.sigma[-1] == likelihood.noise_floor
    assert list(likelihood.at_floor(low)) == [False, False, True]


def test_value_is_the_mean_log_density_of_the_model(rng):
    likelihood, theta = problem(rng, weighted=False)
    model = MoEParameters(theta.A, np.vstack([theta.W, np.zeros((1, 3))]), theta.sigma)
    assert likelihood.value(theta) == pytest.approx(np.mean(model.log_density(likelihood.X, likelihood.y)), abs=1e-13)
