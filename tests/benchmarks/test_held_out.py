"""The benchmark on rows held out of real tables: readers, splits, methods, what is kept, and the page."""

import json

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LinearRegression

from skmoe.cli import checkout

if checkout.root() is None:
    pytest.skip("not in a checkout of the repository", allow_module_level=True)

real, cells = checkout.load("benchmarks.real"), checkout.load("benchmarks.real.cells")
compare, page = checkout.load("benchmarks.real.compare"), checkout.load("benchmarks.real.real_page")
common_tables = checkout.load("benchmarks.real.common_tables")
held_out_rows = checkout.load("benchmarks.real.held_out_rows")
aggregates, checks = checkout.load("benchmarks.real.aggregates"), checkout.load("benchmarks.real.checks")
by_forest, by_grid = checkout.load("benchmarks.real.by_forest"), checkout.load("benchmarks.real.by_grid")
DEFAULT, AVERAGED = real.OURS


@pytest.fixture
def rows(rng):
    X = rng.uniform(-2, 2, (120, 2))
    y = 3 + X @ [1.0, -2.0] + 0.5 * rng.standard_normal(120)
    return real.Rows(X[:90], y[:90], X[90:], y[90:])


# -- tables and splits ------------------------------------------------------------------------------------------------


def test_csv_with_semicolons_has_decimal_commas_and_leaves_columns_out(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("a;b;out\n1,5;2;3,25\n4;5;6\n")
    X, y = common_tables.read_csv(file, "out", separator=";", leave_out=("b",))
    np.testing.assert_array_equal(X, [[1.5], [4]])
    np.testing.assert_array_equal(y, [3.25, 6])


def test_csv_without_names_takes_those_given(tmp_path):
    file = tmp_path / "table.data"
    file.write_text("E, 1, 5\nA, 2, 6\n")
    X, y = common_tables.read_csv(file, "y", names=("motor", "gain", "y"))
    np.testing.assert_array_equal(X, [[1, 1], [0, 2]])
    np.testing.assert_array_equal(y, [5, 6])


def test_tables_written_are_read_again(tmp_path, monkeypatch):
    monkeypatch.delenv(common_tables.VARIABLE, raising=False)
    np.savez(tmp_path / "swiss.npz", X=np.ones((3, 2)), y=np.arange(3.0))
    common_tables.write(["swiss", "sine"], tmp_path / "copy", tmp_path)
    np.testing.assert_array_equal(common_tables.read("swiss", tmp_path / "copy")[1], [0, 1, 2])
    assert (tmp_path / "copy" / "sine.npz").is_file()


def test_every_table_of_a_group_can_be_read_by_name():
    names = [name for group in held_out_rows.GROUPS.values() for name in group]
    assert len(set(names)) == len(names) == 30
    assert set(names) <= {*common_tables.OWN, *common_tables.RAW, *common_tables.CLASSICS}


def test_folds_of_a_classic_hold_every_row_out_once_and_are_drawn_anew():
    first, second = ([held_out_rows.held_out("swiss", 47, s) for s in some] for some in (range(5), range(5, 10)))
    for folds in (first, second):
        np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(47))
    assert not np.array_equal(first[0], second[0])


def test_split_of_a_larger_table_holds_out_a_tenth_and_none_of_the_rows_fitted():
    rows = held_out_rows.rows_of("concrete", 3)
    assert (len(rows.y), len(rows.y_new)) == (927, 103)
    X, y = common_tables.read("concrete")
    both = np.vstack([np.column_stack([rows.X, rows.y]), np.column_stack([rows.X_new, rows.y_new])])
    everything = np.column_stack([X, y])
    np.testing.assert_array_equal(both[np.lexsort(both.T)], everything[np.lexsort(everything.T)])


def test_uci_rows_are_those_of_their_own_split_without_constant_columns(tmp_path):
    X = np.column_stack([np.arange(6.0), [1, 1, 1, 1, 1, 2]])
    np.savez(tmp_path / "boston.npz", X=X, y=np.arange(6.0), test_0=[0], test_1=[5, 2])
    rows = held_out_rows.rows_of("uci boston", 1, tmp_path)
    np.testing.assert_array_equal(rows.y_new, [5, 2])
    np.testing.assert_array_equal(rows.y, [0, 1, 3, 4])
    assert rows.X.shape[1] == rows.X_new.shape[1] == 1


# -- methods ----------------------------------------------------------------------------------------------------------


def test_least_squares_has_the_textbooks_interval(rows):
    found = real.all_methods()["least squares"].run(rows, 0)
    np.testing.assert_allclose(found.prediction, LinearRegression().fit(rows.X, rows.y).predict(rows.X_new))
    Z = np.column_stack([np.ones(90), rows.X])
    s2 = np.sum((rows.y - LinearRegression().fit(rows.X, rows.y).predict(rows.X)) ** 2) / 87
    z = np.array([1.0, *rows.X_new[0]])
    width = 2 * 1.6625573 * np.sqrt(s2 * (1 + z @ np.linalg.inv(Z.T @ Z) @ z))  # t of 87 degrees at .95
    assert np.diff(found.intervals[0.9][0])[0] == pytest.approx(width, rel=1e-6)


