"""``skmoe demo``: the whole walk on a real table that comes with the package."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from skmoe.cli.failures import UNRELIABLE, shown
from skmoe.cli.models import fit_watched, inside, named, parse_experts
from skmoe.cli.shell import check_output, terminal

__all__ = ["demo"]


def demo(
    out: Annotated[str, typer.Option(help="HTML report to write.")] = "skmoe-demo.html",
    experts: Annotated[str, typer.Option(help="Number of experts, or auto (by held-out rows).")] = "auto",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split and of the search.")] = 0,
) -> None:
    """Find the regimes in a table of concrete strengths, and compare with least squares on rows held out.

    Example: skmoe demo --experts 3 --out concrete.html
    """
    number = parse_experts(experts)
    check_output(out, "--out")
    from rich.padding import Padding
    from rich.text import Text
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split

    from skmoe import MoERegressor
    from skmoe.datasets import load_concrete
    from skmoe.report import gate_in_words, write
    from skmoe.rows import TableEncoder
    from skmoe.rows.columns import Column
    from skmoe.rows.writing import replacing

    concrete = load_concrete()
    columns = TableEncoder(concrete.target_name, tuple(Column(name, "number") for name in concrete.feature_names))
    split = train_test_split(concrete.data, concrete.target, test_size=0.25, random_state=seed)
    (X, X_test), (y, y_test) = (named(rows, columns) for rows in split[:2]), split[2:]
    console = terminal()
    console.print(
        f"Compressive strength (MPa) of concrete from {len(X.names)} inputs: {len(y)} rows to learn from, "
        f"{len(y_test)} held out"
    )
    start = time.perf_counter()
    model = fit_watched(MoERegressor(number, random_state=seed), X, y, what="learning")
    chosen = " (chosen by rows left out of fits)" if number == "auto" else ""
    console.print(f"{model.n_experts_} experts{chosen}, in {time.perf_counter() - start:.0f} s\n")
    for table in experts_tables(model, console.width):
        console.print(table)
    console.print("\nWhich expert holds where:")
    for sentence in gate_in_words(model, X):
        console.print(Padding(Text(sentence), (0, 0, 0, 2)))
    line = LinearRegression().fit(X.X, y)
    console.print(f"\nError on the {len(y_test)} rows held out:")
    console.print(
        _errors({"mixture of experts": model.predict(X_test), "least squares": line.predict(X_test.X)}, y_test)
    )
    held = inside(model.predict_interval(X_test, coverage=0.9), y_test)
    console.print(f"90% intervals of the mixture hold {100 * held:.0f}% of them")
    with replacing(out) as beside:
        title = "Concrete: which law holds where"
        write(model, beside, X, y, title=title, target="compressive strength (MPa)", test=(X_test, y_test))
    console.print(
        f"\nThe report is in {shown(out)}; the table is UCI data set 165 (I-Cheng Yeh, CC BY 4.0)", markup=False
    )
    if not model.converged_:
        raise typer.Exit(UNRELIABLE)


def experts_tables(model: Any, width: int) -> list[Any]:
    """Coefficients with standard errors, one column an expert, in as many tables as the width asks for."""
    from rich.markup import escape
    from rich.table import Table

    names = [*map(str, model.feature_names_in_), "intercept", "noise"]
    room = max(1, (width - max(map(len, names)) - 4) // 19)
    tables = []
    for first in range(0, model.n_experts_, room):
        some = range(first, min(first + room, model.n_experts_))
        table = Table(title="Experts: coefficient (standard error)" if first == 0 else None, title_justify="left")
        table.add_column("")
        for i in some:
            table.add_column(f"expert {i + 1}, {100 * model.shares_[i]:.0f}%", justify="right")
        for j, name in enumerate(names):
            table.add_row(escape(name), *(_with_error(model, i, j) for i in some))
        tables.append(table)
    return tables


def _with_error(model: Any, i: int, j: int) -> str:
    d = model.n_features_in_
    if j < d:
        value, error = model.expert_coef_[i, j], model.expert_coef_se_[i, j]
    else:
        part = "expert_intercept" if j == d else "noise_scale"
        value, error = getattr(model, f"{part}_")[i], getattr(model, f"{part}_se_")[i]
    return f"{value:.3g}" + (f" ({error:.2g})" if error == error else "")


def _errors(predictions: dict[str, Any], y: Any) -> Any:
    from rich.table import Table
    from sklearn.metrics import r2_score, root_mean_squared_error

    table = Table("", "RMSE (MPa)", "R2")
    for name, predicted in predictions.items():
        table.add_row(name, f"{root_mean_squared_error(y, predicted):.2f}", f"{r2_score(y, predicted):.3f}")
    return table
