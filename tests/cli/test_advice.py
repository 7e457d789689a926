"""Advice in the words of who is spoken to: of the command line, or of Python."""

import ast
import copy
import pickle
import re
from pathlib import Path
from string import Formatter

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import skmoe
from command_line import PARAMETER, of_python, run
from skmoe import MoEClassifier, MoERegressor
from skmoe.arrays.advice import Advice, Advised
from skmoe.cli.advice import COMMAND_LINE, worded
from skmoe.tables import TableError, TableTransformer, open_table

pa = pytest.importorskip("pyarrow")

SOURCE = Path(skmoe.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z]")
VALUES = {Advice.DROP: {"names": ["a b", "c"], "it": "them"}}


@pytest.mark.parametrize("advice", Advice)
def test_each_surface_has_its_own_words_for_each_code(advice):
    values = VALUES.get(advice, {})
    said = Advised("so it is", advice, **values)
    assert {name for _, name, _, _ in Formatter().parse(advice.value) if name} <= set(values)
    assert said.startswith("so it is; ")
    assert not OPTION.search(said)
    here = said.rendered(COMMAND_LINE)
    assert here.startswith("so it is; ")
    assert len(here) > len("so it is; ")
    assert not of_python(here)


def test_command_line_has_words_for_codes_alone():
    assert set(COMMAND_LINE) == {advice.name for advice in Advice}


def test_advice_is_worded_wherever_it_is_carried():
    said = Advised("columns are odd", Advice.DROP, names=["a b"], it="it")
    expected = "columns are odd; mend it, or leave it out: --drop 'a b'"
    for carrier in (said, TableError(said), ConvergenceWarning(said), pickle.loads(pickle.dumps(TableError(said)))):
        assert worded(carrier) == expected
        assert str(carrier) == "columns are odd; mend it, or leave it out of X"
    assert copy.deepcopy(said).values == said.values
    assert worded(ValueError("plain")) == "plain"


def _texts(tree):
    """Text constants of a module that are no docstrings."""
    told = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    docstrings = {id(value) for value in told if isinstance(value, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_only_the_command_line_names_its_options():
    for path in SOURCE.rglob("*.py"):
        named = [text for text in _texts(ast.parse(path.read_text())) if OPTION.search(text)]
        assert not named or path.parent.name == "cli", path


@pytest.mark.parametrize("folder", ["inference", "report"])
def test_sentences_on_a_fit_name_no_parameters(folder):
    for path in (SOURCE / folder).rglob("*.py"):
        named = [text for text in _texts(ast.parse(path.read_text())) if " " in text and PARAMETER.search(text)]
        assert not named, path


def test_python_advises_in_its_own_words(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60), "kind": np.array(["a", "b"])[rng.integers(2, size=60)]})
    y = X["x"] + rng.normal(size=60)
    (tmp_path / "t.csv").write_text("x;y\n1;a\n2;b\n3;a\n")
    (tmp_path / "ragged.csv").write_text("x,y\n1,2\n3\n4,5\n")
    gaps = pa.table({"x": [1, None, 3], "y": [1, 2, 3]})
    fitted = MoERegressor(1, unseen="error").fit(X, y)
    refusals = {
        "MoEClassifier takes text": lambda: MoERegressor(1).fit(tmp_path / "t.csv", "y"),
        'unseen="other"': lambda: fitted.predict(X.assign(kind="z")),
        "leave it out of X": lambda: MoERegressor(1).fit(X.assign(kind=[b"a", b"\xff"] * 30), y),
        "leave encoding out": lambda: open_table(tmp_path / "t.csv", encoding="utf-16"),
        'separator=";"': lambda: open_table(tmp_path / "ragged.csv").read(),
        'missing="level"': lambda: TableTransformer(missing="error").learn(gaps, "y"),
        "use MoERegressor": lambda: MoEClassifier(1).fit(np.arange(1001.0)[:, None], np.arange(1001)),
        "as sample_weight": lambda: MoERegressor(1, family="binomial").fit(X[["x"]], np.full(60, 0.5)),
        'input_law="gaussian"': lambda: MoERegressor(method="spectral", input_law=None).fit(1e5 * X[["x"]], y),
    }
    for expected, refused in refusals.items():
        with pytest.raises(ValueError, match=re.escape(expected)) as error:
            refused()
        assert not OPTION.search(str(error.value))
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        MoERegressor(2, max_iter=1, penalty=0.3, calibration=None, random_state=0).fit(X, y)


def test_warnings_of_a_fit_advise_in_words_of_the_command_line(tmp_path):
    lines = [f"{i % 7};{i % 5};{i * 0.5}" for i in range(40)]
    (tmp_path / "rows.csv").write_text("\n".join(["x;z;y", *lines]))
    out = tmp_path / "m.skmoe"
    result = run("fit", tmp_path / "rows.csv", "--target", "y", "--experts", 3, "--max-iter", 1, "--out", out, "--json")
    assert result.exit_code == 1
    assert "short of the optimum; raise --max-iter" in result.stderr
    assert "fewer columns for experts or gate" in result.stderr
    assert "cells are split by semicolons; --separator overrules" in result.stderr
    assert '"cells are split by semicolons; --separator overrules"' in result.stdout
    assert not of_python(result.stderr)
