import numpy as np
import pytest

from skmoe.arrays import products
from skmoe.arrays.namespaces import to_numpy
from skmoe.arrays.products import (
    coefficients,
    gram_channels,
    monomials,
    place_blocks,
    tensor,
    unpack_symmetric,
    weighted_grams,
)


@pytest.mark.parametrize(("m", "d"), [(1, 1), (3, 4), (2, 20), (20, 3)])
def test_weighted_grams_match_the_definition(xp, rng, m, d):
    C, Z = rng.standard_normal((m, 50)), rng.standard_normal((d, 50))
    expected = np.einsum("mb,ib,jb->mij", C, Z, Z)
    found = unpack_symmetric(to_numpy(weighted_grams(xp.asarray(C), xp.asarray(Z))))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("m", "d", "at_once"), [(3, 4, True), (20, 3, True), (2, 20, False), (1, 100, False)])
def test_few_weights_over_many_columns_take_a_product_each(monkeypatch, rng, m, d, at_once):
    """Both ways give the same sums; which one is taken decides the memory that the blocks are cut for."""
    C, Z = rng.standard_normal((m, 30)), rng.standard_normal((d, 30))
    calls = []
    monkeypatch.setattr(products, "monomials", lambda M: calls.append(M) or monomials(M))
    chosen = weighted_grams(C, Z)
    assert bool(calls) is at_once
    assert gram_channels(d, m) == (d * (d + 1) // 2 if at_once else 2 * d)
    monkeypatch.setattr(products, "MANY_CHANNELS", 0 if at_once else d)
    np.testing.assert_allclose(weighted_grams(C, Z), chosen, rtol=1e-12, atol=1e-12)
    assert len(calls) == 1  # once by one way, once by the other


def test_monomials_are_the_upper_triangle(xp, rng):
    Z = rng.standard_normal((4, 7))
    i, j = np.triu_indices(4)
    np.testing.assert_allclose(to_numpy(monomials(xp.asarray(Z))), Z[i] * Z[j])


def test_blocks_are_placed_symmetrically(rng):
    B = rng.standard_normal((3, 2, 2))
    B = B + B.transpose(0, 2, 1)
    H = place_blocks(B, 2)
    np.testing.assert_array_equal(H, H.T)
    np.testing.assert_array_equal(H, np.block([[B[0], B[1]], [B[1], B[2]]]))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_coefficients_undo_tensor(rng, order):
    count = {1: 4, 2: 10, 3: 20}[order]
    values = rng.standard_normal(count)
    T = tensor(values, 4, order)
    np.testing.assert_allclose(coefficients(T), values)
    np.testing.assert_allclose(np.sum(T**2), {1: 1, 2: 2, 3: 6}[order] * np.sum(values**2))
    np.testing.assert_array_equal(T, np.transpose(T))


@pytest.mark.parametrize("d", [1, 5, 8, 19])
def test_grouped_products_of_an_accelerator_are_the_same_sums(xp, monkeypatch, rng, d):
    C, Z = xp.asarray(rng.standard_normal((6, 30))), xp.asarray(rng.standard_normal((d, 30)))
    expected = to_numpy(weighted_grams(C, Z))
    monkeypatch.setattr(products, "on_accelerator", lambda array: True)
    np.testing.assert_allclose(to_numpy(weighted_grams(C, Z)), expected, rtol=1e-12, atol=1e-12)
