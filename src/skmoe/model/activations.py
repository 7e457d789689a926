"""Expert activations g and their derivatives: linear, sigmoid, ReLU, tanh, softplus, or a user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.special import log_one_plus_exp, logistic

__all__ = ["ACTIVATIONS", "Activation", "get_activation"]


@dataclass(frozen=True)
class Activation:
    """An activation g with its derivative and the points where it is not smooth.

    Parameters
    ----------
    function : callable
        g, elementwise on arrays of the caller's library.
    derivative : callable, optional
        g', elementwise. Without it, central differences of `function` are used.
    kinks : tuple of float
        Where g is not smooth; label transforms integrate each piece separately. Kinks that are not given cost accuracy
        only.
    name : str
    linear : bool
        Whether g is the identity, so that experts are fitted by weighted least squares.
    """

    function: Callable[[Array], Array]
    derivative: Callable[[Array], Array] | None = None
    kinks: tuple[float, ...] = ()
    name: str = "custom"
    linear: bool = False

    def __call__(self, z: Array) -> Array:
        """Return the value g(z)."""
        return self.function(z)

    def prime(self, z: Array) -> Array:
        """Return the derivative g'(z).

        Parameters
        ----------
        z : array
            Points to evaluate it at.

        Returns
        -------
        array
            Elementwise, in the library of `z`.
        """
        if self.derivative is not None:
            return self.derivative(z)
        xp = array_namespace(z)
        # the cube root of machine precision balances truncation against rounding
        step = float(xp.finfo(z.dtype).eps) ** (1 / 3) * xp.maximum(xp.abs(z), xp.ones_like(z))
        return (self.function(z + step) - self.function(z - step)) / (2 * step)

    def second(self, z: Array) -> Array:
        """Return the second derivative, by differences; zero at kinks, where a difference would be large.

        Parameters
        ----------
        z : array
            Points to evaluate it at.

        Returns
        -------
        array
            Elementwise, in the library of `z`.
        """
        xp = array_namespace(z)
        step = 6e-6 * xp.maximum(xp.abs(z), xp.ones_like(z))
        second = (self.prime(z + step) - self.prime(z - step)) / (2 * step)
        for kink in self.kinks:
            second = xp.where(xp.abs(z - kink) <= step, xp.zeros_like(z), second)
        return second


def _identity(z: Array) -> Array:
    return z


def _ones(z: Array) -> Array:
    return array_namespace(z).ones_like(z)


def _sigmoid_prime(z: Array) -> Array:
    s = logistic(z)
    return s * (1 - s)


def _relu(z: Array) -> Array:
    xp = array_namespace(z)
    return xp.maximum(z, xp.zeros_like(z))


def _step(z: Array) -> Array:
    return array_namespace(z).astype(z > 0, z.dtype)


def _tanh(z: Array) -> Array:
    return array_namespace(z).tanh(z)


def _tanh_prime(z: Array) -> Array:
    return 1 - array_namespace(z).tanh(z) ** 2


ACTIVATIONS = {
    "linear": Activation(_identity, _ones, name="linear", linear=True),
    "sigmoid": Activation(logistic, _sigmoid_prime, name="sigmoid"),
    "relu": Activation(_relu, _step, kinks=(0.0,), name="relu"),
    "tanh": Activation(_tanh, _tanh_prime, name="tanh"),
    "softplus": Activation(log_one_plus_exp, logistic, name="softplus"),
}


def get_activation(activation: str | Activation | Callable[[Array], Array]) -> Activation:
    """Look an activation up by name, or wrap a user's own callable."""
    if isinstance(activation, Activation):
        return activation
    if isinstance(activation, str) and activation.lower() in ACTIVATIONS:
        return ACTIVATIONS[activation.lower()]
    if callable(activation):
        return Activation(activation, name=getattr(activation, "__name__", "custom"))
    raise ValueError(
        f"activation must be one of {sorted(ACTIVATIONS)}, a callable, or a skmoe.Activation; got {activation!r}"
    )
