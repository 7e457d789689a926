import numpy as np
import pytest
from scipy import stats

from skmoe.arrays.table_moments import table_moments
from skmoe.likelihood import MappedRows
from skmoe.model.parameters import MoEParameters
from skmoe.search.input_shape import input_shape
from skmoe.search.standardise import standardised


def shape_of(X, model, **how):
    moments = table_moments(X, X[:, 0])
    rows = MappedRows.of(X, X[:, 0], standardised(moments, intercept=True, outputs=True, **how))
    return input_shape(rows, moments, model)


ONE = MoEParameters([[1.0, 0.0]], [[0.0, 0.0]], 1.0)


def test_gaussian_inputs_look_gaussian_in_any_units(rng):
    X = rng.standard_normal((3000, 2)) @ [[1.0, 5.0], [0.0, 100.0]] + 7
    shape = shape_of(X, ONE)
    assert shape.gaussian
    assert abs(shape.skewness) < 0.2
    assert (shape.rank, shape.columns) == (2, 2)


def test_skewness_and_kurtosis_are_the_samples_own(rng):
    Z = np.column_stack([rng.exponential(size=3000), rng.standard_normal(3000)])
    Z -= Z.mean(axis=0)
    Z = Z @ np.linalg.inv(np.linalg.cholesky(np.cov(Z.T, bias=True))).T
    # the axes of correlated columns are their sum and difference, whatever rounding does: of white ones any would do
    X = Z @ [[2.0, 2.0], [1.0, -1.0]]
    shape = shape_of(X * [2.0, 1.0], ONE)
    assert not shape.gaussian
    assert shape.skewness == pytest.approx(abs(stats.skew(Z[:, 0])), rel=1e-9)
    assert shape.kurtosis == pytest.approx(stats.kurtosis(Z[:, 0]), rel=1e-9)


def test_repeated_columns_are_seen(rng):
    X = np.repeat(rng.standard_normal((200, 1)), 2, axis=1)
    assert shape_of(X, ONE).rank == 1


@pytest.mark.parametrize(("gate", "along"), [([3.0, 0.0], 1.0), ([0.0, 2.0], 0.0), ([1.0, 1.0], np.sqrt(0.5))])
def test_gate_along_the_experts_is_a_correlation_on_the_standardised_scale(rng, gate, along):
    X = rng.standard_normal((2000, 2))
    X -= X.mean(axis=0)
    X = X @ np.linalg.inv(np.linalg.cholesky(X.T @ X / 2000)).T
    model = MoEParameters([[1.0, 0.0], [2.0, 0.0]], [gate, [0.0, 0.0]], 1.0)
    assert shape_of(X, model).gate_along_experts == pytest.approx(along, abs=1e-9)
    units = np.array([1e3, 1e-2])
    scaled = MoEParameters(model.A / units, model.W / units, 1.0)
    assert shape_of(X * units, scaled).gate_along_experts == pytest.approx(along, abs=1e-9)
    assert shape_of(X, ONE).gate_along_experts == 0.0
