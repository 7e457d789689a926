"""Model files: what is saved is loaded, whole or not at all, and no code with it."""

import copy
import hashlib
import json
import os
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import skmoe
from archives import parts_of, rewrite
from skmoe import ModelFileError, MoERegressor, make_moe
from skmoe.persistence.model_schema import SETTINGS
from skmoe.tables import EncodedTable, TableEncoder
from skmoe.tables.columns import Column


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = make_moe(600, 3, 2, random_state=0)
    return MoERegressor(2, noise="per-expert", random_state=0).fit(X, y), X, y


def test_loaded_model_is_the_saved_one(fitted, tmp_path):
    model, X, y = fitted
    model.save(tmp_path / "m.skmoe")
    again = skmoe.load(tmp_path / "m.skmoe")
    for method in ("predict", "gate_proba", "expert_predict", "predict_interval"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    np.testing.assert_array_equal(again.log_density(X, y), model.log_density(X, y))
    assert str(again.summary()) == str(model.summary())
    assert str(again.summary(robust=True)) == str(model.summary(robust=True))
    assert str(again.diagnose(X, y)) == str(model.diagnose(X, y))
    assert again.get_params()["noise"] == "per-expert"
    np.testing.assert_array_equal(again.gate_coef_se_, model.gate_coef_se_)
    np.testing.assert_array_equal(again.stability_, model.stability_)
    assert again.record_ == model.record_


def test_names_of_columns_are_kept(fitted, tmp_path):
    pd = pytest.importorskip("pandas")
    _, X, y = fitted
    frame = pd.DataFrame(X, columns=["speed", "age", "mass"])
    MoERegressor(2, random_state=0).fit(frame, y).save(tmp_path / "m.skmoe")
    again = skmoe.load(tmp_path / "m.skmoe")
    again.predict(frame)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[["age", "speed", "mass"]])


def test_no_code_is_in_the_file(fitted, tmp_path):
    fitted[0].save(tmp_path / "m.skmoe")
    with zipfile.ZipFile(tmp_path / "m.skmoe") as file:
        for name in file.namelist():
            if name.endswith(".npy"):
                with file.open(name) as array:
                    np.load(array, allow_pickle=False)  # refuses pickles
            elif name.endswith(".json"):
                json.loads(file.read(name))
            else:
                assert name == "SHA256SUMS"


@pytest.mark.parametrize(
    "damage",
    [
        lambda p: p.write_bytes(p.read_bytes()[:200]),
        lambda p: p.write_bytes(b"not a model"),
        lambda p: p.write_bytes(b""),
        lambda p: p.write_bytes(p.read_bytes()[:300] + b"\0\0\0\0" + p.read_bytes()[304:]),
        lambda p: rewrite(p, drop="W.npy"),
        lambda p: rewrite(p, drop="model.json"),
        lambda p: rewrite(p, change={"record": {}}),
    ],
)
def test_damaged_files_are_refused(fitted, tmp_path, damage):
    path = tmp_path / "m.skmoe"
    fitted[0].save(path)
    damage(path)
    with pytest.raises(ModelFileError, match="damaged or not a skmoe model file"):
        skmoe.load(path)


@pytest.mark.parametrize("version", [1, 6, 99])
def test_files_of_another_format_are_refused_by_its_number(fitted, tmp_path, version):
    path = tmp_path / "m.skmoe"
    fitted[0].save(path)
    rewrite(path, change={"format": version})
    with pytest.raises(ModelFileError, match=f"is of format {version}, and this skmoe reads format 7"):
        skmoe.load(path)


def test_missing_file_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        skmoe.load(tmp_path / "nowhere.skmoe")


def test_own_activation_is_refused(tmp_path):
    X, y, _ = make_moe(300, 2, 1, activation=np.arctan, random_state=0)
    model = MoERegressor(1, activation=np.arctan, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="your own code"):
        model.save(tmp_path / "m.skmoe")


def test_unfitted_model_is_not_saved(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        MoERegressor().save(tmp_path / "m.skmoe")


def test_columns_of_the_table_come_along(fitted, tmp_path):
    _, X, y = fitted
    columns = (Column("speed", "number"), Column("kind", "category", ("a", "b", "c"), fill="b"))
    encoder = TableEncoder("price", columns, weights="w", missing="impute", dropped=("id",))
    model = MoERegressor(1, random_state=0).fit(EncodedTable(X, encoder.features, encoder), y)
    model.save(tmp_path / "m.skmoe")
    again = skmoe.load(tmp_path / "m.skmoe")
    assert again.encoder_ == encoder
    assert list(again.encoded_feature_names_) == ["speed", "kind=b", "kind=c"]


def test_columns_of_another_model_are_refused(fitted, tmp_path):
    path = tmp_path / "m.skmoe"
    fitted[0].save(path)
    encoder = TableEncoder("price", (Column("speed", "number"),))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("table.json", json.dumps(encoder.to_json()))
    with pytest.raises(ModelFileError, match="damaged or not a skmoe model file"):
        skmoe.load(path)


def test_progress_callable_is_not_kept(tmp_path):
    X, y, _ = make_moe(300, 2, 1, random_state=0)
    MoERegressor(1, random_state=0, verbose=lambda progress: None).fit(X, y).save(tmp_path / "m.skmoe")
    assert skmoe.load(tmp_path / "m.skmoe").verbose == 0


def test_save_that_fails_leaves_the_old_file(fitted, tmp_path, monkeypatch):
    model, _, _ = fitted
    path = tmp_path / "m.skmoe"
    model.save(path)
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError("no space left")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match="no space"):
        model.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.skmoe"]


