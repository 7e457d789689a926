"""Where each expert holds: the inputs that decide, and their ranges."""

import numpy as np
import pytest

import skmoe
from skmoe import MoERegressor, make_moe
from skmoe.inference import Input, describe_regimes, gate_changes, regimes_text
from skmoe.inference.conditions import ExpertRows, condition, excess_range, weighted_quantile
from skmoe.model.parameters import MoEParameters
from skmoe.tables import EncodedTable, TableEncoder
from skmoe.tables.columns import Column


def switching(rng, n=400, borders=(14.0, 21.0)):
    """Three laws of which times alone says which holds; two more columns matter inside them."""
    X = np.column_stack([rng.uniform(0, 60, size=n), rng.normal(size=n), rng.normal(size=n)])
    law = np.digitize(X[:, 0], borders)
    y = np.choose(law, [X[:, 1], 50 - 3 * X[:, 1], -40 + 2 * X[:, 2]]) + 0.3 * rng.standard_normal(n)
    return X, y, law


def of(model, X):
    """Regimes, by the smallest value of the first input among their rows."""
    return sorted(describe_regimes(model, X), key=lambda regime: regime.center[0])


@pytest.fixture(scope="module")
def table():
    return switching(np.random.default_rng(1))


@pytest.fixture(scope="module")
def model(table):
    return MoERegressor(3, penalty=0, random_state=0).fit(*table[:2])


# -- what decides -----------------------------------------------------------------------------------------------------


def test_regimes_are_the_ranges_of_the_one_input_that_decides(table, model):
    X, _, law = table
    for regime, which in zip(of(model, X), range(3), strict=True):
        assert [c.name for c in regime.conditions] == ["x0"]
        values = X[law == which, 0]
        low, high = f"{values.min():.1f}", f"{values.max():.1f}"
        low, high = (text.removesuffix(".0") for text in (low, high))
        expected = (f"x0 up to {high}", f"x0 {low} to {high}", f"x0 from {low} up")[which]
        assert regime.where == expected
        assert regime.share == pytest.approx(np.mean(law == which), abs=0.01)
        assert regime.probability > 0.98
        assert regime.its_rows > 0.98


def test_input_that_separates_is_named_though_its_standard_errors_are_huge(table, model):
    """The Wald statistic of a gate that separates the rows goes to zero."""
    assert np.nanmax(np.abs(model.gate_coef_[:-1, 0] / model.gate_coef_se_[:-1, 0])) < 2
    assert all(regime.conditions[0].name == "x0" for regime in describe_regimes(model, table[0]))
    assert all(regime.conditions[0].part > 0.9 for regime in describe_regimes(model, table[0]))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_descriptions_differ_between_experts(k):
    X, y, _ = make_moe(1500, 4, k, noise_scale=0.2, random_state=3)
    model = MoERegressor(k, random_state=0).fit(X, y)
    regimes = describe_regimes(model, X)
    assert len({regime.where for regime in regimes}) == k
    assert len({said.partition(" ")[2].partition(" ")[2] for said in regimes_text(regimes)}) == k


def test_units_change_numbers_and_nothing_else(table):
    X, y, _ = table
    scale, shift = np.array([1e-6, 1e5, -3.0]), np.array([0.0, 7.0, 1e3])
    first, second = (MoERegressor(3, random_state=0).fit(Z, y) for Z in (X, X * scale + shift))
    for a, b in zip(describe_regimes(first, X), describe_regimes(second, X * scale + shift), strict=True):
        assert [c.name for c in a.conditions] == [c.name for c in b.conditions]
        assert [c.part for c in a.conditions] == pytest.approx([c.part for c in b.conditions], rel=1e-3)
        assert (a.probability, a.its_rows) == pytest.approx((b.probability, b.its_rows), rel=1e-3)


def test_text_column_that_decides_is_named_by_its_levels(rng):
    encoder = TableEncoder(
        "y", (Column("size", "number"), Column("rank", "category", ("assistant", "associate", "full")))
    )
    rank, size = rng.integers(0, 3, size=500), rng.normal(size=500)
    X = EncodedTable(np.column_stack([size, rank == 1, rank == 2]), encoder.features, encoder)
    y = np.where(rank == 2, 20 + 4 * size, -3 * size) + 0.3 * rng.standard_normal(500)
    model = MoERegressor(2, random_state=0).fit(X, y)
    full = int(np.argmax(model.expert_coef_[:, 0]))
    wheres = [row[2] for row in model.regimes(X).rows]
    assert wheres[full] == "rank: full"
    assert wheres[1 - full] in ("rank: assistant or associate", "rank: associate or assistant", "rank: not full")
    assert wheres == [row[2] for row in model.regimes().rows]


