"""Weights: whole numbers are repeated rows, others say how rows compare, whatever their size."""

import warnings

import numpy as np
import pyarrow as pa
import pytest

from skmoe import MoERegressor, load, make_moe
from streams import let_samples_be_small

ATTRIBUTES = ("expert_coef_", "expert_intercept_", "gate_coef_", "gate_intercept_", "noise_scale_", "expert_coef_se_")
METHODS = [{}, {"penalty": 5.0}, {"method": "joint-em", "n_init": 2}, {"method": "spectral"}]


@pytest.fixture(scope="module")
def table():
    return make_moe(600, 3, 2, noise_scale=0.2, random_state=0)[:2]


def same_model(one, other, tol=1e-7):
    for name in ATTRIBUTES:
        value, expected = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(value, expected, rtol=tol, atol=0.1 * tol, err_msg=name)
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, abs=60 * tol)


def strictly(model, *arguments, **how):
    """Fit, and let no warning pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if model.method == "spectral":  # says how many directions the moments show
            warnings.filterwarnings("ignore", message="T2 shows")
        return model.fit(*arguments, **how)


# -- size -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", METHODS, ids=str)
@pytest.mark.parametrize("size", [1 / 600, 1e-300, 1e300, 0.3])
def test_equal_weights_of_any_size_are_no_weights(table, size, how):
    X, y = table
    plain = strictly(MoERegressor(2, random_state=0, **how), X, y)
    weighted = strictly(MoERegressor(2, random_state=0, **how), X, y, sample_weight=np.full(600, size))
    same_model(weighted, plain)
    assert weighted.converged_
    assert weighted.history_["starts"] == plain.history_["starts"]  # the consistent start among them


@pytest.mark.parametrize("size", [1 / 600, 1e-300, 1e300])
def test_number_of_experts_does_not_depend_on_the_size_of_weights(table, size):
    X, y = table
    plain = strictly(MoERegressor("auto", random_state=0), X, y)
    weighted = strictly(MoERegressor("auto", random_state=0), X, y, sample_weight=np.full(600, size))
    assert weighted.n_experts_ == plain.n_experts_ == 2
    assert weighted.history_["bic"] == plain.history_["bic"]
    same_model(weighted, plain)


def test_number_of_experts_does_not_depend_on_the_size_of_unequal_weights(table):
    X, y = table
    weight = 0.5 + np.random.default_rng(0).random(600)
    models = [
        strictly(MoERegressor("auto", random_state=0), X, y, sample_weight=weight * size)
        for size in (1 / weight.sum(), 1e-300, 1e300)
    ]
    assert [model.n_experts_ for model in models] == [2, 2, 2]
    for other in models[1:]:
        same_model(other, models[0], tol=1e-5)


@pytest.mark.parametrize("how", METHODS, ids=str)
def test_unequal_weights_of_any_size_are_the_same_weights(table, how):
    X, y = table
    weight = 0.5 + np.random.default_rng(0).random(600)
    models = [
        strictly(MoERegressor(2, random_state=0, **how), X, y, sample_weight=size * weight) for size in (1.0, 1e-9, 1e9)
    ]
    for other in models[1:]:
        same_model(other, models[0], tol=1e-5)


def test_streamed_weights_of_any_size_are_the_same_weights(table, monkeypatch):
    """Of a table that is searched on a sample, too."""
    X, y = table
    weight = 0.5 + np.random.default_rng(0).random(600)
    for small in (False, True):
        if small:
            let_samples_be_small(monkeypatch, sample_rows=400)
        models = []
        for size in (1.0, 1e-9, 1e9):
            columns = {f"x{i}": X[:, i] for i in range(3)} | {"y": y, "w": size * weight}
            models.append(strictly(MoERegressor(2, random_state=0), pa.table(columns), "y", sample_weight="w"))
        assert (models[0].history_["searched"] < 600) is small
        for other in models[1:]:
            same_model(other, models[0], tol=1e-5)
        in_memory = strictly(MoERegressor(2, random_state=0), X, y, sample_weight=weight)
        same_model(models[0], in_memory, tol=1e-5)


def test_weights_of_no_use_are_refused(table):
    X, y = table
    nan, negative, one = np.full(600, np.nan), np.full(600, -1.0), np.eye(1, 600)[0]
    for weight, why in ((nan, "NaN"), (negative, "[Nn]egative values"), (one, "there are 1 rows with weight")):
        with pytest.raises(ValueError, match=why):
            MoERegressor(2).fit(X, y, sample_weight=weight)
    columns = pa.table({"x": X[:, 0], "y": y, "w": 0.5 * np.ones(600)})
    with pytest.raises(ValueError, match='method="spectral" takes whole numbers'):
        MoERegressor(1, method="spectral").fit(columns, "y", sample_weight="w")


# -- whole numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", METHODS, ids=str)
def test_integer_weights_are_repeated_rows(table, how):
    X, y = table
    weight = np.random.default_rng(0).integers(0, 4, 600)
    weighted = strictly(MoERegressor(2, random_state=0, **how), X, y, sample_weight=weight)
    repeated = strictly(MoERegressor(2, random_state=0, **how), np.repeat(X, weight, axis=0), np.repeat(y, weight))
    same_model(weighted, repeated)


@pytest.mark.parametrize("n_experts", [4, "auto"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # many experts for few distinct rows
@pytest.mark.filterwarnings("ignore::skmoe.inference.FewRowsWarning")
def test_integer_weights_carry_as_many_experts_as_repeated_rows(n_experts):
    X, y, _ = make_moe(12, 3, 2, noise_scale=0.2, random_state=0)
    weighted = MoERegressor(n_experts, random_state=0).fit(X, y, sample_weight=np.full(12, 3))
    repeated = MoERegressor(n_experts, random_state=0).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert weighted.n_experts_ == repeated.n_experts_
    assert [k for k, _ in weighted.history_["bic"]] == [k for k, _ in repeated.history_["bic"]]
    if n_experts == 4:
        assert weighted.n_experts_ == 4


def test_cap_on_experts_counts_rows_once_without_weights():
    X, y, _ = make_moe(12, 3, 2, noise_scale=0.2, random_state=0)
    with pytest.warns(UserWarning, match="12 rows of 3 columns support"):
        assert MoERegressor(4, random_state=0).fit(X, y).n_experts_ == 1


# -- what is said of the rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", METHODS, ids=str)
def test_history_counts_the_callers_rows(table, how, tmp_path):
    """Repeated rows are fitted as weights, and counted as rows."""
    X, y = (np.concatenate([part, part[:50]]) for part in table)
    model = MoERegressor(2, random_state=0, **how).fit(X, y)
    assert model.history_["rows"] == model.history_["searched"] == 650
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").history_["rows"] == 650
    weight = np.ones(650)
    weight[:100] = 0.0  # no rows at all
    assert MoERegressor(2, random_state=0, **how).fit(X, y, sample_weight=weight).history_["rows"] == 550


def test_history_counts_all_rows_of_a_sampled_table(table, monkeypatch):
    let_samples_be_small(monkeypatch, sample_rows=400)
    X, y = (np.concatenate([part, part[:50]]) for part in table)
    history = MoERegressor(2, random_state=0).fit(X, y).history_
    assert history["rows"] == 650
    assert history["searched"] == 400


def test_counts_of_few_different_rows_do_not_carry_more_experts_than_rows(rng):
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    model = MoERegressor(1000, calibration=None, penalty=0.3, max_time=2.0, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, sample_weight=np.full(12, 1_000_000.0))
    assert any("12 fitted instead" in str(warning.message) for warning in caught)
    assert model.n_experts_ == 12


# -- the log-likelihood -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", METHODS, ids=str)
def test_log_likelihood_is_the_total_over_rows(table, how):
    X, y = table
    counts = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    for weight, scaled in ((None, np.ones(len(y))), (counts, counts), (counts / 7, counts / counts.mean())):
        model = strictly(MoERegressor(2, random_state=0, **how), X, y, sample_weight=weight)
        assert model.log_likelihood_ == pytest.approx(scaled @ model.parameters_.log_density(X, y), rel=1e-9)
    assert f"log-likelihood {model.log_likelihood_:.2f}, " in str(model.summary())
