"""``skmoe compare``: cross-validation of the mixture beside other methods."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer

from skmoe.cli import methods, outputs, tables
from skmoe.cli.advice import relation_lines
from skmoe.cli.failures import UNRELIABLE
from skmoe.cli.models import fit_watched, parse_experts, parse_noise
from skmoe.cli.outputs import CLASSES, COUNTS, ONE_COLUMN
from skmoe.cli.shell import note, print_json, print_table

__all__ = ["compare"]


def compare(
    data: tables.Data,
    target: tables.Target,
    experts: methods.Experts = "auto",
    family: Annotated[
        str, typer.Option(help=f"Distribution of the target: {', '.join(ONE_COLUMN)}; classes compares classifiers.")
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
    from skmoe.report.methods import methods_for
    from skmoe.tables.inputs import RowsToFit
    from skmoe.tables.relations import RelationKind, find_relations

    settings: dict[str, Any] = {"n_experts": parse_experts(experts), "averaging": average, "random_state": seed}
    settings["max_experts"] = max_experts
    scale = parse_noise(noise)
    output = outputs.OutputOptions(family, exposure)
    output.check((*ONE_COLUMN, CLASSES))
    if family != CLASSES:
        settings |= {"family": family, "noise": scale}
    numbered = target if family == CLASSES else None
    table, labels = tables.read_asked(data, separator, decimal, encoding, classes=numbered)
    encoder = tables.learn_table(
        table,
        target,
        columns=columns,
        drop=drop,
        categorical=categorical,
        missing=missing,
        dates=dates,
        output=output.columns(table.names),
    )
    n_classes = 2 if family == "binomial" else 0 if labels is None else len(labels)
    classes = n_classes > 0
    encoded, y, _ = encoder.rows(table)
    X: Any = encoded.X
    if len(y) < 4 * folds:
        raise ValueError(f"--folds {folds} needs at least {4 * folds} rows; there are {len(y)}")
    relations = find_relations(RowsToFit(X, y, None, encoder.features, encoder), encoder.features, classes=classes)
    for line in relation_lines(relations, target):
        note(line)
    compared = methods_for(n_classes, counts=family in COUNTS, exposure=exposure is not None)
    found = _compared(X, y, settings, folds, seed, compared, classes)
    results = {one.pooled.method: one.summary() for one in found}
    mixture, simplest = found[0], next(one.pooled for one in found if not one.models)
    base_rate = {"base_rate": mixture.pooled.base_rate} if classes else {}
    if as_machine:
        plain = {name: {measure: value._asdict() for measure, value in of.items()} for name, of in results.items()}
        by_fold = {one.pooled.method: one.measures() for one in found}
        about = {"target": target, "rows": len(y), "folds": folds, "seed": seed, **base_rate}
        print_json({**about, "methods": plain, "by_fold": by_fold})
    else:
        table = _table(found, f"{target}: {len(y)} rows held out in {folds} folds, ± spread over folds")
        table.notes += [
            f"always naming the most frequent class has accuracy {share:.3f}" for share in base_rate.values()
        ]
        print_table(table)
    exact = any(one.kind == RelationKind.LINEAR for one in relations)
    if not exact and (text := mixture.pooled.shortfall(simplest)):
        note(text)
    if not all(model.converged_ for model in mixture.models):
        raise typer.Exit(UNRELIABLE)


class Measured(NamedTuple):
    """A measure of the rows of all folds together, and its mean and standard deviation over folds."""

    value: float
    mean: float
    spread: float


class Compared(NamedTuple):
    """Predictions of a method, a record for each fold, and its models there, if it has experts."""

    by_fold: list[Any]
    models: list[Any]

    @property
    def pooled(self) -> Any:
        """Return the predictions of all folds together."""
        return self.by_fold[0].joined(self.by_fold[1:], slice(None))

    def measures(self) -> list[dict[str, Any]]:
        """Return measures, number of experts (NaN without any) and whether the fit converged, for each fold."""
        models = self.models or [None] * len(self.by_fold)
        return [
            {
                **one.measures(),
                "seconds": one.seconds,
                "n_experts": getattr(model, "n_experts_", float("nan")),
                "converged": getattr(model, "converged_", True),
            }
            for one, model in zip(self.by_fold, models, strict=True)
        ]

    def summary(self) -> dict[str, Measured]:
        """Return each measure of all folds together, its mean and its spread over folds."""
        import numpy as np

        found, pooled = {}, self.pooled.measures()
        for name in (*pooled, "seconds"):
            values = [row[name] for row in self.measures()]
            mean, spread = float(np.mean(values)), float(np.std(values, ddof=1))
            found[name] = Measured(pooled.get(name, mean), mean, spread)
        return found


def _compared(
    X: Any, y: Any, settings: dict[str, Any], folds: int, seed: int, compared: Any, classes: bool
) -> list[Compared]:
    """Fit each method outside of each fold and evaluate it inside; joint EM for numbers and counts alone."""
    from dataclasses import replace

    from skmoe import MoEClassifier, MoERegressor
    from skmoe.report.evaluation import fold_by_fold

    mixtures: list[Any] = []
    by_joint_em: list[Any] = []

    def fit(model: Any, models: list[Any], X: Any, y: Any, name: str) -> Any:
        models.append(fit_watched(model, X, y, what=f"fold {len(models) + 1} of {folds}, {name}"))
        if models[-1].record_.search.interrupted:  # an estimate of error from half a fit would be no use
            raise KeyboardInterrupt
        return lambda X, y: replace(compared.mixture(models[-1], X, y), method=name)

    def mixture(X: Any, y: Any, _: Any) -> Any:
        make = MoERegressor if "family" in settings else MoEClassifier
        return fit(make(**settings), mixtures, X, y, "mixture of experts")

    def joint_em(X: Any, y: Any, _: Any) -> Any:
        # it chooses no number of experts by itself: it gets the one the mixture found
        given = {**settings, "n_experts": mixtures[-1].n_experts_, "averaging": 0}
        return fit(MoERegressor(**given, method="joint-em"), by_joint_em, X, y, "joint EM")

    methods = [(mixture, mixtures), *([] if classes else [(joint_em, by_joint_em)])]
    methods += [(baseline, []) for baseline in compared.baselines]
    found = fold_by_fold([one for one, _ in methods], X, y, None, compared.folds(y, folds, seed))
    return [Compared(list(rows), of) for rows, (_, of) in zip(zip(*found, strict=True), methods, strict=True)]


def _table(found: list[Compared], title: str) -> Any:
    from skmoe.inference import Summary
    from skmoe.inference.formatting import with_spread

    headings = found[0].pooled.MEASURES.values()
    table = Summary(title, ("method", *headings, "seconds", "experts by fold"))
    for one in found:
        cells = [with_spread(measured.value, measured.spread) for measured in one.summary().values()]
        table.rows.append((one.pooled.method, *cells, " ".join(f"{model.n_experts_}" for model in one.models)))
    return table
