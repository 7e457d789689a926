"""``skmoe demo``: fit, evaluation and report of a real table that comes with the package."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from skmoe.cli import methods
from skmoe.cli.failures import UNRELIABLE, shown
from skmoe.cli.models import fit_watched, named, parse_experts
from skmoe.cli.shell import check_output, check_page_name, terminal

__all__ = ["demo"]

TARGET = "compressive strength (MPa)"
INDENT = (0, 0, 0, 2)


def demo(
    out: Annotated[str, typer.Option(help="HTML report to write.")] = "skmoe-demo.html",
    experts: methods.Experts = "auto",
    average: methods.Average = 20,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the split and of the search.")] = 0,
) -> None:
    """Find the regimes in a table of concrete strengths, and predict rows held out beside least squares and boosting.

    Example: skmoe demo --experts 3 --out concrete.html
    """
    number = parse_experts(experts)
    check_output(out, "--out")
    check_page_name(out, "--out")
    from sklearn.model_selection import train_test_split

    from skmoe import MoERegressor
    from skmoe.datasets import load_concrete
    from skmoe.report import write
    from skmoe.tables import TableEncoder
    from skmoe.tables.columns import Column
    from skmoe.tables.writing import replacing

    concrete = load_concrete()
    columns = TableEncoder(concrete.target_name, tuple(Column(name, "number") for name in concrete.feature_names))
    split = train_test_split(concrete.data, concrete.target, test_size=0.25, random_state=seed)
    (X, X_test), (y, y_test) = (named(rows, columns) for rows in split[:2]), split[2:]
    console = terminal()
    console.print(
        f"Concrete: {TARGET} from {len(X.names)} inputs; {len(y)} rows to learn from, {len(y_test)} held out\n"
    )
    start = time.perf_counter()
    model = fit_watched(MoERegressor(number, averaging=average, random_state=seed), X, y, what="learning")
    chosen = ", chosen by rows left out of fits" if number == "auto" else ""
    _print_regimes(console, model, X, f"{model.n_experts_} regimes{chosen} ({time.perf_counter() - start:.0f} s)")
    _print_errors(console, model, (X, y), (X_test, y_test))
    with replacing(out) as path:
        title = "Concrete: which regression holds where"
        write(model, path, X, y, title=title, target=TARGET, test=(X_test, y_test))
    console.print(f"\nPictures, coefficients and standard errors are in {shown(out)}", markup=False)
    console.print("The table is UCI data set 165 (I-Cheng Yeh, CC BY 4.0)")
    if not model.converged_:
        raise typer.Exit(UNRELIABLE)


def _print_regimes(console: Any, model: Any, X: Any, title: str) -> None:
    """Print where each expert holds, as ranges, and its effects there."""
    from rich.padding import Padding
    from rich.text import Text

    from skmoe.inference import describe_regimes
    from skmoe.report.support import support_of
    from skmoe.report.text import effects_in_words

    console.print(title)
    regimes = describe_regimes(model, X.X) or ()
    of_experts = effects_in_words(model, support_of(model, X.X, model.gate_proba(X), regimes), regimes, "strength")
    for i, (regime, effects) in enumerate(zip(regimes, of_experts, strict=True)):
        console.print()
        console.print(Padding(Text(f"Expert {i + 1}: {regime.where}", style="bold"), INDENT))
        console.print(Padding(Text(f"{100 * regime.share:.0f}% of the rows; {effects}"), INDENT))


def _print_errors(console: Any, model: Any, fitted: tuple[Any, Any], held_out: tuple[Any, Any]) -> None:
    """Print errors and coverage on rows held out, beside those of methods fitted to the same rows."""
    from dataclasses import replace

    from rich import box
    from rich.table import Table

    from skmoe.report.methods import OF_NUMBERS

    (X, y), (X_test, y_test) = fitted, held_out
    mixture = OF_NUMBERS.mixture(model, X_test.X, y_test)
    rows = [(mixture, f"{100 * mixture.coverage:.0f}%")]
    if model.members_:
        alone = replace(mixture, method="mixture, the best alone", predicted=model.parameters_.predict(X_test.X))
        rows = [(alone, ""), (replace(mixture, method=f"average of {len(model.members_)} mixtures"), rows[0][1])]
    rows += [(fit(X.X, y, None)(X_test.X, y_test), "") for fit in OF_NUMBERS.baselines]
    table = Table("", "RMSE", "R2", "inside 90% intervals", box=box.SIMPLE_HEAD, pad_edge=False)
    for one, covered in rows:
        table.add_row(one.method, f"{one.rmse:.2f}", f"{one.r2:.3f}", covered)
    console.print(f"\nOn the {len(y_test)} rows held out:")
    console.print(table)
