import numpy as np
import pytest

from skmoe import make_moe, scores
from skmoe.arrays.namespaces import to_numpy
from skmoe.arrays.products import tensor
from skmoe.model.activations import get_activation
from skmoe.spectral.labels import label_transform, of_index
from skmoe.spectral.moments import score_moment, second_moment, third_moment
from skmoe.spectral.moments.regression import (
    hermite_features,
    hermite_regression,
    leading_basis,
    order_slices,
    regression_dimension,
)
from skmoe.spectral.rows import Rows, pick_rows
from skmoe.spectral.scores import Gaussian, GaussianMixture, second_score, third_score
from skmoe.spectral.scores.reference import choose_reference
from tensors import rank_one_sum


class Standard:
    """Unweighted standard coordinates."""

    def coordinates(self, Z):
        return Z

    def weights(self, z):
        return z[0, :] * 0 + 1


def test_hermite_features_are_orthonormal(xp):
    z = np.random.default_rng(0).standard_normal((3, 400_000))
    F = to_numpy(hermite_features(xp.asarray(z)))
    gram = F @ F.T / z.shape[1]
    assert F.shape[0] == 20
    # sixth-order features have variances up to several hundred in their products
    np.testing.assert_allclose(gram, np.eye(20), atol=0.12)
    np.testing.assert_allclose(F[0], 1)
    np.testing.assert_allclose(F[1:4], z)


def test_features_stand_in_the_order_of_the_tensors(xp, rng):
    """The features' coefficients of a cubic form are those of its symmetric tensor."""
    q = 3
    a = rng.standard_normal(q)
    a /= np.linalg.norm(a)
    z = rng.standard_normal((q, 300))
    u = a @ z
    target = np.stack([u, (u**2 - 1) / np.sqrt(2), (u**3 - 3 * u) / np.sqrt(6)])
    coef = np.linalg.lstsq(to_numpy(hermite_features(xp.asarray(z))).T, target.T, rcond=None)[0].T
    powers = {1: a, 2: np.outer(a, a), 3: np.multiply.outer(np.outer(a, a), a)}
    for r, factor in ((1, 1), (2, 2), (3, 6)):
        T = tensor(coef[r - 1, order_slices(q)[r]], q, r)
        np.testing.assert_allclose(T, np.sqrt(factor) * powers[r], atol=1e-10)


def test_regression_recovers_a_polynomial_exactly(xp, rng):
    z = rng.standard_normal((500, 3))
    coef = rng.standard_normal((2, 20))
    values = coef @ hermite_features(z.T)
    X, y = xp.asarray(z), xp.asarray(np.zeros(500))

    def labels(Z, t):
        return xp.asarray(coef) @ hermite_features(Z)

    found, variances = hermite_regression(Rows.of(X, y), labels, Standard(), 3, np.random.default_rng(0))
    np.testing.assert_allclose(found, coef, atol=1e-9)
    assert np.max(variances) < 1e-16 * np.max(values**2)


def test_regression_on_features_that_depend_explains_what_it_can(xp, rng):
    """Inputs of two values have no squares of their own: the regression still gives a best fit, and no warning."""
    z = rng.choice([-1.0, 1.0], (400, 3))
    y = 2 * z[:, 0] + z[:, 1] * z[:, 2] + 0.1 * rng.standard_normal(400)
    coef, _ = hermite_regression(
        Rows.of(xp.asarray(z), xp.asarray(y)), lambda Z, t: t[None, :], Standard(), 3, np.random.default_rng(0)
    )
    features = hermite_features(z.T)
    best = np.linalg.lstsq(features.T, y, rcond=1e-10)[0]
    np.testing.assert_allclose(coef[0] @ features, best @ features, atol=1e-9)
    assert np.max(np.abs(coef)) < 3


