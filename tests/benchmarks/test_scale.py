"""Every benchmark of size runs when all is tiny, its numbers mean what they say, and the page shows them."""

import json
import time

import numpy as np
import pytest

from benchmarks import scale
from benchmarks.scale import cluster, memory, runner
from benchmarks.scale import scaling_page as page
from benchmarks.shared import measuring
from skmoe.tables.inputs import stream


@pytest.mark.parametrize("name", ["products", "memory", "table-memory", "same", "cluster"])
def test_quick_run_prints_a_table_and_writes_its_numbers(name, tmp_path):
    if name == "cluster":
        pytest.importorskip("distributed")
    kept = {path.name: path.read_text() for path in scale.RESULTS.glob("*.json")}
    shown = page.PAGE.read_text()
    runner.main([name, "--quick", "--out", str(tmp_path / "numbers.json"), "--folder", str(tmp_path)])
    found = json.loads((tmp_path / "numbers.json").read_text())[name]
    assert found["command"] == f"python -m benchmarks.scale.runner {name} --quick"
    assert found["versions"]["numpy"] == np.__version__
    assert [path.name for path in tmp_path.iterdir()] == ["numbers.json"]  # large files are gone
    assert kept == {path.name: path.read_text() for path in scale.RESULTS.glob("*.json")}
    assert shown == page.PAGE.read_text()
    if name == "same":
        assert all(kind["difference"] < 1e-8 for kind in found["kinds"].values())


def test_mistakes_are_refused_before_any_work(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        runner.main(["speed"])
    assert "choose from 'products', 'memory'" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError):
        runner.main(["same", "--folder", str(tmp_path / "none")])
    with pytest.raises(ValueError, match="no directory"):
        runner.main(["same", "--out", str(tmp_path / "none" / "numbers.json")])
    monkeypatch.setattr(memory, "missing", lambda: "pyarrow not installed")
    with pytest.raises(ValueError, match="memory cannot run: pyarrow not installed"):
        runner.main(["memory"])


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
