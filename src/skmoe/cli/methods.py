"""Options of learning, as settings of the estimator."""

from __future__ import annotations

from typing import Annotated, Any

import typer

__all__ = [
    "Average",
    "Decomposition",
    "Experts",
    "GateMethod",
    "InputLaw",
    "MaxExperts",
    "Method",
    "Moments",
    "Noise",
    "Radius",
    "StepSize",
    "method_settings",
]

METHODS = ("auto", "spectral", "joint-em")
LAWS = ("auto", "gaussian", "mixture", "standard")

Experts = Annotated[str, typer.Option(help="Number of experts, or auto (by held-out rows).")]
MaxExperts = Annotated[int, typer.Option(min=1, help="The largest number that --experts auto may choose.")]
Noise = Annotated[str, typer.Option(help="shared, per-expert or a known noise scale.")]
Average = Annotated[int, typer.Option(min=0, max=1000, help="Models that share in predictions; 0 for the best alone.")]
Method = Annotated[str, typer.Option(help="auto, spectral (the paper's two algorithms) or joint-em.")]
InputLaw = Annotated[
    str, typer.Option(help="Distribution of the inputs: auto, gaussian, mixture or standard (Gaussian).")
]
Moments = Annotated[
    str | None, typer.Option(help="For --method spectral: regression (ours, default) or plain (the paper's).")
]
Decomposition = Annotated[
    str | None,
    typer.Option(
        help="For --method spectral: matching (ours, default), orth-als (the paper's), orth-als-t2 (ours) or power."
    ),
]
GateMethod = Annotated[
    str | None, typer.Option(help="For --method spectral: em (default), gradient or moments, all the paper's.")
]
Radius = Annotated[
    float | None, typer.Option(help="For --method spectral: most length of a gate vector; the paper's is 1.")
]
StepSize = Annotated[float | None, typer.Option(help="For --gate-method gradient: its step.")]


def method_settings(n_experts: int | str, method: str, input_law: str, **options: Any) -> dict[str, Any]:
    """Return settings of `MoERegressor`, with those of "spectral"; mistakes are refused before a table is read."""
    _check("--method", method, METHODS)
    _check("--input-law", input_law, LAWS)
    if method != "auto" and n_experts == "auto":
        raise ValueError(f"--method {method} needs a number of experts, such as --experts 2")
    law = None if input_law == "standard" else input_law
    return {"method": method, "input_law": law, "spectral_options": _spectral_options(method, options)}


def _spectral_options(method: str, options: dict[str, Any]) -> dict[str, Any] | None:
    """Return the options that were written, or None."""
    given = {name: value for name, value in options.items() if value is not None}
    if not given:
        return None
    written = {name: f"--{name.replace('_', '-')}" for name in given}
    if method != "spectral":
        raise ValueError(f"{', '.join(written.values())}: for --method spectral; --method is {method}")
    from skmoe.spectral.decomposition import DECOMPOSITIONS

    choices = {
        "moments": ("regression", "plain"),
        "decomposition": tuple(DECOMPOSITIONS),
        "gate_method": ("em", "gradient", "moments"),
    }
    for name, value in given.items():
        if name in choices:
            _check(written[name], value, choices[name])
        elif not 0 < value < float("inf"):
            raise ValueError(f"{written[name]} must be a positive number; got {value:g}")
    if "step_size" in given and given.get("gate_method") != "gradient":
        raise ValueError("--step-size is for --gate-method gradient")
    return given


def _check(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{option} must be one of {', '.join(choices)}; got {value!r}")