def test_variances_are_those_seen_over_repetitions():
    """What the regression says of its own noise is what repeated samples show."""
    found, said = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((1500, 3))
        y = X[:, 0] ** 3 + rng.standard_normal(1500)
        coef, variances = hermite_regression(Rows.of(X, y), lambda Z, t: t[None, :], Standard(), 3, rng)
        found.append(coef[0])
        said.append(variances[0])
    for r, s in enumerate(order_slices(3)):
        seen = np.var(np.array(found)[:, s], axis=0).mean()
        assert np.mean(said, axis=0)[r] == pytest.approx(seen, rel=0.35)


def test_sampled_regression_is_corrected_by_all_rows(monkeypatch, rng):
    import skmoe.spectral.moments.regression as regression

    X = rng.standard_normal((6000, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(6000)
    whole, _ = hermite_regression(Rows.of(X, y), lambda Z, t: t[None, :], Standard(), 3, np.random.default_rng(0))
    monkeypatch.setattr(regression, "SAMPLE_PER_FEATURE", 60)
    sampled, _ = hermite_regression(Rows.of(X, y), lambda Z, t: t[None, :], Standard(), 3, np.random.default_rng(0))
    uncorrected, _ = regression._fit_sample(
        Rows.of(X, y), lambda Z, t: t[None, :], Standard(), 3, np.random.default_rng(0)
    )
    assert not np.allclose(sampled, whole, atol=1e-9)  # a sample it was
    assert np.linalg.norm(sampled - whole) < 0.35 * np.linalg.norm(uncorrected - whole)


@pytest.mark.parametrize(
    "law",
    [
        Gaussian(),
        Gaussian(np.full(4, 0.2), np.diag([1.0, 1.2, 0.9, 1.1])),
        scores.GaussianMixture([0.4, 0.6], [[0.5, 0, 0, 0], [-0.5, 0.3, 0, 0]]),
    ],
    ids=["standard", "gaussian", "mixture"],
)
def test_reference_weights_make_inputs_standard(xp, law):
    X = law.sample(200_000, 4, np.random.default_rng(0))
    reference = choose_reference(law, np.eye(4), X[:20_000])
    z = reference.coordinates(xp.asarray(X.T))
    w = to_numpy(reference.weights(z))
    z = to_numpy(z)
    assert reference.temper == 1.0
    assert w.mean() == pytest.approx(1.0, abs=0.02)
    assert 0.3 < w.sum() ** 2 / (w**2).sum() / len(w) <= 1
    np.testing.assert_allclose((z * w).mean(axis=1), 0, atol=0.02)
    np.testing.assert_allclose((z * w) @ z.T / len(w), np.eye(4), atol=0.03)
    third = np.mean(w * z[0] ** 3), np.mean(w * z[0] ** 4)
    np.testing.assert_allclose(third, (0, 3), atol=0.15)


def test_reference_is_tempered_where_the_law_does_not_reach():
    law = Gaussian(np.full(5, 4.0))
    X = law.sample(5000, 5, np.random.default_rng(0))
    reference = choose_reference(law, np.eye(5), X)
    w = reference.weights(reference.coordinates(X.T))
    assert np.all(np.isfinite(w))
    assert w.sum() ** 2 / (w**2).sum() / len(w) > 0.35


def test_leading_basis_holds_the_experts(xp):
    X, y, truth = make_moe(20_000, 30, 3, noise_scale=0.1, random_state=0)
    t = label_transform("linear", 0.1)
    rows = Rows.of(xp.asarray(X), xp.asarray(y))
    U, T2 = leading_basis(rows, t.quadratic, Gaussian(), 1.0, 4, np.random.default_rng(0))
    assert np.min(np.linalg.norm(truth.expert_coef @ U, axis=1)) > 0.97
    plain = score_moment(X, y, lambda Z, v: t.quadratic(v), Gaussian(), 2)
    shares = truth.gate_proba(X).mean(axis=0)
    expected = 2 * (truth.expert_coef.T * shares) @ truth.expert_coef
    # same limit, less noise
    assert np.linalg.norm(T2 - expected) < 0.7 * np.linalg.norm(plain - expected)


@pytest.mark.parametrize(
    ("n", "d", "k", "q"), [(2000, 10, 2, 10), (200_000, 100, 5, 6), (500, 20, 3, 5), (100, 10, 2, 2), (300, 3, 3, 3)]
)
def test_dimension_of_the_regression_is_what_rows_and_time_allow(n, d, k, q):
    assert regression_dimension(n, d, k) == q


def test_pick_rows_takes_all_when_few(rng):
    assert pick_rows(10, 10, rng) is None
    rows = pick_rows(1000, 10, rng)
    assert len(np.unique(rows)) == 10


@pytest.mark.parametrize("spread", [1.0, 2.0])
@pytest.mark.parametrize("activation", ["linear", "sigmoid", "relu"])
def test_moments_in_one_call_are_averages_of_labels_and_scores(activation, spread):
    """Row by row, with the transform of the stretched activation."""
    law = Gaussian(None, spread**2 * np.eye(3))
    X, y, _ = make_moe(300, 3, 2, activation=activation, noise_scale=0.2, input_law=law, random_state=0)
    t = label_transform(of_index(get_activation(activation), spread), 0.2)
    T2 = np.mean(t.quadratic(y)[:, None, None] * second_score(X, law), axis=0)
    T3 = np.mean(t.cubic(y)[:, None, None, None] * third_score(X, law), axis=0)
    how = {"noise_scale": 0.2, "activation": activation, "input_law": law}
    np.testing.assert_allclose(second_moment(X, y, **how), T2, atol=1e-12)
    np.testing.assert_allclose(third_moment(X, y, **how), T3, atol=1e-12)
    np.testing.assert_allclose(second_moment(X, y, shares=True, **how), spread**2 * T2 / t.c2, atol=1e-12)
    np.testing.assert_allclose(third_moment(X, y, shares=True, **how), spread**3 * T3 / t.c3, atol=1e-12)


@pytest.mark.parametrize("activation", ["linear", "sigmoid", "relu"])
@pytest.mark.parametrize(
    "law",
    [Gaussian(None, 4 * np.eye(6)), GaussianMixture([0.4, 0.6], np.zeros((2, 6)), [4 * np.eye(6), np.eye(6)])],
    ids=["wide", "mixture of spreads"],
)
def test_moments_hold_the_experts_alone_whatever_the_spread(law, activation):
    """Theorem 1 beyond N(0, I): the limit, in standard errors over parts of the sample."""
    X, y, truth = make_moe(
        200_000, 6, 2, activation=activation, noise_scale=0.2, input_law=law, orthogonal_gate=True, random_state=5
    )
    shares, A = truth.gate_proba(X).mean(axis=0), truth.expert_coef
    how = {"noise_scale": 0.2, "activation": activation, "input_law": law, "shares": True}
    for order, moment in ((2, second_moment), (3, third_moment)):
        parts = [moment(X[rows], y[rows], **how) for rows in np.array_split(np.arange(len(y)), 20)]
        error = np.std(parts, axis=0, ddof=1) / np.sqrt(20)
        expected = rank_one_sum(shares, A, order)
        assert np.max(np.abs(np.mean(parts, axis=0) - expected) / error) < 5.5
        assert np.max(np.abs(expected)) / np.median(error) > 10


def test_moments_take_row_weights():
    X, y, _ = make_moe(300, 3, 2, random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, 300)
    rows = np.repeat(np.arange(300), weight)
    for moment in (second_moment, third_moment):
        weighted, repeated = (
            moment(X, y, noise_scale=0.1, sample_weight=weight),
            moment(X[rows], y[rows], noise_scale=0.1),
        )
        np.testing.assert_allclose(weighted, repeated, atol=1e-12)


def test_moments_refuse_what_they_cannot_use():
    X, y, _ = make_moe(50, 3, 2, random_state=0)
    with pytest.raises(ValueError, match="The 'noise_scale' parameter of second_moment must be"):
        second_moment(X, y, noise_scale=-1.0)
    with pytest.raises(ValueError, match="Condition 1"):
        third_moment(X, y, noise_scale=0.1, activation=np.cos)
