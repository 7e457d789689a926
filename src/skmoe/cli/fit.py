"""``skmoe fit``: a model from a table."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from skmoe.cli import methods, outputs, tables
from skmoe.cli.advice import fit_lines, worded
from skmoe.cli.failures import UNRELIABLE, save_or_keep
from skmoe.cli.models import (
    as_json,
    fit_watched,
    held_out_lines,
    parse_calibration,
    parse_experts,
    parse_noise,
    parse_penalty,
)
from skmoe.cli.outputs import CLASSES, FAMILY_NAMES
from skmoe.cli.shell import check_output, check_page_name, note, print_json, print_table, print_text

__all__ = ["fit"]

MOST_FEW = 10  # whole numbers that may be classes
ON_THE_ROWS = {
    "r2": ", R2 {:.3f} on them",
    "accuracy": ", accuracy {:.3f} on them",
    "base_rate": " (always naming the most frequent class: {:.3f})",
}


def fit(
    data: tables.Data,
    target: tables.Target,
    out: Annotated[
        str | None, typer.Option(help="Model file to write, by default the table's name with .skmoe, here.")
    ] = None,
    experts: methods.Experts = "auto",
    family: Annotated[
        str, typer.Option(help=f"Distribution of the target: {', '.join(FAMILY_NAMES)}; classes fits a classifier.")
    ] = "gaussian",
    exposure: outputs.Exposure = None,
    trials: outputs.Trials = None,
    lower: outputs.Lower = None,
    upper: outputs.Upper = None,
    max_experts: methods.MaxExperts = 10,
    activation: Annotated[str, typer.Option(help="linear, sigmoid, relu, tanh or softplus.")] = "linear",
    noise: methods.Noise = "per-expert",
    penalty: Annotated[str, typer.Option(help="Penalty, or auto; 0 is maximum likelihood.")] = "auto",
    average: methods.Average = 0,
    calibration: Annotated[str, typer.Option(help="Intervals corrected by rows left out: loo, or none.")] = "loo",
    method: methods.Method = "auto",
    input_law: methods.InputLaw = "auto",
    moments: methods.Moments = None,
    decomposition: methods.Decomposition = None,
    gate_method: methods.GateMethod = None,
    radius: methods.Radius = None,
    step_size: methods.StepSize = None,
    columns: tables.Columns = None,
    drop: tables.Drop = None,
    gate_columns: Annotated[
        list[str] | None,
        typer.Option(help="Columns the gate sees, or none: the same shares in every row; repeat, or split by commas."),
    ] = None,
    expert_columns: Annotated[
        list[str] | None,
        typer.Option(help="Columns the experts see, or none: each a constant; repeat, or split by commas."),
    ] = None,
    weights: Annotated[str | None, typer.Option(help="Column of sample weights.")] = None,
    missing: tables.Missing = "level",
    unseen: tables.Unseen = "other",
    categorical: tables.Categorical = None,
    reference: tables.Reference = None,
    dates: tables.Dates = "days,month,weekday,hour",
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    encoding: tables.Encoding = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the search.")] = 0,
    max_iter: Annotated[int, typer.Option(min=1, help="Most iterations of a run.")] = 500,
    max_time: Annotated[float | None, typer.Option(help="Seconds after which the best model so far is kept.")] = None,
    n_init: Annotated[
        int, typer.Option(min=1, max=10_000, help="Random starts; more look further where they disagree.")
    ] = 10,
    as_machine: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    report: Annotated[str | None, typer.Option(help="HTML report to write as well.")] = None,
) -> None:
    """Fit a mixture of experts to a table and save it.

    Text becomes categories, compared with the first in alphabetical order or with --reference; rare ones count as one,
    missing values as one more. Ctrl-C keeps the best model so far.
    The method of the paper is --method spectral --input-law standard --moments plain --decomposition orth-als
    --radius 1.

    Example: skmoe fit houses.csv --target price --drop id
    """
    start = time.perf_counter()
    n_experts, scale = parse_experts(experts), parse_noise(noise)
    if max_time is not None and not 0 < max_time < float("inf"):
        raise ValueError(f"--max-time must be a positive number of seconds; got {max_time:g}")
    chosen_penalty, corrected = parse_penalty(penalty), parse_calibration(calibration)
    spectral: dict[str, Any] = {
        "moments": moments,
        "decomposition": decomposition,
        "gate_method": gate_method,
        "radius": radius,
    }
    how = methods.method_settings(n_experts, method, input_law, **spectral, step_size=step_size)
    if method == "spectral" and (gate_columns or expert_columns):
        raise ValueError("--method spectral takes no --gate-columns or --expert-columns; use --method auto")
    output = outputs.OutputOptions(family, exposure, trials, lower, upper)
    output.check((*FAMILY_NAMES, CLASSES))
    _check_method(family, method)
    out = out or f"{'model' if data == '-' else Path(data).name.partition('.')[0]}.skmoe"
    check_output(out, "--out", data)
    if report is not None:
        check_output(report, "--report", data)
        if os.path.realpath(report) == os.path.realpath(out):
            raise ValueError(f"--report: {report} is where the model goes (--out), which it would overwrite")
        check_page_name(report, "--report")
    from skmoe.model.activations import ACTIVATIONS

    if activation not in ACTIVATIONS:  # refused before a long table is read
        raise ValueError(f"--activation must be one of {', '.join(ACTIVATIONS)}; got {activation!r}")
    numbered = target if family == CLASSES else None
    table, labels = tables.read_asked(data, separator, decimal, encoding, classes=numbered)
    encoder = tables.learn_table(
        table,
        target,
        weights=weights,
        columns=columns,
        drop=drop,
        categorical=categorical,
        missing=missing,
        unseen=unseen,
        dates=dates,
        output=output.columns(table.names),
        reference=reference,
    )
    gate, experts_see = (
        tables.inputs_among(written, table, encoder, option) if written else None
        for written, option in ((gate_columns, "--gate-columns"), (expert_columns, "--expert-columns"))
    )
    X, y, weight = tables.rows_of(table, encoder)
    if family == "gaussian" and (text := _few_values(target, y)):
        note(text)

    from skmoe import MoEClassifier, MoERegressor
    from skmoe.inference.held_out import stability_text

    if family == CLASSES:
        y = y if labels is None or hasattr(X.X, "chunks") else labels[y.astype(int)]
        make: Any = partial(MoEClassifier, n_experts, penalty=chosen_penalty, averaging=average)
    else:
        settings = {"activation": activation, "noise": scale, "calibration": corrected, **how}
        make = partial(MoERegressor, n_experts, family=family, penalty=chosen_penalty, averaging=average, **settings)
    model = make(
        gate_features=gate,
        expert_features=experts_see,
        max_experts=max_experts,
        unseen="error" if unseen == "error" else "other",
        max_iter=max_iter,
        max_time=max_time,
        n_init=n_init,
        random_state=seed,
    )
    fit_watched(model, X, y, weight)
    if labels is not None and hasattr(X.X, "chunks"):  # rows that are read in blocks were numbered
        model.classes_ = labels
    save_or_keep(model, out)
    fit_of_rows = _score(model, X, y, weight)
    used, first = model.record_.rows, fit_lines(model, target, fit_of_rows.get("r2"))
    if as_machine:
        about = {"model": out, "target": target, "rows": used, "rows_in_table": encoder.n_rows, **fit_of_rows}
        seconds = round(time.perf_counter() - start, 3)
        notes = [*first, *(worded(line) for line in encoder.notes)]
        print_json({**about, **as_json(model), "notes": notes, "seconds": seconds})
    else:
        for line in first:
            print_text(line)
        print_table(model.summary())
        if model.n_experts_ > 1:
            print_text("")
            print_table(model.regimes())
        for line in held_out_lines(model):
            print_text(line)
        on_them = "".join(ON_THE_ROWS[name].format(value) for name, value in fit_of_rows.items())
        print_text(f"{used} rows{on_them}; model in {out}")
    if unstable := stability_text(model):
        note(unstable)
    if report is not None:
        from skmoe.report import write
        from skmoe.tables.writing import replacing

        with replacing(report) as path:
            write(model, path, X, y, target=target, sample_weight=weight)
        note(f"report in {report}")
    if not model.converged_:
        raise typer.Exit(UNRELIABLE)


def _score(model: Any, X: Any, y: Any, weight: Any) -> dict[str, float]:
    """Return R2, or accuracy of a classifier and of its most frequent class, on the rows of the fit.

    Rows that are streamed count alike. Nothing for outputs of several columns.
    """
    if model.parameters_.family.columns > 1:
        return {}
    streamed = hasattr(X.X, "chunks")
    value = model.score(X, y) if streamed else model.score(X, y, sample_weight=weight)
    if not hasattr(model, "classes_"):
        return {"r2": value}
    import numpy as np

    from skmoe.arrays.blocks import in_memory

    (labels,) = in_memory(y)
    shares = [float(np.average(labels == label, weights=None if streamed else weight)) for label in np.unique(labels)]
    return {"accuracy": value, "base_rate": max(shares)}


def _few_values(target: str, y: Any) -> str:
    """Return a note on a target of few whole numbers, which may be classes or counts; empty for others."""
    import numpy as np

    values = np.unique(y) if isinstance(y, np.ndarray) else np.empty(0)
    if not 2 <= len(values) <= MOST_FEW or np.any(values != np.floor(values)):
        return ""
    shown = ", ".join(f"{value:g}" for value in values)
    counts = "; if they are counts, --family poisson" if len(values) > 2 and values[0] >= 0 else ""
    return f"target {target!r} has {len(values)} values, {shown}: if they are classes, use --family classes{counts}"


def _check_method(family: str, method: str) -> None:
    if family != "gaussian" and method == "spectral":
        raise ValueError("--method spectral is for --family gaussian; use --method auto")
    if family == CLASSES and method != "auto":
        raise ValueError("--family classes takes --method auto alone")