def test_leaf_weights_predict_as_the_forest_does_and_leave_a_rows_own_trees_out(rows):
    forest = by_forest.forest(rows, 0, min_samples_leaf=3)
    weights = by_forest.leaf_weights(forest, rows.X, rows.X_new)
    np.testing.assert_allclose(weights @ rows.y, forest.predict(rows.X_new), rtol=1e-10)
    out_of_bag = by_forest.leaf_weights(forest, rows.X)
    np.testing.assert_array_equal(np.diag(out_of_bag), 0)
    np.testing.assert_allclose(out_of_bag @ rows.y, forest.oob_prediction_, atol=0.2)


@pytest.mark.parametrize("is_local", [True, False], ids=["local", "global"])
def test_smooth_density_is_the_derivative_of_its_quantiles(rng, is_local):
    y = rng.standard_normal(30)
    weights = rng.dirichlet(np.ones(30), 4)
    smooth = by_forest.Smooth(y, 0.4, is_local, 0.05)
    low, middle, high = (smooth.quantile(weights, level) for level in (0.6999, 0.7, 0.7001))
    np.testing.assert_allclose(np.exp(smooth.log_density(weights, middle)), 0.0002 / (high - low), rtol=1e-3)


def test_grid_probabilities_sum_to_one_and_weights_find_the_better_column(rng):
    values = np.array([10.0, 12, 14])
    chances = by_grid.on_grid(np.array([11.9, 9.0]), 1.5, values)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_allclose(chances[0, 1] / chances[0, 0], norm.pdf(0.1 / 1.5) / norm.pdf(1.9 / 1.5))
    weights = by_grid.stacked(np.column_stack([np.full(50, 0.5), np.full(50, 0.2)]))
    np.testing.assert_allclose(weights, [1, 0], atol=1e-6)


def test_figures_count_rows_inside_and_refuse_a_density_that_is_not_finite():
    y = np.array([0.0, 1, 2, 3])
    intervals = {level: np.column_stack([y - 1, y + np.array([1, 1, 1, -0.5])]) for level in real.COVERAGES}
    found = cells.figures(real.Predicted(y + 2, np.array([-1.0, -2, -3, -2]), intervals), y)
    assert found == {"rmse": 2.0, "log_density": -2.0, "log_density_se": 0.40825, "cover": [0.75] * 3}
    with pytest.raises(FloatingPointError, match="not finite"):
        cells.figures(real.Predicted(y, np.full(4, -np.inf)), y)


# -- the run ----------------------------------------------------------------------------------------------------------


def record(table="concrete", split=0, method=DEFAULT, version="1", rows=10, **found):
    return {"table": table, "split": split, "method": method, "version": version, "fitted": 90, "rows": rows, **found}


def kept(*records):
    return {cells.Cell(r["table"], r["split"], r["method"]): r for r in records}


