"""Random command lines: words of the commands and their options, with values that fit and values that do not.

``demo`` takes minutes by design: it is called with mistakes, or for help.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

import skmoe

from .csv_files import Target as CsvTarget
from .harness import Observer, WrongError, numbered
from .running import run_command

__all__ = ["Target"]

FILES = [
    "rows.csv",
    "m.skmoe",
    "none.csv",
    "empty.csv",
    "text.txt",
    ".",
    "-",
    "/dev/null",
    "folder",
    "none/x.csv",
    "",
    "\x1b[31m",
]
OUT = [
    "new.skmoe",
    "p.csv",
    "p.parquet",
    "p.doc",
    "-",
    ".",
    "none/p.csv",
    "rows.csv",
    "x" * 300,
    "",
    "/dev/null",
    "r.html",
]
NUMBERS = ["1", "1", "1", "2", "0", "-1", "1e3", "nan", "inf", "1e-400", "auto", "x", "", "9" * 30, "0.5", "٣"]
WORDS = [
    "x",
    "y",
    "kind",
    "none",
    "",
    "x,kind",
    ",",
    "y,y",
    "\x1b[31m",
    "drop",
    "impute",
    "loo",
    "shared",
    "linear",
    "tanh",
]
OPTIONS = {
    "fit": {
        **dict.fromkeys(("--target", "--weights", "--drop", "--gate-columns", "--expert-columns"), WORDS),
        **dict.fromkeys(("--out", "--report"), OUT),
        **dict.fromkeys(
            ("--experts", "--noise", "--penalty", "--average", "--seed", "--max-iter", "--n-init"), NUMBERS
        ),
        **dict.fromkeys(("--radius", "--step-size"), NUMBERS),
        "--max-time": ["1", "2", "0", "-1", "nan", "x"],
        "--activation": ["linear", "tanh", "relu", "none", ""],
        "--calibration": ["none", "none", "loo", "x"],
        "--missing": ["drop", "impute", "error", "x"],
        "--method": ["auto", "spectral", "joint-em", "x"],
        "--input-law": ["auto", "gaussian", "mixture", "standard", "x"],
        "--moments": ["regression", "plain", "x"],
        "--decomposition": ["matching", "orth-als", "power", "x"],
        "--gate-method": ["em", "gradient", "moments", "x"],
        "--json": [None],
    },
    "predict": {
        "--out": OUT,
        "--interval": NUMBERS,
        "--gate": [None],
        "--unseen": ["error", "empty", "x"],
    },
    "report": {"--html": OUT},
    "compare": {
        "--target": WORDS,
        **dict.fromkeys(("--experts", "--noise", "--average", "--seed"), NUMBERS),
        "--folds": ["2", "2", "1", "0", "x", "10000"],
        "--drop": WORDS,
        "--missing": ["drop", "x"],
        "--json": [None],
    },
}
GOOD = {
    "fit": [
        "fit",
        "rows.csv",
        "--target",
        "y",
        "--experts",
        "1",
        "--calibration",
        "none",
        "--max-time",
        "3",
        "--out",
        "new.skmoe",
    ],
    "predict": ["predict", "m.skmoe", "rows.csv", "--out", "p.csv"],
    "report": ["report", "m.skmoe", "rows.csv", "--html", "r.html"],
    "compare": ["compare", "rows.csv", "--target", "y", "--experts", "1", "--folds", "2"],
}
SHARES = (0.45, 0.3, 0.05, 0.2)  # of these commands; the pictures of a report take as long as thirty fits
LONG = {"demo": ["--experts", "x"]}


class Target:
    """A folder with a table, a model and some files that are neither."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = CsvTarget(folder).good
        (folder / "rows.csv").write_bytes(self.rows)
        run_command(folder, GOOD["fit"])
        self.model = (folder / "new.skmoe").read_bytes()

    def _lay_out(self) -> None:
        for path in self.folder.iterdir():
            if path.is_file() or path.is_symlink():
                path.unlink()
        (self.folder / "rows.csv").write_bytes(self.rows)
        (self.folder / "m.skmoe").write_bytes(self.model)
        (self.folder / "empty.csv").write_bytes(b"")
        (self.folder / "text.txt").write_bytes(b"not a table")
        (self.folder / "folder").mkdir(exist_ok=True)

    def run(self, observer: Observer, start: int, cases: int, seed: int) -> None:
        """Put cases to the observer; see `harness.Target`."""
        for number in range(start, start + cases):
            observer.observe(number, lambda number=number: self._case(numbered(seed, number)))

    def _case(self, rng: np.random.Generator) -> bool:
        self._lay_out()
        words = _command(rng)
        try:
            code = run_command(self.folder, words, self.rows.decode() if rng.integers(2) else "")
        except WrongError as error:
            raise WrongError(f"{error} from {words!r}"[:900]) from error
        for name, content in (("rows.csv", self.rows), ("m.skmoe", self.model)):
            if name in _inputs(words) and (self.folder / name).read_bytes() != content:
                raise WrongError(f"{name} was changed by {words!r}"[:900])
        if words[:1] == ["fit"] and "--report" not in words and (self.folder / "new.skmoe").exists():
            skmoe.load(self.folder / "new.skmoe")
        return code != 2


def _inputs(words: list[str]) -> list[str]:
    """Words that do not follow the option of an output."""
    return [word for before, word in pairwise(words) if before not in ("--out", "--report", "--html")]


def _command(rng: np.random.Generator) -> list[str]:
    """A command line: a good one with some of its words changed, dropped, doubled or added."""

    def drawn(values: list[str | None]) -> str | None:
        return values[rng.integers(len(values))]

    if rng.random() < 0.1:
        name = str(rng.choice(list(LONG)))
        return [name, *LONG[name], *(["--help"] if rng.integers(2) else [])]
    if rng.random() < 0.05:
        return [
            str(w)
            for w in rng.choice(["--help", "--version", "fit", "x", "--", "", "-x", "\x1b[31m"], rng.integers(0, 4))
        ]
    name = str(rng.choice(list(GOOD), p=SHARES))
    words, options = list(GOOD[name]), OPTIONS[name]
    for _ in range(rng.integers(0, 4)):
        option = str(rng.choice(list(options)))
        value = drawn(options[option])
        words += [option] if value is None else [option, value]
    for i in range(1, len(words)):
        before, chance = words[i - 1], rng.random()
        if chance < 0.1 and before in options and words[i] not in options:
            words[i] = str(drawn(options[before]))
        elif chance < 0.1 and words[i] not in options:
            words[i] = str(drawn(FILES))
    if rng.random() < 0.1:
        del words[rng.integers(1, len(words))]
    if rng.random() < 0.05:
        words.insert(int(rng.integers(1, len(words))), str(drawn([*FILES, *WORDS, "--none", "--help"])))
    return words
