import numpy as np
import pytest

from skmoe.rows.arrays import to_numpy
from skmoe.rows.products import MANY_CHANNELS, monomials, unpack_symmetric, weighted_grams


@pytest.mark.parametrize(("m", "d"), [(1, 1), (3, 4), (2, 20), (20, 3)])
def test_weighted_grams_match_the_definition(xp, rng, m, d):
    C, Z = rng.standard_normal((m, 50)), rng.standard_normal((d, 50))
    expected = np.einsum("mb,ib,jb->mij", C, Z, Z)
    found = unpack_symmetric(to_numpy(weighted_grams(xp.asarray(C), xp.asarray(Z))))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_both_ways_of_the_product_are_tried():
    assert 3 * MANY_CHANNELS >= 4  # few columns: monomials
    assert 2 * MANY_CHANNELS < 20  # many columns: one product per channel


def test_monomials_are_the_upper_triangle(xp, rng):
    Z = rng.standard_normal((4, 7))
    i, j = np.triu_indices(4)
    np.testing.assert_allclose(to_numpy(monomials(xp.asarray(Z))), Z[i] * Z[j])