def test_run_goes_on_where_it_ended_and_merges_what_others_did(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    np.savez(tmp_path / "swiss.npz", X=X, y=X[:, 0] + rng.standard_normal(40))
    out, other = tmp_path / "cells.jsonl", tmp_path / "other.jsonl"
    words = ["--tables", "swiss", "--methods", "least squares", "--from", str(tmp_path), "--out", str(out)]
    compare.main([*words, "--splits", "2", "--jobs", "2"])
    first = out.read_text().splitlines()
    assert [json.loads(line)["split"] for line in first] == [0, 1]
    cells.append(other, record("swiss", 2, "least squares", rmse=9.0))
    compare.main(["--out", str(out), "--merge", str(other)])

    monkeypatch.setattr(compare, "ProcessPoolExecutor", lambda *_, **__: pytest.fail("a cell was run again"))
    todo = compare.todo_of(
        compare.arguments_of([*words, "--splits", "4"]), cells.read_cells([out]), {"least squares": "1"}
    )
    assert [cell.split for cell in todo] == [3]
    assert out.read_text().splitlines()[:2] == first


def test_fresh_runs_again_what_another_version_made():
    done = kept(record(split=0, version="1"), record(split=1, version="2"))
    words = ["--tables", "concrete", "--methods", DEFAULT, "--splits", "2"]
    assert compare.todo_of(compare.arguments_of(words), done, {DEFAULT: "2"}) == []
    todo = compare.todo_of(compare.arguments_of([*words, "--fresh", DEFAULT]), done, {DEFAULT: "2"})
    assert [cell.split for cell in todo] == [0]


def test_plan_keeps_the_grid_to_rounded_tables_and_protein_to_its_splits():
    names = compare.names_of(["rounded", "concrete"])
    grid = {cell.table for cell in compare.plan(names, ["knows the grid"], range(2))}
    assert grid == set(held_out_rows.GROUPS["rounded"])
    assert len(list(compare.plan(["uci protein", "uci yacht"], [DEFAULT], range(10)))) == 13


def test_a_slow_method_is_run_on_three_splits_only():
    slow, quick = (kept(record(method=real.EARLIER, split=1, seconds=s)) for s in (25.0, 19.0))
    cell = cells.Cell("concrete", 3, real.EARLIER)
    assert compare.is_too_slow(cell, slow)
    assert not compare.is_too_slow(cell, quick)
    assert not compare.is_too_slow(cell._replace(split=2), slow)


def test_a_method_that_raises_is_recorded(monkeypatch):
    def run(rows, seed):
        raise ZeroDivisionError("it broke")

    monkeypatch.setattr(cells, "all_methods", lambda: {"broken": real.Method("broken", run, "")})
    found = cells.run_cell("concrete", 0, "broken", None, "1")
    assert found["error"] == "ZeroDivisionError: it broke"


# -- what is made of it -----------------------------------------------------------------------------------------------


def test_difference_is_over_common_splits_weighted_by_rows():
    table = aggregates.Table(
        [
            record(split=0, rows=10, log_density=1.0),
            record(split=1, rows=30, log_density=2.0),
            record(split=2, rows=10, log_density=99.0),
            record(split=0, rows=10, method="NGBoost", log_density=0.0),
            record(split=1, rows=30, method="NGBoost", log_density=3.0),
            record(split=2, rows=10, method="NGBoost", error="it broke"),
        ]
    )
    gap = table.difference(DEFAULT, "NGBoost")
    assert gap.value == pytest.approx((10 * 1 - 30 * 1) / 40)
    assert gap.se == pytest.approx(np.std([1, -1], ddof=1) / np.sqrt(2))
    assert table.summary()["NGBoost"]["failed"] == 1


def test_ranks_share_ties_and_need_every_method():
    values = dict(zip(aggregates.RANKED, (1.0, 3.0, 3.0, 2.0, 0.0), strict=True))
    table = aggregates.Table([record(method=method, log_density=value) for method, value in values.items()])
    assert list(table.ranks().values()) == [4, 1.5, 1.5, 3, 5]
    assert aggregates.Table([record(log_density=1.0)]).ranks() is None
    losses = {"a": {**dict.fromkeys(aggregates.SOURCES, 2.0), DEFAULT: 2.001}, "b": {}}
    assert aggregates.uci_ranks(losses, DEFAULT) == dict.fromkeys([*aggregates.SOURCES, DEFAULT], 3.0)


def verdicts(records):
    return {(c.item, c.asked.split(",")[0]): c.met for c in checks.checks(aggregates.tables_of(kept(*records)))}


def test_coverage_checks_tell_the_mean_from_single_tables():
    good = [record(name, cover=[0.5, 0.9, 0.95]) for name in ("concrete", "yacht", "swiss")]
    found = verdicts(good)
    assert all(met for (item, _), met in found.items() if item == "1")
    found = verdicts([*good[:2], record("swiss", cover=[0.5, 0.8, 0.95])])
    assert not found["1", "90% intervals: none of the classics under 82%"]
    assert found["1", "90% intervals: none of the larger under 86%"]
    assert not found["1", "90% intervals hold 88% to 92% of the rows held out"]  # .867
    assert found["6", "UCI: ahead of NGBoost on at least 7 of 9"] is None


@pytest.mark.parametrize(("value", "met"), [(-1.5, True), (-2.04, True), (-2.06, False), (-0.9, False)], ids=str)
def test_rounded_density_lies_between_the_line_and_the_grid(value, met):
    others = [
        record("plastic", method=m, log_density=v) for m, v in (("least squares", -2.0), ("knows the grid", -1.0))
    ]
    ours = record("plastic", log_density=value, notes={"warnings": ["y is rounded to 6 values"]})
    found = {check.asked: check.met for check in checks.rounded(aggregates.tables_of(kept(*others, ours)))}
    assert found["plastic: a warning names the cause"]
    (verdict,) = (met for asked, met in found.items() if asked.startswith(f"plastic, {DEFAULT}: "))
    assert verdict is met


def test_error_is_compared_on_the_median_table():
    records = []
    for name, ours in (("concrete", 1.0), ("yacht", 1.04), ("laser", 3.0)):
        records += [record(name, method=AVERAGED, rmse=ours), record(name, method="HistGradientBoosting", rmse=1.0)]
        records += [record(name, method="random forest", rmse=0.5)]
    ratios = {check.asked: check.met for check in checks.error(aggregates.tables_of(kept(*records)))}
    assert list(ratios.values()) == [True, False, False]


def test_page_shows_the_results_that_are_kept(tmp_path):
    copy = tmp_path / "page.md"
    copy.write_text(page.PAGE.read_text())
    page.update(cells.read_cells([compare.CELLS]), tmp_path / "results.json", copy)
    assert json.loads((tmp_path / "results.json").read_text()) == json.loads(page.RESULTS.read_text())
    assert copy.read_text() == page.PAGE.read_text()
