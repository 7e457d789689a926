"""Numbers of any size and far from zero: the same fit as in ordinary units, or a refusal by the name of the column."""

import numpy as np
import pytest

from benchmarks.reliability import extremes
from skmoe import MoERegressor, joint_em, learn_experts, learn_gate, load, make_moe, plain_tensor_method
from skmoe.arrays.table_moments import table_moments
from skmoe.search.standardise import standardised


@pytest.mark.parametrize("size", [1e-315, 1e-300, 1e-160, 1e160, 1e300])
def test_columns_and_outputs_without_squares_are_refused_by_name(rng, size):
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    what = "as large as" if size > 1 else "spread only over"
    factor = f"{-np.log10(max(size, 1e-300)):+.0f}".replace("+1", r"\+1").replace("+3", r"\+3")
    with pytest.raises(ValueError, match=rf"{what} .*: 'b'\. Their variances .* multiply them by 1e({factor}|[+-]\d+)"):
        table_moments(X * [1, size, 1], y, names=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"^y .* variance cannot be computed .* multiply y by 1e"):
        table_moments(X, y * size)
    table_moments(X * [1, 0, 1] + [0, min(size, 1e100), 0], y)  # constant columns say nothing, whatever their size


def test_units_of_inputs_and_outputs_too_far_apart_are_refused(rng):
    X, y = rng.standard_normal((50, 2)), rng.standard_normal(50)
    for down, up in ((1e-100, 1e100), (1e100, 1e-100)):
        with pytest.raises(ValueError, match=r"units are too far from those of y.*: 1\. Multiply these columns or y"):
            table_moments(X * [up, down], y * up)


def test_outputs_far_from_zero_are_refused(rng):
    X, y = rng.standard_normal((50, 2)), rng.standard_normal(50)
    with pytest.raises(ValueError, match=r"y lies about 1e\+15 from zero .*subtract 1e\+15 from y, and add it to pred"):
        table_moments(X, y + 1e15)
    assert table_moments(X, y + 1e7).y_std == pytest.approx(y.std(), rel=1e-6)


@pytest.mark.parametrize("method", ["auto", "joint-em", "spectral"])
@pytest.mark.parametrize("noise", [1e-300, 1e-12, 1e12, 1e300])
def test_noise_that_is_given_in_no_units_of_the_outputs_is_refused(method, noise):
    X, y, _ = make_moe(60, 2, 2, random_state=0)
    with pytest.raises(ValueError, match=f"noise of {noise:g} is given .* that of y is".replace("+", r"\+")):
        MoERegressor(2, noise=noise, method=method).fit(X, y)


def test_sizes_of_rows_without_weight_do_not_count(rng):
    X, y, weight = rng.standard_normal((50, 2)), rng.standard_normal(50), np.ones(50)
    X[3], y[3], weight[3] = 1e300, -1e300, 0.0
    assert table_moments(X, y, weight).origin is None


def test_far_columns_are_counted_from_one_of_their_values(rng):
    X = rng.standard_normal((200, 3))
    y = X @ [1.0, 2.0, 3.0]
    far = X + np.array([0, 1e15, 0])
    moments = table_moments(far, y)
    np.testing.assert_array_equal(moments.origin != 0, [False, True, False])
    Z = standardised(moments, intercept=True, outputs=False).lay_out(far)[:-1]
    np.testing.assert_allclose(Z @ Z.T / 200, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(Z.mean(axis=1), 0, atol=1e-12)


def test_columns_that_vary_by_rounding_alone_are_constant(rng):
    X = rng.standard_normal((50, 2))
    X[:, 1] = np.where(X[:, 0] > 0, 0.1 + 0.2, 0.3)
    moments = table_moments(X)
    np.testing.assert_array_equal(moments.flat, [False, True])
    assert moments.origin is None
    assert standardised(moments, intercept=True, outputs=False).width == 1


def test_far_columns_without_intercept_are_refused(rng):
    X, y = rng.standard_normal((60, 2)) + 1e9, rng.standard_normal(60)
    with pytest.raises(ValueError, match=r": 0, 1\. Without intercepts \(fit_intercept=False\).*subtract 1e\+09"):
        MoERegressor(1, fit_intercept=False).fit(X, y)
    one = MoERegressor(1, fit_intercept=False).fit(X[:, :1], y + 5)  # stands in for the intercept
    assert one.expert_coef_[0, 0] * 1e9 == pytest.approx(y.mean() + 5)
    with pytest.raises(ValueError, match=r"Without intercepts \(the paper.s algorithms\)"):
        MoERegressor(2, method="spectral").fit(X, y)


def paper_functions(X, y, truth):
    yield lambda: learn_experts(X, y, 2)
    yield lambda: learn_gate(X, y, truth.A, noise_scale=0.1)
    yield lambda: joint_em(X, y, 2)
    yield lambda: plain_tensor_method(X, y, 2, activation="tanh")
    yield lambda: MoERegressor(2, method="spectral").fit(X, y)


@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e-9, 1e9, 1e100, 1e300])
def test_the_papers_functions_refuse_what_unit_experts_cannot_speak_of(size):
    X, y, truth = make_moe(100, 3, 2, random_state=0)
    for function in paper_functions(X * [1, size, 1], y, truth):
        with pytest.raises(ValueError, match=r"^X has columns whose .*: 1\. "):
            function()
    for function in paper_functions(X, y * size, truth):
        with pytest.raises(ValueError, match=r"^y (is of size|holds numbers|spreads only)"):
            function()


