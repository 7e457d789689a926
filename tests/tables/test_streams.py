"""One fit, whatever holds the rows: arrays of any library, memory maps, files and Dask collections."""

import gzip

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skmoe import MoERegressor, make_moe
from streams import NAMES, assert_same, fitted, let_samples_be_small

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.usefixtures("small_samples")


@pytest.fixture(scope="module")
def table(rows):
    X, y = rows
    return pa.table({**{name: X[:, i] for i, name in enumerate(NAMES)}, "price": y})


@pytest.fixture(scope="module")
def reference(rows):
    with pytest.MonkeyPatch.context() as patch:
        let_samples_be_small(patch)
        return fitted(*rows)


def test_sampled_search_ends_at_the_optimum_of_all_rows(rows, reference, monkeypatch):
    assert reference.converged_
    assert reference.history_["searched"] == 3000
    assert reference.history_["rows"] == 12000
    assert reference.history_["passes"] > 3
    let_samples_be_small(monkeypatch, sample_rows=10**6)
    assert_same(fitted(*rows), reference)


def test_interruption_on_all_rows_keeps_the_last_step(rows):
    seen = []

    def stop(progress):
        if progress.stage == "all rows":
            seen.append(progress.log_likelihood)
            if len(seen) == 2:
                raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = fitted(*rows, penalty=0, verbose=stop)
    assert abs(model.parameters_.log_density(*rows).mean() - seen[-1]) < 1e-7
    assert seen[-1] > seen[0] + 1e-6


def test_diagnosis_says_what_was_sampled(reference):
    text = str(reference.diagnose())
    assert "3,000 of 12,000 rows" in text


@pytest.mark.parametrize("kind", ["memmap", "parquet", "folder", "csv", "tsv", "csv.gz", "arrow", "table", "dataset"])
def test_files_give_the_same_model(kind, rows, table, reference, tmp_path):
    X, y = rows
    where, path = "price", tmp_path / f"rows.{kind}"
    if kind == "memmap":
        stored = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", X.dtype, X.shape)
        stored[:] = X
        path, where = stored, y
    elif kind == "parquet":
        pq.write_table(table, path, row_group_size=1000)
    elif kind == "folder":
        path.mkdir()
        for i in range(3):
            pq.write_table(table.slice(4000 * i, 4000), path / f"part-{i}.parquet")
    elif kind in ("csv", "tsv", "csv.gz"):
        import pyarrow.csv as csv

        plain = tmp_path / "plain"
        csv.write_csv(table, plain, csv.WriteOptions(delimiter="\t" if kind == "tsv" else ","))
        path.write_bytes(gzip.compress(plain.read_bytes()) if kind == "csv.gz" else plain.read_bytes())
    elif kind == "arrow":
        import pyarrow.feather as feather

        feather.write_feather(table, path)
    elif kind == "table":
        path = table
    else:
        import pyarrow.dataset as ds

        path = ds.dataset(table)
    model = fitted(path, where)
    assert_same(model, reference)
    if kind != "memmap":
        assert list(model.feature_names_in_) == NAMES
        assert np.allclose(model.predict(path), reference.predict(X), rtol=1e-7)
        assert np.allclose(model.log_density(path, "price"), reference.log_density(X, y), atol=1e-6)
        assert np.allclose(model.gate_proba(path), reference.gate_proba(X), atol=1e-7)
        assert abs(model.score(path, "price") - reference.score(X, y)) < 1e-9


def test_small_file_is_the_same_as_its_array(rows, table, monkeypatch):
    let_samples_be_small(monkeypatch, canonical_rows=20000)
    small = table.slice(0, 900)
    X, y = rows
    model, expected = fitted(small, "price"), fitted(X[:900], y[:900])
    assert np.array_equal(model.expert_coef_, expected.expert_coef_)
    assert model.history_["searched"] == 900


@pytest.mark.parametrize("library", ["torch", "strict"])
def test_other_array_libraries_give_the_same_model_in_their_own_arrays(library, rows, reference):
    X, y = rows
    if library == "torch":
        xp = pytest.importorskip("torch", exc_type=ImportError)
    else:
        import array_api_strict as xp
    A, b = xp.asarray(X), xp.asarray(y)
    model = fitted(A, b)
    assert_same(model, reference)
    for values, expected in (
        (model.predict(A), reference.predict(X)),
        (model.gate_proba(A), reference.gate_proba(X)),
        (model.predict_interval(A), reference.predict_interval(X)),
        (model.log_density(A, b), reference.log_density(X, y)),
    ):
        assert isinstance(values, type(A))
        assert np.allclose(np.asarray(values), expected, rtol=1e-6, atol=1e-7)
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(A[:, :3])
    with pytest.raises(ValueError, match="NaN or infinity"):
        model.predict(xp.full((3, 4), float("nan")))


def test_single_precision_costs_no_accuracy(rows, reference):
    X, y = rows
    model = fitted(X.astype(np.float32), y)
    assert_same(model, reference, tol=1e-4)  # the rounding of the data, in columns far from zero
    again = fitted(X.astype(np.float32).astype(np.float64), y)
    assert_same(model, again, tol=1e-9)  # and none of the sums


def test_weights_by_column_name(rows, table):
    X, y = rows
    weight = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    streamed = MoERegressor(3, random_state=0).fit(table.append_column("w", pa.array(weight)), "price", "w")
    assert list(streamed.feature_names_in_) == NAMES
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    expected = fitted(X[repeated], y[repeated])
    assert_same(streamed, expected, tol=1e-6)


@pytest.mark.parametrize("law", ["auto", "gaussian", "mixture"])
@pytest.mark.parametrize("holder", ["table", "dask"])
def test_the_papers_algorithms_run_where_the_rows_are(holder, law):
    X, y, _ = make_moe(6000, 12, 2, noise_scale=0.3, random_state=0)
    how = {"method": "spectral", "input_law": law, "random_state": 0}
    expected = MoERegressor(2, **how).fit(X, y)
    if holder == "table":
        rows, target = pa.table({**{f"x{i}": X[:, i] for i in range(12)}, "y": y}), "y"
    else:
        da = pytest.importorskip("dask.array")
        rows, target = da.from_array(X, chunks=(1000, 12)), da.from_array(y, chunks=1000)
    model = MoERegressor(2, **how).fit(rows, target)
    assert np.allclose(model.expert_coef_, expected.expert_coef_, atol=1e-9)
    assert np.allclose(model.gate_coef_, expected.gate_coef_, atol=1e-9)
    assert np.allclose(model.shares_, expected.shares_, atol=1e-9)
    assert abs(model.log_likelihood_ - expected.log_likelihood_) < len(X) * 1e-9


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_damaged_row_group_leaves_no_model(table, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path, row_group_size=1000, write_page_checksum=True)
    fitted_once = fitted(table.slice(0, 900), "price")
    raw = bytearray(path.read_bytes())
    middle = len(raw) // 2
    raw[middle : middle + 64] = bytes(64)
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=r"rows\.parquet: is damaged"):
        fitted_once.fit(path, "price")
    with pytest.raises(ValueError, match="not fitted"):
        fitted_once.predict(table)


def test_text_far_down_a_csv_is_refused_with_the_file(rows, tmp_path):
    X, y = rows
    lines = ["a,b,price", *(f"{x[0]},{x[1]},{t}" for x, t in zip(X, y, strict=True))]
    lines += [f"{i}.0,{i}.5,{i}.25" for i in range(40000)]
    lines += ["1.0,abc,2.0"]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"rows\.csv: .*abc"):
        fitted(tmp_path / "rows.csv", "price")
