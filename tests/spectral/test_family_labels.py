import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.special import eval_hermitenorm

from skmoe import label_transform, learn_experts, make_moe, metrics, scores
from skmoe.model.families import FAMILIES, CensoredFamily, MultinomialFamily
from skmoe.model.gaussian import GaussianFamily
from skmoe.spectral.decomposition import RankWarning
from skmoe.spectral.family_labels import bin_edges, bin_probabilities, step_transform

LAWS = [
    ("poisson", 1.0, 1.0, 0.0),
    ("poisson", 1.0, 0.7, 3.0),
    ("negative-binomial", 0.5, 1.0, 0.0),
    ("gamma", 0.5, 0.8, 1.0),
    ("student", 0.3, 1.0, 0.0),
    ("student", 0.05, 0.8, -0.5),
]
PATHS = [{}, {"moments": "plain"}, {"decomposition": "power"}]


def transform_of(name, scale, length, offset):
    family, rng = FAMILIES[name], np.random.default_rng(0)
    y = family.sample(offset + length * rng.standard_normal(20_000), np.full(20_000, scale), rng)
    edges = bin_edges(y)
    return step_transform(family, scale, edges, length, offset), edges


@pytest.mark.parametrize(("name", "scale", "length", "offset"), LAWS)
def test_coefficients_are_those_of_drawn_outputs(name, scale, length, offset):
    """Conditions 1 and 2, and all coefficients besides, in standard errors of an independent sample."""
    t, _ = transform_of(name, scale, length, offset)
    rng, n = np.random.default_rng(1), 400_000
    z = rng.standard_normal(n)
    P = t.all(FAMILIES[name].sample(offset + length * z, np.full(n, scale), rng))
    for r in (1, 2, 3):
        np.testing.assert_allclose(t.hermite[r - 1, :r], 0, atol=1e-9)
        assert t.hermite[r - 1, r] == pytest.approx([1, 2, 6][r - 1])
        for m in range(6):
            products = eval_hermitenorm(m, z) * P[r - 1]
            assert abs(products.mean() - t.hermite[r - 1, m]) < 4.5 * products.std() / np.sqrt(n), (r, m)


@pytest.mark.parametrize(("name", "scale", "length", "offset"), LAWS)
def test_no_step_function_that_meets_the_conditions_has_less_variance(name, scale, length, offset):
    t, edges = transform_of(name, scale, length, offset)
    Q = bin_probabilities(FAMILIES[name], scale, edges, length, offset, orders=4)
    for r in (1, 2, 3):
        # moves that change none of the coefficients up to r: the variance must not fall to first order along any
        moves = np.eye(Q.shape[1]) - np.linalg.pinv(Q[: r + 1]) @ Q[: r + 1]
        slopes = moves @ (Q[0] * t.values[r - 1])
        np.testing.assert_allclose(slopes, 0, atol=1e-8)
        assert t.values[r - 1] @ Q[0] == pytest.approx(0, abs=1e-9)


def test_linear_gaussian_experts_get_the_papers_polynomials():
    sigma, rng = 0.5, np.random.default_rng(0)
    edges = bin_edges(np.sqrt(1 + sigma**2) * rng.standard_normal(20_000))
    t = step_transform(GaussianFamily.linear(), sigma, edges)
    paper = label_transform("linear", sigma)
    y = np.linspace(-2.5, 2.5, 41)
    np.testing.assert_allclose(t.of_order(2, y), paper.quadratic(y) - 1.25, atol=0.2)
    np.testing.assert_allclose(t.of_order(3, y), paper.cubic(y), atol=0.5)
    Q = bin_probabilities(GaussianFamily.linear(), sigma, edges, 1.0, 0.0)[0]
    # variances in units of shares: those of the polynomials are r! 1.25^r
    np.testing.assert_allclose(t.values**2 @ Q, [1.25, 2 * 1.25**2, 6 * 1.25**3], rtol=0.02)


def test_factorial_moments_have_the_same_limit_and_far_more_variance():
    """P3 = y(3) + alpha y(2) + beta y of Poisson outputs, by exact formulas: E[y(j) | z] = exp(j z)."""
    alpha, beta = -3 * np.exp(2.5), 3 * np.exp(4)
    exact = [3**m * np.exp(4.5) + alpha * 2**m * np.exp(2) + beta * np.exp(0.5) for m in range(4)]
    np.testing.assert_allclose(exact[1:3], 0, atol=1e-9)
    t, _ = transform_of("poisson", 1.0, 1.0, 0.0)
    # both have the limit 1 in units of their third coefficients, and zero at lower orders
    assert exact[3] > 0
    y = np.arange(4000.0)
    z, weight = np.polynomial.hermite_e.hermegauss(120)
    pmf = stats.poisson.pmf(y[:, None], np.exp(z)) @ (weight / weight.sum())
    factorial = (y * (y - 1) * (y - 2) + alpha * y * (y - 1) + beta * y) / exact[3]
    ours = t.of_order(3, y) / t.hermite[2, 3]
    spread = [pmf @ (f - pmf @ f) ** 2 for f in (factorial, ours)]
    assert spread[0] > 100 * spread[1]
    assert np.all(np.abs(ours) < 50)


