"""Model files: what is saved is loaded, whole or not at all, and no code with it."""

import io
import json
import threading
import zipfile

import numpy as np
import pytest

import skmoe
from skmoe import MoERegressor, make_moe
from skmoe.rows import EncodedTable, TableEncoder
from skmoe.rows.columns import Column


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


def test_columns_of_the_table_come_along(fitted, tmp_path):
    _, X, y = fitted
    columns = (Column("speed", "number"), Column("kind", "category", ("a", "b", "c"), fill="b"))
    encoder = TableEncoder("price", columns, weights="w", missing="impute", dropped=("id",))
    model = MoERegressor(1, random_state=0).fit(EncodedTable(X, encoder.features, encoder), y)
    model.save(tmp_path / "m.skmoe")
    again = skmoe.load(tmp_path / "m.skmoe")
    assert again.encoder_ == encoder
    assert list(again.feature_names_in_) == ["speed", "kind=b", "kind=c"]


def test_columns_of_another_model_are_refused(fitted, tmp_path):
    path = tmp_path / "m.skmoe"
    fitted[0].save(path)
    encoder = TableEncoder("price", (Column("speed", "number"),))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("table.json", json.dumps(encoder.to_json()))
    with pytest.raises(ValueError, match="damaged or not a skmoe model file"):
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

    monkeypatch.setattr(np, "save", full)
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


# -- files of the first edition ---------------------------------------------------------------------------------------

FIRST_EDITION = {
    "format": 1,
    "settings": {
        "expert_features": None,
        "fit_intercept": True,
        "gate_features": None,
        "gate_penalty": 0.5,
        "max_iter": 500,
        "method": "auto",
        "n_experts": 2,
        "n_init": 10,
        "noise": "shared",
        "tol": 0.0001,
        "activation": "tanh",
    },
    "numbers": {
        "n_experts_": 2,
        "n_parameters_": 10,
        "log_likelihood_": 0.429,
        "n_iter_": 1,
        "converged_": True,
        "identified_": True,
        "n_features_in_": 2,
    },
    "history": {
        "log_likelihood": [0.42, 0.429],
        "starts": [["spectral", 0.41, "subsample"], ["overfull 3", 0.429, "all rows"]],
        "winner": "overfull 3",
        "agreement": 4,
        "at_floor": False,
        "interrupted": False,
        "bic": [],
        "passes": 189,
        "spectrum": [0.72, 0.15],
        "gap": 1.0,
        "noise_level": 0.078,
        "inputs": {
            "skewness": 0.18,
            "kurtosis": 0.2,
            "gaussian": True,
            "rank": 2,
            "columns": 2,
            "gate_along_experts": 0.99,
        },
        "rows": 200,
        "searched": 200,
    },
}
FIRST_ARRAYS = {
    "expert_coef_": np.array([[0.7, -0.7], [1.0, 0.1]]),
    "expert_intercept_": np.array([-0.02, 0.3]),
    "gate_coef_": np.array([[-0.8, 1.0], [0.0, 0.0]]),
    "gate_intercept_": np.array([0.04, 0.0]),
    "noise_scale_": np.array([0.1, 0.1]),
    "shares_": np.array([0.53, 0.47]),
    "covariance_": 1e-4 * np.eye(14),
    "covariance_robust_": 4e-4 * np.eye(14),
}


def write_first_edition(path, table=None):
    names = {} if table is None else {"feature_names": ["speed", "kind=b"]}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.json", json.dumps(FIRST_EDITION | names, indent=1))
        if table is not None:
            file.writestr("table.json", json.dumps(table, indent=1))
        for key, values in FIRST_ARRAYS.items():
            buffer = io.BytesIO()
            np.save(buffer, values, allow_pickle=False)
            file.writestr(f"{key}.npy", buffer.getvalue())


def test_file_of_the_first_edition_can_be_diagnosed_and_reported(tmp_path):
    """It notes neither the range of its inputs nor where its experts hold."""
    write_first_edition(tmp_path / "m.skmoe")
    model = skmoe.load(tmp_path / "m.skmoe")
    X = np.random.default_rng(0).normal(size=(50, 2))
    found = {question: finding for question, finding, _ in model.diagnose(X, model.predict(X)).rows}
    assert found["fitted range"] == "not known"
    assert found["rows per parameter"] == "20.0 (200 rows, 10 parameters)"
    assert len(model.regimes(X).rows) == 2
    assert "can be said with rows only" in skmoe.report.html(model)


def test_file_of_the_first_edition_is_loaded(tmp_path):
    path = tmp_path / "m.skmoe"
    write_first_edition(path)
    model = skmoe.load(path)
    assert model.penalty == 0.5
    assert model.noise == "shared"  # as it was fitted, whatever the default is now
    np.testing.assert_array_equal(model.history_["objective"], [0.42, 0.429])
    assert "log_likelihood" not in model.history_
    assert model.encoder_ is None
    X = np.array([[1.0, 2.0], [-1.0, 0.5]])
    odds = np.exp(X @ [-0.8, 1.0] + 0.04)
    gate = odds / (1 + odds)
    A, b = FIRST_ARRAYS["expert_coef_"], FIRST_ARRAYS["expert_intercept_"]
    means = np.tanh(X @ A.T + b)
    np.testing.assert_allclose(model.predict(X), gate * means[:, 0] + (1 - gate) * means[:, 1], rtol=1e-12)
    np.testing.assert_allclose(model.expert_coef_se_, 0.01)
    assert "standard errors" in str(model.summary())
    assert "overfull 3" in str(model.diagnose())
    again = tmp_path / "again.skmoe"
    model.save(again)  # in today's format
    np.testing.assert_array_equal(skmoe.load(again).predict(X), model.predict(X))
    assert skmoe.load(again).penalty == 0.5
    np.testing.assert_array_equal(skmoe.load(again).stability_, [np.nan, np.nan])


def test_columns_in_a_file_of_the_first_edition_are_kept(tmp_path):
    table = {
        "target": "price",
        "columns": [
            {"name": "speed", "kind": "number", "categories": [], "fill": None},
            {"name": "kind", "kind": "category", "categories": ["a", "b"], "fill": None},
        ],
        "weights": None,
        "missing": "drop",
        "dropped": ["id"],
    }
    write_first_edition(tmp_path / "m.skmoe", table)
    model = skmoe.load(tmp_path / "m.skmoe")
    columns = (Column("speed", "number"), Column("kind", "category", ("a", "b")))
    assert model.encoder_ == TableEncoder("price", columns, missing="drop", dropped=("id",))
    rows = EncodedTable(np.array([[1.0, 0.0]]), model.encoder_.features, model.encoder_)
    assert model.predict(rows).shape == (1,)


def test_damaged_file_of_the_first_edition_is_refused(tmp_path):
    path = tmp_path / "m.skmoe"
    write_first_edition(path)
    rewrite(path, change={"settings": {}})
    with pytest.raises(ValueError, match="damaged or not a skmoe model file"):
        skmoe.load(path)