def test_levels_after_a_range_are_those_that_are_more_frequent_within_it(rng):
    rank, years = rng.integers(0, 3, size=900), rng.uniform(0, 40, size=900)
    X = np.column_stack([years, rank == 1, rank == 2]) * 1.0
    P = 1 / (1 + np.exp((years - 20) / 2 + 0.3 * (rank == 2)))
    weight = np.full(900, 1 / 900)
    young = years < 20  # so many of them are of the expert that each rank is more frequent here than among all rows
    rows = ExpertRows(X, weight, P / P.sum(), float(P.mean()), young)
    found, inside = condition(Input("rank", (1, 2), ("a", "b", "c")), 0.2, True, rows)
    assert found.direction
    assert found.here == "rank: not c"
    np.testing.assert_array_equal(inside, young)


def test_column_of_two_numbers_is_named_by_its_value(rng):
    member, size = (rng.random(600) < 0.3) * 1.0, rng.normal(size=600)
    y = np.where(member == 1, 9 + 4 * size, -3 * size) + 0.3 * rng.standard_normal(600)
    X = np.column_stack([size, member])
    model = MoERegressor(2, random_state=0).fit(X, y)
    assert {regime.where for regime in describe_regimes(model, X)} == {"x1: 0", "x1: 1"}


def test_expert_that_holds_everywhere_is_said_to(rng):
    X = rng.normal(size=(800, 2))
    y = np.where(rng.random(800) < 0.4, 10 + X @ [1.0, 2.0], -10 + X @ [2.0, -1.0]) + 0.1 * rng.standard_normal(800)
    model = MoERegressor(2, gate_features=[1], random_state=0).fit(X, y)
    model.parameters_.W[:] = 0  # not even by chance
    regimes = describe_regimes(model, X)
    assert [regime.where for regime in regimes] == ["everywhere", "everywhere"]
    share = f"{100 * regimes[0].share:.0f}%"
    assert (
        regimes_text(regimes)[0] == f"Expert 1 holds everywhere alike: its probability is {share} in nine of ten rows."
    )


def test_one_expert_holds_everywhere(table):
    model = MoERegressor(1).fit(*table[:2])
    assert regimes_text(describe_regimes(model)) == ["There is one expert, and it holds everywhere."]
    assert model.regimes().rows[0][:3] == (1, pytest.approx(1.0), "everywhere")


def test_inputs_that_decide_by_their_difference_are_named_as_directions(rng):
    x = rng.normal(size=2000)
    X = np.column_stack([x + 0.01 * rng.normal(size=2000), x + 0.01 * rng.normal(size=2000)])
    parameters = MoEParameters(np.zeros((2, 2)), np.array([[1e4, -1e4], [0, 0]]), np.ones(2))
    model = MoERegressor(2)
    model.parameters_, model.n_features_in_, model.encoder_ = parameters, 2, None
    model.encoded_feature_names_ = [f"x{i}" for i in range(2)]
    wheres = {regime.where for regime in describe_regimes(model, X)}
    assert all("at equal other inputs" in where for where in wheres)
    assert any("larger x0" in where and "smaller x1" in where for where in wheres)


def test_experts_that_the_gate_cannot_tell_apart_are_said_to_be_alike(rng):
    X = rng.normal(size=(500, 1))
    parameters = MoEParameters(np.zeros((3, 1)), np.array([[5.0], [5.0], [0]]), np.ones(3))
    model = MoERegressor(3)
    model.parameters_, model.n_features_in_, model.encoder_ = parameters, 1, None
    model.encoded_feature_names_ = [f"x{i}" for i in range(1)]
    first, second, third = describe_regimes(model, X)
    assert second.where == f"{first.where}, as expert 1"
    assert third.where != first.where
    assert "does not tell it from expert 1" in regimes_text([first, second, third])[1]


# -- the pieces -------------------------------------------------------------------------------------------------------


