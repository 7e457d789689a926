"""Files of earlier formats are loaded, with the numbers that they had when they were written."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import skmoe
from archives import rewrite
from skmoe import ModelFileError
from skmoe.tables import EncodedTable, TableEncoder, open_table
from skmoe.tables.columns import Column

FILES = Path(__file__).parent / "files"
"""Written by `skmoe fit` and `skmoe predict --interval 0.9 --gate` of the versions that had the format."""


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_file_written_by_an_earlier_version_predicts_as_it_did(version):
    model = skmoe.load(FILES / f"format{version}.skmoe")
    X, kept = model.encoder_.encode(open_table(FILES / "rows.csv").read())
    assert np.all(kept)
    rows = EncodedTable(X, model.encoder_.features, model.encoder_)
    said = open_table(FILES / f"format{version}.csv").read().to_pandas().to_numpy()
    np.testing.assert_allclose(model.predict(rows), said[:, 0], rtol=1e-12)
    np.testing.assert_allclose(model.gate_proba(rows), said[:, 3:], rtol=1e-12, atol=1e-300)
    if version >= 3:  # bounds count the uncertainty of coefficients since
        np.testing.assert_allclose(model.predict_interval(rows, coverage=0.9), said[:, 1:3], rtol=1e-12)
    assert model.expert_coef_se_.shape == model.expert_coef_.shape
    assert "standard errors from the observed information" in str(model.summary())


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_file_of_an_earlier_format_is_saved_in_todays(version, tmp_path):
    model = skmoe.load(FILES / f"format{version}.skmoe")
    model.save(tmp_path / "again.skmoe")
    again = skmoe.load(tmp_path / "again.skmoe")
    with zipfile.ZipFile(tmp_path / "again.skmoe") as file:
        assert json.loads(file.read("model.json"))["format"] == 5
    for name in ("expert_coef_", "gate_coef_", "noise_scale_", "covariance_", "covariance_robust_", "dof_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.get_params() == model.get_params()
    assert str(again.diagnose()) == str(model.diagnose())


@pytest.mark.parametrize("version", [1, 2, 3])
def test_log_likelihood_of_an_earlier_file_becomes_the_total(version):
    """It was the mean over rows."""
    path = FILES / f"format{version}.skmoe"
    with zipfile.ZipFile(path) as file:
        header = json.loads(file.read("model.json"))
    expected = header["numbers"]["log_likelihood_"] * header["history"]["rows"]
    assert skmoe.load(path).log_likelihood_ == pytest.approx(expected, rel=1e-12)


def test_log_likelihood_of_an_earlier_file_is_that_of_its_weighted_rows():
    model, table = skmoe.load(FILES / "format4.skmoe"), open_table(FILES / "format4_rows.csv").read()
    inputs, y, weight = model.encoder_.rows(table)
    assert model.log_likelihood_ == pytest.approx(weight @ model.parameters_.log_density(inputs.X, y), rel=1e-6)


@pytest.mark.parametrize("numbers", [[0] * 1000, "-1", True, None, 10**400])
def test_log_likelihood_that_is_no_number_is_refused_before_it_is_multiplied(numbers, tmp_path):
    path = tmp_path / "m.skmoe"
    path.write_bytes((FILES / "format3.skmoe").read_bytes())
    rewrite(path, change={"numbers": {"log_likelihood_": numbers}})
    with pytest.raises(ModelFileError, match="log_likelihood_ must be a finite number"):
        skmoe.load(path)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "changes",
    [
        {"drop": "covariance_.npy"},
        {"drop": "shares_.npy"},
        {"add": {"unused.npy": b"more"}},
        {"change": {"settings": {"checkpoint": "notes.npz"}}},
        {"arrays": {"noise_scale_": np.array([0.1, -0.1])}},
        {"arrays": {"expert_coef_": np.full((2, 4), np.nan)}},
    ],
    ids=str,
)
def test_nonsense_in_a_file_of_an_earlier_format_is_refused(version, changes, tmp_path):
    path = tmp_path / "m.skmoe"
    path.write_bytes((FILES / f"format{version}.skmoe").read_bytes())
    skmoe.load(path)
    rewrite(path, **changes)
    with pytest.raises(ModelFileError, match="damaged or not a skmoe model file"):
        skmoe.load(path)


def test_no_bit_of_an_earlier_file_changes_a_number_unnoticed(tmp_path):
    """The zip's own checksums cover the content of members; of the rest, names and sizes have to agree."""
    path, rng = tmp_path / "m.skmoe", np.random.default_rng(0)
    content = (FILES / "format1.skmoe").read_bytes()
    model = skmoe.load(FILES / "format1.skmoe")
    for place in rng.integers(0, 8 * len(content), 400):
        flipped = bytearray(content)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            again = skmoe.load(path)
        except ModelFileError:
            continue
        np.testing.assert_array_equal(again.covariance_, model.covariance_)
        np.testing.assert_array_equal(again.expert_coef_, model.expert_coef_)


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
    with pytest.raises(ModelFileError, match="damaged or not a skmoe model file"):
        skmoe.load(path)


@pytest.mark.parametrize("identified", [True, False])
def test_record_that_swallows_those_after_it_is_noticed(identified, tmp_path):
    """The last members are in the file and not in its directory, by a comment that is as long as their records."""
    path = tmp_path / "m.skmoe"
    path.write_bytes((FILES / "format1.skmoe").read_bytes())
    rewrite(path, change={"numbers": {"identified_": identified}})
    content = bytearray(path.read_bytes())
    records = [i for i in range(len(content)) if content[i : i + 4] == b"PK\x01\x02"]
    end = content.rindex(b"PK\x05\x06")
    content[records[-3] + 32 : records[-3] + 34] = (end - records[-2]).to_bytes(2, "little")
    path.write_bytes(content)
    with zipfile.ZipFile(path) as file:
        assert "covariance_.npy" not in file.namelist()
    with pytest.raises(ModelFileError, match="lacks members that it counts"):
        skmoe.load(path)
