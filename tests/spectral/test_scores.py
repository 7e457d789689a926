import numpy as np
import pytest
from scipy import stats

from skmoe import scores
from skmoe.arrays.namespaces import to_numpy
from skmoe.spectral.moments import score_moment
from skmoe.spectral.scores import fit_law, fitting

MEAN = np.array([0.5, -0.2, 0.1])
COVARIANCE = np.array([[1.0, 0.3, 0.0], [0.3, 0.8, -0.2], [0.0, -0.2, 1.5]])


def mixture():
    return scores.GaussianMixture([0.3, 0.7], [MEAN, -MEAN], [COVARIANCE, np.eye(3)])


LAWS = {
    "standard": scores.Gaussian,
    "gaussian": lambda: scores.Gaussian(MEAN, COVARIANCE),
    "mixture": mixture,
}


def density(law, x):
    return sum(
        c.weight * stats.multivariate_normal(c.mean, np.linalg.inv(c.whitener @ c.whitener)).pdf(x)
        for c in law.components(3)
    )


def row_score(law, x, order):
    """S_order of one row, through the library's own moments."""
    return score_moment(x[None, :], np.ones(1), lambda Z, y: y, law, order)


@pytest.mark.parametrize("name", LAWS)
def test_scores_are_derivatives_of_the_density(rng, name):
    law, h = LAWS[name](), 1e-2
    x = rng.standard_normal(3)
    steps = np.arange(-2, 3)
    first = np.array([1, -8, 0, 8, -1]) / (12 * h)  # fourth-order differences
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1) * h
    p = density(law, x + grid)
    gradient = {}
    for i, j in [(0, 0), (0, 1), (2, 2), (1, 2)]:
        weights = [np.eye(5)[2]] * 3
        if i == j:
            weights[i] = np.array([-1, 16, -30, 16, -1]) / (12 * h**2)
        else:
            weights[i], weights[j] = first, first
        gradient[i, j] = np.einsum("abc,a,b,c->", p, *weights)
    S2 = row_score(law, x, 2)
    for (i, j), value in gradient.items():
        assert S2[i, j] == pytest.approx(value / density(law, x), abs=2e-6)
    third = np.einsum("abc,a,b,c->", p, first, first, first)
    assert row_score(law, x, 3)[0, 1, 2] == pytest.approx(-third / density(law, x), abs=5e-5)


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("name", LAWS)
def test_steins_identity_holds(name, order):
    law, n = LAWS[name](), 400_000
    X = law.sample(n, 3, np.random.default_rng(1))
    v = np.array([0.6, -0.3, 0.4])
    # f(x) = sin(v.x + 1/2) has derivatives +-cos or sin times products of v
    f = np.sin(X @ v + 0.5)
    power = -np.sin(X @ v + 0.5) if order == 2 else -np.cos(X @ v + 0.5)
    expected = np.mean(power) * (np.outer(v, v) if order == 2 else np.multiply.outer(np.outer(v, v), v))
    found = score_moment(X, f, lambda Z, y: y, law, order)
    halves = [score_moment(X[s], f[s], lambda Z, y: y, law, order) for s in np.array_split(np.arange(n), 20)]
    standard_error = np.std(halves, axis=0) / np.sqrt(20)
    assert np.max(np.abs(found - expected) / standard_error) < 5
    assert np.max(np.abs(expected)) > 5 * np.max(standard_error)  # the identity is not met by zero


def test_moments_in_a_basis_are_the_contracted_moments(xp, rng):
    law = mixture()
    X, y = rng.standard_normal((300, 3)), rng.standard_normal(300)
    B = rng.standard_normal((3, 2))
    X_, y_ = xp.asarray(X), xp.asarray(y)
    T2, T3 = (score_moment(X_, y_, lambda Z, t: t**2, law, order) for order in (2, 3))
    np.testing.assert_allclose(score_moment(X_, y_, lambda Z, t: t**2, law, 2, basis=B), B.T @ T2 @ B, atol=1e-12)
    expected = np.einsum("abc,ai,bj,cl->ijl", T3, B, B, B)
    np.testing.assert_allclose(score_moment(X_, y_, lambda Z, t: t**2, law, 3, basis=B), expected, atol=1e-12)
    np.testing.assert_allclose(T3, np.transpose(T3, (2, 0, 1)), atol=1e-13)


def test_a_mixture_of_equal_components_is_the_gaussian(rng):
    X, y = rng.standard_normal((200, 3)), rng.standard_normal(200)
    one = scores.Gaussian(MEAN, COVARIANCE)
    two = scores.GaussianMixture([0.4, 0.6], [MEAN, MEAN], [COVARIANCE, COVARIANCE])
    for order in (2, 3):
        np.testing.assert_allclose(
            score_moment(X, y, lambda Z, t: np.sin(t), one, order),
            score_moment(X, y, lambda Z, t: np.sin(t), two, order),
            atol=1e-12,
        )


def test_responsibilities_match_bayes(xp, rng):
    law = mixture()
    X = rng.standard_normal((50, 3))
    joint = np.stack(
        [
            w * stats.multivariate_normal(m, c).pdf(X)
            for w, m, c in zip(law.weights, law.means, law.covariances, strict=True)
        ]
    )
    np.testing.assert_allclose(to_numpy(law.responsibilities(xp.asarray(X.T))), joint / joint.sum(axis=0), atol=1e-12)


def test_sample_has_the_laws_moments():
    law = scores.Gaussian(MEAN, COVARIANCE)
    X = law.sample(200_000, 3, np.random.default_rng(0))
    np.testing.assert_allclose(X.mean(axis=0), MEAN, atol=0.015)
    np.testing.assert_allclose(np.cov(X.T), COVARIANCE, atol=0.02)


