import array_api_compat
import numpy as np
import pytest

from skmoe.arrays.namespaces import (
    array_namespace,
    design,
    exponentiate,
    is_array,
    multiply_into,
    rows_last,
    to_device,
    to_numpy,
    with_ones,
)


def test_rows_last_is_the_transpose_in_float64(xp, rng):
    X = xp.asarray(rng.standard_normal((5, 3)), dtype=xp.float32)
    Z = rows_last(X)
    assert Z.dtype == xp.float64
    np.testing.assert_array_equal(to_numpy(Z), to_numpy(X).T.astype(np.float64))


def test_arrays_travel_there_and_back(xp, rng):
    small = rng.standard_normal((2, 3))
    like = xp.zeros((1,), dtype=xp.float64)
    np.testing.assert_array_equal(to_numpy(to_device(small, like)), small)


def test_design_has_a_last_channel_of_ones_with_an_intercept(xp, rng):
    X = rng.standard_normal((5, 3))
    np.testing.assert_array_equal(to_numpy(design(xp.asarray(X), True)), np.vstack([X.T, np.ones(5)]))
    np.testing.assert_array_equal(to_numpy(design(xp.asarray(X), False)), X.T)
    np.testing.assert_array_equal(to_numpy(with_ones(xp.asarray(X))), np.vstack([X, np.ones(3)]))


def test_product_is_written_in_place(xp, rng):
    a, b = rng.standard_normal((2, 3, 4))
    out = xp.zeros((5, 4), dtype=xp.float64)
    multiply_into(out[1:4, :], xp.asarray(a), xp.asarray(b))
    np.testing.assert_array_equal(to_numpy(out), np.vstack([np.zeros((1, 4)), a * b, np.zeros((1, 4))]))


@pytest.mark.parametrize("thing", [[1.0, 2.0], "rows", None, 3.0])
def test_what_belongs_to_no_array_library_is_told_from_arrays(xp, thing):
    assert is_array(xp.zeros((2,)))
    assert not is_array(thing)


def test_namespace_is_that_of_the_library(xp):
    x = xp.ones(3)
    assert array_namespace(x) is array_api_compat.array_namespace(x)
    assert array_namespace(x, x) is array_namespace(x)


def test_libraries_are_not_mixed(xp):
    if array_namespace(xp.ones(1)) is not array_namespace(np.ones(1)):
        with pytest.raises(TypeError, match=r"[Mm]ultiple namespaces"):
            array_namespace(np.ones(1), xp.ones(1))


def test_exponentials_are_those_of_the_library(xp, rng):
    values = rng.standard_normal((3, 4))
    np.testing.assert_allclose(to_numpy(exponentiate(xp.asarray(values.copy()))), np.exp(values), rtol=1e-15)