def test_inputs_said_to_be_standard_are_refused_where_they_cannot_be():
    X, y, _ = make_moe(300, 3, 2, random_state=0)
    with pytest.raises(ValueError, match=r"standard Gaussian; .*; input_law=.gaussian. fits"):
        learn_experts(X * 1e4, y, 2, input_law=None)
    assert learn_experts(X * 1e4, y * 1e4, 2, input_law="gaussian").coef.shape == (2, 3)


def test_a_model_of_far_columns_is_saved_whole(tmp_path, rng):
    X = rng.standard_normal((80, 2))
    y = np.where(X[:, 0] > 0, X @ [1.0, 2.0], 3 - X[:, 1]) + 0.1 * rng.standard_normal(80)
    far = X + 2.0**40
    model = MoERegressor(2, averaging=2, random_state=0).fit(far, y)
    model.save(tmp_path / "far.skmoe")
    found = load(tmp_path / "far.skmoe")
    np.testing.assert_array_equal(found.predict(far), model.predict(far))
    np.testing.assert_array_equal(found.log_density(far, y), model.log_density(far, y))
    np.testing.assert_array_equal(found.expert_intercept_, model.expert_intercept_)
    found.members_ = model.members_ = ()
    np.testing.assert_array_equal(found.predict_interval(far), model.predict_interval(far))


CASES = [case for case in extremes.cases() if "1e-1" in case.name or "1e1" in case.name or "weights" in case.name]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("method", ["one", "two"])
def test_extreme_units_give_the_same_fit_or_a_refusal(case, method):
    found, words = extremes.outcome(case, extremes.METHODS[method])
    assert found in ("same", "refused"), words
    if "+ 1e1" in case.name and "y" not in case.name:
        assert found == "same"


def holders(X, y, weight):
    """The same rows in memory, as a table that is read in blocks, and as a Dask array."""
    pa, da = pytest.importorskip("pyarrow"), pytest.importorskip("dask.array")
    yield X, y, weight
    yield pa.table({"a": X[:, 0], "b": X[:, 1], "y": y, "w": weight}), "y", "w"
    yield tuple(da.from_array(values, chunks=100) for values in (X, y, weight))


@pytest.mark.parametrize("size", [1e-300, 1e-10, 1e300])
@pytest.mark.parametrize("small", [True, False])
def test_rows_in_any_holder_give_the_same_fit_in_any_units(rng, size, small, small_samples):
    n = 300 if small else 1500
    X, weight = rng.standard_normal((n, 2)), rng.random(n)
    y = X @ [1.0, 2.0] + 0.1 * rng.standard_normal(n)
    expected = MoERegressor(1).fit(X, y, weight)
    far = X + 2.0**30
    shifted = MoERegressor(1).fit(far - 2.0**30, y, weight)
    for table, outputs, weights in holders(X, y, weight * size):
        found = MoERegressor(1).fit(table, outputs, weights)
        np.testing.assert_allclose(found.expert_coef_, expected.expert_coef_, rtol=1e-9)
        np.testing.assert_allclose(found.expert_coef_se_, expected.expert_coef_se_, rtol=1e-9)
    for table, outputs, weights in holders(far, y, weight * size):
        found = MoERegressor(1).fit(table, outputs, weights)
        np.testing.assert_allclose(found.expert_coef_, shifted.expert_coef_, rtol=1e-9)
        np.testing.assert_allclose(found.expert_coef_se_, shifted.expert_coef_se_, rtol=1e-9)
        interval = np.asarray(found.predict_interval(table))
        np.testing.assert_allclose(interval, shifted.predict_interval(far - 2.0**30), rtol=1e-6)


def test_weights_too_small_to_be_compared_are_refused(rng):
    X, y = rng.standard_normal((50, 2)), rng.standard_normal(50)
    for table, outputs, weights in holders(X, y, np.where(y > 0, 2e-320, 1e-320)):
        with pytest.raises(ValueError, match=r"sample_weight holds nothing above .*multiply it, by 1e\+300"):
            MoERegressor(1).fit(table, outputs, weights)


def test_predictions_that_single_precision_cannot_hold_are_refused(rng):
    X, y = rng.standard_normal((50, 2)), rng.standard_normal(50)
    for size in (1e-60, 1e60):
        model = MoERegressor(1).fit(X, y * size)
        with pytest.raises(ValueError, match="do not fit the single precision of X; pass X as float64"):
            model.predict(X.astype(np.float32))
        assert np.all(np.isfinite(model.predict(X)))


def test_rows_to_predict_of_any_size_have_probabilities_or_are_refused(rng):
    X, y = rng.standard_normal((100, 2)), rng.standard_normal(100)
    model = MoERegressor(2, random_state=0).fit(X, y + 3 * np.sign(X[:, 0]))
    far = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 0.0]])
    for size in (1e-300, 1e-100, 1e100, 1e140):
        np.testing.assert_allclose(model.gate_proba(far * size).sum(axis=1), 1)
        assert np.all(np.isfinite(model.predict_interval(far * size)))
        assert np.all(np.isfinite(model.log_density(far * size, far[:, 0])))
    for size in (1e150, 1e300, 1.7e308):
        for use in (model.predict, model.gate_proba, model.predict_interval, model.sample):
            with pytest.raises(ValueError, match=r"X has columns whose numbers are as large as .*: 0, 1\. "):
                use(far * size)
        with pytest.raises(ValueError, match="y holds numbers above"):
            model.log_density(far, far[:, 0] * size)
