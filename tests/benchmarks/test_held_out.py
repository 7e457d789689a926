"""The benchmark on rows held out of real tables: readers, splits, methods, what is kept, and the page."""

import json
import sys
import types

import numpy as np
import pytest
from scipy.stats import norm, t
from sklearn.linear_model import LinearRegression

from benchmarks import real
from benchmarks.real import (
    aggregates,
    by_ebm,
    by_forest,
    by_grid,
    by_lightgbm,
    by_linear_tree,
    cells,
    checks,
    common_tables,
    compare,
    held_out_rows,
    laws,
)
from benchmarks.real import real_page as page

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


def test_inner_rows_leave_a_fifth_of_those_fitted_out(rows):
    inner = rows.inner(3)
    assert (len(inner.y), len(inner.y_new)) == (72, 18)
    np.testing.assert_array_equal(np.sort([*inner.y, *inner.y_new]), np.sort(rows.y))
    assert not np.array_equal(inner.y_new, rows.inner(4).y_new)


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
    smooth = laws.Smooth(y, 0.4, is_local, 0.05)
    low, middle, high = (smooth.quantile(weights, y, level) for level in (0.6999, 0.7, 0.7001))
    np.testing.assert_allclose(np.exp(smooth.log_density(weights, y, middle)), 0.0002 / (high - low), rtol=1e-3)


def integrated(density, y, low=-20, high=20):
    """Return the CRPS by its definition, the distribution function by sums of the density."""
    z = np.linspace(low, high, 40_001)
    p, step = density(z), z[1] - z[0]
    F = np.append(0, np.cumsum((p[1:] + p[:-1]) / 2 * step))
    return np.sum((F - (z >= y)) ** 2) * step


def test_normal_predictions_have_the_crps_of_its_definition():
    y, mean, scale = np.array([0.3, -1.0, 2.5]), np.array([0.0, 1, 2]), np.array([0.5, 2, 1])
    expected = [integrated(norm(m, s).pdf, v) for m, s, v in zip(mean, scale, y, strict=True)]
    np.testing.assert_allclose(laws.normal(mean, scale, y).crps, expected, rtol=2e-3)
    np.testing.assert_allclose(laws.normal(mean, 2.0, y).crps[1], expected[1], rtol=2e-3)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "own"])
def test_smooth_predictions_have_the_crps_of_its_definition(rng, shared):
    fitted, y, weights = rng.standard_normal(12), np.array([0.3, -1.0, 2.5]), rng.dirichlet(np.ones(12), 3)
    weights[0, 3:] = 0  # rows fitted that share no leaf with the new one
    weights /= weights.sum(axis=1, keepdims=True)
    centers = fitted if shared else np.sort(rng.standard_normal((3, 12)), axis=1)
    smooth = laws.Smooth(fitted, 0.3, shared, 0.05)
    found = smooth.predicted(weights, centers, y)
    np.testing.assert_allclose(found.prediction, np.sum(weights * np.broadcast_to(centers, (3, 12)), axis=1))
    for row in range(3):
        own = centers if shared else centers[row]

        def density(z, row=row, own=own):
            return np.exp(smooth.log_density(np.tile(weights[row], (len(z), 1)), np.tile(own, (len(z), 1)), z))

        assert found.crps[row] == pytest.approx(integrated(density, y[row]), rel=2e-3)


def test_least_squares_has_the_crps_of_students_t(rows):
    found = real.all_methods()["least squares"].run(rows, 0)
    for row in range(3):
        scale = np.diff(found.intervals[0.9][row])[0] / 2 / 1.6625573
        law = t(87, found.prediction[row], scale)
        assert found.crps[row] == pytest.approx(integrated(law.pdf, rows.y_new[row]), rel=2e-3)


def test_linear_tree_finds_two_lines_and_is_least_squares_at_its_root(rng):
    X = rng.uniform(-2, 2, (300, 2))
    y = np.where(X[:, 0] <= 0.5, 1 + 2 * X[:, 1], -3 * X[:, 0])
    found = by_linear_tree.predictions(X, y, X, 1, 1e-9)
    np.testing.assert_allclose(found[0], LinearRegression().fit(X, y).predict(X), atol=1e-6)
    squares = np.mean((found - y) ** 2, axis=1)
    assert squares[1] < 0.1 * squares[0]  # cuts are at sixteenths of the rows, and .5 is none of them
    assert squares[by_linear_tree.DEPTH] < 1e-12
    rows = real.Rows(X[:250], y[:250], X[250:], y[250:])
    assert by_linear_tree.run(rows, 0).notes["depth"] >= 1


