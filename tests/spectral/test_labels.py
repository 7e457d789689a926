import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

from skmoe import Activation, label_transform
from skmoe.model.activations import ACTIVATIONS, get_activation
from skmoe.spectral.labels import activation_moments, of_index


def conditional_mean(g, sigma, cubic, quadratic, linear):
    """E[polynomial(Y) | Z = z] for Y ~ N(g(z), sigma^2)."""

    def mean(z):
        value = g(np.asarray([z]))[0]
        return cubic * (value**3 + 3 * value * sigma**2) + quadratic * (value**2 + sigma**2) + linear * value

    return mean


def expected_derivative(mean, order):
    """E[mean^(order)(Z)] by Stein's identity, integrated piece by piece by an independent rule."""
    hermite = {1: lambda z: z, 2: lambda z: z * z - 1, 3: lambda z: z**3 - 3 * z}[order]
    pieces = [
        integrate.quad(lambda z: hermite(z) * mean(z) * norm.pdf(z), a, b, epsabs=1e-13)[0]
        for a, b in ((-12, 0), (0, 12))
    ]
    return sum(pieces)


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_conditions_hold(name, sigma):
    g, t = get_activation(name), label_transform(name, sigma)
    cubic = conditional_mean(g, sigma, 1.0, t.alpha, t.beta)
    quadratic = conditional_mean(g, sigma, 0.0, 1.0, t.gamma)
    assert abs(expected_derivative(cubic, 1)) < 1e-10
    assert abs(expected_derivative(cubic, 2)) < 1e-10
    assert expected_derivative(cubic, 3) == pytest.approx(t.c3, abs=1e-10)
    assert abs(t.c3) > 1e-3
    assert abs(expected_derivative(quadratic, 1)) < 1e-10
    assert expected_derivative(quadratic, 2) == pytest.approx(t.c2, abs=1e-10)
    assert abs(t.c2) > 1e-3


@pytest.mark.parametrize("sigma", [0.1, 0.7])
def test_identity_has_its_closed_form(sigma):
    t = label_transform("linear", sigma)
    assert (t.alpha, t.gamma) == (0.0, 0.0)
    assert t.beta == pytest.approx(-3 * (1 + sigma**2), abs=1e-14)
    assert (t.c2, t.c3) == (pytest.approx(2, abs=1e-13), pytest.approx(6, abs=1e-13))


def test_sigmoid_has_the_exact_alpha_and_gamma():
    t = label_transform("sigmoid", 0.3)
    assert t.alpha == pytest.approx(-1.5, abs=1e-12)
    assert t.gamma == pytest.approx(-1.0, abs=1e-12)


@pytest.mark.parametrize(("sigma", "beta"), [(0.1, 2.22582), (0.5, 1.50582)])
def test_relu_has_the_corrected_constants(sigma, beta):
    t = label_transform("relu", sigma)
    assert t.alpha == pytest.approx(-3.29359, abs=5e-6)
    assert t.beta == pytest.approx(beta, abs=5e-6)
    assert t.gamma == pytest.approx(-2 * np.sqrt(2 / np.pi), abs=1e-12)


def test_papers_relu_constants_fail_condition_1():
    sigma = 0.1
    alpha, beta = -3 * np.sqrt(2 / np.pi), 3 * (4 / np.pi - sigma**2 - 1)
    mean = conditional_mean(get_activation("relu"), sigma, 1.0, alpha, beta)
    assert abs(expected_derivative(mean, 1)) < 1e-10  # the first equation holds
    assert abs(expected_derivative(mean, 2)) > 0.3  # the second does not: E[g''(Z)] was left out


def test_a_kink_that_is_not_named_costs_little():
    t, named = label_transform(lambda z: np.maximum(z, 0), 0.1), label_transform("relu", 0.1)
    assert t.alpha == pytest.approx(named.alpha, abs=1e-8)


@pytest.mark.parametrize(("shift", "size"), [(1000.0, 1.0), (0.0, 1e-4), (-3.0, 1e3)])
def test_shift_and_scale_of_the_activation_carry_through(shift, size):
    plain = label_transform("softplus", 0.1)
    own = label_transform(lambda z: shift + size * ACTIVATIONS["softplus"](z), 0.1 * size)
    y = np.linspace(-2, 2, 9)
    for name, power in (("quadratic", 2), ("cubic", 3)):
        there, here = getattr(own, name)(shift + size * y), getattr(plain, name)(y) * size**power
        spread = np.ptp(here)
        # equal up to a constant, which no score function sees
        np.testing.assert_allclose(there - there[0], here - here[0], atol=1e-6 * spread + 1e-9 * abs(there[0]))
    assert own.c3 == pytest.approx(plain.c3 * size**3, rel=1e-9)


