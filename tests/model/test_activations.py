import numpy as np
import pytest

from skmoe.arrays.namespaces import to_numpy
from skmoe.model.activations import ACTIVATIONS, Activation, get_activation


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_derivative_agrees_with_differences(xp, name):
    g = get_activation(name)
    z = np.linspace(-4, 4, 41) + 0.01  # off the kink
    by_differences = Activation(g.function).prime(xp.asarray(z))
    np.testing.assert_allclose(to_numpy(g.prime(xp.asarray(z))), to_numpy(by_differences), atol=1e-8)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activation_is_finite_at_extremes(xp, name):
    g = get_activation(name)
    z = xp.asarray([-1e4, -50.0, 0.0, 50.0, 1e4])
    assert np.all(np.isfinite(to_numpy(g(z))))
    assert np.all(np.isfinite(to_numpy(g.prime(z))))


def test_known_values():
    z = np.array([-1.0, 0.0, 2.0])
    np.testing.assert_allclose(ACTIVATIONS["sigmoid"](z), 1 / (1 + np.exp(-z)))
    np.testing.assert_allclose(ACTIVATIONS["softplus"](z), np.log1p(np.exp(z)))
    np.testing.assert_array_equal(ACTIVATIONS["relu"](z), [0, 0, 2])


def test_names_ignore_case_and_callables_are_wrapped():
    assert get_activation("ReLU") is ACTIVATIONS["relu"]
    own = get_activation(np.sin)
    np.testing.assert_allclose(own.prime(np.array([0.3])), np.cos([0.3]), atol=1e-9)
    assert get_activation(own) is own


@pytest.mark.parametrize("wrong", ["swish", 3, None])
def test_unknown_activation_is_refused(wrong):
    with pytest.raises(ValueError, match="activation must be one of"):
        get_activation(wrong)
