"""``skmoe compare``: cross-validation of the mixture beside what else one might use."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer

from skmoe.cli import methods, outputs, tables
from skmoe.cli.failures import UNRELIABLE
from skmoe.cli.judging import (
    OF_CLASSES,
    OF_NUMBERS,
    FoldResult,
    Measures,
    Part,
    judged_by_methods,
    measures_of,
    methods_for,
)
from skmoe.cli.models import numbered_target, parse_experts, parse_noise
from skmoe.cli.outputs import CLASSES, ONE_COLUMN
from skmoe.cli.relations import relation_lines
from skmoe.cli.shell import note, print_json, print_table

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
    max_experts: methods.MaxExperts = 10,
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
    measures of all rows, each predicted by a fit to the other folds, their spread (standard deviation) over folds, and
    the number of experts in each; log density and intervals are of the methods that have them. With a number of experts
    and seed 0 these are the figures of skmoe report; with auto, each fold chooses a number of its own.

    Example: skmoe compare houses.csv --target price --experts 3
    """
    from skmoe.tables.inputs import RowsToFit
    from skmoe.tables.relations import RelationKind, find_relations

    settings: dict[str, Any] = {"n_experts": parse_experts(experts), "averaging": average, "random_state": seed}
    settings["max_experts"] = max_experts
    scale = parse_noise(noise)
    told = outputs.OutputOptions(family, exposure)
    told.check((*ONE_COLUMN, CLASSES))
    if family != CLASSES:
        settings |= {"family": family, "noise": scale}
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
    classes = family in (CLASSES, "binomial")
    measures = OF_CLASSES if classes else OF_NUMBERS
    encoded, y, _ = encoder.rows(table)
    X: Any = encoded.X
    if len(y) < 4 * folds:
        raise ValueError(f"--folds {folds} needs at least {4 * folds} rows; there are {len(y)}")
    relations = find_relations(RowsToFit(X, y, None, encoder.features, encoder), encoder.features, classes=classes)
    for line in relation_lines(relations, target):
        note(line)
    compared = methods_for(n_classes if classes else 0, y)
    found: dict[str, list[FoldResult]] = {}
    for fold, (train, test) in enumerate(compared.folds(y, folds, seed)):
        part, what = Part(X[train], y[train], X[test], y[test]), f"fold {fold + 1} of {folds}"
        for result in judged_by_methods(part, settings, what, compared, classes=classes):
            found.setdefault(result.judged.method, []).append(result)
    by_fold = {name: [result.measured() for result in results] for name, results in found.items()}
    pooled = {name: _pooled([result.judged for result in results]) for name, results in found.items()}
    results = {name: _summarised(by_fold[name], measures_of(pooled[name]), measures) for name in found}
    mixture, simplest = pooled["mixture of experts"], "logistic regression" if classes else "least squares"
    base_rate = {"base_rate": mixture.base_rate} if classes else {}
    if as_machine:
        plain = {n: {m: v._asdict() for m, v in r.items()} for n, r in results.items()}
        told_of = {"target": target, "rows": len(y), "folds": folds, "seed": seed, **base_rate}
        print_json({**told_of, "methods": plain, "by_fold": by_fold})
    else:
        numbers = {name: [row["n_experts"] for row in rows] for name, rows in by_fold.items()}
        title = f"{target}: {len(y)} rows held out in {folds} folds, ± spread over folds"
        table = _table(results, numbers, title, measures)
        table.notes += [
            f"always naming the most frequent class has accuracy {share:.3f}" for share in base_rate.values()
        ]
        print_table(table)
    exact = any(one.kind == RelationKind.LINEAR for one in relations)
    if not exact and (said := mixture.shortfall(pooled[simplest])):
        note(said)
    if not all(row["converged"] for row in by_fold["mixture of experts"]):
        raise typer.Exit(UNRELIABLE)


class Measured(NamedTuple):
    """A measure of the rows of all folds together, and its mean and standard deviation over folds."""

    value: float
    mean: float
    spread: float


def _pooled(judged: list[Any]) -> Any:
    """Predictions of all folds together."""
    return judged[0].joined(judged[1:], slice(None))


def _summarised(by_fold: list[dict[str, Any]], together: dict[str, float], measures: Measures) -> dict[str, Measured]:
    import numpy as np

    found = {}
    for name in measures.names:
        values = [row[name] for row in by_fold]
        mean, spread = float(np.mean(values)), float(np.std(values, ddof=1))
        found[name] = Measured(together.get(name, mean), mean, spread)
    return found


def _table(
    results: dict[str, dict[str, Measured]], experts: dict[str, list[float]], title: str, measures: Measures
) -> Any:
    from skmoe.inference import Summary
    from skmoe.inference.formatting import with_spread

    table = Summary(title, ("method", *measures.headings, "experts by fold"))
    for name, values in results.items():
        cells = [with_spread(values[measure].value, values[measure].spread) for measure in measures.names]
        table.rows.append((name, *cells, " ".join(f"{k:.0f}" for k in experts[name] if k == k)))
    return table
