"""The command line: ``skmoe``."""

from __future__ import annotations

import time
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from skmoe import joint_em, learn_experts, learn_gate, make_moe, metrics
from skmoe import reproduce as bridge
from skmoe.model import MoEParameters

app = typer.Typer(help="Mixture-of-experts regression.", no_args_is_help=True, add_completion=False)


@app.callback()
def main() -> None:
    """Mixture-of-experts regression."""


@app.command()
def demo(seed: int = typer.Option(0, help="Seed of the problem and of the fits.")) -> None:
    """Fit a made problem of three experts by the paper's algorithm and by joint EM, and print the errors.

    Example: skmoe demo --seed 1
    """
    n, d, k, sigma = 8000, 10, 3, 0.5
    X, y, truth = make_moe(n, d, k, noise_scale=sigma, random_state=seed)
    console = Console()
    console.print(f"{n} rows, {d} inputs, {k} linear experts, noise {sigma:g}, seed {seed}\n")

    start = time.perf_counter()
    experts = learn_experts(X, y, k, noise_scale=sigma, random_state=seed)
    gate = learn_gate(X, y, experts.coef, noise_scale=sigma, random_state=seed)
    spectral = time.perf_counter() - start
    start = time.perf_counter()
    em = joint_em(X, y, k, noise_scale=sigma, random_state=seed)
    joint = time.perf_counter() - start
    best = joint_em(X, y, k, noise_scale=sigma, init=(truth.expert_coef, truth.gate_coef))

    table = Table(title="Recovery of the truth")
    for column in ("method", "RegressorFit", "GatingFit", "error E(A, W)", "log-likelihood", "iterations", "seconds"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for name, A, W, iterations, seconds in (
        ("the paper: moments, then gate EM", experts.coef, gate.coef, gate.n_iter, f"{spectral:.2f}"),
        ("joint EM, random start", em.expert_coef, em.gate_coef, em.n_iter, f"{joint:.2f}"),
        ("joint EM, started at the truth", best.expert_coef, best.gate_coef, best.n_iter, ""),
    ):
        log_likelihood = float(np.mean(MoEParameters(A, W, sigma).log_density(X, y)))
        table.add_row(
            name,
            f"{metrics.regressor_fit(A, truth.expert_coef):.4f}",
            f"{metrics.gating_fit(W, truth.gate_coef):.4f}",
            f"{metrics.parameter_error(A, W, truth.expert_coef, truth.gate_coef):.3f}",
            f"{log_likelihood:.5f}",
            str(iterations),
            seconds,
        )
    console.print(table)
    console.print(
        f"\nSpectrum of T2: {np.array2string(experts.spectrum, precision=3)}, gap after {k}: {experts.gap:.2f}"
    )


@app.command()
def reproduce(
    what: Annotated[
        list[str] | None, typer.Argument(help="table1, table2, figure2 ... figure5, theory, scaling-panel, or all.")
    ] = None,
    show: bool = typer.Option(False, "--list", help="Say what there is, and run nothing."),
    quick: bool = typer.Option(
        False, "--quick", help="Two small trials of everything, compared with those in the repository."
    ),
    trials: int = typer.Option(None, min=1, help="Trials of each setting, in place of each experiment's own number."),
    jobs: int = typer.Option(1, min=1, help="Processes."),
) -> None:
    """Run the paper's tables and figures again; a trial that was done before is not run again.

    Example: skmoe reproduce table1 figure2 --jobs 2
    """
    console = Console()
    try:
        if show or not what:
            for name, title in bridge.listing():
                console.print(f"{name:14} {title}")
            return
        differences = bridge.reproduce(what, quick=quick, trials=trials, jobs=jobs, console=console)
    except (FileNotFoundError, ValueError) as error:
        console.print(f"skmoe reproduce: {error}", style="red", soft_wrap=True)
        raise typer.Exit(2) from error
    if differences:
        console.print(
            f"{len(differences)} numbers differ from the repository's:", *differences[:5], sep="\n", markup=False
        )
        raise typer.Exit(1)
    if quick and "all" in what:
        console.print("the quick set is the same as the repository's, to 1e-6")