def test_change_over_the_variance_is_one_where_one_input_decides(rng):
    X = rng.normal(size=(3000, 3)) * [1.0, 100.0, 1e-3]
    W = np.array([[3.0, 0, 0], [-1.0, 0, 0], [0, 0, 0]])
    inputs = [Input(f"x{j}", (j,)) for j in range(3)]
    changes, _, variance = gate_changes(MoEParameters(np.zeros((3, 3)), W, np.ones(3)), X, np.ones(3000), inputs)
    np.testing.assert_allclose(changes[0] / variance, 1.0, atol=0.1)
    assert not np.any(changes[1:])


def test_change_of_an_additive_function_is_its_part_of_the_variance(rng):
    """Where the gate is all but linear, parts are those of a sum of independent terms."""
    X = rng.normal(size=(5000, 2)) * [2.0, 1.0]
    parameters = MoEParameters(np.zeros((2, 2)), np.array([[0.01, 0.01], [0, 0]]), np.ones(2))
    changes, _, variance = gate_changes(parameters, X, np.ones(5000), [Input("a", (0,)), Input("b", (1,))])
    np.testing.assert_allclose(changes[:, 0] / variance[0], [0.8, 0.2], atol=0.05)


def test_weights_of_rows_are_repeated_rows(table, model):
    X, _, _ = table
    counts = np.random.default_rng(0).integers(0, 4, size=len(X))
    from skmoe.inference import regimes_from_rows

    weighted, repeated = regimes_from_rows(model, X, counts), regimes_from_rows(model, np.repeat(X, counts, axis=0))
    for a, b in zip(weighted, repeated, strict=True):
        assert a.where == b.where
        np.testing.assert_allclose(a.center, b.center, rtol=1e-10)
        np.testing.assert_allclose(a.spread, b.spread, rtol=1e-10)
        assert (a.share, a.probability, a.prediction) == pytest.approx((b.share, b.probability, b.prediction))


def test_the_smallest_and_the_largest_value_are_values_and_no_ranges():
    """Days of reduced activity "up to 0" are none."""
    days = np.repeat([0.0, 1.0, 7.0, 14.0], 25)
    for value, text in ((0.0, "reduced 0"), (14.0, "reduced 14")):
        its = np.where(days == value, 1.0, 0.01)
        rows = ExpertRows(days[:, None], np.full(100, 0.01), its / its.sum(), 0.25, np.ones(100, dtype=bool))
        found, inside = condition(Input("reduced", (0,)), 1.0, False, rows)
        assert found.here == text
        np.testing.assert_array_equal(inside, days == value)


@pytest.mark.parametrize("seed", range(5))
def test_range_of_largest_excess_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    values, excess = rng.integers(0, 12, size=40) * 1.0, rng.normal(size=40)
    found = {
        (low, high): excess[(values >= low) & (values <= high)].sum()
        for low in np.unique(values)
        for high in np.unique(values)
        if low <= high
    }
    assert found[excess_range(values, excess)] == pytest.approx(max(found.values()))


def test_weighted_quantiles_are_those_of_repeated_values(rng):
    values, counts = rng.normal(size=50), rng.integers(0, 5, size=50)
    levels = (0.05, 0.3, 0.5, 0.95)
    expected = np.quantile(np.repeat(values, counts), levels, method="inverted_cdf")
    np.testing.assert_array_equal(weighted_quantile(values, counts / counts.sum(), levels), expected)


# -- the table --------------------------------------------------------------------------------------------------------


def test_table_of_the_fit_is_that_of_its_rows(table, model, tmp_path):
    X, _, _ = table
    noted, given = model.regimes(), model.regimes(X)
    assert [row[2] for row in noted.rows] == [row[2] for row in given.rows]
    np.testing.assert_allclose([row[-1] for row in noted.rows], [row[-1] for row in given.rows])
    model.save(tmp_path / "m.skmoe")
    assert str(skmoe.load(tmp_path / "m.skmoe").regimes()) == str(noted)


def test_predictions_of_the_table_are_means_over_the_experts_rows(table, model):
    X, _, _ = table
    P = model.gate_proba(X)
    expected = np.sum(P * model.expert_predict(X), axis=0) / np.sum(P, axis=0)
    np.testing.assert_allclose([row[-1] for row in model.regimes(X).rows], expected)
