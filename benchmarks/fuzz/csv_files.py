"""Hostile CSV files through ``skmoe fit`` and ``skmoe predict``: refused in a sentence, or fitted and predicted.

Files are tables of odd names and cells, and good tables whose bytes were changed.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

import skmoe

from .harness import Observer, WrongError, numbered
from .mutations import mutated_bytes
from .running import run_command

__all__ = ["CELLS", "NAMES", "Target", "check_predictions"]

NAMES = [
    *(
        "x",
        "y",
        "z",
        "kind",
        "",
        " ",
        "x ",
        "1",
        "-1.5",
        "nan",
        "a,b",
        'a"b',
        "a\nb",
        "\x1b[31mred",
        "\x00",
        "é",
        "\u202e",
    ),
    *("名前", "x" * 5000, "=cmd()", "../x", "--out", "[bold]", "{0}", "%s", "𝒳", "\ufeffx", "intercept", "kind=b"),
]
CELLS = [
    *(
        "",
        "0",
        "1",
        "-1",
        "2.5",
        "1e308",
        "-1e308",
        "1e309",
        "5e-324",
        "1e-320",
        "nan",
        "NaN",
        "inf",
        "-Infinity",
        "NA",
        "null",
    ),
    *(
        "?",
        "true",
        "False",
        "a",
        "b",
        "2024-01-31",
        "12:30",
        "0x1F",
        "1,5",
        "1 000",
        "1_000",
        "١٢",
        "9" * 400,
        "\x1b[2J",
    ),
    *(
        '"',
        '"open',
        "a\nb",
        "x" * 3000,
        "\x00",
        "=1+1",
        "\ufffd",
        "-",
        "+",
        ".",
        "1e",
        "--",
        "0.1",
        "0.2",
        "3",
        "4",
        "5",
        "6",
    ),
]


class Target:
    """Files in one folder, overwritten from case to case."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rng = np.random.default_rng(0)
        x, kind = rng.normal(size=40), rng.choice(["a", "b", "c"], 40)
        y = np.where(x > 0, 3 * x, -x) + (kind == "b") + 0.1 * rng.normal(size=40)
        rows = [f"{a:.3f},{b},{c:.3f}\n" for a, b, c in zip(x, kind, y, strict=True)]
        self.good = ("x,kind,y\n" + "".join(rows)).encode()

    def _edited(self, rng: np.random.Generator) -> bytes:
        """The good table with a few cells replaced, or with its bytes changed."""
        if rng.random() < 0.3:
            return mutated_bytes(self.good, rng)
        lines = [line.split(",") for line in self.good.decode().splitlines()]
        for _ in range(rng.integers(1, 4)):
            line = lines[rng.integers(rng.integers(2), len(lines))]
            line[rng.integers(len(line))] = CELLS[rng.integers(len(CELLS))]
        return "\n".join(",".join(line) for line in lines).encode()

    def run(self, observer: Observer, start: int, cases: int, seed: int) -> None:
        """Put cases to the observer; see `harness.Target`."""
        for number in range(start, start + cases):
            observer.observe(number, lambda number=number: self._case(numbered(seed, number)))

    def _case(self, rng: np.random.Generator) -> bool:
        content = self._edited(rng) if rng.integers(2) else _odd_table(rng)
        name = "rows.csv"
        if rng.random() < 0.1:
            name = "rows.csv.gz"
            content = gzip.compress(content) if rng.integers(2) else mutated_bytes(gzip.compress(content), rng)
        (self.folder / name).write_bytes(content)
        (self.folder / "m.skmoe").unlink(missing_ok=True)
        missing = ("drop", "impute", "error")[rng.integers(3)]
        experts = "2" if rng.random() < 0.1 else "1"
        how = (
            "--experts",
            experts,
            "--calibration",
            "none",
            "--penalty",
            "0.3",
            "--max-time",
            "5",
            "--missing",
            missing,
        )
        code = run_command(self.folder, ["fit", name, "--target", "y", *how, "--out", "m.skmoe"])
        if code == 2:
            if (self.folder / "m.skmoe").exists():
                raise WrongError("a refused table left a model")
            return False
        model = skmoe.load(self.folder / "m.skmoe")
        said = run_command(self.folder, ["predict", "m.skmoe", name, "--interval", "0.9", "--out", "p.csv"])
        if said == 0:
            check_predictions(self.folder / "p.csv", model.history_["rows"])
        return True


def check_predictions(path: Path, fitted: int) -> None:
    """Of the rows that the fit used, each has a prediction that is a number, between its bounds."""
    from pyarrow import csv

    table = csv.read_csv(path).to_pandas().to_numpy(dtype=float)
    known = table[~np.isnan(table[:, 0])]
    if len(known) < fitted:
        raise WrongError(f"{len(known)} rows predicted, and {fitted} fitted")
    if np.any(known[:, 1] > known[:, 2]):
        raise WrongError("a lower bound above the upper one")


def _odd_table(rng: np.random.Generator) -> bytes:
    """A table of odd names and cells, most of its columns of one kind of cell, as real columns are."""
    width, n = int(rng.integers(1, 6)), int(rng.choice([0, 1, 2, 5, 20, 30, 40]))
    names = [NAMES[i] for i in rng.choice(len(NAMES), size=width, replace=rng.random() < 0.1)]
    if rng.random() < 0.8:
        names[rng.integers(width)] = "y"
    few = [CELLS[i] for i in rng.integers(len(CELLS), size=3)]  # a table with all of them would never be fitted
    columns = [_odd_cells(n, few, rng) for _ in range(width)]
    separator = (*8 * (",",), ";", "\t", "|")[rng.integers(11)]
    end = ("\n", "\n", "\r\n", "\r")[rng.integers(4)]
    quoted = rng.random() < 0.5
    lines = [[_quoted(cell, quoted) for cell in line] for line in (names, *zip(*columns, strict=True))]
    if lines and rng.random() < 0.1:
        lines[rng.integers(len(lines))].append("more")
    text = end.join(separator.join(line) for line in lines) + (end if rng.integers(2) else "")
    encoding = (*8 * ("utf-8",), "utf-8-sig", "latin-1", "utf-16")[rng.integers(11)]
    return text.encode(encoding, "replace")


def _odd_cells(n: int, cells: list[str], rng: np.random.Generator) -> list[str]:
    odd = [cells[i] for i in rng.integers(len(cells), size=n)]
    scale = 10.0 ** rng.choice([0, 0, 0, 3, -8, 8])
    plain = [f"{v:.6g}" for v in scale * (rng.normal(size=n) + rng.choice([0, 0, 100]))]
    texts = [("a", "b", "c", "d")[i] for i in rng.integers(4, size=n)]
    base = (plain, plain, plain, texts, odd)[rng.integers(5)]
    share = rng.choice([0.0, 0.0, 0.0, 0.0, 0.05, 0.5])
    return [o if rng.random() < share else b for o, b in zip(odd, base, strict=True)]


def _quoted(cell: str, quoted: bool) -> str:
    return '"' + cell.replace('"', '""') + '"' if quoted else cell
