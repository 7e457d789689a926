"""What the parameters of the paper's functions may be, and the options of `MoERegressor(method="spectral")`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints, validate_params

from skmoe.arrays.checks import RANDOM_STATE
from skmoe.spectral.decomposition import DECOMPOSITIONS

__all__ = ["NOT_NEGATIVE", "POSITIVE", "SpectralOptions", "spectral_options", "validated"]

NOT_NEGATIVE, POSITIVE = (Interval(Real, 0, None, closed=closed) for closed in ("left", "neither"))
COUNT = Interval(Integral, 1, None, closed="left")
CONSTRAINTS: dict[str, list[Any]] = {
    "n_experts": [COUNT],
    "activation": [str, callable],
    "noise_scale": [NOT_NEGATIVE],
    "moments": [StrOptions({"regression", "plain"})],
    "decomposition": [StrOptions(set(DECOMPOSITIONS)), callable],
    "gate_method": [StrOptions({"em", "gradient", "moments"})],
    "radius": [POSITIVE, None],
    "step_size": [POSITIVE, None],
    "max_iter": [COUNT],
    "n_samples": [COUNT],
    "tol": [POSITIVE],
    "random_state": RANDOM_STATE,
}


def validated(*names: str, **others: list[Any]) -> Callable[..., Any]:
    """Return a decorator that checks parameters by their names in `CONSTRAINTS`, and others by their own."""
    return validate_params({name: CONSTRAINTS[name] for name in names} | others, prefer_skip_nested_validation=True)


@dataclass(frozen=True)
class SpectralOptions:
    """Choices of Algorithms 1 and 2, for ``MoERegressor(method="spectral", spectral_options=...)``.

    The defaults are ours, not the paper's: they estimate the same moments with less noise. `SpectralOptions.paper`
    gives what the paper ran.

    Parameters
    ----------
    moments : {"regression", "plain"}
        Hermite regression under a reference law, which is ours, or the paper's averages; see `skmoe.learn_experts`.
    decomposition : {"matching", "orth-als", "orth-als-t2", "power"} or callable
        "matching" and "orth-als-t2" are ours, "orth-als" (of all of T3) is what the paper ran, "power" the method
        of its theory; see `skmoe.learn_experts`.
    gate_method : {"em", "gradient", "moments"}
        Method for the gate, all of them the paper's; see `skmoe.learn_gate`.
    radius : float, optional
        Radius R of the ball that gate vectors are kept in; the paper's is 1. Without it they may be of any length.
    step_size : float, optional
        Step of ``gate_method="gradient"``; the paper's 2 / (mu + lambda) if not given.

    Examples
    --------
    >>> from skmoe import MoERegressor, make_moe, metrics
    >>> from skmoe.spectral import SpectralOptions
    >>> X, y, truth = make_moe(20_000, 5, 2, random_state=0)
    >>> paper = MoERegressor(2, method="spectral", input_law=None, spectral_options=SpectralOptions.paper())
    >>> coef = paper.set_params(random_state=0).fit(X, y).expert_coef_
    >>> bool(metrics.regressor_fit(coef, truth.expert_coef) > 0.97)
    True
    """

    moments: str = "regression"
    decomposition: Any = "matching"
    gate_method: str = "em"
    radius: float | None = None
    step_size: float | None = None

    @classmethod
    def paper(cls) -> SpectralOptions:
        """Return the paper's choices: averages, Orth-ALS of all of T3, EM with the gate in the unit ball.

        Returns
        -------
        SpectralOptions
            The record.
        """
        return cls(moments="plain", decomposition="orth-als", gate_method="em", radius=1.0)


def spectral_options(given: SpectralOptions | Mapping[str, Any] | None) -> SpectralOptions:
    """Return `spectral_options` as a record; refuse unknown names."""
    if given is None:
        return SpectralOptions()
    if isinstance(given, SpectralOptions):
        options = given
    else:
        names = [field.name for field in fields(SpectralOptions)]
        unknown = [repr(name) for name in given if name not in names]
        if unknown:
            raise ValueError(f"spectral_options has no {', '.join(unknown)}; it takes {', '.join(names)}")
        options = SpectralOptions(**given)
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    validate_parameter_constraints({name: CONSTRAINTS[name] for name in values}, values, "spectral_options")
    if options.step_size is not None and options.gate_method != "gradient":
        raise ValueError(
            f'step_size of spectral_options is for gate_method="gradient"; gate_method is {options.gate_method!r}'
        )
    return options