def test_threads_that_save_to_one_path_never_fail_nor_leave_a_damaged_file(fitted, tmp_path):
    model, X, _ = fitted
    path = tmp_path / "m.skmoe"
    model.save(path)
    expected, wrong = model.predict(X[:5]), []
    done = threading.Event()

    def until_it_fails(act):
        try:
            act()
        except Exception as error:
            wrong.append(error)

    def save():
        for _ in range(25):
            model.save(path)

    def read():
        while not done.is_set():
            np.testing.assert_array_equal(skmoe.load(path).predict(X[:5]), expected)

    savers = [threading.Thread(target=until_it_fails, args=(save,)) for _ in range(4)]
    reader = threading.Thread(target=until_it_fails, args=(read,))
    for thread in (*savers, reader):
        thread.start()
    for thread in savers:
        thread.join()
    done.set()
    reader.join()
    assert wrong == []
    assert [p.name for p in tmp_path.iterdir()] == ["m.skmoe"]


def test_every_setting_is_kept_or_of_the_fit_alone(fitted):
    """Nothing that names a path or holds code comes from a file; a new setting has to be put on either side."""
    of_the_fit = {"checkpoint", "input_law", "random_state", "verbose"}
    assert set(fitted[0].get_params()) == set(SETTINGS) | of_the_fit | {"family"}  # which has a record of its own
    assert not of_the_fit & set(SETTINGS)


def test_same_model_is_the_same_file(fitted, tmp_path):
    for name in "ab":
        fitted[0].save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_checksums_are_those_that_sha256sum_takes(fitted, tmp_path):
    fitted[0].save(tmp_path / "m.skmoe")
    parts = parts_of(tmp_path / "m.skmoe")
    sums = dict(line.split("  ")[::-1] for line in parts.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("noise_scale_", np.array([1.0, np.nan]), "noise_scale_ holds values that are not finite"),
        ("shares_", np.ones(3) / 3, "shares_ must be of shape"),
        ("record_", float("inf"), "record.run.log_likelihood must be a finite number"),
    ],
)
def test_model_that_could_not_be_loaded_is_not_saved(fitted, tmp_path, attribute, value, words):
    model = copy.copy(fitted[0])
    if attribute == "record_":
        value = replace(model.record_, run=replace(model.record_.run, log_likelihood=value))
    setattr(model, attribute, value)
    with pytest.raises(ValueError, match=f"cannot be saved: .*{words}"):
        model.save(tmp_path / "m.skmoe")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"columns": [{"name": "x", "kind": "code", "categories": [], "fill": None}]},
        {"columns": [{"name": "x", "kind": "number", "categories": [], "fill": "a"}]},
        {"columns": [{"name": "x", "kind": "category", "categories": ["a", "a"], "fill": None}]},
        {"columns": [{"name": 3, "kind": "number", "categories": [], "fill": None}]},
        {"columns": []},
        {"columns": 5},
        {"missing": "guess"},
        {"target": ["y"]},
        {"dropped": "abc"},
        {"more": 1},
    ],
    ids=str,
)
def test_columns_that_no_table_has_are_refused(fitted, tmp_path, change):
    _, X, y = fitted
    encoder = TableEncoder("price", (Column("speed", "number"),))
    path = tmp_path / "m.skmoe"
    MoERegressor(1, random_state=0).fit(EncodedTable(X[:, :1], encoder.features, encoder), y).save(path)
    skmoe.load(path)
    rewrite(path, change=change, text="table.json")
    with pytest.raises(ModelFileError, match="damaged or not a skmoe model file"):
        skmoe.load(path)


SAVER = """
import sys, skmoe
model = skmoe.load(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for _ in range(40):
    model.save(sys.argv[2])
"""


def test_processes_that_save_to_one_path_leave_a_whole_file_at_any_moment(fitted, tmp_path):
    """Two processes save two models in turn; whoever reads sees one of them, whole."""
    model, X, y = fitted
    other = MoERegressor(1, random_state=0).fit(X, y)
    model.save(tmp_path / "0.skmoe")
    other.save(tmp_path / "1.skmoe")
    path, whole = tmp_path / "m.skmoe", [(tmp_path / f"{i}.skmoe").read_bytes() for i in (0, 1)]
    model.save(path)
    savers = [
        subprocess.Popen(
            [sys.executable, "-c", SAVER, tmp_path / f"{i}.skmoe", path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for i in (0, 1)
    ]
    for saver in savers:
        assert saver.stdout.readline() == "ready\n"
    for saver in savers:
        saver.stdin.write("go\n")
        saver.stdin.flush()
    seen = set()
    while any(saver.poll() is None for saver in savers):
        content = path.read_bytes()
        assert content in whole
        seen.add(len(content))
        skmoe.load(path)
    for saver in savers:
        with saver:
            assert saver.wait() == 0
    assert len(seen) == 2  # both were there, or nothing was shown
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0.skmoe", "1.skmoe", "m.skmoe"]


def test_model_goes_to_a_device_and_through_a_pipe(fitted, tmp_path):
    fitted[0].save("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    fitted[0].save(tmp_path / "pipe")
    (tmp_path / "m.skmoe").write_bytes(reader.communicate()[0])
    assert skmoe.load(tmp_path / "m.skmoe").n_experts_ == 2
