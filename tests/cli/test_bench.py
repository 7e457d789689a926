"""``skmoe bench``: every benchmark runs when all is tiny, its numbers mean what they say, and the page shows them."""

import json
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from skmoe.cli import app, checkout
from skmoe.tables.inputs import stream

if checkout.root() is None:
    pytest.skip("not in a checkout of the repository", allow_module_level=True)

scale, page = checkout.load("benchmarks.scale"), checkout.load("benchmarks.scale.scaling_page")
cluster, memory = checkout.load("benchmarks.scale.cluster"), checkout.load("benchmarks.scale.memory")
measuring = checkout.load("benchmarks.shared.measuring")


def run(*words):
    return CliRunner().invoke(app, ["bench", *words], env={"COLUMNS": "200"})


@pytest.mark.parametrize("name", ["products", "memory", "table-memory", "same", "cluster"])
def test_quick_run_prints_a_table_and_writes_its_numbers(name, tmp_path):
    if name == "cluster":
        pytest.importorskip("distributed")
    kept = {path.name: path.read_text() for path in scale.RESULTS.glob("*.json")}
    shown = page.PAGE.read_text()
    result = run(name, "--quick", "--out", str(tmp_path / "numbers.json"), "--folder", str(tmp_path))
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "numbers.json").read_text())[name]
    assert found["command"] == f"skmoe bench {name} --quick"
    assert found["versions"]["numpy"] == np.__version__
    assert [path.name for path in tmp_path.iterdir()] == ["numbers.json"]  # large files are gone
    assert kept == {path.name: path.read_text() for path in scale.RESULTS.glob("*.json")}
    assert shown == page.PAGE.read_text()
    if name == "same":
        assert all(kind["difference"] < 1e-8 for kind in found["kinds"].values())


def test_list_names_every_benchmark():
    result = run("--list")
    assert result.exit_code == 0
    for name in ("products", "memory", "table-memory", "same", "cluster", "gpu", "peers"):
        assert f"\n{name} " in f"\n{result.output}"


def test_mistakes_are_refused_before_any_work(tmp_path, monkeypatch):
    assert "there are products, memory" in (wrong := run("speed")).output
    assert wrong.exit_code == 2
    assert "no directory" in run("same", "--folder", str(tmp_path / "none")).output
    assert "no directory" in run("same", "--out", str(tmp_path / "none" / "numbers.json")).output
    monkeypatch.setattr(memory, "missing", lambda: "pyarrow not installed")
    assert "memory cannot run: pyarrow not installed" in run("memory").output
    monkeypatch.setattr(checkout, "root", lambda: None)
    assert "the benchmarks are in skmoe's repository" in run("--list").output


def test_page_shows_the_results_that_are_kept(tmp_path):
    copy = tmp_path / "scaling.md"
    copy.write_text(page.PAGE.read_text())
    page.update(copy)
    assert copy.read_text() == page.PAGE.read_text()


def test_interleaved_keeps_the_least_time_of_each_call():
    ticks = iter([0, 5, 5, 7, 7, 10, 10, 14])  # 5 and 3 for one, 2 and 4 for the other
    found = measuring.interleaved({"one": lambda: None, "other": lambda: None}, 2, (lambda: next(ticks),))
    assert found == {"one": [3], "other": [2]}


def test_slope_is_the_exponent():
    sizes = (10, 100, 1000)
    assert memory._slope(sizes, [2e-3 * n**1.5 for n in sizes]) == pytest.approx(1.5)


def test_forecast_divides_work_but_not_scheduling_by_cores():
    passes = {"gradient": {"seconds_a_row_on_one_core": 2e-6}}
    result = {"d": 9, "runs": [{"passes": passes, "seconds_a_task": 1e-3, "seconds_a_pass": 0.5}]}
    hours = {cores: cluster.forecast(result, 10**9, cores, 10**6, {"gradient": 3}, 8e7) for cores in (1, 100)}
    assert hours[1] * 3600 == pytest.approx(3 * (2000 + 1000 + 1 + 0.5))
    assert hours[100] * 3600 == pytest.approx(3 * (20 + 10 + 1 + 0.5))


def test_reading_a_parquet_file_holds_a_row_group_however_slow_the_kernel(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rng, rows, groups = np.random.default_rng(0), 20_000, 30
    with pq.ParquetWriter(tmp_path / "rows.parquet", pa.schema({name: pa.float64() for name in "abcdy"})) as writer:
        for _ in range(groups):
            writer.write_table(pa.table({name: rng.standard_normal(rows) for name in "abcdy"}))
    X, y, _, _ = stream(tmp_path / "rows.parquet", "y")
    before, most, seen = pa.total_allocated_bytes(), 0, 0
    for x, _ in X.chunks((X, y)):
        time.sleep(0.01)
        seen += len(x)
        most = max(most, pa.total_allocated_bytes() - before)
    assert seen == rows * groups
    assert most < 4 * (8 * 5 * rows)
