"""A user's mistakes: one clear line, exit code 2, no traceback, and nothing half-written."""

import gzip
import os
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from archives import rewrite
from command_line import of_python
from skmoe import MoERegressor
from skmoe.cli import app
from skmoe.tables import TableError, open_table

pa = pytest.importorskip("pyarrow")

ROWS = "x,z,kind,y\n" + "".join(f"{i % 7},{i % 5},{'ab'[i % 2]},{i * 0.5}\n" for i in range(40))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with good and bad files of every kind."""
    folder = tmp_path_factory.mktemp("mistakes")
    texts = {
        "good.csv": ROWS,
        "empty.csv": "",
        "header.csv": "x,y\n",
        "one.csv": "x,y\n1,2\n",
        "flat.csv": "x,y\n1,2\n2,2\n3,2\n",
        "ragged.csv": "x,y\n1,2\n3\n4,5\n",
        "twice.csv": "x,x,y\n1,2,3\n4,5,6\n",
        "missing.csv": "x,z,y\n1,,2\n,3,4\n,5,6\n,7,7\n2,,8\n",
        "dates.csv": "x,day,y\n1,2024-01-01,2\n2,2024-01-02,3\n",
        "names.csv": "name,y\n" + "".join(f"n{i},{i}\n" for i in range(30)),
        "stray.csv": 'x,"a, b",y\n' + "".join(f"{i + 0.5},{i},{i}\n" for i in range(60)) + "abc,3 kg,3\n?,3 kg,3\n",
        "picture.csv": "\x89PNG\0\0\0\rIHDR\0x\0" * 20,
        "infinite.csv": "x,y\n1,2\ninf,3\n4,5\n",
        "same.csv": "x,y\n1,2\n1,3\n1,4\n",
        "long.csv": "x,id,y\n" + "".join(f"{i % 7},{2**53 + 2 * i + 1},{i}\n" for i in range(40)),
        "weights.csv": "x,w,t,y\n1,1,a,2\n2,-1,b,3\n3,1,a,5\n",
        "rows.doc": "x,y\n1,2\n",
        "lacking.csv": "x,kind\n1,a\n",
        "unseen.csv": "x,z,kind\n1,2,a\n1,2,purple\n",
        "text.csv": "x,z,kind\nmany,2,a\n",
        "model.txt": "not a model",
        "parts.csv": "x,y\n1,0.2\n2,0.5\n3,0.7\n",
        "many.csv": "x,y\n" + "".join(f"{i % 7},{i}\n" for i in range(1001)),
        "large.csv": "x,y\n" + "".join(f"{1000 * (i % 7)},{i % 3}\n" for i in range(60)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "latin.csv").write_bytes("x,kind,y\n1,grün,2\n2,rot,3\n3,grün,4\n".encode("latin-1"))
    (folder / "cut.csv.gz").write_bytes(gzip.compress((ROWS * 50).encode())[:-40])
    (folder / "fake.csv.gz").write_text("x,y\n1,2\n")
    (folder / "bad.parquet").write_bytes(b"PAR1 and then nothing of use PAR1")
    (folder / "bad.arrow").write_bytes(b"ARROW1 and then nothing of use")
    fitted = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT, "--out", str(folder / "good.skmoe")])
    assert fitted.exit_code == 0, fitted.output
    whole = (folder / "good.skmoe").read_bytes()
    (folder / "cut.skmoe").write_bytes(whole[: len(whole) // 2])
    (folder / "later.skmoe").write_bytes(whole)
    rewrite(folder / "later.skmoe", change={"format": 99})
    X = np.arange(20.0)[:, None]
    MoERegressor(1, random_state=0).fit(X, X[:, 0] + X[:, 0] % 3).save(folder / "nameless.skmoe")
    return folder


FIT = ["--target", "y", "--experts", "1"]
OUT = ["--out", "new.skmoe"]
SPECTRAL = ["--method", "spectral"]
MISTAKES = {
    "no such command": (["guess"], "guess"),
    "no such option": (["fit", "good.csv", *FIT, *OUT, "--colour", "red"], "--colour"),
    "no target": (["fit", "good.csv", *OUT], "--target"),
    "missing file": (["fit", "nowhere.csv", *FIT, *OUT], "no such file"),
    "directory": (["fit", ".", *FIT, *OUT], "this folder holds files that are no tables"),
    "wrong column": (["fit", "good.csv", "--target", "price", *OUT], "no column 'price'; the table has x, z, kind, y"),
    "reference without category": (
        ["fit", "good.csv", *FIT, *OUT, "--reference", "kind"],
        "--reference is COLUMN=CATEGORY, such as kind=house; got 'kind'",
    ),
    "reference that is not there": (
        ["fit", "good.csv", *FIT, *OUT, "--reference", "kind=none"],
        "column 'kind' has no category 'none'; its categories are a, b",
    ),
    "reference of numbers": (["fit", "good.csv", *FIT, *OUT, "--reference", "x=1"], "it is no column of categories"),
    "reference nowhere": (["fit", "good.csv", *FIT, *OUT, "--reference", "size=1"], "there is no column 'size'"),
    "text target": (["fit", "good.csv", "--target", "kind", *OUT], "must hold numbers; it holds text such as 'a'"),
    "one class": (["fit", "flat.csv", *FIT, *OUT, "--family", "classes"], "target 'y' holds one class, 2; two or more"),
    "constant target": (["fit", "flat.csv", *FIT, *OUT], "is 2 in every row"),
    "empty file": (["fit", "empty.csv", *FIT, *OUT], "is empty"),
    "header only": (["fit", "header.csv", *FIT, *OUT], "no rows"),
    "one row": (["fit", "one.csv", *FIT, *OUT], "1 of 1 rows can be used"),
    "no experts": (["fit", "good.csv", "--target", "y", "--experts", "0", *OUT], "--experts"),
    "experts in words": (["fit", "good.csv", "--target", "y", "--experts", "abc", *OUT], "'abc'"),
    "noise in words": (["fit", "good.csv", *FIT, "--noise", "loud", *OUT], "'loud'"),
    "negative noise": (["fit", "good.csv", *FIT, "--noise", "-1", *OUT], "--noise"),
    "unknown method": (["fit", "good.csv", *FIT, "--method", "magic", *OUT], "--method must be one of auto, spectral"),
    "unknown law": (["fit", "good.csv", *FIT, "--input-law", "cauchy", *OUT], "--input-law must be one of auto"),
    "spectral, any experts": (["fit", "good.csv", "--target", "y", *SPECTRAL, *OUT], "such as --experts 2"),
    "options of another method": (
        ["fit", "good.csv", *FIT, "--moments", "plain", "--radius", "1", *OUT],
        "--moments, --radius: for --method spectral; --method is auto",
    ),
    "unknown moments": (["fit", "good.csv", *FIT, *SPECTRAL, "--moments", "odd", *OUT], "--moments must be one of"),
    "unknown decomposition": (
        ["fit", "good.csv", *FIT, *SPECTRAL, "--decomposition", "svd", *OUT],
        "--decomposition must be one of matching, orth-als, orth-als-t2, power; got 'svd'",
    ),
    "unknown gate method": (["fit", "good.csv", *FIT, *SPECTRAL, "--gate-method", "x", *OUT], "--gate-method must be"),
    "no radius": (["fit", "good.csv", *FIT, *SPECTRAL, "--radius", "0", *OUT], "--radius must be a positive number"),
    "step of no gradient": (["fit", "good.csv", *FIT, *SPECTRAL, "--step-size", "1", *OUT], "--gate-method gradient"),
    "spectral with gate columns": (
        ["fit", "good.csv", *FIT, *SPECTRAL, "--gate-columns", "x", *OUT],
        "takes no --gate-columns",
    ),
    "unknown activation": (["fit", "good.csv", *FIT, "--activation", "magic", *OUT], "'magic'"),
    "unknown way with missing": (["fit", "good.csv", *FIT, "--missing", "guess", *OUT], "'guess'"),
    "seed in words": (["fit", "good.csv", *FIT, "--seed", "abc", *OUT], "--seed"),
    "latin-1 as UTF-8": (["fit", "latin.csv", *FIT, *OUT, "--encoding", "utf-8"], "name its encoding"),
    "UTF-8 as UTF-16": (["fit", "good.csv", *FIT, *OUT, "--encoding", "utf-16"], "the text is not utf-16"),
    "unknown encoding": (["fit", "good.csv", *FIT, *OUT, "--encoding", "morse"], "'morse' is unknown; try utf-8"),
    "separator beyond ASCII": (["fit", "good.csv", *FIT, *OUT, "--separator", "§"], "separator must be one character"),
    "encoding of no text": (["fit", "good.csv", *FIT, *OUT, "--encoding", "rot13"], "'rot13' is unknown; try utf-8"),
    "huge seed": (["fit", "good.csv", *FIT, "--seed", "9" * 20, *OUT], "--seed"),
    "tiny noise": (["fit", "good.csv", *FIT, "--noise", "1e-300", *OUT], "noise of 1e-300 is given"),
    "report over the model": (["fit", "good.csv", *FIT, *OUT, "--report", f"./{OUT[1]}"], "is where the model goes"),
    "report that is no page": (
        ["fit", "good.csv", *FIT, *OUT, "--report", "r.pdf"],
        "must end in .html or .htm; got r.pdf",
    ),
    "page of another kind": (["report", "good.skmoe", "--html", "r.pdf"], "--html: a report is an HTML page"),
    "demo of another kind": (["demo", "--out", "r.pdf"], "--out: a report is an HTML page"),
    "long identifiers": (
        ["fit", "long.csv", *FIT, *OUT],
        "column 'id' holds whole numbers that double precision would round, such as 9007199254740993 (40 rows): "
        "subtract its smallest value; mend it, or leave it out: --drop id",
    ),
    "unknown decimal mark": (["fit", "good.csv", *FIT, *OUT, "--decimal", "x"], "decimal must be '.' or ','"),
    "long separator": (["fit", "good.csv", *FIT, *OUT, "--separator", "::"], "separator must be one character"),
    "picture": (["fit", "picture.csv", *FIT, *OUT], "is not text"),
    "ragged": (["fit", "ragged.csv", *FIT, *OUT], "has 1 cells and the header 2"),
    "cut gzip": (["fit", "cut.csv.gz", *FIT, *OUT], "damaged or cut short"),
    "no gzip": (["fit", "fake.csv.gz", *FIT, *OUT], "damaged or cut short"),
    "damaged parquet": (["fit", "bad.parquet", *FIT, *OUT], "bad.parquet: is damaged"),
    "damaged arrow": (["fit", "bad.arrow", *FIT, *OUT], "bad.arrow: is damaged"),
    "unknown suffix": (["fit", "rows.doc", *FIT, *OUT], ".parquet"),
    "duplicate names": (["fit", "twice.csv", *FIT, *OUT], "'x' is there more than once"),
    "negative weights": (["fit", "weights.csv", *FIT, "--drop", "t", "--weights", "w", *OUT], "at least 0"),
    "text weights": (["fit", "weights.csv", *FIT, "--weights", "t", *OUT], "'t' must hold numbers"),
    "unknown weights": (["fit", "good.csv", *FIT, "--weights", "v", *OUT], "no column 'v'"),
    "unknown drop": (["fit", "good.csv", *FIT, "--drop", "v", *OUT], "no column 'v'"),
    "target dropped": (["fit", "good.csv", *FIT, "--drop", "y", *OUT], "'y' is the target"),
    "output over input": (["fit", "good.csv", *FIT, "--out", "good.csv"], "would be overwritten"),
    "predictions over model": (["predict", "good.skmoe", "good.csv", "--out", "good.skmoe"], "would be overwritten"),
    "unknown gate column": (
        ["fit", "good.csv", *FIT, "--gate-columns", "x,v", *OUT],
        "--gate-columns: there is no column 'v'",
    ),
    "most rows missing": (
        ["fit", "missing.csv", *FIT, "--missing", "drop", *OUT],
        "would leave 0 of 5 rows; rows that lack a value, by column: x 3, z 2; mend them, or use --missing level",
    ),
    "missing refused": (["fit", "missing.csv", *FIT, "--missing", "error", *OUT], "missing values: x 3, z 2"),
    "dates in words": (["fit", "dates.csv", *FIT, "--dates", "days,moon", *OUT], "got 'moon'"),
    "date as target": (["fit", "dates.csv", "--target", "day", *OUT], "'day' must hold numbers; it holds dates"),
    "a name a row": (["fit", "names.csv", *FIT, *OUT], "'name' is text with 30 different values in 30 rows"),
    "stray text": (
        ["fit", "stray.csv", *FIT, *OUT],
        "column 'x' would be numbers but for 'abc' (1 row); column 'a, b' would be numbers but for '3 kg' (2 rows); "
        "mend them, or leave them out: --drop x --drop 'a, b'",
    ),
    "infinity": (["fit", "infinite.csv", *FIT, *OUT], "holds infinity"),
    "no inputs": (["fit", "same.csv", *FIT, *OUT], "no column is left"),
    "empty stdin": (["fit", "-", *FIT, *OUT], "standard input: is empty"),
    "output into nowhere": (["fit", "good.csv", *FIT, "--out", "no/where/m.skmoe"], "no directory"),
    "output is a directory": (["fit", "good.csv", *FIT, "--out", "."], "is a directory"),
    "report into nowhere": (["fit", "good.csv", *FIT, *OUT, "--report", "no/r.html"], "no directory"),
    "predictions to Excel": (
        ["predict", "good.skmoe", "good.csv", "--out", "p.xlsx"],
        "error: p.xlsx: Excel files are",
    ),
    "missing model": (["predict", "nowhere.skmoe", "good.csv", "--out", "p.csv"], "nowhere.skmoe"),
    "not a model": (["predict", "model.txt", "good.csv", "--out", "p.csv"], "not a skmoe model file"),
    "damaged model": (["predict", "cut.skmoe", "good.csv", "--out", "p.csv"], "damaged"),
    "later model": (
        ["predict", "later.skmoe", "good.csv", "--out", "p.csv"],
        "is of format 99, and this skmoe reads format",
    ),
    "nameless model": (["predict", "nameless.skmoe", "good.csv", "--out", "p.csv"], "no column names"),
    "lacking column": (["predict", "good.skmoe", "lacking.csv", "--out", "p.csv"], "lacks 'z'"),
    "unseen category": (
        ["predict", "good.skmoe", "unseen.csv", "--unseen", "error", "--out", "p.csv"],
        "'kind' holds 'purple', which was not there in fitting (known: a, b); mend it, or use --unseen other",
    ),
    "no time": (["fit", "good.csv", *FIT, "--max-time", "-1", *OUT], "--max-time must be a positive number"),
    "proportions": (["fit", "parts.csv", *FIT, "--family", "binomial", *OUT], "name the column of these: --trials"),
    "negative counts": (
        ["fit", "weights.csv", "--target", "w", "--family", "poisson", *OUT],
        "the family 'poisson' takes",
    ),
    "activation of no family": (
        ["fit", "good.csv", *FIT, "--family", "gamma", "--activation", "tanh", *OUT],
        "activation 'tanh' is for the gaussian family",
    ),
    "numbers as classes": (["fit", "many.csv", *FIT, "--family", "classes", *OUT], "leave --family classes out"),
    "averages of joint EM": (
        ["fit", "good.csv", "--target", "y", "--experts", "2", "--method", "joint-em", "--average", "3", *OUT],
        "averaging is for the method auto",
    ),
    "more experts than columns": (
        ["fit", "good.csv", "--target", "y", "--experts", "9", *SPECTRAL, *OUT],
        "use at most 3 experts",
    ),
    "rows of no standard Gaussian": (
        ["fit", "large.csv", *FIT, *SPECTRAL, "--input-law", "standard", *OUT],
        "--input-law gaussian fits a law to them",
    ),
    "text for numbers": (["predict", "good.skmoe", "text.csv", "--out", "p.csv"], "'many'"),
    "interval above one": (["predict", "good.skmoe", "good.csv", "--interval", "1.5", "--out", "p.csv"], "1.5"),
    "interval in words": (["predict", "good.skmoe", "good.csv", "--interval", "wide", "--out", "p.csv"], "--interval"),
    "unknown way with unseen": (["predict", "good.skmoe", "good.csv", "--unseen", "x", "--out", "p.csv"], "--unseen"),
    "output of no kind": (["predict", "good.skmoe", "good.csv", "--out", "p.doc"], "p.doc"),
    "report without target": (["report", "good.skmoe", "lacking.csv", "--html", "r.html"], "no column 'y'"),
    "too many folds": (["compare", "good.csv", *FIT, "--folds", "20"], "at least 80 rows"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_one_clear_line(place, name, monkeypatch):
    monkeypatch.chdir(place)
    words, expected = MISTAKES[name]
    before = sorted(os.listdir())
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2, result.output
    errors = [line for line in result.stderr.splitlines() if not line.startswith("skmoe: note: ")]
    assert len(errors) == 1, errors
    assert errors[0].startswith("skmoe: error: ")
    assert expected in errors[0]
    assert not of_python(result.stderr)
    assert "\x1b" not in result.output
    assert result.stdout == ""
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    "name",
    [
        "nowhere.csv",
        "rows.doc",
        "empty.csv",
        "picture.csv",
        "twice.csv",
        "cut.csv.gz",
        "bad.parquet",
        ".",
    ],
)
def test_words_for_a_bad_table_are_those_of_python(place, name, monkeypatch):
    monkeypatch.chdir(place)
    with pytest.raises((TableError, FileNotFoundError)) as refused:
        open_table(name)
    for words in (["fit", name, *FIT, *OUT], ["predict", "good.skmoe", name, "--out", "p.csv"]):
        assert CliRunner().invoke(app, words).stderr == f"skmoe: error: {refused.value}\n"


def test_missing_pyarrow_is_one_clear_line(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = CliRunner().invoke(app, ["fit", str(place / "good.csv"), *FIT, "--out", str(place / "new.skmoe")])
    assert result.exit_code == 2
    assert result.stderr == 'skmoe: error: reading tables needs pyarrow: pip install "skmoe[data]"\n'


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is writable to this user")
def test_folder_that_cannot_be_written_to_is_refused(place, tmp_path):
    tmp_path.chmod(0o500)
    result = CliRunner().invoke(app, ["fit", str(place / "good.csv"), *FIT, "--out", str(tmp_path / "m.skmoe")])
    assert result.exit_code == 2
    assert "cannot be written to" in result.stderr


def test_failure_in_the_middle_leaves_the_old_output_alone(place, tmp_path):
    long = tmp_path / "long.csv"
    long.write_text("x,z,kind\n" + "1.25,2.5,a\n" * 200_000 + "oops,2,a\n")
    out = tmp_path / "p.csv"
    out.write_text("what was there before")
    result = CliRunner().invoke(app, ["predict", str(place / "good.skmoe"), str(long), "--out", str(out)])
    assert result.exit_code == 2
    assert "'oops'" in result.stderr
    assert out.read_text() == "what was there before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["long.csv", "p.csv"]
