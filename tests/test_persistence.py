import json
import zipfile

import numpy as np
import pytest

import skmoe
from skmoe import MoERegressor, make_moe


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
    np.testing.assert_array_equal(again.score_samples(X, y), model.score_samples(X, y))
    assert str(again.summary()) == str(model.summary())
    assert str(again.summary(robust=True)) == str(model.summary(robust=True))
    assert str(again.diagnose(X, y)) == str(model.diagnose(X, y))
    assert again.get_params()["noise"] == "per-expert"
    np.testing.assert_array_equal(again.gate_coef_se_, model.gate_coef_se_)


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
            else:
                json.loads(file.read(name))


@pytest.mark.parametrize(
    "damage",
    [
        lambda p: p.write_bytes(p.read_bytes()[:200]),
        lambda p: p.write_bytes(b"not a model"),
        lambda p: p.write_bytes(b""),
        lambda p: p.write_bytes(p.read_bytes()[:300] + b"\0\0\0\0" + p.read_bytes()[304:]),
        lambda p: rewrite(p, drop="gate_coef_.npy"),
        lambda p: rewrite(p, drop="model.json"),
        lambda p: rewrite(p, change={"numbers": {}}),
    ],
)
def test_damaged_files_are_refused(fitted, tmp_path, damage):
    path = tmp_path / "m.skmoe"
    fitted[0].save(path)
    damage(path)
    with pytest.raises(ValueError, match="damaged or not a skmoe model file"):
        skmoe.load(path)


def rewrite(path, drop=None, change=None):
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist() if name != drop}
    if change:
        parts["model.json"] = json.dumps(json.loads(parts["model.json"]) | change).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)


def test_files_from_the_future_are_refused(fitted, tmp_path):
    path = tmp_path / "m.skmoe"
    fitted[0].save(path)
    rewrite(path, change={"format": 99})
    with pytest.raises(ValueError, match="later skmoe"):
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


def test_recipe_of_columns_comes_along(fitted, tmp_path):
    model, _, _ = fitted
    model.table_ = {"target": "y", "columns": []}
    model.save(tmp_path / "m.skmoe")
    assert skmoe.load(tmp_path / "m.skmoe").table_ == {"target": "y", "columns": []}
    del model.table_
    model.save(tmp_path / "m.skmoe")
    assert not hasattr(skmoe.load(tmp_path / "m.skmoe"), "table_")


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

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="no space"):
        model.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.skmoe"]