def test_fitted_gaussian_is_the_samples_own(xp, rng):
    X = rng.standard_normal((500, 3)) @ COVARIANCE + MEAN
    law = fit_law(xp.asarray(X), "gaussian")
    np.testing.assert_allclose(law.mean, X.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(law.covariance, np.cov(X.T, bias=True), atol=1e-12)


def test_fitted_mixture_finds_the_components(rng):
    law = scores.GaussianMixture([0.4, 0.6], [[3.0, 0, 0], [-3.0, 0, 0]])
    fitted = fit_law(law.sample(3000, 3, rng), "mixture", 0)
    assert isinstance(fitted, scores.GaussianMixture)
    order = np.argsort(-fitted.means[:, 0])
    np.testing.assert_allclose(fitted.means[order], law.means, atol=0.25)
    np.testing.assert_allclose(fitted.weights[order], law.weights, atol=0.05)


def test_fitted_mixture_of_gaussian_inputs_is_gaussian(rng):
    assert isinstance(fit_law(rng.standard_normal((2000, 3)), "mixture", 0), scores.Gaussian)


@pytest.mark.parametrize(
    "X", [np.ones((50, 2)), np.repeat(np.random.default_rng(0).standard_normal((50, 1)), 2, axis=1)]
)
@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_singular_inputs_are_refused(X, kind):
    with pytest.raises(ValueError, match="singular"):
        fit_law(X, kind)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: scores.Gaussian(np.zeros(2), np.eye(3)), "mean has 2 entries"),
        (lambda: scores.Gaussian(covariance=[[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (lambda: scores.Gaussian(covariance=np.zeros((2, 2))), "singular"),
        (lambda: scores.Gaussian(mean=[[0.0]]), "vector"),
        (lambda: scores.GaussianMixture([0.5, 0.6], np.zeros((2, 3))), "add up to one"),
        (lambda: scores.GaussianMixture([1.0], np.zeros((2, 3))), "weights must have shape"),
        (lambda: scores.Gaussian(np.zeros(3)).components(2), "X has 2 columns"),
        (lambda: mixture().components(2), "X has 2 columns"),
        (lambda: fit_law(np.eye(3), "cauchy"), "input_law must be"),
        (lambda: fit_law(np.eye(3), "gaussian"), "do not determine"),
    ],
)
def test_bad_laws_are_refused(make, why):
    with pytest.raises(ValueError, match=why):
        make()


@pytest.mark.parametrize("name", LAWS)
def test_scores_row_by_row_are_derivatives_of_the_density(rng, name):
    """Against central differences of the density itself, every entry of S2 and S3."""
    law, x, h = LAWS[name](), rng.standard_normal(3), 1e-2
    S2, S3 = (score(x[None, :], law)[0] for score in (scores.second_score, scores.third_score))

    def derivative(*axes):
        """Central difference of the density along the axes, extrapolated from two steps."""

        def at(step):
            total = 0.0
            for signs in np.ndindex(*(2,) * len(axes)):
                signs = 2 * np.array(signs) - 1
                move = np.zeros(3)
                for sign, axis in zip(signs, axes, strict=True):
                    move[axis] += 0.5 * step * sign
                total += np.prod(signs) * density(law, x + move)
            return total / step ** len(axes)

        return (4 * at(h) - at(2 * h)) / 3

    p = density(law, x)
    for i, j in np.ndindex(3, 3):
        assert S2[i, j] == pytest.approx(derivative(i, j) / p, abs=2e-5)
    for i, j, k in np.ndindex(3, 3, 3):
        assert S3[i, j, k] == pytest.approx(-derivative(i, j, k) / p, abs=2e-4)


@pytest.mark.parametrize("name", LAWS)
def test_scores_row_by_row_average_to_the_moments(rng, name):
    law = LAWS[name]()
    X, y = rng.standard_normal((200, 3)), rng.standard_normal(200)
    for order, score in ((2, scores.second_score), (3, scores.third_score)):
        expected = np.tensordot(y, score(X, law), axes=(0, 0)) / 200
        np.testing.assert_allclose(score_moment(X, y, lambda Z, t: t, law, order), expected, atol=1e-12)


def test_standard_scores_are_the_papers_formulas(rng):
    x = rng.standard_normal(4)
    one = np.eye(4)
    expected = np.multiply.outer(np.outer(x, x), x)
    for i in range(4):
        for placed in ((x, one[i], one[i]), (one[i], x, one[i]), (one[i], one[i], x)):
            expected = expected - np.einsum("a,b,c->abc", *placed)
    np.testing.assert_allclose(scores.third_score(x[None, :])[0], expected, atol=1e-12)
    np.testing.assert_allclose(scores.second_score(x[None, :])[0], np.outer(x, x) - one, atol=1e-12)


def test_scores_too_large_to_be_held_are_refused_with_the_way_out():
    X = np.zeros((1000, 60))
    with pytest.raises(ValueError, match=r"S3 of 1000 rows over 60 columns .*score_moment.*basis"):
        scores.third_score(X)
    assert scores.second_score(X).shape == (1000, 60, 60)


def test_score_of_a_law_of_other_columns_is_refused():
    with pytest.raises(ValueError, match="input_law is over 3 inputs, but X has 2 columns"):
        scores.second_score(np.zeros((1, 2)), scores.Gaussian(MEAN))


def test_weighted_rows_in_order_of_an_input_still_look_gaussian(rng):
    X = rng.standard_normal((5000, 2))
    X = X[np.argsort(X[:, 0])]
    assert fitting._looks_gaussian(X, np.ones(5000), rng)