def test_linear_tree_of_one_line_does_not_split(rows):
    found = by_linear_tree.run(rows, 0)
    assert found.notes["depth"] == 0
    np.testing.assert_allclose(found.prediction, LinearRegression().fit(rows.X, rows.y).predict(rows.X_new), atol=0.2)


def test_lightgbm_quantiles_ascend_and_take_the_rounds_of_the_nearest_level_tried(rows, monkeypatch):
    asked = []

    class Constant:
        def __init__(self, level, rounds, *how):
            asked.append((level, rounds))
            self.level = level

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), -self.level)  # quantiles that cross

    monkeypatch.setattr(by_lightgbm, "booster", Constant)
    found = by_lightgbm.quantiles(rows, 4, 3, [7, 8, 9], 0)
    assert found.shape == (30, 20)
    assert np.all(np.diff(found, axis=1) > 0)
    assert [rounds for _, rounds in asked] == [7] * 6 + [8] * 8 + [9] * 6


def test_ebm_leaves_each_row_out_of_one_bag_and_predicts_it_by_that_bag(rows, monkeypatch):
    class Bags:
        def __init__(self, **how):
            self.term_scores_, self.intercept_ = [], 99.0

        def fit(self, X, y, bags):
            assert bags.shape == (len(y), by_ebm.BAGS)
            self.bags = bags
            self.bagged_scores_, self.bagged_intercept_ = [], np.arange(by_ebm.BAGS)
            return self

        def predict(self, X):
            return np.full(len(X), self.intercept_)

    glassbox = types.ModuleType("interpret.glassbox")
    glassbox.ExplainableBoostingRegressor = Bags
    monkeypatch.setitem(sys.modules, "interpret", types.ModuleType("interpret"))
    monkeypatch.setitem(sys.modules, "interpret.glassbox", glassbox)
    model, left_out = by_ebm.fit(rows, 0, 0)
    np.testing.assert_array_equal(np.sum(model.bags == -1, axis=1), 1)
    np.testing.assert_array_equal(np.argmin(model.bags, axis=1), left_out)
    assert model.intercept_ == 99.0  # the average is left as it was


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
    found = cells.figures(real.Predicted(y + 2, np.array([-1.0, -2, -3, -2]), intervals, y), y)
    assert found == {"rmse": 2.0, "log_density": -2.0, "log_density_se": 0.40825, "crps": 1.5, "cover": [0.75] * 3}
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
    values = dict(zip(aggregates.READABLE, (1.0, 3.0, 3.0, 2.0), strict=True))
    table = aggregates.Table([record(method=m, log_density=value, crps=value) for m, value in values.items()])
    assert list(table.ranks(aggregates.READABLE).values()) == [4, 1.5, 1.5, 3]
    assert list(table.ranks(aggregates.READABLE, "crps").values()) == [1, 3.5, 3.5, 2]  # lower is better
    assert aggregates.Table([record(log_density=1.0)]).ranks() is None


def test_published_ranks_leave_out_tables_without_figures_and_pretrained_weights_if_asked():
    even = {**dict.fromkeys(aggregates.SOURCES, 2.0), DEFAULT: 2.001}
    losses = {"a": even, "b": {DEFAULT: 9.0}, aggregates.SPIKED: {**even, DEFAULT: -9.0}}
    assert aggregates.uci_ranks(losses, DEFAULT) == dict.fromkeys([*aggregates.SOURCES, DEFAULT], 4.0)
    losses["a"][aggregates.PRETRAINED] = 1.0
    assert aggregates.uci_ranks(losses, DEFAULT)[DEFAULT] == 4.5
    found = aggregates.uci_ranks(losses, DEFAULT, pretrained=False)
    assert found[DEFAULT] == 3.5
    assert aggregates.PRETRAINED not in found


def test_beside_counts_tables_ahead_and_compares_errors_on_common_splits():
    tables = {}
    for name, ours, crps in (("a", 1.0, 0.1), ("b", 3.0, 0.3)):
        records = [record(rmse=ours, log_density=ours, crps=crps), record(split=1, rmse=99.0)]
        tables[name] = aggregates.Table([*records, record(method="EBM", rmse=2.0, log_density=2.0, crps=0.2)])
    found = page.beside(tables, "EBM")
    assert found[DEFAULT] == {"log_density": [1, 2], "crps": [1, 2], "rmse": [1.0, 0.5, "a", 1.5, "b"]}
    assert found[AVERAGED] == {}


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
