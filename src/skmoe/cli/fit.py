"""``skmoe fit``: a model from a table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

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

LARGE = 2**30  # bytes of a table that is read in blocks instead of being held
MOST_PACKED = 32  # times that a file of numbers is smaller on disk, at most


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
    from skmoe.model.activations import ACTIVATIONS
    from skmoe.rows.encoder import Recipe
    from skmoe.rows.files import read

    if activation not in ACTIVATIONS:  # said before a long table is read
        raise ValueError(f"--activation must be one of {', '.join(ACTIVATIONS)}; got {activation!r}")
    large = _larger_than_memory(data, target, weights, names_in(drop))
    if large is not None:
        recipe, X, y, weight = large
        if report is not None:
            raise ValueError("--report is for tables that fit in memory; fit, then give skmoe report some of the rows")
    else:
        table = read(data)
        recipe = Recipe.learn(table, target, weights=weights, drop=names_in(drop), missing=missing)
        X, y, weight = recipe.rows(table)
    for line in recipe.notes:
        note(line)
    gate = recipe.expand(names_in(gate_columns), "--gate-columns") if gate_columns else None
    expert = recipe.expand(names_in(expert_columns), "--expert-columns") if expert_columns else None

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
    r2 = model.score(X, y) if large is not None else model.score(X, y, sample_weight=weight)
    rows, whole = model.history_["rows"], model.history_["rows"] if large is not None else table.num_rows
    if as_machine:
        about = {"model": out, "target": target, "rows": rows, "rows_in_table": whole, "r2": r2}
        seconds = round(time.perf_counter() - start, 3)
        print_json({**about, **as_json(model), "notes": recipe.notes, "seconds": seconds})
    else:
        print_table(model.summary())
        typer.echo(f"{rows} rows, R2 {r2:.3f} on them; model in {out}")
    if report is not None:
        from skmoe.persistence.model_file import replacing
        from skmoe.report import write

        with replacing(report) as beside:
            write(model, beside, X, y, target=target)
        note(f"report in {report}")
    if not model.converged_:
        raise typer.Exit(UNRELIABLE)


def _larger_than_memory(data: str, target: str, weights: str | None, drop: list[str]) -> Any:
    """Recipe, table and names of the columns to read in blocks, for a file too large to be held; else None.

    Such a file has to hold numbers without gaps: nothing is encoded or imputed on the way.
    """
    from skmoe.rows.blocks import open_table
    from skmoe.rows.columns import Column
    from skmoe.rows.encoder import Recipe
    from skmoe.rows.files import check_suffix

    if data == "-" or not Path(data).is_file():
        return None
    binary = check_suffix(data) in ("parquet", "arrow")
    if Path(data).stat().st_size < (LARGE // MOST_PACKED if binary else LARGE):
        return None
    table = open_table(data)
    if binary and 8 * table.n * len(table.all_names) < LARGE:
        return None
    beside = [target, *([weights] if weights else [])]
    table.check_names([*beside, *drop])
    inputs = [name for name in table.all_names if name not in (target, weights, *drop)]
    words = f"{table.n} rows are read in blocks, as numbers without gaps"
    recipe = Recipe(target, tuple(Column(n, "number") for n in inputs), weights, "error", tuple(drop), (words,))
    return recipe, table.only([*inputs, *beside]), target, weights
