"""What the tests of the command line share: a way to run it, and a table with text and gaps."""

import io
import re
from inspect import signature

import numpy as np
from typer.testing import CliRunner

from skmoe import MoERegressor
from skmoe.cli import app

NAMES = tuple(signature(MoERegressor).parameters)
SNAKE = "|".join(name for name in NAMES if "_" in name)
PARAMETER = re.compile(rf"\b(?:{SNAKE})\b|\b(?:{'|'.join(NAMES)})=")


def of_python(text):
    """What a text of the command line has of Python: parameters, such as n_init or noise=, calls, classes, modules."""
    return PARAMETER.findall(text) + re.findall(r"\w+\(\)|\bMoE\w+|\bskmoe\.\w+\.", text)


def run(*words, stdin=None):
    result = CliRunner().invoke(app, [str(word) for word in words], input=stdin)
    assert "Traceback" not in result.output
    assert "valid feature names" not in result.output  # scikit-learn's warning where names were lost on the way
    return result


def simulated_table(n, seed=0):
    """Two regimes along age, a category that lifts y, and some gaps; as CSV and as columns."""
    rng = np.random.default_rng(seed)
    x, age = rng.normal(size=n), rng.uniform(0, 10, size=n)
    kind = rng.choice(["brick", "stone", "wood"], size=n)
    y = np.where(age + 0.3 * rng.normal(size=n) > 5, 10 + 3 * x, -2 * x) + 2 * (kind == "stone")
    y += 0.3 * rng.normal(size=n)
    lines = [f"{'' if i % 50 == 3 else x[i]},{age[i]},{'' if i % 80 == 7 else kind[i]},{y[i]}\n" for i in range(n)]
    return "x,age,kind,y\n" + "".join(lines), {"x": x, "age": age, "kind": kind, "y": y}


def read_csv(text):
    from pyarrow import csv

    return csv.read_csv(io.BytesIO(text.encode())).to_pydict()
