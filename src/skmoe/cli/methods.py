"""Options of learning, as settings of the estimator."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer

__all__ = [
    "Average",
    "Decomposition",
    "Experts",
    "GateMethod",
    "InputLaw",
    "MaxExperts",
    "Method",
    "MethodOptions",
    "Moments",
    "Noise",
    "Radius",
    "StepSize",
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


class MethodOptions(NamedTuple):
    """Options as they were written; None for those that were not."""

    method: str
    input_law: str
    moments: str | None
    decomposition: str | None
    gate_method: str | None
    radius: float | None
    step_size: float | None

    def settings(self, n_experts: int | str) -> dict[str, Any]:
        """Return settings of `MoERegressor`; mistakes are refused before a table is read."""
        _check("--method", self.method, METHODS)
        _check("--input-law", self.input_law, LAWS)
        if self.method != "auto" and n_experts == "auto":
            raise ValueError(f"--method {self.method} needs a number of experts, such as --experts 2")
        law = None if self.input_law == "standard" else self.input_law
        return {"method": self.method, "input_law": law, "spectral_options": self._spectral()}

    def _spectral(self) -> dict[str, Any] | None:
        """Return the options of "spectral" that were written, or None."""
        names = ("moments", "decomposition", "gate_method", "radius", "step_size")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if not given:
            return None
        written = [f"--{name.replace('_', '-')}" for name in given]
        if self.method != "spectral":
            raise ValueError(f"{', '.join(written)}: for --method spectral; --method is {self.method}")
        from skmoe.spectral.decomposition import DECOMPOSITIONS

        choices = {
            "moments": ("regression", "plain"),
            "decomposition": tuple(DECOMPOSITIONS),
            "gate_method": ("em", "gradient", "moments"),
        }
        for name, value in given.items():
            option = f"--{name.replace('_', '-')}"
            if name in choices:
                _check(option, value, choices[name])
            elif not 0 < value < float("inf"):
                raise ValueError(f"{option} must be a positive number; got {value:g}")
        if self.step_size is not None and self.gate_method != "gradient":
            raise ValueError("--step-size is for --gate-method gradient")
        return given


def _check(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{option} must be one of {', '.join(choices)}; got {value!r}")
