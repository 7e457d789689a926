"""``skmoe fit``: a model from a table."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from skmoe.cli.models import as_json, fit_named, names_in, parse_experts, parse_noise
from skmoe.cli.shell import UNRELIABLE, check_output, note, print_json, print_table

__all__ = ["fit"]

Data = Annotated[str, typer.Argument(help="CSV, TSV (.gz too), Parquet, Arrow or Feather file; - for CSV from stdin.")]
Target = Annotated[str, typer.Option(help="Column to be predicted.")]
Drop = Annotated[str | None, typer.Option(help="Columns to leave out, split by commas.")]
Missing = Annotated[
    str, typer.Option(help="Rows with missing inputs: drop, impute (median, most frequent value) or error.")
]


def fit(
    data: Data,
    target: Target,
    out: Annotated[str, typer.Option(help="Model file to write.")],
    experts: Annotated[str, typer.Option(help="Number of experts, or auto (by BIC).")] = "auto",
    activation: Annotated[str, typer.Option(help="linear, sigmoid, relu, tanh or softplus.")] = "linear",
    noise: Annotated[str, typer.Option(help="shared, per-expert or a known noise scale.")] = "per-expert",
    gate_columns: Annotated[str | None, typer.Option(help="Columns the gate sees, split by commas.")] = None,
    expert_columns: Annotated[str | None, typer.Option(help="Columns the experts see, split by commas.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column of sample weights.")] = None,
    drop: Drop = None,
    missing: Missing = "drop",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 0,
    max_iter: Annotated[int, typer.Option(min=1, help="Most iterations of a run.")] = 500,
    as_machine: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    report: Annotated[str | None, typer.Option(help="HTML report to write as well.")] = None,
) -> None:
    """Fit a mixture of experts to a table and save it.

    Text becomes categories, compared with the first of them. Ctrl-C keeps the best model so far.

    Example: skmoe fit houses.csv --target price --drop id --out houses.skmoe
    """
    start = time.perf_counter()
    n_experts, scale = parse_experts(experts), parse_noise(noise)
    check_output(out, "--out", data)
    if report is not None:
        check_output(report, "--report", data)
    from skmoe.activations import ACTIVATIONS
    from skmoe.tabular import Recipe, read

    if activation not in ACTIVATIONS:  # said before a long table is read
        raise ValueError(f"--activation must be one of {', '.join(ACTIVATIONS)}; got {activation!r}")
    table = read(data)
    recipe = Recipe.learn(table, target, weights=weights, drop=names_in(drop), missing=missing)
    for line in recipe.notes:
        note(line)
    gate = recipe.expand(names_in(gate_columns), "--gate-columns") if gate_columns else None
    expert = recipe.expand(names_in(expert_columns), "--expert-columns") if expert_columns else None
    X, y, weight = recipe.rows(table)

    from skmoe import MoERegressor

    model = MoERegressor(
        n_experts,
        activation=activation,
        noise=scale,
        gate_features=gate,
        expert_features=expert,
        max_iter=max_iter,
        random_state=seed,
    )
    fit_named(model, X, y, recipe.features, weight=weight)
    model.table_ = recipe.to_json()
    model.save(out)
    r2 = model.score(X, y, sample_weight=weight)
    if as_machine:
        about = {"model": out, "target": target, "rows": len(y), "rows_in_table": table.num_rows, "r2": r2}
        seconds = round(time.perf_counter() - start, 3)
        print_json({**about, **as_json(model), "notes": recipe.notes, "seconds": seconds})
    else:
        print_table(model.summary())
        typer.echo(f"{len(y)} rows, R2 {r2:.3f} on them; model in {out}")
    if report is not None:
        from skmoe.persistence import replacing
        from skmoe.report import write

        with replacing(report) as beside:
            write(model, beside, X, y, target=target)
        note(f"report in {report}")
    if not model.converged_:
        raise typer.Exit(UNRELIABLE)