@pytest.mark.parametrize(
    ("g", "condition"),
    [
        (lambda z: z**2, "Condition 1"),
        (np.cos, "Condition 1"),
        (lambda z: 0 * z + 2.0, "Condition 2"),
    ],
    ids=["even", "cosine", "constant"],
)
def test_activation_that_does_not_qualify_is_refused(g, condition):
    with pytest.raises(ValueError, match=condition):
        label_transform(g, 0.1)


def test_activation_without_gamma_is_refused():
    # odd part without a linear Hermite term, plus an even part: E[g'] = 0 but E[(g^2)'] is not
    with pytest.raises(ValueError, match="no gamma exists"):
        label_transform(lambda z: z**3 - 3 * z + z**2, 0.1)


@pytest.mark.parametrize(
    ("g", "why"), [(lambda z: np.exp(z**2), "grows too fast"), (lambda z: 1 / np.sin(40 * z + 1), "could not be")]
)
def test_activation_that_cannot_be_integrated_is_refused(g, why):
    with pytest.raises(ValueError, match=why), np.errstate(all="ignore"):
        label_transform(Activation(g), 0.1)


@pytest.mark.parametrize("activation", ["linear", "sigmoid", "relu"])
def test_transform_without_noise_is_the_limit_of_little_noise(activation):
    none, little = label_transform(activation, 0.0), label_transform(activation, 1e-6)
    for name in ("alpha", "beta", "gamma", "c2", "c3"):
        assert getattr(none, name) == pytest.approx(getattr(little, name), abs=1e-9)
    if activation == "linear":
        assert (none.alpha, none.beta) == pytest.approx((0.0, -3.0))


def test_system_is_not_singular_for_odd_activations():
    """For the identity it is [[0, 1], [2, 0]]: alpha is zero by symmetry, beta is not."""
    m = activation_moments("linear")
    np.testing.assert_allclose([[m[2, 1], m[1, 1]], [m[2, 2], m[1, 2]]], [[0, 1], [2, 0]], atol=1e-12)
    t = label_transform("tanh", 0.3)
    assert t.alpha == pytest.approx(0, abs=1e-12)
    assert abs(t.beta) > 0.1


def test_transform_of_an_index_is_that_of_the_stretched_activation():
    """With variance s^2 and mean m of the index, linear experts: P3 = (y - m)^3 - 3 (s^2 + sigma^2) (y - m) + ..."""
    g = of_index(get_activation("linear"), 2.0)
    t = label_transform(g, 0.5)
    assert t.beta == pytest.approx(-3 * (4 + 0.25))
    assert (t.c2, t.c3) == pytest.approx((2 * 4, 6 * 8))
    shifted = label_transform(of_index(get_activation("linear"), 2.0, 1.5), 0.5)
    assert shifted.gamma == pytest.approx(-2 * 1.5)
    assert shifted.alpha == pytest.approx(-3 * 1.5)
    assert (shifted.c2, shifted.c3) == pytest.approx((t.c2, t.c3))


@pytest.mark.parametrize("sigma", [-1.0, np.nan, np.inf])
def test_noise_scale_must_not_be_negative(sigma):
    with pytest.raises(ValueError, match="noise_scale"):
        label_transform("linear", sigma)


def test_moments_of_the_identity_are_hermite():
    m = activation_moments("linear")
    np.testing.assert_allclose(m[1], [0, 1, 0, 0, 0, 0], atol=1e-13)
    np.testing.assert_allclose(m[2], [1, 0, 2, 0, 0, 0], atol=1e-13)
    np.testing.assert_allclose(m[3], [0, 3, 0, 6, 0, 0], atol=1e-13)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_hermite_table_matches_sampled_outputs(name):
    sigma, n = 0.3, 400_000
    t, g = label_transform(name, sigma), get_activation(name)
    rng = np.random.default_rng(0)
    z = rng.standard_normal(n)
    P = t.all(g(z) + sigma * rng.standard_normal(n))
    for m, hermite in enumerate([np.ones(n), z, z**2 - 1, z**3 - 3 * z, z**4 - 6 * z**2 + 3]):
        terms = P * hermite
        error = terms.std(axis=1) / np.sqrt(n)
        assert np.all(np.abs(terms.mean(axis=1) - t.hermite[:, m]) < 5 * error)
    assert t.hermite[1, 2] == pytest.approx(t.c2)
    assert t.hermite[2, 3] == pytest.approx(t.c3)
