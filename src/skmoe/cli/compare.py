"""``skmoe compare``: cross-validation of the mixture beside what else one might use."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from skmoe.cli import methods, outputs, tables
from skmoe.cli.failures import UNRELIABLE
from skmoe.cli.judging import OF_CLASSES, OF_NUMBERS, Measures, Part, judged_classes, judged_numbers
from skmoe.cli.models import numbered_target, parse_experts, parse_noise
from skmoe.cli.outputs import CLASSES, ONE_COLUMN
from skmoe.cli.shell import print_json, print_table

__all__ = ["compare"]


def compare(
    data: tables.Data,
    target: tables.Target,
    experts: methods.Experts = "auto",
    family: Annotated[
        str, typer.Option(help=f"Law of the target: {', '.join(ONE_COLUMN)}; classes compares classifiers.")
    ] = "gaussian",
    exposure: outputs.Exposure = None,
    noise: methods.Noise = "per-expert",
    average: methods.Average = 0,
    max_experts: methods.MaxExperts = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the table, each held out once.")] = 5,
    columns: tables.Columns = None,
    drop: tables.Drop = None,
    missing: tables.Missing = "level",
    categorical: tables.Categorical = None,
    dates: tables.Dates = "days,month,weekday,hour",
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    encoding: tables.Encoding = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the folds and of the fits.")] = 0,
    as_machine: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Compare the mixture with least squares, gradient boosting and joint EM on rows held out.

    Classes, and targets 0 and 1 of --family binomial, are compared with logistic regression and boosting. Shown are
    mean and spread (standard deviation) over folds, and the number of experts in each; log density and intervals are
    of the methods that have them. Every method is fitted to the same rows and judged on the others.

    Example: skmoe compare houses.csv --target price --experts 3
    """
    settings: dict[str, Any] = {"n_experts": parse_experts(experts), "averaging": average, "random_state": seed}
    scale = parse_noise(noise)
    told = outputs.OutputOptions(family, exposure)
    told.check((*ONE_COLUMN, CLASSES))
    if family != CLASSES:
        settings |= {"family": family, "noise": scale}
    import numpy as np
    from sklearn.model_selection import KFold

    table, n_classes = tables.open_asked(data, separator, decimal, encoding), 2
    if family == CLASSES:
        table, labels = numbered_target(table, target)
        n_classes = len(labels)
    encoder = tables.learn_table(
        table,
        target,
        columns=columns,
        drop=drop,
        categorical=categorical,
        missing=missing,
        dates=dates,
        output=told.columns(table.names),
    )
    judge, measures = partial(judged_numbers), OF_NUMBERS
    if family in (CLASSES, "binomial"):
        judge, measures = partial(judged_classes, n_classes=n_classes), OF_CLASSES
    encoded, y, _ = encoder.rows(table)
    X: Any = encoded.X
    if len(y) < 4 * folds:
        raise ValueError(f"--folds {folds} needs at least {4 * folds} rows; there are {len(y)}")
    found: dict[str, list[dict[str, float]]] = {}
    for fold, (train, test) in enumerate(KFold(folds, shuffle=True, random_state=seed).split(X)):
        part = Part(X[train], y[train], X[test], y[test])
        for name, measured in judge(part, settings, max_experts, f"fold {fold + 1} of {folds}"):
            found.setdefault(name, []).append(measured)
    results = {
        name: {m: (float(np.mean(v := [r[m] for r in rows])), float(np.std(v, ddof=1))) for m in measures.names}
        for name, rows in found.items()
    }
    if as_machine:
        plain = {n: {m: {"mean": v[0], "spread": v[1]} for m, v in r.items()} for n, r in results.items()}
        print_json({"target": target, "rows": len(y), "folds": folds, "seed": seed, "methods": plain, "by_fold": found})
    else:
        numbers = {name: [row["n_experts"] for row in rows] for name, rows in found.items()}
        title = f"{target}: {folds} folds over {len(y)} rows, mean ± spread"
        print_table(_table(results, numbers, title, measures))
    if not all(row["converged"] for row in found["mixture of experts"]):
        raise typer.Exit(UNRELIABLE)


def _table(
    results: dict[str, dict[str, tuple[float, float]]], experts: dict[str, list[float]], title: str, measures: Measures
) -> Any:
    from skmoe.inference import Summary
    from skmoe.inference.formatting import with_spread

    table = Summary(title, ("method", *measures.headings, "experts by fold"))
    for name, values in results.items():
        cells = [with_spread(*values[measure]) for measure in measures.names]
        table.rows.append((name, *cells, " ".join(f"{k:.0f}" for k in experts[name] if k == k)))
    return table
