"""What a user of the command line can do about what is said of the data: advice by code, see `skmoe.arrays.advice`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

__all__ = ["COMMAND_LINE", "worded"]


def _drop(names: Sequence[str], it: str) -> str:
    return f"mend {it}, or leave {it} out: {' '.join(f'--drop {shlex.quote(name)}' for name in names)}"


COMMAND_LINE = {
    "CLASSES": "--family classes fits a classifier",
    "DATES": "--dates chooses others",
    "DECIMAL": "--decimal overrules",
    "DROP": _drop,
    "ENCODING": "name its encoding: --encoding latin-1",
    "FOUND_ENCODING": "--encoding overrules",
    "GIVEN_ENCODING": "leave --encoding out",
    "INPUT_LAW": "--input-law gaussian fits a law to them",
    "ITERATIONS": "raise --max-iter",
    "MISSING": "mend them, or use --missing level, or leave columns out with --drop",
    "NUMBERS": "leave --family classes out for numbers",
    "RAGGED": "mend it, or name what separates cells: --separator",
    "SEPARATOR": "--separator overrules",
    "TRIALS": "name the column of these: --trials; single trials are 0 and 1",
    "UNSEEN": "mend it, or use --unseen other to predict such rows, or --unseen empty to leave them empty",
}


def worded(said: object) -> str:
    """Return what an error, a warning or a note says, with advice in the words of the command line."""
    first = said.args[0] if isinstance(said, BaseException) and said.args else said
    rendered = getattr(first, "rendered", None)  # of `skmoe.arrays.advice.Advised`, which is slow to import
    return str(said) if rendered is None else str(rendered(COMMAND_LINE))