@pytest.mark.parametrize(
    ("name", "scale", "least"),
    [
        ("poisson", 1.0, 0.99),
        ("negative-binomial", 0.4, 0.98),
        ("gamma", 0.5, 0.99),
        ("lognormal", 0.4, 0.99),
        ("student", 0.3, 0.99),
    ],
)
def test_experts_of_every_family_are_found(name, scale, least):
    X, y, truth = make_moe(20_000, 5, 2, family=name, noise_scale=scale, random_state=0)
    experts = learn_experts(X, y, 2, family=name, random_state=0)
    assert metrics.regressor_fit(experts.coef, truth.expert_coef) > least
    order = metrics.match_experts(experts.coef, truth.expert_coef)
    assert np.all(np.sum(experts.coef[order] * truth.expert_coef, axis=1) > 0.9)  # signs too


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_every_path_of_algorithm_1_takes_counts(path):
    X, y, truth = make_moe(40_000, 4, 2, family="poisson", orthogonal_gate=True, random_state=1)
    experts = learn_experts(X, y, 2, family="poisson", random_state=0, **path)
    assert metrics.regressor_fit(experts.coef, truth.expert_coef) > 0.97


def test_counts_of_correlated_inputs_are_learned_in_rounds():
    law = scores.Gaussian(np.full(4, 0.3), np.diag([0.5, 0.8, 1.0, 1.5]))
    X, y, truth = make_moe(40_000, 4, 2, family="poisson", input_law=law, random_state=0)
    experts = learn_experts(X, y, 2, family="poisson", input_law=law, random_state=0)
    assert metrics.regressor_fit(experts.coef, truth.expert_coef) > 0.98


@pytest.mark.parametrize(("name", "scale"), [("poisson", 1.0), ("gamma", 0.5)])
def test_error_falls_with_the_root_of_the_number_of_rows(name, scale):
    """Where the gate is orthogonal to the experts, as theorem 1 asks, sixteen times the rows give a quarter of it."""
    errors = {n: [] for n in (5_000, 80_000)}
    for n, found in errors.items():
        for seed in range(6):
            X, y, truth = make_moe(n, 4, 2, family=name, noise_scale=scale, orthogonal_gate=True, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RankWarning)
                A = learn_experts(X, y, 2, family=name, noise_scale=scale, random_state=seed).coef
            found.append(np.sum((A[metrics.match_experts(A, truth.expert_coef)] - truth.expert_coef) ** 2))
    few, many = (np.sqrt(np.mean(found)) for found in errors.values())
    assert 2.5 < few / many < 7


@pytest.mark.parametrize(("name", "scale"), [("gamma", 0.5), ("student", 0.3), ("lognormal", 0.4)])
def test_unknown_scale_is_estimated(name, scale):
    X, y, _ = make_moe(50_000, 5, 2, family=name, noise_scale=scale, orthogonal_gate=True, random_state=1)
    assert learn_experts(X, y, 2, family=name, random_state=0).noise_scale == pytest.approx(scale, rel=0.1)


@pytest.mark.parametrize("name", ["poisson", "gamma", "lognormal", "student"])
def test_every_library_gives_the_same_experts(xp, name):
    X, y, _ = make_moe(3000, 3, 2, family=name, noise_scale=0.2, random_state=0)
    expected = learn_experts(X, y, 2, family=name, random_state=0)
    found = learn_experts(xp.asarray(X), xp.asarray(y), 2, family=name, random_state=0)
    # matching ends at steps that lower its cost by less than 1e-10 of it: that is 1e-5 of the experts
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-5)
    assert found.noise_scale == pytest.approx(expected.noise_scale, rel=1e-5)


def test_two_values_are_refused_by_condition_2():
    X, y, _ = make_moe(500, 3, 2, family="binomial", random_state=0)
    with pytest.raises(ValueError, match=r"Condition 2 of the paper fails .*outputs of 2 values leave 1 function of y"):
        learn_experts(X, y, 2, family="binomial")


def test_three_values_are_refused_by_condition_1():
    X, y, _ = make_moe(500, 3, 2, family="poisson", random_state=0)
    with pytest.raises(ValueError, match=r"Condition 1 of the paper fails .*outputs of 3 values leave 2 functions"):
        learn_experts(X, np.minimum(y, 2), 2, family="poisson")


@pytest.mark.parametrize("family", [CensoredFamily(), MultinomialFamily(3)])
def test_outputs_of_several_numbers_are_refused(family):
    X, y, _ = make_moe(200, 3, 2, family="poisson", random_state=0)
    with pytest.raises(ValueError, match="takes outputs of one number"):
        learn_experts(X, np.minimum(y, 2), 2, family=family)


def test_outputs_that_a_family_cannot_give_are_refused():
    X, y, _ = make_moe(200, 3, 2, random_state=0)
    with pytest.raises(ValueError, match="counts: whole numbers of 0 or more"):
        learn_experts(X, y, 2, family="poisson")
    with pytest.raises(ValueError, match=r"activation .* is for the gaussian family"):
        learn_experts(X, np.abs(y), 2, family="gamma", activation="relu")
